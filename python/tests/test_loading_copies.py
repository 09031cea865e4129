"""Models written as MJCF and read again, pickled and copied: the same robot; and hashes that tell robots apart."""

import copy
import pickle
import subprocess
import sys

import mujoco
import numpy as np
import pytest
import slipstick

from catalog import ALL_MJCF, ALL_URDF, parameters
from oracles import mujoco_mass_matrix, rigid_only
from robots import BUILTIN_ROBOTS
from states import assert_close, random_states

FAR = 1e10  # limits beyond are as good as none
WRITTEN = 1e-12  # numbers are written with all their digits; poses and inertias pass through another form


@pytest.fixture(params=parameters(ALL_MJCF + ALL_URDF))
def robot(request):
    return request.param


def load(robot):
    return slipstick.load(robot.path, free_root=not robot.is_mjcf, ground=not robot.is_mjcf)


def read_again(model, folder):
    path = folder / "written.xml"
    path.write_text(model.to_mjcf(), encoding="utf-8")
    return slipstick.load(path)


def link_masses(model):
    """Masses of links by name; a site may have the name of a link, and comes after it."""
    masses = dict(reversed(list(zip(model.frame_names, model.frame_masses))))
    return [masses[name] for name in sorted(masses)]


def assert_same_description(ours, again):
    for attribute in ["nq", "nv", "nu", "n_bodies", "n_joints", "n_geoms", "name", "dt"]:
        assert getattr(ours, attribute) == getattr(again, attribute), attribute
    for names in ["body_names", "joint_names", "joint_types", "actuator_names", "keyframe_names", "geom_types"]:
        assert getattr(ours, names) == getattr(again, names), names
    assert set(ours.frame_names) == set(again.frame_names)
    assert np.array_equal(ours.pairs, again.pairs)
    assert [e.kind for e in ours.equalities] == [e.kind for e in again.equalities]
    assert [t.joints for t in ours.tendons] == [t.joints for t in again.tendons]
    assert [(s.name, s.quantity) for s in ours.sensors] == [(s.name, s.quantity) for s in again.sensors]


def test_a_written_model_reads_as_the_same_robot(robot, tmp_path):
    model = load(robot)
    again = read_again(model, tmp_path)
    assert_same_description(model, again)
    assert_close(link_masses(again), link_masses(model), WRITTEN)
    for attribute in ["armature", "damping", "stiffness", "dry_friction", "gravity", "spring_reference"]:
        assert_close(getattr(again, attribute), getattr(model, attribute), WRITTEN, attribute)
    finite = np.isfinite(model.lower)
    assert np.array_equal(finite, np.isfinite(again.lower))
    limits = [np.clip(m.lower[finite], -FAR, FAR) for m in (again, model)]
    assert_close(*limits, WRITTEN)
    assert_close(again.neutral(), model.neutral(), WRITTEN)
    for q, v, a, rng in random_states(model, robot, count=1):
        assert_close(slipstick.dynamics.rnea(again, q, v, a), slipstick.dynamics.rnea(model, q, v, a), 1e-11)
        assert_close(slipstick.dynamics.passive(again, q, v), slipstick.dynamics.passive(model, q, v), 1e-11)
        ctrl, act = rng.uniform(-1, 1, model.nu), rng.uniform(-1, 1, model.na)
        both = [slipstick.dynamics.actuate(m, q, v, ctrl, act) for m in (again, model)]
        assert_close(*both, 1e-11)


@pytest.mark.parametrize("robot", BUILTIN_ROBOTS, ids=str)
def test_mujoco_reads_what_is_written(robot):
    model = slipstick.builtin(robot.path.stem)
    mj = rigid_only(mujoco.MjModel.from_xml_string(model.to_mjcf()))
    assert (mj.nq, mj.nv, mj.nu) == (model.nq, model.nv, model.nu)
    data = mujoco.MjData(mj)
    for q, v, _, _ in random_states(model, robot, count=2):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(mj, data)
        assert_close(slipstick.dynamics.crba(model, q), mujoco_mass_matrix(mj, data), 1e-9)
        assert_close(slipstick.dynamics.bias(model, q, v), data.qfrc_bias, 1e-9)


# ---------------------------------------------------------------------- pickles

WAYS = {"pickle": lambda model: pickle.loads(pickle.dumps(model)), "copy": copy.copy, "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_is_the_same_robot(robot, way):
    """Bit for bit."""
    model = load(robot)
    again = WAYS[way](model)
    assert_same_description(model, again)
    assert np.array_equal(again.parameters, model.parameters)
    assert again.warnings == model.warnings and again.notes == model.notes
    assert again.content_hash == model.content_hash
    for q, v, a, _ in random_states(model, robot, count=1):
        assert np.array_equal(slipstick.dynamics.rnea(again, q, v, a), slipstick.dynamics.rnea(model, q, v, a))


def test_changed_numbers_and_options_survive_a_pickle():
    model = slipstick.builtin("quadruped")
    numbers = model.parameters
    numbers[model.parameter_groups["damping"]] += 0.123
    numbers[model.parameter_groups["inertial"]] *= 1.0 + 1e-9
    numbers[model.parameter_groups["gravity"]] = [0.1, 0.2, -1.62]
    changed = model.with_parameters(numbers).with_options(dt=0.00123)
    again = pickle.loads(pickle.dumps(changed))
    assert np.array_equal(again.parameters, changed.parameters)
    assert again.dt == 0.00123 and np.array_equal(again.gravity, [0.1, 0.2, -1.62])
    assert again.content_hash == changed.content_hash != model.content_hash


# ---------------------------------------------------------------------- hashes


def test_the_hash_is_the_contents(tmp_path):
    path = tmp_path / "robot.xml"
    text = (
        '<mujoco model="m"><worldbody><body name="b"><joint name="j"/><geom size="{size}" name="{name}"/></body>'
        "</worldbody></mujoco>"
    )

    def hash_of(**values):
        path.write_text(text.format(**{"size": 0.1, "name": "g", **values}))
        return slipstick.load(path).content_hash

    first = hash_of()
    assert isinstance(first, str) and len(first) >= 16
    assert hash_of(size="0.10") == first, "the same number"
    assert hash_of(size=0.11) != first
    assert hash_of(name="h") != first
    path.rename(tmp_path / "moved.xml")
    path.write_text("<!-- a remark -->" + text.format(size=0.1, name="g"))
    assert slipstick.load(path).content_hash == first, "remarks and places are no part of a robot"


def test_the_hash_is_the_same_each_time_a_file_is_read(robot):
    assert load(robot).content_hash == load(robot).content_hash


def test_the_hash_is_the_same_in_another_process():
    """Nothing in it depends on addresses, times or the order of a hash map."""
    program = 'import slipstick; print(slipstick.builtin("humanoid").content_hash)'
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == slipstick.builtin("humanoid").content_hash
