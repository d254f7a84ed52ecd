#!/usr/bin/env bash
# Builds the layers' benchmarks (*_bench.cc) in release and runs those whose names fit a regular expression.
# usage: tools/bench_micro.sh FILTER [LAYER ...]      FILTER empty: all; no LAYER: all that have benchmarks
# Google Benchmark takes more from the environment: BENCHMARK_REPETITIONS=5, BENCHMARK_FORMAT=json, ...
set -euo pipefail
filter=${1:-.}; shift || true
cd "$(dirname "$0")/.."
mapfile -t known < <(find src/frazil -name '*_bench.cc' | cut -d/ -f3 | sort -u)
layers=("${@:-${known[@]}}")
for layer in "${layers[@]}"; do
  [[ " ${known[*]} " == *" $layer "* ]] || { echo "bench-micro: layer $layer has no benchmarks; there are: ${known[*]}" >&2; exit 2; }
done
targets=("${layers[@]/#/frazil_}")
FRAZIL_WITH_TESTS=1 tools/build.sh release "${targets[@]/%/_bench}" >&2
found=0
for target in "${targets[@]/%/_bench}"; do
  # Listing fails where nothing fits.
  "build/release/$target" --benchmark_filter="$filter" --benchmark_list_tests >/dev/null 2>&1 || continue
  echo "== $target" >&2
  "build/release/$target" --benchmark_filter="$filter"
  found=1
done
[ $found = 1 ] || { echo "bench-micro: no benchmark fits '$filter'" >&2; exit 2; }
