//! A key that tells two steps apart whose derivatives follow different formulas.

use super::Step;
use crate::constraint::{AT_REST, Cone, JointRowKind, Mode, Source, rows_of};
use crate::dynamics::{for_each_ctrl_partial, for_each_response};
use crate::model::GradientMode;
use crate::spatial::Vec3;

impl Step<'_> {
    /// A number that is the same for two steps of a model whenever their derivatives follow the same formula: the same
    /// things touch, with the same features and in the same modes. Points of a patch that sticks as a whole count as one.
    pub fn mode_key(&self) -> u64 {
        let assembly = &self.data.assembly;
        if let GradientMode::Central { .. } = self.model.options().gradient {
            // no modes there: what is near decides
            let contacts = self.data.contacts.contacts().iter();
            return contacts.map(|c| hash([c.pair as u64, c.feature])).fold(0, u64::wrapping_add);
        }
        // sums: in which order the points of a patch come does not matter
        let mut key = 0u64;
        for group in &assembly.problem.groups {
            let blocks = group.blocks.clone();
            let patch = assembly.is_redundant(blocks.start) && self.sticks(blocks.clone());
            let of = |k: usize| if patch { self.feature_key(k) } else { self.block_key(k) };
            let sum = blocks.clone().map(of).fold(0, u64::wrapping_add);
            let whole = if patch { hash([sum, self.constrained_directions(blocks) as u64]) } else { sum };
            key = key.wrapping_add(whole);
        }
        for (k, _) in assembly.problem.blocks.iter().enumerate().filter(|(_, b)| b.is_on_dof()) {
            key = key.wrapping_add(self.block_key(k));
        }
        if let Some(drive) = self.data.given.drive() {
            for_each_ctrl_partial(
                self.model,
                &self.data.kin,
                &self.data.given.q,
                &self.data.given.v,
                drive,
                &self.data.free.saturation,
                |i, k, slope| {
                    key = key.wrapping_add(hash([i as u64, k as u64, u64::from(slope != 0.0)]));
                },
            );
        }
        for_each_response(self.model, &self.data.given.act, self.data.given.ctrl(), |n, _, r| {
            let free = r.slopes.map(|slope| u64::from(slope != 0.0));
            key = key.wrapping_add(hash([n as u64, free[0], free[1]]));
        });
        key
    }

    /// Key of the features that touch in a block, whatever its mode.
    fn feature_key(&self, k: usize) -> u64 {
        let assembly = &self.data.assembly;
        match assembly.sources[k] {
            Source::Contact(n) => {
                let c = &self.data.contacts.contacts()[n];
                hash([c.pair as u64, c.feature])
            }
            source => {
                let name = assembly.key(source, &self.data.contacts);
                hash([name.0, name.1])
            }
        }
    }

    /// Key of a block and its mode; zero for what is open.
    fn block_key(&self, k: usize) -> u64 {
        let (assembly, mode) = (&self.data.assembly, self.data.solution.modes()[k].0);
        if mode == Mode::Break || self.is_covered_by_limit(k) {
            return 0;
        }
        let slope = assembly.bias_slope(self.model, k);
        let b = &assembly.problem.blocks[k];
        let end = matches!(b.cone, Cone::Box { .. }) && self.data.solution.lambda()[b.row] > 0.0;
        let slopes = [slope.gap.to_bits(), slope.approach.to_bits()];
        // between sticking and sliding in one direction or the other
        let at_rest = mode == Mode::Slide && self.slip(k) < AT_REST;
        let code = if at_rest { u64::MAX } else { mode as u64 };
        hash([self.feature_key(k), code, slopes[0], slopes[1], u64::from(end)])
    }

    /// How fast a block slips (m/s or rad/s); without friction there is nothing that a slip would change.
    fn slip(&self, k: usize) -> f64 {
        let b = &self.data.assembly.problem.blocks[k];
        let velocity = rows_of(self.data.solution.sigma(), b);
        match b.cone {
            Cone::Friction { mu } if mu > 0.0 => velocity[0].hypot(velocity[1]),
            Cone::Box { .. } => velocity[0].abs(),
            _ => f64::INFINITY,
        }
    }

    /// Whether it is the dry friction of a joint with an active limit: how the two divide the load moves nothing.
    fn is_covered_by_limit(&self, k: usize) -> bool {
        let assembly = &self.data.assembly;
        let kind = |k: usize| match assembly.sources[k] {
            Source::Joint(n) => Some(assembly.joint_rows[n].kind),
            _ => None,
        };
        let Some(JointRowKind::DryFriction { dof }) = kind(k) else { return false };
        let sticking_limit = |(other, (mode, _)): (usize, &(Mode, f64))| match kind(other) {
            Some(JointRowKind::Limit { joint, .. }) => {
                *mode == Mode::Stick && self.model.joints()[joint].v.start == dof
            }
            _ => false,
        };
        self.data.solution.modes().iter().enumerate().any(sticking_limit)
    }

    /// Whether no point of a patch slides.
    fn sticks(&self, mut blocks: core::ops::Range<usize>) -> bool {
        blocks.all(|k| self.data.solution.modes()[k].0 != Mode::Slide)
    }

    /// How many of the six directions of motion the points of a patch constrain.
    fn constrained_directions(&self, blocks: core::ops::Range<usize>) -> usize {
        let contact = |k: usize| match (self.data.assembly.sources[k], self.data.solution.modes()[k].0) {
            (Source::Contact(n), Mode::Stick) => Some(self.data.contacts.contacts()[n].point),
            _ => None,
        };
        let mut points = blocks.filter_map(contact);
        let Some(first) = points.next() else { return 0 };
        let mut arms = points.map(|p| p - first);
        let Some(along) = arms.next() else { return 3 };
        let wide = |arm: Vec3| arm.cross(along).norm() > 1e-6 * along.dot(along);
        if arms.any(wide) { 6 } else { 5 }
    }
}

/// Numbers one after the other, mixed (FNV-1a).
fn hash(numbers: impl IntoIterator<Item = u64>) -> u64 {
    let bytes = numbers.into_iter().flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
