//! Files of people who mean harm or made a mistake, and machines with little to spare.

use crate::common::{Place, json, ok, program, run, stderr, with_stdin};
use serde_json::{Value, json};

/// A model file whose facts were changed, with its digest repaired.
fn with_facts(model: &str, change: impl Fn(&mut Value)) -> Vec<u8> {
    let bytes = std::fs::read(model).unwrap();
    let mut parts = rosenblatt::model::Parts::from_bytes(&bytes).unwrap();
    let recipe: Value = parts.take_fact("recipe").unwrap();
    let mut facts = json!({ "recipe": recipe });
    change(&mut facts);
    parts.put_fact("recipe", &facts["recipe"]);
    parts.to_bytes().unwrap()
}

#[test]
fn columns_with_other_names_are_not_taken_by_their_places() {
    let place = Place::new();
    let model = place.to("m.rbm");
    let train = place.file("t.csv", "a,b,label\n0,1,x\n1,0,y\n2,-5,y\n0,4,x\n");
    ok(&["train", &train, "-o", &model]);
    let swapped = place.file("s.csv", "B,A\n0,1\n1,0\n");
    for command in ["predict", "test"] {
        let output = run(&[command, &model, &swapped]);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(said.contains("no column a"), "{said}");
        assert!(said.contains("--by-position"), "{said}");
    }
    assert_eq!(
        ok(&["predict", &model, &swapped, "--by-position"]),
        "x\ny\n"
    );
    // Without a header, as before.
    let bare = place.file("bare.csv", "0,1\n1,0\n");
    assert_eq!(ok(&["predict", &model, &bare]), "x\ny\n");
    // Columns that are not needed are counted and left out, in any order.
    let more = place.file("more.csv", "n,b,a,m\n9,1,0,9\n9,0,1,9\n");
    let output = run(&["predict", &model, &more]);
    assert_eq!(output.stdout, b"x\ny\n");
    let said = stderr(&output);
    assert!(
        said.contains("2 columns that the model does not know are left out: n, m"),
        "{said}"
    );
}

#[test]
fn a_file_of_another_kind_gives_no_predictions() {
    let place = Place::new();
    let (sparse, table) = (place.to("s.rbm"), place.to("t.rbm"));
    let svm = place.file("t.svm", "1 1:1 2:1\n-1 1:-1\n");
    let csv = place.file("t.csv", "a,b,label\n0,1,x\n1,0,y\n");
    ok(&["train", &svm, "-o", &sparse]);
    ok(&["train", &csv, "-o", &table]);
    for (model, name, content) in [
        (&sparse, "rows.txt", "1,1,0\n-1,0,2\n"),
        (&sparse, "rows.data", "1 1 0\n-1 0 2\n"),
        (&table, "rows.txt", "1 1:1 2:1\n-1 1:-1\n"),
        (&table, "rows.svm", "1 1:1 2:1\n-1 1:-1\n"),
        (&table, "header.csv", "a,b,label\n"),
        (&table, "header2.csv", "a,b\n"),
    ] {
        let output = run(&["predict", model, &place.file(name, content)]);
        assert_eq!(output.status.code(), Some(1), "{name}: {content}");
        assert_eq!(output.stdout, b"", "{name}");
        assert!(stderr(&output).contains(name), "{}", stderr(&output));
    }
    // Rows without a label are rows.
    assert_eq!(
        with_stdin(&["predict", &sparse, "-"], b"1:1\n1:-1\n").stdout,
        b"1\n-1\n"
    );
}

#[test]
fn a_command_is_not_what_a_stranger_wrote_into_a_model() {
    let place = Place::new();
    let model = place.to("m.rbm");
    let csv = place.file("t.csv", "a,b,the label\n0,1,x\n1,0,y\n");
    ok(&["train", &csv, "--label", "the label", "-o", &model]);
    let command = ok(&["inspect", &model, "--command"]);
    assert!(command.contains("--label='the label'"), "{command}");
    for name in ["comment; rm -rf /", "", "labels", "no-such", "validate"] {
        let bad = with_facts(&model, |facts| facts["recipe"] = json!([[name, "1"]]));
        let bad = place.file("bad.rbm", bad);
        for args in [
            vec!["inspect", &bad, "--command"],
            vec!["inspect", &bad, "--json"],
            vec!["predict", &bad, &csv],
        ] {
            let output = run(&args);
            assert_eq!(output.status.code(), Some(1), "{name} {args:?}");
            assert_eq!(output.stdout, b"");
            assert!(stderr(&output).contains("not valid"), "{}", stderr(&output));
        }
    }
    // What is an option may hold anything.
    let odd = with_facts(&model, |facts| {
        facts["recipe"] = json!([["label", "a'; rm -rf /"]])
    });
    let command = ok(&["inspect", &place.file("odd.rbm", odd), "--command"]);
    assert!(command.contains(r"--label='a'\''; rm -rf /'"), "{command}");
}

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

#[test]
fn a_score_beyond_all_numbers_is_an_error_with_its_row() {
    let place = Place::new();
    let model = place.to("m.rbm");
    let csv = place.file("t.csv", "a,b,label\n1e30,1,x\n-1e30,0,y\n");
    ok(&[
        "train",
        &csv,
        "--scale",
        "none",
        "--precision",
        "f64",
        "-o",
        &model,
    ]);
    let far = place.file("far.csv", "a,b,label\n1,0,x\n1e300,1e300,x\n");
    for command in ["predict", "test"] {
        let output = run(&[command, &model, &far]);
        assert_eq!(output.status.code(), Some(1), "{command}");
        let said = stderr(&output);
        assert!(said.contains("far.csv") && said.contains("row 2"), "{said}");
    }
}

/// The sum that caches carry, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            (sum >> 1) ^ (0xEDB8_8320 * (sum & 1))
        })
    })
}

#[test]
fn a_cache_holds_nothing_that_text_could_not() {
    let place = Place::new();
    let svm = place.file("t.svm", "1 1:1 3:2\n-1 2:1 3:1\n1 1:1.5 2:1\n");
    ok(&["train", &svm, "--cache"]);
    let cache = std::fs::read(format!("{svm}.rbc")).unwrap();
    let head = u64::from_le_bytes(cache[8..16].try_into().unwrap()) as usize + 16;
    let base = head.next_multiple_of(64);
    let facts: Value = {
        let file = safetensors::SafeTensors::read_metadata(&cache[16..head]).unwrap();
        let text = &file.1.metadata().as_ref().unwrap()["rosenblatt"];
        serde_json::from_str(text).unwrap()
    };
    let place_of = |value: &Value| {
        let at = |name: &str| value[name].as_u64().unwrap() as usize;
        base + at("start")..base + at("end")
    };
    let indices = place_of(&facts["places"]["sparse"][1]);
    let values = place_of(&facts["places"]["values"]);
    let end = values.end;
    let repaired = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = cache.clone();
        change(&mut bytes);
        let sum = crc32(&bytes[base..end]).to_le_bytes();
        bytes[end..end + 4].copy_from_slice(&sum);
        place.file("bad.rbc", bytes)
    };
    let train = |path: &str| run(&["train", path, "--epochs", "2"]);
    assert_eq!(train(&repaired(&|_| ())).status.code(), Some(0));
    let beyond = |bytes: &mut [u8]| bytes[indices.start] = 200;
    // Rows of two features, each the other way round.
    let unsorted = |bytes: &mut [u8]| {
        let all = &mut bytes[indices.clone()];
        all.reverse();
        all.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    };
    let not_a_number = |bytes: &mut [u8]| {
        bytes[values.start..values.start + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    };
    for change in [&beyond as &dyn Fn(&mut [u8]), &unsorted, &not_a_number] {
        let output = train(&repaired(change));
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains("not valid"), "{}", stderr(&output));
    }
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

#[test]
fn names_of_classes_are_names() {
    let place = Place::new();
    let model = place.to("m.rbm");
    ok(&[
        "train",
        &place.file("t.csv", "a,label\n0,x\n1,y\n"),
        "-o",
        &model,
    ]);
    let bytes = std::fs::read(&model).unwrap();
    for names in [["", "y"], ["y", "y"], ["a\nb", "y"]] {
        let mut parts = rosenblatt::model::Parts::from_bytes(&bytes).unwrap();
        parts.take_strings("classes").unwrap();
        parts.put_strings("classes", &names.iter().copied().collect());
        let bad = place.file("bad.rbm", parts.to_bytes().unwrap());
        let output = run(&["inspect", &bad]);
        assert_eq!(output.status.code(), Some(1), "{names:?}");
        assert!(stderr(&output).contains("not valid"), "{}", stderr(&output));
    }
}

/// What the outputs are is found out before the data are read.
#[test]
fn outputs_that_cannot_be_written_are_found_before_the_work() {
    let place = Place::new();
    let data = place.file("t.csv", "a,label\n0,x\n1,y\n");
    // Long enough that the name it has while it is written is too long.
    let long = place.to(&format!("{}.html", "n".repeat(245)));
    for args in [
        ["train", "/no/such/data.csv", "-o", &long],
        ["train", "/no/such/data.csv", "--report", &long],
        ["check", "/no/such/data.csv", "--certificate", &long],
    ] {
        let output = run(&args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(
            stderr(&output).contains("name too long"),
            "{}",
            stderr(&output)
        );
    }
    let left: Vec<_> = std::fs::read_dir(place.0.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(
        run(&["train", &data, "--save-every", "nan"]).status.code(),
        Some(2)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_is_told_though_the_model_cannot_be_saved() {
    let place = Place::new();
    let data = place.file("t.csv", "a,label\n0,x\n1,y\n");
    let output = run(&["train", &data, "-o", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("stopped"));
    assert!(stderr(&output).contains("/dev/full"), "{}", stderr(&output));
    // A pipe gets one model, however often a file would be written.
    let model = place.to("m.rbm");
    let often = ["--epochs", "3", "--save-every", "0", "--quiet", "-o"];
    let train = |to: &str| run(&[&["train", &data][..], &often, &[to]].concat());
    train(&model);
    assert!(train("/dev/stdout").stdout == std::fs::read(&model).unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_without_end_is_no_model() {
    let output = run(&["inspect", "/dev/zero"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("not"), "{}", stderr(&output));
}

#[test]
fn names_do_not_steer_the_terminal() {
    let place = Place::new();
    let evil = "\u{1b}[2Jevil\u{202e}txt";
    let data = place.file("t.csv", format!("a,label\n0,{evil}\n1,y\n"));
    let model = place.to("m.rbm");
    let told = ok(&["train", &data, "-o", &model]);
    assert!(!told.contains(evil) && told.contains("evil"), "{told:?}");
    let output = run(&[
        "predict",
        &model,
        &place.file("n.csv", format!("{evil}\n1\n")),
    ]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said:?}");
    // In a pipe a label is the bytes that it is.
    let predicted = ok(&["predict", &model, &data]);
    assert_eq!(predicted, format!("{evil}\ny\n"));
}

#[test]
fn labels_have_one_name_each() {
    let place = Place::new();
    let data = place.file("t.csv", "a,label,label\n1,p,x\n3,q,y\n2,p,x\n5,q,y\n");
    for (args, words) in [
        (&["--label-map", "p="][..], "the new name is empty"),
        (&["--label-map", "p=A,p=B"], "was to become A already"),
        (&["--label-map", "p=a\tb"], "a tab or a line end"),
        (
            &["--class-weight", "p=1,p=2"],
            "the class p has two weights",
        ),
        (
            &["--label", "label"],
            "pass the number of the one that is meant: 1 or 2",
        ),
    ] {
        let output = run(&[&["train", &data, "--label", "1"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    ok(&["train", &data, "--label", "label.2"]);
}

#[test]
fn hundreds_of_real_labels_are_a_measurement_in_any_format() {
    let place = Place::new();
    let row = |i: usize| format!("{}.25 1:{i} 2:1\n", i * 7 % 500);
    let data = place.file("t.svm", (0..300).map(row).collect::<String>());
    let output = run(&["train", &data]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("looks like a measurement"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn zeros_behind_gzip_are_padding_and_other_bytes_are_not() {
    let place = Place::new();
    let data = place.file("t.csv", "a,label\n0,x\n1,y\n");
    let packed = place.to("t.csv.gz");
    ok(&["convert", &data, &packed]);
    let mut bytes = std::fs::read(&packed).unwrap();
    bytes.extend([0; 1 << 17]);
    ok(&["train", &place.file("p.csv.gz", &bytes)]);
    bytes.push(7);
    let output = run(&["train", &place.file("q.csv.gz", &bytes)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("damaged"), "{}", stderr(&output));
}

#[test]
fn a_table_has_at_most_a_million_columns() {
    let place = Place::new();
    let line = ",".repeat(1 << 20);
    let data = place.file("t.csv", format!("{line}y\n{line}1\n{line}0\n"));
    let output = run(&["train", &data]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("1048577 columns"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_limit_of_memory_is_held_or_refused() {
    let place = Place::new();
    let data = place.to("t.csv");
    let kind = ["generate", "blobs", "-n", "6000", "-d", "400", "-o", &data];
    ok(&kind);
    let output = run(&["train", &data, "--memory", "16M"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("more than 16 MiB of memory"),
        "{}",
        stderr(&output)
    );
}

/// What is read counts before it is read, and what is calculated with while it grows.
#[test]
fn a_check_holds_its_limit_of_memory() {
    let place = Place::new();
    let data = place.to("t.csv");
    ok(&["generate", "blobs", "-n", "6000", "-d", "400", "-o", &data]);
    let output = run(&["check", &data, "--memory", "16M"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let said = "more than 16 MiB of memory";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));

    // Few rows, every third under the other label: the proof needs many of them.
    let texts = place.to("t.svm");
    ok(&[
        "generate", "sparse", "-n", "6000", "-d", "2000", "-o", &texts,
    ]);
    let text = std::fs::read_to_string(&texts).expect("it was written");
    let some = text
        .lines()
        .enumerate()
        .map(|(i, line)| match (i % 3, line.strip_prefix('-')) {
            (0, Some(rest)) => format!("+{rest}\n"),
            (0, None) => format!("-{}\n", line.trim_start_matches('+')),
            _ => format!("{line}\n"),
        });
    std::fs::write(&texts, some.collect::<String>()).expect("a file");
    if cfg!(target_os = "linux") {
        let output = run(&["check", &texts, "--memory", "24M"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let said = "the check takes more than 24 MiB of memory";
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        assert!(stderr(&output).contains("--memory"), "{}", stderr(&output));
    }
    let small = place.file("s.csv", "a,label\n0,x\n1,y\n");
    ok(&["check", &small, "--memory", "1G"]);
}

/// A pipe that nobody reads yet holds the model until somebody does, or the user has enough.
#[cfg(target_os = "linux")]
#[test]
fn waiting_for_a_reader_of_a_pipe_can_be_interrupted() {
    use std::process::Command;
    let place = Place::new();
    let data = place.file("t.csv", "a,label\n0,x\n1,y\n");
    let (pipe, model) = (place.to("pipe"), place.to("m.rbm"));
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let mut child = program(&["train", &data, "-o", &pipe, "-q"])
        .spawn()
        .unwrap();
    let state = format!("/proc/{}/wchan", child.id());
    for _ in 0..1000 {
        let waits = std::fs::read_to_string(&state).unwrap_or_default();
        if waits.contains("wait_for_partner") || waits.contains("fifo") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // And whoever reads gets the model, once.
    let mut child = program(&["train", &data, "-o", &pipe, "-q", "--save-every", "0"])
        .spawn()
        .unwrap();
    let read = std::fs::read(&pipe).unwrap();
    assert!(child.wait().unwrap().success());
    ok(&["train", &data, "-o", &model, "-q"]);
    assert!(read == std::fs::read(&model).unwrap());
}

#[test]
fn verification_ends_in_time() {
    let place = Place::new();
    let data = place.file("t.csv", "a,label\n0,x\n1,y\n");
    let certificate = place.to("c.json");
    ok(&["check", &data, "--certificate", &certificate]);
    let output = run(&["verify", &certificate, &data, "--time-limit", "0"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("says nothing about the claim"),
        "{}",
        stderr(&output)
    );
}
