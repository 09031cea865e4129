//! Shapes fixed to bodies. Collision reads them; dynamics does not.

use super::ids::{BodyId, FieldId, FrameId, MeshId};
use crate::spatial::{Pose, Vec3};

/// A shape, centered in its geom's frame.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Shape {
    /// The half-space below z = 0.
    Plane,
    /// A ball.
    Sphere {
        /// Radius (m).
        radius: f64,
    },
    /// All points nearer than `radius` to a segment along z.
    Capsule {
        /// Radius (m).
        radius: f64,
        /// Half the length of the segment (m).
        half_length: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius (m).
        radius: f64,
        /// Half the height (m).
        half_length: f64,
    },
    /// A cone along z: apex at +z, base at −z.
    Cone {
        /// Radius of the base (m).
        radius: f64,
        /// Half the height (m).
        half_length: f64,
    },
    /// A box.
    Box {
        /// Half the edge lengths (m).
        half_size: Vec3,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Half axes (m).
        radii: Vec3,
    },
    /// A mesh; physics uses its convex hull.
    Mesh {
        /// Which one.
        mesh: MeshId,
    },
    /// Ground given by heights over a grid; fixed to the world.
    HeightField {
        /// Which one.
        field: FieldId,
    },
    /// A mesh whose triangles are ground as they are, not made convex, touched from outside; fixed to the world.
    Terrain {
        /// Which one.
        mesh: MeshId,
    },
}

impl Shape {
    /// The word used in files and reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Shape::Plane => "plane",
            Shape::Sphere { .. } => "sphere",
            Shape::Capsule { .. } => "capsule",
            Shape::Cylinder { .. } => "cylinder",
            Shape::Cone { .. } => "cone",
            Shape::Box { .. } => "box",
            Shape::Ellipsoid { .. } => "ellipsoid",
            Shape::Mesh { .. } => "mesh",
            Shape::HeightField { .. } => "hfield",
            Shape::Terrain { .. } => "terrain",
        }
    }

    /// Whether it is made of triangles that are not convex together, and must be fixed to the world.
    pub const fn is_terrain(&self) -> bool {
        matches!(self, Shape::HeightField { .. } | Shape::Terrain { .. })
    }

    /// The three numbers of [`ParameterGroup::ShapeSize`](super::ParameterGroup::ShapeSize); unused ones are zero.
    pub fn size(&self) -> [f64; 3] {
        match *self {
            Shape::Plane | Shape::Mesh { .. } | Shape::HeightField { .. } | Shape::Terrain { .. } => [0.0; 3],
            Shape::Sphere { radius } => [radius, 0.0, 0.0],
            Shape::Capsule { radius, half_length }
            | Shape::Cylinder { radius, half_length }
            | Shape::Cone { radius, half_length } => [radius, half_length, 0.0],
            Shape::Box { half_size: s } | Shape::Ellipsoid { radii: s } => s.to_array(),
        }
    }

    /// This kind of shape with other sizes.
    pub fn with_size(&self, s: [f64; 3]) -> Shape {
        match *self {
            Shape::Plane | Shape::Mesh { .. } | Shape::HeightField { .. } | Shape::Terrain { .. } => *self,
            Shape::Sphere { .. } => Shape::Sphere { radius: s[0] },
            Shape::Capsule { .. } => Shape::Capsule { radius: s[0], half_length: s[1] },
            Shape::Cylinder { .. } => Shape::Cylinder { radius: s[0], half_length: s[1] },
            Shape::Cone { .. } => Shape::Cone { radius: s[0], half_length: s[1] },
            Shape::Box { .. } => Shape::Box { half_size: Vec3::from(s) },
            Shape::Ellipsoid { .. } => Shape::Ellipsoid { radii: Vec3::from(s) },
        }
    }

    /// How many of the three sizes mean something.
    pub const fn n_sizes(&self) -> usize {
        match self {
            Shape::Plane | Shape::Mesh { .. } | Shape::HeightField { .. } | Shape::Terrain { .. } => 0,
            Shape::Sphere { .. } => 1,
            Shape::Capsule { .. } | Shape::Cylinder { .. } | Shape::Cone { .. } => 2,
            Shape::Box { .. } | Shape::Ellipsoid { .. } => 3,
        }
    }
}

/// Contact properties of a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Surface {
    /// Coulomb's coefficient of sliding friction, as the model was built; its present value is a
    /// [parameter](super::ParameterGroup::Friction). A contact has the larger one of its two geoms, unless one has priority.
    pub friction: f64,
    /// Fraction of the approach speed that returns.
    pub restitution: f64,
    /// Velocity per impulse added at the contact (1/kg).
    pub compliance: f64,
    /// Two geoms may touch if the type bits of one meet the affinity bits of the other.
    pub contype: u32,
    /// See `contype`.
    pub conaffinity: u32,
    /// 1: frictionless, 3: sliding friction.
    pub condim: u8,
    /// The geom of higher priority decides friction and `condim` of a pair. Equal priorities: the larger ones count.
    pub priority: i32,
    /// Distance by which the surface lies outside the shape: `margin` of the file (m).
    pub offset: f64,
    /// Whether rays pass through it, as through a geom without color in MuJoCo.
    pub transparent: bool,
    /// Of a plane: half lengths along x and y of the part that rays see, zero where it is infinite (m). It touches everywhere.
    pub extent: [f64; 2],
}

impl Default for Surface {
    fn default() -> Surface {
        Surface {
            friction: 1.0,
            restitution: 0.0,
            compliance: 0.0,
            contype: 1,
            conaffinity: 1,
            condim: 3,
            priority: 0,
            offset: 0.0,
            transparent: false,
            extent: [0.0; 2],
        }
    }
}

/// Description of a shape for the builder.
#[derive(Debug, Clone, PartialEq)]
pub struct GeomSpec {
    /// Name; may be empty.
    pub name: String,
    /// The shape.
    pub shape: Shape,
    /// Its frame in the link's frame.
    pub pose: Pose,
    /// How it touches.
    pub surface: Surface,
}

impl GeomSpec {
    /// A shape at the link's origin with default surface.
    pub fn new(name: impl Into<String>, shape: Shape) -> GeomSpec {
        GeomSpec { name: name.into(), shape, pose: Pose::IDENTITY, surface: Surface::default() }
    }
}

/// A shape of a finished model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Geom {
    /// Name; may be empty.
    pub name: String,
    /// The body it moves with.
    pub body: BodyId,
    /// The link it was described in.
    pub link: FrameId,
    /// The shape.
    pub shape: Shape,
    /// Its frame in the body's frame.
    pub pose: Pose,
    /// How it touches.
    pub surface: Surface,
}

/// A mesh of the file, scaled. Physics sees its convex hull: readers store the hull's corners and outward triangles here,
/// except for [`Shape::Terrain`], which takes all triangles as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// Name, unique among meshes.
    pub name: String,
    /// Corners (m).
    pub vertices: Vec<Vec3>,
    /// Corner numbers of each triangle; empty for a bare point cloud.
    pub triangles: Vec<[u32; 3]>,
}
