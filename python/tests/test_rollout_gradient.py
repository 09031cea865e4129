"""Derivatives through many steps, bundles of steps, and models made softer."""

import numpy as np
import pytest
import slipstick
from stepping import Stepper

STEPS = 60


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


def moved(model, steps=STEPS):
    """Controls around those of the home pose."""
    home = model.keyframe("home")
    wave = np.sin(0.1 * np.arange(steps)[:, None] + np.arange(model.nu))
    return home, home.ctrl + 0.05 * wave


def ran(model, memory="recompute", parameters=()):
    home, ctrl = moved(model)
    rollout = slipstick.gradient.RolloutGradient(model, STEPS, memory=memory, parameters=parameters)
    return rollout, rollout.run(home.q, home.v, ctrl=ctrl)


def end(model, q, v, ctrl):
    trajectory = Stepper(model, tolerance=1e-13).rollout(q, v, STEPS, ctrl=ctrl)
    return trajectory.q[-1], trajectory.v[-1]


def test_a_run_is_a_rollout(model):
    home, ctrl = moved(model)
    rollout, trajectory = ran(model)
    simulator = Stepper(model)
    same = simulator.rollout(home.q, home.v, STEPS, ctrl=ctrl)
    for name in ["time", "q", "v", "ctrl", "tau", "residual", "iterations", "contacts"]:
        assert np.array_equal(getattr(trajectory, name), getattr(same, name)), name
    assert rollout.warm_start() == simulator.warm_start()
    assert rollout.mode_keys.shape == (STEPS,) and rollout.steps == STEPS


def test_the_gradient_is_that_of_differences(model):
    model = model.with_options(tolerance=1e-13)
    home, ctrl = moved(model)
    rollout, trajectory = ran(model, parameters=["damping"])
    rng = np.random.default_rng(3)
    w_q, w_v = rng.normal(size=(2, model.nv))

    def loss(q, v, ctrl, model=model):
        q_end, v_end = end(model, q, v, ctrl)
        return w_q @ slipstick.dynamics.difference(model, trajectory.q[-1], q_end) + w_v @ v_end

    gradient = rollout.vjp(q=w_q, v=w_v)
    d_q, d_v = rng.normal(size=(2, model.nv))
    d_ctrl, h = rng.normal(size=ctrl.shape), 1e-6
    by_q = [loss(slipstick.dynamics.integrate(model, home.q, s * 0.1 * h * d_q), home.v, ctrl) for s in (1, -1)]
    assert np.isclose((by_q[0] - by_q[1]) / (0.2 * h), gradient.q @ d_q, rtol=1e-5)
    by_v = [loss(home.q, home.v + s * h * d_v, ctrl) for s in (1, -1)]
    assert np.isclose((by_v[0] - by_v[1]) / (2 * h), gradient.v @ d_v, rtol=1e-5)
    by_ctrl = [loss(home.q, home.v, ctrl + s * h * d_ctrl) for s in (1, -1)]
    assert np.isclose((by_ctrl[0] - by_ctrl[1]) / (2 * h), np.sum(gradient.ctrl * d_ctrl), rtol=1e-5)
    d_damping = np.zeros(len(model.parameters))
    d_damping[model.parameter_groups["damping"]][8] = 1.0
    others = [model.with_parameters(model.parameters + s * 1e-5 * d_damping) for s in (1, -1)]
    by_damping = [loss(home.q, home.v, ctrl, other) for other in others]
    assert np.isclose((by_damping[0] - by_damping[1]) / 2e-5, gradient.parameters["damping"][8], rtol=1e-5)


def test_forward_reverse_and_both_memories_agree(model):
    rng = np.random.default_rng(5)
    w_q, w_v = rng.normal(size=(2, STEPS + 1, model.nv))
    d_q, d_v = rng.normal(size=(2, model.nv))
    d_ctrl, d_tau = rng.normal(size=(STEPS, model.nu)), rng.normal(size=(STEPS, model.nv))
    friction = rng.normal(size=model.n_geoms)
    for memory in ["recompute", "store"]:
        rollout, _ = ran(model, memory, ["friction"])
        changes = dict(q=d_q, v=d_v, tau=d_tau, ctrl=d_ctrl, parameters={"friction": friction})
        dq, dv = rollout.jvp(**changes)
        g = rollout.vjp(q=w_q, v=w_v)
        reverse = g.q @ d_q + g.v @ d_v + np.sum(g.tau * d_tau) + np.sum(g.ctrl * d_ctrl)
        reverse += g.parameters["friction"] @ friction
        assert np.isclose(np.sum(w_q * dq) + np.sum(w_v * dv), reverse, rtol=1e-10)
        s = rollout.sensitivities()
        assert s["tau"].shape == (STEPS, 2 * model.nv, model.nv) and s["ctrl"].shape == (STEPS, 2 * model.nv, model.nu)
        last = s["initial"] @ np.r_[d_q, d_v] + s["friction"] @ friction
        last += np.einsum("tij,tj->i", s["tau"], d_tau) + np.einsum("tij,tj->i", s["ctrl"], d_ctrl)
        assert np.allclose(last, np.r_[dq[-1], dv[-1]], rtol=1e-10, atol=1e-10 * np.abs(last).max())


def test_sensitivities_of_every_state(model):
    rollout, _ = ran(model)
    s = rollout.sensitivities(tau=False, ctrl=False, every=True)
    assert list(s) == ["initial"] and s["initial"].shape == (STEPS + 1, 2 * model.nv, 2 * model.nv)
    assert np.array_equal(s["initial"][0], np.eye(2 * model.nv))
    assert np.array_equal(s["initial"][-1], rollout.sensitivities()["initial"])


def test_memory_is_stated(model):
    stored, _ = ran(model, "store")
    again, _ = ran(model, "recompute")
    matrices = 8 * STEPS * 2 * model.nv * (3 * model.nv + model.nu)
    assert matrices < stored.bytes < 1.1 * matrices
    assert again.bytes < stored.bytes / 5


def test_what_does_not_fit_is_refused(model):
    home = model.keyframe("home")
    fresh = slipstick.gradient.RolloutGradient(model, 3)
    with pytest.raises(RuntimeError, match="run"):
        fresh.vjp(q=np.zeros(model.nv))
    fresh.run(home.q, home.v)
    for call, message in [
        (lambda: slipstick.gradient.RolloutGradient(model, -1), "steps.*-1"),
        (lambda: slipstick.gradient.RolloutGradient(model, 1, memory="much"), "memory.*'recompute'.*'much'"),
        (lambda: slipstick.gradient.RolloutGradient(model, 1, parameters=["color"]), "group.*'color'"),
        (lambda: fresh.run(home.q, home.v, ctrl=np.zeros((2, model.nu))), r"ctrl: expected \(12,\) or \(3, 12\)"),
        (lambda: fresh.run(home.q, home.v, tau=np.full(model.nv, np.nan)), "tau"),
        (lambda: fresh.run(home.q[1:], home.v), "q: expected 19"),
        (lambda: fresh.vjp(q=np.zeros(4)), r"q: expected \(18,\) or \(4, 18\)"),
        (lambda: fresh.jvp(parameters={"friction": np.zeros(model.n_geoms)}), "friction"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    fresh.run(home.q, home.v)
    assert fresh.vjp(q=np.ones(model.nv)).tau.shape == (3, model.nv)


def test_a_rollout_that_diverges_names_its_step(tmp_path):
    path = tmp_path / "spring.xml"
    path.write_text(
        '<mujoco><option timestep="0.1" gravity="0 0 0"/><worldbody><body name="bob">'
        '<joint type="slide" stiffness="500"/><geom size="0.1" mass="1"/></body></worldbody></mujoco>'
    )
    rollout = slipstick.gradient.RolloutGradient(slipstick.load(path), 1000)
    with pytest.raises(slipstick.DivergenceError) as error:
        rollout.run([0.1], [0.0])
    assert error.value.body == "bob" and 0 < error.value.step < 1000


def test_a_bundle_feels_a_floor_nearby():
    model = slipstick.builtin("sphere")
    q, v = model.keyframe("home").q + [0, 0, 2e-5, 0, 0, 0, 0], np.zeros(6)
    for order in [0, 1]:
        b = slipstick.gradient.bundled_jacobian(model, q, v, sigma={"q": 1e-5}, samples=400, order=order, seed=2)
        # it touches below 9.81e-6 m, one standard deviation down; there dv = -dq/dt
        assert abs(b.jacobian["dv_dq"][2, 2] + 154.0) < 4.0 * b.error["dv_dq"][2, 2] < 200.0
        assert b.mean_v[2] > b.v[2] and (b.used, b.left_out) == (400, 0)
        assert ("dv_dtau" in b.jacobian) == (order == 1) and "dv_dctrl" not in b.jacobian
    again = slipstick.gradient.bundled_jacobian(model, q, v, sigma={"q": 1e-5}, samples=400, order=order, seed=2)
    assert np.array_equal(again.jacobian["dv_dq"], b.jacobian["dv_dq"])
    for bad, message in [
        (dict(sigma={"height": 1.0}), "sigma.*'height'"),
        (dict(sigma=-1.0), "sigma.q.*-1"),
        (dict(sigma=0.1, samples=10, order=0), "at least 38, got 10"),
        (dict(sigma=0.1, order=2), "order.*0 or 1.*2"),
    ]:
        with pytest.raises(ValueError, match=message):
            slipstick.gradient.bundled_jacobian(model, q, v, **bad)


def test_a_schedule_ends_at_the_model():
    model = slipstick.builtin("cube")
    models = slipstick.gradient.compliance_schedule(model, model.neutral(), softest=0.1, stiffest=1e-3, levels=3)
    compliance = [m.parameters[m.parameter_groups["compliance"]] for m in models]
    assert np.allclose(compliance, [[0, 0.1], [0, 0.01], [0, 0.001], [0, 0]], rtol=1e-9, atol=0.0)
    assert np.array_equal(models[-1].parameters, model.parameters)
    with pytest.raises(ValueError, match="stiffest"):
        slipstick.gradient.compliance_schedule(model, model.neutral(), softest=0.1, stiffest=1.0)
