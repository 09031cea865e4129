"""External wrenches: random ones, and the same in Pinocchio's convention."""

import numpy as np
import pinocchio as pin


def external_forces(oracle, model, q, wrenches):
    """World-axes wrenches at the centers of mass → Pinocchio's, in the axes and at the origin of each joint."""
    pin.forwardKinematics(oracle.model, oracle.data, oracle.q(q))
    forces = [pin.Force.Zero() for _ in range(oracle.model.njoints)]
    for name, wrench in zip(model.body_names, wrenches):
        joint = oracle.joint_of(name)
        if joint:
            X = oracle.data.oMi[joint]
            center = X.act(oracle.model.inertias[joint].lever)
            at_origin = pin.Force(wrench[:3], wrench[3:] + np.cross(center, wrench[:3]))
            forces[joint] += X.actInv(at_origin)
    return forces


def random_wrenches(oracle, model, rng):
    """A wrench on every body that the oracle knows by name and that has mass (links inside a chain have none)."""
    wrenches = np.zeros((model.n_bodies, 6))
    for i, name in enumerate(model.body_names):
        if i > 0 and oracle.joint_of(name) and model.body_masses[i] > 0:
            wrenches[i] = rng.uniform(-5, 5, 6)
    assert wrenches.any()
    return wrenches
