"""A step put together again from the public API: velocities by Newton's law, impulses by Coulomb's."""

import numpy as np
import pytest
import slipstick
from slipstick import options

import coulomb
from robots import robot_named
from states import assert_close, generator
from unconstrained import unconstrained
from stepping import Stepper

STANDING = [
    "cube",
    "sphere",
    "hopper",
    "half_cheetah",
    "half_cheetah_planar",
    "walker2d",
    "ant",
    "humanoid",
    "quadruped",
    "biped",
    "atlas",
]
LIMIT_NEAR = 0.1  # rad or m: limits nearer than this may push


def with_group(model, group, value):
    """The model with all numbers of a parameter group set to one value."""
    numbers = model.parameters
    numbers[model.parameter_groups[group]] = value
    return model.with_parameters(numbers)


def shaken_states(model, label, count=8, steps=8):
    """Runs of a few steps from around the home pose, moving: (simulator, q, v, ctrl, step)."""
    rng, home = generator(label), model.keyframe("home")
    simulator = Stepper(model)
    for _ in range(count):
        q = slipstick.dynamics.integrate(model, home.q, 0.02 * rng.normal(size=model.nv))
        v = 0.5 * rng.normal(size=model.nv)
        simulator.clear_warm_start()
        for _ in range(steps):
            step = simulator.step(q, v, ctrl=home.ctrl)
            yield simulator, q, v, home.ctrl, step
            q, v = step.q, step.v


def assert_rest_is_of_joints(model, q, v_next, rest, mass):
    """What acts beside contacts: dry friction within its bound and against the motion, limits that push inwards."""
    dt, bound = model.dt, model.dt * model.dry_friction
    noise = 1e-9 * np.maximum(1.0, np.diag(mass))
    for name, kind in zip(model.joint_names, model.joint_types):
        v0, width = model.joint(name).v.start, model.joint(name).v.stop - model.joint(name).v.start
        for j in range(v0, v0 + width):
            position = q[model.joint(name).q.start] if width == 1 else 0.0
            gaps = np.array([position - model.lower[j], model.upper[j] - position])
            below, above = gaps < LIMIT_NEAR
            push, drag = rest[j] - np.clip(rest[j], -bound[j], bound[j]), np.clip(rest[j], -bound[j], bound[j])
            assert push < noise[j] or below, f"{name} is pushed up by {push} without a limit"
            assert push > -noise[j] or above, f"{name} is pushed down by {push} without a limit"
            if abs(push) > noise[j]:
                gap, closing = (gaps[0], v_next[j]) if push > 0.0 else (gaps[1], -v_next[j])
                assert gap + dt * closing < 1e-9, f"the limit of {name} pushes from afar"
            elif abs(v_next[j]) > 1e-6 and not (below or above):
                assert abs(drag + np.sign(v_next[j]) * bound[j]) < noise[j], f"dry friction of {name}: {drag}"


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("share", [0.0, 1e-6])
@pytest.mark.parametrize("name", STANDING)
def test_a_step_obeys_newton_and_coulomb(name, share, restitution):
    """v⁺ = v_free + M⁻¹(Jᵀλ + joints), λ by Coulomb's law to 1e-10: everything but λ from M, J and distances."""
    model = slipstick.builtin(name).with_options(implicit="damping", integrator="euler", patch_compliance=share)
    model = with_group(model, "restitution", restitution)
    modes = set()
    for _, q, v, ctrl, step in shaken_states(model, f"{name} {share} {restitution}"):
        problem = coulomb.StepProblem(model, q, v, step.contacts, ctrl=ctrl, restitution=restitution)
        impulse, mass = coulomb.impulses(step.contacts), np.linalg.inv(problem.inverse)
        rest = mass @ (step.v - problem.v_free) - problem.J.T @ impulse
        assert_rest_is_of_joints(model, q, step.v, rest, mass)
        # the free velocity of the contacts contains what the joints add
        g = problem.g + problem.J @ problem.inverse @ rest
        # the engine's unit is the fastest row, limits of joints included
        unit = max(1.0, np.max(np.abs(problem.v_free)) / max(1.0, np.max(np.abs(g), initial=0.0)))
        assert coulomb.residual(problem.soft_G, g, problem.mu, impulse) < 1.1e-10 * unit
        assert step.report.status == "converged" and step.report.residual <= 1e-10
        modes.update(contact.mode for contact in step.contacts)
    assert modes >= {"break", "stick"}


@pytest.mark.parametrize("name", STANDING)
def test_what_velocities_cannot_reach_changes_nothing(name):
    """The step looks as far as bodies come, smoothed derivatives within the contact distance: one motion."""
    model = slipstick.builtin(name)
    wide = Stepper(model.with_options(gradient=options.ExactForwardCentral(1e-4)))
    for number, (_, q, v, ctrl, step) in enumerate(shaken_states(model, name, steps=8)):
        if number % 8 == 0:
            wide.clear_warm_start()
        other = wide.step(q, v, ctrl=ctrl)
        listed, all_near = ({(c.geom_numbers, c.feature) for c in s.contacts} for s in (step, other))
        assert listed <= all_near
        assert {(c.geom_numbers, c.feature) for c in slipstick.collision.detect(model, q)} <= all_near
        # redundant loads of deep overlaps are left to the warm start, which the two do not share
        np.testing.assert_allclose(step.v, other.v, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", STANDING)
def test_contacts_say_where_and_how(name):
    model = slipstick.builtin(name)
    for simulator, q, v, _, step in shaken_states(model, name, count=3):
        listed = {(c.geom_numbers, c.feature) for c in step.contacts}
        found = [c for c in slipstick.collision.detect(model, q) if (c.geom_numbers, c.feature) in listed]
        assert len(found) == len(step.contacts)
        for contact, seen in zip(step.contacts, found):
            assert contact.geoms == seen.geoms and contact.bodies == seen.bodies
            assert contact.feature == seen.feature
            assert_close(contact.distance, seen.distance, 1e-12)
            assert_close(contact.point, seen.point, 1e-9)  # points of a face depend on where the search began
            assert_close(contact.frame.T @ contact.frame, np.eye(3), 1e-12)
            assert np.linalg.det(contact.frame) > 0.0
            assert np.array_equal(contact.normal, contact.frame[:, 2])
            assert_close(contact.force, contact.impulse / simulator.dt, 1e-12)
            assert_close(contact.velocity, coulomb.contact_jacobian(model, q, contact) @ step.v, 1e-11)
            assert contact.friction >= 0.0 and contact.margin >= 0.0
            normal = contact.normal @ contact.impulse
            tangent = np.linalg.norm(contact.impulse - normal * contact.normal)
            assert normal > -1e-12 and tangent <= contact.friction * normal + 1e-9 * max(1.0, normal)
            if contact.mode == "break":
                assert normal <= 1e-9


@pytest.mark.parametrize("name", STANDING)
def test_a_step_is_semi_implicit_euler(name):
    model = slipstick.builtin(name)
    for simulator, q, v, _, step in shaken_states(model, name, count=2):
        assert_close(step.q, slipstick.dynamics.integrate(model, q, simulator.dt * step.v), 1e-14)
        assert_close(step.acceleration, (step.v - v) / simulator.dt, 1e-12)


def test_time_goes_on_from_where_it_is_said_to_be():
    model = slipstick.builtin("sphere")
    simulator = Stepper(model)
    assert simulator.step(model.neutral(), np.zeros(6)).time == model.dt
    assert simulator.step(model.neutral(), np.zeros(6), time=3.0).time == 3.0 + model.dt
    with pytest.raises(ValueError, match="time"):
        simulator.step(model.neutral(), np.zeros(6), time=np.nan)


def test_the_report_counts_what_is_in_the_problem():
    model = slipstick.builtin("cube")
    home, simulator = model.keyframe("home"), Stepper(model)
    report = simulator.step(home.q, home.v).report
    assert (report.status, report.contacts, report.rows) == ("converged", 4, 12)
    assert report.residual <= 1e-10 and 0.0 <= report.compliance_shift < 1e-6
    aloft = simulator.step(home.q + np.array([0, 0, 1.0, 0, 0, 0, 0]), home.v).report
    assert (aloft.status, aloft.stage, aloft.contacts, aloft.rows) == ("converged", "empty", 0, 0)
    assert aloft.residual == 0.0


@pytest.mark.parametrize("name", ["builtin/quadruped", "builtin/humanoid", "tests/all_joints"])
def test_wrenches_act_as_in_forward_dynamics(name):
    """Without constraints and implicit terms a step is v + dt·aba."""
    model = unconstrained(robot_named(name)).with_options(implicit="none", integrator="euler")
    rng, simulator = generator(name), Stepper(model)
    for _ in range(5):
        q = slipstick.dynamics.integrate(model, model.neutral(), 0.3 * rng.normal(size=model.nv))
        v, tau, ctrl = rng.normal(size=model.nv), rng.normal(size=model.nv), rng.uniform(-0.5, 0.5, model.nu)
        wrenches = rng.normal(size=(model.n_bodies, 6))
        force = tau + slipstick.dynamics.actuate(model, q, v, ctrl) + slipstick.dynamics.passive(model, q, v)
        expected = v + model.dt * slipstick.dynamics.aba(model, q, v, force, wrenches=wrenches)
        assert_close(simulator.step(q, v, tau=tau, ctrl=ctrl, wrenches=wrenches).v, expected, 1e-12)


@pytest.mark.parametrize("name", ["sphere", "hopper", "ant", "quadruped"])
def test_solvers_agree_on_the_motion(name):
    """Feet that are points: impulses and velocities are unique. 1e-7: a residual of 1e-10 in m/s, seen by the joints."""
    model = slipstick.builtin(name)
    others = [Stepper(model, solver=s, max_iterations=50_000) for s in ["cold", "admm", "pgs"]]
    for _, q, v, ctrl, step in shaken_states(model, name, count=4, steps=4):
        for other in others:
            again = other.step(q, v, ctrl=ctrl)
            assert again.report.status == "converged", (other.options.solver, again.report)
            assert_close(again.v, step.v, 1e-7, other.options.solver)


def test_a_frictionless_ball_is_held_and_let_go(tmp_path):
    """Nothing moves sideways: a floor of ice carries the ball at rest, and does not hold it when it leaves."""
    path = tmp_path / "ice.xml"
    path.write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 1" condim="1"/><body name="ball" pos="0 0 0.1"><freejoint/>'
        '<geom size="0.1" mass="2" condim="1"/></body></worldbody></mujoco>'
    )
    model = slipstick.load(path)
    for upward, force in [(0.0, 2 * 9.81), (0.02, 0.0), (1.0, 0.0)]:
        step = slipstick.step(model, model.neutral(), [0.0, 0.0, upward, 0.0, 0.0, 0.0])
        [contact] = step.contacts
        assert step.report.status == "converged"
        assert (contact.mode == "break") == (force == 0.0) and contact.friction == 0.0
        assert_close(contact.force, [0.0, 0.0, force], 1e-6)


def test_a_step_out_of_bounds_is_refused():
    model = slipstick.builtin("quadruped")
    simulator, q, v = Stepper(model), model.neutral(), np.zeros(model.nv)
    for bad, message in [
        ({"tau": np.zeros(model.nv + 1)}, "tau"),
        ({"tau": []}, "tau"),
        ({"ctrl": np.zeros(model.nu - 1)}, "ctrl"),
        ({"wrenches": np.zeros((model.n_bodies, 5))}, "wrenches"),
        ({"wrenches": np.full((model.n_bodies, 6), np.nan)}, "wrenches"),
    ]:
        with pytest.raises(ValueError, match=message):
            simulator.step(q, v, **bad)
    with pytest.raises(ValueError, match="q"):
        simulator.step(q[:-1], v)


def test_a_step_that_diverges_names_the_body():
    model = slipstick.builtin("sphere")
    with pytest.raises(slipstick.DivergenceError) as error:
        Stepper(model, dt=1e50).step(model.neutral(), np.full(6, 1e59), tau=np.full(6, 1e59), time=2.0)
    assert error.value.body == "sphere" and error.value.time == 2.0
