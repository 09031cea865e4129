//! Our times compared with those of peers, motion by motion, and what the ratios should be.

use crate::gradient::goals::number;
use crate::gradient::ours::Ours;
use crate::gradient::times::Times;
use crate::table::report::{Row, RowPhase};
use serde_json::{Value, json};

/// A ratio of two times.
struct Ratio {
    /// In JSON, and in words.
    name: &'static str,
    words: &'static str,
    ours: fn(&Ours) -> &Times,
    /// Whose time, and which.
    other: Other,
    goal: Goal,
    /// Least nv that the goal is for.
    from_nv: usize,
}

enum Other {
    Own(fn(&Ours) -> &Times),
    Peer(&'static str, &'static str),
}

/// Of ours over the other, or of the other over ours.
enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

const RATIOS: [Ratio; 8] = [
    Ratio {
        name: "step_over_mujoco_own_way",
        words: "step / mj_step, own trajectories",
        ours: |o| &o.step,
        other: Other::Peer("mujoco", "step_own_way"),
        goal: Goal::AtMost(0.5),
        from_nv: 0,
    },
    Ratio {
        name: "step_over_mujoco",
        words: "step / mj_step, our states",
        ours: |o| &o.step,
        other: Other::Peer("mujoco", "step"),
        goal: Goal::AtMost(0.5),
        from_nv: 0,
    },
    Ratio {
        name: "jacobian_over_step",
        words: "jacobian / step",
        ours: |o| &o.jacobian,
        other: Other::Own(|o| &o.step),
        goal: Goal::AtMost(0.8),
        from_nv: 0,
    },
    Ratio {
        name: "jacobian_over_aba_derivatives",
        words: "jacobian / ABA derivatives",
        ours: |o| &o.jacobian,
        other: Other::Peer("pinocchio", "aba_derivatives"),
        goal: Goal::AtMost(1.0),
        from_nv: 0,
    },
    Ratio {
        name: "mujoco_fd_over_jacobian",
        words: "mjd_transitionFD / jacobian, our states",
        ours: |o| &o.jacobian,
        other: Other::Peer("mujoco", "fd"),
        goal: Goal::AtLeast(100.0),
        from_nv: 18,
    },
    Ratio {
        name: "mujoco_fd_own_way_over_jacobian",
        words: "mjd_transitionFD / jacobian, own trajectories",
        ours: |o| &o.jacobian,
        other: Other::Peer("mujoco", "fd_own_way"),
        goal: Goal::AtLeast(100.0),
        from_nv: 18,
    },
    Ratio {
        name: "recipe_step_over_step",
        words: "baseline's step / step",
        ours: |o| &o.step,
        other: Other::Peer("pinocchio", "step"),
        goal: Goal::AtLeast(4.0),
        from_nv: 0,
    },
    Ratio {
        name: "recipe_jacobian_over_jacobian",
        words: "baseline's gradient / jacobian",
        ours: |o| &o.jacobian,
        other: Other::Peer("pinocchio", "jacobian"),
        goal: Goal::AtLeast(2.0),
        from_nv: 0,
    },
];

impl Ratio {
    /// Of means and of medians, over the states where both have a time.
    fn of(&self, phase: &RowPhase) -> Option<[f64; 2]> {
        let ours = (self.ours)(&phase.ours);
        let other = match self.other {
            Other::Own(of) => of(&phase.ours),
            Other::Peer(peer, what) => phase.peer_times(peer, what)?,
        };
        match self.goal {
            Goal::AtMost(_) => ours.over(other),
            Goal::AtLeast(_) => other.over(ours),
        }
    }

    /// Whether mean and median both reach the goal; `None` where there is none.
    fn is_met(&self, row: &Row, both: [f64; 2]) -> Option<bool> {
        let meets = |x: f64| match self.goal {
            Goal::AtMost(bound) => x <= bound,
            Goal::AtLeast(bound) => x >= bound,
        };
        (row.nv >= self.from_nv).then(|| both.into_iter().all(meets))
    }

    fn goal(&self) -> String {
        let from = if self.from_nv > 0 { format!(" from {} dofs", self.from_nv) } else { String::new() };
        match self.goal {
            Goal::AtMost(bound) => format!("≤ {bound}{from}"),
            Goal::AtLeast(bound) => format!("≥ {bound}{from}"),
        }
    }
}

/// All ratios of a motion.
pub fn to_json(row: &Row, phase: &RowPhase) -> Value {
    let ratio = |r: &Ratio| {
        let [mean, median] = r.of(phase)?;
        let met = r.is_met(row, [mean, median]);
        Some((r.name.to_string(), json!({ "mean": mean, "median": median, "goal": r.goal(), "met": met })))
    };
    Value::Object(RATIOS.iter().filter_map(ratio).collect())
}

/// A line per ratio, a column per robot and motion; the first line is the head. Nothing without peers.
pub fn lines(rows: &[Row]) -> Vec<Vec<String>> {
    let motions = || rows.iter().flat_map(|r| r.phases.iter().map(move |p| (r, p)));
    if motions().all(|(_, p)| p.peers.is_empty()) {
        return Vec::new();
    }
    let head = motions().map(|(r, p)| format!("{} {}", r.name, p.name));
    let mut lines = vec![std::iter::once("ratio of means (medians)".to_string()).chain(head).collect::<Vec<_>>()];
    for ratio in &RATIOS {
        let cell = |(row, phase): (&Row, &RowPhase)| match ratio.of(phase) {
            None => "-".to_string(),
            Some([mean, median]) => {
                let missed = ratio.is_met(row, [mean, median]) == Some(false);
                format!("{} ({}){}", number(mean), number(median), if missed { " missed" } else { "" })
            }
        };
        let title = format!("{} ({})", ratio.words, ratio.goal());
        lines.push(std::iter::once(title).chain(motions().map(cell)).collect());
    }
    lines
}
