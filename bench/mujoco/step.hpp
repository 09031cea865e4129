// Motions that our Rust bench gives to peers: `gains KP KD` once, then for every motion a line `start q v`, followed either by lines
// `noise u` (the peer goes its own way under gains and noise) or by lines `state q v tau` (the peer takes one step from each).
// Below that: what a peer's steps took, and how it is printed. Shared with bench/pinocchio.
#pragma once
#include "../text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <vector>

using Numbers = std::vector<double>;

struct Moment {
  Numbers q, v;   // empty on the peer's own way   (nq), (nv)
  Numbers tau;    // force; on the peer's own way the noise that is added to the gains   (nv)
};

struct Motion {
  Numbers q, v;   // (nq), (nv)
  std::vector<Moment> moments;
};

struct Drive {
  double kp = 0.0, kd = 0.0;
  std::vector<Motion> motions;

  size_t n_moments() const {
    size_t n = 0;
    for (const Motion& motion : motions) n += motion.moments.size();
    return n;
  }
};

inline Drive read_drive(const std::string& path, size_t nq, size_t nv) {
  TextFile file(path);
  Drive drive;
  const auto read = [&file](size_t n, const char* what) {
    Numbers x(n);
    for (double& xi : x) xi = file.number(what);
    return x;
  };
  while (file.next_line()) {
    const std::string key = file.word("a keyword");
    if (key == "gains") {
      drive.kp = file.number("kp");
      drive.kd = file.number("kd");
    } else if (key == "start") {
      Motion motion;
      motion.q = read(nq, "q");
      motion.v = read(nv, "v");
      drive.motions.push_back(std::move(motion));
    } else if (key == "noise" || key == "state") {
      if (drive.motions.empty()) file.fail("expected a line \"start\" first");
      Moment moment;
      if (key == "state") {
        moment.q = read(nq, "q");
        moment.v = read(nv, "v");
      }
      moment.tau = read(nv, "tau");
      drive.motions.back().moments.push_back(std::move(moment));
    } else {
      file.fail("expected gains, start, noise or state, got \"" + key + "\"");
    }
    file.expect_end();
  }
  if (drive.n_moments() == 0) throw std::runtime_error(path + ": expected at least one moment");
  return drive;
}

// A positive whole number among a program's arguments.
inline int positive(const char* text, const char* name) {
  const int n = std::stoi(text);
  if (n < 1) throw std::runtime_error(std::string(name) + " must be positive");
  return n;
}

struct StepRecord {
  double best_us = std::numeric_limits<double>::infinity();   // of all repetitions
  double contacts = 0.0;
  double iterations = 0.0;
  bool converged = true;
};

// Calls `step` and keeps its time if it is the least so far.
template <class Step> void time_step(StepRecord& record, Step&& step) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  step();
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
  record.best_us = std::min(record.best_us, elapsed.count());
}

// The same for what takes longer than a busy system leaves a thread alone: time on the core only. Looking at this clock takes a third
// of a microsecond.
template <class Step> void time_long(StepRecord& record, Step&& step) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  step();
  record.best_us = std::min(record.best_us, now() - start);
}

template <class List, class Value> void print_list(const char* name, const List& list, Value&& value) {
  std::printf(",\"%s\":[", name);
  const char* separator = "";
  for (const auto& item : list) {
    std::printf("%s%.9g", separator, static_cast<double>(value(item)));
    separator = ",";
  }
  std::printf("]");
}

inline double best_us(const StepRecord& r) { return r.best_us; }

// The beginning of the JSON object.
inline void print_peer(const char* peer, const char* version) {
#if defined(__clang__)
  const char* compiler = "clang";
#else
  const char* compiler = "gcc";
#endif
  std::printf("{\"peer\":\"%s\",\"version\":\"%s\",\"compiler\":\"%s %s\"", peer, version, compiler, __VERSION__);
}

// `first`: velocity after the first step, in slipstick's coordinates.
template <class Vector>
void print_records(const char* peer, const char* version, const std::vector<StepRecord>& records, const Vector& first) {
  print_peer(peer, version);
  print_list("best_us", records, best_us);
  print_list("contacts", records, [](const StepRecord& r) { return r.contacts; });
  print_list("iterations", records, [](const StepRecord& r) { return r.iterations; });
  print_list("converged", records, [](const StepRecord& r) { return r.converged; });
  print_list("first_velocity", first, [](double x) { return x; });
  std::printf("}\n");
}
