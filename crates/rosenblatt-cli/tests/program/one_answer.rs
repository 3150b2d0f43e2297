//! The same numbers give the same weights, whatever the file, the storage or the threads.

use std::collections::BTreeMap;

use crate::common::{Place, ok, run, stderr, tensors};

/// The tensors that say what was learnt.
fn learnt(path: &str) -> BTreeMap<String, Vec<u8>> {
    tensors(path)
        .into_iter()
        .filter(|(name, _)| {
            name == "weights"
                || name == "bias"
                || name.starts_with("state.")
                || name.starts_with("log.")
                || name == "passes"
        })
        .collect()
}

#[test]
fn formats_compression_and_threads_do_not_change_a_bit() {
    let place = Place::new();
    let svm = place.to("d.svm");
    ok(&[
        "generate",
        "separable",
        "-n",
        "700",
        "-d",
        "12",
        "--margin",
        "0.02",
        "--noise",
        "0.05",
        "--seed",
        "3",
        "-o",
        &svm,
    ]);
    let others: Vec<String> = [
        "d.csv",
        "d.tsv",
        "d.svm.gz",
        "d.csv.zst",
        "d.csv.bz2",
        "d.svm.xz",
    ]
    .iter()
    .map(|name| {
        let path = place.to(name);
        ok(&["convert", &svm, &path]);
        path
    })
    .collect();
    for learner in [
        &["--epochs", "7"][..],
        &["--epochs", "3", "--readout", "voted"],
        &[
            "--epochs",
            "4",
            "--multiclass",
            "argmax",
            "--order",
            "given",
        ],
    ] {
        let model = |data: &str, threads: &str| {
            let path = place.to("m.rbm");
            let mut args = vec![
                "train",
                data,
                "--scale",
                "none",
                "--seed",
                "5",
                "--threads",
                threads,
                "-o",
                &path,
            ];
            args.extend_from_slice(learner);
            ok(&args);
            path
        };
        let expected = learnt(&model(&svm, "1"));
        assert!(expected.len() >= 4);
        assert_eq!(learnt(&model(&svm, "2")), expected);
        for other in &others {
            assert_eq!(learnt(&model(other, "2")), expected, "{other}");
        }
    }
}

#[test]
fn zeros_written_out_are_the_same_as_zeros_left_out() {
    let place = Place::new();
    let sparse = place.file("a.svm", "1 1:2 3:1\n-1 2:1\n1 1:1 2:0.5\n-1 3:-1\n");
    let full = place.file(
        "b.svm",
        "1 1:2 2:0 3:1\n-1 1:0 2:1 3:0\n1 1:1 2:0.5 3:0\n-1 1:0 2:0.0 3:-1\n",
    );
    let table = place.file(
        "c.csv",
        "a,b,c,label\n2,0,1,1\n0,1,0,-1\n1,0.5,0,1\n0,0,-1,-1\n",
    );
    let model = |data: &str| {
        let path = place.to("m.rbm");
        ok(&["train", data, "--scale", "none", "-o", &path]);
        learnt(&path)
    };
    assert_eq!(model(&sparse), model(&full));
    assert_eq!(model(&sparse), model(&table));
}

#[test]
fn model_files_are_equal_across_threads() {
    let place = Place::new();
    let (one, two) = (place.to("1.rbm"), place.to("2.rbm"));
    for (threads, path) in [("1", &one), ("2", &two)] {
        ok(&[
            "train",
            &crate::common::penguins(),
            "--label",
            "species",
            "--validate",
            "0.2",
            "--threads",
            threads,
            "-o",
            path,
        ]);
    }
    assert_eq!(std::fs::read(one).unwrap(), std::fs::read(two).unwrap());

    // Enough for threads to help with training, and noise enough for them to do so in each way.
    for noise in ["0", "0.02", "0.2"] {
        let text = place.to("text.svm");
        let made = ["--examples", "3000", "--noise", noise, "-o", &text];
        ok(&[&["generate", "sparse"], &made[..]].concat());
        let [alone, others @ ..] = ["1", "2", "3"].map(|threads| {
            let model = place.to("text.rbm");
            let train = ["train", &text, "--epochs", "20", "--threads", threads];
            ok(&[&train[..], &["-o", &model]].concat());
            std::fs::read(model).unwrap()
        });
        for other in others {
            assert!(alone == other, "noise {noise}");
        }
    }
}

/// Files with long lines are parsed to where rows are wanted, unless something is in the way.
#[test]
#[cfg(unix)]
fn long_lines_are_read_the_same_by_every_way() {
    let place = Place::new();
    let plain = place.to("plain.svm");
    ok(&["generate", "sparse", "--examples", "900", "-o", &plain]);
    let text = std::fs::read_to_string(&plain).unwrap();
    assert!(text.len() > 640 * text.lines().count());
    let commented = place.file("commented.svm", format!("# the same\n{text}"));
    let windows = place.file("windows.svm", text.replace('\n', "\r\n"));
    // Met when training has begun.
    let late = format!("{} # a line: the last\n", text.trim_end());
    let late = place.file("late.svm", late);
    let (cached, shuffled) = (place.to("cached.rbc"), ["--epochs", "3", "--seed", "5"]);
    ok(&["convert", &plain, &cached]);
    let train = |data: &str, more: &[&str]| {
        let model = place.to("m.rbm");
        let command = ["train", data, "-o", &model];
        ok(&[&command, &shuffled[..], more].concat());
        std::fs::read(model).unwrap()
    };
    let expected = train(&plain, &[]);
    for (data, more) in [
        (&plain, &["--threads", "1"][..]),
        (&plain, &["--memory", "1G"]),
        (&commented, &[]),
        (&windows, &[]),
        (&late, &[]),
        (&late, &["--threads", "1"]),
        (&cached, &[]),
    ] {
        assert!(train(data, more) == expected, "{data} {more:?}");
    }
    // A named pipe can be opened but once.
    let pipe = place.to("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let writer = std::thread::spawn({
        let (pipe, text) = (pipe.clone(), text.clone());
        move || std::fs::write(pipe, text)
    });
    assert!(train(&pipe, &["--format", "libsvm"]) == expected, "a pipe");
    writer.join().unwrap().unwrap();
    // What is wrong is found, and said, the same way as in short lines.
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[700] += " 9x:1";
    let wrong = place.file("wrong.svm", lines.join("\n"));
    let column = lines[700].len() - 3;
    let said = format!("wrong.svm:701:{column}: expected index:value, found \"9x:1\"");
    let error = crate::common::stderr(&crate::common::run(&["train", &wrong]));
    assert!(error.contains(&said), "{error} {said}");
}

/// Arrays of NumPy and Parquet hold the rows that text does, and say what they have no place for.
#[test]
fn arrays_hold_the_rows_of_the_text() {
    let place = Place::new();
    let text = "x1,label,x2\n0.1,1,0\n-2.5,-1,1e30\n0,1,7\n";
    let named = text.replace(",1,", ",yes,").replace(",-1,", ",nö,");
    for (name, text) in [("numbers", text), ("texts", &named)] {
        let data = place.file(&format!("{name}.csv"), text);
        let [direct, again, npz, npy] =
            ["direct.svm", "again.svm", "a.npz", "a.npy"].map(|to| place.to(to));
        ok(&["convert", &data, &direct]);
        ok(&["convert", &data, &npz]);
        let direct = std::fs::read_to_string(&direct).unwrap();
        let parquet = place.to("a.parquet");
        ok(&["convert", &data, &parquet]);
        let mut ways = vec![npz, parquet];
        if name == "numbers" {
            ok(&["convert", &data, &npy]);
            ways.push(npy);
        } else {
            let output = run(&["convert", &data, &npy]);
            assert!(
                stderr(&output).contains("write .npz"),
                "{}",
                stderr(&output)
            );
        }
        for way in ways {
            ok(&["convert", &way, &again]);
            assert_eq!(std::fs::read_to_string(&again).unwrap(), direct, "{way}");
        }
    }
    let weighted = place.file("w.csv", "x,w,label\n1,2,a\n2,1,b\n");
    for to in ["w.npz", "w.npy"] {
        let to = place.to(to);
        let output = run(&["convert", &weighted, &to, "--weight-column", "w"]);
        assert!(stderr(&output).contains("no place for example weights"));
    }
    let [direct, parquet, again] = ["w.csv.gz", "w.parquet", "again.csv.gz"].map(|to| place.to(to));
    ok(&["convert", &weighted, &direct, "--weight-column", "w"]);
    ok(&["convert", &weighted, &parquet, "--weight-column", "w"]);
    ok(&["convert", &parquet, &again, "--weight-column", "weight"]);
    assert_eq!(
        std::fs::read(&again).unwrap(),
        std::fs::read(&direct).unwrap()
    );
}
