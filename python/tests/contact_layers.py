"""A contact problem with all kinds of constraints, away from changes of mode: what layers of JAX and PyTorch are tested on."""

import numpy as np
from slipstick import ncp

KINDS = ("friction", "unilateral", "box", "friction", "bilateral", "friction")
CONES = [ncp.Friction(0.4), "unilateral", ncp.Box(0.2), ncp.Friction(0.6), "bilateral", ncp.Friction(0.3)]
MU = np.array([0.4, 0.0, 0.2, 0.6, 0.0, 0.3])
ROWS = 12


def problems(count, seed=0):
    """G, g, mu, compliance of problems whose modes a change of 1e-2 of g leaves alone; each part with leading axis (count,)."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        J = rng.normal(size=(ROWS, 2 * ROWS))
        G, g = J @ J.T / ROWS, rng.uniform(-1.0, 1.0, ROWS)
        g[[2, 7, 11]] -= 0.3
        compliance = rng.uniform(0.01, 0.1, len(KINDS))
        solve = lambda g: ncp.solve(G, g, cones=CONES, compliance=compliance, tolerance=1e-14)  # noqa: B023, E731
        modes = solve(g).modes
        if all(solve(g + d).modes == modes for d in 1e-2 * rng.normal(size=(6, ROWS))):
            found.append((G, g, MU, compliance))
    return [np.array(x) for x in zip(*found)]
