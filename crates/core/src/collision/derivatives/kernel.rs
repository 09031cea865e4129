//! How the normal and the nearest points of two convex shapes move when the shapes do: one small linear system, stated
//! with the support features (atoms) that touch.   (collision-3)

use super::CollisionError;
use super::smoothed;
use crate::collision::pair::Side;
use crate::collision::shape::Convex;
use crate::spatial::{Pose, Sym3, Vec3, vec3};

/// Below it a pivot of the system, measured in sizes of the shapes, has lost half of its digits: no derivative.
const LEAST_PIVOT: f64 = 1e-9;

/// A change of one of two shapes, as rates per unit of some parameter.
pub(crate) trait Change {
    /// The one shape that changes.
    fn which(&self) -> usize;
    /// Angular velocity of shape `side`.
    fn turn(&self, side: usize) -> Vec3;
    /// Velocity of an atom's point, now at `x`, when the direction that picks it stays fixed to the shape.
    fn velocity(&self, side: usize, atom: u32, x: Vec3) -> Vec3;
    /// Difference of the velocities of two atoms whose points are `e` apart.
    fn stretch(&self, side: usize, atoms: [u32; 2], e: Vec3) -> Vec3;
    /// Growth of the radius around the core of shape `side`.
    fn radius(&self, side: usize) -> f64;
}

/// A shape at its pose, and the direction in which it is touched.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub shape: &'a Convex<'a>,
    pose: &'a Pose,
    /// Outward direction in the shape's own axes.
    d: Vec3,
    /// +1 on shape 1, −1 on shape 2: the outward direction is `sign · n`.
    pub sign: f64,
    /// Temperature of the smoothed curvatures, zero for the exact ones (m).
    eps: f64,
}

impl<'a> Placed<'a> {
    #[inline(always)]
    pub fn new(shape: &'a Convex<'a>, pose: &'a Pose, normal: Vec3, side: usize, eps: f64) -> Placed<'a> {
        let sign = if side == 0 { 1.0 } else { -1.0 };
        Placed { shape, pose, d: pose.rotation.tmul(normal * sign), sign, eps }
    }

    /// Position of an atom's point.
    #[inline(always)]
    pub fn atom(&self, atom: u32) -> Vec3 {
        self.pose.point(self.shape.core.atom(atom, self.d))
    }

    /// Derivative of the position of an atom's point with respect to the outward direction.
    #[inline(always)]
    fn hessian(&self, atom: u32) -> Sym3 {
        let core = &self.shape.core;
        if !core.is_curved(atom) {
            return Sym3::ZERO;
        }
        let own = if self.eps > 0.0 {
            smoothed::atom_hessian(core, atom, self.d, self.eps)
        } else {
            core.hessian(atom, self.d)
        };
        own.rotated(&self.pose.rotation)
    }
}

/// The touching part of a shape at its pose.
#[derive(Clone, Copy)]
struct Feature {
    /// The touching point of the core.
    y: Vec3,
    /// The atoms' points.
    x: [Vec3; 3],
    /// From the first atom to the others: the touching point may glide along the first `free` of them.
    edges: [Vec3; 2],
    free: usize,
    /// Derivative of `y` with respect to the outward direction while the weights stay.
    hessian: Sym3,
}

impl Feature {
    #[inline(always)]
    fn new(body: &Placed, side: &Side) -> Feature {
        let count = side.count as usize;
        let (mut y, mut x, mut hessian) = (Vec3::ZERO, [Vec3::ZERO; 3], Sym3::ZERO);
        for k in 0..count {
            x[k] = body.atom(side.atoms[k]);
            y += x[k] * side.weights[k];
            if body.shape.core.is_curved(side.atoms[k]) {
                hessian += body.hessian(side.atoms[k]) * side.weights[k];
            }
        }
        let free = if side.fixed { 0 } else { count - 1 };
        // from the shape's own frame: no digits are lost when the atoms are far away
        let core = &body.shape.core;
        let own = |k: usize| core.atom(side.atoms[k], body.d);
        let edge = |k: usize| if k <= free { body.pose.rotation * (own(k) - own(0)) } else { Vec3::ZERO };
        Feature { y, x, edges: [edge(1), edge(2)], free, hessian }
    }
}

/// A direction along which a touching point glides.
#[derive(Clone, Copy)]
struct Glide {
    side: usize,
    /// Number of the edge of its feature.
    edge: usize,
    e: Vec3,
    /// Picks its component of a tangent vector: `dual · e = 1`, and zero for the other direction.
    dual: Vec3,
}

/// The equations that determine the normal.
#[derive(Clone, Copy)]
enum NormalSystem {
    /// Curvatures and gap alone: inverse (xx, xy, yy) of the 2 × 2 matrix on the basis.
    Curved { basis: [Vec3; 2], inverse: [f64; 3] },
    /// One edge, and curvatures across it.
    Edge { glide: Glide, across: Vec3, pivot: f64 },
    /// Two edges, or the two directions of a face.
    Edges { glides: [Glide; 2] },
}

/// The system for one pair of touching features.
#[derive(Clone, Copy)]
pub(crate) struct Kernel<'a> {
    pub n: Vec3,
    pub bodies: [Placed<'a>; 2],
    sides: &'a [Side; 2],
    features: [Feature; 2],
    /// Signed distance of the cores (m).
    gap: f64,
    system: NormalSystem,
}

impl<'a> Kernel<'a> {
    /// Positions and curvatures of the touching features; `eps` > 0 smooths them.   (collision-4)
    #[inline(always)]
    pub fn new(
        shapes: &'a [Convex<'a>; 2],
        poses: &'a [Pose; 2],
        n: Vec3,
        sides: &'a [Side; 2],
        eps: f64,
    ) -> Result<Kernel<'a>, CollisionError> {
        let bodies = [0, 1].map(|i| Placed::new(&shapes[i], &poses[i], n, i, eps));
        let mut features = [0, 1].map(|i| Feature::new(&bodies[i], &sides[i]));
        if eps > 0.0 {
            for i in 0..2 {
                if let Some(hessian) = smoothed::hessian(&shapes[i].core, bodies[i].d, sides[i].atoms[0], eps) {
                    features[i].hessian = hessian.rotated(&poses[i].rotation);
                    features[i].free = 0;
                }
            }
        }
        // a face determines the normal: the touching feature does not glide as well
        if features[0].free + features[1].free > 2 {
            let other = if features[0].free == 2 { 1 } else { 0 };
            features[other].free = 0;
        }
        Kernel::with_features(n, bodies, sides, features)
    }

    #[inline(always)]
    fn with_features(
        n: Vec3,
        bodies: [Placed<'a>; 2],
        sides: &'a [Side; 2],
        features: [Feature; 2],
    ) -> Result<Kernel<'a>, CollisionError> {
        let gap = n.dot(features[1].y - features[0].y);
        let size = bodies[0].shape.core.size().max(bodies[1].shape.core.size());
        let system = factor_normal_system(n, &features, gap, size)?;
        Ok(Kernel { n, bodies, sides, features, gap, system })
    }

    /// The system for other touching points.
    #[cfg(test)]
    pub fn touching_at(&self, y: [Vec3; 2]) -> Result<Kernel<'a>, CollisionError> {
        let mut features = self.features;
        for i in 0..2 {
            (features[i].y, features[i].x) = (y[i], [y[i]; 3]);
        }
        Kernel::with_features(self.n, self.bodies, self.sides, features)
    }

    /// The shape that determines the normal less: the one that touches a face, else shape 1.
    #[inline(always)]
    pub fn follower(&self) -> usize {
        if self.features[0].free == 2 { 1 } else { 0 }
    }

    /// Whether the follower touches a face with points that are fixed to it: it moves freely below a normal that stays.
    #[inline(always)]
    pub fn rests_on_face(&self) -> bool {
        let follower = self.follower();
        self.features[1 - follower].free == 2 && self.features[follower].hessian == Sym3::ZERO
    }

    /// The touching point of a core.
    #[inline(always)]
    pub fn point(&self, side: usize) -> Vec3 {
        self.features[side].y
    }

    /// Velocity of the touching point of a core when weights and direction stay.
    #[inline(always)]
    pub fn carried<C: Change>(&self, change: &C, side: usize) -> Vec3 {
        if side != change.which() {
            return Vec3::ZERO;
        }
        let (s, f) = (&self.sides[side], &self.features[side]);
        (0..s.count as usize).fold(Vec3::ZERO, |u, k| u + change.velocity(side, s.atoms[k], f.x[k]) * s.weights[k])
    }

    /// Position and velocity of an atom's point, the normal changing at the rate `dn`.
    #[inline(always)]
    pub fn atom<C: Change>(&self, change: &C, side: usize, atom: u32, dn: Vec3) -> (Vec3, Vec3) {
        let body = &self.bodies[side];
        let x = body.atom(atom);
        let mut dx = change.velocity(side, atom, x);
        if body.shape.core.is_curved(atom) {
            dx += body.hessian(atom) * (dn - change.turn(side).cross(self.n)) * body.sign;
        }
        (x, dx)
    }

    /// Rate of the normal.
    #[inline(always)]
    pub fn normal<C: Change>(&self, change: &C) -> Vec3 {
        match &self.system {
            NormalSystem::Curved { basis: [s, t], inverse: [xx, xy, yy] } => {
                let load = self.load(change);
                let (a, b) = (s.dot(load), t.dot(load));
                *s * (xx * a + xy * b) + *t * (xy * a + yy * b)
            }
            NormalSystem::Edge { glide, across, pivot } => {
                let along = glide.dual * self.lift(change, glide);
                let curved = self.features[0].hessian * along + self.features[1].hessian * along;
                along + *across * (across.dot(self.load(change) - curved) / pivot)
            }
            NormalSystem::Edges { glides: [a, b] } => a.dual * self.lift(change, a) + b.dual * self.lift(change, b),
        }
    }

    /// Velocities of the touching points of the cores, the normal changing at the rate `dn`.
    #[inline(always)]
    pub fn points<C: Change>(&self, change: &C, dn: Vec3) -> [Vec3; 2] {
        let mut dy = [0, 1].map(|i| {
            let bend = dn - change.turn(i).cross(self.n);
            self.carried(change, i) + self.features[i].hessian * bend * self.bodies[i].sign
        });
        // gliding supplies the residual of P (dy2 − dy1) = gap · dn
        let apart = dy[1] - dy[0];
        let missing = apart - self.n * self.n.dot(apart) - dn * self.gap;
        let mut slide = |g: &Glide| dy[g.side] += g.e * (g.dual.dot(missing) * self.bodies[g.side].sign);
        match &self.system {
            NormalSystem::Curved { .. } => {}
            NormalSystem::Edge { glide, .. } => slide(glide),
            NormalSystem::Edges { glides } => glides.iter().for_each(slide),
        }
        dy
    }

    /// Right-hand side on the tangent plane; components along n do no harm.
    #[inline(always)]
    fn load<C: Change>(&self, change: &C) -> Vec3 {
        let i = change.which();
        self.features[i].hessian * change.turn(i).cross(self.n) - self.carried(change, i) * self.bodies[i].sign
    }

    /// Rate of `e · n` at which the normal must follow an edge.
    #[inline(always)]
    fn lift<C: Change>(&self, change: &C, g: &Glide) -> f64 {
        let atoms = &self.sides[g.side].atoms;
        -self.n.dot(change.stretch(g.side, [atoms[0], atoms[g.edge + 1]], g.e))
    }
}

/// Chooses the equations of the normal and factors them. `size` is that of the shapes (m).
#[inline(always)]
fn factor_normal_system(n: Vec3, features: &[Feature; 2], gap: f64, size: f64) -> Result<NormalSystem, CollisionError> {
    let tangent = |e: Vec3| e - n * n.dot(e);
    let mut found = [Glide { side: 0, edge: 0, e: Vec3::ZERO, dual: Vec3::ZERO }; 2];
    let mut count = 0;
    for side in 0..2 {
        for edge in 0..features[side].free {
            found[count] = Glide { side, edge, e: tangent(features[side].edges[edge]), dual: Vec3::ZERO };
            count += 1;
        }
    }
    match count {
        0 => curved(n, features, gap, size),
        1 => edge(n, features, gap, size, found[0]),
        _ => edges(n, found),
    }
}

#[inline(always)]
fn curved(n: Vec3, features: &[Feature; 2], gap: f64, size: f64) -> Result<NormalSystem, CollisionError> {
    let basis = tangents(n);
    let h = features[0].hessian + features[1].hessian;
    let (hs, ht) = (h * basis[0], h * basis[1]);
    let (xx, xy, yy) = (basis[0].dot(hs) + gap, basis[0].dot(ht), basis[1].dot(ht) + gap);
    // eigenvalues m ± r; the smaller as a quotient, without cancellation
    let (m, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
    let r = (half * half + xy * xy).sqrt();
    let determinant = xx * yy - xy * xy;
    let smallest = if m > 0.0 { determinant / (m + r) } else { m - r };
    pivot(smallest, size.max(m + r))?;
    let k = 1.0 / determinant;
    Ok(NormalSystem::Curved { basis, inverse: [yy * k, -xy * k, xx * k] })
}

#[inline(always)]
fn edge(n: Vec3, features: &[Feature; 2], gap: f64, size: f64, glide: Glide) -> Result<NormalSystem, CollisionError> {
    let square = glide.e.dot(glide.e);
    if square.is_nan() || square <= 0.0 {
        return Err(CollisionError::NoDerivative {
            why: "an edge that touches has no length",
            got: square,
            least: 0.0,
        });
    }
    let across = n.cross(glide.e) * (1.0 / square.sqrt());
    let h = features[0].hessian * across + features[1].hessian * across;
    let stiff = across.dot(h) + gap;
    pivot(stiff, size.max(gap.abs()))?;
    Ok(NormalSystem::Edge { glide: Glide { dual: glide.e * (1.0 / square), ..glide }, across, pivot: stiff })
}

#[inline(always)]
fn edges(n: Vec3, [a, b]: [Glide; 2]) -> Result<NormalSystem, CollisionError> {
    let area = n.dot(a.e.cross(b.e));
    let sine = area.abs() / (a.e.norm() * b.e.norm());
    if sine.is_nan() || sine <= LEAST_PIVOT {
        let why = "the edges that touch are parallel: sine of their angle";
        return Err(CollisionError::NoDerivative { why, got: sine, least: LEAST_PIVOT });
    }
    let k = 1.0 / area;
    let duals = [b.e.cross(n) * k, n.cross(a.e) * k];
    Ok(NormalSystem::Edges { glides: [Glide { dual: duals[0], ..a }, Glide { dual: duals[1], ..b }] })
}

/// Rejects a system that is not positive definite: the overlap is as deep as the shapes are round, or points coincide.
fn pivot(smallest: f64, size: f64) -> Result<(), CollisionError> {
    if smallest > LEAST_PIVOT * size {
        return Ok(());
    }
    let why = "radius of curvature plus distance, in sizes of the shapes";
    let got = if size > 0.0 { smallest / size } else { 0.0 };
    Err(CollisionError::NoDerivative { why, got, least: LEAST_PIVOT })
}

/// Two unit vectors that make a right-handed frame with n; any will do, since only the plane they span matters.
#[inline(always)]
fn tangents(n: Vec3) -> [Vec3; 2] {
    let sign = if n.z < 0.0 { -1.0 } else { 1.0 };
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    [vec3(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x), vec3(b, sign + n.y * n.y * a, -n.y)]
}
