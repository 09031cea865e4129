//! Frictional contact, joint limits, dry friction and bilateral constraints as one cone program, and its solvers.
//!
//! [`Problem`] is what remains of a robot: cones, a Delassus matrix, a free velocity. [`ncp`](solve) solves it,
//! [`residual()`] grades the answer. `docs/math/contact.md` has the equations.

mod assembly;
mod laws;
mod load_center;
mod modes;
mod ncp;
mod problem;
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
pub(crate) use laws::surface::{BiasSlope, friction_shares, restitution_shares};
pub(crate) use load_center::center;
pub(crate) use modes::{AT_REST, UNDECIDED, contact_margins, mode};
pub(crate) use problem::delassus::Delassus;
pub(crate) use problem::stiffened::Stiffened;
pub(crate) use problem::{Block, Place, TWIST, rows_of};
pub(crate) use rows::frames::FrameRows;
pub(crate) use rows::joints::JointRowKind;
pub(crate) use warm::WarmImpulses;

use crate::collision::ContactSet;
use crate::dynamics::{FreeMotion, Kinematics, StepMass};
use crate::model::{GradientMode, Model};

/// How often a problem is made again with what was left out of it, and the least budget with which it is (factorizations).
const ROUNDS: usize = 8;
const ANEW: u32 = 20;

/// Solves for the impulses of a step and writes `v_next = v_free + M̂⁻¹ Jᵀ λ`.   (contact-8)
///
/// What is near but not touched stays out of the problem until its velocity shows that it belongs there. `again` goes on within
/// the budget of the step, with contacts that were found since.
pub(crate) fn resolve(
    model: &Model,
    q: &[f64],
    kin: &Kinematics,
    mass: &mut StepMass,
    free: &FreeMotion,
    contacts: &ContactSet,
    again: bool,
    warm: &mut WarmImpulses,
    assembly: &mut Assembly,
    solution: &mut Solution,
    v_next: &mut [f64],
) -> SolveReport {
    let room = assembly.capacity() + solution.capacity() + warm.capacity();
    if let GradientMode::Central { kappa } = model.options().gradient {
        let report = resolve_centrally(model, kappa, q, kin, mass, free, contacts, assembly, solution, v_next);
        assembly.keep_impulses(contacts, solution.lambda(), warm);
        return report;
    }
    if !again {
        assembly.joined.begin_step();
    }
    assembly.collect(model, q, kin, free, contacts, rows::joints::NEAR, is_near);
    let mut report = SolveReport::default();
    for _ in 0..ROUNDS {
        assembly.assemble(model, kin, mass, &free.v, contacts);
        report = solve_step(model, contacts, warm, assembly, solution);
        apply_impulses(model, mass, &free.v, assembly, solution, v_next);
        (report.iterations, report.total_iterations) = (assembly.joined.most_spent(), assembly.joined.total_spent());
        // a problem that is made anew needs some of the budget
        let spent = report.iterations + ANEW > model.options().max_iterations;
        if !assembly.include_passed(model, q, kin, v_next, contacts) || spent {
            break;
        }
        assembly.keep_impulses(contacts, solution.lambda(), warm);
    }
    assembly.keep_impulses(contacts, solution.lambda(), warm);
    assembly.growths += usize::from(assembly.capacity() + solution.capacity() + warm.capacity() > room);
    report.growths = assembly.growths + contacts.growths();
    report
}

/// `v_next = v_free + M̂⁻¹ Jᵀ λ`.   (contact-8)
fn apply_impulses(
    model: &Model,
    mass: &mut StepMass,
    v_free: &[f64],
    assembly: &Assembly,
    solution: &Solution,
    v_next: &mut [f64],
) {
    if assembly.problem.blocks.is_empty() {
        return v_next.copy_from_slice(v_free);
    }
    if solution.moved.len() == v_next.len() {
        v_next.copy_from_slice(&solution.moved);
    } else {
        assembly.generalized_impulse(solution.lambda(), v_next);
        mass.solve(model, v_next);
    }
    v_next.iter_mut().zip(v_free).for_each(|(v, free)| *v += free);
}

/// Resolves contact on the central path: everything near takes part, since contacts act at a distance there.   (ncp-13)
pub(crate) fn resolve_centrally(
    model: &Model,
    kappa: f64,
    q: &[f64],
    kin: &Kinematics,
    mass: &mut StepMass,
    free: &FreeMotion,
    contacts: &ContactSet,
    assembly: &mut Assembly,
    solution: &mut Solution,
    v_next: &mut [f64],
) -> SolveReport {
    assembly.collect(model, q, kin, free, contacts, rows::joints::FAR, |_, _| true);
    assembly.assemble(model, kin, mass, &free.v, contacts);
    solution.reset(&assembly.problem);
    let (kappa, limit) = (kappa * unit_of_complementarity(model), model.options().max_iterations);
    let problem = &mut assembly.problem;
    let outcomes = (0..problem.islands.len()).map(|n| solution.center_island(problem, n, kappa, limit));
    let outcome = outcomes.fold(ncp::Outcome::EMPTY, ncp::Outcome::and);
    apply_impulses(model, mass, &free.v, assembly, solution, v_next);
    assembly.move_bodies(model, kin, v_next);
    solution::report(&assembly.problem, outcome, solution)
}

/// The robot's weight over a step times the velocity that gravity gives in one: the same for all states, and held fixed
/// when masses are differentiated (J).
fn unit_of_complementarity(model: &Model) -> f64 {
    let speed = model.options().dt * STANDARD_GRAVITY;
    model.total_mass() * speed * speed
}

/// Of the earth, whatever the model's own (m/s²).
const STANDARD_GRAVITY: f64 = 9.81;

/// One island, with what is left of its budget.
fn solve_island(model: &Model, assembly: &mut Assembly, solution: &mut Solution, n: usize) -> ncp::Outcome {
    let first = assembly.problem.islands[n].tree;
    let budget = assembly.joined.left(first, model.options().max_iterations);
    let outcome = solution.solve_island(&mut assembly.problem, n, model.options(), budget);
    assembly.joined.spend(first, outcome.total);
    outcome
}

/// All islands, one after the other. Where position correction takes too much energy it gets less of it.   (contact-16)
fn solve_step(
    model: &Model,
    contacts: &ContactSet,
    warm: &WarmImpulses,
    assembly: &mut Assembly,
    solution: &mut Solution,
) -> SolveReport {
    solution.reset(&assembly.problem);
    assembly.warm_start(contacts, warm, &mut solution.scratch.start);
    let (mut outcome, mut correction) = (ncp::Outcome::EMPTY, 1.0);
    for n in 0..assembly.problem.islands.len() {
        let mut one = solve_island(model, assembly, solution, n);
        let mut tries = [false, false, true].into_iter();
        while let Some(excess) = assembly.excess(model, solution, n) {
            let (Some(last), Some(share)) = (tries.next(), assembly.smaller_share(n, excess)) else {
                let part = assembly.bounded_part(solution, n, excess);
                one.residual = solution.scale_impulses(&assembly.problem, n, part);
                one.status = Status::NotConverged;
                break;
            };
            let share = if last { 0.0 } else { share };
            correction = f64::min(correction, share);
            assembly.share_correction(n, share);
            solution.start_again(assembly.problem.islands[n].rows.clone());
            let again = solve_island(model, assembly, solution, n);
            one = ncp::Outcome { total: one.total + again.total, ..again };
        }
        outcome = outcome.and(one);
    }
    SolveReport { correction, ..solution::report(&assembly.problem, outcome, solution) }
}
