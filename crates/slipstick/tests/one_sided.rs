//! One-sided derivatives at states of rest, where more is held than the motion has, beside differences of the true step.

use slipstick::gradient::InputDirection;
use slipstick::{Data, GradientError, Input, LoadOptions, Model, State, WarmStart, builtin};

/// Lengths of differences (m or rad).
const LENGTHS: [f64; 4] = [1e-8, 1e-7, 1e-6, 1e-5];

const GROOVE: &str = r#"<mujoco><option timestep="0.002"/><worldbody>
    <geom type="plane" size="5 5 .1" zaxis="1 0 1" friction=".8"/><geom type="plane" size="5 5 .1" zaxis="-1 0 1" friction=".8"/>
    <body pos="0.003 0 .1424"><freejoint/><geom type="sphere" size=".1" mass="1" friction=".5"/></body></worldbody></mujoco>"#;
const WALL: &str = r#"<mujoco><option timestep="0.002"/><worldbody>
    <geom type="plane" size="5 5 .1" friction=".9"/><geom type="box" size=".1 1 1" pos="-.5 0 1" friction=".9"/>
    <body pos="-0.26 0 .17" euler="0 -20 0"><freejoint/><geom type="box" size=".03 .12 .18" mass="1" friction=".9"/></body>
    </worldbody></mujoco>"#;

/// A model that comes to rest, with the state and warm start of its rest.
struct Rest {
    model: Model,
    x: State,
    ctrl: Vec<f64>,
    warm: WarmStart,
    v_next: Vec<f64>,
}

impl Rest {
    fn of(model: Model) -> Rest {
        let mut options = model.options().clone();
        options.tolerance = 1e-13;
        let model = model.with_options(options).expect("sound");
        let mut x = State::keyframe(&model, "home").unwrap_or_else(|_| State::neutral(&model));
        let home = model.keyframes().iter().find(|k| k.name == "home");
        let ctrl = home.map_or(vec![0.0; model.nu()], |k| k.ctrl.clone());
        let (mut data, mut next) = (Data::new(&model), x.clone());
        for _ in 0..2500 {
            slipstick::step(&model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).expect("a step");
            std::mem::swap(&mut x, &mut next);
        }
        assert!(x.v.iter().all(|v| v.abs() < 1e-6), "{} does not rest: {:?}", model.name(), x.v);
        let warm = data.warm_start();
        let mut rest = Rest { model, x, ctrl, warm, v_next: Vec::new() };
        rest.v_next = rest.after(&rest.x.q.clone());
        rest
    }

    /// v_next from another configuration, with the warm start of the rest.
    fn after(&self, q: &[f64]) -> Vec<f64> {
        let (mut data, mut next) = (Data::new(&self.model), self.x.clone());
        data.restore(&self.warm).expect("its own");
        let mut x = self.x.clone();
        x.q.copy_from_slice(q);
        slipstick::step(&self.model, &mut data, &x, &Input::ctrl(&self.ctrl), &mut next).expect("a step");
        next.v
    }

    fn quotient(&self, direction: &[f64], h: f64) -> Vec<f64> {
        let along: Vec<f64> = direction.iter().map(|d| h * d).collect();
        let mut q = self.x.q.clone();
        self.model.integrate(&self.x.q, &along, &mut q).expect("sound");
        self.after(&q).iter().zip(&self.v_next).map(|(a, b)| (a - b) / h).collect()
    }
}

/// Relative distance of two columns.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().chain(b).fold(0.1, |m: f64, x| m.max(x.abs()));
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / size
}

#[test]
fn both_sides_of_columns_at_rest_are_those_of_the_step() {
    let read = |text: &str| slipstick::files::load_mjcf_str("scene", text, &LoadOptions::default()).expect("sound");
    let models = [read(GROOVE), read(WALL), builtin("quadruped").expect("built in")];
    let (mut sides, mut right, mut at_length) = (0, 0, [0; 2]);
    for rest in models.into_iter().map(Rest::of) {
        let nv = rest.model.nv();
        let (mut data, mut next) = (Data::new(&rest.model), rest.x.clone());
        data.restore(&rest.warm).expect("its own");
        let mut step =
            slipstick::step(&rest.model, &mut data, &rest.x, &Input::ctrl(&rest.ctrl), &mut next).expect("a step");
        for (column, sign) in (0..nv).flat_map(|c| [(c, 1.0), (c, -1.0)]) {
            let mut direction = vec![0.0; nv];
            direction[column] = sign;
            let truth = LENGTHS.map(|h| rest.quotient(&direction, h));
            let dx = InputDirection { q: &direction, ..InputDirection::default() };
            let (mut dq, mut dv) = (vec![0.0; nv], vec![0.0; nv]);
            step.jvp_one_sided(dx, None, &mut dq, &mut dv).expect("a derivative");
            sides += 1;
            right += usize::from(truth.iter().any(|t| distance(t, &dv) < 1e-2));
            for (n, count) in at_length.iter_mut().enumerate() {
                step.jvp_one_sided(dx, Some(LENGTHS[2 + n]), &mut dq, &mut dv).expect("a quotient");
                *count += usize::from(distance(&truth[2 + n], &dv) < 1e-2);
            }
        }
    }
    assert!(100 * right >= 98 * sides, "{right} of {sides} sides are right");
    assert!(at_length.iter().all(|n| 100 * n >= 99 * sides), "{at_length:?} of {sides} quotients are right");
}

#[test]
fn a_length_must_be_positive() {
    let model = builtin("sphere").expect("built in");
    let x = State::neutral(&model);
    let (mut data, mut next) = (Data::new(&model), x.clone());
    let mut step = slipstick::step(&model, &mut data, &x, &Input::default(), &mut next).expect("a step");
    let (mut dq, mut dv) = (vec![0.0; 6], vec![0.0; 6]);
    for length in [0.0, -1.0, f64::NAN] {
        let refused = step.jvp_one_sided(InputDirection::default(), Some(length), &mut dq, &mut dv);
        assert!(matches!(refused, Err(GradientError::Input(_))), "{length}: {refused:?}");
    }
}
