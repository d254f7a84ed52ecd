"""The C data and C stream interfaces of Frazil against pyarrow, in one process, in both directions.

Usage: check_c_data.py LIBRARY        (the MODULE frazil_c_data; exits with 77 if pyarrow is missing)
"""
import ctypes
import datetime
import decimal
import gc
import json
import random
import sys
import unittest

try:
    import pyarrow as pa
except ImportError as error:
    print(f"skipped: {sys.executable} cannot import pyarrow: {error}")
    sys.exit(77)


class Schema(ctypes.Structure):
    _fields_ = [("fields", ctypes.c_void_p * 9)]


class Array(ctypes.Structure):
    _fields_ = [("fields", ctypes.c_void_p * 10)]


class Stream(ctypes.Structure):
    _fields_ = [("fields", ctypes.c_void_p * 5)]


RELEASE = {Schema: 7, Array: 8, Stream: 3}
LIBRARY = None


def address(structure):
    return ctypes.addressof(structure)


def is_released(structure):
    return not structure.fields[RELEASE[type(structure)]]


def call(name, *arguments):
    converted = [ctypes.byref(a) if isinstance(a, ctypes.Structure) else a for a in arguments]
    if getattr(LIBRARY, name)(*converted) != 0:
        raise RuntimeError(LIBRARY.frazil_last_error().decode())


def exported(array, field=None):
    """An array and its field as C structures."""
    schema, out = Schema(), Array()
    array._export_to_c(address(out))
    (field or pa.field("", array.type))._export_to_c(address(schema))
    return schema, out


def imported(schema, array):
    field = pa.Field._import_from_c(address(schema))
    return field, pa.Array._import_from_c(address(array), field.type)


def pass_through(name, array, field=None):
    schema, source = exported(array, field)
    out_schema, out = Schema(), Array()
    call(name, schema, source, out_schema, out)
    assert is_released(schema) and is_released(source), "the structures were not moved out"
    return imported(out_schema, out)


def sample_types():
    """Every type that Frazil's issue of the foundation names, then the rest of the columnar format."""
    flat = [
        pa.null(), pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(),
        pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal128(9, 2), pa.decimal128(38, -3), pa.string(),
        pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(16), pa.date32(), pa.date64(), pa.time32("s"),
        pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.timestamp("s"), pa.timestamp("ms"),
        pa.timestamp("us", "UTC"), pa.timestamp("ns", "Europe/Paris"), pa.duration("s"), pa.duration("ns"),
        pa.decimal256(76, 10), pa.decimal32(9, 1), pa.decimal64(18, 2), pa.string_view(), pa.binary_view(),
        pa.month_day_nano_interval(),
    ]
    inner = pa.field("x", pa.int32(), metadata={"k": "v"})
    nested = [
        pa.list_(pa.int32()), pa.list_(pa.field("element", pa.string(), nullable=False)), pa.large_list(pa.float64()),
        pa.list_(pa.int16(), 3), pa.struct([inner, pa.field("y", pa.string(), nullable=False)]), pa.struct([]),
        pa.map_(pa.string(), pa.int64()), pa.map_(pa.string(), pa.list_(pa.date32()), keys_sorted=True),
        pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.uint32(), pa.int64(), ordered=True),
        pa.list_(pa.struct([pa.field("m", pa.map_(pa.int32(), pa.list_(pa.list_(pa.string()))))])),
        pa.list_(pa.dictionary(pa.int16(), pa.large_string())),
        pa.list_view(pa.int32()), pa.large_list_view(pa.string()),
        pa.dense_union([pa.field("a", pa.int32()), pa.field("b", pa.string())], [3, 7]),
        pa.sparse_union([pa.field("a", pa.int32()), pa.field("b", pa.string())]),
        pa.run_end_encoded(pa.int32(), pa.string()),
        pa.uuid(), pa.list_(pa.uuid()), pa.json_(),
    ]
    return flat + nested


def fixed_bytes(rng, width):
    return bytes(rng.randrange(256) for _ in range(width))


def values_of(rng, kind, count, nullable=True):
    return [None if nullable and rng.randrange(6) == 0 else value_of(rng, kind) for _ in range(count)]


def value_of(rng, kind):
    t = pa.types
    if t.is_null(kind):
        return None
    if t.is_boolean(kind):
        return rng.random() < 0.5
    if t.is_integer(kind):
        bits = kind.bit_width
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if t.is_signed_integer(kind) else (0, (1 << bits) - 1)
        return rng.choice([low, high, 0, rng.randint(low, high)])
    if t.is_floating(kind):
        return rng.choice([0.0, 1.5, -2.0, float("inf"), 1024.0])
    if t.is_decimal(kind):
        digits = min(kind.precision, 28)
        return decimal.Decimal(rng.randint(-(10**digits) + 1, 10**digits - 1)).scaleb(-kind.scale)
    if t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
        return rng.choice(["", "a", "é€🧊", "longer than twelve bytes", "\0 \n \""])
    if t.is_fixed_size_binary(kind):
        return fixed_bytes(rng, kind.byte_width)
    if t.is_binary(kind) or t.is_large_binary(kind) or t.is_binary_view(kind):
        return fixed_bytes(rng, rng.randrange(20))
    if t.is_date(kind):
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=rng.randint(-100000, 100000))
    raise NotImplementedError(str(kind))


def sample(rng, kind, count, nullable=True):
    """An array of `kind`, with nulls."""
    t = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, sample(rng, kind.storage_type, count, nullable))
    if t.is_time(kind) or t.is_timestamp(kind) or t.is_duration(kind):
        limit = 86400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        low = 0 if t.is_time(kind) else -limit
        integers = pa.int32() if kind.bit_width == 32 else pa.int64()
        numbers = [None if nullable and rng.randrange(6) == 0 else rng.randrange(low, limit) for _ in range(count)]
        return pa.array(numbers, integers).view(kind)
    if t.is_interval(kind):
        values = [None if rng.randrange(6) == 0 else pa.MonthDayNano([rng.randint(-9, 9), 5, rng.randrange(10**9)])
                  for _ in range(count)]
        return pa.array(values, kind)
    mask = pa.array([nullable and rng.randrange(6) == 0 for _ in range(count)])
    lengths = [rng.randrange(4) for _ in range(count)]
    offsets = [sum(lengths[:i]) for i in range(count + 1)]
    if t.is_map(kind):
        keys = sample(rng, kind.key_type, offsets[-1], nullable=False)
        items = sample(rng, kind.item_type, offsets[-1])
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), keys, items, kind,
                                       mask=mask if count else None)
    if t.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(sample(rng, kind.value_type, count * kind.list_size), type=kind,
                                                 mask=mask if count else None)
    if t.is_list_view(kind) or t.is_large_list_view(kind):
        values = sample(rng, kind.value_type, offsets[-1])
        make, width = ((pa.ListViewArray, pa.int32()) if t.is_list_view(kind) else (pa.LargeListViewArray, pa.int64()))
        return make.from_arrays(pa.array(offsets[:-1], width), pa.array(lengths, width), values, type=kind,
                                mask=mask if count else None)
    if t.is_list(kind) or t.is_large_list(kind):
        values = sample(rng, kind.value_type, offsets[-1], kind.value_field.nullable)
        make, width = (pa.ListArray, pa.int32()) if t.is_list(kind) else (pa.LargeListArray, pa.int64())
        return make.from_arrays(pa.array(offsets, width), values, type=kind, mask=mask if count else None)
    if t.is_struct(kind):
        if kind.num_fields == 0:
            return pa.array([None if bit else {} for bit in mask.to_pylist()], kind)
        children = [sample(rng, field.type, count, field.nullable) for field in kind]
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask if count else None)
    if t.is_dictionary(kind):
        words = pa.array(sorted({str(v) for v in range(5)}) if not t.is_integer(kind.value_type) else list(range(5)),
                         kind.value_type)
        indices = pa.array([None if bit else rng.randrange(5) for bit in mask.to_pylist()], kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, words, ordered=kind.ordered)
    if t.is_union(kind):
        codes = [rng.randrange(2) for _ in range(count)]
        ids = pa.array([kind.type_codes[c] for c in codes], pa.int8())
        names = [field.name for field in kind]
        if kind.mode == "sparse":
            children = [sample(rng, field.type, count) for field in kind]
            return pa.UnionArray.from_sparse(ids, children, names, kind.type_codes)
        places = pa.array([codes[:i].count(c) for i, c in enumerate(codes)], pa.int32())
        children = [sample(rng, field.type, codes.count(i)) for i, field in enumerate(kind)]
        return pa.UnionArray.from_dense(ids, places, children, names, kind.type_codes)
    if t.is_run_end_encoded(kind):
        ends, values = [], []
        while (ends or [0])[-1] < count:
            ends.append(min(count, (ends or [0])[-1] + 1 + rng.randrange(4)))
            values.append(rng.choice([None, "x", "y"]))
        return pa.RunEndEncodedArray.from_arrays(pa.array(ends, kind.run_end_type), pa.array(values, kind.value_type))
    if t.is_float16(kind):
        import numpy
        return pa.array([None if v is None else numpy.float16(v) for v in values_of(rng, kind, count, nullable)], kind)
    return pa.array(values_of(rng, kind, count, nullable), kind)


def cases():
    rng = random.Random(20261130)
    for kind in sample_types():
        for count in (0, 1, 9, 100):
            whole = sample(rng, kind, count)
            whole.validate(full=True)
            yield f"{kind}, {count}", whole
            if count > 2:
                yield f"{kind}, {count}, sliced", whole[1:-1]
                yield f"{kind}, {count}, sliced twice", whole[2:][3:4]
                yield f"{kind}, {count}, sliced to nothing", whole[3:3]


def same(left, right):
    return left.type == right.type and left.equals(right) or (len(left) == len(right) and str(left) == str(right)
                                                               and pa.types.is_null(left.type))


class CData(unittest.TestCase):
    def setUp(self):
        gc.collect()
        self.bytes_before = pa.total_allocated_bytes()
        self.ours_before = LIBRARY.frazil_bytes_in_use()

    def tearDown(self):
        gc.collect()
        self.assertEqual(pa.total_allocated_bytes(), self.bytes_before, "pyarrow's memory was not all released")
        self.assertEqual(LIBRARY.frazil_bytes_in_use(), self.ours_before, "our memory was not all released")

    def test_arrays_come_back_equal(self):
        count = 0
        for name, array in cases():
            with self.subTest(name):
                field, back = pass_through("frazil_round_trip", array)
                back.validate(full=True)
                self.assertEqual(field.type, array.type)
                self.assertTrue(same(array, back), f"{array} != {back}")
                self.assertEqual(back.null_count, array.null_count)
                count += 1
        print(f"{count} arrays of {len(sample_types())} types")

    def test_nothing_is_copied(self):
        array = pa.array(["x" * 100] * 100)
        before = LIBRARY.frazil_bytes_in_use()
        _, back = pass_through("frazil_round_trip", array[10:])
        self.assertEqual([b and b.address for b in array.buffers()], [b and b.address for b in back.buffers()])
        self.assertEqual(LIBRARY.frazil_bytes_in_use(), before)

    def test_memory_is_held_as_long_as_the_last_slice_lives(self):
        bytes_before = pa.total_allocated_bytes()
        array = pa.array(range(1000), pa.int64())
        _, back = pass_through("frazil_round_trip", array)
        del array
        part = back[5:6]
        del back
        gc.collect()
        self.assertGreater(pa.total_allocated_bytes(), bytes_before)
        self.assertEqual(part.to_pylist(), [5])
        del part

    def test_arrays_of_our_own_memory_are_equal(self):
        for name, array in cases():
            with self.subTest(name):
                bytes_before = pa.total_allocated_bytes()
                _, back = pass_through("frazil_rebuild", array)
                self.assertEqual(pa.total_allocated_bytes(), bytes_before, "the source was not released at once")
                back.validate(full=True)
                # pyarrow compares dictionaries by index and runs by their cut: look at the values.
                self.assertEqual(array.to_pylist(), back.to_pylist())
                del back

    def test_fields_keep_names_flags_and_metadata(self):
        for field in [
            pa.field("", pa.int32()),
            pa.field("a\u20ac", pa.int32(), nullable=False),
            pa.field("m", pa.int32(), metadata={b"k": b"a\0b", b"": b"", b"PARQUET:field_id": b"7"}),
            pa.field("s", pa.struct([pa.field("inner", pa.int8(), nullable=False, metadata={"x": "y"})])),
            pa.field("e", pa.binary(16), metadata={"ARROW:extension:name": "unknown.type",
                                                   "ARROW:extension:metadata": "\x01"}),
            pa.field("u", pa.uuid()),
            pa.field("d", pa.dictionary(pa.int8(), pa.string(), ordered=True)),
            pa.field("m", pa.map_(pa.string(), pa.int8(), keys_sorted=True)),
        ]:
            with self.subTest(str(field)):
                array = pa.nulls(2, field.type) if not isinstance(field.type, pa.BaseExtensionType) else \
                    pa.ExtensionArray.from_storage(field.type, pa.nulls(2, field.type.storage_type))
                back, _ = pass_through("frazil_round_trip", array, field)
                self.assertTrue(back.equals(field, check_metadata=True), f"{field} != {back}")

    def test_batches_come_back_equal(self):
        rng = random.Random(1)
        columns = {f"c{i}": sample(rng, kind, 50) for i, kind in enumerate(sample_types())}
        schema = pa.schema([pa.field(name, array.type) for name, array in columns.items()], metadata={"k": "v"})
        whole = pa.record_batch(list(columns.values()), schema=schema)
        empty = pa.record_batch([], schema=pa.schema([]))
        for batch in [whole, whole[7:20], whole[5:5], empty]:
            c_schema, array, out_schema, out = Schema(), Array(), Schema(), Array()
            batch._export_to_c(address(array), address(c_schema))
            call("frazil_round_trip_batch", c_schema, array, out_schema, out)
            back = pa.RecordBatch._import_from_c(address(out), address(out_schema))
            back.validate(full=True)
            self.assertTrue(back.schema.equals(batch.schema, check_metadata=True))
            for left, right in zip(batch.columns, back.columns):
                self.assertTrue(same(left, right), f"{left} != {right}")

    def test_a_struct_array_with_an_offset_is_a_batch(self):
        structs = pa.array([{"a": i, "b": str(i)} for i in range(10)])[3:6]
        schema, array = exported(structs, pa.field("", structs.type, nullable=False))
        out_schema, out = Schema(), Array()
        call("frazil_round_trip_batch", schema, array, out_schema, out)
        back = pa.RecordBatch._import_from_c(address(out), address(out_schema))
        self.assertEqual(back.to_pylist(), structs.to_pylist())
        schema, array = exported(pa.array([{"a": 1}, None]))
        with self.assertRaisesRegex(RuntimeError, "null as a whole"):
            call("frazil_round_trip_batch", schema, array, Schema(), Array())

    def relay(self, reader, fail_after=-1):
        stream, out = Stream(), Stream()
        reader._export_to_c(address(stream))
        call("frazil_relay_stream", stream, ctypes.c_int64(fail_after), out)
        self.assertTrue(is_released(stream))
        return pa.RecordBatchReader._import_from_c(address(out))

    def batches(self, count=5):
        schema = pa.schema([pa.field("a", pa.int64()), pa.field("b", pa.string())], metadata={"k": "v"})
        return schema, [pa.record_batch([pa.array(range(i, 2 * i)), pa.array(["x"] * i)], schema=schema)
                        for i in range(count)]

    def test_streams_come_back_equal(self):
        schema, batches = self.batches()
        reader = self.relay(pa.RecordBatchReader.from_batches(schema, batches))
        self.assertTrue(reader.schema.equals(schema, check_metadata=True))
        self.assertEqual([b.to_pylist() for b in reader], [b.to_pylist() for b in batches])
        self.assertEqual(list(self.relay(pa.RecordBatchReader.from_batches(schema, []))), [])

    def test_a_stream_may_be_dropped_early(self):
        schema, batches = self.batches()
        reader = self.relay(pa.RecordBatchReader.from_batches(schema, batches))
        first = reader.read_next_batch()
        del reader
        self.assertEqual(first.num_rows, 0)

    def test_errors_go_through_streams_in_both_directions(self):
        schema, batches = self.batches()

        def failing():
            yield batches[1]
            raise ValueError("the source fails as it was told")

        reader = self.relay(pa.RecordBatchReader.from_batches(schema, failing()))
        self.assertEqual(reader.read_next_batch().num_rows, 1)
        with self.assertRaisesRegex((OSError, ValueError, pa.ArrowException), "the source fails as it was told"):
            reader.read_next_batch()
        reader = self.relay(pa.RecordBatchReader.from_batches(schema, batches), fail_after=2)
        reader.read_next_batch()
        reader.read_next_batch()
        with self.assertRaisesRegex(NotImplementedError, "the relay fails as it was told"):
            reader.read_next_batch()
        numbers = pa.chunked_array([[1, 2]])
        stream = Stream()
        if hasattr(numbers, "_export_to_c"):
            numbers._export_to_c(address(stream))
            with self.assertRaisesRegex(RuntimeError, "is a struct"):
                call("frazil_relay_stream", stream, ctypes.c_int64(-1), Stream())

    def test_arrays_of_nulls_are_pyarrows(self):
        for kind in sample_types():
            if isinstance(kind, pa.BaseExtensionType):
                continue
            for count in (0, 1, 70):
                with self.subTest(f"{kind}, {count}"):
                    schema, out_schema, out = Schema(), Schema(), Array()
                    pa.field("", kind)._export_to_c(address(schema))
                    call("frazil_nulls", schema, ctypes.c_int64(count), out_schema, out)
                    field, nulls = imported(out_schema, out)
                    nulls.validate(full=True)
                    self.assertEqual(nulls.to_pylist(), [None] * count)
                    if not pa.types.is_union(kind) and not pa.types.is_run_end_encoded(kind):
                        self.assertEqual(nulls.null_count, count)

    def test_concatenation_is_pyarrows(self):
        rng = random.Random(7)
        for kind in sample_types():
            with self.subTest(str(kind)):
                parts = [sample(rng, kind, n) for n in (5, 0, 30, 1)]
                parts += [parts[2][3:17], parts[2][29:]]
                schemas_and_arrays = [exported(part) for part in parts]
                pointers = (ctypes.c_void_p * len(parts))(*[address(a) for _, a in schemas_and_arrays])
                out_schema, out = Schema(), Array()
                call("frazil_concatenate", schemas_and_arrays[0][0], pointers, ctypes.c_int64(len(parts)), out_schema,
                     out)
                for schema, _ in schemas_and_arrays[1:]:
                    pa.Field._import_from_c(address(schema))  # takes over and drops
                _, whole = imported(out_schema, out)
                whole.validate(full=True)
                self.assertEqual(whole.to_pylist(), sum((part.to_pylist() for part in parts), []))

    def test_equality_is_pyarrows(self):
        rng = random.Random(3)
        for kind in sample_types():
            arrays = [sample(rng, kind, 3) for _ in range(4)]
            arrays += [arrays[0][:], pa.concat_arrays([sample(rng, kind, 2), arrays[0]])[2:]]
            for left in arrays:
                for right in arrays:
                    with self.subTest(f"{kind}: {left} and {right}"):
                        a, b = exported(left), exported(right)
                        result = LIBRARY.frazil_equals(*[ctypes.byref(s) for s in (*a, *b)])
                        self.assertNotEqual(result, -1, LIBRARY.frazil_last_error())
                        self.assertEqual(bool(result), left.to_pylist() == right.to_pylist(),
                                         LIBRARY.frazil_last_error())

    def json_of(self, array, field=None):
        schema, c_array = exported(array, field)
        text = ctypes.c_char_p()
        call("frazil_json_lines", schema, c_array, ctypes.byref(text))
        return [json.loads(line) for line in text.value.decode().splitlines()]

    def test_json_has_pyarrows_values(self):
        """Python reads our JSON and must find what pyarrow shows, through the rules of Iceberg's single values."""
        def shown(value, kind):
            t = pa.types
            if value is None:
                return None
            if isinstance(kind, pa.BaseExtensionType):
                return str(value) if kind == pa.uuid() else shown(value, kind.storage_type)
            if t.is_floating(kind):
                return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(str(value), value)
            if t.is_decimal(kind):
                if kind.scale < 0 and value:  # 2E+20: unscaled value and exponent
                    return f"{int(value.scaleb(kind.scale))}E+{-kind.scale}"
                return f"{value:f}" if kind.scale >= 0 else f"0E+{-kind.scale}"
            if t.is_binary(kind) or t.is_large_binary(kind) or t.is_fixed_size_binary(kind) or t.is_binary_view(kind):
                return value.hex()
            if t.is_date(kind) or t.is_time(kind):
                return value.isoformat()
            if t.is_timestamp(kind):
                value = value.astimezone(datetime.timezone.utc) if kind.tz else value
                return value.isoformat()
            if t.is_map(kind):
                return {"keys": [shown(k, kind.key_type) for k, _ in value],
                        "values": [shown(v, kind.item_type) for _, v in value]}
            if t.is_struct(kind):
                return {field.name: shown(value[field.name], field.type) for field in kind}
            if t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind) or t.is_list_view(kind) \
                    or t.is_large_list_view(kind):
                return [shown(v, kind.value_type) for v in value]
            return value

        rng = random.Random(5)
        for kind in sample_types():
            t = pa.types
            if t.is_duration(kind) or t.is_interval(kind) or (t.is_temporal(kind) and getattr(kind, "unit", "") == "ns"):
                continue  # Python has no such values, or cuts them
            with self.subTest(str(kind)):
                array = sample(rng, kind, 40)
                ours = self.json_of(array, pa.field("f", kind))
                theirs = [shown(v, kind) for v in array.to_pylist()]
                if t.is_temporal(kind) and kind in (pa.time32("ms"), pa.timestamp("ms"), pa.time64("us"),
                                                    pa.timestamp("us", "UTC")):
                    # isoformat() always writes 6 digits of a fraction, we write as many as it needs.
                    def trimmed(text):
                        if text is None or "." not in text:
                            return text
                        head, _, rest = text.partition(".")
                        digits, plus, zone = rest.partition("+")
                        return head + "." + digits.rstrip("0") + plus + zone
                    ours, theirs = [trimmed(v) for v in ours], [trimmed(v) for v in theirs]
                self.assertEqual(ours, theirs)

    def test_damage_is_found(self):
        """What pyarrow itself calls invalid is refused, and released all the same."""
        def raw(kind, count, *buffers, **more):
            return pa.Array.from_buffers(kind, count, [None if b is None else pa.py_buffer(b) for b in buffers], **more)

        def int32(*numbers):
            return b"".join(n.to_bytes(4, "little", signed=True) for n in numbers)

        for name, array in {
            "offsets fall": raw(pa.string(), 2, None, int32(0, 2, 1), b"ab"),
            "not UTF-8": raw(pa.string(), 1, None, int32(0, 1), b"\xff"),
            "list offsets fall": raw(pa.list_(pa.int8()), 2, None, int32(0, 5, 1), children=[pa.array([1], pa.int8())]),
            "index outside": pa.DictionaryArray.from_arrays(pa.array([5], pa.int8()), pa.array(["x"]), safe=False),
        }.items():
            with self.subTest(name):
                with self.assertRaises(pa.ArrowInvalid):
                    array.validate(full=True)
                schema, source = exported(array)
                with self.assertRaises(RuntimeError):
                    call("frazil_round_trip", schema, source, Schema(), Array())
                self.assertTrue(is_released(source))


if __name__ == "__main__":
    LIBRARY = ctypes.CDLL(sys.argv.pop(1))
    LIBRARY.frazil_last_error.restype = ctypes.c_char_p
    LIBRARY.frazil_bytes_in_use.restype = ctypes.c_int64
    print(f"pyarrow {pa.__version__}")
    unittest.main()
