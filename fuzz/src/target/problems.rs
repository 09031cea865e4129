//! Contact problems at random: what the solver says of its answer is what the answer is worth.
#![allow(non_snake_case)]

use crate::case::{Answer, Verdict, finite};
use slipstick::Status;
use slipstick::model::Solver;
use slipstick::ncp::{Cone, Problem, Solution, residual, solve as solve_ncp};
use slipstick::random::Rng;

const TOLERANCE: f64 = 1e-10;
/// The bound that the library promises for the status "acceptable".
const ACCEPTABLE: f64 = 1e-8;
const BUDGET: u32 = 170;
/// How much larger the residual computed here may be: it weighs rows by another norm of the same blocks.
const NORMS: f64 = 10.0;

/// The numbers of a problem.
struct Numbers {
    mu: Vec<f64>,
    /// (3n × 3n)
    G: Vec<f64>,
    g: Vec<f64>,
    compliance: Vec<f64>,
}

pub fn solve(seed: u64) -> Verdict {
    let mut rng = Rng(seed);
    let mut p = problem(&mut rng);
    let broken = rng.chance(0.1);
    if broken {
        damage(&mut rng, &mut p);
    }
    let cones: Vec<Cone> = p.mu.iter().map(|mu| Cone::Friction { mu: *mu }).collect();
    let Ok(problem) = Problem::new(&cones, &p.G, &p.g, &p.compliance) else { return Ok(Answer::Refused) };
    if broken {
        return Err("a problem with a number that is not finite is accepted".into());
    }
    let solver = if rng.chance(0.7) { Solver::Auto } else { Solver::ALL[rng.below(Solver::ALL.len())] };
    let mut solution = Solution::default();
    let report = solve_ncp(&problem, solver, TOLERANCE, BUDGET, None, &mut solution).map_err(|e| e.to_string())?;
    finite("lambda", solution.lambda())?;
    finite("sigma", solution.sigma())?;
    let graded = residual(&problem, solution.lambda()).map_err(|e| e.to_string())?;
    let promised = match report.status {
        Status::Converged => TOLERANCE,
        Status::Acceptable => ACCEPTABLE,
        _ => f64::INFINITY,
    };
    // one rounding of the velocities apart
    if graded > promised * 1.01 {
        return Err(format!("{} with a residual of {graded:e}", report.status.name()));
    }
    let own = own_residual(&p, solution.lambda());
    if own > NORMS * promised + rounding(&p, solution.lambda()) {
        return Err(format!("{} with a residual of {own:e} by the definition", report.status.name()));
    }
    let exact = matches!(solver, Solver::Auto | Solver::Cold);
    if exact && report.iterations > BUDGET {
        return Err(format!("{} iterations, {BUDGET} are allowed", report.iterations));
    }
    Ok(Answer::Accepted)
}

/// G = A Aᵀ of a random A: few columns make contacts redundant, scales make them stiff.
fn problem(rng: &mut Rng) -> Numbers {
    let n = 1 + rng.below(8);
    let (rows, columns) = (3 * n, 1 + rng.below(30));
    let scale = if rng.chance(0.7) { 1.0 } else { 10f64.powf(rng.between(-4.0, 4.0)) };
    let spread = if rng.chance(0.7) { 0.0 } else { rng.between(0.0, 3.0) };
    let weights: Vec<f64> = (0..columns).map(|_| scale * 10f64.powf(spread * rng.sign())).collect();
    let A: Vec<f64> = (0..rows * columns).map(|k| weights[k % columns] * rng.sign()).collect();
    let dot = |i: usize, j: usize| (0..columns).map(|k| A[i * columns + k] * A[j * columns + k]).sum::<f64>();
    let G = (0..rows * rows).map(|k| dot((k / rows).max(k % rows), (k / rows).min(k % rows))).collect();
    let speed = 10f64.powf(rng.between(-6.0, 3.0));
    let g = (0..rows).map(|_| speed * rng.sign()).collect();
    let mu = (0..n).map(|_| [0.0, rng.between(0.0, 2.0), rng.between(0.0, 2.0), 1e3][rng.below(4)]).collect();
    let soft = rng.chance(0.5);
    let compliance = (0..n).map(|_| if soft { 10f64.powf(rng.between(-9.0, 0.0)) } else { 0.0 }).collect();
    Numbers { mu, G, g, compliance }
}

fn damage(rng: &mut Rng, p: &mut Numbers) {
    let of = [&mut p.mu, &mut p.G, &mut p.g, &mut p.compliance];
    let numbers = of.into_iter().nth(rng.below(4)).expect("four lists");
    let at = rng.below(numbers.len());
    numbers[at] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][rng.below(3)];
}

/// The natural residual from its definition, `‖λ − Π(λ − ρ (σ + Γ(σ)))‖∞ / ρ` over `max(1, ‖g‖∞)`, with 1/ρ the largest row
/// sum of a block instead of its largest eigenvalue.   (ncp-3)
fn own_residual(p: &Numbers, lambda: &[f64]) -> f64 {
    let rows = lambda.len();
    let sigma: Vec<f64> = (0..rows)
        .map(|i| {
            let soft = if i % 3 == 2 { p.compliance[i / 3] * lambda[i] } else { 0.0 };
            (0..rows).map(|j| p.G[i * rows + j] * lambda[j]).sum::<f64>() + soft + p.g[i]
        })
        .collect();
    let unit = p.g.iter().fold(1.0, |m: f64, g| m.max(g.abs()));
    let of = |k: usize| {
        let sum = |i: usize| (3 * k..3 * k + 3).map(|j| p.G[(3 * k + i) * rows + j].abs()).sum::<f64>();
        let norm = (0..3).map(sum).fold(0.0, f64::max) + p.compliance[k];
        let at = 3 * k..3 * k + 3;
        if norm > 0.0 { violation(p.mu[k], &lambda[at.clone()], &sigma[at], 1.0 / norm) * norm } else { 0.0 }
    };
    (0..p.mu.len()).map(of).fold(0.0, f64::max) / unit
}

/// What the order of a sum may change in the residual: large terms that cancel leave the digits that they have lost, and Γ has
/// tangential velocities times μ.
fn rounding(p: &Numbers, lambda: &[f64]) -> f64 {
    let rows = lambda.len();
    let terms = |i: usize| (0..rows).map(|j| (p.G[i * rows + j] * lambda[j]).abs()).sum::<f64>();
    let unit = p.g.iter().fold(1.0, |m: f64, g| m.max(g.abs()));
    let largest_mu = p.mu.iter().fold(0.0, |m: f64, mu| m.max(*mu));
    (1.0 + largest_mu) * rows as f64 * f64::EPSILON * (0..rows).map(terms).fold(0.0, f64::max) / unit
}

/// Largest entry of `λ − Π(λ − ρ (σ + Γ(σ)))` of one contact.
fn violation(mu: f64, lambda: &[f64], sigma: &[f64], rho: f64) -> f64 {
    let gamma = mu * sigma[0].hypot(sigma[1]);
    let y = [lambda[0] - rho * sigma[0], lambda[1] - rho * sigma[1], lambda[2] - rho * (sigma[2] + gamma)];
    let tangential = y[0].hypot(y[1]);
    let projected = if mu * tangential <= -y[2] {
        [0.0; 3]
    } else if tangential <= mu * y[2] {
        y
    } else {
        let normal = (y[2] + mu * tangential) / (1.0 + mu * mu);
        let share = mu * normal / tangential;
        [share * y[0], share * y[1], normal]
    };
    (0..3).map(|i| (lambda[i] - projected[i]).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_residual_by_definition_is_zero_for_a_solution_and_not_for_others() {
        // one contact of unit mass that approaches with 1 m/s and slides with 3 m/s: it is stopped, friction takes 0.5
        let G = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let p = Numbers { mu: vec![0.5], G, g: vec![3.0, 0.0, -1.0], compliance: vec![0.0] };
        assert!(own_residual(&p, &[-0.5, 0.0, 1.0]) < 1e-15);
        assert!(own_residual(&p, &[-0.4, 0.0, 1.0]) > 0.01);
        assert!(own_residual(&p, &[0.0; 3]) > 0.1);
    }
}
