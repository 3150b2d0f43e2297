//! Inputs that once got past the readers: each is refused, or read the same by every way.

use super::*;
use crate::read::dispatch::tests::at_every_level;
use crate::write::{TextFormat, write};
use rosenblatt_core::data::{Classes, Layout, Precision};
use rosenblatt_core::model::StoredPreparation;

fn from_bytes(bytes: &[u8], options: &ReadOptions) -> Result<Raw> {
    read_from(Cursor::new(bytes.to_vec()), "f", options)
}

fn of(format: Format) -> ReadOptions {
    ReadOptions {
        format: Some(format),
        threads: 1,
        ..ReadOptions::default()
    }
}

fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

/// The values of every row of a file that a model meets.
fn met(bytes: &[u8], preparation: &Preparation, classes: &Classes) -> Result<Vec<Vec<f64>>> {
    let reader = Cursor::new(bytes.to_vec());
    let options = ReadOptions::default();
    let mut rows = Vec::new();
    for batch in Batches::from_reader(reader, "f", preparation, classes, &options)? {
        let batch = batch?;
        let n = batch.matrix.rows();
        rows.extend((0..n).map(|i| batch.matrix.row(i).to_dense(preparation.features())));
    }
    Ok(rows)
}

fn images(precision: &str, scale: &str) -> Preparation {
    let json = format!(
        "{{\"input\":\"images\",\"scale\":\"{scale}\",\"precision\":\"{precision}\",\
         \"labels\":{{\"map\":[],\"positive\":null}},\"width\":1}}"
    );
    let mut stored = StoredPreparation {
        json,
        ..StoredPreparation::default()
    };
    if scale != "none" {
        stored.numbers.insert("centre".into(), vec![0.0]);
        stored.numbers.insert("scale".into(), vec![1e-300]);
    }
    Preparation::from_stored(&stored).unwrap()
}

#[test]
fn doubles_that_the_storage_cannot_hold_are_refused() {
    let classes = Classes::from_labels(["0", "1"]);
    let file = idx::tests::file(0x0E, &[1, 1], &1e300f64.to_be_bytes());
    let error = message(met(&file, &images("f32", "none"), &classes));
    assert!(error.contains("precision = f64"), "{error}");
    assert!(met(&file, &images("f64", "none"), &classes).is_ok());
    let error = message(met(&file, &images("f64", "standard"), &classes));
    assert!(error.contains("once scaled"), "{error}");
}

#[test]
fn columns_too_far_apart_to_scale_are_refused() {
    let double = ReadOptions {
        precision: Precision::F64,
        ..of(Format::Csv)
    };
    // The sum overflows but the mean does not.
    let raw = from_bytes(b"1.7e308,a\n1.6e308,b\n1.7e308,a\n", &double).unwrap();
    let fitted = Preparation::fit(&raw, None, Some(Scale::Minmax)).unwrap();
    let data = raw.dataset(&fitted, None, Layout::AsGiven).unwrap();
    assert_eq!(data.row(0).to_dense(1), [1.0]);
    for scale in [Scale::Standard, Scale::Minmax] {
        let raw = from_bytes(b"1.7e308,a\n-1.7e308,b\n", &double).unwrap();
        let error = message(Preparation::fit(&raw, None, Some(scale)));
        assert!(error.contains("too far apart, to be scaled"), "{error}");
        let sparse = ReadOptions {
            precision: Precision::F64,
            ..of(Format::Libsvm)
        };
        let raw = from_bytes(b"1 1:1.7e308\n2 1:-1.7e308\n", &sparse).unwrap();
        let error = message(Preparation::fit(&raw, None, Some(scale)));
        assert!(error.contains("too far apart, to be scaled"), "{error}");
    }
}

#[test]
fn values_that_overflow_once_scaled_are_refused() {
    let raw = from_bytes(b"1e-30,a\n2e-30,b\n", &of(Format::Csv)).unwrap();
    let fitted = Preparation::fit(&raw, None, None).unwrap();
    let error = message(met(b"0,a\n3e38,b\n", &fitted, raw.classes()));
    assert!(
        error.contains("row 2") && error.contains("once scaled"),
        "{error}"
    );
    // The same among rows that were not trained on.
    let raw = from_bytes(b"1e-30,a\n2e-30,b\n3e38,a\n", &of(Format::Csv)).unwrap();
    let fitted = Preparation::fit(&raw, Some(&[0, 1]), None).unwrap();
    let error = message(raw.dataset(&fitted, None, Layout::Permuted));
    assert!(
        error.contains("row 3") && error.contains("once scaled"),
        "{error}"
    );
    let raw = from_bytes(b"1 1:1e-30\n2 1:2e-30\n", &of(Format::Libsvm)).unwrap();
    let fitted = Preparation::fit(&raw, None, Some(Scale::Minmax)).unwrap();
    // It comes before a fault further down.
    let error = message(met(b"1 1:3e38\n1 1:x\n", &fitted, raw.classes()));
    assert!(error.contains("once scaled"), "{error}");
}

#[test]
fn scaling_a_wide_sparse_row_is_refused_before_memory_is_taken() {
    let raw = from_bytes(b"1 1000000000:1\n", &of(Format::Libsvm)).unwrap();
    let error = message(Preparation::fit(&raw, None, Some(Scale::Standard)));
    assert!(error.contains("scale = unit-rows"), "{error}");
}

#[test]
fn many_columns_of_one_name_take_no_time() {
    let columns = 60_000;
    let header = vec!["a"; columns].join(",");
    let row = vec!["1"; columns].join(",");
    let text = format!("{header}\n{row}\n{row}\n");
    let options = ReadOptions {
        header: Some(true),
        ..of(Format::Csv)
    };
    let raw = from_bytes(text.as_bytes(), &options).unwrap();
    assert_eq!(raw.report().columns[59_999].name, "a.60000");
    let text = "a.2,a,a,a,,0\n1,2,3,4,5,x\n";
    let raw = from_bytes(text.as_bytes(), &options).unwrap();
    let names: Vec<&str> = (raw.report().columns.iter())
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(names, ["a.2", "a", "a.3", "a.4", "4", "0"]);
}

#[test]
fn a_file_may_lack_a_column_that_makes_no_features() {
    let mut options = of(Format::Csv);
    options.columns = ["b", "c"].map(|n| (n.to_owned(), ColumnKind::Text)).into();
    let text = b"a,b,c,label\nx,up,..,1\ny,down,!!,2\nx,up,??,1\n";
    let raw = from_bytes(text, &options).unwrap();
    let fitted = Preparation::fit(&raw, None, None).unwrap();
    let data = raw.dataset(&fitted, None, Layout::AsGiven).unwrap();
    let rows = met(b"a,b,label\ny,down,2\nx,up,1\n", &fitted, raw.classes()).unwrap();
    assert_eq!(rows[0], data.row(1).to_dense(4));
    assert_eq!(rows[1], data.row(0).to_dense(4));
}

#[test]
fn only_blanks_and_delimiters_end_a_number() {
    let mut options = of(Format::Csv);
    options.delimiter = Some(Delimiter::Blanks);
    options.columns = vec![("0".into(), ColumnKind::Numeric)];
    options.header = Some(false);
    let error = message(from_bytes(b"1 a\n1\xFFa\n2 b\n", &options));
    assert!(error.starts_with("f:2:1: expected 2 cells"), "{error}");
    // Two spaces have an empty cell between them, if a space is what delimits.
    options.delimiter = Some(Delimiter::Byte(b' '));
    options.columns = Vec::new();
    let raw = from_bytes(b"1  3 a\n1 2 3 b\n", &options).unwrap();
    assert_eq!(raw.report().columns[1].missing, 1);
    for byte in *b".-e7\"\n\xE9" {
        options.delimiter = Some(Delimiter::Byte(byte));
        let error = message(from_bytes(b"1,a\n2,b\n", &options));
        assert!(error.contains("cannot be delimited"), "{error}");
    }
}

#[test]
fn labels_read_from_libsvm_can_be_written_to_it() {
    let text = "a\u{A0}b 1:1\n\u{3000} 2:1\n";
    let raw = from_bytes(text.as_bytes(), &of(Format::Libsvm)).unwrap();
    let fitted = Preparation::fit(&raw, None, None).unwrap();
    let data = raw.dataset(&fitted, None, Layout::AsGiven).unwrap();
    let mut out = Vec::new();
    write(&data, TextFormat::Libsvm, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), text);
}

#[test]
fn a_label_that_starts_with_a_mark_keeps_it() {
    // The first mark belongs to the file, the second to the label.
    let text = "\u{FEFF}\u{FEFF}a 1:1\nb 2:1\n";
    let raw = from_bytes(text.as_bytes(), &of(Format::Libsvm)).unwrap();
    let fitted = Preparation::fit(&raw, None, None).unwrap();
    let data = raw.dataset(&fitted, None, Layout::AsGiven).unwrap();
    let mut out = Vec::new();
    write(&data, TextFormat::Libsvm, &mut out).unwrap();
    let again = from_bytes(&out, &of(Format::Libsvm)).unwrap();
    assert_eq!(again.classes(), raw.classes());
}

#[test]
fn skipped_quotes_do_not_depend_on_chunks() {
    for text in [
        "1,\"a\"b,\"c\n\"d,e\nf,\"g\n2,3,x\n4,5,y\n",
        "1,2,x\n3,\"4\"z,\"y\n\",6,x\n7,8,\"\n\"\n9,0,x\n",
    ] {
        let read = |threads: usize, chunk_bytes: usize| {
            let options = ReadOptions {
                on_error: OnError::Skip,
                delimiter: Some(Delimiter::Byte(b',')),
                header: Some(false),
                threads,
                chunk_bytes,
                ..of(Format::Csv)
            };
            from_bytes(text.as_bytes(), &options)
                .map(|raw| format!("{:?} {:?}", raw.report(), raw.labels()))
                .map_err(|e| e.to_string())
        };
        let expected = read(1, 1 << 16);
        for chunk in 1..40 {
            assert_eq!(read(2, chunk), expected, "{chunk}");
        }
    }
}

#[test]
fn a_model_knows_its_positive_class_as_training_did() {
    for text in ["1 1:1\n2 2:2\n1.0 3:1\n", "+1 1:1\nx 2:2\n1 3:1\n"] {
        let options = ReadOptions {
            positive: Some("1".to_owned()),
            ..of(Format::Libsvm)
        };
        let raw = from_bytes(text.as_bytes(), &options).unwrap();
        assert_eq!(raw.labels(), [1, 0, 1]);
        let fitted = Preparation::fit(&raw, None, None).unwrap();
        let reader = Cursor::new(text.as_bytes().to_vec());
        let options = ReadOptions::default();
        let mut batches =
            Batches::from_reader(reader, "f", &fitted, raw.classes(), &options).unwrap();
        let labels = batches.next().unwrap().unwrap().labels.unwrap();
        assert_eq!(labels, [1, 0, 1].map(LabelFound::Class));
    }
    let options = ReadOptions {
        positive: Some("rest".to_owned()),
        ..of(Format::Libsvm)
    };
    let raw = from_bytes(b"rest 1:1\nx 1:2\n", &options).unwrap();
    assert_ne!(raw.classes().name(0), raw.classes().name(1));
}

#[test]
fn a_header_may_stand_behind_chunks_of_nothing() {
    for (format, text) in [
        (Format::Csv, "\r\n# note\n\n  \na,b,label\n1,2,x\n3,4,y\n"),
        (Format::Tsv, "\n# note\n \na\tb\tlabel\n1\t2\tx\n3\t4\ty\n"),
    ] {
        for chunk_bytes in [1, 3, 8, 20, 1 << 16] {
            let options = ReadOptions {
                comment: Some("#".to_owned()),
                threads: 2,
                chunk_bytes,
                ..of(format)
            };
            let raw = from_bytes(text.as_bytes(), &options).unwrap();
            assert_eq!((raw.rows(), raw.report().header), (2, Some(true)));
        }
    }
}

#[test]
fn blank_lines_in_a_wide_table_ask_for_no_memory() {
    // A part of it that is all newlines, each of which might be a record of many numbers.
    let columns = 15_000;
    let header: Vec<String> = (0..columns).map(|j| format!("c{j}")).collect();
    let row = |label: &str| format!("{}{label}\n", "1,".repeat(columns));
    let blank = "\n".repeat(9 << 20);
    let text = format!(
        "{},class\n{}{blank}{}",
        header.join(","),
        row("a"),
        row("b")
    );
    let options = ReadOptions {
        chunk_bytes: 4 << 20,
        threads: 1,
        ..ReadOptions::default()
    };
    let raw = read_from(Cursor::new(text.into_bytes()), "wide.csv", &options).unwrap();
    assert_eq!(raw.rows(), 2);
}

#[test]
fn a_label_may_be_called_what_a_cache_begins_with() {
    for behind in [" 1:2\n", "\n", "\t1:2\n", "\r\n", "S 1:2\n"] {
        let text = format!("RBCACHE{behind}no 1:3\n");
        let raw = from_bytes(text.as_bytes(), &of(Format::Libsvm)).unwrap();
        assert_eq!(raw.rows(), 2, "{text:?}");
    }
    let error = message(from_bytes(b"RBCACHE\x02\n1 1:2\n", &of(Format::Libsvm)));
    assert!(error.contains("a cache holds"), "{error}");
}

#[test]
fn a_blank_does_not_stand_for_a_colon() {
    // Values that are read eight together near each other, and far from each other.
    for value in ["0.5", "0.123456789012"] {
        for wrong in 1..40 {
            let token = |j: usize| match j == wrong {
                true => format!("{j} {value}"),
                false => format!("{j}:{value}"),
            };
            let tokens: Vec<String> = (1..40).map(token).collect();
            let text = format!("no 1:1\nyes {}\nno 2:1\n", tokens.join(" "));
            for error in
                at_every_level(|| message(from_bytes(text.as_bytes(), &of(Format::Libsvm))))
            {
                assert!(error.contains(&format!("found \"{wrong}\"")), "{error}");
            }
        }
    }
}

#[test]
fn columns_of_texts_are_stored_of_which_one_is_weighed() {
    // In both columns terms share features; of the second, some come in too many rows.
    let csv = "first,second,class\nb c d,c aa c aa,yes\ne f g,a a a a,no\nh i j,c aa b d,no\n";
    let options = ReadOptions {
        columns: ["first", "second"]
            .map(|name| (name.to_owned(), ColumnKind::Text))
            .into(),
        text: TextOptions {
            max_df: DocumentFrequency::Share(0.5),
            vocabulary: 2,
            ..TextOptions::default()
        },
        ..ReadOptions::default()
    };
    let raw = from_bytes(csv.as_bytes(), &options).unwrap();
    let preparation = Preparation::fit(&raw, None, Some(Scale::None)).unwrap();
    let again = Preparation::from_stored(&preparation.to_stored()).unwrap();
    let made = |preparation| {
        let data = raw.dataset(preparation, None, Layout::AsGiven).unwrap();
        rows_of(&data)
    };
    assert!(made(&again) == made(&preparation));
}
