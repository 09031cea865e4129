"""States and Jacobians in Pinocchio's coordinates, and back.

    import pinocchio as pin
    pin_model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
    model = slipstick.load(path, free_root=True)
    to_pin = slipstick.pinocchio.Map(model, pin_model)
    tau = to_pin.tau_from(pin_q, pin.rnea(pin_model, data, pin_q, pin_v, pin_a))

Pinocchio itself is not imported: a map reads the joints of the model it is given.
"""

from typing import Any

from ._native import Model, PinocchioMap

__all__ = ["Map"]


class Map(PinocchioMap):
    """Conversions between a slipstick Model and a Pinocchio model of the same robot.

    Joints are matched by name. A free joint without a match by name is matched with the only unmatched free joint of
    Pinocchio (there called "root_joint"). It may be a JointModelFreeFlyer, whose linear velocity is
    in body axes, or a JointModelTranslation that carries a JointModelSpherical. Raises ValueError if a joint on either side
    is unmatched or has another kind. Composite joints are not supported.

    Methods ending in _to take our arrays and return Pinocchio's, those ending in _from the reverse: q, v, a, tau as
    vectors, Jacobians as (k, nv). Rows of Jacobians do not change (ours are Pinocchio's LOCAL_WORLD_ALIGNED).
    """

    def __new__(cls, model: Model, pin_model: Any):
        if not hasattr(pin_model, "njoints"):
            raise TypeError(f"pin_model: expected a pinocchio.Model, got {pin_model!r}")
        joints = []
        for i in range(1, pin_model.njoints):  # 0 is the universe
            joint, parent = pin_model.joints[i], pin_model.parents[i]
            carrier = parent - 1 if parent > 0 else None
            free = joint.shortname() in ("JointModelFreeFlyer", "JointModelTranslation")
            if free and not pin_model.jointPlacements[i].isIdentity(1e-12):
                raise ValueError(
                    f"joint '{pin_model.names[i]}': Pinocchio counts its position from a placement in its parent, "
                    "slipstick from the parent itself; a free joint is matched only where the placement is the identity"
                )
            joints.append((pin_model.names[i], joint.shortname(), joint.idx_q, joint.idx_v, carrier))
        return super().__new__(cls, model, joints)
