//! `generate`: synthetic data with known answers.

use std::path::Path;

use rosenblatt::Error;
use rosenblatt::synthetic::{Kind, Options};
use rosenblatt::write::{self, TextFormat, compressed, write_atomic};
use serde_json::json;

use super::context::Context;
use crate::args::GenerateArgs;
use crate::output::{self, Done, Outcome};
use crate::render::numbers::short;

pub fn run(context: Context, args: &GenerateArgs) -> Outcome {
    let options = Options {
        examples: args.examples,
        features: args.features,
        classes: args.classes,
        margin: args.margin,
        noise: args.noise,
        spread: args.spread,
        non_zeros: args.non_zeros,
        precision: args.precision,
        seed: args.seed,
        ..Options::new(args.kind)
    };
    let known = !matches!(
        args.kind,
        Kind::Blobs | Kind::Moons | Kind::Circles | Kind::Xor
    );
    if args.separator.is_some() && !known {
        return Err(Error::options(format!(
            "{} has no known separator to save",
            args.kind.name()
        ))
        .remedy("leave --separator out")
        .into());
    }
    if let Some(path) = &args.separator {
        output::refuse_same(&args.output, path)?;
    }
    if args.kind == Kind::Sparse
        && (output::is_dash(&args.output) || !text_format(&args.output)?.is_sparse())
    {
        let cells = args
            .examples
            .unwrap_or(10_000)
            .saturating_mul(args.features.unwrap_or(47_236));
        refuse_sparse_table(cells, 0)?;
    }
    let written = if output::is_dash(&args.output) {
        let mut bytes = Vec::new();
        let written = write::generate(&options, TextFormat::Csv, &mut bytes)?;
        output::print(&String::from_utf8_lossy(&bytes))?;
        written
    } else {
        let format = text_format(&args.output)?;
        write_atomic(&args.output, |out| {
            compressed(&args.output, out, |out| {
                write::generate(&options, format, out)
            })
        })?
    };
    if let Some(path) = &args.separator {
        let separator = written.separator.as_ref().ok_or_else(|| {
            Error::options(format!(
                "{} has no known separator to save",
                args.kind.name()
            ))
            .remedy("leave --separator out")
        })?;
        let text = json!({"weights": separator.weights, "biases": separator.biases, "margin": written.margin}).to_string();
        write_atomic(path, |out| {
            out.write_all(text.as_bytes())
                .map_err(|e| Error::io(path, &e))
        })?;
    }
    if let Some(margin) = written.margin {
        let when = match args.noise > 0.0 {
            true => ", before labels were flipped",
            false => "",
        };
        output::say(
            context.quiet,
            &format!("margin of the known separator{when}: {}", short(margin)),
        );
    }
    Ok(Done::Finished)
}

/// Refuses a large table of so many cells of which no more are not zero.
pub fn refuse_sparse_table(cells: usize, non_zeros: usize) -> rosenblatt::Result<()> {
    const CELLS: usize = 20_000_000;
    const EMPTY: usize = 100;
    if cells > CELLS && non_zeros < cells / EMPTY {
        return Err(Error::options(format!(
            "a table of sparse rows would hold {} cells, nearly all zero",
            crate::render::numbers::count(cells as u64)
        ))
        .remedy("name a file that ends in .svm"));
    }
    Ok(())
}

/// The text format that a file's name asks for.
pub fn text_format(path: &Path) -> rosenblatt::Result<TextFormat> {
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let plain = [".gz", ".zst", ".bz2", ".xz"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(&name);
    let extension = plain.rsplit_once('.').map_or("", |(_, e)| e);
    match extension {
        "svm" | "libsvm" | "svmlight" => Ok(TextFormat::Libsvm),
        "csv" => Ok(TextFormat::Csv),
        "tsv" => Ok(TextFormat::Tsv),
        "jsonl" | "ndjson" => Ok(TextFormat::JsonLines),
        "vw" => Ok(TextFormat::Vw),
        _ => Err(Error::options(format!(
            "{}: the name does not say which format to write",
            path.display()
        ))
        .remedy(
            "end it in .svm, .csv, .tsv, .jsonl or .vw (convert: .npy, .npz or .parquet, too), and .gz, .zst, .bz2 or .xz to compress",
        )),
    }
}
