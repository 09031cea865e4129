//! Panels side by side, and what the colors mean.

use crate::axis::{Axis, Scale};
use crate::bars::Bars;
use crate::curves::Series;
use crate::svg::{Anchor, GRID, INK, Svg, color, width};

/// A pair of axes and what is drawn on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    title: String,
    /// Of x and y.
    labels: [String; 2],
    scales: [Scale; 2],
    content: Content,
    y_range: Option<[f64; 2]>,
    size: [f64; 2],
}

#[derive(Debug, Clone, PartialEq)]
enum Content {
    Curves(Vec<Series>),
    Marks { series: Vec<Series>, diagonal: bool },
    Bars(Bars),
}

/// Space around the axes of a panel [px].
const LEFT: f64 = 58.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 46.0;
const BOTTOM: f64 = 44.0;
/// Between labels of bars and the axis: names are long.
const NAMES: f64 = 74.0;
/// A line of the legend.
const LINE: f64 = 20.0;
/// Width of a place for bars.
const PLACE: f64 = 26.0;

impl Panel {
    /// Lines.
    pub fn curves(title: &str, labels: [&str; 2], scales: [Scale; 2], series: Vec<Series>) -> Panel {
        Panel::new(title, labels, scales, Content::Curves(series), [300.0, 230.0])
    }

    /// Points without lines.
    pub fn marks(title: &str, labels: [&str; 2], scales: [Scale; 2], series: Vec<Series>) -> Panel {
        Panel::new(title, labels, scales, Content::Marks { series, diagonal: false }, [300.0, 230.0])
    }

    /// Bars on a linear axis, as wide as their number asks for.
    pub fn bars(title: &str, y_label: &str, bars: Bars) -> Panel {
        let size = [(PLACE * bars.labels.len() as f64).max(300.0), 230.0];
        Panel::new(title, ["", y_label], [Scale::Linear; 2], Content::Bars(bars), size)
    }

    fn new(title: &str, labels: [&str; 2], scales: [Scale; 2], content: Content, size: [f64; 2]) -> Panel {
        Panel { title: title.into(), labels: labels.map(Into::into), scales, content, y_range: None, size }
    }

    /// Other limits than the least and the largest y.
    pub fn with_y(self, low: f64, high: f64) -> Panel {
        Panel { y_range: Some([low, high]), ..self }
    }

    /// A larger panel: for a figure of one.
    pub fn wide(self) -> Panel {
        Panel { size: [550.0, 340.0], ..self }
    }

    /// Marks on axes of the same length of numbers, with a line where x and y are equal.
    pub fn with_diagonal(mut self) -> Panel {
        if let Content::Marks { diagonal, .. } = &mut self.content {
            *diagonal = true;
        }
        self
    }

    fn series(&self) -> &[Series] {
        match &self.content {
            Content::Curves(series) | Content::Marks { series, .. } => series,
            Content::Bars(_) => &[],
        }
    }

    /// Names that the legend explains, and whether their line is dashed.
    fn names(&self) -> Vec<(&str, bool)> {
        match &self.content {
            Content::Bars(bars) => bars.groups.iter().map(|g| (g.0.as_str(), false)).collect(),
            _ => self.series().iter().map(|s| (s.name.as_str(), s.dashed)).collect(),
        }
    }

    /// With the space around its axes.
    fn outer(&self) -> [f64; 2] {
        let names = if matches!(self.content, Content::Bars(_)) { NAMES - BOTTOM } else { 0.0 };
        [LEFT + self.size[0] + RIGHT, TOP + self.size[1] + BOTTOM + names]
    }

    /// Axes of a panel that begins `left` from the figure's edge.
    fn axes(&self, left: f64) -> [Axis; 2] {
        let (across, up) = ([left + LEFT, left + LEFT + self.size[0]], [TOP + self.size[1], TOP]);
        let points = || self.series().iter().flat_map(|s| s.points.iter().copied());
        let x = Axis::over(self.scales[0], points().map(|p| p.0), across);
        let y = match (&self.content, self.y_range) {
            (_, Some(range)) => Axis::between(self.scales[1], range, up),
            (Content::Bars(bars), None) => Axis::over(Scale::Linear, bars.numbers(), up),
            _ => Axis::over(self.scales[1], points().map(|p| p.1), up),
        };
        match self.content {
            Content::Marks { diagonal: true, .. } => {
                let both = x.joined(&y);
                [both.on(across), both.on(up)]
            }
            _ => [x, y],
        }
    }

    fn draw(&self, svg: &mut Svg, left: f64, color: impl Fn(&str) -> &'static str) {
        let ([x, y], [width, height]) = (self.axes(left), self.size);
        let (left, floor) = (left + LEFT, TOP + height);
        svg.title([left, 18.0], &self.title);
        svg.text([left, TOP - 9.0], Anchor::Start, &self.labels[1]);
        svg.text([left + 0.5 * width, floor + 36.0], Anchor::Middle, &self.labels[0]);
        for (at, text) in y.ticks() {
            svg.line([left, at], [left + width, at], GRID);
            svg.text([left - 6.0, at + 4.0], Anchor::End, &text);
        }
        if !matches!(self.content, Content::Bars(_)) {
            for (at, text) in x.ticks() {
                svg.line([at, TOP], [at, floor], GRID);
                svg.text([at, floor + 18.0], Anchor::Middle, &text);
            }
            svg.line([left, floor], [left + width, floor], INK);
        }
        svg.line([left, TOP], [left, floor], INK);
        match &self.content {
            Content::Curves(series) => series.iter().for_each(|s| s.draw_curve(svg, &x, &y, color(&s.name))),
            Content::Marks { series, diagonal } => {
                if *diagonal {
                    svg.line([left, floor], [left + width, TOP], INK);
                }
                series.iter().for_each(|s| s.draw_marks(svg, &x, &y, color(&s.name)));
            }
            Content::Bars(bars) => bars.draw(svg, [left, left + width], floor, &y, color),
        }
    }
}

/// Panels from left to right, and a legend below them.
pub fn figure(panels: &[Panel]) -> String {
    let mut names: Vec<(&str, bool)> = Vec::new();
    for name in panels.iter().flat_map(Panel::names) {
        if names.iter().all(|n| n.0 != name.0) {
            names.push(name);
        }
    }
    let total: f64 = panels.iter().map(|p| p.outer()[0]).sum();
    let floor = panels.iter().fold(0.0f64, |h, p| h.max(p.outer()[1]));
    let places = legend_places(&names, total);
    let rows = places.last().map_or(0.0, |p| p[1] + 1.0);
    let mut svg = Svg::new(total, floor + LINE * rows + 8.0);
    let of = |name: &str| color(names.iter().position(|n| n.0 == name).unwrap_or(0));
    let mut left = 0.0;
    for panel in panels {
        panel.draw(&mut svg, left, of);
        left += panel.outer()[0];
    }
    for ((name, dashed), [x, row]) in names.iter().zip(places) {
        let y = floor + LINE * row + 10.0;
        svg.curve(&[[x, y - 4.0], [x + 24.0, y - 4.0]], of(name), *dashed);
        svg.text([x + 30.0, y], Anchor::Start, name);
    }
    svg.finish()
}

/// Where each line of the legend begins, and in which row: from left to right, then from the left again.
fn legend_places(names: &[(&str, bool)], total: f64) -> Vec<[f64; 2]> {
    let (mut x, mut row) = (LEFT, 0.0);
    let mut place = |name: &str| {
        let needed = 30.0 + width(name) + 18.0;
        if x > LEFT && x + needed > total {
            (x, row) = (LEFT, row + 1.0);
        }
        let here = [x, row];
        x += needed;
        here
    };
    names.iter().map(|n| place(n.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of an attribute, in the order in which they stand.
    fn numbers(svg: &str, attribute: &str) -> Vec<f64> {
        let key = format!(" {attribute}=\"");
        svg.split(&key).skip(1).map(|part| part.split('"').next().unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn every_point_lies_inside_its_axes() {
        let series = Series::new("a", vec![(100.0, 0.1), (3000.0, 80.0), (500.0, f64::NAN)]).marked();
        let svg = figure(&[Panel::curves("t", ["x", "y"], [Scale::Log; 2], vec![series])]);
        let (x, y) = (numbers(&svg, "cx"), numbers(&svg, "cy"));
        assert_eq!(x.len(), 2);
        assert!(
            x.iter().all(|x| (LEFT..=LEFT + 300.0).contains(x)) && y.iter().all(|y| (TOP..=TOP + 230.0).contains(y))
        );
    }

    #[test]
    fn equal_numbers_lie_on_the_diagonal() {
        let series = Series::new("a", vec![(30.0, 30.0), (2.0, 700.0)]);
        let panel = Panel::marks("", ["x", "y"], [Scale::Log; 2], vec![series]).with_diagonal();
        let svg = figure(&[panel]);
        let (along, up) = ((numbers(&svg, "cx")[0] - LEFT) / 300.0, (TOP + 230.0 - numbers(&svg, "cy")[0]) / 230.0);
        assert!((along - up).abs() < 1e-3);
    }

    #[test]
    fn a_name_has_one_color_in_all_panels_and_one_line_in_the_legend() {
        let series = |name: &str| Series::new(name, vec![(1.0, 1.0), (2.0, 3.0)]);
        let panel = |names: &[&str]| {
            let all = names.iter().map(|n| series(n)).collect();
            Panel::curves("", ["x", "y"], [Scale::Linear; 2], all)
        };
        let svg = figure(&[panel(&["first", "second"]), panel(&["second"])]);
        assert_eq!(svg.matches(">second</text>").count(), 1);
        let strokes = svg.matches(&format!("stroke=\"{}\" stroke-width", color(1))).count();
        assert_eq!(strokes, 3, "two curves and a line of the legend");
    }

    #[test]
    fn bars_stand_on_zero_and_hang_from_it() {
        let groups = vec![("torque".to_string(), vec![2.0, -1.0])];
        let bars = Bars { labels: vec!["hip".into(), "knee".into()], groups, limits: vec![3.0, f64::INFINITY] };
        let svg = figure(&[Panel::bars("", "N m", bars)]);
        let bars: Vec<&str> = svg.lines().filter(|l| l.starts_with("<rect x")).collect();
        assert_eq!(bars.len(), 2);
        let of = |line: &str, name: &str| numbers(line, name)[0];
        assert!((of(bars[0], "height") / of(bars[1], "height") - 2.0).abs() < 0.01);
        assert!((of(bars[0], "y") + of(bars[0], "height") - of(bars[1], "y")).abs() < 0.2);
    }

    #[test]
    fn words_cannot_break_the_picture() {
        let series = Series::new("a < b & c", vec![(0.0, 0.0)]);
        let svg = figure(&[Panel::curves("<b>", ["", ""], [Scale::Linear; 2], vec![series])]);
        assert!(svg.contains("a &lt; b &amp; c") && svg.contains("&lt;b&gt;") && !svg.contains("<b>"));
    }

    #[test]
    fn a_long_legend_takes_several_lines_inside_the_figure() {
        let names: Vec<String> = (0..9).map(|k| format!("a rather long name {k}")).collect();
        let pairs: Vec<(&str, bool)> = names.iter().map(|n| (n.as_str(), false)).collect();
        let places = legend_places(&pairs, 400.0);
        assert!(places.last().unwrap()[1] >= 4.0 && places.iter().all(|p| p[0] < 400.0));
    }
}
