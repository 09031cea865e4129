"""The poses of the built-in robots that can rest, and torques that hold them, seen by Pinocchio.

Gauss–Newton with the exact derivatives of a step looks for the torques with which the step leaves the robot at rest.
Then Pinocchio, which knows nothing of contact, gets these torques and our contact forces: it must find no acceleration.
"""

import numpy as np
import pinocchio as pin
import pytest
import slipstick

from conftest import pinocchio_oracle
from robots import robot_named
from stepping import Stepper

POSES = [("quadruped", "stand"), ("quadruped", "handstand"), ("biped", "push_up")]


def without_dry_friction(model):
    """It would bear an unknown part of the load. Points on one edge get no compliance either: they would sink."""
    numbers = model.parameters
    numbers[model.parameter_groups["dry_friction"]] = 0.0
    return model.with_parameters(numbers).with_options(tolerance=1e-12, patch_compliance=0.0)


def held(model, q, iterations=10):
    """The step under torques that leave the robot at rest; the base has none."""
    sim, tau = Stepper(model), np.zeros(model.nv)
    for _ in range(iterations):
        step = sim.step(q, np.zeros(model.nv), tau)
        tau[6:] -= np.linalg.lstsq(step.jacobian().dv_dtau[:, 6:], step.v, rcond=1e-10)[0]
    return sim.step(q, np.zeros(model.nv), tau), tau


@pytest.mark.parametrize("name, keyframe", POSES)
def test_pinocchio_finds_no_acceleration_under_the_torques_and_contact_forces_of_a_pose_that_rests(name, keyframe):
    robot = robot_named(f"builtin/{name}")
    model, oracle = without_dry_friction(slipstick.load(str(robot.path))), pinocchio_oracle(robot)
    q = model.keyframe(keyframe).q
    step, tau = held(model, q)
    assert np.linalg.norm(step.v) < 1e-8
    assert step.report.residual < 1e-9

    forces, weight = contact_forces(oracle, q, step.contacts)
    assert abs(weight - 9.81 * sum(model.body_masses)) < 1e-4
    acceleration = pin.aba(oracle.model, oracle.data, oracle.q(q), np.zeros(model.nv), oracle.v(tau), forces)
    # 1e-8 m/s in a millisecond
    assert np.abs(acceleration).max() < 1e-5


def contact_forces(oracle, q, contacts):
    """Contact forces in the axes and at the origin of Pinocchio's joints, and what they bear."""
    pin.forwardKinematics(oracle.model, oracle.data, oracle.q(q))
    forces, weight = [pin.Force.Zero() for _ in range(oracle.model.njoints)], 0.0
    for contact in contacts:
        assert contact.bodies[0] == "world"
        tangential, normal = contact.frame.T[:2] @ contact.force, contact.frame.T[2] @ contact.force
        assert normal >= 0 and np.linalg.norm(tangential) <= contact.friction * normal + 1e-9
        joint = oracle.joint_of(contact.bodies[1])
        at_origin = pin.Force(contact.force, np.cross(contact.point, contact.force))
        forces[joint] += oracle.data.oMi[joint].actInv(at_origin)
        weight += contact.force[2]
    return forces, weight


@pytest.mark.parametrize("name, keyframe", POSES)
def test_the_center_of_mass_is_above_what_the_robot_stands_on(name, keyframe):
    robot = robot_named(f"builtin/{name}")
    model, oracle = slipstick.load(str(robot.path)), pinocchio_oracle(robot)
    q = model.keyframe(keyframe).q
    touching = [c for c in slipstick.step(model, q, np.zeros(model.nv)).contacts if abs(c.distance) < 1e-12]
    points = np.array([c.point[:2] for c in touching])
    center = pin.centerOfMass(oracle.model, oracle.data, oracle.q(q))[:2]
    assert distance_from_hull(points, center) < 1e-9


def distance_from_hull(points, center):
    """Zero inside; else the largest distance over all directions in which all points are behind the center."""
    angles = np.linspace(0.0, 2.0 * np.pi, 3601)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if len(points) == 2:  # only the ways across the line and along it decide, and a grid of directions misses them
        along = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
        directions = np.array([along, -along, [-along[1], along[0]], [along[1], -along[0]]])
    return max(0.0, *((center - points) @ directions.T).min(axis=0))
