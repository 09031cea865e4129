//! Queries of the geoms of a model: distances, near pairs.

use super::{ClosestPoints, in_world, two_planes};
use crate::collision::detect::{on_ground, shape_of};
use crate::collision::narrow::epa::Polytope;
use crate::collision::narrow::{Warm, witness};
use crate::collision::pair::{ShapePair, shape_pair};
use crate::collision::terrain::TerrainMemory;
use crate::error::InputError;
use crate::model::{GeomId, Model, Pair, Shape};
use crate::spatial::Pose;

pub(in crate::collision) fn geom_pose(model: &Model, X_wb: &[Pose], geom: GeomId) -> Result<Pose, InputError> {
    crate::input_check::length("poses of bodies", X_wb.len(), model.n_bodies())?;
    let count = model.geoms().len();
    let found = model.geoms().get(geom.0).ok_or(InputError::OutOfRange { what: "geom", count, got: geom.0 })?;
    Ok(X_wb[found.body.0] * found.pose)
}

/// Two geoms of a model in the frame of the first, and that frame in the world.
pub(in crate::collision) fn geom_pair<'m>(
    model: &'m Model,
    X_wb: &[Pose],
    [a, b]: [GeomId; 2],
) -> Result<(ShapePair<'m>, [Pose; 2]), InputError> {
    let poses = [geom_pose(model, X_wb, a)?, geom_pose(model, X_wb, b)?];
    Ok((shape_pair(shape_of(model, a), &poses[0], shape_of(model, b), &poses[1]), poses))
}

/// Nearest points of two geoms of a model (without the offsets of their surfaces).
pub fn geom_distance(model: &Model, X_wb: &[Pose], a: GeomId, b: GeomId) -> Result<ClosestPoints, InputError> {
    let (pair, poses) = geom_pair(model, X_wb, [a, b])?;
    if model.shape(a).is_terrain() || model.shape(b).is_terrain() {
        return ground_distance(model, X_wb, [a, b]);
    }
    let found = witness(&pair, f64::INFINITY, &mut Warm::default(), &mut Polytope::empty());
    found.map(|w| in_world(&pair, &w, &poses[0])).ok_or_else(two_planes)
}

fn ground_distance(model: &Model, X_wb: &[Pose], geoms: [GeomId; 2]) -> Result<ClosestPoints, InputError> {
    let poses = (0..model.geoms().len()).map(|k| geom_pose(model, X_wb, GeomId(k))).collect::<Result<Vec<_>, _>>()?;
    let mut memory = TerrainMemory::default();
    let pair = Pair { geoms, surface: None, single_point: true };
    on_ground(model, &pair, f64::INFINITY, &poses, &mut Polytope::empty(), &mut memory);
    let nearest = memory.points.first().ok_or_else(|| InputError::Value {
        what: "geoms that touch ground".into(),
        expected: "one over the ground, not behind or below it, and no plane or other ground",
        got: 0.0,
    })?;
    let half = nearest.normal * (0.5 * nearest.distance);
    Ok(ClosestPoints {
        distance: nearest.distance,
        normal: nearest.normal,
        points: [nearest.point - half, nearest.point + half],
        converged: memory.unconverged == 0,
    })
}

/// Numbers of the pairs of moving geoms that are nearer than `distance`. Pairs with a plane or other ground are not
/// among them.
pub fn near_pairs(model: &Model, X_wb: &[Pose], distance: f64) -> Result<Vec<usize>, InputError> {
    let mut near = Vec::new();
    for (k, pair) in model.pairs().iter().enumerate() {
        let is_floor = |g: GeomId| model.shape(g) == Shape::Plane || model.shape(g).is_terrain();
        if !pair.geoms.into_iter().any(is_floor) {
            let found = geom_distance(model, X_wb, pair.geoms[0], pair.geoms[1])?;
            if found.distance < distance {
                near.push(k);
            }
        }
    }
    Ok(near)
}
