//! Certificates that hold, by hand, and the Python checker beside ours.
#![allow(dead_code, unreachable_pub)] // each test file uses a part
#![allow(clippy::unwrap_used, clippy::print_stdout)] // it is a test

use rosenblatt_verify::{Outcome, verify};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::process::{Command, Stdio};

/// A certificate and the data it speaks of.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub certificate: Vec<u8>,
    pub data: Vec<u8>,
}

impl Case {
    pub fn new(name: impl Into<String>, certificate: &Value, data: &[u8]) -> Self {
        Case {
            name: name.into(),
            certificate: certificate.to_string().into_bytes(),
            data: data.to_vec(),
        }
    }

    pub fn tree(&self) -> Value {
        serde_json::from_slice(&self.certificate).unwrap()
    }

    pub fn outcome(&self) -> Outcome {
        verify(&self.certificate, &self.data)
    }
}

pub fn sha256(data: &[u8]) -> String {
    let digest = Sha256::digest(data);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The `data` part for a table without header, with quoting.
pub fn table(data: &[u8], rows: u64, features: u64, columns: Value) -> Value {
    json!({
        "format": "csv", "delimiter": ",", "quoting": true, "header": false,
        "columns": columns, "rows": rows, "features": features, "sha256": sha256(data),
    })
}

pub fn libsvm(data: &[u8], rows: u64, features: u64) -> Value {
    json!({
        "format": "libsvm", "first_index": 1,
        "rows": rows, "features": features, "sha256": sha256(data),
    })
}

/// A lifted certificate about labels `+` and `-`.
pub fn certificate(data: Value, verdict: &str, witness: Value) -> Value {
    json!({
        "rosenblatt-certificate": 1,
        "data": data,
        "labels": {"positive": ["+"], "negative": ["-"]},
        "bias": "lifted",
        "verdict": verdict,
        "witness": witness,
    })
}

/// The same with some fields set otherwise.
pub fn with(mut certificate: Value, changes: &[(&str, Value)]) -> Value {
    for (path, value) in changes {
        let mut place = &mut certificate;
        for name in path.split('.') {
            place = &mut place[name];
        }
        *place = value.clone();
    }
    certificate
}

/// The statuses that the Python checker gives; none, with a word about it, without Python.
pub fn python_statuses(cases: &[Case]) -> Option<Vec<u8>> {
    const DRIVER: &str = r"
import struct, sys
sys.path.insert(0, sys.argv[1])
from check_certificate import verify
source = sys.stdin.buffer
while head := source.read(16):
    lengths = struct.unpack('<QQ', head)
    certificate, data = (source.read(length) for length in lengths)
    print(verify(certificate, data)[0])
";
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/python");
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
    let jobs: Vec<Case> = cases.to_vec();
    let writer = std::thread::spawn(move || {
        for case in jobs {
            let lengths = [case.certificate.len() as u64, case.data.len() as u64];
            input.write_all(&lengths[0].to_le_bytes()).unwrap();
            input.write_all(&lengths[1].to_le_bytes()).unwrap();
            input.write_all(&case.certificate).unwrap();
            input.write_all(&case.data).unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "the Python checker broke down");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| line.parse().unwrap()).collect())
}

/// Holds the two checkers against each other and gives how often each status came.
pub fn agree(cases: &[Case]) -> [usize; 4] {
    let ours: Vec<u8> = cases
        .iter()
        .map(|case| case.outcome().exit_status())
        .collect();
    if let Some(theirs) = python_statuses(cases) {
        assert_eq!(theirs.len(), cases.len());
        for ((case, ours), theirs) in cases.iter().zip(&ours).zip(&theirs) {
            assert_eq!(
                ours,
                theirs,
                "{}: Rust {ours} ({}), Python {theirs}\n{}",
                case.name,
                case.outcome(),
                String::from_utf8_lossy(&case.certificate),
            );
        }
    }
    let mut counts = [0; 4];
    for status in ours {
        counts[usize::from(status)] += 1;
    }
    counts
}

const AND: &[u8] = b"0,0,-\n0,1,-\n1,0,-\n1,1,+\n";
const XOR: &[u8] = b"0,0,-\n0,1,+\n1,0,+\n1,1,-\n";
const EIGHT: &[u8] = b"1,1,+\n0,3,-\n1,-1,+\n3,0,-\n-1,1,+\n0,-3,-\n-1,-1,+\n-3,0,-\n";

fn plane(data: &[u8], rows: u64) -> Value {
    table(data, rows, 2, json!(["numeric", "numeric", "label"]))
}

fn ones(rows: &[u64]) -> Value {
    rows.iter().map(|row| json!([row, "1"])).collect()
}

/// A grid of two scores, positive where `rule` says so.
fn grid(range: std::ops::RangeInclusive<i32>, rule: impl Fn(i32, i32) -> bool) -> Vec<u8> {
    let mut text = String::new();
    for a in range.clone() {
        for b in range.clone() {
            text += &format!("{a},{b},{}\n", if rule(a, b) { '+' } else { '-' });
        }
    }
    text.into_bytes()
}

/// The worked examples.
pub fn worked_examples() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, certificate: Value, data: &[u8]| {
        cases.push(Case::new(name, &certificate, data));
    };
    let and = json!({"w": {"0": "-4", "1": "3", "2": "2"}});
    add("and", certificate(plane(AND, 4), "separable", and), AND);

    let critics = b"- 1:1 2:1\n+ 1:3 2:2\n+ 1:2 2:4\n+ 1:3 2:4\n- 1:2 2:3\n";
    let w = json!({"w": {"0": "-27/2", "1": "5", "2": "1*2^0"}});
    add(
        "critics",
        certificate(libsvm(critics, 5, 2), "separable", w),
        critics,
    );

    let four = json!({"lambda": ones(&[1, 3, 5, 7]), "null_space": []});
    let no_bias = certificate(plane(EIGHT, 8), "overlapping", four);
    add(
        "eight points without bias",
        with(no_bias, &[("bias", json!("none"))]),
        EIGHT,
    );
    let eight = json!({"lambda": ones(&[1, 2, 3, 4, 5, 6, 7, 8]), "null_space": []});
    add(
        "eight points",
        certificate(plane(EIGHT, 8), "overlapping", eight),
        EIGHT,
    );
    let squares = b"1,1,+\n0,9,-\n1,1,+\n9,0,-\n1,1,+\n0,9,-\n1,1,+\n9,0,-\n";
    let w = json!({"w": {"0": "5", "1": "-1", "2": "-1"}});
    add(
        "eight points squared",
        certificate(plane(squares, 8), "separable", w),
        squares,
    );
    let alpha: Value = (1..=8u64)
        .map(|row| json!([row, if row % 2 == 1 { "47/4" } else { "-3" }]))
        .collect();
    let kernel = json!({"name": "polynomial", "degree": 2, "scale": "1", "constant": "0"});
    let quadratic = certificate(plane(EIGHT, 8), "separable", json!({"alpha": alpha}));
    add(
        "eight points under the homogeneous quadratic kernel",
        with(quadratic, &[("kernel", kernel)]),
        EIGHT,
    );

    let lambda = ones(&[1, 2, 3, 4]);
    let spanning = json!({"lambda": lambda, "null_space": []});
    add(
        "xor",
        certificate(plane(XOR, 4), "overlapping", spanning),
        XOR,
    );
    let kernels = [
        (
            json!({"name": "polynomial", "degree": 2, "scale": "1", "constant": "1"}),
            ["-13/3", "8/3", "8/3", "-2"],
        ),
        (
            json!({"name": "polynomial", "degree": 3, "scale": "1/2", "constant": "2/3"}),
            ["-15203/1736", "832/217", "832/217", "-16/7"],
        ),
        (
            json!({"name": "geometric", "degree": 2}),
            ["-5", "3", "3", "-2"],
        ),
        (
            json!({"name": "monomial", "degree": 2}),
            ["-7", "5", "5", "-4"],
        ),
    ];
    for (kernel, [a, b, c, d]) in kernels {
        let alpha = json!({"alpha": [[1, a], [2, b], [3, c], [4, d]]});
        let separable = certificate(plane(XOR, 4), "separable", alpha);
        let changes = [("kernel", kernel.clone()), ("bias", json!("none"))];
        add(
            &format!("xor under {kernel}"),
            with(separable, &changes),
            XOR,
        );
    }
    let rbf = [("kernel", json!({"name": "rbf", "gamma": "1/2"}))];
    let separable = certificate(plane(XOR, 4), "separable", json!({}));
    add("xor under rbf", with(separable, &rbf), XOR);
    let kernel = json!({"name": "polynomial", "degree": 2, "scale": "1", "constant": "0"});
    let origin = certificate(
        plane(XOR, 4),
        "not-separable",
        json!({"lambda": [[1, "1"]]}),
    );
    add(
        "xor under the homogeneous quadratic kernel",
        with(origin, &[("kernel", kernel), ("bias", json!("none"))]),
        XOR,
    );

    let sum = grid(0..=10, |a, b| a + b > 8);
    let w = json!({"w": {"0": "-8.5", "1": "1", "2": "1"}});
    add(
        "A + B > 8",
        certificate(plane(&sum, 121), "separable", w),
        &sum,
    );
    let equal = grid(1..=4, |a, b| a == b);
    let witness = json!({"lambda": ones(&[1, 2, 5, 6]), "null_space": []});
    add(
        "A = B",
        certificate(plane(&equal, 16), "overlapping", witness),
        &equal,
    );
    let middle = grid(1..=4, |a, b| (2..=3).contains(&a) && (2..=3).contains(&b));
    let witness = json!({"lambda": ones(&[1, 4, 6, 7, 10, 11, 13, 16]), "null_space": []});
    add(
        "each score is 2 or 3",
        certificate(plane(&middle, 16), "overlapping", witness),
        &middle,
    );

    // On a line as decimals; as binary64 numbers 3 · 0.1 is not 0.3.
    let line = b"0.1,0.3,+\n0.2,.6,-\n0.3,9e-1,+\n";
    let witness = json!({
        "lambda": [[1, "1/2"], [2, "1"], [3, "0.5"]],
        "null_space": [{"1": "3", "2": "-1"}],
    });
    add(
        "three decimals on a line",
        certificate(plane(line, 3), "overlapping", witness),
        line,
    );
    cases
}

/// Claims of every other kind.
pub fn further_claims() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, certificate: Value, data: &[u8]| {
        cases.push(Case::new(name, &certificate, data));
    };
    let line = json!(["numeric", "label"]);

    let touching = b"0,-\n2,-\n2,+\n3,+\n";
    let on_line = table(touching, 4, 1, line.clone());
    let lambda = json!([[2, "7"], [3, "7"]]);
    let w = json!({"0": "-2", "1": "1"});
    let basis = json!([{"0": "-1/3", "1": "1/6"}]);
    for (name, verdict, witness) in [
        ("not separable", "not-separable", json!({"lambda": lambda})),
        (
            "quasi-separable",
            "quasi-separable",
            json!({"w": w, "lambda": lambda}),
        ),
        (
            "quasi-separable, no further rows",
            "quasi-separable",
            json!({"w": w, "lambda": lambda, "null_space": basis}),
        ),
    ] {
        add(
            name,
            certificate(on_line.clone(), verdict, witness),
            touching,
        );
    }
    let linear = [("kernel", json!({"name": "linear"}))];
    let alpha = json!([[1, "-7"], [4, "1"]]); // 3x − 6
    for (name, verdict, witness) in [
        (
            "not separable, linear kernel",
            "not-separable",
            json!({"lambda": lambda}),
        ),
        (
            "quasi-separable, linear kernel",
            "quasi-separable",
            json!({"alpha": alpha, "lambda": lambda}),
        ),
    ] {
        let plain = certificate(on_line.clone(), verdict, witness);
        add(name, with(plain, &linear), touching);
    }
    let everywhere = json!({"lambda": ones(&[1, 2, 3, 4])});
    let overlapping = certificate(plane(XOR, 4), "overlapping", everywhere);
    add("overlapping, every row", overlapping.clone(), XOR);
    add(
        "overlapping, linear kernel",
        with(overlapping, &linear),
        XOR,
    );

    // Equal rows, spelt differently.
    let conflict = b"1.0,2,+\n3,4,+\n1,2e0,-\n+1,2.,-\n";
    let lambda = json!([[1, "2"], [3, "1"], [4, "1"]]);
    let laplacian = [("kernel", json!({"name": "laplacian", "gamma": "3"}))];
    for verdict in ["not-separable", "quasi-separable"] {
        let plain = certificate(plane(conflict, 4), verdict, json!({"lambda": lambda}));
        add(
            &format!("{verdict}, laplacian"),
            with(plain, &laplacian),
            conflict,
        );
    }
    let both = b"1,2,+\n3,4,+\n1,2,-\n3,4,-\n";
    let witness = json!({"lambda": [[1, "2"], [2, "1"], [3, "2"], [4, "1"]]});
    let plain = certificate(plane(both, 4), "overlapping", witness);
    add("overlapping, laplacian", with(plain, &laplacian), both);

    let corners = b"0,0,a\n10,0,b\n0,10,c\n-1,-1,a\n";
    let classes = [("labels", json!({"classes": [["a"], ["b"], ["c"]]}))];
    let w = json!({"w": [{"0": "5"}, {"1": "1"}, {"2": "1", "0": "1/7"}]});
    let joint = certificate(plane(corners, 4), "separable", w);
    add("three classes", with(joint, &classes), corners);
    let between = b"0,a\n1,b\n5,c\n2,a\n";
    let witness = json!({"lambda": [[1, 2, "1/3"], [2, 1, "2/3"], [4, 2, "1/3"]]});
    let joint = certificate(table(between, 4, 1, line.clone()), "not-separable", witness);
    add(
        "three classes, not separable",
        with(joint, &classes),
        between,
    );

    let one_class = b"5,+\n-3,+\n";
    let witness = json!({"w": {"0": "1"}});
    let data = table(one_class, 2, 1, line.clone());
    add(
        "one class",
        certificate(data, "separable", witness),
        one_class,
    );
    let zero = b"+ 1:3\n-\n";
    let plain = certificate(
        libsvm(zero, 2, 1),
        "not-separable",
        json!({"lambda": [[2, "1"]]}),
    );
    add(
        "a zero row without bias",
        with(plain, &[("bias", json!("none"))]),
        zero,
    );
    let nothing = certificate(libsvm(b"", 0, 0), "separable", json!({"w": {}}));
    add("no rows", nothing, b"");
    let never = b"+ 1:1\n- 1:1\n";
    let witness = json!({
        "lambda": [[1, "1"], [2, "1"]],
        "null_space": [{"0": "1", "1": "-1"}, {"2": "1"}, {"3": "-0.5"}],
    });
    let plain = certificate(libsvm(never, 2, 3), "overlapping", witness);
    add("features that never occur", plain, never);

    let wide = b"1e300,1e-300,+\n1e300,-1e-300,-\n-1e300,0,-\n";
    let w = json!({"w": {"1": "1*2^-900", "2": "1e600"}});
    let plain = certificate(plane(wide, 3), "separable", w);
    let no_bias = [("bias", json!("none"))];
    add("a wide range", with(plain, &no_bias), wide);
    let long = b"0.1234567890123456789012345678901,+\n0.1234567890123456789012345678900,-\n";
    let w = json!({"w": {"0": "-0.12345678901234567890123456789005", "1": "1"}});
    let data = table(long, 2, 1, line);
    add(
        "the last of 31 digits",
        certificate(data, "separable", w),
        long,
    );
    cases
}

/// Every way to read a file.
pub fn readings() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, certificate: Value, data: &[u8]| {
        cases.push(Case::new(name, &certificate, data));
    };
    let signs = [(
        "labels",
        json!({"positive": ["1"], "negative": ["-1", "0"]}),
    )];

    let svm = b"\xef\xbb\xbf# head\r\n+1 qid:3 2:0.5 1:1 # tail\r\n\r\n1.0\t3:2\r\n \r\n-1 1:-1\r\n0 2:-2#x\n-1 3:-1";
    let w = json!({"w": {"1": "1", "2": "1", "3": "1"}});
    let certificate_of = |first: u64, features| {
        let data = libsvm(svm, 5, features);
        let plain = certificate(data, "separable", w.clone());
        with(with(plain, &signs), &[("data.first_index", json!(first))])
    };
    add("libsvm", certificate_of(1, 3), svm);
    let zero_based = b"1 0:1\n-1 0:-1 1:0\n% note\n";
    let data = with(
        libsvm(zero_based, 2, 2),
        &[("first_index", json!(0)), ("comment", json!("%"))],
    );
    let plain = certificate(data, "separable", json!({"w": {"1": "1"}}));
    add("libsvm from 0", with(plain, &signs), zero_based);

    // Quotes, doubled quotes, line ends in cells, levels, missing cells, words.
    let mixed = "name,age,home,words,sex,note,y\r\n\
        \"Braund, \"\"Owen\"\"\r\nHarris\",22, S ,\"good good\nbad\",male,x,no\r\n\
        #,1,2,3\r\n\
        Cumings,?,\"C\",Good; BETTER,female,\" x\",yes\r\n\
        \"\",NA,,,\"female\",,\"yes\"\r\n\
        Müller,-1.5e1,Q,schöner Straße,male,\"\"\"\",no";
    let columns = json!([
        "ignore",
        "numeric-or-missing",                              // 1, 2
        {"category": ["S", "C", "?", "Q"]},                // 3 C, 4 missing, 5 Q
        {"text-or-missing": ["good", "better", "schöner"]}, // 6, 7, 8, 9 missing
        {"category": ["male", "female"]},                  // 10
        "ignore",
        "label"
    ]);
    let data = with(
        table(mixed.as_bytes(), 4, 10, columns),
        &[("header", json!(true)), ("comment", json!("#,"))],
    );
    // Row 1: age 22, 2 good. Row 2: missing, C, good, better, female. Row 3: missing,
    // missing, missing, female. Row 4: age −15, Q, schöner.
    let w = json!({"w": {
        "0": "-1", "1": "-1/22", "2": "1/2", "3": "1/4", "4": "1/8", "5": "-1", "6": "1/2",
        "7": "1/8", "8": "-1/4", "9": "1/2", "10": "1/4"
    }});
    let names = [("labels", json!({"positive": ["yes"], "negative": ["no"]}))];
    let mixed_certificate = with(certificate(data, "separable", w), &names);
    add("a table of everything", mixed_certificate, mixed.as_bytes());

    let tsv = b"a\t\"quoted\t1\nb\tplain\t-1\nb\t\"quoted \t+1.0\n";
    let columns = json!(["ignore", {"category": ["plain", "\"quoted"]}, "label"]);
    let data = with(
        table(tsv, 3, 1, columns),
        &[("delimiter", json!("\t")), ("quoting", json!(false))],
    );
    let plain = certificate(data, "separable", json!({"w": {"0": "-1", "1": "2"}}));
    add("tsv", with(plain, &signs), tsv);

    let blanks = b"  1   2\t-1 \r\n\n3 4 1\n";
    let columns = json!(["numeric", "numeric", "label"]);
    let data = with(
        table(blanks, 2, 2, columns.clone()),
        &[("delimiter", json!(" ")), ("quoting", json!(false))],
    );
    let plain = certificate(data, "separable", json!({"w": {"0": "-2", "1": "1"}}));
    add("between blanks", with(plain, &signs), blanks);

    let semicolons = b"1 ; \"2\" ;-\n\"-1\";+3;+";
    let columns = json!(["numeric", "ignore", "label"]);
    let data = with(
        table(semicolons, 2, 1, columns),
        &[("delimiter", json!(";"))],
    );
    let w = json!({"w": {"1": "-1"}});
    add("semicolons", certificate(data, "separable", w), semicolons);
    cases
}

/// All of them.
pub fn all_cases() -> Vec<Case> {
    [worked_examples(), further_claims(), readings()].concat()
}
