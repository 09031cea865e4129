//! The balance as least squares: heights of the supports, the way from them to the center of mass, the way from the
//! wanted pose.
#![allow(non_snake_case)]

use super::error::BalanceError;
use super::motion::{Posture, Rows};
use super::statics::horizontal;
use super::support::{Floor, Nearest, SupportPoint, lowest, nearest};
use super::{PRICE, Touch};
use slipstick::linalg::MatMut;
use slipstick::model::BodyId;
use slipstick::optimize::LeastSquares;
use slipstick::spatial::Vec3;
use slipstick::{InputError, Model};

/// How far joints stay from the ends of their ranges (rad or m).
const SPARE: f64 = 0.01;

/// By how much the supports are drawn together, so that the center of mass is not above the edge of what they span.
const SHRINK: f64 = 0.8;

/// The search for a balanced pose. Unknowns are tangents d at the wanted pose: the pose is `wanted ⊕ d`.   (bal-1)
pub(super) struct Reach<'m> {
    model: &'m Model,
    posture: Posture<'m>,
    floor: Floor,
    wanted: Vec<f64>,
    touches: &'m [Touch],
    /// Number of all supports.
    points: usize,
    bounds: [Vec<f64>; 2],
    /// Price of leaving the wanted pose.
    pub price: f64,
    /// What of the pose has no price: the way up, which is what the floor decides.
    free: Vec<bool>,
    /// Supports of the last residual, with their bodies.
    supports: Vec<(BodyId, SupportPoint)>,
}

impl<'m> Reach<'m> {
    pub fn new(model: &'m Model, wanted: &[f64], touches: &'m [Touch]) -> Result<Reach<'m>, BalanceError> {
        let floor = Floor::of(model).ok_or_else(|| BalanceError::NoFloor { model: model.name().into() })?;
        let mut wanted = wanted.to_vec();
        model.normalize_q(&mut wanted)?;
        let points = touches.iter().map(|t| t.points).sum();
        let bounds = ranges(model, &wanted);
        let free = free_of_price(model);
        let (posture, supports) = (Posture::new(model), Vec::new());
        Ok(Reach { model, posture, floor, wanted, touches, points, bounds, price: PRICE, free, supports })
    }

    /// The configuration that an unknown stands for.
    pub fn configuration(&self, d: &[f64]) -> Result<Vec<f64>, InputError> {
        let mut q = vec![0.0; self.model.nq()];
        self.model.integrate(&self.wanted, d, &mut q)?;
        Ok(q)
    }

    /// Of residuals: the largest height of a support, and the distance of the center of mass from between them (m).
    pub fn misses(&self, r: &[f64]) -> [f64; 2] {
        let gap = r[..self.points].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        [gap, r[self.points].hypot(r[self.points + 1])]
    }

    /// Takes the configuration of an unknown and finds the supports.
    fn pose(&mut self, d: &[f64]) -> Result<(), BalanceError> {
        let q = self.configuration(d)?;
        self.posture.set(&q)?;
        self.supports.clear();
        for t in self.touches {
            let found = lowest(self.model, t.body, &self.posture.pose(t.body)?, &self.floor, t.points);
            if found.len() < t.points {
                return Err(BalanceError::NoSupport { body: self.model.bodies()[t.body.0].name.clone() });
            }
            self.supports.extend(found.into_iter().map(|s| (t.body, s)));
        }
        Ok(())
    }

    /// Where the center of mass is, seen along gravity from the supports drawn together, and how it moves.   (bal-3)
    fn above(&mut self) -> Result<(Nearest, Rows), BalanceError> {
        let (com, rows) = self.posture.center_of_mass()?;
        let (axes, n) = (horizontal(self.model), self.points as f64);
        let flat = |p: Vec3| axes.map(|a| a.dot(p));
        let points: Vec<[f64; 2]> = self.supports.iter().map(|(_, s)| flat(s.point)).collect();
        let middle = [0, 1].map(|k| points.iter().map(|p| p[k]).sum::<f64>() / n);
        let drawn: Vec<_> = points.iter().map(|p| [0, 1].map(|k| middle[k] + SHRINK * (p[k] - middle[k]))).collect();
        let mut found =
            nearest(&drawn, flat(com)).ok_or_else(|| BalanceError::NoSupport { body: self.model.name().into() })?;
        found.shares.iter_mut().for_each(|w| *w = SHRINK * *w + (1.0 - SHRINK) / n);
        Ok((found, rows))
    }
}

/// The room of every joint with a range, as tangents at the wanted pose.
fn ranges(model: &Model, wanted: &[f64]) -> [Vec<f64>; 2] {
    let mut bounds = [vec![f64::NEG_INFINITY; model.nv()], vec![f64::INFINITY; model.nv()]];
    for joint in model.joints().iter().filter(|j| j.v.len() == 1) {
        if let Some([low, high]) = joint.range {
            let q = wanted[joint.q.start];
            let spare = SPARE.min(0.5 * (high - low));
            bounds[0][joint.v.start] = low + spare - q;
            bounds[1][joint.v.start] = high - spare - q;
        }
    }
    bounds
}

/// The dofs along which a free base moves to and from the floor.
fn free_of_price(model: &Model) -> Vec<bool> {
    let down = Vec3::from(model.options().gravity);
    let mut free = vec![false; model.nv()];
    for joint in model.joints().iter().filter(|j| j.v.len() == 6) {
        (0..3).filter(|k| down[*k] != 0.0).for_each(|k| free[joint.v.start + k] = true);
    }
    free
}

impl LeastSquares for Reach<'_> {
    type Error = BalanceError;

    fn unknowns(&self) -> usize {
        self.model.nv()
    }

    fn residuals(&self) -> usize {
        self.points + 2 + self.model.nv()
    }

    fn residual(&mut self, d: &[f64], r: &mut [f64]) -> Result<(), BalanceError> {
        self.pose(d)?;
        let (above, _) = self.above()?;
        for (r, (_, s)) in r.iter_mut().zip(&self.supports) {
            *r = self.floor.height(s.point);
        }
        r[self.points..self.points + 2].copy_from_slice(&above.offset);
        for (k, r) in r[self.points + 2..].iter_mut().enumerate() {
            *r = if self.free[k] { 0.0 } else { self.price * d[k] };
        }
        Ok(())
    }

    fn jacobian(&mut self, d: &[f64], mut J: MatMut<'_>) -> Result<(), BalanceError> {
        let (points, nv) = (self.points, self.model.nv());
        let (above, com) = self.above()?;
        let axes = horizontal(self.model);
        J.fill(0.0);
        // how the center of mass moves against the nearest place between the supports, along the two axes
        let flat = |rows: &Rows, k: usize, j: usize| (0..3).map(|i| axes[k][i] * rows[i][j]).sum::<f64>();
        let mut relative = [0, 1].map(|k| (0..nv).map(|j| flat(&com, k, j)).collect::<Vec<f64>>());
        for (row, (body, s)) in self.supports.clone().into_iter().enumerate() {
            let moves = self.posture.point(body, s.anchor)?;
            for j in 0..nv {
                J.row_mut(row)[j] = (0..3).map(|i| self.floor.normal[i] * moves[i][j]).sum();
                (0..2).for_each(|k| relative[k][j] -= above.shares[row] * flat(&moves, k, j));
            }
        }
        for k in 0..2 {
            for j in 0..nv {
                J.row_mut(points + k)[j] = above.across[k][0] * relative[0][j] + above.across[k][1] * relative[1][j];
            }
        }
        self.by_tangent(d, &mut J)?;
        for k in (0..nv).filter(|k| !self.free[*k]) {
            J.row_mut(points + 2 + k)[k] = self.price;
        }
        Ok(())
    }

    fn bounds(&self) -> Option<(&[f64], &[f64])> {
        Some((&self.bounds[0], &self.bounds[1]))
    }
}

impl Reach<'_> {
    /// From derivatives with respect to a tangent at the pose to those with respect to the unknown, a tangent at the
    /// wanted pose.
    fn by_tangent(&self, d: &[f64], J: &mut MatMut<'_>) -> Result<(), InputError> {
        let nv = self.model.nv();
        let (mut dq, mut dd) = (vec![0.0; nv * nv], vec![0.0; nv * nv]);
        let (dq, dd_view) = (MatMut::new(&mut dq, nv, nv), MatMut::new(&mut dd, nv, nv));
        self.model.integrate_derivatives(&self.wanted, d, dq, dd_view)?;
        for row in 0..self.points + 2 {
            let row = J.row_mut(row);
            let at_pose = row.to_vec();
            for (j, x) in row.iter_mut().enumerate() {
                *x = at_pose.iter().enumerate().map(|(k, a)| a * dd[k * nv + j]).sum();
            }
        }
        Ok(())
    }
}
