//! `<asset>`: meshes, read when something needs them.

use super::compiler::Compiler;
use super::defaults::{ClassId, Defaults, Properties};
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::mesh::{self, MeshData, Solid};
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::spatial::{Quat, Vec3};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The meshes that a file names.
#[derive(Debug)]
pub(super) struct Assets<'a> {
    meshes: HashMap<String, Properties<'a>>,
    loaded: HashMap<String, Rc<MeshData>>,
    mesh_dir: PathBuf,
    strip_path: bool,
}

impl<'a> Assets<'a> {
    pub fn read(root: Element<'a>, defaults: &Defaults<'a>, compiler: &Compiler) -> Result<Assets<'a>, LoadError> {
        let mut meshes = HashMap::new();
        for element in root.all("asset").flat_map(|a| a.all("mesh")) {
            let p = defaults.complete(element, &["mesh"], ClassId::MAIN)?;
            let name = match (element.text("name"), element.text("file")) {
                (Some(name), _) => name.to_string(),
                (None, Some(file)) => stem(file),
                (None, None) => return Err(element.missing("attribute 'name' or 'file'")),
            };
            if meshes.insert(name.clone(), p).is_some() {
                return Err(
                    element.structure("every mesh to have a name of its own", format!("a second mesh '{name}'"))
                );
            }
        }
        Ok(Assets {
            meshes,
            loaded: HashMap::new(),
            mesh_dir: compiler.mesh_dir.clone(),
            strip_path: compiler.strip_path,
        })
    }

    fn properties(&self, name: Attribute) -> Result<&Properties<'a>, LoadError> {
        self.meshes.get(name.value).ok_or_else(|| name.element.unknown("mesh", name.value))
    }

    /// Whether the mesh lies in a file of its own.
    pub fn is_file(&self, name: Attribute) -> Result<bool, LoadError> {
        Ok(self.properties(name)?.attribute("file").is_some())
    }

    /// Vertices and triangles of the mesh that an attribute names, scaled, in the frame of its file.
    pub fn mesh(&mut self, name: Attribute) -> Result<Rc<MeshData>, LoadError> {
        if let Some(mesh) = self.loaded.get(name.value) {
            return Ok(mesh.clone());
        }
        let p = self.properties(name)?;
        let mut data = match p.attribute("file") {
            Some(file) => mesh::read(&self.path(file)).map_err(|e| {
                if let LoadError::Read { got, .. } = &e {
                    file.wrong("a mesh file").with_hint(format!("{}: {got}", self.path(file).display()))
                } else {
                    e
                }
            })?,
            None => inline(p)?,
        };
        data.vertices.iter_mut().for_each(|v| *v = single_precision(*v));
        let data = data.scaled(p.vec3("scale")?.unwrap_or(Vec3::new(1.0, 1.0, 1.0)));
        let origin = p.vec3("refpos")?.unwrap_or(Vec3::ZERO);
        let turn = match p.attribute("refquat") {
            Some(a) => Quat::from_slice(&a.array::<4>()?).normalized().ok_or_else(|| a.wrong("a rotation"))?,
            None => Quat::IDENTITY,
        };
        let data = Rc::new(data.seen_from(origin, &turn.to_matrix()));
        self.loaded.insert(name.value.to_string(), data.clone());
        Ok(data)
    }

    /// The solid that a mesh stands for when its mass is asked for.
    pub fn solid(&mut self, name: Attribute, warnings: &mut Warnings) -> Result<Solid, LoadError> {
        let mesh = self.mesh(name)?;
        let p = self.properties(name)?;
        let element = p.element();
        if mesh.triangles.is_empty() {
            let hint = "give the mesh faces, or its body an <inertial>";
            return Err(element.unsupported("the mass of a mesh without faces").with_hint(hint));
        }
        let solid = match p.attribute("inertia").map_or("legacy", |a| a.value) {
            "legacy" => mesh::solid_legacy(&mesh.vertices, &mesh.triangles),
            "exact" => mesh::solid_exact(&mesh.vertices, &mesh.triangles),
            _ => {
                warnings.add_once(element, "inertia of meshes as shell or hull is not known: taken by the legacy rule");
                mesh::solid_legacy(&mesh.vertices, &mesh.triangles)
            }
        };
        let hint = "are all triangles in one plane, or inside out?";
        solid.ok_or_else(|| element.structure("a mesh with a volume", "none").with_hint(hint))
    }

    fn path(&self, file: Attribute) -> PathBuf {
        let name = Path::new(file.value);
        let name = if self.strip_path { name.file_name().map_or(name, Path::new) } else { name };
        self.mesh_dir.join(name)
    }
}

/// A mesh written out in the file: vertices and perhaps faces.
fn inline(p: &Properties) -> Result<MeshData, LoadError> {
    let Some(vertex) = p.attribute("vertex") else {
        return Err(p.element().missing("attribute 'file' or 'vertex'"));
    };
    let numbers = vertex.floats(12..=usize::MAX)?;
    if numbers.len() % 3 != 0 {
        return Err(vertex.wrong(format!("three numbers per vertex ({} are not whole vertices)", numbers.len())));
    }
    let vertices: Vec<Vec3> = numbers.chunks_exact(3).map(Vec3::from_slice).collect();
    let mut triangles = Vec::new();
    if let Some(face) = p.attribute("face") {
        let corners: Option<Vec<u32>> = face.value.split_whitespace().map(|w| w.parse().ok()).collect();
        let corners = corners.filter(|c| c.len() % 3 == 0 && c.iter().all(|i| (*i as usize) < vertices.len()));
        let corners =
            corners.ok_or_else(|| face.wrong(format!("three vertex numbers below {} per face", vertices.len())))?;
        triangles = corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
    }
    Ok(MeshData { vertices, triangles })
}

/// MuJoCo keeps vertices in single precision, and masses of meshes follow from that.
fn single_precision(v: Vec3) -> Vec3 {
    Vec3::from(v.to_array().map(|x| f64::from(x as f32)))
}

/// Name of a file without folders and extension.
fn stem(file: &str) -> String {
    Path::new(file).file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned())
}
