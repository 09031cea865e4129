//! Contact sensors: which contacts they report, and the numbers of each.   (sens-17)

use super::touching::Touching;
use super::{Snapshot, geom_set, inside};
use crate::model::{ContactData, ContactReport, GeomSet, Reduce};
use crate::spatial::Vec3;

/// A contact that a sensor sees, from the side that it sees it: +1 as it is, −1 with its geoms exchanged.
pub(super) type Seen<'t> = (usize, &'t Touching, f64);

/// The contacts between two sets of geoms, with their numbers in the list.
pub(super) fn matching<'t>(
    m: &'t Snapshot,
    all: &'t [Touching],
    sets: [GeomSet; 2],
) -> impl Iterator<Item = Seen<'t>> + Clone {
    all.iter().enumerate().filter_map(move |(k, t)| {
        let counts = |set: GeomSet| match set {
            GeomSet::Inside(site) => inside::is_inside(m, site, t.point),
            _ => true,
        };
        let seen = geom_set::direction(m, sets, t.geoms).filter(|_| sets.into_iter().all(counts));
        seen.map(|side| (k, t, side))
    })
}

/// Calls `visit` with each slot and the contact in it.
pub(super) fn for_each_slot<'t>(
    found: impl Iterator<Item = Seen<'t>> + Clone,
    report: ContactReport,
    mut visit: impl FnMut(usize, Seen<'t>),
) {
    let criterion = |t: &Touching| match report.reduce {
        Reduce::Deepest => t.distance,
        Reduce::Strongest => -t.force.dot(t.force),
        Reduce::First | Reduce::Net => 0.0,
    };
    // slot by slot the next one in order: there are few slots, and no list is needed
    let mut last: Option<(f64, usize)> = None;
    for slot in 0..report.slots {
        let beyond = |s: &Seen| last.is_none_or(|(c, k)| criterion(s.1).total_cmp(&c).then(s.0.cmp(&k)).is_gt());
        let order = |a: &Seen, b: &Seen| criterion(a.1).total_cmp(&criterion(b.1)).then(a.0.cmp(&b.0));
        let Some(next) = found.clone().filter(beyond).min_by(order) else { return };
        last = Some((criterion(next.1), next.0));
        visit(slot, next);
    }
}

/// The sum of the forces of several contacts.
pub(super) struct Net {
    pub count: usize,
    /// World axes (N).
    pub force: Vec3,
    /// About the point, world axes (N·m).
    pub torque: Vec3,
    /// Mean of the points, weighted by force (m).
    pub point: Vec3,
    /// Sum of the magnitudes of the forces (N).
    pub weight: f64,
}

/// Forces below it have no mean point (N).
const LEAST_FORCE: f64 = 1e-15;

pub(super) fn net<'t>(found: impl Iterator<Item = Seen<'t>> + Clone) -> Net {
    let (mut count, mut force, mut moment, mut weight) = (0, Vec3::ZERO, Vec3::ZERO, 0.0);
    for (_, t, side) in found.clone() {
        let size = t.force.norm();
        (count, weight) = (count + 1, weight + size);
        force += t.force * side;
        moment += t.point * size;
    }
    let point = moment * (1.0 / weight.max(LEAST_FORCE));
    let torque = found.fold(Vec3::ZERO, |sum, (_, t, side)| sum + (t.point - point).cross(t.force * side));
    Net { count, force, torque, point, weight }
}

/// Writes the numbers of a contact sensor.
pub(super) fn read(m: &Snapshot, all: &[Touching], sets: [GeomSet; 2], report: ContactReport, out: &mut [f64]) {
    out.fill(0.0);
    let found = matching(m, all, sets);
    let (size, count) = (report.data.size(), found.clone().count());
    if report.reduce == Reduce::Net && count > 0 {
        return write_net(&net(found), report.data, out);
    }
    for_each_slot(found, report, |slot, (_, t, side)| {
        write(t, side, count, report.data, &mut out[slot * size..(slot + 1) * size]);
    });
}

fn write(t: &Touching, side: f64, count: usize, data: ContactData, out: &mut [f64]) {
    let [first, second] = t.tangents();
    // seen from the other side normal and first tangent turn around the second one
    let force = [t.normal.dot(t.force), first.dot(t.force), side * second.dot(t.force)];
    fill(data, out, |kind, own| match kind {
        ContactData::FOUND => own[0] = count as f64,
        ContactData::FORCE => own.copy_from_slice(&force),
        ContactData::DISTANCE => own[0] = t.distance,
        ContactData::POINT => own.copy_from_slice(&t.point.to_array()),
        ContactData::NORMAL => own.copy_from_slice(&(t.normal * side).to_array()),
        ContactData::TANGENT => own.copy_from_slice(&(first * side).to_array()),
        _ => {}
    });
}

fn write_net(net: &Net, data: ContactData, out: &mut [f64]) {
    fill(data, &mut out[..data.size()], |kind, own| match kind {
        ContactData::FOUND => own[0] = net.count as f64,
        ContactData::FORCE => own.copy_from_slice(&net.force.to_array()),
        ContactData::TORQUE => own.copy_from_slice(&net.torque.to_array()),
        ContactData::POINT => own.copy_from_slice(&net.point.to_array()),
        // the axes are those of the world
        ContactData::NORMAL => own[0] = 1.0,
        ContactData::TANGENT => own[1] = 1.0,
        _ => {}
    });
}

/// Calls `write` with each reported kind and its numbers.
fn fill(data: ContactData, mut out: &mut [f64], mut write: impl FnMut(ContactData, &mut [f64])) {
    for (_, kind) in ContactData::ALL.into_iter().filter(|(_, kind)| data.contains(*kind)) {
        let (own, others) = out.split_at_mut(kind.size());
        write(kind, own);
        out = others;
    }
}
