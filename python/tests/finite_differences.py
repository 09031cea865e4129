"""Central differences on the configuration manifold.

A configuration is moved through `integrate` (never by adding to a quaternion), and an output that is itself a
configuration is measured through `difference`. The five-point formula has error h⁴f⁽⁵⁾/30 + ε|f|/h: with h = 1e-4 both
stay near 1e-12 relative for smooth dynamics, far below the 1e-6 the tests ask for, also for light links whose higher
derivatives are large.
"""

import numpy as np

STEP = 1e-4
STENCIL = ((1.0, 8.0 / 12.0), (-1.0, -8.0 / 12.0), (2.0, -1.0 / 12.0), (-2.0, 1.0 / 12.0))


def differentiate(function, n, step=STEP):
    """d function(e) / d e at e = 0 ∈ Rⁿ, as an array of shape (outputs, n)."""
    columns = []
    for k in range(n):
        column = 0.0
        for offset, weight in STENCIL:
            direction = np.zeros(n)
            direction[k] = offset * step
            column = column + weight * np.asarray(function(direction), dtype=float)
        columns.append(column / step)
    return np.stack(columns, axis=-1)


def along_q(function, q, nv, integrate, step=STEP):
    """Derivative of function(q) with respect to the tangent at q: d/de function(q ⊕ e)."""
    return differentiate(lambda e: function(integrate(q, e)), nv, step)


def along_vector(function, x, step=STEP):
    """Derivative of function(x) for an x in a vector space (velocity, torque, control, inertial parameters)."""
    return differentiate(lambda e: function(x + e), len(x), step)
