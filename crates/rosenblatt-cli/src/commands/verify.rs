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
    if let Checked::Holds(claim) | Checked::DoesNotHold(claim, _) = &checked {
        let question = &claim.question;
        if args.json {
            output::print_json(&json!({
                "holds": reason.is_none(),
                "verdict": claim.verdict_in_words(),
                "reason": reason,
                "file": args.data.display().to_string(),
                "rows": claim.rows,
                "question": {
                    "format": question.format,
                    "lines_left_out": question.skipped,
                    "left_out_start": question.comment,
                    "header": question.header,
                    "columns": question.columns,
                    "labels": question.labels,
                    "bias": if question.lifted { "lifted" } else { "none" },
                    "kernel": question.kernel,
                },
            }))?;
        } else {
            let file = args.data.display();
            output::print(&format!("{checked}\nfile: {file}\n{question}\n"))?;
        }
    }
    Ok(if reason.is_none() {
        Done::Finished
    } else {
        Done::Refuted
    })
}

/// Checks a certificate against the file at `path`.
pub fn check(certificate: &[u8], path: &Path) -> rosenblatt::Result<Checked> {
    verify_stream(certificate, || {
        decompressed(path).map_err(|e| io::Error::other(e.to_string()))
    })
    .map_err(|e| Error::io(path, &e))
}
