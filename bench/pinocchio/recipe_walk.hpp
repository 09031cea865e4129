// The recipe's way along the motions of our own bench. Shared by step.cpp and gradient.cpp.
#pragma once
#include "../mujoco/step.hpp"
#include "recipe.hpp"

inline VectorXd to_eigen(const Numbers& x) { return Eigen::Map<const VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())); }

// Numbers of our bench in Pinocchio's coordinates. Forces act on hinges and slides only and are the same in both.
inline State in_pinocchio(const TextFile& file, const Tree& tree, const Numbers& q, const Numbers& v) {
  State state{to_eigen(q), to_eigen(v), VectorXd::Zero(tree.model.nv), {}};
  convert_state(file, tree, state);
  return state;
}

// Back, for a velocity: the linear part of a free joint goes from body to world axes.
inline VectorXd velocity_in_slipstick(const Tree& tree, const VectorXd& q, const VectorXd& v) { return torque_in_slipstick(tree, q, v); }

inline VectorXd control(const Tree& tree, const Drive& drive, const State& target, const Moment& moment, const VectorXd& q, const VectorXd& v) {
  VectorXd tau = to_eigen(moment.tau);
  if (!moment.q.empty()) return tau;   // a given state comes with its whole force
  for (size_t i = 0; i < tree.kinds.size(); ++i) {
    if (tree.kinds[i] != JointKind::Hinge && tree.kinds[i] != JointKind::Slide) continue;
    const int iq = tree.model.joints[i + 1].idx_q(), iv = tree.model.joints[i + 1].idx_v();
    tau[iv] += drive.kp * (target.q[iq] - q[iq]) - drive.kd * v[iv];
  }
  return tau;
}

// A step about to be taken, and where its result goes.
struct Stride {
  const VectorXd &q, &v, &tau;
  VectorXd &q_next, &v_next;
};

// Calls `step(k, stride)` for the k-th step of all, which must take it.
template <class Step> void walk(const TextFile& file, const Tree& tree, const Drive& drive, Recipe& recipe, Step&& step) {
  size_t k = 0;
  VectorXd q_next(tree.model.nq), v_next(tree.model.nv);
  for (const Motion& motion : drive.motions) {
    const State start = in_pinocchio(file, tree, motion.q, motion.v);
    State now = start;
    recipe.forget();
    for (const Moment& moment : motion.moments) {
      if (!moment.q.empty()) now = in_pinocchio(file, tree, moment.q, moment.v);
      const VectorXd tau = control(tree, drive, start, moment, now.q, now.v);
      step(k++, Stride{now.q, now.v, tau, q_next, v_next});
      if (!q_next.allFinite() || !v_next.allFinite()) throw std::runtime_error("the simulation diverged");
      now.q.swap(q_next);
      now.v.swap(v_next);
    }
  }
}
