//! Where a robot comes from: a built-in name or a file, with the options of loading.

use slipstick::{LoadOptions, Model};
use std::path::{Path, PathBuf};

/// The robot and how to load it.
#[derive(clap::Args)]
pub struct Source {
    /// A built-in robot (see `slipstick models`) or a file (MJCF or URDF).
    #[arg(value_name = "MODEL")]
    pub model: String,
    /// Let the root link of a URDF move freely.
    #[arg(long)]
    pub free_root: bool,
    /// Add a ground plane to a URDF.
    #[arg(long)]
    pub ground: bool,
    /// Folder in which `package://` names are looked up; may be repeated.
    #[arg(long = "package-dir", value_name = "FOLDER")]
    pub package_dirs: Vec<PathBuf>,
}

/// Loads the robot; a name that is neither a file nor built in gets a hint.
pub fn load(source: &Source) -> Result<Model, String> {
    let name = source.model.as_str();
    if slipstick::builtin_names().any(|n| n == name) {
        return slipstick::builtin(name).map_err(|e| e.to_string());
    }
    let looks_like_a_file = name.contains(['/', '.', '\\']) || Path::new(name).exists();
    if !looks_like_a_file {
        let known = slipstick::builtin_names().collect::<Vec<_>>().join(", ");
        return Err(format!("'{name}' is neither a file nor a built-in robot; built in are {known}"));
    }
    let mut options = LoadOptions::default();
    options.free_root = source.free_root;
    options.ground = source.ground;
    options.package_dirs.clone_from(&source.package_dirs);
    slipstick::load_with(name, &options).map_err(|e| e.to_string())
}
