//! A finished step in words: what its constraints do, which of them is nearest to another mode, what its derivative means.

#![allow(non_snake_case)]

use super::{ConstraintView, Step};
use crate::constraint::Mode;
use crate::gradient::GradientError;
use crate::model::GradientMode;

/// Dofs that are named before a list is cut short.
const NAMED: usize = 4;

impl Step<'_> {
    /// A sentence per constraint: what it does, with what force, how far from doing otherwise. Then which of them is nearest to
    /// that, and what the derivative means here.
    pub fn explain(&mut self) -> String {
        let dt = self.model.options().dt;
        let constraints = self.constraints();
        let mut text: String = constraints.iter().map(|c| sentence(c, dt) + "\n").collect();
        if let Some(nearest) = nearest(&constraints) {
            text += &nearest;
        }
        text + &self.meaning(&constraints)
    }

    /// A sentence on what the Jacobian is the derivative of.
    fn meaning(&mut self, constraints: &[ConstraintView]) -> String {
        if self.model.options().gradient != GradientMode::Exact {
            return "The derivative is that of the smoothed step: it has no corners.\n".into();
        }
        let names = self.model.dof_names();
        let along: Vec<&str> = match self.jacobian() {
            Ok(J) => {
                J.contradicts.iter().zip(names).filter(|(flag, _)| **flag).map(|(_, name)| name.as_str()).collect()
            }
            Err(e) => return refused(&e),
        };
        if !along.is_empty() {
            let more = if along.len() > NAMED { ", …" } else { "" };
            return format!(
                "Along {} of {} directions of q ({}{more}) active constraints are over-determined: the step has another derivative on each side. \
                 The Jacobian satisfies normals, limits and loops and violates friction in the least-squares sense; \
                 a one-sided jvp is exact.\n",
                along.len(),
                names.len(),
                along[..along.len().min(NAMED)].join(", ")
            );
        }
        let undecided: Vec<&str> = constraints.iter().filter(|c| c.degenerate).map(|c| c.name.as_str()).collect();
        if let [first, ..] = undecided[..] {
            return format!(
                "{} constraints are undecided, the {first} among them: the Jacobian is the derivative on the side where each does what \
                 is said above; a one-sided jvp is exact on both.\n",
                undecided.len()
            );
        }
        "The Jacobian is the derivative on both sides, as far as margins and shapes reach.\n".into()
    }
}

fn refused(e: &GradientError) -> String {
    format!("There is no derivative: {e}.\n")
}

/// The constraint that is nearest to doing something else.
fn nearest(constraints: &[ConstraintView]) -> Option<String> {
    let margin = |c: &ConstraintView| c.opening.min(c.slipping);
    let c = constraints.iter().filter(|c| margin(c).is_finite()).min_by(|a, b| margin(a).total_cmp(&margin(b)))?;
    let slips = c.slipping < c.opening;
    let does = match (c.mode, slips) {
        (Mode::Break, _) => "to close",
        (Mode::Stick, true) => "to slip",
        (Mode::Slide, true) => "to stick",
        (_, false) => "to open",
    };
    let reserve = c.reserve[usize::from(slips)];
    let force = if reserve.is_finite() { format!(" or {reserve:.3e} {}", c.unit) } else { String::new() };
    Some(format!("Nearest to a change: the {} needs {:.2e} {}{force} {does}.\n", c.name, margin(c), speed(c)))
}

/// Unit of the velocity of a constraint.
fn speed(c: &ConstraintView) -> &'static str {
    if c.unit == "N" { "m/s" } else { "rad/s" }
}

fn sentence(c: &ConstraintView, dt: f64) -> String {
    let [a, b, n] = c.impulse;
    let contact = c.name.starts_with("contact");
    let (normal, tangential) = if contact { (n / dt, a.hypot(b) / dt) } else { (a / dt, 0.0) };
    let slip = c.velocity[0].hypot(c.velocity[1]);
    let does = match c.mode {
        Mode::Break => format!("is open; {:.2e} {} would close it", c.opening, speed(c)),
        Mode::Stick if contact => format!(
            "sticks with {normal:.4} N and friction {tangential:.4} N; {:.2e} m/s ({:.3e} N) would open it, {:.2e} m/s \
             ({:.3e} N) make it slip",
            c.opening, c.reserve[0], c.slipping, c.reserve[1]
        ),
        Mode::Slide if contact => format!(
            "slides at {slip:.4} m/s with {normal:.4} N and friction {tangential:.4} N; {:.2e} m/s would open it, {:.2e} \
             m/s make it stick",
            c.opening, c.slipping
        ),
        Mode::Stick if c.reserve[1].is_finite() => {
            format!("sticks with {normal:.4} {} of at most {:.4}", c.unit, normal.abs() + c.reserve[1])
        }
        Mode::Stick => format!("is active with {normal:.4} {}", c.unit),
        Mode::Slide => format!("slips at {:.4} {} with {normal:.4} {}", c.velocity[0], speed(c), c.unit),
    };
    let doubt = if c.degenerate { "; undecided: a derivative is valid on one side only" } else { "" };
    format!("{} {does}{doubt}.", c.name)
}
