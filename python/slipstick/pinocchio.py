"""States and Jacobians in Pinocchio's coordinates, and back.

    import pinocchio as pin
    pin_model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
    model = slipstick.load(path, free_root=True)
    to_pin = slipstick.pinocchio.Map(model, pin_model)
    tau = to_pin.tau_from(pin_q, pin.rnea(pin_model, data, pin_q, pin_v, pin_a))

    pin_model = slipstick.pinocchio.to_pinocchio(model)         # of any model: MJCF, built by hand, with other parameters

Only `to_pinocchio` imports Pinocchio: a map reads the joints of the model it is given.
"""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ._native import Model, PinocchioMap

Array = NDArray[np.float64]

__all__ = ["Map", "to_pinocchio"]


def to_pinocchio(model: Model) -> Any:
    """A pinocchio.Model of the same robot: bodies, joints, inertias, armature, position limits, gravity; frames of bodies and sites.

    Joints keep their names, so that `Map` takes the pair. A joint's coordinate is zero where the body was described (`ref` of MJCF).
    Springs, dampers, actuators and constraints stay behind. Mocap bodies stand where the file has them.
    """
    import pinocchio as pin  # type: ignore[import-untyped,import-not-found,unused-ignore]

    out = pin.Model()
    out.name, out.gravity.linear = model.name, model.gravity
    world = ElementTree.fromstring(model.to_mjcf()).find("worldbody")
    _add_frames(pin, out, world, 0, pin.SE3.Identity())
    for body in world.findall("body") if world is not None else ():
        _add_body(pin, out, body, 0, pin.SE3.Identity())
    return out


def _add_body(pin: Any, out: Any, body: ElementTree.Element, parent: int, X: Any) -> None:
    """The joints of a body at the pose X on a joint, its inertia, and what it carries."""
    carrier, X = parent, X * _pose(pin, body)
    for joint in body.findall("joint"):
        carrier, X = _add_joint(pin, out, joint, carrier, X)
    inertial = body.find("inertial")
    if carrier and inertial is not None:  # mass that is fixed to the world moves nothing
        out.appendBodyToJoint(carrier, _inertia(pin, inertial), X * _pose(pin, inertial))
    out.addFrame(pin.Frame(body.get("name", ""), carrier, 0, X, pin.FrameType.BODY), False)
    _add_frames(pin, out, body, carrier, X)
    for child in body.findall("body"):
        _add_body(pin, out, child, carrier, X)


def _add_joint(pin: Any, out: Any, joint: ElementTree.Element, parent: int, X: Any) -> tuple[int, Any]:
    """The new joint, and the pose of its body on it."""
    kind, name, reference = joint.get("type", "hinge"), joint.get("name", ""), float(joint.get("ref", 0.0))
    anchor, axis = pin.SE3(np.eye(3), _numbers(joint, "pos", 3)), _numbers(joint, "axis", 3, default=(0.0, 0.0, 1.0))
    axis, placement = axis / np.linalg.norm(axis), X * anchor
    if kind == "free":  # its coordinates are the pose in the world
        return out.addJoint(parent, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name), pin.SE3.Identity()
    if kind == "ball":
        index = out.addJoint(parent, pin.JointModelSpherical(), placement, name)
    else:
        make = pin.JointModelPrismaticUnaligned if kind == "slide" else pin.JointModelRevoluteUnaligned
        index = out.addJoint(parent, make(axis), placement, name)
    at = out.joints[index]
    out.armature[at.idx_v : at.idx_v + at.nv] = float(joint.get("armature", 0.0))
    if at.nq == 1 and joint.get("limited") == "true":
        # Map counts from the reference position, where the pose X is
        out.lowerPositionLimit[at.idx_q], out.upperPositionLimit[at.idx_q] = _numbers(joint, "range", 2) - reference
    return index, anchor.inverse()


def _add_frames(pin: Any, out: Any, body: ElementTree.Element | None, carrier: int, X: Any) -> None:
    for site in body.findall("site") if body is not None else ():
        out.addFrame(pin.Frame(site.get("name", ""), carrier, 0, X * _pose(pin, site), pin.FrameType.OP_FRAME), False)


def _inertia(pin: Any, inertial: ElementTree.Element) -> Any:
    """About the center of mass, which is the origin of its pose."""
    if inertial.get("fullinertia"):
        xx, yy, zz, xy, xz, yz = _numbers(inertial, "fullinertia", 6)
    else:
        xx, yy, zz = _numbers(inertial, "diaginertia", 3)
        xy = xz = yz = 0.0
    return pin.Inertia(float(inertial.get("mass", 0.0)), np.zeros(3), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _pose(pin: Any, element: ElementTree.Element) -> Any:
    w, x, y, z = _numbers(element, "quat", 4, default=(1.0, 0.0, 0.0, 0.0))
    return pin.SE3(pin.Quaternion(w, x, y, z).normalized().toRotationMatrix(), _numbers(element, "pos", 3))


def _numbers(element: ElementTree.Element, name: str, count: int, default: Sequence[float] = ()) -> Array:
    text = element.get(name)
    return np.array(text.split() if text else default or np.zeros(count), float)


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
