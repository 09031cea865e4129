"""Motion without constraints: conservation laws, and MuJoCo's steps with the same implicit terms side by side."""

import mujoco
import numpy as np
import pytest
import slipstick

from oracles import enable, load_mujoco
from robots import robot_named
from states import assert_close, generator, layout_of_model, random_q, relative_error
from unconstrained import unconstrained
from stepping import Stepper

# Springs, dampers, several hinges per body, a free root or none: everything a passive robot has.
PASSIVE_ROBOTS = [
    "builtin/double_pendulum",
    "builtin/cartpole",
    "builtin/hopper",
    "builtin/half_cheetah",
    "builtin/half_cheetah_planar",
    "builtin/humanoid",
    "builtin/quadruped",
    "builtin/ant",
    "builtin/atlas",
    "tests/all_joints",
    "gymnasium/humanoid",
    "gymnasium/walker2d_v5",
    "gymnasium/pusher",
    "paper/half_cheetah",
    "paper/humanoid",
]
MOTOR_ROBOTS = ["builtin/double_pendulum", "builtin/half_cheetah", "builtin/humanoid", "gymnasium/ant"]
SERVO_ROBOTS = ["builtin/quadruped", "builtin/arm", "builtin/biped", "builtin/atlas", "tests/all_joints"]


def thrown_body(rng):
    """Position, orientation, 5 m/s and 10 rad/s about no principal axis."""
    q = np.concatenate([rng.uniform(-1, 1, 3), [0.5, -0.5, 0.1, 0.7]])
    q[3:] /= np.linalg.norm(q[3:])
    return q, np.array([3.0, -2.0, 3.5, 6.0, 7.0, -4.0])


def block_file(folder):
    """A body with three different moments of inertia, so that it tumbles; its origin is its center of mass."""
    path = folder / "block.xml"
    path.write_text(
        '<mujoco model="block"><option timestep="0.001"/><worldbody><body name="block" pos="0 0 1">'
        '<freejoint name="root"/><inertial pos="0 0 0" mass="1.3" diaginertia="0.03 0.02 0.012"/>'
        "</body></worldbody></mujoco>"
    )
    return path


def passive_mujoco(path, dt, *also):
    bit = mujoco.mjtDisableBit
    mj = enable(load_mujoco(path), bit.mjDSBL_SPRING, bit.mjDSBL_DAMPER, *also)
    mj.opt.timestep = dt
    return mj


def start(mj, q, v):
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:] = q, v
    return data


def present(name):
    robot = robot_named(name)
    if not robot.is_present:
        pytest.skip(f"{robot.path} not found (set SLIPSTICK_MODELS)")
    return robot, unconstrained(robot)


def test_a_thrown_body_keeps_its_linear_momentum_without_gravity(tmp_path):
    """World-axes linear velocity: the step adds nothing to it, whatever the spin. 1e-12 over 1,000 steps."""
    for model in [slipstick.load(str(block_file(tmp_path))), unconstrained(robot_named("builtin/cube"))]:
        model = model.with_options(gravity=[0.0, 0.0, 0.0])
        simulator = Stepper(model)
        q, v = thrown_body(generator("momentum"))
        before, position = slipstick.dynamics.momentum(model, q, v)[:3], q[:3].copy()
        for _ in range(1000):
            step = simulator.step(q, v)
            q, v = step.q, step.v
        assert_close(slipstick.dynamics.momentum(model, q, v)[:3], before, 1e-12)
        assert_close(q[:3], position + 1000 * model.dt * before / model.total_mass, 1e-11)


def test_a_thrown_body_flies_as_in_mujoco(tmp_path):
    """1,000 Euler steps, with and without gravity, within 1e-10: position, orientation and both velocities."""
    path = block_file(tmp_path)
    for gravity in [[0.0, 0.0, 0.0], [0.0, 0.0, -9.81]]:
        model = slipstick.load(str(path)).with_options(gravity=gravity, integrator="euler")
        mj = passive_mujoco(path, model.dt)
        mj.opt.gravity[:] = gravity
        simulator, (q, v) = Stepper(model), thrown_body(generator("flight"))
        data = start(mj, q, v)
        for _ in range(1000):
            step = simulator.step(q, v)
            q, v = step.q, step.v
            mujoco.mj_step(mj, data)
        assert_close(q, data.qpos, 1e-10, "q")
        assert_close(v, data.qvel, 1e-10, "v")


def beside_mujoco(simulator, mj, q, v, ctrl=None, tau=None, seconds=1.0):
    """Both from (q, v) under the same controls (steps, nu) and forces (steps, nv): the same state at the end."""
    data = start(mj, q, v)
    steps = round(seconds / simulator.dt)
    for k in range(steps):
        data.ctrl[:] = 0.0 if ctrl is None else ctrl[k]
        data.qfrc_applied[:] = 0.0 if tau is None else tau[k]
        mujoco.mj_step(mj, data)
    trajectory = simulator.rollout(q, v, steps, ctrl=ctrl, tau=tau)
    assert relative_error(trajectory.q[-1], q) > 1e-3, "it moved"
    assert not trajectory.contacts.any()
    assert_close(trajectory.q[-1], data.qpos, 1e-8, "q")
    assert_close(trajectory.v[-1], data.qvel, 1e-8, "v")


def gentle_state(model, rng):
    """Any pose, slow: what spins fast doubles its rounding many times a second."""
    return random_q(layout_of_model(model), model.neutral(), rng), rng.uniform(-0.5, 0.5, model.nv)


@pytest.mark.parametrize("name", PASSIVE_ROBOTS)
def test_a_passive_robot_moves_as_in_mujoco(name):
    """A second with springs and dampers, joint damping implicit in both. 1e-8: rounding grows with time."""
    robot, model = present(name)
    mj = passive_mujoco(robot.path, model.dt)
    q, v = gentle_state(model, generator(name))
    beside_mujoco(Stepper(model, implicit="damping", integrator="euler"), mj, q, v)


@pytest.mark.parametrize("name", MOTOR_ROBOTS)
def test_a_robot_driven_by_torques_and_motors_moves_as_in_mujoco(name):
    robot, model = present(name)
    mj = passive_mujoco(robot.path, model.dt, mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    rng = generator(name)
    q, v = gentle_state(model, rng)
    steps = round(1.0 / model.dt)
    ctrl, tau = rng.uniform(-0.3, 0.3, (steps, model.nu)), rng.uniform(-0.1, 0.1, (steps, model.nv))
    beside_mujoco(Stepper(model, implicit="damping", integrator="euler"), mj, q, v, ctrl, tau)


@pytest.mark.parametrize("name", SERVO_ROBOTS)
def test_a_robot_on_servos_moves_as_in_mujocos_implicitfast(name):
    """Velocity gains of actuators are implicit too, which is what both do by default for stiff robots."""
    robot, model = present(name)
    mj = passive_mujoco(robot.path, model.dt, mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    rng, home = generator(name), model.keyframe("home")
    v = rng.uniform(-0.5, 0.5, model.nv)
    ctrl = home.ctrl + 0.1 * rng.uniform(-1, 1, (round(1.0 / model.dt), model.nu))
    assert Stepper(model).options.implicit == "velocity"
    beside_mujoco(Stepper(model, integrator="euler"), mj, home.q, v, ctrl)


def test_the_time_step_of_the_simulator_overrides_the_models():
    model = slipstick.builtin("double_pendulum")
    q, v = model.neutral(), np.array([0.3, -0.2])
    fine, coarse = Stepper(model, dt=1e-4).step(q, v), Stepper(model, dt=1e-2).step(q, v)
    assert_close(slipstick.dynamics.difference(model, q, fine.q), 1e-4 * fine.v, 1e-15)
    assert_close(slipstick.dynamics.difference(model, q, coarse.q), 1e-2 * coarse.v, 1e-15)


def test_a_double_pendulum_without_damping_nearly_keeps_its_energy():
    """Semi-implicit Euler is of first order: the drift over a second shrinks with the step."""
    model = slipstick.builtin("double_pendulum")
    drift = []
    for dt in [1e-3, 1e-4]:
        simulator, q, v = Stepper(model, dt=dt), np.array([1.0, 0.5]), np.zeros(2)
        before = sum(slipstick.dynamics.energy(model, q, v))
        for _ in range(round(1.0 / dt)):
            step = simulator.step(q, v)
            q, v = step.q, step.v
        drift.append(abs(sum(slipstick.dynamics.energy(model, q, v)) - before))
    assert drift[1] < 0.2 * drift[0] < 0.2
