//! The compiled part of the Python package `slipstick`: arrays in, arrays out, errors as exceptions. No physics.
//!
//! Every function here carries the name of the Rust method it calls. `python/slipstick/__init__.py` re-exports them and
//! `_native.pyi` holds their types.
#![allow(non_snake_case)] // X_a, X_b: poses as in the notation

mod arrays;
mod collision;
mod derivatives;
mod dynamics;
mod errors;
mod kinematics;
mod load;
mod manifold;
mod model;
mod pickle;
mod pinocchio;
mod poses;
mod scene;
mod simulator;
mod solids;
mod workspaces;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::collision::{Contact, ContactDerivatives, ModelHit, derivatives, detect, geom_distance, raycast_model};
    #[pymodule_export]
    use crate::derivatives::{
        aba_derivatives, aba_inertial_derivatives, actuate_derivatives, regressor, rnea_derivatives, rnea_vjp,
        velocity_derivatives,
    };
    #[pymodule_export]
    use crate::dynamics::{aba, actuate, bias, crba, energy, mass_inverse, passive, rnea, solve};
    #[pymodule_export]
    use crate::errors::{DivergenceError, DynamicsError, LoadError};
    #[pymodule_export]
    use crate::kinematics::{Kinematics, centre_of_mass, jacobian, kinematics, momentum, velocity};
    #[pymodule_export]
    use crate::load::{builtin, builtin_names, load};
    #[pymodule_export]
    use crate::manifold::{difference, difference_derivatives, integrate, integrate_derivatives};
    #[pymodule_export]
    use crate::model::{Keyframe, Model};
    #[pymodule_export]
    use crate::pickle::restore;
    #[pymodule_export]
    use crate::pinocchio::PinocchioMap;
    #[pymodule_export]
    use crate::scene::{Equality, Sensor, Tendon, Warning};
    #[pymodule_export]
    use crate::simulator::{Simulator, Step};
    #[pymodule_export]
    use crate::solids::{ClosestPoints, ContactPoint, RayHit, Solid, closest_points, contact, distance, raycast};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
