//! Tables as they come: what leads astray is set aside, read as it was meant, or said.

use crate::common::*;

/// A table of `rows` rows under `header`; each has two columns that tell most classes, then `more`
/// of its number and class, then the class.
fn table(header: &str, rows: usize, more: impl Fn(usize, usize) -> String) -> String {
    let mut text = format!("{header}\n");
    for i in 0..rows {
        let class = usize::from(i >= rows / 2);
        let (noise, other) = ((i * 37 % 101) as f64 / 50.0, i * 53 % 17);
        let x = noise + class as f64;
        text += &format!("{x},{other},{},{}\n", more(i, class), ["no", "yes"][class]);
    }
    text
}

/// What training on the data says on stderr, and its report.
fn trained(data: &str, more: &[&str]) -> (String, serde_json::Value) {
    let mut args = vec!["train", data, "--epochs", "5", "--json"];
    args.extend(more);
    let output = run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (stderr(&output), report)
}

/// How a column was used, as the report says.
fn role(report: &serde_json::Value, name: &str) -> String {
    let columns = report["data"]["columns"].as_array().unwrap();
    let column = columns.iter().find(|c| c["name"] == name).unwrap();
    column["role"].as_str().unwrap().to_owned()
}

#[test]
fn identifiers_are_set_aside_unless_asked_for() {
    let place = Place::new();
    // Rows come class by class, so that any of these numbers would tell the class.
    let ids = |i: usize, _: usize| {
        let shuffled = i * 71 % 200;
        format!(
            "{},{shuffled},C-{i:05},{}",
            1000 + 3 * i,
            i * 7919 % 100_003
        )
    };
    let data = place.file(
        "ids.csv",
        table("x,z,number,ticket,code,customer_id,class", 200, ids),
    );
    for more in [&[][..], &["--validate", "0.25"]] {
        let (said, report) = trained(&data, more);
        for name in ["number", "ticket", "code", "customer_id"] {
            assert_eq!(role(&report, name), "ignore", "{name}: {said}");
            let warning = format!("the column {name} is left out: it looks like an identifier");
            assert!(said.contains(&warning), "{said}");
        }
        assert_eq!(report["features"], 2);
    }
    let (said, report) = trained(
        &data,
        &["--column", "number=numeric", "--column", "code=ignore"],
    );
    assert_eq!(role(&report, "number"), "numeric");
    assert!(
        !said.contains("column number is") && !said.contains("column code"),
        "{said}"
    );
    // Measurements that are whole and all different are none.
    let wide = |i: usize, _: usize| format!("{}", i * 7_919_993 % 1_000_003);
    let data = place.file("wide.csv", table("x,z,income,class", 200, wide));
    assert_eq!(role(&trained(&data, &[]).1, "income"), "numeric");
}

#[test]
fn an_unnamed_index_is_set_aside() {
    let place = Place::new();
    let text: String = (table("x,z,w,class", 100, |i, _| (i % 7).to_string())
        .lines()
        .enumerate())
    .map(|(i, line)| match i {
        0 => format!(",{line}\n"),
        _ => format!("{},{line}\n", (i - 1) * 37 % 100),
    })
    .collect();
    let data = place.file("index.csv", &text);
    let (said, report) = trained(&data, &["--validate", "0.3"]);
    assert!(
        said.contains("it has no name and numbers the rows"),
        "{said}"
    );
    assert_eq!(
        (role(&report, "0").as_str(), &report["features"]),
        ("ignore", &3.into())
    );
}

#[test]
fn constants_are_set_aside_where_columns_are_scaled() {
    let place = Place::new();
    let data = place.file(
        "same.csv",
        table("x,z,one,here,class", 60, |_, _| "1,north".into()),
    );
    let (said, report) = trained(&data, &[]);
    assert!(
        said.contains("2 columns are left out: they are constant (one, here)"),
        "{said}"
    );
    assert_eq!(report["features"], 2);
    let (said, report) = trained(&data, &["--scale", "none"]);
    assert!(!said.contains("constant"), "{said}");
    assert_eq!(report["features"], 4);
}

#[test]
fn a_column_that_gives_the_label_away_is_named() {
    let place = Place::new();
    let leak = |i: usize, class: usize| {
        let status = ["open", "closed", "paid"][if class == 0 { 0 } else { 1 + i % 2 }];
        let score = class as f64 * 0.5 + (i * 31 % 89) as f64 / 200.0;
        // One in 200 is wrong.
        let status = if i == 17 { "paid" } else { status };
        format!("{status},{score}")
    };
    let data = place.file("leak.csv", table("x,z,status,score,class", 400, leak));
    let (said, report) = trained(&data, &["--validate", "0.25"]);
    for (name, role_of) in [("status", "category"), ("score", "numeric")] {
        let warning = format!("the column {name} gives the label away");
        assert!(said.contains(&warning), "{said}");
        assert_eq!(role(&report, name), role_of);
    }
    assert!(said.contains("pass --column status=ignore"), "{said}");
    assert!(
        !said.contains("column x gives") && !said.contains("column z gives"),
        "{said}"
    );
}

#[test]
fn dates_become_parts_and_days() {
    let place = Place::new();
    let dates = |i: usize, _: usize| {
        let (day, month, hour) = (i % 28 + 1, i % 3 + 1, i % 2 * 12);
        format!("2024-{month:02}-{day:02} {hour:02}:30,{day}.{month}.2024,{month}/{day}/24")
    };
    let data = place.file("dates.csv", table("x,z,iso,german,us,class", 120, dates));
    let model = place.to("m.rbm");
    let (said, report) = trained(&data, &["-o", &model]);
    for name in ["iso", "german", "us"] {
        assert_eq!(role(&report, name), "date", "{said}");
    }
    assert!(
        !said.contains("column iso") && !said.contains("first; pass"),
        "{said}"
    );
    // Each has its days, three months and seven days of the week; one has two hours.
    assert_eq!(report["features"], 2 + 3 * 11 + 2);
    let weights = ok(&["inspect", &model, "--json"]);
    for name in [
        "us:weekday=Thu",
        "iso:month=3",
        "german:weekday=Sat",
        "iso:hour=12",
    ] {
        assert!(weights.contains(name), "{name}: {weights}");
    }
    let rows = ok(&["predict", &model, &data]);
    assert_eq!(rows.lines().count(), 120);
    // Before any date can be told from the other order.
    let early = |i: usize, _: usize| format!("{}/{}/2024", i % 12 + 1, i % 5 + 1);
    let data = place.file("early.csv", table("x,z,when,class", 120, early));
    let (said, _) = trained(&data, &[]);
    assert!(
        said.contains("the column when has dates that are read with the month first"),
        "{said}"
    );
    let (said, _) = trained(&data, &["--column", "when=date-day-first"]);
    assert!(!said.contains("column when"), "{said}");
    let bad = place.file(
        "bad.csv",
        "x,z,iso,german,us,class\n1,2,soon,1.1.2024,1/1/24,no\n",
    );
    let output = run(&["predict", &model, &bad]);
    assert!(stderr(&output).contains("expected a date in the column iso, found \"soon\""));
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let place = Place::new();
    let value = |i: usize| (i * 7919 % 300_000) as f64 / 4.0;
    let grouped = |x: f64, separator: char, sign: char| {
        let (whole, part) = (x as u64, (x.fract() * 100.0) as u64);
        match whole >= 1000 {
            true => format!(
                "{}{separator}{:03}{sign}{part:02}",
                whole / 1000,
                whole % 1000
            ),
            false => format!("{whole}{sign}{part:02}"),
        }
    };
    let plain = table("x,z,amount,class", 150, |i, _| value(i).to_string());
    let english = table("x,z,amount,class", 150, |i, _| {
        format!("\"{}\"", grouped(value(i), ',', '.'))
    });
    let german: String = plain
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let mut cells: Vec<String> = line.split(',').map(|c| c.replace('.', ",")).collect();
            if i > 0 {
                cells[2] = grouped(value(i - 1), '.', ',');
            }
            cells.join(";") + "\n"
        })
        .collect();
    let mut models = Vec::new();
    for (name, text) in [
        ("plain", &plain),
        ("english", &english),
        ("german", &german),
    ] {
        let data = place.file(&format!("{name}.csv"), text);
        let model = place.to(&format!("{name}.rbm"));
        let (said, report) = trained(&data, &["-o", &model]);
        assert!(
            said.is_empty() || said.starts_with("saved"),
            "{name}: {said}"
        );
        assert_eq!(role(&report, "amount"), "numeric", "{name}");
        assert_eq!(report["features"], 3, "{name}");
        models.push((
            tensors(&model)["weights"].clone(),
            ok(&["predict", &model, &data, "--scores"]),
        ));
    }
    assert_eq!(models[0], models[1]);
    assert_eq!(models[0], models[2]);
    // Nothing but thousands, or thousandths.
    let either = table("x,z,amount,class", 150, |i, _| {
        format!("\"{},{:03}\"", 1 + i % 9, i * 7 % 1000)
    });
    let data = place.file("either.csv", either);
    let (said, _) = trained(&data, &[]);
    assert!(
        said.contains("the column amount has commas that are taken as a separator"),
        "{said}"
    );
    let (said, _) = trained(&data, &["--column", "amount=decimal-comma"]);
    assert!(!said.contains("column amount"), "{said}");
}

#[test]
fn stray_cells_are_missing_numbers() {
    let place = Place::new();
    let strays = |i: usize, _: usize| match i {
        40 | 90 => "-".to_owned(),
        120 => "n/a".to_owned(),
        _ => format!("{}", (i * 13 % 71) as f64 / 4.0),
    };
    let data = place.file("strays.csv", table("x,z,w,class", 200, strays));
    let model = place.to("m.rbm");
    let (said, report) = trained(&data, &["-o", &model]);
    assert!(
        said.contains("the column w holds numbers but for 3 cells that are none, taken as missing, the first \"-\" in row 41"),
        "{said}"
    );
    assert_eq!(role(&report, "w"), "numeric");
    assert_eq!(report["data"]["columns"][2]["missing"], 3);
    // A number for each column, and a feature for those that are missing.
    assert_eq!(report["features"], 4);
    assert_eq!(ok(&["predict", &model, &data]).lines().count(), 200);
    let output = run(&["train", &data, "--column", "w=numeric"]);
    assert!(
        stderr(&output).contains("strays.csv:42:"),
        "{}",
        stderr(&output)
    );
    // Too many to be strays.
    let many = |i: usize, _: usize| {
        if i.is_multiple_of(9) {
            "few".into()
        } else {
            i.to_string()
        }
    };
    let data = place.file("many.csv", table("x,z,w,class", 200, many));
    let (said, report) = trained(&data, &[]);
    assert!(said.contains("--column w=numeric-or-missing"), "{said}");
    assert_ne!(role(&report, "w"), "numeric");
    let (_, report) = trained(&data, &["--column", "w=numeric-or-missing"]);
    assert_eq!(role(&report, "w"), "numeric");
}

#[test]
fn a_guessed_label_is_said_to_be_one() {
    let place = Place::new();
    let row = |i: usize| {
        format!(
            "{},{},{}\n",
            ["good", "bad"][i % 2],
            i * 7 % 5,
            ["a", "b", "c"][i % 3]
        )
    };
    let rows: String = (0..60).map(row).collect();
    let data = place.file("last.csv", format!("mood,score,shop\n{rows}"));
    let (said, report) = trained(&data, &[]);
    assert!(
        said.contains("the label column is guessed: shop, the last one"),
        "{said}"
    );
    assert!(
        said.contains("--label shop") && said.contains("--label mood"),
        "{said}"
    );
    assert_eq!(
        report["data"]["columns"][2]["note"],
        "guessed, the last column"
    );
    let (said, _) = trained(&data, &["--label", "mood"]);
    assert!(!said.contains("guessed"), "{said}");
    let by_name = place.file("name.csv", format!("mood,score,class\n{rows}"));
    let (said, report) = trained(&by_name, &[]);
    assert!(!said.contains("guessed"), "{said}");
    assert_eq!(report["data"]["columns"][2]["note"], "guessed by its name");
    // What cannot be a label.
    let text = |i: usize| format!("{},{},\"so\nit goes {i}\"\n", ["good", "bad"][i % 2], i % 5);
    let texts: String = (0..60).map(text).collect();
    let measured = |i: usize| format!("{},{},{}\n", ["good", "bad"][i % 2], i % 5, i as f64 / 7.0);
    let measured: String = (0..60).map(measured).collect();
    for rows in [texts, measured] {
        let data = place.file("wrong.csv", format!("mood,score,remark\n{rows}"));
        let output = run(&["train", &data]);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(
            said.contains("the column remark was guessed to be the label, because it is the last"),
            "{said}"
        );
        assert!(said.contains("perhaps --label mood"), "{said}");
    }
}

#[test]
fn texts_become_terms_that_the_model_remembers() {
    let place = Place::new();
    let words = [
        "cheap", "offer", "meeting", "today", "free", "lunch", "notes", "prize", "win", "agenda",
    ];
    let text = |i: usize, from: usize| -> String {
        let word = |k: usize| words[(i * (k + 3) + from * 4 + k * k) % 10];
        (0..6).map(word).collect::<Vec<_>>().join(" ")
    };
    let rows: String = (0..200)
        .map(|i| {
            format!(
                "{} n{i} d,{} é{},{}\n",
                text(i, 0),
                text(i * 7, 1),
                i * 3,
                ["ham", "spam"][i % 2]
            )
        })
        .collect();
    let data = place.file("mail.csv", format!("subject,body,class\n{rows}"));
    let features = |more: &[&str]| trained(&data, more).1["features"].as_u64().unwrap();
    let plain = features(&["--column", "subject=text", "--column", "body=text"]);
    for more in [
        &["--text", "words:1-2"][..],
        &["--text", "chars:3-5"],
        &["--term-weights", "sublinear-tf-idf"],
        &["--term-weights", "counts"],
        &["--min-df", "2"],
        &["--max-df", "0.5"],
        &["--vocabulary", "20"],
        &["--case", "keep", "--accents", "strip"],
    ] {
        let model = place.to("m.rbm");
        let mut args = vec![
            "--column",
            "subject=text",
            "--column",
            "body=text",
            "-o",
            &model,
        ];
        args.extend(more);
        let (_, report) = trained(&data, &args);
        let count = report["features"].as_u64().unwrap();
        match more[0] {
            "--text" => assert!(count > plain, "{more:?}"),
            "--vocabulary" => assert_eq!(count, 2 * (20 + (1 << 18))),
            "--min-df" | "--max-df" => assert!(count < plain, "{more:?}"),
            _ => assert_eq!(count, plain, "{more:?}"),
        }
        // The same rows through the model, and a run that goes on.
        let tested = json(&["test", &model, &data]);
        assert_eq!(tested["accuracy"], report["train_accuracy"], "{more:?}");
        let longer = place.to("longer.rbm");
        ok(&[
            "train", &data, "--resume", &model, "--epochs", "6", "-o", &longer,
        ]);
        let [one, other] = [&model, &longer].map(|m| {
            let mut tensors = tensors(m);
            tensors.retain(|name, _| name.starts_with("preparation"));
            tensors
        });
        assert_eq!(one, other);
        let refused = run(&["export", &model, &place.to("m.onnx")]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(
            stderr(&refused).contains("no operator that cuts words"),
            "{}",
            stderr(&refused)
        );
    }
}

#[test]
fn a_feature_that_reaches_far_beyond_the_others_is_named() {
    let place = Place::new();
    let rows = (0..60).map(|i| {
        let (class, income) = (2 * (i % 2) - 1, 20_000 + i * 977 % 90_000);
        format!("{class} 1:{} 2:{} 3:{income}\n", i % 2, 1 + i % 7)
    });
    let data = place.file("raw.svm", rows.collect::<String>());
    let (said, _) = trained(&data, &[]);
    let warning = "the features are not scaled: 3 reaches";
    assert!(said.contains(warning), "{said}");
    assert!(
        said.contains("half of the features no more than 7"),
        "{said}"
    );
    for more in [
        ["--scale", "standard"],
        ["--scale", "none"],
        ["--learner", "arow"],
    ] {
        let (said, _) = trained(&data, &more);
        assert!(!said.contains("not scaled"), "{said}");
    }
}
