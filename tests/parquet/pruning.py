"""Predicates over files with statistics, page indexes, Bloom filters and dictionaries by pyarrow and DuckDB: the rows
that DuckDB finds in the same values, whatever is pruned by.

Usage: pruning.py WHERE_PROGRAM [SEED ...]

Each seed makes one file per writer and 12 predicates; without seeds: those of tests/seeds.py. DuckDB filters the table in memory, not the file. A failure
prints its seed and the predicate, and keeps the file.
"""
import datetime
import decimal
import math
import os
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import seeds

try:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    print("skipped: pyarrow and duckdb cannot be imported")
    sys.exit(77)


def columns(rng):
    """Name: (type, make a value, its literal). Values are few, so that predicates hit them."""
    words = ["", "a", "ab", "abc", "b", "zz", "\u00e9t\u00e9", "\U0001f986", "a much longer word than the others"]
    return {
        "i": (pa.int64(), lambda: rng.choice([-2**63, -7, 0, 5, 100, rng.randrange(1000), 2**63 - 1]), str),
        "n": (pa.int32(), lambda: rng.randrange(-50, 50), str),
        "s": (pa.int8(), lambda: rng.randrange(-128, 128), str),
        "u": (pa.uint32(), lambda: rng.choice([0, 1, 2**31, 2**32 - 1, rng.randrange(100)]), str),
        "d": (pa.float64(), lambda: rng.choice([0.0, -0.0, math.nan, math.inf, -math.inf, 0.5, -2.5, 1e300]), double),
        "f": (pa.float32(), lambda: rng.choice([0.0, -0.0, math.nan, 0.5, -2.5, 1e10]), double),
        "t": (pa.string(), lambda: rng.choice(words) + rng.choice(["", "", "x" * 70]), text),
        "b": (pa.bool_(), lambda: rng.random() < 0.5, lambda value: "TRUE" if value else "FALSE"),
        "m": (pa.decimal128(9, 2), lambda: decimal.Decimal(rng.randrange(-300, 300)).scaleb(-2), str),
        "w": (pa.decimal128(30, 3),
              lambda: decimal.Decimal(rng.choice([-1, 1]) * rng.randrange(10**rng.randrange(1, 25))).scaleb(-3), str),
        "a": (pa.date32(), lambda: datetime.date(2000, 1, 1) + datetime.timedelta(rng.randrange(-20000, 20000)),
              lambda value: f"DATE '{value}'"),
        "z": (pa.timestamp("us"), lambda: datetime.datetime(1970, 1, 1) + datetime.timedelta(
            microseconds=rng.randrange(-10**15, 10**15)), lambda value: f"TIMESTAMP '{value}'"),
    }


def text(value):
    return "'" + value.replace("'", "''") + "'"


def double(value):
    if math.isnan(value) or math.isinf(value):
        name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f"DOUBLE '{name}'"
    return repr(value)


def make_table(rng, rows):
    kinds = columns(rng)
    arrays = {"row": pa.array(range(rows), pa.int64())}
    pools = {}
    for name, (kind, make, _) in kinds.items():
        null_share = rng.choice([0, 0, 0.1, 0.9])
        pool = [make() for _ in range(rng.choice([1, 3, 30]))]
        pools[name] = pool
        values = []
        while len(values) < rows:  # runs of few values: pages differ
            few = [rng.choice(pool) for _ in range(rng.choice([1, 2, 5]))]
            values += [None if rng.random() < null_share else rng.choice(few) for _ in range(rng.randrange(1, 200))]
        arrays[name] = pa.array(values[:rows], kind)
    if rng.random() < 0.3:
        order = rng.choice(sorted(kinds))
        indices = pa.compute.sort_indices(pa.table(arrays), sort_keys=[(order, "ascending")])
        arrays = {name: array if name == "row" else array.take(indices) for name, array in arrays.items()}
    return pa.table(arrays), pools, kinds


def write_pyarrow(table, path, rng):
    names = [name for name in table.column_names if rng.random() < 0.5 and name not in ("b", "row")]
    options = {"bloom_filter_options": {name: {"ndv": 100} for name in names}} if HAS_BLOOM else {}
    pq.write_table(table, path, row_group_size=rng.choice([100, 400, 10000]),
                   data_page_size=rng.choice([64, 512, 8192]), write_batch_size=rng.choice([7, 50]),
                   write_page_index=rng.random() < 0.8,
                   use_dictionary=rng.random() < 0.6, write_statistics=rng.random() < 0.8,
                   data_page_version=rng.choice(["1.0", "2.0"]), compression=rng.choice(["none", "snappy", "zstd"]),
                   dictionary_pagesize_limit=rng.choice([100, 1 << 20]),
                   store_decimal_as_integer=rng.random() < 0.5, **options)


def write_duckdb(table, path, rng):
    """DuckDB writes a Bloom filter for each column that it dictionary-encodes."""
    connection = duckdb.connect()
    connection.register("source", table)
    connection.execute(f"COPY (FROM source) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {rng.choice([2048, 4096])}, "
                       f"COMPRESSION {rng.choice(['snappy', 'zstd', 'uncompressed'])}, "
                       f"PARQUET_VERSION {rng.choice(['v1', 'v2'])})")


def find_bloom():
    import inspect
    return "bloom_filter_options" in inspect.signature(pq.write_table).parameters


HAS_BLOOM = find_bloom()


def test_of(rng, pools, kinds):
    """One test, in words that both grammars read alike."""
    name = rng.choice(sorted(kinds))
    kind, make, literal = kinds[name]

    def value():
        return literal(rng.choice(pools[name]) if rng.random() < 0.7 else make())
    form = rng.randrange(8)
    if form == 0:
        return f"{name} IS {'NOT ' if rng.random() < 0.5 else ''}NULL"
    if form == 1:
        values = ", ".join(value() for _ in range(rng.randrange(1, 6)))
        return f"{name} {'NOT ' if rng.random() < 0.3 else ''}IN ({values})"
    if form == 2 and name == "t":
        return f"t LIKE '{rng.choice(['a', 'ab', 'z', 'a much'])}%'"
    return f"{name} {rng.choice(['=', '=', '=', '!=', '<', '<=', '>', '>='])} {value()}"


def predicate(rng, pools, kinds, depth=2):
    if depth == 0 or rng.random() < 0.4:
        return test_of(rng, pools, kinds)
    if rng.random() < 0.2:
        return f"NOT ({predicate(rng, pools, kinds, depth - 1)})"
    joined = rng.choice([" AND ", " OR "])
    return "(" + joined.join(predicate(rng, pools, kinds, depth - 1) for _ in range(2)) + ")"


def run(program, seed, folder, totals):
    rng = random.Random(seed)
    table, pools, kinds = make_table(rng, rng.choice([1, 50, 1000, 5000]))
    predicates = [predicate(rng, pools, kinds) for _ in range(12)]
    connection = duckdb.connect()
    connection.register("source", table)
    expected = [[row for (row,) in connection.execute(f"SELECT row FROM source WHERE {where} ORDER BY row").fetchall()]
                for where in predicates]
    for writer in (write_pyarrow, write_duckdb):
        path = os.path.join(folder, f"seed{seed}_{writer.__name__}.parquet")
        writer(table, path, rng)
        result = subprocess.run([program, path], input="\n".join(predicates) + "\n", capture_output=True, text=True,
                                timeout=300)
        lines = result.stdout.splitlines()
        if result.returncode != 0 or len(lines) != len(predicates):
            print(f"seed {seed}, {path}: exit {result.returncode}\n{result.stdout[-500:]}{result.stderr[-2000:]}")
            return False
        for where, rows, line in zip(predicates, expected, lines):
            counts, _, numbers = line.partition("|")
            for i, count in enumerate(counts.split()):
                totals[i] += int(count)
            if [int(number) for number in numbers.split()] != rows:
                print(f"seed {seed}, {path}\n  {where}\n  expected {rows[:20]}...\n  read {numbers[:200]}...")
                return False
        os.remove(path)
    return True


def main():
    program = sys.argv[1]
    chosen = seeds.chosen(sys.argv[2:], at_least=10, per_second=5 / 3)
    print(f"Bloom filters by pyarrow: {HAS_BLOOM}")
    folder = tempfile.mkdtemp(prefix="frazil_pruning_")
    totals = [0] * 5
    for seed in chosen:
        if not run(program, seed, folder, totals):
            return 1
    os.rmdir(folder)
    print("pruned: row groups by statistics {}, page index {}, Bloom filters {}, dictionaries {}; pages {}"
          .format(*totals))
    if len(chosen) >= 10 and min(totals[0], totals[2], totals[4]) == 0:
        print("some way of pruning was never taken")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
