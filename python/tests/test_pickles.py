"""Pickles: the same robot bit for bit, typed errors for what is damaged, of another version or of another robot."""

import copy
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys

import numpy as np
import pytest
import slipstick
from robots import DM_CONTROL_ROBOTS, EXAMPLE_URDF_ROBOTS, GYMNASIUM_ROBOTS

from slipstick import errors, gradient

pytestmark = pytest.mark.filterwarnings("ignore::slipstick.errors.StepWarning")

STEPS = 300


def load(robot):
    return slipstick.load(robot.path, free_root=robot.free_root, ground=not robot.is_mjcf)


def motion(model, steps=STEPS):
    """States of a motion under seeded controls, and the Jacobian of its last step."""
    rng = np.random.default_rng(5)
    simulator = slipstick.Simulator(model)
    low, high = np.maximum(model.ctrl_lower, -1.0), np.minimum(model.ctrl_upper, 1.0)
    ctrl = np.repeat(rng.uniform(low, high, (steps // 10 + 1, model.nu)), 10, axis=0)[:steps]
    try:
        run = simulator.rollout(steps, ctrl=ctrl)
        q, v = run.q, run.v
    except errors.DivergenceError as error:
        q, v = error.trajectory.q, error.trajectory.v
    return np.hstack([q, v])


def jacobian(model):
    step = slipstick.Simulator(model).step(ctrl=np.zeros(model.nu))
    try:
        J = step.jacobian()
    except errors.GradientError as error:
        return np.array(str(error))
    return np.hstack([J.dq_dq, J.dq_dv, J.dv_dq, J.dv_dv, J.dv_dctrl])


def assert_same_bits(model, again):
    assert again.content_hash == model.content_hash
    assert np.array_equal(again.parameters, model.parameters)
    assert again.warnings == model.warnings and again.notes == model.notes
    assert np.array_equal(motion(again), motion(model))
    assert np.array_equal(jacobian(again), jacobian(model))


@pytest.mark.parametrize("name", slipstick.builtin_names())
def test_pickled_robots_move_bit_for_bit(name):
    model = slipstick.builtin(name)
    assert_same_bits(model, pickle.loads(pickle.dumps(model)))


THIRD_PARTY = [*GYMNASIUM_ROBOTS[:4], *DM_CONTROL_ROBOTS, *EXAMPLE_URDF_ROBOTS]


@pytest.mark.parametrize("robot", THIRD_PARTY, ids=str)
def test_pickled_robots_of_others_move_bit_for_bit(robot):
    model = load(robot)
    assert_same_bits(model, pickle.loads(pickle.dumps(model)))


def test_damaged_pickles_are_refused():
    """Every bit that changes in the bytes of the model is found."""
    restore, (saved, content_hash) = slipstick.builtin("hopper").__reduce__()
    draw = random.Random(3)
    for _ in range(1500):
        other = bytearray(saved)
        other[draw.randrange(len(other))] ^= 1 << draw.randrange(8)
        with pytest.raises(errors.FormatError):
            restore(bytes(other), content_hash)
    with pytest.raises(errors.FormatError, match="expected the content hash deadbeef, got"):
        restore(saved, "deadbeef")
    with pytest.raises(errors.FormatError, match="saved model: expected bytes as they were saved"):
        restore(saved[:-1], content_hash)


def test_damaged_pickles_as_a_whole_never_panic():
    whole = pickle.dumps(slipstick.builtin("cube"))
    draw = random.Random(4)
    for _ in range(500):
        other = bytearray(whole)
        other[draw.randrange(len(other))] ^= 1 << draw.randrange(8)
        try:
            again = pickle.loads(bytes(other))
        except Exception as error:
            assert type(error).__name__ != "PanicException"
            continue
        assert not isinstance(again, slipstick.Model) or np.array_equal(
            again.parameters, slipstick.builtin("cube").parameters
        )


def test_small_objects_are_pickled_and_copied():
    model = slipstick.builtin("quadruped").with_options(dt=0.00123, gradient="exact", magnetic=(0.1, 0.2, 0.3))
    for way in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert way(model.options) == model.options
        home, again = model.keyframe("home"), way(model.keyframe("home"))
        assert again.name == home.name and np.array_equal(again.q, home.q) and np.array_equal(again.ctrl, home.ctrl)
        assert again.mocap.shape == home.mocap.shape
    run = slipstick.Simulator(model).rollout(5)
    assert np.array_equal(pickle.loads(pickle.dumps(run)).q, run.q)
    with pytest.raises(errors.FormatError, match="saved options"):
        slipstick._native._restore_options(b"others")


def test_steps_say_why_they_cannot_be_pickled():
    step = slipstick.Simulator(slipstick.builtin("cube")).step()
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"a Step cannot be pickled or copied.*Simulator\.warm_start"):
            way(step)


def test_warm_starts_of_other_robots_and_versions_are_refused():
    simulator = slipstick.Simulator(slipstick.builtin("quadruped"))
    simulator.rollout(50)
    warm = simulator.warm_start()
    cube = slipstick.Simulator(slipstick.builtin("cube"))
    with pytest.raises(errors.FormatError, match="belongs to another model"):
        cube.restore(warm)
    with pytest.raises(errors.FormatError, match="belongs to another model"):
        gradient.RolloutGradient(slipstick.builtin("cube"), 3).set_warm_start(warm)
    saved = bytearray(warm.to_bytes())
    saved[40] ^= 1
    with pytest.raises(errors.FormatError, match="another checksum"):
        type(warm).from_bytes(bytes(saved))
    slipstick.Simulator(pickle.loads(pickle.dumps(slipstick.builtin("quadruped")))).restore(warm)


# ---------------------------------------------------------------------- processes

FORK = """
import os, signal, sys
import numpy as np
import slipstick
from slipstick import errors, gradient
model = slipstick.builtin("cube")
batch, single = slipstick.Batch(model, 4, threads=2), slipstick.Batch(model, 4, threads=1)
control_step = gradient.ControlStep(model, threads=2)
q, v = batch.reset()
batch.step(q, v)
single.step(q, v)
control_step.step(q, v)
if os.fork() == 0:
    signal.alarm(20)
    said = []
    for call in (lambda: batch.step(q, v), lambda: control_step.step(q, v)):
        try:
            call()
        except errors.ForkError as error:
            said.append(str(error))
    assert len(said) == 2 and "make one in each process" in said[0], said
    single.step(q, v)
    slipstick.Batch(model, 4, threads=2).step(q, v)
    os._exit(0)
assert os.wait()[1] == 0
print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_batches_do_not_hang_after_a_fork():
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60)
    assert done.stdout == "fine\n", done.stderr


def test_models_go_to_spawned_processes():
    model, handler = slipstick.builtin("walker2d"), signal.getsignal(signal.SIGINT)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(motion, (model, 50))
    assert np.array_equal(there, motion(model, 50))
    assert signal.getsignal(signal.SIGINT) is handler
