//! The leader's side: what it tells its twin, and what it takes from it.

use std::sync::atomic::Ordering;

use super::{GROUP, MOST_BYTES, NEWS, News, ORDERS, REST, Start, Twin, is_twins, place, tag};
use crate::model::{Change, Weights};
use crate::simd;
use crate::train::BLOCK;

/// The leader's side.
pub(in crate::learner) struct Lead<'a> {
    twin: &'a Twin<'a>,
    /// The request that stands as far as the leader knows, or 0.
    request: u64,
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
    /// The tag of a group that was scored before its turn, and its scores.
    early: (u64, [f64; GROUP]),
}

impl<'a> Lead<'a> {
    pub(in crate::learner) fn new(twin: &'a Twin<'a>) -> Self {
        // What was found for a leader before has older numbers.
        let told = twin.told.0.load(Ordering::Acquire);
        Lead {
            twin,
            request: 0,
            rest: 0,
            told,
            known: told,
            order: 0,
            len: 0,
            coming: Vec::new(),
            base: None,
            group: [0; GROUP],
            position: 0,
            early: (u64::MAX, [0.0; GROUP]),
        }
    }

    /// Whether there may be a twin for these weights of one discriminator, now.
    pub(in crate::learner) fn suits(&self, weights: &Weights) -> bool {
        let matrix = self.twin.matrix;
        weights.bytes() <= MOST_BYTES && !matrix.is_limited()
    }

    /// Whether there is a twin, or will be soon.
    #[inline]
    pub(in crate::learner) fn is_there(&self) -> bool {
        self.request != 0
    }

    /// Has no twin any more.
    pub(in crate::learner) fn dismiss(&mut self) {
        if self.is_there() {
            self.request = 0;
            self.twin.request.0.store(0, Ordering::Release);
        }
    }

    /// A block begins, and then comes another. Asks for a twin if there is none; says whether
    /// somebody has to be called.
    pub(in crate::learner) fn begin(
        &mut self,
        block: &[u32],
        coming: &[u32],
        weights: &Weights,
    ) -> bool {
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
        // News follows every request, so this is another number each time.
        self.request = self.told + 1;
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
        news.number.store(self.told, Ordering::Release);
    }

    /// The weights were changed by the row of `example`, of the group that was scored last.
    pub(in crate::learner) fn updated(&mut self, example: u32, change: Change) {
        if !self.is_there() {
            return;
        }
        let behind = 1 + self.group.iter().position(|&i| i == example).unwrap_or(0);
        self.base = None;
        let Change { scale, bias, .. } = change;
        self.tell(u64::from(example), self.position + behind, [scale, bias]);
    }

    /// The scores of the first group of the examples that come `next` in the block: those that
    /// the twin has found, or else what `score` finds.
    #[inline]
    pub(in crate::learner) fn score(
        &mut self,
        next: &[u32],
        scores: &mut [f64],
        score: impl Fn(&[u32], &mut [f64]),
    ) {
        let position = self.len - next.len();
        let base = *self.base.get_or_insert(position);
        let groups = (position - base) / GROUP;
        self.position = position;
        match next.first_chunk::<GROUP>() {
            None => {
                self.group = [News::BEGINS as u32; GROUP];
                self.group[..next.len()].copy_from_slice(next);
                score(next, scores);
            }
            Some(group) => {
                self.group = *group;
                match is_twins(groups) {
                    true => self.twins(next, scores, score),
                    false => self.own(group, scores, score),
                }
            }
        }
        // What the twin has found takes a while to come here.
        for k in [1, 3].into_iter().filter(|k| is_twins(groups + k)) {
            let soon = &self.twin.places[place(position + k * GROUP)];
            simd::prefetch(std::slice::from_ref(soon));
        }
    }

    /// Scores a group that is the leader's.
    #[inline]
    fn own(&self, group: &[u32], scores: &mut [f64], score: impl Fn(&[u32], &mut [f64])) {
        // Said for these alone: whatever one thread writes, the other has to fetch.
        let reached = &self.twin.reached.0;
        reached.store(self.position as u64, Ordering::Release);
        match self.early.0 == tag(self.told, self.position) {
            true => scores.copy_from_slice(&self.early.1),
            false => score(group, scores),
        }
    }

    /// Takes the scores of a group that is the twin's. If it is late, the leader goes on with the
    /// next group, which is its own; if it is late even then, the leader does not wait.
    #[inline]
    fn twins(&mut self, next: &[u32], scores: &mut [f64], score: impl Fn(&[u32], &mut [f64])) {
        let place = &self.twin.places[place(self.position)];
        let wanted = tag(self.told, self.position);
        let found = place.get(wanted).or_else(|| {
            let own = next.get(GROUP..2 * GROUP)?;
            score(own, &mut self.early.1);
            self.early.0 = tag(self.told, self.position + GROUP);
            place.get(wanted)
        });
        match found {
            Some(found) => scores.copy_from_slice(&found),
            None => score(&next[..GROUP], scores),
        }
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.dismiss();
        // Who comes after goes on counting.
        self.twin.told.0.store(self.told, Ordering::Release);
    }
}
