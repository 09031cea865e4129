//! Derivatives of rollouts against differences, against each other, and what they promise about memory.

mod differences;
mod scene;
mod sensors;

use scene::{STEPS, Scene};
use slipstick::control::{Controller, Hold};
use slipstick::files::load_mjcf_str;
use slipstick::model::{GeomSpec, GradientMode, JointKind, JointSpec, Mesh, ParameterGroup, Shape};
use slipstick::rollout::RolloutGradientError;
use slipstick::rollout::{Memory, RolloutDirection, RolloutGrad, RolloutGradient, Sensitivities, StateGrad, Wanted};
use slipstick::*;

const GROUPS: [ParameterGroup; 3] = [ParameterGroup::Friction, ParameterGroup::Inertial, ParameterGroup::Gravity];

/// Numbers without pattern.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let noise = |k: usize| ((k as f64 + 1.3) * (12.9898 + seed as f64)).sin() * 43758.5453;
    (0..n).map(|k| 2.0 * (noise(k) - noise(k).floor()) - 1.0).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |s, (a, b)| s + a * b)
}

/// Largest difference, relative to the largest number.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(1e-300f64, |w, x| w.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |w, (a, b)| w.max((a - b).abs())) / size
}

/// Everything a gradient holds, part by part.
fn parts(g: &RolloutGrad) -> Vec<&[f64]> {
    let parameters = g.parameters.iter().map(|(_, x)| &x[..]);
    [&g.q[..], &g.v, &g.tau, &g.ctrl].into_iter().chain(parameters).filter(|x| !x.is_empty()).collect()
}

/// The gradient of a loss that looks at all states.
fn gradient(scene: &Scene, memory: Memory, groups: &[ParameterGroup]) -> RolloutGrad {
    let n = (STEPS + 1) * scene.model.nv();
    let (wq, wv) = (numbers(n, 1), numbers(n, 2));
    let mut memory = scene.memory(memory, groups);
    let mut rollout = memory.run(&scene.x0, &scene.input()).unwrap();
    let mut out = rollout.zeros();
    rollout.vjp(StateGrad { q: &wq, v: &wv, ..StateGrad::default() }, &mut out).unwrap();
    out
}

#[test]
fn stored_and_recomputed_gradients_agree() {
    for scene in [Scene::sphere(), Scene::cube(), Scene::thrown(), Scene::quadruped()] {
        let (stored, again) = (gradient(&scene, Memory::Store, &GROUPS), gradient(&scene, Memory::Recompute, &GROUPS));
        for (a, b) in parts(&stored).into_iter().zip(parts(&again)) {
            let error = difference(a, b);
            assert!(error < 10.0 * scene.rounding, "{}: {error}", scene.model.name());
        }
    }
}

#[test]
fn smoothed_derivatives_go_through_time_too() {
    let (exact, mut smooth) = (Scene::quadruped(), Scene::quadruped());
    let mut options = smooth.model.options().clone();
    options.gradient = GradientMode::ExactForwardCentral { kappa: 1e-4 };
    smooth.model = smooth.model.with_options(options).unwrap();
    let [one, two] = [Memory::Store, Memory::Recompute].map(|memory| gradient(&smooth, memory, &[]));
    // their linear systems are less well conditioned than those of the modes
    parts(&one).into_iter().zip(parts(&two)).for_each(|(a, b)| assert!(difference(a, b) < 1e-8));
    assert!(difference(&one.ctrl, &gradient(&exact, Memory::Store, &[]).ctrl) > 1e-6, "nothing was smoothed");
    assert_eq!(smooth.end(&smooth.x0.q).0, exact.end(&exact.x0.q).0, "the steps themselves are exact");
}

#[test]
fn stored_and_recomputed_sensitivities_are_the_same_bits() {
    let scene = Scene::quadruped();
    let [stored, again] = [Memory::Store, Memory::Recompute].map(|memory| {
        let mut memory = scene.memory(memory, &[ParameterGroup::Friction]);
        let mut rollout = memory.run(&scene.x0, &scene.input()).unwrap();
        rollout.sensitivities(Wanted { tau: false, ..Wanted::default() }).unwrap()
    });
    assert!(stored == again, "they differ");
    assert!(stored.tau(0).is_none() && stored.ctrl(STEPS - 1).is_some() && stored.ctrl(STEPS).is_none());
}

#[test]
fn forward_and_reverse_mode_are_adjoint() {
    let groups = GROUPS;
    for scene in [Scene::sphere(), Scene::cube(), Scene::soft_cube(), Scene::quadruped()] {
        let (nv, n) = (scene.model.nv(), (STEPS + 1) * scene.model.nv());
        let (dq0, dv0) = (numbers(nv, 3), numbers(nv, 4));
        let (dtau, dctrl) = (numbers(STEPS * nv, 5), numbers(scene.ctrl.len(), 6));
        let values = groups.iter().map(|g| numbers(scene.model.parameters().group(*g).len(), 7)).collect::<Vec<_>>();
        let parameters: Vec<_> = groups.iter().zip(&values).map(|(g, x)| (*g, &x[..])).collect();
        let dx = RolloutDirection {
            q: &dq0,
            v: &dv0,
            tau: &dtau,
            ctrl: &dctrl,
            parameters: &parameters,
            ..RolloutDirection::default()
        };
        let (wq, wv) = (numbers(n, 1), numbers(n, 2));
        let (mut dq, mut dv) = (vec![0.0; n], vec![0.0; n]);
        let mut memory = scene.memory(Memory::Recompute, &groups);
        let mut rollout = memory.run(&scene.x0, &scene.input()).unwrap();
        rollout.jvp(dx, &mut dq, &mut dv).unwrap();
        let mut out = rollout.zeros();
        rollout.vjp(StateGrad { q: &wq, v: &wv, ..StateGrad::default() }, &mut out).unwrap();
        let forward = dot(&wq, &dq) + dot(&wv, &dv);
        let pairs = [(&out.q[..], &dq0[..]), (&out.v, &dv0), (&out.tau, &dtau), (&out.ctrl, &dctrl)];
        let of_groups = out.parameters.iter().zip(&values).map(|((_, g), x)| (&g[..], &x[..]));
        let terms: Vec<f64> = pairs.into_iter().chain(of_groups).map(|(g, x)| dot(g, x)).collect();
        let (reverse, size) = (terms.iter().sum::<f64>(), terms.iter().fold(forward.abs(), |s, x| s.max(x.abs())));
        assert!((forward - reverse).abs() < scene.rounding * size, "{}: {forward} {reverse}", scene.model.name());
    }
}

#[test]
fn sensitivities_of_every_state_are_what_directions_say() {
    let scene = Scene::cube();
    let nv = scene.model.nv();
    let mut memory = scene.memory(Memory::Store, &[]);
    let mut rollout = memory.run(&scene.x0, &scene.input()).unwrap();
    let d = numbers(nv, 8);
    let (mut dq, mut dv) = (vec![0.0; (STEPS + 1) * nv], vec![0.0; (STEPS + 1) * nv]);
    rollout.jvp(RolloutDirection { v: &d, ..Default::default() }, &mut dq, &mut dv).unwrap();
    let mut seen = 0;
    let check = |t: usize, s: &Sensitivities| {
        let all = s.initial().unwrap();
        let by_matrix: Vec<f64> = (0..2 * nv).map(|i| dot(&all.row(i)[nv..], &d)).collect();
        let rows = t * nv..(t + 1) * nv;
        assert!(difference(&by_matrix, &[&dq[rows.clone()], &dv[rows]].concat()) < 1e-12, "state {t}");
        seen += 1;
    };
    rollout.sensitivities_of_states(Wanted { tau: false, ..Wanted::default() }, check).unwrap();
    assert_eq!(seen, STEPS + 1);
}

#[test]
fn a_loss_at_the_end_may_be_given_alone_and_gradients_add_up() {
    let scene = Scene::sphere();
    let nv = scene.model.nv();
    let mut memory = scene.memory(Memory::Recompute, &GROUPS);
    let mut rollout = memory.run(&scene.x0, &scene.input()).unwrap();
    let (last, mut all) = (numbers(nv, 9), vec![0.0; (STEPS + 1) * nv]);
    all[STEPS * nv..].copy_from_slice(&last);
    let (mut a, mut b) = (rollout.zeros(), rollout.zeros());
    rollout.vjp(StateGrad { q: &last, ..StateGrad::default() }, &mut a).unwrap();
    rollout.vjp(StateGrad { q: &all, ..StateGrad::default() }, &mut b).unwrap();
    assert_eq!(a, b);
    rollout.vjp(StateGrad { q: &last, ..StateGrad::default() }, &mut a).unwrap();
    for (twice, once) in parts(&a).into_iter().zip(parts(&b)) {
        assert!(difference(twice, &once.iter().map(|x| 2.0 * x).collect::<Vec<_>>()) < 1e-14);
    }
    a.clear();
    assert_eq!(a, rollout.zeros());
}

#[test]
fn a_recorded_trajectory_is_repeated_bit_for_bit() {
    let model = builtin("quadruped").unwrap();
    let mut sim = Simulator::new(&model);
    let x0 = sim.state().clone();
    let mut hold = Controller::Hold(Hold::new(&model, &x0).unwrap());
    let trajectory = sim.rollout(60, &mut hold).unwrap();
    let mut memory = RolloutGradient::new(&model, 60, Memory::Recompute);
    let mut rollout = memory.run(&x0, &trajectory.input()).unwrap();
    assert!(*rollout.trajectory() == trajectory, "it went another way");
    // a derivative goes back in time; what comes after the last step is still known
    let mut out = rollout.zeros();
    rollout.vjp(StateGrad { q: &numbers(model.nv(), 1), v: &[], ..StateGrad::default() }, &mut out).unwrap();
    assert!(*rollout.warm_start() == sim.warm_start());
    assert_eq!((rollout.steps(), rollout.q(60), rollout.q(61)), (60, &sim.state().q[..], &[][..]));
}

#[test]
fn a_run_goes_on_with_a_warm_start() {
    let scene = Scene::quadruped();
    let mut whole = scene.memory(Memory::Store, &[]);
    let whole = whole.run(&scene.x0, &scene.input()).unwrap();
    let half = STEPS / 2;
    let rows = |t: usize| Input::ctrl(&scene.ctrl[t * scene.model.nu()..][..half * scene.model.nu()]);
    let mut memory = RolloutGradient::new(&scene.model, half, Memory::Recompute);
    let first = memory.run(&scene.x0, &rows(0)).unwrap();
    let mut x = scene.x0.clone();
    (x.q, x.v) = (first.q(half).to_vec(), first.v(half).to_vec());
    let warm = first.warm_start().clone();
    memory.set_warm_start(warm).unwrap();
    let second = memory.run(&x, &rows(half)).unwrap();
    assert_eq!((second.q(half), second.v(half)), (whole.q(STEPS), whole.v(STEPS)));
}

#[test]
fn controls_of_actuators_that_are_off_change_nothing() {
    let model = builtin("cartpole").unwrap();
    let x0 = State::keyframe(&model, "upright").unwrap();
    for memory in [Memory::Store, Memory::Recompute] {
        let mut memory = RolloutGradient::new(&model, 5, memory);
        let mut rollout = memory.run(&x0, &Input::default()).unwrap();
        let mut out = rollout.zeros();
        rollout.vjp(StateGrad { q: &[1.0, 1.0], v: &[], ..StateGrad::default() }, &mut out).unwrap();
        assert!(out.ctrl == [0.0; 5] && out.tau.iter().all(|x| *x != 0.0));
        let s = rollout.sensitivities(Wanted::default()).unwrap();
        assert_eq!((0..4).map(|i| s.ctrl(2).unwrap()[(i, 0)]).sum::<f64>(), 0.0);
    }
}

#[test]
fn parameters_may_change_from_run_to_run() {
    let scene = Scene::sphere();
    let mut memory = scene.memory(Memory::Recompute, &[ParameterGroup::Friction]);
    memory.run(&scene.x0, &scene.input()).unwrap();
    let other = scene.changed(scene::Place::Parameter(ParameterGroup::Friction, 1), 0.2);
    memory.set_model(&other.model).unwrap();
    assert!(memory.last().is_none(), "the last rollout belongs to another model");
    let changed = memory.run(&scene.x0, &scene.input()).unwrap().q(STEPS).to_vec();
    let mut fresh = other.memory(Memory::Recompute, &[]);
    assert_eq!(changed, fresh.run(&other.x0, &other.input()).unwrap().q(STEPS));
    let error = memory.set_model(&builtin("ant").unwrap()).unwrap_err();
    assert_eq!(error, InputError::WrongModel { what: "rollout", got: "ant".into() });
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let scene = Scene::quadruped();
    let (nv, nu) = (scene.model.nv(), scene.model.nu());
    let mut memory = scene.memory(Memory::Recompute, &[ParameterGroup::Friction]);
    let told = |e: RolloutGradientError| e.to_string();
    let short = Input::ctrl(&scene.ctrl[1..]);
    assert_eq!(
        told(memory.run(&scene.x0, &short).unwrap_err()),
        format!("ctrl: expected {} numbers, got {}", STEPS * nu, STEPS * nu - 1)
    );
    let mut tau = vec![0.0; STEPS * nv];
    tau[7] = f64::NAN;
    let bad = Input::tau(&tau);
    assert_eq!(told(memory.run(&scene.x0, &bad).unwrap_err()), "tau[7] is not a finite number");
    let mut x0 = scene.x0.clone();
    x0.v.pop();
    assert_eq!(told(memory.run(&x0, &scene.input()).unwrap_err()), format!("v: expected {nv} numbers, got {}", nv - 1));
    assert!(memory.last().is_none());

    let mut rollout = memory.run(&scene.x0, &scene.input()).unwrap();
    let mut out = rollout.zeros();
    let error = rollout.vjp(StateGrad { q: &[1.0; 3], ..StateGrad::default() }, &mut out).unwrap_err();
    assert_eq!(told(error), format!("gradient of the configurations: expected {} numbers, got 3", (STEPS + 1) * nv));
    let mut wrong = RolloutGrad::new(&scene.model, STEPS, &[ParameterGroup::Damping]);
    let w = vec![1.0; nv];
    let error = rollout.vjp(StateGrad { q: &w, ..StateGrad::default() }, &mut wrong).unwrap_err();
    assert!(told(error).contains("'damping'"));
    let mut few = RolloutGrad::new(&scene.model, STEPS - 1, &[ParameterGroup::Friction]);
    let error = rollout.vjp(StateGrad { q: &w, ..StateGrad::default() }, &mut few).unwrap_err();
    assert!(told(error).starts_with("gradient of tau: expected"));
    let (mut dq, mut dv) = (vec![0.0; (STEPS + 1) * nv], vec![0.0; nv]);
    let error = rollout.jvp(RolloutDirection::default(), &mut dq, &mut dv).unwrap_err();
    assert!(told(error).starts_with("changes of the states: expected"));
    let parameters = [(ParameterGroup::Damping, &w[..])];
    let dx = RolloutDirection { parameters: &parameters, ..Default::default() };
    assert!(told(rollout.jvp(dx, &mut dq.clone(), &mut dq).unwrap_err()).contains("'damping'"));
}

#[test]
fn a_step_without_a_state_names_its_number() {
    let xml = r#"<mujoco><option timestep="0.1" gravity="0 0 0"/><worldbody><body name="bob">
        <joint name="slide" type="slide" stiffness="1e9"/><geom size="0.1" mass="1"/></body></worldbody></mujoco>"#;
    let model = load_mjcf_str("spring", xml, &Default::default()).unwrap();
    let x0 = State::new(&model, &[0.1], &[0.0]).unwrap();
    let mut memory = RolloutGradient::new(&model, 1000, Memory::Recompute);
    let error = memory.run(&x0, &Input::default()).unwrap_err();
    let RolloutGradientError::Rollout(e) = &error else { panic!("{error:?}") };
    assert!(matches!(&e.error, StepError::Diverged { body, .. } if body == "bob"), "{error:?}");
    assert!(error.to_string().starts_with(&format!("step {}: ", e.step)), "{error}");
}

/// A ball that falls 2 mm onto a square of ground, whose scale has no derivative.
fn onto_ground() -> Model {
    use slipstick::spatial::{BodyInertia, Pose, Sym3, Vec3, vec3};
    let mut b = ModelBuilder::new("ground");
    let vertices = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(|[x, y]| vec3(x, y, 0.0)).to_vec();
    let mesh = b.add_mesh(Mesh { name: "ground".into(), vertices, triangles: vec![[0, 1, 2], [0, 2, 3]] });
    b.add_geom(ModelBuilder::WORLD, GeomSpec::new("ground", Shape::Terrain { mesh }));
    let inertia = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let joint = JointSpec::new("joint", JointKind::Free);
    let link = b.add_link(ModelBuilder::WORLD, "ball", Pose::translation(vec3(0.0, 0.0, 0.102)), inertia, vec![joint]);
    b.add_geom(link, GeomSpec::new("ball", Shape::Sphere { radius: 0.1 }));
    b.build().unwrap()
}

#[test]
fn a_step_without_a_derivative_names_its_number() {
    let model = onto_ground();
    let x0 = State::neutral(&model);
    let [mut stored, mut again] = [Memory::Store, Memory::Recompute]
        .map(|memory| RolloutGradient::new(&model, 40, memory).with_parameters(&[ParameterGroup::MeshScale]));
    let error = stored.run(&x0, &Input::default()).unwrap_err();
    let RolloutGradientError::Gradient { step, error: GradientError::Unsupported { .. } } = error else {
        panic!("{error:?}")
    };
    assert!((15..25).contains(&step), "it falls for 20 ms: {step}");
    assert!(stored.last().is_none());
    // without derivatives nothing is wrong with the rollout; the first step that lacks one comes last
    let mut rollout = again.run(&x0, &Input::default()).unwrap();
    let mut out = rollout.zeros();
    let error = rollout.vjp(StateGrad { v: &[1.0; 6], q: &[], ..StateGrad::default() }, &mut out).unwrap_err();
    assert!(error.to_string().starts_with("step 39: there is no derivative of the contacts of terrain"), "{error}");
}
