"""Parquet files that lie, made here: each is an error or gives the right rows, in little memory and time.

Usage: forged.py DUMP_PROGRAM FRAZIL

A case is an honest file in which one thing is another one: a size, a count, an offset, a bound, bytes. It says what
`frazil parquet verify` and readers make of it:

    refused    whoever reads it gets an error
    found      `verify` says that it is not whole; readers may give the rows of the honest file, or an error
    whole      it only looks wrong

Readers are frazil_parquet_dump, and `frazil parquet count --where`, which believes the page index: it may give fewer rows
than there are only where bounds lie. Each has 256 MiB and 5 seconds of processor time.
"""
import gzip
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import zlib

SECONDS = 5
BUDGET = 256 << 20
INT32, INT64, BYTE_ARRAY = 1, 2, 6
PLAIN, RLE, DELTA_BINARY, DELTA_LENGTH, DELTA_BYTES, RLE_DICTIONARY = 0, 3, 5, 6, 7, 8
UNCOMPRESSED, SNAPPY, GZIP, BROTLI, ZSTD, LZ4_RAW = 0, 1, 2, 4, 6, 7
DATA, DICTIONARY, DATA_V2 = 0, 2, 3


# ---- Thrift, compact ----

def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def zigzag(number):
    return varint(number << 1 ^ number >> 63)


class I64(int):
    pass


class Byte(int):
    pass


def kind_of(value):
    if isinstance(value, bool):
        return 1 if value else 2
    if isinstance(value, Byte):
        return 3
    if isinstance(value, I64):
        return 6
    return {int: 5, bytes: 8, list: 9, dict: 12}[type(value)]


def thrift(value):
    """A dictionary by field id is a struct."""
    if isinstance(value, dict):
        out, last = b"", 0
        for key, item in sorted(value.items()):
            if item is None:
                continue
            kind = kind_of(item)
            out += bytes([(key - last) << 4 | kind]) if key - last < 16 else bytes([kind]) + zigzag(key)
            out += b"" if isinstance(item, bool) else thrift(item)
            last = key
        return out + b"\0"
    if isinstance(value, list):
        kind = kind_of(value[0]) if value else 5
        size = bytes([len(value) << 4 | kind]) if len(value) < 15 else bytes([0xF0 | kind]) + varint(len(value))
        return size + b"".join(bytes([kind_of(item)]) if kind in (1, 2) else thrift(item) for item in value)
    if isinstance(value, bytes):
        return varint(len(value)) + value
    return bytes([value & 0xFF]) if isinstance(value, Byte) else zigzag(value)


# ---- Files ----

class Page:
    """`header`: fields of the header, `data`: of the header inside it, that are to be other ones."""

    def __init__(self, values, count, kind=DATA, encoding=PLAIN, rows=None, header=None, data=None, checksum=False):
        self.values, self.count, self.kind, self.encoding = values, count, kind, encoding
        self.rows = count if rows is None else rows
        self.header, self.data, self.checksum = header or {}, data or {}, checksum

    def write(self, compress):
        body = compress(self.values)
        if self.kind == DATA_V2:
            inside = {1: self.count, 2: 0, 3: self.rows, 4: self.encoding, 5: 0, 6: 0, 7: True}
        elif self.kind == DATA:
            inside = {1: self.count, 2: self.encoding, 3: RLE, 4: RLE}
        else:
            inside = {1: self.count, 2: self.encoding}
        inside.update(self.data)
        header = {1: self.kind, 2: len(self.values), 3: len(body), {DATA: 5, DICTIONARY: 7, DATA_V2: 8}[self.kind]: inside}
        if self.checksum:
            crc = zlib.crc32(body)
            header[4] = crc - 2**32 if crc >= 2**31 else crc
        header.update(self.header)
        return thrift(header) + body


class Column:
    """`meta`: fields of the ColumnMetaData, `chunk`: of the ColumnChunk, `statistics`: of its statistics."""

    def __init__(self, pages, physical=INT64, codec=UNCOMPRESSED, compress=lambda data: data, optional=False, text=False,
                 meta=None, chunk=None, statistics=None, offsets=None, bounds=None, before=b""):
        self.pages, self.physical, self.codec, self.compress = pages, physical, codec, compress
        self.optional, self.text = optional, text
        self.meta, self.chunk, self.statistics = meta or {}, chunk or {}, statistics
        self.offsets, self.bounds = offsets, bounds  # a function on the offset index; the column index
        self.before = before  # bytes ahead of the first page


def plain(numbers):
    return struct.pack(f"<{len(numbers)}q", *numbers)


def texts(values):
    return b"".join(struct.pack("<I", len(value)) + value for value in values)


def write(path, columns, rows, group=None, footer=None, tail=None):
    out = bytearray(b"PAR1")
    schema = [{4: b"root", 5: len(columns)}]
    chunks, indexes = [], []
    for number, column in enumerate(columns):
        name = f"c{number}".encode()
        element = {1: column.physical, 3: 1 if column.optional else 0, 4: name}
        if column.text:
            element.update({6: 0, 10: {1: {}}})
        schema.append(element)
        places, dictionary, first_row = [], None, 0
        out += column.before
        begin = len(out)
        for page in column.pages:
            bytes_ = page.write(column.compress)
            if page.kind == DICTIONARY:
                dictionary = dictionary or len(out)
            else:
                places.append({1: I64(len(out)), 2: len(bytes_), 3: I64(first_row)})
                first_row += page.rows
            out += bytes_
        size = len(out) - begin
        data = next((place[1] for place in places), I64(begin))
        meta = {1: column.physical, 2: [PLAIN, RLE], 3: [name], 4: column.codec,
                5: I64(sum(page.count for page in column.pages if page.kind != DICTIONARY)), 6: I64(size), 7: I64(size),
                9: data, 11: None if dictionary is None else I64(dictionary)}
        if column.statistics is not None:
            meta[12] = column.statistics
        meta.update(column.meta)
        chunks.append({2: I64(begin), 3: meta})
        indexes.append(places)
    for column, chunk, places in zip(columns, chunks, indexes):
        if column.offsets:
            bytes_ = thrift(column.offsets({1: places}))
            chunk.update({4: I64(len(out)), 5: len(bytes_)})
            out += bytes_
        if column.bounds:
            bytes_ = thrift(column.bounds)
            chunk.update({6: I64(len(out)), 7: len(bytes_)})
            out += bytes_
        chunk.update(column.chunk)
    row_group = {1: chunks, 2: I64(sum(chunk[3][6] or 0 for chunk in chunks)), 3: I64(rows), **(group or {})}
    meta = {1: 2, 2: schema, 3: I64(rows), 4: [row_group], 6: b"forged",
            7: [{1: {}} for _ in columns], **(footer or {})}
    bytes_ = thrift(meta)
    out += bytes_ + (tail or struct.pack("<I", len(bytes_))) + b"PAR1"
    with open(path, "wb") as file:
        file.write(out)


# ---- Cases ----

NUMBERS = list(range(100, 200))


def numbers(**options):
    """One column of 100 numbers in four pages; the options are Column's, `pages` changes them."""
    change = options.pop("change", lambda pages: pages)
    pages = [Page(plain(NUMBERS[i:i + 25]), 25, checksum=options.get("checksum", False)) for i in range(0, 100, 25)]
    options.pop("checksum", None)
    return Column(change(pages), **options)


def with_page(index, **changes):
    def change(pages):
        for name, value in changes.items():
            setattr(pages[index], name, value)
        return pages
    return change


def bounds_of(change=None):
    index = {1: [False] * 4, 2: [plain([100 + 25 * i]) for i in range(4)], 3: [plain([124 + 25 * i]) for i in range(4)],
             4: 1, 5: [I64(0)] * 4}
    index.update(change or {})
    return index


def same(index):
    return index


def place(page, **changes):
    keys = {"offset": 1, "size": 2, "row": 3}

    def change(index):
        for name, value in changes.items():
            kind = int if name == "size" else I64
            old = index[1][page][keys[name]]
            index[1][page][keys[name]] = kind(value(old) if callable(value) else value)
        return index
    return change


def zstd(data):
    import pyarrow
    return pyarrow.compress(data, "zstd", asbytes=True)


def codec(name):
    import pyarrow
    return lambda data: pyarrow.compress(data, name, asbytes=True)


def run(value, count, width=1):
    """One repeated run of the hybrid encoding."""
    return varint(count << 1) + value.to_bytes(width, "little")


def indices(value, count, width=1):
    return bytes([8 * width]) + run(value, count, width)


def bomb(values, declared, codec_id, compress, count):
    """A page that becomes `values`, and says `declared` bytes."""
    return [Column([Page(values, count, header={2: declared})], codec=codec_id, compress=compress, meta={6: I64(declared + 100)})]


def dictionary(entries, pages, codec_id=UNCOMPRESSED, compress=lambda data: data, **options):
    return Column([Page(texts(entries), len(entries), kind=DICTIONARY), *pages], physical=BYTE_ARRAY, codec=codec_id,
                  compress=compress, text=True, **options)


def cases():
    """(name, outcome, columns, options of write())"""
    zeros = bytes(100 << 20)
    yield "honest", "whole", [numbers(checksum=True, offsets=same, bounds=bounds_of(),
                                      statistics={3: I64(0), 5: plain([199]), 6: plain([100])})], {}
    yield "honest, of version 2", "whole", [numbers(change=lambda pages: [Page(p.values, p.count, kind=DATA_V2) for p in pages],
                                                     offsets=same)], {}
    # Checksums and text
    yield "a wrong checksum", "found", [numbers(change=with_page(2, header={4: 12345}))], {}
    yield "bytes that are no UTF-8", "found", [Column([Page(texts([b"a", b"\xff\xfe", b"b"]), 3)], BYTE_ARRAY, text=True)], {"rows": 3}
    yield "half a character", "found", [Column([Page(texts([b"a", b"\xe2\x82"]), 2)], BYTE_ARRAY, text=True)], {"rows": 2}
    # Counts
    for count in (-1, 0, 24, 26, 2**31 - 1):
        yield f"a page of {count} values", "refused", [numbers(change=with_page(1, data={1: count}))], {}
        yield f"a page of {count} values, version 2", "refused", [
            numbers(change=lambda pages, n=count: [Page(p.values, p.count, DATA_V2, data={1: n, 3: n} if i == 1 else {})
                                                   for i, p in enumerate(pages)])], {}
    for count in (-1, 0, 99, 101, 2**62, -2**63):
        yield f"a chunk of {count} values", "found", [numbers(meta={5: I64(count)})], {}
        yield f"a row group of {count} rows", "found" if count == 0 else "refused", [numbers()], {"group": {3: I64(count)}}
        yield f"a file of {count} rows", "found", [numbers()], {"footer": {3: I64(count)}}
    yield "rows of 2^62 without values", "refused", [numbers()], {"group": {3: I64(2**62)}, "footer": {3: I64(2**62)}}
    yield "columns of two lengths", "refused", [numbers(), numbers(change=lambda pages: pages[:3])], {}
    yield "no rows, and pages with some", "found", [numbers()], {"group": {3: I64(0)}, "footer": {3: I64(0)}}
    yield "pages of version 2 with other rows", "found", [
        numbers(change=lambda pages: [Page(p.values, p.count, DATA_V2, data={3: 24}) for p in pages])], {}
    yield "version 2 with levels longer than the page", "refused", [
        numbers(change=lambda pages: [Page(p.values, p.count, DATA_V2, data={5: 2**31 - 1}) for p in pages])], {}
    yield "version 2 with levels of -1 bytes", "refused", [
        numbers(change=lambda pages: [Page(p.values, p.count, DATA_V2, data={5: -1}) for p in pages])], {}
    # Sizes
    for size in (-1, 0, 199, 2**31 - 1):
        yield f"a page of {size} compressed bytes", "refused", [numbers(change=with_page(3, header={3: size}))], {}
        yield f"a page of {size} uncompressed bytes", "refused", [
            numbers(change=with_page(3, header={2: size}), codec=ZSTD, compress=zstd)], {}
    for size in (-1, 0, 10, 2**62):
        yield f"a chunk of {size} bytes", "found" if size > 10 or size == 0 else "refused", [numbers(meta={7: I64(size)})], {}
    # Offsets
    for offset in (-1, -2**63, 2**62, 10**6):
        yield f"a chunk at {offset}", "refused", [numbers(meta={9: I64(offset)})], {}
    yield "a chunk in the footer", "refused", [numbers(meta={9: I64(900)})], {}
    yield "two chunks in one place", "found", [numbers(), numbers(meta={9: I64(4)})], {}
    yield "a dictionary offset behind the data", "whole", [numbers(meta={11: I64(600)})], {}
    yield "a dictionary offset without a dictionary", "whole", [numbers(meta={11: I64(4)})], {}
    # The footer
    for length in (0, 2**31 - 1, 2**32 - 1, 5000, 17):
        yield f"a footer of {length} bytes", "refused", [numbers()], {"tail": struct.pack("<I", length)}
    # Statistics
    yield "a maximum that is too low", "found", [numbers(statistics={5: plain([150]), 6: plain([100])})], {}
    yield "a minimum that is too high", "found", [numbers(statistics={5: plain([199]), 6: plain([101])})], {}
    yield "nulls that are not there", "found", [numbers(statistics={3: I64(7)})], {}
    yield "bounds of another width", "found", [numbers(statistics={5: b"\0", 6: b"\0" * 9})], {}
    # The page index
    for name, change in {
            "pages in other places": place(1, offset=lambda old: old + 1), "pages outside": place(2, offset=2**62),
            "pages before the file": place(2, offset=-5), "pages that overlap": place(2, size=2**31 - 1),
            "pages of -1 bytes": place(2, size=-1), "pages of other rows": place(2, row=51),
            "rows that go back": place(2, row=3), "rows behind the end": place(3, row=2**62),
            "a first row that is not 0": place(0, row=1), "negative rows": place(1, row=-25),
            "too few pages": lambda index: {1: index[1][:3]}, "too many pages": lambda index: {1: index[1] + index[1][3:]},
            "no pages": lambda index: {1: []}}.items():
        yield f"an offset index with {name}", "found", [numbers(offsets=change, bounds=bounds_of())], {}
    for name, change in {
            "bounds that are too low": {3: [plain([123 + 25 * i]) for i in range(4)]},
            "bounds of too few pages": {2: [plain([100])]}, "nulls that are not there": {5: [I64(1)] * 4},
            "bounds of another width": {2: [b"1"] * 4, 3: [b"123456789"] * 4}, "another order": {4: 2}}.items():
        yield f"a column index with {name}", "found", [numbers(offsets=same, bounds=bounds_of(change))], {}
    # What writers are known to say where they know nothing.
    for name, change in {"null pages that are none": {1: [False, True, False, False]}, "negative nulls": {5: [I64(-1)] * 4},
                         "an order that is none": {4: 77}}.items():
        yield f"a column index with {name}", "whole", [numbers(offsets=same, bounds=bounds_of(change))], {}
    for name, change in {"behind the end": {4: I64(10**9)}, "before the file": {4: I64(-4)}, "of -1 bytes": {5: -1},
                         "of 2 GiB": {5: 2**31 - 1}, "in the data": {4: I64(30)}}.items():
        yield f"an offset index {name}", "found", [numbers(offsets=same, bounds=bounds_of(), chunk=change)], {}
    # Bloom filters: of one block that has nothing, and of one that says that it has no bytes. The header is thrift.
    for name, filter_ in {"without the values": thrift({1: 32, 2: {1: {}}, 3: {1: {}}, 4: {1: {}}}) + bytes(32),
                          "of no bytes": thrift({1: 0, 2: {1: {}}, 3: {1: {}}, 4: {1: {}}}) + bytes(32),
                          "of 2 GiB": thrift({1: 2**31 - 32, 2: {1: {}}, 3: {1: {}}, 4: {1: {}}}) + bytes(32)}.items():
        first = Page(plain(NUMBERS), 100)  # behind the filter, which lies at the start
        yield f"a Bloom filter {name}", "found", [Column([first], meta={14: I64(4)}, before=filter_)], {}
    # Bombs
    for name, codec_id, compress in (("gzip", GZIP, gzip.compress), ("zstd", ZSTD, zstd), ("snappy", SNAPPY, codec("snappy")),
                                     ("brotli", BROTLI, codec("brotli")), ("lz4", LZ4_RAW, codec("lz4_raw"))):
        yield f"{name}: 100 MiB that say 200 bytes", "refused", bomb(
            bytes(200), 200, codec_id, lambda _, c=compress: c(zeros), 25), {"rows": 25}
        yield f"{name}: 200 bytes that say 2 GiB", "refused", bomb(bytes(200), 2**31 - 1, codec_id, compress, 25), {"rows": 25}
        yield f"{name}: 100 MiB for 25 values", "whole", bomb(zeros, len(zeros), codec_id, compress, 25), {"rows": 25}
    yield "a dictionary of 2^31 entries", "refused", [
        Column([Page(texts([b"a"]), 2**31 - 1, kind=DICTIONARY), Page(indices(0, 100), 100, encoding=RLE_DICTIONARY)],
               BYTE_ARRAY)], {}
    yield "indices beyond the dictionary", "refused", [dictionary([b"a"], [Page(indices(1, 100), 100, encoding=RLE_DICTIONARY)])], {}
    yield "indices of 33 bits", "refused", [dictionary([b"a"], [Page(b"\x21" + run(0, 100, 5), 100, encoding=RLE_DICTIONARY)])], {}
    yield "a run of 2^31 indices", "whole", [dictionary([b"a"], [Page(indices(0, 2**31 - 1), 100, encoding=RLE_DICTIONARY)])], {}
    yield "two dictionaries", "found", [Column([Page(texts([b"a"]), 1, kind=DICTIONARY)] * 2 + [
        Page(indices(0, 100), 100, encoding=RLE_DICTIONARY)], BYTE_ARRAY)], {}
    yield "indices without a dictionary", "refused", [Column([Page(indices(0, 100), 100, encoding=RLE_DICTIONARY)], BYTE_ARRAY)], {}
    # Texts
    yield "a text of 4 GiB", "refused", [Column([Page(b"\xff\xff\xff\xff" + b"a" * 20, 1)], BYTE_ARRAY)], {"rows": 1}
    yield "deltas of lengths that are negative", "refused", [
        Column([Page(delta([5, -3, 2]) + b"a" * 4, 3, encoding=DELTA_LENGTH)], BYTE_ARRAY)], {"rows": 3}
    yield "lengths of 2^31 in all", "refused", [
        Column([Page(delta([2**31 - 1] * 4) + b"a" * 4, 4, encoding=DELTA_LENGTH)], BYTE_ARRAY)], {"rows": 4}
    yield "prefixes longer than what is before", "refused", [
        Column([Page(delta([1, 1]) + delta([1, 1]) + b"ab", 2, encoding=DELTA_BYTES)], BYTE_ARRAY)], {"rows": 2}
    yield "a delta block of 2^32 miniblocks", "refused", [
        Column([Page(varint(2**32) + varint(2**32) + varint(100) + zigzag(0) + b"\0", 100, encoding=DELTA_BINARY)])], {}
    yield "deltas of 65 bits", "refused", [
        Column([Page(varint(128) + varint(4) + varint(100) + zigzag(0) + zigzag(0) + b"\x41" * 4 + bytes(2000), 100,
                     encoding=DELTA_BINARY)])], {}
    # Levels
    for name, levels in {"too few": run(1, 50), "too many, in one run": run(1, 2**31 - 1), "beyond the maximum": run(3, 100),
                         "none": b""}.items():
        outcome = "whole" if "many" in name else "refused"
        page = Page(struct.pack("<I", len(levels)) + levels + plain(NUMBERS), 100)
        yield f"levels: {name}", outcome, [Column([page], optional=True)], {}
    yield "levels of 4 GiB", "refused", [Column([Page(b"\xff" * 4 + plain(NUMBERS), 100)], optional=True)], {}
    yield "the schema's root in itself", "refused", [numbers()], {"footer": {2: [{4: b"root", 5: 2**31 - 1}]}}
    yield "a schema of -1 children", "refused", [numbers()], {"footer": {2: [{4: b"root", 5: -1}, {1: INT64, 3: 0, 4: b"c0"}]}}


def delta(values):
    """DELTA_BINARY_PACKED of a few values: one block of 32-bit deltas."""
    deltas = [b - a for a, b in zip(values, values[1:])]
    least = min(deltas, default=0)
    packed = b"".join(struct.pack("<I", (d - least) & 0xFFFFFFFF) for d in deltas).ljust(128, b"\0")
    return varint(128) + varint(4) + varint(len(values)) + zigzag(values[0]) + zigzag(least) + b"\x20\0\0\0" + packed


# ---- Checks ----

def limited(command):
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, capture_output=True, timeout=60, preexec_fn=limit)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime
    return result, seconds


def problem_of(dump, frazil, path, name, outcome, rows):
    result, seconds = limited([dump, "--budget", str(BUDGET), path])
    if result.returncode != 0:
        return f"dump: exit {result.returncode} {result.stderr[-1500:].decode(errors='replace')}"
    lines = result.stdout.splitlines()
    end = json.loads(lines[-1])
    if seconds > SECONDS or end.get("peak", 0) > BUDGET:
        return f"dump: {seconds:.1f} s, {end}"
    if outcome == "refused" and "error" not in end:
        return f"dump gives {len(lines) - 3} rows: {b' '.join(lines[2:5])!r:.200}"
    if outcome == "whole" and "error" in end:
        return f"dump: {end}"
    if "error" not in end and end["rows"] not in (rows, 0 if "row" in name else rows):
        return f"dump gives {end['rows']} rows of {rows}"
    result, seconds = limited([frazil, "--memory", str(BUDGET), "parquet", "verify", path, "--output", "json"])
    report = json.loads(result.stdout)[0] if result.returncode in (0, 4, 9) else {"whole": f"exit {result.returncode}"}
    if result.returncode == 9 and outcome == "refused":  # brotli can make any size of a few bytes
        report["whole"] = False
    if report["whole"] is not (outcome == "whole"):
        return f"verify: {report}, {result.stderr[-1500:]}"
    if seconds > SECONDS:
        return f"verify: {seconds:.1f} s"
    for where in ("c0 >= 0", "c0 = 130", "c0 = 149 OR c0 = 150", "c0 IS NULL"):
        result, seconds = limited([frazil, "--memory", str(BUDGET), "parquet", "count", path, "--where", where])
        if result.returncode not in (0, 2, 4, 9) or seconds > SECONDS:  # 2: a column of text
            return f"count {where}: exit {result.returncode}, {seconds:.1f} s, {result.stderr[-1500:]}"
    return None


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        import pyarrow  # noqa: F401: for its codecs
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    failed = done = 0
    with tempfile.TemporaryDirectory(prefix="frazil-forged-") as folder:
        for name, outcome, columns, options in cases():
            path = os.path.join(folder, "forged.parquet")
            rows = options.pop("rows", 100)
            write(path, columns, rows, **options)
            done += 1
            problem = problem_of(sys.argv[1], sys.argv[2], path, name, outcome, rows)
            if problem:
                failed += 1
                print(f"{name}: expected to be {outcome}: {problem}", flush=True)
    print(f"{done} files, {failed} wrong")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
