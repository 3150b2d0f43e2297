//! Plain text tables.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a column's cells stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Rows of cells in aligned columns, two blanks apart, each line indented by `indent`.
pub fn columns(rows: &[Vec<String>], align: &[Align], indent: usize) -> String {
    let width = |c: usize| {
        rows.iter()
            .filter_map(|r| r.get(c))
            .map(|cell| visible(cell))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..align.len()).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (c, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[c].saturating_sub(visible(cell)));
            if c > 0 {
                line.push_str("  ");
            }
            match align[c] {
                Align::Left => {
                    line.push_str(cell);
                    line.push_str(&pad);
                }
                Align::Right => {
                    line.push_str(&pad);
                    line.push_str(cell);
                }
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The columns of a terminal that a text takes: some characters take two, some none.
fn visible(text: &str) -> usize {
    text.width()
}

/// A name short enough for a column.
pub fn clipped(text: &str, most: usize) -> String {
    let clean = crate::output::shown(text)
        .replace('\n', "\\n")
        .replace('\t', "\\t");
    if visible(&clean) <= most {
        return clean;
    }
    let mut left = most.saturating_sub(1);
    let fits = |c: &char| {
        let rest = left.checked_sub(c.width().unwrap_or(0));
        rest.inspect(|&rest| left = rest).is_some()
    };
    let mut short: String = clean.chars().take_while(fits).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = vec![
            vec!["a".into(), "10".into()],
            vec!["été".into(), "2".into()],
            vec!["犬".into(), "3".into()],
        ];
        assert_eq!(
            columns(&rows, &[Align::Left, Align::Right], 1),
            " a    10\n été   2\n 犬    3\n"
        );
    }

    #[test]
    fn long_names_are_clipped() {
        assert_eq!(clipped("abcdef", 4), "abc…");
        assert_eq!(clipped("ab\nc", 5), "ab\\nc");
        assert_eq!(clipped("犬猫鳥", 6), "犬猫鳥");
        assert_eq!(clipped("犬猫鳥", 5), "犬猫…");
        assert_eq!(clipped("犬猫鳥", 4), "犬…");
    }
}
