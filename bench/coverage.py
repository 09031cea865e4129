"""How many of MuJoCo's models load here and move as there: writes docs/coverage.md.

    python bench/coverage.py [--models NAME=FOLDER]... [--page docs/coverage.md] [--match WORD] [--seconds 2]

Models of dm_control's suite and of gymnasium come with their packages. `--models` adds a folder, such as MuJoCo's own
`model` or the menagerie. For every file that MuJoCo loads:

- loaded: whether it loads here, else the error;
- sizes: nq, nv, nu and na are MuJoCo's;
- free: accelerations without constraints at random states and controls, the largest difference from MuJoCo's over
  max(1, the largest acceleration);
- held: how far bodies are from where MuJoCo has them after some seconds from the first keyframe, or the neutral pose,
  beside MuJoCo's deepest penetration on the way;
- warnings, by what they say.
"""

import argparse
import importlib.util
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np
import slipstick

BEGIN, END = "<!-- coverage table: begin -->", "<!-- coverage table: end -->"
AGREES = 1e-8  # of accelerations
LEAST = 1e-3  # a pose is held within MuJoCo's penetration, or within this (m)
STATES = 3

mujoco.set_mju_user_warning(lambda message: None)


@dataclass
class Row:
    """What was found out about one file."""

    name: str
    error: str = ""
    sizes: bool = False
    free: float | None = None  # relative error of accelerations
    distance: float | None = None  # of bodies from MuJoCo's (m)
    depth: float = 0.0  # of MuJoCo's contacts (m)
    warnings: Counter = field(default_factory=Counter)

    @property
    def is_free(self):
        return self.free is not None and self.free <= AGREES

    @property
    def is_held(self):
        return self.distance is not None and self.distance <= max(self.depth, LEAST)


def package(name):
    found = importlib.util.find_spec(name)
    return Path(found.origin).parent if found else None


def packaged():
    """Collections that come with packages, by name; those that are not installed are left out."""
    folders = {
        "dm_control suite": package("dm_control") and package("dm_control") / "suite",
        "gymnasium": package("gymnasium") and package("gymnasium") / "envs" / "mujoco" / "assets",
    }
    return {name: folder for name, folder in folders.items() if folder}


def models(folder, match=""):
    """(name, path, MuJoCo's model) of every file below a folder that MuJoCo loads."""
    for path in sorted(Path(folder).rglob("*.xml")):
        name = path.relative_to(folder).as_posix()
        if match not in name or "<mujoco" not in path.read_text(encoding="utf-8", errors="replace"):
            continue
        try:
            mj = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            continue
        if mj.nbody > 1:  # else a part that others include
            yield name, path, mj


def kind_of(warning):
    """A warning without file, line and names, and the number of places that it is about."""
    overlaps = re.search(r": (\d+) pairs? of geoms that overlaps? at the start", warning)
    if overlaps:
        return "geoms that overlap at the start", int(overlaps[1])
    text = re.sub(r"^.*?(?=<)", "", warning)
    more = re.search(r" \(and (\d+) more places?\)$", text)
    text = text[: more.start()] if more else text
    text = re.sub(r"'[^']*'", "'…'", re.sub(r' name="[^"]*"', "", text))
    return text, 1 + int(more[1]) if more else 1


def examine(name, path, mj, seconds=2.0, budget=20.0):
    row = Row(name)
    try:
        model = slipstick.load(path)
    except slipstick.errors.LoadError as error:
        row.error = re.sub(r"^.*?\.(xml|msh|stl|obj)(:\d+)?: ", "", str(error).splitlines()[0])
        return row
    for kind, places in (kind_of(str(warning)) for warning in model.warnings):
        row.warnings[kind] += places
    ours = (model.nq, model.nv, model.nu, model.na)
    row.sizes = ours == (mj.nq, mj.nv, mj.nu, mj.na)
    if row.sizes:
        row.free = max((difference(model, mj, rng) for rng in map(np.random.default_rng, range(STATES))), default=0.0)
        if seconds > 0:
            row.distance, row.depth = held(model, mj, seconds, budget)
    return row


# ---------------------------------------------------------------------- free motion


def random_state(mj, rng):
    """Positions around the neutral ones, any rotations, speeds up to 1, controls within their ranges or ±1."""
    q = mj.qpos0.copy()
    for kind, at in zip(mj.jnt_type, mj.jnt_qposadr):
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            q[at : at + 3] += rng.uniform(-1, 1, 3)
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            at = at + 3 if kind == mujoco.mjtJoint.mjJNT_FREE else at
            turn = rng.normal(size=4)
            q[at : at + 4] = turn / np.linalg.norm(turn)
        else:
            q[at] += rng.uniform(-1, 1)
    low, high = np.where(mj.actuator_ctrllimited, mj.actuator_ctrlrange.T, [[-1.0], [1.0]])
    return q, rng.uniform(-1, 1, mj.nv), rng.uniform(low, high)


def difference(model, mj, rng):
    """Of the accelerations without constraints, relative to MuJoCo's."""
    q, v, ctrl = random_state(mj, rng)
    flags, integrator = mj.opt.disableflags, mj.opt.integrator
    mj.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, ctrl
    data.act[:] = act = rng.uniform(-1, 1, mj.na)
    mujoco.mj_forward(mj, data)
    mj.opt.disableflags, mj.opt.integrator = flags, integrator
    tau = slipstick.dynamics.passive(model, q, v) + slipstick.dynamics.actuate(model, q, v, ctrl, act)
    ours = slipstick.dynamics.aba(model, q, v, tau)
    if mj.nv == 0:
        return 0.0
    return float(np.max(np.abs(ours - data.qacc_smooth)) / max(1.0, np.max(np.abs(data.qacc_smooth))))


# ---------------------------------------------------------------------- held poses


def held(model, mj, seconds, budget):
    """How far a body is from where MuJoCo has it at most (m; None: too slow; ∞: it diverged), and how deep MuJoCo's sink."""
    data = mujoco.MjData(mj)
    if mj.nkey:
        mujoco.mj_resetDataKeyframe(mj, data, 0)
    q, v, ctrl, act = (x.copy() for x in (data.qpos, data.qvel, data.ctrl, data.act))
    depth, steps = 0.0, round(seconds / mj.opt.timestep)
    deadline = time.monotonic() + budget
    for step in range(steps):
        mujoco.mj_step(mj, data)
        depth = max(depth, -min(data.contact.dist, default=0.0))
        if step % 100 == 0 and time.monotonic() > deadline:
            return None, depth
    simulator = slipstick.Simulator(model)
    simulator.reset(q=q, v=v, act=act)
    chunk = max(1, steps // 50)
    deadline, done = time.monotonic() + budget, 0
    while done < steps:
        n = min(chunk, steps - done)
        try:
            simulator.rollout(n, ctrl=np.tile(ctrl, (n, 1)))
        except ArithmeticError:  # it diverges: held nowhere
            return np.inf, depth
        done += n
        if time.monotonic() > deadline:
            return None, depth
    mujoco.mj_kinematics(mj, data)
    there = data.xpos.copy()
    data.qpos[:] = simulator.state.q
    mujoco.mj_kinematics(mj, data)
    return float(np.max(np.linalg.norm(data.xpos - there, axis=1))), depth


# ---------------------------------------------------------------------- page


def summary(rows_by_collection):
    lines = ["| collection | models | loaded | sizes | free motion | held | without warnings |", "|" + "---|" * 7]
    for name, rows in rows_by_collection.items():
        loaded = [row for row in rows if not row.error]
        counts = [
            len(rows),
            len(loaded),
            sum(row.sizes for row in loaded),
            sum(row.is_free for row in loaded),
            sum(row.is_held for row in loaded),
            sum(not row.warnings for row in loaded),
        ]
        lines.append(f"| {name} | " + " | ".join(map(str, counts)) + " |")
    return lines


def causes(rows_by_collection):
    """Errors and kinds of warnings with the numbers of models and places."""
    models, places = Counter(), Counter()
    for row in (row for rows in rows_by_collection.values() for row in rows):
        kinds = Counter({f"refused: {row.error}": 1}) if row.error else row.warnings
        models.update(kinds.keys())
        places.update(kinds)
    lines = ["| what | models | places |", "|---|---|---|"]
    order = sorted(models, key=lambda kind: (-models[kind], kind))
    return lines + [f"| {escaped(kind)} | {models[kind]} | {places[kind]} |" for kind in order]


def escaped(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def number(x):
    return "–" if x is None else f"{x:.0e}"


def line_of(row):
    if row.error:
        return f"| {row.name} | no | | | | {escaped(row.error)} |"
    free = "yes" if row.is_free else number(row.free)
    distance = "yes" if row.is_held else number(row.distance)
    sizes = "yes" if row.sizes else "no"
    return f"| {row.name} | yes | {sizes} | {free} | {distance} | {sum(row.warnings.values()) or ''} |"


def page(rows_by_collection, seconds):
    lines = [f"MuJoCo {mujoco.__version__}; poses are compared after {seconds:g} s.", "", *summary(rows_by_collection)]
    lines += ["", "### Refused and warned about", "", *causes(rows_by_collection)]
    for name, rows in rows_by_collection.items():
        lines += ["", f"### {name}", "", "| model | loaded | sizes | free motion | held | warnings |", "|" + "---|" * 6]
        lines += [line_of(row) for row in rows]
    return "\n".join(lines)


def write(path, text):
    """Puts the text between the markers of a page."""
    old = path.read_text(encoding="utf-8")
    before, _, rest = old.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", metavar="NAME=FOLDER", action="append", default=[], help="a further collection")
    parser.add_argument("--page", type=Path, help="a page with markers, to be written; else the table is printed")
    parser.add_argument("--match", default="", help="only files whose path has this in it")
    parser.add_argument("--seconds", type=float, default=2.0, help="time of the held pose; 0 leaves it out")
    parser.add_argument("--budget", type=float, default=20.0, help="time that each simulator may take (s)")
    arguments = parser.parse_args()
    folders = packaged() | dict(given.split("=", 1) for given in arguments.models)
    rows = {}
    for collection, folder in folders.items():
        rows[collection] = []
        for model in models(folder, arguments.match):
            rows[collection].append(examine(*model, arguments.seconds, arguments.budget))
            print(collection, line_of(rows[collection][-1]), flush=True)
    text = page(rows, arguments.seconds)
    if arguments.page:
        write(arguments.page, text)
    else:
        print(text)


if __name__ == "__main__":
    main()
