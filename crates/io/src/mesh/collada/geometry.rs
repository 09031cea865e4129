//! A `<geometry>`: positions, and the triangles of its primitives.

use super::super::polygon::triangulate;
use super::{Defect, Local};
use roxmltree::Node;
use slipstick_core::spatial::Vec3;
use std::collections::HashMap;

/// A part in its own frame and unit.
#[derive(Default)]
pub(super) struct Surface {
    pub points: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of the corners of each triangle, zero where there are none.
    pub uv: Vec<[[f32; 2]; 3]>,
    /// Where the triangles of each primitive end, and the symbol of their material.
    pub runs: Vec<(usize, Option<String>)>,
}

type Ids<'a, 'i> = HashMap<&'a str, Node<'a, 'i>>;

fn referred<'a, 'i>(input: Node<'a, 'i>, ids: &Ids<'a, 'i>) -> Result<Node<'a, 'i>, Defect> {
    let source = input.attribute("source").unwrap_or_default();
    let found = source.strip_prefix('#').and_then(|id| ids.get(id)).copied();
    found.ok_or_else(|| input.defect(format!("there is no source '{}'", crate::xml::shown(source))))
}

fn input<'a, 'i>(of: Node<'a, 'i>, semantic: &str) -> Option<Node<'a, 'i>> {
    of.all_of("input").find(|i| i.attribute("semantic") == Some(semantic))
}

/// Lines, points and curves are for pictures and are left out.
pub(super) fn read<'a, 'i>(geometry: Node<'a, 'i>, ids: &Ids<'a, 'i>) -> Result<Surface, Defect> {
    let mut surface = Surface::default();
    let Some(mesh) = geometry.child_of("mesh") else { return Ok(surface) };
    let mut first_point = HashMap::new(); // of each source that is in use
    for primitive in mesh.children().filter(Node::is_element) {
        if !matches!(primitive.tag_name().name(), "triangles" | "polylist" | "polygons" | "trifans" | "tristrips") {
            continue;
        }
        let Some(vertex) = input(primitive, "VERTEX") else { continue };
        let vertices = referred(vertex, ids)?;
        let position = input(vertices, "POSITION").ok_or_else(|| vertices.defect("there is no POSITION input"))?;
        let source = referred(position, ids)?;
        let key = source.range().start;
        let (first, count) = match first_point.get(&key) {
            Some(known) => *known,
            None => {
                let read = positions(source, ids)?;
                let added = (surface.points.len() as u32, read.len() as u32);
                surface.points.extend(read);
                first_point.insert(key, added);
                added
            }
        };
        let points = &surface.points[first as usize..];
        let picture = Picture::of(primitive, ids);
        for (triangle, uv) in outlines(primitive, vertex, &points[..count as usize], &picture)? {
            surface.triangles.push(triangle.map(|i| i + first));
            surface.uv.push(uv);
        }
        surface.runs.push((surface.triangles.len(), primitive.attribute("material").map(String::from)));
    }
    Ok(surface)
}

/// The points of a `<source>`.
fn positions<'a, 'i>(source: Node<'a, 'i>, ids: &Ids<'a, 'i>) -> Result<Vec<Vec3>, Defect> {
    let accessor = source.child_of("technique_common").and_then(|t| t.child_of("accessor"));
    let array = match accessor.filter(|a| a.attribute("source").is_some()) {
        Some(a) => referred(a, ids)?,
        None => source.child_of("float_array").ok_or_else(|| source.defect("there is no <float_array>"))?,
    };
    let number = |name: &str, default: usize| match accessor.and_then(|a| a.attribute(name)) {
        Some(text) => text.trim().parse().map_err(|_| source.defect(format!("{name}: expected a whole number"))),
        None => Ok(default),
    };
    let (stride, offset) = (number("stride", 3)?, number("offset", 0)?);
    let numbers = array.numbers()?;
    if stride < 3 || offset > numbers.len() {
        return Err(source.defect("positions: expected three numbers per point"));
    }
    let points = numbers[offset..].chunks_exact(stride).map(Vec3::from_slice);
    // the accessor may use less than the array holds, never more
    Ok(points.take(number("count", usize::MAX)?).collect())
}

fn whole_numbers(node: Node) -> Result<Vec<u32>, Defect> {
    let words = node.text().unwrap_or("").split_ascii_whitespace();
    let numbers: Result<Vec<u32>, _> = words.map(str::parse).collect();
    numbers.map_err(|_| node.defect(format!("<{}>: expected whole numbers", node.tag_name().name())))
}

/// Texture coordinates of a primitive.
struct Picture {
    /// Place among the numbers of a corner.
    offset: usize,
    coordinates: Vec<[f32; 2]>,
}

impl Picture {
    /// None where something is missing: that is no reason to refuse a mesh.
    fn of<'a, 'i>(primitive: Node<'a, 'i>, ids: &Ids<'a, 'i>) -> Picture {
        let input = input(primitive, "TEXCOORD");
        let source = input.and_then(|i| referred(i, ids).ok());
        let read = source.and_then(|s| {
            let accessor = s.child_of("technique_common").and_then(|t| t.child_of("accessor"));
            let stride = accessor.and_then(|a| a.attribute("stride")).and_then(|n| n.parse::<usize>().ok());
            let numbers = s.child_of("float_array")?.numbers().ok()?;
            let pairs = numbers.chunks_exact(stride.unwrap_or(2).max(2)).map(|n| [n[0] as f32, n[1] as f32]);
            Some(pairs.collect())
        });
        let offset = input.and_then(|i| i.attribute("offset")).and_then(|n| n.trim().parse().ok());
        Picture { offset: offset.unwrap_or(0), coordinates: read.unwrap_or_default() }
    }

    /// Those of a corner, given by its numbers.
    fn at(&self, numbers: &[u32]) -> [f32; 2] {
        let number = numbers.get(self.offset).map_or(usize::MAX, |n| *n as usize);
        self.coordinates.get(number).copied().unwrap_or_default()
    }
}

/// A triangle by number of point, and the texture coordinates of its corners.
type Triangle = ([u32; 3], [[f32; 2]; 3]);

/// The triangles of a primitive.
fn outlines(primitive: Node, vertex: Node, points: &[Vec3], picture: &Picture) -> Result<Vec<Triangle>, Defect> {
    let offset = |i: Node| match i.attribute("offset").unwrap_or("0").trim().parse::<usize>() {
        Ok(n) if n < 256 => Ok(n),
        _ => Err(i.defect("offset: expected a small whole number")),
    };
    let strides: Result<Vec<usize>, Defect> = primitive.all_of("input").map(offset).collect();
    let stride = strides?.into_iter().max().unwrap_or(0) + 1;
    let place = offset(vertex)?;
    let kind = primitive.tag_name().name();
    let mut triangles = Vec::new();
    // polygons with holes keep their outline
    let lists = primitive.all_of("p").chain(primitive.all_of("ph").filter_map(|ph| ph.child_of("p")));
    let mut sizes = match primitive.child_of("vcount") {
        Some(vcount) if kind == "polylist" => whole_numbers(vcount)?,
        _ => Vec::new(),
    };
    for list in lists {
        let numbers = whole_numbers(list)?;
        let corners: Vec<u32> = numbers.chunks_exact(stride).map(|c| c[place]).collect();
        if let Some(bad) = corners.iter().find(|c| **c as usize >= points.len()) {
            return Err(list.defect(format!("corner {bad} is none of the {} points", points.len())));
        }
        let mut slots = Vec::new(); // places of the triangles' corners in the list
        match kind {
            "triangles" => slots.extend((0..corners.len() / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2])),
            "tristrips" => slots.extend((2..corners.len()).map(|k| match k % 2 {
                0 => [k - 2, k - 1, k],
                _ => [k - 2, k, k - 1],
            })),
            "polylist" => {
                let mut first = 0;
                for size in std::mem::take(&mut sizes) {
                    let Some(polygon) = corners[first..].get(..size as usize) else {
                        return Err(list.defect("<vcount> asks for more corners than there are"));
                    };
                    cut(points, polygon, first, &mut slots);
                    first += size as usize;
                }
            }
            "trifans" => slots.extend((2..corners.len()).map(|k| [0, k - 1, k])),
            _ => cut(points, &corners, 0, &mut slots),
        }
        let uv = |slot: usize| picture.at(&numbers[stride * slot..stride * (slot + 1)]);
        triangles.extend(slots.into_iter().map(|t| (t.map(|slot| corners[slot]), t.map(uv))));
    }
    Ok(triangles)
}

/// Adds the triangles of a polygon that begins at the corner `first` of its list.
fn cut(points: &[Vec3], polygon: &[u32], first: usize, slots: &mut Vec<[usize; 3]>) {
    if polygon.len() < 3 {
        return;
    }
    let mut triangles = Vec::new();
    triangulate(points, polygon, &mut triangles);
    let slot = |corner: u32| first + polygon.iter().position(|p| *p == corner).unwrap_or(0);
    slots.extend(triangles.into_iter().map(|t| t.map(slot)));
}
