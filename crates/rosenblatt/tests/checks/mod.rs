//! What must hold whatever bytes come in. The fuzz targets and the corpus test share it.
//!
//! Each module has one function, `check`, that panics where a promise is broken. The first
//! bytes of an input choose options; letters and signs from `@` on are handy, as their low
//! five bits count from 0. Where all that must hold takes much longer than reading, `check_some`
//! looks at a part of it, chosen by the length of the input: fuzzers learn more from many inputs.

pub mod batches;
pub mod decimal;
pub mod formats;
pub mod idx;
pub mod libsvm;
pub mod model;
pub mod number;
pub mod table;

use std::io::Cursor;

use rosenblatt::data::{Classes, Dataset, FeatureNames, Layout, Matrix, Row, Storage, Values};
use rosenblatt::read::{
    Batches, BatchesReport, Format, LabelFound, Preparation, Raw, ReadOptions, Scale, read_from,
};
use rosenblatt::{Error, Result};

/// A chunk that holds all of these bytes.
fn one_chunk(bytes: &[u8]) -> usize {
    bytes.len() + 1
}

/// Values beyond which scaling by column, which makes rows dense, is not tried.
const MOST_DENSE: usize = 1 << 16;

/// Takes choices from the front of an input.
struct Choices<'a> {
    rest: &'a [u8],
}

impl<'a> Choices<'a> {
    /// The next byte's low five bits; 0 past the end.
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        usize::from(first & 31)
    }

    /// One of these.
    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.next() % all.len()].clone()
    }
}

/// One non-zero value: its feature and its bits.
type Value = (usize, u64);

fn values(row: Row<'_>) -> Vec<Value> {
    let mut found = Vec::new();
    row.for_each(|j, x| found.push((j, x.to_bits())));
    found
}

/// An error says something, and not that the program is at fault.
fn check_error(error: &Error) -> String {
    assert!(!error.message().trim().is_empty(), "an empty message");
    let text = error.to_string();
    assert!(!text.contains("fault of the program"), "{text}");
    text
}

fn check_matrix(matrix: &Matrix) {
    let finite = |values: &Values| (0..values.len()).all(|i| values.get(i).is_finite());
    match matrix.storage() {
        Storage::Dense {
            rows,
            columns,
            values,
        } => {
            assert_eq!(rows * columns, values.len());
            assert!(finite(values), "a value is not finite");
        }
        Storage::Sparse {
            columns,
            offsets,
            indices,
            values,
        } => {
            assert_eq!(offsets.first(), Some(&0));
            assert!(offsets.is_sorted());
            assert_eq!(offsets.last(), Some(&indices.len()));
            assert_eq!(indices.len(), values.len());
            assert!(finite(values), "a value is not finite");
            for row in offsets.windows(2) {
                let row = &indices.to_vec()[row[0]..row[1]];
                assert!(row.is_sorted_by(|a, b| a < b), "indices {row:?}");
                assert!(row.last().is_none_or(|&j| (j as usize) < *columns));
            }
        }
    }
}

fn check_dataset(data: &Dataset, raw: &Raw) {
    check_matrix(&data.matrix);
    assert_eq!(data.matrix.rows(), raw.rows());
    assert_eq!(data.labels.len(), raw.rows());
    assert!(
        data.labels
            .iter()
            .all(|&c| (c as usize) < data.classes.len())
    );
    if let Some(weights) = &data.weights {
        assert_eq!(weights.len(), raw.rows());
        assert!(weights.iter().all(|w| w.is_finite() && *w > 0.0));
    }
    if let FeatureNames::Listed(names) = &data.names {
        assert_eq!(names.len(), data.features());
    }
}

/// A file as read, with everything made of it.
struct Found {
    raw: Raw,
    preparation: Preparation,
    data: Dataset,
}

fn prepare(raw: Raw, scale: Option<Scale>) -> Result<Found> {
    let unscaled = Preparation::fit(&raw, None, Some(Scale::None))?;
    let dense = unscaled.features().saturating_mul(raw.rows().max(8));
    let scale = if dense > MOST_DENSE {
        Some(Scale::None)
    } else {
        scale
    };
    let preparation = Preparation::fit(&raw, None, scale)?;
    let data = raw.dataset(&preparation, None, Layout::AsGiven)?;
    check_dataset(&data, &raw);
    Ok(Found {
        raw,
        preparation,
        data,
    })
}

/// How many threads read an input in pieces: two for some, because starting them takes longer
/// than all the rest.
fn threads_for(bytes: &[u8]) -> usize {
    if bytes.len() % 16 == 7 { 2 } else { 1 }
}

/// Reads a file in one piece; `None` if it is refused, in words.
fn read_once(
    bytes: &[u8],
    name: &str,
    options: &ReadOptions,
    scale: Option<Scale>,
) -> Option<Found> {
    match read_in(bytes, name, options, scale, 1, one_chunk(bytes)) {
        Ok(found) => Some(found),
        Err(error) => {
            check_error(&error);
            None
        }
    }
}

fn read_in(
    bytes: &[u8],
    name: &str,
    options: &ReadOptions,
    scale: Option<Scale>,
    threads: usize,
    chunk: usize,
) -> Result<Found> {
    let options = ReadOptions {
        threads,
        chunk_bytes: chunk,
        ..options.clone()
    };
    read_from(Cursor::new(bytes.to_vec()), name, &options).and_then(|raw| prepare(raw, scale))
}

/// Reads a file in one piece on one thread and in pieces, on two threads for some inputs; both must
/// be the same.
fn read_twice(
    bytes: &[u8],
    name: &str,
    options: &ReadOptions,
    scale: Option<Scale>,
    chunk: usize,
) -> Option<Found> {
    let one = read_in(bytes, name, options, scale, 1, one_chunk(bytes));
    let two = read_in(bytes, name, options, scale, threads_for(bytes), chunk);
    match (one, two) {
        (Err(one), Err(two)) => {
            assert_eq!(check_error(&one), check_error(&two));
            None
        }
        (Ok(one), Ok(two)) => {
            let report = |found: &Found| format!("{:?}", found.raw.report());
            assert_eq!(report(&one), report(&two));
            assert_eq!(one.raw.labels(), two.raw.labels());
            assert_eq!(one.raw.classes(), two.raw.classes());
            assert_eq!(one.raw.weights(), two.raw.weights());
            assert_eq!(one.raw.long_decimals(), two.raw.long_decimals());
            assert_eq!(one.preparation, two.preparation);
            assert_eq!(one.data.matrix, two.data.matrix);
            check_scattered(&two);
            Some(one)
        }
        (Err(error), Ok(_)) => panic!("only in one piece: {error}"),
        (Ok(_), Err(error)) => panic!("only in pieces: {error}"),
    }
}

/// Another layout holds the same rows.
fn check_scattered(found: &Found) {
    let scattered = found
        .raw
        .dataset(&found.preparation, None, Layout::Permuted)
        .expect("a layout changes nothing");
    check_dataset(&scattered, &found.raw);
    for number in 0..found.raw.rows() {
        let p = scattered.position(number);
        assert_eq!(values(scattered.row(p)), values(found.data.row(number)));
        assert_eq!(scattered.labels[p], found.data.labels[number]);
    }
}

/// A file in batches, put together again.
struct Whole {
    rows: Vec<Vec<Value>>,
    labels: Option<Vec<LabelFound>>,
    report: BatchesReport,
}

fn in_batches(
    bytes: &[u8],
    name: &str,
    preparation: &Preparation,
    classes: &Classes,
    options: &ReadOptions,
) -> Result<Whole> {
    let reader = Cursor::new(bytes.to_vec());
    let mut batches = Batches::from_reader(reader, name, preparation, classes, options)?;
    let mut rows = Vec::new();
    let mut labels: Option<Vec<LabelFound>> = None;
    for batch in &mut batches {
        let batch = batch?;
        check_matrix(&batch.matrix);
        assert_eq!(batch.first_row, rows.len());
        assert_eq!(batch.matrix.columns(), preparation.features());
        let n = batch.matrix.rows();
        // Batches without a label among ones that have labels.
        if let Some(found) = batch.labels {
            assert_eq!(found.len(), n);
            for label in &found {
                if let LabelFound::Class(class) = label {
                    assert!((*class as usize) < classes.len());
                }
            }
            let absent = || vec![LabelFound::Absent; rows.len()];
            labels.get_or_insert_with(absent).extend(found);
        } else if let Some(labels) = &mut labels {
            labels.resize(rows.len() + n, LabelFound::Absent);
        }
        rows.extend((0..n).map(|i| values(batch.matrix.row(i))));
    }
    assert!(batches.next().is_none(), "a batch behind the end");
    assert_eq!(batches.report().rows, rows.len());
    Ok(Whole {
        rows,
        labels,
        report: batches.report().clone(),
    })
}

/// Batches in one piece and in pieces, on two threads for some inputs, are the same rows.
fn batches_twice(
    bytes: &[u8],
    name: &str,
    preparation: &Preparation,
    classes: &Classes,
    options: &ReadOptions,
    chunk: usize,
) -> Option<Whole> {
    let read = |threads: usize, chunk: usize| {
        let options = ReadOptions {
            threads,
            chunk_bytes: chunk,
            ..options.clone()
        };
        in_batches(bytes, name, preparation, classes, &options)
    };
    match (read(1, one_chunk(bytes)), read(threads_for(bytes), chunk)) {
        (Err(one), Err(two)) => {
            assert_eq!(check_error(&one), check_error(&two));
            None
        }
        (Ok(one), Ok(two)) => {
            assert_eq!(one.rows, two.rows);
            assert_eq!(one.labels, two.labels);
            let (a, b) = (format!("{:?}", one.report), format!("{:?}", two.report));
            assert_eq!(a, b);
            Some(one)
        }
        (Err(error), Ok(_)) => panic!("only in one piece: {error}"),
        (Ok(_), Err(error)) => panic!("only in pieces: {error}"),
    }
}

/// A training file that a model meets again gives the rows it was trained on.
fn check_met_again(bytes: &[u8], name: &str, found: &Found, options: &ReadOptions, chunk: usize) {
    let mut options = options.clone();
    options.header = found.raw.report().header;
    options.format = Some(found.raw.report().format);
    let classes = found.raw.classes();
    let again = batches_twice(bytes, name, &found.preparation, classes, &options, chunk);
    if found.raw.report().skipped > 0 {
        return; // rows without a label were left out in training, but are met again
    }
    let again = again.expect("what was read once can be read again");
    assert_eq!(again.rows.len(), found.raw.rows());
    for (i, row) in again.rows.iter().enumerate() {
        assert_eq!(*row, values(found.data.row(i)), "row {i}");
    }
    let known = |&c: &u32| LabelFound::Class(c);
    let expected: Vec<LabelFound> = found.raw.labels().iter().map(known).collect();
    assert_eq!(again.labels, Some(expected));
}

/// Runs a check on a corpus file by the name of its target.
#[allow(dead_code, reason = "the fuzz targets call the checks by themselves")]
pub fn by_name(target: &str, data: &[u8]) -> bool {
    match target {
        "batches" => batches::check(data),
        "decimal" => decimal::check(data),
        "idx" => idx::check(data),
        "libsvm" => {
            libsvm::check(data);
            libsvm::check_some(data);
        }
        "model" => model::check(data),
        "number" => {
            number::check(data);
            number::check_some(data);
        }
        "jsonl" => formats::check(Some(Format::JsonLines), data),
        "arff" => formats::check(Some(Format::Arff), data),
        "npy" => formats::check(Some(Format::Npy), data),
        "vw" => formats::check(Some(Format::Vw), data),
        "parquet" => formats::check(Some(Format::Parquet), data),
        "arrow" => formats::check(Some(Format::Arrow), data),
        "zip" => formats::check(None, data),
        "table" => table::check(data),
        _ => return false,
    }
    true
}

/// The rows of a data set as texts of labels and values by the number of their feature.
fn numbered(data: &Dataset) -> Vec<(String, Vec<Value>)> {
    let first = match data.names {
        FeatureNames::Numbered { first } => first as usize,
        _ => 0,
    };
    (0..data.len())
        .map(|i| {
            let mut row = values(data.row(i));
            row.iter_mut().for_each(|v| v.0 += first);
            (data.classes.name(data.labels[i]).to_owned(), row)
        })
        .collect()
}
