"""slipstick.viser without a browser: a server on this machine, nodes in its scene, steps that end, bodies that follow their handles."""

import urllib.request

import numpy as np
import pytest
import slipstick

viser = pytest.importorskip("viser")

import slipstick.viser as sv  # noqa: E402

MOCAP = """<mujoco><worldbody>
  <body name="target" mocap="true" pos="0 0 1"><body name="arm" pos="0 0 0.1"><joint axis="0 1 0"/><geom size="0.02"/></body></body>
  <body name="hand" pos="0 0 1"><freejoint name="hand"/><geom size="0.05"/></body></worldbody>
  <equality><weld body1="target" body2="hand"/></equality></mujoco>"""
SHAPES = """<mujoco><asset><mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><geom type="plane" size="1 1 1"/>
  <body><freejoint/><geom type="sphere" size="0.1"/><geom type="capsule" size="0.1 0.2"/><geom type="cylinder" size="0.1 0.2"/>
  <geom type="box" size="0.1 0.2 0.3"/><geom type="ellipsoid" size="0.1 0.2 0.3"/><geom type="mesh" mesh="wedge"/></body></worldbody></mujoco>"""


@pytest.fixture
def live(request):
    model = slipstick.loads(request.param) if request.param.startswith("<") else slipstick.builtin(request.param)
    live = sv.Live(slipstick.Simulator(model), port=0)
    yield live
    live.view.close()


def nodes(view):
    return view.server.scene._handle_from_node_name


@pytest.mark.parametrize("live", ["quadruped"], indirect=True)
def test_a_robot_is_served_stands_and_is_lifted_by_its_handle(live):
    model, view = live.model, live.view
    assert view.url.startswith("http://127.0.0.1:")
    assert b"<html" in urllib.request.urlopen(view.url, timeout=10).read(2000)
    assert {f"/robot/{model.body(model.geom(k).body).index}/{k}" for k in range(model.n_geoms)} <= set(nodes(view))
    assert len(live.sliders) == model.nu and [s.value for s in live.sliders] == pytest.approx(model.keyframe("home").ctrl)
    for _ in range(10):
        assert 0 < live.advance() <= 3 * 2.0 / 60 / live.sim.dt
    assert live.view.forces.visible and live.view.forces.points.shape == (len(live.last.contacts), 2, 3)
    at = slipstick.dynamics.kinematics(model, live.sim.state.q)
    for k, node in enumerate(view.bodies):
        assert np.allclose(node.position, at.position[k]) and np.allclose(viser.transforms.SO3(node.wxyz).as_matrix(), at.rotation[k])

    (trunk,) = [k for k in view.shapes if model.geom(k).body == "trunk"]
    (clicked,) = view.shapes[trunk]._impl.click_cb
    clicked.callback(None)  # what viser does when the browser tells of a click
    live.advance()
    assert live.body == model.body("trunk").index and live.handle.visible
    before = live.handle.position.copy()
    live.handle.position = before + [0.0, 0.0, 0.5]
    for _ in range(120):
        live.advance()
    center, _ = live._center(1)
    # the spring carries the weight: 9.81 / 100 m below its handle
    assert np.allclose(center, before + [0.0, 0.0, 0.5 - 9.81 / 100], atol=0.02) and not live.last.contacts
    live._wanted.put("let go")  # what the button does
    for _ in range(60):
        live.advance()
    assert live._center(1)[0][2] < before[2] + 0.1, "it falls when it is let go"


@pytest.mark.parametrize("live", ["cartpole"], indirect=True)
def test_pause_step_reset_and_speed(live):
    live.running.value = False
    assert live.advance() == 0 and live.sim.time == 0.0
    live._wanted.put("step")  # what the button does
    assert live.advance() == 1
    live.running.value, live.speed.value = True, 0.5
    assert live.advance(1 / 60) == round(0.5 / 60 / live.sim.dt)
    assert live.advance(1e9) <= 3 / 60 / live.sim.dt, "it does not run after the clock without end"
    live._wanted.put("reset")
    live.running.value = False
    assert live.advance() == 0 and live.sim.time == 0.0


@pytest.mark.parametrize("live", [MOCAP], indirect=True)
def test_mocap_bodies_follow_their_handles_with_what_they_carry(live):
    (handle,) = live.mocap
    assert np.allclose(handle.position, [0, 0, 1])
    for k in range(100):
        handle.position = np.array([0.001 * k, 0.0, 1.0])
        live.advance()
    handle.wxyz = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])  # the arm's axis: z goes to x
    live.running.value = False
    live.advance()
    model = live.model
    place = {name: live.view.bodies[model.body(name).index].position for name in ("target", "arm", "hand")}
    assert np.allclose(place["target"], [0.099, 0, 1]) and np.allclose(place["arm"], [0.199, 0, 1])
    assert np.allclose(place["hand"], [0.099, 0, 1], atol=2e-3)


def test_a_run_that_diverges_stops_and_says_so():
    ball = "<mujoco><worldbody><body><freejoint/><geom size='0.05'/></body></worldbody></mujoco>"
    model = slipstick.loads(ball).with_options(speed_limit=1.0)
    live = sv.Live(slipstick.Simulator(model), port=0)
    for _ in range(200):
        live.advance()
    live.view.close()
    assert not live.running.value and "stopped" in live.message.content


def test_all_shapes_have_triangles_of_their_size():
    model = slipstick.loads(SHAPES)
    view = sv.View(model, port=0)
    for k, half in enumerate([[0.1, 0.1, 0.1], [0.1, 0.1, 0.3], [0.1, 0.1, 0.2], [0.1, 0.2, 0.3], [0.1, 0.2, 0.3]], start=1):
        vertices = view.shapes[k].vertices
        assert np.allclose(np.abs(vertices).max(0), half, atol=2e-3), model.geom(k).type
    assert view.shapes[6].vertices.shape == (4, 3)
    view.close()


def test_trajectories_are_played_and_wrong_ones_refused():
    sim = slipstick.Simulator(slipstick.builtin("hopper"))
    run = sim.rollout(100)
    view = sv.View(sim.model, port=0)
    view.play(run.q, run.time, seconds=0.3)
    shown = view.bodies[1].position
    assert not np.allclose(shown, view.poses(run.q[0])[1][1]), "nothing moved"
    with pytest.raises(ValueError, match="time: expected one for each of 101 configurations, got 100"):
        view.play(run.q, run.time[1:])
    with pytest.raises(ValueError, match=r"mocap: expected 0 poses of 7 numbers, got an array of shape \(1, 7\)"):
        view.show(run.q[0], mocap=np.zeros((1, 7)))
    view.close()
