//! A second thread that learns the same weights, and scores every other group of rows.
//!
//! Where updates come too often for work to be [handed over](super::ahead) each time, weights are
//! the trouble: those that one thread changes another has to fetch. So a twin keeps weights of its
//! own. It is told of every update, makes it itself, and goes on from the row behind: of the groups
//! of rows from there on the leader scores the first two, which gives the twin time to begin, and
//! then each scores every other one.
//!
//! The leader never waits. It takes the scores of a group if they are there; if they are not, it
//! scores its own next group first, and then this one, too, if it still must. What the twin finds
//! carries the number of the last update that it knew of, so that nothing is taken that was found
//! with other weights: the scores are those of the leader to the bit. A twin that is interrupted
//! for long is given up, and later begins again from a copy of the weights.

mod lead;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::data::{Matrix, Rows};
use crate::model::{GROUP, Weights};
use crate::train::BLOCK;

pub(super) use self::lead::Lead;

/// Bytes of weights that lie in a core's own cache, beside the rows.
const MOST_BYTES: usize = 1 << 20;

/// News that may wait for the twin.
const NEWS: u64 = 512;

/// Groups from one update on that the leader scores before the twin does any.
const HEAD_START: usize = 2;

/// Rows that the twin may be ahead of the leader, fewer than there are places for.
const AHEAD: u64 = 48;
const PLACES: usize = 16;

/// Rows ahead of the group worked on that are asked for: its next but one.
const SOON: usize = 4 * GROUP;

/// Orders of blocks that are kept: the one visited, the one after, and one for a twin that is late.
const ORDERS: usize = 3;

/// Blocks from one request for a twin to the next, since each takes a copy of the weights.
const REST: usize = 64;

/// How long a twin waits for news before it leaves.
const PATIENCE: Duration = Duration::from_micros(200);

/// How long it waits between two looks at what the leader writes, which slow the leader down.
const PAUSES: usize = 4;

/// Looks between two glances at the clock.
const LOOKS: usize = 64;

/// How long the twin has had nothing to do.
#[derive(Default)]
struct Waiting {
    looks: usize,
    since: Option<Instant>,
}

impl Waiting {
    /// Waits a little; says whether that is enough. The clock is looked at seldom.
    fn too_long(&mut self) -> bool {
        self.looks += 1;
        (0..PAUSES).for_each(|_| std::hint::spin_loop());
        self.looks.is_multiple_of(LOOKS)
            && self.since.get_or_insert_with(Instant::now).elapsed() > PATIENCE
    }
}

/// Something that only one thread writes to, alone in its lines of memory.
#[repr(align(128))]
#[derive(Default)]
struct Alone<T>(T);

/// The scores of a group of rows.
#[repr(align(64))]
#[derive(Default)]
struct Place {
    /// Which group of which block, and with which weights.
    tag: AtomicU64,
    scores: [AtomicU64; GROUP],
}

impl Place {
    /// Lets the leader have the scores.
    fn put(&self, tag: u64, scores: [f64; GROUP]) {
        for (to, score) in self.scores.iter().zip(scores) {
            to.store(score.to_bits(), Ordering::Relaxed);
        }
        self.tag.store(tag, Ordering::Release);
    }

    /// The scores, if they are those of this tag.
    fn get(&self, tag: u64) -> Option<[f64; GROUP]> {
        let found = self.tag.load(Ordering::Acquire) == tag;
        found.then(|| {
            let score = |k: usize| f64::from_bits(self.scores[k].load(Ordering::Relaxed));
            std::array::from_fn(score)
        })
    }
}

/// What the twin must know: an update, or that a block begins.
#[repr(align(64))]
#[derive(Default)]
struct News {
    /// How much there is with this.
    number: AtomicU64,
    /// The position in the block from which to go on, and the example of an update; or the length
    /// of a block, and [`BEGINS`](Self::BEGINS).
    what: AtomicU64,
    /// The amounts of the update.
    amounts: [AtomicU64; 2],
}

impl News {
    const BEGINS: u64 = u32::MAX as u64;
}

/// Weights to begin with, the number of the news that they know of, and of the request.
struct Start {
    weights: Weights,
    known: u64,
    request: u64,
}

/// Somebody is the twin until this goes, in a panic, too.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// What the leader and the twin tell each other.
pub(crate) struct Twin<'a> {
    matrix: &'a Matrix,
    start: Mutex<Option<Start>>,
    /// The request that stands, or 0.
    request: Alone<AtomicU64>,
    /// Whether somebody is the twin now; begun under the lock of `start`.
    busy: AtomicBool,
    /// How much news leaders before have told.
    told: Alone<AtomicU64>,
    /// How much of it the twin knows.
    known: Alone<AtomicU64>,
    /// The position in the block that the leader has come to.
    reached: Alone<AtomicU64>,
    news: Vec<News>,
    orders: Vec<[AtomicU32; BLOCK]>,
    places: [Place; PLACES],
}

/// Whether the twin scores the group that is so many behind the last update.
#[inline]
fn is_twins(group: usize) -> bool {
    group >= HEAD_START && (group - HEAD_START).is_multiple_of(2)
}

fn tag(told: u64, position: usize) -> u64 {
    told * 2 * BLOCK as u64 + position as u64
}

/// The place for a group that begins at `position`.
fn place(position: usize) -> usize {
    position / GROUP % PLACES
}

impl<'a> Twin<'a> {
    /// For weights that learn from the rows of `matrix`.
    pub(crate) fn new(matrix: &'a Matrix) -> Self {
        Twin {
            matrix,
            start: Mutex::new(None),
            request: Alone::default(),
            busy: AtomicBool::new(false),
            told: Alone::default(),
            known: Alone::default(),
            reached: Alone::default(),
            news: (0..NEWS).map(|_| News::default()).collect(),
            orders: (0..ORDERS)
                .map(|_| std::array::from_fn(|_| AtomicU32::new(0)))
                .collect(),
            places: Default::default(),
        }
    }

    fn start(&self) -> std::sync::MutexGuard<'_, Option<Start>> {
        self.start.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is the twin for as long as it is wanted, if it is; `aside` is done once a block.
    pub(crate) fn work(&self, aside: impl Fn()) {
        let start = {
            let mut start = self.start();
            if start.is_some() {
                self.busy.store(true, Ordering::Relaxed);
            }
            start.take()
        };
        let Some(start) = start else {
            return;
        };
        let _busy = Busy(&self.busy);
        let Start {
            mut weights,
            mut known,
            request,
        } = start;
        let rows = Rows::of(self.matrix);
        let (mut order, mut len) = (0, 0);
        // Where the groups begin since the last update, and which comes next.
        let (mut base, mut group) = (0, 0);
        let mut waits = Waiting::default();
        while self.request.0.load(Ordering::Acquire) == request {
            let news = &self.news[(known % NEWS) as usize];
            if news.number.load(Ordering::Acquire) == known + 1 {
                let what = news.what.load(Ordering::Relaxed);
                let (about, from) = (what & u64::from(u32::MAX), (what >> 32) as usize);
                known += 1;
                group = 0;
                if about == News::BEGINS {
                    (order, len, base) = ((order + 1) % ORDERS, from, 0);
                    aside();
                } else {
                    let [scale, bias] = [0, 1].map(|k| news.amounts[k].load(Ordering::Relaxed));
                    let (scale, bias) = (f64::from_bits(scale), f64::from_bits(bias));
                    weights.add(0, rows.row(about as usize), scale, bias);
                    base = from;
                }
                self.known.0.store(known, Ordering::Release);
                waits = Waiting::default();
                continue;
            }
            let reached = self.reached.0.load(Ordering::Acquire);
            while ((base + group * GROUP) as u64) <= reached || !is_twins(group) {
                group += 1;
            }
            let position = base + group * GROUP;
            if position + GROUP > len || position as u64 > reached + AHEAD {
                if waits.too_long() {
                    break;
                }
                continue;
            }
            let example = |position: usize| {
                let (order, position) = match position < len {
                    true => (order, position),
                    false => ((order + 1) % ORDERS, (position - len).min(BLOCK - 1)),
                };
                self.orders[order][position].load(Ordering::Relaxed) as usize
            };
            let soon = position + SOON..position + SOON + GROUP;
            soon.for_each(|position| rows.row(example(position)).prefetch());
            let mut scores = [0.0; GROUP];
            let four = (0..GROUP).map(|k| example(position + k));
            weights.scores_of_group(rows, true, four, &mut scores);
            self.places[place(position)].put(tag(known, position), scores);
            group += 1;
        }
        // Nobody is told any more.
        let _ = self
            .request
            .0
            .compare_exchange(request, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}
