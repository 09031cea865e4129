//! Height fields: ground given by heights over a grid.

use crate::spatial::{Vec3, vec3};

/// Ground given by heights over a grid, solid down to its base: MuJoCo's `hfield`. Each square of the grid is cut into two
/// triangles, from its corner at −x, −y to that at +x, +y.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeightField {
    /// Name, unique among height fields.
    pub name: String,
    /// Half the extent along x and y (m).
    pub half_size: [f64; 2],
    /// Points of the grid along y.
    pub rows: usize,
    /// Points of the grid along x.
    pub columns: usize,
    /// Heights over z = 0 (m): row by row from −y to +y, in each row from −x to +x.
    pub heights: Vec<f64>,
    /// How far the ground reaches below z = 0 (m).
    pub base: f64,
}

impl HeightField {
    /// Number of triangles.
    pub fn n_triangles(&self) -> usize {
        2 * self.rows.saturating_sub(1) * self.columns.saturating_sub(1)
    }

    /// Least and greatest height (m).
    pub fn range(&self) -> [f64; 2] {
        let fold = |f: fn(f64, f64) -> f64, start| self.heights.iter().copied().fold(start, f);
        [fold(f64::min, f64::INFINITY), fold(f64::max, f64::NEG_INFINITY)]
    }

    /// A point of the surface (m).
    fn point(&self, row: usize, column: usize) -> Vec3 {
        let along = |k: usize, n: usize, half: f64| half * (2.0 * k as f64 / (n - 1) as f64 - 1.0);
        let height = self.heights[row * self.columns + column];
        vec3(along(column, self.columns, self.half_size[0]), along(row, self.rows, self.half_size[1]), height)
    }

    /// Row and column of a triangle's square, and whether it is the upper one of the two.
    fn place(&self, triangle: u32) -> (usize, usize, bool) {
        let (square, upper) = (triangle as usize / 2, triangle % 2 == 1);
        (square / (self.columns - 1), square % (self.columns - 1), upper)
    }

    fn number(&self, row: usize, column: usize, upper: bool) -> u32 {
        (2 * (row * (self.columns - 1) + column) + upper as usize) as u32
    }

    /// Corners of a triangle, counter-clockwise seen from above (m).
    pub(crate) fn triangle(&self, triangle: u32) -> [Vec3; 3] {
        let (r, c, upper) = self.place(triangle);
        let (a, b) = (self.point(r, c), self.point(r + 1, c + 1));
        if upper { [a, b, self.point(r + 1, c)] } else { [a, self.point(r, c + 1), b] }
    }

    /// The triangle beyond an edge (from corner `edge` to the next), and which of its edges that is.
    pub(crate) fn beyond(&self, triangle: u32, edge: usize) -> Option<(u32, usize)> {
        let (r, c, upper) = self.place(triangle);
        match (upper, edge) {
            (false, 0) => r.checked_sub(1).map(|r| (self.number(r, c, true), 1)),
            (false, 1) => (c + 2 < self.columns).then(|| (self.number(r, c + 1, true), 2)),
            (false, _) => Some((self.number(r, c, true), 0)),
            (true, 0) => Some((self.number(r, c, false), 2)),
            (true, 1) => (r + 2 < self.rows).then(|| (self.number(r + 1, c, false), 0)),
            (true, _) => c.checked_sub(1).map(|c| (self.number(r, c, false), 1)),
        }
    }

    /// Squares of the grid along one axis that meet an interval.
    fn squares(&self, axis: usize, lo: f64, hi: f64) -> core::ops::Range<usize> {
        let (n, half) = ([self.columns, self.rows][axis] - 1, self.half_size[axis]);
        let at = |x: f64| (0.5 * (x / half + 1.0) * n as f64).clamp(-1.0, n as f64);
        let (first, last) = (at(lo).floor().max(0.0) as usize, at(hi).floor());
        if last < 0.0 { 0..0 } else { first..(last as usize + 1).min(n) }
    }

    /// Calls `found` with the triangles whose ground meets a box, by rising number.
    pub(crate) fn in_box(&self, lo: Vec3, hi: Vec3, mut found: impl FnMut(u32)) {
        if hi.z < -self.base {
            return;
        }
        let columns = self.squares(0, lo.x, hi.x);
        for r in self.squares(1, lo.y, hi.y) {
            for c in columns.clone() {
                let height = |i: usize, j: usize| self.heights[(r + i) * self.columns + c + j];
                let diagonal = height(0, 0).max(height(1, 1));
                for (upper, corner) in [(false, height(0, 1)), (true, height(1, 0))] {
                    if lo.z <= diagonal.max(corner) {
                        found(self.number(r, c, upper));
                    }
                }
            }
        }
    }

    /// Calls `meet` with the triangles over or under which a line passes, in order along it, until it says so. The line is
    /// x(t) = origin + t direction, `t` from `range`.
    pub(crate) fn along(&self, origin: Vec3, direction: Vec3, range: [f64; 2], mut meet: impl FnMut(u32) -> bool) {
        let n = [self.columns - 1, self.rows - 1];
        // in units of squares
        let scale = |axis: usize| 0.5 * n[axis] as f64 / self.half_size[axis];
        let start = [0, 1].map(|k| (origin[k] + self.half_size[k]) * scale(k));
        let speed = [0, 1].map(|k| direction[k] * scale(k));
        let [mut t, mut end] = range;
        for k in 0..2 {
            let (to_low, to_high) = (-start[k] / speed[k], (n[k] as f64 - start[k]) / speed[k]);
            if speed[k] != 0.0 {
                (t, end) = (t.max(to_low.min(to_high)), end.min(to_low.max(to_high)));
            } else if !(0.0..=n[k] as f64).contains(&start[k]) {
                return;
            }
        }
        let mut square = [0, 1].map(|k| ((start[k] + speed[k] * t).floor().max(0.0) as usize).min(n[k] - 1));
        while t <= end {
            let [c, r] = square;
            if meet(self.number(r, c, false)) | meet(self.number(r, c, true)) {
                return;
            }
            // the nearer of the two sides through which the line can leave the square
            let leave = |k: usize| match speed[k] {
                v if v > 0.0 => ((square[k] + 1) as f64 - start[k]) / v,
                v if v < 0.0 => (square[k] as f64 - start[k]) / v,
                _ => f64::INFINITY,
            };
            let k = usize::from(leave(1) < leave(0));
            t = leave(k);
            match speed[k] > 0.0 {
                true if square[k] + 1 < n[k] => square[k] += 1,
                false if square[k] > 0 && t.is_finite() => square[k] -= 1,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field() -> HeightField {
        let (rows, columns) = (4, 6);
        let heights = (0..rows * columns).map(|k| (k as f64 * 0.7).sin()).collect();
        HeightField { name: "hills".into(), half_size: [1.0, 0.5], rows, columns, heights, base: 2.0 }
    }

    #[test]
    fn triangles_beyond_an_edge_share_its_ends() {
        let field = field();
        let mut outer = 0;
        for t in 0..field.n_triangles() as u32 {
            for edge in 0..3 {
                let (ends, other) = (field.triangle(t), field.beyond(t, edge));
                let Some((u, back)) = other else {
                    outer += 1;
                    continue;
                };
                let theirs = field.triangle(u);
                assert_eq!(ends[edge], theirs[(back + 1) % 3]);
                assert_eq!(ends[(edge + 1) % 3], theirs[back]);
                assert_eq!(field.beyond(u, back), Some((t, edge)));
            }
        }
        assert_eq!(outer, 2 * (3 + 5));
    }

    #[test]
    fn a_line_passes_over_the_triangles_that_a_search_among_all_finds() {
        let field = field();
        let over = |t: u32, p: Vec3| {
            let [a, b, c] = field.triangle(t);
            let side = |u: Vec3, v: Vec3| (v.x - u.x) * (p.y - u.y) - (v.y - u.y) * (p.x - u.x);
            side(a, b) >= 0.0 && side(b, c) >= 0.0 && side(c, a) >= 0.0
        };
        for k in 0..40 {
            let angle = 0.3 + 0.41 * k as f64;
            let (origin, direction) =
                (vec3(-3.0 * angle.cos(), -3.0 * angle.sin() + 0.1, 0.0), vec3(angle.cos(), angle.sin(), 0.0));
            let mut met = Vec::new();
            field.along(origin, direction, [0.0, f64::INFINITY], |t| {
                met.push(t);
                false
            });
            for i in 0..6000 {
                let p = origin + direction * (0.001 * i as f64);
                let mut all = 0..field.n_triangles() as u32;
                if let Some(t) = all.find(|t| over(*t, p)) {
                    assert!(met.contains(&t), "angle {angle}, triangle {t}");
                }
            }
        }
    }
}
