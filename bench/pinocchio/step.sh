#!/bin/bash
# Compiles pinocchio_step into the folder OUT and prints the program's path, the only line on stdout.
# usage: step.sh PYTHON OUT        PYTHON: interpreter of an environment with `pip install pin==4.1.0 coal==3.0.3`
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../peer.sh"
source "$here/recipe.sh"

compiler $#
compile_recipe "$2/pinocchio_step" "$1" "$here/step.cpp"
