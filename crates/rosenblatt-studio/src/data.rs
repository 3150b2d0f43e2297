//! The data of a page: points, a generator's rows or a file, always as a file that the library
//! reads, so that the program given the same file does the same.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use rosenblatt::data::{Dataset, Layout, Precision};
use rosenblatt::read::{self, Preparation, ReadOptions, ReadReport, Scale};
use rosenblatt::synthetic::{self, Kind};
use rosenblatt::write::{self, TextFormat};
use rosenblatt::{Error, Result};
use serde::Deserialize;

use crate::command::Words;

/// Rows that a page may have.
pub const MOST_ROWS: usize = 1_000_000;
/// Rows that a picture shows.
pub const DRAWN_ROWS: usize = 6_000;

/// The bytes of a file, which several may hold.
#[derive(Debug, Clone)]
pub struct Bytes(pub Arc<Vec<u8>>);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// How a file is to be read, as the page says it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// The label column of a table.
    pub label: Option<String>,
    /// The class that stands against all others.
    pub positive: Option<String>,
    /// How features are scaled; as they are unless told otherwise.
    pub scale: Option<String>,
}

impl Reading {
    /// What the page left empty was not given.
    pub fn cleaned(mut self) -> Self {
        for text in [&mut self.label, &mut self.positive, &mut self.scale] {
            text.take_if(|t| t.is_empty());
        }
        self.scale.take_if(|t| t == "none");
        self
    }

    /// The options of the command line for it, without those for how numbers are held.
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("label", &self.label),
            ("positive", &self.positive),
            ("scale", &self.scale),
        ];
        let given = all.into_iter();
        given
            .filter_map(|(name, text)| Some((name, text.clone()?)))
            .collect()
    }

    fn scale(&self) -> Result<Scale> {
        self.scale.as_deref().unwrap_or("none").parse()
    }

    fn options(&self, threads: usize) -> ReadOptions {
        ReadOptions {
            label: self.label.clone(),
            positive: self.positive.clone(),
            precision: Precision::F64,
            threads,
            ..ReadOptions::default()
        }
    }
}

/// A file as it came to the page.
#[derive(Debug, Clone)]
pub struct File {
    /// Its name, without folders.
    pub name: String,
    /// What it holds.
    pub bytes: Bytes,
    /// The labels of IDX images.
    pub labels: Option<Bytes>,
    /// How the program makes it, where it can.
    pub made_by: Option<String>,
}

/// Data ready for learning.
#[derive(Debug)]
pub struct Data {
    /// Where they come from.
    pub file: File,
    /// How they were read.
    pub reading: Reading,
    /// The examples, in the order of the file.
    pub examples: Dataset,
    /// How columns became features.
    pub preparation: Preparation,
    /// What was read.
    pub report: ReadReport,
    /// Which rows a picture shows.
    pub drawn: Vec<u32>,
    /// The means of the features over those rows.
    pub means: Vec<f64>,
}

impl Data {
    /// Reads a file.
    pub fn read(file: File, reading: Reading, threads: usize) -> Result<Self> {
        let (raw, _labels) = read_raw(&file, reading.options(threads))?;
        if raw.rows() > MOST_ROWS {
            return Err(Error::data(format!(
                "{} rows, and a page takes at most {MOST_ROWS}",
                raw.rows()
            ))
            .in_file(&file.name)
            .remedy("give fewer rows, or use rosenblatt train"));
        }
        let (preparation, report) =
            Preparation::fit_and_report(&raw, None, Some(reading.scale()?))?;
        let examples = raw.into_dataset(&preparation, Layout::AsGiven)?;
        if examples.features() == 0 {
            return Err(Error::data("there are no features")
                .in_file(&file.name)
                .remedy("give a file with at least one feature"));
        }
        let about = |e: Error| e.in_file(&file.name);
        examples.classes.require_two().map_err(about)?;
        let drawn = sample(&examples);
        let means = means(&examples, &drawn);
        Ok(Data {
            file,
            reading,
            examples,
            preparation,
            report,
            drawn,
            means,
        })
    }

    /// The same file read in another way.
    pub fn read_again(&self, reading: Reading, threads: usize) -> Result<Self> {
        Self::read(self.file.clone(), reading, threads)
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.file.bytes.0.len() + self.examples.matrix.bytes() + 4 * self.examples.len()
    }
}

/// Reads the rows of a file; the labels of images lie in a file of their own while they are read.
pub fn read_raw(
    file: &File,
    mut options: ReadOptions,
) -> Result<(read::Raw, Option<tempfile::NamedTempFile>)> {
    let mut held = None;
    if let Some(labels) = &file.labels {
        let failed = |e: std::io::Error| Error::io("labels", &e);
        let kept = tempfile::NamedTempFile::new().map_err(failed)?;
        std::fs::write(kept.path(), labels).map_err(failed)?;
        options.labels = Some(kept.path().to_owned());
        held = Some(kept);
    }
    let raw = read::read_from(Cursor::new(file.bytes.clone()), &file.name, &options)?;
    Ok((raw, held))
}

/// At most so many rows as a picture shows, evenly spread over each class, which has at least one.
fn sample(examples: &Dataset) -> Vec<u32> {
    let n = examples.len();
    if n <= DRAWN_ROWS {
        return (0..n as u32).collect();
    }
    let mut by_class = vec![Vec::new(); examples.classes.len()];
    for (i, &label) in examples.labels.iter().enumerate() {
        by_class[label as usize].push(i as u32);
    }
    let mut drawn: Vec<u32> = Vec::with_capacity(DRAWN_ROWS);
    for rows in by_class {
        let share = (rows.len() * DRAWN_ROWS / n).clamp(1, rows.len().max(1));
        drawn.extend((0..share.min(rows.len())).map(|k| rows[k * rows.len() / share]));
    }
    drawn.sort_unstable();
    drawn
}

fn means(examples: &Dataset, drawn: &[u32]) -> Vec<f64> {
    let mut means = vec![0.0; examples.features()];
    for &i in drawn {
        (examples.row(i as usize)).for_each(|j, x| means[j] += x / drawn.len() as f64);
    }
    means
}

/// A point that somebody set: x, y and its class.
pub type Point = (f64, f64, usize);

/// The names of the classes of points.
pub const LETTERS: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// Points that somebody set, as a file.
pub fn points(points: &[Point]) -> Result<File> {
    const MOST: usize = 20_000;
    if points.len() > MOST {
        return Err(Error::data(format!(
            "{} points, and at most {MOST} can be set by hand",
            points.len()
        ))
        .remedy("drop them as a file"));
    }
    let mut text = String::from("label,x1,x2\n");
    for (x, y, class) in points {
        let letter = LETTERS
            .get(*class)
            .filter(|_| x.is_finite() && y.is_finite());
        let letter = letter.ok_or_else(|| Error::data("a point is no point of a known class"))?;
        text.push_str(&format!("{letter},{x},{y}\n"));
    }
    Ok(File {
        name: "points.csv".into(),
        bytes: Bytes(Arc::new(text.into_bytes())),
        labels: None,
        made_by: None,
    })
}

/// What a generator is asked for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Wanted {
    /// The kind of data.
    pub kind: String,
    /// The number of rows; like the rest, what the kind says unless given.
    pub examples: Option<usize>,
    /// The number of features.
    pub features: Option<usize>,
    /// The number of classes.
    pub classes: Option<usize>,
    /// The margin.
    pub margin: Option<f64>,
    /// The share of labels flipped.
    pub noise: Option<f64>,
    /// The spread of clouds.
    pub spread: Option<f64>,
    /// The seed.
    pub seed: u64,
}

/// Synthetic data as the file that `generate` writes.
pub fn generated(wanted: &Wanted) -> Result<File> {
    const MOST_VALUES: usize = 50_000_000;
    let kind = Kind::find(&wanted.kind)?;
    let options = synthetic::Options {
        examples: wanted.examples,
        features: wanted.features,
        classes: wanted.classes,
        margin: wanted.margin,
        noise: wanted.noise.unwrap_or(0.0),
        spread: wanted.spread,
        seed: wanted.seed,
        ..synthetic::Options::new(kind)
    };
    let choices = kind.choices();
    let rows = wanted.examples.unwrap_or(choices.examples.default);
    let columns = wanted.features.unwrap_or(choices.features.default);
    let sparse = kind == Kind::Sparse;
    let values = rows.saturating_mul(if sparse { 100 } else { columns });
    if rows > MOST_ROWS || values > MOST_VALUES {
        return Err(Error::options(format!(
            "{rows} rows of {columns} features are too many for a page"
        ))
        .remedy("ask for fewer, or use rosenblatt generate"));
    }
    let (format, extension) = match sparse {
        true => (TextFormat::Libsvm, "svm"),
        false => (TextFormat::Csv, "csv"),
    };
    let mut bytes = Vec::new();
    write::generate(&options, format, &mut bytes)?;
    let name = format!("{}.{extension}", kind.name());
    Ok(File {
        made_by: Some(command(wanted, &name)),
        name,
        bytes: Bytes(Arc::new(bytes)),
        labels: None,
    })
}

/// The command that makes the file.
fn command(wanted: &Wanted, name: &str) -> String {
    fn text<T: ToString>(value: &Option<T>) -> Option<String> {
        value.as_ref().map(T::to_string)
    }
    let mut words = Words::new("generate");
    words.word(&wanted.kind);
    let noise = wanted.noise.filter(|&noise| noise != 0.0);
    let seed = (wanted.seed != 0).then_some(wanted.seed);
    for (name, value) in [
        ("examples", text(&wanted.examples)),
        ("features", text(&wanted.features)),
        ("classes", text(&wanted.classes)),
        ("margin", text(&wanted.margin)),
        ("noise", text(&noise)),
        ("spread", text(&wanted.spread)),
        ("seed", text(&seed)),
    ] {
        if let Some(value) = value {
            words.option(name, &value);
        }
    }
    words.word("-o");
    words.word(name);
    words.text()
}

/// A file that a page sent, by the last part of its name.
pub fn uploaded(name: &str, bytes: Vec<u8>, labels: Option<Vec<u8>>) -> File {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = match last {
        "" | "." | ".." => "data",
        last => last,
    };
    File {
        name: name.into(),
        bytes: Bytes(Arc::new(bytes)),
        labels: labels.map(|labels| Bytes(Arc::new(labels))),
        made_by: None,
    }
}

/// The file at `path`.
pub fn opened(path: &Path) -> Result<File> {
    let read = |path: &Path| std::fs::read(path).map_err(|e| Error::io(path, &e));
    let name = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy();
    let labels = ["images-idx3", "images.idx3"]
        .iter()
        .find(|part| name.contains(**part))
        .map(|part| {
            name.replace(
                part,
                &part.replace("images", "labels").replace("idx3", "idx1"),
            )
        });
    let labels = labels.map(|labels| path.with_file_name(labels));
    let labels = labels.filter(|labels| labels.is_file());
    let labels = labels.map(|labels| read(&labels)).transpose()?;
    Ok(uploaded(&name, read(path)?, labels))
}
