//! Dofs that constraints couple, directly or through others. Derivatives have no entries between such components: a pile of
//! separate bodies is differentiated body by body.   (grad-15)

use super::record::StepRecord;
use crate::dynamics::stride;
use crate::footprint::footprint;
use crate::model::Model;
use core::ops::Range;

/// A component: trees whose bodies touch, or a tree alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Component {
    /// Its dofs, in [`Components::dofs`].
    dofs: Range<usize>,
    /// Runs of neighboring dofs, in [`Components::runs`].
    runs: Range<usize>,
    /// The island of the problem that couples them, if any constraint is active.
    pub island: Option<usize>,
}

impl Component {
    /// Number of its dofs.
    pub fn size(&self) -> usize {
        self.dofs.len()
    }
}

/// The components of a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Components {
    pub all: Vec<Component>,
    dofs: Vec<usize>,
    runs: Vec<Range<usize>>,
    /// Component of each dof, and its index there.
    owner: Vec<usize>,
    pub index: Vec<usize>,
    /// Trees by components.
    trees: Vec<(usize, usize)>,
}

footprint!(Components: all, dofs, runs, owner, index, trees);

impl Components {
    /// Finds them.
    pub fn find(&mut self, f: &StepRecord) {
        let (tree, joined) = (f.model.tree(), &f.assembly.joined);
        self.trees.clear();
        self.trees.extend((0..tree.roots.len()).map(|t| (joined.first(t), t)));
        self.trees.sort_unstable();
        self.all.clear();
        self.dofs.clear();
        self.runs.clear();
        self.index.resize(tree.nv, 0);
        self.owner.resize(tree.nv, 0);
        let mut islands = (0..f.assembly.problem.islands.len()).map(|n| (n, first_tree(f, n))).peekable();
        let mut next = 0;
        while let Some(&(first, _)) = self.trees.get(next) {
            let (dof, run) = (self.dofs.len(), self.runs.len());
            while let Some(&(_, t)) = self.trees.get(next).filter(|(of, _)| *of == first) {
                self.add_tree(f.model, t, dof, run);
                next += 1;
            }
            let island = islands.next_if(|(_, tree)| *tree == first).map(|(n, _)| n);
            self.all.push(Component { dofs: dof..self.dofs.len(), runs: run..self.runs.len(), island });
        }
    }

    fn add_tree(&mut self, model: &Model, t: usize, dof: usize, run: usize) {
        let first = model.tree().nodes[model.tree().roots[t]].dofs.start;
        let dofs = first..model.tree().subtree_end[first];
        for j in dofs.clone() {
            (self.owner[j], self.index[j]) = (self.all.len(), self.dofs.len() - dof);
            self.dofs.push(j);
        }
        match self.runs[run..].last_mut().filter(|r| r.end == first) {
            Some(neighbor) => neighbor.end = dofs.end,
            None => self.runs.push(dofs),
        }
    }

    /// Dofs of a component.
    pub fn dofs(&self, c: &Component) -> &[usize] {
        &self.dofs[c.dofs.clone()]
    }

    /// The component of a dof.
    pub fn of_dof(&self, j: usize) -> &Component {
        &self.all[self.owner[j]]
    }

    /// Whether the same dofs are joined.
    pub fn join_as(&self, other: &Components) -> bool {
        let sizes = self.all.iter().map(Component::size).eq(other.all.iter().map(Component::size));
        sizes && self.dofs == other.dofs
    }

    /// Columns of a component in the matrices of all dofs, whose rows are blocks of nv numbers: all there are if it is the only one.
    #[inline(always)]
    pub fn columns(&self, c: &Component, blocks: usize) -> impl Iterator<Item = Range<usize>> {
        let (nv, one) = (self.index.len(), self.all.len() == 1);
        let runs = if one { &[] } else { &self.runs[c.runs.clone()] };
        let of_block = move |block: usize| runs.iter().map(move |r| block * nv + r.start..block * nv + r.end);
        one.then_some(0..stride(blocks * nv)).into_iter().chain((0..blocks).flat_map(of_block))
    }

    /// Calls `visit` with all pieces of such a matrix where components have entries.
    #[inline(always)]
    pub fn for_each_piece(&self, blocks: usize, mut visit: impl FnMut(Range<usize>)) {
        let stride = stride(blocks * self.index.len());
        if self.all.len() == 1 {
            return visit(0..self.index.len() * stride);
        }
        for c in &self.all {
            for &i in self.dofs(c) {
                self.columns(c, blocks).for_each(|columns| visit(i * stride + columns.start..i * stride + columns.end));
            }
        }
    }
}

/// The first tree of an island.
fn first_tree(f: &StepRecord, island: usize) -> usize {
    f.assembly.problem.islands[island].tree
}
