//! How the motion would change: the first-order change of every body's pose along a perturbation, for the ghost of a page.

use crate::encode;
use crate::error::ViewError;
use crate::frames::{Frames, Rows};
use crate::kinematics::{link_frames, velocities};
use serde_json::{Value, json};
use slipstick::dynamics::Workspace;
use slipstick::gradient::InputDirection;
use slipstick::spatial::{Motion, Vec3};
use slipstick::{InputError, Model, Step, input_check};

/// A change of where a motion begins, and of what acts in all of its steps. What is left empty does not change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Perturbation {
    /// Of the first configuration, as a tangent (nv).
    pub q: Vec<f64>,
    /// Of the first velocity (nv).
    pub v: Vec<f64>,
    /// Of the generalized forces of every step (nv).
    pub tau: Vec<f64>,
    /// Of the controls of every step (nu).
    pub ctrl: Vec<f64>,
}

/// The perturbation of a replay, as far as it has come.
#[derive(Debug, Clone)]
pub(crate) struct Ghost {
    name: String,
    /// Changes of what acts; `None`: changes of the configuration are given from outside.
    along: Option<Perturbation>,
    /// Change of (q, v, act) now; `None`: a step without derivatives came between.
    now: Option<[Vec<f64>; 3]>,
    rows: usize,
}

impl Ghost {
    pub fn new(
        model: &Model,
        frames: &mut Frames,
        name: &str,
        along: Option<Perturbation>,
    ) -> Result<Ghost, ViewError> {
        let (nv, nu) = (model.nv(), model.nu());
        let mut all = along;
        if let Some(Perturbation { q, v, tau, ctrl }) = &mut all {
            for (what, x, n) in [("q", q, nv), ("v", v, nv), ("tau", tau, nv), ("ctrl", ctrl, nu)] {
                if x.is_empty() {
                    x.resize(n, 0.0);
                }
                input_check::vector(what, x, n)?;
            }
        }
        frames.attached.push(Rows::unknown(6 * (model.n_bodies() - 1), frames.len()));
        let now = all.as_ref().map(|p| [p.q.clone(), p.v.clone(), vec![0.0; model.na()]]);
        Ok(Ghost { name: name.into(), along: all, now, rows: frames.attached.len() - 1 })
    }

    /// Whether changes of this name are given from outside.
    pub fn is_given(&self, name: &str) -> bool {
        self.along.is_none() && self.name == name
    }

    /// Where its rows are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The change of the configuration now.
    pub fn change(&self) -> Option<&[f64]> {
        self.now.as_ref().map(|[q, ..]| &q[..])
    }

    /// Goes on by a step. Where that has no derivative the change is unknown from there on.
    pub fn advance(&mut self, step: &mut Step) {
        let (Some(p), Some([q, v, act])) = (&self.along, &self.now) else { return };
        let ctrl: &[f64] = if step.input().ctrl.is_some() { &p.ctrl } else { &[] };
        let along = InputDirection { q, v, tau: &p.tau, ctrl, act };
        let [mut dq, mut dv] = [vec![0.0; q.len()], vec![0.0; v.len()]];
        let mut dact = vec![0.0; act.len()];
        let done = step.jvp(along, &mut dq, &mut dv).and_then(|()| match act.is_empty() {
            true => Ok(()),
            false => step.jvp_act(along, &mut dact),
        });
        let finite = dq.iter().chain(&dv).chain(&dact).all(|x| x.is_finite());
        self.now = (done.is_ok() && finite).then_some([dq, dv, dact]);
    }

    pub fn to_json(&self, frames: &Frames) -> Value {
        json!({ "name": self.name, "twists": encode::floats(&frames.attached[self.rows].numbers) })
    }
}

/// Velocity of the origin of each moving body and its angular velocity, world axes, for a change dq of q.
pub(crate) fn twists(model: &Model, work: &mut Workspace, q: &[f64], dq: &[f64]) -> Result<Vec<f64>, InputError> {
    let twists = velocities(model, work, &link_frames(model), (q, dq), |_| Vec3::ZERO)?;
    Ok(twists.iter().flat_map(|Motion { lin, ang }| [lin.to_array(), ang.to_array()]).flatten().collect())
}
