//! Steps on the face of the variables that no bound holds.

/// Conjugate gradients take at most so many steps at a time.
const ITERATIONS: usize = 100;

/// A step down a quadratic, and a direction to go on in where it falls but does not curve.
pub(super) struct QuadraticStep {
    pub(super) step: Vec<f64>,
    pub(super) flat: Option<Vec<f64>>,
}

/// The step towards the minimum of a quadratic, from a point with this residual −g, by conjugate
/// gradients (Hestenes & Stiefel, 1952): until the residual is a thousandth of what it was, the
/// curvature for a unit of length is no more than `flat`, or the step `leaves` what is allowed.
/// `product` gives Qp and pᵀQp.
pub(super) fn conjugate_gradients(
    mut residual: Vec<f64>,
    flat: f64,
    mut product: impl FnMut(&[f64]) -> (Vec<f64>, f64),
    leaves: impl Fn(&[f64]) -> bool,
) -> QuadraticStep {
    let mut direction = residual.clone();
    let mut step = vec![0.0; residual.len()];
    let mut squared: f64 = residual.iter().map(|r| r * r).sum();
    let enough = squared * 1e-6;
    for _ in 0..ITERATIONS {
        let (image, curvature) = product(&direction);
        let length: f64 = direction.iter().map(|p| p * p).sum();
        if curvature <= flat * length {
            let flat = Some(direction);
            return QuadraticStep { step, flat };
        }
        let amount = squared / curvature;
        for (k, image) in image.iter().enumerate() {
            step[k] += amount * direction[k];
            residual[k] -= amount * image;
        }
        let next: f64 = residual.iter().map(|r| r * r).sum();
        if leaves(&step) || next <= enough {
            break;
        }
        let ratio = next / squared;
        for (p, r) in direction.iter_mut().zip(&residual) {
            *p = r + ratio * *p;
        }
        squared = next;
    }
    QuadraticStep { step, flat: None }
}
