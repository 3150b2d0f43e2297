//! `logistic`: the estimates of a logistic regression, and whether there are any.

use std::fmt::Write;

use rosenblatt::Error;
use rosenblatt::estimation::{Coefficient, Estimates, Estimation, Interval, Objective, estimate};
use rosenblatt::proof::{BiasTerm, Decision, Estimate, ExactRows, Limits, TwoSides, Verdict};
use serde_json::{Value, json};

use super::check::examined::{Examined, Subject, examine};
use super::check::outcome::{next_step, outcome_text, r_name, toward};
use super::check::two_classes::coordinate_name;
use super::context::{Context, in_data, interrupt_flag};
use crate::args::{CheckBias, LogisticArgs};
use crate::output::{self, Done, Failure, Outcome};
use crate::render::numbers::{count, digits};
use crate::render::table::{Align, clipped, columns};

/// What was found out.
struct Findings {
    verdict: Verdict,
    names: Vec<String>,
    /// Where each maximum likelihood estimate goes.
    limits: Vec<Estimate>,
    /// None where there is no maximum.
    estimates: Option<Estimates>,
}

pub fn run(context: Context, args: &LogisticArgs) -> Outcome {
    let subject = Subject {
        file: &args.data,
        more: &[],
        source: &args.source,
        memory: None,
        references: &args.reference,
    };
    let examined = examine(context, subject)?;
    let data = &examined.data;
    if data.classes.len() != 2 {
        return Err(Error::data(format!(
            "a logistic regression has two outcomes, and {:?} has {} classes",
            args.data.display().to_string(),
            data.classes.len()
        ))
        .remedy("name one against the rest with --positive CLASS")
        .into());
    }
    let bias = match args.bias {
        Some(CheckBias::None) => BiasTerm::None,
        _ => BiasTerm::Lifted,
    };
    let (verdict, limits) = separation(context, args, &examined, bias)?;
    let names: Vec<String> = (0..limits.len())
        .map(|j| coordinate_name(data, bias, j))
        .collect();
    refuse_collinear(&names, &limits).map_err(|e| in_data(e, &args.data))?;
    let exists = verdict == Verdict::Overlapping;
    let asked = Estimation {
        objective: match args.firth {
            true => Objective::Firth,
            false => Objective::MaximumLikelihood,
        },
        interval: args.interval,
        level: args.level,
        intercept: bias == BiasTerm::Lifted,
        threads: context.threads,
    };
    let estimates = match exists || args.firth {
        true => Some(estimate(data, &asked).map_err(|e| in_data(e, &args.data))?),
        false => None,
    };
    let findings = Findings {
        verdict,
        names,
        limits,
        estimates,
    };
    match args.json {
        true => output::print_json(&json(args, &examined, &findings))?,
        false => output::print(&text(args, &examined, &findings))?,
    }
    Ok(Done::Finished)
}

/// Whether the estimates exist, in exact arithmetic, and where each goes.
fn separation(
    context: Context,
    args: &LogisticArgs,
    examined: &Examined,
    bias: BiasTerm,
) -> Result<(Verdict, Vec<Estimate>), Failure> {
    let exact = ExactRows::new(&examined.data, examined.notation, &examined.exceptions)
        .map_err(|e| in_data(e, &args.data))?;
    let rows = TwoSides::positive_against_rest(&exact, bias);
    let limits = Limits {
        interrupt: Some(interrupt_flag()),
        ..Limits::default()
    };
    let stopped = || Error::new(rosenblatt::ErrorKind::Interrupted, "interrupted");
    let decided = Decision::new(&rows, context.threads, &limits);
    let decision = decided
        .map_err(|e| in_data(e, &args.data))?
        .map_err(|_| stopped())?;
    let found = decision.coefficients().map_err(|_| stopped())?;
    Ok((found.decision.verdict(), found.estimates))
}

/// Neither likelihood has one maximum where columns make up for each other.
fn refuse_collinear(names: &[String], limits: &[Estimate]) -> Result<(), Error> {
    let all = names.iter().zip(limits);
    let collinear = all.filter(|(_, limit)| **limit == Estimate::NotIdentified);
    let collinear: Vec<&str> = collinear.map(|(name, _)| name.as_str()).collect();
    if collinear.is_empty() {
        return Ok(());
    }
    let shown = collinear[..collinear.len().min(20)].join(", ");
    let more = match collinear.len() {
        0..=20 => String::new(),
        all => format!(" and {} more", all - 20),
    };
    Err(Error::data(format!(
        "collinear columns have no estimates of their own: {shown}{more}"
    ))
    .remedy("leave out columns that others make up for, with --ignore"))
}

fn json(args: &LogisticArgs, examined: &Examined, findings: &Findings) -> Value {
    let data = &examined.data;
    let number = |x: f64| match x.is_finite() {
        true => json!(x),
        false => Value::Null,
    };
    let coefficients: Vec<Value> = (findings.names.iter().zip(&findings.limits).enumerate())
        .map(|(j, (name, limit))| {
            let found = findings.estimates.as_ref().map(|e| e.coefficients[j]);
            let part = |of: fn(Coefficient) -> f64| found.map_or(Value::Null, |c| number(of(c)));
            json!({
                "name": name,
                "estimate": part(|c| c.estimate),
                "standard_error": part(|c| c.standard_error),
                "lower": part(|c| c.lower),
                "upper": part(|c| c.upper),
                "p_value": part(|c| c.p_value),
                "maximum_likelihood": r_name(*limit),
            })
        })
        .collect();
    json!({
        "verdict": findings.verdict.name(),
        "estimates_exist": findings.verdict == Verdict::Overlapping,
        "penalty": if args.firth { "firth" } else { "none" },
        "interval": args.interval,
        "level": args.level,
        "outcome": data.classes.name(1),
        "against": data.classes.name(0),
        "reference_levels": examined.references,
        "examples": data.len(),
        "coefficients": coefficients,
        "log_likelihood": findings.estimates.as_ref().map(|found| found.objective),
    })
}

fn text(args: &LogisticArgs, examined: &Examined, findings: &Findings) -> String {
    let data = &examined.data;
    let mut text = match findings.verdict {
        Verdict::Separable => {
            "complete separation: the maximum likelihood estimates do not exist\n".to_owned()
        }
        Verdict::QuasiSeparable => {
            "quasi-complete separation: some maximum likelihood estimates do not exist\n".to_owned()
        }
        Verdict::Overlapping => {
            "no separation: the maximum likelihood estimates are finite and unique\n".to_owned()
        }
    };
    let all = findings.names.iter().zip(&findings.limits);
    let infinite: Vec<Vec<String>> = all
        .filter(|(_, limit)| **limit != Estimate::Finite)
        .map(|(name, limit)| vec![clipped(name, 40), toward(*limit).to_owned()])
        .collect();
    text.push_str(&columns(&infinite, &[Align::Left, Align::Left], 2));
    text.push_str(&outcome_text(examined));
    let Some(found) = &findings.estimates else {
        text.push_str(next_step());
        return text;
    };
    let _ = writeln!(
        text,
        "{} on {} examples, {} {:.4}",
        match args.firth {
            true => "Firth's penalised likelihood",
            false => "maximum likelihood",
        },
        count(data.len() as u64),
        match args.firth {
            true => "penalised log likelihood",
            false => "log likelihood",
        },
        found.objective
    );
    let kind = match args.interval {
        Interval::Profile => "profile",
        Interval::Wald => "Wald",
    };
    let percent = digits(args.level * 100.0, 4);
    let mut rows = vec![vec![
        String::new(),
        "estimate".into(),
        "std. error".into(),
        format!("{percent} % {kind} interval"),
        "p".into(),
    ]];
    for (name, c) in findings.names.iter().zip(&found.coefficients) {
        rows.push(vec![
            clipped(name, 40),
            digits(c.estimate, 5),
            digits(c.standard_error, 4),
            format!("[{}, {}]", digits(c.lower, 5), digits(c.upper, 5)),
            digits(c.p_value, 3),
        ]);
    }
    let aligned = [
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
    ];
    text.push_str(&columns(&rows, &aligned, 0));
    text
}
