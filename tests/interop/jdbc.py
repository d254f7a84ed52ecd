"""Frazil, Iceberg Java's JdbcCatalog and PyIceberg take turns on one SQLite database.

usage: jdbc.py [--fetch]       FRAZIL names the program; --fetch gets what Java needs

Databases of both layouts, V0 and V1, made by Frazil and by Java: what one of the three makes, appends, renames and drops,
the others find; rows of all are there once; a table that Java loaded before Frazil's commit is committed to all the same.
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, ".."))
import java_oracle
from verb_program import VerbProgram

try:
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.io.pyarrow import schema_to_pyarrow
except ImportError as error:
    print(f"skipped: {error}; the Python oracles are not installed")
    sys.exit(77)

FRAZIL = os.environ["FRAZIL"]


def start_java(folder, layout):
    """A running JdbcVerbs."""
    words = [f"{folder}/lake.db", f"file://{folder}/wh", f"jdbc.schema-version={layout.upper()}"]
    return VerbProgram(java_oracle.command(os.path.join(HERE, "java", "JdbcVerbs.java"), *words))


class Frazil:
    def __init__(self, folder, layout):
        self.catalog = ["--catalog", "lake", "--uri", f"sqlite:///{folder}/lake.db", "--warehouse", f"file://{folder}/wh",
                        "--property", f"schema_version={layout}"]

    def run(self, *words, text=None, fails=False):
        done = subprocess.run([FRAZIL, *self.catalog, *words], input=text, capture_output=True, text=True, timeout=120)
        assert (done.returncode != 0) == fails, (words, done.stdout[-500:], done.stderr[-1000:])
        return done.stdout

    def append(self, table, ids):
        self.run("load", table, "-", "--format", "json", text="".join(json.dumps({"id": i, "name": f"frazil-{i}"}) + "\n" for i in ids))

    def rows(self, table):
        return sorted([row["id"], row["name"]] for row in map(json.loads, self.run("scan", table, "--format", "json").splitlines()))


def take_turns(folder, layout, maker):
    frazil = Frazil(folder, layout)
    if maker == "frazil":
        frazil.run("namespace", "create", "web")
        java = start_java(folder, layout)
    else:
        java = start_java(folder, layout)  # makes the database when it starts
        frazil.run("namespace", "create", "web")
    pyiceberg = SqlCatalog("lake", uri=f"sqlite:///{folder}/lake.db", warehouse=f"file://{folder}/wh")
    with sqlite3.connect(f"{folder}/lake.db") as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(iceberg_tables)")]
    assert ("iceberg_type" in columns) == (layout == "v1"), columns
    assert java.do("namespaces")["namespaces"] == ["web"]
    for version in (1, 2, 3):
        frazil.run("create", f"web.f{version}", "--schema", "id bigint not null, name string", "--partition-by", "bucket(4, id)",
                   "--format-version", str(version))
    java.do("create", table="web.j")
    assert sorted(java.do("tables", namespace="web")["tables"]) == ["f1", "f2", "f3", "j"]
    assert java.ask("create", table="web.f1")["error"] == "AlreadyExistsException"
    frazil.run("create", "web.j", "--schema", "id bigint", fails=True)

    for name in ("web.f1", "web.f2", "web.f3", "web.j"):
        writers = {
            "frazil": lambda ids: frazil.append(name, ids),
            "java": lambda ids: java.do("append", table=name, ids=ids),
            "pyiceberg": lambda ids: pyiceberg_append(pyiceberg, name, ids),
        }
        if name == "web.f3":
            del writers["pyiceberg"]  # writes no v3
        expected = []
        for turn in range(2):
            for number, (who, append) in enumerate(writers.items()):
                ids = [100 * turn + 10 * number + i for i in range(5)]
                append(ids)
                expected += [[i, f"{who}-{i}"] for i in ids]
                for reader, rows in (("java", java.do("rows", table=name)["rows"]), ("frazil", frazil.rows(name))):
                    assert sorted(rows) == sorted(expected), (name, who, reader, rows)
        java.do("load", table=name)
        frazil.append(name, [1000])
        java.do("append_stale", table=name, ids=[1001])
        frazil.append(name, [1002])
        expected += [[1000, "frazil-1000"], [1001, "java-1001"], [1002, "frazil-1002"]]
        assert frazil.rows(name) == sorted(expected) == sorted(java.do("rows", table=name)["rows"])
        found = pyiceberg.load_table(name).scan().to_arrow()
        assert sorted(map(list, zip(found["id"].to_pylist(), found["name"].to_pylist()))) == sorted(expected), name
    java.do("rename", table="web.f1", to="web.g1")
    assert [1000, "frazil-1000"] in frazil.rows("web.g1")
    frazil.run("rename", "web.j", "web.k")
    assert [1001, "java-1001"] in java.do("rows", table="web.k")["rows"]
    assert java.ask("load", table="web.j")["error"] == "NoSuchTableException"
    frazil.run("drop", "web.k")
    assert java.do("drop", table="web.g1")["dropped"]
    frazil.run("scan", "web.g1", fails=True)
    assert sorted(java.do("tables", namespace="web")["tables"]) == ["f2", "f3"]
    java.close()
    pyiceberg.close()


def pyiceberg_append(catalog, name, ids):
    table = catalog.load_table(name)
    table.append(pa.table({"id": ids, "name": [f"pyiceberg-{i}" for i in ids]}, schema=schema_to_pyarrow(table.schema())))


def main():
    why_not = java_oracle.missing("--fetch" in sys.argv)
    if why_not:
        print(f"skipped: {why_not}")
        sys.exit(77)
    for maker in ("frazil", "java"):
        for layout in ("v0", "v1"):
            with tempfile.TemporaryDirectory() as folder:
                take_turns(folder, layout, maker)
            print(f"ok   {layout} by {maker}", flush=True)


if __name__ == "__main__":
    main()
