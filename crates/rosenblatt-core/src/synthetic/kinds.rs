//! The kinds of synthetic data: their names, their options and their defaults.

use crate::error::{Error, Result};

/// A kind of synthetic data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Kind {
    /// Points on the unit sphere, two classes, a plane through the origin at margin g.
    #[default]
    Separable,
    /// Points on the unit sphere, k classes by the largest of k scores, at margin g.
    Classes,
    /// A round cloud of points for each class.
    Blobs,
    /// Two interleaved half circles.
    Moons,
    /// A circle inside another.
    Circles,
    /// The corners of the unit square, opposite corners in one class.
    Xor,
    /// Rows like documents: few words of many, some common, most rare.
    Sparse,
    /// Boolean AND, in its order.
    And,
    /// Two critics' scores of five films.
    Critics,
    /// Eight points that no plane through the origin or elsewhere separates.
    EightPoints,
    /// Scores A and B from 0 to 10: is A + B above 8? Separable.
    Grid,
    /// Scores 1 to 4: is each of A and B 2 or 3? Overlapping.
    GridMiddle,
    /// Scores 1 to 4: is A = B? Overlapping.
    GridEqual,
    /// Hulls that touch in one point: quasi-separable, margin exactly 0.
    MarginZero,
    /// Separable by 1e-12, exactly so in the decimals written.
    MarginTiny,
    /// All points within a hair of one line; separable across the hair.
    Collinear,
    /// Separable, with values from 1e-300 to 1e300.
    WideRange,
    /// Separable but for its last row, which lies amid the other class: overlapping.
    Contradiction,
    /// A logistic design, quasi-separable, whose infinite coefficients are known.
    Quasi,
}

/// A number of things, as a kind allows it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Count {
    Fixed(usize),
    Free { default: usize, least: usize },
}

use Count::{Fixed, Free};

/// How many a kind makes of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    /// Unless told otherwise.
    pub default: usize,
    /// The least that may be asked for; `None` if it is always the default.
    pub least: Option<usize>,
}

/// What can be chosen of a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choices {
    /// Rows.
    pub examples: Amount,
    /// Features.
    pub features: Amount,
    /// Classes.
    pub classes: Amount,
    /// The margin unless told otherwise; `None` if there is none to choose.
    pub margin: Option<f64>,
    /// The spread likewise.
    pub spread: Option<f64>,
    /// Whether labels can be flipped.
    pub noise: bool,
}

impl From<Count> for Amount {
    fn from(count: Count) -> Self {
        match count {
            Fixed(default) => Amount {
                default,
                least: None,
            },
            Free { default, least } => Amount {
                default,
                least: Some(least),
            },
        }
    }
}

/// What a kind takes: its name, a line about it, and its options.
pub(super) struct Form {
    pub(super) kind: Kind,
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) examples: Count,
    pub(super) features: Count,
    pub(super) classes: Count,
    pub(super) margin: Option<f64>,
    pub(super) spread: Option<f64>,
    pub(super) noise: bool,
}

const fn form(kind: Kind, name: &'static str, summary: &'static str) -> Form {
    Form {
        kind,
        name,
        summary,
        examples: Free {
            default: 1000,
            least: 2,
        },
        features: Fixed(2),
        classes: Fixed(2),
        margin: None,
        spread: None,
        noise: false,
    }
}

/// A worked example: so many rows, always the same.
const fn worked(kind: Kind, name: &'static str, rows: usize, summary: &'static str) -> Form {
    Form {
        examples: Fixed(rows),
        ..form(kind, name, summary)
    }
}

const fn free(default: usize, least: usize) -> Count {
    Free { default, least }
}

/// Every kind with its defaults: the one place that names them.
const FORMS: &[Form] = &[
    Form {
        features: free(10, 2),
        margin: Some(0.01),
        noise: true,
        ..form(
            Kind::Separable,
            "separable",
            "two classes on the unit sphere, a known plane through the origin, margin exactly g",
        )
    },
    Form {
        features: free(10, 2),
        classes: free(3, 2),
        margin: Some(0.01),
        noise: true,
        ..form(
            Kind::Classes,
            "classes",
            "k classes on the unit sphere by the largest of k known scores, margin exactly g",
        )
    },
    Form {
        features: free(2, 1),
        classes: free(2, 2),
        spread: Some(1.0),
        noise: true,
        ..form(Kind::Blobs, "blobs", "a round cloud for each class")
    },
    Form {
        spread: Some(0.1),
        noise: true,
        ..form(Kind::Moons, "moons", "two interleaved half circles")
    },
    Form {
        spread: Some(0.05),
        noise: true,
        ..form(Kind::Circles, "circles", "a circle inside another")
    },
    Form {
        examples: free(4, 4),
        spread: Some(0.0),
        noise: true,
        ..form(
            Kind::Xor,
            "xor",
            "corners of the unit square, opposite corners in one class",
        )
    },
    Form {
        examples: free(10_000, 2),
        features: free(47_236, 64),
        classes: free(2, 2),
        margin: Some(0.0),
        noise: true,
        ..form(
            Kind::Sparse,
            "sparse",
            "text-like rows: Zipf word frequencies, a sparse hidden separator",
        )
    },
    worked(Kind::And, "and", 4, "Boolean AND"),
    worked(
        Kind::Critics,
        "critics",
        5,
        "two critics' scores of five films",
    ),
    worked(
        Kind::EightPoints,
        "eight-points",
        8,
        "eight points that overlap, separable by their squares",
    ),
    worked(
        Kind::Grid,
        "grid",
        121,
        "scores 0 to 10, is A + B above 8? separable",
    ),
    worked(
        Kind::GridMiddle,
        "grid-middle",
        16,
        "scores 1 to 4, is each 2 or 3? overlapping",
    ),
    worked(
        Kind::GridEqual,
        "grid-equal",
        16,
        "scores 1 to 4, is A = B? overlapping",
    ),
    Form {
        examples: free(100, 4),
        features: free(3, 2),
        ..form(
            Kind::MarginZero,
            "margin-zero",
            "hulls that touch in a point: quasi-separable, margin 0",
        )
    },
    Form {
        examples: free(100, 4),
        features: free(3, 2),
        ..form(
            Kind::MarginTiny,
            "margin-tiny",
            "separable with plain margin 1e-12, exact as written",
        )
    },
    Form {
        examples: free(100, 4),
        features: free(3, 2),
        ..form(
            Kind::Collinear,
            "collinear",
            "nearly on one line, separable by 1e-9 across it",
        )
    },
    Form {
        examples: free(100, 2),
        features: free(10, 2),
        margin: Some(0.05),
        ..form(
            Kind::WideRange,
            "wide-range",
            "separable, values from 1e-300 to 1e300",
        )
    },
    Form {
        examples: free(10_000, 24),
        features: free(20, 2),
        margin: Some(0.01),
        ..form(
            Kind::Contradiction,
            "contradiction",
            "separable but for the last row: overlapping",
        )
    },
    Form {
        examples: free(200, 8),
        features: free(6, 5),
        ..form(
            Kind::Quasi,
            "quasi",
            "a quasi-separated logistic design with known infinite coefficients",
        )
    },
];

impl Kind {
    /// Every kind.
    pub fn all() -> impl Iterator<Item = Kind> {
        FORMS.iter().map(|f| f.kind)
    }

    pub(super) fn form(self) -> &'static Form {
        // A test holds the table against the enum; the first entry is never the fallback.
        FORMS.iter().find(|f| f.kind == self).unwrap_or(&FORMS[0])
    }

    /// Its name, as a command spells it.
    pub fn name(self) -> &'static str {
        self.form().name
    }

    /// One line about it.
    pub fn summary(self) -> &'static str {
        self.form().summary
    }

    /// What can be chosen of it, for front ends that offer the choice.
    pub fn choices(self) -> Choices {
        let form = self.form();
        Choices {
            examples: form.examples.into(),
            features: form.features.into(),
            classes: form.classes.into(),
            margin: form.margin,
            spread: form.spread,
            noise: form.noise,
        }
    }

    /// The kind of this name.
    pub fn find(name: &str) -> Result<Kind> {
        let found = FORMS.iter().find(|f| f.name == name);
        found.map(|f| f.kind).ok_or_else(|| {
            let names: Vec<&str> = FORMS.iter().map(|f| f.name).collect();
            Error::options(format!("there is no synthetic data called {name:?}"))
                .remedy(format!("choose one of {}", names.join(", ")))
        })
    }
}
