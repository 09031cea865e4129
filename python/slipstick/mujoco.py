"""States and models between slipstick and MuJoCo.

    import mujoco, slipstick, slipstick.mujoco as sm
    model = slipstick.load("robot.xml")
    mj_model = sm.to_mjmodel(model)                           # what slipstick simulates, for MuJoCo's viewer and tools
    data = mujoco.MjData(mj_model)
    sm.to_mjdata(model, data, q=run.q[-1], v=run.v[-1])       # numbers as they are: q is qpos, v is qvel
    mujoco.mj_forward(mj_model, data)
    given = sm.from_mjdata(model, data)                       # given.q, given.v, given.ctrl, given.act, given.mocap, given.time
    step = slipstick.step(model, given.q, given.v, ctrl=given.ctrl)

Numbers are copied one by one: both count joints in the order of the file. Sizes that differ are an error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._native import Model, loads

__all__ = ["Given", "from_mjdata", "from_mjspec", "to_mjdata", "to_mjmodel"]

Array = NDArray[np.float64]


class Given(NamedTuple):
    """What MuJoCo's data say of a state: q (nq,), v (nv,), ctrl (nu,), act (na,), mocap (n, 7): position, quaternion; time (s)."""

    q: Array
    v: Array
    ctrl: Array
    act: Array
    mocap: Array
    time: float


def to_mjmodel(model: Model) -> Any:
    """A mujoco.MjModel of what slipstick simulates, by way of `model.to_mjcf()`: parameters and options included."""
    import mujoco  # type: ignore[import-untyped,import-not-found,unused-ignore]

    return mujoco.MjModel.from_xml_string(model.to_mjcf())


def from_mjspec(spec: Any, **options: Any) -> Model:
    """The model of a mujoco.MjSpec, by way of its XML; options as of `slipstick.loads`. Meshes and other files that it names
    are looked for in `folder`."""
    return loads(spec.to_xml(), **options)


def from_mjdata(model: Model, data: Any) -> Given:
    """A copy of the state, controls, activations and mocap poses in a mujoco.MjData."""
    _check(model, data)
    mocap = np.hstack([data.mocap_pos, data.mocap_quat]).reshape(-1, 7)
    q, v, ctrl, act = (np.array(x, float) for x in (data.qpos, data.qvel, data.ctrl, data.act))
    return Given(q, v, ctrl, act, mocap, float(data.time))


def to_mjdata(
    model: Model,
    data: Any,
    *,
    q: ArrayLike,
    v: ArrayLike | None = None,
    ctrl: ArrayLike | None = None,
    act: ArrayLike | None = None,
    mocap: ArrayLike | None = None,
    time: float | None = None,
) -> None:
    """Writes a state into a mujoco.MjData; what is left out stays. Nothing is computed: call mj_forward or mj_kinematics after it."""
    _check(model, data)
    poses = None if mocap is None else np.asarray(mocap, float).reshape(-1, 7)
    given: list[tuple[str, Any, Any]] = [
        ("q", data.qpos, q),
        ("v", data.qvel, v),
        ("ctrl", data.ctrl, ctrl),
        ("act", data.act, act),
        ("mocap", data.mocap_pos, None if poses is None else poses[:, :3]),
        ("mocap", data.mocap_quat, None if poses is None else poses[:, 3:]),
    ]
    arrays = [(what, to, np.asarray(x, float)) for what, to, x in given if x is not None]
    for what, to, x in arrays:  # all are checked before any is written
        if x.shape != to.shape:
            raise ValueError(f"{what}: expected an array of shape {to.shape}, got {x.shape}")
    for _, to, x in arrays:
        to[:] = x
    if time is not None:
        data.time = time


def _check(model: Model, data: Any) -> None:
    if not hasattr(data, "qpos"):
        raise TypeError(f"data: expected a mujoco.MjData, got {type(data).__name__}")
    ours = {"nq": model.nq, "nv": model.nv, "nu": model.nu, "na": model.na, "nmocap": len(model.mocap_names)}
    theirs = {"nq": data.qpos.size, "nv": data.qvel.size, "nu": data.ctrl.size, "na": data.act.size, "nmocap": len(data.mocap_pos)}
    wrong = [f"{name} = {ours[name]}, got {theirs[name]}" for name in ours if ours[name] != theirs[name]]
    if wrong:
        raise ValueError(f"data: expected the sizes of model '{model.name}': {'; '.join(wrong)}")
