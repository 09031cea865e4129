//! Springs, dampers, stops, dry friction and drives of single joints.

use super::oracle::*;
use crate::physics::scene::*;
use slipstick_core::gradient::{InputDirection, OutputGrad};
use slipstick_core::model::{Actuator, Implicit, JointId, JointKind, JointSpec, ParameterGroup};
use slipstick_core::spatial::*;
use slipstick_core::*;

const M: f64 = 2.5;
const DT: f64 = 1e-3;
const ALL: [Implicit; 4] = [Implicit::None, Implicit::Damping, Implicit::Velocity, Implicit::All];

/// A mass on a horizontal rail.
fn slider(implicit: Implicit, drives: Vec<Actuator>, change: impl FnOnce(&mut JointSpec)) -> Model {
    let mut w = World::new();
    let mut rail = JointSpec::new("rail", JointKind::Prismatic { axis: Vec3::UNITS[0] });
    change(&mut rail);
    w.0.add_link(ModelBuilder::WORLD, "car", Pose::IDENTITY, solid_ball(M, 0.1), vec![rail]);
    for drive in drives {
        w.0.add_actuator(drive);
    }
    w.build(|o| o.implicit = implicit)
}

/// Derivatives of v_next of one dof by q, v, tau (and ctrl).
fn expect_dof(what: &str, lab: &mut Lab, want: &[f64]) {
    let got = lab.jacobian();
    for (k, want) in want.iter().enumerate() {
        let (v, q) = (got.0[4 + k][(0, 0)], got.0[k][(0, 0)]);
        assert!((v - want).abs() <= 1e-12 * want.abs().max(1.0), "{what}: {} is {v}, not {want}", NAMES[4 + k]);
        let place = f64::from(u8::from(k == 0)) + DT * want;
        assert!((q - place).abs() <= 1e-12 * place.abs().max(DT), "{what}: {} is {q}, not {place}", NAMES[k]);
    }
}

/// (inertia, damping, stiffness) that act within the step, and those that act before it.
fn sharing(implicit: Implicit, d: f64, k: f64, kv: f64, kp: f64) -> [f64; 3] {
    let (within_d, within_k) = match implicit {
        Implicit::None => (0.0, 0.0),
        Implicit::Damping => (d, 0.0),
        Implicit::Velocity => (d + kv, 0.0),
        Implicit::All => (d + kv, k + kp),
    };
    [M + DT * within_d + DT * DT * within_k, d + kv - within_d, within_k]
}

#[test]
fn springs_and_dampers_act_at_the_end_of_the_step_where_that_is_asked_for() {
    let (d, k) = (30.0, 4000.0);
    for implicit in ALL {
        let model = slider(implicit, vec![], |j| (j.damping, j.stiffness, j.spring_reference) = (d, k, 0.2));
        let mut lab = Lab::new(&model, &[0.1], &[0.7]).tau(&[3.0]);
        // v_next = v + dt (tau − d v − k (q − q0) − dt k_in v) / m_hat
        let [m_hat, outside, _] = sharing(implicit, d, k, 0.0, 0.0);
        let keeps = (M - DT * outside) / m_hat;
        expect_dof(&format!("{implicit:?}"), &mut lab, &[-DT * k / m_hat, keeps, DT / m_hat]);
        lab.check(1e-6, "spring");
    }
}

#[test]
fn servos_act_at_the_end_of_the_step_unless_they_are_saturated() {
    let (kp, kv, d) = (500.0, 20.0, 3.0);
    for implicit in ALL {
        let servo = Actuator::position("servo", JointId(0), kp, kv);
        let model = slider(implicit, vec![servo.clone()], |j| j.damping = d);
        let mut lab = Lab::new(&model, &[0.1], &[0.7]).ctrl(&[0.3]);
        let [m_hat, outside, _] = sharing(implicit, d, 0.0, kv, kp);
        let keeps = (M - DT * outside) / m_hat;
        expect_dof(&format!("{implicit:?}"), &mut lab, &[-DT * kp / m_hat, keeps, DT / m_hat, DT * kp / m_hat]);
        lab.check(1e-6, "servo");

        // the same beyond its force: a constant push
        let limited = Actuator { force_range: Some([-40.0, 40.0]), ..servo };
        let model = slider(implicit, vec![limited], |j| j.damping = d);
        let mut lab = Lab::new(&model, &[0.1], &[0.7]).ctrl(&[0.3]);
        let [m_hat, outside, _] = sharing(implicit, d, 0.0, 0.0, 0.0);
        let keeps = (M - DT * outside) / m_hat;
        expect_dof(&format!("{implicit:?}, saturated"), &mut lab, &[0.0, keeps, DT / m_hat, 0.0]);
        lab.check(1e-6, "saturated servo");
    }
}

#[test]
fn motors_and_velocity_servos_pass_their_gains_on_inside_their_ranges() {
    for implicit in ALL {
        let motor = Actuator { ctrl_range: Some([-1.0, 1.0]), ..Actuator::motor("motor", JointId(0), 7.0) };
        let speed = Actuator::velocity("speed", JointId(0), 12.0);
        let model = slider(implicit, vec![motor, speed], |_| ());
        let [m_hat, outside, _] = sharing(implicit, 0.0, 0.0, 12.0, 0.0);
        let keeps = (M - DT * outside) / m_hat;
        for (ctrl, gain) in [(0.5, 7.0), (1.5, 0.0)] {
            let mut lab = Lab::new(&model, &[0.1], &[0.7]).ctrl(&[ctrl, 0.2]);
            expect_dof("motor", &mut lab, &[0.0, keeps, DT / m_hat, DT * gain / m_hat]);
            assert!((lab.jacobian().0[7][(0, 1)] - DT * 12.0 / m_hat).abs() < 1e-13, "velocity servo");
            lab.check(1e-6, "motor");
        }
    }
}

#[test]
fn a_joint_at_its_effort_limit_does_not_hear_its_drives() {
    let model = slider(Implicit::All, vec![Actuator::position("servo", JointId(0), 500.0, 20.0)], |j| {
        j.effort = [-10.0, 10.0];
    });
    let mut lab = Lab::new(&model, &[0.0], &[0.0]).ctrl(&[0.3]);
    expect_dof("at its effort limit", &mut lab, &[0.0, 1.0, DT / M, 0.0]);
    let mut lab = Lab::new(&model, &[0.0], &[0.0]).ctrl(&[0.01]);
    let m_hat = M + DT * 20.0 + DT * DT * 500.0;
    expect_dof("below it", &mut lab, &[-DT * 500.0 / m_hat, M / m_hat, DT / m_hat, DT * 500.0 / m_hat]);
}

#[test]
fn a_stop_depends_on_the_gap_alone() {
    let model = slider(Implicit::Velocity, vec![], |j| j.range = Some([-0.5, 0.5]));
    // gap, slope of v_next by q times dt
    let cases = [(3e-4, -1.0), (0.0, -1.0), (-5e-5, -1.0), (-5e-4, -0.2), (-0.05, 0.0)];
    for side in [1.0, -1.0] {
        for (gap, slope) in cases {
            let mut lab = Lab::new(&model, &[side * (0.5 - gap)], &[side]);
            expect_dof(&format!("stop {side}, gap {gap}"), &mut lab, &[slope / DT, 0.0, 0.0]);
            lab.check(1e-6, "stop");
        }
        let mut lab = Lab::new(&model, &[side * 0.499], &[-side]);
        expect_dof("moving away", &mut lab, &[0.0, 1.0, DT / M]);
    }
}

#[test]
fn dry_friction_sticks_or_slides_at_its_largest_force() {
    let model = slider(Implicit::Velocity, vec![], |j| j.dry_friction = 6.0);
    let mut lab = Lab::new(&model, &[0.1], &[0.0]).tau(&[5.0]);
    expect_dof("held", &mut lab, &[0.0, 0.0, 0.0]);
    for (v, tau, side) in [(0.0, 7.0, 1.0), (-0.5, 0.0, -1.0), (1e-3, 6.0, 1.0)] {
        let mut lab = Lab::new(&model, &[0.1], &[v]).tau(&[tau]);
        expect_dof("moving", &mut lab, &[0.0, 1.0, DT / M]);
        let mut grad = [0.0];
        let w = OutputGrad { v: &[1.0], ..OutputGrad::default() };
        lab.step().vjp_parameters(w, ParameterGroup::DryFriction, &mut grad).expect("known");
        assert!((grad[0] + side * DT / M).abs() < 1e-14, "{grad:?}");
    }
}

#[test]
fn dry_friction_at_its_limit_slides_to_one_side() {
    let model = slider(Implicit::Velocity, vec![], |j| j.dry_friction = 6.0);
    let mut lab = Lab::new(&model, &[0.1], &[0.0]).tau(&[6.0]);
    for (push, want) in [(1.0, DT / M), (-1.0, 0.0)] {
        let [mut dq, mut dv] = [[0.0]; 2];
        let direction = InputDirection { tau: &[push], ..InputDirection::default() };
        lab.step().jvp_one_sided(direction, None, &mut dq, &mut dv).expect("a derivative");
        assert!((dv[0] - want).abs() < 1e-12, "{push}: {dv:?}");
    }
}

#[test]
fn a_stop_just_reached_holds_to_one_side() {
    let model = slider(Implicit::Velocity, vec![], |j| j.range = Some([-0.5, 0.5]));
    let mut lab = Lab::new(&model, &[0.5], &[0.0]);
    for (v, want) in [(1.0, 0.0), (-1.0, -1.0)] {
        let [mut dq, mut dv] = [[0.0]; 2];
        let direction = InputDirection { v: &[v], ..InputDirection::default() };
        lab.step().jvp_one_sided(direction, None, &mut dq, &mut dv).expect("a derivative");
        assert!((dv[0] - want).abs() < 1e-12, "{v}: {dv:?}");
    }
}

/// A rod that stands on a ball joint with springs, and may lean by up to 0.6 rad.
fn rod(stiffness: f64, damping: f64, implicit: Implicit) -> Model {
    let mut w = World::new();
    let inertia = BodyInertia { com: vec3(0.02, -0.03, 0.5), ..solid_box(1.0, vec3(0.1, 0.05, 0.3)) };
    let kind = JointKind::Spherical;
    let joint = JointSpec { range: Some([0.0, 0.6]), stiffness, damping, ..JointSpec::new("ball", kind) };
    w.0.add_link(ModelBuilder::WORLD, "rod", Pose::IDENTITY, inertia, vec![joint]);
    w.build(|o| o.implicit = implicit)
}

#[test]
fn a_rod_that_leans_against_its_cone_has_the_derivative_of_its_step() {
    for (gap, spin) in [(0.0, vec3(0.3, 0.4, 0.1)), (1e-5, vec3(1.0, -0.5, 0.7)), (-5e-4, vec3(0.0, 0.3, 0.0))] {
        let axis = vec3(0.6, 0.7, -0.2).normalized().expect("not zero");
        let q = Quat::exp(axis * (0.6 - gap)).to_array();
        let v = (spin + axis * 0.5).to_array();
        Lab::new(&rod(0.0, 0.0, Implicit::Velocity), &q, &v).check(1e-6, "cone");
    }
}

#[test]
fn springs_and_dampers_of_ball_joints_have_their_derivatives_in_all_ways_of_stepping() {
    for implicit in ALL {
        for turn in [vec3(0.2, 0.1, -0.3), Vec3::ZERO] {
            let q = Quat::exp(turn).to_array();
            Lab::new(&rod(40.0, 3.0, implicit), &q, &[1.0, -2.0, 0.5]).check(1e-6, &format!("{implicit:?}"));
        }
    }
}
