//! The perceptron as its definition reads: plain vectors, one example at a time, every
//! weight vector kept, every sum written out. Slow, and meant to be.

use rosenblatt::Options;
use rosenblatt::internal::random::{Random, Stream};
use rosenblatt::options::{AtZero, Bias, ClassWeight, Multiclass, Order, Readout, Start, Ties};
use rosenblatt::progress::Stop;

use crate::common::{Toy, dot, score};

/// All discriminators, each as one vector with its bias first.
pub(crate) type Planes = Vec<Vec<f64>>;

/// What one pass comes to.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) struct Tally {
    pub(crate) visits: u64,
    pub(crate) mistakes: u64,
    pub(crate) updates: u64,
    pub(crate) perceptron_loss: f64,
    pub(crate) hinge_loss: f64,
    pub(crate) on_boundary: u64,
}

/// A whole run.
pub(crate) struct Outcome {
    /// The row visited and whether it was updated, visit by visit.
    pub(crate) visits: Vec<(usize, bool)>,
    /// The weights after each visit, in units of `unit`.
    pub(crate) history: Vec<Planes>,
    pub(crate) start: Planes,
    pub(crate) passes: Vec<Tally>,
    /// The pass that an update limit cut short.
    pub(crate) unfinished: Tally,
    pub(crate) stop: Stop,
    /// Σ c²‖x‖² over visits with an update, the constant feature included.
    pub(crate) squared_steps: f64,
}

pub(crate) struct Reference<'a> {
    pub(crate) toy: &'a Toy,
    pub(crate) options: &'a Options,
    /// The rate that is left in the units of the weights.
    pub(crate) unit: f64,
}

/// What an example asks of the hypothesis: margins with "does a tie go against it?", and the
/// planes to change with their sign.
struct Verdict {
    margins: Vec<(f64, bool)>,
    changes: Vec<(usize, f64)>,
}

impl<'a> Reference<'a> {
    pub(crate) fn new(toy: &'a Toy, options: &'a Options) -> Self {
        let only_scales = options.start == Start::Zero
            && options.margin_demand == 0.0
            && !options.normalise_weights;
        let unit = if only_scales { options.rate() } else { 1.0 };
        Reference { toy, options, unit }
    }

    fn eta(&self) -> f64 {
        self.options.rate() / self.unit
    }

    fn importance(&self, i: usize) -> f64 {
        let label = self.toy.labels[i];
        let class = match &self.options.class_weight {
            ClassWeight::One => 1.0,
            ClassWeight::Balanced => {
                let members = self.toy.labels.iter().filter(|&&l| l == label).count();
                self.toy.len() as f64 / (self.toy.classes as f64 * members as f64)
            }
            ClassWeight::Listed(list) => list
                .iter()
                .find(|(name, _)| *name == label.to_string())
                .map_or(1.0, |(_, weight)| *weight),
        };
        self.toy.weight(i) * class
    }

    /// The bias step per unit of rate: what a constant feature adds to an inner product.
    fn constant(&self) -> f64 {
        match self.options.bias() {
            Bias::Lifted => 1.0,
            Bias::None => 0.0,
            Bias::Unlifted(Some(rho)) => rho * rho,
            Bias::Unlifted(None) => (0..self.toy.len())
                .map(|i| {
                    let c = self.importance(i);
                    c * c * dot(&self.toy.rows[i], &self.toy.rows[i])
                })
                .fold(0.0, f64::max),
        }
    }

    fn scheme(&self) -> Option<Multiclass> {
        match self.options.multiclass {
            None if self.toy.classes > 2 => Some(Multiclass::Argmax),
            other => other,
        }
    }

    /// The pairs of one-versus-one, in order.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let k = self.toy.classes;
        (0..k)
            .flat_map(|low| (low + 1..k).map(move |high| (low, high)))
            .collect()
    }

    /// The planes that an example of class `label` trains, and on which side of each it is.
    fn sides(&self, label: usize) -> Vec<(usize, bool)> {
        match self.scheme() {
            None => vec![(0, label == 1)],
            Some(Multiclass::Argmax) => Vec::new(),
            Some(Multiclass::Ovr) => (0..self.toy.classes).map(|c| (c, c == label)).collect(),
            Some(Multiclass::Ovo) => (self.pairs().iter().enumerate())
                .filter(|(_, (low, high))| *low == label || *high == label)
                .map(|(plane, (_, high))| (plane, *high == label))
                .collect(),
        }
    }

    fn falls_short(&self, margin: f64, demand: f64, loses_ties: bool) -> bool {
        match self.options.ties {
            Ties::Mistake => margin <= demand,
            Ties::Correct => margin < demand,
            Ties::Positive if loses_ties => margin <= demand,
            Ties::Positive => margin < demand,
        }
    }

    fn judge(&self, planes: &Planes, i: usize) -> Verdict {
        let row = &self.toy.rows[i];
        let label = self.toy.labels[i] as usize;
        let demand = self.options.margin_demand;
        if self.scheme() == Some(Multiclass::Argmax) {
            let scores: Vec<f64> = planes.iter().map(|p| score(p, row)).collect();
            let others = (0..self.toy.classes).filter(|&c| c != label);
            let highest = others.clone().map(|c| scores[c]).fold(f64::MIN, f64::max);
            let rival = others.clone().find(|&c| scores[c] == highest).unwrap();
            // Who wins a tie between the two is what a prediction would say.
            let loses = if self.toy.classes == 2 {
                label == 0
            } else {
                rival < label
            };
            let margin = scores[label] - highest;
            let wrong = self.falls_short(margin, demand, loses);
            return Verdict {
                margins: vec![(margin, loses)],
                changes: if wrong {
                    vec![(label, 1.0), (rival, -1.0)]
                } else {
                    Vec::new()
                },
            };
        }
        let mut verdict = Verdict {
            margins: Vec::new(),
            changes: Vec::new(),
        };
        for (plane, positive) in self.sides(label) {
            let y = if positive { 1.0 } else { -1.0 };
            let margin = y * score(&planes[plane], row);
            verdict.margins.push((margin, !positive));
            if self.falls_short(margin, demand, !positive) {
                verdict.changes.push((plane, y));
            }
        }
        verdict
    }

    fn smallest(&self, planes: &Planes, i: usize) -> f64 {
        let margins = self.judge(planes, i).margins;
        margins.iter().map(|m| m.0).fold(f64::INFINITY, f64::min)
    }

    fn callers(&self, planes: &Planes) -> Vec<usize> {
        (0..self.toy.len())
            .filter(|&i| !self.judge(planes, i).changes.is_empty())
            .collect()
    }

    /// Planes whose common length the read-outs and the renormalisation speak of.
    fn groups(&self, planes: &Planes) -> Vec<Vec<usize>> {
        match self.scheme() {
            Some(Multiclass::Argmax) => vec![(0..planes.len()).collect()],
            _ => (0..planes.len()).map(|p| vec![p]).collect(),
        }
    }

    fn length(&self, planes: &Planes, group: &[usize]) -> f64 {
        let skip = usize::from(self.options.bias() != Bias::Lifted);
        let squares = group
            .iter()
            .map(|&p| dot(&planes[p][skip..], &planes[p][skip..]));
        squares.sum::<f64>().sqrt()
    }

    fn update(&self, planes: &mut Planes, i: usize, changes: &[(usize, f64)]) {
        let step = self.eta() * self.importance(i);
        for &(plane, y) in changes {
            planes[plane][0] += step * y * self.constant();
            for (w, x) in planes[plane][1..].iter_mut().zip(&self.toy.rows[i]) {
                *w += step * y * x;
            }
        }
        if self.options.normalise_weights {
            for group in self.groups(planes) {
                let touched = changes.iter().any(|(plane, _)| group.contains(plane));
                let length = self.length(planes, &group);
                if touched && length > 0.0 {
                    for &p in &group {
                        planes[p].iter_mut().for_each(|w| *w /= length);
                    }
                }
            }
        }
    }

    /// Runs from `start` for at most `epochs` passes. Orders that draw take their visits from
    /// `observed`; all others are worked out here.
    pub(crate) fn run(&self, start: Planes, observed: &[usize], epochs: usize) -> Outcome {
        let n = self.toy.len();
        let mut planes = start.clone();
        let mut out = Outcome {
            visits: Vec::new(),
            history: Vec::new(),
            start,
            passes: Vec::new(),
            unfinished: Tally::default(),
            stop: Stop::EpochLimit,
            squared_steps: 0.0,
        };
        let mut by_class: Vec<usize> = Vec::new();
        for class in (0..self.toy.classes).rev() {
            by_class.extend((0..n).filter(|&i| self.toy.labels[i] as usize == class));
        }
        let (mut scan, mut updates) = (0, 0);
        while out.passes.len() < epochs {
            let mut tally = Tally::default();
            let mut done = false;
            for (step, &of_class) in by_class.iter().enumerate() {
                let next = observed.get(out.visits.len()).copied();
                let i = match self.options.order {
                    Order::Given => step,
                    Order::ByClass => of_class,
                    Order::Shuffled | Order::Random => next.expect("a visit is missing"),
                    Order::Restart => scan,
                    Order::Mistakes | Order::Worst => {
                        let callers = self.callers(&planes);
                        if callers.is_empty() {
                            done = true;
                            break;
                        }
                        if self.options.order == Order::Mistakes {
                            let drawn = next.expect("a visit is missing");
                            assert!(callers.contains(&drawn), "row {drawn} calls for nothing");
                            drawn
                        } else {
                            let mut worst = callers[0];
                            for &i in &callers {
                                if self.smallest(&planes, i) < self.smallest(&planes, worst) {
                                    worst = i;
                                }
                            }
                            worst
                        }
                    }
                    other => panic!("the reference knows no order {other:?}"),
                };
                let verdict = self.judge(&planes, i);
                tally.visits += 1;
                tally.on_boundary += u64::from(self.smallest(&planes, i) == 0.0);
                tally.updates += match self.scheme() {
                    Some(Multiclass::Argmax) => verdict.changes.len() as u64 / 2,
                    _ => verdict.changes.len() as u64,
                };
                for &(margin, loses) in &verdict.margins {
                    tally.mistakes += u64::from(self.falls_short(margin, 0.0, loses));
                    tally.perceptron_loss += (-margin * self.unit).max(0.0);
                    tally.hinge_loss += (1.0 - margin * self.unit).max(0.0);
                }
                let updated = !verdict.changes.is_empty();
                if updated {
                    self.update(&mut planes, i, &verdict.changes);
                    let (c, x) = (self.importance(i), &self.toy.rows[i]);
                    out.squared_steps += c * c * (dot(x, x) + self.constant());
                }
                out.visits.push((i, updated));
                out.history.push(planes.clone());
                if (self.options.max_updates).is_some_and(|most| updates + tally.updates >= most) {
                    out.stop = Stop::UpdateLimit;
                    out.unfinished = tally;
                    return out;
                }
                scan = if updated { 0 } else { scan + 1 };
                if self.options.order == Order::Restart && scan == n {
                    done = true;
                    break;
                }
            }
            updates += tally.updates;
            out.passes.push(tally);
            let by_passes = matches!(
                self.options.order,
                Order::Given | Order::ByClass | Order::Shuffled | Order::Random
            );
            if done || (by_passes && tally.updates == 0 && self.callers(&planes).is_empty()) {
                let at_zero = (0..n).filter(|&i| self.smallest(&planes, i) == 0.0).count() as u64;
                out.stop = match at_zero {
                    0 => Stop::Separated,
                    at_zero => Stop::NoMistakes { at_zero },
                };
                return out;
            }
        }
        out
    }

    /// The class that `scores` decide for.
    pub(crate) fn decide(&self, scores: &[f64]) -> u32 {
        let zero_is_positive = self.options.at_zero == AtZero::Positive;
        let positive = |s: f64| s > 0.0 || (s == 0.0 && zero_is_positive);
        let first_of_the_largest = |scores: &[f64]| {
            let most = scores.iter().copied().fold(f64::MIN, f64::max);
            scores.iter().position(|&s| s == most).unwrap() as u32
        };
        match self.scheme() {
            None => u32::from(positive(scores[0])),
            Some(Multiclass::Ovo) => {
                let mut wins = vec![0.0; self.toy.classes];
                for ((low, high), &s) in self.pairs().into_iter().zip(scores) {
                    wins[if positive(s) { high } else { low }] += 1.0;
                }
                first_of_the_largest(&wins)
            }
            _ if self.toy.classes == 2 => u32::from(positive(scores[1] - scores[0])),
            _ => first_of_the_largest(scores),
        }
    }

    fn errors(&self, planes: &Planes) -> usize {
        (0..self.toy.len())
            .filter(|&i| {
                let scores: Vec<f64> = planes.iter().map(|p| score(p, &self.toy.rows[i])).collect();
                self.decide(&scores) != self.toy.labels[i]
            })
            .count()
    }

    fn scaled(&self, planes: &Planes) -> Planes {
        let scale = |p: &Vec<f64>| p.iter().map(|w| w * self.unit).collect();
        planes.iter().map(scale).collect()
    }

    /// Which visits count for a plane: those whose example trains it.
    fn concerns(&self, plane: usize, row: usize) -> bool {
        self.scheme() != Some(Multiclass::Ovo)
            || (self.sides(self.toy.labels[row] as usize).iter()).any(|side| side.0 == plane)
    }

    /// The weights that the run's read-out names; none for voting.
    pub(crate) fn read_out(&self, run: &Outcome) -> Option<Planes> {
        let last = run.history.last().unwrap_or(&run.start);
        match self.options.readout() {
            Readout::Last => Some(self.scaled(last)),
            Readout::Voted => None,
            Readout::Averaged => Some(self.scaled(&self.mean(run, last, |planes| planes.clone()))),
            Readout::AveragedNormalised => Some(self.mean(run, last, |planes| {
                let mut divided = planes.clone();
                for group in self.groups(planes) {
                    let length = self.length(planes, &group);
                    for p in group {
                        // A vector without a length has no direction to add.
                        let share = if length > 0.0 { 1.0 / length } else { 0.0 };
                        divided[p].iter_mut().for_each(|w| *w *= share);
                    }
                }
                divided
            })),
            Readout::Random => {
                // Visit t replaces what is kept iff it is the one after t'/U, t' the visit of
                // the last replacement and U the next number of the stream.
                let (mut kept, mut next, mut draws) = (&run.start, 0.0, 0);
                for (t, planes) in run.history.iter().enumerate() {
                    let t = (t + 1) as f64;
                    if t >= next {
                        draws += 1;
                        let mut random = Random::new(self.options.seed, Stream::Readout, draws);
                        next = (t / random.positive_unit()).floor() + 1.0;
                        kept = planes;
                    }
                }
                Some(self.scaled(kept))
            }
            Readout::Pocket => {
                let (mut pocket, mut errors) = (&run.start, self.errors(&run.start));
                let (mut streak, mut longest) = (0, 0);
                for (planes, (_, updated)) in run.history.iter().zip(&run.visits) {
                    streak = if *updated { 0 } else { streak + 1 };
                    let only_mistakes =
                        matches!(self.options.order, Order::Worst | Order::Mistakes);
                    if (only_mistakes || streak > longest) && self.errors(planes) < errors {
                        (pocket, errors, longest) = (planes, self.errors(planes), streak);
                    }
                }
                Some(self.scaled(pocket))
            }
            other => panic!("the reference knows no read-out {other:?}"),
        }
    }

    /// The mean over visits of `part` of the weights; a plane that no visit concerned stays.
    fn mean(&self, run: &Outcome, last: &Planes, part: impl Fn(&Planes) -> Planes) -> Planes {
        let mut mean = last.clone();
        let parts: Vec<Planes> = run.history.iter().map(part).collect();
        for plane in 0..mean.len() {
            let mut sum = vec![0.0; mean[plane].len()];
            let mut count = 0.0;
            for (planes, (row, _)) in parts.iter().zip(&run.visits) {
                if self.concerns(plane, *row) {
                    sum.iter_mut()
                        .zip(&planes[plane])
                        .for_each(|(s, w)| *s += w);
                    count += 1.0;
                }
            }
            if count > 0.0 {
                mean[plane] = sum.iter().map(|s| s / count).collect();
            }
        }
        mean
    }

    /// The votes of every weight vector of the run: for each class under argmax, else the
    /// votes for minus those against, plane by plane. Also how many of them hang on a score
    /// that is 0 but for rounding.
    pub(crate) fn votes(&self, run: &Outcome, row: &[f64]) -> (Vec<f64>, f64) {
        let mut votes = vec![0.0; run.start.len()];
        let mut doubtful = 0.0;
        for (planes, (visited, _)) in run.history.iter().zip(&run.visits) {
            let scores: Vec<f64> = planes.iter().map(|p| score(p, row)).collect();
            let scale: f64 = planes.iter().flatten().fold(1e-9, |m, w| w.abs().max(m));
            if self.scheme() == Some(Multiclass::Argmax) {
                votes[self.decide(&scores) as usize] += 1.0;
                let most = scores.iter().copied().fold(f64::MIN, f64::max);
                let near = scores.iter().filter(|s| most - **s < 1e-10 * scale).count();
                doubtful += if near > 1 { 1.0 } else { 0.0 };
                continue;
            }
            for (plane, s) in scores.iter().enumerate() {
                if self.concerns(plane, *visited) {
                    let at_zero = self.options.at_zero == AtZero::Positive;
                    let yes = *s > 0.0 || (*s == 0.0 && at_zero);
                    votes[plane] += if yes { 1.0 } else { -1.0 };
                    doubtful += if s.abs() < 1e-10 * scale { 1.0 } else { 0.0 };
                }
            }
        }
        (votes, doubtful)
    }
}
