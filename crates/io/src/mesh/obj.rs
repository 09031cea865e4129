//! Wavefront OBJ: vertices and faces; for pictures also texture coordinates and the materials of MTL files beside it.

use super::painted::{Paint, Painted, Run};
use super::{Corners, Defect, TriangleMesh, mtl, polygon};
use slipstick_core::spatial::Vec3;
use std::collections::HashMap;
use std::path::Path;

pub(super) fn read(bytes: &[u8]) -> Result<TriangleMesh, Defect> {
    Ok(read_painted(bytes, None)?.mesh)
}

/// With colors if `path`, beside which materials are looked for, is given.
pub(super) fn read_painted(bytes: &[u8], path: Option<&Path>) -> Result<Painted, Defect> {
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader::default();
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match (words.next(), path) {
            (Some("v"), _) => reader.vertex(words, i + 1)?,
            (Some("f"), _) => reader.face(words, i + 1, path.is_some())?,
            (Some("vt"), Some(_)) => {
                let at = |word: Option<&str>| word.and_then(|w| w.parse::<f32>().ok()).filter(|x| x.is_finite());
                reader.places.push([at(words.next()).unwrap_or(0.0), at(words.next()).unwrap_or(0.0)]);
            }
            (Some("usemtl"), Some(_)) => reader.change_paint(rest(line, "usemtl")),
            (Some("mtllib"), Some(path)) => reader.library(rest(line, "mtllib"), path),
            _ => {}
        }
    }
    Ok(reader.finish())
}

/// What stands behind the first word of a line; names may have blanks.
fn rest<'a>(line: &'a str, word: &str) -> &'a str {
    line.trim().strip_prefix(word).unwrap_or_default().trim()
}

#[derive(Default)]
struct Reader {
    corners: Corners,
    /// Vertex of each `v` line after merging.
    numbers: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    /// Texture coordinates of each `vt` line.
    places: Vec<[f32; 2]>,
    uv: Vec<[[f32; 2]; 3]>,
    paints: HashMap<String, Paint>,
    paint: Option<Paint>,
    runs: Vec<Run>,
    warnings: Vec<String>,
}

impl Reader {
    fn vertex<'a>(&mut self, words: impl Iterator<Item = &'a str>, line: usize) -> Result<(), Defect> {
        // more than three numbers: weight or color
        let point: Option<Vec<f64>> = words.take(3).map(|w| w.parse().ok().filter(|x: &f64| x.is_finite())).collect();
        let point = point.filter(|p| p.len() == 3);
        let point = point.ok_or_else(|| Defect::new(line, "expected 'v' and three finite numbers"))?;
        self.numbers.push(self.corners.number(Vec3::from_slice(&point)));
        Ok(())
    }

    fn face<'a>(
        &mut self,
        words: impl Iterator<Item = &'a str> + Clone,
        line: usize,
        painted: bool,
    ) -> Result<(), Defect> {
        let face: Result<Vec<u32>, Defect> = words.clone().map(|w| corner(w, &self.numbers, line)).collect();
        let face = face?;
        if face.len() < 3 {
            return Err(Defect::new(line, "a face needs at least three corners"));
        }
        let first = self.triangles.len();
        polygon::triangulate(&self.corners.vertices, &face, &mut self.triangles);
        if painted {
            let places: Vec<[f32; 2]> = words.map(|w| self.place(w)).collect();
            let at = |i: &u32| places[face.iter().position(|f| f == i).unwrap_or(0)];
            self.uv.extend(self.triangles[first..].iter().map(|t| [at(&t[0]), at(&t[1]), at(&t[2])]));
        }
        Ok(())
    }

    /// Texture coordinates of a corner; a wrong number is no reason to refuse a picture.
    fn place(&self, word: &str) -> [f32; 2] {
        let index = word.split('/').nth(1).and_then(|t| t.parse::<i64>().ok()).unwrap_or(0);
        let place = if index < 0 { index.checked_add(self.places.len() as i64) } else { index.checked_sub(1) };
        let known = place.and_then(|p| usize::try_from(p).ok()).and_then(|p| self.places.get(p));
        known.copied().unwrap_or_default()
    }

    fn library(&mut self, name: &str, path: &Path) {
        let file = path.with_file_name(name);
        if let Err(got) = mtl::read(&file, &mut self.paints) {
            self.warnings.push(format!("{}: materials cannot be read: {got}", file.display()));
        }
    }

    fn change_paint(&mut self, name: &str) {
        self.end_run();
        self.paint = self.paints.get(name).cloned();
    }

    fn end_run(&mut self) {
        self.runs.push(Run { end: self.triangles.len(), paint: self.paint.take() });
    }

    fn finish(mut self) -> Painted {
        self.end_run();
        let mesh = TriangleMesh { vertices: self.corners.vertices, triangles: self.triangles };
        let uv = if self.places.is_empty() { Vec::new() } else { self.uv };
        Painted { mesh, runs: self.runs, uv, warnings: self.warnings }
    }
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
    fn materials_hold_for_the_faces_behind_them() {
        let folder = std::env::temp_dir().join(format!("slipstick-obj-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("part.mtl"), "newmtl red\nKd 1 0 0\nnewmtl skin\nmap_Kd skin.png\n").unwrap();
        let text = format!(
            "mtllib part.mtl\nmtllib none.mtl\n{VERTICES}vt 0 0\nvt 1 0\nvt 1 1\nf 1 2 3\nusemtl red\nf 1 3 4\nusemtl skin\nf 1/1 2/2 3/3\n"
        );
        let painted = read_painted(text.as_bytes(), Some(&folder.join("part.obj"))).unwrap().parts();
        assert_eq!(painted.parts.len(), 3);
        assert_eq!(painted.parts[1].paint, Some(Paint { rgba: [1.0, 0.0, 0.0, 1.0], picture: None }));
        assert_eq!(painted.parts[2].paint.as_ref().unwrap().picture, Some(folder.join("skin.png")));
        assert_eq!(painted.parts[2].uv, [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]);
        assert!(painted.warnings.len() == 1 && painted.warnings[0].contains("none.mtl"), "{:?}", painted.warnings);
        std::fs::remove_dir_all(&folder).unwrap();
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
