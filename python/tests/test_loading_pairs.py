"""Lists of pairs: MuJoCo's rule and the paper's, and every paper_pairs.json of the robots folder."""

import json

import numpy as np
import pytest
import slipstick

from robots import PAPER_ROBOTS, SHARED, Robot

# Pairs nearer than 1 cm in the neutral configuration are left out (H1 259 → 255, Atlas 3415 → 3399); UR5's list drops
# one more pair.
COUNTS = {"half_cheetah": 27, "humanoid": 161, "ur5": 27, "go1": 494, "h1": 255, "atlas": 3399}
AD_HOC = {"ur5": {frozenset({"shoulder_link_0", "floor"})}}


ABSENT = f"robots folder {SHARED} not found (set SLIPSTICK_MODELS)"


@pytest.fixture(params=PAPER_ROBOTS, ids=str)
def robot(request):
    if not request.param.is_present:
        pytest.skip(ABSENT)
    return request.param


def pairs_file(robot):
    """The paper's list, which no package has."""
    path = SHARED / short(robot) / "paper_pairs.json"
    if not path.is_file():
        pytest.skip(ABSENT)
    return path


def short(robot: Robot):
    return robot.name.removeprefix("paper/")


def load(robot, **options):
    return slipstick.load(robot.path, free_root=robot.free_root, ground=not robot.is_mjcf, **options)


def listed(robot):
    """Pairs of names in paper_pairs.json, and the whole list."""
    contents = json.loads(pairs_file(robot).read_text(encoding="utf-8"))
    names = {entry["i"]: entry["name"] for entry in contents["geometries"]}
    return {frozenset({names[a], names[b]}) for a, b in contents["pairs"]}, contents


def by_name(model):
    return {frozenset({model.geom_names[a], model.geom_names[b]}) for a, b in model.pairs}


def test_the_papers_rule_makes_the_papers_pairs(robot):
    expected, contents = listed(robot)
    model = load(robot, pairs="paper")
    assert model.n_geoms == contents["n_geometries"]
    assert len(model.pairs) == COUNTS[short(robot)]
    pairs = by_name(model)
    assert expected <= pairs
    assert pairs - expected == AD_HOC.get(short(robot), set())


def test_a_list_of_pairs_is_taken_as_it_is(robot):
    expected, contents = listed(robot)
    model = load(robot, pairs=pairs_file(robot))
    assert by_name(model) == expected
    assert len(model.pairs) == contents["n_pairs"]


def test_the_rule_of_a_urdf_is_the_papers_and_of_mjcf_mujocos(robot):
    rule = "mujoco" if robot.is_mjcf else "paper"
    assert np.array_equal(load(robot).pairs, load(robot, pairs=rule).pairs)


BOXES = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="a"><freejoint/><geom name="a" size="0.1"/><geom name="aa" size="0.1" contype="0" conaffinity="0"/>
<body name="b" pos="1 0 0"><joint/><geom name="b" size="0.1"/>
<body name="fixed" pos="1 0 0"><geom name="fixed" size="0.1"/><body name="c" pos="1 0 0"><joint/><geom name="c" size="0.1"/></body></body></body>
</body><body name="d" pos="0 1 0"><freejoint/><geom name="d" size="0.1" contype="2" conaffinity="4"/></body></worldbody>
<contact>{contact}</contact></mujoco>"""


@pytest.fixture
def boxes(tmp_path):
    def load(contact="", **options):
        path = tmp_path / "boxes.xml"
        path.write_text(BOXES.format(contact=contact))
        return {frozenset(pair) for pair in by_name(slipstick.load(path, **options))}

    return load


def pairs(text):
    return {frozenset(pair.split("-")) for pair in text.split()}


def test_masks_parents_and_welded_links_decide_in_mujocos_rule(boxes):
    assert boxes() == pairs("floor-a floor-b floor-fixed floor-c a-c")


def test_exclusions_name_bodies_and_explicit_pairs_need_no_masks(boxes):
    contact = '<exclude body1="a" body2="c"/><pair geom1="a" geom2="d"/><pair geom1="a" geom2="b"/>'
    assert boxes(contact) == pairs("floor-a floor-b floor-fixed floor-c a-d a-b")


def test_the_papers_rule_ignores_masks_exclusions_and_explicit_pairs(boxes):
    contact = '<exclude body1="a" body2="c"/><pair geom1="a" geom2="b"/>'
    expected = "floor-a floor-aa floor-b floor-fixed floor-c floor-d a-c aa-c a-d aa-d b-d fixed-d c-d"
    assert boxes(contact, pairs="paper") == pairs(expected)


def test_a_file_of_pairs_may_be_a_list_of_names(boxes, tmp_path):
    path = tmp_path / "pairs.json"
    path.write_text('[["a", "d"], ["d", "c"]]')
    assert boxes(pairs=path) == boxes(pairs=str(path)) == pairs("a-d c-d")


def test_a_file_of_pairs_with_an_unknown_name_is_refused_by_name(boxes, tmp_path):
    path = tmp_path / "pairs.json"
    path.write_text('[["a", "nobody"]]')
    with pytest.raises(slipstick.LoadError, match="pairs.json.*nobody"):
        boxes(pairs=path)
    with pytest.raises(slipstick.LoadError, match="no_such_file"):
        boxes(pairs="no_such_file.json")
