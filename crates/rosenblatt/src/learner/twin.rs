//! A second thread that learns the same weights, and scores every other group of rows.
//!
//! Where updates come too often for work to be [handed over](super::ahead) each time, weights are
//! the trouble: those that one thread changes another has to fetch. So a twin keeps weights of its
//! own. It is told of every update, makes it itself, and goes on from the row behind: of the groups
//! of rows from there on the leader scores the first two, which gives the twin time to begin, and
//! then each scores every other one.
//!
//! The leader never waits. It takes the scores of a group if they are there, and finds them itself
//! if they are not. What the twin finds carries the number of the last update that it knew of, so
//! that nothing is taken that was found with other weights: the scores are those of the leader to
//! the bit. A twin that is interrupted for long is given up, and later begins again from a copy of
//! the weights.

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

/// Looks between two glances at the clock.
const LOOKS: usize = 256;

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

/// What the twin must know: an update, or that a block begins.
#[derive(Default)]
struct News {
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
    /// How much news there is.
    told: Alone<AtomicU64>,
    /// How much of it the twin knows.
    known: Alone<AtomicU64>,
    /// The position in the block that the leader has come to.
    reached: Alone<AtomicU64>,
    news: Vec<News>,
    orders: Vec<[AtomicU32; BLOCK]>,
    places: [Place; PLACES],
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
        let (mut order, mut len, mut position) = (0, 0, 0);
        let (mut looks, mut since) = (0, Instant::now());
        while self.request.0.load(Ordering::Acquire) == request {
            let told = self.told.0.load(Ordering::Acquire);
            if known < told {
                while known < told {
                    let news = &self.news[(known % NEWS) as usize];
                    let what = news.what.load(Ordering::Relaxed);
                    let (about, from) = (what & u64::from(u32::MAX), (what >> 32) as usize);
                    position = HEAD_START * GROUP;
                    if about == News::BEGINS {
                        (order, len) = ((order + 1) % ORDERS, from);
                        aside();
                    } else {
                        let [scale, bias] = [0, 1].map(|k| news.amounts[k].load(Ordering::Relaxed));
                        let (scale, bias) = (f64::from_bits(scale), f64::from_bits(bias));
                        weights.add(0, rows.row(about as usize), scale, bias);
                        position += from;
                    }
                    known += 1;
                }
                self.known.0.store(known, Ordering::Release);
                (looks, since) = (0, Instant::now());
                continue;
            }
            let reached = self.reached.0.load(Ordering::Acquire);
            while (position as u64) <= reached {
                position += 2 * GROUP;
            }
            if position + GROUP > len || position as u64 > reached + AHEAD {
                looks += 1;
                if looks % LOOKS == 0 && since.elapsed() > PATIENCE {
                    break;
                }
                std::hint::spin_loop();
                continue;
            }
            self.score(rows, &weights, (order, len), position, known);
            position += 2 * GROUP;
        }
        // Nobody is told any more.
        let _ = self
            .request
            .0
            .compare_exchange(request, 0, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Scores the group at `position` of a block of `len` rows.
    fn score(
        &self,
        rows: Rows<'_>,
        weights: &Weights,
        (order, len): (usize, usize),
        position: usize,
        known: u64,
    ) {
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
        let group = (0..GROUP).map(|k| example(position + k));
        weights.scores_of_group(rows, true, group, &mut scores);
        let place = &self.places[place(position)];
        for (to, score) in place.scores.iter().zip(scores) {
            to.store(score.to_bits(), Ordering::Relaxed);
        }
        place.tag.store(tag(known, position), Ordering::Release);
    }
}
