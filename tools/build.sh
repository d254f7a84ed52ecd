#!/usr/bin/env bash
# Configures a preset of CMakePresets.json and builds targets (default: all). usage: tools/build.sh PRESET [TARGET ...]
set -euo pipefail
preset=$1; shift
cd "$(dirname "$0")/.."
options=()
# Only a test build needs the test libraries.
if [ "$preset" = release ] && [ "${FRAZIL_WITH_TESTS:-0}" = 0 ] && [ ! -e build/release/CMakeCache.txt ]; then
  options+=(-DFRAZIL_TESTS=OFF)
fi
if [ "${FRAZIL_WITH_TESTS:-0}" = 1 ]; then
  # Benchmarks stay buildable because a release build with tests has them too.
  [ "$preset" = release ] && options+=(-DFRAZIL_BENCHMARKS=ON)
  options+=(-DFRAZIL_TESTS=ON "-DFRAZIL_PYTHON=${FRAZIL_PYTHON:-}" "-DFRAZIL_DUCKDB_PYTHON=${FRAZIL_DUCKDB_PYTHON:-}")
fi
# The compiler cache works across clones: paths below this folder count relative to it.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
mkdir -p build
cmake --preset "$preset" "${options[@]}" >"build/$preset-configure.log" 2>&1 || { cat "build/$preset-configure.log" >&2; exit 1; }
cmake --build "build/$preset" -j "${JOBS:-$(nproc)}" ${1:+--target "$@"}
