//! Serving: predictions as `predict` makes them, learning that survives kills, bad requests.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Place, ok, penguins, program, run, stderr};

/// A server that runs until it is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(args: &[&str]) -> Self {
        let mut all = vec![
            "serve",
            "--quiet",
            "--threads",
            "2",
            "--listen",
            "127.0.0.1:0",
        ];
        all.extend(args);
        let mut child = program(&all).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let address = line
            .trim()
            .strip_prefix("http://")
            .unwrap_or_default()
            .to_owned();
        assert!(!address.is_empty(), "{args:?}: {line:?}");
        Server { child, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream
    }

    /// Sends a request and gives the answer's status and body.
    fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> (u16, String) {
        ask(&mut self.connect(), method, path, headers, body).unwrap()
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, &[], b"")
    }

    fn json(&self, path: &str, kind: &str, body: &str) -> (u16, Value) {
        let (status, text) = self.ask("POST", path, &[("Content-Type", kind)], body.as_bytes());
        (
            status,
            serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status} {text}")),
        )
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &id])
                .status()
                .unwrap()
                .success()
        );
    }
}

/// One request on a connection that stays open; `None` if the server goes away.
fn ask(
    stream: &mut TcpStream,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Option<(u16, String)> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if method == "POST" {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    stream.write_all(&[head.as_bytes(), body].concat()).ok()?;
    answer(stream)
}

fn answer(stream: &mut TcpStream) -> Option<(u16, String)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).ok().filter(|&n| n > 0)?;
        if line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((status, String::from_utf8_lossy(&body).into_owned()))
}

/// The rows of the penguins as JSON objects, with their classes.
fn penguin_rows() -> Vec<Value> {
    let text = std::fs::read_to_string(penguins()).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let cell = |cell: &str| match cell {
        "" | "NA" => Value::Null,
        text => text.parse::<f64>().map_or(json!(text), |x| json!(x)),
    };
    lines
        .map(|cells| {
            (names.iter().zip(cells))
                .map(|(n, c)| ((*n).to_owned(), cell(c)))
                .collect()
        })
        .collect()
}

fn penguin_model(place: &Place) -> String {
    let model = place.to("penguins.rbm");
    ok(&[
        "train",
        &penguins(),
        "--label",
        "species",
        "--epochs",
        "1",
        "-o",
        &model,
    ]);
    model
}

const PREDICT: &str = "/v2/models/penguins/predict";
const LEARN: &str = "/v2/models/penguins/learn";

#[test]
fn predictions_are_those_of_predict_in_every_form() {
    let place = Place::new();
    let model = penguin_model(&place);
    let expected = ok(&["predict", &model, &penguins(), "--scores"]);
    let server = Server::start(&[&model]);
    let plain = ("Accept", "text/plain");
    let path = format!("{PREDICT}?scores=true");
    let csv = std::fs::read(penguins()).unwrap();
    let (status, text) = server.ask("POST", &path, &[("Content-Type", "text/csv"), plain], &csv);
    assert_eq!((status, &text), (200, &expected));
    let tsv = String::from_utf8(csv).unwrap().replace(',', "\t");
    let kind = ("Content-Type", "text/tab-separated-values");
    let (_, text) = server.ask("POST", &path, &[kind, plain], tsv.as_bytes());
    assert_eq!(text, expected);
    let rows = penguin_rows();
    let array = serde_json::to_string(&rows).unwrap();
    let (_, text) = server.ask("POST", &path, &[plain], array.as_bytes());
    assert_eq!(text, expected);
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let kind = ("Content-Type", "application/x-ndjson");
    let (_, text) = server.ask("POST", &path, &[kind, plain], lines.as_bytes());
    assert_eq!(text, expected);
    // Each alone, by the first and the last of them.
    for (row, line) in rows.iter().zip(expected.lines()).step_by(50) {
        let (_, text) = server.ask("POST", &path, &[plain], row.to_string().as_bytes());
        assert_eq!(text.trim_end(), line);
    }
    // The forms of the answer hold the same.
    let first = rows[0].to_string();
    let (_, answer) = server.json(&path, "application/json", &first);
    let label = expected.split('\t').next().unwrap();
    assert_eq!(answer["labels"], json!([label]));
    assert_eq!(answer["scores"][0].as_array().unwrap().len(), 3);
    let (_, text) = server.ask("POST", &path, &[("Accept", "text/csv")], first.as_bytes());
    assert!(text.starts_with("label,score1,score2,score3\r\n"), "{text}");
    let (_, text) = server.ask(
        "POST",
        PREDICT,
        &[("Accept", "application/x-ndjson")],
        first.as_bytes(),
    );
    assert_eq!(text, format!("{{\"label\":\"{label}\"}}\n"));
}

#[test]
fn sparse_rows_and_probabilities() {
    let place = Place::new();
    let data = place.file(
        "a.svm",
        "1 1:2 3:1\n-1 1:-1 2:1\n1 1:1.5\n-1 2:2 3:-1\n1 1:1 3:2\n-1 1:-2\n1 1:3\n-1 2:3\n1 1:2 2:-1\n-1 1:-1 3:-2\n",
    );
    let model = place.to("a.rbm");
    ok(&[
        "train",
        &data,
        "--calibrate",
        "--validate",
        "0.4",
        "-o",
        &model,
    ]);
    let expected = ok(&["predict", &model, &data, "--probabilities"]);
    let server = Server::start(&[&model]);
    let path = "/v2/models/a/predict?probabilities=true";
    let plain = ("Accept", "text/plain");
    let text = std::fs::read(&data).unwrap();
    let (status, text) = server.ask(
        "POST",
        path,
        &[("Content-Type", "text/libsvm"), plain],
        &text,
    );
    assert_eq!((status, &text), (200, &expected));
    let rows = r#"[{"1":2,"3":1},{"2":1,"1":-1},{"1":1.5},{"2":2,"3":-1},{"1":1,"3":2},[-2,0,0],[3,0,0],[0,3,0],[2,-1,0],{"label":"-1","1":-1,"3":-2}]"#;
    let (_, text) = server.ask("POST", path, &[plain], rows.as_bytes());
    assert_eq!(text, expected);
    // A row without anything is a row.
    let (_, answer) = server.json("/v2/models/a/predict", "application/json", "[{},[0,0,0]]");
    assert_eq!(answer["labels"][0], answer["labels"][1]);
    let (status, answer) = server.json(
        "/v2/models/a/predict",
        "application/json",
        r#"[{"1":1},{"x":1}]"#,
    );
    assert_eq!((status, &answer["row"]), (422, &json!(2)), "{answer}");
}

#[test]
fn what_is_wrong_is_told_and_nothing_is_learned() {
    let place = Place::new();
    let model = penguin_model(&place);
    let log = place.to("log");
    let server = Server::start(&[
        &model,
        "--learn",
        "--log",
        &log,
        "--max-body",
        "100K",
        "--max-rows",
        "50",
        "--max-time",
        "1",
    ]);
    let row = penguin_rows()[0].clone();
    let with = |name: &str, value: Value| {
        let mut row = row.clone();
        row[name] = value;
        row.to_string()
    };
    let without = |name: &str| {
        let mut row = row.clone();
        row.as_object_mut().unwrap().remove(name);
        row.to_string()
    };
    let json_kind = "application/json";
    let deep = "[".repeat(100_000);
    for (kind, body, status, said) in [
        (json_kind, without("year"), 422, "no value for the column year"),
        (json_kind, with("bill_length_mm", json!("long")), 422, "expected a number in the column bill_length_mm, found"),
        (json_kind, with("bill_length_mm", json!([1])), 422, "the column bill_length_mm: expected a number"),
        (json_kind, row.to_string().replace("39.1", "NaN"), 400, "expected value"),
        (json_kind, row.to_string().replace("39.1", "1e999"), 422, "row 1"),
        (json_kind, with("species", json!("Emperor")), 422, "\"Emperor\" is none of the model's classes, which are Adelie, Chinstrap, Gentoo"),
        (json_kind, with("species", Value::Null), 422, "row 1: there is no label to learn"),
        (json_kind, String::new(), 400, "the body is empty"),
        (json_kind, "[]".into(), 400, "no rows"),
        (json_kind, "7".into(), 400, "JSON"),
        (json_kind, deep, 400, "JSON"),
        (json_kind, "[1,2]".into(), 422, "2 values, expected 7"),
        (json_kind, format!("[{}]", vec![row.to_string(); 51].join(",")), 413, "at most 50 rows"),
        ("text/csv", "year,island\n2007,Biscoe\n".into(), 422, "the file has no column"),
        ("text/csv", "\u{feff}".into(), 422, "body"),
        ("text/csv", "species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\nAdelie,Biscoe,39,x,180,4000,male,2007\n".into(), 422, "body:2:"),
        ("text/libsvm", "1 1:1\n".into(), 422, "libsvm"),
        ("application/x-ndjson", format!("{row}\nnope\n"), 400, "line 2"),
        ("image/png", "x".into(), 415, "image/png"),
    ] {
        let (found, problem) = server.json(LEARN, kind, &body);
        let detail = problem["detail"].as_str().unwrap();
        let shown = &body[..body.len().min(80)];
        assert_eq!(found, status, "{shown}: {detail}");
        assert!(detail.contains(said), "{shown}: {detail}");
        assert_eq!((&problem["status"], &problem["error"]), (&json!(status), &problem["detail"]));
    }
    let (status, text) = server.ask(
        "POST",
        LEARN,
        &[("Content-Type", "text/csv")],
        &vec![b'x'; 200 << 10],
    );
    assert!(
        status == 413 && text.contains("at most 102400 bytes"),
        "{status} {text}"
    );
    // A body of a gigabyte is refused by its length alone.
    let mut stream = server.connect();
    write!(
        stream,
        "POST {LEARN} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1073741824\r\n\r\nx"
    )
    .unwrap();
    assert_eq!(answer(&mut stream).unwrap().0, 413);
    // A client that is slow with its body, and one with its head.
    let mut stream = server.connect();
    write!(
        stream,
        "POST {LEARN} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx"
    )
    .unwrap();
    assert_eq!(answer(&mut stream).unwrap().0, 408);
    let mut stream = server.connect();
    write!(stream, "POST {LEARN} HTT").unwrap();
    let mut rest = Vec::new();
    assert!(
        stream
            .read_to_end(&mut rest)
            .is_ok_and(|_| !rest.starts_with(b"HTTP/1.1 200"))
    );
    for path in [
        "/v2/models/other/predict",
        "/v2/models/../penguins/predict",
        "/v2/models/%2e%2e%2fpenguins/predict",
        "/v2/models//predict",
        "/v2/models/penguins.rbm/predict",
        "/etc/passwd",
    ] {
        let (status, text) = server.ask("POST", path, &[], b"[]");
        assert!(status == 404, "{path}: {status} {text}");
    }
    assert_eq!(server.ask("PUT", PREDICT, &[], b"").0, 405);
    assert_eq!(
        server
            .ask("POST", LEARN, &[("Content-Encoding", "gzip")], b"x")
            .0,
        415
    );
    assert_eq!(
        server
            .ask("POST", LEARN, &[("Idempotency-Key", "a b")], b"x")
            .0,
        400
    );
    assert_eq!(
        server
            .ask("POST", PREDICT, &[("Accept", "image/png")], b"x")
            .0,
        406
    );
    // Another page's script, and a name that points here.
    assert_eq!(
        server
            .ask("POST", LEARN, &[("Origin", "http://example.org")], b"x")
            .0,
        403
    );
    for (inputs, said) in [
        (
            json!([{"name": "input", "datatype": "FP64", "shape": [1, 7], "data": [1]}]),
            "has 1 elements",
        ),
        (
            json!([{"name": "year", "datatype": "FP99", "shape": [1], "data": [1]}]),
            "FP99",
        ),
        (
            json!([{"name": "year", "datatype": "FP64", "shape": [1], "data": ["x"]}]),
            "expected FP64",
        ),
        (
            json!([{"name": "year", "datatype": "FP64", "shape": [1], "data": [2007]}]),
            "no input \"island\"",
        ),
        (
            json!([{"name": "year", "datatype": "FP64", "shape": [1], "parameters": {"binary_data_size": 8}}]),
            "8 bytes expected",
        ),
        (json!([]), "no input"),
    ] {
        let body = json!({"inputs": inputs}).to_string();
        let (status, problem) = server.json("/v2/models/penguins/infer", json_kind, &body);
        let detail = problem["error"].as_str().unwrap();
        assert!(
            (400..500).contains(&status) && detail.contains(said),
            "{status} {detail}"
        );
    }
    let (_, metadata) = server.get("/v2/models/penguins");
    assert!(metadata.contains("\"versions\":[\"0\"]"), "{metadata}");
}

#[test]
fn learning_answers_and_late_labels() {
    let place = Place::new();
    let model = penguin_model(&place);
    let log = place.to("log");
    let server = Server::start(&[&model, "--learn", "--log", &log]);
    let rows = penguin_rows();
    let batch = serde_json::to_string(&rows[..10]).unwrap();
    let key = [("Idempotency-Key", "first")];
    let (status, first) = server.ask("POST", LEARN, &key, batch.as_bytes());
    let answer: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(status, 200, "{first}");
    assert_eq!(
        (&answer["sequence"], &answer["learned"]),
        (&json!(10), &json!(10))
    );
    assert_eq!(
        (&answer["sync"], &answer["durable"]),
        (&json!("always"), &json!(true))
    );
    let wrong = answer["mistake"].as_array().unwrap();
    let mistakes = wrong.iter().filter(|m| **m == json!(true)).count();
    assert_eq!(answer["mistakes"], json!(mistakes));
    for ((predicted, wrong), row) in answer["predicted"]
        .as_array()
        .unwrap()
        .iter()
        .zip(wrong)
        .zip(&rows)
    {
        assert_eq!(*wrong == json!(true), *predicted != row["species"]);
    }
    let (_, again) = server.ask("POST", LEARN, &key, batch.as_bytes());
    assert_eq!(
        again,
        first.replace("\"repeated\":false", "\"repeated\":true")
    );
    let (status, _) = server.ask("POST", LEARN, &key, rows[0].to_string().as_bytes());
    assert_eq!(status, 409);
    // A label that comes late.
    let mut asked = rows[20].clone();
    asked.as_object_mut().unwrap().remove("species");
    let (status, _) = server.json(
        &format!("{PREDICT}?id=p-20"),
        "application/json",
        &asked.to_string(),
    );
    assert_eq!(status, 200);
    let label = "/v2/models/penguins/label";
    let late = json!({"id": "p-20", "label": rows[20]["species"]}).to_string();
    let (status, answer) = server.json(label, "application/json", &late);
    assert_eq!((status, &answer["sequence"]), (200, &json!(11)), "{answer}");
    let (_, again) = server.json(label, "application/json", &late);
    assert_eq!(
        (&again["sequence"], &again["repeated"]),
        (&json!(11), &json!(true))
    );
    let (status, _) = server.json(
        label,
        "application/json",
        r#"{"id":"p-21","label":"Adelie"}"#,
    );
    assert_eq!(status, 404);
    // A second process may not learn into the log.
    let second = run(&[
        "serve",
        &model,
        "--learn",
        "--log",
        &log,
        "--listen",
        "127.0.0.1:0",
    ]);
    assert!(
        stderr(&second).contains("another process learns into this log"),
        "{second:?}"
    );
    assert_eq!(second.status.code(), Some(1));
    // What it learned is on the page and in the metrics.
    let (_, metrics) = server.get("/metrics");
    assert!(
        metrics.contains("rosenblatt_learned_examples_total{model=\"penguins\"} 11"),
        "{metrics}"
    );
    let (_, page) = server.get("/");
    assert!(
        page.contains("<dt>examples learned</dt><dd>11</dd>"),
        "{page}"
    );
    // The end saves it all.
    server.signal("-TERM");
    let mut server = server;
    assert!(server.child.wait().unwrap().success());
    let names: Vec<String> = std::fs::read_dir(place.path("log").join("penguins"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".rbm"))
        .collect();
    assert_eq!(names, ["00000002-11.rbm"]);
    // The snapshot is a model as any other.
    let snapshot = place.path("log").join("penguins").join(&names[0]);
    ok(&["predict", snapshot.to_str().unwrap(), &penguins()]);
    // The log goes on with its own model only.
    let other = place.to("penguins.rbm");
    ok(&[
        "train",
        &penguins(),
        "--label",
        "species",
        "--epochs",
        "2",
        "-o",
        &other,
    ]);
    let refused = run(&[
        "serve",
        &other,
        "--learn",
        "--log",
        &log,
        "--listen",
        "127.0.0.1:0",
    ]);
    assert!(
        stderr(&refused).contains("begun with another model file"),
        "{refused:?}"
    );
}

/// The bytes of the snapshot that a server saves when it is asked to.
fn snapshot(server: &Server, log: &str) -> Vec<u8> {
    let (status, answer) = server.json("/v2/models/penguins/snapshot", "application/json", "");
    assert_eq!(status, 200, "{answer}");
    std::fs::read(format!(
        "{log}/penguins/{}",
        answer["file"].as_str().unwrap()
    ))
    .unwrap()
}

#[test]
fn kills_under_load_lose_nothing_and_learn_nothing_twice() {
    const KILLS: u64 = 8;
    const CLIENTS: u64 = 4;
    let kills = std::env::var("SERVE_KILLS").map_or(KILLS, |n| n.parse().unwrap());
    let place = Place::new();
    let model = penguin_model(&place);
    let log = place.to("log");
    let rows = penguin_rows();
    let (rows, mut sent) = (&rows, vec![0u64; CLIENTS as usize]);
    // The rows by their sequence numbers, as they were acknowledged.
    let mut learned = std::collections::BTreeMap::new();
    for kill in 0..kills {
        let server = Server::start(&[&model, "--learn", "--log", &log]);
        let answers: Vec<Vec<(u64, usize)>> = std::thread::scope(|scope| {
            let clients: Vec<_> = (sent.iter().enumerate())
                .map(|(client, &first)| {
                    let mut stream = server.connect();
                    scope.spawn(move || {
                        let mut answers = Vec::new();
                        // The last request of before is sent again: its answer may be lost.
                        for n in first.. {
                            let row = (n as usize * 7 + client * 31) % rows.len();
                            let key = format!("{client}-{n}");
                            let headers = [("Idempotency-Key", key.as_str())];
                            let body = rows[row].to_string();
                            let Some((status, text)) =
                                ask(&mut stream, "POST", LEARN, &headers, body.as_bytes())
                            else {
                                break;
                            };
                            let answer: Value = serde_json::from_str(&text).unwrap();
                            assert_eq!(status, 200, "{answer}");
                            answers.push((answer["sequence"].as_u64().unwrap(), row));
                        }
                        answers
                    })
                })
                .collect();
            std::thread::sleep(Duration::from_millis(20 + (kill * 37) % 100));
            server.signal("-KILL");
            clients.into_iter().map(|c| c.join().unwrap()).collect()
        });
        for (count, answers) in sent.iter_mut().zip(answers) {
            *count += answers.len() as u64;
            for (sequence, row) in answers {
                assert!(learned.insert(sequence, row).is_none(), "{sequence} twice");
            }
        }
    }
    // Requests whose answers were lost are asked for.
    let server = Server::start(&[&model, "--learn", "--log", &log]);
    let mut stream = server.connect();
    for (client, n) in sent.iter().enumerate() {
        let row = (*n as usize * 7 + client * 31) % rows.len();
        let key = format!("{client}-{n}");
        let body = rows[row].to_string();
        let (_, text) = ask(
            &mut stream,
            "POST",
            LEARN,
            &[("Idempotency-Key", &key)],
            body.as_bytes(),
        )
        .unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap();
        learned.insert(answer["sequence"].as_u64().unwrap(), row);
    }
    let total = learned.len() as u64;
    assert!(total > 4 * CLIENTS, "{total}");
    // No number is missing and none came twice.
    assert!(learned.keys().copied().eq(1..=total));
    let survived = snapshot(&server, &log);
    // The same in one unbroken run.
    let other = place.to("unbroken");
    let unbroken = Server::start(&[&model, "--learn", "--log", &other, "--sync", "never"]);
    let all: Vec<&Value> = learned.values().map(|&row| &rows[row]).collect();
    for part in all.chunks(1000) {
        let body = serde_json::to_string(part).unwrap();
        assert_eq!(unbroken.json(LEARN, "application/json", &body).0, 200);
    }
    assert!(survived == snapshot(&unbroken, &other));
}

#[test]
fn tokens_addresses_and_reloads() {
    let place = Place::new();
    let model = penguin_model(&place);
    let refused = run(&["serve", &model, "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("--token-file, or say --insecure"),
        "{refused:?}"
    );
    let short = place.file("short", "secret\n");
    let refused = run(&["serve", &model, "--token-file", &short]);
    assert!(
        stderr(&refused).contains("at least 16 characters"),
        "{refused:?}"
    );
    let refused = run(&["serve", &model, "--learn"]);
    assert!(stderr(&refused).contains("--log"), "{refused:?}");
    let token = place.file("token", "0123456789abcdef\n");
    // A folder of models; the token is asked for everywhere but health.
    let folder = place.path("models");
    std::fs::create_dir(&folder).unwrap();
    let one = folder.join("one.rbm");
    std::fs::copy(&model, &one).unwrap();
    let server = Server::start(&[folder.to_str().unwrap(), "--token-file", &token]);
    assert_eq!(server.get("/v2/health/ready").0, 200);
    assert_eq!(server.get("/v2").0, 401);
    let wrong = [("Authorization", "Bearer 0123456789abcdeg")];
    assert_eq!(server.ask("GET", "/v2", &wrong, b"").0, 401);
    let right = [("Authorization", "Bearer 0123456789abcdef")];
    let (status, text) = server.ask("GET", "/v2", &right, b"");
    assert!(
        status == 200 && text.contains("\"models\":[\"one\"]"),
        "{text}"
    );
    let basic = [("Authorization", "Basic dTowMTIzNDU2Nzg5YWJjZGVm")];
    assert_eq!(server.ask("GET", "/", &basic, b"").0, 200);
    // A new model comes with a signal, a changed one by name; a broken one changes nothing.
    std::fs::copy(&model, folder.join("two.rbm")).unwrap();
    server.signal("-HUP");
    let metadata = |name: &str| server.ask("GET", &format!("/v2/models/{name}"), &right, b"");
    for _ in 0..100 {
        if metadata("two").0 == 200 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(metadata("two").0, 200);
    let before = metadata("one");
    ok(&[
        "train",
        &penguins(),
        "--label",
        "island",
        "-o",
        one.to_str().unwrap(),
    ]);
    assert_eq!(metadata("one"), before);
    let reload = || server.ask("POST", "/v2/models/one/reload", &right, b"");
    assert_eq!(
        reload(),
        (200, r#"{"changed":true,"model_name":"one"}"#.into())
    );
    assert!(metadata("one").1.contains("Torgersen"));
    std::fs::write(&one, b"nonsense").unwrap();
    let (status, text) = reload();
    assert!(status == 422 && text.contains("one.rbm"), "{status} {text}");
    assert!(metadata("one").1.contains("Torgersen"));
}
