//! No two texts of a figure overlap, and none leaves the page, whatever the labels.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use rosenblatt_plot::{Axis, Figure, HeatMap, Layer, Legend, Panel, text};

type Corner = (f64, f64);

/// The corners of a text as drawn, by the width table.
fn corners(node: &roxmltree::Node<'_, '_>) -> [Corner; 4] {
    let number = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let (x, y, size) = (number("x"), number("y"), number("font-size"));
    let bold = node.attribute("font-weight") == Some("bold");
    let wide = text::width(node.text().unwrap(), size, bold);
    let left = match node.attribute("text-anchor") {
        Some("middle") => -wide / 2.0,
        Some("end") => -wide,
        _ => 0.0,
    };
    let turn = node.attribute("transform").map_or(0.0, |t| {
        let inside = t.trim_start_matches("rotate(").trim_end_matches(')');
        inside.split(' ').next().unwrap().parse::<f64>().unwrap()
    });
    let (sin, cos) = turn.to_radians().sin_cos();
    [(0.0, -0.74), (1.0, -0.74), (1.0, 0.2), (0.0, 0.2)].map(|(along, up)| {
        let (dx, dy) = (left + along * wide, up * size);
        (x + dx * cos - dy * sin, y + dx * sin + dy * cos)
    })
}

/// Whether two convex quadrilaterals are disjoint: some edge has them on different sides.
fn apart(a: &[Corner; 4], b: &[Corner; 4]) -> bool {
    let separates = |p: &[Corner; 4], q: &[Corner; 4]| {
        (0..4).any(|i| {
            let (from, to) = (p[i], p[(i + 1) % 4]);
            let normal = (to.1 - from.1, from.0 - to.0);
            let side = |c: &Corner| (c.0 - from.0) * normal.0 + (c.1 - from.1) * normal.1;
            q.iter().all(|c| side(c) >= -1e-6)
        })
    };
    separates(a, b) || separates(b, a)
}

fn check(figure: &Figure) -> Result<(), TestCaseError> {
    let svg = figure.svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let root = document.root_element();
    let page = |name: &str| root.attribute(name).unwrap().parse::<f64>().unwrap();
    let (width, height) = (page("width"), page("height"));
    let texts: Vec<_> = root
        .descendants()
        .filter(|n| n.has_tag_name("text"))
        .collect();
    let boxes: Vec<_> = texts.iter().map(corners).collect();
    for (i, corner) in boxes.iter().enumerate() {
        prop_assert!(
            corner
                .iter()
                .all(|c| (0.0..=width).contains(&c.0) && (0.0..=height).contains(&c.1)),
            "{:?} leaves the page of {width} × {height}: {corner:?}",
            texts[i].text()
        );
        for j in 0..i {
            prop_assert!(
                apart(corner, &boxes[j]),
                "{:?} overlaps {:?}\n{svg}",
                texts[i].text(),
                texts[j].text()
            );
        }
    }
    Ok(())
}

fn words() -> impl Strategy<Value = String> {
    proptest::collection::vec("[A-Za-zα-ω0-9=<&-]{1,14}", 0..6).prop_map(|w| w.join(" "))
}

fn axis() -> impl Strategy<Value = Axis> {
    prop_oneof![
        (words(), -1e3..1e3f64, 1e-6..1e9f64).prop_map(|(l, a, w)| Axis::linear(l).range(a, a + w)),
        (words(), -12.0..12.0f64, 0.1..20.0f64).prop_map(|(l, a, d)| Axis::log(l)
            .unit("ms")
            .range(10f64.powf(a), 10f64.powf(a + d))),
        (words(), 0.0..1.0f64).prop_map(|(l, a)| Axis::linear(l).percent().range(a, a + 0.3)),
        (words(), proptest::collection::vec(words(), 1..40))
            .prop_map(|(l, n)| Axis::categories(l, n)),
    ]
}

fn panel() -> impl Strategy<Value = Panel> {
    (
        words(),
        axis(),
        axis(),
        60.0..700.0f64,
        60.0..400.0f64,
        words(),
        words(),
    )
        .prop_map(|(title, x, y, w, h, first, second)| {
            Panel::new()
                .title(title)
                .x(x)
                .y(y)
                .size(w, h)
                .layer(Layer::line([(0.0, 1.0), (1.0, 2.0)]).label(first))
                .layer(Layer::points([(0.5, 1.0)]).label(second))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn texts_of_one_panel_keep_apart(
        panel in panel(), title in words(), caption in words(), right in any::<bool>(),
    ) {
        let legend = if right { Legend::Right } else { Legend::Below };
        check(&Figure::of(panel).title(title).caption(caption).legend(legend))?;
    }

    #[test]
    fn texts_of_a_grid_keep_apart(
        panels in proptest::collection::vec(panel(), 1..7), columns in 1usize..4, share in any::<bool>(),
    ) {
        let mut figure = Figure::new().panels(panels).columns(columns);
        if share {
            figure = figure.share_x().share_y();
        }
        check(&figure)?;
    }

    #[test]
    fn texts_of_a_confusion_matrix_keep_apart(
        names in proptest::collection::vec(words(), 2..30), count in 0u64..10_000_000,
    ) {
        let counts: Vec<Vec<u64>> = (0..names.len()).map(|i| {
            (0..names.len()).map(|j| if i == j { count } else { (i * j) as u64 }).collect()
        }).collect();
        check(&Figure::of(Panel::confusion(&names, &counts)).title("Confusion"))?;
    }

    #[test]
    fn texts_of_pictures_keep_apart(values in proptest::collection::vec(-1e9..1e9f64, 1..60)) {
        let map = HeatMap::signed(6, values).numbers(2).scale("weight");
        check(&Figure::new().panels([Panel::picture("first", map.clone()), Panel::picture("second", map)]))?;
    }
}
