"""Makes one data set of job ipc: the same batches as an IPC file and as an IPC stream, written by pyarrow.

usage: make_data.py RECIPE FOLDER        prints the path of the file (.arrow); the stream lies beside it (.arrows)

RECIPE is a JSON object with set, codec, rows, columns and files. The columns are those of apache/arrow#49545
(ruby/red-arrow-format/benchmark): even ones uint32 of random bits, odd ones binary of 0 to 9 random bytes, no nulls,
seed 29. A set is named after how it differs:

  columns_N              one batch of that many columns
  batches_N              100 columns, the rows in that many batches
  nulls                  with 10 % nulls
  dictionary             odd columns are dictionary<int32, utf8> of 1,000 values
  views                  odd columns are binary views of 0 to 29 bytes
  few_values             numbers below 1,000 and one of 1,000 texts: what compresses well
  small_files            10,000 files of about 1 KiB, each with one batch of 3 columns; files only, prints their folder
  first_of_many          a large file: one column of numbers, batches of a million rows
"""

import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute

SEED = 29
NULL_SHARE = 0.1
DISTINCT = 1_000
BATCH_ROWS_MAX = 1_000_000


def numbers(r, rows):
    return pa.array(r.integers(0, 1 << 32, rows, dtype=np.uint32))


def binaries(r, rows, size_max=9):
    """Random bytes, 0 to `size_max` of them a value."""
    offsets = np.concatenate([[0], np.cumsum(r.integers(0, size_max + 1, rows))]).astype(np.int32)
    return pa.BinaryArray.from_buffers(
        pa.binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(r.bytes(int(offsets[-1])))]
    )


def with_nulls(r, array):
    """Every tenth value, about, becomes null."""
    mask = pa.array(r.random(len(array)) < NULL_SHARE)
    return pa.compute.if_else(mask, pa.scalar(None, array.type), array)


def column(set_name, index, r, rows):
    odd = index % 2 == 1
    if set_name == "dictionary" and odd:
        # The values must be the same in each batch: a file has one dictionary a field.
        texts = pa.array([f"value_{index}_{k}" for k in range(DISTINCT)])
        return pa.DictionaryArray.from_arrays(pa.array(r.integers(0, DISTINCT, rows, dtype=np.int32)), texts)
    if set_name == "views" and odd:
        return binaries(r, rows, 29).cast(pa.binary_view())
    if set_name == "few_values":
        chosen = r.integers(0, DISTINCT, rows)
        return pa.array([f"value_{k}".encode() for k in range(DISTINCT)]).take(pa.array(chosen)) if odd else pa.array(chosen.astype(np.uint32))
    values = binaries(r, rows) if odd else numbers(r, rows)
    return with_nulls(r, values) if set_name == "nulls" else values


def batch_of(set_name, columns, rows, r):
    return pa.record_batch(
        [column(set_name, index, r, rows) for index in range(columns)], [f"c{index}" for index in range(columns)]
    )


def batch_sizes(set_name, rows):
    if set_name.startswith("batches_"):
        count = int(set_name.removeprefix("batches_"))
        return [rows // count] * count
    return [min(BATCH_ROWS_MAX, rows - first) for first in range(0, rows, BATCH_ROWS_MAX)]


def write(recipe, path, options):
    """The file and the stream, a batch at a time."""
    r = np.random.default_rng(SEED)
    sizes = batch_sizes(recipe["set"], recipe["rows"])
    first = batch_of(recipe["set"], recipe["columns"], sizes[0], r)
    with (
        pa.ipc.new_file(f"{path}.arrow", first.schema, options=options) as file,
        pa.ipc.new_stream(f"{path}.arrows", first.schema, options=options) as stream,
    ):
        for number, size in enumerate(sizes):
            batch = batch_of(recipe["set"], recipe["columns"], size, r) if number else first
            file.write(batch)
            stream.write(batch)
    return f"{path}.arrow"


def write_small_files(recipe, folder):
    r = np.random.default_rng(SEED)
    rows = recipe["rows"] // recipe["files"]
    for number in range(recipe["files"]):
        batch = batch_of("columns", recipe["columns"], rows, r)
        with pa.ipc.new_file(os.path.join(folder, f"{number:05d}.arrow"), batch.schema) as file:
            file.write(batch)
    return folder


def main():
    recipe, folder = json.loads(sys.argv[1]), os.path.join(os.path.abspath(sys.argv[2]), "data")
    os.makedirs(folder, exist_ok=True)
    codec = None if recipe["codec"] == "none" else recipe["codec"]
    if recipe["files"] > 1:
        print(write_small_files(recipe, folder))
    else:
        options = pa.ipc.IpcWriteOptions(compression=codec)
        print(write(recipe, os.path.join(folder, recipe["set"]), options))


if __name__ == "__main__":
    main()
