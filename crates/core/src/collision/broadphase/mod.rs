//! Which pairs may touch: boxes of bodies first, then boxes of shapes.   (collision-12)
//!
//! Few bodies: all against all, four at a time. Many: a sweep along the axis on which they spread most. What is found
//! are marks in a set of bits, so that pairs come out by rising number however they were found.

mod bounds;
pub(super) mod lookahead;
mod plan;
mod sweep;
#[cfg(test)]
mod tests;

use super::broadphase::bounds::{FourBoxes, NO_BOXES, OneBox, box_at, four_times, gaps, least_along, pose_at};
use super::broadphase::lookahead::{Bounds, Lookahead};
use crate::dispatch::dispatch;
use crate::footprint::{Footprint, footprint};
use crate::model::{BodyId, Model};
use crate::spatial::{Lane, Pose};
use plan::{BroadphasePlan, NONE};
use std::sync::Arc;
use sweep::Sweep;

/// Up to this number of moving bodies and shapes of the world, all are compared with all.
const FEW: usize = 64;
/// Pairs are found up to this distance beyond the limit (m): shapes that touch exactly are not lost by rounding.
const SLACK: f64 = 1e-9;

/// Finds the pairs of a model that may be near each other. After the first calls it does not allocate.
#[derive(Debug, Clone)]
pub(crate) struct Broadphase {
    /// The model whose sizes the plan has.
    model: Model,
    /// Shared between copies.
    plan: Arc<BroadphasePlan>,
    search: PairSearch,
    /// Pose of each geom in the world, and one more for members without geom.
    X_wg: Vec<Pose>,
    /// Boxes of the members.
    boxes: Vec<FourBoxes>,
    /// Boxes of the nodes.
    nodes: Vec<FourBoxes>,
    memory: BroadphaseScratch,
    /// One bit per pair.
    marks: Vec<u64>,
    /// How far each body may move (m).
    reach: Vec<f64>,
}

footprint!(Broadphase: plan, search, X_wg, boxes, nodes, memory, marks, reach);

/// How pairs of nodes are found.
#[derive(Debug, Clone)]
enum PairSearch {
    /// All with all: groups by row and column of nodes.
    All {
        table: Arc<Vec<u32>>,
    },
    Sweep(Sweep),
}

/// Scratch of a search, written before it is read.
#[derive(Debug, Clone)]
struct BroadphaseScratch {
    /// Numbers of the poses of four bodies, for each four of members. All are written before the first is read: a lane
    /// that is read right after its four numbers were written makes the processor wait.
    bodies: Vec<[Lane; 12]>,
    /// Numbers of the poses of four shapes. Here and in `gaps` whole lanes are written and read again: otherwise the
    /// compiler takes them apart.
    shapes: [Lane; 12],
    /// Distances of four boxes.
    gaps: Lane,
    /// Nodes near another one.
    hits: Vec<u32>,
    /// Pairs found, in any order; longer than there are pairs.
    found: Vec<u32>,
}

footprint!(BroadphaseScratch: bodies, hits, found);

impl Footprint for PairSearch {
    fn measure<const BYTES: bool>(&self) -> usize {
        match self {
            PairSearch::All { table } => table.measure::<BYTES>(),
            PairSearch::Sweep(sweep) => sweep.measure::<BYTES>(),
        }
    }
}

impl Broadphase {
    /// For the pairs of a model.
    pub fn new(model: &Model) -> Broadphase {
        let plan = Arc::new(BroadphasePlan::new(model));
        let (n, n_pairs) = (plan.nodes.len(), model.pairs().len());
        let search = if n <= FEW { PairSearch::All { table: table(&plan) } } else { PairSearch::Sweep(Sweep::new(n)) };
        let hits = vec![0; n.next_multiple_of(4)];
        let mut broad = Broadphase {
            model: model.clone(),
            search,
            X_wg: vec![Pose::IDENTITY; model.geoms().len() + 1],
            boxes: vec![NO_BOXES; plan.fours.len()],
            nodes: vec![NO_BOXES; n.div_ceil(4)],
            memory: BroadphaseScratch {
                bodies: vec![[Lane::ZERO; 12]; plan.fours.len()],
                shapes: [Lane::ZERO; 12],
                gaps: Lane::ZERO,
                hits,
                found: vec![0; n_pairs + 1],
            },
            marks: vec![0; n_pairs.div_ceil(64)],
            reach: vec![0.0; model.n_bodies()],
            plan,
        };
        broad.place_world();
        broad
    }

    /// Replaces `out` by the pairs (numbers in [`Model::pairs`], rising) whose surfaces may be nearer than `limit`, or may
    /// come so near as their bodies move.
    /// `model` may have other parameters than the one this was made for, not another structure.
    pub fn candidates(
        &mut self,
        model: &Model,
        X_wb: &[Pose],
        limit: f64,
        ahead: Option<&Lookahead>,
        out: &mut Vec<u32>,
    ) {
        if !std::ptr::eq(self.model.numbers(), model.numbers()) {
            self.model = model.clone();
            Arc::make_mut(&mut self.plan).resize(model);
            self.place_world();
        }
        match ahead {
            None => self.reach.fill(0.0),
            Some(ahead) => ahead.reaches(model, X_wb, &self.plan.radius, &mut self.reach),
        }
        // boxes around nothing are infinitely far away
        find(self, X_wb, (limit + SLACK).min(f64::MAX), out);
    }

    /// World poses of the geoms that occur in pairs, as of the last search; those of others mean nothing.
    pub fn geom_poses(&self) -> &[Pose] {
        &self.X_wg[..self.X_wg.len() - 1]
    }

    /// Ball and box of each geom.
    pub fn around(&self) -> &[Bounds] {
        &self.plan.around
    }

    /// Radii of the balls about the origins of the bodies that hold their shapes (m).
    pub fn radius(&self) -> &[f64] {
        &self.plan.radius
    }

    /// How far the last search let each body move (m).
    pub fn reach(&self) -> &[f64] {
        &self.reach
    }

    /// Places the shapes that are fixed to the world.
    fn place_world(&mut self) {
        for (pose, geom) in self.X_wg.iter_mut().zip(self.model.geoms()) {
            *pose = geom.pose;
        }
        let world = [Pose::IDENTITY];
        for k in self.plan.moving_fours..self.plan.fours.len() {
            let BroadphaseScratch { bodies, shapes, .. } = &mut self.memory;
            self.plan.fours[k].gather(&world, &mut bodies[k]);
            self.plan.fours[k].place(&bodies[k], shapes, Lane::ZERO, &mut self.boxes[k]);
        }
        join(&self.plan, self.plan.n_moving..self.plan.nodes.len(), &self.boxes, &mut self.nodes);
    }
}

/// Number of the group of each two nodes, row by row.
fn table(plan: &BroadphasePlan) -> Arc<Vec<u32>> {
    let n = plan.nodes.len();
    // rows are read to the end of their last four
    let mut table = vec![NONE; n * n + 4];
    for (group, [a, b]) in plan.keys.iter().enumerate() {
        if a != b {
            table[*a as usize * n + *b as usize] = group as u32;
        }
    }
    Arc::new(table)
}

dispatch!(
    /// The whole search.
    pub(crate) fn find(broad: &mut Broadphase, X_wb: &[Pose], limit: f64, out: &mut Vec<u32>) {
        place(broad, X_wb);
        let (plan, boxes) = (&broad.plan, &broad.boxes);
        let BroadphaseScratch { gaps, hits, found, .. } = &mut broad.memory;
        let mut count = 0;
        match &mut broad.search {
            PairSearch::All { table } => {
                let n = plan.nodes.len();
                for row in 0..plan.n_moving {
                    let near = near_row(&broad.nodes, row, limit, gaps, hits);
                    for hit in &hits[..near] {
                        let group = table[row * n + *hit as usize];
                        if group != NONE {
                            count = search_group(plan, group as usize, boxes, limit, gaps, found, count);
                        }
                    }
                }
            }
            PairSearch::Sweep(sweep) => sweep.run(&broad.nodes, plan.n_moving, limit, |a, b| {
                if let Ok(group) = plan.keys.binary_search(&[a, b]) {
                    count = search_group(plan, group, boxes, limit, gaps, found, count);
                }
            }),
        }
        for group in &plan.always {
            count = search_group(plan, *group, boxes, limit, gaps, found, count);
        }
        for pair in found[..count].iter().chain(&plan.endless) {
            broad.marks[*pair as usize / 64] |= 1 << (pair % 64);
        }
        mark_planes(broad, limit);
        collect(&mut broad.marks, out);
    }
);

/// Poses and boxes of the moving shapes.
#[inline(always)]
fn place(broad: &mut Broadphase, X_wb: &[Pose]) {
    let plan = &broad.plan;
    let BroadphaseScratch { bodies, shapes, .. } = &mut broad.memory;
    let fours = &plan.fours[..plan.moving_fours];
    for (four, bodies) in fours.iter().zip(&mut *bodies) {
        four.gather(X_wb, bodies);
    }
    for (k, four) in fours.iter().enumerate() {
        let reach = Lane(four.bodies.map(|b| broad.reach[b]));
        four.place(&bodies[k], shapes, reach, &mut broad.boxes[k]);
        for (j, member) in plan.members[4 * k..4 * k + 4].iter().enumerate() {
            broad.X_wg[member.geom.0] = pose_at(shapes, j);
        }
    }
    join(plan, 0..plan.n_moving, &broad.boxes, &mut broad.nodes);
    for plane in &plan.planes {
        let geom = &broad.model.geoms()[plane.geom.0];
        if geom.body != BodyId::WORLD {
            broad.X_wg[plane.geom.0] = X_wb[geom.body.0] * geom.pose;
        }
    }
}

/// Boxes of some nodes.
#[inline(always)]
fn join(plan: &BroadphasePlan, range: std::ops::Range<usize>, boxes: &[FourBoxes], nodes: &mut [FourBoxes]) {
    for k in range {
        let mut members = plan.nodes[k].clone();
        let mut all = box_at(boxes, members.next().unwrap_or(0));
        for m in members {
            let one = box_at(boxes, m);
            for axis in 0..3 {
                all[axis] = if one[axis] < all[axis] { one[axis] } else { all[axis] };
                all[axis + 3] = if one[axis + 3] > all[axis + 3] { one[axis + 3] } else { all[axis + 3] };
            }
        }
        for (lane, x) in nodes[k / 4].iter_mut().zip(all) {
            lane.0[k % 4] = x;
        }
    }
}

/// Nodes that are near node `row` and have a higher number (and, at times, up to three with lower ones): the first of
/// `hits`. Returns how many.
#[inline(always)]
fn near_row(nodes: &[FourBoxes], row: usize, limit: f64, four_gaps: &mut Lane, hits: &mut [u32]) -> usize {
    let one = four_times(nodes, row);
    let (first, mut count) = ((row + 1) / 4, 0);
    for (k, four) in nodes.iter().enumerate().skip(first) {
        *four_gaps = gaps(&one, four);
        if four_gaps.0.iter().all(|gap| *gap > limit) {
            continue;
        }
        for (j, gap) in four_gaps.0.iter().enumerate() {
            // without a branch: which boxes are near is hard to foresee
            hits[count] = (4 * k + j) as u32;
            count += (*gap <= limit) as usize;
        }
    }
    count
}

/// Pairs of a group whose boxes are near are appended to the first `count` of `found`; returns the new count.
#[inline(always)]
fn search_group(
    plan: &BroadphasePlan,
    group: usize,
    boxes: &[FourBoxes],
    limit: f64,
    four_gaps: &mut Lane,
    found: &mut [u32],
    mut count: usize,
) -> usize {
    let group = &plan.groups[group];
    let mut at = group.first;
    for row in group.rows.clone() {
        let one = four_times(boxes, row);
        for four in &boxes[group.fours.clone()] {
            *four_gaps = gaps(&one, four);
            if four_gaps.0.iter().all(|gap| *gap > limit) {
                at += 1;
                continue;
            }
            for (gap, pair) in four_gaps.0.iter().zip(plan.numbers[at]) {
                found[count] = pair;
                count += ((*gap <= limit) & (pair != NONE)) as usize;
            }
            at += 1;
        }
    }
    count
}

/// Boxes of bodies, then shapes themselves, along the normals of planes.
#[inline(always)]
fn mark_planes(broad: &mut Broadphase, limit: f64) {
    for plane in &broad.plan.planes {
        let X = &broad.X_wg[plane.geom.0];
        let n = X.rotation.c[2];
        let body_of = |geom: usize| broad.model.geoms()[geom].body.0;
        let level = n.dot(X.position) + plane.offset + limit + broad.reach[body_of(plane.geom.0)];
        for (node, shapes) in &plane.nodes {
            let around: OneBox = box_at(&broad.nodes, *node);
            if least_along(&around, n) > level {
                continue;
            }
            for [member, pair] in shapes {
                let member = &broad.plan.members[*member as usize];
                let least = member.extent.least_along(&broad.X_wg[member.geom.0], n)
                    - member.offset
                    - broad.reach[body_of(member.geom.0)];
                broad.marks[*pair as usize / 64] |= ((least <= level) as u64) << (pair % 64);
            }
        }
    }
}

/// Numbers of the marked pairs; clears the marks.
#[inline(always)]
fn collect(marks: &mut [u64], out: &mut Vec<u32>) {
    out.clear();
    for (k, word) in marks.iter_mut().enumerate() {
        let mut rest = std::mem::take(word);
        while rest != 0 {
            out.push(64 * k as u32 + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
}
