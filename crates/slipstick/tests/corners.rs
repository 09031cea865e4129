//! Corners of the step are told column by column, and nothing else is.

use slipstick::check::Corners;
use slipstick::files::load_mjcf_str;
use slipstick::{Data, Input, Model, State, step};

pub fn scene(bodies: &str) -> Model {
    let text = format!("<mujoco><option timestep='0.002' gravity='0 0 -10'/><worldbody>{bodies}</worldbody></mujoco>");
    load_mjcf_str("scene", &text, &Default::default()).unwrap()
}

pub const FLOOR: &str = "<geom type='plane' size='5 5 .1' friction='.5'/>";
pub const BOX: &str = "<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='1' friction='.5'/></body>";

fn corners(model: &Model, tau: &[f64]) -> Corners {
    corners_after(0, model, tau)
}

fn corners_after(steps: usize, model: &Model, tau: &[f64]) -> Corners {
    let (mut data, mut x) = (Data::new(model), State::neutral(model));
    let mut next = x.clone();
    for _ in 0..steps {
        step(model, &mut data, &x, &Input::default(), &mut next).unwrap();
        std::mem::swap(&mut x, &mut next);
    }
    let mut step = step(model, &mut data, &x, &Input::tau(tau), &mut next).unwrap();
    Corners::of(&mut step).unwrap()
}

#[test]
fn a_box_at_rest_has_none_and_one_about_to_slip_has_some() {
    let model = scene(&format!("{FLOOR}{BOX}"));
    assert_eq!(corners(&model, &[0.0; 6]).count(), 0);
    // friction .5 × 10 N, pushed at the center: about to slip along x
    let slip = corners(&model, &[5.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(slip.tau[0] && slip.v[0], "{slip:?}");
    // a torque that is about to tip it over an edge: m g a
    let tip = corners(&model, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert!(tip.tau[4] && tip.v[4] && tip.q[4], "{tip:?}");
    // its weight is carried: it lifts off or is pressed on
    let lift = corners(&model, &[0.0, 0.0, 10.0, 0.0, 0.0, 0.0]);
    assert!(lift.tau[2] && lift.v[2] && lift.q[2], "{lift:?}");
    // ahead of a threshold by less than anybody cares
    let near = corners(&model, &[4.99, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(near.count(), 0, "{near:?}");
}

#[test]
fn more_held_than_the_motion_has_directions_is_a_corner_of_q_only() {
    let planes = "<geom type='plane' size='5 5 .1' zaxis='1 0 1' friction='.3'/>\
                  <geom type='plane' size='5 5 .1' zaxis='-1 0 2' friction='.6'/>";
    let ball = "<body pos='0 0 .16'><freejoint/><geom type='sphere' size='.1' mass='1' friction='.3'/></body>";
    let found = corners_after(600, &scene(&format!("{planes}{ball}")), &[0.0; 6]);
    assert!(found.q.iter().any(|flag| *flag), "{found:?}");
    assert!(!found.v.iter().chain(&found.tau).any(|flag| *flag), "{found:?}");
}

#[test]
fn features_of_shapes_and_ends_of_ranges_are_corners() {
    // a sphere that slides exactly above the edge of a box: its normal turns on one side only
    let edge = "<geom type='box' size='.1 .1 .1' friction='.5'/>\
                <body pos='.1 0 .15'><freejoint/><geom type='sphere' size='.05' mass='1' friction='.5'/></body>";
    assert!(corners(&scene(edge), &[0.0; 6]).q[0]);

    let arm = "<mujoco><option timestep='0.002'/><worldbody><body><joint name='j' axis='0 1 0'/>\
               <geom type='capsule' fromto='0 0 0 .3 0 0' size='.02' mass='1'/></body></worldbody>\
               <actuator><motor joint='j' ctrlrange='-1 1' ctrllimited='true'/></actuator></mujoco>";
    let model = load_mjcf_str("arm", arm, &Default::default()).unwrap();
    let (mut data, x) = (Data::new(&model), State::neutral(&model));
    let mut next = x.clone();
    for (ctrl, at_end) in [(0.5, false), (1.0, true)] {
        let mut step = step(&model, &mut data, &x, &Input::ctrl(&[ctrl]), &mut next).unwrap();
        let found = Corners::of(&mut step).unwrap();
        assert_eq!((found.ctrl[0], found.count()), (at_end, usize::from(at_end)), "{ctrl}: {found:?}");
    }
}
