"""Control steps as differentiable functions of tensors."""

from typing import Any, NamedTuple

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from slipstick import Model
from slipstick._content import by_content
from slipstick.gradient import ControlStep

from ._function import Map, Tensors, apply
from ._tensors import common_lead, like, rows, spread, tensor

STATUS: tuple[str, ...] = ControlStep.STATUS
REPORT: tuple[str, ...] = ControlStep.REPORT
INPUTS = ("q", "v", "ctrl", "tau", "parameters")


class Result(NamedTuple):
    """What a step leads to: q (..., nq), v (..., nv), status (...) int32: numbers of the words in STATUS, report (..., 7): columns
    REPORT. Status and report have no derivatives."""

    q: torch.Tensor
    v: torch.Tensor
    status: torch.Tensor
    report: torch.Tensor


class Rollout(NamedTuple):
    """States of a rollout of T control steps, the first ones included: q (T + 1, ..., nq), v (T + 1, ..., nv); status (T, ...) and
    report (T, ..., 7) of its steps."""

    q: torch.Tensor
    v: torch.Tensor
    status: torch.Tensor
    report: torch.Tensor


def step(
    model: Model,
    q: Any,
    v: Any,
    ctrl: Any = None,
    *,
    hold: int = 1,
    tau: Any = None,
    parameters: Any = None,
    smoothing: Any = None,
    threads: int | None = None,
) -> Result:
    """`hold` engine steps under one control, from a cold start; leading axes are environments.

    q (..., nq), v (..., nv); ctrl (..., nu), without which the actuators are off; tau (..., nv): generalized forces; parameters:
    as Model.parameters, (n_parameters,) or (..., n_parameters); smoothing (m/s), a number or (...): zero for exact derivatives, else those of
    contact that acts at a distance of about smoothing · dt; the step itself is exact.
    threads: None stands for as many as there are cores. A derivative makes the step again instead of keeping its matrices.
    """
    widths = (model.nq, model.nv, model.nu, model.nv, len(model.parameters))
    given: list[Any] = [None if x is None else tensor(what, x) for what, x in zip(INPUTS, (q, v, ctrl, tau, parameters))]
    lead = common_lead({what: x for what, x in zip(INPUTS, given) if x is not None})
    operands = [
        None if x is None else spread(what, x, lead, width) for what, x, width in zip(INPUTS, given, widths)
    ]
    smooth = None if smoothing is None else spread("smoothing", tensor("smoothing", smoothing)[..., None], lead, 1)
    out = apply(_map(model, hold, threads), *operands, smooth)
    kind = torch.promote_types(given[0].dtype, given[1].dtype)
    return Result(out[0].to(kind), out[1].to(kind), out[2].to(torch.int32), out[3])


def rollout(model: Model, q: Any, v: Any, ctrl: Any, **options: Any) -> Rollout:
    """Control steps one after the other: ctrl (T, ..., nu), one for each; options as of `step`."""
    ctrl, q, v = tensor("ctrl", ctrl), tensor("q", q), tensor("v", v)
    if ctrl.ndim < 2:
        raise ValueError(f"ctrl: expected a tensor of shape (T, ..., {model.nu}), got {tuple(ctrl.shape)}")
    lead = common_lead({"q": q, "v": v, "ctrl": ctrl[:1].squeeze(0)})
    kind = torch.promote_types(q.dtype, v.dtype)
    states = [(q.expand(*lead, q.shape[-1]).to(kind), v.expand(*lead, v.shape[-1]).to(kind))]
    results = []
    for u in ctrl:
        results.append(step(model, *states[-1], u, **options))
        states.append((results[-1].q, results[-1].v))
    q, v = (torch.stack(path) for path in zip(*states))
    if not results:
        return Rollout(q, v, torch.zeros(0, *lead, dtype=torch.int32), torch.zeros(0, *lead, len(REPORT)))
    return Rollout(q, v, torch.stack([r.status for r in results]), torch.stack([r.report for r in results]))


@by_content
def _map(_: int, model: Model, hold: int, threads: int | None) -> Map:
    """(q, v, ctrl, tau, parameters, smoothing) → q, v, status, report."""
    control_step = ControlStep(model, hold, threads=threads)

    def value(*operands: torch.Tensor | None) -> Tensors:
        states, options = _arguments(operands)
        after = control_step.step(*states, **options)
        return _with_axes(operands, (after.q, after.v, after.status.astype(float), after.report))  # forward mode asks for floats

    def tangent(operands: Tensors, changes: Tensors) -> Tensors:
        states, options = _arguments(operands)
        still: dict[str, Any] = {f"d{what}": np.zeros_like(x) for what, x in zip(INPUTS, states[:2])}
        given: dict[str, Any] = {f"d{what}": rows(x) for what, x in zip(INPUTS, changes) if x is not None}
        q, v, ctrl = states
        return _with_axes(operands, control_step.jvp(q, v, ctrl, **options, **{**still, **given}))

    def cotangent(operands: Tensors, weights: Tensors) -> Tensors:
        states, options = _arguments(operands)
        wq, wv = (rows(w) for w in weights)
        grad = control_step.vjp(*states, wq=wq, wv=wv, **options)
        found = (grad.q, grad.v, grad.ctrl, grad.tau, grad.parameters.get("all"), None)
        return _with_axes(operands, tuple(g if x is not None else None for x, g in zip(operands, found)))

    return Map(value, tangent, cotangent, outputs=2)


def _arguments(operands: Any) -> tuple[list[Any], dict[str, Any]]:
    """As ControlStep takes them."""
    *states, tau, parameters, smoothing = (rows(x) for x in operands)
    return states, dict(tau=tau, parameters=parameters, smoothing=None if smoothing is None else smoothing[:, 0])


def _with_axes(operands: Any, found: Any) -> Tensors:
    lead = operands[0].shape[:-1]
    return tuple(None if x is None else like(x, lead) for x in found)
