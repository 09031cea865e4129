//! What a description must satisfy. Everything a user can get wrong in a model is refused here.

use super::activation::Dynamics;
use super::actuator::{Actuator, Transmission};
use super::builder::{LinkSpec, ModelBuilder, SiteSpec};
use super::coupling::{Equality, EqualityKind, Tendon};
use super::field::HeightField;
use super::geometry::{GeomSpec, Shape};
use super::ids::{FrameId, GeomId, JointId};
use super::joint::{JointKind, JointSpec};
use super::options::{TIME_STEP, is_time_step};
use super::pairs::PairRule;
use super::sensor::{Sensor, SensorObject};
use super::sensor_data::GeomSet;
use super::visual::VisualShape;
use super::{DerivedParameters, Keyframe, Model};
use crate::error::{BuildError, InputError};
use crate::input_check::LARGEST;
use crate::spatial::{BodyInertia, Mat3, Pose, Vec3};
use std::collections::HashSet;

/// What a size must be.
const SIZE: &str = "a positive number up to 1e60";
/// Most numbers of a sensor: more are a mistake, and memory.
const MAX_READING: usize = 100_000;

/// Checks the parts of a description, before it is laid out.
pub(super) fn builder(b: &ModelBuilder) -> Result<(), BuildError> {
    options(b)?;
    unique("link", b.links.iter().map(|l| l.name.as_str()))?;
    unique("joint", b.links.iter().flat_map(|l| &l.joints).map(|(_, j)| j.name.as_str()))?;
    unique("geom", b.geoms.iter().map(|(_, g)| g.name.as_str()))?;
    unique("mesh", b.meshes.iter().map(|m| m.name.as_str()))?;
    unique("height field", b.fields.iter().map(|f| f.name.as_str()))?;
    unique("actuator", b.actuators.iter().map(|a| a.name.as_str()))?;
    unique("site", b.sites.iter().map(|s| s.name.as_str()))?;
    unique("keyframe", b.keyframes.iter().map(|k| k.name.as_str()))?;
    for (i, l) in b.links.iter().enumerate().skip(1) {
        link(i, l)?;
    }
    for s in &b.sites {
        refer(s.link.0 < b.links.len(), || format!("site '{}'", s.name), "link")?;
        pose(&s.pose, || format!("site '{}': pose", s.name))?;
        zone(s)?;
    }
    for (l, g) in &b.geoms {
        refer(l.0 < b.links.len(), || format!("geom '{}'", g.name), "link")?;
        geom(g, b)?;
    }
    visuals(b)?;
    let n_joints = b.links.iter().map(|l| l.joints.len()).sum::<usize>();
    for a in &b.actuators {
        let owner = || format!("actuator '{}'", a.name);
        match a.transmission {
            Transmission::Joint(id) | Transmission::JointInParent(id) => refer(id.0 < n_joints, owner, "joint")?,
            Transmission::Tendon(id) => refer(id < b.tendons.len(), owner, "tendon")?,
            Transmission::SliderCrank { rod, .. } => {
                value(rod.is_finite() && rod > 0.0, || format!("{}: rod", owner()), "a positive number", rod)?;
            }
            Transmission::Site { .. } => {}
        }
        a.transmission.frames().try_for_each(|f| frame(b, f, &owner))?;
        let numbers = a.gear.iter().chain(&a.bias).chain(&a.gain_slopes).chain([&a.gain]);
        for x in numbers {
            finite(*x, || format!("{}: gear, gain or bias", owner()))?;
        }
        for (name, range) in [("ctrl range", a.ctrl_range), ("force range", a.force_range)] {
            ordered(range, || format!("{}: {name}", owner()))?;
        }
        activation(a)?;
    }
    b.meshes.iter().try_for_each(mesh)?;
    b.fields.iter().try_for_each(field)?;
    b.tendons.iter().try_for_each(|t| tendon(b, t))?;
    b.equalities.iter().try_for_each(|e| equality(b, e))?;
    b.sensors.iter().try_for_each(|s| sensor(b, s))?;
    pairs(b)
}

fn visuals(b: &ModelBuilder) -> Result<(), BuildError> {
    for (l, v) in &b.visuals {
        let owner = || format!("visual '{}'", v.name);
        refer(l.0 < b.links.len(), owner, "link")?;
        pose(&v.pose, || format!("{}: pose", owner()))?;
        if let VisualShape::Geom(id) = v.shape {
            refer(id.0 < b.geoms.len(), owner, "geom")?;
        }
    }
    b.looks.iter().try_for_each(|(id, _)| refer(id.0 < b.geoms.len(), || "color".into(), "geom"))
}

fn activation(a: &Actuator) -> Result<(), BuildError> {
    let Some(activation) = &a.activation else { return Ok(()) };
    let what = |part: &str| format!("actuator '{}': {part}", a.name);
    if let Dynamics::Filter { time_constant: time } | Dynamics::ExactFilter { time_constant: time } =
        activation.dynamics
    {
        value(time.is_finite() && time >= 0.0, || what("time constant"), "zero or a positive number", time)?;
    }
    ordered(activation.range, || what("act range"))
}

/// The joint that was added as number `id` exists and has one dof.
fn one_dof(b: &ModelBuilder, id: JointId, owner: &dyn Fn() -> String) -> Result<(), BuildError> {
    let joint = b.links.iter().flat_map(|l| &l.joints).find(|(added, _)| *added == id);
    refer(joint.is_some(), owner, "joint")?;
    let nv = joint.map_or(1, |(_, j)| j.kind.nv());
    value(nv == 1, || format!("{}: dofs of its joint", owner()), "a joint with one dof", nv as f64)
}

fn tendon(b: &ModelBuilder, t: &Tendon) -> Result<(), BuildError> {
    let owner = || format!("tendon '{}'", t.name);
    for (id, weight) in &t.joints {
        one_dof(b, *id, &owner)?;
        finite(*weight, || format!("{}: weight", owner()))?;
    }
    for (part, x) in [("stiffness", t.stiffness), ("damping", t.damping), ("dry friction", t.dry_friction)] {
        value(x.is_finite() && x >= 0.0, || format!("{}: {part}", owner()), "zero or a positive number", x)?;
    }
    ordered(t.range, || format!("{}: range", owner()))?;
    ordered(Some(t.rest), || format!("{}: rest lengths", owner()))
}

fn equality(b: &ModelBuilder, e: &Equality) -> Result<(), BuildError> {
    let owner = || format!("equality '{}'", e.name);
    let numbers = |x: &[f64]| x.iter().try_for_each(|x| finite(*x, || format!("{}: a number", owner())));
    match &e.kind {
        EqualityKind::Joint { joint, other, coefficients } => {
            one_dof(b, *joint, &owner)?;
            other.iter().try_for_each(|id| one_dof(b, *id, &owner))?;
            numbers(coefficients)
        }
        EqualityKind::Tendon { tendon, other, coefficients } => {
            let known = *tendon < b.tendons.len() && other.is_none_or(|t| t < b.tendons.len());
            refer(known, owner, "tendon")?;
            numbers(coefficients)
        }
        EqualityKind::Connect { frames, points } => {
            frames.iter().try_for_each(|f| frame(b, *f, &owner))?;
            points.iter().try_for_each(|p| numbers(&p.to_array()))
        }
        EqualityKind::Weld { frames, pose, anchor, torque_scale } => {
            frames.iter().try_for_each(|f| frame(b, *f, &owner))?;
            self::pose(pose, || format!("{}: pose", owner()))?;
            numbers(&anchor.to_array())?;
            numbers(&[*torque_scale])
        }
    }
}

/// A link, or a site counted after all links.
fn frame(b: &ModelBuilder, f: FrameId, owner: &dyn Fn() -> String) -> Result<(), BuildError> {
    refer(f.0 < b.links.len() + b.sites.len(), owner, "frame")
}

fn sensor(b: &ModelBuilder, s: &Sensor) -> Result<(), BuildError> {
    let owner = || format!("sensor '{}'", s.name);
    let n_joints = b.links.iter().map(|l| l.joints.len()).sum::<usize>();
    match s.object {
        SensorObject::World => Ok(()),
        SensorObject::Joint(id) => refer(id.0 < n_joints, owner, "joint"),
        SensorObject::Frame(id) | SensorObject::Inertial(id) => frame(b, id, &owner),
        SensorObject::Actuator(id) => refer(id.0 < b.actuators.len(), owner, "actuator"),
        SensorObject::Tendon(id) => refer(id < b.tendons.len(), owner, "tendon"),
        SensorObject::Geoms(sets) => sets.into_iter().try_for_each(|set| geom_set(b, set, &owner)),
    }?;
    let c = s.cutoff;
    value(c.is_finite() && c >= 0.0, || format!("{}: cutoff", owner()), "zero or a positive number", c)?;
    let size = s.size();
    value(size <= MAX_READING, || format!("{}: numbers of a reading", owner()), "at most 100000", size as f64)?;
    s.reference.map_or(Ok(()), |id| frame(b, id, &owner))
}

fn geom_set(b: &ModelBuilder, set: GeomSet, owner: &dyn Fn() -> String) -> Result<(), BuildError> {
    match set {
        GeomSet::Any => Ok(()),
        GeomSet::Geom(id) => refer(id.0 < b.geoms.len(), owner, "geom"),
        GeomSet::Link(id) | GeomSet::Subtree(id) => refer(id.0 < b.links.len(), owner, "link"),
        GeomSet::Inside(id) => frame(b, id, owner),
    }
}

fn pairs(b: &ModelBuilder) -> Result<(), BuildError> {
    let n = b.geoms.len();
    let mut listed: Vec<[GeomId; 2]> = b.contacts.explicit.iter().map(|(pair, _)| *pair).collect();
    if let PairRule::List(list) = &b.contacts.rule {
        listed.extend(list);
    }
    for [x, y] in listed {
        refer(x.0 < n && y.0 < n, || format!("pair of geoms {} and {}", x.0, y.0), "geom")?;
        value(x != y, || "pair of geoms".into(), "two different geoms", x.0 as f64)?;
    }
    for pair in &b.contacts.excludes {
        refer(pair.iter().all(|f| f.0 < b.links.len()), || "contact exclusion".into(), "link")?;
    }
    Ok(())
}

/// Checks what only the finished model can tell, and adds the keyframes.
pub(super) fn model(mut model: Model, keyframes: Vec<Keyframe>) -> Result<Model, BuildError> {
    no_massless_motion(&model)?;
    for mut k in keyframes {
        let error = |e: InputError| BuildError::Value {
            what: format!("keyframe '{}'", k.name),
            expected: "vectors that fit the model",
            got: e.to_string(),
        };
        model.normalize_q(&mut k.q).map_err(error)?;
        crate::input_check::vector("v", &k.v, model.nv()).map_err(error)?;
        crate::input_check::vector("ctrl", &k.ctrl, model.nu()).map_err(error)?;
        if k.act.is_empty() {
            k.act.resize(model.na(), 0.0);
        }
        crate::input_check::vector("act", &k.act, model.na()).map_err(error)?;
        model.check_mocap(&k.mocap).map_err(error)?;
        model.structure_mut().keyframes.push(k);
    }
    Ok(model)
}

fn options(b: &ModelBuilder) -> Result<(), BuildError> {
    let o = &b.options;
    value(is_time_step(o.dt), || "option dt".into(), TIME_STEP, o.dt)?;
    for (what, vector) in [("option gravity", o.gravity), ("option magnetic", o.magnetic)] {
        vector.into_iter().try_for_each(|x| finite(x, || what.into()))?;
    }
    Ok(())
}

fn link(index: usize, l: &LinkSpec) -> Result<(), BuildError> {
    let what = |part: &str| format!("link '{}': {part}", l.name);
    refer(l.parent.0 < index, || format!("link '{}'", l.name), "parent link added before it")?;
    pose(&l.placement, || what("placement"))?;
    inertia(&l.inertia, &what)?;
    finite(l.gravity_compensation, || what("gravity compensation"))?;
    let free = l.joints.iter().any(|(_, j)| j.kind == JointKind::Free);
    if free && l.joints.len() > 1 {
        return Err(BuildError::FreeJointNotAlone { body: l.name.clone() });
    }
    l.joints.iter().try_for_each(|(_, j)| joint(j, &l.name))
}

fn inertia(i: &BodyInertia, what: &dyn Fn(&str) -> String) -> Result<(), BuildError> {
    value(i.mass >= 0.0, || what("mass"), "zero or a positive number", i.mass)?;
    finite(i.mass, || what("mass"))?;
    vector(i.com, || what("center of mass"))?;
    let f = i.about_com;
    for x in [f.xx, f.xy, f.yy, f.xz, f.yz, f.zz] {
        finite(x, || what("inertia"))?;
    }
    Ok(())
}

fn joint(j: &JointSpec, link: &str) -> Result<(), BuildError> {
    let name = if j.name.is_empty() { format!("of link '{link}'") } else { format!("'{}'", j.name) };
    let what = |part: &str| format!("joint {name}: {part}");
    if let JointKind::Revolute { axis } | JointKind::Prismatic { axis } = j.kind {
        let unit = axis.is_finite() && (axis.norm() - 1.0).abs() < 1e-9;
        value(unit, || what("length of the axis"), "a unit vector", axis.norm())?;
    }
    vector(j.anchor, || what("anchor"))?;
    for x in j.start.iter().flatten() {
        finite(*x, || what("start"))?;
    }
    for (part, x) in [("reference", j.reference), ("spring reference", j.spring_reference)] {
        finite(x, || what(part))?;
    }
    for (part, x) in
        [("armature", j.armature), ("damping", j.damping), ("stiffness", j.stiffness), ("dry friction", j.dry_friction)]
    {
        value(x.is_finite() && x >= 0.0, || what(part), "zero or a positive number", x)?;
    }
    ordered(j.range, || what("range"))?;
    ordered(Some(j.effort), || what("effort"))?;
    value(j.velocity > 0.0, || what("velocity limit"), "a positive number", j.velocity)
}

fn geom(g: &GeomSpec, b: &ModelBuilder) -> Result<(), BuildError> {
    let what = |part: &str| format!("geom '{}': {part}", g.name);
    pose(&g.pose, || what("pose"))?;
    for x in &g.shape.size()[..g.shape.n_sizes()] {
        value(is_size(*x), || what("size"), SIZE, *x)?;
    }
    let owner = || format!("geom '{}'", g.name);
    match g.shape {
        Shape::Mesh { mesh } | Shape::Terrain { mesh } => refer(mesh.0 < b.meshes.len(), owner, "mesh")?,
        Shape::HeightField { field } => refer(field.0 < b.fields.len(), owner, "height field")?,
        _ => {}
    }
    let s = &g.surface;
    for (part, x) in [("friction", s.friction), ("compliance", s.compliance)] {
        value(x.is_finite() && x >= 0.0, || what(part), "zero or a positive number", x)?;
    }
    value((0.0..=1.0).contains(&s.restitution), || what("restitution"), "a number from 0 to 1", s.restitution)?;
    finite(s.offset, || what("margin"))
}

/// A shape with an inside and sizes of its own.
fn zone(s: &SiteSpec) -> Result<(), BuildError> {
    let Some(shape) = s.zone else { return Ok(()) };
    let what = |part: &str| format!("site '{}': {part}", s.name);
    let n = shape.n_sizes();
    value(n > 0, || what(shape.name()), "a ball, capsule, cylinder, cone, box or ellipsoid", n as f64)?;
    shape.size()[..n].iter().try_for_each(|x| value(is_size(*x), || what("size"), SIZE, *x))
}

/// As parameters that are set later: squares of longer lengths overflow in a step.
fn is_size(x: f64) -> bool {
    x > 0.0 && x <= LARGEST
}

fn mesh(m: &super::Mesh) -> Result<(), BuildError> {
    let what = |part: &str| format!("mesh '{}': {part}", m.name);
    let enough = m.vertices.len() >= 4;
    value(enough, || what("number of vertices"), "at least 4", m.vertices.len() as f64)?;
    m.vertices.iter().try_for_each(|v| vector(*v, || what("vertex")))?;
    let corner = m.triangles.iter().flatten().find(|c| **c as usize >= m.vertices.len());
    refer(corner.is_none(), || what("triangle"), "vertex")
}

fn field(f: &HeightField) -> Result<(), BuildError> {
    let what = |part: &str| format!("height field '{}': {part}", f.name);
    for (part, n) in [("rows", f.rows), ("columns", f.columns)] {
        value(n >= 2, || what(part), "at least 2", n as f64)?;
    }
    let (count, largest) = (f.rows.saturating_mul(f.columns), u32::MAX as usize / 8);
    value(count <= largest, || what("number of points"), "at most 500 million", count as f64)?;
    value(f.heights.len() == count, || what("number of heights"), "rows times columns", f.heights.len() as f64)?;
    f.heights.iter().try_for_each(|h| finite(*h, || what("height")))?;
    for x in f.half_size {
        value(x.is_finite() && x > 0.0, || what("half size"), "a positive number", x)?;
    }
    finite(f.base, || what("base"))?;
    let [least, _] = f.range();
    value(least + f.base > 0.0, || what("lowest height over the base"), "a positive number", least + f.base)
}

/// A dof without any inertia below it makes M singular.
fn no_massless_motion(model: &Model) -> Result<(), BuildError> {
    let (tree, numbers): (_, &DerivedParameters) = (model.tree(), model.numbers());
    let mut carried = vec![0.0; tree.n_bodies()];
    for i in (1..tree.n_bodies()).rev() {
        let inertia = &numbers.inertia[i];
        carried[i] += inertia.mass + inertia.about_com.trace();
        let parent = tree.nodes[i].parent;
        carried[parent] += carried[i];
        let dof = tree.nodes[i].dofs.clone().find(|j| carried[i] <= 0.0 && model.armature()[*j] <= 0.0);
        if let Some(dof) = dof {
            let joint = model.joints().iter().find(|j| j.v.contains(&dof));
            return Err(BuildError::NoInertia {
                body: model.bodies()[i].name.clone(),
                joint: joint.map_or(String::new(), |j| j.name.clone()),
            });
        }
    }
    Ok(())
}

fn unique<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), BuildError> {
    let mut seen = HashSet::new();
    for name in names.filter(|n| !n.is_empty()) {
        if !seen.insert(name) {
            return Err(BuildError::DuplicateName { what, name: name.to_string() });
        }
    }
    Ok(())
}

fn refer(ok: bool, owner: impl Fn() -> String, what: &'static str) -> Result<(), BuildError> {
    if ok { Ok(()) } else { Err(BuildError::Unknown { owner: owner(), what }) }
}

fn value(ok: bool, what: impl Fn() -> String, expected: &'static str, got: f64) -> Result<(), BuildError> {
    if ok { Ok(()) } else { Err(BuildError::Value { what: what(), expected, got: got.to_string() }) }
}

fn finite(x: f64, what: impl Fn() -> String) -> Result<(), BuildError> {
    value(x.abs() <= LARGEST, what, "a finite number below 1e60 in magnitude", x)
}

/// A finite position and axes that are orthogonal and of length one.
fn pose(x: &Pose, what: impl Fn() -> String) -> Result<(), BuildError> {
    vector(x.position, &what)?;
    let (r, t) = (x.rotation, x.rotation.transpose());
    // a sum, since the larger of a number and NaN is the number
    let error = (t * r - Mat3::IDENTITY).c.iter().map(|c| c.norm()).sum::<f64>();
    value(error < 1e-6, || format!("{}: deviation of its axes from a rotation", what()), "less than 1e-6", error)
}

fn vector(v: Vec3, what: impl Fn() -> String) -> Result<(), BuildError> {
    v.to_array().into_iter().try_for_each(|x| finite(x, &what))
}

fn ordered(range: Option<[f64; 2]>, what: impl Fn() -> String) -> Result<(), BuildError> {
    match range {
        Some([lo, hi]) if lo.is_nan() || hi.is_nan() || lo > hi => {
            Err(BuildError::Value { what: what(), expected: "lower ≤ upper", got: format!("{lo} … {hi}") })
        }
        _ => Ok(()),
    }
}
