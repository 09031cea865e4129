// Times Pinocchio's dynamics and their derivatives on the model and states of our own bench; one JSON object on stdout.
// usage: pinocchio_dynamics MODEL.tree STATES.txt [reps]
#include "tree.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/kinematics-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace {

struct Timing {
  const char* name;
  double min_us, median_us;   // per call
};

// Many short batches: on a busy machine the least of them saw no preemption. A batch has at least 32 calls, so that
// reading the clock (some 30 ns) stays in the noise when there are few states.
template <class Algorithm>
Timing measure(const char* name, const std::vector<State>& states, int reps, Algorithm&& run) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t min_calls = 32;
  constexpr int warm_up = 10;   // batches
  const size_t passes = (min_calls + states.size() - 1) / states.size();
  std::vector<double> times;
  times.reserve(reps);
  for (int rep = -warm_up; rep < reps; ++rep) {
    const auto start = Clock::now();
    for (size_t pass = 0; pass < passes; ++pass)
      for (const State& state : states) run(state);
    const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
    if (rep >= 0) times.push_back(elapsed.count() / static_cast<double>(passes * states.size()));
  }
  std::sort(times.begin(), times.end());
  const size_t half = times.size() / 2;
  const double median = times.size() % 2 == 1 ? times[half] : 0.5 * (times[half - 1] + times[half]);
  return {name, times.front(), median};
}

std::vector<Timing> measure_all(const pin::Model& m, const std::vector<State>& states, int reps) {
  using pin::Convention;
  pin::Data d(m);
  const auto time = [&](const char* name, auto&& run) { return measure(name, states, reps, run); };
  const auto factor = [&](const State& s, Convention convention) {
    pin::crba(m, d, s.q, convention);
    pin::cholesky::decompose(m, d);
  };
  return {
    time("rnea", [&](const State& s) { pin::rnea(m, d, s.q, s.v, s.a); }),
    time("aba_local", [&](const State& s) { pin::aba(m, d, s.q, s.v, s.tau, Convention::LOCAL); }),
    time("aba_world", [&](const State& s) { pin::aba(m, d, s.q, s.v, s.tau, Convention::WORLD); }),
    time("crba_factor_local", [&](const State& s) { factor(s, Convention::LOCAL); }),
    time("crba_factor_world", [&](const State& s) { factor(s, Convention::WORLD); }),
    time("rnea_derivatives", [&](const State& s) { pin::computeRNEADerivatives(m, d, s.q, s.v, s.a); }),
    time("aba_derivatives", [&](const State& s) { pin::computeABADerivatives(m, d, s.q, s.v, s.tau); }),
    time("fk_derivatives", [&](const State& s) { pin::computeForwardKinematicsDerivatives(m, d, s.q, s.v, s.a); }),
  };
}

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

void print_report(const pin::Model& m, const std::vector<Timing>& timings, const VectorXd& tau) {
  std::printf("{\"peer\":\"pinocchio\",\"version\":\"%s\",\"model\":%s,\"nv\":%d,\"joints\":%zu,\"algorithms\":{",
              PINOCCHIO_VERSION, json_string(m.name).c_str(), m.nv, static_cast<size_t>(m.njoints) - 1);
  const char* separator = "";
  for (const Timing& t : timings) {
    std::printf("%s\"%s\":{\"min_us\":%.4f,\"median_us\":%.4f}", separator, t.name, t.min_us, t.median_us);
    separator = ",";
  }
  std::printf("},\"check\":{\"tau\":[");
  separator = "";
  for (const double t : tau) {
    std::printf("%s%.17g", separator, t);
    separator = ",";
  }
  std::printf("]}}\n");
}

int parse_reps(const std::string& text) {
  int reps = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), reps);
  if (error != std::errc() || stop != text.data() + text.size() || reps < 1)
    throw std::runtime_error("expected a positive number of repetitions, got \"" + text + "\"");
  return reps;
}

void run(int argc, char** argv) {
  if (argc < 3 || argc > 4) throw std::runtime_error("usage: pinocchio_dynamics MODEL.tree STATES.txt [reps]");
  const int reps = argc == 4 ? parse_reps(argv[3]) : 300;
  const Tree tree = read_tree(argv[1]);
  std::vector<State> states = read_states(argv[2], tree);

  pin::Data data(tree.model);
  for (State& s : states) {
    s.tau = pin::rnea(tree.model, data, s.q, s.v, s.a);
    if (!s.tau.allFinite()) throw std::runtime_error("the torque of a state is not finite");
  }
  const VectorXd tau = torque_in_slipstick(tree, states[0].q, states[0].tau);
  print_report(tree.model, measure_all(tree.model, states, reps), tau);
}

}  // namespace

int main(int argc, char** argv) { return guarded("pinocchio_dynamics", run, argc, argv); }
