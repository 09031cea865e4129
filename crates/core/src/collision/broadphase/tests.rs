use super::super::detect::shape_of;
use super::*;
use crate::model::{GeomId, GeomSpec, JointKind, JointSpec, Mesh, MeshId, ModelBuilder, PairRule, PairSurface, Shape};
use crate::random::Rng;
use crate::spatial::{BodyInertia, Quat, Sym3, Vec3, vec3};

/// Shapes and poses at random.
struct Random(Rng);

impl Random {
    fn new(seed: u64) -> Random {
        Random(Rng(seed))
    }

    fn vector(&mut self) -> Vec3 {
        vec3(self.0.sign(), self.0.sign(), self.0.sign())
    }

    fn pose(&mut self, size: f64) -> Pose {
        Pose::new(self.vector() * size, Quat::exp(self.vector() * 3.0))
    }

    fn size(&mut self) -> f64 {
        0.02 + 0.2 * self.0.sign().abs()
    }

    fn shape(&mut self, kind: usize) -> Shape {
        let (radius, half_length, s) = (self.size(), self.size(), vec3(self.size(), self.size(), self.size()));
        match kind % 8 {
            0 => Shape::Sphere { radius },
            1 => Shape::Capsule { radius, half_length },
            2 => Shape::Cylinder { radius, half_length },
            3 => Shape::Box { half_size: s },
            4 => Shape::Ellipsoid { radii: s },
            5 => Shape::Plane,
            6 => Shape::Cone { radius, half_length },
            _ => Shape::Mesh { mesh: MeshId(0) },
        }
    }
}

/// Bodies that float, each with up to three shapes of the first `kinds` kinds, and shapes of the world.
fn scene(seed: u64, bodies: usize, fixed: usize, kinds: usize) -> Model {
    let mut random = Random::new(seed);
    let mut b = ModelBuilder::new("scene");
    let vertices = (0..8).map(|_| random.vector() * 0.2).collect();
    b.add_mesh(Mesh { name: "stone".into(), vertices, triangles: Vec::new() });
    let inertia = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let mut geoms = Vec::new();
    for k in 0..bodies {
        let joint = JointSpec::new(format!("joint{k}"), JointKind::Free);
        let link = b.add_link(ModelBuilder::WORLD, format!("body{k}"), Pose::IDENTITY, inertia, vec![joint]);
        for j in 0..k % 4 {
            let shape = random.shape((7 * k + 3 * j) % kinds);
            let mut geom = GeomSpec { pose: random.pose(0.3), ..GeomSpec::new("", shape) };
            geom.surface.offset = 0.01 * random.0.sign().abs();
            geoms.push(b.add_geom(link, geom));
        }
    }
    for k in 0..fixed {
        let shape = random.shape((5 * k) % kinds);
        geoms.push(b.add_geom(ModelBuilder::WORLD, GeomSpec { pose: random.pose(2.0), ..GeomSpec::new("", shape) }));
    }
    b.add_pair(geoms[0], geoms[geoms.len() - 1], PairSurface { friction: 1.0, condim: 3, offset: 0.3 });
    b.build().expect("sound")
}

fn poses(model: &Model, random: &mut Random, size: f64) -> Vec<Pose> {
    (0..model.n_bodies()).map(|k| if k == 0 { Pose::IDENTITY } else { random.pose(size) }).collect()
}

/// Farthest value of n·x over a geom, from its support point.
fn farthest(model: &Model, X_wb: &[Pose], geom: GeomId, n: Vec3) -> f64 {
    let g = &model.geoms()[geom.0];
    let X = X_wb[g.body.0] * g.pose;
    let (shape, d) = (shape_of(model, geom), X.rotation.tmul(n));
    n.dot(X.position) + d.dot(shape.core.support(d, 0).0) + shape.radius
}

/// How far apart two geoms are at least: along a plane's normal, or along the world's axes.
fn least_distance(model: &Model, X_wb: &[Pose], pair: [GeomId; 2]) -> f64 {
    let mut sides = pair;
    if model.shape(sides[1]) == Shape::Plane {
        sides.reverse();
    }
    let [a, b] = sides;
    if model.shape(b) == Shape::Plane {
        return f64::NEG_INFINITY;
    }
    let mut directions: Vec<Vec3> = Vec3::UNITS.iter().flat_map(|u| [*u, -*u]).collect();
    if model.shape(a) == Shape::Plane {
        let g = &model.geoms()[a.0];
        directions = vec![X_wb[g.body.0].rotation * g.pose.rotation.c[2]];
    }
    let gap = |n: &Vec3| -farthest(model, X_wb, b, -*n) - farthest(model, X_wb, a, *n);
    directions.iter().map(gap).fold(f64::NEG_INFINITY, f64::max)
}

/// Numbers of the pairs that are near, by looking at each.
fn exhaustive(model: &Model, X_wb: &[Pose], limit: f64) -> Vec<u32> {
    let offset = |g: GeomId| model.geoms()[g.0].surface.offset;
    let is_near = |k: &u32| {
        let pair = &model.pairs()[*k as usize];
        let offset = pair.surface.map_or(offset(pair.geoms[0]) + offset(pair.geoms[1]), |s| s.offset);
        least_distance(model, X_wb, pair.geoms) <= limit + offset
    };
    (0..model.pairs().len() as u32).filter(is_near).collect()
}

const LIMITS: [f64; 4] = [0.0, 0.01, 0.2, 1.0];

#[test]
fn no_pair_is_missed() {
    for seed in 0..12 {
        let model = scene(seed, 5 + 3 * seed as usize, 9, 8);
        let (mut broad, mut out, mut random) = (Broadphase::new(&model), Vec::new(), Random::new(seed));
        for limit in LIMITS {
            let X_wb = poses(&model, &mut random, 1.0);
            broad.candidates(&model, &X_wb, limit, None, &mut out);
            let wanted = exhaustive(&model, &X_wb, limit);
            assert!(!wanted.is_empty() && wanted.iter().all(|k| out.binary_search(k).is_ok()), "seed {seed}");
            assert!(out.is_sorted_by(|a, b| a < b));
            for (k, (pose, geom)) in broad.geom_poses().iter().zip(model.geoms()).enumerate() {
                let difference = X_wb[geom.body.0].position + X_wb[geom.body.0].rotation * geom.pose.position;
                assert!((difference - pose.position).norm() < 1e-14, "geom {k}");
            }
        }
    }
}

#[test]
fn boxes_of_shapes_are_as_tight_as_can_be() {
    // spheres, capsules, cylinders, boxes and ellipsoids; no planes, cones, meshes; without the explicit pair, whose
    // large offset its geoms carry to their other pairs
    for seed in 0..8 {
        let model = scene(seed, 24, 6, 5);
        let all = (0..model.geoms().len()).flat_map(|j| (0..j).map(move |i| [GeomId(i), GeomId(j)])).collect();
        let model = model.with_pair_rule(PairRule::List(all)).expect("geoms of the model");
        let (mut broad, mut out, mut random) = (Broadphase::new(&model), Vec::new(), Random::new(seed));
        for limit in LIMITS {
            let X_wb = poses(&model, &mut random, 1.5);
            broad.candidates(&model, &X_wb, limit, None, &mut out);
            assert_eq!(out, exhaustive(&model, &X_wb, limit), "seed {seed}, limit {limit}");
        }
    }
}

#[test]
fn planes_are_compared_with_shapes_along_their_normals() {
    let mut b = ModelBuilder::new("slope");
    let tilted = Pose::new(vec3(0.3, 0.1, -0.2), Quat::exp(vec3(0.4, -0.7, 0.2)));
    b.add_geom(ModelBuilder::WORLD, GeomSpec { pose: tilted, ..GeomSpec::new("slope", Shape::Plane) });
    let inertia = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let joint = JointSpec::new("joint", JointKind::Free);
    let link = b.add_link(ModelBuilder::WORLD, "box", Pose::IDENTITY, inertia, vec![joint]);
    b.add_geom(link, GeomSpec::new("box", Shape::Box { half_size: vec3(0.1, 0.2, 0.3) }));
    let model = b.build().expect("sound");
    let (mut broad, mut out, mut found) = (Broadphase::new(&model), Vec::new(), 0);
    let mut random = Random::new(5);
    for _ in 0..500 {
        let X_wb = poses(&model, &mut random, 0.6);
        broad.candidates(&model, &X_wb, 0.01, None, &mut out);
        assert_eq!(out, exhaustive(&model, &X_wb, 0.01));
        found += out.len();
    }
    assert!((100..400).contains(&found), "{found}");
}

#[test]
fn a_sweep_finds_what_a_comparison_of_all_with_all_finds() {
    for (seed, bodies) in [(1, 10), (2, 90), (3, 150)] {
        let model = scene(seed, bodies, 20, 8);
        let (mut all, mut out, mut swept) = (Broadphase::new(&model), Vec::new(), Vec::new());
        let mut sweep = all.clone();
        all.search = PairSearch::All { table: table(&all.plan) };
        sweep.search = PairSearch::Sweep(Sweep::new(all.plan.nodes.len()));
        let mut random = Random::new(seed);
        for limit in LIMITS {
            let X_wb = poses(&model, &mut random, 3.0);
            all.candidates(&model, &X_wb, limit, None, &mut out);
            sweep.candidates(&model, &X_wb, limit, None, &mut swept);
            assert!(!out.is_empty());
            assert_eq!(out, swept);
        }
    }
}

#[test]
fn larger_shapes_are_seen_after_a_change_of_parameters() {
    let model = scene(4, 12, 5, 5);
    let X_wb = poses(&model, &mut Random::new(4), 1.0);
    let mut parameters = model.parameters().clone();
    parameters.group_mut(crate::model::ParameterGroup::ShapeSize).iter_mut().for_each(|x| *x *= 3.0);
    let grown = model.with_parameters(parameters).expect("sound");
    let (mut broad, mut fresh) = (Broadphase::new(&model), Broadphase::new(&grown));
    let (mut before, mut after, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
    broad.candidates(&model, &X_wb, 0.0, None, &mut before);
    broad.candidates(&grown, &X_wb, 0.0, None, &mut after);
    fresh.candidates(&grown, &X_wb, 0.0, None, &mut wanted);
    assert!(after.len() > before.len());
    assert_eq!(after, wanted);
    broad.candidates(&model, &X_wb, 0.0, None, &mut after);
    assert_eq!(after, before);
}

#[test]
fn every_pair_is_near_within_an_infinite_limit() {
    for bodies in [7, 100] {
        let model = scene(6, bodies, 5, 8);
        let mut out = Vec::new();
        let X_wb = poses(&model, &mut Random::new(6), 1.0);
        Broadphase::new(&model).candidates(&model, &X_wb, f64::INFINITY, None, &mut out);
        assert!(out.iter().copied().eq(0..model.pairs().len() as u32));
    }
}

#[test]
fn searches_repeat_themselves_and_keep_their_memory() {
    for bodies in [12, 120] {
        let model = scene(7, bodies, 10, 8);
        let (mut broad, mut out, mut random) = (Broadphase::new(&model), Vec::new(), Random::new(7));
        let states: Vec<Vec<Pose>> = (0..10).map(|_| poses(&model, &mut random, 1.0)).collect();
        let search = |broad: &mut Broadphase, out: &mut Vec<u32>| -> Vec<Vec<u32>> {
            let mut once = |X_wb: &Vec<Pose>| {
                broad.candidates(&model, X_wb, 0.05, None, out);
                out.clone()
            };
            states.iter().map(&mut once).collect()
        };
        let first = search(&mut broad, &mut out);
        let room = (out.capacity(), broad.memory.found.capacity(), broad.memory.hits.capacity());
        assert_eq!(search(&mut broad, &mut out), first);
        assert_eq!(room, (out.capacity(), broad.memory.found.capacity(), broad.memory.hits.capacity()));
    }
}
