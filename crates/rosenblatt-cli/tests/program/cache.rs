//! Caches: the same model as from the file itself; stale and damaged ones are noticed.

use crate::common::{Place, ok, run, stderr};

fn table(place: &Place) -> String {
    let mut text = String::from("size,colour,words,kind\n");
    for i in 0..300 {
        let colour = ["red", "green", "", "blue"][i % 4];
        let kind = if (i * 7) % 11 > 5 { "a" } else { "b" };
        text += &format!(
            "{}.{},{colour},\"one two, {}\",{kind}\n",
            i % 17,
            i % 7,
            i % 5
        );
    }
    place.file("t.csv", &text)
}

fn bytes(path: &str) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn a_model_is_the_same_from_the_file_and_from_its_cache() {
    let place = Place::new();
    let csv = table(&place);
    let svm = place.to("t.svm");
    ok(&[
        "generate", "sparse", "-n", "700", "-d", "300", "--noise", "0.1", "-o", &svm,
    ]);
    for (name, data) in [("csv", csv), ("svm", svm)] {
        let more: &[&str] = if name == "csv" {
            &["--label", "kind", "--scale", "minmax"]
        } else {
            &[]
        };
        for order in ["shuffled", "given"] {
            let learn = ["--epochs", "7", "--order", order];
            let to = |n: &str| place.to(&format!("{name}-{n}.rbm"));
            let train = |data: &str, model: &str, more: &[&str]| {
                let mut args = vec!["train", data, "-o", model];
                args.extend(learn);
                args.extend(more);
                ok(&args);
                bytes(model)
            };
            let plain = train(&data, &to("plain"), more);
            let mut with_cache = more.to_vec();
            with_cache.push("--cache");
            assert_eq!(plain, train(&data, &to("made"), &with_cache));
            assert_eq!(plain, train(&data, &to("kept"), &with_cache));
            let cache = place.to(&format!("{name}.rbc"));
            let mut convert = vec!["convert", data.as_str(), cache.as_str()];
            convert.extend(more);
            ok(&convert);
            assert_eq!(plain, train(&cache, &to("named"), &["--memory", "1MiB"]));
            let half = place.to(&format!("{name}-half.rbm"));
            let longer = place.to(&format!("{name}-longer.rbm"));
            ok(&[
                "train", &cache, "-o", &half, "--epochs", "3", "--order", order,
            ]);
            ok(&[
                "train", &cache, "--resume", &half, "--epochs", "7", "-o", &longer,
            ]);
            assert_eq!(plain, bytes(&longer));
            ok(&["test", &to("named"), &data]);
            std::fs::remove_file(format!("{data}.rbc")).unwrap();
        }
    }
}

#[test]
fn text_that_takes_more_than_memory_is_trained_on_all_the_same() {
    let place = Place::new();
    let svm = place.to("t.svm");
    ok(&[
        "generate",
        "sparse",
        "-n",
        "9000",
        "-d",
        "3000",
        "--non-zeros",
        "100",
        "--noise",
        "0.05",
        "-o",
        &svm,
    ]);
    let train = |model: &str, more: &[&str]| {
        let model = place.to(model);
        let mut args = vec!["train", &svm, "-o", &model, "--epochs", "2"];
        args.extend(["--precision", "f64"]);
        args.extend(more);
        run(&args)
    };
    let plain = train("plain.rbm", &[]);
    let little = train("little.rbm", &["--memory", "8M"]);
    assert_eq!(little.status.code(), Some(0), "{}", stderr(&little));
    assert_eq!(
        bytes(&place.to("plain.rbm")),
        bytes(&place.to("little.rbm"))
    );
    // All that is told is the same, but for the name of the model and the time.
    let told = |output: &std::process::Output| {
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        let lines = text
            .lines()
            .filter(|l| !l.starts_with("model") && !l.starts_with("time"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(told(&plain), told(&little));
    assert!(stderr(&little).contains("more than --memory"));
    assert!(!stderr(&plain).contains("more than --memory"));
    // By way of a cache that stays, from a packed file, and in two runs.
    let cached = train("cached.rbm", &["--memory", "8M", "--cache"]);
    assert_eq!(cached.status.code(), Some(0), "{}", stderr(&cached));
    let packed = place.to("t.svm.gz");
    ok(&["convert", &svm, &packed]);
    let train_packed = |model: &str, more: &[&str]| {
        let model = place.to(model);
        let mut args = vec!["train", &packed, "-o", &model, "--memory", "8M"];
        args.extend(more);
        assert!(stderr(&run(&args)).contains("more than --memory"));
    };
    train_packed("packed.rbm", &["--epochs", "2", "--precision", "f64"]);
    train_packed("half.rbm", &["--epochs", "1", "--precision", "f64"]);
    let half = place.to("half.rbm");
    train_packed("resumed.rbm", &["--epochs", "2", "--resume", &half]);
    for name in ["cached.rbm", "packed.rbm", "resumed.rbm"] {
        assert!(
            bytes(&place.to("plain.rbm")) == bytes(&place.to(name)),
            "{name}"
        );
    }
    // Without a model to lie beside.
    let told = ok(&[
        "train",
        &svm,
        "--memory",
        "8M",
        "--precision",
        "f64",
        "--epochs",
        "1",
        "--json",
    ]);
    assert!(
        told.contains("\"examples\":9000") || told.contains("\"examples\": 9000"),
        "{told}"
    );
    let held = train("held.rbm", &["--memory", "8M", "--validate", "0.2"]);
    assert_eq!(held.status.code(), Some(1), "{}", stderr(&held));
    assert!(stderr(&held).contains("more than 16 MiB of memory"));
    let mut left: Vec<_> = (std::fs::read_dir(place.0.path()).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".rbm"))
        .collect();
    left.sort();
    assert_eq!(left, ["t.svm", "t.svm.gz", "t.svm.rbc"]);
}

#[test]
fn stale_and_damaged_caches_are_said_and_made_anew() {
    let place = Place::new();
    let csv = table(&place);
    let cache = format!("{csv}.rbc");
    let model = place.to("m.rbm");
    let train = |more: &[&str]| {
        let mut args = vec![
            "train",
            csv.as_str(),
            "--cache",
            "--epochs",
            "3",
            "-o",
            &model,
        ];
        args.extend(more);
        let output = run(&args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    assert!(!train(&[]).contains("cache"));
    assert!(!train(&[]).contains("cache"));
    assert!(train(&["--scale", "none"]).contains("other options"));
    assert!(train(&[]).contains("other options"));
    let whole = bytes(&cache);
    let good = bytes(&model);
    let places = [
        3,
        9,
        40,
        500,
        whole.len() / 2,
        whole.len() - 9,
        whole.len() - 300,
    ];
    for at in places {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        std::fs::write(&cache, &changed).unwrap();
        let said = train(&[]);
        assert!(said.contains("rebuilt"), "{at}: {said}");
        assert_eq!(bytes(&model), good);
        assert_eq!(bytes(&cache), whole);
    }
    for keep in [0, 5, 20, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&cache, &whole[..keep]).unwrap();
        assert!(train(&[]).contains("rebuilt"), "{keep}");
    }
    let mut text = std::fs::read_to_string(&csv).unwrap();
    text += "1.5,red,\"three\",a\n";
    std::fs::write(&csv, text).unwrap();
    assert!(train(&[]).contains("older than its source"));
    // A damaged cache that is itself the data is refused.
    std::fs::write(&cache, &whole[..whole.len() / 2]).unwrap();
    let output = run(&["train", &cache, "-o", &model]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cut off"), "{}", stderr(&output));
    for (args, words) in [
        (
            vec!["train", &csv, "--cache", "--validate", "0.2"],
            "held out",
        ),
        (vec!["train", &cache, "--label", "kind"], "fixed when"),
        (vec!["train", "-", "--cache"], "stdin"),
        (vec!["train", &csv, "--format", "cache"], "no cache"),
    ] {
        let output = run(&args);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{args:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

/// The time at which a file is said to have been written can be set back.
#[cfg(unix)]
#[test]
fn a_source_that_pretends_to_be_old_is_read_anew() {
    let place = Place::new();
    let data = place.file("d.svm", "1 1:2\n-1 1:-2\n");
    let old = ok(&["train", &data, "--cache"]);
    let stamp = std::fs::metadata(&data).unwrap().modified().unwrap();
    place.file("d.svm", "-1 1:2\n1 1:-2\n");
    let file = std::fs::File::options().write(true).open(&data).unwrap();
    file.set_modified(stamp).unwrap();
    drop(file);
    let weights = |said: &str| {
        let line = said.lines().find(|line| line.starts_with("weights"));
        line.unwrap().to_owned()
    };
    let new = ok(&["train", &data, "--cache"]);
    assert_ne!(weights(&new), weights(&old));
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_is_made_shorter_meanwhile_ends_the_run_with_an_error() {
    let place = Place::new();
    let [data, cache, model] = ["d.svm", "d.rbc", "m.rbm"].map(|n| place.to(n));
    ok(&[
        "generate", "sparse", "-n", "3000", "-d", "300", "--noise", "0.1", "-o", &data,
    ]);
    ok(&["convert", &data, &cache]);
    let endless = [
        "--save-every",
        "0",
        "--epochs",
        "100000000",
        "--order",
        "given",
    ];
    let mut args = vec!["train", &cache, "-o", &model];
    args.extend(endless);
    let mut child = crate::common::program(&args)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !std::path::Path::new(&model).exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let file = std::fs::File::options().write(true).open(&cache).unwrap();
    file.set_len(4096).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("error: a file was truncated while it was read"));
    // What was saved before is whole.
    assert!(ok(&["inspect", &model]).contains("unfinished"));
}
