//! Random robots with every kind of joint, and random states of them.

use slipstick_core::dynamics::Wrench;
use slipstick_core::model::{BodyId, JointKind, JointSpec};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// Numbers, poses, axes and inertias at random.
pub struct Rng(random::Rng);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(random::Rng(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// Uniform in [lo, hi).
    pub fn uniform(&mut self, lo: f64, hi: f64) -> f64 {
        self.0.between(lo, hi)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn vec3(&mut self, scale: f64) -> Vec3 {
        vec3(self.uniform(-scale, scale), self.uniform(-scale, scale), self.uniform(-scale, scale))
    }

    pub fn vector(&mut self, n: usize, scale: f64) -> Vec<f64> {
        (0..n).map(|_| self.uniform(-scale, scale)).collect()
    }

    pub fn pose(&mut self) -> Pose {
        let turn = if self.below(3) == 0 { Vec3::ZERO } else { self.vec3(2.0) };
        Pose::new(self.vec3(0.5), Quat::exp(turn))
    }

    fn axis(&mut self) -> Vec3 {
        match self.below(5) {
            k @ 0..3 => Vec3::UNITS[k],
            _ => self.vec3(1.0).normalized().unwrap_or(Vec3::UNITS[0]),
        }
    }

    fn inertia(&mut self) -> BodyInertia {
        // three point masses and a ball: any body obeys the triangle inequality
        let mut sum = BodyInertia { mass: 0.3, com: self.vec3(0.2), about_com: Sym3::diagonal(vec3(0.01, 0.01, 0.01)) };
        for _ in 0..3 {
            let point = BodyInertia { mass: self.uniform(0.1, 1.0), com: self.vec3(0.3), about_com: Sym3::ZERO };
            sum = sum.joined(&point);
        }
        sum
    }
}

fn joint(rng: &mut Rng, name: String) -> JointSpec {
    let kind = match rng.below(6) {
        0..=2 => JointKind::Revolute { axis: rng.axis() },
        3 => JointKind::Prismatic { axis: rng.axis() },
        4 => JointKind::Spherical,
        _ => JointKind::Planar,
    };
    JointSpec {
        anchor: if rng.below(2) == 0 { Vec3::ZERO } else { rng.vec3(0.2) },
        reference: rng.uniform(-0.5, 0.5),
        armature: if rng.below(2) == 0 { 0.0 } else { rng.uniform(0.0, 0.1) },
        damping: rng.uniform(0.0, 1.0),
        stiffness: rng.uniform(0.0, 2.0),
        spring_reference: rng.uniform(-0.5, 0.5),
        ..JointSpec::new(name, kind)
    }
}

/// A joint that shares its body with others: together they may have more than six dofs, which only drives resist.
fn chained(rng: &mut Rng, name: String) -> JointSpec {
    JointSpec { armature: rng.uniform(0.05, 0.1), ..joint(rng, name) }
}

/// A forest of up to `n` links: fixed links, chains of joints in one body, free roots, several trees.
pub fn model(seed: u64, n: usize) -> Model {
    builder(seed, n).build().expect("random trees are sound")
}

/// The builder of the tree.
pub fn builder(seed: u64, n: usize) -> ModelBuilder {
    let mut rng = Rng::new(seed);
    let mut b = ModelBuilder::new(format!("random {seed}"));
    let mut links = vec![ModelBuilder::WORLD];
    for i in 0..1 + rng.below(n) {
        let parent = links[rng.below(links.len())];
        let joints = match rng.below(8) {
            0 if i > 0 => vec![],
            1 => vec![JointSpec::new(format!("free{i}"), JointKind::Free)],
            2 => (0..3).map(|k| chained(&mut rng, format!("j{i}_{k}"))).collect(),
            _ => vec![joint(&mut rng, format!("j{i}"))],
        };
        let (placement, inertia) = (rng.pose(), rng.inertia());
        links.push(b.add_link(parent, format!("link{i}"), placement, inertia, joints));
    }
    b.options.gravity = rng.vec3(10.0).to_array();
    b
}

/// A tree that floats freely: one free root, everything else carried by it.
pub fn floating(seed: u64, n: usize) -> Model {
    let mut rng = Rng::new(seed);
    let mut b = ModelBuilder::new(format!("floating {seed}"));
    b.options.gravity = [0.0; 3];
    let (pose, inertia) = (rng.pose(), rng.inertia());
    let free = vec![JointSpec::new("root", JointKind::Free)];
    let mut links = vec![b.add_link(ModelBuilder::WORLD, "root", pose, inertia, free)];
    for i in 0..n {
        let parent = links[rng.below(links.len())];
        // the inertia of a drive acts on its joint alone and carries no momentum
        let joint = JointSpec { armature: 0.0, ..joint(&mut rng, format!("j{i}")) };
        let (placement, inertia) = (rng.pose(), rng.inertia());
        links.push(b.add_link(parent, format!("link{i}"), placement, inertia, vec![joint]));
    }
    b.build().expect("random trees are sound")
}

/// A state, accelerations and forces of a model.
pub struct Sample {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
    pub wrenches: Vec<Wrench>,
}

pub fn sample(model: &Model, seed: u64) -> Sample {
    let mut rng = Rng::new(seed ^ 0xABCD);
    let d = rng.vector(model.nv(), 1.5);
    let mut q = model.neutral().to_vec();
    model.integrate(model.neutral(), &d, &mut q).expect("a tangent of the right length");
    let wrenches = (0..rng.below(3))
        .map(|k| {
            let body = BodyId(rng.below(model.n_bodies()));
            let (force, arm) = (rng.vec3(3.0), rng.vec3(0.5));
            if k == 0 { Wrench::new(body, force, rng.vec3(2.0)) } else { Wrench::at(body, force, arm) }
        })
        .collect();
    Sample { q, v: rng.vector(model.nv(), 2.0), a: rng.vector(model.nv(), 3.0), wrenches }
}

/// Largest difference between two vectors, relative to the largest number in them (at least one).
pub fn error(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let scale = a.iter().chain(b).fold(1.0_f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs())) / scale
}

/// Central differences of `f` at `q` along each tangent: rows are outputs, nv columns.
pub fn difference_q(model: &Model, q: &[f64], n_out: usize, mut f: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let (nv, h) = (model.nv(), 1e-5);
    let mut out = vec![0.0; n_out * nv];
    for j in 0..nv {
        let mut at = |h: f64| {
            let mut d = vec![0.0; nv];
            d[j] = h;
            let mut moved = q.to_vec();
            model.integrate(q, &d, &mut moved).expect("finite");
            f(&moved)
        };
        let (plus, minus) = (at(h), at(-h));
        for i in 0..n_out {
            out[i * nv + j] = (plus[i] - minus[i]) / (2.0 * h);
        }
    }
    out
}

/// Central differences of `f` at the vector `x`.
pub fn difference(x: &[f64], n_out: usize, mut f: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let h = 1e-5;
    let mut out = vec![0.0; n_out * x.len()];
    for j in 0..x.len() {
        let mut at = |h: f64| {
            let mut y = x.to_vec();
            y[j] += h;
            f(&y)
        };
        let (plus, minus) = (at(h), at(-h));
        for i in 0..n_out {
            out[i * x.len() + j] = (plus[i] - minus[i]) / (2.0 * h);
        }
    }
    out
}
