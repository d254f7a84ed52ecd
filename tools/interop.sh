#!/usr/bin/env bash
# Compares Frazil with other engines on generated tables and files, from the seed FRAZIL_SEED on (default: the hour's, so
# that each run looks at something new), as many as take about FRAZIL_TEST_SECONDS (default 600) a test.
set -euo pipefail
cd "$(dirname "$0")/.."
export FRAZIL_TEST_SECONDS=${FRAZIL_TEST_SECONDS:-600}
export FRAZIL_SEED=${FRAZIL_SEED:-$(date +%y%m%d%H)0000}
echo "interop: again with FRAZIL_SEED=$FRAZIL_SEED FRAZIL_TEST_SECONDS=$FRAZIL_TEST_SECONDS"
python=$(tools/python_env.sh "$PWD/build/venv" tests/requirements.txt)
FRAZIL_WITH_TESTS=1 FRAZIL_PYTHON=$python tools/build.sh release frazil frazil_parquet_dump frazil_parquet_rewrite \
  frazil_parquet_where frazil_predicate_rows frazil_rewrite_metadata frazil_file_metrics frazil_append_file frazil_commit_verbs \
  frazil_ipc_library
[ -n "$python" ] || { echo "interop: skipped, no Python oracles"; exit 0; }
status=0
run() { "$@" || [ $? -eq 77 ] || status=1; }  # 77: it has said why it skips
export FRAZIL=$PWD/build/release/frazil
run "$python" tests/interop/differential.py
run "$python" tests/parquet/differential.py build/release/tests/parquet/frazil_parquet_dump
run "$python" tests/parquet/written.py build/release/tests/parquet/frazil_parquet_{rewrite,dump} --no-corpora
arrow_rs=()
if command -v cargo >/dev/null &&
  cargo build --quiet --release --locked --manifest-path tests/ipc/arrow_rs/Cargo.toml --target-dir build/arrow_rs; then
  arrow_rs=(--arrow-rs build/arrow_rs/release/libipc_arrow_rs.so)
else
  echo "interop: Arrow IPC without arrow-rs, which takes cargo and crates.io"
fi
run "$python" tests/ipc/differential.py build/release/tests/ipc/libfrazil_ipc_library.so "${arrow_rs[@]}"
run "$python" tests/parquet/pruning.py build/release/tests/parquet/frazil_parquet_where
run "$python" tests/predicate/differential.py build/release/tests/predicate/frazil_predicate_rows
run "$python" tests/interop/file_metrics.py build/release/tests/interop/frazil_file_metrics
run "$python" tests/write/partitions.py build/release/tests/write/frazil_append_file
run "$python" tests/parquet/page_index.py build/release/tests/parquet/frazil_parquet_rewrite --fetch
FRAZIL_DUCKDB_PYTHON=$(tools/python_env.sh "$PWD/build/venv-duckdb" tests/requirements-duckdb.txt)
export FRAZIL_DUCKDB_PYTHON
run "$python" tests/interop/manifests.py build/release/tests/interop/frazil_rewrite_metadata --fetch
run "$python" tests/commit/catalogs.py build/release/tests/commit/frazil_commit_verbs --fetch
run "$python" tests/interop/table_readers.py
run "$python" tests/interop/java_filters.py --fetch
run "$python" tests/interop/jdbc.py --fetch
if [ "${FRAZIL_SPARK:-yes}" = yes ]; then  # half a gigabyte to fetch
  FRAZIL_SPARK_PYTHON=$(tools/python_env.sh "$PWD/build/venv-spark" tests/requirements-spark.txt)
  export FRAZIL_SPARK_PYTHON
  run "$python" tests/interop/spark_reads.py --fetch
fi
exit $status
