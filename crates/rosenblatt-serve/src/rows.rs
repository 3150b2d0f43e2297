//! From the body of a request to rows as the model takes them, by the reader that `predict` uses.

use rosenblatt::data::Matrix;
use rosenblatt::read::{Format, LabelFound};

use crate::json;
use crate::model::{Kind, Served};
use crate::problem::{Answer, Problem};

/// What messages call the body of a request.
const BODY: &str = "body";

/// Rows of a request, prepared.
#[derive(Debug)]
pub struct Rows {
    /// Their features.
    pub matrix: Matrix,
    /// Their labels, where the body has any.
    pub labels: Option<Vec<LabelFound>>,
}

/// Prepared values beyond this may make weights grow beyond what a number can hold.
const LARGEST: f64 = 1e100;

impl Rows {
    /// Refuses values that are too large to be learned.
    ///
    /// # Errors
    /// If there is one.
    pub fn require_moderate(&self) -> Answer<()> {
        for i in 0..self.matrix.rows() {
            let mut largest: f64 = 0.0;
            self.matrix
                .row(i)
                .for_each(|_, x| largest = largest.max(x.abs()));
            if largest > LARGEST {
                let row = i as u64 + 1;
                let what = format!("row {row}: the value {largest} is too large to be learned");
                return Err(Problem::unfit(what).at_row(row));
            }
        }
        Ok(())
    }
}

/// How a body says its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A table with a header, unless it is said to have none.
    Csv {
        /// Whether its first line names the columns.
        header: bool,
    },
    /// Cells between tabs.
    Tsv,
    /// `index:value`.
    Libsvm,
    /// An array of rows, or one row.
    Json,
    /// A row on each line.
    Ndjson,
}

impl Form {
    /// What a content type says; JSON where there is none.
    ///
    /// # Errors
    /// If it is none of those that are known.
    pub fn of(content_type: Option<&str>) -> Answer<Self> {
        let whole = content_type
            .unwrap_or("application/json")
            .to_ascii_lowercase();
        let (kind, parameters) = whole.split_once(';').unwrap_or((&whole, ""));
        match kind.trim() {
            "text/csv" => Ok(Form::Csv {
                header: !parameters.contains("header=absent"),
            }),
            "text/tab-separated-values" => Ok(Form::Tsv),
            "text/libsvm" | "text/x-libsvm" | "application/x-libsvm" => Ok(Form::Libsvm),
            // What `curl -d` says of whatever it sends.
            "application/json" | "application/x-www-form-urlencoded" => Ok(Form::Json),
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Ok(Form::Ndjson),
            _ => Err(Problem::new(
                axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!(
                    "the content type {whole:?} is not known; use text/csv, text/tab-separated-values, text/libsvm, application/x-ndjson or application/json"
                ),
            )),
        }
    }
}

/// Reads the rows of a body.
///
/// # Errors
/// If they are not as the model needs them, or more than `most`.
pub fn of_body(served: &Served, form: Form, body: Vec<u8>, most: usize) -> Answer<Rows> {
    if body.is_empty() {
        return Err(Problem::malformed(
            "the body is empty; send at least one row",
        ));
    }
    match form {
        Form::Csv { header } => of_text(served, body, Format::Csv, Some(header), most),
        Form::Tsv => of_text(served, body, Format::Tsv, None, most),
        Form::Libsvm => of_text(served, body, Format::Libsvm, None, most),
        Form::Json => json::rows(served, &body, most),
        Form::Ndjson => of_cells(served, json::lines(served, &body, most)?, most),
    }
}

fn of_text(
    served: &Served,
    body: Vec<u8>,
    format: Format,
    header: Option<bool>,
    most: usize,
) -> Answer<Rows> {
    let batches = served.reader.read(body, BODY, format, |options| {
        options.header = header.or(options.header);
    });
    collect(batches.map_err(|e| Problem::of(&e))?, most)
}

/// Rows that were written as a text for the reader.
#[derive(Debug, Default)]
pub struct Cells {
    /// The text, in the model's own format.
    pub text: Vec<u8>,
    /// The line that each row begins at, from 1.
    pub lines: Vec<u64>,
    /// The ends of lines in it.
    pub newlines: u64,
}

/// Reads rows that were written for the reader; messages tell the row instead of the line.
pub fn of_cells(served: &Served, mut cells: Cells, most: usize) -> Answer<Rows> {
    if cells.lines.is_empty() {
        return Err(Problem::malformed("there are no rows; send at least one"));
    }
    let rows = match served.kind {
        Kind::Images => (served.reader)
            .read(std::mem::take(&mut cells.text), "", Format::Idx, |_| ())
            .map_err(|e| Problem::of(&e))
            .and_then(|batches| collect(batches, most)),
        _ => match served.reader.rows(&cells.text) {
            Ok(batch) => Ok(Rows {
                matrix: batch.matrix,
                labels: batch.labels,
            }),
            Err(error) => Err(Problem::of(&error)),
        },
    };
    match rows {
        Ok(rows) if rows.matrix.rows() == cells.lines.len() => Ok(rows),
        Ok(rows) => Err(Problem::unfit(format!(
            "{} rows hold values, and {} were sent; leave out those without any",
            rows.matrix.rows(),
            cells.lines.len()
        ))),
        Err(problem) => Err(problem.by_row(&cells.lines)),
    }
}

/// All batches as one.
fn collect(batches: rosenblatt::read::Batches, most: usize) -> Answer<Rows> {
    let mut matrices = Vec::new();
    let mut labels = Vec::new();
    let (mut rows, mut labelled) = (0, false);
    for batch in batches {
        let batch = batch.map_err(|e| Problem::of(&e))?;
        let n = batch.matrix.rows();
        rows += n;
        if rows > most {
            return Err(too_many(most));
        }
        labelled |= batch.labels.is_some();
        labels.extend(batch.labels.unwrap_or_else(|| vec![LabelFound::Absent; n]));
        matrices.push(batch.matrix);
    }
    let parts: Vec<&Matrix> = matrices.iter().collect();
    let matrix = match matrices.len() {
        0 => {
            return Err(Problem::malformed(
                "the body holds no rows; send at least one",
            ));
        }
        1 => matrices.swap_remove(0),
        _ => crate::log::codec::joined(&parts).unwrap_or_else(|| sparse(&parts)),
    };
    Ok(Rows {
        matrix,
        labels: labelled.then_some(labels),
    })
}

/// Rows of matrices that are stored in different ways, as sparse ones.
fn sparse(parts: &[&Matrix]) -> Matrix {
    let mut all = Matrix::empty_sparse(parts[0].columns(), parts[0].precision());
    for part in parts {
        for i in 0..part.rows() {
            let mut values = Vec::new();
            part.row(i).for_each(|j, x| values.push((j as u32, x)));
            all.push_sparse(values);
        }
    }
    all
}

/// What to say of more rows than a request may have.
pub fn too_many(most: usize) -> Problem {
    Problem::new(
        axum::http::StatusCode::PAYLOAD_TOO_LARGE,
        format!("a request has at most {most} rows; send fewer at a time"),
    )
}
