//! Compliant contacts: a soft robot first, the real one last.

use super::SmoothingError;
use crate::interrupt;
use slipstick_core::dynamics::Workspace;
use slipstick_core::error::DynamicsError;
use slipstick_core::model::ParameterGroup;
use slipstick_core::{InputError, Model, StepError};

/// Compliances for continuation: solve for a soft robot, begin the next solve there with a stiffer one, and so on.
///
/// A fraction of one lets a contact deform under its load as fast as the load would accelerate the bodies if they were
/// not in contact at all; 0.1 is soft, 1e-4 hardly different from rigid. In units of 1/kg the same share differs
/// between a finger and a torso, and between two robots.
///
/// Compliance spreads the load over contacts and makes sticking ones slip by little; it does not smooth the moment
/// at which a contact opens or closes.
///
/// ```
/// use slipstick::model::ParameterGroup;
/// use slipstick::smoothing::ComplianceSchedule;
/// let model = slipstick::builtin("cube")?; // 1 kg
/// let schedule = ComplianceSchedule { softest: 0.1, stiffest: 1e-3, levels: 3 };
/// let models = schedule.models(&model, model.neutral())?;
/// let cube: Vec<f64> = models.iter().map(|m| m.parameters().group(ParameterGroup::Compliance)[1]).collect();
/// assert!((cube[0] - 0.1).abs() < 1e-12 && (cube[1] - 0.01).abs() < 1e-12 && cube[3] == 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComplianceSchedule {
    /// Compliance of the first model, as a fraction of the contacts' own inverse inertia.
    pub softest: f64,
    /// Compliance of the last model but one.
    pub stiffest: f64,
    /// Number of models with added compliance, at most 1000; shares between the two ends are a geometric series.
    pub levels: usize,
}

/// Every level has parameters of its own.
const MOST_LEVELS: usize = 1000;

impl ComplianceSchedule {
    /// Models from the softest to the stiffest, and the model itself as the last one. They share their structure, so
    /// one [`Data`](crate::Data) serves all. Inverse inertias are taken at the configuration `q`.
    pub fn models(&self, model: &Model, q: &[f64]) -> Result<Vec<Model>, SmoothingError> {
        self.check()?;
        let inverse = inverse_inertias(model, q)?;
        let mut models = Vec::new();
        for level in 0..self.levels {
            interrupt::check()?;
            let (fraction, mut parameters) = (self.fraction(level), model.parameters().clone());
            let compliance = parameters.group_mut(ParameterGroup::Compliance);
            compliance.iter_mut().zip(&inverse).for_each(|(c, w)| *c += fraction * w);
            models.push(model.with_parameters(parameters)?);
        }
        models.push(model.clone());
        Ok(models)
    }

    /// Fraction of a level.
    fn fraction(&self, level: usize) -> f64 {
        let along = if self.levels > 1 { level as f64 / (self.levels - 1) as f64 } else { 0.0 };
        self.softest * (self.stiffest / self.softest).powf(along)
    }

    fn check(&self) -> Result<(), InputError> {
        let named = [("softest", self.softest), ("stiffest", self.stiffest)];
        match named.into_iter().find(|(_, x)| !(x.is_finite() && *x > 0.0)) {
            Some((what, got)) => Err(InputError::Value { what: what.into(), expected: "a positive fraction", got }),
            None if self.stiffest > self.softest => {
                let (what, expected) = ("stiffest".into(), "no larger a fraction than the softest");
                Err(InputError::Value { what, expected, got: self.stiffest })
            }
            None if self.levels > MOST_LEVELS => {
                let (what, expected) = ("levels".into(), "at most 1000, a model for each");
                Err(InputError::Value { what, expected, got: self.levels as f64 })
            }
            None => Ok(()),
        }
    }
}

/// For each geom a third of the trace of the inverse inertia that its center shows to forces (1/kg); zero in the world.
/// Those of two geoms add up to that of a contact of two trees, as their compliances do.
fn inverse_inertias(model: &Model, q: &[f64]) -> Result<Vec<f64>, SmoothingError> {
    let (nv, mut work) = (model.nv(), Workspace::new(model));
    let (mut jacobian, mut solved) = (vec![0.0; 6 * nv], vec![0.0; nv]);
    let mut inverse = Vec::with_capacity(model.geoms().len());
    for geom in model.geoms() {
        interrupt::check()?;
        work.kinematics(model, q)?;
        let arm = work.body_pose(geom.body)?.point(geom.pose.position) - work.frame_pose(model, geom.link)?.position;
        work.jacobian(model, q, geom.link, &mut jacobian)?;
        work.factor(model, q).map_err(|e: DynamicsError| StepError::from(e))?;
        let mut trace = 0.0;
        for axis in 0..3 {
            // velocity of the center: that of the link's origin and ω × arm
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            let row = |j: usize| {
                let at = |i: usize| jacobian[i * nv + j];
                at(axis) + at(3 + b) * arm[c] - at(3 + c) * arm[b]
            };
            solved.iter_mut().enumerate().for_each(|(j, x)| *x = row(j));
            work.solve(model, &mut solved)?;
            trace += solved.iter().enumerate().fold(0.0, |s, (j, x)| s + x * row(j));
        }
        inverse.push(trace / 3.0);
    }
    Ok(inverse)
}
