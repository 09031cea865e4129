"""Control steps as JAX functions."""

import functools
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.typing import ArrayLike

from slipstick import Model
from slipstick.gradient import ControlStep

from ._control_steps import arguments, control_steps, key_of
from ._ffi import Shape, Target, dtype
from ._linear import linear_map

STATUS: tuple[str, ...] = ControlStep.STATUS
REPORT: tuple[str, ...] = ControlStep.REPORT
# from this number of dofs on, repeating a step costs less than multiplying its derivatives
MOST_STORED = 16


class Result(NamedTuple):
    """What a step leads to: q (..., nq), v (..., nv), status (...) int32: numbers of the words in STATUS, report (..., 7): columns
    REPORT. Status and report have no derivatives."""

    q: jax.Array
    v: jax.Array
    status: jax.Array
    report: jax.Array


class Rollout(NamedTuple):
    """States of a rollout of T control steps, the first ones included: q (T + 1, ..., nq), v (T + 1, ..., nv); status (T, ...) and
    report (T, ..., 7) of its steps."""

    q: jax.Array
    v: jax.Array
    status: jax.Array
    report: jax.Array


class _Static(NamedTuple):
    """What a compiled program knows of a control step."""

    key: int
    nq: int
    nv: int
    nu: int
    stored: bool


def step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    ctrl: ArrayLike | None = None,
    *,
    hold: int = 1,
    tau: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    smoothing: ArrayLike | None = None,
    residuals: Literal["auto", "stored", "recompute"] = "auto",
    threads: int | None = None,
) -> Result:
    """`hold` engine steps under one control, from a cold start; leading axes are environments.

    q (..., nq), v (..., nv); ctrl (..., nu), without which the actuators are off; tau (..., nv): generalized forces; parameters:
    as Model.parameters, (n_parameters,) or (..., n_parameters); smoothing (m/s), a number or (...): zero for exact derivatives, else those of
    contact that acts at a distance of about smoothing · dt; the step itself is exact.
    residuals: what a gradient keeps of the step: "stored", its Jacobian, or "recompute", its arguments, with which the step is
    made again; "auto" takes the faster one for the size of the model. Derivatives by tau and parameters need "recompute".
    threads: None stands for as many as there are cores.
    """
    q, v = jnp.asarray(q), jnp.asarray(v)
    given = jnp.result_type(q, v, float)
    lead = jnp.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    nparameters = len(model.parameters)
    operands = [
        _rows("q", q, lead, model.nq),
        _rows("v", v, lead, model.nv),
        _rows("ctrl", ctrl, lead, model.nu),
        _rows("tau", tau, lead, model.nv),
        _rows("parameters", parameters, lead, nparameters),
        _rows("smoothing", None if smoothing is None else jnp.asarray(smoothing)[..., None], lead, 1),
    ]
    plain = tau is None and parameters is None
    if residuals not in ("auto", "stored", "recompute"):
        raise ValueError(f"residuals: expected 'auto', 'stored' or 'recompute', got {residuals!r}")
    if residuals == "stored" and not plain:
        raise ValueError("residuals: expected 'recompute' with tau or parameters, got 'stored'")
    stored = residuals == "stored" or (residuals == "auto" and plain and model.nv < MOST_STORED)
    key = key_of(model, hold, threads)
    out = _run(_Static(key, model.nq, model.nv, model.nu, stored), *operands)
    return Result(out[0].astype(given), out[1].astype(given), out[2], out[3])


def control_step(model: Model, q: ArrayLike, v: ArrayLike, ctrl: ArrayLike, hold: int, **options: Any) -> Result:
    """`step` of several engine steps: hold has no default."""
    return step(model, q, v, ctrl, hold=hold, **options)


def rollout(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    ctrl: ArrayLike,
    *,
    hold: int = 1,
    tau: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    smoothing: ArrayLike | None = None,
    residuals: Literal["auto", "stored", "recompute"] = "auto",
    threads: int | None = None,
) -> Rollout:
    """Control steps one after the other, by lax.scan: ctrl (T, ..., nu), one for each; other arguments as of `step`."""
    ctrl = jnp.asarray(ctrl)
    q, v = jnp.asarray(q), jnp.asarray(v)
    given = jnp.result_type(q, v, float)
    lead = jnp.broadcast_shapes(q.shape[:-1], v.shape[:-1], ctrl.shape[1:-1])
    first = [jnp.broadcast_to(x, lead + x.shape[-1:]).astype(given) for x in (q, v)]
    options: dict[str, Any] = dict(
        hold=hold, tau=tau, parameters=parameters, smoothing=smoothing, residuals=residuals, threads=threads
    )

    def go(x: list[jax.Array], u: jax.Array) -> tuple[list[jax.Array], Result]:
        after = step(model, x[0], x[1], u, **options)
        return [after.q, after.v], after

    _, after = jax.lax.scan(go, first, ctrl)
    q, v = (jnp.concatenate([x[None], path]) for x, path in zip(first, after[:2], strict=True))
    return Rollout(q, v, after.status, after.report)


def _rows(what: str, x: ArrayLike | None, lead: tuple[int, ...], width: int) -> jax.Array:
    """An operand with all leading axes; without numbers if it was left out."""
    if x is None:
        return jnp.zeros((*lead, 0), dtype())
    x = jnp.asarray(x)
    try:
        if x.shape[-1:] == (width,):
            return jnp.broadcast_to(x, (*lead, width)).astype(dtype())
    except ValueError:
        pass
    raise ValueError(f"{what}: expected an array of shape {(*lead, width)}, got {x.shape}")


def _shapes(static: _Static, lead: tuple[int, ...], jacobian: bool) -> list[Shape]:
    float_, n = dtype(), static.nq + static.nv
    shapes = [(static.nq,), (static.nv,), (), (len(REPORT),)] + ([(n, n), (n, static.nu)] if jacobian else [])
    kinds = [float_, float_, jnp.int32] + [float_] * 3
    return [Shape(lead + shape, kind) for shape, kind in zip(shapes, kinds)]


def _step_callback(*operands: np.ndarray, key: int, jacobian: int) -> Sequence[np.ndarray]:
    """What the handler slipstick_step does."""
    states, options = arguments(operands)
    after = control_steps[key].step(*states, **options)
    found: list[Any] = [after.q, after.v, after.status, after.report]
    return [*found, *control_steps[key].jacobian(*states, **options)] if jacobian else found


_step_target = Target("slipstick_step", _step_callback)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _run(static: _Static, *operands: jax.Array) -> tuple[jax.Array, ...]:
    lead = operands[0].shape[:-1]
    return tuple(_step_target(_shapes(static, lead, False), *operands, key=static.key, jacobian=0))


@functools.partial(_run.defjvp, symbolic_zeros=True)
def _run_jvp(static: _Static, primals: Any, tangents: Any) -> Any:
    changes = [_change(x, dx, k < 2) for k, (x, dx) in enumerate(zip(primals[:5], tangents[:5]))]
    if static.stored and primals[2].shape[-1] == static.nu:
        lead = primals[0].shape[:-1]
        *found, A, B = _step_target(_shapes(static, lead, True), *primals, key=static.key, jacobian=1)
        dx = jnp.einsum("...ij,...j->...i", A, jnp.concatenate(changes[:2], -1))
        if changes[2].shape[-1]:
            dx = dx + jnp.einsum("...ij,...j->...i", B, changes[2])
        out, dq, dv = tuple(found), dx[..., : static.nq], dx[..., static.nq :]
    else:
        out = _run(static, *primals)
        dq, dv = linear_map(static, primals, changes)
    none = np.zeros(out[2].shape, jax.dtypes.float0)
    return out, (dq, dv, none, jnp.zeros_like(out[3]))


def _change(x: jax.Array, dx: Any, needed: bool) -> jax.Array:
    """A tangent; without numbers if it is zero for sure."""
    if isinstance(dx, SymbolicZero):
        return jnp.zeros_like(x) if needed else jnp.zeros((*x.shape[:-1], 0), x.dtype)
    return dx
