//! The reading path as a whole: the same numbers by every way.

mod bad_inputs;
mod columns;
mod formats;
mod models;
mod partitions;
mod regressions;
mod simd_levels;

use std::io::Cursor;

use proptest::prelude::*;

use super::source::tests::{Passing, compressions, gzip};
use super::*;
use rosenblatt_core::data::{Classes, Dataset, Layout, Precision};

/// A table with a column of every kind.
const MIXED: &str = "id,age,job,note,class\n\
    1,20,clerk,\"likes tea, and more tea in the morning\",yes\n\
    2,?,smith,likes coffee in the late afternoon,no\n\
    3,40,clerk,\"writes \"\"letters\"\" and reads them aloud\",no\n\
    4,30,NA,likes long walks in the morning,yes\n";

fn from_bytes(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Raw> {
    read_from(Cursor::new(bytes.to_vec()), name, options)
}

fn from_text(text: &str, name: &str) -> Raw {
    from_bytes(text.as_bytes(), name, &ReadOptions::default()).unwrap()
}

/// Every row written out, by file order.
fn rows_of(data: &Dataset) -> Vec<(String, Vec<u64>)> {
    let by_number = (0..data.len()).map(|n| data.position(n));
    by_number
        .map(|p| {
            let row = data.row(p).to_dense(data.features());
            let label = data.classes.name(data.labels[p]).to_owned();
            (label, row.into_iter().map(f64::to_bits).collect())
        })
        .collect()
}

fn prepared(raw: &Raw, scale: Option<Scale>, layout: Layout) -> Dataset {
    let preparation = Preparation::fit(raw, None, scale).unwrap();
    raw.dataset(&preparation, None, layout).unwrap()
}

/// The same numbers as libsvm and as CSV.
fn both_formats(rows: &[(bool, Vec<f64>)]) -> (String, String) {
    let (mut libsvm, mut csv) = (String::new(), String::new());
    for (label, values) in rows {
        libsvm += if *label { "+1" } else { "-1" };
        for (j, x) in values.iter().enumerate() {
            // The last feature is written even if zero: it tells the width.
            if *x != 0.0 || j + 1 == values.len() {
                libsvm += &format!(" {}:{x}", j + 1);
            }
            csv += &format!("{x},");
        }
        libsvm.push('\n');
        csv += if *label { "+1\n" } else { "-1\n" };
    }
    (libsvm, csv)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_same_numbers_by_every_way(
        rows in prop::collection::vec(
            (any::<bool>(), prop::collection::vec(prop_oneof![Just(0.0), -1e3..1e3f64, Just(1.0)], 3)),
            2..60,
        ),
        chunk in 1usize..200,
        precision in prop_oneof![Just(Precision::F32), Just(Precision::F64)],
    ) {
        let (libsvm, csv) = both_formats(&rows);
        let expected: Vec<Vec<u64>> = rows
            .iter()
            .map(|(_, r)| {
                r.iter()
                    .map(|&x| match precision {
                        Precision::F32 => f64::from(x as f32) + 0.0,
                        Precision::F64 => x + 0.0,
                    })
                    .map(f64::to_bits)
                    .collect()
            })
            .collect();
        for (text, format) in [(&libsvm, Format::Libsvm), (&csv, Format::Csv)] {
            for (name, bytes) in compressions(text.as_bytes()) {
                for threads in [1, 2, 7] {
                    let options = ReadOptions {
                        format: Some(format),
                        header: Some(false),
                        threads,
                        precision,
                        chunk_bytes: chunk,
                        ..ReadOptions::default()
                    };
                    let raw = from_bytes(&bytes, name, &options).unwrap();
                    for layout in [Layout::AsGiven, Layout::Permuted] {
                        let data = prepared(&raw, Some(Scale::None), layout);
                        let found = rows_of(&data);
                        prop_assert_eq!(found.len(), rows.len());
                        for (i, (label, row)) in found.into_iter().enumerate() {
                            prop_assert_eq!(&row, &expected[i], "{} {} {}", format, name, threads);
                            prop_assert_eq!(label == "+1", rows[i].0);
                        }
                    }
                }
            }
        }
        // Scaling gives the same bits from sparse and from dense sources.
        for scale in [Scale::Standard, Scale::Minmax, Scale::UnitRows, Scale::Radius] {
            let options = |format| ReadOptions {
                format: Some(format),
                header: Some(false),
                precision,
                ..ReadOptions::default()
            };
            let sparse = from_bytes(libsvm.as_bytes(), "s", &options(Format::Libsvm)).unwrap();
            let dense = from_bytes(csv.as_bytes(), "d", &options(Format::Csv)).unwrap();
            prop_assert_eq!(
                rows_of(&prepared(&sparse, Some(scale), Layout::Permuted)),
                rows_of(&prepared(&dense, Some(scale), Layout::AsGiven))
            );
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in [None, Some(Format::Libsvm), Some(Format::Csv), Some(Format::Tsv), Some(Format::Idx)] {
            for on_error in [OnError::Fail, OnError::Skip] {
                let options = ReadOptions { format, on_error, chunk_bytes: 7, ..ReadOptions::default() };
                if let Ok(raw) = from_bytes(&bytes, "x", &options) {
                    prepared(&raw, None, Layout::Permuted);
                }
            }
        }
    }

    #[test]
    fn a_file_is_read_as_its_bytes_are(text in "[a-c0-9,;\"\t \n\r.?#:-]{0,80}", times in 1usize..12) {
        let text = text.repeat(times);
        let file = Passing::new(text.as_bytes());
        for format in [Format::Libsvm, Format::Csv, Format::Tsv] {
            for (chunk_bytes, threads, mapped) in [(1, 1, true), (9, 2, true), (60, 3, true), (60, 2, false)] {
                let options = ReadOptions {
                    format: Some(format),
                    threads,
                    chunk_bytes,
                    mapped,
                    ..ReadOptions::default()
                };
                let told = |raw: Result<Raw>| match raw {
                    Ok(raw) => format!("{:?}", rows_of(&prepared(&raw, None, Layout::AsGiven))),
                    Err(e) => e.to_string(),
                };
                let name = file.0.to_str().unwrap();
                prop_assert_eq!(told(read(&file.0, &options)), told(from_bytes(text.as_bytes(), name, &options)));
            }
        }
    }

    #[test]
    fn any_table_text_is_read_or_refused(text in "[a-c0-9,;\"\t \n\r.?#:-]{0,80}") {
        for threads in [1, 3] {
            for format in [None, Some(Format::Libsvm), Some(Format::Csv), Some(Format::Tsv)] {
                let mut results = Vec::new();
                for chunk_bytes in [1, 5, 1 << 20] {
                    let options = ReadOptions { format, threads, chunk_bytes, ..ReadOptions::default() };
                    results.push(match from_bytes(text.as_bytes(), "x", &options) {
                        Ok(raw) => format!("{:?}", rows_of(&prepared(&raw, None, Layout::AsGiven))),
                        Err(e) => e.to_string(),
                    });
                }
                prop_assert!(results.iter().all(|r| *r == results[0]), "{:?}", results);
            }
        }
    }
}
