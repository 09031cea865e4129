# What the build.sh of every peer needs; sourced, not run.

fail() { echo "build.sh: $*" >&2; exit 1; }

# prefix_of PYTHON PACKAGE VERSION: prints the folder that holds include/ and lib/ of a package made by cmeel.
prefix_of() {
  "$1" -c "import importlib.metadata as m; print(m.distribution('$2').locate_file('cmeel.prefix'))" 2>/dev/null \
    || fail "$1 has no $2: run $1 -m pip install $2==$3"
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
