//! `<collision>`: shapes that touch, and where their mesh files are.

use super::compiler::Compiler;
use super::link::origin;
use crate::attribute::{Attribute, Attributes};
use crate::error::{LoadError, Place};
use crate::warning::Warnings;
use crate::xml::Element;
use crate::{LoadOptions, mesh};
use slipstick_core::ModelBuilder;
use slipstick_core::model::{FrameId, GeomSpec, Mesh, MeshId, MeshSource, Shape};
use slipstick_core::spatial::Vec3;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Radius of a ball that stands for a point (m).
const POINT_RADIUS: f64 = 1e-9;

/// Adds collision shapes; knows where mesh files are.
pub(super) struct Shapes<'b> {
    folder: &'b Path,
    package_dirs: &'b [PathBuf],
    options: &'b LoadOptions,
    compiler: &'b Compiler,
    /// Meshes added so far, by file and scale.
    meshes: HashMap<(PathBuf, [u64; 3]), Vec<MeshId>>,
    mesh_names: HashMap<String, usize>,
    /// Meshes that are shown.
    shown: Vec<Arc<MeshSource>>,
}

impl<'b> Shapes<'b> {
    pub fn new(file: &'b Path, options: &'b LoadOptions, compiler: &'b Compiler) -> Shapes<'b> {
        let folder = file.parent().unwrap_or(Path::new(""));
        let package_dirs = &options.package_dirs;
        let (meshes, mesh_names) = (HashMap::new(), HashMap::new());
        Shapes { folder, package_dirs, options, compiler, meshes, mesh_names, shown: Vec::new() }
    }

    /// Adds the shapes of a link, named `link_0`, `link_1`, …
    pub fn add(
        &mut self,
        link: Element,
        id: FrameId,
        builder: &mut ModelBuilder,
        warnings: &mut Warnings,
    ) -> Result<(), LoadError> {
        let name = link.text("name").unwrap_or_default();
        for (k, collision) in link.all("collision").enumerate() {
            let geometry = collision.child("geometry").ok_or_else(|| collision.missing("<geometry>"))?;
            let pose = origin(collision)?;
            let name = format!("{name}_{k}");
            for (i, shape) in self.shapes(geometry, &name, builder, warnings)?.into_iter().enumerate() {
                // further parts of a mesh that was split
                let name = if i == 0 { name.clone() } else { format!("{name}_part{}", i + 1) };
                builder.add_geom(id, GeomSpec { pose, ..GeomSpec::new(name, shape) });
            }
        }
        Ok(())
    }

    /// One shape; none where it is not known; several where a mesh was split.
    fn shapes(
        &mut self,
        geometry: Element,
        name: &str,
        builder: &mut ModelBuilder,
        warnings: &mut Warnings,
    ) -> Result<Vec<Shape>, LoadError> {
        let Some(e) = geometry.children().next() else { return Err(geometry.missing("a shape")) };
        Ok(vec![match e.name() {
            "sphere" => {
                let radius = e.required("radius")?;
                // some files mark contact points by balls of radius zero
                Shape::Sphere { radius: if radius.float()? == 0.0 { POINT_RADIUS } else { positive(radius)? } }
            }
            "box" => {
                let size = e.required("size")?;
                let [x, y, z] = size.array()?.map(|s: f64| 0.5 * s);
                if !(x > 0.0 && y > 0.0 && z > 0.0) {
                    return Err(size.wrong("3 positive numbers"));
                }
                Shape::Box { half_size: Vec3::new(x, y, z) }
            }
            "cylinder" | "capsule" => {
                let radius = positive(e.required("radius")?)?;
                let half_length = 0.5 * positive(e.required("length")?)?;
                if e.name() == "capsule" {
                    Shape::Capsule { radius, half_length }
                } else {
                    Shape::Cylinder { radius, half_length }
                }
            }
            "mesh" => {
                let path = self.find(e.required("filename")?)?;
                if !mesh::is_known(&path) {
                    let effect = "mesh files other than STL, OBJ, DAE, glTF and MSH are not supported: this shape does not collide";
                    warnings.add_once(e, effect);
                    return Ok(Vec::new());
                }
                let terrain = &self.options.terrain;
                if terrain.iter().any(|t| t == name || *t == stem(&path)) {
                    return Ok(vec![Shape::Terrain { mesh: self.terrain(e, path, builder)? }]);
                }
                let meshes = self.meshes(e, path, builder)?;
                return Ok(meshes.into_iter().map(|mesh| Shape::Mesh { mesh }).collect());
            }
            other => {
                let effect = format!("shape <{}> is not supported and does not collide", crate::xml::shown(other));
                warnings.add(e, effect);
                return Ok(Vec::new());
            }
        }])
    }

    fn meshes(&mut self, e: Element, path: PathBuf, builder: &mut ModelBuilder) -> Result<Vec<MeshId>, LoadError> {
        let scale = e.vec3("scale")?.unwrap_or(Vec3::new(1.0, 1.0, 1.0));
        let key = (path.clone(), scale.to_array().map(f64::to_bits));
        if let Some(ids) = self.meshes.get(&key) {
            return Ok(ids.clone());
        }
        let shapes = mesh::load_shapes(&path, &mesh::Recipe::new(scale, self.options))?;
        let name = self.mesh_name(stem(&path));
        if shapes.len() > 1 {
            builder.note(mesh::split_note(&name, shapes.len()));
        }
        let ids: Vec<MeshId> = mesh::named(&name, &shapes).map(|m| builder.add_mesh(m)).collect();
        self.meshes.insert(key, ids.clone());
        Ok(ids)
    }

    /// A mesh with all its triangles. Ground is rarely used twice: each use has its own.
    fn terrain(&mut self, e: Element, path: PathBuf, builder: &mut ModelBuilder) -> Result<MeshId, LoadError> {
        let scale = e.vec3("scale")?.unwrap_or(Vec3::new(1.0, 1.0, 1.0));
        let surface = mesh::load_surface(&path, &mesh::Recipe::new(scale, self.options))?;
        if surface.triangles.is_empty() {
            return Err(e.structure("a mesh with triangles, to make it terrain", "none"));
        }
        let name = mesh::terrain_name(&self.mesh_name(stem(&path)));
        Ok(builder.add_mesh(Mesh { name, vertices: surface.vertices, triangles: surface.triangles }))
    }

    /// The stem of the file, numbered if several meshes have it.
    fn mesh_name(&mut self, stem: String) -> String {
        let mut name = stem.clone();
        while self.mesh_names.contains_key(&name) {
            let count = self.mesh_names.entry(stem.clone()).or_insert(1);
            *count += 1;
            name = format!("{stem}_{count}");
        }
        self.mesh_names.insert(name.clone(), 1);
        name
    }

    /// The file that an address means, whether or not it is there.
    pub fn probable(&self, address: Attribute) -> Result<PathBuf, LoadError> {
        if leaves_its_package(address.value) {
            return Err(address.wrong("a path that stays inside its package"));
        }
        let candidates = self.candidates(address.value);
        let found = candidates.iter().find(|p| p.is_file()).or(candidates.first());
        Ok(found.cloned().unwrap_or_default())
    }

    /// One mesh for all visuals that show it.
    pub fn shared(&mut self, source: MeshSource) -> Arc<MeshSource> {
        if let Some(known) = self.shown.iter().find(|known| ***known == source) {
            return known.clone();
        }
        self.shown.push(Arc::new(source));
        self.shown[self.shown.len() - 1].clone()
    }

    /// The file that an address means: package://name/path, file://path, or a path beside the URDF.
    fn find(&self, address: Attribute) -> Result<PathBuf, LoadError> {
        if leaves_its_package(address.value) {
            return Err(address.wrong("a path that stays inside its package"));
        }
        let candidates = self.candidates(address.value);
        if let Some(path) = candidates.iter().find(|p| p.is_file()) {
            return Ok(path.clone());
        }
        let looked: Vec<String> = candidates.iter().map(|p| p.display().to_string()).collect();
        let place: Place = address.element.place();
        Err(LoadError::Read {
            place: Box::new(place),
            got: format!("'{}' was not found; looked for {}", crate::xml::shown(address.value), looked.join(", ")),
            hint: "name the folder of its package with package_dirs".into(),
        })
    }

    fn candidates(&self, address: &str) -> Vec<PathBuf> {
        let path = address.split_once("://").map_or(address, |(_, path)| path);
        let mut out = Vec::new();
        if let Some(dir) = &self.compiler.mesh_dir {
            let name = Path::new(path);
            let name = if self.compiler.strip_path { name.file_name().map_or(name, Path::new) } else { name };
            out.push(self.folder.join(dir).join(name));
        }
        out.extend(self.plain_candidates(address));
        out
    }

    fn plain_candidates(&self, address: &str) -> Vec<PathBuf> {
        let package = address.strip_prefix("package://").or_else(|| address.strip_prefix("model://"));
        let Some(inner) = package else {
            return vec![self.folder.join(address.strip_prefix("file://").unwrap_or(address))];
        };
        let inner = inner.trim_start_matches('/'); // some files write three slashes
        let (name, rest) = inner.split_once('/').unwrap_or((inner, ""));
        let absolute = std::path::absolute(self.folder).unwrap_or_else(|_| self.folder.to_path_buf());
        let roots = self.package_dirs.iter().map(PathBuf::as_path).chain(absolute.ancestors());
        // a folder may hold the package, or be it
        roots
            .flat_map(|root| {
                let itself = root.file_name().is_some_and(|n| n == name).then(|| root.join(rest));
                [Some(root.join(name).join(rest)), itself]
            })
            .flatten()
            .collect()
    }
}

/// Name of a file without folders and extension.
fn stem(path: &Path) -> String {
    path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned())
}

/// Whether a `package://` address climbs out of its package by `..`.
fn leaves_its_package(address: &str) -> bool {
    let Some((_, inner)) = address.split_once("://").filter(|(scheme, _)| *scheme != "file") else { return false };
    let mut depth = 0;
    Path::new(inner.trim_start_matches('/')).components().any(|c| {
        depth += match c {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            _ => 0,
        };
        depth < 1
    })
}

fn positive(a: Attribute) -> Result<f64, LoadError> {
    let x = a.float()?;
    if x > 0.0 { Ok(x) } else { Err(a.wrong("a positive number")) }
}
