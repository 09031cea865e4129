//! Randomized smoothing: derivatives as means over random relative poses.   (collision-5)

use super::{CollisionError, PointDerivatives, frozen};
use crate::random::Normal;
use crate::spatial::{Pose, Quat, Vec3, right_jacobian, vec3};

/// How samples are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sampling {
    /// Standard deviation of displacements (m) and rotations (rad).
    pub sigma: f64,
    /// Number of samples; drawn in pairs ±Z, so an odd number is rounded up.
    pub samples: u32,
    pub seed: u64,
}

/// A mean over samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mean {
    pub derivatives: PointDerivatives,
    /// Samples that count.
    pub used: u32,
    /// Samples without a contact or a derivative.
    pub left_out: u32,
}

/// Mean of (c(E⁺) − c(E⁻)) Zᵀ / 2σ, where c is normal and point, in world axes relative to the contact point, when body
/// 2 is displaced by E = exp(±σ Z) about the contact point.
pub(crate) fn zeroth(
    normal: Vec3,
    sampling: &Sampling,
    mut query: impl FnMut(&Pose) -> Option<(Vec3, Vec3)>,
) -> Result<Mean, CollisionError> {
    let mut sum = Sum::default();
    let mut draw = Normal::new(sampling.seed);
    for _ in 0..sampling.samples.div_ceil(2) {
        let z: [f64; 6] = core::array::from_fn(|_| draw.sample());
        let pair = (query(&displacement(&z, sampling.sigma)), query(&displacement(&z, -sampling.sigma)));
        let (Some((n0, p0)), Some((n1, p1))) = pair else {
            sum.left_out += 2;
            continue;
        };
        sum.used += 2;
        // a pair counts as two samples, hence not 1/2σ
        let (dn, dp) = ((n0 - n1) * (1.0 / sampling.sigma), (p0 - p1) * (1.0 / sampling.sigma));
        for k in 0..6 {
            sum.normal[k] += dn * z[k];
            sum.point[k] += dp * z[k];
        }
    }
    sum.mean(normal)
}

/// Mean of the exact derivatives at the displaced poses; `derive` gives them with the place of the contact point.
pub(crate) fn first(
    normal: Vec3,
    sampling: &Sampling,
    mut derive: impl FnMut(&Pose) -> Option<(Vec3, PointDerivatives)>,
) -> Result<Mean, CollisionError> {
    let mut sum = Sum::default();
    let mut draw = Normal::new(sampling.seed);
    for _ in 0..sampling.samples.div_ceil(2) {
        let z: [f64; 6] = core::array::from_fn(|_| draw.sample());
        for sigma in [sampling.sigma, -sampling.sigma] {
            match derive(&displacement(&z, sigma)) {
                Some((point, d)) => {
                    sum.used += 1;
                    sum.add(point, &d);
                }
                None => sum.left_out += 1,
            }
        }
    }
    sum.mean(normal)
}

/// exp(σ Z): a turn about an axis and a displacement along it.
fn displacement(z: &[f64; 6], sigma: f64) -> Pose {
    let (v, r) = (vec3(z[0], z[1], z[2]) * sigma, vec3(z[3], z[4], z[5]) * sigma);
    Pose::new(right_jacobian(-r) * v, Quat::exp(r))
}

/// Sums of the derivatives with respect to the twist of body 2 at the contact point.
#[derive(Default)]
struct Sum {
    normal: [Vec3; 6],
    point: [Vec3; 6],
    used: u32,
    left_out: u32,
}

impl Sum {
    /// Derivatives whose twists are taken at `point`: turning about the origin also moves that point.
    fn add(&mut self, point: Vec3, d: &PointDerivatives) {
        for k in 0..3 {
            let moved = Vec3::UNITS[k].cross(point);
            let shift = |c: &[Vec3; 6]| c[k + 3] + c[0] * moved.x + c[1] * moved.y + c[2] * moved.z;
            self.normal[k] += d.normal[1][k];
            self.point[k] += d.point[1][k];
            self.normal[k + 3] += shift(&d.normal[1]);
            self.point[k + 3] += shift(&d.point[1]);
        }
    }

    /// Body 1 gets what is missing: a motion of both bodies together carries normal and point along.
    fn mean(&self, normal: Vec3) -> Result<Mean, CollisionError> {
        if self.used == 0 {
            let why = "number of random poses that have one";
            return Err(CollisionError::NoDerivative { why, got: 0.0, least: 0.0 });
        }
        let scale = 1.0 / self.used as f64;
        let mut out = frozen(normal);
        for k in 0..6 {
            let dn = self.normal[k] * scale;
            // the mean of unit vectors is shorter than one: its derivative has a part along n, which means nothing
            out.normal[1][k] = dn - normal * normal.dot(dn);
            out.point[1][k] = self.point[k] * scale;
            let (both_n, both_p) =
                if k < 3 { (Vec3::ZERO, Vec3::UNITS[k]) } else { (Vec3::UNITS[k - 3].cross(normal), Vec3::ZERO) };
            out.normal[0][k] = both_n - out.normal[1][k];
            out.point[0][k] = both_p - out.point[1][k];
        }
        Ok(Mean { derivatives: out, used: self.used, left_out: self.left_out })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::contact::PointKind;
    use crate::collision::derivatives::point_derivatives;
    use crate::collision::derivatives::tests::scene::{Scene, touch};

    /// Two ellipsoids: smooth, so that a narrow mean has the exact derivative as its limit.
    fn ellipsoids() -> Scene {
        Scene::new([touch("ellipsoid"), touch("ellipsoid")], 0.05, [0.3, 1.4], PointKind::Nearest)
    }

    fn displaced(s: &Scene, by: &Pose) -> Scene {
        let mut moved = *s;
        moved.poses[1] = *by * moved.poses[1];
        moved
    }

    fn query(s: &Scene, by: &Pose) -> Option<(Vec3, Vec3)> {
        let v = displaced(s, by).value();
        Some((v.n, v.p))
    }

    /// The exact derivatives at a displaced pose, about the contact point there.
    fn derive(s: &Scene, by: &Pose) -> Option<(Vec3, PointDerivatives)> {
        let moved = displaced(s, by);
        let v = moved.value();
        let poses = moved.poses.map(|x| Pose { position: x.position - v.p, ..x });
        let shapes = &moved.shapes;
        point_derivatives(shapes, &poses, v.n, &moved.sides, &moved.kind).ok().map(|d| (v.p, d))
    }

    fn exact(s: &Scene) -> PointDerivatives {
        point_derivatives(&s.shapes, &s.poses, s.n, &s.sides, &s.kind).unwrap()
    }

    /// Largest deviation of normal and point derivatives, and the largest entry.
    fn deviation(a: &PointDerivatives, b: &PointDerivatives) -> (f64, f64) {
        let (mut worst, mut size) = (0.0f64, 0.0f64);
        for body in 0..2 {
            for k in 0..6 {
                worst = worst.max((a.normal[body][k] - b.normal[body][k]).norm());
                worst = worst.max((a.point[body][k] - b.point[body][k]).norm());
                size = size.max(b.normal[body][k].norm()).max(b.point[body][k].norm());
            }
        }
        (worst, size)
    }

    #[test]
    fn differences_of_queries_average_to_the_derivative_within_their_error_bars() {
        let s = ellipsoids();
        let sampling = Sampling { sigma: 1e-4, samples: 4000, seed: 7 };
        let mean = zeroth(s.n, &sampling, |by| query(&s, by)).unwrap();
        assert_eq!((mean.used, mean.left_out), (4000, 0));
        // an entry is the mean of 2000 numbers Σ_j D_j z_j z_k, whose deviation is below √7 |D|; five of them
        let (worst, size) = deviation(&mean.derivatives, &exact(&s));
        assert!(worst < 5.0 * (7.0f64 / 2000.0).sqrt() * size, "{worst} {size}");
        assert!(worst > 1e-4, "sampling noise cannot vanish: {worst}");
    }

    #[test]
    fn derivatives_at_narrow_poses_average_to_the_derivative() {
        let s = ellipsoids();
        let error = |sigma: f64| {
            let sampling = Sampling { sigma, samples: 200, seed: 3 };
            deviation(&first(s.n, &sampling, |by| derive(&s, by)).unwrap().derivatives, &exact(&s)).0
        };
        // pairs ±Z cancel the first order of σ
        let (wide, narrow) = (error(1e-2), error(1e-3));
        assert!(narrow < 1e-3 && narrow < wide / 50.0, "{narrow} {wide}");
    }

    #[test]
    fn both_orders_agree_on_a_wide_mean() {
        let s = ellipsoids();
        let sampling = Sampling { sigma: 0.03, samples: 8000, seed: 11 };
        let a = zeroth(s.n, &sampling, |by| query(&s, by)).unwrap().derivatives;
        let b = first(s.n, &sampling, |by| derive(&s, by)).unwrap().derivatives;
        let (worst, size) = deviation(&a, &b);
        assert!(worst < 5.0 * (7.0f64 / 4000.0).sqrt() * size, "{worst} {size}");
        assert!(deviation(&b, &exact(&s)).0 > 1e-3 * size, "a wide mean is smoother than the exact derivative");
    }

    #[test]
    fn the_same_seed_gives_the_same_bits_and_another_does_not() {
        let s = ellipsoids();
        let run = |seed| zeroth(s.n, &Sampling { sigma: 1e-2, samples: 16, seed }, |by| query(&s, by)).unwrap();
        assert_eq!(run(5), run(5));
        assert_ne!(run(5).derivatives, run(6).derivatives);
    }

    #[test]
    fn poses_without_contact_are_left_out_and_counted() {
        let s = ellipsoids();
        let sampling = Sampling { sigma: 1e-3, samples: 40, seed: 1 };
        let mut calls = 0;
        let mut sometimes = |by: &Pose| {
            calls += 1;
            if calls % 4 == 0 { None } else { query(&s, by) }
        };
        let mean = zeroth(s.n, &sampling, &mut sometimes).unwrap();
        assert_eq!((mean.used, mean.left_out), (20, 20));
        assert!(matches!(first(s.n, &sampling, |_| None), Err(CollisionError::NoDerivative { .. })));
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let mut draw = Normal::new(42);
        let (mut sum, mut square, mut fourth) = (0.0, 0.0, 0.0);
        let n = 200_000;
        for _ in 0..n {
            let z = draw.sample();
            sum += z;
            square += z * z;
            fourth += z * z * z * z;
        }
        let n = n as f64;
        assert!((sum / n).abs() < 0.01 && (square / n - 1.0).abs() < 0.015 && (fourth / n - 3.0).abs() < 0.15);
    }
}
