"""Welds, connects and couplings of tendons against MuJoCo's residuals (efc_pos) and Jacobians (efc_J)."""

import mujoco
import numpy as np
import pytest

import slipstick

# all of an error is removed in one step, so that J v_next dt = -efc_pos
WHOLE = slipstick.options.Correction(10.0, 1.0, 1e9)
BODIES = """<mujoco><option timestep="0.01"/><worldbody>
  <body name="a" pos=".1 .2 .3" euler="10 20 30"><freejoint/><geom size=".1" contype="0" conaffinity="0"/>
    <site name="sa" pos=".05 .02 -.03" euler="30 -20 10"/></body>
  <body name="b" pos="-.1 .2 .4" euler="-10 40 30"><freejoint/><geom type="box" size=".1 .05 .07" contype="0" conaffinity="0"/>
    <site name="sb" pos="-.02 .04 .01" euler="-30 50 70"/></body>
  <body name="m" mocap="true" pos="0 .1 .2" euler="20 0 50"><site name="sm" pos=".1 0 .2" euler="0 70 0"/></body>
  <body name="c"><joint name="x" type="slide" axis="1 0 0"/><geom size=".1" contype="0" conaffinity="0"/>
    <body name="d"><joint name="y" axis="0 1 0"/><geom size=".1" pos=".2 0 0" contype="0" conaffinity="0"/></body></body>
  </worldbody><tendon><fixed name="t"><joint joint="x" coef="1.5"/><joint joint="y" coef="-.4"/></fixed>
    <fixed name="s"><joint joint="y" coef=".7"/></fixed></tendon>
  <equality>%s</equality></mujoco>"""
RELPOSE = 'relpose=".1 -.2 .15 .6 .3 -.5 .4"'
WELDS = {
    "neutral": '<weld body1="a" body2="b"/>',
    "anchor": '<weld body1="a" body2="b" anchor=".03 .02 .01"/>',
    "relpose": f'<weld body1="a" body2="b" {RELPOSE}/>',
    "relpose and anchor": f'<weld body1="a" body2="b" {RELPOSE} anchor=".03 .02 .01"/>',
    "torquescale": f'<weld body1="a" body2="b" {RELPOSE} torquescale=".3"/>',
    "world": f'<weld body1="a" {RELPOSE} anchor=".03 .02 .01"/>',
    "sites": '<weld site1="sa" site2="sb" torquescale="2"/>',
    "mocap": f'<weld body1="m" body2="b" {RELPOSE} anchor=".03 .02 .01" torquescale=".5"/>',
    "mocap last": '<weld body1="b" body2="m"/>',
    "mocap site": '<weld site1="sm" site2="sb"/>',
    "point": '<connect body1="a" body2="b" anchor=".03 .02 .01"/>',
    "point of mocap": '<connect body1="m" body2="b" anchor=".03 .02 .01"/>',
    "points": '<connect site1="sa" site2="sb"/>',
    "tendon": '<tendon tendon1="t" polycoef=".05 1 0 0 0"/>',
    "tendons": '<tendon tendon1="t" tendon2="s" polycoef=".02 .8 -.3 .2 .1"/>',
}


def scene(equality: str):
    xml = BODIES % equality
    model = slipstick.loads(xml).with_options(correction=WHOLE, gravity=[0, 0, 0])
    mj = mujoco.MjModel.from_xml_string(xml)
    return model, mj, mujoco.MjData(mj)


def random_state(model, rng):
    """Errors of the length of a hand and up to some 90 degrees."""
    d = rng.normal(size=model.nv) * 0.2
    return slipstick.dynamics.integrate(model, model.neutral(), d), rng.normal(size=model.nv) * 0.3


def random_poses(model, rng):
    poses = model_poses(model)
    poses[:, :3] += rng.normal(size=3) * 0.1
    poses[:, 3:] += rng.normal(size=4) * 0.2
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1)[:, None]
    return poses


def model_poses(model):
    sim = slipstick.Simulator(model)
    return np.concatenate([sim.mocap_pos, sim.mocap_quat], axis=1)


@pytest.mark.parametrize("name", WELDS)
def test_the_constraint_is_mujocos(name):
    model, mj, d = scene(WELDS[name])
    assert not model.warnings
    rng = np.random.default_rng(5)
    for _ in range(20):
        (q, v), poses = random_state(model, rng), random_poses(model, rng)
        step = slipstick.step(model, q, v, mocap=poses)
        d.qpos[:], d.qvel[:] = q, v
        d.mocap_pos[:], d.mocap_quat[:] = poses[:, :3], poses[:, 3:]
        mujoco.mj_forward(mj, d)
        J = d.efc_J.reshape(-1, mj.nv) if not mujoco.mj_isSparse(mj) else dense(mj, d)
        residual = d.efc_pos.copy()
        free = slipstick.step(unconstrained(), q, v, mocap=poses)
        M = np.zeros((mj.nv, mj.nv))
        mujoco.mj_fullM(mj, d, M)
        # the impulse lies in the span of MuJoCo's rows
        impulse = M @ (step.v - free.v)
        rest = impulse - J.T @ np.linalg.lstsq(J.T, impulse, rcond=None)[0]
        assert np.abs(rest).max() < 1e-8 * max(1.0, np.abs(impulse).max())
        # what is left of the error after the step, by MuJoCo's own rows; turns have rows of their own
        points = slice(0, 3 if "weld" in WELDS[name] or "connect" in WELDS[name] else None)
        closed = (J @ step.v * mj.opt.timestep + residual)[points]
        assert np.abs(closed).max() < 1e-8, name
        if "weld" in WELDS[name]:
            assert_turn(mj, d, residual[3:], step.v, name)


def unconstrained():
    """The same robot without the constraint."""
    return slipstick.loads(BODIES % "").with_options(correction=WHOLE, gravity=[0, 0, 0])


def assert_turn(mj, d, residual, v, name):
    """MuJoCo has torquescale times the sine of half the angle, along the axis in the second frame. Here it is the angle itself."""
    scale = mj.eq_data[0, 10]
    s = residual / scale
    angle = 2 * np.arcsin(min(1.0, np.linalg.norm(s)))
    first, second = frames(mj, d)
    turned = second[1] @ (s / max(np.linalg.norm(s), 1e-300)) * angle  # of the first against the second, world axes
    omega = [np.zeros(3), np.zeros(3)]
    for k, body in enumerate((first[0], second[0])):
        jacr = np.zeros((3, mj.nv))
        mujoco.mj_jacBody(mj, d, None, jacr, body)
        omega[k] = jacr @ v
    left = [np.abs((omega[0] - omega[1]) * mj.opt.timestep + sign * turned).max() for sign in (1, -1)]
    # a product of quaternions with a negative scalar is a turn by more than 180 degrees to MuJoCo; here the shorter way is taken
    assert min(left) < 1e-8, name


def frames(mj, d):
    """Number of the body and rotation of the frame, of both sides."""
    ids = int(mj.eq_obj1id[0]), int(mj.eq_obj2id[0])
    if mj.eq_objtype[0] == mujoco.mjtObj.mjOBJ_SITE:
        return [(int(mj.site_bodyid[i]), d.site_xmat[i].reshape(3, 3)) for i in ids]
    return [(i, d.xmat[i].reshape(3, 3)) for i in ids]


def dense(mj, d):
    J = np.zeros((d.nefc, mj.nv))
    mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
    return J
