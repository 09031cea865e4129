//! Wavefront OBJ: vertices and faces; everything else in such files is for pictures.

use super::{Corners, Defect, TriangleMesh, polygon};
use slipstick_core::spatial::Vec3;

pub(super) fn read(bytes: &[u8]) -> Result<TriangleMesh, Defect> {
    let text = String::from_utf8_lossy(bytes);
    let mut corners = Corners::default();
    let (mut numbers, mut triangles) = (Vec::new(), Vec::new()); // vertex of each `v` line after merging
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                // more than three numbers: weight or color
                let point: Option<Vec<f64>> =
                    words.take(3).map(|w| w.parse().ok().filter(|x: &f64| x.is_finite())).collect();
                let point = point.filter(|p| p.len() == 3);
                let point = point.ok_or_else(|| Defect::new(i + 1, "expected 'v' and three finite numbers"))?;
                numbers.push(corners.number(Vec3::from_slice(&point)));
            }
            Some("f") => {
                let face: Result<Vec<u32>, Defect> = words.map(|w| corner(w, &numbers, i + 1)).collect();
                let face = face?;
                if face.len() < 3 {
                    return Err(Defect::new(i + 1, "a face needs at least three corners"));
                }
                polygon::triangulate(&corners.vertices, &face, &mut triangles);
            }
            _ => {}
        }
    }
    Ok(TriangleMesh { vertices: corners.vertices, triangles })
}

/// The vertex of a corner written as v, v/t, v//n or v/t/n; negative numbers count from the last vertex.
fn corner(word: &str, numbers: &[u32], line: usize) -> Result<u32, Defect> {
    let index = word.split('/').next().and_then(|v| v.parse::<i64>().ok());
    let place = index.and_then(|i| if i < 0 { i.checked_add(numbers.len() as i64) } else { i.checked_sub(1) });
    let vertex = place.and_then(|p| usize::try_from(p).ok()).and_then(|p| numbers.get(p)).copied();
    vertex.ok_or_else(|| {
        let got = format!("corner '{}' is none of the {} vertices above it", crate::xml::shown(word), numbers.len());
        Defect::new(line, got)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERTICES: &str = "v 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nv 0 0 1\n";

    #[test]
    fn all_styles_of_corners_are_read() {
        for face in ["f 1 2 3", "f 1/7 2/8 3/9", "f 1//7 2//8 3//9", "f 1/7/1 2/8/2 3/9/3", "f -5 -4 -3"] {
            let mesh = read(format!("{VERTICES}# comment\nvn 0 0 1\ng part\n{face}\n").as_bytes()).unwrap();
            assert_eq!(mesh.triangles, [[0, 1, 2]], "{face}");
        }
    }

    #[test]
    fn polygons_become_triangles_and_equal_vertices_become_one() {
        let mesh = read(format!("{VERTICES}v 0 0 0\nf 6 2 3 4\n").as_bytes()).unwrap();
        assert_eq!(mesh.vertices.len(), 5);
        assert_eq!(mesh.triangles, [[0, 1, 3], [1, 2, 3]]);
    }

    #[test]
    fn broken_lines_are_named() {
        for (line, part) in [
            ("f 1 2", "three corners"),
            ("f 1 2 9", "corner '9' is none of the 5 vertices"),
            ("f 0 1 2", "corner '0'"),
            ("f -9 1 2", "corner '-9'"),
            ("f 1 2 x", "corner 'x'"),
            ("v 1 2", "three finite numbers"),
            ("v 1 2 nan", "three finite numbers"),
            ("f -9223372036854775808 1 2", "corner"),
        ] {
            let defect = read(format!("{VERTICES}{line}").as_bytes()).unwrap_err();
            assert!(defect.got.contains(part) && defect.line == 6, "{line}: {defect:?}");
        }
    }
}
