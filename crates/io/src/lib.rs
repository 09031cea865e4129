//! Robot descriptions to models and back: MJCF and URDF files, and the meshes they name.
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

mod atomic;
mod attribute;
mod cache;
mod error;
mod inertia;
mod limits;
mod mesh;
mod mjcf;
mod names;
mod options;
mod orientation;
mod overlap;
mod pairs;
mod scan;
mod source;
mod urdf;
mod warning;
mod write;
mod xml;

pub use atomic::{check_writable, write_file};
pub use error::{LoadError, Place};
pub use limits::Limits;
pub use mesh::{NoHull, Paint, PaintedMesh, PaintedPart, TriangleMesh, convex_hull, load_mesh_file, load_visual_mesh};
pub use mjcf::schema_table;
pub use options::{LoadOptions, OverlapChoice, PairChoice};
pub use overlap::{Overlap, overlaps};
pub use source::read as read_file;
pub use urdf::urdf_schema_table;
pub use write::{
    ConversionWarning, content_hash, mesh_file_names, mesh_to_obj, to_mjcf, to_mjcf_with_warnings, to_urdf,
};

use slipstick_core::Model;
use slipstick_core::model::{Geom, PairRule, Shape};
use std::path::Path;
use xml::Document;

/// Loads a MJCF or URDF file.
pub fn load(path: impl AsRef<Path>) -> Result<Model, LoadError> {
    load_with(path, &LoadOptions::default())
}

/// Loads a MJCF or URDF file, with what it does not say.
pub fn load_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Model, LoadError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    refuse_by_name(path, &name)?;
    load_text(path, &name, &source::read_text(path, &options.limits)?, options)
}

/// Loads a text in MJCF or URDF; the root element tells which. `name` stands for the file in messages; files that the text
/// names are looked for beside it.
pub fn load_str(name: &str, xml: &str, options: &LoadOptions) -> Result<Model, LoadError> {
    load_text(Path::new(name), name, xml, options)
}

fn load_text(path: &Path, name: &str, text: &str, options: &LoadOptions) -> Result<Model, LoadError> {
    let mut document = Document::new(&options.limits);
    let root = document.add(name, text)?;
    match document.element(root).name() {
        "mujoco" => from_mjcf(document, root, path, options),
        "robot" => from_urdf(&document, root, path, options),
        "sdf" | "gazebo" => Err(format(name, "SDF", "convert it to URDF or MJCF first")),
        other => Err(format(name, &format!("a file with root element <{}>", xml::shown(other)), "")),
    }
}

/// Loads a text in MJCF. `name` stands for the file in messages; files that the text names are looked for beside it.
pub fn load_mjcf_str(name: &str, xml: &str, options: &LoadOptions) -> Result<Model, LoadError> {
    let mut document = Document::new(&options.limits);
    let root = document.add(name, xml)?;
    match document.element(root).name() {
        "mujoco" => from_mjcf(document, root, Path::new(name), options),
        other => Err(format(name, &format!("a text with root element <{}>", xml::shown(other)), "")),
    }
}

/// Loads a text in URDF. `name` stands for the file in messages; files that the text names are looked for beside it.
pub fn load_urdf_str(name: &str, xml: &str, options: &LoadOptions) -> Result<Model, LoadError> {
    let mut document = Document::new(&options.limits);
    let root = document.add(name, xml)?;
    match document.element(root).name() {
        "robot" => from_urdf(&document, root, Path::new(name), options),
        other => Err(format(name, &format!("a text with root element <{}>", xml::shown(other)), "")),
    }
}

/// A loaded model with another choice of pairs; the default leaves it as it is.
pub fn with_pairs(model: &Model, choice: &PairChoice) -> Result<Model, LoadError> {
    pairs::apply(model.clone(), choice, model.pair_rule().clone(), &Limits::default())
}

fn from_mjcf(document: Document, root: usize, path: &Path, options: &LoadOptions) -> Result<Model, LoadError> {
    check_features(path, options)?;
    let rule = pairs::rule_of_mjcf(document.element(root));
    let model = mjcf::read(document, root, path, options)?;
    // a list says that the file switches contacts off
    let rule = if let list @ PairRule::List(_) = model.pair_rule() { list.clone() } else { rule };
    finish(model, path, options, rule)
}

fn from_urdf(document: &Document, root: usize, path: &Path, options: &LoadOptions) -> Result<Model, LoadError> {
    check_features(path, options)?;
    finish(urdf::read(document, root, path, options)?, path, options, PairRule::Paper)
}

/// No option is ignored because of how this library was compiled.
fn check_features(path: &Path, options: &LoadOptions) -> Result<(), LoadError> {
    if options.decompose && cfg!(not(feature = "decompose")) {
        let place = Box::new(Place { file: path.display().to_string(), ..Place::default() });
        return Err(LoadError::Feature { place, option: "decompose", feature: "decompose" });
    }
    Ok(())
}

/// What holds for all formats: the list of pairs, overlaps, and the refusal of warnings.
fn finish(model: Model, path: &Path, options: &LoadOptions, rule: PairRule) -> Result<Model, LoadError> {
    check_terrain(&model, path, &options.terrain)?;
    let model = pairs::apply(model, &options.pairs, rule, &options.limits)?;
    pairs::check_number(&model, path, &options.limits)?;
    let model = overlap::apply(model, options.overlap, path)?;
    if options.strict && !model.warnings().is_empty() {
        let place = Box::new(Place { file: path.display().to_string(), ..Place::default() });
        return Err(LoadError::Strict { place, warnings: model.warnings().to_vec() });
    }
    Ok(model)
}

/// Every name that was given for terrain means something.
fn check_terrain(model: &Model, path: &Path, names: &[String]) -> Result<(), LoadError> {
    let means = |name: &String, geom: &Geom| match geom.shape {
        Shape::Terrain { mesh } => geom.name == *name || model.meshes()[mesh.0].name == mesh::terrain_name(name),
        _ => false,
    };
    let unknown = names.iter().find(|name| !model.geoms().iter().any(|g| means(name, g)));
    unknown.map_or(Ok(()), |name| {
        let place = Box::new(Place { file: path.display().to_string(), ..Place::default() });
        let hint = "terrain names geoms that are meshes, or meshes".into();
        Err(LoadError::Unknown { place, expected: "mesh for terrain", got: name.clone(), hint })
    })
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
