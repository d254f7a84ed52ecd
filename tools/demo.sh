#!/usr/bin/env bash
# The demo: real data into a partitioned table, and back within a memory budget. usage: tools/demo.sh FRAZIL
set -euo pipefail
frazil=$(realpath "$1")
data=examples/data/nycflights13
lake=$(realpath -m build/demo)
rm -rf "$lake"
mkdir -p "$lake"
export FRAZIL_URI=sqlite:///$lake/catalog.db FRAZIL_WAREHOUSE=$lake
run() { echo; echo "\$ frazil ${*@Q}" | sed "s/'\([a-zA-Z0-9_.,/=-]*\)'/\1/g"; "$frazil" "$@"; }
echo "All 336,776 flights that left New York in 2013, into a table partitioned by month and carrier (catalog: $FRAZIL_URI)."
run namespace create nyc
run load nyc.flights $data/flights.csv.zst --create --null NA --partition-by 'month, carrier'
run load nyc.airlines $data/airlines.csv --create
run describe nyc.flights
run scan nyc.flights --select carrier,flight,origin,dest,dep_delay --where 'month = 7 AND dep_delay > 600' --format table --memory 16MiB
run scan nyc.flights --select carrier,dep_delay,time_hour --format none --stats --memory 16MiB
run files nyc.flights | head -12
