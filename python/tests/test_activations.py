"""Actuators with dynamics, variable gains and disabled groups, beside MuJoCo: forces, next activations, motions, derivatives."""

import mujoco
import numpy as np
import pytest
import slipstick
from slipstick import dynamics, errors, gradient

from states import assert_close, generator

ACTUATORS = """
<position name="filtered" joint="a" kp="40" kv="2" timeconst="0.03" ctrlrange="-1 1"/>
<intvelocity name="integrated" joint="b" kp="60" kv="3" actrange="-0.4 0.5"/>
<intvelocity name="inherited" joint="c" kp="30" dampratio="0.7" inheritrange="0.9"/>
<damper name="damper" joint="d" kv="0.8" ctrlrange="0 2"/>
<cylinder name="cylinder" joint="a" timeconst="0.05" diameter="0.4" bias="0.2 -0.3 -0.1" ctrlrange="-2 2" forcerange="-3 3"/>
<general name="early" joint="b" dyntype="filterexact" dynprm="0.01" actearly="true" gainprm="4" biastype="affine" biasprm="0.1 -1 -0.2"/>
<general name="affine" tendon="t" dyntype="filter" dynprm="0.02 0 0" gaintype="affine" gainprm="1.5 -0.7 -0.3" biastype="affine"
  biasprm="0 -2 -0.1" actlimited="true" actrange="-0.6 0.6" actearly="true"/>
<general name="variable" joint="d" gaintype="affine" gainprm="2 0.5 0.1" ctrlrange="-1 1"/>
<motor name="motor" joint="c" gear="2"/>
<position name="off" joint="d" kp="10" timeconst="0.1" group="3"/>
<general name="off too" joint="a" dyntype="integrator" actrange="-0.1 0.1" group="3"/>
"""
KEYS = """<key name="home" act="0.1 -0.2 0.3 0.1 -0.1 0.2 0.05 0.02"/><key name="moved" qpos="0.2 -0.1 0.3 0.1" act="0.2"/>"""
SENSORS = "".join(f'<actuatorfrc name="f {n}" actuator="{n}"/>' for n in ["filtered", "early", "affine", "damper", "off"])
NAMES = ["filtered", "integrated", "inherited", "cylinder", "early", "affine", "off", "off too"]


def robot(head="", actuators=ACTUATORS, floor=""):
    return f"""<mujoco><compiler angle="radian"/><option timestep="0.002" actuatorgroupdisable="3 7">{head}</option><worldbody>{floor}
    <body name="one" pos="0 0 1"><joint name="a" axis="0 1 0" damping="0.1"/><geom name="g1" type="capsule" size="0.04 0.1"/>
    <body name="two" pos="0.2 0 0"><joint name="b" type="slide" axis="1 0 0.2"/><geom name="g2" type="box" size="0.1 0.05 0.04"/>
    <body name="three" pos="0 0 -0.2"><joint name="c" axis="1 0 0" range="-10 15"/><geom name="g3" size="0.08"/>
    <body name="four" pos="0.1 0.1 -0.1"><joint name="d" axis="0 1 1"/><geom name="g4" type="capsule" size="0.03 0.1" pos="0 0 -0.1"/>
    </body></body></body></body></worldbody>
    <contact><exclude body1="one" body2="two"/><exclude body1="two" body2="three"/><exclude body1="three" body2="four"/>
    <exclude body1="one" body2="three"/><exclude body1="one" body2="four"/><exclude body1="two" body2="four"/></contact>
    <tendon><fixed name="t"><joint joint="a" coef="0.6"/><joint joint="d" coef="-1.1"/></fixed></tendon>
    <actuator>{actuators}</actuator><sensor>{SENSORS if actuators is ACTUATORS else ""}</sensor>
    <keyframe>{KEYS if actuators is ACTUATORS else ""}</keyframe></mujoco>"""


@pytest.fixture(scope="module")
def model():
    return slipstick.loads(robot()).with_options(implicit="damping")


@pytest.fixture(scope="module")
def mj():
    return mujoco.MjModel.from_xml_string(robot())


def states(model, n=40):
    """q, v, act, ctrl: inside and outside all ranges."""
    rng = generator("activations")
    for k in range(n):
        scale = [0.3, 2.0][k % 2]
        yield tuple(scale * rng.uniform(-1.0, 1.0, size) for size in [model.nq, model.nv, model.na, model.nu])


def filled(mj, q, v, act, ctrl):
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:], data.act[:], data.ctrl[:] = q, v, act, ctrl
    return data


def test_actuators_are_all_read(model, mj):
    assert model.warnings == [] and (model.na, model.nu) == (mj.na, mj.nu) == (8, 11)
    assert model.act_names == NAMES
    kinds = [model.actuator(name).dynamics for name in NAMES]
    assert kinds == ["filterexact", "integrator", "integrator", "filter", "filterexact", "filter", "filterexact", "integrator"]
    assert model.actuator("filtered").time_constant == 0.03 and model.actuator("motor").dynamics is None
    assert model.actuator("inherited").act_range == pytest.approx((-8.75, 13.75))
    assert not model.actuator("off").enabled and model.actuator("affine").enabled


def test_forces_are_mujocos(model, mj):
    worst = 0.0
    for q, v, act, ctrl in states(model):
        data = filled(mj, q, v, act, ctrl)
        mujoco.mj_forward(mj, data)
        tau = dynamics.actuate(model, q, v, ctrl, act)
        worst = max(worst, assert_close(tau, data.qfrc_actuator, 1e-8) or 0.0)
        step = slipstick.step(model, q, v, ctrl=ctrl, act=act)
        for name in ["filtered", "early", "affine", "damper", "off"]:
            assert_close(step.sensors[f"f {name}"], data.sensor(f"f {name}").data, 1e-8)


def test_the_next_activations_are_mujocos(model, mj):
    for q, v, act, ctrl in states(model):
        data = filled(mj, q, v, act, ctrl)
        mujoco.mj_step(mj, data)
        step = slipstick.step(model, q, v, ctrl=ctrl, act=act)
        np.testing.assert_allclose(step.act, data.act, rtol=0.0, atol=1e-14)
        assert_close(step.q, data.qpos, 1e-8)
        assert_close(step.v, data.qvel, 1e-8)


def test_activations_rest_without_controls(model):
    q, v, act, _ = next(states(model))
    assert np.array_equal(slipstick.step(model, q, v, act=act).act, act)


def test_fifty_steps_are_mujocos(model, mj):
    rng = generator("fifty steps")
    for q, v, act, _ in states(model, 6):
        q, v, act = 0.2 * q, 0.2 * v, 0.1 * act
        ctrl = rng.uniform(-0.8, 0.8, (50, model.nu))
        data = filled(mj, q, v, act, ctrl[0])
        sim = slipstick.Simulator(model)
        sim.reset(q=q, v=v, act=act)
        run = sim.rollout(50, ctrl=ctrl)
        for k in range(50):
            data.ctrl[:] = ctrl[k]
            mujoco.mj_step(mj, data)
        assert_close(run.act[-1], data.act, 1e-8)
        assert_close(run.q[-1], data.qpos, 1e-8)
        assert_close(run.v[-1], data.qvel, 1e-8)
        assert np.array_equal(sim.act, run.act[-1]) and np.array_equal(sim.state.act, sim.act)


def test_transitions_are_mujocos(model, mj):
    """A and B in the order of mjd_transitionFD: (q, v, act)."""
    n = 2 * model.nv + model.na
    for q, v, act, ctrl in states(model, 8):
        q, v, act, ctrl = 0.2 * q, 0.2 * v, 0.1 * act, 0.1 * ctrl
        ctrl[3] += 1.0
        data = filled(mj, q, v, act, ctrl)
        A, B = np.zeros((n, n)), np.zeros((n, mj.nu))
        mujoco.mjd_transitionFD(mj, data, 1e-6, True, A, B, None, None)
        J = slipstick.step(model, q, v, ctrl=ctrl, act=act).jacobian()
        assert J.A.shape == (n, n) and J.B.shape == (n, model.nu)
        for ours, theirs in [(J.A, A), (J.B, B)]:
            assert np.abs(ours - theirs).max() < 1e-6 * np.abs(theirs).max()
        assert np.array_equal(J.A[2 * model.nv :, 2 * model.nv :], J.dact_dact)
        assert np.array_equal(J.A[: model.nv, 2 * model.nv :], J.dq_dact)


@pytest.mark.parametrize("implicit", ["none", "damping", "velocity", "all"])
def test_gradients_agree_with_matrices_and_differences(model, implicit):
    model, rng = model.with_options(implicit=implicit), generator("adjoint")
    for q, v, act, ctrl in states(model, 4):
        q, v, act, ctrl = 0.2 * q, 0.2 * v, 0.1 * act, 0.1 * ctrl
        step = slipstick.step(model, q, v, ctrl=ctrl, act=act)
        wq, wv, wact = (rng.normal(size=n) for n in [model.nv, model.nv, model.na])
        J, g = step.jacobian(), step.vjp(q=wq, v=wv, act=wact)
        w = np.concatenate([wq, wv, wact])
        assert_close(np.concatenate([g.q, g.v, g.act]), w @ J.A, 1e-9)
        assert_close(g.ctrl, w @ J.B, 1e-9)
        dact, dctrl = rng.normal(size=model.na), rng.normal(size=model.nu)
        dq, dv = step.jvp(ctrl=dctrl, act=dact)
        assert_close(dq, J.dq_dact @ dact + J.dq_dctrl @ dctrl, 1e-9)
        assert_close(dv, J.dv_dact @ dact + J.dv_dctrl @ dctrl, 1e-9)
        assert_close(step.jvp_act(ctrl=dctrl, act=dact), J.dact_dact @ dact + J.dact_dctrl @ dctrl, 1e-12)
        h = 1e-6
        sides = [slipstick.step(model, q, v, ctrl=ctrl + s * h * dctrl, act=act + s * h * dact) for s in [1, -1]]
        assert_close((sides[0].v - sides[1].v) / (2 * h), dv, 1e-6)
        assert_close((sides[0].act - sides[1].act) / (2 * h), step.jvp_act(ctrl=dctrl, act=dact), 1e-6)
        assert step.corners().count == 0 and step.corners().act.shape == (model.na,)


def test_readings_depend_on_activations(model):
    q, v, act, ctrl = (0.1 * x for x in next(states(model)))
    step = slipstick.step(model, q, v, ctrl=ctrl, act=act)
    J, h = step.sensor_jacobian(), 1e-6
    for k in range(model.na):
        sides = [slipstick.step(model, q, v, ctrl=ctrl, act=act + s * h * np.eye(model.na)[k]).sensors for s in [1, -1]]
        for name, blocks in J.items():
            assert_close((sides[0][name] - sides[1][name]) / (2 * h), blocks.dact[:, k], 1e-6)
    grad = step.vjp(sensors={"f affine": [1.0]})
    assert_close(grad.act, J["f affine"].dact[0], 1e-12)
    assert_close(grad.ctrl, J["f affine"].dctrl[0], 1e-12)


@pytest.mark.parametrize("memory", ["store", "recompute"])
def test_rollouts_carry_activations_both_ways(model, memory):
    steps, rng = 30, generator("rollouts")
    q, v, act, _ = (0.1 * x for x in next(states(model)))
    ctrl = rng.uniform(-0.2, 0.2, (steps, model.nu))
    roll = gradient.RolloutGradient(model, steps, memory=memory, parameters="actuator")
    wq, wv, wact = (rng.normal(size=(steps + 1, n)) for n in [model.nv, model.nv, model.na])

    def loss(act, ctrl):
        run = roll.run(q, v, ctrl=ctrl, act=act)
        return np.sum(wq * run.q) + np.sum(wv * run.v) + np.sum(wact * run.act)

    loss(act, ctrl)
    grad = roll.vjp(q=wq, v=wv, act=wact)
    last = roll.sensitivities(tau=False)
    n = 2 * model.nv + model.na
    assert last["initial"].shape == (n, n) and last["ctrl"].shape == (steps, n, model.nu)
    dact, dctrl, h = rng.normal(size=model.na), rng.normal(size=ctrl.shape), 1e-6
    dq, dv = roll.jvp(act=dact, ctrl=dctrl)
    expected = last["initial"][:, 2 * model.nv :] @ dact + np.einsum("tij,tj->i", last["ctrl"], dctrl)
    assert_close(np.concatenate([dq[-1], dv[-1]]), expected[: 2 * model.nv], 1e-9)
    difference = (loss(act + h * dact, ctrl + h * dctrl) - loss(act - h * dact, ctrl - h * dctrl)) / (2 * h)
    assert grad.act @ dact + np.sum(grad.ctrl * dctrl) == pytest.approx(difference, rel=1e-6)
    roll.run(q, v, ctrl=ctrl, act=act)
    only = roll.vjp(act=wact[-1])
    assert np.any(only.act != 0.0) and np.all(only.q == 0.0)


def test_keyframes_and_resets_have_activations(model, mj):
    assert np.array_equal(model.keyframe("home").act, mj.key_act[0])
    assert np.array_equal(model.keyframe("moved").act, mj.key_act[1])
    sim = slipstick.Simulator(model)
    assert np.array_equal(sim.act, mj.key_act[0])
    sim.rollout(5, ctrl=np.full(model.nu, 0.3))
    sim.reset(keyframe="moved")
    assert np.array_equal(sim.act, mj.key_act[1])
    sim.reset(act=np.full(model.na, 0.25))
    assert np.all(sim.state.act == 0.25)
    with pytest.raises(ValueError, match="act: expected 8 numbers, got 3"):
        sim.reset(act=np.zeros(3))


def test_files_keep_activations(model, tmp_path):
    again = slipstick.loads(model.to_mjcf()).with_options(implicit="damping")
    assert again.act_names == NAMES and np.array_equal(again.keyframe("home").act, model.keyframe("home").act)
    assert [again.actuator(k).enabled for k in range(again.nu)] == [model.actuator(k).enabled for k in range(model.nu)]
    runs = []
    for each in [model, again]:
        sim = slipstick.Simulator(each)
        runs.append(sim.rollout(40, ctrl=np.full(model.nu, 0.2)))
    assert_close(runs[0].act, runs[1].act, 1e-12)
    path = tmp_path / "run.npz"
    runs[0].save(path)
    loaded = slipstick.Trajectory.load(path, model)
    assert np.array_equal(loaded.act, runs[0].act)
    assert list(np.load(path)["act_names"]) == NAMES
    plain = slipstick.builtin("cartpole")
    slipstick.Simulator(plain).rollout(3).save(path)
    assert "act" not in np.load(path) and slipstick.Trajectory.load(path, plain).act.shape == (4, 0)


def test_the_same_steps_have_the_same_bits(model):
    runs = []
    for _ in range(2):
        sim = slipstick.Simulator(model)
        runs.append(sim.rollout(100, ctrl=np.linspace(-0.5, 0.5, model.nu)))
    assert np.array_equal(runs[0].act, runs[1].act) and np.array_equal(runs[0].q, runs[1].q)


def test_batches_carry_activations(model):
    batch, rng = slipstick.Batch(model, 3), generator("batch")
    home = model.keyframe("home").act
    q, v = batch.reset()
    assert np.array_equal(batch.act, np.tile(home, (3, 1)))
    ctrl = rng.uniform(-0.5, 0.5, (20, 3, model.nu))
    sims = [slipstick.Simulator(model) for _ in range(3)]
    for row in ctrl:
        q, v = batch.step(q, v, ctrl=row)
        for sim, u in zip(sims, row, strict=True):
            sim.step(ctrl=u)
    for i, sim in enumerate(sims):
        assert np.array_equal(q[i], sim.state.q) and np.array_equal(batch.act[i], sim.act)
    sensors = batch.sensors
    assert np.array_equal(sensors["f early"][1], readings_of(model, 1, ctrl))
    act = rng.normal(size=(3, model.na))
    batch.set_act(act)
    assert np.array_equal(batch.act, act)
    batch.reset([True, False, False], q, v)
    assert np.array_equal(batch.act[0], home) and np.array_equal(batch.act[1:], act[1:])
    with pytest.raises(ValueError, match="act"):
        batch.set_act(np.zeros(3))


def readings_of(model, i, ctrl):
    """What a Simulator reads in the last step of environment `i`."""
    sim = slipstick.Simulator(model)
    sim.rollout(19, ctrl=ctrl[:19, i])
    return sim.step(ctrl=ctrl[19, i]).sensors["f early"]


def test_what_carries_no_activations_says_so(model):
    message = "expected a model without activations, got one with those of the actuators 'filtered', 'integrated'"
    stepped = slipstick.Batch(model, 2)
    stepped.step(*stepped.reset(), ctrl=np.zeros((2, 11)))
    for make in [
        lambda: gradient.ControlStep(model),
        lambda: stepped.jacobian(),
        lambda: stepped.vjp(v=np.ones((2, 4))),
        lambda: stepped.jvp(v=np.ones((2, 4))),
        lambda: gradient.bundled_jacobian(model, np.zeros(4), np.zeros(4), sigma=0.01),
        lambda: dynamics.actuate_derivatives(model, np.zeros(4), np.zeros(4), np.zeros(11)),
    ]:
        with pytest.raises(ValueError, match=message):
            make()


def test_contact_and_activations_together():
    floor = '<geom name="floor" type="plane" size="1 1 1" pos="0 0 0.55"/>'
    model = slipstick.loads(robot(floor=floor))
    sim = slipstick.Simulator(model)
    for _ in range(200):
        step = sim.step(ctrl=np.full(model.nu, 0.1))
    assert step.report.contacts > 0
    J, rng = step.jacobian(), generator("contact")
    w = rng.normal(size=2 * model.nv + model.na)
    grad = step.vjp(q=w[: model.nv], v=w[model.nv : 2 * model.nv], act=w[2 * model.nv :])
    assert_close(grad.act, w @ J.A[:, 2 * model.nv :], 1e-9)
    assert_close(grad.ctrl, w @ J.B, 1e-9)


@pytest.mark.parametrize(
    ("actuators", "told"),
    [
        ('<motor joint="a"/><general joint="a" actlimited="true" actrange="-1 1"/>', "actuator without an activation"),
        ('<damper joint="a" kv="1" ctrlrange="-1 1"/>', "not negative"),
        ('<damper joint="a" kv="-1" ctrlrange="0 1"/>', "zero or a positive number"),
        ('<damper joint="a" kv="1"/>', "ctrlrange"),
        ('<position joint="a" timeconst="-1"/>', "zero or a positive number"),
    ],
)
def test_laws_that_mujoco_refuses_are_refused(actuators, told):
    text = robot(actuators=actuators)
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(text)
    with pytest.raises(errors.LoadError, match=told):
        slipstick.loads(text)


def test_dynamics_that_are_not_supported_are_warned_about():
    model = slipstick.loads(robot(actuators='<muscle joint="a"/><general name="x" joint="a" dyntype="user"/><motor joint="b"/>'))
    assert (model.nu, model.na, len(model.warnings)) == (1, 0, 2)
