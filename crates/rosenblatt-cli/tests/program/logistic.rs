//! Logistic regression and its probabilities, from the outside.

use crate::common::{Place, json, ok, run, stderr};

#[test]
fn probabilities_are_printed_and_their_losses_tested() {
    let place = Place::new();
    for (classes, penalty) in [("a,b", "l2"), ("a,b,c", "l1")] {
        let names: Vec<&str> = classes.split(',').collect();
        let rows: String = (0..60)
            .map(|i| {
                format!(
                    "{},{},{}\n",
                    i % 7,
                    (i * i) % 11,
                    names[(i / 7) % names.len()]
                )
            })
            .collect();
        let data = place.file("data.csv", format!("x,z,label\n{rows}"));
        let model = place.to("m.rbm");
        let train = [
            "train",
            &data,
            "--learner",
            "logistic",
            "--penalty",
            penalty,
            "-o",
            &model,
        ];
        let report = json(&train);
        assert_eq!(report["learner"], "logistic");
        assert_eq!(report["stop"], "converged");
        let (mut log_loss, mut brier) = (0.0, 0.0);
        let printed = ok(&["predict", &model, &data, "--probabilities"]);
        assert_eq!(printed.lines().count(), 60);
        for (line, row) in printed.lines().zip(rows.lines()) {
            let mut cells = line.split('\t');
            let predicted = cells.next().unwrap();
            let each: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
            assert_eq!(each.len(), names.len(), "{line}");
            assert!((each.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{line}");
            let own = each[names.iter().position(|name| *name == predicted).unwrap()];
            assert!(each.iter().all(|p| *p <= own), "{line}");
            let truth = names.iter().position(|name| row.ends_with(name)).unwrap();
            log_loss -= each[truth].ln() / 60.0;
            brier += match names.len() {
                2 => (1.0 - each[truth]).powi(2) / 60.0,
                _ => (each.iter().enumerate())
                    .map(|(k, p)| (p - f64::from(u8::from(k == truth))).powi(2) / 60.0)
                    .sum(),
            };
        }
        let found = json(&["test", &model, &data]);
        let number = |name: &str| found[name].as_f64().unwrap();
        assert!((number("log_loss") - log_loss).abs() < 1e-12, "{found}");
        assert!((number("brier") - brier).abs() < 1e-12, "{found}");
        let text = ok(&["test", &model, &data]);
        let line = format!("log loss {log_loss:.4}, Brier score {brier:.4}");
        assert!(text.contains(&line), "{text}");
    }
}

#[test]
fn scores_that_are_no_probabilities_are_refused() {
    let place = Place::new();
    let data = place.file("data.csv", "x,label\n0,a\n1,b\n2,c\n3,a\n");
    let model = place.to("m.rbm");
    ok(&["train", &data, "-o", &model]);
    let output = run(&["predict", &model, &data, "--probabilities"]);
    let said = stderr(&output);
    assert!(
        said.contains("no probabilities") && said.contains("--learner logistic"),
        "{said}"
    );
    assert_eq!(
        json(&["test", &model, &data])["log_loss"],
        serde_json::Value::Null
    );
    ok(&[
        "train",
        &data,
        "--learner",
        "logistic",
        "--multiclass",
        "ovo",
        "-o",
        &model,
    ]);
    let output = run(&["predict", &model, &data, "--probabilities"]);
    assert!(
        stderr(&output).contains("--multiclass ovr"),
        "{}",
        stderr(&output)
    );
    let output = run(&["predict", &model, &data, "--probabilities", "--scores"]);
    assert_eq!(output.status.code(), Some(2));
    for refused in [
        "--multiclass argmax --penalty l1",
        "--bias unlifted",
        "--c 0",
        "--penalty l3",
        "--penalty elasticnet",
    ] {
        let mut args = vec!["train", &data, "--learner", "logistic"];
        args.extend(refused.split(' '));
        assert_eq!(run(&args).status.code(), Some(2), "{refused}");
    }
}
