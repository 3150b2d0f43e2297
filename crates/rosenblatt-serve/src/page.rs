//! The page at `/`: the models, their recent error curves, what they learned last.

use std::fmt::Write as _;
use std::time::SystemTime;

use crate::app::App;
use crate::learner::{Learner, Recent, WINDOW};
use crate::model::Served;

const STYLE: &str = ":root{color-scheme:light dark;--line:#8884;--ink:#2563eb;--bad:#b91c1c}\
@media(prefers-color-scheme:dark){:root{--ink:#7aa2ff;--bad:#f87171}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:0 auto;padding:1rem}\
h1{font-size:1.3rem}h2{font-size:1.1rem;margin-top:2rem;overflow-wrap:anywhere}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.5rem 0}\
dt{opacity:.7}dd{margin:0;overflow-wrap:anywhere}\
svg{width:100%;height:auto;display:block}\
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}\
th,td{text-align:left;padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line)}\
td.n{font-variant-numeric:tabular-nums}.bad{color:var(--bad)}";

/// A text in a page.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// The page.
pub fn page(app: &App) -> String {
    let mut out = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=\"refresh\" content=\"10\"><title>Rosenblatt</title><style>",
    );
    out.push_str(STYLE);
    out.push_str("</style><h1>Rosenblatt</h1>");
    for served in app.models.load().values() {
        model(served, &mut out);
    }
    out
}

fn model(served: &Served, out: &mut String) {
    let published = served.published.load();
    let model = &published.model;
    let name = escaped(&served.name);
    let _ = write!(out, "<h2>{name}</h2><dl>");
    let mut fact = |what: &str, value: &str| {
        let _ = write!(out, "<dt>{what}</dt><dd>{}</dd>", escaped(value));
    };
    fact("learner", model.options.learner.name());
    fact("features", &served.features.to_string());
    let classes = model.classes.names();
    let more = classes.len().saturating_sub(20);
    let mut names = classes[..classes.len() - more].join(", ");
    if more > 0 {
        let _ = write!(names, " and {more} more");
    }
    fact("classes", &names);
    fact("rows predicted", &served.predicted.get().to_string());
    match &served.learner {
        None => {
            fact("learns", "no");
            out.push_str("</dl>");
        }
        Some(learner) => {
            fact("examples learned", &published.sequence.to_string());
            fact("sync", &learner.sync.to_string());
            out.push_str("</dl>");
            learning(learner, out);
        }
    }
}

fn learning(learner: &Learner, out: &mut String) {
    if let Some(why) = learner.failure() {
        let _ = write!(out, "<p class=\"bad\">Learns no more: {}</p>", escaped(why));
    }
    learner.recent(|recent| {
        if recent.examples == 0 {
            out.push_str("<p>No example was learned since the server started.</p>");
            return;
        }
        let _ = write!(
            out,
            "<p>{} mistakes in {} examples since the server started; {:.1} % of the last {}.</p>",
            recent.mistakes,
            recent.examples,
            100.0 * recent.error(),
            recent.examples.min(WINDOW as u64),
        );
        curve(recent, out);
        out.push_str(
            "<div class=\"scroll\"><table><tr><th>example<th>predicted<th>label<th>ago</tr>",
        );
        for last in &recent.last {
            let ago = SystemTime::now()
                .duration_since(last.at)
                .unwrap_or_default();
            let class = if last.predicted == last.label {
                ""
            } else {
                " class=\"bad\""
            };
            let _ = write!(
                out,
                "<tr{class}><td class=\"n\">{}<td>{}<td>{}<td class=\"n\">{} s</tr>",
                last.sequence,
                escaped(&last.predicted),
                escaped(&last.label),
                ago.as_secs()
            );
        }
        out.push_str("</table></div>");
    });
}

/// The share of mistakes among recent examples, over the examples.
fn curve(recent: &Recent, out: &mut String) {
    let (Some(&(first, _)), Some(&(last, _))) = (recent.curve.front(), recent.curve.back()) else {
        return;
    };
    let highest = recent
        .curve
        .iter()
        .fold(0.01, |most: f64, point| most.max(point.1));
    let span = (last - first).max(1) as f64;
    let mut points = String::new();
    for &(sequence, error) in &recent.curve {
        let x = 50.0 + 540.0 * (sequence - first) as f64 / span;
        let _ = write!(points, "{x:.1},{:.1} ", 150.0 - 130.0 * error / highest);
    }
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 600 180\" role=\"img\" aria-label=\"share of mistakes among the last examples\">\
         <g stroke=\"currentColor\" stroke-opacity=\".3\"><path d=\"M50 20V150H590\" fill=\"none\"/></g>\
         <polyline points=\"{points}\" fill=\"none\" stroke=\"var(--ink)\" stroke-width=\"2\"/>\
         <g fill=\"currentColor\" font-size=\"14\"><text x=\"44\" y=\"26\" text-anchor=\"end\">{:.1} %</text>\
         <text x=\"44\" y=\"154\" text-anchor=\"end\">0</text>\
         <text x=\"50\" y=\"172\">{first}</text><text x=\"590\" y=\"172\" text-anchor=\"end\">{last}</text></g></svg>",
        100.0 * highest
    );
}
