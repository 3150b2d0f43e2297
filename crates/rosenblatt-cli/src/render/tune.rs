//! What a search found, as text.

use super::numbers::{count, seconds};
use super::table::{Align, columns};
use crate::commands::Tuned;

/// Candidates that are listed.
const SHOWN: usize = 25;

/// The result as people read it.
pub fn text(tuned: &Tuned) -> String {
    let head = ["", tuned.metric, "folds", "time", "settings"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (k, trial) in tuned.trials.iter().take(SHOWN).enumerate() {
        let score = match (trial.score, &trial.error) {
            (Some(score), _) => format!("{score:.4}"),
            (None, Some(_)) => "failed".into(),
            (None, None) => "–".into(),
        };
        rows.push(vec![
            (k + 1).to_string(),
            score,
            trial.scores.len().to_string(),
            seconds(trial.seconds),
            trial.command.clone(),
        ]);
    }
    let align = [
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Left,
    ];
    let mut text = columns(&rows, &align, 0);
    if tuned.trials.len() > SHOWN {
        text.push_str(&format!(
            "… and {} more\n",
            count((tuned.trials.len() - SHOWN) as u64)
        ));
    }
    let shown = &tuned.trials[..tuned.trials.len().min(SHOWN)];
    if shown
        .iter()
        .any(|t| t.score.is_some() && t.scores.is_empty())
    {
        text.push_str("0 folds: trained on one fold and scored on the others, which leaves less to learn from\n");
    }
    let best = &tuned.best;
    let interval = best.interval.map_or(String::new(), |[lower, upper]| {
        format!(
            ", 95 % interval over {} folds [{lower:.4}, {upper:.4}]",
            tuned.folds
        )
    });
    text.push_str(&format!(
        "best      {} {:.4}{interval}\n",
        best.metric, best.score
    ));
    text.push_str(
        "          the score that chose it, so a little optimistic; --validate 0.2 keeps rows from the search\n",
    );
    if let Some(nested) = &tuned.nested {
        let interval = nested.interval.map_or(String::new(), |[lower, upper]| {
            format!(", 95 % interval [{lower:.4}, {upper:.4}]")
        });
        text.push_str(&format!(
            "nested    {} {:.4}{interval}: the mean over {} folds, each tested with the best settings found without it\n",
            best.metric,
            nested.score,
            nested.scores.len()
        ));
    }
    if let Some(held) = &tuned.held_out {
        let examples = count(held.examples);
        text.push_str(&format!(
            "held out  {} {:.4} on {examples} examples that the search never saw, by a model trained without them\n",
            best.metric, held.score
        ));
    }
    if tuned.budget_exhausted {
        text.push_str("budget    exhausted: what was not tried in time may be better, and another run may choose otherwise\n");
    }
    text.push_str(&format!("command   {}\n", best.command));
    if let Some(model) = &tuned.model {
        text.push_str(&format!("model     {model}\n"));
    }
    text.push_str(&format!("time      {}\n", seconds(tuned.seconds)));
    text
}
