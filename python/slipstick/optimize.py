"""Nonlinear least squares, for residuals that a simulation gives.

    import numpy as np
    import slipstick
    from slipstick import optimize

    # how must a ball be thrown that slides, then rolls to a place?
    ball, target = slipstick.builtin("sphere"), np.array([1.0, 0.5])
    start, rollout = ball.keyframe("sliding"), slipstick.RolloutGradient(ball, 500)

    def residual(v):
        return rollout.run(start.q, np.append(v, start.v[2:])).q[-1, :2] - target

    def jacobian(v):  # of the rollout that residual has just made
        return rollout.sensitivities(tau=False, ctrl=False)["initial"][:2, 6:8]

    found = optimize.least_squares(residual, start.v[:2], jacobian=jacobian)
    found.x, found.error, found.stop

`least_squares` goes down by Gauss–Newton, Levenberg–Marquardt or gradient descent. Points may lie on a manifold or between
bounds, and Jacobians may lack rank: steps are then the shortest of all that are as good.
"""

from ._native import Iteration, Outcome, least_squares

__all__ = ["Iteration", "Outcome", "least_squares"]
