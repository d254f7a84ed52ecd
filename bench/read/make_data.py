"""Makes the data sets of job R with PyIceberg: 32 Parquet files of 500,000 rows, 5 columns.

usage: make_data.py OUT CODEC...      codecs: zstd snappy none

Set `foreign` is that of PyIceberg's own read benchmark: running ids, value i*0.1, label "row_<i>", alternating flag,
one constant timestamp, no nulls. Set `random` has the same schema with a random value, 1,000 labels, a random flag and
jittered timestamps. What exists is kept. Prints "SET CODEC METADATA_JSON" a line.
"""

import glob
import os
import sys

import numpy as np
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

ROWS, FILES = 500_000, 32


def foreign(file):
    i = np.arange(ROWS)
    return pa.table({
        "id": pa.array(file * ROWS + i, pa.int64()),
        "value": pa.array(i * 0.1),
        "label": pa.array([f"row_{k}" for k in range(ROWS)]),
        "flag": pa.array(i % 2 == 0),
        "ts": pa.array(np.full(ROWS, 1_700_000_000_000_000), pa.timestamp("us", tz="UTC")),
    })


def random(file):
    r = np.random.default_rng(file)
    i = np.arange(ROWS)
    return pa.table({
        "id": pa.array(file * ROWS + i, pa.int64()),
        "value": pa.array(r.random(ROWS)),
        "label": pa.array([f"label_{k}" for k in r.integers(0, 1000, ROWS)]),
        "flag": pa.array(r.random(ROWS) < 0.5),
        "ts": pa.array(1_700_000_000_000_000 + file * 10**12 + np.cumsum(r.integers(0, 2_000_000, ROWS)), pa.timestamp("us", tz="UTC")),
    })


def main():
    out = os.path.abspath(sys.argv[1])
    os.makedirs(out, exist_ok=True)
    for codec in sys.argv[2:]:
        for name, maker in (("foreign", foreign), ("random", random)):
            folder = f"{out}/{name}_{codec}"
            made = sorted(glob.glob(f"{folder}/r/t/metadata/{FILES:05d}-*.metadata.json"))
            if not made:
                for stale in glob.glob(f"{folder}.db"):
                    os.remove(stale)
                catalog = SqlCatalog("default", uri=f"sqlite:///{folder}.db", warehouse=f"file://{folder}")
                catalog.create_namespace("r")
                table = None
                for file in range(FILES):
                    data = maker(file)
                    if table is None:
                        written = "uncompressed" if codec == "none" else codec
                        table = catalog.create_table("r.t", schema=data.schema, properties={"write.parquet.compression-codec": written})
                    table.append(data)
                made = [table.metadata_location.removeprefix("file://")]
            print(name, codec, made[-1], flush=True)


if __name__ == "__main__":
    main()
