//! Range finders: a ray along the z axis of a frame, what it meets first, and the derivatives.   (sens-14)
#![allow(non_snake_case)]

use super::adjoint::SensorAdjoint;
use super::{Snapshot, links};
use crate::collision::{RayHit, bend, first_hit, growth, turns_with_size};
use crate::gradient::{GradientError, StepRecord, sizes_in_group};
use crate::model::{BodyId, FrameId, GeomId, ParameterGroup, Quantity, RayData};
use crate::spatial::{Pose, Vec3};

/// Cosine of the angle between ray and normal below which a hit has no derivative: the ray grazes.
const GRAZING: f64 = 1e-9;

/// A ray and what it meets.
struct Cast {
    body: BodyId,
    /// The frame that it leaves, in the world.
    pose: Pose,
    hit: Option<(GeomId, RayHit)>,
}

impl Cast {
    fn direction(&self) -> Vec3 {
        self.pose.rotation.c[2]
    }
}

fn cast(m: &Snapshot, id: FrameId) -> Cast {
    let frame = &m.model.frames()[id.0];
    let pose = m.kin.X_wb[frame.body.0] * frame.pose;
    let own = Some(links::link_of(m.model, id));
    let hit = first_hit(m.model, &m.kin.X_wb, pose.position, pose.rotation.c[2], f64::INFINITY, own);
    Cast { body: frame.body, pose, hit }
}

/// Writes the numbers of a range finder.
pub(super) fn read(m: &Snapshot, id: FrameId, data: RayData, out: &mut [f64]) {
    let ray = cast(m, id);
    let distance = ray.hit.map_or(-1.0, |(_, hit)| hit.distance);
    let where_hit = |v: Vec3| if ray.hit.is_some() { v } else { Vec3::ZERO };
    let point = ray.hit.map_or(Vec3::ZERO, |(_, hit)| hit.point);
    let normal = ray.hit.map_or(Vec3::ZERO, |(_, hit)| hit.normal);
    let mut rest = out;
    for (_, kind) in RayData::ALL.into_iter().filter(|(_, kind)| data.contains(*kind)) {
        let (own, others) = core::mem::take(&mut rest).split_at_mut(kind.size());
        match kind {
            RayData::DIRECTION => own.copy_from_slice(&where_hit(ray.direction()).to_array()),
            RayData::ORIGIN => own.copy_from_slice(&ray.pose.position.to_array()),
            RayData::POINT => own.copy_from_slice(&point.to_array()),
            RayData::NORMAL => own.copy_from_slice(&normal.to_array()),
            _ => own[0] = distance,
        }
        rest = others;
    }
}

/// Weights of the numbers of a range finder, by kind; numbers that are not reported have zero.
#[derive(Default)]
struct Weights {
    distance: f64,
    direction: Vec3,
    origin: Vec3,
    point: Vec3,
    normal: Vec3,
}

fn split(what: Quantity, mut weights: &[f64]) -> Weights {
    let mut w = Weights::default();
    let Quantity::RangeFinder(data) = what else { return w };
    for (_, kind) in RayData::ALL.into_iter().filter(|(_, kind)| data.contains(*kind)) {
        let (own, others) = weights.split_at(kind.size());
        match kind {
            RayData::DIRECTION => w.direction = Vec3::from_slice(own),
            RayData::ORIGIN => w.origin = Vec3::from_slice(own),
            RayData::POINT => w.point = Vec3::from_slice(own),
            RayData::NORMAL => w.normal = Vec3::from_slice(own),
            _ => w.distance += own[0],
        }
        weights = others;
    }
    w
}

/// Adds the gradient of `weights · reading`.
pub(super) fn pull(
    m: &Snapshot,
    id: FrameId,
    what: Quantity,
    weights: &[f64],
    out: &mut SensorAdjoint,
) -> Result<(), GradientError> {
    let (ray, w) = (cast(m, id), split(what, weights));
    out.add_to_point(ray.body, ray.pose.position - m.origin(ray.body), w.origin);
    let Some((geom, hit)) = ray.hit else { return Ok(()) };
    let (d, n, body) = (ray.direction(), hit.normal, m.model.geoms()[geom.0].body);
    let arms = [ray.body, body].map(|b| hit.point - m.origin(b));
    out.add_to_rotation(ray.body, d.cross(w.direction));
    // n' = ω × n + S (p' − v), v the surface's velocity at the hit
    let glide = bend(m.model, &m.kin.X_wb, geom, &hit, w.normal);
    out.add_to_rotation(body, n.cross(w.normal));
    out.add_to_point(body, arms[1], -glide);
    // p' = u + d t', u the velocity of the ray's frame at the hit
    let by_point = w.point + glide;
    out.add_to_point(ray.body, arms[0], by_point);
    // t' = n·(v − u) / n·d
    let by_surface = n * per_speed(m, geom, &hit, d, w.distance + by_point.dot(d))?;
    out.add_to_point(body, arms[1], by_surface);
    out.add_to_point(ray.body, arms[0], -by_surface);
    Ok(())
}

/// A weight of the distance as one of the surface's motion along its normal.
fn per_speed(m: &Snapshot, geom: GeomId, hit: &RayHit, d: Vec3, weight: f64) -> Result<f64, GradientError> {
    let speed = hit.normal.dot(d);
    if weight == 0.0 || speed.abs() > GRAZING {
        return Ok(if weight == 0.0 { 0.0 } else { weight / speed });
    }
    let name = &m.model.geoms()[geom.0].name;
    Err(GradientError::Unsupported { what: format!("a range finder whose ray grazes geom '{name}'") })
}

/// Adds the gradient of `weights · reading` with respect to sizes and scales of the geom that is hit.
pub(super) fn add_sizes(
    f: &StepRecord,
    id: FrameId,
    what: Quantity,
    weights: &[f64],
    group: ParameterGroup,
    out: &mut [f64],
) -> Result<(), GradientError> {
    let m = &Snapshot::of(f);
    let (ray, w) = (cast(m, id), split(what, weights));
    let Some((geom, hit)) = ray.hit else { return Ok(()) };
    let (count, first) = sizes_in_group(f, group, geom)?;
    if w.normal != Vec3::ZERO && count > 0 && turns_with_size(m.model, geom) {
        let what = format!("the normal of geom '{}' with respect to its sizes", m.model.geoms()[geom.0].name);
        return Err(GradientError::Unsupported { what });
    }
    let d = ray.direction();
    let by_surface = per_speed(m, geom, &hit, d, w.distance + w.point.dot(d))?;
    for k in 0..count {
        out[first + k] += by_surface * growth(m.model, &m.kin.X_wb, geom, &hit, k);
    }
    Ok(())
}
