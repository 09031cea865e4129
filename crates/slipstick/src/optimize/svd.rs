//! Singular values and vectors by one-sided Jacobi rotations: slower than bidiagonalization, but a page long and with
//! small singular values as exact as the matrix allows, which is what decides about rank.

use slipstick_core::linalg::MatRef;

/// `A = Σ s_k u_k v_kᵀ` with as many terms as the shorter side of A has numbers.
#[derive(Debug, Clone)]
pub(super) struct Svd {
    terms: Vec<Term>,
    /// The largest singular value.
    largest: f64,
}

#[derive(Debug, Clone)]
struct Term {
    s: f64,
    u: Vec<f64>,
    v: Vec<f64>,
}

/// Rotations converge quadratically in the end: ten sweeps are rare, so many are never needed.
const SWEEPS: usize = 60;

impl Svd {
    /// Of a matrix of finite numbers.
    pub fn new(A: MatRef) -> Svd {
        // columns of the matrix if it is tall, its rows if it is wide: the fewer vectors are made orthogonal
        let tall = A.rows() >= A.cols();
        let (count, length) = if tall { (A.cols(), A.rows()) } else { (A.rows(), A.cols()) };
        let entry = |k: usize, i: usize| if tall { A[(i, k)] } else { A[(k, i)] };
        // squares of numbers around one neither overflow nor vanish
        let scale = (0..count).fold(0.0f64, |s, k| (0..length).fold(s, |s, i| s.max(entry(k, i).abs())));
        let unit = if scale > 0.0 { scale } else { 1.0 };
        let mut vectors: Vec<Vec<f64>> =
            (0..count).map(|k| (0..length).map(|i| entry(k, i) / unit).collect()).collect();
        let mut turned: Vec<Vec<f64>> =
            (0..count).map(|k| (0..count).map(|i| f64::from(u8::from(i == k))).collect()).collect();
        orthogonalize(&mut vectors, &mut turned);
        let term = |(mut w, t): (Vec<f64>, Vec<f64>)| {
            let s = dot(&w, &w).sqrt();
            w.iter_mut().for_each(|x| *x /= if s > 0.0 { s } else { 1.0 });
            let (u, v) = if tall { (w, t) } else { (t, w) };
            Term { s: s * unit, u, v }
        };
        let terms: Vec<Term> = vectors.into_iter().zip(turned).map(term).collect();
        let largest = terms.iter().fold(0.0, |s: f64, t| s.max(t.s));
        Svd { terms, largest }
    }

    /// The shortest x among those that make ‖A x − b‖² + damping ‖x‖² least. Singular values below `tolerance` times
    /// the largest count as zero.                                                                          (lsq-3, lsq-4)
    pub fn solve(&self, b: &[f64], damping: f64, tolerance: f64, x: &mut [f64]) {
        x.fill(0.0);
        for Term { s, u, v } in self.terms.iter().filter(|t| t.s > tolerance * self.largest) {
            // s / (s² + damping), without the square of a small number
            let part = dot(u, b) / (s + damping / s);
            x.iter_mut().zip(v).for_each(|(x, v)| *x += part * v);
        }
    }
}

/// Turns pairs of vectors until all are orthogonal; `turned` takes the same turns.
fn orthogonalize(vectors: &mut [Vec<f64>], turned: &mut [Vec<f64>]) {
    let size = vectors.iter().fold(0.0, |s, w| s + dot(w, w));
    let length = vectors.first().map_or(0, Vec::len) as f64;
    // what rounding leaves of a vector that depends on others has no direction worth a turn
    let (negligible, parallel) = (f64::EPSILON * f64::EPSILON * size, f64::EPSILON * length.sqrt());
    for _ in 0..SWEEPS {
        let mut quiet = true;
        for i in 0..vectors.len() {
            for j in i + 1..vectors.len() {
                let (a, b) = (dot(&vectors[i], &vectors[i]), dot(&vectors[j], &vectors[j]));
                let c = dot(&vectors[i], &vectors[j]);
                if a.min(b) <= negligible || c.abs() <= parallel * (a * b).sqrt() {
                    continue;
                }
                quiet = false;
                let turn = rotation(a, b, c);
                rotate(vectors, i, j, turn);
                rotate(turned, i, j, turn);
            }
        }
        if quiet {
            return;
        }
    }
}

/// Cosine and sine of the smaller turn that makes vectors with squares a, b and product c orthogonal.
fn rotation(a: f64, b: f64, c: f64) -> (f64, f64) {
    let zeta = (b - a) / (2.0 * c);
    let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let cosine = 1.0 / t.hypot(1.0);
    (cosine, cosine * t)
}

fn rotate(vectors: &mut [Vec<f64>], i: usize, j: usize, (cosine, sine): (f64, f64)) {
    let (head, tail) = vectors.split_at_mut(j);
    for (a, b) in head[i].iter_mut().zip(&mut tail[0]) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |s, (a, b)| s + a * b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    fn random(rows: usize, cols: usize, seed: u64) -> Vec<f64> {
        let mut draw = Rng(seed);
        (0..rows * cols).map(|_| draw.sign()).collect()
    }

    #[test]
    fn the_terms_add_up_to_the_matrix_and_are_orthonormal() {
        for (rows, cols, seed) in [(5, 5, 1), (9, 4, 2), (4, 9, 3), (1, 3, 4), (12, 1, 5)] {
            let numbers = random(rows, cols, seed);
            let svd = Svd::new(MatRef::new(&numbers, rows, cols));
            for i in 0..rows {
                for j in 0..cols {
                    let sum = svd.terms.iter().fold(0.0, |x, t| x + t.s * t.u[i] * t.v[j]);
                    assert!((sum - numbers[i * cols + j]).abs() < 1e-14, "{rows} × {cols}");
                }
            }
            for (i, a) in svd.terms.iter().enumerate() {
                for (j, b) in svd.terms.iter().enumerate() {
                    let expected = f64::from(u8::from(i == j));
                    assert!((dot(&a.u, &b.u) - expected).abs() < 1e-13 && (dot(&a.v, &b.v) - expected).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn singular_values_of_very_different_size_are_found() {
        // Q D with D = (1, 1e-6, 1e-12) and a rotation Q has exactly these singular values
        let (c, s) = (0.3f64.cos(), 0.3f64.sin());
        let Q = [c, -s, 0.0, s * c, c * c, -s, s * s, c * s, c];
        let A: Vec<f64> = (0..9).map(|k| Q[k] * [1.0, 1e-6, 1e-12][k % 3]).collect();
        let mut found: Vec<f64> = Svd::new(MatRef::new(&A, 3, 3)).terms.iter().map(|t| t.s).collect();
        found.sort_by(|a, b| b.total_cmp(a));
        for (found, expected) in found.iter().zip([1.0, 1e-6, 1e-12]) {
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} for {expected}");
        }
    }

    #[test]
    fn without_full_rank_the_shortest_solution_is_found() {
        // columns: a, b, a + b. The shortest x with A x = 3 a is (2, -1, 1).
        let (a, b) = (random(6, 1, 7), random(6, 1, 8));
        let A: Vec<f64> = (0..6).flat_map(|i| [a[i], b[i], a[i] + b[i]]).collect();
        let right: Vec<f64> = a.iter().map(|x| 3.0 * x).collect();
        let mut x = [0.0; 3];
        Svd::new(MatRef::new(&A, 6, 3)).solve(&right, 0.0, 1e-10, &mut x);
        assert!(x.iter().zip([2.0, -1.0, 1.0]).all(|(x, e)| (x - e).abs() < 1e-13), "{x:?}");
    }

    #[test]
    fn damping_is_the_price_of_length() {
        // (AᵀA + λ) x = Aᵀ b
        let (A, b, damping) = (random(5, 3, 9), random(5, 1, 10), 0.4);
        let mut x = [0.0; 3];
        Svd::new(MatRef::new(&A, 5, 3)).solve(&b, damping, 1e-10, &mut x);
        let miss: Vec<f64> = A.chunks(3).zip(&b).map(|(row, b)| dot(row, &x) - b).collect();
        for j in 0..3 {
            let gradient = A.chunks(3).zip(&miss).fold(damping * x[j], |s, (row, r)| s + row[j] * r);
            assert!(gradient.abs() < 1e-14);
        }
    }

    #[test]
    fn a_matrix_of_zeros_asks_for_nothing() {
        let mut x = [1.0; 2];
        Svd::new(MatRef::new(&[0.0; 6], 3, 2)).solve(&[1.0; 3], 0.0, 1e-10, &mut x);
        assert_eq!(x, [0.0; 2]);
    }
}
