//! Pages: text stays text, nothing is fetched, tables line up.

use proptest::prelude::*;
use rosenblatt_plot::html::{Page, Table};
use rosenblatt_plot::{Animation, Figure, Layer, Panel};

/// The page as XML: void elements closed, the doctype dropped.
fn as_xml(html: &str) -> String {
    html.lines()
        .filter(|l| !l.starts_with("<!DOCTYPE"))
        .map(|l| {
            if l.starts_with("<meta") {
                l.replace('>', "/>")
            } else {
                l.to_string()
            }
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn page(words: &str) -> Page {
    let figure = Figure::of(
        Panel::new()
            .title(words)
            .layer(Layer::line([(0.0, 1.0), (2.0, 3.0)])),
    );
    Page::new(words)
        .language("en")
        .contents()
        .heading(words)
        .heading(words)
        .subheading(words)
        .paragraph(words)
        .note(words)
        .list([words, "second"])
        .facts([(words, words)])
        .command(words)
        .table(
            &Table::new([words, "n"])
                .row([words, "1,200"])
                .row([words])
                .caption(words),
        )
        .figure(&figure)
        .figures([&figure, &figure])
        .animation(&Animation::new([figure.clone(), Figure::new()]))
        .details(Page::new(words).paragraph(words))
}

proptest! {
    #[test]
    fn any_text_stays_text(words in any::<String>()) {
        let html = page(&words).html();
        let xml = as_xml(&html);
        let document = roxmltree::Document::parse(&xml).map_err(|e| TestCaseError::fail(format!("{e}\n{xml}")))?;
        prop_assert!(document.descendants().all(|n| !n.has_tag_name("script")));
    }
}

#[test]
fn nothing_is_fetched_and_no_script_runs() {
    let html = page("plain <script>alert(1)</script>").html();
    let references: Vec<&str> = html
        .match_indices("http")
        .map(|(i, _)| &html[i..(i + 26).min(html.len())])
        .collect();
    assert!(
        references
            .iter()
            .all(|r| r.starts_with("http://www.w3.org/2000/svg") || r.starts_with("http-equiv")),
        "{references:?}"
    );
    for forbidden in ["<script", "<link", "<img", "@import", "url(", " src="] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn equal_headings_get_different_anchors() {
    let html = Page::new("t")
        .contents()
        .heading("Margins")
        .heading("Margins")
        .heading("¿?")
        .html();
    for id in ["margins", "margins-2", "section"] {
        assert!(
            html.contains(&format!("id=\"{id}\"")) && html.contains(&format!("href=\"#{id}\""))
        );
    }
}

#[test]
fn columns_of_numbers_stand_flush_right() {
    let table = Table::new(["learner", "errors", "rate"])
        .row(["last", "1,204", "12.5%"])
        .row(["voted", "–", "1.2×10⁻³"])
        .row(["3 layers", "7", "± 2"]);
    let html = Page::new("t").table(&table).html();
    assert!(html.contains("<td>last</td><td class=\"num\">1,204</td><td class=\"num\">12.5%</td>"));
    assert!(html.contains("<td>3 layers</td>"));
}
