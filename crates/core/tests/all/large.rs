//! Models of many dofs: what grows with their square is refused by its size, and everything else has room.

use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{GeomSpec, JointKind, JointSpec, Shape};
use slipstick_core::spatial::*;
use slipstick_core::*;
use std::time::{Duration, Instant};

/// Free bodies that do not touch.
fn free_bodies(n: usize) -> Model {
    let mut b = ModelBuilder::new("many");
    let inertia = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    for k in 0..n {
        let joint = JointSpec::new(format!("j{k}"), JointKind::Free);
        b.add_link(ModelBuilder::WORLD, format!("b{k}"), Pose::IDENTITY, inertia, vec![joint]);
    }
    assert_eq!(b.inertia_numbers(), 21 * n);
    b.build().expect("sound")
}

#[test]
fn thousands_of_free_bodies_take_no_dense_matrices() {
    let model = free_bodies(5000);
    let (nv, q) = (model.nv(), model.neutral().to_vec());
    let (mut work, zero, mut a) = (Workspace::new(&model), vec![0.0; nv], vec![0.0; nv]);
    work.aba(&model, &q, &zero, &zero, &[], &mut a).unwrap();
    assert!((a[nv - 4] + 9.81).abs() < 1e-12);
    let (mut data, x) = (Data::new(&model), State::neutral(&model));
    let mut next = x.clone();
    let mut done = step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
    let bytes = 56 * nv * nv;
    let expected = InputError::Memory { what: "derivatives of a step", bytes };
    assert_eq!(done.jacobian().err(), Some(GradientError::Input(expected.clone())));
    assert_eq!(expected.to_string(), "derivatives of a step: there is no room for 50400000000 bytes");
    assert!(data.bytes() < 100 << 20, "{}", data.bytes());
    let expected = InputError::Memory { what: "derivatives of dynamics", bytes: 40 * nv * nv };
    assert_eq!(work.rnea_derivatives(&model, &q, &zero, &zero, &[]).err(), Some(expected.clone()));
    assert_eq!(work.aba_derivatives(&model, &q, &zero, &zero, &[]).err(), Some(expected.into()));
    work.factor(&model, &q).unwrap();
    work.solve(&model, &mut a).unwrap();
    assert!((a[nv - 4] + 9.81).abs() < 1e-12);
}

#[test]
fn dense_matrices_of_large_models_are_made_when_they_are_asked_for() {
    let (model, small) = (free_bodies(170), free_bodies(1));
    let derivative = |model: &Model| {
        let (q, zero) = (model.neutral().to_vec(), vec![0.0; model.nv()]);
        let mut work = Workspace::new(model);
        let daba = work.aba_derivatives(model, &q, &zero, &zero, &[]).unwrap();
        (daba.da_dtau().row(3)[3], daba.da_dtau().row(0)[0])
    };
    assert_eq!(derivative(&model), derivative(&small));
}

#[test]
fn margins_of_thousands_of_rows_take_no_dense_matrix() {
    let mut b = ModelBuilder::new("heap");
    let inertia = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    for k in 0..60 {
        let joint = JointSpec::new(format!("j{k}"), JointKind::Free);
        let place = Pose::translation(vec3(1e-3 * f64::from(k), 0.0, 0.0));
        let link = b.add_link(ModelBuilder::WORLD, format!("b{k}"), place, inertia, vec![joint]);
        b.add_geom(link, GeomSpec::new("", Shape::Sphere { radius: 0.1 }));
    }
    let model = b.build().expect("sound");
    let (mut data, x) = (Data::new(&model), State::neutral(&model));
    let mut next = x.clone();
    let mut done = step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
    assert_eq!(done.report().contacts, 60 * 59 / 2);
    let begin = Instant::now();
    assert!(done.margins().margin >= 0.0);
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed()); // with the matrix many
}
