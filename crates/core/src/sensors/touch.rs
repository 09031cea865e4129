//! Touch: the normal forces of contacts whose line meets the shape of a site.   (sens-6)

use super::constraint_force::ContactForce;
use super::{Snapshot, links};
use crate::collision::{Solid, raycast};
use crate::model::{FrameId, Model, Quantity, SensorObject};

/// The shape of a touch sensor.
#[derive(Debug, Clone)]
pub(super) struct Zone {
    /// Which sensor.
    pub sensor: usize,
    frame: FrameId,
    link: FrameId,
    solid: Solid,
}

/// Shapes of all touch sensors.
pub(super) fn zones(model: &Model) -> Vec<Zone> {
    let sensors = model.sensors().iter().enumerate().filter(|(_, s)| s.quantity == Quantity::Touch);
    let zone = |(sensor, s): (usize, &crate::model::Sensor)| {
        let SensorObject::Frame(frame) = s.object else { return None };
        let solid = Solid::new(model.frames()[frame.0].zone?).ok()?;
        Some(Zone { sensor, frame, link: links::link_of(model, frame), solid })
    };
    sensors.filter_map(zone).collect()
}

impl Zone {
    /// Force that a contact adds to the reading.
    pub fn felt(&self, m: &Snapshot, contact: &ContactForce) -> f64 {
        if self.feels(m, contact) { contact.axes.c[2].dot(contact.force) } else { 0.0 }
    }

    /// Whether the normal force of a contact counts: one of its geoms is part of the link and a ray from the contact point
    /// out of the link meets the shape.
    pub fn feels(&self, m: &Snapshot, contact: &ContactForce) -> bool {
        let links = contact.geoms.map(|g| m.model.geoms()[g.0].link);
        let normal = contact.axes.c[2];
        // against the force on the link, as in MuJoCo
        let outward = if links[1] == self.link { -normal } else { normal };
        if !links.contains(&self.link) || normal.dot(contact.force) <= 0.0 {
            return false;
        }
        let site = &m.model.frames()[self.frame.0];
        let pose = m.kin.X_wb[site.body.0] * site.pose;
        matches!(raycast(&self.solid, &pose, contact.point, outward, f64::INFINITY), Ok(Some(_)))
    }
}
