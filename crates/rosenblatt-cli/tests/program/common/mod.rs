//! Running the program and looking at what it did.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub use tempfile::TempDir;

/// A folder of its own for a test.
pub struct Place(pub TempDir);

impl Place {
    pub fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and gives its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The path of a file to be written.
    pub fn to(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
}

/// The program with these arguments.
pub fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rosenblatt"));
    command
        .args(args)
        .env_remove("NO_COLOR")
        .stdin(Stdio::null());
    command
}

/// Runs the program.
pub fn run(args: &[&str]) -> Output {
    program(args).output().unwrap()
}

/// Runs the program, which must succeed; gives its stdout.
pub fn ok(args: &[&str]) -> String {
    let output = run(args);
    assert!(
        output.status.success(),
        "{args:?}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the program, which must print one JSON object.
pub fn json(args: &[&str]) -> serde_json::Value {
    let mut args = args.to_vec();
    args.push("--json");
    serde_json::from_str(&ok(&args)).unwrap()
}

/// Runs the program with this on its stdin.
pub fn with_stdin(args: &[&str], input: &[u8]) -> Output {
    let mut child = program(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input); // the program may stop reading
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Boolean AND, in its order.
pub const AND: &str = "label,x1,x2\n-1,0,0\n-1,0,1\n-1,1,0\n1,1,1\n";

/// The penguins that ship with the repository.
pub fn penguins() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/penguins.csv")
        .to_str()
        .unwrap()
        .to_owned()
}

/// The tensors of a model file, by name.
pub fn tensors(path: impl AsRef<Path>) -> std::collections::BTreeMap<String, Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    file.iter()
        .map(|(name, view)| (name.to_owned(), view.data().to_vec()))
        .collect()
}
