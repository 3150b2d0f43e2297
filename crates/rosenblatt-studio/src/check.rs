//! Can the classes be separated? As `check` decides it, with the rows that show why.

use std::io::Read;

use rosenblatt::data::{Dataset, FeatureNames, Layout};
use rosenblatt::learner::LearnerEntry;
use rosenblatt::options::Bias;
use rosenblatt::proof::{
    BiasTerm, Claim, Estimate, ExactRows, ExactText, JointRows, MarginKind, Notation,
    ProvedVerdict, SearchBudget, Subject, TwoSides, Witness, certificate, coefficients, decide,
    joint_margin, margin, radius,
};
use rosenblatt::read::{self, Format, Preparation, ReadOptions, Scale};
use rosenblatt::{Error, Options, Result, bounds};
use rosenblatt_verify::Outcome;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::data::{Data, read_raw};

/// Values that a page may ask about: exact arithmetic takes its time.
const MOST_VALUES: usize = 2_000_000;
/// Coefficients that are classified one by one.
const MOST_COEFFICIENTS: usize = 200;
/// Rows among which the touching ones are looked for.
const MOST_TOUCHING: usize = 5_000;

/// What was found out.
#[derive(Debug)]
pub struct Checked {
    /// For the page.
    pub found: Value,
    /// The certificate, or why there is none.
    pub certificate: Result<String>,
}

/// The file as `check` reads it: in its own units, without the reference levels of categories.
struct Examined {
    data: Dataset,
    preparation: Preparation,
    report: read::ReadReport,
    labels: Vec<(String, u32)>,
    exceptions: Vec<ExactText>,
    notation: Notation,
}

fn examine(data: &Data, threads: usize) -> Result<Examined> {
    let options = ReadOptions {
        label: data.reading.label.clone(),
        positive: data.reading.positive.clone(),
        precision: rosenblatt::data::Precision::F64,
        keep_long_decimals: true,
        threads,
        ..ReadOptions::default()
    };
    let (raw, _labels) = read_raw(&data.file, options)?;
    let (preparation, report) = Preparation::fit_and_report(&raw, None, Some(Scale::None))?;
    let dropped = preparation.reference_features();
    let kept = |feature: usize| match dropped.binary_search(&feature) {
        Ok(_) => None,
        Err(before) => Some(feature - before),
    };
    let exceptions = raw.long_decimals().iter().filter_map(|long| {
        Some(ExactText {
            row: long.row as usize,
            feature: kept(preparation.feature_of(long.column)?)?,
            text: long.text.clone(),
        })
    });
    let exceptions = exceptions.collect();
    let labels = raw.label_texts().to_vec();
    let notation = match report.format {
        Format::Idx | Format::Cache => Notation::Binary,
        _ => Notation::Decimal,
    };
    let mut examples = raw.into_dataset(&preparation, Layout::AsGiven)?;
    if !dropped.is_empty() {
        let names = (0..examples.features())
            .filter(|j| kept(*j).is_some())
            .map(|j| examples.names.get(j).into_owned());
        examples = Dataset {
            names: FeatureNames::Listed(names.collect()),
            matrix: examples.matrix.without_columns(&dropped),
            ..examples
        };
    }
    Ok(Examined {
        data: examples,
        preparation,
        report,
        labels,
        exceptions,
        notation,
    })
}

/// Decides.
pub fn check(data: &Data, threads: usize) -> Result<Checked> {
    let values = data.examples.len().saturating_mul(data.examples.features());
    if values > MOST_VALUES {
        return Err(
            Error::data("these are too many numbers to decide on while a page waits")
                .remedy(format!("run {}", crate::command::check(data))),
        );
    }
    let examined = examine(data, threads)?;
    let exact = ExactRows::new(&examined.data, examined.notation, &examined.exceptions)
        .map_err(|e| e.in_file(&data.file.name))?;
    match examined.data.classes.len() {
        0..=2 => two_classes(data, &examined, &exact, threads),
        _ => several(data, &examined, &exact, threads),
    }
}

fn two_classes(
    data: &Data,
    examined: &Examined,
    exact: &ExactRows<'_>,
    threads: usize,
) -> Result<Checked> {
    let rows = TwoSides::positive_against_rest(exact, BiasTerm::Lifted);
    let few = examined.data.features() < MOST_COEFFICIENTS;
    let (decision, estimates) = match few {
        true => {
            let found = coefficients(&rows, threads)?;
            (found.decision, found.estimates)
        }
        false => (decide(&rows, threads)?, Vec::new()),
    };
    let separator = match &decision.witness {
        Witness::Separable { w } => Some(w.as_slice()),
        _ => None,
    };
    let budget = SearchBudget::default();
    let [lifted, plain] = [MarginKind::Lifted, MarginKind::Plain]
        .map(|kind| separator.map(|w| margin(&rows, kind, Some(w), budget, threads)));
    let longest = radius(&rows, threads);
    let at_most = lifted.and_then(|m| bounds::count(bounds::from_zero(longest, m.lower)));
    let names = estimates.iter().enumerate().filter_map(|(j, estimate)| {
        let name = match j.checked_sub(1) {
            None => "(bias)".into(),
            Some(j) => examined.data.names.get(j).into_owned(),
        };
        let toward = match estimate {
            Estimate::Finite => return None,
            Estimate::PlusInfinity => "to +∞",
            Estimate::MinusInfinity => "to −∞",
            Estimate::Either => "no unique limit",
            Estimate::NotIdentified => "not identified",
        };
        Some(json!({"name": name, "toward": toward}))
    });
    let touching = match separator {
        Some(_) => touching(examined, threads),
        None => None,
    };
    let claim = Claim::AgainstRest(1, &decision);
    let found = json!({
        "verdict": decision.verdict().name(),
        "explained": explained(&decision, examined.data.len()),
        "margin": lifted,
        "plain_margin": plain,
        "radius": longest,
        "updates_at_most": at_most,
        "classified": few,
        "without_estimate": names.collect::<Vec<_>>(),
        "balanced": support(&decision),
        "touching": touching,
        "command": crate::command::check(data),
    });
    Ok(Checked {
        found,
        certificate: prove(data, examined, claim),
    })
}

fn several(
    data: &Data,
    examined: &Examined,
    exact: &ExactRows<'_>,
    threads: usize,
) -> Result<Checked> {
    let rows = JointRows::new(exact, BiasTerm::Lifted);
    let decision = decide(&rows, threads)?;
    let longest = radius(
        &TwoSides::positive_against_rest(exact, BiasTerm::Lifted),
        threads,
    );
    let margin = match &decision.witness {
        Witness::Separable { w } => Some(joint_margin(&rows, w, SearchBudget::default(), threads)),
        _ => None,
    };
    // A correction of two discriminators is one of a row √2 times as long.
    let corrected = longest * std::f64::consts::SQRT_2 * (1.0 + f64::EPSILON);
    let at_most = margin.and_then(|m| bounds::count(bounds::from_zero(corrected, m.lower)));
    let mut balanced: Vec<usize> = (decision.refutation.iter())
        .map(|(row, _)| rows.example_and_rival(*row).0 + 1)
        .collect();
    balanced.sort_unstable();
    balanced.dedup();
    let claim = Claim::Jointly(&rows, &decision);
    let found = json!({
        "verdict": decision.verdict().name(),
        "explained": match decision.verdict() {
            rosenblatt::proof::Verdict::Separable =>
                "some discriminators score the correct class highest for every example",
            rosenblatt::proof::Verdict::QuasiSeparable =>
                "no discriminators score the correct class strictly highest everywhere, but some never score another class higher and do so strictly somewhere",
            rosenblatt::proof::Verdict::Overlapping =>
                "any discriminators misclassify an example or leave all tied",
        },
        "margin": margin,
        "radius": longest,
        "updates_at_most": at_most,
        "classified": false,
        "without_estimate": [],
        "balanced": balanced,
        "touching": null,
        "command": crate::command::check(data),
    });
    Ok(Checked {
        found,
        certificate: prove(data, examined, claim),
    })
}

fn explained(decision: &ProvedVerdict, rows: usize) -> String {
    match &decision.witness {
        Witness::Separable { .. } => {
            "a hyperplane has every example strictly on its correct side".into()
        }
        Witness::QuasiSeparable { separated, .. } => format!(
            "no hyperplane separates all examples strictly, but one misclassifies none and has {} of {rows} strictly on their correct side",
            separated.len()
        ),
        Witness::Overlapping { .. } => {
            "every hyperplane misclassifies an example or contains them all".into()
        }
    }
}

/// The rows (from 1) that the refutation weighs.
fn support(decision: &ProvedVerdict) -> Vec<usize> {
    decision.lambda().iter().map(|(row, _)| row + 1).collect()
}

/// The rows (from 1) that the widest gap between the classes touches, and its hyperplane.
fn touching(examined: &Examined, threads: usize) -> Option<Value> {
    if examined.data.len() > MOST_TOUCHING {
        return None;
    }
    let options = Options {
        bias: Some(Bias::Unlifted(None)),
        ..Options::of(LearnerEntry::find("max-margin")?.default_settings())
    };
    let session = rosenblatt::session(&options).threads(threads);
    let fitted = session.train(&examined.data).ok()?;
    let rows = rosenblatt::report::support_vectors(&fitted.model);
    let weights = fitted.model.weights()?;
    Some(json!({
        "rows": rows.iter().map(|(row, _)| row).collect::<Vec<_>>(),
        "weights": (examined.data.features() == 2).then(|| weights.column(0)),
        "bias": weights.bias(0),
    }))
}

/// The certificate, once the independent checker has accepted it.
fn prove(data: &Data, examined: &Examined, claim: Claim<'_>) -> Result<String> {
    let failed = |e: std::io::Error| Error::io(&data.file.name, &e);
    let mut bytes = Vec::new();
    let reader = std::io::Cursor::new(data.file.bytes.clone());
    let mut reader = read::decompressed_from(reader, &data.file.name)?;
    reader.read_to_end(&mut bytes).map_err(failed)?;
    let digest = Sha256::digest(&bytes);
    let sha256: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let files = [(data.file.name.clone(), sha256)];
    let subject = Subject {
        file: &read::certificate_fields(&examined.report, &examined.preparation, None)?,
        labels: &examined.labels,
        data: &examined.data,
        files: &files,
        bias: BiasTerm::Lifted,
    };
    let document = certificate(subject, claim)?;
    match rosenblatt_verify::verify(document.as_bytes(), &bytes) {
        Outcome::Holds(_) => Ok(document),
        other => Err(Error::data(format!(
            "the proof found does not pass the independent checker: {other}"
        ))
        .in_file(&data.file.name)
        .remedy("please report this with the file")),
    }
}
