//! Large meshes with fewer triangles: vertices of a cell of a grid become one, where the planes around it meet best
//! (Lindstrom, Out-of-core simplification of large polygonal models, 2000). Sides of thin plates stay apart, because
//! vertices with normals in different octants are never merged.

use slipstick::files::{PaintedMesh, PaintedPart};
use slipstick::spatial::{Vec3, vec3};
use std::collections::{HashMap, HashSet};

/// Cells along the longest edge of a mesh: the coarsest and the finest grid that are tried.
const GRIDS: [f64; 2] = [4.0, 2048.0];
/// Bisections between them.
const ROUNDS: usize = 9;
/// Fewest triangles that a mesh is left with, as far as it has them.
const FEWEST: usize = 200;
/// Pull towards the mean of the vertices, in shares of the planes' weight: it decides where planes do not.
const PULL: f64 = 0.02;
/// Cells of a picture [1/unit of its coordinates] within which coordinates are merged.
const PICTURE_CELLS: f32 = 24.0;

/// Triangles for each mesh: in proportion to their sizes, and what small meshes do not need goes to the others.
pub(super) fn shares<'a>(meshes: impl Iterator<Item = &'a PaintedMesh>, most: usize) -> Vec<usize> {
    let wanted: Vec<(usize, f64)> = meshes.map(|m| (count(m), diagonal(m))).collect();
    let mut shares = vec![0; wanted.len()];
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    // those that want least in proportion to their size come first and leave the most
    order.sort_by(|i, j| (wanted[*i].0 as f64 * wanted[*j].1).total_cmp(&(wanted[*j].0 as f64 * wanted[*i].1)));
    let mut left = (most as f64, wanted.iter().map(|w| w.1).sum::<f64>());
    for i in order {
        let (triangles, size) = wanted[i];
        let fair = if left.1 > 0.0 { left.0 * size / left.1 } else { left.0 };
        shares[i] = triangles.min((fair as usize).max(FEWEST));
        left = ((left.0 - shares[i] as f64).max(0.0), left.1 - size);
    }
    shares
}

fn count(mesh: &PaintedMesh) -> usize {
    mesh.parts.iter().map(|p| p.triangles.len()).sum()
}

fn bounds<'a>(points: impl Iterator<Item = &'a Vec3>) -> (Vec3, Vec3) {
    let infinite = vec3(f64::INFINITY, f64::INFINITY, f64::INFINITY);
    points.fold((infinite, -infinite), |(low, high), p| {
        let [least, greatest] =
            [f64::min, f64::max].map(|f| move |a: Vec3, b: Vec3| vec3(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)));
        (least(low, *p), greatest(high, *p))
    })
}

fn diagonal(mesh: &PaintedMesh) -> f64 {
    let (low, high) = bounds(mesh.parts.iter().flat_map(|p| &p.vertices));
    let d = (high - low).norm();
    if d.is_finite() { d } else { 0.0 }
}

/// Leaves a mesh with at most about `most` triangles, shared by its parts as they have them.
pub(super) fn reduce(mesh: &mut PaintedMesh, most: usize) {
    let all = count(mesh);
    if all <= most {
        return;
    }
    for part in &mut mesh.parts {
        let share = (part.triangles.len() as f64 * most as f64 / all as f64) as usize;
        *part = fewer(part, share.max(FEWEST / 4));
    }
}

/// The finest grid of those tried that leaves at most `most` triangles.
fn fewer(part: &PaintedPart, most: usize) -> PaintedPart {
    if part.triangles.len() <= most {
        return part.clone();
    }
    let (low, high) = bounds(part.vertices.iter());
    let longest = (high - low).to_array().into_iter().fold(f64::MIN_POSITIVE, f64::max);
    let grid = Grid { low, normals: normals(part) };
    let [mut coarse, mut fine] = GRIDS.map(f64::ln);
    let mut best = grid.merged(part, longest / GRIDS[0]);
    for _ in 0..ROUNDS {
        let middle = 0.5 * (coarse + fine);
        let tried = grid.merged(part, longest / middle.exp());
        if tried.triangles.len() <= most {
            (best, coarse) = (tried, middle);
        } else {
            fine = middle;
        }
    }
    best
}

/// Sums of the triangles' normals around each vertex.
fn normals(part: &PaintedPart) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; part.vertices.len()];
    for t in &part.triangles {
        let [a, b, c] = t.map(|i| part.vertices[i as usize]);
        t.iter().for_each(|i| sums[*i as usize] += (b - a).cross(c - a));
    }
    sums
}

struct Grid {
    low: Vec3,
    normals: Vec<Vec3>,
}

impl Grid {
    fn merged(&self, part: &PaintedPart, cell: f64) -> PaintedPart {
        let mut cells: Vec<Cell> = Vec::new();
        let mut number = HashMap::new();
        let of: Vec<u32> = (0..part.vertices.len())
            .map(|i| {
                let (key, middle) = self.key(part, i, cell);
                let k = *number.entry(key).or_insert_with(|| {
                    cells.push(Cell { middle, ..Cell::default() });
                    cells.len() - 1
                });
                cells[k].add_vertex(part.vertices[i], part.uv.get(i));
                k as u32
            })
            .collect();
        let mut known = HashSet::new();
        let mut triangles = Vec::new();
        for t in &part.triangles {
            let [a, b, c] = t.map(|i| of[i as usize]);
            t.iter().for_each(|i| cells[of[*i as usize] as usize].add_plane(t.map(|i| part.vertices[i as usize])));
            let first = if a < b && a < c {
                [a, b, c]
            } else if b < c {
                [b, c, a]
            } else {
                [c, a, b]
            };
            if a != b && b != c && c != a && known.insert(first) {
                triangles.push(first);
            }
        }
        let vertices = cells.iter().map(|c| c.vertex(cell)).collect();
        let uv = if part.uv.is_empty() { Vec::new() } else { cells.iter().map(Cell::uv).collect() };
        let mut out = part.clone();
        (out.vertices, out.uv, out.triangles) = (vertices, uv, triangles);
        out
    }

    /// Cell of a vertex, octant of its normal and field of the picture, and the middle of the cell.
    fn key(&self, part: &PaintedPart, i: usize, cell: f64) -> (([i64; 3], u8, [i32; 2]), Vec3) {
        let at = (part.vertices[i] - self.low) * (1.0 / cell);
        let place = at.to_array().map(f64::floor);
        let octant = self.normals[i].to_array().iter().fold(0, |bits, x| bits << 1 | u8::from(*x > 0.0));
        let field = part.uv.get(i).map_or([0; 2], |uv| uv.map(|x| (x * PICTURE_CELLS).floor() as i32));
        let middle = self.low + Vec3::from(place.map(|x| (x + 0.5) * cell));
        ((place.map(|x| x as i64), octant, field), middle)
    }
}

/// Vertices that become one. Positions are seen from the middle of the cell.
#[derive(Default)]
struct Cell {
    middle: Vec3,
    count: f64,
    sum: Vec3,
    uv: [f64; 2],
    /// Columns of Σ w n nᵀ, and Σ w n (n·p), for planes through p with normal n.
    quadric: [Vec3; 3],
    right: Vec3,
}

impl Cell {
    fn add_vertex(&mut self, point: Vec3, uv: Option<&[f32; 2]>) {
        self.count += 1.0;
        self.sum += point - self.middle;
        let uv = uv.copied().unwrap_or_default();
        self.uv = [self.uv[0] + f64::from(uv[0]), self.uv[1] + f64::from(uv[1])];
    }

    fn add_plane(&mut self, [a, b, c]: [Vec3; 3]) {
        let n = (b - a).cross(c - a); // its length weighs with the square of the area
        let columns = [n * n.x, n * n.y, n * n.z];
        (0..3).for_each(|k| self.quadric[k] += columns[k]);
        self.right += n * n.dot(a - self.middle);
    }

    /// Where the planes meet best; the mean of the vertices if that is outside.
    fn vertex(&self, cell: f64) -> Vec3 {
        let mean = self.sum * (1.0 / self.count);
        let [x, y, z] = self.quadric;
        let pull = PULL * (x.x + y.y + z.z);
        let [a, b, c] = [x + vec3(pull, 0.0, 0.0), y + vec3(0.0, pull, 0.0), z + vec3(0.0, 0.0, pull)];
        let right = self.right - (x * mean.x + y * mean.y + z * mean.z);
        let determinant = a.dot(b.cross(c));
        let solved = vec3(right.dot(b.cross(c)), a.dot(right.cross(c)), a.dot(b.cross(right))) * (1.0 / determinant);
        let best = mean + solved;
        let inside = best.to_array().iter().all(|t| t.abs() <= 0.75 * cell);
        self.middle + if inside { best } else { mean }
    }

    fn uv(&self) -> [f32; 2] {
        self.uv.map(|x| (x / self.count) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball of many triangles.
    fn ball(n: usize) -> PaintedPart {
        let mut part = PaintedPart::default();
        let angle = |k: usize, of: usize| std::f64::consts::PI * k as f64 / of as f64;
        for i in 0..=n {
            for j in 0..2 * n {
                let (u, v) = (angle(i, n), angle(j, n));
                part.vertices.push(vec3(u.sin() * v.cos(), u.sin() * v.sin(), u.cos()));
            }
        }
        let at = |i: usize, j: usize| (i * 2 * n + j % (2 * n)) as u32;
        for i in 0..n {
            for j in 0..2 * n {
                part.triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
                part.triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
            }
        }
        part
    }

    fn volume(part: &PaintedPart) -> f64 {
        let cone = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| part.vertices[i as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        part.triangles.iter().map(cone).sum()
    }

    #[test]
    fn a_ball_stays_a_ball_with_a_tenth_of_its_triangles() {
        let ball = ball(60);
        let few = fewer(&ball, ball.triangles.len() / 10);
        assert!(few.triangles.len() <= ball.triangles.len() / 10 && few.triangles.len() > 400);
        assert!((volume(&few) / volume(&ball) - 1.0).abs() < 0.02, "{} {}", volume(&few), volume(&ball));
        assert!(few.vertices.iter().all(|v| (v.norm() - 1.0).abs() < 0.03));
    }

    #[test]
    fn sharp_corners_stay_and_plates_keep_both_sides() {
        // a box that is thinner than any cell, with many triangles on each side
        let (n, mut part) = (40, PaintedPart::default());
        for side in [0.0, 0.001] {
            let first = part.vertices.len() as u32;
            let grid = |k: usize| k as f64 / n as f64;
            (0..=n).for_each(|i| (0..=n).for_each(|j| part.vertices.push(vec3(grid(i), grid(j), side))));
            let at = |i: usize, j: usize| first + (i * (n + 1) + j) as u32;
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                let two = if side > 0.0 { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] };
                part.triangles.extend(two);
            }
        }
        let few = fewer(&part, 400);
        let area = |up: bool| {
            let normal = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|i| few.vertices[i as usize]);
                0.5 * (b - a).cross(c - a).z
            };
            few.triangles.iter().map(normal).filter(|z| (*z > 0.0) == up).sum::<f64>().abs()
        };
        assert!(area(true) > 0.8 && area(false) > 0.8, "{} {}", area(true), area(false));
    }

    #[test]
    fn small_meshes_leave_their_share_to_large_ones() {
        let mesh = |n: usize, scale: f64| {
            let mut part = ball(n);
            part.vertices.iter_mut().for_each(|v| *v = *v * scale);
            let mut mesh = PaintedMesh::default();
            mesh.parts.push(part);
            mesh
        };
        let meshes = [mesh(10, 1.0), mesh(60, 1.0), mesh(60, 0.5)];
        let shares = shares(meshes.iter(), 6400);
        assert_eq!(shares[0], 400);
        assert!((3900..=4000).contains(&shares[1]) && (1990..=2010).contains(&shares[2]), "{shares:?}");
    }

    #[test]
    fn nothing_becomes_nothing() {
        let mut empty = PaintedMesh::default();
        reduce(&mut empty, 10);
        assert_eq!(shares([&empty].into_iter(), 10), [0]);
        let part = PaintedPart::default();
        assert_eq!(fewer(&part, 0), part);
    }
}
