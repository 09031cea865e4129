//! The problem of a step: which constraints are active, their rows, the Delassus matrix, the free velocity.
//! (contact-2 … contact-8)
#![allow(non_snake_case)]

use super::laws::cone::{Cone, project_cone};
use super::laws::stabilization::Bias;
use super::laws::surface::{PairLaw, gap_velocity, pair_law};
use super::problem::delassus::delassus;
use super::problem::islands::{DisjointSets, Island, split};
use super::problem::low_rank::open_factor;
use super::problem::redundancy::Redundancy;
use super::problem::{Block, Problem, RowGroup, RowSpace, TWIST, rows_of};
use super::rows::dofs::Dofs;
use super::rows::frames::{self, FrameRows};
use super::rows::jacobian::{Jacobian, WIDTH};
use super::rows::joints::{self, JointRow};
use super::solution::Solution;
use super::warm::{Key, StoredImpulse, WarmImpulses};
use super::{EndVelocity, Scene};
use crate::collision::{Contact, ContactSet};
use crate::dynamics::{Kinematics, StepMass};
use crate::footprint::{Footprint, Growths, footprint};
use crate::model::{BodyId, Model, Solver};
use crate::spatial::{Motion, Vec3};
use core::ops::Range;

/// What a block of the problem stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A contact, by its number in the contact set.
    Contact(usize),
    /// A joint's (or tendon's) limit or dry friction, by its number among the joint rows.
    Joint(usize),
    /// A row of an equality constraint: which one, which row.
    Equality(usize, usize),
}

/// A contact of the step and whether it is in the problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContactCandidate {
    pub law: PairLaw,
    /// Bodies of the contact, in its own order.
    pub bodies: [BodyId; 2],
    pub(super) included: bool,
}

/// Rows on single dofs act on the diagonal of M̂ where there is at least one for so many dofs.
const DOFS_PER_ROW: usize = 4;
/// Points between two bodies whose loads the motion determines.
const DETERMINED_POINTS: usize = 3;
/// A gap that closes by less than this fraction of itself is inactive at first.   (contact-2)
const MIN_CLOSING: f64 = 0.5;
/// Gaps smaller than this are always active (m).
const ALWAYS_ACTIVE: f64 = 1e-4;
/// How far an inactive constraint may be violated before the problem is solved again with it (m).
const VIOLATED: f64 = 1e-12;

/// The problem of a step and where its parts come from.
#[derive(Debug, Clone)]
pub(crate) struct Assembly {
    pub problem: Problem,
    pub sources: Vec<Source>,
    pub candidates: Vec<ContactCandidate>,
    pub joint_rows: Vec<JointRow>,
    pub pair_rows: Vec<FrameRows>,
    /// Which trees constraints join.
    pub joined: DisjointSets,
    /// Contacts by islands and pairs of bodies; joint rows and equalities by islands.
    pub(super) order: Vec<u32>,
    pub(super) joint_order: Vec<u32>,
    pub(super) pair_order: Vec<u32>,
    pub(super) biases: Vec<Bias>,
    redundancy: Redundancy,
    /// Blocks whose last row is immovable, and which therefore have no position correction.
    pub(super) immovable: Vec<bool>,
    /// Fraction of its position correction that each block gets.
    pub(super) correction_fractions: Vec<f64>,
    /// J v_free without any correction (rows).
    pub(super) uncorrected: Vec<f64>,
    /// Scratch: a number per dof.
    at: Vec<usize>,
    /// Growths of this memory, of that of the solution without its scratch, and of the warm start.
    growths: Growths,
}

footprint!(Assembly: problem, sources, candidates, joint_rows, pair_rows, joined, order, joint_order, pair_order,
    biases, redundancy, immovable, correction_fractions, uncorrected, at);

impl Assembly {
    /// Memory for a model.
    pub fn new(model: &Model) -> Assembly {
        let mut assembly = Assembly {
            problem: Problem { jacobian: Jacobian::new(model), dofs: Dofs::new(model), ..Problem::default() },
            sources: Vec::new(),
            candidates: Vec::new(),
            joint_rows: Vec::new(),
            pair_rows: Vec::new(),
            joined: DisjointSets::new(model),
            order: Vec::new(),
            joint_order: Vec::new(),
            pair_order: Vec::new(),
            biases: Vec::new(),
            redundancy: Redundancy::default(),
            immovable: Vec::new(),
            correction_fractions: Vec::new(),
            uncorrected: Vec::new(),
            at: vec![0; model.nv()],
            growths: Growths::default(),
        };
        assembly.growths = Growths::of(&assembly);
        assembly
    }

    /// How often memory of a solve has grown, this one included.
    pub fn count_growths(&mut self, scene: &Scene, solution: &mut Solution, warm: &WarmImpulses) -> usize {
        // scratch counts for itself: it may be exchanged between steps
        let (scratch, all) = (solution.scratch.room(), self.room() + solution.room() + warm.room());
        solution.scratch.growths.watch(scratch);
        self.growths.watch(all - scratch);
        self.growths.count + solution.scratch.growths.count + scene.contacts.growths()
    }

    /// Collects the candidates: contacts near each other, limits near their joints, dry friction, equalities. Limits count
    /// if they are nearer than `near_limit`, or than twice their motion in the step. `is_active` decides from a gap and its
    /// change over the step which are active from the start.
    pub fn collect(&mut self, scene: &Scene, near_limit: f64, is_active: impl Fn(f64, f64) -> bool + Copy) {
        let Scene { model, q, kin, free, contacts } = *scene;
        let dt = model.options().dt;
        self.candidates.clear();
        for c in contacts.contacts() {
            let bodies = c.geoms.map(|g| model.geoms()[g.0].body);
            let closing = dt * normal_velocity(model, kin, &free.V, c, bodies);
            let law = pair_law(model, &model.pairs()[c.pair]);
            // a contact that bounces is active in any case
            let bounces =
                law.restitution > 0.0 && c.distance + dt * normal_velocity(model, kin, &kin.V, c, bodies) <= 0.0;
            let included = bounces || is_active(c.distance, closing);
            self.candidates.push(ContactCandidate { law, bodies, included });
        }
        self.joint_rows.clear();
        joints::collect(model, q, &free.v, near_limit, &mut self.joint_rows, is_active);
        self.pair_rows.clear();
        frames::collect(model, kin, &mut self.pair_rows);
    }

    /// The problem of all active constraints.
    pub fn assemble(&mut self, scene: &Scene, mass: &mut StepMass) {
        let Scene { model, kin, free, .. } = *scene;
        self.problem.begin();
        self.sources.clear();
        self.biases.clear();
        self.join(model);
        self.sort(model);
        self.add_islands(scene);
        if !self.problem.blocks.is_empty() {
            mass.complete(model, kin);
            self.problem.dofs.take_mass(mass);
            self.write_delassus(model, mass);
        }
        self.problem.finish();
        self.redundancy.regularize(&mut self.problem, model.options().patch_compliance);
        self.free_velocities(&free.v);
        self.correct(model);
    }

    /// The island that begins with a tree: its equalities, rows of joints and contacts.
    pub(super) fn add_island(&mut self, scene: &Scene, parts: [&[u32]; 3], tree: usize) {
        let Scene { model, kin, .. } = *scene;
        let count = self.problem.islands.len();
        self.add_equalities(model, kin, parts[0]);
        let on_dofs = self.act_on_dofs(model, parts[1], tree);
        self.add_joint_rows(model, parts[1], on_dofs);
        if on_dofs {
            self.add_dof_rows(model, parts[1]);
        }
        self.add_contacts(scene, parts[2]);
        self.problem.close_island();
        let mass = self.mass_of(tree);
        let first = self.problem.dofs.trees.len();
        if on_dofs {
            let mut trees = core::mem::take(&mut self.problem.dofs.trees);
            trees.extend(self.trees_of(model, tree));
            self.problem.dofs.trees = trees;
        }
        if let Some(island) = self.problem.islands.get_mut(count) {
            (island.tree, island.mass) = (tree, mass);
            island.trees = first..self.problem.dofs.trees.len();
        }
        if on_dofs {
            self.count_moving_dofs(count);
        }
    }

    /// G of all rows that are not on single dofs, or W.
    fn write_delassus(&mut self, model: &Model, mass: &StepMass) {
        for island in 0..self.problem.islands.len() {
            open_factor(model.tree(), &mut self.at, &mut self.problem, island);
            if self.problem.islands[island].has_delassus {
                self.problem.open_delassus(island);
            }
        }
        let mut own = core::mem::take(&mut self.problem.delassus);
        delassus(model.tree(), mass.factor(), &self.problem, &mut own);
        self.problem.delassus = own;
    }

    /// How many dofs the rows of an island move.
    fn count_moving_dofs(&mut self, island: usize) {
        let Assembly { problem, at, .. } = self;
        let Island { groups, blocks, .. } = problem.islands[island].clone();
        let on_dof = |b: &Block| if let RowSpace::Dof { dof, .. } = b.space { Some(dof as usize) } else { None };
        let paths =
            problem.jacobian.spans[groups].iter().flat_map(|span| &problem.jacobian.path[span.clone()]).copied();
        let dofs = || paths.clone().chain(problem.blocks[blocks.clone()].iter().filter_map(on_dof));
        dofs().for_each(|j| at[j] = 1);
        let count = dofs().map(|j| core::mem::take(&mut at[j])).sum();
        problem.islands[island].moving_dofs = count;
    }

    fn add_equalities(&mut self, model: &Model, kin: &Kinematics, chosen: &[u32]) {
        for n in chosen.iter().map(|k| *k as usize) {
            let rows = &self.pair_rows[n];
            let (xi, block) = (self.problem.size(), self.problem.blocks.len());
            rows.open(model, kin, &mut self.problem.jacobian);
            for (k, error) in rows.errors().iter().enumerate() {
                self.problem.push(Cone::Bilateral, xi + k, RowSpace::Rows, [0.0; 2]);
                self.sources.push(Source::Equality(n, k));
                self.biases.push(Bias::Error(*error));
            }
            let count = rows.errors().len();
            self.problem.groups.push(RowGroup::new(xi..xi + count, block..block + count));
        }
    }

    /// Limits, dry friction and couplings that join several dofs, up to eight in a group.
    fn add_joint_rows(&mut self, model: &Model, chosen: &[u32], on_dofs: bool) {
        for chunk in chosen.chunks(WIDTH) {
            let (xi, block) = (self.problem.size(), self.problem.blocks.len());
            let joins = |r: &JointRow| r.included && !(on_dofs && r.only_dof(model).is_some());
            let rows = || chunk.iter().map(|n| (*n as usize, &self.joint_rows[*n as usize])).filter(|(_, r)| joins(r));
            let count = rows().count();
            if count == 0 {
                continue;
            }
            self.problem.jacobian.open(model, rows().flat_map(|(_, r)| r.terms(model).map(|(j, _)| j)));
            for (k, (n, row)) in rows().enumerate() {
                row.terms(model).for_each(|(j, x)| self.problem.jacobian.add_dof(j, k, x));
                self.problem.push(row.cone, xi + k, RowSpace::Rows, [0.0; 2]);
                self.sources.push(Source::Joint(n));
                self.biases.push(joint_bias(row));
            }
            self.problem.groups.push(RowGroup::new(xi..xi + count, block..block + count));
        }
    }

    /// Limits and dry friction of single dofs, outside of all groups.   (contact-17)
    fn add_dof_rows(&mut self, model: &Model, chosen: &[u32]) {
        for n in chosen.iter().map(|n| *n as usize) {
            let row = self.joint_rows[n];
            if let (true, Some((dof, scale))) = (row.included, row.only_dof(model)) {
                let xi = self.problem.size();
                self.problem.push(row.cone, xi, RowSpace::Dof { dof: dof as u32, scale }, [0.0; 2]);
                self.sources.push(Source::Joint(n));
                self.biases.push(joint_bias(&row));
            }
        }
    }

    /// Whether rows on single dofs of the island that begins with a tree act on the diagonal of M̂: where they are few,
    /// they cost less as rows of G. Gauss–Seidel needs all rows in G.   (contact-17)
    fn act_on_dofs(&self, model: &Model, chosen: &[u32], first: usize) -> bool {
        if chosen.is_empty() || model.options().solver == Solver::Pgs {
            return false;
        }
        let rows = chosen.iter().map(|n| &self.joint_rows[*n as usize]);
        let count = rows.filter(|r| r.included && r.only_dof(model).is_some()).count();
        count > 0 && DOFS_PER_ROW * count >= self.trees_of(model, first).map(|dofs| dofs.len()).sum()
    }

    /// Dofs of the trees of the island that begins with one of them.
    fn trees_of<'a>(&'a self, model: &'a Model, first: usize) -> impl Iterator<Item = Range<usize>> + 'a {
        let tree = model.tree();
        let own = tree.roots.iter().enumerate().skip(first).filter(move |(n, _)| self.joined.first(*n) == first);
        own.map(|(_, root)| tree.nodes[*root].dofs.start).map(|start| start..tree.subtree_end[start])
    }

    /// Contacts, one group per pair of bodies.   (contact-6)
    fn add_contacts(&mut self, scene: &Scene, mut chosen: &[u32]) {
        while let Some(&first) = chosen.first() {
            let bodies = sorted(self.candidates[first as usize].bodies);
            let run = split(&mut chosen, |k| sorted(self.candidates[k].bodies) == bodies);
            self.add_pair(scene, bodies, run);
        }
    }

    /// The contacts of two bodies. With more than three points, compliance determines the load distribution.
    fn add_pair(&mut self, scene: &Scene, bodies: [BodyId; 2], run: &[u32]) {
        let Scene { model, kin, contacts, .. } = *scene;
        let included = || run.iter().map(|&k| k as usize).filter(|&k| self.candidates[k].included);
        let count = included().count();
        if count == 0 {
            return;
        }
        let relative = if run.len() > DETERMINED_POINTS { model.options().patch_compliance } else { 0.0 };
        let (xi, block) = (self.problem.size(), self.problem.blocks.len());
        let all = contacts.contacts();
        self.problem.jacobian.open_bodies(model, bodies);
        let as_twist = count > 2;
        // a group of many points is described by the relative twist of its bodies at their center
        let center = included().fold(Vec3::ZERO, |s, k| s + all[k].point) * (1.0 / count as f64);
        if as_twist {
            for (body, sign) in bodies.into_iter().zip([-1.0, 1.0]) {
                self.problem.jacobian.add_point(model, kin, body, center, &Vec3::UNITS, 0, sign);
                self.problem.jacobian.add_rotation(model, kin, body, &Vec3::UNITS, 3, sign);
            }
        }
        for (n, &k) in run.iter().filter(|&&k| self.candidates[k as usize].included).enumerate() {
            let (c, candidate) = (&all[k as usize], self.candidates[k as usize]);
            let cone = Cone::Friction { mu: candidate.law.friction };
            let compliance = [candidate.law.compliance, relative];
            if as_twist {
                let sign = if candidate.bodies == bodies { 1.0 } else { -1.0 };
                self.problem.push_twist(cone, xi, twist_map(c, center, sign), compliance);
            } else {
                for (body, sign) in candidate.bodies.into_iter().zip([-1.0, 1.0]) {
                    self.problem.jacobian.add_point(model, kin, body, c.point, &c.frame.c, 3 * n, sign);
                }
                self.problem.push(cone, xi + 3 * n, RowSpace::Rows, compliance);
            }
            self.sources.push(Source::Contact(k as usize));
            let approach = normal_velocity(model, kin, &kin.V, c, candidate.bodies);
            let restitution = candidate.law.restitution;
            self.biases.push(Bias::Gap { phi: c.distance, restitution, approach });
        }
        let width = if as_twist { TWIST } else { 3 * count };
        self.problem.groups.push(RowGroup::new(xi..xi + width, block..block + count));
    }

    /// Adds inactive candidates that the velocities at the end of the step would violate. Returns whether there were any.
    pub fn include_violated(&mut self, scene: &Scene, end: &EndVelocity) -> bool {
        let Scene { model, q, kin, contacts, .. } = *scene;
        let options = model.options();
        let mut any = false;
        for (c, candidate) in contacts.contacts().iter().zip(&mut self.candidates).filter(|(_, c)| !c.included) {
            let closing = normal_velocity(model, kin, &end.V, c, candidate.bodies);
            let gap = options.dt * gap_velocity(&options.correction, options.dt, c.distance);
            candidate.included = gap + options.dt * closing < -VIOLATED;
            any |= candidate.included;
        }
        for row in self.joint_rows.iter_mut().filter(|r| !r.included) {
            row.included = row.phi + options.dt * row.velocity(model, &end.v) < -VIOLATED;
            any |= row.included;
        }
        any | joints::collect_violated(model, q, &end.v, VIOLATED, &mut self.joint_rows)
    }
}

impl Assembly {
    /// Key of a block that stays the same from step to step.
    pub fn key(&self, source: Source, contacts: &ContactSet) -> Key {
        match source {
            Source::Contact(k) => {
                let c = &contacts.contacts()[k];
                Key(c.pair as u64, c.feature)
            }
            Source::Joint(n) => self.joint_rows[n].kind.key(),
            Source::Equality(n, k) => Key(Key::EQUALITY + n as u64, k as u64),
        }
    }

    /// Impulses of the last step as a start: forces keep their direction in the world. Constraints that were relaxed are
    /// relaxed again. (contact-13)
    pub fn warm_start(&mut self, contacts: &ContactSet, warm: &WarmImpulses, lambda: &mut [f64]) {
        let mut finder = warm.finder();
        for k in 0..self.sources.len() {
            let (b, source) = (self.problem.blocks[k], self.sources[k]);
            let Some(StoredImpulse { impulse, relaxation, .. }) = finder.find(self.key(source, contacts)) else {
                continue;
            };
            self.problem.blocks[k].relax(relaxation);
            match (source, b.cone) {
                (Source::Contact(k), Cone::Friction { mu }) => {
                    let local = contacts.contacts()[k].frame.tmul(impulse);
                    lambda[b.row..b.row + 3].copy_from_slice(&project_cone(local, mu).to_array());
                }
                (_, cone) => lambda[b.row] = cone.project_scalar(impulse.x),
            }
        }
    }

    /// Stores the impulses for the next step.
    pub fn store_impulses(&self, contacts: &ContactSet, lambda: &[f64], warm: &mut WarmImpulses) {
        warm.clear();
        for (b, source) in self.problem.blocks.iter().zip(&self.sources) {
            let impulse = match *source {
                Source::Contact(k) => contacts.contacts()[k].frame * Vec3::from_slice(&lambda[b.row..]),
                _ => Vec3 { x: lambda[b.row], y: 0.0, z: 0.0 },
            };
            warm.push(StoredImpulse { key: self.key(*source, contacts), impulse, relaxation: b.next_relaxation });
        }
    }

    /// `tau = Jᵀ λ`.   (contact-8)
    pub fn generalized_impulse(&self, lambda: &[f64], tau: &mut [f64]) {
        tau.fill(0.0);
        for (n, group) in self.problem.groups.iter().enumerate() {
            let mut w = [0.0; WIDTH];
            for b in &self.problem.blocks[group.blocks.clone()] {
                let local = Block { xi: b.xi - group.xi.start, ..*b };
                self.problem.gather(&local, &rows_of(lambda, b), &mut w);
            }
            self.problem.jacobian.add_transposed(n, &w[..group.xi.len()], tau);
        }
        for b in &self.problem.blocks {
            if let RowSpace::Dof { dof, scale } = b.space {
                tau[dof as usize] += scale * lambda[b.row];
            }
        }
    }
}

/// How the velocity of a row of joints is corrected.
fn joint_bias(row: &JointRow) -> Bias {
    match row.cone {
        Cone::Unilateral => Bias::Gap { phi: row.phi, restitution: 0.0, approach: 0.0 },
        Cone::Bilateral => Bias::Error(row.phi),
        _ => Bias::None,
    }
}

/// Whether a gap with the given change over the step is active from the start.
pub(super) fn is_near(phi: f64, change: f64) -> bool {
    phi <= ALWAYS_ACTIVE || phi * MIN_CLOSING + change <= 0.0
}

pub(super) fn sorted([a, b]: [BodyId; 2]) -> [BodyId; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

/// Velocity with which a gap opens when the bodies have velocities V.
pub(crate) fn normal_velocity(model: &Model, kin: &Kinematics, V: &[Motion], c: &Contact, bodies: [BodyId; 2]) -> f64 {
    relative_velocity(model, kin, V, c.point, bodies).dot(c.normal())
}

/// Velocity of body 2 relative to body 1 at a point, world axes.
pub(crate) fn relative_velocity(
    model: &Model,
    kin: &Kinematics,
    V: &[Motion],
    point: Vec3,
    bodies: [BodyId; 2],
) -> Vec3 {
    let at = |b: BodyId| match b {
        BodyId::WORLD => Vec3::ZERO,
        b => V[b.0].at(point - kin.origin[model.tree().nodes[b.0].tree]),
    };
    at(bodies[1]) - at(bodies[0])
}

/// T of a contact: the velocity of its point along its axes from the twist of the bodies at `center`.   (contact-6)
fn twist_map(c: &Contact, center: Vec3, sign: f64) -> [[f64; TWIST]; 3] {
    let arm = c.point - center;
    c.frame.c.map(|axis| {
        let (lin, ang) = (axis * sign, arm.cross(axis) * sign);
        [lin.x, lin.y, lin.z, ang.x, ang.y, ang.z]
    })
}
