//! A run that is stopped and goes on ends where the unbroken run ends, to the byte.

use std::time::{Duration, Instant};

use crate::common::{Place, ok, penguins, program, run, stderr};

#[test]
fn a_longer_run_is_a_short_one_gone_on() {
    let place = Place::new();
    for readout in [
        "last",
        "averaged",
        "averaged-normalised",
        "voted",
        "random",
        "pocket",
    ] {
        let [short, long, whole] = ["a", "b", "c"].map(|n| place.to(n));
        let base = [
            "train",
            &penguins(),
            "--label",
            "species",
            "--readout",
            readout,
            "--seed",
            "2",
        ]
        .map(str::to_owned);
        let with = |extra: &[&str]| {
            let mut args: Vec<&str> = base.iter().map(String::as_str).collect();
            args.extend_from_slice(extra);
            ok(&args);
        };
        with(&["--epochs", "3", "-o", &short]);
        ok(&[
            "train",
            &penguins(),
            "--resume",
            &short,
            "--epochs",
            "8",
            "-o",
            &long,
        ]);
        with(&["--epochs", "8", "-o", &whole]);
        assert_eq!(
            std::fs::read(&long).unwrap(),
            std::fs::read(&whole).unwrap(),
            "{readout}"
        );
    }
}

#[test]
fn a_run_killed_in_the_middle_goes_on_from_its_last_saved_pass() {
    let place = Place::new();
    let data = place.to("d.csv");
    ok(&[
        "generate",
        "separable",
        "-n",
        "2000",
        "-d",
        "20",
        "--noise",
        "0.2",
        "-o",
        &data,
    ]);
    let [killed, resumed, whole] = ["k.rbm", "r.rbm", "w.rbm"].map(|n| place.to(n));
    let epochs = ["--epochs", "3000", "--seed", "4"];
    let mut args = vec!["train", &data, "--save-every", "0", "-o", &killed];
    args.extend(epochs);
    let mut child = program(&args).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !std::path::Path::new(&killed).exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let saved = ok(&["inspect", &killed]);
    assert!(
        saved.contains("unfinished"),
        "killed too late to test anything:\n{saved}"
    );
    ok(&["train", &data, "--resume", &killed, "-o", &resumed]);
    let mut args = vec!["train", &data, "-o", &whole];
    args.extend(epochs);
    ok(&args);
    assert_eq!(
        std::fs::read(resumed).unwrap(),
        std::fs::read(whole).unwrap()
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_saves_what_there_is() {
    let place = Place::new();
    let data = place.to("d.csv");
    ok(&[
        "generate",
        "separable",
        "-n",
        "3000",
        "-d",
        "20",
        "--noise",
        "0.2",
        "-o",
        &data,
    ]);
    let model = place.to("m.rbm");
    let child = program(&["train", &data, "--epochs", "1000000", "-o", &model])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted"));
    assert!(ok(&["inspect", &model]).contains("interrupted"));
    // It goes on as if never stopped: the same as an unbroken run of as many passes.
    let resumed = place.to("r.rbm");
    let passes = {
        let text = crate::common::json(&["inspect", &model]);
        (text["epochs"].as_u64().unwrap() + 3).to_string()
    };
    ok(&[
        "train", &data, "--resume", &model, "--epochs", &passes, "-o", &resumed,
    ]);
    let whole = place.to("w.rbm");
    ok(&["train", &data, "--epochs", &passes, "-o", &whole]);
    assert_eq!(
        std::fs::read(resumed).unwrap(),
        std::fs::read(whole).unwrap()
    );
}

#[test]
fn resuming_with_other_data_or_options_is_refused() {
    let place = Place::new();
    let model = place.to("m.rbm");
    ok(&[
        "train",
        &penguins(),
        "--label",
        "species",
        "--epochs",
        "2",
        "-o",
        &model,
    ]);
    let other = place.file(
        "other.csv",
        std::fs::read_to_string(penguins())
            .unwrap()
            .replacen("39.1", "39.2", 1),
    );
    let output = run(&[
        "train",
        &other,
        "--resume",
        &model,
        "-o",
        &place.to("n.rbm"),
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("not those the model was trained on"),
        "{}",
        stderr(&output)
    );
    let output = run(&[
        "train",
        &penguins(),
        "--resume",
        &model,
        "--learning-rate",
        "2",
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("only limits may change"),
        "{}",
        stderr(&output)
    );
    assert!(!place.path("n.rbm").exists());
}

/// However a program ends while it writes: the old file stands, and nothing else is there.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_program_leaves_no_half_written_file() {
    // Not INT, which whoever starts the tests in the background may have told them to ignore.
    for (signal, before) in [("KILL", None), ("TERM", Some("old"))] {
        let place = Place::new();
        let data = place.to("data.csv");
        if let Some(text) = before {
            place.file("data.csv", text);
        }
        let sizes = ["-n", "300000", "-d", "50"];
        let command = [&["generate", "separable"], &sizes[..], &["-o", &data]].concat();
        let mut child = program(&command).spawn().unwrap();
        let written = || -> u64 {
            let counts = std::fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap();
            let line = counts.lines().find_map(|l| l.strip_prefix("wchar: "));
            line.unwrap().parse().unwrap()
        };
        while written() < 1 << 20 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let killed = std::process::Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status();
        assert!(killed.unwrap().success());
        assert!(!child.wait().unwrap().success());
        let left: Vec<_> = std::fs::read_dir(place.0.path()).unwrap().collect();
        assert_eq!(left.len(), usize::from(before.is_some()), "{left:?}");
        if let Some(text) = before {
            assert_eq!(std::fs::read_to_string(&data).unwrap(), text);
        }
    }
}

#[test]
fn a_run_that_ran_out_of_patience_goes_on_only_with_more_of_it() {
    let place = Place::new();
    let data = place.to("blobs.csv");
    ok(&[
        "generate", "blobs", "-n", "300", "-d", "4", "-k", "3", "--spread", "4", "-o", &data,
    ]);
    for learner in ["perceptron", "linear-unit"] {
        let [short, whole, again, more] = ["a", "b", "c", "d"].map(|n| place.to(n));
        let train = |epochs: &str, model: &str| {
            ok(&[
                "train",
                &data,
                "--learner",
                learner,
                "--validate",
                "0.2",
                "--patience",
                "4",
                "--epochs",
                epochs,
                "-o",
                model,
            ])
        };
        assert!(
            train("9", &short).contains("predicted no better"),
            "{learner}"
        );
        train("12", &whole);
        ok(&[
            "train", &data, "--resume", &short, "--epochs", "12", "-o", &again,
        ]);
        assert_eq!(
            std::fs::read(&whole).unwrap(),
            std::fs::read(&again).unwrap(),
            "{learner}"
        );
        let longer = [
            "train",
            &data,
            "--resume",
            &short,
            "--patience",
            "6",
            "-o",
            &more,
        ];
        ok(&longer);
        assert!(
            crate::common::tensors(&more) != crate::common::tensors(&short),
            "{learner}"
        );
    }
}
