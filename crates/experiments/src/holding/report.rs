//! What the experiment has to say.

use super::multi_start::{PAPER, SMALL};
use super::{ContactForce, Feedback, Findings, Hold, Search, Searches, figures};
use crate::balance::BalanceError;
use crate::report::{Claim, Motion, Report};
use serde_json::{Value, json};

/// By which a force at the edge of its cone may be outside.
const ROUNDING: f64 = 1e-9;

/// Claims, summary, figures, numbers, and the robot as it is held.
pub(super) fn report(f: &Findings) -> Report {
    let mut report = Report::new(f.stance.name);
    report.claims = claims(f);
    report.summary = summary(f);
    report.figures = vec![
        (format!("{}.svg", f.stance.name), figures::searches(f)),
        (format!("{}-torques.svg", f.stance.name), figures::torques(f)),
        (format!("{}-forces.svg", f.stance.name), figures::forces(f)),
    ];
    report.data = data(f);
    let [_, held] = &f.holds;
    report.motion = Some(Motion { model: f.model.clone(), trajectory: held.trajectory.clone() });
    report
}

fn claims(f: &Findings) -> Vec<Claim> {
    let iterations = |s: &Searches, error: f64| s.zero.iterations_to(error).map_or(f64::INFINITY, |n| n as f64);
    let quickest = f.differences.iter().map(|s| iterations(s, SMALL)).fold(f64::INFINITY, f64::min);
    let best = f.differences.iter().map(Searches::successes).max().unwrap_or(0) as f64;
    let [_, fed_back] = &f.holds;
    let mut claims = vec![
        Claim::at_most("iterations from no torques to 1e-5, exact derivatives", iterations(&f.exact, PAPER), 10.0),
        Claim::at_most("last error from no torques, exact derivatives", f.exact.zero.error(), SMALL),
        Claim::at_most(
            "iterations from no torques to 1e-10, exact derivatives, and the best differences",
            iterations(&f.exact, SMALL),
            quickest,
        ),
        Claim::at_most("worst last error of all starts, over the central path", f.central.worst(), SMALL),
        Claim::at_least(
            "starts that lead to 1e-10 over the central path, and with the best differences",
            f.central.successes() as f64,
            best,
        ),
        Claim::at_most("velocity after the step", f.proof.velocity, 1e-8),
        Claim::at_most("residual of the contact problem", f.proof.residual, 1e-9),
        Claim::at_least("least pressure on the floor (N)", f.proof.least_normal(), 0.0),
        Claim::at_most("largest share of friction in use", f.proof.most_friction(), 1.0 + ROUNDING),
        Claim::at_most("force that inverse dynamics lacks (N, N m)", f.proof.imbalance, 1e-5),
        Claim::at_most("way of the base in 1 s, with feedback (m)", fed_back.base, 1e-6),
    ];
    if f.limited {
        claims.push(Claim::at_most("largest share of a drive's limit", share_of_limits(f), 1.0));
    }
    if let Some(tilted) = &f.tilted {
        let distance = match tilted.refused {
            Some(BalanceError::OutOfBalance { distance, .. }) => distance,
            _ => f64::NAN,
        };
        claims.push(Claim::at_least("distance from balance at which a tilted robot is refused (m)", distance, 1e-3));
        claims.push(Claim::at_least("error that no torques take from the tilted robot", tilted.search.error(), 1e-5));
    }
    claims
}

/// Largest torque over its limit.
fn share_of_limits(f: &Findings) -> f64 {
    let share = |(t, l): (&f64, &[f64; 2])| (t / l[1]).max(t / l[0]);
    f.central.zero.torques.iter().zip(&f.drives.limits).map(share).fold(0.0, f64::max)
}

fn summary(f: &Findings) -> Vec<String> {
    let (mass, contacts) = (f.model.total_mass(), f.rest.supports.len());
    let still = f.rest.acceleration;
    let robot = format!("{} ({mass:.1} kg, {contacts} contacts)", f.model.name());
    let mut lines =
        vec![format!("{robot}; with locked actuators it accelerates by {still:.1e} m/s² or rad/s² at most")];
    lines.extend([&f.exact, &f.central].into_iter().chain(&f.differences).map(ToString::to_string));
    let limits = if f.limited { "torques kept within limits" } else { "limits not asked for" };
    lines.push(format!("largest torque: {:.2} of its limit ({limits})", share_of_limits(f)));
    for c in &f.proof.forces {
        lines.push(format!(
            "{:12} presses with {:7.2} N, {:.2} of its friction in use",
            c.body, c.normal, c.use_of_friction
        ));
    }
    lines.extend(f.holds.iter().map(held));
    if let Some(refused) = f.tilted.as_ref().and_then(|t| t.refused.as_ref()) {
        lines.push(format!("tilted by a degree: {refused}"));
    }
    lines
}

fn held(h: &Hold) -> String {
    let how = match h.feedback.stiffness {
        0.0 => "constant torques".to_string(),
        k => format!("torques and feedback ({k} N·m/rad, {} N·m·s/rad)", h.feedback.damping),
    };
    format!("1 s with {how}: the base moves by {:.1e} m, joints by {:.1e} rad", h.base, h.joints)
}

fn data(f: &Findings) -> Value {
    let force = |c: &ContactForce| {
        json!({ "body": c.body, "point": c.point.to_array(), "force": c.force.to_array(),
            "friction": c.friction, "use_of_friction": c.use_of_friction })
    };
    let hold = |h: &Hold| {
        let Feedback { stiffness, damping } = h.feedback;
        json!({ "stiffness": stiffness, "damping": damping, "base": h.base, "joints": h.joints })
    };
    let all = [&f.exact, &f.central].into_iter().chain(&f.differences);
    json!({
        "robot": f.model.name(), "q": f.rest.q, "center_of_mass": f.rest.center_of_mass.to_array(),
        "statue_acceleration": f.rest.acceleration, "joints": f.drives.names, "limited": f.limited,
        "limits": f.drives.limits.iter().map(finite).collect::<Vec<_>>(),
        "torques": f.central.zero.torques, "searches": all.map(searches).collect::<Vec<_>>(),
        "contacts": f.proof.forces.iter().map(force).collect::<Vec<_>>(),
        "velocity": f.proof.velocity, "residual": f.proof.residual, "imbalance": f.proof.imbalance,
        "holds": f.holds.iter().map(hold).collect::<Vec<_>>(),
        "tilted": f.tilted.as_ref().map(|t| json!({
            "refused": t.refused.as_ref().map(ToString::to_string), "error": t.search.error() })),
    })
}

fn searches(s: &Searches) -> Value {
    let last = s.all().map(Search::error).collect::<Vec<_>>();
    let iterations = s.all().map(|s| s.errors.len() - 1).collect::<Vec<_>>();
    let zero = &s.zero;
    json!({ "way": s.way.to_string(), "errors": last, "iterations": iterations, "from_zero": {
        "errors": zero.errors, "seconds": zero.seconds, "torques": zero.torques, "stop": zero.stop.name() } })
}

/// JSON has no infinity.
fn finite(limits: &[f64; 2]) -> [Option<f64>; 2] {
    limits.map(|x| x.is_finite().then_some(x))
}
