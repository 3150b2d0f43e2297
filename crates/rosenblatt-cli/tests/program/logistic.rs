//! Logistic regression and its probabilities, from the outside.

use crate::common::{AND, Place, json, ok, run, stderr};

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

fn example(name: &str) -> String {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("../../examples").join(name).display().to_string()
}

/// logistf(case ~ age + oc + vic + vicl + vis + dia, data = sex2): estimate, standard error, ends
/// of the profile interval.
const SEX2: [(&str, f64, f64, f64, f64); 7] = [
    ("(bias)", 0.12025405, 0.4855415, -0.8185574, 1.07315110),
    ("age", -1.10598130, 0.4236601, -1.9737884, -0.30742658),
    ("oc", -0.06881673, 0.4437934, -0.9414360, 0.78920202),
    ("vic", 2.26887464, 0.5484160, 1.2730233, 3.43543226),
    ("vicl", -2.11140816, 0.5430824, -3.2608611, -1.11773667),
    ("vis", -0.78831694, 0.4173676, -1.6080879, 0.01518319),
    ("dia", 3.09601166, 1.6750220, 0.7745686, 8.03029352),
];

#[test]
fn firths_estimates_equal_the_published_ones() {
    let found = json(&[
        "logistic",
        &example("sex2.csv"),
        "--label",
        "case",
        "--firth",
    ]);
    assert_eq!(found["verdict"], "quasi-separable");
    assert_eq!(found["outcome"], "1");
    for (c, (name, estimate, error, lower, upper)) in
        found["coefficients"].as_array().unwrap().iter().zip(SEX2)
    {
        assert_eq!(c["name"], name);
        let near = |key: &str, value: f64| (c[key].as_f64().unwrap() - value).abs() < 1e-4;
        assert!(
            near("estimate", estimate) && near("standard_error", error),
            "{c}"
        );
        assert!(near("lower", lower) && near("upper", upper), "{c}");
        let limit = if name == "dia" { "Inf" } else { "0" };
        assert_eq!(c["maximum_likelihood"], limit);
    }
    let text = ok(&["logistic", &example("sex2.csv"), "--label", "case"]);
    assert!(text.starts_with("quasi-complete separation"), "{text}");
    assert!(
        text.contains("dia  to +∞") && text.contains("--firth"),
        "{text}"
    );
}

/// The verdicts of R's detectseparation on its own examples, and maximum likelihood where it exists.
#[test]
fn separation_is_that_of_detectseparation() {
    let found = json(&["check", &example("endometrial.csv"), "--label", "HG"]);
    assert_eq!(found["separation"], "quasi-complete");
    let limits = |found: &serde_json::Value| -> Vec<(String, String)> {
        let all = found["coefficients"].as_array().unwrap().iter();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        all.map(|c| (text(&c["name"]), text(&c["maximum_likelihood"])))
            .collect()
    };
    let named = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        pairs.iter().map(owned).collect()
    };
    let expected = [("(bias)", "0"), ("NV", "Inf"), ("PI", "0"), ("EH", "0")];
    assert_eq!(limits(&found), named(&expected));
    let lizards = example("lizards.csv");
    let counted = [
        "--label",
        "species",
        "--weight-column",
        "count",
        "--positive",
        "grahami",
    ];
    let found = json(&[&["check", &lizards], &counted[..]].concat());
    assert_eq!(found["separation"], "none");
    assert!(limits(&found).iter().all(|(_, limit)| limit == "0"));
    assert_eq!(found["reference_levels"][0], "height=<5ft");
    // McCullagh & Nelder's fit, as glm prints it.
    let found = json(&[&["logistic", &lizards], &counted[..]].concat());
    let published = [
        ("height=>=5ft", 1.1300),
        ("diameter=>2in", -0.7626),
        ("light=sunny", 0.8473),
        ("time=late", -0.7368),
        ("time=midday", 0.2271),
    ];
    for (name, value) in published {
        let all = found["coefficients"].as_array().unwrap();
        let c = all.iter().find(|c| c["name"] == name).unwrap();
        assert!(
            (c["estimate"].as_f64().unwrap() - value).abs() < 1e-4,
            "{c}"
        );
    }
}

#[test]
fn collinear_columns_are_refused_by_name() {
    let place = Place::new();
    let data = place.file(
        "c.csv",
        "a,b,c,label\n1,2,0,y\n2,4,1,n\n3,6,1,y\n4,8,0,n\n5,10,1,n\n",
    );
    for firth in [&["--firth"][..], &[]] {
        let output = run(&[&["logistic", &data, "--label", "label"], firth].concat());
        assert_eq!(output.status.code(), Some(1));
        let message = stderr(&output);
        assert!(
            message.contains("no estimates of their own: a, b"),
            "{message}"
        );
    }
    let three = place.file("t.csv", "a,label\n1,x\n2,y\n3,z\n");
    let message = stderr(&run(&["logistic", &three]));
    assert!(
        message.contains("two outcomes") && message.contains("--positive"),
        "{message}"
    );
}

#[test]
fn four_rows_have_firth_s_estimates_and_intervals() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    let found = json(&["logistic", &data, "--firth"]);
    assert_eq!(found["coefficients"].as_array().unwrap().len(), 3);
}

#[test]
fn reference_levels_are_chosen() {
    let lizards = example("lizards.csv");
    let common = [
        "--weight-column",
        "count",
        "--label",
        "species",
        "--positive",
        "grahami",
    ];
    let fit = |references: &[&str]| {
        let chosen = references.iter().flat_map(|r| ["--reference", r]);
        let args: Vec<&str> = ["logistic", &lizards]
            .into_iter()
            .chain(common)
            .chain(chosen)
            .collect();
        json(&args)
    };
    let estimate = |found: &serde_json::Value, name: &str| {
        let all = found["coefficients"].as_array().unwrap().iter();
        let own = all
            .filter(|c| c["name"] == name)
            .map(|c| c["estimate"].as_f64().unwrap());
        own.collect::<Vec<_>>()
    };
    let [first, other] = [fit(&[]), fit(&["time=midday", "height=>=5ft"])];
    let levels = [
        "height=>=5ft",
        "diameter=<=2in",
        "light=shady",
        "time=midday",
    ];
    assert_eq!(other["reference_levels"], serde_json::json!(levels));
    assert!(
        levels
            .iter()
            .all(|level| estimate(&other, level).is_empty())
    );
    // The same planes, so what one level is over another stays.
    let [early, late, midday] = ["time=early", "time=late", "time=midday"]
        .map(|t| (estimate(&first, t), estimate(&other, t)));
    assert!(early.0.is_empty() && midday.1.is_empty());
    let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
    assert!(near(early.1[0], -midday.0[0]), "{other}");
    assert!(near(late.1[0], late.0[0] - midday.0[0]), "{other}");
    let tall = (
        estimate(&first, "height=>=5ft"),
        estimate(&other, "height=<5ft"),
    );
    assert!(near(tall.0[0], -tall.1[0]), "{other}");
    let bias = |found: &serde_json::Value| estimate(found, "(bias)")[0];
    let moved = bias(&first) + midday.0[0] + tall.0[0];
    assert!(near(bias(&other), moved), "{other}");
    assert_eq!(fit(&["time=early"]), first);

    let refused = |references: &[&str], words: &[&str]| {
        let chosen = references.iter().flat_map(|r| ["--reference", r]);
        let args: Vec<&str> = ["logistic", &lizards]
            .into_iter()
            .chain(common)
            .chain(chosen)
            .collect();
        let output = run(&args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    refused(&["time=noon"], &["no such level", "early, late, midday"]);
    refused(&["hour=noon"], &["hour=noon", "COLUMN=LEVEL"]);
    refused(&["time"], &["\"time\"", "COLUMN=LEVEL"]);
    refused(&["time=late", "time=early"], &["two levels of time"]);
    let place = Place::new();
    let data = place.file("n.csv", "a,y\n1,0\n2,1\n3,0\n4,1\n");
    let output = run(&["logistic", &data, "--reference", "a=1"]);
    assert!(
        stderr(&output).contains("a is no category"),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains("--column a=category"),
        "{}",
        stderr(&output)
    );
}
