//! Iterates and scratch memory of the solvers.

use super::active_mode::ActiveMode;
use super::interior_point::InteriorPoint;
use super::linear::Linear;
use super::local_response::LocalResponse;
use super::proximal::Proximal;
use crate::constraint::laws::cone::Square;
use crate::constraint::problem::Problem;
use crate::footprint::footprint;

/// Iterate and scratch memory of the solvers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Work {
    /// Impulses (rows) and their velocities.
    pub lambda: Vec<f64>,
    pub sigma: Vec<f64>,
    /// The impulses to which the velocities belong.
    pub(super) evaluated: Vec<f64>,
    pub(super) saved_lambda: Vec<f64>,
    pub(super) previous: Vec<f64>,
    pub(super) change: Vec<f64>,
    pub(super) velocity_change: Vec<f64>,
    /// The best iterate of all stages.
    pub(in crate::constraint) best: Vec<f64>,
    /// The best iterate with relaxed constraints while a round without relaxation is tried; or a self-stress.
    pub(in crate::constraint) saved: Vec<f64>,
    pub(super) w: Vec<f64>,
    pub(super) xi: Vec<f64>,
    pub(super) modes: Vec<ActiveMode>,
    pub(super) responses: Vec<LocalResponse>,
    pub(super) linear: Linear,
    pub(super) proximal: Proximal,
    pub(super) interior: InteriorPoint,
    pub(super) admm: [Vec<f64>; 3],
}

footprint!(Work: lambda, sigma, evaluated, saved_lambda, previous, change, velocity_change, best, saved, w, xi, modes, responses, linear, proximal, interior,
    admm);

impl Work {
    /// Room for a problem; impulses start at zero.
    pub fn reset(&mut self, problem: &Problem) {
        let rows = problem.rows();
        let vectors = [
            &mut self.lambda,
            &mut self.sigma,
            &mut self.saved_lambda,
            &mut self.previous,
            &mut self.change,
            &mut self.velocity_change,
            // where no iterate is finite, none is ever better than this one
            &mut self.best,
        ];
        for v in vectors {
            v.clear();
            v.resize(rows, 0.0);
        }
        for v in [&mut self.w, &mut self.xi] {
            v.clear();
            v.resize(problem.width(), 0.0);
        }
        self.modes.clear();
        self.modes.resize(problem.blocks.len(), ActiveMode::default());
        self.responses.clear();
        self.responses.resize(problem.blocks.len(), LocalResponse::default());
        self.linear.reset(problem);
    }

    /// Local compliance of block `k`, after [`center`](super::center).
    pub fn local_compliance(&self, problem: &Problem, k: usize) -> Square {
        self.interior.local_compliance(problem, k)
    }

    /// Velocity of the present impulses.
    pub fn evaluate(&mut self, problem: &Problem) {
        problem.velocity(&self.lambda, &mut self.sigma, &mut self.w, &mut self.xi);
        self.evaluated.clone_from(&self.lambda);
    }

    /// Change of velocity by `change`, in `velocity_change`.
    pub(super) fn apply_change(&mut self, problem: &Problem) {
        problem.apply(&self.change, &mut self.velocity_change, &mut self.w, &mut self.xi);
        self.evaluated.clear();
    }

    /// Change of velocity of all dofs by the present impulses, if that is how their velocity was computed; else nothing.
    pub fn velocity_of_dofs(&self, problem: &Problem) -> &[f64] {
        if self.evaluated == self.lambda { &self.xi[problem.dofs.start..][..problem.dofs.width()] } else { &[] }
    }

    pub(super) fn save(&mut self) {
        self.saved_lambda.copy_from_slice(&self.lambda);
    }

    pub(super) fn restore(&mut self) {
        self.lambda.copy_from_slice(&self.saved_lambda);
    }

    /// The iterate of least violation of an infeasible problem becomes the best, its self-stress is saved. Returns the violation
    /// (m/s).   (ncp-14)
    pub(in crate::constraint) fn take_least_violation(&mut self) -> f64 {
        let Work { saved, proximal, best, .. } = self;
        saved.clear();
        saved.extend(proximal.lambda.iter().zip(&proximal.hat).map(|(new, old)| new - old));
        best.copy_from_slice(&proximal.least_violation);
        proximal.violation
    }
}
