//! The paper's table of timings: steps, exact gradients and finite differences of several robots, each along a motion in
//! which it falls and one in which it stands.

mod measure;
mod pairs;
mod peers;
mod ratios;
mod report;
mod robots;
mod scripts;
mod settle;
mod text;

pub use measure::{Effort, measure};
pub use peers::PeerOptions;
pub use report::Table;
pub use robots::{Candidate, paper_names, paper_robot, paper_robots};
