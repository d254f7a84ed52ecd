#!/usr/bin/env python3
"""Frazil and PyIceberg take turns on one SQLite catalog.

usage: catalogs.py VERBS [--fetch]       VERBS is frazil_commit_verbs; --fetch gets what Java needs

Databases of both layouts, made by each of the two: namespaces, tables, appends, properties, renames and drops of the one
are what the other finds, and rows of both are there once. Then tables that Frazil made (all format versions, nested types,
specs, orders, branches, compressed and cleared metadata) go through Iceberg Java's strict TableMetadataParser.
"""
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, os.path.join(HERE, "..", "interop"))
import java_oracle
from verb_program import VerbProgram

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.exceptions import CommitFailedException, NamespaceAlreadyExistsError, NoSuchTableError, TableAlreadyExistsError
    from pyiceberg.io.pyarrow import schema_to_pyarrow
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField, StringType
except ImportError as error:
    print(f"catalogs.py: skipped, {error}")
    sys.exit(77)

SCHEMA = {"type": "struct", "schema-id": 0, "fields": [
    {"id": 1, "name": "id", "required": True, "type": "long"}, {"id": 2, "name": "name", "required": False, "type": "string"}]}
NESTED = {"type": "struct", "schema-id": 0, "identifier-field-ids": [7], "fields": [
    {"id": 5, "name": "point", "required": False, "type": {"type": "struct", "fields": [
        {"id": 6, "name": "x", "required": True, "type": "double"}, {"id": 9, "name": "y", "required": False, "type": "decimal(9, 2)"}]}},
    {"id": 7, "name": "id", "required": True, "type": "uuid", "doc": "the key"},
    {"id": 8, "name": "tags", "required": False, "type": {"type": "map", "key-id": 10, "key": "string", "value-id": 11,
        "value-required": False, "value": {"type": "list", "element-id": 12, "element-required": True, "element": "timestamptz"}}},
    {"id": 13, "name": "ts", "required": False, "type": "timestamptz"}]}
V0 = """CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000),
    PRIMARY KEY (catalog_name, table_namespace, table_name));
CREATE TABLE iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL,
    property_key VARCHAR(255), property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key));"""


def start_frazil(program, folder, **properties):
    """A running frazil_commit_verbs."""
    return VerbProgram([program, f"sqlite:///{folder}/lake.db", f"file://{folder}/wh", *(f"{k}={v}" for k, v in properties.items())])


def rows_of(numbers, who):
    return {"id": list(numbers), "name": [f"{who}-{n}" for n in numbers]}


def append_by_frazil(frazil, name, table, numbers):
    """PyIceberg's Arrow schema has the field ids; the location is where the table's data goes."""
    folder = table.location().removeprefix("file://") + "/data"
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/frazil-{numbers[0]}.parquet"
    pq.write_table(pa.table(rows_of(numbers, "frazil"), schema=schema_to_pyarrow(table.schema())), path)
    return frazil.do("append", table=name, files=[{"path": "file://" + path, "rows": len(numbers), "bytes": os.path.getsize(path)}])


def alternate(program, folder, maker, layout):
    uri = f"sqlite:///{folder}/lake.db"
    if layout == "v0" and maker == "pyiceberg":  # what released versions made; today's makes V1
        with sqlite3.connect(f"{folder}/lake.db") as database:
            database.executescript(V0)

    def open_pyiceberg():
        return SqlCatalog("lake", uri=uri, warehouse=f"file://{folder}/wh")

    if maker == "pyiceberg":
        pyiceberg = open_pyiceberg()
        frazil = start_frazil(program, folder)
        pyiceberg.create_namespace("web", {"owner": "p"})
        frazil.do("create_namespace", name="eu", properties={"owner": "f"})
    else:
        frazil = start_frazil(program, folder, schema_version=layout)
        frazil.do("create_namespace", name="eu", properties={"owner": "f"})
        pyiceberg = open_pyiceberg()
        pyiceberg.create_namespace("web", {"owner": "p"})
    with sqlite3.connect(f"{folder}/lake.db") as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(iceberg_tables)")]
    assert ("iceberg_type" in columns) == (layout == "v1"), columns
    assert sorted(pyiceberg.list_namespaces()) == [("eu",), ("web",)]
    assert pyiceberg.load_namespace_properties("eu")["owner"] == "f"
    assert frazil.ask("create_namespace", name="web")["error"] == "already_exists"
    try:
        pyiceberg.create_namespace("eu")
        raise AssertionError("PyIceberg does not see Frazil's namespace")
    except NamespaceAlreadyExistsError:
        pass

    pyiceberg.create_table("web.p", Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "name", StringType())))
    made = frazil.do("create", table="web.f", schema=SCHEMA, properties={"commit.manifest.min-count-to-merge": "3"})
    assert pyiceberg.load_table("web.f").metadata_location == made["metadata_location"]
    assert sorted(pyiceberg.list_tables("web")) == [("web", "f"), ("web", "p")]
    assert frazil.ask("create", table="web.p", schema=SCHEMA)["error"] == "already_exists"
    try:
        pyiceberg.create_table("web.f", Schema(NestedField(1, "id", LongType())))
        raise AssertionError("PyIceberg does not see Frazil's table")
    except TableAlreadyExistsError:
        pass

    for name in ("web.p", "web.f"):
        expected = []
        for turn in range(8):
            numbers = list(range(turn * 10, turn * 10 + turn + 1))
            table = pyiceberg.load_table(name)
            if turn % 2 == 0:
                append_by_frazil(frazil, name, table, numbers)
            else:
                table.append(pa.table(rows_of(numbers, "pyiceberg"), schema=schema_to_pyarrow(table.schema())))
            expected += [f"{'frazil' if turn % 2 == 0 else 'pyiceberg'}-{n}" for n in numbers]
            found = pyiceberg.load_table(name)
            assert sorted(found.scan().to_arrow()["name"].to_pylist()) == sorted(expected), (name, turn)
            assert found.current_snapshot().summary["total-records"] == str(len(expected))
            assert frazil.do("load", table=name)["rows"] == str(len(expected))
            assert found.metadata.last_sequence_number == turn + 1
        # A stale PyIceberg table must not overwrite what Frazil committed since: it fails, or takes it in.
        stale = pyiceberg.load_table(name)
        append_by_frazil(frazil, name, stale, [100])
        expected.append("frazil-100")
        try:
            stale.append(pa.table(rows_of([200], "pyiceberg"), schema=schema_to_pyarrow(stale.schema())))
            expected.append("pyiceberg-200")
        except CommitFailedException:
            pass
        assert sorted(pyiceberg.load_table(name).scan().to_arrow()["name"].to_pylist()) == sorted(expected)
        frazil.do("update", table=name, updates=[{"action": "set-properties", "updates": {"k": "v"}}])
        assert pyiceberg.load_table(name).properties["k"] == "v"
        rows = str(len(expected))

    frazil.do("rename", table="web.p", to="eu.moved")
    pyiceberg.rename_table("web.f", "eu.other")
    assert pyiceberg.load_table("eu.moved").scan().to_arrow().num_rows == int(rows)
    assert frazil.do("load", table="eu.other")["rows"] == rows
    assert frazil.ask("load", table="web.f")["error"] == "not_found"
    assert frazil.ask("drop_namespace", name="eu")["error"] == "invalid_argument"
    frazil.do("drop_namespace", name="web")
    assert pyiceberg.list_namespaces() == [("eu",)]
    location = pyiceberg.load_table("eu.moved").location().removeprefix("file://")
    frazil.do("purge", table="eu.moved")
    left = [os.path.join(where, file) for where, _, files in os.walk(location) for file in files]
    assert not left, left
    try:
        pyiceberg.load_table("eu.moved")
        raise AssertionError("still there")
    except NoSuchTableError:
        pass
    pyiceberg.drop_table("eu.other")
    assert frazil.ask("drop", table="eu.other")["error"] == "not_found"
    pyiceberg.drop_namespace("eu")
    assert frazil.ask("drop_namespace", name="eu")["error"] == "not_found"
    frazil.close()


def snapshot(number, parent, ms, first_row_id=None):
    value = {"sequence-number": number, "snapshot-id": number * 1000, "timestamp-ms": ms, "manifest-list": f"/none/{number}.avro",
             "summary": {"operation": "append", "added-records": "1"}, "schema-id": 0}
    if parent:
        value["parent-snapshot-id"] = parent * 1000
    if first_row_id is not None:
        value |= {"first-row-id": first_row_id, "added-rows": 5}
    return value


def many_tables(program, folder):
    """Metadata of every kind that updates can make; gives the metadata files."""
    frazil = start_frazil(program, folder)
    frazil.do("create_namespace", name="n")
    files = []
    for version in (1, 2, 3):
        name = f"n.t{version}"
        location = frazil.do(
            "create", table=name, schema=NESTED, version=version,
            spec={"spec-id": 0, "fields": [{"source-id": 13, "field-id": 1000, "name": "ts_day", "transform": "day"},
                                           {"source-id": 7, "field-id": 1001, "name": "id_bucket", "transform": "bucket[16]"}]},
            order={"order-id": 1, "fields": [{"source-id": 6, "transform": "identity", "direction": "desc", "null-order": "nulls-last"}]},
            properties={"write.metadata.previous-versions-max": "3", "format-version": "2"})["metadata_location"]
        files.append(location)
        ms = json.load(open(location.removeprefix("file://")))["last-updated-ms"]
        rows = (0, 5) if version == 3 else (None, None)
        number = (1, 2) if version > 1 else (0, 0)

        def added(n, parent, at):
            value = snapshot(n, parent, ms + at, rows[n - 1])
            if version == 1:
                del value["sequence-number"]
            return [{"action": "add-snapshot", "snapshot": value},
                    {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": n * 1000}]

        wider = json.loads(json.dumps(NESTED))
        wider["fields"].append({"id": 30, "name": "more", "required": False, "type": "long"})
        for updates in (
                added(1, None, 1), added(2, 1, 2),
                [{"action": "set-snapshot-ref", "ref-name": "audit", "type": "branch", "snapshot-id": 1000, "min-snapshots-to-keep": 2}],
                [{"action": "set-snapshot-ref", "ref-name": "v1", "type": "tag", "snapshot-id": 2000, "max-ref-age-ms": 9}],
                [{"action": "add-schema", "schema": {"type": "struct", "fields": [{"id": 2, "name": "id", "required": True, "type": "uuid"},
                    {"id": 4, "name": "ts", "required": False, "type": "timestamptz"}, {"id": 40, "name": "m", "required": False, "type": "long"}]}},
                 {"action": "set-current-schema", "schema-id": -1},
                 {"action": "add-sort-order", "sort-order": {"order-id": 2, "fields": []}}, {"action": "set-default-sort-order", "sort-order-id": -1}],
                [{"action": "add-spec", "spec": {"fields": [{"source-id": 4, "name": "ts_hour", "transform": "hour"}]}},
                 {"action": "set-default-spec", "spec-id": -1}],
                [{"action": "set-properties", "updates": {"write.metadata.compression-codec": "gzip", "a": "b"}}],
                [{"action": "remove-properties", "removals": ["a"]}],
                [{"action": "set-properties", "updates": {"format-version": "3"}}],
                [{"action": "remove-snapshot-ref", "ref-name": "audit"}, {"action": "remove-snapshots", "snapshot-ids": [1000]}],
                [{"action": "remove-snapshot-ref", "ref-name": "main"}],
        ):
            files.append(frazil.do("update", table=name, updates=updates)["metadata_location"])
    frazil.close()
    return [file.removeprefix("file://") for file in files]


def check_by_java(files):
    """{file: what is wrong}: Java refuses it, or writes something else for what it read."""
    command = java_oracle.command(os.path.join(HERE, "java", "MetadataOracle.java"))
    done = subprocess.run(command, input="".join(path + "\n" for path in files), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-1000:]
    lines = done.stdout.splitlines()
    bad = {}
    for path, answer in zip(lines[::2], lines[1::2], strict=True):
        if answer.startswith("error: "):
            bad[path] = answer
            continue
        opened = gzip.open(path) if path.endswith(".gz.metadata.json") else open(path, "rb")
        with opened as file:
            ours, theirs = json.load(file), json.loads(answer)
        for each in ours["snapshots"]:  # of a table that was v1: the specification asks for it, Java leaves out a 0
            if each.get("sequence-number") == 0:
                del each["sequence-number"]
        for key in ours.keys() | theirs.keys():
            if ours.get(key) != theirs.get(key):
                bad[path] = f"{key}: {json.dumps(ours.get(key))}, Java has {json.dumps(theirs.get(key))}"
    missing = set(files) - set(lines[::2])
    return bad | {path: "Java says nothing of it" for path in missing}


def main():
    program = os.path.abspath([argument for argument in sys.argv[1:] if argument != "--fetch"][0])
    for maker in ("pyiceberg", "frazil"):
        for layout in ("v0", "v1"):
            with tempfile.TemporaryDirectory() as folder:
                alternate(program, folder, maker, layout)
                print(f"ok   {layout} by {maker}")
    with tempfile.TemporaryDirectory() as folder:
        files = many_tables(program, folder)
        why_not = java_oracle.missing("--fetch" in sys.argv)
        if why_not is not None:
            print(f"skip Iceberg Java: {why_not}")
            return 0
        bad = check_by_java(files)
        for path, error in bad.items():
            print(f"FAIL {path}: {error}")
        print(f"{'FAIL' if bad else 'ok  '} Iceberg Java parses {len(files) - len(bad)} of {len(files)} metadata files")
        return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
