"""Prepares a robot for collision timings: `scene.py NAME FILE OUT [PAIRS.json]`.

Writes OUT/NAME.xml, the file with every margin zero and, if PAIRS.json is given, with exclusions and masks that leave
exactly the pairs listed there; and two banks of configurations (one qpos per line) from a simulation in MuJoCo:
OUT/NAME.drop.txt, a limp robot that falls on the floor, and OUT/NAME.hold.txt, one whose joints are held. Prints the
number of pairs that MuJoCo tests as JSON. Both engines load the XML, so that they get the same work.
"""

import json
import pathlib
import sys
import warnings

import mujoco
import numpy as np

warnings.filterwarnings("ignore", message="compiler attribute")  # of a robot's file: not our business

DT = 1e-3  # s
STEPS = 1000
EVERY = 5  # one state of so many is kept
FALL = 0.02  # height of the lowest point at the start of a fall (m)
PRESS = 1e-4  # depth of the lowest point at the start of standing (m)
MASK_BITS = 31  # bits of contype that do not change the sign of an int32


def legs(sides, angles):
    return {f"{side}_{joint}": angle for side in sides for joint, angle in angles.items()}


# stiffness and damping of the joints that hold (explicit, hence the least armature and damping that keep them stable),
# and the pose to hold where it is not the file's own; angles in radians, pitch of the root
ROBOTS = {
    "half_cheetah": dict(kp=200, kd=6, pitch=0.02631),
    "humanoid": dict(kp=1000, kd=8),
    "ur5": dict(kp=500, kd=15, armature=0.1, damping=0.2,
                pose=dict(shoulder_lift_joint=-1.0, elbow_joint=1.4, wrist_1_joint=-0.4)),
    "go1": dict(kp=60, kd=1.8, armature=0.01, damping=0.2,
                pose=legs(("FR", "FL", "RR", "RL"), dict(thigh_joint=0.9, calf_joint=-1.8))),
    "h1": dict(kp=1500, kd=45, armature=0.1, damping=0.5,
               pose=legs(("left", "right"), dict(hip_pitch_joint=-0.3, knee_joint=0.8, ankle_joint=-0.5))),
    "atlas": dict(kp=5000, kd=75, armature=0.1, damping=0.5,
                  pose=dict(legs(("l", "r"), dict(leg_hpy=-0.3, leg_kny=0.6, leg_aky=-0.3)),
                            l_arm_shx=-1.2, r_arm_shx=1.2)),
}  # fmt: skip


def carrier(model, body):
    """Name of the first joint of the body that carries `body`, as in the lists of pairs."""
    body = model.body_weldid[body]
    if body == 0:
        return "universe"
    joint = model.body_jntadr[body]
    return "root" if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE else model.joint(joint).name


def listed_pairs(model, listed):
    """The listed pairs as numbers of geoms: geometries are matched by joint and kind, then by name or order in the file."""
    kinds = {"halfspace": "plane", "convex": "mesh"}
    roots = ("root_joint", "rootx", "root")
    free = list(range(model.ngeom))
    number = {}
    for entry in listed["geometries"]:
        joint = entry["parent_joint"].removeprefix("Composite_")
        joint = "root" if joint in roots else joint
        kind = kinds.get(entry["type"].lower(), entry["type"].lower())
        same = [g for g in free if carrier(model, model.geom_bodyid[g]) == joint and kind_of(model, g) == kind]
        if not same:
            sys.exit(f"no geom of the scene is {entry}")
        number[entry["i"]] = next((g for g in same if model.geom(g).name == entry["name"]), same[0])
        free.remove(number[entry["i"]])
    if free:
        sys.exit(f"geoms {free} of the scene are not in the list of pairs")
    return {tuple(sorted((number[a], number[b]))) for a, b in listed["pairs"]}


def kind_of(model, geom):
    return mujoco.mjtGeom(model.geom_type[geom]).name.removeprefix("mjGEOM_").lower()


def tested_pairs(model):
    """The pairs that MuJoCo's filters leave."""
    weld, parent = model.body_weldid, model.body_parentid
    excluded = {frozenset((int(s) >> 16, int(s) & 0xFFFF)) for s in model.exclude_signature}
    pairs = set()
    for j in range(model.ngeom):
        for i in range(j):
            a, b = model.geom_bodyid[i], model.geom_bodyid[j]
            u, v = weld[a], weld[b]
            family = u != 0 and v != 0 and (weld[parent[u]] == v or weld[parent[v]] == u)
            masks = model.geom_contype[i] & model.geom_conaffinity[j] or model.geom_contype[j] & model.geom_conaffinity[i]
            if u != v and not family and masks and frozenset((int(a), int(b))) not in excluded:
                pairs.add((i, j))
    return pairs


def restrict(spec, wanted):
    """Leaves exactly the wanted pairs: exclusions where two bodies never touch, masks where some of their geoms do.

    MuJoCo would also take the list as explicit pairs, but then skips its broad phase."""
    for exclude in list(spec.excludes):
        spec.delete(exclude)
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 1
    model = spec.compile()

    def bodies(pair):
        return tuple(sorted(int(model.geom_bodyid[g]) for g in pair))

    unwanted = tested_pairs(model) - wanted
    touching = {bodies(p) for p in wanted}
    for a, b in {bodies(p) for p in unwanted} - touching:
        spec.add_exclude(bodyname1=model.body(a).name, bodyname2=model.body(b).name)
    masked = [p for p in unwanted if bodies(p) in touching]
    special = sorted({g for p in masked for g in p})
    if len(special) >= MASK_BITS:
        sys.exit(f"{len(special)} geoms need a bit of the masks, which have {MASK_BITS - 1}")
    bit = {g: 2 << k for k, g in enumerate(special)}
    everything = 1 | sum(bit.values())
    for geom in spec.geoms:
        barred = sum(bit[b if a == geom.id else a] for a, b in masked if geom.id in (a, b))
        geom.contype, geom.conaffinity = bit.get(geom.id, 1), everything & ~barred


def write_scene(file, out, pairs_file):
    spec = mujoco.MjSpec.from_file(str(file))
    for geom in spec.geoms:
        geom.margin = geom.gap = 0
    wanted = None
    if pairs_file:
        wanted = listed_pairs(spec.compile(), json.loads(pairs_file.read_text()))
        restrict(spec, wanted)
    spec.meshdir = str((file.parent / spec.meshdir).resolve())
    model = spec.compile()
    if wanted is not None and tested_pairs(model) != wanted:
        sys.exit(f"{file}: MuJoCo tests {len(tested_pairs(model))} pairs, {len(wanted)} are listed")
    out.write_text(spec.to_xml())


def home(model, robot, clearance):
    """The pose to hold, its lowest point `clearance` above the floor."""
    data = mujoco.MjData(model)
    key = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "home")
    if key >= 0:
        mujoco.mj_resetDataKeyframe(model, data, key)
    else:
        for joint, angle in robot.get("pose", {}).items():
            data.qpos[model.joint(joint).qposadr[0]] = angle
        if "pitch" in robot:
            data.qpos[3:7] = np.cos(robot["pitch"] / 2), 0, np.sin(robot["pitch"] / 2), 0
    if model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
        floor = next(g for g in range(model.ngeom) if kind_of(model, g) == "plane")
        data.qpos[2] += 2.0  # clear of the floor, where distances are exact
        mujoco.mj_kinematics(model, data)
        others = (g for g in range(model.ngeom) if g != floor and model.geom_bodyid[g] != 0)
        data.qpos[2] += clearance - min(mujoco.mj_geomDistance(model, data, floor, g, 10.0, None) for g in others)
    return data.qpos.copy()


def single_dof_joints(model):
    return np.flatnonzero(model.jnt_type >= int(mujoco.mjtJoint.mjJNT_SLIDE))  # slides and hinges come last


def simulate(model, robot, start, hold):
    """Configurations along one second. The model's own motors and limits are off."""
    data = mujoco.MjData(model)
    data.qpos = start
    noise = np.random.default_rng(1)
    data.qvel = (0.01 if hold else 0.1) * noise.uniform(-1, 1, model.nv)
    joints = single_dof_joints(model)
    q, v = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
    bank = []
    for step in range(STEPS):
        if step % EVERY == 0:
            bank.append(data.qpos.copy())
        tau = 0.2 * noise.uniform(-1, 1, len(joints))
        if hold:
            tau += robot["kp"] * (start[q] - data.qpos[q]) - robot["kd"] * data.qvel[v]
        data.qfrc_applied[v] = tau
        mujoco.mj_step(model, data)
    return np.array(bank)


def prepare_simulation(model, robot):
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_ACTUATION | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS
    model.opt.timestep = DT
    v = model.jnt_dofadr[single_dof_joints(model)]
    model.dof_armature[v] = np.maximum(model.dof_armature[v], robot.get("armature", 0.0))
    model.dof_damping[v] = np.maximum(model.dof_damping[v], robot.get("damping", 0.0))
    mujoco.mj_setConst(model, mujoco.MjData(model))


def main():
    name, file, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    pairs_file = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    out.mkdir(parents=True, exist_ok=True)
    scene, robot = out / f"{name}.xml", ROBOTS[name]
    write_scene(file, scene, pairs_file)
    model = mujoco.MjModel.from_xml_path(str(scene))
    n_pairs = len(tested_pairs(model))
    prepare_simulation(model, robot)
    for kind, clearance in (("drop", FALL), ("hold", -PRESS)):
        bank = simulate(model, robot, home(model, robot, clearance), kind == "hold")
        if not np.isfinite(bank).all():
            sys.exit(f"{name}: the simulation of {kind} did not stay finite")
        np.savetxt(out / f"{name}.{kind}.txt", bank, fmt="%.17g")
    print(json.dumps({"name": name, "pairs": n_pairs, "version": mujoco.__version__}))


if __name__ == "__main__":
    main()
