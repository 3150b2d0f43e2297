//! `check`: can the classes be separated at all? With proof.

pub(super) mod examined;
mod inseparable;
mod joint;
mod kernel;
mod margin;
pub(super) mod outcome;
mod proof;
mod support;
pub(super) mod two_classes;
mod undecided;
mod watch;

use rosenblatt::proof::{BiasTerm, ExactRows};

use self::examined::{Subject, certificate_possible, examine};
use self::watch::Watch;
use super::context::{Context, in_data};
use crate::args::{CheckArgs, CheckBias};
use crate::output::Outcome;

pub fn run(context: Context, args: &CheckArgs) -> Outcome {
    let watch = Watch::start(context, args);
    watch.doing("reading");
    certificate_possible(args)?;
    let subject = Subject {
        file: &args.data,
        more: &args.more,
        source: &args.source,
        memory: args.memory,
        references: &[],
    };
    let examined = examine(context, subject)?;
    watch.doing("deciding");
    let rows = ExactRows::new(&examined.data, examined.notation, &examined.exceptions)
        .map_err(|e| in_data(e, &args.data))?;
    let bias = match (args.bias, &args.kernel) {
        (Some(CheckBias::Lifted), _) | (None, None) => BiasTerm::Lifted,
        (Some(CheckBias::None), _) | (None, Some(_)) => BiasTerm::None,
    };
    if args.kernel.is_some() || args.dual_lp {
        return kernel::run(context, args, &examined, &rows, bias, &watch);
    }
    if examined.data.classes.len() <= 2 {
        two_classes::run(context, args, &examined, &rows, bias, &watch)
    } else {
        joint::run(context, args, &examined, &rows, bias, &watch)
    }
}
