//! Touch: the normal forces of contacts whose line of action intersects the volume of a site.   (sens-6)

use super::constraint_force::ContactForce;
use super::{Snapshot, links};
use crate::collision::{Solid, raycast};
use crate::model::{FrameId, Model, Quantity, SensorObject};

/// The volume of the site of a touch sensor.
#[derive(Debug, Clone)]
pub(super) struct SiteVolume {
    /// Index of the sensor.
    pub sensor: usize,
    frame: FrameId,
    link: FrameId,
    solid: Solid,
}

/// Volumes of all touch sensors.
pub(super) fn site_volumes(model: &Model) -> Vec<SiteVolume> {
    let sensors = model.sensors().iter().enumerate().filter(|(_, s)| s.quantity == Quantity::Touch);
    let volume = |(sensor, s): (usize, &crate::model::Sensor)| {
        let SensorObject::Frame(frame) = s.object else { return None };
        let solid = Solid::new(model.frames()[frame.0].zone?).ok()?;
        Some(SiteVolume { sensor, frame, link: links::link_of(model, frame), solid })
    };
    sensors.filter_map(volume).collect()
}

impl SiteVolume {
    /// Contribution of a contact to the reading (N).
    pub fn normal_force(&self, m: &Snapshot, contact: &ContactForce) -> f64 {
        if self.contains(m, contact) { contact.axes.c[2].dot(contact.force) } else { 0.0 }
    }

    /// Whether the sensor senses a contact: one of its geoms is part of the link and a ray from the contact point
    /// out of the link intersects the volume.
    pub fn contains(&self, m: &Snapshot, contact: &ContactForce) -> bool {
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
