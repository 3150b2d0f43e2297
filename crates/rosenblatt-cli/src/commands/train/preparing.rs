//! From a file as read to examples ready for training, some of them held out.

use rosenblatt::data::{Dataset, Layout, split};
use rosenblatt::options::Order;
use rosenblatt::read::{Preparation, Raw, ReadReport};
use rosenblatt::{Error, Options};

use crate::args::DataOptions;

/// Examples ready for training.
pub(super) struct Prepared {
    pub(super) preparation: Preparation,
    /// What was read, and what became of it.
    pub(super) report: ReadReport,
    pub(super) train: Dataset,
    pub(super) held_out: Option<Dataset>,
    /// Which rows of the file are which, where some are held out.
    pub(super) parts: Option<split::Split>,
}

fn layout(options: &Options) -> Layout {
    if options.order == Order::Shuffled {
        Layout::Permuted
    } else {
        Layout::AsGiven
    }
}

pub(super) fn prepare(
    raw: &Raw,
    data: &DataOptions,
    options: &Options,
) -> rosenblatt::Result<Prepared> {
    let Some(fraction) = data.validate else {
        let (preparation, report) = Preparation::fit_and_report(raw, None, data.scale)?;
        let train = raw.dataset(&preparation, None, layout(options))?;
        return Ok(Prepared {
            preparation,
            report,
            train,
            held_out: None,
            parts: None,
        });
    };
    let parts = split::hold_out(raw.labels(), fraction, options.seed);
    if parts.held_out.is_empty() {
        return Err(Error::options(format!(
            "--validate {fraction} holds out no example of {}",
            raw.rows()
        ))
        .remedy("use a larger fraction"));
    }
    let prepared = prepare_split(raw, &parts, data, options)?;
    Ok(Prepared {
        parts: Some(parts),
        ..prepared
    })
}

pub(super) fn prepare_split(
    raw: &Raw,
    parts: &split::Split,
    data: &DataOptions,
    options: &Options,
) -> rosenblatt::Result<Prepared> {
    let (preparation, report) = Preparation::fit_and_report(raw, Some(&parts.train), data.scale)?;
    let train = raw.dataset(&preparation, Some(&parts.train), layout(options))?;
    let held_out = raw.dataset(&preparation, Some(&parts.held_out), Layout::AsGiven)?;
    Ok(Prepared {
        preparation,
        report,
        train,
        held_out: Some(held_out),
        parts: None,
    })
}
