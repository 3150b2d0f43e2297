//! One-file HTML pages: words, tables and figures, readable on a phone, on paper and in the dark,
//! with no script and no request to any network.
//!
//! ```
//! use rosenblatt_plot::{Figure, Layer, Panel, html::{Page, Table}};
//!
//! let figure = Figure::of(Panel::new().layer(Layer::line([(0.0, 1.0), (1.0, 0.5)])));
//! let table = Table::new(["learner", "errors"])
//!     .row(["averaged", "12"])
//!     .row(["voted", "11"])
//!     .caption("Errors on 1,000 held-out rows");
//! let page = Page::new("Which read-out?")
//!     .paragraph("Ten seeds on noisy rows.")
//!     .heading("What was measured")
//!     .table(&table)
//!     .figure(&figure)
//!     .command("rosenblatt experiment readouts");
//! let html = page.html();
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! ```

use crate::animation::Animation;
use crate::color::DARK;
use crate::figure::Figure;
use crate::svg::escape;
use std::fmt::Write as _;

/// A page under construction. Every text given to it is escaped.
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    language: String,
    body: String,
    contents: Vec<(String, String)>,
    show_contents: bool,
}

impl Page {
    /// A page with its title, which is also its first heading.
    pub fn new(title: impl Into<String>) -> Self {
        Page {
            title: title.into(),
            language: "en".to_string(),
            body: String::new(),
            contents: Vec::new(),
            show_contents: false,
        }
    }

    /// The language of the page as a tag such as `en` or `de`.
    #[must_use]
    pub fn language(mut self, tag: impl Into<String>) -> Self {
        self.language = tag.into();
        self
    }

    /// Lists the headings at the top, each a link.
    #[must_use]
    pub fn contents(mut self) -> Self {
        self.show_contents = true;
        self
    }

    /// A heading that starts a section.
    #[must_use]
    pub fn heading(mut self, text: impl AsRef<str>) -> Self {
        let id = self.free_id(text.as_ref());
        let _ = writeln!(self.body, "<h2 id=\"{id}\">{}</h2>", escape(text.as_ref()));
        self.contents.push((id, text.as_ref().to_string()));
        self
    }

    /// A heading inside a section.
    #[must_use]
    pub fn subheading(mut self, text: impl AsRef<str>) -> Self {
        let _ = writeln!(self.body, "<h3>{}</h3>", escape(text.as_ref()));
        self
    }

    /// A paragraph.
    #[must_use]
    pub fn paragraph(mut self, text: impl AsRef<str>) -> Self {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text.as_ref()));
        self
    }

    /// A paragraph set apart: a finding, or a warning.
    #[must_use]
    pub fn note(mut self, text: impl AsRef<str>) -> Self {
        let _ = writeln!(self.body, "<p class=\"note\">{}</p>", escape(text.as_ref()));
        self
    }

    /// A list with bullets.
    #[must_use]
    pub fn list<S: AsRef<str>>(mut self, items: impl IntoIterator<Item = S>) -> Self {
        self.body.push_str("<ul>");
        for item in items {
            let _ = write!(self.body, "<li>{}</li>", escape(item.as_ref()));
        }
        self.body.push_str("</ul>\n");
        self
    }

    /// Names and their values: the facts of a run.
    #[must_use]
    pub fn facts<K: AsRef<str>, V: AsRef<str>>(
        mut self,
        facts: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.body.push_str("<dl>");
        for (name, value) in facts {
            let (name, value) = (escape(name.as_ref()), escape(value.as_ref()));
            let _ = write!(self.body, "<div><dt>{name}</dt><dd>{value}</dd></div>");
        }
        self.body.push_str("</dl>\n");
        self
    }

    /// A command, or other text to copy as it stands.
    #[must_use]
    pub fn command(mut self, text: impl AsRef<str>) -> Self {
        let _ = writeln!(
            self.body,
            "<pre><code>{}</code></pre>",
            escape_lines(text.as_ref())
        );
        self
    }

    /// A table, which scrolls by itself where it is too wide.
    #[must_use]
    pub fn table(mut self, table: &Table) -> Self {
        self.body.push_str(&table.html());
        self
    }

    /// A figure; its legend stands below unless it was told where, since screens may be narrow.
    #[must_use]
    pub fn figure(mut self, figure: &Figure) -> Self {
        self.body.push_str(&framed(&figure.narrow()));
        self
    }

    /// Figures side by side where there is room.
    #[must_use]
    pub fn figures<'a>(mut self, figures: impl IntoIterator<Item = &'a Figure>) -> Self {
        self.body.push_str("<div class=\"row\">\n");
        for figure in figures {
            self.body.push_str(&framed(&figure.narrow()));
        }
        self.body.push_str("</div>\n");
        self
    }

    /// An animation.
    #[must_use]
    pub fn animation(mut self, animation: &Animation) -> Self {
        self.body.push_str(&framed(&animation.svg()));
        self
    }

    /// A part that opens when asked; its own title is the line to press. Printed open.
    #[must_use]
    pub fn details(mut self, part: Page) -> Self {
        let (summary, body) = (escape(&part.title), part.body);
        let _ = write!(
            self.body,
            "<details><summary>{summary}</summary>\n{body}</details>\n"
        );
        self
    }

    /// The whole page.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let mut out = String::new();
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
             <title>{title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n",
            escape(&self.language),
            dark_figures()
        );
        if self.show_contents && !self.contents.is_empty() {
            out.push_str("<nav><ul>");
            for (id, text) in &self.contents {
                let _ = write!(out, "<li><a href=\"#{id}\">{}</a></li>", escape(text));
            }
            out.push_str("</ul></nav>\n");
        }
        out.push_str(&self.body);
        out.push_str("</main>\n</body>\n</html>\n");
        out
    }

    /// An identifier made of a heading, unlike those already used.
    fn free_id(&self, text: &str) -> String {
        let mut id = String::new();
        for c in text.chars() {
            if c.is_ascii_alphanumeric() {
                id.push(c.to_ascii_lowercase());
            } else if !id.is_empty() && !id.ends_with('-') {
                id.push('-');
            }
        }
        let id = id.trim_end_matches('-');
        let id = if id.is_empty() { "section" } else { id };
        let taken = |id: &str| self.contents.iter().any(|c| c.0 == id);
        if !taken(id) {
            return id.to_string();
        }
        (2..)
            .map(|n| format!("{id}-{n}"))
            .find(|id| !taken(id))
            .unwrap_or_default()
    }
}

/// A table. Columns that hold only numbers stand flush right.
#[derive(Debug, Clone, Default)]
pub struct Table {
    caption: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with the names of its columns.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Table {
            header: header.into_iter().map(Into::into).collect(),
            ..Table::default()
        }
    }

    /// Adds a row; missing cells stay empty.
    #[must_use]
    pub fn row<S: Into<String>>(mut self, cells: impl IntoIterator<Item = S>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// Adds many rows.
    #[must_use]
    pub fn rows<R, S>(mut self, rows: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item = S>,
        S: Into<String>,
    {
        for row in rows {
            self = self.row(row);
        }
        self
    }

    /// The words over the table.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    fn html(&self) -> String {
        let columns = self
            .rows
            .iter()
            .map(Vec::len)
            .max()
            .unwrap_or(0)
            .max(self.header.len());
        let cell = |row: &[String], i: usize| row.get(i).cloned().unwrap_or_default();
        let right: Vec<bool> = (0..columns)
            .map(|i| {
                let mut filled = self
                    .rows
                    .iter()
                    .map(|r| cell(r, i))
                    .filter(|c| !c.is_empty())
                    .peekable();
                filled.peek().is_some() && filled.all(|c| is_number(&c))
            })
            .collect();
        let class = |i: usize| if right[i] { " class=\"num\"" } else { "" };
        // The frame takes the focus, so that a keyboard can scroll it.
        let mut out = String::from("<div class=\"scroll\" tabindex=\"0\"><table>\n");
        if !self.caption.is_empty() {
            let _ = writeln!(out, "<caption>{}</caption>", escape(&self.caption));
        }
        out.push_str("<thead><tr>");
        for i in 0..columns {
            let _ = write!(
                out,
                "<th scope=\"col\"{}>{}</th>",
                class(i),
                escape(&cell(&self.header, i))
            );
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for i in 0..columns {
                let _ = write!(out, "<td{}>{}</td>", class(i), escape(&cell(row, i)));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
        out
    }
}

fn is_number(text: &str) -> bool {
    let first = text.trim_start_matches(['−', '-', '+', '±', '<', '≤', '≥', '>', '~', '≈', ' ']);
    first.starts_with(|c: char| c.is_ascii_digit())
        && first
            .chars()
            .all(|c| c.is_ascii_digit() || ",.eE+-−±×%⁻⁰¹²³⁴⁵⁶⁷⁸⁹ [](){}–:".contains(c))
        || matches!(text, "–" | "—" | "∞" | "NaN")
}

/// A drawing in its frame. It shrinks with the screen as long as its words stay legible, to seven
/// tenths; beyond that the frame scrolls.
fn framed(svg: &str) -> String {
    let width: f64 = svg
        .split_once(" width=\"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .and_then(|(width, _)| width.parse().ok())
        .unwrap_or(0.0);
    let least = (width * 0.7).round();
    format!(
        "<figure>\n{}</figure>\n",
        svg.replacen("<svg ", &format!("<svg style=\"min-width:{least}px\" "), 1)
    )
}

/// Escapes text in which line breaks count.
fn escape_lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// Rules that turn the colours of figures for a dark page.
fn dark_figures() -> String {
    let mut out = String::from(
        "@media screen and (prefers-color-scheme: dark){\n.rosenblatt-plot .paper{fill:#14171b}\n",
    );
    for (light, dark) in DARK {
        let _ = writeln!(
            out,
            ".rosenblatt-plot [fill=\"{light}\"]{{fill:{dark}}}.rosenblatt-plot [stroke=\"{light}\"]{{stroke:{dark}}}"
        );
    }
    out.push_str(".rosenblatt-plot [stroke=\"#ffffff\"]{stroke:#14171b}\n}\n");
    out
}

const STYLE: &str = "\
:root{--paper:#ffffff;--ink:#1f2328;--muted:#59636e;--line:#d9dee4;--soft:#f5f7f9;--accent:#0072b2}
@media screen and (prefers-color-scheme: dark){:root{--paper:#14171b;--ink:#e6e9ed;--muted:#a3adb8;--line:#363c44;--soft:#1d2127;--accent:#4aa8e0}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,'Segoe UI',Helvetica,Arial,sans-serif}
main{max-width:62rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.8rem;line-height:1.2;margin:.5rem 0 1rem}
h2{font-size:1.3rem;margin:2.2rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.4rem 0 .4rem}
p,ul{max-width:44rem}
a{color:var(--accent)}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;list-style:none}
.note{border-left:4px solid var(--accent);background:var(--soft);padding:.6rem .9rem}
figure{margin:1.2rem 0;overflow-x:auto}
figure>svg{display:block;max-width:100%;height:auto}
.row{display:flex;flex-wrap:wrap;gap:0 1.2rem;align-items:flex-start}
.row>figure{flex:0 1 auto;max-width:100%}
.scroll{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--muted);padding-bottom:.4rem}
th,td{padding:.3rem .8rem;border-bottom:1px solid var(--line);text-align:left;white-space:nowrap}
td:not(.num){white-space:normal;min-width:5rem}
thead th{border-bottom:2px solid var(--ink)}
.num{text-align:right}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.6rem 1.2rem;margin:1rem 0}
dt{color:var(--muted);font-size:.85rem}
dd{margin:0;font-weight:600;overflow-wrap:anywhere}
pre{background:var(--soft);border:1px solid var(--line);padding:.7rem .9rem;overflow-x:auto}
code{font:.9em/1.45 ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}
summary{cursor:pointer;margin:1rem 0 .4rem;font-weight:600}
@media print{main{max-width:none;padding:0}figure,tr,.note{break-inside:avoid}h2,h3{break-after:avoid}.scroll,pre{overflow:visible}pre{white-space:pre-wrap}details::details-content{content-visibility:visible}nav{display:none}}
";
