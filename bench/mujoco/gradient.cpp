// Times mjd_transitionFD at every EVERY-th step of the motions of our own bench; one JSON object on stdout.
// usage: mujoco_gradient SCENE.xml DRIVE.txt REPS MARGIN EVERY        MARGIN: see walk.hpp
// The scene should have a motor on every joint, so that the matrix B has columns.
#include "walk.hpp"

namespace {

constexpr double eps = 1e-6;   // step of the differences

struct Differences {
  Differences(const mjModel* m, size_t n) : forward(n), centered(n), A(4 * square(m->nv)), B(2 * m->nv * m->nu) {
    if (m->na != 0 || m->nu == 0) throw std::runtime_error("the scene must have motors, none of them with a state of its own");
  }
  static size_t square(size_t n) { return n * n; }

  void time(const mjModel* m, mjData* d, size_t k) {
    time_long(forward[k], [&] { mjd_transitionFD(m, d, eps, false, A.data(), B.data(), nullptr, nullptr); });
    time_long(centered[k], [&] { mjd_transitionFD(m, d, eps, true, A.data(), B.data(), nullptr, nullptr); });
    if (!std::isfinite(A[0])) throw std::runtime_error("a derivative is not finite");
  }

  std::vector<StepRecord> forward, centered;
  Numbers A, B;
};

void run(int argc, char** argv) {
  if (argc != 6) throw std::runtime_error("usage: mujoco_gradient SCENE.xml DRIVE.txt REPS MARGIN EVERY");
  const int reps = positive(argv[3], "REPS");
  const size_t every = positive(argv[5], "EVERY");
  const ModelPtr model = load(argv[1], std::stod(argv[4]));
  const DataPtr data(mj_makeData(model.get()), mj_deleteData);
  const mjModel* m = model.get();
  mjData* d = data.get();
  const Drive drive = read_drive(argv[2], m->nq, m->nv);

  const size_t n = (drive.n_moments() + every - 1) / every;
  std::vector<StepRecord> steps(n);
  Differences differences(m, n);
  Numbers first;
  for (int rep = 0; rep < reps; ++rep) {
    walk(m, d, drive, [&](size_t k) {
      if (k % every != 0) return mj_step(m, d);
      differences.time(m, d, k / every);
      StepRecord& record = steps[k / every];
      time_step(record, [&] { mj_step(m, d); });
      record.contacts = d->ncon;
      if (k == 0) first.assign(d->qvel, d->qvel + m->nv);
    });
  }
  print_peer("mujoco", mj_versionString());
  print_list("step", steps, best_us);
  print_list("forward", differences.forward, best_us);
  print_list("centered", differences.centered, best_us);
  print_list("contacts", steps, [](const StepRecord& r) { return r.contacts; });
  print_list("first_velocity", first, [](double x) { return x; });
  std::printf(",\"columns\":%d}\n", static_cast<int>(2 * m->nv + m->nu));
}

}  // namespace

int main(int argc, char** argv) { return guarded("mujoco_gradient", run, argc, argv); }
