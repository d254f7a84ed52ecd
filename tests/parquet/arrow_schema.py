"""The Arrow schema that pyarrow leaves in a Parquet file: FileReader restores of it what pyarrow does.

Usage: arrow_schema.py DUMP_PROGRAM REWRITE_PROGRAM

Each type is a file of one column, read by pyarrow and by frazil_parquet_dump --arrow; types, metadata and rows are equal. Then frazil_parquet_rewrite --arrow-schema
writes what it read with a schema of its own, from which pyarrow restores the same types, metadata and values. Then the
schema is damaged: every file is read as if it had none.
"""
import base64
import datetime
import decimal
import json
import os
import subprocess
import sys
import tempfile

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

WHEN = datetime.datetime(2026, 11, 1, 12, 30)
KEY = b"ARROW:schema"


def cases():
    """(field, cells)"""
    texts = ["a", None, "b" * 20, "a"]
    data = [b"a", None, b"b" * 20, b"a"]
    kinds = [(kind, texts) for kind in (pa.string(), pa.large_string(), pa.string_view())]
    kinds += [(kind, data) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())]
    kinds += [(pa.timestamp(unit, zone), [WHEN, None]) for unit in ("s", "ms", "us", "ns")
              for zone in (None, "UTC", "Europe/Berlin", "+02:00")]
    kinds += [(pa.duration(unit), [datetime.timedelta(days=3, seconds=7), None]) for unit in ("s", "ms", "us", "ns")]
    kinds += [(pa.dictionary(index, value), cells) for index in (pa.int8(), pa.int32(), pa.uint16())
              for value, cells in ((pa.string(), texts), (pa.binary(), data), (pa.int64(), [1, None, 2]))]
    kinds += [(pa.dictionary(pa.int32(), pa.string(), ordered=True), texts),
              (pa.decimal256(10, 2), [decimal.Decimal("1.25"), None]),
              (pa.decimal256(50, 2), [decimal.Decimal("1.25"), None]),
              (pa.date64(), [datetime.date(2026, 11, 1), None]), (pa.time32("s"), [datetime.time(1, 2, 3), None]),
              (pa.float16(), [1.5, None]), (pa.null(), [None, None]), (pa.uint32(), [1, None]), (pa.int8(), [1, None])]
    kinds += [(make(pa.field("element", pa.int32())), [[1, 2], None, [], [None, 3]]) for make in (pa.large_list, pa.list_)]
    kinds += [(pa.large_list(pa.field("element", pa.list_(pa.field("element", pa.large_list(pa.field("element", pa.string())))))),
               [[[["a"], []], None], [], None, [[[None, "b"]], [None], []]]),
              (pa.struct([("l", pa.large_list(pa.field("element", pa.struct([("x", pa.int8()), ("y", pa.string())]))))]),
               [{"l": [{"x": 1, "y": "a"}, None]}, None, {"l": None}, {"l": []}])]
    kinds += list_forms()
    kinds += [(pa.list_(pa.field("element", pa.large_string())), [texts, None, []]),
              (pa.map_(pa.string(), pa.duration("s")), [[("a", datetime.timedelta(seconds=5))], None]),
              (pa.struct([("x", pa.dictionary(pa.int32(), pa.string())), ("y", pa.timestamp("us", "Asia/Tokyo"))]),
               [{"x": "a", "y": WHEN}, {"x": None, "y": None}, None])]
    fields = [(pa.field("c", kind), cells) for kind, cells in kinds]
    fields += [(pa.field("c", pa.int64(), metadata={"unit": "metres", "empty": ""}), [1, 2]),
               (pa.field("c", pa.large_string(), metadata={"comment": "both"}), texts),
               (pa.field("c", pa.int32(), metadata={"ARROW:extension:name": "example.colour",
                                                    "ARROW:extension:metadata": "rgb"}), [1, None]),
               (pa.field("c", pa.fixed_shape_tensor(pa.int32(), [2, 2])), [[1, 2, 3, 4], None, [5, 6, 7, 8]])]
    return fields


def list_forms():
    """(type, cells) of lists that Parquet has no word for."""
    whole, gaps = [[1, 2], [3, None]], [None, [1, 2], None, None, [3, None]]
    pair = pa.list_(pa.field("element", pa.int32()), 2)
    view = pa.list_view(pa.field("element", pa.int32()))
    texts = pa.list_(pa.field("element", pa.large_string()), 3)
    uneven = [[1, None], None, [], [2, 3, 4]]
    return [
        (pair, whole), (pair, gaps), (pair, [None, None]), (pair, []),
        (texts, [["a", None, "b" * 20], None, ["", "c", "d"]]),
        (pa.list_(pa.field("element", pair), 2), [[[1, 2], [3, 4]], None, [[5, 6], None]]),
        (pa.list_(pa.field("element", pa.dictionary(pa.int32(), pa.string())), 2), [["a", "b"], None, ["a", None]]),
        (pa.list_(pa.field("element", pair)), [[[1, 2], None], None, [], [None, [3, 4]]]),
        (pa.struct([("p", pair), ("t", pa.string())]), [{"p": [1, 2], "t": "a"}, None, {"p": None, "t": None}]),
        (pa.map_(pa.string(), pair), [[("a", [1, 2]), ("b", None)], None, []]),
        (view, uneven), (pa.large_list_view(pa.field("element", pa.int32())), uneven), (view, [None]), (view, []),
        (pa.list_view(pa.field("element", pa.large_list_view(pa.field("element", texts)))),
         [[[["a", "b", "c"], None], []], None, [], [None, [["d", None, ""]]]]),
        (pa.struct([("v", view), ("n", pa.int8())]), [{"v": [1], "n": 1}, None, {"v": None, "n": None}]),
        (pa.large_list(pa.field("element", view)), [[[1], None], None, []]),
    ]


def text_of(kind):
    """A type of pyarrow as Frazil has it (its indices of dictionaries are int32: a file may have more values than its
    first writer thought)."""
    if isinstance(kind, pa.BaseExtensionType):
        return text_of(kind.storage_type)
    names = {pa.string(): "utf8", pa.large_string(): "large_utf8", pa.string_view(): "utf8_view",
             pa.date32(): "date32", pa.date64(): "date64"}
    if kind in names:
        return names[kind]
    if pa.types.is_timestamp(kind):
        return f"timestamp[{kind.unit}, {kind.tz}]" if kind.tz else f"timestamp[{kind.unit}]"
    if pa.types.is_dictionary(kind):
        ordered = ", ordered" if kind.ordered else ""
        return f"dictionary<values={text_of(kind.value_type)}, indices=int32{ordered}>"
    if pa.types.is_map(kind):
        return f"map<{text_of(kind.key_type)}, {text_of(kind.item_type)}>"
    if pa.types.is_struct(kind):
        return "struct<" + ", ".join(f"{field.name}: {text_of(field.type)}" for field in kind) + ">"
    if pa.types.is_list(kind):
        return f"list<element: {text_of(kind.value_type)}>"
    if pa.types.is_large_list(kind):
        return f"large_list<element: {text_of(kind.value_type)}>"
    if pa.types.is_list_view(kind):
        return f"list_view<element: {text_of(kind.value_type)}>"
    if pa.types.is_large_list_view(kind):
        return f"large_list_view<element: {text_of(kind.value_type)}>"
    if pa.types.is_fixed_size_list(kind):
        return f"fixed_size_list<element: {text_of(kind.value_type)}>[{kind.list_size}]"
    return str(kind)


def dump(program, path, *options):
    result = subprocess.run([program, *options, path], capture_output=True, timeout=60, check=True)
    lines = [json.loads(line) for line in result.stdout.split(b"\n") if line]
    notes = [line for line in lines if isinstance(line, dict)]
    if any("error" in line for line in notes):
        sys.exit(f"{path}: {notes}")
    return notes[1]["columns"], [line for line in lines if isinstance(line, list)]


def restored_metadata(field):
    wanted = {} if field.metadata is None else {k.decode(): v.decode() for k, v in field.metadata.items()}
    wanted.pop("PARQUET:field_id", None)
    if isinstance(field.type, pa.FixedShapeTensorType):  # an extension that pyarrow knows is no metadata to it
        wanted["ARROW:extension:name"] = field.type.extension_name
        wanted["ARROW:extension:metadata"] = json.dumps({"shape": field.type.shape}, separators=(",", ":"))
    return sorted(f"{key}={value}" for key, value in wanted.items())


def array_of(cells, kind):
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(cells, kind.storage_type))
    return pa.array(cells, kind)


def check_case(program, field, cells, folder):
    path = os.path.join(folder, "c.parquet")
    schema = pa.schema([field], metadata={"origin": "test"})
    pq.write_table(pa.table([array_of(cells, field.type)], schema=schema), path)
    ((_, kind, *metadata),), rows = dump(program, path, "--arrow")
    theirs = pq.read_table(path).schema.field(0)
    expected = text_of(theirs.type)
    if kind != expected or sorted(metadata) != restored_metadata(theirs):
        return f"{field.type}: {kind} {metadata}, pyarrow has {theirs.type} {theirs.metadata}"
    ((_, plain),), plain_rows = dump(program, path)
    has_other_text = any(name in kind for name in ("timestamp", "duration", "decimal"))
    if len(rows) != len(cells) or (rows != plain_rows and not has_other_text):
        return f"{field.type}: {rows}, plainly {plain_rows}"
    print(f"{str(field.type):50} {kind}")
    return None


def check_written(program, field, cells, folder):
    """What FileWriter leaves in the footer restores for pyarrow what pyarrow's own schema does."""
    path, again = os.path.join(folder, "c.parquet"), os.path.join(folder, "again.parquet")
    schema = pa.schema([field], metadata={"origin": "test"})
    pq.write_table(pa.table([array_of(cells, field.type)], schema=schema), path)
    subprocess.run([program, "--arrow-schema", path, again], capture_output=True, timeout=60, check=True)
    theirs, ours = pq.read_table(path), pq.read_table(again)
    if text_of(ours.schema.field(0).type) != text_of(theirs.schema.field(0).type):
        return f"{field.type}: pyarrow restores {ours.schema.field(0).type}"
    if restored_metadata(ours.schema.field(0)) != restored_metadata(theirs.schema.field(0)):
        return f"{field.type}: metadata {ours.schema.field(0).metadata}"
    if ours.schema.metadata != theirs.schema.metadata or ours.to_pylist() != theirs.to_pylist():
        return f"{field.type}: {ours.schema.metadata} {ours.to_pylist()}"
    return None


def check_damage(program, folder):
    """Wrong schemas say nothing: neither errors nor other rows."""
    plain = pa.table({"t": ["a", "b"], "n": pa.array([1, 2], pa.int64())})
    other = pa.schema([("x", pa.large_string()), ("n", pa.duration("s")), ("more", pa.int8())])
    honest = base64.b64encode(pa.schema([("t", pa.large_string()), ("n", pa.duration("s"))]).serialize().to_pybytes())
    blobs = {"": 0, "not base64!": 0, "AAAA": 0, "/////w==": 0, honest.decode(): 2, honest[:-8].decode(): 0,
             honest.decode()[:40] + "A" * 80 + honest.decode()[120:]: None,
             base64.b64encode(other.serialize().to_pybytes()).decode(): 1}
    for blob, restored in blobs.items():
        path = os.path.join(folder, "damaged.parquet")
        writer = pq.ParquetWriter(path, plain.schema, store_schema=False)
        writer.write_table(plain)
        writer.add_key_value_metadata({KEY: blob})
        writer.close()
        columns, rows = dump(program, path, "--arrow")
        kinds = [column[1] for column in columns]
        changed = sum(kind != known for kind, known in zip(kinds, ["utf8", "int64"]))
        if len(rows) != 2 or (restored is not None and changed != restored):
            return f"schema {blob[:60]!r}: {columns} {rows}"
    return None


def check_fixed_size(program, folder):
    """Lists below a null struct, which pyarrow cannot read; and a schema that lies about the size, an error as there."""
    path = os.path.join(folder, "fixed.parquet")
    pair = pa.list_(pa.field("element", pa.int32()), 2)
    inside = pa.struct([pa.field("p", pair, nullable=False)])
    pq.write_table(pa.table({"c": pa.array([{"p": [1, 2]}, None, {"p": [3, 4]}], inside)}), path)
    columns, rows = dump(program, path, "--arrow")
    if columns[0][1] != "struct<p: fixed_size_list<element: int32>[2] not null>" \
            or rows != [[{"p": [1, 2]}], [None], [{"p": [3, 4]}]]:
        return f"{columns} {rows}"
    for cells, size, is_error in (([[1, 2], [3]], 2, True), ([[1, 2], []], 2, True), ([[1]], 2, True),
                                  ([[1, 2], [3]], 65_537, False)):
        plain = pa.table({"c": pa.array(cells, pa.list_(pa.int32()))})
        lie = pa.schema([("c", pa.list_(pa.int32(), size))]).serialize().to_pybytes()
        writer = pq.ParquetWriter(path, plain.schema, store_schema=False)
        writer.write_table(plain)
        writer.add_key_value_metadata({KEY: base64.b64encode(lie).decode()})
        writer.close()
        for limits in ([], ["--batch-rows", "1"]):
            result = subprocess.run([program, "--arrow", *limits, path], capture_output=True, timeout=60, check=True)
            end = json.loads(result.stdout.splitlines()[-1])
            if is_error != ("by the Arrow schema of the file" in end.get("error", "")):
                return f"{cells} as lists of {size}: {end}"
    # A null costs what the list would, here 400 MB in all: they come in batches.
    wide = pa.array([None] * 100_000, pa.list_(pa.field("element", pa.float32()), 1000))
    pq.write_table(pa.table({"c": wide}), path)
    result = subprocess.run([program, "--arrow", "--quiet", path], capture_output=True, timeout=60, check=True)
    end = json.loads(result.stdout.splitlines()[-1])
    return None if end.get("rows") == 100_000 else f"nulls: {end}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        problems = [check_case(sys.argv[1], field, cells, folder) for field, cells in cases()]
        problems += [check_written(sys.argv[2], field, cells, folder) for field, cells in cases()]
        problems.append(check_damage(sys.argv[1], folder))
        problems.append(check_fixed_size(sys.argv[1], folder))
    problems = [problem for problem in problems if problem]
    print("\n".join(problems) or "equal")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
