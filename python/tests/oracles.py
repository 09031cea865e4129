"""Pinocchio models in slipstick's coordinates.

`PinocchioOracle.from_mujoco` walks the bodies and joints that MuJoCo's compiler made of an MJCF file (so settotalmass,
inertia from geometry, defaults and the like are MuJoCo's doing) and builds a chain of joints with massless links: one
dof each, a ball as JointModelSpherical, a free joint as JointModelTranslation + JointModelSpherical. No composite
joints: Pinocchio's analytic derivatives are wrong for those. Pinocchio's v is then ours number by number, and q differs
only in the order of quaternions and in `ref`.

`PinocchioOracle.from_urdf` lets Pinocchio read the file and splits its free-flyer in the same way. Pinocchio sorts
siblings by name, so dofs are permuted; `v`, `vector`, `columns` and `matrix` carry numbers across.
"""

from dataclasses import dataclass, field

import mujoco
import numpy as np
import pinocchio as pin


def rotation(quaternion):
    """Rotation matrix of (w, x, y, z)."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    return pin.Quaternion(w, x, y, z).toRotationMatrix()


@dataclass
class PinocchioOracle:
    model: pin.Model = field(default_factory=pin.Model)
    dof: list = field(default_factory=list)  # slipstick's dof of every dof of Pinocchio
    coordinates: list = field(default_factory=list)  # (kind, index in Pinocchio's q, index in q, reference)
    bodies: dict = field(default_factory=dict)  # name of a body or link → frame id
    sites: dict = field(default_factory=dict)  # name of a site → frame id

    # ------------------------------------------------------------------ construction

    @classmethod
    def from_mujoco(cls, mj):
        oracle = cls()
        oracle.model.gravity.linear = mj.opt.gravity.copy()
        carrier = {0: (0, pin.SE3.Identity())}  # body → (joint that carries it, placement in that joint's frame)
        for body in range(1, mj.nbody):
            carrier[body] = oracle._add_mujoco_body(mj, body, *carrier[int(mj.body_parentid[body])])
        for site in range(mj.nsite):
            joint, X = carrier[int(mj.site_bodyid[site])]
            X = X * pin.SE3(rotation(mj.site_quat[site]), mj.site_pos[site])
            name = mj.site(site).name or f"unnamed site {site}"
            oracle._add_frame(oracle.sites, name, joint, X, pin.FrameType.OP_FRAME)
        oracle._finish(mj.dof_armature)
        return oracle

    def _add_mujoco_body(self, mj, body, joint, X):
        X = X * pin.SE3(rotation(mj.body_quat[body]), mj.body_pos[body])
        for j in range(mj.body_jntadr[body], mj.body_jntadr[body] + mj.body_jntnum[body]):
            kind, name = mujoco.mjtJoint(mj.jnt_type[j]), mj.joint(j).name or f"unnamed joint {j}"
            q0, v0, reference = int(mj.jnt_qposadr[j]), int(mj.jnt_dofadr[j]), float(mj.qpos0[mj.jnt_qposadr[j]])
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                joint, X = self._add_free(name, q0, v0), pin.SE3.Identity()
                continue
            anchor = pin.SE3(np.eye(3), mj.jnt_pos[j])
            if kind == mujoco.mjtJoint.mjJNT_BALL:
                joint = self._add_joint(joint, pin.JointModelSpherical(), X * anchor, name, ("quaternion", q0, 0.0), v0)
            else:
                hinge = kind == mujoco.mjtJoint.mjJNT_HINGE
                joint_model = pin.JointModelRevoluteUnaligned if hinge else pin.JointModelPrismaticUnaligned
                coordinate = ("scalar", q0, reference)
                joint = self._add_joint(joint, joint_model(mj.jnt_axis[j].copy()), X * anchor, name, coordinate, v0)
            X = anchor.inverse()
        if joint != 0:  # mass fixed to the world moves nothing
            R = rotation(mj.body_iquat[body])
            inertia = R @ np.diag(mj.body_inertia[body]) @ R.T
            self.model.appendBodyToJoint(joint, pin.Inertia(mj.body_mass[body], mj.body_ipos[body].copy(), inertia), X)
        self._add_frame(self.bodies, mj.body(body).name or f"unnamed body {body}", joint, X, pin.FrameType.BODY)
        return joint, X

    @classmethod
    def from_urdf(cls, path, free_root, joint_order):
        """`joint_order`: names of the one-dof joints in the order of q and v (a free root comes before them)."""
        root = [pin.JointModelFreeFlyer()] if free_root else []
        return cls.from_pinocchio(pin.buildModelFromUrdf(str(path), *root), joint_order)

    @classmethod
    def from_pinocchio(cls, source, joint_order):
        """A copy of `source` with its free-flyer, if it has one, split in a translation and a rotation."""
        oracle = cls()
        oracle.model.gravity = source.gravity
        has_root = source.njoints > 1 and source.joints[1].shortname() == "JointModelFreeFlyer"
        q0, v0 = (7, 6) if has_root else (0, 0)
        place, carrier = {name: k for k, name in enumerate(joint_order)}, {0: 0}
        for j in range(1, source.njoints):
            name, joint_model = source.names[j], source.joints[j]
            if joint_model.shortname() == "JointModelFreeFlyer":
                carrier[j] = oracle._add_free(name, 0, 0)
            else:
                kind = {1: "scalar", 2: "circle"}[joint_model.nq]
                parent, placement = carrier[source.parents[j]], source.jointPlacements[j]
                coordinate = (kind, q0 + place[name], 0.0)
                carrier[j] = oracle._add_joint(parent, joint_model, placement, name, coordinate, v0 + place[name])
            oracle.model.appendBodyToJoint(carrier[j], source.inertias[j], pin.SE3.Identity())
        for frame in source.frames:
            if frame.type == pin.FrameType.BODY:
                oracle._add_frame(oracle.bodies, frame.name, carrier[frame.parentJoint], frame.placement, frame.type)
        oracle._finish(np.zeros(oracle.model.nv))
        return oracle

    def _add_free(self, name, q0, v0):
        X, translation, rotation = pin.SE3.Identity(), pin.JointModelTranslation(), pin.JointModelSpherical()
        joint = self._add_joint(0, translation, X, f"{name}_translation", ("position", q0, 0.0), v0)
        return self._add_joint(joint, rotation, X, name, ("quaternion", q0 + 3, 0.0), v0 + 3)

    def _add_joint(self, parent, joint_model, placement, name, coordinate, v0):
        joint = self.model.addJoint(parent, joint_model, placement, name)
        kind, q0, reference = coordinate
        self.coordinates.append((kind, self.model.joints[joint].idx_q, q0, reference))
        self.dof.extend(range(v0, v0 + self.model.joints[joint].nv))
        return joint

    def _add_frame(self, names, name, joint, X, kind):
        parent_frame = 0
        names[name] = self.model.addFrame(pin.Frame(f"{kind}/{name}", joint, parent_frame, X, kind), False)

    def _finish(self, armature):
        self.dof = np.array(self.dof, dtype=int)
        self.model.armature = np.array(armature, dtype=float)[self.dof]
        self.data = self.model.createData()

    # ------------------------------------------------------------------ coordinates

    def q(self, q):
        """Pinocchio's configuration: quaternions (x, y, z, w), scalar joints without their reference."""
        out = pin.neutral(self.model)
        for kind, to, source, reference in self.coordinates:
            if kind == "quaternion":
                out[to : to + 4] = np.roll(q[source : source + 4], -1)
            elif kind == "position":
                out[to : to + 3] = q[source : source + 3]
            elif kind == "circle":
                out[to : to + 2] = np.cos(q[source]), np.sin(q[source])
            else:
                out[to] = q[source] - reference
        return out

    def v(self, v):
        """Velocity, acceleration or torque in Pinocchio's order."""
        return np.asarray(v)[self.dof]

    def vector(self, x):
        """A vector of Pinocchio's in slipstick's order."""
        out = np.empty(len(self.dof))
        out[self.dof] = x
        return out

    def columns(self, J):
        """A matrix whose columns are Pinocchio's dofs, columns in slipstick's order."""
        out = np.empty_like(J)
        out[:, self.dof] = J
        return out

    def matrix(self, M):
        """A square matrix over dofs, both in slipstick's order."""
        return self.columns(self.columns(M).T).T

    # ------------------------------------------------------------------ names

    def joint_of(self, body):
        """The joint that carries a body or link, by name; None for a name that the file does not have."""
        frame = self.bodies.get(body)
        return None if frame is None else self.model.frames[frame].parentJoint

    def frames(self):
        """(name, frame id) of every named body, link and site; a site that shares its name with a body is left out."""
        named = {name: frame for name, frame in self.sites.items() if name not in self.bodies} | self.bodies
        return [(name, frame) for name, frame in named.items() if not name.startswith("unnamed ")]


# MuJoCo appends its warnings (settotalmass is deprecated) to a file in the working folder unless someone takes them.
mujoco.set_mju_user_warning(lambda message: None)


def load_mujoco(path):
    """MuJoCo's model with rigid-body dynamics only."""
    return rigid_only(mujoco.MjModel.from_xml_path(str(path)))


def rigid_only(mj):
    """Switches constraints, actuation, springs, dampers and fluid off."""
    bit = mujoco.mjtDisableBit
    mj.opt.disableflags |= int(bit.mjDSBL_CONSTRAINT | bit.mjDSBL_EQUALITY | bit.mjDSBL_FRICTIONLOSS | bit.mjDSBL_LIMIT)
    mj.opt.disableflags |= int(bit.mjDSBL_CONTACT | bit.mjDSBL_ACTUATION | bit.mjDSBL_SPRING | bit.mjDSBL_DAMPER)
    mj.opt.density = mj.opt.viscosity = 0.0
    mj.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    return mj


def obey_flags(mj):
    """Writes what `<flag>` switches off into the numbers of MuJoCo's model, where ours has it."""
    bit = mujoco.mjtDisableBit

    def off(*flags):
        return any(mj.opt.disableflags & int(flag) for flag in flags)

    if off(bit.mjDSBL_CONSTRAINT, bit.mjDSBL_LIMIT):
        mj.jnt_limited[:], mj.tendon_limited[:] = 0, 0
    if off(bit.mjDSBL_CONSTRAINT, bit.mjDSBL_FRICTIONLOSS):
        mj.dof_frictionloss[:], mj.tendon_frictionloss[:] = 0.0, 0.0
    if off(bit.mjDSBL_CONSTRAINT, bit.mjDSBL_EQUALITY):
        mj.eq_active0[:] = 0
    return mj


def enable(mj, *flags):
    """Switches parts that `load_mujoco` left out back on."""
    for flag in flags:
        mj.opt.disableflags &= ~int(flag)
    return mj


def mujoco_mass_matrix(mj, data):
    M = np.zeros((mj.nv, mj.nv))
    mujoco.mj_fullM(mj, data, M)
    return M
