//! One column: the derivative compared with differences on both sides, of several widths.

use super::GradCheckError;
use super::compare::Comparison;
use super::exact::{Exact, Impulse, impulse_between};
use super::scale::Scale;
use crate::check::corners::{distance, least, quotient};
use crate::check::perturbed::{InputEntry, StepArguments};
use crate::interrupt;
use slipstick_core::Status;

/// Distances of the evaluations of a difference from the state, in the units of [`Scale`], tried in this order: the best
/// counts. Large ones are for smooth motion, where rounding is all there is; the smallest for slow slip and for contacts
/// about to change.
pub(super) const LADDER: [f64; 7] = [1e-6, 1e-7, 1e-8, 1e-5, 1e-9, 1e-4, 1e-10];
/// A column this good needs no other differences.
const GOOD: f64 = 1e-9;
/// Fraction of a column above which it is not the derivative on a side.
pub(super) const WRONG: f64 = 1e-3;
/// An entry of a column and its difference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Off {
    /// As a fraction of the largest entry of the block.
    pub error: f64,
    pub row: usize,
    pub difference: f64,
    /// How far the evaluations were from the state.
    pub step: f64,
}

/// A column and its best differences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    /// Of q_next and v_next: the entry that is off most of the best central difference.
    pub central: [Off; 2],
    /// How far v_next is from the one-sided difference ahead and behind, as a fraction of the column.
    pub sides: [f64; 2],
    /// How far the impulse is from its difference.
    pub impulse: f64,
}

impl Judged {
    /// Before any difference.
    const UNKNOWN: Judged = {
        let off = Off { error: f64::INFINITY, row: 0, difference: f64::NAN, step: 0.0 };
        Judged { central: [off; 2], sides: [f64::INFINITY; 2], impulse: f64::INFINITY }
    };

    /// Whether some difference could be made.
    pub fn is_known(&self) -> bool {
        self.sides.iter().all(|e| e.is_finite())
    }

    /// Whether it is the derivative on both sides.
    pub fn is_right(&self) -> bool {
        self.sides.iter().all(|e| *e <= WRONG)
    }

    /// The better of two widths, quantity by quantity.
    fn better(self, other: Judged) -> Judged {
        let off = |a: Off, b: Off| if b.error < a.error { b } else { a };
        Judged {
            central: [off(self.central[0], other.central[0]), off(self.central[1], other.central[1])],
            sides: [self.sides[0].min(other.sides[0]), self.sides[1].min(other.sides[1])],
            impulse: self.impulse.min(other.impulse),
        }
    }

    fn is_good(&self) -> bool {
        self.is_right() && self.central.iter().all(|off| off.error <= GOOD)
    }
}

/// Which column, and how errors of it are measured.
pub(super) struct Column<'a> {
    pub exact: &'a Exact,
    pub scale: &'a Scale,
    /// Input and number.
    pub at: [usize; 2],
    /// Sizes of the blocks of q_next and v_next, and of the derivative of the impulse.
    pub sizes: [f64; 2],
    pub pressing: f64,
}

impl Column<'_> {
    fn entry(&self) -> InputEntry {
        let of: [fn(usize) -> InputEntry; 4] = [InputEntry::Q, InputEntry::V, InputEntry::Tau, InputEntry::Ctrl];
        of[self.at[0]](self.at[1])
    }

    /// One entry of a block of q_next or v_next.
    fn exact(&self, out: usize, row: usize) -> f64 {
        let [k, j] = self.at;
        self.exact.blocks[out][k][row * self.exact.columns[k] + j]
    }
}

impl Comparison {
    /// The best of all differences of a column.
    pub(super) fn judge(&mut self, arguments: &StepArguments, column: &Column) -> Result<Judged, GradCheckError> {
        let unit = column.scale.units[column.at[0]][column.at[1]];
        let mut best = Judged::UNKNOWN;
        for h in LADDER {
            interrupt::check()?;
            if let Some(judged) = self.at_width(arguments, column, h * unit)? {
                best = best.better(judged);
            }
            if best.is_good() {
                break;
            }
        }
        Ok(best)
    }

    /// Differences of one width; `None` if contact is not solved at one of its ends. A central one counts only where both
    /// sides agree: on a corner it is the mean of two others.
    fn at_width(
        &mut self,
        arguments: &StepArguments,
        column: &Column,
        h: f64,
    ) -> Result<Option<Judged>, GradCheckError> {
        if !self.evaluate(arguments, column.entry(), h, column.exact.impulse.as_ref())? {
            return Ok(None);
        }
        let nv = self.model.nv();
        let exact: Vec<f64> = (0..nv).map(|i| column.exact(1, i)).collect();
        let least = least(column.scale, self.model.options().dt, column.at);
        let sides = [1, 0].map(|side| {
            let h = if side == 1 { h } else { -h };
            let from = |end: &Vec<f64>| distance(&exact, &quotient(&self.sides[side].v, end, h), h, least);
            self.ends.iter().map(from).fold(f64::INFINITY, f64::min)
        });
        self.model.difference(&self.sides[0].q, &self.sides[1].q, &mut self.dq)?;
        let apart = sides.iter().any(|e| *e > WRONG);
        let central = [0, 1].map(|out| {
            let difference = |i: usize| match out {
                0 => self.dq[i] / (2.0 * h),
                _ => (self.sides[1].v[i] - self.sides[0].v[i]) / (2.0 * h),
            };
            let off = |i: usize| (column.exact(out, i) - difference(i)).abs() / column.sizes[out];
            let row = (0..nv).max_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(0);
            let error = if apart && out == 1 { off(row).max(sides[0]).max(sides[1]) } else { off(row) };
            Off { error, row, difference: difference(row), step: h }
        });
        Ok(Some(Judged { central, sides, impulse: self.impulse_error(column, h) }))
    }

    fn impulse_error(&self, column: &Column, h: f64) -> f64 {
        let ([k, j], nv) = (column.at, self.model.nv());
        let Some(derivatives) = column.exact.impulse.as_ref().and_then(|i| i.derivatives.get(k)) else { return 0.0 };
        let difference = ((self.impulses[1] - self.impulses[0]) * (0.5 / h)).to_array();
        let off = (0..3).map(|i| (derivatives[i * nv + j] - difference[i]).abs()).fold(0.0, f64::max);
        off / column.pressing.max(f64::MIN_POSITIVE)
    }

    /// The two steps of a difference. Returns whether contact was solved in both.
    fn evaluate(
        &mut self,
        arguments: &StepArguments,
        entry: InputEntry,
        h: f64,
        impulse: Option<&Impulse>,
    ) -> Result<bool, GradCheckError> {
        let mut solved = true;
        for (side, h) in [-h, h].into_iter().enumerate() {
            let step =
                self.perturbed.with_entry(&self.model, &mut self.data, arguments, entry, h, &mut self.sides[side])?;
            solved &= step.report().status != Status::NotConverged;
            if let Some(impulse) = impulse {
                self.impulses[side] = impulse_between(&step, impulse.bodies);
            }
        }
        Ok(solved)
    }
}
