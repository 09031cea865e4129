//! Many steps: products of Jacobians and chains of adjoints against differences of the whole motion.

use super::oracle::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use nalgebra::{DMatrix, DVector};
use slipstick_core::gradient::{InputGrad, OutputGrad};
use slipstick_core::model::{JointKind, JointSpec};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// A motion of some steps from a state, always from the same warm start.
struct Motion {
    end: State,
    modes: Vec<(usize, usize, u64, Mode)>,
}

fn precise(model: &Model) -> Model {
    let mut options = model.options().clone();
    options.tolerance = 1e-13;
    model.with_options(options).expect("sound")
}

/// Moves on, and calls back after every step.
fn roll(model: &Model, x: &State, steps: usize, mut each: impl FnMut(&mut Step, &State)) -> Motion {
    let mut data = Data::new(model);
    let (mut x, mut next, mut modes) = (x.clone(), x.clone(), Vec::new());
    for _ in 0..steps {
        let mut done = step(model, &mut data, &x, &Input::default(), &mut next).expect("finite");
        modes.extend(done.contacts().map(|c| (c.geoms[0].0, c.geoms[1].0, c.feature, c.mode)));
        each(&mut done, &x);
        std::mem::swap(&mut x, &mut next);
    }
    Motion { end: x, modes }
}

/// Product of the Jacobians of a motion.
fn chain(model: &Model, x: &State, steps: usize) -> (Motion, DMatrix<f64>) {
    let mut product = DMatrix::identity(2 * model.nv(), 2 * model.nv());
    let motion = roll(model, x, steps, |done, _| {
        product = Blocks::new(&done.jacobian().expect("a derivative")).a() * &product;
    });
    (motion, product)
}

/// A central difference of the last state; `None` if a mode differs on the way.
fn difference(model: &Model, x: &State, steps: usize, j: usize, h: f64) -> Option<DVector<f64>> {
    let nv = model.nv();
    let moved = |h: f64| {
        let mut inputs = Inputs { x: x.clone(), tau: vec![], ctrl: None, wrenches: vec![] };
        inputs.shift(model, j / nv, j % nv, h);
        roll(model, &inputs.x, steps, |_, _| ())
    };
    let (plus, minus) = (moved(h), moved(-h));
    let mut d = vec![0.0; nv];
    model.difference(&minus.end.q, &plus.end.q, &mut d).expect("sound");
    d.extend(plus.end.v.iter().zip(&minus.end.v).map(|(a, b)| a - b));
    (plus.modes == minus.modes).then(|| DVector::from_vec(d) / (2.0 * h))
}

/// Share of the columns that could be compared; all of those agree to 1e-5 of the largest entry of their block.
fn check(what: &str, model: &Model, x: &State, steps: usize) -> f64 {
    let (model, nv) = (precise(model), model.nv());
    let (_, product) = chain(&model, x, steps);
    let mut compared = 0;
    for j in 0..2 * nv {
        let scales = [0, 1].map(|r| product.view((r * nv, j / nv * nv), (nv, nv)).amax().max(1e-3));
        let errors = [1e-5, 1e-6, 1e-7, 1e-8].iter().filter_map(|h| {
            let d = difference(&model, x, steps, j, *h)?;
            let off = |r: usize| (product.view((r * nv, j), (nv, 1)) - d.rows(r * nv, nv)).amax() / scales[r];
            Some(off(0).max(off(1)))
        });
        if let Some(e) = errors.reduce(f64::min) {
            compared += 1;
            assert!(e <= 1e-5, "{what}: column {j} is {e:e} off its difference");
        }
    }
    compared as f64 / (2 * nv) as f64
}

#[test]
fn a_hundred_steps_of_a_block_that_slides_to_a_halt_have_the_derivative_of_the_whole() {
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.3, 0.0));
    w.tripod(1.0, 0.1, Pose::translation(vec3(0.0, 0.0, 0.1)), surface(0.3, 0.0));
    let run = w.run().thrown(&[0.5, 0.2, 0.0, 0.0, 0.0, 0.4]);
    assert!(check("sliding tripod", &run.model, &run.x, 100) > 0.6);
}

#[test]
fn a_hundred_steps_of_a_ball_that_falls_and_rolls_have_the_derivative_of_the_whole() {
    for restitution in [0.0, 0.7] {
        let mut w = World::new();
        let s = surface(0.4, restitution);
        w.plane(slope(0.2, 0.5), s);
        w.ball("ball", 0.5, 0.1, vec3(0.0, 0.0, 0.1123), s);
        let run = w.run().thrown(&[0.3, -0.2, -0.5, 1.0, 2.0, 3.0]);
        assert!(check("ball", &run.model, &run.x, 100) > 0.9);
    }
}

#[test]
fn a_hundred_steps_of_a_thrown_arm_have_the_derivative_of_the_whole() {
    let (mut share, mut rng) = (0.0, Rng::new(2));
    for k in 0..4 {
        let mut run = limp_arm(&mut rng, |_| ());
        (0..250).for_each(|_| drop(run.attempt(&Input::default())));
        share += 0.25 * check(&format!("arm {k}"), &run.model, &run.x, 100);
    }
    assert!(share > 0.2, "{share} of the columns compared");
}

#[test]
fn a_hundred_steps_of_a_pendulum_against_its_stop_have_the_derivative_of_the_whole() {
    let mut w = World::new();
    let bob = BodyInertia { mass: 1.3, com: vec3(0.0, 0.0, -0.8), about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let kind = JointKind::Revolute { axis: Vec3::UNITS[1] };
    let hinge = JointSpec { range: Some([0.2, 2.0]), damping: 0.1, ..JointSpec::new("swing", kind) };
    w.0.add_link(ModelBuilder::WORLD, "bob", Pose::IDENTITY, bob, vec![hinge]);
    let mut run = w.run().thrown(&[-1.5]);
    run.x.q[0] = 0.27;
    let (motion, product) = chain(&precise(&run.model), &run.x, 100);
    assert!((motion.end.q[0] - 0.2).abs() < 1e-12, "it leans against the stop");
    // where it leans it has forgotten where it came from
    assert!(product.amax() < 1e-9, "{product}");
    let (_, product) = chain(&precise(&run.model), &run.x, 30);
    let d = |j: usize| difference(&precise(&run.model), &run.x, 30, j, 1e-6).expect("one limit, no contact");
    for j in 0..2 {
        assert!((product.column(j) - d(j)).amax() < 1e-6, "{product}");
    }
}

#[test]
fn adjoints_carried_back_through_a_motion_are_those_of_the_product() {
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.3, 0.4));
    w.block("box", 1.0, vec3(0.1, 0.07, 0.05), Pose::translation(vec3(0.0, 0.0, 0.15)), surface(0.3, 0.4));
    let run = w.run().thrown(&[0.5, 0.2, -0.3, 3.0, -2.0, 1.0]);
    let (model, nv, steps) = (precise(&run.model), run.model.nv(), 200);
    let (_, product) = chain(&model, &run.x, steps);
    let mut states = Vec::new();
    roll(&model, &run.x, steps, |_, x| states.push(x.clone()));
    let mut rng = Rng::new(4);
    let start = [rng.vector(nv, 1.0), rng.vector(nv, 1.0)];
    let mut w = start.clone();
    let (mut data, mut next) = (Data::new(&model), run.x.clone());
    // each step again, from what it was made of
    for x in states.iter().rev() {
        let mut done = step(&model, &mut data, x, &Input::default(), &mut next).expect("finite");
        let [mut q, mut v] = [vec![0.0; nv], vec![0.0; nv]];
        let adjoint = OutputGrad { q: &w[0], v: &w[1], ..Default::default() };
        done.vjp(adjoint, InputGrad { q: &mut q, v: &mut v, ..InputGrad::default() }).expect("a derivative");
        w = [q, v];
    }
    let want = product.transpose() * DVector::from_vec(start.concat());
    let off = (DVector::from_vec(w.concat()) - &want).amax() / want.amax();
    assert!(off < 1e-8, "{off:e}");
}
