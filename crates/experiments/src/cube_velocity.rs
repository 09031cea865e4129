//! With which velocity was a cube set going that slides to a given pose?

use crate::boundary;
use crate::comparison::{Scene, Source, failed};
use crate::curves;
use crate::ranking::Ranking;
use crate::report::{Claim, Report};
use crate::throw::Unknown;
use crate::{ExperimentError, Progress, Settings};
use serde_json::json;
use slipstick::State;
use slipstick::optimize::Method;

/// Steps of 1 ms from the first to the last pose.
const STEPS: usize = 100;
/// Throws to recover.
const THROWS: usize = 16;
const MAX_ITERATIONS: usize = 40;
/// Steps of finite differences (m/s and rad/s).
pub(crate) const DISTANCES: [f64; 4] = [1e-2, 1e-4, 1e-6, 1e-8];

/// Recovers the first velocities (six numbers each) of a cube that slides on the floor from its last pose, by Gauss–Newton,
/// Levenberg–Marquardt and gradient descent, with exact derivatives and with finite differences; and shows what finite
/// differences do where the motion jumps.
pub fn cube_velocity(_: &Settings, progress: Progress) -> Result<Report, ExperimentError> {
    let model = slipstick::builtin("cube").map_err(ExperimentError::during("loading the cube"))?;
    let start = State::keyframe(&model, "home").map_err(ExperimentError::during("placing the cube"))?;
    let guess = vec![2.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let (unknown, steps) = (Unknown::Velocity, STEPS);
    let scene = Scene { model, start, steps, unknown, guess, max_iterations: MAX_ITERATIONS, units: vec![] };
    let truths = throws();

    let show = |i: &slipstick::optimize::Iteration| progress(&curves::iteration(i));
    let first = scene.solve(Method::GaussNewton, &Source::Exact, &truths[0], show).map_err(failed)?;
    progress(Ranking::HEAD);
    let mut rankings = Vec::new();
    for method in Method::ALL {
        let differences = DISTANCES.map(|step| Source::Differences { step });
        for source in [Source::Exact].iter().chain(&differences) {
            rankings.push(scene.compare(method, source, &truths, progress)?);
        }
    }
    let ahead = scene.model.options().contact_distance;
    let boundaries = [
        boundary::look(&scene.model, "contacts seen ahead", ahead)?,
        boundary::look(&scene.model, "contacts seen when they overlap", 0.0)?,
    ];

    let mut report = Report::new("cube-velocity");
    report.claims = claims(&rankings);
    report.claims.extend(boundary::claims(&boundaries));
    report.summary.push(format!("{THROWS} throws of {STEPS} steps, six unknowns each; solved: ‖q_T − q*‖ ≤ 1e-6"));
    report.summary.push(Ranking::HEAD.into());
    report.summary.extend(rankings.iter().map(Ranking::line));
    report.summary.extend(boundaries.iter().map(boundary::Boundary::line));
    report.figures = curves::figures("cube-velocity", &rankings);
    report.figures.push(("cube-velocity-boundary.svg".into(), boundary::picture(&boundaries)));
    report.data = json!({ "results": rankings.iter().map(Ranking::to_json).collect::<Vec<_>>(),
        "boundaries": boundaries.iter().map(boundary::Boundary::to_json).collect::<Vec<_>>() });
    report.motion = Some(scene.motion(&first.x)?);
    Ok(report)
}

/// Velocities that lead through sliding all the way: spread evenly over a disc and over spins of either sense.
fn throws() -> Vec<Vec<f64>> {
    curves::spread(THROWS).map(|[x, y, spin]| vec![2.0 + x, y, 0.0, 0.0, 0.0, 4.0 * spin]).collect()
}

fn claims(rankings: &[Ranking]) -> Vec<Claim> {
    let of = |method: Method| rankings.iter().filter(move |s| s.method == method);
    let exact = |method: Method| of(method).find(|s| s.source == "exact").cloned();
    let (Some(newton), Some(descent)) = (exact(Method::GaussNewton), exact(Method::GradientDescent)) else {
        return vec![];
    };
    let differences = || of(Method::GaussNewton).filter(|s| s.source != "exact");
    let worst = |s: &Ranking| s.errors().last().copied().unwrap_or(f64::NAN);
    let farthest = differences().map(worst).fold(0.0, f64::max);
    vec![
        Claim::at_least(
            "Gauss–Newton with exact derivatives recovers every throw",
            newton.solved() as f64,
            newton.runs.len() as f64,
        ),
        Claim::at_most("and nine in ten of them down to rounding", newton.high_error(), 1e-11),
        Claim::at_least(
            "gradient descent needs more iterations, both with exact derivatives: by a factor",
            descent.iterations() / newton.iterations(),
            1.5,
        ),
        Claim::at_least(
            "the worst throw of finite differences ends further off, over all steps: by a factor",
            farthest / worst(&newton),
            2.0,
        ),
    ]
}
