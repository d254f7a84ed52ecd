#!/usr/bin/env bash
# Job R: makes the data (once) and times Frazil beside its peers. Options go to bench/read/run.py.
# FRAZIL_BENCH_DATA is where the data is kept (default build/bench).
set -euo pipefail
cd "$(dirname "$0")/.."
data=${FRAZIL_BENCH_DATA:-$PWD/build/bench}
python=$(tools/python_env.sh "$PWD/build/venv-bench" bench/requirements.txt)
[ -n "$python" ] || { echo "bench: the peers could not be installed"; exit 1; }
"$python" bench/read/make_data.py "$data" zstd snappy none
exec "$python" bench/read/run.py build/release/frazil "$data" "$@"
