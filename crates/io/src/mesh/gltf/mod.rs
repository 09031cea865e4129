//! glTF 2.0 (.glb, and .gltf that carries its buffers): positions of triangles, placed by the nodes of the scene.
//!
//! The format defines y as up, and its exporters turn models accordingly; here they are turned back to z-up.

mod buffers;

use super::painted::{Paint, Painted, Run};
use super::{Budget, Corners, Defect, TriangleMesh};
use buffers::Buffers;
use serde_json::Value;
use slipstick_core::spatial::{Mat3, Quat, Vec3};

/// Nodes are visited at most this often: lists of children may lead back to themselves.
const MAX_VISITS: usize = 100_000;

/// `points`: how many points and triangles may be placed.
pub(super) fn read(bytes: &[u8], points: usize) -> Result<TriangleMesh, Defect> {
    Ok(read_painted(bytes, points)?.mesh)
}

/// With the base colors of materials.
pub(super) fn read_painted(bytes: &[u8], points: usize) -> Result<Painted, Defect> {
    let (json, binary) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, None) };
    let json: Value = serde_json::from_slice(json).map_err(|e| Defect::whole(format!("not a glTF file: {e}")))?;
    let needed = json["extensionsRequired"].as_array().map_or(&[][..], Vec::as_slice);
    if let Some(extension) = needed.iter().filter_map(Value::as_str).find(|e| !e.starts_with("KHR_materials")) {
        let shown = crate::xml::shown(extension);
        return Err(Defect::whole(format!("extension {shown} is not supported; export the mesh without it")));
    }
    let buffers = Buffers::read(&json, binary)?;
    let (corners, budget, runs, warnings) = (Corners::default(), Budget::new(points), Vec::new(), Vec::new());
    let mut reader = Reader { json: &json, buffers, corners, triangles: Vec::new(), runs, warnings, budget };
    reader.scene()?;
    let mesh = TriangleMesh { vertices: reader.corners.vertices, triangles: reader.triangles };
    Ok(Painted { mesh, runs: reader.runs, warnings: reader.warnings, ..Painted::default() })
}

/// The JSON and the binary chunk of a .glb file.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Defect> {
    let word = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let short = || Defect::whole("the file is shorter than its header says");
    if word(4) != Some(2) {
        return Err(Defect::whole("only version 2 of glTF is read"));
    }
    let json = word(12).and_then(|n| bytes.get(20..20usize.checked_add(n)?)).ok_or_else(short)?;
    let next = 20 + json.len();
    let binary = match word(next) {
        Some(n) => Some(bytes.get(next + 8..(next + 8).saturating_add(n)).ok_or_else(short)?),
        None => None,
    };
    Ok((json, binary))
}

/// A number that counts something from zero.
fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

struct Reader<'a> {
    json: &'a Value,
    buffers: Buffers<'a>,
    corners: Corners,
    triangles: Vec<[u32; 3]>,
    runs: Vec<Run>,
    warnings: Vec<String>,
    budget: Budget,
}

impl<'a> Reader<'a> {
    fn scene(&mut self) -> Result<(), Defect> {
        let scene = &self.json["scenes"][index(&self.json["scene"]).unwrap_or(0)];
        // x stays, y (up) becomes z
        let [x, y, z] = Vec3::UNITS;
        let start = (Mat3::from_columns(x, z, -y), Vec3::ZERO);
        let mut stack: Vec<(&Value, (Mat3, Vec3))> = children(&scene["nodes"]).map(|n| (n, start)).collect();
        if scene.is_null() {
            let meshes = self.json["meshes"].as_array().map_or(0, Vec::len);
            (0..meshes).try_for_each(|m| self.mesh(m, &start))?;
        }
        let mut visits = 0;
        while let Some((number, (linear, offset))) = stack.pop() {
            visits += 1;
            let node = index(number).map(|i| &self.json["nodes"][i]).filter(|n| n.is_object());
            let node = node.ok_or_else(|| Defect::whole("a node is missing"))?;
            if visits + stack.len() + children(&node["children"]).len() > MAX_VISITS {
                return Err(Defect::whole("too many nodes, or nodes that contain themselves"));
            }
            let (a, b) = transformation(node)?;
            let place = (linear * a, linear * b + offset);
            if let Some(mesh) = index(&node["mesh"]) {
                self.mesh(mesh, &place)?;
            }
            stack.extend(children(&node["children"]).map(|n| (n, place)));
        }
        Ok(())
    }

    fn mesh(&mut self, number: usize, place: &(Mat3, Vec3)) -> Result<(), Defect> {
        let primitives = self.json["meshes"][number]["primitives"].as_array();
        let primitives = primitives.ok_or_else(|| Defect::whole(format!("mesh {number} is missing")))?;
        for primitive in primitives {
            self.budget.spend(1)?;
            let mode = index(&primitive["mode"]).unwrap_or(4);
            if !(4..=6).contains(&mode) {
                continue; // points and lines
            }
            let points = self.buffers.positions(&primitive["attributes"]["POSITION"])?;
            let corners = match &primitive["indices"] {
                Value::Null => (0..points.len() as u32).collect(),
                indices => self.buffers.indices(indices, points.len())?,
            };
            self.budget.spend(points.len() + corners.len())?;
            let numbers: Vec<u32> = points.iter().map(|p| self.corners.number(place.0 * *p + place.1)).collect();
            let mirrored = place.0.determinant() < 0.0;
            self.triangles.extend(triangles(&corners, mode).into_iter().map(|t| {
                let [a, b, c] = t.map(|i| numbers[i as usize]);
                if mirrored { [a, c, b] } else { [a, b, c] }
            }));
            let paint = self.paint(&primitive["material"]);
            self.runs.push(Run { end: self.triangles.len(), paint });
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// The base color of a material, without its pictures.
    fn paint(&mut self, material: &Value) -> Option<Paint> {
        let surface = &self.json["materials"][index(material)?]["pbrMetallicRoughness"];
        if surface.get("baseColorTexture").is_some() && self.warnings.is_empty() {
            self.warnings.push("pictures of glTF files are not shown, only their colors".into());
        }
        let factor = |k: usize| surface["baseColorFactor"][k].as_f64().filter(|x| x.is_finite()).unwrap_or(1.0);
        Some(Paint { rgba: [factor(0), factor(1), factor(2), factor(3)], picture: None })
    }
}

fn children(list: &Value) -> std::slice::Iter<'_, Value> {
    list.as_array().map_or(&[][..], Vec::as_slice).iter()
}

/// Triangles of a list (4), a strip (5) or a fan (6) of corners.
fn triangles(c: &[u32], mode: usize) -> Vec<[u32; 3]> {
    match mode {
        5 => c
            .windows(3)
            .enumerate()
            .map(|(i, t)| if i % 2 == 0 { [t[0], t[1], t[2]] } else { [t[0], t[2], t[1]] })
            .collect(),
        6 => c.windows(2).skip(1).map(|w| [c[0], w[0], w[1]]).collect(),
        _ => c.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
    }
}

/// Numbers of a property of a node; `None` where it is not there.
fn numbers<const N: usize>(node: &Value, name: &str) -> Result<Option<[f64; N]>, Defect> {
    let Some(list) = node.get(name) else { return Ok(None) };
    let list: Option<Vec<f64>> = list.as_array().and_then(|l| l.iter().map(Value::as_f64).collect());
    let array = list.and_then(|l| <[f64; N]>::try_from(l).ok());
    array.map(Some).ok_or_else(|| Defect::whole(format!("{name} of a node: expected {N} numbers")))
}

fn transformation(node: &Value) -> Result<(Mat3, Vec3), Defect> {
    if let Some(m) = numbers::<16>(node, "matrix")? {
        let column = |i: usize| Vec3::from_slice(&m[4 * i..]);
        return Ok((Mat3::from_columns(column(0), column(1), column(2)), column(3)));
    }
    let scale = numbers::<3>(node, "scale")?.unwrap_or([1.0; 3]);
    let [x, y, z, w] = numbers::<4>(node, "rotation")?.unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let turn = Quat::from_slice(&[w, x, y, z]).normalized().unwrap_or(Quat::IDENTITY).to_matrix();
    let [a, b, c] = Vec3::UNITS;
    let stretch = Mat3::from_columns(a * scale[0], b * scale[1], c * scale[2]);
    Ok((turn * stretch, Vec3::from(numbers::<3>(node, "translation")?.unwrap_or([0.0; 3]))))
}

#[cfg(test)]
mod tests;
