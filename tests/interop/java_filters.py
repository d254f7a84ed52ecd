"""Iceberg Java filters tables that Frazil wrote: it finds the rows that pyarrow finds among all rows, none is lost.

usage: java_filters.py [--fetch] [SEED ...]      without seeds: those of tests/seeds.py; --fetch gets what Java needs

Each seed makes one table with `frazil create` and `frazil load`: v1, v2 or v3, random columns of every type, partitions by
random transforms, several files of a few values each, so that bounds, dictionaries and Bloom filters prune; texts longer
than bounds are, with characters of several bytes where they are cut; NaN, infinities, both zeros; uuids whose signed order,
which is Java's, differs from the unsigned one. Java's order of values is restated here: NaN is the greatest, -0.0 < 0.0,
halves of a uuid are signed. Comparisons are joined with IS NOT NULL, for Java takes null for smaller than all values, and
ranges of floats with IS NOT NAN, for Java prunes them by bounds, in which no NaN counts.
"""
import datetime
import decimal
import glob
import json
import math
import os
import random
import shutil
import string
import subprocess
import sys
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import java_oracle
import seeds

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ImportError as error:
    print(f"skipped: {error}; the Python oracles are not installed")
    sys.exit(77)

FRAZIL = os.environ["FRAZIL"]
EPOCH = datetime.datetime(1970, 1, 1)
WIDE = decimal.Context(prec=60)

TYPES = {"flag": "boolean", "i": "int", "l": "long", "f": "float", "d": "double", "n9": "decimal(9, 2)", "n18": "decimal(18, 0)",
         "n38": "decimal(38, 10)", "day": "date", "tod": "time", "ts": "timestamp", "tz": "timestamptz", "s": "string",
         "b": "binary", "x": "fixed[5]", "u": "uuid", "ns": "timestamp_ns", "nz": "timestamptz_ns"}
ARROW = {"boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
         "decimal(9, 2)": pa.decimal128(9, 2), "decimal(18, 0)": pa.decimal128(18, 0), "decimal(38, 10)": pa.decimal128(38, 10),
         "date": pa.date32(), "time": pa.time64("us"), "timestamp": pa.timestamp("us"), "timestamptz": pa.timestamp("us", "UTC"),
         "string": pa.string(), "binary": pa.binary(), "fixed[5]": pa.binary(5), "uuid": pa.uuid(),
         "timestamp_ns": pa.timestamp("ns"), "timestamptz_ns": pa.timestamp("ns", "UTC")}
TIMESTAMPS = ("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")
NESTED = {"p.x": "long", "p.f": "double", "p.s": "string"}  # in a struct p


# ---- Values: numbers for dates and times, bytes for uuids ----

def value_of(r, kind):
    if kind == "boolean":
        return r.random() < 0.5
    if kind in ("int", "long"):
        end = 2 ** (31 if kind == "int" else 63)
        lowest = 100 - end  # truncate[100] has no value for lower ones
        return r.choice([0, -1, lowest, end - 1, r.randint(-50, 50), r.randint(lowest, end - 1)])
    if kind in ("float", "double"):
        value = r.choice([0.0, -0.0, math.nan, math.inf, -math.inf, 1.5, r.uniform(-9, 9), r.uniform(-1, 1) * 1e-30])
        return float(np.float32(value)) if kind == "float" else value
    if kind.startswith("decimal"):
        precision, scale = ARROW[kind].precision, ARROW[kind].scale
        digits = r.choice([1, 2, precision - 1])  # what truncation makes of the lowest values would have a digit more
        unscaled = r.choice([0, 10**precision - 1, 1 - 10**digits, r.randint(0, 10**digits - 1)])
        return decimal.Decimal(unscaled).scaleb(-scale, WIDE)
    if kind == "date":
        return r.choice([0, -1, r.randint(-400, 400), r.randint(-700_000, 2_900_000)])
    if kind == "time":
        return r.choice([0, 86_399_999_999, r.randint(0, 86_399_999_999)])
    if kind in TIMESTAMPS:
        micros = r.choice([0, -1, r.randint(-10**13, 10**13), r.randint(-9 * 10**15, 9 * 10**15)])
        return micros * 1000 + r.randint(0, 999) if kind.endswith("_ns") else micros
    if kind == "string":
        start = r.choice(["", "", "a" * 16, "a" * 15, "\u00e4" * 16, "\U0001f600" * 15, "\ud7ff" * 16, "\U0010ffff" * r.choice([1, 16, 17])])
        return start + "".join(r.choice(string.ascii_letters + "\u00e9\ue000\U0001f680\"\\%_") for _ in range(r.choice([0, 1, 2, 8])))
    if kind == "binary":
        return r.choice([b"", b"\xff" * 16, b"\xff" * 17, b"a" * 16, b"\x00"]) + r.randbytes(r.choice([0, 1, 3]))
    if kind == "uuid":
        return r.choice([b"\x10", b"\x20", b"\x90", b"\xff", r.randbytes(1)]) + r.choice([bytes(7), r.randbytes(7)]) + r.randbytes(8)
    return r.randbytes(5)


def array_of(kind, values):
    if kind == "uuid":
        return pa.ExtensionArray.from_storage(pa.uuid(), pa.array(values, pa.binary(16)))
    return pa.array(values, ARROW[kind])


def text_of(kind, value):
    """In the JSON of single values (spec, Appendix D)."""
    if kind in ("binary", "fixed[5]"):
        return value.hex().upper()
    if kind == "uuid":
        return str(uuid.UUID(bytes=value))
    if kind.startswith("decimal"):
        return format(value, "f")
    if kind == "date":
        return (EPOCH.date() + datetime.timedelta(days=value)).isoformat()
    if kind == "time":
        return (EPOCH + datetime.timedelta(microseconds=value)).time().isoformat(timespec="microseconds")
    if kind in TIMESTAMPS:
        whole, rest = divmod(value, 1000) if kind.endswith("_ns") else (value, None)
        text = (EPOCH + datetime.timedelta(microseconds=whole)).isoformat(timespec="microseconds")
        return text + (f"{rest:03}" if rest is not None else "") + ("+00:00" if "tz" in kind else "")
    return value


def keys_of(kind, column):
    """An array that pyarrow compares as Java compares the column's values."""
    if kind in ("float", "double"):
        numbers = column.cast(pa.float64()).fill_null(0).to_numpy().copy()
        numbers[np.isnan(numbers)] = np.nan  # all NaN are one
        bits = numbers.view(np.int64)
        return pa.array(bits ^ ((bits >> 63) & np.int64(2**63 - 1)), mask=pc.is_null(column).to_numpy(zero_copy_only=False))
    if kind == "uuid":
        flip = lambda v: None if v is None else bytes([v[0] ^ 0x80]) + v[1:8] + bytes([v[8] ^ 0x80]) + v[9:]
        return pa.array([flip(v) for v in column.storage.to_pylist()], pa.binary())
    if kind in ("string", "fixed[5]"):
        return column.cast(pa.binary())
    if kind == "date":
        return column.cast(pa.int32())
    if kind == "time" or kind in TIMESTAMPS:
        return column.cast(pa.int64())
    return column


# ---- Tables ----

def partition_field(r, name, kind):
    # Iceberg Java 1.12.0 takes fixed partition values for bytes with a length (manifests.py).
    choices = [name] if not kind.startswith("fixed") else []
    if kind in ("date", *TIMESTAMPS):
        choices += [f"{unit}({name})" for unit in ("year", "month", "day")] * 2
    if kind in TIMESTAMPS:
        choices += [f"hour({name})"] * 2
    if kind not in ("boolean", "float", "double"):
        choices += [f"bucket({r.choice([1, 3, 16])}, {name})"] * 2
    if kind in ("int", "long", "string", "binary") or kind.startswith("decimal"):
        choices += [f"truncate({r.choice([1, 2, 15, 100])}, {name})"] * 2
    if r.random() < 0.05:
        choices = [f"void({name})"]
    return r.choice(choices)


LONG = {"string": ["a" * 16, "a" * 14, "\u00e4" * 15, "\U0001f600" * 15, "a" * 15 + "\ud7ff"], "binary": [b"a" * 16, b"a" * 15, b"a" * 15 + b"\xff"]}


def rows_of(r, kinds, required, first, count):
    """A few values a column, half of the texts beyond what a bound keeps; those of p are not null together."""
    columns = {"row": pa.array(range(first, first + count), pa.int64())}
    for name, kind in kinds.items():
        few = [value_of(r, kind) for _ in range(r.choice([1, 2, 2, 5, 40]))]
        if kind in LONG and r.random() < 0.5:
            start = r.choice(LONG[kind])
            few = [start + value[-3:] for value in few]
        nulls = 0 if name in required else r.choice([0, 0, 0.2, 0.9, 1])
        columns[name] = array_of(kind, [None if r.random() < nulls else r.choice(few) for _ in range(count)])
    nested = [name for name in kinds if "." in name]
    if nested:
        absent = pa.array([r.random() < 0.2 for _ in range(count)])
        fields = [pa.field(name[2:], columns[name].type) for name in nested]
        columns["p"] = pa.StructArray.from_arrays([columns[name] for name in nested], fields=fields, mask=absent)
        for name in nested:
            columns[name] = pc.if_else(absent, pa.scalar(None, columns[name].type), columns[name])
    return columns


def schema_of(kinds, required):
    fields = [{"id": 1, "name": "row", "required": True, "type": "long"}]
    for name, kind in kinds.items():
        if "." not in name:
            fields.append({"id": len(fields) + 1, "name": name, "required": name in required, "type": kind})
    nested = [{"id": 100 + i, "name": name[2:], "required": False, "type": kinds[name]} for i, name in enumerate(NESTED) if name in kinds]
    if nested:
        fields.append({"id": len(fields) + 1, "name": "p", "required": False, "type": {"type": "struct", "fields": nested}})
    return {"type": "struct", "schema-id": 0, "fields": fields}


def frazil(*words):
    done = subprocess.run([FRAZIL, *words, "--output", "json"], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"frazil {' '.join(words)}\n  {done.stdout[-500:]}{done.stderr[-1000:]}")
    return done.stdout


def newest_metadata(table):
    return max(glob.glob(f"{table}/metadata/v*.metadata.json"), key=lambda path: int(os.path.basename(path)[1:].split(".")[0]))


def make_table(r, folder, without=()):
    """(metadata file, {column: type}, {column: array of all rows}, description); no column has a type of `without`"""
    version = r.choice([1, 2, 2, 3])
    names = [name for name, kind in TYPES.items() if kind not in without and (version == 3 or not kind.endswith("_ns"))]
    kinds = {name: TYPES[name] for name in r.sample(names, r.randint(3, 9))}
    spec = [partition_field(r, name, kinds[name]) for name in r.sample(list(kinds), r.choice([0, 1, 1, 2, 3]))]
    required = {name for name in kinds if r.random() < 0.2}
    if r.random() < 0.4:
        kinds |= {name: NESTED[name] for name in r.sample(list(NESTED), r.randint(1, 3))}
    words = ["--format-version", str(version)]
    if spec:
        words += ["--partition-by", ", ".join(spec)]
    properties = {"write.parquet.row-group-limit": r.choice(["20", "100", "100000"])}
    if r.random() < 0.5:
        properties["write.metadata.metrics.default"] = r.choice(["full", "counts", "none", "truncate(1)", "truncate(15)"])
    for name in kinds:
        if r.random() < 0.3:
            properties[f"write.parquet.bloom-filter-enabled.column.{name}"] = "true"
    for key, value in properties.items():
        words += ["--property", f"{key}={value}"]
    with open(f"{folder}/schema.json", "w") as out:
        json.dump(schema_of(kinds, required), out)
    frazil("create", f"{folder}/t", "--schema", f"{folder}/schema.json", *words)
    loads, first = [], 0
    for _ in range(r.randint(1, 4)):
        columns = rows_of(r, kinds, required, first, r.choice([1, 30, 150]))
        loads.append(columns)
        first += len(columns["row"])
        tops = [name for name in columns if "." not in name]
        pq.write_table(pa.table({name: columns[name] for name in tops}), f"{folder}/rows.parquet")
        frazil("load", f"{folder}/t", f"{folder}/rows.parquet")
    whole = {name: pa.concat_arrays([columns[name] for columns in loads]) for name in ("row", *kinds)}
    return newest_metadata(f"{folder}/t"), kinds, whole, f"v{version}, {first} rows, {', '.join(spec) or 'no partitions'}, {properties}"


# ---- Filters: (Java's JSON, pyarrow's mask) ----

def literal(r, kind, values):
    """A value that is there, near one, or any."""
    for _ in range(20):
        value = r.choice(values) if values and r.random() < 0.6 else value_of(r, kind)
        if kind in ("string", "binary") and value and r.random() < 0.2:
            value = value[:-1]
        if not (isinstance(value, float) and not math.isfinite(value)):  # JSON has no such numbers
            return value
    return 0.0


def plain_values(kind, column):
    if kind == "uuid":
        return column.storage.drop_null().to_pylist()
    if kind == "date":
        return column.cast(pa.int32()).drop_null().to_pylist()
    if kind == "time" or kind in TIMESTAMPS:
        return column.cast(pa.int64()).drop_null().to_pylist()
    return column.drop_null().to_pylist()


def test_of(r, kinds, whole):
    name, kind = r.choice(list(kinds.items()))
    column = whole[name]
    keys = keys_of(kind, column)
    values = plain_values(kind, column)
    there = pc.is_valid(column)

    def key_of(value):
        return keys_of(kind, array_of(kind, [value]))[0]

    choices = ["is-null", "not-null", "eq", "eq", "not-eq", "in", "not-in"]
    if kind != "boolean":
        choices += ["lt", "lt-eq", "gt", "gt-eq"] * 2
    if kind in ("float", "double"):
        choices += ["is-nan", "not-nan"] * 2
    if kind == "string":
        choices += ["starts-with", "not-starts-with"] * 2
    form = r.choice(choices)
    if form in ("is-null", "not-null"):
        return {"type": form, "term": name}, there if form == "not-null" else pc.invert(there)
    if form in ("is-nan", "not-nan"):
        mask = pc.fill_null(pc.is_nan(column), False)
        test, mask = {"type": form, "term": name}, mask if form == "is-nan" else pc.invert(mask)
    elif form in ("in", "not-in"):
        few = [literal(r, kind, values) for _ in range(r.randint(1, 5))]
        test = {"type": form, "term": name, "values": [text_of(kind, value) for value in few]}
        mask = pa.array([False] * len(column))
        for value in few:
            mask = pc.or_(mask, pc.fill_null(pc.equal(keys, key_of(value)), False))
        mask = mask if form == "in" else pc.invert(mask)
    elif form.endswith("starts-with"):
        value = literal(r, kind, values)[:r.choice([0, 1, 3, 15, 16, 17, 40])]
        test = {"type": form, "term": name, "value": value}
        mask = pc.fill_null(pc.starts_with(column, value), False)
        mask = mask if form == "starts-with" else pc.invert(mask)
    else:
        value = literal(r, kind, values)
        test = {"type": form, "term": name, "value": text_of(kind, value)}
        compare = {"eq": pc.equal, "not-eq": pc.not_equal, "lt": pc.less, "lt-eq": pc.less_equal, "gt": pc.greater, "gt-eq": pc.greater_equal}
        mask = compare[form](keys, key_of(value))
    mask = pc.fill_null(mask, False)
    if kind in ("float", "double") and form in ("lt", "lt-eq", "gt", "gt-eq"):
        test = {"type": "and", "left": {"type": "not-nan", "term": name}, "right": test}
        mask = pc.and_(mask, pc.invert(pc.fill_null(pc.is_nan(column), True)))
    return {"type": "and", "left": {"type": "not-null", "term": name}, "right": test}, pc.and_(there, mask)


def filter_of(r, kinds, whole, depth=2):
    if depth == 0 or r.random() < 0.4:
        return test_of(r, kinds, whole)
    if r.random() < 0.2:
        inner, mask = filter_of(r, kinds, whole, depth - 1)
        return {"type": "not", "child": inner}, pc.invert(mask)
    (left, left_mask), (right, right_mask) = (filter_of(r, kinds, whole, depth - 1) for _ in range(2))
    form = r.choice(["and", "or"])
    return {"type": form, "left": left, "right": right}, (pc.and_ if form == "and" else pc.or_)(left_mask, right_mask)


FILTERS = 40
# Iceberg Java 1.12.0 looks for the prefix of a null.
NO_ANSWER = 'NullPointerException: Cannot invoke "String.startsWith(String)"'


def main():
    named = [word for word in sys.argv[1:] if word != "--fetch"]
    why_not = java_oracle.missing("--fetch" in sys.argv)
    if why_not:
        print(f"skipped: {why_not}")
        sys.exit(77)
    home = tempfile.mkdtemp(prefix="frazil-java-filters-")
    tables = []
    for seed in seeds.chosen(named, at_least=12, per_second=0.6):
        r = random.Random(seed)
        folder = os.path.join(home, str(seed))
        os.mkdir(folder)
        metadata, kinds, whole, description = make_table(r, folder)
        tables.append((seed, metadata, whole["row"], description, [filter_of(r, kinds, whole) for _ in range(FILTERS)]))
    requests = "".join(json.dumps({"metadata": metadata, "filters": [text for text, _ in filters]}) + "\n"
                       for _, metadata, _, _, filters in tables)
    program = java_oracle.command(os.path.join(HERE, "java", "FilterOracle.java"))
    done = subprocess.run(program, input=requests.encode(), capture_output=True, timeout=60 + 10 * len(tables))
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    if done.returncode != 0 or len(answers) != len(tables):
        sys.exit(f"FilterOracle: {done.stderr.decode(errors='replace')[-2000:]}")
    failed = planned = possible = found = unanswered = 0
    for (seed, metadata, rows, description, filters), (*answer, files) in zip(tables, answers):
        problems = []
        for (text, mask), each in zip(filters, answer, strict=True):
            expected = rows.filter(mask).to_pylist()
            if isinstance(each, str) and NO_ANSWER in each:
                unanswered += 1
                continue
            if isinstance(each, str):
                problems.append(f"{json.dumps(text)}\n      Java: {each}")
                continue
            planned, possible, found = planned + each[0], possible + files, found + len(expected)
            if sorted(each[1]) != expected:
                lost, more = sorted(set(expected) - set(each[1])), sorted(set(each[1]) - set(expected))
                problems.append(f"{json.dumps(text)}\n      lost {lost[:10]}, more {more[:10]} of {len(expected)} expected")
        if problems:
            failed += 1
            print(f"FAIL  seed {seed}, {metadata}: {description}")
            for problem in problems[:3]:
                print(f"    {problem}")
    print(f"{len(tables)} tables, {len(tables) * FILTERS} filters ({unanswered} that Java fails on), {found} rows found; "
          f"{planned} of {possible} files planned; {failed} tables failed")
    if failed == 0:
        shutil.rmtree(home)
    sys.exit(1 if failed or unanswered > len(tables) or (not named and planned > 0.8 * possible) else 0)


if __name__ == "__main__":
    main()
