//! `check` of two classes: the verdict, the margin, and the estimates of a logistic regression.

use std::fmt::Write;

use rosenblatt::bounds;
use rosenblatt::data::Dataset;
use rosenblatt::proof::{
    BiasTerm, Bracket, Claim, Coefficients, Estimate, ExactRows, MarginKind, Notation,
    ProvedVerdict, SignedRows, TwoSides, Witness, coefficients, decide, margin, radius,
};
use serde_json::{Value, json};

use super::examined::Examined;
use super::inseparable::{Inseparable, inseparable, inseparable_text};
use super::margin::{bound_text, bracket, effort, weighted_text};
use super::proof::{prove, proved_text};
use super::support::{separated, support};
use crate::args::CheckArgs;
use crate::commands::context::{Context, in_data};
use crate::output::{self, Done, Outcome};
use crate::render::numbers::{count, short};
use crate::render::table::{Align, clipped, columns};

/// What was found out.
struct Findings {
    coefficients: Coefficients,
    /// Whether the coefficients were classified.
    classified: bool,
    /// Those without a finite or unique estimate, by name.
    infinite: Vec<(String, Estimate)>,
    /// The largest margin, with the bias among the weights and without.
    lifted: Option<Bracket>,
    plain: Option<Bracket>,
    radius: f64,
    /// The same of the rows times their weights, where there are weights.
    weighted: Option<(Bracket, f64)>,
    /// What bounds a perceptron where no hyperplane separates.
    inseparable: Option<Inseparable>,
    updates_at_most: Option<u64>,
    /// The verdict that the certificate proves.
    proved: Option<String>,
}

pub(super) fn run(
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
    let classified = rows.dimension() <= args.coefficients;
    let found = if classified {
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
    let separator = match &found.decision.witness {
        Witness::Separable { w } => Some(w.as_slice()),
        _ => None,
    };
    let r = radius(&rows, context.threads);
    let effort = effort(args);
    let [lifted, plain] = [MarginKind::Lifted, MarginKind::Plain]
        .map(|kind| separator.map(|w| margin(&rows, kind, Some(w), effort, context.threads)));
    // The bound is that of the rows that a perceptron adds: times their weights.
    let weighted = match (examined.weighted(bias), separator) {
        (Some(data), Some(w)) => {
            let exact =
                ExactRows::new(&data, Notation::Binary, &[]).map_err(|e| in_data(e, &args.data))?;
            let rows = TwoSides::positive_against_rest(&exact, BiasTerm::None);
            let kind = MarginKind::Lifted;
            let found = margin(&rows, kind, Some(w), effort, context.threads);
            Some((found, radius(&rows, context.threads)))
        }
        _ => None,
    };
    let updates_at_most = weighted
        .or(lifted.map(|margin| (margin, r)))
        .and_then(|(margin, r)| bounds::count(bounds::from_zero(r, margin.lower)));
    let proved = prove(
        args,
        examined,
        bias,
        Claim::AgainstRest(class, &found.decision),
    )?;
    let infinite = found
        .estimates
        .iter()
        .enumerate()
        .filter(|(_, t)| !matches!(t, Estimate::Finite))
        .map(|(j, t)| (coordinate_name(data, bias, j), *t))
        .collect();
    let inseparable = match separator {
        None if data.weights.is_none() => inseparable(data, bias, context.threads)?,
        _ => None,
    };
    let findings = Findings {
        inseparable,
        coefficients: found,
        classified,
        infinite,
        lifted,
        plain,
        radius: r,
        weighted,
        updates_at_most,
        proved,
    };
    match args.json {
        true => output::print_json(&json(args, data, &findings))?,
        false => output::print(&text(args, data, &findings, rows.dimension()))?,
    }
    Ok(Done::Finished)
}

fn json(args: &CheckArgs, data: &Dataset, findings: &Findings) -> Value {
    let decision = &findings.coefficients.decision;
    let those = |wanted: &[Estimate]| -> Vec<_> {
        let all = findings.infinite.iter();
        all.filter(|(_, trend)| wanted.contains(trend)).collect()
    };
    let infinite = those(&[Estimate::PlusInfinity, Estimate::MinusInfinity]);
    let not_unique = those(&[Estimate::Either]);
    let not_identified = those(&[Estimate::NotIdentified]);
    let separated_rows = match (&decision.witness, separated(decision)) {
        (Witness::Separable { .. }, _) => data.len(),
        (_, separated) => separated.map_or(0, <[usize]>::len),
    };
    json!({
        "verdict": decision.verdict().name(),
        "examples": data.len(),
        "features": data.features(),
        "classes": data.classes.names(),
        "margin": findings.lifted.map(bracket),
        "plain_margin": findings.plain.map(bracket),
        "radius": findings.radius,
        "weighted_margin": findings.weighted.map(|(margin, _)| bracket(margin)),
        "weighted_radius": findings.weighted.map(|(_, radius)| radius),
        "updates_at_most": findings.updates_at_most,
        "updates_in_passes": findings.inseparable,
        "infinite_coefficients": infinite.iter().map(|(name, t)| json!({"name": name, "toward": t})).collect::<Vec<_>>(),
        "not_unique": not_unique.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "not_identified": not_identified.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "support": support(data, decision),
        "separated_rows": separated_rows,
        "rank": findings.coefficients.rank,
        "certificate": args.certificate.as_ref().map(|path| path.display().to_string()),
        "verified": findings.proved.as_ref().map(|_| true),
        "certified_verdict": findings.proved,
    })
}

fn text(args: &CheckArgs, data: &Dataset, findings: &Findings, dimension: usize) -> String {
    let decision = &findings.coefficients.decision;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {}",
        decision.verdict().name(),
        explain(decision, data)
    );
    if let (Some(lifted), Some(plain)) = (findings.lifted, findings.plain) {
        let _ = writeln!(
            text,
            "margin in [{}, {}] lifted, [{}, {}] plain; R = {}",
            short(lifted.lower),
            short(lifted.upper),
            short(plain.lower),
            short(plain.upper),
            short(findings.radius)
        );
        text.push_str(&weighted_text(findings.weighted));
        text.push_str(&bound_text(findings.updates_at_most));
    }
    if let Some(bound) = &findings.inseparable {
        text.push_str(&inseparable_text(bound));
    }
    if !decision.lambda().is_empty() {
        let rows = support(data, decision);
        let shown: Vec<String> = rows.iter().take(20).map(usize::to_string).collect();
        let more = if rows.len() > 20 {
            format!(" and {} more", rows.len() - 20)
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "proof: a combination of rows {}{more}",
            shown.join(", ")
        );
    }
    if findings.classified {
        text.push_str(&logistic(&findings.infinite));
    } else {
        let _ = writeln!(
            text,
            "coefficients were not classified: there are {}, more than --coefficients {}",
            count(dimension as u64),
            args.coefficients
        );
    }
    text.push_str(&proved_text(
        args,
        findings.proved.as_deref(),
        decision.verdict(),
    ));
    text
}

/// The name of a coordinate: the bias, or a feature.
fn coordinate_name(data: &Dataset, bias: BiasTerm, j: usize) -> String {
    match bias {
        BiasTerm::Lifted if j == 0 => "(bias)".into(),
        BiasTerm::Lifted => data.names.get(j - 1).into_owned(),
        BiasTerm::None => data.names.get(j).into_owned(),
    }
}

fn explain(decision: &ProvedVerdict, data: &Dataset) -> String {
    match &decision.witness {
        Witness::Separable { .. } => {
            "a hyperplane has every example strictly on its correct side".into()
        }
        Witness::QuasiSeparable { separated, .. } => format!(
            "no hyperplane separates all examples strictly, but one misclassifies none and has {} of {} strictly on their correct side",
            count(separated.len() as u64),
            count(data.len() as u64)
        ),
        Witness::Overlapping { .. } => {
            "every hyperplane misclassifies an example or contains them all".into()
        }
    }
}

fn logistic(infinite: &[(String, Estimate)]) -> String {
    if infinite.is_empty() {
        return "the maximum likelihood estimates of a logistic regression are finite and unique\n"
            .into();
    }
    let mut rows = Vec::new();
    for (name, trend) in infinite.iter().take(30) {
        let toward = match trend {
            Estimate::PlusInfinity => "to +∞",
            Estimate::MinusInfinity => "to −∞",
            Estimate::Either => "no unique limit: finite or infinite, either sign",
            Estimate::NotIdentified => "not identified",
            Estimate::Finite => "finite",
        };
        rows.push(vec![clipped(name, 40), toward.to_owned()]);
    }
    let mut text =
        String::from("coefficients of a logistic regression without a finite, unique estimate:\n");
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
