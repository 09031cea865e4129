//! All contacts of a model: pairs that may touch, their nearest points, patches, frames.

use super::broadphase::lookahead::{Lookahead, Reaches};
use super::contact::Contact;
use super::contact_set::{ContactSet, NO_GROUND};
use super::frame::frame;
use super::narrow::epa::Polytope;
use super::narrow::{Warm, witness};
use super::pair::shape_pair;
use super::patch::{feature_key, nearest, patch};
use super::shape::{Convex, convex};
use super::terrain::{Terrain, TerrainMemory, TerrainPoint, find_points};
use crate::error::InputError;
use crate::footprint::Footprint;
use crate::model::{GeomId, Model, Pair, Shape};
use crate::spatial::{Pose, Vec3};

/// Finds every contact nearer than the option `contact_distance`; `X_wb` are the poses of the bodies in the world.
pub fn detect(model: &Model, X_wb: &[Pose], set: &mut ContactSet) -> Result<(), InputError> {
    set.structure.check(model, "contact set")?;
    crate::input_check::length("poses of bodies", X_wb.len(), model.n_bodies())?;
    search(model, X_wb, model.options().contact_distance, None, set);
    Ok(())
}

/// Finds every contact that the given velocities can close, whatever its distance, and those of the patches they are part of.
/// (collision-14)
pub(crate) fn detect_ahead(model: &Model, X_wb: &[Pose], ahead: &Lookahead, set: &mut ContactSet) {
    search(model, X_wb, ahead.distance, Some(ahead), set);
}

fn search(model: &Model, X_wb: &[Pose], distance: f64, ahead: Option<&Lookahead>, set: &mut ContactSet) {
    set.distance = distance;
    let near = model.options().contact_distance;
    let ContactSet {
        broad,
        candidates,
        limits,
        warm,
        searched,
        memory,
        contacts,
        touches,
        triangles,
        ground,
        unconverged,
        ..
    } = set;
    contacts.clear();
    touches.clear();
    triangles.clear();
    *unconverged = 0;
    limits.clear();
    broad.candidates(model, X_wb, distance, ahead, candidates);
    let poses = broad.geom_poses();
    let reaches = Reaches { reach: broad.reach(), around: broad.around() };
    for &k in candidates.iter() {
        let pair = &model.pairs()[k as usize];
        let [a, b] = pair.geoms;
        let (offset, X_w1) = (offset(model, pair), &poses[a.0]);
        let limit = ahead.map_or(distance, |ahead| ahead.limit(model, pair, poses, reaches));
        limits.push(limit);
        if model.shape(a).is_terrain() || model.shape(b).is_terrain() {
            on_ground(model, pair, limit.max(near) + offset, poses, memory, ground);
            *unconverged += ground.unconverged;
            for t in &ground.points {
                contacts.push(Contact {
                    pair: k as usize,
                    geoms: pair.geoms,
                    point: t.point,
                    frame: frame(t.normal),
                    distance: t.distance - offset,
                    feature: t.feature(),
                    witness: touches.len() as u32,
                    kind: t.kind,
                });
                touches.push(t.sides);
                triangles.push(t.triangle);
            }
            continue;
        }
        let shapes = shape_pair(shape_of(model, a), X_w1, shape_of(model, b), &poses[b.0]);
        let known = warm[k as usize] != Warm::default();
        let found = witness(&shapes, limit + offset, &mut warm[k as usize], memory);
        if !known && warm[k as usize] != Warm::default() {
            searched.push(k);
        }
        let Some(w) = found else { continue };
        *unconverged += !w.converged as usize;
        let found = if pair.single_point { nearest(&w) } else { patch(&shapes, &w, limit.max(near) + offset) };
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
        triangles.push(NO_GROUND);
    }
    set.growths.watch(set.room());
}

/// Points of a shape on the ground, in world axes, with the geoms in the order of the pair; `memory.points` holds them.
pub(super) fn on_ground(
    model: &Model,
    pair: &Pair,
    limit: f64,
    poses: &[Pose],
    polytope: &mut Polytope,
    memory: &mut TerrainMemory,
) {
    let poses = pair.geoms.map(|g| poses[g.0]);
    on_ground_at(model, pair.geoms, pair.single_point, limit, poses, polytope, memory);
}

/// As [`on_ground`], with the poses of the two geoms only.
pub(super) fn on_ground_at(
    model: &Model,
    geoms: [GeomId; 2],
    single: bool,
    limit: f64,
    poses: [Pose; 2],
    polytope: &mut Polytope,
    memory: &mut TerrainMemory,
) {
    memory.points.clear();
    memory.unconverged = 0;
    let swapped = !model.shape(geoms[0]).is_terrain();
    let [ground, other] = if swapped { [1, 0] } else { [0, 1] };
    let s = geoms[other];
    let (Some(terrain), false) = (Terrain::of(model, geoms[ground]), model.shape(s).is_terrain()) else { return };
    let (shape, [X_wg, X_ws]) = (shape_of(model, s), [poses[ground], poses[other]]);
    let X_gs = shape_pair(shape, &X_wg, shape, &X_ws).X_12;
    find_points(terrain, &shape, &X_gs, limit, single, polytope, memory);
    for t in &mut memory.points {
        let turn = |v: Vec3| X_wg.rotation * v;
        let (point, normal) = (X_ws.position + turn(t.point), turn(t.normal));
        let world = TerrainPoint { point, normal, ..*t };
        *t = if swapped { world.swapped() } else { world };
    }
}

/// Distance by which the surfaces of a pair lie outside their shapes (m).
#[inline(always)]
pub(super) fn offset(model: &Model, pair: &Pair) -> f64 {
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
