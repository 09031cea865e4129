//! Names of the file to numbers of the builder, for the sections that refer to the tree.

use super::body::Link;
use crate::attribute::Attribute;
use crate::error::LoadError;
use slipstick_core::model::{FrameId, GeomId, JointId, JointSpec};
use slipstick_core::spatial::Pose;
use std::collections::{HashMap, HashSet};

/// A link, and where it is in the neutral configuration.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkAt {
    pub id: FrameId,
    pub pose: Pose,
}

/// A site.
#[derive(Debug, Clone, Copy)]
pub(super) struct SiteAt {
    pub frame: FrameId,
    /// The link that carries it.
    pub link: LinkAt,
    /// Its pose in that link.
    pub local: Pose,
}

/// What a name stands for.
#[derive(Debug, Default)]
pub(super) struct Index<'b> {
    joints: HashMap<&'b str, (JointId, &'b JointSpec)>,
    links: HashMap<&'b str, LinkAt>,
    sites: HashMap<&'b str, SiteAt>,
    geoms: HashMap<&'b str, Vec<GeomId>>,
    /// Geoms of the file that the model does not have.
    left_out: HashSet<&'b str>,
}

impl<'b> Index<'b> {
    /// `links` were added as `ids`, with their sites in the same order, and their geoms as `geoms`.
    pub fn new(
        links: &'b [Link],
        ids: &[FrameId],
        geoms: HashMap<&'b str, Vec<GeomId>>,
        left_out: &'b HashSet<String>,
    ) -> Index<'b> {
        let left_out = left_out.iter().map(String::as_str).collect();
        let mut index = Index { geoms, left_out, ..Index::default() };
        let joints = links.iter().flat_map(|l| &l.joints).enumerate();
        index.joints = joints.map(|(i, j)| (j.name.as_str(), (JointId(i), j))).collect();
        let mut poses: Vec<Pose> = Vec::with_capacity(links.len());
        let mut n_sites = 0;
        for (link, id) in links.iter().zip(ids) {
            let pose = if poses.is_empty() { Pose::IDENTITY } else { poses[link.parent] * link.pose };
            poses.push(pose);
            let at = LinkAt { id: *id, pose };
            index.links.insert(&link.name, at);
            for site in &link.sites {
                // sites are numbered after all links
                let frame = FrameId(links.len() + n_sites);
                index.sites.insert(&site.name, SiteAt { frame, link: at, local: site.pose });
                n_sites += 1;
            }
        }
        index
    }

    pub fn joint(&self, name: Attribute) -> Result<(JointId, &'b JointSpec), LoadError> {
        self.joints.get(name.value).copied().ok_or_else(|| name.element.unknown("joint", name.value))
    }

    /// A hinge or a slide.
    pub fn one_dof(&self, name: Attribute) -> Result<JointId, LoadError> {
        let (id, spec) = self.joint(name)?;
        if spec.kind.nv() == 1 { Ok(id) } else { Err(name.wrong("a hinge or a slide")) }
    }

    pub fn link(&self, name: Attribute) -> Result<LinkAt, LoadError> {
        self.links.get(name.value).copied().ok_or_else(|| name.element.unknown("body", name.value))
    }

    pub fn site(&self, name: Attribute) -> Result<SiteAt, LoadError> {
        self.sites.get(name.value).copied().ok_or_else(|| name.element.unknown("site", name.value))
    }

    /// Whether geoms of the file are not in the model.
    pub fn lacks_geoms(&self) -> bool {
        !self.left_out.is_empty()
    }

    /// The parts of a geom; none for one of the file that the model does not have.
    pub fn geom(&self, name: Attribute) -> Result<&[GeomId], LoadError> {
        match self.geoms.get(name.value) {
            Some(parts) => Ok(parts),
            None if self.left_out.contains(name.value) => Ok(&[]),
            None => Err(name.element.unknown("geom", name.value)),
        }
    }
}
