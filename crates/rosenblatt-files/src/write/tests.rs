use super::*;
use crate::read::{Format, Preparation, ReadOptions, Scale, read_from};
use proptest::prelude::*;
use rosenblatt_core::data::{Layout, Matrix, Precision};

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
        TextFormat::JsonLines | TextFormat::Vw => unreachable!("see read::tests::formats"),
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

/// Zeros lose their sign when rows are made of a table.
fn without_signs(mut rows: Parsed) -> Parsed {
    for bits in rows.iter_mut().flat_map(|(_, values)| values) {
        if matches!(*bits, 0x8000_0000 | 0x8000_0000_0000_0000) {
            *bits = 0;
        }
    }
    rows
}

fn through_parquet(dataset: &Dataset) -> Parsed {
    let mut bytes = Vec::new();
    write_parquet(dataset, &mut bytes).unwrap();
    let options = ReadOptions {
        precision: dataset.matrix.precision(),
        ..ReadOptions::default()
    };
    let raw = read_from(std::io::Cursor::new(bytes), "a.parquet", &options).unwrap();
    assert_eq!(raw.report().format, Format::Parquet);
    let preparation = Preparation::fit(&raw, None, Some(Scale::None)).unwrap();
    let found = raw.dataset(&preparation, None, Layout::AsGiven).unwrap();
    without_signs(expected(&found))
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
        permutation in any::<bool>(),
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
        if permutation {
            dataset = dataset.permuted();
            prop_assert_eq!(dataset.layout, Layout::Permuted);
        }
        for format in [TextFormat::Libsvm, TextFormat::Csv, TextFormat::Tsv] {
            prop_assert_eq!(read_back(&dataset, format), expected(&dataset));
        }
        prop_assert_eq!(through_parquet(&dataset), without_signs(expected(&dataset)));
    }
}

#[test]
fn the_short_way_to_decimals_gives_the_same_digits() {
    let same = |x: f64| {
        let (mut single, mut double) = (Vec::new(), Vec::new());
        decimal(&mut single, f64::from(x as f32), Precision::F32);
        decimal(&mut double, x, Precision::F64);
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
    let matrix = Matrix::dense_from_rows(2, &[vec![0.1, 0.0], vec![-3.0, 2e-7]], Precision::F32);
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
        (ErrorKind::Io, "disk full".to_owned())
    );
}
