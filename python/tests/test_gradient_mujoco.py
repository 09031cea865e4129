"""A and B of motion without contact beside MuJoCo's mjd_transitionFD, and derivatives of the dynamics."""

import mujoco
import numpy as np
import pytest
import slipstick

from oracles import enable, load_mujoco
from robots import robot_named
from states import assert_close, generator, layout_of_model, random_q
from unconstrained import unconstrained
from stepping import Stepper

# Motors with Euler's integrator, servos with implicitfast, which takes their velocity gains implicitly as we do.
ROBOTS = [
    ("builtin/double_pendulum", "damping"),
    ("builtin/cartpole", "damping"),
    ("builtin/half_cheetah", "damping"),
    ("builtin/humanoid", "damping"),
    ("builtin/ant", "damping"),
    ("builtin/quadruped", "velocity"),
    ("builtin/arm", "velocity"),
    ("builtin/biped", "velocity"),
    ("tests/all_joints", "velocity"),
]
TOLERANCE = 1e-5  # what MuJoCo's differences are good for, relative to the largest entry of a block


def mujoco_for(robot, model, implicit):
    bit = mujoco.mjtDisableBit
    mj = enable(load_mujoco(robot.path), bit.mjDSBL_SPRING, bit.mjDSBL_DAMPER, bit.mjDSBL_ACTUATION)
    mj.opt.timestep = model.dt
    if implicit == "velocity":
        mj.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return mj


def transition(mj, q, v, ctrl):
    """MuJoCo's A (2nv, 2nv) and B (2nv, nu), centered. Controls act linearly and reach q through dt²: a large step."""
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, ctrl
    A, B = np.zeros((2 * mj.nv, 2 * mj.nv)), np.zeros((2 * mj.nv, mj.nu))
    mujoco.mjd_transitionFD(mj, data, 1e-6, True, A, None, None, None)
    mujoco.mjd_transitionFD(mj, data, 1e-3, True, None, B, None, None)
    return A, B


def random_state(model, rng):
    """Around the home pose, where no actuator is at the end of its force; anywhere for a robot without one."""
    v, ctrl = rng.uniform(-1.0, 1.0, model.nv), rng.uniform(-1.0, 1.0, model.nu)
    if "home" not in model.keyframe_names:
        return random_q(layout_of_model(model), model.neutral(), rng), v, 0.1 * ctrl
    home = model.keyframe("home")
    return slipstick.dynamics.integrate(model, home.q, 0.01 * rng.normal(size=model.nv)), 0.2 * v, home.ctrl + 0.01 * ctrl


def assert_blocks_close(actual, expected, nv, what):
    for rows, name in [(slice(nv), "q"), (slice(nv, None), "v")]:
        for columns in [slice(nv), slice(nv, None)]:
            block = expected[rows, columns]
            if block.size:
                scale = max(np.max(np.abs(block)), 1e-9)
                assert_close(actual[rows, columns] / scale, block / scale, TOLERANCE, f"{name} in {what}")


@pytest.mark.parametrize("name, implicit", ROBOTS)
def test_A_and_B_are_those_of_mujoco_without_contact(name, implicit):
    robot = robot_named(name)
    model = unconstrained(robot).with_options(implicit=implicit)
    mj, rng, simulator = mujoco_for(robot, model, implicit), generator(name), Stepper(model)
    for _ in range(3):
        q, v, ctrl = random_state(model, rng)
        J = simulator.step(q, v, ctrl=ctrl).jacobian()
        A, B = transition(mj, q, v, ctrl)
        assert J.A.shape == A.shape and J.B.shape == B.shape == (2 * model.nv, model.nu) and np.any(B)
        assert_blocks_close(J.A, A, model.nv, "A")
        assert_blocks_close(J.B, B, model.nv, "B")


@pytest.mark.parametrize("name", ["builtin/quadruped", "builtin/humanoid", "tests/all_joints"])
def test_without_contact_and_implicit_terms_it_is_the_derivative_of_forward_dynamics(name):
    """dv⁺ = dv + dt·da with what aba_derivatives gives, under wrenches."""
    model = unconstrained(robot_named(name)).with_options(implicit="none", integrator="euler")
    numbers = model.parameters
    for group in ["damping", "stiffness"]:
        numbers[model.parameter_groups[group]] = 0.0
    model, rng = model.with_parameters(numbers), generator(name)
    if any(t.stiffness or t.damping for t in model.tendons):
        pytest.skip("tendons pull, which aba knows nothing about")
    simulator, eye = Stepper(model), np.eye(model.nv)
    for _ in range(3):
        q, v, _ = random_state(model, rng)
        tau, wrenches = rng.normal(size=model.nv), rng.normal(size=(model.n_bodies, 6))
        J = simulator.step(q, v, tau=tau, wrenches=wrenches).jacobian()
        da_dq, da_dv, da_dtau = slipstick.dynamics.aba_derivatives(model, q, v, tau, wrenches=wrenches)
        assert_close(J.dv_dq, model.dt * da_dq, 1e-10)
        assert_close(J.dv_dv, eye + model.dt * da_dv, 1e-10)
        assert_close(J.dv_dtau, model.dt * da_dtau, 1e-10)
        _, ddv = slipstick.dynamics.integrate_derivatives(model, q, model.dt * simulator.step(q, v, tau, wrenches=wrenches).v)
        assert_close(J.dq_dv, model.dt * ddv @ J.dv_dv, 1e-10)
