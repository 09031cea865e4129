//! Transmissions that bodies make: the wrench of a site, and a slider-crank. Their arms turn with the bodies.   (act-4 … act-6)
//!
//! An actuator's force acts as one wrench on a body, or as a wrench and its counterpart on two. All that follows from the
//! wrenches: arms are their power along the dofs, and the derivatives of arms follow the wrenches as the bodies move.
#![allow(non_snake_case)]

use super::jacobian::{arm, frame_pose};
use super::kinematics::Kinematics;
use crate::model::{FrameId, Model};
use crate::spatial::{Force, Motion, Pose, Quat, Vec3, right_jacobian_inverse};
use core::ops::Range;

/// A motion of all bodies that the dofs of a range move, and of a body without dofs that carries them.
pub(crate) struct Carrier {
    pub S: Motion,
    pub dofs: Range<usize>,
    mocap: Option<usize>,
}

impl Carrier {
    /// What dof `j` moves: also the axes of all dofs of its own primitive.
    pub fn dof(model: &Model, kin: &Kinematics, j: usize) -> Carrier {
        let tree = model.tree();
        Carrier { S: kin.axes[j], dofs: tree.dof_group[j].start..tree.subtree_end[j], mocap: None }
    }

    /// What the placement of body `i`, or the pose of a mocap body, moves along `S`.
    pub fn body(model: &Model, i: usize, S: Motion) -> Carrier {
        let tree = model.tree();
        Carrier { S, dofs: tree.dofs_below(i), mocap: (!tree.nodes[i].moves()).then_some(i) }
    }

    pub fn moves(&self, model: &Model, body: usize) -> bool {
        self.mocap == Some(body) || model.tree().last_dof(body).is_some_and(|j| self.dofs.contains(&j))
    }
}

/// The wrench on one body per unit of the actuator's force.
#[derive(Clone, Copy)]
struct End {
    body: usize,
    /// Where it acts, from the origin of its tree (m).
    arm: Vec3,
    force: Vec3,
    torque: Vec3,
}

/// How wrenches and length depend on the poses.
enum Law {
    /// Fixed to the site; there is no length.
    Site,
    /// Fixed to the reference site. Offset: from the reference to the site; turn: change of the length per rotation.
    Reference { offset: Vec3, turn: Vec3, length: f64 },
    /// ℓ = f(s, n), s = axis · offset, n = offset²: first derivatives of f, and the second (ss, sn, nn).
    Crank { offset: Vec3, axis: Vec3, first: [f64; 2], second: [f64; 3], length: f64 },
}

/// The transmission between bodies of an actuator, at one configuration.
pub(super) struct BodyTransmission<'a> {
    model: &'a Model,
    kin: &'a Kinematics,
    /// The site, and what it acts against.
    ends: [End; 2],
    law: Law,
}

impl<'a> BodyTransmission<'a> {
    /// A wrench in the axes of a site, or against a reference site in the axes of that.   (act-4)
    pub fn site(
        model: &'a Model,
        kin: &'a Kinematics,
        site: FrameId,
        reference: Option<FrameId>,
        gear: &[f64; 6],
    ) -> BodyTransmission<'a> {
        let [a, b] = [Some(site), reference].map(|f| f.map_or(Pose::IDENTITY, |f| frame_pose(model, kin, f)));
        let axes = if reference.is_some() { b.rotation } else { a.rotation };
        let (force, torque) = (axes * Vec3::from_slice(gear), axes * Vec3::from_slice(&gear[3..]));
        let own = end(model, kin, site, force, torque);
        let Some(reference) = reference else {
            let none = End { body: 0, arm: Vec3::ZERO, force: Vec3::ZERO, torque: Vec3::ZERO };
            return BodyTransmission { model, kin, ends: [own, none], law: Law::Site };
        };
        let (offset, turned) = (a.position - b.position, b.rotation.transpose() * a.rotation);
        let rotation = Quat::from_matrix(&turned).log();
        let gear = Vec3::from_slice(&gear[3..]);
        let turn = b.rotation * (right_jacobian_inverse(rotation) * gear);
        let law = Law::Reference { offset, turn, length: force.dot(offset) + gear.dot(rotation) };
        BodyTransmission { model, kin, ends: [own, end(model, kin, reference, -force, -torque)], law }
    }

    /// A rod from a pin on the crank to a slider that moves along the z axis of its site.   (act-6)
    pub fn crank(
        model: &'a Model,
        kin: &'a Kinematics,
        [crank, slider]: [FrameId; 2],
        rod: f64,
        gear: f64,
    ) -> BodyTransmission<'a> {
        let guide = frame_pose(model, kin, slider);
        let (offset, axis) = (frame_pose(model, kin, crank).position - guide.position, guide.rotation.c[2]);
        let (s, n) = (axis.dot(offset), offset.dot(offset));
        let root = (s * s + rod * rod - n).max(0.0).sqrt();
        let (mut first, mut second) = ([gear, 0.0], [0.0; 3]);
        if root > 0.0 {
            let (u, cube) = (s / root, root.powi(3));
            first = [gear * (1.0 - u), gear * 0.5 / root];
            second = [(u * u - 1.0) / root, -0.5 * s / cube, 0.25 / cube].map(|x| gear * x);
        }
        let force = axis * first[0] + offset * (2.0 * first[1]);
        let ends =
            [end(model, kin, crank, force, Vec3::ZERO), end(model, kin, slider, -force, axis.cross(offset) * first[0])];
        BodyTransmission {
            model,
            kin,
            ends,
            law: Law::Crank { offset, axis, first, second, length: gear * (s - root) },
        }
    }

    pub fn length(&self) -> f64 {
        match self.law {
            Law::Site => 0.0,
            Law::Reference { length, .. } | Law::Crank { length, .. } => length,
        }
    }

    /// Calls `visit(j, arm, ∂length/∂q_j)` for the dofs that move one end and not the other.   (act-5)
    pub fn for_each_arm(&self, mut visit: impl FnMut(usize, f64, f64)) {
        self.for_each_dof(|e, j| {
            let S = self.kin.axes[j];
            visit(j, S.dot(self.ends[e].at_origin()), self.length_along(&Carrier::dof(self.model, self.kin, j)));
        });
    }

    /// Change of the length along a motion.
    pub fn length_along(&self, c: &Carrier) -> f64 {
        let moved = self.moved(c);
        let sum = |of: &dyn Fn(&End) -> f64| -> f64 { (0..2).filter(|e| moved[*e]).map(|e| of(&self.ends[e])).sum() };
        match self.law {
            Law::Site => 0.0,
            Law::Crank { .. } => sum(&|end| c.S.dot(end.at_origin())),
            Law::Reference { offset, turn, .. } => {
                let [on_site, on_reference] = moved.map(|m| if m { 1.0 } else { 0.0 });
                // the wrench on the reference turns with it, and with it the direction in which the offset counts
                let carried = on_reference * offset.dot(c.S.ang.cross(self.ends[0].force));
                sum(&|end| end.force.dot(c.S.at(end.arm))) + carried + (on_site - on_reference) * turn.dot(c.S.ang)
            }
        }
    }

    /// Calls `visit(i, change of arm i)` along a motion.   (act-5)
    pub fn for_each_bend(&self, c: &Carrier, mut visit: impl FnMut(usize, f64)) {
        let moved = self.moved(c);
        let changes = [0, 1].map(|e| self.change(e, c, moved));
        self.for_each_dof(|e, i| {
            let S = self.kin.axes[i];
            let carried = if c.dofs.contains(&i) { c.S.cross(S).dot(self.ends[e].at_origin()) } else { 0.0 };
            visit(i, carried + S.dot(changes[e]));
        });
    }

    /// Calls `visit(end, dof)`. Dofs that move both ends do nothing.
    pub fn for_each_dof(&self, mut visit: impl FnMut(usize, usize)) {
        let chains = self.ends.map(|end| self.model.tree().support(end.body));
        let common = chains[0].iter().zip(chains[1]).take_while(|(a, b)| a == b).count();
        for (e, chain) in chains.iter().enumerate() {
            chain[common..].iter().for_each(|&j| visit(e, j));
        }
    }

    /// Which ends a motion carries.
    fn moved(&self, c: &Carrier) -> [bool; 2] {
        self.ends.map(|end| c.moves(self.model, end.body))
    }

    /// Change of the wrench at an end, at the origin of its tree.
    fn change(&self, e: usize, c: &Carrier, moved: [bool; 2]) -> Force {
        let (End { arm, force, torque, .. }, S) = (self.ends[e], c.S);
        let turned = |by: bool| if by { [S.ang.cross(force), S.ang.cross(torque)] } else { [Vec3::ZERO; 2] };
        let [by_force, by_torque] = match self.law {
            Law::Site => turned(moved[0]),
            Law::Reference { .. } => turned(moved[1]),
            Law::Crank { .. } => self.crank_change(e, c, moved),
        };
        let shift = if moved[e] { S.at(arm) } else { Vec3::ZERO };
        Force::at_point(by_force, by_torque + shift.cross(force), arm)
    }

    /// Change of force and torque of a slider-crank.   (act-6)
    fn crank_change(&self, e: usize, c: &Carrier, moved: [bool; 2]) -> [Vec3; 2] {
        let Law::Crank { offset, axis, first, second, .. } = self.law else { return [Vec3::ZERO; 2] };
        let along = |e: usize| if moved[e] { c.S.at(self.ends[e].arm) } else { Vec3::ZERO };
        let d_offset = along(0) - along(1);
        let d_axis = if moved[1] { c.S.ang.cross(axis) } else { Vec3::ZERO };
        let (d_s, d_n) = (axis.dot(d_offset) + offset.dot(d_axis), 2.0 * offset.dot(d_offset));
        let d_first = [second[0] * d_s + second[1] * d_n, second[1] * d_s + second[2] * d_n];
        let d_force = axis * d_first[0] + d_axis * first[0] + (offset * d_first[1] + d_offset * first[1]) * 2.0;
        let d_arm = d_axis.cross(offset) + axis.cross(d_offset);
        match e {
            0 => [d_force, Vec3::ZERO],
            _ => [-d_force, axis.cross(offset) * d_first[0] + d_arm * first[0]],
        }
    }
}

impl End {
    fn at_origin(&self) -> Force {
        Force::at_point(self.force, self.torque, self.arm)
    }
}

fn end(model: &Model, kin: &Kinematics, frame: FrameId, force: Vec3, torque: Vec3) -> End {
    End { body: model.frames()[frame.0].body.0, arm: arm(model, kin, frame), force, torque }
}
