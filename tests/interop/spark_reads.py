"""Spark reads tables that Frazil wrote: all rows with equal values.

usage: spark_reads.py [--fetch] [SEED ...]      FRAZIL_SPARK_PYTHON has pyspark; without seeds: those of tests/seeds.py;
                                                --fetch gets Iceberg's runtime for Spark (50 MB) by Maven

The random tables of java_filters.py (v1, v2, v3, every type that Spark has, partitions by every transform), and one of each
version with lists, structs and maps in one another. Spark starts once, in a process of its own (spark_rows.py).
"""
import datetime
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import java_filters  # says what it skips without pyarrow
import java_oracle
import seeds
from canonical import canonical, sort_rows

import pyarrow as pa
import pyarrow.parquet as pq

JARS = os.path.join(os.path.dirname(java_oracle.LIBRARIES), "spark")
RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"  # for the pyspark of tests/requirements-spark.txt
NOT_OF_SPARK = ("time", "timestamp_ns", "timestamptz_ns")

NESTED = {"type": "struct", "schema-id": 0, "fields": [
    {"id": 1, "name": "row", "required": True, "type": "long"},
    {"id": 2, "name": "tags", "required": False, "type": {"type": "list", "element-id": 3, "element-required": False, "element": "string"}},
    {"id": 4, "name": "deep", "required": False, "type": {"type": "list", "element-id": 5, "element-required": False, "element": {
        "type": "struct", "fields": [
            {"id": 6, "name": "at", "required": False, "type": "timestamptz"},
            {"id": 7, "name": "sums", "required": False, "type": {"type": "map", "key-id": 8, "key": "string", "value-id": 9,
                "value-required": False, "value": {"type": "list", "element-id": 10, "element-required": False, "element": "decimal(20, 3)"}}}]}}},
    {"id": 11, "name": "pairs", "required": False, "type": {"type": "map", "key-id": 12, "key": "int", "value-id": 13,
        "value-required": False, "value": {"type": "struct", "fields": [
            {"id": 14, "name": "x", "required": False, "type": "double"}, {"id": 15, "name": "b", "required": False, "type": "binary"}]}}}]}
NESTED_ARROW = pa.schema([
    pa.field("row", pa.int64(), False), pa.field("tags", pa.list_(pa.string())),
    pa.field("deep", pa.list_(pa.struct([("at", pa.timestamp("us", "UTC")), ("sums", pa.map_(pa.string(), pa.list_(pa.decimal128(20, 3))))]))),
    pa.field("pairs", pa.map_(pa.int32(), pa.struct([("x", pa.float64()), ("b", pa.binary())])))])


def missing(may_fetch):
    """Why Spark cannot be asked, or None."""
    if not os.environ.get("FRAZIL_SPARK_PYTHON"):
        return "pyspark is not installed (FRAZIL_SPARK_PYTHON; make interop installs it)"
    if not shutil.which("java"):
        return "java is not installed"
    if glob.glob(JARS + "/*.jar"):
        return None
    if not may_fetch or not shutil.which("mvn"):
        return "Iceberg's runtime for Spark is not in build/oracle-java/spark (make interop fetches it)"
    done = subprocess.run(["mvn", "-q", "-B", "dependency:copy", "-Dartifact=" + RUNTIME, "-DoutputDirectory=" + os.path.abspath(JARS)],
                          capture_output=True, timeout=600)
    return None if done.returncode == 0 else "mvn: " + done.stdout.decode(errors="replace")[-300:]


def nested_row(r, row):
    def maybe(make):
        return None if r.random() < 0.2 else make()

    def deep():
        at = maybe(lambda: datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(microseconds=r.randrange(10**12)))
        number = lambda: java_filters.decimal.Decimal(r.randrange(-10**15, 10**15)).scaleb(-3)
        keys = r.sample(["a", "b", "\u00e4", ""], r.randrange(4))
        return {"at": at, "sums": maybe(lambda: [(key, maybe(lambda: [maybe(number) for _ in range(r.randrange(3))])) for key in keys])}

    return {"row": row, "tags": maybe(lambda: [maybe(lambda: r.choice(["", "x", "\U0001f600"])) for _ in range(r.randrange(4))]),
            "deep": maybe(lambda: [maybe(deep) for _ in range(r.randrange(3))]),
            "pairs": maybe(lambda: [(key, maybe(lambda: {"x": maybe(r.random), "b": maybe(lambda: r.randbytes(3))}))
                                    for key in r.sample(range(9), r.randrange(4))])}


def nested_table(r, folder, version):
    with open(f"{folder}/schema.json", "w") as out:
        json.dump(NESTED, out)
    java_filters.frazil("create", f"{folder}/t", "--schema", f"{folder}/schema.json", "--format-version", str(version),
                        "--partition-by", "bucket(3, row)")
    rows = pa.Table.from_pylist([nested_row(r, row) for row in range(r.choice([1, 300]))], schema=NESTED_ARROW)
    pq.write_table(rows, f"{folder}/rows.parquet")
    java_filters.frazil("load", f"{folder}/t", f"{folder}/rows.parquet")
    return java_filters.newest_metadata(f"{folder}/t"), rows, f"v{version}, nested"


def flat_table(r, folder, without=NOT_OF_SPARK):
    metadata, _, whole, description = java_filters.make_table(r, folder, without=without)
    tops = {name: column for name, column in whole.items() if "." not in name}
    inner = {name[2:]: column for name, column in whole.items() if "." in name}
    table = pa.table(tops)
    if inner:  # make_table tells the leaves alone: a p that is null counts as one of nulls
        table = table.append_column("p", pa.StructArray.from_arrays(list(inner.values()), list(inner)))
    return metadata, table, description


def difference(table, answer):
    """What is wrong with an engine's {"columns", "rows"} or {"error"} for these rows, or None."""
    if "error" in answer:
        return answer["error"]
    columns = {column: [canonical(value) for value in table[column].to_pylist()] for column in table.column_names}
    if sorted(answer["columns"]) != sorted(columns):
        return f"columns {answer['columns']}"
    expected = sort_rows([list(row) for row in zip(*(columns[column] for column in answer["columns"]), strict=True)])
    found = sort_rows(answer["rows"])
    if "p" in answer["columns"]:
        of_nulls = canonical({field.name: None for field in table.schema.field("p").type})
        at = answer["columns"].index("p")
        found = sort_rows([[of_nulls if i == at and text is None else text for i, text in enumerate(row)] for row in found])
    if found == expected:
        return None
    first = next((pair for pair in zip(found, expected) if pair[0] != pair[1]), None)
    return f"{len(found)} rows, {len(expected)} expected; first difference {first}"


def main():
    named = [word for word in sys.argv[1:] if word != "--fetch"]
    why_not = missing("--fetch" in sys.argv)
    if why_not:
        print(f"skipped: {why_not}")
        sys.exit(77)
    home = tempfile.mkdtemp(prefix="frazil-spark-")
    tables = []
    for seed in seeds.chosen(named, at_least=10, per_second=0.05):
        for kind in ("flat", "nested") if seed % 3 == 0 else ("flat",):
            r = random.Random(seed)
            folder = os.path.join(home, f"{seed}-{kind}")
            os.mkdir(folder)
            made = flat_table(r, folder) if kind == "flat" else nested_table(r, folder, 1 + seed // 3 % 3)
            tables.append((f"seed {seed}, {kind}", *made))
    done = subprocess.run([os.environ["FRAZIL_SPARK_PYTHON"], os.path.join(HERE, "spark_rows.py"), *glob.glob(JARS + "/*.jar")],
                          input="".join(metadata + "\n" for _, metadata, _, _ in tables).encode(), capture_output=True,
                          timeout=300 + 20 * len(tables), env={**os.environ, "TZ": "UTC"})
    answers = [json.loads(line) for line in done.stdout.decode().splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(answers) != len(tables):
        sys.exit(f"spark_rows.py: {len(answers)} of {len(tables)} answers; {done.stderr.decode(errors='replace')[-3000:]}")
    failed = rows = 0
    for (name, metadata, table, description), answer in zip(tables, answers):
        problem = difference(table, answer)
        rows += len(answer.get("rows", []))
        if problem:
            failed += 1
            print(f"FAIL  {name}, {metadata}: {description}\n      {problem[:1500]}")
    print(f"Spark {answers[0].get('spark')} reads {len(tables) - failed} of {len(tables)} tables with equal values, {rows} rows")
    if failed == 0:
        shutil.rmtree(home)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
