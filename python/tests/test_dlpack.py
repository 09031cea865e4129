"""Arrays of other libraries come in and go out by DLPack; those that cannot are refused by name. PyTorch and JAX where they are."""

import re

import numpy as np
import pytest
import slipstick


# numpy before 1.25 has no bools in DLPack
BOOLS = tuple(map(int, np.__version__.split(".")[:2])) >= (1, 25)


class Foreign:
    """An array of a library that numpy knows nothing of: DLPack is all it has."""

    def __init__(self, x, device=(1, 0)):
        self.x, self.device, self.exports = x, device, 0

    def __dlpack__(self, **options):
        assert self.device[0] in (1, 3), "memory of a device was asked for"
        self.exports += 1
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


def state(model):
    home = model.keyframe("home")
    return home.q + 0.01, home.v + 0.1, home.ctrl + 0.01


def check_that_results_are_equal(wrap):
    """One argument of each kind: vectors, rows, stacks, masks; float64 and others."""
    model = slipstick.builtin("quadruped")
    q, v, ctrl = state(model)
    step, other = slipstick.step(model, q, v, ctrl=ctrl), slipstick.step(model, wrap(q), wrap(v), ctrl=wrap(ctrl))
    assert np.array_equal(step.q, other.q) and np.array_equal(step.v, other.v)
    rows = np.tile(q, (3, 1))
    position = lambda q: slipstick.dynamics.kinematics(model, q).position  # noqa: E731
    single = rows.astype(np.float32)
    for x in (rows, np.asfortranarray(rows), single):
        assert np.array_equal(position(x), position(wrap(x)))
    batch = slipstick.Batch(model, 3)
    assert np.array_equal(batch.step(wrap(rows), wrap(np.tile(v, (3, 1))))[0], slipstick.Batch(model, 3).step(rows, v)[0])
    if wrap is not Foreign or BOOLS:
        batch.clear_warm_start(wrap(np.array([True, False, True])))


def test_whatever_has_dlpack_is_an_array():
    check_that_results_are_equal(Foreign)
    x = Foreign(np.zeros(2))
    slipstick.dynamics.crba(slipstick.builtin("cartpole"), x)
    assert x.exports == 1


def test_pinned_memory_is_memory_of_the_cpu_and_that_of_others_is_refused():
    model = slipstick.builtin("cartpole")
    slipstick.dynamics.crba(model, Foreign(np.zeros(2), device=(3, 0)))
    for device, name in [((2, 1), "CUDA, device 1"), ((10, 0), "ROCm, device 0"), ((99, 0), "device type 99 of DLPack, device 0")]:
        with pytest.raises(ValueError, match=f"q: expected an array in memory of the CPU, got one on {name}; copy it first"):
            slipstick.dynamics.crba(model, Foreign(np.zeros(2), device=device))


def test_arrays_without_real_numbers_are_refused():
    model = slipstick.builtin("cartpole")
    for x in (np.zeros(2, complex), np.array(["0", "1"]), np.zeros(2, "datetime64[s]")):
        with pytest.raises(TypeError, match=re.escape(f"q: expected an array of real numbers, not of {x.dtype}, got")):
            slipstick.dynamics.crba(model, x)
    with pytest.raises(TypeError, match="q: expected an array of real numbers, not of complex128"):
        slipstick.dynamics.crba(model, Foreign(np.zeros(2, complex)))
    slipstick.dynamics.crba(model, np.array([0, 1]))
    slipstick.dynamics.crba(model, np.array([False, True]))


def test_arrays_that_are_read_only_are_read():
    model = slipstick.builtin("cartpole")
    q = np.zeros(2)
    q.flags.writeable = False
    assert slipstick.dynamics.crba(model, q).shape == (2, 2)


def test_results_go_out_without_a_copy():
    sim = slipstick.Simulator(slipstick.builtin("hopper"))
    run = sim.rollout(3)
    for x in (run.q, run.v, sim.state.q, slipstick.dynamics.crba(sim.model, sim.state.q)):
        assert np.shares_memory(np.from_dlpack(x), x)


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    check_that_results_are_equal(torch.tensor)
    model = slipstick.builtin("hopper")
    recorded = torch.zeros(model.nq, dtype=torch.float64, requires_grad=True)
    with pytest.raises(ValueError, match=r"q: expected numbers without a gradient, got a tensor with requires_grad=True; call \.detach"):
        slipstick.dynamics.crba(model, recorded)
    slipstick.dynamics.crba(model, recorded.detach())
    with pytest.raises(TypeError, match="q: expected an array of numbers, got"):
        slipstick.dynamics.crba(model, torch.zeros(model.nq, device="meta"))
    q = slipstick.Simulator(model).rollout(3).q
    tensor = torch.from_dlpack(q)
    tensor[0, 0] = 7.0
    assert q[0, 0] == 7.0, "there was a copy"


def test_arrays_of_jax():
    jax = pytest.importorskip("jax")
    enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with enable_x64(True):
        check_that_results_are_equal(jax.numpy.asarray)
        half = jax.numpy.zeros(6, jax.numpy.bfloat16)  # numpy has no such type: JAX converts
        assert slipstick.dynamics.crba(slipstick.builtin("hopper"), half).shape == (6, 6)
        q = slipstick.Simulator(slipstick.builtin("hopper")).rollout(3).q
        assert np.array_equal(jax.dlpack.from_dlpack(q), q)
    with pytest.raises(TypeError, match="q: expected an array of numbers"):
        jax.jit(lambda q: slipstick.dynamics.crba(slipstick.builtin("hopper"), q))(np.zeros(6))
