"""Does the content hash that Frazil lends to other engines equal the one in Python, for every type and encoding?

Usage: check_content_hash.py LIBRARY     (libfrazil_content_hash.so; exits with 77 if pyarrow is missing)
"""
import ctypes
import pathlib
import random
import sys
import unittest

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    print(f"skipped: {sys.executable} cannot import pyarrow: {error}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "c_data"))
import check_c_data  # noqa: E402
import content_hash  # noqa: E402

LIBRARY = None


def hash_of(batches, schema=None):
    reader = pa.RecordBatchReader.from_batches(schema or batches[0].schema, batches)
    return hash_of_reader(reader)


def hash_of_reader(reader):
    stream = check_c_data.Stream()
    reader._export_to_c(ctypes.addressof(stream))
    value, rows, error = ctypes.c_uint64(), ctypes.c_int64(), ctypes.create_string_buffer(40)
    failed = LIBRARY.frazil_content_hash_stream(ctypes.byref(stream), ctypes.byref(value), ctypes.byref(rows), error,
                                                ctypes.c_size_t(40))
    assert check_c_data.is_released(stream), "the stream is not released"
    if failed:
        raise RuntimeError(error.value.decode())
    return f"{value.value:016x}", rows.value


class ContentHash(unittest.TestCase):
    def test_xxh64_has_the_published_values(self):
        """Of xxHash's own sanity test: its buffer, lengths and seeds."""
        buffer, generator = bytearray(), 2654435761
        for _ in range(222):
            buffer.append(generator >> 56)
            generator = generator * 11400714785074694797 & content_hash.MASK
        for length, seed, expected in [(0, 0, 0xEF46DB3751D8E999), (0, 2654435761, 0xAC75FDA2929B17EF),
                                       (1, 0, 0xE934A84ADB052768), (4, 0, 0x9136A0DCA57457EE),
                                       (14, 0, 0x8282DCC4994E35C8), (222, 0, 0xB641AE8CB691C174),
                                       (222, 2654435761, 0x20CB8AB7AE10C14A)]:
            self.assertEqual(content_hash.xxh64(bytes(buffer[:length]), seed), expected, (length, seed))

    def test_every_type_hashes_as_in_python(self):
        rng = random.Random(4)
        for kind in check_c_data.sample_types():
            with self.subTest(str(kind)):
                array = check_c_data.sample(rng, kind, 40)
                batches = [pa.record_batch({"a": part, "b": part}) for part in (array, array[3:17], array[:0])]
                self.assertEqual(hash_of(batches), content_hash.content_hash(batches))

    def test_encodings_do_not_matter(self):
        texts = pa.array(["a", None, "longer than twelve bytes", "", "a"])
        numbers = pa.array([5, 5, None, 7, 7], pa.int32())
        forms = [texts.cast(kind) for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary())]
        forms += [texts.dictionary_encode(), pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, 0]), texts[:4])]
        expected = content_hash.content_hash([pa.record_batch({"s": texts, "n": numbers})])
        for text in forms:
            for number in (numbers, numbers.dictionary_encode(), pc.run_end_encode(numbers)):
                with self.subTest(f"{text.type}, {number.type}"):
                    batch = pa.record_batch({"s": text, "n": number})
                    self.assertEqual(hash_of([batch]), expected)
                    self.assertEqual(hash_of([batch[3:], batch[:3]]), expected)

    def test_an_error_of_the_stream_is_told_and_cut(self):
        def failing():
            yield pa.record_batch({"a": [1]})
            raise ValueError("the source fails as it was told " * 10)

        with self.assertRaises(RuntimeError) as caught:
            hash_of_reader(pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), failing()))
        self.assertEqual(str(caught.exception), "Arrow C stream gave no next batch: Invalid"[:39])


if __name__ == "__main__":
    LIBRARY = ctypes.CDLL(sys.argv.pop(1))
    print(f"pyarrow {pa.__version__}")
    unittest.main()
