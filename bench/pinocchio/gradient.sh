#!/bin/bash
# Compiles pinocchio_gradient into the folder OUT and prints the program's path, the only line on stdout.
# usage: gradient.sh PYTHON OUT        PYTHON: interpreter of an environment with `pip install pin==4.1.0 coal==3.0.3`
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../peer.sh"
source "$here/recipe.sh"

compiler $#
compile_recipe "$2/pinocchio_gradient" "$1" "$here/gradient.cpp" "$here/recipe_gradient.hpp"
