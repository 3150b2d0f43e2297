//! The training loop of every mistake-driven learner.

use super::callback::Step;
use super::fit::Training;
use super::hypothesis::Hypothesis;
use super::order::{OrderKind, PassOrder, Sweep, choose};
use super::rule::{Judgement, Rule};
use super::step::StepSize;
use crate::error::Result;
use crate::options::Readout;
use crate::progress::Stop;
use crate::scheme::Scheme;

/// A run under way.
pub(crate) struct Run<'a, 'f, H, S> {
    training: &'a mut Training<'f>,
    hypothesis: &'a mut H,
    rule: Rule,
    step: S,
    scheme: Scheme,
    /// How many numbers the scores of an example are.
    width: usize,
    judgement: Judgement,
    /// What an update adds to which discriminator.
    changes: Vec<(u32, f64)>,
    /// Scores of the examples that come next.
    scores: Vec<f64>,
    readout: Readout,
    /// Whether visits that change nothing need no more than to be counted.
    counts_only: bool,
    /// Whether the squared hinge loss is on record.
    squared_loss: bool,
    /// Whether the callback wants every visit, and the weights with it.
    reports_steps: bool,
    /// Whether the errors of the running weights have been counted since they changed.
    pocket_counted: bool,
}

impl<'a, 'f, H: Hypothesis, S: StepSize> Run<'a, 'f, H, S> {
    pub(crate) fn new(
        training: &'a mut Training<'f>,
        hypothesis: &'a mut H,
        rule: Rule,
        step: S,
    ) -> Self {
        let readout = training.options.readout();
        let reports_steps = training.recorder.callback.wants_steps();
        let one_plane = training.scheme == Scheme::Binary && hypothesis.width() == 1;
        let snapshots = matches!(readout, Readout::Random | Readout::Pocket);
        Run {
            counts_only: one_plane && !snapshots && !reports_steps,
            squared_loss: rule.is_hinge(),
            rule,
            step,
            scheme: training.scheme,
            width: hypothesis.width(),
            readout,
            reports_steps,
            judgement: Judgement::default(),
            changes: Vec::new(),
            scores: Vec::new(),
            pocket_counted: false,
            training,
            hypothesis,
        }
    }

    /// Runs until something stops it.
    pub(crate) fn go(&mut self) -> Result<Stop> {
        if self.training.options.readout() == Readout::Pocket
            && self.training.progress.pocket.best_errors.is_none()
        {
            self.training.progress.pocket.best_errors = Some(self.errors());
        }
        // A resumed run may have ended so before. Of a pass over a part, whoever counts the passes
        // decides.
        if self.training.part.is_none()
            && self.training.progress.current.visits == 0
            && let Some(stop) = self.training.limits.after_pass(&self.training.progress)
        {
            return Ok(stop);
        }
        loop {
            if let Some(stop) = self.training.limits.before_pass(&self.training.progress) {
                return Ok(stop);
            }
            let stop = match self.training.options.order.kind() {
                OrderKind::Ahead => self.ordered_pass()?,
                OrderKind::Chosen => self.chosen_pass()?,
                OrderKind::Scan => self.scanning_pass()?,
            };
            if let Some(stop) = stop {
                return Ok(stop);
            }
        }
    }

    /// Visits each example once, in the order given, and leaves the pass open for others.
    pub(crate) fn part_of_pass(&mut self) {
        self.begin_pass();
        let all: Vec<u32> = (0..self.training.data.len() as u32).collect();
        let mut next = &all[..];
        self.hypothesis.look_ahead(next, &[]);
        while !next.is_empty() {
            let (made, _) = self.visit_some(next);
            next = &next[made..];
        }
    }

    /// A pass whose order is known ahead.
    fn ordered_pass(&mut self) -> Result<Option<Stop>> {
        let epoch = self.training.progress.passes.len() as u64;
        let Some(mut order) = PassOrder::new(
            self.training.data,
            self.training.options.order,
            self.training.options.seed,
            epoch,
        ) else {
            unreachable!("orders that depend on outcomes have passes of their own")
        };
        self.begin_pass();
        // A run stopped inside a pass is resumed where it was.
        let mut skip = self.training.progress.current.visits as usize;
        while let Some((block, coming)) = order.next_two_blocks() {
            if skip >= block.len() {
                skip -= block.len();
                continue;
            }
            if let Some(stop) = self.training.limits.now() {
                return Ok(Some(stop));
            }
            let block = &block[std::mem::take(&mut skip)..];
            self.hypothesis.look_ahead(block, coming);
            let mut next = block;
            while !next.is_empty() {
                let (made, updated) = self.visit_some(next);
                if updated
                    && let Some(stop) = self.training.limits.after_update(&self.training.progress)
                {
                    return Ok(Some(stop));
                }
                next = &next[made..];
            }
            self.training.data.matrix.were_read(block.len());
        }
        let pass = self.training.progress.current;
        let proof = if pass.updates > 0 || self.hypothesis.always_moves() {
            None
        } else if !self.training.options.order.visits_all() {
            // Draws with replacement miss about a third of the rows: a clean epoch is a
            // hint, a sweep the proof.
            let sweep = self.sweep();
            sweep.calling.is_empty().then_some(sweep.on_boundary)
        } else {
            Some(pass.on_boundary)
        };
        self.end_pass()?;
        Ok(proof
            .map(clean)
            .or_else(|| self.training.limits.after_pass(&self.training.progress)))
    }

    /// n visits, each to the first example that calls for an update, found by scanning from
    /// the start; every example scanned is a visit.
    fn scanning_pass(&mut self) -> Result<Option<Stop>> {
        self.begin_pass();
        while self.training.progress.current.visits < self.training.data.len() as u64 {
            if self.training.progress.visits.is_multiple_of(256)
                && let Some(stop) = self.training.limits.now()
            {
                return Ok(Some(stop));
            }
            let i = self
                .training
                .data
                .position(self.training.progress.scan as usize);
            self.training.progress.scan = match self.visit_some(&[i as u32]) {
                (_, true) => 0,
                (_, false) => self.training.progress.scan + 1,
            };
            if let Some(stop) = self.training.limits.after_update(&self.training.progress) {
                return Ok(Some(stop));
            }
            if self.training.progress.scan == self.training.data.len() as u64 {
                let sweep = self.sweep();
                self.end_pass()?;
                return Ok(Some(clean(sweep.on_boundary)));
            }
        }
        self.end_pass()?;
        Ok(self.training.limits.after_pass(&self.training.progress))
    }

    /// n visits, each to an example chosen among all that call for an update.
    fn chosen_pass(&mut self) -> Result<Option<Stop>> {
        self.begin_pass();
        while self.training.progress.current.visits < self.training.data.len() as u64 {
            if let Some(stop) = self.training.limits.now() {
                return Ok(Some(stop));
            }
            let sweep = self.sweep();
            let (order, seed) = (self.training.options.order, self.training.options.seed);
            let chosen = choose(order, &sweep, seed, self.training.progress.visits);
            let Some(i) = chosen else {
                self.end_pass()?;
                return Ok(Some(clean(sweep.on_boundary)));
            };
            self.visit_some(&[i as u32]);
            if let Some(stop) = self.training.limits.after_update(&self.training.progress) {
                return Ok(Some(stop));
            }
        }
        self.end_pass()?;
        Ok(self.training.limits.after_pass(&self.training.progress))
    }

    /// Visits examples in order, up to the first that is updated or as many as the learner has
    /// scored; says how many those were, and whether the last was updated.
    #[inline]
    fn visit_some(&mut self, next: &[u32]) -> (usize, bool) {
        let mut all = std::mem::take(&mut self.scores);
        self.hypothesis.scores_ahead(next, &mut all);
        let (mut made, mut updated) = (self.visit_correct(next, &all), false);
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
    fn visit_correct(&mut self, next: &[u32], scores: &[f64]) -> usize {
        if !self.counts_only {
            return 0;
        }
        let mut current = self.training.progress.current;
        let mut passed = 0;
        for (&i, &score) in next.iter().zip(scores) {
            let label = self.training.data.labels[i as usize];
            let Some(margin) = self.rule.clear_margin(label, score) else {
                break;
            };
            current.hinge_loss += self.rule.hinge_loss(margin);
            passed += 1;
        }
        self.hypothesis.visited_many(passed);
        current.visits += passed as u64;
        self.training.progress.visits += passed as u64;
        self.training.progress.current = current;
        passed
    }

    /// Visits the example that has these scores; says whether it was updated.
    #[inline(always)]
    fn visit(&mut self, i: usize, scores: &[f64]) -> bool {
        let label = self.training.data.labels[i];
        let before = self.reports_steps.then(|| self.reported_weights());
        self.rule
            .judge(self.scheme, label, scores, &mut self.judgement);
        if !self.judgement.changes.is_empty() {
            self.decide_steps(i, label, scores);
        }
        let found = &self.judgement;
        let updated = !found.changes.is_empty();

        let current = &mut self.training.progress.current;
        found.count_in(current, found.mistakes);
        current.updates += found.updates;
        if self.squared_loss {
            current.squared_error += found.squared_hinge_loss;
        }
        self.training.progress.visits += 1;
        self.training.progress.mistakes += found.mistakes;
        if updated {
            self.training.progress.updates += found.updates;
            let weight = self.training.sample_weights.of(i, label);
            self.training.progress.squared_steps +=
                weight * weight * self.hypothesis.squared_length(i);
            self.hypothesis.update(i, scores, &self.changes);
        }
        self.hypothesis.visited(label);
        match self.readout {
            Readout::Random => self.sample(),
            Readout::Pocket => self.ratchet(updated),
            _ => {}
        }
        if let Some(before) = before {
            self.report_step(i, before, scores);
        }
        updated
    }

    /// Turns the changes that are called for into how much each adds; those that no step can
    /// make are dropped.
    #[inline(always)]
    fn decide_steps(&mut self, i: usize, label: u32, scores: &[f64]) {
        let weight = self.training.sample_weights.of(i, label);
        let (found, hypothesis, step) = (&mut self.judgement, &*self.hypothesis, self.step);
        self.changes.clear();
        if let (Scheme::Argmax { .. }, &[(raised, _), (lowered, _)]) =
            (self.scheme, found.changes.as_slice())
        {
            // Both rows move, so the step is measured on both.
            let length = || hypothesis.step_length(i, raised) + hypothesis.step_length(i, lowered);
            match step.size(found.margin, weight, length) {
                Some(size) => self.changes.extend([(raised, size), (lowered, -size)]),
                None => found.drop_changes(),
            }
            return;
        }
        let (changes, updates) = (&mut self.changes, &mut found.updates);
        found.changes.retain(|&(d, sign)| {
            let margin = sign * scores[d as usize];
            let size = step.size(margin, weight, || hypothesis.step_length(i, d));
            match size {
                Some(size) => changes.push((d, sign * size)),
                None => *updates -= 1,
            }
            size.is_some()
        });
    }

    /// Reports the visit to example `i`.
    #[cold]
    fn report_step(&mut self, i: usize, weights: Vec<f64>, scores: &[f64]) {
        let unit = self.hypothesis.unit();
        let scores = &scores[..self.scheme.discriminators()];
        let step = Step {
            step: self.training.progress.visits,
            epoch: self.training.progress.passes.len() as u64 + 1,
            row: self.training.data.number(i) as u64 + 1,
            label: self.training.data.labels[i],
            weights,
            scores: scores.iter().map(|s| s * unit).collect(),
            correct: self.judgement.changes.is_empty(),
            weights_after: self.reported_weights(),
            squared_error: None,
        };
        self.training.recorder.callback.step(step);
    }

    /// The weights as they are, for a callback that wants them.
    fn reported_weights(&self) -> Vec<f64> {
        match self.training.recorder.callback.wants_weights() {
            true => self.hypothesis.vector(),
            false => Vec::new(),
        }
    }

    /// The `random` read-out's turn after a visit.
    fn sample(&mut self) {
        let visit = self.training.progress.visits;
        if self
            .training
            .progress
            .reservoir
            .takes(visit, self.training.options.seed)
        {
            self.hypothesis.keep_snapshot();
        }
    }

    /// The pocket's turn after a visit.
    fn ratchet(&mut self, updated: bool) {
        let any_run = self.training.options.order.kind() == OrderKind::Chosen;
        let pocket = &mut self.training.progress.pocket;
        if pocket.is_candidate(updated, any_run, &mut self.pocket_counted) {
            let errors = self.errors();
            if self.training.progress.pocket.takes(errors) {
                self.hypothesis.keep_snapshot();
            }
        }
    }

    /// Wrong predictions of the running weights on all examples.
    fn errors(&mut self) -> u64 {
        let (scheme, at_zero) = (self.scheme, self.training.options.at_zero);
        (0..self.training.data.len())
            .filter(|&i| {
                scheme.decide(self.hypothesis.scores(i), at_zero) != self.training.data.labels[i]
            })
            .count() as u64
    }

    /// Looks at every example, in file order, and changes nothing.
    fn sweep(&mut self) -> Sweep {
        let mut sweep = Sweep::default();
        let mut smallest = f64::INFINITY;
        for number in 0..self.training.data.len() {
            let i = self.training.data.position(number);
            let scores = self.hypothesis.scores(i);
            self.rule.judge(
                self.scheme,
                self.training.data.labels[i],
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

    /// Counts in the pass under way what a look at every example finds: as updates those that
    /// are called for.
    pub(crate) fn count_sweep(&mut self) {
        for number in 0..self.training.data.len() {
            let i = self.training.data.position(number);
            let scores = self.hypothesis.scores(i);
            let label = self.training.data.labels[i];
            let found = &mut self.judgement;
            self.rule.judge(self.scheme, label, scores, found);
            let current = &mut self.training.progress.current;
            found.count_in(current, found.mistakes);
            current.updates += found.updates;
            if self.squared_loss {
                current.squared_error += found.squared_hinge_loss;
            }
        }
    }

    fn begin_pass(&mut self) {
        if self.training.progress.current.visits == 0 {
            self.hypothesis.begin_pass();
        }
    }

    fn end_pass(&mut self) -> Result<()> {
        let mut pass = std::mem::take(&mut self.training.progress.current);
        let Training {
            progress, recorder, ..
        } = &mut *self.training;
        recorder.validate(self.hypothesis, &mut pass, progress)?;
        progress.passes.push(pass);
        recorder.pass_done(self.hypothesis, progress)
    }
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
