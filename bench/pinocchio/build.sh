#!/bin/bash
# Compiles pinocchio_dynamics into the folder OUT and prints the program's path, the only line on stdout.
# usage: build.sh PYTHON OUT        PYTHON: interpreter of an environment with `pip install pin==4.1.0`
#
# Header only: code built with -march=native crashes when linked with the wheel's libpinocchio_default, which is built
# for plain x86-64 (other Eigen alignment). One compile takes 4 minutes and 5 GB, so nothing is compiled twice.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../peer.sh"

compiler $#
prefix=$(prefix_of "$1" pin 4.1.0)
[ -f "$prefix/include/pinocchio/config.hpp" ] || fail "no Pinocchio headers in $prefix/include"
eigen=$(eigen_of "$1" "$prefix")

flags=(
  -std=c++17 -O3 -march=native -DNDEBUG
  # Pinocchio's variant of joint types is longer than Boost's default lists; these are its own CMake definitions
  -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_LIMIT_VECTOR_SIZE=30 -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
  -DBOOST_FUSION_INVOKE_MAX_ARITY=12
  -isystem "$prefix/include" -isystem "$eigen"
  -Wall -Wextra "$here/dynamics.cpp"
)
dependencies=(
  "$here/dynamics.cpp" "$here/tree.hpp" "$here/../text.hpp" "$prefix/include/pinocchio/config.hpp" "$eigen/Eigen/src/Core/util/Macros.h"
)
compile "$2/pinocchio_dynamics" "$cxx" "${flags[@]}"
