//! Pieces of SVG.

use std::fmt::Write;

/// A picture that is being written.
pub(crate) struct Svg(String);

/// Which way a text goes from its place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

pub(crate) const INK: &str = "#222222";
pub(crate) const GRID: &str = "#dddddd";
/// Colors that people with any kind of sight tell apart (Okabe and Ito), the strongest first.
const COLORS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a7a00"];

pub(crate) fn color(k: usize) -> &'static str {
    COLORS[k % COLORS.len()]
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Svg {
        Svg(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        ))
    }

    pub fn line(&mut self, a: [f64; 2], b: [f64; 2], color: &str) {
        self.put(format_args!("<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{color}\"/>", a[0], a[1], b[0], b[1]));
    }

    pub fn curve(&mut self, points: &[[f64; 2]], color: &str, dashed: bool) {
        let path: Vec<String> = points.iter().map(|[x, y]| format!("{x:.1} {y:.1}")).collect();
        let dash = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        self.put(format_args!(
            "<path d=\"M{}\" stroke=\"{color}\" stroke-width=\"2\" stroke-linejoin=\"round\" fill=\"none\"{dash}/>",
            path.join("L")
        ));
    }

    pub fn mark(&mut self, [x, y]: [f64; 2], color: &str) {
        self.put(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\"/>"));
    }

    /// A rectangle with two opposite corners.
    pub fn block(&mut self, a: [f64; 2], b: [f64; 2], color: &str) {
        let (x, y) = (a[0].min(b[0]), a[1].min(b[1]));
        let (width, height) = ((a[0] - b[0]).abs(), (a[1] - b[1]).abs());
        self.put(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\"/>"
        ));
    }

    pub fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, words: &str) {
        let (anchor, words) = (anchor.name(), escaped(words));
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{INK}\">{words}</text>"
        ));
    }

    pub fn title(&mut self, [x, y]: [f64; 2], words: &str) {
        let words = escaped(words);
        self.put(format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" font-weight=\"bold\" fill=\"{INK}\">{words}</text>"));
    }

    /// A text that rises to the right and ends at its place.
    pub fn slanted(&mut self, [x, y]: [f64; 2], words: &str) {
        let words = escaped(words);
        self.put(format_args!(
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-50)\" text-anchor=\"end\" font-size=\"10\" fill=\"{INK}\">{words}</text>"
        ));
    }

    pub fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    fn put(&mut self, piece: std::fmt::Arguments) {
        let _ = writeln!(self.0, "{piece}"); // a String takes everything
    }
}

/// About how wide a text is [px], without asking a font.
pub(crate) fn width(words: &str) -> f64 {
    6.7 * words.chars().count() as f64
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
