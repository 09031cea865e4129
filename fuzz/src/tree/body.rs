//! Bodies, their joints, geoms and sites.

use super::{Coordinate, Tree};

/// Bodies in a tree, and how deep they are inside each other.
const MOST_BODIES: usize = 9;
const DEEPEST: usize = 4;

impl Tree {
    pub(super) fn world(&mut self) {
        self.line("<worldbody><light pos=\"0 0 3\"/><camera name=\"eye\" pos=\"2 0 1\"/>".into());
        let mu = self.number(0.0, 2.0);
        self.line(format!(
            "<geom name=\"floor\" type=\"plane\" size=\"5 5 0.1\" pos=\"0 0 -1\" friction=\"{mu} 0.005 0.0001\"/>"
        ));
        self.geoms.push("floor".into());
        if self.rng.chance(0.25) {
            self.line("<geom name=\"hills\" type=\"hfield\" hfield=\"hills\" pos=\"0 0 -1.2\"/>".into());
            self.geoms.push("hills".into());
        }
        let place = self.numbers(3, -1.0, 1.0);
        self.line(format!("<site name=\"here\" pos=\"{place}\"/>"));
        self.sites.push("here".into());
        for _ in 0..1 + self.rng.below(3) {
            self.body(0);
        }
        if self.rng.chance(0.4) {
            self.line(
                "<body name=\"hand\" mocap=\"true\" pos=\"1 2 3\"><geom name=\"glove\" size=\"0.1\"/></body>".into(),
            );
            (self.mocap, _) = (1, self.geoms.push("glove".into()));
        }
        if self.rng.chance(0.3) {
            self.copies();
        }
        self.line("</worldbody>".into());
    }

    /// Parts that are copied: `<replicate>` and `<attach>`, and a `<frame>` around a body.
    fn copies(&mut self) {
        self.line(
            "<replicate count=\"2\" offset=\"0 0.5 0\" sep=\"-\"><body pos=\"3 0 0\"><joint type=\"slide\" axis=\"0 0 1\"/>\
             <geom size=\"0.1\"/></body></replicate>"
                .into(),
        );
        self.line("<frame name=\"moved\" pos=\"4 0 0\"><body name=\"stub\"><joint name=\"twig\"/>".into());
        self.line(
            "<geom type=\"box\" size=\"0.1 0.2 0.3\"/></body></frame><attach frame=\"moved\" prefix=\"p_\"/>".into(),
        );
        self.qpos.extend([Coordinate::Number; 4]);
        self.nv += 4;
    }

    fn body(&mut self, depth: usize) {
        let name = format!("b{}", self.bodies.len());
        self.bodies.push(name.clone());
        let (place, turned) = (self.numbers(3, -0.5, 0.5), self.orientation());
        let compensated = if self.rng.chance(0.1) { " gravcomp=\"0.5\"" } else { "" };
        let class = if self.rng.chance(0.3) { " childclass=\"soft\"" } else { "" };
        self.line(format!("<body name=\"{name}\" pos=\"{place}\" {turned}{compensated}{class}>"));
        if self.rng.chance(0.2) {
            self.inertial();
        }
        let moves = self.rng.below(10);
        match moves {
            0 if depth > 0 => {} // fixed to its parent
            0..3 if depth == 0 => self.free(),
            3 => (0..2 + self.rng.below(2)).for_each(|_| self.joint(true)),
            4 => self.ball(),
            _ => self.joint(false),
        }
        for _ in 0..1 + self.rng.below(2) {
            self.geom();
        }
        self.site();
        while depth < DEEPEST && self.bodies.len() < MOST_BODIES && self.rng.chance(0.5) {
            self.body(depth + 1);
        }
        self.line("</body>".into());
    }

    fn inertial(&mut self) {
        let (place, mass) = (self.numbers(3, -0.1, 0.1), self.number(0.1, 5.0));
        let tensor = if self.rng.chance(0.5) {
            "diaginertia=\"0.02 0.03 0.04\""
        } else {
            "fullinertia=\"0.02 0.03 0.04 0.001 0 0.002\""
        };
        self.line(format!("<inertial pos=\"{place}\" mass=\"{mass}\" {tensor}/>"));
    }

    fn free(&mut self) {
        let text = if self.rng.chance(0.5) { "<freejoint/>" } else { "<joint type=\"free\"/>" };
        self.line(text.into());
        self.qpos.extend([Coordinate::Number; 3]);
        self.qpos.push(Coordinate::Turn);
        self.nv += 6;
    }

    fn ball(&mut self) {
        let name = format!("q{}", self.balls.len());
        let limit = if self.rng.chance(0.4) {
            format!(" limited=\"true\" range=\"0 {:.3}\"", self.angle(0.3, 3.0))
        } else {
            String::new()
        };
        let damping = self.number(0.0, 1.0);
        self.line(format!("<joint name=\"{name}\" type=\"ball\" damping=\"{damping}\"{limit}/>"));
        self.balls.push(name);
        self.qpos.push(Coordinate::Turn);
        self.nv += 3;
    }

    /// A hinge or a slide; one of several in a body has an inertia of its own, since together they may be redundant.
    fn joint(&mut self, shared: bool) {
        let (name, slides) = (format!("j{}", self.joints.len()), self.rng.chance(0.3));
        let (kind, scale) = if slides { ("slide", 1.0) } else { ("hinge", self.angle(1.0, 1.0)) };
        let (axis, place) = (self.axis(), self.numbers(3, -0.2, 0.2));
        let range = self.maybe(|t| {
            format!("limited=\"true\" range=\"{:.3} {:.3}\"", -scale * t.rng.share(), scale * (0.1 + t.rng.share()))
        });
        let spring = self.maybe(|t| {
            format!("stiffness=\"{}\" springref=\"{:.3}\"", t.number(0.0, 50.0), 0.3 * scale * t.rng.sign())
        });
        let damping = self.maybe(|t| format!("damping=\"{}\"", t.number(0.0, 2.0)));
        let friction = self.maybe(|t| format!("frictionloss=\"{}\"", t.number(0.0, 1.0)));
        let zero = self.maybe(|t| format!("ref=\"{:.3}\"", 0.2 * scale * t.rng.sign()));
        let force =
            self.maybe(|t| format!("actuatorfrclimited=\"true\" actuatorfrcrange=\"-{0} {0}\"", t.number(1.0, 20.0)));
        let armature = if shared {
            " armature=\"0.05\"".into()
        } else {
            self.maybe(|t| format!("armature=\"{}\"", t.number(0.0, 0.1)))
        };
        self.line(format!(
            "<joint name=\"{name}\" type=\"{kind}\" axis=\"{axis}\" pos=\"{place}\"{range}{spring}{damping}{friction}{zero}{force}{armature}/>"
        ));
        self.joints.push(name);
        self.qpos.push(Coordinate::Number);
        self.nv += 1;
    }

    fn geom(&mut self) {
        let name = format!("g{}", self.geoms.len());
        let shape = match self.rng.below(8) {
            0 => format!("type=\"sphere\" size=\"{}\"", self.number(0.02, 0.3)),
            1 => format!("type=\"capsule\" size=\"{}\"", self.numbers(2, 0.02, 0.3)),
            2 => format!("type=\"cylinder\" size=\"{}\"", self.numbers(2, 0.02, 0.3)),
            3 => format!("type=\"box\" size=\"{}\"", self.numbers(3, 0.02, 0.3)),
            4 => format!("type=\"ellipsoid\" size=\"{}\"", self.numbers(3, 0.05, 0.3)),
            5 => format!("type=\"capsule\" size=\"0.05\" fromto=\"0 0 0 {} 0.3\"", self.numbers(2, -0.3, 0.3)),
            6 => "type=\"mesh\" mesh=\"wedge\"".into(),
            _ => "type=\"mesh\" mesh=\"cone\"".into(),
        };
        let (place, turned) = (self.numbers(3, -0.2, 0.2), self.orientation());
        let turned = if shape.contains("fromto") { String::new() } else { format!("pos=\"{place}\" {turned}") };
        let mass = self.maybe(|t| format!("mass=\"{}\"", t.number(0.05, 5.0)));
        let mu = self
            .maybe(|t| format!("friction=\"{}\" condim=\"{}\"", t.number(0.0, 2.0), t.one_of(&["1", "3", "4", "6"])));
        let mask = if self.rng.chance(0.15) { " contype=\"0\"" } else { "" };
        let priority = if self.rng.chance(0.1) { " priority=\"1\" margin=\"0.01\"" } else { "" };
        self.line(format!("<geom name=\"{name}\" {shape} {turned}{mass}{mu}{mask}{priority} material=\"red\"/>"));
        self.geoms.push(name);
    }

    fn site(&mut self) {
        let (name, place, turned) = (format!("s{}", self.sites.len()), self.numbers(3, -0.3, 0.3), self.orientation());
        let shape = self.one_of(&[
            "type=\"sphere\" size=\"0.1\"",
            "type=\"box\" size=\"0.1 0.2 0.3\"",
            "type=\"capsule\" size=\"0.1 0.2\"",
        ]);
        self.line(format!("<site name=\"{name}\" pos=\"{place}\" {turned} {shape}/>"));
        self.sites.push(name);
    }
}
