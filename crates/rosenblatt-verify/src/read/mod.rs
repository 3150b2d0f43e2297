//! From the bytes of a file to rows of exact numbers.

mod libsvm;
mod lines;
mod row;
mod table;

pub(crate) use row::Row;

use crate::budget::Budget;
use crate::certificate::{Certificate, Format};
use crate::outcome::{Flaw, Question};
use lines::Lines;
use std::io::{self, Read};

/// Why reading stops before the end.
pub(crate) enum Stop {
    /// The data do not come.
    Io(io::Error),
    /// The data are not what the certificate says.
    Flaw(Flaw),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Io(error)
    }
}

impl From<Flaw> for Stop {
    fn from(flaw: Flaw) -> Self {
        Stop::Flaw(flaw)
    }
}

/// Opens a file of the data by its place in the certificate's list.
pub(crate) type Open<'o, R> = &'o mut dyn FnMut(usize) -> io::Result<R>;

/// Lets every row of the data pass before `visit`, in order, and checks that the data are
/// those the certificate speaks of: the hash of each file and the number of rows. A wrong hash
/// is said before anything that a row may have against the certificate. What was read beside
/// rows is noted in `question`.
pub(crate) fn each_row<R: Read>(
    certificate: &Certificate,
    budget: Budget,
    open: Open<'_, R>,
    question: &mut Question,
    mut visit: impl FnMut(&Row) -> Result<(), Flaw>,
) -> Result<(), Stop> {
    let mut in_time = |row: &Row| {
        budget.require_time()?;
        Ok(visit(row)?)
    };
    let mut row = Row::default();
    let mut comments = 0;
    let mut result = Ok(());
    for (place, file) in certificate.files.iter().enumerate() {
        let mut lines = Lines::new(open(place)?, &certificate.comment);
        row.file = match certificate.files.len() {
            1 => None,
            _ => Some(place as u64 + 1),
        };
        let names = &mut question.header;
        // After a row that does not fit, the rest is read for the hashes.
        if result.is_ok() {
            result = match &certificate.format {
                Format::Libsvm { first_index } => {
                    let first = *first_index;
                    libsvm::read(certificate, first, &mut lines, &mut row, &mut in_time)
                }
                Format::Table(table) => table::read(
                    certificate,
                    table,
                    &mut lines,
                    names,
                    &mut row,
                    &mut in_time,
                ),
            };
        }
        if let Err(Stop::Io(_)) = result {
            return result;
        }
        comments += lines.comments;
        if lines.sha256()? != file.sha256 {
            let reason = match &file.name {
                None => {
                    "the SHA-256 of the data is another: the certificate speaks of another file"
                        .into()
                }
                Some(name) => format!(
                    "the SHA-256 of file {} is another than that of {}",
                    place + 1,
                    shown(name.as_bytes())
                ),
            };
            return Err(Flaw::new(reason).into());
        }
    }
    result?;
    question.skipped = Some(comments);
    if row.number != certificate.rows {
        let (found, said) = (row.number, certificate.rows);
        let reason = format!("the data have {found} rows, the certificate speaks of {said}");
        return Err(Flaw::new(reason).into());
    }
    Ok(())
}

/// Blanks around cells and between tokens. A carriage return is one, so that lines may end
/// either way.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Text of the file as a message can show it.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    format!("\"{short}\"")
}
