//! Contacts as a page shows them.

use crate::encode;
use serde_json::{Value, json};
use slipstick::model::BodyId;
use slipstick::spatial::Vec3;
use slipstick::step::{ConstraintView, ContactView};
use slipstick::{Mode, Step};

/// Numbers of a mark, as `web/src/motion.js` reads them.
const NUMBERS: usize = 16;
/// Bit of a mode that says: a derivative here may be valid on one side only.
const UNDECIDED: u8 = 4;

/// A contact of the step that led to a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mark {
    geoms: [u32; 2],
    /// Where, world axes (m).
    point: Vec3,
    /// Force on the body that can move, world axes (N).
    force: Vec3,
    /// The normal on the side of that body.
    normal: Vec3,
    distance: f64,
    friction: f64,
    margin: f64,
    /// Changes of velocity that open it (or close it) and that make it slip (or stick) (m/s); NaN: not known.
    changes: [f64; 2],
    /// Forces that do so while it sticks (N); NaN: not known.
    reserves: [f64; 2],
    mode: u8,
}

impl Mark {
    /// A contact of a step of length `dt` (s). Its force acts on body 2, or, where that is the world, on body 1.
    pub fn new(contact: &ContactView, dt: f64) -> Mark {
        let sign = if contact.bodies[1] == BodyId::WORLD { -1.0 } else { 1.0 };
        Mark {
            geoms: contact.geoms.map(|g| g.0 as u32),
            point: contact.point,
            force: contact.impulse * (sign / dt),
            normal: contact.frame.c[2] * sign,
            distance: contact.distance,
            friction: contact.friction,
            margin: contact.margin,
            changes: [f64::NAN; 2],
            reserves: [f64::NAN; 2],
            mode: mode_number(contact.mode),
        }
    }

    /// With what [`Step::explain`] says about it.
    fn explained(self, constraint: &ConstraintView) -> Mark {
        let undecided = if constraint.degenerate { UNDECIDED } else { 0 };
        Mark {
            changes: [constraint.opening, constraint.slipping],
            reserves: constraint.reserve,
            mode: mode_number(constraint.mode) | undecided,
            ..self
        }
    }

    /// All contacts of a step.
    pub fn of_step(step: &mut Step) -> Vec<Mark> {
        let dt = step.model().options().dt;
        let mut marks: Vec<Mark> = step.contacts().map(|c| Mark::new(&c, dt)).collect();
        for constraint in step.constraints() {
            if let Some(mark) = constraint.contact.and_then(|k| marks.get_mut(k)) {
                *mark = mark.explained(&constraint);
            }
        }
        marks
    }

    fn numbers(&self) -> [f64; NUMBERS] {
        let ([px, py, pz], [fx, fy, fz], [nx, ny, nz]) =
            (self.point.to_array(), self.force.to_array(), self.normal.to_array());
        let ([opens, slips], [opening, slipping]) = (self.changes, self.reserves);
        [px, py, pz, fx, fy, fz, nx, ny, nz, self.distance, self.friction, self.margin, opens, slips, opening, slipping]
    }
}

/// As `MODES` in `web/src/contacts.js`.
fn mode_number(mode: Mode) -> u8 {
    match mode {
        Mode::Break => 0,
        Mode::Stick => 1,
        Mode::Slide => 2,
    }
}

/// The marks of all frames, one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    /// Where those of each frame end.
    ends: Vec<u32>,
    geoms: Vec<u32>,
    numbers: Vec<f32>,
    modes: Vec<u8>,
}

impl Marks {
    pub fn bytes(&self) -> usize {
        4 * (self.ends.len() + self.geoms.len() + self.numbers.len()) + self.modes.len()
    }

    /// Those of another frame.
    pub fn push(&mut self, marks: &[Mark]) {
        for mark in marks {
            self.geoms.extend(mark.geoms);
            self.numbers.extend(mark.numbers().map(|x| x as f32));
            self.modes.push(mark.mode);
        }
        self.ends.push(self.modes.len() as u32);
    }

    /// Removes those of the last frame.
    pub fn pop(&mut self) {
        self.ends.pop();
        let left = self.ends.last().map_or(0, |end| *end as usize);
        self.geoms.truncate(2 * left);
        self.numbers.truncate(NUMBERS * left);
        self.modes.truncate(left);
    }

    pub fn to_json(&self) -> Value {
        json!({
            "ends": encode::integers(&self.ends),
            "geoms": encode::integers(&self.geoms),
            "numbers": encode::floats(&self.numbers),
            "modes": encode::octets(&self.modes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick::model::GeomId;
    use slipstick::spatial::Mat3;

    fn contact(x: f64) -> ContactView {
        ContactView::new([GeomId(0), GeomId(1)], [BodyId(0), BodyId(1)], Vec3::new(x, 0.0, 0.0), Mat3::IDENTITY)
    }

    #[test]
    fn frames_without_contacts_leave_the_marks_of_others_alone() {
        let mut marks = Marks::default();
        marks.push(&[Mark::new(&contact(1.0), 0.1), Mark::new(&contact(2.0), 0.1)]);
        marks.push(&[]);
        marks.push(&[Mark::new(&contact(3.0), 0.1)]);
        assert_eq!(marks.ends, [2, 2, 3]);
        marks.pop();
        assert_eq!((marks.ends.len(), marks.modes.len(), marks.geoms.len(), marks.numbers.len()), (2, 2, 4, 32));
    }

    #[test]
    fn the_force_is_that_on_the_body_that_can_move() {
        let mut c = contact(0.0);
        c.impulse = Vec3::new(0.0, 0.0, 2.0);
        let on_second = Mark::new(&c, 0.5);
        assert_eq!((on_second.force.z, on_second.normal.z), (4.0, 1.0));
        c.bodies = [BodyId(1), BodyId(0)];
        let on_first = Mark::new(&c, 0.5);
        assert_eq!((on_first.force.z, on_first.normal.z), (-4.0, -1.0));
    }
}
