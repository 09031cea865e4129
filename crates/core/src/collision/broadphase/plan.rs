//! The fixed data of the broad phase: which shapes may touch which, grouped by their bodies.

use super::bounds::{Extent, FourShapes};
use super::lookahead::Bounds;
use crate::footprint::Footprint;
use crate::model::{BodyId, GeomId, Model};
use crate::spatial::Pose;
use std::collections::BTreeMap;
use std::ops::Range;

/// Stands for nothing in tables of numbers.
pub(super) const NONE: u32 = u32::MAX;

/// A geom with bounds that occurs in a pair.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub geom: GeomId,
    pub extent: Extent,
    /// Distance by which its surface lies outside the shape (m).
    pub offset: f64,
}

/// Members of two nodes that may touch: each of some rows against four columns at a time.
#[derive(Debug, Clone)]
pub(super) struct PairGroup {
    /// Members of one node.
    pub rows: Range<usize>,
    /// Fours of members that hold those of the other.
    pub fours: Range<usize>,
    /// Where its numbers of pairs begin, row by row.
    pub first: usize,
}

/// A half-space and the shapes that may touch it.
#[derive(Debug, Clone)]
pub(super) struct PlaneRow {
    pub geom: GeomId,
    pub offset: f64,
    /// Node by node: its number, and member and pair of each of its shapes.
    pub nodes: Vec<(usize, Vec<[u32; 2]>)>,
}

/// The pairs that may touch, in groups.
#[derive(Debug, Clone, Default)]
pub(super) struct BroadphasePlan {
    /// Those of a node side by side. Fours are filled up with members that have no geom: their number is one beyond the
    /// last geom's.
    pub members: Vec<Member>,
    /// Members four at a time; the first `moving_fours` move.
    pub fours: Vec<FourShapes>,
    pub moving_fours: usize,
    /// Members whose boxes are joined: those of a moving body, or a single one of the world. Moving ones come first.
    pub nodes: Vec<Range<usize>>,
    pub n_moving: usize,
    /// Pairs of nodes, the lower number first, rising, and the members that may touch.
    pub keys: Vec<[u32; 2]>,
    pub groups: Vec<PairGroup>,
    /// Numbers of the pairs of the groups.
    pub numbers: Vec<[u32; 4]>,
    /// Groups that no search finds: shapes of one body, or of the world, that a list of pairs lets touch.
    pub always: Vec<usize>,
    pub planes: Vec<PlaneRow>,
    /// Pairs of two planes.
    pub endless: Vec<u32>,
    /// Ball and box of each geom.
    pub around: Vec<Bounds>,
    /// Radius of the ball about the origin of each body that holds its shapes (m).
    pub radius: Vec<f64>,
}

impl Footprint for BroadphasePlan {
    fn measure<const BYTES: bool>(&self) -> usize {
        let BroadphasePlan {
            members,
            fours,
            nodes,
            keys,
            groups,
            numbers,
            always,
            planes,
            endless,
            around,
            radius,
            ..
        } = self;
        let of_planes = planes.iter().map(|p| {
            p.nodes.measure::<BYTES>() + p.nodes.iter().map(|(_, keys)| keys.measure::<BYTES>()).sum::<usize>()
        });
        let lists = members.measure::<BYTES>()
            + fours.measure::<BYTES>()
            + nodes.measure::<BYTES>()
            + keys.measure::<BYTES>()
            + groups.measure::<BYTES>()
            + numbers.measure::<BYTES>();
        lists
            + always.measure::<BYTES>()
            + planes.measure::<BYTES>()
            + of_planes.sum::<usize>()
            + endless.measure::<BYTES>()
            + around.measure::<BYTES>()
            + radius.measure::<BYTES>()
    }
}

impl BroadphasePlan {
    pub fn new(model: &Model) -> BroadphasePlan {
        let (mut plan, offsets) = (BroadphasePlan::default(), offsets(model));
        plan.add_members(model, &offsets);
        plan.add_pairs(model, &offsets);
        plan.fours = vec![FourShapes::NONE; plan.members.len() / 4];
        plan.resize(model);
        plan
    }

    /// Takes the sizes of a model with the same structure.
    pub fn resize(&mut self, model: &Model) {
        for (k, member) in self.members.iter_mut().enumerate() {
            let (mut body, mut pose) = (BodyId::WORLD, Pose::IDENTITY);
            if let Some(geom) = model.geoms().get(member.geom.0) {
                (body, pose) = (geom.body, geom.pose);
                member.extent = Extent::of(model, member.geom).unwrap_or_default();
            }
            self.fours[k / 4].set(k % 4, body.0, &pose, &member.extent, member.offset);
        }
        self.around = (0..model.geoms().len()).map(|k| Bounds::of(model, GeomId(k))).collect();
        self.radius = vec![0.0; model.n_bodies()];
        for member in self.members.iter().filter(|m| m.geom.0 < model.geoms().len()) {
            let (geom, around) = (&model.geoms()[member.geom.0], &self.around[member.geom.0]);
            let radius = &mut self.radius[geom.body.0];
            *radius = radius.max(geom.pose.point(around.middle).norm() + around.half.norm());
        }
    }

    /// Geoms with bounds that occur in a pair, node by node.
    fn add_members(&mut self, model: &Model, offsets: &[Option<f64>]) {
        let mut carriers: Vec<Vec<Member>> = vec![Vec::new(); model.n_bodies()];
        for (k, geom) in model.geoms().iter().enumerate() {
            if let (Some(offset), Some(extent)) = (offsets[k], Extent::of(model, GeomId(k))) {
                carriers[geom.body.0].push(Member { geom: GeomId(k), extent, offset });
            }
        }
        let fixed = std::mem::take(&mut carriers[BodyId::WORLD.0]);
        for list in carriers.into_iter().filter(|list| !list.is_empty()) {
            self.add_node(list);
        }
        self.n_moving = self.nodes.len();
        self.fill(model);
        self.moving_fours = self.members.len() / 4;
        for member in fixed {
            self.add_node(vec![member]);
        }
        self.fill(model);
    }

    fn add_node(&mut self, list: Vec<Member>) {
        let first = self.members.len();
        self.members.extend(list);
        self.nodes.push(first..self.members.len());
    }

    /// Completes the last four.
    fn fill(&mut self, model: &Model) {
        let nobody = Member { geom: GeomId(model.geoms().len()), extent: Extent::default(), offset: f64::NEG_INFINITY };
        self.members.resize(self.members.len().next_multiple_of(4), nobody);
    }

    /// Sorts the model's pairs into groups and planes.
    fn add_pairs(&mut self, model: &Model, offsets: &[Option<f64>]) {
        let mut node_of = vec![0; self.members.len()];
        for (k, node) in self.nodes.iter().enumerate() {
            node_of[node.clone()].fill(k as u32);
        }
        let mut member_of = vec![NONE; model.geoms().len() + 1];
        for (k, member) in self.members.iter().enumerate() {
            member_of[member.geom.0] = k as u32;
        }
        let mut groups = BTreeMap::<[u32; 2], Vec<[u32; 3]>>::new();
        let mut planes = BTreeMap::<GeomId, BTreeMap<usize, Vec<[u32; 2]>>>::new();
        for (number, pair) in model.pairs().iter().enumerate() {
            let number = number as u32;
            let members = pair.geoms.map(|g| member_of[g.0]);
            let nodes = members.map(|m| node_of.get(m as usize).copied().unwrap_or(NONE));
            match members.map(|m| m != NONE) {
                [true, true] if nodes[0] <= nodes[1] => {
                    groups.entry(nodes).or_default().push([members[0], members[1], number]);
                }
                [true, true] => groups.entry([nodes[1], nodes[0]]).or_default().push([members[1], members[0], number]),
                [false, false] => self.endless.push(number),
                [first, _] => {
                    let (k, plane) = if first { (0, pair.geoms[1]) } else { (1, pair.geoms[0]) };
                    let shapes = planes.entry(plane).or_default().entry(nodes[k] as usize).or_default();
                    shapes.push([members[k], number]);
                }
            }
        }
        for (key, pairs) in groups {
            self.add_group(key, &pairs);
        }
        let row = |(geom, nodes): (GeomId, BTreeMap<_, _>)| PlaneRow {
            geom,
            offset: offsets[geom.0].unwrap_or(0.0),
            nodes: nodes.into_iter().collect(),
        };
        self.planes = planes.into_iter().map(row).collect();
    }

    /// `pairs`: member of each node, number of the pair.
    fn add_group(&mut self, key: [u32; 2], pairs: &[[u32; 3]]) {
        let nodes = key.map(|n| self.nodes[n as usize].clone());
        let fours = nodes.clone().map(|n| n.start / 4..n.end.div_ceil(4));
        // the node with more members is looked at four at a time
        let row = usize::from(nodes[1].len() * fours[0].len() < nodes[0].len() * fours[1].len());
        let (rows, fours) = (nodes[row].clone(), fours[1 - row].clone());
        let first = self.numbers.len();
        self.numbers.resize(first + rows.len() * fours.len(), [NONE; 4]);
        for pair in pairs {
            let (r, c) = (pair[row] as usize - rows.start, pair[1 - row] as usize);
            self.numbers[first + r * fours.len() + c / 4 - fours.start][c % 4] = pair[2];
        }
        if key[0] == key[1] || key[0] as usize >= self.n_moving {
            self.always.push(self.groups.len());
        }
        self.keys.push(key);
        self.groups.push(PairGroup { rows, fours, first });
    }
}

/// By how much the bounds of each geom are larger than its shape, such that those of a pair touch where the pair's
/// surfaces do; `None` for geoms without pairs.
fn offsets(model: &Model) -> Vec<Option<f64>> {
    let mut offsets: Vec<Option<f64>> = vec![None; model.geoms().len()];
    for pair in model.pairs() {
        for g in pair.geoms {
            let share = pair.surface.map_or(model.geoms()[g.0].surface.offset, |s| 0.5 * s.offset);
            let offset = &mut offsets[g.0];
            *offset = Some(offset.map_or(share, |x| x.max(share)));
        }
    }
    offsets
}
