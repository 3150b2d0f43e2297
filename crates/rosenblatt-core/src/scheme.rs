//! How scores become classes: one plane, or several discriminators.

use crate::options::{AtZero, Multiclass};

/// The discriminators that serve `k` classes and how their scores decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// One plane; a positive score means the second class.
    Binary,
    /// One discriminator a class, trained jointly; the largest score wins.
    Argmax {
        /// Number of classes.
        classes: u32,
    },
    /// One plane a class, against the rest; the largest score wins.
    OneVsRest {
        /// Number of classes.
        classes: u32,
    },
    /// One plane a pair of classes; the class that wins most pairs wins.
    OneVsOne {
        /// Number of classes.
        classes: u32,
    },
}

impl Scheme {
    /// The scheme for `classes` classes: one plane for two, argmax for more, unless told.
    pub fn new(classes: usize, choice: Option<Multiclass>) -> Self {
        let k = classes as u32;
        match choice {
            None if classes <= 2 => Scheme::Binary,
            None | Some(Multiclass::Argmax) => Scheme::Argmax { classes: k },
            Some(Multiclass::Ovr) => Scheme::OneVsRest { classes: k },
            Some(Multiclass::Ovo) => Scheme::OneVsOne { classes: k },
        }
    }

    /// The number of classes.
    pub fn classes(self) -> usize {
        match self {
            Scheme::Binary => 2,
            Scheme::Argmax { classes }
            | Scheme::OneVsRest { classes }
            | Scheme::OneVsOne { classes } => classes as usize,
        }
    }

    /// The number of discriminators.
    pub fn discriminators(self) -> usize {
        let k = self.classes();
        match self {
            Scheme::Binary => 1,
            Scheme::Argmax { .. } | Scheme::OneVsRest { .. } => k,
            Scheme::OneVsOne { .. } => k * (k - 1) / 2,
        }
    }

    /// Discriminators that are learned jointly form a group: all of argmax are one group,
    /// the planes of the other schemes stand alone. Norms and visits count by group.
    pub fn groups(self) -> usize {
        match self {
            Scheme::Argmax { .. } => 1,
            _ => self.discriminators(),
        }
    }

    /// The group of discriminator `d`.
    #[inline]
    pub fn group(self, d: usize) -> usize {
        match self {
            Scheme::Argmax { .. } => 0,
            _ => d,
        }
    }

    /// The discriminators of a group.
    pub fn members(self, group: usize) -> std::ops::Range<usize> {
        match self {
            Scheme::Argmax { classes } => 0..classes as usize,
            _ => group..group + 1,
        }
    }

    /// The groups that an example of class `label` is shown to.
    pub(crate) fn groups_of_class(self, label: u32) -> impl Iterator<Item = usize> {
        let (k, own) = (self.classes(), label as usize);
        let several = matches!(self, Scheme::OneVsRest { .. } | Scheme::OneVsOne { .. });
        let pairs = matches!(self, Scheme::OneVsOne { .. });
        let classes = 0..if several { k } else { 1 };
        classes
            .filter(move |&c| !(pairs && c == own))
            .map(move |c| match pairs {
                true => self.pair(own.min(c), own.max(c)),
                false => c,
            })
    }

    /// One-vs-one: the discriminator that tells class `low` (negative) from `high`
    /// (positive), `low < high`.
    pub fn pair(self, low: usize, high: usize) -> usize {
        let k = self.classes();
        debug_assert!(low < high && high < k);
        low * (2 * k - low - 1) / 2 + high - low - 1
    }

    /// The negative class (`None`: all others) and the positive class of discriminator `d`.
    pub(crate) fn sides(self, d: usize) -> (Option<u32>, u32) {
        match self {
            Scheme::Binary => (None, 1),
            Scheme::Argmax { .. } | Scheme::OneVsRest { .. } => (None, d as u32),
            Scheme::OneVsOne { classes } => {
                let mut left = d as u32;
                let mut low = 0;
                while left >= classes - 1 - low {
                    left -= classes - 1 - low;
                    low += 1;
                }
                (Some(low), low + 1 + left)
            }
        }
    }

    /// Of two classes: the score of the positive one.
    pub fn positive_score(self, scores: &[f64]) -> f64 {
        match self {
            Scheme::Argmax { .. } | Scheme::OneVsRest { .. } => scores[1] - scores[0],
            Scheme::Binary | Scheme::OneVsOne { .. } => scores[0],
        }
    }

    /// One score a class; of pairs the number that a class wins, and where two win as many the
    /// pairs' scores, each kept below a third.
    pub(crate) fn class_scores(self, scores: &[f64], to: &mut [f64]) {
        match self {
            Scheme::Binary => to.copy_from_slice(&[-scores[0], scores[0]]),
            Scheme::Argmax { .. } | Scheme::OneVsRest { .. } => to.copy_from_slice(scores),
            Scheme::OneVsOne { classes } => {
                let (mut wins, k) = (vec![0.0; classes as usize], classes as usize);
                to.fill(0.0);
                for low in 0..k {
                    for high in low + 1..k {
                        let s = scores[self.pair(low, high)];
                        wins[if s >= 0.0 { high } else { low }] += 1.0;
                        to[high] += s;
                        to[low] -= s;
                    }
                }
                let each = to.iter_mut().zip(wins);
                each.for_each(|(s, wins)| *s = wins + *s / (3.0 * (s.abs() + 1.0)));
            }
        }
    }

    /// The class that `scores` decide for. Ties go to the lowest class, but between two
    /// classes to the positive one, unless `at_zero` says negative.
    pub fn decide(self, scores: &[f64], at_zero: AtZero) -> u32 {
        let positive_at_zero = at_zero == AtZero::Positive;
        match self {
            Scheme::Binary => u32::from(scores[0] > 0.0 || (scores[0] == 0.0 && positive_at_zero)),
            Scheme::Argmax { classes } | Scheme::OneVsRest { classes } => {
                let last_wins_ties = classes == 2 && positive_at_zero;
                largest(&scores[..classes as usize], last_wins_ties)
            }
            Scheme::OneVsOne { classes } => {
                let k = classes as usize;
                let mut wins = vec![0.0; k];
                for low in 0..k {
                    for high in low + 1..k {
                        let s = scores[self.pair(low, high)];
                        let winner = if s > 0.0 || (s == 0.0 && positive_at_zero) {
                            high
                        } else {
                            low
                        };
                        wins[winner] += 1.0;
                    }
                }
                largest(&wins, false)
            }
        }
    }
}

fn largest(scores: &[f64], last_wins_ties: bool) -> u32 {
    match scores {
        &[first, last] if last_wins_ties => u32::from(last >= first),
        _ => leader(scores, None),
    }
}

/// The lowest class with the largest score, one class left out or none.
#[inline]
pub(crate) fn leader(scores: &[f64], left_out: Option<u32>) -> u32 {
    let mut lead = f64::NEG_INFINITY;
    let mut leader = u32::from(left_out == Some(0));
    for (class, &score) in (0..).zip(scores) {
        if score > lead && Some(class) != left_out {
            (lead, leader) = (score, class);
        }
    }
    leader
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Stream};

    #[test]
    fn pairs_are_numbered_without_gaps() {
        let scheme = Scheme::OneVsOne { classes: 7 };
        let mut next = 0;
        for low in 0..7 {
            for high in low + 1..7 {
                assert_eq!(scheme.pair(low, high), next);
                next += 1;
            }
        }
        assert_eq!(next, scheme.discriminators());
    }

    #[test]
    fn ties_go_where_they_should() {
        let decide = |scheme: Scheme, scores: &[f64], at| scheme.decide(scores, at);
        use AtZero::{Negative, Positive};
        assert_eq!(decide(Scheme::Binary, &[0.0], Positive), 1);
        assert_eq!(decide(Scheme::Binary, &[0.0], Negative), 0);
        assert_eq!(decide(Scheme::Binary, &[-1.0], Positive), 0);
        let two = Scheme::Argmax { classes: 2 };
        assert_eq!(decide(two, &[3.0, 3.0], Positive), 1);
        assert_eq!(decide(two, &[3.0, 3.0], Negative), 0);
        let three = Scheme::Argmax { classes: 3 };
        assert_eq!(decide(three, &[0.0, 2.0, 2.0], Positive), 1);
        let pairs = Scheme::OneVsOne { classes: 3 };
        // 0 loses to 1, 0 loses to 2, 1 beats 2.
        assert_eq!(decide(pairs, &[1.0, 1.0, -1.0], Positive), 1);
    }

    #[test]
    fn the_leader_is_the_lowest_of_the_best() {
        let mut random = Random::new(3, Stream::Start, 0);
        for round in 0..3000 {
            let classes = 2 + random.below(30) as usize;
            let left_out = Some(random.below(classes as u64) as u32).filter(|_| round % 2 == 0);
            // Few different scores, so that ties are common; some beyond all bounds.
            let scores: Vec<f64> = (0..classes)
                .map(|_| match (random.below(6), round % 7) {
                    (0, 0) => f64::INFINITY,
                    (1, 0 | 1) => f64::NEG_INFINITY,
                    (2, _) => -0.0,
                    (n, _) => n as f64 - 3.0,
                })
                .collect();
            let others = (0..classes as u32).filter(|&c| Some(c) != left_out);
            let best = others.reduce(|best, c| match scores[c as usize] > scores[best as usize] {
                true => c,
                false => best,
            });
            assert_eq!(
                Some(leader(&scores, left_out)),
                best,
                "{scores:?} {left_out:?}"
            );
        }
    }
}
