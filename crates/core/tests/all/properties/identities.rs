//! Algebraic identities between the algorithms.

use super::random_tree::Rng;
use super::random_tree::*;
use proptest::prelude::*;
use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{FrameId, ParameterGroup};
use slipstick_core::*;

fn full_mass(model: &Model, work: &mut Workspace, q: &[f64]) -> Vec<f64> {
    let mut m = vec![0.0; model.nv() * model.nv()];
    work.crba(model, q, &mut m).expect("fits");
    m
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inverse_dynamics_undoes_forward_dynamics(seed: u64) {
        let model = model(seed, 12);
        let s = sample(&model, seed);
        let mut work = Workspace::new(&model);
        let (mut a, mut tau) = (vec![0.0; model.nv()], vec![0.0; model.nv()]);
        work.aba(&model, &s.q, &s.v, &s.a, &s.wrenches, &mut a).unwrap();
        work.rnea(&model, &s.q, &s.v, &a, &s.wrenches, &mut tau).unwrap();
        prop_assert!(error(&tau, &s.a) < 1e-9, "{}", error(&tau, &s.a));
    }

    #[test]
    fn columns_of_the_mass_matrix_are_torques_of_unit_accelerations(seed: u64) {
        let model = model(seed, 12);
        let s = sample(&model, seed);
        let (mut work, nv) = (Workspace::new(&model), model.nv());
        let m = full_mass(&model, &mut work, &s.q);
        let (zero, mut bias, mut tau) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
        work.bias(&model, &s.q, &zero, &mut bias).unwrap();
        for j in 0..nv {
            let mut e = zero.clone();
            e[j] = 1.0;
            work.rnea(&model, &s.q, &zero, &e, &[], &mut tau).unwrap();
            let column: Vec<f64> = (0..nv).map(|i| m[i * nv + j]).collect();
            let torque: Vec<f64> = tau.iter().zip(&bias).map(|(t, b)| t - b).collect();
            prop_assert!(error(&column, &torque) < 1e-11);
        }
    }

    #[test]
    fn the_inverse_mass_matrix_times_the_mass_matrix_is_the_identity(seed: u64) {
        let model = model(seed, 12);
        let s = sample(&model, seed);
        let (mut work, nv) = (Workspace::new(&model), model.nv());
        let m = full_mass(&model, &mut work, &s.q);
        let mut inverse = vec![0.0; nv * nv];
        work.mass_inverse(&model, &s.q, &mut inverse).unwrap();
        for i in 0..nv {
            for j in 0..nv {
                let x: f64 = (0..nv).map(|k| inverse[i * nv + k] * m[k * nv + j]).sum();
                prop_assert!((x - if i == j { 1.0 } else { 0.0 }).abs() < 1e-8, "{i} {j}: {x}");
                prop_assert_eq!(inverse[i * nv + j], inverse[j * nv + i]);
            }
        }
    }

    #[test]
    fn the_sparse_solve_agrees_with_a_dense_cholesky(seed: u64) {
        let model = model(seed, 12);
        let s = sample(&model, seed);
        let (mut work, nv) = (Workspace::new(&model), model.nv());
        let m = full_mass(&model, &mut work, &s.q);
        let dense = nalgebra::DMatrix::from_row_slice(nv, nv, &m).cholesky().expect("positive definite");
        let expected = dense.solve(&nalgebra::DVector::from_column_slice(&s.v));
        work.factor(&model, &s.q).unwrap();
        let mut x = s.v.clone();
        work.solve(&model, &mut x).unwrap();
        prop_assert!(error(&x, expected.as_slice()) < 1e-8);
        // several columns at a time: the same numbers as one by one
        for columns in [4, 8, 12, 20, 28] {
            let b: Vec<f64> = (0..nv * columns).map(|k| s.v[k / columns] * (1.0 + (k % columns) as f64)).collect();
            let mut many = vec![0.0; nv * columns];
            work.solve_columns(&model, columns, &b, &mut many).unwrap();
            for c in 0..columns {
                let column: Vec<f64> = (0..nv).map(|i| many[i * columns + c] / (1.0 + c as f64)).collect();
                prop_assert!(error(&column, &x) < 1e-9);
            }
        }
    }

    #[test]
    fn torques_are_linear_in_the_inertial_parameters(seed: u64) {
        let model = model(seed, 8);
        let s = sample(&model, seed);
        let (nv, n) = (model.nv(), 10 * (model.n_bodies() - 1));
        let mut work = Workspace::new(&model);
        let (mut y, mut tau) = (vec![0.0; nv * n], vec![0.0; nv]);
        work.regressor(&model, &s.q, &s.v, &s.a, &mut y).unwrap();
        work.rnea(&model, &s.q, &s.v, &s.a, &[], &mut tau).unwrap();
        let pi = model.parameters().group(ParameterGroup::Inertial);
        let product: Vec<f64> = (0..nv)
            .map(|i| model.armature()[i] * s.a[i] + (0..n).map(|k| y[i * n + k] * pi[k]).sum::<f64>())
            .collect();
        prop_assert!(error(&product, &tau) < 1e-11);
    }

    #[test]
    fn the_adjoint_agrees_with_the_matrices(seed: u64) {
        let model = model(seed, 12);
        let s = sample(&model, seed);
        let nv = model.nv();
        let w = Rng::new(seed ^ 77).vector(nv, 1.0);
        let mut work = Workspace::new(&model);
        let m = full_mass(&model, &mut work, &s.q);
        let mut expected = [vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]];
        let d = work.rnea_derivatives(&model, &s.q, &s.v, &s.a, &s.wrenches).unwrap();
        for i in 0..nv {
            for j in 0..nv {
                expected[0][j] += w[i] * d.dtau_dq[(i, j)];
                expected[1][j] += w[i] * d.dtau_dv[(i, j)];
                expected[2][j] += w[i] * m[i * nv + j];
            }
        }
        let [mut gq, mut gv, mut ga] = [vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]];
        work.rnea_vjp(&model, &s.q, &s.v, &s.a, &s.wrenches, &w, [&mut gq, &mut gv, &mut ga]).unwrap();
        for (got, expected) in [gq, gv, ga].iter().zip(&expected) {
            prop_assert!(error(got, expected) < 1e-11, "{}", error(got, expected));
        }
    }

    #[test]
    fn difference_undoes_integrate(seed: u64) {
        let model = model(seed, 12);
        let s = sample(&model, seed);
        let d = Rng::new(seed ^ 5).vector(model.nv(), 1.0);
        let (mut q1, mut back) = (s.q.clone(), vec![0.0; model.nv()]);
        model.integrate(&s.q, &d, &mut q1).unwrap();
        model.difference(&s.q, &q1, &mut back).unwrap();
        prop_assert!(error(&back, &d) < 1e-12);
    }

    #[test]
    fn jacobians_times_velocities_are_velocities(seed: u64) {
        let model = model(seed, 12);
        let s = sample(&model, seed);
        let (mut work, nv) = (Workspace::new(&model), model.nv());
        let mut jac = vec![0.0; 6 * nv];
        for f in 0..model.frames().len() {
            work.jacobian(&model, &s.q, FrameId(f), &mut jac).unwrap();
            let product: Vec<f64> = (0..6).map(|r| (0..nv).map(|j| jac[r * nv + j] * s.v[j]).sum()).collect();
            let velocity = work.velocity(&model, &s.q, &s.v, FrameId(f)).unwrap();
            prop_assert!(error(&product, &velocity.to_array()) < 1e-12);
        }
    }
}
