//! From a file as read to examples ready for training, some of them held out.

use std::collections::BTreeMap;
use std::path::Path;

use rosenblatt::data::{Dataset, Layout, Matrix, split};
use rosenblatt::options::Order;
use rosenblatt::read::{Batches, LabelFound, Preparation, Raw, ReadOptions, ReadReport};
use rosenblatt::{Error, Options};

use crate::args::DataOptions;
use crate::render::numbers::short;

/// Examples ready for training.
pub(in crate::commands) struct Prepared {
    pub(in crate::commands) preparation: Preparation,
    /// What was read, and what became of it.
    pub(in crate::commands) report: ReadReport,
    pub(in crate::commands) train: Dataset,
    pub(in crate::commands) held_out: Option<Dataset>,
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
    let mut prepared = prepare_rows(raw, data, options)?;
    if data.scale.is_none()
        && prepared.preparation.column_names().is_empty()
        && options.learner.name() != "arow"
    {
        let warning = uneven_features(&prepared.train);
        prepared.report.warnings.extend(warning.map(Into::into));
    }
    Ok(prepared)
}

/// What to say of features that are not scaled and of which one reaches far beyond the others: it
/// alone then decides what mistake-driven learners do.
fn uneven_features(train: &Dataset) -> Option<String> {
    /// Features beyond which it is not looked at.
    const MOST: usize = 1000;
    /// How many times as far as the median.
    const FAR: f64 = 100.0;
    if train.features() > MOST {
        return None;
    }
    let mut reach = vec![0.0f64; train.features()];
    for i in 0..train.matrix.rows() {
        let row = train.matrix.row(i);
        row.for_each(|j, x| reach[j] = reach[j].max(x.abs()));
    }
    let mut used: Vec<(f64, usize)> = reach.into_iter().zip(0..).filter(|r| r.0 > 0.0).collect();
    used.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (median, (most, feature)) = (used.get(used.len() / 2)?.0, *used.last()?);
    (most >= FAR * median).then(|| {
        format!(
            "the features are not scaled: {} reaches {}, half of the features no more than {}; pass ⟨scale standard⟩ or ⟨learner arow⟩, or ⟨scale none⟩ if that is meant",
            train.names.get(feature),
            short(most),
            short(median)
        )
    })
}

fn prepare_rows(raw: &Raw, data: &DataOptions, options: &Options) -> rosenblatt::Result<Prepared> {
    let Some(fraction) = data.validate else {
        return prepare_all(raw, data, options);
    };
    let parts = match (raw.groups()?, raw.times()?) {
        (Some(groups), _) => split::hold_out_groups(&groups, fraction, options.seed),
        (_, Some(times)) => split::hold_out_last(&times, fraction),
        _ => split::hold_out(raw.labels(), fraction, options.seed),
    };
    if parts.held_out.is_empty() {
        let parted = match &data.read.split_column {
            Some((_, name)) => format!(" by the column {name}"),
            None => String::new(),
        };
        return Err(Error::options(format!(
            "--validate {fraction} holds out no example of {}{parted}",
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

/// All rows for training.
pub(in crate::commands) fn prepare_all(
    raw: &Raw,
    data: &DataOptions,
    options: &Options,
) -> rosenblatt::Result<Prepared> {
    let (preparation, report) = Preparation::fit_and_report(raw, None, data.scale)?;
    let train = raw.dataset(&preparation, None, layout(options))?;
    Ok(Prepared {
        preparation,
        report,
        train,
        held_out: None,
        parts: None,
    })
}

/// The rows of a split.
pub(in crate::commands) fn prepare_split(
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

/// The rows of another file as held-out examples, and labels among them that no training row has,
/// with how many rows have each; these rows are left out.
pub(super) fn held_out_file(
    path: &Path,
    preparation: &Preparation,
    train: &Dataset,
    data: &DataOptions,
) -> rosenblatt::Result<(Dataset, BTreeMap<String, u64>)> {
    let mut matrix = Matrix::empty_sparse(train.features(), train.matrix.precision());
    let (mut labels, mut unknown) = (Vec::new(), BTreeMap::new());
    // How a file looks is found out for each; where its labels are is part of the preparation.
    let options = ReadOptions {
        header: data.read.header,
        comment: data.read.comment.clone(),
        on_error: data.read.on_error,
        threads: data.read.threads,
        ..ReadOptions::default()
    };
    for batch in Batches::open(path, preparation, &train.classes, &options)? {
        let batch = batch?;
        let found = batch.labels.ok_or_else(|| {
            Error::data("the held-out rows have no labels")
                .in_file(path)
                .remedy("give rows with a label")
        })?;
        for (i, label) in found.into_iter().enumerate() {
            let text = match label {
                LabelFound::Class(class) => {
                    let mut row = Vec::new();
                    (batch.matrix.row(i)).for_each(|j, x| row.push((j as u32, x)));
                    matrix.push_sparse(row);
                    labels.push(class);
                    continue;
                }
                LabelFound::Unknown(text) => text,
                LabelFound::Absent => String::new(),
            };
            *unknown.entry(text).or_default() += 1;
        }
    }
    if labels.is_empty() {
        return Err(Error::data("no held-out row has a label of the training rows").in_file(path));
    }
    let mut held_out = Dataset::new(matrix, labels, train.classes.clone(), None)?;
    held_out.names = train.names.clone();
    Ok((held_out, unknown))
}
