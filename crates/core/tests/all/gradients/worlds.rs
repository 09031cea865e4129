//! Random worlds: trees of every kind of joint and shape over a floor, with drives, springs, stops and dry friction, and
//! states from their falls.

use super::oracle::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::dynamics::Wrench;
use slipstick_core::model::{Actuator, BodyId, GeomSpec, Implicit, JointId, JointKind, JointSpec, Mesh, Shape};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// A mesh whose hull has triangles, squares and pentagons.
pub fn hull(rng: &mut Rng, size: f64) -> Mesh {
    // a box with one corner cut off
    let (a, c) = (size * rng.uniform(0.8, 1.2), 0.4 * size);
    let corner = |k: usize| vec3([-a, a][k & 1], [-size, size][k >> 1 & 1], [-a, a][k >> 2]);
    let mut vertices: Vec<Vec3> = (0..7).map(corner).collect();
    let top = corner(7);
    vertices.extend([top - vec3(c, 0.0, 0.0), top - vec3(0.0, c, 0.0), top - vec3(0.0, 0.0, c)]);
    // faces counter-clockwise seen from outside
    let faces: [&[u32]; 7] =
        [&[0, 2, 3, 1], &[0, 1, 5, 4], &[0, 4, 6, 2], &[4, 5, 8, 7, 6], &[2, 6, 7, 9, 3], &[1, 3, 9, 8, 5], &[7, 8, 9]];
    let fan = |f: &&[u32]| (1..f.len() - 1).map(|k| [f[0], f[k], f[k + 1]]).collect::<Vec<_>>();
    Mesh { name: format!("hull{}", rng.next()), vertices, triangles: faces.iter().flat_map(fan).collect() }
}

/// The shapes of which worlds are made, by number.
pub const N_SHAPES: usize = 6;

pub fn shape(b: &mut ModelBuilder, rng: &mut Rng, kind: usize) -> Shape {
    let mut size = || rng.uniform(0.04, 0.09);
    match kind {
        0 => Shape::Sphere { radius: size() },
        1 => Shape::Capsule { radius: size(), half_length: size() },
        2 => Shape::Box { half_size: vec3(size(), size(), size()) },
        3 => Shape::Cylinder { radius: size(), half_length: size() },
        4 => Shape::Ellipsoid { radii: vec3(size(), size(), size()) },
        _ => {
            let mesh = b.add_mesh(hull(rng, 0.06));
            Shape::Mesh { mesh }
        }
    }
}

fn kind(rng: &mut Rng) -> JointKind {
    let axis = rng.vec3(1.0).normalized().unwrap_or(Vec3::UNITS[1]);
    match rng.below(6) {
        0..=2 => JointKind::Revolute { axis },
        3 => JointKind::Prismatic { axis },
        4 => JointKind::Spherical,
        _ => JointKind::Planar,
    }
}

fn joint(rng: &mut Rng, name: String) -> JointSpec {
    let kind = kind(rng);
    let limited = matches!(kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
    let range = match kind {
        JointKind::Spherical => Some([0.0, 0.5]),
        _ => limited.then_some([rng.uniform(-0.2, -0.02), rng.uniform(0.02, 0.2)]),
    };
    JointSpec {
        armature: rng.uniform(0.001, 0.01),
        damping: rng.uniform(0.01, 0.1),
        stiffness: rng.uniform(0.1, 2.0),
        dry_friction: if limited && rng.below(2) == 0 { rng.uniform(0.01, 0.2) } else { 0.0 },
        anchor: if rng.below(2) == 0 { Vec3::ZERO } else { rng.vec3(0.03) },
        range,
        ..JointSpec::new(name, kind)
    }
}

/// Up to three trees over a floor, each on a free root or, the last, on a post.
pub fn world(seed: u64) -> Model {
    builder(seed).build().expect("a sound model")
}

/// The builder of the tree.
pub fn builder(seed: u64) -> ModelBuilder {
    let mut rng = Rng::new(seed);
    let mut w = World::new();
    let restitution = if seed.is_multiple_of(3) { 0.4 } else { 0.0 };
    let touch = |rng: &mut Rng, most: f64| surface(rng.uniform(0.1, most), restitution * rng.uniform(0.5, 1.0));
    let floor = touch(&mut rng, 0.3);
    w.plane(Pose::IDENTITY, floor);
    let mut joints = 0;
    for tree in 0..1 + rng.below(3) {
        let mut parent = ModelBuilder::WORLD;
        for k in 0..1 + rng.below(3) {
            let name = format!("link{tree}_{k}");
            let root = k == 0 && !(tree == 2 && seed.is_multiple_of(2));
            let at = if k == 0 { vec3(0.0, 0.3 * tree as f64, 0.2 + 0.05 * tree as f64) } else { vec3(0.22, 0.0, 0.0) };
            let spec = if root {
                JointSpec::new(format!("root{tree}"), JointKind::Free)
            } else {
                joint(&mut rng, name.clone())
            };
            let inertia =
                BodyInertia { com: rng.vec3(0.02), ..solid_box(rng.uniform(0.3, 2.0), vec3(0.06, 0.08, 0.1)) };
            let single = spec.kind.nv() == 1;
            parent = w.0.add_link(parent, &name, Pose::translation(at), inertia, vec![spec]);
            let kind = rng.below(N_SHAPES);
            let shape = shape(&mut w.0, &mut rng, kind);
            let pose = Pose::new(rng.vec3(0.02), Quat::exp(rng.vec3(1.0)));
            let surface = touch(&mut rng, 1.0);
            w.0.add_geom(parent, GeomSpec { pose, surface, ..GeomSpec::new(&name, shape) });
            if single {
                let servo = Actuator::position(format!("servo{joints}"), JointId(joints), 5.0, 0.2);
                w.0.add_actuator(Actuator { force_range: Some([-0.5, 0.5]), ..servo });
            }
            joints += 1;
        }
    }
    let ways = [Implicit::Velocity, Implicit::All, Implicit::Damping, Implicit::None];
    w.0.options.implicit = ways[seed as usize % 4];
    w.0
}

/// States from the fall of a world: every `every` steps, `count` of them, with forces, controls and a wrench.
pub fn fall(seed: u64, every: usize, count: usize) -> Vec<Lab> {
    fall_of(world(seed), seed, every, count)
}

/// The audit of a world with something added.
pub fn fall_of(model: Model, seed: u64, every: usize, count: usize) -> Vec<Lab> {
    let mut rng = Rng::new(seed ^ 0x5EED);
    let mut run = Run::new(model);
    run.x.v = rng.vector(run.model.nv(), 1.0);
    let turn = rng.vector(run.model.nv(), 0.1);
    let (model, start) = (run.model.clone(), run.x.q.clone());
    model.integrate(&start, &turn, &mut run.x.q).expect("sound");
    let mut labs = Vec::new();
    for _ in 0..count {
        let at = Inputs {
            tau: rng.vector(model.nv(), 0.3),
            ctrl: (seed.is_multiple_of(2)).then(|| rng.vector(model.nu(), 0.3)),
            wrenches: vec![Wrench::at(BodyId(1), rng.vec3(1.0), rng.vec3(0.1))],
            x: run.x.clone(),
        };
        for _ in 0..every {
            let input = Input::tau(&at.tau).with_wrenches(&at.wrenches);
            run.attempt(&input);
        }
        labs.push(Lab::with(&model, Inputs { x: run.x.clone(), ..at }));
    }
    labs
}

/// Errors of many states.
#[derive(Default)]
pub struct Tally {
    errors: [Vec<f64>; 8],
    worst: [(f64, String); 8],
    refused: Vec<String>,
    left_out: usize,
    states: usize,
}

impl Tally {
    pub fn add(&mut self, what: &str, audit: Result<Errors, GradientError>) {
        self.states += 1;
        let errors = match audit {
            Ok(Some(errors)) => errors,
            Ok(None) => {
                self.left_out += 1;
                return;
            }
            Err(e) => return self.refused.push(format!("{what}: {e}")),
        };
        for (b, e) in errors.into_iter().enumerate() {
            self.errors[b].push(e);
            if e > self.worst[b].0 || e.is_nan() {
                self.worst[b] = (e, what.to_string());
            }
        }
    }

    /// The rule of the project: median at most 1e-8, worst at most 1e-5, less than a tenth left out.
    pub fn judge(mut self, what: &str) {
        let mut faults = std::mem::take(&mut self.refused);
        for (b, name) in NAMES.iter().enumerate() {
            self.errors[b].sort_by(f64::total_cmp);
            let median = self.errors[b].get(self.errors[b].len() / 2).copied().unwrap_or(0.0);
            if !(median <= 1e-8 && self.worst[b].0 <= 1e-5) {
                faults.push(format!("{name}: median {median:e}, worst {:e} ({})", self.worst[b].0, self.worst[b].1));
            }
        }
        assert!(faults.is_empty(), "{what}, {} states:\n{}", self.states, faults.join("\n"));
        assert!(10 * self.left_out < self.states, "{what}: {} of {} left out", self.left_out, self.states);
    }
}
