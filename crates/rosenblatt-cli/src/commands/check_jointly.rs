//! `check` of several classes: all at once, each against the rest, each pair.

use std::fmt::Write;

use rosenblatt::proof::{
    BiasTerm, Claim, ExactRows, JointRows, Sides, TwoSides, Verdict, Witness, decide,
    joint_margin, radius,
};
use rosenblatt::bounds;
use serde_json::json;

use super::check::{Examined, bound_text, bracket, budget, prove, proved_text};
use super::{Context, in_data};
use crate::args::CheckArgs;
use crate::output::{self, Done, Outcome};
use crate::render::numbers::short;
use crate::render::table::{Align, clipped, columns};

pub fn run(
    context: Context,
    args: &CheckArgs,
    examined: &Examined,
    exact: &ExactRows<'_>,
    bias: BiasTerm,
) -> Outcome {
    let data = &examined.data;
    let jointly = JointRows::new(exact, bias);
    let joint = decide(&jointly, context.threads).map_err(|e| in_data(e, &args.data))?;
    let r = radius(
        &TwoSides::positive_against_rest(exact, bias),
        context.threads,
    );
    let margin = match &joint.witness {
        Witness::Separable { w } => Some(joint_margin(&jointly, w, budget(args), context.threads)),
        _ => None,
    };
    // A correction of two discriminators is one of a row √2 times as long.
    let most = margin.and_then(|m| {
        let longest = r * std::f64::consts::SQRT_2 * (1.0 + f64::EPSILON);
        bounds::count(bounds::from_zero(longest, m.lower))
    });
    let k = data.classes.len() as u32;
    let mut against_rest = Vec::new();
    for class in 0..k {
        let rows = TwoSides::new(exact, bias, Sides::AgainstRest(class));
        against_rest.push((class, decide(&rows, context.threads)?.verdict()));
    }
    let mut pairs = Vec::new();
    if args.pairs {
        for low in 0..k {
            for high in low + 1..k {
                let rows = TwoSides::new(exact, bias, Sides::Pair(high, low));
                pairs.push((low, high, decide(&rows, context.threads)?.verdict()));
            }
        }
    }
    let proved = prove(args, examined, bias, Claim::Jointly(&jointly, &joint))?;
    let name = |class: u32| data.classes.name(class);
    if args.json {
        output::print_json(&json!({
            "verdict": joint.verdict().name(),
            "examples": data.len(),
            "features": data.features(),
            "classes": data.classes.names(),
            "margin": margin.map(bracket),
            "radius": r,
            "updates_at_most": most,
            "infinite_coefficients": [],
            "support": joint.refutation.iter().map(|(row, _)| data.number(jointly.example_and_rival(*row).0) + 1).collect::<std::collections::BTreeSet<_>>(),
            "against_rest": against_rest.iter().map(|(c, v)| json!({"class": name(*c), "verdict": v.name()})).collect::<Vec<_>>(),
            "pairs": pairs.iter().map(|(a, b, v)| json!({"classes": [name(*a), name(*b)], "verdict": v.name()})).collect::<Vec<_>>(),
            "certificate": args.certificate.as_ref().map(|path| path.display().to_string()),
            "verified": proved,
        }))?;
        return Ok(Done::Finished);
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "jointly {}: {}",
        joint.verdict().name(),
        match joint.verdict() {
            Verdict::Separable =>
                "discriminators exist whose largest score is always the right class's",
            Verdict::QuasiSeparable =>
                "no discriminators are always right, but some are never wrong and sometimes strictly right",
            Verdict::Overlapping =>
                "any discriminators are wrong somewhere, or undecided everywhere",
        }
    );
    if let Some(margin) = margin {
        let _ = writeln!(
            text,
            "margin of all discriminators together in [{}, {}]; R = {}",
            short(margin.lower),
            short(margin.upper),
            short(r)
        );
        text.push_str(&bound_text(most));
    }
    let rows: Vec<Vec<String>> = against_rest
        .iter()
        .map(|(c, v)| vec![clipped(name(*c), 30), v.name().to_owned()])
        .collect();
    let _ = writeln!(text, "each class against the rest:");
    text.push_str(&columns(&rows, &[Align::Left, Align::Left], 2));
    if !pairs.is_empty() {
        let rows: Vec<Vec<String>> = pairs
            .iter()
            .map(|(a, b, v)| {
                vec![
                    clipped(name(*a), 30),
                    clipped(name(*b), 30),
                    v.name().to_owned(),
                ]
            })
            .collect();
        let _ = writeln!(text, "each pair:");
        text.push_str(&columns(&rows, &[Align::Left; 3], 2));
    }
    text.push_str(&proved_text(args, proved));
    output::print(&text)?;
    Ok(Done::Finished)
}
