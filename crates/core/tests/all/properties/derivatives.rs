//! Every analytic derivative against central differences on the manifold.

use super::random_tree::Rng;
use super::random_tree::*;
use proptest::prelude::*;
use slipstick_core::dynamics::Workspace;
use slipstick_core::linalg::{MatMut, MatRef};
use slipstick_core::model::{FrameId, ParameterGroup};

/// Central differences at step 1e-5 of functions of order 1…100 carry errors near 1e-9; random trees reach 1e-8.
const FD: f64 = 1e-6;

fn flat(m: MatRef) -> Vec<f64> {
    let mut out = vec![0.0; m.rows() * m.cols()];
    m.copy_to(&mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inverse_dynamics_derivatives_match_differences(seed: u64) {
        let model = model(seed, 8);
        let s = sample(&model, seed);
        let (mut work, nv) = (Workspace::new(&model), model.nv());
        let mut torque = |q: &[f64], v: &[f64]| {
            let mut tau = vec![0.0; nv];
            work.rnea(&model, q, v, &s.a, &s.wrenches, &mut tau).unwrap();
            tau
        };
        let fd_q = difference_q(&model, &s.q, nv, |q| torque(q, &s.v));
        let fd_v = difference(&s.v, nv, |v| torque(&s.q, v));
        let d = work.rnea_derivatives(&model, &s.q, &s.v, &s.a, &s.wrenches).unwrap();
        prop_assert!(error(&flat(d.dtau_dq), &fd_q) < FD, "q {}", error(&flat(d.dtau_dq), &fd_q));
        prop_assert!(error(&flat(d.dtau_dv), &fd_v) < FD, "v {}", error(&flat(d.dtau_dv), &fd_v));
    }

    #[test]
    fn forward_dynamics_derivatives_match_differences(seed: u64) {
        let model = model(seed, 8);
        let s = sample(&model, seed);
        let (mut work, nv) = (Workspace::new(&model), model.nv());
        let mut acceleration = |q: &[f64], v: &[f64], tau: &[f64]| {
            let mut a = vec![0.0; nv];
            work.aba(&model, q, v, tau, &s.wrenches, &mut a).unwrap();
            a
        };
        let fd_q = difference_q(&model, &s.q, nv, |q| acceleration(q, &s.v, &s.a));
        let fd_v = difference(&s.v, nv, |v| acceleration(&s.q, v, &s.a));
        let fd_tau = difference(&s.a, nv, |tau| acceleration(&s.q, &s.v, tau));
        let a = acceleration(&s.q, &s.v, &s.a);
        let d = work.aba_derivatives(&model, &s.q, &s.v, &s.a, &s.wrenches).unwrap();
        prop_assert!(error(d.acceleration(), &a) < 1e-12);
        prop_assert!(error(&flat(d.da_dq()), &fd_q) < FD, "q {}", error(&flat(d.da_dq()), &fd_q));
        prop_assert!(error(&flat(d.da_dv()), &fd_v) < FD, "v {}", error(&flat(d.da_dv()), &fd_v));
        prop_assert!(error(&flat(d.da_dtau()), &fd_tau) < FD, "tau {}", error(&flat(d.da_dtau()), &fd_tau));
    }

    #[test]
    fn velocity_derivatives_match_differences(seed: u64) {
        let model = model(seed, 8);
        let s = sample(&model, seed);
        let (mut work, nv) = (Workspace::new(&model), model.nv());
        let frame = FrameId(model.frames().len() - 1);
        let (mut dq, mut dv) = (vec![0.0; 6 * nv], vec![0.0; 6 * nv]);
        work.velocity_derivatives(&model, &s.q, &s.v, frame, &mut dq, &mut dv).unwrap();
        let mut velocity = |q: &[f64], v: &[f64]| work.velocity(&model, q, v, frame).unwrap().to_array().to_vec();
        let fd_q = difference_q(&model, &s.q, 6, |q| velocity(q, &s.v));
        let fd_v = difference(&s.v, 6, |v| velocity(&s.q, v));
        prop_assert!(error(&dq, &fd_q) < FD);
        prop_assert!(error(&dv, &fd_v) < FD);
    }

    #[test]
    fn inertial_derivatives_of_accelerations_match_differences(seed: u64) {
        let model = model(seed, 4);
        let s = sample(&model, seed);
        let (nv, n) = (model.nv(), 10 * (model.n_bodies() - 1));
        let mut exact = vec![0.0; nv * n];
        Workspace::new(&model).aba_inertial_derivatives(&model, &s.q, &s.v, &s.a, &mut exact).unwrap();
        let pi = model.parameters().group(ParameterGroup::Inertial).to_vec();
        let fd = difference(&pi, nv, |pi| {
            let mut p = model.parameters().clone();
            p.group_mut(ParameterGroup::Inertial).copy_from_slice(pi);
            let changed = model.with_parameters(p).unwrap();
            let mut a = vec![0.0; nv];
            Workspace::new(&changed).aba(&changed, &s.q, &s.v, &s.a, &[], &mut a).unwrap();
            a
        });
        prop_assert!(error(&exact, &fd) < FD, "{}", error(&exact, &fd));
    }

    #[test]
    fn manifold_derivatives_match_differences(seed: u64) {
        let model = model(seed, 8);
        let (s, nv) = (sample(&model, seed), model.nv());
        let d = Rng::new(seed ^ 5).vector(nv, 1.0);
        let (mut dq, mut dd) = (vec![0.0; nv * nv], vec![0.0; nv * nv]);
        model.integrate_derivatives(&s.q, &d, MatMut::new(&mut dq, nv, nv), MatMut::new(&mut dd, nv, nv)).unwrap();
        let mut end = s.q.clone();
        model.integrate(&s.q, &d, &mut end).unwrap();
        let from_end = |q: &[f64], d: &[f64]| {
            let (mut moved, mut out) = (q.to_vec(), vec![0.0; nv]);
            model.integrate(q, d, &mut moved).unwrap();
            model.difference(&end, &moved, &mut out).unwrap();
            out
        };
        prop_assert!(error(&dq, &difference_q(&model, &s.q, nv, |q| from_end(q, &d))) < FD);
        prop_assert!(error(&dd, &difference(&d, nv, |d| from_end(&s.q, d))) < FD);
        let (mut d0, mut d1) = (vec![0.0; nv * nv], vec![0.0; nv * nv]);
        model.difference_derivatives(&s.q, &end, MatMut::new(&mut d0, nv, nv), MatMut::new(&mut d1, nv, nv)).unwrap();
        let between = |q0: &[f64], q1: &[f64]| {
            let mut out = vec![0.0; nv];
            model.difference(q0, q1, &mut out).unwrap();
            out
        };
        prop_assert!(error(&d0, &difference_q(&model, &s.q, nv, |q| between(q, &end))) < FD);
        prop_assert!(error(&d1, &difference_q(&model, &end, nv, |q| between(&s.q, q))) < FD);
    }
}
