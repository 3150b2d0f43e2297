//! What is said when a limit ends a check without a verdict.

use std::path::PathBuf;

use rosenblatt::data::Dataset;
use rosenblatt::progress::Stop;
use rosenblatt::proof::{BiasTerm, Claim, Undecided};
use serde_json::json;

use super::examined::Examined;
use super::proof::prove;
use crate::args::CheckArgs;
use crate::output::{self, Done, Failure, Outcome};
use crate::render::numbers::{count, counted};

/// What is known without having read the file.
pub(super) struct Known {
    json: bool,
    time_limit: Option<f64>,
    certificate: Option<PathBuf>,
}

impl Known {
    pub(super) fn of(args: &CheckArgs) -> Known {
        Known {
            json: args.json,
            time_limit: args.time_limit,
            certificate: args.certificate.clone(),
        }
    }
}

/// Reports what was found out, with a certificate of it where one is asked for.
pub(super) fn undecided(
    args: &CheckArgs,
    examined: &Examined,
    bias: BiasTerm,
    found: &Undecided,
) -> Outcome {
    let data = &examined.data;
    let class = data.classes.len().saturating_sub(1) as u32;
    let refuted = !found.refutation.is_empty();
    let plain = data.classes.len() <= 2 && args.kernel.is_none();
    let proved = match refuted && plain {
        true => {
            let claim = Claim::Refuted(class, &found.refutation);
            prove(args, examined, bias, claim)?
        }
        false => None,
    };
    let support: Vec<usize> = match plain {
        true => rows_of(data, found),
        false => Vec::new(),
    };
    report(
        &Known::of(args),
        found.stop,
        refuted,
        found.fewest_misclassified,
        &support,
        proved.as_deref(),
    )?;
    Ok(match found.stop {
        Stop::Interrupted => Done::Interrupted,
        _ => Done::Undecided,
    })
}

fn rows_of(data: &Dataset, found: &Undecided) -> Vec<usize> {
    let rows = found.refutation.iter();
    rows.map(|(row, _)| data.number(*row) + 1).collect()
}

/// Prints it.
pub(super) fn report(
    known: &Known,
    stop: Stop,
    refuted: bool,
    fewest: Option<usize>,
    support: &[usize],
    proved: Option<&str>,
) -> Result<(), Failure> {
    if known.json {
        return output::print_json(&json!({
            "verdict": "undecided",
            "stop": stop.name(),
            "separable": refuted.then_some(false),
            "fewest_misclassified": fewest,
            "margin": null,
            "radius": null,
            "updates_at_most": null,
            "infinite_coefficients": [],
            "support": support,
            "certificate": proved.and(known.certificate.as_ref()).map(|path| path.display().to_string()),
            "certified_verdict": proved,
        }));
    }
    let mut text = match (stop, known.time_limit) {
        (Stop::TimeLimit, Some(seconds)) => {
            format!("undecided: the time limit of {seconds} s ended the search\n")
        }
        _ => "undecided: the search was interrupted\n".to_owned(),
    };
    text.push_str(match refuted {
        true => "not separable, proved; whether quasi-separable or overlapping is open\n",
        false => "nothing is proved yet: the rows may be separable, quasi-separable or overlap\n",
    });
    if let Some(rows) = fewest {
        text.push_str(&format!(
            "the best hyperplane met does not have {} strictly on the correct side\n",
            counted(rows as u64, "example", "examples")
        ));
    }
    if !support.is_empty() {
        let shown: Vec<String> = support.iter().take(20).map(usize::to_string).collect();
        let more = match support.len() {
            0..=20 => String::new(),
            all => format!(" and {} more", count(all as u64 - 20)),
        };
        text.push_str(&format!(
            "proof that they are not separable: a combination of rows {}{more}\n",
            shown.join(", ")
        ));
    }
    if let (Some(path), Some(proved)) = (&known.certificate, proved) {
        let path = path.display();
        text.push_str(&format!("certificate {path}: it proves {proved}\n"));
    }
    output::print(&text)
}
