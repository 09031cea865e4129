//! A point and an ellipsoid: one equation in one unknown.
//!
//! With radii r_i, the shortest being r_m, the nearest point x of p has x_i/r_i = u_i = ρ_i z_i/(w + c_i), where
//! z_i = |p_i|/r_i, ρ_i = (r_i/r_m)², c_i = ρ_i − 1, and w > 0 solves ‖u(w)‖ = 1. The unknown is counted from the pole of
//! the shortest axis, so that it keeps all its digits for points near the plane across that axis. 1/‖u‖ is concave and
//! grows with w, hence Newton's method for 1 − 1/‖u‖ = 0, started where ‖u‖ ≥ 1, rises to the root without overshooting.

use super::{CoreWitness, direction};
use crate::collision::pair::Side;
use crate::spatial::{Vec3, vec3};

/// Newton's method needs about 4 steps; the worst of 100 000 random points and aspect ratios up to 1e6 needs 14.
const MAX_STEPS: usize = 40;
/// A relative step below this leaves an error of its square.
const LAST_STEP: f64 = 1e-8;
/// Coordinates below this fraction of a radius count as zero: their squares would vanish.
const NOTHING: f64 = 1e-140;

/// Ellipsoid and point `p`.
#[inline(always)]
pub(super) fn ellipsoid(radii: Vec3, p: Vec3, reach: f64) -> Option<CoreWitness> {
    let u = nearest(radii, p);
    // the normal is u_i/r_i, the point r_i u_i; a normal off by δ changes the gap only by δ²
    let (normal, _) = direction(vec3(u.x / radii.x, u.y / radii.y, u.z / radii.z)).unwrap_or((Vec3::UNITS[2], 0.0));
    let point = vec3(u.x * radii.x, u.y * radii.y, u.z * radii.z);
    let gap = normal.dot(p - point);
    if gap > reach {
        return None;
    }
    Some(CoreWitness { normal, gap, point, sides: [Side::point(0), Side::point(0)] })
}

/// The nearest point of the surface as a unit vector: its coordinates divided by the radii.
#[inline(always)]
fn nearest(radii: Vec3, p: Vec3) -> Vec3 {
    let shortest = radii.x.min(radii.y).min(radii.z);
    let inverse = 1.0 / shortest;
    // numerators ρ z and poles c of one axis
    let axis = |r: f64, x: f64| {
        let ratio = r * inverse;
        let z = x.abs() / r;
        let z = if z < NOTHING { 0.0 } else { z };
        (ratio * ratio * z, (r - shortest) * (r + shortest) * inverse * inverse)
    };
    let (ax, cx) = axis(radii.x, p.x);
    let (ay, cy) = axis(radii.y, p.y);
    let (az, cz) = axis(radii.z, p.z);
    let (a, c) = (vec3(ax, ay, az), vec3(cx, cy, cz));
    // no term alone may exceed one
    let start = (ax - cx).max(ay - cy).max(az - cz).max(0.0);
    let u = if start > 0.0 { root(a, c, start) } else { from_pole(a, c) };
    // exact length: the iteration's last error becomes one along the surface
    let k = 1.0 / u.norm();
    vec3((u.x * k).copysign(p.x), (u.y * k).copysign(p.y), (u.z * k).copysign(p.z))
}

/// u(w), its factors 1/(w + c), and the next w.
#[inline(always)]
fn step(a: Vec3, c: Vec3, w: f64) -> (Vec3, Vec3, f64) {
    let k = vec3(1.0 / (w + c.x), 1.0 / (w + c.y), 1.0 / (w + c.z));
    let u = vec3(a.x * k.x, a.y * k.y, a.z * k.z);
    let squares = vec3(u.x * u.x, u.y * u.y, u.z * u.z);
    let square = squares.x + squares.y + squares.z;
    (u, k, w + (square.sqrt() - 1.0) * square / squares.dot(k))
}

#[inline(always)]
fn root(a: Vec3, c: Vec3, start: f64) -> Vec3 {
    let mut w = start;
    let mut last = Vec3::ZERO;
    for _ in 0..MAX_STEPS {
        let (u, k, next) = step(a, c, w);
        let change = next - w;
        // du/dw = −u k takes u along the last step: as good as another evaluation
        last = vec3(u.x - u.x * k.x * change, u.y - u.y * k.y * change, u.z - u.z * k.z * change);
        if change <= LAST_STEP * next {
            break;
        }
        w = next;
    }
    last
}

/// Points of the plane across the shortest axis, so near to the center that no point of that plane is nearest: the
/// nearest is beside it (of the two, that on the positive side).
#[cold]
fn from_pole(a: Vec3, c: Vec3) -> Vec3 {
    let one = |a: f64, c: f64| if a > 0.0 { a / c } else { 0.0 };
    let mut u = vec3(one(a.x, c.x), one(a.y, c.y), one(a.z, c.z));
    let rest = 1.0 - u.dot(u);
    if rest < 0.0 {
        // outside the focal ellipse: the root is positive
        return root(a, c, f64::MIN_POSITIVE);
    }
    let m = (0..3).find(|&k| c[k] == 0.0).unwrap_or(2);
    u[m] = rest.sqrt();
    u
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::narrow::closed::check::{Random, verify_everywhere};
    use crate::collision::shape::Core;

    #[test]
    fn balls_and_ellipsoids_agree_with_the_widest_gap() {
        verify_everywhere(31, |r| {
            let radii = vec3(r.scale(1e-2, 3.0), r.scale(1e-2, 3.0), r.scale(1e-2, 3.0));
            [Core::Ellipsoid { radii }, Core::Point]
        });
        verify_everywhere(32, |r| [Core::Ellipsoid { radii: vec3(1.0, r.scale(0.1, 3.0), 1.0) }, Core::Point]);
    }

    /// Points x + g n for known x and n of the surface, g above minus the smallest radius of curvature.
    #[test]
    fn a_point_above_a_known_place_finds_it_again() {
        let random = &mut Random::new(33);
        for trial in 0..20_000 {
            let mut radii = vec3(random.scale(1e-3, 1e3), random.scale(1e-3, 1e3), random.scale(1e-3, 1e3));
            let mut u = random.unit();
            match trial % 4 {
                0 => u[random.below(3) as usize] *= random.scale(1e-30, 1.0),
                1 => u[random.below(3) as usize] = 0.0,
                2 => radii.y = radii.x,
                _ => {}
            }
            let u = u.normalized().unwrap();
            let n = vec3(u.x / radii.x, u.y / radii.y, u.z / radii.z).normalized().unwrap();
            let x = vec3(u.x * radii.x, u.y * radii.y, u.z * radii.z);
            let (shortest, longest) = (radii.x.min(radii.y).min(radii.z), radii.x.max(radii.y).max(radii.z));
            let depth = shortest * shortest / longest;
            let gap =
                if random.below(2) == 0 { depth * 0.99 * random.signed() } else { longest * random.scale(1e-6, 1e3) };
            let found = ellipsoid(radii, x + n * gap, f64::INFINITY).unwrap();
            let slack = 1e-13 * (longest + gap);
            assert!((found.gap - gap).abs() <= slack, "{radii:?} {u:?} {gap}: {found:?}");
        }
    }

    #[test]
    fn few_steps_are_enough() {
        let random = &mut Random::new(34);
        let mut worst = 0;
        for _ in 0..100_000 {
            let radii = vec3(1.0, random.scale(1.0, 1e6), random.scale(1.0, 1e6));
            let mut p = random.cube();
            for k in 0..3 {
                p[k] *= radii[k] * random.scale(1e-12, 1e3);
            }
            worst = worst.max(steps(radii, p));
        }
        assert!(worst <= MAX_STEPS / 2, "{worst}");
    }

    /// Newton steps until nothing changes beyond rounding.
    fn steps(radii: Vec3, p: Vec3) -> usize {
        let c = vec3(0.0, radii.y * radii.y - 1.0, radii.z * radii.z - 1.0);
        let a = vec3(p.x.abs(), radii.y * p.y.abs(), radii.z * p.z.abs());
        let mut w = (a.x - c.x).max(a.y - c.y).max(a.z - c.z);
        (0..MAX_STEPS)
            .take_while(|_| {
                let next = step(a, c, w).2;
                let moved = next - w > LAST_STEP * next;
                w = next;
                moved
            })
            .count()
    }
}
