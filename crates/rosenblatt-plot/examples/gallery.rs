//! Draws one figure of each kind into a folder, as SVG and PNG, and a page with all of them:
//! `cargo run -p rosenblatt-plot --example gallery -- FOLDER`

use rosenblatt_plot::html::{Page, Table};
use rosenblatt_plot::{
    Animation, Axis, Color, Dash, Figure, HeatMap, Layer, Legend, Marker, Panel, Regions, Side,
    View, bin_edges, spread, svg_to_png,
};
use std::error::Error;
use std::path::PathBuf;

/// A small generator, so that the pictures are the same every time.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Roughly normal: a sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn blob(&mut self, count: usize, centre: (f64, f64), width: f64) -> Vec<(f64, f64)> {
        (0..count)
            .map(|_| {
                (
                    centre.0 + width * self.normal(),
                    centre.1 + width * self.normal(),
                )
            })
            .collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .ok_or("say which folder to draw into")?,
    );
    std::fs::create_dir_all(&folder)?;
    let figures = [
        ("bound", bound()),
        ("passes", passes()),
        ("losses", losses()),
        ("regions", regions()),
        ("hulls", hulls()),
        ("confusion", confusion()),
        ("weights", weights()),
        ("named-weights", named_weights()),
        ("margins", margins()),
        ("roc", roc()),
        ("multiples", multiples()),
        ("lifted", lifted()),
        ("neuron", neuron()),
        ("long-names", long_names()),
    ];
    let mut page = Page::new("A figure of each kind")
        .contents()
        .paragraph("Drawn by the gallery example of the plotting crate from made-up numbers.")
        .facts([("figures", "15"), ("network requests", "0"), ("seed", "7")])
        .table(
            &Table::new(["kind", "rows", "share"])
                .row(["lines", "1,204", "40%"])
                .row(["points & <markers>", "17", "0.6%"])
                .caption("A table that scrolls when it must"),
        );
    for (name, figure) in &figures {
        std::fs::write(folder.join(format!("{name}.svg")), figure.svg())?;
        std::fs::write(folder.join(format!("{name}.png")), figure.png(2.0)?)?;
        page = page.heading(name).figure(figure);
    }
    let animation = turning();
    std::fs::write(folder.join("turning.svg"), animation.svg())?;
    std::fs::write(
        folder.join("turning.png"),
        svg_to_png(&animation.svg(), 2.0)?,
    )?;
    page = page
        .heading("turning")
        .animation(&animation)
        .note("Every run lies at or below the bound.")
        .details(Page::new("How it was made").command("cargo run --example gallery -- figures"));
    std::fs::write(folder.join("gallery.html"), page.html())?;
    Ok(())
}

fn bound() -> Figure {
    let mut noise = Noise(7);
    let mut groups = Vec::new();
    let mut runs = Vec::new();
    for k in 0..9 {
        let x = 10f64.powf(1.0 + 0.45 * f64::from(k));
        let samples: Vec<f64> = (0..15)
            .map(|_| {
                (0.35 * x.powf(0.85) * (0.4 * noise.normal()).exp())
                    .min(x)
                    .max(1.0)
            })
            .collect();
        runs.extend(samples.iter().map(|&s| (x, s)));
        groups.push((x, samples));
    }
    Figure::of(
        Panel::new()
            .x(Axis::log("1/γ²"))
            .y(Axis::log("updates to convergence"))
            .layer(Layer::points(runs).label("one run").color(Color::Muted).marker(Marker::Dot).size(3.4))
            .layers(spread("median, quartiles", &groups))
            .layer(Layer::line([(8.0, 8.0), (5e4, 5e4)]).label("bound R²/γ²").color(Color::Ink).dash(Dash::Dashed)),
    )
    .title("Every run stays below the bound")
    .caption("Updates until the first clean pass against the inverse squared margin; 15 seeds at each margin, R = 1. The slope of the medians is 0.85.")
}

fn passes() -> Figure {
    let mut noise = Noise(11);
    let mut panel = Panel::new()
        .x(Axis::linear("pass").whole())
        .y(Axis::linear("test error").percent().from_zero());
    for (name, level, slope) in [
        ("last", 0.16, 0.5),
        ("averaged", 0.105, 0.9),
        ("voted", 0.10, 0.8),
        ("pocket", 0.12, 0.6),
    ] {
        let groups: Vec<(f64, Vec<f64>)> = (1..=12)
            .map(|pass| {
                let centre = level + 0.12 / f64::from(pass).powf(slope);
                (
                    f64::from(pass),
                    (0..20).map(|_| centre + 0.008 * noise.normal()).collect(),
                )
            })
            .collect();
        panel = panel.layers(spread(name, &groups));
    }
    Figure::of(panel.layer(Layer::horizontal(0.1).note("label noise")))
        .title("Read-outs on noisy data")
        .caption("Median and quartiles over 20 seeds.")
}

fn losses() -> Figure {
    let range = (-2.0, 2.0);
    Figure::of(
        Panel::new()
            .x(Axis::linear("margin y·s"))
            .y(Axis::linear("loss").from_zero())
            .layer(Layer::curve(range, 401, |m| f64::from(u8::from(m <= 0.0))).label("mistake"))
            .layer(Layer::curve(range, 81, |m| (-m).max(0.0)).label("perceptron"))
            .layer(Layer::curve(range, 81, |m| (1.0 - m).max(0.0)).label("hinge"))
            .layer(Layer::curve(range, 81, |m| (1.0 + (-m).exp()).log2()).label("logistic"))
            .layer(Layer::curve((-0.75, 2.0), 81, |m| (1.0 - m) * (1.0 - m)).label("squared"))
            .layer(Layer::vertical(0.0).width(1.0)),
    )
    .title("Loss functions side by side")
}

fn regions() -> Figure {
    let mut noise = Noise(3);
    let score = |x: f64, y: f64| [y - 0.4 * x * x, x - 0.6 * y, -x - 0.5 * y - 0.2];
    let best = move |x: f64, y: f64| {
        let s = score(x, y);
        (0..3).fold(0, |b, k| if s[k] > s[b] { k } else { b })
    };
    let (x, y) = ((-3.0, 3.0), (-2.5, 2.5));
    let mut panel = Panel::new()
        .x(Axis::linear("petal length").unit("cm").range(x.0, x.1))
        .y(Axis::linear("petal width").unit("cm").range(y.0, y.1))
        .equal()
        .size(420.0, 380.0)
        .layer(Regions::sample(x, y, 240, best).names(["setosa", "versicolor", "virginica"]));
    for k in 0..3 {
        let gap = move |x: f64, y: f64| {
            let s = score(x, y);
            s[k] - (0..3)
                .filter(|&j| j != k)
                .map(|j| s[j])
                .fold(f64::MIN, f64::max)
        };
        panel = panel.layer(
            Layer::contour(x, y, 120, 0.0, gap)
                .color(Color::Muted)
                .dash(Dash::Solid)
                .width(1.0),
        );
    }
    let centres = [(0.0, 1.6), (1.8, -0.3), (-1.6, -1.0)];
    for (name, centre) in ["setosa", "versicolor", "virginica"].iter().zip(centres) {
        panel = panel.layer(Layer::points(noise.blob(30, centre, 0.38)).label(*name));
    }
    Figure::of(panel)
        .title("Multiclass regions")
        .caption("Argmax of three discriminators.")
}

fn hulls() -> Figure {
    let plus = [(2.2, 2.6), (3.6, 2.2), (4.2, 3.6), (2.8, 4.0)];
    let minus = [(0.2, 0.4), (1.6, 0.2), (1.2, 1.6), (0.0, 1.8)];
    Figure::of(
        Panel::new()
            .x(Axis::linear("x₁"))
            .y(Axis::linear("x₂"))
            .equal()
            .layer(Layer::area(plus).series(0))
            .layer(Layer::area(minus).series(1))
            .layer(Layer::points(plus).label("positive").series(0))
            .layer(Layer::points(minus).label("negative").series(1))
            .layer(
                Layer::boundary([1.0, 1.0], -3.8)
                    .dash(Dash::Solid)
                    .width(2.0)
                    .label("farthest plane"),
            )
            .layer(Layer::boundary([1.0, 1.0], -2.8).width(1.0).label("margin"))
            .layer(Layer::boundary([1.0, 1.0], -4.8).width(1.0))
            .layer(
                Layer::distance((1.2, 1.6), (2.2, 2.6))
                    .note("2γ")
                    .side(Side::Right),
            )
            .layer(Layer::text((3.2, 3.1), "convex hull").side(Side::Center)),
    )
    .title("Two hulls, the plane and its margin")
}

fn confusion() -> Figure {
    let names = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let counts: Vec<Vec<u64>> = (0..10u64)
        .map(|i| {
            (0..10u64)
                .map(|j| {
                    if i == j {
                        930 + 7 * i
                    } else {
                        (i * 7 + j * 13) % 11 * u64::from((i + j) % 3 == 0)
                    }
                })
                .collect()
        })
        .collect();
    Figure::of(Panel::confusion(&names, &counts))
        .title("Confusion on 10,000 digits")
        .caption("Rows sum to the number of true examples of a class.")
}

fn weights() -> Figure {
    let panels = (0..10).map(|digit| {
        let values: Vec<f64> = (0..784)
            .map(|i| {
                let (x, y) = (
                    f64::from(i % 28) / 13.5 - 1.0,
                    f64::from(i / 28) / 13.5 - 1.0,
                );
                let r = (x * x + y * y).sqrt();
                (6.0 * r + f64::from(digit)).sin() * (-2.0 * r * r).exp()
            })
            .collect();
        let map = if digit < 8 {
            HeatMap::signed(28, values)
        } else {
            HeatMap::image(28, values.iter().map(|v| v.max(0.0)).collect::<Vec<_>>())
        };
        Panel::picture(format!("class {digit}"), map)
    });
    Figure::new().panels(panels).columns(5).title("What each class looks for").caption("Weights: orange speaks for the class, blue against it. The last two are pictures in grey.")
}

fn named_weights() -> Figure {
    let names = [
        "capital-gain",
        "education-num",
        "marital-status = Married-civ-spouse",
        "hours-per-week",
        "age",
        "occupation = Other-service",
        "relationship = Own-child",
    ];
    let values = [2.4, 1.3, 1.1, 0.62, 0.4, -0.8, -1.5];
    let sign = |keep: bool| values.map(|v| if (v > 0.0) == keep { v } else { f64::NAN });
    Figure::of(
        Panel::new()
            .x(Axis::linear("weight").from_zero())
            .y(Axis::categories("", names).reversed())
            .size(380.0, 220.0)
            .layer(Layer::bars(sign(true)).sideways().label("for > 50K"))
            .layer(Layer::bars(sign(false)).sideways().label("against"))
            .layer(Layer::vertical(0.0).dash(Dash::Solid).width(1.0)),
    )
    .title("Largest weights")
    .legend(Legend::Below)
}

fn margins() -> Figure {
    let mut noise = Noise(5);
    let train: Vec<f64> = (0..900).map(|_| 0.5 + 0.35 * noise.normal()).collect();
    let test: Vec<f64> = (0..400).map(|_| 0.4 + 0.42 * noise.normal()).collect();
    let edges = bin_edges(&train, 24);
    Figure::of(
        Panel::new()
            .x(Axis::linear("geometric margin"))
            .y(Axis::linear("examples"))
            .layer(Layer::histogram(&train, &edges).label("training"))
            .layer(Layer::histogram(&test, &edges).label("test"))
            .layer(Layer::vertical(0.0).note("boundary")),
    )
    .title("Distribution of margins")
}

fn roc() -> Figure {
    let curve: Vec<(f64, f64)> = (0..=40)
        .map(|i| f64::from(i) / 40.0)
        .map(|t| (t, t.powf(0.22)))
        .collect();
    let square = |title: &str| Panel::new().title(title).equal().size(230.0, 230.0);
    Figure::new()
        .panel(
            square("ROC")
                .x(Axis::linear("false positive rate").range(0.0, 1.0))
                .y(Axis::linear("true positive rate").range(0.0, 1.0))
                .layer(Layer::steps(curve).label("averaged (area 0.82)"))
                .layer(
                    Layer::line([(0.0, 0.0), (1.0, 1.0)])
                        .color(Color::Muted)
                        .dash(Dash::Dotted)
                        .label("chance"),
                ),
        )
        .panel(
            square("Precision and recall")
                .x(Axis::linear("recall").range(0.0, 1.0))
                .y(Axis::linear("precision").range(0.0, 1.0))
                .layer(
                    Layer::curve((0.01, 1.0), 50, |r| 1.0 - 0.5 * r * r * r)
                        .label("averaged (area 0.82)"),
                ),
        )
        .columns(2)
}

fn points_and_boundary(step: usize) -> Panel {
    let mut noise = Noise(21);
    let angle = 2.2 - 0.35 * step as f64;
    let w = [angle.cos(), angle.sin()];
    Panel::new()
        .title(format!("after update {step}"))
        .x(Axis::linear("x₁"))
        .y(Axis::linear("x₂"))
        .equal()
        .layer(Layer::points(noise.blob(14, (1.3, 0.8), 0.45)).label("plus"))
        .layer(Layer::points(noise.blob(14, (-1.2, -0.7), 0.45)).label("minus"))
        .layer(Layer::boundary(w, 0.1).label("boundary").dash(Dash::Solid))
        .layer(Layer::arrow((0.0, 0.0), (w[0], w[1])).label("w"))
}

fn multiples() -> Figure {
    Figure::new()
        .panels((0..6).map(points_and_boundary))
        .columns(3)
        .share_x()
        .share_y()
        .title("The boundary after each update")
}

fn turning() -> Animation {
    Animation::new((0..6).map(|i| Figure::of(points_and_boundary(i)).title("A boundary learns")))
}

fn lifted() -> Figure {
    let mut noise = Noise(9);
    let view = View::new(28.0, 22.0).stretch(1.1);
    let lift = |p: &(f64, f64)| [p.0, p.1, p.0 * p.0 + p.1 * p.1];
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    while inside.len() < 45 || outside.len() < 60 {
        let p = (2.4 * noise.uniform() - 1.2, 2.4 * noise.uniform() - 1.2);
        let r = p.0 * p.0 + p.1 * p.1;
        if r < 0.42 && inside.len() < 45 {
            inside.push(p);
        } else if r > 0.62 && r < 1.44 && outside.len() < 60 {
            outside.push(p);
        }
    }
    let flat = Panel::new()
        .title("A disc and its outside")
        .x(Axis::linear("x₁"))
        .y(Axis::linear("x₂"))
        .equal()
        .size(300.0, 300.0)
        .layer(
            Layer::circle((0.0, 0.0), 0.52f64.sqrt())
                .color(Color::Muted)
                .hollow()
                .dash(Dash::Dashed),
        )
        .layer(Layer::points(inside.clone()).label("inside"))
        .layer(Layer::points(outside.clone()).label("outside"));
    let raise =
        |points: &[(f64, f64)]| view.project_all(&points.iter().map(lift).collect::<Vec<_>>());
    let ring: Vec<[f64; 3]> = (0..=72)
        .map(|i| {
            let t = f64::from(i) / 72.0 * std::f64::consts::TAU;
            [0.52f64.sqrt() * t.cos(), 0.52f64.sqrt() * t.sin(), 0.52]
        })
        .collect();
    let space = Panel::bare()
        .title("Lifted: a plane separates them")
        .size(360.0, 300.0)
        .layers(
            view.surface((-1.1, 1.1), (-1.1, 1.1), 12, Color::Muted, |x, y| {
                let r = x * x + y * y;
                if r < 1.5 { r } else { f64::NAN }
            })
            .into_iter()
            .map(|l| l.opacity(0.05)),
        )
        .layer(Layer::points(raise(&inside)).label("inside"))
        .layer(
            view.polygon(&[
                [-1.2, -1.2, 0.52],
                [1.2, -1.2, 0.52],
                [1.2, 1.2, 0.52],
                [-1.2, 1.2, 0.52],
            ])
            .series(2)
            .label("plane"),
        )
        .layer(view.line(&ring).color(Color::Ink).width(1.2))
        .layer(Layer::points(raise(&outside)).label("outside"))
        .layers(view.axes([1.4, 1.4, 2.0], ["x₁", "x₂", "x₁² + x₂²"]));
    Figure::new()
        .panel(flat)
        .panel(space)
        .columns(2)
        .legend(Legend::Below)
}

fn neuron() -> Figure {
    let mut panel = Panel::bare().size(440.0, 230.0);
    for (k, (input, weight)) in [("1", "w₀"), ("x₁", "w₁"), ("x₂", "w₂")].iter().enumerate()
    {
        let y = 2.0 - 2.0 * k as f64;
        panel = panel
            .layer(Layer::circle((0.0, y), 0.55).series(0))
            .layer(Layer::text((0.0, y), *input))
            .layer(Layer::arrow((0.6, y * 0.96), (4.1, y * 0.18)).note(*weight));
    }
    Figure::of(
        panel
            .layer(Layer::circle((5.0, 0.0), 0.9).series(1))
            .layer(Layer::text((5.0, 0.0), "Σ").size(20.0))
            .layer(Layer::arrow((5.95, 0.0), (7.6, 0.0)).note("score s"))
            .layer(Layer::area([(7.7, -0.7), (9.1, -0.7), (9.1, 0.7), (7.7, 0.7)]).series(2))
            .layer(
                Layer::line([(7.9, -0.4), (8.4, -0.4), (8.4, 0.4), (8.9, 0.4)])
                    .color(Color::Ink)
                    .dash(Dash::Solid),
            )
            .layer(Layer::arrow((9.15, 0.0), (10.6, 0.0)).note("ŷ = ±1")),
    )
    .title("The unit as a neuron")
}

fn long_names() -> Figure {
    let names = [
        "Adm-clerical",
        "Craft-repair",
        "Exec managerial staff",
        "Farming-fishing",
        "Handlers-cleaners",
        "Machine-op-inspct",
        "Other-service",
        "Priv-house-serv",
        "Prof-specialty",
        "Protective-serv",
    ];
    let first = [12.0, 8.0, 17.0, 3.0, 5.0, 9.0, 14.0, 2.0, 21.0, 6.0];
    Figure::of(
        Panel::new()
            .x(Axis::categories("occupation", names))
            .y(Axis::linear("rows").unit("thousands").from_zero())
            .layer(Layer::bars(first).group(0, 2).label("training"))
            .layer(
                Layer::bars(first.map(|v| v * 0.8 + 1.0))
                    .group(1, 2)
                    .label("test"),
            ),
    )
    .title("Names that do not fit")
}
