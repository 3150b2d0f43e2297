//! Writing data sets: as text, as arrays of NumPy, and as Parquet.
//!
//! Rows come out in the order of the file they were read from, whatever their layout in
//! memory. Each value is the shortest decimal that reads back to the same stored number, so
//! that converting a file and back changes nothing a learner can see.

use std::io::Write;

mod compress;
mod npy;
mod parquet;
mod synthetic;

pub use compress::compressed;
pub use npy::{write_npy, write_npz};
pub use parquet::write_parquet;
pub use rosenblatt_core::internal::write_atomic;
pub use synthetic::{Written, generate};

use rosenblatt_core::data::{Classes, Dataset, FeatureNames, Precision, Row};
use rosenblatt_core::{Error, ErrorKind, Result};

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// `label index:value …`, zeros left out.
    Libsvm,
    /// Comma-separated with a header, quoted where RFC 4180 asks for it.
    Csv,
    /// Tab-separated with a header; nothing can be quoted.
    Tsv,
    /// An object on each line, zeros included.
    JsonLines,
    /// `label weight | name:value …` as Vowpal Wabbit has it, zeros left out.
    Vw,
}

impl TextFormat {
    /// Whether zeros are left out.
    pub fn is_sparse(self) -> bool {
        matches!(self, TextFormat::Libsvm | TextFormat::Vw)
    }
}

/// Writes the whole data set.
///
/// A table has the columns `label`, then `weight` if the examples have weights, then the
/// features by name (`x1`, `x2`, … where they only have numbers). Libsvm files keep the first
/// index the features were numbered from, or start at 1; they have no place for weights, so
/// weighted data are refused there rather than written without.
///
/// ```
/// use rosenblatt_core::data::{Classes, Dataset, Matrix, Precision};
/// use rosenblatt_files::write::{TextFormat, write};
/// let matrix = Matrix::dense_from_rows(2, &[vec![0.1, 0.0], vec![-2.5, 1e30]], Precision::F32);
/// let dataset = Dataset::new(matrix, vec![1, 0], Classes::from_labels(["no", "yes"]), None)?;
/// let mut text = Vec::new();
/// write(&dataset, TextFormat::Libsvm, &mut text)?;
/// assert_eq!(text, b"yes 1:0.1\nno 1:-2.5 2:1e30\n");
/// # Ok::<(), rosenblatt_core::Error>(())
/// ```
pub fn write(dataset: &Dataset, format: TextFormat, out: impl Write) -> Result<()> {
    let mut writer = RowWriter::new(
        out,
        format,
        &dataset.classes,
        &dataset.names,
        dataset.features(),
        dataset.weights.is_some(),
    )?;
    for number in 0..dataset.len() {
        let i = dataset.position(number);
        let weight = dataset.weights.as_ref().map(|w| w[i]);
        writer.row(dataset.labels[i], weight, dataset.row(i))?;
    }
    writer.finish()
}

/// Writes a data set row by row, for data that never lie in memory as a whole.
#[derive(Debug)]
pub struct RowWriter<W> {
    out: W,
    format: TextFormat,
    /// Each class as it is written.
    labels: Vec<Vec<u8>>,
    first: u64,
    columns: usize,
    /// What stands before the value of each feature, where its name does.
    names: Vec<Vec<u8>>,
    weighted: bool,
    /// Whether anything stands in the file yet.
    started: bool,
    line: Vec<u8>,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl<W: Write> RowWriter<W> {
    /// A writer of rows with these classes and features; a table's header is written at once.
    pub fn new(
        out: W,
        format: TextFormat,
        classes: &Classes,
        names: &FeatureNames,
        features: usize,
        weighted: bool,
    ) -> Result<Self> {
        if weighted && format == TextFormat::Libsvm {
            return Err(
                Error::data("libsvm files have no place for example weights")
                    .remedy("write CSV or TSV"),
            );
        }
        let labels = classes
            .names()
            .iter()
            .map(|name| field(name, format, "label"))
            .collect::<Result<_>>()?;
        let mut writer = RowWriter {
            out,
            format,
            labels,
            first: match names {
                FeatureNames::Numbered { first } => u64::from(*first),
                _ => 1,
            },
            columns: features,
            names: Vec::new(),
            weighted,
            started: false,
            line: Vec::new(),
        };
        match format {
            TextFormat::Libsvm => {}
            TextFormat::Csv | TextFormat::Tsv => writer.header(names)?,
            TextFormat::JsonLines | TextFormat::Vw => writer.names = writer.column_names(names)?,
        }
        Ok(writer)
    }

    fn separator(&self) -> u8 {
        match self.format {
            TextFormat::Libsvm | TextFormat::Vw => b' ',
            TextFormat::Csv | TextFormat::JsonLines => b',',
            TextFormat::Tsv => b'\t',
        }
    }

    /// What stands before each value: its separator and its name.
    fn column_names(&self, names: &FeatureNames) -> Result<Vec<Vec<u8>>> {
        let numbered = matches!(names, FeatureNames::Numbered { .. });
        let each = (0..self.columns).map(|j| match self.format {
            // Numbers are their own names, which no hash mixes up.
            TextFormat::Vw if numbered => Ok(format!(" {}:", j as u64 + self.first).into_bytes()),
            TextFormat::Vw => {
                let name = field(&names.get(j), self.format, "feature name")?;
                Ok([b" ", name.as_slice(), b":"].concat())
            }
            _ => {
                let name = field(
                    &column_name(names, j, self.weighted)?,
                    self.format,
                    "feature name",
                )?;
                Ok([b",", name.as_slice(), b":"].concat())
            }
        });
        each.collect()
    }

    fn header(&mut self, names: &FeatureNames) -> Result<()> {
        self.started = true;
        self.line.extend_from_slice(b"label");
        if self.weighted {
            self.line.push(self.separator());
            self.line.extend_from_slice(b"weight");
        }
        for j in 0..self.columns {
            self.line.push(self.separator());
            let name = field(
                &column_name(names, j, self.weighted)?,
                self.format,
                "feature name",
            )?;
            self.line.extend_from_slice(&name);
        }
        self.end_line()
    }

    /// Writes a row: its class, its weight if the data have weights, its features.
    pub fn row(&mut self, class: u32, weight: Option<f64>, row: Row<'_>) -> Result<()> {
        let Some(label) = self.labels.get(class as usize) else {
            return Err(Error::data(format!(
                "class number {class}, but there are {} classes",
                self.labels.len()
            )));
        };
        if row.width() > self.columns {
            return Err(Error::data(format!(
                "a row has {} features, but the data have {}",
                row.width(),
                self.columns
            )));
        }
        if !self.started && label.starts_with(BYTE_ORDER_MARK) {
            // Readers drop one mark at the start of a file; the label keeps its own.
            self.line.extend_from_slice(BYTE_ORDER_MARK);
        }
        self.started = true;
        if self.format == TextFormat::JsonLines {
            self.line.extend_from_slice(b"{\"label\":");
        }
        self.line.extend_from_slice(label);
        let separator = self.separator();
        if self.weighted {
            self.line.push(separator);
            if self.format == TextFormat::JsonLines {
                self.line.extend_from_slice(b"\"weight\":");
            }
            decimal(&mut self.line, weight.unwrap_or(1.0), Precision::F64);
        }
        let precision = match row {
            Row::Dense32(_) | Row::Sparse32(..) => Precision::F32,
            Row::Dense64(_) | Row::Sparse64(..) => Precision::F64,
        };
        let (line, first) = (&mut self.line, self.first);
        if !self.names.is_empty() {
            let zeros = !self.format.is_sparse();
            if !zeros {
                line.extend_from_slice(b" |");
            }
            let (names, mut next) = (&self.names, 0);
            let mut until = |line: &mut Vec<u8>, end: usize| {
                for name in names[next..end].iter().filter(|_| zeros) {
                    line.extend_from_slice(name);
                    line.push(b'0');
                }
                next = end + 1;
            };
            row.for_each(|j, x| {
                until(line, j);
                line.extend_from_slice(&names[j]);
                decimal(line, x, precision);
            });
            until(line, self.columns);
            if zeros {
                line.push(b'}');
            }
        } else if self.format == TextFormat::Libsvm {
            row.for_each(|j, x| {
                line.push(b' ');
                whole(line, j as u64 + first);
                line.push(b':');
                decimal(line, x, precision);
            });
        } else {
            let mut next = 0;
            let mut zeros_until = |line: &mut Vec<u8>, end: usize| {
                for _ in next..end {
                    line.push(separator);
                    line.push(b'0');
                }
                next = end + 1;
            };
            row.for_each(|j, x| {
                zeros_until(line, j);
                line.push(separator);
                decimal(line, x, precision);
            });
            zeros_until(line, self.columns);
        }
        self.end_line()
    }

    fn end_line(&mut self) -> Result<()> {
        self.line.push(b'\n');
        let written = self.out.write_all(&self.line);
        self.line.clear();
        written.map_err(|e| io_error(&e))
    }

    /// Flushes what is still held back.
    pub fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(|e| io_error(&e))
    }
}

/// The name of a feature, which is to be told from the table's own columns.
fn column_name(names: &FeatureNames, j: usize, weighted: bool) -> Result<String> {
    let name = match names {
        // A bare number in a header looks like data.
        FeatureNames::Numbered { .. } => format!("x{}", names.get(j)),
        _ => names.get(j).into_owned(),
    };
    if name == "label" || weighted && name == "weight" {
        return Err(Error::data(format!(
            "a feature is called {name:?}, as the table's own column of {name}s is"
        ))
        .remedy("rename it"));
    }
    Ok(name)
}

fn io_error(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string())
}

/// Appends the shortest decimal that reads back as `x` in this precision, scientific where plain
/// digits would be long.
pub(crate) fn decimal(line: &mut Vec<u8>, x: f64, precision: Precision) {
    let size = x.abs();
    if (1e-5..1.0).contains(&size) {
        // Six digits or fewer: no two such decimals are one f32 (or f64), so if one reads back
        // as x, it is the shortest that does. Most values in files are like that, and this is
        // several times faster than the general search.
        let millionths = (size * 1e6).round();
        let read_back = millionths.copysign(x) / 1e6;
        let same = match precision {
            Precision::F32 => read_back as f32 == x as f32,
            Precision::F64 => read_back == x,
        };
        if millionths < 1e6 && same {
            millionth(line, x < 0.0, millionths as u64);
            return;
        }
    }
    let plain = size == 0.0 || (1e-5..1e16).contains(&size);
    // Writing to memory cannot fail.
    let _ = match (precision, plain) {
        (Precision::F32, true) => write!(line, "{}", x as f32),
        (Precision::F32, false) => write!(line, "{:e}", x as f32),
        (Precision::F64, true) => write!(line, "{x}"),
        (Precision::F64, false) => write!(line, "{x:e}"),
    };
}

/// Appends m/10⁶ for m < 10⁶, without zeros at the end.
fn millionth(line: &mut Vec<u8>, negative: bool, mut m: u64) {
    if negative {
        line.push(b'-');
    }
    let mut digits = *b"0.000000";
    for digit in digits[2..].iter_mut().rev() {
        *digit = b'0' + (m % 10) as u8;
        m /= 10;
    }
    let end = digits.iter().rposition(|&d| d != b'0').map_or(1, |i| i + 1);
    line.extend_from_slice(&digits[..end]);
}

/// Appends a whole number; the formatting machinery would cost more than the digits.
pub(crate) fn whole(line: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[at..]);
}

/// A label or name as the format writes it, or why it cannot.
fn field(text: &str, format: TextFormat, what: &str) -> Result<Vec<u8>> {
    let refused = |why: &str| {
        Error::data(format!("the {what} {text:?} {why}"))
            .remedy("write CSV, or rename it (⟨label-map⟩ for labels)")
    };
    match format {
        TextFormat::Libsvm => {
            // Only ASCII blanks end a label; other spaces are letters like any.
            if text.is_empty() || text.bytes().any(|b| b <= b' ' || b == b':' || b == b'#') {
                return Err(refused(
                    "cannot stand in a libsvm file: it is empty or has a space, a colon or a #",
                ));
            }
        }
        TextFormat::Vw => {
            if text.is_empty() || text.bytes().any(|b| b <= b' ' || b"|:,#'".contains(&b)) {
                return Err(refused(
                    "cannot stand in Vowpal Wabbit text: it is empty or has a space, a colon, a bar, a comma, a quote or a #",
                ));
            }
        }
        TextFormat::JsonLines => {
            return Ok(serde_json::Value::from(text).to_string().into_bytes());
        }
        TextFormat::Tsv => {
            if text.contains(['\t', '\n', '\r']) {
                return Err(refused(
                    "has a tab or a line break, which a tab-separated file cannot quote",
                ));
            }
        }
        TextFormat::Csv => {
            let plain = !text.is_empty()
                && text.trim() == text
                && !text.starts_with('#')
                && !text.contains([',', '"', '\n', '\r']);
            if !plain {
                return Ok(format!("\"{}\"", text.replace('"', "\"\"")).into_bytes());
            }
        }
    }
    Ok(text.as_bytes().to_vec())
}

#[cfg(test)]
mod tests;
