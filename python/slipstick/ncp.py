"""The contact problem without a robot: Signorini's condition and Coulomb's law between points.

    import numpy as np
    from slipstick import ncp
    G, g, mu = np.eye(3), np.array([0.3, 0.0, -1.0]), [0.5]   # one point of unit mass that slides down onto a floor
    solution = ncp.solve(G, g, mu)
    solution.impulse                                          # [-0.3, 0, 1]: it sticks, inside the friction cone
    ncp.residual(G, g, mu, solution.impulse)                  # 0.0

Given the Delassus matrix G (inverse inertia) of n contacts and their velocity g without impulses, find impulses in the
friction cones such that the velocity `G @ impulse + g` obeys Coulomb's law. No contact pulls, none closes further, and
friction of a sliding contact is at its bound and opposes the slip. Rows of a contact are two tangents and the normal,
in the direction in which the contact opens. G is not regularized.

Limits, dry friction and loops are rows of their own:

    cones = [ncp.Friction(0.5), "unilateral", ncp.Box(0.2), "bilateral"]            # 3 + 1 + 1 + 1 rows
    solution = ncp.solve(np.eye(6), -np.ones(6), cones=cones, compliance=[0.0, 0.0, 0.0, 1e-3])
    solution.status, solution.stages                          # how it ended, factorizations of each stage

Solutions have derivatives with respect to G, g, mu and compliance:

    slides = ncp.solve(G, [1.0, 0.0, -1.0], mu)               # faster than friction can stop: speed 1 - 0.5 * 1
    J = slides.jacobian()
    J.dvelocity_dmu[0], J.dvelocity_dg[0]                     # [-1.0], [1, 0, 0.5]
    grad = slides.vjp(velocity=[1.0, 0.0, 0.0])               # of the speed, by one adjoint solve: grad.G, grad.g, grad.mu
    J.degenerate, J.redundant                                 # 0, 0: the derivative is unique
"""

from ._native import Box, Friction, ProblemGrad, Solution, SolutionJacobian
from ._native import ncp_residual as residual
from ._native import ncp_solve as solve

__all__ = ["Box", "Friction", "ProblemGrad", "Solution", "SolutionJacobian", "residual", "solve"]
