//! Certificates: made, checked by the independent checker, and written.

use std::io::Read;
use std::path::{Path, PathBuf};

use rosenblatt::proof::{BiasTerm, Claim, Subject, Verdict, certificate};
use rosenblatt::read;
use rosenblatt::write::write_atomic;
use rosenblatt::{Error, ErrorKind};
use rosenblatt_verify::Outcome as Checked;
use sha2::{Digest, Sha256};

use super::examined::Examined;
use crate::args::CheckArgs;
use crate::commands::verify;
use crate::output::{self, Failure};

/// Writes the certificate, if one is asked for, once the independent checker accepts it; gives
/// the verdict that it proves, which may say less than what was found.
pub(super) fn prove(
    args: &CheckArgs,
    examined: &Examined,
    bias: BiasTerm,
    claim: Claim<'_>,
) -> Result<Option<String>, Failure> {
    let Some(path) = &args.certificate else {
        return Ok(None);
    };
    if output::is_dash(&args.data) {
        return Err(Error::options(
            "a certificate is about a file, and stdin cannot be read twice",
        )
        .remedy("save the data to a file first")
        .into());
    }
    let paths = std::iter::once(&args.data).chain(&args.more);
    let paths = read::files(paths.map(PathBuf::as_path))?;
    let hashed = paths
        .iter()
        .map(|path| Ok((path.display().to_string(), digest(path)?)));
    let files = hashed.collect::<rosenblatt::Result<Vec<_>>>()?;
    let options = args.source.options(1)?;
    let comment = options.read.comment.as_deref().filter(|c| !c.is_empty());
    let subject = Subject {
        file: &read::certificate_fields(&examined.report, &examined.preparation, comment)?,
        labels: &examined.labels,
        data: &examined.data,
        files: &files,
        bias,
    };
    let document = certificate(subject, claim)?;
    let proved = match verify::check(document.as_bytes(), std::time::Duration::MAX, &paths)? {
        Checked::Holds(claim) => claim.verdict.to_string(),
        other => {
            return Err(Error::new(
                ErrorKind::Data,
                format!("the proof found does not pass the independent checker: {other}"),
            )
            .in_file(&args.data)
            .remedy("please report this with the file")
            .into());
        }
    };
    write_atomic(path, |out| {
        out.write_all(document.as_bytes())
            .map_err(|e| Error::io(path, &e))
    })?;
    Ok(Some(proved))
}

fn digest(path: &Path) -> rosenblatt::Result<String> {
    let mut reader = read::decompressed(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        let n = reader.read(&mut buffer).map_err(|e| Error::io(path, &e))?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
    }
    Ok(hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// The last line of a report: where the certificate is, and what it leaves open of the verdict
/// that was found, or how to get one.
pub(super) fn proved_text(args: &CheckArgs, proved: Option<&str>, found: Verdict) -> String {
    match (&args.certificate, proved) {
        (Some(path), Some(proved)) => {
            let rest = match proved == found.name() {
                true => String::new(),
                false => format!(": it proves {proved}, not which kind of it"),
            };
            format!(
                "certificate {}, verified in exact arithmetic{rest}\n",
                path.display()
            )
        }
        _ => "add --certificate FILE for a proof that others can check\n".into(),
    }
}
