#!/usr/bin/env bash
# Compares Frazil with other engines on generated tables, for FRAZIL_TEST_SECONDS.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(tools/python_env.sh "$PWD/build/venv" tests/requirements.txt)
tools/build.sh release frazil
[ -n "$python" ] || { echo "interop: skipped, no Python oracles"; exit 0; }
FRAZIL=$PWD/build/release/frazil "$python" tests/interop/differential.py
