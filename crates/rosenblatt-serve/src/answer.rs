//! Predictions, written as the client accepts them.

use std::fmt::Write as _;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use rosenblatt::data::Matrix;

use crate::model::Published;
use crate::problem::{Answer, Problem};

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One object with a list for each output.
    Json,
    /// An object on each line.
    Ndjson,
    /// A table with a header.
    Csv,
    /// Lines as `predict` prints them.
    Text,
}

impl Shape {
    /// What an `Accept` header asks for: the first type in it that is known, JSON where any is.
    ///
    /// # Errors
    /// If none is known.
    pub fn of(accept: Option<&str>) -> Answer<Self> {
        let Some(accept) = accept else {
            return Ok(Shape::Json);
        };
        let known = accept.split(',').find_map(|kind| {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            match kind.to_ascii_lowercase().as_str() {
                "application/json" | "application/*" | "*/*" | "" => Some(Shape::Json),
                "application/x-ndjson" | "application/ndjson" | "application/jsonl" => {
                    Some(Shape::Ndjson)
                }
                "text/csv" => Some(Shape::Csv),
                "text/plain" | "text/*" => Some(Shape::Text),
                _ => None,
            }
        });
        known.ok_or_else(|| {
            Problem::new(
                axum::http::StatusCode::NOT_ACCEPTABLE,
                "accept application/json, application/x-ndjson, text/csv or text/plain",
            )
        })
    }

    /// The content type of such an answer.
    fn content_type(self) -> &'static str {
        match self {
            Shape::Json => "application/json",
            Shape::Ndjson => "application/x-ndjson",
            Shape::Csv => "text/csv; charset=utf-8; header=present",
            Shape::Text => "text/plain; charset=utf-8",
        }
    }

    /// The answer with this text.
    pub fn response(self, text: String) -> Response {
        let kind = HeaderValue::from_static(self.content_type());
        ([(header::CONTENT_TYPE, kind)], text).into_response()
    }
}

/// What is wanted beside labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// The scores.
    pub scores: bool,
    /// The probabilities.
    pub probabilities: bool,
}

/// What a model says of some rows.
pub struct Predicted<'a> {
    /// The model.
    pub published: &'a Published,
    /// The class of each row.
    pub classes: Vec<u32>,
    /// `rows × discriminators`.
    pub scores: Vec<f64>,
    /// `rows × classes`, where they are wanted.
    pub probabilities: Vec<f64>,
}

impl<'a> Predicted<'a> {
    /// Predicts rows.
    ///
    /// # Errors
    /// If they do not fit the model, or probabilities are wanted and it has none.
    pub fn new(published: &'a Published, matrix: &Matrix, wanted: Wanted) -> Answer<Self> {
        let model = &published.model;
        if wanted.probabilities {
            model.require_probabilities().map_err(|e| Problem::of(&e))?;
        }
        let scores = model.scores(matrix, 1).map_err(|e| Problem::of(&e))?;
        let each = scores.chunks_exact(model.scheme.discriminators());
        let classes = each.clone().map(|scores| model.decide(scores)).collect();
        let mut probabilities = Vec::new();
        if wanted.probabilities {
            let mut row = vec![0.0; model.scheme.classes()];
            for scores in each {
                model.probabilities_of(scores, &mut row);
                probabilities.extend(&row);
            }
        }
        Ok(Predicted {
            published,
            classes,
            scores,
            probabilities,
        })
    }

    fn label(&self, i: usize) -> &str {
        self.published.model.classes.name(self.classes[i])
    }

    fn scores_of(&self, i: usize) -> &[f64] {
        let k = self.published.model.scheme.discriminators();
        &self.scores[i * k..(i + 1) * k]
    }

    fn probabilities_of(&self, i: usize) -> &[f64] {
        let k = self.published.model.scheme.classes();
        &self.probabilities[i * k..(i + 1) * k]
    }

    /// Writes them.
    pub fn write(&self, name: &str, shape: Shape, wanted: Wanted) -> String {
        let mut out = String::with_capacity(64 + self.classes.len() * 24);
        match shape {
            Shape::Json => self.json(name, wanted, &mut out),
            Shape::Ndjson => {
                for i in 0..self.classes.len() {
                    out.push_str("{\"label\":");
                    push_text(&mut out, self.label(i));
                    if wanted.scores {
                        out.push_str(",\"scores\":");
                        push_numbers(&mut out, self.scores_of(i));
                    }
                    if wanted.probabilities {
                        out.push_str(",\"probabilities\":");
                        push_numbers(&mut out, self.probabilities_of(i));
                    }
                    out.push_str("}\n");
                }
            }
            Shape::Csv => self.csv(wanted, &mut out),
            Shape::Text => {
                for i in 0..self.classes.len() {
                    out.push_str(self.label(i));
                    self.push_cells(i, '\t', wanted, &mut out);
                }
            }
        }
        out
    }

    fn json(&self, name: &str, wanted: Wanted, out: &mut String) {
        out.push_str("{\"model_name\":");
        push_text(out, name);
        let _ = write!(out, ",\"sequence\":{}", self.published.sequence);
        let lists = |out: &mut String, name: &str, push: &dyn Fn(&mut String, usize)| {
            let _ = write!(out, ",\"{name}\":[");
            for i in 0..self.classes.len() {
                if i > 0 {
                    out.push(',');
                }
                push(out, i);
            }
            out.push(']');
        };
        lists(out, "labels", &|out, i| push_text(out, self.label(i)));
        if wanted.scores {
            lists(out, "scores", &|out, i| {
                push_numbers(out, self.scores_of(i))
            });
        }
        if wanted.probabilities {
            out.push_str(",\"classes\":[");
            for (i, name) in self.published.model.classes.names().iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_text(out, name);
            }
            out.push(']');
            let push = |out: &mut String, i| push_numbers(out, self.probabilities_of(i));
            lists(out, "probabilities", &push);
        }
        out.push('}');
    }

    fn csv(&self, wanted: Wanted, out: &mut String) {
        out.push_str("label");
        if wanted.scores {
            let k = self.published.model.scheme.discriminators();
            for d in 1..=k {
                let _ = write!(out, ",score{d}");
            }
        }
        if wanted.probabilities {
            for name in self.published.model.classes.names() {
                out.push(',');
                push_cell(out, name);
            }
        }
        out.push_str("\r\n");
        for i in 0..self.classes.len() {
            push_cell(out, self.label(i));
            self.push_cells(i, ',', wanted, out);
        }
    }

    fn push_cells(&self, i: usize, delimiter: char, wanted: Wanted, out: &mut String) {
        let scores = wanted.scores.then(|| self.scores_of(i));
        let probabilities = wanted.probabilities.then(|| self.probabilities_of(i));
        for number in scores.into_iter().chain(probabilities).flatten() {
            let _ = write!(out, "{delimiter}{number}");
        }
        out.push_str(if delimiter == ',' { "\r\n" } else { "\n" });
    }
}

/// A JSON string.
pub fn push_text(out: &mut String, text: &str) {
    let plain = |b: u8| b >= b' ' && b != b'"' && b != b'\\';
    if text.bytes().all(plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

fn push_numbers(out: &mut String, numbers: &[f64]) {
    out.push('[');
    for (i, number) in numbers.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        let _ = write!(out, "{number:?}");
    }
    out.push(']');
}

/// A cell of a table.
fn push_cell(out: &mut String, text: &str) {
    if text.contains(['"', ',', '\n', '\r']) {
        let _ = write!(out, "\"{}\"", text.replace('"', "\"\""));
    } else {
        out.push_str(text);
    }
}
