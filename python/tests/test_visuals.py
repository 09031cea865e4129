"""What robots look like: shapes, colors and poses beside MuJoCo's, visuals of URDF, meshes for other viewers."""

import pickle
import re

import mujoco
import numpy as np
import pytest
import slipstick
from catalog import ALL_MJCF, compiled, loaded, parameters
from robots import EXAMPLE_ROBOTS

GRAY = (0.5, 0.5, 0.5, 1.0)
# one robot of each way to write visuals; all others in the full run are the same code
NAMES = "gymnasium/.*(ant|fetch/reach|humanoid)\\.xml|dm_control/.*(dog|quadruped|jaco_arm|rodent|cheetah|stacker|sawyer|robotiq_2f85_v2)\\.xml"
ROBOTS = [robot for robot in ALL_MJCF if re.fullmatch(NAMES, robot.name)]
FITTED = "a shape fitted to a mesh of pictures is not shown"


def oracle_color(m, geom):
    """MuJoCo's rule: a geom's own color counts if it is not plain gray."""
    own = m.geom_rgba[geom]
    material = m.geom_matid[geom]
    return own if material < 0 or not np.allclose(own, GRAY) else m.mat_rgba[material]


def oracle_pose(m, geom):
    """Position and rotation of a geom in its body; of a mesh in the frame of its file."""
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, m.geom_quat[geom])
    position, rotation = m.geom_pos[geom], rotation.reshape(3, 3)
    mesh = m.geom_dataid[geom]
    if m.geom_type[geom] != mujoco.mjtGeom.mjGEOM_MESH or mesh < 0:
        return position, rotation
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, m.mesh_quat[mesh])
    rotation = rotation @ turn.reshape(3, 3).T
    return position - rotation @ m.mesh_pos[mesh], rotation


def test_there_are_robots_to_compare():
    assert len(ROBOTS) >= 5, [robot.name for robot in ROBOTS]


@pytest.mark.parametrize("robot", parameters(ROBOTS))
def test_visuals_are_mujocos_geoms_with_their_colors_groups_and_poses(robot):
    m, model = compiled(robot), loaded(robot)
    if any(FITTED in warning for warning in slipstick.Replay(model).warnings):
        pytest.skip(FITTED)
    unread = [int(mujoco.mjtGeom.mjGEOM_HFIELD), int(mujoco.mjtGeom.mjGEOM_SDF)]
    geoms = [g for g in range(m.ngeom) if int(m.geom_type[g]) not in unread]
    visuals = [v for v in model.visuals if v.type != "hfield"]
    # both have links in depth-first order and their geoms in that of the file
    place = {model.frame(i).name: i for i in range(m.nbody)}
    visuals.sort(key=lambda v: place[v.link])
    assert len(visuals) == len(geoms)
    shown = [v for v in visuals if v.group <= 2]
    assert len(shown) == sum(m.geom_group[g] <= 2 for g in geoms)
    for visual, geom in zip(visuals, geoms):
        assert (visual.name, visual.group) == (m.geom(geom).name, m.geom_group[geom])
        np.testing.assert_allclose(visual.rgba, oracle_color(m, geom), atol=1e-6)
        position, rotation = oracle_pose(m, geom)
        frame = model.frame(visual.link)
        # single precision of meshes there, principal axes of nearly round ones
        np.testing.assert_allclose(visual.position, frame.position + frame.rotation @ position, atol=2e-5)
        np.testing.assert_allclose(visual.rotation, frame.rotation @ rotation, atol=2e-5)


URDFS = {
    "panda_description/urdf/panda.urdf": 11,
    "anymal_c_simple_description/urdf/anymal.urdf": 20,
    "go2_description/urdf/go2.urdf": 13,
    "g1_description/urdf/g1_29dof_rev_1_0.urdf": 25,
    "allegro_hand_description/urdf/allegro_right_hand.urdf": 15,
}


def example(name):
    path = EXAMPLE_ROBOTS / name
    if not path.is_file():
        path = next(iter(sorted(path.parent.glob("*.urdf"))), path)
    if not path.is_file():
        pytest.skip(f"{name} is not in this example-robot-data")
    return slipstick.load(path)


@pytest.mark.parametrize("name", URDFS)
def test_visuals_of_urdf_come_with_meshes_that_are_read_on_request(name):
    model = example(name)
    meshes = [v for v in model.visuals if v.type == "mesh"]
    assert len(model.visuals) >= URDFS[name] - 2
    for visual in meshes:
        vertices, triangles = visual.mesh()
        assert vertices.shape[1] == 3 and triangles.shape[1] == 3 and np.isfinite(vertices).all()
        assert triangles.max() < len(vertices) and np.abs(vertices).max() < 3, visual.mesh_file


def test_pages_hold_the_visuals_and_say_what_is_missing(tmp_path):
    xml = """<mujoco><asset><mesh name="arm" file="none.stl"/></asset><worldbody><body><freejoint/>
      <geom size="0.1" group="3"/><geom size="0.2" contype="0" conaffinity="0" rgba="1 0 0 1" name="skin"/>
      <geom type="mesh" mesh="arm" contype="0" conaffinity="0" mass="0"/></body></worldbody></mujoco>"""
    (tmp_path / "robot.xml").write_text(xml)
    model = slipstick.load(tmp_path / "robot.xml")
    replay = slipstick.Replay(model)
    replay.record_state(model.neutral())
    [warning] = replay.warnings
    assert "none.stl" in warning
    assert "none.stl" in replay.html()
    assert [v.shown for v in model.visuals] == [False, True, True]
    skin = model.visuals[1]
    assert (skin.name, skin.type, skin.geom, skin.material, skin.mesh_file) == ("skin", "sphere", 1, None, None)
    np.testing.assert_array_equal(skin.rgba, [1, 0, 0, 1])
    np.testing.assert_array_equal(model.geom("skin").rgba, [1, 0, 0, 1])
    assert repr(skin) == "<slipstick.types.Visual 1 'skin': sphere of 'body_1'>"
    with pytest.raises(slipstick.LoadError, match="none.stl"):
        model.visuals[2].mesh()


def page(model):
    replay = slipstick.Replay(model)
    replay.record_state(model.neutral())
    return replay.html()


def test_pickled_models_look_as_before():
    model = example("panda_description/urdf/panda.urdf")
    again = pickle.loads(pickle.dumps(model))
    assert again.content_hash == model.content_hash
    assert len(again.visuals) == len(model.visuals) > 0
    assert page(again) == page(model), "colors, meshes, textures"
    assert page(again.with_options(dt=1e-3)) == page(model)
