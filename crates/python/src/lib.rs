//! The compiled part of the Python package `slipstick`: arrays in, arrays out, errors as exceptions. No physics.
//!
//! Every function here carries the name of the Rust method it calls. `python/slipstick/__init__.py` re-exports them and
//! `_native.pyi` holds their types.
#![allow(non_snake_case)] // X_a, X_b: poses as in the notation

mod arguments;
mod arrays;
mod batch;
mod collision;
mod control_step;
mod dlpack;
mod dynamics;
mod errors;
mod fork;
mod gradient;
mod interrupt;
mod jax;
mod model;
mod ncp;
mod optimize;
mod option_class;
mod pinocchio;
mod replay;
mod simulate;

use pyo3::prelude::*;

// Python aligns what is in its objects to 16 bytes, whatever the type asks for.
const _: () = {
    assert!(align_of::<model::Model>() <= 16 && align_of::<simulate::simulator::Simulator>() <= 16);
    assert!(align_of::<collision::solids::Solid>() <= 16 && align_of::<simulate::step::Step>() <= 16);
    assert!(align_of::<simulate::views::StepContact>() <= 16 && align_of::<simulate::warm_start::WarmStart>() <= 16);
    assert!(align_of::<gradient::rollout::RolloutGradient>() <= 16 && align_of::<batch::Batch>() <= 16);
    assert!(align_of::<pinocchio::PinocchioMap>() <= 16 && align_of::<model::options::Options>() <= 16);
    assert!(align_of::<replay::Replay>() <= 16);
};

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::batch::{Batch, BatchContacts, BatchJacobian, BatchRollout};
    #[pymodule_export]
    use crate::collision::solids::{
        ClosestPoints, ContactPoint, RayHit, Solid, closest_points, contact, distance, raycast,
    };
    #[pymodule_export]
    use crate::collision::{Contact, ContactDerivatives, ModelHit, derivatives, detect, geom_distance, raycast_model};
    #[pymodule_export]
    use crate::control_step::{ControlResult, ControlStep};
    #[pymodule_export]
    use crate::dynamics::derivatives::{
        aba_derivatives, aba_inertial_derivatives, actuate_derivatives, regressor, rnea_derivatives, rnea_vjp,
        velocity_derivatives,
    };
    #[pymodule_export]
    use crate::dynamics::kinematics::{Kinematics, center_of_mass, jacobian, kinematics, momentum, velocity};
    #[pymodule_export]
    use crate::dynamics::manifold::{difference, difference_derivatives, integrate, integrate_derivatives};
    #[pymodule_export]
    use crate::dynamics::{aba, actuate, bias, crba, energy, mass_inverse, passive, rnea, solve};
    #[pymodule_export]
    use crate::errors::{
        BatchError, ContactGradientError, DivergenceError, DynamicsError, ForkError, FormatError, GradientError,
        LoadError, LoadWarning, StaleStep, StepWarning, UnsupportedGradientError,
    };
    #[pymodule_export]
    use crate::gradient::corners::Corners;
    #[pymodule_export]
    use crate::gradient::object::Gradient;
    #[pymodule_export]
    use crate::gradient::rollout::RolloutGradient;
    #[pymodule_export]
    use crate::gradient::sensors::SensorJacobian;
    #[pymodule_export]
    use crate::gradient::smoothing::{BundledJacobian, bundled_jacobian, compliance_schedule};
    #[pymodule_export]
    use crate::gradient::step::StepJacobian;
    #[pymodule_export]
    use crate::jax::handlers::targets;
    #[pymodule_export]
    use crate::jax::{frames_values, register_control_step, register_frames};
    #[pymodule_export]
    use crate::model::builder::ModelBuilder;
    #[pymodule_export]
    use crate::model::gradient_options::{Central, ExactForwardCentral, Randomized, Smoothed};
    #[pymodule_export]
    use crate::model::load::{builtin, builtin_names, load, loads};
    #[pymodule_export]
    use crate::model::named::{Actuator, Body, Frame, Geom, Joint, Visual};
    #[pymodule_export]
    use crate::model::options::{Correction, Options};
    #[pymodule_export]
    use crate::model::pickle::{restore, restore_keyframe, restore_options};
    #[pymodule_export]
    use crate::model::scene::{Equality, ModelWarning, Sensor, Tendon};
    #[pymodule_export]
    use crate::model::{Keyframe, Model};
    #[pymodule_export]
    use crate::ncp::gradient::{ProblemGrad, SolutionJacobian};
    #[pymodule_export]
    use crate::ncp::{Box, Friction, Solution, ncp_residual, ncp_solve};
    #[pymodule_export]
    use crate::optimize::{Iteration, Outcome, least_squares};
    #[pymodule_export]
    use crate::pinocchio::PinocchioMap;
    #[pymodule_export]
    use crate::replay::Replay;
    #[pymodule_export]
    use crate::simulate::simulator::{Simulator, step};
    #[pymodule_export]
    use crate::simulate::state::State;
    #[pymodule_export]
    use crate::simulate::step::Step;
    #[pymodule_export]
    use crate::simulate::trajectory::{Trajectory, restore as restore_trajectory};
    #[pymodule_export]
    use crate::simulate::views::{SolveReport, StepConstraint, StepContact};
    #[pymodule_export]
    use crate::simulate::warm_start::WarmStart;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
