#!/bin/bash
# Compiles mujoco_gradient into the folder OUT and prints the program's path, the only line on stdout.
# usage: gradient.sh PYTHON OUT        PYTHON: interpreter of an environment with `pip install mujoco==4.0.0`
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../peer.sh"

compiler $#
folder=$(mujoco_of "$1")

dependencies=("$here/gradient.cpp" "$here/walk.hpp" "$here/step.hpp" "$here/../text.hpp" "$folder/include/mujoco/mujoco.h")
compile_with_mujoco "$2/mujoco_gradient" "$folder" "$here/gradient.cpp"
