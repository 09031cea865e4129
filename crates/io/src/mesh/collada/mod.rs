//! COLLADA (.dae): positions and diffuse colors of triangles and polygons, placed by the nodes of the scene, in meters.
//!
//! `<up_axis>` is not applied: exporters write Y_UP beside coordinates that are z-up (Go1's trunk is one of them), and
//! the tools around URDF ignore it for that reason. The unit is applied.

mod geometry;
mod material;

use super::painted::{Painted, Run};
use super::{Budget, Corners, Defect, TriangleMesh};
use geometry::Surface;
use roxmltree::{Document, Node};
use slipstick_core::spatial::{Mat3, Quat, Vec3};
use std::collections::HashMap;
use std::path::Path;

/// Nodes within nodes, counting those of other files' libraries, beyond this depth are taken for a cycle.
const MAX_DEPTH: usize = 200;

/// `points`: how many points and triangles may be placed.
pub(super) fn read(bytes: &[u8], points: usize) -> Result<TriangleMesh, Defect> {
    Ok(read_painted(bytes, points, Path::new(""))?.mesh)
}

/// With the diffuse colors of materials, whose pictures are looked for beside `path`.
pub(super) fn read_painted(bytes: &[u8], points: usize, path: &Path) -> Result<Painted, Defect> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let document =
        Document::parse(text).map_err(|e| Defect::new(e.pos().row as usize, format!("not well-formed XML: {e}")))?;
    let root = document.root_element();
    if root.tag_name().name() != "COLLADA" {
        return Err(Defect::whole(format!("expected <COLLADA>, got <{}>", crate::xml::shown(root.tag_name().name()))));
    }
    let by_id = root.descendants().filter_map(|n| n.attribute("id").map(|id| (id, n))).collect();
    let folder = path.parent().unwrap_or(Path::new(""));
    let (surfaces, corners, painted, budget) =
        (HashMap::new(), Corners::default(), Painted::default(), Budget::new(points));
    let mut reader = Reader { by_id, folder, surfaces, corners, painted, budget };
    let start = Placement { linear: Mat3::IDENTITY * unit(root)?, offset: Vec3::ZERO };
    match scene(root, &reader) {
        Some(scene) => reader.scene(scene, start)?,
        // a bare library of parts
        None => {
            for geometry in root.descendants().filter(|n| n.has_tag_name_of("geometry")) {
                reader.place(geometry, &start, None)?;
            }
        }
    }
    let Reader { corners, mut painted, .. } = reader;
    painted.mesh.vertices = corners.vertices;
    if painted.uv.iter().all(|uv| *uv == [[0.0; 2]; 3]) {
        painted.uv.clear();
    }
    Ok(painted)
}

/// Helpers that do not care for namespaces.
trait Local<'a, 'i: 'a> {
    fn has_tag_name_of(&self, name: &str) -> bool;
    fn child_of(&self, name: &'static str) -> Option<Node<'a, 'i>>;
    fn all_of(&self, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>>;
    fn numbers(&self) -> Result<Vec<f64>, Defect>;
    fn defect(&self, got: impl Into<String>) -> Defect;
}

impl<'a, 'i: 'a> Local<'a, 'i> for Node<'a, 'i> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }

    fn child_of(&self, name: &'static str) -> Option<Node<'a, 'i>> {
        self.all_of(name).next()
    }

    fn all_of(&self, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
        self.children().filter(move |n| n.has_tag_name_of(name))
    }

    fn numbers(&self) -> Result<Vec<f64>, Defect> {
        let words = self.text().unwrap_or("").split_ascii_whitespace();
        let numbers: Option<Vec<f64>> = words.map(|w| w.parse().ok().filter(|x: &f64| x.is_finite())).collect();
        numbers.ok_or_else(|| self.defect(format!("<{}>: expected finite numbers", self.tag_name().name())))
    }

    fn defect(&self, got: impl Into<String>) -> Defect {
        Defect::new(self.document().text_pos_at(self.range().start).row as usize, got)
    }
}

/// Meters per unit of the file.
fn unit(root: Node) -> Result<f64, Defect> {
    let Some(unit) = root.child_of("asset").and_then(|a| a.child_of("unit")) else { return Ok(1.0) };
    let meter = unit.attribute("meter").unwrap_or("1").trim().parse::<f64>();
    meter.ok().filter(|m| m.is_finite() && *m > 0.0).ok_or_else(|| unit.defect("meter: expected a positive number"))
}

fn scene<'a, 'i>(root: Node<'a, 'i>, reader: &Reader<'a, 'i>) -> Option<Node<'a, 'i>> {
    let named = root.child_of("scene").and_then(|s| s.child_of("instance_visual_scene"));
    let named = named.and_then(|s| s.attribute("url")).and_then(|url| reader.find(url));
    named.or_else(|| root.child_of("library_visual_scenes").and_then(|l| l.child_of("visual_scene")))
}

/// An affine map: x ↦ linear x + offset.
#[derive(Clone, Copy)]
struct Placement {
    linear: Mat3,
    offset: Vec3,
}

impl Placement {
    fn then(&self, linear: Mat3, offset: Vec3) -> Placement {
        Placement { linear: self.linear * linear, offset: self.linear * offset + self.offset }
    }
}

/// Applies the transformations that stand in a node, in their order.
fn placed(node: Node, mut place: Placement) -> Result<Placement, Defect> {
    for t in node.children().filter(Node::is_element) {
        let name = t.tag_name().name();
        let count = match name {
            "matrix" => 16,
            "translate" | "scale" => 3,
            "rotate" => 4,
            "lookat" | "skew" => return Err(t.defect(format!("<{name}> is not supported; export it as <matrix>"))),
            _ => continue,
        };
        let n = t.numbers()?;
        if n.len() != count {
            return Err(t.defect(format!("<{name}>: expected {count} numbers, got {}", n.len())));
        }
        place = match name {
            "matrix" => {
                let row = |i: usize| Vec3::from_slice(&n[4 * i..]);
                place.then(Mat3::from_rows(row(0), row(1), row(2)), Vec3::new(n[3], n[7], n[11]))
            }
            "translate" => place.then(Mat3::IDENTITY, Vec3::from_slice(&n)),
            "scale" => {
                let [x, y, z] = Vec3::UNITS;
                place.then(Mat3::from_columns(x * n[0], y * n[1], z * n[2]), Vec3::ZERO)
            }
            _ => {
                let axis = Vec3::from_slice(&n).normalized().unwrap_or(Vec3::ZERO);
                place.then(Quat::exp(axis * n[3].to_radians()).to_matrix(), Vec3::ZERO)
            }
        };
    }
    Ok(place)
}

struct Reader<'a, 'i> {
    by_id: HashMap<&'a str, Node<'a, 'i>>,
    folder: &'a Path,
    surfaces: HashMap<&'a str, Surface>,
    corners: Corners,
    painted: Painted,
    budget: Budget,
}

impl<'a, 'i> Reader<'a, 'i> {
    fn find(&self, url: &str) -> Option<Node<'a, 'i>> {
        self.by_id.get(url.strip_prefix('#')?).copied()
    }

    /// What an instance refers to.
    fn target(&self, instance: Node<'a, 'i>) -> Result<Node<'a, 'i>, Defect> {
        let url = instance.attribute("url").unwrap_or_default();
        let text = || format!("there is nothing with the address '{}' in the file", crate::xml::shown(url));
        self.find(url).ok_or_else(|| instance.defect(text()))
    }

    /// Everything in a scene; a stack, as nodes may be nested deep.
    fn scene(&mut self, scene: Node<'a, 'i>, start: Placement) -> Result<(), Defect> {
        let mut stack = vec![(scene, start, 0)];
        while let Some((node, place, depth)) = stack.pop() {
            self.budget.spend(1 + node.children().count())?;
            if depth > MAX_DEPTH {
                return Err(node.defect("nodes are nested too deep or contain themselves"));
            }
            let place = placed(node, place)?;
            for child in node.children().filter(Node::is_element) {
                match child.tag_name().name() {
                    "node" => stack.push((child, place, depth + 1)),
                    "instance_node" => stack.push((self.target(child)?, place, depth + 1)),
                    "instance_geometry" => self.place(self.target(child)?, &place, Some(child))?,
                    "instance_controller" => {
                        return Err(child.defect("skinned meshes are not supported; export a rigid one"));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Adds a part where it is placed.
    fn place(
        &mut self,
        geometry: Node<'a, 'i>,
        place: &Placement,
        instance: Option<Node<'a, 'i>>,
    ) -> Result<(), Defect> {
        let id = geometry.attribute("id").unwrap_or_default();
        if !self.surfaces.contains_key(id) {
            self.surfaces.insert(id, geometry::read(geometry, &self.by_id)?);
        }
        let surface = &self.surfaces[id];
        self.budget.spend(1 + surface.points.len() + surface.triangles.len())?;
        let first = self.painted.mesh.triangles.len();
        // equal points of different parts become one, as do those of one part
        let points = surface.points.iter().map(|p| place.linear * *p + place.offset);
        let numbers: Vec<u32> = points.map(|p| self.corners.number(p)).collect();
        let mirrored = place.linear.determinant() < 0.0;
        self.painted.mesh.triangles.extend(surface.triangles.iter().map(|t| {
            let [a, b, c] = t.map(|i| numbers[i as usize]);
            if mirrored { [a, c, b] } else { [a, b, c] }
        }));
        let turned = |&[a, b, c]: &[[f32; 2]; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
        self.painted.uv.extend(surface.uv.iter().map(turned));
        let runs = surface.runs.iter().map(|(end, symbol)| {
            let paint = material::paint(symbol.as_deref(), instance, &self.by_id, self.folder);
            Run { end: first + end, paint }
        });
        self.painted.runs.extend(runs);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
