//! Transmissions whose arms change with the configuration: between bodies, and about the axes of a joint's parent.
//!   (act-4 … act-7)

use super::body_transmission::{BodyTransmission, Carrier};
use super::kinematics::Kinematics;
use crate::model::{Actuator, Dynamics, JointId, JointKind, Model, Transmission};
use crate::spatial::{Quat, Vec3, right_jacobian_inverse};

/// Such a transmission at one configuration.
pub(super) enum Curved<'a> {
    Bodies(BodyTransmission<'a>),
    Parent(ParentAxes),
}

impl<'a> Curved<'a> {
    /// `None`: the arms are constant.
    pub fn of(model: &'a Model, kin: &'a Kinematics, a: &Actuator, q: &[f64]) -> Option<Curved<'a>> {
        let bodies = match a.transmission {
            Transmission::Joint(_) | Transmission::Tendon(_) => return None,
            Transmission::JointInParent(id) => return Some(Curved::Parent(ParentAxes::new(model, id, a, q))),
            Transmission::Site { site, reference } => BodyTransmission::site(model, kin, site, reference, &a.gear),
            Transmission::SliderCrank { crank, slider, rod } => {
                BodyTransmission::crank(model, kin, [crank, slider], rod, a.gear[0])
            }
        };
        Some(Curved::Bodies(bodies))
    }

    pub fn length(&self) -> f64 {
        match self {
            Curved::Bodies(t) => t.length(),
            Curved::Parent(t) => t.length,
        }
    }

    /// Calls `visit(j, arm, ∂length/∂q_j)`.
    pub fn for_each_arm(&self, visit: impl FnMut(usize, f64, f64)) {
        match self {
            Curved::Bodies(t) => t.for_each_arm(visit),
            Curved::Parent(t) => t.for_each_arm(visit),
        }
    }

    /// Calls `visit(i, ∂arm_i/∂q_j)`.
    pub fn for_each_bend(&self, model: &Model, kin: &Kinematics, j: usize, visit: impl FnMut(usize, f64)) {
        match self {
            Curved::Bodies(t) => t.for_each_bend(&Carrier::dof(model, kin, j), visit),
            Curved::Parent(t) => t.for_each_bend(j, visit),
        }
    }
}

/// A torque about the axes of the parent of a ball or free joint.   (act-7)
pub(super) struct ParentAxes {
    /// First of the three dofs of the rotation.
    ball: usize,
    /// Torque in body axes, and change of the length with the rotation.
    torque: Vec3,
    slope: Vec3,
    length: f64,
    /// Force on a free joint, and its first dof.
    force: Option<(usize, Vec3)>,
}

impl ParentAxes {
    fn new(model: &Model, id: JointId, a: &Actuator, q: &[f64]) -> ParentAxes {
        let joint = &model.joints()[id.0];
        let free = joint.kind == JointKind::Free;
        let (ball, first) = if free { (joint.v.start + 3, 3) } else { (joint.v.start, 0) };
        let turn = Quat::from_slice(&q[joint.q.start + first..]).normalized().unwrap_or(Quat::IDENTITY);
        let gear = Vec3::from_slice(&a.gear[first..]);
        let torque = turn.to_matrix().tmul(gear);
        let force = free.then(|| (joint.v.start, Vec3::from_slice(&a.gear)));
        if free {
            return ParentAxes { ball, torque, slope: Vec3::ZERO, length: 0.0, force };
        }
        // a rotation vector is the same in both axes
        let rotation = turn.log();
        ParentAxes {
            ball,
            torque,
            slope: right_jacobian_inverse(rotation).tmul(gear),
            length: gear.dot(rotation),
            force,
        }
    }

    fn for_each_arm(&self, mut visit: impl FnMut(usize, f64, f64)) {
        if let Some((first, force)) = self.force {
            (0..3).for_each(|k| visit(first + k, force[k], 0.0));
        }
        (0..3).for_each(|k| visit(self.ball + k, self.torque[k], self.slope[k]));
    }

    fn for_each_bend(&self, j: usize, mut visit: impl FnMut(usize, f64)) {
        if (self.ball..self.ball + 3).contains(&j) {
            let bend = self.torque.cross(Vec3::UNITS[j - self.ball]);
            (0..3).for_each(|k| visit(self.ball + k, bend[k]));
        }
    }
}

/// The setpoint of a servo on a rotation, as near to the length as full turns bring it.   (act-8)
///
/// Whether it is a servo is a property of the description: parameters may change it a little and still be turned.
pub(super) fn nearest_setpoint(model: &Model, a: &Actuator, setpoint: f64, length: f64) -> f64 {
    let turned = match a.transmission {
        Transmission::Joint(id) | Transmission::JointInParent(id) => {
            (model.joints()[id.0].kind == JointKind::Spherical).then(|| Vec3::from_slice(&a.gear))
        }
        Transmission::Site { reference: Some(_), .. } if a.gear[..3] == [0.0; 3] => {
            Some(Vec3::from_slice(&a.gear[3..]))
        }
        _ => None,
    };
    // a filtered setpoint moves by the filter alone
    let direct = a.activation.is_none_or(|x| x.dynamics == Dynamics::Integrator);
    let servo = a.gain == -a.bias[1] && a.gain_slopes == [0.0; 2] && direct;
    let Some(axis) = turned.filter(|axis| servo && *axis != Vec3::ZERO) else { return setpoint };
    let period = core::f64::consts::TAU * axis.norm();
    setpoint - period * ((setpoint - length) / period).round()
}
