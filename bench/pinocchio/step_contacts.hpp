// Contact points of the recipe: boxes of the listed pairs, then coal's narrow phase and patches of up to four points.
#pragma once
#include "step_shapes.hpp"

#include <coal/collision.h>
#include <coal/contact_patch.h>

struct Touch {
  size_t pair;
  pin::JointIndex joint_1, joint_2;   // the normal points from the first to the second
  pin::SE3 frame;                     // in world axes, normal along z
  double distance;                    // negative when they overlap [m]
};

class Contacts {
public:
  Contacts(const Surroundings& around, double margin) : around_(around), margin_(margin), poses_(around.shapes.size()) {
    for (const Shape& s : around.shapes) {
      const bool bounded = !s.is_plane;
      local_.push_back(bounded ? Box{s.geometry->aabb_local.center(), half_size(*s.geometry)} : Box{});
    }
    world_ = local_;
    placements_.resize(around.shapes.size());
    for (const auto& [a, b] : around.pairs) {
      const coal::CollisionGeometry *first = around.shapes[a].geometry.get(), *second = around.shapes[b].geometry.get();
      coal::CollisionRequest request;
      request.num_max_contacts = 1;
      request.enable_contact = true;
      request.security_margin = margin;
      request.gjk_initial_guess = coal::GJKInitialGuess::CachedGuess;
      queries_.push_back({coal::ComputeCollision(first, second), coal::ComputeContactPatch(first, second), request, {},
                          coal::ContactPatchResult(patch_request_)});
    }
  }

  // Needs the poses of joints in `d`.
  void find(const pin::Data& d, std::vector<Touch>& out) {
    out.clear();
    place(d);
    for (size_t k = 0; k < around_.pairs.size(); ++k)
      if (is_near(around_.pairs[k])) touch(k, out);
  }

private:
  struct Box {
    Vector3d center = Vector3d::Zero(), half = Vector3d::Zero();
  };
  struct Query {
    coal::ComputeCollision collide;
    coal::ComputeContactPatch patch;
    coal::CollisionRequest request;
    coal::CollisionResult result;
    coal::ContactPatchResult patches;
  };

  static Vector3d half_size(const coal::CollisionGeometry& g) {
    return 0.5 * (g.aabb_local.max_ - g.aabb_local.min_);
  }

  void place(const pin::Data& d) {
    for (size_t k = 0; k < around_.shapes.size(); ++k) {
      const Shape& s = around_.shapes[k];
      placements_[k] = d.oMi[s.joint] * s.placement;
      const pin::SE3& X = placements_[k];
      poses_[k].setRotation(X.rotation());
      poses_[k].setTranslation(X.translation());
      if (s.is_plane) continue;
      world_[k].center.noalias() = X.rotation() * local_[k].center;
      world_[k].center += X.translation();
      world_[k].half.noalias() = X.rotation().cwiseAbs() * local_[k].half;
    }
  }

  // The plane is the floor z <= 0.
  bool is_near(const std::pair<size_t, size_t>& pair) const {
    const Box &a = world_[pair.first], &b = world_[pair.second];
    if (around_.shapes[pair.first].is_plane) return b.center[2] - b.half[2] <= margin_;
    for (int i = 0; i < 3; ++i)
      if (std::abs(a.center[i] - b.center[i]) > a.half[i] + b.half[i] + margin_) return false;
    return true;
  }

  void touch(size_t k, std::vector<Touch>& out) {
    const auto [a, b] = around_.pairs[k];
    Query& query = queries_[k];
    query.result.clear();
    query.collide(poses_[a], poses_[b], query.request, query.result);
    query.request.updateGuess(query.result);
    if (!query.result.isCollision()) return;
    query.patches.clear();
    query.patch(poses_[a], poses_[b], query.result, patch_request_, query.patches);
    const coal::Contact& deepest = query.result.getContact(0);
    Touch t{k, around_.shapes[a].joint, around_.shapes[b].joint, frame(deepest.normal, deepest.pos), deepest.penetration_depth};
    if (query.patches.numContactPatches() == 0) {
      out.push_back(t);
      return;
    }
    constexpr size_t max_points = 4;
    const coal::ContactPatch& patch = query.patches.getContactPatch(0);
    const size_t n = patch.size(), kept = std::min(n, max_points);
    t.distance = patch.penetration_depth;
    for (size_t i = 0; i < kept; ++i) {
      t.frame.translation() = patch.getPoint(i * n / kept);
      out.push_back(t);
    }
  }

  static pin::SE3 frame(const Vector3d& normal, const Vector3d& point) {
    const Vector3d other = std::abs(normal[0]) < 0.7 ? Vector3d::UnitX() : Vector3d::UnitY();
    const Vector3d y = normal.cross(other).normalized();
    Eigen::Matrix3d R;
    R << y.cross(normal), y, normal;
    return pin::SE3(R, point);
  }

  const Surroundings& around_;
  double margin_;
  std::vector<Box> local_, world_;
  std::vector<pin::SE3> placements_;
  std::vector<coal::Transform3s> poses_;
  coal::ContactPatchRequest patch_request_;
  std::vector<Query> queries_;
};
