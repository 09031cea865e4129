// Times mj_step along the motions of our own bench; one JSON object on stdout.
// usage: mujoco_step SCENE.xml DRIVE.txt REPS MARGIN
// Given states rest at a distance of zero, where rounding decides what touches: MARGIN (m) thickens every shape by so much.
#include "step.hpp"

#include <memory>

#include <mujoco/mujoco.h>

namespace {

using ModelPtr = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using DataPtr = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

void thicken(mjModel* m, double margin) {
  std::fill_n(m->geom_margin, m->ngeom, margin);
  std::fill_n(m->body_margin, m->nbody, margin);
}

// Noise, and gains towards the motion's start where a joint has one degree of freedom.
void control(const mjModel* m, mjData* d, const Drive& drive, const Motion& motion, const Moment& moment) {
  mju_copy(d->qfrc_applied, moment.tau.data(), m->nv);
  if (!moment.q.empty()) return;   // a given state comes with its whole force
  for (int j = 0; j < m->njnt; ++j) {
    if (m->jnt_type[j] != mjJNT_HINGE && m->jnt_type[j] != mjJNT_SLIDE) continue;
    const int q = m->jnt_qposadr[j], v = m->jnt_dofadr[j];
    d->qfrc_applied[v] += drive.kp * (motion.q[q] - d->qpos[q]) - drive.kd * d->qvel[v];
  }
}

// Every repetition starts from the same numbers, warm start included, and so does the same work.
void follow(const mjModel* m, mjData* d, const Drive& drive, std::vector<StepRecord>& records, Numbers& first) {
  auto record = records.begin();
  for (const Motion& motion : drive.motions) {
    mj_resetData(m, d);
    mju_copy(d->qpos, motion.q.data(), m->nq);
    mju_copy(d->qvel, motion.v.data(), m->nv);
    for (const Moment& moment : motion.moments) {
      if (!moment.q.empty()) {
        mju_copy(d->qpos, moment.q.data(), m->nq);
        mju_copy(d->qvel, moment.v.data(), m->nv);
      }
      control(m, d, drive, motion, moment);
      time_step(*record, [&] { mj_step(m, d); });
      record->contacts = d->ncon;
      record->iterations = d->solver_niter[0];
      if (record == records.begin()) first.assign(d->qvel, d->qvel + m->nv);
      ++record;
    }
    if (d->warning[mjWARN_BADQACC].number + d->warning[mjWARN_BADQPOS].number + d->warning[mjWARN_BADQVEL].number > 0)
      throw std::runtime_error("the simulation diverged");
  }
}

void run(int argc, char** argv) {
  if (argc != 5) throw std::runtime_error("usage: mujoco_step SCENE.xml DRIVE.txt REPS MARGIN");
  const int reps = std::stoi(argv[3]);
  if (reps < 1) throw std::runtime_error("REPS must be positive");
  char message[1000] = "";
  const ModelPtr model(mj_loadXML(argv[1], nullptr, message, sizeof message), mj_deleteModel);
  if (!model) throw std::runtime_error(message);
  thicken(model.get(), std::stod(argv[4]));
  const DataPtr data(mj_makeData(model.get()), mj_deleteData);
  const Drive drive = read_drive(argv[2], model->nq, model->nv);

  std::vector<StepRecord> records(drive.n_moments());
  Numbers first;
  for (int rep = 0; rep < reps; ++rep) follow(model.get(), data.get(), drive, records, first);
  print_records("mujoco", mj_versionString(), records, first);
}

}  // namespace

int main(int argc, char** argv) { return guarded("mujoco_step", run, argc, argv); }
