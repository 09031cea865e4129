"""Policy learning: its estimates against sums, its gradient against differences, resets, resumed runs, and that it learns."""

import functools
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("optax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
from slipstick import envs, learn  # noqa: E402
from slipstick.learn import checkpoint, moments, networks, window  # noqa: E402
from slipstick.learn.commands import main  # noqa: E402
from slipstick.learn.diagnose import signal_to_noise  # noqa: E402
from slipstick.learn.environment import RIGID  # noqa: E402
from slipstick.learn.settings import changed  # noqa: E402
from slipstick.learn.targets import gae, td_lambda  # noqa: E402

GAMMA, LAMBDA = 0.97, 0.9


def random_window(seed, steps=12, n=5):
    """Rewards, values, values of next states and ends, with a last step that ends."""
    rng = np.random.default_rng(seed)
    r, V, V_next = rng.normal(size=(3, steps, n))
    end = rng.random((steps, n)) < 0.2
    end[-1] = True
    return r, V, V_next, end


def piece(end, t, i):
    """Steps from t to the end of its piece of an episode."""
    return range(t, t + int(np.argmax(end[t:, i])) + 1)


def test_td_lambda_is_the_weighted_sum_of_all_longer_returns():
    r, _, V_next, end = random_window(0)
    G = td_lambda(r, V_next, end, GAMMA, LAMBDA)
    for t, i in np.ndindex(*r.shape):
        steps = piece(end, t, i)
        returns = [
            sum(GAMMA ** (k - t) * r[k, i] for k in range(t, last + 1)) + GAMMA ** (last + 1 - t) * V_next[last, i]
            for last in steps
        ]
        weights = [(1 - LAMBDA) * LAMBDA**k for k in range(len(returns))]
        weights[-1] = LAMBDA ** (len(returns) - 1)
        assert np.isclose(G[t, i], np.dot(weights, returns), rtol=1e-12)


def test_advantages_are_discounted_sums_of_errors():
    r, V, V_next, end = random_window(1)
    A = gae(r, V, V_next, end, GAMMA, LAMBDA)
    delta = r + GAMMA * V_next - V
    for t, i in np.ndindex(*r.shape):
        expected = sum((GAMMA * LAMBDA) ** (k - t) * delta[k, i] for k in piece(end, t, i))
        assert np.isclose(A[t, i], expected, rtol=1e-12)


@pytest.fixture
def wide(monkeypatch):
    """Networks of 64 bits, so that differences are small against nothing but the formula."""
    exact = lambda m, x: (x - m.mean) / jnp.sqrt(m.var + moments.FLOOR)  # noqa: E731
    monkeypatch.setattr(window, "normalized", exact)


def small_problem(task, n=4, horizon=5, seed=0, **changes):
    """An environment, and the arguments of `window.objective` up to delta, in 64 bits."""
    env = learn.Environment(envs.make_spec(task, **changes))
    sizes = env.spec.observation_size, env.spec.action_size
    keys = jax.random.split(jax.random.key(seed), 4)
    actor = networks.Actor(networks.torch_like(keys[0], [sizes[0], 16, sizes[1]]), networks.first_log_std(sizes[1]))
    target = networks.orthogonal(keys[1], [sizes[0], 16, 1])
    noise = jax.random.normal(keys[2], (horizon, n, sizes[1]))
    wide = jax.tree.map(lambda x: x.astype(jnp.float64), (actor, target))
    return env, (*wide, moments.first_moments(sizes[0]), env.reset(keys[3], n), noise)


def test_the_gradient_is_that_of_differences_and_of_plain_backpropagation(wide):
    env, (actor, *given) = small_problem("hopper", seed=3)
    noise = given[-1]
    go = jax.jit(lambda actor, delta: window.objective(env, GAMMA, actor, *given, delta, RIGID)[0])
    _, lam, _, seen = jax.jit(lambda: window.cotangents(env, GAMMA, actor, *given, RIGID))()
    # a step of 1e-4: the engine's tolerance of 1e-10 is 1e-6 of it
    rng, h = np.random.default_rng(0), 1e-4
    for _ in range(3):
        direction = rng.normal(size=lam.shape)
        difference = (go(actor, h * direction) - go(actor, -h * direction)) / (2 * h)
        assert np.isclose((lam * direction).sum(), difference, rtol=1e-5, atol=1e-6)
    ours = window.weights_gradient(actor, seen, lam)
    plain = jax.jit(jax.grad(go))(actor, jnp.zeros_like(noise))
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(plain)):
        np.testing.assert_allclose(a, b, atol=1e-13, rtol=1e-9)


def test_no_gradient_crosses_a_reset():
    env, (_, _, _, state, _) = small_problem("hopper")
    state = state._replace(clock=state.clock.at[0].set(env.spec.length - 2))
    last_reward = lambda actions: jax.lax.scan(env.step, state, actions)[1].reward[-1].sum()  # noqa: E731
    gradient = jax.jit(jax.grad(last_reward))(0.1 * jnp.ones((3, 4, env.spec.action_size)))
    assert (gradient[:2, 0] == 0).all() and (gradient[2, 0] != 0).any()
    assert (abs(gradient[:2, 1:]).max((0, 2)) > 0).all()


def test_a_fall_is_worth_nothing_and_the_clock_is_worth_what_would_follow(wide):
    for changes, by_clock in (dict(lowest=10.0), False), (dict(length=1), True):
        env, given = small_problem("hopper", **changes)
        go = jax.jit(lambda: window.objective(env, GAMMA, *given, jnp.zeros_like(given[-1]), RIGID))  # noqa: B023
        loss, (state, seen) = go()
        assert seen.end.all() and (state.clock == 0).all() and (seen.terminated == (not by_clock)).all()
        scale = np.sqrt(1 + moments.FLOOR)
        V = networks.value(given[1], seen.obs_end / scale) if by_clock else jnp.zeros_like(seen.reward)
        np.testing.assert_allclose(seen.value_next, V, rtol=1e-12)
        assert np.isclose(loss, -(seen.reward + GAMMA * V).mean(), rtol=1e-12)


def test_an_environment_that_the_engine_gives_up_is_ended_and_counted():
    env, (_, _, _, state, _) = small_problem("hopper")
    state = state._replace(v=state.v.at[0, 0].set(1e9))
    after, out = env.step(state, jnp.zeros((4, env.spec.action_size)))
    assert list(out.failed) == [True, False, False, False] and out.terminated[0] and not out.truncated[0]
    assert abs(after.v[0]).max() < 1 and after.clock[0] == 0


def test_single_environments_are_cut_at_medians():
    lam = jnp.asarray([1.0, 1.0, 2.0, 100.0, 0.0])[None, :, None]
    cut, norms = window.cut(lam, 4.0)
    assert list(norms) == [1, 1, 2, 100, 0] and list(cut[0, :, 0]) == [1, 1, 2, 4, 0]
    assert list(window.cut(jnp.zeros((1, 3, 1)).at[0, 0, 0].set(5.0), 4.0)[0][0, :, 0]) == [5, 0, 0]


def tiny_run(algorithm="shac", samples=640, **changes):
    small = dict(envs=8, horizon=8, actor=(8,), critic=(8,))
    small |= dict(critic_passes=2) if algorithm == "shac" else dict(epochs=2, minibatch=32)
    settings = learn.settings_for(algorithm, "cartpole_swingup", **small, **changes)
    return learn.Run(
        task="cartpole_swingup", algorithm=algorithm, settings=settings, seed=0, samples=samples, task_changes={}
    )


def test_signal_to_noise_grows_with_the_root_of_the_number_of_environments():
    noise = np.random.default_rng(0).normal(size=(1, 10_000, 1))
    few, many = (signal_to_noise(1 + noise[:, :n]) for n in (400, 10_000))
    assert np.isclose(few, 20, rtol=0.15) and np.isclose(many, 100, rtol=0.15)


@functools.cache
def tiny_trainer():
    return learn.Trainer(tiny_run(), evaluate_every=192, quiet=True)


def leaves(path):
    return checkpoint.load(path)[2]


def same(a, b):
    return len(a) == len(b) and all(x.tobytes() == y.tobytes() for x, y in zip(a, b))


def train_and_copy(trainer, run, folder, half):
    """A whole run; `half` becomes its checkpoint after the first block."""
    evaluate = trainer.evaluate

    def copying(*arguments):
        if (folder / "last.npz").is_file() and not half.is_file():
            shutil.copy(folder / "last.npz", half)
        return evaluate(*arguments)

    trainer.evaluate = copying
    trainer.train(run, folder)
    trainer.evaluate = evaluate
    return leaves(folder / "last.npz")


def test_a_rerun_and_a_resumed_run_have_the_same_bits(tmp_path):
    run, half = tiny_run("ppo"), tmp_path / "half.npz"
    trainer = learn.Trainer(run, evaluate_every=192, quiet=True)
    whole = train_and_copy(trainer, run, tmp_path / "whole", half)
    trainer.block = 10**6  # other evaluations change nothing
    trainer.train(run, tmp_path / "again")
    learn.resume(half, folder=tmp_path / "resumed", trainer=trainer)
    assert same(whole, leaves(tmp_path / "again" / "last.npz")) and not same(whole, leaves(half))
    assert same(whole, leaves(tmp_path / "resumed" / "last.npz"))


def test_what_is_not_finite_ends_the_run_and_can_be_seen_again(tmp_path):
    trainer, run = tiny_trainer(), tiny_run()
    broken = trainer.first(0)
    broken = broken._replace(target=jax.tree.map(lambda x: x * jnp.nan, broken.target))
    with pytest.raises(learn.NotFinite, match="python -m slipstick.learn resume") as error:
        trainer.train(run, tmp_path, broken)
    with pytest.raises(learn.NotFinite):
        learn.resume(error.value.path, trainer=trainer)


def test_the_program_resumes_bit_for_bit_in_a_new_process_plays_and_compares(tmp_path, capsys, monkeypatch):
    half, folder = tmp_path / "half.npz", tmp_path / "runs" / "seed-0"
    whole = train_and_copy(tiny_trainer(), tiny_run(), folder, half)
    # with the same flags of XLA as here
    environment = {**os.environ, "XLA_FLAGS": os.environ.get("XLA_FLAGS", "")}
    command = [sys.executable, "-m", "slipstick.learn", "resume", str(half), "--out", str(tmp_path / "runs" / "seed-1")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "samples/s" in done.stdout, done.stdout + done.stderr
    assert same(whole, leaves(tmp_path / "runs" / "seed-1" / "last.npz"))

    monkeypatch.chdir(tmp_path)
    assert main(["play", str(folder / "last.npz"), "--start", "3"]) == 0
    assert "mean speed" in capsys.readouterr().out and (folder / "last.html").stat().st_size > 1e5
    assert main(["compare", "runs", "--reach", "-5000"]) == 0
    assert "| runs | 2 | 640 |" in capsys.readouterr().out and (tmp_path / "compare.svg").is_file()
    words = ["--envs", "4", "--horizons", "2", "--holds", "--smoothing", "--cut", "1"]
    assert main(["diagnose", str(folder / "last.npz"), *words]) == 0
    assert "| horizon 2 |" in capsys.readouterr().out
    assert main(["train", "cartpole_swingup", "--out", "x", "--set", "horizn=3"]) == 2
    assert "did you mean 'horizon'?" in capsys.readouterr().err
    np.savez("other.npz", x=1.0)
    (tmp_path / "text.npz").write_text("x")
    for file in ("nowhere.npz", "other.npz", "text.npz", "compare.svg"):
        assert main(["resume", file]) == 2 and file in capsys.readouterr().err


def test_a_half_cheetah_learns_to_run_in_a_minute_of_its_life(tmp_path):
    settings = learn.settings_for("shac", "half_cheetah")
    run = learn.Run(
        task="half_cheetah", algorithm="shac", settings=settings, seed=0, samples=51_200, task_changes={}
    )
    trainer = learn.Trainer(run, evaluate_every=51_200, threads=2)
    state = trainer.train(run, tmp_path)
    result = trainer.evaluate(state.actor, state.moments)
    assert result.good.all() and result.returns.mean() > 2500, result.returns


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["horizon=0"], "at least 1"),
        (["horizon=many"], "expected a value like 16"),
        (["minibatches=7"], "expected a divisor of envs · horizon = 1024"),
        (["alpha=99"], "from 0 to 1"),
        (["envs"], "expected envs=VALUE"),
    ],
)
def test_wrong_settings_are_refused(words, text):
    with pytest.raises(ValueError, match=text):
        changed(learn.settings_for("shac", "half_cheetah"), words)


def test_schedules_are_read_and_traced():
    settings = changed(learn.settings_for("shac", "hopper"), ["smoothing=0:0.3,0.5:0", "compliance=0.1", "actor=8,4"])
    assert settings.smoothing == ((0.0, 0.3), (0.5, 0.0)) and settings.actor == (8, 4)
    assert replace(settings, smoothing=()).compliance == ((0.0, 0.1),)
    env, (*_, state, _) = small_problem("hopper", n=32)
    action = 0.1 * jnp.ones((32, env.spec.action_size))
    speed = lambda a, compliance: env.step(state, a, learn.Softening(jnp.asarray(0.1), compliance))[1].reward.sum()  # noqa: E731
    go = jax.jit(jax.value_and_grad(speed))
    (rigid, _), (soft, gradient) = go(action, 0.0), go(action, 0.1)
    assert rigid != soft and np.isfinite(gradient).all()
