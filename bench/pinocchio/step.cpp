// Times steps of the paper's recipe along the motions of our own bench; one JSON object on stdout.
// usage: pinocchio_step MODEL.tree MODEL.shapes DRIVE.txt REPS
#include "recipe_walk.hpp"

namespace {

void run(int argc, char** argv) {
  if (argc != 5) throw std::runtime_error("usage: pinocchio_step MODEL.tree MODEL.shapes DRIVE.txt REPS");
  const int reps = positive(argv[4], "REPS");
  const Tree tree = read_tree(argv[1]);
  const Surroundings around = read_shapes(argv[2], tree.kinds.size());
  const Drive drive = read_drive(argv[3], tree.model.nq, tree.model.nv);
  const TextFile file(argv[3]);   // names the file in refusals of states

  std::vector<StepRecord> records(drive.n_moments());
  VectorXd first;
  for (int rep = 0; rep < reps; ++rep) {
    Recipe recipe(tree, around);   // its guesses at normals and impulses start anew
    walk(file, tree, drive, recipe, [&](size_t k, const Stride& s) {
      StepRecord& record = records[k];
      time_step(record, [&] { recipe.step(s.q, s.v, s.tau, s.q_next, s.v_next); });
      record.contacts = static_cast<double>(recipe.touches().size());
      record.iterations = recipe.iterations;
      record.converged = recipe.converged;
      if (k == 0) first = velocity_in_slipstick(tree, s.q_next, s.v_next);
    });
  }
  print_records("pinocchio", PINOCCHIO_VERSION, records, first);
}

}  // namespace

int main(int argc, char** argv) { return guarded("pinocchio_step", run, argc, argv); }
