"""Batches compute what single simulators compute, bit for bit."""

import threading

import numpy as np
import pytest
import slipstick
from stepping import Stepper

N, STEPS = 6, 40


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


def falling(model, n=N, seed=1):
    """States that reach the floor within some ten steps, and controls around the home pose."""
    rng, home = np.random.default_rng(seed), model.keyframe("home")
    q = np.array([slipstick.dynamics.integrate(model, home.q, 0.1 * rng.normal(size=model.nv)) for _ in range(n)])
    q[:, 2] += 0.02
    v = 0.3 * rng.normal(size=(n, model.nv))
    v[:, 2] -= 2.0
    return q, v, home.ctrl + 0.2 * rng.normal(size=(n, STEPS, model.nu))


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_every_environment_does_what_its_simulator_does(model, threads):
    q, v, ctrl = falling(model)
    rng, tau = np.random.default_rng(2), np.zeros((N, model.nv))
    batch, simulators = slipstick.Batch(model, N, threads=threads), [Stepper(model) for _ in range(N)]
    contacts = 0
    for t in range(STEPS):
        tau, w_q, w_v = rng.normal(size=(3, N, model.nv))
        steps = [s.step(q[i], v[i], tau[i], ctrl[i, t]) for i, s in enumerate(simulators)]
        q, v = batch.step(q, v, tau, ctrl[:, t])
        J, gradients = batch.jacobian(), batch.vjp(q=w_q, v=w_v)
        for i, step in enumerate(steps):
            contacts += len(step.contacts)
            assert np.array_equal(q[i], step.q) and np.array_equal(v[i], step.v)
            for batched, alone in zip(gradients, step.vjp(q=w_q[i], v=w_v[i])):
                assert np.array_equal(batched[i], alone)
            alone = step.jacobian()
            for name in [f"d{a}_d{b}" for a in "qv" for b in ("q", "v", "tau", "ctrl")]:
                assert np.array_equal(getattr(J, name)[i], getattr(alone, name)), name
    assert contacts > 100


@pytest.mark.parametrize("memory", ["recompute", "store"])
def test_rollouts_and_their_gradients_are_those_of_single_ones(model, memory):
    q, v, ctrl = falling(model)
    rng = np.random.default_rng(3)
    tau, w_v = rng.normal(size=(N, STEPS, model.nv)), rng.normal(size=(N, STEPS + 1, model.nv))
    w_q = rng.normal(size=(N, model.nv))  # of the last configurations only
    batch = slipstick.Batch(model, N, threads=2)
    run = batch.rollout(q, v, STEPS, ctrl=ctrl, tau=tau, record=memory)
    q_out, v_out = run
    assert q_out.shape == (N, STEPS + 1, model.nq) and v_out.shape == (N, STEPS + 1, model.nv)
    gradients = run.vjp(q=w_q, v=w_v)
    for i in range(N):
        alone = slipstick.gradient.RolloutGradient(model, STEPS, memory=memory)
        trajectory = alone.run(q[i], v[i], ctrl=ctrl[i], tau=tau[i])
        assert np.array_equal(q_out[i], trajectory.q) and np.array_equal(v_out[i], trajectory.v)
        expected = alone.vjp(q=w_q[i], v=w_v[i])
        for name, g in zip(("q", "v", "tau", "ctrl"), gradients):
            assert np.array_equal(g[i], getattr(expected, name)), name


def test_parameters_may_differ(model):
    def slippery(share):
        parameters = model.parameters.copy()
        parameters[model.parameter_groups["friction"]] *= share
        return model.with_parameters(parameters)

    models = [slippery(share) for share in (1.0, 0.5, 0.1)]
    q, v, ctrl = falling(model, 3)
    batch = slipstick.Batch(models)
    ends = batch.rollout(q, v, STEPS, ctrl=ctrl).v[:, -1]
    for i in range(3):
        assert np.array_equal(ends[i], Stepper(models[i]).rollout(q[i], v[i], STEPS, ctrl=ctrl[i]).v[-1])
    batch.clear_warm_start()
    batch.set_model(1, model)
    changed = batch.rollout(q, v, STEPS, ctrl=ctrl).v[:, -1]
    assert np.array_equal(changed[0], ends[0]) and not np.array_equal(changed[1], ends[1])
    with pytest.raises(ValueError, match="this batch was made for another model than 'cube'"):
        slipstick.Batch([model, slipstick.builtin("cube")])
    with pytest.raises(ValueError, match="n: expected 3, one for each model, got 2"):
        slipstick.Batch(models, 2)
    with pytest.raises(ValueError, match="how many environments"):
        slipstick.Batch(model)


def test_some_begin_anew(model):
    q, v, ctrl = falling(model)
    batch = slipstick.Batch(model, N)
    for t in range(20):
        q, v = batch.step(q, v, ctrl=ctrl[:, t])
    mask = np.arange(N) % 2 == 0
    q_new, v_new = batch.reset(mask, q, v)
    home = model.keyframe("home")
    assert np.array_equal(q_new[mask], np.tile(home.q, (3, 1))) and np.array_equal(q_new[~mask], q[~mask])
    q, v = batch.step(q_new, v_new, ctrl=ctrl[:, 20])
    fresh = slipstick.step(model, home.q, home.v, ctrl=ctrl[0, 20])
    assert np.array_equal(v[0], fresh.v)
    everywhere = batch.reset()
    assert np.array_equal(everywhere[0], np.tile(home.q, (N, 1))) and np.array_equal(everywhere[1], 0 * v)
    with pytest.raises(ValueError, match="needed unless all"):
        batch.reset(mask)
    with pytest.raises(ValueError, match=r"mask: expected \(6,\), got an array of shape \(2,\)"):
        batch.reset([True, False], q, v)


def test_results_go_where_they_are_wanted(model):
    q, v, ctrl = falling(model)
    expected = slipstick.Batch(model, N).step(q, v, ctrl=ctrl[:, 0])
    result = slipstick.Batch(model, N).step(q, v, ctrl=ctrl[:, 0], out=(q, v))
    assert result[0] is q and result[1] is v
    assert np.array_equal(q, expected[0]) and np.array_equal(v, expected[1])
    with pytest.raises(ValueError, match="out: expected"):
        slipstick.Batch(model, N).step(q, v, out=(v, q))
    batch, frozen = slipstick.Batch(model, N), v.copy()
    frozen.flags.writeable = False
    for out, words in [
        ((q.astype(np.float32), v), "out: expected two float64 arrays, got one of float32"),
        ((q, frozen), "out: expected arrays to write to, got one that is read-only"),
        (q, r"out: expected two arrays \(q, v\), got a ndarray"),
        ((q.tolist(), v), "out: expected two float64 arrays, got a list"),
    ]:
        with pytest.raises((TypeError, ValueError), match=words):
            batch.step(q, v, out=out)
    assert batch.iterations.sum() == 0, "refused before anything was done"


def test_environments_that_fail_do_not_lose_the_others(model):
    q, v, ctrl = falling(model)
    expected = slipstick.Batch(model, N).step(q, v, ctrl=ctrl[:, 0])
    batch = slipstick.Batch(model, N)
    broken = v.copy()
    broken[2, 5], broken[4, 0] = 1e7, np.nan
    with pytest.raises(slipstick.errors.BatchError, match="environment 2: the velocity of .*; environment 4: v") as caught:
        batch.step(q, broken, ctrl=ctrl[:, 0])
    error = caught.value
    assert error.environments == [2, 4]
    assert isinstance(error.errors[0], slipstick.DivergenceError) and isinstance(error.errors[1], ValueError)
    q_next, v_next = error.result
    good = [0, 1, 3, 5]
    assert np.array_equal(q_next[good], expected[0][good]) and np.array_equal(v_next[good], expected[1][good])
    assert np.array_equal(q_next[2], q[2]) and np.array_equal(v_next[2], broken[2])
    assert np.isfinite(q_next).all() and np.isfinite(v_next).all()
    with pytest.raises(slipstick.errors.BatchError) as caught:
        batch.vjp(v=v_next)
    assert caught.value.environments == [2, 4]
    assert isinstance(caught.value.errors[0], slipstick.errors.StaleStep)
    assert np.abs(caught.value.result.v[good]).max() > 0 and np.all(caught.value.result.v[2] == 0)


def test_what_was_not_done_has_no_derivative(model):
    batch = slipstick.Batch(model, 2)
    for ask in (batch.jacobian, batch.vjp):
        with pytest.raises(slipstick.errors.StaleStep):
            ask()
    q, v = batch.reset()
    batch.step(q, v)
    assert batch.vjp(v=v).ctrl is None and batch.jacobian().dv_dctrl.shape == (2, model.nv, 0)
    for run in (batch.rollout(q, v, 3), batch.rollout(q, v, 3, record=False)):
        with pytest.raises(slipstick.errors.StaleStep, match="not recorded.*record=True"):
            run.vjp()
        assert "3 steps, not recorded" in repr(run)


def test_several_rollouts_are_differentiated_in_any_order(model):
    q, v, ctrl = falling(model)
    rng = np.random.default_rng(5)
    w = rng.normal(size=(N, model.nv))
    others = ctrl + 0.3 * rng.normal(size=ctrl.shape)
    alone = slipstick.Batch(model, N).rollout(q, v, STEPS, ctrl=ctrl, record="store").vjp(q=w)

    batch = slipstick.Batch(model, N, threads=2)
    first = batch.rollout(q, v, STEPS, ctrl=ctrl, record=True)
    batch.clear_warm_start()
    second = batch.rollout(q, v, STEPS, ctrl=others, record=True)
    batch.clear_warm_start()
    free = batch.rollout(q, v, STEPS, record="store")
    batch.reset()
    batch.set_model(0, model.with_options(dt=5e-4))
    expected = slipstick.Batch(model, N).rollout(q, v, STEPS, ctrl=others, record=True).vjp(q=w)
    for _ in range(2):
        for run, gradients in ((second, expected), (first, alone)):
            for got, wanted in zip(run.vjp(q=w), gradients):
                # stored and repeated derivatives differ by rounding
                assert np.allclose(got, wanted, rtol=1e-9, atol=1e-12 * np.abs(wanted).max())
    assert free.vjp(q=w).ctrl is None
    assert np.abs(alone.ctrl - expected.ctrl).max() > 1e-3, "the rollouts differ"


def test_shapes_are_refused_by_name(model):
    batch = slipstick.Batch(model, 2)
    q, v = batch.reset()
    with pytest.raises(ValueError, match=r"q: expected \(2, 19\) or \(19,\), got an array of shape \(3, 19\)"):
        batch.step(np.zeros((3, 19)), v)
    with pytest.raises(ValueError, match=r"ctrl: expected \(2, 12\) or \(12,\), got an array of shape \(2,\)"):
        batch.step(q, v, ctrl=np.zeros(2))
    expected = r"^tau: expected \(2, 3, 18\), \(2, 18\) held over the steps or \(18,\) for all, got an array of shape \(3, 18\); "
    with pytest.raises(ValueError, match=expected + r"for the same steps of all environments give tau\[None\]"):
        batch.rollout(q, v, 3, tau=np.zeros((3, 18)))
    with pytest.raises(MemoryError, match="there is no room for .* bytes: take fewer environments"):
        slipstick.Batch(model, 2**32 - 1)
    with pytest.raises(MemoryError, match="there is no room for .* bytes: take fewer steps"):
        batch.rollout(q, v, 2**32 - 1)
    with pytest.raises(ValueError, match="record: expected one of 'True', 'False', 'recompute', 'store', got 'all'"):
        batch.rollout(q, v, 3, record="all")
    run = batch.rollout(q, v, 3, record="store")
    with pytest.raises(ValueError, match=r"q: expected \(2, 18\) or \(2, 4, 18\), got an array of shape \(2, 3, 18\)"):
        run.vjp(q=np.zeros((2, 3, 18)))
    with pytest.raises(ValueError, match="environments: expected at least one, got 0"):
        slipstick.Batch(model, 0)
    assert repr(slipstick.Batch(model, 2, threads=1)) == "<slipstick.Batch of 'quadruped': 2 environments, 1 thread>"
    assert len(batch) == batch.n == 2 and batch.bytes_per_environment > 10_000


def test_quaternions_are_normalized_as_by_a_simulator(model):
    home = model.keyframe("home")
    q = np.tile(home.q, (2, 1))
    q[1, 3:7] *= 2.0
    q_next, v_next = slipstick.Batch(model, 2).step(q, np.zeros((2, model.nv)))
    assert np.array_equal(q_next[0], q_next[1]) and np.array_equal(v_next[0], v_next[1])


def test_two_threads_in_one_batch_get_an_exception(model):
    batch = slipstick.Batch(model, 64, threads=2)
    q, v = batch.reset()
    refused = []

    def work(call):
        try:
            call()
        except RuntimeError as error:
            refused.append(str(error))

    thread = threading.Thread(target=work, args=[lambda: batch.rollout(q, v, 300)])
    thread.start()
    while thread.is_alive() and not refused:  # whoever comes second, it is one of the two
        work(lambda: batch.step(q, v))
    thread.join()
    assert refused and set(refused) == {"this Batch is at work in another thread; make one per thread"}


def test_bundles_on_several_threads_give_the_same_bits(model):
    home = model.keyframe("home")
    options = dict(sigma=1e-3, samples=20, seed=4, ctrl=home.ctrl)
    runs = [slipstick.gradient.bundled_jacobian(model, home.q, home.v, **options, threads=threads) for threads in (1, 3)]
    for name, block in runs[0].jacobian.items():
        assert np.array_equal(block, runs[1].jacobian[name]), name
    assert runs[0].used == 20


def test_gradients_unpack_and_tell_their_shapes(model):
    q, v, ctrl = falling(model, 2)
    batch = slipstick.Batch(model, 2)
    batch.step(q, v)
    gradient = batch.vjp(v=v)
    gq, gv, gtau, gctrl = gradient
    assert gq is gradient.q and gv is gradient.v and gtau is gradient.tau and gctrl is None
    assert gradient.parameters == {}
    assert repr(gradient) == "<slipstick.gradient.Gradient: q (2, 18), v (2, 18), tau (2, 18), no ctrl>"
    rollout = slipstick.gradient.RolloutGradient(model, 3, parameters=["friction"])
    rollout.run(q[0], v[0])
    assert rollout.vjp(v=v[0]).ctrl is None
    rollout.run(q[0], v[0], ctrl=ctrl[0, 0])
    size = len(model.parameters[model.parameter_groups["friction"]])
    expected = f"<slipstick.gradient.Gradient: q (18,), v (18,), tau (3, 18), ctrl (3, 12), friction ({size},)>"
    assert repr(rollout.vjp(v=v[0])) == expected
