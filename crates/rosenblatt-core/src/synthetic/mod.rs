//! Synthetic data with known answers.
//!
//! Theorems about perceptrons speak of a separator and its margin, which real files do not
//! reveal. These sets are made from theirs, so that a bound, a verdict or a picture can be
//! held against the truth. Everything follows from the options and the seed alone, on every
//! machine.

mod hard;
mod kinds;
mod separator;
mod shapes;
mod sphere;
mod text;
mod worked;

pub use kinds::{Amount, Choices, Kind};
pub use separator::Separator;
pub use text::TextRows;

use kinds::Count::{self, Fixed, Free};

use crate::data::{Classes, Dataset, FeatureNames, Matrix, Precision, Values};
use crate::error::{Error, Result};
use crate::random::{Random, Stream};

/// What logistic regression's maximum likelihood does with a coefficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coefficient {
    /// It stays finite.
    Finite,
    /// It grows without bound.
    PlusInfinity,
    /// It falls without bound.
    MinusInfinity,
    /// It may run either way, along different directions.
    Either,
}

/// What to make; `None` leaves a choice to the kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// The kind of data.
    pub kind: Kind,
    /// The number of rows n.
    pub examples: Option<usize>,
    /// The number of features d.
    pub features: Option<usize>,
    /// The number of classes k.
    pub classes: Option<usize>,
    /// The margin g of the known separator.
    pub margin: Option<f64>,
    /// The fraction of labels flipped to another class; ⌊noise·n + ½⌋ rows exactly.
    pub noise: f64,
    /// The standard deviation of a cloud, or of the jitter about a curve or corner.
    pub spread: Option<f64>,
    /// The mean number of words in a row of `sparse`.
    pub non_zeros: Option<f64>,
    /// How values are stored. Hard cases that need binary64 take it regardless.
    pub precision: Precision,
    /// The seed everything is drawn from.
    pub seed: u64,
}

impl Options {
    /// The defaults of a kind.
    pub fn new(kind: Kind) -> Self {
        Options {
            kind,
            ..Options::default()
        }
    }
}

/// The options with every choice made and checked.
#[derive(Debug, Clone)]
struct Settings {
    kind: Kind,
    n: usize,
    d: usize,
    k: usize,
    margin: f64,
    spread: f64,
    non_zeros: f64,
    flips: usize,
    precision: Precision,
    seed: u64,
}

/// Dense sets beyond this many values are refused before memory is.
const DENSE_LIMIT: u64 = 1 << 34;

impl Settings {
    fn new(options: &Options) -> Result<Self> {
        let form = options.kind.form();
        let name = form.name;
        let count = |what: &str, given: Option<usize>, allowed: Count| match (given, allowed) {
            (None, Fixed(n) | Free { default: n, .. }) => Ok(n),
            (Some(n), Fixed(fixed)) if n != fixed => Err(Error::options(format!(
                "{name} data have {fixed} {what}, not {n}"
            ))),
            (Some(n), Free { least, .. }) if n < least => Err(Error::options(format!(
                "{n} {what} are too few for {name} data"
            ))
            .remedy(format!("ask for at least {least}"))),
            (Some(n), _) => Ok(n),
        };
        let number = |what: &str, given: Option<f64>, default: Option<f64>| match (given, default) {
            (None, default) => Ok(default.unwrap_or(0.0)),
            (Some(_), None) => Err(Error::options(format!("{name} data take no {what}"))),
            (Some(x), Some(_)) if x >= 0.0 && x.is_finite() => Ok(x),
            (Some(x), Some(_)) => Err(Error::options(format!("the {what} is {x}"))
                .remedy("give a finite number, 0 or above")),
        };
        let n = count("examples", options.examples, form.examples)?;
        let d = count("features", options.features, form.features)?;
        let k = count("classes", options.classes, form.classes)?;
        let sparse = options.kind == Kind::Sparse;
        let non_zeros = number(
            "non-zeros per row",
            options.non_zeros,
            sparse.then_some(75.0),
        )?;
        if !(0.0..=1.0).contains(&options.noise) {
            return Err(Error::options(format!("the noise is {}", options.noise))
                .remedy("give a fraction from 0 to 1"));
        }
        if options.noise > 0.0 && !form.noise {
            return Err(Error::options(format!("{name} data take no noise")));
        }
        if u32::try_from(d).is_err() || u32::try_from(k).is_err() {
            return Err(Error::options("more features or classes than 2³² − 1"));
        }
        if n < k {
            return Err(
                Error::options(format!("{n} examples cannot show {k} classes"))
                    .remedy("ask for at least as many examples as classes"),
            );
        }
        if options.margin == Some(0.0) && !sparse {
            return Err(Error::options(
                "a margin of 0 does not say which side its nearest row is on",
            )
            .remedy("ask for a positive margin, or for margin-zero data"));
        }
        if !sparse && n as u128 * d as u128 > u128::from(DENSE_LIMIT) {
            return Err(
                Error::options(format!("{n} rows of {d} features do not fit in memory"))
                    .remedy("ask for fewer, or for sparse data"),
            );
        }
        Ok(Settings {
            kind: options.kind,
            n,
            d,
            k,
            margin: number("margin", options.margin, form.margin)?,
            spread: number("spread", options.spread, form.spread)?,
            non_zeros,
            flips: (options.noise * n as f64 + 0.5).floor() as usize,
            precision: options.precision,
            seed: options.seed,
        })
    }

    /// Random numbers for what concerns the whole set.
    fn global(&self) -> Random {
        Random::new(self.seed, Stream::Synthetic, 0)
    }

    /// Random numbers for row `i`, the same however many rows there are.
    fn for_row(&self, i: usize) -> Random {
        Random::new(self.seed, Stream::Synthetic, 1 + i as u64)
    }

    fn flips(&self) -> Flips {
        Flips {
            random: Random::new(self.seed, Stream::Synthetic, u64::MAX),
            rows_left: self.n as u64,
            flips_left: self.flips as u64,
            classes: self.k as u64,
        }
    }
}

/// Chooses exactly so many of n rows as they come by (selection sampling; Fan, Muller &
/// Rezucha, 1962) and gives each another class.
#[derive(Debug, Clone)]
struct Flips {
    random: Random,
    rows_left: u64,
    flips_left: u64,
    classes: u64,
}

impl Flips {
    /// The label of the next row, flipped or not.
    fn next(&mut self, label: u32) -> u32 {
        if self.flips_left == 0 || self.rows_left == 0 {
            return label;
        }
        let flip = self.random.below(self.rows_left) < self.flips_left;
        self.rows_left -= 1;
        if !flip {
            return label;
        }
        self.flips_left -= 1;
        let other = self.random.below(self.classes - 1) as u32;
        if other >= label { other + 1 } else { other }
    }
}

/// Synthetic data and what is known of them.
#[derive(Debug, Clone)]
pub struct Synthetic {
    /// The rows.
    pub dataset: Dataset,
    /// The separator the labels come from, where there is one.
    pub separator: Option<Separator>,
    /// The separator's margin on the rows as stored, before label noise: min y(u·x + b)/‖u‖
    /// for two classes, min (u_y·x − max_{j≠y} u_j·x) with Σ‖u_c‖² = 1 for more.
    pub margin: Option<f64>,
    /// The numbers of the rows whose label was flipped.
    pub flipped: Vec<usize>,
    /// What becomes of each coefficient, the bias first, where the kind decides it.
    pub coefficients: Option<Vec<Coefficient>>,
}

/// Rows and labels on their way to a [`Synthetic`].
struct Draft {
    columns: usize,
    values: Values,
    labels: Vec<u32>,
    classes: Classes,
    names: Option<Vec<&'static str>>,
    separator: Option<Separator>,
    coefficients: Option<Vec<Coefficient>>,
}

impl Draft {
    fn new(columns: usize, rows: usize, precision: Precision, classes: Classes) -> Self {
        Draft {
            columns,
            values: Values::with_capacity(precision, rows * columns),
            labels: Vec::with_capacity(rows),
            classes,
            names: None,
            separator: None,
            coefficients: None,
        }
    }

    fn push(&mut self, row: &[f64], label: u32) {
        debug_assert_eq!(row.len(), self.columns);
        row.iter().for_each(|&x| self.values.push(x));
        self.labels.push(label);
    }

    fn finish(self, settings: &Settings) -> Result<Synthetic> {
        let matrix = Matrix::dense(self.labels.len(), self.columns, self.values)?;
        let mut dataset = Dataset::new(matrix, self.labels, self.classes, None)?;
        if let Some(names) = self.names {
            dataset.names = FeatureNames::Listed(names.iter().collect());
        }
        let margin = self.separator.as_ref().map(|s| s.margin(&dataset));
        if settings.margin > 0.0 && margin.is_some_and(|m| m <= 0.0) {
            return Err(Error::options(format!(
                "the margin {} is lost when values are rounded",
                settings.margin
            ))
            .remedy("ask for a larger margin or for f64 precision"));
        }
        let mut flips = settings.flips();
        let mut flipped = Vec::new();
        for (i, label) in dataset.labels.iter_mut().enumerate() {
            let new = flips.next(*label);
            if new != *label {
                flipped.push(i);
                *label = new;
            }
        }
        Ok(Synthetic {
            dataset,
            separator: self.separator,
            margin,
            flipped,
            coefficients: self.coefficients,
        })
    }
}

/// `-1` and `+1`.
fn plus_minus() -> Classes {
    Classes::from_labels(["-1", "+1"])
}

/// `1` to `k`; for two classes `-1` and `+1`.
fn numbered(k: usize) -> Classes {
    if k == 2 {
        plus_minus()
    } else {
        Classes::from_ordered((1..=k).map(|c| c.to_string()).collect())
    }
}

/// Makes the data.
///
/// ```
/// use rosenblatt_core::synthetic::{Kind, Options, generate};
/// let options = Options { examples: Some(50), margin: Some(0.1), ..Options::new(Kind::Separable) };
/// let made = generate(&options)?;
/// assert_eq!(made.dataset.len(), 50);
/// assert!((made.margin.unwrap() - 0.1).abs() < 1e-6);
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
pub fn generate(options: &Options) -> Result<Synthetic> {
    let settings = Settings::new(options)?;
    let draft = match settings.kind {
        Kind::Sparse => return text::generate(settings),
        Kind::Separable => sphere::separable(&settings)?,
        Kind::Classes => sphere::classes(&settings)?,
        Kind::Blobs => shapes::blobs(&settings),
        Kind::Moons => shapes::moons(&settings),
        Kind::Circles => shapes::circles(&settings),
        Kind::Xor => shapes::xor(&settings),
        Kind::And => worked::and(&settings),
        Kind::Critics => worked::critics(&settings),
        Kind::EightPoints => worked::eight_points(&settings),
        Kind::Grid => worked::grid(&settings, 0..=10, |a, b| a + b > 8),
        Kind::GridMiddle => worked::grid(&settings, 1..=4, |a, b| {
            (2..=3).contains(&a) && (2..=3).contains(&b)
        }),
        Kind::GridEqual => worked::grid(&settings, 1..=4, |a, b| a == b),
        Kind::MarginZero => hard::margin_zero(&settings)?,
        Kind::MarginTiny => hard::margin_tiny(&settings)?,
        Kind::Collinear => hard::collinear(&settings)?,
        Kind::WideRange => hard::wide_range(&settings)?,
        Kind::Contradiction => hard::contradiction(&settings)?,
        Kind::Quasi => hard::quasi(&settings)?,
    };
    draft.finish(&settings)
}

#[cfg(test)]
mod tests;
