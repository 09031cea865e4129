//! Models to files.

mod hash;
mod inertia;
mod joint;
mod mjcf;
mod pairs;
mod parts;
mod pose;
mod sensor;
mod urdf;
mod urdf_joint;
mod xml;

pub use hash::content_hash;
pub use mjcf::{to_mjcf, to_mjcf_with_warnings};
pub use urdf::{mesh_file_names, mesh_to_obj, to_urdf};

pub(crate) use pairs::PAIR_RULE;

use slipstick_core::Model;
use slipstick_core::model::{BodyId, Joint};
use std::fmt;

/// What becomes of shapes and colors for pictures.
const NO_VISUALS: &str = "visual shapes are not written: pictures show the collision shapes";

/// Something of a model that a written file cannot say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionWarning {
    /// What it is about, for example `joint 'hip'`.
    pub what: String,
    /// What is lost, or what stands for it.
    pub effect: String,
}

impl ConversionWarning {
    fn new(what: impl Into<String>, effect: impl Into<String>) -> ConversionWarning {
        ConversionWarning { what: what.into(), effect: effect.into() }
    }
}

impl fmt::Display for ConversionWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.effect)
    }
}

/// Joints of each body, in the order of q.
fn joints_by_body(model: &Model) -> Vec<Vec<&Joint>> {
    let mut out = vec![Vec::new(); model.n_bodies()];
    for joint in model.joints() {
        out[joint.body.0].push(joint);
    }
    out
}

/// Number of links: the frames before the sites.
fn n_links(model: &Model) -> usize {
    model.frames().iter().filter(|f| f.inertia.is_some()).count()
}

/// Whether a link carries the joints of its body; the world counts.
fn is_first_link(model: &Model, link: usize) -> bool {
    let body = model.frames()[link].body;
    body == BodyId::WORLD && link == 0 || body != BodyId::WORLD && model.bodies()[body.0].link.0 == link
}
