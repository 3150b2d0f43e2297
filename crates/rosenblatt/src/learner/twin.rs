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

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::data::{Arrival, Matrix, Rows};
use crate::model::{Change, GROUP, Weights};
use crate::simd;
use crate::train::BLOCK;

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

/// The leader's side.
pub(super) struct Lead<'a> {
    twin: &'a Twin<'a>,
    /// The request that stands as far as the leader knows, or 0, and the last one.
    request: u64,
    requests: u64,
    /// Blocks until it may ask for another.
    rest: usize,
    told: u64,
    known: u64,
    /// The number of the order of the block, its length, and the order told of last.
    order: usize,
    len: usize,
    coming: Vec<u32>,
    /// Where the groups begin since the last update: none before the first look.
    base: Option<usize>,
    /// The group scored last, and where it begins.
    group: [u32; GROUP],
    position: usize,
}

impl<'a> Lead<'a> {
    pub(super) fn new(twin: &'a Twin<'a>) -> Self {
        Lead {
            twin,
            request: 0,
            requests: 0,
            rest: 0,
            told: 0,
            known: 0,
            order: 0,
            len: 0,
            coming: Vec::new(),
            base: None,
            group: [0; GROUP],
            position: 0,
        }
    }

    /// Whether there may be a twin for these weights of one discriminator, now.
    pub(super) fn suits(&self, weights: &Weights) -> bool {
        let matrix = self.twin.matrix;
        weights.bytes() <= MOST_BYTES
            && !matrix.is_limited()
            && matrix.arrival().is_none_or(Arrival::is_over)
    }

    /// Whether there is a twin, or will be soon.
    #[inline]
    pub(super) fn is_there(&self) -> bool {
        self.request != 0
    }

    /// Has no twin any more.
    pub(super) fn dismiss(&mut self) {
        if self.is_there() {
            self.request = 0;
            self.twin.request.0.store(0, Ordering::Release);
        }
    }

    /// A block begins, and then comes another. Asks for a twin if there is none; says whether
    /// somebody has to be called.
    pub(super) fn begin(&mut self, block: &[u32], coming: &[u32], weights: &Weights) -> bool {
        self.rest = self.rest.saturating_sub(1);
        let stands = self.twin.request.0.load(Ordering::Acquire) == self.request;
        let asks = !(self.is_there() && stands);
        if block.len() > BLOCK || coming.len() > BLOCK || (asks && !self.request(weights)) {
            self.dismiss();
            return false;
        }
        self.order = (self.order + 1) % ORDERS;
        if self.coming != block {
            self.write(self.order, block);
        }
        self.write((self.order + 1) % ORDERS, coming);
        self.coming.clear();
        self.coming.extend_from_slice(coming);
        self.len = block.len();
        self.base = None;
        self.twin.reached.0.store(0, Ordering::Release);
        self.tell(News::BEGINS, block.len(), [0.0; 2]);
        asks
    }

    /// Asks for a twin, unless one was asked for a moment ago, or the last has not left yet: it
    /// may be at the news that it was told.
    fn request(&mut self, weights: &Weights) -> bool {
        let mut start = self.twin.start();
        if self.rest > 0 || self.twin.busy.load(Ordering::Acquire) {
            return false;
        }
        self.rest = REST;
        self.requests += 1;
        self.request = self.requests;
        *start = Some(Start {
            weights: weights.clone(),
            known: self.told,
            request: self.request,
        });
        self.known = self.told;
        self.twin.known.0.store(self.told, Ordering::Relaxed);
        self.twin.request.0.store(self.request, Ordering::Release);
        // The twin counts orders from its first block on.
        self.order = 0;
        self.coming.clear();
        true
    }

    fn write(&self, order: usize, examples: &[u32]) {
        for (to, &i) in self.twin.orders[order].iter().zip(examples) {
            to.store(i, Ordering::Relaxed);
        }
    }

    fn tell(&mut self, about: u64, position: usize, amounts: [f64; 2]) {
        // What is told takes the place of old news, which the twin must know by then.
        if self.told - self.known >= NEWS {
            self.known = self.twin.known.0.load(Ordering::Acquire);
            if self.told - self.known >= NEWS {
                return self.dismiss();
            }
        }
        let news = &self.twin.news[(self.told % NEWS) as usize];
        let what = (position as u64) << 32 | about;
        news.what.store(what, Ordering::Relaxed);
        for (to, amount) in news.amounts.iter().zip(amounts) {
            to.store(amount.to_bits(), Ordering::Relaxed);
        }
        self.told += 1;
        self.twin.told.0.store(self.told, Ordering::Release);
    }

    /// The weights were changed by the row of `example`, of the group that was scored last.
    pub(super) fn updated(&mut self, example: u32, change: Change) {
        if !self.is_there() {
            return;
        }
        let behind = 1 + self.group.iter().position(|&i| i == example).unwrap_or(0);
        self.base = None;
        let Change { scale, bias, .. } = change;
        self.tell(u64::from(example), self.position + behind, [scale, bias]);
    }

    /// The scores of the first group of the examples that come `next` in the block, if they were
    /// found by the twin.
    #[inline]
    pub(super) fn take(&mut self, next: &[u32], scores: &mut [f64]) -> bool {
        let position = self.len - next.len();
        let base = *self.base.get_or_insert(position);
        self.position = position;
        if let Some(group) = next.first_chunk() {
            self.group = *group;
        } else {
            self.group = [News::BEGINS as u32; GROUP];
            self.group[..next.len()].copy_from_slice(next);
            return false;
        }
        self.twin
            .reached
            .0
            .store(position as u64, Ordering::Release);
        let groups = (position - base) / GROUP;
        if groups < HEAD_START || groups % 2 != HEAD_START % 2 {
            // The next group is the twin's, and takes a while to come here.
            let next = &self.twin.places[place(position + GROUP)];
            simd::prefetch(std::slice::from_ref(next));
            return false;
        }
        let place = &self.twin.places[place(position)];
        if place.tag.load(Ordering::Acquire) != tag(self.told, position) {
            return false;
        }
        for (to, bits) in scores.iter_mut().zip(&place.scores) {
            *to = f64::from_bits(bits.load(Ordering::Relaxed));
        }
        true
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.dismiss();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Precision;
    use crate::random::{Random, Stream};

    const ROWS: usize = 600;
    const COLUMNS: usize = 300;

    fn sparse() -> Matrix {
        let mut random = Random::new(3, Stream::Start, 0);
        let mut matrix = Matrix::empty_sparse(COLUMNS, Precision::F32);
        for _ in 0..ROWS {
            let mut row: Vec<(u32, f64)> = Vec::new();
            for j in 0..COLUMNS as u32 {
                if random.below(4) == 0 {
                    row.push((j, random.normal()));
                }
            }
            matrix.push_sparse(row);
        }
        matrix
    }

    /// What the leader saw of its twin.
    #[derive(Default)]
    struct Seen {
        /// Groups whose scores were taken.
        taken: usize,
        /// Twins that were asked for.
        asked: usize,
    }

    /// Goes through blocks in random order with an update every now and then, and makes sure that
    /// scores that are taken are those of the weights as they are. `pause` is called in each block.
    fn lead(matrix: &Matrix, twin: &Twin<'_>, blocks: usize, pause: impl Fn(usize)) -> Seen {
        let rows = Rows::of(matrix);
        let mut random = Random::new(5, Stream::Order, 0);
        let mut weights = Weights::zero(1, COLUMNS);
        let mut lead = Lead::new(twin);
        let mut seen = Seen::default();
        let draw = |random: &mut Random| -> Vec<u32> {
            let len = [BLOCK, BLOCK, BLOCK - 3, 7][random.below(4) as usize];
            let rows = (0..len).map(|_| random.below(ROWS as u64) as u32);
            rows.collect()
        };
        let mut coming = draw(&mut random);
        for number in 0..blocks {
            let block = std::mem::replace(&mut coming, draw(&mut random));
            seen.asked += usize::from(lead.begin(&block, &coming, &weights));
            pause(number);
            let mut next = &block[..];
            while !next.is_empty() {
                let mut scores = [f64::NAN; GROUP];
                let count = next.len().min(GROUP);
                let taken = lead.is_there() && lead.take(next, &mut scores);
                seen.taken += usize::from(taken);
                let mut made = count;
                for (k, &i) in next[..count].iter().enumerate() {
                    let row = rows.row(i as usize);
                    let mut score = [0.0];
                    weights.scores(row, &mut score);
                    if taken {
                        assert_eq!(scores[k].to_bits(), score[0].to_bits());
                    }
                    if random.below(25) == 0 {
                        let (d, scale, bias) = (0, random.normal(), random.normal());
                        lead.updated(i, Change { d, scale, bias });
                        weights.add(d, row, scale, bias);
                        made = k + 1;
                        break;
                    }
                }
                next = &next[made..];
            }
        }
        seen
    }

    /// Threads that are the twin whenever one is asked for, until `f` is done.
    fn with_twins<T>(twin: &Twin<'_>, threads: usize, f: impl FnOnce() -> T) -> T {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        twin.work(|| ());
                        std::thread::yield_now();
                    }
                });
            }
            // Also where an assertion fails.
            struct Over<'a>(&'a AtomicBool);
            impl Drop for Over<'_> {
                fn drop(&mut self) {
                    self.0.store(true, Ordering::Relaxed);
                }
            }
            let _over = Over(&over);
            f()
        })
    }

    #[test]
    fn scores_of_a_twin_are_those_of_the_leader() {
        let matrix = sparse();
        for threads in [1, 3] {
            let twin = Twin::new(&matrix);
            let mut taken = 0;
            with_twins(&twin, threads, || {
                // A machine may be busy with other things.
                for _ in 0..50 {
                    taken += lead(&matrix, &twin, 400, |_| ()).taken;
                    if taken > 100 {
                        break;
                    }
                }
            });
            assert!(taken > 100, "{taken}");
        }
    }

    #[test]
    fn a_twin_that_never_comes_is_not_waited_for() {
        let matrix = sparse();
        let twin = Twin::new(&matrix);
        let seen = lead(&matrix, &twin, 500, |_| ());
        assert_eq!(seen.taken, 0);
        // It was given up once there was too much news, and asked for again.
        assert!((2..=500 / REST + 1).contains(&seen.asked), "{}", seen.asked);
        assert!(!twin.busy.load(Ordering::Relaxed));
    }

    #[test]
    fn a_twin_that_was_left_alone_leaves_and_another_comes() {
        let matrix = sparse();
        let twin = Twin::new(&matrix);
        let seen = with_twins(&twin, 1, || {
            lead(&matrix, &twin, 300, |number| {
                if number % (REST + 1) == REST {
                    std::thread::sleep(20 * PATIENCE);
                }
            })
        });
        assert!(seen.asked > 1, "{}", seen.asked);
    }
}
