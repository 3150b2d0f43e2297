//! Planes of largest margin, and separability in the space of a kernel, from the outside.

use std::path::Path;
use std::process::Command;

use crate::common::{AND, Place, json, ok, run, stderr};
use serde_json::Value;

const XOR: &str = "label,a,b\n0,0,0\n1,0,1\n1,1,0\n0,1,1\n";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn a_hard_margin_is_the_distance_everyone_knows() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    let model = place.to("and.rbm");
    let args = ["train", &data, "--learner", "max-margin", "--scale", "none"];
    let more = ["--bias", "unlifted", "-o", &model];
    let found = json(&[&args[..], &more[..]].concat());
    // (1, 1) lies √½ from the line through (0, 1) and (1, 0).
    let margin = 0.5 * 0.5f64.sqrt();
    assert_eq!(found["stop"], "converged");
    assert_eq!(found["margin"]["kind"], "plain");
    for end in ["lower", "upper"] {
        assert!(
            (number(&found["margin"][end]) - margin).abs() < 1e-6,
            "{found}"
        );
    }
    let plane = &found["planes"][0];
    assert!((number(&plane["margin"]) - margin).abs() < 1e-6);
    assert!(number(&plane["relative_gap"]) <= 1e-6);
    assert_eq!(plane["support_vectors"], 3);
    let support = found["support_vectors"].as_array().unwrap();
    // The lone positive example holds as much as the two negative ones together.
    assert_eq!(support[0][0], 4);
    assert!((number(&support[0][1]) - 4.0).abs() < 1e-4);
    let shown = ok(&["inspect", &model]);
    assert!(
        shown.contains("support vectors") && shown.contains("row 4"),
        "{shown}"
    );
    let inspected = json(&["inspect", &model]);
    assert_eq!(inspected["support_vectors"], found["support_vectors"]);
    assert_eq!(inspected["options"]["c"], "none");
    assert_eq!(ok(&["predict", &model, &data]), "-1\n-1\n-1\n1\n");
    assert_eq!(number(&json(&["test", &model, &data])["accuracy"]), 1.0);
    let again = run(&["train", &data, "--resume", &model, "-o", &model]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("cannot be resumed"));
}

#[test]
fn soft_margins_close_their_gap_for_every_bias_and_kernel() {
    let place = Place::new();
    let data = place.to("moons.csv");
    ok(&[
        "generate", "moons", "-n", "300", "--noise", "0.1", "--seed", "3", "-o", &data,
    ]);
    let mut primals = Vec::new();
    for more in [
        &["--c", "1"][..],
        &["--c", "1", "--bias", "unlifted"],
        &["--c", "1", "--bias", "unlifted", "--kernel", "linear"],
        &["--c", "2", "--kernel", "rbf:1"],
        &[
            "--c", "2", "--kernel", "rbf:1", "--bias", "unlifted", "--memory", "1",
        ],
        &["--c", "1", "--embed", "monomials:3"],
        &["--c", "1", "--class-weight", "balanced"],
    ] {
        let found = json(&[&["train", &data][..], more].concat());
        assert_eq!(found["learner"], "max-margin", "{more:?}");
        assert_eq!(found["stop"], "converged", "{more:?}");
        assert!(
            number(&found["planes"][0]["relative_gap"]) <= 1e-6,
            "{more:?}"
        );
        assert!(
            number(&found["planes"][0]["relative_gap"]) >= -1e-12,
            "{more:?}"
        );
        let alphas: Vec<f64> = found["support_vectors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| number(&pair[1]))
            .collect();
        assert!(alphas.is_sorted_by(|a, b| a >= b) && alphas[0] > 0.0);
        primals.push(number(&found["planes"][0]["primal"]));
    }
    // A bias without a price costs less; the linear kernel is the linear learner.
    assert!(primals[1] <= primals[0]);
    assert!(
        (primals[1] - primals[2]).abs() <= 2e-6 * primals[1],
        "{primals:?}"
    );
    let penguins = crate::common::penguins();
    let found = json(&["train", &penguins, "--label", "species", "--c", "1"]);
    assert_eq!(found["planes"].as_array().unwrap().len(), 3);
    assert!(number(&found["train_accuracy"]) > 0.99);
    let text = ok(&[
        "train",
        &penguins,
        "--label",
        "species",
        "--c",
        "1",
        "--multiclass",
        "ovo",
    ]);
    assert!(text.contains("Gentoo against Adelie: objective"), "{text}");
}

#[test]
fn what_makes_no_sense_is_refused_with_the_reason() {
    let place = Place::new();
    let and = place.file("and.csv", AND);
    let xor = place.file("xor.csv", XOR);
    let twice = place.file("twice.csv", "x,label\n1,a\n1,b\n2,a\n");
    let one = place.file("one.csv", "x,label\n1,a\n2,a\n");
    let empty = place.file("empty.csv", "");
    let three = place.file("three.csv", "x,y,label\n0,0,a\n1,0,b\n0,1,c\n1,1,b\n");
    let weighted = place.file("weighted.csv", "x,k,label\n0,1,a\n1,2,b\n");
    let proof = place.to("proof.json");
    for (args, status, says) in [
        (&["train", &and, "--c", "0"][..], 2, &["--c", "above 0"][..]),
        (&["train", &and, "--c", "-1"], 2, &["--c", "above 0"]),
        (&["train", &and, "--c", "nan"], 2, &["--c", "finite"]),
        (&["train", &and, "--c", "much"], 2, &["--c", "number"]),
        (
            &["train", &and, "--learner", "perceptron", "--c", "1"],
            2,
            &["--c belongs", "max-margin"],
        ),
        (
            &["train", &and, "--c", "1", "--ties", "positive"],
            2,
            &["--ties positive", "max-margin"],
        ),
        (
            &["train", &and, "--c", "1", "--readout", "voted"],
            2,
            &["--readout voted"],
        ),
        (
            &[
                "train",
                &and,
                "--c",
                "1",
                "--patience",
                "2",
                "--validate",
                "0.5",
            ],
            2,
            &["--patience"],
        ),
        (
            &["train", &and, "--c", "1", "--multiclass", "argmax"],
            2,
            &["argmax", "ovr"],
        ),
        (
            &["train", &and, "--c", "1", "--bias", "unlifted:2"],
            2,
            &["unlifted:2", "not penalised"],
        ),
        (
            &[
                "train",
                &and,
                "--learner",
                "max-margin",
                "--class-weight",
                "balanced",
            ],
            2,
            &["--c"],
        ),
        (
            &[
                "train",
                &weighted,
                "--learner",
                "max-margin",
                "--weight-column",
                "k",
            ],
            2,
            &["--c 1", "hard"],
        ),
        (
            &["train", &xor, "--learner", "max-margin"],
            1,
            &["xor.csv", "not separable", "--c 1"],
        ),
        (&["train", &xor, "--c", "inf"], 1, &["not separable"]),
        (
            &[
                "train",
                &three,
                "--learner",
                "max-margin",
                "--bias",
                "none",
                "--scale",
                "none",
            ],
            1,
            &["a and the rest", "--c 1"],
        ),
        (
            &[
                "train",
                &twice,
                "--learner",
                "max-margin",
                "--kernel",
                "rbf:1",
            ],
            1,
            &["rows 1 and 2 are equal", "--c 1"],
        ),
        (
            &[
                "train",
                &twice,
                "--learner",
                "max-margin",
                "--kernel",
                "polynomial:3",
            ],
            1,
            &["not separable", "--c 1"],
        ),
        (&["train", &one, "--c", "1"], 1, &["one.csv"]),
        (&["train", &empty, "--c", "1"], 1, &["empty"]),
        (
            &["trace", &and, "--learner", "max-margin"],
            2,
            &["trace shows"],
        ),
        (
            &["check", &xor, "--kernel", "sigmoid:1,0"],
            2,
            &["sigmoid", "exact"],
        ),
        (&["check", &xor, "--kernel", "rbf:0"], 2, &["above 0"]),
        (
            &["check", &xor, "--kernel", "gauss"],
            2,
            &["expected linear"],
        ),
        (
            &["check", &three, "--kernel", "quadratic"],
            2,
            &["two classes", "--positive"],
        ),
        (
            &["check", &three, "--dual-lp"],
            2,
            &["two classes", "--positive"],
        ),
        (&["check", &and, "--kernel", "precomputed"], 1, &["square"]),
        (
            &["check", &and, "--kernel", "precomputed", "--bias", "lifted"],
            2,
            &["lifted"],
        ),
        (
            &[
                "check",
                &and,
                "--kernel",
                "precomputed",
                "--certificate",
                &proof,
            ],
            2,
            &["Gram"],
        ),
    ] {
        let output = run(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{args:?}\n{said}");
        for part in says {
            assert!(said.contains(part), "{args:?} should say {part:?}:\n{said}");
        }
    }
    assert!(!Path::new(&proof).exists());
}

/// The verdict in the space of a kernel, its certificate accepted by both checkers.
fn proved(place: &Place, content: &str, more: &[&str]) -> Value {
    let data = place.file("kernel.csv", content);
    let proof = place.to("kernel.json");
    let args = ["check", &data, "--certificate", &proof];
    let found = json(&[&args[..], more].concat());
    assert_eq!(found["verified"], true, "{more:?}");
    ok(&["verify", &proof, &data]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../rosenblatt-verify/python/check_certificate.py");
    // Without python3 the first checker has to do.
    let second = Command::new("python3")
        .arg(script)
        .args([&proof, &data])
        .output();
    if let Ok(output) = second {
        assert!(output.status.success(), "{more:?}\n{}", stderr(&output));
    }
    found
}

#[test]
fn xor_is_decided_in_every_space() {
    let place = Place::new();
    for (kernel, bias, verdict) in [
        ("linear", "none", "overlapping"),
        ("linear", "lifted", "overlapping"),
        ("quadratic", "none", "separable"),
        ("quadratic", "lifted", "separable"),
        ("polynomial:2,1,0", "none", "quasi-separable"),
        ("polynomial:3,0.5,0.25", "none", "separable"),
        ("geometric:2", "none", "separable"),
        ("monomial:2", "none", "separable"),
        ("rbf:0.5", "none", "separable"),
        ("laplacian:2", "lifted", "separable"),
    ] {
        let found = proved(&place, XOR, &["--kernel", kernel, "--bias", bias]);
        assert_eq!(found["verdict"], verdict, "{kernel} {bias}");
        assert_eq!(
            (&found["kernel"], &found["bias"]),
            (&kernel.into(), &bias.into())
        );
    }
    // Without a word a kernel has no bias.
    assert_eq!(proved(&place, XOR, &["--kernel", "linear"])["bias"], "none");
}

#[test]
fn strict_kernels_separate_unless_equal_rows_disagree() {
    let place = Place::new();
    let fine = "x,label\n0.1,a\n0.2,b\n0.1,a\n";
    let quasi = "x,label\n0.1,a\n0.2,b\n0.10,b\n0.1,b\n";
    let whole = "x,label\n0.1,a\n0.2,b\n0.10,b\n0.1,b\n0.2,a\n";
    for kernel in ["rbf:1", "laplacian:0.3"] {
        for (content, verdict, support) in [
            (fine, "separable", vec![]),
            (quasi, "quasi-separable", vec![1, 3, 4]),
            (whole, "overlapping", vec![1, 2, 3, 4, 5]),
        ] {
            let found = proved(&place, content, &["--kernel", kernel]);
            assert_eq!(found["verdict"], verdict);
            assert_eq!(found["support"], Value::from(support));
        }
    }
    let text = ok(&["check", &place.file("q.csv", quasi), "--kernel", "rbf:1"]);
    assert!(
        text.contains("equal rows have different labels: 1 and 3"),
        "{text}"
    );
}

#[test]
fn the_dual_program_has_a_solution_iff_the_rows_are_separable() {
    let place = Place::new();
    let data = place.file("xor.csv", XOR);
    let points: [[f64; 2]; 4] = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let signs: [f64; 4] = [-1.0, 1.0, 1.0, -1.0];
    for (kernel, value) in [
        (
            "quadratic",
            (|t: f64, _: f64| (t + 1.0) * (t + 1.0)) as fn(f64, f64) -> f64,
        ),
        ("rbf:1", |_, square| (-square).exp()),
    ] {
        let found = json(&["check", &data, "--kernel", kernel, "--dual-lp"]);
        assert_eq!(found["verdict"], "separable");
        let program = &found["dual_lp"];
        assert_eq!(program["feasible"], true);
        let mut a = [0.0; 4];
        for pair in program["counts"].as_array().unwrap() {
            a[pair[0].as_u64().unwrap() as usize - 1] = number(&pair[1]);
        }
        let objective = number(&program["objective"]);
        assert!((a.iter().sum::<f64>() - objective).abs() < 1e-9 * objective);
        assert!((number(&program["at_least"]) - objective).abs() < 1e-9 * objective);
        for i in 0..4 {
            let score: f64 = (0..4)
                .map(|j| {
                    let [x, z] = [points[i], points[j]];
                    let product = x[0] * z[0] + x[1] * z[1];
                    let square = (x[0] - z[0]).powi(2) + (x[1] - z[1]).powi(2);
                    a[j] * signs[j] * value(product, square)
                })
                .sum();
            assert!(signs[i] * score >= 1.0 - 1e-9, "{kernel} row {i}: {score}");
        }
    }
    for bias in ["lifted", "none"] {
        let found = json(&["check", &data, "--dual-lp", "--bias", bias]);
        assert_eq!(found["dual_lp"]["feasible"], false);
        assert_eq!(found["dual_lp"]["objective"], Value::Null);
    }
    let text = ok(&["check", &data, "--dual-lp"]);
    assert!(
        text.contains("infeasible") && text.contains("if and only if"),
        "{text}"
    );
    let and = place.file("and.csv", AND);
    let text = ok(&["check", &and, "--dual-lp"]);
    assert!(
        text.contains("sum of dual coefficients: 7") && text.contains("row 4:"),
        "{text}"
    );
    // A Gram matrix as it stands.
    let gram = place.file("gram.csv", "label,a,b,c\n+,2,1,0\n-,1,2,0\n+,0,0,1\n");
    let found = json(&["check", &gram, "--kernel", "precomputed", "--dual-lp"]);
    assert_eq!(found["verdict"], "separable");
    // Rows 1 and 2 need 2a − b ≥ 1 and 2b − a ≥ 1: both 1; row 3 needs 1.
    assert!((number(&found["dual_lp"]["objective"]) - 3.0).abs() < 1e-9);
}

#[test]
fn passes_say_how_many_rows_they_visited_and_the_hardest_have_the_smallest_margins() {
    let place = Place::new();
    let data = place.to("noisy.csv");
    let generate = [
        "generate",
        "separable",
        "-n",
        "600",
        "-d",
        "4",
        "--noise",
        "0.15",
    ];
    ok(&[&generate[..], &["--seed", "2", "-o", &data]].concat());
    let report = json(&["train", &data, "--learner", "max-margin", "--c", "1"]);
    let visits = report["visits_per_epoch"].as_array().unwrap();
    let mistakes = report["mistakes_per_epoch"].as_array().unwrap();
    assert_eq!(visits.len(), mistakes.len());
    let text = ok(&["train", &data, "--learner", "max-margin", "--c", "1"]);
    assert!(
        text.contains("rows visited") && text.contains("wrong there"),
        "{text}"
    );
    assert!(!ok(&["train", &data, "--epochs", "2"]).contains("rows visited"));
    // At the cap, an error counts as hard as its margin says, wherever it stands in the file.
    let support = report["support_vectors"].as_array().unwrap();
    let at_cap: Vec<u64> = support
        .iter()
        .filter(|s| s[1] == 1.0)
        .map(|s| s[0].as_u64().unwrap())
        .collect();
    assert!(at_cap.len() > 20);
    assert!(!at_cap.is_sorted());
    let model = place.to("m.rbm");
    ok(&[
        "train",
        &data,
        "--learner",
        "max-margin",
        "--c",
        "1",
        "-o",
        &model,
    ]);
    let scores = ok(&["predict", &model, &data, "--scores"]);
    let rows: Vec<&str> = scores.lines().collect();
    let labels = std::fs::read_to_string(&data).unwrap();
    let labels: Vec<bool> = labels.lines().skip(1).map(|l| l.starts_with('+')).collect();
    let margin = |row: u64| -> f64 {
        let i = row as usize - 1;
        let score: f64 = rows[i].split('\t').nth(1).unwrap().parse().unwrap();
        if labels[i] { score } else { -score }
    };
    assert!(at_cap.is_sorted_by(|&a, &b| margin(a) <= margin(b)));
}
