//! How far around the normal of an overlap no other direction can be a shorter way out.   (collision-9)
//!
//! The depth along n is the support function H of the Minkowski difference. With the touching support features (atoms) it is bounded
//! from below: at n + t, t square to n, by d + ½ tᵀQt + m·|t|, where d is the depth along n, Q the curvatures of the atoms
//! and m the room that the touching point has on its edge or face. A support function ‖B n‖ keeps at least the fraction
//! s/(s + ‖B‖·|t|), s = ‖B n‖, of its curvature. As long as the bound exceeds d·√(1 + t²) ≤ d (1 + ½ t²), no direction is
//! better than n.

use super::polish::LocalFeatures;
use crate::collision::pair::{ShapePair, Side, Witness};
use crate::collision::shape::Core;
use crate::spatial::Vec3;

/// Weights may be negative by this much, and points be apart by this fraction of the size.
const TOUCHES: f64 = 1e-9;
/// Fraction of the bound that rounding may not use up.
const SAFE: f64 = 0.99;

/// The angle around the normal of `w` within which the cores overlap nowhere less (rad); zero if nothing is known.
pub(crate) fn sure_angle(pair: &ShapePair, w: &Witness) -> f64 {
    let depth = -(w.distance + pair.radius());
    if depth <= 0.0 {
        return std::f64::consts::PI; // apart: there is one best direction
    }
    // a point outside the three known corners of its face is no convex combination of them, unless they are those of a cap
    let is_outside = |i: usize| {
        let (core, side) = (&pair.shapes[i].core, &w.sides[i]);
        !core.is_cap_atom(side.atoms[0]) && side.weights.iter().any(|w| *w < -TOUCHES)
    };
    if is_outside(0) || is_outside(1) {
        return 0.0;
    }
    let local = LocalFeatures::new(pair, &w.sides, w.normal);
    let aside = local.gap - w.normal * w.normal.dot(local.gap);
    if aside.norm() > TOUCHES * pair.scale() {
        return 0.0; // these are not the touching points of the atoms
    }
    let around = Certificate::new(pair, w, &local, depth);
    let reach = around.curved().max(around.edges()).max(around.face(pair, w));
    (SAFE * reach).atan()
}

struct Certificate {
    depth: f64,
    /// Curvatures on the basis: xx, xy, yy.
    Q: [f64; 3],
    basis: [Vec3; 2],
    /// Smallest s/‖B‖ of the curved atoms: how far the normal may lean before they lose half of their curvature.
    round: f64,
    /// Edges along which a touching point may glide, and how far to both sides.
    edges: [Option<(Vec3, f64)>; 2],
    /// Whether an edge loses curvature by gliding.
    tapered: bool,
}

impl Certificate {
    fn new(pair: &ShapePair, w: &Witness, local: &LocalFeatures, depth: f64) -> Certificate {
        let mut round = f64::INFINITY;
        let directions = [w.normal, -pair.X_12.rotation.tmul(w.normal)];
        for (i, side) in w.sides.iter().enumerate() {
            let core = &pair.shapes[i].core;
            for k in 0..side.count as usize {
                round = round.min(core.roundness(side.atoms[k], directions[i]));
            }
        }
        let edge = |i: usize| {
            let side = &w.sides[i];
            let room = side.weights[0].min(side.weights[1]);
            (side.count == 2 && room > 0.0).then(|| {
                let e = local.edges[i][0];
                (e * (1.0 / e.norm()), room * e.norm())
            })
        };
        let tapered = |i: usize| w.sides[i].count == 2 && matches!(pair.shapes[i].core, Core::Cone { .. });
        let [xx, xy, yy] = local.K;
        let Q = [xx + depth, xy, yy + depth];
        let edges = [edge(0), edge(1)];
        Certificate { depth, Q, basis: local.basis, round, edges, tapered: tapered(0) || tapered(1) }
    }

    /// Largest length of t if the bound relies on curvature `q` alone.
    fn bend(&self, q: f64) -> f64 {
        if q > self.depth { (q / self.depth - 1.0) * self.round } else { 0.0 }
    }

    /// By curvature in every direction.
    fn curved(&self) -> f64 {
        let [xx, xy, yy] = self.Q;
        let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
        self.bend(mean - (half * half + xy * xy).sqrt())
    }

    /// By curvature across one edge and the room along it, or by the room along two.
    fn edges(&self) -> f64 {
        let one = |(e, room): (Vec3, f64)| {
            let [xx, xy, yy] = self.Q;
            let u = self.basis.map(|b| b.dot(e));
            let along = xx * u[0] * u[0] + 2.0 * xy * u[0] * u[1] + yy * u[1] * u[1];
            let across = (xx + yy - along).max(0.0);
            // half of the room keeps half of the curvature of an edge that ends in a point
            let fraction = if self.tapered { 0.5 } else { 1.0 };
            let along = fraction * room / (0.5 * self.depth + (along.max(0.0) * across).sqrt());
            along.min(self.bend(fraction * across))
        };
        let single = self.edges.into_iter().flatten().map(one).fold(0.0, f64::max);
        match self.edges {
            [Some((e, a)), Some((f, b))] => single.max(self.flat(a.min(b) * e.cross(f).norm())),
            _ => single,
        }
    }

    /// By the room that a point has on a face, to all sides.
    fn face(&self, pair: &ShapePair, w: &Witness) -> f64 {
        let room = |i: usize| if w.sides[i].count == 3 { room_on_face(pair, w, i) } else { 0.0 };
        self.flat(room(0).max(room(1)))
    }

    fn flat(&self, room: f64) -> f64 {
        if room >= self.depth { f64::INFINITY } else { 2.0 * room.max(0.0) / self.depth }
    }
}

/// Distance of the touching point of shape `i` from the border of its face.
fn room_on_face(pair: &ShapePair, w: &Witness, i: usize) -> f64 {
    let (core, side) = (&pair.shapes[i].core, &w.sides[i]);
    if let (true, Core::Cylinder { radius, .. } | Core::Cone { radius, .. }) = (core.is_cap_atom(side.atoms[0]), core) {
        let x = if i == 0 { w.points[0] } else { pair.X_12.rotation.tmul(w.points[1] - pair.X_12.position) };
        return radius - (x.x * x.x + x.y * x.y).sqrt();
    }
    room_in_triangle(side, side.atoms.map(|a| core.atom(a, Vec3::UNITS[2])))
}

fn room_in_triangle(side: &Side, [a, b, c]: [Vec3; 3]) -> f64 {
    let area = (b - a).cross(c - a).norm();
    let [wa, wb, wc] = side.weights.map(|w| w * area);
    (wa / (c - b).norm()).min(wb / (c - a).norm()).min(wc / (b - a).norm())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::narrow::closed::check::Random;
    use crate::collision::narrow::epa::Polytope;
    use crate::collision::narrow::{Warm, witness};
    use crate::collision::shape::Convex;
    use crate::spatial::{Pose, vec3};

    fn core(kind: usize, random: &mut Random) -> Core<'static> {
        let mut size = || random.scale(0.05, 0.3);
        match kind {
            0 => Core::Segment { half: size() },
            1 => Core::Box { half: vec3(size(), size(), size()) },
            2 => Core::Cylinder { radius: size(), half: size() },
            3 => Core::Cone { radius: size(), half: size() },
            _ => Core::Ellipsoid { radii: vec3(size(), size(), size()) },
        }
    }

    /// Directions all over the angle, most of them near its border and near the normal.
    #[test]
    fn within_the_sure_angle_no_direction_is_a_shorter_way_out() {
        let (random, memory) = (&mut Random::new(61), &mut Polytope::new());
        let mut wide = [[0; 5]; 5];
        for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
            for _ in 0..60 {
                let shapes = [core(i, random), core(j, random)].map(|core| Convex { core, radius: 0.0 });
                let X_12 = Pose::new(random.cube() * 0.15, random.rotation());
                let pair = ShapePair { shapes, X_12 };
                let w = witness(&pair, f64::INFINITY, &mut Warm::default(), memory).unwrap();
                if w.distance >= 0.0 {
                    continue;
                }
                let sure = sure_angle(&pair, &w);
                wide[i][j] += usize::from(sure > 0.1);
                for _ in 0..200 {
                    let aside = w.normal.cross(random.unit());
                    let angle = sure * random.scale(1e-3, 1.0);
                    let Some(aside) = aside.normalized() else { continue };
                    let m = w.normal * angle.cos() + aside * angle.sin();
                    let gap = m.dot(pair.support(m, [0, 0]).y);
                    assert!(gap <= w.distance + 1e-12 + 1e-9 * angle, "{i}-{j} {angle} of {sure}: {gap} {w:?}");
                }
            }
        }
        // an angle of zero would be right as well, and of no use
        let useful = (2..5).flat_map(|i| (2..5).map(move |j| (i, j))).all(|(i, j)| wide[i][j] > 10);
        assert!(useful, "{wide:?}");
    }
}
