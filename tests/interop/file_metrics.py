"""Metrics of data files that Frazil wrote, beside those that PyIceberg has for the same rows, and those of the rows.

usage: file_metrics.py PROGRAM [SEED ...]      PROGRAM is frazil_file_metrics; without seeds: those of tests/seeds.py

PyIceberg writes a file of random rows and takes its metrics from its footer. What differs on purpose: PyIceberg has no
bounds of nested fields, does not cut fixed, keeps uuid bounds in the unsigned order alone and counts no NaN. Every bound is
also held against the rows.
"""

import datetime
import json
import logging
import math
import os
import random
import subprocess
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
sys.argv, arguments = sys.argv[:1], sys.argv[1:]
os.environ.setdefault("FRAZIL", "")
import seeds
from differential import random_type, random_value

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.conversions import from_bytes
from pyiceberg.io.pyarrow import (compute_statistics_plan, data_file_statistics_from_parquet_metadata, parquet_path_to_id_mapping,
                                  schema_to_pyarrow)
from pyiceberg.schema import Schema
from pyiceberg.types import (BinaryType, DoubleType, FixedType, FloatType, ListType, LongType, NestedField, StringType, StructType,
                             UUIDType)


logging.getLogger("pyiceberg").setLevel(logging.ERROR)  # files without rows have no statistics


def random_rows(r, kind, count):
    mode = r.choice(["any", "few", "nulls", "long"])
    values = [random_value(r, kind) for _ in range(r.choice([1, 3, 50]))]
    if mode == "long" and isinstance(kind, StringType):
        values = [r.choice(["\U0010ffff", "ÿ", "z", "\ud7ff"]) * r.choice([15, 16, 17, 40]) + v for v in values]
    if mode == "long" and isinstance(kind, BinaryType):
        values = [r.choice([b"\xff", b"\x00"]) * r.choice([15, 16, 17, 200]) + v for v in values]
    return [None if mode == "nulls" or r.random() < 0.1 else r.choice(values) for _ in range(count)]


def key(value):
    """In the order of bounds; None for what has no place in it."""
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, uuid.UUID):
        return value.bytes
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return (value - datetime.date(1970, 1, 1)).days
    if isinstance(value, datetime.time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    return value


def check(program, seed, folder):
    r = random.Random(seed)
    columns = []
    for i in range(r.randint(1, 8)):
        columns.append(NestedField(i + 1, f"c{i}", random_type(r), required=False))
    inner = random_type(r)
    while isinstance(inner, UUIDType):  # pyarrow makes no nested extension arrays of Python values
        inner = random_type(r)
    columns.append(NestedField(101, "s", StructType(NestedField(102, "x", inner, required=False),
                                                    NestedField(103, "f", r.choice([FloatType(), DoubleType()]), required=False)), required=False))
    columns.append(NestedField(104, "l", ListType(105, LongType(), element_required=False), required=False))
    schema = Schema(*columns)
    count = r.choice([0, 1, 10, 3000])
    data = {}
    for field in columns:
        if isinstance(field.field_type, StructType):
            leaves = {leaf.name: random_rows(r, leaf.field_type, count) for leaf in field.field_type.fields}
            data[field.name] = [None if r.random() < 0.1 else {name: values[i] for name, values in leaves.items()} for i in range(count)]
        elif isinstance(field.field_type, ListType):
            data[field.name] = [None if r.random() < 0.2 else [r.choice([None, 1, 2]) for _ in range(r.randint(0, 3))] for _ in range(count)]
        else:
            data[field.name] = random_rows(r, field.field_type, count)
    arrow_schema = schema_to_pyarrow(schema)

    def storage(kind, values):
        if isinstance(kind, UUIDType):
            return [v.bytes if isinstance(v, uuid.UUID) else v for v in values]
        return values

    arrays = []
    for field, arrow in zip(columns, arrow_schema):
        values = data[field.name]
        if isinstance(field.field_type, StructType):
            values = [None if v is None else {leaf.name: storage(leaf.field_type, [v[leaf.name]])[0] for leaf in field.field_type.fields} for v in values]
        else:
            values = storage(field.field_type, values)
        arrays.append(pa.array(values, arrow.type))
    source = os.path.join(folder, f"{seed}.parquet")
    pq.write_table(pa.Table.from_arrays(arrays, schema=arrow_schema), source, row_group_size=1000)
    properties = {}
    mode = r.choice([None, "full", "counts", "truncate(1)", "truncate(16)", "truncate(40)"])
    if mode:
        properties["write.metadata.metrics.default"] = mode
    with open(os.path.join(folder, f"{seed}.json"), "w") as out:
        out.write(schema.model_dump_json())
    done = subprocess.run([program, out.name, source, os.path.join(folder, f"{seed}.out.parquet"), *(f"{k}={v}" for k, v in properties.items())],
                          capture_output=True, timeout=60)
    if done.returncode != 0:
        return [done.stderr.decode(errors="replace")]
    ours = json.loads(done.stdout)
    maps = {name: dict(zip(ours[name]["keys"], ours[name]["values"])) for name in
            ("column-sizes", "value-counts", "null-value-counts", "nan-value-counts", "lower-bounds", "upper-bounds")}
    try:
        theirs = data_file_statistics_from_parquet_metadata(pq.ParquetFile(source).metadata, compute_statistics_plan(schema, properties),
                                                            parquet_path_to_id_mapping(schema)).to_serialized_dict()
    except UnicodeEncodeError:  # PyIceberg 0.12.0 makes half a surrogate of U+D7FF where it cuts an upper bound there
        theirs = None
    problems = []
    if ours["record-count"] != count:
        problems.append(f"{ours['record-count']} records of {count}")
    if set(maps["column-sizes"]) != {*(f.field_id for f in columns if f.field_id < 100), 102, 103, 105}:
        problems.append(f"column sizes of {sorted(maps['column-sizes'])}")
    leaves = [(f.field_id, f.field_type, data[f.name], True) for f in columns if f.field_id < 100]
    leaves += [(leaf.field_id, leaf.field_type, [None if v is None else v[leaf.name] for v in data["s"]], False)
               for leaf in columns[-2].field_type.fields]
    wants_bounds = mode != "counts"
    for field_id, kind, values, is_top in leaves:
        what = f"column {field_id}, {kind}, mode {mode}"
        present = [key(v) for v in values if v is not None and key(v) is not None]
        counts = [maps["value-counts"].get(field_id), maps["null-value-counts"].get(field_id)]
        if counts != [count, sum(1 for v in values if v is None)]:
            problems.append(f"{what}: counts {counts}")
        if isinstance(kind, (FloatType, DoubleType)) and count:
            nans = sum(1 for v in values if isinstance(v, float) and math.isnan(v))
            if maps["nan-value-counts"].get(field_id) != nans:
                problems.append(f"{what}: {maps['nan-value-counts'].get(field_id)} NaN of {nans}")
        lower, upper = (None if maps[name].get(field_id) is None else bytes.fromhex(maps[name][field_id]) for name in ("lower-bounds", "upper-bounds"))
        if (not present or not wants_bounds) and (lower is not None or upper is not None):
            problems.append(f"{what}: bounds of nothing")
        for bound, is_lower in ((lower, True), (upper, False)):
            if bound is None or not present:
                continue
            value = key(from_bytes(kind, bound))
            extreme = min(present) if is_lower else max(present)
            if isinstance(kind, FloatType):
                extreme = key(from_bytes(kind, pa.array([extreme], pa.float32()).buffers()[1].to_pybytes()[:4]))
            if value > extreme if is_lower else value < extreme:
                problems.append(f"{what}: {'lower' if is_lower else 'upper'} bound {value!r} of {extreme!r}")
        if not is_top or isinstance(kind, (UUIDType, FixedType)) or theirs is None:
            continue
        for name, bound, their in (("lower", lower, theirs["lower_bounds"].get(field_id)), ("upper", upper, theirs["upper_bounds"].get(field_id))):
            same = bound == their
            if isinstance(kind, (FloatType, DoubleType)) and bound is not None and their is not None:
                same = from_bytes(kind, bound) == from_bytes(kind, their)  # the sign of zero
            if not same and not known_difference(kind, mode, name, bound, their):
                problems.append(f"{what}: {name} bound {bound!r}, PyIceberg {their!r}")
    return problems


def known_difference(kind, mode, name, bound, their):
    return False


def main():
    program = os.path.abspath(arguments[0])
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds.chosen(arguments[1:], at_least=15, per_second=0.5):
            problems = check(program, seed, folder)
            failed += bool(problems)
            print("FAIL" if problems else "ok  ", "seed", seed)
            for text in problems[:5]:
                print("     ", text[:600])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
