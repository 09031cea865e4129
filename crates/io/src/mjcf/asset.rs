//! `<asset>`: meshes and height fields, read when something needs them, and materials.

use super::compiler::Compiler;
use super::defaults::{ClassId, Defaults, Properties};
use super::field;
use super::folder::Folders;
use super::look::Looks;
use crate::LoadOptions;
use crate::attribute::{Attribute, Attributes};
use crate::error::{LoadError, Place};
use crate::mesh::{self, Format, MassRule, PhysicsMesh, Recipe, Solid, TriangleMesh};
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use slipstick_core::model::{FieldId, Mesh, MeshFile, MeshId, MeshSource};
use slipstick_core::spatial::{Pose, Quat, Vec3};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The meshes and height fields that a file names.
#[derive(Debug)]
pub(super) struct Assets<'a> {
    meshes: HashMap<String, Properties<'a>>,
    loaded: HashMap<String, Rc<PhysicsMesh>>,
    added: HashMap<String, Vec<MeshId>>,
    /// Meshes added with all their triangles.
    terrains: HashMap<String, MeshId>,
    fields: HashMap<String, Element<'a>>,
    added_fields: HashMap<String, FieldId>,
    pub looks: Looks<'a>,
    /// Meshes as they are shown.
    pictures: HashMap<String, Arc<MeshSource>>,
    /// Heights of all of them.
    heights: usize,
    folders: Folders,
    options: LoadOptions,
}

impl<'a> Assets<'a> {
    pub fn read(
        root: Element<'a>,
        defaults: &Defaults<'a>,
        compiler: &Compiler,
        options: &LoadOptions,
    ) -> Result<Assets<'a>, LoadError> {
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
        let mut fields = HashMap::new();
        for element in root.all("asset").flat_map(|a| a.all("hfield")) {
            let name = match (element.text("name"), element.text("file")) {
                (Some(name), _) => name.to_string(),
                (None, Some(file)) => stem(file),
                (None, None) => return Err(element.missing("attribute 'name' or 'file'")),
            };
            if fields.insert(name.clone(), element).is_some() {
                let got = format!("a second height field '{name}'");
                return Err(element.structure("every height field to have a name of its own", got));
            }
        }
        Ok(Assets {
            meshes,
            looks: Looks::read(root, defaults, compiler)?,
            pictures: HashMap::new(),
            fields,
            terrains: HashMap::new(),
            added_fields: HashMap::new(),
            heights: 0,
            loaded: HashMap::new(),
            added: HashMap::new(),
            folders: Folders::new(root.file(), compiler),
            options: options.clone(),
        })
    }

    fn properties(&self, name: Attribute) -> Result<&Properties<'a>, LoadError> {
        self.meshes.get(name.value).ok_or_else(|| name.element.unknown("mesh", name.value))
    }

    /// Whether the mesh lies in a file of its own.
    pub fn is_file(&self, name: Attribute) -> Result<bool, LoadError> {
        Ok(self.properties(name)?.attribute("file").is_some())
    }

    /// Whether no convex body can stand for a mesh.
    pub fn is_flat(&mut self, name: Attribute) -> Result<bool, LoadError> {
        Ok(self.mesh(name)?.shapes.is_err())
    }

    /// The mesh that an attribute names, scaled, in the frame of its file.
    fn mesh(&mut self, name: Attribute) -> Result<Rc<PhysicsMesh>, LoadError> {
        if let Some(mesh) = self.loaded.get(name.value) {
            return Ok(mesh.clone());
        }
        let recipe = self.recipe(self.properties(name)?)?;
        let p = self.properties(name)?;
        let mesh = match p.attribute("file") {
            Some(file) => mesh::load(&self.path(file), &recipe).map_err(|e| self.unread(file, "a mesh file", e))?,
            None => mesh::make(written(p)?, &recipe),
        };
        let mesh = Rc::new(mesh);
        self.loaded.insert(name.value.to_string(), mesh.clone());
        Ok(mesh)
    }

    /// How the file of a mesh is to be understood.
    fn recipe(&self, p: &Properties) -> Result<Recipe, LoadError> {
        let scale = p.vec3("scale")?.unwrap_or(Vec3::new(1.0, 1.0, 1.0));
        let origin = p.vec3("refpos")?.unwrap_or(Vec3::ZERO);
        let turn = match p.attribute("refquat") {
            Some(a) => Quat::from_slice(&a.array::<4>()?).normalized().ok_or_else(|| a.wrong("a rotation"))?,
            None => Quat::IDENTITY,
        };
        let reference = Pose::new(origin, turn);
        let kind = p.attribute("content_type").filter(|a| !a.value.is_empty());
        let media = |a: Attribute| {
            Format::of_media(a.value).ok_or_else(|| a.wrong("model/stl, model/obj or model/vnd.mujoco.msh"))
        };
        let format = kind.map(media).transpose()?;
        let max_corners = match (p.integer("maxhullvert", -1)?, p.attribute("maxhullvert")) {
            (-1, _) => None,
            (n, Some(a)) if n < 4 => return Err(a.wrong("at least 4 corners, or -1 for all")),
            (n, _) => Some(n as usize),
        };
        // masses of meshes follow from MuJoCo's single precision
        Ok(Recipe { reference, like_mujoco: true, format, max_corners, ..Recipe::new(scale, &self.options) })
    }

    /// Where the triangles of a mesh are. Its file is not read.
    pub fn picture(&mut self, name: Attribute) -> Result<Arc<MeshSource>, LoadError> {
        if let Some(known) = self.pictures.get(name.value) {
            return Ok(known.clone());
        }
        let p = self.properties(name)?;
        let recipe = self.recipe(p)?;
        let source = match p.attribute("file") {
            Some(file) => MeshSource::File(MeshFile {
                path: self.path(file),
                format: p.attribute("content_type").map_or(String::new(), |a| media_extension(a.value).into()),
                scale: recipe.scale,
                reference: recipe.reference,
            }),
            None => {
                let TriangleMesh { vertices, triangles } = mesh::surface(written(p)?, &recipe);
                MeshSource::Triangles { vertices, triangles }
            }
        };
        let source = Arc::new(source);
        self.pictures.insert(name.value.to_string(), source.clone());
        Ok(source)
    }

    /// A file that cannot be read is a wrong attribute.
    fn unread(&self, file: Attribute, kind: &str, error: LoadError) -> LoadError {
        if let LoadError::Read { got, .. } = &error {
            file.wrong(kind).with_hint(format!("{}: {got}", self.folders.searched(file)))
        } else {
            error
        }
    }

    /// Adds a mesh with all its triangles, as ground, once.
    pub fn add_terrain(&mut self, builder: &mut ModelBuilder, name: Attribute) -> Result<MeshId, LoadError> {
        if let Some(id) = self.terrains.get(name.value) {
            return Ok(*id);
        }
        let p = self.properties(name)?;
        let recipe = self.recipe(p)?;
        let surface = match p.attribute("file") {
            Some(file) => {
                mesh::load_surface(&self.path(file), &recipe).map_err(|e| self.unread(file, "a mesh file", e))?
            }
            None => mesh::surface(written(p)?, &recipe),
        };
        if surface.triangles.is_empty() {
            return Err(p.element().structure("a mesh with triangles, to make it terrain", "none"));
        }
        let mesh =
            Mesh { name: mesh::terrain_name(name.value), vertices: surface.vertices, triangles: surface.triangles };
        let id = builder.add_mesh(mesh);
        self.terrains.insert(name.value.to_string(), id);
        Ok(id)
    }

    /// Adds a height field, once.
    pub fn add_field(&mut self, builder: &mut ModelBuilder, name: Attribute) -> Result<FieldId, LoadError> {
        if let Some(id) = self.added_fields.get(name.value) {
            return Ok(*id);
        }
        let unknown = || name.element.unknown("height field", name.value);
        let element = *self.fields.get(name.value).ok_or_else(unknown)?;
        let file = element.attribute("file");
        let path = file.map(|f| self.path(f));
        let read = field::read(element, name.value, path.as_deref(), self.heights, &self.options.limits);
        let read = read.map_err(|e| file.map_or(e.clone(), |f| self.unread(f, "a height field file", e)))?;
        self.heights += read.heights.len();
        let id = builder.add_field(read);
        self.added_fields.insert(name.value.to_string(), id);
        Ok(id)
    }

    /// Adds the convex bodies that stand for a mesh where things touch it, once: its hull, or its parts.
    pub fn add_to(&mut self, builder: &mut ModelBuilder, name: Attribute) -> Result<Vec<MeshId>, LoadError> {
        if let Some(ids) = self.added.get(name.value) {
            return Ok(ids.clone());
        }
        let mesh = self.mesh(name)?;
        let shapes = mesh.shapes.as_ref().map_err(|reason| mesh::refused(self.place(name), *reason))?;
        if shapes.len() > 1 {
            builder.note(mesh::split_note(name.value, shapes.len()));
        }
        let ids: Vec<MeshId> = mesh::named(name.value, shapes).map(|m| builder.add_mesh(m)).collect();
        self.added.insert(name.value.to_string(), ids.clone());
        Ok(ids)
    }

    /// The file of a mesh, or the element that holds it.
    fn place(&self, name: Attribute) -> Box<Place> {
        let file = self.meshes.get(name.value).and_then(|p| p.attribute("file"));
        Box::new(match file {
            Some(file) => Place { file: self.path(file).display().to_string(), ..Place::default() },
            None => self.meshes.get(name.value).map_or_else(|| name.element.place(), |p| p.element().place()),
        })
    }

    /// The solid that a mesh stands for when its mass is asked for. For a shell, volume means area.
    pub fn solid(&mut self, name: Attribute) -> Result<Solid, LoadError> {
        let mesh = self.mesh(name)?;
        let p = self.properties(name)?;
        let rules = [
            ("legacy", MassRule::Legacy),
            ("exact", MassRule::Exact),
            ("convex", MassRule::Convex),
            ("shell", MassRule::Shell),
        ];
        let plate = p.attribute("builtin").is_some_and(|kind| kind.value == "plate");
        let rule = p.attribute("inertia").filter(|_| !plate);
        let usual = if plate { MassRule::Shell } else { MassRule::Legacy };
        let rule = rule.map_or(Ok(usual), |a| a.one_of(&rules))?;
        let hint = "are all triangles in one plane (then try inertia=\"shell\"), or inside out?";
        let none = || p.element().structure("a mesh with a volume", "none").with_hint(hint);
        mesh.solid(rule).ok_or_else(none)
    }

    /// Lowest and highest coordinates of the convex bodies of a mesh, seen from a frame in that of the mesh.
    pub fn bounds(&mut self, name: Attribute, frame: &Pose) -> Result<(Vec3, Vec3), LoadError> {
        let mesh = self.mesh(name)?;
        let shapes = mesh.shapes.as_ref().map_err(|reason| mesh::refused(self.place(name), *reason))?;
        let points = shapes.iter().flat_map(|s| &s.vertices).map(|v| frame.rotation.tmul(*v - frame.position));
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for (k, x) in points.flat_map(|point| point.to_array().into_iter().enumerate()) {
            (low[k], high[k]) = (low[k].min(x), high[k].max(x));
        }
        Ok((Vec3::from(low), Vec3::from(high)))
    }

    fn path(&self, file: Attribute) -> PathBuf {
        self.folders.path(file)
    }
}

/// The extension that a media type stands for, as in `model/vnd.mujoco.msh`.
fn media_extension(kind: &str) -> &str {
    kind.rsplit(['/', '.']).next().unwrap_or_default()
}

/// A mesh without a file of its own: one that MuJoCo generates, or vertices and perhaps faces.
fn written(p: &Properties) -> Result<TriangleMesh, LoadError> {
    let Some(kind) = p.attribute("builtin").filter(|kind| kind.value != "none") else { return inline(p) };
    if p.attribute("vertex").is_some() {
        return Err(kind.wrong("no builtin beside vertices"));
    }
    let params = p.required("params")?;
    mesh::builtin(kind.value, &params.floats(0..=usize::MAX)?).map_err(|expected| params.wrong(expected))
}

/// A mesh written out in the file: vertices and perhaps faces.
fn inline(p: &Properties) -> Result<TriangleMesh, LoadError> {
    let Some(vertex) = p.attribute("vertex") else {
        return Err(p.element().missing("attribute 'file', 'vertex' or 'builtin'"));
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
    Ok(TriangleMesh { vertices, triangles })
}

/// Name of a file without folders and extension.
fn stem(file: &str) -> String {
    Path::new(file).file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned())
}
