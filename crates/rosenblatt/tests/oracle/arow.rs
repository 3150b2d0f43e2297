//! AROW with a diagonal confidence, straight from Crammer et al. 2009.

use rosenblatt::Options;
use rosenblatt::learner::Arow;

use crate::common::Toy;
use crate::passive_aggressive::{check, lifted, margin, sides, small_sets};

/// The weights of each class after some passes; of two classes those of the second alone.
fn reference(toy: &Toy, r: f64, passes: u64) -> Vec<Vec<f64>> {
    let mut w = vec![vec![0.0; toy.features() + 1]; toy.classes];
    let mut sigma = vec![vec![1.0; toy.features() + 1]; toy.classes];
    for i in (0..passes).flat_map(|_| 0..toy.len()) {
        let x = lifted(&toy.rows[i]);
        let (truth, rival, twice) = sides(&w, toy, i, &x);
        let loss = 1.0 - margin(&w, toy, truth, rival, &x);
        if loss <= 0.0 {
            continue;
        }
        let variance = |class: usize| -> f64 {
            let each = sigma[class].iter().zip(&x);
            each.map(|(s, x)| s * x * x).sum()
        };
        // Of two classes both sides hold the one plane, so it counts once.
        let v = (variance(truth) + variance(rival)) * twice / 2.0;
        let beta = 1.0 / (v + r / toy.weight(i));
        for (class, sign) in [(truth, 1.0), (rival, -1.0)] {
            for (j, x) in x.iter().enumerate() {
                let s = sigma[class][j];
                w[class][j] += sign * beta * loss * s * x;
                sigma[class][j] = s - beta * (s * x) * (s * x);
            }
        }
    }
    w
}

#[test]
fn arow() {
    for toy in small_sets() {
        for r in [0.1, 1.0, 10.0] {
            check(&toy, Options::of(Arow { r }.into()), |passes| {
                reference(&toy, r, passes)
            });
        }
    }
}
