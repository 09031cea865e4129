//! `<option><flag>`: what a file switches off does not act.

use crate::mjcf;
use slipstick_core::Model;
use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{GeomId, PairRule, ParameterGroup};
use slipstick_io::{LoadOptions, PairChoice, load_mjcf_str, to_mjcf};

/// A pendulum with a slide, with one of everything that a flag switches off.
fn robot(flag: &str) -> Model {
    mjcf(&format!(
        r#"<mujoco><option><flag {flag}/></option><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body pos="0 0 1" gravcomp="0.5"><joint name="h" axis="0 1 0" damping="0.3" stiffness="2" springref="20" range="-10 10" frictionloss="0.1"/>
 <geom name="a" size="0.1" mass="2"/><geom name="b" size="0.05" pos="0.3 0 0" mass="1" margin="0.1"/>
 <body pos="0.3 0 0"><joint name="k" type="slide" axis="1 0 0" springdamper="0.5 1"/><geom name="c" size="0.1" mass="1" friction="2"/></body></body>
</worldbody>
<tendon><fixed name="t" stiffness="3" damping="0.5" range="-0.1 0.1" frictionloss="0.1"><joint joint="h" coef="1"/></fixed></tendon>
<equality><joint joint1="k"/></equality>
<actuator><motor joint="h" ctrlrange="-1 1" gear="2" forcerange="-5 5"/><position joint="h" kp="10" kv="1" inheritrange="1"/></actuator></mujoco>"#
    ))
    .unwrap()
}

/// Accelerations without constraints.
fn acceleration(model: &Model) -> [f64; 2] {
    let (q, v) = ([0.4, 0.02], [0.5, 0.3]);
    let (mut passive, mut tau, mut a) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    let mut workspace = Workspace::new(model);
    workspace.passive(model, &q, &v, &mut passive).unwrap();
    workspace.actuate(model, &q, &v, &[3.0, 0.5], &mut tau).unwrap();
    tau.iter_mut().zip(passive).for_each(|(t, p)| *t += p);
    workspace.aba(model, &q, &v, &tau, &[], &mut a).unwrap();
    a
}

#[test]
fn forces_that_are_off_do_not_act() {
    // qacc_smooth of MuJoCo 4.0
    for (flag, expected) in [
        ("equality", [13.3466135785675, 2.62019393804786]),
        ("spring", [14.5864906379914, 2.70019393804786]),
        ("damper", [15.2940332475061, 3.82019393804786]),
        ("gravity", [-7.32882909450506, -1.2]),
        ("clampctrl", [48.6663348444178, 2.62019393804786]),
        ("actuation", [17.0207652241647, 2.62019393804786]),
    ] {
        let model = robot(&format!("{flag}='disable'"));
        let got = acceleration(&model);
        assert!(got.iter().zip(expected).all(|(g, e)| (g - e).abs() < 1e-8), "{flag}: {got:?} {expected:?}");
        assert!(model.warnings().is_empty(), "{:?}", model.warnings());
        assert_eq!(acceleration(&mjcf(&to_mjcf(&model)).unwrap()), got, "{flag} after writing");
    }
}

#[test]
fn constraints_that_are_off_are_left_out() {
    let counts = |flag: &str| {
        let m = robot(flag);
        let limits = m.joints().iter().filter(|j| j.range.is_some()).count();
        let limits = limits + m.tendons().iter().filter(|t| t.range.is_some()).count();
        let friction = m.parameters().group(ParameterGroup::DryFriction).iter().filter(|f| **f > 0.0).count();
        let friction = friction + m.tendons().iter().filter(|t| t.dry_friction > 0.0).count();
        [m.pairs().len(), limits, friction, m.equalities().iter().filter(|e| e.active).count()]
    };
    let all = [3, 2, 2, 1];
    assert_eq!(counts("gravity='disable'"), all);
    assert_eq!(counts("contact='enable' limit='enable'"), all);
    assert_eq!(counts("contact='disable'"), [0, 2, 2, 1]);
    assert_eq!(counts("limit='disable'"), [3, 0, 2, 1]);
    assert_eq!(counts("frictionloss='disable'"), [3, 2, 0, 1]);
    assert_eq!(counts("equality='disable'"), [3, 2, 2, 0]);
    assert_eq!(counts("constraint='disable' filterparent='disable'"), [0; 4]);
    let note = "switched off by <flag>, and left out: limit, contact";
    assert!(robot("contact='disable' limit='disable'").notes().iter().any(|n| n == note));
    assert_eq!(robot("limit='disable'").actuators()[1].ctrl_range, robot("").actuators()[1].ctrl_range);
    let error = mjcf("<mujoco><option><flag contact='off'/></option></mujoco>").unwrap_err().to_string();
    assert!(error.contains("contact: expected one of disable, enable, got 'off'"), "{error}");
}

#[test]
fn a_file_without_contacts_stays_without_them_unless_the_caller_asks() {
    let xml = to_mjcf(&robot("contact='disable'"));
    assert!(mjcf(&xml).unwrap().pairs().is_empty());
    let mut ask = LoadOptions::default();
    ask.pairs = PairChoice::Mujoco;
    let switched = "<mujoco><option><flag contact='disable'/></option><worldbody><geom type='plane' size='1 1 1'/>
        <body><freejoint/><geom size='1'/></body></worldbody></mujoco>";
    assert!(mjcf(switched).unwrap().pairs().is_empty());
    assert_eq!(load_mjcf_str("test.xml", switched, &ask).unwrap().pairs().len(), 1);
}

#[test]
fn bodies_touch_their_parents_where_the_filter_is_off() {
    let model = robot("filterparent='disable'");
    assert_eq!(model.pair_rule(), &PairRule::Mujoco);
    let pairs: Vec<_> = model.pairs().iter().map(|p| p.geoms.map(|GeomId(i)| model.geoms()[i].name.as_str())).collect();
    assert_eq!(pairs, [["floor", "a"], ["floor", "b"], ["floor", "c"], ["a", "c"], ["b", "c"]]);
    let mixed = model.pairs().iter().find(|p| p.geoms == [GeomId(2), GeomId(3)]).unwrap().surface.unwrap();
    assert_eq!((mixed.friction, mixed.condim, mixed.offset), (2.0, 3, 0.1));
    assert_eq!(mjcf(&to_mjcf(&model)).unwrap().pairs(), model.pairs());
}
