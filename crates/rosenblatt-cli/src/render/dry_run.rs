//! What a run would read and do.

use rosenblatt::Options;
use rosenblatt::data::Dataset;
use rosenblatt::learner::NetworkLearner;
use rosenblatt::options::DataSize;
use rosenblatt::read::ReadReport;
use rosenblatt::report::Seconds;
use rosenblatt::scheme::Scheme;
use rosenblatt::weights::Weights;
use serde_json::json;

use super::numbers::{bytes, count, counted, seconds};
use super::train::{Page, column_table};
use crate::output::{self, Done, Outcome};

/// What would be done.
pub fn dry_run(
    data: &ReadReport,
    train: &Dataset,
    held_out: Option<&Dataset>,
    options: &Options,
    took: Seconds,
    json: bool,
) -> Outcome {
    let scheme = Scheme::new(train.classes.len(), options.multiclass);
    let non_zeros = train.matrix.non_zeros();
    let size = DataSize::of(&train.matrix, scheme.discriminators());
    let epochs = (options.epochs).unwrap_or_else(|| options.learner.default_epochs(size));
    let ends_without_gain = options.epochs.is_none() && options.ends_without_gain();
    let expected = match ends_without_gain {
        true => Options::usual_passes(size).min(epochs),
        false => epochs,
    };
    let weights =
        Weights::bytes_needed(scheme.discriminators(), train.features()).unwrap_or(usize::MAX);
    let memory = train.matrix.bytes() as u64
        + held_out.map_or(0, |d| d.matrix.bytes() as u64)
        + 3 * weights as u64;
    let pass = pass_seconds(size, train, scheme, options);
    let (estimate, most) = (expected as f64 * pass, epochs as f64 * pass);
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
            "epochs_at_most": epochs,
            "epochs_expected": expected,
            "memory_bytes": memory,
            "seconds_at_most": most,
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
            count(expected),
            count(epochs)
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

/// What a pass takes, about, from measurement.
fn pass_seconds(size: DataSize, train: &Dataset, scheme: Scheme, options: &Options) -> f64 {
    let k = scheme.discriminators();
    if let Some(network) = options.learner.settings::<NetworkLearner>() {
        // Half a nanosecond for each product there and back, 32 units at a time.
        let sizes: Vec<usize> = (std::iter::once(train.features()))
            .chain(network.hidden.iter().map(|&h| h as usize))
            .chain([k])
            .collect();
        let layers = sizes
            .windows(2)
            .map(|l| l[0] as f64 * l[1].next_multiple_of(32) as f64);
        return 3.0 * 0.5e-9 * train.len() as f64 * layers.sum::<f64>();
    }
    size.pass_work() * 2e-9
}
