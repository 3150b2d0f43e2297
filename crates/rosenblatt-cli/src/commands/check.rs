//! `check`: can the classes be separated at all? With proof.

use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use rosenblatt::proof::{
    BiasTerm, Bracket, Claim, Coefficients, ProvedVerdict, SearchBudget, ExactRows, ExactText, MarginKind,
    Notation, SignedRows, Subject, Estimate, TwoSides, Witness, certificate, coefficients, decide,
    margin, radius, source_file,
};
use rosenblatt::data::read::{self, Format, Preparation, Scale};
use rosenblatt::data::{Dataset, Layout, Precision};
use rosenblatt::file::write_aside;
use rosenblatt::{Error, ErrorKind, bounds};
use rosenblatt_verify::Outcome as Checked;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Context, check_jointly, check_kernel, in_data, verify};
use crate::args::{CheckArgs, CheckBias};
use crate::output::{self, Done, Failure, Outcome};
use crate::render::numbers::{count, counted, short};
use crate::render::table::{Align, clipped, columns};

/// A file as `check` sees it: in its own units, reference levels left out.
pub(super) struct Examined {
    pub data: Dataset,
    preparation: Preparation,
    report: read::ReadReport,
    labels: Vec<(String, u32)>,
    exceptions: Vec<ExactText>,
    pub notation: Notation,
}

pub fn run(context: Context, args: &CheckArgs) -> Outcome {
    let examined = examine(context, args)?;
    let rows = ExactRows::new(&examined.data, examined.notation, &examined.exceptions)
        .map_err(|e| in_data(e, &args.data))?;
    let bias = match (args.bias, &args.kernel) {
        (Some(CheckBias::Lifted), _) | (None, None) => BiasTerm::Lifted,
        (Some(CheckBias::None), _) | (None, Some(_)) => BiasTerm::None,
    };
    if args.kernel.is_some() || args.dual_lp {
        return check_kernel::run(context, args, &examined, &rows, bias);
    }
    if examined.data.classes.len() <= 2 {
        two_classes(context, args, &examined, &rows, bias)
    } else {
        check_jointly::run(context, args, &examined, &rows, bias)
    }
}

fn examine(context: Context, args: &CheckArgs) -> Result<Examined, Failure> {
    let mut options = args.source.options(context.threads)?;
    args.source.refuse_held_out()?;
    options.read.precision = Precision::F64;
    options.read.keep_long_decimals = true;
    options.scale.get_or_insert(Scale::None);
    if options.scale != Some(Scale::None) {
        return Err(Error::options(
            "check speaks of the numbers as written, and does not scale them",
        )
        .remedy("leave --scale out: scaling does not change what can be separated")
        .into());
    }
    if let Some(path) = &args.certificate {
        output::refuse_overwriting(&args.data, path)?;
        if output::is_dash(path) {
            return Err(Error::options("--certificate names a file, not stdout").into());
        }
    }
    let raw = read::read(&args.data, &options.read)?;
    args.source
        .refuse_foreign(raw.report(), raw.label_texts())?;
    for warning in &raw.report().warnings {
        output::say(context.quiet, &format!("warning: {warning}"));
    }
    let preparation = Preparation::fit(&raw, None, options.scale)?;
    let dropped = preparation.reference_features();
    let kept = |feature: usize| {
        dropped
            .binary_search(&feature)
            .map_or_else(|before| Some(feature - before), |_| None)
    };
    let exceptions = raw
        .long_decimals()
        .iter()
        .filter_map(|long| {
            let feature = kept(preparation.feature_of(long.column)?)?;
            Some(ExactText {
                row: long.row as usize,
                feature,
                text: long.text.clone(),
            })
        })
        .collect();
    let report = raw.report().clone();
    let labels = raw.label_texts().to_vec();
    let notation = match report.format {
        Format::Idx | Format::Cache => Notation::Binary,
        _ => Notation::Decimal,
    };
    let mut data = raw.into_dataset(&preparation, Layout::AsGiven)?;
    if !dropped.is_empty() {
        let names = (0..data.features())
            .filter(|j| kept(*j).is_some())
            .map(|j| data.names.get(j).into_owned());
        let names = rosenblatt::data::FeatureNames::Listed(names.collect());
        data = Dataset {
            matrix: data.matrix.without_columns(&dropped),
            names,
            ..data
        };
    }
    Ok(Examined {
        data,
        preparation,
        report,
        labels,
        exceptions,
        notation,
    })
}

/// The name of a coordinate: the bias, or a feature.
fn coordinate_name(data: &Dataset, bias: BiasTerm, j: usize) -> String {
    match bias {
        BiasTerm::Lifted if j == 0 => "(bias)".into(),
        BiasTerm::Lifted => data.names.get(j - 1).into_owned(),
        BiasTerm::None => data.names.get(j).into_owned(),
    }
}

pub(super) fn support(data: &Dataset, decision: &ProvedVerdict) -> Vec<usize> {
    decision
        .lambda()
        .iter()
        .map(|(row, _)| data.number(*row) + 1)
        .collect()
}

fn two_classes(
    context: Context,
    args: &CheckArgs,
    examined: &Examined,
    exact: &ExactRows<'_>,
    bias: BiasTerm,
) -> Outcome {
    let data = &examined.data;
    let rows = TwoSides::positive_against_rest(exact, bias);
    let class = data.classes.len().saturating_sub(1) as u32;
    // Classifying every coefficient costs a solve each; the verdict alone does not.
    let detailed = rows.dimension() <= args.coefficients;
    let found = if detailed {
        coefficients(&rows, context.threads)?
    } else {
        let decision = decide(&rows, context.threads).map_err(|e| in_data(e, &args.data))?;
        Coefficients {
            estimates: Vec::new(),
            recession: None,
            rank: decision.balanced_rank,
            decision,
        }
    };
    let decision = &found.decision;
    let separator = match &decision.witness {
        Witness::Separable { w } => Some(w.as_slice()),
        _ => None,
    };
    let r = radius(&rows, context.threads);
    let budget = budget(args);
    let [lifted, plain] = [MarginKind::Lifted, MarginKind::Plain]
        .map(|kind| separator.map(|w| margin(&rows, kind, Some(w), budget, context.threads)));
    let most = lifted.and_then(|m| bounds::count(bounds::from_zero(r, m.lower)));
    let proved = prove(args, examined, bias, Claim::AgainstRest(class, decision))?;
    let infinite: Vec<(String, Estimate)> = found
        .estimates
        .iter()
        .enumerate()
        .filter(|(_, t)| !matches!(t, Estimate::Finite))
        .map(|(j, t)| (coordinate_name(data, bias, j), *t))
        .collect();
    if args.json {
        output::print_json(&json!({
            "verdict": decision.verdict().name(),
            "examples": data.len(),
            "features": data.features(),
            "classes": data.classes.names(),
            "margin": lifted.map(bracket),
            "plain_margin": plain.map(bracket),
            "radius": r,
            "updates_at_most": most,
            "infinite_coefficients": infinite.iter().filter(|(_, t)| *t != Estimate::NotIdentified).map(|(name, t)| json!({"name": name, "toward": t})).collect::<Vec<_>>(),
            "not_identified": infinite.iter().filter(|(_, t)| *t == Estimate::NotIdentified).map(|(name, _)| name).collect::<Vec<_>>(),
            "support": support(data, decision),
            "separated_rows": separated(decision).map(<[usize]>::len).unwrap_or(if separator.is_some() { data.len() } else { 0 }),
            "rank": found.rank,
            "certificate": args.certificate.as_ref().map(|path| path.display().to_string()),
            "verified": proved,
        }))?;
        return Ok(Done::Finished);
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {}",
        decision.verdict().name(),
        explain(decision, data)
    );
    if let (Some(lifted), Some(plain)) = (lifted, plain) {
        let _ = writeln!(
            text,
            "margin in [{}, {}] lifted, [{}, {}] plain; R = {}",
            short(lifted.lower),
            short(lifted.upper),
            short(plain.lower),
            short(plain.upper),
            short(r)
        );
        text.push_str(&bound_text(most));
    }
    if !decision.lambda().is_empty() {
        let rows = support(data, decision);
        let shown: Vec<String> = rows.iter().take(20).map(usize::to_string).collect();
        let more = if rows.len() > 20 {
            format!(" and {} more", rows.len() - 20)
        } else {
            String::new()
        };
        let _ = writeln!(text, "the proof balances rows {}{more}", shown.join(", "));
    }
    if detailed {
        text.push_str(&logistic(&infinite));
    } else {
        let _ = writeln!(
            text,
            "coefficients were not classified: {} are more than --coefficients {}",
            count(rows.dimension() as u64),
            args.coefficients
        );
    }
    text.push_str(&proved_text(args, proved));
    output::print(&text)?;
    Ok(Done::Finished)
}

fn finite(x: f64) -> Value {
    if x.is_finite() {
        json!(x)
    } else {
        json!("inf")
    }
}

pub(super) fn separated(decision: &ProvedVerdict) -> Option<&[usize]> {
    match &decision.witness {
        Witness::QuasiSeparable { separated, .. } => Some(separated),
        _ => None,
    }
}

fn explain(decision: &ProvedVerdict, data: &Dataset) -> String {
    match &decision.witness {
        Witness::Separable { .. } => "a plane has every example strictly on its own side".into(),
        Witness::QuasiSeparable { separated, .. } => format!(
            "no plane has all examples strictly on their own sides, but one has none on the wrong side and {} of {} strictly on the right one",
            count(separated.len() as u64),
            count(data.len() as u64)
        ),
        Witness::Overlapping { .. } => {
            "every plane has an example on the wrong side, or all of them on itself".into()
        }
    }
}

fn logistic(infinite: &[(String, Estimate)]) -> String {
    if infinite.is_empty() {
        return "a logistic regression has finite, unique estimates\n".into();
    }
    let mut rows = Vec::new();
    for (name, estimate) in infinite.iter().take(30) {
        let toward = match estimate {
            Estimate::PlusInfinity => "to +∞",
            Estimate::MinusInfinity => "to −∞",
            Estimate::Either => "to infinity, sign open",
            Estimate::NotIdentified => "not identified",
            Estimate::Finite => "finite",
        };
        rows.push(vec![clipped(name, 40), toward.to_owned()]);
    }
    let mut text = String::from(
        "coefficients of a logistic regression that have no finite or unique estimate:\n",
    );
    text.push_str(&columns(&rows, &[Align::Left, Align::Left], 2));
    if infinite.len() > 30 {
        let _ = writeln!(
            text,
            "  and {} more (--json lists all)",
            infinite.len() - 30
        );
    }
    text
}

/// How hard to look for a margin.
pub(super) fn budget(args: &CheckArgs) -> SearchBudget {
    SearchBudget {
        relative_gap: args.gap,
        ..SearchBudget::default()
    }
}

/// What is known of a margin, as JSON.
pub(super) fn bracket(found: Bracket) -> Value {
    json!({"lower": finite(found.lower), "upper": finite(found.upper), "kind": found.kind})
}

/// How many updates the theorem allows.
pub(super) fn bound_text(most: Option<u64>) -> String {
    match most {
        Some(most) => format!(
            "a perceptron from zero makes at most {}\n",
            counted(most, "update", "updates")
        ),
        None => "the bound on a perceptron's updates is too large to write\n".into(),
    }
}

pub(super) fn proved_text(args: &CheckArgs, proved: Option<bool>) -> String {
    match (&args.certificate, proved) {
        (Some(path), Some(_)) => format!(
            "certificate {}, checked in exact arithmetic\n",
            path.display()
        ),
        _ => "add --certificate FILE for a proof that others can check\n".into(),
    }
}

/// Writes the certificate, if one is asked for, once the independent checker accepts it.
pub(super) fn prove(
    args: &CheckArgs,
    examined: &Examined,
    bias: BiasTerm,
    claim: Claim<'_>,
) -> Result<Option<bool>, Failure> {
    let Some(path) = &args.certificate else {
        return Ok(None);
    };
    if output::is_dash(&args.data) {
        return Err(Error::options(
            "a certificate speaks of a file, and stdin cannot be read twice",
        )
        .remedy("save the data to a file first")
        .into());
    }
    let sha256 = digest(&args.data)?;
    let options = args.source.options(1)?;
    let file = source_file(
        &examined.report,
        &examined.preparation,
        options.read.comment.as_deref().filter(|c| !c.is_empty()),
        &examined.labels,
        &sha256,
    )?;
    let subject = Subject {
        file: &file,
        data: &examined.data,
        bias,
    };
    let document = certificate(subject, claim)?;
    match verify::check(document.as_bytes(), &args.data)? {
        Checked::Holds(_) => {}
        other => {
            return Err(Error::new(
                ErrorKind::Data,
                format!("the proof found does not pass the independent checker: {other}"),
            )
            .in_file(&args.data)
            .remedy("please report this with the file")
            .into());
        }
    }
    write_aside(path, |out| {
        out.write_all(document.as_bytes())
            .map_err(|e| Error::io(path, &e))
    })?;
    Ok(Some(true))
}

fn digest(path: &Path) -> rosenblatt::Result<String> {
    let mut reader = read::decompressed(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let n = reader.read(&mut buffer).map_err(|e| Error::io(path, &e))?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
    }
    Ok(hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}
