"""`slipstick.pinocchio.Map` against formulas written out here.

Ours: a free joint is a translation in world axes and a rotation in body axes, quaternions are (w, x, y, z), dofs stand
in file order. Pinocchio: a free-flyer has a body-axes twist, quaternions are (x, y, z, w), siblings are sorted by name.
With R the root's rotation, p and ω its velocities in our coordinates:
    v_pin = (Rᵀp, ω),   a_pin = (Rᵀa − ω × Rᵀp, α),   tau_pin = (Rᵀf, n),   J_pin = J · blockdiag(R, 1).
"""

import numpy as np
import pinocchio as pin
import pytest
import slipstick
import slipstick.pinocchio

from conftest import present_or_skipped, slipstick_model
from oracles import PinocchioOracle, rotation
from robots import URDF_ROBOTS
from states import assert_close, random_states

FREE_ROBOTS = [robot for robot in URDF_ROBOTS if robot.free_root]
LINK = """<link name="{0}"><inertial><origin xyz="0.02 {1} 0.05" rpy="0 0 0"/><mass value="{1}"/>
<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="-0.002" izz="0.025"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/>
<origin xyz="0.1 {4} 0.2" rpy="0.3 0.1 {4}"/><axis xyz="{5}"/>{6}</joint>"""
LIMIT = '<limit lower="-3" upper="3" effort="10" velocity="5"/>'


@pytest.fixture
def unsorted_urdf(tmp_path):
    """Three branches whose file order (zeta, alpha, mid) is not alphabetical, one of them two joints long."""
    links = [("trunk", 2.0), ("zeta_link", 0.5), ("alpha_link", 0.7), ("alpha_tip", 0.3), ("mid_link", 0.4)]
    joints = [
        ("zeta", "revolute", "trunk", "zeta_link", 0.3, "0 0 1", LIMIT),
        ("alpha", "prismatic", "trunk", "alpha_link", -0.2, "0 1 0", LIMIT),
        ("tip", "revolute", "alpha_link", "alpha_tip", 0.15, "0.6 0 0.8", LIMIT),
        ("mid", "revolute", "trunk", "mid_link", 0.4, "1 0 0", LIMIT),
    ]
    return write_urdf(tmp_path / "unsorted.urdf", links, joints)


def write_urdf(path, links, joints):
    body = "".join(LINK.format(*link) for link in links) + "".join(JOINT.format(*joint) for joint in joints)
    path.write_text(f'<?xml version="1.0"?><robot name="{path.stem}">{body}</robot>')
    return path


def one_dof_joints(model):
    return [name for name, kind in zip(model.joint_names, model.joint_types) if kind != "free"]


def dof_order(model, pin_model):
    """Our dof of every one-dof joint of Pinocchio's, in its order."""
    return [model.joint(name).v.start for name in pin_model.names if name in one_dof_joints(model)]


def free_flyer_formulas(model, pin_model, q, v, a, tau, J):
    """(q, v, a, tau, J) in the coordinates of a Pinocchio model whose first joint is a free-flyer."""
    R, order = rotation(q[3:7]), dof_order(model, pin_model)
    joints = [dof + 1 for dof in order]  # the root has seven coordinates and six dofs
    linear = R.T @ v[:3]
    return (
        np.concatenate([q[:3], np.roll(q[3:7], -1), q[joints]]),
        np.concatenate([linear, v[3:6], v[order]]),
        np.concatenate([R.T @ a[:3] - np.cross(v[3:6], linear), a[3:6], a[order]]),
        np.concatenate([R.T @ tau[:3], tau[3:6], tau[order]]),
        np.concatenate([J[:, :3] @ R, J[:, 3:6], J[:, order]], axis=1),
    )


def chain_formulas(model, pin_model, q, v, a, tau, J):
    """The same for a translation followed by a spherical joint: only quaternions and the order of joints differ."""
    order = list(range(6)) + dof_order(model, pin_model)
    joints = [dof + 1 for dof in order[6:]]
    return np.concatenate([q[:3], np.roll(q[3:7], -1), q[joints]]), v[order], a[order], tau[order], J[:, order]


def check_map(model, pin_model, formulas, label):
    """Both directions of every conversion, and that Pinocchio computes in them what we compute in ours."""
    convert, data = slipstick.pinocchio.Map(model, pin_model), pin_model.createData()
    frame = model.body_names[-1]
    for q, v, a, _ in random_states(model, label):
        tau, J = slipstick.dynamics.rnea(model, q, v, a), slipstick.dynamics.jacobian(model, q, frame)
        q_pin, v_pin, a_pin, tau_pin, J_pin = formulas(model, pin_model, q, v, a, tau, J)
        assert_close(convert.q_to(q), q_pin, 1e-14, "q_to")
        assert_close(convert.v_to(q, v), v_pin, 1e-13, "v_to")
        assert_close(convert.a_to(q, v, a), a_pin, 1e-13, "a_to")
        assert_close(convert.tau_to(q, tau), tau_pin, 1e-13, "tau_to")
        assert_close(convert.jacobian_to(q, J), J_pin, 1e-13, "jacobian_to")
        check_way_back(convert, q, v, a, tau, J, (q_pin, v_pin, a_pin, tau_pin, J_pin))
        assert_close(pin.rnea(pin_model, data, q_pin, v_pin, a_pin), tau_pin, 1e-9, "torques")
        theirs = pin.computeFrameJacobian(
            pin_model, data, q_pin, pin_model.getBodyId(frame), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        assert_close(theirs, J_pin, 1e-9, "jacobian")


def check_way_back(convert, q, v, a, tau, J, converted):
    """`_from` functions take Pinocchio's configuration where `_to` functions take ours."""
    q_pin, v_pin, a_pin, tau_pin, J_pin = converted
    assert_close(convert.q_from(q_pin), q, 1e-14, "q_from")
    assert_close(convert.v_from(q_pin, v_pin), v, 1e-13, "v_from")
    assert_close(convert.a_from(q_pin, v_pin, a_pin), a, 1e-13, "a_from")
    assert_close(convert.tau_from(q_pin, tau_pin), tau, 1e-13, "tau_from")
    assert_close(convert.jacobian_from(q_pin, J_pin), J, 1e-13, "jacobian_from")


def renamed_frames(oracle):
    """The oracle's Pinocchio model with body frames under the names of the file."""
    for name, frame in oracle.bodies.items():
        oracle.model.frames[frame].name = name
    return oracle.model


@pytest.mark.parametrize("robot", present_or_skipped(FREE_ROBOTS))
def test_a_free_flyer(robot):
    model = slipstick_model(robot)
    pin_model = pin.buildModelFromUrdf(str(robot.path), pin.JointModelFreeFlyer())
    check_map(model, pin_model, free_flyer_formulas, robot)


@pytest.mark.parametrize("robot", present_or_skipped(FREE_ROBOTS))
def test_a_translation_followed_by_a_rotation(robot):
    model = slipstick_model(robot)
    oracle = PinocchioOracle.from_urdf(robot.path, True, one_dof_joints(model))
    check_map(model, renamed_frames(oracle), chain_formulas, robot)


def test_siblings_that_pinocchio_sorts_are_matched_by_name(unsorted_urdf):
    model = slipstick.load(str(unsorted_urdf), free_root=True)
    pin_model = pin.buildModelFromUrdf(str(unsorted_urdf), pin.JointModelFreeFlyer())
    assert one_dof_joints(model) == ["zeta", "alpha", "tip", "mid"], "file order, depth first"
    assert list(pin_model.names)[2:] != one_dof_joints(model), "Pinocchio's order differs, or this tests nothing"
    check_map(model, pin_model, free_flyer_formulas, "unsorted free-flyer")
    oracle = PinocchioOracle.from_urdf(unsorted_urdf, True, one_dof_joints(model))
    check_map(model, renamed_frames(oracle), chain_formulas, "unsorted chain")


def test_a_fixed_base(unsorted_urdf):
    model = slipstick.load(str(unsorted_urdf))
    pin_model = pin.buildModelFromUrdf(str(unsorted_urdf))

    def formulas(model, pin_model, q, v, a, tau, J):
        order = dof_order(model, pin_model)
        return q[order], v[order], a[order], tau[order], J[:, order]

    check_map(model, pin_model, formulas, "fixed base")


def test_a_continuous_joint_is_one_angle_here_and_a_point_on_the_circle_there(tmp_path):
    links = [("stand", 1.0), ("wheel", 0.5)]
    path = write_urdf(tmp_path / "wheel.urdf", links, [("axle", "continuous", "stand", "wheel", 0.1, "0 1 0", "")])
    model, pin_model = slipstick.load(str(path)), pin.buildModelFromUrdf(str(path))
    convert = slipstick.pinocchio.Map(model, pin_model)
    assert (model.nq, pin_model.nq) == (1, 2)
    assert_close(convert.q_to(np.array([0.7])), [np.cos(0.7), np.sin(0.7)], 1e-15)
    assert_close(convert.q_from(np.array([np.cos(-2.0), np.sin(-2.0)])), [-2.0], 1e-15)


def test_a_model_with_other_joints_is_refused(unsorted_urdf):
    other = pin.Model()
    other.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "stranger")
    with pytest.raises(ValueError, match="stranger|zeta"):
        slipstick.pinocchio.Map(slipstick.load(str(unsorted_urdf)), other)
