//! What a model is made of, as bytes. A field that is added to a struct does not compile until it is listed here, and
//! the version in `mod.rs` is raised with it.

use super::super::pairs::PairRules;
use super::super::{
    Activation, Actuator, ActuatorId, Body, BodyId, CollisionGradient, ContactData, ContactReport, Correction,
    Dynamics, Equality, EqualityKind, FieldId, Frame, FrameId, Geom, GeomId, GeomSet, GradientMode, HeightField,
    Implicit, Integrator, Joint, JointId, JointKind, Keyframe, Mesh, MeshId, Node, Options, Order, PairRule,
    PairSurface, Primitive, PrimitiveKind, Quantity, RayData, Reduce, Sensor, SensorObject, Shape, Solver, Surface,
    Tendon, Topology, Transmission, Warning,
};
use crate::bytes::{Bytes, Reader, enum_bytes, newtype_bytes, struct_bytes};
use crate::spatial::{BodyInertia, Mat3, Pose, Sym3, Vec3};

newtype_bytes!(BodyId JointId FrameId GeomId MeshId FieldId ActuatorId RayData ContactData);

struct_bytes! {
    Vec3 { x, y, z }
    Mat3 { c }
    Sym3 { xx, xy, yy, xz, yz, zz }
    Pose { rotation, position }
    BodyInertia { mass, com, about_com }

    Body { name, parent, link, mocap }
    Frame { name, body, parent, pose, inertia, zone }
    Joint { name, kind, body, q, v, anchor, reference, range, effort, driven_compensation, velocity }
    Node { parent, tree, primitives, dofs }
    Primitive { kind, q, v, axis, anchor, anchored, reference, angle }
    Keyframe { name, q, v, ctrl, act, mocap }

    Geom { name, body, link, shape, pose, surface }
    Surface {
        friction, restitution, compliance, contype, conaffinity, condim, priority, offset, transparent, extent,
    }
    Mesh { name, vertices, triangles }
    HeightField { name, half_size, rows, columns, heights, base }
    PairRules { rule, excludes, explicit, dropped, single_point }
    PairSurface { friction, condim, offset }

    Actuator {
        name, transmission, gear, gain, gain_slopes, bias, ctrl_range, force_range, activation, enabled,
    }
    Activation { dynamics, range, early }
    Equality { name, kind, active }
    Tendon { name, joints, range, stiffness, rest, damping, dry_friction }
    Sensor { name, quantity, object, reference, cutoff }
    ContactReport { data, slots, reduce }
    Warning { what, place, effect }

    Options {
        dt, gravity, magnetic, contact_distance, implicit, integrator, solver, tolerance, max_iterations, correction,
        restitution_threshold, patch_compliance, speed_limit, gradient, collision_gradient, gradient_of_failed_steps,
    }
    Correction { full_depth, beta, max_speed }
}

enum_bytes! {
    JointKind { 0 Revolute { axis }, 1 Prismatic { axis }, 2 Spherical, 3 Planar, 4 Free }
    PrimitiveKind { 0 HingeX, 1 HingeY, 2 HingeZ, 3 Hinge, 4 Slide, 5 Translation, 6 Ball }
    Shape {
        0 Plane, 1 Sphere { radius }, 2 Capsule { radius, half_length }, 3 Cylinder { radius, half_length },
        4 Cone { radius, half_length }, 5 Box { half_size }, 6 Ellipsoid { radii }, 7 Mesh { mesh },
        8 HeightField { field }, 9 Terrain { mesh },
    }
    PairRule { 0 Mujoco, 1 Paper, 2 List(list) }
    Transmission {
        0 Joint(joint), 1 JointInParent(joint), 2 Tendon(tendon), 3 Site { site, reference },
        4 SliderCrank { crank, slider, rod },
    }
    Dynamics { 0 Integrator, 1 Filter { time_constant }, 2 ExactFilter { time_constant } }
    EqualityKind {
        0 Joint { joint, other, coefficients }, 1 Tendon { tendon, other, coefficients },
        2 Connect { frames, points }, 3 Weld { frames, pose, anchor, torque_scale },
    }
    SensorObject {
        0 World, 1 Joint(joint), 2 Frame(frame), 3 Inertial(frame), 4 Actuator(actuator), 5 Tendon(tendon),
        6 Geoms(sets),
    }
    Quantity {
        0 Clock, 1 Position, 2 Velocity, 3 ActuatorForce, 4 Quaternion, 5 XAxis, 6 YAxis, 7 ZAxis, 8 LinearVelocity,
        9 AngularVelocity, 10 LinearAcceleration, 11 AngularAcceleration, 12 Accelerometer, 13 Velocimeter, 14 Gyro,
        15 Force, 16 Torque, 17 Touch, 18 SubtreeCenterOfMass, 19 SubtreeLinearVelocity, 20 SubtreeAngularMomentum,
        21 LimitPosition, 22 LimitVelocity, 23 LimitForce, 24 Magnetometer, 25 RangeFinder(data), 26 InsideSite,
        27 Distance, 28 Normal, 29 FromTo, 30 Contact(report), 31 PotentialEnergy, 32 KineticEnergy, 33 User(size),
    }
    Reduce { 0 First, 1 Deepest, 2 Strongest, 3 Net }
    GeomSet { 0 Any, 1 Geom(geom), 2 Link(link), 3 Subtree(link), 4 Inside(site) }
    Solver { 0 Auto, 1 Cold, 2 Admm, 3 Pgs }
    Integrator { 0 Midpoint, 1 Euler }
    Implicit { 0 None, 1 Damping, 2 Velocity, 3 All }
    GradientMode { 0 Exact, 1 Central { kappa }, 2 ExactForwardCentral { kappa } }
    CollisionGradient { 0 Exact, 1 Smoothed { eps }, 2 Randomized { sigma, samples, seed, order }, 3 Frozen }
    Order { 0 Zeroth, 1 First }
}

/// The tables of a tree follow from its nodes and primitives.
impl Bytes for Topology {
    fn put(&self, out: &mut Vec<u8>) {
        self.nodes.put(out);
        self.primitives.put(out);
    }

    fn take(input: &mut Reader) -> Option<Topology> {
        Some(Topology::new(Bytes::take(input)?, Bytes::take(input)?))
    }
}
