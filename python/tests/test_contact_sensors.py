"""Contact sensors: the contacts, numbers and order of MuJoCo's, forces of the step's own impulses, and their derivatives."""

import itertools

import mujoco
import numpy as np
import pytest
import slipstick

from states import assert_close, generator

ALL = "found force torque dist pos normal tangent"
SIDES = {
    "all": "",
    "ball": 'geom1="ball"',
    "on ball": 'geom2="ball"',
    "floor ball": 'geom1="floor" geom2="ball"',
    "ball floor": 'body1="ball" geom2="floor"',
    "arm": 'subtree1="arm"',
    "hand": 'body1="hand"',
    "crate rod": 'subtree1="crate" subtree2="rod"',
    "zone": 'site="zone"',
    "zone floor": 'site="zone" geom2="floor"',
}
REDUCE = ["none", "mindist", "maxforce", "netforce"]
DEPTH = 1e-10


def scene():
    sensors = "".join(
        f'<contact name="{name} {reduce} {num}" {side} data="{ALL}" reduce="{reduce}" num="{num}"/>'
        for (name, side), reduce, num in itertools.product(SIDES.items(), REDUCE, (1, 6))
    )
    return f"""<mujoco><option timestep="0.002"/>
  <default><geom condim="3" friction="0.6"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 1"/>
    <site name="zone" type="box" size="0.6 3 0.2"/>
    <body name="ball" pos="0 0 {0.1 - DEPTH}"><freejoint/><geom name="ball" size="0.1" mass="1"/></body>
    <body name="rod" pos="0.4 1 {0.05 - DEPTH}" euler="0 90 0"><freejoint/>
      <geom name="rod" type="capsule" size="0.05 0.2" mass="2"/></body>
    <body name="crate" pos="1 0 {0.2 - DEPTH}"><freejoint/><geom name="crate" type="box" size="0.2 0.1 0.2" mass="3"/></body>
    <body name="arm" pos="-1 0 {0.1 - DEPTH}"><freejoint/><geom name="arm" size="0.1" mass="1"/>
      <body name="hand" pos="0.5 0.1 0"><joint axis="0 1 0" range="-1 1"/><geom name="hand" size="0.1" mass="0.5"/></body></body>
  </worldbody>
  <sensor>{sensors}<contact name="plain" geom1="ball"/></sensor>
</mujoco>"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("contacts") / "scene.xml"
    path.write_text(scene())
    return path


@pytest.fixture(scope="module")
def model(path):
    return slipstick.load(path)


def fields(reading, num):
    """Rows of a reading by kind."""
    sizes = {"found": 1, "force": 3, "torque": 3, "dist": 1, "pos": 3, "normal": 3, "tangent": 3}
    ends = np.cumsum(list(sizes.values()))
    rows = reading.reshape(num, -1)
    return {kind: rows[:, end - size : end] for (kind, size), end in zip(sizes.items(), ends)}


def test_contacts_points_and_axes_are_those_of_mujoco(model, path):
    """The bodies lie 1e-10 m deep, so that points half-way and on the surface agree. Forces differ by MuJoCo's softness."""
    mj = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    step = slipstick.step(model, model.neutral(), np.zeros(model.nv))
    assert model.warnings == []
    for sensor in model.sensors:
        if sensor.name == "plain":
            assert_close(step.sensors["plain"], data.sensor("plain").data, 0.0)
            continue
        reduce, num = sensor.name.split()[-2:]
        num = int(num)
        ours, theirs = (fields(x, num) for x in (step.sensors[sensor.name], data.sensor(sensor.name).data))
        assert_close(ours["found"], theirs["found"], 0.0, sensor.name)
        assert np.all(ours["torque"] == 0.0) or reduce == "netforce"
        if reduce == "netforce":
            assert_close(ours["normal"], theirs["normal"], 0.0)
            assert_close(ours["tangent"], theirs["tangent"], 0.0)
            continue
        if reduce != "none":
            continue  # equal depths, and forces, are ordered by rounding
        assert_close(ours["dist"], theirs["dist"], 1e-9, sensor.name)
        count = int(min(num, ours["found"][0, 0]))
        # patches have the same corners, in an order of their own; the capsule's axis gives MuJoCo its tangent
        if count > 1:
            order = lambda rows: rows[np.lexsort(np.round(rows, 6).T)]
            if num >= ours["found"][0, 0]:
                assert_close(order(ours["pos"]), order(theirs["pos"]), 1e-8, sensor.name)
        elif ours["found"][0, 0] == 1:
            for kind in ["pos", "normal", "tangent"]:
                assert_close(ours[kind], theirs[kind], 1e-8, f"{sensor.name}: {kind}")


def test_forces_are_the_impulses_of_the_step(model):
    tau = np.zeros(model.nv)
    tau[0], tau[18] = 2.0, -1.0
    step = slipstick.step(model, model.neutral(), np.zeros(model.nv), tau=tau)
    total = {name: np.zeros(3) for name in ("ball", "crate", "arm", "hand")}
    for contact in step.contacts:
        for name in total:
            if name in contact.bodies:
                side = 1.0 if contact.bodies[1] == name else -1.0
                total[name] += side * np.asarray(contact.impulse) / model.dt
    ball = fields(step.sensors["on ball none 1"], 1)
    # force on the second object, along normal, tangent and their product
    axes = np.stack([ball["normal"][0], ball["tangent"][0], np.cross(ball["normal"][0], ball["tangent"][0])])
    assert_close(axes.T @ ball["force"][0], total["ball"], 1e-9)
    assert_close(ball["force"][0, 0], 9.81, 1e-4)
    away = fields(step.sensors["ball none 1"], 1)
    assert_close(away["normal"], -ball["normal"], 0.0)
    assert_close(away["force"], ball["force"] * [1, 1, -1], 1e-12)
    net = fields(step.sensors["arm netforce 1"], 1)
    assert_close(net["force"][0], -total["arm"] - total["hand"], 1e-9)  # normals lead away from the arm: the force on the floor
    assert_close(net["force"][0, 2], -1.5 * 9.81, 1e-3)
    assert_close(net["pos"][0, 2], 0.0, 1e-8)


def test_readings_have_the_derivatives_of_their_differences(model):
    """Of a ball and an arm that slide and roll, whose loads are decided; tolerance 1e-5 on the scale of each sensor."""
    rng = generator("contact sensors")
    names = [s.name for s in model.sensors if s.name.split()[0] in ("ball", "on", "floor", "hand", "arm")]
    q, compared = model.neutral(), 0
    v = np.zeros(model.nv)
    v[[0, 1, 18, 19]] = [0.5, -0.3, -0.4, 0.2]
    tau = 0.1 * rng.normal(size=model.nv)
    step = slipstick.step(model, q, v, tau=tau)
    jacobians, base = step.sensor_jacobian(), [c.mode for c in step.contacts]
    assert all(np.isfinite(getattr(J, d)).all() for J in jacobians.values() for d in ("dq", "dv", "dtau"))
    for what, h in {"dq": 1e-9, "dv": 1e-6, "dtau": 1e-3}.items():
        for j in range(model.nv):
            d = h * np.eye(model.nv)[j]
            ends = []
            for sign in (1, -1):
                at = {"dq": (slipstick.dynamics.integrate(model, q, sign * d), v, tau), "dv": (q, v + sign * d, tau), "dtau": (q, v, tau + sign * d)}[what]
                ends.append(slipstick.step(model, *at[:2], tau=at[2]))
            if any([c.mode for c in end.contacts] != base for end in ends):
                continue
            for name in names:
                block = getattr(jacobians[name], what)
                if any(end.sensors[name][0] != step.sensors[name][0] for end in ends):
                    continue
                if "maxforce" in name or "mindist" in name and name.split()[0] == "arm":
                    continue  # which contact is the first one changes
                change = (ends[0].sensors[name] - ends[1].sensors[name]) / (2 * h)
                scale = max(1.0, np.abs(block).max())
                error = np.abs(change - block[:, j]).max() / scale
                assert error < 2e-5, f"{name} by {what} {j}: {error:.1e}"
                compared += 1
    assert compared > 300, compared


def test_gradients_of_weighted_readings_are_products_with_their_jacobians(model):
    rng, v = generator("weights of contacts"), np.zeros(model.nv)
    v[0] = 0.5
    step = slipstick.step(model, model.neutral(), v)
    weights = {name: rng.normal(size=len(reading)) for name, reading in step.sensors.items()}
    jacobians, gradients = step.sensor_jacobian(), step.vjp(sensors=weights)
    for what in ["q", "v", "tau"]:
        expected = sum(weights[name] @ getattr(J, f"d{what}") for name, J in jacobians.items())
        size = max(np.abs(getattr(J, f"d{what}")).max() for J in jacobians.values())
        assert_close(getattr(gradients, what) / size, expected / size, 1e-9, what)


def test_smoothed_steps_have_forces_with_the_derivatives_of_their_differences(model):
    soft = model.with_options(gradient=slipstick.options.Central(kappa=1e-3))
    q, v, h = model.neutral(), np.zeros(model.nv), 1e-4
    jacobian = slipstick.step(soft, q, v).sensor_jacobian()["ball none 1"]
    for j in range(6):
        d = h * np.eye(model.nv)[j]
        plus, minus = (slipstick.step(soft, q, v, tau=sign * d).sensors["ball none 1"] for sign in (1, -1))
        assert_close(jacobian.dtau[1:4, j], (plus - minus)[1:4] / (2 * h), 1e-6)


WRONG = [
    ('<contact geom1="ball" body1="ball"/>', "only one of"),
    ('<contact data="force found"/>', "in this order"),
    ('<contact data="forces"/>', "in this order"),
    ('<contact num="0"/>', "positive integer"),
    ('<contact num="100000000" data="pos"/>', "at most 100000"),
    ('<contact reduce="some"/>', "one of none"),
    ('<contact geom1="nobody"/>', "nobody"),
    ('<distance geom1="ball"/>', "geom2"),
    ('<distance geom1="ball" geom2="floor" cutoff="-1"/>', "zero or a positive"),
    ('<rangefinder/>', "site"),
    ('<rangefinder site="zone" data="depth dist"/>', "in this order"),
    ('<user dim="0"/>', "positive number"),
    ('<user/>', "dim"),
    ('<framequat objtype="body" objname="ball" cutoff="1"/>', "no cutoff"),
    ('<insidesite site="zone" objtype="body" objname="nobody"/>', "nobody"),
]


@pytest.mark.parametrize("element, words", WRONG)
def test_mistakes_are_named(tmp_path, element, words):
    path = tmp_path / "wrong.xml"
    path.write_text(scene().replace("<sensor>", f"<sensor>{element}"))
    with pytest.raises(slipstick.errors.LoadError, match=words):
        slipstick.load(path)


LEFT_OUT = [
    ('<camprojection site="zone" camera="eye"/>', "camprojection"),
    ('<rangefinder camera="eye"/>', "depth images"),
    ('<plugin plugin="x"/>', "plugin"),
    ('<framepos objtype="camera" objname="eye"/>', "reading is missing"),
    ('<clock delay="0.1" nsample="5"/>', "not late"),
]


@pytest.mark.parametrize("element, words", LEFT_OUT)
def test_what_is_left_out_is_a_warning(tmp_path, element, words):
    path = tmp_path / "partly.xml"
    text = scene().replace("<sensor>", f"<sensor>{element}")
    path.write_text(text.replace('<site name="zone"', '<camera name="eye" resolution="8 8"/><site name="zone"'))
    assert any(words in str(warning) for warning in slipstick.load(path).warnings)
