"""Random tables, nested and flat, that pyarrow, DuckDB and Polars wrote: frazil_parquet_dump reads what they had.

Usage: differential.py DUMP_PROGRAM [SEED ...]

Each seed makes one file: types, nesting, nulls, runs, encodings, codecs, page and row group sizes at random. Without
seeds: those of tests/seeds.py. A failure prints its seed and keeps the file.
"""
import decimal
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import seeds
import values

try:
    import duckdb
    import polars
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]
ENCODINGS = {
    "BOOLEAN": ["PLAIN", "RLE"],
    "INT32": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "INT64": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "INT96": ["PLAIN"],
    "FLOAT": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "DOUBLE": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "BYTE_ARRAY": ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"],
    "FIXED_LEN_BYTE_ARRAY": ["PLAIN", "BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY"],
}
# ArrowIndexError ("Index 0 out of bounds") comes out of the writer of pyarrow 26 now and then, for the same file not always.
REFUSALS = (pa.ArrowNotImplementedError, pa.lib.ArrowIndexError, duckdb.NotImplementedException,
            polars.exceptions.ComputeError, polars.exceptions.PanicException)
MAX_DEPTH = 4
DAY_SECONDS = 86_400


def text(rng):
    length = rng.choice([0, 1, 3, 9, 16, 17, rng.randrange(60)])
    return "".join(rng.choice("abcxyz \u00e9\u20ac\U0001f986") for _ in range(length))


def half(number):
    return struct.unpack("e", struct.pack("e", number))[0]


def integer_kinds(rng):
    for bits in (8, 16, 32, 64):
        low, high = -2**(bits - 1), 2**(bits - 1)
        for name, first, end in ((f"int{bits}", low, high), (f"uint{bits}", 0, 2 * high)):
            yield getattr(pa, name)(), lambda a=first, b=end: rng.choice([a, b - 1, rng.randrange(a, b)])
    start = rng.randrange(-10**9, 10**9)
    step = rng.choice([1, 2, 1000])
    counter = [start]

    def ascending():
        counter[0] += rng.randrange(step + 1)
        return counter[0]
    yield pa.int64(), ascending


def time_kinds(rng):
    zone = rng.choice([None, "UTC", "Europe/Berlin"])
    yield pa.date32(), lambda: rng.randrange(-700_000, 2_000_000)
    yield pa.time32("ms"), lambda: rng.randrange(DAY_SECONDS * 10**3)
    yield pa.time64("us"), lambda: rng.randrange(DAY_SECONDS * 10**6)
    yield pa.time64("ns"), lambda: rng.randrange(DAY_SECONDS * 10**6) * 1000
    for unit, per_second in (("s", 1), ("ms", 10**3), ("us", 10**6)):
        yield pa.timestamp(unit, zone), lambda n=per_second: rng.randrange(-5 * 10**9 * n, 9 * 10**9 * n)
    yield pa.timestamp("ns", zone), lambda: rng.randrange(-9 * 10**15, 9 * 10**15) * 1000


def leaf_kinds(rng):
    """(type, function that makes a value) of each leaf type; dates and times as the numbers that they are."""
    precision = rng.randrange(1, 39)
    scale = rng.randrange(0, precision + 1)
    width = rng.randrange(1, 20)
    wide = decimal.Context(prec=40)
    odd = [0.0, -0.0, math.nan, math.inf, -math.inf]
    kinds = [*integer_kinds(rng), *time_kinds(rng)]
    kinds += [
        (pa.bool_(), lambda: rng.random() < 0.5),
        (pa.float16(), lambda: half(rng.choice([*odd, rng.uniform(-1e4, 1e4)]))),
        (pa.float32(), lambda: values.narrow("float", rng.choice([*odd, rng.uniform(-1e6, 1e6)]))),
        (pa.float64(), lambda: rng.choice([*odd, rng.uniform(-1e300, 1e300)])),
        (pa.decimal128(precision, scale),
         lambda: decimal.Decimal(rng.randrange(1 - 10**precision, 10**precision)).scaleb(-scale, wide)),
        (pa.decimal256(38 + precision, scale),
         lambda: decimal.Decimal(rng.randrange(1 - 10**(38 + precision), 10**(38 + precision))).scaleb(-scale, decimal.Context(prec=80))),
        (pa.null(), lambda: None),
        (pa.binary(), lambda: rng.randbytes(rng.randrange(40))),
        (pa.binary(width), lambda: rng.randbytes(width)),
        (pa.large_binary(), lambda: rng.randbytes(rng.randrange(40))),
        (pa.large_string(), lambda: text(rng)),
        (pa.string_view(), lambda: text(rng)),
        (pa.dictionary(pa.int32(), pa.string()), lambda: text(rng)),
    ]
    kinds += [(pa.string(), lambda: text(rng))] * 4
    return kinds


def offered(writer, kind):
    """Whether a writer takes such a leaf, and writes what it was given."""
    if writer == "pyarrow":  # cannot cut string views into pages of a list
        return not pa.types.is_string_view(kind)
    if pa.types.is_float16(kind) or pa.types.is_decimal256(kind) or pa.types.is_null(kind):
        return False
    if writer == "duckdb":  # has no time below microseconds; wide dates fit
        # DuckDB 2.0.1 copies [null, {f: null}, {f: "a"}, {f: "b"}] as [null, {f: null}, {f: "\\0"}, {f: "a"}] where f is a
        # fixed_size_binary; to its Parquet files they are BYTE_ARRAY, as those of pa.binary() are.
        return not (pa.types.is_dictionary(kind) or pa.types.is_fixed_size_binary(kind) or kind == pa.time64("ns"))
    return not (pa.types.is_dictionary(kind) or pa.types.is_timestamp(kind) and kind.unit == "s")


def make_leaf(rng, writer):
    kind, value = rng.choice([pair for pair in leaf_kinds(rng) if offered(writer, pair[0])])
    if rng.random() < 0.5:
        pool = [value() for _ in range(rng.choice([1, 2, 10, 300]))]
        return kind, lambda: rng.choice(pool)
    return kind, value


def list_forms(writer):
    """Functions that make the type of a list, or "fixed"."""
    if writer == "pyarrow":
        return [pa.list_, pa.list_, pa.large_list, pa.list_view, pa.large_list_view, "fixed"]
    return [pa.list_, pa.large_list]


def is_list(kind):
    return any(test(kind) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_list_view,
                                       pa.types.is_large_list_view, pa.types.is_fixed_size_list))


def make_type(rng, writer, depth):
    """(type, function that makes a value that is not null)."""
    shape = rng.choice(["leaf", "leaf", "list", "struct", "map"]) if depth > 1 else "leaf"
    if shape == "leaf":
        return make_leaf(rng, writer)
    lengths = rng.choice([[0], [1], [0, 1, 2], [3], [0, 5, 40]])
    if shape == "list":
        field, value = make_field(rng, writer, "element", depth - 1)
        make = rng.choice(list_forms(writer))
        if make == "fixed":
            size = rng.choice([1, 2, 5])
            return pa.list_(field, size), lambda: [value() for _ in range(size)]
        return make(field), lambda: [value() for _ in range(rng.choice(lengths))]
    if shape == "map":
        kind, key = rng.choice([(pa.string(), lambda: text(rng)), (pa.int32(), lambda: rng.randrange(10**6))])
        field, value = make_field(rng, writer, "value", depth - 1)
        return pa.map_(kind, field), lambda: [[k, value()] for k in sorted({key() for _ in range(rng.choice(lengths))})]
    made = [make_field(rng, writer, f"f{i}", depth - 1) for i in range(rng.randrange(1, 4))]
    return pa.struct([field for field, _ in made]), lambda: [value() for _, value in made]


def make_field(rng, writer, name, depth):
    kind, value = make_type(rng, writer, depth)
    null_share = rng.choice([0, 0, 0.01, 0.3, 0.9, 1])
    nullable = null_share > 0 or rng.random() < 0.5 or writer != "pyarrow" or pa.types.is_null(kind)
    return pa.field(name, kind, nullable=nullable), lambda: None if rng.random() < null_share else value()


def make_cells(rng, value, rows):
    """Values in runs, so that hybrid runs and dictionaries have something to do."""
    cells = []
    longest = rng.choice([1, 1, 3, 100])
    while len(cells) < rows:
        cells += [value()] * rng.randrange(1, longest + 1)
    return cells[:rows]


def for_arrow(kind, value):
    """A cell as pa.array() takes it: structs as objects."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {field.name: for_arrow(field.type, item) for field, item in zip(kind, value)}
    if pa.types.is_map(kind):
        return [(key, for_arrow(kind.item_type, item)) for key, item in value]
    if is_list(kind):
        return [for_arrow(kind.value_type, item) for item in value]
    return value


def tree_of(kind):
    """The type as values.py has it."""
    if pa.types.is_struct(kind):
        return ["struct", *([field.name, tree_of(field.type)] for field in kind)]
    if pa.types.is_map(kind):
        return ["map", tree_of(kind.key_type), tree_of(kind.item_type)]
    if is_list(kind):
        return ["list", tree_of(kind.value_type)]
    if pa.types.is_dictionary(kind):
        return "utf8"
    return str(kind).replace("date32[day]", "date32")


def in_one_form(tree, value):
    """A generated cell in the form of values.py: structs are lists already."""
    if value is None:
        return None
    if isinstance(tree, str):
        return values.one_form(tree, value, "python")
    if tree[0] == "list":
        return [in_one_form(tree[1], item) for item in value]
    if tree[0] == "map":
        return [[in_one_form(tree[1], key), in_one_form(tree[2], item)] for key, item in value]
    return [in_one_form(child, item) for (_, child), item in zip(tree[1:], value)]


def leaves(schema, path, **options):
    """(dotted path, physical type) of the columns that pyarrow makes of a schema."""
    pq.write_table(schema.empty_table(), path, **options)
    made = pq.ParquetFile(path).schema
    return [(made.column(i).path, made.column(i).physical_type) for i in range(len(made))]


def has_type(kind, wanted):
    return wanted(kind) or any(has_type(kind.field(i).type, wanted) for i in range(kind.num_fields))


def write_pyarrow(rng, table, path):
    decimals = rng.random() < 0.5
    columns = leaves(table.schema, path, store_decimal_as_integer=decimals)
    rows = table.num_rows
    dictionary = [name for name, physical in columns if physical != "BOOLEAN" and rng.random() < 0.5]
    timestamps = any(has_type(field.type, pa.types.is_timestamp) for field in table.schema)
    options = dict(
        compression={name: rng.choice(CODECS) for name, _ in columns} if rng.random() < 0.3 else rng.choice(CODECS),
        use_dictionary=dictionary or False,
        column_encoding={name: rng.choice(ENCODINGS[physical]) for name, physical in columns if name not in dictionary},
        data_page_size=rng.choice([1, 100, 4096, 1 << 20]),
        dictionary_pagesize_limit=rng.choice([10, 1000, 1 << 20]),
        data_page_version=rng.choice(["1.0", "2.0"]),
        write_batch_size=rng.choice([1, 10, 1024]),
        row_group_size=rng.choice([rows or 1, 100, 1000]),
        version=rng.choice(["1.0", "2.4", "2.6"]),
        write_statistics=rng.random() < 0.5,
        write_page_index=rng.random() < 0.3,
        write_page_checksum=rng.random() < 0.5,
        store_decimal_as_integer=decimals,
        store_schema=rng.random() < 0.5,
        use_deprecated_int96_timestamps=timestamps and rng.random() < 0.15,
    )
    if options["use_deprecated_int96_timestamps"] or not options["column_encoding"]:
        options["column_encoding"] = None
    pq.write_table(table, path, **options)
    return options


def write_duckdb(rng, table, path):
    options = dict(
        compression=rng.choice(["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw"]),
        parquet_version=rng.choice(["v1", "v2"]),
        row_group_size=rng.choice([2048, 122_880]),
        dictionary_size_limit=rng.choice([1, 10, 100_000]),
    )
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("source", table)
        settings = ", ".join(f"{name} {value!r}" for name, value in options.items())
        connection.execute(f"COPY (FROM source) TO '{path}' (FORMAT parquet, {settings})")
    return options


def write_polars(rng, table, path):
    options = dict(
        compression=rng.choice(["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4"]),
        statistics=rng.choice([True, False, "full"]),
        row_group_size=rng.choice([None, 100, 1000]),
        data_page_size=rng.choice([None, 100, 4096]),
    )
    polars.from_arrow(table, rechunk=False).write_parquet(path, **options)
    return options


WRITERS = {"pyarrow": write_pyarrow, "duckdb": write_duckdb, "polars": write_polars}


def make_file(seed, path):
    """Writes the file; gives the columns as (name, tree), their cells, and what describes it."""
    rng = random.Random(seed)
    writer = rng.choice(["pyarrow", "pyarrow", "duckdb", "polars"])
    depth = rng.choice([1, 2, MAX_DEPTH])
    rows = rng.choice([0, 1, 7, 8, 9, 100, 1000, rng.randrange(3000 // depth)])
    columns, arrays, fields = [], [], []
    for i in range(rng.randrange(1, 6)):
        field, value = make_field(rng, writer, f"c{i}", depth)
        cells = make_cells(rng, value, rows)
        tree = tree_of(field.type)
        columns.append((field.name, tree, [in_one_form(tree, cell) for cell in cells]))
        arrays.append(pa.array([for_arrow(field.type, cell) for cell in cells], field.type))
        fields.append(field)
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    return columns, rows, f"{writer} {WRITERS[writer](rng, table, path)}"


def problem_of(result, columns, rows):
    if result.returncode != 0:
        return "crash: " + result.stderr.decode(errors="replace")[-2000:]
    lines = [json.loads(line) for line in result.stdout.split(b"\n") if line]
    notes = [line for line in lines if isinstance(line, dict)]
    if any("error" in line for line in notes):
        return str(notes[1:])
    mine = [line for line in lines if isinstance(line, list)]
    if len(mine) != rows:
        return f"{len(mine)} rows, expected {rows}"
    for index, ((name, tree, cells), (_, read_as)) in enumerate(zip(columns, notes[1]["columns"], strict=True)):
        for row, cell in enumerate(cells):
            value = values.one_form(read_as, mine[row][index], "frazil")
            if not values.same(tree, value, cell, "python"):
                return f"{name} {json.dumps(tree)}, row {row}: {value!r:.500}, expected {cell!r:.500}"
    return None


def check(program, seed, folder):
    """Whether the rows are equal; None if the writer refused."""
    path = os.path.join(folder, f"{seed}.parquet")
    try:
        columns, rows, description = make_file(seed, path)
    except REFUSALS as error:
        print(f"seed {seed}: not written: {str(error)[:200]}", flush=True)
        return None
    rng = random.Random(seed + 1)
    arguments = ["--batch-rows", str(rng.choice([1, 7, 1000, 65536])),
                 "--batch-bytes", str(rng.choice([1, rng.randrange(1, 400), 1000, 1 << 26])), "--checksums", "--utf8",
                 *rng.choice([[], ["--dictionaries"]]), *rng.choice([[], ["--restored"]])]
    result = subprocess.run([program, *arguments, path], capture_output=True, timeout=300)
    problem = problem_of(result, columns, rows)
    if problem:
        print(f"seed {seed}: {problem}\n  {description}\n  {' '.join(arguments)} {path}", flush=True)
        return False
    os.remove(path)
    return True


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    folder = tempfile.mkdtemp(prefix="frazil-parquet-")
    outcomes = [check(program, seed, folder) for seed in seeds.chosen(sys.argv[2:], at_least=10, per_second=5 / 3)]
    equal, different, refused = (outcomes.count(outcome) for outcome in (True, False, None))
    print(f"{equal} equal, {different} different, {refused} not written")
    if not different:
        shutil.rmtree(folder)
    sys.exit(1 if different or refused > equal else 0)


if __name__ == "__main__":
    main()
