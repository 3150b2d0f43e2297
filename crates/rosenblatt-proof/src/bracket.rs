//! What is known of a margin, and how much may be spent on it.

use rosenblatt_core::geometry::MarginKind;

/// The margin lies between the ends; both are infinite where only one side has rows.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bracket {
    /// No more than the margin.
    pub lower: f64,
    /// No less than the margin.
    pub upper: f64,
    /// Which margin.
    pub kind: MarginKind,
}

impl Bracket {
    /// (upper − lower)/upper.
    pub fn relative_gap(&self) -> f64 {
        if self.upper > 0.0 && self.upper.is_finite() {
            (self.upper - self.lower) / self.upper
        } else {
            0.0
        }
    }
}

/// When to stop narrowing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchBudget {
    /// The relative gap that is narrow enough.
    pub relative_gap: f64,
    /// About how many multiplications may be spent.
    pub multiplications: f64,
}

impl Default for SearchBudget {
    fn default() -> Self {
        SearchBudget {
            relative_gap: 1e-6,
            multiplications: 3e9,
        }
    }
}
