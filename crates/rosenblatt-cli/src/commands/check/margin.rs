//! Margins and the bound on updates that follows from one.

use rosenblatt::proof::{Bracket, SearchBudget};
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::render::numbers::{counted, short};

/// How hard to look for a margin.
pub(super) fn effort(args: &CheckArgs) -> SearchBudget {
    SearchBudget {
        relative_gap: args.gap,
        ..SearchBudget::default()
    }
}

/// What is known of a margin, as JSON.
pub(super) fn bracket(found: Bracket) -> Value {
    json!({"lower": finite(found.lower), "upper": finite(found.upper), "kind": found.kind})
}

fn finite(x: f64) -> Value {
    if x.is_finite() {
        json!(x)
    } else {
        json!("inf")
    }
}

/// Margin and radius of the rows times their weights.
pub(super) fn weighted_text(found: Option<(Bracket, f64)>) -> String {
    match found {
        Some((margin, radius)) => format!(
            "of the rows times their weights: margin in [{}, {}], R = {}\n",
            short(margin.lower),
            short(margin.upper),
            short(radius)
        ),
        None => String::new(),
    }
}

/// How many updates the theorem allows.
pub(super) fn bound_text(most: Option<u64>) -> String {
    match most {
        Some(most) => format!(
            "a perceptron from zero makes at most {}\n",
            counted(most, "update", "updates")
        ),
        None => "the bound on a perceptron's updates is too large to print\n".into(),
    }
}
