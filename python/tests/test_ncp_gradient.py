"""Derivatives of the bare contact problem: against differences of the solver, closed forms and their own transpose."""

import numpy as np
import pytest
import slipstick
from slipstick import ncp

from states import assert_close, generator

H = 1e-6
CONES = [ncp.Friction(0.4), "unilateral", ncp.Box(0.2), ncp.Friction(0.6), "bilateral", ncp.Friction(0.3)]
CONSTRAINTS, ROWS = 6, 12
NUMBERED = np.array([1.0, 0, 1, 1, 0, 1])  # which constraints have a coefficient or a bound


def problem(rng):
    """G, g, mu, compliance of contacts and rows of every kind, with one solution."""
    J = rng.normal(size=(ROWS, 2 * ROWS))
    mu = np.array([getattr(c, "mu", getattr(c, "bound", 0.0)) for c in CONES])
    g = rng.uniform(-1.0, 1.0, ROWS)
    g[[0, 1, 5, 6, 9, 10]] *= 0.5
    g[[2, 7, 11]] -= 0.3
    return [J @ J.T / ROWS, g, mu, rng.uniform(0.01, 0.1, CONSTRAINTS)]


def solve(G, g, mu, compliance, warm=None):
    cones = [c if isinstance(c, str) else type(c)(m) for c, m in zip(CONES, mu)]
    return ncp.solve(G, g, cones=cones, compliance=compliance, tolerance=1e-14, max_iterations=1000, warm=warm)


def solved_problems(what, count):
    """Problems and solutions, no mode of which a difference can change."""
    rng = generator(what)
    while count:
        terms = problem(rng)
        solution = solve(*terms)
        nearby = [solve(*terms[:1], terms[1] + d, *terms[2:]) for d in 1e-2 * rng.normal(size=(6, ROWS))]
        if solution.residual < 1e-12 and all(n.modes == solution.modes for n in nearby):
            count -= 1
            yield rng, terms, solution


def change(rng):
    dG = rng.normal(size=(ROWS, ROWS))
    return [dG + dG.T, rng.normal(size=ROWS), rng.normal(size=CONSTRAINTS) * NUMBERED, rng.normal(size=CONSTRAINTS)]


def difference(terms, d, warm):
    ends = [solve(*[x + t * dx for x, dx in zip(terms, d)], warm=warm) for t in (H, -H)]
    return [(getattr(ends[0], x) - getattr(ends[1], x)) / (2 * H) for x in ("impulse", "velocity")]


def test_derivatives_match_differences_of_the_solver():
    seen = set()
    for rng, terms, solution in solved_problems("ncp differences", 20):
        seen |= {mode for mode, cone in zip(solution.modes, CONES) if isinstance(cone, ncp.Friction)}
        d = change(rng)
        for part in range(4):  # one input at a time
            only = [x if i == part else 0.0 * x for i, x in enumerate(d)]
            got = solution.jvp(**{["G", "g", "mu", "compliance"][part]: d[part]})
            for a, b in zip(got, difference(terms, only, solution.impulse)):
                assert_close(a, b, 1e-7 * max(1.0, np.max(np.abs(b))))  # rounding of a difference, and friction that turns
    assert seen == {"break", "stick", "slide"}


def test_the_jacobian_has_the_columns_of_the_jvp():
    for rng, _, solution in solved_problems("ncp columns", 3):
        J = solution.jacobian()
        assert (J.degenerate, J.redundant) == (0, 0)
        assert "12 rows, 6 constraints, 0 degenerate" in repr(J)
        d = dict(zip(["G", "g", "mu", "compliance"], change(rng)))
        for kind, got in zip(["impulse", "velocity"], solution.jvp(**d)):
            by = {name: getattr(J, f"d{kind}_d{name}") for name in ["g", "mu", "compliance"]}
            assert [x.shape for x in by.values()] == [(ROWS, ROWS), (ROWS, CONSTRAINTS), (ROWS, CONSTRAINTS)]
            dG = getattr(J, f"d{kind}_dG")()
            assert dG.shape == (ROWS, ROWS, ROWS)
            expected = sum(by[name] @ d[name] for name in by) + np.tensordot(dG, d["G"], 2)
            assert_close(got, expected, 1e-11 * max(1.0, np.max(np.abs(expected))))


def test_the_gradient_is_the_transpose_of_the_jvp():
    for rng, _, solution in solved_problems("ncp transpose", 10):
        w_impulse, w_velocity = rng.normal(size=(2, ROWS))
        grad = solution.vjp(impulse=w_impulse, velocity=w_velocity)
        d = dict(zip(["G", "g", "mu", "compliance"], change(rng)))
        d["G"] += rng.normal(size=(ROWS, ROWS))  # a general matrix
        dimpulse, dvelocity = solution.jvp(**d)
        forward = w_impulse @ dimpulse + w_velocity @ dvelocity
        assert forward == pytest.approx(sum(np.sum(getattr(grad, name) * d[name]) for name in d), rel=1e-10, abs=1e-10)
        assert not np.any(grad.mu[NUMBERED == 0.0])


def test_redundant_contacts_are_counted_and_their_velocity_is_right():
    """Two points of one body of three dofs: velocity follows what both can follow, impulses are shared somehow."""
    J = np.vstack([np.eye(3), np.eye(3)])
    solution = ncp.solve(J @ J.T, J @ [0.1, 0.0, -1.0], [0.5, 0.5])
    assert solution.modes == ["stick", "stick"]
    jacobian = solution.jacobian()
    assert jacobian.redundant == solution.vjp(velocity=np.ones(6)).redundant == 3
    dimpulse, dvelocity = solution.jvp(g=J @ [1.0, 2.0, 3.0])
    assert_close(dvelocity, np.zeros(6), 1e-12)
    assert_close(J.T @ dimpulse, [-1.0, -2.0, -3.0], 1e-12)


def test_corners_are_counted():
    assert ncp.solve(np.eye(3), [0.5, 0.0, -1.0], [0.5]).jacobian().degenerate == 1
    assert ncp.solve(np.eye(3), [0.2, 0.0, 0.0], [0.5]).vjp(velocity=np.ones(3)).degenerate == 1


def test_the_example_of_the_documentation_says_what_it_gets():
    slides = ncp.solve(np.eye(3), [1.0, 0.0, -1.0], [0.5])
    J = slides.jacobian()
    assert_close(J.dvelocity_dmu[0], [-1.0], 1e-12)
    assert_close(J.dvelocity_dg[0], [1.0, 0.0, 0.5], 1e-12)
    grad = slides.vjp(velocity=[1.0, 0.0, 0.0])
    assert_close(grad.g, [1.0, 0.0, 0.5], 1e-12)
    assert_close(grad.G, np.outer(grad.g, slides.impulse), 1e-12)
    assert (J.degenerate, J.redundant, grad.degenerate, grad.redundant) == (0, 0, 0, 0)


def test_no_contacts_have_empty_derivatives():
    solution = ncp.solve(np.zeros((0, 0)), [], [])
    assert solution.jacobian().dimpulse_dg.shape == (0, 0) and solution.jacobian().dimpulse_dG().shape == (0, 0, 0)
    assert solution.vjp().G.shape == (0, 0)


def test_problems_without_a_solution_have_no_derivative():
    unsolved = ncp.solve(np.eye(3), [0.3, 0.0, -1.0], [0.1], max_iterations=0)
    J = np.array([[1.0], [-1.0]])
    infeasible = ncp.solve(J @ J.T, [-1.0, -1.0], cones=["unilateral", "unilateral"])
    for solution, status in [(unsolved, "not_converged"), (infeasible, "infeasible")]:
        for derivative in [solution.jacobian, solution.vjp, solution.jvp]:
            with pytest.raises(slipstick.GradientError, match=f"expected status 'converged'.*got '{status}'") as raised:
                derivative()
            assert raised.value.status == status and raised.value.residual == solution.residual


BAD = {
    "G too small": ("jvp", {"G": np.eye(3)}, r"G: expected \(6, 6\), got .* \(3, 3\)"),
    "G a vector": ("jvp", {"G": np.zeros(36)}, r"G.*matrix.*\(36,\)"),
    "G not finite": ("jvp", {"G": np.full((6, 6), np.nan)}, r"G\[0\].*finite"),
    "g too long": ("jvp", {"g": np.zeros(7)}, r"g.*6.*7"),
    "mu too long": ("jvp", {"mu": np.zeros(6)}, r"mu.*2.*6"),
    "compliance a number": ("jvp", {"compliance": 1.0}, r"compliance.*vector"),
    "impulse too short": ("vjp", {"impulse": np.zeros(5)}, r"impulse.*6.*5"),
    "velocity not finite": ("vjp", {"velocity": [0.0, 0, 0, 0, np.inf, 0]}, r"velocity\[4\].*finite"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_changes_and_weights_are_refused_by_name(what):
    method, arguments, message = BAD[what]
    solution = ncp.solve(np.eye(6), [0.1, 0.0, -1.0, 0.1, 0.0, -1.0], [0.5, 0.5])
    with pytest.raises(ValueError, match=message):
        getattr(solution, method)(**arguments)
