//! Certificates that `check` wrote, altered in hundreds of ways: `verify` accepts one only
//! if it is still a proof, tells a malformed one from a false one, and says why. The Python
//! checker, which shares no code with it, must come to the same judgement each time.

#![allow(clippy::print_stdout)] // it is a test

use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{Place, json, ok, run};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A data file and the certificate that `check` wrote about it.
struct Proved {
    name: &'static str,
    data: String,
    text: String,
    certificate: Value,
}

const SETS: [(&str, &str, &[&str], &str); 9] = [
    (
        "and.csv",
        "label,x1,x2\n-1,0,0\n-1,0,1\n-1,1,0\n1,1,1\n",
        &[],
        "separable",
    ),
    (
        "quasi.csv",
        "x,y,label\n0,1,n\n1,2,n\n1,2,p\n2,-1,p\n0.5,3,n\n",
        &[],
        "quasi-separable",
    ),
    (
        "xor.csv",
        "a,b,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n",
        &[],
        "overlapping",
    ),
    (
        "line.csv",
        "x,y,label\n0.1,0.3,a\n0.2,0.6,b\n0.3,0.9,a\n",
        &[],
        "overlapping",
    ),
    (
        "origin.svm",
        "+1 1:3 2:0.25\n-1 1:-2\n-1 2:-1 4:-7\n+1 4:0.5\n",
        &["--bias", "none"],
        "separable",
    ),
    (
        "zero.svm",
        "1 1:1\n-1\n1 2:2 3:1\n-1 3:-1\n",
        &["--bias", "none"],
        "quasi-separable",
    ),
    (
        "three.csv",
        "x,y,label\n0,0,a\n10,0,b\n0,10,c\n-1,-1,a\n",
        &[],
        "separable",
    ),
    (
        "between.csv",
        "x,label\n0,a\n1,b\n5,c\n2,a\n",
        &[],
        "not-separable",
    ),
    (
        "mixed.csv",
        "colour,size,label\nred,1.5,y\nblue,?,n\n?,3,y\nred,2,y\nblue,4,n\ngreen,-1,n\n",
        &[],
        "separable",
    ),
];

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn proved(place: &Place) -> Vec<Proved> {
    let prove = |(name, text, extra, verdict): (&'static str, &str, &[&str], &str)| {
        let (data, proof) = (place.file(name, text), place.to("proof.json"));
        let mut args = vec!["check", data.as_str(), "--certificate", proof.as_str()];
        args.extend(extra);
        assert_eq!(json(&args)["verified"], true, "{name}");
        ok(&["verify", &proof, &data]);
        let certificate: Value =
            serde_json::from_str(&std::fs::read_to_string(&proof).unwrap()).unwrap();
        assert_eq!(certificate["verdict"], verdict, "{name}");
        Proved {
            name,
            data,
            text: text.into(),
            certificate,
        }
    };
    SETS.map(prove).into()
}

/// A judgement to be made: a certificate and a data file.
struct Trial {
    what: String,
    certificate: String,
    data: String,
}

/// Calls `f` with every text, number and list in a tree, as a place to alter.
fn places(tree: &Value, path: &str, f: &mut dyn FnMut(&str)) {
    f(path);
    match tree {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                places(item, &format!("{path}/{i}"), f);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                places(field, &format!("{path}/{name}"), f);
            }
        }
        _ => {}
    }
}

fn altered(tree: &Value, path: &str, to: Value) -> Value {
    let mut tree = tree.clone();
    if let Some(place) = tree.pointer_mut(path) {
        *place = to;
    }
    tree
}

/// Everything inside the witness changed, one thing at a time.
fn witnesses(proved: &Proved, rows: u64) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    places(&proved.certificate["witness"], "/witness", &mut |path| {
        let tree = &proved.certificate;
        let mut put = |how: &str, to: Value| {
            found.push((format!("{path} {how}"), altered(tree, path, to)));
        };
        match tree.pointer(path) {
            // A weight: another sign, another size, none, or the same number otherwise.
            Some(Value::String(number)) => {
                put(
                    "negated",
                    json!(
                        number
                            .strip_prefix('-')
                            .map_or(format!("-{number}"), Into::into)
                    ),
                );
                put("times 1000", json!(format!("{number}000")));
                put("zero", json!("0"));
                put(
                    "a hair more",
                    json!(format!("{number}.000000000000000000001")),
                );
                put("spelled otherwise", json!(format!("{number}*2^0")));
                put("no number", json!("one"));
            }
            // A row or a class.
            Some(Value::Number(number)) => {
                let row = number.as_u64().unwrap();
                put("the next", json!(row % rows + 1));
                put("out of range", json!(rows + 7));
                put("zero", json!(0));
            }
            Some(Value::Array(items)) => {
                put("emptied", json!([]));
                for i in 0..items.len() {
                    let mut fewer = items.clone();
                    fewer.remove(i);
                    put(&format!("without {i}"), fewer.into());
                    let mut twice = items.clone();
                    twice.push(items[i].clone());
                    put(&format!("{i} twice"), twice.into());
                }
            }
            Some(Value::Object(fields)) => {
                for name in fields.keys() {
                    let mut fewer = fields.clone();
                    fewer.remove(name);
                    put(&format!("without {name}"), fewer.into());
                }
                let mut more = fields.clone();
                more.insert("1".into(), json!("1"));
                put("with 1 at 1", more.into());
            }
            _ => {}
        }
    });
    found
}

fn trials(place: &Place, all: &[Proved]) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |what: String, certificate: String, data: &str| {
        trials.push(Trial {
            what,
            certificate,
            data: data.into(),
        });
    };
    for proved in all {
        let name = proved.name;
        let tree = &proved.certificate;
        let rows = tree["data"]["rows"].as_u64().unwrap();
        add(format!("{name} as it is"), tree.to_string(), &proved.data);
        for (what, changed) in witnesses(proved, rows) {
            add(format!("{name}: {what}"), changed.to_string(), &proved.data);
        }
        // The opposite verdict, with this witness and with every other's.
        for verdict in [
            "separable",
            "quasi-separable",
            "overlapping",
            "not-separable",
        ] {
            let other = altered(tree, "/verdict", json!(verdict));
            add(
                format!("{name} called {verdict}"),
                other.to_string(),
                &proved.data,
            );
        }
        for other in all {
            let mut argued = altered(tree, "/witness", other.certificate["witness"].clone());
            argued = altered(&argued, "/verdict", other.certificate["verdict"].clone());
            add(
                format!("{name} argued as {}", other.name),
                argued.to_string(),
                &proved.data,
            );
            // Another file, with the hash as it was and as it should be.
            add(
                format!("{name} on {}", other.name),
                tree.to_string(),
                &other.data,
            );
            let rehashed = altered(tree, "/data/sha256", json!(sha256(&other.text)));
            add(
                format!("{name} rehashed on {}", other.name),
                rehashed.to_string(),
                &other.data,
            );
        }
        // Two rows of the file swapped, a row gone, a digit changed.
        let lines: Vec<&str> = proved.text.lines().collect();
        for i in 0..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(i, (i + 1) % lines.len());
            let mut fewer = lines.clone();
            fewer.remove(i);
            let digit = lines[i].replace('1', "2");
            let mut changed = lines.clone();
            changed[i] = &digit;
            for (how, lines) in [("swapped", swapped), ("gone", fewer), ("changed", changed)] {
                let text = lines.join("\n") + "\n";
                let data = place.file(&format!("{how}-{i}-{name}"), &text);
                let rehashed = altered(tree, "/data/sha256", json!(sha256(&text)));
                add(
                    format!("{name}, line {i} {how}"),
                    rehashed.to_string(),
                    &data,
                );
            }
        }
        // Malformed: cut short, a field gone, a field too many, a field twice.
        let text = tree.to_string();
        add(
            format!("{name} cut short"),
            text[..text.len() / 2].into(),
            &proved.data,
        );
        for field in [
            "data",
            "labels",
            "bias",
            "verdict",
            "witness",
            "rosenblatt-certificate",
        ] {
            let mut fewer = tree.clone();
            fewer.as_object_mut().unwrap().remove(field);
            add(
                format!("{name} without {field}"),
                fewer.to_string(),
                &proved.data,
            );
        }
        let more = text.replacen('{', "{\"note\": \"1\", ", 1);
        add(format!("{name} with a note"), more, &proved.data);
        let twice = text.replacen('{', "{\"bias\": \"none\", ", 1);
        add(format!("{name} with two biases"), twice, &proved.data);
        let unlifted = altered(tree, "/bias", json!("none"));
        add(
            format!("{name} without bias"),
            unlifted.to_string(),
            &proved.data,
        );
    }
    trials
}

/// The statuses that the Python checker gives, all in one run of it.
fn python(trials: &[(String, String)]) -> Option<Vec<i32>> {
    const DRIVER: &str = r"
import sys
sys.path.insert(0, sys.argv[1])
from check_certificate import verify
for line in sys.stdin:
    certificate, data = (open(path, 'rb').read() for path in line.rstrip('\n').split('\t'))
    print(verify(certificate, data)[0])
";
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../rosenblatt-verify/python");
    let child = Command::new("python3")
        .args(["-c", DRIVER, folder])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: there is no python3 to hold the checkers against each other");
        return None;
    };
    let mut input = child.stdin.take().unwrap();
    for (certificate, data) in trials {
        writeln!(input, "{certificate}\t{data}").unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the Python checker broke down");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| line.parse().unwrap()).collect())
}

#[test]
fn an_altered_certificate_is_accepted_only_if_it_is_still_a_proof() {
    let place = Place::new();
    let trials = trials(&place, &proved(&place));
    let files: Vec<(String, String)> = trials
        .iter()
        .enumerate()
        .map(|(i, trial)| {
            (
                place.file(&format!("{i}.json"), &trial.certificate),
                trial.data.clone(),
            )
        })
        .collect();
    let mut counts = std::collections::BTreeMap::new();
    let mut ours = Vec::new();
    for (trial, (certificate, data)) in trials.iter().zip(&files) {
        let output = run(&["verify", certificate, data, "--json"]);
        let status = output.status.code().unwrap();
        let what = &trial.what;
        match status {
            0 | 3 => {
                let said: Value = serde_json::from_slice(&output.stdout).unwrap();
                assert_eq!(said["holds"], status == 0, "{what}");
                assert_eq!(
                    said["reason"].as_str().is_some_and(|r| r.len() > 10),
                    status == 3,
                    "{what}: {said}"
                );
            }
            1 => assert!(
                crate::common::stderr(&output).contains("certificate"),
                "{what}"
            ),
            other => panic!("{what}: exit status {other}"),
        }
        *counts.entry(status).or_insert(0usize) += 1;
        ours.push(status);
    }
    if let Some(theirs) = python(&files) {
        for ((trial, ours), theirs) in trials.iter().zip(&ours).zip(&theirs) {
            assert_eq!(ours, theirs, "{}: {}", trial.what, trial.certificate);
        }
        assert_eq!(theirs.len(), ours.len());
    }
    println!("{} trials, by exit status: {counts:?}", trials.len());
    assert!(trials.len() > 200);
    assert!(
        [0, 1, 3].iter().all(|status| counts[status] > 50),
        "{counts:?}"
    );
}
