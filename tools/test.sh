#!/usr/bin/env bash
# Builds a preset with its tests and runs them. usage: tools/test.sh release|debug|asan|tsan
# tsan runs the tests labelled `threads`; asan everything that does not load Python.
set -euo pipefail
preset=$1
cd "$(dirname "$0")/.."
export FRAZIL_WITH_TESTS=1
export RC_PARAMS=${RC_PARAMS:-seed=1}  # the same random inputs each time, as tests/seeds.py does for the Python tests
filter=()
targets=()
case $preset in
  asan)
    filter=(-LE python)
    export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:allocator_may_return_null=1}
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} ;;
  tsan)
    filter=(-L threads)
    targets=(frazil_thread_tests)
    export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1} ;;
  *)
    FRAZIL_PYTHON=$(tools/python_env.sh "$PWD/build/venv" tests/requirements.txt)
    FRAZIL_DUCKDB_PYTHON=$(tools/python_env.sh "$PWD/build/venv-duckdb" tests/requirements-duckdb.txt)
    export FRAZIL_PYTHON FRAZIL_DUCKDB_PYTHON ;;
esac
tools/build.sh "$preset" "${targets[@]}"
ctest --test-dir "build/$preset" -j "${JOBS:-$(nproc)}" --output-on-failure --no-tests=error "${filter[@]}"
# ctest names the tests that were skipped; their reasons stand in its log.
sed -nE -e '/: Skipped$/{n;p}' -e 's/^skipped: //p' "build/$preset/Testing/Temporary/LastTest.log" | sort -u | sed 's/^/skipped: /'
