//! What a learner declares about itself: its name, its own parameters, which shared ones it
//! takes, and what it refuses.

use std::any::Any;
use std::fmt;
use std::ops::Deref;

use super::parameter::{Parameter, ParameterInfo, Parsed};
use super::{Bias, ClassWeight, Multiclass, Options, Order, Readout, choice_name};
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// What a learner says of itself, whatever its type. A learner is a type that implements this,
/// [`Declared`] and `Fit`, and one line in the list of learners.
pub trait Learner: Any + fmt::Debug + Send + Sync {
    /// Refuses combinations that make no sense, with the reason.
    fn check(&self, _options: &Options) -> Result<()> {
        Ok(())
    }

    /// Which weights of the run become the model when nothing is said.
    fn default_readout(&self) -> Readout {
        match self.is_mistake_driven() {
            true => Readout::Averaged,
            false => Readout::Last,
        }
    }

    /// Where the bias comes from when nothing is said.
    fn default_bias(&self) -> Bias {
        Bias::Lifted
    }

    /// How more than two classes are learned when nothing is said.
    fn default_multiclass(&self) -> Multiclass {
        Multiclass::Argmax
    }

    /// The limit on passes when nothing is said.
    fn default_epochs(&self, size: DataSize) -> u64 {
        Options::default_epochs(size.non_zeros, size.discriminators)
    }

    /// The kernel it learns over, if any.
    fn kernel(&self) -> Option<Kernel> {
        None
    }

    /// Whether its model is one weight for each feature and discriminator.
    fn keeps_weights(&self) -> bool {
        true
    }

    /// Whether its scores are log-odds, which give probabilities.
    fn gives_probabilities(&self) -> bool {
        false
    }

    /// Whether it is driven by mistakes, so that `separated` is what it strives for.
    fn is_mistake_driven(&self) -> bool {
        false
    }

    /// Whether the pass that is best by held-out examples can become the model.
    fn keeps_best_pass(&self) -> bool {
        self.is_mistake_driven()
    }

    /// Why a stopped run over the same examples cannot be resumed, if it cannot.
    fn cannot_resume(&self) -> Option<Error> {
        None
    }

    /// Refuses to continue from its model with other examples, where it needs all at once.
    fn check_partial_fit(&self, options: &Options) -> Result<()> {
        if self.is_mistake_driven() && self.keeps_weights() {
            return check_mistake_driven_partial_fit(options);
        }
        Err(needs_all_examples(
            &format!("the learner {}", options.learner.name()),
            "use a mistake-driven learner, or the linear unit with stochastic descent and a given rate",
        ))
    }

    /// Whether a theorem bounds the number of its updates.
    fn bounds_updates(&self) -> bool {
        false
    }

    /// What is missing where a run ended at a limit, to be added to the reason.
    fn unfinished(&self) -> Option<&'static str> {
        None
    }

    /// What the reason `converged` means for it.
    fn converged(&self) -> &'static str {
        "the gradient is within the tolerance"
    }
}

/// The table of a learner's settings: its name, its own parameters, and which shared ones it takes.
pub trait Declared: Learner + Clone + Default {
    /// The name by which users call it.
    const NAME: &'static str;

    /// What it is, in a few words, for help texts.
    const SUMMARY: &'static str;

    /// Its own parameters.
    const PARAMETERS: &'static [Parameter<Self>] = &[];

    /// The shared parameters that shape its run, beside those that all take; any other one is refused unless it has its
    /// default value.
    const TAKES: &'static [&'static str];

    /// Parameters of other learners that one may look for here, each with why it is not, and
    /// what to use instead.
    const LACKS: &'static [Lack] = &[];
}

/// A parameter of other learners, why this one lacks it, and what to use instead.
pub type Lack = (&'static str, &'static str, &'static str);

/// The size of a data set, by which work is bounded.
#[derive(Debug, Clone, Copy)]
pub struct DataSize {
    /// Values that are not zero.
    pub non_zeros: usize,
    /// Values that a pass looks at: the same, or with dense rows all.
    pub values: usize,
    /// Whether rows are sparse.
    pub sparse: bool,
    /// Rows.
    pub examples: usize,
    /// Discriminators to be learned.
    pub discriminators: usize,
}

impl DataSize {
    /// The size of these rows.
    pub fn of(matrix: &Matrix, discriminators: usize) -> Self {
        let (non_zeros, sparse) = (matrix.non_zeros(), matrix.is_sparse());
        let values = match sparse {
            true => non_zeros,
            false => matrix.rows() * matrix.columns(),
        };
        DataSize {
            non_zeros,
            values,
            sparse,
            examples: matrix.rows(),
            discriminators,
        }
    }

    /// The work of a pass, about two nanoseconds each: values of dense rows, of which four
    /// discriminators are served at once. One of a sparse row counts four times, since its
    /// weight lies anywhere, and each row as thirty values more.
    pub fn pass_work(self) -> f64 {
        const ROW: f64 = 30.0;
        let each = if self.sparse { 4.0 } else { 1.0 };
        let looked_at = self.values as f64 * each + self.examples.max(1) as f64 * ROW;
        looked_at * self.discriminators.max(1).div_ceil(4) as f64
    }
}

/// The error of a run that cannot continue with other examples.
pub(crate) fn needs_all_examples(what: &str, remedy: &str) -> Error {
    Error::options(format!(
        "{what} needs all examples at once, so a run cannot go on with others"
    ))
    .remedy(remedy)
}

/// Refuses options under which mistake-driven learning cannot continue with other examples.
pub(crate) fn check_mistake_driven_partial_fit(options: &Options) -> Result<()> {
    let (found, remedy) = if matches!(options.readout(), Readout::Voted | Readout::Pocket) {
        (
            format!("the read-out {}", choice_name(options.readout())),
            "use averaged, averaged-normalised, last or random".to_owned(),
        )
    } else if options.bias() == Bias::Unlifted(None) {
        (
            "an unlifted bias whose rate comes from the data".into(),
            "give its rate: unlifted:RHO".to_owned(),
        )
    } else if options.class_weight == ClassWeight::Balanced {
        (
            "balanced class weights".into(),
            "give the weights of the classes".to_owned(),
        )
    } else if !options.order.is_known_ahead() {
        (
            format!("the order {}", choice_name(options.order)),
            Order::known_ahead_remedy(),
        )
    } else {
        return Ok(());
    };
    Err(needs_all_examples(&found, &remedy))
}

/// The table of a learner's settings, without its type.
pub trait DynLearner: Learner {
    /// See [`Declared::NAME`].
    fn name(&self) -> &'static str;
    /// Its own parameters, with their defaults.
    fn parameters(&self) -> Vec<ParameterInfo>;
    /// The value of its own parameter called `name`, as text.
    fn get(&self, name: &str) -> Option<String>;
    /// Sets its own parameter called `name`; `None` if it has none of that name.
    fn set(&mut self, name: &str, text: &str) -> Option<Parsed<()>>;
    /// See [`Declared::TAKES`].
    fn takes(&self) -> &'static [&'static str];
    /// See [`Declared::LACKS`].
    fn lacks(&self) -> &'static [Lack];
    /// A copy.
    fn boxed(&self) -> Box<dyn DynLearner>;
}

impl<L: Declared> DynLearner for L {
    fn name(&self) -> &'static str {
        L::NAME
    }
    fn parameters(&self) -> Vec<ParameterInfo> {
        let defaults = L::default();
        let each = L::PARAMETERS.iter();
        each.map(|p| p.describe(&defaults)).collect()
    }
    fn get(&self, name: &str) -> Option<String> {
        Parameter::find(L::PARAMETERS, name).map(|p| (p.get)(self))
    }
    fn set(&mut self, name: &str, text: &str) -> Option<Parsed<()>> {
        Parameter::find(L::PARAMETERS, name).map(|p| (p.set)(self, text))
    }
    fn takes(&self) -> &'static [&'static str] {
        L::TAKES
    }
    fn lacks(&self) -> &'static [Lack] {
        L::LACKS
    }
    fn boxed(&self) -> Box<dyn DynLearner> {
        Box::new(self.clone())
    }
}

/// The learner that [`Options`] name, with its own settings.
///
/// ```
/// use rosenblatt_core::Options;
/// use rosenblatt_core::learner::MaxMargin;
///
/// let soft = MaxMargin { c: Some(0.5), ..MaxMargin::default() };
/// let options = Options { learner: soft.into(), ..Options::default() };
/// assert_eq!(options.learner.name(), "max-margin");
/// assert_eq!(options.get("c").as_deref(), Some("0.5"));
/// ```
pub struct LearnerChoice(Box<dyn DynLearner>);

impl LearnerChoice {
    /// Whether it is learner `L`.
    pub fn is<L: Learner>(&self) -> bool {
        self.settings::<L>().is_some()
    }

    /// The settings of learner `L`, if it is that one.
    pub fn settings<L: Learner>(&self) -> Option<&L> {
        (&*self.0 as &dyn Any).downcast_ref()
    }

    pub(crate) fn as_mut(&mut self) -> &mut dyn DynLearner {
        &mut *self.0
    }
}

impl<L: Declared> From<L> for LearnerChoice {
    fn from(learner: L) -> Self {
        LearnerChoice(Box::new(learner))
    }
}

impl Deref for LearnerChoice {
    type Target = dyn DynLearner;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl Clone for LearnerChoice {
    fn clone(&self) -> Self {
        LearnerChoice(self.0.boxed())
    }
}

impl fmt::Debug for LearnerChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for LearnerChoice {
    fn eq(&self, other: &Self) -> bool {
        let own = |learner: &Self| -> Vec<Option<String>> {
            let names = learner.parameters().into_iter().map(|p| p.name);
            names.map(|name| learner.get(name)).collect()
        };
        self.name() == other.name() && own(self) == own(other)
    }
}
