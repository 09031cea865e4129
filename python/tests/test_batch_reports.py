"""What a batch tells about its last step or rollout."""

import numpy as np
import pytest
import slipstick
from stepping import Stepper

N, STEPS = 4, 30


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


def pressed(model):
    """Robots on the floor; the last two may not iterate, and do not converge."""
    home = model.keyframe("home")
    q, v = np.tile(home.q, (N, 1)), np.tile(home.v, (N, 1))
    q[:, 2] -= 0.02
    return [model] * 2 + [model.with_options(max_iterations=1)] * 2, q, v


@pytest.mark.filterwarnings("ignore::slipstick.errors.StepWarning")
def test_a_step_has_the_reports_of_single_ones(model):
    models, q, v = pressed(model)
    batch = slipstick.Batch(models, threads=2)
    batch.step(q, v)
    reports = [Stepper(models[i]).step(q[i], v[i]).report for i in range(N)]
    assert batch.status.tolist() == [r.status for r in reports] == ["converged"] * 2 + ["not_converged"] * 2
    assert batch.converged.tolist() == [True, True, False, False] and batch.not_converged.tolist() == [0, 0, 1, 1]
    for name in ("residual", "iterations"):
        assert getattr(batch, name).tolist() == [getattr(r, name) for r in reports], name
    assert batch.n_contacts.tolist() == [r.contacts for r in reports]
    assert batch.n_contacts.min() > 0 and batch.margin.shape == batch.degenerate.shape == (N,)
    assert np.all(batch.margin >= 0) and np.isfinite(batch.margin).all()
    assert repr(batch).endswith("4 environments, 2 threads, 2 not converged>")


def test_a_rollout_has_the_worst_of_its_steps(model):
    models, q, v = pressed(model)
    batch, stepping = slipstick.Batch(models), slipstick.Batch(models)
    batch.rollout(q, v, STEPS)
    names = ("residual", "iterations", "n_contacts", "degenerate", "margin", "not_converged")
    steps = {name: [] for name in names}
    for _ in range(STEPS):
        q, v = stepping.step(q, v)
        for name in names:
            steps[name].append(getattr(stepping, name))
    most = {"residual": np.max, "iterations": np.max, "degenerate": np.max, "margin": np.min, "not_converged": np.sum}
    for name, of in most.items():
        assert np.array_equal(getattr(batch, name), of(steps[name], axis=0)), name
    assert np.array_equal(batch.n_contacts, steps["n_contacts"][-1])
    assert np.array_equal(batch.converged, batch.not_converged == 0) and batch.not_converged[2:].min() > 0
    assert batch.status.tolist()[2:] == ["not_converged"] * 2


def test_environments_that_fail_say_so(model):
    batch = slipstick.Batch(model, N)
    q, v = batch.reset()
    assert batch.status.tolist() == ["converged"] * N and batch.iterations.tolist() == [0] * N
    tau = np.zeros((N, 5, model.nv))
    tau[1, 2, 0] = np.nan
    with pytest.raises(slipstick.errors.BatchError):
        batch.rollout(q, v, 5, tau=tau)
    assert (batch.status == "failed").tolist() == (~batch.converged).tolist() == [False, True, False, False]
    for name in ("residual", "margin"):
        assert np.isnan(getattr(batch, name)).tolist() == [False, True, False, False], name
    for name in ("iterations", "n_contacts", "degenerate", "not_converged"):
        assert getattr(batch, name)[1] == 0, name
    assert repr(batch).endswith("1 failed>")
    before = batch.residual
    batch.reset()
    assert np.array_equal(before, batch.residual, equal_nan=True), "a reset is no step"
