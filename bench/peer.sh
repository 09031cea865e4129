# What the build.sh of every peer needs; sourced, not run.

fail() { echo "build.sh: $*" >&2; exit 1; }

# compiler COUNT: sets `cxx`, once the two arguments PYTHON and OUT are there.
compiler() {
  [ "$1" -eq 2 ] || fail "usage: $(basename "$0") PYTHON OUT"
  cxx=${CXX:-g++}
  command -v "$cxx" >/dev/null || fail "no C++ compiler ($cxx): install g++ 12 or later, or set CXX"
}

# prefix_of PYTHON PACKAGE VERSION: prints the folder that holds include/ and lib/ of a package made by cmeel.
prefix_of() {
  "$1" -c "import importlib.metadata as m; print(m.distribution('$2').locate_file('cmeel.prefix'))" 2>/dev/null \
    || fail "$1 has no $2: run $1 -m pip install $2==$3"
}

# mujoco_of PYTHON: prints the folder of MuJoCo's package, which holds include/ and the library.
mujoco_of() {
  local find_folder='import importlib.util as u; print(u.find_spec("mujoco").submodule_search_locations[0])'
  "$1" -c "$find_folder" 2>/dev/null || fail "$1 has no MuJoCo: run $1 -m pip install mujoco==4.0.0"
}

# compile_with_mujoco PROGRAM FOLDER SOURCE: compiles one file against the MuJoCo in FOLDER; see compile.
compile_with_mujoco() {
  local library
  library=$(ls "$2"/libmujoco.so.* 2>/dev/null | head -1)
  [ -n "$library" ] || fail "no libmujoco.so in $2"
  compile "$1" "$cxx" -std=c++17 -O3 -march=native -Wall -Wextra -isystem "$2/include" "$3" "$library" -Wl,-rpath,"$2"
}

# eigen_of PYTHON PREFIX: prints the folder of Eigen's headers. They are in no peer's wheel; cmeel-eigen is the same
# packagers' wheel of them, and the system's stand in where pip cannot install it.
eigen_of() {
  local eigen=$2/include/eigen3
  if [ ! -f "$eigen/Eigen/Core" ]; then
    echo "build.sh: installing Eigen's headers (cmeel-eigen) for $1" >&2
    "$1" -m pip install --quiet --disable-pip-version-check --no-deps cmeel-eigen==3.4.1 >&2 || true
  fi
  if [ ! -f "$eigen/Eigen/Core" ]; then
    eigen=/usr/include/eigen3
    [ -f "$eigen/Eigen/Core" ] \
      || fail "no Eigen headers: pip could not install cmeel-eigen; install libeigen3-dev (apt-get) and run this again"
    echo "build.sh: pip could not install cmeel-eigen, using the system's Eigen in $eigen" >&2
  fi
  echo "$eigen"
}

# compile PROGRAM COMPILER FLAGS…: compiles if the compiler, the flags, the machine or one of the files in the array
# `dependencies` changed since PROGRAM was made; prints PROGRAM. "native" is spelled out, as PROGRAM may be carried to
# another machine.
compile() {
  local program=$1 wanted
  shift
  wanted=$("$1" --version | head -1; echo "$*"; "$1" -march=native -Q --help=target | sha256sum; cat "${dependencies[@]}" | sha256sum)
  mkdir -p "$(dirname "$program")"
  if [ ! -x "$program" ] || [ ! -f "$program.stamp" ] || [ "$(cat "$program.stamp")" != "$wanted" ]; then
    echo "build.sh: compiling $program" >&2
    rm -f "$program.stamp"
    "$@" -o "$program" >&2
    echo "$wanted" >"$program.stamp"
  fi
  echo "$program"
}
