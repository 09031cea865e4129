#!/bin/bash
# Compiles coal_distance into the folder OUT and prints the program's path, the only line on stdout.
# usage: build.sh PYTHON OUT        PYTHON: interpreter of an environment with `pip install coal==3.0.3`
#
# The algorithms are in the wheel's libcoal, which is built for plain x86-64: what users of the wheel get. Code that is
# linked with it must keep its Eigen alignment of 16 bytes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../peer.sh"

compiler $#
prefix=$(prefix_of "$1" libcoal 3.0.3)
[ -f "$prefix/include/coal/config.hh" ] || fail "no headers of coal in $prefix/include"
eigen=$(eigen_of "$1" "$prefix")

flags=(
  -std=c++17 -O3 -march=native -DNDEBUG -DEIGEN_MAX_ALIGN_BYTES=16 -DEIGEN_MAX_STATIC_ALIGN_BYTES=16
  -isystem "$prefix/include" -isystem "$eigen" -Wall -Wextra
  "$here/distance.cpp" -L"$prefix/lib" -lcoal -lboost_filesystem -lboost_serialization -Wl,-rpath,"$prefix/lib"
)
dependencies=("$here/distance.cpp" "$here/../text.hpp" "$prefix/include/coal/config.hh" "$eigen/Eigen/src/Core/util/Macros.h")
compile "$2/coal_distance" "$cxx" "${flags[@]}"
