//! A programmatic builder, used by the loaders as well: every model passes the same checks.

use super::actuator::Actuator;
use super::coupling::{Equality, Tendon};
use super::field::HeightField;
use super::geometry::{GeomSpec, Mesh, Shape};
use super::ids::{ActuatorId, FieldId, FrameId, GeomId, JointId, MeshId};
use super::joint::JointSpec;
use super::options::Options;
use super::pairs::{PairRule, PairRules, PairSurface};
use super::sensor::Sensor;
use super::visual::{Look, VisualShape, VisualSpec};
use super::warning::Warning;
use super::{Keyframe, Model};
use crate::error::BuildError;
use crate::spatial::{BodyInertia, Pose};

/// Collects links, shapes and actuators; [`ModelBuilder::build`] makes the model.
///
/// ```
/// use slipstick_core::ModelBuilder;
/// use slipstick_core::model::{JointKind, JointSpec};
/// use slipstick_core::spatial::*;
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
    pub(super) visuals: Vec<(FrameId, VisualSpec)>,
    pub(super) visual_warnings: Vec<String>,
    /// Colors of geoms, as far as they were told.
    pub(super) looks: Vec<(GeomId, Look)>,
    pub(super) meshes: Vec<Mesh>,
    pub(super) fields: Vec<HeightField>,
    pub(super) actuators: Vec<Actuator>,
    pub(super) keyframes: Vec<Keyframe>,
    pub(super) equalities: Vec<Equality>,
    pub(super) tendons: Vec<Tendon>,
    pub(super) sensors: Vec<Sensor>,
    pub(super) contacts: PairRules,
    pub(super) warnings: Vec<Warning>,
    pub(super) notes: Vec<String>,
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
    /// Fraction of the link's weight that is compensated.
    pub gravity_compensation: f64,
    /// Whether motion capture moves it.
    pub mocap: bool,
}

#[derive(Debug, Clone)]
pub(super) struct SiteSpec {
    pub name: String,
    pub link: FrameId,
    pub pose: Pose,
    pub zone: Option<Shape>,
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
            gravity_compensation: 0.0,
            mocap: false,
        };
        ModelBuilder {
            name: name.into(),
            links: vec![world],
            sites: Vec::new(),
            geoms: Vec::new(),
            visuals: Vec::new(),
            visual_warnings: Vec::new(),
            looks: Vec::new(),
            meshes: Vec::new(),
            fields: Vec::new(),
            actuators: Vec::new(),
            keyframes: Vec::new(),
            equalities: Vec::new(),
            tendons: Vec::new(),
            sensors: Vec::new(),
            contacts: PairRules::default(),
            warnings: Vec::new(),
            notes: Vec::new(),
            n_joints: 0,
            options: Options::default(),
        }
    }

    /// Adds a link that hangs on `parent` (added before it) by `joints`, in order; with none it is fixed to the parent.
    /// `placement` is the link in its parent before the joints move; a free joint starts there instead.
    /// Joint ids count joints in the order of adding and are those of actuators, tendons, constraints and sensors.
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
        let name = name.into();
        self.links.push(LinkSpec { name, parent, placement, inertia, joints, gravity_compensation: 0.0, mocap: false });
        FrameId(self.links.len() - 1)
    }

    /// Adds a mocap body: a child of the world without joints, whose pose is an input of the step
    /// ([`Input::mocap`](crate::Input::mocap)). `pose` is the one it has where no other is given.
    pub fn add_mocap(&mut self, name: impl Into<String>, pose: Pose, inertia: BodyInertia) -> FrameId {
        let link = self.add_link(ModelBuilder::WORLD, name, pose, inertia, Vec::new());
        self.links[link.0].mocap = true;
        link
    }

    /// Adds a named frame fixed to a link.
    pub fn add_site(&mut self, link: FrameId, name: impl Into<String>, pose: Pose) {
        self.sites.push(SiteSpec { name: name.into(), link, pose, zone: None });
    }

    /// A site with a shape in which touch sensors measure contacts: a ball, capsule, cylinder, box or ellipsoid.
    pub fn add_zone(&mut self, link: FrameId, name: impl Into<String>, pose: Pose, zone: Shape) {
        self.sites.push(SiteSpec { name: name.into(), link, pose, zone: Some(zone) });
    }

    /// Compensates a fraction of a link's weight, as if it hung from a balloon.
    pub fn compensate_gravity(&mut self, link: FrameId, fraction: f64) {
        if let Some(link) = self.links.get_mut(link.0) {
            link.gravity_compensation = fraction;
        }
    }

    /// Adds a shape fixed to a link. Shapes have no mass of their own here.
    pub fn add_geom(&mut self, link: FrameId, geom: GeomSpec) -> GeomId {
        self.geoms.push((link, geom));
        GeomId(self.geoms.len() - 1)
    }

    /// Adds a shape that is shown and touches nothing.
    pub fn add_visual(&mut self, link: FrameId, visual: VisualSpec) {
        self.visuals.push((link, visual));
    }

    /// Adds a geom to what is shown, with its color, in a group of MuJoCo.
    pub fn show_geom(&mut self, geom: GeomId, look: Look, group: i32) {
        self.paint(geom, look.clone());
        let Some((link, spec)) = self.geoms.get(geom.0) else { return };
        let (name, pose) = (spec.name.clone(), spec.pose);
        self.visuals.push((*link, VisualSpec { name, pose, shape: VisualShape::Geom(geom), look, group }));
    }

    /// The color of a geom.
    pub fn paint(&mut self, geom: GeomId, look: Look) {
        self.looks.push((geom, look));
    }

    /// Adds a warning about pictures of the file that cannot be shown.
    pub fn warn_of_visuals(&mut self, warning: impl Into<String>) {
        self.visual_warnings.push(warning.into());
    }

    /// Adds a mesh that shapes can refer to.
    ///
    /// Its name is numbered if another mesh has it, and `mesh` if it is empty: files tell meshes apart by their names.
    pub fn add_mesh(&mut self, mut mesh: Mesh) -> MeshId {
        let wanted = if mesh.name.is_empty() { "mesh".to_string() } else { mesh.name };
        let taken = |name: &String| self.meshes.iter().any(|m| m.name == *name);
        let mut candidates = std::iter::once(wanted.clone()).chain((2..).map(|k| format!("{wanted}_{k}")));
        mesh.name = candidates.find(|name| !taken(name)).unwrap_or(wanted);
        self.meshes.push(mesh);
        MeshId(self.meshes.len() - 1)
    }

    /// Adds a height field that shapes can refer to.
    pub fn add_field(&mut self, field: HeightField) -> FieldId {
        self.fields.push(field);
        FieldId(self.fields.len() - 1)
    }

    /// Adds an actuator.
    pub fn add_actuator(&mut self, actuator: Actuator) -> ActuatorId {
        self.actuators.push(actuator);
        ActuatorId(self.actuators.len() - 1)
    }

    /// Adds an equality constraint. Frames in it are links; joints and tendons count in the order of adding.
    pub fn add_equality(&mut self, equality: Equality) {
        self.equalities.push(equality);
    }

    /// Adds a fixed tendon and returns its number.
    pub fn add_tendon(&mut self, tendon: Tendon) -> usize {
        self.tendons.push(tendon);
        self.tendons.len() - 1
    }

    /// Adds a sensor. Frames in it are links, or sites counted after all links by [`ModelBuilder::site_frame`].
    pub fn add_sensor(&mut self, sensor: Sensor) {
        self.sensors.push(sensor);
    }

    /// The frame of the site that was added as number `index`, for use in sensors and constraints once all links are added.
    pub fn site_frame(&self, index: usize) -> FrameId {
        FrameId(self.links.len() + index)
    }

    /// Links whose geoms do not touch each other.
    pub fn exclude(&mut self, a: FrameId, b: FrameId) {
        self.contacts.excludes.push([a, b]);
    }

    /// Two geoms that touch whatever their masks say, with their own contact properties.
    pub fn add_pair(&mut self, a: GeomId, b: GeomId, surface: PairSurface) {
        self.contacts.explicit.push(([a, b], surface));
    }

    /// How the list of pairs is made.
    pub fn set_pair_rule(&mut self, rule: PairRule) {
        self.contacts.rule = rule;
    }

    /// Adds a named state. Its vectors are in the order of the finished model.
    pub fn add_keyframe(&mut self, keyframe: Keyframe) {
        self.keyframes.push(keyframe);
    }

    /// Adds a warning about a feature that is not supported and that would change the motion.
    pub fn warn(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// Adds a warning about a feature that makes no difference to the motion.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Numbers in the joint-space inertia of the links so far: one for every dof and every dof that moves it. It grows with
    /// the square of the length of a chain, and so does the memory of a model.
    pub fn inertia_numbers(&self) -> usize {
        let (mut dofs, mut sum) = (vec![0usize; self.links.len()], 0usize);
        for (i, link) in self.links.iter().enumerate().skip(1) {
            let before = if link.mocap { 0 } else { dofs[link.parent.0] };
            dofs[i] = before + link.joints.iter().map(|(_, joint)| joint.kind.nv()).sum::<usize>();
            sum = (before + 1..=dofs[i]).fold(sum, usize::saturating_add);
        }
        sum
    }

    /// Checks everything and makes the model.
    pub fn build(self) -> Result<Model, BuildError> {
        super::compile::compile(self)
    }
}
