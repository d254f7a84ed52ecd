"""Makes expected.json.gz: the rows of every table of tests/corpora/iceberg-tables as other engines read them.

usage: make_expected.py OUT pyiceberg|duckdb|files        (an environment of tests/requirements*.txt)

PyIceberg reads each table through a FileIO that maps the recorded paths to the corpus; DuckDB reads it by folder with
moved paths allowed. `files` are the tables that both fail on: pyarrow reads all Parquet files below the folder, columns by
name. Each row is a list of canonical texts (None for null), rows are sorted. Run once for each engine;
check_tables.py demands that Frazil agrees with every engine that could read the table.
"""

import concurrent.futures
import glob
import gzip
import importlib.util
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from canonical import canonical, digest, sort_rows

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpora")
TABLES = os.path.join(ROOT, "iceberg-tables")


def local_path(folder, recorded, path):
    """The file of the corpus that `path` means: the recorded location replaced, or the same tail below the table."""
    if path.startswith(recorded.rstrip("/") + "/"):
        candidate = os.path.join(folder, path[len(recorded.rstrip("/")) + 1 :])
        if os.path.exists(candidate):
            return candidate
    parts = path.split("/")
    for start in range(len(parts)):
        candidate = os.path.join(folder, *parts[start:])
        if os.path.isfile(candidate):
            return candidate
    return os.path.join(folder, parts[-1])


def read_pyiceberg(entry, folder, metadata):
    from pyiceberg.io.pyarrow import PyArrowFileIO
    from pyiceberg.table import StaticTable
    from pyiceberg.serializers import FromInputFile

    recorded = entry["location_in_metadata"]

    class MappedIO(PyArrowFileIO):
        def new_input(self, location):
            if not os.path.exists(location):
                location = local_path(folder, recorded, location)
            return super().new_input(location)

    parsed = FromInputFile.table_metadata(PyArrowFileIO({}).new_input(metadata))
    table = StaticTable(("static", entry["dir"]), parsed, metadata, MappedIO({}), None)
    arrow = table.scan().to_arrow()
    return arrow.schema.names, [list(row.values()) for row in arrow.to_pylist()]


def read_duckdb(entry, folder, metadata):
    import duckdb

    db = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    for name in ("avro", "iceberg"):
        home = os.path.dirname(importlib.util.find_spec(f"duckdb_extension_{name}").origin)
        db.execute(f"LOAD '{glob.glob(home + '/extensions/*/*.duckdb_extension')[0]}'")
    db.execute("SET TimeZone='UTC'")
    name = os.path.basename(metadata)
    stem = name.removesuffix(".metadata.json").removesuffix(".gz")
    options = ["allow_moved_paths=true", f"version='{stem}'", "version_name_format='%s%s.metadata.json'"]
    if ".gz." in name:
        options.append("metadata_compression_codec='gzip'")
    sources = [f"'{folder}', {', '.join(options)}"]
    recorded = entry["location_in_metadata"]
    if recorded.startswith("data/persistent/"):
        # Made with paths relative to DuckDB's repository: give it such a working folder.
        home = tempfile.mkdtemp()
        os.makedirs(home + "/data")
        os.symlink(os.path.abspath(os.path.join(TABLES, "duckdb")), home + "/data/persistent")
        os.chdir(home)
        sources.append(f"'{os.path.join(recorded, 'metadata', name)}'")
    for source in sources:
        try:
            relation = db.sql(f"SELECT * FROM iceberg_scan({source})")
            return relation.columns, relation.fetchall()
        except duckdb.Error:
            if source == sources[-1]:
                raise


# Tables that neither PyIceberg 0.12.0 nor DuckDB 1.5.5 reads, and their data files.
UNREAD = {
    "dremio/nation": "**/*.parquet",
    "dremio/partitionednation": "220601c1-8969-b2b3-b119-d44ab0645a00/*/*.parquet",
    "duckdb/big_query_error": "**/*.parquet",
    "duckdb/iceberg_v1_deprecated/default/legacy_v1": "**/*.parquet",
    "impala/hadoop_catalog/ice/airports_parquet": "000000_0",
    "impala/iceberg_v3/trino_nested_variant": "data/*.parquet",
    "impala/hadoop_catalog/ice/iceberg_multiple_storage_locations": "../iceberg_multiple_storage_locations_data*/*/*.parquet",
}


def read_files(entry, folder, metadata):
    import pyarrow as pa
    import pyarrow.parquet as pq

    if entry["dir"] not in UNREAD:
        raise ValueError("another engine reads it")
    paths = sorted(glob.glob(f"{folder}/{UNREAD[entry['dir']]}", recursive=True))
    if len(paths) != entry["files"]["data:parquet"]:
        raise ValueError(f"{len(paths)} files, the table has {entry['files']}")
    table = pa.concat_tables([pq.ParquetFile(path).read() for path in paths], promote_options="permissive")
    return table.schema.names, [list(row.values()) for row in table.to_pylist()]


def in_a_child(read, *arguments):
    """An engine may abort the whole process on a table."""
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        return pool.submit(read, *arguments).result()


def main():
    out, engine = sys.argv[1:]
    read = {"pyiceberg": read_pyiceberg, "duckdb": read_duckdb, "files": read_files}[engine]
    if engine == "files":
        import pyarrow
        maker = f"pyarrow {pyarrow.__version__}, file by file"
    elif engine == "pyiceberg":
        import pyiceberg
        maker = f"PyIceberg {pyiceberg.__version__}"
    else:
        import duckdb
        maker = f"DuckDB {duckdb.__version__} with its iceberg extension"
    result = {"maker": maker, "tables": {}}
    for entry in json.load(open(os.path.join(ROOT, "expected", "iceberg-tables-index.json"))):
        folder = os.path.join(TABLES, entry["dir"])
        metadata = os.path.join(folder, "metadata", entry["metadata"])
        try:
            names, rows = in_a_child(read, entry, folder, metadata)
            rows = sort_rows([[canonical(value) for value in row] for row in rows])
            result["tables"][entry["dir"]] = {"columns": list(names), "count": len(rows), "sha256": digest(rows)}
            if len(rows) <= 100:
                result["tables"][entry["dir"]]["rows"] = rows
            print("ok  ", entry["dir"], len(rows), entry["expected_rows"])
        except Exception as error:  # what an engine cannot read is not expected from it
            print("none", entry["dir"], type(error).__name__, str(error).replace("\n", " ")[:140])
    with gzip.GzipFile(out, "wb", mtime=0) as file:
        file.write(json.dumps(result, separators=(",", ":"), sort_keys=True).encode())


if __name__ == "__main__":
    main()
