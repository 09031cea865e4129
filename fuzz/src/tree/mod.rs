//! Valid MJCF at random, with every element that the reader knows.

mod body;
mod parts;
mod sensors;

use slipstick::random::Rng;
use std::fmt::Write;

/// A text that grows, and the names in it that later elements may use.
#[derive(Debug)]
pub struct Tree {
    rng: Rng,
    xml: String,
    /// Bodies that move and are no mocap bodies.
    bodies: Vec<String>,
    mocap: usize,
    geoms: Vec<String>,
    sites: Vec<String>,
    /// Hinges and slides; ball joints.
    joints: Vec<String>,
    balls: Vec<String>,
    tendons: Vec<String>,
    actuators: Vec<String>,
    /// Numbers in qpos: a quaternion is `Turn`.
    qpos: Vec<Coordinate>,
    nv: usize,
    na: usize,
    /// Whether angles are in degrees.
    degrees: bool,
}

/// What a number of qpos belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Coordinate {
    Number,
    Turn,
}

/// The text of a random model.
pub fn mjcf(rng: Rng) -> String {
    let mut t = Tree {
        rng,
        xml: String::new(),
        bodies: Vec::new(),
        mocap: 0,
        geoms: Vec::new(),
        sites: Vec::new(),
        joints: Vec::new(),
        balls: Vec::new(),
        tendons: Vec::new(),
        actuators: Vec::new(),
        qpos: Vec::new(),
        nv: 0,
        na: 0,
        degrees: false,
    };
    t.line("<mujoco model=\"random\">".into());
    t.settings();
    t.defaults();
    t.assets();
    t.world();
    t.contacts();
    t.couplings();
    t.drives();
    t.sensors();
    t.keyframes();
    t.line("</mujoco>".into());
    t.xml
}

impl Tree {
    fn line(&mut self, text: String) {
        self.xml += &text;
        self.xml.push('\n');
    }

    /// One of several words.
    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.rng.below(words.len())]
    }

    /// A name out of a list.
    fn name_of(&mut self, of: fn(&Tree) -> &Vec<String>) -> Option<String> {
        let n = of(self).len();
        (n > 0).then(|| self.rng.below(n)).map(|k| of(self)[k].clone())
    }

    fn number(&mut self, low: f64, high: f64) -> String {
        format!("{:.4}", self.rng.between(low, high))
    }

    fn numbers(&mut self, n: usize, low: f64, high: f64) -> String {
        (0..n).map(|_| self.number(low, high)).collect::<Vec<_>>().join(" ")
    }

    /// A unit quaternion, to four digits.
    fn turn(&mut self) -> String {
        let q = self.rng.orientation();
        q.to_array().map(|x| format!("{x:.4}")).join(" ")
    }

    fn axis(&mut self) -> String {
        match self.rng.below(5) {
            0 => "1 0 0".into(),
            1 => "0 1 0".into(),
            2 => "0 0 1".into(),
            _ => self.rng.direction().to_array().map(|x| format!("{x:.4}")).join(" "),
        }
    }

    /// The attribute with a probability of one half.
    fn maybe(&mut self, attribute: impl FnOnce(&mut Tree) -> String) -> String {
        if self.rng.chance(0.5) { format!(" {}", attribute(self)) } else { String::new() }
    }

    /// An angle (rad) in the unit of the file.
    fn angle(&mut self, low: f64, high: f64) -> f64 {
        let angle = self.rng.between(low, high);
        if self.degrees { angle.to_degrees() } else { angle }
    }

    /// Any attribute that says how a part is turned.
    fn orientation(&mut self) -> String {
        match self.rng.below(6) {
            0 => format!("quat=\"{}\"", self.turn()),
            1 => format!("axisangle=\"{} {:.4}\"", self.axis(), self.angle(-3.0, 3.0)),
            2 => {
                let [a, b, c] = [(); 3].map(|()| self.angle(-3.0, 3.0));
                format!("euler=\"{a:.4} {b:.4} {c:.4}\"")
            }
            3 => "xyaxes=\"0 1 0 -1 0 0.1\"".into(),
            4 => format!("zaxis=\"{}\"", self.axis()),
            _ => String::new(),
        }
    }

    fn keyframes(&mut self) {
        let mut qpos = String::new();
        for k in 0..self.qpos.len() {
            match self.qpos[k] {
                Coordinate::Number => _ = write!(qpos, "{:.4} ", self.rng.sign()),
                Coordinate::Turn => _ = write!(qpos, "{} ", self.turn()),
            }
        }
        let (nv, nu, na) = (self.nv, self.actuators.len(), self.na);
        let (qvel, ctrl, act) = (self.numbers(nv, -1.0, 1.0), self.numbers(nu, -1.0, 1.0), self.numbers(na, -0.5, 0.5));
        let mpos = (0..self.mocap).map(|_| "1 2 3").collect::<Vec<_>>().join(" ");
        self.line(format!(
            "<keyframe><key name=\"home\"/><key name=\"random\" time=\"1\" qpos=\"{}\" qvel=\"{qvel}\" ctrl=\"{ctrl}\" act=\"{act}\" \
             mpos=\"{mpos}\"/></keyframe>",
            qpos.trim()
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    #[test]
    fn trees_are_valid_and_differ() {
        for seed in 0..60 {
            let xml = mjcf(Rng(seed));
            if let Err(error) = slipstick::files::load_mjcf_str("tree.xml", &xml, &Default::default()) {
                panic!("seed {seed}: {error}\n{xml}");
            }
        }
        assert_ne!(mjcf(Rng(1)), mjcf(Rng(2)));
    }

    #[test]
    fn every_element_that_is_read_occurs() {
        let texts: String = (0..300).map(|seed| mjcf(Rng(seed))).collect();
        let missing: Vec<_> =
            Target::elements_of_mjcf().into_iter().filter(|e| !texts.contains(&format!("<{e}"))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
