"""Frazil and PyIceberg append the same rows to two tables of one definition; both must then hold the same rows in the same
partitions.

usage: partitions.py FRAZIL_APPEND_FILE [SEED ...]   without seeds: those of tests/seeds.py

Compared for each table: the rows as PyIceberg reads them, the content hash of Frazil's own scan of both, the partition
tuples with their row counts, and for every file of Frazil's that its manifest's counts are those of the file.
"""

import collections
import datetime
import decimal
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import seeds

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import (BucketTransform, DayTransform, HourTransform, IdentityTransform, MonthTransform,
                                      TruncateTransform, YearTransform)
    from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, DoubleType, FixedType, FloatType,
                                 IntegerType, ListType, LongType, MapType, NestedField, StringType, StructType,
                                 TimestampType, TimestamptzType, TimeType)
except ImportError as error:
    print(f"skipped: {error}; the Python oracles are not installed")
    sys.exit(77)

UTC = datetime.timezone.utc
COLUMNS = [
    ("id", LongType()), ("flag", BooleanType()), ("i", IntegerType()), ("l", LongType()), ("f", FloatType()),
    ("d", DoubleType()), ("dec", DecimalType(9, 2)), ("wide", DecimalType(38, 10)), ("day", DateType()),
    ("clock", TimeType()), ("ts", TimestampType()), ("tz", TimestamptzType()), ("text", StringType()),
    ("raw", BinaryType()), ("fix", FixedType(5)),
    ("tags", ListType(100, StringType(), False)), ("props", MapType(101, StringType(), 102, LongType(), False)),
    ("point", StructType(NestedField(103, "x", IntegerType()), NestedField(104, "name", StringType()))),
]
# Floats partition by bits with one NaN (spec::same_partition); what PyIceberg does with -0.0 is its own affair.
INTEGERS = {"i", "l", "dec", "wide", "text"}
TIMES = {"ts", "tz"}


def transforms(name):
    if name in ("f", "d", "tags", "props", "point"):
        return []
    found = [IdentityTransform()]
    if name != "flag":
        found.append(BucketTransform(7))
    if name in INTEGERS or name == "raw":
        found.append(TruncateTransform(3))
    if name in TIMES or name == "day":
        found += [YearTransform(), MonthTransform(), DayTransform()]
    if name in TIMES:
        found.append(HourTransform())
    return found


def value(r, name, row):
    if name == "id":
        return row
    if r.random() < 0.1:
        return None
    few = r.random() < 0.8
    if name == "flag":
        return r.random() < 0.5
    if name == "i":
        return r.randint(-5, 5) if few else r.randint(-2**31 + 10, 2**31 - 1)
    if name == "l":
        return r.randint(-5, 5) if few else r.randint(-2**63 + 10, 2**63 - 1)
    if name in ("f", "d"):
        return r.choice([0.0, -0.0, 1.5, math.nan, -2.25, math.inf])
    if name == "dec":
        return decimal.Decimal(r.randint(-500, 500)).scaleb(-2)
    if name == "wide":
        return decimal.Decimal(r.randint(-10**6, 10**6) * 10**20 + r.randint(0, 9)).scaleb(-10)
    if name == "day":
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=r.randint(-40, 40))
    if name == "clock":
        return datetime.time(r.randint(0, 3), 0, 0, r.randint(0, 2))
    if name in TIMES:
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(hours=r.randint(-60, 60), microseconds=r.randint(-1, 1))
        return moment.replace(tzinfo=UTC) if name == "tz" else moment
    if name == "text":
        return r.choice(["", "a", "abcd", "abce", "x/y=z", "\u00e9\u00e8\u00ea\u00eb", "\U0001f9ca\U0001f9ca", "null", " "])
    if name == "raw":
        return bytes(r.randint(0, 1) * 255 for _ in range(r.randint(0, 4)))
    if name == "fix":
        return bytes(r.randint(0, 1) for _ in range(5))
    if name == "tags":
        return [r.choice(["a", "b", None]) for _ in range(r.randint(0, 3))]
    if name == "props":
        return [(key, r.choice([1, 2, None])) for key in r.sample("abc", r.randint(0, 3))]
    return {"x": r.choice([1, 2, None]), "name": r.choice(["n", None])}


def tuples(table):
    counts = collections.Counter()
    for task in table.scan().plan_files():
        record = task.file.partition
        counts[tuple(repr(record[i]) for i in range(len(record)))] += task.file.record_count
    return counts


def check_counts(table, folder):
    """Each file's metrics are those of its rows."""
    fields = {field.field_id: field.name for field in table.schema().fields}
    for task in table.scan().plan_files():
        rows = pq.read_table(task.file.file_path.removeprefix("file://"))
        assert rows.num_rows == task.file.record_count, task.file.file_path
        for field_id, nulls in (task.file.null_value_counts or {}).items():
            if field_id in fields:
                assert rows[fields[field_id]].null_count == nulls, (fields[field_id], task.file.file_path)
        for field_id, nans in (task.file.nan_value_counts or {}).items():
            got = sum(1 for v in rows[fields[field_id]].to_pylist() if v is not None and math.isnan(v))
            assert got == nans, (fields[field_id], task.file.file_path)


def run(seed, program):
    r = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="frazil-partitions-")
    schema = Schema(*(NestedField(i + 1, name, kind) for i, (name, kind) in enumerate(COLUMNS)))
    spec_fields = []
    for name in r.sample([name for name, _ in COLUMNS if transforms(name)], r.randint(1, 3)):
        transform = r.choice(transforms(name))
        source = schema.find_field(name).field_id
        spec_fields.append(PartitionField(source, 1000 + len(spec_fields), transform, f"p {len(spec_fields)}/{name}"))
    spec = PartitionSpec(*spec_fields)
    catalog = SqlCatalog("default", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("n")
    version = str(r.choice([1, 2]))
    theirs = catalog.create_table("n.theirs", schema, partition_spec=spec, properties={"format-version": version})
    ours = catalog.create_table("n.ours", schema, partition_spec=spec, properties={"format-version": version})
    names = [field.name for field in theirs.schema().fields]
    arrow = theirs.schema().as_arrow()
    total = r.choice([1, 100, 400])  # PyIceberg takes 5 ms a file
    rows = [{name: value(r, name, row) for name in names} for row in range(total)]
    data = pa.Table.from_pylist(rows, schema=arrow)
    try:
        theirs.append(data)
    except (ValueError, AttributeError) as error:
        # Its transforms do not take every type that the specification allows, and buckets of times it takes for times.
        if "FeatureUnsupported" not in str(error) and "'int' object has no attribute 'hour'" not in str(error):
            raise
        # Its other threads may still be writing files of this table.
        shutil.rmtree(folder, ignore_errors=True)
        return f"not compared, PyIceberg: {error}"
    pq.write_table(data, f"{folder}/rows.parquet")

    def frazil(table, file):
        command = [program, f"{folder}/catalog.db", table, file, str(r.choice([100, 100_000])),
                   str(r.choice([20_000, 10_000_000]))]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, (command, result.stderr)
        return result.stdout

    appended = frazil("n.ours", f"{folder}/rows.parquet")
    ours = catalog.load_table("n.ours")
    description = ", ".join(f"{f.transform}({schema.find_field(f.source_id).name})" for f in spec.fields)
    assert tuples(ours) == tuples(theirs), f"partitions differ: {tuples(ours) - tuples(theirs)} {tuples(theirs) - tuples(ours)}"
    assert frazil("n.theirs", "-") == appended, "Frazil reads other rows from PyIceberg's table"
    left = ours.scan().to_arrow().sort_by("id").to_pylist()
    right = theirs.scan().to_arrow().sort_by("id").to_pylist()
    assert [repr(row) for row in left] == [repr(row) for row in right], "PyIceberg reads other rows"
    check_counts(ours, folder)
    assert ours.current_snapshot().summary["added-records"] == str(total)
    partition_count = len(tuples(ours))
    shutil.rmtree(folder)
    return f"v{version}, {total} rows by {description}: {partition_count} partitions"


def main():
    program = sys.argv[1]
    done = 0
    for seed in seeds.chosen(sys.argv[2:], at_least=4, per_second=0.5):
        try:
            print(f"seed {seed}: {run(seed, program)}", flush=True)
        except Exception:
            print(f"seed {seed} failed", flush=True)
            raise
        done += 1
    print(f"{done} tables are equal")


main()
