//! Frictional contact, joint limits, dry friction and bilateral constraints as one cone program, and its solvers.
//!
//! [`Problem`] is what remains of a robot: cones, a Delassus matrix, a free velocity. [`ncp`](solve) solves it,
//! [`residual()`] grades the solution. `docs/math/contact.md` has the equations.
#![allow(non_snake_case)]

mod assembly;
mod central_path;
mod laws;
mod load_center;
mod modes;
mod ncp;
mod problem;
mod relaxation;
mod report;
mod rows;
mod solution;
mod warm;

pub use laws::cone::Cone;
pub use modes::Mode;
pub use problem::Problem;
pub use problem::residual::residual;
pub use report::{Iterations, SolveReport, Stage, Status};
pub use solution::{Solution, solve};
pub use warm::WarmStart;

use assembly::is_near;
pub(crate) use assembly::{Assembly, Source, relative_velocity};
pub(crate) use central_path::resolve_centrally;
pub(crate) use laws::surface::{BiasSlope, friction_fractions, restitution_fractions};
pub(crate) use load_center::center;
pub(crate) use modes::{AT_REST, contact_margins, is_undecided, mode, undecided};
pub(crate) use problem::delassus::Delassus;
pub(crate) use problem::stiffened::Stiffened;
pub(crate) use problem::{Block, RowSpace, TWIST, rows_of};
pub(crate) use rows::frames::FrameRows;
pub(crate) use rows::joints::JointRowKind;
pub(crate) use warm::WarmImpulses;

use crate::collision::ContactSet;
use crate::dynamics::{FreeMotion, Kinematics, StepMass, body_velocities};
use crate::footprint::footprint;
use crate::model::{GradientMode, Model, Options};
use crate::spatial::Motion;
use ncp::{Outcome, Search};

/// How often a problem is assembled again with constraints that were inactive, and the least budget with which it is
/// (factorizations).
const ASSEMBLIES: usize = 8;
const LEAST_BUDGET: u32 = 20;

/// What the constraints of a step are assembled from.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub model: &'a Model,
    /// Configuration (nq).
    pub q: &'a [f64],
    pub kin: &'a Kinematics,
    pub free: &'a FreeMotion,
    pub contacts: &'a ContactSet,
}

/// Velocities at the end of a step.
#[derive(Debug, Clone)]
pub(crate) struct EndVelocity {
    /// Velocities of the dofs (nv).
    pub v: Vec<f64>,
    /// Velocities of the bodies, world axes.
    pub V: Vec<Motion>,
}

footprint!(EndVelocity: v, V);

impl EndVelocity {
    /// Memory for a model.
    pub fn new(model: &Model) -> EndVelocity {
        EndVelocity { v: vec![0.0; model.nv()], V: vec![Motion::ZERO; model.n_bodies()] }
    }

    /// `v = v_free + M̂⁻¹ Jᵀ λ` and the velocities of the bodies.   (contact-8)
    fn write(&mut self, scene: &Scene, mass: &mut StepMass, assembly: &Assembly, solution: &Solution) {
        let (model, v) = (scene.model, &mut self.v);
        if assembly.problem.blocks.is_empty() {
            v.copy_from_slice(&scene.free.v);
        } else {
            if solution.velocity_change.len() == v.len() {
                v.copy_from_slice(&solution.velocity_change);
            } else {
                assembly.generalized_impulse(solution.lambda(), v);
                mass.solve(model, v);
            }
            v.iter_mut().zip(&scene.free.v).for_each(|(v, free)| *v += free);
        }
        body_velocities(model, scene.kin, v, &mut self.V);
    }
}

/// Solves for the impulses of a step and the velocities at its end.   (contact-8)
///
/// Constraints that are near but not active stay out of the problem until the velocities violate them. `again` continues
/// within the budget of the step, with contacts that were found since.
pub(crate) fn resolve(
    scene: &Scene,
    again: bool,
    mass: &mut StepMass,
    warm: &mut WarmImpulses,
    assembly: &mut Assembly,
    solution: &mut Solution,
    end: &mut EndVelocity,
) -> SolveReport {
    let options = scene.model.options();
    if let GradientMode::Central { kappa } = options.gradient {
        let mut report = resolve_centrally(scene, kappa, mass, assembly, solution, end);
        assembly.store_impulses(scene.contacts, solution.lambda(), warm);
        report.growths = assembly.count_growths(scene, solution, warm);
        return report;
    }
    if !again {
        assembly.joined.begin_step();
    }
    assembly.collect(scene, rows::joints::EXACT_RANGE, is_near);
    let mut report = SolveReport::default();
    for round in 1..=ASSEMBLIES {
        assembly.assemble(scene, mass);
        solution.reset(&assembly.problem);
        assembly.warm_start(scene.contacts, warm, &mut solution.scratch.start);
        let (mut outcome, mut correction) = (Outcome::EMPTY, 1.0);
        for n in 0..assembly.problem.islands.len() {
            let first = assembly.problem.islands[n].tree;
            let budget = assembly.joined.left(first, options.max_iterations);
            let one = solve_island(&mut assembly.problem, n, options, budget, solution);
            assembly.joined.spend(first, one.total);
            outcome = outcome.and(limit_energy(scene.model, assembly, solution, n, one, &mut correction));
        }
        end.write(scene, mass, assembly, solution);
        report = SolveReport { correction, ..solution::report(&assembly.problem, outcome, solution) };
        (report.iterations, report.total_iterations) = (assembly.joined.most_spent(), assembly.joined.total_spent());
        assembly.store_impulses(scene.contacts, solution.lambda(), warm);
        if !assembly.include_violated(scene, end) {
            break;
        }
        // a problem that is assembled again needs some of the budget
        if report.iterations + LEAST_BUDGET > options.max_iterations || round == ASSEMBLIES {
            report.status = report.status.max(Status::NotConverged);
            break;
        }
    }
    report.growths = assembly.count_growths(scene, solution, warm);
    report
}

/// Solves an island from the impulses of the start, with at most `budget` factorizations; relaxes its constraints where they are
/// infeasible.   (ncp-4, ncp-14)
pub(crate) fn solve_island(
    problem: &mut Problem,
    n: usize,
    options: &Options,
    budget: u32,
    solution: &mut Solution,
) -> Outcome {
    let (island, work) = solution.open_island(problem, n);
    let mut search = Search::new(island, options.tolerance, budget);
    let end = ncp::solve(island, options.solver, &mut search, work);
    let infeasible = relaxation::relax_infeasible(island, &mut search, work, end);
    let outcome = ncp::certify(island, &search, work, infeasible);
    solution.close_island(problem, n);
    outcome
}

/// Scales down the position correction of an island where it adds too much energy, and solves the island
/// again.   (contact-16)
fn limit_energy(
    model: &Model,
    assembly: &mut Assembly,
    solution: &mut Solution,
    n: usize,
    mut outcome: Outcome,
    correction: &mut f64,
) -> Outcome {
    let mut tries = [false, false, true].into_iter();
    while let Some(excess) = assembly.excess(model, solution, n) {
        let (Some(last), Some(fraction)) = (tries.next(), assembly.smaller_correction(n, excess)) else {
            let fraction = assembly.bounded_fraction(solution, n, excess);
            outcome.residual = solution.scale_impulses(&assembly.problem, n, fraction);
            outcome.status = Status::NotConverged;
            break;
        };
        let fraction = if last { 0.0 } else { fraction };
        *correction = f64::min(*correction, fraction);
        assembly.scale_correction(n, fraction);
        solution.restart_rows(assembly.problem.islands[n].rows.clone());
        let first = assembly.problem.islands[n].tree;
        let budget = assembly.joined.left(first, model.options().max_iterations);
        let again = solve_island(&mut assembly.problem, n, model.options(), budget, solution);
        assembly.joined.spend(first, again.total);
        outcome = Outcome { total: outcome.total + again.total, ..again };
    }
    outcome
}
