//! The numbers of a model obey the same rules when they are replaced as when it is built.

use super::{ParameterGroup, Parameters, PrimitiveKind, Structure};
use crate::error::InputError;
use crate::spatial::Quat;

const NOT_NEGATIVE: &str = "zero or a positive number";

pub(super) fn parameters(s: &Structure, p: &Parameters) -> Result<(), InputError> {
    crate::input_check::vector("parameters", p.values(), p.layout().len())?;
    for group in ParameterGroup::ALL {
        if let Some((k, expected)) = first_wrong(s, group, p.group(group)) {
            let index = p.layout().range(group).start + k;
            let what = p.layout().name(index).unwrap_or_default();
            return Err(InputError::Value { what, expected, got: p.values()[index] });
        }
    }
    Ok(())
}

/// The first number of a group that makes no sense, and what it must be. Inertias may be indefinite: a search over
/// parameters may pass through such points, and a mass matrix that is not positive definite is an error where it matters.
fn first_wrong(s: &Structure, group: ParameterGroup, x: &[f64]) -> Option<(usize, &'static str)> {
    match group {
        ParameterGroup::Armature
        | ParameterGroup::Damping
        | ParameterGroup::Stiffness
        | ParameterGroup::DryFriction
        | ParameterGroup::Friction
        | ParameterGroup::Compliance => x.iter().position(|x| *x < 0.0).map(|k| (k, NOT_NEGATIVE)),
        ParameterGroup::Restitution => {
            x.iter().position(|x| !(0.0..=1.0).contains(x)).map(|k| (k, "a number from 0 to 1"))
        }
        ParameterGroup::ShapeSize => {
            let used = |k: usize| k % 3 < s.geoms[k / 3].shape.n_sizes();
            (0..x.len()).find(|k| used(*k) && x[*k] <= 0.0).map(|k| (k, "a positive number"))
        }
        ParameterGroup::MeshScale => x.iter().position(|x| *x <= 0.0).map(|k| (k, "a positive number")),
        ParameterGroup::Inertial => x.chunks(10).enumerate().find_map(|(i, ten)| {
            let offset = (1..4).find(|k| ten[0] == 0.0 && ten[*k] != 0.0);
            match offset {
                _ if ten[0] < 0.0 => Some((10 * i, NOT_NEGATIVE)),
                Some(k) => Some((10 * i + k, "zero, since the mass is zero")),
                None => None,
            }
        }),
        ParameterGroup::SpringReference => {
            let mut balls = s.tree.primitives.iter().filter(|b| b.kind == PrimitiveKind::Ball);
            let zero = balls.find(|b| !Quat::from_slice(&x[b.q..]).has_direction());
            zero.map(|b| (b.q, "a quaternion that is not zero"))
        }
        ParameterGroup::JointPlacement | ParameterGroup::Gravity | ParameterGroup::Actuator => None,
    }
}
