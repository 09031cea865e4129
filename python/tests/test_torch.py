"""slipstick in PyTorch: gradients of steps against differences, against the engine's own, and what is refused."""

import re
from pathlib import Path

import numpy as np
import pytest
import slipstick
from contact_layers import CONES, KINDS, problems
from moving_contact import far_from_changes, robot, states
from slipstick import ncp
from slipstick.gradient import ControlStep

torch = pytest.importorskip("torch")

import slipstick.torch as st  # noqa: E402

double = {"dtype": torch.float64}


def tensors(*arrays, grad=True):
    return [torch.tensor(x, requires_grad=grad, **double) for x in arrays]


@pytest.mark.parametrize("name", ["hopper", "quadruped", "gripper"])
def test_gradients_of_moving_contact_are_those_of_differences(name):
    model = robot(name).with_options(tolerance=1e-13)  # differences over 1e-6 see the solver's own of 1e-10
    rows = tensors(*far_from_changes(name, 2))
    step = lambda q, v, ctrl: st.step(model, q, v, ctrl)[:2]  # noqa: E731
    assert torch.autograd.gradcheck(step, rows, eps=1e-6, atol=1e-5, rtol=1e-6, check_forward_ad=True)


def test_a_gradient_through_a_rollout_is_that_of_the_engine():
    model, steps = robot("hopper"), 50
    q, v, _ = states("hopper", 1)
    ctrl = 0.3 * np.random.default_rng(2).normal(size=(steps, 1, model.nu))
    w = np.arange(1.0, model.nv + 1)
    given = tensors(q, v, ctrl)
    run = st.rollout(model, *given)
    (run.v[-1] @ torch.tensor(w)).sum().backward()
    wq, wv, control_step = np.zeros((1, model.nq)), w[None], ControlStep(model)
    by_ctrl = []
    for q_, v_, u in zip(run.q.detach().numpy()[-2::-1], run.v.detach().numpy()[-2::-1], ctrl[::-1]):
        grad = control_step.vjp(q_, v_, u, wq=wq, wv=wv)
        wq, wv = grad.q, grad.v
        by_ctrl.append(grad.ctrl)
    for x, expected in zip(given, (wq, wv, np.array(by_ctrl[::-1]))):
        assert np.abs(x.grad.numpy() - expected).max() <= 1e-12 * np.abs(expected).max()


def test_two_rollouts_in_one_loss_do_not_disturb_each_other():
    model = robot("hopper")
    q, v, _ = states("hopper", 3)
    one, two = tensors(*0.2 * np.random.default_rng(4).normal(size=(2, 10, 3, model.nu)))
    end = lambda ctrl: (st.rollout(model, q, v, ctrl, hold=2).v[-1] ** 2).sum()  # noqa: E731
    both = torch.autograd.grad(end(one) * end(two), (one, two))
    assert torch.allclose(both[0], torch.autograd.grad(end(one), one)[0] * end(two), rtol=1e-12)
    assert torch.allclose(both[1], torch.autograd.grad(end(two), two)[0] * end(one), rtol=1e-12)


def test_leading_axes_are_environments_and_parameters_are_shared_or_not():
    model = robot("hopper")
    q, v, ctrl = states("hopper", 6)
    p = torch.tensor(model.parameters, requires_grad=True)
    many = torch.tensor(np.tile(model.parameters, (6, 1)), requires_grad=True)
    loss = lambda p, *x: (st.step(model, *x, hold=2, parameters=p).v ** 2).sum()  # noqa: E731
    loss(p, q, v, ctrl).backward()
    loss(many, q, v, ctrl).backward()
    assert torch.allclose(p.grad, many.grad.sum(0), rtol=1e-12, atol=1e-12)
    two = [x.reshape(2, 3, -1) for x in (q, v, ctrl)]
    after = st.step(model, *two, hold=2)
    assert after.q.shape == (2, 3, model.nq) and after.status.shape == (2, 3)
    assert torch.equal(after.v.reshape(6, -1), st.step(model, q, v, ctrl, hold=2).v)


def test_forces_and_smoothed_derivatives():
    model = robot("hopper")
    q, v, _ = states("hopper", 2)
    tau, = tensors(np.zeros((2, model.nv)))
    (by_tau,) = torch.autograd.grad(st.step(model, q, v, tau=tau).v.sum(), tau)
    exact = ControlStep(model).vjp(q, v, tau=tau.detach().numpy(), wq=0 * q, wv=np.ones_like(v))
    assert np.allclose(by_tau, exact.tau, rtol=1e-12)
    (smooth,) = torch.autograd.grad(st.step(model, q, v, tau=tau, smoothing=[0.1, 0.0]).v.sum(), tau)
    assert np.allclose(smooth[1], by_tau[1]) and not np.allclose(smooth[0], by_tau[0])


def test_frames_and_the_manifold_are_differentiable():
    model = robot("quadruped")
    q, v, _ = states("quadruped", 2)
    dv = 0.3 * np.random.default_rng(1).normal(size=(2, model.nv))
    feet = lambda q, v: st.frames(model, q, ["FL_calf", "RR_calf"], v)  # noqa: E731
    assert torch.autograd.gradcheck(feet, tensors(q, v), eps=1e-6, atol=1e-6, check_forward_ad=True)
    assert torch.autograd.gradcheck(lambda q, dv: st.integrate(model, q, dv), tensors(q, dv), eps=1e-6, atol=1e-6)
    moved = st.integrate(model, q, dv)
    assert np.allclose(moved, slipstick.dynamics.integrate(model, q, dv), atol=1e-14)
    pose = slipstick.dynamics.kinematics(model, q[0]).position[model.body_names.index("FL_calf")]
    assert np.allclose(feet(*tensors(q, v)).position[0, 0].detach(), pose, atol=1e-14)


def test_thirty_two_bits_go_in_and_out():
    model = robot("hopper")
    q, v, ctrl = (torch.tensor(x, dtype=torch.float32, requires_grad=True) for x in states("hopper", 2))
    after = st.step(model, q, v, ctrl)
    assert after.q.dtype == after.v.dtype == torch.float32 and after.report.dtype == torch.float64
    after.v.sum().backward()
    assert q.grad.dtype == ctrl.grad.dtype == torch.float32


def test_a_second_derivative_is_refused():
    model = robot("hopper")
    q, v, ctrl = tensors(*states("hopper", 1))
    (grad,) = torch.autograd.grad((st.step(model, q, v, ctrl).v ** 2).sum(), ctrl, create_graph=True)
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        grad.sum().backward()


def test_failed_steps_are_counted_and_have_no_derivatives():
    model = robot("hopper")
    q, v, ctrl = tensors(*states("hopper", 2))
    fast = v.detach().clone()
    fast[0] = 1e30
    ctrl.grad = None
    after = st.step(model, q, fast, ctrl)
    assert [st.STATUS[k] for k in after.status] == ["failed", "solved"]
    after.v.sum().backward()
    assert not ctrl.grad[0].any() and ctrl.grad[1].any()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (dict(q=torch.zeros(2, 3)), r"q: expected a tensor of shape \(2, 6\), got \(2, 3\)"),
        (dict(ctrl=torch.zeros(5, 3)), "leading axes: expected ones that broadcast"),
        (dict(v=torch.zeros(2, 6, dtype=torch.complex64)), "v: expected real numbers"),
        (dict(q=torch.zeros(2, 6, device="meta")), "q: expected a tensor on the CPU, got one on meta"),
        (dict(hold=0), "hold"),
    ],
)
def test_wrong_arguments_are_named(change, text):
    model = robot("hopper")
    given = dict(q=torch.zeros(2, 6), v=torch.zeros(2, 6), ctrl=torch.zeros(2, 3))
    with pytest.raises((ValueError, TypeError), match=text):
        st.step(model, **{**given, **change})


@pytest.mark.skipif(not hasattr(torch, "func"), reason="this version of PyTorch has no torch.func")
def test_torch_func_maps_and_differentiates():
    model = robot("hopper")
    rows = tensors(*states("hopper", 3), grad=False)
    step = lambda q, v, u: st.step(model, q, v, u).v  # noqa: E731
    each = torch.stack([step(*row) for row in zip(*rows)])
    assert torch.equal(torch.func.vmap(step)(*rows), each)
    q, v, u = (x[0] for x in rows)
    by_rows = torch.func.jacrev(step, argnums=2)(q, v, u)
    assert torch.allclose(by_rows, torch.func.jacfwd(step, argnums=2)(q, v, u), atol=1e-10)


def test_the_blocks_of_the_guide_run():
    page = Path(__file__).resolve().parents[2] / "docs" / "guide" / "torch.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(blocks) == 4
    exec("\n".join(blocks), {})


def test_contact_problems_are_a_layer():
    G, g, mu, compliance = problems(3)
    given = tensors(G, g, mu, compliance)
    solve = lambda *x: st.ncp(*x, kinds=KINDS, tolerance=1e-14)[:2]  # noqa: E731
    for k, (impulse, velocity) in enumerate(zip(*solve(*given))):
        solution = ncp.solve(G[k], g[k], cones=CONES, compliance=compliance[k], tolerance=1e-14)
        assert np.array_equal(impulse.detach(), solution.impulse) and np.array_equal(velocity.detach(), solution.velocity)
    symmetric = lambda L, *x: solve(L @ L.transpose(-1, -2), *x)  # noqa: E731
    L = torch.linalg.cholesky(given[0].detach()).requires_grad_()
    assert torch.autograd.gradcheck(symmetric, (L, *given[1:]), eps=1e-6, atol=1e-6, check_forward_ad=True)
    with pytest.raises(ValueError, match="kinds: expected words of friction, unilateral, box, bilateral, got 'fricton'"):
        st.ncp(*given, kinds=["fricton"])


def test_one_robot_needs_no_leading_axis():
    model = robot("hopper")
    q, v, ctrl = (x[0] for x in tensors(*states("hopper", 1)))
    after = st.step(model, q, v, ctrl)
    assert after.q.shape == (model.nq,) and after.status.shape == ()
    after.v.sum().backward()
