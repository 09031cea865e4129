"""Differentiable rigid-body simulation for robotics.

A `Model` comes from a file (`load`) or is built in (`builtin`). Dynamics are functions with the model first, arrays in
and out; a `Simulator` moves a model on in time, with contact, a `Batch` many of them at once; `slipstick.collision`
finds where shapes touch, `slipstick.ncp` solves contact problems without a robot, `slipstick.optimize`
finds what leads to a wanted motion, `slipstick.pinocchio.Map` translates to and from Pinocchio's coordinates, and a
`Replay` shows a motion in a browser.

    import slipstick
    model = slipstick.builtin("quadruped")
    home = model.keyframe("home")
    tau = slipstick.rnea(model, home.q, home.v, [0.0] * model.nv)

    simulator = slipstick.Simulator(model)
    step = simulator.step(home.q, home.v, ctrl=home.ctrl)
    [(contact.point, contact.force, contact.mode) for contact in step.contacts]
    J = step.jacobian()
    gq, gv, gtau, gctrl = step.vjp(v=step.v)
    trajectory = simulator.rollout(home.q, home.v, 1000, ctrl=home.ctrl)
    replay = slipstick.Replay(model)
    replay.record_trajectory(trajectory)
    replay.save("stand.html")

Conventions: SI units, radians, float64. q and v are MuJoCo's qpos and qvel: quaternions (w, x, y, z), linear velocity
of a free body in world axes, angular velocity in body axes. Spatial vectors are [linear; angular], [force; torque].
Derivatives with respect to q are in the tangent space: nv columns.

Errors: what does not fit the model (shapes, numbers that are not finite, unknown names) is a ValueError, a file that
makes no model a LoadError, a singular inertia a DynamicsError, a step without finite result a DivergenceError and a
derivative that does not exist a GradientError (all three ArithmeticErrors); where single environments of a Batch fail,
a BatchError (an ArithmeticError) has the results of the others. Derivatives of a Step whose Simulator has stepped on
are a StaleStep (a RuntimeError).
"""

from . import collision, ncp, optimize, pinocchio
from ._native import (
    Batch,
    BatchError,
    BatchJacobian,
    BundledJacobian,
    ConstraintView,
    ContactGradientError,
    ContactView,
    Corners,
    DivergenceError,
    DynamicsError,
    Equality,
    GradientError,
    Keyframe,
    Kinematics,
    LoadError,
    Model,
    Options,
    Replay,
    RolloutGrad,
    RolloutGradient,
    Sensor,
    SensorJacobian,
    Simulator,
    SolveReport,
    StaleStep,
    Step,
    StepJacobian,
    Tendon,
    Trajectory,
    UnsupportedGradientError,
    WarmStart,
    Warning,
    __version__,
    aba,
    aba_derivatives,
    aba_inertial_derivatives,
    actuate,
    actuate_derivatives,
    bias,
    builtin,
    builtin_names,
    bundled_jacobian,
    center_of_mass,
    compliance_schedule,
    crba,
    difference,
    difference_derivatives,
    energy,
    integrate,
    integrate_derivatives,
    jacobian,
    kinematics,
    load,
    mass_inverse,
    momentum,
    passive,
    regressor,
    rnea,
    rnea_derivatives,
    rnea_vjp,
    solve,
    velocity,
    velocity_derivatives,
)

__all__ = [
    "Batch",
    "BatchError",
    "BatchJacobian",
    "BundledJacobian",
    "ConstraintView",
    "ContactGradientError",
    "ContactView",
    "Corners",
    "DivergenceError",
    "DynamicsError",
    "Equality",
    "GradientError",
    "Keyframe",
    "Kinematics",
    "LoadError",
    "Model",
    "Options",
    "Replay",
    "RolloutGrad",
    "RolloutGradient",
    "Sensor",
    "SensorJacobian",
    "Simulator",
    "SolveReport",
    "StaleStep",
    "Step",
    "StepJacobian",
    "Tendon",
    "Trajectory",
    "UnsupportedGradientError",
    "WarmStart",
    "Warning",
    "__version__",
    "aba",
    "aba_derivatives",
    "aba_inertial_derivatives",
    "actuate",
    "actuate_derivatives",
    "bias",
    "builtin",
    "builtin_names",
    "bundled_jacobian",
    "center_of_mass",
    "collision",
    "compliance_schedule",
    "crba",
    "difference",
    "difference_derivatives",
    "energy",
    "integrate",
    "integrate_derivatives",
    "jacobian",
    "kinematics",
    "load",
    "mass_inverse",
    "momentum",
    "ncp",
    "optimize",
    "passive",
    "pinocchio",
    "regressor",
    "rnea",
    "rnea_derivatives",
    "rnea_vjp",
    "solve",
    "velocity",
    "velocity_derivatives",
]
