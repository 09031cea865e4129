// The derivative of the recipe's step, ∂v⁺/∂(q, v, τ), as in the paper: ABA derivatives under the contact forces, derivatives of the
// contacts' velocities with the terms of collision detection, and the reduced system of the contact problem by QR.
//
// Collision detection is differentiated by a simple closed form: the contact frame turns with the first shape, the point stays on the
// second and rolls over its rounding. That does the work of the paper's terms, which come from sampled neighbors at a higher price, but
// only approximates ∂v⁺/∂q: it is off by 1e-3 of its largest number where a foot is pressed 0.1 mm into the floor, by more in heaps and
// near a distance of zero, where what the recipe demands of a contact has a kink. ∂v⁺/∂v and ∂v⁺/∂τ agree with differences to 1e-9.
#pragma once
#include "recipe.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/kinematics-derivatives.hpp>

class RecipeGradient {
public:
  explicit RecipeGradient(const Recipe& recipe)
      : recipe_(recipe), m_(recipe.tree().model), d_(m_), forces_(m_.njoints, pin::Force::Zero()), dv_(m_.nv, 3 * m_.nv),
        point_dq_(3, m_.nv), point_dv_(3, m_.nv), J1_(6, m_.nv), J2_(6, m_.nv), zero_(VectorXd::Zero(m_.nv)) {}

  // After recipe.step(q, v, …) that found v_next; the result is in `result()`.
  void compute(const VectorXd& q, const VectorXd& v, const VectorXd& v_next) {
    smooth(q, v);
    if (recipe_.touches().empty()) return;
    pin::computeForwardKinematicsDerivatives(m_, d_, q, v_next, zero_);
    collision(v_next);
    solve();
  }

  // Of v_next with respect to q, v and tau, in Pinocchio's tangent spaces   (nv × 3nv)
  const Eigen::MatrixXd& result() const { return dv_; }

private:
  using Matrix3X = Eigen::Matrix<double, 3, Eigen::Dynamic>;
  using Matrix6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;
  enum class Mode { Break, Stick, Slide };
  struct Contact {
    Mode mode;
    Eigen::Index row;                            // in the reduced system
    Eigen::Matrix<double, 3, 2> columns;         // of a sliding contact: directions that its impulse may change in
    Eigen::Matrix<double, 2, 3> rows;            // and of its velocity that count
  };

  // The step with the impulses kept.
  void smooth(const VectorXd& q, const VectorXd& v) {
    const double dt = recipe_.around().dt;
    const Eigen::Index nv = m_.nv;
    std::fill(forces_.begin(), forces_.end(), pin::Force::Zero());
    for (size_t i = 0; i < recipe_.touches().size(); ++i) {
      const Touch& t = recipe_.touches()[i];
      const pin::Force force(recipe_.impulse().segment<3>(3 * i) / dt, Vector3d::Zero());
      forces_[t.joint_2] += in_joint(t, t.joint_2).act(force);
      if (t.joint_1 != 0) forces_[t.joint_1] -= in_joint(t, t.joint_1).act(force);
    }
    pin::computeABADerivatives(m_, d_, q, v, recipe_.tau(), forces_);
    d_.Minv.triangularView<Eigen::StrictlyLower>() = d_.Minv.transpose().triangularView<Eigen::StrictlyLower>();
    dv_.leftCols(nv) = dt * d_.ddq_dq;
    dv_.middleCols(nv, nv) = dt * d_.ddq_dv;
    dv_.rightCols(nv) = dt * d_.Minv;
    add_passive(dt);
    dv_.middleCols(nv, nv).diagonal().array() += 1.0;
  }

  void add_passive(double dt) {
    const Tree& tree = recipe_.tree();
    for (size_t i = 0; i < tree.kinds.size(); ++i) {
      if (tree.kinds[i] != JointKind::Hinge && tree.kinds[i] != JointKind::Slide) continue;
      const Passive& p = recipe_.around().passive[i];
      const Eigen::Index iv = m_.joints[i + 1].idx_v();
      if (p.stiffness != 0.0) dv_.col(iv) -= dt * p.stiffness * d_.Minv.col(iv);
      if (p.damping != 0.0) dv_.col(m_.nv + iv) -= dt * p.damping * d_.Minv.col(iv);
    }
  }

  pin::SE3 in_joint(const Touch& t, pin::JointIndex joint) const { return recipe_.data().oMi[joint].actInv(t.frame); }

  // Derivatives of the contacts' velocities at fixed impulses, the change of the frames included   (rhs_)
  void collision(const VectorXd& v_next) {
    const Eigen::Index nv = m_.nv, n = static_cast<Eigen::Index>(recipe_.touches().size());
    const double dt = recipe_.around().dt;
    force_dq_.setZero(nv, nv);
    rhs_.setZero(3 * n, 3 * nv);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Touch& t = recipe_.touches()[i];
      auto rho = rhs_.block(3 * i, 0, 3, nv);
      add_point(t, t.joint_2, 1.0, rho);
      if (t.joint_1 != 0) add_point(t, t.joint_1, -1.0, rho);
      add_frame(t, recipe_.impulse().segment<3>(3 * i) / dt, v_next, rho);
      rho.row(2) += recipe::share_of(t.distance) / dt * recipe_.jacobian().row(3 * i + 2);
    }
    dv_.leftCols(nv).noalias() += dt * d_.Minv * force_dq_;
    rhs_.noalias() += recipe_.jacobian() * dv_;
  }

  // Velocity of a point of the joint's body, in a frame that moves with it.
  template <class Block> void add_point(const Touch& t, pin::JointIndex joint, double sign, Block& rho) {
    point_dq_.setZero();
    point_dv_.setZero();
    pin::getPointVelocityDerivatives(m_, d_, joint, in_joint(t, joint), pin::LOCAL, point_dq_, point_dv_);
    rho += sign * point_dq_;
  }

  // The frame turns by `turn` and the point moves by `shift` against the second body, by `shift` + `slip` against the first.
  template <class Block> void add_frame(const Touch& t, const Vector3d& force, const VectorXd& v_next, Block& rho) {
    J2_.setZero();
    pin::getFrameJacobian(m_, d_, t.joint_2, in_joint(t, t.joint_2), pin::LOCAL, J2_);
    const Eigen::Matrix<double, 6, 1> V2 = J2_ * v_next;
    turn_ = -J2_.bottomRows<3>();
    if (t.joint_1 != 0) {
      J1_.setZero();
      pin::getFrameJacobian(m_, d_, t.joint_1, in_joint(t, t.joint_1), pin::LOCAL, J1_);
      turn_ += J1_.bottomRows<3>();
    }
    const double rounding = recipe_.around().shapes[recipe_.around().pairs[t.pair].second].rounding;
    shift_.noalias() = rounding * pin::skew(Vector3d(Vector3d::UnitZ())) * turn_;
    const Eigen::Matrix3d F = pin::skew(force);
    force_dq_.noalias() -= J2_.topRows<3>().transpose() * (F * turn_) + J2_.bottomRows<3>().transpose() * (F * shift_);
    rho.noalias() += pin::skew(Vector3d(V2.head<3>())) * turn_ + pin::skew(Vector3d(V2.tail<3>())) * shift_;
    if (t.joint_1 == 0) return;
    shift_ += J2_.topRows<3>() - J1_.topRows<3>();
    const Eigen::Matrix<double, 6, 1> V1 = J1_ * v_next;
    force_dq_.noalias() += J1_.bottomRows<3>().transpose() * (F * shift_);
    rho.noalias() -= pin::skew(Vector3d(V1.tail<3>())) * shift_;
  }

  // Sticking contacts keep three unknowns, sliding ones two, the others none.
  void solve() {
    const Eigen::Index nv = m_.nv, n = static_cast<Eigen::Index>(recipe_.touches().size());
    const Eigen::MatrixXd& J = recipe_.jacobian();
    const Eigen::Index size = classify();
    if (size == 0) return;
    MinvJt_.noalias() = d_.Minv * J.transpose();
    G_.noalias() = J * MinvJt_;
    A_.resize(size, size);
    B_.resize(size, 3 * nv);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Contact& a = contacts_[i];
      if (a.mode == Mode::Break) continue;
      if (a.mode == Mode::Stick) B_.middleRows(a.row, 3) = -rhs_.middleRows(3 * i, 3);
      else B_.middleRows(a.row, 2).noalias() = -a.rows * rhs_.middleRows(3 * i, 3);
      for (Eigen::Index j = 0; j < n; ++j)
        if (contacts_[j].mode != Mode::Break) couple(i, j);
    }
    A_.diagonal().array() += 1e-10;   // redundant points of a patch leave it singular
    X_ = A_.householderQr().solve(B_);
    impulse_d_.setZero(3 * n, 3 * nv);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Contact& a = contacts_[i];
      if (a.mode == Mode::Stick) impulse_d_.middleRows(3 * i, 3) = X_.middleRows(a.row, 3);
      else if (a.mode == Mode::Slide) impulse_d_.middleRows(3 * i, 3).noalias() = a.columns * X_.middleRows(a.row, 2);
    }
    dv_.noalias() += MinvJt_ * impulse_d_;
  }

  Eigen::Index classify() {
    constexpr double none = 1e-9, inside = 1e-4, still = 1e-7;   // of impulses [N s], of the cone, of velocities [m/s]
    const double mu = recipe_.around().friction;
    Eigen::Index row = 0;
    contacts_.resize(recipe_.touches().size());
    for (size_t i = 0; i < contacts_.size(); ++i) {
      const Vector3d l = recipe_.impulse().segment<3>(3 * i), s = recipe_.velocity().segment<3>(3 * i);
      const double slip = s.head<2>().norm();
      Contact& c = contacts_[i];
      c.row = row;
      if (l[2] < none) c.mode = Mode::Break;
      else if (l.head<2>().norm() < mu * l[2] * (1.0 - inside) || slip < still) c.mode = Mode::Stick;
      else slide(c, l, s, slip / (mu * l[2]));
      row += c.mode == Mode::Stick ? 3 : c.mode == Mode::Slide ? 2 : 0;
    }
    return row;
  }

  static void slide(Contact& c, const Vector3d& impulse, const Vector3d& velocity, double alpha) {
    const Eigen::Vector2d u = velocity.head<2>().normalized();
    Eigen::Matrix3d P = Eigen::Matrix3d::Zero();
    P.topLeftCorner<2, 2>() = (Eigen::Matrix2d::Identity() - u * u.transpose()) / alpha;
    P(2, 2) = 1.0;
    c.mode = Mode::Slide;
    c.columns.col(0) = impulse.normalized();
    c.columns.col(1) << -u[1], u[0], 0.0;
    c.rows = c.columns.transpose() * P;
  }

  void couple(Eigen::Index i, Eigen::Index j) {
    const Contact &a = contacts_[i], &b = contacts_[j];
    const Eigen::Matrix3d G = G_.block<3, 3>(3 * i, 3 * j);
    if (a.mode == Mode::Stick && b.mode == Mode::Stick) A_.block<3, 3>(a.row, b.row) = G;
    else if (a.mode == Mode::Stick) A_.block<3, 2>(a.row, b.row).noalias() = G * b.columns;
    else if (b.mode == Mode::Stick) A_.block<2, 3>(a.row, b.row).noalias() = a.rows * G;
    else A_.block<2, 2>(a.row, b.row).noalias() = a.rows * G * b.columns;
    if (i == j && a.mode == Mode::Slide) A_(a.row + 1, a.row + 1) += 1.0;
  }

  const Recipe& recipe_;
  const pin::Model& m_;
  pin::Data d_;
  std::vector<pin::Force> forces_;
  std::vector<Contact> contacts_;
  Eigen::MatrixXd dv_, rhs_, force_dq_, A_, B_, X_, G_, MinvJt_, impulse_d_;
  Eigen::MatrixXd point_dq_, point_dv_;
  Matrix6X J1_, J2_;
  Matrix3X turn_, shift_;
  VectorXd zero_;
};
