//! Reports and figures from the outside.

use crate::common::{Place, ok, penguins, run, stderr};

/// A page must stand alone: no script, no request, no number that is none.
fn assert_self_contained(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 5_000_000);
    assert!(!page.contains("<script") && !page.contains("NaN"));
    let addresses = page.matches("http://").count() + page.matches("https://").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/").count());
}

/// What was asked for by name is said all the same.
#[test]
fn a_model_saved_quietly_is_the_whole_result() {
    let place = Place::new();
    let penguins = penguins();
    let saved = |name: &str, more: &[&str]| {
        let model = place.to(name);
        let train = ["train", &penguins, "--label", "species", "-o", &model];
        let said = ok(&[&train, more].concat());
        (said, std::fs::read(&model).unwrap())
    };
    let (report, model) = saved("loud.rbm", &[]);
    assert!(report.contains("stopped"));
    assert_eq!(saved("quiet.rbm", &["--quiet"]), (String::new(), model));
    let held = saved("held.rbm", &["--quiet", "--validate", "0.25"]).0;
    assert_eq!(held, "");
    for asked in [&["--json"][..], &["--cv", "3"]] {
        let said = saved("asked.rbm", &[&["--quiet"], asked].concat()).0;
        assert!(said.contains("stop"), "{asked:?}: {said}");
    }
    // Without a file for the model the report is all there is.
    let said = ok(&["train", &penguins, "--label", "species", "--quiet"]);
    assert!(said.contains("stopped"));
}

#[test]
fn a_run_is_shown_on_one_page() {
    let place = Place::new();
    let (page, model) = (place.to("page.html"), place.to("model.rbm"));
    let penguins = penguins();
    let train = [
        "train",
        &penguins,
        "--label",
        "species",
        "--validate",
        "0.25",
        "--seed",
        "1",
        "-o",
        &model,
        "--report",
        &page,
    ];
    ok(&train);
    let html = std::fs::read_to_string(&page).unwrap();
    assert_self_contained(&html);
    for part in [
        "Trained on penguins.csv",
        "The accuracy on 86 examples held out of training is 97.67 %",
        "bill_length_mm",
        "Mistakes against the bound",
        "bound on updates",
        "Confusion matrix",
        "Distribution of margins",
        "Largest weights",
        "Hardest examples",
    ] {
        assert!(html.contains(part), "{part}");
    }
    // Three classes have no ROC curve, and seven columns no regions.
    assert!(!html.contains("ROC") && !html.contains("Decision regions"));
    // The same command gives the same page but for the clock.
    ok(&train);
    let strip = |text: &str| {
        let clock = text.find(" reading, ").unwrap();
        let start = text[..clock].rfind('>').unwrap();
        let end = clock + text[clock..].find('<').unwrap();
        format!("{}{}", &text[..start], &text[end..])
    };
    assert_eq!(
        strip(&std::fs::read_to_string(&page).unwrap()),
        strip(&html)
    );

    ok(&["test", &model, &penguins, "--report", &page]);
    let html = std::fs::read_to_string(&page).unwrap();
    assert_self_contained(&html);
    assert!(html.contains("On 344 examples the accuracy is") && html.contains("Hardest examples"));
}

#[test]
fn two_classes_have_curves_and_two_features_have_regions() {
    let place = Place::new();
    let (data, page) = (place.to("moons.csv"), place.to("page.html"));
    ok(&["generate", "moons", "--seed", "3", "-n", "200", "-o", &data]);
    ok(&["train", &data, "--kernel", "rbf:2", "--report", &page]);
    let html = std::fs::read_to_string(&page).unwrap();
    assert_self_contained(&html);
    assert!(html.contains("ROC, area") && html.contains("Decision regions"));
    assert!(html.contains("The accuracy on new examples is unknown"));
}

#[test]
fn the_hardest_rows_are_named_by_their_place_in_the_file() {
    let place = Place::new();
    // Row 7 lies deep among the others.
    let mut text = String::from("x,y,label\n");
    for i in 1..=20 {
        let x = if i == 7 || i > 10 { 5.0 } else { -5.0 };
        let label = if i <= 10 { "a" } else { "b" };
        text.push_str(&format!("{},{},{label}\n", x + 0.01 * f64::from(i), i % 3));
    }
    let (data, page) = (place.file("rows.csv", text), place.to("page.html"));
    ok(&["train", &data, "--epochs", "5", "--report", &page]);
    let html = std::fs::read_to_string(&page).unwrap();
    let table = &html[html.find("Hardest examples</h2>").unwrap()..];
    let first = &table[table.find("<tbody>").unwrap()..];
    let first = &first[..first.find("</tr>").unwrap()];
    assert!(
        first.contains(">7<") && first.contains(">a<") && first.contains(">b<"),
        "{first}"
    );
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_the_work() {
    let place = Place::new();
    let data = place.file("and.csv", crate::common::AND);
    let output = run(&["train", &data, "--report", &place.to("no/such/page.html")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("make the folder first"),
        "{}",
        stderr(&output)
    );
    let output = run(&["train", &data, "--report", &data]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(&data).unwrap(), crate::common::AND);
}

#[test]
fn every_figure_is_drawn_and_the_ones_in_the_guide_are_these() {
    let place = Place::new();
    ok(&["figure", "all", "-o", &place.to("figures")]);
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/figures");
    let mut drawn = 0;
    for entry in std::fs::read_dir(place.path("figures")).unwrap() {
        let path = entry.unwrap().path();
        let svg = std::fs::read_to_string(&path).unwrap();
        let committed = std::fs::read_to_string(guide.join(path.file_name().unwrap())).unwrap();
        assert_eq!(svg, committed, "{}", path.display());
        drawn += 1;
    }
    assert_eq!(drawn, 7);
    let (and, moving) = (place.to("and.csv"), place.to("and.svg"));
    ok(&["generate", "and", "-o", &and]);
    ok(&["trace", &and, "--plot", &moving]);
    let committed = std::fs::read_to_string(guide.join("and.svg")).unwrap();
    assert_eq!(std::fs::read_to_string(&moving).unwrap(), committed);
    let output = run(&["figure", "hull", "-o", &place.to("x.svg")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("hulls"), "{}", stderr(&output));
}
