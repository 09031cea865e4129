//! Triangles for the page: 16 bits per coordinate, differences instead of numbers, bytes of one kind together, so that they
//! deflate well. `web/src/visuals.js` undoes it.

use crate::encode;
use serde_json::{Value, json};
use slipstick::files::PaintedPart;

/// Steps between the least and the greatest coordinate.
const STEPS: f64 = 65535.0;

pub(super) fn to_json(part: &PaintedPart) -> Value {
    let (order, triangles) = by_first_use(part);
    let positions = order.iter().map(|i| part.vertices[*i as usize].to_array());
    let mut value = rows(&positions.collect::<Vec<_>>());
    value["triangles"] = encode::octets(&planes::<3>(&codes(&triangles)));
    if !part.uv.is_empty() {
        let places = order.iter().map(|i| part.uv[*i as usize].map(f64::from));
        value["uv"] = rows(&places.collect::<Vec<_>>());
    }
    value
}

/// Vertices in the order in which triangles use them, and the triangles by their new numbers.
fn by_first_use(part: &PaintedPart) -> (Vec<u32>, Vec<u32>) {
    let mut number = vec![u32::MAX; part.vertices.len()];
    let mut order = Vec::new();
    let corners = part.triangles.iter().flatten().map(|i| {
        let n = &mut number[*i as usize];
        if *n == u32::MAX {
            *n = order.len() as u32;
            order.push(*i);
        }
        *n
    });
    let corners = corners.collect();
    (order, corners)
}

/// How far each number is below the next new one: mostly small.
fn codes(corners: &[u32]) -> Vec<u32> {
    let mut next = 0;
    let code = |i: &u32| {
        let code = next - i;
        next += u32::from(code == 0);
        code
    };
    corners.iter().map(code).collect()
}

/// Points with N coordinates each: count, least, step, and the differences from point to point.
fn rows<const N: usize>(points: &[[f64; N]]) -> Value {
    let mut data = Vec::new();
    let (mut least, mut step) = ([0.0; N], [0.0; N]);
    for k in 0..N {
        let (low, high) =
            points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p[k]), h.max(p[k])));
        if low < high {
            (least[k], step[k]) = (low, (high - low) / STEPS);
        } else if low.is_finite() {
            least[k] = low;
        }
        let mut last = 0;
        let differences = points.iter().map(|p| {
            let number = if step[k] > 0.0 { ((p[k] - least[k]) / step[k]).round() as u16 } else { 0 };
            let difference = number.wrapping_sub(last) as i16;
            last = number;
            u32::from((difference << 1 ^ difference >> 15) as u16) // small ones of either sign have a high byte of zero
        });
        data.extend(planes::<2>(&differences.collect::<Vec<_>>()));
    }
    json!({ "count": points.len(), "low": least.to_vec(), "step": step.to_vec(), "data": encode::octets(&data) })
}

/// The lowest bytes of all numbers, then the next ones.
fn planes<const BYTES: usize>(numbers: &[u32]) -> Vec<u8> {
    (0..BYTES).flat_map(|k| numbers.iter().map(move |n| n.to_le_bytes()[k])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick::spatial::vec3;

    #[test]
    fn vertices_are_numbered_as_they_are_used_and_unused_ones_left_out() {
        let mut part = PaintedPart::default();
        part.vertices = (0..6).map(|k| vec3(f64::from(k), 0.0, 1.0)).collect();
        part.triangles = vec![[4, 2, 1], [1, 2, 0]];
        let (order, corners) = by_first_use(&part);
        assert_eq!((order, corners.clone()), (vec![4, 2, 1, 0], vec![0, 1, 2, 2, 1, 3]));
        assert_eq!(codes(&corners), [0, 0, 0, 1, 2, 0]);
        let told = to_json(&part);
        assert_eq!((&told["count"], &told["low"]), (&json!(4), &json!([0.0, 0.0, 1.0])));
        assert_eq!(told["step"], json!([4.0 / 65535.0, 0.0, 0.0]));
    }

    #[test]
    fn differences_are_small_numbers_in_planes() {
        // 0 → 65535 → 0 wraps around to -1 and 1, written as 1 and 2
        let told = rows(&[[0.0], [1.0], [0.0]]);
        assert_eq!(told["data"], encode::octets(&[0, 1, 2, 0, 0, 0]));
        assert_eq!(planes::<2>(&[0x0102, 0x0304]), [2, 4, 1, 3]);
    }
}
