//! Seeded random states, the same for every engine.

use slipstick::Model;

/// A configuration, a velocity and accelerations.
pub struct Sample {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
}

/// Configurations within one radian (or metre) of the neutral one, velocities and accelerations within one.
pub fn random(model: &Model, n: usize, seed: u64) -> Vec<Sample> {
    let mut state = seed;
    let mut uniform = move || {
        // splitmix64
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        2.0 * ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    };
    let mut vector = |n: usize| (0..n).map(|_| uniform()).collect::<Vec<f64>>();
    let mut one = || {
        let d = vector(model.nv());
        let mut q = model.neutral().to_vec();
        model.integrate(model.neutral(), &d, &mut q).expect("a tangent of the model's own size");
        Sample { q, v: vector(model.nv()), a: vector(model.nv()) }
    };
    (0..n).map(|_| one()).collect()
}
