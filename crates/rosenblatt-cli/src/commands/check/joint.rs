//! `check` of several classes: all at once, each against the rest, each pair.

use std::collections::BTreeSet;
use std::fmt::Write;

use rosenblatt::bounds;
use rosenblatt::data::Dataset;
use rosenblatt::progress::Stop;
use rosenblatt::proof::{
    BiasTerm, Bracket, Claim, Decision, ExactRows, Integer, JointRows, Notation, ProvedVerdict,
    Sides, TwoSides, Verdict, Witness, joint_margin_within, radius,
};
use serde_json::{Value, json};

use super::examined::Examined;
use super::margin::{bound_text, bracket, effort, weighted_text};
use super::proof::{prove, proved_text};
use super::undecided::undecided;
use super::watch::Watch;
use crate::args::CheckArgs;
use crate::commands::context::{Context, in_data};
use crate::output::{self, Done, Outcome};
use crate::render::numbers::short;
use crate::render::table::{Align, clipped, columns};

/// What was found out.
struct Findings {
    decision: ProvedVerdict,
    margin: Option<Bracket>,
    radius: f64,
    /// The same of the rows times their weights, where there are weights.
    weighted: Option<(Bracket, f64)>,
    updates_at_most: Option<u64>,
    /// Each class against the rest, as far as that is decided.
    against_rest: Vec<(u32, Option<Verdict>)>,
    /// Each pair of classes, where that was asked.
    pairs: Vec<(u32, u32, Option<Verdict>)>,
    /// The verdict that the certificate proves.
    proved: Option<String>,
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
    let jointly = JointRows::new(exact, bias);
    let limits = watch.limits();
    let decided = Decision::new(&jointly, context.threads, &limits);
    let decision = match decided.map_err(|e| in_data(e, &args.data))? {
        Ok(decision) => decision.proved,
        Err(found) => return undecided(args, examined, bias, &found),
    };
    watch.settled();
    let proved = prove(args, examined, bias, Claim::Jointly(&jointly, &decision))?;
    let wanted = !args.verdict_only;
    let joint_margin = |rows: &JointRows<'_>, w: &[Integer]| {
        joint_margin_within(&limits, rows, w, effort(args), context.threads)
    };
    let r = radius(
        &TwoSides::positive_against_rest(exact, bias),
        context.threads,
    );
    let margin = match &decision.witness {
        Witness::Separable { w } if wanted => Some(joint_margin(&jointly, w)),
        _ => None,
    };
    let weighted = match (examined.weighted(bias), &decision.witness) {
        (Some(data), Witness::Separable { w }) if wanted => {
            let exact =
                ExactRows::new(&data, Notation::Binary, &[]).map_err(|e| in_data(e, &args.data))?;
            let rows = JointRows::new(&exact, BiasTerm::None);
            let found = joint_margin(&rows, w);
            let rows = TwoSides::positive_against_rest(&exact, BiasTerm::None);
            Some((found, radius(&rows, context.threads)))
        }
        _ => None,
    };
    // A correction of two discriminators is one of a row √2 times as long.
    let bounded = weighted.or(margin.map(|margin| (margin, r)));
    let updates_at_most = bounded.and_then(|(m, r)| {
        let longest = r * std::f64::consts::SQRT_2 * (1.0 + f64::EPSILON);
        bounds::count(bounds::from_zero(longest, m.lower))
    });
    let verdict = |sides| -> rosenblatt::Result<Option<Verdict>> {
        let rows = TwoSides::new(exact, bias, sides);
        let decided = Decision::new(&rows, context.threads, &limits)?;
        Ok(decided.ok().map(|decision| decision.proved.verdict()))
    };
    watch.doing("each class against the rest");
    let k = if wanted { data.classes.len() as u32 } else { 0 };
    let mut against_rest = Vec::new();
    for class in 0..k {
        against_rest.push((class, verdict(Sides::AgainstRest(class))?));
    }
    let mut pairs = Vec::new();
    if args.pairs {
        for low in 0..k {
            for high in low + 1..k {
                pairs.push((low, high, verdict(Sides::Pair(high, low))?));
            }
        }
    }
    let findings = Findings {
        proved,
        decision,
        margin,
        radius: r,
        weighted,
        updates_at_most,
        against_rest,
        pairs,
    };
    if args.json {
        let refutation = findings.decision.refutation.iter();
        let support: BTreeSet<usize> = refutation
            .map(|(row, _)| data.number(jointly.example_and_rival(*row).0) + 1)
            .collect();
        output::print_json(&json(args, data, &findings, &support))?;
    } else {
        output::print(&text(args, data, &findings))?;
    }
    Ok(match limits.now() {
        Some(Stop::Interrupted) => Done::Interrupted,
        _ => Done::Finished,
    })
}

/// The name of a verdict, if there is one.
fn named(verdict: Option<Verdict>) -> &'static str {
    verdict.map_or("undecided", Verdict::name)
}

fn json(args: &CheckArgs, data: &Dataset, findings: &Findings, support: &BTreeSet<usize>) -> Value {
    let name = |class: u32| data.classes.name(class);
    json!({
        "verdict": findings.decision.verdict().name(),
        "examples": data.len(),
        "features": data.features(),
        "classes": data.classes.names(),
        "margin": findings.margin.map(bracket),
        "radius": findings.radius,
        "weighted_margin": findings.weighted.map(|(margin, _)| bracket(margin)),
        "weighted_radius": findings.weighted.map(|(_, radius)| radius),
        "updates_at_most": findings.updates_at_most,
        "infinite_coefficients": [],
        "support": support,
        "against_rest": findings.against_rest.iter().map(|(c, v)| json!({"class": name(*c), "verdict": named(*v)})).collect::<Vec<_>>(),
        "pairs": findings.pairs.iter().map(|(a, b, v)| json!({"classes": [name(*a), name(*b)], "verdict": named(*v)})).collect::<Vec<_>>(),
        "certificate": args.certificate.as_ref().map(|path| path.display().to_string()),
        "verified": findings.proved.as_ref().map(|_| true),
        "certified_verdict": findings.proved,
    })
}

fn text(args: &CheckArgs, data: &Dataset, findings: &Findings) -> String {
    let name = |class: u32| clipped(data.classes.name(class), 30);
    let mut text = String::new();
    let verdict = findings.decision.verdict();
    let _ = writeln!(
        text,
        "jointly {}: {}",
        verdict.name(),
        match verdict {
            Verdict::Separable =>
                "some discriminators score the correct class highest for every example",
            Verdict::QuasiSeparable =>
                "no discriminators score the correct class strictly highest everywhere, but some never score another class higher and do so strictly somewhere",
            Verdict::Overlapping => "any discriminators misclassify an example or leave all tied",
        }
    );
    if let Some(margin) = findings.margin {
        let _ = writeln!(
            text,
            "joint margin of the discriminators in [{}, {}]; R = {}",
            short(margin.lower),
            short(margin.upper),
            short(findings.radius)
        );
        text.push_str(&weighted_text(findings.weighted));
        text.push_str(&bound_text(findings.updates_at_most));
    }
    let rows: Vec<Vec<String>> = (findings.against_rest.iter())
        .map(|(c, v)| vec![name(*c), named(*v).to_owned()])
        .collect();
    if !rows.is_empty() {
        let _ = writeln!(text, "each class against the rest:");
        text.push_str(&columns(&rows, &[Align::Left, Align::Left], 2));
    }
    if !findings.pairs.is_empty() {
        let rows: Vec<Vec<String>> = (findings.pairs.iter())
            .map(|(a, b, v)| vec![name(*a), name(*b), named(*v).to_owned()])
            .collect();
        let _ = writeln!(text, "each pair:");
        text.push_str(&columns(&rows, &[Align::Left; 3], 2));
    }
    text.push_str(&proved_text(args, findings.proved.as_deref(), verdict));
    text
}
