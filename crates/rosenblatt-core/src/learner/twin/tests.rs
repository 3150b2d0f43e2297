//! A leader and its twins, in step and out of it.

use std::cell::RefCell;

use super::*;
use crate::data::Precision;
use crate::model::Change;
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
    // Where the groups begin that the leader has scored with these weights.
    let own = RefCell::new(Vec::new());
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
        own.borrow_mut().clear();
        let mut next = &block[..];
        while !next.is_empty() {
            let mut scores = [f64::NAN; GROUP];
            let count = next.len().min(GROUP);
            if lead.is_there() {
                lead.score(next, &mut scores[..count], |examples, scores| {
                    own.borrow_mut().push(examples.as_ptr());
                    for (to, &i) in scores.iter_mut().zip(examples) {
                        weights.scores(rows.row(i as usize), std::slice::from_mut(to));
                    }
                });
                seen.taken += usize::from(!own.borrow().contains(&next.as_ptr()));
            }
            let mut made = count;
            for (k, &i) in next[..count].iter().enumerate() {
                let row = rows.row(i as usize);
                let mut score = [0.0];
                weights.scores(row, &mut score);
                if !scores[k].is_nan() {
                    assert_eq!(scores[k].to_bits(), score[0].to_bits());
                }
                if random.below(25) == 0 {
                    let (d, scale, bias) = (0, random.normal(), random.normal());
                    lead.updated(i, Change { d, scale, bias });
                    weights.add(d, row, scale, bias);
                    own.borrow_mut().clear();
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
            // Leaders one after the other, more of them where a machine is busy with other things.
            for number in 0..50 {
                taken += lead(&matrix, &twin, 400, |_| ()).taken;
                if number > 3 && taken > 100 {
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
