//! Which of two ways to do the same work is faster, found by doing it.
//!
//! Whether a second thread pays hangs on the machine as much as on the data: on how long its
//! cores take to reach each other, and on who else is using them. So work goes on the way that
//! was faster of late, and now and then some of it goes the other way. A trial that changes
//! nothing makes the next one wait twice as long. Where the data turn, so that the other way is
//! now thought to be faster, what was timed before counts no more. What is found does not depend
//! on it, only when.

use std::time::{Duration, Instant};

/// Work in a stretch, in products of a weight and a value: a millisecond or two.
const STRETCH: f64 = 500_000.0;

/// Work in a trial, which is likely to go the slower way.
const TRIAL: f64 = STRETCH / 3.0;

/// Stretches from one trial to the next, at first and at most.
const SOON: u32 = 4;
const LATE: u32 = 64;

/// How much faster the other way must be to become the usual one: stretches differ by chance.
const CLEARLY: f64 = 0.95;

/// The way work goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Alone,
    Shared,
}

impl Way {
    fn other(self) -> Self {
        match self {
            Way::Alone => Way::Shared,
            Way::Shared => Way::Alone,
        }
    }
}

/// Times stretches of work and chooses the way of the next.
#[derive(Debug)]
pub(super) struct Pace {
    /// What is thought to be faster, by whoever asks.
    guess: Way,
    usual: Way,
    /// The way of this stretch.
    now: Way,
    /// What the usual way took for a product, of late.
    seconds: Option<f64>,
    /// Stretches until the next trial, and from it to the one after.
    left: u32,
    gap: u32,
    /// When this stretch began, and what was done in it.
    began: Option<Instant>,
    done: f64,
}

impl Pace {
    pub(super) fn new() -> Self {
        Pace {
            guess: Way::Alone,
            usual: Way::Alone,
            now: Way::Alone,
            seconds: None,
            left: SOON,
            gap: SOON,
            began: None,
            done: 0.0,
        }
    }

    /// So much work was done.
    #[inline]
    pub(super) fn went_on(&mut self, products: f64) {
        self.done += products;
    }

    /// The way to go on, where there is a choice; `guess` until something was timed since it was
    /// last another.
    #[inline]
    pub(super) fn way(&mut self, guess: Way) -> Way {
        let enough = match self.now == self.usual {
            true => STRETCH,
            false => TRIAL,
        };
        if self.done >= enough || self.began.is_none() || guess != self.guess {
            self.turn(guess, Instant::now());
        }
        self.now
    }

    /// There is no choice for a while, so what was timed of this stretch says nothing.
    #[inline]
    pub(super) fn no_choice(&mut self) {
        self.began = None;
    }

    /// A stretch ends here and another begins.
    #[cold]
    fn turn(&mut self, guess: Way, time: Instant) {
        if guess != self.guess {
            (self.guess, self.usual, self.seconds) = (guess, guess, None);
            (self.left, self.gap) = (SOON, SOON);
        } else if let Some(began) = self.began {
            self.learn(time - began);
        }
        self.now = self.usual;
        if self.left == 0 {
            self.now = self.usual.other();
            self.left = self.gap;
        }
        self.left -= 1;
        (self.began, self.done) = (Some(time), 0.0);
    }

    /// This stretch took so long.
    fn learn(&mut self, took: Duration) {
        let seconds = took.as_secs_f64() / self.done;
        if self.now == self.usual {
            // The mean of the last few, the latest counting most.
            let before = self.seconds.unwrap_or(seconds);
            self.seconds = Some((before + seconds) / 2.0);
            return;
        }
        let better = self.seconds.is_none_or(|usual| seconds < CLEARLY * usual);
        if better {
            (self.usual, self.seconds, self.gap) = (self.now, Some(seconds), SOON);
        } else {
            self.gap = (2 * self.gap).min(LATE);
        }
        self.left = self.gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes through stretches of which each takes as long as `took` says for its way, and counts
    /// those that went the slower way.
    fn slower(guess: Way, stretches: usize, took: impl Fn(usize, Way) -> u64) -> usize {
        let mut pace = Pace::new();
        let mut time = Instant::now();
        let mut slower = 0;
        for k in 0..stretches {
            pace.turn(guess, time);
            pace.went_on(STRETCH);
            let way = pace.now;
            slower += usize::from(took(k, way) > took(k, way.other()));
            time += Duration::from_micros(took(k, way));
        }
        slower
    }

    #[test]
    fn the_faster_way_becomes_the_usual_one_whatever_was_guessed() {
        for guess in [Way::Alone, Way::Shared] {
            for fast in [Way::Alone, Way::Shared] {
                let found = slower(guess, 1000, |_, way| if way == fast { 1000 } else { 1500 });
                // Trials after 4, 8, 16 … stretches, then every 64.
                assert!((5..=30).contains(&found), "{guess:?} {fast:?}: {found}");
            }
        }
    }

    #[test]
    fn a_change_is_noticed() {
        let found = slower(Way::Alone, 1000, |k, way| match (k < 500, way) {
            (true, Way::Alone) | (false, Way::Shared) => 1000,
            _ => 1500,
        });
        assert!((5..=100).contains(&found), "{found}");
    }

    #[test]
    fn a_guess_that_turns_is_followed_at_once_and_tried_again() {
        let mut pace = Pace::new();
        let mut time = Instant::now();
        // Shared was tried and was slower, so that its next trial is far away.
        for _ in 0..50 {
            pace.turn(Way::Alone, time);
            pace.went_on(STRETCH);
            time += Duration::from_micros(if pace.now == Way::Alone { 1000 } else { 1500 });
        }
        assert_eq!((pace.usual, pace.gap > SOON), (Way::Alone, true));
        assert_eq!(pace.way(Way::Shared), Way::Shared);
        assert_eq!((pace.gap, pace.seconds), (SOON, None));
    }

    #[test]
    fn time_in_which_there_was_no_choice_is_not_counted() {
        let mut pace = Pace::new();
        assert_eq!(pace.way(Way::Shared), Way::Shared);
        pace.went_on(STRETCH);
        pace.no_choice();
        // The guess still stands, since no stretch was timed.
        assert_eq!(pace.way(Way::Alone), Way::Alone);
        assert!(pace.seconds.is_none());
    }
}
