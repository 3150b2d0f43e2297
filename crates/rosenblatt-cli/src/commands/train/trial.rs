//! What a run will take, by trying a little of it.

use std::borrow::Cow;
use std::time::Instant;

use rosenblatt::Options;
use rosenblatt::data::Dataset;
use rosenblatt::options::DataSize;
use rosenblatt::progress::Stop;
use rosenblatt::scheme::Scheme;

use crate::commands::context::interrupt_flag;

/// What a run is expected to take.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    /// Passes.
    pub passes: u64,
    /// Passes at most.
    pub most: u64,
    /// Seconds of a pass.
    pub pass_seconds: f64,
}

/// The work of a pass that is tried, of which a thousand million are done in a second or two.
const TRIED: f64 = 1e7;

/// Seconds beyond which trying ends.
const LONGEST: f64 = 0.5;

/// Tries two passes over some of the rows, or the whole run where it is short or where only the
/// data tell when it ends.
pub fn expect(train: &Dataset, options: &Options, threads: usize) -> Expected {
    let scheme = Scheme::new(train.classes.len(), options.multiclass);
    let size = DataSize::of(&train.matrix, scheme.discriminators());
    let most = (options.epochs).unwrap_or_else(|| options.learner.default_epochs(size));
    let usual = match options.epochs.is_none() && options.ends_without_gain() {
        true => Options::usual_passes(size).min(most),
        false => most,
    };
    let work = size.pass_work();
    let rows = (train.len() as f64 * (TRIED / work).min(1.0)) as usize;
    let rows = rows.max(200).min(train.len());
    let tried = match rows == train.len() {
        true => Cow::Borrowed(train),
        false => {
            let numbers = (0..rows).map(|k| k * train.len() / rows);
            Cow::Owned(train.select(&numbers.collect::<Vec<_>>()))
        }
    };
    let mut options = options.clone();
    let whole = usual as f64 * work <= 10.0 * TRIED || !options.learner.is_mistake_driven();
    if !whole {
        options.epochs = Some(usual.min(2));
    }
    options.time_limit = Some(options.time_limit.unwrap_or(LONGEST).min(LONGEST));
    if options.validate().is_err() {
        options.time_limit = None;
        options.epochs = Some(usual.min(2));
    }
    // A visit over a kernel costs a value for every row that has caused an update.
    let growth = if options.learner.kernel().is_some() {
        2
    } else {
        1
    };
    let started = Instant::now();
    let found = rosenblatt::session(&options)
        .interrupt(interrupt_flag())
        .threads(threads)
        .train(&tried);
    let took = started.elapsed().as_secs_f64();
    // Rows that cannot be trained on alone say nothing of the time: two nanoseconds for each work.
    let progress = found.ok().map(|fitted| fitted.model.progress);
    let made = progress.as_ref().map_or(0, |progress| progress.epochs());
    let ended = progress.and_then(|progress| progress.stop);
    let at_its_end = !matches!(ended, None | Some(Stop::TimeLimit | Stop::Interrupted));
    Expected {
        passes: match whole && made > 0 && at_its_end {
            true => made,
            false => usual,
        },
        most,
        pass_seconds: match made {
            0 => work * 2e-9,
            _ => took / made as f64 * (train.len() as f64 / rows as f64).powi(growth),
        },
    }
}
