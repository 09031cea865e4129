//! Where the interior point starts when Newton has come near: on its central path, beside the last iterate.   (ncp-14)
//!
//! With `a = λ − σ` of a block (scaled), impulse and velocity are split anew such that their difference stays a and their
//! products are κ. At κ = 0 that is the projection of Newton's method; with κ > 0 what is at the edge of its cone comes
//! off it, and whoever is undecided gets a share.

use super::Work;
use super::interior_point::{Interior, InteriorPoint};
use super::linear::is_frictionless;
use crate::constraint::cone::{Cone, length};
use crate::constraint::problem::{Problem, three};
use crate::constraint::residual::unit;

/// Halvings that find the share of friction.
const HALVINGS: u32 = 50;

impl InteriorPoint {
    /// Starts beside the impulses and velocities in `work`, as far from the boundaries as their residual says.
    pub fn begin_beside(&mut self, problem: &Problem, work: &Work, residual: f64) {
        self.begin(problem, 1.0, 0.0);
        for (k, b) in problem.blocks.iter().enumerate() {
            self.states[k].l = three(&work.lambda, b).map(|x| x * self.scales[k] / self.unit);
        }
        let kappa = self.typical_impulse(problem) * self.scaled_residual(problem, residual);
        let kappa = kappa.max(f64::MIN_POSITIVE); // without any impulse there would be no inside
        for (k, b) in problem.blocks.iter().enumerate() {
            let sigma = self.scaled_velocity(b, k, &work.sigma);
            self.states[k] = onto_path(b.cone, self.bound(problem, k), self.states[k].l, sigma, kappa);
        }
    }

    /// Mean impulse of the blocks, that of a contact along its normal (scaled).
    pub(super) fn typical_impulse(&self, problem: &Problem) -> f64 {
        let last = problem.blocks.iter().zip(&self.states).map(|(b, x)| x.l[b.cone.rows() - 1].abs());
        last.sum::<f64>() / problem.blocks.len() as f64
    }

    /// A residual as a velocity, scaled as those of a typical block are.
    pub(super) fn scaled_residual(&self, problem: &Problem, residual: f64) -> f64 {
        let scale = self.scales.iter().sum::<f64>() / self.scales.len() as f64;
        residual * unit(problem) / (scale * self.unit)
    }
}

/// The point of a block with products κ; `bound` is that of a box, scaled.
fn onto_path(cone: Cone, bound: f64, l: [f64; 3], sigma: [f64; 3], kappa: f64) -> Interior {
    match cone {
        Cone::Friction { mu } => contact(cone, mu, l, sigma, kappa),
        Cone::Unilateral => {
            let (l, s) = split(l[0] - sigma[0], kappa);
            Interior { l: [l, 0.0, 0.0], s: [s, 0.0, 0.0], psi: 0.0 }
        }
        Cone::Box { .. } if bound > 0.0 => {
            let a = l[0] - sigma[0];
            let gap = split(bound - a.abs(), kappa).0.min(bound);
            let (near, far) = (kappa / gap, kappa / (2.0 * bound - gap));
            let s = if a < 0.0 { [far, near, 0.0] } else { [near, far, 0.0] };
            Interior { l: [(bound - gap).copysign(a), 0.0, 0.0], s, psi: 0.0 }
        }
        Cone::Box { .. } => Interior { l: [0.0; 3], s: [1.0, 1.0, 0.0], psi: 0.0 },
        Cone::Bilateral => Interior { l: [l[0], 0.0, 0.0], ..Interior::default() },
    }
}

/// Friction `μ γ y` against a slip of `ψ y`, `ψ = 2 c/(1 − y²)` with `c = s/2μ`.   (ncp-13, ncp-14)
fn contact(cone: Cone, mu: f64, l: [f64; 3], sigma: [f64; 3], kappa: f64) -> Interior {
    let (gamma, s) = split(l[2] - sigma[2], kappa);
    if is_frictionless(cone) {
        return Interior { l: [0.0, 0.0, gamma], s: [0.0, 0.0, s], psi: 0.0 };
    }
    let a = [l[0] - sigma[0], l[1] - sigma[1]];
    let (c, size) = (s / (2.0 * mu), length(a[0], a[1]));
    let y = share(c, mu * gamma, size);
    let psi = 2.0 * c / (1.0 - y * y);
    let u = if size > 0.0 { [a[0] / size, a[1] / size] } else { [0.0; 2] };
    let (t, slip) = (mu * gamma * y, psi * y);
    Interior { l: [t * u[0], t * u[1], gamma], s: [-slip * u[0], -slip * u[1], s], psi }
}

/// The positive numbers with difference a and product κ.
fn split(a: f64, kappa: f64) -> (f64, f64) {
    let larger = 0.5 * (a.abs() + (a * a + 4.0 * kappa).sqrt());
    if a > 0.0 { (larger, kappa / larger) } else { (kappa / larger, larger) }
}

/// y in [0, 1) with `2 c y/(1 − y²) + radius y = size`: slip and friction together are `size`. The left side grows with y.
fn share(c: f64, radius: f64, size: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let y = 0.5 * (low + high);
        if 2.0 * c * y + (radius * y - size) * (1.0 - y * y) > 0.0 {
            high = y;
        } else {
            low = y;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    const KAPPA: f64 = 1e-3;

    #[test]
    fn contacts_get_their_products_and_keep_their_difference() {
        let mu = 0.7;
        let cases = [
            ([0.1, 0.2, 1.0], [0.0; 3]),            // sticks
            ([0.42, -0.56, 1.0], [-0.3, 0.4, 0.0]), // slides
            ([0.0; 3], [0.3, 0.1, 0.5]),            // breaks
            ([0.0; 3], [0.0; 3]),                   // undecided
        ];
        for (l, sigma) in cases {
            let x = onto_path(Cone::Friction { mu }, 0.0, l, sigma, KAPPA);
            let mg = mu * x.l[2];
            assert!((x.l[2] * x.s[2] - KAPPA).abs() < 1e-15);
            assert!((mg * x.psi + x.l[0] * x.s[0] + x.l[1] * x.s[1] - KAPPA).abs() < 1e-12);
            for i in 0..3 {
                assert!((x.l[i] - x.s[i] - (l[i] - sigma[i])).abs() < 1e-12, "{l:?} {sigma:?}");
            }
            assert!((0..2).all(|i| (mg * x.s[i] + x.psi * x.l[i]).abs() < 1e-12));
            assert!(length(x.l[0], x.l[1]) < mg && length(x.s[0], x.s[1]) < x.psi);
        }
    }

    #[test]
    fn boxes_get_their_products_and_stay_inside() {
        for (l, sigma) in [(0.3, 0.0), (-2.0, 0.5), (2.0, -1e-3), (0.0, 0.0)] {
            let x = onto_path(Cone::Box { bound: 2.0 }, 2.0, [l, 0.0, 0.0], [sigma, 0.0, 0.0], KAPPA);
            assert!(x.l[0].abs() < 2.0 && x.s[0] > 0.0 && x.s[1] > 0.0);
            assert!(((2.0 - x.l[0]) * x.s[0] - KAPPA).abs() < 1e-15 && ((2.0 + x.l[0]) * x.s[1] - KAPPA).abs() < 1e-15);
        }
    }
}
