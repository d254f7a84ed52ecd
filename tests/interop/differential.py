"""PyIceberg writes generated tables (SQLite catalog, evolution, v1 and v2, partitions, nested columns), Frazil must read
the same rows.

usage: differential.py [SEED ...]      without seeds: those of tests/seeds.py

For each table: all rows, a selection of columns and of nested fields, every snapshot, rows by filters (as a Python
evaluation of them over PyIceberg's rows, and PyIceberg's own filters, have them), and equal text in task order for
several numbers of threads, budgets and batch sizes. A failure prints its seed and keeps the table.
"""

import datetime
import decimal
import json
import math
import os
import random
import re
import shutil
import string
import subprocess
import sys
import tempfile
import traceback
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import seeds
from canonical import canonical, from_json, sort_rows

try:
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import (BucketTransform, DayTransform, HourTransform, IdentityTransform, MonthTransform,
                                      TruncateTransform, YearTransform)
    from pyiceberg import expressions
    from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, DoubleType, FixedType, FloatType,
                                 IntegerType, ListType, LongType, MapType, NestedField, StringType, StructType, TimestampType,
                                 TimestamptzType, TimeType, UUIDType)
except ImportError as error:
    print(f"skipped: {error}; the Python oracles are not installed")
    sys.exit(77)

FRAZIL = os.environ["FRAZIL"]
EPOCH = datetime.datetime(1970, 1, 1)


def random_type(r):
    return r.choice([BooleanType(), IntegerType(), LongType(), FloatType(), DoubleType(), DateType(), TimeType(),
                     TimestampType(), TimestamptzType(), StringType(), BinaryType(), UUIDType(),
                     FixedType(r.randint(1, 20)), DecimalType(*r.choice([(5, 2), (9, 0), (15, 4), (18, 18), (19, 2), (38, 10)]))])


def nested_type(r, depth=1):
    """Without UUIDs, which PyIceberg's arrays do not nest. PyIceberg numbers the fields anew."""
    def inner():
        if depth < 3 and r.random() < 0.4:
            return nested_type(r, depth + 1)
        while isinstance(kind := random_type(r), UUIDType):
            pass
        return kind
    form = r.choice(["struct", "struct", "list", "map"])
    number = lambda: r.randint(1000, 10**9)
    if form == "list":
        return ListType(number(), inner(), element_required=r.random() < 0.2)
    if form == "map":
        return MapType(number(), r.choice([StringType(), IntegerType()]), number(), inner(), value_required=r.random() < 0.2)
    taken = set()
    return StructType(*[NestedField(number(), nested_name(r, taken), inner(), required=r.random() < 0.2) for _ in range(r.randint(1, 4))])


def nested_name(r, taken):
    while True:
        name = random_name(r, taken)
        if name.isidentifier() and name.isascii():
            return name  # PyIceberg fails on lists of structs whose names Avro would not have


def random_value(r, kind, partitioned=False):
    def inner(kind, required):
        return None if not required and r.random() < 0.2 else random_value(r, kind)
    if isinstance(kind, StructType):
        return {field.name: inner(field.field_type, field.required) for field in kind.fields}
    if isinstance(kind, ListType):
        return [inner(kind.element_type, kind.element_required) for _ in range(r.choice([0, 1, 2, 5]))]
    if isinstance(kind, MapType):
        keys = {random_value(r, kind.key_type) for _ in range(r.choice([0, 1, 3]))}
        return [(key, inner(kind.value_type, kind.value_required)) for key in sorted(keys)]
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
        if isinstance(kind, (StructType, ListType, MapType)):
            continue
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


def structs_in(fields, path=()):
    """(path, struct) of each struct below the fields."""
    for field in fields:
        if "." in field.name:
            continue  # PyIceberg takes the dot for a path
        kind, here = field.field_type, (*path, field.name)
        while isinstance(kind, (ListType, MapType)):
            here = (*here, "element" if isinstance(kind, ListType) else "value")
            kind = kind.element_type if isinstance(kind, ListType) else kind.value_type
        if isinstance(kind, StructType):
            yield here, kind
            yield from structs_in(kind.fields, here)


def evolve_nested(r, table):
    """One random change of a field of a struct, in lists and maps too."""
    structs = list(structs_in(table.schema().fields))
    if not structs:
        return
    path, struct = r.choice(structs)
    taken = {field.name.lower() for field in struct.fields}
    field = r.choice(struct.fields)
    here = (*path, field.name)
    kind = field.field_type
    with table.update_schema() as update:
        action = r.choice(["add", "add", "drop", "drop", "rename", "promote", "optional", "move"])
        if action == "add":
            added = nested_type(r, 2) if r.random() < 0.3 else random_type(r)
            update.add_column((*path, nested_name(r, taken)), StringType() if isinstance(added, UUIDType) else added)
        elif action == "drop" and len(struct.fields) > 1:
            update.delete_column(here)
        elif action == "rename":
            update.rename_column(here, nested_name(r, taken))
        elif action == "promote" and isinstance(kind, IntegerType):
            update.update_column(here, LongType())
        elif action == "promote" and isinstance(kind, FloatType):
            update.update_column(here, DoubleType())
        elif action == "promote" and isinstance(kind, DecimalType) and kind.precision < 38:
            update.update_column(here, DecimalType(kind.precision + 1, kind.scale))
        elif action == "optional" and field.required:
            update.make_column_optional(here)
        elif action == "move":
            update.move_first(here)


# -- filters: (text, function of a row that gives True, False or None for unknown, PyIceberg's expression or None)

COMPARISONS = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
               ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
PYICEBERG = {"=": expressions.EqualTo, "!=": expressions.NotEqualTo, "<": expressions.LessThan,
             "<=": expressions.LessThanOrEqual, ">": expressions.GreaterThan, ">=": expressions.GreaterThanOrEqual}


def testable_columns(fields, path=()):
    """(path, type) of what filters can name: columns, and fields of structs outside of lists and maps."""
    for field in fields:
        yield (*path, field.name), field.field_type
        if isinstance(field.field_type, StructType):
            yield from testable_columns(field.field_type.fields, (*path, field.name))


def value_at(row, path):
    for name in path:
        row = None if row is None else row[name]
    return row


def literal_text(value):
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


def random_test(r, columns, rows):
    path, kind = r.choice(columns)
    column = ".".join('"' + name.replace('"', '""') + '"' for name in path)
    comparable = isinstance(kind, (BooleanType, IntegerType, LongType, DateType, StringType, DecimalType))
    values = [value for value in (value_at(row, path) for row in r.sample(rows, min(len(rows), 30))) if value is not None]
    values = [value for value in values if not isinstance(value, str) or value.isprintable()] if comparable else []
    if not comparable or not values or r.random() < 0.2:
        negated = r.random() < 0.5
        expression = None
        if len(path) == 1 and "." not in path[0] and not isinstance(kind, (StructType, ListType, MapType)):
            expression = (expressions.NotNull if negated else expressions.IsNull)(path[0])
        return f"{column} IS {'NOT ' if negated else ''}NULL", lambda row: (value_at(row, path) is None) != negated, expression
    if r.random() < 0.2:
        chosen = [r.choice(values) for _ in range(r.randint(1, 4))]
        text = f"{column} IN ({', '.join(literal_text(value) for value in chosen)})"
        return text, lambda row: None if value_at(row, path) is None else value_at(row, path) in chosen, None
    sign = r.choice(["=", "!="] if isinstance(kind, BooleanType) else list(COMPARISONS))
    value = r.choice(values)

    def test(row):
        left = value_at(row, path)
        if left is None:
            return None
        return COMPARISONS[sign](*(item.encode() if isinstance(item, str) else item for item in (left, value)))

    # PyIceberg's filters compare text and numbers as Frazil's do.
    expression = None
    if len(path) == 1 and "." not in path[0] and isinstance(kind, (IntegerType, LongType, StringType)):
        expression = PYICEBERG[sign](path[0], value)
    return f"{column} {sign} {literal_text(value)}", test, expression


def random_filter(r, columns, rows, depth=2):
    if depth == 0 or r.random() < 0.4:
        return random_test(r, columns, rows)
    if r.random() < 0.2:
        text, test, _ = random_filter(r, columns, rows, depth - 1)
        return f"NOT ({text})", lambda row: None if test(row) is None else not test(row), None
    parts = [random_filter(r, columns, rows, depth - 1) for _ in range(2)]
    deciding = r.random() < 0.5  # OR

    def combined(row):
        results = [test(row) for _, test, _ in parts]
        return deciding if deciding in results else None if None in results else not deciding

    return f"({parts[0][0]}) {'OR' if deciding else 'AND'} ({parts[1][0]})", combined, None


def check_filters(r, table, arrow, common, schema):
    if arrow.num_rows == 0:
        return
    rows = arrow.to_pylist()
    canonical_rows = [[canonical(uuid.UUID(bytes=value) if isinstance(kind, UUIDType) and isinstance(value, bytes) else value)
                       for value, kind in zip(row.values(), [field.field_type for field in schema.fields])] for row in rows]
    columns = list(testable_columns(schema.fields))
    for _ in range(4):
        text, test, expression = random_filter(r, columns, rows)
        wanted = sort_rows([texts for row, texts in zip(rows, canonical_rows) if test(row) is True])
        options = r.choice([(), ("--threads", "3"), ("--memory", "4MiB"), ("--batch-rows", "7"), ("--order", "arrival")])
        ours = frazil_rows(run(["scan", *common, "--where", text, *options]), schema)
        check_equal(f"where {text} {options}", ours, wanted)
        if expression is not None:
            check_equal(f"where {text}, by PyIceberg", ours,
                        expected_rows(theirs(lambda: table.scan(row_filter=expression).to_arrow())))


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


MEMORY_NEEDED = re.compile(r"the scan needs (\d+) bytes to go on, of a budget of (\d+) bytes")


def run(arguments):
    """What frazil prints. A scan that says that it needs more than its budget gets what it asks for: that must be more than
    it had, and no more than any of these tables can take."""
    result = subprocess.run([FRAZIL, *arguments], capture_output=True, timeout=120)
    if result.returncode == 9 and "--memory" in arguments:
        needed, budget = map(int, MEMORY_NEEDED.search(result.stderr.decode()).groups())
        if budget < needed < 48 << 20:
            at = arguments.index("--memory") + 1
            return run([*arguments[:at], str(needed), *arguments[at + 1:]])
    if result.returncode != 0:
        raise AssertionError(f"{arguments}: exit code {result.returncode}: {result.stderr.decode(errors='replace')}")
    return result.stdout


def frazil_rows(text, schema):
    rows = []
    kinds = [field["type"] for field in json.loads(schema.model_dump_json())["fields"]]
    for line in text.decode().splitlines():
        row = json.loads(line)
        if list(row) != [field.name for field in schema.fields]:
            raise AssertionError(f"columns {list(row)} instead of {[field.name for field in schema.fields]}")
        rows.append([from_json(kind, row[field.name]) for kind, field in zip(kinds, schema.fields)])
    return sort_rows(rows)


def check_equal(what, ours, theirs):
    if ours != theirs:
        first = next((pair for pair in zip(ours, theirs) if pair[0] != pair[1]), None)
        raise AssertionError(f"{what}: {len(ours)} rows, PyIceberg {len(theirs)}; first difference {first}")


class Unsupported(Exception):
    """PyIceberg cannot do it."""


def theirs(work):
    try:
        return work()
    except (pa.ArrowException, ValueError, NotImplementedError) as error:
        raise Unsupported(f"PyIceberg: {error}") from error


def run_seed(seed, folder):
    r = random.Random(seed)
    uri = f"sqlite:///{folder}/catalog.db"
    catalog = SqlCatalog("default", uri=uri, warehouse=f"file://{folder}/ware house%20")
    catalog.create_namespace("ns")
    taken = set()
    share = r.choice([0, 0.3, 0.7])
    kinds = [nested_type(r) if r.random() < share else random_type(r) for _ in range(r.randint(1, 8))]
    fields = [NestedField(i + 1, random_name(r, taken), kind, required=r.random() < 0.2) for i, kind in enumerate(kinds)]
    schema = Schema(*fields)
    properties = {
        "format-version": r.choice(["1", "2"]),
        "write.parquet.compression-codec": r.choice(["zstd", "snappy", "gzip", "uncompressed", "brotli", "lz4"]),
        "write.parquet.page-size-bytes": r.choice(["64", "1024", "1048576"]),
        # With many leaves the footer of thousands of row groups would be larger than the smallest budget below.
        "write.parquet.row-group-limit": r.choice(["100" if share > 0 else "10", "1000", "1048576"]),
        "write.parquet.dict-size-bytes": r.choice(["64", "2097152"]),
        "write.metadata.compression-codec": r.choice(["none", "gzip"]),
    }
    table = catalog.create_table("ns.t", schema, partition_spec=random_spec(r, schema), properties=properties)
    taken = {field.name.lower() for field in table.schema().fields}
    for _ in range(r.randint(1, 5)):
        if r.random() < 0.4:
            evolve(r, table, taken)
        while r.random() < 0.6 * share:
            evolve_nested(r, table)
        if r.random() < 0.85:
            rows = random_rows(r, table.schema(), bool(table.spec().fields))
            theirs(lambda: table.append(rows))
        elif r.random() < 0.5:
            rows = random_rows(r, table.schema(), bool(table.spec().fields))
            theirs(lambda: table.overwrite(rows))
    common = ["ns.t", "--uri", uri, "--format", "json"]
    schema = table.schema()
    text = run(["scan", *common])
    whole = theirs(lambda: table.scan().to_arrow())
    check_equal("all rows", frazil_rows(text, schema), expected_rows(whole))
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
        check_equal(f"columns {chosen}", ours, expected_rows(whole.select(chosen)))
    # Of lists and maps PyIceberg selects no parts.
    nested = [".".join(path) for path, kind in testable_columns(schema.fields)
              if len(path) > 1 and not isinstance(kind, (ListType, MapType)) and not any("." in name or "," in name for name in path)]
    if nested:
        path = r.choice(nested)
        part = table.scan(selected_fields=(path,))
        ours = run(["scan", *common, "--select", path])
        check_equal(f"field {path}", frazil_rows(ours, part.projection()), expected_rows(theirs(part.to_arrow)))
    check_filters(r, table, whole, common, schema)
    for snapshot in table.snapshots():
        scan = table.scan(snapshot_id=snapshot.snapshot_id)
        ours = run(["scan", *common, "--snapshot", str(snapshot.snapshot_id)])
        check_equal(f"snapshot {snapshot.snapshot_id}", frazil_rows(ours, scan.projection()), expected_rows(theirs(scan.to_arrow)))
    return len(text.splitlines()), len(table.snapshots())


def main():
    done = failed = unsupported = rows = 0
    for seed in seeds.chosen(sys.argv[1:], at_least=5, per_second=0.8):
        folder = tempfile.mkdtemp(prefix="frazil-differential-")
        try:
            count, snapshots = run_seed(seed, folder)
            rows += count
            shutil.rmtree(folder)
        except Unsupported as error:
            unsupported += 1
            print(f"none  seed {seed}: {str(error)[:200]}")
            shutil.rmtree(folder, ignore_errors=True)  # PyIceberg's other threads may still be writing files there
        except Exception as error:
            failed += 1
            print(f"FAIL  seed {seed}: {error}\n      kept in {folder}; again: differential.py {seed}")
            if not isinstance(error, AssertionError):
                traceback.print_exc()
            if failed >= 5:
                break
        done += 1
    print(f"{done} generated tables, {rows} rows, {unsupported} that PyIceberg cannot write or read, {failed} failed")
    sys.exit(1 if failed or unsupported > done // 3 else 0)


if __name__ == "__main__":
    main()
