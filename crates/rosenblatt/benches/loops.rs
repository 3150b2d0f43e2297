//! The hot loops, each alone: one thread, and data that stay in the caches of a core.
//!
//! ```text
//! cargo bench -p rosenblatt --bench loops [-- NAME…]
//! ```
//!
//! prints a line of JSON for each: its name, how many values it goes through, and the seconds
//! that takes (the median of several turns; the loops take turns). With `--once NAME` that loop
//! runs a single time, so that `bench/loops` can count its instructions.
#![allow(clippy::print_stdout)] // It is there to print.

use std::hint::black_box;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Instant;

use rosenblatt::Session;
use rosenblatt::data::{Dataset, Layout};
use rosenblatt::model::Fingerprint;
use rosenblatt::options::Readout;
use rosenblatt::read::{Preparation, ReadOptions, Scale, read_from};
use rosenblatt::synthetic::{self, Kind, generate};
use rosenblatt::write::{TextFormat, write};
use rosenblatt::{Error, Options, Result};

/// Turns of each loop, of which the median counts.
const TURNS: usize = 21;

/// Seconds of a turn, about.
const TURN: f64 = 0.003;

/// Something that goes through so many values.
struct Loop<'a> {
    name: &'static str,
    values: usize,
    run: Box<dyn Fn() -> Result<()> + 'a>,
}

/// One run. Instructions are counted in here, so the name must stay, and be of no other function.
#[inline(never)]
fn counted_loop(it: &Loop<'_>) -> Result<()> {
    (it.run)()
}

/// The data that loops go through.
struct Sets {
    /// Rows like documents, with indices of 16 bits and of 32.
    words: Dataset,
    rare_words: Dataset,
    /// A table of numbers, two classes.
    table: Dataset,
    /// One of several classes.
    classes: Dataset,
    libsvm: Arc<[u8]>,
    csv: Arc<[u8]>,
}

impl Sets {
    fn new() -> Result<Self> {
        let words = |features| synthetic::Options {
            examples: Some(2000),
            features: Some(features),
            non_zeros: Some(75.0),
            noise: 0.02,
            ..synthetic::Options::new(Kind::Sparse)
        };
        let numbers = |kind, classes| synthetic::Options {
            examples: Some(2000),
            features: Some(50),
            classes: Some(classes),
            noise: 0.02,
            ..synthetic::Options::new(kind)
        };
        let words_of = |features| generate(&words(features)).map(|made| made.dataset);
        let numbers_of = |kind, k| generate(&numbers(kind, k)).map(|made| made.dataset);
        let (words, table) = (words_of(47_000)?, numbers_of(Kind::Separable, 2)?);
        let text = |data, format| {
            let mut text = Vec::new();
            write(data, format, &mut text).map(|()| Arc::from(text))
        };
        Ok(Sets {
            libsvm: text(&words, TextFormat::Libsvm)?,
            csv: text(&table, TextFormat::Csv)?,
            words,
            rare_words: words_of(100_000)?,
            table,
            classes: numbers_of(Kind::Classes, 10)?,
        })
    }

    fn loops(&self) -> Result<Vec<Loop<'_>>> {
        let Sets {
            words,
            rare_words,
            table,
            classes,
            ..
        } = self;
        let mut loops = vec![
            parse("parse libsvm", "loop.svm", &self.libsvm, words),
            parse("parse CSV", "loop.csv", &self.csv, table),
        ];
        for (dot, add, data) in [
            ("dot, sparse", "add, sparse", words),
            ("dot, dense", "add, dense", table),
        ] {
            loops.push(over(dot, data, move || {
                let weights = vec![0.5; data.features()];
                for i in 0..data.len() {
                    black_box(data.row(i).dot(&weights, 0.0));
                }
                Ok(())
            }));
            loops.push(over(add, data, move || {
                let mut weights = vec![0.5; data.features()];
                for i in 0..data.len() {
                    data.row(i).add_to(black_box(&mut weights), 0.25);
                }
                Ok(())
            }));
        }
        for (name, data, readout) in [
            ("pass, last weights", words, Readout::Last),
            ("pass, averaged", words, Readout::Averaged),
            ("pass, 32-bit indices", rare_words, Readout::Averaged),
            ("pass, dense", table, Readout::Averaged),
            ("pass, 10 classes", classes, Readout::Averaged),
        ] {
            loops.push(over(name, data, move || {
                black_box(Session::new(&one_pass(readout)).threads(1).train(data)?);
                Ok(())
            }));
        }
        for (name, data) in [
            ("score, sparse", words),
            ("score, dense", table),
            ("score, 10 classes", classes),
        ] {
            let options = one_pass(Readout::Averaged);
            let model = Session::new(&options).threads(1).train(data)?.model;
            loops.push(over(name, data, move || {
                black_box(model.scores(&data.matrix, 1)?);
                Ok(())
            }));
        }
        loops.push(over("fingerprint", words, || {
            black_box(Fingerprint::of(words, 1));
            Ok(())
        }));
        Ok(loops)
    }
}

fn one_pass(readout: Readout) -> Options {
    Options {
        epochs: Some(1),
        readout: Some(readout),
        ..Options::default()
    }
}

/// A loop over the values of these examples.
fn over<'a>(name: &'static str, data: &Dataset, run: impl Fn() -> Result<()> + 'a) -> Loop<'a> {
    Loop {
        name,
        values: data.matrix.non_zeros(),
        run: Box::new(run),
    }
}

/// From text to examples.
fn parse<'a>(
    name: &'static str,
    file: &'static str,
    text: &'a Arc<[u8]>,
    data: &Dataset,
) -> Loop<'a> {
    over(name, data, move || {
        let options = ReadOptions {
            threads: 1,
            ..ReadOptions::default()
        };
        let raw = read_from(Cursor::new(Arc::clone(text)), file, &options)?;
        let preparation = Preparation::fit(&raw, None, Some(Scale::None))?;
        black_box(raw.into_dataset(&preparation, Layout::AsGiven)?);
        Ok(())
    })
}

/// The seconds that one run takes, of so many in a row.
fn timed(it: &Loop<'_>, runs: usize) -> Result<f64> {
    let began = Instant::now();
    for _ in 0..runs {
        counted_loop(it)?;
    }
    Ok(began.elapsed().as_secs_f64() / runs as f64)
}

fn main() -> Result<()> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    // As `cargo bench` says.
    wanted.retain(|argument| argument != "--bench");
    let sets = Sets::new()?;
    let mut loops = sets.loops()?;
    let once = wanted.first().is_some_and(|first| first == "--once");
    wanted.drain(..usize::from(once));
    if let Some(unknown) = wanted
        .iter()
        .find(|n| loops.iter().all(|it| it.name != **n))
    {
        let all: Vec<&str> = loops.iter().map(|it| it.name).collect();
        return Err(Error::options(format!("there is no loop {unknown:?}"))
            .remedy(format!("name one of: {}", all.join("; "))));
    }
    loops.retain(|it| wanted.is_empty() || wanted.iter().any(|name| name == it.name));
    if once {
        return loops.iter().try_for_each(counted_loop);
    }
    let runs: Vec<usize> = loops
        .iter()
        .map(|it| timed(it, 1).map(|seconds| (TURN / seconds).ceil() as usize))
        .collect::<Result<_>>()?;
    let mut turns = vec![Vec::with_capacity(TURNS); loops.len()];
    for _ in 0..TURNS {
        for ((it, &runs), turns) in loops.iter().zip(&runs).zip(&mut turns) {
            turns.push(timed(it, runs)?);
        }
    }
    for (it, turns) in loops.iter().zip(&mut turns) {
        turns.sort_by(f64::total_cmp);
        let (name, values, seconds) = (it.name, it.values, turns[TURNS / 2]);
        println!("{{\"name\": {name:?}, \"values\": {values}, \"seconds\": {seconds:e}}}");
    }
    Ok(())
}
