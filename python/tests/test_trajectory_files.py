"""Trajectories come back from files and pickles as they were."""

import copy
import pickle

import numpy as np
import pytest
import slipstick

FIELDS = ["time", "q", "v", "ctrl", "tau", "contacts", "penetration", "residual", "compliance_shift", "iterations", "correction"]

SPRING = """<mujoco><worldbody><body><joint name="j" axis="0 1 0" ref="0"/><geom size="0.1" pos="0.3 0 0"/></body></worldbody>
<sensor><jointpos name="angle" joint="j"/></sensor></mujoco>"""


@pytest.fixture(scope="module")
def model():
    return slipstick.builtin("quadruped")


@pytest.fixture(scope="module", params=[False, True], ids=["states", "contacts"])
def run(request, model):
    sim = slipstick.Simulator(model)
    return sim.rollout(20, ctrl=model.keyframe("home").ctrl, contacts=request.param)


def assert_equal(a, b):
    for name in FIELDS:
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert (a.status, a.stage, repr(a)) == (b.status, b.stage, repr(b))


def contacts(run):
    return [[(c.geoms, c.mode, tuple(c.force)) for c in run.contacts_of(k)] for k in range(len(run))]


def test_a_file_holds_all_but_the_sensors(run, model, tmp_path):
    run.save(tmp_path / "run.npz")
    loaded = slipstick.Trajectory.load(tmp_path / "run.npz", model)
    assert_equal(loaded, run)
    assert loaded.sensors == {}
    try:
        kept = contacts(run)
    except ValueError:
        with pytest.raises(ValueError, match="contacts=True"):
            loaded.contacts_of(0)
    else:
        assert contacts(loaded) == kept


def test_a_loaded_motion_can_be_replayed(run, model, tmp_path):
    run.save(tmp_path / "run.npz")
    replay = slipstick.Replay(model)
    replay.record_trajectory(slipstick.Trajectory.load(tmp_path / "run.npz", model))
    other = slipstick.Replay(model)
    other.record_trajectory(run)
    assert replay.html() == other.html()


def test_a_pickle_holds_the_sensors_too():
    model = slipstick.loads(SPRING)
    run = slipstick.Simulator(model).rollout(5)
    twin = pickle.loads(pickle.dumps(run))
    assert list(twin.sensors) == ["angle"] and np.array_equal(twin.sensors["angle"], run.sensors["angle"])


def test_a_pickle_holds_everything(run):
    for twin in [pickle.loads(pickle.dumps(run)), copy.deepcopy(run)]:
        assert_equal(twin, run)


def test_what_does_not_fit_is_named(run, model, tmp_path):
    run.save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="run.npz: q_names: .*cartpole|run.npz.*slider|run.npz"):
        slipstick.Trajectory.load(tmp_path / "run.npz", slipstick.builtin("cartpole"))
    np.savez(tmp_path / "other.npz", q=run.q)
    with pytest.raises(ValueError, match="other.npz: .*format"):
        slipstick.Trajectory.load(tmp_path / "other.npz", model)
    with pytest.raises(OSError, match="nowhere.npz"):
        slipstick.Trajectory.load(tmp_path / "nowhere.npz", model)
    run.save(tmp_path / "run.csv")
    with pytest.raises(ValueError, match="run.csv"):
        slipstick.Trajectory.load(tmp_path / "run.csv", model)
