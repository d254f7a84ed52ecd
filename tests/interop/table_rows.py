"""Rows of Iceberg tables as one engine reads them: for each metadata file named on standard input a line of JSON (see canonical.py).

usage: table_rows.py pyiceberg|polars|duckdb        with an interpreter that has the engine, and TZ=UTC

{"columns": [S], "rows": [[S]], "engine": name and version} or {"error": S}
"""
import glob
import importlib.util
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from canonical import canonical


def of_arrow(table):
    return table.column_names, zip(*(column.to_pylist() for column in table.columns), strict=True)


def pyiceberg_reader():
    import pyiceberg
    from pyiceberg.table import StaticTable
    return f"PyIceberg {pyiceberg.__version__}", lambda path: of_arrow(StaticTable.from_metadata(path).scan().to_arrow())


def polars_reader():
    import polars
    return f"Polars {polars.__version__}", lambda path: of_arrow(polars.scan_iceberg(path, reader_override="native").collect().to_arrow())


def duckdb_reader():
    import duckdb
    db = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    for name in ("avro", "iceberg"):
        home = os.path.dirname(importlib.util.find_spec(f"duckdb_extension_{name}").origin)
        db.execute(f"LOAD '{glob.glob(home + '/extensions/*/*.duckdb_extension')[0]}'")
    db.execute("SET TimeZone='UTC'")

    def read(path):
        relation = db.sql(f"SELECT * FROM iceberg_scan('{path}')")
        return relation.columns, relation.fetchall()
    return f"DuckDB {duckdb.__version__}", read


def main():
    engine, read = {"pyiceberg": pyiceberg_reader, "polars": polars_reader, "duckdb": duckdb_reader}[sys.argv[1]]()
    for line in sys.stdin:
        try:
            columns, rows = read(line.strip())
            answer = {"columns": list(columns), "rows": [[canonical(value) for value in row] for row in rows], "engine": engine}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:1500], "engine": engine}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
