//! Sine and cosine of four angles side by side, to about one unit in the last place.
//!
//! Joint angles are most of the transcendental work of a step. The library's functions take them one by one and differ
//! from platform to platform; these do neither. Reduction by multiples of π/2 in three parts (Cody and Waite), then
//! the minimax polynomials of the classical kernels on ±π/4.

use super::lane::Lane;

/// π/2 in three parts: the first two have 33 bits each, so that their product with a count below 2²⁰ is exact.
const HALF_PI: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];
/// Adding and subtracting it rounds to a whole number, which then stands in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²
/// Beyond it the reduction would lose digits and the library's functions take over.
const LARGEST_ANGLE: f64 = 8e5; // (rad)

const SIN: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];
const COS: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

/// Sines and cosines of four angles (rad).
#[inline(always)]
pub fn sin_cos(x: Lane) -> (Lane, Lane) {
    let [a, b, c, d] = x.0.map(f64::abs);
    if a.max(b).max(c.max(d)) > LARGEST_ANGLE {
        return (Lane(x.0.map(f64::sin)), Lane(x.0.map(f64::cos)));
    }
    let count = x * core::f64::consts::FRAC_2_PI + Lane::splat(ROUND);
    let n = count - Lane::splat(ROUND);
    let r = ((x - n * HALF_PI[0]) - n * HALF_PI[1]) - n * HALF_PI[2];
    let z = multiply(r, r);
    let s = r + multiply(multiply(r, z), polynomial(z, &SIN));
    let half = z * 0.5;
    let w = Lane::splat(1.0) - half;
    // 1 − z/2 is rounded; what that lost is put back with the rest of the series
    let c = w + (((Lane::splat(1.0) - w) - half) + multiply(multiply(z, z), polynomial(z, &COS)));
    let (mut sin, mut cos) = (Lane::ZERO, Lane::ZERO);
    for k in 0..4 {
        let quadrant = count.0[k].to_bits();
        let swap = quadrant & 1 == 1;
        let (a, b) = (if swap { c.0[k] } else { s.0[k] }, if swap { s.0[k] } else { c.0[k] });
        sin.0[k] = f64::from_bits(a.to_bits() ^ ((quadrant & 2) << 62));
        cos.0[k] = f64::from_bits(b.to_bits() ^ ((quadrant.wrapping_add(1) & 2) << 62));
    }
    (sin, cos)
}

#[inline(always)]
fn multiply(a: Lane, b: Lane) -> Lane {
    let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (a.0, b.0);
    Lane([a0 * b0, a1 * b1, a2 * b2, a3 * b3])
}

#[inline(always)]
fn polynomial(z: Lane, c: &[f64; 6]) -> Lane {
    let mut p = Lane::splat(c[5]);
    for k in (0..5).rev() {
        p = multiply(p, z) + Lane::splat(c[k]);
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

    #[test]
    fn agrees_with_the_library_to_two_units_in_the_last_place() {
        let angles = (0..400_000).map(|k| (k as f64 - 200_000.0) * 1.234_567e-3 * (1.0 + (k % 7) as f64));
        let corners = [0.0, -0.0, 1e-300, 1e-8, FRAC_PI_4, FRAC_PI_2, PI, -1.5 * PI, 7.9e5];
        for x in angles.chain(corners) {
            let (s, c) = sin_cos(Lane([x, -x, 0.5 * x, x]));
            for (got, expected) in
                [(s.0[0], x.sin()), (c.0[0], x.cos()), (s.0[1], (-x).sin()), (c.0[2], (0.5 * x).cos())]
            {
                let error = (got - expected).abs();
                // relative away from the zeros of the function; at them the reduction is exact to 1e-32 · count
                assert!(error <= 4.5e-16 * expected.abs() + 1e-22, "{x}: {got} {expected}");
            }
            assert_eq!(s.0[0].to_bits(), s.0[3].to_bits(), "a lane does not depend on its place");
        }
    }

    #[test]
    fn very_large_and_non_finite_angles_are_left_to_the_library() {
        let (s, c) = sin_cos(Lane([1e9, 1.0, 2.0, 3.0]));
        assert_eq!((s.0[0], c.0[1]), (1e9_f64.sin(), 1.0_f64.cos()));
        assert!(sin_cos(Lane([f64::NAN, 1.0, 2.0, 3.0])).0.0[0].is_nan());
    }
}
