"""Contact patches of shapes, and contacts of whole models against MuJoCo's and the paper's pair lists."""

import json

import mujoco
import numpy as np
import pytest
import slipstick
from slipstick import collision

from robots import BUILTIN_ROBOTS, SHARED, robot_named
from solids import COMBINATIONS, Shape, gap, pose, random_rotation, random_shape
from states import generator, random_states

UPRIGHT = np.eye(4)
AT = lambda *position: pose(np.eye(3), position)


def turned(angle, axis="z"):
    c, s = np.cos(angle), np.sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    R = np.eye(3)
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s
    return R


def sorted_points(points):
    return np.array(sorted(np.round([p.point for p in points], 12).tolist()))


def corners(x, y, z):
    return np.array(sorted([-i * x, -j * y, z] for i in (-1.0, 1.0) for j in (-1.0, 1.0)))


# ------------------------------------------------------------------ patches


def test_a_box_on_a_box_touches_at_the_four_corners_of_the_common_face():
    table, box = collision.Box([0.5, 0.5, 0.1]), collision.Box([0.1, 0.2, 0.3])
    for height, distance in [(0.4, 0.0), (0.405, 0.005), (0.395, -0.005)]:
        points = collision.contact(table, UPRIGHT, box, AT(0.0, 0.0, height))
        assert len(points) == 4
        # all on the plane of one of the two faces
        z = points[0].point[2]
        assert min(abs(z - 0.1), abs(z - (height - 0.3))) < 1e-12
        assert np.allclose(sorted_points(points), corners(0.1, 0.2, z), atol=1e-12)
        for p in points:
            assert np.allclose(p.normal, [0, 0, 1], atol=1e-12)
            assert p.distance == pytest.approx(distance, abs=1e-12)
        assert len({p.feature for p in points}) == 4
    assert collision.contact(table, UPRIGHT, box, AT(0.0, 0.0, 0.4101)) == []
    assert collision.contact(table, UPRIGHT, box, AT(0.0, 0.0, 0.5), contact_distance=0.2) != []


def test_a_box_over_the_edge_touches_where_the_faces_overlap():
    table, box = collision.Box([0.5, 0.5, 0.1]), collision.Box([0.1, 0.1, 0.1])
    points = collision.contact(table, UPRIGHT, box, AT(0.45, 0.0, 0.2))
    assert len(points) == 4
    xy = np.array([p.point[:2] for p in points])
    assert np.allclose(np.sort(xy[:, 0]), [0.35, 0.35, 0.5, 0.5], atol=1e-12)
    assert np.allclose(np.sort(xy[:, 1]), [-0.1, -0.1, 0.1, 0.1], atol=1e-12)


def test_a_box_turned_by_an_eighth_has_four_points_inside_both_faces():
    box = collision.Box([0.1, 0.1, 0.1])
    points = collision.contact(box, UPRIGHT, box, pose(turned(np.pi / 4), [0, 0, 0.2]))
    assert len(points) == 4
    xy = np.array([p.point[:2] for p in points])
    assert np.all(np.abs(xy) <= 0.1 + 1e-12) and np.all(np.abs(xy).sum(axis=1) <= 0.1 * np.sqrt(2) + 1e-12)
    hull = [xy[:, 0].max() - xy[:, 0].min(), xy[:, 1].max() - xy[:, 1].min()]
    assert min(hull) > 0.08, "the points span the octagon"


STANDING = [
    ("box on its face", collision.Box([0.1, 0.2, 0.3]), np.eye(3), 0.3, 4),
    ("box on an edge", collision.Box([0.1, 0.2, 0.1]), turned(np.pi / 4, "y"), 0.1 * np.sqrt(2), 2),
    ("capsule lying", collision.Capsule(0.1, 0.2), turned(np.pi / 2, "y"), 0.1, 2),
    ("capsule upright", collision.Capsule(0.1, 0.2), np.eye(3), 0.3, 1),
    ("cylinder lying", collision.Cylinder(0.1, 0.2), turned(np.pi / 2, "x"), 0.1, 2),
    ("cylinder upright", collision.Cylinder(0.1, 0.2), np.eye(3), 0.2, (3, 4)),
    ("cone upright", collision.Cone(0.1, 0.2), np.eye(3), 0.2, (3, 4)),
    ("sphere", collision.Sphere(0.1), np.eye(3), 0.1, 1),
    ("ellipsoid", collision.Ellipsoid([0.1, 0.2, 0.3]), np.eye(3), 0.3, 1),
    ("hull on its face", collision.Hull(np.vstack([np.eye(3), np.zeros(3)]) - [0.25, 0.25, 0.25]), np.eye(3), 0.25, 3),
]


@pytest.mark.parametrize("name, solid, R, height, count", STANDING, ids=[s[0] for s in STANDING])
@pytest.mark.parametrize("ground", [collision.Plane(), "slab"], ids=["plane", "slab"])
def test_what_stands_on_the_ground_has_points_enough_to_stand(ground, name, solid, R, height, count):
    X_ground = UPRIGHT
    if ground == "slab":
        ground, X_ground = collision.Box([1.0, 1.0, 0.5]), AT(0.0, 0.0, -0.5)
    for depth in (0.0, 1e-3):
        points = collision.contact(ground, X_ground, solid, pose(R, [0.1, 0.2, height - depth]))
        assert len(points) in (count if isinstance(count, tuple) else (count,)), [p.point.tolist() for p in points]
        for p in points:
            assert np.allclose(p.normal, [0, 0, 1], atol=1e-9)
            assert p.distance == pytest.approx(-depth, abs=1e-9)
            assert -depth - 1e-9 <= p.point[2] <= 1e-9
        if len(points) > 2:
            xy = np.array([p.point[:2] for p in points]) - [0.1, 0.2]
            spread = np.linalg.svd(xy - xy.mean(axis=0))[1]
            assert spread[1] > 0.05, "the points do not lie in a row"


@pytest.mark.parametrize("kinds", COMBINATIONS, ids="-".join)
def test_every_patch_has_the_deepest_point_and_no_point_beyond_its_distance(kinds):
    rng = generator(f"patches {kinds}")
    for k in range(60):
        a, b = (random_shape(kind, rng) for kind in kinds)
        X_a, X_b = pose(random_rotation(rng), rng.uniform(-1, 1, 3)), pose(random_rotation(rng), rng.uniform(-1, 1, 3))
        closest = collision.closest_points(a.solid, X_a, b.solid, X_b)
        X_b[:3, 3] += (rng.uniform(-0.02, 0.012) - closest.distance) * closest.normal
        closest = collision.closest_points(a.solid, X_a, b.solid, X_b)
        points = collision.contact(a.solid, X_a, b.solid, X_b, contact_distance=0.01)
        (single,) = collision.contact(a.solid, X_a, b.solid, X_b, contact_distance=0.01, points="one") or [None]
        if closest.distance > 0.01:
            assert points == [] and single is None
            continue
        assert single.distance == pytest.approx(closest.distance, abs=1e-12)
        assert np.allclose(single.point, closest.points.mean(axis=0), atol=1e-12)
        assert 1 <= len(points) <= 4
        assert len({p.feature for p in points}) == len(points)
        assert all(np.array_equal(p.normal, points[0].normal) for p in points), "one normal"
        along = gap(a, X_a[None], b, X_b[None], points[0].normal[None])[0]
        assert min(p.distance for p in points) == pytest.approx(along, abs=1e-7)
        assert along == pytest.approx(closest.distance, abs=1e-7), "the patch's normal is as good as the exact one"
        for p in points:
            assert p.distance <= 0.01
            for shape, X in ((a, X_a), (b, X_b)):
                own = X[:3, :3].T @ (p.point - X[:3, 3])
                assert shape.outside(own) <= abs(p.distance) + 1e-7, "the point lies between the surfaces"


# ------------------------------------------------------------------ models against MuJoCo

DISTANCE = 0.01
SIMPLE = {("plane", kind) for kind in ("sphere", "capsule", "box")} | {
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("capsule", "capsule"),
}


def mujoco_scene(robot):
    """MuJoCo's model with the same activation distance: it adds the margins of two geoms."""
    spec = mujoco.MjSpec.from_file(str(robot.path))
    for geom in spec.geoms:
        geom.margin = DISTANCE / 2
    mj = spec.compile()
    return mj, mujoco.MjData(mj)


def by_pair(contacts, key):
    pairs = {}
    for c in contacts:
        pairs.setdefault(key(c), []).append(c)
    return pairs


def states(model, label):
    """The keyframes, and random joint positions near them, where robots reach into themselves and the floor."""
    rng = generator(label)
    for name in model.keyframe_names:
        yield model.keyframe(name).q
    home = model.keyframe("home").q
    for _ in range(4):
        yield slipstick.dynamics.integrate(model, home, 0.2 * rng.normal(size=model.nv))


def kinds_of(model, pair):
    order = ["plane", "sphere", "capsule", "ellipsoid", "cylinder", "cone", "box", "mesh"]
    return tuple(sorted((model.geom_types[g] for g in pair), key=order.index))


@pytest.mark.parametrize("robot", BUILTIN_ROBOTS, ids=str)
def test_contacts_of_a_robot_are_mujocos(robot):
    model = slipstick.builtin(robot.path.stem).with_options(contact_distance=DISTANCE)
    mj, data = mujoco_scene(robot)
    assert model.geom_types == [
        mujoco.mjtGeom(t).name.removeprefix("mjGEOM_").lower() for t in mj.geom_type
    ], "the same geoms in the same order"
    for q in states(model, f"contacts {robot}"):
        data.qpos[:] = q
        mujoco.mj_fwdPosition(mj, data)
        ours = by_pair(collision.detect(model, q), lambda c: tuple(sorted(c.geom_numbers)))
        theirs = by_pair(data.contact, lambda c: tuple(sorted(int(g) for g in c.geom)))
        for pair in set(ours) | set(theirs):
            kinds = kinds_of(model, pair)
            nearest = collision.geom_distance(model, q, *pair).distance
            if abs(nearest - DISTANCE) < 1e-6:
                continue  # on the edge of being listed
            if pair in ours:
                assert min(c.distance for c in ours[pair]) == pytest.approx(nearest, abs=1e-7)
            if kinds in SIMPLE:
                assert pair in ours and pair in theirs, f"{kinds} {pair} at {nearest}"
                compare(ours[pair], theirs[pair], kinds)
            else:
                assert (pair in ours) == (nearest <= DISTANCE)


def compare(ours, theirs, kinds):
    """Deepest points of both; MuJoCo's normals lead from geom[0] to geom[1], as ours do from the first to the second."""
    a, b = min(ours, key=lambda c: c.distance), min(theirs, key=lambda c: c.dist)
    assert a.distance == pytest.approx(b.dist, abs=1e-9)
    flip = 1.0 if a.geom_numbers == tuple(b.geom) else -1.0
    assert np.allclose(flip * a.normal, b.frame[:3], atol=1e-6)
    R = a.frame
    assert np.allclose(R.T @ R, np.eye(3), atol=1e-12) and np.linalg.det(R) > 0
    assert np.array_equal(R[:, 2], a.normal)
    if kinds[0] != "plane" and len(theirs) == 1 == len(ours):
        assert np.allclose(a.point, b.pos, atol=1e-8)
    if kinds == ("plane", "sphere"):
        assert np.allclose(a.point, b.pos, atol=1e-8)


def test_contacts_name_geoms_bodies_and_pairs():
    model = slipstick.builtin("quadruped")
    contacts = collision.detect(model, model.keyframe("home").q)
    assert len(contacts) == 4, "it stands on four feet"
    for c in contacts:
        assert model.pairs[c.pair].tolist() == list(c.geom_numbers)
        assert c.geoms == tuple(model.geom_names[g] for g in c.geom_numbers)
        assert c.bodies == tuple(model.body_names[model.geom_bodies[g]] for g in c.geom_numbers)
        assert "world" in c.bodies
        assert c.distance == pytest.approx(0.0, abs=1e-6)
        assert isinstance(c.feature, int)
    assert [c.pair for c in contacts] == sorted(c.pair for c in contacts)


@pytest.mark.parametrize("robot", BUILTIN_ROBOTS, ids=str)
def test_detection_is_the_same_on_every_call(robot):
    model = slipstick.builtin(robot.path.stem)
    for q, _, _, _ in random_states(model, f"repeat {robot}"):
        first, second = collision.detect(model, q), collision.detect(model, q)
        numbers = lambda cs: [(c.pair, *c.point, *c.frame.ravel(), c.distance, c.feature) for c in cs]
        assert numbers(first) == numbers(second)


@pytest.mark.parametrize("robot", BUILTIN_ROBOTS, ids=str)
def test_no_pair_is_overlooked(robot):
    """Every pair by itself, without broad phase."""
    model = slipstick.builtin(robot.path.stem).with_options(contact_distance=0.03)
    for q in list(states(model, f"overlooked {robot}"))[:3]:
        near = {
            (int(a), int(b)): d
            for a, b in model.pairs
            if (d := collision.geom_distance(model, q, int(a), int(b)).distance) < 0.03 + 1e-9
        }
        found = {c.geom_numbers for c in collision.detect(model, q)}
        assert {pair for pair, d in near.items() if d < 0.03 - 1e-9} <= found <= set(near)


# ------------------------------------------------------------------ margins, refusals, rays

TWO_BALLS = """<mujoco><worldbody><body pos="0 0 {height}"><freejoint/><geom name="ball" size="0.1" {ball}/></body>
<geom name="floor" type="plane" size="0 0 1" {floor}/></worldbody></mujoco>"""


@pytest.mark.parametrize("ball, floor", [("", ""), ('margin="0.01"', ""), ('margin="0.02" gap="0.005"', 'margin="0.01"')])
def test_margins_move_the_surfaces(tmp_path, ball, floor):
    """A contact's distance is that of the shapes less what MuJoCo makes of the margins of both geoms."""
    path = tmp_path / "balls.xml"
    path.write_text(TWO_BALLS.format(height=0.105, ball=ball, floor=floor))
    model = slipstick.load(path)
    mj = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(mj)
    mujoco.mj_fwdPosition(mj, data)
    offset = data.contact.includemargin[0] if len(data.contact) else 0.0
    (contact,) = collision.detect(model, model.neutral())
    assert contact.distance == pytest.approx(0.005 - offset, abs=1e-12)


def test_unknown_geoms_and_modes_are_refused_by_name():
    model = slipstick.builtin("cube")
    q = model.neutral()
    with pytest.raises(ValueError, match="no geom named 'nobody'"):
        collision.geom_distance(model, q, "nobody", 0)
    with pytest.raises(ValueError, match="geom.* 99 "):
        collision.geom_distance(model, q, 0, 99)
    with pytest.raises(ValueError, match="mode.*'exact'.*'rough'"):
        collision.derivatives(model, q, "rough")
    with pytest.raises(ValueError, match="order.*0 or 1.*2"):
        collision.derivatives(model, q, "randomized", order=2)
    with pytest.raises(ValueError, match="q: expected 7.*got 3"):
        collision.detect(model, q[:3])
    with pytest.raises(ValueError, match="contact_distance.*-1"):
        model.with_options(contact_distance=-1.0)


@pytest.mark.parametrize("robot", BUILTIN_ROBOTS, ids=str)
def test_rays_into_a_robot_meet_what_mujocos_rays_meet(robot):
    model = slipstick.builtin(robot.path.stem)
    mj, data = mujoco_scene(robot)
    rng, met = generator(f"model rays {robot}"), 0
    q = model.keyframe("home").q
    data.qpos[:] = q
    mujoco.mj_fwdPosition(mj, data)
    center = data.subtree_com[0]
    for _ in range(60):
        origin = center + rng.normal(size=3) * 1.5
        origin[2] = abs(origin[2]) + 0.5  # above the floor: MuJoCo's planes have a front only
        direction = center + 0.3 * rng.normal(size=3) - origin
        expected = mujoco.mj_ray(mj, data, origin, direction, None, True, -1, None) * np.linalg.norm(direction)
        hit = collision.raycast_model(model, q, origin, direction)
        if hit is not None and expected < 0 and model.geom_types[hit.geom_number] == "plane":
            continue  # to MuJoCo's rays, planes end where they are no longer drawn
        assert (hit is None) == (expected < 0)
        if hit is None:
            continue
        met += 1
        tolerance = 1e-5 if model.geom_types[hit.geom_number] == "mesh" else 1e-8  # MuJoCo's vertices are floats
        assert hit.distance == pytest.approx(expected, abs=tolerance)
        assert hit.geom == model.geom_names[hit.geom_number]  # of geoms that share a surface it may be another one
        assert hit.body == model.body_names[model.geom_bodies[hit.geom_number]]
        assert collision.raycast_model(model, q, origin, direction, max_distance=hit.distance * 0.999) is None
    assert met > 0


# ------------------------------------------------------------------ the paper's pairs


@pytest.mark.parametrize("name, count", [("h1", 255), ("atlas", 3399)])
def test_distances_complete_the_papers_pair_rule(name, count):
    """Pairs of robot geoms nearer than 1 cm with all joints at zero are dropped; pairs with the floor stay."""
    robot = robot_named(f"paper/{name}")
    if not robot.is_present:
        pytest.skip(f"robots folder {SHARED} not found (set SLIPSTICK_MODELS)")
    contents = json.loads((SHARED / name / "paper_pairs.json").read_text(encoding="utf-8"))
    names = {entry["i"]: entry["name"] for entry in contents["geometries"]}
    listed = {frozenset({names[a], names[b]}) for a, b in contents["pairs"]}
    assert len(listed) == count
    model = slipstick.load(robot.path, free_root=True, ground=True, pairs="paper")
    geoms, q = model.geom_names, model.neutral()
    kept = {
        frozenset({geoms[a], geoms[b]})
        for a, b in model.pairs
        if "floor" in (geoms[a], geoms[b]) or collision.geom_distance(model, q, int(a), int(b)).distance >= 0.01
    }
    assert kept == listed


# ------------------------------------------------------------------ exchange and motion of patches


def test_patches_keep_their_points_when_both_shapes_move_together():
    rng = generator("patch motion")
    a, b = Shape("box", (0.2, 0.3, 0.1)), Shape("box", (0.1, 0.1, 0.1))
    for _ in range(20):
        X_b = pose(turned(rng.uniform(0, 2 * np.pi)), [*rng.uniform(-0.2, 0.2, 2), 0.199])
        X = pose(random_rotation(rng), rng.uniform(-2, 2, 3))
        still, moved = (collision.contact(a.solid, M, b.solid, M @ X_b) for M in (np.eye(4), X))
        assert [p.feature for p in still] == [p.feature for p in moved]
        for p, m in zip(still, moved):
            assert np.allclose(X[:3, :3] @ p.point + X[:3, 3], m.point, atol=1e-9)
            assert np.allclose(X[:3, :3] @ p.normal, m.normal, atol=1e-9)
            assert p.distance == pytest.approx(m.distance, abs=1e-9)


def test_exchanged_shapes_have_the_same_deepest_point_and_the_opposite_normal():
    rng = generator("patch exchange")
    for _ in range(50):
        a, b = random_shape("box", rng), random_shape("hull", rng)
        X_a, X_b = np.eye(4), pose(random_rotation(rng), rng.uniform(-0.1, 0.1, 3))
        found = collision.closest_points(a.solid, X_a, b.solid, X_b)
        X_b[:3, 3] += (-0.005 - found.distance) * found.normal
        there, back = collision.contact(a.solid, X_a, b.solid, X_b), collision.contact(b.solid, X_b, a.solid, X_a)
        assert len(there) == len(back)
        assert np.allclose(there[0].normal, -back[0].normal, atol=1e-9)
        assert min(p.distance for p in there) == pytest.approx(min(p.distance for p in back), abs=1e-9)
