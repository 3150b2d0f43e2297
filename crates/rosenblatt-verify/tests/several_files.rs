//! Certificates about several files: both checkers read their rows one below the other.
#![allow(clippy::unwrap_used, clippy::panic)] // it is a test

mod common;

use common::{certificate, sha256, with};
use rosenblatt_verify::{Outcome, verify_files};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Rows of two features in three files; the last does not end its line, the second has no rows.
const TABLES: [&[u8]; 3] = [
    b"x,y,class\n0,0,-\n0,1,-\n",
    b"x,y,class\n",
    b"# later\r\nx,y,class\r\n1,0,-\r\n1,1,+",
];
const LIBSVM: [&[u8]; 2] = [b"- 1:0\n- 2:1\n", b"- 1:1\n+ 2:1 1:1"];

fn listed(files: &[&[u8]]) -> Value {
    let files = (1..).zip(files);
    files
        .map(|(i, data)| json!({"name": format!("part {i}"), "sha256": sha256(data)}))
        .collect()
}

fn of_tables() -> Value {
    let data = json!({
        "format": "csv", "delimiter": ",", "quoting": true, "header": true, "comment": "#",
        "columns": ["numeric", "numeric", "label"],
        "rows": 4, "features": 2, "files": listed(&TABLES),
    });
    let w = json!({"w": {"0": "-3/2", "1": "1", "2": "1"}});
    certificate(data, "separable", w)
}

fn of_libsvm() -> Value {
    let data = json!({
        "format": "libsvm", "first_index": 1, "rows": 4, "features": 2, "files": listed(&LIBSVM),
    });
    let w = json!({"w": {"0": "-3/2", "1": "1", "2": "1"}});
    certificate(data, "separable", w)
}

/// The status and what is said; the Python checker has to give the same status.
fn judged(certificate: &Value, files: &[&[u8]]) -> (u8, String) {
    let text = certificate.to_string();
    let outcome = verify_files(
        text.as_bytes(),
        Duration::MAX,
        files.len(),
        |i| Ok(files[i]),
    );
    let outcome: Outcome = outcome.unwrap();
    static JUDGED: AtomicUsize = AtomicUsize::new(0);
    let number = JUDGED.fetch_add(1, Ordering::Relaxed);
    let folder = format!("several-files-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut names = vec![folder.join("certificate.json")];
    std::fs::write(&names[0], &text).unwrap();
    for (i, data) in files.iter().enumerate() {
        names.push(folder.join(format!("{i}.data")));
        let mut file = std::fs::File::create(&names[i + 1]).unwrap();
        file.write_all(data).unwrap();
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/python/check_certificate.py");
    if let Ok(output) = Command::new("python3").arg(script).args(&names).output() {
        let said = String::from_utf8_lossy(&output.stdout);
        let status = output.status.code().unwrap();
        assert_eq!(
            status,
            i32::from(outcome.exit_status()),
            "{outcome}; {said}"
        );
    }
    std::fs::remove_dir_all(&folder).unwrap();
    (outcome.exit_status(), outcome.to_string())
}

#[test]
fn rows_of_several_files_are_one_data_set() {
    for (certificate, files) in [(of_tables(), &TABLES[..]), (of_libsvm(), &LIBSVM)] {
        let (status, said) = judged(&certificate, files);
        assert_eq!(
            (status, &*said),
            (0, "holds: 4 rows, 2 features, separable")
        );
    }
    let lambda = json!([[1, "1"], [3, "1"]]);
    let quadratic = json!({"name": "polynomial", "degree": 2, "scale": "1", "constant": "1"});
    let kernel = with(
        of_libsvm(),
        &[
            ("kernel", quadratic),
            ("bias", json!("none")),
            (
                "witness",
                json!({"alpha": [[2, "-1"], [3, "-1"], [4, "1"]]}),
            ),
        ],
    );
    assert_eq!(
        judged(&kernel, &LIBSVM).0,
        0,
        "{}",
        judged(&kernel, &LIBSVM).1
    );
    let strict = with(
        kernel,
        &[
            ("kernel", json!({"name": "rbf", "gamma": "1"})),
            ("witness", json!({})),
        ],
    );
    assert_eq!(judged(&strict, &LIBSVM).0, 0);
    let unbalanced = with(
        of_libsvm(),
        &[
            ("verdict", json!("not-separable")),
            ("witness", json!({"lambda": lambda})),
        ],
    );
    assert_eq!(judged(&unbalanced, &LIBSVM).0, 3);
}

#[test]
fn other_files_or_another_order_are_told() {
    let certificate = of_libsvm();
    let [one, two] = LIBSVM;
    for (files, reason) in [
        (
            vec![two, one],
            "the SHA-256 of file 1 is another than that of \"part 1\"",
        ),
        (
            vec![one, one],
            "the SHA-256 of file 2 is another than that of \"part 2\"",
        ),
        (vec![one], "the certificate speaks of 2 files, this is 1"),
        (
            vec![one, two, one],
            "the certificate speaks of 2 files, these are 3",
        ),
    ] {
        let (status, said) = judged(&certificate, &files);
        assert_eq!((status, said), (3, format!("does not hold: {reason}")));
    }
    // A row is told by its file and the line there, after the hashes of all files.
    let wrong = with(
        certificate.clone(),
        &[("witness", json!({"w": {"0": "-2", "1": "1", "2": "1"}}))],
    );
    let (status, said) = judged(&wrong, &LIBSVM);
    assert_eq!(status, 3);
    assert!(
        said.contains("row 4 (file 2, line 2): lies on the boundary"),
        "{said}"
    );
    let early = with(wrong, &[("witness", json!({"w": {"0": "1"}}))]);
    assert!(judged(&early, &LIBSVM).1.contains("row 1 (file 1, line 1)"));
    assert!(judged(&early, &[one, one]).1.contains("SHA-256 of file 2"));
    let rows = with(certificate, &[("data.rows", json!(5))]);
    assert!(judged(&rows, &LIBSVM).1.contains("the data have 4 rows"));
}

#[test]
fn headers_must_be_one() {
    let mut files = TABLES;
    files[2] = b"y,x,class\n1,0,-\n1,1,+\n";
    let certificate = with(of_tables(), &[("data.files", listed(&files))]);
    let (status, said) = judged(&certificate, &files);
    assert_eq!(status, 3);
    assert!(
        said.contains("the header of file 3 is another than that of the first"),
        "{said}"
    );
}

#[test]
fn lists_of_files_that_say_nothing_are_malformed() {
    let hash = sha256(LIBSVM[0]);
    for files in [
        json!([]),
        json!("part 1"),
        json!([hash]),
        json!([{"sha256": hash}]),
        json!([{"name": "part 1"}]),
        json!([{"name": "part 1", "sha256": "00"}]),
        json!([{"name": "part 1", "sha256": hash, "rows": 2}]),
    ] {
        let certificate = with(of_libsvm(), &[("data.files", files.clone())]);
        assert_eq!(judged(&certificate, &LIBSVM).0, 1, "{files}");
    }
    let both = with(of_libsvm(), &[("data.sha256", json!(hash))]);
    assert_eq!(judged(&both, &LIBSVM).0, 1);
}
