//! The robots of `models/` in this crate, compiled in: tests, examples and first steps need no file.

use slipstick_core::Model;
use slipstick_io::{LoadError, LoadOptions, load_mjcf_str};
use std::fmt;

/// A name and the text of `models/NAME.xml`.
macro_rules! robot {
    ($name:literal) => {
        ($name, include_str!(concat!("../models/", $name, ".xml")))
    };
}

/// In the order of `models/README.md`: from one body to many.
const ROBOTS: [(&str, &str); 14] = [
    robot!("cube"),
    robot!("sphere"),
    robot!("double_pendulum"),
    robot!("cartpole"),
    robot!("hopper"),
    robot!("half_cheetah"),
    robot!("half_cheetah_planar"),
    robot!("walker2d"),
    robot!("ant"),
    robot!("humanoid"),
    robot!("quadruped"),
    robot!("arm"),
    robot!("biped"),
    robot!("atlas"),
];

/// Why there is no such built-in robot.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BuiltinError {
    /// No robot has this name.
    UnknownName {
        /// Name asked for.
        name: String,
    },
    /// Its text makes no model.
    Load(LoadError),
}

impl fmt::Display for BuiltinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuiltinError::UnknownName { name } => {
                let names = builtin_names().collect::<Vec<_>>().join(", ");
                write!(f, "no built-in robot is named '{name}'; there are {names}")
            }
            BuiltinError::Load(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for BuiltinError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuiltinError::UnknownName { .. } => None,
            BuiltinError::Load(e) => Some(e),
        }
    }
}

/// Names of the built-in robots, small ones first.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    ROBOTS.iter().map(|(name, _)| *name)
}

/// A robot that comes with the library; [`builtin_names`] lists them.
///
/// ```
/// let model = slipstick::builtin("quadruped")?;
/// assert_eq!((model.nq(), model.nv(), model.nu()), (19, 18, 12));
/// # Ok::<(), slipstick::files::BuiltinError>(())
/// ```
pub fn builtin(name: &str) -> Result<Model, BuiltinError> {
    match ROBOTS.iter().find(|(robot, _)| *robot == name) {
        Some((name, xml)) => load_mjcf_str(name, xml, &LoadOptions::default()).map_err(BuiltinError::Load),
        None => Err(BuiltinError::UnknownName { name: name.into() }),
    }
}
