"""PyIceberg writes generated tables (SQLite catalog, evolution, v1 and v2, partitions), Frazil must read the same rows.

usage: differential.py [SEED ...]      runs those seeds; else seeds from FRAZIL_SEED (default: today's) on for
                                       FRAZIL_TEST_SECONDS (default 30), at least 5

For each table: all rows, a selection of columns, every snapshot, and equal text in task order for several numbers of
threads, budgets and batch sizes. A failure prints its seed and keeps the table.
"""

import datetime
import decimal
import json
import math
import os
import random
import shutil
import string
import subprocess
import sys
import tempfile
import time
import traceback
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from canonical import canonical, from_json, sort_rows

try:
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import (BucketTransform, DayTransform, HourTransform, IdentityTransform, MonthTransform,
                                      TruncateTransform, YearTransform)
    from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, DoubleType, FixedType, FloatType,
                                 IntegerType, LongType, NestedField, StringType, TimestampType, TimestamptzType, TimeType,
                                 UUIDType)
except ImportError as error:
    print(f"skipped: {error}; the Python oracles are not installed")
    sys.exit(77)

FRAZIL = os.environ["FRAZIL"]
EPOCH = datetime.datetime(1970, 1, 1)


def random_type(r):
    return r.choice([BooleanType(), IntegerType(), LongType(), FloatType(), DoubleType(), DateType(), TimeType(),
                     TimestampType(), TimestamptzType(), StringType(), BinaryType(), UUIDType(),
                     FixedType(r.randint(1, 20)), DecimalType(*r.choice([(5, 2), (9, 0), (15, 4), (18, 18), (19, 2), (38, 10)]))])


def random_value(r, kind, partitioned=False):
    if isinstance(kind, BooleanType):
        return r.random() < 0.5
    if isinstance(kind, IntegerType):
        return r.choice([0, -1, 2**31 - 1, -(2**31), r.randint(-100, 100), r.randint(-(2**31), 2**31 - 1)])
    if isinstance(kind, LongType):
        return r.choice([0, -1, 2**63 - 1, -(2**63), r.randint(-100, 100), r.randint(-(2**63), 2**63 - 1)])
    if isinstance(kind, (FloatType, DoubleType)):
        value = r.choice([0.0, -0.0, math.nan, math.inf, -math.inf, 1.5, r.uniform(-1e6, 1e6), r.uniform(-1, 1) * 1e-30])
        return value
    if isinstance(kind, DecimalType):
        digits = r.randint(1, kind.precision)
        return decimal.Decimal(r.choice([0, 1, -1, 10**digits - 1, -(10**digits) + 1, r.randint(0, 10**digits - 1)])).scaleb(
            -kind.scale, decimal.Context(prec=60))
    if isinstance(kind, DateType):
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=r.choice([0, -1, r.randint(-700000, 2900000), r.randint(-400, 20000)]))
    if isinstance(kind, TimeType):
        return (EPOCH + datetime.timedelta(microseconds=r.choice([0, 86_399_999_999, r.randint(0, 86_399_999_999)]))).time()
    if isinstance(kind, (TimestampType, TimestamptzType)):
        micros = r.choice([0, -1, r.randint(-62_000_000_000_000_000, 250_000_000_000_000_000), r.randint(0, 1_800_000_000_000_000)])
        value = EPOCH + datetime.timedelta(microseconds=micros)
        return value.replace(tzinfo=datetime.timezone.utc) if isinstance(kind, TimestamptzType) else value
    if isinstance(kind, StringType):
        alphabet = string.printable + "äöü日本語😀\u0000\"\\,\n"
        return "".join(r.choice(alphabet) for _ in range(r.choice([0, 1, 3, 12] if partitioned else [0, 1, 3, 12, 13, 16, 40, 300])))
    if isinstance(kind, BinaryType):
        return r.randbytes(r.choice([0, 1, 7, 16, 100]))
    if isinstance(kind, UUIDType):
        return uuid.UUID(bytes=r.randbytes(16)).bytes
    if isinstance(kind, FixedType):
        return r.randbytes(len(kind))
    raise TypeError(kind)


def random_rows(r, schema, partitioned):
    """An Arrow table for the schema: distinct or repeating values, nulls where they are allowed."""
    count = r.choice([0, 1, 7, 100]) if partitioned else r.choice([0, 1, 2, 63, 64, 65, 1000, r.randint(1, 20000)])
    columns = []
    arrow_schema = schema.as_arrow()
    for field, arrow_field in zip(schema.fields, arrow_schema):
        pool = [random_value(r, field.field_type, partitioned) for _ in range(r.choice([1, 3, 20, 300]))]
        nulls = 0 if field.required else r.choice([0, 0, 0.1, 0.5, 1])
        runs = r.random() < 0.3
        values = []
        while len(values) < count:
            value = None if r.random() < nulls else r.choice(pool)
            values += [value] * (r.randint(1, 200) if runs else 1)
        storage = pa.array(values[:count], pa.binary(16)) if isinstance(field.field_type, UUIDType) else None
        if storage is not None:
            columns.append(pa.ExtensionArray.from_storage(pa.uuid(), storage) if arrow_field.type == pa.uuid() else storage)
        else:
            columns.append(pa.array(values[:count], arrow_field.type))
    return pa.Table.from_arrays(columns, schema=arrow_schema)


def random_spec(r, schema):
    fields = []
    for field in r.sample(list(schema.fields), min(len(schema.fields), r.choice([0, 0, 1, 2]))):
        kind = field.field_type
        if isinstance(kind, (FloatType, DoubleType)):
            continue  # PyIceberg cannot group by NaN
        choices = [IdentityTransform()]
        if isinstance(kind, (IntegerType, LongType, StringType)):
            choices += [BucketTransform(4), TruncateTransform(10)]
        if isinstance(kind, (TimestampType, TimestamptzType)):
            choices = [HourTransform(), DayTransform(), MonthTransform(), YearTransform()]
        if isinstance(kind, DateType):
            choices += [DayTransform(), MonthTransform(), YearTransform()]
        if isinstance(kind, (BinaryType, UUIDType, FixedType, TimeType, DecimalType)):
            continue
        fields.append(PartitionField(field.field_id, 1000 + len(fields), r.choice(choices), f"p{len(fields)}_{field.field_id}"))
    return PartitionSpec(*fields)


def random_name(r, taken):
    while True:
        name = r.choice(["a", "b", "id", "Value", "with space", "dot.ted", "ünïcode", "x:y", "1st", "select"]) + r.choice(["", "1", "_2"])
        if name.lower() not in taken:
            taken.add(name.lower())
            return name


def evolve(r, table, taken):
    """One random schema change that PyIceberg allows."""
    fields = list(table.schema().fields)
    partition_sources = {field.source_id for spec in table.specs().values() for field in spec.fields}
    with table.update_schema() as update:
        action = r.choice(["add", "add", "drop", "rename", "promote", "optional", "move"])
        field = r.choice(fields)
        if action == "add":
            update.add_column((random_name(r, taken),), random_type(r))
        elif action == "drop" and len(fields) > 1 and field.field_id not in partition_sources:
            update.delete_column((field.name,))
        elif action == "rename":
            update.rename_column((field.name,), random_name(r, taken))
        elif action == "promote":
            if isinstance(field.field_type, IntegerType) and field.field_id not in partition_sources:
                update.update_column((field.name,), LongType())
            elif isinstance(field.field_type, FloatType):
                update.update_column((field.name,), DoubleType())
            elif isinstance(field.field_type, DecimalType) and field.field_type.precision < 38:
                update.update_column((field.name,), DecimalType(field.field_type.precision + 1, field.field_type.scale))
        elif action == "optional" and field.required:
            update.make_column_optional((field.name,))
        elif action == "move":
            update.move_first((field.name,))


def expected_rows(arrow):
    columns = []
    for column in arrow.columns:
        kind = column.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind):
            columns.append([canonical(value) for value in column.to_pylist()])
        elif isinstance(kind, pa.ExtensionType):
            columns.append([canonical(value if value is None or isinstance(value, uuid.UUID) else uuid.UUID(bytes=value)) for value in column.to_pylist()])
        else:
            columns.append([canonical(value) for value in column.to_pylist()])
    return sort_rows([list(row) for row in zip(*columns)]) if columns else []


def run(arguments):
    result = subprocess.run([FRAZIL, *arguments], capture_output=True, timeout=120)
    if result.returncode != 0:
        raise AssertionError(f"{arguments}: exit code {result.returncode}: {result.stderr.decode(errors='replace')}")
    return result.stdout


def frazil_rows(text, schema):
    rows = []
    for line in text.decode().splitlines():
        row = json.loads(line)
        if list(row) != [field.name for field in schema.fields]:
            raise AssertionError(f"columns {list(row)} instead of {[field.name for field in schema.fields]}")
        rows.append([from_json(str(field.field_type), row[field.name]) for field in schema.fields])
    return sort_rows(rows)


def check_equal(what, ours, theirs):
    if ours != theirs:
        first = next((pair for pair in zip(ours, theirs) if pair[0] != pair[1]), None)
        raise AssertionError(f"{what}: {len(ours)} rows, PyIceberg {len(theirs)}; first difference {first}")


def run_seed(seed, folder):
    r = random.Random(seed)
    uri = f"sqlite:///{folder}/catalog.db"
    catalog = SqlCatalog("default", uri=uri, warehouse=f"file://{folder}/ware house%20")
    catalog.create_namespace("ns")
    taken = set()
    fields = [NestedField(i + 1, random_name(r, taken), random_type(r), required=r.random() < 0.2) for i in range(r.randint(1, 8))]
    schema = Schema(*fields)
    properties = {
        "format-version": r.choice(["1", "2"]),
        "write.parquet.compression-codec": r.choice(["zstd", "snappy", "gzip", "uncompressed", "brotli", "lz4"]),
        "write.parquet.page-size-bytes": r.choice(["64", "1024", "1048576"]),
        "write.parquet.row-group-limit": r.choice(["10", "1000", "1048576"]),
        "write.parquet.dict-size-bytes": r.choice(["64", "2097152"]),
        "write.metadata.compression-codec": r.choice(["none", "gzip"]),
    }
    table = catalog.create_table("ns.t", schema, partition_spec=random_spec(r, schema), properties=properties)
    taken = {field.name.lower() for field in table.schema().fields}
    for _ in range(r.randint(1, 5)):
        if r.random() < 0.4:
            evolve(r, table, taken)
        if r.random() < 0.85:
            table.append(random_rows(r, table.schema(), bool(table.spec().fields)))
        elif r.random() < 0.5:
            table.overwrite(random_rows(r, table.schema(), bool(table.spec().fields)))
    common = ["ns.t", "--uri", uri, "--format", "json"]
    schema = table.schema()
    text = run(["scan", *common])
    check_equal("all rows", frazil_rows(text, schema), expected_rows(table.scan().to_arrow()))
    for options in (["--threads", "1"], ["--threads", "8"], ["--memory", "4MiB"], ["--memory", "64MiB", "--threads", "2"],
                    ["--batch-rows", "7", "--threads", "3"], ["--order", "sequential"]):
        if run(["scan", *common, *options]) != text:
            raise AssertionError(f"the text in task order differs with {options}")
    csv = run(["scan", *common[:-1], "csv", "--threads", "1"])
    if run(["scan", *common[:-1], "csv", "--threads", "8", "--memory", "8MiB"]) != csv:
        raise AssertionError("the CSV text in task order differs with the threads")
    arrival = frazil_rows(run(["scan", *common, "--order", "arrival"]), schema)
    check_equal("arrival order", arrival, frazil_rows(text, schema))
    names = [field.name for field in schema.fields]
    chosen = [name for name in r.sample(names, r.randint(1, len(names))) if "," not in name]
    if chosen:
        selected = schema.select(*chosen)
        ordered = Schema(*[selected.find_field(name) for name in chosen])
        ours = frazil_rows(run(["scan", *common, "--select", ",".join(chosen)]), ordered)
        check_equal(f"columns {chosen}", ours, expected_rows(table.scan(selected_fields=tuple(chosen)).to_arrow().select(chosen)))
    for snapshot in table.snapshots():
        theirs = table.scan(snapshot_id=snapshot.snapshot_id)
        ours = run(["scan", *common, "--snapshot", str(snapshot.snapshot_id)])
        check_equal(f"snapshot {snapshot.snapshot_id}", frazil_rows(ours, theirs.projection()), expected_rows(theirs.to_arrow()))
    return len(text.splitlines()), len(table.snapshots())


def main():
    if len(sys.argv) > 1:
        seeds = iter(int(text) for text in sys.argv[1:])
        deadline = math.inf
    else:
        first = int(os.environ.get("FRAZIL_SEED", datetime.date.today().strftime("%Y%m%d00000")))
        seeds = iter(range(first, first + 1_000))
        deadline = time.monotonic() + float(os.environ.get("FRAZIL_TEST_SECONDS", "30"))
    done = failed = rows = 0
    for seed in seeds:
        if done >= 5 and time.monotonic() > deadline:
            break
        folder = tempfile.mkdtemp(prefix="frazil-differential-")
        try:
            count, snapshots = run_seed(seed, folder)
            rows += count
            shutil.rmtree(folder)
        except Exception as error:
            failed += 1
            print(f"FAIL  seed {seed}: {error}\n      kept in {folder}; again: differential.py {seed}")
            if not isinstance(error, AssertionError):
                traceback.print_exc()
            if failed >= 5:
                break
        done += 1
    print(f"{done} generated tables, {rows} rows, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
