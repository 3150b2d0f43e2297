//! The studio's server: what it answers is what the program prints and saves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::common::{AND, Place, json as program_json, ok, penguins, program, run};

/// A studio under way.
struct Studio {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Studio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A status, the headers and the body.
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Studio {
    fn new(args: &[&str]) -> Self {
        let mut all = vec!["studio", "--no-open", "--quiet"];
        all.extend(args);
        let mut child = program(&all).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once('/').unwrap();
        Studio {
            child,
            port: port.parse().unwrap(),
            token: token.trim_end_matches('/').to_owned(),
        }
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = match headers.contains("Content-Length") {
            true => String::new(),
            false => format!("Content-Length: {}\r\n", body.len()),
        };
        let head =
            format!("{method} {path} HTTP/1.1\r\n{headers}{length}Connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        let end = reply.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(reply[..end].to_vec()).unwrap();
        Reply {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head,
            body: reply[end + 4..].to_vec(),
        }
    }

    fn own(&self, method: &str, question: &str, body: &[u8]) -> Reply {
        let headers = format!("Host: 127.0.0.1:{}\r\n", self.port);
        let path = format!("/{}/api/{question}", self.token);
        self.send(method, &path, &headers, body)
    }

    fn get(&self, question: &str) -> Value {
        let reply = self.own("GET", question, b"");
        assert_eq!(reply.status, 200, "{question}: {:?}", text(&reply));
        reply.json()
    }

    fn post(&self, question: &str, body: &[u8]) -> Value {
        let reply = self.own("POST", question, body);
        assert_eq!(reply.status, 200, "{question}: {:?}", text(&reply));
        reply.json()
    }

    /// Sends a file, and gives the page that now has it.
    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let about = self.post(&format!("file?name={name}"), bytes);
        about["page"].as_str().unwrap().to_owned()
    }

    /// Runs to the end; gives what is known of the run.
    fn run(&self, page: &str, options: &[(&str, &str)]) -> (Value, Value) {
        let options: serde_json::Map<String, Value> = (options.iter())
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        let body = json!({ "options": options }).to_string();
        let told = self.post(&format!("run?page={page}"), body.as_bytes());
        loop {
            let facts = self.get(&format!("facts?page={page}"));
            if facts["over"] == true {
                return (facts, told["commands"].clone());
            }
        }
    }
}

fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

/// The options as arguments of the program.
fn arguments(options: &[(&str, &str)]) -> Vec<String> {
    let each = options.iter();
    each.flat_map(|(name, value)| match *value {
        "true" => vec![format!("--{name}")],
        _ => vec![format!("--{name}={value}")],
    })
    .collect()
}

/// Compares visits of a run with `trace`, forward and backward.
fn compare_with_trace(
    studio: &Studio,
    place: &Place,
    name: &str,
    bytes: &[u8],
    options: &[(&str, &str)],
) {
    let path = place.file(name, bytes);
    let page = studio.file(name, bytes);
    let (facts, commands) = studio.run(&page, options);
    let mut args = vec!["trace".to_owned(), path];
    args.extend(arguments(options));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let traced = program_json(&args);
    let steps = traced["steps"].as_array().unwrap();
    assert_eq!(facts["length"], json!(steps.len()), "{options:?}");
    assert_eq!(facts["mistakes"], traced["mistakes"], "{options:?}");
    assert_eq!(facts["updates"], traced["updates"], "{options:?}");
    assert_eq!(facts["stop"], traced["stop"], "{options:?}");
    let n = steps.len();
    // All at once, then a few out of order: from the end back, and from somewhere on.
    let all = studio.get(&format!("steps?page={page}&from=1&count=400"));
    let mut shown: Vec<Value> = all["steps"].as_array().unwrap().clone();
    assert_eq!(shown.len(), n.min(400), "{options:?}");
    for k in [
        n,
        n.div_ceil(2),
        1,
        n * 2 / 3 + 1,
        n.saturating_sub(1).max(1),
    ] {
        let k = k.clamp(1, n);
        let one = studio.get(&format!("steps?page={page}&from={k}&count=1"));
        shown.push(one["steps"][0].clone());
    }
    for step in &shown {
        let k = step["k"].as_u64().unwrap() as usize;
        let expected = &steps[k - 1];
        for (ours, theirs) in [
            ("before", "weights"),
            ("after", "weights_after"),
            ("row", "row"),
            ("pass", "epoch"),
            ("correct", "correct"),
            ("class", "label"),
        ] {
            assert_eq!(step[ours], expected[theirs], "visit {k} {ours} {options:?}");
        }
        let score = match &expected["score"] {
            Value::Array(scores) => json!(scores),
            one => json!([one]),
        };
        assert_eq!(step["scores"], score, "visit {k} {options:?}");
    }
    let last = &shown[n.min(400)];
    assert_eq!(last["k"], json!(n));
    assert_eq!(last["mistakes"], traced["mistakes"], "{options:?}");
    assert_eq!(last["updates"], traced["updates"], "{options:?}");
    let line = commands["trace"].as_str().unwrap();
    assert!(
        line.starts_with(&format!("rosenblatt trace {name}")),
        "{line}"
    );
}

/// Rows that overlap, in two or three classes.
fn overlapping(classes: usize) -> String {
    let mut text = String::from("label,x1,x2\n");
    for i in 0..24_u32 {
        let (x, y) = (
            f64::from(i * 7 % 24) / 3.0,
            f64::from(i * 11 % 24) / 4.0 - 2.0,
        );
        let class = (usize::from(x + y > 4.0) + usize::from(i % 5 == 0) * 2) % classes;
        text.push_str(&format!("c{class},{x},{y}\n"));
    }
    text
}

#[test]
fn every_visit_is_as_trace_prints_it() {
    let (studio, place) = (Studio::new(&[]), Place::new());
    let (two, three) = (overlapping(2), overlapping(3));
    let orders = [
        "given", "by-class", "shuffled", "random", "mistakes", "worst", "restart",
    ];
    let learners: [&[(&str, &str)]; 4] = [
        &[],
        &[("learner", "kernel"), ("kernel", "quadratic")],
        &[("learner", "passive-aggressive")],
        &[("learner", "arow")],
    ];
    let limits = [("epochs", "6"), ("seed", "3")];
    for learner in learners {
        for order in orders {
            let mut options = learner.to_vec();
            options.extend([("order", order)]);
            options.extend(limits);
            compare_with_trace(&studio, &place, "two.csv", two.as_bytes(), &options);
        }
        // Ties, several classes.
        for more in [
            ("ties", "positive"),
            ("multiclass", "ovr"),
            ("multiclass", "ovo"),
        ] {
            let mut options = learner.to_vec();
            options.extend([more]);
            options.extend(limits);
            let data = if more.0 == "ties" { &two } else { &three };
            compare_with_trace(&studio, &place, "more.csv", data.as_bytes(), &options);
        }
    }
    for options in [
        &[("ties", "correct"), ("margin-demand", "0.5")][..],
        &[("ties", "correct"), ("start", "1,-2,0.5")],
        &[("learning-rate", "0.1"), ("start", "random:2")],
        &[("normalise-weights", "true"), ("learning-rate", "0.3")],
        &[("bias", "none")],
        &[("bias", "unlifted"), ("class-weight", "balanced")],
        &[("embed", "monomials:2")],
        &[("embed", "fourier:5,1")],
        &[
            ("learner", "kernel"),
            ("kernel", "rbf:1"),
            ("bias", "unlifted"),
        ],
    ] {
        let mut all = options.to_vec();
        all.extend([("epochs", "5")]);
        compare_with_trace(&studio, &place, "two.csv", two.as_bytes(), &all);
    }
    compare_with_trace(&studio, &place, "and.csv", AND.as_bytes(), &[]);
}

#[test]
fn what_is_saved_equals_what_the_program_saves() {
    let (studio, place) = (Studio::new(&[]), Place::new());
    let bytes = overlapping(2);
    let path = place.file("two.csv", &bytes);
    let page = studio.file("two.csv", bytes.as_bytes());
    for options in [
        &[("epochs", "7")][..],
        &[
            ("epochs", "7"),
            ("order", "shuffled"),
            ("readout", "averaged"),
        ],
        &[
            ("learner", "kernel"),
            ("kernel", "rbf:1"),
            ("epochs", "4"),
            ("readout", "voted"),
        ],
        &[("learner", "network"), ("hidden", "3"), ("epochs", "20")],
        &[("learner", "linear-unit")],
        &[("learner", "max-margin"), ("c", "1")],
        &[("learner", "logistic")],
    ] {
        let (_, commands) = studio.run(&page, options);
        let model = studio.own("GET", &format!("model?page={page}"), b"");
        let saved = place.to("model.rbm");
        // The command that the page shows, on the same file.
        let line = commands["train"].as_str().unwrap();
        let line = line.replace("two.csv", &path).replace("model.rbm", &saved);
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        ok(&words);
        assert!(std::fs::read(&saved).unwrap() == model.body, "{options:?}");
        let onnx = place.to("model.onnx");
        let program = run(&["export", &saved, &onnx]);
        let ours = studio.own("GET", &format!("onnx?page={page}"), b"");
        match program.status.success() {
            true => assert!(std::fs::read(&onnx).unwrap() == ours.body, "{options:?}"),
            false => assert_eq!(ours.status, 422, "{options:?}"),
        }
    }
    studio.run(&page, &[("epochs", "7")]);
    let svg = place.to("run.svg");
    ok(&["trace", &path, "--epochs", "7", "--plot", &svg]);
    let animation = studio.own("GET", &format!("animation?page={page}"), b"");
    assert!(std::fs::read(&svg).unwrap() == animation.body);
    let picture = studio.own("GET", &format!("svg?page={page}&k=9"), b"");
    assert!(text(&picture).contains("after visit 9"));
    let csv = studio.own("GET", &format!("csv?page={page}"), b"");
    assert_eq!(csv.body, bytes.as_bytes());
    let replay = studio.own("GET", &format!("replay?page={page}"), b"");
    assert!(text(&replay).contains("id=\"replay\""));
    assert!(!text(&replay).contains("src="));
}

#[test]
fn a_verdict_is_the_one_that_check_prints() {
    let (studio, place) = (Studio::new(&[]), Place::new());
    for (kind, seed) in [("and", "0"), ("quasi", "1"), ("xor", "0"), ("blobs", "2")] {
        let path = place.to(&format!("{kind}.csv"));
        ok(&["generate", kind, "--seed", seed, "-o", &path]);
        let bytes = std::fs::read(&path).unwrap();
        // A generator on the page makes the same file.
        let wanted = json!({"kind": kind, "seed": seed.parse::<u64>().unwrap()}).to_string();
        let made = studio.post("generate", wanted.as_bytes());
        let page = made["page"].as_str().unwrap();
        let csv = studio.own("GET", &format!("csv?page={page}"), b"");
        assert_eq!(csv.body, bytes);
        let expected = program_json(&["check", &path]);
        let found = studio.post(&format!("check?page={page}"), b"");
        assert_eq!(found["verdict"], expected["verdict"], "{kind}");
        assert_eq!(
            found["updates_at_most"], expected["updates_at_most"],
            "{kind}"
        );
        assert_eq!(found["balanced"], expected["support"], "{kind}");
        for name in ["lower", "upper"] {
            assert_eq!(found["margin"][name], expected["margin"][name], "{kind}");
        }
        let ours = studio.own("GET", &format!("certificate?page={page}"), b"");
        let theirs = place.to("proof.json");
        ok(&["check", &path, "--certificate", &theirs]);
        assert!(std::fs::read(&theirs).unwrap() == ours.body, "{kind}");
    }
    let three = place.to("three.csv");
    ok(&["generate", "classes", "-n", "60", "-d", "2", "-o", &three]);
    let page = studio.file("three.csv", &std::fs::read(&three).unwrap());
    let found = studio.post(&format!("check?page={page}"), b"");
    let expected = program_json(&["check", &three]);
    assert_eq!(found["verdict"], expected["verdict"]);
    assert_eq!(found["updates_at_most"], expected["updates_at_most"]);
}

#[test]
fn images_come_with_their_labels_and_any_range_is_drawn() {
    let studio = Studio::new(&[]);
    let images = [
        0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6,
    ];
    let labels = [0, 0, 8, 1, 0, 0, 0, 3, 7, 9, 7];
    let both = [&images[..], &labels[..]].concat();
    let question = format!("file?name=t-images-idx3-ubyte&labels_at={}", images.len());
    let about = studio.post(&question, &both);
    assert_eq!(about["format"], "idx");
    assert_eq!(about["classes"], json!(["7", "9"]));
    assert_eq!(
        (about["rows"].clone(), about["features"].clone()),
        (json!(3), json!(2))
    );
    let without = studio.own("POST", "file?name=t-images-idx3-ubyte", &images);
    assert_eq!(without.status, 422);
    let wide = studio.post("generate", br#"{"kind": "wide-range"}"#);
    let page = wide["page"].as_str().unwrap();
    let drawn = studio.get(&format!("points?page={page}"));
    let places = drawn["places"].as_array().unwrap();
    assert!(places.iter().all(Value::is_f64), "{places:?}");
}

#[test]
fn strangers_are_refused() {
    let studio = Studio::new(&[]);
    let (port, token) = (studio.port, studio.token.clone());
    let status = |path: &str, headers: &str| studio.send("GET", path, headers, b"").status;
    let own = format!("Host: 127.0.0.1:{port}\r\n");
    let about = format!("/{token}/api/about");
    assert_eq!(status(&about, &own), 200);
    assert_eq!(
        status(&about, &format!("{own}Origin: http://127.0.0.1:{port}\r\n")),
        200
    );
    for (path, headers) in [
        ("/", own.as_str()),
        ("/api/about", &own),
        (&format!("/{}/api/about", "0".repeat(32)), &own),
        (&about, &format!("Host: studio.example:{port}\r\n")),
        (&about, &format!("{own}Origin: http://studio.example\r\n")),
        (&about, &format!("{own}Origin: null\r\n")),
    ] {
        assert_eq!(status(path, headers), 403, "{path} {headers}");
    }
    let page = studio.send("GET", &format!("/{token}/"), &own, b"");
    assert!(
        page.head
            .to_lowercase()
            .contains("content-security-policy: default-src 'none'")
    );
    assert_eq!(status(&format!("/{token}/../etc/passwd"), &own), 404);
    let put = studio.send("PUT", &about, &own, b"");
    assert_eq!(put.status, 405);
    let run = studio.own("GET", "facts?page=unknown", b"");
    assert_eq!(
        (run.status, run.json()["unknown"].clone()),
        (410, json!(true))
    );
    assert_eq!(studio.own("GET", "nothing?page=x", b"").status, 410);
    assert_eq!(studio.own("POST", "nothing", b"").status, 400);
    assert_eq!(studio.own("POST", "points", b"{").status, 400);
    assert_eq!(studio.own("GET", "steps?from=x", b"").status, 400);
}

#[test]
fn bad_input_gets_the_program_s_own_error() {
    let (studio, place) = (Studio::new(&[]), Place::new());
    for (name, bytes) in [
        ("broken.csv", &b"x1,x2,label\n1,2,a\n3,b\n"[..]),
        ("ragged.svm", b"+1 1:2\n-1 2:x\n"),
        ("one.csv", b"x,label\n1,a\n2,a\n"),
        ("empty.csv", b""),
        ("labels.csv", b"label\na\nb\n"),
    ] {
        let path = place.file(name, bytes);
        let output = run(&["trace", &path]);
        let said = String::from_utf8(output.stderr).unwrap();
        let said = said.lines().last().unwrap_or_default().replace(&path, name);
        let reply = studio.own("POST", &format!("file?name={name}"), bytes);
        assert_eq!(reply.status, 422, "{name}");
        let told = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(
            said.contains(&told) || told.contains(name),
            "{told}\n{said}"
        );
        if name == "broken.csv" || name == "ragged.svm" {
            assert_eq!(format!("error: {told}"), said);
            assert!(reply.json()["place"]["line"].is_u64(), "{told}");
        }
    }
    // Two gigabytes are refused before they are sent.
    let headers = format!(
        "Host: 127.0.0.1:{}\r\nContent-Length: 2147483648\r\n",
        studio.port
    );
    let path = format!("/{}/api/file?name=large.csv", studio.token);
    let reply = studio.send("POST", &path, &headers, b"");
    assert_eq!(reply.status, 413);
    assert!(text(&reply).contains("256 MiB"));
    let page = studio.file("and.csv", AND.as_bytes());
    let options = json!({"options": {"ties": "correct"}}).to_string();
    let reply = studio.own("POST", &format!("run?page={page}"), options.as_bytes());
    assert_eq!(reply.status, 422);
    assert!(text(&reply).contains("never updates"));
    let wanted = json!({"kind": "blobs", "examples": 2_000_000}).to_string();
    assert_eq!(
        studio.own("POST", "generate", wanted.as_bytes()).status,
        422
    );
    let many = vec![(0.0, 0.0, 7)];
    let points = json!({ "points": many }).to_string();
    assert_eq!(studio.own("POST", "points", points.as_bytes()).status, 422);
    let output = run(&["studio", "--no-open", &place.to("missing.csv")]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_form_offers_what_is_valid() {
    let studio = Studio::new(&[&penguins()]);
    let form = studio.post("options", br#"{"options": {"learner": "perceptron"}}"#);
    let parameters = form["parameters"].as_array().unwrap();
    let named = |name: &str| parameters.iter().find(|p| p["name"] == name);
    let ties = named("ties").unwrap()["choices"]
        .as_array()
        .unwrap()
        .clone();
    let refused: Vec<&Value> = ties.iter().filter(|c| !c["refused"].is_null()).collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0]["value"], "correct");
    assert!(named("kernel").is_none() && named("patience").is_none());
    let form = studio.post("options", br#"{"options": {"learner": "max-margin"}}"#);
    let names: Vec<&str> = (form["parameters"].as_array().unwrap().iter())
        .map(|p| p["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"c") && names.contains(&"kernel"),
        "{names:?}"
    );
    assert!(
        !names.contains(&"ties") && !names.contains(&"order"),
        "{names:?}"
    );
    // A file named on the command line, as the page takes it.
    assert_eq!(studio.get("about")["given"], "penguins.csv");
    let about = studio.post("given?label=species&scale=standard", b"");
    assert_eq!(
        (about["rows"].clone(), about["features"].clone()),
        (json!(344), json!(15))
    );
    let page = about["page"].as_str().unwrap();
    let (facts, commands) = studio.run(page, &[("epochs", "3")]);
    let places = studio.get(&format!("points?page={page}&projection=true&k=50"));
    assert_eq!(places["places"].as_array().unwrap().len(), 2 * 344);
    let last = facts["length"].as_u64().unwrap();
    let detail = studio.get(&format!("detail?page={page}&k={last}"));
    let line = commands["train"].as_str().unwrap();
    let line = line.replace("penguins.csv", &penguins());
    let words = line
        .strip_suffix(" -o model.rbm")
        .unwrap()
        .split(' ')
        .skip(1);
    let trained = program_json(&words.collect::<Vec<_>>());
    assert_eq!(detail["accuracy"], trained["train_accuracy"]);
    let counts = detail["margins"]["counts"].as_array().unwrap();
    let counted: u64 = counts.iter().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(counted, 344);
}
