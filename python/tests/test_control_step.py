"""Control steps as functions of arrays: the steps of a Batch from cold starts, and derivatives in the numbers of q."""

import numpy as np
import pytest
import slipstick
from slipstick.gradient import ControlStep

N, HOLD = 5, 3


@pytest.fixture(scope="module", params=["hopper", "quadruped"])
def scene(request):
    model = slipstick.builtin(request.param)
    home, rng = model.keyframe("home"), np.random.default_rng(0)
    q = [slipstick.dynamics.integrate(model, home.q, 0.03 * rng.normal(size=model.nv)) for _ in range(N)]
    return model, np.array(q), 0.3 * rng.normal(size=(N, model.nv)), home.ctrl + 0.1 * rng.normal(size=(N, model.nu))


def test_it_is_some_steps_of_a_simulator(scene):
    model, q, v, ctrl = scene
    after = ControlStep(model, HOLD).step(q, v, ctrl)
    assert after.status.dtype == np.int32 and not after.failed.any() and after.report.shape == (N, len(ControlStep.REPORT))
    for k in range(N):
        sim = slipstick.Simulator(model)
        sim.reset(q=q[k], v=v[k])
        run = sim.rollout(HOLD, ctrl=ctrl[k])
        assert np.array_equal(run.q[-1], after.q[k]) and np.array_equal(run.v[-1], after.v[k])
        assert after.report[k, ControlStep.REPORT.index("residual")] == run.residual.max()


def test_gradients_are_those_of_the_jacobian_in_numbers_of_q(scene):
    model, q, v, ctrl = scene
    step, rng = ControlStep(model, HOLD), np.random.default_rng(1)
    A, B = step.jacobian(q, v, ctrl)
    wq, wv = rng.normal(size=q.shape), rng.normal(size=v.shape)
    grad = step.vjp(q, v, ctrl, wq=wq, wv=wv)
    w = np.hstack([wq, wv])
    size = np.abs(A).max()
    assert np.allclose(np.hstack([grad.q, grad.v]), np.einsum("ni,nij->nj", w, A), atol=1e-9 * size)
    assert np.allclose(grad.ctrl, np.einsum("ni,nij->nj", w, B), atol=1e-9 * size)
    assert step.vjp(q, v, wq=wq, wv=wv).ctrl is None
    assert step.vjp(q, v, ctrl, wq=wq, wv=wv, parameters=model.parameters).parameters["all"].shape == (N, len(model.parameters))


def test_quaternions_of_any_length_are_normalized(scene):
    model, q, v, ctrl = scene
    if model.nq == model.nv:
        pytest.skip("no quaternion")
    step, longer = ControlStep(model, HOLD), q.copy()
    longer[:, 3:7] *= 1.7
    assert np.allclose(step.step(longer, v, ctrl).q, step.step(q, v, ctrl).q, atol=1e-12)
    grad = step.vjp(longer, v, ctrl, wq=q, wv=v)
    assert np.allclose(np.einsum("ni,ni->n", grad.q[:, 3:7], longer[:, 3:7]), 0.0, atol=1e-8)  # no change along the length


def test_a_row_that_fails_has_a_status_and_no_gradient(scene):
    model, q, v, ctrl = scene
    step, broken = ControlStep(model, HOLD), v.copy()
    broken[1, 0], broken[3, 0] = 1e9, np.inf
    after = step.step(q, broken, ctrl)
    assert after.failed.tolist() == [False, True, False, True, False]
    assert [ControlStep.STATUS[k] for k in after.status[[1, 3]]] == ["failed", "failed"]
    assert np.array_equal(after.q[1], q[1])
    grad = step.vjp(q, broken, ctrl, wq=q, wv=v)
    assert not grad.q[[1, 3]].any() and not grad.ctrl[[1, 3]].any() and grad.ctrl[[0, 2, 4]].any()


def test_wrong_shapes_are_named(scene):
    model, q, v, ctrl = scene
    step = ControlStep(model, HOLD)
    with pytest.raises(ValueError, match=rf"ctrl: expected \({N}, {model.nu}\)"):
        step.step(q, v, ctrl[:2])
    with pytest.raises(ValueError, match=r"v: expected \(n, "):
        step.step(q, v[0])
    with pytest.raises(ValueError, match="hold: expected from 1 to 100000 engine steps, got 0"):
        ControlStep(model, 0)
