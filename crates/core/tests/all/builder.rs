//! What a builder refuses, and what it makes of fixed links.

use slipstick_core::dynamics::Wrench;
use slipstick_core::error::DynamicsError;
use slipstick_core::model::{
    Actuator, BodyId, FrameId, JointId, JointKind, JointSpec, Keyframe, ParameterGroup, Transmission,
};
use slipstick_core::spatial::*;
use slipstick_core::*;

fn ball(mass: f64) -> BodyInertia {
    BodyInertia { mass, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) }
}

fn hinge(name: &str) -> JointSpec {
    JointSpec::new(name, JointKind::Revolute { axis: vec3(0.0, 0.0, 1.0) })
}

/// The id of something that makes the model unsound is not needed.
fn drop_id<T>(_: T) {}

fn refused(change: impl FnOnce(&mut ModelBuilder, FrameId)) -> String {
    let mut b = ModelBuilder::new("test");
    let link = b.add_link(ModelBuilder::WORLD, "arm", Pose::IDENTITY, ball(1.0), vec![hinge("elbow")]);
    change(&mut b, link);
    b.build().expect_err("must be refused").to_string()
}

#[test]
fn a_fixed_link_gives_its_mass_to_its_body_and_stays_as_a_frame() {
    let mut b = ModelBuilder::new("test");
    let arm = b.add_link(ModelBuilder::WORLD, "arm", Pose::IDENTITY, ball(1.0), vec![hinge("elbow")]);
    b.add_link(arm, "tool", Pose::translation(vec3(1.0, 0.0, 0.0)), ball(3.0), vec![]);
    let model = b.build().unwrap();
    assert_eq!((model.n_bodies(), model.frames().len()), (2, 3));
    let inertia = model.inertias()[1];
    assert!((inertia.mass - 4.0).abs() < 1e-15 && (inertia.com.x - 0.75).abs() < 1e-15);
    assert!((inertia.about_com.zz - (0.2 + 0.75)).abs() < 1e-14, "{:?}", inertia.about_com);
    let tool = &model.frames()[model.frame("tool").unwrap().0];
    assert_eq!((tool.body, tool.inertia.unwrap().mass), (BodyId(1), 3.0));
}

#[test]
fn bodies_come_in_depth_first_order_and_actuators_follow_their_joint() {
    let mut b = ModelBuilder::new("test");
    let pose = Pose::IDENTITY;
    let a = b.add_link(ModelBuilder::WORLD, "a", pose, ball(1.0), vec![hinge("ja")]);
    b.add_link(ModelBuilder::WORLD, "b", pose, ball(1.0), vec![hinge("jb")]);
    b.add_link(a, "c", pose, ball(1.0), vec![hinge("jc")]);
    b.add_actuator(Actuator::motor("drive b", JointId(1), 2.0));
    let model = b.build().unwrap();
    let names: Vec<&str> = model.bodies().iter().map(|x| x.name.as_str()).collect();
    assert_eq!(names, ["world", "a", "c", "b"]);
    assert_eq!(model.actuators()[0].transmission, Transmission::Joint(model.joint("jb").unwrap()));
}

#[test]
fn every_refusal_names_the_culprit_and_what_was_expected() {
    let cases: [(String, &[&str]); 9] = [
        (
            refused(|b, _| drop_id(b.add_link(ModelBuilder::WORLD, "arm", Pose::IDENTITY, ball(1.0), vec![]))),
            &["two", "'arm'"],
        ),
        (refused(|b, l| drop_id(b.add_link(l, "x", Pose::IDENTITY, ball(-1.0), vec![]))), &["'x'", "mass", "-1"]),
        (refused(|b, l| drop_id(b.add_link(l, "x", Pose::IDENTITY, ball(f64::NAN), vec![]))), &["'x'", "mass", "NaN"]),
        (
            refused(|b, l| drop_id(b.add_link(l, "x", Pose::IDENTITY, BodyInertia::default(), vec![hinge("j")]))),
            &["'x'", "'j'", "mass"],
        ),
        (
            refused(|b, l| drop_id(b.add_link(l, "x", Pose::IDENTITY, ball(1.0), vec![hinge("elbow")]))),
            &["joint", "'elbow'"],
        ),
        (
            refused(|b, l| {
                let bad = JointSpec { range: Some([1.0, -1.0]), ..hinge("j") };
                b.add_link(l, "x", Pose::IDENTITY, ball(1.0), vec![bad]);
            }),
            &["'j'", "range", "1 … -1"],
        ),
        (
            refused(|b, l| {
                let bad = JointSpec::new("j", JointKind::Prismatic { axis: vec3(0.0, 2.0, 0.0) });
                b.add_link(l, "x", Pose::IDENTITY, ball(1.0), vec![bad]);
            }),
            &["'j'", "axis", "unit vector", "2"],
        ),
        (refused(|b, _| drop_id(b.add_actuator(Actuator::motor("m", JointId(7), 1.0)))), &["'m'", "joint"]),
        (
            refused(|b, _| {
                b.add_keyframe(Keyframe { name: "home".into(), q: vec![0.0; 3], v: vec![0.0], ..Keyframe::default() });
            }),
            &["'home'", "expected 1", "got 3"],
        ),
    ];
    for (message, words) in cases {
        for word in words {
            assert!(message.contains(word), "'{message}' does not say '{word}'");
        }
    }
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let mut b = ModelBuilder::new("test");
    let free = vec![JointSpec::new("root", JointKind::Free)];
    b.add_link(ModelBuilder::WORLD, "body", Pose::IDENTITY, ball(1.0), free);
    let model = b.build().unwrap();
    let mut work = dynamics::Workspace::new(&model);
    let (q, v, mut tau) = (model.neutral().to_vec(), vec![0.0; 6], vec![0.0; 6]);
    let short = work.rnea(&model, &q[..6], &v, &v, &[], &mut tau).unwrap_err();
    assert_eq!(short, InputError::Length { what: "q", expected: 7, got: 6 });
    let mut zero = q.clone();
    zero[3] = 0.0;
    let error = work.rnea(&model, &zero, &v, &v, &[], &mut tau).unwrap_err();
    assert_eq!(error, InputError::ZeroQuaternion { joint: "root".into() });
    let mut bad = v.clone();
    bad[4] = f64::INFINITY;
    let error = work.rnea(&model, &q, &bad, &v, &[], &mut tau).unwrap_err();
    assert_eq!(error, InputError::NotFinite { what: "v", index: 4 });
    let other = model.clone();
    assert!(work.rnea(&other, &q, &v, &v, &[], &mut tau).is_ok(), "a clone is the same model");
    let wrench = Wrench::new(BodyId(9), Vec3::ZERO, Vec3::ZERO);
    assert!(work.rnea(&model, &q, &v, &v, &[wrench], &mut tau).is_err());
}

fn two_hinges() -> Model {
    let mut b = ModelBuilder::new("two hinges");
    let arm = b.add_link(ModelBuilder::WORLD, "arm", Pose::IDENTITY, ball(1.0), vec![hinge("shoulder")]);
    b.add_link(arm, "hand", Pose::translation(vec3(1.0, 0.0, 0.0)), ball(1.0), vec![hinge("elbow")]);
    b.build().unwrap()
}

#[test]
fn parameters_of_another_model_are_refused_even_when_they_are_as_many() {
    let model = two_hinges();
    let mut b = ModelBuilder::new("other");
    let arm = b.add_link(ModelBuilder::WORLD, "arm", Pose::IDENTITY, ball(1.0), vec![hinge("a")]);
    b.add_link(arm, "hand", Pose::IDENTITY, ball(1.0), vec![hinge("b")]);
    let other = b.build().unwrap();
    assert_eq!(other.parameters().values().len(), model.parameters().values().len());
    let error = model.with_parameters(other.parameters().clone()).unwrap_err();
    assert_eq!(error, InputError::WrongLayout);
}

#[test]
fn parameters_are_checked_like_the_model_they_come_from() {
    let model = two_hinges();
    let change = |group: ParameterGroup, k: usize, x: f64| {
        let mut p = model.parameters().clone();
        p.group_mut(group)[k] = x;
        model.with_parameters(p).map(|_| ()).map_err(|e| e.to_string())
    };
    assert!(change(ParameterGroup::Damping, 1, 2.0).is_ok());
    for (group, k, x, words) in [
        (ParameterGroup::Damping, 1, -2.0, "damping/elbow"),
        (ParameterGroup::Inertial, 10, -1.0, "inertial/hand/m"),
        (ParameterGroup::Inertial, 0, f64::NAN, "parameters[0]"),
        (ParameterGroup::Gravity, 2, 1e100, "1e60"),
    ] {
        let message = change(group, k, x).unwrap_err();
        assert!(message.contains(words), "{message}");
    }
    let mut massless = model.parameters().clone();
    massless.group_mut(ParameterGroup::Inertial)[10..14].copy_from_slice(&[0.0, 0.1, 0.0, 0.0]);
    assert!(model.with_parameters(massless).unwrap_err().to_string().contains("inertial/hand/mx"));
}

#[test]
fn a_solve_needs_a_factor() {
    let model = two_hinges();
    let mut work = dynamics::Workspace::new(&model);
    let (q, mut x, mut m) = ([0.3, 0.4], [1.0, 2.0], [0.0; 4]);
    assert_eq!(work.solve(&model, &mut x).unwrap_err(), InputError::NotFactored);
    work.factor(&model, &q).unwrap();
    assert!(work.solve(&model, &mut x).is_ok());
    work.crba(&model, &q, &mut m).unwrap();
    assert_eq!(work.solve(&model, &mut x).unwrap_err(), InputError::NotFactored);
}

#[test]
fn two_dofs_about_one_axis_have_no_mass_matrix_of_full_rank() {
    let mut b = ModelBuilder::new("coaxial");
    b.add_link(ModelBuilder::WORLD, "disc", Pose::IDENTITY, ball(1.0), vec![hinge("a"), hinge("b")]);
    let model = b.build().unwrap();
    let (mut work, q, v, mut a) = (dynamics::Workspace::new(&model), [0.1, 0.2], [0.0; 2], [0.0; 2]);
    let singular = |e: DynamicsError| matches!(e, DynamicsError::SingularMass { .. });
    assert!(singular(work.factor(&model, &q).unwrap_err()));
    assert!(singular(work.aba(&model, &q, &v, &[1.0, 0.0], &[], &mut a).unwrap_err()));
    let (mut data, x) = (Data::new(&model), State::new(&model, &q, &v).unwrap());
    let error = step(&model, &mut data, &x, &Input::default(), &mut x.clone()).unwrap_err();
    assert!(matches!(error, StepError::SingularMass { dof: 0, .. }), "{error}");
}

#[test]
fn numbers_that_would_overflow_and_rotations_that_are_none_are_refused() {
    let model = two_hinges();
    let (mut work, mut tau) = (dynamics::Workspace::new(&model), [0.0; 2]);
    let error = work.rnea(&model, &[0.0; 2], &[1e200, 0.0], &[0.0; 2], &[], &mut tau).unwrap_err();
    assert_eq!(error, InputError::TooLarge { what: "v", index: 0, got: 1e200 });
    let stretched = Pose { rotation: Mat3::IDENTITY * 2.0, position: Vec3::ZERO };
    let message = refused(|b, l| drop_id(b.add_link(l, "x", stretched, ball(1.0), vec![])));
    assert!(message.contains("'x'") && message.contains("rotation"), "{message}");
    let message = refused(|b, l| b.add_site(l, "tip", Pose::translation(vec3(f64::NAN, 0.0, 0.0))));
    assert!(message.contains("'tip'"), "{message}");
}
