//! `<link>`: inertia and collision shapes. Visuals are never read.

use crate::attribute::{Attribute, Attributes};
use crate::error::{LoadError, Place};
use crate::inertia::defect;
use crate::mesh;
use crate::orientation::roll_pitch_yaw;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::spatial::{BodyInertia, Pose, Sym3, Vec3};
use slipstick_core::{FrameId, GeomSpec, Mesh, MeshId, ModelBuilder, Shape};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Radius of a ball that stands for a point (m).
const POINT_RADIUS: f64 = 1e-9;

/// The `<origin>` of an element: identity where there is none.
pub(super) fn origin(e: Element) -> Result<Pose, LoadError> {
    let Some(origin) = e.child("origin") else { return Ok(Pose::IDENTITY) };
    let position = origin.vec3("xyz")?.unwrap_or(Vec3::ZERO);
    let turn = origin.array("rpy")?.map_or(Pose::IDENTITY, |rpy| Pose::new(Vec3::ZERO, roll_pitch_yaw(rpy)));
    Ok(Pose { position, rotation: turn.rotation })
}

/// The `<inertial>` of a link in its own frame: nothing where there is none.
pub(super) fn inertia(link: Element, warnings: &mut Warnings) -> Result<BodyInertia, LoadError> {
    let Some(e) = link.child("inertial") else { return Ok(BodyInertia::default()) };
    let mass = e.child("mass").ok_or_else(|| e.missing("<mass>"))?.required("value")?;
    let value = mass.float()?;
    if value < 0.0 {
        return Err(mass.wrong("zero or a positive mass"));
    }
    let about_com = match e.child("inertia") {
        Some(i) => Sym3 {
            xx: i.float_or("ixx", 0.0)?,
            xy: i.float_or("ixy", 0.0)?,
            yy: i.float_or("iyy", 0.0)?,
            xz: i.float_or("ixz", 0.0)?,
            yz: i.float_or("iyz", 0.0)?,
            zz: i.float_or("izz", 0.0)?,
        },
        None => Sym3::ZERO,
    };
    let inertia = BodyInertia { mass: value, com: Vec3::ZERO, about_com }.moved(&origin(e)?);
    if let Some(text) = defect(&inertia) {
        warnings.add(link, text);
    }
    Ok(inertia)
}

/// Adds collision shapes; knows where mesh files are.
pub(super) struct Shapes<'b> {
    folder: &'b Path,
    package_dirs: &'b [PathBuf],
    /// Meshes added so far, by file and scale.
    meshes: HashMap<(PathBuf, [u64; 3]), MeshId>,
    mesh_names: HashMap<String, usize>,
}

impl<'b> Shapes<'b> {
    pub fn new(file: &'b Path, package_dirs: &'b [PathBuf]) -> Shapes<'b> {
        let folder = file.parent().unwrap_or(Path::new(""));
        Shapes { folder, package_dirs, meshes: HashMap::new(), mesh_names: HashMap::new() }
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
            let Some(shape) = self.shape(geometry, builder, warnings)? else { continue };
            let pose = origin(collision)?;
            builder.add_geom(id, GeomSpec { pose, ..GeomSpec::new(format!("{name}_{k}"), shape) });
        }
        Ok(())
    }

    fn shape(
        &mut self,
        geometry: Element,
        builder: &mut ModelBuilder,
        warnings: &mut Warnings,
    ) -> Result<Option<Shape>, LoadError> {
        let Some(e) = geometry.children().next() else { return Err(geometry.missing("a shape")) };
        Ok(Some(match e.name() {
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
                    let effect = "mesh files other than STL and OBJ are not read: nothing will touch this shape";
                    warnings.add_once(e, effect);
                    return Ok(None);
                }
                Shape::Mesh { mesh: self.mesh(e, path, builder)? }
            }
            other => {
                let effect = format!("shape <{}> is not known: nothing will touch it", crate::xml::shown(other));
                warnings.add(e, effect);
                return Ok(None);
            }
        }))
    }

    fn mesh(&mut self, e: Element, path: PathBuf, builder: &mut ModelBuilder) -> Result<MeshId, LoadError> {
        let scale = e.vec3("scale")?.unwrap_or(Vec3::new(1.0, 1.0, 1.0));
        let key = (path.clone(), scale.to_array().map(f64::to_bits));
        if let Some(id) = self.meshes.get(&key) {
            return Ok(*id);
        }
        let data = mesh::read(&path)?.scaled(scale);
        let stem = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
        let id =
            builder.add_mesh(Mesh { name: self.mesh_name(stem), vertices: data.vertices, triangles: data.triangles });
        self.meshes.insert(key, id);
        Ok(id)
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

    /// The file that an address means: package://name/path, file://path, or a path beside the URDF.
    fn find(&self, address: Attribute) -> Result<PathBuf, LoadError> {
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
        let package = address.strip_prefix("package://").or_else(|| address.strip_prefix("model://"));
        let Some(inner) = package else {
            return vec![self.folder.join(address.strip_prefix("file://").unwrap_or(address))];
        };
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

fn positive(a: Attribute) -> Result<f64, LoadError> {
    let x = a.float()?;
    if x > 0.0 { Ok(x) } else { Err(a.wrong("a positive number")) }
}
