//! A model that is served: how its requests are read, and the weights that predict.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use prometheus_client::metrics::counter::Counter;
use rosenblatt::data::Precision;
use rosenblatt::model::Model;
use rosenblatt::read::{Coding, ColumnCoding, ModelReader, Preparation, ReadOptions};
use rosenblatt::{Error, Result};

use crate::learner::Learner;

/// A model with what reads files for it.
pub struct Loaded {
    /// The model.
    pub model: Model,
    /// What its raw columns become.
    pub preparation: Preparation,
    /// How its files are read.
    pub options: ReadOptions,
    /// The SHA-256 of its file.
    pub digest: [u8; 32],
}

/// Loads a model from a file.
pub type Load = Arc<dyn Fn(&Path) -> Result<Loaded> + Send + Sync>;

/// What a model's rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rows of a table.
    Table,
    /// Values by index.
    Sparse {
        /// The index of the first feature.
        first: u32,
    },
    /// Images or other arrays.
    Images,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Whether predictions need it.
    pub is_feature: bool,
    /// Whether it holds numbers, written plainly.
    pub is_number: bool,
    /// Whether it is the class.
    pub is_label: bool,
}

/// The weights that predict now.
#[derive(Debug)]
pub struct Published {
    /// The model.
    pub model: Model,
    /// How many examples it has learned here.
    pub sequence: u64,
}

/// A model that is served.
pub struct Served {
    /// Its name in addresses.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The SHA-256 of its file.
    pub digest: [u8; 32],
    /// What its rows are.
    pub kind: Kind,
    /// The columns of a table, in their order.
    pub columns: Vec<Column>,
    /// How many features its rows have, once prepared.
    pub features: usize,
    /// Whether values are `f32`.
    pub single: bool,
    /// Reads rows.
    pub reader: ModelReader,
    /// The weights that predict now.
    pub published: Arc<ArcSwap<Published>>,
    /// What learns, where it does.
    pub learner: Option<Learner>,
    /// Rows that were predicted.
    pub predicted: Counter,
}

impl Served {
    /// Serves a model; with a learner, what that has learned.
    pub fn new(
        name: String,
        path: &Path,
        loaded: Loaded,
        learner: Option<Learner>,
        predicted: Counter,
    ) -> Self {
        let Loaded {
            mut model,
            preparation,
            options,
            digest,
        } = loaded;
        let (kind, columns) = match preparation.coding() {
            Coding::Indexed { first } => (Kind::Sparse { first }, Vec::new()),
            Coding::Images => (Kind::Images, Vec::new()),
            Coding::Columns(codings) => {
                let names = preparation.column_names();
                let columns = names.iter().zip(&codings).map(|(name, coding)| Column {
                    name: (*name).to_owned(),
                    is_feature: !matches!(coding, ColumnCoding::Label | ColumnCoding::Ignored),
                    is_number: matches!(coding, ColumnCoding::Number { plain: true, .. }),
                    is_label: matches!(coding, ColumnCoding::Label),
                });
                (Kind::Table, columns.collect())
            }
        };
        let reader = ModelReader::new(&preparation, &model.classes, &options);
        let features = model.features();
        // What only training needs is not kept in memory.
        model.state = None;
        model.seen_rows = None;
        model.preparation = None;
        let published = match &learner {
            Some(learner) => learner.published.clone(),
            None => Arc::new(ArcSwap::from_pointee(Published { model, sequence: 0 })),
        };
        Served {
            name,
            path: path.to_path_buf(),
            digest,
            kind,
            columns,
            features,
            single: preparation.precision() == Precision::F32,
            reader,
            published,
            learner,
            predicted,
        }
    }

    /// The name of the column with the class.
    pub fn label(&self) -> &str {
        let label = self.columns.iter().find(|c| c.is_label);
        label.map_or("label", |c| c.name.as_str())
    }

    /// Whether it answers, and learns if it is to.
    pub fn is_ready(&self) -> bool {
        self.learner.as_ref().is_none_or(|l| l.failure().is_none())
    }
}

/// The models in a file or a folder, by their names: those of their files.
///
/// # Errors
/// If there are none, or a name cannot stand in an address.
pub fn find(path: &Path) -> Result<Vec<(String, PathBuf)>> {
    let name = |path: &Path| -> Result<String> {
        let stem = path
            .file_stem()
            .and_then(|s| s.to_str())
            .unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match !stem.is_empty() && !stem.starts_with('.') && stem.chars().all(plain) {
            true => Ok(stem.to_owned()),
            false => Err(Error::options(format!(
                "{stem:?} cannot be the name of a model in an address"
            ))
            .in_file(path)
            .remedy("give the file a name of letters, digits, dots, - and _")),
        }
    };
    if !path.is_dir() {
        return Ok(vec![(name(path)?, path.to_path_buf())]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|e| Error::io(path, &e))? {
        let file = entry.map_err(|e| Error::io(path, &e))?.path();
        if file.extension().is_some_and(|e| e == "rbm") && file.is_file() {
            found.push((name(&file)?, file));
        }
    }
    found.sort();
    match found.is_empty() {
        true => Err(Error::new(
            rosenblatt::ErrorKind::Io,
            "there is no model in this folder",
        )
        .in_file(path)
        .remedy("put .rbm files there, as train -o writes them")),
        false => Ok(found),
    }
}
