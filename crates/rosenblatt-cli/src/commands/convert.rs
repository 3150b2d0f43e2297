//! `convert`: data from one format to another.

use rosenblatt::data::{Layout, Precision};
use rosenblatt::read::{self, Preparation, Scale};
use rosenblatt::write::{
    TextFormat, compressed, write, write_atomic, write_npy, write_npz, write_parquet,
};

use super::cached;
use super::context::Context;
use super::generate::{refuse_sparse_table, text_format};
use crate::args::ConvertArgs;
use crate::output::{self, Done, Outcome};
use crate::render::numbers::counted;

/// What is written.
#[derive(Debug, Clone, Copy)]
enum To {
    Text(TextFormat),
    /// `.npy`: the last column is the label.
    Array,
    /// `.npz`: the rows and the labels.
    Arrays,
    Parquet,
}

pub fn run(context: Context, args: &ConvertArgs) -> Outcome {
    if args.output.extension().is_some_and(|e| e == "rbc") {
        return to_cache(context, args);
    }
    let format = match args.output.extension().and_then(|e| e.to_str()) {
        Some("npy") => To::Array,
        Some("npz") => To::Arrays,
        Some("parquet") => To::Parquet,
        _ => To::Text(text_format(&args.output)?),
    };
    output::refuse_overwriting(&args.input, &args.output)?;
    let mut options = args.source.options(context.threads)?;
    args.source.refuse_held_out()?;
    // The same numbers in another format, unless told otherwise.
    if !args.source.has("precision") {
        options.read.precision = Precision::F64;
    }
    options.scale.get_or_insert(Scale::None);
    let raw = read::read(&args.input, &options.read)?;
    args.source
        .refuse_foreign(raw.report(), raw.label_texts())?;
    let (preparation, report) = Preparation::fit_and_report(&raw, None, options.scale)?;
    for warning in &report.warnings {
        output::say(
            context.quiet,
            &format!("warning: {}", warning.as_command_line()),
        );
    }
    let data = raw.into_dataset(&preparation, Layout::AsGiven)?;
    if !matches!(format, To::Text(text) if text.is_sparse()) {
        let cells = data.len().saturating_mul(data.features());
        refuse_sparse_table(cells, data.matrix.non_zeros())?;
    }
    write_atomic(&args.output, |out| {
        compressed(&args.output, out, |out| match format {
            To::Text(text) => write(&data, text, out),
            To::Array => write_npy(&data, out),
            To::Arrays => write_npz(&data, out),
            To::Parquet => write_parquet(&data, out),
        })
    })?;
    output::say(
        context.quiet,
        &format!(
            "{}: {}, {}",
            args.output.display(),
            counted(data.len() as u64, "example", "examples"),
            counted(data.features() as u64, "feature", "features")
        ),
    );
    Ok(Done::Finished)
}

/// The data as training would take them, in a file that opens at once.
fn to_cache(context: Context, args: &ConvertArgs) -> Outcome {
    output::refuse_overwriting(&args.input, &args.output)?;
    let options = args.source.options(context.threads)?;
    args.source.refuse_held_out()?;
    cached::make(
        context,
        &args.input,
        &args.source,
        &options,
        &args.output,
        None,
    )?;
    let made = rosenblatt::cache::open(&args.output, None)?;
    output::say(
        context.quiet,
        &format!(
            "{}: {}, {}",
            args.output.display(),
            counted(made.data.len() as u64, "example", "examples"),
            counted(made.data.features() as u64, "feature", "features")
        ),
    );
    Ok(Done::Finished)
}
