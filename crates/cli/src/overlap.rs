//! Geoms that overlap where the robot starts, and the lines of a file that exclude them.

use crate::check::{Finding, Level, finding};
use slipstick::Model;
use slipstick::files::{Overlap, overlaps};
use slipstick::model::GeomId;

/// Pairs that are listed; the others are counted.
const LISTED: usize = 20;

/// A note for every pair that overlaps in the neutral pose or a keyframe.
pub fn check(model: &Model) -> Vec<Finding> {
    let found = overlaps(model).unwrap_or_default();
    let mut out: Vec<Finding> = found.iter().take(LISTED).map(|o| of_pair(model, o)).collect();
    if found.len() > LISTED {
        out.push(finding(Level::Note, "", format!("{} more pairs overlap at the start", found.len() - LISTED), ""));
    }
    out
}

fn of_pair(model: &Model, o: &Overlap) -> Finding {
    let [a, b] = o.geoms.map(|g| geom(model, g));
    let place = if o.always { "in every pose".into() } else { poses(&o.poses) };
    let [first, second] = o.geoms.map(|g| &*model.frames()[model.geoms()[g.0].link.0].name);
    let line = format!("<exclude body1=\"{first}\" body2=\"{second}\"/>");
    let hint = match o.always {
        true => format!("no joint takes them apart: {line}, or --overlap exclude"),
        false => format!("start from another pose or, if they are never to collide, {line}"),
    };
    finding(Level::Note, "", format!("{a} and {b} overlap by {:.1} mm {place}", 1e3 * o.depth), &hint)
}

fn poses(names: &[String]) -> String {
    let name = |n: &String| if n.is_empty() { "the neutral pose".into() } else { format!("keyframe '{n}'") };
    format!("in {}", names.iter().map(name).collect::<Vec<_>>().join(", "))
}

fn geom(model: &Model, id: GeomId) -> String {
    let g = &model.geoms()[id.0];
    let name = if g.name.is_empty() { format!("number {}", id.0) } else { format!("'{}'", g.name) };
    format!("geom {name} of '{}'", model.frames()[g.link.0].name)
}
