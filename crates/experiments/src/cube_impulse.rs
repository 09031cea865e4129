//! Which impulse sends a sliding cube to a given pose?

use crate::comparison::{Scene, Source, failed};
use crate::cube_velocity::DISTANCES;
use crate::ranking::Ranking;
use crate::report::{Claim, Report};
use crate::throw::Unknown;
use crate::{ExperimentError, Progress, Settings, curves};
use serde_json::json;
use slipstick::State;
use slipstick::dynamics::Workspace;
use slipstick::model::Order;
use slipstick::optimize::Method;
use slipstick::smoothing::{Bundled, Sigma};

/// Steps of 1 ms from the first to the last pose.
const STEPS: usize = 100;
/// Impulses to recover.
const PUSHES: usize = 16;
const MAX_ITERATIONS: usize = 60;
/// How soft the central path is, from soft to nearly hard.
const KAPPAS: [f64; 3] = [1e-2, 1e-3, 1e-4];
/// Means over displaced velocities (m/s, rad/s): a few times what a step of 1 ms changes by itself.
const BUNDLED: Bundled = Bundled { sigma: Sigma { v: 0.02, ..Sigma::ZERO }, samples: 8, order: Order::First, seed: 1 };

/// Recovers what pushed a sliding cube in the first step (an impulse of six numbers) from its last pose, as
/// [`cube_velocity`](crate::cube_velocity) does for velocities. A push may also lift or tilt the cube, so that searches
/// cross from one kind of motion to another and some get stuck; smoothed derivatives then lead on, and so do units in which
/// a newton meter second, which turns the cube much further than a newton second moves it, counts for more.
pub fn cube_impulse(_: &Settings, progress: Progress) -> Result<Report, ExperimentError> {
    let model = slipstick::builtin("cube").map_err(ExperimentError::during("loading the cube"))?;
    let mut start = State::keyframe(&model, "home").map_err(ExperimentError::during("placing the cube"))?;
    start.v[0] = 2.0;
    let (unknown, steps, guess) = (Unknown::Impulse, STEPS, vec![0.0; model.nv()]);
    let mut scene = Scene { model, start, steps, unknown, guess, max_iterations: MAX_ITERATIONS, units: vec![] };
    let truths: Vec<Vec<f64>> =
        curves::spread(PUSHES).map(|[x, y, spin]| vec![x, y, 0.0, 0.0, 0.0, 0.03 * spin]).collect();

    let show = |i: &slipstick::optimize::Iteration| progress(&curves::iteration(i));
    let first = scene.solve(Method::GaussNewton, &Source::Exact, &truths[0], show).map_err(failed)?;
    progress(Ranking::HEAD);
    let mut rankings = Vec::new();
    for (method, sources) in ways() {
        for source in sources {
            rankings.push(scene.compare(method, &source, &truths, progress)?);
        }
    }
    scene.units = fitting_units(&scene)?;
    for method in [Method::GaussNewton, Method::GradientDescent] {
        for source in [Source::Exact, Source::Differences { step: 1e-6 }] {
            rankings.push(scene.compare(method, &source, &truths, progress)?);
        }
    }

    let mut report = Report::new("cube-impulse");
    report.claims = claims(&rankings);
    report.summary.push(format!("{PUSHES} impulses, {STEPS} steps, six unknowns each; solved: ‖q_T − q*‖ ≤ 1e-6"));
    report.summary.push(Ranking::HEAD.into());
    report.summary.extend(rankings.iter().map(Ranking::line));
    report.figures = curves::figures("cube-impulse", &rankings);
    report.figures.push(("cube-impulse-smoothed.svg".into(), curves::ends(&rankings)));
    report.data = json!({ "results": rankings.iter().map(Ranking::to_json).collect::<Vec<_>>() });
    report.motion = Some(scene.motion(&first.x)?);
    Ok(report)
}

/// The impulse along each unknown that gives the free cube one unit of velocity: its inertia, which is diagonal.
fn fitting_units(scene: &Scene) -> Result<Vec<f64>, ExperimentError> {
    let nv = scene.model.nv();
    let mut M = vec![0.0; nv * nv];
    let done = Workspace::new(&scene.model).crba(&scene.model, &scene.start.q, &mut M);
    done.map_err(ExperimentError::during("weighing the cube"))?;
    Ok((0..nv).map(|j| M[j * nv + j]).collect())
}

fn ways() -> [(Method, Vec<Source>); 2] {
    let differences = |steps: &[f64]| steps.iter().map(|step| Source::Differences { step: *step }).collect::<Vec<_>>();
    let central: Vec<Source> = KAPPAS.iter().map(|kappa| Source::CentralPath { kappa: *kappa }).collect();
    let others = vec![Source::Bundled(BUNDLED), Source::InTurns(KAPPAS.to_vec())];
    let newton = [vec![Source::Exact], differences(&DISTANCES), central, others].concat();
    // gradient descent gets nowhere with any of them: two steps of differences show it
    let descent = [vec![Source::Exact], differences(&[1e-4, 1e-8])].concat();
    [(Method::GaussNewton, newton), (Method::GradientDescent, descent)]
}

fn claims(rankings: &[Ranking]) -> Vec<Claim> {
    let of = |method: Method, source: &str| {
        rankings.iter().filter(move |s| s.method == method).find(|s| s.source == source).cloned()
    };
    let turns = Source::InTurns(vec![]).name();
    let (Some(exact), Some(turns)) = (of(Method::GaussNewton, "exact"), of(Method::GaussNewton, &turns)) else {
        return vec![];
    };
    let fitting = |method: Method| of(method, "exact, in fitting units").map_or(0, |s| s.solved()) as f64;
    let descent = of(Method::GradientDescent, "exact").map_or(f64::NAN, |s| s.median_error());
    let differences = rankings.iter().filter(|s| s.method == Method::GaussNewton);
    let differences = differences.filter(|s| s.source.starts_with("differences") && !s.source.ends_with("units"));
    let differences: Vec<f64> = differences.map(|s| s.solved() as f64).collect();
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let all = exact.runs.len() as f64;
    vec![
        Claim::at_most(
            "Gauss–Newton with exact derivatives: the median error is rounding",
            exact.median_error(),
            1e-10,
        ),
        Claim::at_least(
            "gradient descent ends further off, both with exact derivatives: by a factor",
            descent / exact.median_error(),
            1e3,
        ),
        Claim::at_most(
            "finite differences recover no more impulses, in the mean over their steps",
            mean,
            exact.solved() as f64,
        ),
        Claim::at_least(
            "exact and smoothed derivatives in turns recover more",
            turns.solved() as f64,
            (exact.solved() as f64 + 1.0).min(all),
        ),
        Claim::at_most(
            "and lower the plateau of exact ones (the error that nine in ten reach): to a part of",
            turns.high_error() / exact.high_error(),
            0.1,
        ),
        Claim::at_least("in fitting units exact ones recover all by themselves", fitting(Method::GaussNewton), all),
        Claim::at_least("and gradient descent most", fitting(Method::GradientDescent), 0.75 * all),
    ]
}
