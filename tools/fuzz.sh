#!/usr/bin/env bash
# Runs every fuzzer over its seeds. usage: tools/fuzz.sh SECONDS [RUNS]   SECONDS for each fuzzer; RUNS bounds the inputs
# over the seeds and makes the run repeatable (one fixed start of the random numbers).
# A crash leaves its input in build/fuzz/crashes and fails the run.
set -euo pipefail
shopt -s globstar  # seed patterns may hold **
seconds=$1 runs=${2:--1}
start=$([ "$runs" = -1 ] && echo 0 || echo 1)  # 0: libFuzzer picks one
cd "$(dirname "$0")/.."
tools/build.sh fuzz
mkdir -p build/fuzz/crashes
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1
failed=()
for fuzzer in build/fuzz/fuzz/*_fuzz; do
  name=$(basename "$fuzzer")
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  seeds=()
  while read -r pattern; do
    [ -n "$pattern" ] && while read -r file; do seeds+=("$file"); done < <(compgen -G "$pattern" || true)
  done < <(cat "fuzz/$name.seeds" 2>/dev/null)
  for file in "${seeds[@]}"; do
    [ "$(stat -c %s "$file")" -le 65536 ] && cp -n "$file" "$corpus/$(md5sum <<<"$file" | cut -c1-16)" || true
  done
  echo "fuzz: $name, $(ls "$corpus" | wc -l) seeds, $seconds s"
  "$fuzzer" "$corpus" -max_total_time="$seconds" -runs="$runs" -seed="$start" -rss_limit_mb=2048 -timeout=20 -max_len=65536 \
    -artifact_prefix="build/fuzz/crashes/$name-" -print_final_stats=1 >"build/fuzz/$name.log" 2>&1 || { failed+=("$name"); tail -40 "build/fuzz/$name.log"; }
  grep -E 'stat::number_of_executed_units' "build/fuzz/$name.log" || true
done
[ ${#failed[@]} -eq 0 ] || { echo "fuzz: failed: ${failed[*]}"; exit 1; }
