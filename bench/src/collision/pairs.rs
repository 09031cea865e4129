//! Random pairs of shapes for timing: every combination of kinds, at distances that are known.

use clap::ValueEnum;
use slipstick::LoadOptions;
use slipstick::collision::{Solid, distance};
use slipstick::model::{Mesh, Shape};
use slipstick::random::Rng;
use slipstick::spatial::{Pose, Quat, Vec3, vec3};
use std::fmt::Write;

/// Kinds of shapes. Hulls have as many vertices as their name says.
pub const KINDS: [&str; 10] =
    ["plane", "sphere", "capsule", "cylinder", "cone", "box", "ellipsoid", "hull20", "hull200", "hull700"];
/// Half sizes of all shapes lie between these (m): overlaps of 10 cm are possible, and nothing is out of proportion.
const SIZES: [f64; 2] = [0.1, 0.3];
/// Distance at which all shapes are clear of each other (m).
const FAR: f64 = 2.0;
/// Directions tried for a distance before giving up.
const TRIES: usize = 100;

/// How near the shapes are.
#[derive(Clone, Copy, PartialEq, Debug, ValueEnum)]
pub enum Class {
    /// 1 mm to 30 cm apart.
    Separated,
    /// Overlaps of 1 µm to 1 mm.
    Shallow,
    /// Overlaps of 1 cm to 10 cm.
    Deep,
}

impl Class {
    pub const ALL: [Class; 3] = [Class::Separated, Class::Shallow, Class::Deep];

    pub fn name(self) -> &'static str {
        match self {
            Class::Separated => "separated",
            Class::Shallow => "shallow",
            Class::Deep => "deep",
        }
    }

    /// A signed distance (m), evenly spread over the orders of magnitude.
    fn distance(self, random: &mut Rng) -> f64 {
        let mut spread = |low: f64, high: f64| random.between(low.ln(), high.ln()).exp();
        match self {
            Class::Separated => spread(1e-3, 0.3),
            Class::Shallow => -spread(1e-6, 1e-3),
            Class::Deep => -spread(0.01, 0.1),
        }
    }
}

/// A shape for us and as a line of the peer's file.
pub struct Body {
    pub solid: Solid,
    pub text: String,
}

/// Two shapes and the poses at which they are timed.
pub struct Pairs {
    pub kinds: [&'static str; 2],
    pub class: Class,
    pub bodies: [Body; 2],
    /// Position and orientation of both.
    pub placements: Vec<[(Vec3, Quat); 2]>,
}

impl Pairs {
    pub fn name(&self) -> String {
        format!("{}-{}", self.kinds[0], self.kinds[1])
    }

    pub fn poses(&self) -> Vec<[Pose; 2]> {
        self.placements.iter().map(|both| both.map(|(p, q)| Pose::new(p, q))).collect()
    }
}

/// All combinations of kinds but two planes, which have no distance.
pub fn combinations() -> impl Iterator<Item = [&'static str; 2]> {
    let of = |i: usize| KINDS[i..].iter().map(move |second| [KINDS[i], *second]);
    (0..KINDS.len()).flat_map(of).filter(|kinds| *kinds != ["plane", "plane"])
}

/// Two random shapes of the given kinds at random poses of one class.
pub fn sample(kinds: [&'static str; 2], class: Class, n: usize, seed: u64) -> Result<Pairs, String> {
    // a stream of its own for each combination: a figure does not depend on which others are asked for
    let number = |kind: &str| KINDS.iter().position(|k| *k == kind).unwrap_or(KINDS.len()) as u64;
    let mut random = Rng(seed ^ ((number(kinds[0]) * 16 + number(kinds[1])) * 4 + class as u64 + 1) << 20);
    let bodies = [body(kinds[0], &mut random)?, body(kinds[1], &mut random)?];
    let placements = (0..n).map(|_| place(kinds, class, &bodies, &mut random)).collect::<Result<_, _>>()?;
    Ok(Pairs { kinds, class, bodies, placements })
}

fn body(kind: &str, random: &mut Rng) -> Result<Body, String> {
    let mut size = || random.between(SIZES[0], SIZES[1]);
    let shape = match kind {
        "plane" => Shape::Plane,
        "sphere" => Shape::Sphere { radius: size() },
        "capsule" => Shape::Capsule { radius: size(), half_length: size() },
        "cylinder" => Shape::Cylinder { radius: size(), half_length: size() },
        "cone" => Shape::Cone { radius: size(), half_length: size() },
        "box" => Shape::Box { half_size: vec3(size(), size(), size()) },
        "ellipsoid" => Shape::Ellipsoid { radii: vec3(size(), size(), size()) },
        hull => {
            let n = hull.strip_prefix("hull").and_then(|n| n.parse().ok());
            return hull_body(n.ok_or_else(|| format!("unknown kind of shape '{kind}'"))?, random);
        }
    };
    let mut text = format!("shape {}", shape.name());
    for x in &shape.size()[..shape.n_sizes()] {
        let _ = write!(text, " {x:?}");
    }
    Ok(Body { solid: Solid::new(shape).map_err(|e| e.to_string())?, text: text + "\n" })
}

fn hull_body(n: usize, random: &mut Rng) -> Result<Body, String> {
    let mesh = hull(n, random)?;
    let mut text = format!("shape hull {} {}\n", mesh.vertices.len(), mesh.triangles.len());
    for v in &mesh.vertices {
        let _ = writeln!(text, "v {:?} {:?} {:?}", v.x, v.y, v.z);
    }
    for [a, b, c] in &mesh.triangles {
        let _ = writeln!(text, "t {a} {b} {c}");
    }
    Ok(Body { solid: Solid::hull(&mesh).map_err(|e| e.to_string())?, text })
}

/// The hull of random points on an ellipsoid; all of them are corners. The reader of files makes it.
fn hull(n: usize, random: &mut Rng) -> Result<Mesh, String> {
    let [a, b, c] = [0; 3].map(|_| random.between(SIZES[0], SIZES[1]));
    let mut points = String::new();
    for _ in 0..n {
        let u = random.direction();
        let _ = write!(points, "{:?} {:?} {:?} ", a * u.x, b * u.y, c * u.z);
    }
    let file = format!(
        "<mujoco><asset><mesh name=\"hull\" vertex=\"{points}\"/></asset><worldbody><body><freejoint/>\
         <geom type=\"mesh\" mesh=\"hull\"/></body></worldbody></mujoco>"
    );
    let model = slipstick::files::load_mjcf_str("hull", &file, &LoadOptions::default()).map_err(|e| e.to_string())?;
    match model.meshes() {
        [mesh] if mesh.vertices.len() == n => Ok(mesh.clone()),
        _ => Err(format!("the hull of {n} points on an ellipsoid has not {n} corners")),
    }
}

/// Random orientations, and a gap of the class along a random direction between the middles of the shapes.
fn place(kinds: [&str; 2], class: Class, bodies: &[Body; 2], random: &mut Rng) -> Result<[(Vec3, Quat); 2], String> {
    for _ in 0..TRIES {
        let wanted = class.distance(random);
        let orientations = [random.orientation(), random.orientation()];
        let origin = vec3(random.sign(), random.sign(), random.sign());
        let on_plane = kinds[0] == "plane";
        let direction = if on_plane { orientations[0].to_matrix().c[2] } else { random.direction() };
        let at = |s: f64| [(origin, orientations[0]), (origin + direction * s, orientations[1])];
        let gap = |s: f64| {
            let [first, second] = at(s).map(|(p, q)| Pose::new(p, q));
            distance(&bodies[0].solid, &first, &bodies[1].solid, &second).map_err(|e| e.to_string())
        };
        // the distance grows along a line that leaves a convex shape; on a plane the line begins below ground
        let (mut low, mut high) = (if on_plane { -FAR } else { 0.0 }, FAR);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if gap(middle)? < wanted { low = middle } else { high = middle }
        }
        if (gap(high)? - wanted).abs() <= 0.01 * wanted.abs() {
            return Ok(at(high));
        }
    }
    Err(format!("{}-{}: no {} pose found in {TRIES} tries", kinds[0], kinds[1], class.name()))
}

/// What the peer reads: shapes, then poses.
pub fn write_text(pairs: &[Pairs]) -> String {
    let mut out = String::new();
    for (k, p) in pairs.iter().enumerate() {
        let _ = writeln!(out, "{}{}pair {} {}", p.bodies[0].text, p.bodies[1].text, 2 * k, 2 * k + 1);
        for both in &p.placements {
            out.push_str("pose");
            for (p, q) in both {
                for x in p.to_array().into_iter().chain(q.to_array()) {
                    let _ = write!(out, " {x:?}");
                }
            }
            out.push('\n');
        }
    }
    out
}
