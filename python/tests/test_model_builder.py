"""A robot made in code is the robot of the file that says as much."""

import numpy as np
import pytest
import slipstick

XML = """
<mujoco model="crane">
  <option timestep="0.001"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" friction="0.5"/>
    <body name="mast" pos="0 0 0.4" quat="0.8 0 0 0.6">
      <inertial pos="0 0 0.1" mass="2" fullinertia="0.2 0.25 0.3 0.01 0.02 0.03"/>
      <joint name="turn" axis="0 0 1" damping="0.5" armature="0.1" pos="0.1 0 0"/>
      <geom name="box" type="box" size="0.1 0.1 0.2" friction="0.3"/>
      <body name="boom" pos="0 0 0.3">
        <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.2 0.15"/>
        <joint name="lift" type="slide" axis="1 0 1" range="-0.2 0.6" limited="true" stiffness="2" frictionloss="0.1"/>
        <geom name="hook" type="capsule" size="0.02 0.1"/>
        <site name="tip" pos="0.1 0 0"/>
      </body>
    </body>
    <body name="load" pos="1 0 0.3">
      <freejoint name="load"/>
      <inertial pos="0 0 0" mass="0.5" diaginertia="0.01 0.01 0.01"/>
      <geom name="load" type="sphere" size="0.1"/>
    </body>
  </worldbody>
  <actuator>
    <position name="servo" joint="turn" kp="20" kv="2" ctrlrange="-1 1"/>
    <motor name="lift" joint="lift" gear="3" forcerange="-5 5"/>
  </actuator>
</mujoco>
"""


def crane():
    b = slipstick.ModelBuilder("crane")
    b.add_geom("world", "plane", name="floor", friction=0.5)
    inertia = [[0.2, 0.01, 0.02], [0.01, 0.25, 0.03], [0.02, 0.03, 0.3]]
    b.add_link("mast", position=[0, 0, 0.4], quaternion=[0.8, 0, 0, 0.6], mass=2.0, center_of_mass=[0, 0, 0.1], inertia=inertia)
    b.add_joint("mast", "turn", axis=[0, 0, 1], damping=0.5, armature=0.1, anchor=[0.1, 0, 0])
    b.add_geom("mast", "box", [0.1, 0.1, 0.2], name="box", friction=0.3)
    b.add_link("boom", parent="mast", position=[0, 0, 0.3], mass=1.0, inertia=[0.1, 0.2, 0.15])
    b.add_joint("boom", "lift", "prismatic", axis=[1, 0, 1], range=[-0.2, 0.6], stiffness=2.0, dry_friction=0.1)
    b.add_geom("boom", "capsule", [0.02, 0.1], name="hook")
    b.add_site("boom", "tip", position=[0.1, 0, 0])
    b.add_link("load", position=[1, 0, 0.3], mass=0.5, inertia=[0.01, 0.01, 0.01])
    b.add_joint("load", "load", "free")
    b.add_geom("load", "sphere", [0.1], name="load")
    b.add_actuator("position", "turn", name="servo", kp=20.0, kd=2.0, ctrl_range=[-1, 1])
    b.add_actuator("motor", "lift", gear=3.0, force_range=[-5, 5])
    b.add_keyframe("home", [0.3, 0.2, 1, 0, 0.3, 1, 0, 0, 0], ctrl=[0.3, 0.0])
    return b


def test_it_moves_as_the_robot_of_the_file():
    built, read = crane().build(), slipstick.loads(XML)
    assert (built.name, built.nq, built.nv, built.nu) == (read.name, read.nq, read.nv, read.nu)
    built = built.with_options(dt=read.dt)
    assert np.allclose(built.parameters, read.parameters, atol=1e-12)
    runs = []
    for model in [built, read]:
        sim = slipstick.Simulator(model)
        sim.reset(q=built.keyframe("home").q)
        runs.append(sim.rollout(300, ctrl=[0.5, 1.0]))
    assert np.allclose(runs[0].q, runs[1].q, atol=1e-9) and runs[0].contacts.max() > 0


def test_a_mesh_is_the_hull_of_its_corners():
    b = slipstick.ModelBuilder("stone")
    b.add_link("stone", mass=1.0, inertia=[0.1, 0.1, 0.1])
    b.add_joint("stone", "free", "free")
    corners = np.random.default_rng(0).normal(size=(30, 3))
    b.add_geom("stone", "mesh", np.vstack([corners, [[0, 0, 0]]]))
    hull, _ = b.build().geom(0).mesh
    assert len(hull) < 31 and {tuple(x) for x in hull} <= {tuple(x) for x in corners}


WRONG = [
    (lambda b: b.add_link("arm", parent="mas"), "no link named 'mas' .*'mast'"),
    (lambda b: b.add_joint("mast", "x", "hinge", axis=None), "type: expected 'revolute'.*got 'hinge'"),
    (lambda b: b.add_joint("world", "x"), "got 'world'"),
    (lambda b: b.add_joint("mast", "x", axis=[0, 0, 0]), "axis: expected a direction"),
    (lambda b: b.add_geom("mast", "box", [0.1]), "size: expected 3 numbers for a box, got 1"),
    (lambda b: b.add_geom("mast", "cube", [0.1]), "type: .*'box'.*got 'cube'"),
    (lambda b: b.add_geom("mast", "mesh", [[0, 0, 0], [1, 0, 0]]), "no convex hull"),
    (lambda b: b.add_link("x", inertia=[1, 2]), r"inertia: expected \(3,\) or \(3, 3\)"),
    (lambda b: b.add_link("x", quaternion=[0, 0, 0, 0]), "quaternion"),
    (lambda b: b.add_actuator("servo", "lift"), "'motor', 'position' or 'velocity', got 'servo'"),
    (lambda b: (b.add_actuator("motor", "lyft"), b.build()), "no joint named 'lyft' .*'lift'"),
    (lambda b: (b.add_link("mast"), b.build()), "mast"),
    (lambda b: (b.add_geom("mast", "sphere", [-1.0]), b.build()), "-1"),
    (lambda b: (b.add_keyframe("bad", [0.0]), b.build()), "bad"),
]


@pytest.mark.parametrize("change, message", WRONG)
def test_what_does_not_fit_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        change(crane())


def test_it_says_what_it_holds():
    assert repr(crane()) == "<slipstick.ModelBuilder 'crane': 3 links, 3 joints, 4 geoms, 2 actuators>"
