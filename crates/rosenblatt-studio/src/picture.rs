//! Pictures of a run, drawn by the plot crate: the animation that `trace --plot` draws too, and
//! what the page shows at a visit.

use rosenblatt::data::Dataset;
use rosenblatt::{Error, Result};
use rosenblatt_plot::{Animation, Axis, Color, Figure, Layer, Panel, Regions};

use crate::hypothesis::Hypothesis;
use crate::run::Run;
use crate::view::{Rectangle, View, grid, grid_size};

/// Frames of an animation.
pub const FRAMES: usize = 200;
/// Points of each class in all frames or panels together, and in one of them at least.
const POINTS: usize = 10_000;
const LEAST_POINTS: usize = 50;

/// The weights after a visit.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The visit, from 1.
    pub step: u64,
    /// Its pass, from 1.
    pub epoch: u64,
    /// Its row, from 1.
    pub row: u64,
    /// The weights after it, bias first where there is one.
    pub weights: Vec<f64>,
}

/// Refuses data that are not in a plane, or not of two classes.
pub fn check_plane(data: &Dataset) -> Result<()> {
    if data.features() == 2 && data.classes.len() == 2 {
        return Ok(());
    }
    Err(Error::options(format!(
        "⟨plot⟩ draws two features and two classes, not {} and {}",
        data.features(),
        data.classes.len()
    ))
    .remedy(match data.features() {
        2 => "leave ⟨plot⟩ out, or hold one class against the rest with ⟨positive⟩",
        _ => "leave ⟨plot⟩ out, or choose two columns with ⟨ignore⟩",
    }))
}

/// At most `most` of these, evenly spread, the last among them.
pub fn thinned<T: Clone>(all: &[T], most: usize) -> Vec<T> {
    if all.len() <= most {
        return all.to_vec();
    }
    let last = all.len() - 1;
    (0..most)
        .map(|i| all[i * last / (most - 1)].clone())
        .collect()
}

/// The points of each class that so many panels show at most.
pub fn points_shown(panels: usize) -> usize {
    (POINTS / panels).max(LEAST_POINTS)
}

/// The boundary from update to update, as an animation; with the number of points of each class
/// that it shows at most. `updates` are at most [`FRAMES`].
pub fn animation(
    data: &Dataset,
    first_step: Option<u64>,
    updates: &[Moment],
    has_bias: bool,
) -> Result<(String, usize)> {
    check_plane(data)?;
    let most = points_shown(updates.len() + 1);
    let frames = updates.iter().map(|moment| {
        let title = format!(
            "step {}, pass {}, row {}",
            moment.step, moment.epoch, moment.row
        );
        Figure::of(panel(data, moment, has_bias, most)).title(title)
    });
    let start = first_step.map(|step| {
        let title = format!("before step {step}");
        Figure::of(base(data, most)).title(title)
    });
    let all = start.into_iter().chain(frames);
    Ok((Animation::new(all).hold_last(3).svg(), most))
}

/// At most `most` points of a class, evenly spread over its rows.
fn points(data: &Dataset, class: u32, most: usize) -> Vec<(f64, f64)> {
    let all = (0..data.len()).filter(|&i| data.labels[i] == class);
    let step = all.clone().count().div_ceil(most).max(1);
    all.step_by(step)
        .map(|i| {
            let x = data.row(i).to_dense(2);
            (x[0], x[1])
        })
        .collect()
}

fn base(data: &Dataset, most: usize) -> Panel {
    let range = |j: usize| {
        let values = (0..data.len()).map(|i| data.row(i).to_dense(2)[j]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
            (l.min(x), h.max(x))
        });
        let margin = 0.15 * (high - low).max(1e-9);
        (low - margin, high + margin)
    };
    let ((left, right), (low, high)) = (range(0), range(1));
    let mut panel = Panel::new()
        .x(Axis::linear(data.names.get(0)).range(left, right))
        .y(Axis::linear(data.names.get(1)).range(low, high));
    for class in 0..2 {
        panel =
            panel.layer(Layer::points(points(data, class, most)).label(data.classes.name(class)));
    }
    panel
}

/// The boundary at one moment, among at most `most` points of each class.
pub fn panel(data: &Dataset, moment: &Moment, has_bias: bool, most: usize) -> Panel {
    let w = &moment.weights;
    let (bias, w1, w2) = match has_bias {
        true => (w[0], w[1], w[2]),
        false => (0.0, w[0], w[1]),
    };
    let mut panel = base(data, most);
    if w1 != 0.0 || w2 != 0.0 {
        panel = panel.layer(
            Layer::boundary([w1, w2], bias)
                .color(Color::Ink)
                .label("boundary"),
        );
    }
    if let Some(row) = (moment.row as usize).checked_sub(1) {
        let x = data.row(data.position(row)).to_dense(2);
        panel = panel.layer(
            Layer::points([(x[0], x[1])])
                .hollow()
                .size(12.0)
                .color(Color::Ink)
                .label("row visited"),
        );
    }
    panel
}

/// What the page shows after visit `k`.
pub fn figure(run: &Run, view: View, k: usize) -> Result<Figure> {
    let View::Columns(x, y) = view else {
        return Err(Error::options("a picture shows two columns").remedy("choose two columns"));
    };
    let data = &run.data;
    let examples = &data.examples;
    let places: Vec<(f64, f64)> = (data.drawn.iter())
        .map(|&i| view.place(data, None, i as usize))
        .collect();
    let over = surroundings(&places);
    let name = |j: usize| match j < examples.features() {
        true => examples.names.get(j).into_owned(),
        false => String::new(),
    };
    let mut panel = Panel::new()
        .x(Axis::linear(name(x)).range(over.x.0, over.x.1))
        .y(Axis::linear(name(y)).range(over.y.0, over.y.1));
    let believed = Hypothesis::after(run, k)?;
    let n = grid_size(data, 160);
    let scores = believed.scores(&grid(data, (x, y), over, n))?;
    let classes: Vec<u32> = scores
        .chunks_exact(run.scheme.discriminators())
        .map(|s| believed.decide(run, s))
        .collect();
    let cell = |range: (f64, f64), at: f64| {
        let t = (at - range.0) / (range.1 - range.0) * n as f64;
        (t as usize).min(n - 1)
    };
    let regions = Regions::sample(over.x, over.y, n, |px, py| {
        classes[cell(over.y, py) * n + cell(over.x, px)] as usize
    });
    panel = panel.layer(regions.names(examples.classes.names().iter().cloned()));
    for class in 0..examples.classes.len() as u32 {
        let own = data.drawn.iter().zip(&places);
        let own = own.filter(|(i, _)| examples.labels[**i as usize] == class);
        let own: Vec<(f64, f64)> = own.map(|(_, place)| *place).collect();
        let label = examples.classes.name(class);
        panel = panel.layer(Layer::points(own).series(class as usize).label(label));
    }
    let title = match (k, run.is_traced()) {
        (0, _) => format!("{}, before the first visit", data.file.name),
        (_, true) => format!("{}, after visit {k}", data.file.name),
        (_, false) => format!(
            "{}, after pass {}",
            data.file.name,
            run.passes().models[k - 1].0
        ),
    };
    Ok(Figure::of(panel).title(title))
}

/// The rectangle around points, with a margin.
pub fn surroundings(places: &[(f64, f64)]) -> Rectangle {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
            (l.min(x), h.max(x))
        });
        let margin = match high > low {
            true => 0.12 * (high - low),
            false => 1.0,
        };
        (low - margin, high + margin)
    };
    Rectangle {
        x: range(&mut places.iter().map(|p| p.0)),
        y: range(&mut places.iter().map(|p| p.1)),
    }
}
