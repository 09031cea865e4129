"""Mocap bodies against MuJoCo and against differences of the step."""

import copy

import mujoco
import numpy as np
import pytest

import slipstick

TEXT = """<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="0 0 1"/>
  <body name="free" pos="0 0 2"><freejoint name="free"/><geom name="ball" size=".1" mass="1"/></body>
  <body name="plate" mocap="true" pos="0 0 .5" euler="10 0 20">
    <geom name="plate" type="box" size=".6 .6 .05"/><site name="corner" pos=".1 .2 .3" euler="0 30 0"/>
    <body name="fin" pos=".1 .1 .2" euler="0 40 0"><geom name="fin" type="capsule" size=".02 .1"/></body>
    <body name="arm" pos="-.2 0 .3"><joint name="elbow" axis="0 1 0"/><geom name="arm" type="capsule" fromto="0 0 0 .2 0 0" size=".02"/></body>
  </body>
  <body name="other" mocap="true" pos="3 0 .1"><geom name="other" size=".2"/></body>
  </worldbody>
  <sensor>
    <framepos objtype="site" objname="corner"/><framequat objtype="site" objname="corner"/>
    <framepos objtype="xbody" objname="fin"/><framequat objtype="xbody" objname="fin"/>
    <framepos objtype="xbody" objname="plate"/><framequat objtype="xbody" objname="plate"/>
    <framelinvel objtype="xbody" objname="plate"/><frameangvel objtype="xbody" objname="arm"/>
    <framepos objtype="xbody" objname="arm"/><framequat objtype="xbody" objname="arm"/><framepos objtype="xbody" objname="other"/>
  </sensor>
  <keyframe><key name="moved" mpos="1 2 3 4 5 6" mquat="1 0 0 0 0 2 0 0"/><key name="first" mpos="7 8 9"/><key name="zero" mquat="0 0 0 0"/></keyframe>
</mujoco>"""


@pytest.fixture(scope="module")
def model():
    loaded = slipstick.loads(TEXT)
    assert not loaded.warnings and loaded.mocap_names == ["plate", "other"]
    return loaded


@pytest.fixture
def mj():
    return mujoco.MjModel.from_xml_string(TEXT)


def random_poses(rng, n=2):
    poses = rng.normal(size=(n, 7))
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1)[:, None]
    return poses


def test_pairs_and_sizes_are_mujocos(model, mj):
    assert (model.nq, model.nv) == (mj.nq, mj.nv)
    names = {frozenset(model.geom(int(g)).name for g in pair) for pair in model.pairs}
    expected = [("floor", "ball"), ("floor", "arm"), ("ball", "plate"), ("ball", "fin"), ("ball", "arm"), ("ball", "other"), ("arm", "other")]
    assert names == {frozenset(pair) for pair in expected}


def test_frames_follow_as_in_mujoco(model, mj):
    rng, d = np.random.default_rng(1), mujoco.MjData(mj)
    for _ in range(20):
        poses, angle = random_poses(rng), rng.normal()
        d.qpos[-1] = angle
        d.mocap_pos[:], d.mocap_quat[:] = poses[:, :3], poses[:, 3:] * rng.uniform(0.5, 2.0)
        mujoco.mj_forward(mj, d)
        q = model.neutral()
        q[-1] = angle
        step = slipstick.step(model, q, np.zeros(model.nv), mocap=np.hstack([d.mocap_pos, d.mocap_quat]))
        ours = np.concatenate(list(step.sensors.values()))
        # quaternions up to their sign
        assert same(ours, d.sensordata, mj) < 1e-9


def same(ours, theirs, mj):
    worst = 0.0
    for adr, dim in zip(mj.sensor_adr, mj.sensor_dim):
        a, b = ours[adr : adr + dim], theirs[adr : adr + dim]
        error = np.abs(a - b).max()
        worst = max(worst, min(error, np.abs(a + b).max()) if dim == 4 else error)
    return worst


def test_free_acceleration_of_what_it_carries_is_mujocos(model, mj):
    rng, d = np.random.default_rng(2), mujoco.MjData(mj)
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    for _ in range(20):
        poses = random_poses(rng)
        poses[:, :3] += 50.0  # far from all else
        d.qpos[-1], d.qvel[-1] = rng.normal(), rng.normal()
        d.mocap_pos[:], d.mocap_quat[:] = poses[:, :3], poses[:, 3:]
        mujoco.mj_forward(mj, d)
        step = slipstick.step(model, d.qpos, d.qvel, mocap=poses)
        assert abs(step.acceleration[-1] - d.qacc[-1]) < 1e-8 * max(1.0, abs(d.qacc[-1]))


def test_a_moved_plate_catches_the_ball_where_mujoco_does(model, mj):
    d = mujoco.MjData(mj)
    poses = np.array([[0.2, -0.1, 1.87, np.cos(0.1), np.sin(0.1), 0, 0], [5, 0, 1, 1, 0, 0, 0]])
    d.mocap_pos[:], d.mocap_quat[:] = poses[:, :3], poses[:, 3:]
    mujoco.mj_forward(mj, d)
    theirs = [c for c in d.contact if {mj.geom(c.geom1).name, mj.geom(c.geom2).name} == {"ball", "plate"}]
    step = slipstick.step(model, model.neutral(), np.zeros(model.nv), mocap=poses)
    ours = [c for c in step.contacts if {model.geom(g).name for g in c.geoms} == {"ball", "plate"}]
    assert len(ours) == len(theirs) == 1
    assert np.allclose(ours[0].point, theirs[0].pos, atol=1e-8) and abs(ours[0].distance - theirs[0].dist) < 1e-8
    assert np.allclose(np.abs(ours[0].normal), np.abs(theirs[0].frame[:3]), atol=1e-8)


def test_arrays_are_written_as_in_mujoco(model):
    sim = slipstick.Simulator(model)
    assert np.allclose(sim.mocap_pos, [[0, 0, 0.5], [3, 0, 0.1]])
    sim.mocap_pos[0] = [0, 0, 0.7]
    first = sim.step()
    assert np.allclose(first.sensors["4"] if "4" in first.sensors else list(first.sensors.values())[4], [0, 0, 0.7])
    sim.mocap_pos = [[0, 0, 0.8], [1, 1, 1]]
    sim.set_mocap("other", quat=[0, 1, 0, 0])
    sim.step()
    assert np.allclose(sim.mocap_quat[1], [0, 1, 0, 0]) and np.allclose(sim.mocap_pos[1], 1)
    sim.reset(keyframe="moved")
    assert np.allclose(sim.mocap_pos, [[1, 2, 3], [4, 5, 6]]) and np.allclose(sim.mocap_quat[1], [0, 2, 0, 0])
    sim.reset()
    assert np.allclose(sim.mocap_pos, [[0, 0, 0.5], [3, 0, 0.1]])
    run = sim.rollout(5, mocap=np.tile(np.r_[0, 0, 1, 1, 0, 0, 0, 2, 0, 1, 1, 0, 0, 0], (5, 1)))
    assert np.allclose(sim.mocap_pos, [[0, 0, 1], [2, 0, 1]]) and len(run) == 5
    with pytest.raises(ValueError, match="no mocap body named 'plat' .*plate"):
        sim.set_mocap("plat", pos=[0, 0, 0])
    with pytest.raises(ValueError, match=r"mocap_pos: expected \(2, 3\)"):
        sim.mocap_pos = [0, 0, 0]
    sim.mocap_quat[0] = 0
    with pytest.raises(ValueError, match="quaternion of body 'plate' is zero"):
        sim.step()


def test_keyframes_are_mujocos(model, mj):
    for k, name in enumerate(["moved", "first", "zero"]):
        poses = model.keyframe(name).mocap
        assert np.allclose(poses[:, :3].ravel(), mj.key_mpos[k])
        unit = poses[:, 3:] / np.linalg.norm(poses[:, 3:], axis=1)[:, None]
        theirs = mj.key_mquat[k].reshape(2, 4)
        theirs[np.linalg.norm(theirs, axis=1) == 0] = [1, 0, 0, 0]  # what its kinematics make of zeros
        assert np.allclose(unit, theirs)


def test_a_written_file_has_the_same_mocap_bodies(model):
    again = slipstick.loads(model.to_mjcf())
    assert again.mocap_names == model.mocap_names and not again.warnings
    assert np.allclose(again.keyframe("moved").mocap, model.keyframe("moved").mocap)
    poses = random_poses(np.random.default_rng(3))
    steps = [slipstick.step(m, m.neutral(), np.zeros(m.nv), mocap=poses) for m in (model, again)]
    assert np.allclose(steps[0].v, steps[1].v, atol=1e-9)


def test_a_batch_has_poses_of_its_own(model):
    rng, n = np.random.default_rng(4), 5
    poses = np.array([random_poses(rng) for _ in range(n)])
    batch = slipstick.Batch(model, n)
    q, v = np.tile(model.neutral(), (n, 1)), np.zeros((n, model.nv))
    q_next, v_next = batch.step(q, v, mocap=poses, warm=False)
    for k in range(n):
        step = slipstick.step(model, q[k], v[k], mocap=poses[k])
        assert np.array_equal(step.q, q_next[k]) and np.array_equal(step.v, v_next[k])
    run = batch.rollout(q, v, 4, mocap=np.tile(poses.reshape(n, 1, 14), (1, 4, 1)), warm=False)
    assert np.array_equal(run.v[:, 1], v_next)


def test_derivatives_are_differences_of_the_step(model):
    """The ball rolls on a moved plate, the arm swings on it."""
    rng = np.random.default_rng(5)
    poses = np.array([[0.2, -0.1, 1.87, np.cos(0.1), np.sin(0.1), 0, 0], [5, 0, 1, 1, 0, 0, 0]])
    q, v = model.neutral(), rng.normal(size=model.nv) * 0.2
    v[2], fine = -0.5, model.with_options(tolerance=1e-13)
    step = slipstick.step(fine, q, v, mocap=poses)
    assert step.report.contacts > 0
    J = step.jacobian()
    h = 1e-5
    for j in range(12):
        ends = [slipstick.step(fine, q, v, mocap=moved(poses, j, s * h)) for s in (1, -1)]
        assert np.allclose(J.dv_dmocap[:, j], (ends[0].v - ends[1].v) / (2 * h), atol=1e-5 * np.abs(J.dv_dmocap).max())
    along, w = rng.normal(size=(2, 6)), rng.normal(size=model.nv)
    dq, dv = step.jvp(mocap=along)
    assert np.allclose(dv, J.dv_dmocap @ along.ravel()) and np.allclose(dq, J.dq_dmocap @ along.ravel())
    assert np.allclose(step.vjp(v=w).mocap.ravel(), J.dv_dmocap.T @ w)
    with pytest.raises(slipstick.GradientError, match="one side of a step with respect to poses of mocap bodies"):
        step.jvp(mocap=along, one_sided=True)


def moved(poses, j, h):
    poses = copy.deepcopy(poses)
    body, k = divmod(j, 6)
    if k < 3:
        poses[body, k] += h
        return poses
    quat, turn = np.zeros(4), np.zeros(4)
    axis = np.eye(3)[k - 3]
    mujoco.mju_axisAngle2Quat(turn, axis, h)
    mujoco.mju_mulQuat(quat, poses[body, 3:].copy(), turn)
    poses[body, 3:] = quat
    return poses


@pytest.mark.parametrize(
    "body, message",
    [
        ('<body mocap="true"><freejoint/><geom size="1"/></body>', "children of the world without joints"),
        ('<body><body mocap="true"><geom size="1"/></body></body>', "children of the world without joints"),
        ('<body mocap="yes"/>', "mocap: expected"),
    ],
)
def test_other_mocap_bodies_are_refused(body, message):
    with pytest.raises(slipstick.LoadError, match=message):
        slipstick.loads(f"<mujoco><worldbody>{body}</worldbody></mujoco>")


SENSED = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
  <body name="plate" mocap="true" pos="0 0 .5"><geom name="plate" type="box" size=".6 .6 .05"/><site name="over" pos=".1 0 .4" euler="180 5 0"/>
    <site name="room" type="box" size=".5 .5 .5"/>
    <body name="arm" pos="-.2 .3 .3"><joint name="elbow" axis="0 1 0"/><geom name="arm" type="capsule" fromto="0 0 0 .2 0 0" size=".02"/></body></body>
  <body name="ball" pos="0 0 .649"><freejoint/><geom name="ball" size=".1" mass="1"/><site name="down" euler="180 0 0"/></body></worldbody>
  <sensor>
    <rangefinder site="down" data="dist point normal"/><rangefinder site="over" data="dist point"/>
    <distance geom1="ball" geom2="plate" cutoff="9"/><fromto geom1="arm" geom2="ball" cutoff="9"/><normal body1="plate" body2="ball" cutoff="9"/>
    <insidesite site="room" objtype="xbody" objname="ball"/><e_potential/><e_kinetic/>
    <contact geom1="ball" geom2="plate" data="found dist pos normal"/><contact subtree1="plate" data="found dist"/>
  </sensor></mujoco>"""


def test_sensors_see_mocap_bodies_as_in_mujoco():
    model, mj = slipstick.loads(SENSED), mujoco.MjModel.from_xml_string(SENSED)
    rng, d, seen = np.random.default_rng(4), mujoco.MjData(mj), set()
    for k in range(40):
        turn = rng.normal(scale=0.2, size=3)
        pose = np.r_[rng.normal(scale=0.1, size=2), rng.uniform(0.3, 0.498), np.cos(np.linalg.norm(turn)), turn]
        pose[3:] /= np.linalg.norm(pose[3:])
        mujoco.mj_resetData(mj, d)
        d.mocap_pos[0], d.mocap_quat[0] = pose[:3], pose[3:]
        d.qpos[0], d.qvel[:] = rng.normal(), 0.1 * rng.normal(size=mj.nv)
        if k % 2:  # the ball a little inside the plate
            normal = quat_matrix(pose[3:])[:, 2]
            d.qpos[1:4] = pose[:3] + normal * (0.15 - rng.uniform(0.0, 0.001))
        mujoco.mj_forward(mj, d)
        step = slipstick.step(model, d.qpos, d.qvel, mocap=pose[None])
        ours = np.concatenate(list(step.sensors.values()))
        seen.add(int(d.sensordata[-2]))
        assert np.abs(ours - d.sensordata).max() < 1e-8, (k, ours, d.sensordata)
    assert len(seen) > 1


def quat_matrix(quat):
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, quat)
    return out.reshape(3, 3)


def test_readings_of_mocap_bodies_have_their_derivatives():
    model, rng = slipstick.loads(SENSED), np.random.default_rng(5)
    q, v = model.neutral(), 0.1 * rng.normal(size=model.nv)
    q[0], q[3] = 0.3, 0.8
    pose = np.r_[0.02, -0.03, 0.4, 0.99, 0.05, -0.04, 0.03]
    n = sum(len(values) for values in slipstick.step(model, q, v, mocap=pose[None]).sensors.values())

    def readings(q, v):
        return np.concatenate(list(slipstick.step(model, q, v, mocap=pose[None]).sensors.values()))

    blocks = slipstick.step(model, q, v, mocap=pose[None]).sensor_jacobian().values()
    dq, dv = (np.vstack([getattr(block, name) for block in blocks]) for name in ("dq", "dv"))
    assert np.shape(dq) == (n, model.nv)
    h = 1e-6
    for j in range(model.nv):
        along = np.eye(model.nv)[j] * h
        by_q = (readings(slipstick.dynamics.integrate(model, q, along), v) - readings(slipstick.dynamics.integrate(model, q, -along), v)) / (2 * h)
        by_v = (readings(q, v + along) - readings(q, v - along)) / (2 * h)
        assert np.abs(dq[:, j] - by_q).max() < 1e-6 * max(1.0, np.abs(dq).max())
        assert np.abs(dv[:, j] - by_v).max() < 1e-6 * max(1.0, np.abs(dv).max())
