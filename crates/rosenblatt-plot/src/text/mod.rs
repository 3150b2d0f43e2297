//! How wide a text is, where to break it, where to cut it.
//!
//! Widths come from a table of the embedded font, so layout is the same with and without the `png`
//! feature and on every machine. In an SVG shown with another font the text is about as wide or
//! narrower: DejaVu Sans and Verdana are the widest of the usual sans-serif families.

mod widths;

use widths::RUNS;

const UNITS_PER_EM: f64 = 2048.0;

/// The advance width of a text at a font size, in the same unit as the size.
///
/// A character outside the table counts as one em, enough for ideographs and emoji.
///
/// ```
/// use rosenblatt_plot::text::width;
/// assert!(width("mmm", 12.0, false) > width("iii", 12.0, false));
/// assert!(width("margin", 12.0, true) > width("margin", 12.0, false));
/// assert_eq!(width("", 12.0, false), 0.0);
/// ```
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    text.chars().map(|c| advance(c, bold)).sum::<f64>() / UNITS_PER_EM * size
}

fn advance(c: char, bold: bool) -> f64 {
    let code = u32::from(c);
    let after = RUNS.partition_point(|run| run.0 <= code);
    let known = after.checked_sub(1).and_then(|i| {
        let (first, regular, heavy) = RUNS[i];
        let table = if bold { heavy } else { regular };
        table.get((code - first) as usize)
    });
    known.map_or(UNITS_PER_EM, |&w| f64::from(w))
}

/// Breaks a text at spaces into lines no wider than `limit`; a longer word stands on its own line,
/// cut to the limit. A newline always breaks.
///
/// ```
/// use rosenblatt_plot::text::wrap;
/// assert_eq!(wrap("one two three", 12.0, false, 60.0), ["one two", "three"]);
/// ```
pub fn wrap(text: &str, size: f64, bold: bool, limit: f64) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let longer = if line.is_empty() {
                word.to_string()
            } else {
                format!("{line} {word}")
            };
            if width(&longer, size, bold) <= limit || line.is_empty() {
                line = longer;
            } else {
                lines.push(shorten(&line, size, bold, limit));
                line = word.to_string();
            }
        }
        lines.push(shorten(&line, size, bold, limit));
    }
    lines
}

/// Cuts a text to `limit`, ending it with an ellipsis when something is lost.
///
/// ```
/// use rosenblatt_plot::text::shorten;
/// assert_eq!(shorten("capital-gain", 12.0, false, 500.0), "capital-gain");
/// assert!(shorten("capital-gain", 12.0, false, 50.0).ends_with('…'));
/// ```
pub fn shorten(text: &str, size: f64, bold: bool, limit: f64) -> String {
    if width(text, size, bold) <= limit {
        return text.to_string();
    }
    let room = limit - width("…", size, bold);
    let mut used = 0.0;
    let mut cut = String::new();
    for c in text.chars() {
        used += advance(c, bold) / UNITS_PER_EM * size;
        if used > room {
            break;
        }
        cut.push(c);
    }
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_equals_the_embedded_fonts() {
        let files: [(&[u8], bool); 2] = [
            (include_bytes!("../../font/DejaVuSans-subset.ttf"), false),
            (
                include_bytes!("../../font/DejaVuSans-Bold-subset.ttf"),
                true,
            ),
        ];
        for (bytes, bold) in files {
            let face = ttf_parser::Face::parse(bytes, 0).unwrap();
            assert_eq!(f64::from(face.units_per_em()), UNITS_PER_EM);
            let mut known = 0;
            for c in (0..0xFFFF).filter_map(char::from_u32) {
                let Some(glyph) = face.glyph_index(c) else {
                    continue;
                };
                known += 1;
                let advance_in_file = f64::from(face.glyph_hor_advance(glyph).unwrap());
                assert_eq!(advance(c, bold), advance_in_file, "{c:?}");
            }
            let listed: usize = RUNS.iter().map(|run| run.1.len()).sum();
            assert_eq!(known, listed);
        }
    }

    #[test]
    fn wrapped_lines_fit_and_lose_no_short_word() {
        let text = "mistakes of the averaged perceptron against passes over noisy rows";
        for limit in [80.0, 120.0, 300.0] {
            let lines = wrap(text, 12.0, false, limit);
            assert!(lines.iter().all(|l| width(l, 12.0, false) <= limit));
            assert_eq!(lines.join(" "), text);
        }
    }
}
