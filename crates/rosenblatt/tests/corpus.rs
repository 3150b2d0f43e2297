//! Replays the fuzzers' corpus with the checks that the fuzzers make.

mod checks;

use std::path::Path;

/// The inputs of a target, with their names; `fuzz/corpus.py` says how they are packed.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(format!("{target}.txt"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    text.lines()
        .map(|line| {
            let (name, input) = line.split_once('\t').expect("a name, a tab and an input");
            (name.to_owned(), unescaped(input))
        })
        .collect()
}

/// The bytes of a text in which those that are not printable ASCII are escaped.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next() {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b'\\') => b'\\',
                Some(b'x') => {
                    let mut digit = || (rest.next()? as char).to_digit(16);
                    let (high, low) = (digit(), digit());
                    high.zip(low)
                        .map(|(high, low)| (16 * high + low) as u8)
                        .expect("two hexadecimal digits")
                }
                other => panic!("an unknown escape: {other:?}"),
            },
            byte => byte,
        });
    }
    bytes
}

fn replay(target: &str) {
    let inputs = inputs(target);
    assert!(inputs.len() >= 10, "{target} has {} inputs", inputs.len());
    let passes = |bytes: &[u8]| {
        let check = || assert!(checks::by_name(target, bytes), "no target {target}");
        std::panic::catch_unwind(check).is_ok()
    };
    let failing: Vec<String> = (inputs.into_iter())
        .filter(|(_, bytes)| !passes(bytes))
        .map(|(name, _)| name)
        .collect();
    assert!(failing.is_empty(), "{failing:#?} do not pass");
}

#[test]
fn batches() {
    replay("batches");
}

#[test]
fn decimal() {
    replay("decimal");
}

#[test]
fn idx() {
    replay("idx");
}

#[test]
fn libsvm() {
    replay("libsvm");
}

#[test]
fn model() {
    replay("model");
}

#[test]
fn number() {
    replay("number");
}

#[test]
fn table() {
    replay("table");
}

#[test]
fn jsonl() {
    replay("jsonl");
}

#[test]
fn arff() {
    replay("arff");
}

#[test]
fn npy() {
    replay("npy");
}

#[test]
fn vw() {
    replay("vw");
}

#[test]
fn parquet() {
    replay("parquet");
}

#[test]
fn arrow() {
    replay("arrow");
}

#[test]
fn zip() {
    replay("zip");
}
