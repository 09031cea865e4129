"""slipstick.mujoco: models and states there and back, by what MuJoCo computes from them."""

import mujoco
import numpy as np
import pytest
import slipstick
import slipstick.mujoco as sm
from robots import robot_named
from states import assert_close, random_states
from unconstrained import unconstrained

DRONE_LIKE = """
<mujoco><option timestep="0.002"/><worldbody>
  <body name="hand" mocap="true" pos="0 0 1"><geom size="0.05"/></body>
  <body name="arm" pos="1 0 0"><joint name="hinge" axis="0 1 0" damping="0.1"/><geom type="capsule" size="0.05" fromto="0 0 0 0.5 0 0"/></body>
</worldbody><actuator><position joint="hinge" kp="5" timeconst="0.1"/></actuator></mujoco>
"""
ROBOTS = ["quadruped", "humanoid", "arm", "hopper", "atlas"]


def robot(name):
    return slipstick.loads(DRONE_LIKE) if name == "own" else slipstick.builtin(name)


@pytest.mark.parametrize("name", [*ROBOTS, "own"])
def test_models_and_states_go_there_and_back(name):
    model = robot(name)
    mj = sm.to_mjmodel(model)
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(mj)
    for q, v, _, rng in random_states(model, name, count=3):
        ctrl, act = rng.uniform(-1, 1, model.nu), rng.uniform(-1, 1, model.na)
        mocap = np.array([[0.1, 0.2, 0.3, 0.0, 1.0, 0.0, 0.0]] * len(model.mocap_names)).reshape(-1, 7)
        sm.to_mjdata(model, data, q=q, v=v, ctrl=ctrl, act=act, mocap=mocap, time=0.5)
        mujoco.mj_forward(mj, data)
        given = sm.from_mjdata(model, data)
        for found, wanted in zip(given, (q, v, ctrl, act, mocap, 0.5)):
            assert np.array_equal(found, wanted)
        own = slipstick.dynamics
        tau = own.actuate(model, q, v, ctrl, act) + own.passive(model, q, v)
        assert_close(own.aba(model, q, v, tau), data.qacc_smooth, 1e-8)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_step_of_free_motion_ends_in_the_same_state(name):
    """Through a MjData and back: nothing touches and nothing is at a limit, damping and springs are at the end of the step in both."""
    model = unconstrained(robot_named(f"builtin/{name}"))
    model = model.with_options(implicit="damping", integrator="euler", gravity=[0.3, -0.2, -9.0])
    mj = sm.to_mjmodel(model)
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    data = mujoco.MjData(mj)
    for q, v, _, rng in random_states(model, f"step of {name}", count=3):
        ctrl = rng.uniform(-1, 1, model.nu)
        sm.to_mjdata(model, data, q=q, v=v, ctrl=ctrl)
        mujoco.mj_step(mj, data)
        after, step = sm.from_mjdata(model, data), slipstick.step(model, q, v, ctrl=ctrl)
        assert_close(slipstick.dynamics.difference(model, step.q, after.q), np.zeros(model.nv), 1e-8, "q")
        assert_close(step.v, after.v, 1e-8, "v")
        assert after.time == pytest.approx(model.dt)


def test_a_spec_becomes_a_model():
    spec = mujoco.MjSpec.from_string(DRONE_LIKE)
    spec.body("arm").add_site(name="tip", pos=[0.5, 0, 0])
    model = sm.from_mjspec(spec)
    assert model.na == 1 and model.mocap_names == ["hand"] and "tip" in model.frame_names


def test_what_does_not_fit_is_named():
    model, mj = slipstick.builtin("hopper"), sm.to_mjmodel(slipstick.builtin("quadruped"))
    data = mujoco.MjData(mj)
    with pytest.raises(ValueError, match=f"data: expected the sizes of model 'hopper': nq = 6, got {mj.nq}"):
        sm.from_mjdata(model, data)
    with pytest.raises(TypeError, match="data: expected a mujoco.MjData, got MjModel"):
        sm.from_mjdata(model, sm.to_mjmodel(model))
    data = mujoco.MjData(sm.to_mjmodel(model))
    before = data.qpos.copy()
    with pytest.raises(ValueError, match=r"v: expected an array of shape \(6,\), got \(5,\)"):
        sm.to_mjdata(model, data, q=np.ones(6), v=np.ones(5))
    assert np.array_equal(data.qpos, before), "nothing is written where anything is wrong"
