//! Derivatives of a step, of its sensors and of rollouts; smoothed ones.

pub mod corners;
pub mod object;
pub mod rollout;
pub mod sensors;
pub mod smoothing;
pub mod step;
