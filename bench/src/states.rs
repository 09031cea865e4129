//! Seeded random states, the same for every engine.

use slipstick::Model;
use slipstick::random::Rng;

/// A configuration, a velocity and accelerations.
pub struct Sample {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
}

/// Configurations within one radian (or meter) of the neutral one, velocities and accelerations within one.
pub fn random(model: &Model, n: usize, seed: u64) -> Vec<Sample> {
    let mut random = Rng(seed);
    let mut vector = |n: usize| (0..n).map(|_| random.sign()).collect::<Vec<f64>>();
    let mut one = || {
        let d = vector(model.nv());
        let mut q = model.neutral().to_vec();
        model.integrate(model.neutral(), &d, &mut q).expect("a tangent of the model's own size");
        Sample { q, v: vector(model.nv()), a: vector(model.nv()) }
    };
    (0..n).map(|_| one()).collect()
}
