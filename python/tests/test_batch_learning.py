"""What learning asks of a batch: control steps, cold and saved starts, parameters, readings, contacts, random beginnings."""

import pickle

import numpy as np
import pytest
import slipstick
from slipstick import gradient, options
from stepping import Stepper

N, HOLD = 4, 5
FIELDS = [f"d{a}_d{b}" for a in "qv" for b in ("q", "v", "tau", "ctrl")]


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


def scene(model, seed=1):
    """States in contact with the floor that move, controls and forces."""
    rng, home = np.random.default_rng(seed), model.keyframe("home")
    q = np.array([slipstick.dynamics.integrate(model, home.q, 0.05 * rng.normal(size=model.nv)) for _ in range(N)])
    q[:, 2] -= 0.01
    v, tau = 0.3 * rng.normal(size=(N, model.nv)), rng.normal(size=(N, model.nv))
    return q, v, tau, home.ctrl + 0.2 * rng.normal(size=(N, model.nu))


def loop(batch, q, v, tau, ctrl, hold):
    for _ in range(hold):
        q, v = batch.step(q, v, tau, ctrl)
    return q, v


def test_a_control_step_is_a_loop_of_steps(model):
    q, v, tau, ctrl = scene(model)
    force = np.zeros((N, len(model.parents), 6))
    force[:, 1, 0] = np.arange(N)
    held, single = slipstick.Batch(model, N, threads=2), slipstick.Batch(model, N)
    for _ in range(3):
        found = held.step(q, v, tau, ctrl, hold=HOLD, wrenches=force)
        for _ in range(HOLD):
            q, v = single.step(q, v, tau, ctrl, wrenches=force)
        assert np.array_equal(found[0], q) and np.array_equal(found[1], v)
        assert np.array_equal(held.n_contacts, single.n_contacts) and held.impulse.max() > 0
    assert held.n_contacts.max() > 0 and (held.status == "converged").all()


def test_a_cold_step_is_a_function_of_its_arguments(model):
    q, v, tau, ctrl = scene(model)
    batch, function = slipstick.Batch(model, N), gradient.ControlStep(model, HOLD)
    first = batch.step(q, v, tau, ctrl, hold=HOLD, warm=False)
    batch.step(*first, tau, ctrl)
    again = batch.step(q, v, tau, ctrl, hold=HOLD, warm=False)
    expected = function.step(q, v, ctrl, tau=tau)
    for found in (first, again):
        assert np.array_equal(found[0], expected.q) and np.array_equal(found[1], expected.v)
    assert np.array_equal(batch.impulse, expected.report[:, gradient.ControlStep.REPORT.index("impulse")])
    assert (batch.mode_changes == -1).all(), "not recorded yet"
    batch.vjp(v=v)
    batch.step(q, v, tau, ctrl, hold=HOLD, warm=False)
    assert np.array_equal(batch.mode_changes, expected.report[:, gradient.ControlStep.REPORT.index("mode_changes")])
    run = batch.rollout(q, v, HOLD, tau=tau, ctrl=ctrl, warm=False)
    assert np.array_equal(run.q[:, -1], expected.q) and np.array_equal(run.v[:, -1], expected.v)


@pytest.mark.parametrize("hold", [1, HOLD])
def test_derivatives_of_a_control_step_are_central_differences(model, hold):
    q, v, tau, ctrl = scene(model)
    q[:, 2] += 0.3  # in the air: no mode is near a change
    rng, h, groups = np.random.default_rng(5), 1e-6, ["inertial", "damping", "armature"]
    where = {g: model.parameter_groups[g] for g in groups}
    numbers = model.parameters.copy()
    for g in groups[1:]:
        numbers[where[g]] += 0.1  # room for changes of both signs
    model = model.with_parameters(numbers)
    batch = slipstick.Batch(model, N)
    batch.step(q, v, tau, ctrl, hold=hold, warm=False)
    dq, dv, dtau = rng.normal(size=(3, N, model.nv))
    dctrl = rng.normal(size=(N, model.nu))
    change = {g: 1e-2 * rng.normal(size=(N, len(model.parameters[where[g]]))) for g in groups}
    J = batch.jacobian()
    along = batch.jvp(q=dq, v=dv, tau=dtau, ctrl=dctrl, parameters=change)

    def end(h):
        moved = slipstick.dynamics.integrate(model, q, h * dq)
        changed = []
        for i in range(N):
            parameters = model.parameters.copy()
            for g in groups:
                parameters[where[g]] += h * change[g][i]
            changed.append(model.with_parameters(parameters))
        other = slipstick.Batch(changed)
        return other.step(moved, v + h * dv, tau + h * dtau, ctrl + h * dctrl, hold=hold, warm=False)

    (q0, v0), (q1, v1) = end(-h), end(h)
    for found, expected in zip(along, (slipstick.dynamics.difference(model, q0, q1), v1 - v0)):
        assert np.abs(found - expected / (2 * h)).max() < 1e-5 * np.abs(found).max()
    alone = batch.jvp(q=dq, v=dv, tau=dtau, ctrl=dctrl)
    product = [sum(np.einsum("nij,nj->ni", getattr(J, f"d{a}_d{b}"), x) for b, x in
                   (("q", dq), ("v", dv), ("tau", dtau), ("ctrl", dctrl))) for a in "qv"]
    assert all(np.abs(a - b).max() < 1e-9 * np.abs(a).max() for a, b in zip(alone, product))
    wq, wv = rng.normal(size=(2, N, model.nv))
    grad = batch.vjp(q=wq, v=wv, parameters=groups)
    back = (grad.q * dq + grad.v * dv + grad.tau * dtau).sum(1) + (grad.ctrl * dctrl).sum(1)
    back += sum((grad.parameters[g] * change[g]).sum(1) for g in groups)
    there = (wq * along[0] + wv * along[1]).sum(1)
    assert np.abs(back - there).max() < 1e-9 * np.abs(there).max()


@pytest.mark.parametrize("kept", [False, True])
def test_derivatives_of_a_control_step_are_those_of_a_rollout(model, kept):
    q, v, tau, ctrl = scene(model)
    rng, batch = np.random.default_rng(6), slipstick.Batch(model, N)
    if kept:
        batch.step(q, v)
        batch.jacobian()
    w = rng.normal(size=(2, N, model.nv))
    run = batch.rollout(q, v, HOLD, ctrl=ctrl, tau=tau, warm=False, record=True)
    expected, J0 = run.vjp(q=w[0], v=w[1], parameters=["friction", "inertial"]), run.jacobian()
    batch.step(q, v, tau, ctrl, hold=HOLD, warm=False)
    found, J = batch.vjp(q=w[0], v=w[1], parameters=["friction", "inertial"]), batch.jacobian()
    assert np.array_equal(found.q, expected.q) and np.array_equal(found.v, expected.v)
    assert np.allclose(found.tau, expected.tau.sum(1), rtol=1e-12, atol=1e-12)
    assert np.allclose(found.ctrl, expected.ctrl.sum(1), rtol=1e-12, atol=1e-12)
    for name, x in expected.parameters.items():
        assert np.array_equal(found.parameters[name], x) and x.shape == (N, len(model.parameters[model.parameter_groups[name]]))
    assert np.abs(found.parameters["friction"]).max() > 0
    for name in FIELDS:
        expected = getattr(J0, name)
        expected = expected.sum(1) if name.endswith(("tau", "ctrl")) else expected
        assert np.allclose(getattr(J, name), expected, rtol=1e-11, atol=1e-11), name
    back = batch.vjp(q=w[0], v=w[1], gradient=options.ExactForwardCentral(1.0))
    assert not np.allclose(back.q, found.q) and np.array_equal(batch.vjp(q=w[0], v=w[1]).q, found.q)


def test_parameter_gradients_are_those_of_single_steps(model):
    q, v, tau, ctrl = scene(model)
    batch, w = slipstick.Batch(model, N), np.random.default_rng(7).normal(size=(2, N, model.nv))
    batch.step(q, v, tau, ctrl)
    found = batch.vjp(q=w[0], v=w[1], parameters="all").parameters
    assert list(found) == list(model.parameter_groups)
    for i in range(N):
        alone = Stepper(model).step(q[i], v[i], tau[i], ctrl[i]).vjp(q=w[0][i], v=w[1][i], parameters="all").parameters
        for name, x in found.items():
            assert np.array_equal(x[i], alone[name]), name
    with pytest.raises(ValueError, match="group.*'color'"):
        batch.vjp(v=v, parameters="color")
    run = batch.rollout(q, v, 3, record="store")
    for call in (lambda: run.vjp(v=v, parameters="friction"), lambda: run.vjp(v=v, gradient=options.ExactForwardCentral(1.0))):
        with pytest.raises(slipstick.errors.BatchError, match="stored rollout has no derivatives.*recompute"):
            call()


def test_saved_warm_starts_go_on_bit_for_bit(model, tmp_path):
    q, v, tau, ctrl = scene(model)
    batch = slipstick.Batch(model, N)
    for t in range(50):
        q, v = batch.step(q, v, ctrl=ctrl)
        if t % 7 == 0:
            batch.vjp(v=v)
    saved = [warm.to_bytes() for warm in batch.warm_start()]
    expected = loop(batch, q, v, None, ctrl, 20)
    fresh = slipstick.Batch(model, N)
    fresh.set_warm_start([slipstick.types.WarmStart.from_bytes(data) for data in saved])
    assert all(np.array_equal(a, b) for a, b in zip(loop(fresh, q, v, None, ctrl, 20), expected))
    assert not np.array_equal(loop(slipstick.Batch(model, N), q, v, None, ctrl, 20)[1], expected[1])
    with pytest.raises(slipstick.errors.StaleStep):
        batch.set_warm_start(pickle.loads(pickle.dumps(batch.warm_start())))
        batch.vjp(v=v)
    with pytest.raises(ValueError, match="warm starts: expected one for each environment, got 1"):
        batch.set_warm_start(batch.warm_start()[:1])
    with pytest.raises(TypeError, match="warm_starts: expected a list with a WarmStart for each environment"):
        batch.set_warm_start(saved)


@pytest.mark.parametrize("hold", [1, HOLD])
def test_contacts_and_sensors_are_those_of_single_steps(hold):
    model = slipstick.loads(ROBOT)
    rng = np.random.default_rng(8)
    q = np.tile(model.keyframe("home").q, (N, 1))
    q[:, 2] = [0.1, 0.1, 0.099, 2.0]
    v, ctrl = 0.5 * rng.normal(size=(N, model.nv)), rng.normal(size=(N, model.nu))
    batch = slipstick.Batch(model, N)
    for kept in (False, True):
        batch.step(q, v, ctrl=ctrl, hold=hold, warm=False)
        for _ in range(2):
            contacts, sensors = batch.contacts(), batch.sensors
            assert contacts.point.shape == (N, contacts.count.max(), 3) and contacts.count[0] > 0 == contacts.count[3]
            for i in range(N):
                single, (qi, vi) = Stepper(model), (q[i], v[i])
                for _ in range(hold):
                    step = single.step(qi, vi, ctrl=ctrl[i])
                    qi, vi = step.q, step.v
                k = contacts.count[i]
                assert k == len(step.contacts) == batch.n_contacts[i]
                for j, contact in enumerate(step.contacts):
                    assert contacts.geoms[i, j].tolist() == list(contact.geom_numbers)
                    for name in ("point", "normal", "distance", "impulse", "force", "mode"):
                        assert np.array_equal(getattr(contacts, name)[i, j], getattr(contact, name)), name
                assert (contacts.geoms[i, k:] == -1).all() and (contacts.mode[i, k:] == "").all()
                assert np.isinf(contacts.distance[i, k:]).all() and not contacts.impulse[i, k:].any()
                assert list(sensors) == list(step.sensors) == ["height", "touch", "0"][:2] + list(sensors)[2:]
                for name, x in step.sensors.items():
                    assert np.array_equal(sensors[name][i], x), name
    assert sensors["height"].shape == (N, 3)


ROBOT = """
<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" density="500"/><site name="top" pos="0 0 .1" size=".2"/>
    <body name="arm" pos="0 0 .1"><joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/></body>
  </body></worldbody>
  <actuator><motor joint="hinge" name="m"/></actuator>
  <sensor><framepos name="height" objtype="site" objname="top"/><touch name="touch" site="top"/><jointvel joint="hinge"/></sensor>
  <keyframe><key name="home" qpos="0 0 .1 1 0 0 0 0"/></keyframe>
</mujoco>
"""


def test_before_a_step_there_is_nothing_to_read(model):
    batch = slipstick.Batch(model, N)
    for call in (batch.contacts, lambda: batch.sensors, lambda: batch.jvp(v=np.ones(model.nv))):
        with pytest.raises(slipstick.errors.StaleStep):
            call()


def test_environments_that_fail_have_a_state_a_status_and_gradients_of_zero(model):
    q, v, tau, ctrl = scene(model)
    v[1, 3] = 1e9
    for hold in (1, HOLD):
        batch = slipstick.Batch(model, N)
        with pytest.raises(slipstick.errors.BatchError) as caught:
            batch.step(q, v, tau, ctrl, hold=hold)
        assert caught.value.environments == [1] and all(np.isfinite(x).all() for x in caught.value.result)
        assert np.array_equal(caught.value.result[0][1], q[1]) and batch.status.tolist()[1] == "failed"
        assert batch.impulse[1] == 0 and batch.contacts().count[1] == 0
        for call in (batch.vjp, batch.jvp):
            with pytest.raises(slipstick.errors.BatchError) as caught:
                call(q=tau, v=tau)
            grads = list(caught.value.result)
            assert all(not x[1].any() and x[0].any() for x in grads), hold
        with pytest.raises(slipstick.errors.BatchError) as caught:
            batch.jacobian()
        assert not caught.value.result.dv_dq[1].any() and caught.value.result.dv_dq[0].any()


def test_resets_take_states_of_the_caller(model):
    q, v, _, _ = scene(model)
    batch, mask = slipstick.Batch(model, N), np.array([True, False, True, False])
    home, (q_home, v_home) = model.keyframe("home"), batch.reset()
    q0, v0 = q + 0.0, v + 1.0
    q0[1] = np.nan  # not chosen
    q1, v1 = batch.reset(mask, q, v, q0=q0, v0=v0)
    assert np.array_equal(q1[mask], q0[mask]) and np.array_equal(v1[mask], v0[mask])
    assert np.array_equal(q1[~mask], q[~mask]) and np.array_equal(v1[~mask], v[~mask])
    q1, v1 = batch.reset(mask, q, v, v0=v0[0])
    assert np.array_equal(q1[mask], q_home[mask]) and np.array_equal(v1[mask], np.tile(v0[0], (2, 1)))
    far = home.q.copy()
    far[3:7] *= 2.0
    assert np.allclose(batch.reset(q0=far)[0], q_home)
    for wrong, words in [({"q0": q0}, "q0"), ({"q0": q[:2]}, r"q0: expected \(4, 19\) or \(19,\)"), ({"v0": np.full(model.nv, np.inf)}, "v0")]:
        with pytest.raises(ValueError, match=words):
            batch.reset(q=q, v=v, **wrong)


def test_wrenches_are_for_all_or_for_each(model):
    q, v, tau, ctrl = scene(model)
    bodies = len(model.parents)
    each = np.random.default_rng(9).normal(size=(N, bodies, 6))
    batch, run = slipstick.Batch(model, N), slipstick.Batch(model, N).rollout(q, v, 2, wrenches=each)
    first = batch.step(q, v, wrenches=each)
    for i in range(N):
        assert np.array_equal(first[1][i], Stepper(model).step(q[i], v[i], wrenches=each[i]).v)
    assert np.array_equal(run.v[:, 1], first[1])
    same = slipstick.Batch(model, N).step(q, v, wrenches=each[0])
    assert np.array_equal(same[1][0], first[1][0]) and not np.array_equal(same[1][1], first[1][1])
    with pytest.raises(ValueError, match=rf"wrenches: expected \({N}, {bodies}, 6\) or \({bodies}, 6\), got"):
        batch.step(q, v, wrenches=each[:, :2])
    with pytest.raises(ValueError, match="hold: expected from 1 to 100000 engine steps, got 0"):
        batch.step(q, v, hold=0)
