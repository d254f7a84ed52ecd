"""Makes one data set of job R: a table that PyIceberg wrote, one append a file.

usage: make_data.py RECIPE FOLDER        prints the path of the table's metadata file

RECIPE is a JSON object: set, codec (zstd, snappy, none), rows, columns, files. FOLDER is empty or not there. Sets:

  foreign         the read benchmark of PyIceberg: running id, value i*0.1, label "row_<i>", alternating flag, one
                  constant timestamp; i begins anew in each file; no nulls
  random          the same schema with a random value, 1,000 labels, a random flag and jittered timestamps
  random_nulls    random, with 10 % nulls in each column but id
  wide            many columns: int64, float64, one of 100 labels, bool, and so on
  small_files     foreign, in one append of many files
  strings_N       id, and a text of N random letters
  own_SET         SET twice: as PyIceberg writes it, and as `frazil load` does, a file after the other
"""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import _dataframe_to_data_files

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DAY_0 = 1_700_000_000_000_000  # microseconds


def foreign(rows, file, recipe):
    i = np.arange(rows)
    return pa.table(
        {
            "id": pa.array(file * rows + i),
            "value": pa.array(i * 0.1),
            "label": compute.binary_join_element_wise("row_", pa.array(i).cast(pa.string()), ""),
            "flag": pa.array(i % 2 == 0),
            "ts": pa.array(np.full(rows, DAY_0), pa.timestamp("us", tz="UTC")),
        }
    )


def random(rows, file, recipe, null_share=0.0):
    r = np.random.default_rng(file)
    columns = {
        "value": r.random(rows),
        "label": np.array([f"label_{k}" for k in range(1000)])[r.integers(0, 1000, rows)],
        "flag": r.random(rows) < 0.5,
        "ts": DAY_0 + file * 10**12 + np.cumsum(r.integers(0, 2_000_000, rows)),
    }
    types = {"ts": pa.timestamp("us", tz="UTC")}
    arrays = {"id": pa.array(file * rows + np.arange(rows))}
    for name, values in columns.items():
        arrays[name] = pa.array(values, types.get(name), mask=r.random(rows) < null_share if null_share else None)
    return pa.table(arrays)


def random_nulls(rows, file, recipe):
    return random(rows, file, recipe, null_share=0.1)


def wide(rows, file, recipe):
    r = np.random.default_rng(file)
    labels = pa.array([f"label_{k}" for k in range(100)])
    makers = (
        lambda: pa.array(r.integers(0, 10**12, rows)),
        lambda: pa.array(r.random(rows)),
        lambda: labels.take(pa.array(r.integers(0, 100, rows))),
        lambda: pa.array(r.random(rows) < 0.5),
    )
    return pa.table({f"c{k}": makers[k % len(makers)]() for k in range(recipe["columns"])})


def strings(rows, file, recipe):
    length = int(recipe["set"].removeprefix("strings_"))
    letters = np.random.default_rng(file).integers(ord("a"), ord("z") + 1, rows * length, dtype=np.uint8)
    offsets = np.arange(rows + 1, dtype=np.int32) * length
    text = pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(letters))
    return pa.table({"id": pa.array(file * rows + np.arange(rows)), "text": text})


MAKERS = {
    "foreign": foreign,
    "random": random,
    "random_nulls": random_nulls,
    "wide": wide,
    "small_files": foreign,
    "strings_5": strings,
    "strings_50": strings,
    "strings_500": strings,
}


def append_many(table, parts):
    """One snapshot of as many files as parts; append() would take a snapshot for each, or join them."""
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as snapshot:
        for part in parts:
            for data_file in _dataframe_to_data_files(table.metadata, df=part, io=table.io):
                snapshot.append_data_file(data_file)


def load_by_frazil(parts, table, source):
    frazil = os.environ.get("FRAZIL") or os.path.join(ROOT, "build", "release", "frazil")
    for file, part in enumerate(parts):
        parquet.write_table(part, source, compression="none")
        if file == 0:
            subprocess.run([frazil, "create", table, "--like", source], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([frazil, "load", table, source, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    os.remove(source)
    # Under a name that does not depend on the number of loads (own_metadata() in job.py).
    shutil.copy(f"{table}/metadata/v{file + 2}.metadata.json", f"{table}/metadata/newest.metadata.json")


def main():
    recipe, folder = json.loads(sys.argv[1]), os.path.abspath(sys.argv[2])
    rows, files = recipe["rows"] // recipe["files"], recipe["files"]
    maker = MAKERS[recipe["set"].removeprefix("own_")]
    os.makedirs(folder, exist_ok=True)
    catalog = SqlCatalog("default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("r")
    codec = "uncompressed" if recipe["codec"] == "none" else recipe["codec"]  # Iceberg's word
    table = catalog.create_table(
        "r.t", schema=maker(1, 0, recipe).schema, properties={"write.parquet.compression-codec": codec}
    )

    def parts():
        return (maker(rows, file, recipe) for file in range(files))

    if recipe["set"] == "small_files":
        append_many(table, parts())
    else:
        for part in parts():
            table.append(part)
    if recipe["set"].startswith("own_"):
        load_by_frazil(parts(), f"{folder}/r/own", f"{folder}/source.parquet")
    print(table.metadata_location.removeprefix("file://"))


if __name__ == "__main__":
    main()
