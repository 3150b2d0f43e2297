//! The same rows from every format, and what each refuses.

use super::*;
use rosenblatt_core::data::FeatureNames;

/// A table with a number, a category, a missing value and texts to be quoted.
const CSV: &str = "age,size,job,class\n\
    20,0.1,clerk,yes\n\
    ,2.5e-7,smith,no\n\
    40,-3,\"a \"\"b\"\", c\",no\n\
    30,1e10,clerk,yes\n";

const JSON_LINES: &str = r#"{"age": 20, "size": 0.1, "job": "clerk", "class": "yes"}

{"age": null, "size": 2.5e-7, "job": "smith", "class": "no"}
{"size": -3, "age": 40, "job": "a \"b\", c", "class": "no"}
{"age": 30, "size": 1e10, "job": "cl\u0065rk", "class": "yes"}
"#;

const ARFF: &str = "% of people\n@RELATION people\n\n@attribute age numeric\n\
    @attribute 'size' real\n@attribute job {clerk, smith, 'a \\\"b\\\", c'}\n\
    @attribute class {no,yes}\n@data\n20,0.1,clerk,yes\n% between\n?, 2.5e-7, smith, no\n\
    40,-3,'a \"b\", c',no\n30,1e10,clerk,yes\n";

const SPARSE_ARFF: &str = "@relation people\n@attribute age numeric\n@attribute size real\n\
    @attribute job {clerk,smith,'a \"b\", c'}\n@attribute class {no,yes}\n@data\n\
    {0 20, 1 0.1, 3 yes}\n{0 ?, 1 2.5e-7, 2 smith}\n{0 40, 1 -3, 2 'a \"b\", c'}\n\
    {0 30, 1 1e10, 3 yes}\n";

fn options(chunk_bytes: usize, threads: usize) -> ReadOptions {
    ReadOptions {
        chunk_bytes,
        threads,
        ..ReadOptions::default()
    }
}

#[test]
fn tables_are_the_same_from_every_format() {
    let raw = from_text(CSV, "a.csv");
    let expected = rows_of(&prepared(&raw, None, Layout::AsGiven));
    let names = prepared(&raw, None, Layout::AsGiven).names;
    for (name, text) in [
        ("a.jsonl", JSON_LINES),
        ("a", JSON_LINES),
        ("a.arff", ARFF),
        ("a", ARFF),
        ("a.arff", SPARSE_ARFF),
    ] {
        for (_, bytes) in compressions(text.as_bytes()) {
            for (chunk, threads) in [(1, 1), (7, 3), (1 << 20, 2)] {
                let raw = from_bytes(&bytes, name, &options(chunk, threads)).unwrap();
                let data = prepared(&raw, None, Layout::Permuted);
                assert_eq!(rows_of(&data), expected, "{text}");
                let same = (0..data.features()).all(|j| data.names.get(j) == names.get(j));
                assert!(same, "{text}");
            }
        }
    }
}

/// A file of `numpy.save`.
fn npy(descr: &str, by_column: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let by_column = if by_column { "True" } else { "False" };
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': {by_column}, 'shape': ({shape}), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    file.extend(bytes);
    file
}

/// An archive of files that are not packed, or packed.
fn archive(files: &[(&str, Vec<u8>)], packed: bool) -> Vec<u8> {
    use std::io::Write;
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let stored = match packed {
            false => bytes.clone(),
            true => {
                let level = flate2::Compression::fast();
                let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), level);
                packer.write_all(bytes).unwrap();
                packer.finish().unwrap()
            }
        };
        let mut fields = vec![20, 0, 0, 0, if packed { 8 } else { 0 }, 0, 0, 0, 0, 0];
        fields.extend(crc32fast::hash(bytes).to_le_bytes());
        fields.extend((stored.len() as u32).to_le_bytes());
        fields.extend((bytes.len() as u32).to_le_bytes());
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend((out.len() as u32).to_le_bytes());
        directory.extend(name.bytes());
        out.extend(b"PK\x03\x04");
        out.extend(&fields);
        out.extend(name.bytes());
        out.extend(&stored);
    }
    let (start, size, count) = (out.len() as u32, directory.len() as u32, files.len() as u16);
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes().repeat(2));
    out.extend(size.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

#[test]
fn arrays_are_the_same_as_a_table_of_their_numbers() {
    let rows = [[0.1f32, -2.5, 3e-20], [7.0, 0.0, 1.5], [1.0, 2.0, -8.25]];
    let labels = [1i64, 0, 1];
    let text: String = (rows.iter().zip(labels))
        .map(|(r, y)| format!("{:?},{:?},{:?},{y}\n", r[0], r[1], r[2]))
        .collect();
    let plain = |file: &[u8], options: &ReadOptions| {
        rows_of(&prepared(
            &from_bytes(file, "a", options).unwrap(),
            Some(Scale::None),
            Layout::AsGiven,
        ))
    };
    let expected = plain(text.as_bytes(), &ReadOptions::default());
    let floats: Vec<u8> = rows
        .iter()
        .flatten()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let doubles = |f: &dyn Fn(f64) -> [u8; 8]| -> Vec<u8> {
        let each = (0..3).flat_map(|i| rows[i].iter().map(|&x| f64::from(x)));
        let each = each.zip((0..3).flat_map(|i| [None, None, Some(labels[i] as f64)]));
        each.flat_map(|(x, y)| {
            [Some(f(x)), y.map(f)]
                .into_iter()
                .flatten()
                .flatten()
                .collect::<Vec<u8>>()
        })
        .collect()
    };
    let whole = doubles(&f64::to_le_bytes);
    let turned: Vec<u8> = (0..4)
        .flat_map(|j| (0..3).flat_map(move |i| [(i, j)]))
        .flat_map(|(i, j)| whole[(4 * i + j) * 8..][..8].to_vec())
        .collect();
    let y: Vec<u8> = labels.iter().flat_map(|y| y.to_le_bytes()).collect();
    let (x_file, y_file) = (
        npy("<f4", false, "3, 3", &floats),
        npy("<i8", false, "3,", &y),
    );
    for file in [
        npy("<f8", false, "3, 4", &whole),
        npy(">f8", false, "3, 4", &doubles(&f64::to_be_bytes)),
        npy("<f8", true, "3, 4", &turned),
        archive(
            &[("X.npy", x_file.clone()), ("y.npy", y_file.clone())],
            false,
        ),
        archive(
            &[("y.npy", y_file.clone()), ("data.npy", x_file.clone())],
            true,
        ),
    ] {
        assert_eq!(plain(&file, &ReadOptions::default()), expected);
    }
    let beside = Passing::new(&y_file);
    let with_labels = ReadOptions {
        labels: Some(beside.0.clone()),
        ..ReadOptions::default()
    };
    assert_eq!(plain(&x_file, &with_labels), expected);
}

#[test]
fn elements_of_every_type_are_read_by_value() {
    for (descr, bytes, expected) in [
        ("|i1", vec![0xFF, 2], ["-1", "2"]),
        ("|u1", vec![0xFF, 2], ["255", "2"]),
        (">i2", vec![0xFF, 0xFE, 0, 2], ["-2", "2"]),
        (
            "<u8",
            [u64::MAX, 2].iter().flat_map(|n| n.to_le_bytes()).collect(),
            ["18446744073709551615", "2"],
        ),
        ("|b1", vec![1, 0], ["true", "false"]),
        (
            "<f2",
            vec![0x00, 0xC0, 0x01, 0x00],
            ["-2", "5.960464477539063e-8"],
        ),
        (
            "<U2",
            "ä\0b\0"
                .chars()
                .flat_map(|c| (c as u32).to_le_bytes())
                .collect(),
            ["ä", "b"],
        ),
        ("|S3", b"ab\0b\0\0".to_vec(), ["ab", "b"]),
    ] {
        let file = npy(descr, false, "2, 1", &bytes);
        let source = Source::stream(Path::new("a"), Box::new(Cursor::new(file)));
        let mut table = converted::open(&source, Format::Npy, &ReadOptions::default()).unwrap();
        let mut text = Vec::new();
        assert!((table.rows)(&mut text).unwrap());
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{descr}");
    }
}

#[test]
fn vowpal_wabbit_text_is_the_same_as_libsvm() {
    let (libsvm, vw) = (
        "1 3:0.5 7:1\n-1 2:-4e-3\n1\n-1 1:1 9:2\n",
        "1 | 3:0.5 7\n-1 1.0 'two| 2:-4e-3\n\n1 |\n-1 | 9:2 1\n",
    );
    let expected = rows_of(&prepared(
        &from_text(libsvm, "a.svm"),
        None,
        Layout::AsGiven,
    ));
    for (_, bytes) in compressions(vw.as_bytes()) {
        for (chunk, threads) in [(1, 1), (30, 3), (1 << 20, 2)] {
            let raw = from_bytes(&bytes, "a.vw", &options(chunk, threads)).unwrap();
            assert_eq!(rows_of(&prepared(&raw, None, Layout::Permuted)), expected);
            assert_eq!(raw.weights(), None);
        }
    }
    let raw = from_text("1 2 |a x y:3\n0 0.5 |a y |b x\n", "a.vw");
    assert_eq!(raw.weights(), Some(&[2.0, 0.5][..]));
    let data = prepared(&raw, None, Layout::AsGiven);
    assert!(matches!(data.names, FeatureNames::Numbered { first: 1 }));
    let overlap = rows_of(&data);
    let both = overlap[0].1.iter().zip(&overlap[1].1);
    let both = both.filter(|(a, b)| f64::from_bits(**a) != 0.0 && f64::from_bits(**b) != 0.0);
    assert_eq!(both.count(), 1, "y of a");
    assert_eq!(raw.report().format, Format::Vw);
}

#[test]
fn what_is_written_is_read_back() {
    use crate::write::{TextFormat, write};
    let text = "weight,x,z,class\n0.5,0.1,0,\"a \"\"b\"\"\"\n2,-3e-9,1,c\n";
    let weighted = ReadOptions {
        weight_column: Some("weight".into()),
        ..ReadOptions::default()
    };
    let table = from_bytes(text.as_bytes(), "a.csv", &weighted).unwrap();
    let table = prepared(&table, Some(Scale::None), Layout::AsGiven);
    let mut out = Vec::new();
    write(&table, TextFormat::JsonLines, &mut out).unwrap();
    let first = "{\"label\":\"a \\\"b\\\"\",\"weight\":0.5,\"x\":0.1,\"z\":0}\n";
    assert!(
        out.starts_with(first.as_bytes()),
        "{}",
        String::from_utf8_lossy(&out)
    );
    let again = from_bytes(&out, "a.jsonl", &weighted).unwrap();
    let again = prepared(&again, Some(Scale::None), Layout::AsGiven);
    assert_eq!(
        (rows_of(&again), &again.weights),
        (rows_of(&table), &table.weights)
    );
    let sparse = prepared(
        &from_text("1 3:0.5 7:1\n-1 9:4\n", "a"),
        None,
        Layout::AsGiven,
    );
    let mut out = Vec::new();
    write(&sparse, TextFormat::Vw, &mut out).unwrap();
    assert_eq!(out, b"1 | 3:0.5 7:1\n-1 | 9:4\n");
    let mut out = Vec::new();
    let refused = write(&table, TextFormat::Vw, &mut out)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("Vowpal Wabbit"), "{refused}");
}

#[test]
fn an_archive_of_one_file_is_that_file() {
    let expected = rows_of(&prepared(&from_text(CSV, "a.csv"), None, Layout::AsGiven));
    for packed in [false, true] {
        let files = [("folder/", Vec::new()), ("a.csv", CSV.as_bytes().to_vec())];
        let bytes = archive(&files, packed);
        for name in ["a.csv.zip", "a"] {
            let raw = from_bytes(&bytes, name, &ReadOptions::default()).unwrap();
            assert_eq!(rows_of(&prepared(&raw, None, Layout::AsGiven)), expected);
        }
    }
}

#[test]
fn lines_of_errors_are_those_of_the_file() {
    for (name, text, place) in [
        (
            "a.jsonl",
            "{\"x\":1,\"class\":\"a\"}\n\n{\"x\":2}\n",
            "a.jsonl:3: ",
        ),
        (
            "a.arff",
            "@relation r\n@attribute x numeric\n@attribute class {a,b}\n@data\n1,a\n%\n2,?\n",
            "a.arff:7: ",
        ),
        ("a.vw", "1 | a\n\n| b\n", "a.vw:3:1: "),
    ] {
        let error = from_bytes(text.as_bytes(), name, &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with(place), "{error}");
        let skipping = ReadOptions {
            on_error: OnError::Skip,
            positive: Some(if name == "a.vw" { "1" } else { "a" }.into()),
            ..ReadOptions::default()
        };
        let raw = from_bytes(text.as_bytes(), name, &skipping);
        assert!(raw.is_ok(), "{name}");
    }
}

#[test]
fn a_model_takes_any_format_of_its_table() {
    let raw = from_text(CSV, "a.csv");
    let preparation = Preparation::fit(&raw, None, None).unwrap();
    let expected = prepared(&raw, None, Layout::AsGiven);
    for (name, text) in [
        ("a.jsonl", JSON_LINES),
        ("a.arff", SPARSE_ARFF),
        ("a.csv", CSV),
    ] {
        let reader = Cursor::new(text.as_bytes().to_vec());
        let (classes, options) = (raw.classes(), options(9, 2));
        let batches = Batches::from_reader(reader, name, &preparation, classes, &options).unwrap();
        let mut row = 0;
        for batch in batches {
            let batch = batch.unwrap();
            for i in 0..batch.matrix.rows() {
                let found = batch.matrix.row(i).to_dense(expected.features());
                assert_eq!(
                    found,
                    expected.row(row).to_dense(expected.features()),
                    "{name}"
                );
                let label = LabelFound::Class(expected.labels[row]);
                assert_eq!(batch.labels.as_ref().unwrap()[i], label);
                row += 1;
            }
        }
        assert_eq!(row, 4, "{name}");
    }
}

/// A folder with these files, which goes when it is dropped.
struct Folder(std::path::PathBuf);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let unused = Passing::new(b"");
        let folder = unused.0.with_extension("d");
        std::fs::create_dir(&folder).unwrap();
        for (name, text) in files {
            std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            std::fs::write(folder.join(name), text).unwrap();
        }
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn several_files_are_one_data_set() {
    let lines: Vec<&str> = CSV.lines().collect();
    let (head, first, second) = (lines[0], lines[1..3].join("\n"), lines[3..].join("\n"));
    let csv = Folder::with(&[
        ("a.csv", &format!("{head}\n{first}")),
        ("b.csv", &format!("{head}\r\n{second}\n")),
        ("_SUCCESS", ""),
    ]);
    let json: Vec<&str> = JSON_LINES.lines().collect();
    let json = Folder::with(&[
        ("1.jsonl", &json[..2].join("\n")),
        ("deeper/2.jsonl", ""),
        ("3.jsonl", ""),
    ])
    .filled(&json);
    let raw = from_text(CSV, "a.csv");
    let preparation = Preparation::fit(&raw, None, None).unwrap();
    let expected = rows_of(&prepared(&raw, None, Layout::AsGiven));
    let also = |files: &[&str]| ReadOptions {
        also: files.iter().map(|f| csv.0.join(f)).collect(),
        chunk_bytes: 7,
        ..ReadOptions::default()
    };
    for (path, options) in [
        (csv.0.clone(), also(&[])),
        (csv.0.join("*.csv"), also(&[])),
        (csv.0.join("?.csv"), also(&[])),
        (csv.0.join("a.csv"), also(&["b.csv"])),
        (json.0.clone(), also(&[])),
    ] {
        let raw = read(&path, &options).unwrap();
        let data = prepared(&raw, None, Layout::AsGiven);
        assert_eq!(rows_of(&data), expected, "{}", path.display());
        let classes = raw.classes();
        let batches = Batches::open(&path, &preparation, classes, &options).unwrap();
        let rows: usize = batches.map(|batch| batch.unwrap().matrix.rows()).sum();
        assert_eq!(rows, 4, "{}", path.display());
    }
    let sparse = Folder::with(&[
        ("a.svm", "1 1:2"),
        ("b.svm", "-1 2:3\n"),
        ("c.svm", "1 3:x\n"),
    ]);
    let options = ReadOptions {
        on_error: OnError::Skip,
        ..ReadOptions::default()
    };
    let raw = read(&sparse.0, &options).unwrap();
    assert_eq!((raw.rows(), raw.report().skipped), (2, 1));
    let skipped = raw.report().skipped_messages[0].to_string();
    assert!(skipped.contains("c.svm:1:5: "), "{skipped}");
}

#[test]
fn folders_that_name_values_are_columns() {
    let whole =
        "year,city,x,class\n2024,\"A, b\",1,a\n2024,\"A, b\",\"2\",b\n2025,,3,a\n2025,c,4,b\n";
    let raw = from_text(whole, "a.csv");
    let preparation = Preparation::fit(&raw, None, None).unwrap();
    let expected = rows_of(&prepared(&raw, None, Layout::AsGiven));
    let paths = [
        "year=2024/city=A%2C b/",
        "year=2025/city=__HIVE_DEFAULT_PARTITION__/",
        "year=2025/city=c/",
    ];
    for (name, texts) in [
        (
            "part.csv",
            [
                "x,class\n1,a\n\n\"2\",b",
                "x,class\r\n3,a\r\n",
                "x,class\n4,b\n",
            ],
        ),
        (
            "part.tsv",
            [
                "x\tclass\n1\ta\n2\tb\n",
                "x\tclass\n3\ta\n",
                "x\tclass\n4\tb\n",
            ],
        ),
        (
            "part.jsonl",
            [
                "{\"x\":1,\"class\":\"a\"}\n{\"x\":2,\"class\":\"b\"}\n",
                "{\"x\":3,\"class\":\"a\"}\n",
                "{\"x\":4,\"class\":\"b\"}\n",
            ],
        ),
    ] {
        let names = paths.map(|folder| format!("{folder}{name}"));
        let files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts).collect();
        let folder = Folder::with(&files);
        let options = ReadOptions {
            chunk_bytes: 7,
            ..ReadOptions::default()
        };
        let raw = read(&folder.0, &options).unwrap();
        assert_eq!(raw.report().folder_columns, ["city", "year"]);
        let data = prepared(&raw, None, Layout::AsGiven);
        assert_eq!(rows_of(&data), expected, "{name}");
        let batches = Batches::open(&folder.0, &preparation, raw.classes(), &options).unwrap();
        let found: Vec<_> = batches.map(|batch| batch.unwrap().matrix.rows()).collect();
        assert_eq!(found.iter().sum::<usize>(), 4, "{name}");
    }
    // What cannot be read is told by its place in its own file, where that is sure.
    for (text, message) in [
        (
            "x,class\n1,a\n2\n",
            "k=22/a.csv:3:1: expected 2 cells, found 1;",
        ),
        (
            "x,class\n1,a\n2,b,c\n",
            "k=22/a.csv:3:5: expected 2 cells, found 3;",
        ),
        (
            "x,class\n1,a\n2,\"b\"x\n",
            "k=22/a.csv:3:6: there is text behind",
        ),
        (
            "x,class\n\"1\n2\",a\n2\n",
            "k=22/a.csv:4: expected 2 cells, found 1;",
        ),
    ] {
        let broken = Folder::with(&[("k=1/a.csv", "x,class\n1,a\n2,b\n"), ("k=22/a.csv", text)]);
        let said = read(&broken.0, &ReadOptions::default())
            .unwrap_err()
            .to_string();
        assert!(said.contains(message), "{message}: {said}");
    }
}

impl Folder {
    /// The JSON lines behind the second one, in the file of a folder within.
    fn filled(self, lines: &[&str]) -> Self {
        std::fs::remove_file(self.0.join("3.jsonl")).unwrap();
        std::fs::write(self.0.join("deeper/2.jsonl"), lines[2..].join("\n")).unwrap();
        self
    }
}

#[test]
fn files_that_do_not_fit_each_other_are_refused_by_name() {
    for (files, message) in [
        (
            &[
                ("a.csv", "x,class\n1,a\n2,b\n"),
                ("b.csv", "z,class\n1,a\n"),
            ][..],
            "b.csv:1: the columns are not those of",
        ),
        (
            &[
                ("a.csv", "x,class\n1,a\n2,b\n"),
                ("b.csv", "x,class,q\n1,a,3\n"),
            ],
            "3 columns, expected 2",
        ),
        (
            &[
                ("a.csv", "x,class\n1,a\n2,b\n"),
                ("b.csv", "x,class\n1,a\n2\n"),
            ],
            "b.csv:3:1: expected 2 cells, found 1",
        ),
        (
            &[("a.csv", "x,class\n1,a\n2,b\n"), ("b.svm", "1 1:2\n")],
            "b.svm: this is a libsvm file",
        ),
        (
            &[
                ("a.jsonl", "{\"x\":1,\"c\":\"a\"}\n"),
                ("b.jsonl", "{\"x\":1}\n"),
            ],
            "b.jsonl: the columns are not",
        ),
        (
            &[("a.idx", "\0\0\x08\x01\0\0\0\0"), ("b.csv", "")],
            "cannot be one data set",
        ),
        (
            &[
                ("year=2024/a.csv", "x,class\n1,a\n2,b\n"),
                ("b.csv", "x,class\n1,a\n"),
            ],
            "its folders name the columns [\"year\"], those of",
        ),
        (
            &[("x=1/a.csv", "x,class\n1,a\n2,b\n")],
            "the column x stands in the file and in the name of its folder",
        ),
        (
            &[("y=1/a.csv", "1,2\n3,4\n")],
            "the column y is named by a folder",
        ),
        (
            &[("y=1/a.svm", "1 1:2\n")],
            "the column y is named by a folder",
        ),
        (
            &[("y=a%09b/a.tsv", "x\tclass\n1\ta\n2\tb\n")],
            "in the name of a folder cannot be a cell",
        ),
        (&[(".hidden", "")], "the folder holds no files"),
    ] {
        let folder = Folder::with(files);
        let error = read(&folder.0, &ReadOptions::default()).unwrap_err();
        let said = error.to_string();
        assert!(said.contains(message), "{message}: {said}");
        assert!(error.advice().is_some(), "{said}");
    }
    let nothing = read("no-such-*.csv", &ReadOptions::default()).unwrap_err();
    assert!(
        nothing.to_string().contains("no file fits this pattern"),
        "{nothing}"
    );
}

#[test]
fn what_cannot_be_read_is_refused_with_advice() {
    let x = npy("<f8", false, "1, 2", &[0; 16]);
    let lying = npy("<f8", false, "99999999999, 2", &[0; 16]);
    let zipped = archive(&[("a.csv", CSV.as_bytes().to_vec())], true);
    let mut spoilt = zipped.clone();
    spoilt[45] ^= 1;
    let two = archive(&[("a.csv", vec![]), ("b.csv", vec![])], false);
    let arrays = archive(&[("a.npy", x.clone()), ("b.npy", x.clone())], false);
    let arff =
        |rest: &str| format!("@relation r\n@attribute x numeric\n@attribute c {{a,b}}\n{rest}");
    let (nominal, wide, sparse, weight, kind) = (
        arff("@data\n1,z\n"),
        arff("@data\n1,a,3\n"),
        arff("@data\n{1 a, 0 3}\n"),
        arff("@data\n1,a,{5}\n"),
        arff("@attribute r relational\n"),
    );
    let mut wrong = Vec::new();
    for (name, bytes, message) in [
        (
            "a.jsonl",
            &b"{\"x\": 1}\n[1]\n"[..],
            "a.jsonl:2:1: this is no JSON object",
        ),
        (
            "a.jsonl",
            b"{\"x\": 1\n",
            "a.jsonl:1:7: this is no JSON object: EOF",
        ),
        (
            "a.jsonl",
            b"{\"x\": 1, \"x\": 2}\n",
            "the name \"x\" comes twice",
        ),
        (
            "a.jsonl",
            b"{\"x\": {\"y\": 1}, \"c\": 1}\n",
            "a.jsonl:1:7: the column x holds an object",
        ),
        (
            "a.jsonl",
            b"{\"x\": [1], \"c\": 1}\n",
            "leave it out with ignore = x",
        ),
        ("a.jsonl", b"\n\n", "has no columns"),
        (
            "a.arff",
            b"@relation x\n",
            "a.arff: the file ends before its line @data",
        ),
        (
            "a.arff",
            kind.as_bytes(),
            "a.arff:4:1: the attribute r has the type",
        ),
        (
            "a.arff",
            nominal.as_bytes(),
            "a.arff:5:3: \"z\" is none of the values of c",
        ),
        (
            "a.arff",
            wide.as_bytes(),
            "a.arff:5:5: the row has more than 2 values",
        ),
        (
            "a.arff",
            sparse.as_bytes(),
            "a.arff:5:7: expected the number of an attribute, from 2",
        ),
        ("a.arff", weight.as_bytes(), "weight in braces"),
        (
            "a.npy",
            b"\x93NUMPY\x01\x00",
            "the file ends inside its header",
        ),
        (
            "a.npy",
            b"PK nothing",
            "does not begin with the letters NUMPY",
        ),
        (
            "a.npy",
            &x[..x.len() - 3],
            "the header promises 1 × 2 elements of 8 bytes, and there are 13",
        ),
        ("a.npy", &lying, "the header promises 99999999999 × 2"),
        (
            "a.npy",
            &npy("|O", false, "1, 2", &[]),
            "objects are pickled",
        ),
        (
            "a.npy",
            &npy("<f8", false, "1, 1, 1", &[0; 8]),
            "expected one or two dimensions",
        ),
        ("a.npz", &arrays, "the archive holds the arrays a, b"),
        (
            "a.zip",
            &two,
            "the ZIP archive holds 2 files, expected one: a.csv, b.csv",
        ),
        ("a.zip", &spoilt, "damaged"),
        (
            "a.zip",
            &zipped[..zipped.len() - 5],
            "the ZIP archive is damaged: its directory is missing",
        ),
        ("a.vw", b"1 2 0.5 | a\n", "a.vw:1:5: expected |"),
    ] {
        let error = from_bytes(bytes, name, &ReadOptions::default()).unwrap_err();
        let said = error.to_string();
        if !said.contains(message) || !said.starts_with(name) || error.advice().is_none() {
            wrong.push(format!("{message}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let ignoring = ReadOptions {
        ignore: vec!["x".into()],
        ..ReadOptions::default()
    };
    let text = b"{\"x\": [1], \"z\": 1, \"c\": 1}\n{\"z\": 0, \"c\": 0}\n";
    from_bytes(text, "a.jsonl", &ignoring).unwrap();
}
