"""slipstick in JAX: exact derivatives of contact behind jax.grad, jax.jvp, jit, vmap and scan.

    import jax, slipstick
    import slipstick.jax as sj
    jax.config.update("jax_enable_x64", True)                        # physics in 64 bits
    model = slipstick.builtin("hopper")
    after = sj.step(model, q, v, ctrl, hold=4)                       # after.q, after.v, after.status, after.report
    loss = lambda ctrl: -sj.rollout(model, q, v, ctrl, hold=4).q[-1, ..., 0].sum()
    gradient = jax.jit(jax.grad(loss))(ctrl)                         # ctrl (steps, ..., nu)

- `step`: engine steps under one control; any leading axes are environments. `rollout`: many of them, by lax.scan.
- `frames`: poses and velocities of frames, and the center of mass. `integrate`: q along a tangent.
- `ncp`: the contact problem without a robot, as a layer (reverse mode).
- Derivatives with respect to q, v, ctrl, tau and parameters, forward and reverse; first derivatives only.
- q is differentiated in its own numbers: quaternions are normalized inside, and a gradient has no part along their length.
- A step starts cold, so that it is a function of its arguments: the same arguments give the same bits.
- A failed step keeps the last finite state, has a status (STATUS) and derivatives of zero. Count them.
- Without 64 bits (jax_enable_x64) arrays of 32 bits go in and out, and the physics between them has 64.

Handlers for XLA on CPUs are compiled in; where the version of jaxlib does not take them, callbacks do the work (`backend()`).
"""

try:
    import jax as _jax  # noqa: F401
except ImportError as error:
    raise ImportError("slipstick.jax needs JAX: pip install 'slipstick[jax]'") from error

from ._ffi import backend
from ._frames import Frames, frames
from ._manifold import integrate
from ._ncp import Contacts, ncp
from ._step import REPORT, STATUS, Result, Rollout, control_step, rollout, step

__all__ = [
    "REPORT",
    "STATUS",
    "Contacts",
    "Frames",
    "Result",
    "Rollout",
    "backend",
    "control_step",
    "frames",
    "integrate",
    "ncp",
    "rollout",
    "step",
]
