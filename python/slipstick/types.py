"""Classes of what functions and attributes return. None is made by a user, but for WarmStart.from_bytes."""

from ._native import (
    BatchJacobian,
    BatchRollout,
    Corners,
    Equality,
    Keyframe,
    Kinematics,
    ModelWarning,
    Sensor,
    SensorJacobian,
    SolveReport,
    StepConstraint,
    StepContact,
    StepJacobian,
    Tendon,
    WarmStart,
)

__all__ = [
    "BatchJacobian",
    "BatchRollout",
    "Corners",
    "Equality",
    "Keyframe",
    "Kinematics",
    "ModelWarning",
    "Sensor",
    "SensorJacobian",
    "SolveReport",
    "StepConstraint",
    "StepContact",
    "StepJacobian",
    "Tendon",
    "WarmStart",
]
