//! Free bodies that MuJoCo moves to their center of mass (`align`, `alignfree`): the frame of the body becomes that of its
//! principal axes of inertia, so that q and v of the free joint mean that frame.

use super::body::Link;
use super::compiler::Compiler;
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::xml::Element;
use slipstick_core::model::JointKind;
use slipstick_core::spatial::{Pose, Quat, Sym3};

/// Off-diagonal moments and turns below this are zero, eigenvalues nearer to each other equal: MuJoCo's bound.
const ZERO: f64 = 1e-12;

/// Whether the file or its compiler asks for it. `joint` is the only one of a body.
pub(super) fn is_asked_for(joint: Element, compiler: &Compiler) -> Result<bool, LoadError> {
    joint.one_of("align", &[("true", true), ("false", false), ("auto", compiler.align_free)], compiler.align_free)
}

/// Moves the frame of a link with one free joint to its inertia. `axes` are the axes of that where the file gives them.
pub(super) fn align(link: &mut Link, axes: Option<Quat>) {
    if !matches!(&link.joints[..], [joint] if joint.kind == JointKind::Free) {
        return;
    }
    let axes = axes.unwrap_or_else(|| principal(link.inertia.about_com));
    let frame = Pose::new(link.inertia.com, axes);
    let inverse = frame.inverse();
    (link.pose, link.turn) = (link.pose * frame, link.turn.compose(axes));
    link.inertia = link.inertia.moved(&inverse);
    link.geoms.iter_mut().for_each(|(_, geom)| geom.pose = inverse * geom.pose);
    link.sites.iter_mut().for_each(|site| site.pose = inverse * site.pose);
    let start = link.start();
    link.joints[0].start = Some(start);
}

/// Principal axes in MuJoCo's order and directions: the greatest moment is about x. Rotations of Jacobi, each one about the
/// axis of the greatest off-diagonal moment, as a quaternion.
pub(super) fn principal(inertia: Sym3) -> Quat {
    let mut turn = Quat::IDENTITY;
    let turned = |turn: Quat| inertia.rotated(&turn.to_matrix().transpose());
    for _ in 0..500 {
        let s = turned(turn);
        let (off, least, greatest, axis) = if s.xy.abs() > s.xz.abs() && s.xy.abs() > s.yz.abs() {
            (s.xy, s.xx, s.yy, 2)
        } else if s.xz.abs() > s.yz.abs() {
            (s.xz, s.xx, s.zz, 1)
        } else {
            (s.yz, s.yy, s.zz, 0)
        };
        if off.abs() < ZERO {
            break;
        }
        let tau = (greatest - least) / (2.0 * off);
        let sign = if tau >= 0.0 { 1.0 } else { -1.0 };
        let tangent = sign / (tau.abs() + (1.0 + tau * tau).sqrt());
        let cos = 1.0 / (1.0 + tangent * tangent).sqrt();
        if cos > 1.0 - ZERO {
            break;
        }
        let half = -sign * (0.5 - 0.5 * cos).sqrt() * if axis == 1 { -1.0 } else { 1.0 };
        turn = turned_about(turn, axis, half);
    }
    let s = turned(turn);
    let mut moments = [s.xx, s.yy, s.zz];
    for j in [0, 1, 0] {
        if moments[j] + ZERO < moments[j + 1] {
            moments.swap(j, j + 1);
            turn = turned_about(turn, (j + 2) % 3, 0.5f64.sqrt());
        }
    }
    turn
}

/// A further turn about an axis of its own, given the sine of half the angle.
fn turned_about(turn: Quat, axis: usize, sine: f64) -> Quat {
    let mut numbers = [(1.0 - sine * sine).sqrt(), 0.0, 0.0, 0.0];
    numbers[axis + 1] = sine;
    let product = turn.compose(Quat::from_slice(&numbers));
    product.normalized().unwrap_or(product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick_core::spatial::Vec3;

    #[test]
    fn moments_come_in_decreasing_order() {
        for (k, turn) in [[1.0, 0.2, -0.3, 0.4], [0.1, 0.9, 0.3, 0.2], [1.0, 0.0, 0.0, 0.0]].iter().enumerate() {
            let turn = Quat::from_slice(turn).normalized().unwrap();
            let inertia = Sym3::diagonal(Vec3::new(1.0, 3.0, 2.0)).rotated(&turn.to_matrix());
            let s = inertia.rotated(&principal(inertia).to_matrix().transpose());
            for (found, expected) in [(s.xx, 3.0), (s.yy, 2.0), (s.zz, 1.0), (s.xy, 0.0), (s.xz, 0.0), (s.yz, 0.0)] {
                // 1e-6: turns with a cosine of 1 − 1e-12 are not made any more
                assert!((found - expected).abs() < 1e-6, "{k}: {s:?}");
            }
        }
    }
}
