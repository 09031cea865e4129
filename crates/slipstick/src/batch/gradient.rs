//! Derivatives of a call in another mode than the model's.

use super::Batch;
use slipstick_core::model::GradientMode;
use slipstick_core::{InputError, Model};

/// How the derivatives of an exact step are taken, where that is not for the model to say: with
/// [`Batch::with_gradient`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GradientChoice {
    /// Those of the step as it is ([`GradientMode::Exact`]).
    Exact,
    /// Those of the central path ([`GradientMode::ExactForwardCentral`]) at this kappa.
    Central {
        /// Complementarity, without dimension.
        kappa: f64,
    },
    /// Those of the central path at the kappa of a speed ([`GradientMode::kappa_of_speed`]), for the time step of the model.
    CentralAtSpeed {
        /// How far bodies move in a second by what smoothing adds (m/s).
        speed: f64,
    },
}

impl GradientChoice {
    /// The mode for a time step.
    pub fn mode(self, dt: f64) -> GradientMode {
        match self {
            GradientChoice::Exact => GradientMode::Exact,
            GradientChoice::Central { kappa } => GradientMode::ExactForwardCentral { kappa },
            GradientChoice::CentralAtSpeed { speed } => {
                GradientMode::ExactForwardCentral { kappa: GradientMode::kappa_of_speed(speed, dt) }
            }
        }
    }

    /// A model whose derivatives are so; `None` if it is this one.
    pub fn model(self, model: &Model) -> Result<Option<Model>, InputError> {
        let (mut options, mode) = (model.options().clone(), self.mode(model.options().dt));
        if let GradientMode::Central { kappa } = options.gradient {
            let what = "gradient of a model whose steps are on the central path, with kappa".into();
            let expected = "none but the model's own: another one belongs to other steps";
            return Err(InputError::Value { what, expected, got: kappa });
        }
        if let GradientChoice::CentralAtSpeed { speed } = self
            && !(speed.is_finite() && speed > 0.0)
        {
            return Err(InputError::Value { what: "speed".into(), expected: "a positive number", got: speed });
        }
        if mode == options.gradient {
            return Ok(None);
        }
        options.gradient = mode;
        model.with_options(options).map(Some)
    }
}

impl Batch {
    /// Calls `go`, in which all derivatives are in another mode than the models': steps are made again for them, from the same
    /// arguments, so that they are those of a batch of models with this mode. Those of a stored rollout fail. Refused if it
    /// fits no model of the batch.
    pub fn with_gradient<R>(
        &mut self,
        choice: GradientChoice,
        go: impl FnOnce(&mut Batch) -> R,
    ) -> Result<R, InputError> {
        choice.model(self.environments[0].model())?;
        let before = self.gradient.replace(choice);
        let result = go(self);
        self.gradient = before;
        Ok(result)
    }
}
