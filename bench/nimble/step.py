"""Nimble from our states: `step.py TREE SHAPES STATES EVERY REPEATS PATIENCE MARGIN`; one JSON object on stdout.

TREE and SHAPES describe the robot as for Pinocchio (bench/pinocchio), STATES has lines `state q v tau`. At every EVERY-th of them
are timed, through Python: a step, the step that gradients need (forwardPass), and its Jacobians; the least of REPEATS. After
PATIENCE seconds the remaining states are left out (null). The floor is higher by MARGIN (m): contacts of our states rest at a distance of
zero, where rounding would decide.

What Nimble does not have is left out and said in the note: armature; cylinders become capsules, hulls and ellipsoids boxes; pairs are
those of its own rule. The scene is turned, since Nimble's up is y.
"""

import importlib.metadata
import json
import math
import sys
import time

import nimblephysics_libs._nimblephysics as nimble  # the package around it would ask for PyTorch
import numpy as np

UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])  # z of the file is y
LEAST_MASS, LEAST_INERTIA = 1e-4, 1e-6  # of links between the joints of one body, which have none


def rotation(quaternion):
    w, x, y, z = np.array(quaternion) / np.linalg.norm(quaternion)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip


def rotation_vector(quaternion):
    w, v = quaternion[0], np.array(quaternion[1:])
    sine = np.linalg.norm(v)
    if sine < 1e-12:
        return 2 * v
    angle = 2 * math.atan2(sine, abs(w))
    return math.copysign(1.0, w) * angle / sine * v


def pose(position, quaternion):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation(quaternion), position
    return matrix


def isometry(matrix):
    result = nimble.math.Isometry3()
    result.set_matrix(matrix)
    return result


class Robot:
    """A skeleton, and how our numbers become its own."""

    def __init__(self, tree, shapes):
        self.skeleton = nimble.dynamics.Skeleton()
        self.nodes, self.links = {-1: None}, []  # links: joint, body, slice of q, slice of v
        self.moved = {}  # a ball that is one joint with the translation before it
        self.notes = set()
        self.nq = self.nv = 0
        for line in open(tree):
            words = line.split()
            if words and words[0] == "joint":
                self.add(int(words[1]), int(words[2]), words[3], np.array(words[4:], dtype=float))
        self.dress(shapes)

    def add(self, number, parent, kind, x):
        placement, axis, armature = pose(x[:3], x[3:7]), x[7:10], x[10]
        if armature > 0:
            self.notes.add("no armature")
        if kind == "translation":
            self.moved[number] = (parent, placement)
            return
        if kind == "ball" and parent in self.moved:
            parent, placement = self.moved[parent]
            kind = "free"
        joint, body = self.joint(kind, self.nodes[parent], axis)
        joint.setTransformFromParentBodyNode(isometry(placement if self.nodes[parent] is not None else UP @ placement))
        self.weigh(body, x[11], x[12:15], x[15:21])
        self.nodes[number] = body
        nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
        self.links.append((kind, joint, body, slice(self.nq, self.nq + nq), slice(self.nv, self.nv + nv)))
        self.nq, self.nv = self.nq + nq, self.nv + nv

    def joint(self, kind, parent, axis):
        skeleton = self.skeleton
        make = {"free": skeleton.createFreeJointAndBodyNodePair, "ball": skeleton.createBallJointAndBodyNodePair,
                "hinge": skeleton.createRevoluteJointAndBodyNodePair, "slide": skeleton.createPrismaticJointAndBodyNodePair}[kind]  # fmt: skip
        joint, body = make() if parent is None else make(parent)
        if kind in ("hinge", "slide"):
            joint.setAxis(axis)
        return joint, body

    @staticmethod
    def weigh(body, mass, com, moments):
        xx, xy, yy, xz, yz, zz = moments
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if mass <= 0:
            mass, inertia = LEAST_MASS, LEAST_INERTIA * np.eye(3)
        body.setInertia(nimble.dynamics.Inertia(mass, com, inertia))

    def dress(self, shapes):
        """Passive forces, shapes and the floor."""
        lines = iter(open(shapes).read().splitlines())
        passive, self.friction, self.dt = 0, 0.8, 1e-3
        for line in lines:
            words = line.split()
            if words[0] == "friction":
                self.friction = float(words[1])
            elif words[0] == "dt":
                self.dt = float(words[1])
            elif words[0] == "passive":
                self.damp(passive, [float(w) for w in words[1:]])
                passive += 1
            elif words[0] == "shape":
                sizes = [int(n) for n in words[13:15]]
                corners = np.array([[float(w) for w in next(lines).split()] for _ in range(sizes[0])])
                for _ in range(sizes[1]):
                    next(lines)
                self.shape(int(words[1]), words[2], np.array(words[3:13], dtype=float), corners)

    def damp(self, number, values):
        damping, stiffness, reference = values
        body = self.nodes.get(number)
        link = next((link for link in self.links if body is not None and link[2] == body), None)
        if link and link[0] in ("hinge", "slide"):
            link[1].setDampingCoefficient(0, damping)
            link[1].setSpringStiffness(0, stiffness)
            link[1].setRestPosition(0, reference)

    def shape(self, number, kind, x, corners):
        body = self.nodes.get(number)
        if kind == "plane" or body is None:
            return  # the floor is made apart; nothing else is fixed to the world in Nimble's scene
        sizes, place = x[:3], pose(x[3:6], x[6:10])
        if kind == "sphere":
            shape = nimble.dynamics.SphereShape(sizes[0])
        elif kind in ("capsule", "cylinder"):
            shape = nimble.dynamics.CapsuleShape(sizes[0], 2 * sizes[1])
            if kind == "cylinder":
                self.notes.add("cylinders as capsules")
        else:
            low, high = (-sizes, sizes) if kind in ("box", "ellipsoid") else (corners.min(0), corners.max(0))
            shape = nimble.dynamics.BoxShape(high - low)
            place[:3, 3] += place[:3, :3] @ (0.5 * (low + high))
            if kind != "box":
                self.notes.add(f"{'hulls' if kind == 'mesh' else kind + 's'} as boxes")
        node = body.createShapeNode(shape)
        node.createCollisionAspect()
        node.setRelativeTransform(isometry(place))
        body.setFrictionCoeff(self.friction)

    def world(self, margin):
        world = nimble.simulation.World()
        world.setGravity([0, -9.81, 0])
        world.setTimeStep(self.dt)
        world.addSkeleton(self.skeleton)
        floor = nimble.dynamics.Skeleton()
        joint, body = floor.createWeldJointAndBodyNodePair()
        joint.setTransformFromParentBodyNode(isometry(pose([0, margin - 0.5, 0], [1, 0, 0, 0])))
        node = body.createShapeNode(nimble.dynamics.BoxShape([100.0, 1.0, 100.0]))
        node.createCollisionAspect()
        body.setFrictionCoeff(self.friction)
        world.addSkeleton(floor)
        return world

    def positions(self, q):
        return np.concatenate([self.position(kind, q[of_q]) for kind, _, _, of_q, _ in self.links])

    @staticmethod
    def position(kind, q):
        if kind == "free":
            return np.concatenate([rotation_vector(q[3:7]), q[:3]])
        return rotation_vector(q) if kind == "ball" else q

    def velocities(self, world, q, v):
        """Ours of a free joint is linear in world axes, then angular in body axes; Nimble's is found by trying its columns."""
        out = np.zeros(self.nv)
        for kind, _, body, of_q, of_v in self.links:
            if kind != "free":
                out[of_v] = v[of_v]
                continue
            columns = []
            for k in range(of_v.start, of_v.stop):
                unit = np.zeros(self.nv)
                unit[k] = 1.0
                world.setVelocities(unit)
                columns.append(np.concatenate([body.getLinearVelocity(), body.getAngularVelocity()]))
            turn = UP[:3, :3]
            wanted = np.concatenate([turn @ v[of_v][:3], turn @ rotation(q[of_q][3:7]) @ v[of_v][3:]])
            out[of_v] = np.linalg.solve(np.array(columns).T, wanted)
        return out


def read_states(path, nq, nv, every):
    rows = [line.split()[1:] for line in open(path) if line.startswith("state")][::every]
    numbers = np.array(rows, dtype=float)
    return numbers[:, :nq], numbers[:, nq : nq + nv], numbers[:, nq + nv :]


def best_of(repeats, prepare, run):
    """Least time in µs."""
    times = []
    for _ in range(repeats):
        prepare()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e6 * min(times)


def main():
    tree, shapes, states = sys.argv[1:4]
    every, repeats, patience, margin = int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6]), float(sys.argv[7])
    robot = Robot(tree, shapes)
    world = robot.world(margin)
    q, v, tau = read_states(states, robot.nq, robot.nv, every)
    times = {name: [None] * len(q) for name in ("step", "forward_pass", "jacobian")}
    contacts = [None] * len(q)
    start = time.monotonic()
    for k in range(len(q)):
        if time.monotonic() - start > patience:
            break
        world.setPositions(robot.positions(q[k]))
        positions, velocities = robot.positions(q[k]), robot.velocities(world, q[k], v[k])

        def prepare():
            world.setPositions(positions)
            world.setVelocities(velocities)
            world.setControlForces(tau[k])  # a free root gets none in these scenes

        times["step"][k] = best_of(repeats, prepare, world.step)
        contacts[k] = world.getLastCollisionResult().getNumContacts()
        snapshots = []
        times["forward_pass"][k] = best_of(repeats, prepare, lambda: snapshots.append(nimble.neural.forwardPass(world)))

        def differentiate():
            snapshot = snapshots.pop()  # a snapshot keeps what it has computed
            snapshot.getStateJacobian(world)
            snapshot.getActionJacobian(world)

        times["jacobian"][k] = best_of(repeats, lambda: None, differentiate)
    note = ", ".join(sorted(robot.notes | {"pairs by its own rule", "timed through Python"}))
    version = importlib.metadata.version("nimblephysics")
    print(json.dumps({"peer": "nimble", "version": version, "note": note, "times": times, "contacts": contacts, "first_velocity": []}))


if __name__ == "__main__":
    main()
