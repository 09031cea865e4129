//! What MJCF files may contain: unknown names, notes, copies, and the table in the documentation.

use crate::{mjcf, repository};
use slipstick_io::schema_table;

fn wrong(inside: &str) -> String {
    mjcf(&format!("<mujoco>{inside}</mujoco>")).expect_err(inside).to_string()
}

#[test]
fn unknown_names_are_refused_with_the_nearest_known_one() {
    let cases = [
        (
            r#"<worldbody><body><geom sise="1"/></body></worldbody>"#,
            "test.xml:1: <geom>: expected attributes that MJCF knows in <geom>, got 'sise'; did you mean 'size'?",
        ),
        (
            r#"<worldbody><geo/></worldbody>"#,
            "test.xml:1: <geo>: expected elements that MJCF knows in <worldbody>, got <geo>; did you mean <geom>?",
        ),
        (
            r#"<default><joint name="a"/></default>"#,
            "test.xml:1: <joint name=\"a\">: expected attributes that MJCF knows in <joint>, got 'name'",
        ),
        (
            r#"<actuator><motor kp="3"/></actuator>"#,
            "test.xml:1: <motor>: expected attributes that MJCF knows in <motor>, got 'kp'",
        ),
        (
            r#"<equality><joint joint="a"/></equality>"#,
            "test.xml:1: <joint>: expected attributes that MJCF knows in <joint>, got 'joint'; did you mean 'joint1'?",
        ),
        (
            r#"<compilers/>"#,
            "test.xml:1: <compilers>: expected elements that MJCF knows in <mujoco>, got <compilers>; did you mean <compiler>?",
        ),
    ];
    for (inside, expected) in cases {
        let error = wrong(inside);
        assert!(error.starts_with(expected), "\n got  {error}\n want {expected}");
    }
}

#[test]
fn what_makes_no_difference_is_one_note_for_the_whole_file() {
    let model = mjcf(
        r#"<mujoco><option cone="elliptic" impratio="10"/><visual><global fovy="3"/></visual><size njmax="3"/>
           <asset><texture builtin="flat"/></asset><worldbody><light/><body><joint solreflimit="1 1"/>
           <geom size="1" solref="0.1 1" rgba="1 0 0 1"/><geom size="1" solref="0.2 1"/></body></worldbody></mujoco>"#,
    )
    .unwrap();
    let note = "makes no difference to the motion here: softness and solver of MuJoCo \
                (cone, impratio, solref, solreflimit); pictures (light, texture, visual); \
                measurements and records (size)";
    assert_eq!(model.notes(), [note]);
    assert!(model.warnings().is_empty(), "{:?}", model.warnings());
}

#[test]
fn copies_are_numbered_and_take_along_what_refers_to_them() {
    let model = mjcf(
        r#"<mujoco><worldbody><body name="base"><joint name="k"/><geom size="1"/></body>
           <replicate count="3" offset="0 0 2" euler="0 0 90" sep="-"><body name="b" pos="1 0 0"><joint name="j"/>
           <geom size="1"/><replicate count="10" offset="0 1 0"><site name="s"/></replicate></body></replicate></worldbody>
           <tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon>
           <actuator><motor name="m" tendon="t"/><motor name="n" joint="k"/></actuator></mujoco>"#,
    )
    .unwrap();
    let names: Vec<_> = model.bodies().iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["world", "base", "b-0", "b-1", "b-2"]);
    assert!(model.frame("s00-0").is_ok() && model.frame("s09-2").is_ok() && model.frame("s10-0").is_err());
    let actuators: Vec<_> = model.actuators().iter().map(|a| a.name.as_str()).collect();
    assert_eq!(actuators, ["n", "m-0", "m-1", "m-2"]);
    assert_eq!(model.tendons().len(), 3);
    let p = model.placements()[4].position;
    assert!((p.x + 1.0).abs() + p.y.abs() + (p.z - 4.0).abs() < 1e-15, "{p:?}");
}

#[test]
fn angles_of_copies_are_multiplied_as_mujoco_does() {
    let model = mjcf(
        r#"<mujoco><worldbody><replicate count="3" offset=".1 .2 .3" euler="20 30 40"><body name="b" pos=".5 .2 .1"><joint/>
           <geom size=".1"/></body></replicate></worldbody></mujoco>"#,
    )
    .unwrap();
    // MuJoCo 4.0: body_pos of the third body
    let (p, expected) = (model.placements()[3].position.to_array(), [0.23654112, 0.61698565, 1.09313826]);
    assert!(p.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-8), "{p:?}");
}

#[test]
fn copies_beyond_all_measure_are_refused() {
    let inside = "<worldbody>".to_string()
        + &r#"<replicate count="100">"#.repeat(20)
        + "<geom size='1'/>"
        + &"</replicate>".repeat(20)
        + "</worldbody>";
    assert!(wrong(&inside).contains("expected at most 1000000 elements, got"));
    assert!(wrong(r#"<worldbody><replicate count="0"/></worldbody>"#).contains("a positive number of copies"));
}

/// The documentation carries the table that the reader goes by. `UPDATE_DOCS=1` writes it anew.
#[test]
fn the_documented_table_is_the_one_in_the_code() {
    let path = repository().join("docs/loading.md");
    let text = std::fs::read_to_string(&path).expect("docs/loading.md");
    let (begin, end) = ("<!-- mjcf table: begin -->\n", "<!-- mjcf table: end -->");
    let (before, rest) = text.split_once(begin).expect("the mark where the table begins");
    let (_, after) = rest.split_once(end).expect("the mark where the table ends");
    let wanted = format!("{before}{begin}{}{end}{after}", schema_table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    } else {
        assert!(text == wanted, "docs/loading.md is out of date: run this test with UPDATE_DOCS=1");
    }
}

#[test]
fn attached_models_keep_their_own_classes_and_units() {
    let folder = std::env::temp_dir().join(format!("slipstick-attach-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("arm")).unwrap();
    let arm = r#"<mujoco><compiler angle="radian"/><default><joint damping="3"/><default class="k"><motor gear="7"/></default></default>
        <worldbody><body name="b" pos="0 0 1"><joint name="j" range="-1 1"/><geom size=".2"/></body>
        <body name="o"><joint name="l"/><geom size=".2"/></body></worldbody>
        <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed><fixed name="u"><joint joint="l" coef="1"/></fixed></tendon>
        <actuator><motor name="a" tendon="t" class="k"/><motor name="c" joint="l"/></actuator></mujoco>"#;
    let main = |attach: &str| {
        format!(
            r#"<mujoco><default><joint stiffness="11"/></default><asset><model name="arm" file="arm/arm.xml"/></asset><worldbody>
            <body name="r"><joint name="j" range="-90 90"/><geom size="1"/><frame pos="1 0 0" euler="0 90 0">{attach}</frame>
            </body></worldbody><actuator><motor name="first" joint="j"/></actuator></mujoco>"#
        )
    };
    std::fs::write(folder.join("arm/arm.xml"), arm).unwrap();
    let load = |attach: &str| {
        std::fs::write(folder.join("main.xml"), main(attach)).unwrap();
        slipstick_io::load(folder.join("main.xml"))
    };
    let model = load(r#"<attach model="arm" body="b" prefix="p_"/>"#).unwrap();
    assert_eq!(model.dof_names(), ["j", "p_j"]);
    assert_eq!((model.stiffness(), model.damping()), (&[11.0, 0.0][..], &[0.0, 3.0][..]));
    assert_eq!(model.joints()[1].range, Some([-1.0, 1.0]));
    let actuators: Vec<_> = model.actuators().iter().map(|a| (a.name.as_str(), a.gear[0])).collect();
    assert_eq!(actuators, [("first", 1.0), ("p_a", 7.0)]);
    let p = model.placements()[2].position;
    assert!((p.x - 2.0).abs() + p.z.abs() < 1e-15, "{p:?}");
    let whole = load(r#"<attach model="arm" prefix="p_"/>"#).unwrap();
    assert_eq!(whole.dof_names(), ["j", "p_j", "p_l"]);
    let error = |attach: &str| load(attach).unwrap_err().to_string();
    assert!(error(r#"<attach model="leg" prefix="p_"/>"#).contains("no model among the assets named 'leg'"));
    assert!(error(r#"<attach model="arm" body="x" prefix="p_"/>"#).contains("no body in the attached model named 'x'"));
    let cycle = main(r#"<attach model="arm" prefix="p_"/>"#).replace("arm/arm.xml", "main.xml");
    std::fs::write(folder.join("main.xml"), cycle).unwrap();
    let error = slipstick_io::load(folder.join("main.xml")).unwrap_err().to_string();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(error.contains("at most 8 models inside each other"), "{error}");
}
