//! Constraints that share dofs make an island, a problem of its own. A pile of separate bodies costs as much as its bodies
//! one after the other, and an island that is hard to solve does not delay the others.   (contact-15)
#![allow(non_snake_case)]

use super::{Block, Problem, RowGroup, RowSpace};
use crate::constraint::Scene;
use crate::constraint::assembly::{Assembly, sorted};
use crate::footprint::footprint;
use crate::model::{BodyId, Model};
use core::ops::Range;

/// Which trees are joined by constraints.
#[derive(Debug, Clone, Default)]
pub(crate) struct DisjointSets {
    /// A tree of the same island with a smaller number, or the tree itself.
    parents: Vec<usize>,
    /// Mass of the island that begins with a tree (kg).
    mass: Vec<f64>,
    /// Factorizations of the island that begins with a tree, and of the one that each tree was in, during this step.
    spent: Vec<u32>,
    spent_by_tree: Vec<u32>,
    /// Factorizations of all islands during this step.
    total: u32,
}

footprint!(DisjointSets: parents, mass, spent, spent_by_tree);

impl DisjointSets {
    /// Memory for a model.
    pub fn new(model: &Model) -> DisjointSets {
        let trees = model.tree().roots.len();
        DisjointSets {
            parents: Vec::with_capacity(trees),
            mass: vec![0.0; trees],
            spent: vec![0; trees],
            spent_by_tree: vec![0; trees],
            total: 0,
        }
    }

    /// Resets what has been spent.
    pub fn begin_step(&mut self) {
        self.spent.fill(0);
        self.spent_by_tree.fill(0);
        self.total = 0;
    }

    /// What is left of a budget for the island that begins with a tree.
    pub fn left(&self, first: usize, budget: u32) -> u32 {
        budget.saturating_sub(self.spent.get(first).copied().unwrap_or(0))
    }

    /// Counts factorizations of an island.
    pub fn spend(&mut self, first: usize, count: u32) {
        self.total += count;
        if let Some(spent) = self.spent.get_mut(first) {
            *spent += count;
        }
    }

    /// What the island that took most has spent.
    pub fn most_spent(&self) -> u32 {
        self.spent.iter().copied().max().unwrap_or(0)
    }

    /// What all islands have spent.
    pub fn total_spent(&self) -> u32 {
        self.total
    }

    /// Keeps for each tree what its island has spent, before trees are joined again.
    fn split_spent(&mut self) {
        for tree in 0..self.parents.len() {
            self.spent_by_tree[tree] = self.spent[self.first(tree)];
        }
    }

    /// What the islands have spent so far: as much as the one of its trees that has spent most.
    fn join_spent(&mut self) {
        self.spent.fill(0);
        for tree in 0..self.parents.len() {
            let first = self.first(tree);
            self.spent[first] = self.spent[first].max(self.spent_by_tree[tree]);
        }
    }

    /// Masses of the islands.
    fn weigh(&mut self, model: &Model) {
        self.mass.fill(0.0);
        for (node, inertia) in model.tree().nodes.iter().zip(model.inertias()).filter(|(node, _)| node.moves()) {
            self.mass[node.tree] += inertia.mass;
        }
        for tree in (1..self.mass.len()).rev() {
            // a tree's mass goes to one before it, and on from there when its turn comes
            let parent = self.parents[tree];
            if parent != tree {
                self.mass[parent] += self.mass[tree];
            }
        }
    }

    /// Separates all trees.
    pub fn begin(&mut self, model: &Model) {
        self.parents.clear();
        self.parents.extend(0..model.tree().roots.len());
    }

    /// The first tree of the island that a tree belongs to.
    pub fn first(&self, mut tree: usize) -> usize {
        while self.parents[tree] != tree {
            tree = self.parents[tree];
        }
        tree
    }

    /// Joins the islands of some trees.
    pub fn join(&mut self, trees: impl Iterator<Item = usize>) {
        let mut joined: Option<usize> = None;
        for tree in trees {
            let own = self.first(tree);
            let with = joined.unwrap_or(own);
            let (low, high) = (own.min(with), own.max(with));
            self.parents[high] = low;
            joined = Some(low);
        }
    }

    /// The first tree of the island of two bodies that a constraint joins.
    pub fn of_pair(&self, model: &Model, bodies: [BodyId; 2]) -> usize {
        let moving = bodies.into_iter().find_map(|b| model.tree().tree_of(b.0));
        moving.map_or(0, |tree| self.first(tree))
    }
}

/// Constraints that share dofs with each other and with no others, directly or through others: a problem of its own. Between
/// islands G is zero and is not stored.
#[derive(Debug, Clone, Default)]
pub(crate) struct Island {
    pub groups: Range<usize>,
    pub blocks: Range<usize>,
    pub rows: Range<usize>,
    pub maps: Range<usize>,
    /// Rows of G.
    pub xi: Range<usize>,
    /// Its entries of G, if they are stored: where they begin, and numbers from one row to the next.
    pub entries: usize,
    pub stride: usize,
    /// Columns of W with `G = W Wᵀ` (zero: there is none), its nodes, whether products are computed through it, and whether
    /// G is stored too.
    pub factor_columns: usize,
    pub nodes: Range<usize>,
    pub through_factor: bool,
    pub has_delassus: bool,
    /// Dofs of the columns of W, in `Problem::column_dofs`.
    pub column_dofs: Range<usize>,
    /// Its trees in `Dofs::trees`, if it has rows on single dofs, and how many dofs its constraints move.
    pub trees: Range<usize>,
    pub moving_dofs: usize,
    /// The first of its trees.
    pub tree: usize,
    /// Mass of its bodies (kg); infinite where there are none.
    pub mass: f64,
}

impl Island {
    /// Where row i of G is.
    #[inline(always)]
    pub fn row(&self, i: usize) -> Range<usize> {
        let start = self.entries + (i - self.xi.start) * self.stride;
        start..start + self.stride
    }
}

impl Problem {
    /// Makes an island of all constraints since the last one; its G gets room later.
    pub(crate) fn close_island(&mut self) {
        let start = self.islands.last().cloned().unwrap_or_default();
        if self.blocks.len() == start.blocks.end {
            return;
        }
        let xi = start.xi.end..self.size();
        let stride = xi.len().next_multiple_of(4);
        self.islands.push(Island {
            groups: start.groups.end..self.groups.len(),
            blocks: start.blocks.end..self.blocks.len(),
            rows: start.rows.end..self.g.len(),
            maps: start.maps.end..self.maps.len(),
            xi,
            entries: 0,
            stride,
            factor_columns: 0,
            nodes: 0..0,
            through_factor: false,
            has_delassus: true,
            column_dofs: 0..0,
            trees: 0..0,
            moving_dofs: 0,
            tree: 0,
            mass: f64::INFINITY,
        });
    }

    /// Room for G of an island.
    pub(crate) fn open_delassus(&mut self, island: usize) {
        let island = &mut self.islands[island];
        island.entries = self.entries[0];
        self.entries[0] += island.xi.len() * island.stride;
    }

    /// Numbers of a vector of the space of G: whole lanes, also from the last island's first on, room for columns of W, and the
    /// tree part.
    pub(crate) fn width(&self) -> usize {
        self.dofs.start + self.dofs.width()
    }

    /// Where the tree part of such a vector begins.
    pub(crate) fn place_dofs(&mut self) {
        let columns = self.islands.iter().map(|i| i.factor_columns.next_multiple_of(4)).max().unwrap_or(0);
        let rows = self.islands.last().map_or(0, |i| i.xi.start.next_multiple_of(4) + i.stride);
        self.dofs.start = rows + columns;
    }

    /// The island of a problem that is one island, as solvers see it.
    #[inline(always)]
    pub(crate) fn only_island(&self) -> &Island {
        &self.islands[0]
    }

    /// Row i of G of a problem that is one island.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.delassus.G[self.only_island().row(i)]
    }

    /// The group of a block of an island; `None` for a row on a single dof.
    pub(crate) fn group_of(&self, island: usize, block: usize) -> Option<usize> {
        self.islands[island].groups.clone().find(|n| self.groups[*n].blocks.contains(&block))
    }

    /// Writes an island as a problem of its own.
    pub(crate) fn extract(&self, n: usize, part: &mut Problem) {
        let island = &self.islands[n];
        part.begin();
        part.blocks.extend(self.blocks[island.blocks.clone()].iter().map(|b| Block {
            island: 0,
            row: b.row - island.rows.start,
            xi: b.xi - island.xi.start,
            space: if let RowSpace::Twist(m) = b.space {
                RowSpace::Twist(m - island.maps.start as u32)
            } else {
                b.space
            },
            ..*b
        }));
        let shift = |r: &Range<usize>, by: usize| r.start - by..r.end - by;
        let groups = &self.groups[island.groups.clone()];
        let (columns, factor_start) = groups.first().map_or((0, 0), |g| (g.columns.start, g.factor_start));
        part.groups.extend(groups.iter().map(|g| RowGroup {
            xi: shift(&g.xi, island.xi.start),
            blocks: shift(&g.blocks, island.blocks.start),
            columns: shift(&g.columns, columns),
            factor_start: g.factor_start - factor_start,
        }));
        part.maps.extend_from_slice(&self.maps[island.maps.clone()]);
        part.diagonals.extend_from_slice(&self.diagonals[island.blocks.clone()]);
        part.g.extend_from_slice(&self.g[island.rows.clone()]);
        part.close_island();
        part.delassus.G.clear();
        if island.has_delassus {
            part.open_delassus(0);
            part.delassus.G.extend_from_slice(&self.delassus.G[island.entries..][..part.entries[0]]);
        }
        let end = groups.last().map_or(0, |g| g.columns.end);
        part.columns.extend_from_slice(&self.columns[columns..end]);
        part.delassus.W.clear();
        part.delassus.W.extend_from_slice(
            &self.delassus.W[factor_start..groups.last().map_or(factor_start, RowGroup::factor_end)],
        );
        part.entries[1] = part.delassus.W.len();
        part.nodes.extend_from_slice(&self.nodes[island.nodes.clone()]);
        part.column_dofs.extend_from_slice(&self.column_dofs[island.column_dofs.clone()]);
        if !island.trees.is_empty() {
            part.jacobian.copy_groups(&self.jacobian, island.groups.clone());
            part.dofs.copy_trees(&self.dofs, island.trees.clone());
            part.delassus.copy_halves(&self.delassus, &self.jacobian.spans[island.groups.clone()]);
        }
        let Island { factor_columns, through_factor, has_delassus, mass, moving_dofs, .. } = *island;
        let (own, nodes) = (part.islands[0].clone(), 0..part.nodes.len());
        let (column_dofs, trees) = (0..part.column_dofs.len(), 0..part.dofs.trees.len());
        part.islands[0] = Island {
            factor_columns,
            nodes,
            through_factor,
            has_delassus,
            mass,
            column_dofs,
            trees,
            moving_dofs,
            ..own
        };
        part.place_dofs();
    }
}

impl Assembly {
    /// Mass of the bodies of an island (kg); infinite where they have none.
    pub(crate) fn mass_of(&self, tree: usize) -> f64 {
        let mass = self.joined.mass.get(tree).copied().unwrap_or(0.0);
        if mass > 0.0 { mass } else { f64::INFINITY }
    }

    /// Finds which trees the constraints join.
    pub(crate) fn join(&mut self, model: &Model) {
        let Assembly { joined, candidates, joint_rows, pair_rows, .. } = self;
        let tree = model.tree();
        let tree_of = |body: BodyId| tree.tree_of(body.0);
        joined.split_spent();
        joined.begin(model);
        if tree.roots.len() == 1 {
            joined.join_spent();
            return joined.weigh(model);
        }
        let tree_of_dof = |j: usize| tree.nodes[tree.dof_body[j]].tree;
        // springs, dampers and drives of tendons, and drives between bodies, join trees in the derivative
        for tendon in model.tendons() {
            joined.join(tendon.joints.iter().map(|(id, _)| tree_of_dof(model.joints()[id.0].v.start)));
        }
        for a in model.actuators() {
            joined.join(a.transmission.frames().filter_map(|f| tree_of(model.frames()[f.0].body)));
        }
        for bodies in pair_rows.iter().map(|r| r.bodies) {
            joined.join(bodies.into_iter().filter_map(tree_of));
        }
        for row in joint_rows.iter().filter(|r| r.included) {
            joined.join(row.terms(model).map(|(j, _)| tree_of_dof(j)));
        }
        for candidate in candidates.iter().filter(|c| c.included) {
            joined.join(candidate.bodies.into_iter().filter_map(tree_of));
        }
        joined.join_spent();
        joined.weigh(model);
    }

    /// Orders everything by islands, contacts by pairs of bodies.
    pub(crate) fn sort(&mut self, model: &Model) {
        let Assembly { joined, candidates, joint_rows, pair_rows, order, joint_order, pair_order, .. } = self;
        let counts = [pair_rows.len(), joint_rows.len(), candidates.len()];
        for (list, count) in [&mut *pair_order, joint_order, order].into_iter().zip(counts) {
            list.clear();
            list.extend(0..count as u32);
        }
        let bodies = |k: u32| sorted(candidates[k as usize].bodies);
        if model.tree().roots.len() == 1 {
            return order.sort_unstable_by_key(|&k| (bodies(k), k));
        }
        order.sort_unstable_by_key(|&k| (joined.of_pair(model, bodies(k)), bodies(k), k));
        joint_order.sort_unstable_by_key(|&k| (joint_rows[k as usize].island(model, joined), k));
        pair_order.sort_unstable_by_key(|&k| (joined.of_pair(model, pair_rows[k as usize].bodies), k));
    }

    /// The constraints, island by island.
    pub(crate) fn add_islands(&mut self, scene: &Scene) {
        let model = scene.model;
        let orders = [&mut self.pair_order, &mut self.joint_order, &mut self.order].map(core::mem::take);
        let mut rest = orders.each_ref().map(Vec::as_slice);
        if model.tree().roots.len() == 1 {
            self.add_island(scene, rest, 0);
        } else {
            while let Some(island) = self.next_island(model, rest) {
                let parts = [
                    split(&mut rest[0], |k| self.joined.of_pair(model, self.pair_rows[k].bodies) == island),
                    split(&mut rest[1], |k| self.joint_rows[k].island(model, &self.joined) == island),
                    split(&mut rest[2], |k| self.joined.of_pair(model, self.candidates[k].bodies) == island),
                ];
                self.add_island(scene, parts, island);
            }
        }
        [self.pair_order, self.joint_order, self.order] = orders;
    }

    /// The first tree of the next island of what is left.
    fn next_island(&self, model: &Model, [pairs, rows, points]: [&[u32]; 3]) -> Option<usize> {
        let heads = [
            pairs.first().map(|k| self.joined.of_pair(model, self.pair_rows[*k as usize].bodies)),
            rows.first().map(|k| self.joint_rows[*k as usize].island(model, &self.joined)),
            points.first().map(|k| self.joined.of_pair(model, self.candidates[*k as usize].bodies)),
        ];
        heads.into_iter().flatten().min()
    }
}

/// Splits off the first entries of a list, those that belong together.
pub(crate) fn split<'a>(list: &mut &'a [u32], belongs: impl Fn(usize) -> bool) -> &'a [u32] {
    let count = list.iter().take_while(|k| belongs(**k as usize)).count();
    let (front, rest) = list.split_at(count);
    *list = rest;
    front
}
