"""What frazil_parquet_dump reads of every Parquet file of the corpora, against what DuckDB and pyarrow read of it.

Usage: compare.py DUMP_PROGRAM [FILE...]   (a file: its path below tests/corpora)

A line a file: `same` (values equal), `part` (equal in the columns that are read; the others named), `error` with its
text where an error is the right answer, `rows` (read, and nothing to compare the values with). Any other outcome is a
failure. Expected values: tests/corpora/expected/parquet-duckdb (cells as DuckDB prints them); for what DuckDB could not
read, pyarrow, when it can be imported.
"""
import datetime
import decimal
import gzip
import json
import math
import os
import struct
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

CORPORA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "corpora")
FOLDERS = ["parquet-testing/data", "parquet-testing/bad_data", "parquet-extra", "arrow-testing/data/parquet"]

# Where an error is right although other readers read the file, or where our rows differ from DuckDB's: each with its reason.
RIGHT_ERRORS = {
    "parquet-extra/duckdb/plaintext_footer_crypto_metadata.parquet": "encrypted columns",
}
KNOWN_DIFFERENCES = {
    "parquet-extra/duckdb/negative-timetz.parquet": "a time before midnight: DuckDB wraps it, we give the number",
    "parquet-testing/data/int96_from_spark.parquet": "DuckDB overflows; the stated microseconds are checked in a unit test",
}

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = pq = None


def find_files():
    for folder in FOLDERS:
        for parent, _, names in sorted(os.walk(os.path.join(CORPORA, folder))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(parent, name), CORPORA)
                if name.endswith(".parquet") or "/fuzzing/" in path:
                    yield path


def expected_rows(path):
    stated = os.path.join(CORPORA, "expected/parquet-duckdb", path + ".json.gz")
    if not os.path.exists(stated):
        return None
    with gzip.open(stated) as file:
        data = json.load(file)
    return data["types"], data["rows"]


def dump(program, path, *options):
    result = subprocess.run([program, *options, os.path.join(CORPORA, path)], capture_output=True, timeout=120)
    lines = [json.loads(line) for line in result.stdout.split(b"\n") if line]
    if result.returncode != 0:
        return {"crash": result.returncode, "stderr": result.stderr.decode(errors="replace")[-2000:]}
    out = {"columns": [], "skipped": {}, "rows": [], "error": None, "kind": None, "count": None}
    for line in lines[1:]:
        if isinstance(line, list):
            out["rows"].append(line)
        elif "columns" in line:
            out["columns"], out["skipped"] = line["columns"], line["skipped"]
        elif "error" in line:
            out["error"], out["kind"] = line["error"], line["kind"]
        else:
            out["count"] = line["rows"]
    return out


def parse_type(text, at=0):
    """'list<item: int32 not null>, ...' from `at` as (kind, {name: type}) and where it ends."""
    for kind in ("list", "struct", "map"):
        if not text.startswith(kind + "<", at):
            continue
        at += len(kind) + 1
        fields = {}
        while text[at] != ">":
            name = "key" if kind == "map" and not fields else "value"
            if kind != "map":
                name, _, _ = text[at:].partition(": ")
                at += len(name) + 2
            fields[name], at = parse_type(text, at)
            at += len(" not null") if text.startswith(" not null", at) else 0
            at += len(", ") if text.startswith(", ", at) else 0
        return (kind, fields), at + 1
    end, depth = at, 0
    while end < len(text) and (depth > 0 or (text[end] not in ",>" and not text.startswith(" not null", end))):
        depth += (text[end] in "([") - (text[end] in ")]")
        end += 1
    return (text[at:end], {}), end


def same_nested(ours, theirs, kind):
    """Whether two values of a parsed type are equal, with maps as either reader writes them."""
    name, fields = kind
    if not fields:
        return same(ours, theirs, name)
    if ours is None or theirs is None:
        return ours is None and theirs is None
    if name == "struct":
        return set(ours) == set(theirs) and all(same_nested(ours[key], theirs[key], fields[key]) for key in fields)
    if name == "list":
        (element,) = fields.values()
        return len(ours) == len(theirs) and all(same_nested(a, b, element) for a, b in zip(ours, theirs))
    entries = [tuple(entry.values()) if isinstance(entry, dict) else tuple(entry) for entry in theirs]
    return len(ours["keys"]) == len(entries) and all(
        same_nested(key, entry[0], fields["key"]) and same_nested(value, entry[1], fields["value"])
        for key, value, entry in zip(ours["keys"], ours["values"], entries))


def parse_time(text):
    """'2009-03-01 00:01:00.123+00' and '2009-03-01T00:01:00.123000+00:00' as (text to the second, fraction)."""
    text = str(text).replace("T", " ").lstrip("+")
    if "(BC)" in text:  # DuckDB: year 2 BC is -1 of ISO 8601
        year, dash, rest = text.replace(" (BC)", "").partition("-")
        text = f"-{int(year) - 1:04}{dash}{rest}" if int(year) > 1 else f"0000{dash}{rest}"
    for zone in ("+00:00", "+00", "Z"):
        text = text.removesuffix(zone)
    whole, _, fraction = text.partition(".")
    return whole.strip(), (fraction + "0" * 9)[:9]


def same(ours, theirs, our_type):
    if ours is None or theirs is None:
        return ours is None and theirs is None
    if our_type in ("float", "double", "halffloat", "float16", "half_float"):
        ours, theirs = float(ours), float(theirs)
        if math.isnan(ours) or math.isnan(theirs):
            return math.isnan(ours) and math.isnan(theirs)
        if our_type == "float" and abs(theirs) < 1e-30:  # few bits near the end of the range, fewer digits in our text
            return struct.pack("f", ours) == struct.pack("f", theirs)
        return ours == theirs or math.isclose(ours, theirs, rel_tol=1e-6 if our_type != "double" else 1e-14)
    if our_type.startswith("decimal"):
        return decimal.Decimal(str(ours)) == decimal.Decimal(str(theirs))
    if our_type.startswith(("timestamp", "time", "date")):
        if parse_time(ours) == parse_time(theirs):
            return True
        return parse_time(ours) == parse_time(str(theirs) + " 00:00:00")
    if our_type.startswith(("binary", "fixed_size_binary", "large_binary")):
        return bytes.fromhex(ours.replace("-", "")) == blob(theirs, our_type)
    if our_type == "bool":
        return ours is theirs
    if isinstance(theirs, str) and not isinstance(ours, str):
        return str(ours) == theirs
    return ours == theirs


def blob(text, our_type):
    """DuckDB's text of a BLOB: printable characters as they are, others as \\xNN; UUIDs with dashes."""
    if isinstance(text, (bytes, bytearray)):
        return bytes(text)
    if isinstance(text, uuid.UUID):
        return text.bytes
    if isinstance(text, (list, dict, bool, int, float)):
        return repr(text).encode()
    if our_type == "fixed_size_binary[16]" and len(text) == 36 and text.count("-") == 4:
        return bytes.fromhex(text.replace("-", ""))
    out = bytearray()
    i = 0
    while i < len(text):
        if text[i] == "\\" and text[i + 1:i + 2] == "x":
            out.append(int(text[i + 2:i + 4], 16))
            i += 4
        else:
            out += text[i].encode()
            i += 1
    return bytes(out)


def first_difference(ours, theirs, types):
    if len(ours["rows"]) != len(theirs):
        return f"{len(ours['rows'])} rows, expected {len(theirs)}"
    variants = {name_type.rpartition(":")[0] for name_type in types if name_type.endswith(":VARIANT")}
    # DuckDB renames columns whose names repeat or are empty: whole tables compare by position.
    by_position = not ours["skipped"] and all(len(row) == len(ours["columns"]) for row in theirs)
    for index, (column, kind) in enumerate(ours["columns"]):
        if column in variants:
            continue  # DuckDB shows the variant, we its parts
        parsed, _ = parse_type(kind)
        for row, (mine, other) in enumerate(zip(ours["rows"], theirs)):
            try:
                value = list(other.values())[index] if by_position else other[column]
            except KeyError:
                return f"column {column} is not in the expected rows"
            if not same_nested(mine[index], value, parsed):
                return f"column {column} ({kind}), row {row}: {mine[index]!r}, expected {value!r}"
    return None


def pyarrow_rows(path):
    if pq is None:
        return None
    try:
        table = pq.ParquetFile(os.path.join(CORPORA, path)).read(use_threads=False)
    except Exception:  # whatever a foreign reader throws at a damaged file
        return None

    def plain(value):
        if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
            return str(value)
        return value
    try:
        rows = table.to_pylist()
    except Exception:
        return None

    def walk(value):
        if isinstance(value, dict):
            return {key: walk(inner) for key, inner in value.items()}
        return type(value)(walk(inner) for inner in value) if isinstance(value, (list, tuple)) else plain(value)
    return [walk(row) for row in rows]


def check(program, path, outcomes):
    ours = dump(program, path)
    if "crash" in ours:
        return "CRASH", ours["stderr"]
    outcome = outcomes.get(path, {})
    readers = [outcome.get(reader, {}) for reader in ("duckdb", "hyparquet", "parquet_rs")]
    read_by = sum("rows" in reader for reader in readers)
    if ours["error"] is not None:
        if ours["kind"] == "unsupported":
            return "later", ours["error"]
        if path in RIGHT_ERRORS or read_by <= 1:
            return "error", ours["error"]
        return "FAIL", "error: " + ours["error"]
    others = dump(program, path, "--batch-rows", "7", "--batch-bytes", "300")
    if others["rows"] != ours["rows"] or others["error"] is not None:
        return "FAIL", f"small batches give other rows: {others.get('error')}"
    expected = expected_rows(path)
    theirs = expected[1] if expected else pyarrow_rows(path)
    word = "part" if ours["skipped"] else "same"
    skipped = ", ".join(ours["skipped"])
    if theirs is None:
        counts = {reader["rows"] for reader in readers if "rows" in reader}
        if counts and ours["count"] not in counts:
            return "FAIL", f"{ours['count']} rows, others read {counts}"
        return "rows", f"{ours['count']} rows; {skipped}"
    if not ours["columns"]:
        return "later", skipped
    difference = first_difference(ours, theirs, expected[0] if expected else [])
    if difference and path not in KNOWN_DIFFERENCES:
        return "FAIL", difference
    if difference:
        return "differs", KNOWN_DIFFERENCES[path]
    return word, f"{ours['count']} rows; {skipped}" if skipped else f"{ours['count']} rows"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    files = sys.argv[2:] or list(find_files())
    with open(os.path.join(CORPORA, "expected/parquet-outcomes.json")) as file:
        outcomes = json.load(file)
    counts = {}
    with ThreadPoolExecutor(2) as pool:
        for path, (word, text) in zip(files, pool.map(lambda path: check(program, path, outcomes), files)):
            counts[word] = counts.get(word, 0) + 1
            print(f"{word:8}{path}: {text}", flush=True)
    print(counts)
    sys.exit(1 if counts.get("FAIL") or counts.get("CRASH") else 0)


if __name__ == "__main__":
    main()
