//! Random problems, graded by the residual.
#![allow(non_snake_case)]

use crate::constraint::{Problem, Solution, Stage, Status, residual, solve};
use crate::model::Solver;

/// Seeded numbers in (−1, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// n contacts on a system with `dofs` dofs: G = J Jᵀ has at most that rank.
fn random_problem(random: &mut Random, n: usize, dofs: usize, largest_mu: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let rows = 3 * n;
    let J: Vec<f64> = (0..rows * dofs).map(|_| random.next()).collect();
    let v: Vec<f64> = (0..dofs).map(|_| random.next()).collect();
    let G = (0..rows * rows)
        .map(|k| {
            let (i, j) = (k / rows, k % rows);
            (0..dofs).map(|d| J[i * dofs + d] * J[j * dofs + d]).sum()
        })
        .collect();
    // g in the range of J, so that a motion without impulses exists that separates or not
    let g = (0..rows).map(|i| (0..dofs).map(|d| J[i * dofs + d] * v[d]).sum()).collect();
    let mu = (0..n).map(|_| (random.next().abs() * largest_mu).max(0.0)).collect();
    (G, g, mu)
}

#[test]
fn random_problems_are_solved_to_the_tolerance() {
    let mut random = Random(7);
    let mut solution = Solution::default();
    let (mut failed, mut stages) = (0, [0usize; 6]);
    let mut total = 0;
    for (n, dofs) in [(1, 3), (1, 6), (2, 6), (4, 6), (4, 12), (8, 18), (16, 18), (16, 60), (30, 36)] {
        for largest_mu in [0.0, 0.5, 1.0, 10.0] {
            for _ in 0..std::env::var("N").map_or(25, |n| n.parse().unwrap()) {
                let (G, g, mu) = random_problem(&mut random, n, dofs, largest_mu);
                let problem = Problem::bare(&G, &g, &mu).unwrap();
                let report = solve(&problem, Solver::Auto, 1e-10, 1000, None, &mut solution).unwrap();
                let check = residual(&problem, solution.lambda()).unwrap();
                assert_eq!(check, report.residual);
                stages[report.stage as usize] += 1;
                total += 1;
                if report.status != Status::Converged {
                    failed += 1;
                    println!("n {n} dofs {dofs} mu {largest_mu}: {report:?}");
                }
            }
        }
    }
    println!("{failed} of {total} failed, stages {stages:?}");
    assert!(failed * 1000 <= total);
}
