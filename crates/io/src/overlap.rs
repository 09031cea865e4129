//! Geoms that may collide and overlap where the robot starts. Contact pushes them apart or, where no joint can move them
//! apart, jams.

use crate::error::{LoadError, Place};
use crate::options::OverlapChoice;
use slipstick_core::collision::{ContactSet, detect};
use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{BodyId, GeomId, JointKind, Keyframe, PairRule, Shape, Warning};
use slipstick_core::random::Rng;
use slipstick_core::spatial::Pose;
use slipstick_core::{InputError, Model};
use std::collections::BTreeMap;
use std::path::Path;

/// Overlaps below this depth are contacts at rest (m): the soft ones of MuJoCo, with which keyframes are recorded, sink in by
/// some 0.1 to 1 mm.
const REST: f64 = 1e-3;
/// A foot may sink in by this fraction of its own size, too.
const REST_FRACTION: f64 = 0.1;
/// Random poses in which an overlap is looked for before it is said to be in every pose.
const SAMPLES: usize = 16;
/// Free and mocap bodies are put somewhere within this distance of their start (m).
const AWAY: f64 = 10.0;
/// Models with more geoms are looked at only if asked: the list of pairs grows with the square of their number.
const MANY: usize = 1000;
/// Pairs that a message names; the others are counted.
const NAMED: usize = 3;

/// Two geoms that may collide and that overlap at the start.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Overlap {
    /// The geoms, the lower number first.
    pub geoms: [GeomId; 2],
    /// How deep, in the pose where they are deepest (m).
    pub depth: f64,
    /// The poses: `home`, another keyframe, or empty for the neutral one.
    pub poses: Vec<String>,
    /// Whether they overlap in every pose that was looked at: all start poses and some at random. What joints cannot undo is best
    /// excluded.
    pub always: bool,
}

/// Pairs of geoms that overlap in the neutral pose or in a keyframe by more than contacts at rest do, the deepest first.
pub fn overlaps(model: &Model) -> Result<Vec<Overlap>, InputError> {
    let keyframes = model.keyframes().iter().map(|k| (k.name.clone(), k.q.clone(), k.mocap.clone()));
    let starts = std::iter::once((String::new(), model.neutral().to_vec(), Vec::new())).chain(keyframes);
    Search::new(model).overlaps(starts.collect())
}

/// Those at the place where a simulator begins: the keyframe `home` or, without one, the neutral pose.
fn at_start(model: &Model) -> Result<Vec<Overlap>, InputError> {
    let start = match model.keyframe("home") {
        Ok(Keyframe { name, q, mocap, .. }) => (name.clone(), q.clone(), mocap.clone()),
        Err(_) => (String::new(), model.neutral().to_vec(), Vec::new()),
    };
    Search::new(model).overlaps(vec![start])
}

/// The model with what its options say about overlaps: a warning, pairs that are excluded, or an error.
pub(crate) fn apply(model: Model, choice: OverlapChoice, path: &Path) -> Result<Model, LoadError> {
    if choice == OverlapChoice::Keep && model.geoms().len() > MANY {
        return Ok(model);
    }
    let place = || Box::new(Place { file: path.display().to_string(), ..Place::default() });
    let refused = |e: InputError| LoadError::Structure {
        place: place(),
        expected: "poses whose overlaps can be found".into(),
        got: e.to_string(),
        hint: String::new(),
    };
    let found = at_start(&model).map_err(refused)?;
    let model = match choice {
        _ if found.is_empty() => return Ok(model),
        OverlapChoice::Error => {
            let pairs = found.iter().map(|o| named(&model, o)).collect();
            return Err(LoadError::Overlap { place: place(), pairs });
        }
        OverlapChoice::Keep => return Ok(model.with_warning(warning(&model, &found, path))),
        OverlapChoice::Exclude => exclude(&model, &found).map_err(refused)?,
    };
    let left: Vec<Overlap> = found.into_iter().filter(|o| model.pairs().iter().any(|p| p.geoms == o.geoms)).collect();
    if left.is_empty() { Ok(model) } else { Ok(model.with_warning(warning(&model, &left, path))) }
}

/// Without the pairs that overlap in every pose. Others may come apart, and must then collide.
fn exclude(model: &Model, found: &[Overlap]) -> Result<Model, InputError> {
    let always = || found.iter().filter(|o| o.always);
    if *model.pair_rule() == PairRule::Mujoco {
        let links: Vec<_> = always().map(|o| o.geoms.map(|g| model.geoms()[g.0].link)).collect();
        return model.with_excludes(&links);
    }
    model.without_pairs(&always().map(|o| o.geoms).collect::<Vec<_>>())
}

fn warning(model: &Model, found: &[Overlap], path: &Path) -> Warning {
    let (count, always) = (found.len(), found.iter().filter(|o| o.always).count());
    let worst: Vec<String> = found.iter().take(NAMED).map(|o| named(model, o)).collect();
    let more = if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() };
    let advice = if always > 0 { "; overlap='exclude' leaves out those of every pose" } else { "" };
    let effect = format!("contact pushes them apart: {}{more}{advice}", worst.join(", "));
    let noun = if count == 1 { "pair of geoms that overlaps" } else { "pairs of geoms that overlap" };
    Warning { what: format!("{count} {noun} at the start"), place: path.display().to_string(), effect }
}

/// `'hand' and 'finger' (12.0 mm, in every pose)`.
fn named(model: &Model, o: &Overlap) -> String {
    let [a, b] = o.geoms.map(|g| geom_name(model, g));
    let always = if o.always { ", in every pose" } else { "" };
    format!("{a} and {b} ({:.1} mm{always})", 1e3 * o.depth)
}

/// A geom by its name or, without one, by that of its link.
fn geom_name(model: &Model, id: GeomId) -> String {
    let geom = &model.geoms()[id.0];
    match geom.name.as_str() {
        "" => format!("a {} of '{}'", geom.shape.name(), model.frames()[geom.link.0].name),
        name => format!("'{name}'"),
    }
}

/// What a search for overlaps needs.
struct Search<'m> {
    model: &'m Model,
    work: Workspace,
    set: ContactSet,
    poses: Vec<Pose>,
}

impl<'m> Search<'m> {
    fn new(model: &'m Model) -> Search<'m> {
        let poses = vec![Pose::IDENTITY; model.n_bodies()];
        Search { model, work: Workspace::new(model), set: ContactSet::new(model), poses }
    }

    /// Overlaps in some poses, each with its name, configuration and mocap poses.
    fn overlaps(&mut self, starts: Vec<(String, Vec<f64>, Vec<f64>)>) -> Result<Vec<Overlap>, InputError> {
        let (mut found, mut all): (BTreeMap<[GeomId; 2], Overlap>, _) = (BTreeMap::new(), starts.len());
        for (name, q, mocap) in &starts {
            for (geoms, depth) in self.depths(q, mocap)? {
                let new = Overlap { geoms, depth, poses: Vec::new(), always: false };
                let o = found.entry(geoms).or_insert(new);
                o.depth = o.depth.max(depth);
                o.poses.push(name.clone());
            }
        }
        let mut counts: BTreeMap<[GeomId; 2], usize> = found.iter().map(|(g, o)| (*g, o.poses.len())).collect();
        let mut draw = Rng(1);
        for _ in 0..if found.is_empty() { 0 } else { SAMPLES } {
            let (q, mocap) = somewhere(self.model, &mut draw);
            all += 1;
            self.depths(&q, &mocap)?.keys().for_each(|geoms| {
                counts.entry(*geoms).and_modify(|n| *n += 1);
            });
        }
        found.iter_mut().for_each(|(geoms, o)| o.always = counts[geoms] == all);
        let mut list: Vec<Overlap> = found.into_values().collect();
        list.sort_by(|a, b| b.depth.total_cmp(&a.depth));
        Ok(list)
    }

    /// Pairs that overlap in a pose, and how deep.
    fn depths(&mut self, q: &[f64], mocap: &[f64]) -> Result<BTreeMap<[GeomId; 2], f64>, InputError> {
        self.work.set_mocap(self.model, mocap)?;
        self.work.kinematics(self.model, q)?;
        for (k, pose) in self.poses.iter_mut().enumerate() {
            *pose = self.work.body_pose(BodyId(k))?;
        }
        detect(self.model, &self.poses, &mut self.set)?;
        let mut deepest = BTreeMap::new();
        for c in self.set.contacts().iter().filter(|c| -c.distance > at_rest(self.model, c.geoms)) {
            let depth = deepest.entry(c.geoms).or_insert(0.0_f64);
            *depth = depth.max(-c.distance);
        }
        Ok(deepest)
    }
}

/// How deep two geoms may overlap at rest (m).
fn at_rest(model: &Model, geoms: [GeomId; 2]) -> f64 {
    let smaller = geoms.iter().fold(f64::INFINITY, |m, g| m.min(half_thickness(model, model.shape(*g))));
    if smaller.is_finite() { REST.max(REST_FRACTION * smaller) } else { REST }
}

/// Half of the smallest extent of a shape (m); infinite for ground.
fn half_thickness(model: &Model, shape: Shape) -> f64 {
    match shape {
        Shape::Mesh { mesh } => {
            let vertices = || model.meshes()[mesh.0].vertices.iter();
            let extent = |k: usize| {
                let (low, high) = vertices().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v[k]), h.max(v[k])));
                0.5 * (high - low)
            };
            (0..3).map(extent).fold(f64::INFINITY, f64::min)
        }
        Shape::Capsule { radius, .. } => radius,
        shape if shape.n_sizes() > 0 => shape.size()[..shape.n_sizes()].iter().fold(f64::INFINITY, |m, x| m.min(*x)),
        _ => f64::INFINITY,
    }
}

/// A pose at random: joints within their ranges, free and mocap bodies anywhere near.
fn somewhere(model: &Model, draw: &mut Rng) -> (Vec<f64>, Vec<f64>) {
    let mut q = model.neutral().to_vec();
    for j in model.joints() {
        let x = &mut q[j.q.clone()];
        match j.kind {
            JointKind::Free => move_pose(x, draw),
            JointKind::Spherical => x.copy_from_slice(&draw.orientation().to_array()),
            JointKind::Planar => x.iter_mut().for_each(|x| *x += draw.between(-AWAY, AWAY)),
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
                let [low, high] = j.range.unwrap_or([x[0] - std::f64::consts::PI, x[0] + std::f64::consts::PI]);
                x[0] = draw.between(low.max(-1e3), high.min(1e3));
            }
        }
    }
    let mut mocap = model.mocap_poses();
    mocap.chunks_exact_mut(7).for_each(|pose| move_pose(pose, draw));
    (q, mocap)
}

fn move_pose(pose: &mut [f64], draw: &mut Rng) {
    pose[..3].iter_mut().for_each(|x| *x += draw.between(-AWAY, AWAY));
    pose[3..].copy_from_slice(&draw.orientation().to_array());
}
