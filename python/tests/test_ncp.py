"""The bare contact problem: graded by the definition of Coulomb's law, against closed forms and a convex solver."""

import numpy as np
import pytest
from slipstick import ncp

import coulomb
from states import assert_close, generator

SOLVERS = ["auto", "cold", "admm", "pgs"]
FIRST_ORDER = 20_000  # iterations that ADMM and PGS may need to 1e-10


def random_problem(rng, n, rank=None, largest_mu=1.0):
    """(G, g, mu) of n contacts of a system with `rank` degrees of freedom, moving towards or along each other.

    g = J v + gaps: standing still is possible, so there is a solution.
    """
    rank = 3 * n if rank is None else rank
    J = rng.normal(size=(3 * n, rank))
    G = J @ J.T
    g = J @ rng.normal(size=rank)
    g[2::3] += rng.uniform(0.0, 0.3, n) * (rng.random(n) < 0.3)
    return 0.5 * (G + G.T), g, rng.uniform(0.0, largest_mu, n)


def mixed_problems(count):
    """Problems of 1 to 30 contacts: μ from 0 to 10, a third of them without friction somewhere, half rank deficient."""
    rng = generator("mixed problems")
    for k in range(count):
        n = int(rng.integers(1, 31))
        rank = int(rng.integers(1, 3 * n + 1)) if k % 2 else 3 * n
        G, g, mu = random_problem(rng, n, rank, largest_mu=[0.3, 1.0, 10.0][k % 3])
        if k % 3 == 0:
            mu[rng.random(n) < 0.3] = 0.0
        yield G, g, mu


def sound_matrix(rng, n):
    """A Delassus matrix with eigenvalues from 0.3 to 3."""
    Q, _ = np.linalg.qr(rng.normal(size=(3 * n, 3 * n)))
    G = Q @ np.diag(rng.uniform(0.3, 3.0, 3 * n)) @ Q.T
    return 0.5 * (G + G.T)


def easy_problems(count, largest_mu=0.3):
    """Full rank, well conditioned and little friction: one solution, and every method finds it."""
    rng = generator("easy problems")
    for _ in range(count):
        n = int(rng.integers(1, 11))
        yield sound_matrix(rng, n), rng.normal(size=3 * n), rng.uniform(0.0, largest_mu, n)


# ---------------------------------------------------------------------- residual


def test_the_residual_is_that_of_its_definition():
    rng = generator("residual")
    for G, g, mu in mixed_problems(100):
        for size in [0.0, 1.0, 10.0 ** rng.uniform(-6, 3)]:
            impulse = size * rng.normal(size=len(g))
            expected = coulomb.residual(G, g, mu, impulse)
            assert abs(ncp.residual(G, g, mu, impulse) - expected) <= 1e-12 * max(1.0, expected)


def test_solutions_carry_their_own_residual_and_velocity():
    for G, g, mu in mixed_problems(60):
        solution = ncp.solve(G, g, mu)
        assert_close(solution.velocity, G @ solution.impulse + g, 1e-11)
        assert solution.residual == pytest.approx(ncp.residual(G, g, mu, solution.impulse), rel=1e-6, abs=1e-14)


# ---------------------------------------------------------------------- solve


@pytest.mark.parametrize("budget, allowed", [(170, 20), (1000, 4)])
def test_random_problems_are_solved_to_ten_digits(budget, allowed):
    """1,000 problems at 1e-10 by the definition of the residual: all with friction up to 1, all but a few with friction up
    to 10 and redundant contacts; none of the rest is passed off as solved, and none takes more than its budget."""
    failures = []
    for k, (G, g, mu) in enumerate(mixed_problems(1000)):
        solution = ncp.solve(G, g, mu, max_iterations=budget)
        assert solution.iterations <= budget and sum(solution.stages.values()) == solution.iterations
        assert np.all(np.isfinite(solution.impulse)) and np.all(np.isfinite(solution.velocity))
        graded = coulomb.residual(G, g, mu, solution.impulse)
        assert abs(solution.residual - graded) < 2e-11  # rounding of G @ impulse, where impulses are large
        assert (solution.status == "converged") == (solution.residual <= 1e-10)
        if graded > 1.2e-10:
            failures.append((k, len(mu), np.max(mu), graded))
    assert len(failures) <= allowed and all(largest > 1.0 for _, _, largest, _ in failures), failures


def test_a_single_contact_obeys_the_textbook():
    """One point of mass m: it leaves, stops, or slides on with the largest friction against its motion."""
    rng = generator("single")
    for _ in range(300):
        m, mu = 10.0 ** rng.uniform(-2, 2), rng.uniform(0.0, 2.0)
        g = rng.normal(size=3)
        speed = np.hypot(g[0], g[1])
        if g[2] >= 0.0:
            expected, mode = np.zeros(3), "break"
        elif speed < -mu * g[2]:
            expected, mode = -m * g, "stick"
        else:
            expected, mode = -m * g[2] * np.array([-mu * g[0] / speed, -mu * g[1] / speed, 1.0]), "slide"
        for solver in SOLVERS:
            solution = ncp.solve(np.eye(3) / m, g, [mu], solver=solver, max_iterations=FIRST_ORDER)
            assert solution.status == "converged" and solution.modes == [mode]
            assert_close(solution.impulse / m, expected / m, 5e-9)  # 1e-10, times 1 + μ² and as much for ADMM


def test_modes_say_what_the_contacts_do():
    for G, g, mu in easy_problems(60):
        solution = ncp.solve(G, g, mu)
        for k, mode in enumerate(solution.modes):
            impulse, velocity = (x[3 * k : 3 * k + 3] for x in (solution.impulse, solution.velocity))
            room = mu[k] * impulse[2] - np.hypot(impulse[0], impulse[1])
            if mode == "break":
                assert velocity[2] > -1e-9 and np.linalg.norm(impulse) < 1e-9
            elif mode == "stick":
                assert np.linalg.norm(velocity) < 1e-9 and room > -1e-9
            else:
                assert abs(room) < 1e-9 and abs(velocity[2]) < 1e-9 < np.linalg.norm(velocity[:2])
                assert impulse[:2] @ velocity[:2] < 0.0


def test_solvers_agree_on_the_velocity():
    """Where it is unique: full rank, little friction. 1e-8: the residual is 1e-10 and the problems amplify it."""
    for G, g, mu in easy_problems(60):
        answers = [ncp.solve(G, g, mu, solver=solver, max_iterations=FIRST_ORDER) for solver in SOLVERS]
        assert [a.status for a in answers] == ["converged"] * len(SOLVERS)
        for answer in answers[1:]:
            assert_close(answer.velocity, answers[0].velocity, 1e-8)


def test_without_friction_it_is_a_quadratic_program():
    """The velocity of the normals is unique, whatever the rank."""
    rng = generator("frictionless")
    for k in range(60):
        n = int(rng.integers(1, 20))
        G, g, mu = sound_matrix(rng, n), rng.normal(size=3 * n), np.zeros(n)
        if k % 2:
            J = sound_matrix(rng, n)[:, : int(rng.integers(1, 3 * n + 1))]
            G, g = J @ J.T, J @ rng.normal(size=J.shape[1])
        solution, convex = ncp.solve(G, g, mu), coulomb.minimize(G, g, mu)
        assert solution.status == "converged"
        assert_close(solution.velocity[2::3], (G @ convex + g)[2::3], 1e-6)  # the accuracy of the convex solver


def test_contacts_that_hold_are_a_cone_program():
    """Built so that everything sticks or opens without sliding: then Coulomb's law is the minimum of an energy."""
    rng = generator("sticking")
    for _ in range(60):
        n = int(rng.integers(1, 8))
        G, mu = sound_matrix(rng, n), rng.uniform(0.1, 0.6, n)
        impulse, velocity = np.zeros(3 * n), np.zeros(3 * n)
        for k in range(n):
            if rng.random() < 0.7:
                normal = rng.uniform(0.1, 2.0)
                impulse[3 * k : 3 * k + 3] = [*(0.3 * mu[k] * normal * rng.uniform(-1, 1, 2)), normal]
            else:
                velocity[3 * k + 2] = rng.uniform(0.1, 1.0)
        g = velocity - G @ impulse
        convex, solution = coulomb.minimize(G, g, mu), ncp.solve(G, g, mu)
        assert_close(G @ convex + g, velocity, 1e-6)
        assert solution.status == "converged"
        assert_close(solution.velocity, velocity, 1e-8)


def test_sliding_contacts_are_a_fixed_point_of_cone_programs():
    """The convex solver once more, now with De Saxcé's correction found by repetition."""
    compared = 0
    for G, g, mu in easy_problems(12, largest_mu=0.2):
        impulse = coulomb.by_fixed_point(G, g, mu)
        if coulomb.residual(G, g, mu, impulse) < 1e-7:  # the repetition need not converge
            solution, compared = ncp.solve(G, g, mu), compared + ("slide" in ncp.solve(G, g, mu).modes)
            assert_close(solution.velocity, G @ impulse + g, 1e-5)
    assert compared >= 6


@pytest.mark.parametrize("solver", SOLVERS)
def test_frictionless_contacts_need_not_slide(solver):
    """Nothing happens sideways: a contact that opens is let go, one that closes is stopped, none pulls."""
    for g, expected in [([0.0, 0.0, 1.0], 0.0), ([0.0, 0.0, -1.0], 0.5)]:
        solution = ncp.solve(2.0 * np.eye(3), g, [0.0], solver=solver)
        assert solution.status == "converged" and (solution.modes == ["break"]) == (expected == 0.0)
        assert_close(solution.impulse, [0.0, 0.0, expected], 1e-9)
        assert ncp.residual(2.0 * np.eye(3), g, [0.0], [0.0, 0.0, expected]) == 0.0
        assert ncp.residual(2.0 * np.eye(3), g, [0.0], [0.0, 0.0, expected - 0.1]) == pytest.approx(0.2)


def test_a_warm_start_saves_the_search():
    for G, g, mu in easy_problems(20):
        first = ncp.solve(G, g, mu)
        again = ncp.solve(G, g, mu, warm=first.impulse)
        assert again.iterations == 0 and again.stage == "newton"
        assert np.array_equal(again.impulse, first.impulse)


def test_a_solve_repeats_bit_for_bit():
    for solver in SOLVERS:
        for G, g, mu in mixed_problems(12):
            one, two = (ncp.solve(G, g, mu, solver=solver) for _ in range(2))
            assert np.array_equal(one.impulse, two.impulse) and one.iterations == two.iterations


def test_no_contacts_are_no_problem():
    solution = ncp.solve(np.zeros((0, 0)), [], [])
    assert solution.impulse.shape == (0,) and solution.modes == []
    assert (solution.status, solution.residual) == ("converged", 0.0)


# ---------------------------------------------------------------------- what cannot be solved


def hard_problems():
    wall = np.diag([1.0, 1.0, 0.0])  # nothing moves the normal
    yield "a wall that comes nearer", wall, [0.0, 0.0, -1.0], [0.5]
    yield "nothing moves at all", np.zeros((3, 3)), [1.0, 0.0, -1.0], [0.5]
    one = np.outer([0.0, 0.0, 1.0, 0.0, 0.0, -1.0], [0.0, 0.0, 1.0, 0.0, 0.0, -1.0])  # a body between two walls
    yield "between walls that close", one + 1e-30, [0.0, 0.0, -1.0, 0.0, 0.0, -1.0], [0.5, 0.5]
    yield "huge numbers", 1e30 * np.eye(3), [1e40, 0.0, -1e40], [0.5]
    yield "tiny numbers", 1e-30 * np.eye(3), [1e-40, 0.0, -1e-40], [0.5]
    yield "very different masses", np.diag([1e-12, 1e-12, 1e-12, 1e12, 1e12, 1e12]), [1.0, 0, -1, 1, 0, -1], [0.5, 0.5]
    yield "enormous friction", np.eye(3) + 0.9, [1.0, 2.0, -1.0], [1e8]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("what, G, g, mu", list(hard_problems()), ids=lambda x: x if isinstance(x, str) else "")
def test_hard_and_impossible_problems_get_a_finite_answer_and_an_honest_report(what, G, g, mu, solver):
    g = np.array(g)
    solution = ncp.solve(G, g, mu, solver=solver)
    assert np.all(np.isfinite(solution.impulse)) and np.all(np.isfinite(solution.velocity))
    assert np.isfinite(solution.residual)
    graded = coulomb.residual(G, g, np.array(mu), solution.impulse)
    # the corrected velocity has mu times the tangential one, and its rounding
    assert solution.residual == pytest.approx(graded, rel=1e-6, abs=max(1e-11, 1e-16 * np.max(mu)))
    assert (solution.status == "converged") == (solution.residual <= 1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_iterations_the_report_says_so(solver):
    G, g, mu = np.eye(3), np.array([0.3, 0.0, -1.0]), [0.1]
    solution = ncp.solve(G, g, mu, solver=solver, max_iterations=0)
    assert solution.status == "not_converged" and np.all(np.isfinite(solution.impulse))


# ---------------------------------------------------------------------- any constraints


def test_limits_dry_friction_and_loops_obey_their_laws():
    """Rows of every kind, one by one: each answers as if it were alone."""
    cones = [ncp.Friction(0.5), "unilateral", "unilateral", ncp.Box(0.2), ncp.Box(0.2), "bilateral"]
    g = np.array([0.1, 0.0, -1.0, -2.0, 2.0, 0.1, -3.0, 0.7])
    solution = ncp.solve(np.eye(8), g, cones=cones, compliance=[0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    assert_close(solution.impulse, [-0.1, 0.0, 1.0, 2.0, 0.0, -0.1, 0.2, -0.35], 1e-12)
    assert solution.modes == ["stick", "stick", "break", "stick", "slide", "stick"]
    assert solution.status == "converged" and ncp.residual(np.eye(8), g, cones=cones, impulse=solution.impulse) > 0.1


def test_demands_that_contradict_each_other_are_violated_equally_and_said_to_be_infeasible():
    """A unit mass is told to leave two walls at once, at 1 m/s each: it stays, and is not crushed."""
    J = np.array([[1.0], [-1.0]])
    solution = ncp.solve(J @ J.T, [-1.0, -1.0], cones=["unilateral", "unilateral"])
    assert solution.status == "infeasible" and solution.residual == pytest.approx(1.0)
    assert_close(solution.velocity, [-1.0, -1.0], 1e-9)
    assert np.all(solution.impulse >= 0.0) and np.max(solution.impulse) < 10.0


def test_problems_of_slow_motion_are_solved_relative_to_their_speed():
    rng = generator("slow problems")
    for k, (G, g, mu) in enumerate(easy_problems(200)):
        slow = g * 10.0 ** rng.uniform(-6, -1) / np.max(np.abs(g))
        solution = ncp.solve(G, slow, mu)
        # (ncp-3) has units of at least 1 m/s
        assert solution.residual <= 2e-9 * np.max(np.abs(slow)), k


def test_laws_that_are_none_are_refused_by_name():
    for cones, message in [
        (["contact"], r"cones\[0\].*ncp.Friction\(mu\).*got 'contact'"),
        ([["contact", 1.0]], r"cones\[0\].*got \['contact', 1.0\]"),
        ([ncp.Friction(-0.5)], r"mu\[0\].*zero or more.*-0.5"),
        ([ncp.Box(np.inf)], r"bound\[0\].*zero or more"),
    ]:
        rows = 3 if isinstance(cones[0], ncp.Friction) else 1
        with pytest.raises(ValueError, match=message):
            ncp.solve(np.eye(rows), np.zeros(rows), cones=cones)
    with pytest.raises(ValueError, match="either mu .* or cones"):
        ncp.solve(np.eye(1), [0.0])


# ---------------------------------------------------------------------- bad input

GOOD = {"G": np.eye(6), "g": np.zeros(6), "mu": np.full(2, 0.5)}
BAD = {
    "G not square": ({"G": np.zeros((6, 5))}, r"G.*\(6, 6\).*\(6, 5\)"),
    "G too small": ({"G": np.eye(3)}, r"G.*\(6, 6\).*\(3, 3\)"),
    "G a vector": ({"G": np.zeros(36)}, r"G.*matrix.*\(36,\)"),
    "G asymmetric": ({"G": np.eye(6) + np.eye(6, k=1)}, r"G\[1, 0\].*symmetric"),
    "G negative": ({"G": -np.eye(6)}, r"G\[0, 0\].*semidefinite"),
    "G not finite": ({"G": np.full((6, 6), np.nan)}, r"G\[0\].*finite"),
    "g too long": ({"g": np.zeros(7)}, r"g.*6.*7"),
    "g a matrix": ({"g": np.zeros((2, 3))}, r"g.*vector"),
    "g not finite": ({"g": np.array([0.0, 0, 0, 0, np.inf, 0])}, r"g\[4\].*finite"),
    "mu negative": ({"mu": np.array([0.5, -0.1])}, r"mu\[1\].*zero or more.*-0.1"),
    "mu not finite": ({"mu": np.array([np.nan, 0.5])}, r"mu\[0\].*finite"),
    "mu a number": ({"mu": 0.5}, r"mu.*vector"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_problems_are_refused_by_name(what):
    change, message = BAD[what]
    values = {**GOOD, **change}
    with pytest.raises(ValueError, match=message):
        ncp.solve(values["G"], values["g"], values["mu"])
    with pytest.raises(ValueError, match=message):
        ncp.residual(values["G"], values["g"], values["mu"], np.zeros(6))


def test_bad_options_are_refused_by_name():
    for options, message in [
        ({"solver": "gurobi"}, "solver.*'auto'.*'pgs'.*'gurobi'"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"max_iterations": -1}, "max_iterations.*-1"),
        ({"warm": np.zeros(5)}, "warm.*6.*5"),
        ({"warm": np.full(6, np.nan)}, r"warm\[0\]"),
    ]:
        with pytest.raises(ValueError, match=message):
            ncp.solve(**GOOD, **options)


def test_bad_impulses_are_refused_by_name():
    for impulse, message in [(np.zeros(5), "impulse.*6.*5"), (np.array([0, 0, 0, 0, 0, np.nan]), r"impulse\[5\]")]:
        with pytest.raises(ValueError, match=message):
            ncp.residual(**GOOD, impulse=impulse)
