//! What a model looks like: shapes and colors for pictures. Physics never reads them; they are no parameters and no part of
//! the content hash.

use super::Model;
use super::geometry::Shape;
use super::ids::{BodyId, FrameId, GeomId};
use crate::error::InputError;
use crate::spatial::{Pose, Vec3};
use std::path::PathBuf;
use std::sync::Arc;

/// MuJoCo's color of a geom without one: gray (red, green, blue, opacity).
pub const GRAY: [f64; 4] = [0.5, 0.5, 0.5, 1.0];
/// Shapes of higher groups are hidden at first, as in MuJoCo's viewer.
const LAST_SHOWN_GROUP: i32 = 2;

/// Everything about a model that only pictures need.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Visuals {
    /// What the file shows, in its order: geoms of MJCF, `<visual>`s of URDF.
    pub shapes: Vec<Visual>,
    /// Color of each geom of the model.
    pub geoms: Vec<Look>,
    /// What of the file's pictures cannot be shown and why.
    pub warnings: Vec<String>,
}

impl Visuals {
    /// Whether there are shapes besides the geoms of the model.
    pub fn has_own_shapes(&self) -> bool {
        self.shapes.iter().any(|v| !matches!(v.shape, VisualShape::Geom(_)))
    }

    /// Whether it fits a model.
    pub(super) fn check(&self, model: &Model) -> Result<(), InputError> {
        let length = |what, expected, got| Err(InputError::Length { what, expected, got });
        if self.geoms.len() != model.geoms().len() {
            return length("colors of geoms", model.geoms().len(), self.geoms.len());
        }
        for visual in &self.shapes {
            if visual.body.0 >= model.n_bodies() {
                return length("bodies with visuals", model.n_bodies(), visual.body.0 + 1);
            }
            if visual.link.0 >= model.frames().len() {
                return length("links with visuals", model.frames().len(), visual.link.0 + 1);
            }
            if let VisualShape::Geom(id) = visual.shape.clone()
                && id.0 >= model.geoms().len()
            {
                return length("geoms that are visuals", model.geoms().len(), id.0 + 1);
            }
        }
        Ok(())
    }
}

/// A shape that is shown.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Visual {
    /// Name; may be empty.
    pub name: String,
    /// The body it moves with.
    pub body: BodyId,
    /// The link it was described in.
    pub link: FrameId,
    /// Its frame in the body's frame.
    pub pose: Pose,
    /// The shape.
    pub shape: VisualShape,
    /// Its color.
    pub look: Look,
    /// MuJoCo's group.
    pub group: i32,
}

impl Visual {
    /// Whether it is drawn unless somebody asks for hidden groups: its group is 0, 1 or 2, and its color is not transparent.
    pub fn is_shown(&self) -> bool {
        self.group <= LAST_SHOWN_GROUP && self.look.rgba()[3] > 0.0
    }
}

/// Description of a shape that is shown, for the builder.
#[derive(Debug, Clone, PartialEq)]
pub struct VisualSpec {
    /// Name; may be empty.
    pub name: String,
    /// Its frame in the link's frame.
    pub pose: Pose,
    /// The shape.
    pub shape: VisualShape,
    /// Its color.
    pub look: Look,
    /// MuJoCo's group: shapes of groups above 2 are hidden.
    pub group: i32,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum VisualShape {
    /// A geom of the model, with the sizes of its parameters.
    Geom(GeomId),
    /// A shape of its own; no mesh.
    Shape(Shape),
    /// A mesh with all its triangles.
    Mesh(Arc<MeshSource>),
}

/// Where the triangles of a mesh are.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum MeshSource {
    /// In a file, which is read when a picture is made.
    File(MeshFile),
    /// Here: points (m) and the numbers of each triangle's corners.
    Triangles {
        /// Corners (m).
        vertices: Vec<Vec3>,
        /// Corner numbers, counter-clockwise from outside.
        triangles: Vec<[u32; 3]>,
    },
}

/// A mesh file and how its numbers are to be understood.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshFile {
    /// Where it was looked for; it may be missing.
    pub path: PathBuf,
    /// Extension that tells the format in the place of the path's (`content_type` of MJCF); may be empty.
    pub format: String,
    /// Stretches along the axes, after the reference.
    pub scale: Vec3,
    /// Frame from which the points are seen (`refpos` and `refquat` of MJCF).
    pub reference: Pose,
}

/// Color and material.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// Red, green, blue and opacity of the shape itself, each 0 to 1; `None`: the file gives none.
    pub rgba: Option<[f64; 4]>,
    /// Its material.
    pub material: Option<Arc<Material>>,
}

impl Look {
    /// The color that counts, by MuJoCo's rule: the shape's own if it is not plain gray, else the material's.
    pub fn rgba(&self) -> [f64; 4] {
        let own = self.rgba.unwrap_or(GRAY);
        self.material.as_ref().filter(|_| own == GRAY).map_or(own, |m| m.rgba)
    }

    /// Whether the file says anything about the color.
    pub fn is_given(&self) -> bool {
        self.rgba.is_some() || self.material.is_some()
    }
}

/// A material of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name; may be empty.
    pub name: String,
    /// Red, green, blue, opacity, each 0 to 1.
    pub rgba: [f64; 4],
    /// Picture that the color is multiplied with.
    pub texture: Option<Arc<Texture>>,
    /// How often the picture is repeated along its two axes.
    pub repeat: [f64; 2],
    /// Whether repeats count per meter instead of per shape.
    pub uniform: bool,
    /// Strength of highlights, 0 to 1.
    pub specular: f64,
    /// How sharp highlights are, 0 to 1.
    pub shininess: f64,
    /// Light that it sends out itself, in shares of its color.
    pub emission: f64,
}

impl Default for Material {
    fn default() -> Material {
        Material {
            name: String::new(),
            rgba: [1.0; 4],
            texture: None,
            repeat: [1.0; 2],
            uniform: false,
            specular: 0.5,
            shininess: 0.5,
            emission: 0.0,
        }
    }
}

/// A picture on a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct Texture {
    /// Name; may be empty.
    pub name: String,
    /// Whether its six sides lie around the shape; else it is flat, laid on by texture coordinates.
    pub cube: bool,
    /// Where it comes from.
    pub source: TextureSource,
}

/// Where a picture comes from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TextureSource {
    /// A file, which is read when a page is made.
    File(PathBuf),
    /// One that MuJoCo generates from two colors (red, green, blue).
    Pattern {
        /// How the colors are laid out.
        pattern: Pattern,
        /// First color.
        first: [f64; 3],
        /// Second color.
        second: [f64; 3],
    },
}

/// Generated pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pattern {
    /// The first color.
    Flat,
    /// Two by two fields.
    Checker,
    /// From the first color in the middle (or on top) to the second.
    Gradient,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_color_of_a_shape_is_its_own_unless_that_is_gray() {
        let red = Arc::new(Material { rgba: [1.0, 0.0, 0.0, 1.0], ..Material::default() });
        let blue = [0.0, 0.0, 1.0, 1.0];
        let look = |rgba, material| Look { rgba, material };
        assert_eq!(Look::default().rgba(), GRAY);
        assert_eq!(look(Some(blue), None).rgba(), blue);
        assert_eq!(look(None, Some(red.clone())).rgba(), red.rgba);
        assert_eq!(look(Some(blue), Some(red.clone())).rgba(), blue);
        assert_eq!(look(Some(GRAY), Some(red.clone())).rgba(), red.rgba);
        assert!(!Look::default().is_given() && look(None, Some(red)).is_given());
    }
}
