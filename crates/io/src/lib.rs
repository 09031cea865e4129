//! Robot descriptions to models: MJCF and URDF files, and the meshes they name.
//!
//! [`load()`] tells the format by the root element. Everything ends in a [`slipstick_core::ModelBuilder`], so that a file
//! passes the same checks as a robot written in code. What a file says and the model cannot represent is listed in
//! [`slipstick_core::Model::warnings`].
//!
//! ```
//! let xml = r#"<mujoco><worldbody><body><joint axis="0 1 0"/><geom size="0.1" pos="0 0 -1"/></body></worldbody></mujoco>"#;
//! let model = slipstick_io::load_mjcf_str("pendulum", xml, &Default::default())?;
//! assert_eq!((model.nq(), model.nv()), (1, 1));
//! # Ok::<(), slipstick_io::LoadError>(())
//! ```

mod attribute;
mod error;
mod inertia;
mod mesh;
mod mjcf;
mod names;
mod orientation;
mod urdf;
mod warning;
mod xml;

pub use error::{LoadError, Place};

use slipstick_core::Model;
use std::path::{Path, PathBuf};
use xml::Document;

/// What a file does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Let the root link move freely: adds a free joint named `root`.
    pub free_root: bool,
    /// Add a floor: the half-space below z = 0.
    pub ground: bool,
    /// Folders in which the packages of `package://` addresses lie. Folders above the file are searched after them.
    pub package_dirs: Vec<PathBuf>,
}

/// Loads a MJCF or URDF file.
pub fn load(path: impl AsRef<Path>) -> Result<Model, LoadError> {
    load_with(path, &LoadOptions::default())
}

/// Loads a MJCF or URDF file, with what it does not say.
pub fn load_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Model, LoadError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    refuse_by_name(path, &name)?;
    let text = read_text(path, &name)?;
    let mut document = Document::default();
    let root = document.add(&name, &text)?;
    match document.element(root).name() {
        "mujoco" => mjcf::read(document, root, path, options),
        "robot" => urdf::read(&document, root, path, options),
        "sdf" | "gazebo" => Err(format(&name, "SDF", "convert it to URDF or MJCF first")),
        other => Err(format(&name, &format!("a file with root element <{}>", xml::shown(other)), "")),
    }
}

/// Loads a text in MJCF. `name` stands for the file in messages; files that the text names are looked for beside it.
pub fn load_mjcf_str(name: &str, xml: &str, options: &LoadOptions) -> Result<Model, LoadError> {
    let mut document = Document::default();
    let root = document.add(name, xml)?;
    match document.element(root).name() {
        "mujoco" => mjcf::read(document, root, Path::new(name), options),
        other => Err(format(name, &format!("a text with root element <{}>", xml::shown(other)), "")),
    }
}

/// Loads a text in URDF. `name` stands for the file in messages; files that the text names are looked for beside it.
pub fn load_urdf_str(name: &str, xml: &str, options: &LoadOptions) -> Result<Model, LoadError> {
    let mut document = Document::default();
    let root = document.add(name, xml)?;
    match document.element(root).name() {
        "robot" => urdf::read(&document, root, Path::new(name), options),
        other => Err(format(name, &format!("a text with root element <{}>", xml::shown(other)), "")),
    }
}

/// Formats that are known by their extension and that no XML reader should try.
fn refuse_by_name(path: &Path, name: &str) -> Result<(), LoadError> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "usd" | "usda" | "usdc" | "usdz" => Err(format(name, "USD", "convert it to URDF or MJCF first")),
        "xacro" => Err(format(name, "a xacro macro file", "expand it first: xacro robot.xacro > robot.urdf")),
        _ => Ok(()),
    }
}

fn format(file: &str, got: &str, hint: &str) -> LoadError {
    LoadError::Format {
        place: Box::new(Place { file: file.into(), ..Place::default() }),
        expected: "MJCF (<mujoco>) or URDF (<robot>)".into(),
        got: got.into(),
        hint: hint.into(),
    }
}

/// The text of a file. Bytes that are not UTF-8 occur in comments of old files and are replaced.
fn read_text(path: &Path, name: &str) -> Result<String, LoadError> {
    let place = || Box::new(Place { file: name.into(), ..Place::default() });
    let bytes =
        std::fs::read(path).map_err(|e| LoadError::Read { place: place(), got: e.to_string(), hint: String::new() })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
