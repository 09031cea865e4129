"""Random robots as MJCF text: every joint kind, up to three joints in a body, oblique axes, offset anchors, full
inertias, links without joints, armature. Deterministic in the seed."""

import numpy as np

JOINT_KINDS = ["hinge", "slide", "ball"]


def numbers(values):
    return " ".join(f"{value:.6g}" for value in values)


def random_inertial(rng):
    """Mass and inertia of a random ellipsoid in a random frame, so that every triangle inequality holds."""
    mass, (x, y, z) = rng.uniform(0.3, 3.0), rng.uniform(0.05, 0.3, 3) ** 2
    inertia = mass / 5.0 * np.array([y + z, x + z, x + y])
    return f'<inertial {random_place(rng, 0.1)} mass="{mass:.6g}" diaginertia="{numbers(inertia)}"/>'


def random_place(rng, size):
    return f'pos="{numbers(rng.uniform(-size, size, 3))}" quat="{numbers(rng.normal(size=4))}"'


def random_joint(name, kind, rng):
    axis = "" if kind == "ball" else f' axis="{numbers(rng.normal(size=3))}"'
    pos = numbers(rng.uniform(-0.2, 0.2, 3))
    return f'<joint name="{name}" type="{kind}"{axis} pos="{pos}" armature="{rng.choice([0.0, 0.05])}"/>'


def random_joints(body, rng):
    """None (a fixed link), one, two or three joints. At most one ball, as the last one."""
    count = rng.choice([0, 1, 1, 1, 2, 3])
    kinds = [str(kind) for kind in rng.choice(JOINT_KINDS[:2], count)]
    if kinds and rng.random() < 0.3:
        kinds[-1] = "ball"
    return [random_joint(f"joint_{body}_{k}", kind, rng) for k, kind in enumerate(kinds)]


def random_tree(seed, free_root, gravity, n_bodies=9):
    """MJCF text. Body k hangs on one of the bodies before it; the first has a joint, so that everything can move."""
    rng = np.random.default_rng(seed)
    first = ['<freejoint name="root"/>'] if free_root else [random_joint("root", "hinge", rng)]
    joints = [first] + [random_joints(k, rng) for k in range(1, n_bodies)]
    parents = [None] + [int(rng.integers(0, k)) for k in range(1, n_bodies)]
    inertials = [random_inertial(rng) for _ in range(n_bodies)]
    places = [random_place(rng, 0.4) for _ in range(n_bodies)]

    def element(k):
        children = "".join(element(child) for child in range(n_bodies) if parents[child] == k)
        return f'<body name="body_{k}" {places[k]}>{"".join(joints[k])}{inertials[k]}{children}</body>'

    option = f'<option timestep="0.001" gravity="{numbers(gravity)}"/>'
    return f'<mujoco model="tree_{seed}">{option}<worldbody>{element(0)}</worldbody></mujoco>'
