//! Which modes a step has a little further along a change.   (grad-14)

use crate::constraint::Mode;
use crate::data::Data;
use crate::error::InputError;
use crate::gradient::{GradientError, InputDirection};
use crate::model::Model;
use crate::state::{Input, State};
use crate::step::{step, step_ctrl};

/// How much velocities change on the way: more than what counts as undecided, less than any mode lasts (m/s).
const AHEAD: f64 = 1e-5;
/// Share of a change below which what it does to velocities is rounding.
const ROUNDING: f64 = 1e-12;

/// Modes of the constraints of the step in `data`: those that are undecided take the mode of the step made from the
/// state `dx` leads to; `dv_next` is how v_next changes along it.
pub(crate) fn modes(
    model: &Model,
    data: &Data,
    dx: &InputDirection,
    dv_next: &[f64],
    undecided: &[bool],
) -> Result<Vec<Mode>, GradientError> {
    let largest = [dx.v, dv_next].into_iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
    let tangents = [dx.q, dx.tau, dx.ctrl].into_iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
    let moves = largest > ROUNDING * tangents;
    let h = AHEAD / if moves { largest } else { tangents.max(f64::MIN_POSITIVE) };
    let mut ahead = data.clone();
    walk(model, &mut ahead, dx, h)?;
    let mode = |(k, undecided): (usize, &bool)| {
        let own = data.solution.modes()[k].0;
        if !*undecided {
            return own;
        }
        let key = data.assembly.key(data.assembly.sources[k], &data.contacts);
        let mut same = ahead.assembly.sources.iter().enumerate();
        let found = same.find(|(_, s)| ahead.assembly.key(**s, &ahead.contacts) == key);
        found.map_or(Mode::Break, |(n, _)| ahead.solution.modes()[n].0)
    };
    Ok(undecided.iter().enumerate().map(mode).collect())
}

/// The step from the displaced state.
fn walk(model: &Model, data: &mut Data, dx: &InputDirection, h: f64) -> Result<(), GradientError> {
    let given = data.given.clone();
    let mut x = State { q: given.q.clone(), v: given.v.clone(), time: 0.0 };
    let moved = |x: &[f64], d: &[f64]| -> Vec<f64> {
        x.iter().enumerate().map(|(k, x)| x + h * d.get(k).copied().unwrap_or(0.0)).collect()
    };
    if !dx.q.is_empty() {
        model.integrate_unchecked(&given.q, dx.q, h, &mut x.q);
    }
    x.v = moved(&given.v, dx.v);
    let tau = moved(&given.tau, dx.tau);
    let input = Input::tau(&tau).with_wrenches(&given.wrenches);
    let mut next = x.clone();
    let done = match given.ctrl() {
        Some(ctrl) => step_ctrl(model, data, &x, &moved(ctrl, dx.ctrl), &input, &mut next),
        None => step(model, data, &x, &input, &mut next),
    };
    // a state so near another one that could be stepped from is sound, unless the change itself is not
    let what = "change of the state".to_string();
    done.map(drop)
        .map_err(|_| InputError::Value { what, expected: "a change that can be stepped along", got: h }.into())
}
