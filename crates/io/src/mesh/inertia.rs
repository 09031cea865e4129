//! Volume, center and second moments of what a mesh encloses, or of its surface.

use slipstick_core::spatial::{Sym3, Vec3, vec3};

/// A solid of density one; or a shell of one kilogram per square meter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Solid {
    /// [m³]; of a shell its area [m²]
    pub volume: f64,
    /// (m)
    pub center: Vec3,
    /// Rotational inertia about the center for density one [m⁵]; of a shell [m⁴]
    pub inertia: Sym3,
}

/// Smaller volumes [m³] are noise and divide badly.
const SMALLEST_VOLUME: f64 = 1e-15;

/// The solid inside a closed mesh whose triangles all face outwards; `None` without a positive volume.
pub(crate) fn solid_exact(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Option<Solid> {
    solid(vertices, triangles, |volume| volume)
}

/// MuJoCo's default rule: the cones from an inner point to the triangles all count as positive. The same as the exact
/// rule for convex meshes, more volume for others, and no trouble with triangles that face inwards.
pub(crate) fn solid_legacy(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Option<Solid> {
    solid(vertices, triangles, f64::abs)
}

fn solid(vertices: &[Vec3], triangles: &[[u32; 3]], count: fn(f64) -> f64) -> Option<Solid> {
    let corners = |t: &[u32; 3]| t.map(|i| vertices[i as usize]);
    // an inner point: mean of the surface
    let (mut area, mut inner) = (0.0, Vec3::ZERO);
    for [a, b, c] in triangles.iter().map(corners) {
        let part = 0.5 * (b - a).cross(c - a).norm();
        area += part;
        inner += (a + b + c) * (part / 3.0);
    }
    if area.is_nan() || area <= 0.0 {
        return None;
    }
    inner = inner * (1.0 / area);
    // center: mean of the cones from the inner point
    let (mut volume, mut center) = (0.0, Vec3::ZERO);
    for t in triangles.iter().map(corners) {
        let [a, b, c] = t.map(|p| p - inner);
        let part = count(a.dot(b.cross(c)) / 6.0);
        volume += part;
        center += (a + b + c) * (part / 4.0);
    }
    if volume.is_nan() || volume <= SMALLEST_VOLUME {
        return None;
    }
    center = inner + center * (1.0 / volume);
    // moments: cones from the center, ∫ x xᵀ = V/20 (Σ p pᵀ + s sᵀ) with s the sum of the corners
    let (mut volume, mut squares, mut products) = (0.0, Vec3::ZERO, Vec3::ZERO);
    for t in triangles.iter().map(corners) {
        let [a, b, c] = t.map(|p| p - center);
        let part = count(a.dot(b.cross(c)) / 6.0);
        volume += part;
        for p in [a, b, c, a + b + c] {
            squares += vec3(p.x * p.x, p.y * p.y, p.z * p.z) * (part / 20.0);
            products += vec3(p.x * p.y, p.x * p.z, p.y * p.z) * (part / 20.0);
        }
    }
    finished(volume, center, squares, products)
}

/// The surface itself as a thin shell.
pub(crate) fn shell(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Option<Solid> {
    let corners = |t: &[u32; 3]| t.map(|i| vertices[i as usize]);
    let area_of = |[a, b, c]: [Vec3; 3]| 0.5 * (b - a).cross(c - a).norm();
    let (mut area, mut center) = (0.0, Vec3::ZERO);
    for t in triangles.iter().map(corners) {
        area += area_of(t);
        center += (t[0] + t[1] + t[2]) * (area_of(t) / 3.0);
    }
    if area.is_nan() || area <= SMALLEST_VOLUME {
        return None;
    }
    center = center * (1.0 / area);
    // ∫ x xᵀ = A/12 (Σ p pᵀ + s sᵀ) with s the sum of the corners
    let (mut squares, mut products) = (Vec3::ZERO, Vec3::ZERO);
    for t in triangles.iter().map(corners) {
        let part = area_of(t) / 12.0;
        let [a, b, c] = t.map(|p| p - center);
        for p in [a, b, c, a + b + c] {
            squares += vec3(p.x * p.x, p.y * p.y, p.z * p.z) * part;
            products += vec3(p.x * p.y, p.x * p.z, p.y * p.z) * part;
        }
    }
    finished(area, center, squares, products)
}

/// A solid of its second moments ∫ x², y², z² and ∫ xy, xz, yz.
fn finished(volume: f64, center: Vec3, squares: Vec3, products: Vec3) -> Option<Solid> {
    let inertia = Sym3 {
        xx: squares.y + squares.z,
        xy: -products.x,
        yy: squares.x + squares.z,
        xz: -products.y,
        yz: -products.z,
        zz: squares.x + squares.y,
    };
    (volume > SMALLEST_VOLUME && inertia.is_finite()).then_some(Solid { volume, center, inertia })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box with corners at ±h around `c`, triangles facing outwards.
    fn cuboid(h: Vec3, c: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let sign = |k: usize, bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let corner = |k| c + vec3(h.x * sign(k, 0), h.y * sign(k, 1), h.z * sign(k, 2));
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
        ((0..8).map(corner).collect(), triangles.collect())
    }

    #[test]
    fn a_box_has_the_inertia_of_a_box_under_both_rules() {
        let (h, c) = (vec3(0.5, 0.2, 0.1), vec3(3.0, -1.0, 2.0));
        let (vertices, triangles) = cuboid(h, c);
        for rule in [solid_exact, solid_legacy] {
            let s = rule(&vertices, &triangles).unwrap();
            let volume = 8.0 * h.x * h.y * h.z;
            assert!((s.volume - volume).abs() < 1e-14);
            assert!((s.center - c).norm() < 1e-13);
            assert!((s.inertia.xx - volume * (h.y * h.y + h.z * h.z) / 3.0).abs() < 1e-13);
            assert!(s.inertia.xy.abs() < 1e-13);
        }
    }

    #[test]
    fn a_hollow_box_weighs_what_its_six_sides_weigh() {
        let (h, c) = (vec3(0.5, 0.2, 0.1), vec3(3.0, -1.0, 2.0));
        let (vertices, triangles) = cuboid(h, c);
        let s = shell(&vertices, &triangles).unwrap();
        let sides = [8.0 * h.y * h.z, 8.0 * h.x * h.z, 8.0 * h.x * h.y]; // area of each pair
        assert!((s.volume - sides.iter().sum::<f64>()).abs() < 1e-14 && (s.center - c).norm() < 1e-13);
        // a side at distance h has A h², across it A h²/3
        let square = |k: usize| (0..3).map(|i| sides[i] * h[k] * h[k] / if i == k { 1.0 } else { 3.0 }).sum::<f64>();
        assert!((s.inertia.xx - square(1) - square(2)).abs() < 1e-13);
        assert!((s.inertia.zz - square(0) - square(1)).abs() < 1e-13);
    }

    #[test]
    fn triangles_that_face_inwards_matter_to_the_exact_rule_only() {
        let (vertices, mut triangles) = cuboid(vec3(0.5, 0.2, 0.1), Vec3::ZERO);
        triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert_eq!(solid_exact(&vertices, &triangles), None);
        assert!((solid_legacy(&vertices, &triangles).unwrap().volume - 0.08).abs() < 1e-14);
    }

    #[test]
    fn a_flat_mesh_has_no_volume() {
        let vertices = [vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0)];
        assert_eq!(solid_legacy(&vertices, &[[0, 1, 2]]), None);
        assert_eq!(solid_legacy(&vertices, &[]), None);
    }
}
