// Times, at every EVERY-th step of the motions of our own bench, Pinocchio's computeABADerivatives alone and the derivative of the paper's
// recipe; one JSON object on stdout.
// usage: pinocchio_gradient MODEL.tree MODEL.shapes DRIVE.txt REPS EVERY
#include "recipe_gradient.hpp"
#include "recipe_walk.hpp"

namespace {

struct Timings {
  std::vector<StepRecord> step, smooth, recipe;
};

void run(int argc, char** argv) {
  if (argc != 6) throw std::runtime_error("usage: pinocchio_gradient MODEL.tree MODEL.shapes DRIVE.txt REPS EVERY");
  const int reps = positive(argv[4], "REPS");
  const size_t every = positive(argv[5], "EVERY");
  const Tree tree = read_tree(argv[1]);
  const Surroundings around = read_shapes(argv[2], tree.kinds.size());
  const Drive drive = read_drive(argv[3], tree.model.nq, tree.model.nv);
  const TextFile file(argv[3]);   // names the file in refusals of states

  const size_t n = (drive.n_moments() + every - 1) / every;
  Timings times{std::vector<StepRecord>(n), std::vector<StepRecord>(n), std::vector<StepRecord>(n)};
  pin::Data alone(tree.model);
  VectorXd first;
  for (int rep = 0; rep < reps; ++rep) {
    Recipe recipe(tree, around);   // its guesses at normals and impulses start anew
    RecipeGradient gradient(recipe);
    walk(file, tree, drive, recipe, [&](size_t k, const Stride& s) {
      if (k % every != 0) return recipe.step(s.q, s.v, s.tau, s.q_next, s.v_next);
      const size_t i = k / every;
      time_step(times.step[i], [&] { recipe.step(s.q, s.v, s.tau, s.q_next, s.v_next); });
      times.step[i].contacts = static_cast<double>(recipe.touches().size());
      times.step[i].converged = recipe.converged;
      time_step(times.recipe[i], [&] { gradient.compute(s.q, s.v, s.v_next); });
      if (!gradient.result().allFinite()) throw std::runtime_error("a derivative is not finite");
      for (int again = 0; again < 2; ++again)   // the second time its memory is at hand, as ours is after a step
        time_step(times.smooth[i], [&] { pin::computeABADerivatives(tree.model, alone, s.q, s.v, recipe.tau()); });
      if (k == 0) first = velocity_in_slipstick(tree, s.q_next, s.v_next);
    });
  }
  print_peer("pinocchio", PINOCCHIO_VERSION);
  print_list("step", times.step, best_us);
  print_list("aba_derivatives", times.smooth, best_us);
  print_list("recipe", times.recipe, best_us);
  print_list("contacts", times.step, [](const StepRecord& r) { return r.contacts; });
  print_list("converged", times.step, [](const StepRecord& r) { return r.converged; });
  print_list("first_velocity", first, [](double x) { return x; });
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) { return guarded("pinocchio_gradient", run, argc, argv); }
