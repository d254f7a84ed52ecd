"""Makes the small Parquet files whose reading is counted in instructions: like the data sets of job R, a file a codec.

They are committed, because counts of files by another version of pyarrow would be other counts.

Usage: make_data.py      (needs pyarrow; the committed ones are by pyarrow 26.0.1)
"""
import pathlib
import random

import pyarrow as pa
import pyarrow.parquet as pq

DATA = pathlib.Path(__file__).parent / "data"
ROWS = 8000
CODECS = ("none", "snappy", "zstd", "gzip", "brotli", "lz4")
START_US = 1_700_000_000_000_000


def foreign():
    return pa.table({
        "id": pa.array(range(ROWS), pa.int64()),
        "value": pa.array([i * 0.1 for i in range(ROWS)], pa.float64()),
        "label": pa.array([f"row_{i}" for i in range(ROWS)]),
        "flag": pa.array([i % 2 == 0 for i in range(ROWS)]),
        "ts": pa.array([START_US] * ROWS, pa.timestamp("us", "UTC"))})


def scattered(null_percent):
    """Random values, 1,000 labels, a random flag, a jittered time."""
    rng = random.Random(7)

    def column(values, kind):
        return pa.array([None if rng.randrange(100) < null_percent else v for v in values], kind)

    return pa.table({
        "id": pa.array(range(ROWS), pa.int64()),
        "value": column([rng.random() for _ in range(ROWS)], pa.float64()),
        "label": column([f"label_{rng.randrange(1000)}" for _ in range(ROWS)], pa.string()),
        "flag": column([rng.random() < 0.5 for _ in range(ROWS)], pa.bool_()),
        "ts": column([START_US + i * 1000 + rng.randrange(1000) for i in range(ROWS)], pa.timestamp("us", "UTC"))})


def wide():
    return pa.table({f"column_{i}": pa.array([i], pa.int32()) for i in range(1000)})


def write(table, name, codec):
    pq.write_table(table, DATA / f"{name}.parquet", compression=codec, dictionary_pagesize_limit=64 << 10)


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for codec in CODECS:
        write(foreign(), f"foreign_{codec}", codec)
    write(scattered(0), "random_zstd", "zstd")
    write(scattered(10), "nulls_zstd", "zstd")
    write(wide(), "wide", "zstd")
