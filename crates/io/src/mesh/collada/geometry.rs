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
        let triangles = outlines(primitive, vertex, &points[..count as usize])?;
        surface.triangles.extend(triangles.iter().map(|t| t.map(|i| i + first)));
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

/// The triangles of a primitive, by number of point.
fn outlines(primitive: Node, vertex: Node, points: &[Vec3]) -> Result<Vec<[u32; 3]>, Defect> {
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
        match kind {
            "triangles" => triangles.extend(corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]])),
            "tristrips" => triangles.extend(
                corners.windows(3).enumerate().map(
                    |(i, t)| {
                        if i % 2 == 0 { [t[0], t[1], t[2]] } else { [t[0], t[2], t[1]] }
                    },
                ),
            ),
            "polylist" => {
                let mut rest = corners.as_slice();
                for size in std::mem::take(&mut sizes) {
                    let Some((polygon, after)) = rest.split_at_checked(size as usize) else {
                        return Err(list.defect("<vcount> asks for more corners than there are"));
                    };
                    if polygon.len() > 2 {
                        triangulate(points, polygon, &mut triangles);
                    }
                    rest = after;
                }
            }
            "trifans" => triangles.extend(corners.windows(2).skip(1).map(|w| [corners[0], w[0], w[1]])),
            _ if corners.len() > 2 => triangulate(points, &corners, &mut triangles),
            _ => {}
        }
    }
    Ok(triangles)
}
