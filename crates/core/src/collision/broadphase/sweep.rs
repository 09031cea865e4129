//! Boxes that are near each other, by a sweep along one axis.

use super::bounds::{FourBoxes, OneBox, are_near, box_at};
use crate::footprint::footprint;

/// Memory of the sweep.
#[derive(Debug, Clone)]
pub(super) struct Sweep {
    /// Boxes and their numbers, by least coordinate along the axis.
    sorted: Vec<(OneBox, u32)>,
    /// Where the moving ones are among them.
    moving: Vec<u32>,
}

footprint!(Sweep: sorted, moving);

impl Sweep {
    /// For `n` boxes.
    pub fn new(n: usize) -> Sweep {
        Sweep { sorted: (0..n as u32).map(|k| ([0.0; 6], k)).collect(), moving: Vec::with_capacity(n) }
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
        let is_moving = |i: u32| (i as usize) < n_moving;
        self.moving.clear();
        self.moving.extend((0..self.sorted.len() as u32).filter(|k| is_moving(self.sorted[*k as usize].1)));
        let mut later = &self.moving[..]; // moving boxes after the one at hand
        for (k, (a, i)) in self.sorted.iter().enumerate() {
            let end = a[axis + 3] + limit;
            let mut compare = |(b, j): &(OneBox, u32)| {
                if are_near(a, b, limit) {
                    found(*i.min(j), *i.max(j));
                }
            };
            if is_moving(*i) {
                later = &later[1..];
                self.sorted[k + 1..].iter().take_while(|(b, _)| b[axis] <= end).for_each(compare);
            } else {
                // any number of boxes that do not move may lie in one place: they are not compared with each other
                let after = later.iter().map(|k| &self.sorted[*k as usize]);
                after.take_while(|(b, _)| b[axis] <= end).for_each(&mut compare);
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
