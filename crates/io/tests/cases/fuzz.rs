//! Damaged files: whatever comes, the answer is a model or an error, never a panic.

use crate::repository;
use slipstick_core::random::Rng;
use slipstick_io::{LoadOptions, load_mjcf_str, load_urdf_str};

/// Texts that damage likes to produce.
const SPLINTERS: [&str; 16] = [
    "-1",
    "0",
    "nan",
    "1e308",
    "-1e-320",
    "",
    "\"",
    "<",
    "/>",
    "class=\"x\"",
    "999999999999",
    "<body>",
    "type=\"mesh\"",
    "free",
    "é",
    "quat=\"0 0 0 0\"",
];

/// Damages texts; fixed seed, so that a failure can be repeated.
struct Dice(Rng);

impl Dice {
    /// Deletes, doubles or replaces a few pieces of a text.
    fn damage(&mut self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..=self.0.below(4) {
            let start = self.0.below(chars.len());
            let end = (start + self.0.below(12)).min(chars.len());
            let piece: Vec<char> = match self.0.below(3) {
                0 => Vec::new(),
                1 => [&chars[start..end], &chars[start..end]].concat(),
                _ => SPLINTERS[self.0.below(SPLINTERS.len())].chars().collect(),
            };
            chars.splice(start..end, piece);
        }
        chars.into_iter().collect()
    }

    /// Replaces the value of one attribute, so that the XML stays whole.
    fn replace_value(&mut self, text: &str) -> String {
        let quotes: Vec<usize> = text.match_indices('"').map(|(i, _)| i).collect();
        let pair = 2 * self.0.below(quotes.len() / 2);
        let value = SPLINTERS[self.0.below(SPLINTERS.len())].replace(['"', '<'], "");
        format!("{}{value}{}", &text[..=quotes[pair]], &text[quotes[pair + 1]..])
    }
}

const URDF: &str = r#"<robot name="r"><link name="a"><inertial><origin xyz="0 0 1" rpy="0 0 1"/><mass value="2"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial><collision><geometry><box size="1 2 3"/></geometry>
  </collision></link><link name="b"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 2 3"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.1"/></joint></robot>"#;

const MJCF: &str = r#"<mujoco model="m"><compiler angle="radian" eulerseq="xyz"/><default><default class="c"><geom size="0.1 0.2"/>
  <position kp="3" kv="1"/></default></default><asset><mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3"/>
  </asset><worldbody><geom type="plane"/><site name="w" pos="1 0 0"/><body name="a" childclass="c"><freejoint/><geom type="capsule"/><body euler="1 2 3">
  <joint name="j" range="-1 1" axis="1 1 0"/><geom type="mesh" mesh="t"/><site name="s"/></body></body>
  <body mocap="true" pos="1 2 3"><geom size="0.1"/></body></worldbody>
  <actuator><position class="c" joint="j" inheritrange="1" timeconst="0.1"/><damper joint="j" kv="1" ctrlrange="0 1" group="2"/>
  <intvelocity joint="j" kp="2" actrange="-1 1"/><general joint="j" dyntype="filter" dynprm="0.2" actearly="true" gaintype="affine" gainprm="1 2"/>
  <motor site="s" refsite="w" gear="1 0 0 0 1 0"/><motor cranksite="s" slidersite="w" cranklength="2" armature="0.1" damping="0.2"/>
  </actuator><keyframe><key qpos="0 0 1 1 0 0 0 0.5" act="0.1 0.2" mpos="1 2 3" mquat="1 0 0 0"/></keyframe><option actuatorgroupdisable="2 3"/>
  <sensor><rangefinder site="s" data="dist point" cutoff="2"/><contact site="s" subtree2="a" data="found force pos" num="3" reduce="netforce"/>
  <distance body1="a" body2="world" cutoff="1"/><insidesite site="s" objtype="xbody" objname="a"/><user dim="3"/><e_kinetic/></sensor></mujoco>"#;

/// Elements that copy parts, and generated meshes.
const COPIES: &str = r#"<mujoco model="m"><compiler alignfree="true"/><asset><mesh name="c" builtin="cone" params="5 0.5" maxhullvert="6"/>
  <mesh name="t" builtin="supertorus" params="5 0.3 1 1" scale="1 2 1" inertia="shell"/></asset><worldbody>
  <body name="a"><freejoint align="auto"/><geom type="mesh" mesh="c"/></body><frame name="f" pos="1 0 0"><body name="b"><joint name="j"/>
  <geom type="box" size="1 2 3" shellinertia="true"/></body></frame><attach frame="f" prefix="p_"/><replicate count="2" sep="-">
  <attach body="a" prefix="q_"/><geom type="ellipsoid" size="1 2 3"/></replicate></worldbody>
  <actuator><motor joint="j"/></actuator><sensor><jointpos joint="j"/></sensor></mujoco>"#;

fn try_mjcf(text: &str) {
    if let Err(error) = load_mjcf_str("damaged.xml", text, &LoadOptions::default()) {
        assert!(error.to_string().starts_with("damaged.xml"), "{error}");
    }
}

fn try_urdf(text: &str) {
    if let Err(error) = load_urdf_str("damaged.urdf", text, &LoadOptions::default()) {
        assert!(error.to_string().starts_with("damaged.urdf"), "{error}");
    }
}

#[test]
fn damaged_texts_never_panic() {
    assert!(load_mjcf_str("whole.xml", MJCF, &LoadOptions::default()).is_ok());
    load_mjcf_str("whole.xml", COPIES, &LoadOptions::default()).unwrap();
    assert!(load_urdf_str("whole.urdf", URDF, &LoadOptions::default()).is_ok());
    let mut dice = Dice(Rng(7));
    for _ in 0..3000 {
        try_mjcf(&dice.damage(MJCF));
        try_mjcf(&dice.replace_value(MJCF));
        try_mjcf(&dice.damage(COPIES));
        try_mjcf(&dice.replace_value(COPIES));
        try_urdf(&dice.damage(URDF));
        try_urdf(&dice.replace_value(URDF));
    }
}

#[test]
fn damaged_built_in_robots_never_panic() {
    let mut dice = Dice(Rng(11));
    let files = std::fs::read_dir(repository().join("crates/slipstick/models")).unwrap();
    let robots = files.flatten().map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == "xml"));
    for path in robots {
        let text = std::fs::read_to_string(path).unwrap();
        for _ in 0..40 {
            try_mjcf(&dice.damage(&text));
            try_mjcf(&dice.replace_value(&text));
        }
    }
}
