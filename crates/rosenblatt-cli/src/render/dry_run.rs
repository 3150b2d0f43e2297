//! What a run would read and do.

use rosenblatt::Options;
use rosenblatt::data::Dataset;
use rosenblatt::read::ReadReport;
use rosenblatt::report::Seconds;
use rosenblatt::scheme::Scheme;
use rosenblatt::weights::Weights;
use serde_json::json;

use super::numbers::{bytes, count, counted, seconds};
use super::train::{Page, column_table};
use crate::commands::Expected;
use crate::output::{self, Done, Outcome};

/// What would be done.
pub fn dry_run(
    data: &ReadReport,
    train: &Dataset,
    held_out: Option<&Dataset>,
    options: &Options,
    expected: Expected,
    took: Seconds,
    json: bool,
) -> Outcome {
    let scheme = Scheme::new(train.classes.len(), options.multiclass);
    let non_zeros = train.matrix.non_zeros();
    let (passes, most) = (expected.passes, expected.most);
    let weights =
        Weights::bytes_needed(scheme.discriminators(), train.features()).unwrap_or(usize::MAX);
    let memory = train.matrix.bytes() as u64
        + held_out.map_or(0, |d| d.matrix.bytes() as u64)
        + 3 * weights as u64;
    let estimate = passes as f64 * expected.pass_seconds;
    if json {
        output::print_json(&json!({
            "dry_run": true,
            "data": data,
            "examples": train.len(),
            "features": train.features(),
            "classes": train.classes.names(),
            "non_zeros": non_zeros,
            "held_out": held_out.map(Dataset::len),
            "discriminators": scheme.discriminators(),
            "epochs_at_most": most,
            "epochs_expected": passes,
            "memory_bytes": memory,
            "seconds_at_most": most as f64 * expected.pass_seconds,
            "seconds_expected": { "read": took.read, "train": estimate },
            "seconds": took,
        }))?;
        return Ok(Done::Finished);
    }
    let mut page = Page {
        text: String::new(),
        colour: output::colour(),
    };
    page.section(
        "would read",
        &format!(
            " {}: {}, {}",
            data.file,
            counted(train.len() as u64, "example", "examples"),
            counted(train.features() as u64, "feature", "features")
        ),
    );
    if !data.columns.is_empty() {
        page.section("columns", &column_table(data));
    }
    page.section(
        "would run",
        &format!(
            " {} over {}, {}, about {} of at most {} passes",
            options.learner.name(),
            counted(non_zeros as u64, "non-zero value", "non-zero values"),
            counted(
                scheme.discriminators() as u64,
                "discriminator",
                "discriminators"
            ),
            count(passes),
            count(most)
        ),
    );
    page.section("memory", &format!("about {}", bytes(memory)));
    page.section(
        "time",
        &format!(
            "about {}: {} reading (as it took now), about {} training",
            seconds(took.read + estimate),
            seconds(took.read),
            seconds(estimate)
        ),
    );
    output::print(&page.text)?;
    Ok(Done::Finished)
}
