//! Derivatives with respect to physical parameters compared with differences between models.

use super::GradCheckError;
use super::compare::Comparison;
use crate::check::perturbed::StepArguments;
use crate::random::Rng;
use slipstick_core::model::ParameterGroup;
use slipstick_core::spatial::Vec3;
use slipstick_core::{GradientError, InputError, Model, Step};

/// Entries of a group that are compared in one state.
const ENTRIES: usize = 6;
/// Relative changes of parameters: effects may be small, so that large ones come first.
const LADDER: [f64; 6] = [1e-5, 1e-4, 1e-6, 1e-7, 1e-8, 1e-3];
const GOOD: f64 = 1e-9;

/// How well the derivative with respect to a group agrees.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ParameterError {
    /// The group.
    pub group: ParameterGroup,
    /// Error of the entries that were compared, relative to the largest effect of the group; `None` if none could be.
    pub error: Option<f64>,
    /// Entries whose differences have other modes on their two sides.
    pub left_out: usize,
    /// The entry that is off most.
    pub worst: usize,
    /// Why there is no derivative.
    pub unsupported: Option<String>,
}

/// Exact derivatives with respect to a group: of q_next and v_next, nv rows.
pub(super) struct Group {
    group: ParameterGroup,
    derivatives: Result<[Vec<f64>; 2], String>,
}

pub(super) fn exact(model: &Model, step: &mut Step) -> Result<Vec<Group>, GradCheckError> {
    let mut out = Vec::new();
    for group in ParameterGroup::ALL {
        let n = model.parameters().group(group).len();
        if n == 0 {
            continue;
        }
        let mut d = [vec![0.0; model.nv() * n], vec![0.0; model.nv() * n]];
        let [dq, dv] = &mut d;
        let derivatives = match step.parameter_jacobian(group, dq, dv) {
            Ok(()) if d.iter().flatten().all(|x| x.is_finite()) => Ok(d),
            Ok(()) => return Err(GradCheckError::NotFinite { what: group.name() }),
            Err(GradientError::Unsupported { what }) => Err(what),
            Err(e) => return Err(e.into()),
        };
        out.push(Group { group, derivatives });
    }
    Ok(out)
}

pub(super) fn compare(
    comparison: &mut Comparison,
    arguments: &StepArguments,
    exact: Group,
    draw: &mut Rng,
) -> Result<ParameterError, GradCheckError> {
    let group = exact.group;
    let mut out = ParameterError { group, error: None, left_out: 0, worst: 0, unsupported: None };
    let derivatives = match exact.derivatives {
        Ok(derivatives) => derivatives,
        Err(what) => return Ok(ParameterError { unsupported: Some(what), ..out }),
    };
    let units = units(&comparison.model, group);
    let (n, dt) = (units.len(), comparison.model.options().dt);
    let effect = |x: &[f64]| x.iter().enumerate().map(|(k, x)| (x * units[k % n]).abs()).fold(0.0, f64::max);
    // what gravity does in free motion is the least that effects are measured by
    let least = dt * Vec3::from(comparison.model.options().gravity).norm().max(1.0);
    let sizes = [effect(&derivatives[0]).max(dt * least), effect(&derivatives[1]).max(least)];
    for _ in 0..ENTRIES.min(n) {
        let j = draw.below(n);
        match entry(comparison, arguments, group, &derivatives, (j, units[j]), sizes)? {
            Some(error) if out.error.is_none_or(|e| error > e) => (out.error, out.worst) = (Some(error), j),
            Some(_) => {}
            None => out.left_out += 1,
        }
    }
    Ok(out)
}

/// Error of the best difference by one parameter.
fn entry(
    comparison: &mut Comparison,
    arguments: &StepArguments,
    group: ParameterGroup,
    derivatives: &[Vec<f64>; 2],
    (j, unit): (usize, f64),
    sizes: [f64; 2],
) -> Result<Option<f64>, GradCheckError> {
    let n = comparison.model.parameters().group(group).len();
    let mut best = [None::<f64>; 2];
    for h in LADDER {
        let Some(slopes) = difference(comparison, arguments, group, j, h * unit)? else { continue };
        for out in 0..2 {
            let off = slopes[out].iter().enumerate().map(|(i, d)| (derivatives[out][i * n + j] - d).abs());
            let error = off.fold(0.0, f64::max) * unit / sizes[out];
            best[out] = Some(best[out].map_or(error, |b| b.min(error)));
        }
        if best.iter().all(|b| b.is_some_and(|b| b <= GOOD)) {
            break;
        }
    }
    Ok(best[0].zip(best[1]).map(|(a, b)| a.max(b)))
}

/// Derivatives of q_next and v_next by differences: central, or of three points on one side where the parameter cannot
/// be smaller. `None` if modes differ.
fn difference(
    comparison: &mut Comparison,
    arguments: &StepArguments,
    group: ParameterGroup,
    j: usize,
    h: f64,
) -> Result<Option<[Vec<f64>; 2]>, GradCheckError> {
    // gains that resist act at the end of the step, others at its beginning: the derivative at zero is that of the former
    let resists =
        group == ParameterGroup::Actuator && j % 4 >= 2 && comparison.model.parameters().group(group)[j] == 0.0;
    let central = if resists { None } else { change(comparison, arguments, (group, j), -h, h)? };
    if let Some(change) = central {
        return Ok(change.map(|c| c.map(|x| x.into_iter().map(|x| x / (2.0 * h)).collect())));
    }
    let h = if resists { -h } else { h };
    let near = change(comparison, arguments, (group, j), 0.0, h)?.flatten();
    let far = change(comparison, arguments, (group, j), 0.0, 2.0 * h)?.flatten();
    Ok(near.zip(far).map(|(near, far)| {
        let slope = |out: usize| near[out].iter().zip(&far[out]).map(|(n, f)| (4.0 * n - f) / (2.0 * h)).collect();
        [slope(0), slope(1)]
    }))
}

/// Change of q_next and v_next from one value of a parameter to another: `None` if the model refuses one of them,
/// `Some(None)` if modes differ.
fn change(
    comparison: &mut Comparison,
    arguments: &StepArguments,
    (group, j): (ParameterGroup, usize),
    from: f64,
    to: f64,
) -> Result<Option<Option<[Vec<f64>; 2]>>, GradCheckError> {
    for (side, h) in [from, to].into_iter().enumerate() {
        let mut parameters = comparison.model.parameters().clone();
        parameters.group_mut(group)[j] += h;
        let model = match comparison.model.with_parameters(parameters) {
            Ok(model) => model,
            Err(InputError::Value { .. }) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        comparison.with_model(&model, arguments, side)?;
    }
    Ok(Some(if comparison.same_modes() { Some(comparison.change()?) } else { None }))
}

/// Sizes of the parameters of a group: their own, or what is usual for zeros.
fn units(model: &Model, group: ParameterGroup) -> Vec<f64> {
    let values = model.parameters().group(group);
    let usual = |k: usize| match group {
        ParameterGroup::Inertial => 0.1 * values[k - k % 10].max(1e-3),
        ParameterGroup::Gravity => 10.0,
        ParameterGroup::Armature => 1e-2,
        // a fraction of the inverse masses, which are large compared with the compliance of patches
        ParameterGroup::Compliance => 1e-3,
        _ => 1.0,
    };
    let used = values.iter().enumerate().map(|(k, x)| (k, x.abs()));
    match group {
        ParameterGroup::ShapeSize => used.map(|(_, x)| if x > 0.0 { x } else { 1.0 }).collect(),
        _ => used.map(|(k, x)| x.max(usual(k))).collect(),
    }
}
