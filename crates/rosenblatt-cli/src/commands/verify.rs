//! `verify`: does a certificate prove what it says about a file?

use std::io;
use std::path::Path;

use rosenblatt::Error;
use rosenblatt::read::decompressed;
use rosenblatt_verify::{Outcome as Checked, verify_stream};
use serde_json::json;

use crate::args::VerifyArgs;
use crate::output::{self, Done, Outcome};

pub fn run(args: &VerifyArgs) -> Outcome {
    let certificate =
        std::fs::read(&args.certificate).map_err(|e| Error::io(&args.certificate, &e))?;
    let checked = check(&certificate, &args.data)?;
    let reason = match &checked {
        Checked::Holds(_) => None,
        Checked::DoesNotHold(_, flaw) => Some(flaw.to_string()),
        Checked::Malformed(malformed) => {
            return Err(
                Error::data(format!("this is not a certificate: {malformed}"))
                    .in_file(&args.certificate)
                    .into(),
            );
        }
    };
    let verdict = match &checked {
        Checked::Holds(claim) | Checked::DoesNotHold(claim, _) => claim.verdict.to_string(),
        Checked::Malformed(_) => String::new(),
    };
    if args.json {
        output::print_json(
            &json!({"holds": reason.is_none(), "verdict": verdict, "reason": reason}),
        )?;
    } else {
        output::print(&format!("{checked}\n{}", sides(&certificate)))?;
    }
    Ok(if reason.is_none() {
        Done::Finished
    } else {
        Done::Refuted
    })
}

/// What stands against what, so that a reader sees which question was answered.
fn sides(certificate: &[u8]) -> String {
    let Ok(document) = serde_json::from_slice::<serde_json::Value>(certificate) else {
        return String::new();
    };
    let list = |value: &serde_json::Value| {
        let labels: Vec<&str> = value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|l| l.as_str())
            .collect();
        if labels.is_empty() {
            "(no label)".to_owned()
        } else {
            labels.join(", ")
        }
    };
    let labels = &document["labels"];
    let question = match labels["classes"].as_array() {
        Some(classes) => classes.iter().map(list).collect::<Vec<_>>().join(" | "),
        None => format!(
            "{} against {}",
            list(&labels["positive"]),
            list(&labels["negative"])
        ),
    };
    format!(
        "labels: {question}; bias: {}\n",
        document["bias"].as_str().unwrap_or("?")
    )
}

/// Checks a certificate against the file at `path`.
pub fn check(certificate: &[u8], path: &Path) -> rosenblatt::Result<Checked> {
    verify_stream(certificate, || {
        decompressed(path).map_err(|e| io::Error::other(e.to_string()))
    })
    .map_err(|e| Error::io(path, &e))
}
