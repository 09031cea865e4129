//! A ball that slides along three axes but does not turn, over a plane: every derivative of its step fits on a line.

use super::oracle::*;
use crate::physics::scene::*;
use slipstick_core::gradient::OutputGrad;
use slipstick_core::model::{GeomSpec, JointKind, JointSpec, ParameterGroup, Shape, Surface};
use slipstick_core::spatial::*;
use slipstick_core::*;

pub const MASS: f64 = 1.7;
pub const DT: f64 = 1e-3;

/// A puck whose q are (x, y, gap).
pub fn puck(surface: Surface, options: impl FnOnce(&mut Options)) -> Model {
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface);
    let slide = |k: usize| JointSpec::new(format!("slide{k}"), JointKind::Prismatic { axis: Vec3::UNITS[k] });
    let (radius, joints) = (0.1, (0..3).map(slide).collect());
    let pose = Pose::translation(vec3(0.0, 0.0, radius));
    let link = w.0.add_link(ModelBuilder::WORLD, "puck", pose, solid_ball(MASS, radius), joints);
    w.0.add_geom(link, GeomSpec { surface, ..GeomSpec::new("puck", Shape::Sphere { radius }) });
    w.build(options)
}

/// Derivatives of v_next of a puck and, through q_next = q + dt v_next, of q_next.
pub fn expect_puck(what: &str, lab: &mut Lab, dv: [[f64; 9]; 3]) {
    let got = lab.jacobian();
    for (k, name) in ["dv_dq", "dv_dv", "dv_dtau"].iter().enumerate() {
        let want: Vec<f64> = dv.iter().flat_map(|row| row[3 * k..3 * k + 3].to_vec()).collect();
        // relative to 1/dt, 1 and dt/m
        let tolerance = 1e-11 * [1.0 / DT, 1.0, DT / MASS][k];
        expect(&format!("{what}: {name}"), &got.0[4 + k], &want, tolerance);
        let identity = |i: usize| if k == 0 && i.is_multiple_of(4) { 1.0 } else { 0.0 };
        let place: Vec<f64> = want.iter().enumerate().map(|(i, x)| identity(i) + DT * x).collect();
        expect(&format!("{what}: q_next, {name}"), &got.0[k], &place, DT * tolerance);
    }
}

fn at(surface: Surface, q: [f64; 3], v: [f64; 3], tau: [f64; 3]) -> Lab {
    Lab::new(&puck(surface, |_| ()), &q, &v).tau(&tau)
}

#[test]
fn in_free_flight_velocities_and_forces_add_up() {
    let (a, b) = (1.0, DT / MASS);
    let mut lab = at(surface(0.5, 0.0), [0.1, 0.2, 0.5], [1.0, -2.0, 0.3], [0.4, 0.0, 1.0]);
    let dv = [
        [0.0, 0.0, 0.0, a, 0.0, 0.0, b, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, a, 0.0, 0.0, b, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, a, 0.0, 0.0, b],
    ];
    expect_puck("free flight", &mut lab, dv);
    lab.check(1e-6, "free flight");
}

#[test]
fn a_sticking_puck_stays_whatever_is_changed_but_its_gap() {
    let mut lab = at(surface(0.5, 0.0), [0.1, 0.2, 0.0], [0.0; 3], [0.4, -0.3, 1.0]);
    let mut dv = [[0.0; 9]; 3];
    dv[2][2] = -1.0 / DT;
    expect_puck("stick", &mut lab, dv);
    lab.check(1e-6, "stick");
}

/// Derivative of v_next of a sliding puck whose normal velocity is `n(gap, v_z)` with the slopes `dn`, and whose normal
/// impulse per mass is `push`.
fn sliding(mu: f64, push: f64, free: [f64; 2], dn: [f64; 2]) -> [[f64; 9]; 3] {
    let speed = f64::hypot(free[0], free[1]);
    let u = [free[0] / speed, free[1] / speed];
    let mut dv = [[0.0; 9]; 3];
    for i in 0..2 {
        for j in 0..2 {
            // along the slip all of it, across what friction leaves
            let along = u[i] * u[j];
            let across = if i == j { 1.0 - along } else { -along };
            let slope = along + (1.0 - mu * push / speed) * across;
            dv[i][3 + j] = slope;
            dv[i][6 + j] = DT / MASS * slope;
        }
        // push = n − v_z − dt (g + tau_z / m)
        dv[i][2] = -mu * dn[0] * u[i];
        dv[i][5] = -mu * (dn[1] - 1.0) * u[i];
        dv[i][8] = mu * DT / MASS * u[i];
    }
    dv[2][2] = dn[0];
    dv[2][5] = dn[1];
    dv
}

#[test]
fn a_sliding_puck_keeps_what_is_added_along_its_way_and_less_of_what_is_added_across() {
    let (mu, v, tau) = (0.4, [0.03, -0.04, 0.0], [0.2, 0.1, 1.0]);
    let mut lab = at(surface(mu, 0.0), [0.0; 3], v, tau);
    let free = [v[0] + DT / MASS * tau[0], v[1] + DT / MASS * tau[1]];
    let push = DT * (G - tau[2] / MASS);
    expect_puck("slide", &mut lab, sliding(mu, push, free, [-1.0 / DT, 0.0]));
    lab.check(1e-6, "slide");
}

#[test]
fn a_bouncing_puck_returns_with_its_restitution_and_is_braked_by_both_halves() {
    for e in [0.3, 1.0] {
        let (mu, v) = (0.2, [1.5, 0.7, -1.2]);
        let mut lab = at(surface(mu, e), [0.0, 0.0, 2e-4], v, [0.0; 3]);
        let push = -(1.0 + e) * v[2] + DT * G;
        expect_puck("bounce", &mut lab, sliding(mu, push, [v[0], v[1]], [0.0, -e]));
        lab.check(1e-6, "bounce");
    }
}

#[test]
fn overlaps_are_taken_back_fully_then_by_a_fifth_then_at_a_limited_speed() {
    for (gap, slope) in [(5e-3, -1.0), (5e-5, -1.0), (0.0, -1.0), (-5e-5, -1.0), (-4e-4, -0.2), (-6e-3, 0.0)] {
        // fast enough to reach the ground within the step
        let mut lab = at(surface(0.5, 0.0), [0.0, 0.0, gap], [0.0, 0.0, -6.0], [0.0; 3]);
        let mut dv = [[0.0; 9]; 3];
        dv[2][2] = slope / DT;
        expect_puck(&format!("gap {gap}"), &mut lab, dv);
        lab.check(1e-5, "gap");
    }
}

#[test]
fn friction_and_restitution_act_on_the_velocity_as_their_laws_say() {
    // acceleration by friction: −mu g
    let v = [0.03, -0.04, 0.0];
    let mut lab = at(surface(0.4, 0.0), [0.0; 3], v, [0.0; 3]);
    let mut grad = [0.0; 2];
    let along = [0.6, -0.8, 0.0];
    // the puck's own coefficient is as large as the ground's: raise it so that it decides
    let mut parameters = lab.model.parameters().clone();
    parameters.group_mut(ParameterGroup::Friction).copy_from_slice(&[0.3, 0.4]);
    lab.model = lab.model.with_parameters(parameters).expect("sound");
    let w = OutputGrad { v: &along, ..OutputGrad::default() };
    lab.step().vjp_parameters(w, ParameterGroup::Friction, &mut grad).expect("known");
    assert_eq!(grad[0], 0.0, "the smaller coefficient does nothing");
    assert!((grad[1] + G * DT).abs() < 1e-14, "{grad:?}");

    let mut lab = at(surface(0.0, 0.3), [0.0, 0.0, 1e-4], [0.0, 0.0, -2.0], [0.0; 3]);
    let mut parameters = lab.model.parameters().clone();
    parameters.group_mut(ParameterGroup::Restitution).copy_from_slice(&[0.6, 0.5]);
    lab.model = lab.model.with_parameters(parameters).expect("sound");
    let mut grad = [0.0; 2];
    let up = [0.0, 0.0, 1.0];
    let w = OutputGrad { v: &up, ..OutputGrad::default() };
    lab.step().vjp_parameters(w, ParameterGroup::Restitution, &mut grad).expect("known");
    assert!((grad[0] - 2.0).abs() < 1e-12 && grad[1] == 0.0, "{grad:?}");
}

#[test]
fn a_compliant_ground_shares_a_push_between_puck_and_ground() {
    // (1/m + c) λ = −(v_free + gap/dt): dv_z/dv_z = 1 − 1/(1 + m c)
    let soft = {
        let mut s = surface(0.0, 0.0);
        s.compliance = 0.2;
        s
    };
    let mut lab = at(soft, [0.0; 3], [0.0, 0.0, -0.1], [0.0; 3]);
    let share = 1.0 / (1.0 + MASS * 2.0 * 0.2);
    let mut dv = [[0.0; 9]; 3];
    for k in 0..2 {
        (dv[k][3 + k], dv[k][6 + k]) = (1.0, DT / MASS);
    }
    dv[2][2] = -share / DT;
    (dv[2][5], dv[2][8]) = (1.0 - share, (1.0 - share) * DT / MASS);
    expect_puck("compliance", &mut lab, dv);
}
