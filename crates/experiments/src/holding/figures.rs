//! Pictures of the searches, the torques and the contact forces.

use super::{Findings, Search, Searches, Way};
use slipstick_plot::{Bars, Panel, Scale, Series, figure};

/// Least error that is drawn: below it is rounding.
const FLOOR: f64 = 1e-14;

/// Error against iteration and time from one random start, and the last errors of all starts.
pub(super) fn searches(f: &Findings) -> String {
    let all: Vec<&Searches> = [&f.exact, &f.central].into_iter().chain(&f.differences).collect();
    let curve = |s: &Searches, points: Vec<(f64, f64)>| {
        let series = Series::new(s.way.to_string(), points);
        if matches!(s.way, Way::Differences(_)) { series.dashed() } else { series }
    };
    let shown = shown(f);
    let one = |x: &dyn Fn(&Search, usize) -> f64| {
        let points = |s: &Search| s.errors.iter().enumerate().map(|(k, e)| (x(s, k), e.max(FLOOR))).collect();
        all.iter().map(|s| curve(s, points(&s.random[shown])).marked()).collect::<Vec<_>>()
    };
    let sorted = |s: &Searches| {
        let mut errors: Vec<f64> = s.all().map(|s| s.error().max(FLOOR)).collect();
        errors.sort_by(f64::total_cmp);
        errors.into_iter().enumerate().map(|(k, e)| (k as f64 + 1.0, e)).collect()
    };
    let ends = all.iter().map(|s| curve(s, sorted(s))).collect();
    let (error, scales) = ("‖v⁺‖ [m/s, rad/s]", [Scale::Linear, Scale::Log]);
    figure(&[
        Panel::curves(
            &format!("{}, random start {}", f.stance.name, shown + 1),
            ["iteration", error],
            scales,
            one(&|_, k| k as f64),
        ),
        Panel::curves("the same", ["time [ms]", error], scales, one(&|s, k| 1e3 * s.seconds[k])),
        Panel::curves("last errors of all starts", ["start, best first", error], scales, ends),
    ])
}

/// The random start that takes the search over the central path a middling number of iterations.
fn shown(f: &Findings) -> usize {
    let mut starts: Vec<usize> = (0..f.central.random.len()).collect();
    starts.sort_by_key(|k| f.central.random[*k].errors.len());
    starts.get(starts.len() / 2).copied().unwrap_or(0)
}

/// Torques of all joints; their limits, if these count.
pub(super) fn torques(f: &Findings) -> String {
    let limit = |l: &[f64; 2]| l[0].abs().min(l[1].abs());
    let bars = Bars {
        labels: f.drives.names.iter().map(|n| short(n)).collect(),
        groups: [&f.exact, &f.central].map(|s| (s.way.to_string(), s.zero.torques.clone())).to_vec(),
        limits: if f.limited { f.drives.limits.iter().map(limit).collect() } else { Vec::new() },
    };
    let label = if f.limited { "torque [N·m]; lines: limits" } else { "torque [N·m]" };
    figure(&[Panel::bars(&format!("{}: torques that hold the pose", f.stance.name), label, bars)])
}

/// Contact forces: pressure, friction, and what friction could bear.
pub(super) fn forces(f: &Findings) -> String {
    let forces = &f.proof.forces;
    let bars = Bars {
        labels: forces.iter().map(|c| short(&c.body)).collect(),
        groups: vec![
            ("pressure".into(), forces.iter().map(|c| c.normal).collect()),
            ("friction".into(), forces.iter().map(|c| c.use_of_friction * c.friction * c.normal).collect()),
            ("what friction could bear".into(), forces.iter().map(|c| c.friction * c.normal).collect()),
        ],
        limits: Vec::new(),
    };
    figure(&[Panel::bars(&format!("{}: contact forces", f.stance.name), "force [N]", bars)])
}

/// Names of joints and bodies without what all of them have.
fn short(name: &str) -> String {
    let name = name.trim_end_matches("_joint").trim_end_matches("_link");
    name.replace("left_", "L ").replace("right_", "R ").replace('_', " ")
}
