"""Files that frazil writes, read by others: pyarrow, DuckDB, Polars and frazil itself see the rows that were written.

Usage: written.py REWRITE_PROGRAM DUMP_PROGRAM [--no-corpora] [SEED ...]

Each seed makes a random table as differential.py does, which frazil_parquet_rewrite writes anew with random options: codec
and level, page version, profile, one encoding for all columns that have it, sizes, checksums, Bloom filters. Held against
the cells are the rows that each reader finds, and what the footer says: counts, bounds, codecs, encodings, indexes,
sorting columns, key-value metadata, field ids. A reader that cannot read the table from its first writer is not asked.

Without seeds: those of tests/seeds.py. A failure prints its seed and keeps the files. Then every Parquet file of the
corpora is rewritten and must give the same rows, also as variants by DuckDB; with seeds, or --no-corpora, it is not.
"""
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import corpus
import differential
import seeds
import values

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

# As differential.CODECS, but by the names of Iceberg's properties, with the levels that each has.
LEVELS = {"uncompressed": [], "snappy": [], "lz4": [], "gzip": [1, 6, 9], "brotli": [1, 5], "zstd": [-1, 1, 3, 9]}
ENCODINGS = sorted({encoding for names in differential.ENCODINGS.values() for encoding in names} | {"RLE_DICTIONARY"})


def random_options(rng, names):
    codec = rng.choice(list(LEVELS))
    options = ["--codec", codec, "--page-version", rng.choice("12")]
    if LEVELS[codec] and rng.random() < 0.5:
        options += ["--level", str(rng.choice(LEVELS[codec]))]
    legacy = rng.random() < 0.25
    options += ["--profile", "legacy"] if legacy else []
    if not legacy and rng.random() < 0.5:
        options += ["--encoding", rng.choice(ENCODINGS)]
    for flag, share in (("--no-dictionary", 0.3), ("--no-statistics", 0.1), ("--no-page-index", 0.2),
                        ("--checksums", 0.5), ("--bloom", 0.3), ("--views", 0.2), ("--arrow-schema", 0.3)):
        options += [flag] if rng.random() < share else []
    options += ["--page-bytes", str(rng.choice([1, 100, 4096, 1 << 20])), "--page-rows", str(rng.choice([7, 20_000])),
                "--dictionary-bytes", str(rng.choice([10, 1000, 1 << 20])), "--cut", str(rng.choice([4, 16, 64])),
                "--row-group-rows", str(rng.choice([100, 1000, 1 << 20])), "--batch-rows", str(rng.choice([64, 65536]))]
    options += ["--key-value", "maker", "written.py"]
    if names and rng.random() < 0.3:
        options += ["--sorted-by", rng.choice(names)]
    return options


def number_type(kind):
    """The type with its dates and times as the numbers that they are."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(child.name, number_type(child.type)) for child in kind])
    if pa.types.is_map(kind):
        return pa.map_(number_type(kind.key_type), number_type(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_list_view(kind):
        return pa.list_(number_type(kind.value_type))
    if pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind):
        return pa.large_list(number_type(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(number_type(kind.value_type), kind.list_size)
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return pa.int64()
    if pa.types.is_time32(kind) or pa.types.is_date32(kind):
        return pa.int32()
    return kind


def tree_of(kind):
    if pa.types.is_struct(kind):
        return ["struct", *([field.name, tree_of(field.type)] for field in kind)]
    if pa.types.is_map(kind):
        return ["map", tree_of(kind.key_type), tree_of(kind.item_type)]
    if differential.is_list(kind):
        return ["list", tree_of(kind.value_type)]
    return str(kind).replace("date32[day]", "date32")


def columns_of(table):
    """The columns in the one form of values.py."""
    for field, column in zip(table.schema, table.columns):
        numbers = column.cast(number_type(field.type))
        yield [values.one_form(tree_of(field.type), cell, "python") for cell in numbers.to_pylist()]


def read_pyarrow(path):
    return pq.read_table(path)


def read_duckdb(path):
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        # Without it rows come in any order.
        connection.execute("SET preserve_insertion_order = true")
        return connection.sql(f"FROM read_parquet('{path}')").to_arrow_table()


def read_polars(path, columns=None):
    return polars.read_parquet(path, columns=columns).to_arrow(compat_level=polars.CompatLevel.oldest())


READERS = {"pyarrow": read_pyarrow, "duckdb": read_duckdb, "polars": read_polars}


def difference(columns, found):
    for (name, tree, cells), theirs in zip(columns, found, strict=True):
        if len(cells) != len(theirs):
            return f"{name}: {len(theirs)} rows, expected {len(cells)}"
        for row, (wanted, cell) in enumerate(zip(cells, theirs)):
            if not values.same(tree, cell, wanted, "python"):
                return f"{name} {json.dumps(tree)}, row {row}: {cell!r:.300}, expected {wanted!r:.300}"
    return None


def bare_leaves(field, below=False):
    """Of each leaf of a field, whether it is required below a nullable struct: null only where the struct is."""
    kind = field.type
    if pa.types.is_struct(kind):
        children, below = list(kind), below or field.nullable
    elif pa.types.is_map(kind):
        children = [kind.key_field, kind.item_field]
    elif differential.is_list(kind):
        children = [kind.value_field]
    else:
        return [below and not field.nullable]
    return [bare for child in children for bare in bare_leaves(child, below)]


# Polars 2.1.0 panics with one of these where a chunk of several pages, some with nulls and some without, is that of a required
# leaf below a nullable struct (in a list nulls in each page do it too), unless the values are PLAIN or of a dictionary. So it
# does with the files that pyarrow makes with such an encoding and such pages; levels and counts of ours were checked by
# hand, and pyarrow and DuckDB read them. pola-rs/polars#28536 is the same of flat columns with a filter.
POLARS_PANICS = ("validity mask length must match the number of values", "validity must be equal to the array's length")
POLARS_SAFE = {"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"}


def polars_panics_at(path):
    """The columns in which Polars may do so."""
    metadata, schema = pq.read_metadata(path), pq.read_schema(path)
    bare = [(field.name, is_bare) for field in schema for is_bare in bare_leaves(field)]
    names = set()
    for g in range(metadata.num_row_groups):
        for c, (name, is_bare) in enumerate(bare):
            chunk = metadata.row_group(g).column(c)
            has_both = 0 < chunk.statistics.null_count < chunk.num_values
            if is_bare and has_both and not POLARS_SAFE.issuperset(chunk.encodings):
                names.add(name)
    return names


def polars_panic_problem(error, path, columns):
    """What is wrong, after a panic of Polars, besides the one that is known: the other columns are compared."""
    names = polars_panics_at(path) if any(message in str(error) for message in POLARS_PANICS) else set()
    if not names:
        return f"panic: {error}"
    print(f"{os.path.basename(path)}: Polars panics, as is known, in a required leaf of {sorted(names)}", flush=True)
    others = [column for column in columns if column[0] not in names]
    try:
        return difference(others, columns_of(read_polars(path, [name for name, _, _ in others]))) if others else None
    except polars.exceptions.PanicException as other:
        return f"panic without {sorted(names)}: {other}"


def reader_problem(name, source, written, columns, options):
    """What is wrong with the rows that a reader finds; None if nothing is, or if it cannot read the source either."""
    read = READERS[name]
    try:
        if difference(columns, columns_of(read(source))):
            return None  # it sees another table there: what it does with this one says nothing
    except (Exception, polars.exceptions.PanicException):  # noqa: BLE001: whatever a foreign reader throws
        return None
    try:
        problem = difference(columns, columns_of(read(written)))
    except polars.exceptions.PanicException as error:  # no Exception: it would end the test
        problem = polars_panic_problem(error, written, columns)
    except Exception as error:  # noqa: BLE001
        # What nobody writes unless asked to: Polars does not read DELTA_BYTE_ARRAY of fixed byte arrays, DuckDB not their
        # BYTE_STREAM_SPLIT, pyarrow no DELTA encoding of what the Arrow schema says is a dictionary.
        refusals = ("ot yet supported", "only supported for", "DecodeArrow of DictAccumulator")
        if "--encoding" in options and any(refusal in str(error) for refusal in refusals):
            return None
        problem = f"{type(error).__name__}: {error}"
    return problem and f"{name}: {problem}"


# ---- The footer, by pyarrow ----

def is_nan(cell):
    return isinstance(cell, float) and math.isnan(cell)


def plain_cell(kind, value):
    """A bound as pyarrow gives it, as the cells are."""
    if isinstance(value, str) and not pa.types.is_string(kind):
        return value
    return values.one_form(tree_of(kind), value, "python")


def bounds_problem(field, statistics, cells, cut):
    present = [cell for cell in cells if cell is not None and not is_nan(cell)]
    if not statistics.has_min_max:
        return None
    if not present:
        return "bounds of nothing"
    if pa.types.is_float16(field.type) or pa.types.is_decimal(field.type) and field.type.precision > 18:
        return None  # pyarrow gives these as bytes
    low, high = plain_cell(field.type, statistics.min), plain_cell(field.type, statistics.max)
    if isinstance(low, str):  # code points and UTF-8 have one order
        low, high, present = low.encode(), high.encode(), [cell.encode() for cell in present]
    least, most = min(present), max(present)
    if isinstance(low, bytes):
        if low > least or high < most or len(low) > max(cut, 4) and low != least:
            return f"bounds {low!r:.80} .. {high!r:.80} of {least!r:.80} .. {most!r:.80}"
        return None
    return None if low == least and high == most else f"bounds {low} .. {high} of {least} .. {most}"


def footer_problem(path, columns, options, summary, schema):
    metadata = pq.read_metadata(path)
    option = {name: options[i + 1] for i, name in enumerate(options) if name.startswith("--") and i + 1 < len(options)}
    rows = len(columns[0][2])
    if metadata.num_rows != rows or summary["rows"] != rows or summary["bytes"] != os.path.getsize(path):
        return f"{metadata.num_rows} rows in the footer, summary {summary['rows']}, {summary['bytes']} bytes"
    if not metadata.created_by.startswith("frazil version ") or metadata.metadata[b"maker"] != b"written.py":
        return f"created by {metadata.created_by}, {metadata.metadata}"
    if len(summary["row_groups"]) != metadata.num_row_groups:
        return f"{summary['row_groups']} are {metadata.num_row_groups} row groups"
    ids = {field.name: (field.metadata or {}).get(b"PARQUET:field_id") for field in schema}
    written = {field.name: (field.metadata or {}).get(b"PARQUET:field_id") for field in pq.read_schema(path)}
    if ids != written:
        return f"field ids {written}, expected {ids}"
    flat = {name: (index, cells) for index, (name, tree, cells) in enumerate(columns) if isinstance(tree, str)}
    totals = {name: 0 for name in flat}
    first = 0
    for g in range(metadata.num_row_groups):
        group = metadata.row_group(g)
        if group.num_rows > int(option["--row-group-rows"]):
            return f"a row group of {group.num_rows} rows"
        sorting = [metadata.schema.column(column.column_index).path for column in group.sorting_columns]
        if sorting != ([option["--sorted-by"]] if "--sorted-by" in option else []):
            return f"sorted by {sorting}"
        for c in range(group.num_columns):
            chunk = group.column(c)
            name = chunk.path_in_schema
            if chunk.compression not in ("UNCOMPRESSED", {"lz4": "LZ4"}.get(option["--codec"], option["--codec"].upper())):
                return f"{name}: compressed by {chunk.compression}"
            encoding = option.get("--encoding")
            if encoding and encoding in differential.ENCODINGS[chunk.physical_type]:
                has_values = chunk.num_values > chunk.statistics.null_count
                if has_values and encoding not in chunk.encodings:
                    return f"{name}: encodings {chunk.encodings} without {encoding}"
            indexed = "--no-page-index" not in options
            if chunk.has_offset_index != indexed or chunk.has_column_index and not indexed:
                return f"{name}: page index {chunk.has_offset_index} {chunk.has_column_index}"
            if name not in flat:
                continue
            index, cells = flat[name]
            part = cells[first:first + group.num_rows]
            nulls = sum(cell is None for cell in part)
            totals[name] += chunk.total_compressed_size
            if chunk.num_values != group.num_rows or chunk.statistics.null_count != nulls:
                return f"{name}: {chunk.num_values} values, {chunk.statistics.null_count} nulls, expected {nulls}"
            problem = bounds_problem(schema.field(index), chunk.statistics, part, int(option["--cut"]))
            if problem and "--no-statistics" not in options:
                return f"{name}, row group {g}: {problem}"
        first += group.num_rows
    for leaf in summary["leaves"]:
        if leaf["path"] not in flat:
            continue
        _, cells = flat[leaf["path"]]
        nulls, nans = sum(cell is None for cell in cells), sum(map(is_nan, cells))
        if (leaf["values"], leaf["nulls"], leaf.get("nans", 0)) != (rows, nulls, nans):
            return f"summary {leaf}, expected {rows} values, {nulls} nulls, {nans} NaN"
        if leaf["bytes"] != totals[leaf["path"]]:
            return f"summary {leaf}, the footer says {totals[leaf['path']]} bytes"
    return None


# ---- Seeds ----

def check(rewrite, dump, seed, folder):
    """Whether all is equal; None if the first writer refused."""
    source, written = (os.path.join(folder, f"{seed}-{name}.parquet") for name in ("source", "written"))
    try:
        columns, rows, description = differential.make_file(seed, source)
        schema = pq.read_schema(source)
    except differential.REFUSALS as error:
        print(f"seed {seed}: not written: {str(error)[:200]}", flush=True)
        return None
    rng = random.Random(seed + 2)
    options = random_options(rng, [name for name, tree, _ in columns if isinstance(tree, str)])
    result = subprocess.run([rewrite, *options, source, written], capture_output=True, timeout=300)
    if result.returncode != 0:
        problem = (result.stdout + result.stderr).decode(errors="replace")[-2000:] or f"exit status {result.returncode}"
    else:
        dumped = subprocess.run([dump, "--checksums", "--utf8", written], capture_output=True, timeout=300)
        problem = differential.problem_of(dumped, columns, rows) \
            or footer_problem(written, columns, options, json.loads(result.stdout), schema)
        for name in READERS:
            problem = problem or reader_problem(name, source, written, columns, options)
    if problem:
        print(f"seed {seed}: {problem}\n  {description}\n  {rewrite} {' '.join(options)} {source} {written}", flush=True)
        return False
    os.remove(source)
    os.remove(written)
    return True


def check_seeds(rewrite, dump, named):
    folder = tempfile.mkdtemp(prefix="frazil-written-")
    outcomes = [check(rewrite, dump, seed, folder) for seed in seeds.chosen(named, at_least=10, per_second=5 / 3)]
    equal, different, refused = (outcomes.count(outcome) for outcome in (True, False, None))
    print(f"{equal} equal, {different} different, {refused} not written")
    if not different:
        shutil.rmtree(folder)
    return different == 0 and refused <= equal


# ---- The corpora ----

def dumped_lines(dump, path):
    result = subprocess.run([dump, path], capture_output=True, timeout=300)
    lines = result.stdout.split(b"\n")
    return result.returncode, [line for line in lines[1:] if line and not line.startswith(b'{"rows"')]


def check_corpus_file(rewrite, dump, path, folder):
    source = os.path.join(corpus.CORPORA, path)
    code, wanted = dumped_lines(dump, source)
    if code != 0 or any(line.startswith(b'{"error"') for line in wanted):
        return "not read", ""
    written = os.path.join(folder, path.replace("/", "-"))
    result = subprocess.run([rewrite, "--page-rows", "100", source, written], capture_output=True, timeout=300)
    if result.returncode != 0:
        return "failed", (result.stdout + result.stderr).decode(errors="replace")[-500:]
    _, found = dumped_lines(dump, written)
    if found == wanted:
        os.remove(written)
        return "same", ""
    for i, (mine, theirs) in enumerate(zip(found, wanted)):
        if mine != theirs:
            return "failed", f"line {i}: {mine[:200]!r}, expected {theirs[:200]!r}"
    return "failed", f"{len(found)} lines, expected {len(wanted)}"


def check_corpora(rewrite, dump):
    with open(corpus.TABLE) as file:
        stated = json.load(file)
    paths = sorted(path for path in corpus.find_files() if "error" not in stated.get(path, {"error": ""}))
    folder = tempfile.mkdtemp(prefix="frazil-written-corpus-")
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda path: check_corpus_file(rewrite, dump, path, folder), paths))
    for path, (outcome, why) in zip(paths, outcomes):
        if outcome == "failed":
            print(f"{path}: {why}")
    counts = {name: sum(outcome == name for outcome, _ in outcomes) for name in ("same", "not read", "failed")}
    print(f"corpora: {counts}")
    if counts["failed"] == 0:
        shutil.rmtree(folder)
    return counts["failed"] == 0 and counts["same"] > 500


# ---- Variants ----

def variants_of(path):
    with duckdb.connect() as connection:
        return connection.sql(f"SELECT to_json(COLUMNS(*)) FROM read_parquet('{path}')").fetchall()


def check_variants(rewrite):
    """Shredded variants of the corpora, put together and written whole: DuckDB reads the same from both files."""
    folder = os.path.join(corpus.CORPORA, "parquet-testing/shredded_variant")
    outcomes = {"same": 0, "not read": 0, "failed": 0}
    with tempfile.TemporaryDirectory(prefix="frazil-written-variant-") as target:
        written = os.path.join(target, "written.parquet")
        for name in sorted(os.listdir(folder)):
            if not name.endswith(".parquet") or name.endswith("-INVALID.parquet"):
                continue
            source = os.path.join(folder, name)
            try:
                wanted = variants_of(source)
            except duckdb.Error:
                outcomes["not read"] += 1
                continue
            result = subprocess.run([rewrite, "--variants", source, written], capture_output=True, timeout=300)
            if result.returncode != 0 and json.loads(result.stdout)["stage"] == "read":
                outcomes["not read"] += 1  # what is wrong with it, variant_shredding_test.cc knows
                continue
            found = variants_of(written) if result.returncode == 0 else result.stdout
            outcomes["same" if found == wanted else "failed"] += 1
            if found != wanted:
                print(f"{name}: {found!r:.300}, expected {wanted!r:.300}")
    print(f"variants: {outcomes}")
    return outcomes["failed"] == 0 and outcomes["same"] > 100


def main():
    words = [word for word in sys.argv[1:] if word != "--no-corpora"]
    if len(words) < 2:
        sys.exit(__doc__)
    rewrite, dump, *named = words
    good = check_seeds(rewrite, dump, named)
    if not named and "--no-corpora" not in sys.argv:
        good = check_corpora(rewrite, dump) and good
        good = check_variants(rewrite) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
