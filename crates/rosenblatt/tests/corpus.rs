//! Replays the fuzzers' corpus with the checks that the fuzzers make.

mod checks;

use std::path::{Path, PathBuf};

fn files(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

fn replay(target: &str) {
    let files = files(target);
    assert!(files.len() >= 10, "{target} has {} files", files.len());
    let passes = |file: &PathBuf| {
        let bytes = std::fs::read(file).unwrap();
        let check = || assert!(checks::by_name(target, &bytes), "no target {target}");
        std::panic::catch_unwind(check).is_ok()
    };
    let failing: Vec<PathBuf> = files.into_iter().filter(|f| !passes(f)).collect();
    assert!(failing.is_empty(), "{failing:#?} do not pass");
}

#[test]
fn batches() {
    replay("batches");
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
