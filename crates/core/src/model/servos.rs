//! Position servos for a model without actuators, as of a URDF: new controls behind those that there are.

use super::edit::not_negative;
use super::{Actuator, DerivedParameters, EqualityKind, Joint, JointId, Model, ParameterGroup, Transmission};
use crate::error::InputError;

impl Model {
    /// This robot with a position servo for every revolute and prismatic joint that nothing drives yet:
    /// force = kp (ctrl − q) − kd v, in N·m or N. `kd` acts at the end of the step, as joint damping does (`Options::implicit`).
    ///
    /// - A servo has the name of its joint. New controls come after those that there are.
    /// - Its force range is the joint's effort limit, its control range the joint's range, where these are finite.
    /// - Keyframes get the joint's coordinate as control: servos hold them.
    /// - No servo: joints with several dofs, joints driven by an actuator or through a tendon, joints that follow another
    ///   one (mimic), and joints whose effort limit is zero.
    ///
    /// The new model has more controls: memory made for this one does not fit it.
    pub fn with_servos(&self, kp: f64, kd: f64) -> Result<Model, InputError> {
        let gains = [gain(kp, || "kp of servos".into())?, gain(kd, || "kd of servos".into())?];
        let joints = (0..self.joints().len()).map(JointId);
        let servos: Vec<_> = joints.filter(|id| self.takes_servo(*id)).map(|id| self.servo(id, gains)).collect();
        if servos.is_empty() {
            let what = "joints for servos (one dof, an effort limit that is not zero, nothing that drives it)";
            return Err(InputError::Value { what: what.into(), expected: "at least one", got: 0.0 });
        }
        Ok(self.with_actuators(servos))
    }

    /// This robot with position servos for single joints: name, kp and kd of each, as in [`Model::with_servos`].
    pub fn with_servos_of(&self, joints: &[(&str, f64, f64)]) -> Result<Model, InputError> {
        let mut servos: Vec<Actuator> = Vec::new();
        for (name, kp, kd) in joints {
            let id = self.joint(name)?;
            let gains = [
                gain(*kp, || format!("kp of the servo of joint '{name}'"))?,
                gain(*kd, || format!("kd of the servo of joint '{name}'"))?,
            ];
            let joint = &self.joints()[id.0];
            let twice = servos.iter().any(|s| s.transmission == Transmission::Joint(id));
            let wrong = |what: &str, expected, got: f64| {
                Err(InputError::Value { what: format!("joint '{name}': {what}"), expected, got })
            };
            match joint.v.len() {
                1 if joint.effort == [0.0; 2] => return wrong("effort limit", "more than zero, for a servo", 0.0),
                1 if twice || self.is_driven(id) => return wrong("actuators", "none yet, for a servo", 1.0),
                1 => servos.push(self.servo(id, gains)),
                dofs => return wrong("dofs", "one, for a servo", dofs as f64),
            }
        }
        Ok(self.with_actuators(servos))
    }

    fn takes_servo(&self, id: JointId) -> bool {
        let joint = &self.joints()[id.0];
        let follows = |kind: &EqualityKind| matches!(kind, EqualityKind::Joint { joint, .. } if *joint == id);
        let follower = self.equalities().iter().any(|e| e.active && follows(&e.kind));
        joint.v.len() == 1 && joint.effort != [0.0; 2] && !follower && !self.is_driven(id)
    }

    /// Whether an actuator pulls on a joint, or on a tendon over it.
    fn is_driven(&self, id: JointId) -> bool {
        self.actuators().iter().any(|a| match a.transmission {
            Transmission::Joint(joint) => joint == id,
            Transmission::Tendon(t) => self.tendons()[t].joints.iter().any(|(joint, _)| *joint == id),
            Transmission::JointInParent(joint) => joint == id,
            // moves dofs of many joints and holds none of them
            Transmission::Site { .. } | Transmission::SliderCrank { .. } => false,
        })
    }

    fn servo(&self, id: JointId, [kp, kd]: [f64; 2]) -> Actuator {
        let joint: &Joint = &self.joints()[id.0];
        // an actuator of another joint may have taken the name; another servo may need that of its joint
        let is_free =
            |name: &String| self.actuator(name).is_err() && (self.joint(name).is_err() || *name == joint.name);
        let others = (1..).map(|k| format!("{}_servo{k}", joint.name));
        let name = std::iter::once(joint.name.clone()).chain(others).find(is_free);
        let finite = |range: &[f64; 2]| range.iter().all(|x| x.is_finite());
        Actuator {
            ctrl_range: joint.range.filter(finite),
            force_range: Some(joint.effort).filter(finite),
            ..Actuator::position(name.unwrap_or_default(), id, kp, kd)
        }
    }

    /// Adds actuators on joints with one dof, behind those that there are.
    fn with_actuators(&self, added: Vec<Actuator>) -> Model {
        let numbers: Vec<f64> = added.iter().flat_map(|a| [a.gain, a.bias[0], a.bias[1], a.bias[2]]).collect();
        let names = added.iter().map(|a| a.name.clone()).collect();
        let parameters = self.parameters().extended(ParameterGroup::Actuator, names, &numbers);
        let mut structure = (*self.structure).clone();
        for a in added {
            if let Transmission::Joint(id) = a.transmission {
                let coordinate = structure.joints[id.0].q.start;
                structure.keyframes.iter_mut().for_each(|k| k.ctrl.push(k.q[coordinate]));
            }
            structure.actuators.push(a);
        }
        // nothing that is derived from parameters depends on actuators
        let numbers = DerivedParameters { parameters, ..self.numbers().clone() };
        Model::assemble(structure, numbers, self.options().clone())
    }
}

fn gain(x: f64, what: impl Fn() -> String) -> Result<f64, InputError> {
    not_negative(x, what).map(|()| x)
}
