"""Differentiable rigid-body simulation for robotics.

    import slipstick
    model = slipstick.builtin("quadruped")                  # or slipstick.load("robot.xml")
    sim = slipstick.Simulator(model)                        # begins in the keyframe "home"
    ctrl = model.keyframe("home").ctrl
    step = sim.step(ctrl=ctrl)                              # sim.state, sim.time
    [(contact.point, contact.force, contact.mode) for contact in step.contacts]
    J = step.jacobian()                                     # J.dv_dq, J.A, J.B
    gq, gv, gtau, gctrl = step.vjp(v=step.v)
    run = sim.rollout(1000, ctrl=ctrl)                      # run.q, run.v, run.time
    replay = slipstick.Replay(model)
    replay.record_trajectory(run)
    replay.save("stand.html")

- Models: `load`, `loads`, `builtin`, `ModelBuilder`; `Model.with_options`, `with_parameters`, `with_mass`, `with_friction`, `with_servos`;
  `Model.body(name)`, `joint`, `actuator`, `geom`, `frame`.
- In time: `Simulator` owns a state, a clock and a warm start; `step` is a function of a state; `Batch` steps many at once.
- To look at: `Trajectory`, `Replay`.
- Modules: `dynamics` (inverse and forward dynamics, kinematics), `gradient` (rollouts, smoothing), `collision`, `ncp` (contact
  problems without a robot), `optimize` (least squares), `options`, `pinocchio` (its coordinates), `types`, `errors`.
- To be imported by themselves: `envs` (tasks for policy learning), `gym` (environments of gymnasium), `jax`, `torch`,
  `learn` (SHAC and PPO), `mujoco` (states and models there and back), `ray` (clusters), `viser` (a live view in the browser).

Arrays: whatever numpy makes an array of, and objects with `__dlpack__` on the CPU. Results are arrays of numpy.

Conventions: SI units, radians, float64. q and v are MuJoCo's qpos and qvel: quaternions (w, x, y, z), linear velocity
of a free body in world axes, angular velocity in body axes. Spatial vectors are [linear; angular], [force; torque].
Derivatives with respect to q are in the tangent space: nv columns.

Errors: TypeError for an argument of a wrong type, ValueError where it does not fit the model, and those of `slipstick.errors`.
"""

from . import collision, dynamics, errors, gradient, ncp, optimize, options, pinocchio, types
from ._native import (
    Batch,
    DivergenceError,
    GradientError,
    LoadError,
    Model,
    ModelBuilder,
    Replay,
    Simulator,
    State,
    Step,
    Trajectory,
    __version__,
    builtin,
    builtin_names,
    load,
    loads,
    step,
)

__all__ = [
    "Batch",
    "DivergenceError",
    "GradientError",
    "LoadError",
    "Model",
    "ModelBuilder",
    "Replay",
    "Simulator",
    "State",
    "Step",
    "Trajectory",
    "builtin",
    "builtin_names",
    "collision",
    "dynamics",
    "errors",
    "gradient",
    "load",
    "loads",
    "ncp",
    "optimize",
    "options",
    "pinocchio",
    "step",
    "types",
]
