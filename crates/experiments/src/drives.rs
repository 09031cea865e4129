//! Which dofs of a robot have actuators, and what these can do.

use slipstick::Model;
use slipstick::model::{Joint, JointKind, Transmission};

/// The dofs of a robot that have actuators: the matrix S of the paper picks them.
#[derive(Debug, Clone, PartialEq)]
pub struct Drives {
    /// The dofs, rising.
    pub dofs: Vec<usize>,
    /// Names of their joints.
    pub names: Vec<String>,
    /// Smallest and largest torque of each (N·m or N).
    pub limits: Vec<[f64; 2]>,
}

impl Drives {
    /// Joints of one dof that an actuator pulls on; in a model without actuators (a URDF has none) all joints of one
    /// dof.
    pub fn of(model: &Model) -> Drives {
        let mut drives = Drives { dofs: Vec::new(), names: Vec::new(), limits: Vec::new() };
        for (k, joint) in model.joints().iter().enumerate().filter(|(_, j)| has_one_dof(j)) {
            if let Some(limits) = limits(model, k, joint) {
                drives.dofs.push(joint.v.start);
                drives.names.push(joint.name.clone());
                drives.limits.push(limits);
            }
        }
        drives
    }

    /// Torques of the drives as generalized forces (nv).
    pub fn spread(&self, torques: &[f64], tau: &mut [f64]) {
        tau.fill(0.0);
        self.dofs.iter().zip(torques).for_each(|(j, t)| tau[*j] = *t);
    }
}

fn has_one_dof(joint: &Joint) -> bool {
    matches!(joint.kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. })
}

/// What the joint bears and its actuators can do together; `None` without actuator.
fn limits(model: &Model, k: usize, joint: &Joint) -> Option<[f64; 2]> {
    if model.actuators().is_empty() {
        return Some(joint.effort);
    }
    let own = model.actuators().iter().filter(|a| matches!(a.transmission, Transmission::Joint(id) if id.0 == k));
    let ranges = own.map(|a| {
        let range = a.force_range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let ends = range.map(|f| if a.gear[0] == 0.0 { 0.0 } else { a.gear[0] * f });
        [ends[0].min(ends[1]), ends[0].max(ends[1])]
    });
    let sum = ranges.reduce(|a, b| [a[0] + b[0], a[1] + b[1]])?;
    Some([sum[0].max(joint.effort[0]), sum[1].min(joint.effort[1])])
}
