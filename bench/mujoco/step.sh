#!/bin/bash
# Compiles mujoco_step into the folder OUT and prints the program's path, the only line on stdout.
# usage: step.sh PYTHON OUT        PYTHON: interpreter of an environment with `pip install mujoco==4.0.0`
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../peer.sh"

compiler $#
folder=$(mujoco_of "$1")

dependencies=("$here/step.cpp" "$here/walk.hpp" "$here/step.hpp" "$here/../text.hpp" "$folder/include/mujoco/mujoco.h")
compile_with_mujoco "$2/mujoco_step" "$folder" "$here/step.cpp"
