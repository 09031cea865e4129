//! Wrenches of the user, gravity compensation, several trees: what acts from outside.

use super::oracle::*;
use crate::physics::scene::*;
use crate::properties::random_tree;
use slipstick_core::dynamics::Wrench;
use slipstick_core::model::{BodyId, Implicit, JointKind, JointSpec};
use slipstick_core::spatial::*;
use slipstick_core::*;

const DT: f64 = 1e-3;

/// A rod of mass m on a hinge about y with its center at c below it.
fn pendulum(compensated: f64) -> Model {
    let mut w = World::new();
    let bob = BodyInertia { mass: 1.3, com: vec3(0.0, 0.0, -0.8), about_com: Sym3::ZERO };
    let hinge = JointSpec::new("swing", JointKind::Revolute { axis: Vec3::UNITS[1] });
    let link = w.0.add_link(ModelBuilder::WORLD, "bob", Pose::IDENTITY, bob, vec![hinge]);
    w.0.compensate_gravity(link, compensated);
    w.build(|_| ())
}

#[test]
fn a_wrench_keeps_its_direction_in_the_world_while_its_point_turns_with_the_body() {
    let (angle, force, point) = (0.7, vec3(3.0, 1.0, -2.0), vec3(0.1, 0.2, -0.5));
    let mut lab = Lab::new(&pendulum(0.0), &[angle], &[0.4])
        .wrenches(&[Wrench::at(BodyId(1), force, point), Wrench::new(BodyId(1), Vec3::ZERO, vec3(5.0, 6.0, 7.0))]);
    // torque about y: (R p × f)_y and its slope by the angle, (y × R p × f)_y; gravity −m g l cos
    let arm = Quat::exp(Vec3::UNITS[1] * angle).to_matrix() * point;
    let slope = Vec3::UNITS[1].cross(arm).cross(force).y - 1.3 * G * 0.8 * angle.cos();
    let inertia = 1.3 * 0.8 * 0.8;
    let got = lab.jacobian();
    expect("dv_dq", got.dv_dq(), &[DT * slope / inertia], 1e-14);
    lab.check(1e-6, "wrench");
}

#[test]
fn compensated_weight_has_no_slope() {
    for share in [0.0, 0.6, 1.0] {
        let mut lab = Lab::new(&pendulum(share), &[0.7], &[0.4]);
        let slope = -(1.0 - share) * G / 0.8 * 0.7_f64.cos();
        expect("dv_dq", lab.jacobian().dv_dq(), &[DT * slope], 1e-14);
        lab.check(1e-6, "compensation");
    }
}

#[test]
fn random_forests_in_free_motion_have_the_derivative_of_their_step_in_all_ways_of_stepping() {
    for seed in 0..40 {
        let model = random_tree::model(seed, 6);
        let mut options = model.options().clone();
        options.implicit = [Implicit::None, Implicit::Damping, Implicit::Velocity, Implicit::All][seed as usize % 4];
        let model = model.with_options(options).expect("sound");
        let s = random_tree::sample(&model, seed);
        let mut lab = Lab::new(&model, &s.q, &s.v).tau(&s.a).wrenches(&s.wrenches);
        lab.check(1e-6, &format!("forest {seed}"));
    }
}

#[test]
fn trees_that_do_not_touch_do_not_feel_each_other() {
    let mut w = World::new();
    let s = surface(0.5, 0.0);
    w.plane(Pose::IDENTITY, s);
    w.ball("near", 1.0, 0.1, vec3(0.0, 0.0, 0.1), s);
    w.ball("far", 1.0, 0.1, vec3(5.0, 0.0, 0.1), s);
    let model = w.build(|_| ());
    let mut lab = Lab::new(&model, model.neutral(), &[0.1, 0.2, 0.0, 1.0, 2.0, 3.0, 0.0, 0.1, 0.0, 1.0, 0.0, 0.0]);
    for (name, block) in NAMES.iter().zip(&lab.jacobian().0).filter(|(_, b)| b.ncols() == 12) {
        for (i, j) in (0..6).flat_map(|i| (6..12).map(move |j| (i, j))) {
            assert!(block[(i, j)] == 0.0 && block[(j, i)] == 0.0, "{name} ({i}, {j})");
        }
    }
    lab.check(1e-6, "two trees");
}
