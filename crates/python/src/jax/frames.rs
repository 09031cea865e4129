//! Poses and velocities of frames and the center of mass, with derivatives in the numbers of q.

use slipstick::InputError;
use slipstick::Model;
use slipstick::dynamics::Workspace;
use slipstick::model::FrameId;
use slipstick::rollout::Ambient;
use std::sync::{Mutex, PoisonError};

/// Numbers of a frame: position (3), rotation (9, row by row), velocity [linear; angular] in world axes (6).
pub const PER_FRAME: usize = 18;

/// Frames of a model, and the memory to compute with.
pub struct Frames {
    model: Model,
    frames: Vec<FrameId>,
    ambient: Ambient,
    workspaces: Mutex<Vec<Workspace>>,
}

impl Frames {
    pub fn new(model: &Model, names: &[String]) -> Result<Frames, InputError> {
        let frames = names.iter().map(|name| model.frame(name)).collect::<Result<_, _>>()?;
        Ok(Frames { model: model.clone(), frames, ambient: Ambient::new(model), workspaces: Mutex::default() })
    }

    /// Numbers of a row of values: those of all frames, then the center of mass.
    pub fn width(&self) -> usize {
        PER_FRAME * self.frames.len() + 3
    }

    /// Rows of values (n × width) and of their derivatives with respect to (q, v) (n × width × (nq + nv)), for rows of q and v.
    pub fn evaluate(
        &self,
        q: &[f64],
        v: &[f64],
        values: &mut [f64],
        derivatives: &mut [f64],
    ) -> Result<(), InputError> {
        let (nq, nv, width) = (self.model.nq(), self.model.nv(), self.width());
        let spare = self.workspaces.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut work = spare.unwrap_or_else(|| Workspace::new(&self.model));
        let rows = q.chunks_exact(nq).zip(v.chunks_exact(nv)).zip(values.chunks_exact_mut(width));
        let mut derivatives = derivatives.chunks_exact_mut(width * (nq + nv));
        for ((q, v), values) in rows {
            self.evaluate_row(&mut work, q, v, values, derivatives.next().unwrap_or_default())?;
        }
        self.workspaces.lock().unwrap_or_else(PoisonError::into_inner).push(work);
        Ok(())
    }

    fn evaluate_row(
        &self,
        work: &mut Workspace,
        raw: &[f64],
        v: &[f64],
        values: &mut [f64],
        derivatives: &mut [f64],
    ) -> Result<(), InputError> {
        let (m, nv) = (&self.model, self.model.nv());
        let mut q = raw.to_vec();
        m.normalize_q(&mut q)?;
        // derivatives of a frame's velocity with respect to q and v; the latter are its Jacobian
        let (mut dq, mut dv) = (vec![0.0; 6 * nv], vec![0.0; 6 * nv]);
        for (k, frame) in self.frames.iter().enumerate() {
            let out = &mut values[PER_FRAME * k..PER_FRAME * (k + 1)];
            let first = PER_FRAME * k;
            work.velocity_derivatives(m, &q, v, *frame, &mut dq, &mut dv)?;
            let pose = work.frame_pose(m, *frame)?;
            let R = pose.rotation;
            out[..3].copy_from_slice(&pose.position.to_array());
            (0..9).for_each(|i| out[3 + i] = R.at(i / 3, i % 3));
            for i in 0..6 {
                out[12 + i] = dv[i * nv..(i + 1) * nv].iter().zip(v).map(|(a, b)| a * b).sum();
                self.write(raw, &dq[i * nv..(i + 1) * nv], &dv[i * nv..(i + 1) * nv], first + 12 + i, derivatives);
            }
            for i in 0..3 {
                self.write(raw, &dv[i * nv..(i + 1) * nv], &[], first + i, derivatives);
            }
            // dR = [w]x R: row i of R changes by w_j R_k − w_k R_j
            let angular = |i: usize, j: usize| dv[(3 + i) * nv + j];
            for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
                for c in 0..3 {
                    let row: Vec<f64> =
                        (0..nv).map(|d| angular(j, d) * R.at(k, c) - angular(k, d) * R.at(j, c)).collect();
                    self.write(raw, &row, &[], first + 3 + 3 * i + c, derivatives);
                }
            }
        }
        self.write_center_of_mass(work, raw, &q, values, derivatives)
    }

    /// The center of mass; its derivative by the momenta of unit velocities.
    fn write_center_of_mass(
        &self,
        work: &mut Workspace,
        raw: &[f64],
        q: &[f64],
        values: &mut [f64],
        derivatives: &mut [f64],
    ) -> Result<(), InputError> {
        let (m, nv, first) = (&self.model, self.model.nv(), self.width() - 3);
        values[first..].copy_from_slice(&work.center_of_mass(m, q)?.to_array());
        if derivatives.is_empty() {
            return Ok(());
        }
        let (mass, mut unit, mut rows) = (m.total_mass(), vec![0.0; nv], vec![0.0; 3 * nv]);
        for j in 0..nv {
            unit[j] = 1.0;
            let momentum = work.momentum(m, q, &unit)?;
            (0..3).for_each(|i| rows[i * nv + j] = momentum.lin.to_array()[i] / mass);
            unit[j] = 0.0;
        }
        (0..3).for_each(|i| self.write(raw, &rows[i * nv..(i + 1) * nv], &[], first + i, derivatives));
        Ok(())
    }

    /// A row of derivatives with respect to tangents of q and to v, as one with respect to the numbers of (q, v).
    fn write(&self, raw: &[f64], of_q: &[f64], of_v: &[f64], row: usize, derivatives: &mut [f64]) {
        if derivatives.is_empty() {
            return;
        }
        let (nq, nv) = (self.model.nq(), self.model.nv());
        let out = &mut derivatives[row * (nq + nv)..(row + 1) * (nq + nv)];
        self.ambient.tangent_transposed(raw, of_q, &mut out[..nq]);
        match of_v.is_empty() {
            true => out[nq..].fill(0.0),
            false => out[nq..].copy_from_slice(of_v),
        }
    }
}
