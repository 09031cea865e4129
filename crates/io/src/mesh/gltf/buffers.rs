//! Numbers of a glTF file: buffers, the views of them, and accessors of the views.

use super::{Defect, index};
use serde_json::Value;
use slipstick_core::spatial::Vec3;
use std::borrow::Cow;

/// The bytes that a file carries itself.
pub(super) struct Buffers<'a> {
    json: &'a Value,
    buffers: Vec<Cow<'a, [u8]>>,
}

impl<'a> Buffers<'a> {
    /// `binary` is the second chunk of a .glb file.
    pub fn read(json: &'a Value, binary: Option<&'a [u8]>) -> Result<Buffers<'a>, Defect> {
        let list = json["buffers"].as_array().map_or(&[][..], Vec::as_slice);
        let read = |(i, buffer): (usize, &Value)| match buffer["uri"].as_str() {
            None if i == 0 => binary.map(Cow::Borrowed).ok_or_else(|| Defect::whole("the binary chunk is missing")),
            None => Err(Defect::whole(format!("buffer {i} has no address"))),
            Some(uri) => {
                let data = uri.strip_prefix("data:").and_then(|d| d.split_once(";base64,"));
                let data = data.ok_or_else(|| {
                    Defect::whole("buffers in other files are not read; export the mesh as one .glb file")
                })?;
                base64(data.1).map(Cow::Owned).ok_or_else(|| Defect::whole(format!("buffer {i} is not base64")))
            }
        };
        Ok(Buffers { json, buffers: list.iter().enumerate().map(read).collect::<Result<_, _>>()? })
    }

    /// Rows of `width` bytes of an accessor.
    fn rows(&self, accessor: &'a Value, width: usize) -> Result<impl Iterator<Item = &[u8]>, Defect> {
        let short = || Defect::whole("an accessor reaches beyond its buffer");
        let number = |v: &Value| match v {
            Value::Null => Ok(0),
            v => v.as_u64().and_then(|n| usize::try_from(n).ok()).ok_or_else(short),
        };
        if !accessor["sparse"].is_null() {
            return Err(Defect::whole("sparse accessors are not supported"));
        }
        let view = index(&accessor["bufferView"]).map(|i| &self.json["bufferViews"][i]);
        let view = view.ok_or_else(|| Defect::whole("an accessor has no buffer view"))?;
        let buffer = self.buffers.get(index(&view["buffer"]).unwrap_or(usize::MAX)).ok_or_else(short)?;
        let start = number(&view["byteOffset"])?;
        let end = start.checked_add(number(&view["byteLength"])?).ok_or_else(short)?;
        let bytes = buffer.get(start..end).and_then(|b| b.get(number(&accessor["byteOffset"]).ok()?..));
        let bytes = bytes.ok_or_else(short)?;
        let stride = match number(&view["byteStride"])? {
            0 => width,
            s if s >= width => s,
            _ => return Err(Defect::whole("byteStride is smaller than an element")),
        };
        let count = number(&accessor["count"])?;
        let needed = count.checked_sub(1).map_or(Some(0), |n| n.checked_mul(stride)?.checked_add(width));
        if needed.is_none_or(|n| n > bytes.len()) {
            return Err(short());
        }
        Ok(bytes.chunks(stride).take(count).map(move |c| &c[..width]))
    }

    fn accessor(&self, number: &Value) -> Result<&'a Value, Defect> {
        let found = index(number).map(|i| &self.json["accessors"][i]).filter(|a| a.is_object());
        found.ok_or_else(|| Defect::whole("an accessor is missing"))
    }

    /// Positions are always three floats.
    pub fn positions(&self, number: &Value) -> Result<Vec<Vec3>, Defect> {
        let accessor = self.accessor(number)?;
        if accessor["type"] != "VEC3" || accessor["componentType"] != 5126 {
            return Err(Defect::whole("POSITION: expected three floats per vertex"));
        }
        let float = |b: &[u8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let point = |row: &[u8]| Vec3::new(float(row), float(&row[4..]), float(&row[8..]));
        let points: Vec<Vec3> = self.rows(accessor, 12)?.map(point).collect();
        if points.iter().all(|p| p.is_finite()) { Ok(points) } else { Err(Defect::whole("a vertex is not finite")) }
    }

    /// Vertex numbers, all below `count`.
    pub fn indices(&self, number: &Value, count: usize) -> Result<Vec<u32>, Defect> {
        let accessor = self.accessor(number)?;
        let width = match accessor["componentType"].as_u64() {
            Some(5121) => 1,
            Some(5123) => 2,
            Some(5125) => 4,
            _ => return Err(Defect::whole("indices: expected whole numbers")),
        };
        let whole = |row: &[u8]| row.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b));
        let indices: Vec<u32> = self.rows(accessor, width)?.map(whole).collect();
        match indices.iter().find(|i| **i as usize >= count) {
            Some(bad) => Err(Defect::whole(format!("corner {bad} is none of the {count} vertices"))),
            None => Ok(indices),
        }
    }
}

/// The bytes of base64 text; `None` if it is none.
fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0u32, 0);
    for c in text.bytes() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits & 0xffff) << 6 | u32::from(six);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_undone() {
        assert_eq!(base64("c2xpcHN0aWNr").unwrap(), b"slipstick");
        assert_eq!(base64("c2xpcA==").unwrap(), b"slip");
        assert_eq!(base64("/+8=").unwrap(), [0xff, 0xef]);
        assert_eq!(base64("a b"), None);
    }
}
