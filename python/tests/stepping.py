"""Steps from states that a test chooses, with the warm start of the step before: what a planner does."""

import slipstick


class Stepper:
    """A Simulator that is put into a state before each step or rollout; its warm start stays."""

    def __init__(self, model, dt=None, **options):
        self.simulator = slipstick.Simulator(model, dt, **options)

    def _enter(self, q, v, time):
        self.simulator.reset(q=q, v=v, time=time, warm_start=self.simulator.warm_start())

    def step(self, q, v, tau=None, ctrl=None, wrenches=None, *, time=0.0):
        self._enter(q, v, time)
        return self.simulator.step(tau=tau, ctrl=ctrl, wrenches=wrenches)

    def rollout(self, q, v, steps, *, time=0.0, **given):
        self._enter(q, v, time)
        return self.simulator.rollout(steps, **given)

    def __getattr__(self, name):
        return getattr(self.simulator, name)
