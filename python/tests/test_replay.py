"""Replays: what of a motion is in the page."""

import base64
import html
import json
import re

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


def numbers(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_steps_are_recorded_with_their_contacts(model, home):
    simulator, replay = Stepper(model, dt=0.002), slipstick.Replay(model, title="It stands")
    q, v, time = home.q, home.v, 0.0
    for _ in range(50):
        step = simulator.step(q, v, ctrl=home.ctrl, time=time)
        replay.record(step)
        q, v, time = step.q, step.v, step.time
    page = replay.html()
    told = data(page)
    assert (told["format"], told["version"], told["title"], told["model"]) == ("slipstick-replay", 1, "It stands", "quadruped")
    frames = told["frames"]
    assert frames["count"] == len(replay) == 7
    assert np.allclose(np.diff(numbers(frames["times"], "<f8"))[:-1], 1 / 60, atol=0.002)
    poses = numbers(frames["poses"], "<f4").reshape(7, model.n_bodies - 1, 7)
    where = slipstick.dynamics.kinematics(model, q)
    assert np.allclose(poses[-1, :, :3], where.position[1:], atol=1e-6)
    assert np.array_equal(numbers(frames["ends"], "<u4"), 4 * np.arange(1, 8))
    contacts = numbers(frames["contacts"], "<f4").reshape(-1, 6)
    assert np.allclose(contacts[-4:, :3], [c.point for c in step.contacts], atol=1e-6)
    assert np.allclose(contacts[-4:, 3:], [c.force for c in step.contacts], rtol=1e-5, atol=1e-4)
    assert abs(contacts[-4:, 5].sum() / (9.81 * model.total_mass) - 1.0) < 0.2, "they carry the robot"


def test_a_trajectory_is_recorded_without_contacts(model, home, tmp_path):
    trajectory = Stepper(model).rollout(home.q, home.v, 100, ctrl=home.ctrl)
    replay = slipstick.Replay(model, frame_rate=20)
    replay.record_trajectory(trajectory)
    assert len(replay) == 3
    path = tmp_path / "stand.html"
    replay.save(path)
    page = path.read_text(encoding="utf-8")
    assert page == replay.html()
    assert numbers(data(page)["frames"]["contacts"], "<f4").size == 0
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
