//! `verify`: does a certificate prove what it says about a file?

use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use rosenblatt::Error;
use rosenblatt::read::{self, decompressed};
use rosenblatt_verify::{Outcome as Checked, verify_files};
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
    let files = read::files(args.data.iter().map(PathBuf::as_path))?;
    let checked = check(&certificate, time, &files)?;
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
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        if args.json {
            output::print_json(&json!({
                "holds": reason.is_none(),
                "verdict": claim.verdict_in_words(),
                "reason": reason,
                "files": names,
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
            let files: String = match &names[..] {
                [file] => format!("file: {file}\n"),
                files => (1..)
                    .zip(files)
                    .map(|(i, f)| format!("file {i}: {f}\n"))
                    .collect(),
            };
            output::print(&format!("{checked}\n{files}{question}\n"))?;
        }
    }
    Ok(if reason.is_none() {
        Done::Finished
    } else {
        Done::Refuted
    })
}

/// Checks a certificate against these files within this time.
pub fn check(certificate: &[u8], time: Duration, files: &[PathBuf]) -> rosenblatt::Result<Checked> {
    // The file that is being read, for messages.
    let mut current = PathBuf::new();
    let checked = verify_files(certificate, time, files.len(), |place| {
        current.clone_from(&files[place]);
        decompressed(&files[place]).map_err(|e| io::Error::other(e.to_string()))
    });
    checked.map_err(|e| match e.kind() {
        io::ErrorKind::TimedOut => Error::data(format!("{e}; this says nothing about the claim"))
            .in_file(&current)
            .remedy("pass a longer --time-limit"),
        io::ErrorKind::OutOfMemory => Error::data(e.to_string()).in_file(&current),
        _ => Error::io(&current, &e),
    })
}
