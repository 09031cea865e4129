"""Hostile models in slipstick, MuJoCo and Pinocchio: what becomes of each, and the table of docs/reliability.md.

    python bench/hostile.py [--folder target/hostile] [--only slipstick] [--match WORD] [--list] [--page docs/reliability.md]

Every model is loaded and moved (100 steps; in Pinocchio, which has no contact step, one forward dynamics) in a process of its own
with 4 GB of address space and 10 s of processor time. The files are those of `hostile_corpus.py`.
"""

import argparse
import os
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import hostile_corpus
import numpy as np

BEGIN, END = "<!-- hostile table: begin -->", "<!-- hostile table: end -->"
MEMORY, SECONDS, STEPS = 4 << 30, 10, 100
# what may become of a model, in the order of the table
OUTCOMES = ["refused", "finite", "typed error at the step", "non-finite", "hang", "crash", "untyped"]
BAD = OUTCOMES[3:]


def finite(*arrays):
    return all(np.isfinite(x).all() for x in arrays)


def in_slipstick(path):
    import slipstick.errors

    try:
        model = slipstick.load(str(path))
    except (slipstick.LoadError, MemoryError):
        return "refused"
    try:
        sim = slipstick.Simulator(model)
        for _ in range(STEPS):
            sim.step()
    except (slipstick.errors.DynamicsError, slipstick.DivergenceError, ValueError, MemoryError):
        return "typed error at the step"
    return "finite" if finite(sim.state.q, sim.state.v) else "non-finite"


def in_mujoco(path):
    import mujoco

    mujoco.set_mju_user_warning(lambda message: None)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, mujoco.FatalError, MemoryError):
        return "refused"
    try:
        data = mujoco.MjData(model)
        for _ in range(STEPS):
            mujoco.mj_step(model, data)
    except (mujoco.FatalError, MemoryError):
        return "typed error at the step"
    resets = [mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC]
    # it warns and begins anew
    if any(data.warning[int(w)].number for w in resets):
        return "typed error at the step"
    return "finite" if finite(data.qpos, data.qvel) else "non-finite"


def in_pinocchio(path):
    import pinocchio

    build = pinocchio.buildModelFromUrdf if path.suffix == ".urdf" else pinocchio.buildModelFromMJCF
    try:
        model = build(str(path))
        if isinstance(model, tuple):
            model = model[0]
    except (ValueError, RuntimeError, MemoryError):
        return "refused"
    try:
        zero = np.zeros(model.nv)
        acceleration = pinocchio.aba(model, model.createData(), pinocchio.neutral(model), zero, zero)
    except (ValueError, RuntimeError, MemoryError):
        return "typed error at the step"
    return "finite" if finite(acceleration) else "non-finite"


LIBRARIES = {"slipstick": in_slipstick, "MuJoCo": in_mujoco, "Pinocchio": in_pinocchio}


def child(run, path, pipe):
    """In the forked process: limits, silence, and one word about what happened."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1), os.dup2(quiet, 2)
    try:
        word = run(path)
    except BaseException as error:
        word = f"untyped {type(error).__name__}: {str(error)[:100]}"
    os.write(pipe, word.encode())
    os._exit(0)


def outcome(run, path):
    """What becomes of a model, and a word more about it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        child(run, path, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        word = pipe.read().decode()
    _, status = os.waitpid(pid, 0)
    if word:
        return (word.split(" ", 1)[0] if word.startswith("untyped") else word), word
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number in (signal.SIGXCPU, signal.SIGKILL):
        return "hang", "no answer"
    return "crash", signal.Signals(number).name if number else f"exit code {os.WEXITSTATUS(status)}"


def warm_up(library, good):
    """Loads the library before it is forked, and sees that a good model passes."""
    found = LIBRARIES[library](good)
    if found != "finite":
        sys.exit(f"{library}: a good model is {found}")


def table(counts):
    rows = ["| | " + " | ".join(OUTCOMES) + " |", "|---" * (len(OUTCOMES) + 1) + "|"]
    for library, count in counts.items():
        rows.append(f"| {library} | " + " | ".join(str(count[o]) for o in OUTCOMES) + " |")
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("target/hostile"))
    parser.add_argument("--only", choices=LIBRARIES, action="append")
    parser.add_argument("--match", default="")
    parser.add_argument("--list", action="store_true", help="print what becomes of every model, not only of the bad ones")
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    models = [m for m in hostile_corpus.write(args.folder) if args.match in m]
    good = args.folder / "good.xml"
    good.write_text(hostile_corpus.mjcf())
    (args.folder / "good.urdf").write_text(hostile_corpus.URDF.format(**hostile_corpus.URDF_GOOD))
    warnings.simplefilter("ignore")
    counts = {}
    libraries = args.only or list(LIBRARIES)
    for library in libraries:
        warm_up(library, good.with_suffix(".urdf") if library == "Pinocchio" else good)
    for library in libraries:
        counts[library] = Counter()
        for name in models:
            begin = time.monotonic()
            word, more = outcome(LIBRARIES[library], args.folder / name)
            counts[library][word] += 1
            if args.list or word in BAD:
                print(f"{library:<10} {name:<40} {word:<12} {more} ({time.monotonic() - begin:.1f} s)", flush=True)
        print(f"{library}: {dict(counts[library])}", flush=True)
    text = f"{len(models)} models.\n\n{table(counts)}"
    print(f"\n{text}")
    if args.page:
        page = args.page.read_text()
        head, tail = page[: page.index(BEGIN) + len(BEGIN)], page[page.index(END) :]
        args.page.write_text(f"{head}\n\n{text}\n\n{tail}")
    return 1 if any(counts.get("slipstick", Counter())[o] for o in BAD) else 0


if __name__ == "__main__":
    sys.exit(main())
