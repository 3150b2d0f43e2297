//! Writing data sets as text.
//!
//! Rows come out in the order of the file they were read from, whatever their layout in
//! memory. Each value is the shortest decimal that reads back to the same stored number, so
//! that converting a file and back changes nothing a learner can see.

use std::io::Write;

use super::{Classes, Dataset, FeatureNames, Row};
use crate::error::{Error, ErrorKind, Result};

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// `label index:value …`, zeros left out.
    Libsvm,
    /// Comma-separated with a header, quoted where RFC 4180 asks for it.
    Csv,
    /// Tab-separated with a header; nothing can be quoted.
    Tsv,
}

/// Writes the whole data set.
///
/// A table has the columns `label`, then `weight` if the examples have weights, then the
/// features by name (`x1`, `x2`, … where they only have numbers). Libsvm files keep the first
/// index the features were numbered from, or start at 1; they have no place for weights, so
/// weighted data are refused there rather than written without.
///
/// ```
/// use rosenblatt::data::{Classes, Dataset, Matrix, Precision, TextFormat, write};
/// let matrix = Matrix::dense_from_rows(2, &[vec![0.1, 0.0], vec![-2.5, 1e30]], Precision::F32);
/// let dataset = Dataset::new(matrix, vec![1, 0], Classes::from_labels(["no", "yes"]), None)?;
/// let mut text = Vec::new();
/// write(&dataset, TextFormat::Libsvm, &mut text)?;
/// assert_eq!(text, b"yes 1:0.1\nno 1:-2.5 2:1e30\n");
/// # Ok::<(), rosenblatt::Error>(())
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
            weighted,
            started: false,
            line: Vec::new(),
        };
        if format != TextFormat::Libsvm {
            writer.header(names)?;
        }
        Ok(writer)
    }

    fn separator(&self) -> u8 {
        match self.format {
            TextFormat::Libsvm => b' ',
            TextFormat::Csv => b',',
            TextFormat::Tsv => b'\t',
        }
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
            let name = match names {
                // A bare number in a header looks like data.
                FeatureNames::Numbered { .. } => format!("x{}", names.get(j)).into(),
                _ => names.get(j),
            };
            if name == "label" || self.weighted && name == "weight" {
                return Err(Error::data(format!(
                    "a feature is called {name:?}, as the table's own column of {name}s is"
                ))
                .remedy("rename it"));
            }
            let name = field(&name, self.format, "feature name")?;
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
        self.line.extend_from_slice(label);
        let separator = self.separator();
        if self.weighted {
            self.line.push(separator);
            decimal(&mut self.line, weight.unwrap_or(1.0));
        }
        let (line, first) = (&mut self.line, self.first);
        if self.format == TextFormat::Libsvm {
            each_non_zero(row, |j, value| {
                line.push(b' ');
                whole(line, j as u64 + first);
                line.push(b':');
                value.push_to(line);
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
            each_non_zero(row, |j, value| {
                zeros_until(line, j);
                line.push(separator);
                value.push_to(line);
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

fn io_error(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string())
}

/// A stored number with the precision it has, which decides its shortest decimal.
#[derive(Clone, Copy)]
enum Stored {
    Single(f32),
    Double(f64),
}

impl Stored {
    fn push_to(self, line: &mut Vec<u8>) {
        match self {
            Stored::Single(x) => decimal(line, x),
            Stored::Double(x) => decimal(line, x),
        }
    }
}

fn each_non_zero(row: Row<'_>, mut f: impl FnMut(usize, Stored)) {
    match row {
        Row::Dense32(_) | Row::Sparse32(..) => row.for_each(|j, x| f(j, Stored::Single(x as f32))),
        Row::Dense64(_) | Row::Sparse64(..) => row.for_each(|j, x| f(j, Stored::Double(x))),
    }
}

/// A stored type of number.
trait Decimal: Copy + PartialEq + Into<f64> + std::fmt::Display + std::fmt::LowerExp {
    fn nearest(x: f64) -> Self;
}

impl Decimal for f32 {
    fn nearest(x: f64) -> f32 {
        x as f32
    }
}

impl Decimal for f64 {
    fn nearest(x: f64) -> f64 {
        x
    }
}

/// Appends the shortest decimal that reads back as `x`, scientific where plain digits would
/// be long.
fn decimal<F: Decimal>(line: &mut Vec<u8>, x: F) {
    let value: f64 = x.into();
    let size = value.abs();
    if (1e-5..1.0).contains(&size) {
        // Six digits or fewer: no two such decimals are one f32 (or f64), so if one reads back
        // as x, it is the shortest that does. Most values in files are like that, and this is
        // several times faster than the general search.
        let millionths = (size * 1e6).round();
        if millionths < 1e6 && F::nearest(millionths.copysign(value) / 1e6) == x {
            millionth(line, value < 0.0, millionths as u64);
            return;
        }
    }
    // Writing to memory cannot fail.
    let _ = if size == 0.0 || (1e-5..1e16).contains(&size) {
        write!(line, "{x}")
    } else {
        write!(line, "{x:e}")
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
fn whole(line: &mut Vec<u8>, mut n: u64) {
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
            .remedy("write CSV, or rename it (--label-map for labels)")
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
mod tests {
    use super::super::{Layout, Matrix, Precision};
    use super::*;
    use proptest::prelude::*;

    fn text(dataset: &Dataset, format: TextFormat) -> String {
        let mut out = Vec::new();
        write(dataset, format, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Fields of CSV by the letter of RFC 4180, a line each.
    fn parse_csv(text: &str) -> Vec<Vec<String>> {
        let (mut lines, mut line, mut cell) = (Vec::new(), Vec::new(), String::new());
        let (mut quoted, mut chars) = (false, text.chars().peekable());
        while let Some(c) = chars.next() {
            match (quoted, c) {
                (true, '"') if chars.peek() == Some(&'"') => cell.push(chars.next().unwrap()),
                (_, '"') => quoted = !quoted,
                (false, ',') => line.push(std::mem::take(&mut cell)),
                (false, '\n') => {
                    line.push(std::mem::take(&mut cell));
                    lines.push(std::mem::take(&mut line));
                }
                _ => cell.push(c),
            }
        }
        assert!(!quoted && cell.is_empty() && line.is_empty());
        lines
    }

    /// Label and features of every row, with the values' bits as the precision stores them.
    type Parsed = Vec<(String, Vec<u64>)>;

    fn bits(token: &str, precision: Precision) -> u64 {
        match precision {
            Precision::F32 => u64::from(token.parse::<f32>().unwrap().to_bits()),
            Precision::F64 => token.parse::<f64>().unwrap().to_bits(),
        }
    }

    fn read_back(dataset: &Dataset, format: TextFormat) -> Parsed {
        let (precision, d) = (dataset.matrix.precision(), dataset.features());
        let text = text(dataset, format);
        match format {
            TextFormat::Libsvm => text
                .lines()
                .map(|line| {
                    let mut tokens = line.split(' ');
                    let label = tokens.next().unwrap().to_owned();
                    let mut row = vec![0; d];
                    for token in tokens {
                        let (j, x) = token.split_once(':').unwrap();
                        row[j.parse::<usize>().unwrap() - 1] = bits(x, precision);
                    }
                    (label, row)
                })
                .collect(),
            TextFormat::Csv | TextFormat::Tsv => {
                let table: Vec<Vec<String>> = if format == TextFormat::Csv {
                    parse_csv(&text)
                } else {
                    (text.lines())
                        .map(|l| l.split('\t').map(str::to_owned).collect())
                        .collect()
                };
                table[1..]
                    .iter()
                    .map(|row| {
                        assert_eq!(row.len(), d + 1);
                        let values = row[1..].iter().map(|t| bits(t, precision)).collect();
                        (row[0].clone(), values)
                    })
                    .collect()
            }
        }
    }

    fn expected(dataset: &Dataset) -> Parsed {
        (0..dataset.len())
            .map(|number| {
                let i = dataset.position(number);
                let values = (dataset.row(i).to_dense(dataset.features()).iter())
                    .map(|&x| match dataset.matrix.precision() {
                        Precision::F32 => u64::from((x as f32).to_bits()),
                        Precision::F64 => x.to_bits(),
                    })
                    .collect();
                (dataset.classes.name(dataset.labels[i]).to_owned(), values)
            })
            .collect()
    }

    fn any_finite() -> impl Strategy<Value = f64> {
        prop_oneof![
            3 => Just(0.0),
            3 => -10.0f64..10.0,
            2 => any::<f64>().prop_filter("finite", |x| x.is_finite()),
            1 => any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::from),
        ]
    }

    proptest! {
        #[test]
        fn every_format_reads_back_to_the_same_numbers(
            rows in prop::collection::vec((0u32..3, prop::collection::vec(any_finite(), 5)), 1..40),
            double in any::<bool>(),
            sparse in any::<bool>(),
            scatter in any::<bool>(),
        ) {
            let precision = if double { Precision::F64 } else { Precision::F32 };
            let fit = |x: f64| if double || (x as f32).is_finite() { x } else { 1.5 };
            let values: Vec<Vec<f64>> =
                rows.iter().map(|(_, r)| r.iter().map(|&x| fit(x)).collect()).collect();
            let matrix = if sparse {
                let mut matrix = Matrix::empty_sparse(5, precision);
                for row in &values {
                    let stored = |x: f64| if double { x } else { f64::from(x as f32) };
                    matrix.push_sparse(
                        row.iter().enumerate().map(|(j, &x)| (j as u32, stored(x))));
                }
                matrix
            } else {
                Matrix::dense_from_rows(5, &values, precision)
            };
            let labels = rows.iter().map(|r| r.0).collect();
            let classes = Classes::from_labels(["a", "b", "é"]);
            let mut dataset = Dataset::new(matrix, labels, classes, None).unwrap();
            if scatter {
                dataset = dataset.scattered();
                prop_assert_eq!(dataset.layout, Layout::Scattered);
            }
            for format in [TextFormat::Libsvm, TextFormat::Csv, TextFormat::Tsv] {
                prop_assert_eq!(read_back(&dataset, format), expected(&dataset));
            }
        }
    }

    #[test]
    fn the_short_way_to_decimals_gives_the_same_digits() {
        let same = |x: f64| {
            let (mut single, mut double) = (Vec::new(), Vec::new());
            decimal(&mut single, x as f32);
            decimal(&mut double, x);
            assert_eq!(String::from_utf8(single).unwrap(), (x as f32).to_string());
            assert_eq!(String::from_utf8(double).unwrap(), x.to_string());
        };
        for m in 11..1_000_000 {
            let x = f64::from(m) / 1e6;
            same(if m % 2 == 0 { x } else { -x });
        }
        for m in 11..10_000 {
            same(f64::from(m) / 1e6 + 1e-10);
            same(f64::from(m).sqrt());
        }
    }

    fn named(names: FeatureNames, labels: [&str; 2]) -> Dataset {
        let matrix =
            Matrix::dense_from_rows(2, &[vec![0.1, 0.0], vec![-3.0, 2e-7]], Precision::F32);
        let classes = Classes::from_ordered(labels.map(str::to_owned).to_vec());
        let mut dataset = Dataset::new(matrix, vec![0, 1], classes, None).unwrap();
        dataset.names = names;
        dataset
    }

    #[test]
    fn tables_have_headers_and_quotes_where_needed() {
        let names = FeatureNames::Listed(["a,b", "say \"x\"\nto"].iter().collect());
        let dataset = named(names, [" no", "#yes"]);
        let csv = text(&dataset, TextFormat::Csv);
        assert_eq!(
            csv,
            "label,\"a,b\",\"say \"\"x\"\"\nto\"\n\" no\",0.1,0\n\"#yes\",-3,2e-7\n"
        );
        assert_eq!(parse_csv(&csv)[0], ["label", "a,b", "say \"x\"\nto"]);
        assert!(write(&dataset, TextFormat::Tsv, Vec::new()).is_err());
        assert!(write(&dataset, TextFormat::Libsvm, Vec::new()).is_err());
        let numbered = named(FeatureNames::Numbered { first: 0 }, ["\"n\"", "y"]);
        assert_eq!(
            text(&numbered, TextFormat::Tsv),
            "label\tx0\tx1\n\"n\"\t0.1\t0\ny\t-3\t2e-7\n"
        );
        assert_eq!(
            text(&numbered, TextFormat::Libsvm),
            "\"n\" 0:0.1\ny 0:-3 1:2e-7\n"
        );
    }

    #[test]
    fn nothing_is_lost_in_silence() {
        let mut weighted = named(FeatureNames::default(), ["0", "1"]);
        weighted.weights = Some(vec![0.5, 2.0]);
        assert!(write(&weighted, TextFormat::Libsvm, Vec::new()).is_err());
        assert_eq!(
            text(&weighted, TextFormat::Csv),
            "label,weight,x1,x2\n0,0.5,0.1,0\n1,2,-3,2e-7\n"
        );
        let clash = named(
            FeatureNames::Listed(["label", "x"].iter().collect()),
            ["0", "1"],
        );
        assert!(write(&clash, TextFormat::Csv, Vec::new()).is_err());
        assert!(write(&clash, TextFormat::Libsvm, Vec::new()).is_ok());
        for label in ["", "a b", "a:b", "a#b"] {
            let odd = named(FeatureNames::default(), [label, "z"]);
            assert!(
                write(&odd, TextFormat::Libsvm, Vec::new()).is_err(),
                "{label}"
            );
            assert!(write(&odd, TextFormat::Csv, Vec::new()).is_ok());
        }
        let classes = Classes::from_labels(["a", "b"]);
        let names = FeatureNames::default();
        let mut writer =
            RowWriter::new(Vec::new(), TextFormat::Csv, &classes, &names, 1, false).unwrap();
        assert!(writer.row(2, None, Row::Dense64(&[1.0])).is_err());
        assert!(writer.row(0, None, Row::Dense64(&[1.0, 2.0])).is_err());
        assert!(writer.row(0, None, Row::Sparse64(&[], &[])).is_ok());
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("disk full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_failing_disk_is_reported() {
        let dataset = named(FeatureNames::default(), ["0", "1"]);
        let error = write(&dataset, TextFormat::Libsvm, Full).unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Io, "disk full")
        );
    }
}
