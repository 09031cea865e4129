//! Sensors of every kind.

use super::Tree;

const OF_SITES: [&str; 7] = ["touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer"];
const OF_JOINTS: [&str; 6] =
    ["jointpos", "jointvel", "jointactuatorfrc", "jointlimitpos", "jointlimitvel", "jointlimitfrc"];
const OF_BALLS: [&str; 2] = ["ballquat", "ballangvel"];
const OF_TENDONS: [&str; 6] =
    ["tendonpos", "tendonvel", "tendonactuatorfrc", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc"];
const OF_ACTUATORS: [&str; 3] = ["actuatorpos", "actuatorvel", "actuatorfrc"];
const OF_FRAMES: [&str; 9] = [
    "framepos",
    "framequat",
    "framexaxis",
    "frameyaxis",
    "framezaxis",
    "framelinvel",
    "frameangvel",
    "framelinacc",
    "frameangacc",
];
const OF_BODIES: [&str; 3] = ["subtreecom", "subtreelinvel", "subtreeangmom"];
const OF_PAIRS: [&str; 3] = ["distance", "normal", "fromto"];
const OF_ALL: [&str; 3] = ["clock", "e_potential", "e_kinetic"];

impl Tree {
    pub(super) fn sensors(&mut self) {
        self.line("<sensor>".into());
        for _ in 0..self.rng.below(8) {
            if let Some(text) = self.sensor() {
                self.line(text);
            }
        }
        self.line("</sensor>".into());
    }

    fn sensor(&mut self) -> Option<String> {
        let (site, body) = (self.name_of(|t| &t.sites)?, self.name_of(|t| &t.bodies)?);
        Some(match self.rng.below(12) {
            0 => format!("<{} site=\"{site}\"/>", self.one_of(&OF_SITES)),
            1 => format!("<{} joint=\"{}\"/>", self.one_of(&OF_JOINTS), self.name_of(|t| &t.joints)?),
            2 => format!("<{} joint=\"{}\"/>", self.one_of(&OF_BALLS), self.name_of(|t| &t.balls)?),
            3 => format!("<{} tendon=\"{}\"/>", self.one_of(&OF_TENDONS), self.name_of(|t| &t.tendons)?),
            4 => format!("<{} actuator=\"{}\"/>", self.one_of(&OF_ACTUATORS), self.name_of(|t| &t.actuators)?),
            5 => format!("<{} objtype=\"site\" objname=\"{site}\"/>", self.one_of(&OF_FRAMES)),
            6 => format!(
                "<{} objtype=\"xbody\" objname=\"{body}\" reftype=\"site\" refname=\"{site}\"/>",
                self.one_of(&OF_FRAMES[..7])
            ),
            7 => format!("<{} body=\"{body}\"/>", self.one_of(&OF_BODIES)),
            8 => format!("<{}/>", self.one_of(&OF_ALL)),
            9 => format!(
                "<rangefinder site=\"{site}\"/><insidesite site=\"{site}\" objtype=\"xbody\" objname=\"{body}\"/>"
            ),
            10 => self.pair()?,
            _ => format!(
                "<contact subtree1=\"{body}\" data=\"found force pos\" num=\"2\" reduce=\"netforce\"/><user dim=\"3\"/>"
            ),
        })
    }

    /// A sensor of two geoms.
    fn pair(&mut self) -> Option<String> {
        let (a, b, kind) = (self.name_of(|t| &t.geoms)?, self.name_of(|t| &t.geoms)?, self.one_of(&OF_PAIRS));
        let round = |g: &str| !matches!(g, "floor" | "hills");
        (a != b && round(&a) && round(&b)).then(|| format!("<{kind} geom1=\"{a}\" geom2=\"{b}\" cutoff=\"1\"/>"))
    }
}
