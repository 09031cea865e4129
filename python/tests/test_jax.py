"""slipstick in JAX: transformations of steps against differences, against Rust and against each other."""

import functools
import os
import subprocess
import sys

import numpy as np
import pytest
import slipstick
from contact_layers import CONES, KINDS, problems
from moving_contact import far_from_changes, robot, states
from slipstick import ncp
from slipstick.gradient import ControlStep, RolloutGradient

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import slipstick.jax as sj  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

FULL = os.environ.get("SLIPSTICK_FULL") == "1"


@pytest.mark.parametrize("residuals", ["stored", "recompute"])
@pytest.mark.parametrize("name", ["hopper", "quadruped", "gripper"])
def test_gradients_of_moving_contact_are_those_of_differences(name, residuals):
    model = robot(name)
    for q, v, ctrl in zip(*far_from_changes(name, 6 if FULL else 2)):
        unscaled = lambda q, v, ctrl: sj.step(model, q, v, ctrl, residuals=residuals)[:2]  # noqa: E731
        check_grads(unscaled, (q, v, ctrl), order=1, modes=("fwd", "rev"), eps=1e-6, atol=2e-4, rtol=2e-4)


def test_states_at_rest_have_the_mean_of_both_sides():
    model = robot("quadruped")
    sim, ctrl = slipstick.Simulator(model), model.keyframe("home").ctrl
    sim.rollout(1500, ctrl=ctrl)
    q, v = sim.state
    step = slipstick.step(model, q, v, ctrl=ctrl)
    mean = step.jacobian(sides="mean", length=1e-9)  # farther than that joints stop to stick
    next_v = lambda v, ctrl: sj.step(model, q, v, ctrl).v  # noqa: E731
    by_v, by_ctrl = jax.jacrev(next_v, argnums=(0, 1))(v, ctrl)
    assert np.allclose(by_v, mean.dv_dv, atol=1e-5) and np.allclose(by_ctrl, mean.dv_dctrl, atol=1e-5)


def test_a_gradient_through_a_rollout_is_that_of_rust():
    model, steps = robot("hopper"), 200
    (q,), (v,), _ = states("hopper", 1)
    ctrl = 0.3 * np.random.default_rng(2).normal(size=(steps, model.nu))
    w = np.arange(1.0, model.nv + 1)
    # the exact reference starts every step cold, as JAX does
    grad_q, grad_v, grad_ctrl = w * 0, w.copy(), []
    path = [(q, v)]
    for u in ctrl:
        after = ControlStep(model).step(path[-1][0][None], path[-1][1][None], u[None])
        path.append((after.q[0], after.v[0]))
    for (q_, v_), u in zip(path[-2::-1], ctrl[::-1]):
        grad = ControlStep(model).vjp(q_[None], v_[None], u[None], wq=grad_q[None], wv=grad_v[None])
        grad_q, grad_v = grad.q[0], grad.v[0]
        grad_ctrl.append(grad.ctrl[0])
    loss = lambda q, v, ctrl: sj.rollout(model, q, v, ctrl).v[-1] @ w  # noqa: E731
    found = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(q, v, ctrl)
    for a, b in zip(found, (grad_q, grad_v, np.array(grad_ctrl[::-1]))):
        assert np.abs(a - b).max() <= 1e-10 * np.abs(b).max()


def test_a_rollout_that_starts_warm_has_nearly_the_same_gradient():
    model, steps = robot("hopper"), 30
    (q,), (v,), _ = states("hopper", 1)
    ctrl = 0.3 * np.random.default_rng(2).normal(size=(steps, model.nu))
    rollout = RolloutGradient(model, steps)
    end = rollout.run(q, v, ctrl=ctrl)
    run = sj.rollout(model, q, v, ctrl)
    assert np.allclose(run.v[-1], end.v[-1], atol=1e-8)
    grad = rollout.vjp(v=np.ones((steps + 1, model.nv)))
    found = jax.grad(lambda ctrl: sj.rollout(model, q, v, ctrl).v.sum())(ctrl)
    assert np.abs(found - grad.ctrl).max() < 1e-6 * np.abs(grad.ctrl).max()


def test_two_rollouts_in_one_loss_do_not_disturb_each_other():
    model = robot("hopper")
    q, v, _ = states("hopper", 3)
    one, two = 0.2 * np.random.default_rng(4).normal(size=(2, 10, 3, model.nu))
    end = lambda ctrl: (sj.rollout(model, q, v, ctrl, hold=2).v[-1] ** 2).sum()  # noqa: E731
    both = jax.grad(lambda a, b: end(a) * end(b), argnums=(0, 1))(one, two)
    assert np.allclose(both[0], jax.grad(end)(one) * end(two), rtol=1e-12)
    assert np.allclose(both[1], jax.grad(end)(two) * end(one), rtol=1e-12)


@pytest.mark.parametrize("residuals", ["stored", "recompute"])
def test_jit_vmap_scan_and_checkpoint_change_nothing(residuals):
    model = robot("quadruped")
    q, v, ctrl = states("quadruped", 4)
    step = functools.partial(sj.step, model, hold=2, residuals=residuals)
    loss = lambda q, v, u: (step(q, v, u).v ** 2).sum() + step(q, v, u).q[..., 2].sum()  # noqa: E731
    expected = jax.grad(loss, argnums=(0, 1, 2))(q, v, ctrl)
    for function in [
        jax.jit(jax.grad(loss, argnums=(0, 1, 2))),
        jax.vmap(jax.grad(loss, argnums=(0, 1, 2))),
        jax.jit(jax.vmap(jax.grad(loss, argnums=(0, 1, 2)))),
        jax.grad(jax.checkpoint(loss), argnums=(0, 1, 2)),
        jax.grad(lambda *x: jax.vmap(loss)(*x).sum(), argnums=(0, 1, 2)),
    ]:
        for a, b in zip(function(q, v, ctrl), expected):
            assert np.allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max())
    two = jax.vmap(lambda u: loss(q, v, u))(jnp.stack([ctrl, ctrl + 0.01]))
    assert np.allclose(two, [loss(q, v, ctrl), loss(q, v, ctrl + 0.01)], rtol=1e-12)


def test_forward_and_reverse_agree():
    model = robot("gripper")
    (q,), (v,), (ctrl,) = states("gripper", 1)
    for residuals in ("stored", "recompute"):
        step = lambda u: sj.step(model, q, v, u, hold=3, residuals=residuals).v  # noqa: B023, E731
        assert np.allclose(jax.jacfwd(step)(ctrl), jax.jacrev(step)(ctrl), atol=1e-9)


@pytest.mark.parametrize("name", ["hopper"])
def test_parameters_and_forces_are_differentiable(name):
    model = robot(name)
    q, v, ctrl = states(name, 2, seed=5)
    numbers, tau = model.parameters, np.zeros((2, model.nv))
    end = lambda p, tau: (sj.step(model, q, v, ctrl, hold=2, parameters=p, tau=tau).v[:, :3] ** 2).sum()  # noqa: E731
    by_parameters, by_tau = jax.grad(end, argnums=(0, 1))(numbers, tau)
    forward = jax.jvp(lambda p: end(p, tau), (numbers,), (np.ones_like(numbers),))[1]
    assert float(forward) == pytest.approx(float(by_parameters.sum()), rel=1e-9)
    each = jax.vmap(jax.grad(lambda p, q, v, u: (sj.step(model, q, v, u, hold=2, parameters=p).v[:3] ** 2).sum()), (None, 0, 0, 0))
    assert np.allclose(each(numbers, q, v, ctrl).sum(0), by_parameters, rtol=1e-9, atol=1e-9)
    for label in ["inertial/torso/m", "friction/floor", "gravity/z"]:
        k, h = model.parameter_index(label), 1e-6
        change = h * np.eye(len(numbers))[k]
        quotient = (end(numbers + change, tau) - end(numbers - change, tau)) / (2 * h)
        assert float(by_parameters[k]) == pytest.approx(float(quotient), rel=1e-4, abs=1e-6), label
    push = np.zeros_like(tau)
    push[0, 0] = 1e-4
    assert float(by_tau[0, 0]) == pytest.approx(float((end(numbers, push) - end(numbers, -push)) / 2e-4), rel=1e-4)


def test_smoothing_may_be_traced_and_differs_from_row_to_row():
    model = robot("hopper")
    q, v, ctrl = states("hopper", 3)
    gradient = jax.jit(jax.grad(lambda u, w: (sj.step(model, q, v, u, smoothing=w).v ** 2).sum()))
    exact, soft = gradient(ctrl, 0.0), gradient(ctrl, 0.2)
    assert np.array_equal(exact, jax.grad(lambda u: (sj.step(model, q, v, u).v ** 2).sum())(ctrl))
    mixed = gradient(ctrl, np.array([0.0, 0.2, 0.0]))
    assert np.array_equal(mixed[0], exact[0]) and np.array_equal(mixed[1], soft[1]) and not np.allclose(exact[1], soft[1])
    assert np.array_equal(sj.step(model, q, v, ctrl, smoothing=0.2).v, sj.step(model, q, v, ctrl).v)


def test_failed_rows_have_a_status_and_no_gradient():
    model = robot("hopper")
    q, v, ctrl = states("hopper", 3)
    v[1, 0] = 1e9
    after = sj.step(model, q, v, ctrl)
    assert [sj.STATUS[k] for k in after.status] == ["solved", "failed", "solved"] and np.isfinite(after.v).all()
    for residuals in ("stored", "recompute"):
        grad = jax.grad(lambda u: sj.step(model, q, v, u, residuals=residuals).v.sum())(ctrl)  # noqa: B023
        assert not grad[1].any() and grad[0].any() and np.isfinite(grad).all()


def test_quaternions_are_normalized_inside():
    model = robot("quadruped")
    (q,), (v,), (ctrl,) = states("quadruped", 1)
    longer = q.copy()
    longer[3:7] *= 2.0
    grad = jax.grad(lambda q: sj.step(model, q, v, ctrl).q[2])(longer)
    assert grad[3:7] @ longer[3:7] == pytest.approx(0.0, abs=1e-12)
    assert np.allclose(sj.step(model, longer, v, ctrl).q, sj.step(model, q, v, ctrl).q, atol=1e-12)


def test_frames_have_the_numbers_of_the_dynamics_and_derivatives():
    model = robot("quadruped")
    q, v, _ = states("quadruped", 3)
    names = ["trunk", "FL_calf"]
    found = sj.frames(model, q, names, v)
    for k in range(3):
        kinematics = slipstick.dynamics.kinematics(model, q[k])
        for i, name in enumerate(names):
            frame = model.frame_names.index(name)
            assert np.allclose(found.position[k, i], kinematics.frame_position[frame], atol=1e-14)
            assert np.allclose(found.rotation[k, i], kinematics.frame_rotation[frame], atol=1e-14)
            assert np.allclose(found.velocity[k, i], slipstick.dynamics.velocity(model, q[k], v[k], name), atol=1e-12)
        assert np.allclose(found.center_of_mass[k], slipstick.dynamics.center_of_mass(model, q[k]), atol=1e-14)
    check_grads(lambda q, v: tuple(sj.frames(model, q, names, v)), (q[0], v[0]), order=1, eps=1e-6, atol=1e-5, rtol=1e-5)
    height = jax.vmap(jax.grad(lambda q: sj.frames(model, q, "FL_calf").position[0, 2]))(q)
    assert height.shape == q.shape and sj.frames(model, q[0]).position.shape == (0, 3)


def test_integrate_is_that_of_the_dynamics():
    model = robot("gripper")
    rng = np.random.default_rng(6)
    (q,), _, _ = states("gripper", 1)
    for size in (0.0, 1e-6, 0.7):
        d = size * rng.normal(size=model.nv)
        assert np.allclose(sj.integrate(model, q, d), slipstick.dynamics.integrate(model, q, d), atol=1e-14)
    gradient = jax.jacfwd(lambda d: sj.integrate(model, q, d))(np.zeros(model.nv))
    assert np.isfinite(gradient).all() and gradient[4:7, 4:7].tolist() == np.eye(3).tolist()


def test_second_derivatives_are_refused():
    model = robot("hopper")
    (q,), (v,), (ctrl,) = states("hopper", 1)
    with pytest.raises((NotImplementedError, ValueError), match="first derivatives only|cannot be differentiated"):
        jax.hessian(lambda u: sj.step(model, q, v, u, residuals="recompute").v[0])(ctrl)


def test_wrong_arguments_are_named():
    model = robot("hopper")
    (q,), (v,), (ctrl,) = states("hopper", 1)
    for wrong, words in [
        (lambda: sj.step(model, q, v, ctrl[:2]), r"ctrl: expected an array of shape \(3,\), got \(2,\)"),
        (lambda: sj.step(model, q[:3], v, ctrl), r"q: expected an array of shape \(6,\), got \(3,\)"),
        (lambda: sj.step(model, q, v, ctrl, residuals="keep"), "residuals: expected 'auto', 'stored' or 'recompute', got 'keep'"),
        (lambda: sj.step(model, q, v, tau=v, residuals="stored"), "residuals: expected 'recompute' with tau"),
        (lambda: sj.step(model, q, v, ctrl, hold=0), "hold: expected from 1"),
        (lambda: sj.frames(model, q, ["hip"]), "no frame named 'hip'"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong()


ELSEWHERE = """
import numpy as np, jax, sys
jax.config.update("jax_enable_x64", sys.argv[2] == "64")
import slipstick, slipstick.jax as sj
from slipstick.jax import _ffi
if sys.argv[1] == "callback":
    _ffi.backend = lambda: "callback"
model = slipstick.builtin("quadruped")
home = model.keyframe("home")
dtype = np.float64 if sys.argv[2] == "64" else np.float32
q, v, u = (np.tile(x, (2, 1)).astype(dtype) for x in (home.q, home.v + 0.1, home.ctrl))
def loss(q, v, u, residuals):
    after = sj.step(model, q, v, u, hold=2, residuals=residuals)
    return (after.v ** 2).sum() + sj.frames(model, after.q, ["trunk"], after.v).velocity.sum()
for residuals in ("stored", "recompute"):
    value, grads = jax.jit(jax.value_and_grad(loss, argnums=(0, 2)), static_argnums=3)(q, v, u, residuals)
    batched = jax.vmap(jax.grad(lambda q, v, u: loss(q, v, u, residuals), argnums=(0, 2)))(q, v, u)
    assert grads[0].dtype == dtype and np.abs(batched[0] - grads[0]).max() < 1e-4 * np.abs(grads[0]).max()
    print(float(value), *(np.abs(np.asarray(g, np.float64)).sum() for g in grads))
"""


def elsewhere(*arguments):
    """The numbers that a program prints in another process: backends and precisions cannot change in this one."""
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return np.array(done.stdout.split(), float)


def test_a_jaxlib_that_refuses_the_handlers_gets_callbacks(monkeypatch):
    from slipstick.jax import _ffi

    calls = []

    def refuse(name, target, **options):
        calls.append(name)
        raise RuntimeError("another version of the interface")

    monkeypatch.setattr(jax, "devices", lambda platform: calls.append(platform))
    monkeypatch.setattr(jax.ffi, "register_ffi_target", refuse)
    with pytest.warns(UserWarning, match="another version of the interface.*callbacks are used"):
        assert _ffi.backend.__wrapped__() == "callback"
    assert calls[0] == "cpu"  # a backend that starts after a refused registration would not start at all


def test_callbacks_and_arrays_of_32_bits_give_the_same_numbers():
    exact = elsewhere("ffi", "64")
    assert np.allclose(elsewhere("callback", "64"), exact, rtol=1e-12)
    assert np.allclose(elsewhere("ffi", "32"), exact, rtol=2e-3)


CACHED = """
import sys, jax, numpy as np, slipstick, slipstick.jax as sj
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
for gravity in map(float, sys.argv[2:]):
    model = slipstick.builtin("sphere").with_options(gravity=[0.0, 0.0, gravity])
    q, v = np.array([0.0, 0.0, 5.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(6)
    fall = jax.jit(lambda q, v: sj.step(model, q, v).v[2] + 0 * sj.frames(model, q, ["sphere"]).position.sum())
    print(float(fall(q, v)) / model.dt)
"""


def test_programs_of_a_cache_on_disk_find_their_own_model(tmp_path):
    for gravities in (["-9", "-3"], ["-3", "-9"], ["-3"]):  # in another process another model comes first
        arguments = [sys.executable, "-c", CACHED, str(tmp_path), *gravities]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert np.allclose(np.array(done.stdout.split(), float), np.array(gravities, float), atol=1e-9)
    assert any(tmp_path.iterdir())


def test_random_contact_states_have_finite_gradients():
    for name in ["hopper", "quadruped", "gripper"]:
        model = robot(name)
        q, v, ctrl = states(name, 1000 if FULL else 200, seed=8, speed=2.0)
        grad = jax.jit(jax.grad(lambda q, v, u: (sj.step(model, q, v, u, hold=4).v ** 2).sum(), argnums=(0, 1, 2)))(q, v, ctrl)  # noqa: B023
        assert all(np.isfinite(g).all() for g in grad), name


def test_import_of_slipstick_does_not_import_jax():
    program = "import sys, slipstick; assert not {'jax', 'gymnasium'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_contact_problems_are_a_layer():
    G, g, mu, compliance = problems(3)
    solve = functools.partial(sj.ncp, kinds=KINDS, tolerance=1e-14)
    impulse, velocity, residual = jax.jit(solve)(G, g, mu, compliance)
    for k in range(3):
        solution = ncp.solve(G[k], g[k], cones=CONES, compliance=compliance[k], tolerance=1e-14)
        assert np.array_equal(impulse[k], solution.impulse) and np.array_equal(velocity[k], solution.velocity)
    assert residual.max() < 1e-12
    L = np.linalg.cholesky(G)
    symmetric = lambda L, *x: solve(L @ L.swapaxes(-1, -2), *x)[:2]  # noqa: E731
    check_grads(symmetric, (L, g, mu, compliance), order=1, modes=("fwd", "rev"), eps=1e-6, atol=1e-6, rtol=1e-6)
    each = jax.vmap(jax.grad(lambda *x: (solve(*x).velocity ** 2).sum(), argnums=(0, 1, 2, 3)))(G, g, mu, compliance)
    for k in range(3):
        rows = [x[k] for x in (G, g, mu, compliance)]
        for all_rows, one in zip(each, jax.grad(lambda *x: (solve(*x).velocity ** 2).sum(), argnums=(0, 1, 2, 3))(*rows)):
            assert np.allclose(all_rows[k], one, atol=1e-12)
    with pytest.raises(ValueError, match="g: expected three rows for each contact, got 4"):
        sj.ncp(np.eye(4), np.ones(4), np.ones(1))
