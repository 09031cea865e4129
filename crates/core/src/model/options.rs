//! Numerical choices of a simulation. Physical numbers are in [`Parameters`](super::Parameters).

/// Numerical choices of a simulation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Time step (s). MJCF: the file's `timestep`; else 1e-3.
    pub dt: f64,
    /// Gravity in world axes [m/s²]. Also the group `Gravity` of the parameters; setting one sets the other.
    pub gravity: [f64; 3],
    /// Pairs nearer than this take part in contact before they touch (m).
    pub contact_distance: f64,
    /// Which velocity-dependent forces are taken at the end of the step.
    pub implicit: Implicit,
}

impl Default for Options {
    fn default() -> Options {
        Options { dt: 1e-3, gravity: [0.0, 0.0, -9.81], contact_distance: 0.01, implicit: Implicit::Velocity }
    }
}

/// Forces taken at the end of the step instead of its beginning, so that stiff joints stay stable.   (step-2)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Implicit {
    /// None.
    None,
    /// Joint damping, as MuJoCo's Euler integrator.
    Damping,
    /// Joint damping and the velocity gain of actuators on joints with one dof, as MuJoCo's `implicitfast`.
    #[default]
    Velocity,
    /// Also joint springs and the position gain of actuators on joints with one dof.
    All,
}
