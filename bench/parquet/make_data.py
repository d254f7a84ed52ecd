"""Makes one data set of job parquet: a file that pyarrow wrote, uncompressed, row groups of a million rows.

usage: make_data.py RECIPE FOLDER        prints the path of the file

RECIPE is a JSON object with set and rows. FOLDER is empty or not there; the file lies in its folder data, where runners
look for the files of a table too. A set is named after its encoding and what it holds:

  plain_..., dictionary_..., rle_..., delta_... (DELTA_BINARY_PACKED), delta_length_..., delta_byte_array_...,
  split_... (BYTE_STREAM_SPLIT)
                         int32, int64, float, double, fixed_N: random bits; string: 10 random letters, string_100: 100
                         (delta_byte_array: sorted numbers with a common prefix); boolean: random, in runs of about 50
                         where it is rle; dictionary_..._N: N distinct values; sequential: steps of 3; jittered: random
                         steps
  ..._nulls              with 10 % nulls
  list_..., struct, map_string_int64
                         nested and plain; lists and maps of 0 to 8 elements, the struct's fields and the struct itself
                         with 10 % nulls
  sorted_page_index      a running id and a random value, with a page index
  footer_10000_columns   that many columns, in a footer of megabytes
"""

import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet

ROW_GROUP_ROWS = 1_000_000
NULL_SHARE = 0.1
ENCODINGS = {  # the longest name that a set begins with counts
    "plain": "PLAIN",
    "dictionary": "RLE_DICTIONARY",
    "rle": "RLE",
    "delta": "DELTA_BINARY_PACKED",
    "delta_length": "DELTA_LENGTH_BYTE_ARRAY",
    "delta_byte_array": "DELTA_BYTE_ARRAY",
    "split": "BYTE_STREAM_SPLIT",
}


def random_bits(r, rows, dtype):
    return r.integers(0, 256, rows * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)


def letters(r, rows, length=10):
    text = r.integers(ord("a"), ord("z") + 1, rows * length, dtype=np.uint8)
    offsets = np.arange(rows + 1, dtype=np.int32) * length
    return pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(text))


def fixed(r, rows, width):
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), rows, [None, pa.py_buffer(r.bytes(rows * width))])


def distinct(r, rows, count, word):
    """One of `count` values, the same in each row group."""
    chosen = r.integers(0, count, rows)
    if word == "int64":
        return pa.array(np.random.default_rng(1).integers(0, 10**12, count)[chosen])
    return pa.array([f"label_{k}" for k in range(count)]).take(pa.array(chosen))


def steps(r, rows, dtype, word):
    if word == "sequential":
        return pa.array(np.arange(rows, dtype=dtype) * dtype(3))
    return pa.array(np.cumsum(r.integers(0, 1000 if dtype is np.int32 else 2_000_000, rows)).astype(dtype))


def flat(set_name, r, rows):
    """The values of a set without nulls."""
    what = set_name.removeprefix(encoding_of(set_name)[0] + "_").split("_")
    if set_name.startswith("rle"):
        return pa.array(np.cumsum(r.random(rows) < 0.02) % 2 == 0)
    if what[0] == "boolean":
        return pa.array(r.random(rows) < 0.5)
    if set_name.startswith("dictionary"):
        return distinct(r, rows, int(what[1]), what[0])
    if set_name.startswith("delta_int"):
        return steps(r, rows, np.dtype(what[0]).type, what[1])
    if set_name.startswith("delta_byte_array"):
        return pa.array([f"key_{number:012d}" for number in np.cumsum(r.integers(0, 1000, rows))])
    if what[0] == "string":
        return letters(r, rows, *map(int, what[1:]))
    if what[0] == "fixed":
        return fixed(r, rows, int(what[1]))
    if what[0] in ("float", "double"):
        return pa.array(r.random(rows), pa.float32() if what[0] == "float" else pa.float64(), safe=False)
    return pa.array(random_bits(r, rows, what[0]))


def with_nulls(r, array):
    """Every tenth value, about, becomes null."""
    return compute.if_else(pa.array(r.random(len(array)) >= NULL_SHARE), array, pa.scalar(None, array.type))


def offsets(r, rows):
    return pa.array(np.concatenate([[0], np.cumsum(r.integers(0, 9, rows))]).astype(np.int32))


def nested(set_name, r, rows):
    if set_name == "struct":
        fields = [pa.array(random_bits(r, rows, np.int64)), pa.array(r.random(rows)), letters(r, rows)]
        return pa.StructArray.from_arrays(
            [with_nulls(r, field) for field in fields],
            ["a", "b", "c"],
            mask=pa.array(r.random(rows) < NULL_SHARE),
        )
    bounds = offsets(r, rows)
    count = bounds[-1].as_py()
    if set_name == "map_string_int64":
        return pa.MapArray.from_arrays(bounds, letters(r, count), pa.array(random_bits(r, count, np.int64)))
    elements = {
        "list_int64": lambda: pa.array(random_bits(r, count, np.int64)),
        "list_string": lambda: letters(r, count),
        "list_struct": lambda: pa.StructArray.from_arrays(
            [pa.array(random_bits(r, count, np.int64)), pa.array(r.random(count))], ["a", "b"]
        ),
    }
    return pa.ListArray.from_arrays(bounds, elements[set_name]())


def group(set_name, number, rows):
    """The rows of one row group."""
    r = np.random.default_rng(number)
    if set_name == "sorted_page_index":
        first = number * ROW_GROUP_ROWS
        return pa.table({"id": np.arange(first, first + rows), "value": r.random(rows)})
    if set_name == "footer_10000_columns":
        return pa.table({f"c{column}": random_bits(r, rows, np.int64) for column in range(10_000)})
    if encoding_of(set_name)[0] is None:
        return pa.table({"v": nested(set_name, r, rows)})
    values = flat(set_name.removesuffix("_nulls"), r, rows)
    return pa.table({"v": with_nulls(r, values) if set_name.endswith("_nulls") else values})


def encoding_of(set_name):
    """(how the set's name says it, Parquet's word)"""
    said = max((name for name in ENCODINGS if set_name.startswith(f"{name}_")), key=len, default=None)
    return said, ENCODINGS.get(said, "PLAIN")


def main():
    recipe, folder = json.loads(sys.argv[1]), os.path.abspath(sys.argv[2])
    set_name, rows = recipe["set"], recipe["rows"]
    encoding = encoding_of(set_name)[1]
    options = {"compression": "none", "use_dictionary": False, "write_page_index": set_name == "sorted_page_index"}
    if encoding == "RLE_DICTIONARY":
        options |= {"use_dictionary": True, "dictionary_pagesize_limit": 4 << 20}
    elif encoding != "PLAIN":
        options["column_encoding"] = {"v": encoding}
    os.makedirs(os.path.join(folder, "data"), exist_ok=True)
    path = os.path.join(folder, "data", f"{set_name}.parquet")
    with parquet.ParquetWriter(path, group(set_name, 0, 1).schema, **options) as writer:
        for number, first in enumerate(range(0, rows, ROW_GROUP_ROWS)):
            writer.write_table(group(set_name, number, min(ROW_GROUP_ROWS, rows - first)), ROW_GROUP_ROWS)
    written = parquet.read_metadata(path).row_group(0).column(0).encodings
    if encoding not in written:
        sys.exit(f"Error: pyarrow wrote {', '.join(written)}, not {encoding}")
    print(path)


if __name__ == "__main__":
    main()
