"""One text for one value, whatever engine or format it came from; rows as sortable lists of such texts (None: null)."""

import datetime
import decimal
import hashlib
import json
import re
import struct
import uuid


def canonical(value):
    """Of a Python value, as PyIceberg, pyarrow and DuckDB give them."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return "NaN" if value != value else repr(value + 0.0)  # -0.0 + 0.0 is 0.0
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc)
        return value.isoformat(timespec="microseconds")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _pairs([[canonical(key), canonical(item)] for key, item in value.items()])
    if isinstance(value, list) and value and all(isinstance(item, tuple) for item in value):
        return _pairs([[canonical(key), canonical(item)] for key, item in value])  # a map of pyarrow's
    if isinstance(value, list):
        return json.dumps([canonical(item) for item in value])
    raise TypeError(f"{type(value)} is unknown")


def _pairs(pairs):
    """Structs and maps: not every engine tells which is which."""
    return json.dumps(sorted(pairs, key=lambda pair: (pair[0], pair[1] is not None, pair[1] or "")))


def _six_digits(text):
    """Seconds with exactly six digits of a fraction."""
    match = re.fullmatch(r"(.*\d\d:\d\d:\d\d)(?:\.(\d+))?(\+00:00|Z)?", text)
    if not match:
        raise ValueError(f"not a time: {text}")
    zone = "+00:00" if match[3] else ""
    return f"{match[1]}.{(match[2] or '').ljust(6, '0')}{zone}"


def from_json(kind, value):
    """Of a value in Frazil's JSON output; `kind` is the Iceberg type's JSON, text for types without fields."""
    if value is None:
        return None
    if isinstance(kind, dict) and kind["type"] == "struct":
        if list(value) != [field["name"] for field in kind["fields"]]:
            raise ValueError(f"fields {list(value)} of {kind}")
        return _pairs([[field["name"], from_json(field["type"], value[field["name"]])] for field in kind["fields"]])
    if isinstance(kind, dict) and kind["type"] == "list":
        return json.dumps([from_json(kind["element"], item) for item in value])
    if isinstance(kind, dict) and kind["type"] == "map":
        pairs = zip(value["keys"], value["values"], strict=True)
        return _pairs([[from_json(kind["key"], key), from_json(kind["value"], item)] for key, item in pairs])
    if kind == "variant":
        return _pairs([[name, value[name]] for name in ("metadata", "value")])
    if kind == "boolean":
        return canonical(value)
    if kind in ("int", "long"):
        return canonical(int(value))
    if kind in ("float", "double"):
        number = float(value)
        if kind == "float":
            number = struct.unpack("f", struct.pack("f", number))[0]
        return canonical(number)
    if kind.startswith("decimal"):
        return canonical(decimal.Decimal(value))
    if kind.startswith("time"):
        return _six_digits(value)
    if kind in ("date", "string", "uuid", "binary") or kind.startswith("fixed"):
        return value
    raise TypeError(f"{kind} is unknown")


def sort_rows(rows):
    return sorted(rows, key=lambda row: [(text is not None, text or "") for text in row])


def digest(rows):
    """Of sorted rows, where they are too many to keep."""
    return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()
