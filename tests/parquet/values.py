"""Values of many origins in one form, so that rows can be compared: what frazil_parquet_dump prints, what DuckDB and
hyparquet state as JSON, cells of CSV, Python values of pyarrow.

A type is what the dump program calls it: the text of a leaf's Arrow type, ["list", T], ["map", K, V] or
["struct", [name, T], ...]. In the one form a list is a list, a map a list of [key, value], a struct a list in its
type's order; integers, booleans and strings are themselves, a decimal is a Decimal, bytes are bytes, a float a float of
its width, and dates, times and timestamps are integers: nanoseconds, of a date days.
"""
import datetime
import decimal
import hashlib
import json
import math
import re
import struct
import uuid

NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def days_from_civil(year, month, day):
    """Days since 1970-01-01 in the proleptic Gregorian calendar, of any year."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719468


def parse_clock(text):
    match = re.fullmatch(r"(\d+):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|[+-]00(?::?00)?)?", text)
    if not match:
        raise ValueError(f"not a time: {text}")
    seconds = (int(match[1]) * 60 + int(match[2])) * 60 + int(match[3])
    return seconds * 10**9 + int((match[4] or "").ljust(9, "0"))


def parse_date(text):
    bc = text.endswith("(BC)")
    match = re.fullmatch(r"([+-]?\d+)-(\d\d)-(\d\d)", text.removesuffix("(BC)").strip())
    if not match:
        raise ValueError(f"not a date: {text}")
    year = 1 - int(match[1]) if bc else int(match[1])
    return days_from_civil(year, int(match[2]), int(match[3]))


def parse_timestamp(text):
    bc = " (BC)" if "(BC)" in text else ""
    date, _, clock = text.replace("(BC)", "").replace("T", " ").strip().partition(" ")
    return parse_date(date + bc) * 86_400 * 10**9 + (parse_clock(clock.strip()) if clock else 0)


def parse_moment(kind, text):
    if kind.startswith("timestamp"):
        return parse_timestamp(text)
    if kind.startswith("time"):  # a time outside of a day is printed as the number of its unit
        return int(text) * NANOS[unit_of(kind)] if re.fullmatch(r"-?\d+", text) else parse_clock(text)
    days = parse_timestamp(text)  # a date may come as its midnight
    if days % (86_400 * 10**9):
        raise ValueError(f"not a date: {text}")
    return days // (86_400 * 10**9)


def unit_of(kind):
    return re.search(r"\[(\w+)", kind)[1]


def escaped_bytes(text):
    """DuckDB's text of a BLOB: printable characters as they are, others as \\xNN."""
    return b"".join(bytes([int(match[1], 16)]) if match[1] else match[0].encode()
                    for match in re.finditer(r"\\x([0-9A-Fa-f]{2})|.", text, re.DOTALL))


def is_float(kind):
    return kind in ("float", "double", "halffloat", "half_float", "float16")


def narrow(kind, number):
    if kind == "double" or math.isnan(number) or math.isinf(number):
        return number
    try:
        return struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def is_bytes(kind):
    return "binary" in kind


def is_moment(kind):
    return kind.startswith(("date", "time"))


def leaf(kind, value, origin):
    """`origin`: frazil, duckdb, hyparquet, csv or python."""
    if kind == "bool":
        return value if isinstance(value, bool) else {"true": True, "false": False}[str(value).lower()]
    if is_float(kind):
        return narrow(kind, float(value))
    if kind.startswith("decimal"):
        return decimal.Decimal(str(value))
    if is_moment(kind):
        return moment(kind, value)
    if is_bytes(kind):
        return as_bytes(kind, value, origin)
    if re.fullmatch(r"u?int\d+", kind):
        return int(value)
    return value if isinstance(value, str) else json.dumps(value)


def moment(kind, value):
    if isinstance(value, str):
        return parse_moment(kind, value)
    if isinstance(value, datetime.datetime):
        whole = value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)
        nanos = whole // datetime.timedelta(microseconds=1) * 1000 + getattr(value, "nanosecond", 0)
        return nanos if kind.startswith("timestamp") else nanos // (86_400 * 10**9)
    if isinstance(value, datetime.date):
        return value.toordinal() - 719163
    if isinstance(value, datetime.time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 10**9 + value.microsecond * 1000
    return int(value) * (1 if kind.startswith("date") else NANOS[unit_of(kind)])


def as_bytes(kind, value, origin):
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, uuid.UUID):
        return value.bytes
    if isinstance(value, list):
        return bytes(value)
    if kind == "fixed_size_binary[16]" and re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value):
        return bytes.fromhex(value.replace("-", ""))
    if origin == "frazil":
        return bytes.fromhex(value)
    return escaped_bytes(value) if origin == "duckdb" else value.encode()


def fields_of(value, names):
    """The values of a struct: by name; by position where names repeat or were changed."""
    if all(name in value for name in names) and len(set(names)) == len(names):
        return [value[name] for name in names]
    if len(value) == len(names):
        return list(value.values())
    return [value.get(name) for name in names]  # hyparquet leaves out what is not there


def one_form(tree, value, origin):
    if value is None:
        return None
    if isinstance(tree, str):
        return None if tree == "null" else leaf(tree, value, origin)
    if tree[0] == "list":
        return [one_form(tree[1], item, origin) for item in value]
    if tree[0] == "map":
        if origin == "frazil":
            pairs = zip(value["keys"], value["values"])
        elif isinstance(value, dict):
            pairs = value.items()
        else:
            pairs = [tuple(pair.values()) if isinstance(pair, dict) else pair for pair in value]
        return [[one_form(tree[1], key, origin), one_form(tree[2], item, origin)] for key, item in pairs]
    values = fields_of(value, [name for name, _ in tree[1:]])
    return [one_form(child, item, origin) for (_, child), item in zip(tree[1:], values)]


def same_number(kind, mine, other):
    if math.isnan(mine) or math.isnan(other):
        return math.isnan(mine) and math.isnan(other)
    return mine == other or math.isclose(mine, other, rel_tol=1e-14 if kind == "double" else 1e-6)


def same(tree, mine, other, origin):
    """Of values in the one form; loose where the origin is: JSON numbers have fewer digits, its times fewer as well."""
    if mine is None or other is None:
        nan = origin == "hyparquet" and isinstance(mine, float) and math.isnan(mine)  # JSON has none
        return nan or mine is None and other is None
    if isinstance(tree, str):
        if is_float(tree):
            exact = origin in ("python", "frazil")
            return repr(mine) == repr(other) if exact else same_number(tree, mine, other)
        if is_moment(tree) and not tree.startswith("date"):
            step = {"hyparquet": 10**6, "duckdb": 10**3}.get(origin, 1)
            return mine // step == other // step
        if origin == "hyparquet":
            if isinstance(mine, decimal.Decimal):
                return math.isclose(mine, other, rel_tol=1e-15)
            if isinstance(mine, int) and abs(mine) > 2**53:
                return float(mine) == float(other)
        return mine == other
    if len(mine) != len(other):
        return False
    if tree[0] == "list":
        return all(same(tree[1], a, b, origin) for a, b in zip(mine, other))
    if tree[0] == "map":
        if origin == "hyparquet":  # an object: without order
            mine, other = sorted(mine, key=repr), sorted(other, key=repr)
        return all(same(tree[1], a[0], b[0], origin) and same(tree[2], a[1], b[1], origin) for a, b in zip(mine, other))
    return all(same(child, a, b, origin) for (_, child), a, b in zip(tree[1:], mine, other))


def difference(columns, mine, others, origin):
    """The first cell in which rows differ, as a text, or None. Rows are lists in the one form, columns (name, tree)."""
    if len(mine) != len(others):
        return f"{len(mine)} rows, expected {len(others)}"
    for index, (name, tree) in enumerate(columns):
        for row, (ours, theirs) in enumerate(zip(mine, others)):
            if not same(tree, ours[index], theirs[index], origin):
                cells = f"{ours[index]!r:.200}, expected {theirs[index]!r:.200}"
                return f"column {name} ({json.dumps(tree)[:80]}), row {row}: {cells}"
    return None


def digest(rows):
    """Of rows in the one form."""
    def text(value):
        if isinstance(value, float):
            return "nan" if math.isnan(value) else repr(value)
        if isinstance(value, decimal.Decimal):
            return format(value.normalize(), "f")
        return value.hex()

    def plain(value):
        if isinstance(value, list):
            return [plain(item) for item in value]
        return value if value is None or isinstance(value, (bool, int, str)) else text(value)
    out = hashlib.sha256()
    for row in rows:
        out.update(json.dumps(plain(row)).encode())
    return out.hexdigest()[:32]
