"""Tasks as pure functions: rewards by hand and against gymnasium's, starts, ends, numpy against JAX."""

import importlib.util
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from math import pi
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import slipstick
from slipstick import envs

REPOSITORY = Path(__file__).resolve().parents[2]
ALL = [(name, rules) for rules in ("smooth", "gymnasium") for name in envs.names(rules)]
PEERS = {
    "hopper": ("Hopper-v5", {}),
    "half_cheetah": ("HalfCheetah-v5", {}),
    "walker2d": ("Walker2d-v5", {}),
    "ant": ("Ant-v5", {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.0}),
    "humanoid": (
        "Humanoid-v5",
        {
            "include_cinert_in_observation": False,
            "include_cvel_in_observation": False,
            "include_qfrc_actuator_in_observation": False,
            "include_cfrc_ext_in_observation": False,
            "contact_cost_weight": 0.0,
        },
    ),
}


def starts(spec, n=50):
    return spec.start(np, np.random.default_rng(3).random((n, spec.start_size)))


def worth(spec, q, v, action=0.0):
    """The terms of the reward for ending in (q, v)."""
    q, v = np.array(q, float), np.array(v, float)
    a = np.broadcast_to(float(action), (spec.action_size,))
    return {name: float(term) for name, term in spec.reward_terms(np, q, v, a, q, v).items()}


def test_the_cartpole_is_worth_what_the_paper_says():
    spec = envs.make_spec("cartpole_swingup")
    assert worth(spec, [0, 0], [0, 0]) == {"angle": 0, "spin": 0, "position": 0, "speed": 0}
    terms = worth(spec, [-1.5, 0.5], [2, -3])
    assert terms == pytest.approx({"angle": -0.25, "spin": -0.9, "position": -0.1125, "speed": -0.04}, abs=1e-15)
    assert worth(spec, [0, 2 * pi + 0.5], [0, 0])["angle"] == pytest.approx(-0.25)
    assert worth(spec, [0, pi], [0, 0])["angle"] == pytest.approx(-(pi**2))
    assert (spec.length, spec.observation_size, spec.action_size) == (240, 5, 1)
    assert spec.period == pytest.approx(1 / 60)
    np.testing.assert_allclose(spec.observation(np, np.array([0.3, pi / 6]), np.array([1.0, 2.0])), [0.3, 1, 0.5, 0.75**0.5, 2])


def test_the_hopper_is_worth_what_the_paper_says():
    spec = envs.make_spec("hopper")
    standing = [7, 1.25, 0, 0, 0, 0]
    assert worth(spec, standing, [2, 0, 0, 0, 0, 0]) == pytest.approx({"velocity": 2, "height": 0.3, "posture": 1, "effort": 0})
    low = worth(spec, [0, 1.25 - 0.4, pi / 12, 0, 0, 0], [0] * 6, action=0.5)
    assert low == pytest.approx({"velocity": 0, "height": -200 * 0.1**2, "posture": 0.75, "effort": -0.1 * 3 * 0.25})
    assert worth(spec, [0, -5, 0, 0, 0, 0], [0] * 6)["height"] == -200
    assert not spec.terminated(np, np.array([0, 0.81, 0, 0, 0, 0]), np.zeros(6))
    assert spec.terminated(np, np.array([0, 0.79, 0, 0, 0, 0]), np.zeros(6))
    seen = spec.observation(np, np.array([9, 1.35, 0.1, 0.2, 0.3, 0.4]), np.arange(6.0))
    np.testing.assert_allclose(seen, [0.1, 0.1, 0.2, 0.3, 0.4, *range(6)])
    assert (spec.length, spec.observation_size, spec.action_size) == (1000, 11, 3)


def test_a_half_cheetah_on_its_back_has_failed():
    spec = envs.make_spec("half_cheetah")
    q = np.zeros((2, 9))
    q[1, 2] = pi
    assert spec.terminated(np, q, np.zeros((2, 9))).tolist() == [False, True]
    assert worth(spec, q[1], [3] + [0] * 8)["posture"] == 1 - 36


def test_free_robots_look_ahead_and_up():
    for name, height in (("ant", 0.5 - 0.27), ("quadruped", 0.5 - 0.17)):
        spec = envs.make_spec(name)
        q, v = np.array(spec.home), np.zeros(spec.robot.nv)
        q[2], v[0] = 0.5, 1.5
        terms = {"velocity": 1.5, "up": 0.1, "heading": 1, "height": height}
        assert worth(spec, q, v) == pytest.approx({**terms, **{word: 0 for word in spec.rewards if word == "effort"}})
        q[3:7] = [np.cos(pi / 4), 0, 0, np.sin(pi / 4)]  # a quarter turn to the left
        assert worth(spec, q, v)["heading"] == pytest.approx(0, abs=1e-15)
        assert worth(spec, q, v)["up"] == pytest.approx(0.1)
        q[3:7] = [0, 1, 0, 0]  # upside down, still heading along x
        assert worth(spec, q, v)["up"] == pytest.approx(-0.1)
        assert worth(spec, q, v)["heading"] == pytest.approx(1)


def test_the_directions_are_those_of_the_engine():
    spec = envs.make_spec("quadruped")
    for q, v in zip(*starts(spec)):
        rotation = slipstick.dynamics.kinematics(spec.robot, q).rotation[1]
        up, heading = spec.observation(np, q, v)[-2:]
        assert (up, heading) == pytest.approx((rotation[2, 2], rotation[0, 0]), abs=1e-12)


def test_a_humanoid_gains_by_standing_up():
    spec = envs.make_spec("humanoid")
    q, v = np.array(spec.home), np.zeros(27)
    heights = {1.282: 1.0, 0.89: 0.5, 0.84: 0.0, 0.79: -200 * 0.05**2}
    for z, expected in heights.items():
        q[2] = z
        assert worth(spec, q, v, action=1)["height"] == pytest.approx(expected)
    assert worth(spec, q, v, action=1)["effort"] == pytest.approx(-0.002 * 21)


@pytest.mark.parametrize(("name", "rules"), ALL)
def test_starts_are_alive_within_limits_and_as_wide_as_they_say(name, rules):
    spec = envs.make_spec(name, reward=rules)
    q, v = starts(spec, 400)
    assert q.shape == (400, spec.robot.nq) and v.shape == (400, spec.robot.nv)
    lower, upper = spec.joint_range
    assert (lower <= q).all() and (q <= upper).all()
    assert not spec.terminated(np, q, v).any()
    assert np.abs(v).max() == pytest.approx(spec.velocity_noise, rel=0.01)
    assert spec.observation(np, q, v).shape == (400, spec.observation_size)
    action = np.zeros((400, spec.action_size))
    terms = spec.reward_terms(np, q, v, action, q, v)
    assert list(terms) == list(spec.rewards), "the page names them all"
    assert all(term.shape == (400,) for term in terms.values()) and spec.reward(np, q, v, action, q, v).shape == (400,)
    if spec.robot.nq > spec.robot.nv:
        np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1, atol=1e-14)


def test_hoppers_start_on_a_straight_leg_that_bends_one_way_only():
    q, _ = starts(envs.make_spec("hopper"), 200)
    assert np.abs(q[:, 2]).max() < 0.05 and (q[:, 3:5] <= 0).all()
    assert 0.3 < (q[:, 3] == 0).mean() < 0.7  # noise beyond the limit ends at it


@pytest.mark.parametrize("name", PEERS)
def test_gymnasiums_rules_are_gymnasiums(name, monkeypatch):
    gymnasium = pytest.importorskip("gymnasium")
    if importlib.util.find_spec("imageio") is None:  # which gymnasium imports beside MuJoCo, to save screenshots
        monkeypatch.setitem(sys.modules, "imageio", ModuleType("imageio"))
    environment, options = PEERS[name]
    peer = gymnasium.make(environment, **options).unwrapped
    spec = envs.make_spec(name, reward="gymnasium")
    assert peer.dt == pytest.approx(spec.period, rel=1e-12)
    rng = np.random.default_rng(0)
    ends = []
    for k in range(60):
        q = np.array(peer.init_qpos) + 0.02 * 2 ** (k % 5) * rng.normal(size=peer.model.nq)
        if name in ("ant", "humanoid"):
            q[3:7] /= np.linalg.norm(q[3:7])
        v = 6 * rng.normal(size=peer.model.nv)
        action = rng.uniform(-1, 1, peer.model.nu)
        before = q - 0.1 * rng.normal() * (np.arange(q.size) == 0)
        peer.set_state(q, v)
        peer.data.ctrl[:] = spec.action_scale * action
        reward, terms = peer._get_rew((q[0] - before[0]) / peer.dt, action)
        np.testing.assert_allclose(spec.observation(np, q, v), peer._get_obs(), atol=1e-14)
        assert float(spec.reward(np, before, v, action, q, v)) == pytest.approx(float(reward), rel=1e-12)
        ours = spec.reward_terms(np, before, v, action, q, v)
        for word, term in ours.items():
            assert float(term) == pytest.approx(float(terms[f"reward_{word}"]), rel=1e-12)
        healthy = bool(getattr(peer, "is_healthy", True))
        assert bool(spec.fallen(np, q, v)) is not healthy
        ends.append(healthy)
    assert name == "half_cheetah" or 0 < np.mean(ends) < 1, "both sides are tested"


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.parametrize(("name", "rules"), ALL)
def test_numpy_and_jax_agree(name, rules):
    import jax
    import jax.numpy as jnp

    spec = envs.make_spec(name, reward=rules)
    rng = np.random.default_rng(0)
    uniform, later = rng.random((2, 8, spec.start_size))
    action = rng.uniform(-1, 1, (8, spec.action_size))

    def everything(xp, uniform, later, action):
        (q, v), (q_next, v_next) = spec.start(xp, uniform), spec.start(xp, later)
        reward = spec.reward(xp, q, v, action, q_next, v_next)
        seen, ended = spec.observation(xp, q, v), spec.terminated(xp, q, v)
        return q, v, seen, spec.controls(xp, action), reward, ended

    with jax.enable_x64(True):
        compiled = jax.jit(lambda *x: everything(jnp, *x))(uniform, later, action)
        for ours, theirs in zip(everything(np, uniform, later, action), compiled):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)
        one = [np.asarray(x[0]) for x in (uniform, later, action)]  # without leading axes, too
        np.testing.assert_allclose(everything(np, *one)[4], compiled[4][0], rtol=1e-13, atol=1e-13)
        (q, v), (q_next, v_next) = spec.start(np, uniform), spec.start(np, later)
        value = lambda a, q1, v1: spec.reward(jnp, q, v, a, q1, v1).sum()
        gradient = jax.jit(jax.grad(value, argnums=(0, 1, 2)))(action, q_next, v_next)
        assert all(bool(jnp.isfinite(g).all()) for g in gradient)


def test_a_state_beyond_physics_ends_an_episode():
    spec = envs.make_spec("ant")
    q, v = starts(spec, 3)
    v[1, 4], q[2, 0] = 2e3, np.nan
    assert spec.terminated(np, q, v).tolist() == [False, True, True]


def test_specs_are_values():
    spec = envs.make_spec("hopper", hold=8, dt=1 / 480)
    assert spec.period == pytest.approx(1 / 60) and spec.robot.dt == 1 / 480
    assert spec == envs.make_spec("hopper", hold=8, dt=1 / 480) and hash(spec) != hash(envs.make_spec("hopper"))
    assert replace(spec, length=10).length == 10
    with pytest.raises(FrozenInstanceError):
        spec.hold = 2
    own = envs.make_spec("hopper", model=lambda: slipstick.builtin("hopper").with_friction(0.1))
    assert own.robot.geom("foot").friction < envs.make_spec("hopper").robot.geom("foot").friction


def test_wrong_words_name_the_nearest():
    with pytest.raises(ValueError, match="'hoper'.*expected one of.*did you mean 'hopper'"):
        envs.make_spec("hoper")
    with pytest.raises(TypeError, match="no option 'hould'.*did you mean 'hold'"):
        envs.make_spec("hopper", hould=3)
    with pytest.raises(ValueError, match="reward: expected one of smooth, gymnasium, got 'gymnasum'; did you mean"):
        envs.make_spec("hopper", reward="gymnasum")
    with pytest.raises(ValueError, match="'quadruped' with reward 'gymnasium': expected one of hopper"):
        envs.make_spec("quadruped", reward="gymnasium")
    with pytest.raises(ValueError, match="hold: expected a whole number of at least 1, got 0"):
        envs.make_spec("hopper", hold=0)
    with pytest.raises(TypeError, match="no option 'version'"):
        envs.make_spec("hopper", version=3)


def test_the_page_has_the_tables_of_the_specs():
    page = REPOSITORY / "docs" / "guide" / "environments.md"
    if not page.is_file():
        pytest.skip("the tests run outside the repository")
    for text in envs.tables().values():
        assert text in page.read_text(encoding="utf-8"), "paste what `python -m slipstick.envs` prints"


def test_gymnasium_is_not_imported_before_it_is_asked_for():
    code = "import sys, slipstick.envs; assert 'gymnasium' not in sys.modules and 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
