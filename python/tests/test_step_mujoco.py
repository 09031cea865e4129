"""Long runs beside MuJoCo: things come to rest at the same place, carry the same weight, and do not creep.

MuJoCo's contacts are soft: bodies sink into each other by some 0.1 to 1 mm, which is the scale of what may differ.
"""

import mujoco
import numpy as np
import pytest
import slipstick

from robots import BUILTINS
from stepping import Stepper

ROOM = 1e-9  # m: what rounding may add to a comparison with MuJoCo's penetration

SHAPES = {
    "box": 'type="box" size="0.1 0.2 0.05"',
    "sphere": 'type="sphere" size="0.1"',
    "lying capsule": 'type="capsule" size="0.05 0.1" quat="1 0 1 0"',
    "standing cylinder": 'type="cylinder" size="0.1 0.05"',
    "ellipsoid": 'type="ellipsoid" size="0.2 0.15 0.1"',
    "wedge": 'type="mesh" mesh="wedge"',
}
WEDGE = '<mesh name="wedge" vertex="0 0 0  0.2 0 0  0 0.2 0  0.2 0.2 0  0 0 0.1  0 0.2 0.1"/>'


def scene(folder, bodies, floor=""):
    path = folder / "scene.xml"
    path.write_text(
        f'<mujoco model="scene"><option timestep="0.001"/><asset>{WEDGE}</asset><worldbody>'
        f'<geom name="floor" type="plane" size="5 5 0.1" {floor}/>{bodies}</worldbody></mujoco>'
    )
    return path


def firm(mj):
    """MuJoCo with all it has against slipping: settled poses do not drift while they are compared."""
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    mj.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    mj.opt.impratio, mj.opt.noslip_iterations = 100.0, 30
    return mj


def in_mujoco(mj, q, steps, ctrl=None):
    """MuJoCo's data after `steps` from rest at q."""
    data = mujoco.MjData(mj)
    data.qpos[:] = q
    if ctrl is not None:
        data.ctrl[:] = ctrl
    mujoco.mj_step(mj, data, nstep=steps)
    return data


def penetration(data):
    return max(-contact.dist for contact in data.contact)


def force_on_robot(step):
    """Sum of all forces of the world on what moves."""
    sign = {True: 1.0, False: -1.0}
    external = [c for c in step.contacts if "world" in c.bodies]
    return sum(sign[c.bodies[0] == "world"] * c.force for c in external)


def settled(model, seconds, q=None, dt=None):
    """A simulator and a state that has come to rest under the controls of the home pose."""
    simulator = Stepper(model, dt=dt)
    q, ctrl = (model.keyframe("home").q, model.keyframe("home").ctrl) if q is None else (q, None)
    trajectory = simulator.rollout(q, np.zeros(model.nv), round(seconds / simulator.dt), ctrl=ctrl)
    assert set(trajectory.status) == {"converged"}
    return simulator, trajectory.q[-1], trajectory.v[-1], ctrl


def assert_carries_weight(model, step):
    weight = -model.total_mass * model.gravity
    assert np.linalg.norm(force_on_robot(step) - weight) < 1e-6 * np.linalg.norm(weight)


# ---------------------------------------------------------------------- rest


@pytest.mark.parametrize("what", SHAPES)
def test_a_shape_rests_where_it_does_in_mujoco(tmp_path, what):
    """Dropped from a millimeter: nothing sinks in here, and by as much as it does there the poses differ."""
    body = f'<body name="thing"><freejoint/><geom {SHAPES[what]} mass="1.3"/></body>'
    path = scene(tmp_path, body)
    model, mj = slipstick.load(path), mujoco.MjModel.from_xml_path(str(path))
    q = model.neutral()
    lowest = min(c.distance for c in slipstick.collision.detect(model.with_options(contact_distance=1.0), q))
    q[2] += 0.001 - lowest
    simulator, ours, v, _ = settled(model, 3.0, q)
    theirs = in_mujoco(mj, q, 3000)
    step = simulator.step(ours, v)
    assert np.max(np.abs(v)) < 1e-9
    assert max(abs(c.distance) for c in step.contacts) < 1e-9
    assert 0.0 < ours[2] - theirs.qpos[2] < penetration(theirs) + ROOM
    # corners sink by different amounts: an edge of 0.2 m tilts by twice the penetration over its length
    assert np.max(np.abs(ours[:2] - theirs.qpos[:2])) < penetration(theirs)
    assert np.max(np.abs(ours[3:] - theirs.qpos[3:])) < penetration(theirs) / 0.1
    assert_carries_weight(model, step)


def test_a_stack_rests_where_it_does_in_mujoco(tmp_path):
    """Three boxes of 0.2 m, which sink into each other one by one in MuJoCo."""
    heights = [0.1 + 0.2 * k + 0.001 * (k + 1) for k in range(3)]
    box = '<body name="box_{k}" pos="0 0 {z}"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="{m}"/></body>'
    path = scene(tmp_path, "".join(box.format(k=k, z=z, m=k + 1) for k, z in enumerate(heights)))
    model, mj = slipstick.load(path), mujoco.MjModel.from_xml_path(str(path))
    simulator, ours, v, _ = settled(model, 3.0, model.neutral())
    theirs, step = in_mujoco(mj, model.neutral(), 3000), simulator.step(ours, v)
    assert np.max(np.abs(ours[2::7] - [0.1, 0.3, 0.5])) < 1e-8
    sunk = ours[2::7] - theirs.qpos[2::7]
    assert np.all(sunk > 0.0) and np.all(sunk < penetration(theirs) * np.arange(1, 4) + ROOM)
    assert_carries_weight(model, step)


@pytest.mark.parametrize("name", ["half_cheetah", "ant", "quadruped"])
def test_a_settled_robot_stays_where_mujoco_would_have_it(name):
    """All bodies within twice MuJoCo's penetration: feet sink there by different amounts, and the trunk tilts."""
    model = slipstick.builtin(name)
    simulator, ours, v, ctrl = settled(model, 15.0)
    mj = firm(mujoco.MjModel.from_xml_path(str(BUILTINS / f"{name}.xml")))
    theirs = in_mujoco(mj, ours, 2000, ctrl)
    assert np.max(np.abs(v)) < 1e-6
    places = [slipstick.dynamics.kinematics(model, q).position for q in (ours, theirs.qpos)]
    assert np.max(np.abs(places[0] - places[1])) < 2.0 * penetration(theirs)
    assert_carries_weight(model, simulator.step(ours, v, ctrl=ctrl))


@pytest.mark.parametrize("name", ["cube", "sphere", "hopper", "half_cheetah_planar", "walker2d", "humanoid"])
def test_a_robot_at_rest_weighs_what_it_weighs(name):
    model = slipstick.builtin(name)
    simulator, q, v, ctrl = settled(model, 40.0)  # the humanoid stands for ten seconds before it falls
    assert np.max(np.abs(v)) < 1e-6
    assert_carries_weight(model, simulator.step(q, v, ctrl=ctrl))


# ---------------------------------------------------------------------- surfaces


def test_surfaces_combine_as_in_mujoco(tmp_path):
    """The larger friction, unless a geom has priority or a pair says otherwise; no friction where condim is 1."""
    kinds = {
        "rough": 'friction="1.5"',
        "smooth": 'friction="0.1"',
        "sure": 'friction="0.2" priority="1"',
        "slippery": 'friction="0.9" condim="1"',
        "ice": 'friction="0.9" condim="1" priority="2"',
        "paired": 'friction="0.3"',
        "glued": 'friction="0.3"',
    }
    ball = '<body pos="{x} 0 0.1"><freejoint/><geom name="{name}" size="0.1" {kind}/></body>'
    bodies = "".join(ball.format(x=k, name=name, kind=kind) for k, (name, kind) in enumerate(kinds.items()))
    path = scene(tmp_path, bodies, 'friction="0.5"')
    pairs = (
        '<contact><pair geom1="floor" geom2="paired" friction="0.77 0.77 0.005 0.0001 0.0001"/>'
        '<pair geom1="glued" geom2="floor" condim="1"/></contact></mujoco>'
    )
    path.write_text(path.read_text().replace("</mujoco>", pairs))
    model, mj = slipstick.load(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    theirs = {mj.geom(max(c.geom)).name: c.friction[0] if c.dim > 1 else 0.0 for c in data.contact}
    contacts = slipstick.step(model, model.neutral(), np.zeros(model.nv)).contacts
    ours = {max(zip(c.geom_numbers, c.geoms))[1]: c.friction for c in contacts}
    assert ours.keys() == kinds.keys()
    assert ours == pytest.approx(theirs)
    assert {ours[name] for name in ["ice", "glued"]} == {0.0}


# ---------------------------------------------------------------------- creep


def creep(simulator, mj, q, v, ctrl, figure, what):
    """Largest way of the base within a minute, ours and MuJoCo's (m)."""
    steps = round(60.0 / simulator.dt)
    trajectory = simulator.rollout(q, v, steps, ctrl=ctrl)
    ours = np.max(np.linalg.norm(trajectory.q[:, :3] - q[:3], axis=1))
    mj.opt.timestep = simulator.dt
    data = in_mujoco(mj, q, round(1.0 / simulator.dt), ctrl)  # it sinks in first
    start = data.qpos[:3].copy()
    mujoco.mj_step(mj, data, nstep=steps)
    theirs = np.linalg.norm(data.qpos[:3] - start)
    figure(f"creep of {what} in 60 s: {ours:.1e} m, MuJoCo {theirs:.1e} m")
    return ours, theirs


def test_a_box_on_a_slope_does_not_creep(tmp_path, figure):
    """20 degrees, below the friction angle of 31."""
    sine, cosine = np.sin(np.deg2rad(20.0)), np.cos(np.deg2rad(20.0))
    body = (
        f'<body name="box" pos="{0.05 * sine} 0 {0.05 * cosine}" euler="0 20 0"><freejoint/>'
        '<geom type="box" size="0.1 0.2 0.05" mass="1.3" friction="0.6"/></body>'
    )
    path = scene(tmp_path, body, 'euler="0 20 0" friction="0.6"')
    model, mj = slipstick.load(path), mujoco.MjModel.from_xml_path(str(path))
    simulator, q, v, _ = settled(model, 1.0, model.neutral())
    assert {c.mode for c in simulator.step(q, v).contacts} == {"stick"}
    ours, theirs = creep(simulator, mj, q, v, None, figure, "a box on a slope of 20°")
    assert ours < 1e-8 < theirs


def test_a_robot_on_a_slope_does_not_creep(figure):
    """The quadruped holds its pose while gravity leans by 10 degrees; steps of 2 ms, to save time."""
    lean = np.deg2rad(10.0)
    gravity = 9.81 * np.array([np.sin(lean), 0.0, -np.cos(lean)])
    model = slipstick.builtin("quadruped").with_options(gravity=gravity)
    mj = mujoco.MjModel.from_xml_path(str(BUILTINS / "quadruped.xml"))
    mj.opt.gravity[:] = gravity
    simulator, q, v, ctrl = settled(model, 10.0, dt=0.002)
    step = simulator.step(q, v, ctrl=ctrl)
    assert len([c for c in step.contacts if c.mode == "stick"]) == 4
    assert_carries_weight(model, step)
    ours, theirs = creep(simulator, mj, q, v, ctrl, figure, "the quadruped on a slope of 10°")
    assert ours < 1e-8 < theirs
