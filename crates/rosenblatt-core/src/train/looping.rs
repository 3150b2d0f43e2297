//! The loop itself.

use std::sync::atomic::Ordering;

use super::hypothesis::Hypothesis;
use super::order::PassOrder;
use super::progress::Progress;
use super::rule::{Judgement, Rule};
use super::stop::Stop;
use super::watch::{Control, Visit, Watch};
use crate::data::Dataset;
use crate::error::Result;
use crate::model::Scheme;
use crate::options::{Options, Order, Readout};
use crate::random::{Random, Stream};
use crate::simd;

/// A run under way.
pub(crate) struct Run<'a, H, W> {
    pub data: &'a Dataset,
    pub options: &'a Options,
    pub control: Control<'a>,
    pub hypothesis: &'a mut H,
    pub progress: &'a mut Progress,
    pub watch: &'a mut W,
    rule: Rule,
    scheme: Scheme,
    /// How many numbers the scores of an example are.
    width: usize,
    judgement: Judgement,
    /// Scores of the examples that come next.
    scores: Vec<f64>,
    readout: Readout,
    /// Whether visits that change nothing need no more than to be counted.
    passes_by: bool,
    tells_steps: bool,
    tells_weights: bool,
    /// Whether the errors of the running weights have been counted since they changed.
    pocket_checked: bool,
    /// The margins that the visits of this pass found, by example, up to its first update.
    margins: Vec<f64>,
    /// Whether those are all margins of the last weights.
    margins_are_final: bool,
}

impl<'a, H: Hypothesis, W: Watch<H>> Run<'a, H, W> {
    pub(crate) fn new(
        data: &'a Dataset,
        options: &'a Options,
        control: Control<'a>,
        hypothesis: &'a mut H,
        progress: &'a mut Progress,
        watch: &'a mut W,
    ) -> Self {
        let counts_only = !matches!(options.readout(), Readout::Random | Readout::Pocket);
        let one_plane = hypothesis.scheme() == Scheme::Binary && hypothesis.width() == 1;
        Run {
            passes_by: one_plane && counts_only && !watch.wants_steps(),
            rule: Rule::new(options, hypothesis.unit()),
            scheme: hypothesis.scheme(),
            width: hypothesis.width(),
            readout: options.readout(),
            tells_steps: watch.wants_steps(),
            tells_weights: watch.wants_weights(),
            judgement: Judgement::default(),
            scores: Vec::new(),
            pocket_checked: false,
            margins: vec![0.0; data.len()],
            margins_are_final: false,
            data,
            options,
            control,
            hypothesis,
            progress,
            watch,
        }
    }

    /// Goes on until something stops it.
    pub(crate) fn go(&mut self) -> Result<Stop> {
        if self.options.readout() == Readout::Pocket && self.progress.pocket.best_errors.is_none() {
            self.progress.pocket.best_errors = Some(self.errors());
        }
        // A run that goes on may have ended so before.
        if self.progress.current.visits == 0
            && let Some(stop) = self.out_of_patience()
        {
            return Ok(stop);
        }
        loop {
            if self.progress.passes.len() as u64 >= self.control.epochs {
                return Ok(Stop::EpochLimit);
            }
            // A run that goes on may have spent them before.
            if self.updates_spent() {
                return Ok(Stop::UpdateLimit);
            }
            let stop = match self.options.order {
                Order::Restart => self.restart_pass()?,
                Order::Worst | Order::Mistakes => self.chosen_pass()?,
                _ => self.static_pass()?,
            };
            if let Some(stop) = stop {
                return Ok(stop);
            }
        }
    }

    /// The margin of every example under the last weights, where the last pass found them.
    pub(crate) fn into_margins(self) -> Option<Vec<f64>> {
        self.margins_are_final.then_some(self.margins)
    }

    /// A pass whose order is known ahead.
    fn static_pass(&mut self) -> Result<Option<Stop>> {
        let epoch = self.progress.passes.len() as u64;
        let Some(mut order) =
            PassOrder::new(self.data, self.options.order, self.options.seed, epoch)
        else {
            unreachable!("orders that depend on outcomes have passes of their own")
        };
        self.begin_pass();
        // A run stopped inside a pass goes on where it was.
        let mut skip = self.progress.current.visits as usize;
        let whole = skip == 0;
        while let Some((block, coming)) = order.next_two_blocks() {
            if skip >= block.examples.len() {
                skip -= block.examples.len();
                continue;
            }
            if let Some(stop) = self.asked_to_stop() {
                return Ok(Some(stop));
            }
            let block = &block.examples[std::mem::take(&mut skip)..];
            self.hypothesis.look_ahead(block, coming);
            if let Some(labels) = coming.together.clone() {
                simd::prefetch(&self.data.labels[labels]);
            }
            let mut next = block;
            while !next.is_empty() {
                let (made, updated) = self.visit_some(next);
                if updated && self.updates_spent() {
                    return Ok(Some(Stop::UpdateLimit));
                }
                next = &next[made..];
            }
            self.data.matrix.were_read(block.len());
        }
        let pass = self.progress.current;
        let proof = if pass.updates > 0 {
            None
        } else if self.options.order == Order::Random {
            // Draws with replacement miss about a third of the rows: a clean epoch is a
            // hint, a sweep the proof.
            let sweep = self.sweep();
            sweep.calling.is_empty().then_some(sweep.on_boundary)
        } else {
            self.margins_are_final = whole;
            Some(pass.on_boundary)
        };
        self.end_pass()?;
        Ok(proof.map(clean).or_else(|| self.out_of_patience()))
    }

    /// n visits, each to the first example that calls for an update, found by scanning from
    /// the start; every example scanned is a visit.
    fn restart_pass(&mut self) -> Result<Option<Stop>> {
        self.begin_pass();
        while self.progress.current.visits < self.data.len() as u64 {
            if self.progress.visits.is_multiple_of(256)
                && let Some(stop) = self.asked_to_stop()
            {
                return Ok(Some(stop));
            }
            let i = self.data.position(self.progress.scan as usize);
            self.progress.scan = match self.visit_some(&[i as u32]) {
                (_, true) => 0,
                (_, false) => self.progress.scan + 1,
            };
            if self.updates_spent() {
                return Ok(Some(Stop::UpdateLimit));
            }
            if self.progress.scan == self.data.len() as u64 {
                let sweep = self.sweep();
                self.end_pass()?;
                return Ok(Some(clean(sweep.on_boundary)));
            }
        }
        self.end_pass()?;
        Ok(self.out_of_patience())
    }

    /// n visits, each to an example chosen among all that call for an update.
    fn chosen_pass(&mut self) -> Result<Option<Stop>> {
        self.begin_pass();
        while self.progress.current.visits < self.data.len() as u64 {
            if let Some(stop) = self.asked_to_stop() {
                return Ok(Some(stop));
            }
            let sweep = self.sweep();
            let chosen = match self.options.order {
                Order::Worst => sweep.worst,
                _ if sweep.calling.is_empty() => None,
                _ => {
                    let mut random =
                        Random::new(self.options.seed, Stream::Order, self.progress.visits);
                    let nth = random.below(sweep.calling.len() as u64);
                    Some(sweep.calling[nth as usize] as usize)
                }
            };
            let Some(i) = chosen else {
                self.end_pass()?;
                return Ok(Some(clean(sweep.on_boundary)));
            };
            self.visit_some(&[i as u32]);
            if self.updates_spent() {
                return Ok(Some(Stop::UpdateLimit));
            }
        }
        self.end_pass()?;
        Ok(self.out_of_patience())
    }

    /// Visits examples in order, up to the first that is updated or as many as the learner has
    /// scored; says how many those were, and whether the last was updated.
    #[inline]
    fn visit_some(&mut self, next: &[u32]) -> (usize, bool) {
        let mut all = std::mem::take(&mut self.scores);
        self.hypothesis.scores_ahead(next, &mut all);
        let (mut made, mut updated) = (self.pass_by(next, &all), false);
        let left = next[made..]
            .iter()
            .zip(all[made * self.width..].chunks_exact(self.width));
        for (&i, scores) in left {
            made += 1;
            updated = self.visit(i as usize, scores);
            if updated {
                break;
            }
        }
        self.scores = all;
        (made, updated)
    }

    /// Visits the examples at the front that are clearly right, where nobody wants to know more of
    /// them than their margins and losses; says how many they are.
    #[inline(always)]
    fn pass_by(&mut self, next: &[u32], scores: &[f64]) -> usize {
        if !self.passes_by {
            return 0;
        }
        let mut current = self.progress.current;
        let mut passed = 0;
        for (&i, &score) in next.iter().zip(scores) {
            let label = self.data.labels[i as usize];
            let Some(margin) = self.rule.clear_margin(label, score) else {
                break;
            };
            current.hinge_loss += self.rule.hinge_loss(margin);
            if current.updates == 0 {
                self.margins[i as usize] = margin;
            }
            passed += 1;
        }
        self.hypothesis.settle_many(passed);
        current.visits += passed as u64;
        self.progress.visits += passed as u64;
        self.progress.current = current;
        passed
    }

    /// Visits the example that has these scores; says whether it was updated.
    #[inline(always)]
    fn visit(&mut self, i: usize, scores: &[f64]) -> bool {
        let label = self.data.labels[i];
        let before = self.tells_steps.then(|| self.told_weights());
        self.rule
            .judge(self.scheme, label, scores, &mut self.judgement);
        let found = &self.judgement;
        let updated = !found.changes.is_empty();

        let current = &mut self.progress.current;
        current.visits += 1;
        current.mistakes += found.mistakes;
        current.updates += found.updates;
        current.perceptron_loss += found.perceptron_loss;
        current.hinge_loss += found.hinge_loss;
        current.on_boundary += u64::from(found.margin == 0.0);
        self.progress.visits += 1;
        if current.updates == 0 {
            self.margins[i] = found.margin;
        }
        if updated {
            self.progress.mistakes += found.mistakes;
            self.progress.updates += found.updates;
            self.progress.squared_steps += self.hypothesis.update(i, scores, &found.changes);
        }
        self.hypothesis.settle(label);
        match self.readout {
            Readout::Random => self.sample(),
            Readout::Pocket => self.ratchet(updated),
            _ => {}
        }
        if let Some(before) = before {
            self.tell(i, before, scores);
        }
        updated
    }

    /// Tells the watcher of the visit to example `i`.
    #[cold]
    fn tell(&mut self, i: usize, before: Vec<f64>, scores: &[f64]) {
        let unit = self.hypothesis.unit();
        let scores = &scores[..self.scheme.discriminators()];
        self.watch.step(Visit {
            step: self.progress.visits,
            epoch: self.progress.passes.len() as u64,
            example: i,
            before,
            scores: scores.iter().map(|s| s * unit).collect(),
            judgement: &self.judgement,
            after: self.told_weights(),
        });
    }

    /// The weights as they are, for a report that wants them.
    fn told_weights(&self) -> Vec<f64> {
        match self.tells_weights {
            true => self.hypothesis.vector(),
            false => Vec::new(),
        }
    }

    /// Keeps the weights at a visit drawn uniformly among all so far: after a replacement
    /// at visit t the next is at ⌊t/U⌋ + 1, U uniform, so that P(none up to m) = t/m.
    fn sample(&mut self) {
        let reservoir = &mut self.progress.reservoir;
        if self.progress.visits >= reservoir.next {
            reservoir.draws += 1;
            let u =
                Random::new(self.options.seed, Stream::Readout, reservoir.draws).positive_unit();
            reservoir.next = (self.progress.visits as f64 / u) as u64 + 1;
            self.hypothesis.keep();
        }
    }

    /// Gallant's ratchet.
    fn ratchet(&mut self, updated: bool) {
        // Orders that visit only mistakes never see a run of correct visits; there every new
        // hypothesis is held against the pocket by its errors alone.
        let only_mistakes = matches!(self.options.order, Order::Worst | Order::Mistakes);
        let pocket = &mut self.progress.pocket;
        if updated {
            pocket.run = 0;
            self.pocket_checked = false;
        } else {
            pocket.run += 1;
        }
        if (only_mistakes || pocket.run > pocket.best_run) && !self.pocket_checked {
            self.pocket_checked = true;
            let errors = self.errors();
            let pocket = &mut self.progress.pocket;
            if pocket.best_errors.is_none_or(|best| errors < best) {
                pocket.best_errors = Some(errors);
                pocket.best_run = pocket.run;
                self.hypothesis.keep();
            }
        }
    }

    /// Wrong predictions of the running weights on all examples.
    fn errors(&mut self) -> u64 {
        let (scheme, at_zero) = (self.scheme, self.options.at_zero);
        (0..self.data.len())
            .filter(|&i| scheme.decide(self.hypothesis.scores(i), at_zero) != self.data.labels[i])
            .count() as u64
    }

    /// Looks at every example, in file order, and changes nothing.
    fn sweep(&mut self) -> Sweep {
        let mut sweep = Sweep::default();
        let mut smallest = f64::INFINITY;
        for number in 0..self.data.len() {
            let i = self.data.position(number);
            let scores = self.hypothesis.scores(i);
            self.rule.judge(
                self.scheme,
                self.data.labels[i],
                scores,
                &mut self.judgement,
            );
            sweep.on_boundary += u64::from(self.judgement.margin == 0.0);
            if !self.judgement.changes.is_empty() {
                sweep.calling.push(i as u32);
                if self.judgement.margin < smallest {
                    smallest = self.judgement.margin;
                    sweep.worst = Some(i);
                }
            }
        }
        sweep
    }

    fn begin_pass(&mut self) {
        if self.progress.current.visits == 0 {
            self.hypothesis.begin_pass();
        }
    }

    fn end_pass(&mut self) -> Result<()> {
        let mut pass = std::mem::take(&mut self.progress.current);
        pass.validation_accuracy = self.watch.pass(self.hypothesis, self.progress)?;
        self.progress.passes.push(pass);
        self.watch.recorded(self.hypothesis, self.progress)
    }

    fn updates_spent(&self) -> bool {
        self.options
            .max_updates
            .is_some_and(|most| self.progress.updates >= most)
    }

    fn asked_to_stop(&self) -> Option<Stop> {
        asked_to_stop(self.options, self.control)
    }

    fn out_of_patience(&self) -> Option<Stop> {
        out_of_patience(self.options, self.progress).then_some(Stop::NoImprovement)
    }
}

/// What a look at all examples found.
#[derive(Debug, Default)]
struct Sweep {
    /// Examples that call for an update, in file order.
    calling: Vec<u32>,
    /// Examples with a margin of exactly 0.
    on_boundary: u64,
    /// The one with the smallest margin among those that call for an update.
    worst: Option<usize>,
}

fn clean(on_boundary: u64) -> Stop {
    if on_boundary == 0 {
        Stop::Separated
    } else {
        Stop::NoMistakes {
            at_zero: on_boundary,
        }
    }
}

/// Whether the caller or the clock wants an end.
pub(crate) fn asked_to_stop(options: &Options, control: Control<'_>) -> Option<Stop> {
    if control
        .interrupt
        .is_some_and(|flag| flag.load(Ordering::Relaxed))
    {
        return Some(Stop::Interrupted);
    }
    let spent = control.started.elapsed().as_secs_f64();
    options
        .time_limit
        .is_some_and(|limit| spent >= limit)
        .then_some(Stop::TimeLimit)
}

/// Whether the last `patience` passes brought no better validation accuracy.
pub(crate) fn out_of_patience(options: &Options, progress: &Progress) -> bool {
    let Some(patience) = options.patience else {
        return false;
    };
    let mut best = (0, f64::NEG_INFINITY);
    for (epoch, pass) in progress.passes.iter().enumerate() {
        if pass.validation_accuracy.is_some_and(|a| a > best.1) {
            best = (epoch, pass.validation_accuracy.unwrap_or(best.1));
        }
    }
    progress.passes.len() as u64 > best.0 as u64 + patience
}
