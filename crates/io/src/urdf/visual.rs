//! `<visual>` and `<material>`: what is shown. Files are not read here, and what is wrong is a warning of the pictures:
//! robots move without them.

use super::link::origin;
use super::shapes::Shapes;
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use slipstick_core::model::{
    FrameId, Look, Material, MeshFile, MeshSource, Shape, Texture, TextureSource, VisualShape, VisualSpec,
};
use slipstick_core::spatial::{Pose, Vec3};
use std::collections::HashMap;
use std::sync::Arc;

/// The materials that a robot names for all its links.
pub(super) struct Materials<'a>(HashMap<&'a str, Arc<Material>>);

impl<'a> Materials<'a> {
    pub fn read(robot: Element<'a>, shapes: &Shapes, builder: &mut ModelBuilder) -> Materials<'a> {
        let inside = robot.all("link").flat_map(|link| link.all("visual")).flat_map(|visual| visual.all("material"));
        let mut materials = HashMap::new();
        // a name that a visual describes holds for others that only name it; the robot's own count more
        for element in inside.chain(robot.all("material")) {
            match (element.text("name"), material(element, shapes)) {
                (Some(name), Ok(Some(material))) => drop(materials.insert(name, Arc::new(material))),
                (_, Ok(_)) => {}
                (_, Err(error)) => builder.warn_of_visuals(error.to_string()),
            }
        }
        Materials(materials)
    }

    fn of(&self, visual: Element, shapes: &Shapes) -> Result<Look, LoadError> {
        let Some(element) = visual.child("material") else { return Ok(Look::default()) };
        let known = || element.text("name").and_then(|name| self.0.get(name)).cloned();
        let own = material(element, shapes)?.map(Arc::new);
        Ok(Look { rgba: None, material: own.or_else(known) })
    }
}

/// A material that says what it is; `None` for a bare name.
fn material(element: Element, shapes: &Shapes) -> Result<Option<Material>, LoadError> {
    let rgba = element.child("color").map(|c| c.required("rgba")?.array::<4>()).transpose()?;
    let file = element.child("texture").map(|t| t.required("filename")).transpose()?;
    let name = element.text("name").unwrap_or_default();
    let file = file.map(|file| shapes.probable(file)).transpose()?;
    let texture =
        file.map(|file| Arc::new(Texture { name: name.into(), cube: false, source: TextureSource::File(file) }));
    let given = rgba.is_some() || texture.is_some();
    Ok(given.then(|| Material { name: name.into(), rgba: rgba.unwrap_or([1.0; 4]), texture, ..Material::default() }))
}

/// Adds what a link shows.
pub(super) fn add(link: Element, id: FrameId, materials: &Materials, shapes: &mut Shapes, builder: &mut ModelBuilder) {
    let name = link.text("name").unwrap_or_default();
    for (k, visual) in link.all("visual").enumerate() {
        let own = visual.text("name").filter(|name| !name.is_empty());
        let name = own.map_or_else(|| format!("{name}_visual_{k}"), String::from);
        match read(visual, name, materials, shapes) {
            Ok(spec) => builder.add_visual(id, spec),
            Err(error) => builder.warn_of_visuals(error.to_string()),
        }
    }
}

fn read(visual: Element, name: String, materials: &Materials, shapes: &mut Shapes) -> Result<VisualSpec, LoadError> {
    let geometry = visual.child("geometry").ok_or_else(|| visual.missing("<geometry>"))?;
    let Some(e) = geometry.children().next() else { return Err(geometry.missing("a shape")) };
    let positive = |a: Attribute| match a.float()? {
        x if x > 0.0 => Ok(x),
        _ => Err(a.wrong("a positive number")),
    };
    let shape = match e.name() {
        "sphere" => Shape::Sphere { radius: positive(e.required("radius")?)? },
        "box" => Shape::Box { half_size: Vec3::from(e.required("size")?.array()?.map(|s: f64| 0.5 * s)) },
        "cylinder" => {
            let half_length = 0.5 * positive(e.required("length")?)?;
            Shape::Cylinder { radius: positive(e.required("radius")?)?, half_length }
        }
        "capsule" => {
            let half_length = 0.5 * positive(e.required("length")?)?;
            Shape::Capsule { radius: positive(e.required("radius")?)?, half_length }
        }
        "mesh" => return mesh(visual, e, name, materials, shapes),
        other => return Err(geometry.structure("a shape that URDF knows", format!("<{}>", crate::xml::shown(other)))),
    };
    let look = materials.of(visual, shapes)?;
    Ok(VisualSpec { name, pose: origin(visual)?, shape: VisualShape::Shape(shape), look, group: 0 })
}

fn mesh(
    visual: Element,
    e: Element,
    name: String,
    materials: &Materials,
    shapes: &mut Shapes,
) -> Result<VisualSpec, LoadError> {
    let scale = e.vec3("scale")?.unwrap_or(Vec3::new(1.0, 1.0, 1.0));
    let path = shapes.probable(e.required("filename")?)?;
    let source = MeshSource::File(MeshFile { path, format: String::new(), scale, reference: Pose::IDENTITY });
    let look = materials.of(visual, shapes)?;
    Ok(VisualSpec { name, pose: origin(visual)?, shape: VisualShape::Mesh(shapes.shared(source)), look, group: 0 })
}
