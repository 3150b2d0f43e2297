//! Bad input: a clear error with its place and its remedy, and nothing lost. The list grows.

use crate::common::{AND, Place, ok, penguins, run, stderr, with_stdin};

/// File name, content, further arguments, exit status, and what the message must hold.
type Case = (
    &'static str,
    &'static [u8],
    &'static [&'static str],
    i32,
    &'static [&'static str],
);

const TRAIN: &[Case] = &[
    // Files that are not what they should be.
    ("a.csv", b"", &[], 1, &["a.csv", "empty"]),
    ("a.csv", b"\n\n\n", &[], 1, &["a.csv"]),
    ("a.svm", b"# only a comment\n", &[], 1, &["a.svm"]),
    ("a.csv", b"x,y\n", &[], 1, &["a.csv"]),
    (
        "a.csv",
        b"\xFF\xFEa\0,\0b\0",
        &[],
        1,
        &["a.csv", "UTF-16", "iconv"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,\xFF\xFE\n",
        &[],
        1,
        &["a.csv:3:3", "UTF-8"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2\0,y\n",
        &[],
        1,
        &["a.csv:3", "zero byte"],
    ),
    ("a.csv.gz", b"this is no gzip", &[], 1, &["a.csv.gz"]),
    ("a.csv.gz", b"\x1f\x8b\x08\x00broken", &[], 1, &["a.csv.gz"]),
    (
        "a.parquet",
        b"PAR1",
        &["--format", "parquet"],
        1,
        &["a.parquet", "PAR1", "cut off"],
    ),
    // Penalties that a learner lacks, with the reason.
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--learner", "arow", "--penalty", "l2"],
        2,
        &["--learner arow has no --penalty", "confidence", "use --r"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--learner", "arow", "--c", "1"],
        2,
        &[
            "--learner arow has no --c",
            "regularisation is --r",
            "use --r",
        ],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--learner", "perceptron", "--c", "1"],
        2,
        &[
            "--c belongs to ",
            ", ",
            " and ",
            "add --learner ",
            "or another of these",
        ],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--learner", "passive-aggressive", "--alpha", "0.1"],
        2,
        &["has no --alpha", "smallest", "use --c"],
    ),
    // Tables.
    (
        "a.csv",
        b"a,b,label\n1,2,x\n1,2\n",
        &[],
        1,
        &["a.csv:3", "2", "3"],
    ),
    (
        "a.csv",
        b"a,b,label\n1,2,x\n1,2,y,4\n",
        &[],
        1,
        &["a.csv:3", "4", "3"],
    ),
    (
        "a.csv",
        b"3,4\n1,2,x\n5,6,y\n",
        &[],
        1,
        &["a.csv", "--header yes"],
    ),
    (
        "a.csv",
        b"a,label\n\"1,x\n2,y\n",
        &[],
        1,
        &["a.csv:2:1", "quote"],
    ),
    (
        "a.csv",
        b"a,label\n\"1\"2,x\n2,y\n",
        &[],
        1,
        &["a.csv:2:", "quote"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,x\n",
        &[],
        1,
        &["\"x\"", "two classes"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,\n",
        &[],
        1,
        &["a.csv:3:3", "label", "--label-map"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--label", "z"],
        2,
        &["z", "label"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--label", "7"],
        2,
        &["7"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--ignore", "b"],
        2,
        &["b"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--ignore", "a"],
        1,
        &["no features"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--column", "a=number"],
        2,
        &["number", "numeric"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\nq,y\n",
        &["--column", "a=numeric"],
        1,
        &["a.csv:3:1", "q"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\ninf,y\n",
        &["--column", "a=numeric"],
        1,
        &["a.csv:3:1", "inf"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n1e39,y\n",
        &[],
        1,
        &["a.csv:3:1", "1e39", "--precision f64"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n1e999,y\n",
        &["--precision", "f64"],
        1,
        &["a.csv:3:1", "1e999"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--positive", "z"],
        2,
        &["z", "x"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--label-map", "x"],
        2,
        &["OLD=NEW"],
    ),
    (
        "a.csv",
        b"a,w,label\n1,1,x\n2,0,y\n",
        &["--weight-column", "w"],
        1,
        &["a.csv:3:3", "weight"],
    ),
    (
        "a.csv",
        b"a,w,label\n1,1,x\n2,-1,y\n",
        &["--weight-column", "w"],
        1,
        &["a.csv:3:3", "weight"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--weight-column", "v"],
        2,
        &["v"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--header", "maybe"],
        2,
        &["yes or no"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--scale", "huge"],
        2,
        &["huge", "standard"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--precision", "f16"],
        2,
        &["f32 or f64"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--delimiter", "ab"],
        2,
        &["one ASCII character"],
    ),
    (
        "a.csv",
        b"a,label\n1,x\n2,y\n",
        &["--on-error", "shrug"],
        2,
        &["fail or skip"],
    ),
    // libsvm.
    ("a.svm", b"1 1:1\n-1 2:x\n", &[], 1, &["a.svm:2:6", "x"]),
    ("a.svm", b"1 1:1\n-1 2:nan\n", &[], 1, &["a.svm:2:6", "nan"]),
    ("a.svm", b"1 1:1\n-1 2:\n", &[], 1, &["a.svm:2:"]),
    ("a.svm", b"1 1:1\n-1 2:1 2:3\n", &[], 1, &["a.svm:2:", "2"]),
    ("a.svm", b"1 1:1\n-1 -2:1\n", &[], 1, &["a.svm:2:"]),
    (
        "a.svm",
        b"1 1:1\n-1 99999999999:1\n",
        &[],
        1,
        &["a.svm:2:4", "99999999999"],
    ),
    (
        "a.svm",
        b"1 1:1\n1:5 2:3\n",
        &["--format", "libsvm"],
        1,
        &["a.svm:2:1", "label"],
    ),
    (
        "a.svm",
        b"1 1:1\n-1 1:1e39\n",
        &[],
        1,
        &["a.svm:2:6", "--precision f64"],
    ),
    ("a.svm", b"1 1:1\n1 1:2\n", &[], 1, &["two classes"]),
    (
        "a.svm",
        b"1\n-1\n",
        &["--format", "libsvm"],
        1,
        &["no features"],
    ),
    // IDX.
    (
        "t-images-idx3-ubyte",
        b"\0\0\x08\x03\0\0\0\x02",
        &["--format", "idx"],
        1,
        &["t-images-idx3-ubyte"],
    ),
    (
        "t-images-idx3-ubyte",
        b"\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        &["--format", "idx"],
        1,
        &["t-images-idx3-ubyte"],
    ),
    (
        "t-images-idx3-ubyte",
        b"\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x01\x05",
        &[],
        1,
        &["labels"],
    ),
    // Options.
    // Kernels, embeddings, networks.
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "cubic"],
        2,
        &["cubic", "polynomial"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "polynomial"],
        2,
        &["polynomial"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "polynomial:0"],
        2,
        &["polynomial"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "polynomial:2,-1"],
        2,
        &["polynomial"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "rbf:0"],
        2,
        &["rbf"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "rbf:-1"],
        2,
        &["rbf"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "rbf:nan"],
        2,
        &["rbf"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "laplacian:"],
        2,
        &["laplacian"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "sigmoid:1"],
        2,
        &["sigmoid"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "precomputed"],
        1,
        &["square"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--kernel", "linear", "--start-dual", "1,2"],
        2,
        &["2", "4"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--embed", "monomials:0"],
        2,
        &["monomials"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--embed", "circles"],
        2,
        &["circles", "circle"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--embed", "nystrom:0,1"],
        2,
        &["nystrom"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--hidden", "0"],
        2,
        &["hidden"],
    ),
    (
        "k.csv",
        b"0,0,n\n0,1,n\n1,0,n\n1,1,y\n",
        &["--hidden", "4", "--decay", "1"],
        2,
        &["decay", "linear"],
    ),
    (
        "k.csv",
        b"label,a,b\nx,1,2\ny,3,1\n",
        &["--kernel", "precomputed", "--scale", "none"],
        1,
        &["k.csv", "symmetric"],
    ),
    (
        "k.csv",
        b"label,a\nx,1e30\ny,-1\n",
        &["--kernel", "polynomial:9", "--scale", "none"],
        1,
        &["overflow"],
    ),
    (
        "a.csv",
        AND_BYTES,
        &["--learner", "svm"],
        2,
        &["svm", "perceptron"],
    ),
    (
        "a.csv",
        AND_BYTES,
        &["--epochs", "0"],
        2,
        &["epochs", "at least 1"],
    ),
    (
        "a.csv",
        AND_BYTES,
        &["--learning-rate", "-1"],
        2,
        &["learning-rate", "above 0"],
    ),
    (
        "a.csv",
        AND_BYTES,
        &["--learning-rate", "nan"],
        2,
        &["learning-rate", "finite"],
    ),
    (
        "a.csv",
        AND_BYTES,
        &["--ties", "correct"],
        2,
        &["never updates", "--margin-demand"],
    ),
    (
        "a.csv",
        AND_BYTES,
        &["--start", "1,2"],
        2,
        &["2 numbers", "expected 3"],
    ),
    (
        "a.csv",
        AND_BYTES,
        &["--class-weight", "z=2"],
        2,
        &["z", "-1, 1"],
    ),
    ("a.csv", AND_BYTES, &["--patience", "3"], 2, &["--validate"]),
    (
        "a.csv",
        AND_BYTES,
        &["--validate", "1.5"],
        2,
        &["between 0 and 1"],
    ),
    (
        "a.csv",
        AND_BYTES,
        &["--validate", "0.01"],
        2,
        &["holds out no example"],
    ),
    ("a.csv", AND_BYTES, &["--cv", "1"], 2, &["1"]),
    ("a.csv", AND_BYTES, &["--cv", "9"], 2, &["9", "4"]),
    (
        "a.csv",
        AND_BYTES,
        &["--learner", "perceptron", "--decay", "1"],
        2,
        &["linear-unit"],
    ),
    ("a.csv", AND_BYTES, &["--threads", "0"], 2, &["threads"]),
    (
        "a.csv",
        AND_BYTES,
        &["--no-such-option"],
        2,
        &["--no-such-option"],
    ),
    (
        "a.csv",
        AND_BYTES,
        &["--learner", "linear-unit", "--readout", "voted"],
        2,
        &["readout"],
    ),
    (
        "a.csv",
        AND_BYTES,
        &["--votes", "correct"],
        2,
        &["--votes belongs to --readout voted", "add --readout voted"],
    ),
];

const AND_BYTES: &[u8] = AND.as_bytes();

#[test]
fn bad_training_data_and_options_are_refused_and_the_model_stays() {
    let place = Place::new();
    let model = place.file("model.rbm", "precious");
    let mut failures = Vec::new();
    for (name, content, extra, status, fragments) in TRAIN {
        let data = place.file(name, content);
        let mut args = vec!["train", &data, "-o", &model];
        args.extend_from_slice(extra);
        let output = run(&args);
        let said = stderr(&output);
        let missing: Vec<_> = fragments.iter().filter(|f| !said.contains(**f)).collect();
        let errors = said
            .lines()
            .filter(|line| line.starts_with("error:"))
            .count();
        if output.status.code() != Some(*status)
            || !missing.is_empty()
            || errors != 1
            || said.contains("panicked")
        {
            failures.push(format!(
                "{name} {:?} {extra:?}: status {:?} (expected {status}), missing {missing:?}\n    {said}",
                String::from_utf8_lossy(content),
                output.status.code()
            ));
        }
        assert_eq!(
            std::fs::read(&model).unwrap(),
            b"precious",
            "{name} {extra:?} touched the model"
        );
        assert!(
            output.stdout.is_empty(),
            "{name} {extra:?} printed a result"
        );
        std::fs::remove_file(&data).unwrap();
    }
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        TRAIN.len(),
        failures.join("\n")
    );
    assert!(TRAIN.len() >= 40);
    assert_eq!(
        std::fs::read_dir(place.0.path()).unwrap().count(),
        1,
        "something was left lying around"
    );
}

#[test]
fn files_that_are_not_there_or_not_files() {
    let place = Place::new();
    let folder = place.0.path().to_str().unwrap();
    for (args, fragment) in [
        (vec!["train", "/no/such/file.csv"], "/no/such/file.csv"),
        (vec!["train", folder], folder),
        (vec!["test", "/no/such/model", "x"], "/no/such/model"),
        (vec!["predict", folder, "x"], folder),
        (vec!["inspect", "/no/such/model"], "/no/such/model"),
    ] {
        let output = run(&args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(
            stderr(&output).contains(fragment),
            "{args:?}: {}",
            stderr(&output)
        );
    }
    let output = run(&[
        "train",
        &penguins(),
        "--label",
        "species",
        "-o",
        "/no/such/folder/m.rbm",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/no/such/folder"));
    let output = run(&["train", &penguins(), "--label", "species", "-o", folder]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("folder"));
}

#[test]
fn models_that_are_damaged_are_refused() {
    let place = Place::new();
    let model = place.to("m.rbm");
    let data = place.file("and.csv", AND);
    ok(&["train", &data, "-o", &model]);
    let bytes = std::fs::read(&model).unwrap();
    let check = |damaged: &[u8], what: &str| {
        let bad = place.file("bad.rbm", damaged);
        for args in [
            vec!["inspect", &bad],
            vec!["predict", &bad, &data],
            vec!["test", &bad, &data],
            vec!["train", &data, "--resume", &bad],
        ] {
            let output = run(&args);
            assert_eq!(output.status.code(), Some(1), "{what} {args:?}");
            assert!(
                stderr(&output).contains("bad.rbm"),
                "{what}: {}",
                stderr(&output)
            );
        }
    };
    for at in (0..bytes.len()).step_by(bytes.len() / 25) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x20;
        check(&damaged, &format!("byte {at}"));
        check(&bytes[..at], &format!("cut at {at}"));
    }
    check(b"not a model at all", "another file");
}

#[test]
fn files_that_do_not_fit_the_model() {
    let place = Place::new();
    let model = place.to("m.rbm");
    ok(&[
        "train",
        &place.file("t.csv", "a,b,label\n0,1,x\n1,0,y\n2,5,y\n"),
        "-o",
        &model,
    ]);
    for (name, content, fragment) in [
        ("lacks.csv", "a,label\n0,x\n1,y\n", "b"),
        ("wide.csv", "0,1,2,x,9\n1,0,3,y,9\n", "wide.csv"),
        ("words.csv", "a,b,label\n0,oops,x\n", "words.csv:2:3"),
        ("empty.csv", "", "empty.csv"),
    ] {
        for command in ["predict", "test"] {
            let output = run(&[command, &model, &place.file(name, content)]);
            assert_eq!(output.status.code(), Some(1), "{command} {name}");
            assert!(
                stderr(&output).contains(fragment),
                "{command} {name}: {}",
                stderr(&output)
            );
        }
    }
    let output = run(&["test", &model, &place.file("nolabel.csv", "a,b\n0,1\n")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no labels"), "{}", stderr(&output));
    let output = run(&[
        "predict",
        &model,
        &place.file("p.csv", "a,b\n0,1\n"),
        "--scale",
        "none",
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("fixed when"));
}

#[test]
fn rows_that_cannot_be_read_are_skipped_when_asked() {
    let place = Place::new();
    let data = place.file("a.csv", "a,b,label\n0,1,x\n1,0,y\n7,y\n2,0,y\n0,2,x\n");
    let report = crate::common::json(&["train", &data, "--on-error", "skip"]);
    assert_eq!(
        (&report["examples"], &report["data"]["skipped"]),
        (&4.into(), &1.into())
    );
    assert!(
        report["data"]["skipped_messages"][0]
            .as_str()
            .unwrap()
            .contains("a.csv:4"),
        "{report}"
    );
    let svm = place.file("a.svm", "1 1:1\n-1 1:oops\n-1 2:1\n");
    let report = crate::common::json(&["train", &svm, "--on-error", "skip"]);
    assert_eq!(
        (&report["examples"], &report["data"]["skipped"]),
        (&2.into(), &1.into())
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_a_closed_pipe_ends_quietly() {
    use std::process::{Command, Stdio};
    let place = Place::new();
    let data = place.file("and.csv", AND);
    let model = place.to("m.rbm");
    ok(&["train", &data, "-o", &model]);
    let output = run(&["predict", &model, &data, "-o", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("/dev/full"), "{}", stderr(&output));
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let status = crate::common::program(&["predict", &model, &data])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(status.status.code(), Some(1));
    assert!(stderr(&status).contains("stdout"));

    let big = place.file(
        "big.csv",
        format!("label,x1,x2\n{}", "1,1,1\n".repeat(200_000)),
    );
    let mut child = crate::common::program(&["predict", &model, &big])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let head = Command::new("head")
        .args(["-n", "1"])
        .stdin(child.stdout.take().unwrap())
        .output()
        .unwrap();
    assert_eq!(head.stdout, b"1\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (Some(0), "")
    );
}

#[test]
fn stdin_is_a_file_like_any_other() {
    let place = Place::new();
    let model = place.to("m.rbm");
    let output = with_stdin(&["train", "-", "-o", &model], AND.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    let predicted = with_stdin(&["predict", &model, "-"], b"x1,x2\n0,0\n1,1\n");
    assert_eq!(String::from_utf8_lossy(&predicted.stdout), "-1\n1\n");
    let output = with_stdin(&["train", "-"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("empty"), "{}", stderr(&output));
}
