//! `check --kernel` and `check --dual-lp`: the same question in the space of a kernel.

use std::fmt::Write;

use rosenblatt::Error;
use rosenblatt::data::Dataset;
use rosenblatt::kernel::Kernel;
use rosenblatt::proof::{
    BiasTerm, Claim, Decision, DualCounts, ExactRows, Gram, ProvedVerdict, StrictKernel, TwoSides,
    Verdict, dual_counts, has_exact_values, strict_kernel,
};
use serde_json::json;

use super::examined::Examined;
use super::proof::{prove, proved_text};
use super::support::{separated, support};
use super::undecided::undecided;
use super::watch::Watch;
use crate::args::CheckArgs;
use crate::commands::context::Context;
use crate::output::{self, Done, Failure, Outcome};
use crate::render::numbers::{count, short};

/// How the question was decided.
enum Decided {
    /// On a matrix of exact kernel values.
    Exactly(ProvedVerdict),
    /// By equal rows with different labels.
    ByEqualRows(StrictKernel),
}

impl Decided {
    fn verdict(&self) -> Verdict {
        match self {
            Decided::Exactly(decision) => decision.verdict(),
            Decided::ByEqualRows(strict) => strict.verdict,
        }
    }

    /// The rows that the refutation weighs, from 1.
    fn support(&self, data: &Dataset) -> Vec<usize> {
        match self {
            Decided::Exactly(decision) => support(data, decision),
            Decided::ByEqualRows(strict) => {
                let rows = strict.lambda.iter();
                rows.map(|(row, _)| data.number(*row) + 1).collect()
            }
        }
    }

    /// How many rows a best separator has strictly on their right side.
    fn separated(&self, data: &Dataset) -> usize {
        match (self.verdict(), self) {
            (Verdict::Separable, _) => data.len(),
            (_, Decided::Exactly(decision)) => separated(decision).map_or(0, <[usize]>::len),
            (_, Decided::ByEqualRows(strict)) => data.len() - strict.lambda.len(),
        }
    }
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
    let kernel = args.kernel.unwrap_or(Kernel::Linear);
    accept(args, data, &kernel, bias)?;
    // The kernel adds what a lift would.
    let rows = TwoSides::positive_against_rest(exact, BiasTerm::None);
    let lifted = bias == BiasTerm::Lifted;
    let gram = if has_exact_values(&kernel) {
        Some(Gram::new(&rows, &kernel, lifted)?)
    } else if kernel == Kernel::Precomputed {
        Some(given(examined)?)
    } else {
        None
    };
    let limits = watch.limits();
    let decided = match &gram {
        Some(gram) => match Decision::new(gram, context.threads, &limits)? {
            Ok(decision) => Decided::Exactly(decision.proved),
            Err(found) => return undecided(args, examined, bias, &found),
        },
        None => Decided::ByEqualRows(strict_kernel(&rows)),
    };
    watch.settled();
    let program = match (args.dual_lp, gram) {
        (false, _) => None,
        (true, Some(gram)) => Some(dual_counts(&gram)),
        (true, None) => Some(dual_counts(&Gram::rounded(&rows, &kernel, lifted)?)),
    };
    let class = data.classes.len().saturating_sub(1) as u32;
    let claim = match &decided {
        Decided::Exactly(decision) => Claim::InKernel(class, &kernel, decision),
        Decided::ByEqualRows(strict) => Claim::InStrictKernel(class, &kernel, strict),
    };
    let proved = prove(args, examined, bias, claim)?;
    let verdict = decided.verdict();
    if args.json {
        let mut found = json!({
            "verdict": verdict.name(),
            "kernel": kernel.to_string(),
            "bias": if lifted { "lifted" } else { "none" },
            "examples": data.len(),
            "features": data.features(),
            "classes": data.classes.names(),
            "margin": null,
            "radius": radius(data, &kernel, lifted),
            "updates_at_most": null,
            "infinite_coefficients": [],
            "support": decided.support(data),
            "separated_rows": decided.separated(data),
            "certificate": args.certificate.as_ref().map(|path| path.display().to_string()),
            "verified": proved.as_ref().map(|_| true),
            "certified_verdict": proved,
        });
        if let Some(program) = &program {
            found["dual_lp"] = match program {
                Some(best) => json!({
                    "feasible": true,
                    "objective": best.total,
                    "at_least": best.at_least,
                    "counts": listed(data, best),
                }),
                None => json!({"feasible": false, "objective": null, "counts": []}),
            };
        }
        output::print_json(&found)?;
        return Ok(Done::Finished);
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} in the space of the kernel {kernel}{}: {}",
        verdict.name(),
        if lifted { " + 1" } else { "" },
        explain(&decided, data)
    );
    if let Some(program) = &program {
        text.push_str(&program_text(program.as_ref(), verdict, data));
    }
    text.push_str(&proved_text(args, proved.as_deref(), verdict));
    output::print(&text)?;
    Ok(Done::Finished)
}

/// Refuses questions that have no provable answer.
fn accept(
    args: &CheckArgs,
    data: &Dataset,
    kernel: &Kernel,
    bias: BiasTerm,
) -> Result<(), Failure> {
    let refused = if data.classes.len() > 2 {
        Error::options("check --kernel and --dual-lp ask about two classes")
            .remedy("name one against the rest with --positive CLASS")
    } else if let Kernel::Sigmoid { .. } = kernel {
        Error::options(
            "the kernel sigmoid has no exact values and is not always positive semidefinite, so no verdict on it could be proved",
        )
        .remedy("use a polynomial, geometric, monomial, rbf or laplacian kernel")
    } else if *kernel == Kernel::Precomputed && bias == BiasTerm::Lifted {
        Error::options(
            "--bias lifted adds 1 to kernel values, and those in the file are taken as they are",
        )
        .remedy("add 1 to them in the file, or leave out --bias")
    } else if *kernel == Kernel::Precomputed && args.certificate.is_some() {
        Error::options("certificates speak of rows of features, and a Gram matrix has none")
            .remedy("leave out --certificate, or check the rows themselves")
    } else {
        kernel.check(data)?;
        return Ok(());
    };
    Err(refused.into())
}

/// The Gram matrix that the data are.
fn given(examined: &Examined) -> rosenblatt::Result<Gram> {
    let data = &examined.data;
    let n = data.len();
    let mut values = vec![0.0; n * n];
    for (i, row) in values.chunks_exact_mut(n).enumerate() {
        data.row(i).for_each(|j, x| row[j] = x);
    }
    let last = data.classes.len().saturating_sub(1) as u32;
    let signs = data
        .labels
        .iter()
        .map(|&l| if l == last { 1.0 } else { -1.0 });
    Gram::precomputed(&values, signs.collect(), examined.notation)
}

/// R = max √(K(x, x)).
fn radius(data: &Dataset, kernel: &Kernel, lifted: bool) -> f64 {
    let own = |i: usize| match kernel {
        Kernel::Precomputed => data.row(i).get(data.number(i)),
        _ => kernel.of_itself(data.row(i)),
    };
    let most = (0..data.len()).map(own).fold(0.0, f64::max);
    (most + f64::from(u8::from(lifted))).sqrt()
}

fn explain(decided: &Decided, data: &Dataset) -> String {
    match (decided, decided.verdict()) {
        (Decided::ByEqualRows(_), Verdict::Separable) => {
            "no two equal rows have different labels, and the images of distinct rows are linearly independent"
                .into()
        }
        (Decided::ByEqualRows(strict), _) => {
            let shown: Vec<String> = strict
                .conflicts
                .iter()
                .take(10)
                .map(|(a, b)| format!("{} and {}", data.number(*a) + 1, data.number(*b) + 1))
                .collect();
            let more = strict.conflicts.len() - shown.len();
            format!(
                "equal rows have different labels: {}{}",
                shown.join(", "),
                if more > 0 {
                    format!(" and {} more pairs", count(more as u64))
                } else {
                    String::new()
                }
            )
        }
        (_, Verdict::Separable) => "a hyperplane has every image strictly on its correct side".into(),
        (_, Verdict::QuasiSeparable) => format!(
            "no hyperplane separates all images strictly, but one misclassifies none and has {} of {} strictly on their correct side",
            count(decided.separated(data) as u64),
            count(data.len() as u64)
        ),
        (_, Verdict::Overlapping) => {
            "every hyperplane misclassifies an image or contains them all".into()
        }
    }
}

/// Row numbers from 1 with the coefficients that are not 0.
fn listed(data: &Dataset, best: &DualCounts) -> Vec<(usize, f64)> {
    let all = best.counts.iter().enumerate();
    all.filter(|(_, a)| **a > 0.0)
        .map(|(i, a)| (data.number(i) + 1, *a))
        .collect()
}

fn program_text(program: Option<&DualCounts>, verdict: Verdict, data: &Dataset) -> String {
    let Some(best) = program else {
        return if verdict == Verdict::Separable {
            "the dual program is feasible, since the rows are separable, but no solution was found in floating point\n".into()
        } else {
            "the dual program is infeasible: for a valid kernel it is feasible if and only if the rows are separable\n".into()
        };
    };
    let rows = listed(data, best);
    let mut text = format!(
        "smallest sum of dual coefficients: {} (lower bound {}), on {} of {} rows:\n",
        short(best.total),
        short(best.at_least),
        count(rows.len() as u64),
        count(data.len() as u64)
    );
    for (row, a) in rows.iter().take(20) {
        let _ = writeln!(text, "  row {row}: {}", short(*a));
    }
    if rows.len() > 20 {
        let _ = writeln!(text, "  and {} more (--json lists all)", rows.len() - 20);
    }
    text
}
