//! Certificates that hold, and what the checkers say of them.

mod common;

use common::{Case, agree, all_cases, with};
use rosenblatt_verify::{Outcome, Verdict, verify_stream};
use serde_json::json;
use std::io::Read;

#[test]
fn every_certificate_of_the_catalogue_holds_in_both_checkers() {
    let cases = all_cases();
    for case in &cases {
        let outcome = case.outcome();
        assert!(
            matches!(outcome, Outcome::Holds(_)),
            "{}: {outcome}",
            case.name
        );
    }
    assert_eq!(agree(&cases), [cases.len(), 0, 0, 0]);
}

/// Gives its bytes a few at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

#[test]
fn a_stream_gives_the_same_outcome_in_at_most_two_passes() {
    for case in all_cases() {
        for step in [1, 7] {
            let mut passes = 0;
            let open = || {
                passes += 1;
                Ok(Trickle(&case.data, step))
            };
            let outcome = verify_stream(&case.certificate, open).unwrap();
            assert_eq!(outcome, case.outcome(), "{}", case.name);
            let expected = if case.tree()["witness"]["alpha"].is_array() {
                2
            } else {
                1
            };
            assert_eq!(passes, expected, "{}", case.name);
        }
    }
}

#[test]
fn a_quasi_separable_claim_says_how_many_rows_it_separates_and_whether_that_is_all() {
    let find = |name: &str| {
        all_cases()
            .into_iter()
            .find(|case| case.name == name)
            .unwrap()
    };
    for (name, complete) in [
        ("quasi-separable", false),
        ("quasi-separable, no further rows", true),
    ] {
        let Outcome::Holds(claim) = find(name).outcome() else {
            panic!("{name} holds");
        };
        assert_eq!(claim.verdict, Verdict::QuasiSeparable);
        assert_eq!((claim.separated, claim.complete), (Some(2), complete));
    }
}

#[test]
fn notes_do_not_matter_but_must_be_texts() {
    let case = &all_cases()[0];
    let noted = with(case.tree(), &[("info", json!({"program": "by hand"}))]);
    assert_eq!(
        Case::new("noted", &noted, &case.data).outcome(),
        case.outcome()
    );
    let numbered = with(case.tree(), &[("info", json!({"program": 7}))]);
    assert_eq!(
        Case::new("numbered", &numbered, &case.data)
            .outcome()
            .exit_status(),
        1
    );
}

#[test]
fn the_example_of_the_format_holds() {
    let text = include_str!("../FORMAT.md");
    let example = text
        .split("```json")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let case = Case {
        name: "FORMAT.md".into(),
        certificate: example.as_bytes().to_vec(),
        data: b"0,0,no\n0,1,no\n1,0,no\n1,1,yes\n".to_vec(),
    };
    assert_eq!(agree(&[case]), [1, 0, 0, 0]);
}
