"""What a worker does with a shard: control steps one after the other, and their adjoints. No Ray here."""

from __future__ import annotations

from typing import Any

import numpy as np

from slipstick import Model
from slipstick.gradient import ControlStep

Arrays = dict[str, Any]


def rollout(model: Model, hold: int, threads: int, q: Any, v: Any, ctrl: Any, options: Arrays) -> Arrays:
    """States of all control steps, the first included, and how each ended."""
    step = ControlStep(model, hold, threads=threads)
    path, status, report = [(q, v)], [], []
    for u in ctrl:
        after = step.step(*path[-1], u, **options)
        path.append((after.q, after.v))
        status.append(after.status)
        report.append(after.report)
    n, columns = len(q), len(ControlStep.REPORT)
    return {
        "q": np.array([x for x, _ in path]),
        "v": np.array([x for _, x in path]),
        "status": np.array(status, np.int32).reshape(-1, n),
        "report": np.array(report, float).reshape(-1, n, columns),
    }


def vjp(model: Model, hold: int, threads: int, q: Any, v: Any, ctrl: Any, wq: Any, wv: Any, options: Arrays) -> Arrays:
    """Gradients of numbers with gradients wq, wv by all states, (T + 1, n, …); those by parameters are summed over the shard."""
    run = rollout(model, hold, threads, q, v, ctrl, options)
    step = ControlStep(model, hold, threads=threads)
    by_ctrl, by_parameters = np.zeros_like(ctrl), None
    by_q, by_v = wq[-1], wv[-1]
    for t in reversed(range(len(ctrl))):
        grad = step.vjp(run["q"][t], run["v"][t], ctrl[t], wq=by_q, wv=by_v, **options)
        by_q, by_v, by_ctrl[t] = grad.q + wq[t], grad.v + wv[t], grad.ctrl
        if "all" in grad.parameters:
            by_all = grad.parameters["all"].sum(0)
            by_parameters = by_all if by_parameters is None else by_parameters + by_all
    return {**run, "by_q": by_q, "by_v": by_v, "by_ctrl": by_ctrl, "by_parameters": by_parameters}
