"""What acts on a batch: for each environment and step, held, or the same for all. Masks."""

import numpy as np
import pytest
import slipstick

N = 3


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


def inputs(model, *shape):
    rng, home = np.random.default_rng(1), model.keyframe("home")
    return home.ctrl + 0.2 * rng.normal(size=(*shape, model.nu)), rng.normal(size=(*shape, model.nv))


@pytest.mark.parametrize("shape", [(), (N,), (1,)])
def test_a_step_takes_one_row_for_all(model, shape):
    (ctrl, tau), home = inputs(model, *shape), model.keyframe("home")
    full = [np.broadcast_to(x, (N, x.shape[-1])) for x in (home.q, home.v, tau, ctrl)]
    expected = slipstick.Batch(model, N).step(*full)
    result = slipstick.Batch(model, N).step(home.q, home.v, tau, ctrl)
    assert all(np.array_equal(a, b) for a, b in zip(result, expected))


# as many steps as environments: the number of dimensions decides, and a matrix has a row for each environment
@pytest.mark.parametrize("steps", [N, 5, 0])
@pytest.mark.parametrize("shape", ["full", (N,), (), "sequence"])
def test_a_rollout_takes_rows_by_their_number_of_dimensions(model, steps, shape):
    shape = {"full": (N, steps), "sequence": (1, steps)}.get(shape, shape)
    (ctrl, tau), home = inputs(model, *shape), model.keyframe("home")

    def full(x):
        x = x[:, None] if len(shape) == 1 else x
        return np.ascontiguousarray(np.broadcast_to(x, (N, steps, x.shape[-1])))

    q, v = np.tile(home.q, (N, 1)), np.tile(home.v, (N, 1))
    expected = slipstick.Batch(model, N).rollout(q, v, steps, ctrl=full(ctrl), tau=full(tau))
    run = slipstick.Batch(model, N).rollout(home.q, home.v, steps, ctrl=ctrl, tau=tau)
    assert np.array_equal(run.q, expected.q) and np.array_equal(run.v, expected.v)
    assert run.q.shape == (N, steps + 1, model.nq)


@pytest.mark.parametrize("shape", [(N, 4), (2, 5), (2,), (5,), (1, 1, 5), (2, 1), (0,)])
def test_other_rows_are_refused(model, shape):
    batch = slipstick.Batch(model, N)
    q, v = batch.reset()
    ctrl = np.zeros((*shape, model.nu))
    with pytest.raises(ValueError, match=r"ctrl: expected \(3, 5, 12\), \(3, 12\) held over the steps or \(12,\) for all, got"):
        batch.rollout(q, v, 5, ctrl=ctrl)


def test_masks_are_whatever_numpy_makes_bools_of(model):
    batch = slipstick.Batch(model, N)
    q, v = batch.reset()
    moved = q + 1.0
    for mask in ([True, False, True], (True, False, True), np.array([True, False, True, False])[:3], [np.True_, False, True]):
        q_new, _ = batch.reset(mask, moved, v)
        assert np.array_equal(q_new[::2], q[::2]) and np.array_equal(q_new[1], moved[1])
        batch.clear_warm_start(mask)
    for mask, words in [
        (np.zeros(N, int), r"mask: expected a bool for each environment \(3,\), got an array of int64"),
        ([0, 1, 0], "mask: expected a bool for each environment .* int64"),
        ("all", "mask: expected a bool for each environment .* <U3"),
        ([[True], [True, False]], "mask: expected a bool for each environment"),
        (np.zeros((N, 1), bool), r"mask: expected \(3,\), got an array of shape \(3, 1\)"),
    ]:
        for call in (batch.reset, batch.clear_warm_start):
            with pytest.raises((TypeError, ValueError), match=words):
                call(mask)
