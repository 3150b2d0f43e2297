//! What a table is, told from its first lines: the delimiter, and whether there is a header.

use std::borrow::Cow;

use super::delimited::{Delimiter, Dialect, count_cells, next_cell, next_record};
use super::number;

/// Cells that are enough to look at, if they are those of many records.
const ENOUGH_CELLS: usize = 1 << 13;
const MANY_RECORDS: usize = 100;

/// The cells of a record as texts.
pub(crate) type Record<'a> = Vec<Cow<'a, [u8]>>;

/// The first records of `data`, at most `limit`, fewer if they have many cells; faulty quotes end
/// the list.
pub(crate) fn sample_records<'a>(
    data: &'a [u8],
    dialect: &Dialect,
    limit: usize,
) -> Vec<Record<'a>> {
    let mut records = Vec::new();
    let (mut at, mut looked_at) = (0, 0);
    while let Some(start) = next_record(data, at, dialect) {
        at = start;
        let mut cells = Vec::new();
        loop {
            match next_cell(data, at, dialect) {
                Ok(cell) => {
                    cells.push(cell.bytes(data));
                    at = cell.next;
                    if cell.last {
                        break;
                    }
                }
                Err(_) => return records,
            }
        }
        looked_at += cells.len();
        records.push(cells);
        let enough = looked_at >= ENOUGH_CELLS && records.len() >= MANY_RECORDS;
        if enough || records.len() == limit {
            break;
        }
    }
    records
}

/// The delimiter that cuts most of the first records into the same number of cells.
pub(crate) fn sniff(data: &[u8], quoting: bool, comment: Option<&[u8]>) -> Option<Delimiter> {
    let candidates = [
        Delimiter::Byte(b','),
        Delimiter::Byte(b'\t'),
        Delimiter::Byte(b';'),
        Delimiter::Byte(b'|'),
        Delimiter::Blanks,
    ];
    let mut best: Option<(f64, Delimiter)> = None;
    for delimiter in candidates {
        let dialect = Dialect {
            delimiter,
            quoting,
            comment: comment.map(<[u8]>::to_vec),
        };
        let mut widths = Vec::new();
        let mut at = 0;
        while let Some(start) = next_record(data, at, &dialect) {
            let (width, next) = count_cells(data, start, &dialect);
            widths.push(width);
            at = next;
            if widths.len() == 100 {
                break;
            }
        }
        let mut sorted = widths.clone();
        sorted.sort_unstable();
        let Some(&usual) = sorted.get(sorted.len() / 2) else {
            continue;
        };
        if usual < 2 {
            continue;
        }
        let agreeing = widths.iter().filter(|&&w| w == usual).count();
        let share = agreeing as f64 / widths.len() as f64;
        if best.is_none_or(|(other, _)| share > other) {
            best = Some((share, delimiter));
        }
    }
    best.filter(|(share, _)| *share > 0.5).map(|(_, d)| d)
}

/// Texts that stand for a value that is not there.
#[inline]
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    matches!(cell, b"" | b"?" | b"NA" | b"NaN" | b"nan")
}

/// The width that half of these records or more reach.
pub(crate) fn usual_width(records: &[Record<'_>]) -> Option<usize> {
    let mut widths: Vec<usize> = records.iter().map(Vec::len).collect();
    widths.sort_unstable();
    widths.get(widths.len() / 2).copied()
}

/// Names that a label column goes by.
pub(crate) fn names_the_label(cell: &[u8]) -> bool {
    ["label", "class", "target", "y"]
        .iter()
        .any(|n| cell.eq_ignore_ascii_case(n.as_bytes()))
}

/// Whether the first of these records names the columns of the others.
pub(crate) fn looks_like_header(records: &[Record<'_>]) -> bool {
    let Some((first, rest)) = records.split_first() else {
        return false;
    };
    // A first line of another width is a preamble at best; only the user can say so.
    if usual_width(rest) != Some(first.len()) {
        return false;
    }
    let numeric = |cell: &[u8]| number::whole::<f64>(cell).is_some();
    let counts_from = |start: usize| {
        first
            .iter()
            .enumerate()
            .all(|(i, c)| **c == *(i + start).to_string().as_bytes())
    };
    // The plain numbering that data frames write out when nobody named the columns.
    if first.len() >= 3 && counts_from(0) && rest.iter().any(|r| r != first) {
        return true;
    }
    if first.iter().any(|c| names_the_label(c)) {
        return true;
    }
    if stands_apart(first, rest) {
        return true;
    }
    first.iter().enumerate().any(|(i, cell)| {
        let mut below = rest
            .iter()
            .filter_map(|r| r.get(i))
            .filter(|c| !is_missing(c))
            .peekable();
        !numeric(cell) && !is_missing(cell) && below.peek().is_some() && below.all(|c| numeric(c))
    })
}

/// Whether no cell of the first record is a value of its column: every column whose values
/// repeat lacks it, and there is such a column.
fn stands_apart(first: &Record<'_>, rest: &[Record<'_>]) -> bool {
    const ENOUGH: usize = 8;
    let name = |cell: &Cow<'_, [u8]>| number::whole::<f64>(cell).is_none() && !is_missing(cell);
    let distinct: std::collections::HashSet<&[u8]> = first.iter().map(Cow::as_ref).collect();
    if rest.len() < ENOUGH || distinct.len() < first.len() || !first.iter().all(name) {
        return false;
    }
    let mut repeating = 0;
    for (i, cell) in first.iter().enumerate() {
        let below: Vec<&[u8]> = rest
            .iter()
            .filter_map(|r| r.get(i))
            .map(Cow::as_ref)
            .collect();
        let values: std::collections::HashSet<&[u8]> = below.iter().copied().collect();
        if values.len() * 4 <= below.len() {
            if values.contains(cell.as_ref()) {
                return false;
            }
            repeating += 1;
        }
    }
    repeating > 0
}

#[cfg(test)]
mod tests {
    use super::super::delimited::tests::dialect;
    use super::*;

    #[test]
    fn a_first_record_that_stands_apart_is_a_header() {
        let comma = dialect(Delimiter::Byte(b','));
        let header =
            |text: &str| looks_like_header(&sample_records(text.as_bytes(), &comma, usize::MAX));
        let reviews: String = (0..12)
            .map(|i| format!("words number {i},{}\n", ["good", "bad"][i % 2]))
            .collect();
        assert!(header(&format!("review,sentiment\n{reviews}")));
        assert!(!header(&format!("some other words,good\n{reviews}")));
        assert!(!header(&reviews));
    }

    #[test]
    fn the_delimiter_is_found() {
        let find = |t: &str| sniff(t.as_bytes(), true, None);
        assert_eq!(find("1,2\n3,4\n"), Some(Delimiter::Byte(b',')));
        assert_eq!(find("a;b, c\nd;e\n"), Some(Delimiter::Byte(b';')));
        assert_eq!(find("1 2  3\n 4 5 6\n"), Some(Delimiter::Blanks));
        assert_eq!(
            find("ham\tGo, now\nspam\tcall, now, or\n"),
            Some(Delimiter::Byte(b'\t'))
        );
        assert_eq!(find("a|b\nc|d\n"), Some(Delimiter::Byte(b'|')));
        assert_eq!(find("1\n2\n"), None);
    }

    #[test]
    fn headers_are_told_from_data() {
        let header = |t: &str| {
            looks_like_header(&sample_records(
                t.as_bytes(),
                &dialect(Delimiter::Byte(b',')),
                100,
            ))
        };
        assert!(header("a,b\n1,x\n2,y\n"));
        assert!(header("text,class\nfoo,bar\n"));
        assert!(header("0,1,2\n1,5,6\n"));
        assert!(header("150,4,setosa\n5.1,3.5,0\n"));
        assert!(!header("39,State-gov,<=50K\n50,Private,>50K\n"));
        assert!(!header("ham,hello there\nspam,win\n"));
        assert!(!header("1,2,3\n4,5,6\n"));
        assert!(!header("a,b\n"));
        assert!(!header("preamble\n1,2\n3,4\n"));
        assert!(!header("?,1\n2,3\n"));
    }
}
