//! What is decided about rows, and what proves it.

use dashu_int::IBig;

/// The outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Some w has w·z > 0 for every row.
    Separable,
    /// None has, but some has w·z ≥ 0 for every row and > 0 for some.
    QuasiSeparable,
    /// Neither.
    Overlapping,
}

impl Verdict {
    /// The name in reports and certificates.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Separable => "separable",
            Verdict::QuasiSeparable => "quasi-separable",
            Verdict::Overlapping => "overlapping",
        }
    }
}

/// A whole number of any size.
pub type Integer = IBig;

/// A vector of exact numbers, whole because only its direction matters.
pub type Direction = Vec<Integer>;

/// Multipliers λ > 0 by row, ascending; whole because only their ratios matter.
pub type Multipliers = Vec<(usize, Integer)>;

/// What proves the verdict. Coordinates count the bias as 0 where there is one; rows are
/// positions in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Witness {
    /// w·z > 0 for every row.
    Separable {
        /// The separator.
        w: Direction,
    },
    /// w·z ≥ 0 for every row, > 0 for exactly those in `separated`, and no w does better.
    QuasiSeparable {
        /// The separator.
        w: Direction,
        /// Σ λ z = 0, with a support that spans every row that has w·z = 0.
        lambda: Multipliers,
        /// The rows with w·z > 0, ascending.
        separated: Vec<usize>,
        /// A basis of the vectors orthogonal to every row with w·z = 0, which shows that
        /// none of those can be separated; `None` if it would have more vectors than
        /// [`MOST_NULL_VECTORS`].
        null_space: Option<Vec<Direction>>,
    },
    /// Σ λ z = 0 with a support that spans every row.
    Overlapping {
        /// The multipliers.
        lambda: Multipliers,
        /// A basis of the vectors orthogonal to every row, empty at full rank; `None` if it would
        /// have more vectors than [`MOST_NULL_VECTORS`] and λ weighs every row, which shows as
        /// much.
        null_space: Option<Vec<Direction>>,
    },
}

/// How many vectors a quasi-separable witness may spend on showing that no further row can be
/// separated. Each costs the checker a product with every row on the plane.
pub const MOST_NULL_VECTORS: usize = 64;

/// A verdict with its witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvedVerdict {
    /// What proves it.
    pub witness: Witness,
    /// The multipliers found first, on at most rank + 1 rows: enough to refute separability
    /// where that is all that is asked. Empty if separable.
    pub refutation: Multipliers,
    /// The rank of the rows that no w separates (of all rows, if they overlap); `None` where the
    /// verdict did not need it, because each row is opposite to another.
    pub balanced_rank: Option<usize>,
}

impl ProvedVerdict {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match self.witness {
            Witness::Separable { .. } => Verdict::Separable,
            Witness::QuasiSeparable { .. } => Verdict::QuasiSeparable,
            Witness::Overlapping { .. } => Verdict::Overlapping,
        }
    }

    /// The separator, if there is one, strict or not.
    pub fn separator(&self) -> Option<&Direction> {
        match &self.witness {
            Witness::Separable { w } | Witness::QuasiSeparable { w, .. } => Some(w),
            Witness::Overlapping { .. } => None,
        }
    }

    /// The multipliers; empty if separable.
    pub fn lambda(&self) -> &[(usize, IBig)] {
        match &self.witness {
            Witness::Separable { .. } => &[],
            Witness::QuasiSeparable { lambda, .. } | Witness::Overlapping { lambda, .. } => lambda,
        }
    }
}
