//! Differentiable rigid-body simulation for robotics: the crate to depend on.
//!
//! ```
//! use slipstick::{Input, Simulator};
//! let model = slipstick::builtin("quadruped")?; // or slipstick::load("robot.urdf")?.with_servos(100.0, 5.0)?
//! let mut sim = Simulator::at_keyframe(&model, "home")?;
//! let ctrl = &model.keyframe("home")?.ctrl;
//! for _ in 0..100 {
//!     sim.step(&Input::ctrl(ctrl))?;
//! }
//! let mut step = sim.step(&Input::ctrl(ctrl))?;
//! assert!(step.contacts().count() == 4); // point, impulse and mode of each
//! assert!(step.jacobian()?.dv_dctrl.cols() == 12); // through contact
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A robot comes from a file ([`load()`]), from the ones that are built in ([`builtin()`]) or from a [`ModelBuilder`], and
//! goes into a file with [`files::to_mjcf`] or [`files::to_urdf`]. Named changes make other robots of it:
//! [`Model::with_servos`], [`Model::with_mass`], [`Model::with_friction`], [`Model::with_options`].
//! [`Simulator`] moves it on in time, [`rollout`] differentiates many steps, [`Batch`] takes many robots at once.
//! [`dynamics::Workspace`] answers questions about one state, [`optimize`] finds what leads to a wanted motion, and
//! [`pinocchio`] translates states to and from Pinocchio's coordinates. Everything of `slipstick_core` is here under its own
//! name.
//!
//! Under the [`Simulator`] is [`step()`], a function of model, state and input; [`Data`] is its memory.
//!
//! ```
//! use slipstick::{Data, Input, State};
//! let model = slipstick::builtin("double_pendulum")?;
//! let (mut data, mut x) = (Data::new(&model), State::keyframe(&model, "released")?);
//! let mut next = x.clone();
//! for _ in 0..100 {
//!     slipstick::step(&model, &mut data, &x, &Input::default(), &mut next)?;
//!     std::mem::swap(&mut x, &mut next);
//! }
//! assert!((x.time - 100.0 * model.options().dt).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod builtin;
pub mod check;
pub mod control;
mod control_step;
#[cfg(doctest)]
mod guide;
pub mod interrupt;
pub mod optimize;
pub mod pinocchio;
mod rollout_gradient;
mod rows;
mod simulator;
pub mod smoothing;
mod summary;
mod trajectory;
mod workers;

pub use batch::Batch;
pub use builtin::{builtin, builtin_names};
pub use simulator::Simulator;
pub use slipstick_core::{
    Data, GradientError, Input, InputError, Mode, Model, ModelBuilder, Options, SolveReport, State, Status, Step,
    StepError, WarmStart,
};
#[doc(hidden)]
pub use slipstick_core::{bytes, input_check, random};
pub use slipstick_core::{collision, dynamics, error, gradient, linalg, model, sensors, spatial, step};
pub use slipstick_io::{LoadError, LoadOptions, load, load_with};
pub use trajectory::Trajectory;

/// Models from texts, meshes and built-in ones, models and trajectories into files and back, files that appear whole.
pub mod files {
    pub use crate::builtin::BuiltinError;
    pub use crate::trajectory::{LoadTrajectoryError, SaveError, TrajectoryFormat};
    pub use slipstick_io::{
        ConversionWarning, Limits, NoHull, Overlap, OverlapChoice, Paint, PaintedMesh, PaintedPart, PairChoice, Place,
        TriangleMesh, check_writable, content_hash, convex_hull, load_mesh_file, load_mjcf_str, load_str,
        load_urdf_str, load_visual_mesh, mesh_file_names, mesh_to_obj, overlaps, read_file, to_mjcf,
        to_mjcf_with_warnings, to_urdf, with_pairs, write_file,
    };
}

/// Contact problems without a robot (nonlinear complementarity problems), their solution and its derivatives.
pub mod ncp {
    pub use slipstick_core::constraint::{Cone, Iterations, Problem, Solution, Stage, residual, solve};
    pub use slipstick_core::gradient::{
        ProblemDirection, ProblemGrad, RowDerivatives, SolutionGrad, SolutionGradient, SolutionJacobian,
    };
}

/// Many steps: gradients through them, results of batches, summaries.
pub mod rollout {
    pub use crate::batch::{
        BatchDirection, BatchError, BatchGrad, BatchInput, BatchJacobian, BatchRollout, EnvironmentError,
        EnvironmentReport, FailedEnvironment, GradientChoice,
    };
    pub use crate::control_step::{Ambient, ControlStep, Inputs, InputsGrad, Outcome, REPORT};
    pub use crate::rollout_gradient::{
        Memory, Rollout, RolloutDirection, RolloutGrad, RolloutGradient, RolloutGradientError, Sensitivities,
        StateGrad, Wanted,
    };
    pub use crate::simulator::RolloutError;
    pub use crate::summary::Summary;
}
