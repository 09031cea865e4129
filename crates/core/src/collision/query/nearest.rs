//! The nearest points of two geoms of a model with the features that touch, and their derivatives.

use super::in_world;
use super::model::geom_pair;
use crate::collision::contact::PointKind;
use crate::collision::derivatives::contacts::SizeDerivative;
use crate::collision::derivatives::{
    CollisionError, PointDerivatives, frozen, point_derivatives, shape_derivatives, smoothed_derivatives,
};
use crate::collision::detect::on_ground_at;
use crate::collision::narrow::epa::Polytope;
use crate::collision::narrow::{Warm, witness};
use crate::collision::pair::Side;
use crate::collision::shape::{Convex, Core};
use crate::collision::terrain::{Terrain, TerrainMemory};
use crate::model::{CollisionGradient, GeomId, Model, ParameterGroup, Shape};
use crate::spatial::{Pose, Vec3};

/// Memory of searches: after the first ones nothing is allocated.
#[derive(Debug, Clone)]
pub(crate) struct PairSearch {
    polytope: Polytope,
    ground: TerrainMemory,
}

/// The nearest points of two geoms, in world axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearestPair {
    pub geoms: [GeomId; 2],
    /// Signed distance (m).
    pub distance: f64,
    /// Unit normal from the first to the second.
    pub normal: Vec3,
    /// Points of the two surfaces (m).
    pub points: [Vec3; 2],
    sides: [Side; 2],
    /// Which geom is ground, and which of its triangles is touched.
    triangle: Option<(usize, u32)>,
}

impl PairSearch {
    pub fn new() -> PairSearch {
        PairSearch { polytope: Polytope::new(), ground: TerrainMemory::default() }
    }

    /// The nearest points of two geoms within `limit`. Nothing for two planes, two grounds and the same geom twice.
    pub fn nearest(&mut self, model: &Model, X_wb: &[Pose], geoms: [GeomId; 2], limit: f64) -> Option<NearestPair> {
        let ground = geoms.map(|g| model.shape(g).is_terrain());
        let flat = geoms.map(|g| model.shape(g) == Shape::Plane || model.shape(g).is_terrain());
        if geoms[0] == geoms[1] || flat == [true; 2] {
            return None;
        }
        let (pair, poses) = geom_pair(model, X_wb, geoms).ok()?;
        if ground != [false; 2] {
            let which = usize::from(ground[1]);
            on_ground_at(model, geoms, true, limit, poses, &mut self.polytope, &mut self.ground);
            let t = self.ground.points.first().filter(|t| t.distance <= limit)?;
            let half = t.normal * (0.5 * t.distance);
            let (points, triangle) = ([t.point - half, t.point + half], Some((which, t.triangle)));
            return Some(NearestPair {
                geoms,
                distance: t.distance,
                normal: t.normal,
                points,
                sides: t.sides,
                triangle,
            });
        }
        let w = witness(&pair, limit, &mut Warm::default(), &mut self.polytope)?;
        let found = in_world(&pair, &w, &poses[0]);
        let (distance, normal, points) = (found.distance, found.normal, found.points);
        Some(NearestPair { geoms, distance, normal, points, sides: w.sides, triangle: None })
    }
}

impl NearestPair {
    /// Half-way between the two points.
    pub fn middle(&self) -> Vec3 {
        (self.points[0] + self.points[1]) * 0.5
    }

    /// Calls `go` with the shapes and their poses relative to the middle.
    fn with_shapes<R>(
        &self,
        model: &Model,
        X_wb: &[Pose],
        go: impl FnOnce(&[Convex; 2], &[Pose; 2]) -> Result<R, CollisionError>,
    ) -> Result<R, CollisionError> {
        let (pair, mut poses) = geom_pair(model, X_wb, self.geoms)?;
        let middle = self.middle();
        poses.iter_mut().for_each(|pose| pose.position -= middle);
        let ground = self.triangle.and_then(|(which, t)| Some((which, Terrain::of(model, self.geoms[which])?, t)));
        let Some((which, terrain, t)) = ground else { return go(&pair.shapes, &poses) };
        let prism = terrain.prism(t, 1.0); // only the triangle itself touches
        let triangle = Convex { core: Core::Prism(&prism), radius: 0.0 };
        go(&core::array::from_fn(|k| if k == which { triangle } else { pair.shapes[k] }), &poses)
    }
}

/// Derivatives of the nearest points with respect to the twists of the two bodies; the point is the middle.
pub(crate) fn nearest_derivatives(
    model: &Model,
    X_wb: &[Pose],
    pair: &NearestPair,
    mode: &CollisionGradient,
) -> Result<PointDerivatives, CollisionError> {
    let kind = PointKind::Nearest;
    pair.with_shapes(model, X_wb, |shapes, poses| match *mode {
        CollisionGradient::Smoothed { eps } => {
            smoothed_derivatives(shapes, poses, pair.normal, &pair.sides, &kind, eps)
        }
        CollisionGradient::Frozen => Ok(frozen(pair.normal)),
        // a distance sensor has one pair, not a contact to be averaged
        CollisionGradient::Exact | CollisionGradient::Randomized { .. } => {
            point_derivatives(shapes, poses, pair.normal, &pair.sides, &kind)
        }
    })
}

/// Derivatives of the nearest points with respect to size `k` of geom `which` of the pair, as `size_derivative` has them.
pub(crate) fn nearest_growth(
    model: &Model,
    X_wb: &[Pose],
    pair: &NearestPair,
    which: usize,
    k: usize,
) -> Result<SizeDerivative, CollisionError> {
    let d = pair.with_shapes(model, X_wb, |shapes, poses| {
        shape_derivatives(shapes, poses, pair.normal, &pair.sides, &PointKind::Nearest, which, k)
    })?;
    // a hull's derivatives are relative to its present form
    let per_scale = match model.shape(pair.geoms[which]) {
        Shape::Mesh { mesh } => 1.0 / model.parameters().group(ParameterGroup::MeshScale)[3 * mesh.0 + k],
        _ => 1.0,
    };
    Ok(SizeDerivative { normal: d.normal * per_scale, point: d.point * per_scale, distance: d.distance * per_scale })
}
