//! The reading path as a whole: the same numbers by every way, and a table of bad inputs.

use std::io::Cursor;

use proptest::prelude::*;

use super::source::tests::{compressions, gzip};
use super::*;
use crate::data::{Classes, Dataset, Layout, Matrix};

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
                    for layout in [Layout::AsGiven, Layout::Scattered] {
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
        for scale in [Scale::Standard, Scale::Minmax, Scale::UnitRows] {
            let options = |format| ReadOptions {
                format: Some(format),
                header: Some(false),
                precision,
                ..ReadOptions::default()
            };
            let sparse = from_bytes(libsvm.as_bytes(), "s", &options(Format::Libsvm)).unwrap();
            let dense = from_bytes(csv.as_bytes(), "d", &options(Format::Csv)).unwrap();
            prop_assert_eq!(
                rows_of(&prepared(&sparse, Some(scale), Layout::Scattered)),
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
                    prepared(&raw, None, Layout::Scattered);
                }
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

const MIXED: &str = "id,age,job,note,class\n\
    1,20,clerk,\"likes tea, and more tea in the morning\",yes\n\
    2,?,smith,likes coffee in the late afternoon,no\n\
    3,40,clerk,\"writes \"\"letters\"\" and reads them aloud\",no\n\
    4,30,NA,likes long walks in the morning,yes\n";

fn listed(data: &Dataset) -> Vec<String> {
    (0..data.features())
        .map(|j| data.names.get(j).into_owned())
        .collect()
}

#[test]
fn columns_become_features() {
    let raw = from_text(MIXED, "t.csv");
    let kinds: Vec<ColumnRole> = raw.report().columns.iter().map(|c| c.role).collect();
    use ColumnRole::{Category, Label, Numeric, Text};
    assert_eq!(kinds, [Numeric, Numeric, Category, Text, Label]);
    let data = prepared(&raw, None, Layout::AsGiven);
    let names = listed(&data);
    assert_eq!(
        names[..6],
        ["id", "age", "age=?", "job=?", "job=clerk", "job=smith"]
    );
    assert_eq!(
        names[6..11],
        ["note:likes", "note:tea", "note:and", "note:more", "note:in"]
    );
    let row = data.row(0).to_dense(data.features());
    // Mean 30, population deviation √(200/3) over the three ages there are.
    assert_eq!(row[1], f64::from((-10.0 / (200.0f64 / 3.0).sqrt()) as f32));
    // likes, and, more, in, the, morning once, tea twice.
    assert_eq!(row[7], f64::from((2.0 / 10f64.sqrt()) as f32));
    let row = data.row(1).to_dense(data.features());
    assert_eq!((row[1], row[2], row[5]), (0.0, 1.0, 1.0));
    assert_eq!(data.row(3).to_dense(data.features())[3], 1.0);
    assert_eq!(data.classes.names(), ["no", "yes"]);
    let raw_counts = prepared(&raw, Some(Scale::None), Layout::AsGiven);
    assert_eq!(raw_counts.row(0).to_dense(data.features())[7], 2.0);
}

#[test]
fn held_out_rows_decide_nothing() {
    let raw = from_text(MIXED, "t.csv");
    let training = [0, 2];
    let preparation = Preparation::fit(&raw, Some(&training), None).unwrap();
    let data = raw
        .dataset(&preparation, Some(&[1, 3]), Layout::AsGiven)
        .unwrap();
    let names = listed(&data);
    assert!(names.contains(&"job=clerk".into()) && !names.contains(&"job=smith".into()));
    assert!(!names.contains(&"age=?".into()) && !names.contains(&"note:coffee".into()));
    // "likes", "in" and "the" are known (and "morning" in the last row): unit length among these.
    let likes = names.iter().position(|n| n == "note:likes").unwrap();
    assert_eq!(
        data.row(0).to_dense(names.len())[likes],
        f64::from((1.0 / 3f64.sqrt()) as f32)
    );
    assert_eq!(data.row(1).to_dense(names.len())[likes], 0.5);
    // The same from a file that holds the training rows alone.
    let alone: String = MIXED
        .split_inclusive('\n')
        .enumerate()
        .filter(|(i, _)| [0, 1, 3].contains(i))
        .map(|(_, l)| l)
        .collect();
    let alone = from_text(&alone, "t.csv");
    assert_eq!(Preparation::fit(&alone, None, None).unwrap(), preparation);
}

#[test]
fn kinds_are_decided_on_the_whole_file() {
    // The sample says numeric; a late cell says otherwise.
    let mut text = String::from("a,b,class\n");
    for i in 0..60_000 {
        text += &format!("{},{},{}\n", i % 7, i % 5, i % 2);
    }
    let numeric = from_text(&text, "t.csv");
    assert_eq!(numeric.report().columns[0].role, ColumnRole::Numeric);
    text += "x,1,0\n";
    for threads in [1, 2] {
        let options = ReadOptions {
            threads,
            chunk_bytes: 10_000,
            ..ReadOptions::default()
        };
        let raw = from_bytes(&gzip(text.as_bytes()), "t.csv", &options).unwrap();
        assert_eq!(raw.report().columns[0].role, ColumnRole::Category);
        assert_eq!(raw.report().columns[0].levels, Some(8));
        assert_eq!(raw.report().columns[1].role, ColumnRole::Numeric);
    }
    // Texts that repeat all through the file are a category after all.
    let mut text = String::from("t,class\n");
    for i in 0..4000 {
        text += &format!(
            "this is sentence number {} of a long list,{}\n",
            i / 2 % 900,
            i % 2
        );
    }
    assert_eq!(
        from_text(&text, "t.csv").report().columns[0].role,
        ColumnRole::Category
    );
}

#[test]
fn odd_columns_are_said() {
    let mut text = String::from(",id,leak,empty,x,class\n");
    for i in 0..60 {
        text += &format!(
            "{i},{},{},,{},{}\n",
            1000 + 7 * i,
            ["u", "v", "w"][i % 3],
            i * i % 17,
            if i % 3 == 0 { "a" } else { "b" }
        );
    }
    let raw = from_text(&text, "t.csv");
    let report = raw.report();
    assert_eq!(report.columns[0].role, ColumnRole::Ignore);
    assert_eq!(report.columns[3].role, ColumnRole::Ignore);
    assert!(
        report.columns[1]
            .warning
            .as_ref()
            .unwrap()
            .contains("identifier")
    );
    assert!(
        report.columns[2]
            .warning
            .as_ref()
            .unwrap()
            .contains("label away")
    );
    assert!(
        report.columns[4].warning.is_none(),
        "{:?}",
        report.columns[4].warning
    );
    assert_eq!((report.notes.len(), report.warnings.len()), (2, 2));
    assert!(
        serde_json::to_string(report)
            .unwrap()
            .contains("\"role\":\"ignore\"")
    );
    let data = prepared(&raw, None, Layout::AsGiven);
    assert_eq!(listed(&data), ["id", "leak=u", "leak=v", "leak=w", "x"]);
}

#[test]
fn options_override_decisions() {
    let text = "a;b;w;k\n1;5;2;x\n2;6;0.5;y\n3;?;1;z\n";
    let options = ReadOptions {
        columns: vec![("a".into(), ColumnKind::Category)],
        ignore: vec!["1".into()],
        weight_column: Some("w".into()),
        label_map: vec![("z".into(), "y".into())],
        positive: Some("x".into()),
        ..ReadOptions::default()
    };
    let raw = from_bytes(text.as_bytes(), "t.csv", &options).unwrap();
    let data = prepared(&raw, None, Layout::AsGiven);
    assert_eq!(listed(&data), ["a=1", "a=2", "a=3"]);
    assert_eq!(data.weights, Some(vec![2.0, 0.5, 1.0]));
    assert_eq!(data.classes.names(), ["rest", "x"]);
    assert_eq!(data.labels, [1, 0, 0]);
}

fn parts_round_trip(preparation: &Preparation) {
    let parts = preparation.to_parts();
    let back = Preparation::from_parts(
        &parts.json,
        |n| parts.texts.iter().find(|t| t.0 == n).map(|t| t.1.clone()),
        |n| parts.numbers.iter().find(|t| t.0 == n).map(|t| t.1.clone()),
    )
    .unwrap();
    assert_eq!(&back, preparation);
    // Without one of its lists it does not fit together any more.
    for (missing, _) in &parts.texts {
        let texts = |n: &str| {
            parts
                .texts
                .iter()
                .find(|t| t.0 == n && n != *missing)
                .map(|t| t.1.clone())
        };
        let numbers = |n: &str| parts.numbers.iter().find(|t| t.0 == n).map(|t| t.1.clone());
        assert!(Preparation::from_parts(&parts.json, texts, numbers).is_err());
    }
    for bad in ["", "{}", "{\"input\":\"table\"}", "[1]"] {
        assert!(Preparation::from_parts(bad, |_| None, |_| None).is_err());
    }
}

fn batches(
    text: &str,
    preparation: &Preparation,
    classes: &Classes,
    options: &ReadOptions,
) -> Result<(Vec<Vec<f64>>, Vec<LabelFound>, BatchesReport)> {
    let reader = Cursor::new(text.as_bytes().to_vec());
    let mut batches = Batches::from_reader(reader, "p", preparation, classes, options)?;
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for batch in batches.by_ref() {
        let batch = batch?;
        assert_eq!(batch.first_row, rows.len());
        for i in 0..batch.matrix.rows() {
            rows.push(batch.matrix.row(i).to_dense(preparation.features()));
        }
        labels.extend(batch.labels.unwrap_or_default());
    }
    Ok((rows, labels, batches.report().clone()))
}

#[test]
fn a_model_reads_new_tables() {
    let raw = from_text(MIXED, "t.csv");
    let preparation = Preparation::fit(&raw, None, None).unwrap();
    parts_round_trip(&preparation);
    let data = raw.dataset(&preparation, None, Layout::AsGiven).unwrap();
    let expected: Vec<Vec<f64>> = (0..4)
        .map(|i| data.row(i).to_dense(data.features()))
        .collect();
    for (threads, chunk_bytes) in [(1, 1), (2, 40), (3, 1 << 20)] {
        let options = ReadOptions {
            threads,
            chunk_bytes,
            ..ReadOptions::default()
        };
        let read = |text: &str| batches(text, &preparation, raw.classes(), &options);
        let (rows, labels, report) = read(MIXED).unwrap();
        assert_eq!(rows, expected);
        assert_eq!(labels[0], LabelFound::Class(1));
        assert_eq!(report.unseen, Unseen::default());
        // Other order, another column, no label, unseen values.
        let text = "job,extra,note,age,id\nclerk,1,likes tea,20,1\npilot,2,zzz,30,2\n";
        let (rows, labels, report) = read(text).unwrap();
        assert_eq!(rows[0][..6], expected[0][..6]);
        assert_eq!(rows[1][3..], vec![0.0; rows[1].len() - 3]);
        assert!(labels.is_empty());
        assert_eq!((report.unseen.levels, report.unseen.words), (1, 1));
        assert!(report.notes[0].contains("extra"));
        // Without a header, and without the label.
        let text = "1,20,clerk,likes tea\n2,30,smith,x\n";
        assert_eq!(read(text).unwrap().0[0][..6], expected[0][..6]);
        let error = read("id,age,job\n1,2,clerk\n").unwrap_err().to_string();
        assert!(error.contains("no column note"), "{error}");
        let error = read("1,2,clerk\n").unwrap_err().to_string();
        assert!(
            error.contains("needs 5 columns, or 4 without the label; this file has 3"),
            "{error}"
        );
        let error = read("id,age,job,note\n1,old,clerk,x\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("p:2:3: expected a number in the column age, found \"old\""),
            "{error}"
        );
        let (_, labels, _) = read("1,20,clerk,likes tea,maybe\n").unwrap();
        assert_eq!(labels, [LabelFound::Unknown("maybe".into())]);
    }
}

#[test]
fn a_model_reads_new_sparse_files() {
    let raw = from_text("+1 1:1 3:2\n-1 2:5\n", "t.svm");
    for scale in [None, Some(Scale::Standard), Some(Scale::UnitRows)] {
        let preparation = Preparation::fit(&raw, None, scale).unwrap();
        parts_round_trip(&preparation);
        let options = ReadOptions {
            chunk_bytes: 8,
            ..ReadOptions::default()
        };
        let read = |text: &str| batches(text, &preparation, raw.classes(), &options);
        let (rows, labels, report) = read("1 1:1 3:2 9:9\n2:5 # none\n\n7 1:1\n").unwrap();
        let data = raw.dataset(&preparation, None, Layout::AsGiven).unwrap();
        if scale != Some(Scale::UnitRows) {
            assert_eq!(rows[0], data.row(0).to_dense(3));
        }
        assert_eq!(rows[1], data.row(1).to_dense(3));
        assert_eq!(report.unseen.features, 1);
        assert_eq!(labels[0], LabelFound::Class(1));
        assert_eq!(*labels.last().unwrap(), LabelFound::Unknown("7".into()));
        let error = read("1 1:1\n1 0:1\n").unwrap_err().to_string();
        assert!(error.starts_with("p:2:3: found the index 0"), "{error}");
    }
    let from_zero = from_text("a 0:1\nb 2:1\n", "t.svm");
    assert_eq!(
        Preparation::fit(&from_zero, None, None).unwrap().features(),
        3
    );
}

#[test]
fn images_are_read_with_their_labels() {
    let folder = std::env::temp_dir().join(format!("rosenblatt-idx-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let images = folder.join("few-images-idx3-ubyte.gz");
    let pixels: Vec<u8> = (0..12)
        .map(|i| if i % 4 == 0 { 0 } else { i * 20 })
        .collect();
    std::fs::write(&images, gzip(&idx::tests::file(8, &[3, 2, 2], &pixels))).unwrap();
    let labels = folder.join("few-labels-idx1-ubyte.gz");
    std::fs::write(&labels, idx::tests::file(8, &[3], &[7, 3, 7])).unwrap();
    let raw = read(&images, &ReadOptions::default()).unwrap();
    let preparation = Preparation::fit(&raw, None, None).unwrap();
    parts_round_trip(&preparation);
    let data = raw.dataset(&preparation, None, Layout::AsGiven).unwrap();
    assert_eq!(data.classes.names(), ["3", "7"]);
    assert_eq!(data.labels, [1, 0, 1]);
    assert_eq!(data.row(1).to_dense(4), [0.0, 100.0, 120.0, 140.0]);
    assert_eq!(data.names.get(3), "pixel 1,1");
    let mut found = Batches::open(
        &images,
        &preparation,
        raw.classes(),
        &ReadOptions::default(),
    )
    .unwrap();
    let batch = found.next().unwrap().unwrap();
    assert_eq!(batch.matrix.row(1).to_dense(4), data.row(1).to_dense(4));
    assert_eq!(batch.labels.unwrap()[1], LabelFound::Class(0));
    assert!(found.next().is_none());
    std::fs::write(&labels, idx::tests::file(8, &[2], &[7, 3])).unwrap();
    let error = read(&images, &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("2 labels for 3 rows") && error.contains("--labels"),
        "{error}"
    );
    std::fs::remove_file(&labels).unwrap();
    assert!(read(&images, &ReadOptions::default()).is_err());
    assert!(
        Batches::open(
            &images,
            &preparation,
            raw.classes(),
            &ReadOptions::default()
        )
        .is_ok()
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn bad_rows_can_be_skipped() {
    let options = ReadOptions {
        on_error: OnError::Skip,
        chunk_bytes: 5,
        ..ReadOptions::default()
    };
    let text = "a,b,class\n1,2,x\n1,2\n3,4,y\n\"5\"q,6,x\n7,8,\n9,10,y\n";
    let raw = from_bytes(text.as_bytes(), "t.csv", &options).unwrap();
    assert_eq!((raw.rows(), raw.report().skipped), (3, 3));
    assert!(
        raw.report().skipped_messages[1].starts_with("t.csv:5:4: there is text behind"),
        "{:?}",
        raw.report()
    );
    let data = prepared(&raw, Some(Scale::None), Layout::AsGiven);
    assert_eq!(data.row(2).to_dense(2), [9.0, 10.0]);
}

#[test]
fn long_decimals_are_kept_when_asked() {
    let options = ReadOptions {
        keep_long_decimals: true,
        precision: Precision::F64,
        chunk_bytes: 4,
        ..ReadOptions::default()
    };
    let raw = from_bytes(b"1 1:0.5\n2 3:0.1234567890123456789\n", "t.svm", &options).unwrap();
    let long = &raw.long_decimals()[0];
    assert_eq!(
        (long.row, long.column, long.text.as_str()),
        (1, 3, "0.1234567890123456789")
    );
    let raw = from_bytes(b"x,class\n0.5,a\n\"1e300\",b\n", "t.csv", &options).unwrap();
    let long = &raw.long_decimals()[0];
    assert_eq!((long.row, long.column, long.text.as_str()), (1, 0, "1e300"));
    let preparation = Preparation::fit(&raw, None, None).unwrap();
    assert_eq!(preparation.feature_of(long.column), Some(0));
}

#[test]
fn storage_follows_density() {
    let dense = prepared(
        &from_text("a,b,class\n1,2,x\n3,4,y\n", "t.csv"),
        None,
        Layout::AsGiven,
    );
    assert!(matches!(dense.matrix, Matrix::Dense { .. }));
    let mut text = String::from("a,class\n");
    (0..40).for_each(|i| text += &format!("v{},{}\n", i % 10, i % 2));
    let sparse = prepared(&from_text(&text, "t.csv"), None, Layout::AsGiven);
    assert!(matches!(sparse.matrix, Matrix::Sparse { .. }));
}

/// Name, content, what is asked, and what the message must start with and contain.
#[test]
fn bad_inputs_are_named_with_place_and_remedy() {
    let none = ReadOptions::default;
    let set = |change: fn(&mut ReadOptions)| {
        let mut options = ReadOptions::default();
        change(&mut options);
        options
    };
    let cases: Vec<(&str, &[u8], ReadOptions, &str, &str)> = vec![
        ("a.svm", b"", none(), "a.svm: the file is empty", ""),
        (
            "a.svm",
            b"\n# only\n",
            none(),
            "a.svm: the file holds no rows",
            "",
        ),
        (
            "a.csv",
            b"\n\n",
            none(),
            "a.csv: the file holds no rows",
            "",
        ),
        (
            "a.csv",
            b"a,class\n",
            set(|o| o.header = Some(true)),
            "a.csv:1:1: the file holds a header but no rows",
            "--header no",
        ),
        (
            "a.svm",
            b"1 1:1\n1 1:1 x\n",
            none(),
            "a.svm:2:7: expected index:value, found \"x\"",
            "--format",
        ),
        (
            "a.svm",
            b"1 1:1\n1 2:\n",
            none(),
            "a.svm:2:5: expected a number for feature 2",
            "",
        ),
        (
            "a.svm",
            b"1 2:1.5x\n",
            none(),
            "a.svm:1:5: expected a number for feature 2, found \"1.5x\"",
            "",
        ),
        (
            "a.svm",
            b"1 2:nan\n",
            none(),
            "a.svm:1:5: expected a number",
            "",
        ),
        (
            "a.svm",
            b"1 2:inf\n",
            none(),
            "a.svm:1:5: expected a number",
            "",
        ),
        (
            "a.svm",
            b"1 2:0x10\n",
            none(),
            "a.svm:1:5: expected a number",
            "",
        ),
        (
            "a.svm",
            b"1 -2:1\n",
            none(),
            "a.svm:1:3: expected index:value, found \"-2:1\"",
            "whole numbers",
        ),
        (
            "a.svm",
            b"1 a:1\n",
            none(),
            "a.svm:1:3: expected index:value",
            "",
        ),
        (
            "a.svm",
            b"1 :1\n",
            none(),
            "a.svm:1:3: expected index:value",
            "",
        ),
        (
            "a.svm",
            b"1 4294967295:1\n",
            none(),
            "a.svm:1:3: the index \"4294967295\" is too large",
            "",
        ),
        (
            "a.svm",
            b"1 99999999999999999999:1\n",
            none(),
            "a.svm:1:3: the index",
            "too large",
        ),
        (
            "a.svm",
            b"1 2:1e39\n",
            none(),
            "a.svm:1:5: 1e39 is too large for f32",
            "--precision f64",
        ),
        (
            "a.svm",
            b"1 2:1e999\n",
            set(|o| o.precision = Precision::F64),
            "a.svm:1:5: 1e999 is too large for f64",
            "",
        ),
        (
            "a.svm",
            b"1 2:1 2:3\n",
            none(),
            "a.svm:1:7: the index 2 comes twice",
            "",
        ),
        (
            "a.svm",
            b"1 3:1 2:1 3:0\n",
            none(),
            "a.svm:1:11: the index 3 comes twice",
            "",
        ),
        (
            "a.svm",
            b"1 1:1\n2:1\n",
            none(),
            "a.svm:2:1: expected a label",
            "",
        ),
        (
            "a.svm",
            b"1 1:1\n\xFFx 1:1\n",
            none(),
            "a.svm:2:1: this is not UTF-8",
            "iconv",
        ),
        (
            "a.svm",
            b"1 1:1\n1 1:2\0\n",
            none(),
            "a.svm:2:6: there is a zero byte",
            "UTF-16",
        ),
        (
            "a.svm",
            b"\xFF\xFE1\x00 \x00",
            none(),
            "a.svm:1:1: this is UTF-16 text",
            "iconv",
        ),
        (
            "a.csv",
            b"a,b\n1,2\n3\n4,5\n6,7\n",
            none(),
            "a.csv:3:1: expected 2 cells, found 1",
            "delimiter",
        ),
        (
            "a.csv",
            b"1,2\n3,4\n5,6,7\n8,9\n",
            none(),
            "a.csv:3:5: expected 2 cells, found 3",
            "",
        ),
        (
            "a.csv",
            b"preamble\n1,2\n3,4\n",
            none(),
            "a.csv:1:1: expected 2 cells, found 1",
            "--header yes",
        ),
        (
            "a.csv",
            b"a,b\n1,\"x\n2,y\n",
            none(),
            "a.csv:2:3: the quote that opens here is never closed",
            "tsv",
        ),
        (
            "a.csv",
            b"a,b\n1,\"x\"y\n",
            none(),
            "a.csv:2:6: there is text behind the closing quote",
            "twice",
        ),
        (
            "a.csv",
            b"a,b\nx,1\n\xE9,2\n",
            none(),
            "a.csv:3:1: this is not UTF-8",
            "iconv",
        ),
        (
            "a.csv",
            b"a,b\nx,1\ny\x00,2\n",
            none(),
            "a.csv:3:2: there is a zero byte",
            "",
        ),
        (
            "a.csv",
            b"\xFE\xFF\0a\0,",
            none(),
            "a.csv:1:1: this is UTF-16 text",
            "",
        ),
        (
            "a.csv",
            b"a,b\r1,2\r3,4\r",
            none(),
            "a.csv:1:1: lines end with a carriage return",
            "tr",
        ),
        (
            "a.csv",
            b"a,class\n1,x\n2,\n",
            none(),
            "a.csv:3:3: this row has no label in the column class",
            "--label",
        ),
        (
            "a.csv",
            b"a,class\n1e99,x\n2,y\n",
            none(),
            "a.csv:2:1: 1e99 is too large for f32",
            "f64",
        ),
        (
            "a.csv",
            b"a,class\nx,x\n2,y\n",
            set(|o| o.columns = vec![("a".into(), ColumnKind::Numeric)]),
            "a.csv:2:1: expected a number in the column a, found \"x\"",
            "skip",
        ),
        (
            "a.csv",
            b"a,class\n1,x\n",
            set(|o| o.label = Some("clas".into())),
            "a.csv: --label clas: there is no such column",
            "class",
        ),
        (
            "a.csv",
            b"a,class\n1,x\n",
            set(|o| o.ignore = vec!["zz".into()]),
            "a.csv: --ignore zz",
            "nearest",
        ),
        (
            "a.csv",
            b"a,class\n1,x\n",
            set(|o| o.columns = vec![("9".into(), ColumnKind::Text)]),
            "a.csv: --column 9",
            "nearest",
        ),
        (
            "a.csv",
            b"a,class\n1,x\n",
            set(|o| o.weight_column = Some("w".into())),
            "a.csv: --weight-column w",
            "nearest",
        ),
        (
            "a.csv",
            b"w,class\n-1,x\n",
            set(|o| o.weight_column = Some("w".into())),
            "a.csv:2:1: the weight \"-1\" is not a positive number",
            "",
        ),
        (
            "a.csv",
            b"w,class\n1,x\n",
            set(|o| o.weight_column = Some("class".into())),
            "a.csv: the column class is both",
            "",
        ),
        (
            "a.csv",
            b"a,class\n1,x\n2,y\n",
            set(|o| o.positive = Some("z".into())),
            "a.csv: --positive z",
            "x, y",
        ),
        (
            "a",
            b"1\n2\n3\n",
            none(),
            "a: cannot tell the format",
            "--format",
        ),
        (
            "a",
            b"\x93NUMPY\x01\x00",
            none(),
            "a: the format npy is not supported yet",
            "CSV",
        ),
        (
            "a.parquet",
            b"PAR1",
            none(),
            "a.parquet: the format parquet is not supported yet",
            "",
        ),
        (
            "a.arff",
            b"@relation x\n",
            none(),
            "a.arff: the format arff is not supported yet",
            "",
        ),
        ("a.rbc", b"....", none(), "a.rbc: the cache format", ""),
        (
            "a.idx",
            b"hello there",
            none(),
            "a.idx: this is not an IDX file",
            "--format",
        ),
        (
            "a.idx",
            b"\0\0\x08\x01\0\0\0\x02\x01\x02",
            none(),
            "a.idx: where are the labels",
            "--labels",
        ),
    ];
    assert!(cases.len() >= 45);
    for (name, content, options, start, part) in cases {
        for chunk_bytes in [3, 1 << 20] {
            for threads in [1, 2] {
                let options = ReadOptions {
                    chunk_bytes,
                    threads,
                    ..options.clone()
                };
                let message = match from_bytes(content, name, &options) {
                    Ok(raw) => panic!(
                        "{name} {:?} was read: {raw:?}",
                        String::from_utf8_lossy(content)
                    ),
                    Err(e) => {
                        assert!(e.advice().is_some(), "{e} has no remedy");
                        e.to_string()
                    }
                };
                assert!(message.starts_with(start), "{message}\nexpected {start}");
                assert!(message.contains(part), "{message}\nexpected {part}");
            }
        }
    }
    let mut measured = String::from("a,b\n");
    (0..60).for_each(|i| measured += &format!("{i},{}\n", i * 7));
    let error = from_bytes(measured.as_bytes(), "m.csv", &none())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("looks like a measurement") && error.contains("--label"),
        "{error}"
    );
}

#[test]
fn missing_is_missing_as_bytes_and_as_text() {
    for text in Preparation::MISSING
        .iter()
        .chain(&["na", "N/A", "0", "none", " "])
    {
        assert_eq!(
            super::delimited::is_missing(text.as_bytes()),
            Preparation::is_missing(text),
            "{text:?}"
        );
    }
}
