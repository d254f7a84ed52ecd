#!/usr/bin/env bash
# Compares Frazil with other engines: on generated tables for FRAZIL_TEST_SECONDS (default 600), on as many generated
# Parquet files as fit in about the same time: 1,000 by default.
set -euo pipefail
cd "$(dirname "$0")/.."
export FRAZIL_TEST_SECONDS=${FRAZIL_TEST_SECONDS:-600}
files=$((FRAZIL_TEST_SECONDS < 600 ? FRAZIL_TEST_SECONDS * 5 / 3 : 1000))
python=$(tools/python_env.sh "$PWD/build/venv" tests/requirements.txt)
FRAZIL_WITH_TESTS=1 FRAZIL_PYTHON=$python tools/build.sh release frazil frazil_parquet_dump frazil_parquet_rewrite \
  frazil_rewrite_metadata \
  frazil_commit_verbs
[ -n "$python" ] || { echo "interop: skipped, no Python oracles"; exit 0; }
status=0
FRAZIL=$PWD/build/release/frazil "$python" tests/interop/differential.py || status=1
"$python" tests/parquet/differential.py build/release/tests/parquet/frazil_parquet_dump "$files" || status=1
"$python" tests/parquet/written.py build/release/tests/parquet/frazil_parquet_{rewrite,dump} "$((files / 2))" || status=1
"$python" tests/parquet/page_index.py build/release/tests/parquet/frazil_parquet_rewrite --fetch || status=1
FRAZIL_DUCKDB_PYTHON=$(tools/python_env.sh "$PWD/build/venv-duckdb" tests/requirements-duckdb.txt) \
  "$python" tests/interop/manifests.py build/release/tests/interop/frazil_rewrite_metadata --fetch || status=1
"$python" tests/commit/catalogs.py build/release/tests/commit/frazil_commit_verbs --fetch || status=1
exit $status
