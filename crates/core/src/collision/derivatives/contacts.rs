//! Derivatives of the contacts of a model, under one option.

use super::randomized::{Sampling, first, zeroth};
use super::sizes::shape_derivatives;
use super::{CollisionError, PointDerivatives, frozen, point_derivatives, smoothed_derivatives};
use crate::collision::contact::{Contact, Patch, PointKind};
use crate::collision::contact_set::ContactSet;
use crate::collision::detect::{offset, shape_of};
use crate::collision::narrow::epa::Polytope;
use crate::collision::narrow::{Warm, witness};
use crate::collision::pair::shape_pair;
use crate::collision::patch::{nearest, patch};
use crate::collision::query::model::geom_pose;
use crate::collision::shape::{Convex, Core};
use crate::collision::terrain::Terrain;
use crate::error::InputError;
use crate::model::{CollisionGradient, Model, Order, ParameterGroup, Shape};
use crate::spatial::{Pose, Vec3};

/// Derivatives of a contact with respect to one size of one of its shapes, in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SizeDerivative {
    /// Of the unit normal (1/m).
    pub normal: Vec3,
    /// Of the contact point.
    pub point: Vec3,
    /// Of the signed distance.
    pub distance: f64,
}

/// A contact with its shapes, in world axes and relative to the contact point.
struct LocalContact<'m> {
    contact: Contact,
    shapes: [Convex<'m>; 2],
    poses: [Pose; 2],
}

/// `prism` is memory for a piece of ground.
fn local<'m>(
    model: &'m Model,
    X_wb: &[Pose],
    set: &ContactSet,
    contact: usize,
    prism: &'m mut [Vec3; 6],
) -> Result<LocalContact<'m>, InputError> {
    let count = set.contacts().len();
    let found = set.contacts().get(contact).ok_or(InputError::OutOfRange { what: "contact", count, got: contact })?;
    let [a, b] = found.geoms;
    let mut shapes = [shape_of(model, a), shape_of(model, b)];
    let mut poses = [geom_pose(model, X_wb, a)?, geom_pose(model, X_wb, b)?];
    for pose in &mut poses {
        pose.position -= found.point;
    }
    let triangle = set.triangle(model, found);
    if let Some((which, t)) = triangle
        && let Some(terrain) = Terrain::of(model, found.geoms[which])
    {
        *prism = terrain.prism(t, 1.0); // only the triangle itself touches
        shapes[which] = Convex { core: Core::Prism(prism), radius: 0.0 };
    }
    Ok(LocalContact { contact: *found, shapes, poses })
}

/// Derivatives of a contact of the last search with respect to the twists of its two bodies.
pub fn contact_derivatives(
    model: &Model,
    X_wb: &[Pose],
    set: &mut ContactSet,
    contact: usize,
    mode: &CollisionGradient,
) -> Result<PointDerivatives, CollisionError> {
    mode.check()?;
    let mut prism = [Vec3::ZERO; 6];
    let LocalContact { contact: c, shapes, poses } = local(model, X_wb, set, contact, &mut prism)?;
    let sides = set.touches[c.witness as usize];
    match *mode {
        CollisionGradient::Exact => point_derivatives(&shapes, &poses, c.normal(), &sides, &c.kind),
        CollisionGradient::Smoothed { eps } => smoothed_derivatives(&shapes, &poses, c.normal(), &sides, &c.kind, eps),
        CollisionGradient::Randomized { sigma, samples, seed, order } => {
            let sampling = Sampling { sigma, samples, seed };
            let limit = model.options().contact_distance + offset(model, &model.pairs()[c.pair]);
            randomized(&c, &shapes, &poses, limit, &sampling, order, &mut set.memory)
        }
        CollisionGradient::Frozen => Ok(frozen(c.normal())),
    }
}

/// Means over random poses of body 2: of the nearest points if the contact is theirs, else of the patch point that lies
/// nearest to it.
fn randomized(
    c: &Contact,
    shapes: &[Convex; 2],
    poses: &[Pose; 2],
    limit: f64,
    sampling: &Sampling,
    order: Order,
    memory: &mut Polytope,
) -> Result<PointDerivatives, CollisionError> {
    let mut displaced = |E: &Pose| -> Option<(Patch, usize, Pose)> {
        let X_w2 = *E * poses[1];
        let pair = shape_pair(shapes[0], &poses[0], shapes[1], &X_w2);
        let w = witness(&pair, f64::INFINITY, &mut Warm::default(), memory)?;
        if c.kind == PointKind::Nearest {
            return Some((nearest(&w), 0, X_w2));
        }
        let found = patch(&pair, &w, limit);
        let away = |k: &usize| poses[0].point(found.points[*k].point).norm();
        let nearest = (0..found.count).min_by(|a, b| away(a).total_cmp(&away(b)))?;
        Some((found, nearest, X_w2))
    };
    let world = |p: &Patch, k: usize| (poses[0].rotation * p.normal, poses[0].point(p.points[k].point));
    let mean = match order {
        Order::Zeroth => zeroth(c.normal(), sampling, |E| displaced(E).map(|(p, k, _)| world(&p, k)))?,
        Order::First => first(c.normal(), sampling, |E| {
            let (p, k, X_w2) = displaced(E)?;
            let (normal, point) = world(&p, k);
            let moved = [poses[0], X_w2].map(|X| Pose { position: X.position - point, ..X });
            let d = point_derivatives(shapes, &moved, normal, &p.sides, &p.points[k].kind).ok()?;
            Some((point, d))
        })?,
    };
    Ok(mean.derivatives)
}

/// Derivatives of a contact of the last search with respect to size `k` of its shape 1 or 2 (`which` = 0 or 1): the
/// entries of the parameter groups `ShapeSize` of the geom, or `MeshScale` of its mesh.
pub fn size_derivative(
    model: &Model,
    X_wb: &[Pose],
    set: &ContactSet,
    contact: usize,
    which: usize,
    k: usize,
) -> Result<SizeDerivative, CollisionError> {
    let mut prism = [Vec3::ZERO; 6];
    let LocalContact { contact: c, shapes, poses } = local(model, X_wb, set, contact, &mut prism)?;
    let geom = *c.geoms.get(which).ok_or(InputError::OutOfRange { what: "shape", count: 2, got: which })?;
    let shape = model.shape(geom);
    let count = if let Shape::Mesh { .. } = shape { 3 } else { shape.n_sizes() };
    if k >= count {
        return Err(InputError::OutOfRange { what: "size", count, got: k }.into());
    }
    let sides = set.touches[c.witness as usize];
    let d = shape_derivatives(&shapes, &poses, c.normal(), &sides, &c.kind, which, k)?;
    // a hull's derivatives are relative to its present form
    let per_scale = match shape {
        Shape::Mesh { mesh } => 1.0 / model.parameters().group(ParameterGroup::MeshScale)[3 * mesh.0 + k],
        _ => 1.0,
    };
    Ok(SizeDerivative { normal: d.normal * per_scale, point: d.point * per_scale, distance: d.distance * per_scale })
}
