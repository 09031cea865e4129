"""Coulomb's law in numpy, from its definition: residual, convex oracle, and the problem of a step put together anew.

Rows of a contact are two tangents and the normal, which points from the first body to the second; impulses act on the
second body. `velocity = G @ impulse + g`.
"""

import clarabel
import numpy as np
import scipy.sparse as sparse

import slipstick


def beside_cone(x, mu):
    """x − Π(x): what is left of x beside the nearest point of the cone |x_T| ≤ mu x_N."""
    tangent, normal = np.linalg.norm(x[:2]), x[2]
    if mu * tangent <= -normal:  # first: without friction and sliding the other test would let a pull pass
        return x
    if tangent <= mu * normal:
        return np.zeros(3)
    outward = np.array([*(x[:2] / tangent), -mu])  # normal of the cone
    return outward * (outward @ x) / (outward @ outward)


def residual(G, g, mu, impulse):
    """max_k |λ_k − Π(λ_k − ρ_k (σ_k + μ_k|σ_kT| e_N))|∞ / ρ_k, ρ_k = 1/λ_max(G_kk), over max(1, |g|∞)."""
    velocity, worst = G @ impulse + g, 0.0
    for k in range(len(mu)):
        rows = slice(3 * k, 3 * k + 3)
        stiffest = np.linalg.eigvalsh(G[rows, rows])[-1]
        stiffest = stiffest if stiffest > 0.0 else 1.0
        corrected = velocity[rows] + np.array([0.0, 0.0, mu[k] * np.linalg.norm(velocity[rows][:2])])
        # λ − Π(λ − s) = s + what is beside the cone: so that s is not lost beside a huge λ
        step = corrected / stiffest
        beside = beside_cone(impulse[rows] - step, mu[k])
        worst = max(worst, stiffest * np.max(np.abs(step + beside)))
    return worst / max(1.0, np.max(np.abs(g), initial=0.0))


def minimize(G, g, mu):
    """Impulses in the cones that minimize ½ λᵀGλ + gᵀλ, by clarabel: Coulomb's law as if nothing slid."""
    blocks, cones = [], []
    for m in mu:
        if m == 0.0:  # the cone is a ray
            blocks.append(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]))
            cones += [clarabel.ZeroConeT(2), clarabel.NonnegativeConeT(1)]
        else:
            blocks.append(-np.array([[0.0, 0.0, m], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
            cones.append(clarabel.SecondOrderConeT(3))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    A, b = sparse.csc_matrix(sparse.block_diag(blocks)), np.zeros(3 * len(mu))
    solver = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(G)), g, A, b, cones, settings)
    answer = solver.solve()
    assert answer.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved), answer.status
    return np.array(answer.x)


def by_fixed_point(G, g, mu, iterations=60):
    """Coulomb's law as a sequence of convex problems: what slides is lifted by μ|σ_T|, until the lift is its own answer."""
    lift = np.zeros_like(g)
    for _ in range(iterations):
        impulse = minimize(G, g + lift, mu)
        velocity = G @ impulse + g
        lift[2::3] = np.asarray(mu) * np.hypot(velocity[0::3], velocity[1::3])
    return impulse


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def point_jacobian(model, q, body, point):
    """Velocity of the point of a body that is at `point` now: (3, nv), world axes."""
    if body == "world":
        return np.zeros((3, model.nv))
    J = slipstick.dynamics.jacobian(model, q, body)
    origin = slipstick.dynamics.kinematics(model, q).position[model.body_names.index(body)]
    return J[:3] - skew(point - origin) @ J[3:]


def contact_jacobian(model, q, contact):
    """Velocity of the second body against the first along the columns of the contact's frame: (3, nv)."""
    first, second = (point_jacobian(model, q, body, contact.point) for body in contact.bodies)
    return contact.frame.T @ (second - first)


def gap_velocity(distance, options):
    """A gap may close within the step; an overlap must open: all of it down to full_depth, a share of what is deeper."""
    c = options.correction
    full_depth, beta, max_speed = c.full_depth, c.beta, c.max_speed
    f = distance if distance >= -full_depth else -full_depth + beta * (distance + full_depth)
    return max(f / options.dt, -max_speed)


class StepProblem:
    """The contact problem of a step, from the public API: mass matrix, Jacobians, distances, options.

    For models with neither limits, dry friction nor equality constraints in play, with `implicit` "none" or "damping".
    """

    def __init__(self, model, q, v, contacts, tau=None, ctrl=None, restitution=0.0):
        options = model.options
        dt, damping = options.dt, np.diag(model.damping) if options.implicit == "damping" else 0.0
        force = slipstick.dynamics.passive(model, q, v) - slipstick.dynamics.bias(model, q, v)
        force = force + (0.0 if tau is None else tau)
        force = force + (0.0 if ctrl is None else slipstick.dynamics.actuate(model, q, v, ctrl))
        self.inverse = np.linalg.inv(slipstick.dynamics.crba(model, q) + dt * damping)
        self.v_free = v + dt * self.inverse @ force
        self.J = np.vstack([contact_jacobian(model, q, c) for c in contacts] or [np.zeros((0, model.nv))])
        self.mu = np.array([c.friction for c in contacts])
        self.G = self.J @ self.inverse @ self.J.T
        self.G = 0.5 * (self.G + self.G.T)
        self.g = self.J @ self.v_free
        approach = self.J @ v
        for k, c in enumerate(contacts):
            wanted, n = gap_velocity(c.distance, options), 3 * k + 2
            touches = c.distance + dt * approach[n] <= 0.0
            if restitution > 0.0 and approach[n] < -options.restitution_threshold and touches:
                wanted = min(wanted, restitution * approach[n])
            self.g[n] += wanted
        self.mass = model.total_mass
        self.compliance = np.zeros(len(self.g))
        self._soften(contacts, options.patch_compliance)

    def _soften(self, contacts, share):
        """Points that bear a load together have one compliance along their normals: a share of the inverse of all mass.

        Those of two bodies that touch in more than three points, and those of several bodies whose normals repeat each other,
        do; what takes part in a problem is for the step to say, so whether a point is soft is read from it, how soft is not.
        """
        soft = [k for k, c in enumerate(contacts) if c.compliance > 0.0]
        crowded = {b for b in (c.bodies for c in contacts) if sum(c.bodies == b for c in contacts) > 3}
        others = [k for k in soft if contacts[k].bodies not in crowded]
        assert not others or self._is_dependent(others), "only normals that repeat each other are soft"
        self.compliance[[3 * k + 2 for k in soft]] = share / self.mass

    def _is_dependent(self, chosen):
        """Whether the normals of some contacts repeat each other."""
        normals = [3 * k + 2 for k in chosen]
        gram = self.G[np.ix_(normals, normals)]
        scale = 1.0 / np.sqrt(np.diag(gram))
        return np.linalg.eigvalsh(gram * np.outer(scale, scale))[0] < 1e-8

    @property
    def soft_G(self):
        return self.G + np.diag(self.compliance)


def impulses(contacts):
    """Impulses of contacts along their frames, one after the other: (3n,)."""
    return np.concatenate([c.frame.T @ c.impulse for c in contacts] or [np.zeros(0)])
