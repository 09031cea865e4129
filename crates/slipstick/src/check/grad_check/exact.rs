//! Everything that is exact about one step: the derivatives that differences are compared with, and whether forward and
//! reverse mode agree.

use super::scale::Scale;
use super::{BLOCKS, GradCheckError};
use crate::random::Rng;
use slipstick_core::gradient::{InputDirection, InputGrad, OutputGrad};
use slipstick_core::model::BodyId;
use slipstick_core::spatial::Vec3;
use slipstick_core::{Mode, Model, Step};

/// Derivatives of a step, copied out of it.
pub(super) struct Exact {
    /// Of q_next and v_next with respect to q, v, tau, ctrl, row by row.
    pub blocks: [[Vec<f64>; 4]; 2],
    /// Columns of each input.
    pub columns: [usize; 4],
    pub impulse: Option<Impulse>,
    /// Largest disagreement of jacobian, jvp and vjp, as a share of what is added up.
    pub adjoint_error: f64,
}

/// The two bodies that press on each other most, and the derivatives of their impulse with respect to q, v and tau
/// (3 × nv each). How the points of a patch share it is not determined.
pub(super) struct Impulse {
    pub bodies: [BodyId; 2],
    pub derivatives: [Vec<f64>; 3],
}

/// Impulse on the second of two bodies, all their contacts together.
pub(super) fn impulse_between(step: &Step, bodies: [BodyId; 2]) -> Vec3 {
    step.contacts().filter(|c| c.bodies == bodies).fold(Vec3::ZERO, |sum, c| sum + c.impulse)
}

impl Exact {
    pub fn new(model: &Model, step: &mut Step, scale: &Scale, draw: &mut Rng) -> Result<Exact, GradCheckError> {
        let jacobian = step.jacobian()?;
        let j = &jacobian;
        let of_q = [j.dq_dq, j.dq_dv, j.dq_dtau, j.dq_dctrl];
        let of_v = [j.dv_dq, j.dv_dv, j.dv_dtau, j.dv_dctrl];
        let columns = of_v.map(|m| m.cols());
        let blocks = [of_q, of_v].map(|blocks| {
            blocks.map(|m| {
                let mut out = vec![0.0; m.rows() * m.cols()];
                m.copy_to(&mut out);
                out
            })
        });
        let broken = |k: usize| blocks[k / 4][k % 4].iter().any(|x: &f64| !x.is_finite());
        if let Some(k) = (0..8).find(|k| broken(*k)) {
            return Err(GradCheckError::NotFinite { what: BLOCKS[k / 4][k % 4] });
        }
        let mut out = Exact { blocks, columns, impulse: None, adjoint_error: 0.0 };
        out.adjoint_error = out.adjoint(model, step, scale, draw)?;
        out.impulse = impulse(model, step)?;
        Ok(out)
    }

    /// One random pair of a direction and a gradient.
    fn adjoint(&self, model: &Model, step: &mut Step, scale: &Scale, draw: &mut Rng) -> Result<f64, GradCheckError> {
        let (nv, dt) = (model.nv(), model.options().dt);
        let mut random =
            |k: usize| -> Vec<f64> { scale.units[k][..self.columns[k]].iter().map(|u| u * draw.sign()).collect() };
        let dx: [Vec<f64>; 4] = [random(0), random(1), random(2), random(3)];
        let w: [Vec<f64>; 2] = [random(0), random(0).iter().map(|x| x * dt).collect()];
        let (mut dq, mut dv) = (vec![0.0; nv], vec![0.0; nv]);
        let [q, v, tau, ctrl] = &dx;
        step.jvp(InputDirection { q, v, tau, ctrl, act: &[] }, &mut dq, &mut dv)?;
        let mut g = dx.each_ref().map(|x| vec![0.0; x.len()]);
        let [gq, gv, gtau, gctrl] = &mut g;
        step.vjp(
            OutputGrad { q: &w[0], v: &w[1], ..OutputGrad::default() },
            InputGrad { q: gq, v: gv, tau: gtau, ctrl: gctrl, act: &mut [] },
        )?;
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let size = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum::<f64>();
        let forward = dot(&w[0], &dq) + dot(&w[1], &dv);
        let reverse: f64 = g.iter().zip(&dx).map(|(g, d)| dot(g, d)).sum();
        let terms: f64 = g.iter().zip(&dx).map(|(g, d)| size(g, d)).sum();
        let identity = (forward - reverse).abs() / (terms + size(&w[0], &dq) + size(&w[1], &dv)).max(f64::MIN_POSITIVE);
        Ok(identity.max(self.product_error(&dx, [&dq, &dv])))
    }

    /// How far a jvp is from the product of the matrices with the direction.
    fn product_error(&self, dx: &[Vec<f64>; 4], jvp: [&[f64]; 2]) -> f64 {
        let mut worst = 0.0_f64;
        for (blocks, jvp) in self.blocks.iter().zip(jvp) {
            for (i, got) in jvp.iter().enumerate() {
                let row = |k: usize| &blocks[k][i * self.columns[k]..(i + 1) * self.columns[k]];
                let terms = || (0..4).flat_map(|k| row(k).iter().zip(&dx[k]).map(|(a, b)| a * b));
                let size: f64 = terms().map(f64::abs).sum();
                worst = worst.max((got - terms().sum::<f64>()).abs() / size.max(f64::MIN_POSITIVE));
            }
        }
        worst
    }
}

fn impulse(model: &Model, step: &mut Step) -> Result<Option<Impulse>, GradCheckError> {
    let pressing = step.contacts().filter(|c| c.mode != Mode::Break);
    let hardest = pressing.max_by(|a, b| a.impulse.norm().total_cmp(&b.impulse.norm()));
    let Some(bodies) = hardest.map(|c| c.bodies) else { return Ok(None) };
    let zero = || [(); 3].map(|()| vec![0.0; 3 * model.nv()]);
    let (mut derivatives, mut one) = (zero(), zero());
    let contacts: Vec<usize> =
        step.contacts().enumerate().filter(|(_, c)| c.bodies == bodies).map(|(k, _)| k).collect();
    for k in contacts {
        let [dq, dv, dtau] = &mut one;
        step.impulse_jacobian(k, [dq, dv, dtau])?;
        derivatives.iter_mut().flatten().zip(one.iter().flatten()).for_each(|(sum, x)| *sum += x);
    }
    match derivatives.iter().flatten().all(|x| x.is_finite()) {
        true => Ok(Some(Impulse { bodies, derivatives })),
        false => Err(GradCheckError::NotFinite { what: "impulse" }),
    }
}
