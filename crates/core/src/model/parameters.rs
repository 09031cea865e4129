//! Every number of a model that can be differentiated: one flat vector with named groups.

use crate::error::InputError;
use core::ops::Range;
use std::sync::Arc;

/// A named part of the parameter vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ParameterGroup {
    /// Ten per moving body: m, m c (3), inertia about the body's origin (xx, xy, yy, xz, yz, zz) (kg, kg·m, kg·m²).
    Inertial,
    /// Six per moving body: position (m) and rotation vector (rad) of the body in its parent before its joints move.
    JointPlacement,
    /// One per dof: inertia of the drive (kg·m² or kg).
    Armature,
    /// One per dof: force per velocity.
    Damping,
    /// One per dof: force per displacement.
    Stiffness,
    /// One per coordinate of q: where springs rest.
    SpringReference,
    /// One per dof: largest dry friction force.
    DryFriction,
    /// Gravity in world axes (m/s²).
    Gravity,
    /// One per geom: Coulomb's coefficient. A contact has the larger one of its two geoms, or that of the geom with higher
    /// priority. An explicit pair of a file has its own, which is no parameter.
    ///
    /// Derivatives are with respect to one entry each: that of the geom which does not decide is zero. Where two geoms tie,
    /// as all do by default, each has half (the mean of its two sides). The derivative with respect to the friction of the
    /// contact is the sum of both, and along [`Model::with_uniform_friction`](super::Model::with_uniform_friction) the sum
    /// over the group.
    Friction,
    /// One per geom: restitution.
    Restitution,
    /// One per geom: contact compliance (1/kg).
    Compliance,
    /// Three per geom: sizes of the shape (m), unused ones zero.
    ShapeSize,
    /// Three per mesh: scale of the mesh as loaded.
    MeshScale,
    /// Four per actuator: gain, constant force, force per length, force per velocity.
    Actuator,
}

impl ParameterGroup {
    /// All groups in the order of the vector.
    pub const ALL: [ParameterGroup; 14] = [
        ParameterGroup::Inertial,
        ParameterGroup::JointPlacement,
        ParameterGroup::Armature,
        ParameterGroup::Damping,
        ParameterGroup::Stiffness,
        ParameterGroup::SpringReference,
        ParameterGroup::DryFriction,
        ParameterGroup::Gravity,
        ParameterGroup::Friction,
        ParameterGroup::Restitution,
        ParameterGroup::Compliance,
        ParameterGroup::ShapeSize,
        ParameterGroup::MeshScale,
        ParameterGroup::Actuator,
    ];

    /// The word used in Python and reports.
    pub const fn name(self) -> &'static str {
        match self {
            ParameterGroup::Inertial => "inertial",
            ParameterGroup::JointPlacement => "joint_placement",
            ParameterGroup::Armature => "armature",
            ParameterGroup::Damping => "damping",
            ParameterGroup::Stiffness => "stiffness",
            ParameterGroup::SpringReference => "spring_reference",
            ParameterGroup::DryFriction => "dry_friction",
            ParameterGroup::Gravity => "gravity",
            ParameterGroup::Friction => "friction",
            ParameterGroup::Restitution => "restitution",
            ParameterGroup::Compliance => "compliance",
            ParameterGroup::ShapeSize => "shape_size",
            ParameterGroup::MeshScale => "mesh_scale",
            ParameterGroup::Actuator => "actuator",
        }
    }

    /// Names of the entries that belong to one owner, in order.
    pub const fn entries(self) -> &'static [&'static str] {
        match self {
            ParameterGroup::Inertial => &["m", "mx", "my", "mz", "xx", "xy", "yy", "xz", "yz", "zz"],
            ParameterGroup::JointPlacement => &["x", "y", "z", "rx", "ry", "rz"],
            ParameterGroup::Gravity | ParameterGroup::ShapeSize | ParameterGroup::MeshScale => &["x", "y", "z"],
            ParameterGroup::Actuator => &["gain", "bias0", "bias1", "bias2"],
            _ => &[""],
        }
    }
}

/// Where each group lies in the vector and what each entry belongs to. Shared by all parameter vectors of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterLayout {
    ends: Vec<usize>,
    owners: Vec<Vec<String>>,
}

impl ParameterLayout {
    /// `owners(group)` names the owners of each group in order (bodies, dofs, geoms, …).
    pub(crate) fn new(mut owners: impl FnMut(ParameterGroup) -> Vec<String>) -> ParameterLayout {
        let owners: Vec<Vec<String>> = ParameterGroup::ALL.iter().map(|g| owners(*g)).collect();
        let mut end = 0;
        let ends = ParameterGroup::ALL.iter().zip(&owners).map(|(g, o)| {
            end += g.entries().len() * o.len();
            end
        });
        ParameterLayout { ends: ends.collect(), owners }
    }

    /// Names of what has parameters, group by group.
    pub(super) fn owners(&self) -> &Vec<Vec<String>> {
        &self.owners
    }

    /// Where a group lies.
    pub fn range(&self, group: ParameterGroup) -> Range<usize> {
        let k = group as usize;
        (if k == 0 { 0 } else { self.ends[k - 1] })..self.ends[k]
    }

    /// Length of the vector.
    pub fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Whether the vector has no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A readable name of an entry, such as `inertial/torso/xx`; `None` past the end.
    pub fn name(&self, index: usize) -> Option<String> {
        let group = ParameterGroup::ALL.into_iter().find(|g| self.range(*g).contains(&index))?;
        let (k, entries) = (index - self.range(group).start, group.entries());
        let owner = &self.owners[group as usize][k / entries.len()];
        Some(path(&[group.name(), owner, entries[k % entries.len()]]))
    }

    /// Names of all entries, in order.
    pub fn names(&self) -> Vec<String> {
        (0..self.len()).filter_map(|k| self.name(k)).collect()
    }

    /// Index of the entry with a name, such as `inertial/torso/xx` or `friction/floor`.
    pub fn index(&self, name: &str) -> Result<usize, InputError> {
        let names = self.names();
        let found = names.iter().position(|n| n == name);
        found.ok_or_else(|| InputError::unknown_name("parameter", name, names.iter().map(String::as_str)))
    }

    /// Where the entries lie that belong to one owner: a body, dof, geom, mesh or actuator, by the group. Geoms and actuators
    /// without a name have their number.
    pub fn range_of(&self, group: ParameterGroup, owner: &str) -> Result<Range<usize>, InputError> {
        let (owners, n) = (&self.owners[group as usize], group.entries().len());
        let found = owners.iter().position(|o| o == owner).map(|k| self.range(group).start + n * k);
        let unknown = || {
            let names: Vec<String> = owners.iter().map(|o| path(&[group.name(), o])).collect();
            InputError::unknown_name("parameter", &path(&[group.name(), owner]), names.iter().map(String::as_str))
        };
        found.map(|start| start..start + n).ok_or_else(unknown)
    }
}

/// Parts of a name; some things have no part of their own.
fn path(parts: &[&str]) -> String {
    parts.iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join("/")
}

/// Values of all parameters of a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Parameters {
    values: Vec<f64>,
    layout: Arc<ParameterLayout>,
}

impl Parameters {
    pub(crate) fn new(values: Vec<f64>, layout: Arc<ParameterLayout>) -> Parameters {
        debug_assert_eq!(values.len(), layout.len());
        Parameters { values, layout }
    }

    /// These values, and those of more owners at the end of a group.
    pub(super) fn extended(&self, group: ParameterGroup, owners: Vec<String>, values: &[f64]) -> Parameters {
        let mut all = self.layout.owners.clone();
        all[group as usize].extend(owners);
        let (end, mut extended) = (self.layout.range(group).end, self.values.clone());
        extended.splice(end..end, values.iter().copied());
        Parameters::new(extended, Arc::new(ParameterLayout::new(|g| std::mem::take(&mut all[g as usize]))))
    }

    /// The flat vector.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The flat vector, to be changed.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Where the groups lie.
    pub fn layout(&self) -> &ParameterLayout {
        &self.layout
    }

    /// The entries of a group.
    pub fn group(&self, group: ParameterGroup) -> &[f64] {
        &self.values[self.layout.range(group)]
    }

    /// The entries of a group, to be changed.
    pub fn group_mut(&mut self, group: ParameterGroup) -> &mut [f64] {
        let range = self.layout.range(group);
        &mut self.values[range]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_tile_the_vector_and_every_entry_has_a_name() {
        let layout = ParameterLayout::new(|g| match g {
            ParameterGroup::Inertial => vec!["torso".into(), "leg".into()],
            ParameterGroup::Gravity => vec![String::new()],
            ParameterGroup::Damping => vec!["hip".into()],
            _ => vec![],
        });
        assert_eq!(layout.len(), 24);
        assert_eq!(layout.name(14).as_deref(), Some("inertial/leg/xx"));
        assert_eq!(layout.name(20).as_deref(), Some("damping/hip"));
        assert_eq!(layout.name(21).as_deref(), Some("gravity/x"));
        assert_eq!(layout.name(24), None);
        assert!(layout.names().iter().enumerate().all(|(k, name)| layout.index(name) == Ok(k)));
        assert_eq!(layout.names().len(), 24);
        assert_eq!(layout.range_of(ParameterGroup::Inertial, "leg"), Ok(10..20));
        assert_eq!(layout.range_of(ParameterGroup::Gravity, ""), Ok(21..24));
        let told = |e: InputError| e.to_string();
        let unknown = layout.index("inertial/leeg/yy").map_err(told);
        let expected = "the model has no parameter named 'inertial/leeg/yy' (did you mean 'inertial/leg/yy'?)";
        assert_eq!(unknown, Err(expected.into()));
        let unknown = layout.range_of(ParameterGroup::Damping, "waist").map_err(told);
        assert_eq!(unknown, Err("the model has no parameter named 'damping/waist' (it has: damping/hip)".into()));
        let mut end = 0;
        for g in ParameterGroup::ALL {
            assert_eq!(layout.range(g).start, end);
            end = layout.range(g).end;
        }
    }
}
