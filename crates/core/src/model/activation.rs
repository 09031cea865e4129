//! Activations: what an actuator remembers between its control and its force, a number that follows the control.   (act-9)

/// How an activation follows the control of its actuator.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Dynamics {
    /// Its rate is the control.
    Integrator,
    /// It approaches the control with a time constant (s), integrated by Euler's rule.
    Filter {
        /// Time constant (s).
        time_constant: f64,
    },
    /// It approaches the control with a time constant (s), integrated exactly for a control that is held over the step.
    ExactFilter {
        /// Time constant (s).
        time_constant: f64,
    },
}

/// The activation of an actuator: its force is that of the activation instead of the control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Activation {
    /// How it follows the control.
    pub dynamics: Dynamics,
    /// It is clamped to this range at the end of each step.
    pub range: Option<[f64; 2]>,
    /// Whether the force of a step is that of the activation at its end.
    pub early: bool,
}

impl Activation {
    /// Without a range; it acts at the beginning of the next step.
    pub const fn new(dynamics: Dynamics) -> Activation {
        Activation { dynamics, range: None, early: false }
    }
}
