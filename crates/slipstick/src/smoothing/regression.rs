//! A linear fit by least squares, with standard errors that hold for noise of any spread.

/// Fits `d = B z` to rows of `z` (n × m) and `d` (n × k): B and its standard errors, k × m each, row by row. `None` if
/// the rows do not tell the m numbers apart.
///
/// The errors are those of White with the correction of MacKinnon and White (HC2): what a linear function misses of a
/// contact that opens is larger where it opens, so one spread for all rows would not do.
pub(super) fn fit(n: usize, z: &[f64], d: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let (m, k) = (z.len() / n, d.len() / n);
    let factor = cholesky(n, m, z)?;
    // w = z (zᵀ z)⁻¹, row by row; B = dᵀ w
    let mut w = z.to_vec();
    w.chunks_exact_mut(m).for_each(|row| solve(m, &factor, row));
    let mut fitted = vec![0.0; k * m];
    for (d, w) in d.chunks_exact(k).zip(w.chunks_exact(m)) {
        for (b, d) in fitted.chunks_exact_mut(m).zip(d) {
            b.iter_mut().zip(w).for_each(|(b, w)| *b += d * w);
        }
    }
    let mut variance = vec![0.0; k * m];
    for ((d, z), w) in d.chunks_exact(k).zip(z.chunks_exact(m)).zip(w.chunks_exact(m)) {
        // 1 − leverage: how much of the noise of a row is left in its residual
        let left = (1.0 - dot(z, w)).max(f64::EPSILON);
        for (i, d) in d.iter().enumerate() {
            let row = i * m..(i + 1) * m;
            let residual = d - dot(&fitted[row.clone()], z);
            variance[row].iter_mut().zip(w).for_each(|(s, w)| *s += residual * residual / left * w * w);
        }
    }
    variance.iter_mut().for_each(|s| *s = s.sqrt());
    Some((fitted, variance))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |s, (a, b)| s + a * b)
}

/// Lower factor of zᵀ z.
fn cholesky(n: usize, m: usize, z: &[f64]) -> Option<Vec<f64>> {
    let mut l = vec![0.0; m * m];
    for row in z.chunks_exact(m).take(n) {
        for i in 0..m {
            for j in 0..=i {
                l[i * m + j] += row[i] * row[j];
            }
        }
    }
    for i in 0..m {
        let size = l[i * m + i];
        for j in 0..=i {
            let rest = l[i * m + j] - dot(&l[i * m..i * m + j], &l[j * m..j * m + j]);
            if i == j {
                // columns that depend on each other leave nothing but rounding
                if rest <= 1e-12 * size {
                    return None;
                }
                l[i * m + i] = rest.sqrt();
            } else {
                l[i * m + j] = rest / l[j * m + j];
            }
        }
    }
    Some(l)
}

/// x ← (l lᵀ)⁻¹ x.
fn solve(m: usize, l: &[f64], x: &mut [f64]) {
    for i in 0..m {
        x[i] = (x[i] - dot(&l[i * m..i * m + i], &x[..i])) / l[i * m + i];
    }
    for i in (0..m).rev() {
        let rest = (i + 1..m).fold(x[i], |s, j| s - l[j * m + i] * x[j]);
        x[i] = rest / l[i * m + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Normal;

    /// Rows of z, and d = B z with noise that grows with |z_0|.
    fn example(n: usize, noise: f64, seed: u64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut draw = Normal::new(seed);
        let (m, truth) = (3, vec![1.0, -2.0, 0.5, 0.0, 3.0, 4.0]);
        let (mut z, mut d) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let row: Vec<f64> = (0..m).map(|_| draw.sample()).collect();
            d.extend(truth.chunks_exact(m).map(|b| dot(b, &row) + noise * row[0].abs() * draw.sample()));
            z.extend(row);
        }
        (z, d, truth)
    }

    #[test]
    fn a_linear_function_is_found_exactly() {
        let (z, d, truth) = example(6, 0.0, 1);
        let (fitted, error) = fit(6, &z, &d).unwrap();
        let worst = fitted.iter().zip(&truth).fold(0.0f64, |w, (a, b)| w.max((a - b).abs()));
        assert!(worst < 1e-13 && error.iter().all(|e| *e < 1e-13), "{worst} {error:?}");
    }

    #[test]
    fn standard_errors_are_those_of_repeated_fits() {
        let (n, repeats) = (40, 2000);
        let (mut spread, mut stated) = ([0.0; 6], [0.0; 6]);
        for seed in 0..repeats {
            let (z, d, truth) = example(n, 0.3, 1000 + seed);
            let (fitted, error) = fit(n, &z, &d).unwrap();
            for k in 0..6 {
                spread[k] += (fitted[k] - truth[k]).powi(2) / repeats as f64;
                stated[k] += error[k].powi(2) / repeats as f64;
            }
        }
        for k in 0..6 {
            // where noise and lever go together these errors stay a little small: 20 % of a variance at 40 rows
            assert!((stated[k] / spread[k] - 1.0).abs() < 0.2, "{k}: {} for {}", stated[k], spread[k]);
        }
    }

    #[test]
    fn rows_that_do_not_tell_numbers_apart_give_nothing() {
        assert!(fit(3, &[1.0, 2.0, -1.0, -2.0, 3.0, 6.0], &[1.0, 2.0, 3.0]).is_none());
    }
}
