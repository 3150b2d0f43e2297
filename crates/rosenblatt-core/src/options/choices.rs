//! The closed choices an option can take, each with its one spelling.

use std::fmt;
use std::str::FromStr;

use super::parameter::{number, positive};

/// A choice with a fixed list of spellings.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value with its spelling.
    const ALL: &'static [(Self, &'static str)];
}

/// Declares closed choices, each value with its spelling.
macro_rules! choices {
    ($($(#[$about:meta])* pub enum $name:ident {
        $($(#[$each:meta])* $value:ident = $text:literal,)+
    })+) => {$(
        $(#[$about])*
        pub enum $name { $($(#[$each])* $value,)+ }

        impl $crate::options::Choice for $name {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$value, $text)),+];
        }
    )+};
}
pub(crate) use choices;

choices! {
    /// Which hypothesis of the run becomes the model.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    #[non_exhaustive]
    pub enum Readout {
        /// The weights after the last visit.
        Last = "last",
        /// The mean of the weights over all visits.
        #[default]
        Averaged = "averaged",
        /// The mean of the weights, each divided by its norm.
        AveragedNormalised = "averaged-normalised",
        /// Every weight vector votes, as often as it survived visits (Freund & Schapire, 1999).
        Voted = "voted",
        /// The weights at a visit drawn uniformly at random.
        Random = "random",
        /// The weights with the longest run of correct visits, if they also make fewer errors on
        /// all examples (Gallant's ratchet, 1990).
        Pocket = "pocket",
    }

    /// How often a weight vector votes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Votes {
        /// As often as it survived visits, the one that made it included (Freund & Schapire, 1999).
        #[default]
        Visits = "visits",
        /// As often as it answered without being changed.
        Correct = "correct",
    }

    /// How long a mistake-driven run goes on where nothing else ends it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Until {
        /// Until passes gain nothing, once more than milliseconds were spent.
        #[default]
        NoGain = "no-gain",
        /// Until the examples are separated, or the limit on passes.
        Separated = "separated",
    }

    /// Which pass becomes the model where held-out examples tell passes apart.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Keep {
        /// The best by the metric on the held-out examples; of equal ones the last.
        #[default]
        Best = "best",
        /// The last.
        Last = "last",
    }

    /// What says how good predictions are.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Metric {
        /// The share of right predictions.
        #[default]
        Accuracy = "accuracy",
        /// The mean recall of the classes.
        BalancedAccuracy = "balanced-accuracy",
        /// The mean F1 of the classes.
        MacroF1 = "macro-f1",
        /// The mean F1 of the classes, each weighted by its examples.
        WeightedF1 = "weighted-f1",
        /// The area under the ROC curve, of two classes.
        Auc = "auc",
        /// The area under the steps of precision over recall, of two classes.
        AveragePrecision = "average-precision",
        /// Matthews correlation.
        Mcc = "mcc",
        /// Minus the mean of −ln p of the true class, of models that give probabilities.
        NegLogLoss = "neg-log-loss",
    }

    /// When does a score call for an update?
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Ties {
        /// Iff y·s ≤ β: a tie is a mistake.
        #[default]
        Mistake = "mistake",
        /// A score of 0 predicts the positive class, so it is wrong only for the negative.
        Positive = "positive",
        /// Iff y·s < β: a tie is correct.
        Correct = "correct",
    }

    /// Where the examples of a pass come from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    #[non_exhaustive]
    pub enum Order {
        /// As in the file.
        Given = "given",
        /// Class after class, the positive (last) one first.
        ByClass = "by-class",
        /// A new order each pass, from the seed.
        #[default]
        Shuffled = "shuffled",
        /// Drawn with replacement.
        Random = "random",
        /// Uniformly among the examples that call for an update now.
        Mistakes = "mistakes",
        /// The example with the smallest margin now.
        Worst = "worst",
        /// From the first example again after each update.
        Restart = "restart",
    }

    /// How more than two classes are learned.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Multiclass {
        /// One discriminator a class; the true one is pulled up, its rival pushed down.
        Argmax = "argmax",
        /// Each class against all others.
        Ovr = "ovr",
        /// Each pair of classes.
        Ovo = "ovo",
    }

    /// What a score of exactly 0 predicts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum AtZero {
        /// The positive class.
        #[default]
        Positive = "positive",
        /// The negative class.
        Negative = "negative",
    }
}

impl Votes {
    /// The votes of a weight vector that an update made, by the visits it survived, that of the
    /// update included.
    pub fn of(self, survived: u64) -> u64 {
        match self {
            Votes::Visits => survived,
            Votes::Correct => survived.saturating_sub(1),
        }
    }
}

impl Order {
    /// What help says of the orders.
    pub(crate) const HELP: &'static str = "order of visits: given, by-class, shuffled, random (with replacement), mistakes, worst or restart";
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

impl Bias {
    /// What a lifted bias adds to every inner product; any other one nothing.
    pub(crate) fn lift(self) -> f64 {
        f64::from(u8::from(self == Bias::Lifted))
    }
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
                .collect::<Result<Vec<_>, String>>()
                .and_then(|list| match repeated(list.iter().map(|(class, _)| class)) {
                    Some(class) => Err(format!("the class {class} has two weights")),
                    None => Ok(ClassWeight::Listed(list)),
                }),
        }
    }
}

/// The first that comes a second time.
fn repeated<'a>(mut names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let mut seen = std::collections::HashSet::new();
    names.find(|name| !seen.insert(*name))
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
