//! Files to models, from the outside. One binary: it links once.

#[path = "cases/files.rs"]
mod files;
#[path = "cases/fuzz.rs"]
mod fuzz;
#[path = "cases/malformed.rs"]
mod malformed;
#[path = "cases/mjcf.rs"]
mod mjcf;
#[path = "cases/robots.rs"]
mod robots;
#[path = "cases/urdf.rs"]
mod urdf;

use slipstick_core::Model;
use slipstick_io::{LoadError, LoadOptions, load_mjcf_str, load_urdf_str};
use std::path::PathBuf;

/// A model of MJCF text.
fn mjcf(xml: &str) -> Result<Model, LoadError> {
    load_mjcf_str("test.xml", xml, &LoadOptions::default())
}

/// A model of URDF text.
fn urdf(xml: &str) -> Result<Model, LoadError> {
    load_urdf_str("test.urdf", xml, &LoadOptions::default())
}

/// Root of the repository.
fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
