//! A file as `check` sees it.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rosenblatt::Error;
use rosenblatt::data::{Dataset, FeatureNames, Layout, Matrix, Precision};
use rosenblatt::proof::{BiasTerm, ExactText, Notation};
use rosenblatt::read::{self, Format, Preparation, Scale};

use crate::args::{CheckArgs, DataArgs};
use crate::commands::context::Context;
use crate::output::{self, Failure};

/// The examples of a file in its own units, without the reference levels of categories.
pub(in crate::commands) struct Examined {
    pub data: Dataset,
    pub preparation: Preparation,
    pub report: read::ReadReport,
    pub labels: Vec<(String, u32)>,
    pub exceptions: Vec<ExactText>,
    pub notation: Notation,
    /// The reference levels of categories, which have no coefficient.
    pub references: Vec<String>,
}

impl Examined {
    /// The rows c·x that a perceptron with the weights c of the rows is led by, with c as the
    /// first feature where there is a bias; none where there are no weights.
    pub(super) fn weighted(&self, bias: BiasTerm) -> Option<Dataset> {
        let weights = self.data.weights.as_ref()?;
        let lift = usize::from(bias == BiasTerm::Lifted);
        let columns = self.data.features() + lift;
        let mut matrix = Matrix::empty_sparse(columns, Precision::F64);
        for (i, &c) in weights.iter().enumerate() {
            let mut row = Vec::new();
            if lift == 1 {
                row.push((0, c));
            }
            let shift = lift as u32;
            self.data
                .row(i)
                .for_each(|j, x| row.push((j as u32 + shift, c * x)));
            matrix.push_sparse(row);
        }
        Some(Dataset {
            matrix,
            weights: None,
            names: FeatureNames::default(),
            ..self.data.clone()
        })
    }
}

/// Fails early where a certificate cannot be written.
pub(super) fn certificate_possible(args: &CheckArgs) -> Result<(), Failure> {
    if let Some(path) = &args.certificate {
        let inputs = std::iter::once(&args.data).chain(&args.more);
        for input in read::files(inputs.map(PathBuf::as_path))? {
            output::refuse_overwriting(&input, path)?;
        }
        if output::is_dash(path) {
            return Err(Error::options("--certificate names a file, not stdout").into());
        }
        output::writable(path)?;
    }
    Ok(())
}

/// What is examined, and how.
#[derive(Debug, Clone, Copy)]
pub(in crate::commands) struct Subject<'a> {
    pub file: &'a Path,
    /// Further files of the same data set.
    pub more: &'a [PathBuf],
    pub source: &'a DataArgs,
    /// So much memory, where it is limited.
    pub memory: Option<u64>,
    /// Reference levels that were chosen, as COLUMN=LEVEL.
    pub references: &'a [String],
}

/// Reads the files.
pub(in crate::commands) fn examine(
    context: Context,
    subject: Subject<'_>,
) -> Result<Examined, Failure> {
    let Subject { file, source, .. } = subject;
    let mut options = source.options(context.threads)?;
    options.read.memory = subject.memory.or(options.read.memory);
    options.read.also = subject.more.to_vec();
    source.refuse_held_out()?;
    if source.has("precision") && options.read.precision != Precision::F64 {
        return Err(Error::options(
            "the numbers are examined as written, not rounded to --precision f32",
        )
        .remedy("leave it out")
        .into());
    }
    options.read.precision = Precision::F64;
    options.read.keep_long_decimals = true;
    options.scale.get_or_insert(Scale::None);
    if options.scale != Some(Scale::None) {
        return Err(Error::options(
            "the numbers are examined as written, not scaled",
        )
        .remedy(match options.scale {
            Some(Scale::UnitRows) => {
                "leave --scale out; rows of unit length may be separable with a bias where these are not, and the reverse"
            }
            _ => "leave --scale out: with a bias, scaled columns are separable exactly when these are, by another margin",
        })
        .into());
    }
    let raw = read::read(file, &options.read)?;
    source.refuse_foreign(raw.report(), raw.label_texts())?;
    let (preparation, report) = Preparation::fit_and_report(&raw, None, options.scale)?;
    for warning in &report.warnings {
        output::say(
            context.quiet,
            &format!("warning: {}", warning.as_command_line()),
        );
    }
    let dropped = reference_features(&preparation, subject.references)?;
    let kept = |feature: usize| {
        dropped
            .binary_search(&feature)
            .map_or_else(|before| Some(feature - before), |_| None)
    };
    let mut features: HashMap<u32, Option<usize>> = HashMap::new();
    let exceptions = raw
        .long_decimals()
        .iter()
        .filter_map(|long| {
            let feature = *features
                .entry(long.column)
                .or_insert_with(|| kept(preparation.feature_of(long.column)?));
            let feature = feature?;
            Some(ExactText {
                row: long.row as usize,
                feature,
                text: long.text.clone(),
            })
        })
        .collect();
    let labels = raw.label_texts().to_vec();
    let notation = match report.format {
        Format::Idx | Format::Cache => Notation::Binary,
        _ => Notation::Decimal,
    };
    let mut data = raw.into_dataset(&preparation, Layout::AsGiven)?;
    let references = dropped.iter().map(|&j| data.names.get(j).into_owned());
    let references = references.collect();
    if !dropped.is_empty() {
        let names = (0..data.features())
            .filter(|j| kept(*j).is_some())
            .map(|j| data.names.get(j).into_owned());
        let names = FeatureNames::Listed(names.collect());
        data = Dataset {
            matrix: data.matrix.without_columns(&dropped),
            names,
            ..data
        };
    }
    Ok(Examined {
        data,
        preparation,
        report,
        labels,
        exceptions,
        notation,
        references,
    })
}

/// The features of the reference levels, in increasing order: the first level of each category
/// unless another is named.
fn reference_features(
    preparation: &Preparation,
    chosen: &[String],
) -> rosenblatt::Result<Vec<usize>> {
    let mut found = preparation.reference_features();
    if chosen.is_empty() {
        return Ok(found);
    }
    let (names, columns) = (preparation.feature_names(), preparation.feature_columns());
    // The first level is the reference of a category, so no other column begins with one.
    let categories: Vec<_> = (columns.iter())
        .filter(|(_, features)| found.binary_search(&features.start).is_ok())
        .collect();
    for (k, text) in chosen.iter().enumerate() {
        let level = |features: &Range<usize>| features.clone().find(|&j| names.get(j) == *text);
        let mut named = (categories.iter().enumerate())
            .filter_map(|(category, (_, features))| Some((category, level(features)?)));
        let Some((category, feature)) = named.next() else {
            return Err(no_such_level(preparation, text));
        };
        if named.next().is_some() {
            return Err(Error::options(format!(
                "--reference {text}: two categories have such a level"
            ))
            .remedy("rename one of the columns"));
        }
        let (column, features) = categories[category];
        let earlier = &chosen[..k];
        if features
            .clone()
            .any(|j| earlier.contains(&names.get(j).into_owned()))
        {
            return Err(
                Error::options(format!("--reference names two levels of {column}"))
                    .remedy("leave one of them out"),
            );
        }
        // Features lie in the order of their columns, so the order stays.
        found[category] = feature;
    }
    Ok(found)
}

/// The error for a reference level that there is not.
fn no_such_level(preparation: &Preparation, text: &str) -> Error {
    /// Levels that are listed.
    const SHOWN: usize = 20;
    let known = preparation.column_names();
    let mut parts = text.match_indices('=').map(|(at, _)| &text[..at]);
    let Some(column) = parts.find(|name| known.contains(name)) else {
        return Error::options(format!(
            "--reference: found {text:?}, expected COLUMN=LEVEL with a column of the table"
        ))
        .remedy("check prints the columns of categories with their reference levels");
    };
    let columns = preparation.feature_columns();
    let of_column = columns.iter().find(|(name, _)| name == column);
    let references = preparation.reference_features();
    let levels = of_column.filter(|(_, f)| references.binary_search(&f.start).is_ok());
    let Some((_, features)) = levels else {
        return Error::options(format!(
            "--reference {text}: the column {column} is no category"
        ))
        .remedy(format!(
            "make it one with --column {column}=category, or leave it out"
        ));
    };
    let names = preparation.feature_names();
    let level = |j: usize| names.get(j)[column.len() + 1..].to_owned();
    let listed: Vec<String> = features.clone().take(SHOWN).map(level).collect();
    let more = match features.len() {
        0..=SHOWN => String::new(),
        all => format!(" and {} more", all - SHOWN),
    };
    Error::options(format!(
        "--reference {text}: the category {column} has no such level"
    ))
    .remedy(format!("its levels are {}{more}", listed.join(", ")))
}
