"""Derivatives of a step: central differences in numpy, products with the Jacobian, impulses, one-sided limits."""

import functools

import numpy as np
import pytest
import slipstick

from states import assert_close, generator
from step_differences import SCENES, Differences, error
from stepping import Stepper

TOLERANCE = 1e-6  # of differences; the products below agree to rounding


@functools.cache
def made(name):
    return SCENES[name]()


@pytest.fixture(params=SCENES)
def scene(request):
    return made(request.param)


def weights(step, nv, rng):
    return {"q": rng.normal(size=nv), "v": rng.normal(size=nv), "impulses": rng.normal(size=(len(step.contacts), 3))}


def scales(differences, J):
    """Largest entry of a block, or of the same block without contact."""
    dt, mobility = differences.simulator.dt, differences.mobility
    s = differences.scene
    gain = 0.0 if s.ctrl is None else np.max(np.abs(slipstick.dynamics.actuate_derivatives(s.model, s.q, s.v, s.ctrl)[2]))
    free = {"dq_dq": 1.0, "dq_dv": dt, "dq_dtau": dt * mobility, "dq_dctrl": dt * mobility * gain}
    free |= {"dv_dv": 1.0, "dv_dtau": mobility, "dv_dctrl": mobility * gain}
    names = ["dq_dq", "dq_dv", "dq_dtau", "dq_dctrl", "dv_dq", "dv_dv", "dv_dtau", "dv_dctrl"]
    return {name: max(free.get(name, 0.0), np.max(np.abs(getattr(J, name)), initial=1e-12)) for name in names}


def test_the_jacobian_is_that_of_central_differences(scene):
    differences = Differences(scene)
    J = differences.base.jacobian()
    scale, nv, left_out = scales(differences, J), scene.model.nv, []
    for what in ["q", "v", "tau"] + ["ctrl"] * (scene.ctrl is not None):
        found = differences.blocks(what, differences.state)
        for name, rows in [(f"dq_d{what}", slice(nv)), (f"dv_d{what}", slice(nv, None))]:
            worst, unknown = error(getattr(J, name), [block[rows] for block in found], scale[name])
            assert worst < TOLERANCE, f"{name}: {worst:.1e} of its largest entry"
            left_out.append(unknown)
    # corners of a cube that slides lift when it tilts, however little: two columns of eighteen
    assert np.mean(left_out) < 0.12, "share of columns across a switch of modes"


def test_the_scenes_touch_hold_and_slide():
    """What the other tests stand on: between them the scenes have every mode, patches and joints at their limits."""
    steps = [made(name).step() for name in SCENES]
    constraints = [c for step in steps for c in step.constraints]
    for kind in ["contact", "dry friction"]:
        assert {c.mode for c in constraints if c.name.startswith(kind)} >= {"stick", "slide"}
    assert any("limit of joint" in c.name and c.mode == "stick" for c in constraints)
    assert any(len({c.mode for c in step.contacts}) == 3 for step in steps)
    assert len(made("cube sliding").step().contacts) == 4


def test_products_are_those_with_the_jacobian(scene):
    """jvp and vjp against A and B; w·(J dx) = (Jᵀw)·dx."""
    rng, nv, step = generator(scene.model.name), scene.model.nv, scene.step()
    J, w = step.jacobian(), weights(step, nv, rng)
    dx = {"q": rng.normal(size=nv), "v": rng.normal(size=nv), "tau": rng.normal(size=nv)}
    if scene.ctrl is not None:
        dx["ctrl"] = rng.normal(size=len(scene.ctrl))
    dq, dv = step.jvp(**dx)
    blocks = {x: (getattr(J, f"dq_d{x}"), getattr(J, f"dv_d{x}")) for x in dx}
    assert_close(dq, sum(blocks[x][0] @ dx[x] for x in dx), 1e-11)
    assert_close(dv, sum(blocks[x][1] @ dx[x] for x in dx), 1e-11)
    gradients = dict(zip(["q", "v", "tau", "ctrl"], step.vjp(q=w["q"], v=w["v"])))
    for x in dx:
        assert_close(gradients[x], w["q"] @ blocks[x][0] + w["v"] @ blocks[x][1], 1e-9, x)
    forward, reverse = w["q"] @ dq + w["v"] @ dv, sum(gradients[x] @ dx[x] for x in dx)
    size = sum(np.linalg.norm(gradients[x]) * np.linalg.norm(dx[x]) for x in dx)
    assert abs(forward - reverse) < 1e-11 * size
    assert gradients["ctrl"] is None or scene.ctrl is not None


def test_A_and_B_are_put_together_from_the_blocks(scene):
    J, nv = scene.step().jacobian(), scene.model.nv
    assert np.array_equal(J.A, np.block([[J.dq_dq, J.dq_dv], [J.dv_dq, J.dv_dv]]))
    inputs = (J.dq_dtau, J.dv_dtau) if scene.ctrl is None else (J.dq_dctrl, J.dv_dctrl)
    assert np.array_equal(J.B, np.vstack(inputs))
    assert J.dq_dctrl.shape == J.dv_dctrl.shape == (nv, 0 if scene.ctrl is None else scene.model.nu)


def test_gradients_are_fresh_and_linear(scene):
    """Two calls do not add up, their answers do; what is left out counts as zero."""
    rng, nv, step = generator(scene.model.name), scene.model.nv, scene.step()
    one, two = weights(step, nv, rng), weights(step, nv, rng)
    first = [*step.vjp(**one)][:3]
    assert all(np.array_equal(a, b) for a, b in zip(first, step.vjp(**one)))
    both = {name: one[name] + two[name] for name in one}
    for a, b, c in zip(first, step.vjp(**two), step.vjp(**both)):
        assert_close(a + b, c, 1e-9)
    parts = [[*step.vjp(**{name: one[name]})][:3] for name in one]
    for whole, *part in zip(first, *parts):
        assert_close(sum(part), whole, 1e-9)
    assert all(not g.any() for g in [*step.vjp()][:3]) and all(not d.any() for d in step.jvp())


@pytest.mark.parametrize("name", ["sphere rolling", "cube on an edge", "ant crawling", "quadruped pushed"])
def test_impulses_are_differentiated_like_velocities(name):
    """Points in different places, whose impulses are unique: rows against differences, and vjp against the rows."""
    s = made(name)
    differences = Differences(s)
    step, rng = differences.base, generator(name)
    acting = [k for k, contact in enumerate(step.contacts) if contact.mode != "break"]
    rows = {k: dict(zip(["q", "v", "tau"], step.impulse_jacobian(k))) for k in acting}
    assert acting and all(block.shape == (3, s.model.nv) for k in acting for block in rows[k].values())
    w = np.zeros((len(step.contacts), 3))
    w[acting] = rng.normal(size=(len(acting), 3))
    for x, gradient in zip(["q", "v", "tau"], step.vjp(impulses=w)):
        assert_close(gradient, sum(w[k] @ rows[k][x] for k in acting), 1e-9)

    def impulses(other):
        found = [other.contacts[k].impulse if k < len(other.contacts) else np.full(3, np.nan) for k in acting]
        return np.concatenate(found)

    for x in ["q", "v", "tau"]:
        J = np.vstack([rows[k][x] for k in acting])
        worst, unknown = error(J, differences.blocks(x, impulses), np.max(np.abs(J)))
        assert worst < 1e-5 and unknown < 0.1, f"{x}: {worst:.1e}"


def test_a_ball_that_is_held_up_exactly_falls_to_one_side_only():
    """Its weight is carried by tau: more of it lifts the ball, less leaves it on the floor."""
    model = slipstick.builtin("sphere")
    home, lift = model.keyframe("home"), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    weight = -model.total_mass * model.gravity[2]
    step = slipstick.step(model, home.q, home.v, tau=weight * lift)
    assert any(c.degenerate for c in step.constraints) and "undecided" in step.explain()
    _, up = step.jvp(tau=lift, one_sided=True)
    _, down = step.jvp(tau=-lift, one_sided=True)
    assert_close(up[2], model.dt / model.total_mass, 1e-9)
    assert abs(down[2]) < 1e-9
    # what was asked for one side does not stay for the next question
    assert np.array_equal(step.jacobian().dv_dtau @ lift, step.jvp(tau=lift)[1])


def test_where_nothing_is_undecided_both_sides_are_the_same():
    step, direction = made("quadruped pushed").step(), generator("one sided").normal(size=18)
    assert not any(c.degenerate for c in step.constraints)
    for a, b in zip(step.jvp(tau=direction), step.jvp(tau=direction, one_sided=True)):
        assert np.array_equal(a, b)


def test_constraints_say_what_contacts_say():
    step = made("quadruped standing").step()
    contacts = [c for c in step.constraints if c.name.startswith("contact")]
    assert len(contacts) == len(step.contacts) == 4
    for constraint, contact in zip(contacts, step.contacts):
        assert all(f"'{geom}'" in constraint.name for geom in contact.geoms if geom)
        assert constraint.mode == contact.mode == "stick"
        assert_close(contact.frame @ constraint.impulse, contact.impulse, 1e-12)
        assert constraint.opening > 0.0 and constraint.slipping > 0.0 and not constraint.degenerate
        assert constraint.name in step.explain() and constraint.name in repr(constraint)
    sentences = step.explain().splitlines()
    assert len(sentences) == len(step.constraints) + 2 and all(s.endswith(".") for s in sentences)


def test_the_mode_key_tells_modes_apart():
    model = slipstick.builtin("cube")
    home, simulator = model.keyframe("home"), Stepper(model)
    keys = [simulator.step(home.q, [speed, 0, 0, 0, 0, 0]).mode_key for speed in [0.0, 1e-6, 1.0, 1.1, 0.0]]
    assert keys[0] == keys[1] == keys[4] != keys[2] == keys[3]
    assert simulator.step(home.q, [0, 0, 1, 0, 0, 0]).mode_key not in keys
