//! The step against physics that can be written down: slopes, bounces, stacks, stops, loops, and the laws of impulses.
//! Everything here goes through the public step; nothing knows how contact is solved.

mod bounce;
mod couplings;
mod deep;
mod energy;
mod falls;
mod impacts;
mod impulses;
mod joints;
mod loops;
mod momentum;
mod repeat;
mod rolling;
pub mod scene;
mod slope;
mod solvers;
mod stacks;
