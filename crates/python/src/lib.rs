//! The compiled part of the Python package `slipstick`: arrays in, arrays out, errors as exceptions. No physics.
//!
//! Every function here carries the name of the Rust method it calls. `python/slipstick/__init__.py` re-exports them and
//! `_native.pyi` holds their types.
#![allow(non_snake_case)] // X_a, X_b: poses as in the notation

mod arrays;
mod batch;
mod collision;
mod corners;
mod derivatives;
mod dynamics;
mod errors;
mod gradient;
mod gradient_options;
mod kinematics;
mod load;
mod manifold;
mod memory;
mod model;
mod ncp;
mod ncp_gradient;
mod optimize;
mod options;
mod pickle;
mod pinocchio;
mod poses;
mod replay;
mod rollout;
mod rollout_gradient;
mod scene;
mod sensor_gradient;
mod sensors;
mod simulator;
mod smoothing;
mod solids;
mod step;
mod views;
mod warm_start;
mod workspaces;

use pyo3::prelude::*;

// Python aligns what is in its objects to 16 bytes, whatever the type asks for.
const _: () = {
    assert!(align_of::<model::Model>() <= 16 && align_of::<simulator::Simulator>() <= 16);
    assert!(align_of::<solids::Solid>() <= 16 && align_of::<step::Step>() <= 16);
    assert!(align_of::<views::ContactView>() <= 16 && align_of::<warm_start::WarmStart>() <= 16);
    assert!(align_of::<rollout_gradient::RolloutGradient>() <= 16 && align_of::<batch::Batch>() <= 16);
    assert!(align_of::<pinocchio::PinocchioMap>() <= 16 && align_of::<options::Options>() <= 16);
    assert!(align_of::<replay::Replay>() <= 16);
};

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::batch::{Batch, BatchJacobian, BatchRollout};
    #[pymodule_export]
    use crate::collision::{Contact, ContactDerivatives, ModelHit, derivatives, detect, geom_distance, raycast_model};
    #[pymodule_export]
    use crate::corners::Corners;
    #[pymodule_export]
    use crate::derivatives::{
        aba_derivatives, aba_inertial_derivatives, actuate_derivatives, regressor, rnea_derivatives, rnea_vjp,
        velocity_derivatives,
    };
    #[pymodule_export]
    use crate::dynamics::{aba, actuate, bias, crba, energy, mass_inverse, passive, rnea, solve};
    #[pymodule_export]
    use crate::errors::{
        BatchError, ContactGradientError, DivergenceError, DynamicsError, GradientError, LoadError, LoadWarning,
        StaleStep, UnsupportedGradientError,
    };
    #[pymodule_export]
    use crate::gradient::StepJacobian;
    #[pymodule_export]
    use crate::kinematics::{Kinematics, center_of_mass, jacobian, kinematics, momentum, velocity};
    #[pymodule_export]
    use crate::load::{builtin, builtin_names, load};
    #[pymodule_export]
    use crate::manifold::{difference, difference_derivatives, integrate, integrate_derivatives};
    #[pymodule_export]
    use crate::model::{Keyframe, Model};
    #[pymodule_export]
    use crate::ncp::{Solution, ncp_residual, ncp_solve};
    #[pymodule_export]
    use crate::ncp_gradient::{ProblemGrad, SolutionJacobian};
    #[pymodule_export]
    use crate::optimize::{Iteration, Outcome, least_squares};
    #[pymodule_export]
    use crate::options::Options;
    #[pymodule_export]
    use crate::pickle::restore;
    #[pymodule_export]
    use crate::pinocchio::PinocchioMap;
    #[pymodule_export]
    use crate::replay::Replay;
    #[pymodule_export]
    use crate::rollout::Trajectory;
    #[pymodule_export]
    use crate::rollout_gradient::{RolloutGrad, RolloutGradient};
    #[pymodule_export]
    use crate::scene::{Equality, ModelWarning, Sensor, Tendon};
    #[pymodule_export]
    use crate::sensor_gradient::SensorJacobian;
    #[pymodule_export]
    use crate::simulator::Simulator;
    #[pymodule_export]
    use crate::smoothing::{BundledJacobian, bundled_jacobian, compliance_schedule};
    #[pymodule_export]
    use crate::solids::{ClosestPoints, ContactPoint, RayHit, Solid, closest_points, contact, distance, raycast};
    #[pymodule_export]
    use crate::step::Step;
    #[pymodule_export]
    use crate::views::{ConstraintView, ContactView, SolveReport};
    #[pymodule_export]
    use crate::warm_start::WarmStart;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
