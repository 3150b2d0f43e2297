//! Margins and the bound on updates that follows from one.

use rosenblatt::proof::{Bracket, SearchBudget};
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::render::numbers::counted;

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
