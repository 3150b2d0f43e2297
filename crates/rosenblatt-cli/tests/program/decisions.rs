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
        "--calibrate",
        "--validate",
        "0.3",
        "-o",
        &model,
    ]);
    assert_eq!(trained["calibration"]["method"], "temperature");
    assert!(number(&trained["calibration"]["temperature"]) > 0.0);
    assert!(number(&trained["metrics"]["log_loss"]) < 0.5);
    let said = ok(&["train", &data, "--calibrate", "--validate", "0.3"]);
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
