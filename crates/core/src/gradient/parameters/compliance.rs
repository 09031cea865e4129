//! The compliance of redundant contacts is a fraction of the inverse mass that they may have to support.
//! (grad-22)
//!
//! `R = fraction / m` with m the mass of the island, so `dR = −(R/m) dm` for the mass of each of its bodies.

use super::ParameterAdjoint;
use crate::constraint::Block;

/// Adds the gradient with respect to body masses through the compliance of redundant contacts.
pub(crate) fn add(s: &ParameterAdjoint, out: &mut [f64]) {
    let (problem, tree) = (&s.f.assembly.problem, s.f.model.tree());
    for (n, island) in problem.islands.iter().enumerate() {
        let blocks = || problem.blocks.iter().enumerate().filter(|(_, b)| b.island as usize == n && b.is_redundant());
        if blocks().next().is_none() {
            continue;
        }
        let of = |(k, b): (usize, &Block)| s.weights(k)[2] * s.f.solution.lambda()[b.row + 2] * b.relative_compliance;
        let gain = blocks().map(of).sum::<f64>() / (island.mass * island.mass);
        for (i, ten) in (1..).zip(out.chunks_exact_mut(10)) {
            if tree.tree_of(i).is_some_and(|own| s.f.assembly.joined.first(own) == island.tree) {
                ten[0] += gain;
            }
        }
    }
}
