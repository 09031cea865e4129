//! Files that a model names: meshes, and pictures of height fields.

use super::checksum::{adler32, crc32};
use crate::case::{Answer, Verdict, finite, load_options};
use crate::mutate;
use slipstick::Model;
use slipstick::files::{load_mesh_file, load_mjcf_str};
use slipstick::random::Rng;
use slipstick::spatial::vec3;
use std::path::PathBuf;

/// A mesh file read for itself, and as the shape of a body that is then stepped.
pub fn mesh(kind: &str, input: &[u8]) -> Verdict {
    let kind = match (kind, input.starts_with(b"glTF")) {
        ("gltf", true) => "glb",
        _ => kind,
    };
    let path = file(&format!("case.{kind}"), input)?;
    match load_mesh_file(&path, vec3(1.0, 1.0, 1.0)) {
        Err(_) => Ok(Answer::Refused),
        Ok(mesh) => {
            let numbers: Vec<f64> = mesh.vertices.iter().flat_map(|v| v.to_array()).collect();
            finite("vertices", &numbers)?;
            let n = mesh.vertices.len();
            if mesh.triangles.iter().flatten().any(|k| *k as usize >= n) {
                return Err("a triangle names a vertex that is not there".into());
            }
            let body = "<body pos=\"0 0 1\"><freejoint/><geom type=\"mesh\" mesh=\"m\"/></body>";
            loaded(&format!("<mesh name=\"m\" file=\"case.{kind}\"/>"), body)
        }
    }
}

/// A picture as a height field, with a ball on it.
pub fn field(input: &[u8]) -> Verdict {
    file("case.png", input)?;
    let body = "<geom type=\"hfield\" hfield=\"f\"/><body pos=\"0 0 0.6\"><freejoint/><geom size=\"0.1\"/></body>";
    loaded("<hfield name=\"f\" size=\"1 1 0.5 0.1\" file=\"case.png\"/>", body)
}

fn loaded(asset: &str, world: &str) -> Verdict {
    let text = format!(
        "<mujoco><asset>{asset}</asset><worldbody><geom type=\"plane\" size=\"1 1 1\"/>{world}</worldbody></mujoco>"
    );
    let options = load_options();
    match load_mjcf_str(&folder().join("case.xml").to_string_lossy(), &text, &options) {
        Err(_) => Ok(Answer::Refused),
        Ok(model) => stepped(&model).map(|()| Answer::Accepted),
    }
}

fn stepped(model: &Model) -> Result<(), String> {
    finite("parameters", model.parameters().values())?;
    super::steps(model, 2)
}

/// Where this process keeps the files of a case.
pub fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("slipstick-fuzz-{}", std::process::id()))
}

/// Writes a file of the case.
pub fn file(name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let path = folder().join(name);
    let written = std::fs::create_dir_all(folder()).and_then(|()| std::fs::write(&path, bytes));
    // a full disk is no finding
    written.map_err(|e| panic!("{}: {e}", path.display())).map(|()| path)
}

/// A PNG with right checksums whose head and contents may not fit each other; sometimes damaged further.
pub fn picture(rng: &mut Rng) -> Vec<u8> {
    let side = |rng: &mut Rng| match rng.below(20) {
        0 => [0, 1, 4096, 65_535, 0x7fff_ffff, u32::MAX][rng.below(6)],
        _ => 2 + rng.below(30) as u32,
    };
    let (width, height) = (side(rng), side(rng));
    let depth = if rng.chance(0.8) { [1, 2, 4, 8, 16][rng.below(5)] } else { rng.below(256) as u8 };
    let color = if rng.chance(0.8) { [0, 2, 3, 4, 6][rng.below(5)] } else { rng.below(256) as u8 };
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([depth, color, 0, 0, u8::from(rng.chance(0.2))]);
    let channels = [1, 1, 3, 1, 2, 1, 4][usize::from(color).min(6)];
    let line = 1 + (width as usize).min(4096) * channels * usize::from(depth) / 8 + 1;
    let wanted = if rng.chance(0.8) { line * (height as usize).min(64) } else { rng.below(4000) };
    // one filter of five for a line, and any bytes
    let rows: Vec<u8> =
        (0..wanted).map(|k| if k % line == 0 { rng.below(5) as u8 } else { rng.bits() as u8 }).collect();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut png, b"IHDR", &head);
    if color == 3 {
        let colors: Vec<u8> = (0..3 * (1 + rng.below(20))).map(|_| rng.bits() as u8).collect();
        chunk(&mut png, b"PLTE", &colors);
    }
    chunk(&mut png, b"IDAT", &stored(&rows));
    chunk(&mut png, b"IEND", &[]);
    if rng.chance(0.2) { mutate::damage(rng, &png, &head) } else { png }
}

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    png.extend((data.len() as u32).to_be_bytes());
    let named = [&kind[..], data].concat();
    png.extend(&named);
    png.extend(crc32(&named).to_be_bytes());
}

/// A zlib stream that compresses nothing.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let blocks: Vec<&[u8]> = bytes.chunks(65_535).collect();
    for (k, block) in blocks.iter().enumerate() {
        let length = block.len() as u16;
        out.push(u8::from(k + 1 == blocks.len()));
        out.extend([length.to_le_bytes(), (!length).to_le_bytes()].concat());
        out.extend(*block);
    }
    out.extend(adler32(bytes).to_be_bytes());
    out
}
