"""Equality constraints, tendons, actuators, sensors and shapes of every MJCF file, against MuJoCo's compiler.

What we cannot represent (spatial tendons, muscles, height fields) is left out with a warning: the tests take it out of
MuJoCo's list and look for the warning.
"""

import mujoco
import numpy as np
import pytest
import slipstick

from catalog import ALL_MJCF, compiled, loaded, parameters, rigid_mujoco_of
from oracles import enable
from states import assert_close, random_states

TOLERANCE = 1e-8
SHAPES = {"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"}


@pytest.fixture(params=parameters(ALL_MJCF))
def robot(request):
    return request.param


@pytest.fixture
def model(robot):
    return loaded(robot)


@pytest.fixture
def mj(robot):
    return compiled(robot)


def warned(model, word):
    return any(word in str(warning).lower() for warning in model.warnings)


# ---------------------------------------------------------------------- tendons


def is_fixed(mj, tendon):
    return mj.wrap_type[mj.tendon_adr[tendon]] == mujoco.mjtWrap.mjWRAP_JOINT


def test_fixed_tendons_are_mujocos(robot, model, mj):
    fixed = [t for t in range(mj.ntendon) if is_fixed(mj, t)]
    assert len(model.tendons) == len(fixed)
    if len(fixed) < mj.ntendon:
        assert warned(model, "spatial")
    for ours, t in zip(model.tendons, fixed):
        part = slice(mj.tendon_adr[t], mj.tendon_adr[t] + mj.tendon_num[t])
        assert ours.name == mj.tendon(t).name
        assert [model.joint_names.index(name) for name in ours.joints] == list(mj.wrap_objid[part])
        assert_close(ours.weights, mj.wrap_prm[part], 1e-12)
        assert (ours.range is not None) == bool(mj.tendon_limited[t])
        if ours.range is not None:
            assert_close(ours.range, mj.tendon_range[t], 1e-12)
        assert_close([ours.stiffness, ours.damping], [mj.tendon_stiffness[t], mj.tendon_damping[t]], 1e-12)
        assert_close(ours.dry_friction, mj.tendon_frictionloss[t], 1e-12)
        assert_close(ours.rest, mj.tendon_lengthspring[t], 1e-12)


# ---------------------------------------------------------------------- equality constraints

KINDS = {
    mujoco.mjtEq.mjEQ_CONNECT: "connect",
    mujoco.mjtEq.mjEQ_WELD: "weld",
    mujoco.mjtEq.mjEQ_JOINT: "joint",
    mujoco.mjtEq.mjEQ_TENDON: "tendon",
}


def test_equality_constraints_are_mujocos(robot, model, mj):
    assert len(model.equalities) == mj.neq or warned(model, "equality")
    if len(model.equalities) != mj.neq:
        pytest.skip("a constraint that is not represented: warned of")
    for k, ours in enumerate(model.equalities):
        kind, data = KINDS[mujoco.mjtEq(mj.eq_type[k])], mj.eq_data[k]
        assert (ours.name, ours.kind, ours.active) == (mj.equality(k).name, kind, bool(mj.eq_active0[k]))
        if kind in ("joint", "tendon"):
            assert_close(ours.coefficients, data[:5], 1e-12)
        if kind == "joint":
            others = [j for j in (mj.eq_obj1id[k], mj.eq_obj2id[k]) if j >= 0]
            assert [model.joint_names.index(name) for name in ours.joints] == others
        elif kind == "tendon":
            assert ours.tendons == [t for t in (mj.eq_obj1id[k], mj.eq_obj2id[k]) if t >= 0]
        elif kind == "connect" and mj.eq_objtype[k] == mujoco.mjtObj.mjOBJ_BODY:
            assert_close(ours.points, data[:6].reshape(2, 3), TOLERANCE)


# ---------------------------------------------------------------------- actuators


def test_actuators_are_mujocos(robot, model, mj):
    """Names and, for random states and controls half as wide again as their range, forces."""
    if model.nu != mj.nu:
        assert any("actuator" in str(warning) for warning in model.warnings)
        pytest.skip(f"{mj.nu - model.nu} of {mj.nu} actuators are not represented: warned of")
    assert model.actuator_names == [mj.actuator(a).name or model.actuator_names[a] for a in range(mj.nu)]
    assert model.na == mj.na
    mj = enable(rigid_mujoco_of(robot), mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    data = mujoco.MjData(mj)
    span = np.where(mj.actuator_ctrllimited == 1, np.abs(mj.actuator_ctrlrange).max(axis=1, initial=0.0), 2.0)
    for q, v, _, rng in random_states(model, robot, count=2):
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, rng.uniform(-1.5, 1.5, mj.nu) * span
        data.act[:] = rng.uniform(-1.5, 1.5, mj.na)
        mujoco.mj_forward(mj, data)
        found = slipstick.dynamics.actuate(model, q, v, data.ctrl.copy(), data.act.copy())
        assert_close(found, data.qfrc_actuator, TOLERANCE)


# ---------------------------------------------------------------------- sensors

QUANTITIES = {
    "ACCELEROMETER": "accelerometer",
    "VELOCIMETER": "velocimeter",
    "GYRO": "gyro",
    "FORCE": "force",
    "TORQUE": "torque",
    "TOUCH": "touch",
    "CLOCK": "clock",
    "JOINTPOS": "position",
    "TENDONPOS": "position",
    "ACTUATORPOS": "position",
    "FRAMEPOS": "position",
    "JOINTVEL": "velocity",
    "TENDONVEL": "velocity",
    "ACTUATORVEL": "velocity",
    "FRAMELINVEL": "linear_velocity",
    "FRAMEANGVEL": "angular_velocity",
    "FRAMELINACC": "linear_acceleration",
    "FRAMEANGACC": "angular_acceleration",
    "FRAMEQUAT": "quaternion",
    "FRAMEXAXIS": "x_axis",
    "FRAMEYAXIS": "y_axis",
    "FRAMEZAXIS": "z_axis",
    "BALLQUAT": "quaternion",
    "BALLANGVEL": "angular_velocity",
    "ACTUATORFRC": "actuator_force",
    "JOINTACTFRC": "actuator_force",
    "SUBTREECOM": "subtree_center_of_mass",
    "SUBTREELINVEL": "subtree_linear_velocity",
    "SUBTREEANGMOM": "subtree_angular_momentum",
    "MAGNETOMETER": "magnetometer",
    "RANGEFINDER": "range_finder",
    "INSIDESITE": "inside_site",
    "GEOMDIST": "distance",
    "GEOMNORMAL": "normal",
    "GEOMFROMTO": "from_to",
    "CONTACT": "contact",
    "E_POTENTIAL": "potential_energy",
    "E_KINETIC": "kinetic_energy",
    "USER": "user",
}


def test_sensors_are_mujocos(robot, model, mj):
    """All of them in the order of the file, but for those that a warning says are missing."""
    left_out = mj.nsensor - len(model.sensors)
    assert left_out == 0 or warned(model, "reading is missing")
    ours = iter(model.sensors)
    sensor = next(ours, None)
    for k in range(mj.nsensor):
        kind = mujoco.mjtSensor(mj.sensor_type[k]).name.removeprefix("mjSENS_")
        if sensor is None or (sensor.name, sensor.quantity) != (mj.sensor(k).name, QUANTITIES.get(kind)):
            left_out -= 1
            continue
        assert sensor.size == mj.sensor_dim[k]
        if sensor.object_type in ("joint", "actuator"):
            assert sensor.object == mj.sensor_objid[k]
        elif sensor.object_type in ("frame", "inertial"):
            assert model.frame_names[sensor.object] == name_of(mj, mj.sensor_objtype[k], mj.sensor_objid[k])
        sensor = next(ours, None)
    assert sensor is None and left_out == 0


def name_of(mj, kind, index):
    return mujoco.mj_id2name(mj, int(kind), int(index))


# ---------------------------------------------------------------------- shapes


def moving_index(mj):
    """Our number of the body that each body of MuJoCo is part of."""
    own = (mj.body_jntnum > 0) | (mj.body_mocapid >= 0)
    ours = np.cumsum(own)
    return np.where(own[mj.body_weldid], ours[mj.body_weldid], 0)


def aligned(model, mj):
    """Our geom of each of MuJoCo's, or None: both lists are in the order of the file, ours may leave some out."""
    bodies, place, found = moving_index(mj), 0, []
    for g in range(mj.ngeom):
        kind = mujoco.mjtGeom(mj.geom_type[g]).name.removeprefix("mjGEOM_").lower()
        key = (mj.geom(g).name, kind, bodies[mj.geom_bodyid[g]])
        same = place < model.n_geoms and key == (
            model.geom_names[place] if key[0] else "",
            model.geom_types[place],
            model.geom_bodies[place],
        )
        found.append(place if same else None)
        place += same
    assert place == model.n_geoms, "a geom of ours that MuJoCo does not have"
    return found


def can_touch(mj, g):
    explicit = set(mj.pair_geom1) | set(mj.pair_geom2)
    return mj.geom_contype[g] != 0 or mj.geom_conaffinity[g] != 0 or g in explicit


def test_every_shape_that_can_touch_is_there(robot, model, mj):
    """By name, type and body, in the order of the file."""
    for g, ours in enumerate(aligned(model, mj)):
        kind = mujoco.mjtGeom(mj.geom_type[g]).name.removeprefix("mjGEOM_").lower()
        if ours is None and can_touch(mj, g):
            assert kind not in SHAPES or mj.geom_dataid[g] < 0, f"{mj.geom(g).name} ({kind}) is missing"
            assert warned(model, kind)


def mujoco_pairs(mj):
    """MuJoCo's rule, written out over the compiled model: masks, welded bodies, parents, exclusions, explicit pairs."""
    weld, parent = mj.body_weldid, mj.body_weldid[mj.body_parentid]
    if mj.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT):
        return set()
    excluded = {int(signature) for signature in mj.exclude_signature}
    pairs = {tuple(sorted((int(a), int(b)))) for a, b in zip(mj.pair_geom1, mj.pair_geom2)}
    filter_parent = not mj.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
    for b in range(mj.ngeom):
        for a in range(b):
            i, k = mj.geom_bodyid[a], mj.geom_bodyid[b]
            masks = mj.geom_contype[a] & mj.geom_conaffinity[b] or mj.geom_contype[b] & mj.geom_conaffinity[a]
            if not masks or weld[i] == weld[k] or mj.body_treeid[i] < 0 and mj.body_treeid[k] < 0:
                continue
            family = weld[i] == parent[weld[k]] or weld[k] == parent[weld[i]]
            if filter_parent and family and weld[i] != 0 and weld[k] != 0:
                continue
            if (min(i, k) << 16) + max(i, k) not in excluded:
                pairs.add((a, b))
    return pairs


def test_pairs_are_mujocos(robot, model, mj):
    ours = {g: k for g, k in enumerate(aligned(model, mj)) if k is not None}
    expected = {tuple(sorted((ours[a], ours[b]))) for a, b in mujoco_pairs(mj) if a in ours and b in ours}
    found = [tuple(int(g) for g in pair) for pair in model.pairs]
    assert found == sorted(found) and len(set(found)) == len(found)
    assert set(found) == expected
