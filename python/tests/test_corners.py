"""Step.corners(): columns of the Jacobian that are not the derivative on both sides."""

import numpy as np
import pytest
import slipstick
from stepping import Stepper

BOX = """<mujoco><option timestep="0.002" gravity="0 0 -10"/><worldbody>
<geom type="plane" size="5 5 .1" friction=".5"/>
<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction=".5"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def box(tmp_path):
    file = tmp_path / "box.xml"
    file.write_text(BOX)
    return slipstick.load(file)


def standing():
    model = slipstick.builtin("quadruped")
    sim, home = Stepper(model), model.keyframe("home")
    q, v = home.q, np.zeros(model.nv)
    for _ in range(1500):
        step = sim.step(q, v, ctrl=home.ctrl)
        q, v = step.q, step.v
    return model, sim, q, v, home.ctrl


def test_a_box_about_to_slip_has_corners_where_both_sides_differ(box):
    sim = Stepper(box, tolerance=1e-13)
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
    step = slipstick.step(box, box.neutral(), np.zeros(6))
    assert step.corners().count == 0 and not step.jacobian().contradicts.any()
    assert step.corners().ctrl.shape == (0,) and step.corners().q.dtype == bool


def test_a_standing_quadruped_holds_more_than_it_can():
    _, sim, q, v, ctrl = standing()
    step = sim.step(q, v, ctrl=ctrl)
    corners, jacobian = step.corners(), step.jacobian()
    assert corners.q.any() and jacobian.contradicts.any()
    assert not corners.v.any() and not corners.tau.any()


def test_a_stale_step_says_so(box):
    sim = Stepper(box)
    step = sim.step(box.neutral(), np.zeros(6))
    sim.step(box.neutral(), np.zeros(6))
    with pytest.raises(slipstick.errors.StaleStep):
        step.corners()


def test_the_mean_of_both_sides_is_a_jacobian_of_its_own():
    model, sim, q, v, ctrl = standing()
    step = sim.step(q, v, ctrl=ctrl)
    own, mean = step.jacobian(), step.jacobian(sides="mean", length=1e-6)
    assert mean.dv_dq.shape == own.dv_dq.shape and np.abs(mean.dv_dq - own.dv_dq).max() > 1.0
    ahead, behind = (step.jvp(q=side * np.eye(model.nv)[8], length=1e-6)[1] for side in (1.0, -1.0))
    np.testing.assert_allclose(mean.dv_dq[:, 8], (ahead - behind) / 2, atol=1e-6)
    for arguments in ({"sides": "mean"}, {"length": 1e-6}, {"sides": "left", "length": 1e-6}):
        with pytest.raises(ValueError, match="sides|length"):
            step.jacobian(**arguments)
    with pytest.raises(ValueError, match="length"):
        step.jacobian(sides="mean", length=-1.0)


def test_choices_are_counted_in_rollouts_and_batches():
    model, _, q, v, ctrl = standing()
    rollout = slipstick.gradient.RolloutGradient(model, 4)
    rollout.run(q, v, ctrl=np.tile(ctrl, (4, 1)))
    rollout.vjp(v=np.ones(model.nv))
    assert rollout.choices >= 2
    batch = slipstick.Batch(model, 2)
    above = q.copy()
    above[2] += 1.0
    batch.step(np.stack([q, above]), np.stack([v, v]), ctrl=np.stack([ctrl, ctrl]))
    batch.vjp(v=np.ones((2, model.nv)))
    assert batch.choices.tolist() == [1, 0]


def test_a_patch_has_a_margin_and_the_report_shows_it(box):
    sim = Stepper(box)
    rest = sim.step(box.neutral(), np.zeros(6))
    assert 1e-3 < rest.report.margin < 0.1 and rest.report.degenerate == 0
    tipping = sim.step(box.neutral(), np.zeros(6), tau=[0, 0, 0, 0, 1.0, 0])
    assert tipping.report.margin < 1e-7 and tipping.report.degenerate > 0
    assert "Nearest to a change" in tipping.explain() and "undecided" in tipping.explain()
    assert all(len(c.reserve) == 2 for c in tipping.constraints)
