//! Ratios of times, and what they should be.

use super::report::Row;
use super::times::Times;

/// A ratio of two times, and what it should be.
pub struct Ratio {
    pub name: &'static str,
    bound: Bound,
    /// Least nv that it is promised for.
    from_nv: usize,
    times: for<'a> fn(&'a Row) -> [Option<&'a Times>; 2],
}

enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn is_met(&self, x: f64) -> bool {
        match self {
            Bound::AtMost(bound) => x <= *bound,
            Bound::AtLeast(bound) => x >= *bound,
        }
    }

    fn words(&self) -> String {
        match self {
            Bound::AtMost(bound) => format!("≤ {bound}"),
            Bound::AtLeast(bound) => format!("≥ {bound}"),
        }
    }
}

pub const RATIOS: [Ratio; 6] = [
    Ratio {
        name: "jacobian / own step",
        bound: Bound::AtMost(1.0),
        from_nv: 0,
        times: |r| [Some(&r.ours.jacobian), Some(&r.ours.step)],
    },
    Ratio {
        name: "jacobian / Pinocchio's ABA derivatives",
        bound: Bound::AtMost(1.3),
        from_nv: 0,
        times: |r| [Some(&r.ours.jacobian), r.baseline[1].as_ref().map(|p| &p.smooth)],
    },
    Ratio {
        name: "own central differences / jacobian",
        bound: Bound::AtLeast(100.0),
        from_nv: 18,
        times: |r| [Some(&r.ours.central), Some(&r.ours.jacobian)],
    },
    Ratio {
        name: "MuJoCo centered, our states / jacobian",
        bound: Bound::AtLeast(50.0),
        from_nv: 0,
        times: |r| [r.mujoco[1].as_ref().map(|p| &p.centered), Some(&r.ours.jacobian)],
    },
    Ratio {
        name: "MuJoCo centered, own trajectories / jacobian",
        bound: Bound::AtLeast(50.0),
        from_nv: 0,
        times: |r| [r.mujoco[0].as_ref().map(|p| &p.centered), Some(&r.ours.jacobian)],
    },
    Ratio {
        name: "vjp / jacobian",
        bound: Bound::AtMost(0.6),
        from_nv: 0,
        times: |r| [Some(&r.ours.vjp), Some(&r.ours.jacobian)],
    },
];

impl Ratio {
    /// Of means and of medians.
    pub fn of(&self, row: &Row) -> Option<[f64; 2]> {
        let [a, b] = (self.times)(row);
        a?.over(b?)
    }

    /// By means and by medians; `None` where nothing is promised.
    pub fn is_met(&self, row: &Row) -> Option<bool> {
        let both = self.of(row)?;
        (row.nv >= self.from_nv).then(|| both.iter().all(|x| self.bound.is_met(*x)))
    }

    pub fn words(&self, row: &Row) -> Option<String> {
        self.of(row).map(|[a, b]| format!("{} ({})", number(a), number(b)))
    }

    pub fn goal(&self) -> String {
        let from = if self.from_nv > 0 { format!(" from {} dofs", self.from_nv) } else { String::new() };
        self.bound.words() + &from
    }
}

/// Three digits or all that are before the point.
pub fn number(x: f64) -> String {
    match x {
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        _ => format!("{x:.2}"),
    }
}
