"""Range finders, distances, contacts, energies and other readings of geoms beside MuJoCo's sensordata, and their derivatives."""

import mujoco
import numpy as np
import pytest
import slipstick
from slipstick import collision, dynamics

from states import assert_close, generator, layout_of_model, random_quaternion

SHAPES = {
    "ball": 'type="sphere" size="0.3"',
    "rod": 'type="capsule" size="0.15 0.3"',
    "drum": 'type="cylinder" size="0.25 0.3"',
    "crate": 'type="box" size="0.2 0.3 0.25"',
    "egg": 'type="ellipsoid" size="0.2 0.3 0.4"',
    "wedge": 'type="mesh" mesh="wedge"',
}
RAY = "dist dir origin point normal depth"
PAIRS = [("ball", "rod"), ("ball", "crate"), ("rod", "rod2"), ("egg", "ball"), ("ball", "drum"), ("crate", "egg"), ("wedge", "ball")]
WIDE = {"cutoff": 'cutoff="5"', "near": 'cutoff="0.9"'}


def scene():
    """Bodies of all shapes that float without touching, a carrier of sensors among them, over a plane that ends and a height field."""
    bodies = "".join(
        f'<body name="{name}" pos="{i % 3 - 1} {i // 3 - 0.5} 1"><joint type="free" armature="0.1"/><geom name="{name}" {shape}/></body>'
        for i, (name, shape) in enumerate({**SHAPES, "rod2": SHAPES["rod"]}.items())
    )
    sites = "".join(f'<site name="eye{k}" pos="0.05 {0.1 * k} 0.1" euler="{40 * k} {65 * k} 10"/>' for k in range(6))
    pairs = "".join(
        f'<{kind} name="{kind} {a} {b} {size}" {"geom" if k % 2 else "body"}1="{a}" geom2="{b}" {cutoff}/>'
        for k, (a, b) in enumerate(PAIRS)
        for kind in ("distance", "normal", "fromto")
        for size, cutoff in WIDE.items()
    )
    rays = "".join(f'<rangefinder name="ray{k}" site="eye{k}" data="{RAY}"/>' for k in range(6))
    heights = " ".join(str(x) for x in np.round(64 * generator("heights").uniform(0, 1, 30)) / 64)
    return f"""<mujoco>
  <option magnetic="0.3 -0.2 0.5" ccd_tolerance="1e-13" ccd_iterations="400"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <asset>
    <mesh name="wedge" vertex="-.5 -.25 -.25 .5 -.25 -.25 -.5 .25 -.25 .5 .25 -.25 -.5 -.25 .25 -.5 .25 .25"/>
    <hfield name="hills" nrow="5" ncol="6" size="1 1 0.5 0.25" elevation="{heights}"/>
    <material name="glass" rgba="1 1 1 0"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="2 1.5 1" pos="0 0 -1.5"/>
    <geom name="hills" type="hfield" hfield="hills" pos="2.5 0 -1" contype="1"/>
    <geom name="pane" type="box" size="3 3 0.1" pos="0 0 0" rgba="1 0 0 0"/>
    <geom name="window" type="box" size="3 3 0.1" pos="0 0 0.3" material="glass"/>
    <body name="post" pos="-1 1 0"><geom name="post" type="cylinder" size="0.4 1"/></body>
    {bodies}
    <body name="carrier" pos="0 0 2"><joint type="free" armature="0.1"/><geom type="box" size="0.1 0.1 0.1"/>{sites}
      <site name="room" type="box" size="1 1.2 0.8"/></body>
  </worldbody>
  <sensor>{rays}{pairs}
    <rangefinder name="short" site="eye1" cutoff="0.5"/>
    <magnetometer name="compass" site="eye2"/>
    <insidesite name="inside" site="room" objtype="xbody" objname="crate"/>
    <insidesite name="inside center" site="room" objtype="body" objname="egg"/>
    <e_potential name="height"/><e_kinetic name="motion"/><user name="mine" dim="3"/>
    <framepos name="clamped" objtype="site" objname="eye3" cutoff="0.3"/>
  </sensor>
</mujoco>"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("geoms") / "scene.xml"
    path.write_text(scene())
    return path


@pytest.fixture(scope="module")
def model(path):
    return slipstick.load(path).with_options(implicit="none", integrator="euler")


@pytest.fixture(scope="module")
def mj(path):
    return mujoco.MjModel.from_xml_path(str(path))


def states(model, label, count):
    rng = generator(label)
    for _ in range(count):
        q = model.neutral()
        for _, start in layout_of_model(model):
            q[start : start + 3] += rng.uniform(-0.6, 0.6, 3)
            q[start + 3 : start + 7] = random_quaternion(rng)
        yield q, rng.uniform(-1, 1, model.nv)


def beside(model, mj, label, count):
    """(our readings, MuJoCo's data) at random states."""
    data = mujoco.MjData(mj)
    for q, v in states(model, label, count):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(mj, data)
        yield slipstick.step(model, q, v).sensors, data


def test_all_sensors_are_kept_and_those_that_differ_are_told(model):
    effects = [warning.effect for warning in model.warnings]
    assert sum("reads zeros" in effect for effect in effects) == 1
    assert sum("convex hulls" in effect for effect in effects) == 1
    assert len(effects) == 2, effects


def test_range_finders_read_as_in_mujoco(model, mj):
    """1e-8; 1e-6 on what MuJoCo keeps in single precision."""
    hits = {}
    for ours, data in beside(model, mj, "rays", 60):
        for k in range(6):
            got, expected = ours[f"ray{k}"], data.sensor(f"ray{k}").data
            geom = np.zeros(1, dtype=np.int32)
            site = data.site(f"eye{k}")
            own = mj.body("carrier").id
            mujoco.mj_ray(mj, data, site.xpos, site.xmat.reshape(3, 3)[:, 2], None, 1, own, geom)
            name = mj.geom(geom[0]).name if geom[0] >= 0 else None
            if name == "hills" and not below_the_hills_counts(expected):
                continue
            hits[name] = hits.get(name, 0) + 1
            assert_close(got, expected, 1e-6 if name in ("wedge", "hills") else 1e-8, f"ray {k} on {name}")
    assert set(hits) >= {*SHAPES, "floor", "post", None} and "pane" not in hits and "window" not in hits


def below_the_hills_counts(reading):
    """Rays meet the surface of a height field, not its walls and its bottom: MuJoCo's normals there are axes or point down."""
    normal = reading[10:13]
    return normal[2] > 0.05 and np.abs(normal).max() < 1.0 - 1e-9


def test_distances_read_as_in_mujoco(model, mj):
    """1e-8 for closed forms, 1e-6 where MuJoCo iterates; points of overlapping bodies depend on the algorithm."""
    near = 0
    for ours, data in beside(model, mj, "distances", 40):
        for a, b in PAIRS:
            for size in WIDE:
                name = f"{a} {b} {size}"
                distance = data.sensor(f"distance {name}").data
                tolerance = 1e-8 if {a, b} <= {"ball", "rod", "rod2"} else 1e-6
                if distance[0] < 0 and "egg" in name:
                    continue
                assert_close(ours[f"distance {name}"], distance, tolerance, name)
                near += distance[0] < 0.9
                if distance[0] > 0:
                    smooth = tolerance if tolerance < 1e-7 else 3e-4
                    assert_close(ours[f"normal {name}"], data.sensor(f"normal {name}").data, smooth, name)
                    assert_close(ours[f"fromto {name}"], data.sensor(f"fromto {name}").data, smooth, name)
    assert near > 100


def test_energies_fields_zones_and_bounds_read_as_in_mujoco(model, mj):
    inside = []
    for ours, data in beside(model, mj, "energies", 20):
        for name in ["compass", "height", "motion", "inside", "inside center", "mine", "short", "clamped"]:
            assert_close(ours[name], data.sensor(name).data, 1e-8, name)
        inside.append(ours["inside"][0])
    assert 0 < sum(inside) < len(inside)


def test_rays_of_a_model_hit_what_mj_ray_hits(model, mj):
    rng, data, met = generator("mj_ray"), mujoco.MjData(mj), set()
    for q, _ in states(model, "scenes for rays", 5):
        data.qpos[:] = q
        mujoco.mj_kinematics(mj, data)
        for n in range(80):
            origin, direction = rng.uniform(-2, 2, 3) + [0, 0, 1], rng.normal(size=3)
            direction /= np.linalg.norm(direction)
            without = "crate" if n % 2 else None
            geom, normal = np.zeros(1, dtype=np.int32), np.zeros(3)
            own = mj.body("crate").id if without else -1
            distance = mujoco.mj_ray(mj, data, origin, direction, None, 1, own, geom, normal)
            hit = collision.raycast_model(model, q, origin, direction, without=without)
            name = mj.geom(geom[0]).name if distance >= 0 else None
            if name == "hills" or (hit and hit.geom == "hills"):
                continue
            met.add(name)
            assert (hit.geom if hit else None) == name
            if hit:
                tolerance = 1e-6 if name == "wedge" else 1e-8
                assert_close(hit.distance, distance, tolerance)
                # MuJoCo's normals of triangles do not depend on the side that is hit
                assert_close(hit.normal, normal, tolerance)
    assert None in met and len(met) > 8
    with pytest.raises(ValueError, match="link.*nobody"):
        collision.raycast_model(model, model.neutral(), [0, 0, 3], [0, 0, -1], without="nobody")


def numbers(step, names):
    return np.concatenate([step.sensors[name] for name in names])


def test_readings_have_the_derivatives_of_their_differences(model):
    """Tolerance 1e-6 on the scale of each sensor; a ray may leave a geom within a difference, and is left out then."""
    names = [s.name for s in model.sensors]
    compared = 0
    for q, v in states(model, "differences", 6):
        try:
            jacobians = slipstick.step(model, q, v).sensor_jacobian()
        except slipstick.errors.GradientError:
            continue  # flat faces are parallel
        ends = np.cumsum([len(jacobians[name].dq) for name in names])
        for j in range(model.nv):
            unit = np.eye(model.nv)[j]
            at_q = lambda h: numbers(slipstick.step(model, dynamics.integrate(model, q, h * unit), v), names)
            at_v = lambda h: numbers(slipstick.step(model, q, v + h * unit), names)
            for what, at in {"dq": at_q, "dv": at_v}.items():
                coarse, fine = ((at(h) - at(-h)) / (2 * h) for h in (1e-5, 1e-6))
                for name, end in zip(names, ends):
                    block = getattr(jacobians[name], what)
                    rows = slice(end - len(block), end)
                    scale = max(1.0, np.abs(block).max())
                    if np.abs(coarse[rows] - fine[rows]).max() > 1e-4 * scale:
                        continue
                    error = min(np.abs(d[rows] - block[:, j]).max() for d in (coarse, fine)) / scale
                    assert error < 1e-6, f"{name} by {what} {j}: {error:.1e}"
                    compared += 1
    assert compared > 5000


def test_gradients_of_weighted_readings_are_products_with_their_jacobians(model):
    rng, done = generator("weights of geoms"), 0
    for q, v in states(model, "differences", 6):
        step = slipstick.step(model, q, v)
        weights = {name: rng.normal(size=len(reading)) for name, reading in step.sensors.items()}
        try:
            jacobians = step.sensor_jacobian()
        except slipstick.errors.GradientError:
            continue
        gradients = step.vjp(sensors=weights)
        for what in ["q", "v", "tau"]:
            expected = sum(weights[name] @ getattr(J, f"d{what}") for name, J in jacobians.items())
            assert_close(getattr(gradients, what), expected, 1e-10, what)
        done += 1
    assert done > 3


SIZED = ["ray0", "ray1", "ray2", "ray3", "ray4", "ray5", "height", "motion", "compass"]


def test_distances_energies_and_rays_have_gradients_by_parameters(model):
    rng, done = generator("parameters of geoms"), {}
    names = [n for n in (s.name for s in model.sensors) if n.startswith("distance") or n in SIZED]
    for q, v in states(model, "differences", 3):
        step = slipstick.step(model, q, v)
        weights = {name: rng.normal(size=len(step.sensors[name])) for name in names}
        for name in names:
            if name.startswith("ray"):
                weights[name][10:13] = 0.0  # normals of curved geoms have no derivative by sizes
        for group in ["shape_size", "mesh_scale", "inertial", "gravity", "armature", "joint_placement"]:
            gradient = step.vjp(sensors=weights, parameters=[group]).parameters[group]
            for k in rng.permutation(len(gradient))[:40]:
                def reading(h):
                    values = model.parameters.copy()
                    values[model.parameter_groups[group].start + k] += h
                    found = slipstick.step(model.with_parameters(values), q, v).sensors
                    return sum(weights[name] @ found[name] for name in names)
                h = 1e-6
                expected = (reading(h) - reading(-h)) / (2 * h)
                assert abs(gradient[k] - expected) < 1e-6 * max(1.0, np.abs(gradient).max()), f"{group} {k}"
                done[group] = done.get(group, 0) + (gradient[k] != 0)
    assert all(done[g] > 0 for g in ["shape_size", "mesh_scale", "inertial", "gravity"]), done


def test_the_model_survives_a_file_in_mjcf(model, tmp_path):
    copy = tmp_path / "copy.xml"
    copy.write_text(model.to_mjcf())
    again = slipstick.load(copy).with_options(implicit="none", integrator="euler")
    assert [(s.name, s.quantity, s.size, s.cutoff) for s in again.sensors] == [
        (s.name, s.quantity, s.size, s.cutoff) for s in model.sensors
    ]
    for q, v in states(model, "copy", 3):
        ours, theirs = slipstick.step(model, q, v).sensors, slipstick.step(again, q, v).sensors
        for name in ours:
            assert_close(theirs[name], ours[name], 1e-9, name)


def test_rollouts_have_gradients_of_ranges_and_distances(model):
    """Of readings summed over time, by the state and the inputs at its beginning; tolerance 1e-6 of the largest entry."""
    steps, names = 5, ["distance ball rod cutoff", "short", "height", "motion"]
    q, v = next(states(model, "rollouts", 1))
    rng = generator("weights of rollouts")
    weights = {name: rng.normal(size=(steps, 1)) for name in names}

    def total(q, v):
        run = slipstick.gradient.RolloutGradient(model, steps).run(q, v)
        return sum((weights[name] * run.sensors[name]).sum() for name in names)

    rollout = slipstick.gradient.RolloutGradient(model, steps)
    rollout.run(q, v)
    gradient, h = rollout.vjp(sensors=weights), 1e-6
    for j in rng.permutation(model.nv)[:16]:
        d = h * np.eye(model.nv)[j]
        by_q = (total(dynamics.integrate(model, q, d), v) - total(dynamics.integrate(model, q, -d), v)) / (2 * h)
        by_v = (total(q, v + d) - total(q, v - d)) / (2 * h)
        assert abs(gradient.q[j] - by_q) < 1e-6 * max(1.0, np.abs(gradient.q).max()), f"q {j}"
        assert abs(gradient.v[j] - by_v) < 1e-6 * max(1.0, np.abs(gradient.v).max()), f"v {j}"
