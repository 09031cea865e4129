//! The constraints of a finished step: modes, margins, forces.
#![allow(non_snake_case)]

use super::Step;
use crate::constraint::{
    Assembly, Cone, JointRowKind, Mode, Source, center, contact_margins, is_undecided, mode, rows_of, undecided,
};
use crate::model::{Model, PrimitiveKind};

/// A constraint of a finished step.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConstraintView {
    /// Its name, such as `contact of 'floor' and 'foot'`.
    pub name: String,
    /// Of a contact: its number in [`Step::contacts`].
    pub contact: Option<usize>,
    /// Unit of its force: "N", or "N·m" for what turns.
    pub unit: &'static str,
    /// Its mode.
    pub mode: Mode,
    /// Impulse: of a contact on body 2 along (T, T, N), of others a single number (N s or N m s).
    pub impulse: [f64; 3],
    /// Velocity of the constraint, correction included, in the same components (m/s or rad/s).
    pub velocity: [f64; 3],
    /// Change of velocity that would open it or, if it is open, close it (m/s or rad/s).
    pub opening: f64,
    /// Change of velocity that would make it slip or, if it slips, stick; infinite for what cannot slip.
    pub slipping: f64,
    /// Force that would open it or make it slip while it sticks (N or N m); infinite for what cannot.
    pub reserve: [f64; 2],
    /// Distance of its gap from the next corner of the position correction (m or rad).
    pub corner: f64,
    /// Whether a derivative here may be valid on one side only: a margin is below 1e-7 m/s. Points of a patch that sticks
    /// as a whole have the margins of the center of all its loads.
    pub degenerate: bool,
}

/// How far a step is from another mode.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Margins {
    /// Constraints that are undecided: a margin is below 1e-7 m/s.
    pub degenerate: usize,
    /// The smallest margin: the change of velocity that would change a mode (m/s or rad/s).
    pub margin: f64,
}

/// Larger problems keep the impulses that were found: their center takes a time with the cube of the rows, and memory with the
/// square.
const MANY_ROWS: usize = 2000;

impl Step<'_> {
    /// All constraints of the problem: equalities, limits and dry friction of joints, contacts. Where several impulses give
    /// the same motion, those at the center of all of them (ncp-15). They do not depend on where the solver began, and
    /// their margins are those of the whole.
    pub fn constraints(&mut self) -> Vec<ConstraintView> {
        let loads = self.centered();
        let sources = self.data.assembly.sources.iter().enumerate();
        sources.map(|(k, source)| self.view(k, *source, &loads)).collect()
    }

    /// The smallest margin of all constraints, and how many are undecided. Beyond 2000 rows (666 contacts with friction) they
    /// are those of the impulses found.
    pub fn margins(&mut self) -> Margins {
        let loads = self.centered();
        let constraints = 0..self.data.assembly.sources.len();
        let (degenerate, margin) = undecided(constraints.map(|k| self.mode_at(k, &loads).1));
        Margins { degenerate, margin }
    }

    /// Impulses of all rows at the center of the loads; of large problems those that were found.
    fn centered(&mut self) -> Vec<f64> {
        let data = &mut *self.data;
        if data.solution.lambda().is_empty() || data.solution.lambda().len() > MANY_ROWS {
            return data.solution.lambda().to_vec();
        }
        data.mass.complete(self.model, &data.kin);
        let G = data.assembly.dense(self.model, &mut data.mass);
        center(&data.assembly.problem.blocks, &G, data.solution.lambda(), data.solution.sigma())
    }

    /// Mode and margin of a constraint under given loads.
    fn mode_at(&self, k: usize, loads: &[f64]) -> (Mode, f64) {
        let b = &self.data.assembly.problem.blocks[k];
        mode(b, rows_of(loads, b), rows_of(self.data.solution.sigma(), b), self.data.assembly.is_redundant(k))
    }

    fn view(&self, k: usize, source: Source, loads: &[f64]) -> ConstraintView {
        let (assembly, solution) = (&self.data.assembly, &self.data.solution);
        let b = &assembly.problem.blocks[k];
        let (impulse, velocity) = (rows_of(loads, b), rows_of(solution.sigma(), b));
        let (mode, margin) = self.mode_at(k, loads);
        let [opening, slipping] = match b.cone {
            Cone::Friction { mu } => contact_margins(mu, b.mean, impulse, velocity).map(f64::abs),
            Cone::Unilateral => [(b.mean * impulse[0] - velocity[0].abs()).abs(), f64::INFINITY],
            Cone::Box { bound } => [f64::INFINITY, (b.mean * (bound - impulse[0].abs()) - velocity[0].abs()).abs()],
            Cone::Bilateral => [f64::INFINITY; 2],
        };
        let slipping = if mode == Mode::Break { f64::INFINITY } else { slipping };
        let reserve = match b.cone {
            _ if mode != Mode::Stick => [f64::INFINITY; 2],
            Cone::Friction { mu } => [impulse[2], mu * impulse[2] - impulse[0].hypot(impulse[1])],
            Cone::Unilateral => [impulse[0], f64::INFINITY],
            Cone::Box { bound } => [f64::INFINITY, bound - impulse[0].abs()],
            Cone::Bilateral => [f64::INFINITY; 2],
        };
        let contact = if let Source::Contact(n) = source { Some(n) } else { None };
        ConstraintView {
            name: name(self.model, assembly, source, self.data.contacts.contacts()),
            contact,
            unit: unit(self.model, assembly, source),
            mode,
            impulse,
            velocity,
            opening,
            slipping,
            reserve: reserve.map(|impulse| impulse.max(0.0) / self.model.options().dt),
            corner: assembly.corner_distance(self.model, k),
            degenerate: is_undecided(margin),
        }
    }
}

/// Unit of the force of a constraint.
fn unit(model: &Model, assembly: &Assembly, source: Source) -> &'static str {
    let of_dof = |dof: usize| {
        let p = model.tree().primitives.iter().find(|p| (p.v..p.v + p.kind.nv()).contains(&dof));
        p.map_or("N", |p| if matches!(p.kind, PrimitiveKind::Slide | PrimitiveKind::Translation) { "N" } else { "N·m" })
    };
    match source {
        Source::Contact(_) => "N",
        // three rows of a point, then three of a turn
        Source::Equality(_, row) => {
            if row < 3 {
                "N"
            } else {
                "N·m"
            }
        }
        Source::Joint(n) => match assembly.joint_rows[n].kind {
            JointRowKind::Limit { joint, .. } => of_dof(model.joints()[joint].v.start),
            JointRowKind::DryFriction { dof } => of_dof(dof),
            JointRowKind::TendonLimit { .. } | JointRowKind::TendonFriction { .. } => "N",
            JointRowKind::BallLimit { .. } | JointRowKind::Coupling { .. } => "N·m",
        },
    }
}

/// Name of a constraint.
fn name(model: &Model, assembly: &Assembly, source: Source, contacts: &[crate::collision::Contact]) -> String {
    let geom = |g: crate::model::GeomId| match model.geoms()[g.0].name.as_str() {
        "" => format!("geom {}", g.0),
        name => format!("'{name}'"),
    };
    let joint = |n: usize| model.joints()[n].name.clone();
    let end = |sign: f64| if sign > 0.0 { "lower" } else { "upper" };
    let tendon = |n: usize| model.tendons()[n].name.clone();
    match source {
        Source::Contact(n) => {
            let [a, b] = contacts[n].geoms.map(geom);
            format!("contact of {a} and {b}")
        }
        Source::Equality(n, row) => format!("row {row} of equality {n}"),
        Source::Joint(n) => match assembly.joint_rows[n].kind {
            JointRowKind::Limit { joint: j, sign } => format!("{} limit of joint '{}'", end(sign), joint(j)),
            JointRowKind::BallLimit { joint: j, .. } => format!("limit of joint '{}'", joint(j)),
            JointRowKind::TendonLimit { tendon: t, sign } => format!("{} limit of tendon '{}'", end(sign), tendon(t)),
            JointRowKind::DryFriction { dof } => format!("dry friction of '{}'", model.dof_names()[dof]),
            JointRowKind::TendonFriction { tendon: t } => format!("dry friction of tendon '{}'", tendon(t)),
            JointRowKind::Coupling { equality, .. } => format!("coupling '{}'", model.equalities()[equality].name),
        },
    }
}
