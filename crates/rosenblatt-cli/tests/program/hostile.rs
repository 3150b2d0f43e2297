//! Files of people who mean harm or made a mistake, and machines with little to spare.

use crate::common::{Place, json, ok, program, run, stderr};
use serde_json::{Value, json};

/// Stacks as large as this can be had by no thread.
#[cfg(target_os = "linux")]
#[test]
fn without_threads_there_is_still_the_first() {
    let place = Place::new();
    let (one, none) = (place.to("one.rbm"), place.to("none.rbm"));
    let data = place.to("d.csv");
    ok(&[
        "generate",
        "separable",
        "--noise",
        "0.2",
        "-n",
        "3000",
        "-d",
        "40",
        "-o",
        &data,
    ]);
    let starved = |args: &[&str]| {
        let mut args = args.to_vec();
        args.extend(["--threads", "8"]);
        let output = program(&args)
            .env("RUST_MIN_STACK", (1u64 << 50).to_string())
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{args:?} {}",
            stderr(&output)
        );
        output.stdout
    };
    ok(&[
        "train",
        &data,
        "--epochs",
        "3",
        "-o",
        &one,
        "--threads",
        "1",
    ]);
    starved(&["train", &data, "--epochs", "3", "-o", &none]);
    assert!(std::fs::read(&one).unwrap() == std::fs::read(&none).unwrap());
    let predicted = ok(&["predict", &one, &data]);
    assert_eq!(starved(&["predict", &one, &data]), predicted.as_bytes());
    starved(&["check", &data]);
    starved(&["train", &data, "--cache", "--memory", "1G", "--epochs", "2"]);
    starved(&["train", &data, "--cv", "3", "--epochs", "2"]);
}

/// What a certificate does not speak of, `verify` speaks of.
#[test]
fn verify_says_which_question_was_answered() {
    let place = Place::new();
    let text = "id,x,label\n1,0,n\n#2,1,n\n3,2,y\n";
    let data = place.file("d.csv", text);
    let proof = place.to("p.json");
    ok(&[
        "check",
        &data,
        "--comment",
        "#",
        "--ignore",
        "id",
        "--certificate",
        &proof,
    ]);
    let said = ok(&["verify", &proof, &data]);
    for words in [
        "d.csv",
        "1 line left out, starting with \"#\"",
        "the first line is a header, not a row",
        "columns: x; label: label; left out: id",
        "labels: y against n",
        "bias: lifted",
        "kernel: none",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let said = json(&["verify", &proof, &data]);
    assert_eq!(said["question"]["lines_left_out"], 1);
    assert_eq!(said["question"]["header"], json!(["id", "x", "label"]));
    assert_eq!(
        said["question"]["columns"],
        json!(["ignore", "numeric", "label"])
    );
    assert_eq!(said["question"]["kernel"], Value::Null);
    // A kernel's verdict is none about the columns.
    let xor = place.file("xor.csv", "a,b,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
    ok(&[
        "check",
        &xor,
        "--kernel",
        "quadratic",
        "--certificate",
        &proof,
    ]);
    let text = ok(&["verify", &proof, &xor]);
    assert!(
        text.contains("separable in the space of the kernel polynomial"),
        "{text}"
    );
    assert!(text.contains("nothing is said about hyperplanes"), "{text}");
    let said = json(&["verify", &proof, &xor]);
    assert!(
        said["verdict"]
            .as_str()
            .unwrap()
            .contains("in the space of the kernel"),
        "{said}"
    );
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../rosenblatt-verify/python/check_certificate.py"
    );
    let theirs = std::process::Command::new("python3")
        .args([script, &proof, &xor])
        .output();
    if let Ok(theirs) = theirs {
        let text = String::from_utf8(theirs.stdout).unwrap();
        assert!(
            text.contains("in the space of the kernel polynomial"),
            "{text}"
        );
    }
}
