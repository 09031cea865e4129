"""slipstick.ray: equal bits for any number of workers, work done again after a kill, sweeps that go on."""

import importlib.util
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import slipstick
from slipstick.gradient import ControlStep

ray = pytest.importorskip("ray")

from slipstick.ray import Workers, _shards  # noqa: E402

STEPS, N = 6, 10


@pytest.fixture(scope="module")
def cluster():
    here = str(Path(__file__).parent)  # workers import functions of this file
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": here}})
    yield
    ray.shutdown()


def problem():
    model, rng = slipstick.builtin("hopper"), np.random.default_rng(0)
    home = model.keyframe("home")
    q = home.q + 0.02 * rng.normal(size=(N, model.nq))
    weights = rng.normal(size=(2, STEPS + 1, N, model.nv))
    return model, (q, 0.3 * rng.normal(size=(N, model.nv)), 0.3 * rng.normal(size=(STEPS, N, model.nu))), weights


def one_process(model, states, weights):
    parameters = np.array(model.parameters)
    options = {"parameters": parameters}
    shards = [slice(0, 4), slice(4, 8), slice(8, 10)]
    done = [
        _shards.vjp(model, 4, 1, q=states[0][s], v=states[1][s], ctrl=states[2][:, s], wq=weights[0][:, s], wv=weights[1][:, s], options=options)
        for s in shards
    ]
    return done[0]["by_parameters"] + done[1]["by_parameters"] + done[2]["by_parameters"], np.concatenate([d["by_ctrl"] for d in done], 1)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_workers_gives_the_same_bits(cluster, threads):
    """A piece of work asks for 1, 2 or 3 of three cores: three workers, one, one."""
    model, states, (wq, wv) = problem()
    grad = Workers(model, shard=4, threads=threads).vjp(*states, wq=wq, wv=wv, hold=4, parameters=model.parameters)
    # what travels is a copy, which may differ from the model in last bits
    by_parameters, by_ctrl = one_process(pickle.loads(pickle.dumps(model)), states, (wq, wv))
    assert np.array_equal(grad.parameters, by_parameters) and np.array_equal(grad.ctrl, by_ctrl)
    whole = Workers(model, shard=N).rollout(*states, hold=4, parameters=model.parameters)
    for a, b in zip(grad.run, whole):
        assert np.array_equal(a, b)  # whatever the shards


def test_gradients_are_those_of_differences(cluster):
    model, (q, v, ctrl), (wq, wv) = problem()
    model = model.with_options(tolerance=1e-13)
    workers = Workers(model, shard=5)
    grad = workers.vjp(q, v, ctrl, wq=wq, wv=wv)
    d = np.random.default_rng(1).normal(size=ctrl.shape)
    value = lambda run: (run.q * wq).sum((0, 2)) + (run.v * wv).sum((0, 2))  # noqa: E731
    h = 1e-6
    ahead, back = (value(workers.rollout(q, v, ctrl + t * d)) for t in (h, -h))
    slopes, expected = (ahead - back) / (2 * h), (grad.ctrl * d).sum((0, 2))
    smooth = np.abs(slopes - expected) < 1e-4 * (1 + np.abs(slopes))
    assert smooth.sum() >= N - 2, (slopes, expected)  # a foot may meet the floor in between


def killed_once(model, item):
    mark = Path(item)
    if not mark.exists():
        mark.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return model.content_hash


def test_work_of_a_killed_worker_is_done_again(cluster, tmp_path):
    model = slipstick.builtin("hopper")
    marks = [str(tmp_path / f"{k}") for k in range(3)]
    assert Workers(model).map(killed_once, marks) == [model.content_hash] * 3
    assert len(list(tmp_path.iterdir())) == 3


def counted(model, item):
    folder, number = item
    Path(folder, f"run-{number}-{os.urandom(4).hex()}").write_text("")
    return number * model.nv


DRIVER = """
import sys, os, ray, slipstick
sys.path.insert(0, {tests!r})
from test_ray import counted
from slipstick.ray import Workers
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env={{"env_vars": {{"PYTHONPATH": {tests!r}}}}})
Workers(slipstick.builtin("hopper")).map(counted, [({runs!r}, 0), ({runs!r}, 1)], folder={kept!r})
os.kill(os.getpid(), 9)
"""


def test_a_sweep_goes_on_after_its_driver_was_killed(cluster, tmp_path):
    runs, kept = tmp_path / "runs", tmp_path / "kept"
    runs.mkdir()
    code = DRIVER.format(tests=str(Path(__file__).parent), runs=str(runs), kept=str(kept))
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300).returncode == -signal.SIGKILL
    (kept / "item-000002.partial").write_bytes(b"half")
    items = [(str(runs), k) for k in range(4)]
    assert Workers(slipstick.builtin("hopper")).map(counted, items, folder=kept) == [0, 6, 12, 18]
    assert len(list(runs.iterdir())) == 4


def test_wrong_arguments_are_named(cluster):
    model, (q, v, ctrl), (wq, wv) = problem()
    with pytest.raises(ValueError, match=r"v: expected an array of shape \(10, 6\), got \(9, 6\)"):
        Workers(model).rollout(q, v[:9], ctrl)
    with pytest.raises(ValueError, match=r"wq: expected an array of shape \(7, 10, 6\), got \(3, 10, 6\)"):
        Workers(model).vjp(q, v, ctrl, wq=wq[:3], wv=wv)
    with pytest.raises(ValueError, match="shard: expected at least 1, got 0"):
        Workers(model, shard=0)


def test_without_a_cluster_the_error_says_what_to_call():
    code = "import slipstick; from slipstick.ray import Workers; Workers(slipstick.builtin('cube'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "call ray.init() before" in done.stderr


def test_the_simulated_schedule_is_that_of_simple_cases():
    folder = Path(__file__).resolve().parents[2] / "bench" / "ray_cost.py"
    spec = importlib.util.spec_from_file_location("ray_cost", folder)
    ray_cost = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ray_cost)
    assert ray_cost.schedule(10, 1, 2.0, 0.0) == pytest.approx(20.0)
    assert ray_cost.schedule(10, 5, 2.0, 0.0) == pytest.approx(4.0)
    assert ray_cost.schedule(1000, 1000, 0.001, 1.0) == pytest.approx(1000.0, rel=1e-2), "the driver is the limit"
