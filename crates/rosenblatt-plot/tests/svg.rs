//! The SVG of any figure is well-formed, free of foreign markup, and the same every time.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use rosenblatt_plot::{
    Animation, Axis, Dash, Figure, HeatMap, Layer, Marker, Palette, Panel, Regions, View,
    bin_edges, spread,
};

fn parse(svg: &str) -> roxmltree::Document<'_> {
    roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{e}\n{svg}"))
}

fn count(svg: &str, name: &str) -> usize {
    parse(svg)
        .descendants()
        .filter(|n| n.has_tag_name(name))
        .count()
}

/// One panel with a layer of each kind, from the same numbers.
fn every_kind(pairs: &[(f64, f64)]) -> Panel {
    let values: Vec<f64> = pairs.iter().map(|p| p.0).collect();
    let first = pairs.first().copied().unwrap_or((f64::NAN, f64::NAN));
    let last = pairs.last().copied().unwrap_or((0.0, 0.0));
    let triples: Vec<(f64, f64, f64)> = pairs.iter().map(|p| (p.0, p.1, p.0)).collect();
    let groups: Vec<(f64, Vec<f64>)> = pairs.iter().map(|p| (p.0, values.clone())).collect();
    Panel::new()
        .title("every kind")
        .layer(Layer::line(pairs).label("line"))
        .layer(Layer::steps(pairs))
        .layer(Layer::points(pairs).label("points").marker(Marker::Star))
        .layer(Layer::band(triples.clone()))
        .layer(Layer::ranges(triples).hollow())
        .layer(Layer::area(pairs).opacity(first.0).width(first.1))
        .layer(Layer::circle(first, last.0))
        .layers(spread("spread", &groups))
        .layer(Layer::bars(values.clone()).group(1, 3).label("bars"))
        .layer(Layer::bars_at(pairs.to_vec()).sideways())
        .layer(Layer::histogram(&values, &bin_edges(&values, 10)).label("histogram"))
        .layer(Layer::histogram_counts(&values, &values))
        .layer(Layer::text(first, "two\nlines").size(first.0))
        .layer(Layer::arrow(first, last).note("arrow"))
        .layer(Layer::distance(last, first))
        .layer(Layer::horizontal(first.1).note("level"))
        .layer(Layer::vertical(first.0).note("upright"))
        .layer(
            Layer::boundary([first.0, first.1], last.0)
                .label("boundary")
                .dash(Dash::Dotted),
        )
        .layer(Layer::contour(first, last, 7, first.0, |x, y| x * y))
        .layer(Layer::curve(first, 9, |x| 1.0 / x))
        .layers(View::new(first.0, first.1).axes([1.0, last.0, last.1], ["x", "y", "z"]))
        .layers(View::new(30.0, 20.0).surface(
            first,
            last,
            3,
            rosenblatt_plot::Color::Ink,
            |x, y| x * y,
        ))
}

fn full_panels(values: &[f64]) -> Vec<Panel> {
    let first = values.first().copied().unwrap_or(f64::NAN);
    let map = HeatMap::new(3, values).numbers(2).scale("scale");
    vec![
        Panel::new().layer(map.clone()),
        Panel::picture("grey", HeatMap::image(2, values)),
        Panel::picture(
            "signed",
            HeatMap::signed(4, values).palette(Palette::Diverging),
        ),
        Panel::new()
            .x(Axis::log("x"))
            .y(Axis::log("y"))
            .layer(map.range(first, first)),
        Panel::new().layer(
            Regions::sample((first, 1.0), (0.0, first), 5, |x, _| usize::from(x > 0.0))
                .names(["a", "b"]),
        ),
        Panel::confusion(&["only"], &[]),
    ]
}

fn hostile() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -10.0..10.0f64,
        prop::sample::select(vec![
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.0,
            -0.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            1.0
        ]),
    ]
}

fn draw_all(pairs: &[(f64, f64)]) {
    let values: Vec<f64> = pairs.iter().flat_map(|p| [p.0, p.1]).collect();
    for (x, y) in [
        (Axis::linear("x"), Axis::linear("y")),
        (Axis::log("x"), Axis::log("y").including(0.0)),
        (
            Axis::categories("x", ["one", "two", "three"]),
            Axis::linear("y").whole().reversed(),
        ),
    ] {
        parse(&Figure::of(every_kind(pairs).x(x.clone()).y(y.clone())).svg());
        parse(
            &Figure::of(
                every_kind(pairs)
                    .x(x)
                    .y(y)
                    .equal()
                    .size(values.first().copied().unwrap_or(1.0), 50.0),
            )
            .svg(),
        );
    }
    parse(
        &Figure::new()
            .panels(full_panels(&values))
            .share_x()
            .share_y()
            .svg(),
    );
    parse(
        &Animation::new(pairs.iter().take(3).map(|p| Figure::of(every_kind(&[*p]))))
            .seconds_per_frame(values.first().copied().unwrap_or(0.0))
            .svg(),
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_numbers_draw(pairs in proptest::collection::vec((hostile(), hostile()), 0..6)) {
        draw_all(&pairs);
    }

    #[test]
    fn any_text_stays_text(words in any::<String>()) {
        let figure = Figure::of(
            Panel::new()
                .title(words.clone())
                .x(Axis::linear(words.clone()).unit(words.clone()))
                .y(Axis::categories(words.clone(), [words.clone(), "b".to_string()]))
                .layer(Layer::line([(0.0, 0.0), (1.0, 1.0)]).label(words.clone()))
                .layer(Layer::text((0.5, 0.5), words.clone())),
        )
        .title(words.clone())
        .caption(words.clone())
        .alternative(words);
        let svg = figure.svg();
        let document = parse(&svg);
        let known = ["svg", "g", "path", "rect", "circle", "text", "title", "desc"];
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            prop_assert!(known.contains(&node.tag_name().name()));
        }
    }
}

#[test]
fn nothing_one_point_and_equal_points_draw() {
    draw_all(&[]);
    draw_all(&[(1.0, 1.0)]);
    draw_all(&[(3.0, 3.0), (3.0, 3.0), (3.0, 3.0)]);
    draw_all(&[(f64::NAN, f64::NAN), (f64::INFINITY, f64::NEG_INFINITY)]);
    parse(&Figure::new().svg());
    parse(&Animation::new([]).svg());
    parse(&Figure::of(Panel::confusion::<&str>(&[], &[])).svg());
}

#[test]
fn markup_in_labels_is_shown_not_obeyed() {
    let nasty = "</text><script>alert(1)</script> & \"quotes\" 'too'";
    let svg = Figure::of(Panel::new().title(nasty)).title(nasty).svg();
    assert!(!svg.contains("<script"));
    let document = parse(&svg);
    let shown: String = document
        .descendants()
        .filter(|n| n.has_tag_name("text"))
        .filter_map(|n| n.text())
        .collect();
    assert!(shown.contains("<script>alert(1)</script>"));
}

#[test]
fn the_same_figure_is_the_same_text() {
    let figure = || Figure::of(every_kind(&[(1.0, 2.0), (3.0, 4.0)])).title("again");
    assert_eq!(figure().svg(), figure().svg());
}

#[test]
fn layers_with_one_label_share_one_legend_entry() {
    let runs = [(1.0, vec![1.0, 2.0]), (2.0, vec![2.0, 3.0])];
    let svg = Figure::of(
        Panel::new()
            .layers(spread("averaged", &runs))
            .layers(spread("voted", &runs)),
    )
    .svg();
    let document = parse(&svg);
    let legend = document
        .descendants()
        .find(|n| n.attribute("class") == Some("legend"))
        .unwrap();
    let labels: Vec<_> = legend
        .descendants()
        .filter(|n| n.has_tag_name("text"))
        .filter_map(|n| n.text())
        .collect();
    assert_eq!(labels, ["averaged", "voted"]);
}

#[test]
fn series_differ_in_dash_and_marker_as_well_as_in_colour() {
    let xy = [(0.0, 0.0), (1.0, 1.0)];
    let one = |k: usize| {
        Figure::of(
            Panel::new()
                .layer(Layer::line(xy).series(k))
                .layer(Layer::points(xy).series(k)),
        )
        .svg()
    };
    let grey = |svg: String| {
        let mut svg = svg;
        for color in ["#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7"] {
            svg = svg.replace(color, "#777777");
        }
        svg
    };
    let drawn: Vec<String> = (0..5).map(|k| grey(one(k))).collect();
    for i in 0..5 {
        for j in 0..i {
            assert_ne!(drawn[i], drawn[j]);
        }
    }
}

#[test]
fn a_picture_is_small() {
    let values: Vec<f64> = (0..784)
        .map(|i| f64::from(i % 28) * f64::from(i / 28))
        .collect();
    let svg = Figure::of(Panel::picture("digit", HeatMap::image(28, values))).svg();
    assert!(svg.len() < 40_000, "{}", svg.len());
    assert!(count(&svg, "path") <= 64);
}

#[test]
fn an_animation_stores_still_parts_once_and_falls_back_to_its_last_frame() {
    let points: Vec<(f64, f64)> = (0..50)
        .map(|i| (f64::from(i), f64::from(i * i % 17)))
        .collect();
    let frame = |k: u8| {
        let boundary = Layer::boundary([1.0, f64::from(k)], -20.0);
        Figure::of(
            Panel::new()
                .title(format!("after update {k}"))
                .layer(Layer::points(points.clone()))
                .layer(boundary),
        )
    };
    let svg = Animation::new((0..4).map(frame)).svg();
    assert_eq!(count(&svg, "circle"), 50);
    let document = parse(&svg);
    let frames: Vec<_> = document
        .descendants()
        .filter(|n| n.attribute("class") == Some("rosenblatt-frame"))
        .collect();
    assert_eq!(frames.len() % 4, 0);
    for (i, frame) in frames.iter().enumerate() {
        let expected = if i % 4 == 3 { "visible" } else { "hidden" };
        assert_eq!(frame.attribute("visibility"), Some(expected));
    }
    assert!(svg.contains("prefers-reduced-motion: reduce"));
}

#[test]
fn bars_on_an_axis_start_at_zero() {
    let svg = Figure::of(
        Panel::new()
            .y(Axis::linear("rows"))
            .layer(Layer::bars([3.0, 5.0])),
    )
    .svg();
    let document = parse(&svg);
    let axis = document
        .descendants()
        .find(|n| n.attribute("class") == Some("y-axis"))
        .unwrap();
    let first = axis
        .descendants()
        .find(|n| n.has_tag_name("text"))
        .and_then(|n| n.text().map(str::to_string));
    assert_eq!(first.as_deref(), Some("0"));
}
