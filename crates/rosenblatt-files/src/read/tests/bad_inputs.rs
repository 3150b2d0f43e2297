//! Inputs that are refused, and what is said of them.

use super::*;

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
        raw.report().skipped_messages[1]
            .to_string()
            .starts_with("t.csv:5:4: there is text behind"),
        "{:?}",
        raw.report()
    );
    let data = prepared(&raw, Some(Scale::None), Layout::AsGiven);
    assert_eq!(data.row(2).to_dense(2), [9.0, 10.0]);
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
            "header = no",
        ),
        (
            "a.svm",
            b"1 1:1\n1 1:1 x\n",
            none(),
            "a.svm:2:7: expected index:value, found \"x\"",
            "pass format",
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
            "precision = f64",
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
            "header = yes",
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
            b"a,\"b\n1,x\n2,y\n",
            set(|o| o.label = Some("b".into())),
            "a.csv:1:3: the quote that opens here is never closed",
            "tsv",
        ),
        (
            "a.csv",
            b"a,b\n1,\"x\n2,y\n",
            set(|o| o.label = Some("b".into())),
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
            "pass label",
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
            "a.csv: label = clas: there is no such column",
            "class",
        ),
        (
            "a.csv",
            b"a,class\n1,x\n",
            set(|o| o.ignore = vec!["zz".into()]),
            "a.csv: ignore = zz",
            "nearest",
        ),
        (
            "a.csv",
            b"a,class\n1,x\n",
            set(|o| o.columns = vec![("9".into(), ColumnKind::Text)]),
            "a.csv: column = 9",
            "nearest",
        ),
        (
            "a.csv",
            b"a,class\n1,x\n",
            set(|o| o.weight_column = Some("w".into())),
            "a.csv: weight_column = w",
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
            "a.csv: positive = z",
            "x, y",
        ),
        (
            "a",
            b"1\n2\n3\n",
            none(),
            "a: cannot tell the format",
            "pass format",
        ),
        (
            "a.rbc",
            b"....",
            none(),
            "a.rbc: a cache holds examples",
            "",
        ),
        (
            "a.idx",
            b"hello there",
            none(),
            "a.idx: this is not an IDX file",
            "pass format",
        ),
        (
            "a.idx",
            b"\0\0\x08\x01\0\0\0\x02\x01\x02",
            none(),
            "a.idx: where are the labels",
            "with labels",
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
        error.contains("looks like a measurement") && error.contains("pass label"),
        "{error}"
    );
}

proptest! {
    /// Lines are counted as records are read; whatever stands before a bad row, and wherever the
    /// text is cut, its line is that of a text editor.
    #[test]
    fn a_bad_row_is_found_on_its_line(
        before in prop::collection::vec(0usize..9, 0..40),
        chunk_bytes in 4usize..200,
        label_first in any::<bool>(),
    ) {
        let row = |label: &str, a: &str, b: &str| match label_first {
            true => format!("{label},{a},{b}\n"),
            false => format!("{a},{b},{label}\n"),
        };
        let mut text = row("class", "a", "b") + &row("x", "1", "2") + &row("y", "3", "4");
        for kind in before {
            text += &match kind {
                0 => row("x", "1.5", "-2"),
                1 => row("\"x\"", "5", "6"),
                2 => row("y", "\"5\n5\"", "6"),
                3 => row("y", " 7", "8 "),
                4 => row("y", "", "8"),
                5 => "\n".to_owned(),
                6 => "  \n\n".to_owned(),
                7 => row("z", "9", "1").replace('\n', "\r\n"),
                _ => row("a-long-label", "1e2", "\"3\""),
            };
        }
        let line = text.lines().count() + 1;
        text += "1,2,3,4\n";
        text += &row("x", "1", "2");
        let options = ReadOptions {
            chunk_bytes,
            label: Some("class".to_owned()),
            header: Some(true),
            ..ReadOptions::default()
        };
        let error = from_bytes(text.as_bytes(), "t.csv", &options).unwrap_err().to_string();
        prop_assert!(error.starts_with(&format!("t.csv:{line}:")), "{error}, not {line} of {text}");
    }
}
