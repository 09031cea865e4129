// From a MODEL.tree file to a Pinocchio model, and from slipstick's coordinates to Pinocchio's and back.
#pragma once
#include "../text.hpp"

#include <map>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>

namespace pin = pinocchio;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using Eigen::VectorXd;

enum class JointKind { Hinge, Slide, Ball, Free, Translation };

struct Tree {
  pin::Model model;
  std::vector<JointKind> kinds;   // per Pinocchio joint but the universe: kinds[j - 1] is model.joints[j]
};

// One state in Pinocchio's coordinates.
struct State {
  VectorXd q, v, a;   // (nq), (nv), (nv)
  VectorXd tau;       // torque of that motion, so that forward dynamics works on realistic numbers   (nv)
};

namespace detail {

constexpr double unit_tolerance = 1e-6;   // text rounding is far below, a forgotten normalization far above

inline Vector3d read_vector(TextFile& file, const char* what) {
  const double x = file.number(what), y = file.number(what), z = file.number(what);
  return {x, y, z};
}

inline Quaterniond require_unit(const TextFile& file, const char* what, const Quaterniond& u) {
  if (std::abs(u.norm() - 1.0) > unit_tolerance) file.fail(std::string(what) + " is not a unit quaternion");
  return u.normalized();
}

inline Quaterniond read_quaternion(TextFile& file, const char* what) {
  const double w = file.number(what), x = file.number(what), y = file.number(what), z = file.number(what);
  return require_unit(file, what, Quaterniond(w, x, y, z));
}

inline JointKind read_kind(TextFile& file) {
  const std::string word = file.word("the joint type");
  if (word == "hinge") return JointKind::Hinge;
  if (word == "slide") return JointKind::Slide;
  if (word == "ball") return JointKind::Ball;
  if (word == "free") return JointKind::Free;
  if (word == "translation") return JointKind::Translation;
  file.fail("expected hinge, slide, ball, free or translation, got \"" + word + "\"");
}

inline Vector3d read_axis(TextFile& file, JointKind kind) {
  const Vector3d axis = read_vector(file, "the axis");
  if (kind != JointKind::Hinge && kind != JointKind::Slide) return axis;   // the others have none
  if (std::abs(axis.norm() - 1.0) > unit_tolerance) file.fail("the axis is not a unit vector");
  return axis.normalized();
}

inline pin::Inertia read_inertia(TextFile& file) {
  const double mass = file.number("the mass");
  if (mass < 0.0) file.fail("the mass is negative");
  const Vector3d com = read_vector(file, "the center of mass");
  const double xx = file.number("Ixx"), xy = file.number("Ixy"), yy = file.number("Iyy");
  const double xz = file.number("Ixz"), yz = file.number("Iyz"), zz = file.number("Izz");
  return pin::Inertia(mass, com, pin::Symmetric3(xx, xy, yy, xz, yz, zz));
}

// Joints about or along a coordinate axis have their own, faster types; a user of Pinocchio would get those.
template <class X, class Y, class Z, class Unaligned> pin::JointModel aligned(const Vector3d& axis) {
  if (axis.isApprox(Vector3d::UnitX(), 1e-12)) return X();
  if (axis.isApprox(Vector3d::UnitY(), 1e-12)) return Y();
  if (axis.isApprox(Vector3d::UnitZ(), 1e-12)) return Z();
  return Unaligned(axis);
}

inline pin::JointModel joint_model(JointKind kind, const Vector3d& axis) {
  switch (kind) {
  case JointKind::Hinge:
    return aligned<pin::JointModelRX, pin::JointModelRY, pin::JointModelRZ, pin::JointModelRevoluteUnaligned>(axis);
  case JointKind::Slide:
    return aligned<pin::JointModelPX, pin::JointModelPY, pin::JointModelPZ, pin::JointModelPrismaticUnaligned>(axis);
  case JointKind::Ball: return pin::JointModelSpherical();
  case JointKind::Free: return pin::JointModelFreeFlyer();
  case JointKind::Translation: return pin::JointModelTranslation();
  }
  throw std::logic_error("joint kind out of range");
}

// Pinocchio takes the velocities of a subtree to be contiguous, and computes nonsense in silence where they are not.
inline void require_depth_first(const TextFile& file, const pin::Model& model, pin::JointIndex parent) {
  pin::JointIndex ancestor = model.joints.size() - 1;
  while (ancestor > parent) ancestor = model.parents[ancestor];
  if (ancestor != parent) file.fail("the joints are not in depth-first order");
}

// slipstick's free joint has its linear velocity in world axes, Pinocchio's in body axes. Away from the world's frame
// the former would be ambiguous; and armature, which multiplies the derivative of whichever is used, would differ.
inline void require_plain_free(const TextFile& file, pin::JointIndex parent, const pin::SE3& place, double armature) {
  if (parent != 0 || !place.isIdentity(1e-12)) file.fail("a free joint must sit on the world, placement identity");
  if (armature != 0.0) file.fail("a free joint must have no armature: write a translation and a ball instead");
}

inline void read_joint(TextFile& file, Tree& tree, std::map<int, pin::JointIndex>& ids) {
  pin::Model& model = tree.model;
  const int id = file.integer("the joint id");
  const int parent_id = file.integer("the parent id");
  const auto parent = ids.find(parent_id);
  if (parent == ids.end()) file.fail("parent " + std::to_string(parent_id) + " is not among the joints above");
  const JointKind kind = read_kind(file);
  const Vector3d position = read_vector(file, "the position");
  const pin::SE3 placement(read_quaternion(file, "the orientation"), position);
  const Vector3d axis = read_axis(file, kind);
  const double armature = file.number("the armature");
  const pin::Inertia inertia = read_inertia(file);
  file.expect_end();
  require_depth_first(file, model, parent->second);
  if (kind == JointKind::Free) require_plain_free(file, parent->second, placement, armature);
  if (ids.count(id) != 0) file.fail("joint " + std::to_string(id) + " appears twice");

  const pin::JointIndex j = model.addJoint(parent->second, joint_model(kind, axis), placement, std::to_string(id));
  ids.emplace(id, j);
  model.joints[j].jointVelocitySelector(model.armature).setConstant(armature);
  model.inertias[j] = inertia;
  tree.kinds.push_back(kind);
}

}  // namespace detail

inline Tree read_tree(const std::string& path) {
  TextFile file(path);
  Tree tree;
  std::map<int, pin::JointIndex> ids{{-1, 0}};
  bool named = false, has_gravity = false;
  while (file.next_line()) {
    const std::string key = file.word("a keyword");
    if (key == "model") {
      tree.model.name = file.rest("the model's name");
      named = true;
    } else if (key == "gravity") {
      tree.model.gravity = pin::Motion(detail::read_vector(file, "gravity"), Vector3d::Zero());
      file.expect_end();
      has_gravity = true;
    } else if (key == "joint") {
      detail::read_joint(file, tree, ids);
    } else {
      file.fail("expected model, gravity or joint, got \"" + key + "\"");
    }
  }
  if (!named || !has_gravity || tree.kinds.empty())
    throw std::runtime_error(path + ": expected a model line, a gravity line and at least one joint line");
  return tree;
}

// slipstick → Pinocchio: quaternions wxyz → xyzw; free joint, with R the body's rotation: v_b = Rᵀ v_w and, by
// differentiating that, a_b = Rᵀ a_w − ω × v_b.
inline void convert_state(const TextFile& file, const Tree& tree, State& state) {
  for (size_t i = 0; i < tree.kinds.size(); ++i) {
    const JointKind kind = tree.kinds[i];
    if (kind != JointKind::Ball && kind != JointKind::Free) continue;
    const pin::JointModel& joint = tree.model.joints[i + 1];
    auto wxyz = state.q.segment<4>(joint.idx_q() + (kind == JointKind::Free ? 3 : 0));
    const Quaterniond u = detail::require_unit(file, "the quaternion in q", {wxyz[0], wxyz[1], wxyz[2], wxyz[3]});
    wxyz = u.coeffs();   // Eigen stores x, y, z, w
    if (kind == JointKind::Ball) continue;
    auto v = state.v.segment<3>(joint.idx_v());
    auto a = state.a.segment<3>(joint.idx_v());
    const Vector3d omega = state.v.segment<3>(joint.idx_v() + 3);
    v = (u.conjugate() * Vector3d(v)).eval();
    a = (u.conjugate() * Vector3d(a) - omega.cross(Vector3d(v))).eval();
  }
}

// Pinocchio → slipstick: the force of a free joint goes from body to world axes, everything else is the same.
inline VectorXd torque_in_slipstick(const Tree& tree, const VectorXd& q, VectorXd tau) {
  for (size_t i = 0; i < tree.kinds.size(); ++i) {
    if (tree.kinds[i] != JointKind::Free) continue;
    const pin::JointModel& joint = tree.model.joints[i + 1];
    const Quaterniond u(Eigen::Vector4d(q.segment<4>(joint.idx_q() + 3)));
    const Vector3d force_w = u * Vector3d(tau.segment<3>(joint.idx_v()));
    tau.segment<3>(joint.idx_v()) = force_w;
  }
  return tau;
}

inline std::vector<State> read_states(const std::string& path, const Tree& tree) {
  TextFile file(path);
  std::vector<State> states;
  const auto read = [&file](Eigen::Index n, const char* what) {
    VectorXd x(n);
    for (double& xi : x) xi = file.number(what);
    return x;
  };
  while (file.next_line()) {
    State state;
    state.q = read(tree.model.nq, "q");
    state.v = read(tree.model.nv, "v");
    state.a = read(tree.model.nv, "a");
    file.expect_end();
    convert_state(file, tree, state);
    states.push_back(std::move(state));
  }
  if (states.empty()) throw std::runtime_error(path + ": expected at least one state");
  return states;
}
