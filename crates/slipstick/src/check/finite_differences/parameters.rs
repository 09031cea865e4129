//! Differences with respect to the physical parameters of a model.

use super::Difference;
use crate::check::perturbed::{PerturbedStep, StepArguments};
use slipstick_core::linalg::MatRef;
use slipstick_core::model::ParameterGroup;
use slipstick_core::{Data, Input, InputError, Model, State, StepError};

/// Derivatives of a step with respect to a group of n parameters: nv rows of n numbers.
#[derive(Debug, Clone, Default)]
pub struct ParameterDifferences {
    dq: Vec<f64>,
    dv: Vec<f64>,
    nv: usize,
    n: usize,
}

impl ParameterDifferences {
    /// ∂q_next/∂parameters (nv × n).
    pub fn dq(&self) -> MatRef<'_> {
        MatRef::new(&self.dq, self.nv, self.n)
    }

    /// ∂v_next/∂parameters (nv × n).
    pub fn dv(&self) -> MatRef<'_> {
        MatRef::new(&self.dv, self.nv, self.n)
    }
}

/// Derivatives of a step with respect to a group of parameters by finite differences. Where a parameter may not become
/// smaller (a damping of zero) a central difference is replaced by a forward one. A model is made for every evaluation:
/// this is for comparison, not for speed.
pub fn finite_differences_of_parameters(
    model: &Model,
    data: &mut Data,
    x: &State,
    input: &Input,
    group: ParameterGroup,
    difference: Difference,
) -> Result<ParameterDifferences, StepError> {
    let h = difference.checked_step()?;
    let arguments = StepArguments { x, input: *input };
    let (nv, n) = (model.nv(), model.parameters().group(group).len());
    let mut out = ParameterDifferences { dq: vec![0.0; nv * n], dv: vec![0.0; nv * n], nv, n };
    let mut sides = [State::neutral(model), State::neutral(model), State::neutral(model)];
    let mut perturbed = PerturbedStep::new(model);
    perturbed.begin(model, data, &arguments, &mut sides[0])?;
    let mut dq = vec![0.0; nv];
    for j in 0..n {
        at(model, data, &arguments, &perturbed, (group, j, h), &mut sides[1])?;
        let behind = match difference {
            Difference::Forward { .. } => None,
            // a value that the model refuses lies on the edge of what is allowed
            Difference::Central { .. } => {
                match at(model, data, &arguments, &perturbed, (group, j, -h), &mut sides[2]) {
                    Ok(()) => Some(2),
                    Err(StepError::Input(InputError::Value { .. })) => None,
                    Err(e) => return Err(e),
                }
            }
        };
        let width = if behind.is_some() { 2.0 * h } else { h };
        let (ahead, behind) = (&sides[1], &sides[behind.unwrap_or(0)]);
        model.difference(&behind.q, &ahead.q, &mut dq)?;
        for i in 0..nv {
            out.dq[i * n + j] = dq[i] / width;
            out.dv[i * n + j] = (ahead.v[i] - behind.v[i]) / width;
        }
    }
    data.restore(&perturbed.warm)?;
    Ok(out)
}

/// The step of a model with one parameter changed by `h`.
fn at(
    model: &Model,
    data: &mut Data,
    arguments: &StepArguments,
    perturbed: &PerturbedStep,
    (group, j, h): (ParameterGroup, usize, f64),
    next: &mut State,
) -> Result<(), StepError> {
    let mut parameters = model.parameters().clone();
    parameters.group_mut(group)[j] += h;
    let model = model.with_parameters(parameters)?;
    data.restore(&perturbed.warm)?;
    arguments.step(&model, data, next)?;
    Ok(())
}
