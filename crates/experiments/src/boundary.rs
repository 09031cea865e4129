//! Derivatives at the boundary between two kinds of motion: where finite differences blow up, and where they do not.

use crate::comparison::Scene;
use crate::report::Claim;
use crate::throw::{Throw, ThrowError, Unknown};
use crate::{ExperimentError, comparison};
use serde_json::{Value, json};
use slipstick::linalg::MatMut;
use slipstick::optimize::LeastSquares;
use slipstick::{Model, State};
use slipstick_plot::{Panel, Scale, Series, exponent, figure};

/// A cube falls this far (m) while it moves along and turns about its first axis.
const HEIGHT: f64 = 0.05;
const ALONG: f64 = 1.0;
const STEPS: usize = 200;
/// First angular velocities that are looked at, up to this one (rad/s), in so many pieces.
const FASTEST: f64 = 1.0;
const PIECES: usize = 100;
/// Halvings of the piece with the largest change: down to the last digits.
const HALVINGS: usize = 44;
/// Steps of the differences (rad/s).
const DISTANCES: [i32; 9] = [-9, -8, -7, -6, -5, -4, -3, -2, -1];

/// Of one kind of contact detection.
pub(crate) struct Boundary {
    name: &'static str,
    /// Where the last pose changes most abruptly (rad/s), and by how much over the last digits.
    at: f64,
    pub jump: f64,
    /// Norm of the derivative of the last pose by central differences, over their step.
    differences: Vec<(f64, f64)>,
    /// And the exact one.
    exact: f64,
}

impl Boundary {
    /// Differences grow like the step to this power; −1 at a jump.
    pub fn power(&self) -> f64 {
        exponent(&self.differences)
    }

    /// The largest difference over the exact derivative.
    pub fn excess(&self) -> f64 {
        self.differences.iter().fold(0.0f64, |most, d| most.max(d.1)) / self.exact
    }

    pub fn line(&self) -> String {
        format!(
            "{}: steepest at {:.9} rad/s, where the last pose jumps by {:.1e}; differences grow like h^{:.2}, exact derivative {:.2}",
            self.name,
            self.at,
            self.jump,
            self.power(),
            self.exact
        )
    }

    pub fn to_json(&self) -> Value {
        json!({ "detection": self.name, "at": self.at, "jump": self.jump, "power": self.power(), "exact": self.exact,
            "differences": self.differences })
    }
}

/// A line through all throws: the angular velocity about the first axis, everything else as it is.
struct Line {
    throw: Throw,
    v: Vec<f64>,
}

impl Line {
    fn new(model: &Model) -> Result<Line, ExperimentError> {
        let setup = ExperimentError::during("dropping the cube");
        let mut start = State::keyframe(model, "home").map_err(setup)?;
        start.q[2] += HEIGHT;
        let mut v = vec![0.0; model.nv()];
        v[0] = ALONG;
        let scene = Scene {
            model: model.clone(),
            start,
            steps: STEPS,
            unknown: Unknown::Velocity,
            guess: v.clone(),
            max_iterations: 0,
            units: vec![],
        };
        Ok(Line { throw: scene.throw(&v, None).map_err(comparison::failed)?, v })
    }

    /// The last pose.
    fn pose(&mut self, omega: f64) -> Result<Vec<f64>, ThrowError> {
        let mut pose = vec![0.0; self.v.len()];
        self.v[3] = omega;
        self.throw.residual(&self.v, &mut pose)?;
        Ok(pose)
    }

    /// The exact derivative of the last pose.
    fn slope(&mut self, omega: f64) -> Result<f64, ThrowError> {
        let (n, _) = (self.v.len(), self.pose(omega)?);
        let mut J = vec![0.0; n * n];
        self.throw.jacobian(&self.v, MatMut::new(&mut J, n, n))?;
        Ok(J.chunks_exact(n).fold(0.0f64, |s, row| s.hypot(row[3])))
    }

    /// The two ends of the smallest piece around the most abrupt change.
    fn steepest(&mut self) -> Result<[(f64, Vec<f64>); 2], ThrowError> {
        let omega = |k: usize| FASTEST * k as f64 / PIECES as f64;
        let mut all = Vec::new();
        for k in 0..=PIECES {
            all.push((omega(k), self.pose(omega(k))?));
        }
        let change = |k: &usize| apart(&all[*k].1, &all[*k + 1].1);
        let k = (0..PIECES).max_by(|a, b| change(a).total_cmp(&change(b))).unwrap_or(0);
        let [mut low, mut high] = [all[k].clone(), all[k + 1].clone()];
        for _ in 0..HALVINGS {
            let omega = 0.5 * (low.0 + high.0);
            let middle = (omega, self.pose(omega)?);
            if apart(&low.1, &middle.1) > apart(&middle.1, &high.1) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok([low, high])
    }
}

/// Looks for the boundary and differentiates there, with contacts that are seen from `contact_distance` on.
pub(crate) fn look(model: &Model, name: &'static str, contact_distance: f64) -> Result<Boundary, ExperimentError> {
    let mut options = model.options().clone();
    options.contact_distance = contact_distance;
    let model = model.with_options(options).map_err(ExperimentError::during("setting the contact distance"))?;
    let (mut line, failed) = (Line::new(&model)?, ExperimentError::during("looking for a boundary"));
    let [low, high] = line.steepest().map_err(&failed)?;
    let mut differences = Vec::new();
    for h in DISTANCES.map(|k| 10f64.powi(k)) {
        let [a, b] = [line.pose(low.0 - h).map_err(&failed)?, line.pose(low.0 + h).map_err(&failed)?];
        differences.push((h, apart(&a, &b) / (2.0 * h)));
    }
    let exact = line.slope(low.0).map_err(&failed)?;
    Ok(Boundary { name, at: low.0, jump: apart(&low.1, &high.1), differences, exact })
}

/// Of what [`look`] finds with contacts seen ahead, and with contacts seen when they overlap.
pub(crate) fn claims([ahead, overlap]: &[Boundary; 2]) -> Vec<Claim> {
    vec![
        Claim::at_most("where contacts are seen ahead the motion has no jump along the line", ahead.jump, 1e-9),
        Claim::at_most("and differences stay near the exact derivative: within a factor", ahead.excess(), 3.0),
        Claim::at_least("where they are seen when they overlap it has", overlap.jump, 1e-3),
        Claim::at_most("and differences grow like h to the power", overlap.power(), -0.9),
    ]
}

pub(crate) fn picture(all: &[Boundary]) -> String {
    let series = |b: &Boundary| {
        let exact = b.differences.iter().map(|d| (d.0, b.exact)).collect();
        [
            Series::new(format!("differences, {}", b.name), b.differences.clone()).dashed().marked(),
            Series::new(format!("exact, {}", b.name), exact),
        ]
    };
    let labels = ["step of the difference (rad/s)", "norm of the derivative of the last pose"];
    figure(&[Panel::curves("", labels, [Scale::Log; 2], all.iter().flat_map(series).collect()).wide()])
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0f64, |s, (a, b)| s.hypot(a - b))
}
