//! Actuators: force = gain · ctrl + b₀ + b₁ · length + b₂ · velocity, spread over a joint by its gear.   (act-1)

use super::ids::JointId;

/// What a builder is told about an actuator; also its form in a finished model.
#[derive(Debug, Clone, PartialEq)]
pub struct Actuator {
    /// Name; may be empty.
    pub name: String,
    /// The joint it drives.
    pub joint: JointId,
    /// Force on each dof of the joint per unit of actuator force (one number is used per dof).
    pub gear: [f64; 6],
    /// Force per unit of control.
    pub gain: f64,
    /// Constant force, force per length, force per velocity of the transmission.
    pub bias: [f64; 3],
    /// Control is clamped to this range.
    pub ctrl_range: Option<[f64; 2]>,
    /// Force is clamped to this range.
    pub force_range: Option<[f64; 2]>,
}

impl Actuator {
    /// A motor: force = gear · ctrl.
    pub fn motor(name: impl Into<String>, joint: JointId, gear: f64) -> Actuator {
        Actuator {
            name: name.into(),
            joint,
            gear: [gear, 0.0, 0.0, 0.0, 0.0, 0.0],
            gain: 1.0,
            bias: [0.0; 3],
            ctrl_range: None,
            force_range: None,
        }
    }

    /// A position servo: force = kp (ctrl − length) − kv · velocity.
    pub fn position(name: impl Into<String>, joint: JointId, kp: f64, kv: f64) -> Actuator {
        Actuator { gain: kp, bias: [0.0, -kp, -kv], ..Actuator::motor(name, joint, 1.0) }
    }

    /// A velocity servo: force = kv (ctrl − velocity).
    pub fn velocity(name: impl Into<String>, joint: JointId, kv: f64) -> Actuator {
        Actuator { gain: kv, bias: [0.0, 0.0, -kv], ..Actuator::motor(name, joint, 1.0) }
    }
}
