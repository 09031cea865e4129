//! Polygons to triangles.

use slipstick_core::spatial::Vec3;

/// Longer outlines become fans: clipping ears takes up to the cube of their length.
const LONGEST_OUTLINE: usize = 256;

/// Adds the triangles of a polygon. A quadrangle is cut along its shorter diagonal, as MuJoCo does (it matters where the
/// four corners are not in one plane); from longer outlines ears are clipped, so that dents stay dents.
pub(super) fn triangulate(vertices: &[Vec3], outline: &[u32], triangles: &mut Vec<[u32; 3]>) {
    let at = |i: u32| vertices[i as usize];
    match *outline {
        [a, b, c] => triangles.push([a, b, c]),
        [a, b, c, d] if (at(c) - at(a)).norm() < (at(d) - at(b)).norm() => triangles.extend([[a, b, c], [a, c, d]]),
        [a, b, c, d] => triangles.extend([[a, b, d], [b, c, d]]),
        _ if outline.len() > LONGEST_OUTLINE => fan(outline, triangles),
        _ => clip_ears(vertices, outline, triangles),
    }
}

fn fan(outline: &[u32], triangles: &mut Vec<[u32; 3]>) {
    triangles.extend(outline.windows(2).skip(1).map(|w| [outline[0], w[0], w[1]]));
}

fn clip_ears(vertices: &[Vec3], outline: &[u32], triangles: &mut Vec<[u32; 3]>) {
    let at = |i: u32| vertices[i as usize];
    // twice the area of the outline, as a vector along its normal
    let area = (1..outline.len().saturating_sub(1))
        .fold(Vec3::ZERO, |sum, i| sum + (at(outline[i]) - at(outline[0])).cross(at(outline[i + 1]) - at(outline[0])));
    let left_of = |a: u32, b: u32, p: u32| (at(b) - at(a)).cross(at(p) - at(a)).dot(area) >= 0.0;
    let mut rest = outline.to_vec();
    while rest.len() > 3 {
        let n = rest.len();
        let ear = (0..n).find(|i| {
            let [a, b, c] = [rest[(i + n - 1) % n], rest[*i], rest[(i + 1) % n]];
            let inside = |p: u32| left_of(a, b, p) && left_of(b, c, p) && left_of(c, a, p);
            left_of(a, b, c) && !rest.iter().any(|p| ![a, b, c].contains(p) && inside(*p))
        });
        // an outline that crosses itself has no ears
        let Some(i) = ear else { break };
        triangles.push([rest[(i + n - 1) % n], rest[i], rest[(i + 1) % n]]);
        rest.remove(i);
    }
    fan(&rest, triangles);
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick_core::spatial::vec3;

    /// Areas of the triangles of an outline in the plane z = 0, positive where they face up.
    fn areas(points: &[Vec3]) -> Vec<f64> {
        let mut triangles = Vec::new();
        triangulate(points, &(0..points.len() as u32).collect::<Vec<_>>(), &mut triangles);
        let area = |[a, b, c]: [Vec3; 3]| 0.5 * (b - a).cross(c - a).z;
        triangles.iter().map(|t| area(t.map(|i| points[i as usize]))).collect()
    }

    #[test]
    fn a_dent_stays_a_dent() {
        // an L whose fan from the first corner would leave the polygon
        let l = [(3.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0), (0.0, 0.0), (3.0, 0.0)].map(|(x, y)| vec3(x, y, 0.0));
        let areas = areas(&l);
        assert!(areas.len() == 4 && areas.iter().all(|a| *a >= 0.0), "{areas:?}");
        assert!((areas.iter().sum::<f64>() - 5.0).abs() < 1e-14);
    }

    #[test]
    fn a_quadrangle_is_cut_along_its_shorter_diagonal() {
        let mut triangles = Vec::new();
        let corners = [vec3(0.0, 0.0, 0.0), vec3(3.0, 0.0, 1.0), vec3(1.0, 1.0, 0.0), vec3(-2.0, 1.0, 1.0)];
        triangulate(&corners, &[0, 1, 2, 3], &mut triangles);
        triangulate(&corners, &[1, 2, 3, 0], &mut triangles);
        assert_eq!(triangles, [[0, 1, 2], [0, 2, 3], [1, 2, 0], [2, 3, 0]]);
    }

    #[test]
    fn outlines_that_cross_themselves_or_are_huge_still_end() {
        let star: Vec<Vec3> = (0..7).map(|k| 5.4 * f64::from(k)).map(|a| vec3(a.cos(), a.sin(), 0.0)).collect();
        assert_eq!(areas(&star).len(), 5);
        assert_eq!(areas(&[vec3(1.0, 1.0, 0.0); 9]).len(), 7);
        assert_eq!(areas(&vec![vec3(1.0, 1.0, 0.0); 5000]).len(), 4998);
    }
}
