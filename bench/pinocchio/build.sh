#!/bin/bash
# Compiles pinocchio_dynamics into the folder OUT and prints the program's path, the only line on stdout.
# usage: build.sh PYTHON OUT        PYTHON: interpreter of an environment with `pip install pin==4.1.0`
#
# Header only: code built with -march=native crashes when linked with the wheel's libpinocchio_default, which is built
# for plain x86-64 (other Eigen alignment). One compile takes 4 minutes and 5 GB, so nothing is compiled twice.
set -euo pipefail

fail() { echo "build.sh: $*" >&2; exit 1; }

[ $# -eq 2 ] || fail "usage: build.sh PYTHON OUT"
python=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
cxx=${CXX:-g++}
command -v "$cxx" >/dev/null || fail "no C++ compiler ($cxx): install g++ 12 or later, or set CXX"

find_prefix='import importlib.metadata as m; print(m.distribution("pin").locate_file("cmeel.prefix"))'
prefix=$("$python" -c "$find_prefix" 2>/dev/null) \
  || fail "$python has no Pinocchio: run $python -m pip install pin==4.1.0"
[ -f "$prefix/include/pinocchio/config.hpp" ] || fail "no Pinocchio headers in $prefix/include"

# Eigen is not in Pinocchio's wheel; cmeel-eigen is the same packagers' wheel of its headers.
eigen=$prefix/include/eigen3
if [ ! -f "$eigen/Eigen/Core" ]; then
  echo "build.sh: installing Eigen's headers (cmeel-eigen) for $python" >&2
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps cmeel-eigen==3.4.1 >&2 || true
fi
if [ ! -f "$eigen/Eigen/Core" ]; then
  eigen=/usr/include/eigen3
  [ -f "$eigen/Eigen/Core" ] \
    || fail "no Eigen headers: pip could not install cmeel-eigen; install libeigen3-dev (apt-get) and run this again"
  echo "build.sh: pip could not install cmeel-eigen, using the system's Eigen in $eigen" >&2
fi

flags=(
  -std=c++17 -O3 -march=native -DNDEBUG
  # Pinocchio's variant of joint types is longer than Boost's default lists; these are its own CMake definitions
  -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_LIMIT_VECTOR_SIZE=30 -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
  -DBOOST_FUSION_INVOKE_MAX_ARITY=12
  -isystem "$prefix/include" -isystem "$eigen"
  -Wall -Wextra
)

# Everything the program depends on; "native" is spelled out, as OUT may be carried to another machine.
fingerprint() {
  "$cxx" --version | head -1
  echo "${flags[*]}"
  "$cxx" -march=native -Q --help=target | sha256sum
  cat "$prefix/include/pinocchio/config.hpp" "$eigen/Eigen/src/Core/util/Macros.h" | sha256sum
  cat "$here"/*.cpp "$here"/*.hpp | sha256sum
}

program=$out/pinocchio_dynamics
stamp=$program.stamp
mkdir -p "$out"
wanted=$(fingerprint)
if [ ! -x "$program" ] || [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
  echo "build.sh: compiling $program (some minutes)" >&2
  rm -f "$stamp"
  "$cxx" "${flags[@]}" "$here/dynamics.cpp" -o "$program" >&2
  echo "$wanted" >"$stamp"
fi
echo "$program"
