//! The boundary of a perceptron in two dimensions, step by step, as pictures.

use std::path::Path;

use super::picture;
use rosenblatt::data::Dataset;
use rosenblatt::training::Step;
use rosenblatt::write::write_atomic;
use rosenblatt::{Error, Result};
use rosenblatt_plot::{Animation, Axis, Color, Figure, Layer, Panel};

/// Pictures in a sheet of small multiples.
const PANELS: usize = 12;
/// Frames of an animation.
const FRAMES: usize = 200;
/// Points of each class in all frames or panels together, and in one of them at least.
const POINTS: usize = 10_000;
const LEAST_POINTS: usize = 50;

/// Draws the steps into `path`: an animation of the updates (.svg), or small multiples of the
/// passes (.png). Gives the number of points of each class that a picture shows at most.
pub fn draw(path: &Path, data: &Dataset, steps: &[Step], has_bias: bool) -> Result<usize> {
    if data.features() != 2 || data.classes.len() != 2 {
        return Err(Error::options(format!(
            "--plot draws two features and two classes, not {} and {}",
            data.features(),
            data.classes.len()
        ))
        .remedy(if data.features() == 2 {
            "leave --plot out, or hold one class against the rest with --positive"
        } else {
            "leave --plot out, or choose two columns with --ignore"
        }));
    }
    let mut most = POINTS / PANELS;
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let bytes = match extension.as_deref() {
        Some("svg") => {
            let updates: Vec<&Step> = steps.iter().filter(|s| !s.correct).collect();
            let updates = thinned(&updates, FRAMES);
            most = (POINTS / (updates.len() + 1)).max(LEAST_POINTS);
            let frames = updates.into_iter().map(|step| {
                let title = format!("step {}, pass {}, row {}", step.step, step.epoch, step.row);
                Figure::of(panel(data, step, has_bias, most)).title(title)
            });
            let start = steps
                .first()
                .map(|s| Figure::of(base(data, most)).title(format!("before step {}", s.step)));
            Animation::new(start.into_iter().chain(frames))
                .hold_last(3)
                .svg()
                .into_bytes()
        }
        Some("png") => {
            let last_of_pass: Vec<&Step> = steps
                .chunk_by(|a, b| a.epoch == b.epoch)
                .filter_map(<[Step]>::last)
                .collect();
            let panels = thinned(&last_of_pass, PANELS).into_iter().map(|step| {
                panel(data, step, has_bias, most).title(format!("after pass {}", step.epoch))
            });
            let figure = Figure::new()
                .panels(panels)
                .panel_size(220.0, 220.0)
                .share_x()
                .share_y();
            picture::png(path, &figure)?
        }
        _ => {
            return Err(Error::options(format!(
                "{}: a plot is an .svg (animated) or a .png (small multiples)",
                path.display()
            )));
        }
    };
    write_atomic(path, |out| {
        out.write_all(&bytes).map_err(|e| Error::io(path, &e))
    })?;
    Ok(most)
}

/// At most `most` of the steps, evenly spread, the last among them.
fn thinned<'a>(steps: &[&'a Step], most: usize) -> Vec<&'a Step> {
    if steps.len() <= most {
        return steps.to_vec();
    }
    let last = steps.len() - 1;
    (0..most).map(|i| steps[i * last / (most - 1)]).collect()
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

fn panel(data: &Dataset, step: &Step, has_bias: bool, most: usize) -> Panel {
    let w = &step.weights_after;
    let (bias, w1, w2) = if has_bias {
        (w[0], w[1], w[2])
    } else {
        (0.0, w[0], w[1])
    };
    let mut panel = base(data, most);
    if w1 != 0.0 || w2 != 0.0 {
        panel = panel.layer(
            Layer::boundary([w1, w2], bias)
                .color(Color::Ink)
                .label("boundary"),
        );
    }
    if let Some(row) = (step.row as usize).checked_sub(1) {
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
