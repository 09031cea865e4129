//! Replays: a motion as one HTML page that opens from disk, in any browser, without a network.
//!
//! A [`Replay`] is made for a model and told its states, with the contacts of a step or without. The page shows the geoms as
//! collision sees them, the ground, shadows, and the forces at contacts in the color of what they do: stick, slide, break.
//!
//! ```no_run
//! use slipstick::Simulator;
//! use slipstick::control::{Command, Control, Controller, Hold};
//! use slipstick_view::Replay;
//! let model = slipstick::builtin("quadruped")?;
//! let mut sim = Simulator::at_keyframe(&model, "home")?;
//! let (mut hold, mut command) = (Controller::Hold(Hold::new(&model, sim.state())?), Command::new(&model));
//! let mut replay = Replay::new(&model).with_title("It stands");
//! replay.record_state(sim.state())?;
//! for _ in 0..1000 {
//!     hold.command(&model, sim.state(), &mut command);
//!     let contacts: Vec<_> = sim.step(&command.input())?.contacts().collect();
//!     replay.record_contacts(sim.state(), contacts, model.options().dt)?;
//! }
//! replay.save("stand.html")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The script of the page is three.js and our own `web/src`, bundled in `web/viewer.js`, which comes with this crate.

mod encode;
mod error;
mod frames;
#[cfg(doctest)]
mod guide;
mod page;
mod replay;
mod scene;

pub use error::ViewError;
pub use replay::Replay;
