//! Gravity compensation that drives supply: within the effort limits of joints, beyond them, and with the drives off.

use super::gauge::*;
use super::oracle::*;
use super::{parameters, sensor_parameters};
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::model::{Actuator, JointId, JointKind, JointSpec, ParameterGroup};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// A floating trunk with an arm of two hinges, a slide and a ball. The first hinge cannot carry the arm.
fn arm(driven: bool) -> ModelBuilder {
    let mut w = World::new();
    let mut parent = ModelBuilder::WORLD;
    let kinds = [
        JointKind::Free,
        JointKind::Revolute { axis: Vec3::UNITS[1] },
        JointKind::Revolute { axis: vec3(0.6, 0.0, 0.8) },
        JointKind::Prismatic { axis: Vec3::UNITS[0] },
        JointKind::Spherical,
    ];
    for (k, kind) in kinds.into_iter().enumerate() {
        let joint = JointSpec {
            driven_compensation: driven && k > 0,
            effort: if k == 1 { [-2.0, 2.0] } else { [f64::NEG_INFINITY, f64::INFINITY] },
            ..JointSpec::new(format!("joint{k}"), kind)
        };
        let body = BodyInertia { com: vec3(0.2, 0.05, -0.1), ..solid_box(1.0, vec3(0.2, 0.05, 0.1)) };
        parent = w.0.add_link(parent, format!("link{k}"), Pose::translation(vec3(0.4, 0.0, 0.1)), body, vec![joint]);
        w.0.compensate_gravity(parent, [0.0, 0.5, 1.0, 0.8, 1.2][k]);
    }
    w.0.add_actuator(Actuator::position("lift", JointId(1), 3.0, 0.2));
    w.0.add_actuator(Actuator::position("turn", JointId(2), 3.0, 0.2));
    w.0
}

fn lab(driven: bool, ctrl: bool) -> Lab {
    let mut rng = Rng::new(5);
    let model = instrument(arm(driven), &mut rng);
    let mut q = model.neutral().to_vec();
    model.integrate(model.neutral(), &rng.vector(model.nv(), 0.8), &mut q).expect("sound");
    let lab = Lab::new(&model, &q, &rng.vector(model.nv(), 1.0));
    if ctrl { lab.ctrl(&[0.3, -0.2]) } else { lab }
}

#[test]
fn weight_that_drives_carry_has_the_derivatives_of_its_differences() {
    let mut found = Found::default();
    for ctrl in [true, false] {
        let mut lab = lab(true, ctrl);
        lab.check(1e-6, &format!("controls: {ctrl}"));
        for group in [ParameterGroup::JointPlacement, ParameterGroup::Gravity] {
            let error = parameters::audit(&mut lab, group).expect("no modes");
            assert!(error < 1e-6, "controls: {ctrl}, {}: {error:e}", group.name());
        }
        let mut gauge = Gauge::new(lab);
        gauge.audit(&format!("controls: {ctrl}"), &mut found);
        for group in [ParameterGroup::JointPlacement, ParameterGroup::Gravity] {
            sensor_parameters::audit(&mut gauge, group, &format!("controls: {ctrl}"), &mut found);
        }
    }
    found.judge(1e-6, 1_000);
}

#[test]
fn it_moves_as_if_it_were_passive_unless_a_joint_is_too_weak() {
    let [driven, passive, off] = [(true, true), (false, true), (true, false)].map(|(d, c)| lab(d, c).evaluate().v);
    // only the first hinge, dof 6, differs, and with it all that hangs together with it
    assert!((driven[6] - passive[6]).abs() > 1e-3 && (off[6] - driven[6]).abs() > 1e-3);
    let strong = |driven: bool| {
        let mut b = arm(driven);
        b.add_actuator(Actuator::motor("idle", JointId(3), 1.0));
        let model = b.build().expect("sound");
        let (mut work, nv) = (dynamics::Workspace::new(&model), model.nv());
        let (mut actuators, mut springs) = (vec![0.0; nv], vec![0.0; nv]);
        let (q, v) = (model.neutral(), vec![0.0; nv]);
        work.actuate(&model, q, &v, &[0.0, 0.0, 0.0], &mut actuators).expect("sound");
        work.passive(&model, q, &v, &mut springs).expect("sound");
        (7..nv).map(|j| actuators[j] + springs[j]).collect::<Vec<_>>()
    };
    assert_eq!(strong(true), strong(false));
}
