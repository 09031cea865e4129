// Times mj_collision on a scene and the configurations of our own bench; one JSON object on stdout.
// usage: mujoco_collision SCENE.xml STATES.txt EVERY REPS
// STATES.txt has one configuration (qpos) per line, of which every EVERY-th is timed REPS times.
#include "../text.hpp"

#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <vector>

#include <mujoco/mujoco.h>

namespace {

struct Outcome {
  double best_us = std::numeric_limits<double>::infinity();   // of all repetitions
  int contacts = 0;
  double nearest = std::numeric_limits<double>::infinity();   // least distance of the contacts [m]
};

using ModelPtr = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using DataPtr = std::unique_ptr<mjData, decltype(&mj_deleteData)>;
using Configuration = std::vector<double>;

std::vector<Configuration> read_states(const std::string& path, size_t nq, int every) {
  TextFile file(path);
  std::vector<Configuration> states;
  for (int line = 0; file.next_line(); ++line) {
    if (line % every != 0) continue;
    Configuration q(nq);
    for (double& x : q) x = file.number("q");
    file.expect_end();
    states.push_back(std::move(q));
  }
  if (states.empty()) throw std::runtime_error(path + ": expected at least one state");
  return states;
}

// Collision alone: kinematics, which also places the shapes, is done before and not timed.
void detect(const mjModel* m, mjData* d, const Configuration& q, Outcome& out) {
  using Clock = std::chrono::steady_clock;
  mju_copy(d->qpos, q.data(), m->nq);
  mj_kinematics(m, d);
  mj_comPos(m, d);
  const auto start = Clock::now();
  mj_collision(m, d);
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
  out.best_us = std::min(out.best_us, elapsed.count());
  out.contacts = static_cast<int>(d->ncon);
  for (int k = 0; k < d->ncon; ++k) out.nearest = std::min(out.nearest, d->contact[k].dist);
}

template <class Value> void print_list(const char* name, const std::vector<Outcome>& outcomes, Value&& value) {
  std::printf(",\"%s\":[", name);
  const char* separator = "";
  for (const Outcome& out : outcomes) {
    const double x = value(out);
    if (std::isfinite(x)) std::printf("%s%.17g", separator, x);
    else std::printf("%snull", separator);   // no contact
    separator = ",";
  }
  std::printf("]");
}

void run(int argc, char** argv) {
  if (argc != 5) throw std::runtime_error("usage: mujoco_collision SCENE.xml STATES.txt EVERY REPS");
  const int every = std::stoi(argv[3]), reps = std::stoi(argv[4]);
  if (every < 1 || reps < 1) throw std::runtime_error("EVERY and REPS must be positive");
  char message[1000] = "";
  const ModelPtr model(mj_loadXML(argv[1], nullptr, message, sizeof message), mj_deleteModel);
  if (!model) throw std::runtime_error(message);
  const DataPtr data(mj_makeData(model.get()), mj_deleteData);
  const std::vector<Configuration> states = read_states(argv[2], model->nq, every);

  std::vector<Outcome> outcomes(states.size());
  for (int rep = 0; rep < reps; ++rep)
    for (size_t k = 0; k < states.size(); ++k) detect(model.get(), data.get(), states[k], outcomes[k]);

  std::printf("{\"peer\":\"mujoco\",\"version\":\"%s\"", mj_versionString());
  print_list("best_us", outcomes, [](const Outcome& out) { return out.best_us; });
  print_list("contacts", outcomes, [](const Outcome& out) { return static_cast<double>(out.contacts); });
  print_list("nearest", outcomes, [](const Outcome& out) { return out.nearest; });
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) { return guarded("mujoco_collision", run, argc, argv); }
