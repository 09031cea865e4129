//! Models from files and from the robots that are built in.

use crate::errors::Failure;
use crate::model::Model;
use pyo3::prelude::*;
use slipstick::LoadOptions;
use std::path::PathBuf;

/// Loads a MJCF or URDF file; the root element tells which.
///
/// path: str or path-like
/// free_root: let the root link of a fixed robot move freely, on a free joint named "root"
/// ground: add a floor, the half-space below z = 0
/// package_dirs: folders in which the packages of package:// addresses lie
///
/// Returns a Model. Raises LoadError, with file and line, if the file makes none.
#[pyfunction]
#[pyo3(
    signature = (path, *, free_root=false, ground=false, package_dirs=Vec::new()),
    text_signature = "(path, *, free_root=False, ground=False, package_dirs=())"
)]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    free_root: bool,
    ground: bool,
    package_dirs: Vec<PathBuf>,
) -> Result<Model, Failure> {
    let mut options = LoadOptions::default();
    options.free_root = free_root;
    options.ground = ground;
    options.package_dirs = package_dirs;
    Ok(Model::new(py.detach(|| slipstick::load_with(path, &options))?))
}

/// A robot that comes with the library, by name; builtin_names() lists them.
///
/// Raises ValueError for a name that no robot has.
#[pyfunction]
pub fn builtin(py: Python<'_>, name: &str) -> Result<Model, Failure> {
    Ok(Model::new(py.detach(|| slipstick::builtin(name))?))
}

/// Names of the built-in robots (list of str), small ones first.
#[pyfunction]
pub fn builtin_names() -> Vec<&'static str> {
    slipstick::builtin_names().collect()
}
