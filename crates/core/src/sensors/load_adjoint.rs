//! Adjoint of link wrenches, centers of mass and momenta: the reverse of `load.rs`.   (sens-10)
//!
//! The gradient with respect to a force is a motion W. (sens-5) accumulates forces from the leaves to the root; its transpose
//! propagates W from the root to the leaves. Then each link adds the gradients of its own motion and of the forces on it.
#![allow(non_snake_case)]

use super::adjoint::{PointCotangent, SensorAdjoint};
use super::constraint_force::{self, ContactForce, LinkForce};
use super::load::{LinkWrenches, inertia};
use super::{Snapshot, links};
use crate::collision::PointDerivatives;
use crate::model::{BodyId, FrameId, Model};
use crate::spatial::{Force, Motion, SpatialInertia, Vec3};

/// Gradient with respect to the wrench, mass and momentum of each link.
#[derive(Debug, Clone)]
pub(super) struct LoadAdjoint {
    links: Vec<LinkCotangent>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LinkCotangent {
    /// With respect to the force that the parent must supply.
    pub force: Motion,
    /// With respect to the mass, the first moment and the momentum.
    pub mass: f64,
    pub moment: Vec3,
    pub momentum: Motion,
}

impl LinkCotangent {
    /// The weights about an origin that lies `d` further on.
    fn shifted(self, d: Vec3) -> LinkCotangent {
        let at = |W: Motion| Motion { lin: W.at(d), ang: W.ang };
        let mass = self.mass + self.moment.dot(d);
        LinkCotangent { force: at(self.force), mass, moment: self.moment, momentum: at(self.momentum) }
    }

    fn plus(self, sign: f64, b: LinkCotangent) -> LinkCotangent {
        LinkCotangent {
            force: self.force + b.force * sign,
            mass: self.mass + b.mass * sign,
            moment: self.moment + b.moment * sign,
            momentum: self.momentum + b.momentum * sign,
        }
    }
}

impl LoadAdjoint {
    /// Memory for a model.
    pub fn new(model: &Model) -> LoadAdjoint {
        LoadAdjoint { links: vec![LinkCotangent::default(); links::count(model)] }
    }

    /// Sets all gradients to zero.
    pub fn clear(&mut self) {
        self.links.fill(LinkCotangent::default());
    }

    /// Adds the gradient of `force · reading` and `torque · reading` of [`LinkWrenches::between`].
    pub fn between(
        &mut self,
        m: &Snapshot,
        loads: &LinkWrenches,
        link: FrameId,
        frame: FrameId,
        [force, torque]: [Vec3; 2],
        out: &mut SensorAdjoint,
    ) {
        let site = &m.model.frames()[frame.0];
        let pose = m.kin.X_wb[site.body.0] * site.pose;
        let arm = pose.position - m.origin(site.body);
        let (w, t) = (pose.rotation * force, pose.rotation * torque);
        let read = loads.between(m, link, frame);
        let (f, n) = (pose.rotation * read.lin, pose.rotation * read.ang);
        self.links[link.0].force += Motion { lin: w + arm.cross(t), ang: t };
        // its axes turn and its point moves with the frame
        out.position[site.body.0] += Force::at_point(t.cross(f), w.cross(f) + t.cross(n), arm);
    }

    /// Adds the gradient of `weights · reading` of [`LinkWrenches::center`].
    pub fn center(
        &mut self,
        m: &Snapshot,
        loads: &LinkWrenches,
        link: FrameId,
        weights: Vec3,
        out: &mut SensorAdjoint,
    ) {
        let (mass, frame) = (loads.mass(link), &m.model.frames()[link.0]);
        if mass > 0.0 {
            let arm = loads.center(m, link) - m.origin(frame.body);
            self.links[link.0].moment += weights * (1.0 / mass);
            self.links[link.0].mass -= weights.dot(arm) / mass;
        } else {
            out.add_to_point(frame.body, loads.center(m, link) - m.origin(frame.body), weights);
        }
    }

    /// Adds the gradient of `weights · reading` of [`LinkWrenches::velocity`].
    pub fn velocity(&mut self, loads: &LinkWrenches, link: FrameId, weights: Vec3) {
        let mass = loads.mass(link);
        if mass > 0.0 {
            self.links[link.0].momentum.lin += weights * (1.0 / mass);
            self.links[link.0].mass -= weights.dot(loads.velocity(link)) / mass;
        }
    }

    /// Adds the gradient of `weights · reading` of [`LinkWrenches::angular_momentum`].
    pub fn angular_momentum(
        &mut self,
        m: &Snapshot,
        loads: &LinkWrenches,
        link: FrameId,
        weights: Vec3,
        out: &mut SensorAdjoint,
    ) {
        let d = m.origin(m.model.frames()[link.0].body) - loads.center(m, link);
        self.links[link.0].momentum += Motion { lin: weights.cross(d), ang: weights };
        self.center(m, loads, link, weights.cross(loads.momentum(link)), out);
    }

    /// Propagates the gradients to bodies and impulses. `derivatives` has those of the contacts with an impulse, one for each of
    /// [`constraint_force::contacts`].
    pub fn propagate(
        &mut self,
        m: &Snapshot,
        A: &[Motion],
        derivatives: &[Option<PointDerivatives>],
        out: &mut SensorAdjoint,
    ) {
        self.propagate_to_children(m);
        self.add_link_gradients(m, A, out);
        constraint_force::contacts(m)
            .zip(derivatives)
            .for_each(|(contact, D)| self.add_contact(m, &contact, D.as_ref(), out));
        constraint_force::equalities(m).for_each(|force| self.add_link_force(m, &force, out));
        for (row, forces) in constraint_force::equality_rows(m) {
            out.lambda[row] -= forces.iter().map(|f| self.power(m, f)).sum::<f64>();
        }
        for w in m.wrenches.iter().filter(|w| w.body != BodyId::WORLD) {
            let W = self.links[m.model.bodies()[w.body.0].link.0].force;
            out.add_to_point(w.body, w.arm(m.model, m.kin), -w.force.cross(W.ang));
        }
    }

    /// Root to leaf: a link has its own gradient plus that of its parent.
    fn propagate_to_children(&mut self, m: &Snapshot) {
        for k in 1..self.links.len() {
            let parent = m.model.frames()[k].parent.0;
            let body = |link: usize| m.model.frames()[link].body;
            let d = m.origin(body(k)) - m.origin(body(parent));
            self.links[k] = self.links[k].plus(1.0, self.links[parent].shifted(d));
        }
    }

    /// Adds the gradients of each link's own inertial force, mass and momentum.
    fn add_link_gradients(&self, m: &Snapshot, A: &[Motion], out: &mut SensorAdjoint) {
        for (k, link) in self.links.iter().enumerate() {
            let body = m.model.frames()[k].body.0;
            let LinkCotangent { force: W, moment, momentum: L, .. } =
                match links::main_link_without(m.model, FrameId(k)) {
                    Some(main) => link.plus(-1.0, self.links[main.0]),
                    None => *link,
                };
            let (I, V, VW) = (inertia(m, k), m.kin.V[body], m.kin.V[body].cross(W));
            out.position[body] += moved(I, W, A[body]) - moved(I, VW, V) + moved(I, L, V);
            out.position[body] += Force { lin: moment * I.mass, ang: I.h.cross(moment) };
            out.velocity[body] += I * L - W.cross_force(I * V) - I * VW;
            out.acceleration[body] += I * W;
        }
    }

    /// Adds the gradient of the force of a contact and of its point.
    fn add_contact(&self, m: &Snapshot, c: &ContactForce, D: Option<&PointDerivatives>, out: &mut SensorAdjoint) {
        let geoms = c.geoms.map(|g| &m.model.geoms()[g.0]);
        let arms = geoms.map(|g| c.point - m.origin(g.body));
        let [W1, W2] = geoms.map(|g| self.links[g.link.0].force);
        let relative = W1.at(arms[0]) - W2.at(arms[1]);
        let by_impulse = c.axes.tmul(relative) * (1.0 / m.model.options().dt);
        (0..3).for_each(|k| out.lambda[c.row + k] += by_impulse[k]);
        let Some(D) = D else { return };
        let [point, normal] = self.contact_gradient(m, c);
        out.add_contact(geoms.map(|g| g.body), arms, D, &PointCotangent { point, normal, distance: 0.0 });
    }

    /// Gradient with respect to the point and the normal of a contact.
    pub fn contact_gradient(&self, m: &Snapshot, c: &ContactForce) -> [Vec3; 2] {
        let geoms = c.geoms.map(|g| &m.model.geoms()[g.0]);
        let [W1, W2] = geoms.map(|g| self.links[g.link.0].force);
        let relative = W1.at(c.point - m.origin(geoms[0].body)) - W2.at(c.point - m.origin(geoms[1].body));
        [c.force.cross(W1.ang - W2.ang), c.force.cross(relative).cross(c.axes.c[2])]
    }

    /// Gradient with respect to the numbers of a link. After `propagate`.
    pub fn of(&self, link: FrameId) -> LinkCotangent {
        self.links[link.0]
    }

    /// Adds the gradient of the point of a constraint between links; its force keeps its direction in the world.
    fn add_link_force(&self, m: &Snapshot, f: &LinkForce, out: &mut SensorAdjoint) {
        let body = m.model.frames()[f.link.0].body;
        out.add_to_point(body, f.point - m.origin(body), -f.force.cross(self.links[f.link.0].force.ang));
    }

    fn power(&self, m: &Snapshot, f: &LinkForce) -> f64 {
        let arm = f.point - m.origin(m.model.frames()[f.link.0].body);
        self.links[f.link.0].force.dot(Force::at_point(f.force, f.torque, arm))
    }
}

/// Gradient of `a · I b` when the body moves and carries its inertia along: dI = S ×* I − I S ×.
fn moved(I: SpatialInertia, a: Motion, b: Motion) -> Force {
    -(a.cross_force(I * b) + b.cross_force(I * a))
}
