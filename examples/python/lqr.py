"""A linear-quadratic regulator from the exact derivatives of a step: the cart-pole stays upright."""

import numpy as np
import slipstick

model = slipstick.builtin("cartpole")
up = model.keyframe("upright")

J = slipstick.step(model, up.q, up.v, ctrl=np.zeros(model.nu)).jacobian()
A, B = J.A, J.B  # next (q, v) by (q, v) and by ctrl, as in mjd_transitionFD, but exact

Q, R = np.diag([1.0, 10.0, 0.1, 0.1]), np.array([[0.1]])
P = Q
for _ in range(2000):  # the discrete Riccati equation, by iteration
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    P = Q + A.T @ P @ (A - B @ K)
print("gain:", K.round(3), "spectral radius:", np.abs(np.linalg.eigvals(A - B @ K)).max().round(4))

sim = slipstick.Simulator(model)
sim.reset(q=[0.5, 0.2], v=[0.0, 0.0])  # half a meter off, pole tilted by 11 degrees
run = sim.rollout(500, ctrl=lambda time, q, v: np.clip(-K @ np.concatenate([q, v]), -1.0, 1.0))
print("after 5 s:", run.q[-1].round(4))
assert np.abs(run.q[-1]).max() < 0.02
