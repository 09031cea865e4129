//! Activations: the laws against closed forms, and every new column of the derivative against differences.

use super::oracle::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::gradient::{InputDirection, InputGrad, OutputGrad};
use slipstick_core::model::{
    Activation, Actuator, Dynamics, GeomSpec, Implicit, JointId, JointKind, JointSpec, ParameterGroup, Shape,
};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// A chain of slides and hinges whose tip touches the floor, with one actuator of every kind.
fn robot(implicit: Implicit) -> Model {
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.6, 0.0));
    let kinds = [
        JointKind::Prismatic { axis: Vec3::UNITS[0] },
        JointKind::Prismatic { axis: Vec3::UNITS[2] },
        JointKind::Revolute { axis: Vec3::UNITS[1] },
        JointKind::Revolute { axis: Vec3::UNITS[0] },
        JointKind::Revolute { axis: Vec3::UNITS[1] },
    ];
    let mut parent = ModelBuilder::WORLD;
    for (k, kind) in kinds.into_iter().enumerate() {
        let at = Pose::translation(if k < 2 { vec3(0.0, 0.0, 0.2) } else { vec3(0.2, 0.05, -0.1) });
        let joint = JointSpec { damping: 0.05, ..JointSpec::new(format!("joint{k}"), kind) };
        let name = format!("link{k}");
        parent = w.0.add_link(parent, &name, at, solid_box(0.8, vec3(0.1, 0.06, 0.08)), vec![joint]);
    }
    w.0.add_geom(
        parent,
        GeomSpec { surface: surface(0.6, 0.0), ..GeomSpec::new("tip", Shape::Sphere { radius: 0.1 }) },
    );
    let filter = Activation::new(Dynamics::Filter { time_constant: 0.04 });
    let exact = Activation { early: true, ..Activation::new(Dynamics::ExactFilter { time_constant: 0.02 }) };
    let integrator = Activation { range: Some([-0.5, 0.5]), ..Activation::new(Dynamics::Integrator) };
    let saturated = Activation { range: Some([-0.1, 0.1]), early: true, ..exact };
    let on = JointId;
    w.0.add_actuator(Actuator::motor("plain", on(0), 2.0));
    w.0.add_actuator(Actuator::position("filtered", on(0), 20.0, 1.0).with_activation(exact));
    w.0.add_actuator(Actuator::position("integrated", on(1), 30.0, 2.0).with_activation(integrator));
    let slow = Actuator { ctrl_range: Some([-1.0, 1.0]), ..Actuator::motor("slow", on(2), 3.0) };
    w.0.add_actuator(slow.with_activation(filter));
    w.0.add_actuator(Actuator::damper("damper", on(3), 0.7, 2.0));
    let variable = Actuator {
        gain: 0.4,
        gain_slopes: [-0.9, -0.3],
        bias: [0.1, -0.5, -0.2],
        ..Actuator::motor("variable", on(4), 1.5)
    };
    w.0.add_actuator(variable.with_activation(exact));
    w.0.add_actuator(Actuator::motor("clamped", on(4), 1.0).with_activation(saturated));
    w.0.add_actuator(Actuator { enabled: false, ..Actuator::motor("off", on(3), 5.0) }.with_activation(filter));
    w.build(|o| o.implicit = implicit)
}

/// The robot at a state in which its tip presses on the floor, or hangs in the air.
fn lab(implicit: Implicit, height: f64, seed: u64) -> Lab {
    let (model, mut rng) = (robot(implicit), Rng::new(seed));
    let mut q = rng.vector(model.nv(), 0.1);
    q[1] = height;
    let x = State::new(&model, &q, &rng.vector(model.nv(), 0.2)).expect("a state");
    let x = x.with_act(&model, &rng.vector(model.na(), 0.08)).expect("activations");
    let mut ctrl = rng.vector(model.nu(), 0.5);
    ctrl[4] = 0.6 + 0.2 * ctrl[4];
    ctrl[6] = 40.0; // over the range of its activation
    let tau = rng.vector(model.nv(), 0.3);
    Lab::with(&model, Inputs { x, tau, ctrl: Some(ctrl), wrenches: Vec::new() })
}

fn labs() -> impl Iterator<Item = (String, Lab)> {
    let ways = [Implicit::None, Implicit::Damping, Implicit::Velocity, Implicit::All];
    let places = [(0.8, "in the air"), (0.0, "on the floor")];
    ways.into_iter()
        .zip(0..)
        .flat_map(move |(way, seed)| places.map(|(height, name)| (format!("{way:?} {name}"), lab(way, height, seed))))
}

/// (q_next as a tangent from `from`, v_next, act_next).
fn end(lab: &mut Lab, from: &State) -> Vec<f64> {
    let model = lab.model.clone();
    let (_, next) = lab.step_to();
    let mut d = vec![0.0; model.nv()];
    model.difference(&from.q, &next.q, &mut d).expect("configurations");
    [d, next.v, next.act].concat()
}

/// Central difference along activation `j`, or along control `j`.
fn difference(lab: &mut Lab, of_act: bool, j: usize, h: f64) -> Vec<f64> {
    let (kept, (_, base)) = (lab.at.clone(), lab.step_to());
    let mut at = |h: f64| {
        match of_act {
            true => lab.at.x.act[j] += h,
            false => lab.at.ctrl.as_mut().expect("controls")[j] += h,
        }
        let out = end(lab, &base);
        lab.at = kept.clone();
        out
    };
    let (plus, minus) = (at(h), at(-h));
    plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * h)).collect()
}

#[test]
fn activations_follow_their_laws() {
    let model = robot(Implicit::Velocity);
    let mut at = lab(Implicit::Velocity, 0.8, 3).at;
    at.x.act.copy_from_slice(&[0.2, 0.499, -0.3, 0.1, 0.05, 0.7]);
    let ctrl = [0.0, 0.5, 2.0, 3.0, 0.0, -0.4, 40.0, 1.0];
    at.ctrl = Some(ctrl.to_vec());
    let dt = model.options().dt;
    let share = 1.0 - (-dt / 0.02).exp();
    let (_, next) = {
        let mut lab = Lab::with(&model, at.clone());
        let (_, next) = lab.step_to();
        ((), next)
    };
    let want = [
        0.2 + 0.3 * share,
        0.5,                            // clamped
        -0.3 + dt * (1.0 + 0.3) / 0.04, // its control is clamped to one
        0.1 - 0.5 * share,
        0.1,
        0.7, // of an actuator that does not act
    ];
    next.act.iter().zip(want).for_each(|(got, want)| assert!((got - want).abs() < 1e-12, "{got} {want}"));
    // without controls activations rest
    let mut lab = Lab::with(&model, Inputs { ctrl: None, ..at.clone() });
    assert_eq!(lab.step_to().1.act, at.x.act);
    assert_eq!(lab.step().act(), at.x.act);
}

#[test]
fn a_step_with_activations_has_its_derivative_in_every_column() {
    for (what, mut lab) in labs() {
        lab.check(2e-6, &what);
        let (nv, na, nu) = (lab.model.nv(), lab.model.na(), lab.model.nu());
        assert_eq!((na, nu), (6, 8));
        let mut columns = Vec::new();
        let mut done = lab.step();
        let j = done.jacobian().expect("a derivative");
        for k in 0..na {
            let rows = [j.dq_dact, j.dv_dact, j.dact_dact];
            columns.push((
                true,
                k,
                rows.iter().flat_map(|m| (0..m.rows()).map(move |i| m[(i, k)])).collect::<Vec<_>>(),
            ));
        }
        for k in 0..nu {
            let rows = [j.dq_dctrl, j.dv_dctrl, j.dact_dctrl];
            columns.push((false, k, rows.iter().flat_map(|m| (0..m.rows()).map(move |i| m[(i, k)])).collect()));
        }
        for (of_act, k, column) in columns {
            let size = column.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
            let off = |h: f64| {
                let d = difference(&mut lab, of_act, k, h);
                d.iter().zip(&column).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size
            };
            let best = [1e-3, 1e-4, 1e-5, 1e-6].map(off).into_iter().fold(f64::INFINITY, f64::min);
            assert!(best < 1e-6, "{what}: column {k} (act: {of_act}) is {best:e} off: {column:?}");
        }
        let (a, b) = {
            let mut done = lab.step();
            let j = done.jacobian().expect("a derivative");
            (j.A(), j.B())
        };
        let n = 2 * nv + na;
        assert_eq!((a.len(), b.len()), (n * n, n * nu));
        assert!((0..na).all(|i| (0..2 * nv).all(|k| a[(2 * nv + i) * n + k] == 0.0)), "act follows nothing else");
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn directions_and_adjoints_agree_with_the_matrices() {
    let mut rng = Rng::new(7);
    for (what, mut lab) in labs() {
        let (nv, na, nu) = (lab.model.nv(), lab.model.na(), lab.model.nu());
        let [dq, dv, dtau] = [0; 3].map(|_| rng.vector(nv, 1.0));
        let (dctrl, dact) = (rng.vector(nu, 1.0), rng.vector(na, 1.0));
        let (wq, wv, wact) = (rng.vector(nv, 1.0), rng.vector(nv, 1.0), rng.vector(na, 1.0));
        let along = InputDirection { q: &dq, v: &dv, tau: &dtau, ctrl: &dctrl, act: &dact };
        let mut done = lab.step();
        let (mut q, mut v, mut act) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; na]);
        done.jvp(along, &mut q, &mut v).expect("a derivative");
        done.jvp_act(along, &mut act).expect("a derivative");
        let forward = dot(&wq, &q) + dot(&wv, &v) + dot(&wact, &act);
        let n = 2 * nv + na;
        let (a, b) = {
            let j = done.jacobian().expect("a derivative");
            (j.A(), j.B())
        };
        let change = [&dq[..], &dv, &dact].concat();
        let by_tau: Vec<f64> = {
            let j = done.jacobian().expect("a derivative");
            (0..nv).map(|i| dot(j.dv_dtau.row(i), &dtau)).collect()
        };
        for i in 0..nv {
            let row = nv + i;
            let got = dot(&a[row * n..(row + 1) * n], &change) + dot(&b[row * nu..(row + 1) * nu], &dctrl) + by_tau[i];
            assert!((got - v[i]).abs() < 1e-10 * v[i].abs().max(1.0), "{what}: row {i} {got} {}", v[i]);
        }
        let mut out = [vec![0.0; nv], vec![0.0; nv], vec![0.0; nv], vec![0.0; nu], vec![0.0; na]];
        let [gq, gv, gtau, gctrl, gact] = &mut out;
        let w = OutputGrad { q: &wq, v: &wv, act: &wact, ..OutputGrad::default() };
        done.vjp(w, InputGrad { q: gq, v: gv, tau: gtau, ctrl: gctrl, act: gact }).expect("a derivative");
        let inputs = [&dq, &dv, &dtau, &dctrl, &dact];
        let reverse: f64 = out.iter().zip(inputs).map(|(g, d)| dot(g, d)).sum();
        assert!((forward - reverse).abs() < 1e-9 * forward.abs().max(1.0), "{what}: {forward} {reverse}");
        // one of the parts alone
        let mut only = vec![0.0; na];
        done.vjp(w, InputGrad { act: &mut only, ..InputGrad::default() }).expect("a derivative");
        assert_eq!(only, out[4], "{what}");
        let (mut q1, mut v1) = (vec![0.0; nv], vec![0.0; nv]);
        done.jvp_one_sided(along, None, &mut q1, &mut v1).expect("a derivative");
        let off = v.iter().zip(&v1).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(off < 1e-5 * v.iter().fold(1.0_f64, |m, x| m.max(x.abs())), "{what}: one-sided {off:e}");
    }
}

#[test]
fn the_mean_of_both_sides_is_the_derivative_where_the_step_is_smooth() {
    let mut lab = lab(Implicit::Velocity, 0.8, 5);
    let mut done = lab.step();
    let (a, b) = {
        let j = done.jacobian().expect("a derivative");
        (j.A(), j.B())
    };
    let j = done.jacobian_of_sides(1e-6).expect("a derivative");
    for (exact, sides) in [(a, j.A()), (b, j.B())] {
        let size = exact.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        exact.iter().zip(&sides).for_each(|(x, y)| assert!((x - y).abs() < 1e-6 * size, "{x} {y}"));
    }
}

#[test]
fn gains_behind_activations_have_the_derivative_of_their_step() {
    for (what, mut lab) in labs() {
        let group = ParameterGroup::Actuator;
        let (nv, n) = (lab.model.nv(), lab.model.parameters().group(group).len());
        let (mut dq, mut dv) = (vec![0.0; nv * n], vec![0.0; nv * n]);
        lab.step().parameter_jacobian(group, &mut dq, &mut dv).expect("a derivative");
        let model = lab.model.clone();
        // gains of exactly zero have another derivative on either side: (act-3)
        for k in (0..n).filter(|k| model.parameters().group(group)[*k] != 0.0) {
            let mut at = |h: f64| {
                let mut parameters = model.parameters().clone();
                parameters.group_mut(group)[k] += h;
                lab.model = model.with_parameters(parameters).expect("parameters");
                lab.step_to().1.v
            };
            let size = (0..nv).fold(1e-3_f64, |m, i| m.max(dv[i * n + k].abs()));
            let off = |h: f64| {
                let (plus, minus) = (at(h), at(-h));
                (0..nv).fold(0.0_f64, |m, i| m.max(((plus[i] - minus[i]) / (2.0 * h) - dv[i * n + k]).abs())) / size
            };
            let best = [1e-3, 1e-4, 1e-5].map(off).into_iter().fold(f64::INFINITY, f64::min);
            assert!(best < 1e-6, "{what}: entry {k} is {best:e} off");
        }
    }
}

#[test]
fn what_does_not_fit_the_activations_is_refused() {
    let mut lab = lab(Implicit::Velocity, 0.8, 1);
    let told = |e: InputError| e.to_string();
    let short = lab.at.x.clone().with_act(&lab.model, &[0.0; 5]).map_err(told);
    assert_eq!(short, Err("act: expected 6 numbers, got 5".into()));
    let mut x = lab.at.x.clone();
    x.act[2] = f64::NAN;
    let (model, at) = (lab.model.clone(), lab.at.clone());
    let mut next = x.clone();
    let error = step(&model, &mut lab.data, &x, &at.input(), &mut next).unwrap_err().to_string();
    assert_eq!(error, "act[2] is not a finite number");
    x.act[2] = 9e59;
    x.act[1] = 0.0;
    let fast = Input { ctrl: Some(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), ..at.input() };
    assert!(step(&model, &mut lab.data, &x, &fast, &mut next).is_err(), "a force beyond all bounds");
    assert_eq!(
        model.without_activations("batch").map_err(told),
        Err("batch: expected a model without activations, got one with those of the actuators 'filtered', 'integrated', \
             'slow', 'variable', 'clamped', 'off'"
            .into())
    );
}
