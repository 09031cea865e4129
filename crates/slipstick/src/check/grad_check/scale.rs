//! How large changes are: steps of differences in units in which every change moves the robot alike, and the sizes that
//! derivatives have without contact.

use crate::check::perturbed::StepArguments;
use slipstick_core::Model;
use slipstick_core::dynamics::Workspace;
use slipstick_core::error::DynamicsError;
use slipstick_core::spatial::Vec3;

/// Units of q, v, tau, ctrl and act: a change by one of them moves its dof by about one (m or rad) within the step.
pub(crate) struct Scale {
    pub units: [Vec<f64>; 5],
    /// What the largest entry of each block (of q_next and v_next, by q, v, tau, ctrl) is in free motion. Contact
    /// cancels such terms: what is left of them cannot be more exact than they are.
    pub floors: [[f64; 4]; 2],
}

impl Scale {
    pub fn new(model: &Model, work: &mut Workspace, arguments: &StepArguments) -> Result<Scale, DynamicsError> {
        let (nv, nu, dt) = (model.nv(), model.nu(), model.options().dt);
        let mut inverse = vec![0.0; nv * nv];
        work.mass_inverse(model, &arguments.x.q, &mut inverse)?;
        let responses = responses(model, work, arguments, &inverse)?;
        let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let mobility = largest(&inverse);
        let unit = |mobility: f64| if mobility > 0.0 { 1.0 / (dt * dt * mobility) } else { 1.0 };
        let units = [
            vec![1.0; nv],
            vec![1.0 / dt; nv],
            (0..nv).map(|j| unit(inverse[j * nv + j])).collect(),
            (0..nu).map(|k| unit(responses[k])).collect(),
            model.activated().iter().map(|id| unit(responses[id.0])).collect(),
        ];
        let by_ctrl = match largest(&responses) {
            0.0 => mobility,
            x => x,
        };
        let gravity = Vec3::from(model.options().gravity).norm().max(1.0);
        let of_v = [dt * gravity, 1.0, dt * mobility, dt * by_ctrl];
        let of_q = [1.0, dt, dt * dt * mobility, dt * dt * by_ctrl];
        Ok(Scale { units, floors: [of_q, of_v] })
    }
}

/// Largest acceleration that a unit of each drive gives (nu): of the control or, where there is one, the activation.
fn responses(
    model: &Model,
    work: &mut Workspace,
    arguments: &StepArguments,
    inverse: &[f64],
) -> Result<Vec<f64>, DynamicsError> {
    let (nv, nu) = (model.nv(), model.nu());
    let Some(ctrl) = arguments.input.ctrl else { return Ok(vec![0.0; nu]) };
    let mut d = [vec![0.0; nv * nv], vec![0.0; nv * nv], vec![0.0; nv * nu]];
    let [dq, dv, dctrl] = &mut d;
    let mut drives = vec![0.0; nu];
    work.drives(model, &arguments.x.act, ctrl, &mut drives)?;
    work.actuate_derivatives(model, &arguments.x.q, &arguments.x.v, &drives, [dq, dv, dctrl])?;
    let acceleration = |i: usize, k: usize| (0..nv).map(|j| inverse[i * nv + j] * d[2][j * nu + k]).sum::<f64>().abs();
    Ok((0..nu).map(|k| (0..nv).map(|i| acceleration(i, k)).fold(0.0, f64::max)).collect())
}
