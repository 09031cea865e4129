"""Meshes that MuJoCo generates or keeps in its own format, hulls with few corners, shells, and aligned free bodies."""

import struct

import mujoco
import numpy as np
import pytest
import slipstick
from scipy.spatial import ConvexHull

from oracles import mujoco_mass_matrix
from states import assert_close, generator

BODY = '<worldbody><body><freejoint/><geom type="mesh" mesh="m" density="1000"/></body></worldbody>'
GENERATED = {
    "sphere": 'builtin="sphere" params="2"',
    "hemisphere": 'builtin="hemisphere" params="3"',
    "cone": 'builtin="cone" params="7 0.4"',
    "tip": 'builtin="cone" params="5 0"',
    "supersphere": 'builtin="supersphere" params="16 0.4 0.7"',
    "supertorus": 'builtin="supertorus" params="12 0.3 0.6 1.4"',
    "wedge": 'builtin="wedge" params="6 5 40 30 0.3"',
    "plate": 'builtin="plate" params="4 3"',
}
RULES = ["legacy", "exact", "convex", "shell"]
DIRECTIONS = generator("support").normal(size=(500, 3))


def pair(asset, body=BODY):
    xml = f"<mujoco><asset>{asset}</asset>{body}</mujoco>"
    return mujoco.MjModel.from_xml_string(xml), slipstick.loads(xml)


def assert_same_mass(mj, model, tolerance=1e-8):
    """The mass matrix of a free body tells mass, center and all moments. 1e-8: MuJoCo's vertices have single precision."""
    data = mujoco.MjData(mj)
    rng = generator("mass")
    for _ in range(3):
        q = np.concatenate([rng.uniform(-1, 1, 3), rng.normal(size=4)])
        q[3:] /= np.linalg.norm(q[3:])
        data.qpos[:] = q
        mujoco.mj_forward(mj, data)
        assert_close(slipstick.dynamics.crba(model, q), mujoco_mass_matrix(mj, data), tolerance)


def hull_of(mj):
    """The corners of MuJoCo's hull in the frame of the body."""
    address = int(mj.mesh_graphadr[0])
    count = int(mj.mesh_graph[address])
    corners = mj.mesh_graph[address + 2 + count : address + 2 + 2 * count]
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, mj.geom_quat[0])
    return mj.mesh_vert[corners] @ turn.reshape(3, 3).T + mj.geom_pos[0]


def our_hull(model):
    return np.array(model.geom(0).mesh[0])


def support(points):
    return np.max(points @ DIRECTIONS.T, axis=0)


def volume(points):
    """Of a convex hull."""
    return ConvexHull(points).volume


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", GENERATED)
def test_generated_meshes_weigh_what_they_weigh_in_mujoco(kind, rule):
    asset = f'<mesh name="m" {GENERATED[kind]} scale="0.3 0.2 0.4" inertia="{rule}"/>'
    body = BODY.replace("density", 'contype="0" conaffinity="0" density') if kind == "plate" else BODY
    try:
        mj, model = pair(asset, body)
    except ValueError:  # MuJoCo, of a flat mesh by the rules that need a volume
        with pytest.raises(slipstick.LoadError):
            slipstick.loads(f"<mujoco><asset>{asset}</asset>{body}</mujoco>")
        return
    assert_same_mass(mj, model)


@pytest.mark.parametrize("kind", [kind for kind in GENERATED if kind != "plate"])
def test_generated_meshes_reach_as_far_as_in_mujoco(kind):
    mj, model = pair(f'<mesh name="m" {GENERATED[kind]} scale="0.3 0.2 0.4"/>')
    assert_close(support(our_hull(model)), support(hull_of(mj)), 1e-6)  # single precision


def msh(vertices, faces, extra):
    n = len(vertices)
    counts = struct.pack("<4i", n, n * extra, n * extra, len(faces))
    numbers = np.concatenate([np.ravel(vertices), np.zeros(5 * n * extra)])
    return counts + numbers.astype("<f4").tobytes() + np.asarray(faces, "<i4").tobytes()


@pytest.mark.parametrize("extra", [0, 1])
def test_msh_files_are_read_as_by_mujoco(tmp_path, extra):
    corners = [[0, 0, 0], [1.1, 0, 0], [0, 0.7, 0], [0.1, 0, 0.3]]
    (tmp_path / "m.msh").write_bytes(msh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], extra))
    (tmp_path / "other.bin").write_bytes((tmp_path / "m.msh").read_bytes())
    for asset in ['<mesh file="m.msh"/>', '<mesh name="m" file="other.bin" content_type="model/vnd.mujoco.msh"/>']:
        path = tmp_path / "main.xml"
        path.write_text(f"<mujoco><asset>{asset}</asset>{BODY}</mujoco>")
        mj, model = mujoco.MjModel.from_xml_path(str(path)), slipstick.load(path)
        assert_same_mass(mj, model)
        assert_close(support(our_hull(model)), support(hull_of(mj)), 1e-6)


@pytest.mark.parametrize("most", [4, 6, 12, 30, 64])
def test_hulls_with_few_corners_are_like_mujocos(most):
    """Volume and mean reach within 3 %: qhull merges faces on the way, and may take other corners then."""
    rng = generator(f"hull {most}")
    points = rng.normal(size=(300, 3)) * [0.3, 0.2, 0.1]
    vertices = " ".join(map(repr, points.ravel().tolist()))
    for rule in ["convex", "exact"]:
        mj, model = pair(f'<mesh name="m" vertex="{vertices}" maxhullvert="{most}" inertia="{rule}"/>')
        ours, theirs = our_hull(model), hull_of(mj)
        assert len(ours) <= most and len(theirs) <= most
        assert abs(volume(ours) / volume(theirs) - 1) < 0.03
        assert abs(np.mean(support(ours)) / np.mean(support(theirs)) - 1) < 0.03


def test_a_limit_above_the_number_of_corners_changes_nothing():
    points = " ".join(map(repr, generator("cloud").normal(size=60).tolist()))
    hulls = [our_hull(pair(f'<mesh name="m" vertex="{points}" {limit}/>')[1]) for limit in ["", 'maxhullvert="1000"']]
    assert np.array_equal(*hulls)


SHELLS = {
    "sphere": 'type="sphere" size=".2"',
    "capsule": 'type="capsule" size=".2 .3"',
    "cylinder": 'type="cylinder" size=".2 .3"',
    "box": 'type="box" size=".2 .3 .4"',
    "ellipsoid": 'type="ellipsoid" size=".2 .3 .4"',
}


@pytest.mark.parametrize("weight", ["", 'mass="2"'])
@pytest.mark.parametrize("kind", SHELLS)
def test_shells_weigh_what_they_weigh_in_mujoco(kind, weight):
    geom = f'<geom {SHELLS[kind]} {weight} shellinertia="true" pos=".1 0 .2" euler="10 20 30"/>'
    mj, model = pair("", f"<worldbody><body><freejoint/>{geom}</body></worldbody>")
    # MuJoCo subtracts two ellipsoids that differ by a millionth: ten digits are lost
    assert_same_mass(mj, model, 1e-8 if kind == "ellipsoid" else 1e-12)


ALIGNED = {
    "one geom": '<geom type="box" size=".1 .2 .3" pos=".1 .2 .3" euler="10 20 30"/>',
    "several geoms": '<geom type="box" size=".1 .2 .3" pos=".1 .2 .3" euler="10 20 30"/><geom size=".2" pos="1 0 .4"/>',
    "inertial": '<inertial pos=".1 .2 .3" mass="2" diaginertia=".3 .2 .25" euler="10 20 30"/><geom size=".1"/>',
    "full inertia": '<inertial pos=".1 .2 .3" mass="2" fullinertia=".3 .2 .25 .01 .02 .03"/><geom size=".1"/>',
    "mesh": '<geom type="mesh" mesh="m" pos=".1 .2 .3" euler="10 20 30"/>',
    "with a child": '<geom size=".2" pos="1 0 .4"/><body><geom size=".1"/></body>',
}


@pytest.mark.parametrize("how", ['align="true"', 'align="false"', ""])
@pytest.mark.parametrize("case", ALIGNED)
def test_aligned_bodies_are_where_mujoco_has_them(case, how):
    """q0, geoms and sites in the moved frame; quaternions up to their sign. 1e-6: MuJoCo's axes are no better."""
    asset = '<mesh name="m" vertex="0 0 0 1 0 0 0 .6 0 0 .1 .3"/>'
    site = '<site name="s" pos=".3 .1 0" euler="30 0 0"/>'
    body = f'<body name="b" pos="1 2 3" euler="0 0 40"><freejoint {how}/>{ALIGNED[case]}{site}</body>'
    mj, model = pair(asset, f'<worldbody>{body}</worldbody><compiler alignfree="true"/>')
    assert not model.warnings
    q0 = model.neutral()
    assert_close(q0[:3], mj.qpos0[:3], 1e-8)
    assert_close(q0[3:] * np.sign(q0[3:] @ mj.qpos0[3:]), mj.qpos0[3:], 1e-6)
    data = mujoco.MjData(mj)
    data.qpos[:] = q = [0.3, 0.2, 0.1, 0.5, 0.5, -0.5, 0.5]
    mujoco.mj_forward(mj, data)
    kinematics = slipstick.dynamics.kinematics(model, q)
    at = list(model.frame_names).index("s")
    assert_close(kinematics.frame_position[at], data.site_xpos[0], 1e-6)
    assert_close(kinematics.frame_rotation[at].ravel(), data.site_xmat[0], 1e-6)
    assert_close(slipstick.dynamics.crba(model, q), mujoco_mass_matrix(mj, data), 1e-6)
