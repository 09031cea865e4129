"""Nonlinear least squares, for residuals of simulations.

    import numpy as np
    import slipstick
    from slipstick import optimize

    # which initial velocity takes a ball, which slides and then rolls, to a target?
    ball, target = slipstick.builtin("sphere"), np.array([1.0, 0.5])
    start, rollout = ball.keyframe("sliding"), slipstick.gradient.RolloutGradient(ball, 500)

    def residual(v):
        return rollout.run(start.q, np.append(v, start.v[2:])).q[-1, :2] - target

    def jacobian(v):  # of the last rollout of residual
        return rollout.sensitivities(tau=False, ctrl=False)["initial"][:2, 6:8]

    found = optimize.least_squares(residual, start.v[:2], jacobian=jacobian)
    found.x, found.error, found.stop

`least_squares` uses Gauss–Newton, Levenberg–Marquardt or gradient descent, on manifolds or with bounds. Jacobians may be
rank-deficient: steps are then minimum-norm steps.
"""

from ._native import Iteration, Outcome, least_squares

__all__ = ["Iteration", "Outcome", "least_squares"]
