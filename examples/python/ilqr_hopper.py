"""Iterative LQR through contact: the hopper jumps to a height, its gradients come from every step of the rollout."""

from collections.abc import Callable

import numpy as np
import slipstick
from numpy.typing import NDArray
from slipstick import options

Array = NDArray[np.floating]
STEPS, GOAL = 200, np.array([0.15, 1.35, 0.0])  # torso after 0.4 s: x (m), height (m), pitch (rad)
# the step stays exact; its derivatives are those of slightly smoothed contact
model = slipstick.builtin("hopper").with_options(dt=0.002, gradient=options.ExactForwardCentral(1e-2))
nv, nu = model.nv, model.nu
W, R = np.diag([10.0, 10.0, 2.0] + [0.0] * (2 * nv - 3)), 1e-3 * np.eye(nu)  # of the last state, of every control


def error(x: Array) -> Array:
    return np.concatenate([x[:3] - GOAL, x[3:]])


def rollout(policy: Callable[[int, Array], Array]) -> tuple[Array, Array, float]:
    """States and controls of one motion, and its cost."""
    sim, xs, us = slipstick.Simulator(model), np.zeros((STEPS + 1, 2 * nv)), np.zeros((STEPS, nu))
    for t in range(STEPS):
        xs[t] = np.concatenate([*sim.state])
        us[t] = np.clip(policy(t, xs[t]), -1.0, 1.0)
        sim.step(ctrl=us[t])
    xs[STEPS] = np.concatenate([*sim.state])
    last = error(xs[STEPS])
    return xs, us, float(0.5 * last @ W @ last + 0.5 * np.sum(us @ R * us))


def backward(xs: Array, us: Array, damping: float) -> list[tuple[Array, Array]]:
    """Feedforward and feedback of every step, found from the last to the first."""
    p, P, gains = W @ error(xs[STEPS]), W, []
    for x, u in zip(xs[-2::-1], us[::-1], strict=True):
        J = slipstick.step(model, x[:nv], x[nv:], ctrl=u).jacobian()
        H = R + J.B.T @ P @ J.B + damping * np.eye(nu)
        k, K = -np.linalg.solve(H, R @ u + J.B.T @ p), -np.linalg.solve(H, J.B.T @ P @ J.A)
        p = J.A.T @ p + K.T @ (R @ u + J.B.T @ p)
        P = J.A.T @ P @ (J.A + J.B @ K)
        P = 0.5 * (P + P.T)
        gains.append((k, K))
    return gains[::-1]


xs, us, cost = rollout(lambda t, x: np.zeros(nu))
first, damping = cost, 1e-3
for iteration in range(12):
    gains = backward(xs, us, damping)
    for fraction in [1.0, 0.5, 0.25, 0.1, 0.03]:
        new = rollout(lambda t, x: us[t] + fraction * gains[t][0] + gains[t][1] @ (x - xs[t]))
        if new[2] < cost:
            break
    improved, damping = new[2] < cost, damping * (0.3 if new[2] < cost else 10.0)
    xs, us, cost = new if improved else (xs, us, cost)
    print(f"{iteration:2d} cost {cost:.4f}")
assert cost < 0.2 * first
