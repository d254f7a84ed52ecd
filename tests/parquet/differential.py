"""Random tables, flat and nested, written by pyarrow, DuckDB and Polars, read by frazil_parquet_dump: the same rows.

Usage: differential.py DUMP_PROGRAM [SEEDS [FIRST_SEED]]

Each seed makes one file: types, nesting, nulls, run lengths, page sizes and versions, codecs, dictionaries and row
groups at random. A failure prints its seed and keeps the file. Without DuckDB or Polars the others write.
"""
import datetime
import decimal
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    print("skipped: pyarrow cannot be imported")
    sys.exit(77)

try:
    import duckdb
except ImportError:
    duckdb = None
try:
    import polars
except ImportError:
    polars = None

CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]
EPOCH = datetime.datetime(1970, 1, 1)


def text(rng):
    length = rng.choice([0, 1, 3, 9, 16, 17, rng.randrange(60)])
    return "".join(rng.choice("abcxyz \u00e9\u20ac\U0001f986") for _ in range(length))


def decimal_value(rng, precision, scale):
    return decimal.Decimal(rng.randrange(-10**precision + 1, 10**precision)).scaleb(-scale)


def column_kinds(rng):
    precision = rng.randrange(1, 39)
    scale = rng.randrange(0, precision + 1)
    width = rng.randrange(1, 20)
    return {
        "bool": (pa.bool_(), lambda: rng.random() < 0.5),
        "int8": (pa.int8(), lambda: rng.randrange(-128, 128)),
        "int16": (pa.int16(), lambda: rng.randrange(-2**15, 2**15)),
        "int32": (pa.int32(), lambda: rng.randrange(-2**31, 2**31)),
        "int64": (pa.int64(), lambda: rng.randrange(-2**63, 2**63)),
        "uint8": (pa.uint8(), lambda: rng.randrange(2**8)),
        "uint16": (pa.uint16(), lambda: rng.randrange(2**16)),
        "uint32": (pa.uint32(), lambda: rng.randrange(2**32)),
        "uint64": (pa.uint64(), lambda: rng.randrange(2**64)),
        "float": (pa.float32(), lambda: rng.choice([0.0, -0.0, math.nan, math.inf, rng.uniform(-1e6, 1e6)])),
        "double": (pa.float64(), lambda: rng.choice([0.0, -0.0, math.nan, -math.inf, rng.uniform(-1e300, 1e300)])),
        "utf8": (pa.string(), lambda: text(rng)),
        "binary": (pa.binary(), lambda: rng.randbytes(rng.randrange(40))),
        "fixed": (pa.binary(width), lambda: rng.randbytes(width)),
        "date": (pa.date32(), lambda: datetime.date.fromordinal(rng.randrange(1, 3652059))),
        "time_ms": (pa.time32("ms"), lambda: rng.randrange(86_400_000)),
        "time_us": (pa.time64("us"), lambda: rng.randrange(86_400_000_000)),
        "timestamp_ms": (pa.timestamp("ms"), lambda: rng.randrange(-2**45, 2**45)),
        "timestamp_us": (pa.timestamp("us", tz="UTC"), lambda: rng.randrange(-2**55, 2**55)),
        "decimal": (pa.decimal128(precision, scale), lambda: decimal_value(rng, precision, scale)),
    }


NESTED_LEAVES = ["bool", "int32", "int64", "double", "utf8", "binary", "date", "decimal"]


def nested_kind(rng, depth):
    """A random type at most `depth` deep, and what makes values of it, nulls among them where the type has them."""
    null_share = rng.choice([0, 0.1, 0.5])
    choice = rng.choice(["leaf", "list", "struct", "map"]) if depth > 1 else "leaf"
    if choice == "leaf":
        kind, value = column_kinds(rng)[rng.choice(NESTED_LEAVES)]
    elif choice == "list":
        longest = rng.choice([1, 3, 30])
        inner, inner_nullable, inner_value = nested_kind(rng, depth - 1)
        kind = pa.list_(pa.field("element", inner, nullable=inner_nullable))
        value = lambda: [inner_value() for _ in range(rng.randrange(longest + 1))]
    elif choice == "struct":
        fields = [(f"f{i}", *nested_kind(rng, depth - 1)) for i in range(rng.randrange(1, 4))]
        kind = pa.struct([pa.field(name, inner, nullable=nullable) for name, inner, nullable, _ in fields])
        value = lambda: {name: make() for name, _, _, make in fields}
    else:
        longest = rng.choice([1, 3, 10])
        inner, inner_nullable, inner_value = nested_kind(rng, depth - 1)
        kind = pa.map_(pa.int32(), pa.field("value", inner, nullable=inner_nullable))
        value = lambda: [(key, inner_value()) for key in range(rng.randrange(longest + 1))]
    nullable = null_share > 0 or rng.random() < 0.5
    return kind, nullable, lambda: None if rng.random() < null_share else value()


def make_nested_column(rng, rows):
    kind, nullable, value = nested_kind(rng, rng.randrange(2, 5))
    return "nested", pa.array([value() for _ in range(rows)], kind), pa.field("nested", kind, nullable=nullable)


def make_column(rng, rows):
    if rng.random() < 0.4:
        return make_nested_column(rng, rows)
    kinds = column_kinds(rng)
    name = rng.choice(list(kinds))
    kind, value = kinds[name]
    pool = [value() for _ in range(rng.choice([1, 2, 10, 300]))] if rng.random() < 0.6 else None
    null_share = rng.choice([0, 0, 0.01, 0.3, 0.9, 1])
    cells = []
    while len(cells) < rows:
        cell = None if rng.random() < null_share else (rng.choice(pool) if pool else value())
        cells += [cell] * (rng.choice([1, 1, 1, rng.randrange(1, 100)]))
    return name, pa.array(cells[:rows], kind), pa.field(name, kind, nullable=null_share > 0 or rng.random() < 0.5)


def make_file(seed, path):
    rng = random.Random(seed)
    rows = rng.choice([0, 1, 7, 8, 9, 100, 1000, rng.randrange(2000)])
    arrays, fields = [], []
    for i in range(rng.randrange(1, 6)):
        name, array, field = make_column(rng, rows)
        arrays.append(array)
        fields.append(field.with_name(f"{name}_{i}"))
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    options = dict(
        compression=rng.choice(CODECS),
        use_dictionary=rng.random() < 0.6,
        data_page_size=rng.choice([1, 100, 4096, 1 << 20]),
        dictionary_pagesize_limit=rng.choice([10, 1000, 1 << 20]),
        data_page_version=rng.choice(["1.0", "2.0"]),
        write_batch_size=rng.choice([1, 10, 1024]),
        row_group_size=rng.choice([rows or 1, 100, 1000]),
        version=rng.choice(["1.0", "2.4", "2.6"]),
        write_statistics=rng.random() < 0.5,
        write_page_index=rng.random() < 0.3,
        write_page_checksum=rng.random() < 0.5,
        store_decimal_as_integer=rng.random() < 0.5,
        column_encoding=None,
    )
    writer = rng.choice(["pyarrow", "pyarrow", "duckdb", "polars"])
    if writer == "duckdb" and duckdb is not None and rows > 0:
        with duckdb.connect() as connection:
            connection.register("made", table)
            version = rng.choice(["V1", "V2"])
            connection.execute(f"COPY (FROM made) TO '{path}' (FORMAT parquet, PARQUET_VERSION {version})")
        return table, {"writer": "duckdb", "version": version}
    if writer == "polars" and polars is not None and rows > 0 and not any(
            pa.types.is_fixed_size_binary(field.type) for field in fields):
        size = rng.choice([1, 100, 1 << 20])
        polars.from_arrow(table).write_parquet(path, data_page_size=size, row_group_size=rng.choice([100, 10_000]))
        return table, {"writer": "polars", "data_page_size": size}
    # Booleans are RLE in pages of version 2, and PLAIN else; both are read.
    pq.write_table(table, path, **options)
    return table, options


def same(mine, theirs, kind):
    if mine is None or theirs is None:
        return mine is None and theirs is None
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return len(mine) == len(theirs) and all(same(a, b, kind.value_type) for a, b in zip(mine, theirs))
    if pa.types.is_map(kind):
        return len(mine["keys"]) == len(theirs) and all(
            same(a, c, kind.key_type) and same(b, d, kind.item_type)
            for a, b, (c, d) in zip(mine["keys"], mine["values"], theirs))
    if pa.types.is_struct(kind):
        return all(same(mine[field.name], theirs[field.name], field.type) for field in kind)
    if pa.types.is_floating(kind):
        mine = float(mine)
        if pa.types.is_float32(kind) and math.isfinite(mine):  # printed with as many digits as a float needs
            mine = struct.unpack("f", struct.pack("f", mine))[0]
        if math.isnan(mine) or math.isnan(theirs):
            return math.isnan(mine) and math.isnan(theirs)
        return mine == theirs and math.copysign(1, mine) == math.copysign(1, theirs)
    if pa.types.is_decimal(kind):
        return decimal.Decimal(mine) == theirs
    if pa.types.is_timestamp(kind):
        zone = mine.removesuffix("+00:00")
        sign = -1 if zone.startswith("-") else 1
        if sign < 0 or zone.startswith("+"):
            return True  # years that Python's datetime does not have: the unit tests have them
        seconds = (datetime.datetime.fromisoformat(zone.partition(".")[0]) - EPOCH) // datetime.timedelta(seconds=1)
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit]
        fraction = int((zone.partition(".")[2] + "0" * digits)[:digits] or 0)
        return seconds * 10**digits + fraction == theirs
    if pa.types.is_time(kind):
        hours, minutes, rest = mine.split(":")
        seconds, _, fraction = rest.partition(".")
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit]
        whole = (int(hours) * 60 + int(minutes)) * 60 + int(seconds)
        return whole * 10**digits + int((fraction + "0" * digits)[:digits]) == theirs
    if pa.types.is_date(kind):
        return mine == theirs.isoformat()
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return bytes.fromhex(mine.replace("-", "")) == theirs
    return mine == theirs


def plain_cells(array):
    kind = array.type
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        array = array.cast(pa.int64())
    elif pa.types.is_time32(kind):
        array = array.cast(pa.int32())
    return array.to_pylist()


def check(program, seed, folder):
    path = os.path.join(folder, f"{seed}.parquet")
    table, options = make_file(seed, path)
    # What pyarrow reads back is the truth: versions 1.0 and 2.4 change units and integer types on writing.
    try:
        table = pq.ParquetFile(path).read()
    except OSError as error:  # pyarrow 26: a DELTA_BINARY_PACKED page of nulls alone, as DuckDB writes it
        print(f"seed {seed}: pyarrow does not read it, nothing to compare with: {error}\n  {options}")
        os.remove(path)
        return True
    rng = random.Random(seed + 1)
    arguments = ["--batch-rows", str(rng.choice([1, 7, 1000, 65536])), "--batch-bytes", str(rng.choice([1, 1000, 1 << 26])),
                 "--checksums", "--utf8"]
    result = subprocess.run([program, *arguments, path], capture_output=True, timeout=120)
    lines = [json.loads(line) for line in result.stdout.split(b"\n") if line]
    rows = [line for line in lines if isinstance(line, list)]
    problem = None
    if result.returncode != 0:
        problem = "crash: " + result.stderr.decode(errors="replace")[-2000:]
    elif any("error" in line for line in lines if isinstance(line, dict)):
        problem = str([line for line in lines if isinstance(line, dict)])
    elif any(line.get("skipped") for line in lines if isinstance(line, dict)):
        problem = "skipped: " + str([line for line in lines if isinstance(line, dict)])
    elif len(rows) != table.num_rows:
        problem = f"{len(rows)} rows, expected {table.num_rows}"
    else:
        for index, field in enumerate(table.schema):
            cells = plain_cells(table.column(index).combine_chunks())
            for row, cell in enumerate(cells):
                if not same(rows[row][index], cell, field.type):
                    problem = f"{field}, row {row}: {rows[row][index]!r}, expected {cell!r}"
                    break
    if problem:
        print(f"seed {seed}: {problem}\n  {options}\n  {' '.join(arguments)} {path}", flush=True)
        return False
    os.remove(path)
    return True


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    first = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(10**9)
    folder = tempfile.mkdtemp(prefix="frazil-parquet-")
    failures = sum(not check(program, seed, folder) for seed in range(first, first + count))
    print(f"seeds {first}..{first + count - 1}: {count - failures} equal, {failures} different")
    if not failures:
        os.rmdir(folder)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
