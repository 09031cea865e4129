//! A point and a solid of revolution: cylinder or cone. The half-plane through the axis and the point decides; (ρ, z) are
//! its coordinates.

use super::{CoreWitness, direction, fraction};
use crate::collision::pair::Side;
use crate::collision::shape::cap_atom;
use crate::spatial::{Vec3, vec3};

/// Distance from the axis and the unit vector away from it; +x on the axis.
#[inline(always)]
fn radial(p: Vec3) -> (f64, Vec3) {
    match direction(vec3(p.x, p.y, 0.0)) {
        Some((u, rho)) => (rho, u),
        None => (0.0, Vec3::UNITS[0]),
    }
}

/// The point (x, y) of a cap of the given radius, as a combination of three points fixed to it. The same three
/// everywhere, so that the feature key does not change while a ball rolls over the cap.
#[inline(always)]
fn cap(top: bool, radius: f64, p: Vec3) -> Side {
    let k = if radius > 0.0 { 1.0 / radius } else { 0.0 };
    let (u, v) = (k * p.x, k * p.y);
    let atoms = [cap_atom(top, 0), cap_atom(top, 2), cap_atom(top, 4)];
    Side::face(atoms, [0.5 * (1.0 - v + u), v, 0.5 * (1.0 - v - u)])
}

#[inline(always)]
fn within_reach(normal: Vec3, gap: f64, point: Vec3, side: Side, reach: f64) -> Option<CoreWitness> {
    if gap > reach {
        return None;
    }
    Some(CoreWitness { normal, gap, point, sides: [side, Side::point(0)] })
}

/// Cylinder and point `p`.
#[inline(always)]
pub(super) fn cylinder(radius: f64, half: f64, p: Vec3, reach: f64) -> Option<CoreWitness> {
    let (rho, u) = radial(p);
    let top = p.z > 0.0;
    let (sign, atom) = if top { (1.0, 1) } else { (-1.0, 0) };
    // signed distances beyond the side and beyond the nearer cap
    let (out, over) = (rho - radius, p.z.abs() - half);
    if out > 0.0 && over > 0.0 {
        // along the radius exactly: the normal then names the point of the rim
        let d = vec3(out * u.x, out * u.y, sign * over);
        let (normal, gap) = direction(d).unwrap_or((u, 0.0));
        return within_reach(normal, gap, vec3(radius * u.x, radius * u.y, sign * half), Side::point(atom), reach);
    }
    if out > over {
        let generator = Side::edge([0, 1], fraction(p.z, half));
        return within_reach(u, out, vec3(radius * u.x, radius * u.y, p.z), generator, reach);
    }
    within_reach(vec3(0.0, 0.0, sign), over, vec3(p.x, p.y, sign * half), cap(top, radius, p), reach)
}

/// Cone and point `p`.
#[inline(always)]
pub(super) fn cone(radius: f64, half: f64, p: Vec3, reach: f64) -> Option<CoreWitness> {
    let (rho, u) = radial(p);
    let under = -half - p.z; // signed distance beyond the base
    if under > 0.0 && rho <= radius {
        return base(radius, half, under, p, reach);
    }
    // the slant from the apex (0, half) to the rim (radius, −half); offsets from both ends, so that points beside them
    // keep their digits
    let slant = (radius * radius + 4.0 * half * half).sqrt();
    let (run, rise) = (radius / slant, 2.0 * half / slant);
    let (beyond, fall) = (rho - radius, p.z - half);
    if under > 0.0 || run * beyond + rise * under >= 0.0 {
        let d = vec3(beyond * u.x, beyond * u.y, -under);
        let (normal, gap) = direction(d).unwrap_or((vec3(rise * u.x, rise * u.y, run), 0.0));
        return within_reach(normal, gap, vec3(radius * u.x, radius * u.y, -half), Side::point(1), reach);
    }
    let along = run * rho - rise * fall;
    if along <= 0.0 {
        let (normal, gap) = direction(vec3(p.x, p.y, fall)).unwrap_or((Vec3::UNITS[2], 0.0));
        return within_reach(normal, gap, vec3(0.0, 0.0, half), Side::point(0), reach);
    }
    let out = rise * rho + run * fall; // signed distance beyond the slant
    if out <= 0.0 && under >= out {
        return base(radius, half, under, p, reach);
    }
    let t = (along / slant).min(1.0);
    let normal = vec3(rise * u.x, rise * u.y, run);
    let point = vec3(t * radius * u.x, t * radius * u.y, half - 2.0 * half * t);
    within_reach(normal, out, point, Side::edge([0, 1], t), reach)
}

#[inline(always)]
fn base(radius: f64, half: f64, under: f64, p: Vec3, reach: f64) -> Option<CoreWitness> {
    within_reach(-Vec3::UNITS[2], under, vec3(p.x, p.y, -half), cap(false, radius, p), reach)
}

#[cfg(test)]
mod tests {
    use crate::collision::narrow::closed::check::verify_everywhere;
    use crate::collision::shape::Core;

    #[test]
    fn balls_and_cylinders_agree_with_the_widest_gap() {
        verify_everywhere(21, |r| {
            [Core::Cylinder { radius: r.scale(1e-3, 3.0), half: r.scale(1e-3, 3.0) }, Core::Point]
        });
    }

    #[test]
    fn balls_and_cones_agree_with_the_widest_gap() {
        verify_everywhere(22, |r| [Core::Cone { radius: r.scale(1e-3, 3.0), half: r.scale(1e-3, 3.0) }, Core::Point]);
    }
}
