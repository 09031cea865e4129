//! From a builder to a model: order the links, merge the fixed ones, lay out q, v and the parameters.

use super::actuator::Transmission;
use super::builder::{LinkSpec, ModelBuilder};
use super::check;
use super::coupling::EqualityKind;
use super::geometry::{Geom, Mesh};
use super::hull::Hull;
use super::ids::{ActuatorId, BodyId, FrameId, JointId, MeshId};
use super::joint::{Joint, JointKind, JointSpec, Primitive, PrimitiveKind};
use super::parameters::{ParameterGroup, ParameterLayout, Parameters};
use super::sensor::SensorObject;
use super::sensor_data::GeomSet;
use super::topology::{Node, Topology};
use super::visual::{Look, Visual, VisualSpec, Visuals};
use super::{Body, DerivedParameters, Frame, Model, Structure, terrain_meshes};
use crate::error::BuildError;
use crate::spatial::{BodyInertia, Pose, Quat, Vec3};
use std::sync::{Arc, OnceLock};

pub(super) fn compile(b: ModelBuilder) -> Result<Model, BuildError> {
    check::builder(&b)?;
    let mut bodies = Bodies::new(b.links.len());
    for link in depth_first(&b.links) {
        bodies.add(FrameId(link), &b.links[link]);
    }
    bodies.finish(b)
}

/// Meshes as collision sees them. Of ground only the bounds are asked for.
pub(super) fn hulls(meshes: &[Mesh], geoms: &[Geom]) -> Vec<Arc<Hull>> {
    let ground = terrain_meshes(geoms);
    let hull = |(k, mesh): (usize, &Mesh)| match ground.contains(&MeshId(k)) {
        true => Hull::new(&Mesh { triangles: Vec::new(), ..mesh.clone() }),
        false => Hull::new(mesh),
    };
    meshes.iter().enumerate().map(|m| Arc::new(hull(m))).collect()
}

/// Links in depth-first order, siblings in the order of adding, the world first.
fn depth_first(links: &[LinkSpec]) -> Vec<usize> {
    let mut children = vec![Vec::new(); links.len()];
    for (i, link) in links.iter().enumerate().skip(1) {
        children[link.parent.0].push(i);
    }
    let (mut order, mut stack) = (Vec::with_capacity(links.len()), vec![0]);
    while let Some(i) = stack.pop() {
        order.push(i);
        stack.extend(children[i].iter().rev());
    }
    order
}

/// What has been laid out so far.
struct Bodies {
    bodies: Vec<Body>,
    nodes: Vec<Node>,
    primitives: Vec<Primitive>,
    joints: Vec<Joint>,
    specs: Vec<JointSpec>,
    /// For each joint of the builder its place among `joints`.
    joint_of: Vec<(JointId, JointId)>,
    frames: Vec<Frame>,
    /// Frame of each link of the builder.
    frame_of: Vec<FrameId>,
    inertia: Vec<BodyInertia>,
    compensation: Vec<(f64, Vec3)>,
    placement: Vec<Pose>,
    q0: Vec<f64>,
    n_trees: usize,
}

impl Bodies {
    fn new(n_links: usize) -> Bodies {
        let world = Node { parent: 0, tree: 0, primitives: 0..0, dofs: 0..0 };
        Bodies {
            bodies: vec![Body { name: "world".into(), parent: BodyId(0), link: FrameId(0), mocap: false }],
            nodes: vec![world],
            primitives: Vec::new(),
            joints: Vec::new(),
            specs: Vec::new(),
            joint_of: Vec::new(),
            frames: Vec::new(),
            frame_of: vec![FrameId(0); n_links],
            inertia: vec![BodyInertia::default()],
            compensation: vec![(0.0, Vec3::ZERO)],
            placement: vec![Pose::IDENTITY],
            q0: Vec::new(),
            n_trees: 0,
        }
    }

    fn nv(&self) -> usize {
        self.joints.last().map_or(0, |j| j.v.end)
    }

    fn frame_index(&self, link: FrameId) -> usize {
        self.frame_of[link.0].0
    }

    fn add(&mut self, id: FrameId, link: &LinkSpec) {
        let frame = FrameId(self.frames.len());
        self.frame_of[id.0] = frame;
        if id.0 == 0 || link.joints.is_empty() && !link.mocap {
            self.add_fixed(id, link);
        } else {
            self.add_body(frame, link);
        }
    }

    /// A link on a fixed joint: its mass goes to the body that carries it, its name stays as a frame.
    fn add_fixed(&mut self, id: FrameId, link: &LinkSpec) {
        let parent = FrameId(self.frame_index(link.parent));
        let (body, pose) = if id.0 == 0 {
            (BodyId(0), Pose::IDENTITY)
        } else {
            let parent = &self.frames[parent.0];
            (parent.body, parent.pose * link.placement)
        };
        let moved = link.inertia.moved(&pose);
        self.inertia[body.0] = self.inertia[body.0].joined(&moved);
        self.compensate(body, link, moved.com);
        self.add_link_frame(link, body, parent, pose);
    }

    fn add_body(&mut self, frame: FrameId, link: &LinkSpec) {
        let parent = self.frames[self.frame_index(link.parent)].clone();
        let body = BodyId(self.bodies.len());
        let (first_primitive, first_dof) = (self.primitives.len(), self.nv());
        let mut placement = parent.pose * link.placement;
        for (k, (id, spec)) in link.joints.iter().enumerate() {
            if spec.kind == JointKind::Free {
                // q is absolute in the parent: the pose in the file is where the joint starts
                self.add_joint(*id, spec, k, body, &link.name, placement);
                placement = Pose::IDENTITY;
            } else {
                self.add_joint(*id, spec, k, body, &link.name, Pose::IDENTITY);
            }
        }
        let tree = if self.nodes[parent.body.0].moves() {
            self.nodes[parent.body.0].tree
        } else {
            self.n_trees += usize::from(!link.mocap); // the topology numbers mocap bodies
            self.n_trees.saturating_sub(1)
        };
        self.nodes.push(Node {
            parent: parent.body.0,
            tree,
            primitives: first_primitive..self.primitives.len(),
            dofs: first_dof..self.nv(),
        });
        self.bodies.push(Body { name: link.name.clone(), parent: parent.body, link: frame, mocap: link.mocap });
        self.inertia.push(link.inertia);
        self.compensation.push((0.0, Vec3::ZERO));
        self.compensate(body, link, link.inertia.com);
        self.placement.push(placement);
        self.add_link_frame(link, body, FrameId(self.frame_index(link.parent)), Pose::IDENTITY);
    }

    fn add_link_frame(&mut self, link: &LinkSpec, body: BodyId, parent: FrameId, pose: Pose) {
        let (name, inertia) = (link.name.clone(), Some(link.inertia));
        self.frames.push(Frame { name, body, parent, pose, inertia, zone: None });
    }

    /// Adds the compensated part of a link's mass to that of its body; `com` is in the body's frame.
    fn compensate(&mut self, body: BodyId, link: &LinkSpec, com: Vec3) {
        let mass = link.gravity_compensation * link.inertia.mass;
        let (sum, center) = &mut self.compensation[body.0];
        let total = *sum + mass;
        if total != 0.0 {
            *center = (*center * *sum + com * mass) * (1.0 / total);
        }
        *sum = total;
    }

    fn add_joint(&mut self, id: JointId, spec: &JointSpec, k: usize, body: BodyId, link: &str, start: Pose) {
        let name = match (spec.name.as_str(), k) {
            ("", 0) => format!("{link}_joint"),
            ("", k) => format!("{link}_joint{k}"),
            (name, _) => name.to_string(),
        };
        let (q, v) = (self.q0.len(), self.nv());
        let (nq, nv) = (spec.kind.nq(), spec.kind.nv());
        self.add_primitives(spec, q, v);
        match spec.kind {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => self.q0.push(spec.reference),
            JointKind::Spherical => self.q0.extend(Quat::IDENTITY.to_array()),
            JointKind::Planar => self.q0.extend([0.0; 3]),
            JointKind::Free => self.q0.extend(spec.start.unwrap_or_else(|| {
                let ([x, y, z], [w, i, j, k]) =
                    (start.position.to_array(), Quat::from_matrix(&start.rotation).to_array());
                [x, y, z, w, i, j, k]
            })),
        }
        self.joint_of.push((id, JointId(self.joints.len())));
        self.specs.push(spec.clone());
        self.joints.push(Joint {
            name,
            kind: spec.kind,
            body,
            q: q..q + nq,
            v: v..v + nv,
            anchor: spec.anchor,
            reference: if nq == 1 { spec.reference } else { 0.0 },
            range: spec.range,
            effort: spec.effort,
            driven_compensation: spec.driven_compensation,
            velocity: spec.velocity,
        });
    }

    fn add_primitives(&mut self, spec: &JointSpec, q: usize, v: usize) {
        let [x, y, z] = Vec3::UNITS;
        let primitive = |kind, q, v, axis, anchor, reference| {
            let anchored = anchor != Vec3::ZERO;
            Primitive { kind, q, v, axis, anchor, anchored, reference, angle: 0 }
        };
        let (a, r) = (spec.anchor, spec.reference);
        match spec.kind {
            JointKind::Revolute { axis } => {
                self.primitives.push(primitive(PrimitiveKind::hinge(axis), q, v, axis, a, r));
            }
            JointKind::Prismatic { axis } => self.primitives.push(primitive(PrimitiveKind::Slide, q, v, axis, a, r)),
            JointKind::Spherical => self.primitives.push(primitive(PrimitiveKind::Ball, q, v, z, a, 0.0)),
            JointKind::Planar => self.primitives.extend([
                primitive(PrimitiveKind::Slide, q, v, x, a, 0.0),
                primitive(PrimitiveKind::Slide, q + 1, v + 1, y, a, 0.0),
                primitive(PrimitiveKind::HingeZ, q + 2, v + 2, z, a, 0.0),
            ]),
            JointKind::Free => self.primitives.extend([
                primitive(PrimitiveKind::Translation, q, v, z, Vec3::ZERO, 0.0),
                primitive(PrimitiveKind::Ball, q + 3, v + 3, z, Vec3::ZERO, 0.0),
            ]),
        }
    }

    fn finish(mut self, mut b: ModelBuilder) -> Result<Model, BuildError> {
        for site in &b.sites {
            let parent = FrameId(self.frame_index(site.link));
            let link = &self.frames[parent.0];
            let (body, pose) = (link.body, link.pose * site.pose);
            self.frames.push(Frame { name: site.name.clone(), body, parent, pose, inertia: None, zone: site.zone });
        }
        let geoms = b.geoms.iter().map(|(link, spec)| {
            let link = FrameId(self.frame_index(*link));
            let frame = &self.frames[link.0];
            Geom {
                name: spec.name.clone(),
                body: frame.body,
                link,
                shape: spec.shape,
                pose: frame.pose * spec.pose,
                surface: spec.surface,
            }
        });
        let geoms: Vec<Geom> = geoms.collect();
        if let Some(g) = geoms.iter().find(|g| g.shape.is_terrain() && g.body != BodyId::WORLD) {
            let body = self.bodies[g.body.0].name.clone();
            return Err(BuildError::MovingTerrain { geom: g.name.clone(), body });
        }
        let visuals = Arc::new(self.visuals(&b));
        self.renumber(&mut b);
        let dof_names = self.joints.iter().flat_map(dof_names).collect::<Vec<_>>();
        let q_names = self.joints.iter().flat_map(|j| names_of(j, j.q.len())).collect::<Vec<_>>();
        let body_names = || self.bodies[1..].iter().map(|x| x.name.clone()).collect::<Vec<_>>();
        let geom_names = || geoms.iter().enumerate().map(|(i, g)| named(&g.name, i)).collect::<Vec<_>>();
        let layout = ParameterLayout::new(|group| match group {
            ParameterGroup::Inertial | ParameterGroup::JointPlacement => body_names(),
            ParameterGroup::Armature
            | ParameterGroup::Damping
            | ParameterGroup::Stiffness
            | ParameterGroup::DryFriction => dof_names.clone(),
            ParameterGroup::SpringReference => q_names.clone(),
            ParameterGroup::Gravity => vec![String::new()],
            ParameterGroup::Friction
            | ParameterGroup::Restitution
            | ParameterGroup::Compliance
            | ParameterGroup::ShapeSize => geom_names(),
            ParameterGroup::MeshScale => b.meshes.iter().map(|m| m.name.clone()).collect(),
            ParameterGroup::Actuator => b.actuators.iter().enumerate().map(|(i, a)| named(&a.name, i)).collect(),
        });
        let mut p = Parameters::new(vec![0.0; layout.len()], Arc::new(layout));
        self.fill(&mut p, &b, &geoms);
        let tree = Topology::new(self.nodes, self.primitives);
        let driven = self.joints.iter().filter(|j| j.driven_compensation).flat_map(|j| j.v.clone());
        let driven_compensation = driven.filter(|_| self.compensation.iter().any(|c| c.0 != 0.0)).collect();
        let activated = b.actuators.iter().enumerate().filter(|(_, a)| a.activation.is_some());
        let activated = activated.map(|(k, _)| ActuatorId(k)).collect();
        let structure = Structure {
            name: b.name,
            tree,
            bodies: self.bodies,
            joints: self.joints,
            frames: self.frames,
            hulls: hulls(&b.meshes, &geoms),
            geoms,
            meshes: b.meshes,
            fields: b.fields,
            actuators: b.actuators,
            activated,
            keyframes: Vec::new(),
            equalities: b.equalities,
            tendons: b.tendons,
            sensors: b.sensors,
            visuals,
            contacts: b.contacts,
            pairs: OnceLock::new(),
            compensation: self.compensation,
            driven_compensation,
            warnings: b.warnings,
            notes: b.notes,
            q0: self.q0,
            dof_names,
            key: OnceLock::new(),
        };
        let numbers = DerivedParameters::new(&structure, p);
        let model = Model::assemble(structure, numbers, b.options);
        check::model(model, b.keyframes)
    }

    /// What the model looks like, with its own numbers of bodies and links.
    fn visuals(&self, b: &ModelBuilder) -> Visuals {
        let visual = |(link, spec): &(FrameId, VisualSpec)| {
            let link = FrameId(self.frame_index(*link));
            let frame = &self.frames[link.0];
            let VisualSpec { name, pose, shape, look, group } = spec.clone();
            Visual { name, body: frame.body, link, pose: frame.pose * pose, shape, look, group }
        };
        let mut geoms = vec![Look::default(); b.geoms.len()];
        for (id, look) in &b.looks {
            geoms[id.0] = look.clone();
        }
        Visuals { shapes: b.visuals.iter().map(visual).collect(), geoms, warnings: b.visual_warnings.clone() }
    }

    /// Joints and links were numbered as added; the model numbers them depth-first.
    fn renumber(&mut self, b: &mut ModelBuilder) {
        self.joint_of.sort_by_key(|(added, _)| *added);
        let joint = |id: &mut JointId| *id = self.joint_of[id.0].1;
        // sites follow the links in both numberings
        let n_links = self.frame_of.len();
        let frame = |id: &mut FrameId| {
            if id.0 < n_links {
                *id = self.frame_of[id.0];
            }
        };
        for a in &mut b.actuators {
            if let Transmission::Joint(id) | Transmission::JointInParent(id) = &mut a.transmission {
                joint(id);
            }
            a.transmission.frames_mut().for_each(frame);
            a.transmission = self.plain(a.transmission);
        }
        b.tendons.iter_mut().flat_map(|t| &mut t.joints).for_each(|(id, _)| joint(id));
        for e in &mut b.equalities {
            match &mut e.kind {
                EqualityKind::Joint { joint: id, other, .. } => {
                    joint(id);
                    other.iter_mut().for_each(joint);
                }
                EqualityKind::Connect { frames, .. } | EqualityKind::Weld { frames, .. } => {
                    frames.iter_mut().for_each(frame);
                }
                EqualityKind::Tendon { .. } => {}
            }
        }
        for s in &mut b.sensors {
            match &mut s.object {
                SensorObject::Joint(id) => joint(id),
                SensorObject::Frame(id) | SensorObject::Inertial(id) => frame(id),
                SensorObject::Geoms(sets) => sets.iter_mut().for_each(|set| match set {
                    GeomSet::Link(id) | GeomSet::Subtree(id) | GeomSet::Inside(id) => frame(id),
                    GeomSet::Any | GeomSet::Geom(_) => {}
                }),
                SensorObject::World | SensorObject::Actuator(_) | SensorObject::Tendon(_) => {}
            }
            s.reference.iter_mut().for_each(frame);
        }
        b.contacts.excludes.iter_mut().flatten().for_each(frame);
    }

    /// Only balls and free joints tell axes of the parent from those of the body.
    fn plain(&self, t: Transmission) -> Transmission {
        let turns = |id: JointId| matches!(self.joints[id.0].kind, JointKind::Spherical | JointKind::Free);
        match t {
            Transmission::JointInParent(id) if !turns(id) => Transmission::Joint(id),
            t => t,
        }
    }

    /// Writes the numbers of the description into the parameter vector.
    fn fill(&self, p: &mut Parameters, b: &ModelBuilder, geoms: &[Geom]) {
        for (i, inertia) in self.inertia.iter().enumerate().skip(1) {
            let x = &self.placement[i];
            p.group_mut(ParameterGroup::Inertial)[10 * (i - 1)..10 * i].copy_from_slice(&inertia.to_parameters());
            let place = &mut p.group_mut(ParameterGroup::JointPlacement)[6 * (i - 1)..6 * i];
            place[..3].copy_from_slice(&x.position.to_array());
            place[3..].copy_from_slice(&Quat::from_matrix(&x.rotation).log().to_array());
        }
        let springs = p.group_mut(ParameterGroup::SpringReference);
        springs.copy_from_slice(&self.q0);
        for (joint, spec) in self.joints.iter().zip(&self.specs) {
            if matches!(joint.kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. }) {
                p.group_mut(ParameterGroup::SpringReference)[joint.q.start] = spec.spring_reference;
            }
            for (group, value) in [
                (ParameterGroup::Armature, spec.armature),
                (ParameterGroup::Damping, spec.damping),
                (ParameterGroup::Stiffness, spec.stiffness),
                (ParameterGroup::DryFriction, spec.dry_friction),
            ] {
                p.group_mut(group)[joint.v.clone()].fill(value);
            }
        }
        p.group_mut(ParameterGroup::Gravity).copy_from_slice(&b.options.gravity);
        for (i, g) in geoms.iter().enumerate() {
            p.group_mut(ParameterGroup::Friction)[i] = g.surface.friction;
            p.group_mut(ParameterGroup::Restitution)[i] = g.surface.restitution;
            p.group_mut(ParameterGroup::Compliance)[i] = g.surface.compliance;
            p.group_mut(ParameterGroup::ShapeSize)[3 * i..3 * i + 3].copy_from_slice(&g.shape.size());
        }
        p.group_mut(ParameterGroup::MeshScale).fill(1.0);
        for (i, a) in b.actuators.iter().enumerate() {
            let [b0, b1, b2] = a.bias;
            p.group_mut(ParameterGroup::Actuator)[4 * i..4 * i + 4].copy_from_slice(&[a.gain, b0, b1, b2]);
        }
    }
}

/// The name of a thing, or its number where it has none.
fn named(name: &str, index: usize) -> String {
    if name.is_empty() { index.to_string() } else { name.to_string() }
}

/// One name per dof: the joint's, with a number where it has several.
fn dof_names(j: &Joint) -> Vec<String> {
    names_of(j, j.v.len())
}

fn names_of(j: &Joint, n: usize) -> Vec<String> {
    if n == 1 { vec![j.name.clone()] } else { (0..n).map(|k| format!("{}[{k}]", j.name)).collect() }
}
