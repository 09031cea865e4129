//! Models from files and from the robots that are built in.

use crate::arguments::{arg, wrong_type};
use crate::errors::{Failure, LoadWarning};
use crate::interrupt::abandonable;
use crate::model::Model;
use crate::model::options::unknown;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipstick::LoadOptions;
use slipstick::files::{Limits, OverlapChoice, PairChoice};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::str::FromStr;

/// Loads a MJCF or URDF file; the root element tells which.
///
/// path: str or path-like
/// free_root: let the root link of a fixed robot move freely, on a free joint named "root"
/// ground: add a floor, the half-space below z = 0
/// package_dirs: folders in which the packages of package:// addresses lie
/// pairs: which shapes may touch: "mujoco" (masks, exclusions and explicit pairs of the file), "paper" (all but those of
///     one body and of a body and its parent; a floor touches everything that moves), "default" (the former for MJCF,
///     the latter for URDF), or a JSON file that lists pairs of names
/// strict: refuse a file that gives rise to warnings
/// cache: keep convex hulls of meshes in the user's cache folder and take them from there
/// decompose: split collision meshes that are not convex into convex parts, instead of taking their hulls
/// terrain: names of geoms or meshes, fixed to the world, whose triangles are ground as they are
/// overlap: what becomes of geoms that may collide and overlap at the start: "keep" (a warning names them), "exclude" (those
///     that overlap in every pose do not collide) or "error"
/// limits: how large what the file describes may be, as a dict of int: file_bytes, elements, attributes, depth, copies, heights,
///     mesh_points, inertia_numbers, pairs. What is left out has its default (docs/loading.md)
///
/// Returns a Model. Raises LoadError, with file and line, if the file makes none. Warns (LoadWarning) if the model does
/// not represent all that the file says.
#[pyfunction]
#[pyo3(
    signature = (path, *, free_root=false, ground=false, package_dirs=Vec::new(), pairs=PathBuf::from("default"),
        strict=false, cache=true, decompose=false, terrain=Vec::new(), overlap=OverlapChoice::Keep,
        limits=BTreeMap::new()),
    text_signature = "(path, *, free_root=False, ground=False, package_dirs=(), pairs='default', strict=False, \
        cache=True, decompose=False, terrain=(), overlap='keep', limits={})"
)]
pub fn load(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::path)] path: PathBuf,
    #[pyo3(from_py_with = arg::free_root)] free_root: bool,
    #[pyo3(from_py_with = arg::ground)] ground: bool,
    #[pyo3(from_py_with = arg::package_dirs)] package_dirs: Vec<PathBuf>,
    #[pyo3(from_py_with = arg::pairs)] pairs: PathBuf,
    #[pyo3(from_py_with = arg::strict)] strict: bool,
    #[pyo3(from_py_with = arg::cache)] cache: bool,
    #[pyo3(from_py_with = arg::decompose)] decompose: bool,
    #[pyo3(from_py_with = arg::terrain)] terrain: Vec<String>,
    #[pyo3(from_py_with = overlap_choice)] overlap: OverlapChoice,
    #[pyo3(from_py_with = limit_numbers)] limits: BTreeMap<String, u64>,
) -> Result<Model, Failure> {
    let name = path.display().to_string();
    if name.trim_start().starts_with('<') {
        return Err(PyValueError::new_err("path: expected the name of a file, got XML; loads() takes a text").into());
    }
    let mut options = options(free_root, ground, package_dirs, pairs, strict, cache, decompose, terrain, overlap);
    set_limits(&mut options, limits)?;
    let model = abandonable(py, move || slipstick::load_with(path, &options))?;
    warn(py, &name, &model)?;
    Ok(Model::new(model))
}

/// Loads a text in MJCF or URDF; the root element tells which.
///
/// text (str); folder (str or path-like): where files that the text names lie, default: the current folder. Other arguments,
/// result and errors are those of load().
#[pyfunction]
#[pyo3(
    signature = (text, *, folder=PathBuf::new(), free_root=false, ground=false, package_dirs=Vec::new(),
        pairs=PathBuf::from("default"), strict=false, cache=true, decompose=false, terrain=Vec::new(), overlap=OverlapChoice::Keep,
        limits=BTreeMap::new()),
    text_signature = "(text, *, folder='', free_root=False, ground=False, package_dirs=(), pairs='default', \
        strict=False, cache=True, decompose=False, terrain=(), overlap='keep', limits={})"
)]
pub fn loads(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::text)] text: &str,
    #[pyo3(from_py_with = arg::folder)] folder: PathBuf,
    #[pyo3(from_py_with = arg::free_root)] free_root: bool,
    #[pyo3(from_py_with = arg::ground)] ground: bool,
    #[pyo3(from_py_with = arg::package_dirs)] package_dirs: Vec<PathBuf>,
    #[pyo3(from_py_with = arg::pairs)] pairs: PathBuf,
    #[pyo3(from_py_with = arg::strict)] strict: bool,
    #[pyo3(from_py_with = arg::cache)] cache: bool,
    #[pyo3(from_py_with = arg::decompose)] decompose: bool,
    #[pyo3(from_py_with = arg::terrain)] terrain: Vec<String>,
    #[pyo3(from_py_with = overlap_choice)] overlap: OverlapChoice,
    #[pyo3(from_py_with = limit_numbers)] limits: BTreeMap<String, u64>,
) -> Result<Model, Failure> {
    if !text.trim_start().starts_with('<') {
        let start: String = text.chars().take(40).collect();
        let wrong = format!("text: expected XML, got {start:?}; load() takes the name of a file");
        return Err(PyValueError::new_err(wrong).into());
    }
    let mut options = options(free_root, ground, package_dirs, pairs, strict, cache, decompose, terrain, overlap);
    set_limits(&mut options, limits)?;
    let name = folder.join("text").display().to_string();
    let (given, place) = (text.to_owned(), name.clone());
    let model = abandonable(py, move || slipstick::files::load_str(&place, &given, &options))?;
    warn(py, &name, &model)?;
    Ok(Model::new(model))
}

fn options(
    free_root: bool,
    ground: bool,
    package_dirs: Vec<PathBuf>,
    pairs: PathBuf,
    strict: bool,
    cache: bool,
    decompose: bool,
    terrain: Vec<String>,
    overlap: OverlapChoice,
) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.free_root = free_root;
    options.ground = ground;
    options.package_dirs = package_dirs;
    options.pairs = pair_choice(pairs);
    options.strict = strict;
    options.cache = cache;
    options.decompose = decompose;
    options.terrain = terrain;
    options.overlap = overlap;
    options
}

/// Warnings that are spelled out; the others are counted.
const SPELLED_OUT: usize = 3;

/// Says once what of a file the model does not represent. With `warnings.simplefilter("error")` that is an exception.
fn warn(py: Python<'_>, file: &str, model: &slipstick::Model) -> PyResult<()> {
    let all = model.warnings();
    if all.is_empty() {
        return Ok(());
    }
    let (count, noun) = (all.len(), if all.len() == 1 { "warning" } else { "warnings" });
    let mut text = format!("{file}: {count} {noun} (Model.warnings has all of them)");
    for warning in all.iter().take(SPELLED_OUT) {
        text += &format!("\n  {warning}");
    }
    if count > SPELLED_OUT {
        text += &format!("\n  and {} more", count - SPELLED_OUT);
    }
    let text = CString::new(text.replace('\0', " "))?;
    PyErr::warn(py, &py.get_type::<LoadWarning>(), &text, 1)
}

/// One of the words for what becomes of overlaps.
fn overlap_choice(x: &Bound<'_, PyAny>) -> PyResult<OverlapChoice> {
    let word: &str = arg::overlap(x)?;
    word.parse().map_err(|e: String| PyValueError::new_err(format!("overlap: {e}")))
}

/// Numbers by name.
fn limit_numbers(x: &Bound<'_, PyAny>) -> PyResult<BTreeMap<String, u64>> {
    x.extract().map_err(|_| wrong_type("limits", "a dict of names to ints from 0 on", x))
}

fn set_limits(options: &mut LoadOptions, limits: BTreeMap<String, u64>) -> PyResult<()> {
    for (name, value) in limits {
        match options.limits.by_name(&name) {
            Some(limit) => *limit = usize::try_from(value).unwrap_or(usize::MAX),
            None => return Err(unknown("limits", Limits::names(), &name).into()),
        }
    }
    Ok(())
}

/// One of the words for a rule, else a file.
fn pair_choice(text: PathBuf) -> PairChoice {
    match text.to_str().map(PairChoice::from_str) {
        Some(Ok(choice)) => choice,
        _ => PairChoice::File(text),
    }
}

/// A robot that comes with the library, by name; builtin_names() lists them.
///
/// Raises ValueError for a name that no robot has.
#[pyfunction]
pub fn builtin(py: Python<'_>, #[pyo3(from_py_with = arg::name)] name: &str) -> Result<Model, Failure> {
    Ok(Model::new(py.detach(|| slipstick::builtin(name))?))
}

/// Names of the built-in robots (list of str), small ones first.
#[pyfunction]
pub fn builtin_names() -> Vec<&'static str> {
    slipstick::builtin_names().collect()
}
