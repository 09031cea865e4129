//! `<equality>`: constraints that hold at all times. Points and poses that the file leaves out are those of the neutral
//! configuration.

use super::defaults::{ClassId, Defaults, Properties};
use super::index::{Index, LinkAt};
use super::tendon::Tendons;
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::names::Names;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use slipstick_core::model::{Equality, EqualityKind};
use slipstick_core::spatial::{Pose, Quat, Vec3};

pub(super) fn read<'a>(
    root: Element<'a>,
    defaults: &Defaults<'a>,
    index: &Index,
    tendons: &Tendons,
    warnings: &mut Warnings,
) -> Result<Vec<Equality>, LoadError> {
    let mut list = Vec::new();
    let mut names = Names::new("equality constraint", root);
    for element in root.all("equality").flat_map(|section| section.children()) {
        let p = defaults.complete(element, &["equality"], ClassId::MAIN)?;
        let kind = match element.name() {
            "joint" => Some(joint(&p, index)?),
            "tendon" => tendon(&p, tendons, warnings)?,
            "connect" => Some(connect(&p, index)?),
            "weld" => Some(weld(&p, index)?),
            _ => None,
        };
        let name = element.text("name").map(|n| names.given(n, element)).transpose()?.unwrap_or_default();
        if let Some(kind) = kind {
            list.push(Equality { name, kind, active: p.flag("active", true)? });
        }
    }
    Ok(list)
}

const COEFFICIENTS: [f64; 5] = [0.0, 1.0, 0.0, 0.0, 0.0];

fn joint(p: &Properties, index: &Index) -> Result<EqualityKind, LoadError> {
    let other = p.attribute("joint2").map(|a| index.one_dof(a)).transpose()?;
    let joint = index.one_dof(p.required("joint1")?)?;
    if other == Some(joint) {
        return Err(p.required("joint2")?.wrong("another joint than joint1"));
    }
    Ok(EqualityKind::Joint { joint, other, coefficients: p.overlaid("polycoef", COEFFICIENTS)? })
}

fn tendon(p: &Properties, tendons: &Tendons, warnings: &mut Warnings) -> Result<Option<EqualityKind>, LoadError> {
    let first = tendons.find(p.required("tendon1")?)?;
    let second = p.attribute("tendon2").map(|a| tendons.find(a)).transpose()?;
    let (Some(tendon), false) = (first, second == Some(None)) else {
        warnings.add_once(p.element(), "a constraint between spatial tendons is not supported: it is ignored");
        return Ok(None);
    };
    let coefficients = p.overlaid("polycoef", COEFFICIENTS)?;
    Ok(Some(EqualityKind::Tendon { tendon, other: second.flatten(), coefficients }))
}

/// Links of a constraint, each with the frame in it that is meant: the link's own, or a site's.
fn sides(p: &Properties, index: &Index) -> Result<([LinkAt; 2], Option<[Pose; 2]>), LoadError> {
    let e = p.element();
    if e.text("site1").is_some() || e.text("site2").is_some() {
        if let Some(other) = ["body1", "body2", "anchor", "relpose"].into_iter().find_map(|n| e.attribute(n)) {
            return Err(e.structure("sites alone, or bodies with an anchor", format!("sites and {}", other.name)));
        }
        let (a, b) = (index.site(p.required("site1")?)?, index.site(p.required("site2")?)?);
        return Ok(([a.link, b.link], Some([a.local, b.local])));
    }
    let first = index.link(p.required("body1")?)?;
    let world = LinkAt { id: ModelBuilder::WORLD, pose: Pose::IDENTITY };
    let second = p.attribute("body2").map_or(Ok(world), |a| index.link(a))?;
    Ok(([first, second], None))
}

fn connect(p: &Properties, index: &Index) -> Result<EqualityKind, LoadError> {
    let (links, sites) = sides(p, index)?;
    let points = match sites {
        Some(local) => local.map(|pose| pose.position),
        None => {
            let anchor = Vec3::from(p.required("anchor")?.array()?);
            [anchor, (links[1].pose.inverse() * links[0].pose).point(anchor)]
        }
    };
    Ok(EqualityKind::Connect { frames: links.map(|l| l.id), points })
}

fn weld(p: &Properties, index: &Index) -> Result<EqualityKind, LoadError> {
    let (links, sites) = sides(p, index)?;
    let frames = links.map(|l| l.id);
    let torque_scale = p.float_or("torquescale", 1.0)?;
    if let Some([a, b]) = sites {
        return Ok(EqualityKind::Weld { frames, pose: a * b.inverse(), anchor: b.position, torque_scale });
    }
    let anchor = p.vec3("anchor")?.unwrap_or(Vec3::ZERO);
    let relative = p.overlaid("relpose", [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])?;
    let pose = match Quat::from_slice(&relative[3..]).normalized() {
        // a quaternion of zeros stands for the neutral configuration
        None => links[0].pose.inverse() * links[1].pose,
        Some(turn) => {
            // MuJoCo takes the position as that of the anchor in the first body
            let met = Pose::new(Vec3::from_slice(&relative), turn);
            Pose::new(met.position - met.rotation * anchor, turn)
        }
    };
    Ok(EqualityKind::Weld { frames, pose, anchor, torque_scale })
}
