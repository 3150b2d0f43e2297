//! Studies from the outside: files, bounds, resuming, and one answer whatever the threads.

use std::collections::HashMap;

use crate::common::{Place, ok, run, stderr};

/// The rows of a run_log, by column.
fn run_log(place: &Place, folder: &str, study: &str) -> Vec<HashMap<String, String>> {
    let text = std::fs::read_to_string(place.path(&format!("{folder}/{study}.csv"))).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| {
            let cells = line.split(',').map(str::to_owned);
            header.iter().map(ToString::to_string).zip(cells).collect()
        })
        .collect()
}

fn number(row: &HashMap<String, String>, name: &str) -> f64 {
    row[name].parse().unwrap()
}

#[test]
fn every_study_writes_its_ledger_its_pictures_and_the_page() {
    let place = Place::new();
    let folder = place.to("all");
    let text = ok(&[
        "experiment",
        "all",
        "--quick",
        "--seeds",
        "2",
        "-o",
        &folder,
    ]);
    assert!(
        !text.contains("NaN") && !text.contains("DOES NOT HOLD"),
        "{text}"
    );
    let page = std::fs::read_to_string(place.path("all/index.html")).unwrap();
    assert!(page.len() < 5_000_000 && !page.contains("NaN"));
    // The names of the SVG language are all that looks like an address.
    assert_eq!(
        page.matches("http").count(),
        page.matches("http://www.w3.org/").count() + page.matches("http-equiv").count()
    );
    let mut pictures = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "svg") {
            pictures += 1;
        }
    }
    assert_eq!(pictures, page.matches("<figure>").count());
    for study in [
        "angle",
        "convergence",
        "bound",
        "rates",
        "variants",
        "classes",
        "readouts",
        "scatter",
    ] {
        let rows = run_log(&place, "all", study);
        assert!(
            page.contains(&format!("rosenblatt experiment {study}")),
            "{study}"
        );
        let bounded = rows.iter().filter(|r| !r["bound"].is_empty());
        let mut held = 0;
        for row in bounded.filter(|r| !r["updates"].is_empty()) {
            assert!(
                number(row, "updates") <= number(row, "bound"),
                "{study}: {row:?}"
            );
            held += 1;
        }
        assert!(held >= 6, "{study}: only {held} runs have a bound");
    }
    // From zero every rate makes the same mistakes, from elsewhere it does not.
    let rates = run_log(&place, "all", "rates");
    for seed in ["0", "1"] {
        let sequences = |start: &str| {
            let those = rates
                .iter()
                .filter(|r| r["start"] == start && r["seed"] == seed);
            those
                .map(|r| r["sequence"].clone())
                .collect::<std::collections::HashSet<_>>()
        };
        assert_eq!(sequences("zero").len(), 1);
        assert!(sequences("random").len() > 1);
    }
    // Renormalised runs end below the limiting rate, and some cycle above it.
    let renormalised = run_log(&place, "all", "variants");
    let renormalised = renormalised
        .iter()
        .filter(|r| r["choice"] == "renormalised");
    let (below, above): (Vec<_>, Vec<_>) = renormalised.partition(|r| number(r, "value") < 1.0);
    assert!(
        below
            .iter()
            .all(|r| r["separated"] == "1" && r["cycles"] == "0")
    );
    assert!(above.iter().any(|r| r["cycles"] == "1"));
}

#[test]
fn an_interrupted_study_keeps_its_runs_and_goes_on() {
    let place = Place::new();
    let (whole, broken) = (place.to("whole"), place.to("broken"));
    let study = ["experiment", "rates", "--quick", "--seeds", "3"];
    let with = |folder: &str, threads: &str| {
        let more = ["-o", folder, "--threads", threads];
        run(&[study.as_slice(), &more].concat())
    };
    assert!(with(&whole, "1").status.success());
    let text = std::fs::read_to_string(place.path("whole/rates.csv")).unwrap();
    // Cut in the middle of a line, with one finished run whose numbers show that it is kept.
    let lines: Vec<&str> = text.lines().collect();
    let marked = lines[1].replacen(lines[1].split(',').nth(3).unwrap(), "7", 1);
    let cut = format!("{}\n{marked}\n{}\n{}", lines[0], lines[2], &lines[3][..9]);
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(place.path("broken/rates.csv"), cut).unwrap();
    let output = with(&broken, "2");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("2 of them found in the folder"),
        "{}",
        stderr(&output)
    );
    let again = std::fs::read_to_string(place.path("broken/rates.csv")).unwrap();
    assert_eq!(again.replacen(&marked, lines[1], 1), text);
    // Afresh, nothing is taken over.
    let output = run(&[study.as_slice(), &["-o", &broken, "--fresh"]].concat());
    assert!(output.status.success());
    assert_eq!(
        std::fs::read_to_string(place.path("broken/rates.csv")).unwrap(),
        text
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_the_runs_that_ended() {
    let place = Place::new();
    let (folder, csv) = (place.to("study"), place.path("study/angle.csv"));
    let study = ["experiment", "angle", "--threads", "1", "-o", &folder];
    let child = crate::common::program(&study)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let runs = || std::fs::read_to_string(&csv).map_or(0, |text| text.lines().count());
    while runs() < 5 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let kept = runs() - 1;
    assert!(kept >= 4 && stderr(&output).contains(&format!("{kept} of 1700 runs are kept")));
    // The first of the plan are there; a smaller plan finds them.
    let output = run(&[
        "experiment",
        "angle",
        "--quick",
        "--seeds",
        "1",
        "-o",
        &folder,
    ]);
    assert!(output.status.success());
    assert!(
        stderr(&output).contains("of them found in the folder"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn wrong_arguments_are_explained() {
    let place = Place::new();
    let unknown = run(&["experiment", "bounds", "-o", &place.to("x")]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        stderr(&unknown).contains("no study called \"bounds\"")
            && stderr(&unknown).contains("convergence")
    );
    let none = run(&["experiment", "bound", "--seeds", "0", "-o", &place.to("x")]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("--seeds"));
    let file = place.file("taken", "");
    let blocked = run(&["experiment", "bound", "-o", &format!("{file}/deeper")]);
    assert_eq!(blocked.status.code(), Some(1));
    assert!(
        stderr(&blocked).contains("taken") && stderr(&blocked).contains("-o"),
        "{}",
        stderr(&blocked)
    );
    assert_eq!(run(&["experiment"]).status.code(), Some(2));
}
