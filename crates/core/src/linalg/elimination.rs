//! In which order the nodes of a graph are eliminated, and which of them that couples.

use crate::footprint::footprint;

/// A graph of nodes that are coupled, its elimination order by minimum degree, and the couplings with fill.
#[derive(Debug, Clone, Default)]
pub(crate) struct Elimination {
    nodes: usize,
    /// Bits of a row of `coupled`, in words.
    words: usize,
    /// Which nodes are coupled with a node: bits, `words` per node.
    coupled: Vec<u64>,
    /// Nodes that are not eliminated yet (bits), and how many of them are coupled with a node.
    left: Vec<u64>,
    degree: Vec<u32>,
    /// Neighbors of the node that is eliminated (bits).
    front: Vec<u64>,
    /// Nodes in the order of their elimination.
    pub order: Vec<u32>,
    /// Neighbors of each node that are eliminated after it, rising: `later[starts[k]..starts[k + 1]]` for the k-th of the order.
    pub starts: Vec<usize>,
    pub later: Vec<u32>,
}

footprint!(Elimination: coupled, left, degree, front, order, starts, later);

impl Elimination {
    /// So many nodes, none coupled.
    pub fn reset(&mut self, nodes: usize) {
        (self.nodes, self.words) = (nodes, nodes.div_ceil(64));
        self.coupled.clear();
        self.coupled.resize(nodes * self.words, 0);
    }

    /// Couples two nodes.
    pub fn couple(&mut self, a: usize, b: usize) {
        if a != b {
            self.coupled[a * self.words + b / 64] |= 1 << (b % 64);
            self.coupled[b * self.words + a / 64] |= 1 << (a % 64);
        }
    }

    /// Orders the nodes: always one with the fewest neighbors left, which then are all coupled with each other.
    pub fn run(&mut self) {
        self.begin();
        for _ in 0..self.nodes {
            let Some(node) = self.least() else { return };
            self.left[node / 64] &= !(1 << (node % 64));
            self.order.push(node as u32);
            let row = &self.coupled[node * self.words..(node + 1) * self.words];
            self.front.clear();
            self.front.extend(row.iter().zip(&self.left).map(|(a, b)| a & b));
            let first = self.later.len();
            self.later.extend(bits(&self.front));
            self.starts.push(self.later.len());
            for &n in &self.later[first..] {
                let n = n as usize;
                let row = &mut self.coupled[n * self.words..(n + 1) * self.words];
                row.iter_mut().zip(&self.front).for_each(|(a, b)| *a |= b);
                row[n / 64] &= !(1 << (n % 64));
                let neighbors = row.iter().zip(&self.left).map(|(a, b)| (a & b).count_ones());
                self.degree[n] = neighbors.sum();
            }
        }
    }

    fn begin(&mut self) {
        let (nodes, words) = (self.nodes, self.words);
        self.left.clear();
        self.left.resize(words, 0);
        (0..nodes).for_each(|n| self.left[n / 64] |= 1 << (n % 64));
        self.degree.clear();
        self.degree
            .extend(self.coupled.chunks_exact(words.max(1)).map(|r| r.iter().map(|w| w.count_ones()).sum::<u32>()));
        self.order.clear();
        self.later.clear();
        self.starts.clear();
        self.starts.push(0);
    }

    /// A node that is left with the fewest neighbors.
    fn least(&self) -> Option<usize> {
        bits(&self.left).map(|n| n as usize).min_by_key(|n| self.degree[*n])
    }
}

/// Numbers of the bits that are set, rising.
fn bits(words: &[u64]) -> impl Iterator<Item = u32> {
    words.iter().enumerate().flat_map(|(k, word)| {
        let mut rest = *word;
        core::iter::from_fn(move || {
            let bit = (rest != 0).then(|| 64 * k as u32 + rest.trailing_zeros());
            rest &= rest.wrapping_sub(1);
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_has_no_fill_and_a_ring_has_a_chord_per_node_but_three() {
        let mut e = Elimination::default();
        e.reset(70);
        (1..70).for_each(|n| e.couple(0, n));
        e.run();
        assert_eq!((e.order.len(), e.later.len()), (70, 69));
        e.reset(70);
        (0..70).for_each(|n| e.couple(n, (n + 1) % 70));
        e.run();
        assert_eq!((e.order.len(), e.later.len()), (70, 70 + 67));
    }
}
