//! Robots in hostile states under hostile forces: nothing that is not finite, no failure that is not reported.

mod checks;
mod energy;
mod episode;
pub mod replay;
mod robot;
mod table;

pub use episode::episode;
pub use robot::robots;
pub use table::Table;
