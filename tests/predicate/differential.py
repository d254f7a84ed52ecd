"""Do random predicates want the same rows of a file as DuckDB's WHERE and PyIceberg's row filter?

Usage: differential.py PREDICATE_ROWS_PROGRAM [SEED ...]

Each seed makes one Parquet file and 30 predicates for each oracle; without seeds: those of tests/seeds.py. A failure prints its seed and the predicate, and keeps the file.
Which oracles can be imported decides who is asked: PyIceberg in this interpreter, DuckDB here or in
FRAZIL_DUCKDB_PYTHON's.

Where the others mean something else, on purpose, the predicate is put so that both agree:
- PyIceberg evaluates with Arrow, where NaN compares as IEEE 754 has it: it is asked about floats without NaN.
- PyIceberg's NOT IN wants null rows (Arrow's is_in is false for null, not null): it is asked about IN where there are
  none.
- PyIceberg folds NOT (k = literal beyond the type) to true, for null rows too: it gets no such literals.
- DuckDB's isnan(NULL) is null; IS NAN is false there: it is asked coalesce(isnan(x), false).
- DuckDB's LIKE has no escape character unless one is named.
"""
import datetime
import decimal
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import seeds

try:
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq
except ImportError:
    print("skipped: pyarrow cannot be imported")
    sys.exit(77)
try:
    from pyiceberg.expressions.parser import parse as parse_filter
    from pyiceberg.expressions.visitors import bind
    from pyiceberg.io.pyarrow import expression_to_pyarrow, pyarrow_to_schema
except ImportError:
    parse_filter = None

DUCKDB_PROGRAM = """
import json, sys
import duckdb
path, predicates = json.load(sys.stdin)
connection = duckdb.connect()
query = "SELECT file_row_number FROM read_parquet(?, file_row_number = true) WHERE {} ORDER BY 1"
for text in predicates:
    print(json.dumps([row[0] for row in connection.execute(query.format(text), [path]).fetchall()]))
"""
PREDICATES = 30  # of a seed, for each oracle
DAY = datetime.date(2026, 11, 1)
INTEGERS = [0, 1, -1, 5, 127, 2**31 - 1, -2**31, 2**62]
FLOATS = [0.0, -0.0, 1.0, 1.5, -2.25, 1e30, -1e30, 0.125]
TEXTS = ["", "a", "ab", "abc", "b", "it's", "100%", "a_b", "\u65e5\u672c", "\u00e9", "z"]


def make_file(rng, path):
    rows = rng.choice([1, 50, 300])

    def column(kind, values, null_share):
        return pa.array([None if rng.random() < null_share else values() for _ in range(rows)], kind)

    columns = {
        "i": column(pa.int64(), lambda: rng.choice(INTEGERS), 0),
        "n": column(pa.int64(), lambda: rng.choice(INTEGERS + [2**63 - 1, -2**63]), 0.2),
        "k": column(pa.int32(), lambda: rng.randrange(-5, 6), 0.2),
        "g": column(pa.float64(), lambda: rng.choice(FLOATS), 0.2),
        "f": column(pa.float32(), lambda: rng.choice([0.0, -0.0, 0.5, 3.25, math.nan, math.inf, -math.inf]), 0.2),
        "d": column(pa.float64(), lambda: rng.choice(FLOATS + [math.nan, math.inf, -math.inf]), 0.2),
        "m": column(pa.decimal128(9, 2), lambda: decimal.Decimal(rng.randrange(-500, 500)).scaleb(-2), 0.2),
        "s": column(pa.string(), lambda: rng.choice(TEXTS), 0.2),
        "t": column(pa.string(), lambda: rng.choice(TEXTS), 0),
        "day": column(pa.date32(), lambda: DAY + datetime.timedelta(days=rng.randrange(-3, 4)), 0.2),
        "ts": column(pa.timestamp("us"), lambda: datetime.datetime(2026, 11, 1) + datetime.timedelta(
            microseconds=rng.choice([0, 1, -1, 10**6, 86_400 * 10**6])), 0.2),
        "b": column(pa.bool_(), lambda: rng.random() < 0.5, 0.2),
    }
    # Statistics off: whether NaN hides outside of bounds is no question of this test.
    pq.write_table(pa.table(columns), path, row_group_size=97, write_statistics=False)


def literal(rng, name, in_range):
    if name == "k" and in_range:
        return str(rng.randrange(-6, 7))
    if name in "ink":
        return rng.choice([str(rng.choice(INTEGERS)), str(rng.randrange(-6, 7)), "9223372036854775807"])
    if name in "gfd":
        return rng.choice(["0", "-0.0", "1.5", "0.5", "-2.25", "3.25", "100"])
    if name == "m":
        return rng.choice(["0", "1", "1.5", "-2.25", "4.99", "-0.01", "1.005", "1000000"])
    if name in ("s", "t"):
        return "'" + rng.choice(TEXTS).replace("'", "''") + "'"
    if name == "day":
        return f"'{DAY + datetime.timedelta(days=rng.randrange(-4, 5))}'"
    if name == "ts":
        return rng.choice(["'2026-11-01T00:00:00'", "'2026-11-01T00:00:00.000001'", "'2026-10-31T23:59:59.999999'",
                           "'2026-11-02T00:00:00'"])
    return rng.choice(["true", "false"])


def make_test(rng, names, in_names, in_range):
    """A test as (Frazil's text, DuckDB's text)."""
    name = rng.choice(names)
    choice = rng.random()
    negation = rng.choice(["", "not "])
    if choice < 0.12:
        text = f"{name} is {negation}null"
    elif choice < 0.25 and name in in_names:
        values = ", ".join(literal(rng, name, in_range) for _ in range(rng.randrange(1, 5)))
        text = f"{name} {negation}in ({values})"
    elif choice < 0.35 and name not in ("b",):
        text = f"{name} between {literal(rng, name, in_range)} and {literal(rng, name, in_range)}"
    elif choice < 0.5 and name in ("s", "t"):
        prefix = rng.choice(["", "a", "ab", "\u65e5", "it''s", "100\\%"])
        wildcard = rng.choice(["%", ""])
        text = f"{name} {negation}like '{prefix}{wildcard}'"
        return text, text + " escape '\\'"
    elif choice < 0.5 and name in ("f", "d"):
        return f"{name} is {negation}nan", f"{negation}coalesce(isnan({name}), false)"
    else:
        operator = rng.choice(["=", "!=", "<>", "<", "<=", ">", ">=", "=="])
        value = literal(rng, name, in_range)
        text = f"{name} {operator} {value}" if rng.random() < 0.8 else f"{value} {operator} {name}"
    return text, text


def make_predicate(rng, names, in_names, in_range=False, depth=3):
    if depth == 0 or rng.random() < 0.3:
        return make_test(rng, names, in_names, in_range)
    if rng.random() < 0.3:
        ours, theirs = make_predicate(rng, names, in_names, in_range, depth - 1)
        return f"not ({ours})", f"not ({theirs})"
    parts = [make_predicate(rng, names, in_names, in_range, depth - 1) for _ in range(rng.randrange(2, 4))]
    word = rng.choice([" and ", " or "])
    return tuple("(" + word.join(part[side] for part in parts) + ")" for side in (0, 1))


def ask_frazil(program, path, predicates):
    lines = subprocess.run([program, path], input="\n".join(predicates) + "\n", capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def find_duckdb():
    for python in (sys.executable, os.environ.get("FRAZIL_DUCKDB_PYTHON")):
        if python and subprocess.run([python, "-c", "import duckdb"], capture_output=True).returncode == 0:
            return python
    return None


def ask_duckdb(python, path, predicates):
    run = subprocess.run([python, "-c", DUCKDB_PROGRAM], input=json.dumps([path, predicates]), capture_output=True,
                         text=True)
    if run.returncode != 0:
        raise SystemExit(f"DuckDB: {run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def ask_pyiceberg(path, predicates):
    table = pq.read_table(path)
    fields = [pa.field(f.name, f.type, metadata={"PARQUET:field_id": str(i + 1)}) for i, f in enumerate(table.schema)]
    schema = pyarrow_to_schema(pa.schema(fields))
    data = ds.dataset(table.append_column("row", pa.array(range(table.num_rows))))
    out = []
    for text in predicates:
        bound = bind(schema, parse_filter(text), case_sensitive=True)
        out.append(data.to_table(filter=expression_to_pyarrow(bound), columns=["row"])["row"].to_pylist())
    return out


def compare(seed, path, oracle, predicates, ours, theirs):
    if not len(predicates) == len(ours) == len(theirs):
        raise SystemExit(f"seed {seed}: {len(predicates)} predicates, {len(ours)} and {len(theirs)} answers")
    for text, mine, other in zip(predicates, ours, theirs):
        if mine != other:
            raise SystemExit(f"seed {seed}: {oracle} differs, file {path}\n  {text}\n  frazil {mine}\n  "
                             f"{oracle} {other}")


def main():
    program = sys.argv[1]
    duckdb = find_duckdb()
    if duckdb is None and parse_filter is None:
        print("skipped: neither DuckDB nor PyIceberg can be imported")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="frazil_predicate_")
    matches = 0
    for seed in seeds.chosen(sys.argv[2:], at_least=15, per_second=5 / 3):
        rng = random.Random(seed)
        path = os.path.join(folder, f"{seed}.parquet")
        make_file(rng, path)
        if duckdb is not None:
            names = ["i", "n", "k", "g", "f", "d", "m", "s", "t", "day", "ts", "b"]
            pairs = [make_predicate(rng, names, names) for _ in range(PREDICATES)]
            ours = ask_frazil(program, path, [pair[0] for pair in pairs])
            matches += sum(len(rows) for rows in ours)
            compare(seed, path, "duckdb", [pair[0] for pair in pairs], ours,
                    ask_duckdb(duckdb, path, [pair[1] for pair in pairs]))
        if parse_filter is not None:
            names = ["i", "n", "k", "g", "s", "t", "day", "ts", "b"]
            texts = [make_predicate(rng, names, ["i", "t"], in_range=True)[0] for _ in range(PREDICATES)]
            ours = ask_frazil(program, path, texts)
            matches += sum(len(rows) for rows in ours)
            compare(seed, path, "pyiceberg", texts, ours, ask_pyiceberg(path, texts))
        os.remove(path)
    os.rmdir(folder)
    oracles = (["DuckDB"] if duckdb else []) + (["PyIceberg"] if parse_filter else [])
    print(f"{matches} rows found, equal to {' and '.join(oracles)}")


if __name__ == "__main__":
    main()
