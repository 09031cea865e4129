//! A programmatic builder, used by the loaders as well: every model passes the same checks.

use super::actuator::Actuator;
use super::geometry::{GeomSpec, Mesh};
use super::ids::{ActuatorId, FrameId, JointId, MeshId};
use super::joint::JointSpec;
use super::options::Options;
use super::{Keyframe, Model};
use crate::error::BuildError;
use crate::spatial::{BodyInertia, Pose};

/// Collects links, shapes and actuators; [`ModelBuilder::build`] makes the model.
///
/// ```
/// use slipstick_core::{JointKind, JointSpec, ModelBuilder, spatial::*};
/// let mut b = ModelBuilder::new("pendulum");
/// let bob = BodyInertia { mass: 1.0, com: vec3(0.0, 0.0, -1.0), about_com: Sym3::ZERO };
/// let hinge = JointSpec::new("swing", JointKind::Revolute { axis: vec3(0.0, 1.0, 0.0) });
/// b.add_link(ModelBuilder::WORLD, "bob", Pose::IDENTITY, bob, vec![hinge]);
/// let model = b.build().unwrap();
/// assert_eq!((model.nq(), model.nv()), (1, 1));
/// ```
#[derive(Debug, Clone)]
pub struct ModelBuilder {
    pub(super) name: String,
    pub(super) links: Vec<LinkSpec>,
    pub(super) sites: Vec<SiteSpec>,
    pub(super) geoms: Vec<(FrameId, GeomSpec)>,
    pub(super) meshes: Vec<Mesh>,
    pub(super) actuators: Vec<Actuator>,
    pub(super) keyframes: Vec<Keyframe>,
    pub(super) warnings: Vec<String>,
    n_joints: usize,
    /// Numerical choices and gravity of the model.
    pub options: Options,
}

/// A link as it was added: with joints it becomes a body, without it is merged into its parent.
#[derive(Debug, Clone)]
pub(super) struct LinkSpec {
    pub name: String,
    pub parent: FrameId,
    pub placement: Pose,
    pub inertia: BodyInertia,
    pub joints: Vec<(JointId, JointSpec)>,
}

#[derive(Debug, Clone)]
pub(super) struct SiteSpec {
    pub name: String,
    pub link: FrameId,
    pub pose: Pose,
}

impl ModelBuilder {
    /// The link that stands for the world.
    pub const WORLD: FrameId = FrameId(0);

    /// An empty model.
    pub fn new(name: impl Into<String>) -> ModelBuilder {
        let world = LinkSpec {
            name: "world".into(),
            parent: FrameId(0),
            placement: Pose::IDENTITY,
            inertia: BodyInertia::default(),
            joints: Vec::new(),
        };
        ModelBuilder {
            name: name.into(),
            links: vec![world],
            sites: Vec::new(),
            geoms: Vec::new(),
            meshes: Vec::new(),
            actuators: Vec::new(),
            keyframes: Vec::new(),
            warnings: Vec::new(),
            n_joints: 0,
            options: Options::default(),
        }
    }

    /// Adds a link that hangs on `parent` (added before it) by `joints`, in order; with none it is fixed to the parent.
    /// `placement` is the link in its parent before the joints move; a free joint starts there instead.
    /// Joint ids count joints in the order of adding and are those of [`Actuator::joint`].
    pub fn add_link(
        &mut self,
        parent: FrameId,
        name: impl Into<String>,
        placement: Pose,
        inertia: BodyInertia,
        joints: Vec<JointSpec>,
    ) -> FrameId {
        let joints = joints.into_iter().map(|j| {
            self.n_joints += 1;
            (JointId(self.n_joints - 1), j)
        });
        let joints = joints.collect();
        self.links.push(LinkSpec { name: name.into(), parent, placement, inertia, joints });
        FrameId(self.links.len() - 1)
    }

    /// Adds a named frame fixed to a link.
    pub fn add_site(&mut self, link: FrameId, name: impl Into<String>, pose: Pose) {
        self.sites.push(SiteSpec { name: name.into(), link, pose });
    }

    /// Adds a shape fixed to a link. Shapes have no mass of their own here.
    pub fn add_geom(&mut self, link: FrameId, geom: GeomSpec) {
        self.geoms.push((link, geom));
    }

    /// Adds a mesh that shapes can refer to.
    pub fn add_mesh(&mut self, mesh: Mesh) -> MeshId {
        self.meshes.push(mesh);
        MeshId(self.meshes.len() - 1)
    }

    /// Adds an actuator.
    pub fn add_actuator(&mut self, actuator: Actuator) -> ActuatorId {
        self.actuators.push(actuator);
        ActuatorId(self.actuators.len() - 1)
    }

    /// Adds a named state. Its vectors are in the order of the finished model.
    pub fn add_keyframe(&mut self, keyframe: Keyframe) {
        self.keyframes.push(keyframe);
    }

    /// Adds a remark about something that the model does not represent.
    pub fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Checks everything and makes the model.
    pub fn build(self) -> Result<Model, BuildError> {
        super::compile::compile(self)
    }
}
