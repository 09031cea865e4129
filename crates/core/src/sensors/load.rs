//! Link wrenches: the force between a link and its parent, and mass and momentum of the link's subtree.   (sens-4, sens-5)
//!
//! Links on fixed joints are part of a body but have parents, inertias and contacts of their own.
#![allow(non_snake_case)]

use super::constraint_force::{self, ConstraintForce, ContactForce, LinkForce};
use super::{Snapshot, links};
use crate::dynamics::Wrench;
use crate::model::{BodyId, FrameId, Model};
use crate::spatial::{Force, Motion, SpatialInertia, Vec3};

/// Wrench, mass and momentum per link, about the origin of the tree of its body, world axes.
#[derive(Debug, Clone)]
pub(super) struct LinkWrenches {
    /// Force that the parent must supply.
    force: Vec<Force>,
    /// Mass, first moment and momentum.
    sums: Vec<SubtreeSum>,
}

#[derive(Debug, Clone, Copy, Default)]
struct SubtreeSum {
    mass: f64,
    moment: Vec3,
    momentum: Force,
}

impl SubtreeSum {
    fn add(&mut self, sign: f64, b: SubtreeSum) {
        self.mass += sign * b.mass;
        self.moment += b.moment * sign;
        self.momentum += b.momentum * sign;
    }

    /// Mass, moment and momentum about an origin that lies `d` before this one.
    fn shifted(self, d: Vec3) -> SubtreeSum {
        SubtreeSum { mass: self.mass, moment: self.moment + d * self.mass, momentum: shifted(self.momentum, d) }
    }
}

/// A force about an origin that lies `d` before this one.
fn shifted(f: Force, d: Vec3) -> Force {
    Force { lin: f.lin, ang: f.ang + d.cross(f.lin) }
}

impl LinkWrenches {
    pub fn new(model: &Model) -> LinkWrenches {
        let n = links::count(model);
        LinkWrenches { force: vec![Force::ZERO; n], sums: vec![SubtreeSum::default(); n] }
    }

    /// Computes everything from the accelerations of the bodies.
    pub fn write(&mut self, m: &Snapshot, A: &[Motion]) {
        self.begin(m, A);
        for force in constraint_force::all(m) {
            match force {
                ConstraintForce::Contact(contact) => self.add_contact(m, &contact),
                ConstraintForce::Equality(link) => self.add_link_force(m, &link),
                ConstraintForce::Limit(_) => {} // inside the joint or tendon
            }
        }
        self.add_wrenches(m, m.wrenches);
        self.accumulate(m);
    }

    /// Inertial force, mass and momentum of each link by itself.   (sens-4)
    fn begin(&mut self, m: &Snapshot, A: &[Motion]) {
        for k in 0..self.force.len() {
            let frame = &m.model.frames()[k];
            let body = frame.body;
            let I = inertia(m, k);
            let V = m.kin.V[body.0];
            let momentum = I * V;
            self.force[k] = I * A[body.0] + V.cross_force(momentum);
            self.sums[k] = SubtreeSum { mass: I.mass, moment: I.h, momentum };
            if let Some(main) = links::main_link_without(m.model, FrameId(k)) {
                // the inertia of a body is the sum over its links: the main one has the remainder
                let (force, sum) = (self.force[k], self.sums[k]);
                self.force[main.0] -= force;
                self.sums[main.0].add(-1.0, sum);
            }
        }
    }

    /// Adds a contact force, which unloads the joints.
    fn add_contact(&mut self, m: &Snapshot, contact: &ContactForce) {
        let [a, b] = contact.geoms.map(|g| &m.model.geoms()[g.0]);
        for (geom, force) in [(a, -contact.force), (b, contact.force)] {
            let arm = contact.point - m.origin(geom.body);
            self.force[geom.link.0] -= Force::at_point(force, Vec3::ZERO, arm);
        }
    }

    /// Adds the force of a constraint between links.
    fn add_link_force(&mut self, m: &Snapshot, f: &LinkForce) {
        let arm = f.point - m.origin(m.model.frames()[f.link.0].body);
        self.force[f.link.0] -= Force::at_point(f.force, f.torque, arm);
    }

    /// Adds what a user applies to bodies; it acts on the link that a body is named after.
    fn add_wrenches(&mut self, m: &Snapshot, wrenches: &[Wrench]) {
        for w in wrenches.iter().filter(|w| w.body != BodyId::WORLD) {
            self.force[m.model.bodies()[w.body.0].link.0] -= w.at_origin(m.model, m.kin);
        }
    }

    /// Leaf to root: the wrench of a link includes those of its children.   (sens-5)
    fn accumulate(&mut self, m: &Snapshot) {
        for k in (1..self.force.len()).rev() {
            let parent = m.model.frames()[k].parent.0;
            let body = |link: usize| m.model.frames()[link].body;
            let d = m.origin(body(k)) - m.origin(body(parent));
            let (force, sum) = (shifted(self.force[k], d), self.sums[k].shifted(d));
            self.force[parent] += force;
            self.sums[parent].add(1.0, sum);
        }
    }

    /// Force and torque that a link's parent puts on it, at the origin and in the axes of a frame of the link.
    pub fn between(&self, m: &Snapshot, link: FrameId, frame: FrameId) -> Force {
        let site = &m.model.frames()[frame.0];
        let pose = m.kin.X_wb[site.body.0] * site.pose;
        let f = shifted(self.force[link.0], m.origin(site.body) - pose.position);
        Force { lin: pose.rotation.tmul(f.lin), ang: pose.rotation.tmul(f.ang) }
    }

    /// Center of mass of a link and all that it carries, from the world's origin; without mass, the link's own.
    pub fn center(&self, m: &Snapshot, link: FrameId) -> Vec3 {
        let (sum, frame) = (self.sums[link.0], &m.model.frames()[link.0]);
        if sum.mass > 0.0 {
            return sum.moment * (1.0 / sum.mass) + m.origin(frame.body);
        }
        (m.kin.X_wb[frame.body.0] * frame.pose).point(frame.inertia.map_or(Vec3::ZERO, |i| i.com))
    }

    /// Velocity of the center of mass of a link and all that it carries.
    pub fn velocity(&self, link: FrameId) -> Vec3 {
        let sum = self.sums[link.0];
        if sum.mass > 0.0 { sum.momentum.lin * (1.0 / sum.mass) } else { Vec3::ZERO }
    }

    /// Mass of a link and all that it carries.
    pub fn mass(&self, link: FrameId) -> f64 {
        self.sums[link.0].mass
    }

    /// Momentum of a link and all that it carries.
    pub fn momentum(&self, link: FrameId) -> Vec3 {
        self.sums[link.0].momentum.lin
    }

    /// Angular momentum of a link and all that it carries, about their center of mass.
    pub fn angular_momentum(&self, m: &Snapshot, link: FrameId) -> Vec3 {
        let d = m.origin(m.model.frames()[link.0].body) - self.center(m, link);
        shifted(self.sums[link.0].momentum, d).ang
    }
}

/// Inertia of a link about the origin of its tree, world axes; that of the whole body for the link it is named after.
pub(super) fn inertia(m: &Snapshot, k: usize) -> SpatialInertia {
    let frame = &m.model.frames()[k];
    if links::is_main(m.model, FrameId(k)) && frame.body != BodyId::WORLD {
        return m.kin.inertia[frame.body.0];
    }
    let X = m.kin.X_wb[frame.body.0] * frame.pose;
    let I = frame.inertia.unwrap_or_default().moved(&X);
    SpatialInertia::new(I.mass, I.com - m.origin(frame.body), I.about_com)
}
