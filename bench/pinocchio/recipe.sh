# Compiles programs that use the paper's recipe; sourced, not run, after ../peer.sh.
#
# Pinocchio is used as headers, coal as the wheel's library, which is built for plain x86-64: all code here must keep its Eigen
# alignment of 16 bytes. One compile takes minutes and gigabytes, so nothing is compiled twice.

# compile_recipe PROGRAM PYTHON SOURCE HEADERS…: compiles one file of this folder; see compile.
compile_recipe() {
  local program=$1 python=$2 source=$3 prefix eigen flags
  shift 3
  prefix=$(prefix_of "$python" pin 4.1.0)
  [ -f "$prefix/include/pinocchio/config.hpp" ] || fail "no Pinocchio headers in $prefix/include"
  [ -f "$prefix/include/coal/config.hh" ] || fail "no headers of coal in $prefix/include"
  eigen=$(eigen_of "$python" "$prefix")
  flags=(
    -std=c++17 -O3 -march=native -DNDEBUG -DEIGEN_MAX_ALIGN_BYTES=16 -DEIGEN_MAX_STATIC_ALIGN_BYTES=16
    # Pinocchio's variant of joint types is longer than Boost's default lists; these are its own CMake definitions
    -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_LIMIT_VECTOR_SIZE=30 -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
    -DBOOST_FUSION_INVOKE_MAX_ARITY=12
    # gcc 12 sees ghosts in the inlined templates of both (array bounds, uninitialized)
    -isystem "$prefix/include" -isystem "$eigen" -w "$source"
    -L"$prefix/lib" -lcoal -lboost_filesystem -lboost_serialization -Wl,-rpath,"$prefix/lib"
  )
  dependencies=(
    "$source" "$@" "$here"/recipe.hpp "$here"/recipe_walk.hpp "$here"/step_*.hpp "$here/tree.hpp" "$here/../text.hpp"
    "$here/../mujoco/step.hpp" "$prefix/include/pinocchio/config.hpp" "$prefix/include/coal/config.hh"
    "$eigen/Eigen/src/Core/util/Macros.h"
  )
  compile "$program" "$cxx" "${flags[@]}"
}
