"""Geoms that overlap where a robot starts: what loading says and does about it."""

import warnings

import pytest

import slipstick
import slipstick.errors

# the shoulder turns about the vertical and stays 27 mm in the floor; the fist can leave the post
ARM = """<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1"/>
  <geom name="post" pos=".5 0 .3" size=".05"/>
  <body name="shoulder" pos="0 0 .033"><joint name="yaw" axis="0 0 1"/><geom name="hull" size=".06"/>
    <body name="fist" pos=".45 0 .3"><joint name="wrist" axis="0 1 0"/><geom name="knuckle" size=".03"/></body></body>
  <body name="foot" pos="3 0 .0995"><freejoint/><geom name="sole" size=".1"/></body>
  <body name="sunk" pos="-3 0 0"><freejoint/><geom name="belly" size=".1"/></body></worldbody></mujoco>"""


def quiet(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return slipstick.loads(ARM, **options)


def pairs(model):
    return {frozenset(model.geom(int(g)).name for g in pair) for pair in model.pairs}


def test_a_warning_names_the_deepest_pairs():
    with pytest.warns(slipstick.errors.LoadWarning, match="3 pairs of geoms that overlap at the start"):
        model = slipstick.loads(ARM)
    (warning,) = model.warnings
    assert "'floor' and 'belly' (100.0 mm), 'floor' and 'hull' (27.0 mm, in every pose), 'post' and 'knuckle' (20.1 mm)" in warning.effect
    assert "sole" not in warning.effect and "overlap='exclude'" in warning.effect
    assert frozenset({"floor", "hull"}) in pairs(model)


def test_overlaps_of_every_pose_can_be_excluded():
    model = quiet(overlap="exclude")
    assert pairs(quiet()) - pairs(model) == {frozenset({"floor", "hull"}), frozenset({"post", "hull"})}
    assert len(model.warnings) == 1 and "hull" not in model.warnings[0].effect
    again = slipstick.loads(model.to_mjcf(), overlap="exclude")
    assert pairs(again) == pairs(model)


def test_overlaps_can_be_refused():
    with pytest.raises(slipstick.LoadError, match="no geoms that overlap at the start, got 3: 'floor' and 'belly'"):
        slipstick.loads(ARM, overlap="error")
    with pytest.raises(ValueError, match="overlap: expected 'keep', 'exclude' or 'error', got 'drop'"):
        slipstick.loads(ARM, overlap="drop")


def test_built_in_robots_rest():
    for name in slipstick.builtin_names():
        assert not slipstick.builtin(name).warnings
