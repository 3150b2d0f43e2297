//! `verify`: does a certificate prove what it says about a file?

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use rosenblatt::Error;
use rosenblatt::read::decompressed;
use rosenblatt_verify::{Outcome as Checked, verify_within};
use serde_json::json;

use crate::args::VerifyArgs;
use crate::output::{self, Done, Outcome};

pub fn run(args: &VerifyArgs) -> Outcome {
    // One byte more than any certificate has is enough to refuse it.
    let mut certificate = Vec::new();
    std::fs::File::open(&args.certificate)
        .and_then(|file| {
            file.take(rosenblatt_verify::MAX_CERTIFICATE_BYTES as u64 + 1)
                .read_to_end(&mut certificate)
        })
        .map_err(|e| Error::io(&args.certificate, &e))?;
    let time = Duration::try_from_secs_f64(args.time_limit).unwrap_or(Duration::MAX);
    let checked = check(&certificate, time, &args.data)?;
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

/// Checks a certificate against the file at `path` within this time.
pub fn check(certificate: &[u8], time: Duration, path: &Path) -> rosenblatt::Result<Checked> {
    verify_within(certificate, time, || {
        decompressed(path).map_err(|e| io::Error::other(e.to_string()))
    })
    .map_err(|e| match e.kind() {
        io::ErrorKind::TimedOut => Error::data(format!("{e}; this says nothing about the claim"))
            .in_file(path)
            .remedy("pass a longer --time-limit"),
        io::ErrorKind::OutOfMemory => Error::data(e.to_string()).in_file(path),
        _ => Error::io(path, &e),
    })
}
