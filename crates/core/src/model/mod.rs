//! The model: structure (who carries whom), parameters (every number that can be differentiated) and options.
//! Immutable; nothing in it changes during a step. Cheap to clone: the parts are shared.

mod activation;
mod actuator;
mod builder;
mod check;
mod check_parameters;
mod compile;
mod coupling;
mod edit;
mod field;
mod geometry;
mod gradient_options;
mod ground;
mod hull;
mod ids;
mod joint;
mod manifold;
pub(crate) mod mocap;
mod options;
mod pairs;
mod parameters;
mod saved;
mod sensor;
mod sensor_data;
mod servos;
mod structure_key;
mod topology;
mod visual;
mod warning;

pub use activation::{Activation, Dynamics};
pub use actuator::{Actuator, Transmission};
pub use builder::ModelBuilder;
pub use coupling::{Equality, EqualityKind, Tendon};
pub use field::HeightField;
pub use geometry::{Geom, GeomSpec, Mesh, Shape, Surface};
pub use gradient_options::{CollisionGradient, GradientMode, Order};
pub use ground::Ground;
pub use hull::Hull;
pub use ids::{ActuatorId, BodyId, FieldId, FrameId, GeomId, JointId, MeshId};
pub use joint::{Joint, JointKind, JointSpec};
pub use options::{Correction, Implicit, Integrator, Options, Solver};
pub use pairs::{Pair, PairRule, PairSurface};
pub use parameters::{ParameterGroup, ParameterLayout, Parameters};
pub use sensor::{Quantity, Sensor, SensorObject};
pub use sensor_data::{ContactData, ContactReport, GeomSet, RayData, Reduce};
pub use visual::{
    GRAY, Look, Material, MeshFile, MeshSource, Pattern, Texture, TextureSource, Visual, VisualShape, VisualSpec,
    Visuals,
};
pub use warning::Warning;

pub(crate) use gradient_options::STANDARD_GRAVITY;
pub(crate) use joint::{Primitive, PrimitiveKind};
pub(crate) use topology::{Node, Topology};

use crate::error::InputError;
use crate::spatial::{BodyInertia, Mat3, Pose, Quat, Vec3};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// A body that moves by joints of its own or by motion capture; body 0 is the world.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Body {
    /// Name of the link it was made of.
    pub name: String,
    /// Body that carries it; the world's is itself.
    pub parent: BodyId,
    /// Frame of that link.
    pub link: FrameId,
    /// Whether its pose is an input of the step: a mocap body.
    pub mocap: bool,
}

/// A named frame: a link of the file (also those merged over fixed joints), or a site.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Frame {
    /// Name, unique among links or among sites.
    pub name: String,
    /// Body it moves with.
    pub body: BodyId,
    /// Link that carries it: of a link its parent, of a site the link it was described in. The world's is itself.
    pub parent: FrameId,
    /// Its pose in the body's frame.
    pub pose: Pose,
    /// The link's own inertia in its own frame, before merging; `None` for a site.
    pub inertia: Option<BodyInertia>,
    /// Where a site measures touch, in its own frame; `None` for a link and for a site without extent.
    pub zone: Option<Shape>,
}

/// A named state of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Keyframe {
    /// Name; may be empty.
    pub name: String,
    /// Configuration (nq).
    pub q: Vec<f64>,
    /// Velocity (nv).
    pub v: Vec<f64>,
    /// Controls (nu).
    pub ctrl: Vec<f64>,
    /// Activations (na); empty: zero.
    pub act: Vec<f64>,
    /// Poses of the mocap bodies (7 each: position, quaternion); empty: those of the file.
    pub mocap: Vec<f64>,
}

/// Everything about a model that is not a parameter.
#[derive(Debug, Clone)]
pub(crate) struct Structure {
    pub name: String,
    pub tree: Topology,
    pub bodies: Vec<Body>,
    pub joints: Vec<Joint>,
    pub frames: Vec<Frame>,
    pub geoms: Vec<Geom>,
    pub meshes: Vec<Mesh>,
    /// Meshes as collision sees them, at scale one.
    pub hulls: Vec<Arc<Hull>>,
    pub fields: Vec<HeightField>,
    pub actuators: Vec<Actuator>,
    /// Actuators with an activation, in the order of act.
    pub activated: Vec<ActuatorId>,
    pub keyframes: Vec<Keyframe>,
    pub equalities: Vec<Equality>,
    pub tendons: Vec<Tendon>,
    pub sensors: Vec<Sensor>,
    pub visuals: Arc<Visuals>,
    pub contacts: pairs::PairRules,
    /// Made when first asked for: its size grows with the square of the number of geoms.
    pub pairs: OnceLock<Vec<Pair>>,
    /// Mass of each body with gravity compensation, and the center of that mass in the body's frame.
    pub compensation: Vec<(f64, Vec3)>,
    /// Dofs on which gravity compensation counts as force of actuators.
    pub driven_compensation: Vec<usize>,
    pub warnings: Vec<Warning>,
    pub notes: Vec<String>,
    /// Neutral configuration (nq).
    pub q0: Vec<f64>,
    pub dof_names: Vec<String>,
    /// Made when first asked for.
    pub key: OnceLock<u64>,
}

/// The parameters, and what the passes read of them in their own form.
#[derive(Debug, Clone)]
pub(crate) struct DerivedParameters {
    pub parameters: Parameters,
    /// Pose of each body in its parent before its joints move, X_pb.
    pub placement: Vec<Pose>,
    /// Whether the placement has no rotation: saves a product of matrices per body.
    pub untwisted: Vec<bool>,
    /// Inertia of each body in its own frame.
    pub inertia: Vec<BodyInertia>,
    /// Shape of each geom with the sizes of the parameters.
    pub shapes: Vec<Shape>,
    /// Hull of each mesh with the scale of the parameters.
    pub hulls: Vec<Arc<Hull>>,
    /// Meshes that are ground.
    pub grounds: Vec<Option<Arc<Ground>>>,
}

impl DerivedParameters {
    pub(crate) fn new(structure: &Structure, parameters: Parameters) -> DerivedParameters {
        let n = structure.bodies.len();
        let mut numbers = DerivedParameters {
            placement: vec![Pose::IDENTITY; n],
            untwisted: vec![true; n],
            inertia: vec![BodyInertia::default(); n],
            shapes: sized_shapes(structure, &parameters),
            hulls: scaled_hulls(structure, &parameters),
            grounds: scaled_grounds(structure, &parameters),
            parameters,
        };
        for i in 1..n {
            let ten = numbers.parameters.group(ParameterGroup::Inertial)[10 * (i - 1)..10 * i].first_chunk::<10>();
            if let Some(ten) = ten {
                numbers.inertia[i] = BodyInertia::from_parameters(ten);
            }
            let place = &numbers.parameters.group(ParameterGroup::JointPlacement)[6 * (i - 1)..6 * i];
            let turn = Vec3::from_slice(&place[3..]);
            numbers.placement[i] = Pose::new(Vec3::from_slice(place), Quat::exp(turn));
            numbers.untwisted[i] = numbers.placement[i].rotation == Mat3::IDENTITY;
        }
        numbers
    }
}

fn sized_shapes(structure: &Structure, parameters: &Parameters) -> Vec<Shape> {
    let sizes = parameters.group(ParameterGroup::ShapeSize).chunks_exact(3);
    structure.geoms.iter().zip(sizes).map(|(g, s)| g.shape.with_size([s[0], s[1], s[2]])).collect()
}

fn scaled_hulls(structure: &Structure, parameters: &Parameters) -> Vec<Arc<Hull>> {
    let scales = parameters.group(ParameterGroup::MeshScale).chunks_exact(3).map(Vec3::from_slice);
    let scaled = |(hull, s): (&Arc<Hull>, Vec3)| {
        if s == Vec3::new(1.0, 1.0, 1.0) { hull.clone() } else { Arc::new(hull.scaled(s)) }
    };
    structure.hulls.iter().zip(scales).map(scaled).collect()
}

/// Meshes that geoms take as ground.
fn terrain_meshes(geoms: &[Geom]) -> HashSet<MeshId> {
    let mesh = |g: &Geom| if let Shape::Terrain { mesh } = g.shape { Some(mesh) } else { None };
    geoms.iter().filter_map(mesh).collect()
}

fn scaled_grounds(structure: &Structure, parameters: &Parameters) -> Vec<Option<Arc<Ground>>> {
    let scales = parameters.group(ParameterGroup::MeshScale).chunks_exact(3).map(Vec3::from_slice);
    let ground = terrain_meshes(&structure.geoms);
    let meshes = structure.meshes.iter().zip(scales).enumerate();
    meshes.map(|(k, (mesh, scale))| ground.contains(&MeshId(k)).then(|| Arc::new(Ground::new(mesh, scale)))).collect()
}

/// A robot and its world: immutable, shared by threads, cheap to clone.
#[derive(Debug, Clone)]
pub struct Model {
    structure: Arc<Structure>,
    numbers: Arc<DerivedParameters>,
    options: Options,
}

impl Model {
    pub(crate) fn assemble(structure: Structure, numbers: DerivedParameters, options: Options) -> Model {
        Model { structure: Arc::new(structure), numbers: Arc::new(numbers), options }
    }

    pub(crate) fn structure_mut(&mut self) -> &mut Structure {
        let structure = Arc::make_mut(&mut self.structure);
        structure.key = OnceLock::new();
        structure
    }

    pub(crate) fn structure_id(&self) -> StructureId {
        StructureId(self.structure.clone())
    }

    #[inline(always)]
    pub(crate) fn tree(&self) -> &Topology {
        &self.structure.tree
    }

    #[inline(always)]
    pub(crate) fn numbers(&self) -> &DerivedParameters {
        &self.numbers
    }

    /// This robot with other numerical options (and gravity).
    pub fn with_options(&self, options: Options) -> Result<Model, InputError> {
        options.check()?;
        let mut model = self.clone();
        if options.gravity != self.options.gravity {
            let gravity = Arc::make_mut(&mut model.numbers).parameters.group_mut(ParameterGroup::Gravity);
            gravity.copy_from_slice(&options.gravity);
        }
        model.options = options;
        Ok(model)
    }

    /// This structure with other numbers. The vector must come from [`Model::parameters`] of this structure.
    pub fn with_parameters(&self, parameters: Parameters) -> Result<Model, InputError> {
        if parameters.layout() != self.parameters().layout() {
            return Err(InputError::WrongLayout);
        }
        check_parameters::parameters(&self.structure, &parameters)?;
        let mut model = self.clone();
        model.options.gravity.copy_from_slice(parameters.group(ParameterGroup::Gravity));
        model.numbers = Arc::new(DerivedParameters::new(&self.structure, parameters));
        Ok(model)
    }

    /// Whether another model differs in parameters and options only, so that memory made for one serves both.
    pub fn shares_structure(&self, other: &Model) -> bool {
        Arc::ptr_eq(&self.structure, &other.structure)
    }

    /// Name of the model.
    pub fn name(&self) -> &str {
        &self.structure.name
    }

    /// Coordinates of a configuration.
    pub fn nq(&self) -> usize {
        self.structure.tree.nq
    }

    /// Degrees of freedom.
    pub fn nv(&self) -> usize {
        self.structure.tree.nv
    }

    /// Controls.
    pub fn nu(&self) -> usize {
        self.structure.actuators.len()
    }

    /// Activations: numbers of a state between control and force.
    pub fn na(&self) -> usize {
        self.structure.activated.len()
    }

    /// Actuators with an activation, in the order of act.
    pub fn activated(&self) -> &[ActuatorId] {
        &self.structure.activated
    }

    /// An error if the model has activations, for what does not carry them.
    pub fn without_activations(&self, what: &'static str) -> Result<(), InputError> {
        match self.activated() {
            [] => Ok(()),
            ids => {
                let actuators = ids.iter().map(|id| self.actuators()[id.0].name.clone()).collect();
                Err(InputError::Activations { what, actuators })
            }
        }
    }

    /// Bodies, the world first.
    pub fn bodies(&self) -> &[Body] {
        &self.structure.bodies
    }

    /// Number of bodies, the world included.
    pub fn n_bodies(&self) -> usize {
        self.structure.bodies.len()
    }

    /// Joints in the order of q and v.
    pub fn joints(&self) -> &[Joint] {
        &self.structure.joints
    }

    /// Frames: links in depth-first order, then sites.
    pub fn frames(&self) -> &[Frame] {
        &self.structure.frames
    }

    /// Shapes.
    pub fn geoms(&self) -> &[Geom] {
        &self.structure.geoms
    }

    /// Shape of a geom with the sizes of the parameters.
    #[inline(always)]
    pub fn shape(&self, geom: GeomId) -> Shape {
        self.numbers.shapes[geom.0]
    }

    /// Hull of a mesh with the scale of the parameters.
    #[inline(always)]
    pub fn hull(&self, mesh: MeshId) -> &Hull {
        &self.numbers.hulls[mesh.0]
    }

    /// Triangles of a mesh that is ground, with the scale of the parameters; `None` if no geom takes it as ground.
    pub fn ground(&self, mesh: MeshId) -> Option<&Ground> {
        self.numbers.grounds[mesh.0].as_deref()
    }

    /// What it looks like, for pictures.
    pub fn visuals(&self) -> &Visuals {
        &self.structure.visuals
    }

    /// This robot with another look. `visuals` must be made for it: colors of its geoms, bodies and links that it has.
    pub fn with_visuals(&self, visuals: Visuals) -> Result<Model, InputError> {
        visuals.check(self)?;
        let mut model = self.clone();
        model.structure_mut().visuals = Arc::new(visuals);
        Ok(model)
    }

    /// Height fields.
    pub fn fields(&self) -> &[HeightField] {
        &self.structure.fields
    }

    /// Meshes.
    pub fn meshes(&self) -> &[Mesh] {
        &self.structure.meshes
    }

    /// Actuators in the order of ctrl.
    pub fn actuators(&self) -> &[Actuator] {
        &self.structure.actuators
    }

    /// Named states.
    pub fn keyframes(&self) -> &[Keyframe] {
        &self.structure.keyframes
    }

    /// Equality constraints.
    pub fn equalities(&self) -> &[Equality] {
        &self.structure.equalities
    }

    /// Fixed tendons.
    pub fn tendons(&self) -> &[Tendon] {
        &self.structure.tendons
    }

    /// Sensors of the file.
    pub fn sensors(&self) -> &[Sensor] {
        &self.structure.sensors
    }

    /// Links whose geoms do not touch each other.
    pub fn excludes(&self) -> &[[FrameId; 2]] {
        &self.structure.contacts.excludes
    }

    /// How the list of pairs is made.
    pub fn pair_rule(&self) -> &PairRule {
        &self.structure.contacts.rule
    }

    /// Pairs of geoms that may touch, in ascending order.
    pub fn pairs(&self) -> &[Pair] {
        self.structure.pairs.get_or_init(|| pairs::list(&self.structure))
    }

    /// Compensated mass of each body (kg), and the center of that mass in the body's frame (m).
    pub fn gravity_compensation(&self) -> &[(f64, Vec3)] {
        &self.structure.compensation
    }

    #[inline(always)]
    pub(crate) fn driven_compensation(&self) -> &[usize] {
        &self.structure.driven_compensation
    }

    /// Features of the file that are not supported, although they would change the motion.
    pub fn warnings(&self) -> &[Warning] {
        &self.structure.warnings
    }

    /// This robot with one more warning.
    pub fn with_warning(&self, warning: Warning) -> Model {
        let mut model = self.clone();
        model.structure_mut().warnings.push(warning);
        model
    }

    /// Features of the file that make no difference to the motion here.
    pub fn notes(&self) -> &[String] {
        &self.structure.notes
    }

    /// One name per dof: its joint's, numbered where the joint has several.
    pub fn dof_names(&self) -> &[String] {
        &self.structure.dof_names
    }

    /// Numerical choices.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Every number that can be differentiated.
    pub fn parameters(&self) -> &Parameters {
        &self.numbers.parameters
    }

    /// Inertia of each body in its own frame, merged links included; the world's comes first.
    pub fn inertias(&self) -> &[BodyInertia] {
        &self.numbers.inertia
    }

    /// Pose of each body in its parent before its joints move; the world's comes first.
    pub fn placements(&self) -> &[Pose] {
        &self.numbers.placement
    }

    /// Mass of all moving bodies (kg). What motion capture moves has none that counts.
    pub fn total_mass(&self) -> f64 {
        let bodies = self.numbers.inertia[1..].iter().zip(&self.tree().nodes[1..]);
        bodies.filter(|(_, node)| node.moves()).map(|(i, _)| i.mass).sum()
    }

    /// Inertia of the drives on the diagonal of M (nv).
    pub fn armature(&self) -> &[f64] {
        self.parameters().group(ParameterGroup::Armature)
    }

    /// Force per velocity (nv).
    pub fn damping(&self) -> &[f64] {
        self.parameters().group(ParameterGroup::Damping)
    }

    /// Force per displacement (nv).
    pub fn stiffness(&self) -> &[f64] {
        self.parameters().group(ParameterGroup::Stiffness)
    }

    /// Neutral configuration: joints at their reference, free bodies where the file puts them (nq).
    pub fn neutral(&self) -> &[f64] {
        &self.structure.q0
    }

    /// Number of the body with a name.
    pub fn body(&self, name: &str) -> Result<BodyId, InputError> {
        find("body", name, self.bodies().iter().map(|b| &*b.name)).map(BodyId)
    }

    /// Number of the joint with a name.
    pub fn joint(&self, name: &str) -> Result<JointId, InputError> {
        find("joint", name, self.joints().iter().map(|j| &*j.name)).map(JointId)
    }

    /// Number of the frame with a name: a link, else a site.
    pub fn frame(&self, name: &str) -> Result<FrameId, InputError> {
        find("frame", name, self.frames().iter().map(|f| &*f.name)).map(FrameId)
    }

    /// Number of the geom with a name.
    pub fn geom(&self, name: &str) -> Result<GeomId, InputError> {
        find("geom", name, self.geoms().iter().map(|g| &*g.name)).map(GeomId)
    }

    /// Number of the actuator with a name.
    pub fn actuator(&self, name: &str) -> Result<ActuatorId, InputError> {
        find("actuator", name, self.actuators().iter().map(|a| &*a.name)).map(ActuatorId)
    }

    /// The named state with a name.
    pub fn keyframe(&self, name: &str) -> Result<&Keyframe, InputError> {
        find("keyframe", name, self.keyframes().iter().map(|k| &*k.name)).map(|k| &self.keyframes()[k])
    }
}

/// Which structure some memory was made for: models that differ only in parameters and options share it.
#[derive(Debug, Clone)]
pub(crate) struct StructureId(Arc<Structure>);

impl StructureId {
    /// The tree of bodies and dofs.
    pub fn tree(&self) -> &Topology {
        &self.0.tree
    }

    /// A number for what a warm start refers to: the same for the same robot in every process.
    #[inline(always)]
    pub fn key(&self) -> u64 {
        *self.0.key.get_or_init(|| structure_key::of(&self.0))
    }

    pub fn is(&self, other: &StructureId) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub fn check(&self, model: &Model, what: &'static str) -> Result<(), InputError> {
        if Arc::ptr_eq(&self.0, &model.structure) {
            Ok(())
        } else {
            Err(InputError::WrongModel { what, got: model.name().into() })
        }
    }
}

/// Number of a thing among others of its kind. What has no name cannot be asked for.
fn find<'a>(what: &'static str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Result<usize, InputError> {
    let found = names.clone().position(|n| n == name && !n.is_empty());
    found.ok_or_else(|| InputError::unknown_name(what, name, names))
}
