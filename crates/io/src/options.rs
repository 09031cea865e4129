//! What a file does not say, and how much of it is to be trusted.

use crate::limits::Limits;
use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

/// What a file does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Let the root link move freely: adds a free joint named `root`.
    pub free_root: bool,
    /// Add a floor: the half-space below z = 0.
    pub ground: bool,
    /// Folders in which the packages of `package://` addresses lie. Folders above the file are searched after them.
    pub package_dirs: Vec<PathBuf>,
    /// Which geoms may touch.
    pub pairs: PairChoice,
    /// What becomes of geoms that may collide and overlap at the start.
    pub overlap: OverlapChoice,
    /// Refuse a file that gives rise to warnings, with [`LoadError::Strict`](crate::LoadError::Strict).
    pub strict: bool,
    /// Keep convex hulls of meshes in the user's cache folder and take them from there.
    pub cache: bool,
    /// Split collision meshes that are not convex into convex parts, instead of taking their hulls. Without the cargo feature
    /// `decompose` this is refused with [`LoadError::Feature`](crate::LoadError::Feature).
    pub decompose: bool,
    /// Geoms or meshes, by name, whose triangles are ground as they are, neither made convex nor split. They must be fixed
    /// to the world.
    pub terrain: Vec<String>,
    /// How large what the file describes may be.
    pub limits: Limits,
}

impl LoadOptions {
    /// These options with a floor: the half-space below z = 0.
    pub fn with_ground(self) -> LoadOptions {
        LoadOptions { ground: true, ..self }
    }

    /// These options with a root link that moves freely.
    pub fn with_free_root(self) -> LoadOptions {
        LoadOptions { free_root: true, ..self }
    }
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions {
            free_root: false,
            ground: false,
            package_dirs: Vec::new(),
            pairs: PairChoice::FileDefault,
            overlap: OverlapChoice::Keep,
            strict: false,
            cache: true,
            decompose: false,
            terrain: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// What becomes of pairs of geoms that may collide and that overlap where a simulator begins, deeper than contacts at rest do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OverlapChoice {
    /// They collide. A warning names the deepest ones.
    #[default]
    Keep,
    /// Links whose geoms overlap in every pose do not touch each other; a warning names other overlaps.
    Exclude,
    /// The file is refused, with [`LoadError::Overlap`](crate::LoadError::Overlap).
    Error,
}

/// The words `keep`, `exclude` and `error`.
impl FromStr for OverlapChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<OverlapChoice, String> {
        match text {
            "keep" => Ok(OverlapChoice::Keep),
            "exclude" => Ok(OverlapChoice::Exclude),
            "error" => Ok(OverlapChoice::Error),
            other => Err(format!("expected 'keep', 'exclude' or 'error', got '{other}'")),
        }
    }
}

/// Where the list of geoms that may touch comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PairChoice {
    /// MuJoCo's rule for MJCF, the paper's for URDF.
    #[default]
    FileDefault,
    /// MuJoCo's rule: masks, exclusions and explicit pairs of the file.
    Mujoco,
    /// The paper's rule: all but geoms of one body and of a body and its parent; floors touch everything that moves.
    Paper,
    /// A list in a JSON file: `[["geom a", "geom b"], …]`, or an object with `geometries` and `pairs` of their numbers.
    File(PathBuf),
}

/// The words `default`, `mujoco` and `paper`; everything else is a file.
impl FromStr for PairChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<PairChoice, Infallible> {
        Ok(match text {
            "default" => PairChoice::FileDefault,
            "mujoco" => PairChoice::Mujoco,
            "paper" => PairChoice::Paper,
            path => PairChoice::File(path.into()),
        })
    }
}
