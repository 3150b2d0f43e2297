//! `tune`: what it tries, what it chooses, and that its answer can be had again.

use serde_json::Value;

use crate::common::*;

/// Two classes that overlap; `person` says which rows belong together and tells nothing.
fn overlapping() -> String {
    overlapping_rows(300)
}

fn overlapping_rows(n: u32) -> String {
    let mut text = String::from("person,a,b,class\n");
    for i in 0..n {
        let class = if i * 7 % 13 < 6 { "yes" } else { "no" };
        let side = if class == "yes" { 0.6 } else { -0.6 };
        let noise = |k: u32| f64::from(i * k % 101) / 50.0 - 1.0;
        let (a, b) = (side + noise(37), noise(53) - side);
        text.push_str(&format!("p{},{a},{b},{class}\n", i * 11 % 30));
    }
    text
}

/// Without what depends on the clock.
fn timeless(mut found: Value) -> Value {
    found["seconds"] = Value::Null;
    for trial in found["trials"].as_array_mut().unwrap() {
        trial["seconds"] = Value::Null;
    }
    found
}

#[test]
fn the_command_it_prints_makes_the_model_it_saves() {
    let place = Place::new();
    let data = place.file("data.csv", overlapping());
    let model = place.to("tuned.rbm");
    let found = json(&[
        "tune",
        &data,
        "--learner",
        "arow",
        "--groups",
        "person",
        "--metric",
        "macro-f1",
        "-o",
        &model,
    ]);
    assert_eq!(found["best"]["learner"], "arow");
    assert_eq!(found["best"]["metric"], "macro-f1");
    assert_eq!(found["trials"].as_array().unwrap().len(), 6);
    let command = found["best"]["command"].as_str().unwrap();
    assert!(command.contains("--ignore person"), "{command}");
    let again = place.to("again.rbm");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let end = words.len() - 2;
    assert_eq!(words[end..], ["-o", model.as_str()]);
    ok(&[&words[..end], &["-q", "-o", &again]].concat());
    let same = std::fs::read(&model).unwrap() == std::fs::read(&again).unwrap();
    assert!(same, "{command}");
}

#[test]
fn the_answer_is_the_same_on_any_number_of_threads() {
    let place = Place::new();
    let data = place.file("data.csv", overlapping());
    let tune = |threads: &str| {
        timeless(json(&[
            "tune",
            &data,
            "--ignore",
            "person",
            "--validate",
            "0.2",
            "--folds",
            "3",
            "--threads",
            threads,
        ]))
    };
    let (one, four) = (tune("1"), tune("4"));
    assert_eq!(one, four);
    // So few rows say little, so every setting was scored on every fold.
    let trials = one["trials"].as_array().unwrap();
    assert!(trials.iter().all(|t| folds(t) == 3), "{trials:?}");
    let means = |trial: &Value| {
        let scores = trial["scores"].as_array().unwrap().iter();
        let scores: Vec<f64> = scores.map(|s| s.as_f64().unwrap()).collect();
        scores.iter().sum::<f64>() / scores.len() as f64
    };
    for trial in trials {
        assert!((trial["score"].as_f64().unwrap() - means(trial)).abs() < 1e-12);
    }
    let interval = one["best"]["interval"].as_array().unwrap();
    let score = one["best"]["score"].as_f64().unwrap();
    assert!(interval[0].as_f64().unwrap() < score && score < interval[1].as_f64().unwrap());
    assert_eq!(one["held_out"]["examples"], 60);
}

fn folds(trial: &Value) -> usize {
    trial["scores"].as_array().unwrap().len()
}

#[test]
fn of_many_rows_only_the_better_settings_meet_every_fold() {
    let place = Place::new();
    let data = place.file("data.csv", overlapping_rows(1200));
    let model = place.to("tuned.rbm");
    let tune = |threads: &str| {
        timeless(json(&[
            "tune",
            &data,
            "--ignore",
            "person",
            "--folds",
            "3",
            "--threads",
            threads,
            "-o",
            &model,
        ]))
    };
    let (one, four) = (tune("1"), tune("4"));
    assert_eq!(one, four);
    let trials = one["trials"].as_array().unwrap();
    // Of 22 settings half go on to the first fold, and half of those to the next.
    let with = |n: usize| trials.iter().filter(|t| folds(t) == n).count();
    assert_eq!([0, 1, 2, 3].map(with), [11, 5, 3, 3]);
    // Those that met more folds come first; each has a score.
    assert!(trials.is_sorted_by_key(|t| std::cmp::Reverse(folds(t))));
    for trial in trials {
        let score = trial["score"].as_f64().unwrap();
        assert!((0.5..1.0).contains(&score), "{trial}");
    }
    let said = ok(&["tune", &data, "--ignore", "person", "--folds", "3"]);
    assert!(said.contains("0 folds: trained on one fold"), "{said}");
    let command = one["best"]["command"].as_str().unwrap();
    assert!(!command.contains("tolerance"), "{command}");
    let again = place.to("again.rbm");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    ok(&[&words[..words.len() - 2], &["-q", "-o", &again]].concat());
    assert!(std::fs::read(&model).unwrap() == std::fs::read(&again).unwrap());
}

#[test]
fn a_score_is_that_of_the_model_that_train_would_make() {
    let place = Place::new();
    let data = place.file("data.csv", overlapping());
    // Settings whose runs go on long after the pass that becomes the model, and one that does not.
    for (setting, value) in [
        ("--margin-demand", "0"),
        ("--epochs", "4"),
        ("--until", "separated"),
    ] {
        let common = [
            "--ignore",
            "person",
            setting,
            value,
            "--learner",
            "perceptron",
        ];
        let tuned = json(
            &[
                &["tune", &data, "--folds", "4", "--grid", "at-zero=positive"],
                &common[..],
            ]
            .concat(),
        );
        let cv = json(
            &[
                &["train", &data, "--cv", "4", "--at-zero", "positive"],
                &common[..],
            ]
            .concat(),
        );
        let trials = tuned["trials"].as_array().unwrap();
        assert_eq!(trials.len(), 1);
        assert_eq!(trials[0]["scores"], cv["cv"]["accuracies"], "{setting}");
    }
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let place = Place::new();
    let data = place.file("data.csv", overlapping());
    for (more, said) in [
        (vec!["--grid", "c"], "expected NAME=VALUE"),
        (vec!["--grid", "nonsense=1,2"], "nonsense"),
        (vec!["--c", "1", "--grid", "c=1,2"], "in the grid"),
        (vec!["--time", "a"], "later than those held out"),
        (vec!["--patience", "2"], "--grid epochs="),
        (vec!["--grid", "patience=1,2"], "--grid epochs="),
        (vec!["--validate-file", &data], "folds of one file"),
        (vec!["--budget", "0.000000001"], "within the --budget"),
        (
            vec!["--folds", "200", "--groups", "person"],
            "use fewer folds",
        ),
    ] {
        let args = [vec!["tune", data.as_str()], more].concat();
        let output = run(&args);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{args:?}");
        assert!(told.contains(said), "{args:?}: {told}");
    }
}

/// Reviews whose class is told by a pair of words, by neither alone.
fn reviews() -> String {
    let mut text = String::from("review,class\n");
    for i in 0..200u32 {
        let (first, second) = (i % 2, i / 2 % 2);
        let class = if first == second { "good" } else { "bad" };
        let (a, b) = (
            ["not", "very"][first as usize],
            ["dull", "bright"][second as usize],
        );
        text.push_str(&format!(
            "the film number {} was {a} {b} to us,{class}\n",
            i * 7 % 50
        ));
    }
    text
}

#[test]
fn texts_are_cut_as_is_best() {
    let place = Place::new();
    let data = place.file("reviews.csv", reviews());
    let model = place.to("tuned.rbm");
    let found = json(&[
        "tune",
        &data,
        "--label",
        "class",
        "--column",
        "review=text",
        "--learner",
        "logistic",
        "--folds",
        "3",
        "-o",
        &model,
    ]);
    let command = found["best"]["command"].as_str().unwrap();
    assert!(command.contains("--text words:1-2"), "{command}");
    assert_eq!(found["best"]["score"], 1.0);
    let again = place.to("again.rbm");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    ok(&[&words[..words.len() - 2], &["-q", "-o", &again]].concat());
    let same = std::fs::read(&model).unwrap() == std::fs::read(&again).unwrap();
    assert!(same, "{command}");
}

#[test]
fn ways_to_scale_are_tried_on_one_grid_with_settings_of_the_learner() {
    let place = Place::new();
    let data = place.file("data.csv", overlapping());
    let found = json(&[
        "tune",
        &data,
        "--learner",
        "arow",
        "--grid",
        "scale=none,standard",
        "--grid",
        "r=1,10",
        "--folds",
        "2",
    ]);
    let trials = found["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4);
    let scaled = |t: &&Value| t["command"].as_str().unwrap().contains("--scale standard");
    assert_eq!(trials.iter().filter(scaled).count(), 2);
    let output = with_stdin(
        &["tune", "-", "--grid", "scale=none,standard"],
        overlapping().as_bytes(),
    );
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("read once"), "{stderr}");
    let refused = run(&["tune", &data, "--grid", "text=words,chars:3-5"]);
    assert_eq!(refused.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(stderr.contains("text is for columns of text"), "{stderr}");
}

#[test]
fn nested_searches_are_tested_on_rows_that_they_never_saw() {
    let place = Place::new();
    let data = place.file("data.csv", overlapping());
    let tune = |threads: &str| {
        timeless(json(&[
            "tune",
            &data,
            "--ignore",
            "person",
            "--learner",
            "logistic",
            "--metric",
            "neg-log-loss",
            "--folds",
            "3",
            "--nested",
            "4",
            "--threads",
            threads,
        ]))
    };
    let found = tune("1");
    assert_eq!(found, tune("3"));
    let nested = &found["nested"];
    let scores = nested["scores"].as_array().unwrap();
    assert_eq!(
        (scores.len(), nested["best"].as_array().unwrap().len()),
        (4, 4)
    );
    let mean = scores.iter().map(|s| s.as_f64().unwrap()).sum::<f64>() / 4.0;
    assert!((nested["score"].as_f64().unwrap() - mean).abs() < 1e-12);
    let interval = nested["interval"].as_array().unwrap();
    assert!(interval[0].as_f64().unwrap() < mean && mean < interval[1].as_f64().unwrap());
    let said = ok(&[
        "tune",
        &data,
        "--ignore",
        "person",
        "--learner",
        "logistic",
        "--nested",
        "2",
    ]);
    assert!(said.contains("nested    accuracy"), "{said}");
}
