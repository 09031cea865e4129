"""Step.corners(): columns of the Jacobian that are not the derivative on both sides."""

import numpy as np
import pytest
import slipstick

BOX = """<mujoco><option timestep="0.002" gravity="0 0 -10"/><worldbody>
<geom type="plane" size="5 5 .1" friction=".5"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction=".5"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def box(tmp_path):
    file = tmp_path / "box.xml"
    file.write_text(BOX)
    return slipstick.load(file)


def test_a_box_about_to_slip_has_corners_where_both_sides_differ(box):
    sim = slipstick.Simulator(box, tolerance=1e-13)
    push = np.array([5.0, 0, 0, 0, 0, 0])  # all that friction can bear
    step = sim.step(box.neutral(), np.zeros(6), tau=push)
    corners = step.corners()
    assert corners.tau[0] and corners.count == sum(map(np.sum, (corners.q, corners.v, corners.tau, corners.ctrl)))
    start, v = sim.warm_start(), step.v.copy()

    def quotient(h):
        sim.restore(start)
        return (sim.step(box.neutral(), np.zeros(6), tau=push + [h, 0, 0, 0, 0, 0]).v - v) / h

    assert abs(quotient(1e-4)[0] - 0.002) < 1e-6 and abs(quotient(-1e-4)[0]) < 1e-6


def test_at_rest_there_are_none_and_nothing_contradicts(box):
    step = slipstick.Simulator(box).step(box.neutral(), np.zeros(6))
    assert step.corners().count == 0 and not step.jacobian().contradicts.any()
    assert step.corners().ctrl.shape == (0,) and step.corners().q.dtype == bool


def test_a_standing_quadruped_holds_more_than_it_can():
    model = slipstick.builtin("quadruped")
    sim = slipstick.Simulator(model)
    home = model.keyframe("home")
    q, v = home.q, np.zeros(model.nv)
    for _ in range(1500):
        step = sim.step(q, v, ctrl=home.ctrl)
        q, v = step.q, step.v
    corners, jacobian = step.corners(), step.jacobian()
    assert corners.q.any() and jacobian.contradicts.any()
    assert not corners.v.any() and not corners.tau.any()


def test_a_stale_step_says_so(box):
    sim = slipstick.Simulator(box)
    step = sim.step(box.neutral(), np.zeros(6))
    sim.step(box.neutral(), np.zeros(6))
    with pytest.raises(slipstick.StaleStep):
        step.corners()
