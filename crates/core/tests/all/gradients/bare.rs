//! Derivatives of dense problems against differences of the solver, closed forms and their own transpose.   (grad-19)
#![allow(non_snake_case)]

use crate::properties::random_tree::Rng;
use nalgebra::{DMatrix, DVector};
use slipstick_core::constraint::{Cone, Problem, Solution, residual, solve};
use slipstick_core::gradient::{ProblemDirection, SolutionGrad, SolutionGradient};
use slipstick_core::model::Solver;
use slipstick_core::{GradientError, InputError, Mode, SolveReport, Status};

/// Residual that solves aim at; where rounding is above it they end as acceptable.
const TIGHT: f64 = 1e-14;
/// Half of the distance between the two ends of a difference.
const H: f64 = 1e-6;
/// Margin of a mode (m/s) that no difference comes near: friction turns by H/slip.
const CLEAR: f64 = 1e-2;

/// What a problem is made from, and a change of it.
#[derive(Clone)]
struct Terms {
    G: DMatrix<f64>,
    g: DVector<f64>,
    /// Coefficients of contacts, bounds of boxes.
    mu: DVector<f64>,
    compliance: DVector<f64>,
}

impl Terms {
    fn zeros(rows: usize, constraints: usize) -> Terms {
        let numbers = DVector::zeros(constraints);
        Terms { G: DMatrix::zeros(rows, rows), g: DVector::zeros(rows), mu: numbers.clone(), compliance: numbers }
    }

    fn moved(&self, t: f64, by: &Terms) -> Terms {
        Terms {
            G: &self.G + t * &by.G,
            g: &self.g + t * &by.g,
            mu: &self.mu + t * &by.mu,
            compliance: &self.compliance + t * &by.compliance,
        }
    }

    fn problem(&self, kinds: &[Cone]) -> Problem {
        let law = |(kind, x): (&Cone, &f64)| match kind {
            Cone::Friction { .. } => Cone::Friction { mu: *x },
            Cone::Box { .. } => Cone::Box { bound: *x },
            other => *other,
        };
        let cones: Vec<Cone> = kinds.iter().zip(&self.mu).map(law).collect();
        Problem::new(&cones, row_by_row(&self.G).as_slice(), self.g.as_slice(), self.compliance.as_slice()).unwrap()
    }

    fn dot(&self, other: &Terms) -> f64 {
        self.G.dot(&other.G) + self.g.dot(&other.g) + self.mu.dot(&other.mu) + self.compliance.dot(&other.compliance)
    }
}

fn row_by_row(G: &DMatrix<f64>) -> DMatrix<f64> {
    G.transpose()
}

fn solved(problem: &Problem, warm: Option<&[f64]>) -> (Solution, SolveReport) {
    let mut solution = Solution::default();
    let report = solve(problem, Solver::Auto, TIGHT, 1000, warm, &mut solution).unwrap();
    (solution, report)
}

fn random_vector(rng: &mut Rng, n: usize) -> DVector<f64> {
    DVector::from_fn(n, |_, _| rng.uniform(-1.0, 1.0))
}

fn random_matrix(rng: &mut Rng, rows: usize, cols: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows, cols, |_, _| rng.uniform(-1.0, 1.0))
}

/// Changes of one term at a time, and of all together.
fn directions(rng: &mut Rng, rows: usize, kinds: &[Cone]) -> Vec<Terms> {
    let (m, zero) = (kinds.len(), Terms::zeros(rows, kinds.len()));
    let X = random_matrix(rng, rows, rows);
    let (G, g) = (&X + X.transpose(), random_vector(rng, rows));
    let (mu, compliance) = (random_vector(rng, m), random_vector(rng, m));
    vec![
        Terms { G: G.clone(), ..zero.clone() },
        Terms { g: g.clone(), ..zero.clone() },
        Terms { mu: mu.clone(), ..zero.clone() },
        Terms { compliance: compliance.clone(), ..zero },
        Terms { G, g, mu, compliance },
    ]
}

/// Contacts, one-sided rows, boxes and bilateral rows in turn, with as many dofs as rows: the solution is unique.
fn full_rank(rng: &mut Rng) -> (Vec<Cone>, Terms) {
    let contact = Cone::Friction { mu: 0.0 };
    let kinds = vec![contact, Cone::Unilateral, contact, Cone::Box { bound: 0.0 }, contact, Cone::Bilateral];
    let rows = kinds.iter().map(|c| c.rows()).sum();
    let J = random_matrix(rng, rows, 2 * rows);
    let G = &J * J.transpose() / rows as f64;
    let mut terms = Terms { G, g: random_vector(rng, rows), ..Terms::zeros(rows, kinds.len()) };
    // slow along, fast towards each other: some of them stick
    kinds.iter().scan(0, |row, c| Some(core::mem::replace(row, *row + c.rows()))).zip(&kinds).for_each(|(row, c)| {
        if let Cone::Friction { .. } = c {
            terms.g.rows_mut(row, 2).scale_mut(0.5);
            terms.g[row + 2] -= 0.3;
        }
    });
    terms.mu = DVector::from_fn(kinds.len(), |_, _| rng.uniform(0.1, 0.7));
    terms.compliance = DVector::from_fn(kinds.len(), |_, _| rng.uniform(0.01, 0.1));
    (kinds, terms)
}

/// Contacts with more rows than dofs: `G = J Jᵀ`, `g = J v + gap`.
struct Redundant {
    kinds: Vec<Cone>,
    terms: Terms,
    J: DMatrix<f64>,
    v: DVector<f64>,
    /// Impulses that solve it.
    lambda: DVector<f64>,
}

/// Three contacts that hold the first six dofs with nine rows, one that slides and one that opens, which move all twelve.
fn redundant(rng: &mut Rng) -> Redundant {
    let (rows, held, dofs) = (15, 6, 12);
    let mut terms = Terms::zeros(rows, 5);
    terms.mu = DVector::from_fn(5, |_, _| rng.uniform(0.3, 0.8));
    let J = with_sticking_rows(random_matrix(rng, rows, dofs));
    let next = DVector::from_fn(dofs, |i, _| if i < held { 0.0 } else { rng.uniform(-1.0, 1.0) });
    let (sigma, mut lambda) = (&J * &next, DVector::zeros(rows));
    for k in 0..4 {
        let (load, mu) = (rng.uniform(0.5, 1.5), terms.mu[k]);
        let slip = sigma[3 * k].hypot(sigma[3 * k + 1]);
        for i in 0..2 {
            let share = if k == 3 { -sigma[3 * k + i] / slip } else { rng.uniform(-0.5, 0.5) };
            lambda[3 * k + i] = mu * load * share;
        }
        lambda[3 * k + 2] = load;
    }
    let v = next - J.transpose() * &lambda;
    (terms.G, terms.g) = (&J * J.transpose(), &J * &v);
    // the sliding contact stays closed, the last one opens at 0.5 m/s
    terms.g[11] -= sigma[11];
    terms.g[14] += 0.5 - sigma[14];
    Redundant { kinds: vec![Cone::Friction { mu: 0.0 }; 5], terms, J, v, lambda }
}

/// The first nine rows move the first six dofs only.
fn with_sticking_rows(J: DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(J.nrows(), J.ncols(), |i, j| if i < 9 && j >= 6 { 0.0 } else { J[(i, j)] })
}

/// A change of J, v and μ, which the held contacts can all follow.
struct Change {
    J: DMatrix<f64>,
    v: DVector<f64>,
    mu: DVector<f64>,
}

impl Redundant {
    fn change(&self, rng: &mut Rng) -> Change {
        let J = with_sticking_rows(random_matrix(rng, self.J.nrows(), self.J.ncols()));
        Change { J, v: random_vector(rng, self.v.len()), mu: random_vector(rng, self.terms.mu.len()) }
    }

    /// The problem so far along a change: G keeps its rank.
    fn moved(&self, t: f64, d: &Change) -> Terms {
        let (J, v) = (&self.J + t * &d.J, &self.v + t * &d.v);
        let gap = &self.terms.g - &self.J * &self.v;
        let compliance = self.terms.compliance.clone();
        Terms { G: &J * J.transpose(), g: J * v + gap, mu: &self.terms.mu + t * &d.mu, compliance }
    }

    /// How it begins to change.
    fn tangent(&self, d: &Change) -> Terms {
        let (product, compliance) = (&d.J * self.J.transpose(), 0.0 * &self.terms.compliance);
        let g = &d.J * &self.v + &self.J * &d.v;
        Terms { G: &product + product.transpose(), g, mu: d.mu.clone(), compliance }
    }
}

fn along(gradient: &mut SolutionGradient, d: &Terms) -> [DVector<f64>; 2] {
    let (rows, G) = (d.g.len(), row_by_row(&d.G));
    let dx = ProblemDirection {
        G: G.as_slice(),
        g: d.g.as_slice(),
        mu: d.mu.as_slice(),
        compliance: d.compliance.as_slice(),
    };
    let (mut dlambda, mut dsigma) = (DVector::zeros(rows), DVector::zeros(rows));
    let jacobian = gradient.jacobian().unwrap();
    jacobian.jvp(dx, dlambda.as_mut_slice(), dsigma.as_mut_slice()).unwrap();
    [dlambda, dsigma]
}

/// Central differences of impulses and velocities, searched from the impulses between.
fn differences(kinds: &[Cone], moved: impl Fn(f64) -> Terms, warm: &[f64]) -> [DVector<f64>; 2] {
    let end = |t: f64| {
        let (solution, report) = solved(&moved(t).problem(kinds), Some(warm));
        assert!(report.residual < 1e-12, "{report:?}");
        [solution.lambda(), solution.sigma()].map(DVector::from_column_slice)
    };
    let ([l1, s1], [l0, s0]) = (end(H), end(-H));
    [(l1 - l0) / (2.0 * H), (s1 - s0) / (2.0 * H)]
}

fn error(got: &DVector<f64>, expected: &DVector<f64>) -> f64 {
    (got - expected).amax() / expected.amax().max(1.0)
}

#[test]
fn derivatives_of_impulses_and_velocities_match_differences_in_every_mode() {
    let (mut rng, mut seen, mut worst) = (Rng::new(1), [0; 3], [0.0_f64; 2]);
    for _ in 0..120 {
        let (kinds, terms) = full_rank(&mut rng);
        let problem = terms.problem(&kinds);
        let (solution, report) = solved(&problem, None);
        if report.residual > 1e-12 || report.margin < CLEAR {
            continue;
        }
        for (kind, (mode, _)) in kinds.iter().zip(solution.modes()) {
            seen[*mode as usize] += usize::from(matches!(kind, Cone::Friction { .. }));
        }
        let mut gradient = SolutionGradient::new(&problem, &solution, &report).unwrap();
        assert_eq!((gradient.degenerate(), gradient.redundant()), (0, 0));
        for d in directions(&mut rng, terms.g.len(), &kinds) {
            let expected = differences(&kinds, |t| terms.moved(t, &d), solution.lambda());
            let got = along(&mut gradient, &d);
            (0..2).for_each(|i| worst[i] = worst[i].max(error(&got[i], &expected[i])));
        }
    }
    assert!(seen.iter().all(|count| *count >= 10), "{seen:?}");
    // rounding over H, and how friction turns: (H/CLEAR)²
    assert!(worst[0] < 2e-7 && worst[1] < 2e-7, "{worst:?}");
}

#[test]
fn velocities_of_redundant_contacts_match_differences_and_impulses_solve_to_second_order() {
    let (mut rng, mut solved_problems, mut worst, mut worst_residual) = (Rng::new(2), 0, 0.0_f64, 0.0_f64);
    for _ in 0..40 {
        let case = redundant(&mut rng);
        let Redundant { kinds, terms, .. } = &case;
        let problem = terms.problem(kinds);
        let (solution, report) = solved(&problem, Some(case.lambda.as_slice()));
        if report.margin < CLEAR {
            continue;
        }
        let modes = solution.modes().iter().map(|(mode, _)| *mode).collect::<Vec<_>>();
        assert_eq!(modes, [Mode::Stick, Mode::Stick, Mode::Stick, Mode::Slide, Mode::Break]);
        let mut gradient = SolutionGradient::new(&problem, &solution, &report).unwrap();
        assert_eq!((gradient.degenerate(), gradient.redundant()), (0, 3));
        let d = case.change(&mut rng);
        let got = along(&mut gradient, &case.tangent(&d));
        let [_, dsigma] = differences(kinds, |t| case.moved(t, &d), solution.lambda());
        worst = worst.max(error(&got[1], &dsigma));
        // λ + t dλ solves the problem a little further on, up to t²
        let t = 1e-5;
        let lambda = &case.lambda + t * &got[0];
        let moved = residual(&case.moved(t, &d).problem(kinds), lambda.as_slice()).unwrap();
        worst_residual = worst_residual.max(moved / (t * got[0].amax()).powi(2));
        solved_problems += 1;
    }
    assert!(solved_problems >= 20, "{solved_problems}");
    assert!(worst < 1e-7 && worst_residual < 10.0, "{worst:e} {worst_residual:e}");
}

#[test]
fn the_gradient_is_the_transpose_of_the_jacobian() {
    let (mut rng, mut compared, mut worst) = (Rng::new(3), [0; 2], 0.0_f64);
    for n in 0..60 {
        let (kinds, terms, warm) = match n % 2 {
            0 => {
                let (kinds, terms) = full_rank(&mut rng);
                (kinds, terms, None)
            }
            _ => {
                let Redundant { kinds, terms, lambda, .. } = redundant(&mut rng);
                (kinds, terms, Some(lambda))
            }
        };
        let problem = terms.problem(&kinds);
        let (solution, report) = solved(&problem, warm.as_ref().map(DVector::as_slice));
        let Ok(mut gradient) = SolutionGradient::new(&problem, &solution, &report) else { continue };
        compared[gradient.redundant().min(1)] += 1;
        let rows = terms.g.len();
        let (w_lambda, w_sigma) = (random_vector(&mut rng, rows), random_vector(&mut rng, rows));
        let grad = gradient.vjp(SolutionGrad { lambda: w_lambda.as_slice(), sigma: w_sigma.as_slice() }).unwrap();
        let grad = Terms {
            G: DMatrix::from_row_slice(rows, rows, &grad.G),
            g: DVector::from_vec(grad.g),
            mu: DVector::from_vec(grad.mu),
            compliance: DVector::from_vec(grad.compliance),
        };
        let mut changes = directions(&mut rng, rows, &kinds);
        // G as a general matrix
        changes.push(Terms { G: random_matrix(&mut rng, rows, rows), ..Terms::zeros(rows, kinds.len()) });
        for d in changes {
            let [dlambda, dsigma] = along(&mut gradient, &d);
            let (forward, reverse) = (w_lambda.dot(&dlambda) + w_sigma.dot(&dsigma), grad.dot(&d));
            worst = worst.max((forward - reverse).abs() / (dlambda.amax() + dsigma.amax()).max(1.0));
        }
    }
    assert!(compared.iter().all(|count| *count >= 25), "{compared:?}");
    assert!(worst < 1e-10, "{worst:e}");
}

#[test]
fn a_sliding_point_has_the_derivatives_of_the_textbook() {
    // mass m, μ = 0.5, along x at speed 2, towards the floor at 1: λ_N = m, slip 2 − μ
    let (m, mu) = (4.0, 0.5);
    let G = DMatrix::identity(3, 3) / m;
    let problem = Problem::bare(G.as_slice(), &[2.0, 0.0, -1.0], &[mu]).unwrap();
    let (solution, report) = solved(&problem, None);
    assert_eq!(solution.modes()[0].0, Mode::Slide);
    let jacobian = SolutionGradient::new(&problem, &solution, &report).unwrap().jacobian().unwrap();
    let close = |got: &[f64], expected: [f64; 3]| got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-11);
    assert!(close(jacobian.lambda.dg().row(0), [0.0, 0.0, mu * m]));
    // across the slip friction turns: y-velocity shrinks by slip/(slip + μ λ_N/m)
    assert!(close(jacobian.sigma.dg().row(1), [0.0, 1.5 / 2.0, 0.0]));
    assert!(close(jacobian.lambda.dg().row(2), [0.0, 0.0, -m]));
    let column = |m: slipstick_core::linalg::MatRef| [m[(0, 0)], m[(1, 0)], m[(2, 0)]];
    assert!(close(&column(jacobian.lambda.dmu()), [-m, 0.0, 0.0]));
    assert!(close(&column(jacobian.sigma.dmu()), [-1.0, 0.0, 0.0]));
    // λ_N = 1/(1/m + R)
    assert!(close(&column(jacobian.lambda.dcompliance()), [mu * m * m, 0.0, -m * m]));
    let mut dG = [0.0; 27];
    jacobian.lambda.copy_dG(&mut dG).unwrap();
    assert!((dG[26] + m * m).abs() < 1e-10 && (dG[8] - mu * m * m).abs() < 1e-10, "{dG:?}");
}

#[test]
fn the_bound_of_a_saturated_box_is_differentiated_like_a_coefficient() {
    let problem = Problem::new(&[Cone::Box { bound: 0.2 }], &[2.0], &[-1.0], &[0.0]).unwrap();
    let (solution, report) = solved(&problem, None);
    let mut gradient = SolutionGradient::new(&problem, &solution, &report).unwrap();
    let jacobian = gradient.jacobian().unwrap();
    assert_eq!((jacobian.lambda.dmu()[(0, 0)], jacobian.sigma.dmu()[(0, 0)]), (1.0, 2.0));
    assert_eq!(jacobian.lambda.dg()[(0, 0)], 0.0);
}

#[test]
fn friction_of_zero_has_the_derivative_to_the_right() {
    let one = DMatrix::<f64>::identity(3, 3);
    let problem = Problem::bare(one.as_slice(), &[3.0, 4.0, -2.0], &[0.0]).unwrap();
    let (solution, report) = solved(&problem, None);
    let jacobian = SolutionGradient::new(&problem, &solution, &report).unwrap().jacobian().unwrap();
    let dmu = jacobian.sigma.dmu();
    assert!((dmu[(0, 0)] + 2.0 * 0.6).abs() < 1e-12 && (dmu[(1, 0)] + 2.0 * 0.8).abs() < 1e-12);
}

#[test]
fn corners_and_redundant_rows_are_counted() {
    let count = |problem: &Problem| {
        let (solution, report) = solved(problem, None);
        let gradient = SolutionGradient::new(problem, &solution, &report).unwrap();
        [gradient.degenerate(), gradient.redundant()]
    };
    let one = DMatrix::<f64>::identity(3, 3);
    assert_eq!(count(&Problem::bare(one.as_slice(), &[0.1, 0.0, -1.0], &[0.5]).unwrap()), [0, 0]);
    // it touches without load; friction is just enough
    assert_eq!(count(&Problem::bare(one.as_slice(), &[0.1, 0.0, 0.0], &[0.5]).unwrap()), [1, 0]);
    assert_eq!(count(&Problem::bare(one.as_slice(), &[0.5, 0.0, -1.0], &[0.5]).unwrap()), [1, 0]);
    // two points of one body of three dofs
    let twice = DMatrix::from_fn(6, 6, |i, j| f64::from(i % 3 == j % 3));
    let problem = Problem::bare(twice.as_slice(), &[0.1, 0.0, -1.0, 0.1, 0.0, -1.0], &[0.5, 0.5]).unwrap();
    assert_eq!(count(&problem), [0, 3]);
    assert_eq!(count(&Problem::bare(&[], &[], &[]).unwrap()), [0, 0]);
}

#[test]
fn what_has_no_derivative_or_does_not_fit_is_refused() {
    let one = DMatrix::<f64>::identity(3, 3);
    let problem = Problem::bare(one.as_slice(), &[0.3, 0.0, -1.0], &[0.1]).unwrap();
    let mut solution = Solution::default();
    let report = solve(&problem, Solver::Auto, 1e-10, 0, None, &mut solution).unwrap();
    let refused = SolutionGradient::new(&problem, &solution, &report).map(|_| ()).unwrap_err();
    assert!(matches!(refused, GradientError::NotConverged { status: Status::NotConverged, .. }), "{refused}");
    assert!(refused.to_string().contains("'not_converged' with a residual of"), "{refused}");

    let (solution, report) = solved(&problem, None);
    let other = Problem::bare(&[], &[], &[]).unwrap();
    let length = |what, expected, got| GradientError::Input(InputError::Length { what, expected, got });
    let refused = SolutionGradient::new(&other, &solution, &report).map(|_| ()).unwrap_err();
    assert_eq!(refused, length("solution", 0, 3));

    let mut gradient = SolutionGradient::new(&problem, &solution, &report).unwrap();
    let short = gradient.vjp(SolutionGrad { lambda: &[1.0], sigma: &[] }).unwrap_err();
    assert_eq!(short, length("gradient of lambda", 3, 1));
    let jacobian = gradient.jacobian().unwrap();
    let jvp = |dx| jacobian.jvp(dx, &mut [0.0; 3], &mut [0.0; 3]).unwrap_err();
    let wrong = |what, expected, got| InputError::Length { what, expected, got };
    assert_eq!(jvp(ProblemDirection { G: &[1.0; 3], ..Default::default() }), wrong("dG", 9, 3));
    assert_eq!(jvp(ProblemDirection { mu: &[1.0; 3], ..Default::default() }), wrong("dmu", 1, 3));
    let infinite = ProblemDirection { g: &[0.0, f64::INFINITY, 0.0], ..Default::default() };
    assert_eq!(jvp(infinite), InputError::NotFinite { what: "dg", index: 1 });
    assert_eq!(jacobian.sigma.copy_dG(&mut [0.0; 9]), Err(wrong("out", 27, 9)));
}
