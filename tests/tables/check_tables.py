"""Reads every table of tests/corpora/iceberg-tables with Frazil and prints a line for each.

tables.json says which must read and how many rows they have, and for each other one the feature that excuses it. The
feature must be found in the table's own metadata, and Frazil must refuse the table with an error that names it. Rows
are compared with what PyIceberg and DuckDB read (expected-*.json.gz, see make_expected.py) and with the results that
the tables' own projects state.
"""

import gzip
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from canonical import digest, from_json, sort_rows

CORPORA = os.path.join(HERE, "..", "corpora")
FRAZIL = os.environ["FRAZIL"]

# What an error must say for a table that a feature excuses.
FEATURES = {
    "delete file": "delete file",
    "ORC": "orc",
    "missing file": "s3:",
}


def frazil(*arguments):
    return subprocess.run([FRAZIL, *arguments], capture_output=True, timeout=120)


def describe_error(result):
    return f"exit code {result.returncode}: {result.stderr.decode(errors='replace').strip()[:300]}"


def column_types(table):
    result = frazil("schema", table, "--output", "json")
    if result.returncode != 0:
        raise AssertionError(describe_error(result))
    return [(field["name"], field["type"]) for field in json.loads(result.stdout)["fields"]]


def read_rows(table, columns):
    result = frazil("scan", table, "--format", "json")
    if result.returncode != 0:
        raise AssertionError(describe_error(result))
    rows = []
    for line in result.stdout.decode().splitlines():
        row = json.loads(line)
        if list(row) != [name for name, _ in columns]:
            raise AssertionError(f"columns {list(row)}, schema {columns}")
        rows.append([from_json(kind, row[name]) for name, kind in columns])
    return sort_rows(rows)


def check_readable(entry, expected, stated):
    table = os.path.join(CORPORA, "iceberg-tables", entry["table"], "metadata", entry["metadata"])
    columns = column_types(table)
    rows = read_rows(table, columns)
    if len(rows) != entry["rows"]:
        raise AssertionError(f"{len(rows)} rows instead of {entry['rows']}")
    agreed = []
    if "values" in entry:
        # No engine reads it: the files' rows, with the partition values of their folders.
        if rows != sort_rows(entry["values"]):
            raise AssertionError(f"rows {rows}")
        agreed.append("tables.json")
    for result in expected:
        other = result["tables"].get(entry["table"])
        if other is None:
            continue
        # DuckDB renames columns whose names differ in case alone; a bare file keeps the names of its time.
        names = [name for name, _ in columns]
        if "file by file" not in result["maker"] and names != other["columns"] and len({name.lower() for name in names}) == len(names):
            raise AssertionError(f"columns {columns}, {result['maker']} has {other['columns']}")
        if digest(rows) != other["sha256"]:
            first = next((pair for pair in zip(rows, other.get("rows", [])) if pair[0] != pair[1]), "")
            raise AssertionError(f"rows differ from {result['maker']}: {first}")
        agreed.append(result["maker"].split()[0])
    for query in stated:
        if check_stated(query, table, columns, rows):
            agreed.append("stated")
    if not agreed and rows:
        raise AssertionError("no other engine's rows to compare with")
    return f"{len(rows)} rows, as {', '.join(sorted(set(agreed))) or 'stated in the metadata: none'}"


def stated_for(table, stated):
    """The stated results name Impala's tables without their catalog's folders, DuckDB's with their metadata files."""
    keys = [key for key in stated if key == table or key.startswith(table + "/")]
    if table.startswith("impala/"):
        keys += [key for key in stated if key == "impala/" + table.rsplit("/", 1)[1]]
    return [query for key in keys for query in stated[key]]


def check_stated(query, table, columns, rows):
    """Results that the table's own project states, where the query is one that needs no engine of ours to evaluate."""
    text = " ".join(query["query"].lower().rstrip("; ").split())
    if re.fullmatch(r"select count\(\*\) from (iceberg_scan\('[^',]*'\)|[a-z0-9_.]+)", text):
        if query["result"] != [str(len(rows))]:
            raise AssertionError(f"stated {query['result']}: {query['query']}")
        return True
    plain = all(not isinstance(kind, dict) and kind in ("int", "long", "string", "date") for _, kind in columns)
    if plain and re.fullmatch(r"select \* from (iceberg_scan\('[^',]*'\)|[a-z0-9_.]+)( order by [a-z0-9_, ]+)?", text):
        separator = "\t" if "iceberg_scan" in text else ","
        stated = sort_rows([[None if cell == "NULL" else cell.strip("'") for cell in line.split(separator)] for line in query["result"]])
        if stated != rows:
            raise AssertionError(f"stated {query['result']}: {query['query']}")
        return True
    return False


def check_refused(entry):
    folder = os.path.join(CORPORA, "iceberg-tables", entry["table"])
    result = frazil("scan", os.path.join(folder, "metadata", entry["metadata"]), "--format", "none")
    message = result.stderr.decode(errors="replace")
    wanted = FEATURES[entry["excuse"]]
    if result.returncode != 5 or wanted.lower() not in message.lower():
        raise AssertionError(f"should be refused for '{wanted}' with code 5, but: {describe_error(result)}")
    if not entry["found_in_metadata"]:
        raise AssertionError("the metadata has no such feature")
    return f"refused: {entry['excuse']}"


def has_feature(index, excuse):
    """Whether the index of the corpora, which was read from the tables' metadata, shows the feature."""
    files = index["files"]
    return {
        "delete file": any("del:" in name for name in files),
        "ORC": any("orc" in name for name in files),
        "missing file": index["missing_files"] > 0,
    }[excuse]


def main():
    tables = json.load(open(os.path.join(HERE, "tables.json")))
    index = {entry["dir"]: entry for entry in json.load(open(os.path.join(CORPORA, "expected", "iceberg-tables-index.json")))}
    stated = json.load(open(os.path.join(CORPORA, "expected", "iceberg-stated-results.json")))
    expected = [json.load(gzip.open(os.path.join(HERE, f"expected-{name}.json.gz"))) for name in ("pyiceberg", "duckdb", "files")]
    if sorted(index) != sorted(entry["table"] for entry in tables):
        sys.exit("tables.json does not name every table of the corpora once")
    failures = read = 0
    for entry in tables:
        entry["metadata"] = index[entry["table"]]["metadata"]
        try:
            if "rows" in entry:
                text = check_readable(entry, expected, stated_for(entry["table"], stated))
                read += 1
            else:
                entry["found_in_metadata"] = has_feature(index[entry["table"]], entry["excuse"])
                text = check_refused(entry)
            print(f"ok    {entry['table']}: {text}")
        except Exception as error:
            failures += 1
            print(f"FAIL  {entry['table']}: {error}")
    print(f"{read} tables read, {len(tables) - read - failures} refused with their reason, {failures} failed")
    if read < 40:
        sys.exit("fewer than 40 tables read")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
