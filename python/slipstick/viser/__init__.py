"""A live view of robots in the browser: look at them, drive them, drag them.

    import slipstick, slipstick.viser as sv
    live = sv.Live(slipstick.Simulator(slipstick.builtin("quadruped")))
    print(live.view.url)                                      # http://127.0.0.1:8080, or the next port that is free
    live.run()                                                # until Ctrl-C; run(seconds=10) ends by itself

    view = sv.View(model)                                     # states from elsewhere
    view.show(run.q[3, -1])                                   # of an environment of a Batch
    view.play(trajectory.q, trajectory.time)                  # with a slider for the time

- `Live`: pause, step, reset, a slider for each control, contact forces. A click on a body gives it a handle: pulled away from the body
  it is a spring. Mocap bodies always have a handle.
- `View`: collision geometry, in the places that a configuration says. `show(q, contacts=step.contacts)` draws forces, too.
- The server listens on this machine only, unless `host` says something else.
"""

try:
    import viser as _viser  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
except ImportError as error:
    raise ImportError("slipstick.viser needs viser: pip install 'slipstick[viser]'") from error

from ._live import Live
from ._view import View

__all__ = ["Live", "View"]
