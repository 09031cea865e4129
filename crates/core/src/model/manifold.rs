//! The configuration manifold: `integrate` (⊕), `difference` (⊖) and their derivatives.   (lie-6 … lie-9)
//! Tangents are in the coordinates of v: lengths and angles add, rotations multiply on the right by exp.

use super::{Model, PrimitiveKind};
use crate::error::InputError;
use crate::input_check;
use crate::linalg::MatMut;
use crate::spatial::{Mat3, Quat, Vec3, right_jacobian, right_jacobian_inverse};

impl Model {
    /// Checks a configuration and brings its quaternions to norm one.
    pub fn normalize_q(&self, q: &mut [f64]) -> Result<(), InputError> {
        self.check_q(q)?;
        for p in self.balls() {
            let norm = q[p..p + 4].iter().fold(0.0, |s, x| s + x * x);
            // a quaternion that a step has made is left as it is, so that steps repeat bit for bit
            if (norm - 1.0).abs() > 8.0 * f64::EPSILON {
                let unit = Quat::from_slice(&q[p..]).normalized().unwrap_or(Quat::IDENTITY);
                q[p..p + 4].copy_from_slice(&unit.to_array());
            }
        }
        Ok(())
    }

    /// Checks length, finiteness and quaternions of a configuration.
    pub fn check_q(&self, q: &[f64]) -> Result<(), InputError> {
        input_check::vector("q", q, self.nq())?;
        let zero = self.balls().find(|p| !Quat::from_slice(&q[*p..]).has_direction());
        match zero {
            None => Ok(()),
            Some(p) => {
                let joint = self.joints().iter().find(|j| j.q.contains(&p));
                Err(InputError::ZeroQuaternion { joint: joint.map_or(String::new(), |j| j.name.clone()) })
            }
        }
    }

    /// First coordinate of every quaternion.
    fn balls(&self) -> impl Iterator<Item = usize> + '_ {
        let balls = self.tree().primitives.iter().filter(|p| p.kind == PrimitiveKind::Ball);
        balls.map(|p| p.q)
    }

    /// `out = q ⊕ d`, quaternions normalized.   (lie-6)
    pub fn integrate(&self, q: &[f64], d: &[f64], out: &mut [f64]) -> Result<(), InputError> {
        self.check_q(q)?;
        input_check::vector("dv", d, self.nv())?;
        input_check::length("out", out.len(), self.nq())?;
        self.integrate_unchecked(q, d, 1.0, out);
        Ok(())
    }

    /// `out = q ⊕ s d`.
    pub(crate) fn integrate_unchecked(&self, q: &[f64], d: &[f64], s: f64, out: &mut [f64]) {
        for p in &self.tree().primitives {
            if p.kind == PrimitiveKind::Ball {
                let turn = Quat::exp(Vec3::from_slice(&d[p.v..]) * s);
                let next = Quat::from_slice(&q[p.q..]).compose(turn);
                // a non-finite rotation stays non-finite, for the caller to find
                let next = next.normalized().unwrap_or(Quat { w: f64::NAN, ..next });
                out[p.q..p.q + 4].copy_from_slice(&next.to_array());
            } else {
                for k in 0..p.kind.nv() {
                    out[p.q + k] = q[p.q + k] + s * d[p.v + k];
                }
            }
        }
    }

    /// `out = q1 ⊖ q0`: the tangent with `q0 ⊕ out = q1` (rotations: the shorter way).   (lie-7)
    pub fn difference(&self, q0: &[f64], q1: &[f64], out: &mut [f64]) -> Result<(), InputError> {
        self.check_q(q0)?;
        self.check_q(q1)?;
        input_check::length("out", out.len(), self.nv())?;
        self.difference_unchecked(q0, q1, out);
        Ok(())
    }

    pub(crate) fn difference_unchecked(&self, q0: &[f64], q1: &[f64], out: &mut [f64]) {
        for p in &self.tree().primitives {
            if p.kind == PrimitiveKind::Ball {
                out[p.v..p.v + 3].copy_from_slice(&turn_between(q0, q1, p.q).to_array());
            } else {
                for k in 0..p.kind.nv() {
                    out[p.v + k] = q1[p.q + k] - q0[p.q + k];
                }
            }
        }
    }

    /// Derivatives of `q ⊕ d` with respect to q (`dq`) and d (`dd`), nv × nv, in tangents.   (lie-8)
    pub fn integrate_derivatives(&self, q: &[f64], d: &[f64], dq: MatMut, dd: MatMut) -> Result<(), InputError> {
        self.check_q(q)?;
        input_check::vector("dv", d, self.nv())?;
        self.block_diagonal(dq, dd, 1.0, |_, v| {
            let turn = Vec3::from_slice(&d[v..]);
            (Quat::exp(-turn).to_matrix(), right_jacobian(turn))
        })
    }

    /// Derivatives of `q1 ⊖ q0` with respect to q0 (`d0`) and q1 (`d1`), nv × nv, in tangents.   (lie-9)
    pub fn difference_derivatives(&self, q0: &[f64], q1: &[f64], d0: MatMut, d1: MatMut) -> Result<(), InputError> {
        self.check_q(q0)?;
        self.check_q(q1)?;
        self.block_diagonal(d0, d1, -1.0, |q, _| {
            let inverse = right_jacobian_inverse(turn_between(q0, q1, q));
            (inverse.transpose() * -1.0, inverse)
        })
    }

    /// `a` = sign · identity and `b` = identity, except for the two blocks of each rotation, made from its places in q and v.
    fn block_diagonal(
        &self,
        mut a: MatMut,
        mut b: MatMut,
        sign: f64,
        blocks: impl Fn(usize, usize) -> (Mat3, Mat3),
    ) -> Result<(), InputError> {
        self.identities(&mut a, sign)?;
        self.identities(&mut b, 1.0)?;
        for p in self.tree().primitives.iter().filter(|p| p.kind == PrimitiveKind::Ball) {
            let (block_a, block_b) = blocks(p.q, p.v);
            write_block(&mut a, p.v, &block_a);
            write_block(&mut b, p.v, &block_b);
        }
        Ok(())
    }

    fn identities(&self, m: &mut MatMut, sign: f64) -> Result<(), InputError> {
        input_check::length("rows of a derivative", m.rows(), self.nv())?;
        input_check::length("columns of a derivative", m.cols(), self.nv())?;
        m.fill(0.0);
        for j in 0..self.nv() {
            m[(j, j)] = sign;
        }
        Ok(())
    }
}

/// The rotation vector from the quaternion of q0 to that of q1, both beginning at `p`.
fn turn_between(q0: &[f64], q1: &[f64], p: usize) -> Vec3 {
    let unit = |q: &[f64]| Quat::from_slice(&q[p..]).normalized().unwrap_or(Quat::IDENTITY);
    unit(q0).conjugate().compose(unit(q1)).log()
}

fn write_block(m: &mut MatMut, v: usize, block: &Mat3) {
    for i in 0..3 {
        for j in 0..3 {
            m[(v + i, v + j)] = block.at(i, j);
        }
    }
}
