//! `predict`: a label for every row, in order, in memory that does not grow with the file.

use std::io::{BufWriter, IsTerminal, Write};

use rosenblatt::Error;
use rosenblatt::internal::parallel;
use rosenblatt::model::Model;
use rosenblatt::read::Batches;
use rosenblatt::write::write_atomic;

use super::batches;
use super::context::{Context, in_data};
use super::explain::Named;
use crate::args::PredictArgs;
use crate::output::{self, Done, Failure, Outcome};

pub fn run(context: Context, args: &PredictArgs) -> Outcome {
    let (model, preparation) = super::load_model(&args.model)?;
    if let Some(path) = &args.output {
        output::refuse_overwriting(&args.data, path)?;
        output::refuse_overwriting(&args.model, path)?;
    }
    if args.probabilities {
        model.require_probabilities()?;
    }
    let mut batches = batches::open(
        context,
        &model,
        preparation.as_ref(),
        &args.data,
        &args.source,
    )?;
    let names = (args.explain).map(|_| Named::of(&model, preparation.as_ref()));
    let names = names.as_ref();
    match args.output.as_deref().filter(|p| !output::is_dash(p)) {
        Some(path) => write_atomic(path, |out| {
            predict(context, args, (&model, names), &mut batches, out).map_err(|e| match e {
                Problem::Input(error) => error,
                Problem::Output(e) => Error::io(path, &e),
            })
        })?,
        None => {
            let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
            predict(context, args, (&model, names), &mut batches, &mut out)
                .and_then(|()| out.flush().map_err(Problem::Output))
                .map_err(|e| match e {
                    Problem::Input(error) => Failure::Error(error),
                    Problem::Output(e) => output::stdout_failed(&e),
                })?;
        }
    }
    batches::report(context, batches.report());
    Ok(Done::Finished)
}

/// So few lines are written before another thread has started.
const FEW: usize = 4096;

/// Lines that a thread writes at a time.
const SOME: usize = 256;

/// Reading and writing fail differently.
enum Problem {
    Input(Error),
    Output(std::io::Error),
}

fn predict(
    context: Context,
    args: &PredictArgs,
    (model, names): (&Model, Option<&Named>),
    batches: &mut Batches,
    out: &mut dyn Write,
) -> std::result::Result<(), Problem> {
    let to_file = args.output.as_deref().is_some_and(|p| !output::is_dash(p));
    let terminal = !to_file && std::io::stdout().is_terminal();
    for batch in batches {
        let batch = batch.map_err(Problem::Input)?;
        let number = |i| batch.first_row + i;
        let scores = model.numbered_scores(&batch.matrix, number, context.threads);
        let all = scores.map_err(|e| Problem::Input(in_data(e, &args.data)))?;
        let k = model.scheme.discriminators();
        let rows = batch.matrix.rows();
        let threads = if rows < FEW { 1 } else { context.threads };
        let mut parts = vec![String::new(); rows.div_ceil(SOME)];
        let all = &all;
        parallel::chunks(&mut parts, 1, threads, || {
            let mut probabilities = vec![0.0; model.scheme.classes()];
            let (all, matrix) = (&all, &batch.matrix);
            let mut scorer = model.scorer();
            move |p: usize, part: &mut [String]| {
                let text = &mut part[0];
                let scores = all[p * SOME * k..].chunks_exact(k).take(SOME);
                for (i, scores) in (p * SOME..).zip(scores) {
                    let name = model.classes.name(model.decide(scores));
                    match terminal {
                        true => text.push_str(&output::shown(name)),
                        false => text.push_str(name),
                    }
                    let numbers = if args.probabilities {
                        model.probabilities_of(scores, &mut probabilities);
                        &probabilities
                    } else if args.scores {
                        scores
                    } else {
                        &[]
                    };
                    for number in numbers {
                        text.push('\t');
                        text.push_str(&number.to_string());
                    }
                    if let (Some(names), Some(most)) = (names, args.explain) {
                        for cell in names.cells(&scorer.explain(matrix.row(i), most)) {
                            text.push('\t');
                            text.push_str(&cell);
                        }
                    }
                    text.push('\n');
                }
            }
        });
        for part in parts {
            out.write_all(part.as_bytes()).map_err(Problem::Output)?;
        }
    }
    Ok(())
}
