//! Where a robot comes from: a built-in name or a file, with the options of loading.

use slipstick::files::{Limits, OverlapChoice, PairChoice};
use slipstick::{LoadError, LoadOptions, Model};
use std::path::{Path, PathBuf};

/// How to load a robot. The names are those of `LoadOptions` and of the keywords in Python.
#[derive(clap::Args, Clone, Default)]
pub struct Options {
    /// Add a free joint to a root link that has none.
    #[arg(long)]
    pub free_root: bool,
    /// Add a ground plane.
    #[arg(long)]
    pub ground: bool,
    /// Folder in which `package://` names are looked up; may be repeated.
    #[arg(long = "package-dir", value_name = "FOLDER")]
    pub package_dirs: Vec<PathBuf>,
    /// Which geoms may touch: default (mujoco for MJCF, paper for URDF), mujoco, paper, or a JSON file with a list.
    #[arg(long, value_name = "RULE|FILE", default_value = "default")]
    pub pairs: PairChoice,
    /// What becomes of geoms that overlap at the start: keep, exclude (those of every pose) or error.
    #[arg(long, value_name = "CHOICE", default_value = "keep")]
    pub overlap: OverlapChoice,
    /// Treat warnings as errors.
    #[arg(long)]
    pub strict: bool,
    /// Do not use the cache folder for convex hulls of meshes.
    #[arg(long)]
    pub no_cache: bool,
    /// Split collision meshes into convex parts.
    #[arg(long)]
    pub decompose: bool,
    /// Geom or mesh, fixed to the world, that keeps its triangles as terrain; may be repeated.
    #[arg(long = "terrain", value_name = "NAME")]
    pub terrain: Vec<String>,
    /// How large what the file describes may be, by the name that an error gives; may be repeated.
    #[arg(long = "limit", value_name = "NAME=NUMBER", value_parser = limit)]
    pub limits: Vec<(&'static str, usize)>,
}

/// The robot and how to load it.
#[derive(clap::Args)]
pub struct Source {
    /// A built-in robot (see `slipstick models`) or a file (MJCF or URDF).
    #[arg(value_name = "MODEL")]
    pub model: String,
    #[command(flatten)]
    pub options: Options,
}

impl Options {
    fn to_load_options(&self) -> LoadOptions {
        let mut options = LoadOptions::default();
        options.free_root = self.free_root;
        options.ground = self.ground;
        options.package_dirs.clone_from(&self.package_dirs);
        options.pairs = self.pairs.clone();
        options.overlap = self.overlap;
        options.strict = self.strict;
        options.cache = !self.no_cache;
        options.decompose = self.decompose;
        options.terrain.clone_from(&self.terrain);
        for (name, number) in &self.limits {
            options.limits.by_name(name).into_iter().for_each(|limit| *limit = *number);
        }
        options
    }
}

/// The name of a limit and its number.
fn limit(text: &str) -> Result<(&'static str, usize), String> {
    let (name, number) = text.split_once('=').ok_or("expected NAME=NUMBER")?;
    let known = Limits::names().into_iter().find(|known| *known == name);
    let known = known.ok_or_else(|| format!("expected one of {}, got '{name}'", Limits::names().join(", ")))?;
    let number = number.parse().map_err(|_| format!("expected a number from 0 on, got '{number}'"))?;
    Ok((known, number))
}

/// Why there is no robot.
pub enum Trouble {
    /// The name means nothing.
    Name(String),
    /// The file makes no model.
    Load(LoadError),
}

impl From<Trouble> for String {
    fn from(trouble: Trouble) -> String {
        match trouble {
            Trouble::Name(text) => text,
            Trouble::Load(error) => error.to_string(),
        }
    }
}

/// Loads the robot; a name that is neither a file nor built in gets a hint.
pub fn load(source: &Source) -> Result<Model, String> {
    Ok(load_named(&source.model, &source.options)?)
}

/// Loads a model and returns the error as it came. `strict` is as the options say.
pub fn load_named(name: &str, options: &Options) -> Result<Model, Trouble> {
    if slipstick::builtin_names().any(|n| n == name) {
        let shaped = options.decompose || !options.terrain.is_empty();
        if options.free_root || options.ground || shaped || !options.package_dirs.is_empty() {
            let flags = "--free-root, --ground, --package-dir, --decompose and --terrain are for files";
            return Err(Trouble::Name(format!("{flags}; '{name}' is built in")));
        }
        let model = slipstick::builtin(name).map_err(|e| Trouble::Name(e.to_string()))?;
        return slipstick::files::with_pairs(&model, &options.pairs).map_err(Trouble::Load);
    }
    let looks_like_a_file = name.contains(['/', '.', '\\']) || Path::new(name).exists();
    if !looks_like_a_file {
        let known = slipstick::builtin_names().collect::<Vec<_>>().join(", ");
        let text = format!("'{name}' is neither a file nor a built-in robot; built in are {known}");
        return Err(Trouble::Name(text));
    }
    slipstick::load_with(name, &options.to_load_options()).map_err(Trouble::Load)
}
