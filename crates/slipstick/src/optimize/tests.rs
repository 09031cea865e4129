//! Problems whose solutions are known.

use super::*;
use crate::check::Difference;
use slipstick_core::InputError;
use slipstick_core::spatial::{Mat3, Quat, Vec3};
use std::convert::Infallible;

/// A problem made of two functions.
struct Functions<R, J> {
    sizes: (usize, usize),
    residual: R,
    jacobian: J,
    bounds: Option<(Vec<f64>, Vec<f64>)>,
}

impl<R: FnMut(&[f64]) -> Vec<f64>, D: FnMut(&[f64]) -> Vec<f64>> LeastSquares for Functions<R, D> {
    type Error = Infallible;
    fn unknowns(&self) -> usize {
        self.sizes.1
    }
    fn residuals(&self) -> usize {
        self.sizes.0
    }
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), Infallible> {
        r.copy_from_slice(&(self.residual)(x));
        Ok(())
    }
    fn jacobian(&mut self, x: &[f64], mut J: MatMut) -> Result<(), Infallible> {
        let numbers = (self.jacobian)(x);
        (0..J.rows()).for_each(|i| J.row_mut(i).copy_from_slice(&numbers[i * self.sizes.1..][..self.sizes.1]));
        Ok(())
    }
    fn bounds(&self) -> Option<(&[f64], &[f64])> {
        self.bounds.as_ref().map(|(low, high)| (&low[..], &high[..]))
    }
}

/// A problem with m residuals of n unknowns.
fn problem<R, J>(m: usize, n: usize, residual: R, jacobian: J) -> Functions<R, J>
where
    R: FnMut(&[f64]) -> Vec<f64>,
    J: FnMut(&[f64]) -> Vec<f64>,
{
    Functions { sizes: (m, n), residual, jacobian, bounds: None }
}

fn valley() -> impl LeastSquares<Error = Infallible> {
    problem(2, 2, |x| vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]], |x| vec![-20.0 * x[0], 10.0, -1.0, 0.0])
}

fn with(method: Method) -> Options {
    Options { method, ..Options::default() }
}

#[test]
fn the_end_of_a_bent_valley_is_found_by_all_methods() {
    for (method, most) in [(Method::GaussNewton, 30), (Method::LevenbergMarquardt, 60)] {
        let found = minimize(&mut valley(), &[-1.2, 1.0], &with(method), |_| ()).unwrap();
        assert_eq!(found.stop, Stop::Tolerance);
        assert!(found.iterations.len() <= most && found.x.iter().all(|x| (x - 1.0).abs() < 1e-12), "{found:?}");
    }
    let slow = Options { max_iterations: 100_000, tolerance: 1e-4, ..with(Method::GradientDescent) };
    let found = minimize(&mut valley(), &[-1.2, 1.0], &slow, |_| ()).unwrap();
    assert_eq!(found.stop, Stop::Tolerance);
    assert!(
        found.iterations.len() > 200,
        "gradient descent is not expected to be quick here: {}",
        found.iterations.len()
    );
}

#[test]
fn with_a_line_search_the_error_never_rises_and_the_log_is_what_progress_sees() {
    for method in [Method::GaussNewton, Method::LevenbergMarquardt, Method::GradientDescent] {
        let mut seen = Vec::new();
        let found = minimize(&mut valley(), &[-1.2, 1.0], &with(method), |i| seen.push(i.clone())).unwrap();
        assert_eq!(seen, found.iterations);
        assert!(seen.windows(2).all(|w| w[1].error < w[0].error && w[1].iteration == w[0].iteration + 1));
        assert_eq!(found.error, seen[seen.len() - 1].error);
    }
}

#[test]
fn a_solution_without_full_rank_is_approached_as_far_as_digits_go() {
    // Powell's singular function: the Jacobian at the solution has rank two
    let (a, b) = (5.0f64.sqrt(), 10.0f64.sqrt());
    let residual =
        |x: &[f64]| vec![x[0] + 10.0 * x[1], a * (x[2] - x[3]), (x[1] - 2.0 * x[2]).powi(2), b * (x[0] - x[3]).powi(2)];
    let jacobian = |x: &[f64]| {
        let (c, d) = (2.0 * (x[1] - 2.0 * x[2]), 2.0 * b * (x[0] - x[3]));
        vec![1.0, 10.0, 0.0, 0.0, 0.0, 0.0, a, -a, 0.0, c, -2.0 * c, 0.0, d, 0.0, 0.0, -d]
    };
    for method in [Method::GaussNewton, Method::LevenbergMarquardt] {
        let found = minimize(&mut problem(4, 4, residual, jacobian), &[3.0, -1.0, 0.0, 1.0], &with(method), |_| ());
        let found = found.unwrap();
        assert!(found.error < 1e-11, "{method:?}: {} {}", found.error, found.stop);
        assert!(found.x.iter().all(|x| x.abs() < 1e-5), "{:?}", found.x);
    }
}

#[test]
fn of_many_solutions_of_a_linear_problem_the_nearest_is_taken() {
    // x + 2 y + 2 z = 9, twice; from (1, 0, 0) the nearest point of the plane lies along its normal
    let row = [1.0, 2.0, 2.0];
    let residual = move |x: &[f64]| vec![row[0] * x[0] + row[1] * x[1] + row[2] * x[2] - 9.0; 2];
    let mut plane = problem(2, 3, residual, move |_: &[f64]| [row, row].concat());
    let found = minimize(&mut plane, &[1.0, 0.0, 0.0], &Options::default(), |_| ()).unwrap();
    assert!(found.iterations.len() <= 3 && found.error < 1e-13);
    let (along, nearest) = (8.0 / 9.0, [1.0, 0.0, 0.0]);
    assert!((0..3).all(|k| (found.x[k] - nearest[k] - along * row[k]).abs() < 1e-14), "{:?}", found.x);
}

#[test]
fn units_decide_which_step_is_the_shortest() {
    // x + y = 2 from zero: with a unit of 3 along y a step along it is three times as cheap
    let mut plane = problem(1, 2, |x| vec![x[0] + x[1] - 2.0], |_| vec![1.0, 1.0]);
    for (units, expected) in [(vec![], [1.0, 1.0]), (vec![1.0, 3.0], [0.2, 1.8])] {
        let found = minimize(&mut plane, &[0.0, 0.0], &Options { units, ..Options::default() }, |_| ()).unwrap();
        assert!(found.x.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-14), "{:?}", found.x);
    }
    // in fitting units a stretched bowl is round, and the first way down leads to its bottom
    let mut bowl = problem(2, 2, |x| vec![x[0] - 1.0, 100.0 * (x[1] - 1.0)], |_| vec![1.0, 0.0, 0.0, 100.0]);
    let round = Options { units: vec![1.0, 0.01], ..with(Method::GradientDescent) };
    assert!(minimize(&mut bowl, &[0.0, 0.9999], &round, |_| ()).unwrap().iterations.len() <= 3);
    let found = minimize(&mut bowl, &[0.0, 0.9999], &with(Method::GradientDescent), |_| ()).unwrap();
    assert!(found.iterations.len() > 50, "{}", found.iterations.len());
    let mut bounded = problem(1, 2, |x: &[f64]| vec![x[0] + x[1] - 2.0], |_: &[f64]| vec![1.0, 1.0]);
    bounded.bounds = Some((vec![-1.0; 2], vec![1.5; 2]));
    let found = minimize(&mut bounded, &[0.0, 0.0], &Options { units: vec![1.0, 3.0], ..Options::default() }, |_| ());
    assert!(found.unwrap().x.iter().zip([0.5, 1.5]).all(|(x, e)| (x - e).abs() < 1e-14));
}

#[test]
fn bounds_hold_at_the_solution_and_on_the_way() {
    // the end of the valley is out of reach: with x ≤ 0.5 the best point is (0.5, 0.25)
    for method in [Method::GaussNewton, Method::LevenbergMarquardt, Method::GradientDescent] {
        let mut worst = f64::NEG_INFINITY;
        let residual = |x: &[f64]| {
            worst = worst.max(x[0]);
            vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]
        };
        let mut bounded = problem(2, 2, residual, |x: &[f64]| vec![-20.0 * x[0], 10.0, -1.0, 0.0]);
        bounded.bounds = Some((vec![f64::NEG_INFINITY; 2], vec![0.5, f64::INFINITY]));
        let options = Options { max_iterations: 20_000, ..with(method) };
        let found = minimize(&mut bounded, &[-1.2, 1.0], &options, |_| ()).unwrap();
        assert!((found.x[0] - 0.5).abs() < 1e-8 && (found.x[1] - 0.25).abs() < 1e-8, "{method:?}: {:?}", found.x);
        assert!((found.error - 0.5).abs() < 1e-12 && worst <= 0.5, "{method:?}: {} {worst}", found.error);
    }
}

/// Which rotation takes vectors to others: points are quaternions, steps are rotation vectors in the turned frame.
#[derive(Debug)]
struct RotationFit {
    from: [Vec3; 3],
    to: [Vec3; 3],
}

impl LeastSquares for RotationFit {
    type Error = Infallible;
    fn unknowns(&self) -> usize {
        3
    }
    fn coordinates(&self) -> usize {
        4
    }
    fn residuals(&self) -> usize {
        9
    }
    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), Infallible> {
        let R = Quat::from_slice(x).to_matrix();
        for k in 0..3 {
            r[3 * k..3 * k + 3].copy_from_slice(&(R * self.from[k] - self.to[k]).to_array());
        }
        Ok(())
    }
    fn jacobian(&mut self, x: &[f64], mut J: MatMut) -> Result<(), Infallible> {
        let R = Quat::from_slice(x).to_matrix();
        for k in 0..3 {
            // R exp([d]×) a = R a − R [a]× d
            let block = R * Mat3::skew(self.from[k]);
            (0..9).for_each(|e| J[(3 * k + e / 3, e % 3)] = -block.at(e / 3, e % 3));
        }
        Ok(())
    }
    fn retract(&self, x: &[f64], d: &[f64], out: &mut [f64]) {
        let turned = Quat::from_slice(x).compose(Quat::exp(Vec3::from_slice(d)));
        out.copy_from_slice(&turned.normalized().map_or([1.0, 0.0, 0.0, 0.0], Quat::to_array));
    }
}

fn rotation_fit() -> (RotationFit, Quat) {
    let (from, truth) = ([(1.0, 0.2, -0.3), (0.0, 2.0, 0.5), (-1.0, 0.4, 1.5)], Quat::exp(Vec3::new(0.9, -1.3, 0.7)));
    let from = from.map(|(x, y, z)| Vec3::new(x, y, z));
    (RotationFit { from, to: from.map(|a| truth.to_matrix() * a) }, truth)
}

#[test]
fn a_rotation_is_found_from_what_it_does() {
    for method in [Method::GaussNewton, Method::LevenbergMarquardt] {
        let (mut fit, truth) = rotation_fit();
        let found = minimize(&mut fit, &[1.0, 0.0, 0.0, 0.0], &with(method), |_| ()).unwrap();
        let miss = truth.conjugate().compose(Quat::from_slice(&found.x)).log().norm();
        assert!(found.stop == Stop::Tolerance && miss < 1e-12 && found.iterations.len() < 25, "{miss} {found:?}");
    }
}

#[test]
fn differences_lead_where_derivatives_do() {
    let (fit, truth) = rotation_fit();
    for difference in [Difference::Forward { step: 1e-7 }, Difference::Central { step: 1e-5 }] {
        let fit = RotationFit { ..fit };
        let mut by = ByDifferences::new(fit, difference).unwrap();
        let found = minimize(&mut by, &[1.0, 0.0, 0.0, 0.0], &Options::default(), |_| ()).unwrap();
        let miss = truth.conjugate().compose(Quat::from_slice(&found.x)).log().norm();
        assert!(miss < 1e-11, "{difference:?}: {miss}");
    }
    let refused = ByDifferences::new(fit, Difference::Central { step: 0.0 }).unwrap_err();
    assert!(refused.to_string().contains("step of a difference"), "{refused}");
}

#[test]
fn what_is_not_a_number_is_named_at_the_start_and_avoided_later() {
    let nan = minimize(
        &mut problem(2, 1, |_| vec![0.0, f64::NAN], |_| vec![1.0; 2]),
        &[0.0],
        &with(Method::GaussNewton),
        |_| (),
    );
    assert_eq!(nan.unwrap_err(), OptimizeError::NotFinite { what: "residual", row: 1, iteration: 0 });
    let nan = minimize(
        &mut problem(2, 1, |_| vec![1.0; 2], |_| vec![1.0, f64::INFINITY]),
        &[0.0],
        &with(Method::GaussNewton),
        |_| (),
    );
    assert_eq!(nan.unwrap_err(), OptimizeError::NotFinite { what: "jacobian", row: 1, iteration: 0 });
    // the whole first step for ln x = −1 from 3 leads below zero, where there is no logarithm
    let mut logarithm = problem(1, 1, |x| vec![x[0].ln() + 1.0], |x| vec![1.0 / x[0]]);
    for method in [Method::GaussNewton, Method::LevenbergMarquardt] {
        let found = minimize(&mut logarithm, &[3.0], &with(method), |_| ()).unwrap();
        assert!((found.x[0] - (-1.0f64).exp()).abs() < 1e-12, "{method:?}: {found:?}");
    }
    let whole = Options { line_search: false, ..Options::default() };
    let found = minimize(&mut logarithm, &[3.0], &whole, |_| ()).unwrap();
    assert_eq!((found.stop, &found.x[..]), (Stop::NotFinite, &[3.0][..]));
}

#[test]
fn without_a_line_search_steps_are_whole() {
    // from −1.2 the valley's first whole Gauss–Newton step goes straight to x = 1 and far up the wall
    let whole = Options { line_search: false, ..Options::default() };
    let found = minimize(&mut valley(), &[-1.2, 1.0], &whole, |_| ()).unwrap();
    assert!(found.iterations[1].error > 9.0 * found.iterations[0].error && found.iterations.len() == 3);
    let fixed = Options { rate: Some(1e-3), max_iterations: 1, ..with(Method::GradientDescent) };
    let found = minimize(&mut valley(), &[-1.2, 1.0], &fixed, |_| ()).unwrap();
    let gradient = found.iterations[0].gradient;
    assert!((found.iterations[1].step - 1e-3 * gradient).abs() < 1e-12 * gradient);
}

#[test]
fn searches_say_why_they_end() {
    // the squares of x − 1 and x + 1 have their least sum at zero, where both are one
    let mut between = problem(2, 1, |x| vec![x[0] - 1.0, x[0] + 1.0], |_| vec![1.0, 1.0]);
    let found = minimize(&mut between, &[3.0], &Options::default(), |_| ()).unwrap();
    assert_eq!(found.stop, Stop::Gradient);
    let few = Options { max_iterations: 2, ..Options::default() };
    assert_eq!(minimize(&mut valley(), &[-1.2, 1.0], &few, |_| ()).unwrap().stop, Stop::MaxIterations);
    // a triple root: each step is a third of the way
    let mut triple = problem(1, 1, |x| vec![x[0].powi(3)], |x| vec![3.0 * x[0] * x[0]]);
    let short = Options { step_tolerance: 1e-3, ..Options::default() };
    assert_eq!(minimize(&mut triple, &[1.0], &short, |_| ()).unwrap().stop, Stop::Step);
    let wrong = minimize(&mut problem(1, 1, |x| vec![x[0]], |_| vec![-1.0]), &[3.0], &Options::default(), |_| ());
    assert_eq!(wrong.unwrap().stop, Stop::Stalled, "the Jacobian has the wrong sign");
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |x0: &[f64], options: &Options| minimize(&mut valley(), x0, options, |_| ()).unwrap_err();
    let length = InputError::Length { what: "x0", expected: 2, got: 3 };
    assert_eq!(refused(&[0.0; 3], &Options::default()), OptimizeError::Input(length));
    let nan = InputError::NotFinite { what: "x0", index: 1 };
    assert_eq!(refused(&[0.0, f64::NAN], &Options::default()), OptimizeError::Input(nan));
    let text = refused(&[0.0; 2], &Options { rank_tolerance: -1.0, ..Options::default() }).to_string();
    assert!(text.contains("rank_tolerance") && text.contains("-1"), "{text}");
    let text = refused(&[0.0; 2], &Options { units: vec![1.0], ..Options::default() }).to_string();
    assert!(text.contains("units: expected 2 numbers, got 1"), "{text}");
    let text = refused(&[0.0; 2], &Options { units: vec![1.0, 0.0], ..Options::default() }).to_string();
    assert!(text.contains("units: expected positive numbers, got 0"), "{text}");
    let mut bounded = problem(1, 1, |x: &[f64]| vec![x[0]], |_: &[f64]| vec![1.0]);
    bounded.bounds = Some((vec![0.0], vec![1.0]));
    let text = minimize(&mut bounded, &[2.0], &Options::default(), |_| ()).unwrap_err().to_string();
    assert!(text.contains("x0[0]") && text.contains("within its bounds"), "{text}");
}

#[test]
fn an_error_of_the_problem_ends_the_search_and_comes_through() {
    struct Broken;
    impl LeastSquares for Broken {
        type Error = InputError;
        fn unknowns(&self) -> usize {
            1
        }
        fn residuals(&self) -> usize {
            1
        }
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), InputError> {
            r[0] = x[0];
            if x[0] < 3.0 { Err(InputError::WrongLayout) } else { Ok(()) }
        }
        fn jacobian(&mut self, _: &[f64], mut J: MatMut) -> Result<(), InputError> {
            J[(0, 0)] = 1.0;
            Ok(())
        }
    }
    let error = minimize(&mut Broken, &[3.0], &Options::default(), |_| ()).unwrap_err();
    assert_eq!(error, OptimizeError::Problem { iteration: 0, error: InputError::WrongLayout });
    assert!(std::error::Error::source(&error).is_some());
}
