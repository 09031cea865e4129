//! All contacts of a model: pairs that may touch, their nearest points, patches, frames.

use super::broadphase::Broadphase;
use super::contact::Contact;
use super::epa::Polytope;
use super::frame::frame;
use super::narrow::{Warm, witness};
use super::patch::{feature_key, nearest, patch};
use super::query::{ClosestPoints, RayHit, cast, check_ray, convex, in_world, shape_pair, two_planes};
use super::shape::Convex;
use super::witness::{ShapePair, Side};
use crate::error::InputError;
use crate::model::{GeomId, Model, Pair, Shape, StructureId};
use crate::spatial::{Pose, Vec3};

/// The contacts of a model at one configuration, and the memory of the search for them.
#[derive(Debug, Clone)]
pub struct ContactSet {
    structure: StructureId,
    broad: Broadphase,
    candidates: Vec<u32>,
    /// Per pair: where the last search ended. It makes the next one sooner, not different.
    warm: Vec<Warm>,
    pub(super) memory: Polytope,
    contacts: Vec<Contact>,
    /// Per patch: what touches.
    pub(super) touches: Vec<[Side; 2]>,
    unconverged: usize,
    growths: usize,
}

/// Contacts for which there is room from the start.
const ROOM: usize = 64;

impl ContactSet {
    /// Memory for the contacts of a model.
    pub fn new(model: &Model) -> ContactSet {
        let n = model.pairs().len();
        ContactSet {
            structure: model.structure_id(),
            broad: Broadphase::new(model),
            candidates: Vec::with_capacity(n),
            warm: vec![Warm::default(); n],
            memory: Polytope::new(),
            contacts: Vec::with_capacity(ROOM),
            touches: Vec::with_capacity(ROOM),
            unconverged: 0,
            growths: 0,
        }
    }

    /// Contacts of the last search, by rising number of their pairs.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// How many pairs of the last search ended at the iteration limit, with the best answer found.
    pub fn unconverged(&self) -> usize {
        self.unconverged
    }

    /// How often the memory had to grow since it was made.
    pub fn growths(&self) -> usize {
        self.growths
    }

    /// Drops what was remembered of earlier searches.
    pub fn forget(&mut self) {
        self.warm.fill(Warm::default());
    }
}

/// Finds every contact nearer than the option `contact_distance`; `X_wb` are the poses of the bodies in the world.
pub fn detect(model: &Model, X_wb: &[Pose], set: &mut ContactSet) -> Result<(), InputError> {
    set.structure.check(model, "contact set")?;
    crate::check::length("poses of bodies", X_wb.len(), model.n_bodies())?;
    let room = (set.contacts.capacity(), set.touches.capacity());
    let limit = model.options().contact_distance;
    let ContactSet { broad, candidates, warm, memory, contacts, touches, unconverged, .. } = set;
    contacts.clear();
    touches.clear();
    *unconverged = 0;
    broad.candidates(model, X_wb, limit, candidates);
    let poses = broad.geom_poses();
    for &k in candidates.iter() {
        let pair = &model.pairs()[k as usize];
        let [a, b] = pair.geoms;
        let (offset, X_w1) = (offset(model, pair), &poses[a.0]);
        let shapes = shape_pair(shape_of(model, a), X_w1, shape_of(model, b), &poses[b.0]);
        let Some(w) = witness(&shapes, limit + offset, &mut warm[k as usize], memory) else { continue };
        *unconverged += !w.converged as usize;
        let found = if pair.single_point { nearest(&w) } else { patch(&shapes, &w, limit + offset) };
        let axes = frame(X_w1.rotation * found.normal);
        for p in &found.points[..found.count] {
            contacts.push(Contact {
                pair: k as usize,
                geoms: pair.geoms,
                point: X_w1.point(p.point),
                frame: axes,
                distance: p.distance - offset,
                feature: feature_key(&p.kind, &found.sides),
                witness: touches.len() as u32,
                kind: p.kind,
            });
        }
        touches.push(found.sides);
    }
    set.growths += (room != (set.contacts.capacity(), set.touches.capacity())) as usize;
    Ok(())
}

/// Distance by which the surfaces of a pair lie outside their shapes (m).
#[inline(always)]
fn offset(model: &Model, pair: &Pair) -> f64 {
    let own = |g: GeomId| model.geoms()[g.0].surface.offset;
    pair.surface.map_or_else(|| own(pair.geoms[0]) + own(pair.geoms[1]), |s| s.offset)
}

#[inline(always)]
pub(super) fn shape_of(model: &Model, geom: GeomId) -> Convex<'_> {
    let shape = model.shape(geom);
    convex(shape, || match shape {
        Shape::Mesh { mesh } => Some(model.hull(mesh)),
        _ => None,
    })
}

fn geom_pose(model: &Model, X_wb: &[Pose], geom: GeomId) -> Result<Pose, InputError> {
    crate::check::length("poses of bodies", X_wb.len(), model.n_bodies())?;
    let count = model.geoms().len();
    let found = model.geoms().get(geom.0).ok_or(InputError::OutOfRange { what: "geom", count, got: geom.0 })?;
    Ok(X_wb[found.body.0] * found.pose)
}

/// Two geoms of a model in the frame of the first, and that frame in the world.
pub(super) fn geom_pair<'m>(
    model: &'m Model,
    X_wb: &[Pose],
    [a, b]: [GeomId; 2],
) -> Result<(ShapePair<'m>, [Pose; 2]), InputError> {
    let poses = [geom_pose(model, X_wb, a)?, geom_pose(model, X_wb, b)?];
    Ok((shape_pair(shape_of(model, a), &poses[0], shape_of(model, b), &poses[1]), poses))
}

/// Nearest points of two geoms of a model (offsets of their surfaces are left out).
pub fn geom_distance(model: &Model, X_wb: &[Pose], a: GeomId, b: GeomId) -> Result<ClosestPoints, InputError> {
    let (pair, poses) = geom_pair(model, X_wb, [a, b])?;
    let found = witness(&pair, f64::INFINITY, &mut Warm::default(), &mut Polytope::new());
    found.map(|w| in_world(&w, &poses[0])).ok_or_else(two_planes)
}

/// The first geom of a model that a ray meets within `max_distance`.
pub fn raycast_model(
    model: &Model,
    X_wb: &[Pose],
    origin: Vec3,
    direction: Vec3,
    max_distance: f64,
) -> Result<Option<(GeomId, RayHit)>, InputError> {
    let direction = check_ray(origin, direction, max_distance)?;
    let mut first: Option<(GeomId, RayHit)> = None;
    for k in (0..model.geoms().len()).map(GeomId) {
        let pose = geom_pose(model, X_wb, k)?;
        let reach = first.map_or(max_distance, |(_, hit)| hit.distance);
        if let Some(hit) = cast(&shape_of(model, k), &pose, origin, direction, reach)
            && first.is_none_or(|(_, best)| hit.distance < best.distance)
        {
            first = Some((k, hit));
        }
    }
    Ok(first)
}

/// Numbers of the pairs of moving geoms that are nearer than `distance`. Pairs with a plane fixed to the world are not
/// among them.
pub fn near_pairs(model: &Model, X_wb: &[Pose], distance: f64) -> Result<Vec<usize>, InputError> {
    let mut near = Vec::new();
    for (k, pair) in model.pairs().iter().enumerate() {
        let is_plane = |g: GeomId| model.shape(g) == Shape::Plane;
        if !pair.geoms.into_iter().any(is_plane) {
            let found = geom_distance(model, X_wb, pair.geoms[0], pair.geoms[1])?;
            if found.distance < distance {
                near.push(k);
            }
        }
    }
    Ok(near)
}
