//! Altered certificates and altered data: both checkers must say the same of each.

mod common;

use common::{Case, agree, all_cases, sha256, with};
use rosenblatt_verify::{Flaw, Outcome};
use serde_json::{Map, Value, json};

fn case(name: &str) -> Case {
    let found = all_cases().into_iter().find(|case| case.name == name);
    found.unwrap_or_else(|| panic!("no case {name}"))
}

fn flaw(case: &Case) -> Flaw {
    match case.outcome() {
        Outcome::DoesNotHold(_, flaw) => flaw,
        other => panic!("{}: {other}", case.name),
    }
}

#[test]
fn a_changed_weight_is_caught_at_the_row_it_misplaces() {
    let and = case("and");
    let changed = with(and.tree(), &[("witness.w.0", json!("-6"))]);
    let flaw = flaw(&Case::new("changed", &changed, &and.data));
    assert_eq!((flaw.row, flaw.line), (Some(4), Some(4)));
    assert!(flaw.reason.contains("wrong side"), "{flaw}");
    let grazing = with(and.tree(), &[("witness.w.0", json!("-5"))]);
    let flaw = self::flaw(&Case::new("grazing", &grazing, &and.data));
    assert_eq!(flaw.row, Some(4));
    assert!(flaw.reason.contains("boundary"), "{flaw}");
    let better = with(and.tree(), &[("witness.w.0", json!("-9/2"))]);
    assert_eq!(
        Case::new("better", &better, &and.data)
            .outcome()
            .exit_status(),
        0
    );
}

#[test]
fn another_file_is_named_as_the_reason_even_where_its_rows_fail_too() {
    let (and, xor) = (case("and"), case("xor"));
    let flaw = flaw(&Case {
        data: xor.data,
        ..and
    });
    assert!(flaw.reason.contains("another file"), "{flaw}");
    assert_eq!(flaw.row, None);
}

#[test]
fn swapped_rows_break_a_lambda() {
    let xor = case("quasi-separable");
    let swapped = b"2,-\n0,-\n2,+\n3,+\n";
    let tree = with(xor.tree(), &[("data.sha256", json!(sha256(swapped)))]);
    let flaw = flaw(&Case::new("swapped", &tree, swapped));
    assert!(flaw.reason.contains("do not cancel in feature 1"), "{flaw}");
}

#[test]
fn the_opposite_verdict_needs_the_opposite_witness() {
    let and = case("and");
    let claimed = with(and.tree(), &[("verdict", json!("overlapping"))]);
    assert_eq!(
        Case::new("claimed", &claimed, &and.data)
            .outcome()
            .exit_status(),
        1
    );
    let argued = with(
        claimed,
        &[(
            "witness",
            json!({"lambda": [[1, "1"], [4, "1"]], "null_space": []}),
        )],
    );
    flaw(&Case::new("argued", &argued, &and.data));
}

#[test]
fn a_dropped_or_negative_lambda_and_a_wrong_null_space_are_caught() {
    let line = case("three decimals on a line");
    for (lambda, basis, reason) in [
        (
            json!([[1, "1"], [3, "1"]]),
            json!([{"1": "3", "2": "-1"}]),
            "do not cancel",
        ),
        (
            json!([[1, "-1"], [2, "-2"], [3, "-1"]]),
            json!([]),
            "negative",
        ),
        (json!([]), json!([{"1": "3", "2": "-1"}]), "lambda is zero"),
        (
            json!([[1, "1"], [2, "2"], [3, "1"]]),
            json!([{"1": "3", "2": "1"}]),
            "not orthogonal",
        ),
        (
            json!([[1, "1"], [2, "2"], [3, "1"]]),
            json!([]),
            "to have rank 3",
        ),
        (
            json!([[1, "1"], [2, "2"], [3, "1"]]),
            json!([{"1": "3", "2": "-1"}, {"1": "-6", "2": "2"}]),
            "independent",
        ),
    ] {
        let witness = json!({"lambda": lambda, "null_space": basis});
        let tree = with(line.tree(), &[("witness", witness)]);
        let flaw = flaw(&Case::new("altered", &tree, &line.data));
        assert!(
            flaw.to_string().contains(reason),
            "{flaw} is not about {reason}"
        );
    }
}

#[test]
fn a_malformed_certificate_says_what_and_where() {
    let and = case("and");
    for (path, value, at) in [
        ("witness.w.1", json!("1/0"), "witness.w.1"),
        ("witness.w.7", json!("1"), "witness.w.7"),
        ("data.columns.1", Value::Null, ""),
        ("data.features", json!(3), "data.columns"),
        ("data.delimiter", json!("ab"), "data.delimiter"),
        (
            "kernel",
            json!({"name": "rbf", "gamma": "0"}),
            "kernel.gamma",
        ),
        ("extra", json!(1), "extra"),
        ("verdict", json!("inseparable"), "verdict"),
        ("rosenblatt-certificate", json!(2), "rosenblatt-certificate"),
    ] {
        let mut tree = and.tree();
        if path == "data.columns.1" {
            tree["data"]["columns"][1] = value;
        } else {
            tree = with(tree, &[(path, value)]);
        }
        match Case::new(path, &tree, &and.data).outcome() {
            Outcome::Malformed(malformed) => assert_eq!(malformed.at, at, "{malformed}"),
            other => panic!("{path}: {other}"),
        }
    }
}

/// Every tree that differs from `tree` by one small change.
fn mutants(tree: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    change_at(tree, String::new(), &mut |path, value| {
        found.push((path, value));
    });
    found
}

fn change_at(node: &Value, path: String, emit: &mut dyn FnMut(String, Value)) {
    let mut put = |what: &str, value: Value| emit(format!("{path} {what}"), value);
    put("null", Value::Null);
    put("-1", json!(-1));
    put("1.5", json!(1.5));
    match node {
        Value::Bool(flag) => put("flipped", json!(!flag)),
        Value::Number(number) => {
            let number = number.as_u64().unwrap_or(0);
            for other in [number.wrapping_add(1), number.wrapping_sub(1), 0, u64::MAX] {
                put(&other.to_string(), json!(other));
            }
            put("as text", json!(number.to_string()));
        }
        Value::String(text) => {
            let opposite = text
                .strip_prefix('-')
                .map_or(format!("-{text}"), str::to_owned);
            let numbers = [
                "0", "1", "1/0", "7/3", "-0.125", "3*2^-4", "1e1101", "1e-1100", "1.", "٣",
            ];
            let words = [
                "",
                "x",
                "separable",
                "overlapping",
                "not-separable",
                "none",
                "lifted",
            ];
            for other in [
                opposite,
                format!("{text}0"),
                format!("0{text}"),
                format!(" {text}"),
            ] {
                put(&other, json!(other));
            }
            for other in numbers.iter().chain(&words) {
                put(other, json!(other));
            }
        }
        Value::Array(items) => {
            let with = |change: &dyn Fn(&mut Vec<Value>)| {
                let mut items = items.clone();
                change(&mut items);
                Value::Array(items)
            };
            put("emptied", json!([]));
            put("turned around", with(&|items| items.reverse()));
            for i in 0..items.len() {
                put(
                    &format!("without {i}"),
                    with(&|items| drop(items.remove(i))),
                );
                put(
                    &format!("{i} twice"),
                    with(&|items| items.push(items[i].clone())),
                );
                let next = (i + 1) % items.len();
                put(
                    &format!("{i} with {next}"),
                    with(&|items| items.swap(i, next)),
                );
            }
        }
        Value::Object(fields) => {
            let with = |change: &dyn Fn(&mut Map<String, Value>)| {
                let mut fields = fields.clone();
                change(&mut fields);
                Value::Object(fields)
            };
            put("emptied", json!({}));
            for extra in ["0", "3", "03", "comment", "null_space", "w", "kernel"] {
                let one =
                    |fields: &mut Map<String, Value>| drop(fields.insert(extra.into(), json!("1")));
                put(&format!("with {extra}"), with(&one));
            }
            for name in fields.keys() {
                put(
                    &format!("without {name}"),
                    with(&|fields| drop(fields.remove(name))),
                );
            }
        }
        Value::Null => {}
    }
    match node {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                change_at(item, format!("{path}[{i}]"), &mut |path, value| {
                    let mut items = items.clone();
                    items[i] = value;
                    emit(path, Value::Array(items));
                });
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                change_at(field, format!("{path}.{name}"), &mut |path, value| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), value);
                    emit(path, Value::Object(fields));
                });
            }
        }
        _ => {}
    }
}

#[test]
fn one_change_in_a_certificate_is_judged_alike() {
    let mut cases = Vec::new();
    for case in all_cases() {
        for (what, tree) in mutants(&case.tree()) {
            cases.push(Case::new(
                format!("{}: {what}", case.name),
                &tree,
                &case.data,
            ));
        }
    }
    let [holds, malformed, _, does_not_hold] = agree(&cases);
    println!(
        "{} mutants: {holds} hold, {malformed} malformed, {does_not_hold} do not hold",
        cases.len()
    );
    assert!(cases.len() > 200 && holds > 100 && malformed > 1000 && does_not_hold > 500);
}

/// Data that differ by one small change.
fn altered(data: &[u8]) -> Vec<Vec<u8>> {
    let lines: Vec<&[u8]> = data.split_inclusive(|&byte| byte == b'\n').collect();
    let mut found = Vec::new();
    for i in 0..lines.len().min(12) {
        let mut without = lines.clone();
        without.remove(i);
        found.push(without.concat());
        let mut twice = lines.clone();
        twice.insert(i, lines[i]);
        found.push(twice.concat());
        let mut swapped = lines.clone();
        swapped.swap(i, (i + 1) % lines.len());
        found.push(swapped.concat());
    }
    for at in (0..data.len()).step_by(1 + data.len() / 40) {
        for byte in *b"0-+.,\t \n\r\"#?x:;" {
            let mut other = data.to_vec();
            other[at] = byte;
            found.push(other.clone());
            other.insert(at, data[at]);
            found.push(other);
        }
        found.push(data[..at].to_vec());
    }
    found
}

#[test]
fn one_change_in_the_data_is_judged_alike() {
    let mut cases = Vec::new();
    for case in all_cases() {
        for (i, data) in altered(&case.data).into_iter().enumerate() {
            let name = format!("{}: data {i}", case.name);
            // With the hash of the altered data, so that the rows themselves are judged.
            let tree = with(case.tree(), &[("data.sha256", json!(sha256(&data)))]);
            cases.push(Case::new(name.clone(), &tree, &data));
            if data != case.data {
                let stale = Case::new(name, &case.tree(), &data);
                assert_eq!(stale.outcome().exit_status(), 3);
                if i % 20 == 0 {
                    cases.push(stale);
                }
            }
        }
    }
    let [holds, malformed, _, does_not_hold] = agree(&cases);
    println!(
        "{} altered: {holds} hold, {does_not_hold} do not hold",
        cases.len()
    );
    assert!(cases.len() > 200 && holds > 100 && does_not_hold > 500);
    assert_eq!(malformed, 0);
}

#[test]
fn certificates_with_each_others_data_and_witnesses_are_judged_alike() {
    let all = all_cases();
    let mut cases = Vec::new();
    for one in &all {
        for other in &all {
            let name = format!("{} with {}", one.name, other.name);
            let (tree, foreign) = (one.tree(), other.tree());
            let hash = ("data.sha256", json!(sha256(&other.data)));
            let rows = ("data.rows", foreign["data"]["rows"].clone());
            let data = with(tree.clone(), &[hash, rows]);
            cases.push(Case::new(format!("{name}: data"), &data, &other.data));
            let argued = with(
                tree,
                &[
                    ("verdict", foreign["verdict"].clone()),
                    ("witness", foreign["witness"].clone()),
                ],
            );
            cases.push(Case::new(format!("{name}: witness"), &argued, &one.data));
        }
    }
    let counts = agree(&cases);
    println!("{} exchanged: {counts:?}", cases.len());
    assert!(counts[0] >= all.len() && counts[3] > 200);
}

#[test]
fn noise_in_the_bytes_of_a_certificate_is_judged_alike() {
    let mut state = 1u64;
    let mut random = move |below: usize| {
        // Knuth's MMIX generator; the high bits are good enough here.
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let all = all_cases();
    let mut cases = Vec::new();
    for i in 0..4000 {
        let mut case = all[random(all.len())].clone();
        case.name = format!("{}: noise {i}", case.name);
        for _ in 0..=random(2) {
            let at = random(case.certificate.len());
            let byte = b"\"\\{}[]:,0123456789-+./*^e_ \n\xc3u\x00"[random(31)];
            match random(3) {
                0 => case.certificate[at] = byte,
                1 => case.certificate.insert(at, byte),
                _ => drop(case.certificate.remove(at)),
            }
        }
        cases.push(case);
    }
    let counts = agree(&cases);
    println!("{} with noise: {counts:?}", cases.len());
}
