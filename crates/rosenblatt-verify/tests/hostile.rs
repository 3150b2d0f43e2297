//! Input made to break the checker: it must answer, soon and in little memory.

mod common;

use common::{Case, all_cases, certificate, libsvm, sha256, table, with};
use rosenblatt_verify::{verify, verify_stream};
use serde_json::json;
use std::io::{self, Read};

/// Knuth's MMIX generator; the high bits are good enough here.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn noise_in_the_data_never_panics() {
    let mut random = Random(7);
    let all = all_cases();
    for _ in 0..20_000 {
        let case = &all[random.below(all.len())];
        let mut data = case.data.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(data.len() + 1);
            let byte = match random.below(2) {
                0 => random.below(256) as u8,
                _ => b"0123456789eE+-.,:\"\n\r\t #?"[random.below(24)],
            };
            data.insert(at, byte);
            if random.below(2) == 0 {
                data.remove(random.below(data.len()));
            }
        }
        let tree = with(case.tree(), &[("data.sha256", json!(sha256(&data)))]);
        let status = Case::new("noise", &tree, &data).outcome().exit_status();
        assert!(status == 0 || status == 3);
    }
}

#[test]
fn plain_noise_is_no_certificate() {
    let mut random = Random(3);
    for _ in 0..5_000 {
        let length = random.below(60);
        let noise: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        assert_eq!(verify(&noise, &noise).exit_status(), 1);
    }
}

fn refused_line(line: &str, reason: &str) {
    let data = format!("{line}\n");
    let layout = libsvm(data.as_bytes(), 1, 3);
    let tree = certificate(layout, "separable", json!({"w": {"1": "1"}}));
    let outcome = Case::new(line, &tree, data.as_bytes()).outcome();
    assert_eq!(outcome.exit_status(), 3);
    assert!(outcome.to_string().contains(reason), "{outcome}");
}

#[test]
fn numbers_and_indices_out_of_all_bounds_are_refused() {
    refused_line("+ 1:1e999999999", "index:value");
    refused_line("+ 1:1e-1101", "index:value");
    refused_line("+ 1:inf", "index:value");
    refused_line("+ 1:nan", "index:value");
    refused_line("+ 1:0x10", "index:value");
    refused_line("+ 99999999999999999999:1", "index:value");
    refused_line("+ 999999999999999:1", "out of range");
    refused_line("+ 0:1", "out of range");
    refused_line("+ 4:1", "out of range");
    refused_line("+ 2:1 1:1 2:1", "index 2 occurs twice");
    refused_line("+ 2", "index:value");
    refused_line("+ 1: 2", "index:value");
    refused_line("? 1:2", "label");
    refused_line(&format!("+ 1:{}", "9".repeat(1_101)), "index:value");
}

#[test]
fn a_feature_count_alone_costs_nothing() {
    let data = b"+ 4000000000:1\n- 1:1\n";
    let layout = libsvm(data, 2, 4_000_000_000);
    let w = json!({"w": {"4000000000": "1", "1": "-1"}});
    let tree = certificate(layout.clone(), "separable", w);
    assert_eq!(Case::new("far", &tree, data).outcome().exit_status(), 0);
    let witness = json!({"lambda": [[1, "1"]], "null_space": [{"4000000000": "1"}]});
    let tree = certificate(layout.clone(), "overlapping", witness);
    assert_eq!(Case::new("far", &tree, data).outcome().exit_status(), 3);
    let tree = with(tree, &[("data.features", json!(4_000_000_001u64))]);
    assert_eq!(Case::new("farther", &tree, data).outcome().exit_status(), 1);
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    assert_eq!(verify(deep.as_bytes(), b"").exit_status(), 1);
}

#[test]
fn a_row_over_the_whole_range_stays_small() {
    // As integers at one power of ten these cells would take a thousand times their bytes.
    let mut cells = vec!["1"; 40_000];
    cells[0] = "1e-1100";
    cells[1] = "1e1100";
    let text = format!("{},+\n{},-\n", cells.join(","), cells.join(","));
    let columns: Vec<&str> = vec!["numeric"; 40_000]
        .into_iter()
        .chain(["label"])
        .collect();
    let layout = table(text.as_bytes(), 2, 40_000, json!(columns));
    let witness = json!({"lambda": [[1, "1"], [2, "1"]]});
    let tree = certificate(layout, "overlapping", witness);
    assert_eq!(
        Case::new("wide", &tree, text.as_bytes())
            .outcome()
            .exit_status(),
        0
    );
}

#[test]
fn an_unclosed_quote_ends_with_the_data() {
    let data = format!("\"{}", "\n\"\"x".repeat(100_000));
    let layout = table(data.as_bytes(), 1, 1, json!(["numeric", "label"]));
    let tree = certificate(layout, "separable", json!({"w": {}}));
    let outcome = Case::new("unclosed", &tree, data.as_bytes()).outcome();
    assert!(outcome.to_string().contains("quote"), "{outcome}");
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is gone"))
    }
}

#[test]
fn an_error_of_reading_is_passed_on_and_a_malformed_certificate_reads_nothing() {
    let case = &all_cases()[0];
    let error = verify_stream(&case.certificate, || Ok(Broken)).unwrap_err();
    assert_eq!(error.to_string(), "the disk is gone");
    let closed = verify_stream(&case.certificate, || -> io::Result<&[u8]> {
        Err(io::Error::other("no such file"))
    });
    assert!(closed.is_err());
    let outcome = verify_stream(b"{}", || Ok(Broken)).unwrap();
    assert_eq!(outcome.exit_status(), 1);
}
