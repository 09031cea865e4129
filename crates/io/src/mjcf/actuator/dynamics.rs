//! What stands between control and force (`dyntype`, `dynprm`, `actearly`, `actrange`), and which groups act at all.

use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::mjcf::defaults::Properties;
use crate::mjcf::joint::limits;
use crate::xml::Element;
use slipstick_core::model::{Activation, Dynamics};

/// Groups that can be switched off.
const GROUPS: core::ops::RangeInclusive<i32> = 0..=30;

/// How an activation follows its control, while layers of defaults are laid over each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Filter {
    pub kind: Kind,
    pub time: f64,
}

/// Kinds of dynamics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    None,
    Integrator,
    Filter,
    ExactFilter,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter { kind: Kind::None, time: 1.0 }
    }
}

impl Filter {
    /// Lays `<general>` over it; a name that is unknown is given back.
    pub fn general<'a>(&mut self, e: Element<'a>) -> Result<Option<&'a str>, LoadError> {
        if let Some(numbers) = e.attribute("dynprm") {
            self.time = numbers.floats(1..=usize::MAX)?[0];
        }
        self.kind = match e.text("dyntype") {
            None => self.kind,
            Some("none") => Kind::None,
            Some("integrator") => Kind::Integrator,
            Some("filter") => Kind::Filter,
            Some("filterexact") => Kind::ExactFilter,
            Some(other) => return Ok(Some(other)),
        };
        Ok(None)
    }

    /// The filter of a position servo, if it has one.
    pub fn servo(&mut self, e: Element) -> Result<(), LoadError> {
        let Some(time) = e.float("timeconst")? else { return Ok(()) };
        if time < 0.0 {
            return Err(e.required("timeconst")?.wrong("zero or a positive number"));
        }
        *self = Filter { kind: if time > 0.0 { Kind::ExactFilter } else { Kind::None }, time };
        Ok(())
    }

    /// The activation, with its attributes of all layers. `inherited`: the range that comes from the joint, if any.
    pub fn activation(
        self,
        element: Element,
        p: &Properties,
        inherited: Option<[f64; 2]>,
        autolimits: bool,
    ) -> Result<Option<Activation>, LoadError> {
        let range = match inherited {
            None => limits(p, "actlimited", "actrange", autolimits)?,
            range => range,
        };
        let time_constant = self.time.max(0.0);
        let dynamics = match self.kind {
            Kind::None if range.is_some() => {
                return Err(element.structure("dyntype, as actrange asks", "an actuator without an activation"));
            }
            Kind::None => return Ok(None),
            Kind::Integrator => Dynamics::Integrator,
            Kind::Filter => Dynamics::Filter { time_constant },
            Kind::ExactFilter => Dynamics::ExactFilter { time_constant },
        };
        Ok(Some(Activation { range, early: p.flag("actearly", false)?, ..Activation::new(dynamics) }))
    }
}

/// Groups that the file switches off.
pub(super) fn disabled_groups(root: Element) -> Result<Vec<i32>, LoadError> {
    let mut groups = Vec::new();
    for attribute in root.all("option").filter_map(|o| o.attribute("actuatorgroupdisable")) {
        groups.clear(); // the last one counts
        for number in attribute.floats(0..=usize::MAX)? {
            let group = number as i32;
            if f64::from(group) != number || !GROUPS.contains(&group) {
                return Err(attribute.wrong("whole numbers from 0 to 30"));
            }
            groups.push(group);
        }
    }
    Ok(groups)
}

/// Activations that MuJoCo has for an actuator which the model cannot have: so many numbers of keyframes are skipped.
pub(super) fn activations_of_dropped(element: Element, p: &Properties) -> Result<usize, LoadError> {
    let stateful = p.attribute("dyntype").is_some_and(|a| a.value != "none");
    Ok(match element.name() {
        "muscle" => 1,
        "general" if stateful => p.integer("actdim", 1)?.max(1) as usize,
        _ => 0,
    })
}
