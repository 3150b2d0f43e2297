//! `label index:value index:value … # comment`, one row a line.

use super::lines::Lines;
use super::{Row, Stop, is_blank, shown};
use crate::certificate::Certificate;
use crate::number::{self, Decimal};
use std::io::Read;

pub(super) fn read<R: Read>(
    certificate: &Certificate,
    first_index: u64,
    lines: &mut Lines<'_, R>,
    row: &mut Row,
    visit: &mut impl FnMut(&Row) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut line = Vec::new();
    let mut features = Vec::new();
    while lines.next(&mut line)? {
        let rest = skip_blanks(&line);
        let (label, mut rest) = rest.split_at(token_length(rest));
        if label.is_empty() {
            continue; // nothing but a comment
        }
        row.start(certificate, lines.number);
        row.label(certificate, label)?;
        features.clear();
        let mut ascending = true;
        loop {
            rest = skip_blanks(rest);
            if at_end(rest) {
                break;
            }
            let Some((index, value, length)) = pair(rest) else {
                let (token, after) = rest.split_at(token_length(rest));
                if !token.starts_with(b"qid:") {
                    let reason = format!("{} is not index:value", shown(token));
                    return Err(row.flaw(reason).into());
                }
                rest = after;
                continue;
            };
            let feature = (index + 1).saturating_sub(first_index);
            match u32::try_from(feature) {
                Ok(known) if (1..=certificate.features).contains(&feature) => {
                    ascending &= features.last().is_none_or(|&last| last < known);
                    features.push(known);
                    row.push(known, value);
                }
                _ => return Err(row.flaw(format!("index {index} is out of range")).into()),
            }
            rest = &rest[length..];
        }
        if !ascending {
            features.sort_unstable();
            if let Some(pair) = features.windows(2).find(|pair| pair[0] == pair[1]) {
                let index = u64::from(pair[0]) + first_index - 1;
                return Err(row.flaw(format!("index {index} occurs twice")).into());
            }
        }
        row.finish(ascending);
        visit(row)?;
    }
    Ok(())
}

/// The pair `index:value` at the start, and its length; an index has at most 15 digits.
fn pair(text: &[u8]) -> Option<(u64, Decimal, usize)> {
    let (index, places) = number::leading_digits(text, 0);
    if !(1..=15).contains(&places) || text.get(places) != Some(&b':') {
        return None;
    }
    let (value, length) = number::leading_decimal(&text[places + 1..])?;
    let length = places + 1 + length;
    let rest = &text[length..];
    let whole = at_end(rest) || is_blank(rest[0]);
    whole.then_some((index.unsigned_abs(), value, length))
}

fn at_end(rest: &[u8]) -> bool {
    matches!(rest.first(), None | Some(b'\n' | b'#'))
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|&&byte| is_blank(byte)).count();
    &text[blanks..]
}

fn token_length(text: &[u8]) -> usize {
    let ends = |&byte: &u8| is_blank(byte) || matches!(byte, b'\n' | b'#');
    text.iter().position(ends).unwrap_or(text.len())
}
