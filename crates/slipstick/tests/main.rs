//! Tests of the public face: one binary.

mod batch;
mod builtin;
mod choices;
mod control_step;
mod corners;
mod correction_energy;
mod differences;
mod free_rotation;
mod golden;
mod hard_scenes;
mod many_bodies;
mod margins;
mod mocap;
mod one_sided;
mod pinocchio;
mod ratchet;
mod rollout_gradient;
mod rows_on_dofs;
mod smoothing;
