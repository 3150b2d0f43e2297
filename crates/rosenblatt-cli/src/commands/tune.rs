//! `tune`: a search over learners and their settings by cross-validation, on one reading of the
//! data.
//!
//! Successive halving over folds: where there are many rows, each candidate is first trained on one
//! fold and scored on all the others, and the best go on. These are trained without the first fold
//! and scored on it, the better half of them also without the second, and so on; those that are
//! left at the end have a score on every fold. Where there are few rows, all have. The file is read
//! once for each way to make features of it that is tried. Candidates are independent, so each core
//! trains one at a time, and the answer does not depend on how many cores there are.

mod candidates;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rosenblatt::data::Dataset;
use rosenblatt::data::split::{self, Split};
use rosenblatt::internal::parallel;
use rosenblatt::metrics::Evaluation;
use rosenblatt::options::{Metric, choice_name};
use rosenblatt::progress::Stop;
use rosenblatt::read::{self, ColumnReport, ColumnRole, Raw, SplitBy};
use rosenblatt::{Error, ErrorKind, Options, Result};
use serde::Serialize;

use self::candidates::{Candidate, Common, candidates};
use super::context::{Context, in_data, interrupt_flag};
use super::train::preparing::{Prepared, prepare_all, prepare_split};
use crate::args::{DataArgs, DataOptions, TuneArgs};
use crate::output::{self, Done, Failure};
use crate::render;

/// Candidates that are never given up before all folds are used.
const KEPT: usize = 3;

/// With fewer rows than this every candidate is scored on every fold: a fold says little then, and
/// costs little.
const FEW: usize = 1000;

/// What a search found.
#[derive(Debug, Serialize)]
pub struct Tuned {
    pub best: Best,
    /// Every candidate, the best first.
    pub trials: Vec<Trial>,
    pub folds: usize,
    pub metric: &'static str,
    /// Whether the time for the search ran out, so that another run may find something else.
    pub budget_exhausted: bool,
    /// The metric on rows that the search never saw, of a model trained without them.
    pub held_out: Option<HeldOut>,
    /// How good models are that are tuned this way.
    pub nested: Option<Nested>,
    pub seconds: f64,
    /// Where the model went.
    pub model: Option<String>,
}

/// The best candidate.
#[derive(Debug, Serialize)]
pub struct Best {
    pub learner: &'static str,
    pub command: String,
    pub metric: &'static str,
    pub score: f64,
    /// A 95 % interval of the mean over the folds; `None` with one fold.
    pub interval: Option<[f64; 2]>,
}

/// One candidate.
#[derive(Debug, Serialize)]
pub struct Trial {
    /// Its settings as options of `train`.
    pub command: String,
    /// The mean over the folds that it was scored on; where there is none, the score on all the
    /// others of a model trained on one.
    pub score: Option<f64>,
    /// On each of these folds.
    pub scores: Vec<f64>,
    /// Time spent on training and scoring it.
    pub seconds: f64,
    /// Why it could not be trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What searches without one fold after the other found, tested on these folds.
#[derive(Debug, Serialize)]
pub struct Nested {
    /// The mean over the folds.
    pub score: f64,
    /// A 95 % interval of it.
    pub interval: Option<[f64; 2]>,
    /// On each fold.
    pub scores: Vec<f64>,
    /// The best settings without each fold.
    pub best: Vec<String>,
}

/// A score on rows that the search never saw.
#[derive(Debug, Serialize)]
pub struct HeldOut {
    pub score: f64,
    pub examples: u64,
}

pub fn run(context: Context, args: &TuneArgs) -> output::Outcome {
    let started = Instant::now();
    let in_grid = |axis: &String| axis.starts_with("patience=");
    if args.learner.has("patience") || args.grid.iter().any(in_grid) {
        return Err(Error::options(
            "⟨patience⟩ needs held-out examples, and tune trains without any",
        )
        .remedy("use ⟨grid epochs=1,3,10⟩ to search for the number of passes")
        .into());
    }
    let base = args.learner.options(Options::default())?;
    let mut data = args.source.options(context.threads)?;
    data.read.also.clone_from(&args.more);
    check_split(&data)?;
    if let Some(path) = args.output.as_deref() {
        output::writable(path)?;
        output::refuse_overwriting(&args.data, path)?;
    }
    let raw = read::read(&args.data, &data.read)?;
    args.source
        .refuse_foreign(raw.report(), raw.label_texts())?;
    let is_text = |c: &ColumnReport| c.role == ColumnRole::Text;
    let has_texts = raw.report().columns.iter().any(is_text);
    refuse_text_grid(&args.grid, has_texts)?;
    let common = Common {
        learner: &args.learner,
        source: &args.source,
        metric: base.metric,
        // What comes from a pipe is read once.
        texts: args.data != Path::new("-") && has_texts,
    };
    let candidates = candidates(common, &args.grid)?;
    let parts = data
        .validate
        .map(|fraction| hold_out(&raw, fraction, &base));
    let parts = parts.transpose()?;
    let rows = match &parts {
        Some(parts) => parts.train.clone(),
        None => (0..raw.rows()).collect(),
    };
    let readings = readings(context, args, raw, &candidates)?;
    let raw = &readings[0].raw;
    let search = Search {
        context,
        readings: &readings,
        candidates: &candidates,
        metric: base.metric,
        deadline: args
            .budget
            .map(|budget| started + Duration::from_secs_f64(budget)),
    };
    let inner = folds(raw, &rows, args.folds as usize, base.seed)?;
    let outer = match args.nested {
        Some(k) => folds(raw, &rows, k as usize, base.seed)?,
        None => Vec::new(),
    };
    let (ranked, mut budget_exhausted) = search.run(&inner, "tuning")?;
    let (winner, score) = &ranked[0];
    let mean = match score.mean() {
        Some(mean) => mean,
        None => return Err(no_score(&ranked, budget_exhausted).into()),
    };
    let interval = score.interval();
    let nested = match outer.is_empty() {
        true => None,
        false => {
            let found = search.nested(&outer, args.folds as usize, base.seed)?;
            budget_exhausted |= found.is_none();
            found
        }
    };
    let winner = &candidates[*winner];
    let reading = search.reading_of(winner);
    let (raw, data) = (&reading.raw, &reading.data);

    let train = |data: &Dataset| {
        rosenblatt::session(&winner.options)
            .interrupt(interrupt_flag())
            .threads(context.threads)
            .train(data)
            .map_err(|e| in_data(e, &args.data))
    };
    let held_out = match &parts {
        Some(parts) => {
            let prepared = prepare_split(raw, parts, data, &winner.options)?;
            let model = train(&prepared.train)?.model;
            let found = (prepared.held_out.as_ref())
                .map(|held| Evaluation::of(&model, held, context.threads))
                .transpose()?;
            found.and_then(|found| {
                let examples = found.examples();
                (found.score(base.metric)).map(|score| HeldOut { score, examples })
            })
        }
        None => None,
    };
    let prepared = prepare_all(raw, data, &winner.options)?;
    for warning in &prepared.report.warnings {
        output::say(
            context.quiet,
            &format!("warning: {}", warning.as_command_line()),
        );
    }
    let mut fitted = train(&prepared.train)?;
    let done = match fitted.model.progress.stop {
        Some(Stop::Interrupted) => Done::Interrupted,
        _ => Done::Finished,
    };
    prepared.preparation.store_in(&mut fitted.model);
    let source = without_split(&args.source);
    fitted.model.recipe = source.with_all(&winner.data_settings()).remembered();
    if let Some(path) = &args.output {
        fitted.model.save(path)?;
    }
    let tuned = Tuned {
        best: Best {
            learner: winner.options.learner.name(),
            command: format!("rosenblatt train {}", winner.command(args, &source)),
            metric: choice_name(base.metric),
            score: mean,
            interval,
        },
        trials: ranked
            .iter()
            .map(|(k, score)| Trial {
                command: candidates[*k].settings(),
                score: score.mean(),
                scores: score.on_folds.clone(),
                seconds: score.seconds,
                error: score.error.as_ref().map(|e| e.wording().as_command_line()),
            })
            .collect(),
        folds: inner.len(),
        metric: choice_name(base.metric),
        budget_exhausted,
        held_out,
        nested,
        seconds: started.elapsed().as_secs_f64(),
        model: args.output.as_ref().map(|path| path.display().to_string()),
    };
    match args.json {
        true => output::print_json(&tuned)?,
        false => output::print(&render::tune::text(&tuned))?,
    }
    Ok(done)
}

/// The data as read for some of the candidates.
struct Reading {
    /// What is tried of how the data are read.
    settings: Vec<(String, String)>,
    data: DataOptions,
    raw: Raw,
}

/// The data read in every way that a candidate wants; `raw` is what was read as given.
fn readings(
    context: Context,
    args: &TuneArgs,
    raw: Raw,
    candidates: &[Candidate],
) -> Result<Vec<Reading>> {
    let mut wanted: Vec<Vec<(String, String)>> = Vec::new();
    for candidate in candidates {
        let settings = candidate.data_settings();
        if !wanted.contains(&settings) {
            wanted.push(settings);
        }
    }
    if args.data == Path::new("-") && wanted.len() > 1 {
        return Err(Error::options(
            "stdin is read once, and the grid asks for several ways to read it",
        )
        .remedy("put the rows into a file"));
    }
    let as_given = |settings: &[(String, String)]| settings.is_empty();
    let mut given = wanted.iter().any(|s| as_given(s)).then_some(raw);
    let each = wanted.into_iter().map(|settings| {
        let source = args.source.with_all(&settings);
        let mut data = source.options(context.threads)?;
        data.read.also.clone_from(&args.more);
        let raw = match given.take_if(|_| as_given(&settings)) {
            Some(raw) => raw,
            None => read::read(&args.data, &data.read)?,
        };
        Ok(Reading {
            settings,
            data,
            raw,
        })
    });
    each.collect()
}

/// Refuses to try ways to make features of texts where there are none.
fn refuse_text_grid(grid: &[String], has_texts: bool) -> Result<()> {
    let names = grid.iter().filter_map(|axis| axis.split('=').next());
    let mut of_texts = names.filter(|name| DataArgs::can_be_searched(name) && *name != "scale");
    match of_texts.next().filter(|_| !has_texts) {
        Some(name) => Err(Error::options(format!(
            "⟨grid⟩: {name} is for columns of text, and there is none"
        ))
        .remedy("leave it out, or name one with ⟨column NAME=text⟩")),
        None => Ok(()),
    }
}

/// Refuses ways to hold rows out that folds cannot keep to.
fn check_split(data: &DataOptions) -> Result<()> {
    if data.validate_file.is_some() {
        return Err(
            Error::options("⟨validate-file⟩: tune takes folds of one file")
                .remedy("use ⟨validate 0.2⟩, or test the model on that file"),
        );
    }
    match &data.read.split_column {
        Some((SplitBy::Time, _)) => Err(Error::options(
            "folds train on rows that are later than those held out, which ⟨time⟩ forbids",
        )
        .remedy("use ⟨groups⟩, or leave it out")),
        _ => Ok(()),
    }
}

/// The options under which `train` makes of all rows what is saved: none are held out, and a column
/// that said which rows belong together is still no feature.
fn without_split(given: &DataArgs) -> DataArgs {
    let without = given
        .given
        .iter()
        .filter_map(|(name, text)| match name.as_str() {
            "validate" => None,
            "groups" if text.contains(',') => Some(("ignore".into(), format!("\"{text}\""))),
            "groups" => Some(("ignore".into(), text.clone())),
            _ => Some((name.clone(), text.clone())),
        });
    DataArgs {
        given: without.collect(),
    }
}

/// Rows that the search never sees.
fn hold_out(raw: &Raw, fraction: f64, options: &Options) -> Result<Split> {
    let parts = match (raw.groups()?, raw.times()?) {
        (Some(groups), _) => split::hold_out_groups(&groups, fraction, options.seed),
        (_, Some(times)) => split::hold_out_last(&times, fraction),
        _ => split::hold_out(raw.labels(), fraction, options.seed),
    };
    match parts.held_out.is_empty() || parts.train.is_empty() {
        true => Err(Error::options(format!(
            "⟨validate {fraction}⟩ holds out no example of {}",
            raw.rows()
        ))
        .remedy("use a larger fraction")),
        false => Ok(parts),
    }
}

/// Folds of these rows, by class or by whole groups.
fn folds(raw: &Raw, rows: &[usize], k: usize, seed: u64) -> Result<Vec<Split>> {
    let of_rows = |all: &[u32]| -> Vec<u32> { rows.iter().map(|&row| all[row]).collect() };
    let mut folds = match raw.groups()? {
        Some(groups) => split::group_folds(&of_rows(&groups), k, seed),
        None => split::folds(&of_rows(raw.labels()), k, seed),
    };
    if folds
        .iter()
        .any(|f| f.held_out.is_empty() || f.train.is_empty())
    {
        return Err(Error::options(format!(
            "⟨folds {k}⟩ for {} examples, or fewer groups",
            rows.len()
        ))
        .remedy("use fewer folds"));
    }
    for fold in &mut folds {
        for part in [&mut fold.train, &mut fold.held_out] {
            part.iter_mut().for_each(|row| *row = rows[*row]);
        }
    }
    Ok(folds)
}

/// How good a candidate is.
#[derive(Debug, Clone, Default)]
struct Score {
    /// Trained on one fold, tested on the others.
    first: Option<f64>,
    on_folds: Vec<f64>,
    seconds: f64,
    error: Option<Error>,
}

impl Score {
    fn mean(&self) -> Option<f64> {
        let n = self.on_folds.len();
        match n {
            _ if self.error.is_some() => None,
            0 => self.first,
            _ => Some(self.on_folds.iter().sum::<f64>() / n as f64),
        }
    }

    /// A 95 % interval of the mean by Student's t.
    fn interval(&self) -> Option<[f64; 2]> {
        /// The 97.5 % points for 1, 2, … degrees of freedom; the last for all beyond.
        const T: [f64; 10] = [
            12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
        ];
        let (mean, n) = (self.mean()?, self.on_folds.len());
        let freedom = n.checked_sub(1).filter(|&f| f > 0)?;
        let squares: f64 = self.on_folds.iter().map(|s| (s - mean) * (s - mean)).sum();
        let error = (squares / freedom as f64 / n as f64).sqrt();
        let half = T[(freedom - 1).min(T.len() - 1)] * error;
        // No metric is above 1.
        Some([mean - half, (mean + half).min(1.0)])
    }
}

/// The score of a candidate on a fold and the seconds spent on it.
type Outcome = Result<(f64, f64)>;

/// A search under way.
struct Search<'a> {
    context: Context,
    readings: &'a [Reading],
    candidates: &'a [Candidate],
    metric: Metric,
    deadline: Option<Instant>,
}

impl Search<'_> {
    /// The candidates by number with their scores, the best first, and whether time ran out.
    fn run(
        &self,
        folds: &[Split],
        doing: &'static str,
    ) -> std::result::Result<(Vec<(usize, Score)>, bool), Failure> {
        let candidates = self.candidates;
        let mut scores = vec![Score::default(); candidates.len()];
        let mut left: Vec<usize> = (0..candidates.len()).collect();
        let rounds = self.rounds(folds);
        let going_on = |round: usize| match rows_of(&folds[0]) < FEW {
            true => candidates.len(),
            false => survivors(candidates.len(), round),
        };
        let total = (0..rounds.len()).map(going_on).sum::<usize>();
        let mut bar = Bar {
            shown: render::progress::Progress::new(self.context.quiet, total as u64, doing),
            done: 0,
        };
        let mut exhausted = false;
        for (round, part) in rounds.iter().enumerate() {
            let order = |a: &usize, b: &usize| {
                let key = |k: &usize| scores[*k].mean().unwrap_or(f64::NEG_INFINITY);
                key(b).total_cmp(&key(a)).then(a.cmp(b))
            };
            left.sort_by(order);
            left.truncate(going_on(round));
            left.retain(|&k| scores[k].error.is_none());
            let said = format!("round {} of {}", round + 1, rounds.len());
            let found = self.round(&left, part, (&mut bar, &said))?;
            for (&k, found) in left.iter().zip(found) {
                match found {
                    Some(Ok((score, seconds))) => {
                        match rounds.len() > folds.len() && round == 0 {
                            true => scores[k].first = Some(score),
                            false => scores[k].on_folds.push(score),
                        }
                        scores[k].seconds += seconds;
                    }
                    Some(Err(error)) if error.kind() == ErrorKind::Interrupted => {
                        return Err(error.into());
                    }
                    Some(Err(error)) => scores[k].error = Some(error),
                    None => exhausted = true,
                }
            }
            if exhausted {
                break;
            }
        }
        let mut ranked: Vec<(usize, Score)> = scores.into_iter().enumerate().collect();
        // Those that were scored on more folds were better on the ones before.
        ranked.sort_by(|(a, x), (b, y)| {
            let key = |s: &Score| s.mean().unwrap_or(f64::NEG_INFINITY);
            let folds = y.on_folds.len().cmp(&x.on_folds.len());
            folds.then(key(y).total_cmp(&key(x))).then(a.cmp(b))
        });
        Ok((ranked, exhausted))
    }

    /// The parts that candidates are trained and scored on, one after the other: the folds, and
    /// where there are many rows first one of them against all the others.
    fn rounds<'f>(&self, folds: &'f [Split]) -> Vec<Cow<'f, Split>> {
        let first = &folds[0];
        let labels = self.readings[0].raw.labels();
        let mut of_fold = first.held_out.iter().map(|&row| labels[row]);
        let class = of_fold.next();
        let several = of_fold.any(|other| Some(other) != class);
        let reversed = (folds.len() > 2 && rows_of(first) >= FEW && several).then(|| Split {
            train: first.held_out.clone(),
            held_out: first.train.clone(),
        });
        let each = folds.iter().map(Cow::Borrowed);
        reversed.map(Cow::Owned).into_iter().chain(each).collect()
    }

    /// What these candidates reach on a part, in their order; `None` if there was no time for one.
    fn round(
        &self,
        left: &[usize],
        part: &Split,
        (bar, said): (&mut Bar, &str),
    ) -> Result<Vec<Option<Outcome>>> {
        let bar = Mutex::new(bar);
        let found: Vec<Mutex<Option<Outcome>>> = left.iter().map(|_| Mutex::new(None)).collect();
        for reading in self.readings {
            let of_reading =
                |k: &usize| std::ptr::eq(self.reading_of(&self.candidates[*k]), reading);
            let jobs = left.iter().zip(&found).filter(|(k, _)| of_reading(k));
            // What a learner makes of the data depends on its options only by their layout.
            let Some((&first, _)) = jobs.clone().next() else {
                continue;
            };
            let options = &self.candidates[first].options;
            let prepared = prepare_split(&reading.raw, part, &reading.data, options)?;
            parallel::each(jobs, self.context.threads, || {
                |(&k, found): (&usize, &Mutex<_>)| {
                    let options = self.candidates[k].for_a_score(&prepared.train);
                    let outcome = self.score(options, &prepared);
                    if let Ok(mut slot) = found.lock() {
                        *slot = outcome;
                    }
                    if let Ok(mut bar) = bar.lock() {
                        bar.done += 1;
                        let done = bar.done;
                        bar.shown.at(done, || said.to_owned());
                    }
                }
            });
        }
        Ok(found
            .into_iter()
            .map(|found| found.into_inner().ok().flatten())
            .collect())
    }

    /// The data as this candidate wants them.
    fn reading_of(&self, candidate: &Candidate) -> &Reading {
        let settings = candidate.data_settings();
        let found = self.readings.iter().find(|r| r.settings == settings);
        found.unwrap_or(&self.readings[0])
    }

    /// Searches without each of these folds and tests what is found on it; `None` if time ran out.
    fn nested(
        &self,
        outer: &[Split],
        inner: usize,
        seed: u64,
    ) -> std::result::Result<Option<Nested>, Failure> {
        let (mut score, mut best) = (Score::default(), Vec::new());
        for fold in outer {
            let folds = folds(&self.readings[0].raw, &fold.train, inner, seed)?;
            let (ranked, exhausted) = self.run(&folds, "nested search")?;
            if exhausted {
                return Ok(None);
            }
            let (winner, found) = &ranked[0];
            if found.mean().is_none() {
                return Err(no_score(&ranked, false).into());
            }
            let winner = &self.candidates[*winner];
            let Reading { raw, data, .. } = self.reading_of(winner);
            let prepared = prepare_split(raw, fold, data, &winner.options)?;
            let Some(outcome) = self.score(winner.options.clone(), &prepared) else {
                return Ok(None);
            };
            score.on_folds.push(outcome?.0);
            best.push(winner.settings());
        }
        let interval = score.interval();
        Ok(score.mean().map(|mean| Nested {
            score: mean,
            interval,
            scores: score.on_folds,
            best,
        }))
    }

    /// The metric of a model trained on one part and tested on the other, and the seconds that took;
    /// `None` if there was no time for it.
    fn score(&self, mut options: Options, prepared: &Prepared) -> Option<Outcome> {
        let started = Instant::now();
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(started).as_secs_f64();
            if left == 0.0 {
                return None;
            }
            options.time_limit = Some(left);
            if options.validate().is_err() {
                options.time_limit = None;
            }
        }
        let trained = rosenblatt::session(&options)
            .interrupt(interrupt_flag())
            .threads(1)
            .train(&prepared.train);
        let model = match trained {
            Ok(fitted) => fitted.model,
            Err(error) => return Some(Err(error)),
        };
        match model.progress.stop {
            Some(Stop::TimeLimit) if self.deadline.is_some() => return None,
            Some(Stop::Interrupted) => {
                return Some(Err(Error::new(
                    ErrorKind::Interrupted,
                    "interrupted during the search; no model was trained",
                )));
            }
            _ => {}
        }
        let held_out = prepared.held_out.as_ref()?;
        let score = Evaluation::of(&model, held_out, 1).and_then(|found| {
            found.score(self.metric).ok_or_else(|| {
                Error::data(format!(
                    "{} is not defined on a fold where a class is missing",
                    choice_name(self.metric)
                ))
            })
        });
        Some(score.map(|score| (score, started.elapsed().as_secs_f64())))
    }
}

/// How many rows a split parts.
fn rows_of(split: &Split) -> usize {
    split.train.len() + split.held_out.len()
}

/// How far a search is.
struct Bar {
    shown: render::progress::Progress,
    done: u64,
}

/// How many of so many candidates are scored in a round, the first being 0.
fn survivors(candidates: usize, round: usize) -> usize {
    let halved = candidates.div_ceil(1 << round.min(63));
    halved.max(KEPT.min(candidates))
}

/// The error of a search that scored nothing.
fn no_score(ranked: &[(usize, Score)], exhausted: bool) -> Error {
    match ranked.iter().find_map(|(_, score)| score.error.clone()) {
        Some(error) => error,
        None if exhausted => Error::options("no candidate was trained within the ⟨budget⟩")
            .remedy("allow more seconds"),
        None => Error::options("there is no candidate to try"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_candidates_go_on_and_a_few_always() {
        let rounds: Vec<usize> = (0..5).map(|round| survivors(20, round)).collect();
        assert_eq!(rounds, [20, 10, 5, 3, 3]);
        assert_eq!(survivors(2, 4), 2);
    }

    #[test]
    fn intervals_are_those_of_student() {
        let score = Score {
            on_folds: vec![0.4, 0.5, 0.6],
            ..Score::default()
        };
        let [lower, upper] = score.interval().unwrap();
        // Standard deviation 0.1, its error 0.1/√3, t of two degrees of freedom 4.303.
        let half = 4.303 * 0.1 / 3f64.sqrt();
        assert!((lower - (0.5 - half)).abs() < 1e-12, "{lower}");
        assert!((upper - (0.5 + half)).abs() < 1e-12, "{upper}");
        assert_eq!(Score::default().interval(), None);
    }
}
