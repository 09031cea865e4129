//! Chains longer than any robot's arm: their motion without contact is found by articulated bodies.

use super::oracle::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::dynamics::Workspace;
use slipstick_core::gradient::{InputGrad, OutputGrad};
use slipstick_core::model::{GeomSpec, Implicit, JointKind, JointSpec, Shape};
use slipstick_core::spatial::*;
use slipstick_core::*;

const LINKS: usize = 60;

/// A chain of hinges about changing axes with armature and damping; its links are balls if it is to touch the ground.
fn chain(touches: bool) -> Model {
    let mut w = World::new();
    if touches {
        w.plane(Pose::translation(vec3(0.0, 0.0, -0.05 * LINKS as f64)), surface(0.4, 0.0));
    }
    let mut parent = ModelBuilder::WORLD;
    for k in 0..LINKS {
        let axis = [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.6, 0.0, 0.8)][k % 3];
        let hinge = JointSpec {
            armature: 0.01,
            damping: 0.02,
            ..JointSpec::new(format!("hinge{k}"), JointKind::Revolute { axis })
        };
        let inertia = BodyInertia { com: vec3(0.0, 0.0, -0.03), ..solid_ball(0.2, 0.02) };
        let at = if k == 0 { Vec3::ZERO } else { vec3(0.0, 0.0, -0.05) };
        parent = w.0.add_link(parent, format!("link{k}"), Pose::translation(at), inertia, vec![hinge]);
        if touches && k + 1 == LINKS {
            let tip = GeomSpec::new("tip", Shape::Sphere { radius: 0.1 });
            let pose = Pose::translation(vec3(0.0, 0.0, -0.02));
            w.0.add_geom(parent, GeomSpec { pose, surface: surface(0.4, 0.0), ..tip });
        }
    }
    w.build(|_| ())
}

#[test]
fn a_long_chain_moves_as_forward_dynamics_say() {
    let base = chain(false);
    let mut options = base.options().clone();
    options.implicit = Implicit::None;
    let model = base.with_options(options).expect("sound");
    let (mut rng, mut work, mut data) = (Rng::new(3), Workspace::new(&model), Data::new(&model));
    for _ in 0..5 {
        let (q, v, tau) = (rng.vector(LINKS, 0.3), rng.vector(LINKS, 0.5), rng.vector(LINKS, 2.0));
        let x = State::new(&model, &q, &v).expect("sound");
        let mut next = x.clone();
        step(&model, &mut data, &x, &Input::tau(&tau), &mut next).expect("a step");
        let mut all = vec![0.0; LINKS];
        work.passive(&model, &q, &v, &mut all).expect("sound");
        all.iter_mut().zip(&tau).for_each(|(a, t)| *a += t);
        let mut a = vec![0.0; LINKS];
        work.aba(&model, &q, &v, &all, &[], &mut a).expect("sound");
        for j in 0..LINKS {
            let expected = v[j] + model.options().dt * a[j];
            assert!((next.v[j] - expected).abs() < 1e-9 * (1.0 + a[j].abs()), "{j}: {} {expected}", next.v[j]);
        }
    }
}

#[test]
fn derivatives_of_long_chains_are_those_of_their_differences() {
    let mut rng = Rng::new(4);
    let free = chain(false);
    Lab::new(&free, &rng.vector(LINKS, 0.2), &rng.vector(LINKS, 0.3)).check(1e-6, "a chain in the air");
    let touching = chain(true);
    // bent: a straight one cannot give way to a push along itself
    let mut lab = Lab::new(&touching, &rng.vector(LINKS, 0.02), &rng.vector(LINKS, 0.02));
    assert!(lab.step().contacts().any(|c| c.mode != Mode::Break), "it touches");
    lab.check(1e-5, "a chain that touches");
}

#[test]
fn forward_and_reverse_mode_of_a_long_chain_agree() {
    let (model, mut rng) = (chain(false), Rng::new(5));
    let (w, d) = (rng.vector(LINKS, 1.0), rng.vector(LINKS, 1.0));
    let mut lab = Lab::new(&model, &rng.vector(LINKS, 0.2), &rng.vector(LINKS, 0.3));
    // reverse mode first, while articulated bodies are all there is
    let mut by_tau = vec![0.0; LINKS];
    let out = InputGrad { tau: &mut by_tau, ..InputGrad::default() };
    lab.step().vjp(OutputGrad { v: &w, ..OutputGrad::default() }, out).expect("a derivative");
    let forward = lab.jacobian();
    let along = forward.dv_dtau() * nalgebra::DVector::from_column_slice(&d);
    let (left, right): (f64, f64) =
        (along.iter().zip(&w).map(|(a, b)| a * b).sum(), by_tau.iter().zip(&d).map(|(a, b)| a * b).sum());
    assert!((left - right).abs() < 1e-11 * left.abs().max(1e-3), "{left} {right}");
}
