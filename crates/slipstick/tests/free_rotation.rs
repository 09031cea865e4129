//! Bodies that rotate freely keep their energy and the size of their angular momentum, and a motion that diverges says so.

use slipstick::dynamics::Workspace;
use slipstick::model::Integrator;
use slipstick::{Data, Input, LoadOptions, Model, State, StepError};

const BRICK: &str = "<geom type='box' size='.05 .02 .01'/>";
/// A bar with a handle: the center of mass is not the body's origin.
const T_HANDLE: &str = "<geom type='capsule' fromto='0 -.1 0 0 .1 0' size='.01'/>\
    <geom type='capsule' fromto='0 0 0 .1 0 0' size='.01'/>";

fn floating(geoms: &str, dt: f64, integrator: Integrator) -> Model {
    let xml = format!(
        "<mujoco><option timestep='{dt}' gravity='0 0 0'/><worldbody><body name='it'><freejoint/>{geoms}</body>\
         </worldbody></mujoco>"
    );
    let model = slipstick::files::load_mjcf_str("floating", &xml, &LoadOptions::default()).expect("a body");
    let mut options = model.options().clone();
    options.integrator = integrator;
    model.with_options(options).expect("options")
}

/// Energy, size of the angular momentum about the center of mass, and linear momentum.
fn invariants(model: &Model, work: &mut Workspace, x: &State) -> (f64, f64, [f64; 3]) {
    let (kinetic, _) = work.energy(model, &x.q, &x.v).expect("a state");
    let momentum = work.momentum(model, &x.q, &x.v).expect("a state");
    (kinetic, momentum.ang.norm(), momentum.lin.to_array())
}

#[test]
fn ten_seconds_of_tumbling_keep_energy_and_momentum() {
    for (geoms, axis) in [(BRICK, [1.0, 0.7, 0.3]), (T_HANDLE, [0.02, 1.0, 0.01]), (T_HANDLE, [1.0, 0.02, 0.01])] {
        for (speed, dt) in [(10.0, 1e-3), (10.0, 2e-3), (50.0, 1e-3), (50.0, 2e-3)] {
            let model = floating(geoms, dt, Integrator::Midpoint);
            let (mut data, mut work) = (Data::new(&model), Workspace::new(&model));
            let mut x = State::neutral(&model);
            let mut next = x.clone();
            (0..3).for_each(|k| x.v[3 + k] = speed * axis[k]);
            let (energy, spin, linear) = invariants(&model, &mut work, &x);
            for _ in 0..(10.0 / dt) as usize {
                slipstick::step(&model, &mut data, &x, &Input::default(), &mut next).expect("a step");
                std::mem::swap(&mut x, &mut next);
            }
            let (energy_now, spin_now, linear_now) = invariants(&model, &mut work, &x);
            let what = format!("{speed} rad/s, dt {dt}, about {axis:?}");
            assert!((energy_now / energy - 1.0).abs() < 1e-10, "{what}: energy {energy} to {energy_now}");
            assert!((spin_now / spin - 1.0).abs() < 1e-10, "{what}: momentum {spin} to {spin_now}");
            let drift = linear.iter().zip(linear_now).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(drift < 1e-10 * spin.max(1.0), "{what}: linear momentum is {drift} off");
        }
    }
}

#[test]
fn explicit_euler_diverges_and_names_body_time_and_limit() {
    let model = floating(BRICK, 2e-3, Integrator::Euler);
    let (mut data, mut x) = (Data::new(&model), State::neutral(&model));
    let mut next = x.clone();
    x.v[3..].copy_from_slice(&[50.0, 35.0, 15.0]);
    for _ in 0..5000 {
        match slipstick::step(&model, &mut data, &x, &Input::default(), &mut next) {
            Ok(_) => std::mem::swap(&mut x, &mut next),
            Err(StepError::Diverged { body, quantity, value, limit, time, .. }) => {
                assert_eq!((body.as_str(), quantity, limit), ("it", "velocity", model.options().speed_limit));
                assert!(value.abs() > limit && time == x.time && time > 0.1);
                return;
            }
            Err(error) => panic!("{error}"),
        }
    }
    panic!("explicit Euler kept its energy");
}
