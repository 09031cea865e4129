//! Tables of the tree that every pass reads: who carries whom, which dofs lie above and below.

use super::joint::Primitive;
use core::ops::Range;

/// A moving body as the passes see it. Bodies are in depth-first order: `parent < i`.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Parent body, 0 for the world.
    pub parent: usize,
    /// Tree it belongs to: bodies that share a child of what does not move. Mocap bodies are counted after all trees.
    pub tree: usize,
    /// Its primitives, in order from the parent.
    pub primitives: Range<usize>,
    /// Its dofs; none for the world and for mocap bodies.
    pub dofs: Range<usize>,
}

impl Node {
    /// Whether it has dofs: all bodies but the world and those that motion capture moves.
    #[inline(always)]
    pub fn moves(&self) -> bool {
        !self.dofs.is_empty()
    }
}

/// The tree of bodies, primitives and dofs.
#[derive(Debug, Clone)]
pub(crate) struct Topology {
    /// One per body; entry 0 is the world and has no dofs.
    pub nodes: Vec<Node>,
    pub primitives: Vec<Primitive>,
    /// Coordinate and reference of each hinge.
    pub angles: Vec<(usize, f64)>,
    /// First moving body of each tree.
    pub roots: Vec<usize>,
    /// Bodies that motion capture moves.
    pub mocap: Vec<usize>,
    /// Body of each dof.
    pub dof_body: Vec<usize>,
    /// First and last+1 dof of the primitive that a dof belongs to.
    pub dof_group: Vec<Range<usize>>,
    /// One past the last dof that a dof carries: its subtree is `j..subtree_end[j]`.
    pub subtree_end: Vec<usize>,
    /// Row of each dof in `ancestors` (root first, itself last). Rows of one chain are beginnings of one another.
    pub path: Vec<Range<usize>>,
    /// The rows: one for every leaf.
    pub ancestors: Vec<usize>,
    /// Where each dof's row begins in the packed mass matrix, a multiple of four; one more entry at the end.
    pub row: Vec<usize>,
    pub nq: usize,
    pub nv: usize,
}

impl Topology {
    /// From bodies (in depth-first order) and their primitives.
    pub fn new(nodes: Vec<Node>, mut primitives: Vec<Primitive>) -> Topology {
        let mut angles = Vec::new();
        for p in primitives.iter_mut().filter(|p| p.kind.is_hinge()) {
            p.angle = angles.len();
            angles.push((p.q, p.reference));
        }
        let nv = primitives.iter().map(|p| p.kind.nv()).sum();
        let nq = primitives.iter().map(|p| p.kind.nq()).sum();
        let mut t = Topology {
            angles,
            roots: Vec::new(),
            mocap: Vec::new(),
            dof_body: vec![0; nv],
            dof_group: vec![0..0; nv],
            subtree_end: (1..=nv).collect(),
            path: Vec::with_capacity(nv),
            ancestors: Vec::new(),
            row: vec![0],
            nodes,
            primitives,
            nq,
            nv,
        };
        for i in 1..t.nodes.len() {
            t.add_dofs_of(i);
        }
        t.mocap = (1..t.nodes.len()).filter(|i| !t.nodes[*i].moves()).collect();
        for (k, i) in t.mocap.iter().enumerate() {
            t.nodes[*i].tree = t.roots.len() + k;
        }
        // leaf to root: a dof carries whatever its last child carries
        for j in (0..nv).rev() {
            if let Some(p) = t.dof_parent(j) {
                t.subtree_end[p] = t.subtree_end[p].max(t.subtree_end[j]);
            }
        }
        t
    }

    fn add_dofs_of(&mut self, i: usize) {
        let node = self.nodes[i].clone();
        if node.moves() && !self.nodes[node.parent].moves() {
            self.roots.push(i);
        }
        let mut above = self.last_dof(node.parent);
        for p in &self.primitives[node.primitives.clone()] {
            let group = p.v..p.v + p.kind.nv();
            for j in group.clone() {
                self.dof_body[j] = i;
                self.dof_group[j] = group.clone();
                let end = self.ancestors.len();
                let start = match above {
                    // the row of the dof above ends here: it is continued, so that a chain has one row in all
                    Some(a) if self.path[a].end == end => self.path[a].start,
                    Some(a) => {
                        self.ancestors.extend_from_within(self.path[a].clone());
                        end
                    }
                    None => end,
                };
                self.ancestors.push(j);
                self.path.push(start..self.ancestors.len());
                let length = (self.ancestors.len() - start).next_multiple_of(4);
                self.row.push(self.row[j] + length);
                above = Some(j);
            }
        }
    }

    /// The last dof that moves a body; `None` for the world and for mocap bodies.
    pub fn last_dof(&self, body: usize) -> Option<usize> {
        let node = &self.nodes[body];
        node.moves().then(|| node.dofs.end - 1)
    }

    /// The dofs of a body and of all that it carries.
    pub fn dofs_below(&self, body: usize) -> Range<usize> {
        let first = self.nodes[body].dofs.start;
        if self.nodes[body].moves() {
            return first..self.subtree_end[first];
        }
        let carried = self.nodes[body + 1..].iter().take_while(|node| node.parent >= body);
        first..carried.last().map_or(first, |node| node.dofs.end)
    }

    /// The dof that carries dof `j`.
    pub fn dof_parent(&self, j: usize) -> Option<usize> {
        let row = &self.ancestors[self.path[j].clone()];
        (row.len() > 1).then(|| row[row.len() - 2])
    }

    /// How many dofs move dof `j`, itself not counted.
    #[inline(always)]
    pub fn depth(&self, j: usize) -> usize {
        self.path[j].end - self.path[j].start - 1
    }

    /// The dofs that move dof `j`, from the root down, itself last.
    #[inline(always)]
    pub fn ancestors(&self, j: usize) -> &[usize] {
        &self.ancestors[self.path[j].clone()]
    }

    /// The dofs that move a body, from the root down; none for what does not move.
    pub fn support(&self, body: usize) -> &[usize] {
        self.last_dof(body).map_or(&[], |j| self.ancestors(j))
    }

    /// The tree of a body; `None` for the world and for mocap bodies.
    pub fn tree_of(&self, body: usize) -> Option<usize> {
        let node = &self.nodes[body];
        node.moves().then_some(node.tree)
    }

    /// Places at which spatial vectors are taken: those of the trees, then those of the mocap bodies.
    pub fn n_origins(&self) -> usize {
        self.roots.len() + self.mocap.len()
    }

    pub fn n_bodies(&self) -> usize {
        self.nodes.len()
    }
}
