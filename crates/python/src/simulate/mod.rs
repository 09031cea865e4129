//! Models in time: a simulator, the steps it makes and what they show.

pub mod memory;
pub mod mocap;
pub mod sensors;
pub mod simulator;
pub mod state;
pub mod step;
pub mod trajectory;
pub mod views;
pub mod warm_start;
