"""What did an engine deliver? The content hash of a stream of pyarrow batches, and ways to damage the stream before.

The hash is Frazil's own (bench/content_hash), a shared library that takes an Arrow C stream. The damages exist only for
the test of the instrument: each must change the hash.
"""

import ctypes
import itertools

import pyarrow as pa


def content_hash(library, batches):
    """(hash, rows) of the batches, through the shared library at that path."""
    function = ctypes.CDLL(library).frazil_content_hash_stream
    function.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_int64), ctypes.c_char_p, ctypes.c_size_t]
    first = next(batches, None)
    if first is None:
        return "0" * 16, 0
    stream = (ctypes.c_uint64 * 8)()  # struct ArrowArrayStream: five pointers
    failure = ctypes.create_string_buffer(1024)
    hash_sum, rows = ctypes.c_uint64(), ctypes.c_int64()
    address = ctypes.addressof(stream)
    pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))._export_to_c(address)
    if function(address, ctypes.byref(hash_sum), ctypes.byref(rows), failure, len(failure)) != 0:
        raise RuntimeError(f"content hash: {failure.value.decode()}")
    return f"{hash_sum.value:016x}", rows.value


def corrupt(batches, damage):
    """The same stream with one damage in its first batch that has two rows of different first values."""
    batches = iter(batches)
    for batch in batches:
        values = batch.column(0).slice(0, 1000).to_pylist()
        other = next((row for row, value in enumerate(values) if value != values[0]), None)
        if other is None:
            yield batch
            continue
        rows = list(range(batch.num_rows))
        if damage == "value":  # one value becomes another one
            rows[0] = other
            batch = batch.set_column(0, batch.schema.field(0), batch.column(0).take(pa.array(rows)))
        elif damage == "swap":  # two values of a column change places between rows
            rows[0], rows[other] = other, 0
            batch = batch.set_column(0, batch.schema.field(0), batch.column(0).take(pa.array(rows)))
        elif damage == "duplicate":  # one row is there twice, another one is not
            rows[other] = 0
            batch = batch.take(pa.array(rows))
        yield batch
        yield from batches
        return
    raise ValueError("no two rows differ in their first column: nothing to damage")
