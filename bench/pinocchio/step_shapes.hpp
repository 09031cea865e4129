// Shapes, pairs and passive joint forces of a MODEL.shapes file.
#pragma once
#include "tree.hpp"

#include <memory>
#include <utility>

#include <coal/shape/convex.h>
#include <coal/shape/geometric_shapes.h>

struct Shape {
  std::shared_ptr<coal::CollisionGeometry> geometry;
  pin::JointIndex joint = 0;   // that carries it
  pin::SE3 placement;          // in the joint's frame
  bool is_plane = false;
  double rounding = 0.0;       // radius of a sphere or a capsule, over which the contact point rolls [m]
};

struct Passive {
  double damping = 0.0, stiffness = 0.0, reference = 0.0;
};

struct Surroundings {
  double friction = 0.0, dt = 0.0;
  std::vector<Passive> passive;   // per Pinocchio joint but the universe, of use where it has one degree of freedom
  std::vector<Shape> shapes;
  std::vector<std::pair<size_t, size_t>> pairs;   // a plane comes first
};

namespace detail {

inline std::shared_ptr<coal::CollisionGeometry> read_hull(TextFile& file, int n_vertices, int n_triangles) {
  auto vertices = std::make_shared<std::vector<coal::Vec3s>>();
  auto triangles = std::make_shared<std::vector<coal::Triangle>>();
  for (int k = 0; k < n_vertices + n_triangles; ++k) {
    if (!file.next_line()) file.fail("expected a vertex or a triangle, got the end of the file");
    if (k < n_vertices) {
      vertices->push_back(read_vector(file, "a vertex"));
    } else {
      const int a = file.integer("a corner"), b = file.integer("a corner"), c = file.integer("a corner");
      triangles->emplace_back(a, b, c);
    }
    file.expect_end();
  }
  return std::make_shared<coal::Convex<coal::Triangle>>(vertices, n_vertices, triangles, n_triangles);
}

// Sizes as in slipstick: radius and half length, half edges, half axes.
inline std::shared_ptr<coal::CollisionGeometry> primitive(const TextFile& file, const std::string& kind, const Vector3d& s) {
  if (kind == "plane") return std::make_shared<coal::Halfspace>(coal::Vec3s(0, 0, 1), 0.0);
  if (kind == "sphere") return std::make_shared<coal::Sphere>(s[0]);
  if (kind == "capsule") return std::make_shared<coal::Capsule>(s[0], 2 * s[1]);
  if (kind == "cylinder") return std::make_shared<coal::Cylinder>(s[0], 2 * s[1]);
  if (kind == "box") return std::make_shared<coal::Box>(2 * s[0], 2 * s[1], 2 * s[2]);
  if (kind == "ellipsoid") return std::make_shared<coal::Ellipsoid>(s[0], s[1], s[2]);
  file.fail("no such kind of shape: \"" + kind + "\"");
}

inline Shape read_shape(TextFile& file, size_t n_joints) {
  const int joint = file.integer("the joint id") + 1;   // the universe is -1 in the file
  if (joint < 0 || static_cast<size_t>(joint) > n_joints) file.fail("no such joint");
  const std::string kind = file.word("the kind of shape");
  const Vector3d size = read_vector(file, "the size"), position = read_vector(file, "the position");
  const Quaterniond orientation = read_quaternion(file, "the orientation");
  const int n_vertices = file.integer("the number of vertices"), n_triangles = file.integer("the number of triangles");
  file.expect_end();
  Shape shape;
  shape.geometry = kind == "mesh" ? read_hull(file, n_vertices, n_triangles) : primitive(file, kind, size);
  shape.geometry->computeLocalAABB();
  shape.joint = static_cast<pin::JointIndex>(joint);
  shape.placement = pin::SE3(orientation, position);
  shape.is_plane = kind == "plane";
  shape.rounding = kind == "sphere" || kind == "capsule" ? size[0] : 0.0;
  return shape;
}

inline std::pair<size_t, size_t> read_pair(TextFile& file, const std::vector<Shape>& shapes) {
  const int a = file.integer("a shape"), b = file.integer("a shape"), n = static_cast<int>(shapes.size());
  if (a < 0 || b < 0 || a >= n || b >= n) file.fail("a pair names a shape that is not above");
  return shapes[b].is_plane ? std::pair<size_t, size_t>(b, a) : std::pair<size_t, size_t>(a, b);
}

}  // namespace detail

inline Surroundings read_shapes(const std::string& path, size_t n_joints) {
  TextFile file(path);
  Surroundings out;
  while (file.next_line()) {
    const std::string key = file.word("a keyword");
    if (key == "friction") out.friction = file.number("the friction");
    else if (key == "dt") out.dt = file.number("the time step");
    else if (key == "passive") {
      Passive p;
      p.damping = file.number("the damping");
      p.stiffness = file.number("the stiffness");
      p.reference = file.number("the reference");
      out.passive.push_back(p);
    } else if (key == "shape") out.shapes.push_back(detail::read_shape(file, n_joints));
    else if (key == "pair") out.pairs.push_back(detail::read_pair(file, out.shapes));
    else file.fail("expected friction, dt, passive, shape or pair, got \"" + key + "\"");
    file.expect_end();
  }
  if (out.passive.size() != n_joints) throw std::runtime_error(path + ": expected one passive line per joint");
  if (!(out.dt > 0.0)) throw std::runtime_error(path + ": expected a positive time step");
  return out;
}
