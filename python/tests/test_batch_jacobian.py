"""Jacobians of recorded rollouts of a batch."""

import gc

import numpy as np
import pytest
import slipstick

N, STEPS = 3, 12
NAMES = [f"d{a}_d{b}" for a in "qv" for b in ("q", "v", "tau", "ctrl")]


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


def scene(model, seed=1):
    """States that reach the floor within some steps, and what acts."""
    rng, home = np.random.default_rng(seed), model.keyframe("home")
    q = np.array([slipstick.dynamics.integrate(model, home.q, 0.1 * rng.normal(size=model.nv)) for _ in range(N)])
    q[:, 2] += 0.01
    v = 0.3 * rng.normal(size=(N, model.nv))
    v[:, 2] -= 2.0
    return q, v, home.ctrl + 0.2 * rng.normal(size=(N, STEPS, model.nu)), rng.normal(size=(N, STEPS, model.nv))


def alone(model, q, v, ctrl, tau, memory, every=False):
    """Blocks of one RolloutGradient for each environment."""
    blocks = {name: [] for name in NAMES}
    for i in range(N):
        rollout = slipstick.gradient.RolloutGradient(model, STEPS, memory=memory)
        rollout.run(q[i], v[i], ctrl=ctrl[i], tau=tau[i])
        S, nv = rollout.sensitivities(every=every), model.nv
        for a, rows in (("q", slice(0, nv)), ("v", slice(nv, None))):
            blocks[f"d{a}_dq"].append(S["initial"][..., rows, :nv])
            blocks[f"d{a}_dv"].append(S["initial"][..., rows, nv:])
            blocks[f"d{a}_dtau"].append(S["tau"][..., rows, :])
            blocks[f"d{a}_dctrl"].append(S["ctrl"][..., rows, :])
    return {name: np.array(block) for name, block in blocks.items()}


@pytest.mark.parametrize("memory", ["recompute", "store"])
def test_they_are_those_of_single_rollouts_whatever_comes_between(model, memory):
    first, second = scene(model), scene(model, 2)
    batch = slipstick.Batch(model, N, threads=2)
    runs = []
    for q, v, ctrl, tau in (first, second):
        batch.clear_warm_start()
        runs.append(batch.rollout(q, v, STEPS, ctrl=ctrl, tau=tau, record=memory))
    batch.step(first[0], first[1])
    batch.set_model(0, model.with_options(dt=5e-4))  # a record keeps its own
    batch.reset()
    for _ in range(2):
        for run, given in reversed(list(zip(runs, (first, second)))):
            run.vjp(v=np.ones((N, model.nv)))
            for every in (False, True):
                J, expected = run.jacobian(every=every), alone(model, *given, memory, every)
                for name in NAMES:
                    assert np.array_equal(getattr(J, name), expected[name]), name


def test_they_are_central_differences_on_the_manifold(model):
    q, v, ctrl, tau = scene(model)
    J = slipstick.Batch(model, N).rollout(q, v, STEPS, ctrl=ctrl, tau=tau, record=True).jacobian()
    rng, h = np.random.default_rng(4), 1e-6
    dq, dv = rng.normal(size=(2, N, model.nv))
    dctrl, dtau = rng.normal(size=ctrl.shape), rng.normal(size=tau.shape)

    def end(h):
        moved = np.array([slipstick.dynamics.integrate(model, q[i], h * dq[i]) for i in range(N)])
        run = slipstick.Batch(model, N).rollout(moved, v + h * dv, STEPS, ctrl=ctrl + h * dctrl, tau=tau + h * dtau)
        return run.q[:, -1], run.v[:, -1]

    (q0, v0), (q1, v1) = end(-h), end(h)
    expected = {"q": np.array([slipstick.dynamics.difference(model, q0[i], q1[i]) for i in range(N)]), "v": v1 - v0}
    for a in "qv":
        of = {b: getattr(J, f"d{a}_d{b}") for b in ("q", "v", "tau", "ctrl")}
        change = np.einsum("nij,nj->ni", of["q"], dq) + np.einsum("nij,nj->ni", of["v"], dv)
        change += np.einsum("ntij,ntj->ni", of["tau"], dtau) + np.einsum("ntij,ntj->ni", of["ctrl"], dctrl)
        assert np.abs(change - expected[a] / (2 * h)).max() < 1e-6 * np.abs(change).max()


def test_shapes_are_those_that_are_wanted(model):
    q, v, ctrl, tau = scene(model)
    batch, nv, nu = slipstick.Batch(model, N), model.nv, model.nu
    run = batch.rollout(q, v, STEPS, ctrl=ctrl, record=True)
    J = run.jacobian(every=True)
    assert J.dv_dq.shape == (N, STEPS + 1, nv, nv) and J.dq_dctrl.shape == (N, STEPS + 1, STEPS, nv, nu)
    assert np.array_equal(J.dq_dq[:, 0], np.tile(np.eye(nv), (N, 1, 1))) and not J.dv_dtau[:, 0].any()
    assert np.array_equal(J.dv_dctrl[:, -1], run.jacobian(initial=False, tau=False).dv_dctrl)
    J = run.jacobian(tau=False, ctrl=False)
    assert J.dv_dtau.shape == (N, STEPS, nv, 0) and J.dv_dq.any()
    assert run.jacobian(initial=False, tau=False, ctrl=False).dq_dq.shape == (N, nv, 0)
    expected = "<slipstick.types.BatchJacobian: dv_dq (3, 18, 18), dv_dtau (3, 12, 18, 0), dv_dctrl (3, 12, 18, 0)>"
    assert repr(J) == expected
    assert repr(run) == "<slipstick.types.BatchRollout of 'quadruped': 3 environments, 12 steps, recorded>"
    free = batch.rollout(q, v, STEPS, record="store").jacobian()
    assert free.dv_dctrl.shape == (N, STEPS, nv, 0)
    at_rest = batch.rollout(q, v, 0, ctrl=np.zeros((N, 0, nu)), record=True).jacobian()
    assert np.array_equal(at_rest.dv_dv, np.tile(np.eye(nv), (N, 1, 1))) and at_rest.dv_dctrl.shape == (N, 0, nv, nu)


def test_a_record_outlives_the_name_of_its_batch(model):
    q, v, ctrl, tau = scene(model)
    batch = slipstick.Batch(model, N)
    run = batch.rollout(q, v, STEPS, ctrl=ctrl, tau=tau, record=True)
    expected = run.jacobian().dv_dq
    del batch
    gc.collect()
    assert np.array_equal(run.jacobian().dv_dq, expected)


def test_what_has_no_record_is_refused(model):
    q, v, ctrl, tau = scene(model)
    batch = slipstick.Batch(model, N)
    with pytest.raises(slipstick.errors.StaleStep, match="not recorded.*record=True"):
        batch.rollout(q, v, STEPS).jacobian()
    batch.clear_warm_start()
    tau[1, 4, 2] = np.nan
    with pytest.raises(slipstick.errors.BatchError) as caught:
        batch.rollout(q, v, STEPS, tau=tau, record=True)
    run = caught.value.result
    with pytest.raises(slipstick.errors.BatchError) as caught:
        run.jacobian()
    assert caught.value.environments == [1] and isinstance(caught.value.errors[0], slipstick.errors.StaleStep)
    sound = slipstick.Batch(model, N).rollout(q, v, STEPS, tau=np.nan_to_num(tau), record=True).jacobian()
    assert np.array_equal(caught.value.result.dv_dq[[0, 2]], sound.dv_dq[[0, 2]])
