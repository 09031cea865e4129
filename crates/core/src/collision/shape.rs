//! Convex shapes of the narrow phase: a core, spanned by support features (*atoms*), and a radius around it.
//!
//! An atom is a piece of surface whose support point depends smoothly on the direction: a vertex (it does not depend on
//! it at all), the rim of a cylinder or cone, the surface of an ellipsoid. Every point where two shapes can touch is a
//! combination of at most three atoms, and every derivative follows from those atoms.   (collision-1)

use crate::model::{Hull, Shape};
use crate::spatial::{Sym3, Vec3, vec3};

/// The sharp part of a convex shape, in its own frame.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Core<'a> {
    /// The origin. Atom 0.
    Point,
    /// From −z (atom 0) to +z (atom 1).
    Segment { half: f64 },
    /// Corners are atoms: bit 0 set for +x, bit 1 for +y, bit 2 for +z.
    Box { half: Vec3 },
    /// Rims are atoms: bottom 0, top 1. Points fixed to the caps: [`cap_atom`].
    Cylinder { radius: f64, half: f64 },
    /// Apex at +z is atom 0, the rim of the base at −z is atom 1. Points fixed to the base: [`cap_atom`].
    Cone { radius: f64, half: f64 },
    /// Atom 0.
    Ellipsoid { radii: Vec3 },
    /// Vertices are atoms.
    Hull(&'a Hull),
    /// A triangle (corners 0, 1, 2) and its copy below the ground (3, 4, 5): a piece of terrain.
    Prism(&'a [Vec3; 6]),
    /// The half-space below z = 0: atoms are its origin and the points one meter along x and y. It has no support point;
    /// the narrow phase treats it apart.
    Plane,
}

/// A convex shape: all points nearer than `radius` to the core.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Convex<'a> {
    pub core: Core<'a>,
    pub radius: f64,
}

/// The narrow phase's view of a shape.
#[inline(always)]
pub(crate) fn convex<'a>(shape: Shape, hull: impl FnOnce() -> Option<&'a Hull>) -> Convex<'a> {
    let (core, radius) = match shape {
        Shape::Plane => (Core::Plane, 0.0),
        Shape::Sphere { radius } => (Core::Point, radius),
        Shape::Capsule { radius, half_length } => (Core::Segment { half: half_length }, radius),
        Shape::Cylinder { radius, half_length } => (Core::Cylinder { radius, half: half_length }, 0.0),
        Shape::Cone { radius, half_length } => (Core::Cone { radius, half: half_length }, 0.0),
        Shape::Box { half_size } => (Core::Box { half: half_size }, 0.0),
        Shape::Ellipsoid { radii } => (Core::Ellipsoid { radii }, 0.0),
        Shape::Mesh { .. } => (hull().map_or(Core::Point, Core::Hull), 0.0),
        // ground is looked at triangle by triangle
        Shape::HeightField { .. } | Shape::Terrain { .. } => (Core::Point, 0.0),
    };
    Convex { core, radius }
}

/// Points of a cap that move with the body are numbered by eighths of a turn: bottom 8 … 15, top 16 … 23.
const CAP_BOTTOM: u32 = 8;
const CAP_TOP: u32 = 16;
const EIGHTHS: [[f64; 2]; 8] = {
    const H: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [[1.0, 0.0], [H, H], [0.0, 1.0], [-H, H], [-1.0, 0.0], [-H, -H], [0.0, -1.0], [H, -H]]
};

/// Angle from the axis within which a cap may touch (rad).
const NEAR_CAP: f64 = 0.1;

/// The atom of the point fixed to a cap at `eighth` eighths of a turn.
pub(crate) const fn cap_atom(top: bool, eighth: u32) -> u32 {
    eighth % 8 + if top { CAP_TOP } else { CAP_BOTTOM }
}

/// The cap and the unit direction of a cap atom; `None` for the others.
fn cap_point(atom: u32) -> Option<(f64, [f64; 2])> {
    match atom {
        CAP_BOTTOM..CAP_TOP => Some((-1.0, EIGHTHS[(atom - CAP_BOTTOM) as usize])),
        CAP_TOP..24 => Some((1.0, EIGHTHS[(atom - CAP_TOP) as usize])),
        _ => None,
    }
}

/// Unit vector of the part of `d` in the xy-plane, and the length of that part.
#[inline(always)]
fn radial(d: Vec3) -> ([f64; 2], f64) {
    let length = (d.x * d.x + d.y * d.y).sqrt();
    let k = 1.0 / length;
    if length > 0.0 { ([d.x * k, d.y * k], length) } else { ([1.0, 0.0], 0.0) }
}

#[inline(always)]
fn rim(radius: f64, z: f64, d: Vec3) -> Vec3 {
    let (u, _) = radial(d);
    vec3(radius * u[0], radius * u[1], z)
}

impl Core<'_> {
    /// The farthest point in direction `d` (any length) and its atom; ties go to the lower number. `start` is where a
    /// search over the vertices of a large hull begins.
    #[inline(always)]
    pub fn support(&self, d: Vec3, start: u32) -> (Vec3, u32) {
        match *self {
            Core::Point | Core::Plane => (Vec3::ZERO, 0),
            Core::Segment { half } => {
                let top = d.z > 0.0;
                (vec3(0.0, 0.0, if top { half } else { -half }), top as u32)
            }
            Core::Box { half } => {
                let (x, y, z) = (d.x > 0.0, d.y > 0.0, d.z > 0.0);
                let sign = |up: bool, h: f64| if up { h } else { -h };
                (vec3(sign(x, half.x), sign(y, half.y), sign(z, half.z)), x as u32 | (y as u32) << 1 | (z as u32) << 2)
            }
            Core::Cylinder { radius, half } => {
                let top = d.z > 0.0;
                (rim(radius, if top { half } else { -half }, d), top as u32)
            }
            Core::Cone { radius, half } => {
                let flat = (d.x * d.x + d.y * d.y).sqrt();
                if 2.0 * half * d.z >= radius * flat {
                    (vec3(0.0, 0.0, half), 0)
                } else if flat > 0.0 {
                    let k = radius / flat;
                    (vec3(k * d.x, k * d.y, -half), 1)
                } else {
                    (vec3(radius, 0.0, -half), 1)
                }
            }
            Core::Ellipsoid { radii } => (ellipsoid(radii, d), 0),
            Core::Hull(hull) => hull.support(d, start),
            Core::Prism(corners) => {
                let mut best = (corners[0].dot(d), 0);
                for (k, c) in corners.iter().enumerate().skip(1) {
                    let height = c.dot(d);
                    if height > best.0 {
                        best = (height, k);
                    }
                }
                (corners[best.1], best.1 as u32)
            }
        }
    }

    /// The point of an atom that is farthest in direction `d`.
    #[inline(always)]
    pub fn atom(&self, atom: u32, d: Vec3) -> Vec3 {
        match *self {
            Core::Point => Vec3::ZERO,
            Core::Plane => [Vec3::ZERO, Vec3::UNITS[0], Vec3::UNITS[1]][atom.min(2) as usize],
            Core::Segment { half } => vec3(0.0, 0.0, if atom == 1 { half } else { -half }),
            Core::Box { half } => {
                let sign = |bit: u32, h: f64| if atom & bit != 0 { h } else { -h };
                vec3(sign(1, half.x), sign(2, half.y), sign(4, half.z))
            }
            Core::Cylinder { radius, half } => match cap_point(atom) {
                Some((side, u)) => vec3(radius * u[0], radius * u[1], side * half),
                None => rim(radius, if atom == 1 { half } else { -half }, d),
            },
            Core::Cone { radius, half } => match cap_point(atom) {
                Some((side, u)) => vec3(radius * u[0], radius * u[1], side * half),
                None if atom == 0 => vec3(0.0, 0.0, half),
                None => rim(radius, -half, d),
            },
            Core::Ellipsoid { radii } => ellipsoid(radii, d),
            Core::Hull(hull) => hull.vertices[atom as usize],
            Core::Prism(corners) => corners[atom as usize],
        }
    }

    /// Whether an atom's point moves over the shape when the direction turns.
    #[inline(always)]
    pub fn is_curved(&self, atom: u32) -> bool {
        match self {
            Core::Cylinder { .. } => atom < 2,
            Core::Cone { .. } => atom == 1,
            Core::Ellipsoid { .. } => true,
            _ => false,
        }
    }

    /// Whether an atom is a point fixed to a cap.
    #[inline(always)]
    pub fn is_cap_atom(&self, atom: u32) -> bool {
        matches!(self, Core::Cylinder { .. } | Core::Cone { .. }) && atom >= CAP_BOTTOM
    }

    /// Which cap (top or not) faces nearly along the unit direction `d`.
    #[inline(always)]
    pub fn cap(&self, d: Vec3) -> Option<bool> {
        let capped = match self {
            Core::Cylinder { .. } => true,
            Core::Cone { .. } => d.z < 0.0,
            _ => false,
        };
        (capped && d.x * d.x + d.y * d.y < NEAR_CAP * NEAR_CAP).then_some(d.z > 0.0)
    }

    /// Whether the shape has curved atoms.
    pub fn has_curves(&self) -> bool {
        matches!(self, Core::Cylinder { .. } | Core::Cone { .. } | Core::Ellipsoid { .. })
    }

    /// Derivative of an atom's point with respect to the unit direction `d`: the Hessian of its support function, the
    /// tensor of radii of curvature.   (collision-2)
    pub fn hessian(&self, atom: u32, d: Vec3) -> Sym3 {
        match *self {
            Core::Cylinder { radius, .. } | Core::Cone { radius, .. } if self.is_curved(atom) => {
                let (u, flat) = radial(d);
                let k = if flat > 0.0 { radius / flat } else { 0.0 };
                Sym3 { xx: k * u[1] * u[1], xy: -k * u[0] * u[1], yy: k * u[0] * u[0], ..Sym3::ZERO }
            }
            Core::Ellipsoid { radii } => {
                let a = vec3(radii.x * radii.x, radii.y * radii.y, radii.z * radii.z);
                let ad = vec3(a.x * d.x, a.y * d.y, a.z * d.z);
                let h = d.dot(ad).sqrt();
                let (k, k3) = (1.0 / h, 1.0 / (h * h * h));
                Sym3 {
                    xx: a.x * k - ad.x * ad.x * k3,
                    xy: -ad.x * ad.y * k3,
                    yy: a.y * k - ad.y * ad.y * k3,
                    xz: -ad.x * ad.z * k3,
                    yz: -ad.y * ad.z * k3,
                    zz: a.z * k - ad.z * ad.z * k3,
                }
            }
            _ => Sym3::ZERO,
        }
    }

    /// The point of a curved atom that is farthest along the unit vector `d`, and its curvatures on two tangents s, t:
    /// ss, st, tt of the [`Core::hessian`].
    #[inline(always)]
    pub fn curved_atom(&self, atom: u32, d: Vec3, [s, t]: [Vec3; 2]) -> (Vec3, [f64; 3]) {
        match *self {
            Core::Cylinder { radius, .. } | Core::Cone { radius, .. } => {
                let flat = (d.x * d.x + d.y * d.y).sqrt();
                let k = if flat > 0.0 { 1.0 / flat } else { 0.0 };
                let u = if flat > 0.0 { [d.x * k, d.y * k] } else { [1.0, 0.0] };
                let (us, ut) = (u[0] * s.y - u[1] * s.x, u[0] * t.y - u[1] * t.x);
                let z = match *self {
                    Core::Cylinder { half, .. } if atom == 1 => half,
                    Core::Cylinder { half, .. } | Core::Cone { half, .. } => -half,
                    _ => 0.0,
                };
                let c = radius * k;
                (vec3(radius * u[0], radius * u[1], z), [c * us * us, c * us * ut, c * ut * ut])
            }
            Core::Ellipsoid { radii } => {
                let scale = |v: Vec3| vec3(radii.x * v.x, radii.y * v.y, radii.z * v.z);
                let (rd, rs, rt) = (scale(d), scale(s), scale(t));
                let k = 1.0 / rd.norm();
                let u = rd * k;
                let (us, ut) = (u.dot(rs), u.dot(rt));
                (scale(u), [k * (rs.dot(rs) - us * us), k * (rs.dot(rt) - us * ut), k * (rt.dot(rt) - ut * ut)])
            }
            _ => (self.atom(atom, d), [0.0; 3]),
        }
    }

    /// The fraction s/‖B‖ of a curved atom, whose support function is s = ‖B d‖ and a linear part: by how much the direction
    /// may lean before half of the curvature can be lost. Infinite for an atom that is not curved.
    pub fn roundness(&self, atom: u32, d: Vec3) -> f64 {
        match *self {
            Core::Cylinder { .. } | Core::Cone { .. } if self.is_curved(atom) => (d.x * d.x + d.y * d.y).sqrt(),
            Core::Ellipsoid { radii } => {
                vec3(radii.x * d.x, radii.y * d.y, radii.z * d.z).norm() / radii.x.max(radii.y).max(radii.z)
            }
            _ => f64::INFINITY,
        }
    }

    /// Distance from the origin beyond which the core has no point: a measure of its size.
    pub fn size(&self) -> f64 {
        match *self {
            Core::Point | Core::Plane => 0.0,
            Core::Segment { half } => half,
            Core::Box { half } => half.norm(),
            Core::Cylinder { radius, half } | Core::Cone { radius, half } => (radius * radius + half * half).sqrt(),
            Core::Ellipsoid { radii } => radii.x.max(radii.y).max(radii.z),
            Core::Hull(hull) => hull.size,
            Core::Prism(corners) => corners.iter().map(|c| c.norm()).fold(0.0, f64::max),
        }
    }
}

/// Farthest point of an ellipsoid: A d / √(dᵀ A d) with A = diag(radii²).
#[inline(always)]
fn ellipsoid(radii: Vec3, d: Vec3) -> Vec3 {
    // scaled by the largest component first: a direction may have any length
    let s = vec3(radii.x * d.x, radii.y * d.y, radii.z * d.z);
    let norm = s.norm();
    if norm > 0.0 {
        let k = 1.0 / norm;
        vec3(radii.x * s.x * k, radii.y * s.y * k, radii.z * s.z * k)
    } else {
        vec3(0.0, 0.0, radii.z)
    }
}
