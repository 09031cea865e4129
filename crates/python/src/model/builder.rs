//! `ModelBuilder`: a robot made in code.

use super::Model;
use crate::arguments::arg;
use crate::arrays::{Input, shaped_array, vector};
use crate::errors::Failure;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipstick::InputError;
use slipstick::error::BuildError;
use slipstick::model::{
    Actuator, FrameId, GeomSpec, JointId, JointKind, JointSpec, Keyframe, Mesh, Shape, Surface, Transmission,
};
use slipstick::spatial::{BodyInertia, Pose, Quat, Sym3, Vec3};

/// A robot made in code: links, joints, shapes and actuators by name, then build().
///
///     b = slipstick.ModelBuilder("pendulum")
///     b.add_link("bob", mass=1.0, center_of_mass=[0, 0, -1], inertia=[0.01, 0.01, 0.01])
///     b.add_joint("bob", "swing", "revolute", axis=[0, 1, 0], damping=0.1)
///     b.add_geom("bob", "sphere", [0.1], position=[0, 0, -1])
///     b.add_actuator("motor", "swing", gear=2.0)
///     model = b.build()
///
/// Links hang on "world" or on a link added before; a link without joints is fixed to its parent. Angles are in radians,
/// quaternions (w, x, y, z).
#[pyclass(module = "slipstick")]
pub struct ModelBuilder {
    name: String,
    links: Vec<Link>,
    geoms: Vec<(usize, GeomSpec, Option<Mesh>)>,
    sites: Vec<(usize, String, Pose)>,
    actuators: Vec<(String, Actuator)>,
    keyframes: Vec<Keyframe>,
    options: slipstick::Options,
}

/// A link, its number of the parent, and its joints.
struct Link {
    name: String,
    parent: usize,
    placement: Pose,
    inertia: BodyInertia,
    joints: Vec<JointSpec>,
}

#[pymethods]
impl ModelBuilder {
    #[new]
    fn new(#[pyo3(from_py_with = arg::name)] name: String) -> ModelBuilder {
        ModelBuilder {
            name,
            links: Vec::new(),
            geoms: Vec::new(),
            sites: Vec::new(),
            actuators: Vec::new(),
            keyframes: Vec::new(),
            options: slipstick::Options::default(),
        }
    }

    /// Adds a link.
    ///
    /// name (str), parent (str): name of a link added before; position (3,) (m) and quaternion (4,) in the parent before the
    /// joints move; mass (float, kg), center_of_mass (3,) (m) in the link's frame, inertia (kg·m²) about it: (3,) along the link's axes,
    /// or (3, 3).
    #[pyo3(signature = (name, *, parent="world", position=None, quaternion=None, mass=0.0, center_of_mass=None, inertia=None))]
    fn add_link(
        &mut self,
        #[pyo3(from_py_with = arg::name)] name: String,
        #[pyo3(from_py_with = arg::parent)] parent: &str,
        position: Option<Input>,
        quaternion: Option<Input>,
        #[pyo3(from_py_with = arg::mass)] mass: f64,
        center_of_mass: Option<Input>,
        inertia: Option<Input>,
    ) -> Result<(), Failure> {
        let parent = self.link(parent)?;
        let placement = pose(position, quaternion)?;
        let com = center_of_mass.map_or(Ok(Vec3::ZERO), |x| vec3("center_of_mass", x))?;
        let inertia = BodyInertia { mass, com, about_com: inertia.map_or(Ok(Sym3::ZERO), symmetric)? };
        self.links.push(Link { name, parent, placement, inertia, joints: Vec::new() });
        Ok(())
    }

    /// Adds a joint between a link and its parent, after those that the link has.
    ///
    /// link (str), name (str), type: "revolute", "prismatic", "spherical", "planar" or "free"; axis (3,): of revolute and prismatic
    /// joints; anchor (3,) (m): the point that a rotation leaves in place, in the link's frame; range: smallest and largest coordinate;
    /// reference: coordinate in which the link is where add_link put it; armature, damping, stiffness, spring_reference, dry_friction; effort_limit: largest
    /// force of actuators.
    #[pyo3(signature = (link, name, r#type="revolute", *, axis=None, anchor=None, range=None, reference=0.0, armature=0.0, damping=0.0,
        stiffness=0.0, spring_reference=0.0, dry_friction=0.0, effort_limit=None))]
    fn add_joint(
        &mut self,
        #[pyo3(from_py_with = arg::link)] link: &str,
        #[pyo3(from_py_with = arg::name)] name: String,
        #[pyo3(from_py_with = arg::r#type)] r#type: &str,
        axis: Option<Input>,
        anchor: Option<Input>,
        #[pyo3(from_py_with = arg::range)] range: Option<[f64; 2]>,
        #[pyo3(from_py_with = arg::reference)] reference: f64,
        #[pyo3(from_py_with = arg::armature)] armature: f64,
        #[pyo3(from_py_with = arg::damping)] damping: f64,
        #[pyo3(from_py_with = arg::stiffness)] stiffness: f64,
        #[pyo3(from_py_with = arg::spring_reference)] spring_reference: f64,
        #[pyo3(from_py_with = arg::dry_friction)] dry_friction: f64,
        #[pyo3(from_py_with = arg::effort_limit)] effort_limit: Option<f64>,
    ) -> Result<(), Failure> {
        let link = self.link(link)?;
        let Some(link) = link.checked_sub(1) else {
            return Err(PyValueError::new_err("link: expected a link that moves, got 'world'").into());
        };
        let kind = joint_kind(r#type, axis)?;
        let anchor = anchor.map_or(Ok(Vec3::ZERO), |x| vec3("anchor", x))?;
        self.links[link].joints.push(JointSpec {
            anchor,
            range,
            reference,
            armature,
            damping,
            stiffness,
            spring_reference,
            dry_friction,
            effort: effort_limit.map_or([f64::NEG_INFINITY, f64::INFINITY], |limit| [-limit, limit]),
            ..JointSpec::new(name, kind)
        });
        Ok(())
    }

    /// Adds a shape to a link, or to "world".
    ///
    /// type: "plane" (the half-space below z = 0), "sphere", "capsule", "cylinder", "cone", "box", "ellipsoid" or "mesh"; size (m): radius; radius and half length
    /// along z; half sizes along x, y, z; for a mesh its corners (n, 3), of which the convex hull is taken; position (3,) (m) and quaternion (4,)
    /// in the link's frame; friction, restitution, compliance (1/kg).
    #[pyo3(signature = (link, r#type, size=None, *, name=String::new(), position=None, quaternion=None, friction=1.0, restitution=0.0,
        compliance=0.0), text_signature = "(self, link, type, size=None, *, name='', position=None, quaternion=None, friction=1.0, \
        restitution=0.0, compliance=0.0)")]
    fn add_geom(
        &mut self,
        #[pyo3(from_py_with = arg::link)] link: &str,
        #[pyo3(from_py_with = arg::r#type)] r#type: &str,
        size: Option<Input>,
        #[pyo3(from_py_with = arg::name)] name: String,
        position: Option<Input>,
        quaternion: Option<Input>,
        #[pyo3(from_py_with = arg::friction)] friction: f64,
        #[pyo3(from_py_with = arg::restitution)] restitution: f64,
        #[pyo3(from_py_with = arg::compliance)] compliance: f64,
    ) -> Result<(), Failure> {
        let link = self.link(link)?;
        let (shape, mesh) = shape(r#type, size, self.geoms.len())?;
        let mut surface = Surface::default();
        (surface.friction, surface.restitution, surface.compliance) = (friction, restitution, compliance);
        let pose = pose(position, quaternion)?;
        self.geoms.push((link, GeomSpec { name, shape, pose, surface }, mesh));
        Ok(())
    }

    /// Adds a named frame to a link: position (3,) (m), quaternion (4,) in the link's frame.
    #[pyo3(signature = (link, name, *, position=None, quaternion=None))]
    fn add_site(
        &mut self,
        #[pyo3(from_py_with = arg::link)] link: &str,
        #[pyo3(from_py_with = arg::name)] name: String,
        position: Option<Input>,
        quaternion: Option<Input>,
    ) -> Result<(), Failure> {
        let site = (self.link(link)?, name, pose(position, quaternion)?);
        self.sites.push(site);
        Ok(())
    }

    /// Adds an actuator on a joint.
    ///
    /// type: "motor" (force = gear · ctrl), "position" (kp (ctrl - q) - kd v) or "velocity" (kd (ctrl - v)); joint (str); name, default: the joint's;
    /// gear, kp, kd; ctrl_range, force_range: two floats.
    #[pyo3(signature = (r#type, joint, *, name=None, gear=1.0, kp=0.0, kd=0.0, ctrl_range=None, force_range=None))]
    fn add_actuator(
        &mut self,
        #[pyo3(from_py_with = arg::r#type)] r#type: &str,
        #[pyo3(from_py_with = arg::joint)] joint: String,
        #[pyo3(from_py_with = arg::name)] name: Option<String>,
        #[pyo3(from_py_with = arg::gear)] gear: f64,
        #[pyo3(from_py_with = arg::kp)] kp: f64,
        #[pyo3(from_py_with = arg::kd)] kd: f64,
        #[pyo3(from_py_with = arg::ctrl_range)] ctrl_range: Option<[f64; 2]>,
        #[pyo3(from_py_with = arg::force_range)] force_range: Option<[f64; 2]>,
    ) -> Result<(), Failure> {
        let (name, id) = (name.unwrap_or_else(|| joint.clone()), JointId(0)); // its number is known in the end
        let mut actuator = match r#type {
            "motor" => Actuator::motor(name, id, gear),
            "position" => Actuator::position(name, id, kp, kd),
            "velocity" => Actuator::velocity(name, id, kd),
            got => return Err(unknown("type", "'motor', 'position' or 'velocity'", got)),
        };
        actuator.gear[0] = gear;
        (actuator.ctrl_range, actuator.force_range) = (ctrl_range, force_range);
        self.actuators.push((joint, actuator));
        Ok(())
    }

    /// Adds a named state: q (nq,), v (nv,) and ctrl (nu,) of the finished model, zeros where left out.
    #[pyo3(signature = (name, q, *, v=None, ctrl=None))]
    fn add_keyframe(
        &mut self,
        #[pyo3(from_py_with = arg::name)] name: String,
        q: Input,
        v: Option<Input>,
        ctrl: Option<Input>,
    ) -> Result<(), Failure> {
        let optional = |what, x: Option<Input>| x.map_or(Ok(Vec::new()), |x| vector(what, x));
        let (q, v, ctrl) = (vector("q", q)?, optional("v", v)?, optional("ctrl", ctrl)?);
        self.keyframes.push(Keyframe { name, q, v, ctrl, ..Keyframe::default() });
        Ok(())
    }

    /// Checks everything and makes the Model; Model.with_options gives it other options. Raises ValueError that says what does not
    /// fit.
    fn build(&self, py: Python<'_>) -> Result<Model, Failure> {
        let inner = py.detach(|| self.compile())?;
        Ok(Model::new(inner))
    }

    fn __repr__(&self) -> String {
        let joints: usize = self.links.iter().map(|link| link.joints.len()).sum();
        let (links, geoms, actuators) = (self.links.len(), self.geoms.len(), self.actuators.len());
        let name = &self.name;
        format!(
            "<slipstick.ModelBuilder '{name}': {links} links, {joints} joints, {geoms} geoms, {actuators} actuators>"
        )
    }
}

impl ModelBuilder {
    /// Number of a link, 0 for the world.
    fn link(&self, name: &str) -> Result<usize, Failure> {
        let names = || std::iter::once("world").chain(self.links.iter().map(|link| link.name.as_str()));
        let found = names().position(|known| known == name);
        found.ok_or_else(|| InputError::unknown_name("link", name, names()).into())
    }

    fn compile(&self) -> Result<slipstick::Model, Failure> {
        let mut b = slipstick::ModelBuilder::new(self.name.as_str());
        b.options = self.options.clone();
        let mut ids = vec![FrameId(0)];
        for link in &self.links {
            let (name, joints) = (link.name.as_str(), link.joints.clone());
            ids.push(b.add_link(ids[link.parent], name, link.placement, link.inertia, joints));
        }
        for (link, name, pose) in &self.sites {
            b.add_site(ids[*link], name.as_str(), *pose);
        }
        for (link, geom, mesh) in &self.geoms {
            let mut geom = geom.clone();
            if let Some(mesh) = mesh {
                geom.shape = Shape::Mesh { mesh: b.add_mesh(mesh.clone()) };
            }
            b.add_geom(ids[*link], geom);
        }
        let joints = || self.links.iter().flat_map(|link| &link.joints).map(|joint| joint.name.as_str());
        for (joint, actuator) in &self.actuators {
            let found = joints().position(|known| known == joint);
            let id = found.ok_or_else(|| InputError::unknown_name("joint", joint, joints()))?;
            b.add_actuator(Actuator { transmission: Transmission::Joint(JointId(id)), ..actuator.clone() });
        }
        let (nv, nu) = (joints_nv(&self.links), self.actuators.len());
        for keyframe in &self.keyframes {
            let filled = |x: &Vec<f64>, n: usize| if x.is_empty() { vec![0.0; n] } else { x.clone() };
            let (v, ctrl) = (filled(&keyframe.v, nv), filled(&keyframe.ctrl, nu));
            b.add_keyframe(Keyframe { v, ctrl, ..keyframe.clone() });
        }
        b.build().map_err(|e: BuildError| PyValueError::new_err(e.to_string()).into())
    }
}

fn joints_nv(links: &[Link]) -> usize {
    links.iter().flat_map(|link| &link.joints).map(|joint| joint.kind.nv()).sum()
}

fn unknown(what: &str, expected: &str, got: &str) -> Failure {
    PyValueError::new_err(format!("{what}: expected {expected}, got '{got}'")).into()
}

fn vec3(what: &'static str, x: Input) -> Result<Vec3, Failure> {
    let x = vector(what, x)?;
    match x.len() {
        3 => Ok(Vec3::from_slice(&x)),
        got => Err(InputError::Length { what, expected: 3, got }.into()),
    }
}

fn pose(position: Option<Input>, quaternion: Option<Input>) -> Result<Pose, Failure> {
    let position = position.map_or(Ok(Vec3::ZERO), |x| vec3("position", x))?;
    let Some(x) = quaternion else { return Ok(Pose::new(position, Quat::IDENTITY)) };
    let x = vector("quaternion", x)?;
    if x.len() != 4 {
        return Err(InputError::Length { what: "quaternion", expected: 4, got: x.len() }.into());
    }
    let rotation = Quat::from_slice(&x).normalized();
    let rotation = rotation.ok_or_else(|| PyValueError::new_err("quaternion: expected a rotation, got zeros"))?;
    Ok(Pose::new(position, rotation))
}

/// Moments along the axes, or a symmetric matrix.
fn symmetric(x: Input) -> Result<Sym3, Failure> {
    let (x, shape) = shaped_array("inertia", x, "(3,) or (3, 3)", |shape| matches!(shape, [3] | [3, 3]))?;
    Ok(match shape.len() {
        1 => Sym3 { xx: x[0], yy: x[1], zz: x[2], ..Sym3::ZERO },
        _ => Sym3 { xx: x[0], xy: x[1], xz: x[2], yy: x[4], yz: x[5], zz: x[8] },
    })
}

fn joint_kind(name: &str, axis: Option<Input>) -> Result<JointKind, Failure> {
    let kinds = "'revolute', 'prismatic', 'spherical', 'planar' or 'free'";
    let axis = match (name, axis) {
        ("revolute" | "prismatic", Some(axis)) => vec3("axis", axis)?.normalized(),
        ("revolute" | "prismatic", None) => Some(Vec3::new(0.0, 0.0, 1.0)),
        (_, Some(_)) => return Err(unknown("axis", "none for this type of joint", name)),
        _ => Some(Vec3::ZERO),
    };
    let axis = axis.ok_or_else(|| PyValueError::new_err("axis: expected a direction, got zeros"))?;
    Ok(match name {
        "revolute" => JointKind::Revolute { axis },
        "prismatic" => JointKind::Prismatic { axis },
        "spherical" => JointKind::Spherical,
        "planar" => JointKind::Planar,
        "free" => JointKind::Free,
        got => return Err(unknown("type", kinds, got)),
    })
}

/// A shape of a kind and size; of a mesh the hull, named after the number of its geom.
fn shape(name: &str, size: Option<Input>, number: usize) -> Result<(Shape, Option<Mesh>), Failure> {
    let kinds = [
        ("plane", Shape::Plane),
        ("sphere", Shape::Sphere { radius: 0.0 }),
        ("capsule", Shape::Capsule { radius: 0.0, half_length: 0.0 }),
        ("cylinder", Shape::Cylinder { radius: 0.0, half_length: 0.0 }),
        ("cone", Shape::Cone { radius: 0.0, half_length: 0.0 }),
        ("box", Shape::Box { half_size: Vec3::ZERO }),
        ("ellipsoid", Shape::Ellipsoid { radii: Vec3::ZERO }),
    ];
    if name == "mesh" {
        let x = size.ok_or_else(|| PyValueError::new_err("size: a mesh needs its corners (n, 3)"))?;
        let (corners, _) = shaped_array("size", x, "(n, 3)", |shape| matches!(shape, [_, 3]))?;
        let corners: Vec<Vec3> = corners.chunks_exact(3).map(Vec3::from_slice).collect();
        let hull = slipstick::files::convex_hull(&corners)
            .map_err(|e| PyValueError::new_err(format!("size: these corners have no convex hull: {e}")))?;
        let mesh = Mesh { name: format!("mesh_{number}"), vertices: hull.vertices, triangles: hull.triangles };
        return Ok((Shape::Plane, Some(mesh)));
    }
    let Some((_, shape)) = kinds.into_iter().find(|(kind, _)| *kind == name) else {
        let words = kinds.map(|(kind, _)| format!("'{kind}'")).join(", ");
        return Err(unknown("type", &format!("{words} or 'mesh'"), name));
    };
    let size = size.map_or(Ok(Vec::new()), |x| vector("size", x))?;
    if size.len() != shape.n_sizes() {
        let (expected, got) = (shape.n_sizes(), size.len());
        return Err(PyValueError::new_err(format!("size: expected {expected} numbers for a {name}, got {got}")).into());
    }
    let mut three = [0.0; 3];
    three[..size.len()].copy_from_slice(&size);
    Ok((shape.with_size(three), None))
}
