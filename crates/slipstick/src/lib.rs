//! Differentiable rigid-body simulation for robotics: the crate to depend on.
//!
//! A robot comes from a file ([`load()`]), from the ones that are built in ([`builtin()`]) or from a [`ModelBuilder`], and
//! goes into a file with [`to_mjcf`] or [`to_urdf`].
//! [`dynamics::Workspace`] answers questions about one state of it, [`step()`] moves it on in time, [`optimize`] finds what
//! leads to a wanted motion, and [`pinocchio`] translates states to and from Pinocchio's coordinates. Everything of
//! `slipstick_core` is here under its own name.
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
mod check;
mod controller;
#[cfg(doctest)]
mod guide;
pub mod optimize;
pub mod pinocchio;
mod rollout_gradient;
mod simulator;
pub mod smoothing;
mod summary;
mod trajectory;
mod workers;

pub use batch::{Batch, BatchError, BatchJacobian, BatchRollout, EnvironmentError, FailedEnvironment};
pub use builtin::{BuiltinError, builtin, builtin_names};
pub use check::{
    AuditReport, Corners, Difference, ParameterDifferences, StepDifferences, finite_differences,
    finite_differences_of_parameters, grad_check,
};
pub use controller::{Command, Controller, Hold, Random, Table, TableError};
pub use rollout_gradient::{
    Memory, Rollout, RolloutDirection, RolloutGrad, RolloutGradient, RolloutGradientError, Sensitivities, StateGrad,
    Wanted,
};
pub use simulator::{Control, RolloutError, Simulator};
pub use slipstick_core::*;
pub use slipstick_io::{
    ConversionWarning, LoadError, LoadOptions, NoHull, PairChoice, Place, TriangleMesh, content_hash, convex_hull,
    load, load_mesh_file, load_mjcf_str, load_urdf_str, load_with, mesh_file_name, mesh_to_obj, to_mjcf,
    to_mjcf_with_warnings, to_urdf, with_pairs,
};
pub use summary::Summary;
pub use trajectory::{SaveError, Trajectory, TrajectoryFormat};
