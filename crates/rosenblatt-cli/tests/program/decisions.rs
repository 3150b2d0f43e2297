//! Probabilities, thresholds and explanations: what `train` decides after training, and what the
//! other commands make of it.

use serde_json::Value;

use crate::common::*;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Two classes that overlap, one of them rare; the columns have units of their own.
fn patients(rows: u32, seed: u32) -> String {
    let mut text = String::from("age,weight,colour,ill\n");
    for i in 0..rows {
        let k = i * 7919 + seed * 104_729;
        let share = |step: u32| f64::from(k.wrapping_mul(step) >> 16 & 1023) / 1024.0;
        let (age, weight) = (
            20.0 + 60.0 * share(2_654_435_761),
            50.0 + 50.0 * share(40_503),
        );
        let risk =
            (age - 50.0) / 15.0 + (weight - 75.0) / 40.0 + 4.0 * (share(2_246_822_519) - 0.8);
        let ill = if risk > 0.0 { "yes" } else { "no" };
        let colour = ["red", "blue"][(i % 2) as usize];
        text.push_str(&format!("{age:.1},{weight:.1},{colour},{ill}\n"));
    }
    text
}

/// The cells of every line.
fn cells(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines();
    lines
        .map(|l| l.split('\t').map(str::to_owned).collect())
        .collect()
}

#[test]
fn a_calibrated_model_gives_probabilities() {
    let place = Place::new();
    let data = place.file("patients.csv", patients(900, 1));
    let new = place.file("new.csv", patients(600, 2));
    for (method, more) in [
        ("", &[][..]),
        ("sigmoid", &["--validate", "0.3"]),
        ("isotonic", &["--validate", "0.3"]),
        ("temperature", &[]),
    ] {
        let model = place.to("m.rbm");
        let calibrate = match method {
            "" => "--calibrate".to_owned(),
            _ => format!("--calibrate={method}"),
        };
        let fixed = ["train", &data, &calibrate, "--label", "ill", "-o", &model];
        let trained = json(&[&fixed, more].concat());
        let usual = if method.is_empty() { "sigmoid" } else { method };
        assert_eq!(trained["calibration"]["method"], usual);
        assert_eq!(
            trained["calibration"]["fitted_on"]["held_out"],
            !more.is_empty()
        );
        let rows = if more.is_empty() { 900.0 } else { 270.0 };
        let fitted_on = number(&trained["calibration"]["fitted_on"]["examples"]);
        assert!((fitted_on - rows).abs() <= 1.0, "{fitted_on}");

        let told = cells(&ok(&["predict", &model, &new, "--probabilities"]));
        assert_eq!(told.len(), 600);
        for row in &told {
            let p: Vec<f64> = row[1..].iter().map(|p| p.parse().unwrap()).collect();
            assert_eq!(p.len(), 2);
            assert!((p[0] + p[1] - 1.0).abs() < 1e-12);
        }
        let one = ok(&["--threads", "1", "predict", &model, &new, "--probabilities"]);
        assert_eq!(cells(&one), told);

        let tested = json(&["test", &model, &new]);
        let metrics = &tested["metrics"];
        assert!(number(&metrics["log_loss"]) < 0.6, "{metrics}");
        assert!(number(&metrics["brier"]) < 0.2, "{metrics}");
        assert!(
            number(&metrics["expected_calibration_error"]) < 0.1,
            "{metrics}"
        );
        let text = ok(&["test", &model, &new]);
        assert!(
            text.contains("log loss 0.") && text.contains("Brier score 0."),
            "{text}"
        );
        assert_eq!(tested["chosen_on"], Value::Null);

        let page = place.to("page.html");
        ok(&["test", &model, &new, "--report", &page]);
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("Reliability of the probabilities"));
        let inspected = ok(&["inspect", &model]);
        assert!(inspected.contains("calibrated by"), "{inspected}");
        let command = ok(&["inspect", &model, "--command"]);
        assert!(
            command.contains(&format!("--calibrate={usual}")),
            "{command}"
        );
    }
    let plain = place.to("plain.rbm");
    ok(&["train", &data, "--label", "ill", "-o", &plain]);
    let refused = run(&["predict", &plain, &new, "--probabilities"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("train with --calibrate"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(
        json(&["test", &plain, &new])["metrics"]["log_loss"],
        Value::Null
    );
}

#[test]
fn several_classes_are_calibrated_by_a_temperature() {
    let place = Place::new();
    let model = place.to("m.rbm");
    let data = penguins();
    let trained = json(&[
        "train",
        &data,
        "--label",
        "species",
        "--calibrate",
        "--validate",
        "0.3",
        "-o",
        &model,
    ]);
    assert_eq!(trained["calibration"]["method"], "temperature");
    assert!(number(&trained["calibration"]["temperature"]) > 0.0);
    assert!(number(&trained["metrics"]["log_loss"]) < 0.5);
    let said = ok(&[
        "train",
        &data,
        "--label",
        "species",
        "--calibrate",
        "--validate",
        "0.3",
    ]);
    assert!(
        said.contains("the held-out rows chose the calibration"),
        "{said}"
    );
    for row in cells(&ok(&["predict", &model, &data, "--probabilities"])) {
        let p: Vec<f64> = row[1..].iter().map(|p| p.parse().unwrap()).collect();
        let most = p.iter().copied().fold(0.0, f64::max);
        let class = p.iter().position(|p| *p == most).unwrap();
        assert_eq!(["Adelie", "Chinstrap", "Gentoo"][class], row[0]);
    }
}

#[test]
fn a_threshold_is_chosen_saved_and_said() {
    let place = Place::new();
    let data = place.file("patients.csv", patients(1200, 1));
    let new = place.file("new.csv", patients(800, 2));
    let model = place.to("m.rbm");
    let fixed = [
        "train",
        &data,
        "--label",
        "ill",
        "--validate",
        "0.4",
        "-o",
        &model,
    ];
    let ill = |report: &Value| -> [f64; 2] {
        let class = &report["by_class"][1];
        assert_eq!(class["class"], "yes");
        ["precision", "recall"].map(|name| number(&class[name]))
    };
    let trained = |rule: &str| {
        let rule = format!("--threshold={rule}");
        json(&[&fixed[..], &[&rule]].concat())
    };
    let careful = trained("recall:0.95");
    assert_eq!(careful["threshold"]["rule"], "recall:0.95");
    assert_eq!(careful["threshold"]["positive"], "yes");
    assert!(ill(&careful["metrics"])[1] >= 0.95);
    assert!(ill(&json(&["test", &model, &new]))[1] > 0.88);
    let sure = trained("precision:0.9");
    assert!(ill(&sure["metrics"])[0] >= 0.9);
    assert!(ill(&sure["metrics"])[1] < ill(&careful["metrics"])[1]);
    let dear = number(&trained("cost:FP=1,FN=20")["threshold"]["value"]);
    let cheap = number(&trained("cost:FP=20,FN=1")["threshold"]["value"]);
    let f1 = number(&trained("f1")["threshold"]["value"]);
    assert!(dear < f1 && f1 < cheap, "{dear} {f1} {cheap}");

    // A given one: of the probability, once there are some.
    let given = json(&[&fixed[..], &["--calibrate", "--threshold", "0.2"]].concat());
    assert_eq!(given["threshold"]["of"], "probability");
    for row in cells(&ok(&["predict", &model, &new, "--probabilities"])) {
        let p: f64 = row[2].parse().unwrap();
        assert_eq!(row[0], if p >= 0.2 { "yes" } else { "no" });
    }
    let said = ok(&["inspect", &model]);
    assert!(
        said.contains("threshold yes where the probability is at least 0.2"),
        "{said}"
    );
    let command = ok(&["inspect", &model, "--command"]);
    assert!(
        command.contains("--calibrate=sigmoid --threshold=0.2"),
        "{command}"
    );
    json(&[&fixed[..], &["--threshold", "-0.5"]].concat());
    for row in cells(&ok(&["predict", &model, &new, "--scores"])) {
        let score: f64 = row[1].parse().unwrap();
        assert_eq!(row[0], if score >= -0.5 { "yes" } else { "no" });
    }
    let onnx = run(&["export", &model, &place.to("m.onnx")]);
    assert!(stderr(&onnx).contains("threshold"), "{}", stderr(&onnx));

    for (bad, said) in [
        ("recall:2", "expected a share above 0 and at most 1"),
        ("cost:FP=1", "expected two costs"),
        ("often", "expected a number, f1, cost:FP=COST,FN=COST"),
    ] {
        let refused = run(&["train", &data, "--threshold", bad]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(said), "{}", stderr(&refused));
    }
    let refused = run(&["train", &penguins(), "--threshold", "f1"]);
    assert!(
        stderr(&refused).contains("--positive"),
        "{}",
        stderr(&refused)
    );
    let refused = run(&["train", &data, "--calibrate", "--threshold", "7"]);
    assert!(
        stderr(&refused).contains("from 0 to 1"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn rows_that_chose_are_told_when_they_are_tested() {
    let place = Place::new();
    let data = place.file("patients.csv", patients(800, 1));
    let (model, part) = (place.to("m.rbm"), place.to("part"));
    let split = ["--validate", "0.3", "--save-split", &part];
    let fixed = ["train", &data, "--label", "ill", "-o", &model];
    let decide = ["--calibrate", "--threshold", "f1"];
    ok(&[&fixed[..], &split, &decide].concat());
    let held_out = place.to("part.test.csv");
    let tested = json(&["test", &model, &held_out]);
    assert_eq!(
        tested["chosen_on"],
        serde_json::json!(["the pass", "the calibration", "the threshold"])
    );
    let said = ok(&["test", &model, &held_out]);
    assert!(
        said.contains("these rows chose the pass, the calibration and the threshold"),
        "{said}"
    );
    let new = place.file("new.csv", patients(800, 2));
    assert!(!ok(&["test", &model, &new]).contains("these rows chose"));
    // A run that goes on decides anew as it did.
    ok(&[
        "train",
        &data,
        "--label",
        "ill",
        "-o",
        &model,
        "--epochs",
        "2",
        "--calibrate",
    ]);
    let on = json(&["train", &data, "--resume", &model, "--epochs", "4"]);
    assert_eq!(on["calibration"]["method"], "sigmoid");
}

#[test]
fn explanations_are_in_the_units_of_the_file_and_add_up() {
    let place = Place::new();
    let data = place.file("patients.csv", patients(600, 1));
    let new = place.file(
        "new.csv",
        "age,weight,colour\n71.5,92.0,red\n21.5,55.0,blue\n",
    );
    let model = place.to("m.rbm");
    ok(&["train", &data, "--label", "ill", "-o", &model]);
    let report = json(&["explain", &model, &new]);
    let scores = cells(&ok(&["predict", &model, &new, "--scores"]));
    for (i, (row, expected)) in report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .zip([["yes", "no", "71.5", "92"], ["no", "yes", "21.5", "55"]])
        .enumerate()
    {
        assert_eq!(
            (&row["class"], &row["against"]),
            (&expected[0].into(), &expected[1].into())
        );
        let score: f64 = scores[i][1].parse().unwrap();
        let toward = if expected[0] == "yes" { score } else { -score };
        assert!((number(&row["score"]) - toward).abs() < 1e-9);
        let parts = row["contributions"].as_array().unwrap();
        let sum: f64 = parts.iter().map(|c| number(&c["amount"])).sum();
        assert!((sum + number(&row["bias"]) - toward).abs() < 1e-6, "{row}");
        let value = |name: &str| {
            let found = parts.iter().find(|c| c["feature"] == name).unwrap();
            number(&found["value"]).to_string()
        };
        assert_eq!([value("age"), value("weight")], [expected[2], expected[3]]);
        assert_eq!(parts[0]["feature"], "age");
    }
    let text = ok(&["explain", &model, &new, "--rows", "1", "--most", "1"]);
    assert!(text.starts_with("row 1: yes rather than no"), "{text}");
    assert!(
        text.contains("age = 71.5") && text.contains("all others"),
        "{text}"
    );
    assert!(
        !text.contains("weight") && !text.contains("row 2"),
        "{text}"
    );
    let lines = cells(&ok(&["predict", &model, &new, "--explain", "2"]));
    assert_eq!((lines[0].len(), &lines[0][0]), (3, &"yes".to_owned()));
    assert!(lines[0][1].starts_with("age = 71.5 +"), "{lines:?}");

    // The weights of the file's own units score the file's own numbers.
    let found = json(&["inspect", &model]);
    let original = &found["discriminators_in_original_units"][0];
    let weight = |name: &str| {
        let all = original["weights"].as_array().unwrap();
        let pair = all.iter().find(|pair| pair[0] == name);
        number(&pair.unwrap()[1])
    };
    let sum = number(&original["bias"])
        + 71.5 * weight("age")
        + 92.0 * weight("weight")
        + weight("colour=red");
    let score: f64 = scores[0][1].parse().unwrap();
    assert!((sum - score).abs() < 1e-4 * score.abs(), "{sum} {score}");

    let kernel = place.to("kernel.rbm");
    ok(&[
        "train", &data, "--label", "ill", "--kernel", "rbf:0.5", "--epochs", "3", "-o", &kernel,
    ]);
    let text = ok(&["explain", &kernel, &new, "--rows", "1"]);
    assert!(
        text.contains("the leading training rows") && text.contains("training row "),
        "{text}"
    );
    let embedded = place.to("embedded.rbm");
    ok(&[
        "train",
        &data,
        "--label",
        "ill",
        "--embed",
        "monomials:2",
        "-o",
        &embedded,
    ]);
    let text = ok(&["explain", &embedded, &new]);
    assert!(
        text.contains("falls without each feature") && text.contains("age = 71.5"),
        "{text}"
    );
}
