// Times mj_step along the motions of our own bench; one JSON object on stdout.
// usage: mujoco_step SCENE.xml DRIVE.txt REPS MARGIN        MARGIN: see walk.hpp
#include "walk.hpp"

namespace {

void run(int argc, char** argv) {
  if (argc != 5) throw std::runtime_error("usage: mujoco_step SCENE.xml DRIVE.txt REPS MARGIN");
  const int reps = positive(argv[3], "REPS");
  const ModelPtr model = load(argv[1], std::stod(argv[4]));
  const DataPtr data(mj_makeData(model.get()), mj_deleteData);
  const mjModel* m = model.get();
  mjData* d = data.get();
  const Drive drive = read_drive(argv[2], m->nq, m->nv);

  std::vector<StepRecord> records(drive.n_moments());
  Numbers first;
  for (int rep = 0; rep < reps; ++rep) {
    walk(m, d, drive, [&](size_t k) {
      time_step(records[k], [&] { mj_step(m, d); });
      records[k].contacts = d->ncon;
      records[k].iterations = d->solver_niter[0];
      if (k == 0) first.assign(d->qvel, d->qvel + m->nv);
    });
  }
  print_records("mujoco", mj_versionString(), records, first);
}

}  // namespace

int main(int argc, char** argv) { return guarded("mujoco_step", run, argc, argv); }
