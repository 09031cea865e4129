//! Boxes that are near each other, by a sweep along one axis.

use super::bounds::{FourBoxes, OneBox, are_near, box_at};
use crate::footprint::footprint;

/// Memory of the sweep.
#[derive(Debug, Clone)]
pub(super) struct Sweep {
    /// Boxes and their numbers, by least coordinate along the axis.
    sorted: Vec<(OneBox, u32)>,
}

footprint!(Sweep: sorted);

impl Sweep {
    /// For `n` boxes.
    pub fn new(n: usize) -> Sweep {
        Sweep { sorted: (0..n as u32).map(|k| ([0.0; 6], k)).collect() }
    }

    /// Calls `found` with the numbers, the lower first, of boxes nearer than `limit`, at least one of them below
    /// `n_moving`.
    #[inline(always)]
    pub fn run(&mut self, boxes: &[FourBoxes], n_moving: usize, limit: f64, mut found: impl FnMut(u32, u32)) {
        // the order of the last sweep stays: while little moves, there is little to sort
        for (b, k) in &mut self.sorted {
            *b = box_at(boxes, *k as usize);
        }
        let axis = widest(&self.sorted);
        self.sorted.sort_unstable_by(|(a, i), (b, j)| a[axis].total_cmp(&b[axis]).then(i.cmp(j)));
        for (k, (a, i)) in self.sorted.iter().enumerate() {
            let end = a[axis + 3] + limit;
            for (b, j) in self.sorted[k + 1..].iter().take_while(|(b, _)| b[axis] <= end) {
                if are_near(a, b, limit) && (*i.min(j) as usize) < n_moving {
                    found(*i.min(j), *i.max(j));
                }
            }
        }
    }
}

/// The axis along which the middles of the boxes vary most.
#[inline(always)]
fn widest(boxes: &[(OneBox, u32)]) -> usize {
    let (mut sum, mut squares) = ([0.0; 3], [0.0; 3]);
    for (b, _) in boxes {
        for axis in 0..3 {
            let middle = b[axis] + b[axis + 3];
            sum[axis] += middle;
            squares[axis] += middle * middle;
        }
    }
    let spread = |axis: usize| squares[axis] - sum[axis] * sum[axis] / boxes.len() as f64;
    (1..3).fold(0, |best, axis| if spread(axis) > spread(best) { axis } else { best })
}
