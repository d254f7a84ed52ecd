#!/usr/bin/env bash
# Compares Frazil with other engines: on generated tables for FRAZIL_TEST_SECONDS, on 1,000 generated Parquet files.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(tools/python_env.sh "$PWD/build/venv" tests/requirements.txt)
FRAZIL_WITH_TESTS=1 FRAZIL_PYTHON=$python tools/build.sh release frazil frazil_parquet_dump
[ -n "$python" ] || { echo "interop: skipped, no Python oracles"; exit 0; }
status=0
FRAZIL=$PWD/build/release/frazil "$python" tests/interop/differential.py || status=1
"$python" tests/parquet/differential.py build/release/tests/parquet/frazil_parquet_dump 1000 || status=1
exit $status
