"""PyIceberg, Polars and DuckDB read tables that Frazil wrote: all rows with equal values. (Spark: spark_reads.py.)

usage: table_readers.py [SEED ...]      without seeds: those of tests/seeds.py

The random tables of java_filters.py (v1, v2, v3, partitions by every transform, every type that the engine has), and those
of spark_reads.py with lists, structs and maps in one another. An engine reads in a process of its own (table_rows.py).
"""
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import spark_reads  # says what it skips without pyarrow
import seeds

import pyarrow as pa

ENGINES = {"pyiceberg": sys.executable, "polars": sys.executable}
if os.environ.get("FRAZIL_DUCKDB_PYTHON"):
    ENGINES["duckdb"] = os.environ["FRAZIL_DUCKDB_PYTHON"]
# Nanoseconds are no Python times: java_filters.py has them.
NOT_OF_PYTHON = ("timestamp_ns", "timestamptz_ns")


def as_read_by(engine, table):
    """The rows as far as the engine can tell them."""
    columns = {field.name: table[field.name] for field in table.schema}
    for name, column in columns.items():
        if engine == "polars" and column.type == pa.uuid():  # Polars has no such type
            columns[name] = column.cast(pa.binary(16))
        # PyIceberg 0.12.0 reads lists and maps of structs that are null as empty ones, those that it wrote itself too.
        inner = (column.type.value_type if pa.types.is_list(column.type) else
                 column.type.item_type if pa.types.is_map(column.type) else None)
        if engine == "pyiceberg" and inner is not None and pa.types.is_struct(inner):
            columns[name] = pa.array([value or [] for value in column.to_pylist()], column.type)
    return pa.table(columns)


def answers_of(engine, paths):
    program = [ENGINES[engine], os.path.join(HERE, "table_rows.py"), engine]
    done = subprocess.run(program, input="".join(path + "\n" for path in paths).encode(), capture_output=True,
                          timeout=120 + 5 * len(paths), env={**os.environ, "TZ": "UTC"})
    answers = [json.loads(line) for line in done.stdout.decode().splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(answers) != len(paths):
        sys.exit(f"table_rows.py {engine}: {len(answers)} of {len(paths)} answers; {done.stderr.decode(errors='replace')[-3000:]}")
    return answers


def main():
    home = tempfile.mkdtemp(prefix="frazil-readers-")
    tables = []
    for seed in seeds.chosen(sys.argv[1:], at_least=12, per_second=0.3):
        r = random.Random(seed)
        folder = os.path.join(home, str(seed))
        os.mkdir(folder)
        made = (spark_reads.nested_table(r, folder, 1 + seed // 4 % 3) if seed % 4 == 0 else
                spark_reads.flat_table(r, folder, NOT_OF_PYTHON))
        tables.append((seed, *made))
    failed = False
    for engine in ENGINES:
        answers = answers_of(engine, [metadata for _, metadata, _, _ in tables])
        counts = collections.Counter()
        for (seed, metadata, table, description), answer in zip(tables, answers, strict=True):
            problem = spark_reads.difference(as_read_by(engine, table), answer)
            counts["failed" if problem else "equal"] += 1
            if problem:
                failed = True
                print(f"FAIL  {engine}, seed {seed}, {metadata}: {description}\n      {problem[:1500]}")
        print(f"{answers[0]['engine']} reads {counts['equal']} of {len(tables)} tables with equal values")
    if not failed:
        shutil.rmtree(home)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
