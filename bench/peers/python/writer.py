"""How fast does one Python engine append a batch to a partitioned table? One measurement, as one JSON object on stdout.

usage: writer.py write --engine NAME --rows N --threads N --folder FOLDER [--partitions N] [--nested] [--keep]
                 [--order round-robin|random|clustered]

The rows and the empty table are made before the clock starts; it ends when the commit, or for engines without tables the
last file, is done. What was written is removed again unless --keep says else.
"""

import argparse
import glob
import json
import os
import shutil
import sys
import tempfile
import time


def pyiceberg_append(request, rows, folder):
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.transforms import DayTransform, IdentityTransform

    catalog = SqlCatalog("default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/lake")
    catalog.create_namespace("bench")
    table = catalog.create_table("bench.t", schema=rows.schema, properties={"write.parquet.compression-codec": "zstd"})
    with table.update_spec() as update:
        if request.partitions:
            update.add_field("part", IdentityTransform())
        else:
            update.add_field("ts", DayTransform(), "ts_day")
            update.add_field("host", IdentityTransform())
    table = catalog.load_table("bench.t")
    return lambda: table.append(rows)


def pyarrow_write_dataset(request, rows, folder):
    import pyarrow as pa
    import pyarrow.dataset as dataset

    options = dataset.ParquetFileFormat().make_write_options(compression="zstd")

    def write():
        if request.partitions:
            keys, source = ["part_p"], rows.append_column("part_p", rows["part"])
        else:
            keys = ["ts_day", "host_p"]
            source = rows.append_column("ts_day", rows["ts"].cast(pa.timestamp("us")).cast(pa.date32()))
            source = source.append_column("host_p", rows["host"])
        dataset.write_dataset(
            source,
            f"{folder}/lake",
            format="parquet",
            partitioning=keys,
            partitioning_flavor="hive",
            file_options=options,
            max_partitions=10_000,
        )

    return write


def duckdb_copy(request, rows, folder):
    import duckdb

    connection = duckdb.connect(config={"threads": request.threads})
    connection.register("input", rows)
    if request.partitions:
        select, keys = "*, part as part_p", "part_p"
    else:
        select, keys = "*, ts::date as ts_day, host as host_p", "ts_day, host_p"
    connection.execute("set partitioned_write_max_open_files = 10000")
    return lambda: connection.execute(
        f"copy (select {select} from input) to '{folder}/lake' (format parquet, compression zstd, partition_by ({keys}))"
    )


def polars_sink(request, rows, folder):
    os.environ["POLARS_MAX_THREADS"] = str(request.threads)
    import polars

    frame = polars.from_arrow(rows).lazy()
    if request.partitions:
        frame, keys = frame.with_columns(part_p=polars.col("part")), ["part_p"]
    else:
        frame = frame.with_columns(ts_day=polars.col("ts").dt.date(), host_p=polars.col("host"))
        keys = ["ts_day", "host_p"]
    os.makedirs(f"{folder}/lake")
    return lambda: frame.sink_parquet(polars.PartitionBy(f"{folder}/lake", key=keys), compression="zstd", mkdir=True)


ENGINES = {function.__name__: function for function in (pyiceberg_append, pyarrow_write_dataset, duckdb_copy, polars_sink)}


def arguments():
    parser = argparse.ArgumentParser(prog="writer.py", usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("operation", choices=["write"])
    parser.add_argument("--engine", required=True, choices=sorted(ENGINES))
    parser.add_argument("--rows", required=True, type=int)
    parser.add_argument("--threads", required=True, type=int)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--order", default="round-robin", choices=["round-robin", "random", "clustered"])
    parser.add_argument("--nested", action="store_true")
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


def main():
    request = arguments()
    os.environ["PYICEBERG_MAX_WORKERS"] = str(request.threads)
    import pyarrow

    import rows

    pyarrow.set_cpu_count(request.threads)
    folder = tempfile.mkdtemp(prefix="frazil-bench-", dir=request.folder)
    try:
        table = rows.table(request.rows, request.partitions, request.order, request.nested)
        write = ENGINES[request.engine](request, table, folder)
        before = set(glob.glob(f"{folder}/**", recursive=True))
        started = time.perf_counter()
        write()
        seconds = time.perf_counter() - started
        written = [path for path in glob.glob(f"{folder}/**", recursive=True) if path not in before and os.path.isfile(path)]
        print(
            json.dumps(
                {
                    "engine": request.engine,
                    "threads": request.threads,
                    "rows": request.rows,
                    "seconds": seconds,
                    "files": sum(path.endswith(".parquet") for path in written),
                    "bytes_read": None,
                    "bytes_written": sum(os.path.getsize(path) for path in written),
                    "pool_peak_bytes": None,
                    "allocations": None,
                    "order": None,
                }
            )
        )
    finally:
        if not request.keep:
            shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
