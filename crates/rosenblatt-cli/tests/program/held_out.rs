//! Held-out rows: which they are, what they choose, and what is said of rows trained on.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::*;

/// 400 rows of 40 people over 400 days: x tells the class but for every seventh row, and `person`
/// and `day` tell nothing.
fn visits() -> String {
    let mut text = String::from("person,day,x,z,note,class\n");
    for i in 0..400u32 {
        let class = if i * 37 % 11 < 4 { "yes" } else { "no" };
        let side = f64::from(u8::from(class == "yes")) * 2.0 - 1.0;
        let x = if i % 7 == 3 { -side } else { side } + f64::from(i * 29 % 17) / 20.0;
        let (month, day) = (1 + i / 28 % 12, 1 + i % 28);
        text.push_str(&format!(
            "p{},{}-{month:02}-{day:02},{x},{},\"a, \"\"quoted\"\"\nnote\",{class}\n",
            i * 13 % 40,
            2020 + i / 336,
            f64::from(i * 31 % 23) / 10.0,
        ));
    }
    text
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn stderr_of(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_best_pass_is_kept_and_said() {
    let place = Place::new();
    let data = place.to("noisy.csv");
    let generate = ["generate", "separable", "-n", "300", "--noise", "0.2"];
    ok(&[&generate[..], &["--seed", "3", "-o", &data]].concat());
    let train = |more: &[&str]| {
        let fixed = ["train", &data, "--validate", "0.3", "--epochs", "30"];
        json(&[&fixed, more].concat())
    };
    let of_passes = |report: &Value| -> Vec<f64> {
        let list = report["validation_accuracy_per_epoch"].as_array().unwrap();
        list.iter().map(number).collect()
    };
    let best = train(&[]);
    let accuracies = of_passes(&best);
    let highest = accuracies.iter().copied().fold(0.0, f64::max);
    let last_best = accuracies.iter().rposition(|a| *a == highest).unwrap() as u64 + 1;
    assert_eq!(best["best_epoch"], last_best);
    assert_eq!(number(&best["validation"]["accuracy"]), highest);
    let last = train(&["--keep", "last"]);
    assert_eq!(of_passes(&last), accuracies);
    assert_eq!(last["best_epoch"], Value::Null);
    assert_eq!(number(&last["validation"]["accuracy"]), accuracies[29]);
    assert!(
        accuracies[29] < highest,
        "a set on which the last pass is the best shows nothing"
    );
    for (metric, key) in [
        ("balanced-accuracy", "balanced_accuracy"),
        ("macro-f1", "macro_f1"),
        ("weighted-f1", "weighted_f1"),
        ("auc", "auc"),
        ("average-precision", "average_precision"),
        ("mcc", "mcc"),
    ] {
        let chosen = train(&["--metric", metric]);
        assert_eq!(chosen["metric"], metric);
        let (found, other) = (&chosen["metrics"][key], &best["metrics"][key]);
        assert!(number(found) >= number(other), "{metric}: {found} {other}");
        let [low, high] = [0, 1].map(|i| number(&chosen["metrics"]["intervals"][key][i]));
        assert!(low <= number(found) && number(found) <= high, "{metric}");
    }
    let text = ok(&["train", &data, "--validate", "0.3", "--epochs", "30"]);
    assert!(text.contains("chosen on them, so their figures"), "{text}");
}

#[test]
fn a_run_ends_where_passes_gain_nothing() {
    let place = Place::new();
    let data = place.to("noisy.csv");
    ok(&[
        "generate",
        "separable",
        "-n",
        "20000",
        "-d",
        "30",
        "--noise",
        "0.2",
        "-o",
        &data,
    ]);
    let train = |more: &[&str]| json(&[&["train", data.as_str()], more].concat());
    let plain = train(&[]);
    assert_eq!(plain["stop"], "no_gain");
    let epochs = plain["epochs"].as_u64().unwrap();
    // 1.5e7 over 20,000 rows of 30 values, and 30 for each row, are always allowed; never more
    // than 20 passes beyond.
    assert_eq!(epochs, 12);
    let updates = (2 * plain["updates"].as_u64().unwrap()).to_string();
    let on = train(&["--until", "separated", "--max-updates", &updates]);
    assert_eq!(on["stop"], "update_limit");
    let counted = train(&["--epochs", "40"]);
    assert_eq!(
        (&counted["stop"], &counted["epochs"]),
        (&"epoch_limit".into(), &40.into())
    );
    let held = train(&["--validate", "0.2"]);
    let best = held["best_epoch"].as_u64().unwrap();
    assert_eq!(held["stop"], "no_gain");
    assert!(held["epochs"].as_u64().unwrap() <= 21.max(2 * best));
    // What is said before is what is done.
    let expected = train(&["--dry-run"]);
    assert_eq!(expected["epochs_expected"], epochs);
    assert!(number(&expected["seconds_expected"]["train"]) > 0.0);
}

/// The values of a column in a part of the visits.
fn column(path: &str, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let place = header.split(',').position(|n| n == name).unwrap();
    // The second line of a row is the end of its note.
    let rows = lines.filter(|line| !line.starts_with("note"));
    rows.map(|row| row.split(',').nth(place).unwrap().to_owned())
        .collect()
}

#[test]
fn groups_are_held_out_together() {
    let place = Place::new();
    let (data, prefix) = (place.file("visits.csv", visits()), place.to("part"));
    let [train, test] = ["train", "test"].map(|part| format!("{prefix}.{part}.csv"));
    let args = ["train", &data, "--ignore", "day", "--groups", "person"];
    let report = json(&[&args[..], &["--validate", "0.25", "--save-split", &prefix]].concat());
    let people = |path| column(path, "person").into_iter().collect::<BTreeSet<_>>();
    let (inside, outside) = (people(&train), people(&test));
    assert!(inside.is_disjoint(&outside));
    assert_eq!(inside.len() + outside.len(), 40);
    assert_eq!(report["examples"], column(&train, "person").len());
    assert_eq!(
        report["validation"]["examples"],
        column(&test, "person").len()
    );
    let roles = report["data"]["columns"].as_array().unwrap();
    assert!(
        roles
            .iter()
            .any(|c| c["name"] == "person" && c["role"] == "groups")
    );
    let weights = report["largest_weights"].to_string();
    assert!(!weights.contains("person"), "{weights}");
    // Without groups the same people are on both sides.
    let parted = [
        "train",
        &data,
        "--ignore",
        "day",
        "--validate",
        "0.25",
        "--save-split",
        &prefix,
    ];
    ok(&parted);
    assert!(!people(&train).is_disjoint(&people(&test)));
    let folds = json(&[&args[..], &["--cv", "4"]].concat());
    assert_eq!(folds["cv"]["accuracies"].as_array().unwrap().len(), 4);
    assert!(number(&folds["cv"]["seconds"]) > 0.0);
    assert!(number(&folds["cv"]["metrics"]["macro_f1"]) > 0.5);
    let text = ok(&[&args[..], &["--cv", "4"]].concat());
    assert!(text.contains(" cross-validation\n"), "{text}");
    for (more, message) in [
        (&["--cv", "60"][..], "60 for fewer groups"),
        (&[], "add --validate"),
        (&["--validate", "0.2", "--time", "day"], "two ways"),
    ] {
        let output = run(&[&args[..], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn the_last_rows_by_time_are_held_out() {
    let place = Place::new();
    let (data, prefix) = (place.file("visits.csv", visits()), place.to("part"));
    let args = [
        "train",
        &data,
        "--ignore",
        "person",
        "--time",
        "day",
        "--validate",
        "0.25",
        "--save-split",
        &prefix,
    ];
    let report = json(&args);
    let [before, after] =
        ["train", "test"].map(|part| column(&format!("{prefix}.{part}.csv"), "day"));
    assert_eq!((before.len(), after.len()), (300, 100));
    assert!(before.iter().max() < after.iter().min());
    assert_eq!(report["validation"]["examples"], 100);
    let early = "t,x,c\n1,0,a\n2,1,b\n3,0,a\n4,1,b\n5,0,a\n6,0,a\n7,0,a\n8,1,a\n";
    let early = place.file("early.csv", early);
    let said = stderr_of(&["train", &early, "--time", "t", "--validate", "0.4"]);
    assert!(
        said.contains("warning: no held-out example has the class b"),
        "{said}"
    );
    let bad = place.file(
        "bad.csv",
        "t,x,c\n18.11.2026,0,a\n19.11.2026,1,b\n20.11.2026,1,b\n",
    );
    let output = run(&["train", &bad, "--time", "t", "--validate", "0.4"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("18.11.2026") && error.contains("2026-11-18"),
        "{error}"
    );
}

#[test]
fn a_saved_split_is_trained_and_tested_as_the_whole_was() {
    let place = Place::new();
    let (data, prefix) = (place.file("visits.csv", visits()), place.to("part"));
    let [train, test] = ["train", "test"].map(|part| format!("{prefix}.{part}.csv"));
    let (whole, apart) = (place.to("whole.rbm"), place.to("apart.rbm"));
    let common = [
        "--epochs",
        "6",
        "--ignore",
        "person,day",
        "--keep",
        "last",
        "--seed",
        "4",
    ];
    let both = json(
        &[
            &[
                "train",
                &data,
                "--validate",
                "0.25",
                "--save-split",
                &prefix,
                "-o",
                &whole,
            ],
            &common[..],
        ]
        .concat(),
    );
    assert_eq!(both["split"], serde_json::json!([train, test]));
    let split = json(
        &[
            &["train", &train, "--validate-file", &test, "-o", &apart],
            &common[..],
        ]
        .concat(),
    );
    for key in [
        "mistakes_per_epoch",
        "largest_weights",
        "validation",
        "metrics",
    ] {
        assert_eq!(both[key], split[key], "{key}");
    }
    let tested = json(&["test", &whole, &test]);
    assert_eq!(tested["accuracy"], both["validation"]["accuracy"]);
    assert_eq!(tested["metrics"], both["metrics"]);
    // Libsvm rows, with comments between them, are copied as they stand.
    let lines: String = (0..40)
        .map(|i| {
            format!(
                "# row {i}\n{} 1:{} 2:1 # end\n\n",
                i % 2,
                f64::from(i) / 8.0
            )
        })
        .collect();
    let rows = place.file("rows.svm", lines);
    ok(&[
        "train",
        &rows,
        "--validate",
        "0.25",
        "--save-split",
        &prefix,
    ]);
    let read = |part: &str| std::fs::read_to_string(format!("{prefix}.{part}.svm")).unwrap();
    let (train, test) = (read("train"), read("test"));
    assert_eq!((train.lines().count(), test.lines().count()), (30, 10));
    assert!(test.lines().all(|line| line.ends_with(" 2:1 # end")));
    let stdin = with_stdin(
        &["train", "-", "--validate", "0.25", "--save-split", &prefix],
        visits().as_bytes(),
    );
    assert_eq!(stdin.status.code(), Some(2));
}

#[test]
fn labels_that_only_the_held_out_file_has_are_counted() {
    let place = Place::new();
    let data = place.file("visits.csv", visits());
    let other = place.file("other.csv", visits().replacen(",yes\n", ",maybe\n", 5));
    let args = [
        "train",
        &data,
        "--ignore",
        "person,day",
        "--validate-file",
        &other,
    ];
    let said = stderr_of(&args);
    assert!(
        said.contains("5 rows of") && said.contains("\"maybe\""),
        "{said}"
    );
    assert_eq!(json(&args)["validation"]["examples"], 395);
}

#[test]
fn test_says_when_its_rows_were_trained_on() {
    let place = Place::new();
    let (data, prefix) = (place.file("visits.csv", visits()), place.to("part"));
    let [train, test] = ["train", "test"].map(|part| format!("{prefix}.{part}.csv"));
    let model = place.to("m.rbm");
    // Days tell all rows apart.
    let args = [
        "train",
        &data,
        "--ignore",
        "person",
        "--validate",
        "0.25",
        "-o",
        &model,
    ];
    let report = json(&[&args[..], &["--save-split", &prefix]].concat());
    let trained = report["examples"].as_u64().unwrap();
    let seen = |path: &str| json(&["test", &model, path])["trained_on"].clone();
    assert_eq!(
        seen(&train),
        serde_json::json!({"rows": trained, "of": trained})
    );
    assert_eq!(seen(&data), serde_json::json!({"rows": trained, "of": 400}));
    assert_eq!(seen(&test), Value::Null);
    let said = |path: &str| ok(&["test", &model, path]);
    assert!(said(&train).contains("warning: the model was trained on these rows"));
    assert!(said(&data).contains(" % of 400 rows looked up equal rows"));
    assert!(!said(&test).contains("trained on"));
    let page = place.to("page.html");
    ok(&["test", &model, &train, "--report", &page]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("the model was trained on these rows"));
}

#[test]
fn two_models_are_compared_on_the_same_rows() {
    let place = Place::new();
    let data = place.file("visits.csv", visits());
    let (one, two) = (place.to("one.rbm"), place.to("two.rbm"));
    ok(&["train", &data, "--ignore", "person,day", "-o", &one]);
    // Without x little is known.
    ok(&["train", &data, "--ignore", "person,day,x", "-o", &two]);
    let same = json(&["test", &one, &data, "--compare", &one]);
    assert_eq!(same["compare"]["p_value"], 1.0);
    let found = json(&["test", &one, &data, "--compare", &two]);
    let compared = &found["compare"];
    let (a, b) = (
        number(&compared["only_this"]),
        number(&compared["only_other"]),
    );
    let gain = number(&found["accuracy"]) - number(&compared["accuracy"]);
    assert!((gain - (a - b) / 400.0).abs() < 1e-12 && gain > 0.05);
    assert!((0.0..0.05).contains(&number(&compared["p_value"])));
    let text = ok(&["test", &one, &data, "--compare", &two]);
    assert!(text.contains("McNemar's exact test p = "), "{text}");
}

#[test]
fn the_rarest_class_is_shown_where_classes_are_imbalanced() {
    let place = Place::new();
    let mut text = String::from("x,z,class\n");
    for i in 0..1000u32 {
        let rare = i % 50 == 7;
        let class = if rare { "fraud" } else { "fine" };
        let x = f64::from(i % 13) + if rare { 3.0 } else { 0.0 };
        text.push_str(&format!("{x},{},{class}\n", i % 5));
    }
    let (data, model) = (place.file("rare.csv", text), place.to("m.rbm"));
    let report = ok(&["train", &data, "--validate", "0.3", "-o", &model]);
    assert!(
        report.contains("rarest class fraud (6 examples): recall "),
        "{report}"
    );
    let tested = ok(&["test", &model, &data]);
    assert!(
        tested.contains("rarest class fraud (20 examples): recall "),
        "{tested}"
    );
    let balanced = place.file("visits.csv", visits());
    assert!(!ok(&["train", &balanced, "--validate", "0.3"]).contains("rarest class"));
}

#[test]
fn numbers_of_a_trace_are_those_of_the_file() {
    let place = Place::new();
    let data = place.file("tenths.csv", "x,y,label\n0.1,0.3,1\n-0.2,0.7,0\n");
    let text = ok(&["trace", &data, "--epochs", "1"]);
    assert!(
        text.contains("0.1") && !text.contains("0.10000000149"),
        "{text}"
    );
    let steps = json(&["trace", &data, "--epochs", "1"]);
    assert_eq!(steps["steps"][0]["weights_after"][1], 0.1);
}

/// `copy` is `a` again, `noise` tells nothing, `colour` a little.
fn columns() -> String {
    let mut text = String::from("a,noise,colour,class\n");
    for i in 0..400u32 {
        let class = i % 2;
        let a = f64::from(class) * 2.0 + f64::from(i * 37 % 101) / 60.0;
        let colour = if i % 5 == 0 || class == 1 {
            "red"
        } else {
            "blue"
        };
        let class = ["no", "yes"][class as usize];
        text.push_str(&format!("{a},{},{colour},{class}\n", i * 53 % 97));
    }
    text
}

#[test]
fn columns_are_ranked_by_permutation() {
    let place = Place::new();
    let data = place.file("data.csv", columns());
    let model = place.to("m.rbm");
    ok(&["train", &data, "--label", "class", "-q", "-o", &model]);
    let found = json(&["test", &model, &data, "--importance", "3"]);
    let listed = found["importance"].as_array().unwrap();
    let names: Vec<&str> = (listed.iter())
        .map(|c| c["column"].as_str().unwrap())
        .collect();
    assert_eq!((names.len(), names[0]), (3, "a"));
    let of = |name: &str| {
        let found = listed.iter().find(|c| c["column"] == name).unwrap();
        (number(&found["mean"]), number(&found["deviation"]))
    };
    assert!(of("a").0 > 0.2 && of("a").0 < 0.6, "{listed:?}");
    assert!(of("noise").0.abs() < 0.05, "{listed:?}");
    // The same on any number of threads, and none unless asked for.
    let again = json(&["test", &model, &data, "--importance", "3", "--threads", "4"]);
    assert_eq!(found["importance"], again["importance"]);
    assert!(json(&["test", &model, &data])["importance"].is_null());
    let said = ok(&["test", &model, &data, "--importance"]);
    assert!(
        said.contains("permuted, mean and standard deviation of 5"),
        "{said}"
    );
}

#[test]
fn columns_that_drifted_are_named() {
    let place = Place::new();
    let data = place.file("data.csv", columns());
    let model = place.to("m.rbm");
    ok(&["train", &data, "--label", "class", "-q", "-o", &model]);
    assert_eq!(
        json(&["test", &model, &data])["drift"],
        serde_json::json!([])
    );
    // Every number of the column a is 3 more.
    let moved: Vec<String> = columns()
        .lines()
        .enumerate()
        .map(|(i, line)| match (i, line.split_once(',')) {
            (1.., Some((a, rest))) => format!("{},{rest}", a.parse::<f64>().unwrap() + 3.0),
            _ => line.to_owned(),
        })
        .collect();
    let moved = place.file("moved.csv", moved.join("\n"));
    let drift = &json(&["test", &model, &moved])["drift"];
    assert_eq!(drift.as_array().unwrap().len(), 1);
    assert_eq!(drift[0]["column"], "a");
    let off = number(&drift[0]["mean"]) - number(&drift[0]["training_mean"]);
    assert!((off - 3.0).abs() < 1e-5, "{drift}");
    let shift = off / number(&drift[0]["training_deviation"]);
    assert!((number(&drift[0]["shift"]) - shift).abs() < 1e-5, "{drift}");
    let said = ok(&["test", &model, &moved]);
    assert!(
        said.contains("differ from the training rows: a has mean"),
        "{said}"
    );
}

#[test]
fn the_average_of_all_passes_is_kept_as_the_report_says() {
    // Separable, and not within ten passes.
    let mut text = String::from("x,label\n");
    for i in 1..=40 {
        text.push_str(&format!("{}.5,a\n{}.5,b\n", 100 + i, 100 - i));
    }
    let place = Place::new();
    let data = place.file("close.csv", text);
    let first = json(&["train", &data, "--scale", "none", "--column", "x=numeric"]);
    assert_eq!(first["kept_epoch"], 10, "{first}");
    assert!(first["epochs"].as_u64().unwrap() > 10, "{first}");
    let printed = ok(&["train", &data, "--scale", "none", "--column", "x=numeric"]);
    assert!(printed.contains("--keep last for all of them"), "{printed}");
    let all = json(&[
        "train",
        &data,
        "--scale",
        "none",
        "--column",
        "x=numeric",
        "--keep",
        "last",
    ]);
    assert_eq!(all["kept_epoch"], serde_json::Value::Null, "{all}");
    assert_eq!(all["mistakes_per_epoch"], first["mistakes_per_epoch"]);
    assert_ne!(all["largest_weights"], first["largest_weights"]);
}
