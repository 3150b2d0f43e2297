//! The closed choices an option can take, each with its one spelling.

use std::fmt;
use std::str::FromStr;

/// Which family of learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LearnerKind {
    /// Rosenblatt's perceptron with explicit weights.
    #[default]
    Perceptron,
    /// The perceptron in its dual form, over a kernel.
    Kernel,
    /// The linear unit (Adaline): least squares by gradient descent.
    LinearUnit,
    /// A network with hidden layers, by back-propagation.
    Network,
    /// The plane of largest margin, hard or soft, with or without a kernel.
    MaxMargin,
}

/// Which hypothesis of the run becomes the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Readout {
    /// The weights after the last visit.
    Last,
    /// The mean of the weights over all visits.
    #[default]
    Averaged,
    /// The mean of the weights, each divided by its norm.
    AveragedNormalised,
    /// Every weight vector votes, as often as it survived visits (Freund & Schapire, 1999).
    Voted,
    /// The weights at a visit drawn uniformly at random.
    Random,
    /// The weights with the longest run of correct visits, if they also make fewer errors on
    /// all examples (Gallant's ratchet, 1990).
    Pocket,
}

/// When does a score call for an update?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// Iff y·s ≤ β: a tie is a mistake.
    #[default]
    Mistake,
    /// A score of 0 predicts the positive class, so it is wrong only for the negative.
    Positive,
    /// Iff y·s < β: a tie is correct.
    Correct,
}

/// Where the examples of a pass come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// As in the file.
    Given,
    /// Class after class, the positive (last) one first.
    ByClass,
    /// A new order each pass, from the seed.
    #[default]
    Shuffled,
    /// Drawn with replacement.
    Random,
    /// Uniformly among the examples that call for an update now.
    Mistakes,
    /// The example with the smallest margin now.
    Worst,
    /// From the first example again after each update.
    Restart,
}

/// How more than two classes are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiclass {
    /// One discriminator a class; the true one is pulled up, its rival pushed down.
    Argmax,
    /// Each class against all others.
    Ovr,
    /// Each pair of classes.
    Ovo,
}

/// What a score of exactly 0 predicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AtZero {
    /// The positive class.
    #[default]
    Positive,
    /// The negative class.
    Negative,
}

/// How the linear unit descends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gradient {
    /// Along the gradient over all examples.
    #[default]
    Batch,
    /// Along one example's gradient at a time.
    Stochastic,
}

/// What the hidden units of a network do with their sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// max(0, s).
    #[default]
    Relu,
    /// The hyperbolic tangent.
    Tanh,
}

/// What a network minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// Cross-entropy of the softmax of the outputs (for two classes: logistic loss).
    #[default]
    Softmax,
    /// Half the squared distance of the outputs from ±1.
    Squared,
}

/// A choice with a fixed list of spellings.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value with its spelling.
    const ALL: &'static [(Self, &'static str)];
}

impl Choice for LearnerKind {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Perceptron, "perceptron"),
        (Self::Kernel, "kernel"),
        (Self::LinearUnit, "linear-unit"),
        (Self::Network, "network"),
        (Self::MaxMargin, "max-margin"),
    ];
}

impl Choice for Readout {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Last, "last"),
        (Self::Averaged, "averaged"),
        (Self::AveragedNormalised, "averaged-normalised"),
        (Self::Voted, "voted"),
        (Self::Random, "random"),
        (Self::Pocket, "pocket"),
    ];
}

impl Choice for Ties {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Mistake, "mistake"),
        (Self::Positive, "positive"),
        (Self::Correct, "correct"),
    ];
}

impl Choice for Order {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Given, "given"),
        (Self::ByClass, "by-class"),
        (Self::Shuffled, "shuffled"),
        (Self::Random, "random"),
        (Self::Mistakes, "mistakes"),
        (Self::Worst, "worst"),
        (Self::Restart, "restart"),
    ];
}

impl Choice for Multiclass {
    const ALL: &'static [(Self, &'static str)] = &[
        (Self::Argmax, "argmax"),
        (Self::Ovr, "ovr"),
        (Self::Ovo, "ovo"),
    ];
}

impl Choice for AtZero {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::Positive, "positive"), (Self::Negative, "negative")];
}

impl Choice for Gradient {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::Batch, "batch"), (Self::Stochastic, "stochastic")];
}

impl Choice for Activation {
    const ALL: &'static [(Self, &'static str)] = &[(Self::Relu, "relu"), (Self::Tanh, "tanh")];
}

impl Choice for Loss {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::Softmax, "softmax"), (Self::Squared, "squared")];
}

/// The value spelled `text`, or what was expected instead.
pub fn parse_choice<C: Choice>(text: &str) -> Result<C, String> {
    C::ALL
        .iter()
        .find(|(_, name)| *name == text)
        .map(|(value, _)| *value)
        .ok_or_else(|| {
            let names: Vec<&str> = C::ALL.iter().map(|(_, name)| *name).collect();
            format!("expected one of {}", names.join(", "))
        })
}

/// The spelling of a choice.
pub fn choice_name<C: Choice>(value: C) -> &'static str {
    C::ALL
        .iter()
        .find(|(v, _)| *v == value)
        .map_or("", |(_, name)| name)
}

/// Where the bias comes from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Bias {
    /// A constant feature 1 in front: the bias is weight 0.
    #[default]
    Lifted,
    /// No bias: a plane through the origin.
    None,
    /// A bias of its own with rate ηρ²; ρ is the radius R unless given.
    Unlifted(Option<f64>),
}

impl FromStr for Bias {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "lifted" => Ok(Bias::Lifted),
            None if text == "none" => Ok(Bias::None),
            None if text == "unlifted" => Ok(Bias::Unlifted(None)),
            Some(("unlifted", rho)) => Ok(Bias::Unlifted(Some(positive(rho)?))),
            _ => Err("expected lifted, none, unlifted or unlifted:RHO".into()),
        }
    }
}

impl fmt::Display for Bias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bias::Lifted => f.write_str("lifted"),
            Bias::None => f.write_str("none"),
            Bias::Unlifted(None) => f.write_str("unlifted"),
            Bias::Unlifted(Some(rho)) => write!(f, "unlifted:{rho}"),
        }
    }
}

/// Where the weights begin.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Start {
    /// At zero.
    #[default]
    Zero,
    /// In a random direction, at this distance from zero.
    Random(f64),
    /// At this vector, the bias first where there is one.
    Given(Vec<f64>),
}

impl FromStr for Start {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "zero" {
            return Ok(Start::Zero);
        }
        if let Some(norm) = text.strip_prefix("random:") {
            return Ok(Start::Random(positive(norm)?));
        }
        let numbers: Option<Vec<f64>> = text.split(',').map(|t| number(t).ok()).collect();
        numbers.map(Start::Given).ok_or_else(|| {
            "expected zero, random:NORM or numbers v1,v2,… with the bias first".into()
        })
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Start::Zero => f.write_str("zero"),
            Start::Random(norm) => write!(f, "random:{norm}"),
            Start::Given(values) => {
                let texts: Vec<String> = values.iter().map(f64::to_string).collect();
                f.write_str(&texts.join(","))
            }
        }
    }
}

/// Weights of classes.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ClassWeight {
    /// All 1.
    #[default]
    One,
    /// n / (k · count of the class): every class weighs the same.
    Balanced,
    /// As listed; classes not listed weigh 1.
    Listed(Vec<(String, f64)>),
}

impl FromStr for ClassWeight {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(ClassWeight::One),
            "balanced" => Ok(ClassWeight::Balanced),
            _ => text
                .split(',')
                .map(|pair| {
                    let (class, weight) = pair
                        .rsplit_once('=')
                        .ok_or_else(|| "expected none, balanced or CLASS=WEIGHT,…".to_owned())?;
                    Ok((class.to_owned(), positive(weight)?))
                })
                .collect::<Result<_, String>>()
                .map(ClassWeight::Listed),
        }
    }
}

impl fmt::Display for ClassWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassWeight::One => f.write_str("none"),
            ClassWeight::Balanced => f.write_str("balanced"),
            ClassWeight::Listed(list) => {
                let texts: Vec<String> = list.iter().map(|(c, w)| format!("{c}={w}")).collect();
                f.write_str(&texts.join(","))
            }
        }
    }
}

/// A finite number.
pub(super) fn number(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .trim()
        .parse()
        .map_err(|_| "expected a number".to_owned())?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err("expected a finite number".into())
    }
}

/// Numbers separated by commas.
pub(super) fn number_list(text: &str) -> Result<Vec<f64>, String> {
    text.split(',')
        .map(number)
        .collect::<Result<_, _>>()
        .map_err(|_| "expected numbers separated by commas".into())
}

/// Numbers separated by commas, as text.
pub(super) fn list_text<T: ToString>(values: &[T]) -> String {
    let texts: Vec<String> = values.iter().map(T::to_string).collect();
    texts.join(",")
}

/// A finite number above 0.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text).and_then(|v| {
        if v > 0.0 {
            Ok(v)
        } else {
            Err("expected a number above 0".into())
        }
    })
}

/// A finite number above 0, or infinity as nothing.
pub(super) fn positive_or_infinite(text: &str) -> Result<Option<f64>, String> {
    match text.trim() {
        "none" | "inf" => Ok(None),
        text => positive(text)
            .map(Some)
            .map_err(|e| format!("{e}, or none")),
    }
}

/// A finite number from 0 on.
pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    number(text).and_then(|v| {
        if v >= 0.0 {
            Ok(v)
        } else {
            Err("expected a number of at least 0".into())
        }
    })
}

/// A whole number from 1 on.
pub(super) fn count(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a whole number of at least 1".into()),
    }
}
