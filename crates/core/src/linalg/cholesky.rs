//! Cholesky factors with pivots, of matrices that may be singular.
#![allow(non_snake_case)]

/// `A ≈ L Lᵀ` of a symmetric matrix without negative eigenvalues, the largest pivot that is left first, as long as it is
/// above `least`. L has as many columns as the result says; its rows are `stride` numbers apart, as those of A.
/// `left` is scratch: a number per row of A.
pub(crate) fn pivoted_cholesky(A: &[f64], stride: usize, least: f64, L: &mut [f64], left: &mut [f64]) -> usize {
    let n = left.len();
    left.iter_mut().enumerate().for_each(|(i, x)| *x = A[i * stride + i]);
    for c in 0..n {
        let (pivot, largest) = left.iter().enumerate().fold((0, 0.0), |m, (i, x)| if *x > m.1 { (i, *x) } else { m });
        if largest <= least {
            return c;
        }
        let root = largest.sqrt();
        for i in 0..n {
            let sum = (0..c).fold(A[i * stride + pivot], |s, k| s - L[i * stride + k] * L[pivot * stride + k]);
            L[i * stride + c] = sum / root;
            left[i] -= L[i * stride + c] * L[i * stride + c];
        }
        left[pivot] = 0.0;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_has_the_rank_of_the_matrix() {
        const N: usize = 4;
        let rows = [[1.0, 2.0, 0.5], [0.3, -1.0, 2.0], [1.3, 1.0, 2.5], [0.0, 0.0, 0.0]];
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let A: Vec<f64> = (0..N * N).map(|k| product(&rows[k / N], &rows[k % N])).collect();
        let (mut L, mut left) = ([0.0; N * N], [0.0; N]);
        assert_eq!(pivoted_cholesky(&A, N, 1e-12, &mut L, &mut left), 2);
        for (k, a) in A.iter().enumerate() {
            assert!((product(&L[k / N * N..][..N], &L[k % N * N..][..N]) - a).abs() < 1e-12);
        }
    }
}
