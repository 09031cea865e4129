//! Replays: a motion as one HTML page that opens from disk, in any browser, without a network.
//!
//! A [`Replay`] is made for a model and told its states, with the contacts of a step or without. The page shows the robot, the
//! ground, the forces at contacts in the color of what they do (stick, slide, open), plots, and derivatives: of a body's
//! position or velocity ([`Output`]), and of the whole motion along a [`Perturbation`].
//!
//! ```no_run
//! use slipstick::Simulator;
//! use slipstick::control::{Command, Control, Controller, Hold};
//! use slipstick::spatial::Vec3;
//! use slipstick_view::{Output, Replay};
//! let model = slipstick::builtin("quadruped")?;
//! let mut sim = Simulator::at_keyframe(&model, "home")?;
//! let (mut hold, mut command) = (Controller::Hold(Hold::new(&model, sim.state())?), Command::new(&model));
//! let forward = Output::velocity(&model, "trunk", Vec3::new(1.0, 0.0, 0.0))?;
//! let mut replay = Replay::new(&model).with_title("It stands").with_gradient_of(forward)?;
//! replay.record_state(sim.state())?;
//! for _ in 0..1000 {
//!     hold.command(&model, sim.state(), &mut command);
//!     sim.step(&command.input())?;
//!     let next = sim.state().clone();
//!     replay.record(&mut sim.last_step().expect("a step was made"), &next)?;
//! }
//! replay.save("stand.html")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The script of the page is three.js and our own `web/src`, bundled in `web/viewer.js`, which comes with this crate.

mod companions;
mod curves;
mod derivatives;
mod encode;
mod error;
mod frames;
mod gradients;
#[cfg(doctest)]
mod guide;
mod kinematics;
mod marks;
mod page;
mod perturbation;
mod replay;
mod scene;
mod visuals;

pub use error::ViewError;
pub use gradients::{InputGradient, Output};
pub use perturbation::Perturbation;
pub use replay::Replay;
