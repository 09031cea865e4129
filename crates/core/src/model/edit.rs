//! Named changes of the numbers of a model: masses of bodies, friction of geoms. The original stays as it is.

use super::{BodyId, Model, ParameterGroup};
use crate::error::InputError;

impl Model {
    /// This robot with other masses of bodies (kg), by name: `model.with_mass(&[("torso", 8.0)])`. The center of mass and
    /// the distribution of the mass stay, so that all ten inertial parameters of a body scale with it. A body has the mass
    /// of all links merged into it. Weight that gravity compensation takes off stays what it is.
    ///
    /// Memory made for this model serves the new one.
    pub fn with_mass(&self, masses: &[(&str, f64)]) -> Result<Model, InputError> {
        let mut parameters = self.parameters().clone();
        for (name, mass) in masses {
            let body = self.body(name).map_err(|unknown| self.fixed_link(name, *mass).unwrap_or(unknown))?;
            positive(*mass, || format!("mass of body '{name}'"))?;
            if body == BodyId::WORLD {
                let what = "mass of body 'world'".into();
                return Err(InputError::Value { what, expected: "a body that moves", got: *mass });
            }
            let first = 10 * (body.0 - 1);
            let ten = &mut parameters.group_mut(ParameterGroup::Inertial)[first..first + 10];
            positive(ten[0], || format!("mass of body '{name}' before the change, which is scaled"))?;
            let scale = mass / ten[0];
            ten.iter_mut().for_each(|x| *x *= scale);
            ten[0] = *mass;
        }
        self.with_parameters(parameters)
    }

    /// A link that is merged into a body has no mass to be set.
    fn fixed_link(&self, name: &str, got: f64) -> Option<InputError> {
        let frame = &self.frames()[self.frame(name).ok()?.0];
        let body = &self.bodies()[frame.body.0].name;
        let what = format!("mass of '{name}', which is fixed to body '{body}'");
        Some(InputError::Value { what, expected: "the mass of a whole body, by its name", got })
    }

    /// This robot with other friction of geoms, by name. A contact has the larger coefficient of its two geoms unless one
    /// has priority, so that to lower only one of them may change nothing: see [`ParameterGroup::Friction`].
    /// Explicit pairs of a file keep their own friction.
    ///
    /// Memory made for this model serves the new one.
    pub fn with_friction(&self, friction: &[(&str, f64)]) -> Result<Model, InputError> {
        let mut parameters = self.parameters().clone();
        for (name, mu) in friction {
            let geom = self.geom(name)?;
            not_negative(*mu, || format!("friction of geom '{name}'"))?;
            parameters.group_mut(ParameterGroup::Friction)[geom.0] = *mu;
        }
        self.with_parameters(parameters)
    }

    /// This robot with one friction for all contacts: that of every geom, and that of the explicit pairs of a file.
    /// Geoms and pairs without friction (`condim` 1) stay frictionless.
    ///
    /// Memory made for this model serves the new one, unless an explicit pair has changed.
    pub fn with_uniform_friction(&self, friction: f64) -> Result<Model, InputError> {
        not_negative(friction, || "friction".into())?;
        let mut parameters = self.parameters().clone();
        parameters.group_mut(ParameterGroup::Friction).fill(friction);
        Ok(self.with_parameters(parameters)?.with_explicit_friction(friction))
    }
}

fn positive(x: f64, what: impl Fn() -> String) -> Result<(), InputError> {
    check(x.is_finite() && x > 0.0, what, "a positive number", x)
}

/// A coefficient or gain.
pub(super) fn not_negative(x: f64, what: impl Fn() -> String) -> Result<(), InputError> {
    check(x.is_finite() && x >= 0.0, what, "zero or a positive number", x)
}

fn check(ok: bool, what: impl Fn() -> String, expected: &'static str, got: f64) -> Result<(), InputError> {
    if ok { Ok(()) } else { Err(InputError::Value { what: what(), expected, got }) }
}
