//! The bound on a perceptron's updates where no hyperplane separates (Freund & Schapire, 1999).

use rosenblatt::data::Dataset;
use rosenblatt::options::{Bias, Readout};
use rosenblatt::proof::BiasTerm;
use rosenblatt::{Options, Result, bounds};

use crate::render::numbers::{counted, short};

/// R, γ and D of ((R + √T·D)/γ)² for T passes, at the best γ for the best of some directions.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(super) struct Inseparable {
    radius: f64,
    margin: f64,
    deviation: f64,
    /// What one pass makes at most.
    first_pass: Option<u64>,
}

/// Passes of the perceptron whose weights are tried.
const PASSES: u64 = 10;

/// The bound for two classes, at the direction of an averaged perceptron, of its last weights
/// or of the difference of the classes, whichever makes one pass's smallest; none where that says
/// no more than the number of rows.
pub(super) fn inseparable(
    data: &Dataset,
    bias: BiasTerm,
    threads: usize,
) -> Result<Option<Inseparable>> {
    if data.classes.len() != 2 || data.is_empty() {
        return Ok(None);
    }
    let lift = if bias == BiasTerm::Lifted { 1.0 } else { 0.0 };
    let sign = |i: usize| if data.labels[i] == 1 { 1.0 } else { -1.0 };
    let mut directions = Vec::new();
    for readout in [Readout::Averaged, Readout::Last] {
        let options = Options {
            epochs: Some(PASSES),
            readout: Some(readout),
            bias: Some(if lift > 0.0 { Bias::Lifted } else { Bias::None }),
            ..Options::default()
        };
        let fitted = rosenblatt::session(&options).threads(threads).train(data)?;
        if let Some(weights) = fitted.model.weights() {
            directions.push((weights.column(0), weights.bias(0)));
        }
    }
    let mut sum = (vec![0.0; data.features()], 0.0);
    for i in 0..data.len() {
        data.row(i).for_each(|j, x| sum.0[j] += sign(i) * x);
        sum.1 += sign(i) * lift;
    }
    directions.push(sum);
    let rows = || (0..data.len()).map(|i| data.row(i));
    let kind = match bias {
        BiasTerm::Lifted => rosenblatt::proof::MarginKind::Lifted,
        BiasTerm::None => rosenblatt::proof::MarginKind::Plain,
    };
    let room = 1.0 + (data.features() as f64 + 8.0) * f64::EPSILON;
    let radius = rosenblatt::geometry::radius(rows(), kind) * room;
    let mut best: Option<(f64, Inseparable)> = None;
    for (weights, b) in directions {
        let length = rosenblatt::geometry::norm(&[rosenblatt::geometry::norm(&weights), b]);
        if length == 0.0 || !length.is_finite() {
            continue;
        }
        let scored = rows().enumerate();
        let margins: Vec<f64> = scored
            .map(|(i, row)| sign(i) * row.dot(&weights, b) / length)
            .collect();
        let (margin, bound) = bounds::best_inseparable(radius, &margins, 1);
        if best.is_none_or(|(least, _)| bound < least) {
            let found = Inseparable {
                radius,
                margin,
                deviation: bounds::deviation(&margins, margin),
                first_pass: bounds::count(bound),
            };
            best = Some((bound, found));
        }
    }
    // A pass makes no more updates than there are rows.
    let best = best.filter(|(bound, _)| *bound < data.len() as f64);
    Ok(best.map(|(_, found)| found))
}

/// The bound in words.
pub(super) fn inseparable_text(found: &Inseparable) -> String {
    let Some(first) = found.first_pass else {
        return String::new();
    };
    format!(
        "a perceptron from zero makes at most {} in one pass, and ((R + √T·D)/γ)² in T passes: R = {}, D = {}, γ = {}\n",
        counted(first, "update", "updates"),
        short(found.radius),
        short(found.deviation),
        short(found.margin)
    )
}
