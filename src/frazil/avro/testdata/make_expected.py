#!/usr/bin/env python3
"""Makes expected.json: the values of the Avro files in tests/corpora as fastavro (with cramjam and backports.zstd)
reads them. Run from the repository's root; pip install fastavro cramjam backports.zstd.

{"maker": "fastavro 1.13.1", "files": {path: [row, ...]}}. Values are the stored ones, before logical types: bytes, fixed
and decimals (16 or 32 bytes, little-endian) as lower-case hex, floats as their shortest text, maps as lists of pairs,
durations as [months, days, nanoseconds]. What has no value here (a file with a union of several types) is left out."""
import gzip
import io
import json
import os
import struct

import fastavro
import fastavro._read as read

read.LOGICAL_READERS.clear()  # stored values, please
ROOT = "tests/corpora"


def shortest_float(value):
    for digits in range(1, 10):
        text = float(f"{value:.{digits}g}")
        try:
            if struct.pack("<f", text) == struct.pack("<f", value):
                return text
        except OverflowError:
            pass
    return value


def special(value):
    if value != value:
        return "NaN"
    return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, value)


def plain(schema, value, names):
    if isinstance(schema, str) and schema in names:
        schema = names[schema]
    kind = schema if isinstance(schema, str) else "union" if isinstance(schema, list) else schema["type"]
    logical = schema.get("logicalType") if isinstance(schema, dict) else None
    if isinstance(kind, (dict, list)):
        return plain(kind, value, names)
    if isinstance(schema, dict) and "name" in schema:
        names[schema["name"]] = schema
    if kind == "union":
        others = [branch for branch in schema if branch != "null" and branch != {"type": "null"}]
        if len(others) > 1:
            raise NotImplementedError("union")
        return None if value is None else plain(others[0], value, names)
    if kind == "record":
        return {f["name"]: plain(f["type"], value[f["name"]], names) for f in schema["fields"]}
    if kind == "array":
        return [plain(schema["items"], item, names) for item in value]
    if kind == "map":
        return [[key, plain(schema["values"], item, names)] for key, item in value.items()]
    if kind in ("bytes", "fixed"):
        if logical == "decimal":
            width = 32 if schema["precision"] > 38 else 16
            return int.from_bytes(value, "big", signed=True).to_bytes(width, "little", signed=True).hex()
        if logical == "duration":
            months, days, millis = struct.unpack("<III", value)
            return [months, days, millis * 1_000_000]
        return value.hex()
    if kind == "float":
        return special(shortest_float(value) if value == value else value)
    if kind == "double":
        return special(value)
    return value


def main():
    files = {}
    for folder, _, names in sorted(os.walk(ROOT)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not name.endswith(".avro") or "iceberg-metadata" in path or "puffin" in path:
                continue
            if "/metadata/" in path or "/icebird/" in path:
                continue  # manifests: see the manifest layer
            try:
                with open(path, "rb") as file:
                    reader = fastavro.reader(io.BytesIO(file.read()))
                    schema = reader.writer_schema
                    rows = [plain(schema, row, {}) for row in reader]
                    if not (isinstance(schema, dict) and schema["type"] == "record"):
                        rows = [{"value": row} for row in rows]
            except Exception as error:
                print("left out:", path, repr(error)[:100])
                continue
            files[os.path.relpath(path, ROOT)] = rows
    text = json.dumps({"maker": "fastavro " + fastavro.__version__, "files": files}, separators=(",", ":"), sort_keys=True)
    with open("src/frazil/avro/testdata/expected.json", "w") as out:
        out.write(text + "\n")
    print(len(files), "files,", len(text), "bytes")


main()
