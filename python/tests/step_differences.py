"""Steps by central differences, and the states in which they are taken.

Every evaluation starts from the same warm start, that of a solve at the state itself, and is solved to 1e-13. Steps of
q are 1e-6 to 1e-8: a contact at rest breaks within 1e-5 m. Those of the other inputs are larger, since they reach q⁺
only through dt or dt². For each column the best of three steps counts: a large one may leave the mode, and a small one
is lost in rounding.
"""

from dataclasses import dataclass

import numpy as np
import slipstick

from states import generator
from stepping import Stepper

Q_STEPS = (1e-6, 1e-7, 1e-8)  # m, rad
V_STEPS = (1e-4, 1e-5, 1e-6)  # m/s, rad/s


@dataclass
class Scene:
    """A state of a model in the middle of a motion, and what acts in it."""

    model: slipstick.Model
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    ctrl: np.ndarray | None
    wrenches: np.ndarray

    def step(self, **options):
        """The step from here, as the answer of its own simulator."""
        simulator = Stepper(self.model, tolerance=1e-13, **options)
        simulator.step(self.q, self.v, self.tau, self.ctrl, self.wrenches)
        return simulator.step(self.q, self.v, self.tau, self.ctrl, self.wrenches)


def scene(name, steps, speed=0.0, ctrl=True, push=0.0, twist=0.0):
    """A built-in robot `steps` after it left its home pose at random velocities, under random forces."""
    model, rng = slipstick.builtin(name), generator(f"{name} {steps} {speed}")
    home = model.keyframe("home")
    tau, wrenches = push * rng.normal(size=model.nv), twist * rng.normal(size=(model.n_bodies, 6))
    wrenches[0] = 0.0
    given = {"tau": tau, "wrenches": wrenches, "ctrl": home.ctrl if ctrl and model.nu else None}
    run = Stepper(model).rollout(home.q, speed * rng.normal(size=model.nv), steps, **given)
    return Scene(model, run.q[-1], run.v[-1], **given)


def sliding_cube():
    """A cube that slides on its face and turns about the vertical."""
    model = slipstick.builtin("cube")
    home = model.keyframe("home")
    run = Stepper(model).rollout(home.q, [1.0, 0.4, 0.0, 0.0, 0.0, 0.5], 20)
    return Scene(model, run.q[-1], run.v[-1], np.zeros(6), None, np.zeros((2, 6)))


SCENES = {
    "cube sliding": sliding_cube,
    "cube at rest": lambda: scene("cube", 200, ctrl=False),
    "cube on an edge": lambda: scene("cube", 55, speed=1.0, ctrl=False, push=0.01),
    "sphere rolling": lambda: scene("sphere", 30, speed=0.5, ctrl=False, push=0.01),
    "ant crawling": lambda: scene("ant", 300, speed=0.5, ctrl=False),
    "half_cheetah running": lambda: scene("half_cheetah", 120, speed=0.5, push=0.5),
    "hopper at a limit": lambda: scene("hopper", 800, speed=0.5, ctrl=False),
    "humanoid fallen": lambda: scene("humanoid", 800, speed=0.5, ctrl=False),
    "biped falling": lambda: scene("biped", 500, speed=0.5, ctrl=False),
    "quadruped standing": lambda: scene("quadruped", 400, push=0.3),
    "quadruped pushed": lambda: scene("quadruped", 60, speed=0.5, push=0.5, twist=1.0),
}


class Differences:
    """Central differences of the step from a scene."""

    def __init__(self, s, **options):
        self.scene, self.simulator = s, Stepper(s.model, tolerance=1e-13, **options)
        self.given = {"q": s.q, "v": s.v, "tau": s.tau, "ctrl": s.ctrl}
        self.at()
        self.warm = self.simulator.warm_start()
        self.base = self.at(self.warm)
        inverse = slipstick.dynamics.mass_inverse(s.model, s.q)
        self.mobility = s.model.dt * np.max(np.abs(inverse))  # m/s per N

    def at(self, warm=None, **changed):
        if warm is not None:
            self.simulator.restore(warm)
        x = self.given | changed
        return self.simulator.step(x["q"], x["v"], x["tau"], x["ctrl"], self.scene.wrenches)

    def steps(self, what):
        if what == "q":
            return Q_STEPS
        return V_STEPS if what == "v" else [h / self.mobility for h in V_STEPS]

    def moved(self, what, change):
        x = self.given[what]
        return slipstick.dynamics.integrate(self.scene.model, x, change) if what == "q" else x + change

    def column(self, what, k, h, output):
        """d output / d (k-th number of an input), and whether all three steps are in the same mode."""
        change = np.zeros(len(self.scene.ctrl) if what == "ctrl" else self.scene.model.nv)
        change[k] = h
        pair = [self.at(self.warm, **{what: self.moved(what, sign * change)}) for sign in (1.0, -1.0)]
        same = {self.base.mode_key} == {step.mode_key for step in pair}
        high, low = (output(step) for step in pair)
        return (high - low) / (2.0 * h), same

    def blocks(self, what, output):
        """For each size of step, the block (outputs, inputs). Columns that cross a switch are NaN."""
        n = len(self.scene.ctrl) if what == "ctrl" else self.scene.model.nv
        found = []
        for h in self.steps(what):
            columns = [self.column(what, k, h, output) for k in range(n)]
            found.append(np.stack([column if same else column * np.nan for column, same in columns], axis=-1))
        return found

    def state(self, step):
        """(q⁺, v⁺) around those of the scene's own step: 2 nv numbers."""
        return np.concatenate([slipstick.dynamics.difference(self.scene.model, self.base.q, step.q), step.v])


def error(actual, candidates, scale):
    """The largest error of a column against its best candidate, over scale, and the share of columns that have none."""
    errors = np.array([np.max(np.abs(actual - c), axis=0) for c in candidates])  # (candidates, columns)
    known = ~np.isnan(errors).all(axis=0)
    best = np.nanmin(errors[:, known], axis=0)
    return np.max(best, initial=0.0) / scale, 1.0 - np.mean(known)
