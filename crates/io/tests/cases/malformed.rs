//! Every mistake is refused with its line, its element, what was expected and what was found.

use crate::{mjcf, urdf};

/// A model with `inner` in a body that has mass; `inner` begins on line 2.
fn body(inner: &str) -> String {
    format!("<mujoco><worldbody><body name=\"b\"><geom size=\"1\"/>\n{inner}</body></worldbody></mujoco>")
}

/// A model with one hinge `j` and `inner` beside its world, on line 2.
fn beside(inner: &str) -> String {
    let world = "<worldbody><body><joint name=\"j\"/><geom size=\"1\"/></body></worldbody>";
    format!("<mujoco>{world}\n{inner}</mujoco>")
}

#[test]
fn mistakes_in_mjcf_are_named() {
    let cases = [
        ("<mujoco>".into(), "test.xml:1: not well-formed XML"),
        ("<a/>".into(), "test.xml: expected MJCF (<mujoco>) or URDF (<robot>), got a text with root element <a>"),
        (body("<joint axis=\"0 1\"/>"), "test.xml:2: <joint>: axis: expected 3 finite numbers, got '0 1'"),
        (
            body("<joint name=\"h\" axis=\"0 0 0\"/>"),
            "test.xml:2: <joint name=\"h\">: axis: expected a direction, got '0 0 0'",
        ),
        (
            body("<joint type=\"screw\"/>"),
            "test.xml:2: <joint>: type: expected one of hinge, slide, ball, free, got 'screw'",
        ),
        (body("<joint limited=\"yes\"/>"), "limited: expected one of true, false, auto, got 'yes'"),
        (
            body("<joint limited=\"true\"/>"),
            "attribute 'range' is missing; 'limited' is true, so the range must be given",
        ),
        (
            body("<joint limited=\"true\" range=\"1 -1\"/>"),
            "range: expected a lower and a larger upper limit, got '1 -1'",
        ),
        (
            body("<joint type=\"ball\" limited=\"true\" range=\"1 0\"/>"),
            "range: expected 0 and the largest angle of the ball joint",
        ),
        (body("<joint type=\"ball\" range=\"-10 10\"/>"), "range: expected 0 and the largest angle of the ball joint"),
        (body("<joint damping=\"nan\"/>"), "damping: expected 1 to 3 finite numbers, got 'nan'"),
        (
            body("<joint armature=\"-1\"/>"),
            "test.xml: joint 'b_joint': armature: expected zero or a positive number, got -1",
        ),
        (
            body("<joint name=\"j\"/><joint name=\"j\"/>"),
            "expected every joint to have a name of its own, got a second joint named 'j'",
        ),
        (body("<joint class=\"arm\"/>"), "test.xml:2: <joint>: there is no default class named 'arm'"),
        (body("<freejoint/><joint/>"), "body 'b' has a free joint and other joints"),
        (body("<body><freejoint/><geom size=\"1\"/></body>"), "expected free joints only in children of the world"),
        (body("<body name=\"b\"/>"), "test.xml:2: <body name=\"b\">: expected every body to have a name of its own"),
        (body("<body name=\"world\"/>"), "got a second body named 'world'"),
        (body("<body><joint/></body>"), "body 'body_2' moves in joint 'body_2_joint' without mass or armature"),
        (body("<geom size=\"-1\"/>"), "size: expected 1 positive number for a sphere, got '-1'"),
        (
            body("<geom type=\"box\" size=\"1 1\"/>"),
            "size: expected 3 positive numbers for a box, got '1 1'; half-lengths",
        ),
        (body("<geom type=\"capsule\"/>"), "attribute 'size' is missing"),
        (
            body("<geom type=\"cone\" size=\"1\"/>"),
            "type: expected one of plane, sphere, capsule, cylinder, box, ellipsoid, got 'cone'",
        ),
        (body("<geom type=\"capsule\" size=\"1\" fromto=\"1 1 1 1 1 1\"/>"), "fromto: expected two different points"),
        (
            body("<geom fromto=\"0 0 0 1 1 1\" size=\"1\"/>"),
            "only capsules, cylinders, boxes and ellipsoids have two ends",
        ),
        (body("<geom type=\"mesh\"/>"), "attribute 'mesh' is missing"),
        (body("<geom type=\"mesh\" mesh=\"m\"/>"), "there is no mesh named 'm'"),
        (body("<geom size=\"1\" mass=\"-1\"/>"), "mass: expected zero or a positive number, got '-1'"),
        (body("<geom size=\"1\" condim=\"2\"/>"), "condim: expected one of 1, 3, 4, 6, got '2'"),
        (body("<geom size=\"1\" contype=\"one\"/>"), "contype: expected an integer, got 'one'"),
        (body("<geom size=\"1\" quat=\"0 0 0 0\"/>"), "quat: expected numbers that describe a rotation, got '0 0 0 0'"),
        (
            body("<geom size=\"1\" quat=\"1 0 0 0\" euler=\"0 0 0\"/>"),
            "expected one of quat, axisangle, xyaxes, zaxis, euler, got quat and euler",
        ),
        (body("<inertial pos=\"0 0 0\"/>"), "test.xml:2: <inertial>: attribute 'mass' is missing"),
        (body("<inertial mass=\"1\"/>"), "attribute 'pos' is missing"),
        (body("<inertial mass=\"-1\" pos=\"0 0 0\"/>"), "mass: expected zero or a positive mass, got '-1'"),
        (
            body("<inertial mass=\"1\" pos=\"0 0 0\" diaginertia=\"1 1 1\" fullinertia=\"1 1 1 0 0 0\"/>"),
            "expected one of diaginertia and fullinertia, got both",
        ),
        (
            "<mujoco><worldbody><joint/></worldbody></mujoco>".into(),
            "expected bodies, geoms and sites in the world, got <joint>",
        ),
        (beside("<compiler angle=\"turns\"/>"), "angle: expected one of degree, radian, got 'turns'"),
        (beside("<compiler eulerseq=\"xyw\"/>"), "eulerseq: expected three of the letters x, y, z, X, Y, Z, got 'xyw'"),
        (
            beside("<compiler coordinate=\"global\"/>"),
            "coordinate: expected 'local', got 'global'; global coordinates were removed",
        ),
        (beside("<option timestep=\"0\"/>"), "timestep: expected a positive time step, got '0'"),
        (beside("<default><default/></default>"), "test.xml:2: <default>: attribute 'class' is missing"),
        (
            beside("<include file=\"nowhere.xml\"/>"),
            "file: expected a file that exists, got 'nowhere.xml'; looked for nowhere.xml",
        ),
        (
            beside(
                "<asset><mesh name=\"m\" vertex=\"0 0 0 1\"/></asset><worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody>",
            ),
            "vertex: expected at least 12 finite numbers, got '0 0 0 1'",
        ),
        (beside("<asset><mesh/></asset>"), "attribute 'name' or 'file' is missing"),
        (beside("<actuator><motor site=\"k\"/></actuator>"), "test.xml:2: <motor>: there is no site named 'k'"),
        (
            beside("<actuator><motor joint=\"j\" refsite=\"k\"/></actuator>"),
            "attribute 'site' is missing; refsite goes with site",
        ),
        (
            beside("<actuator><motor joint=\"j\" site=\"k\"/></actuator>"),
            "expected one transmission target, got several",
        ),
        (
            beside("<actuator><motor cranksite=\"k\" cranklength=\"1\"/></actuator>"),
            "test.xml:2: <motor>: attribute 'slidersite' is missing",
        ),
        (
            beside(
                "<worldbody><site name=\"k\"/></worldbody><actuator><motor cranksite=\"k\" slidersite=\"k\" cranklength=\"0\"/></actuator>",
            ),
            "cranklength: expected a positive number, got '0'",
        ),
        (beside("<actuator><motor joint=\"k\"/></actuator>"), "test.xml:2: <motor>: there is no joint named 'k'"),
        (beside("<actuator><motor/></actuator>"), "test.xml:2: <motor>: attribute 'joint' is missing"),
        (beside("<actuator><position joint=\"j\" inheritrange=\"1\"/></actuator>"), "got joint 'j' without a range"),
        (
            beside("<actuator><position joint=\"j\" kv=\"-1\"/></actuator>"),
            "kv: expected zero or a positive number, got '-1'",
        ),
        (
            beside("<keyframe><key qpos=\"0 0\"/></keyframe>"),
            "test.xml:2: <key>: qpos: expected at most 1 numbers, as the model has, not 2, got '0 0'",
        ),
        (beside("<keyframe><key ctrl=\"1\"/></keyframe>"), "ctrl: expected at most 0 numbers, as the model has, not 1"),
    ];
    for (xml, expected) in cases {
        let error = mjcf(&xml).expect_err(&xml).to_string();
        assert!(error.contains(expected), "for {xml}\n got  {error}\n want {expected}");
    }
}

/// A robot of links a and b, with the inside of its joint and of link b.
fn robot(joint: &str, b: &str) -> String {
    let inertial = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>";
    format!(
        "<robot name=\"r\"><link name=\"a\"/><link name=\"b\">{inertial}\n{b}</link>\n\
         <joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/>{joint}</joint></robot>"
    )
}

#[test]
fn mistakes_in_urdf_are_named() {
    let link = |name: &str| format!("<link name=\"{name}\"/>");
    let joint = |name: &str, parent: &str, child: &str| {
        format!("<joint name=\"{name}\" type=\"fixed\"><parent link=\"{parent}\"/><child link=\"{child}\"/></joint>")
    };
    let collision = |shape: &str| robot("", &format!("<collision><geometry>{shape}</geometry></collision>"));
    let cases = [
        ("<robot/>".into(), "test.urdf:1: <robot>: a <link> is missing"),
        ("<robot><link/></robot>".into(), "<link>: attribute 'name' is missing"),
        (
            format!("<robot>{0}{0}</robot>", link("a")),
            "expected every link to have a name of its own, got a second 'a'",
        ),
        (
            format!("<robot>{}{}</robot>", link("a"), link("b")),
            "expected one root link, got 2 ('a', 'b', …); connect them",
        ),
        (
            format!("<robot>{}{}</robot>", link("a"), joint("j", "a", "b")),
            "<joint name=\"j\">: there is no link named 'b'",
        ),
        (
            format!("<robot>{}{}{}</robot>", link("a"), link("b"), joint("j", "a", "b") + &joint("k", "b", "a")),
            "expected a root link, got a cycle",
        ),
        (
            format!(
                "<robot>{}{}{}{}</robot>",
                link("a"),
                link("b"),
                link("c"),
                joint("j", "b", "c") + &joint("k", "c", "b")
            ),
            "expected all links to be below the root link, got link 'b' in a cycle of joints",
        ),
        (
            format!("<robot>{}{}{}</robot>", link("a"), link("b"), joint("j", "a", "b") + &joint("k", "a", "b")),
            "expected one parent per link, got both 'a' and 'a' for link 'b'; closed loops",
        ),
        (
            format!(
                "<robot>{}{}{}{}</robot>",
                link("a"),
                link("b"),
                link("c"),
                joint("j", "a", "b") + &joint("j", "b", "c")
            ),
            "expected every joint to have a name of its own, got a second joint named 'j'",
        ),
        (robot("<axis xyz=\"0 0 0\"/>", ""), "test.urdf:3: <axis>: xyz: expected a direction, got '0 0 0'"),
        (robot("<axis xyz=\"a b c\"/>", ""), "xyz: expected 3 finite numbers, got 'a b c'"),
        (robot("<origin rpy=\"1 2\"/>", ""), "<origin>: rpy: expected 3 finite numbers, got '1 2'"),
        (robot("<limit lower=\"1\" upper=\"-1\"/>", ""), "<limit>: expected lower ≤ upper, got 1 … -1"),
        (robot("<limit effort=\"nan\"/>", ""), "effort: expected a number, got 'nan'"),
        (robot("<dynamics damping=\"-1\"/>", ""), "damping: expected zero or a positive number, got '-1'"),
        (robot("", "<collision/>"), "test.urdf:2: <collision>: <geometry> is missing"),
        (collision(""), "<geometry>: a shape is missing"),
        (collision("<sphere radius=\"-1\"/>"), "radius: expected a positive number, got '-1'"),
        (collision("<box size=\"1 1 0\"/>"), "size: expected 3 positive numbers, got '1 1 0'"),
        (collision("<cylinder radius=\"1\"/>"), "<cylinder>: attribute 'length' is missing"),
        (
            collision("<mesh filename=\"package://none_such/a.stl\"/>"),
            "'package://none_such/a.stl' was not found; looked for",
        ),
        (robot("", "").replace("revolute", "helical"), "type: expected one of revolute, continuous, prismatic"),
        (
            robot("", "").replace("<mass value=\"1\"/>", "<mass value=\"-1\"/>"),
            "value: expected zero or a positive mass",
        ),
        (robot("", "").replace("<mass value=\"1\"/>", ""), "<inertial>: <mass> is missing"),
        (robot("", "").replace("<child link=\"b\"/>", ""), "<joint name=\"j\">: <child> is missing"),
    ];
    for (xml, expected) in cases {
        let error = urdf(&xml).expect_err(&xml).to_string();
        assert!(error.contains(expected), "for {xml}\n got  {error}\n want {expected}");
    }
}
