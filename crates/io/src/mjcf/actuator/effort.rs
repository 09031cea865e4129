//! Limits of tendons on the force of their actuators.

use super::Read;
use crate::mjcf::tendon::Tendons;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::model::Transmission;

/// A tendon's range limits the sum of the forces on it: of one actuator the force itself, before its own range does.
pub(super) fn limit_by_tendons(all: &mut [Read], section: Element, tendons: &Tendons, warnings: &mut Warnings) {
    for (number, range) in tendons.efforts() {
        let actuators = all.iter_mut().flat_map(|read| &mut read.actuator);
        let mut on: Vec<_> = actuators.filter(|a| a.transmission == Transmission::Tendon(number)).collect();
        match &mut on[..] {
            [] => {}
            [a] => {
                let clamp = |x: f64| a.force_range.map_or(x, |[lo, hi]| x.clamp(lo, hi));
                a.force_range = Some(range.map(clamp));
            }
            _ => {
                let name = &tendons.get(number).name;
                let effect = format!(
                    "actuatorfrcrange of tendon '{name}' is not supported with several actuators: the sum of their forces is not limited"
                );
                warnings.add(section, effect);
            }
        }
    }
}
