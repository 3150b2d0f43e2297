//! Classifiers as they were learned, drawn.

use std::cell::RefCell;

use rosenblatt::Session;
use rosenblatt::data::{Classes, Dataset, Matrix, Precision, Row};
use rosenblatt::embedding::Embed;
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::model::Model;
use rosenblatt::options::{Order, Readout};
use rosenblatt::progress::Stop;
use rosenblatt::synthetic::{self, Kind};
use rosenblatt::{Error, Options, Result};
use rosenblatt_plot::{Axis, Color, Figure, Layer, Legend, Panel, Regions, View};

use crate::render::numbers::short;

/// The last weights of a run that must separate.
fn separating(data: &Dataset, embed: Option<Embed>) -> Result<Model> {
    let options = Options {
        embed,
        readout: Some(Readout::Last),
        order: Order::Given,
        epochs: Some(1_000_000),
        ..Options::default()
    };
    let fitted = Session::new(&options).threads(1).train(data)?;
    match fitted.model.progress.stop {
        Some(Stop::Separated) => Ok(fitted.model),
        _ => Err(Error::data("the points of this figure were not separated")),
    }
}

fn points(data: &Dataset, class: u32) -> Vec<[f64; 2]> {
    (0..data.len())
        .filter(|&i| data.labels[i] == class)
        .map(|i| {
            let x = data.row(i).to_dense(2);
            [x[0], x[1]]
        })
        .collect()
}

/// A polynomial classifier on a line.
pub fn polynomial() -> Result<Figure> {
    let places = [
        -2.0, -1.75, -1.5, -0.75, -0.5, 0.0, 0.25, 1.0, 1.25, 1.5, 2.0, 2.25,
    ];
    let labels = vec![0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1];
    let rows: Vec<Vec<f64>> = places.iter().map(|x| vec![*x]).collect();
    let matrix = Matrix::dense_from_rows(1, &rows, Precision::F64);
    let data = Dataset::new(matrix, labels, Classes::from_labels(["-1", "+1"]), None)?;
    let model = separating(&data, Some(Embed::Monomials { degree: 3 }))?;
    let scorer = RefCell::new(model.scorer());
    let score = |x: f64| scorer.borrow_mut().scores(Row::Dense64(&[x]))[0];
    let highest = places.iter().map(|x| score(*x).abs()).fold(0.0, f64::max);
    let of = |class: u32| -> Vec<(f64, f64)> {
        (0..data.len())
            .filter(|&i| data.labels[i] == class)
            .map(|i| (places[i], 0.0))
            .collect()
    };
    let weights = model.weights().map_or_else(Vec::new, |w| w.column(0));
    let terms: Vec<String> = weights
        .iter()
        .zip(["", "x", "x²", "x³"])
        .map(|(w, power)| format!("{}{power}", short(*w)))
        .collect();
    let panel = Panel::new()
        .x(Axis::linear("x").range(-2.4, 2.6))
        .y(Axis::linear("score").range(-highest, highest))
        .size(460.0, 280.0)
        .layer(
            Layer::curve((-2.4, 2.6), 121, score)
                .color(Color::Ink)
                .label("learned score"),
        )
        .layer(Layer::horizontal(0.0).width(1.0))
        .layer(Layer::points(of(0)).label("-1").series(0).size(9.0))
        .layer(Layer::points(of(1)).label("+1").series(1).size(9.0));
    Ok(Figure::of(panel)
        .title("A polynomial classifier on a line")
        .caption(format!(
            "No threshold on x separates these points, but the monomials 1, x, x², x³ do. Learned in {} updates: {}.",
            model.progress.updates,
            terms.join(" + ").replace("+ -", "− ")
        )))
}

/// A disc and its outside, in the plane and lifted.
pub fn lifting() -> Result<Figure> {
    let mut random = Random::new(3, Stream::Sample, 0);
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    while rows.len() < 110 {
        let p = [2.4 * random.unit() - 1.2, 2.4 * random.unit() - 1.2];
        let r = p[0] * p[0] + p[1] * p[1];
        if r < 0.42 || (0.62..1.44).contains(&r) {
            rows.push(p.to_vec());
            labels.push(u32::from(r < 0.5));
        }
    }
    let matrix = Matrix::dense_from_rows(2, &rows, Precision::F64);
    let classes = Classes::from_ordered(vec!["outside".into(), "inside".into()]);
    let data = Dataset::new(matrix, labels, classes, None)?;
    let model = separating(&data, Some(Embed::Circle))?;
    let scorer = RefCell::new(model.scorer());
    let score = |x: f64, y: f64| scorer.borrow_mut().scores(Row::Dense64(&[x, y]))[0];
    let weights = model.weights().map_or_else(Vec::new, |w| w.column(0));
    let bias = model.weights().map_or(0.0, |w| w.bias(0));
    let [a, b, c] = [0, 1, 2].map(|j| weights.get(j).copied().unwrap_or(0.0));
    let height = |x: f64, y: f64| -(a * x + b * y + bias) / c;
    let view = View::new(28.0, 20.0).stretch(1.1);
    let raise = |class: u32| {
        let up = points(&data, class)
            .into_iter()
            .map(|[x, y]| [x, y, x * x + y * y]);
        view.project_all(&up.collect::<Vec<_>>())
    };
    let range = (-1.25, 1.25);
    let pairs = |class| {
        points(&data, class)
            .iter()
            .map(|p| (p[0], p[1]))
            .collect::<Vec<_>>()
    };
    let flat = Panel::new()
        .title("In the plane: a circle")
        .x(Axis::linear("x₁").range(range.0, range.1))
        .y(Axis::linear("x₂").range(range.0, range.1))
        .equal()
        .size(290.0, 290.0)
        .layer(
            Layer::contour(range, range, 100, 0.0, score)
                .color(Color::Ink)
                .label("learned boundary"),
        )
        .layer(Layer::points(pairs(1)).label("inside").series(0))
        .layer(Layer::points(pairs(0)).label("outside").series(1));
    let corners = [(-1.2, -1.2), (1.2, -1.2), (1.2, 1.2), (-1.2, 1.2)];
    let corners = corners.map(|(x, y)| [x, y, height(x, y)]);
    let space = Panel::bare()
        .title("Lifted by x₁² + x₂²: a plane")
        .size(350.0, 290.0)
        .layers(
            view.surface((-1.15, 1.15), (-1.15, 1.15), 12, Color::Muted, |x, y| {
                let r = x * x + y * y;
                if r < 1.5 { r } else { f64::NAN }
            })
            .into_iter()
            .map(|l| l.opacity(0.05)),
        )
        .layer(Layer::points(raise(1)).label("inside").series(0))
        .layer(view.polygon(&corners).series(2).label("learned plane"))
        .layer(Layer::points(raise(0)).label("outside").series(1))
        .layers(view.axes([1.5, 1.5, 2.0], ["x₁", "x₂", "x₁² + x₂²"]));
    Ok(Figure::new()
        .panel(flat)
        .panel(space)
        .columns(2)
        .legend(Legend::Below)
        .title("A disc and its outside")
        .caption(format!(
            "The perceptron separates the lifted points in {} updates; seen from above, where its plane cuts the bowl is the circle.",
            model.progress.updates
        )))
}

/// The regions of three classes with their discriminators.
pub fn multiclass() -> Result<Figure> {
    let made = synthetic::generate(&synthetic::Options {
        examples: Some(90),
        classes: Some(3),
        margin: Some(0.05),
        features: Some(2),
        precision: Precision::F64,
        seed: 2,
        ..synthetic::Options::new(Kind::Classes)
    })?;
    // Points of the sphere, drawn out to different lengths: regions of argmax are cones.
    let mut random = Random::new(2, Stream::Sample, 1);
    let rows: Vec<Vec<f64>> = (0..made.dataset.len())
        .map(|i| {
            let length = 0.35 + 0.65 * random.unit();
            let x = made.dataset.row(i).to_dense(2);
            x.iter().map(|x| length * x).collect()
        })
        .collect();
    let matrix = Matrix::dense_from_rows(2, &rows, Precision::F64);
    let data = Dataset::new(
        matrix,
        made.dataset.labels.clone(),
        made.dataset.classes.clone(),
        None,
    )?;
    let options = Options {
        bias: Some(rosenblatt::options::Bias::None),
        readout: Some(Readout::Last),
        epochs: Some(1_000_000),
        ..Options::default()
    };
    let model = Session::new(&options).threads(1).train(&data)?.model;
    let scorer = RefCell::new(model.scorer());
    let class = |x: f64, y: f64| scorer.borrow_mut().class(Row::Dense64(&[x, y])) as usize;
    let range = (-1.15, 1.15);
    let name = |c: u32| format!("class {}", data.classes.name(c));
    let mut panel = Panel::new()
        .x(Axis::linear("x₁").range(range.0, range.1))
        .y(Axis::linear("x₂").range(range.0, range.1))
        .equal()
        .size(380.0, 380.0)
        .layer(Regions::sample(range, range, 230, class).names((0..3).map(name)));
    for c in 0..3 {
        let those: Vec<(f64, f64)> = points(&data, c).iter().map(|p| (p[0], p[1])).collect();
        panel = panel.layer(Layer::points(those).label(name(c)));
    }
    let columns: Vec<Vec<f64>> = (0..3)
        .map(|c| model.weights().map_or_else(Vec::new, |w| w.column(c)))
        .collect();
    let longest = columns
        .iter()
        .map(|w| w[0].hypot(w[1]))
        .fold(1e-9, f64::max);
    for (c, w) in columns.iter().enumerate() {
        let tip = (w[0] / longest, w[1] / longest);
        panel = panel.layer(
            Layer::arrow((0.0, 0.0), tip)
                .width(2.5)
                .note(format!("w{}", ["₁", "₂", "₃"][c])),
        );
    }
    let sum: f64 = (0..2)
        .map(|j| columns.iter().map(|w| w[j]).sum::<f64>().abs())
        .sum();
    Ok(Figure::of(panel.layer(Layer::points([(0.0, 0.0)]).color(Color::Ink).size(4.0)))
        .legend(Legend::Right)
        .title("Three classes and their discriminators")
        .caption(format!(
            "Each place goes to the class of the largest w·x; regions are cones, and boundaries stand at right angles to the differences of the w. Learned from zero in {} updates, they add up to {}.",
            model.progress.updates,
            if sum < 1e-9 { "0".to_owned() } else { short(sum) }
        )))
}
