//! Constants of the solver chain, of proximal rounds and of the infeasibility certificates, each with its unit and its
//! reason. Those of Newton's own steps are in `newton.rs`, those of relaxation in
//! `relaxation.rs`.   (ncp-4, ncp-12, ncp-14)
//!
//! `docs/benchmarks-solver.md` has what some of them change on a corpus of hard problems. Weights are fractions of a
//! constraint's own mean inverse inertia, residuals are those of (ncp-3).

/// Iterations of Newton from the warm start: where it converges it takes one to five.
pub(super) const NEWTON_ITERATIONS: u32 = 10;
/// Newton is left after so many iterations in a row without a new best residual: it is cycling then.
pub(super) const NEWTON_PATIENCE: u32 = 3;
/// Impulses of a warm start that would change velocities by more than this many times the largest one are dropped: the rest
/// would be lost in rounding.
pub(super) const OUT_OF_SCALE: f64 = 1e4;

/// Fraction of the budget that is reserved for relaxed constraints.
pub(super) const RELAXATION_RESERVE: f64 = 0.1;
/// Fraction of the budget left by Newton that the first run of proximal rounds may take.
pub(super) const FIRST_RUN_FRACTION: f64 = 0.375;
/// Weights of the proximal term, least and largest. At 1 a constraint is as compliant as its bodies are mobile. Rounding is
/// amplified by the inverse of the weight, what a round leaves is multiplied by it: at 1e-8 each has half the digits.
pub(in crate::constraint) const WEIGHT: [f64; 2] = [1e-8, 1.0];
/// Weight of the first round from a warm start, whose impulses are right to a few percent or not at all.
pub(super) const WARM_WEIGHT: f64 = 1e-2;
/// Factor of the weight after a round that was solved, and after one that was not: half a level back.
pub(in crate::constraint) const WEIGHT_DOWN: f64 = 0.03;
pub(super) const WEIGHT_UP: f64 = 6.0;
/// Newton steps of a round.
pub(super) const ROUND_ITERATIONS: u32 = 20;
/// What Newton may leave of a round, as a fraction of the violation of the round: the next one changes that much anyway.
pub(super) const INEXACT: f64 = 0.3;
/// A round is abandoned after so many steps in a row shorter than this.
pub(super) const SHORT_STEP: f64 = 0.2;
pub(super) const SHORT_STEPS: u32 = 3;
/// The line search ends at this fraction of the first slope, after so many evaluations at the latest (a bracket of 1e-3).
pub(super) const SLOPE_RATIO: f64 = 0.1;
pub(super) const EVALUATIONS: u32 = 20;

/// A solved round whose violation is more than this fraction of the last one's makes no progress: each should reduce it
/// some thirtyfold.
pub(super) const NO_PROGRESS: f64 = 0.5;
/// After so many rounds in a row without progress a problem may be infeasible; the weight has fallen by 3e-5 meanwhile.
/// Where the last step ended so, one is enough.
pub(super) const IDLE_ROUNDS: u32 = 3;
/// A self-stress moves constraints by at most this fraction of what its impulses would if each acted alone.
pub(super) const SELF_STRESS: f64 = 1e-4;
/// Loads so many times larger than those that would stop all bodies of an island come from infeasible targets.
pub(in crate::constraint) const INFEASIBLE_LOAD: f64 = 1e2;
/// Residual below which nothing counts as infeasible: gaps of second order conflict with sticking by up to 1e-7.
pub(in crate::constraint) const INFEASIBLE_RESIDUAL: f64 = 1e-6;

/// The tolerance is relative to so many times the largest speed of a problem where that is below 1 m/s, and down to `LEAST_SPEED`
/// (m/s). Ten: one iteration of Newton from a good start leaves 1e-10 of the speeds or a little more.
pub(super) const SPEED_FACTOR: f64 = 10.0;
pub(super) const LEAST_SPEED: f64 = 1e-6;
/// Relative precision of the load distribution.
pub(super) const LOAD_DIGITS: f64 = 1e-5;
/// Factorizations that rounds may still take towards both once the tolerance is met. Contacts in heaps are infeasible by
/// some 1e-11 m/s, and nothing is gained by more.
pub(super) const POLISH: u32 = 6;
/// How many times stiffer than its compliance a redundant contact is in the end: each iteration reduces the error of the
/// load distribution by this factor.
pub(super) const STIFFER_THAN_COMPLIANCE: f64 = 1e2;
