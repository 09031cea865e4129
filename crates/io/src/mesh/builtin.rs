//! Meshes that MuJoCo generates: `<mesh builtin="…" params="…">`. Vertices are in single precision, as there.

use super::TriangleMesh;
use slipstick_core::spatial::{Vec3, vec3};
use std::collections::HashMap;
use std::f64::consts::PI;

/// More vertices than anybody asks for.
const MAX_VERTICES: f64 = 1e6;

/// The mesh of a kind with its parameters, or what was expected of them.
pub(crate) fn builtin(kind: &str, params: &[f64]) -> Result<TriangleMesh, String> {
    let mesh = match (kind, params) {
        ("sphere", [n]) => sphere(count(*n, 0, 4, "subdivisions")?),
        ("hemisphere", [n]) => hemisphere(count(*n, 0, 10, "resolution")? as u32),
        ("supersphere", [n, e, m]) if *e >= 0.0 && *m >= 0.0 => {
            supersphere(count(*n, 3, 1000, "resolution")? as u32, *e, *m)
        }
        ("supersphere", [..]) if params.len() == 3 => return Err("exponents of a supersphere of at least 0".into()),
        ("supertorus", [n, radius, s, t]) if *radius > 0.0 && *radius <= 1.0 && *s > 0.0 && *t > 0.0 => {
            supertorus(count(*n, 3, 1000, "resolution")? as u32, *radius, *s, *t)
        }
        ("supertorus", [..]) if params.len() == 4 => {
            return Err("a radius of a supertorus above 0 and up to 1, and exponents above 0".into());
        }
        ("wedge", [nx, ny, across, along, gamma]) => {
            let limits = *across > 0.0 && *across <= 180.0 && *along > 0.0 && *along <= 90.0;
            if !limits || !(0.0..=1.0).contains(gamma) {
                return Err("fields of view of a wedge up to 180 and 90 degrees, and gamma from 0 to 1".into());
            }
            wedge(grid(*nx, *ny)?, [*across, *along], *gamma)
        }
        ("plate", [nx, ny]) => plate(grid(*nx, *ny)?),
        ("cone", [n, radius]) => cone(count(*n, 3, 100_000, "edges")?, *radius),
        _ => return Err(expected(kind)),
    };
    if mesh.vertices.iter().all(|v| v.is_finite()) { Ok(mesh) } else { Err("parameters of a finite mesh".into()) }
}

/// What a kind takes.
fn expected(kind: &str) -> String {
    match kind {
        "sphere" => "1 parameter of a sphere: subdivisions",
        "hemisphere" => "1 parameter of a hemisphere: resolution",
        "supersphere" => "3 parameters of a supersphere: resolution, e, n",
        "supertorus" => "4 parameters of a supertorus: resolution, radius, s, t",
        "wedge" => "5 parameters of a wedge: two resolutions, two fields of view (degrees), gamma",
        "plate" => "2 parameters of a plate: two resolutions",
        "cone" => "2 parameters of a cone: edges, radius of the top",
        _ => "one of sphere, hemisphere, cone, supertorus, supersphere, wedge, plate",
    }
    .into()
}

/// A whole number; fractions are cut off.
fn count(x: f64, least: usize, most: usize, what: &str) -> Result<usize, String> {
    let n = x.trunc();
    if n >= least as f64 && n <= most as f64 { Ok(n as usize) } else { Err(format!("{what} from {least} to {most}")) }
}

fn grid(x: f64, y: f64) -> Result<[usize; 2], String> {
    let n = [count(x, 1, 1000, "resolutions")?, count(y, 1, 1000, "resolutions")?];
    if x * y <= MAX_VERTICES { Ok(n) } else { Err(format!("at most {MAX_VERTICES} vertices")) }
}

/// A vertex in single precision.
fn single(x: f64, y: f64, z: f64) -> Vec3 {
    vec3(f64::from(x as f32), f64::from(y as f32), f64::from(z as f32))
}

/// An icosahedron whose triangles are divided into four again and again, in single precision.
fn sphere(subdivisions: usize) -> TriangleMesh {
    let phi = ((1.0 + 5f64.sqrt()) / 2.0) as f32;
    let norm = (1.0 + f64::from(phi * phi)).sqrt();
    let (one, phi) = ((1.0 / norm) as f32, (f64::from(phi) / norm) as f32);
    let plane = |a: f32, b: f32| [[-a, b], [a, b], [-a, -b], [a, -b]];
    let mut points: Vec<[f32; 3]> = plane(one, phi).map(|[a, b]| [a, b, 0.0]).to_vec();
    points.extend(plane(one, phi).map(|[a, b]| [0.0, a, b]));
    points.extend([[phi, 0.0, -one], [phi, 0.0, one], [-phi, 0.0, -one], [-phi, 0.0, one]]);
    let mut triangles: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..subdivisions {
        let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
        let mut middle = |i: u32, j: u32| {
            *middles.entry([i.min(j), i.max(j)]).or_insert_with(|| {
                let [a, b] = [i, j].map(|k| points[k as usize]);
                let m = [0, 1, 2].map(|k| (a[k] + b[k]) / 2.0);
                let norm = (m[0] * m[0] + m[1] * m[1] + m[2] * m[2]).sqrt();
                points.push(m.map(|x| x / norm));
                points.len() as u32 - 1
            })
        };
        let mut finer = Vec::with_capacity(4 * triangles.len());
        for [a, b, c] in triangles {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    TriangleMesh { vertices: points.iter().map(|p| Vec3::from(p.map(f64::from))).collect(), triangles }
}

/// Half an octahedron with its triangles divided, blown up to a half ball with a flat bottom.
fn hemisphere(resolution: u32) -> TriangleMesh {
    const EQUATOR: [Vec3; 4] = [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(-1.0, 0.0, 0.0), vec3(0.0, -1.0, 0.0)];
    let pole = vec3(0.0, 0.0, 1.0);
    let mut vertices = vec![pole];
    for row in 0..=resolution {
        let factor = f64::from(row + 1) / f64::from(resolution + 1);
        for side in 0..4 {
            let [start, end] = [side, (side + 1) % 4].map(|k| pole + (EQUATOR[k] - pole) * factor);
            let step = Vec3::from((end - start).to_array().map(|x| x / f64::from(row + 1)));
            for i in 0..=row {
                let p = start + step * f64::from(i);
                let norm = (p.x * p.x + p.y * p.y + p.z * p.z).sqrt();
                vertices.push(single(p.x / norm, p.y / norm, p.z / norm));
            }
        }
    }
    let bottom = vertices.len() as u32;
    vertices.push(Vec3::ZERO);
    let mut triangles = vec![[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]];
    for row in 0..resolution {
        let (here, below) = (2 * row * (row + 1) + 1, 2 * (row + 1) * (row + 2) + 1);
        let (n_here, n_below) = (4 * (row + 1), 4 * (row + 2));
        for (side, i) in (0..4).flat_map(|side| (0..row + 2).map(move |i| (side, i))) {
            let (a, b) = (i + (row + 1) * side, i + (row + 2) * side);
            let (at, next) = (here + a % n_here, below + (b + 1) % n_below);
            triangles.push([at, below + b % n_below, next]);
            if i < row + 1 {
                triangles.push([at, next, here + (a + 1) % n_here]);
            }
        }
    }
    let (rim, n) = (2 * resolution * (resolution + 1) + 1, 4 * (resolution + 1));
    triangles.extend((0..n).map(|i| [rim + i, bottom, rim + (i + 1) % n]));
    TriangleMesh { vertices, triangles }
}

/// |cos|ᵐ and |sin|ᵐ with the signs of cos and sin.
fn rounded(angle: f64, power: f64) -> (f64, f64) {
    let (s, c) = angle.sin_cos();
    (c.abs().powf(power).copysign(c), s.abs().powf(power).copysign(s))
}

fn supersphere(n: u32, e: f64, m: f64) -> TriangleMesh {
    let mut vertices = vec![vec3(0.0, 0.0, -1.0)];
    for i in 1..n {
        let (c, s) = rounded(-PI / 2.0 + f64::from(i) * PI / f64::from(n), m);
        for j in 0..n {
            let (x, y) = rounded(-PI + f64::from(j) * 2.0 * PI / f64::from(n), e);
            vertices.push(single(c * x, c * y, s));
        }
    }
    vertices.push(vec3(0.0, 0.0, 1.0));
    let at = |ring: u32, j: u32| 1 + ring * n + j % n;
    let mut triangles: Vec<[u32; 3]> = (0..n).map(|j| [0, at(0, j + 1), at(0, j)]).collect();
    for (i, j) in (0..n - 2).flat_map(|i| (0..n).map(move |j| (i, j))) {
        triangles.push([at(i, j), at(i, j + 1), at(i + 1, j)]);
        triangles.push([at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)]);
    }
    let pole = vertices.len() as u32 - 1;
    triangles.extend((0..n).map(|j| [at(n - 2, j), at(n - 2, j + 1), pole]));
    TriangleMesh { vertices, triangles }
}

fn supertorus(n: u32, radius: f64, s: f64, t: f64) -> TriangleMesh {
    let angle = |i: u32| 2.0 * PI * f64::from(i) / f64::from(n);
    let point = |i: u32, j: u32| {
        let ((x, y), (c, z)) = (rounded(angle(i), t), rounded(angle(j), s));
        single((1.0 + radius * c) * x, (1.0 + radius * c) * y, radius * z)
    };
    let vertices = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| point(i, j)).collect();
    let at = |i: u32, j: u32| i % n * n + j % n;
    let cells = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let triangles = cells
        .flat_map(|(i, j)| [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]]);
    TriangleMesh { vertices, triangles: triangles.collect() }
}

/// The edges of `n` cells from −1 to 1, summed up as MuJoCo does.
fn edges(n: usize) -> Vec<f64> {
    let step = 2.0 / n as f64;
    std::iter::successors(Some(-1.0), |x| Some(x + step)).take(n + 1).collect()
}

/// Points of a part of the unit sphere, denser in the middle with a larger `gamma`; no triangles.
fn wedge(n: [usize; 2], fov: [f64; 2], gamma: f64) -> TriangleMesh {
    let dense = |x: f64| if gamma == 0.0 { x } else { gamma * x.powf(5.0) + (1.0 - gamma) * x };
    let angles = |k: usize| edges(n[k]).into_iter().map(|x| dense(x) * (fov[k] * PI / 180.0)).collect::<Vec<_>>();
    let (azimuths, elevations) = (angles(0), angles(1));
    let mut vertices = Vec::new();
    for a in azimuths.windows(2).map(|w| 0.5 * (w[1] + w[0])) {
        for e in elevations.windows(2).map(|w| 0.5 * (w[1] + w[0])) {
            vertices.push(single(e.cos() * a.sin(), e.sin(), -e.cos() * a.cos()));
        }
    }
    TriangleMesh { vertices, triangles: Vec::new() }
}

/// A flat rectangle at z = −1.
fn plate([nx, ny]: [usize; 2]) -> TriangleMesh {
    let at = |k: usize, n: usize| -1.0 + (k as f64 + 0.5) * (2.0 / n as f64);
    let places = (0..nx).flat_map(|i| (0..ny).map(move |j| (i, j)));
    let vertices = places.clone().map(|(i, j)| single(at(i, nx), at(j, ny), -1.0)).collect();
    let number = |i: usize, j: usize| (i * ny + j) as u32;
    let cells = places.filter(|(i, j)| *i > 0 && *j > 0);
    let triangles = cells.flat_map(|(i, j)| {
        let [a, b, c, d] = [number(i - 1, j - 1), number(i, j - 1), number(i - 1, j), number(i, j)];
        [[a, b, c], [d, c, b]]
    });
    TriangleMesh { vertices, triangles: triangles.collect() }
}

/// Two polygons, or one and a tip; no triangles: its hull is meant.
fn cone(n: usize, radius: f64) -> TriangleMesh {
    let ring = |r: f64, z: f64| {
        let angle = move |i: usize| 2.0 * i as f64 * PI / n as f64;
        (0..n).map(move |i| single(r * angle(i).cos(), r * angle(i).sin(), z))
    };
    let mut vertices: Vec<Vec3> = ring(1.0, -1.0).collect();
    if radius > 0.0 {
        vertices.extend(ring(radius, 1.0))
    } else {
        vertices.push(vec3(0.0, 0.0, 1.0))
    }
    TriangleMesh { vertices, triangles: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{convex_hull, solid_exact};

    fn volume(kind: &str, params: &[f64]) -> f64 {
        let mesh = builtin(kind, params).unwrap();
        let mesh = if mesh.triangles.is_empty() { convex_hull(&mesh.vertices).unwrap() } else { mesh };
        solid_exact(&mesh.vertices, &mesh.triangles).unwrap().volume
    }

    #[test]
    fn solids_have_their_volumes() {
        let ball = 4.0 / 3.0 * PI;
        // polyhedra inside the round bodies: the share that they lack falls with the square of the edge
        for (kind, params, exact, share) in [
            ("sphere", &[4.0][..], ball, 3e-3),
            ("hemisphere", &[10.0], ball / 2.0, 2e-2),
            ("supersphere", &[100.0, 1.0, 1.0], ball, 2e-3),
            ("supersphere", &[100.0, 0.0, 0.0], 8.0, 1e-6),
            ("supertorus", &[100.0, 0.25, 1.0, 1.0], 2.0 * PI * PI * 0.25 * 0.25, 2e-3),
            ("cone", &[200.0, 0.0], 2.0 / 3.0 * PI, 1e-3),
            ("cone", &[4.0, 1.0], 4.0, 1e-6),
        ] {
            let found = volume(kind, params);
            assert!((found / exact - 1.0).abs() < share, "{kind} {params:?}: {found} {exact}");
        }
    }

    #[test]
    fn wrong_parameters_are_told() {
        let error = |kind: &str, params: &[f64]| builtin(kind, params).unwrap_err();
        assert_eq!(error("sphere", &[5.0]), "subdivisions from 0 to 4");
        assert!(error("sphere", &[]).starts_with("1 parameter of a sphere"));
        assert!(error("prism", &[]).starts_with("one of sphere"));
        assert!(error("supersphere", &[2.0, 1.0, 1.0]).starts_with("resolution"));
        assert!(error("supersphere", &[f64::NAN, 1.0, 1.0]).starts_with("resolution"));
        assert!(error("supertorus", &[8.0, 2.0, 1.0, 1.0]).contains("radius"));
        assert!(error("wedge", &[3.0, 3.0, 200.0, 1.0, 0.0]).contains("180"));
        assert!(error("plate", &[0.0, 1.0]).starts_with("resolutions"));
    }
}
