// Times coal's distance between two shapes on the pairs and poses of our own bench; one JSON object on stdout.
// usage: coal_distance PAIRS.txt [reps]
//
// PAIRS.txt, one item per line (lengths in meters, quaternions w x y z):
//   shape plane | sphere r | capsule r half | cylinder r half | cone r half | box hx hy hz | ellipsoid rx ry rz
//   shape hull N_VERTICES N_TRIANGLES, then lines "v x y z" and "t i j k"
//   pair I J              numbers of two shapes above; the poses below are its own
//   pose (x y z qw qx qy qz) of I, then of J
#include "../text.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include <coal/distance.h>
#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

namespace {

using coal::Vec3s;

struct Poses {
  coal::Transform3s first, second;
};

struct Pair {
  const coal::CollisionGeometry *first, *second;
  std::vector<Poses> poses;
};

struct Problem {
  std::vector<std::unique_ptr<coal::CollisionGeometry>> shapes;
  std::vector<Pair> pairs;
};

struct Timing {
  double min_ns, median_ns;   // per call
};

Vec3s read_vector(TextFile& file, const char* what) {
  const double x = file.number(what), y = file.number(what), z = file.number(what);
  return {x, y, z};
}

coal::Transform3s read_pose(TextFile& file) {
  const Vec3s position = read_vector(file, "a position");
  const double w = file.number("w"), x = file.number("x"), y = file.number("y"), z = file.number("z");
  return {Eigen::Quaterniond(w, x, y, z).normalized().toRotationMatrix(), position};
}

void expect_line(TextFile& file, const char* key) {
  if (!file.next_line() || file.word(key) != key) file.fail(std::string("expected a line that begins with ") + key);
}

std::unique_ptr<coal::CollisionGeometry> read_hull(TextFile& file) {
  const int n_vertices = file.integer("the number of vertices"), n_triangles = file.integer("the number of triangles");
  auto vertices = std::make_shared<std::vector<Vec3s>>();
  auto triangles = std::make_shared<std::vector<coal::Triangle>>();
  for (int k = 0; k < n_vertices; ++k) {
    expect_line(file, "v");
    vertices->push_back(read_vector(file, "a vertex"));
  }
  for (int k = 0; k < n_triangles; ++k) {
    expect_line(file, "t");
    const int a = file.integer("a corner"), b = file.integer("a corner"), c = file.integer("a corner");
    if (std::min({a, b, c}) < 0 || std::max({a, b, c}) >= n_vertices) file.fail("a corner is not among the vertices");
    triangles->emplace_back(a, b, c);
  }
  return std::make_unique<coal::Convex<coal::Triangle>>(vertices, vertices->size(), triangles, triangles->size());
}

std::unique_ptr<coal::CollisionGeometry> read_shape(TextFile& file) {
  const std::string kind = file.word("a shape");
  const auto length = [&file] { return file.number("a length"); };
  if (kind == "plane") return std::make_unique<coal::Halfspace>(Vec3s::UnitZ(), 0.0);
  if (kind == "hull") return read_hull(file);
  if (kind == "sphere") return std::make_unique<coal::Sphere>(length());
  if (kind == "ellipsoid") return std::make_unique<coal::Ellipsoid>(read_vector(file, "radii"));
  if (kind == "box") return std::make_unique<coal::Box>(2.0 * read_vector(file, "half sizes"));
  const double radius = length(), height = 2.0 * length();
  if (kind == "capsule") return std::make_unique<coal::Capsule>(radius, height);
  if (kind == "cylinder") return std::make_unique<coal::Cylinder>(radius, height);
  if (kind == "cone") return std::make_unique<coal::Cone>(radius, height);
  file.fail("unknown shape \"" + kind + "\"");
}

const coal::CollisionGeometry* find_shape(TextFile& file, const Problem& problem) {
  const int k = file.integer("the number of a shape");
  if (k < 0 || k >= static_cast<int>(problem.shapes.size())) file.fail("there is no shape " + std::to_string(k));
  return problem.shapes[k].get();
}

Problem read_problem(const std::string& path) {
  TextFile file(path);
  Problem problem;
  while (file.next_line()) {
    const std::string key = file.word("a keyword");
    if (key == "shape") {
      problem.shapes.push_back(read_shape(file));
      problem.shapes.back()->computeLocalAABB();   // the guess from bounding volumes needs it
    } else if (key == "pair") {
      const auto *first = find_shape(file, problem), *second = find_shape(file, problem);
      problem.pairs.push_back({first, second, {}});
    } else if (key == "pose" && !problem.pairs.empty()) {
      const coal::Transform3s first = read_pose(file), second = read_pose(file);
      problem.pairs.back().poses.push_back({first, second});
    } else {
      file.fail("expected shape, pair, or the pose of a pair, got \"" + key + "\"");
    }
  }
  for (const Pair& pair : problem.pairs)
    if (pair.poses.empty()) throw std::runtime_error(path + ": a pair has no poses");
  return problem;
}

// Passes over all poses; three to warm up. The least of many passes saw no preemption.
template <class Query> Timing measure(size_t n_poses, int reps, Query&& query) {
  using Clock = std::chrono::steady_clock;
  constexpr int warm_up = 3;
  std::vector<double> times;
  for (int rep = -warm_up; rep < reps; ++rep) {
    const auto start = Clock::now();
    for (size_t k = 0; k < n_poses; ++k) query(k);
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
    if (rep >= 0) times.push_back(elapsed.count() / static_cast<double>(n_poses));
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

// One functor and one request for all poses, as for queries without a past.
Timing measure_fresh(const Pair& pair, coal::GJKInitialGuess guess, int reps, std::vector<double>& distances) {
  const coal::ComputeDistance distance(pair.first, pair.second);
  coal::DistanceRequest request;
  request.gjk_initial_guess = guess;
  coal::DistanceResult result;
  distances.resize(pair.poses.size());
  return measure(pair.poses.size(), reps, [&](size_t k) {
    result.clear();
    distances[k] = distance(pair.poses[k].first, pair.poses[k].second, request, result);
    request.updateGuess(result);   // does nothing unless the guess is the cached one
  });
}

// A request per pose that remembers where the last pass ended: the best that a warm start can do.
Timing measure_repeated(const Pair& pair, int reps) {
  const coal::ComputeDistance distance(pair.first, pair.second);
  coal::DistanceRequest request;
  request.gjk_initial_guess = coal::GJKInitialGuess::CachedGuess;
  std::vector<coal::DistanceRequest> requests(pair.poses.size(), request);
  coal::DistanceResult result;
  return measure(pair.poses.size(), reps, [&](size_t k) {
    result.clear();
    distance(pair.poses[k].first, pair.poses[k].second, requests[k], result);
    requests[k].updateGuess(result);
  });
}

void print_timing(const char* name, const Timing& t) {
  std::printf("\"%s\":{\"min_ns\":%.3f,\"median_ns\":%.3f},", name, t.min_ns, t.median_ns);
}

void print_number(const char* separator, double x) {
  if (std::isfinite(x)) std::printf("%s%.17g", separator, x);
  else std::printf("%snull", separator);   // JSON has no word for it
}

void run(int argc, char** argv) {
  if (argc < 2 || argc > 3) throw std::runtime_error("usage: coal_distance PAIRS.txt [reps]");
  const int reps = argc == 3 ? std::stoi(argv[2]) : 50;
  if (reps < 1) throw std::runtime_error("expected a positive number of repetitions");
  const Problem problem = read_problem(argv[1]);
  std::printf("{\"peer\":\"coal\",\"version\":\"%s\",\"pairs\":[", COAL_VERSION);
  const char* separator = "";
  for (const Pair& pair : problem.pairs) {
    std::vector<double> distances, unused;
    std::printf("%s\n{", separator);
    print_timing("default", measure_fresh(pair, coal::GJKInitialGuess::DefaultGuess, reps, distances));
    print_timing("bounds", measure_fresh(pair, coal::GJKInitialGuess::BoundingVolumeGuess, reps, unused));
    print_timing("cached", measure_fresh(pair, coal::GJKInitialGuess::CachedGuess, reps, unused));
    print_timing("repeated", measure_repeated(pair, reps));
    std::printf("\"distances\":[");
    for (size_t k = 0; k < distances.size(); ++k) print_number(k == 0 ? "" : ",", distances[k]);
    std::printf("]}");
    separator = ",";
  }
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char** argv) { return guarded("coal_distance", run, argc, argv); }
