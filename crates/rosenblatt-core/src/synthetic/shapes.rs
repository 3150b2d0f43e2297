//! Shapes in the plane, and clouds.

use std::f64::consts::PI;

use super::sphere::best_of_draws;
use super::{Draft, Settings, numbered, plus_minus};
use crate::random::Random;

/// Row i is of class i mod k, so that classes are equally frequent; then the rows' points.
fn rows(settings: &Settings, draft: &mut Draft, point: impl Fn(usize, &mut Random) -> Vec<f64>) {
    for i in 0..settings.n {
        let mut random = settings.for_row(i);
        let class = i % settings.k;
        let row: Vec<f64> = point(class, &mut random)
            .into_iter()
            .map(|x| x + settings.spread * random.normal())
            .collect();
        draft.push(&row, class as u32);
    }
}

/// x = c + σz about the class's centre c; centres lie in [−10, 10]^d, each the furthest from
/// those before of 32 draws.
pub(super) fn blobs(settings: &Settings) -> Draft {
    let mut random = settings.global();
    let mut centres: Vec<Vec<f64>> = Vec::with_capacity(settings.k);
    for _ in 0..settings.k {
        let draw = || {
            (0..settings.d)
                .map(|_| 20.0 * random.unit() - 10.0)
                .collect()
        };
        let apart =
            |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum() };
        let nearest = |c: &[f64]| {
            centres
                .iter()
                .map(|o| apart(o, c))
                .fold(f64::INFINITY, f64::min)
        };
        let centre = best_of_draws(draw, nearest);
        centres.push(centre);
    }
    let mut draft = Draft::new(
        settings.d,
        settings.n,
        settings.precision,
        numbered(settings.k),
    );
    rows(settings, &mut draft, |class, _| centres[class].clone());
    draft
}

fn plane(settings: &Settings) -> Draft {
    Draft::new(2, settings.n, settings.precision, plus_minus())
}

/// (cos t, sin t) against (1 − cos t, ½ − sin t), t uniform in [0, π).
pub(super) fn moons(settings: &Settings) -> Draft {
    let mut draft = plane(settings);
    rows(settings, &mut draft, |class, random| {
        let t = PI * random.unit();
        let (x, y) = (libm::cos(t), libm::sin(t));
        if class == 0 {
            vec![x, y]
        } else {
            vec![1.0 - x, 0.5 - y]
        }
    });
    draft
}

/// The circles of radius 1 (negative) and ½ (positive) about the origin.
pub(super) fn circles(settings: &Settings) -> Draft {
    let mut draft = plane(settings);
    rows(settings, &mut draft, |class, random| {
        let t = 2.0 * PI * random.unit();
        let radius = if class == 0 { 1.0 } else { 0.5 };
        vec![radius * libm::cos(t), radius * libm::sin(t)]
    });
    draft
}

/// The corners (0,0)− (0,1)+ (1,0)+ (1,1)−, over and over, jittered if there is a spread.
pub(super) fn xor(settings: &Settings) -> Draft {
    let mut draft = plane(settings);
    for i in 0..settings.n {
        let mut random = settings.for_row(i);
        let (a, b) = (i >> 1 & 1, i & 1);
        let row = [a, b].map(|x| x as f64 + settings.spread * random.normal());
        draft.push(&row, (a ^ b) as u32);
    }
    draft
}
