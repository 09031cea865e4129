//! Active mode of a constraint, and its linear response in it.   (ncp-6)
#![allow(non_snake_case)]

use super::linear::is_frictionless;
use super::local_response::LocalResponse;
use super::tuning::{STIFFER_THAN_COMPLIANCE, WEIGHT};
use crate::constraint::laws::cone::{Cone, Rows, Square, length};
use crate::constraint::problem::Block;

/// The piece of its law that is active for a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ActiveMode {
    /// No impulse; the lower end of a box.
    #[default]
    Break,
    /// Sticking, pushing, inside a box.
    Stick,
    /// Sliding; the upper end of a box.
    Slide,
}

/// The response of a block in a given mode, with a proximal term of `weight` (a fraction of its inverse inertia).   (ncp-6)
pub(super) fn response_in_mode(b: &Block, mode: ActiveMode, weight: f64, lambda: Rows, sigma: Rows) -> LocalResponse {
    let stiffness = ProximalStiffness::new(b, weight);
    let response = match (b.cone, mode) {
        (Cone::Friction { .. }, ActiveMode::Break) => LocalResponse::fixed(lambda.map(|x| -x)),
        (Cone::Friction { .. }, ActiveMode::Stick) => stick_response(stiffness, sigma),
        (Cone::Friction { .. }, ActiveMode::Slide) if is_frictionless(b.cone) => {
            frictionless_response(stiffness, lambda, sigma)
        }
        (Cone::Friction { mu }, ActiveMode::Slide) => slide_response(b, mu, stiffness, lambda, sigma),
        (Cone::Box { bound }, ActiveMode::Slide) => LocalResponse::scalar(0.0, bound - lambda[0]),
        (Cone::Box { bound }, ActiveMode::Break) => LocalResponse::scalar(0.0, -bound - lambda[0]),
        (_, ActiveMode::Break) => LocalResponse::scalar(0.0, -lambda[0]),
        _ => LocalResponse::scalar(stiffness.normal, -stiffness.normal * sigma[0]),
    };
    response.without_compliance(b)
}

/// Proximal terms of a block along its tangents and along its last row (1/kg). The least one must be negligible compared
/// with the compliance that determines the load distribution.
#[inline(always)]
pub(super) fn proximal_weights(b: &Block, weight: f64) -> [f64; 2] {
    let own = weight * b.mean;
    let limited = weight <= WEIGHT[0] && b.is_redundant();
    [own, if limited { own.min(b.compliance / STIFFER_THAN_COMPLIANCE) } else { own }]
}

/// Stiffness of an active block, the inverse of its proximal terms: along its tangents and along its normal (kg).
#[derive(Debug, Clone, Copy)]
pub(super) struct ProximalStiffness {
    pub tangent: f64,
    pub normal: f64,
}

impl ProximalStiffness {
    /// The stiffness with a proximal term of `weight`.
    pub fn new(b: &Block, weight: f64) -> ProximalStiffness {
        let [tangent, normal] = proximal_weights(b, weight);
        ProximalStiffness { tangent: 1.0 / tangent, normal: 1.0 / normal }
    }
}

/// Response of a contact that sticks.
pub(super) fn stick_response(stiffness: ProximalStiffness, sigma: Rows) -> LocalResponse {
    let mut E: Square = Default::default();
    let n = sigma.len() - 1;
    (0..n).for_each(|i| E[i][i] = stiffness.tangent);
    E[n][n] = stiffness.normal;
    LocalResponse::new(E, core::array::from_fn(|i| -E[i][i] * sigma[i]))
}

/// Response of a contact without friction that pushes.
pub(super) fn frictionless_response(stiffness: ProximalStiffness, lambda: Rows, sigma: Rows) -> LocalResponse {
    let (mut E, n): (Square, usize) = (Default::default(), lambda.len() - 1);
    E[n][n] = stiffness.normal;
    let mut c = lambda.map(|x| -x);
    c[n] = -stiffness.normal * sigma[n];
    LocalResponse::new(E, c)
}

/// Friction turns with the slip it opposes: `λ_⊥ = −μ λ_N σ_⊥/‖σ_T‖`, however short the slip is.
fn slide_response(b: &Block, mu: f64, stiffness: ProximalStiffness, lambda: Rows, sigma: Rows) -> LocalResponse {
    let a = [lambda[0] - sigma[0] / b.max_eigenvalue, lambda[1] - sigma[1] / b.max_eigenvalue];
    let t = length(a[0], a[1]).max(f64::MIN_POSITIVE);
    let u = [a[0] / t, a[1] / t];
    let along = -(u[0] * sigma[0] + u[1] * sigma[1]);
    let turn = if along > 0.0 { (mu * lambda[2].abs() / along).min(stiffness.tangent) } else { stiffness.tangent };
    boundary_response(mu, u, turn, stiffness, lambda, sigma)
}

/// `λ_T = μ λ_N u`, and the impulse across u follows the rotation of u: `λ_⊥ = −turn σ_⊥`.
pub(super) fn boundary_response(
    mu: f64,
    u: [f64; 2],
    turn: f64,
    stiffness: ProximalStiffness,
    lambda: Rows,
    sigma: Rows,
) -> LocalResponse {
    let across = [-u[1], u[0]];
    let slip = across[0] * sigma[0] + across[1] * sigma[1];
    let push = -stiffness.normal * sigma[2];
    let mut E = [[0.0; 3], [0.0; 3], [0.0, 0.0, stiffness.normal]];
    let mut c = [0.0, 0.0, push];
    for i in 0..2 {
        for j in 0..2 {
            E[i][j] = turn * across[i] * across[j];
        }
        E[i][2] = mu * u[i] * stiffness.normal;
        c[i] = mu * u[i] * (lambda[2] + push) - lambda[i] - turn * slip * across[i];
    }
    LocalResponse::new(E, c)
}
