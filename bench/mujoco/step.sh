#!/bin/bash
# Compiles mujoco_step into the folder OUT and prints the program's path, the only line on stdout.
# usage: step.sh PYTHON OUT        PYTHON: interpreter of an environment with `pip install mujoco==4.0.0`
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../peer.sh"

[ $# -eq 2 ] || fail "usage: step.sh PYTHON OUT"
cxx=${CXX:-g++}
command -v "$cxx" >/dev/null || fail "no C++ compiler ($cxx): install g++ 12 or later, or set CXX"
find_folder='import importlib.util as u; print(u.find_spec("mujoco").submodule_search_locations[0])'
folder=$("$1" -c "$find_folder" 2>/dev/null) || fail "$1 has no MuJoCo: run $1 -m pip install mujoco==4.0.0"
library=$(ls "$folder"/libmujoco.so.* 2>/dev/null | head -1)
[ -n "$library" ] || fail "no libmujoco.so in $folder"

dependencies=("$here/step.cpp" "$here/step.hpp" "$here/../text.hpp" "$folder/include/mujoco/mujoco.h")
compile "$2/mujoco_step" "$cxx" -std=c++17 -O3 -march=native -Wall -Wextra -isystem "$folder/include" \
  "$here/step.cpp" "$library" -Wl,-rpath,"$folder"
