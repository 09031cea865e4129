"""Environments of gymnasium: its checker, one against many, seeds, clocks, ends, failures, pictures."""

import pickle
import subprocess
import sys
import warnings
from math import inf

import numpy as np
import pytest

import slipstick
from slipstick import envs

gymnasium = pytest.importorskip("gymnasium")
import slipstick.gym as sgym  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

# a robot's coordinates have no bounds that an observation could state; gymnasium's own robots say the same
EXPECTED = ("A Box observation space m",)
ALL = [(name, rules) for rules in ("smooth", "gymnasium") for name in envs.names(rules)]


def actions_of(environment, steps, seed=0):
    space = environment.action_space
    return np.random.default_rng(seed).uniform(space.low, space.high, (steps, *space.shape))


@pytest.mark.parametrize(("name", "rules"), ALL)
def test_gymnasiums_checker_has_nothing_to_say(name, rules):
    environment = gymnasium.make(sgym.environment_id(name), reward=rules, render_mode="rgb_array", width=64, height=48)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(environment.unwrapped)
    texts = [str(warning.message) for warning in said]
    assert not [text for text in texts if not any(word in text for word in EXPECTED)], texts


@pytest.mark.parametrize("name", envs.names())
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_many_are_what_each_would_be_alone(name, mode):
    """Bit for bit, through ends by falling and by the clock."""
    options = {"max_episode_steps": 25}
    many = sgym.make_vec(name, 3, threads=2, autoreset_mode=mode, **options)
    alone = gymnasium.vector.SyncVectorEnv([lambda: sgym.make(name, **options)] * 3, autoreset_mode=AutoresetMode(mode))
    first, _ = many.reset(seed=7)
    assert (first == alone.reset(seed=7)[0]).all()
    for actions in actions_of(many, 60):
        ours, theirs = many.step(actions), alone.step(actions)
        for a, b in zip(ours[:4], theirs[:4]):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype
        np.testing.assert_equal(set(ours[4]), set(theirs[4]))
        for word in ("status", "report", "reward_velocity", "final_obs"):
            if word in ours[4]:
                where = ours[4][f"_{word}"]
                np.testing.assert_array_equal(where, theirs[4][f"_{word}"])
                np.testing.assert_array_equal(list(ours[4][word][where]), list(theirs[4][word][where]))


def test_an_episode_that_has_ended_begins_anew_in_the_next_step():
    environment = sgym.make_vec("hopper", 2, max_episode_steps=3)
    assert environment.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    environment.reset(seed=0)
    actions = np.zeros((2, 3))
    for k in range(3):
        _, reward, terminated, truncated, _ = environment.step(actions)
        assert (truncated == (k == 2)).all() and not terminated.any()
    observation, reward, terminated, truncated, info = environment.step(actions)
    assert (reward == 0).all() and not (terminated | truncated).any() and info == {}
    q = environment.q
    assert (np.abs(q[:, 0]) < 0.05).all() and (observation == environment.task.observation(np, q, environment.v)).all()


def test_an_episode_that_has_ended_begins_anew_in_the_same_step():
    environment = sgym.make_vec("hopper", 2, max_episode_steps=3, autoreset_mode="SameStep")
    assert environment.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    environment.reset(seed=0)
    environment.step(np.zeros((2, 3)))
    environment.step(np.zeros((2, 3)))
    observation, reward, _, truncated, info = environment.step(np.zeros((2, 3)))
    assert truncated.all() and (reward > 0).all()
    assert (np.stack(info["final_obs"]) != observation).any(1).all()
    assert info["final_info"]["status"].tolist() == ["solved", "solved"]
    assert (observation == environment.task.observation(np, environment.q, environment.v)).all()


def test_without_autoreset_environments_are_reset_by_a_mask():
    environment = sgym.make_vec("hopper", 3, max_episode_steps=2, autoreset_mode="Disabled")
    environment.reset(seed=0)
    environment.step(np.zeros((3, 3)))
    assert environment.step(np.zeros((3, 3)))[3].all()
    before = environment.q
    environment.reset(options={"reset_mask": np.array([False, True, False])})
    after = environment.q
    assert (before == after).all(1).tolist() == [True, False, True]
    assert environment.step(np.zeros((3, 3)))[3].tolist() == [True, False, True]
    with pytest.raises(ValueError, match="reset_mask.*an array of 3 bool"):
        environment.reset(options={"reset_mask": [True, False, True]})
    with pytest.raises(ValueError, match="with a True among them"):
        environment.reset(options={"reset_mask": np.zeros(3, bool)})


def test_episodes_start_in_states_of_choice():
    many, one = sgym.make_vec("ant", 2), sgym.make("ant")
    q, v = (np.array(x) for x in many.task.start(np, np.random.default_rng(5).random((2, 28))))
    observations, _ = many.reset(seed=0, options={"q": q, "v": v})
    assert (many.q == q).all() and (many.v == v).all()
    assert (one.reset(options={"q": q[1], "v": v[1]})[0] == observations[1]).all()
    many.reset(options={"v": v + 1, "reset_mask": np.array([False, True])})
    assert (many.v == v + [[0], [1]]).all() and (many.q[1] == many.task.home).all()


def test_seeds_repeat_and_differ():
    environment = sgym.make("ant")

    def run(seed):
        out = [environment.reset(seed=seed)[0]]
        out += [environment.step(action)[0] for action in actions_of(environment, 5)]
        return np.array([*out, environment.reset()[0]])

    assert (run(3) == run(3)).all() and (run(3) != run(4)).any()
    many = sgym.make_vec("ant", 2)
    assert (many.reset(seed=[3, 9])[0][0] == environment.reset(seed=3)[0]).all()
    assert (many.reset()[0][0] != many.reset(seed=3)[0][0]).any()
    with pytest.raises(ValueError, match="a list of 2, got a list of 3"):
        many.reset(seed=[1, 2, 3])


def test_the_number_of_threads_changes_nothing():
    one, two = (sgym.make_vec("quadruped", 5, threads=k) for k in (1, 2))
    assert (one.reset(seed=0)[0] == two.reset(seed=0)[0]).all()
    for actions in actions_of(one, 10):
        assert (one.step(actions)[0] == two.step(actions)[0]).all()


def test_the_clock_truncates_and_the_fall_terminates():
    environment = sgym.make("cartpole_swingup")
    environment.reset(seed=0)
    ends = [environment.step(np.zeros(1))[2:4] for _ in range(240)]
    assert not any(terminated for terminated, _ in ends)
    assert [truncated for _, truncated in ends] == [False] * 239 + [True]

    hopper = sgym.make("hopper")
    hopper.reset(seed=0)
    steps = 0
    terminated = truncated = False
    while not terminated:
        _, _, terminated, truncated, _ = hopper.step(np.array([-1.0, -1.0, 1.0]))
        steps += 1
    assert steps < 200 and not truncated
    assert hopper.q[1] - 1.25 < -0.45


def test_gymnasiums_own_functions_make_them():
    one = gymnasium.make("slipstick/HalfCheetah-v0", reward="gymnasium", max_episode_steps=7)
    one.reset(seed=0)
    assert [one.step(one.action_space.sample())[3] for _ in range(7)] == [False] * 6 + [True]
    longer = gymnasium.make("slipstick/CartpoleSwingup-v0", max_episode_steps=300)
    longer.reset(seed=0)
    assert sum(longer.step(np.zeros(1))[3] for _ in range(299)) == 0
    many = gymnasium.make_vec("slipstick/Hopper-v0", num_envs=3, autoreset_mode="SameStep")
    assert isinstance(many.unwrapped, sgym.RobotVectorEnv) and many.spec.max_episode_steps == 1000
    counted = gymnasium.wrappers.vector.RecordEpisodeStatistics(sgym.make_vec("hopper", 2, max_episode_steps=4))
    counted.reset(seed=0)
    total = np.zeros(2)
    for _ in range(4):
        _, reward, _, _, info = counted.step(np.zeros((2, 3)))
        total += reward
    assert info["episode"]["l"].tolist() == [4, 4]
    np.testing.assert_allclose(info["episode"]["r"], total, rtol=1e-6)


def test_the_terms_of_the_reward_add_up():
    environment = sgym.make("humanoid")
    environment.reset(seed=0)
    for action in actions_of(environment, 5):
        *_, info = environment.step(action)
        _, reward, _, _, info = environment.step(action)
        terms = [value for word, value in info.items() if word.startswith("reward_")]
        assert len(terms) == len(environment.task.rewards) and sum(terms) == pytest.approx(reward, rel=1e-12)
        assert info["report"].shape == (len(slipstick.gradient.ControlStep.REPORT),)


def test_a_step_is_that_of_the_simulator():
    environment = sgym.make("quadruped")
    environment.reset(seed=2)
    q, v, task = environment.q, environment.v, environment.task
    action = np.linspace(-2, 2, 12)  # beyond ±1 counts as ±1
    environment.step(action)
    sim = slipstick.Simulator(task.robot)
    home = task.robot.keyframe("home").ctrl
    sim.reset(q=q, v=v)
    for _ in range(task.hold):
        sim.clear_warm_start()
        sim.step(ctrl=np.clip(home + 0.5 * np.clip(action, -1, 1), task.robot.ctrl_lower, task.robot.ctrl_upper))
    np.testing.assert_allclose(environment.q, sim.state.q, atol=1e-9)
    np.testing.assert_allclose(environment.v, sim.state.v, atol=1e-7)


def test_a_failed_step_ends_the_episode_and_says_so():
    environment = sgym.make("hopper")
    environment.reset(seed=0, options={"v": np.full(6, 1e150)})
    observation, reward, terminated, truncated, info = environment.step(np.zeros(3))
    assert (terminated, truncated, reward, info["status"]) == (True, False, 0.0, "failed")
    assert np.isfinite(observation).all() and info["reward_velocity"] == 0
    environment.reset(options={"q": [0, 50, 0, -0.5, -0.5, 0], "v": [2e3, 0, 0, 0, 0, 0]})
    _, reward, terminated, _, info = environment.step(np.zeros(3))
    assert (terminated, reward, info["status"]) == (True, 0.0, "diverged")
    environment.reset()
    assert environment.step(np.zeros(3))[4]["status"] == "solved"


def test_one_that_fails_does_not_touch_the_others():
    environment = sgym.make_vec("hopper", 3)
    environment.reset(seed=0)
    environment._worlds.v[1] = 1e150
    _, reward, terminated, _, info = environment.step(np.zeros((3, 3)))
    assert terminated.tolist() == [False, True, False] and info["status"].tolist() == ["solved", "failed", "solved"]
    environment.step(np.zeros((3, 3)))
    *_, info = environment.step(np.zeros((3, 3)))
    assert info["status"].tolist() == ["solved"] * 3


def test_what_is_wrong_is_said():
    environment = sgym.make("hopper")
    with pytest.raises(gymnasium.error.ResetNeeded, match="call env.reset"):
        environment.step(np.zeros(3))
    environment.reset(seed=0)
    with pytest.raises(ValueError, match=r"action: expected shape \(3,\), got \(2,\)"):
        environment.step(np.zeros(2))
    with pytest.raises(ValueError, match=r"action: expected finite numbers, got nan at \(1,\)"):
        environment.step(np.array([0, np.nan, 0]))
    with pytest.raises(TypeError, match="action: expected numbers of shape"):
        environment.step("forward")
    with pytest.raises(ValueError, match=r"options\['q'\]: expected shape \(6,\), got \(5,\)"):
        environment.reset(options={"q": np.zeros(5)})
    with pytest.raises(TypeError, match=r"options\['v'\]: expected numbers of shape"):
        environment.reset(options={"v": "fast"})
    with pytest.raises(ValueError, match=r"'rgb_array' or None, got 'human'.*replay\(\)\.save"):
        sgym.make("hopper", render_mode="human")
    with pytest.raises(ValueError, match="width, height: expected whole numbers of at least 1, got 0, 360"):
        sgym.make("hopper", render_mode="rgb_array", width=0)
    with pytest.raises(ValueError, match="num_envs: expected a whole number of at least 1, got 0"):
        sgym.make_vec("hopper", 0)
    with pytest.raises(ValueError, match="max_episode_steps: expected at least 1, got 0"):
        sgym.make("hopper", max_episode_steps=0)
    with pytest.raises(ValueError, match="autoreset_mode: expected one of NextStep, SameStep, Disabled, got 'never'"):
        sgym.make_vec("hopper", 2, autoreset_mode="never")
    with pytest.raises(ValueError, match="did you mean 'walker2d'"):
        sgym.make("walker")
    with pytest.raises(TypeError, match="hold: expected none beside a Spec"):
        sgym.make(envs.make_spec("hopper"), hold=3)
    many = sgym.make_vec("hopper", 2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        many.step(np.zeros((2, 3)))
    many.reset()
    with pytest.raises(ValueError, match=r"expected shape \(2, 3\), got \(3,\)"):
        many.step(np.zeros(3))


def test_a_missing_gymnasium_names_the_extra():
    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "try:\n    import slipstick.gym\n"
        "except ImportError as error:\n    assert 'pip install slipstick[gym]' in str(error)\n"
        "else:\n    raise SystemExit('no error')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", envs.names())
def test_pictures_show_the_robot(name):
    environment = sgym.make(name, render_mode="rgb_array")
    environment.reset(seed=0)
    picture = environment.render()
    assert picture.shape == (360, 480, 3) and picture.dtype == np.uint8
    assert (picture == environment.render()).all()
    colored = np.ptp(picture.astype(int), axis=2) > 60  # sky and ground are pale, robots are not
    assert 0.001 < colored.mean() < 0.3
    rows, columns = np.nonzero(colored)
    assert rows.min() > 0 and rows.max() < 359 and columns.min() > 0 and columns.max() < 479, "all of it is in the picture"


def test_pictures_follow_a_robot_that_runs_away():
    environment = sgym.make("half_cheetah", render_mode="rgb_array", max_episode_steps=inf)
    environment.reset(seed=0)
    near, q = environment.render(), environment.q
    environment.reset(options={"q": q + 100 * (np.arange(9) == 0)})
    # an even number of tiles further the ground looks the same, too
    assert np.abs(near.astype(int) - environment.render()).mean() < 1


def test_many_have_a_picture_each():
    many = sgym.make_vec("hopper", 2, render_mode="rgb_array", width=64, height=48)
    many.reset(seed=3)
    for k, picture in enumerate(many.render()):
        one = sgym.make("hopper", render_mode="rgb_array", width=64, height=48)
        one.reset(seed=3 + k)
        assert (picture == one.render()).all()


def test_without_a_render_mode_there_is_no_picture():
    environment = sgym.make("hopper")
    environment.reset()
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        assert environment.render() is None


def test_a_replay_has_the_last_episode():
    environment = sgym.make("hopper")
    environment.reset(seed=0)
    for _ in range(5):
        environment.step(np.zeros(3))
    assert len(environment.replay()) == 6
    environment.reset()
    assert len(environment.replay()) == 6  # until the next one has begun
    environment.step(np.zeros(3))
    assert len(environment.replay()) == 2
    assert "hopper" in environment.replay().html()


def test_environments_cross_to_other_processes():
    spec = envs.make_spec("hopper", hold=2)
    spec.robot  # is cached in it
    copy = pickle.loads(pickle.dumps(spec))
    assert copy == spec and copy.robot.content_hash == spec.robot.content_hash
    many = gymnasium.vector.AsyncVectorEnv([lambda: sgym.make("hopper")] * 2, context="spawn")  # threads do not survive a fork
    try:
        first, _ = many.reset(seed=0)
        assert (first == sgym.make_vec("hopper", 2).reset(seed=0)[0]).all()
    finally:
        many.close()
