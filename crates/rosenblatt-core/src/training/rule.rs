//! When a score calls for an update, and of what.

use crate::options::{Options, Ties};
use crate::progress::Pass;
use crate::scheme::{Scheme, leader};

/// What one visit found: how the example fared and what must change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgement {
    /// Discriminators to change, with the sign of the change.
    pub changes: Vec<(u32, f64)>,
    /// The smallest margin among the discriminators that matter for this example.
    pub margin: f64,
    /// Wrong answers: 0 or 1, or the sum over the planes of one-vs-rest and one-vs-one.
    pub mistakes: u64,
    /// Updates called for, counted the same way.
    pub updates: u64,
    /// Perceptron loss Σ max(0, −margin).
    pub perceptron_loss: f64,
    /// Hinge loss Σ max(0, 1 − margin).
    pub hinge_loss: f64,
    /// Σ max(0, 1 − margin)².
    pub squared_hinge_loss: f64,
}

impl Judgement {
    /// Counts the visit it judged, with so many wrong answers.
    #[inline(always)]
    pub(crate) fn count_in(&self, pass: &mut Pass, mistakes: u64) {
        pass.visits += 1;
        pass.mistakes += mistakes;
        pass.perceptron_loss += self.perceptron_loss;
        pass.hinge_loss += self.hinge_loss;
        pass.on_boundary += u64::from(self.margin == 0.0);
    }

    /// No step can make what was called for.
    pub(crate) fn drop_changes(&mut self) {
        self.changes.clear();
        self.updates = 0;
    }
}

/// The update rule: ties and margin demand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Whether a score of exactly 0 is a mistake.
    ties: Ties,
    demand: f64,
    /// Whether a margin that just meets the demand calls for an update.
    ties_at_demand: Ties,
    /// Whether updates are called for by the hinge loss.
    hinge: bool,
    /// Scores are kept in units of this; losses are reported in units of 1.
    unit: f64,
}

impl Rule {
    /// The rule that `options` ask for, for scores in units of `unit`.
    pub fn new(options: &Options, unit: f64) -> Self {
        Rule {
            ties: options.ties,
            demand: options.margin_demand,
            ties_at_demand: options.ties,
            hinge: false,
            unit,
        }
    }

    /// The rule of learners that update wherever the hinge loss is above 0.
    pub fn hinge(options: &Options) -> Self {
        Rule {
            ties: options.ties,
            demand: 1.0,
            ties_at_demand: Ties::Correct,
            hinge: true,
            unit: 1.0,
        }
    }

    /// Whether the squared hinge loss is what its theorems speak of.
    pub(crate) fn is_hinge(self) -> bool {
        self.hinge
    }

    /// Whether `margin` is too small for `demand`; `loses_ties` says whether this example
    /// is on the side that a tie goes against.
    #[inline]
    fn too_small(margin: f64, demand: f64, ties: Ties, loses_ties: bool) -> bool {
        margin < demand
            || (margin == demand
                && match ties {
                    Ties::Mistake => true,
                    Ties::Positive => loses_ties,
                    Ties::Correct => false,
                })
    }

    /// Whether `margin` calls for an update.
    #[inline]
    fn updates(self, margin: f64, loses_ties: bool) -> bool {
        Self::too_small(margin, self.demand, self.ties_at_demand, loses_ties)
    }

    /// Judges an example of class `label` by its scores.
    #[inline(always)]
    pub fn judge(self, scheme: Scheme, label: u32, scores: &[f64], judgement: &mut Judgement) {
        judgement.changes.clear();
        judgement.margin = f64::INFINITY;
        judgement.mistakes = 0;
        judgement.updates = 0;
        judgement.perceptron_loss = 0.0;
        judgement.hinge_loss = 0.0;
        judgement.squared_hinge_loss = 0.0;
        if scheme == Scheme::Binary {
            self.plane(0, label == 1, scores[0], judgement);
        } else {
            self.several(scheme, label, scores, judgement);
        }
    }

    /// The same where there are several discriminators; a function of its own, so that the rest
    /// stays small enough to become part of the loop.
    #[inline(never)]
    fn several(self, scheme: Scheme, label: u32, scores: &[f64], judgement: &mut Judgement) {
        match scheme {
            Scheme::Binary => {}
            Scheme::Argmax { classes } => self.argmax(classes, label, scores, judgement),
            Scheme::OneVsRest { classes } => {
                for c in 0..classes {
                    self.plane(c, c == label, scores[c as usize], judgement);
                }
            }
            Scheme::OneVsOne { classes } => {
                let own = label as usize;
                for other in (0..classes as usize).filter(|&c| c != own) {
                    let d = scheme.pair(own.min(other), own.max(other));
                    self.plane(d as u32, own > other, scores[d], judgement);
                }
            }
        }
    }

    /// The margin of an example of one plane that is right by more than is demanded, ties or not:
    /// nothing changes, and of its losses only [this one](Self::hinge_loss) may not be 0.
    #[inline(always)]
    pub(super) fn clear_margin(self, label: u32, score: f64) -> Option<f64> {
        // (Whatever asks for the class becomes a branch, which is guessed wrong half the time.)
        let margin = f64::from_bits(score.to_bits() ^ u64::from(!label) << 63);
        (margin > self.demand.max(0.0)).then_some(margin)
    }

    /// max(0, 1 − margin).
    #[inline(always)]
    pub(super) fn hinge_loss(self, margin: f64) -> f64 {
        (1.0 - margin * self.unit).max(0.0)
    }

    #[inline(always)]
    fn plane(self, d: u32, positive: bool, score: f64, judgement: &mut Judgement) {
        let sign = if positive { 1.0 } else { -1.0 };
        let margin = sign * score;
        self.record(margin, !positive, judgement);
        if self.updates(margin, !positive) {
            judgement.updates += 1;
            judgement.changes.push((d, sign));
        }
    }

    #[inline]
    fn argmax(self, classes: u32, label: u32, scores: &[f64], judgement: &mut Judgement) {
        let rival = leader(&scores[..classes as usize], Some(label));
        let margin = scores[label as usize] - scores[rival as usize];
        let loses_ties = if classes == 2 {
            label == 0
        } else {
            rival < label
        };
        self.record(margin, loses_ties, judgement);
        if self.updates(margin, loses_ties) {
            judgement.updates = 1;
            judgement.changes.extend([(label, 1.0), (rival, -1.0)]);
        }
    }

    #[inline(always)]
    fn record(self, margin: f64, loses_ties: bool, judgement: &mut Judgement) {
        judgement.mistakes += u64::from(Self::too_small(margin, 0.0, self.ties, loses_ties));
        judgement.margin = judgement.margin.min(margin);
        judgement.perceptron_loss += (-(margin * self.unit)).max(0.0);
        let hinge = self.hinge_loss(margin);
        judgement.hinge_loss += hinge;
        judgement.squared_hinge_loss += hinge * hinge;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(ties: Ties, demand: f64, scheme: Scheme, label: u32, scores: &[f64]) -> Judgement {
        let options = Options {
            ties,
            margin_demand: demand,
            ..Options::default()
        };
        let mut judgement = Judgement::default();
        Rule::new(&options, 1.0).judge(scheme, label, scores, &mut judgement);
        judgement
    }

    #[test]
    fn ties_of_one_plane() {
        use Ties::{Correct, Mistake, Positive};
        for (ties, label, updates) in [
            (Mistake, 1, 1),
            (Mistake, 0, 1),
            (Positive, 1, 0),
            (Positive, 0, 1),
            (Correct, 1, 0),
            (Correct, 0, 0),
        ] {
            let j = judged(ties, 0.0, Scheme::Binary, label, &[0.0]);
            assert_eq!(
                (j.updates, j.mistakes),
                (updates, updates),
                "{ties:?} {label}"
            );
        }
    }

    #[test]
    fn a_margin_demand_updates_right_answers() {
        let j = judged(Ties::Mistake, 1.0, Scheme::Binary, 1, &[1.0]);
        assert_eq!(
            (j.updates, j.mistakes, j.changes.as_slice()),
            (1, 0, &[(0, 1.0)][..])
        );
        assert_eq!((j.perceptron_loss, j.hinge_loss), (0.0, 0.0));
        let j = judged(Ties::Correct, 1.0, Scheme::Binary, 0, &[-1.0]);
        assert_eq!(j.updates, 0);
        let j = judged(Ties::Mistake, 0.0, Scheme::Binary, 0, &[2.0]);
        assert_eq!(
            (j.margin, j.perceptron_loss, j.hinge_loss),
            (-2.0, 2.0, 3.0)
        );
    }

    #[test]
    fn what_is_passed_by_would_have_been_judged_so() {
        use Ties::{Correct, Mistake, Positive};
        for (ties, demand, label) in [Mistake, Positive, Correct]
            .into_iter()
            .flat_map(|ties| [0.0, 0.5, 2.0].map(|demand| (ties, demand)))
            .flat_map(|(ties, demand)| [0, 1].map(|label| (ties, demand, label)))
        {
            let options = Options {
                ties,
                margin_demand: demand,
                ..Options::default()
            };
            let rule = Rule::new(&options, 0.75);
            for score in [
                -3.0,
                -2.0,
                -0.5,
                -0.1,
                -0.0,
                0.0,
                0.1,
                0.5,
                2.0,
                3.0,
                f64::NAN,
            ] {
                let mut judged = Judgement::default();
                rule.judge(Scheme::Binary, label, &[score], &mut judged);
                let Some(margin) = rule.clear_margin(label, score) else {
                    let right = judged.margin > 0.0 && judged.margin > demand;
                    assert!(score.is_nan() || !right, "{judged:?}");
                    continue;
                };
                let hinge_loss = rule.hinge_loss(margin);
                let passed = Judgement {
                    margin,
                    hinge_loss,
                    squared_hinge_loss: hinge_loss * hinge_loss,
                    ..Judgement::default()
                };
                assert_eq!(judged, passed);
                assert!(judged.changes.is_empty());
            }
        }
    }

    #[test]
    fn the_rival_is_the_lowest_of_the_best_others() {
        let three = Scheme::Argmax { classes: 3 };
        let j = judged(Ties::Mistake, 0.0, three, 1, &[5.0, 4.0, 5.0]);
        assert_eq!(j.changes, [(1, 1.0), (0, -1.0)]);
        assert_eq!(j.margin, -1.0);
        let j = judged(Ties::Mistake, 0.0, three, 0, &[1.0, 0.0, 1.0]);
        assert_eq!(j.changes, [(0, 1.0), (2, -1.0)]);
        // `positive` follows the prediction: ties go to the lowest class, here the true one.
        assert_eq!(
            judged(Ties::Positive, 0.0, three, 0, &[1.0, 0.0, 1.0]).updates,
            0
        );
        assert_eq!(
            judged(Ties::Positive, 0.0, three, 2, &[1.0, 0.0, 1.0]).updates,
            1
        );
        let two = Scheme::Argmax { classes: 2 };
        assert_eq!(judged(Ties::Positive, 0.0, two, 1, &[0.0, 0.0]).updates, 0);
        assert_eq!(judged(Ties::Positive, 0.0, two, 0, &[0.0, 0.0]).updates, 1);
    }

    #[test]
    fn planes_of_several_classes_are_summed() {
        let rest = Scheme::OneVsRest { classes: 3 };
        let j = judged(Ties::Mistake, 0.0, rest, 1, &[2.0, -1.0, -3.0]);
        assert_eq!(j.changes, [(0, -1.0), (1, 1.0)]);
        assert_eq!((j.mistakes, j.margin, j.perceptron_loss), (2, -2.0, 3.0));
        let pairs = Scheme::OneVsOne { classes: 3 };
        // Pairs (0,1), (0,2), (1,2); class 1 is positive in the first and negative in the third.
        let j = judged(Ties::Mistake, 0.0, pairs, 1, &[-1.0, 9.0, 1.0]);
        assert_eq!(j.changes, [(0, 1.0), (2, -1.0)]);
    }
}
