//! What columns of a table become.

use super::*;
use crate::read::chunk::LONGEST_RECORD;

fn listed(data: &Dataset) -> Vec<String> {
    (0..data.features())
        .map(|j| data.names.get(j).into_owned())
        .collect()
}

#[test]
fn columns_become_features() {
    let mut options = ReadOptions::default();
    options.text.weights = Some(TermWeights::Counts);
    let raw = from_bytes(MIXED.as_bytes(), "t.csv", &options).unwrap();
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
    // A few such cells are missing numbers, many are values.
    let few = from_text(&format!("{text}x,1,0\n"), "t.csv");
    let column = &few.report().columns[0];
    assert_eq!((column.role, column.missing), (ColumnRole::Numeric, 1));
    assert!(
        column
            .warning
            .as_ref()
            .unwrap()
            .to_string()
            .contains("\"x\" in row 60001")
    );
    text += &"x,1,0\n".repeat(4000);
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
    let (_, report) = Preparation::fit_and_report(&raw, None, None).unwrap();
    for left_out in [0, 1, 3] {
        assert_eq!(report.columns[left_out].role, ColumnRole::Ignore);
    }
    assert!(
        report.columns[1]
            .warning
            .as_ref()
            .unwrap()
            .to_string()
            .contains("identifier")
    );
    assert!(
        report.columns[2]
            .warning
            .as_ref()
            .unwrap()
            .to_string()
            .contains("label away")
    );
    assert!(
        report.columns[4].warning.is_none(),
        "{:?}",
        report.columns[4].warning
    );
    assert_eq!((report.notes.len(), report.warnings.len()), (1, 3));
    assert!(
        serde_json::to_string(&report)
            .unwrap()
            .contains("\"role\":\"ignore\"")
    );
    let data = prepared(&raw, None, Layout::AsGiven);
    assert_eq!(listed(&data), ["leak=u", "leak=v", "leak=w", "x"]);
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
    assert!(!dense.matrix.is_sparse());
    let mut text = String::from("a,class\n");
    (0..40).for_each(|i| text += &format!("v{},{}\n", i % 10, i % 2));
    let sparse = prepared(&from_text(&text, "t.csv"), None, Layout::AsGiven);
    assert!(sparse.matrix.is_sparse());
}

#[test]
fn missing_is_missing_as_bytes_and_as_text() {
    for text in Preparation::MISSING
        .iter()
        .chain(&["na", "N/A", "0", "none", " "])
    {
        assert_eq!(
            crate::read::sniff::is_missing(text.as_bytes()),
            Preparation::is_missing(text),
            "{text:?}"
        );
    }
}

#[test]
fn lines_may_be_longer_than_what_is_looked_at_first() {
    let columns = open::SAMPLE / 8;
    let names: Vec<String> = (0..columns).map(|j| format!("gene_{j}")).collect();
    let row = |i: usize| {
        let cells = (0..columns).map(|j| ((i * 7 + j) % 10).to_string());
        cells.collect::<Vec<_>>().join(",")
    };
    let rows: String = (0..12)
        .map(|i| format!("{},{}\n", row(i), ["sick", "well"][i % 2]))
        .collect();
    let header = names.join(",");
    assert!(header.len() > open::SAMPLE);
    for (text, header) in [
        (format!("{header},state\n{rows}"), true),
        (rows.clone(), false),
        (
            format!("{header},state\n{}", rows.lines().next().unwrap()),
            true,
        ),
    ] {
        for name in ["t.csv", "t"] {
            let raw = from_text(&text, name);
            assert_eq!(raw.rows(), text.lines().count() - usize::from(header));
            assert_eq!(raw.report().columns.len(), columns + 1);
            assert_eq!(
                raw.report().columns[3].name,
                if header { "gene_3" } else { "3" }
            );
            assert_eq!(raw.classes().names()[0], "sick");
        }
    }
}

#[test]
fn a_line_without_end_is_refused_before_its_cells_are_looked_at() {
    let text = "1,".repeat(LONGEST_RECORD / 2 + 1);
    for name in ["t", "t.csv", "t.svm"] {
        let error = from_bytes(text.as_bytes(), name, &ReadOptions::default()).err();
        let error = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(
            error.contains(":1:1: this record is longer than 64 MiB"),
            "{error}"
        );
    }
}

/// A table with every kind of column and every reason to set one aside.
fn of_all_kinds() -> String {
    let mut text = String::from("id,when,amount,share,same,empty,note,shop,class\n");
    for i in 0..60 {
        let amount = match i {
            7 => "n/a".into(),
            _ => format!("\"{},{:03}.5\"", i % 4 + 1, i * 37 % 1000),
        };
        let note = [
            "an old Café by the sea",
            "the new shop in town",
            "old and new by the road",
        ];
        text += &format!(
            "{},2024-0{}-1{} {:02}:15,{amount},\"0,{}\",1,,{} {},{},{}\n",
            900 - i,
            i % 3 + 1,
            i % 7,
            i % 2 * 9,
            i * 7 % 11,
            note[i % 3],
            i * i % 41,
            ["n", "s"][i % 2],
            i * 31 % 50 / 25
        );
    }
    text
}

#[test]
fn preparations_of_all_kinds_are_stored_and_read_again() {
    for cut in [("words", false), ("words:1-2", true), ("chars:3-4", true)] {
        for weights in ["counts", "sublinear", "tf-idf", "sublinear-tf-idf"] {
            for vocabulary in [20, 1 << 20] {
                let mut options = ReadOptions::default();
                options.text.cut.terms = cut.0.parse().unwrap();
                options.text.cut.strip_accents = cut.1;
                options.text.weights = Some(weights.parse().unwrap());
                options.text.vocabulary = vocabulary;
                options.text.max_df = "0.9".parse().unwrap();
                let raw = from_bytes(of_all_kinds().as_bytes(), "t.csv", &options).unwrap();
                let (fitted, report) = Preparation::fit_and_report(&raw, None, None).unwrap();
                let roles: Vec<ColumnRole> = report.columns.iter().map(|c| c.role).collect();
                use ColumnRole::{Category, Date, Ignore, Label, Numeric, Text};
                let expected = [
                    Ignore, Date, Numeric, Numeric, Ignore, Ignore, Text, Category, Label,
                ];
                assert_eq!(roles, expected, "{:?}", report.warnings);
                let again = Preparation::from_stored(&fitted.to_stored()).unwrap();
                assert_eq!(again, fitted);
                // The same rows, by the model's way and by the other's.
                let mut known = ReadOptions::default();
                fitted.apply_to(&mut known);
                let data = raw.dataset(&fitted, None, Layout::AsGiven).unwrap();
                let other = from_bytes(of_all_kinds().as_bytes(), "t.csv", &known).unwrap();
                let other = other.dataset(&again, None, Layout::AsGiven).unwrap();
                let rows = |data: &Dataset| -> Vec<Vec<f64>> {
                    let width = data.features();
                    (0..data.len())
                        .map(|i| data.row(i).to_dense(width))
                        .collect()
                };
                if vocabulary > 20 {
                    assert_eq!(rows(&data), rows(&other));
                }
                assert_eq!(data.matrix, other.matrix);
            }
        }
    }
}

#[test]
fn terms_weigh_what_their_formula_says() {
    let texts = ["a b b c", "a c", "a d a a", "a b"];
    let mut text = String::from("t,class\n");
    for (i, t) in texts.iter().enumerate() {
        text += &format!("{t},{i}\n");
    }
    let of = |weights: &str, min: &str, max: &str, scale| {
        let mut options = ReadOptions {
            columns: vec![("t".into(), ColumnKind::Text)],
            precision: Precision::F64,
            ..ReadOptions::default()
        };
        options.text.weights = Some(weights.parse().unwrap());
        options.text.min_df = min.parse().unwrap();
        options.text.max_df = max.parse().unwrap();
        let raw = from_bytes(text.as_bytes(), "t.csv", &options).unwrap();
        let data = prepared(&raw, Some(scale), Layout::AsGiven);
        let row = |i: usize| data.row(i).to_dense(data.features());
        (listed(&data), row(0), row(2))
    };
    let idf = |d: f64| (5.0 / (1.0 + d)).ln() + 1.0;
    let close = |a: &[f64], b: &[f64]| {
        assert_eq!(a.len(), b.len());
        let apart = a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-15);
        assert!(!apart, "{a:?} {b:?}");
    };
    let (names, first, third) = of("sublinear-tf-idf", "1", "1.0", Scale::None);
    assert_eq!(names, ["t:a", "t:b", "t:c", "t:d"]);
    close(
        &first,
        &[idf(4.0), (1.0 + 2f64.ln()) * idf(2.0), idf(2.0), 0.0],
    );
    close(&third, &[(1.0 + 3f64.ln()) * idf(4.0), 0.0, 0.0, idf(1.0)]);
    let (_, first, _) = of("tf-idf", "1", "1.0", Scale::Standard);
    let length = (idf(4.0).powi(2) + 5.0 * idf(2.0).powi(2)).sqrt();
    close(
        &first,
        &[
            idf(4.0) / length,
            2.0 * idf(2.0) / length,
            idf(2.0) / length,
            0.0,
        ],
    );
    let (names, first, _) = of("counts", "2", "0.5", Scale::None);
    assert_eq!(names, ["t:b", "t:c"]);
    close(&first, &[2.0, 1.0]);
}
