// MuJoCo's way along the motions of our own bench. Shared by step.cpp and gradient.cpp.
#pragma once
#include "step.hpp"

#include <memory>

#include <mujoco/mujoco.h>

using ModelPtr = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using DataPtr = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

// Given states rest at a distance of zero, where rounding decides what touches: every shape gets thicker by `margin` (m).
inline ModelPtr load(const char* path, double margin) {
  char message[1000] = "";
  ModelPtr model(mj_loadXML(path, nullptr, message, sizeof message), mj_deleteModel);
  if (!model) throw std::runtime_error(message);
  std::fill_n(model->geom_margin, model->ngeom, margin);
  std::fill_n(model->body_margin, model->nbody, margin);
  return model;
}

// Noise, and gains towards the motion's start where a joint has one degree of freedom.
inline void control(const mjModel* m, mjData* d, const Drive& drive, const Motion& motion, const Moment& moment) {
  mju_copy(d->qfrc_applied, moment.tau.data(), m->nv);
  if (!moment.q.empty()) return;   // a given state comes with its whole force
  for (int j = 0; j < m->njnt; ++j) {
    if (m->jnt_type[j] != mjJNT_HINGE && m->jnt_type[j] != mjJNT_SLIDE) continue;
    const int q = m->jnt_qposadr[j], v = m->jnt_dofadr[j];
    d->qfrc_applied[v] += drive.kp * (motion.q[q] - d->qpos[q]) - drive.kd * d->qvel[v];
  }
}

// Calls `step(k)` for the k-th step of all, which must take it. Every walk starts from the same numbers, warm start included, and so
// does the same work.
template <class Step> void walk(const mjModel* m, mjData* d, const Drive& drive, Step&& step) {
  size_t k = 0;
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
      step(k++);
    }
    if (d->warning[mjWARN_BADQACC].number + d->warning[mjWARN_BADQPOS].number + d->warning[mjWARN_BADQVEL].number > 0)
      throw std::runtime_error("the simulation diverged");
  }
}
