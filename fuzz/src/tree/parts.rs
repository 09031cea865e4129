//! What is around the tree: settings, assets, contacts, couplings, actuators.

use super::Tree;

impl Tree {
    pub(super) fn settings(&mut self) {
        self.degrees = self.rng.chance(0.5);
        let angle = if self.degrees { "degree" } else { "radian" };
        let order = self.one_of(&["xyz", "XYZ", "zyx", "ZXZ"]);
        let fuse = self.maybe(|t| format!("fusestatic=\"{}\"", t.one_of(&["true", "false"])));
        self.line(format!("<compiler angle=\"{angle}\" eulerseq=\"{order}\" autolimits=\"true\"{fuse}/>"));
        let (dt, down) = (self.one_of(&["0.0005", "0.001", "0.002", "0.01"]), self.number(-12.0, 0.0));
        let gravity = if self.rng.chance(0.8) { format!("0 0 {down}") } else { self.numbers(3, -10.0, 10.0) };
        self.line(format!("<option timestep=\"{dt}\" gravity=\"{gravity}\" integrator=\"implicitfast\">"));
        let flag = [
            "contact",
            "limit",
            "equality",
            "frictionloss",
            "passive",
            "spring",
            "damper",
            "actuation",
            "clampctrl",
            "filterparent",
        ];
        let flag = self.one_of(&flag);
        let state = if self.rng.chance(0.1) { "disable" } else { "enable" };
        self.line(format!("<flag {flag}=\"{state}\"/></option><size memory=\"10M\"/><statistic extent=\"2\"/>"));
        self.line(
            "<visual><global offwidth=\"800\"/></visual><custom><numeric name=\"n\" data=\"1 2\"/></custom>".into(),
        );
    }

    pub(super) fn defaults(&mut self) {
        let (damping, mu) = (self.number(0.0, 1.0), self.number(0.0, 1.5));
        self.line(format!(
            "<default><joint damping=\"{damping}\"/><geom friction=\"{mu}\" density=\"500\"/><equality active=\"true\"/>\
             <position kp=\"10\"/><default class=\"soft\"><joint stiffness=\"1\"/><tendon damping=\"0.1\"/></default></default>"
        ));
    }

    pub(super) fn assets(&mut self) {
        let (scale, hull, edges) = (self.numbers(3, 0.1, 0.3), 4 + self.rng.below(9), 3 + self.rng.below(8));
        self.line("<asset><texture type=\"skybox\" builtin=\"gradient\" width=\"8\" height=\"8\"/><material name=\"red\" rgba=\"1 0 0 1\"/>".into());
        self.line(format!(
            "<mesh name=\"wedge\" scale=\"{scale}\" vertex=\"0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\" inertia=\"convex\"/>\
             <mesh name=\"cone\" builtin=\"cone\" params=\"{edges} 0.3\" scale=\"0.1 0.1 0.2\" maxhullvert=\"{hull}\"/>"
        ));
        let (rows, columns) = (2 + self.rng.below(5), 2 + self.rng.below(5));
        let heights = self.numbers(rows * columns, 0.0, 1.0);
        self.line(format!(
            "<hfield name=\"hills\" size=\"2 2 0.4 0.1\" nrow=\"{rows}\" ncol=\"{columns}\" elevation=\"{heights}\"/></asset>"
        ));
    }

    pub(super) fn contacts(&mut self) {
        self.line("<contact>".into());
        if let (Some(a), Some(b), true) = (self.name_of(|t| &t.geoms), self.name_of(|t| &t.geoms), self.rng.chance(0.6))
        {
            let both_fixed = [&a, &b].iter().all(|g| matches!(g.as_str(), "floor" | "hills"));
            if a != b && !both_fixed {
                let mu = self.number(0.0, 3.0);
                self.line(format!("<pair geom1=\"{a}\" geom2=\"{b}\" friction=\"{mu} {mu} 0.01 0.001 0.001\" condim=\"3\" margin=\"0.001\"/>"));
            }
        }
        if let (Some(a), Some(b), true) =
            (self.name_of(|t| &t.bodies), self.name_of(|t| &t.bodies), self.rng.chance(0.4))
        {
            self.line(format!("<exclude body1=\"{a}\" body2=\"{b}\"/>"));
        }
        self.line("</contact>".into());
    }

    /// Tendons and equalities.
    pub(super) fn couplings(&mut self) {
        self.line("<tendon>".into());
        while self.joints.len() > 1 && self.tendons.len() < 3 && self.rng.chance(0.5) {
            let name = format!("t{}", self.tendons.len());
            let (first, second) = (self.rng.below(self.joints.len()), self.rng.below(self.joints.len() - 1));
            let (a, b) = (self.joints[first].clone(), self.joints[(first + 1 + second) % self.joints.len()].clone());
            let range = self.maybe(|_| "limited=\"true\" range=\"-0.5 0.8\"".into());
            let (spring, friction) = (
                self.maybe(|t| format!("stiffness=\"{}\" damping=\"0.1\"", t.number(0.0, 9.0))),
                self.number(0.0, 0.3),
            );
            self.line(format!(
                "<fixed name=\"{name}\"{range}{spring} frictionloss=\"{friction}\"><joint joint=\"{a}\" coef=\"1\"/>\
                 <joint joint=\"{b}\" coef=\"-0.5\"/></fixed>"
            ));
            self.tendons.push(name);
        }
        self.line("</tendon><equality>".into());
        while self.rng.chance(0.4) {
            self.equality();
        }
        self.line("</equality>".into());
    }

    fn equality(&mut self) {
        let (Some(a), Some(b)) = (self.name_of(|t| &t.bodies), self.name_of(|t| &t.bodies)) else { return };
        let (Some(s), anchor) = (self.name_of(|t| &t.sites), self.numbers(3, -0.3, 0.3)) else { return };
        let active = if self.rng.chance(0.7) { "true" } else { "false" };
        let joint = self.name_of(|t| &t.joints);
        let tendon = self.name_of(|t| &t.tendons);
        match (self.rng.below(6), joint, tendon) {
            (0, ..) if a != b => {
                self.line(format!("<connect body1=\"{a}\" body2=\"{b}\" anchor=\"{anchor}\" active=\"{active}\"/>"))
            }
            (1, ..) => self.line(format!("<connect body1=\"{a}\" anchor=\"{anchor}\" active=\"{active}\"/>")),
            (2, ..) if a != b => {
                self.line(format!("<weld body1=\"{a}\" body2=\"{b}\" torquescale=\"0.5\" active=\"{active}\"/>"))
            }
            (3, ..) if s != "here" => self.line(format!("<connect site1=\"here\" site2=\"{s}\" active=\"{active}\"/>")),
            (4, Some(j), _) => {
                self.line(format!("<joint joint1=\"{j}\" polycoef=\"0.1 0 0 0 0\" active=\"{active}\"/>"))
            }
            (5, _, Some(t)) => {
                self.line(format!("<tendon tendon1=\"{t}\" polycoef=\"0.1 0 0 0 0\" active=\"{active}\"/>"))
            }
            _ => {}
        }
    }

    pub(super) fn drives(&mut self) {
        self.line("<actuator>".into());
        while self.actuators.len() < 6 && self.rng.chance(0.7) {
            self.actuator();
        }
        self.line("</actuator>".into());
    }

    /// What an actuator acts on.
    fn transmission(&mut self) -> Option<String> {
        let (joint, ball, tendon) =
            (self.name_of(|t| &t.joints), self.name_of(|t| &t.balls), self.name_of(|t| &t.tendons));
        let site = self.name_of(|t| &t.sites)?;
        match self.rng.below(7) {
            0 => tendon.map(|t| format!("tendon=\"{t}\" gear=\"2\"")),
            1 => ball.map(|b| format!("joint=\"{b}\" gear=\"1 0 0.5\"")),
            2 if site != "here" => Some(format!("site=\"{site}\" refsite=\"here\" gear=\"1 0 0 0 1 0\"")),
            3 if site != "here" => Some(format!("cranksite=\"{site}\" slidersite=\"here\" cranklength=\"5\"")),
            4 => joint.map(|j| format!("jointinparent=\"{j}\" gear=\"1\"")),
            _ => joint.map(|j| format!("joint=\"{j}\" gear=\"{}\"", self.number(-5.0, 5.0))),
        }
    }

    fn actuator(&mut self) {
        let Some(on) = self.transmission() else { return };
        let name = format!("a{}", self.actuators.len());
        let limits = self.maybe(|_| "ctrlrange=\"-1 1\" forcerange=\"-20 20\"".into());
        let (law, adds) = match self.rng.below(8) {
            0 => ("position kp=\"20\" kv=\"1\"", 0),
            1 => ("position kp=\"20\" timeconst=\"0.1\"", 1),
            2 => ("velocity kv=\"2\"", 0),
            3 => ("intvelocity kp=\"5\" actrange=\"-1 1\"", 1),
            4 => (
                "general dyntype=\"filterexact\" dynprm=\"0.2\" gaintype=\"affine\" gainprm=\"1 0.1 0.1\" biastype=\"affine\" biasprm=\"0 -1 -0.1\"",
                1,
            ),
            5 => ("general dyntype=\"integrator\" actearly=\"true\" actlimited=\"true\" actrange=\"-2 2\"", 1),
            6 => ("cylinder area=\"0.1\" timeconst=\"0.2\" bias=\"0 -1 -0.1\"", 1),
            _ => ("motor", 0),
        };
        let damper = self.rng.chance(0.1);
        let (text, adds) = match damper {
            true => (format!("<damper name=\"{name}\" kv=\"1\" ctrlrange=\"0 1\" {on}/>"), 0),
            false => (format!("<{law} name=\"{name}\" {on}{limits}/>"), adds),
        };
        self.line(text);
        self.na += adds;
        self.actuators.push(name);
    }
}
