//! MSH, MuJoCo's own binary format: four counts, then vertices, normals, texture coordinates and triangles.

use super::{Defect, TriangleMesh};
use slipstick_core::spatial::Vec3;

/// Bytes of the counts before the first vertex, and of a number.
const HEADER: usize = 16;
const NUMBER: usize = 4;

pub(super) fn read(bytes: &[u8]) -> Result<TriangleMesh, Defect> {
    let counts = bytes.get(..HEADER).ok_or_else(|| Defect::whole("the file is too short for MSH"))?;
    let counts: Vec<usize> = words(counts).map(|w| i32::from_le_bytes(w).try_into().unwrap_or(usize::MAX)).collect();
    let [n_vertices, n_normals, n_coordinates, n_triangles] = counts[..] else {
        return Err(Defect::whole("the file is too short for MSH"));
    };
    let fits = |n| n == 0 || n == n_vertices;
    if n_vertices < 4 || !fits(n_normals) || !fits(n_coordinates) {
        let got = format!("an MSH file with {n_vertices} vertices, {n_normals} normals, {n_coordinates} coordinates");
        return Err(Defect::whole(got));
    }
    let numbers = [(3, n_vertices), (3, n_normals), (2, n_coordinates), (3, n_triangles)];
    let sum = |sum: usize, (width, n): &(usize, usize)| sum.checked_add(width.checked_mul(*n)?);
    let size = numbers.iter().try_fold(0, sum).and_then(|n| n.checked_mul(NUMBER)?.checked_add(HEADER));
    if size != Some(bytes.len()) {
        return Err(Defect::whole(format!("an MSH file of another size than its header says ({} bytes)", bytes.len())));
    }
    let floats: Vec<f64> = words(&bytes[HEADER..]).take(3 * n_vertices).map(|w| f32::from_le_bytes(w).into()).collect();
    if let Some(i) = floats.iter().position(|x| !x.is_finite()) {
        return Err(Defect::whole(format!("vertex {} is not finite", i / 3)));
    }
    let corners: Option<Vec<u32>> =
        words(&bytes[bytes.len() - NUMBER * 3 * n_triangles..]).map(|w| corner(w, n_vertices)).collect();
    let corners = corners.ok_or_else(|| Defect::whole(format!("a corner that is none of {n_vertices} vertices")))?;
    let triangles = corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
    Ok(TriangleMesh { vertices: floats.chunks_exact(3).map(Vec3::from_slice).collect(), triangles })
}

fn words(bytes: &[u8]) -> impl Iterator<Item = [u8; NUMBER]> {
    bytes.chunks_exact(NUMBER).map(|b| [b[0], b[1], b[2], b[3]])
}

fn corner(word: [u8; NUMBER], n_vertices: usize) -> Option<u32> {
    let corner = u32::try_from(i32::from_le_bytes(word)).ok()?;
    ((corner as usize) < n_vertices).then_some(corner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.5]];
    const TRIANGLES: [[i32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

    /// A tetrahedron, perhaps with normals and texture coordinates.
    fn file(extra: bool) -> Vec<u8> {
        let n = if extra { 4 } else { 0 };
        let mut bytes: Vec<u8> = [4, n, n, 4].into_iter().flat_map(i32::to_le_bytes).collect();
        bytes.extend(CORNERS.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend(vec![0; 5 * NUMBER * n as usize]);
        bytes.extend(TRIANGLES.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        bytes
    }

    #[test]
    fn normals_and_coordinates_are_passed_over() {
        let mesh = read(&file(false)).unwrap();
        assert_eq!(mesh.vertices[2], Vec3::new(0.0, 2.0, 0.0));
        assert_eq!(mesh.triangles[3], [1, 2, 3]);
        assert_eq!(read(&file(true)).unwrap(), mesh);
    }

    #[test]
    fn broken_files_are_refused() {
        let got = |bytes: &[u8]| read(bytes).unwrap_err().got;
        assert!(got(&file(true)[..10]).contains("too short"));
        assert!(got(&file(true)[..100]).contains("another size"));
        let changed = |at: usize, word: [u8; 4]| {
            let mut bytes = file(false);
            bytes[at..at + 4].copy_from_slice(&word);
            bytes
        };
        assert!(got(&changed(0, 3i32.to_le_bytes())).contains("3 vertices"));
        assert!(got(&changed(0, (-1i32).to_le_bytes())).contains("another size"));
        assert!(got(&changed(12, i32::MAX.to_le_bytes())).contains("another size"));
        assert!(got(&changed(16, f32::NAN.to_le_bytes())).contains("vertex 0 is not finite"));
        let last = file(false).len() - 4;
        assert!(got(&changed(last, 4i32.to_le_bytes())).contains("none of 4 vertices"));
        assert!(got(&changed(last, (-1i32).to_le_bytes())).contains("none of 4 vertices"));
    }
}
