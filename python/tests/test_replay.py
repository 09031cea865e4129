"""Replays: what of a motion is in the page."""

import base64
import html
import json
import re
import sys
import types
import zlib

import numpy as np
import pytest
import slipstick
from stepping import Stepper


@pytest.fixture
def model():
    return slipstick.builtin("quadruped")


@pytest.fixture
def home(model):
    return model.keyframe("home")


def data(page):
    """What the page is told."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def numbers(told, kind):
    """Base64, or deflated bytes in base64."""
    if isinstance(told, dict):
        return np.frombuffer(zlib.decompress(base64.b64decode(told["deflate"]), -15), dtype=kind)
    return np.frombuffer(base64.b64decode(told), dtype=kind)


def marks(frames):
    """Contacts of all frames: point, force, normal, distance, friction, margin, then margins and reserves."""
    return numbers(frames["contacts"]["numbers"], "<f4").reshape(-1, 16)


def test_steps_are_recorded_with_their_contacts(model, home):
    simulator, replay = Stepper(model, dt=0.002), slipstick.Replay(model, title="It stands")
    q, v, time = home.q, home.v, 0.0
    for _ in range(50):
        step = simulator.step(q, v, ctrl=home.ctrl, time=time)
        replay.record(step)
        q, v, time = step.q, step.v, step.time
    page = replay.html()
    told = data(page)
    assert (told["format"], told["version"], told["title"], told["model"]) == ("slipstick-replay", 2, "It stands", "quadruped")
    frames = told["frames"]
    assert frames["count"] == len(replay) == 7
    assert np.allclose(np.diff(numbers(frames["times"], "<f8"))[:-1], 1 / 60, atol=0.002)
    poses = numbers(frames["poses"], "<f4").reshape(7, model.n_bodies - 1, 7)
    where = slipstick.dynamics.kinematics(model, q)
    assert np.allclose(poses[-1, :, :3], where.position[1:], atol=1e-6)
    told = frames["contacts"]
    assert np.array_equal(numbers(told["ends"], "<u4"), 4 * np.arange(1, 8))
    contacts = marks(frames)[-4:]
    assert np.allclose(contacts[:, :3], [c.point for c in step.contacts], atol=1e-6)
    assert np.allclose(contacts[:, 3:6], [c.force for c in step.contacts], rtol=1e-5, atol=1e-4)
    assert np.allclose(contacts[:, 6:9], [c.normal for c in step.contacts], atol=1e-6)
    assert np.array_equal(numbers(told["geoms"], "<u4").reshape(-1, 2)[-4:], [c.geom_numbers for c in step.contacts])
    by_contact = [c for c in step.constraints if c.name.startswith("contact")]
    assert np.allclose(contacts[:, 12:14], [(c.opening, c.slipping) for c in by_contact], rtol=1e-5)
    assert abs(contacts[:, 5].sum() / (9.81 * model.total_mass) - 1.0) < 0.2, "they carry the robot"


def curve(frames, name, group=None):
    found = [c for c in frames["curves"] if c["name"] == name and group in (None, c["group"])]
    return numbers(found[0]["values"], "<f4")


def test_curves_are_the_numbers_of_the_motion(model, home):
    run = slipstick.Simulator(model, dt=1 / 60).rollout(20, ctrl=home.ctrl)
    frames = data(run.replay().html())["frames"]
    assert np.array_equal(curve(frames, "residual")[1:], run.residual.astype(np.float32))
    assert np.isnan(curve(frames, "residual")[0]), "no step led to the first state"
    names = [c["name"] for c in frames["curves"] if c["group"] == "ctrl"]
    assert names == model.actuator_names
    assert np.array_equal(curve(frames, names[3], "ctrl")[1:], run.ctrl[:, 3].astype(np.float32))
    heights = [slipstick.dynamics.center_of_mass(model, q)[2] for q in run.q]
    assert np.allclose(curve(frames, "height of the center of mass"), heights, rtol=1e-6)
    assert numbers(frames["status"], "u1").tolist() == [0] + 20 * [1]
    with_q = slipstick.Replay(model)
    with_q.record_state(home.q)
    groups = {c["group"] for c in data(with_q.html())["frames"]["curves"]}
    assert groups == {"motion and solver", "q"}, "velocities that nobody knows are not drawn"


def test_a_trajectory_without_contacts_shows_none(model, home, tmp_path):
    trajectory = slipstick.Simulator(model).rollout(100, ctrl=home.ctrl, contacts=False)
    replay = slipstick.Replay(model, frame_rate=20)
    replay.record_trajectory(trajectory)
    assert len(replay) == 3
    path = tmp_path / "stand.html"
    replay.save(path)
    page = path.read_text(encoding="utf-8")
    assert page == replay.html()
    assert marks(data(page)["frames"]).size == 0
    # an attribute of the frame in a notebook, and nothing else
    frame = replay._repr_html_()
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1]) == page


def test_configurations_follow_each_other_frame_by_frame(model, home):
    replay = slipstick.Replay(model, frame_rate=10)
    for height in [0.3, 0.4, 0.5]:
        replay.record_state(np.concatenate([[0, 0, height], home.q[3:]]))
    replay.record_state(home.q, time=1.0)
    frames = data(replay.html())["frames"]
    assert np.allclose(numbers(frames["times"], "<f8"), [0.0, 0.1, 0.2, 1.0])
    poses = numbers(frames["poses"], "<f4").reshape(4, -1, 7)
    assert np.allclose(poses[:, 0, 2], [0.3, 0.4, 0.5, home.q[2]])


def test_what_does_not_fit_is_refused(model, home, tmp_path):
    replay = slipstick.Replay(model)
    with pytest.raises(ValueError, match="expected at least one frame, got none"):
        replay.html()
    with pytest.raises(ValueError, match="q: expected 19 numbers, got 3"):
        replay.record_state([0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"q\[2\] is not a finite number"):
        replay.record_state([0.0, 0.0, np.nan, *home.q[3:]])
    with pytest.raises(ValueError, match="time: expected a finite number"):
        replay.record_state(home.q, time=np.inf)
    with pytest.raises(ValueError, match="frame rate: expected a positive number, got 0"):
        slipstick.Replay(model, frame_rate=0)
    other = slipstick.builtin("cube")
    cube = other.neutral()
    with pytest.raises(ValueError, match="made for another model than 'cube'"):
        replay.record(slipstick.step(other, cube, np.zeros(other.nv)))
    assert len(replay) == 0
    replay.record_state(home.q)
    with pytest.raises(OSError, match="cannot be written"):
        replay.save(tmp_path / "nowhere" / "x.html")


def test_names_cannot_end_an_element_of_the_page(home, model):
    nasty = '</script><script>alert("x")</script> & \'y\' <!--'
    replay = slipstick.Replay(model, title=nasty)
    replay.record_state(home.q)
    page = replay.html()
    assert page.count("<script") == page.count("</script>") == 2
    assert data(page)["title"] == nasty
    assert html.unescape(re.search("<title>(.*?)</title>", page)[1]) == nasty


def channel(page, name):
    """Gradients of all frames by tau, by forces on moving bodies (bodies, 3), by friction."""
    told = data(page)
    found = next(g for g in told["gradients"] if g["name"] == name)
    rows = numbers(found["values"], "<f4").reshape(told["frames"]["count"], -1)
    tau, forces, friction = np.split(rows, np.cumsum(found["widths"])[:2], axis=1)
    return tau, forces.reshape(len(rows), -1, 3), friction


def test_gradients_on_the_page_are_those_of_the_api():
    model = slipstick.builtin("cube")
    sim = slipstick.Simulator(model)
    sim.reset(keyframe="thrown")
    replay, start = slipstick.Replay(model), sim.state
    body = model.body_names[1]
    replay.gradient_of("velocity", body, "x")
    replay.gradient_of("position", body, [0, 0, 2], name="height")
    step = sim.step()
    while not any(c.mode == "slide" for c in step.contacts):
        start = sim.state
        step = sim.step()
    loss = step.vjp(v=step.v, parameters="friction")
    replay.record(step, gradients={"|v|²/2": loss})
    page = replay.html()
    assert replay.warnings == []

    J = slipstick.dynamics.jacobian(model, start.q, body)
    for name, weights in [
        (f"velocity of {body} along x", dict(v=slipstick.dynamics.jacobian(model, step.q, body)[0])),
        ("height", dict(q=slipstick.dynamics.jacobian(model, step.q, body)[2])),
    ]:
        expected = step.vjp(parameters="friction", **weights)
        tau, forces, friction = channel(page, name)
        assert np.allclose(tau[-1], expected.tau, rtol=1e-6, atol=1e-9)
        assert np.allclose(friction[-1], expected.parameters["friction"], rtol=1e-6, atol=1e-9)
        # the center of mass of the cube is its origin
        assert np.allclose(forces[-1, 0], J[:3] @ expected.tau, rtol=1e-6, atol=1e-12)
    assert np.abs(channel(page, f"velocity of {body} along x")[2]).max() > 1e-6, "it slides, so friction matters"
    tau, _, friction = channel(page, "|v|²/2")
    assert np.allclose(tau[-1], loss.tau, rtol=1e-6) and np.allclose(friction[-1], loss.parameters["friction"], rtol=1e-6)

    # by differences: a force on the body
    again = slipstick.Simulator(model)
    h, forces = 1e-4, channel(page, f"velocity of {body} along x")[1]
    for axis in range(3):
        ends = []
        for sign in (1, -1):
            wrench = np.zeros((model.n_bodies, 6))
            wrench[1, axis] = sign * h
            again.reset(q=start.q, v=start.v)
            ends.append(again.step(wrenches=wrench).v[0])
        assert np.isclose((ends[0] - ends[1]) / (2 * h), forces[-1, 0, axis], rtol=1e-5, atol=1e-9)


def test_the_ghost_of_the_perturbed_motion_is_its_derivative(model, home):
    dv, h, steps = np.zeros(model.nv), 1e-6, 50
    dv[0] = 1.0
    replay = slipstick.Replay(model, frame_rate=1000)
    replay.perturb(v=dv, name="faster")
    sim = slipstick.Simulator(model)
    replay.record_state(home.q)
    for _ in range(steps):
        replay.record(sim.step(ctrl=home.ctrl))
    told = data(replay.html())
    change = told["changes"][0]
    twists = numbers(change["twists"], "<f4").reshape(told["frames"]["count"], model.n_bodies - 1, 6)
    assert change["name"] == "faster"

    def end(sign):
        other = slipstick.Simulator(model)
        other.reset(q=home.q, v=sign * h * dv)
        run = other.rollout(steps, ctrl=home.ctrl)
        return slipstick.dynamics.kinematics(model, run.q[-1]).position[1:]

    slope = (end(1) - end(-1)) / (2 * h)
    assert np.abs(twists[-1, :, :3]).max() > 1e-3
    assert np.allclose(twists[-1, :, :3], slope, rtol=1e-3, atol=1e-5)
    # the same from changes that are given
    given = slipstick.Replay(model, frame_rate=1000)
    run = slipstick.Simulator(model).rollout(3, ctrl=home.ctrl)
    given.record_trajectory(run, changes={"mine": np.ones((4, model.nv))}, gradients={"loss": np.ones((3, model.nv))})
    told = data(given.html())
    assert told["changes"][0]["name"] == "mine" and np.isnan(channel(given.html(), "loss")[0][0]).all()
    assert (channel(given.html(), "loss")[0][1:] == 1).all()


def test_other_motions_are_ghosts_or_stand_beside(model, home):
    sim = slipstick.Simulator(model)
    first, other = sim.rollout(20, ctrl=home.ctrl).replay(), sim.rollout(20).replay(title="falls")
    cube = slipstick.Simulator(slipstick.builtin("cube")).rollout(20).replay()
    first.add_ghost(other)
    first.add_beside(cube, offset=[0, 1, 0])
    ghost, beside = data(first.html())["companions"]
    assert (ghost["name"], ghost["offset"], ghost["robot"]) == ("falls", None, None)
    assert beside["offset"] == [0, 1, 0] and len(beside["robot"]["bodies"]) == 2


def test_what_cannot_be_differentiated_or_named_is_refused(model, home):
    replay, sim = slipstick.Replay(model), slipstick.Simulator(model)
    for arguments, error in [
        (("speed", "trunk", "x"), "quantity: expected 'position' or 'velocity', got 'speed'"),
        (("velocity", "trnk", "x"), "trnk"),
        (("velocity", "trunk", "w"), "axis: expected 'x', 'y', 'z' or three numbers, got 'w'"),
        (("velocity", "trunk", [0, 0, 0]), "axis: expected a direction that is not zero"),
    ]:
        with pytest.raises(ValueError, match=error):
            replay.gradient_of(*arguments)
    with pytest.raises(ValueError, match="v: expected 18 numbers, got 2"):
        replay.perturb(v=[1.0, 2.0])
    replay.gradient_of("velocity", "trunk", "x")
    with pytest.raises(ValueError, match="gradients of different names"):
        replay.gradient_of("velocity", "trunk", "x")
    step = sim.step(ctrl=home.ctrl)
    sim.step(ctrl=home.ctrl)
    with pytest.raises(slipstick.errors.StaleStep):
        replay.record(step)
    with pytest.raises(ValueError, match=r"gradients\['loss'\]: expected .*\(18,\)"):
        replay.record(sim.step(), gradients={"loss": np.ones(3)})
    run = sim.rollout(2)
    with pytest.raises(ValueError, match=r"changes\['dq'\]: expected .*\(3, 18\)"):
        replay.record_trajectory(run, changes={"dq": np.ones((2, 18))})


def test_show_writes_a_page_or_displays_in_a_notebook(model, home, monkeypatch, capsys):
    run, opened = slipstick.Simulator(model).rollout(5, ctrl=home.ctrl), []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or False)
    path = run.show(title="It stands")
    assert opened[0].startswith("file://") and opened[0].endswith(path.rsplit("/", 1)[1])
    assert "open " + path in capsys.readouterr().err
    assert "<title>It stands</title>" in open(path, encoding="utf-8").read()
    shown = []
    shell = types.SimpleNamespace(has_trait=lambda name: name == "kernel")
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=shown.append))
    assert run.show() is None
    assert isinstance(shown[0], slipstick.Replay) and "allow-downloads" in shown[0]._repr_html_()
