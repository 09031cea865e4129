//! Powers with which costs grow.

/// Slope of the straight line that fits log y over log x best: y grows like x to this power.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let (xy, xx) = logs.iter().fold((0.0, 0.0), |s, p| {
        let x = p.0 - mean.0;
        (s.0 + x * (p.1 - mean.1), s.1 + x * x)
    });
    xy / xx
}

/// The exponent of the upper half of the points, by rising x: what is fixed per call matters least there.
pub fn upper_exponent(points: &[(f64, f64)]) -> f64 {
    exponent(&points[(points.len() / 2).min(points.len().saturating_sub(2))..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_is_found() {
        let points: Vec<(f64, f64)> = [1.0, 3.0, 10.0, 700.0].iter().map(|x: &f64| (*x, 5.0 * x.powf(1.7))).collect();
        assert!((exponent(&points) - 1.7).abs() < 1e-12);
    }

    #[test]
    fn small_sizes_do_not_count_for_the_upper_half() {
        let points = [(1.0, 9.0), (2.0, 9.0), (4.0, 16.0), (8.0, 64.0)];
        assert!((upper_exponent(&points) - 2.0).abs() < 1e-12);
    }
}
