//! Rigid-body dynamics: kinematics, inverse and forward dynamics, the mass matrix and its factor, and their derivatives.
//!
//! One file per algorithm, its derivative next to it. [`Workspace`] is the public boundary for direct use: it checks what
//! comes in and owns the memory. Contacts are unknown here; they arrive as wrenches.

mod aba;
mod aba_derivatives;
mod activation;
mod actuation;
mod body_transmission;
mod centroidal;
mod curved_transmission;
mod driven_compensation;
mod free_motion;
mod gyration;
mod jacobian;
mod kinematics;
mod kinematics_derivatives;
mod mass_factor;
mod mass_solve;
mod passive;
mod regressor;
mod rnea;
mod rnea_adjoint;
mod rnea_derivatives;
mod step_mass;
#[cfg(test)]
mod tests;
mod tree_matrix;
mod workspace;
mod workspace_derivatives;
mod wrench_derivatives;

pub use aba_derivatives::AbaDerivatives;
pub use kinematics::Kinematics;
pub use mass_factor::MassFactor;
pub use rnea::Wrench;
pub use step_mass::StepMass;
pub use tree_matrix::TreeMatrix;
pub use workspace::Workspace;
pub use workspace_derivatives::RneaJacobians;

pub(crate) use activation::{advance, drives, for_each_response, pull, push, push_next};
pub(crate) use actuation::{
    actuate, for_each_ctrl_partial, for_each_placement_partial, for_each_state_partial, for_each_transmission_partial,
    force_partials, gain_partials, gain_slopes, observe, placement_partials,
};
pub(crate) use body_transmission::Carrier;
pub(crate) use centroidal::energy;
pub(crate) use driven_compensation::{
    compensation_along, compensation_by_gravity, felt, for_each_compensation_slope, lost,
};
pub(crate) use free_motion::{FreeMotion, bias, factor_mass, forces, free_velocity};
pub(crate) use gyration::Gyration;
pub(crate) use jacobian::frame_pose;
pub(crate) use kinematics::body_velocities;
pub(crate) use kinematics_derivatives::{KinematicsDerivatives, accelerations_placed};
pub(crate) use mass_solve::{
    Columns, Panel, half_solve, inverse, inverse_entry, is_chain, solve_down, solve_up, solve_vector,
};
pub(crate) use passive::{
    add_spring_reference_gradient, compensation_wrenches, for_each_passive_slope, for_each_spring,
    for_each_spring_energy_partial, spring_displacements, tendon_length,
};
pub(crate) use regressor::{body_columns, inertial_columns};
pub(crate) use rnea_adjoint::{RneaAdjoint, RneaGradient, rnea_vjp_placed};
pub(crate) use rnea_derivatives::{RneaDerivatives, rnea_derivatives_placed, stride};
pub(crate) use tree_matrix::factor;
pub(crate) use workspace::{check_positive_definite, check_wrenches};
