//! Which numbers range finders and contact sensors report, and which geoms sensors look at.

use super::ids::{FrameId, GeomId};

/// What a range finder reports of its ray, in this order; one of [`RayData::ALL`] or several of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RayData(pub(super) u8);

impl RayData {
    /// Distance to the first geom (m); −1 if none is hit.
    pub const DISTANCE: RayData = RayData(1);
    /// Unit direction, world axes; zeros if nothing is hit.
    pub const DIRECTION: RayData = RayData(2);
    /// Where the ray begins, world axes (m).
    pub const ORIGIN: RayData = RayData(4);
    /// The point that is hit, world axes (m); zeros if none is.
    pub const POINT: RayData = RayData(8);
    /// Outward unit normal there, world axes; zeros if nothing is hit.
    pub const NORMAL: RayData = RayData(16);
    /// Depth in the image of a camera; on a site the distance.
    pub const DEPTH: RayData = RayData(32);
    /// All kinds in the order of their numbers, by the words of MJCF.
    pub const ALL: [(&'static str, RayData); 6] = [
        ("dist", RayData::DISTANCE),
        ("dir", RayData::DIRECTION),
        ("origin", RayData::ORIGIN),
        ("point", RayData::POINT),
        ("normal", RayData::NORMAL),
        ("depth", RayData::DEPTH),
    ];

    /// These and others.
    pub const fn with(self, other: RayData) -> RayData {
        RayData(self.0 | other.0)
    }

    /// Whether all of `other` are among them.
    pub const fn contains(self, other: RayData) -> bool {
        self.0 & other.0 == other.0
    }

    /// How many numbers they are.
    pub const fn size(self) -> usize {
        self.0.count_ones() as usize + 2 * (self.0 & 0b01_1110).count_ones() as usize
    }
}

/// What a contact sensor reports of each contact, in this order; one of [`ContactData::ALL`] or several of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContactData(pub(super) u8);

impl ContactData {
    /// How many contacts match.
    pub const FOUND: ContactData = ContactData(1);
    /// Force, along normal and tangents (N).
    pub const FORCE: ContactData = ContactData(2);
    /// Torque, along normal and tangents (N·m): zero, since contacts are points.
    pub const TORQUE: ContactData = ContactData(4);
    /// Signed distance, negative when the geoms overlap (m).
    pub const DISTANCE: ContactData = ContactData(8);
    /// The point, world axes (m).
    pub const POINT: ContactData = ContactData(16);
    /// Unit normal from the first to the second object, world axes.
    pub const NORMAL: ContactData = ContactData(32);
    /// First unit tangent, world axes.
    pub const TANGENT: ContactData = ContactData(64);
    /// All kinds in the order of their numbers, by the words of MJCF.
    pub const ALL: [(&'static str, ContactData); 7] = [
        ("found", ContactData::FOUND),
        ("force", ContactData::FORCE),
        ("torque", ContactData::TORQUE),
        ("dist", ContactData::DISTANCE),
        ("pos", ContactData::POINT),
        ("normal", ContactData::NORMAL),
        ("tangent", ContactData::TANGENT),
    ];

    /// These and others.
    pub const fn with(self, other: ContactData) -> ContactData {
        ContactData(self.0 | other.0)
    }

    /// Whether all of `other` are among them.
    pub const fn contains(self, other: ContactData) -> bool {
        self.0 & other.0 == other.0
    }

    /// How many numbers they are per contact.
    pub const fn size(self) -> usize {
        self.0.count_ones() as usize + 2 * (self.0 & 0b111_0110).count_ones() as usize
    }
}

/// Which of the matching contacts a sensor reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reduce {
    /// The first ones, in the order of the model's pairs.
    #[default]
    First,
    /// The deepest ones.
    Deepest,
    /// Those with the largest forces.
    Strongest,
    /// One contact in place of all: their sum in world axes, at the mean of their points weighted by force.
    Net,
}

impl Reduce {
    /// All of them, by the words of MJCF.
    pub const ALL: [(&'static str, Reduce); 4] = [
        ("none", Reduce::First),
        ("mindist", Reduce::Deepest),
        ("maxforce", Reduce::Strongest),
        ("netforce", Reduce::Net),
    ];
}

/// The report of a contact sensor: `slots` times the numbers of `data`, zero where fewer contacts match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContactReport {
    /// Numbers of each contact.
    pub data: ContactData,
    /// How many contacts it has room for.
    pub slots: usize,
    /// Which ones it has.
    pub reduce: Reduce,
}

/// Geoms that a sensor looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeomSet {
    /// Any geom.
    Any,
    /// One geom.
    Geom(GeomId),
    /// Those of a link.
    Link(FrameId),
    /// Those of a link and of all that it carries.
    Subtree(FrameId),
    /// Any geom, where it touches inside the shape of a site.
    Inside(FrameId),
}
