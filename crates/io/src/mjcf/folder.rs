//! Where the files of meshes, height fields and textures are looked for.

use super::compiler::Compiler;
use crate::attribute::Attribute;
use std::path::{Path, PathBuf};

/// The folders of a model: that of its main file (with `meshdir`), then that of the included file that names an asset.
#[derive(Debug)]
pub(super) struct Folders {
    /// Folder of the main file with what `meshdir`, `texturedir` or `assetdir` adds.
    folder: PathBuf,
    /// Only the last part of a path counts.
    strip_path: bool,
    main: String,
}

impl Folders {
    /// `main` is the main file of the model that `compiler` belongs to.
    pub fn new(main: &str, compiler: &Compiler) -> Folders {
        Folders { folder: compiler.mesh_dir.clone(), strip_path: compiler.strip_path, main: main.into() }
    }

    /// The folders of textures, which have a `texturedir` of their own.
    pub fn of_textures(main: &str, compiler: &Compiler) -> Folders {
        Folders { folder: compiler.texture_dir.clone(), strip_path: compiler.strip_path, main: main.into() }
    }

    /// The file that an attribute names, whether or not it is there.
    pub fn path(&self, file: Attribute) -> PathBuf {
        let first = self.first(file);
        let second = self.second(file).filter(|path| !first.is_file() && path.is_file());
        second.unwrap_or(first)
    }

    /// Where a file was looked for that is nowhere.
    pub fn searched(&self, file: Attribute) -> String {
        let first = self.first(file);
        match self.second(file).filter(|path| *path != first) {
            Some(second) => format!("{} and {}", first.display(), second.display()),
            None => first.display().to_string(),
        }
    }

    fn first(&self, file: Attribute) -> PathBuf {
        let name = Path::new(file.value);
        let name = if self.strip_path { name.file_name().map_or(name, Path::new) } else { name };
        self.folder.join(name)
    }

    /// Beside the included file, to which `meshdir` does not apply. MuJoCo looks nowhere else once paths are stripped.
    fn second(&self, file: Attribute) -> Option<PathBuf> {
        let including = file.element.file();
        let beside = Path::new(including).parent().filter(|_| including != self.main && !self.strip_path);
        beside.map(|beside| beside.join(file.value))
    }
}
