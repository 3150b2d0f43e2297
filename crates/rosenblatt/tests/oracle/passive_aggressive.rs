//! Passive-aggressive learning, straight from Crammer et al. 2006.

use rosenblatt::Options;
use rosenblatt::learner::{PaVariant, PassiveAggressive};
use rosenblatt::options::{Order, Readout};

use crate::common::{self, Toy, close, dot, norm, planes, trained};

/// The weights of each class after some passes; of two classes those of the second alone.
fn reference(toy: &Toy, told: &PassiveAggressive, passes: u64) -> Vec<Vec<f64>> {
    let mut w = vec![vec![0.0; toy.features() + 1]; toy.classes];
    for i in (0..passes).flat_map(|_| 0..toy.len()) {
        let (x, c) = (lifted(&toy.rows[i]), told.c * toy.weight(i));
        let (truth, rival, twice) = sides(&w, toy, i, &x);
        let length = twice * dot(&x, &x);
        let loss = (1.0 - margin(&w, toy, truth, rival, &x)).max(0.0);
        let step = match told.variant {
            PaVariant::Pa => loss / length,
            PaVariant::Pa1 => (loss / length).min(c),
            PaVariant::Pa2 => loss / (length + 1.0 / (2.0 * c)),
        };
        for (j, x) in x.iter().enumerate() {
            w[truth][j] += step * x;
            w[rival][j] -= step * x;
        }
    }
    w
}

/// The true class, the strongest other one, and how often the row counts in the squared length.
pub(crate) fn sides(w: &[Vec<f64>], toy: &Toy, i: usize, x: &[f64]) -> (usize, usize, f64) {
    let truth = toy.labels[i] as usize;
    let mut others = (0..toy.classes).filter(|c| *c != truth);
    let first = others.next().unwrap();
    let rival = others.fold(first, |best, c| {
        if dot(&w[c], x) > dot(&w[best], x) {
            c
        } else {
            best
        }
    });
    (truth, rival, if toy.classes == 2 { 1.0 } else { 2.0 })
}

/// How far the true class is ahead. Of two classes one plane is kept, here as w and −w.
pub(crate) fn margin(w: &[Vec<f64>], toy: &Toy, truth: usize, rival: usize, x: &[f64]) -> f64 {
    match toy.classes {
        2 => dot(&w[truth], x),
        _ => dot(&w[truth], x) - dot(&w[rival], x),
    }
}

/// The bias feature, then the row.
pub(crate) fn lifted(row: &[f64]) -> Vec<f64> {
    [&[1.0], row].concat()
}

/// Small sets of two and three classes, with sample weights.
pub(crate) fn small_sets() -> impl Iterator<Item = Toy> {
    (0..20).flat_map(|seed| {
        [2, 3].map(|classes| Toy {
            weights: Some((0..25).map(|i| [1.0, 0.5, 3.0][i % 3]).collect()),
            ..common::reals(seed, 25, 4, classes)
        })
    })
}

/// Compares the last weights of a run with those of a reference.
pub(crate) fn check(toy: &Toy, options: Options, reference: impl Fn(u64) -> Vec<Vec<f64>>) {
    let options = Options {
        order: Order::Given,
        readout: Some(Readout::Last),
        epochs: Some(3),
        ..options
    };
    let model = trained(&toy.dataset(), &options).model;
    let expected = reference(model.progress.epochs());
    let skipped = usize::from(toy.classes == 2);
    let found = planes(model.weights().unwrap());
    for (found, expected) in found.iter().zip(&expected[skipped..]) {
        for (f, e) in found.iter().zip(expected) {
            assert!(
                close(*f, *e, 1.0, 1e-12),
                "{found:?}, expected {expected:?}"
            );
        }
    }
}

#[test]
fn passive_aggressive() {
    for toy in small_sets() {
        for variant in [PaVariant::Pa, PaVariant::Pa1, PaVariant::Pa2] {
            for c in [0.1, 1.0] {
                let told = PassiveAggressive { variant, c };
                let options = Options::of(told.clone().into());
                check(&toy, options, |passes| reference(&toy, &told, passes));
            }
        }
    }
}

/// Theorems 2 and 5 of the paper, at the margin of a separator that is known.
#[test]
fn squared_losses_stay_within_their_bounds() {
    for seed in 0..20 {
        let (theta, gap) = (0.2, 0.1);
        let (toy, _) = common::separable(seed, 60, 4, theta, gap);
        let margin = gap / f64::sqrt(1.0 + theta * theta);
        let longest = toy
            .rows
            .iter()
            .map(|x| norm(&lifted(x)))
            .fold(0.0, f64::max);
        for (variant, softened) in [(PaVariant::Pa, 0.0), (PaVariant::Pa2, 0.5)] {
            let learner = PassiveAggressive { variant, c: 1.0 };
            let fitted = trained(&toy.dataset(), &Options::of(learner.into()));
            let passes = &fitted.model.progress.passes;
            let losses: f64 = passes.iter().map(|pass| pass.squared_error).sum();
            let bound = (longest * longest + softened) / (margin * margin);
            assert!(losses > 0.0 && losses <= bound, "{losses}, bound {bound}");
        }
    }
}
