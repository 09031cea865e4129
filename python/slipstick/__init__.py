"""Differentiable rigid-body simulation for robotics.

A `Model` comes from a file (`load`) or is built in (`builtin`). Dynamics are functions of the model and of arrays.

- `Simulator`: steps a model in time, with contact. `Batch`: many environments at once.
- `RolloutGradient`: derivatives of many steps.
- `slipstick.collision`: distances, contact points and rays.
- `slipstick.ncp`: contact problems without a robot.
- `slipstick.optimize`: nonlinear least squares, for inverse problems.
- `slipstick.pinocchio.Map`: conversions to and from Pinocchio's coordinates.
- `Replay`: a motion in a browser.

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

Errors:

- ValueError: an argument does not fit the model (shapes, numbers that are not finite, unknown names).
- LoadError: a file that is not a valid model. LoadWarning (a UserWarning): a file of which the model does not represent
  all; `Model.warnings` says what.
- DynamicsError: a singular inertia. DivergenceError: a step without finite result. GradientError: a derivative that
  does not exist. All three are ArithmeticErrors.
- BatchError (an ArithmeticError): some environments of a Batch failed; it has the results of the others.
- StaleStep (a RuntimeError): a derivative of a Step whose Simulator has stepped on.
"""

from . import collision, ncp, optimize, pinocchio
from ._native import (
    Batch,
    BatchError,
    BatchJacobian,
    BatchRollout,
    BundledJacobian,
    ConstraintView,
    ContactGradientError,
    ContactView,
    Corners,
    DivergenceError,
    DynamicsError,
    Equality,
    Gradient,
    GradientError,
    Keyframe,
    Kinematics,
    LoadError,
    LoadWarning,
    Model,
    ModelWarning,
    Options,
    Replay,
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
    "BatchRollout",
    "BundledJacobian",
    "ConstraintView",
    "ContactGradientError",
    "ContactView",
    "Corners",
    "DivergenceError",
    "DynamicsError",
    "Equality",
    "Gradient",
    "GradientError",
    "Keyframe",
    "Kinematics",
    "LoadError",
    "LoadWarning",
    "Model",
    "ModelWarning",
    "Options",
    "Replay",
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
