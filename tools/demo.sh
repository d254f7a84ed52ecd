#!/usr/bin/env bash
# The demo: a table that another engine wrote, streamed within a memory budget. usage: tools/demo.sh FRAZIL
set -euo pipefail
frazil=$1
table=tests/corpora/iceberg-tables/duckdb/iceberg/lineitem_iceberg_gz
run() { echo; echo "\$ frazil $*"; "$frazil" "$@"; }
echo "TPC-H lineitem as Spark wrote it ($table), read within 16 MiB."
run describe "$table"
run scan "$table" --select l_orderkey,l_shipdate,l_quantity,l_extendedprice,l_comment --limit 10 --format table --memory 16MiB
run scan "$table" --format none --memory 16MiB --stats
