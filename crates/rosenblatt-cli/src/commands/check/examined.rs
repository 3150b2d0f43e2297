//! A file as `check` sees it.

use std::collections::HashMap;
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

/// Reads the files, within so much memory where it is limited.
pub(in crate::commands) fn examine(
    context: Context,
    file: &Path,
    more: &[PathBuf],
    source: &DataArgs,
    memory: Option<u64>,
) -> Result<Examined, Failure> {
    let mut options = source.options(context.threads)?;
    options.read.memory = memory.or(options.read.memory);
    options.read.also = more.to_vec();
    source.refuse_held_out()?;
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
    let dropped = preparation.reference_features();
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
