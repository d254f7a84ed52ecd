"""The content hash of src/frazil/columnar/content_hash.h, written once more over pyarrow: slow, and shares nothing.

Usage: content_hash.py      (prints the hashes of the fixed batches, the golden values of content_hash_test.cc)
"""
import struct

import pyarrow as pa
import pyarrow.compute as pc

MASK = (1 << 64) - 1
PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK


def mix(lane, word):
    return rotate((lane + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64(data, seed=0):
    """XXH64 as the xxHash specification describes it."""
    first, second, third, fourth, fifth = PRIMES
    position = 0
    if len(data) >= 32:
        lanes = [(seed + first + second) & MASK, (seed + second) & MASK, seed, (seed - first) & MASK]
        while position + 32 <= len(data):
            words = struct.unpack_from("<4Q", data, position)
            lanes = [mix(lane, word) for lane, word in zip(lanes, words)]
            position += 32
        value = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            value = ((value ^ mix(0, lane)) * first + fourth) & MASK
    else:
        value = (seed + fifth) & MASK
    value = (value + len(data)) & MASK
    while position + 8 <= len(data):
        value = (rotate(value ^ mix(0, struct.unpack_from("<Q", data, position)[0]), 27) * first + fourth) & MASK
        position += 8
    if position + 4 <= len(data):
        value = (rotate(value ^ struct.unpack_from("<I", data, position)[0] * first & MASK, 23) * second + third) & MASK
        position += 4
    for byte in data[position:]:
        value = rotate(value ^ byte * fifth & MASK, 11) * first & MASK
    value = (value ^ value >> 33) * second & MASK
    value = (value ^ value >> 29) * third & MASK
    return value ^ value >> 32


def nullable(array, i):
    """The null flag and the value of array[i]; nulls by what a value stands for."""
    t = pa.types
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return nullable(array.storage, i)
    if t.is_dictionary(kind):
        index = array.indices[i].as_py()
        return b"\1" if index is None else nullable(array.dictionary, index)
    if t.is_run_end_encoded(kind):
        return nullable(pc.run_end_decode(array.slice(i, 1)), 0)
    if t.is_union(kind):
        value = nullable(pa.array([array[i].value]), 0)
        return value if value == b"\1" else b"\0" + struct.pack("<b", array[i].type_code) + value[1:]
    return b"\0" + present(array, i) if array[i].is_valid else b"\1"


def present(array, i):
    t = pa.types
    kind = array.type
    if t.is_boolean(kind):
        return bytes([array[i].as_py()])
    if t.is_struct(kind):
        return b"".join(nullable(array.field(f), i) for f in range(kind.num_fields))
    if t.is_nested(kind):  # lists and maps, whose elements are arrays
        elements = array[i].values
        values = [present(elements, e) if t.is_map(kind) else nullable(elements, e) for e in range(len(elements))]
        return struct.pack("<I", len(values)) + b"".join(values)
    if hasattr(array[i], "as_buffer"):
        content = (array[i].as_buffer() or b"")
        return struct.pack("<I", len(content)) + bytes(content)
    width = kind.bit_width // 8
    start = (array.offset + i) * width
    return bytes(array.buffers()[1][start:start + width])


def rows_of(batch):
    for i in range(batch.num_rows):
        yield b"".join(struct.pack("<I", c) + nullable(column, i) for c, column in enumerate(batch.columns))


def content_hash(batches):
    """The hash as 16 hexadecimal digits, and the number of rows."""
    hashes = [xxh64(row) for batch in batches for row in rows_of(batch)]
    return f"{sum(hashes) & MASK:016x}", len(hashes)


def fixed_batches():
    """What content_hash_test.cc builds by hand."""
    bits = pa.Array.from_buffers(pa.float64(), 3, [None, pa.py_buffer(struct.pack("<3Q", 0, 1 << 63, 0x7FF8000000000001))])
    pairs = pa.array([[("k", 1), ("l", None)], [], None], pa.map_(pa.string(), pa.int32()))
    yield "flat", pa.record_batch({
        "i": pa.array([1, None, -3], pa.int64()), "d": bits, "s": pa.array(["", None, "row_2"]),
        "b": pa.array([True, False, None])})
    yield "nested", pa.record_batch({
        "l": pa.array([[1, None], [], None], pa.list_(pa.int16())), "m": pairs,
        "t": pa.array([{"x": 1, "y": "a"}, {"x": None, "y": ""}, None],
                      pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.string())]))})
    yield "long", pa.record_batch({"s": pa.array(["a" * 2037, "b" * 2039, "c" * 5000]),
                                   "n": pa.array([1, 2, 3], pa.int32())})
    yield "empty", pa.record_batch({"i": pa.array([], pa.int64())})


if __name__ == "__main__":
    print(f"pyarrow {pa.__version__}")
    for name, batch in fixed_batches():
        print(name, *content_hash([batch]))
