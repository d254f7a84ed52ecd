#!/usr/bin/env python3
"""Makes expected.json: what PyIceberg reads from every manifest and manifest list in tests/corpora, without inheriting.
Run from the repository's root with PyIceberg 0.12.

{"maker": ..., "lists": {path: [manifest, ...]}, "manifests": {path: summary}}. A manifest of a list is [path, length, spec id,
content, sequence number, min sequence number, added snapshot id, added, existing, deleted files, added, existing, deleted rows,
[[contains_null, contains_nan, lower, upper], ...] or null, key metadata]; a summary has the number of entries, of each status,
sums of records and bytes, the CRC-32 of all paths (each with a newline), and the first entry in full. Bytes are hex."""
import decimal
import json
import os
import uuid
import zlib

import pyiceberg
from pyiceberg.avro.file import AvroFile
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import (
    DEFAULT_READ_VERSION,
    MANIFEST_ENTRY_SCHEMAS,
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
    read_manifest_list,
)

ROOT = "tests/corpora"
FOLDERS = ["iceberg-tables", "iceberg-metadata", "puffin"]


def plain(value):
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex()
    if isinstance(value, uuid.UUID):
        return value.bytes.hex()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


def int_or_none(value):
    return None if value is None else int(value)


def java_long(value):
    """A number over 64 bits, as Java decodes it."""
    return value & (2**63 - 1) if isinstance(value, int) and value >= 2**63 else value


def manifest_row(m):
    partitions = None
    if m.partitions is not None:
        partitions = [[s.contains_null, s.contains_nan, plain(s.lower_bound), plain(s.upper_bound)] for s in m.partitions]
    return [m.manifest_path, m.manifest_length, m.partition_spec_id, int_or_none(m.content), m.sequence_number,
            m.min_sequence_number, java_long(m.added_snapshot_id), m.added_files_count, m.existing_files_count, m.deleted_files_count,
            m.added_rows_count, m.existing_rows_count, m.deleted_rows_count, partitions, plain(m.key_metadata)]


def entry_row(e):
    f = e.data_file
    row = {
        "status": int(e.status), "snapshot_id": java_long(e.snapshot_id), "sequence_number": e.sequence_number,
        "file_sequence_number": e.file_sequence_number, "content": int_or_none(f.content), "path": f.file_path,
        "format": str(f.file_format.name).lower(), "partition": [plain(f.partition[i]) for i in range(len(f.partition))],
        "records": f.record_count, "bytes": f.file_size_in_bytes, "key_metadata": plain(f.key_metadata),
        "split_offsets": f.split_offsets, "equality_ids": f.equality_ids, "sort_order_id": f.sort_order_id,
    }
    for name in ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"):
        map_ = getattr(f, name)
        row[name] = None if map_ is None else [[key, plain(map_[key])] for key in map_]
    return {key: value for key, value in row.items() if value is not None}


def read_entries(io, path):
    with AvroFile[ManifestEntry](
        io.new_input(path), MANIFEST_ENTRY_SCHEMAS[DEFAULT_READ_VERSION], read_types={-1: ManifestEntry, 2: DataFile},
        read_enums={0: ManifestEntryStatus, 101: FileFormat, 134: DataFileContent},
    ) as reader:
        return list(reader)


def summary(entries):
    paths = "".join(e.data_file.file_path + "\n" for e in entries)
    return {
        "entries": len(entries), "status": [sum(1 for e in entries if int(e.status) == s) for s in range(3)],
        "records": sum(e.data_file.record_count for e in entries), "bytes": sum(e.data_file.file_size_in_bytes for e in entries),
        "paths": zlib.crc32(paths.encode()), "first": [entry_row(e) for e in entries[:1]],
    }


def main():
    io = PyArrowFileIO()
    lists, manifests, left_out = {}, {}, []
    for top in FOLDERS:
        for folder, _, names in sorted(os.walk(os.path.join(ROOT, top))):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if not name.endswith(".avro") or "/data/" in path:
                    continue
                relative = os.path.relpath(path, ROOT)
                with open(path, "rb") as file:
                    head = file.read(1 << 20)
                absolute = "file://" + os.path.abspath(path)
                try:
                    if b'"manifest_entry"' in head:
                        manifests[relative] = summary(read_entries(io, absolute))
                    elif b'"manifest_file"' in head:
                        lists[relative] = [manifest_row(m) for m in read_manifest_list(io.new_input(absolute))]
                    else:
                        left_out.append(relative)
                except Exception as error:
                    left_out.append(relative)
                    print("left out:", path, repr(error)[:150])
    text = json.dumps({"maker": "PyIceberg " + pyiceberg.__version__, "lists": lists, "manifests": manifests, "left_out": left_out},
                      separators=(",", ":"), sort_keys=True)
    with open("src/frazil/manifest/testdata/expected.json", "w") as out:
        out.write(text + "\n")
    print(len(lists), "lists,", len(manifests), "manifests,", left_out, len(text), "bytes")


main()
