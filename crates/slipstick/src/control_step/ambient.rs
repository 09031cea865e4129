//! Derivatives with respect to the numbers of q instead of its tangents, for frameworks that know arrays only.
//!
//! A step takes q of any length and normalizes its quaternions. So a change dq of the four numbers of a quaternion p turns
//! the body by `2 Im(p* dq) / |p|²` (body axes), and a rotation w changes the quaternion by `p (0, w) / 2`.   (lie-10)

use slipstick_core::Model;
use slipstick_core::model::JointKind;
use slipstick_core::spatial::Quat;
use std::ops::Range;

/// Where q and its tangent lie, piece by piece.
#[derive(Debug, Clone)]
enum Piece {
    /// As many numbers in both: first of q, first of the tangent, how many.
    Plain(usize, usize, usize),
    /// Four numbers of q, three of the tangent.
    Quaternion(usize, usize),
}

/// The maps between changes of the numbers of q and tangents of a model.
#[derive(Debug, Clone)]
pub struct Ambient {
    pieces: Vec<Piece>,
    pub(super) nq: usize,
    pub(super) nv: usize,
}

impl Ambient {
    /// Those of a model.
    pub fn new(model: &Model) -> Ambient {
        let mut pieces = Vec::new();
        for joint in model.joints() {
            let (Range { start: q, .. }, Range { start: v, .. }) = (joint.q.clone(), joint.v.clone());
            match joint.kind {
                JointKind::Spherical => pieces.push(Piece::Quaternion(q, v)),
                JointKind::Free => pieces.extend([Piece::Plain(q, v, 3), Piece::Quaternion(q + 3, v + 3)]),
                _ => pieces.push(Piece::Plain(q, v, joint.q.len())),
            }
        }
        Ambient { pieces, nq: model.nq(), nv: model.nv() }
    }

    /// Whether q and its tangent are the same numbers.
    pub(super) fn is_plain(&self) -> bool {
        self.nq == self.nv
    }

    /// The tangent of a change of the numbers of q: `out = P(q) dq`.
    pub fn tangent(&self, q: &[f64], dq: &[f64], out: &mut [f64]) {
        for piece in &self.pieces {
            match *piece {
                Piece::Plain(i, j, n) => out[j..j + n].copy_from_slice(&dq[i..i + n]),
                Piece::Quaternion(i, j) => {
                    let P = to_tangent(quaternion(q, i));
                    (0..3).for_each(|r| out[j + r] = (0..4).map(|k| P[r][k] * dq[i + k]).sum());
                }
            }
        }
    }

    /// The gradient with respect to the numbers of q, of one with respect to tangents: `out = P(q)ᵀ w`.
    pub fn tangent_transposed(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        for piece in &self.pieces {
            match *piece {
                Piece::Plain(i, j, n) => out[i..i + n].copy_from_slice(&w[j..j + n]),
                Piece::Quaternion(i, j) => {
                    let P = to_tangent(quaternion(q, i));
                    (0..4).for_each(|k| out[i + k] = (0..3).map(|r| P[r][k] * w[j + r]).sum());
                }
            }
        }
    }

    /// The change of the numbers of a normalized q along a tangent: `out = E(q) w`.
    pub fn change(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        for piece in &self.pieces {
            match *piece {
                Piece::Plain(i, j, n) => out[i..i + n].copy_from_slice(&w[j..j + n]),
                Piece::Quaternion(i, j) => {
                    let E = from_tangent(quaternion(q, i));
                    (0..4).for_each(|k| out[i + k] = (0..3).map(|r| E[k][r] * w[j + r]).sum());
                }
            }
        }
    }

    /// The gradient with respect to tangents, of one with respect to the numbers of a normalized q: `out = E(q)ᵀ w`.
    pub fn change_transposed(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        for piece in &self.pieces {
            match *piece {
                Piece::Plain(i, j, n) => out[j..j + n].copy_from_slice(&w[i..i + n]),
                Piece::Quaternion(i, j) => {
                    let E = from_tangent(quaternion(q, i));
                    (0..3).for_each(|r| out[j + r] = (0..4).map(|k| E[k][r] * w[i + k]).sum());
                }
            }
        }
    }
}

fn quaternion(q: &[f64], i: usize) -> Quat {
    Quat::from_slice(&q[i..i + 4])
}

/// `P`: rotation vector (body axes) per number of a quaternion of any length.
fn to_tangent(p: Quat) -> [[f64; 4]; 3] {
    let s = 2.0 / (p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z);
    let (w, x, y, z) = (s * p.w, s * p.x, s * p.y, s * p.z);
    [[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]]
}

/// `E`: change of a unit quaternion per rotation vector.
fn from_tangent(p: Quat) -> [[f64; 3]; 4] {
    let (w, x, y, z) = (0.5 * p.w, 0.5 * p.x, 0.5 * p.y, 0.5 * p.z);
    [[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    fn random(draw: &mut Rng, n: usize) -> Vec<f64> {
        (0..n).map(|_| draw.sign() * (0.1 + draw.share())).collect()
    }

    #[test]
    fn changes_are_those_of_the_manifold() {
        let model = crate::builtin("quadruped").unwrap();
        let (ambient, mut draw) = (Ambient::new(&model), Rng(3));
        let mut q = random(&mut draw, model.nq());
        let raw = q.clone();
        model.normalize_q(&mut q).unwrap();
        let w = random(&mut draw, model.nv());
        let (mut dq, mut there, h) = (vec![0.0; model.nq()], q.clone(), 1e-7);
        ambient.change(&q, &w, &mut dq);
        let step: Vec<f64> = w.iter().map(|x| h * x).collect();
        model.integrate(&q, &step, &mut there).unwrap();
        for k in 0..model.nq() {
            assert!(((there[k] - q[k]) / h - dq[k]).abs() < 1e-6, "number {k}");
        }
        // a change of the numbers as they came, quaternions not normalized
        let (change, mut tangent, mut found) =
            (random(&mut draw, model.nq()), vec![0.0; model.nv()], vec![0.0; model.nv()]);
        ambient.tangent(&raw, &change, &mut tangent);
        let mut moved: Vec<f64> = raw.iter().zip(&change).map(|(q, d)| q + h * d).collect();
        model.normalize_q(&mut moved).unwrap();
        model.difference(&q, &moved, &mut found).unwrap();
        for k in 0..model.nv() {
            assert!((found[k] / h - tangent[k]).abs() < 1e-5, "dof {k}");
        }
    }

    #[test]
    fn transposed_maps_are_transposed() {
        let model = crate::builtin("quadruped").unwrap();
        let (ambient, mut draw) = (Ambient::new(&model), Rng(5));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (q, a, b) = (random(&mut draw, 19), random(&mut draw, 19), random(&mut draw, 18));
        let (mut left, mut right) = (vec![0.0; 18], vec![0.0; 19]);
        ambient.tangent(&q, &a, &mut left);
        ambient.tangent_transposed(&q, &b, &mut right);
        assert!((dot(&left, &b) - dot(&right, &a)).abs() < 1e-12);
        ambient.change(&q, &b, &mut right);
        ambient.change_transposed(&q, &a, &mut left);
        assert!((dot(&left, &b) - dot(&right, &a)).abs() < 1e-12);
    }
}
