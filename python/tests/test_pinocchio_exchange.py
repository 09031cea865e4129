"""slipstick.pinocchio on five robots of example-robot-data, as their URDF files are: what Pinocchio computes in its own coordinates
is what slipstick computes, converted.

With R the root's rotation, E = blockdiag(R, 1) and the order of the joints: velocities are v = E v_pin. Pinocchio's tangent of a
configuration is E along ours, too. A change θ of the rotation moves E: d(E x) = −R [x_lin] θ in the rows of the linear part.
"""

import numpy as np
import pinocchio as pin
import pytest
import slipstick
import slipstick.pinocchio
from robots import EXAMPLE_ROBOTS
from states import assert_close, random_states

# file, free root
ROBOTS = {
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
    "go1": ("go1_description/urdf/go1.urdf", True),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
}
LOCAL_WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
TOLERANCE = 1e-9


def cross(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


class Pair:
    """A robot in both libraries."""

    def __init__(self, name):
        file, self.free = ROBOTS[name]
        path = EXAMPLE_ROBOTS / file
        if not path.is_file():
            pytest.skip(f"{path} not found")
        self.model = slipstick.load(path, free_root=self.free)
        self.pin = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if self.free else []))
        self.data, self.map = self.pin.createData(), slipstick.pinocchio.Map(self.model, self.pin)

    def E(self, q):
        """v = E v_pin, by the map's own columns."""
        return self.map.jacobian_to(q, np.eye(self.model.nv))

    def turned(self, R, x):
        """The change of E x_pin = x by the rotation of the root: columns of Pinocchio's tangent, rows of ours."""
        out = np.zeros((self.model.nv, self.model.nv))
        if self.free:
            out[:3, 3:6] = -R @ cross(R.T @ x[:3])
        return out


@pytest.fixture(params=ROBOTS)
def pair(request):
    return Pair(request.param)


def states_of(pair):
    for q, v, a, rng in random_states(pair.model, f"pinocchio/{pair.model.name}", count=3):
        q_pin = pair.map.q_to(q)
        yield q, v, a, q_pin, pair.map.v_to(q, v), rng


def test_states_go_there_and_back(pair):
    for q, v, a, q_pin, v_pin, rng in states_of(pair):
        tau = rng.normal(size=pair.model.nv)
        assert_close(pair.map.q_from(q_pin), q, 1e-14)
        assert_close(pair.map.v_from(q_pin, v_pin), v, 1e-13)
        assert_close(pair.map.a_from(q_pin, v_pin, pair.map.a_to(q, v, a)), a, 1e-13)
        assert_close(pair.map.tau_from(q_pin, pair.map.tau_to(q, tau)), tau, 1e-13)
        assert abs(pair.map.tau_to(q, tau) @ v_pin - tau @ v) < 1e-12 * (1 + abs(tau) @ abs(v)), "power"
        moved = slipstick.dynamics.integrate(pair.model, q, v)  # along a velocity for a second: the same end
        assert np.allclose(pair.map.q_from(pin.integrate(pair.pin, q_pin, v_pin))[7:], moved[7:], atol=1e-12) or not pair.free


def test_mass_matrix_and_nonlinear_effects(pair):
    for q, v, _, q_pin, v_pin, _ in states_of(pair):
        M = pin.crba(pair.pin, pair.data, q_pin)
        E = pair.E(q)
        assert_close(E.T @ slipstick.dynamics.crba(pair.model, q) @ E, np.triu(M) + np.triu(M, 1).T, TOLERANCE, "M")
        at_rest = pair.map.a_from(q_pin, v_pin, np.zeros(pair.pin.nv))  # Pinocchio's acceleration of a free root is another one
        nle = slipstick.dynamics.rnea(pair.model, q, v, at_rest)
        assert_close(pair.map.tau_to(q, nle), pin.nonLinearEffects(pair.pin, pair.data, q_pin, v_pin), TOLERANCE, "nle")


def test_frame_jacobians(pair):
    for q, _, _, q_pin, _, _ in states_of(pair):
        for name in pair.model.body_names[1::3]:
            theirs = pin.computeFrameJacobian(pair.pin, pair.data, q_pin, pair.pin.getBodyId(name), LOCAL_WORLD)
            ours = slipstick.dynamics.jacobian(pair.model, q, name)
            assert_close(pair.map.jacobian_to(q, ours), theirs, TOLERANCE, name)
            assert_close(pair.map.jacobian_from(q_pin, theirs), ours, TOLERANCE, name)


def test_derivatives_of_forward_dynamics(pair):
    """By the chain rule through the conversions: a_pin = Eᵀ a − (ω × v_lin, 0)."""
    for q, v, _, q_pin, v_pin, rng in states_of(pair):
        tau_pin = rng.normal(size=pair.pin.nv)
        tau = pair.map.tau_from(q_pin, tau_pin)
        dq, dv, dtau = slipstick.dynamics.aba_derivatives(pair.model, q, v, tau)
        a, E = slipstick.dynamics.aba(pair.model, q, v, tau), pair.E(q)
        R = E[:3, :3]
        by_q = E.T @ (dq @ E + dv @ pair.turned(R, v) + dtau @ pair.turned(R, tau))
        by_v = E.T @ dv @ E
        if pair.free:
            by_q[:3, 3:6] += cross(R.T @ a[:3])
            by_v[:3, :3] -= cross(v_pin[3:6])
            by_v[:3, 3:6] += cross(v_pin[:3])
        pin.computeABADerivatives(pair.pin, pair.data, q_pin, v_pin, tau_pin)
        inverse = np.triu(pair.data.Minv) + np.triu(pair.data.Minv, 1).T
        # accelerations of light links are large: judged by the largest entry, as everywhere
        assert_close(by_q, pair.data.ddq_dq, TOLERANCE, "da/dq")
        assert_close(by_v, pair.data.ddq_dv, TOLERANCE, "da/dv")
        assert_close(E.T @ dtau @ E, inverse, TOLERANCE, "da/dtau")


def test_models_become_models_of_pinocchio(robot, model):
    """Every robot of the tests: joints of all kinds, several per body, references, frames of sites."""
    converted = slipstick.pinocchio.to_pinocchio(model)
    exchange, data = slipstick.pinocchio.Map(model, converted), converted.createData()
    for q, v, a, _ in random_states(model, f"{robot} in Pinocchio", count=3):
        q_pin = exchange.q_to(q)
        tau = pin.rnea(converted, data, q_pin, exchange.v_to(q, v), exchange.a_to(q, v, a))
        assert_close(exchange.tau_from(q_pin, tau), slipstick.dynamics.rnea(model, q, v, a), TOLERANCE, "torques")
        pin.framesForwardKinematics(converted, data, q_pin)
        at = slipstick.dynamics.kinematics(model, q)
        for name in model.body_names[1:]:
            place = data.oMf[converted.getFrameId(name, pin.FrameType.BODY)]
            body = model.body_names.index(name)
            assert_close(place.translation, at.position[body], TOLERANCE, name)
            assert_close(place.rotation, at.rotation[body], TOLERANCE, name)


def test_limits_and_sites_come_along():
    model = slipstick.loads("""<mujoco><worldbody><body name="bob"><joint name="hinge" axis="0 1 0" ref="0.5" range="-1 2" limited="true"
      armature="0.3"/><geom size="0.1"/><site name="tip" pos="0 0 1"/></body></worldbody></mujoco>""")
    converted = slipstick.pinocchio.to_pinocchio(model)
    assert converted.name == model.name and list(converted.names) == ["universe", "hinge"]
    exchange = slipstick.pinocchio.Map(model, converted)
    ends = [exchange.q_from(x)[0] for x in (converted.lowerPositionLimit, converted.upperPositionLimit)]
    assert np.allclose(ends, [model.lower[0], model.upper[0]]) and np.allclose(converted.armature, 0.3)
    assert np.allclose(converted.frames[converted.getFrameId("tip")].placement.translation, [0, 0, 1])
