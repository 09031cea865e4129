//! The contacts of a trajectory as arrays: a row per contact, and where those of each step end.

use super::error::Fault;
use super::npy::{ArrayReader, ArrayWriter};
use super::npz::places;
use slipstick_core::model::{BodyId, GeomId};
use slipstick_core::spatial::{Mat3, Vec3};
use slipstick_core::step::ContactView;
use slipstick_core::{Mode, Model};
use std::io::{self, Write};

/// Contacts of all steps one after the other, and where those of each step end.
pub(super) type Kept = (Vec<ContactView>, Vec<usize>);

/// The array that is there if contacts were kept.
const ENDS: &str = "contact_ends";

/// Arrays `contact_ends` (per step), `contact_geoms`, `contact_bodies`, `contact_point`, `contact_frame` (by columns),
/// `contact_impulse`, `contact_velocity`, `contact_distance`, `contact_friction`, `contact_compliance`, `contact_margin`,
/// `contact_feature` (its upper and its lower half) and `contact_mode` (numbers of the words in `mode_names`).
pub(super) fn write<W: Write>((views, ends): &Kept, out: &mut ArrayWriter<W>) -> io::Result<()> {
    let n = views.len();
    out.integers(ENDS, &[ends.len()], ends)?;
    out.integers("contact_geoms", &[n, 2], &views.iter().flat_map(|c| c.geoms.map(|g| g.0)).collect::<Vec<_>>())?;
    out.integers("contact_bodies", &[n, 2], &views.iter().flat_map(|c| c.bodies.map(|b| b.0)).collect::<Vec<_>>())?;
    let vectors = |of: fn(&ContactView) -> Vec3| views.iter().flat_map(|c| of(c).to_array()).collect::<Vec<_>>();
    out.floats("contact_point", &[n, 3], &vectors(|c| c.point))?;
    let frames = views.iter().flat_map(|c| c.frame.c).flat_map(Vec3::to_array);
    out.floats("contact_frame", &[n, 3, 3], &frames.collect::<Vec<_>>())?;
    out.floats("contact_impulse", &[n, 3], &vectors(|c| c.impulse))?;
    out.floats("contact_velocity", &[n, 3], &vectors(|c| c.velocity))?;
    let numbers = |of: fn(&ContactView) -> f64| views.iter().map(of).collect::<Vec<_>>();
    out.floats("contact_distance", &[n], &numbers(|c| c.distance))?;
    out.floats("contact_friction", &[n], &numbers(|c| c.friction))?;
    out.floats("contact_compliance", &[n], &numbers(|c| c.compliance))?;
    out.floats("contact_margin", &[n], &numbers(|c| c.margin))?;
    let halves = views.iter().flat_map(|c| [c.feature >> 32, c.feature & HALF]).map(|half| half as usize);
    out.integers("contact_feature", &[n, 2], &halves.collect::<Vec<_>>())?;
    out.integers("contact_mode", &[n], &places(&views.iter().map(|c| c.mode).collect::<Vec<_>>(), &Mode::ALL))?;
    out.words("mode_names", &Mode::ALL.map(Mode::name), false)
}

/// Half of the bits of a feature: they would not fit into one integer with a sign.
const HALF: u64 = 0xffff_ffff;

/// Contacts and ends; `None` if they were not kept.
pub(super) fn read(model: &Model, arrays: &ArrayReader, steps: usize) -> Result<Option<Kept>, Fault> {
    if !arrays.has(ENDS) {
        return Ok(None);
    }
    let n = arrays.length("contact_mode")?;
    let ends = arrays.integers(ENDS, &[steps], n)?;
    if !ends.is_sorted() || ends.last().copied().unwrap_or(0) != n {
        return Err(Fault::new(ENDS, format!("rising numbers up to {n}"), "others"));
    }
    let last = |count: usize| count.saturating_sub(1);
    let geoms = pairs(arrays.integers("contact_geoms", &[n, 2], last(model.geoms().len()))?);
    let bodies = pairs(arrays.integers("contact_bodies", &[n, 2], last(model.n_bodies()))?);
    let features = pairs(arrays.integers("contact_feature", &[n, 2], HALF as usize)?);
    let vectors = |name: &str, shape: &[usize]| -> Result<Vec<Vec3>, Fault> {
        Ok(arrays.floats(name, shape)?.as_chunks::<3>().0.iter().map(|x| Vec3::from_slice(x)).collect())
    };
    let point = vectors("contact_point", &[n, 3])?;
    let frame = vectors("contact_frame", &[n, 3, 3])?;
    let (impulse, velocity) = (vectors("contact_impulse", &[n, 3])?, vectors("contact_velocity", &[n, 3])?);
    let (distance, friction) = (arrays.floats("contact_distance", &[n])?, arrays.floats("contact_friction", &[n])?);
    let (compliance, margin) = (arrays.floats("contact_compliance", &[n])?, arrays.floats("contact_margin", &[n])?);
    let modes = super::load::words_of(arrays, "contact_mode", "mode_names", n, |w| {
        Mode::ALL.into_iter().find(|m| m.name() == w)
    })?;
    let view = |k: usize| {
        let [x, y, z] = [frame[3 * k], frame[3 * k + 1], frame[3 * k + 2]];
        let frame = Mat3::from_columns(x, y, z);
        let mut c = ContactView::new(geoms[k].map(GeomId), bodies[k].map(BodyId), point[k], frame);
        (c.impulse, c.velocity, c.mode) = (impulse[k], velocity[k], modes[k]);
        (c.distance, c.friction, c.compliance, c.margin) = (distance[k], friction[k], compliance[k], margin[k]);
        c.feature = (features[k][0] as u64) << 32 | features[k][1] as u64;
        c
    };
    Ok(Some(((0..n).map(view).collect(), ends)))
}

fn pairs(x: Vec<usize>) -> Vec<[usize; 2]> {
    x.as_chunks().0.to_vec()
}
