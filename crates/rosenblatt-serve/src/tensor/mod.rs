//! Inference requests of the Open Inference Protocol v2: tensors in JSON, or in the binary extension
//! of Triton, where they follow the JSON in the body.

mod elements;

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::value::RawValue;

use self::elements::{Elements, of_bytes, of_json};
use crate::answer::{Predicted, Wanted, push_text};
use crate::json::malformed;
use crate::model::{Kind, Served};
use crate::problem::{Answer, Problem};
use crate::rows::{self, Cells, Rows, too_many};

/// The name of the input of models that have no columns, and of a table given as one tensor.
pub const INPUT: &str = "input";

/// An inference request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request<'a> {
    /// What the client calls it.
    pub id: Option<String>,
    #[serde(borrow)]
    inputs: Vec<Input<'a>>,
    #[serde(default)]
    outputs: Vec<Output>,
    #[serde(default)]
    parameters: Parameters,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input<'a> {
    name: String,
    shape: Vec<usize>,
    datatype: String,
    #[serde(default)]
    parameters: Parameters,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
struct Parameters {
    binary_data_size: Option<usize>,
    binary_data: Option<bool>,
    binary_data_output: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct Output {
    name: String,
    #[serde(default)]
    parameters: Parameters,
}

/// Reads a request; `json` is the length of its JSON where tensors follow it.
///
/// # Errors
/// If it is malformed, or the tensors are not what the model takes.
pub fn read<'a>(
    served: &Served,
    body: &'a [u8],
    json: Option<usize>,
    most: usize,
) -> Answer<(Request<'a>, Rows)> {
    let (head, mut binary) = match json {
        None => (body, &[][..]),
        Some(length) => body.split_at_checked(length).ok_or_else(|| {
            Problem::malformed(format!(
                "Inference-Header-Content-Length is {length}, and the body has {} bytes",
                body.len()
            ))
        })?,
    };
    let request: Request<'a> = serde_json::from_slice(head).map_err(|e| malformed(&e))?;
    let mut tensors = Vec::new();
    for input in &request.inputs {
        let elements = elements(input, &mut binary)?;
        let expected = (input.shape.iter()).try_fold(1usize, |n, &size| n.checked_mul(size));
        if expected != Some(elements.len()) {
            return Err(Problem::malformed(format!(
                "the input {:?} of shape {:?} has {} elements",
                input.name,
                input.shape,
                elements.len()
            )));
        }
        tensors.push((input, elements));
    }
    if !binary.is_empty() {
        return Err(Problem::malformed(format!(
            "{} bytes stand behind the tensors",
            binary.len()
        )));
    }
    if tensors
        .iter()
        .any(|(input, _)| input.shape.first().is_some_and(|&n| n > most))
    {
        return Err(too_many(most));
    }
    for output in &request.outputs {
        if !matches!(output.name.as_str(), "label" | "scores" | "probabilities") {
            return Err(Problem::malformed(format!(
                "there is no output {:?}; the outputs are label, scores and, of calibrated models, probabilities",
                output.name
            )));
        }
    }
    let rows = match served.kind {
        Kind::Table => table(served, &tensors, most),
        Kind::Sparse { first } => one(served, &tensors, most, |elements, cells| {
            for row in elements.chunks(served.features.max(1)) {
                cells.newlines += 1;
                cells.lines.push(cells.newlines);
                let values = (u64::from(first)..).zip(row).filter(|(_, x)| *x != "0");
                let start = cells.text.len();
                for (j, x) in values {
                    let blank = if cells.text.len() > start { " " } else { "" };
                    cells.text.extend(format!("{blank}{j}:{x}").as_bytes());
                }
                if cells.text.len() == start {
                    cells.text.extend(format!("{first}:0").as_bytes());
                }
                cells.text.push(b'\n');
            }
        }),
        Kind::Images => one(served, &tensors, most, |elements, cells| {
            let rows = elements.len() / served.features.max(1);
            cells.text.extend([0, 0, 0x0e, 2]);
            cells.text.extend((rows as u32).to_be_bytes());
            cells.text.extend((served.features as u32).to_be_bytes());
            for x in elements {
                let x: f64 = x.parse().unwrap_or(f64::NAN);
                cells.text.extend(x.to_be_bytes());
            }
            cells.lines.extend(1..=rows as u64);
        }),
    };
    Ok((request, rows?))
}

/// A tensor for each column, or one of all columns where all are numbers.
fn table(served: &Served, tensors: &[(&Input<'_>, Elements)], most: usize) -> Answer<Rows> {
    let features: Vec<_> = served.columns.iter().filter(|c| c.is_feature).collect();
    let named = |name: &str| tensors.iter().find(|(input, _)| input.name == name);
    let whole = match tensors {
        [(input, elements)] if named_whole(input, features.len()) => {
            let fits = input.shape == [elements.len() / features.len().max(1), features.len()];
            if !fits {
                return Err(Problem::unfit(format!(
                    "the input {:?} has the shape {:?}, expected [rows, {}]",
                    input.name,
                    input.shape,
                    features.len()
                )));
            }
            Some(elements)
        }
        _ => None,
    };
    let mut columns = Vec::new();
    for column in &features {
        if whole.is_some() {
            break;
        }
        let (input, elements) = named(&column.name).ok_or_else(|| {
            Problem::unfit(format!(
                "there is no input {:?}, which the model needs",
                column.name
            ))
        })?;
        if !matches!(input.shape[..], [_] | [_, 1]) {
            return Err(Problem::unfit(format!(
                "the input {:?} has the shape {:?}, expected [rows] or [rows, 1]",
                input.name, input.shape
            )));
        }
        columns.push(elements);
    }
    let rows = match whole {
        Some(elements) => elements.len() / features.len().max(1),
        None => columns.first().map_or(0, |first| first.len()),
    };
    if columns.iter().any(|c| c.len() != rows) {
        return Err(Problem::unfit("the inputs have different numbers of rows"));
    }
    if let Some(Elements::Numbers(all)) = whole
        && let Some(matrix) = served.reader.numbers(all.iter().map(String::as_str))
    {
        return Ok(Rows {
            matrix,
            labels: None,
        });
    }
    let mut cells = Cells::default();
    for row in 0..rows {
        let start = cells.text.len();
        cells.lines.push(cells.newlines + 1);
        let mut feature = 0;
        for (i, column) in served.columns.iter().enumerate() {
            if i > 0 {
                cells.text.push(b',');
            }
            if column.is_feature {
                match whole {
                    Some(all) => all.put(row * features.len() + feature, &mut cells.text),
                    None => columns[feature].put(row, &mut cells.text),
                }
                feature += 1;
            }
        }
        cells.text.push(b'\n');
        let new = &cells.text[start..];
        cells.newlines += new.iter().filter(|&&b| b == b'\n').count() as u64;
    }
    rows::of_cells(served, cells, most)
}

/// Whether a tensor is meant to hold all columns.
fn named_whole(input: &Input<'_>, features: usize) -> bool {
    input.shape.len() == 2 && (input.shape[1] != 1 || features == 1)
}

/// The one tensor of numbers of a model that has no columns.
fn one(
    served: &Served,
    tensors: &[(&Input<'_>, Elements)],
    most: usize,
    write: impl FnOnce(&[String], &mut Cells),
) -> Answer<Rows> {
    let width = served.features;
    let [(input, Elements::Numbers(elements))] = tensors else {
        return Err(Problem::unfit(format!(
            "expected one input of numbers, of shape [rows, {width}]"
        )));
    };
    if input.shape.len() != 2 || input.shape[1] != width {
        return Err(Problem::unfit(format!(
            "the input {:?} has the shape {:?}, expected [rows, {width}]",
            input.name, input.shape
        )));
    }
    let mut cells = Cells::default();
    write(elements, &mut cells);
    rows::of_cells(served, cells, most)
}

/// The elements of an input, from its JSON or from the bytes that follow.
fn elements(input: &Input<'_>, binary: &mut &[u8]) -> Answer<Elements> {
    let bad = |what: String| Problem::malformed(format!("the input {:?}: {what}", input.name));
    match (input.parameters.binary_data_size, input.data) {
        (Some(size), None) => {
            let (bytes, rest) = binary
                .split_at_checked(size)
                .ok_or_else(|| bad(format!("{size} bytes expected, {} are left", binary.len())))?;
            *binary = rest;
            of_bytes(&input.datatype, bytes).map_err(bad)
        }
        (None, Some(data)) => of_json(&input.datatype, data.get()).map_err(bad),
        _ => Err(bad("expected either data or binary_data_size".into())),
    }
}

impl Request<'_> {
    /// What is wanted: what is named, or all that the model has.
    pub fn wanted(&self, has_probabilities: bool) -> Wanted {
        let named = |name: &str| self.outputs.iter().any(|o| o.name == name);
        Wanted {
            scores: self.outputs.is_empty() || named("scores"),
            probabilities: (self.outputs.is_empty() && has_probabilities) || named("probabilities"),
        }
    }

    fn is_binary(&self, name: &str) -> bool {
        let output = self.outputs.iter().find(|o| o.name == name);
        let said = output.and_then(|o| o.parameters.binary_data);
        said.or(self.parameters.binary_data_output).unwrap_or(false)
    }

    /// The answer: its JSON, and the bytes that follow it.
    pub fn answer(
        &self,
        name: &str,
        predicted: &Predicted<'_>,
        wanted: Wanted,
    ) -> (String, Vec<u8>) {
        let model = &predicted.published.model;
        let (mut json, mut binary) = (String::from("{\"model_name\":"), Vec::new());
        push_text(&mut json, name);
        let _ = write!(
            json,
            ",\"model_version\":\"{}\"",
            predicted.published.sequence
        );
        if let Some(id) = &self.id {
            json.push_str(",\"id\":");
            push_text(&mut json, id);
        }
        json.push_str(",\"outputs\":[");
        let rows = predicted.classes.len();
        let labels = self.outputs.is_empty() || self.outputs.iter().any(|o| o.name == "label");
        let mut any = false;
        let mut begin = |json: &mut String, name: &str, datatype: &str, shape: String| {
            let comma = if std::mem::replace(&mut any, true) {
                ","
            } else {
                ""
            };
            let _ = write!(
                json,
                "{comma}{{\"name\":\"{name}\",\"datatype\":\"{datatype}\",\"shape\":[{shape}]"
            );
        };
        if labels {
            begin(&mut json, "label", "BYTES", rows.to_string());
            let names = predicted.classes.iter().map(|&c| model.classes.name(c));
            if self.is_binary("label") {
                let start = binary.len();
                for name in names {
                    binary.extend((name.len() as u32).to_le_bytes());
                    binary.extend(name.as_bytes());
                }
                end_binary(&mut json, binary.len() - start);
            } else {
                json.push_str(",\"data\":[");
                for (i, name) in names.enumerate() {
                    json.push_str(if i > 0 { "," } else { "" });
                    push_text(&mut json, name);
                }
                json.push_str("]}");
            }
        }
        let numbers = [
            (
                "scores",
                wanted.scores,
                &predicted.scores,
                model.scheme.discriminators(),
            ),
            (
                "probabilities",
                wanted.probabilities,
                &predicted.probabilities,
                model.scheme.classes(),
            ),
        ];
        for (name, _, values, width) in numbers.into_iter().filter(|(_, wanted, ..)| *wanted) {
            begin(&mut json, name, "FP64", format!("{rows},{width}"));
            if self.is_binary(name) {
                values.iter().for_each(|x| binary.extend(x.to_le_bytes()));
                end_binary(&mut json, values.len() * 8);
            } else {
                json.push_str(",\"data\":[");
                for (i, x) in values.iter().enumerate() {
                    let _ = write!(json, "{}{x:?}", if i > 0 { "," } else { "" });
                }
                json.push_str("]}");
            }
        }
        json.push_str("]}");
        (json, binary)
    }
}

fn end_binary(json: &mut String, size: usize) {
    let _ = write!(json, ",\"parameters\":{{\"binary_data_size\":{size}}}}}");
}
