"""Least squares: known solutions, scipy's answers, and what comes back from functions that fail."""

import numpy as np
import pytest
import scipy.optimize
import slipstick
from slipstick import optimize

METHODS = ["gauss_newton", "levenberg_marquardt"]


def valley(x):
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def valley_jacobian(x):
    return np.array([[-20 * x[0], 10.0], [-1.0, 0.0]])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("jacobian", [valley_jacobian, None])
def test_the_end_of_a_bent_valley_is_found(method, jacobian):
    found = optimize.least_squares(valley, [-1.2, 1.0], jacobian=jacobian, method=method)
    np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-11)
    assert found.stop == "tolerance" and found.error <= 1e-12
    np.testing.assert_array_equal(found.residual, valley(found.x))


@pytest.mark.parametrize("method", METHODS)
def test_scipy_finds_the_same(method):
    rng = np.random.default_rng(0)
    times = np.linspace(0, 3, 40)
    values = 2.5 * np.exp(-1.3 * times) + 0.4 + 0.05 * rng.normal(size=times.size)

    def residual(x):
        return x[0] * np.exp(-x[1] * times) + x[2] - values

    def jacobian(x):
        decay = np.exp(-x[1] * times)
        return np.stack([decay, -x[0] * times * decay, np.ones_like(times)], axis=1)

    reference = scipy.optimize.least_squares(residual, [1.0, 1.0, 0.0], jacobian, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    found = optimize.least_squares(residual, [1.0, 1.0, 0.0], jacobian=jacobian, method=method, max_iterations=300)
    np.testing.assert_allclose(found.x, reference.x, rtol=1e-7)
    assert found.error**2 / 2 <= reference.cost * (1 + 1e-12)


def test_scipy_finds_the_same_between_bounds():
    rng = np.random.default_rng(1)
    for _ in range(20):
        A, b = rng.normal(size=(6, 4)), rng.normal(size=6)
        lower, upper = -rng.uniform(0, 0.4, 4), rng.uniform(0, 0.4, 4)
        reference = scipy.optimize.lsq_linear(A, b, (lower, upper), method="bvls", tol=1e-14)
        x0 = np.zeros(4)
        found = optimize.least_squares(lambda x: A @ x - b, x0, jacobian=lambda x: A, bounds=(lower, upper))
        np.testing.assert_allclose(found.x, reference.x, atol=1e-10)


def test_the_velocity_of_a_throw_is_found_with_exact_derivatives():
    model = slipstick.builtin("cube")
    start, steps = model.keyframe("thrown"), 150
    rollout = slipstick.gradient.RolloutGradient(model, steps)
    truth = start.v + [0.1, -0.2, 0.1, 0.0, 0.0, 0.3]
    target = rollout.run(start.q, truth).q[-1]

    def residual(v):
        return slipstick.dynamics.difference(model, target, rollout.run(start.q, v).q[-1])

    def jacobian(v):
        q = rollout.run(start.q, v).q[-1]
        outer = slipstick.dynamics.difference_derivatives(model, target, q)[1]
        return outer @ rollout.sensitivities(tau=False, ctrl=False)["initial"][:6, 6:]

    found = optimize.least_squares(residual, start.v, jacobian=jacobian)
    np.testing.assert_allclose(found.x, truth, atol=1e-9)
    assert len(found.iterations) < 12


def test_a_ball_that_slides_and_rolls_is_sent_to_a_place_with_the_memory_of_the_last_rollout():
    ball, target = slipstick.builtin("sphere"), np.array([1.0, 0.5])
    start, rollout = ball.keyframe("sliding"), slipstick.gradient.RolloutGradient(ball, 500)

    def residual(v):
        return rollout.run(start.q, np.append(v, start.v[2:])).q[-1, :2] - target

    def jacobian(v):  # right only if residual was asked for the same point just before
        return rollout.sensitivities(tau=False, ctrl=False)["initial"][:2, 6:8]

    found = optimize.least_squares(residual, start.v[:2], jacobian=jacobian)
    assert found.error <= 1e-12 and len(found.iterations) <= 7


def test_points_on_a_manifold_stay_on_it():
    model = slipstick.builtin("sphere")
    home = model.keyframe("home").q
    target = slipstick.dynamics.integrate(model, home, [0.3, -0.1, 0.2, 1.0, -0.7, 0.4])
    found = optimize.least_squares(
        lambda q: slipstick.dynamics.difference(model, target, q),
        home,
        retract=lambda q, d: slipstick.dynamics.integrate(model, q, d),
        unknowns=model.nv,
    )
    assert abs(np.linalg.norm(found.x[3:]) - 1) < 1e-12
    np.testing.assert_allclose(slipstick.dynamics.difference(model, target, found.x), 0, atol=1e-10)


def test_units_decide_which_step_is_the_shortest():
    found = optimize.least_squares(lambda x: [x.sum() - 2], [0.0, 0.0], jacobian=lambda x: [[1.0, 1.0]], units=[1, 3])
    np.testing.assert_allclose(found.x, [0.2, 1.8], atol=1e-14)


def test_the_log_tells_what_the_callback_saw():
    seen = []
    found = optimize.least_squares(valley, [-1.2, 1.0], jacobian=valley_jacobian, callback=seen.append)
    assert [i.iteration for i in seen] == list(range(len(found.iterations)))
    assert [i.error for i in seen] == [i.error for i in found.iterations]
    assert seen[-1].error == found.error and seen[-1].seconds >= seen[0].seconds
    assert "after" in repr(found) and "error=" in repr(seen[0])


@pytest.mark.parametrize("part", ["residual", "jacobian", "retract", "callback"])
def test_what_a_function_raises_comes_through(part):
    class Broken(Exception):
        pass

    def broken(*_):
        raise Broken

    functions = {"residual": valley, "jacobian": valley_jacobian} | {part: broken}
    with pytest.raises(Broken):
        optimize.least_squares(functions.pop("residual"), [-1.2, 1.0], **functions)


def test_what_the_last_callback_raises_comes_through():
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        optimize.least_squares(valley, [1.0, 1.0], jacobian=valley_jacobian, callback=interrupt)


def test_what_does_not_fit_is_named():
    def solve(*arguments, **options):
        return optimize.least_squares(*arguments, **({"jacobian": valley_jacobian} | options))

    for expected, call in [
        ("method: expected one of 'gauss_newton'", lambda: solve(valley, [0.0, 0.0], method="newton")),
        (r"jacobian: expected \(2, 2\), got an array of shape \(2, 1\)",
         lambda: solve(valley, [0.0, 0.0], jacobian=lambda x: np.ones((2, 1)))),
        ("retract: expected a function", lambda: solve(valley, [0.0, 0.0], unknowns=1)),
        (r"retract: expected \(2,\)", lambda: solve(valley, [0.0, 0.0], retract=lambda x, d: [0.0])),
        (r"x0\[0\]: expected a number within its bounds", lambda: solve(valley, [3.0, 0.0], bounds=(0.0, 1.0))),
        ("lower bounds: expected 2 numbers, got 3", lambda: solve(valley, [0.5, 0.5], bounds=([0.0] * 3, 1.0))),
        ("max_iterations", lambda: solve(valley, [0.0, 0.0], max_iterations=-1)),
        ("step of a difference", lambda: solve(valley, [0.0, 0.0], jacobian=None, difference_step=0.0)),
        (r"x0\[1\] is not a finite number", lambda: solve(valley, [0.0, np.nan])),
    ]:
        with pytest.raises(ValueError, match=expected):
            call()
    with pytest.raises(ArithmeticError, match="residual: row 1 is not a finite number"):
        solve(lambda x: np.array([0.0, np.inf]), [0.0, 0.0])
