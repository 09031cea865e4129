//! Actuators: force = gain · ctrl + b₀ + b₁ · length + b₂ · velocity, spread over a joint by its gear.   (act-1)

use super::activation::Activation;
use super::ids::{FrameId, JointId};

/// What an actuator pulls on.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Transmission {
    /// A joint: one number of the gear per dof. A ball turns about axes of its body.
    Joint(JointId),
    /// A ball or free joint, turned about axes of its parent; any other joint as above.
    JointInParent(JointId),
    /// A fixed tendon, by number: the first number of the gear.
    Tendon(usize),
    /// A site or link: the gear is a force and a torque on it, in its own axes, and there is no length.
    Site {
        /// Where the wrench acts.
        site: FrameId,
        /// The wrench has the axes of this frame, which takes the reaction. Length: gear times its displacement from there.
        reference: Option<FrameId>,
    },
    /// A rod from a pin to a slider: the first number of the gear.
    SliderCrank {
        /// The pin, at the origin of this frame.
        crank: FrameId,
        /// The slider moves along the z axis of this frame.
        slider: FrameId,
        /// Length of the rod (m).
        rod: f64,
    },
}

impl Transmission {
    /// The frames that it refers to.
    pub fn frames(&self) -> impl Iterator<Item = FrameId> {
        let two = match *self {
            Transmission::Site { site, reference } => [Some(site), reference],
            Transmission::SliderCrank { crank, slider, .. } => [Some(crank), Some(slider)],
            _ => [None; 2],
        };
        two.into_iter().flatten()
    }

    pub(crate) fn frames_mut(&mut self) -> impl Iterator<Item = &mut FrameId> {
        let two = match self {
            Transmission::Site { site, reference } => [Some(site), reference.as_mut()],
            Transmission::SliderCrank { crank, slider, .. } => [Some(crank), Some(slider)],
            _ => [None, None],
        };
        two.into_iter().flatten()
    }
}

/// Description of an actuator for the builder; also its form in a finished model.
#[derive(Debug, Clone, PartialEq)]
pub struct Actuator {
    /// Name; may be empty.
    pub name: String,
    /// What it pulls on.
    pub transmission: Transmission,
    /// Force on each dof of a joint (or on a tendon) per unit of actuator force.
    pub gear: [f64; 6],
    /// Force per unit of control, or of activation.
    pub gain: f64,
    /// Change of the gain per length and per velocity of the transmission.
    pub gain_slopes: [f64; 2],
    /// Constant force, force per length, force per velocity of the transmission.
    pub bias: [f64; 3],
    /// Control is clamped to this range.
    pub ctrl_range: Option<[f64; 2]>,
    /// Force is clamped to this range.
    pub force_range: Option<[f64; 2]>,
    /// What stands between control and force; `None`: control acts at once.
    pub activation: Option<Activation>,
    /// Whether it acts at all: one that does not has no force, and its activation rests.
    pub enabled: bool,
}

impl Actuator {
    /// A motor: force = gear · ctrl.
    pub fn motor(name: impl Into<String>, joint: JointId, gear: f64) -> Actuator {
        Actuator {
            name: name.into(),
            transmission: Transmission::Joint(joint),
            gear: [gear, 0.0, 0.0, 0.0, 0.0, 0.0],
            gain: 1.0,
            gain_slopes: [0.0; 2],
            bias: [0.0; 3],
            ctrl_range: None,
            force_range: None,
            activation: None,
            enabled: true,
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

    /// A damper: force = −kv · velocity · ctrl, with controls from zero to `most`.
    pub fn damper(name: impl Into<String>, joint: JointId, kv: f64, most: f64) -> Actuator {
        let (gain_slopes, ctrl_range) = ([0.0, -kv], Some([0.0, most]));
        Actuator { gain: 0.0, gain_slopes, ctrl_range, ..Actuator::motor(name, joint, 1.0) }
    }

    /// This actuator with an activation.
    pub fn with_activation(self, activation: Activation) -> Actuator {
        Actuator { activation: Some(activation), ..self }
    }
}
