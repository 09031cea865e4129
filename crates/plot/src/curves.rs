//! Curves and marks.

use crate::axis::Axis;
use crate::svg::Svg;

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its line of the legend. The same name has the same color in all panels of a figure.
    pub name: String,
    /// x and y of each point; what is not a number is left out.
    pub points: Vec<(f64, f64)>,
    pub(crate) dashed: bool,
    pub(crate) marked: bool,
}

impl Series {
    /// A plain line.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.into(), points, dashed: false, marked: false }
    }

    /// Drawn as a dashed line.
    pub fn dashed(self) -> Series {
        Series { dashed: true, ..self }
    }

    /// Drawn with a mark at every point.
    pub fn marked(self) -> Series {
        Series { marked: true, ..self }
    }

    fn places(&self, x: &Axis, y: &Axis) -> Vec<[f64; 2]> {
        self.points.iter().filter_map(|p| Some([x.place(p.0)?, y.place(p.1)?])).collect()
    }

    pub(crate) fn draw_curve(&self, svg: &mut Svg, x: &Axis, y: &Axis, color: &str) {
        let places = self.places(x, y);
        if places.len() > 1 {
            svg.curve(&places, color, self.dashed);
        }
        // a single point would not be seen
        if self.marked || places.len() == 1 {
            places.iter().for_each(|p| svg.mark(*p, color));
        }
    }

    pub(crate) fn draw_marks(&self, svg: &mut Svg, x: &Axis, y: &Axis, color: &str) {
        self.places(x, y).iter().for_each(|p| svg.mark(*p, color));
    }
}
