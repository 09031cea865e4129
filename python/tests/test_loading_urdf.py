"""Every URDF of the robots folder and of example-robot-data, on its base and with a free root, against Pinocchio.

Inertias that no body has are mended as little as possible, with a warning; Pinocchio is given the same.
"""

import functools
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
import slipstick

from catalog import ALL_URDF, parameters
from oracles import PinocchioOracle
from states import assert_close, placement_of, random_states

TOLERANCE = 1e-9  # of the largest number compared


@functools.cache
def loaded(robot, free_root):
    return slipstick.load(robot.path, free_root=free_root)


@functools.cache
def read_by_pinocchio(robot, free_root):
    root = [pin.JointModelFreeFlyer()] if free_root else []
    return pin.buildModelFromUrdf(str(robot.path), *root)


@pytest.fixture(params=parameters(ALL_URDF))
def robot(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["fixed", "free"])
def free_root(request):
    return request.param


@pytest.fixture
def model(robot, free_root):
    return loaded(robot, free_root)


@pytest.fixture
def oracle(robot, free_root, model):
    """Pinocchio's model. A mimic joint is a joint of its own there as here (the tie is an equality of ours)."""
    order = [name for name, kind in zip(model.joint_names, model.joint_types) if kind != "free"]
    oracle = PinocchioOracle.from_pinocchio(read_by_pinocchio(robot, free_root), order)
    if model.armature.any():
        assert any("armature" in warning.effect for warning in model.warnings), "a URDF gives none: a repair"
        oracle.model.armature = model.armature[oracle.dof]
    repair(oracle.model, model.warnings)
    return oracle


def repair(theirs, warnings):
    """Sets negative principal moments of bodies to zero, as we do with a warning."""
    for j in range(1, theirs.njoints):
        inertia = theirs.inertias[j]
        moments, axes = np.linalg.eigh(inertia.inertia)
        if moments[0] < -1e-12 * abs(moments[2]):
            assert any("negative" in warning.effect for warning in warnings)
            mended = axes @ np.diag(np.maximum(moments, 0.0)) @ axes.T
            theirs.inertias[j] = pin.Inertia(inertia.mass, inertia.lever, mended)


def our_name(link, free_root):
    """A link that moves cannot be called as the world."""
    return "world_link" if link == "world" and free_root else link


def symmetric(upper):
    return np.triu(upper) + np.triu(upper, 1).T


def test_counts_and_names_are_pinocchios(robot, free_root, model):
    theirs = read_by_pinocchio(robot, free_root)
    assert model.nv == theirs.nv
    assert model.n_bodies == theirs.njoints  # one moving body per joint, and the world
    assert set(model.joint_names) - {"root"} == set(theirs.names[1:]) - {"root_joint"}
    links = {our_name(frame.name, free_root) for frame in theirs.frames if frame.type == pin.FrameType.BODY}
    assert links <= set(model.frame_names), "links merged over fixed joints stay as frames"


def test_masses_and_inertias_are_pinocchios(robot, free_root, model, oracle):
    links = {our_name(name, free_root): name for name in oracle.bodies}
    for name in model.body_names[1:]:
        expected = oracle.model.inertias[oracle.joint_of(links[name])].toDynamicParameters()
        assert_close(model.body(name).inertial, expected, TOLERANCE, name)


def test_every_link_keeps_its_own_mass(robot, free_root, model):
    """The mass that stands in the file, also for links that are merged over fixed joints."""
    for link in ElementTree.parse(robot.path).getroot().findall("link"):
        mass = link.find("inertial/mass")
        expected = 0.0 if mass is None else float(mass.get("value"))
        frame = model.frame_names.index(our_name(link.get("name"), free_root))
        assert_close(model.frame_masses[frame], expected, 1e-15, link.get("name"))


def test_limits_are_pinocchios(robot, free_root, model):
    theirs = read_by_pinocchio(robot, free_root)
    for name in model.joint_names:
        joint = theirs.joints[theirs.getJointId(name)] if theirs.existJointName(name) else None
        if joint is None or joint.nv != 1:
            continue
        dof = model.joint(name).v.start
        if joint.nq == 1 and np.isfinite(model.lower[dof]):
            assert_close(model.lower[dof], theirs.lowerPositionLimit[joint.idx_q], 1e-12, name)
            assert_close(model.upper[dof], theirs.upperPositionLimit[joint.idx_q], 1e-12, name)
        else:
            assert joint.nq == 2 or theirs.lowerPositionLimit[joint.idx_q] == theirs.upperPositionLimit[joint.idx_q]


def test_dynamics_are_pinocchios(robot, free_root, model, oracle):
    theirs, data = oracle.model, oracle.data
    for q, v, a, _ in random_states(model, robot, count=2):
        pin_q, pin_v, pin_a = oracle.q(q), oracle.v(v), oracle.v(a)
        M = oracle.matrix(symmetric(pin.crba(theirs, data, pin_q, pin.Convention.WORLD)))
        assert_close(slipstick.dynamics.crba(model, q), M, TOLERANCE, "M")
        bias = oracle.vector(pin.nonLinearEffects(theirs, data, pin_q, pin_v))
        assert_close(slipstick.dynamics.bias(model, q, v), bias, TOLERANCE, "bias")
        tau = slipstick.dynamics.rnea(model, q, v, a)
        assert_close(tau, oracle.vector(pin.rnea(theirs, data, pin_q, pin_v, pin_a)), TOLERANCE, "torques")
        acceleration = oracle.vector(pin.aba(theirs, data, pin_q, pin_v, oracle.v(tau)))
        lost = 1e-15 * np.linalg.cond(M) if model.nv else 0.0  # fingers of a gram on arms of a kilogram
        assert_close(slipstick.dynamics.aba(model, q, v, tau), acceleration, max(TOLERANCE, lost), "accelerations")


def test_placements_are_pinocchios(robot, free_root, model, oracle):
    for q, _, _, _ in random_states(model, robot, count=2):
        pin.framesForwardKinematics(oracle.model, oracle.data, oracle.q(q))
        kinematics = slipstick.dynamics.kinematics(model, q)
        for name, frame in oracle.frames():
            rotation, position = placement_of(model, kinematics, our_name(name, free_root))
            assert_close(position, oracle.data.oMf[frame].translation, TOLERANCE, name)
            assert_close(rotation, oracle.data.oMf[frame].rotation, TOLERANCE, name)
