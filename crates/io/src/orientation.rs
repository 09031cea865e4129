//! The many ways in which files write a rotation.

use crate::attribute::Attributes;
use crate::error::LoadError;
use slipstick_core::spatial::{Mat3, Quat, Vec3};

/// Units and order of the angles of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Angles {
    /// Radians per unit.
    pub unit: f64,
    /// Axes of the three Euler angles; lower case: axes that turn along, upper case: axes that stay.
    pub euler_sequence: [u8; 3],
}

impl Default for Angles {
    fn default() -> Angles {
        Angles { unit: std::f64::consts::PI / 180.0, euler_sequence: *b"xyz" }
    }
}

/// Attributes that turn something.
const FORMS: [&str; 5] = ["quat", "axisangle", "xyaxes", "zaxis", "euler"];

/// The orientation of a MJCF element: quat, axisangle, xyaxes, zaxis or euler.
pub(crate) fn orientation<'a>(from: &impl Attributes<'a>, angles: &Angles) -> Result<Quat, LoadError> {
    let element = from.element();
    let own = FORMS.into_iter().filter(|f| element.text(f).is_some());
    if own.clone().count() > 1 {
        let forms = own.collect::<Vec<_>>().join(" and ");
        return Err(element.structure("one of quat, axisangle, xyaxes, zaxis, euler", forms));
    }
    // what the element says itself goes before the forms that its class may use
    let order = own.chain(FORMS.into_iter().rev());
    let Some(attribute) = order.into_iter().find_map(|f| from.attribute(f)) else { return Ok(Quat::IDENTITY) };
    let turn = match attribute.name {
        "quat" => Quat::from_slice(&attribute.array::<4>()?).normalized(),
        "axisangle" => {
            let [x, y, z, angle] = attribute.array()?;
            Vec3::new(x, y, z).normalized().map(|axis| Quat::exp(axis * (angle * angles.unit)))
        }
        "xyaxes" => xy_axes(attribute.array()?),
        "zaxis" => Vec3::from(attribute.array::<3>()?).normalized().map(z_to),
        _ => Some(euler(attribute.array()?, angles)),
    };
    turn.ok_or_else(|| attribute.wrong("numbers that describe a rotation"))
}

/// The shortest rotation that takes z to a unit vector.
pub(crate) fn z_to(to: Vec3) -> Quat {
    let axis = Vec3::UNITS[2].cross(to);
    let sine = axis.norm();
    // 1e-10: below it the axis is noise; about x is as good as any
    let axis = if sine < 1e-10 { Vec3::UNITS[0] } else { axis * (1.0 / sine) };
    Quat::exp(axis * sine.atan2(to.z))
}

fn xy_axes(numbers: [f64; 6]) -> Option<Quat> {
    let x = Vec3::from_slice(&numbers).normalized()?;
    let y = Vec3::from_slice(&numbers[3..]);
    let y = (y - x * x.dot(y)).normalized()?;
    Some(Quat::from_matrix(&Mat3::from_columns(x, y, x.cross(y))))
}

/// Three turns one after the other, as the sequence says.
pub(crate) fn euler(numbers: [f64; 3], angles: &Angles) -> Quat {
    let mut turn = Quat::IDENTITY;
    for (letter, angle) in angles.euler_sequence.into_iter().zip(numbers) {
        let axis = Vec3::UNITS[(letter.to_ascii_lowercase() - b'x') as usize];
        let step = Quat::exp(axis * (angle * angles.unit));
        turn = if letter.is_ascii_lowercase() { turn.compose(step) } else { step.compose(turn) };
    }
    turn
}

/// URDF's roll, pitch, yaw: about the fixed axes x, y, z in this order (rad).
pub(crate) fn roll_pitch_yaw(rpy: [f64; 3]) -> Quat {
    euler(rpy, &Angles { unit: 1.0, euler_sequence: *b"XYZ" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Document;
    use slipstick_core::spatial::vec3;

    fn read(attributes: &str, angles: &Angles) -> Result<Quat, LoadError> {
        let mut d = Document::default();
        let root = d.add("f", &format!("<geom {attributes}/>")).unwrap();
        orientation(&d.element(root), angles)
    }

    #[test]
    fn all_forms_of_a_quarter_turn_about_z_agree() {
        let angles = Angles::default();
        let forms = ["quat='2 0 0 2'", "axisangle='0 0 3 90'", "euler='0 0 90'", "xyaxes='0 1 0 -1 5 0'"];
        for form in forms {
            let x = read(form, &angles).unwrap().to_matrix() * vec3(1.0, 0.0, 0.0);
            assert!((x - vec3(0.0, 1.0, 0.0)).norm() < 1e-15, "{form}: {x:?}");
        }
        let z = read("zaxis='0 -2 0'", &angles).unwrap().to_matrix() * vec3(0.0, 0.0, 1.0);
        assert!((z - vec3(0.0, -1.0, 0.0)).norm() < 1e-15);
    }

    #[test]
    fn upper_case_sequences_turn_about_fixed_axes() {
        let moving = Angles { unit: 1.0, euler_sequence: *b"zyx" };
        let a = read("euler='0.3 0.2 0.1'", &moving).unwrap().to_array();
        let b = roll_pitch_yaw([0.1, 0.2, 0.3]).to_array();
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn two_forms_at_once_and_empty_directions_are_refused() {
        let angles = Angles::default();
        assert!(matches!(read("quat='1 0 0 0' euler='0 0 0'", &angles), Err(LoadError::Structure { .. })));
        for form in ["quat='0 0 0 0'", "axisangle='0 0 0 1'", "xyaxes='1 0 0 2 0 0'", "zaxis='0 0 0'"] {
            assert!(matches!(read(form, &angles), Err(LoadError::Value { .. })), "{form}");
        }
    }
}
