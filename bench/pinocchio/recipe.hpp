// A step of the paper's recipe, put together from Pinocchio and coal: ABA, contact points, Delassus matrix by the constraint Cholesky
// factor, ADMM on the unrelaxed problem (1e-6, warm if the same pairs touched before), velocity, integration.
#pragma once
#include "step_contacts.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/constraint-cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/delassus-operator.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/solvers/admm-solver.hpp>
#include <pinocchio/constraints.hpp>

namespace recipe {
constexpr double tolerance = 1e-6;          // of ADMM, absolute and relative
constexpr int max_iterations = 1000;        // of ADMM
constexpr double contact_distance = 1e-3;   // pairs nearer than this take part [m]
constexpr double correction = 0.02;         // share of an overlap that is undone in a step

// Share of a distance that the contact's velocity must make up for in a step.
inline double share_of(double distance) { return distance > 0.0 ? 1.0 : correction; }
}  // namespace recipe

using ContactModel = pin::PointContactConstraintModelTpl<double, 0>;
using ContactData = pin::PointContactConstraintDataTpl<double, 0>;
using Solver = pin::ADMMConstraintSolverTpl<double, 0>;

class Recipe {
public:
  Recipe(const Tree& tree, const Surroundings& around)
      : tree_(tree), m_(tree.model), around_(around), d_(m_), contacts_(around, recipe::contact_distance), impulse_torque_(m_.nv) {
    settings_.absolute_feasibility_tol = settings_.relative_feasibility_tol = recipe::tolerance;
    settings_.absolute_complementarity_tol = settings_.relative_complementarity_tol = recipe::tolerance;
    settings_.max_iterations = recipe::max_iterations;
  }

  void forget() { previous_pairs_.clear(); }

  void step(const VectorXd& q, const VectorXd& v, const VectorXd& tau, VectorXd& q_next, VectorXd& v_next) {
    tau_ = tau;
    add_passive(q, v);
    pin::aba(m_, d_, q, v, tau_, pin::Convention::WORLD);
    v_next.noalias() = v + around_.dt * d_.ddq;
    contacts_.find(d_, touches_);
    iterations = 0;
    converged = true;
    if (touches_.empty()) previous_pairs_.clear();
    else collide(q, v_next);
    increment_ = around_.dt * v_next;
    pin::integrate(m_, q, increment_, q_next);
  }

  int iterations = 0;
  bool converged = true;

  // What the last step met, for its derivative.
  const Tree& tree() const { return tree_; }
  const Surroundings& around() const { return around_; }
  const pin::Data& data() const { return d_; }
  const std::vector<Touch>& touches() const { return touches_; }
  const VectorXd& tau() const { return tau_; }              // with passive forces   (nv)
  const Eigen::MatrixXd& jacobian() const { return J_; }    // of the contacts' velocities   (3n × nv)
  const VectorXd& impulse() const { return impulse_; }      // (3n)
  const VectorXd& velocity() const { return velocity_; }    // with the demands of distances   (3n)

private:
  void add_passive(const VectorXd& q, const VectorXd& v) {
    for (size_t i = 0; i < tree_.kinds.size(); ++i) {
      if (tree_.kinds[i] != JointKind::Hinge && tree_.kinds[i] != JointKind::Slide) continue;
      const Passive& p = around_.passive[i];
      const int iq = m_.joints[i + 1].idx_q(), iv = m_.joints[i + 1].idx_v();
      tau_[iv] -= p.damping * v[iv] + p.stiffness * (q[iq] - p.reference);
    }
  }

  // Adds the velocity of the contact impulses to that of the free motion.
  void collide(const VectorXd& q, VectorXd& v) {
    models_.clear();
    datas_.clear();
    pairs_.clear();
    for (const Touch& t : touches_) {
      models_.emplace_back(m_, t.joint_1, d_.oMi[t.joint_1].actInv(t.frame), t.joint_2, d_.oMi[t.joint_2].actInv(t.frame));
      models_.back().setFriction(around_.friction);
      datas_.push_back(models_.back().createData());
      pairs_.push_back(t.pair);
    }
    pin::crba(m_, d_, q, pin::Convention::WORLD);
    for (size_t i = 0; i < models_.size(); ++i) models_[i].calc(m_, d_, datas_[i]);
    factor_.rebuild(m_, d_, models_, datas_);
    factor_.compute(m_, d_, models_, datas_);

    const Eigen::Index rows = 3 * static_cast<Eigen::Index>(touches_.size());
    J_.setZero(rows, m_.nv);
    pin::getConstraintsJacobian(m_, d_, models_, datas_, J_);
    g_.noalias() = J_ * v;
    for (size_t i = 0; i < touches_.size(); ++i) {
      const double distance = touches_[i].distance;
      g_[3 * i + 2] += recipe::share_of(distance) * distance / around_.dt;
    }
    solve(rows);
    impulse_torque_.noalias() = J_.transpose() * impulse_;
    pin::cholesky::decompose(m_, d_);
    pin::cholesky::solve(m_, d_, impulse_torque_);
    v += impulse_torque_;
  }

  void solve(Eigen::Index rows) {
    if (pairs_ == previous_pairs_) result_.setConstraintImpulseGuess(impulse_);
    else result_.clearConstraintImpulseGuess();
    auto G = factor_.getDelassusOperatorCholeskyExpression();
    converged = solver_.solve(G, g_, models_, datas_, settings_, result_);
    iterations = result_.iterations;
    impulse_.resize(rows);
    velocity_.resize(rows);
    result_.retrieveConstraintImpulses(impulse_);
    result_.retrieveConstraintVelocities(velocity_);
    previous_pairs_ = pairs_;
  }

  const Tree& tree_;
  const pin::Model& m_;
  const Surroundings& around_;
  pin::Data d_;
  Contacts contacts_;
  std::vector<Touch> touches_;
  std::vector<size_t> pairs_, previous_pairs_;
  std::vector<ContactModel> models_;
  std::vector<ContactData> datas_;
  pin::ConstraintCholeskyDecompositionTpl<double, 0> factor_;
  Solver solver_;
  Solver::ADMMSolverSettings settings_;
  Solver::ADMMSolverResult result_;
  Eigen::MatrixXd J_;
  VectorXd g_, impulse_, velocity_, tau_, increment_, impulse_torque_;
};
