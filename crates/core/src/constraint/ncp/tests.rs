//! Random problems, graded by the residual.
#![allow(non_snake_case)]

use crate::constraint::{Problem, Solution, Status, residual, solve};
use crate::error::InputError;
use crate::model::Solver;
use crate::random::Rng;

/// n contacts on a system with `dofs` dofs: G = J Jᵀ has at most that rank, and standing still is admissible.
fn random_problem(random: &mut Rng, n: usize, dofs: usize, largest_mu: f64) -> Problem {
    let rows = 3 * n;
    let J: Vec<f64> = (0..rows * dofs).map(|_| random.sign()).collect();
    let v: Vec<f64> = (0..dofs).map(|_| random.sign()).collect();
    let product = |i: usize, w: &[f64]| (0..dofs).map(|d| J[i * dofs + d] * w[d]).sum::<f64>();
    let G: Vec<f64> = (0..rows * rows).map(|k| product(k / rows, &J[k % rows * dofs..])).collect();
    let g: Vec<f64> = (0..rows).map(|i| product(i, &v)).collect();
    let mu: Vec<f64> = (0..n).map(|_| random.sign().abs() * largest_mu).collect();
    Problem::bare(&G, &g, &mu).expect("a sound problem")
}

#[test]
fn random_problems_are_solved_to_the_tolerance() {
    let (mut random, mut solution) = (Rng(7), Solution::default());
    let (mut failed, mut total) = (Vec::new(), 0);
    for (n, dofs) in [(1, 3), (1, 6), (2, 6), (4, 6), (4, 12), (8, 18), (16, 18), (16, 60), (30, 36)] {
        for largest_mu in [0.0, 0.5, 1.0, 10.0] {
            for k in 0..25 {
                let problem = random_problem(&mut random, n, dofs, largest_mu);
                let report = solve(&problem, Solver::Auto, 1e-10, 1000, None, &mut solution).expect("sound");
                let graded = residual(&problem, solution.lambda()).expect("finite");
                assert!((graded - report.residual).abs() <= 1e-9 * graded.max(1e-6), "{graded} {report:?}");
                total += 1;
                if report.status != Status::Converged {
                    failed.push((n, dofs, largest_mu, k, report.residual));
                }
            }
        }
    }
    // one with 30 contacts on 36 dofs and friction up to 10 is left, whatever the budget
    assert!(failed.len() * 900 <= total, "{} of {total}: {failed:?}", failed.len());
}

#[test]
fn solvers_agree_where_the_solution_is_unique() {
    let (mut random, mut solution) = (Rng(3), Solution::default());
    for _ in 0..20 {
        let problem = random_problem(&mut random, 2, 12, 0.4);
        let mut solutions = Vec::new();
        for solver in Solver::ALL {
            let report = solve(&problem, solver, 1e-10, 20_000, None, &mut solution).expect("sound");
            assert_eq!(report.status, Status::Converged, "{} {report:?}", solver.name());
            solutions.push(solution.lambda().to_vec());
        }
        for other in &solutions[1..] {
            let worst = solutions[0].iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{worst}");
        }
    }
}

#[test]
fn a_single_contact_sticks_slides_or_opens() {
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let lambda_of = |g: [f64; 3], mu: f64| {
        let mut solution = Solution::default();
        let problem = Problem::bare(&identity, &g, &[mu]).expect("sound");
        solve(&problem, Solver::Auto, 1e-12, 1000, None, &mut solution).expect("sound");
        solution.lambda().to_vec()
    };
    assert_eq!(lambda_of([0.1, 0.0, 0.5], 0.7), [0.0; 3]);
    for (got, wanted) in lambda_of([0.1, 0.0, -0.5], 0.7).into_iter().zip([-0.1, 0.0, 0.5]) {
        assert!((got - wanted).abs() < 1e-12);
    }
    for (got, wanted) in lambda_of([1.0, 0.0, -0.5], 0.7).into_iter().zip([-0.35, 0.0, 0.5]) {
        assert!((got - wanted).abs() < 1e-12);
    }
}

#[test]
fn bad_problems_are_refused_with_a_reason() {
    let G = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert!(matches!(Problem::bare(&G, &[0.0; 2], &[0.5]), Err(InputError::Length { what: "g", .. })));
    assert!(matches!(Problem::bare(&G, &[0.0, f64::NAN, 0.0], &[0.5]), Err(InputError::NotFinite { .. })));
    assert!(matches!(Problem::bare(&G, &[0.0; 3], &[-0.5]), Err(InputError::Value { .. })));
    let mut skew = G;
    skew[1] = 0.5;
    let text = Problem::bare(&skew, &[0.0; 3], &[0.5]).map(|_| ()).expect_err("not symmetric").to_string();
    assert!(text.contains("symmetric"), "{text}");
}

#[test]
fn an_infeasible_target_is_not_taken_for_solved() {
    // nothing can move, and it should
    let problem = Problem::bare(&[0.0; 9], &[0.0, 0.0, -1.0], &[0.5]).expect("sound");
    let mut solution = Solution::default();
    let report = solve(&problem, Solver::Auto, 1e-10, 1000, None, &mut solution).expect("sound");
    assert_eq!(report.status, Status::Infeasible);
    assert!(solution.lambda().iter().all(|x| x.is_finite()));
}
