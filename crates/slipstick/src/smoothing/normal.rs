//! Standard normal numbers: SplitMix64, then Box and Muller.

use crate::random::Rng;

#[derive(Debug, Clone)]
pub(super) struct Normal {
    draw: Rng,
    spare: Option<f64>,
}

impl Normal {
    pub fn new(seed: u64) -> Normal {
        Normal { draw: Rng(seed), spare: None }
    }

    /// Uniform in (0, 1).
    fn uniform(&mut self) -> f64 {
        ((self.draw.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub fn next(&mut self) -> f64 {
        if let Some(z) = self.spare.take() {
            return z;
        }
        let (u, v) = (self.uniform(), self.uniform());
        let radius = (-2.0 * u.ln()).sqrt();
        let (s, c) = (std::f64::consts::TAU * v).sin_cos();
        self.spare = Some(radius * s);
        radius * c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_moments_of_the_normal_law() {
        let (mut draw, n) = (Normal::new(42), 200_000);
        let mut moments = [0.0; 4];
        for _ in 0..n {
            let z = draw.next();
            (0..4).for_each(|k| moments[k] += z.powi(k as i32 + 1) / n as f64);
        }
        // five standard errors each
        let errors = [(0.0, 1.0f64), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)];
        for (moment, (mean, variance)) in moments.into_iter().zip(errors) {
            assert!((moment - mean).abs() < 5.0 * (variance / n as f64).sqrt(), "{moment} instead of {mean}");
        }
    }
}
