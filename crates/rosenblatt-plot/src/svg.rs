//! A small SVG writer: escaped text, numbers with few decimals, nothing that depends on the machine.

use crate::text;
use std::fmt::Write as _;

/// Escapes a text for element content and attribute values, in XML and in HTML.
///
/// Control characters that XML forbids become the replacement character.
///
/// ```
/// use rosenblatt_plot::escape;
/// assert_eq!(escape("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate with at most two decimals and no trailing zeros; far-off and non-finite values are
/// clamped, since renderers keep coordinates in single precision.
pub(crate) fn number(value: f64) -> String {
    let value = if value.is_nan() { 0.0 } else { value };
    let rounded = (value.clamp(-1e5, 1e5) * 100.0).round() / 100.0;
    // Adding zero turns -0 into 0.
    format!("{}", rounded + 0.0)
}

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Anchor {
    #[default]
    Start,
    Middle,
    End,
}

/// How a text is set.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Type<'a> {
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) anchor: Anchor,
    pub(crate) fill: &'a str,
    /// Degrees, turned about the anchor point; positive turns clockwise.
    pub(crate) turn: f64,
    /// Drawn on an outline in the colour of the paper, to stay legible over data.
    pub(crate) halo: bool,
}

/// One balanced piece of SVG under construction.
#[derive(Debug, Default)]
pub(crate) struct Piece(String);

impl Piece {
    pub(crate) fn new() -> Self {
        Piece::default()
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds markup that is already valid.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    pub(crate) fn open(&mut self, name: &str, attributes: &str) {
        let _ = write!(self.0, "<{name}{attributes}>");
    }

    pub(crate) fn close(&mut self, name: &str) {
        let _ = write!(self.0, "</{name}>");
    }

    /// An element without content. `attributes` starts with a space.
    pub(crate) fn element(&mut self, name: &str, attributes: &str) {
        let _ = write!(self.0, "<{name}{attributes}/>");
    }

    pub(crate) fn rect(&mut self, x: f64, y: f64, w: f64, h: f64, attributes: &str) {
        let (x, w) = if w < 0.0 { (x + w, -w) } else { (x, w) };
        let (y, h) = if h < 0.0 { (y + h, -h) } else { (y, h) };
        let _ = write!(
            self.0,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{attributes}/>",
            number(x),
            number(y),
            number(w),
            number(h)
        );
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), attributes: &str) {
        self.path(&path(&[from, to], false), attributes);
    }

    pub(crate) fn path(&mut self, d: &str, attributes: &str) {
        if !d.is_empty() {
            let _ = write!(self.0, "<path d=\"{d}\"{attributes}/>");
        }
    }

    /// One line of text with its baseline at `y`.
    pub(crate) fn text(&mut self, x: f64, y: f64, content: &str, face: Type<'_>) {
        if content.trim().is_empty() {
            return;
        }
        let (x, y) = (number(x), number(y));
        let _ = write!(self.0, "<text x=\"{x}\" y=\"{y}\"");
        let _ = write!(self.0, " font-size=\"{}\"", number(face.size));
        if face.bold {
            self.raw(" font-weight=\"bold\"");
        }
        match face.anchor {
            Anchor::Start => {}
            Anchor::Middle => self.raw(" text-anchor=\"middle\""),
            Anchor::End => self.raw(" text-anchor=\"end\""),
        }
        let _ = write!(self.0, " fill=\"{}\"", face.fill);
        if face.halo {
            self.raw(
                " stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
            );
        }
        if face.turn != 0.0 {
            let _ = write!(
                self.0,
                " transform=\"rotate({} {x} {y})\"",
                number(face.turn)
            );
        }
        let _ = write!(self.0, ">{}</text>", escape(content));
    }
}

/// The `d` of a path through points in pixels; a non-finite point starts a new stroke.
pub(crate) fn path(points: &[(f64, f64)], closed: bool) -> String {
    let mut d = String::new();
    let mut drawing = false;
    let mut last = (String::new(), String::new());
    for &(x, y) in points {
        if !(x.is_finite() && y.is_finite()) {
            drawing = false;
            continue;
        }
        let here = (number(x), number(y));
        if drawing && here == last {
            continue;
        }
        let _ = write!(
            d,
            "{}{} {}",
            if drawing { 'L' } else { 'M' },
            here.0,
            here.1
        );
        last = here;
        drawing = true;
    }
    if closed && !d.is_empty() {
        d.push('Z');
    }
    d
}

/// The height of a line of text with its leading.
pub(crate) fn leading(size: f64) -> f64 {
    (size * 1.3).round()
}

/// A cut of `content` no wider than `limit`.
pub(crate) fn fit(content: &str, size: f64, bold: bool, limit: f64) -> String {
    text::shorten(content, size, bold, limit)
}

/// A whole document around pieces.
pub(crate) fn document(
    width: f64,
    height: f64,
    title: &str,
    description: &str,
    body: &str,
) -> String {
    let (w, h) = (number(width), number(height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rosenblatt-plot\" role=\"img\" \
         width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, Arial, sans-serif\">\n"
    );
    if !title.is_empty() {
        let _ = writeln!(out, "<title>{}</title>", escape(title));
    }
    if !description.is_empty() {
        let _ = writeln!(out, "<desc>{}</desc>", escape(description));
    }
    let _ = writeln!(
        out,
        "<rect class=\"paper\" width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>"
    );
    out.push_str(body);
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_always_finite() {
        assert_eq!(number(1.0), "1");
        assert_eq!(number(-0.001), "0");
        assert_eq!(number(2.0 / 3.0), "0.67");
        assert_eq!(number(f64::NAN), "0");
        assert_eq!(number(f64::INFINITY), "100000");
    }

    #[test]
    fn a_gap_in_the_data_is_a_gap_in_the_path() {
        let points = [
            (0.0, 0.0),
            (1.0, 1.0),
            (f64::NAN, 0.0),
            (2.0, 2.0),
            (3.0, 3.0),
        ];
        assert_eq!(path(&points, false), "M0 0L1 1M2 2L3 3");
    }
}
