//! New files as a model reads them, and images.

use rosenblatt_core::model::StoredPreparation;

use super::*;

fn is_stored_whole(preparation: &Preparation) {
    let stored = preparation.to_stored();
    let back = Preparation::from_stored(&stored).unwrap();
    assert_eq!(&back, preparation);
    // Without one of its lists it does not fit together any more.
    for name in stored.strings.keys() {
        let mut without = stored.clone();
        without.strings.remove(name);
        assert!(Preparation::from_stored(&without).is_err());
    }
    for bad in ["", "{}", "{\"input\":\"table\"}", "[1]"] {
        let stored = StoredPreparation {
            json: bad.into(),
            ..StoredPreparation::default()
        };
        assert!(Preparation::from_stored(&stored).is_err());
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
fn numbers_make_the_rows_that_their_text_makes() {
    let table = "a,b,label\n1,0.1,x\n3,-2.5e-3,y\n4,0.7,x\n";
    for precision in [Precision::F32, Precision::F64] {
        let options = ReadOptions {
            precision,
            ..ReadOptions::default()
        };
        let raw = read_from(Cursor::new(table), "t.csv", &options).unwrap();
        for scale in [None, Some(Scale::None), Some(Scale::UnitRows)] {
            let preparation = Preparation::fit(&raw, None, scale).unwrap();
            let reader = ModelReader::new(&preparation, raw.classes(), &options);
            let numbers = |texts: &[&str]| reader.numbers(texts.iter().copied());
            let made = numbers(&["1", "0.1", "-1e-3", "123456.7"]);
            let read = reader.rows(b"1,0.1,\n-1e-3,123456.7,\n").unwrap().matrix;
            assert_eq!(made, (scale != Some(Scale::UnitRows)).then_some(read));
            for odd in [
                ["1", "x"],
                ["1", ""],
                ["inf", "1"],
                ["nan", "1"],
                ["1", "1e400"],
            ] {
                assert_eq!(numbers(&odd), None, "{odd:?}");
            }
            assert_eq!(numbers(&["1", "2", "3"]), None);
            if scale == Some(Scale::None) {
                // Rows of zeros are sparse.
                assert_eq!(numbers(&["0", "0"]), None);
            }
        }
    }
    let mapped = ReadOptions {
        label_map: vec![("no".to_owned(), "x".to_owned())],
        ..ReadOptions::default()
    };
    let against_the_rest = ReadOptions {
        positive: Some("y".to_owned()),
        ..ReadOptions::default()
    };
    for options in [ReadOptions::default(), mapped, against_the_rest] {
        let raw = read_from(Cursor::new(table), "t.csv", &options).unwrap();
        let preparation = Preparation::fit(&raw, None, None).unwrap();
        let reader = ModelReader::new(&preparation, raw.classes(), &options);
        for label in ["x", "y", "no", "other", "1", "NA"] {
            let read = reader
                .rows(format!("1,2,\"{label}\"\n").as_bytes())
                .unwrap();
            assert_eq!(read.labels, Some(vec![reader.label(label)]), "{label}");
        }
    }
    let raw = from_text(MIXED, "t.csv");
    let preparation = Preparation::fit(&raw, None, None).unwrap();
    let reader = ModelReader::new(&preparation, raw.classes(), &ReadOptions::default());
    assert_eq!(reader.numbers(["1", "2", "3", "4"].into_iter()), None);
}

#[test]
fn a_model_reads_new_tables() {
    let raw = from_text(MIXED, "t.csv");
    let preparation = Preparation::fit(&raw, None, None).unwrap();
    is_stored_whole(&preparation);
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
    for scale in [
        None,
        Some(Scale::Standard),
        Some(Scale::UnitRows),
        Some(Scale::Radius),
    ] {
        let preparation = Preparation::fit(&raw, None, scale).unwrap();
        is_stored_whole(&preparation);
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
        if scale == Some(Scale::Radius) {
            // The second row is the longest.
            assert_eq!(preparation.radius(), Some(5.0));
            assert_eq!(
                rows[..2],
                [[0.2f32, 0.0, 0.4], [0.0, 1.0, 0.0]].map(|row| row.map(f64::from))
            );
        }
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
    is_stored_whole(&preparation);
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
        error.contains("2 labels for 3 rows") && error.contains("with labels"),
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
