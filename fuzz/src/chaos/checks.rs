//! What must hold for every step.

use super::energy::Balance;
use super::table::Tally;
use slipstick::{Model, State, Status, Step, StepError, ncp};

/// The promises of the two good statuses, with room for the rounding of a dense matrix: it is made anew from the robot, row by
/// row, while the solver saw factors of it.
const CONVERGED: f64 = 1e-7;
/// Rows of a problem up to which it is graded: the dense matrix grows with their square.
const MOST_ROWS: usize = 240;

/// What is wrong with a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    pub kind: Kind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    NonFinite,
    Unreported,
    Energy,
    Refused,
}

impl Wrong {
    fn new(kind: Kind, text: String) -> Option<Wrong> {
        Some(Wrong { kind, text })
    }

    pub fn count(&self, tally: &mut Tally) {
        *match self.kind {
            Kind::NonFinite => &mut tally.nonfinite,
            Kind::Unreported => &mut tally.unreported,
            Kind::Energy => &mut tally.energy,
            Kind::Refused => &mut tally.refused,
        } += 1;
    }
}

/// Counts how a step ended, and looks at what it says.
pub fn finished(step: &mut Step, grade: bool, tally: &mut Tally) -> Option<Wrong> {
    let report = *step.report();
    match report.status {
        Status::Converged | Status::Acceptable => tally.converged += 1,
        Status::Infeasible => tally.infeasible += 1,
        _ => tally.unconverged += 1,
    }
    tally.corrected += u64::from(report.correction < 1.0);
    let numbers =
        [step.v_next(), step.acceleration(), &[report.residual, report.correction, step.largest_normal_impulse()]];
    if let Some(x) = numbers.into_iter().flatten().find(|x| !x.is_finite()) {
        return Wrong::new(Kind::NonFinite, format!("a result is {x}"));
    }
    if !grade || report.rows == 0 || report.rows > MOST_ROWS || report.status > Status::Acceptable {
        return None;
    }
    tally.graded += 1;
    let (problem, lambda) = match step.problem() {
        Ok(found) => found,
        Err(e) => return Wrong::new(Kind::Refused, format!("the problem of a finished step is refused: {e}")),
    };
    match ncp::residual(&problem, lambda) {
        Ok(residual) if residual <= CONVERGED => None,
        Ok(residual) => Wrong::new(
            Kind::Unreported,
            format!("{}, {:e} reported, and the residual is {residual:e}", report.status.name(), report.residual),
        ),
        Err(e) => Wrong::new(Kind::NonFinite, format!("impulses of a finished step: {e}")),
    }
}

/// Counts a typed error; a state that the library made itself must not be refused.
pub fn error(error: &StepError, tally: &mut Tally) -> Option<Wrong> {
    match error {
        StepError::Diverged { .. } => tally.diverged += 1,
        StepError::SingularMass { .. } => tally.singular += 1,
        other => return Wrong::new(Kind::Refused, format!("a state that a step has made is refused: {other}")),
    }
    None
}

/// The state after a step: finite, and without energy from nowhere where the solver says that all is well.
pub fn moved(
    model: &Model,
    balance: &mut Balance,
    x: &State,
    next: &State,
    given: (&[f64], Option<&[f64]>),
    status: Status,
) -> Option<Wrong> {
    if let Some(x) = next.q.iter().chain(&next.v).chain(&next.act).find(|x| !x.is_finite()) {
        return Wrong::new(Kind::NonFinite, format!("a coordinate is {x}"));
    }
    let gain = balance.of(model, x, [&next.q, &next.v], given.0, given.1)?;
    let is_told = status == Status::NotConverged;
    match gain.is_too_much() && !is_told {
        true => Wrong::new(
            Kind::Energy,
            format!("{}: {:e} J gained, {:e} J allowed", status.name(), gain.gained, gain.allowed),
        ),
        false => None,
    }
}
