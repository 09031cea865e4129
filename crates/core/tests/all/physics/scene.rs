//! Worlds of balls and boxes, and a runner that keeps what a step said.

use crate::properties::random_tree::Rng;
use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{
    BodyId, Equality, EqualityKind, FrameId, GeomId, GeomSpec, JointKind, JointSpec, Shape, Surface,
};
use slipstick_core::spatial::*;
use slipstick_core::step::ContactView;
use slipstick_core::*;

/// Gravity of all scenes unless they say otherwise [m/s²].
pub const G: f64 = 9.81;

/// A velocity that the solver's tolerance of 1e-10 cannot tell from rest [m/s or rad/s].
pub const STILL: f64 = 1e-9;

/// A surface with Coulomb friction and restitution.
pub fn surface(friction: f64, restitution: f64) -> Surface {
    let mut s = Surface::default();
    (s.friction, s.restitution) = (friction, restitution);
    s
}

/// Rotational inertia of a homogeneous box, about its center.
pub fn solid_box(mass: f64, half: Vec3) -> BodyInertia {
    let Vec3 { x, y, z } = half;
    let about_com = Sym3::diagonal(vec3(y * y + z * z, x * x + z * z, x * x + y * y)) * (mass / 3.0);
    BodyInertia { mass, com: Vec3::ZERO, about_com }
}

/// Rotational inertia of a homogeneous ball, about its center.
pub fn solid_ball(mass: f64, radius: f64) -> BodyInertia {
    let about_com = Sym3::diagonal(vec3(1.0, 1.0, 1.0)) * (0.4 * mass * radius * radius);
    BodyInertia { mass, com: Vec3::ZERO, about_com }
}

/// An equality constraint that acts.
pub fn equality(kind: EqualityKind) -> Equality {
    Equality { name: String::new(), kind, active: true }
}

/// A slope: the pose of a plane that falls by `angle` towards the direction `azimuth`.
/// Its x axis points downhill, its z axis out of the ground.
pub fn slope(angle: f64, azimuth: f64) -> Pose {
    let turn = Quat::exp(Vec3::UNITS[2] * azimuth).compose(Quat::exp(Vec3::UNITS[1] * angle));
    Pose::new(Vec3::ZERO, turn)
}

/// A world in the making.
pub struct World(pub ModelBuilder);

impl World {
    pub fn new() -> World {
        World(ModelBuilder::new("world"))
    }

    /// A shape fixed to the world.
    pub fn fixed(&mut self, name: &str, shape: Shape, pose: Pose, surface: Surface) -> GeomId {
        self.0.add_geom(ModelBuilder::WORLD, GeomSpec { pose, surface, ..GeomSpec::new(name, shape) })
    }

    /// A plane through the pose's origin, seen from its z axis.
    pub fn plane(&mut self, pose: Pose, surface: Surface) -> GeomId {
        self.fixed("ground", Shape::Plane, pose, surface)
    }

    /// A body that moves freely and starts at `pose`, with one shape at its center.
    pub fn free(&mut self, name: &str, inertia: BodyInertia, shape: Shape, pose: Pose, surface: Surface) -> FrameId {
        let joint = JointSpec::new(format!("{name} root"), JointKind::Free);
        let link = self.0.add_link(ModelBuilder::WORLD, name, pose, inertia, vec![joint]);
        self.0.add_geom(link, GeomSpec { surface, ..GeomSpec::new(name, shape) });
        link
    }

    pub fn ball(&mut self, name: &str, mass: f64, radius: f64, at: Vec3, surface: Surface) -> FrameId {
        self.free(name, solid_ball(mass, radius), Shape::Sphere { radius }, Pose::translation(at), surface)
    }

    pub fn block(&mut self, name: &str, mass: f64, half_size: Vec3, pose: Pose, surface: Surface) -> FrameId {
        self.free(name, solid_box(mass, half_size), Shape::Box { half_size }, pose, surface)
    }

    /// A plate of the given mass on three small feet, whose tips are `height` below its center: three points decide how
    /// the load is shared, so that no compliance is needed.
    pub fn tripod(&mut self, mass: f64, height: f64, pose: Pose, surface: Surface) -> FrameId {
        let joint = JointSpec::new("tripod root", JointKind::Free);
        let link =
            self.0.add_link(ModelBuilder::WORLD, "tripod", pose, solid_box(mass, vec3(0.2, 0.2, height)), vec![joint]);
        let radius = 0.2 * height;
        for k in 0..3 {
            let (s, c) = (2.0 * std::f64::consts::FRAC_PI_3 * k as f64 + 0.3).sin_cos();
            let foot = Pose::translation(vec3(0.2 * c, 0.2 * s, radius - height));
            let spec = GeomSpec::new(format!("foot{k}"), Shape::Sphere { radius });
            self.0.add_geom(link, GeomSpec { pose: foot, surface, ..spec });
        }
        link
    }

    /// The model, with its options changed.
    pub fn build(mut self, change: impl FnOnce(&mut Options)) -> Model {
        change(&mut self.0.options);
        self.0.build().expect("a sound model")
    }

    /// A run from the neutral configuration at rest, with default options.
    pub fn run(self) -> Run {
        Run::new(self.build(|_| ()))
    }
}

/// What a step said.
pub struct Said {
    pub report: SolveReport,
    pub contacts: Vec<ContactView>,
    pub acceleration: Vec<f64>,
}

impl Said {
    /// Sum of all impulses on a body, world axes [N·s].
    pub fn impulse_on(&self, body: BodyId) -> Vec3 {
        self.contacts.iter().fold(Vec3::ZERO, |sum, c| {
            let sign = if c.bodies[1] == body { 1.0 } else { 0.0 } - if c.bodies[0] == body { 1.0 } else { 0.0 };
            sum + c.impulse * sign
        })
    }
}

/// A model on its way.
pub struct Run {
    pub model: Model,
    pub data: Data,
    pub x: State,
    next: State,
    pub work: Workspace,
}

impl Run {
    /// Begins at rest in the neutral configuration.
    pub fn new(model: Model) -> Run {
        let x = State::neutral(&model);
        Run { data: Data::new(&model), next: x.clone(), work: Workspace::new(&model), x, model }
    }

    /// The scene with other velocities.
    pub fn thrown(mut self, v: &[f64]) -> Run {
        self.x.v.copy_from_slice(v);
        self
    }

    /// One step under forces, whatever its report says.
    pub fn attempt(&mut self, input: &Input) -> Said {
        let s = step(&self.model, &mut self.data, &self.x, input, &mut self.next).expect("a finite step");
        let said =
            Said { report: *s.report(), contacts: s.contacts().collect(), acceleration: s.acceleration().to_vec() };
        std::mem::swap(&mut self.x, &mut self.next);
        said
    }

    /// One step that must be solved.
    pub fn push(&mut self, tau: &[f64]) -> Said {
        let said = self.attempt(&Input::tau(tau));
        assert_eq!(said.report.status, Status::Converged, "at {} s: {:?}", self.x.time, said.report);
        assert!(said.report.residual <= 1e-10, "at {} s: {:?}", self.x.time, said.report);
        said
    }

    /// One step without input that must be solved.
    pub fn step(&mut self) -> Said {
        self.push(&[])
    }

    /// Many of them; returns what the last one said.
    pub fn go(&mut self, steps: usize) -> Said {
        (1..steps).for_each(|_| drop(self.step()));
        self.step()
    }

    /// Position of a free body in a world of free bodies only (m).
    pub fn position(&self, body: usize) -> Vec3 {
        Vec3::from_slice(&self.x.q[7 * (body - 1)..])
    }

    /// Velocity of a free body's center in a world of free bodies only, world axes [m/s].
    pub fn velocity(&self, body: usize) -> Vec3 {
        Vec3::from_slice(&self.x.v[6 * (body - 1)..])
    }

    /// Angular velocity of a free body in a world of free bodies only, world axes [rad/s].
    pub fn spin(&self, body: usize) -> Vec3 {
        let turn = Quat::from_slice(&self.x.q[7 * (body - 1) + 3..]);
        turn.to_matrix() * Vec3::from_slice(&self.x.v[6 * (body - 1) + 3..])
    }

    /// Kinetic and potential energy together (J).
    pub fn energy(&mut self) -> f64 {
        let (kinetic, potential) = self.work.energy(&self.model, &self.x.q, &self.x.v).expect("a sound state");
        kinetic + potential
    }
}

/// Largest magnitude among numbers.
pub fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// The bits of a state, to compare runs exactly.
pub fn bits(x: &State) -> Vec<u64> {
    x.q.iter().chain(&x.v).map(|x| x.to_bits()).collect()
}

/// Boxes of random sizes thrown above the ground and at each other.
pub fn tumbling(seed: u64, boxes: usize, friction: f64, options: impl FnOnce(&mut Options)) -> Run {
    let mut rng = Rng::new(seed);
    let mut w = World::new();
    let s = surface(friction, 0.0);
    w.plane(Pose::IDENTITY, s);
    let mut v = Vec::new();
    for k in 0..boxes {
        let half = vec3(rng.uniform(0.05, 0.15), rng.uniform(0.05, 0.15), rng.uniform(0.05, 0.15));
        let at = vec3(rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1), 0.4 + 0.6 * k as f64 + rng.uniform(0.0, 0.05));
        let pose = Pose::new(at, Quat::exp(rng.vec3(2.0)));
        w.block(&format!("box{k}"), rng.uniform(0.5, 2.0), half, pose, s);
        v.extend([rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 0.0)]);
        v.extend(rng.vec3(4.0).to_array());
    }
    Run::new(w.build(options)).thrown(&v)
}

/// A chain of four capsules, thrown: hinges, a ball joint, a damped hinge. On the ground each touches in two points.
pub fn limp_arm(rng: &mut Rng, options: impl FnOnce(&mut Options)) -> Run {
    let mut w = World::new();
    let s = surface(rng.uniform(0.2, 1.0), 0.0);
    w.plane(Pose::IDENTITY, s);
    let mut parent = ModelBuilder::WORLD;
    for k in 0..4 {
        let kind = match k {
            0 => JointKind::Free,
            2 => JointKind::Spherical,
            _ => JointKind::Revolute { axis: rng.vec3(1.0).normalized().expect("not zero") },
        };
        let at = if k == 0 { vec3(0.0, 0.0, 0.6) } else { vec3(0.3, 0.0, 0.0) };
        let inertia = BodyInertia { com: vec3(0.15, 0.0, 0.0), ..solid_box(1.0, vec3(0.15, 0.03, 0.03)) };
        let damping = if k == 3 { 0.5 } else { 0.0 };
        let joint = JointSpec { damping, ..JointSpec::new(format!("joint{k}"), kind) };
        parent = w.0.add_link(parent, format!("link{k}"), Pose::translation(at), inertia, vec![joint]);
        let pose = Pose::new(inertia.com, Quat::exp(vec3(0.0, std::f64::consts::FRAC_PI_2, 0.0)));
        let shape = Shape::Capsule { radius: 0.03, half_length: 0.1 };
        w.0.add_geom(parent, GeomSpec { pose, surface: s, ..GeomSpec::new(format!("link{k}"), shape) });
    }
    let model = w.build(options);
    let v = rng.vector(model.nv(), 1.0);
    Run::new(model).thrown(&v)
}

/// Overlaps stay as they are.
pub fn without_correction(o: &mut Options) {
    o.correction.full_depth = 0.0;
    o.correction.beta = 0.0;
}
