//! `check` decides and proves; `verify` believes nothing.

use crate::common::{AND, Place, json, ok, run, stderr};

fn verdict(place: &Place, name: &str, content: &str, extra: &[&str]) -> serde_json::Value {
    let data = place.file(name, content);
    let proof = place.to("proof.json");
    let mut args = vec!["check", data.as_str(), "--certificate", proof.as_str()];
    args.extend_from_slice(extra);
    let found = json(&args);
    assert_eq!(found["verified"], true);
    ok(&["verify", &proof, &data]);
    found
}

#[test]
fn small_sets_are_decided_as_everyone_knows() {
    let place = Place::new();
    let and = verdict(&place, "and.csv", AND, &[]);
    assert_eq!(and["verdict"], "separable");
    let margin = &and["margin"];
    let (lower, upper) = (
        margin["lower"].as_f64().unwrap(),
        margin["upper"].as_f64().unwrap(),
    );
    assert!(lower <= upper && upper - lower <= 1e-6 * upper, "{margin}");
    assert_eq!(and["infinite_coefficients"][1]["toward"], "+inf");
    let xor = "label,a,b\n0,0,0\n1,0,1\n1,1,0\n0,1,1\n";
    let xor = verdict(&place, "xor.csv", xor, &[]);
    assert_eq!(
        (&xor["verdict"], &xor["margin"]),
        (&"overlapping".into(), &serde_json::Value::Null)
    );
    // Three collinear points as decimals, though not as binary64: the middle one is between
    // the others, so it can only be separated if they agree with it.
    let line = "x,y,label\n0.1,0.1,a\n0.2,0.2,b\n0.3,0.3,a\n";
    assert_eq!(
        verdict(&place, "line.csv", line, &[])["verdict"],
        "overlapping"
    );
    let quasi = "x,label\n0,n\n1,n\n1,p\n2,p\n";
    let quasi = verdict(&place, "quasi.csv", quasi, &[]);
    assert_eq!(quasi["verdict"], "quasi-separable");
    assert_eq!(quasi["infinite_coefficients"].as_array().unwrap().len(), 2);
}

/// The certificate lists the files with a hash each, and `verify` takes them in this order.
#[test]
fn certificates_speak_of_several_files() {
    let place = Place::new();
    let proof = place.to("proof.json");
    let one = place.file("part-1.csv", "a,b,label\n0.1,0.1,x\n0.2,0.2,y");
    let two = place.file("part-2.csv", "a,b,label\n0.3,0.3,x\n");
    let svm = ["1.svm", "2.svm"].map(|name| place.file(name, "+1 1:1\n-1 2:0.5 # a remark\n"));
    let pattern = place.to("part-*.csv");
    for (checked, files, verdict) in [
        (vec![&*one, &*two], [&*one, &*two], "overlapping"),
        (vec![&*pattern], [&*one, &*two], "overlapping"),
        (vec![&*svm[0], &*svm[1]], [&*svm[0], &*svm[1]], "separable"),
    ] {
        let args = [
            vec!["check"],
            checked.clone(),
            vec!["--certificate", &proof],
        ]
        .concat();
        let found = json(&args);
        assert_eq!(
            (&found["verdict"], &found["verified"]),
            (&verdict.into(), &true.into())
        );
        let document: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&proof).unwrap()).unwrap();
        let names: Vec<&str> = (document["data"]["files"].as_array().unwrap().iter())
            .map(|file| file["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, files);
        let said = ok(&["verify", &proof, files[0], files[1]]);
        assert!(said.contains(&format!("file 2: {}\n", files[1])), "{said}");
        let said = json(&[vec!["verify", &proof], checked].concat());
        assert_eq!(said["files"], serde_json::json!(files));
        for wrong in [&[files[0]][..], &[files[1], files[0]]] {
            if wrong.len() == 2 && verdict == "separable" {
                continue; // these two hold the same bytes
            }
            let output = run(&[&["verify", &proof][..], wrong].concat());
            assert_eq!(output.status.code(), Some(3));
        }
    }
    // What stands in the names of folders stands in no file.
    let folder = place.to("parts");
    for key in ["k=1", "k=2"] {
        std::fs::create_dir_all(format!("{folder}/{key}")).unwrap();
        std::fs::copy(&two, format!("{folder}/{key}/a.csv")).unwrap();
        std::fs::write(format!("{folder}/{key}/b.csv"), "a,b,label\n1,2,y\n").unwrap();
    }
    assert_eq!(json(&["check", &folder])["verdict"], "separable");
    let output = run(&["check", &folder, "--certificate", &proof]);
    let said = stderr(&output);
    assert!(
        said.contains("the column k stands in the names of folders"),
        "{said}"
    );
    // The certificate must not replace any of them.
    let output = run(&["check", &one, &two, "--certificate", &two]);
    assert!(
        stderr(&output).contains("is the input"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn categories_missing_values_and_text_enter_as_the_certificate_says() {
    let place = Place::new();
    let mixed = "colour,size,note,label\nred,1,good day,y\nblue,?,bad day,n\n?,3,\"good, really\",y\nred,2,bad,n\n";
    assert_eq!(
        verdict(&place, "mixed.csv", mixed, &["--column", "note=text"])["verdict"],
        "separable"
    );
    let classes = verdict(
        &place,
        "three.csv",
        "x,y,label\n0,0,a\n1,0,b\n0,1,c\n1,1,b\n",
        &["--pairs"],
    );
    assert_eq!(classes["verdict"], "separable");
    assert_eq!(classes["pairs"].as_array().unwrap().len(), 3);
    let penguins = crate::common::penguins();
    let proof = place.to("p.json");
    let found = json(&[
        "check",
        &penguins,
        "--label",
        "species",
        "--certificate",
        &proof,
    ]);
    assert_eq!(found["verdict"], "separable");
    ok(&["verify", &proof, &penguins]);
}

#[test]
fn a_false_or_broken_certificate_is_told_apart() {
    let place = Place::new();
    let data = place.file("and.csv", AND);
    let proof = place.to("proof.json");
    ok(&["check", &data, "--certificate", &proof]);
    let text = std::fs::read_to_string(&proof).unwrap();
    let status = |content: &str, data: &str| {
        let output = run(&["verify", &place.file("bad.json", content), data]);
        (output.status.code(), stderr(&output))
    };
    assert_eq!(status(&text, &data).0, Some(0));
    assert_eq!(status(&text.replace("\"-4\"", "\"4\""), &data).0, Some(3));
    assert_eq!(
        status(&text.replace("separable", "overlapping"), &data).0,
        Some(1)
    );
    assert_eq!(status(&text[..text.len() / 2], &data).0, Some(1));
    let other = place.file("other.csv", AND.replace("1,1,1", "1,1,2"));
    assert_eq!(status(&text, &other).0, Some(3));
    let output = run(&["verify", &proof, &other, "--json"]);
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&said["holds"], &said["verdict"]),
        (&false.into(), &"separable".into())
    );
    assert!(said["reason"].as_str().unwrap().len() > 10);
    assert_eq!(
        run(&["verify", "/no/such/proof", &data]).status.code(),
        Some(1)
    );
}

#[test]
fn hard_synthetic_sets_are_decided_and_proved() {
    let place = Place::new();
    for (kind, expected) in [
        ("grid", "separable"),
        ("grid-middle", "overlapping"),
        ("grid-equal", "overlapping"),
        ("critics", "separable"),
        ("eight-points", "overlapping"),
        ("margin-zero", "quasi-separable"),
        ("margin-tiny", "separable"),
        ("collinear", "separable"),
        ("wide-range", "separable"),
        ("contradiction", "overlapping"),
        ("quasi", "quasi-separable"),
    ] {
        let (data, proof) = (place.to("d.csv"), place.to("d.json"));
        ok(&["generate", kind, "-o", &data]);
        let found = json(&["check", &data, "--certificate", &proof]);
        assert_eq!(found["verdict"], expected, "{kind}");
        ok(&["verify", &proof, &data]);
    }
}

/// Three directions, 120° apart: γ = √3/2 without a bias, R = 1, so at most ⌊2/γ²⌋ = 2 updates.
#[test]
fn several_classes_have_a_margin_and_a_bound() {
    let place = Place::new();
    let half = 0.75f64.sqrt();
    let rows = format!("x,y,label\n1,0,a\n-0.5,{half},b\n-0.5,-{half},c\n");
    let data = place.file("three.csv", rows);
    let found = json(&["check", &data, "--bias", "none"]);
    for end in ["lower", "upper"] {
        let end = found["margin"][end].as_f64().unwrap();
        assert!((end - half).abs() < 1e-6, "{found}");
    }
    assert_eq!(found["updates_at_most"], 2, "{found}");
    let run = json(&["train", &data, "--bias", "none", "--scale", "none"]);
    assert!(run["updates"].as_u64().unwrap() <= 2, "{run}");
}

/// Two rows, the second of weight 1000: the run takes far more than the unweighted bound.
#[test]
fn the_bound_of_weighted_rows_is_that_of_their_weights() {
    let place = Place::new();
    let text = "x,c,label\n0,1,a\n1,1000,b\n";
    let data = place.file("w.csv", text);
    let found = json(&["check", &data, "--weight-column", "c"]);
    let bound = found["updates_at_most"].as_u64().unwrap();
    let run = json(&[
        "train",
        &data,
        "--weight-column",
        "c",
        "--scale",
        "none",
        "--order",
        "given",
        "--epochs",
        "5000",
    ]);
    let updates = run["updates"].as_u64().unwrap();
    assert!(updates > 100 && updates <= bound, "{updates} {bound}");
    let unweighted = json(&["check", &place.file("u.csv", "x,label\n0,a\n1,b\n")]);
    assert_eq!(found["margin"], unweighted["margin"]);
    assert!(found["weighted_radius"].as_f64().unwrap() > 1000.0);
    assert!(unweighted["weighted_margin"].is_null());
    assert!(unweighted["updates_at_most"].as_u64().unwrap() <= 10);
}

#[test]
fn what_a_certificate_leaves_open_is_said() {
    let place = Place::new();
    // Quasi-separable jointly: two classes share a point, and the third lies apart.
    let data = place.file("q.csv", "x,y,label\n0,0,a\n0,0,b\n5,5,c\n-5,5,c\n");
    let proof = place.to("p.json");
    let text = ok(&["check", &data, "--certificate", &proof]);
    assert!(text.contains("jointly quasi-separable"), "{text}");
    assert!(
        text.contains("it proves not-separable, not which kind of it"),
        "{text}"
    );
    let found = json(&["check", &data, "--certificate", &proof]);
    assert_eq!(found["verdict"], "quasi-separable");
    assert_eq!(found["certified_verdict"], "not-separable");
    let and = place.file("and.csv", AND);
    let found = json(&["check", &and, "--certificate", &proof]);
    assert_eq!(found["certified_verdict"], "separable");
    assert!(!ok(&["check", &and, "--certificate", &proof]).contains("not which kind"));
}

#[test]
fn an_estimate_that_is_not_unique_is_not_called_infinite() {
    let place = Place::new();
    let found = verdict(&place, "s.csv", "1,1,1\n1,-1,1\n-1,1,-1\n-1,-1,-1\n", &[]);
    assert_eq!(found["verdict"], "separable");
    assert_eq!(found["infinite_coefficients"].as_array().unwrap().len(), 1);
    assert_eq!(found["infinite_coefficients"][0]["toward"], "+inf");
    assert_eq!(found["not_unique"].as_array().unwrap().len(), 2);
}

#[test]
fn scaled_rows_are_another_question() {
    let place = Place::new();
    // On one ray: rows of unit length are all the same.
    let data = place.file("r.csv", "x,y,label\n1,1,a\n2,2,b\n");
    let said = stderr(&run(&["check", &data, "--scale", "unit-rows"]));
    assert!(said.contains("rows of unit length may be"), "{said}");
    let said = stderr(&run(&["check", &data, "--scale", "standard"]));
    assert!(!said.contains("rows of unit length"), "{said}");
}

#[test]
fn updates_on_inseparable_rows_stay_within_their_bound() {
    let place = Place::new();
    let data = place.to("o.csv");
    ok(&[
        "generate",
        "separable",
        "--noise",
        "0.02",
        "--margin",
        "0.3",
        "-n",
        "2000",
        "-d",
        "3",
        "-o",
        &data,
    ]);
    let found = json(&["check", &data]);
    assert!(found["updates_at_most"].is_null());
    let bound = found["updates_in_passes"]["first_pass"].as_u64().unwrap();
    for seed in ["1", "2", "3"] {
        let args = [
            "train", &data, "--scale", "none", "--epochs", "1", "--seed", seed,
        ];
        let updates = json(&args)["updates"].as_u64().unwrap();
        assert!(updates > 0 && updates <= bound, "{updates} {bound}");
    }
    let text = ok(&["check", &data]);
    assert!(
        text.contains("in one pass, and ((R + √T·D)/γ)² in T passes"),
        "{text}"
    );
    // Separable rows have their own bound.
    let and = json(&["check", &place.file("and.csv", AND)]);
    assert!(and["updates_in_passes"].is_null() && and["updates_at_most"].as_u64().unwrap() > 0);
}

#[test]
fn a_picture_of_many_rows_stays_small_and_says_so() {
    let place = Place::new();
    let (data, plot) = (place.to("o.csv"), place.to("o.svg"));
    ok(&[
        "generate",
        "separable",
        "--noise",
        "0.2",
        "-n",
        "20000",
        "-d",
        "2",
        "-o",
        &data,
    ]);
    let output = run(&["trace", &data, "--max-updates", "300", "--plot", &plot]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(std::fs::metadata(&plot).unwrap().len() < 4 << 20);
    assert!(
        stderr(&output).contains("a sample of at most"),
        "{}",
        stderr(&output)
    );
    let and = place.file("and.csv", AND);
    let output = run(&["trace", &and, "--plot", &plot]);
    assert!(!stderr(&output).contains("sample"), "{}", stderr(&output));
}

/// By hand: w = (3, 2), θ = 4, ‖w‖² = 13.
#[test]
fn rows_are_placed_beside_the_plane() {
    let place = Place::new();
    let (data, model) = (place.file("and.csv", AND), place.to("m.rbm"));
    ok(&[
        "train",
        &data,
        "--scale",
        "none",
        "--order",
        "given",
        "--readout",
        "last",
        "-o",
        &model,
    ]);
    let found = json(&["inspect", &model, "--geometry", &data]);
    assert_eq!(
        (&found["normal"][0], &found["normal"][1]),
        (&3.0.into(), &2.0.into())
    );
    assert_eq!(found["threshold"], 4.0);
    let row = |i: usize, what: &str| found["rows"][i][what].clone();
    assert_eq!((row(3, "side"), row(3, "score")), ("+".into(), 1.0.into()));
    assert_eq!(
        (row(0, "side"), row(0, "functional_margin")),
        ("-".into(), 4.0.into())
    );
    let near = |value: serde_json::Value, expected: f64| {
        assert!(
            (value.as_f64().unwrap() - expected).abs() < 1e-12,
            "{value} {expected}"
        );
    };
    near(row(3, "distance"), 1.0 / 13f64.sqrt());
    near(row(3, "foot")[0].clone(), 10.0 / 13.0);
    near(row(3, "foot")[1].clone(), 11.0 / 13.0);
    near(found["functional_margin"].clone(), 1.0);
    near(found["geometric_margin"].clone(), 1.0 / 13f64.sqrt());
    let text = ok(&["inspect", &model, "--geometry", &data]);
    assert!(
        text.contains("w = (3, 2), θ = 4") && text.contains("distance"),
        "{text}"
    );
}

#[test]
fn several_classes_over_a_kernel_have_a_bound() {
    let place = Place::new();
    let data = place.file("k.csv", "x,y,label\n0,0,a\n1,0,b\n0,1,b\n5,5,c\n6,5,c\n");
    let found = json(&[
        "train", &data, "--kernel", "rbf:1", "--scale", "none", "--epochs", "500",
    ]);
    assert_eq!(found["stop"], "separated");
    let (updates, bound) = (
        found["updates"].as_u64().unwrap(),
        found["updates_at_most"].as_u64(),
    );
    assert!(updates > 0 && updates <= bound.unwrap(), "{found}");
}

#[test]
fn a_time_limit_ends_with_undecided() {
    let place = Place::new();
    let and = place.file("and.csv", AND);
    let output = run(&["check", &and, "--time-limit", "0"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("undecided: the time limit of 0 s"),
        "{text}"
    );
    assert!(text.contains("nothing is proved yet"), "{text}");
    let proof = place.to("none.json");
    let output = run(&[
        "check",
        &and,
        "--json",
        "--time-limit",
        "0",
        "--certificate",
        &proof,
    ]);
    assert_eq!(output.status.code(), Some(4));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["verdict"], "undecided");
    assert_eq!(found["stop"], "time_limit");
    assert!(found["separable"].is_null() && found["certificate"].is_null());
    assert!(!std::path::Path::new(&proof).exists());
    for ample in ["1e9", "inf"] {
        assert_eq!(
            json(&["check", &and, "--time-limit", ample])["verdict"],
            "separable"
        );
    }
    for kind in [["--kernel", "quadratic"], ["--label", "0"]] {
        let output = run(&[&["check", &and, "--time-limit", "0"], &kind[..]].concat());
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    }
    assert_eq!(
        run(&["check", &and, "--time-limit", "-1"]).status.code(),
        Some(2)
    );
}

#[test]
fn only_the_verdict_where_that_is_asked() {
    let place = Place::new();
    let quasi = place.file("quasi.csv", "x,label\n0,n\n1,n\n1,p\n2,p\n");
    let proof = place.to("p.json");
    let found = json(&["check", &quasi, "--verdict-only", "--certificate", &proof]);
    assert_eq!(found["verdict"], "quasi-separable");
    assert_eq!(found["certified_verdict"], "quasi-separable");
    assert!(found["radius"].is_null());
    ok(&["verify", &proof, &quasi]);
    let text = ok(&["check", &quasi, "--verdict-only"]);
    assert!(!text.contains("coefficients"), "{text}");
    let three = place.file("three.csv", "x,label\n0,a\n1,b\n2,c\n");
    let text = ok(&["check", &three, "--verdict-only"]);
    assert!(text.starts_with("jointly separable"), "{text}");
    assert!(!text.contains("each class"), "{text}");
}

/// A search that hears nothing, here because it waits for rows, is ended from outside.
#[cfg(unix)]
#[test]
fn what_does_not_hear_of_a_limit_ends_all_the_same() {
    use std::process::Stdio;
    let start = |args: &[&str]| {
        let mut command = crate::common::program(args);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        piped.stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut waiting = start(&["check", "-", "--time-limit", "0.1"]);
    let open = waiting.stdin.take();
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(output.stdout.starts_with(b"undecided"));
    drop(open);
    // Until it listens to Ctrl-C there is nothing to see, and the signal kills it.
    let status = |milliseconds| {
        let mut waiting = start(&["check", "-"]);
        let open = waiting.stdin.take();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let interrupted = std::process::Command::new("kill")
            .args(["-INT", &waiting.id().to_string()])
            .status();
        assert!(interrupted.unwrap().success());
        let output = waiting.wait_with_output().unwrap();
        drop(open);
        output
    };
    let mut outputs = [200, 1000, 5000].into_iter().map(status);
    let output = outputs.find(|output| output.status.code().is_some());
    let output = output.expect("a run that listened");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(
        output
            .stdout
            .starts_with(b"undecided: the search was interrupted")
    );
}
