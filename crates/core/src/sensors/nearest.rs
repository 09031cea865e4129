//! Distance sensors: the nearest points of two sets of geoms, and their derivatives.   (sens-15)
#![allow(non_snake_case)]

use super::adjoint::{PointCotangent, SensorAdjoint};
use super::{Snapshot, geom_set};
use crate::collision::{NearestPair, PairSearch, nearest_derivatives, nearest_growth};
use crate::gradient::{GradientError, StepRecord, contact_error, sizes_in_group};
use crate::model::{GeomSet, ParameterGroup, Quantity, Sensor, SensorObject};
use crate::spatial::Vec3;

/// The two geoms that are nearest to each other, if they are nearer than the cutoff; the first of several that are equally near.
fn nearest(m: &Snapshot, search: &mut PairSearch, sets: [GeomSet; 2], cutoff: f64) -> Option<NearestPair> {
    let (mut limit, mut best) = (cutoff, None);
    for a in geom_set::members(m.model, sets[0]) {
        for b in geom_set::members(m.model, sets[1]) {
            let found = search.nearest(m.model, &m.kin.X_wb, [a, b], limit.max(0.0));
            if let Some(pair) = found.filter(|pair| pair.distance < limit) {
                (limit, best) = (pair.distance, Some(pair));
            }
        }
    }
    best
}

fn nearest_of(m: &Snapshot, search: &mut PairSearch, s: &Sensor) -> Option<NearestPair> {
    let SensorObject::Geoms(sets) = s.object else { return None };
    nearest(m, search, sets, s.cutoff)
}

/// Writes the numbers of a distance sensor.
pub(super) fn read(m: &Snapshot, search: &mut PairSearch, s: &Sensor, out: &mut [f64]) {
    out.fill(0.0);
    let found = nearest_of(m, search, s);
    match (s.quantity, found) {
        (Quantity::Distance, found) => out[0] = found.map_or(s.cutoff, |pair| pair.distance),
        (_, None) => {}
        (Quantity::Normal, Some(pair)) => out.copy_from_slice(&(pair.normal * side(&pair)).to_array()),
        (_, Some(pair)) => {
            out[..3].copy_from_slice(&pair.points[0].to_array());
            out[3..].copy_from_slice(&pair.points[1].to_array());
        }
    }
}

/// The direction from the first point to the second is against the normal where they overlap.
fn side(pair: &NearestPair) -> f64 {
    if pair.distance == 0.0 { 0.0 } else { pair.distance.signum() }
}

/// Weights of middle, normal and distance of the nearest points.
fn cotangent(quantity: Quantity, pair: &NearestPair, weights: &[f64]) -> PointCotangent {
    match quantity {
        Quantity::Distance => PointCotangent { distance: weights[0], ..PointCotangent::default() },
        Quantity::Normal => {
            PointCotangent { normal: Vec3::from_slice(weights) * side(pair), ..PointCotangent::default() }
        }
        _ => {
            // middle ∓ ½ distance · normal
            let (from, to) = (Vec3::from_slice(weights), Vec3::from_slice(&weights[3..]));
            let apart = (to - from) * 0.5;
            PointCotangent { point: from + to, normal: apart * pair.distance, distance: apart.dot(pair.normal) }
        }
    }
}

/// Adds the gradient of `weights · reading`.
pub(super) fn pull(
    m: &Snapshot,
    search: &mut PairSearch,
    s: &Sensor,
    weights: &[f64],
    out: &mut SensorAdjoint,
) -> Result<(), GradientError> {
    let Some(pair) = nearest_of(m, search, s) else { return Ok(()) };
    let (bodies, by) = (pair.geoms.map(|g| m.model.geoms()[g.0].body), cotangent(s.quantity, &pair, weights));
    if s.quantity == Quantity::Distance {
        // dΦ = n · (v2 − v1), also where the points glide along flat faces
        for (k, sign) in [-1.0, 1.0].into_iter().enumerate() {
            out.add_to_point(bodies[k], pair.points[k] - m.origin(bodies[k]), pair.normal * (sign * by.distance));
        }
        return Ok(());
    }
    let D = nearest_derivatives(m.model, &m.kin.X_wb, &pair, &m.model.options().collision_gradient)
        .map_err(|error| contact_error(m.model, pair.geoms, error))?;
    out.add_contact(bodies, bodies.map(|b| pair.middle() - m.origin(b)), &D, &by);
    Ok(())
}

/// Adds the gradient of `weights · reading` with respect to sizes and scales of the two geoms.
pub(super) fn add_sizes(
    f: &StepRecord,
    search: &mut PairSearch,
    s: &Sensor,
    weights: &[f64],
    group: ParameterGroup,
    out: &mut [f64],
) -> Result<(), GradientError> {
    let m = &Snapshot::of(f);
    let Some(pair) = nearest_of(m, search, s) else { return Ok(()) };
    let by = cotangent(s.quantity, &pair, weights);
    for (which, geom) in pair.geoms.into_iter().enumerate() {
        let (count, first) = sizes_in_group(f, group, geom)?;
        for k in 0..count {
            let size = nearest_growth(m.model, &m.kin.X_wb, &pair, which, k);
            let size = size.map_err(|error| contact_error(m.model, pair.geoms, error))?;
            out[first + k] += by.of_size(&size);
        }
    }
    Ok(())
}
