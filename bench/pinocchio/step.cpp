// Times steps of the paper's recipe, put together from Pinocchio and coal, along the motions of our own bench; one JSON object on stdout.
// usage: pinocchio_step MODEL.tree MODEL.shapes DRIVE.txt REPS
//
// A step: ABA, contact points, Delassus matrix by the constraint Cholesky factor, ADMM on the unrelaxed problem (1e-6, warm if the same
// pairs touched before), velocity, integration.
#include "../mujoco/step.hpp"
#include "step_contacts.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/constraint-cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/delassus-operator.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/solvers/admm-solver.hpp>
#include <pinocchio/constraints.hpp>

namespace {

constexpr double tolerance = 1e-6;          // of ADMM, absolute and relative
constexpr int max_iterations = 1000;        // of ADMM
constexpr double contact_distance = 1e-3;   // pairs nearer than this take part [m]
constexpr double correction = 0.02;         // share of an overlap that is undone in a step

using ContactModel = pin::PointContactConstraintModelTpl<double, 0>;
using ContactData = pin::PointContactConstraintDataTpl<double, 0>;
using Solver = pin::ADMMConstraintSolverTpl<double, 0>;

class Recipe {
public:
  Recipe(const Tree& tree, const Surroundings& around)
      : tree_(tree), m_(tree.model), around_(around), d_(m_), contacts_(around, contact_distance), impulse_torque_(m_.nv) {
    settings_.absolute_feasibility_tol = settings_.relative_feasibility_tol = tolerance;
    settings_.absolute_complementarity_tol = settings_.relative_complementarity_tol = tolerance;
    settings_.max_iterations = max_iterations;
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
    tau_ = around_.dt * v_next;   // no longer needed as a force
    pin::integrate(m_, q, tau_, q_next);
  }

  size_t n_contacts() const { return touches_.size(); }
  int iterations = 0;
  bool converged = true;

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
      g_[3 * i + 2] += (distance > 0.0 ? distance : correction * distance) / around_.dt;
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
    result_.retrieveConstraintImpulses(impulse_);
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
  VectorXd g_, impulse_, tau_, impulse_torque_;
};

VectorXd to_eigen(const Numbers& x) { return Eigen::Map<const VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())); }

// Numbers of our bench in Pinocchio's coordinates. Forces act on hinges and slides only and are the same in both.
State in_pinocchio(const TextFile& file, const Tree& tree, const Numbers& q, const Numbers& v) {
  State state{to_eigen(q), to_eigen(v), VectorXd::Zero(tree.model.nv), {}};
  convert_state(file, tree, state);
  return state;
}

// Back, for a velocity: the linear part of a free joint goes from body to world axes.
VectorXd velocity_in_slipstick(const Tree& tree, const VectorXd& q, const VectorXd& v) { return torque_in_slipstick(tree, q, v); }

VectorXd control(const Tree& tree, const Drive& drive, const State& target, const Moment& moment, const VectorXd& q, const VectorXd& v) {
  VectorXd tau = to_eigen(moment.tau);
  if (!moment.q.empty()) return tau;   // a given state comes with its whole force
  for (size_t i = 0; i < tree.kinds.size(); ++i) {
    if (tree.kinds[i] != JointKind::Hinge && tree.kinds[i] != JointKind::Slide) continue;
    const int iq = tree.model.joints[i + 1].idx_q(), iv = tree.model.joints[i + 1].idx_v();
    tau[iv] += drive.kp * (target.q[iq] - q[iq]) - drive.kd * v[iv];
  }
  return tau;
}

void follow(const TextFile& file, const Tree& tree, const Drive& drive, Recipe& recipe, std::vector<StepRecord>& records, VectorXd& first) {
  auto record = records.begin();
  VectorXd q_next(tree.model.nq), v_next(tree.model.nv);
  for (const Motion& motion : drive.motions) {
    const State start = in_pinocchio(file, tree, motion.q, motion.v);
    State now = start;
    recipe.forget();
    for (const Moment& moment : motion.moments) {
      if (!moment.q.empty()) now = in_pinocchio(file, tree, moment.q, moment.v);
      const VectorXd tau = control(tree, drive, start, moment, now.q, now.v);
      time_step(*record, [&] { recipe.step(now.q, now.v, tau, q_next, v_next); });
      if (!q_next.allFinite() || !v_next.allFinite()) throw std::runtime_error("the simulation diverged");
      record->contacts = static_cast<double>(recipe.n_contacts());
      record->iterations = recipe.iterations;
      record->converged = recipe.converged;
      if (record == records.begin()) first = velocity_in_slipstick(tree, q_next, v_next);
      now.q.swap(q_next);
      now.v.swap(v_next);
      ++record;
    }
  }
}

void run(int argc, char** argv) {
  if (argc != 5) throw std::runtime_error("usage: pinocchio_step MODEL.tree MODEL.shapes DRIVE.txt REPS");
  const int reps = std::stoi(argv[4]);
  if (reps < 1) throw std::runtime_error("REPS must be positive");
  const Tree tree = read_tree(argv[1]);
  const Surroundings around = read_shapes(argv[2], tree.kinds.size());
  const Drive drive = read_drive(argv[3], tree.model.nq, tree.model.nv);
  const TextFile file(argv[3]);   // names the file in refusals of states

  std::vector<StepRecord> records(drive.n_moments());
  VectorXd first;
  for (int rep = 0; rep < reps; ++rep) {
    Recipe recipe(tree, around);   // its guesses at normals and impulses start anew
    follow(file, tree, drive, recipe, records, first);
  }
  print_records("pinocchio", PINOCCHIO_VERSION, records, first);
}

}  // namespace

int main(int argc, char** argv) { return guarded("pinocchio_step", run, argc, argv); }
