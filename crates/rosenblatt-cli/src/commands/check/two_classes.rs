//! `check` of two classes: the verdict, the margin, and the estimates of a logistic regression.

use std::fmt::Write;

use rosenblatt::bounds;
use rosenblatt::data::Dataset;
use rosenblatt::progress::Stop;
use rosenblatt::proof::{
    BiasTerm, Bracket, Claim, Decision, Estimate, ExactRows, MarginKind, Notation, ProvedVerdict,
    SignedRows, TwoSides, Verdict, Witness, margin_within, radius,
};
use serde_json::{Value, json};

use super::examined::Examined;
use super::inseparable::{Inseparable, inseparable, inseparable_text};
use super::margin::{bound_text, bracket, effort, weighted_text};
use super::outcome::{next_step, outcome_text, r_name, toward};
use super::proof::{prove, proved_text};
use super::support::{separated, support};
use super::undecided::undecided;
use super::watch::Watch;
use crate::args::CheckArgs;
use crate::commands::context::{Context, in_data};
use crate::output::{self, Done, Failure, Outcome};
use crate::render::numbers::{count, short};
use crate::render::table::{Align, clipped, columns};

/// What was found out beside the verdict.
#[derive(Default)]
struct Findings {
    /// Every coefficient by name with where its estimate goes, and the rank of all rows; none
    /// where they were not classified.
    estimates: Option<(Vec<(String, Estimate)>, usize)>,
    /// The largest margin, with the bias among the weights and without.
    lifted: Option<Bracket>,
    plain: Option<Bracket>,
    radius: Option<f64>,
    /// The same of the rows times their weights, where there are weights.
    weighted: Option<(Bracket, f64)>,
    /// What bounds a perceptron where no hyperplane separates.
    inseparable: Option<Inseparable>,
    updates_at_most: Option<u64>,
    /// What cut the search for all this short.
    stop: Option<Stop>,
}

pub(super) fn run(
    context: Context,
    args: &CheckArgs,
    examined: &Examined,
    exact: &ExactRows<'_>,
    bias: BiasTerm,
    watch: &Watch,
) -> Outcome {
    let data = &examined.data;
    let rows = TwoSides::positive_against_rest(exact, bias);
    let class = data.classes.len().saturating_sub(1) as u32;
    let limits = watch.limits();
    let decided = Decision::new(&rows, context.threads, &limits);
    let decision = match decided.map_err(|e| in_data(e, &args.data))? {
        Ok(decision) => decision,
        Err(found) => return undecided(args, examined, bias, &found),
    };
    watch.settled();
    // The verdict and its certificate first: what follows may take much longer.
    watch.doing("certificate");
    let proved = prove(
        args,
        examined,
        bias,
        Claim::AgainstRest(class, &decision.proved),
    )?;
    if !args.json {
        let verdict = decision.proved.verdict().name();
        output::print(&format!("{verdict}: {}\n", explain(&decision.proved, data)))?;
    }
    let findings = match args.verdict_only {
        true => Findings::default(),
        false => findings(context, args, examined, &rows, &decision, watch)?,
    };
    let proved = proved.as_deref();
    match args.json {
        true => output::print_json(&json(args, examined, &decision.proved, &findings, proved))?,
        false => {
            let found = &decision.proved;
            output::print(&text(
                args,
                examined,
                found,
                &findings,
                rows.dimension(),
                proved,
            ))?;
        }
    }
    Ok(match findings.stop {
        Some(Stop::Interrupted) => Done::Interrupted,
        _ => Done::Finished,
    })
}

/// What is found out beside the verdict, within the limits.
fn findings(
    context: Context,
    args: &CheckArgs,
    examined: &Examined,
    rows: &TwoSides<'_>,
    decision: &Decision<'_>,
    watch: &Watch,
) -> Result<Findings, Failure> {
    let data = &examined.data;
    let (bias, limits) = (rows.bias(), watch.limits());
    let separator = match &decision.proved.witness {
        Witness::Separable { w } => Some(w.as_slice()),
        _ => None,
    };
    let r = radius(rows, context.threads);
    let effort = effort(args);
    watch.doing("margin");
    let margin = |rows: &TwoSides<'_>, kind, w| {
        margin_within(&limits, rows, kind, Some(w), effort, context.threads)
    };
    let [lifted, plain] = [MarginKind::Lifted, MarginKind::Plain]
        .map(|kind| separator.map(|w| margin(rows, kind, w)));
    // The bound is that of the rows that a perceptron adds: times their weights.
    let weighted = match (examined.weighted(bias), separator) {
        (Some(data), Some(w)) => {
            let exact =
                ExactRows::new(&data, Notation::Binary, &[]).map_err(|e| in_data(e, &args.data))?;
            let rows = TwoSides::positive_against_rest(&exact, BiasTerm::None);
            let found = margin(&rows, MarginKind::Lifted, w);
            Some((found, radius(&rows, context.threads)))
        }
        _ => None,
    };
    let updates_at_most = weighted
        .or(lifted.map(|margin| (margin, r)))
        .and_then(|(margin, r)| bounds::count(bounds::from_zero(r, margin.lower)));
    // Classifying every coefficient costs a solve each; the verdict alone does not.
    let classified = match rows.dimension() <= args.coefficients {
        true => decision.coefficients().ok(),
        false => None,
    };
    let estimates = classified.map(|found| {
        let named = found.estimates.iter().enumerate();
        let named = named.map(|(j, t)| (coordinate_name(data, bias, j), *t));
        (named.collect(), found.rank)
    });
    watch.doing("bound on a perceptron's updates");
    let inseparable = match separator {
        None if data.weights.is_none() && limits.now().is_none() => {
            inseparable(data, bias, context.threads)?
        }
        _ => None,
    };
    Ok(Findings {
        estimates,
        lifted,
        plain,
        radius: Some(r),
        weighted,
        inseparable,
        updates_at_most,
        stop: limits.now(),
    })
}

fn json(
    args: &CheckArgs,
    examined: &Examined,
    decision: &ProvedVerdict,
    findings: &Findings,
    proved: Option<&str>,
) -> Value {
    let data = &examined.data;
    let those = |wanted: &[Estimate]| -> Vec<_> {
        let all = findings.estimates.iter().flat_map(|(all, _)| all);
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
        "separation": match decision.verdict() {
            Verdict::Separable => "complete",
            Verdict::QuasiSeparable => "quasi-complete",
            Verdict::Overlapping => "none",
        },
        "coefficients": findings.estimates.as_ref().map(|(all, _)| {
            let named = |(name, t): &(String, Estimate)| json!({"name": name, "maximum_likelihood": r_name(*t)});
            all.iter().map(named).collect::<Vec<_>>()
        }),
        "reference_levels": examined.references,
        "not_unique": not_unique.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "not_identified": not_identified.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "support": support(data, decision),
        "separated_rows": separated_rows,
        "rank": findings.estimates.as_ref().map_or(decision.balanced_rank, |(_, rank)| Some(*rank)),
        "stop": findings.stop.map(Stop::name),
        "certificate": args.certificate.as_ref().map(|path| path.display().to_string()),
        "verified": proved.map(|_| true),
        "certified_verdict": proved,
    })
}

/// What follows the line with the verdict.
fn text(
    args: &CheckArgs,
    examined: &Examined,
    decision: &ProvedVerdict,
    findings: &Findings,
    dimension: usize,
    proved: Option<&str>,
) -> String {
    let data = &examined.data;
    let mut text = String::new();
    if let (Some(lifted), Some(plain), Some(radius)) =
        (findings.lifted, findings.plain, findings.radius)
    {
        let _ = writeln!(
            text,
            "margin in [{}, {}] lifted, [{}, {}] plain; R = {}",
            short(lifted.lower),
            short(lifted.upper),
            short(plain.lower),
            short(plain.upper),
            short(radius)
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
    match &findings.estimates {
        Some((all, _)) => {
            let infinite = all.iter().filter(|(_, t)| *t != Estimate::Finite);
            let infinite: Vec<_> = infinite.collect();
            text.push_str(&logistic(&infinite));
            if infinite.iter().any(|(_, t)| *t != Estimate::NotIdentified) {
                text.push_str(&outcome_text(examined));
                text.push_str(next_step());
            }
        }
        None if args.verdict_only => {}
        None if dimension <= args.coefficients => {
            text.push_str("coefficients were not classified: the time was up\n");
        }
        None => {
            let _ = writeln!(
                text,
                "coefficients were not classified: there are {}, more than --coefficients {}",
                count(dimension as u64),
                args.coefficients
            );
        }
    }
    text.push_str(&proved_text(args, proved, decision.verdict()));
    text
}

/// The name of a coordinate: the bias, or a feature.
pub(in crate::commands) fn coordinate_name(data: &Dataset, bias: BiasTerm, j: usize) -> String {
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

fn logistic(infinite: &[&(String, Estimate)]) -> String {
    if infinite.is_empty() {
        return "the maximum likelihood estimates of a logistic regression are finite and unique\n"
            .into();
    }
    let mut rows = Vec::new();
    for (name, trend) in infinite.iter().take(30) {
        rows.push(vec![clipped(name, 40), toward(*trend).to_owned()]);
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
