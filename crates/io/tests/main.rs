//! Files to models, from the outside. One binary: it links once.
#![allow(non_snake_case)] // J

#[path = "cases/attach.rs"]
mod attach;
#[path = "cases/edits.rs"]
mod edits;
#[path = "cases/files.rs"]
mod files;
#[path = "cases/fit.rs"]
mod fit;
#[path = "cases/flags.rs"]
mod flags;
#[path = "cases/fuzz.rs"]
mod fuzz;
#[path = "cases/laws.rs"]
mod laws;
#[path = "cases/limits.rs"]
mod limits;
#[path = "cases/malformed.rs"]
mod malformed;
#[path = "cases/meshes.rs"]
mod meshes;
#[path = "cases/mjcf.rs"]
mod mjcf;
#[path = "cases/mjcf_parts.rs"]
mod mjcf_parts;
#[path = "cases/mjcf_schema.rs"]
mod mjcf_schema;
#[path = "cases/names.rs"]
mod names;
#[path = "cases/overlap.rs"]
mod overlap;
#[path = "cases/pairs.rs"]
mod pairs;
#[path = "cases/robots.rs"]
mod robots;
#[path = "cases/terrain.rs"]
mod terrain;
#[path = "cases/urdf.rs"]
mod urdf;
#[path = "cases/visuals.rs"]
mod visuals;
#[path = "cases/write.rs"]
mod write;
#[path = "cases/write_urdf.rs"]
mod write_urdf;

use slipstick_core::Model;
use slipstick_core::model::Warning;
use slipstick_io::{LoadError, LoadOptions, load_mjcf_str, load_urdf_str};
use std::path::PathBuf;

/// A model of MJCF text.
fn mjcf(xml: &str) -> Result<Model, LoadError> {
    load_mjcf_str("test.xml", xml, &LoadOptions::default())
}

/// Warnings but those about geoms that overlap at the start: texts of tests put bodies where it is shortest to write.
fn warnings(model: &Model) -> Vec<&Warning> {
    model.warnings().iter().filter(|w| !w.what.ends_with("at the start")).collect()
}

/// A model of URDF text.
fn urdf(xml: &str) -> Result<Model, LoadError> {
    load_urdf_str("test.urdf", xml, &LoadOptions::default())
}

/// Root of the repository.
fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
