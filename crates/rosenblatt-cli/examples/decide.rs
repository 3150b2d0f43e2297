//! Decides many data sets in one process: the other end of `bench/separability` and
//! `bench/separability-oracle`.
//!
//! Each line of stdin is a JSON object: `data` (the text of a CSV or libsvm file) or `path`
//! (a file), and optionally `bias` (`lifted` or `none`), `positive` (that class against the
//! rest) and `repeat` (how often to decide). Each line of stdout answers one: `verdict`, the
//! `certificate`, the exit `status` that the independent checker gives it, and `seconds`
//! taken to `read`, to `decide` (one for each repetition) and to `verify`.

use std::io::{BufRead, Write};
use std::time::Instant;

use rosenblatt::data::{Layout, Precision};
use rosenblatt::proof::{
    BiasTerm, Claim, ExactRows, ExactText, Notation, Subject, TwoSides, certificate, decide,
};
use rosenblatt::read::{
    Preparation, ReadOptions, Scale, certificate_fields, decompressed, read_from,
};
use rosenblatt::{Error, Result};
use rosenblatt_verify::verify;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    data: Option<String>,
    path: Option<String>,
    bias: Option<String>,
    positive: Option<String>,
    repeat: Option<usize>,
}

fn main() -> Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| Error::data(format!("stdin: {e}")))?;
        let question: Question = serde_json::from_str(&line)
            .map_err(|e| Error::data(format!("a question in JSON was expected: {e}")))?;
        let answer = answer(&question)?;
        writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .map_err(|e| Error::data(format!("stdout: {e}")))?;
    }
    Ok(())
}

fn answer(question: &Question) -> Result<Value> {
    let threads = rosenblatt::internal::parallel::available();
    let bytes = match (&question.data, &question.path) {
        (Some(data), None) => data.clone().into_bytes(),
        (None, Some(path)) => {
            let mut bytes = Vec::new();
            std::io::copy(&mut decompressed(path)?, &mut bytes).map_err(|e| Error::io(path, &e))?;
            bytes
        }
        _ => return Err(Error::data("a question has either data or a path")),
    };
    let bias = match question.bias.as_deref() {
        None | Some("lifted") => BiasTerm::Lifted,
        Some("none") => BiasTerm::None,
        Some(other) => return Err(Error::data(format!("bias {other:?}: lifted or none"))),
    };
    let options = ReadOptions {
        precision: Precision::F64,
        keep_long_decimals: true,
        positive: question.positive.clone(),
        threads,
        ..ReadOptions::default()
    };
    let started = Instant::now();
    let raw = read_from(std::io::Cursor::new(bytes.clone()), "the data", &options)?;
    let preparation = Preparation::fit(&raw, None, Some(Scale::None))?;
    if !preparation.reference_features().is_empty() {
        return Err(Error::data(
            "numbers only, please: categories have reference levels",
        ));
    }
    let exceptions: Vec<ExactText> = raw
        .long_decimals()
        .iter()
        .filter_map(|long| {
            Some(ExactText {
                row: long.row as usize,
                feature: preparation.feature_of(long.column)?,
                text: long.text.clone(),
            })
        })
        .collect();
    let report = raw.report().clone();
    let labels = raw.label_texts().to_vec();
    let data = raw.into_dataset(&preparation, Layout::AsGiven)?;
    let exact = ExactRows::new(&data, Notation::Decimal, &exceptions)?;
    let rows = TwoSides::positive_against_rest(&exact, bias);
    let notation = started.elapsed().as_secs_f64();

    let mut deciding = Vec::new();
    let mut decide_once = || {
        let started = Instant::now();
        let decision = decide(&rows, threads);
        deciding.push(started.elapsed().as_secs_f64());
        decision
    };
    for _ in 1..question.repeat.unwrap_or(1) {
        decide_once()?;
    }
    let decision = decide_once()?;

    let sha256: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let subject = Subject {
        file: &certificate_fields(&report, &preparation, None)?,
        labels: &labels,
        files: &[(String::new(), sha256)],
        data: &data,
        bias,
    };
    let last = data.classes.len().saturating_sub(1) as u32;
    let document = certificate(subject, Claim::AgainstRest(last, &decision))?;
    let started = Instant::now();
    let outcome = verify(document.as_bytes(), &bytes);
    Ok(json!({
        "verdict": decision.verdict().name(),
        "certificate": document,
        "status": outcome.exit_status(),
        "seconds": {
            "read": notation,
            "decide": deciding,
            "verify": started.elapsed().as_secs_f64(),
        },
    }))
}
