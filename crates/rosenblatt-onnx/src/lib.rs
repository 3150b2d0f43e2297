//! Models as ONNX graphs, for runtimes that know nothing of perceptrons.
//!
//! A graph takes rows and gives a `label` for each and its `scores`, a column a class (for two
//! classes −s and s; for one-against-one a column a pair). Rows are doubles in one input `X`;
//! a model that was trained on a table takes its columns instead, each an input of its own:
//! doubles (NaN is missing) and texts.
//!
//! Scores are computed by plain operators in double precision, so they are the library's but
//! for rounding in the last digits. The labels of linear models with one discriminator a class
//! come from the operator made for them, `LinearClassifier`, which other tools know; it adds
//! in single precision, so a label may differ from the library's where two scores are equal
//! to within that. All other labels are decided from the scores in double precision.

mod embedding;
mod graph;
mod input;
mod label;
mod protobuf;
mod scores;
mod voted;

use rosenblatt::model::{Decision, Model};
use rosenblatt::scheme::Scheme;
use rosenblatt::{Error, Result};

use graph::Graph;

/// The model as the bytes of an ONNX file.
///
/// # Errors
/// If the graph cannot say what the model does: features made of words, voted models
/// whose weights were renormalised, and thresholds.
pub fn export(model: &Model) -> Result<Vec<u8>> {
    if model.threshold.is_some() {
        let why = "its labels are decided by a threshold, which the graph does not know";
        return Err(
            refuse(why).remedy("train it without ⟨threshold⟩, and compare the graph's scores")
        );
    }
    let mut graph = Graph::default();
    let graph_ref = &mut graph;
    let rows = input::rows(graph_ref, model)?;
    let rows = match &model.embedding {
        Some(embedding) => embedding::embed(graph_ref, embedding, &rows)?,
        None => rows,
    };
    let linear = matches!(model.decision, Decision::Linear(_))
        && !matches!(model.scheme, Scheme::OneVsOne { .. });
    let scores = scores::scores(graph_ref, model, &rows)?;
    if let (true, Some(weights)) = (linear, model.weights()) {
        label::by_linear_classifier(graph_ref, model, weights, &rows);
    } else {
        label::by_scores(graph_ref, model, &scores);
    }
    label::output_scores(graph_ref, model, &scores);
    graph.fact("classes", model.classes.names().join("\n"));
    Ok(graph.into_bytes())
}

/// What cannot be exported, and why.
fn refuse(why: impl std::fmt::Display) -> Error {
    Error::model(format!("this model cannot be exported to ONNX: {why}"))
}
