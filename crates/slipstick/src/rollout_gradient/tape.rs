//! What a rollout leaves behind for its derivatives, and the derivatives of one step as a matrix.

use super::types::{Memory, RolloutGradientError};
use crate::trajectory::Trajectory;
use slipstick_core::model::ParameterGroup;
use slipstick_core::sensors::Sensors;
use slipstick_core::{GradientError, Model, Step, WarmStart};
use std::collections::TryReserveError;
use std::ops::Range;

/// Columns of the derivatives of a step: q, v, act, tau, ctrl, then parameters. Its rows are q_next, v_next and act_next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    pub nv: usize,
    pub nu: usize,
    pub na: usize,
    pub groups: Vec<(ParameterGroup, Range<usize>)>,
    /// Numbers of a row.
    pub width: usize,
    /// Numbers that sensors read in every step; zero if they are not read.
    pub readings: usize,
}

impl Layout {
    /// Groups that come twice are taken once.
    pub fn new(model: &Model, groups: &[ParameterGroup]) -> Layout {
        let (nv, nu, na) = (model.nv(), model.nu(), model.na());
        let mut layout = Layout { nv, nu, na, groups: Vec::new(), width: 3 * nv + na + nu, readings: 0 };
        for group in groups {
            if layout.group(*group).is_none() {
                let end = layout.width + model.parameters().group(*group).len();
                layout.groups.push((*group, layout.width..end));
                layout.width = end;
            }
        }
        layout
    }

    /// Numbers of a state: q as a tangent, v and act.
    pub fn state(&self) -> usize {
        2 * self.nv + self.na
    }

    pub fn tau(&self) -> Range<usize> {
        self.state()..self.state() + self.nv
    }

    pub fn ctrl(&self) -> Range<usize> {
        let start = self.tau().end;
        start..start + self.nu
    }

    pub fn group(&self, group: ParameterGroup) -> Option<Range<usize>> {
        self.groups.iter().find(|(g, _)| *g == group).map(|(_, columns)| columns.clone())
    }

    /// Numbers of the matrix of one step.
    pub fn size(&self) -> usize {
        self.state() * self.width
    }
}

/// The record of a rollout: everything here grows with the number of steps, and nothing else does.
#[derive(Debug, Clone)]
pub(crate) struct Tape {
    pub record: Trajectory,
    /// What the constraints of each step did, as [`Step::mode_key`] tells.
    pub keys: Vec<u64>,
    /// What each step began with beside its state; kept if steps are to be repeated.
    pub starts: Vec<WarmStart>,
    /// What sensors read in each step.
    pub readings: Vec<f64>,
    /// Derivatives of each step, or room for those of one.
    pub matrices: Vec<f64>,
    /// Parameters of one group: derivatives of q_next, then of v_next.
    parameters: Vec<f64>,
}

impl Tape {
    pub fn new(model: &Model) -> Tape {
        let (record, numbers) = (Trajectory::new(model), Vec::new);
        let (readings, matrices, parameters) = (numbers(), numbers(), numbers());
        Tape { record, keys: Vec::new(), starts: Vec::new(), readings, matrices, parameters }
    }

    /// Empties it and makes room, so that nothing is made room for later.
    pub fn begin(
        &mut self,
        model: &Model,
        layout: &Layout,
        steps: usize,
        memory: Memory,
    ) -> Result<(), RolloutGradientError> {
        let bytes = Tape::bytes(model, layout, steps, memory);
        self.reserve(model, layout, steps, memory).map_err(|_| RolloutGradientError::Memory { bytes })?;
        if memory == Memory::Recompute {
            self.matrices.resize(layout.size(), 0.0);
            self.starts.resize_with(steps, WarmStart::default);
        }
        let largest = layout.groups.iter().map(|(_, columns)| columns.len()).max().unwrap_or(0);
        self.parameters.resize(2 * layout.nv * largest, 0.0);
        Ok(())
    }

    fn reserve(&mut self, model: &Model, layout: &Layout, steps: usize, memory: Memory) -> Result<(), TryReserveError> {
        let Tape { record, keys, starts, readings, matrices, .. } = self;
        let states = steps.saturating_add(1);
        empty(&mut record.time, states, 1)?;
        empty(&mut record.q, states, model.nq())?;
        empty(&mut record.v, states, layout.nv)?;
        empty(&mut record.act, states, layout.na)?;
        empty(&mut record.ctrl, steps, layout.nu)?;
        empty(&mut record.tau, steps, layout.nv)?;
        empty(&mut record.mocap, steps, 7 * model.n_mocap())?;
        empty(&mut record.contacts, steps, 1)?;
        empty(&mut record.penetration, steps, 1)?;
        empty(&mut record.residual, steps, 1)?;
        empty(&mut record.compliance_shift, steps, 1)?;
        empty(&mut record.iterations, steps, 1)?;
        empty(&mut record.status, steps, 1)?;
        empty(&mut record.stage, steps, 1)?;
        empty(&mut record.correction, steps, 1)?;
        empty(keys, steps, 1)?;
        empty(readings, steps, layout.readings)?;
        let (kept, stored) = match memory {
            Memory::Store => (0, steps),
            Memory::Recompute => (steps, 1),
        };
        // warm starts of the run before are written over: their insides have the room that these will need
        starts.truncate(kept);
        starts.try_reserve_exact(kept - starts.len())?;
        empty(matrices, stored, layout.size())
    }

    /// Bytes for a number of steps, but for the insides of warm starts, which grow with what touches.
    pub fn bytes(model: &Model, layout: &Layout, steps: usize, memory: Memory) -> usize {
        let (matrix, n) = (8 * layout.size(), |numbers: usize| 8 * numbers);
        let state = n(1 + model.nq() + layout.nv + layout.na);
        // controls, forces, readings, key, five numbers of the report and three small ones
        let report = n(layout.nu + layout.nv + 7 * model.n_mocap() + layout.readings + 1 + 5) + 4 + 2;
        let (kept, once) = match memory {
            Memory::Store => (matrix, 0),
            Memory::Recompute => (size_of::<WarmStart>(), matrix),
        };
        steps.saturating_mul(state + report + kept).saturating_add(state + once)
    }

    /// Bytes inside the warm starts.
    pub fn bytes_of_starts(&self) -> usize {
        self.starts.iter().map(WarmStart::bytes).sum()
    }

    /// Appends what sensors have read: zeros for those that cannot be read.
    pub fn push_readings(&mut self, sensors: &Sensors) {
        for (k, range) in sensors.ranges().iter().enumerate() {
            match sensors.get(k) {
                Ok(numbers) => self.readings.extend_from_slice(numbers),
                Err(_) => self.readings.extend(range.clone().map(|_| 0.0)),
            }
        }
    }

    /// Appends the derivatives of a step, all groups of parameters included.
    pub fn push_matrix(&mut self, layout: &Layout, step: &mut Step) -> Result<(), GradientError> {
        let start = self.matrices.len();
        self.matrices.resize(start + layout.size(), 0.0);
        write_matrix(layout, &layout.groups, step, &mut self.parameters, &mut self.matrices[start..])
    }

    /// Writes the derivatives of a step where there is room for one, with some groups of parameters.
    pub fn write_matrix(
        &mut self,
        layout: &Layout,
        groups: &[(ParameterGroup, Range<usize>)],
        step: &mut Step,
    ) -> Result<(), GradientError> {
        write_matrix(layout, groups, step, &mut self.parameters, &mut self.matrices)
    }
}

/// Nothing, with room for rows of a width and no more.
fn empty<T>(x: &mut Vec<T>, rows: usize, width: usize) -> Result<(), TryReserveError> {
    x.clear();
    x.try_reserve_exact(rows.saturating_mul(width))
}

fn write_matrix(
    layout: &Layout,
    groups: &[(ParameterGroup, Range<usize>)],
    step: &mut Step,
    memory: &mut [f64],
    out: &mut [f64],
) -> Result<(), GradientError> {
    let (nv, width) = (layout.nv, layout.width);
    let J = step.jacobian()?;
    let blocks =
        [[J.dq_dq, J.dq_dv, J.dq_dact, J.dq_dtau, J.dq_dctrl], [J.dv_dq, J.dv_dv, J.dv_dact, J.dv_dtau, J.dv_dctrl]];
    for (i, row) in out.chunks_exact_mut(width).enumerate() {
        if i < 2 * nv {
            let numbers = blocks[i / nv].iter().flat_map(|m| m.row(i % nv));
            row.iter_mut().zip(numbers).for_each(|(out, x)| *out = *x); // no controls: their columns stay zero
            continue;
        }
        let n = i - 2 * nv;
        row.fill(0.0);
        for (start, block) in [(2 * nv, J.dact_dact), (layout.ctrl().start, J.dact_dctrl)] {
            row[start..].iter_mut().zip(block.row(n)).for_each(|(out, x)| *out = *x);
        }
    }
    for (group, columns) in groups {
        let n = columns.len();
        let (dq, rest) = memory.split_at_mut(nv * n);
        let dv = &mut rest[..nv * n];
        step.parameter_jacobian(*group, dq, dv)?;
        for i in 0..nv {
            out[i * width..][columns.clone()].copy_from_slice(&dq[i * n..(i + 1) * n]);
            out[(nv + i) * width..][columns.clone()].copy_from_slice(&dv[i * n..(i + 1) * n]);
        }
    }
    Ok(())
}
