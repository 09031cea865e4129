//! Frictional contact, joint limits, dry friction and bilateral constraints as one cone program, and its solvers.
//!
//! [`Problem`] is what remains of a robot: cones, a Delassus matrix, a free velocity. [`ncp`](solve) solves it,
//! [`residual()`] grades the answer. `docs/math/contact.md` has the equations.

mod assembly;
mod cone;
mod equality;
mod jacobian;
mod limits;
mod modes;
mod ncp;
mod problem;
mod report;
mod residual;
mod solution;
mod surface;
mod warm;

pub use cone::Cone;
pub use modes::Mode;
pub use problem::Problem;
pub use report::{SolveReport, Stage, Status};
pub use residual::residual;
pub use solution::{Solution, solve};
pub use warm::WarmStart;

pub(crate) use assembly::{Assembly, Source, relative_velocity};
pub(crate) use equality::PairRows;
pub(crate) use limits::JointRowKind;
pub(crate) use modes::contact_margins;
pub(crate) use problem::{Block, TWIST, three};
pub(crate) use surface::{BiasSlope, friction_shares, restitution_shares};
pub(crate) use warm::WarmImpulses;

use crate::collision::ContactSet;
use crate::dynamics::{Kinematics, MassFactor, solve_vector};
use crate::model::Model;

/// How often a problem is made again with what was left out of it.
const ROUNDS: usize = 8;

/// Solves for the impulses of a step and writes `v_next = v_free + M̂⁻¹ Jᵀ λ`.   (contact-8)
///
/// What is near but not touched stays out of the problem until its velocity shows that it belongs there.
pub(crate) fn resolve(
    model: &Model,
    q: &[f64],
    kin: &Kinematics,
    mass: &MassFactor,
    v_free: &[f64],
    contacts: &ContactSet,
    warm: &mut WarmImpulses,
    assembly: &mut Assembly,
    solution: &mut Solution,
    v_next: &mut [f64],
) -> SolveReport {
    let room = assembly.capacity() + solution.capacity() + warm.capacity();
    assembly.collect(model, q, kin, v_free, contacts);
    let mut report = SolveReport::default();
    for _ in 0..ROUNDS {
        assembly.assemble(model, kin, mass, v_free, contacts);
        report = solve_step(model, contacts, warm, assembly, solution);
        assembly.generalised_impulse(solution.lambda(), v_next);
        solve_vector(model, mass, v_next);
        v_next.iter_mut().zip(v_free).for_each(|(v, free)| *v += free);
        if !assembly.include_passed(model, kin, v_next, contacts) {
            break;
        }
        assembly.keep_impulses(contacts, solution.lambda(), warm);
    }
    assembly.keep_impulses(contacts, solution.lambda(), warm);
    assembly.growths += usize::from(assembly.capacity() + solution.capacity() + warm.capacity() > room);
    report.growths = assembly.growths + contacts.growths();
    report
}

/// A shift by the compliance of patches beyond this means impulses that no rigid contact would need (m/s): the demands
/// are met by squeezing.
const IMPOSSIBLE: f64 = 1e-3;

/// How far the compliance of patches moves velocities (m/s).
fn patch_shift(assembly: &Assembly, solution: &Solution) -> f64 {
    let of = |b: &Block| b.relative_compliance * b.mean * solution.lambda()[b.row + b.cone.rows() - 1].abs();
    assembly.problem.blocks.iter().map(of).fold(0.0, f64::max)
}

/// With position correction and restitution; without them if their demands contradict each other.   (contact-5)
fn solve_step(
    model: &Model,
    contacts: &ContactSet,
    warm: &WarmImpulses,
    assembly: &mut Assembly,
    solution: &mut Solution,
) -> SolveReport {
    let options = model.options();
    let solve = |assembly: &mut Assembly, solution: &mut Solution| {
        solution.work.reset(&assembly.problem);
        assembly.warm_start(contacts, warm, &mut solution.work.lambda);
        ncp::solve(&mut assembly.problem, options.solver, options.tolerance, options.max_iterations, &mut solution.work)
    };
    let mut outcome = solve(assembly, solution);
    if outcome.status == Status::NotConverged || patch_shift(assembly, solution) > IMPOSSIBLE {
        solution.keep_aside();
        assembly.drop_correction(model);
        let second = solve(assembly, solution);
        if second.status == Status::Converged {
            outcome = ncp::Outcome { status: Status::CorrectionDropped, ..second };
        } else {
            assembly.correct(model);
            solution.take_back(&assembly.problem);
        }
    }
    solution::report(&assembly.problem, outcome, solution)
}
