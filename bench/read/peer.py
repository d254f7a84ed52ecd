"""One measurement of one peer on job R, in this process. Prints one line of JSON.

usage: peer.py ENGINE METADATA_JSON THREADS

Engines: pyiceberg_reader pyarrow_16k pyarrow_128k duckdb_unordered polars_batches. Time counts from before planning (or
listing) until the last batch was dropped; every batch is an Arrow batch, or Polars' frame of the same memory.
"""

import glob
import json
import os
import resource
import sys
import time

engine, metadata, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
data_files = sorted(glob.glob(os.path.join(os.path.dirname(os.path.dirname(metadata)), "data", "*.parquet")))
rows = batches = pool_peak = 0
first = None
os.environ["PYICEBERG_MAX_WORKERS"] = str(threads)
os.environ["POLARS_MAX_THREADS"] = str(threads)
import pyarrow as pa

pa.set_cpu_count(threads)
pool = pa.default_memory_pool()


def consume(reader, started):
    global rows, batches, first, pool_peak
    for batch in reader:
        if first is None:
            first = time.perf_counter() - started
        rows += batch.num_rows
        batches += 1
        pool_peak = max(pool_peak, pool.bytes_allocated())


if engine == "pyiceberg_reader":
    from pyiceberg.table import StaticTable
    table = StaticTable.from_metadata(metadata)
    started = time.perf_counter()
    consume(table.scan().to_arrow_batch_reader(), started)
elif engine.startswith("pyarrow"):
    import pyarrow.dataset
    size = {"pyarrow_16k": 16384, "pyarrow_128k": 131072}[engine]
    dataset = pyarrow.dataset.dataset(data_files, format="parquet")
    started = time.perf_counter()
    consume(dataset.scanner(batch_size=size, use_threads=threads > 1).to_reader(), started)
elif engine == "duckdb_unordered":
    import duckdb
    db = duckdb.connect(config={"threads": threads})
    db.execute("set preserve_insertion_order=false")
    started = time.perf_counter()
    consume(db.sql(f"select * from read_parquet({data_files!r})").to_arrow_reader(131072), started)
elif engine == "polars_batches":
    import polars
    started = time.perf_counter()
    for frame in polars.scan_parquet(data_files).collect_batches(chunk_size=131072, maintain_order=True):
        if first is None:
            first = time.perf_counter() - started
        rows += frame.height
        batches += 1
else:
    sys.exit(f"unknown engine {engine}")
seconds = time.perf_counter() - started
print(json.dumps({
    "engine": engine, "rows": rows, "batches": batches, "seconds": seconds, "seconds_to_first_batch": first or seconds,
    "pool_peak_bytes": max(pool_peak, pool.max_memory() or 0), "rss_peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    "threads": threads,
}))
