//! The worked examples through `trace`, as a table and as JSON.

use crate::common::{AND, Place, json, ok};
use serde_json::{Value, json};

fn updates(trace: &Value) -> Vec<(u64, Value)> {
    let steps = trace["steps"].as_array().unwrap();
    steps
        .iter()
        .filter(|s| s["correct"] == false)
        .map(|s| (s["row"].as_u64().unwrap(), s["weights_after"].clone()))
        .collect()
}

#[test]
fn boolean_and() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    let trace = json(&["trace", &data]);
    let first = &updates(&trace)[..2];
    assert_eq!(
        first,
        [(1, json!([-1.0, 0.0, 0.0])), (4, json!([0.0, 1.0, 1.0]))]
    );
    assert_eq!(trace["weights"], json!([-4.0, 3.0, 2.0]));
    assert_eq!(
        (&trace["mistakes"], &trace["epochs"], &trace["stop"]),
        (&json!(18), &json!(9), &json!("separated"))
    );
    let steps = trace["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 36);
    assert_eq!(
        steps[0],
        json!({"step": 1, "epoch": 1, "row": 1, "weights": [0.0, 0.0, 0.0], "score": 0.0, "label": "-1",
               "correct": false, "weights_after": [-1.0, 0.0, 0.0]})
    );
    assert!(
        steps[32..]
            .iter()
            .all(|s| s["correct"] == true && s["epoch"] == 9)
    );

    let table = ok(&["trace", &data]);
    let line = |n: usize| {
        table
            .lines()
            .nth(n)
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        line(0),
        "step pass row weights score label correct? new weights"
    );
    assert_eq!(line(1), "1 1 1 (0, 0, 0) 0 -1 no (-1, 0, 0)");
    assert_eq!(line(2), "2 1 2 (-1, 0, 0) -1 -1 yes");
    assert_eq!(line(4), "4 1 4 (-1, 0, 0) -1 1 no (0, 1, 1)");
    assert!(table.ends_with("final weights (-4, 3, 2)\n"), "{table}");

    let positive = json(&["trace", &data, "--ties", "positive"]);
    assert_eq!(
        (&positive["weights"], &positive["mistakes"]),
        (&json!([-3.0, 2.0, 1.0]), &json!(11))
    );
}

#[test]
fn every_rate_makes_the_mistakes_of_and_at_rate_one() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    for rate in ["0.1", "1", "7", "0.001"] {
        let trace = json(&["trace", &data, "--learning-rate", rate]);
        assert_eq!(trace["mistakes"], 18, "{rate}");
    }
}

#[test]
fn two_critics() {
    let place = Place::new();
    let data = place.file(
        "critics.csv",
        "A,B,label\n1,1,-1\n3,2,1\n2,4,1\n3,4,1\n2,3,-1\n",
    );
    let trace = json(&["trace", &data, "--start=-1,0,0", "--ties", "positive"]);
    let steps = trace["steps"].as_array().unwrap();
    let scores: Vec<f64> = steps[..5]
        .iter()
        .map(|s| s["score"].as_f64().unwrap())
        .collect();
    assert_eq!(scores, [-1.0, -1.0, 14.0, 17.0, 12.0]);
    assert_eq!(
        updates(&trace)[..2],
        [(2, json!([0.0, 3.0, 2.0])), (5, json!([-1.0, 1.0, -1.0]))]
    );
    // The second pass begins at (−1, 1, −1): row 2 scores exactly 0, rows 3 and 4 are wrong.
    let second: Vec<f64> = steps[5..7]
        .iter()
        .map(|s| s["score"].as_f64().unwrap())
        .collect();
    assert_eq!(second, [-1.0, 0.0]);
    assert_eq!(steps[7]["score"], -3.0);
    assert_eq!(trace["weights"], json!([-24.0, 10.0, 1.0]));
    assert_eq!(
        (&trace["mistakes"], &trace["epochs"]),
        (&json!(339), &json!(176))
    );
    assert_eq!(trace["stop"], "no_mistakes");
    let table = ok(&["trace", &data, "--start=-1,0,0", "--ties", "positive"]);
    assert!(
        table.contains("1 examples lie exactly on the boundary")
            || table.contains("1 example lies exactly on the boundary")
    );
}

#[test]
fn eight_points() {
    let place = Place::new();
    let data = place.file(
        "eight.csv",
        "label,x1,x2\n+,1,1\n-,0,3\n+,1,-1\n-,3,0\n+,-1,1\n-,0,-3\n+,-1,-1\n-,-3,0\n",
    );
    let trace = json(&[
        "trace",
        &data,
        "--bias",
        "none",
        "--start",
        "1,1",
        "--ties",
        "positive",
        "--max-updates",
        "2",
    ]);
    assert_eq!(
        updates(&trace),
        [(2, json!([1.0, -2.0])), (4, json!([-2.0, -2.0]))]
    );
    assert_eq!(trace["stop"], "update_limit");
}

#[test]
fn a_trace_of_several_classes_keeps_their_weights_apart() {
    let place = Place::new();
    let data = place.file("three.csv", "x,label\n2,a\n-1,b\n1e-200,c\n");
    let text = ok(&["trace", &data, "--epochs", "1", "--precision", "f64"]);
    let line = |step: usize| text.lines().nth(step).unwrap();
    assert!(line(1).contains("  (0, 0) (0, 0) (0, 0)  "), "{text}");
    assert!(line(1).ends_with("  (1, 2) (-1, -2) (0, 0)"), "{text}");
    // No number takes hundreds of digits.
    assert!(text.contains("1e-200"), "{text}");
    assert!(text.lines().all(|line| line.len() < 200), "{text}");
    // Two classes have one plane, and several may have more planes than classes.
    let two = place.file("two.csv", "x,label\n2,a\n-1,b\n");
    assert!(ok(&["trace", &two, "--epochs", "1"]).contains("  (-1, -2)\n"));
    let four = place.file("four.csv", "x,label\n2,a\n-1,b\n1,c\n3,d\n");
    let text = ok(&["trace", &four, "--epochs", "1", "--multiclass", "ovo"]);
    assert_eq!(
        text.lines().nth(1).unwrap().matches("(0, 0)").count(),
        9,
        "{text}"
    );
}

#[test]
fn the_linear_unit_descends_as_by_hand() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    let close = |found: &Value, expected: &[f64]| {
        let found: Vec<f64> = (found.as_array().unwrap().iter())
            .map(|x| x.as_f64().unwrap())
            .collect();
        assert_eq!(found.len(), expected.len());
        let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-12, "{found:?} {expected:?}");
    };
    let args = [
        "trace",
        &data,
        "--learner",
        "linear-unit",
        "--learning-rate",
        "0.1",
    ];
    let trace = |more: &[&str]| json(&[&args[..], more].concat());
    let batch = trace(&["--epochs", "2"]);
    let steps = batch["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 8);
    // The weights move at the end of the pass, by 0.1·Σ y·x.
    close(&steps[2]["weights_after"], &[0.0; 3]);
    close(&steps[3]["weights_after"], &[-0.2, 0.0, 0.0]);
    close(
        &batch["squared_error_per_epoch"],
        &[2.0, 0.5 * (3.0 * 0.64 + 1.44)],
    );
    let stochastic = trace(&["--gradient", "stochastic", "--epochs", "1"]);
    let steps = stochastic["steps"].as_array().unwrap();
    close(&steps[0]["weights_after"], &[-0.1, 0.0, 0.0]);
    close(&steps[1]["weights_after"], &[-0.19, 0.0, -0.09]);
    assert!((steps[1]["squared_error"].as_f64().unwrap() - 0.5 * 0.81).abs() < 1e-12);
    let said = ok(&[&args[..], &["--epochs", "2"]].concat());
    assert!(said.contains("E = ½ Σ (y − o)² by pass: 2, 1.68"), "{said}");
}
