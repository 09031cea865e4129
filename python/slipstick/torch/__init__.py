"""slipstick in PyTorch: exact derivatives of contact behind Tensor.backward().

    import slipstick, torch
    import slipstick.torch as st
    model = slipstick.builtin("hopper")
    after = st.step(model, q, v, ctrl, hold=4)                # tensors (..., nq), (..., nv), (..., nu); after.q, after.v, after.status
    run = st.rollout(model, q, v, ctrl, hold=4)               # ctrl (T, ..., nu)
    (-run.q[-1, ..., 0].sum()).backward()                     # ctrl.grad

- `step`: engine steps under one control; any leading axes are environments. `rollout`: many of them.
- `frames`: poses and velocities of frames, and the center of mass. `integrate`: q along a tangent.
- `ncp`: the contact problem without a robot, as a layer.
- Derivatives with respect to q, v, ctrl, tau and parameters, forward and reverse; first derivatives only.
- q is differentiated in its own numbers: quaternions are normalized inside, and a gradient has no part along their length.
- A step starts cold, so that it is a function of its arguments: the same arguments give the same bits.
- A failed step keeps the last finite state, has a status (STATUS) and derivatives of zero. Count them.
- Tensors are on the CPU. Those of 32 bits go in and out as such; the physics between them has 64.
"""

try:
    import torch as _torch  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
except ImportError as error:
    raise ImportError("slipstick.torch needs PyTorch: pip install 'slipstick[torch]'") from error

from ._frames import Frames, frames
from ._manifold import integrate
from ._ncp import Contacts, ncp
from ._step import REPORT, STATUS, Result, Rollout, rollout, step

__all__ = [
    "REPORT",
    "STATUS",
    "Contacts",
    "Frames",
    "Result",
    "Rollout",
    "frames",
    "integrate",
    "ncp",
    "rollout",
    "step",
]
