//! The pictures of a report.

use std::cell::RefCell;

use rosenblatt::data::{FeatureNames, Row};
use rosenblatt::metrics::Evaluation;
use rosenblatt::model::Model;
use rosenblatt::report::{Discriminator, TrainReport, discriminator_name};
use rosenblatt_plot::{
    Axis, Color, Dash, Figure, HeatMap, Layer, Legend, Panel, Regions, bin_edges,
};

use super::diagnostics::Diagnostics;
use crate::render::table::clipped;

/// Points that a line needs at most.
const LINE: usize = 400;
/// The largest picture that is drawn pixel by pixel.
const PIXELS: usize = 64 * 64;
/// Pictures of weights.
const PICTURES: usize = 12;

/// At most [`LINE`] of the points, evenly spread, the ends among them.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= LINE {
        return points;
    }
    let last = points.len() - 1;
    (0..LINE).map(|i| points[i * last / (LINE - 1)]).collect()
}

/// Values by pass, the first being pass 1.
fn by_pass(values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    thinned(
        values
            .enumerate()
            .map(|(i, y)| (i as f64 + 1.0, y))
            .collect(),
    )
}

/// A series by pass: a line, with points while they can be told apart.
fn series(name: &str, values: impl Iterator<Item = f64>) -> Vec<Layer> {
    let points = by_pass(values);
    let mut layers = vec![Layer::line(points.clone()).label(name)];
    if points.len() <= 30 {
        layers.push(Layer::points(points).label(name));
    }
    layers
}

/// Mistakes, losses and validation error by pass.
pub fn passes(report: &TrainReport) -> Figure {
    let pass = || Axis::linear("pass").whole();
    let share = |mistakes: &u64| *mistakes as f64 / report.examples.max(1) as f64;
    let mut errors = Panel::new()
        .title("Errors")
        .x(pass())
        .y(Axis::linear("fraction of examples").percent().from_zero())
        .layers(series(
            "mistakes during training",
            report.mistakes_per_epoch.iter().map(share),
        ));
    let held = report.validation_accuracy_per_epoch.iter();
    let held: Vec<f64> = held.map(|a| a.map_or(f64::NAN, |a| 1.0 - a)).collect();
    if held.iter().any(|x| !x.is_nan()) {
        errors = errors.layers(series("error on held-out examples", held.into_iter()));
    }
    let mut loss = Panel::new()
        .title("Loss")
        .x(pass())
        .y(Axis::linear("mean per example").from_zero());
    if let Some(squared) = &report.squared_error_per_epoch {
        loss = loss.layers(series("squared error", squared.iter().copied()));
    } else {
        loss = loss
            .layers(series(
                "perceptron loss",
                report.perceptron_loss_per_epoch.iter().copied(),
            ))
            .layers(series(
                "hinge loss",
                report.hinge_loss_per_epoch.iter().copied(),
            ));
    }
    Figure::new()
        .panel(errors)
        .panel(loss)
        .columns(2)
        .panel_size(300.0, 210.0)
        .caption("Mistakes and losses are measured at each visit, before the update.")
}

/// Mistakes so far beside what the theorem allows; `None` where it allows nothing in particular.
pub fn against_bound(report: &TrainReport) -> Option<Figure> {
    let bound = report.updates_at_most?;
    let mut sum = 0;
    let so_far = report.mistakes_per_epoch.iter().map(|m| {
        sum += m;
        sum as f64
    });
    Some(Figure::of(
        Panel::new()
            .x(Axis::linear("pass").whole())
            .y(Axis::log("mistakes so far"))
            .size(420.0, 200.0)
            .layers(series("mistakes so far", so_far))
            .layer(
                Layer::horizontal(bound as f64)
                    .label("bound on updates")
                    .color(Color::Ink),
            ),
    ))
}

/// How margins are spread.
pub fn margins(sets: &[(&str, &Diagnostics<'_>)]) -> Figure {
    let all: Vec<f64> = sets
        .iter()
        .flat_map(|(_, j)| j.margins.iter().copied())
        .collect();
    // A few extreme rows must not squeeze the others into one bar.
    let mut sorted: Vec<f64> = all.iter().copied().filter(|m| m.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| {
        sorted
            .get(((sorted.len().max(1) - 1) as f64 * share) as usize)
            .copied()
    };
    let (low, high) = (at(0.002).unwrap_or(0.0), at(0.998).unwrap_or(1.0));
    let shown: Vec<f64> = sorted
        .iter()
        .copied()
        .filter(|m| (low..=high).contains(m))
        .collect();
    let edges = bin_edges(&shown, 40);
    let mut panel = Panel::new()
        .x(Axis::linear(
            sets.first().map_or("margin", |(_, j)| j.margin_name()),
        ))
        .y(Axis::linear("fraction of examples").percent())
        .size(460.0, 220.0);
    for (name, diagnostics) in sets {
        let total = diagnostics.margins.len().max(1) as f64;
        let mut counts = vec![0.0; edges.len().saturating_sub(1)];
        for m in &diagnostics.margins {
            let bin = edges.partition_point(|e| e <= m);
            if (1..edges.len()).contains(&bin) {
                counts[bin - 1] += 1.0 / total;
            }
        }
        panel = panel.layer(Layer::histogram_counts(&edges, &counts).label(*name));
    }
    let outside = all.len() - shown.len();
    let mut caption = "Examples left of 0 are misclassified.".to_owned();
    if outside > 0 {
        caption.push_str(&format!(
            " {outside} outliers lie beyond the ends of the axis."
        ));
    }
    Figure::of(panel.layer(Layer::vertical(0.0)))
        .title("Distribution of margins")
        .caption(caption)
}

/// The confusion matrix.
pub fn confusion(evaluation: &Evaluation) -> Figure {
    let names: Vec<String> = (evaluation.classes().names().iter())
        .map(|n| clipped(n, 18))
        .collect();
    Figure::of(Panel::confusion(&names, evaluation.confusion())).title("Confusion matrix")
}

/// The ROC and precision–recall curves of two classes.
pub fn curves(evaluation: &Evaluation) -> Option<Figure> {
    let auc = evaluation.auc()?;
    let square = |title: &str| Panel::new().title(title).equal().size(240.0, 240.0);
    let share = |name: &str| Axis::linear(name).percent().range(0.0, 1.0);
    let positive = clipped(evaluation.classes().name(1), 24);
    let found = evaluation.by_class();
    let base = found.get(1).map_or(0.0, |c| c.examples as f64)
        / found.iter().map(|c| c.examples).sum::<u64>().max(1) as f64;
    Some(
        Figure::new()
            .panel(
                square(&format!("ROC, area {auc:.4}"))
                    .x(share("false positive rate"))
                    .y(share(&format!("true positive rate, {positive}")))
                    .layer(Layer::line(thinned(evaluation.roc())).label("model"))
                    .layer(
                        Layer::line([(0.0, 0.0), (1.0, 1.0)])
                            .color(Color::Muted)
                            .dash(Dash::Dotted)
                            .label("chance"),
                    ),
            )
            .panel(
                square("Precision–recall curve")
                    .x(share("recall"))
                    .y(share("precision"))
                    .layer(Layer::line(thinned(evaluation.precision_recall())).label("model"))
                    .layer(
                        Layer::line([(0.0, base), (1.0, base)])
                            .color(Color::Muted)
                            .dash(Dash::Dotted)
                            .label("chance"),
                    ),
            )
            .columns(2),
    )
}

/// Predicted probabilities beside what came of them.
pub fn reliability(evaluation: &Evaluation) -> Option<Figure> {
    let bins = evaluation.reliability();
    let error = evaluation.expected_calibration_error()?;
    let classes = evaluation.classes();
    let (of, observed) = match classes.len() {
        2 => {
            let positive = clipped(classes.name(1), 24);
            (format!("of {positive}"), format!("share of {positive}"))
        }
        _ => ("of the most probable class".into(), "share correct".into()),
    };
    let share = |name: &str| Axis::linear(name).percent().range(0.0, 1.0);
    let points = bins.iter().map(|bin| (bin.predicted, bin.observed));
    let points: Vec<(f64, f64)> = points.collect();
    let panel = Panel::new()
        .equal()
        .size(280.0, 280.0)
        .x(share(&format!("predicted probability {of}")))
        .y(share(&observed))
        .layer(Layer::line(points.clone()).label("model"))
        .layer(Layer::points(points).series(0))
        .layer(
            Layer::line([(0.0, 0.0), (1.0, 1.0)])
                .color(Color::Muted)
                .dash(Dash::Dotted)
                .label("calibrated"),
        );
    Some(
        Figure::of(panel)
            .title("Reliability of the probabilities")
            .caption(format!(
                "Each point is the examples of one tenth of the probabilities. Expected calibration error {error:.4}."
            )),
    )
}

/// The largest weights of discriminators as bars.
pub fn weight_bars(discriminators: &[Discriminator]) -> Figure {
    let single = discriminators.len() == 1;
    let panels = discriminators.iter().map(|d| {
        let names: Vec<String> = d.largest.iter().map(|(n, _)| clipped(n, 34)).collect();
        let sign = |positive: bool| -> Vec<f64> {
            let those = d.largest.iter().map(|(_, w)| *w);
            those
                .map(|w| if (w > 0.0) == positive { w } else { f64::NAN })
                .collect()
        };
        Panel::new()
            .title(format!("for {}", clipped(&d.name, 30)))
            .x(Axis::linear("weight").from_zero())
            .y(Axis::categories("", names).reversed())
            .size(
                if single { 380.0 } else { 210.0 },
                18.0 * d.largest.len() as f64 + 20.0,
            )
            .layer(
                Layer::bars(sign(true))
                    .sideways()
                    .label("evidence for")
                    .series(1),
            )
            .layer(
                Layer::bars(sign(false))
                    .sideways()
                    .label("evidence against")
                    .series(0),
            )
            .layer(Layer::vertical(0.0).dash(Dash::Solid).width(1.0))
    });
    Figure::new()
        .panels(panels)
        .columns(if single { 1 } else { 2 })
        .legend(Legend::Below)
        .title("Largest weights")
}

/// The shape of pictures that can be drawn.
fn shape(names: &FeatureNames) -> Option<(usize, usize)> {
    match names {
        FeatureNames::Pixels { height, width } => {
            let (h, w) = (*height as usize, *width as usize);
            (h * w <= PIXELS && h > 1 && w > 1).then_some((h, w))
        }
        _ => None,
    }
}

/// Weights as pictures, where rows are pictures.
pub fn weight_pictures(model: &Model, names: &FeatureNames) -> Option<Figure> {
    let (_, width) = shape(names)?;
    let weights = model.weights()?;
    let shown = weights.discriminators().min(PICTURES);
    let panels = (0..shown).map(|d| {
        let name = clipped(&discriminator_name(model, d), 16);
        Panel::picture(name, HeatMap::signed(width, weights.column(d)))
    });
    Some(
        Figure::new()
            .panels(panels)
            .columns(shown.min(5))
            .panel_size(112.0, 112.0)
            .title("Weights as images")
            .caption("Orange pixels are evidence for the class, blue ones against it."),
    )
}

/// The hardest examples as pictures, where rows are pictures.
pub fn hard_pictures(
    model: &Model,
    names: &FeatureNames,
    diagnostics: &Diagnostics<'_>,
) -> Option<Figure> {
    let (height, width) = shape(names)?;
    let panels = diagnostics.hardest.iter().map(|hard| {
        let mut pixels = vec![0.0; height * width];
        for &(j, x) in &hard.features {
            pixels[j] = x.max(0.0);
        }
        let title = format!(
            "{}, not {}",
            clipped(model.classes.name(hard.truth), 10),
            clipped(model.classes.name(hard.predicted), 10)
        );
        let title = if hard.truth == hard.predicted {
            clipped(model.classes.name(hard.truth), 10)
        } else {
            title
        };
        Panel::picture(
            format!("{title} (row {})", hard.row + 1),
            HeatMap::image(width, pixels),
        )
    });
    Some(
        Figure::new()
            .panels(panels)
            .columns(4)
            .panel_size(130.0, 130.0)
            .title("Hardest examples")
            .caption("“4, not 9”: a 4 that the model takes for a 9."),
    )
}

/// The regions of two features, with examples.
pub fn regions(
    model: &Model,
    names: &FeatureNames,
    diagnostics: &Diagnostics<'_>,
    scaled: bool,
) -> Figure {
    let range = |of: fn(&(f64, f64, u32)) -> f64| {
        let values = diagnostics.points.iter().map(of);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
            (l.min(x), h.max(x))
        });
        if low > high {
            return (-1.0, 1.0);
        }
        let air = 0.06 * (high - low).max(1e-9);
        (low - air, high + air)
    };
    let (x, y) = (range(|p| p.0), range(|p| p.1));
    let scorer = RefCell::new(model.scorer());
    let class = |a: f64, b: f64| scorer.borrow_mut().class(Row::Dense64(&[a, b])) as usize;
    let name = |c: u32| clipped(model.classes.name(c), 24);
    let classes = || (0..model.classes.len() as u32).map(name);
    let mut panel = Panel::new()
        .x(Axis::linear(names.get(0)).range(x.0, x.1))
        .y(Axis::linear(names.get(1)).range(y.0, y.1))
        .size(460.0, 360.0)
        .layer(Regions::sample(x, y, 200, class).names(classes()));
    for c in 0..model.classes.len() as u32 {
        let those: Vec<(f64, f64)> = (diagnostics.points.iter())
            .filter(|p| p.2 == c)
            .map(|p| (p.0, p.1))
            .collect();
        panel = panel.layer(Layer::points(those).label(name(c)).size(5.0));
    }
    let mut caption = format!("{} examples", diagnostics.points.len());
    if diagnostics.points.len() < diagnostics.margins.len() {
        caption = format!(
            "The first {} of {} examples",
            diagnostics.points.len(),
            diagnostics.margins.len()
        );
    }
    caption.push_str(" over the predicted class at each point");
    caption.push_str(if scaled {
        "; both features scaled as for the model."
    } else {
        "."
    });
    Figure::of(panel).caption(caption)
}
