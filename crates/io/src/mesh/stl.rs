//! STL, binary and text. Corners are repeated in every triangle there; equal ones become one vertex.

use super::{Corners, Defect, TriangleMesh};
use slipstick_core::spatial::Vec3;

/// Bytes before the first triangle, and of a triangle, of a binary file.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn read(bytes: &[u8]) -> Result<TriangleMesh, Defect> {
    // By size and not by the word "solid": many binary files begin with it.
    let count = bytes.get(80..HEADER).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]) as usize);
    match count {
        Some(n) if n.checked_mul(TRIANGLE).and_then(|t| t.checked_add(HEADER)) == Some(bytes.len()) => binary(bytes),
        _ if bytes.trim_ascii_start().starts_with(b"solid") => text(bytes),
        Some(n) => {
            let got = format!("an STL file of {n} triangles has 84 + 50·{n} bytes, this one has {}", bytes.len());
            Err(Defect::new(0, got))
        }
        None => Err(Defect::new(0, "the file is too short for STL")),
    }
}

fn binary(bytes: &[u8]) -> Result<TriangleMesh, Defect> {
    let (mut corners, mut triangles) = (Corners::default(), Vec::new());
    for (i, record) in bytes[HEADER..].chunks_exact(TRIANGLE).enumerate() {
        let float = |k: usize| {
            let b = &record[4 * k..4 * k + 4];
            f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        };
        // numbers 0..3 are the normal
        let points = [3, 6, 9].map(|k| Vec3::new(float(k), float(k + 1), float(k + 2)));
        if points.iter().any(|p| !p.is_finite()) {
            return Err(Defect::new(0, format!("a corner of triangle {i} is not finite")));
        }
        triangles.push(points.map(|p| corners.number(p)));
    }
    Ok(TriangleMesh { vertices: corners.vertices, triangles })
}

fn text(bytes: &[u8]) -> Result<TriangleMesh, Defect> {
    let text = String::from_utf8_lossy(bytes);
    let (mut corners, mut numbers) = (Corners::default(), Vec::new());
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        if words.next() != Some("vertex") {
            continue;
        }
        let point: Option<Vec<f64>> = words.map(|w| w.parse().ok().filter(|x: &f64| x.is_finite())).collect();
        let point = point.filter(|p| p.len() == 3);
        let point = point.ok_or_else(|| Defect::new(i + 1, "expected 'vertex' and three finite numbers"))?;
        numbers.push(corners.number(Vec3::from_slice(&point)));
    }
    if numbers.len() % 3 != 0 {
        return Err(Defect::new(0, format!("{} vertices do not make whole triangles", numbers.len())));
    }
    let triangles = numbers.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    Ok(TriangleMesh { vertices: corners.vertices, triangles })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[[f32; 3]; 3]; 2] =
        [[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[-0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]];

    fn binary_file() -> Vec<u8> {
        let mut bytes = vec![b' '; 80];
        bytes[..5].copy_from_slice(b"solid");
        bytes.extend(2u32.to_le_bytes());
        for triangle in CORNERS {
            bytes.extend([0; 12]);
            bytes.extend(triangle.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn a_binary_file_that_begins_with_solid_is_read_as_binary() {
        let mesh = read(&binary_file()).unwrap();
        assert_eq!(mesh.vertices.len(), 4);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn text_and_binary_give_the_same_mesh() {
        let mut text = String::from("solid x\n");
        for t in CORNERS {
            text += "facet normal 0 0 0\n outer loop\n";
            text += &t.map(|[x, y, z]| format!("  vertex {x} {y} {z}\n")).concat();
            text += " endloop\nendfacet\n";
        }
        assert_eq!(read(text.as_bytes()), read(&binary_file()));
    }

    #[test]
    fn broken_files_are_refused() {
        let mut short = binary_file();
        short.pop();
        short[..5].copy_from_slice(b"other");
        assert!(read(&short).unwrap_err().got.contains("84 + 50·2 bytes"));
        let mut nan = binary_file();
        nan[84 + 12..84 + 16].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(read(&nan).unwrap_err().got.contains("triangle 0 is not finite"));
        assert!(read(b"").is_err());
        assert_eq!(read(b"solid\nvertex 1 2\n").unwrap_err().line, 2);
    }
}
