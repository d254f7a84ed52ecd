"""Random Arrow batches of every type that pyarrow can make, nested, with dictionaries that stay, grow or change."""
import random

import numpy
import pyarrow as pa

MAX_DEPTH = 4
WORDS = ["", "a", "é€\U0001f986", "twelve bytes", "thirteen bytes", "one that is much longer than any view can hold inline"]


def text(rng):
    return rng.choice(WORDS) + (str(rng.randrange(1000)) if rng.random() < 0.5 else "")


def metadata(rng):
    """Sometimes some, as a field and a schema have it."""
    if rng.random() < 0.7:
        return None
    return {f"key {rng.randrange(9)}": rng.choice(["", "value", "é"]) for _ in range(rng.randrange(1, 4))}


def mask(rng, length, nullable=True):
    """Which values are null."""
    share = rng.choice([0, 0, 0.1, 0.5, 1]) if nullable else 0
    return [rng.random() < share for _ in range(length)]


def number_types():
    return [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


def fixed_types(rng):
    """Types whose values are any bits of a width: (type, bytes)."""
    made = [(kind, kind.bit_width // 8) for kind in number_types()]
    made += [(pa.float16(), 2), (pa.float32(), 4), (pa.float64(), 8), (pa.date32(), 4), (pa.time32("s"), 4)]
    made += [(pa.time32("ms"), 4), (pa.time64("us"), 8), (pa.time64("ns"), 8), (pa.month_day_nano_interval(), 16)]
    made += [(pa.duration(unit), 8) for unit in ("s", "ms", "us", "ns")]
    made += [(pa.timestamp(unit, rng.choice([None, "UTC", "Europe/Berlin", "+02:00"])), 8)
             for unit in ("s", "ms", "us", "ns")]
    width = rng.choice([0, 1, 7, 16, 100])
    made.append((pa.binary(width), width))
    return made


def decimal_type(rng):
    maker, most = rng.choice([(pa.decimal32, 9), (pa.decimal64, 18), (pa.decimal128, 38), (pa.decimal256, 76)])
    precision = rng.randrange(1, most + 1)
    return maker(precision, rng.choice([0, precision, -3, precision // 2]))


def extension_type(rng):
    return rng.choice([pa.uuid(), pa.json_(), pa.bool8(), pa.opaque(pa.int32(), "a name", "a vendor"),
                       pa.fixed_shape_tensor(pa.int16(), [2, 3])])


def leaf_type(rng):
    shape = rng.randrange(12)
    if shape < 5:
        return rng.choice(fixed_types(rng))[0]
    if shape < 6:
        return decimal_type(rng)
    if shape < 7:
        return extension_type(rng)
    return rng.choice([pa.null(), pa.bool_(), pa.date64(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(),
                       pa.large_binary(), pa.binary_view()])


def dictionary_type(rng, depth):
    values = make_type(rng, depth - 1) if depth > 1 and rng.random() < 0.3 else rng.choice(
        [pa.string(), pa.int64(), pa.large_binary(), pa.string_view(), pa.float32(), pa.bool_(), decimal_type(rng)])
    # IPC has neither dictionaries of dictionaries nor of extensions: a field is one and the other.
    while pa.types.is_dictionary(values) or isinstance(values, pa.BaseExtensionType):
        values = leaf_type(rng)
    return pa.dictionary(rng.choice(number_types()), values, ordered=rng.random() < 0.2)


def make_field(rng, name, depth):
    kind = make_type(rng, depth)
    return pa.field(name, kind, nullable=pa.types.is_null(kind) or rng.random() < 0.8, metadata=metadata(rng))


def make_type(rng, depth=MAX_DEPTH):
    shape = rng.choice(["leaf"] * 5 + ["dictionary", "list", "list", "struct", "map", "union", "run ends"])
    if shape == "dictionary":
        return dictionary_type(rng, depth)
    if depth == 1 or shape == "leaf":
        return leaf_type(rng)
    if shape == "list":
        maker = rng.choice([pa.list_, pa.large_list, pa.list_view, pa.large_list_view,
                            lambda field: pa.list_(field, rng.choice([0, 1, 3]))])
        return maker(make_field(rng, rng.choice(["item", "element"]), depth - 1))
    if shape == "struct":
        return pa.struct([make_field(rng, f"f{i}", depth - 1) for i in range(rng.choice([0, 1, 2, 3]))])
    if shape == "map":
        key = pa.field("key", rng.choice([pa.string(), pa.int32(), pa.binary(4)]), nullable=False)
        return pa.map_(key, make_field(rng, "value", depth - 1), keys_sorted=rng.random() < 0.2)
    if shape == "union":
        fields = [make_field(rng, f"u{i}", depth - 1).with_nullable(True) for i in range(rng.randrange(1, 4))]
        codes = rng.sample(range(128), len(fields))
        return pa.union(fields, rng.choice(["sparse", "dense"]), codes)
    values = make_type(rng, depth - 1)
    while pa.types.is_run_end_encoded(values):  # which pyarrow does not nest
        values = make_type(rng, depth - 1)
    return pa.run_end_encoded(rng.choice([pa.int16(), pa.int32(), pa.int64()]), values)


def sizes(rng, length):
    longest = rng.choice([0, 1, 3, 20])
    return [rng.randrange(longest + 1) for _ in range(length)]


def offsets_of(counts):
    offsets = [0]
    for count in counts:
        offsets.append(offsets[-1] + count)
    return offsets


def validity(nulls):
    """A buffer of validity; nothing where nothing is null."""
    if not any(nulls):
        return None
    return pa.array([not null for null in nulls], pa.bool_()).buffers()[1]


def from_buffers(kind, nulls, buffers, children=()):
    return pa.Array.from_buffers(kind, len(nulls), [validity(nulls), *buffers], children=list(children))


def moments(kind):
    """The range of a type of times that Python has a value for, to show it; None for others."""
    if pa.types.is_time(kind):
        return 0, 86_400 * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    if pa.types.is_date32(kind):
        return -700_000, 2_900_000
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return -6 * 10**10, 2 * 10**11
    return None


def fixed_array(rng, kind, width, nulls):
    """Any bits, but for times."""
    count = len(nulls)
    if moments(kind):
        data = numpy.array([rng.randrange(*moments(kind)) for _ in range(count)], f"<i{width}").tobytes()
    elif rng.random() < 0.5:
        data = b"".join(rng.choice([b"\0" * width, b"\1" + b"\0" * (width - 1) if width else b""]) for _ in range(count))
    else:
        data = rng.randbytes(width * count)
    return from_buffers(kind, nulls, [pa.py_buffer(data)])


def list_array(rng, kind, nulls):
    count = len(nulls)
    if pa.types.is_fixed_size_list(kind):
        child = make_array(rng, kind.value_type, count * kind.list_size, kind.value_field.nullable)
        return from_buffers(kind, nulls, [], [child])
    counts = sizes(rng, count)
    offsets = offsets_of(counts)
    wide = "<i8" if pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind) else "<i4"
    child = make_array(rng, kind.value_type, offsets[-1] + rng.choice([0, 0, 5]), kind.value_field.nullable)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        starts = list(zip(offsets, counts))
        rng.shuffle(starts)  # in any order, and sometimes the same twice
        if starts and rng.random() < 0.3:
            starts[-1] = starts[0]
        starts, counts = [start for start, _ in starts], [size for _, size in starts]
        return from_buffers(kind, nulls, [pa.py_buffer(numpy.array(starts, wide)), pa.py_buffer(numpy.array(counts, wide))],
                            [child])
    return from_buffers(kind, nulls, [pa.py_buffer(numpy.array(offsets, wide))], [child])


def map_array(rng, kind, nulls):
    offsets = offsets_of(sizes(rng, len(nulls)))
    keys = make_array(rng, kind.key_type, offsets[-1], False)
    items = make_array(rng, kind.item_type, offsets[-1], kind.item_field.nullable)
    entries = pa.StructArray.from_arrays([keys, items], fields=[kind.key_field, kind.item_field])
    return from_buffers(kind, nulls, [pa.py_buffer(numpy.array(offsets, "<i4"))], [entries])


def union_array(rng, kind, count):
    codes = kind.type_codes
    chosen = [rng.randrange(kind.num_fields) for _ in range(count)]
    types = pa.py_buffer(numpy.array([codes[child] for child in chosen], "<i1"))
    if kind.mode == "sparse":
        children = [make_array(rng, kind.field(i).type, count) for i in range(kind.num_fields)]
        return pa.Array.from_buffers(kind, count, [None, types], children=children)
    used = [0] * kind.num_fields
    offsets = []
    for child in chosen:
        offsets.append(used[child])
        used[child] += 1
    children = [make_array(rng, kind.field(i).type, used[i] + rng.choice([0, 3])) for i in range(kind.num_fields)]
    return pa.Array.from_buffers(kind, count, [None, types, pa.py_buffer(numpy.array(offsets, "<i4"))], children=children)


def run_end_array(rng, kind, count):
    ends = []
    while not ends or ends[-1] < count:
        if count == 0:
            break
        ends.append(min(count, (ends[-1] if ends else 0) + rng.randrange(1, 6)))
    values = make_array(rng, kind.value_type, len(ends))
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, kind.run_end_type), values, type=kind)


def dictionary_array(rng, kind, nulls, known):
    """`known`: the dictionaries of the batches before, which may be used again, be grown or be replaced."""
    before = known.get(str(kind)) if known is not None else None
    choice = rng.random()
    dictionary = make_array(rng, kind.value_type, rng.randrange(1, 9))
    if before is not None and choice < 0.4:
        dictionary = before
    elif before is not None and choice < 0.7 and len(before) < 60:
        try:
            dictionary = pa.concat_arrays([before, dictionary])
        except pa.ArrowException:  # not of every nested type
            pass
    if known is not None:
        known[str(kind)] = dictionary
    indices = pa.array([None if null else rng.randrange(len(dictionary)) for null in nulls], kind.index_type)
    return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=kind.ordered)


def make_array(rng, kind, length, nullable=True, known=None):
    t = pa.types
    if t.is_null(kind):
        return pa.nulls(length)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, make_array(rng, kind.storage_type, length, nullable, known))
    if t.is_union(kind):
        return union_array(rng, kind, length)
    if t.is_run_end_encoded(kind):
        return run_end_array(rng, kind, length)
    nulls = mask(rng, length, nullable)
    if t.is_dictionary(kind):
        return dictionary_array(rng, kind, nulls, known)
    if t.is_struct(kind):
        return from_buffers(kind, nulls, [], [make_array(rng, field.type, length, field.nullable, known) for field in kind])
    if t.is_map(kind):
        return map_array(rng, kind, nulls)
    if kind.num_fields == 1:
        return list_array(rng, kind, nulls)
    if t.is_decimal(kind):
        most, width = 10**kind.precision, kind.bit_width // 8
        data = b"".join(rng.choice([0, most - 1, rng.randrange(1 - most, most)]).to_bytes(width, "little", signed=True)
                        for _ in range(length))
        return from_buffers(kind, nulls, [pa.py_buffer(data)])
    if t.is_boolean(kind):
        return from_buffers(kind, nulls, [pa.py_buffer(rng.randbytes((length + 7) // 8))])
    if t.is_date64(kind):
        days = numpy.array([rng.randrange(-700_000, 10**6) * 86_400_000 for _ in range(length)], "<i8")
        return from_buffers(kind, nulls, [pa.py_buffer(days)])
    for fixed, width in fixed_types(random.Random(0)):
        if fixed.id == kind.id:
            return fixed_array(rng, kind, kind.byte_width if t.is_fixed_size_binary(kind) else width, nulls)
    is_text = t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind)
    make = (lambda: text(rng)) if is_text else (lambda: rng.randbytes(rng.randrange(30)))
    return pa.array([None if null else make() for null in nulls], kind)


def make_batches(rng):
    """(schema, batches)"""
    fields = [make_field(rng, rng.choice(["", "a", f"c{i}", "ä b.c"]), rng.randrange(1, MAX_DEPTH + 1))
              for i in range(rng.choice([0, 1, 1, 2, 3, 6]))]
    schema = pa.schema(fields, metadata(rng))
    known = [{} for _ in fields]
    batches = []
    for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
        rows = rng.choice([0, 1, 7, 8, 9, 64, rng.randrange(200)])
        before, after = rng.choice([(0, 0), (0, 0), (0, 5), (3, 0), (9, 4)])  # slices have offsets
        columns = [make_array(rng, field.type, before + rows + after, field.nullable, known[i])[before:before + rows]
                   for i, field in enumerate(fields)]
        if fields:
            batches.append(pa.RecordBatch.from_arrays(columns, schema=schema))
    return schema, batches


def polars_type(rng, depth):
    """A type that Polars has."""
    shape = rng.randrange(8) if depth > 1 else 0
    if shape == 6:
        return pa.large_list(pa.field("item", polars_type(rng, depth - 1)))
    if shape == 7:
        return pa.struct([pa.field(f"f{i}", polars_type(rng, depth - 1)) for i in range(rng.randrange(1, 4))])
    precision = rng.randrange(1, 39)
    units = ["ms", "us", "ns"]
    return rng.choice([*number_types(), pa.bool_(), pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.string_view(),
                       pa.binary(), pa.large_binary(), pa.binary_view(), pa.date32(), pa.time64("ns"),
                       pa.timestamp(rng.choice(units), rng.choice([None, "UTC"])), pa.duration(rng.choice(units)),
                       pa.decimal128(precision, rng.randrange(precision + 1)), pa.dictionary(pa.uint32(), pa.large_string())])


def make_polars_table(rng):
    """Several batches without dictionaries that change."""
    schema = pa.schema([pa.field(f"c{i}", polars_type(rng, 3)) for i in range(rng.randrange(1, 5))])
    batches = [pa.RecordBatch.from_arrays([make_array(rng, field.type, rows) for field in schema], schema=schema)
               for rows in rng.choices([0, 1, 9, 64, 100], k=rng.randrange(1, 4))]
    return pa.Table.from_batches(batches)


# ---- Equality ----

def same(left, right):
    """Whether arrays have the same type and values: NaN is NaN, however dictionaries are cut."""
    t = pa.types
    if left.type != right.type or len(left) != len(right):
        return False
    if left.equals(right):
        return True
    kind = left.type
    if isinstance(kind, pa.BaseExtensionType):
        return same(left.storage, right.storage)
    if t.is_dictionary(kind):
        try:
            return same(left.dictionary.take(left.indices), right.dictionary.take(right.indices))
        except pa.ArrowNotImplementedError:  # of views
            return repr(left.to_pylist()) == repr(right.to_pylist())
    if t.is_floating(kind):
        return left.is_valid().equals(right.is_valid()) and same(left.drop_null().view(f"uint{kind.bit_width}"),
                                                                 right.drop_null().view(f"uint{kind.bit_width}"))
    # pyarrow 26 aborts where a struct has nulls and a field has no bits for them.
    if t.is_struct(kind) and not any(t.is_run_end_encoded(field.type) or t.is_union(field.type) for field in kind):
        return left.is_valid().equals(right.is_valid()) and all(map(same, left.flatten(), right.flatten()))
    if any(test(kind) for test in (t.is_list, t.is_large_list, t.is_list_view, t.is_large_list_view)):
        lengths, others = ([len(value) if value.is_valid else None for value in array] for array in (left, right))
        try:
            return lengths == others and same(left.flatten(), right.flatten())
        except pa.ArrowInvalid:  # it joins lists, but not their dictionaries
            pass
    return repr(left.to_pylist()) == repr(right.to_pylist())


def difference(schema, batches, found_schema, found):
    """What is different, as a text, or None."""
    if not schema.equals(found_schema, check_metadata=True):
        return f"schema {found_schema.to_string()}\ninstead of {schema.to_string()}"
    if len(batches) != len(found):
        return f"{len(found)} batches instead of {len(batches)}"
    for index, (wanted, batch) in enumerate(zip(batches, found)):
        batch.validate(full=True)
        if wanted.num_rows != batch.num_rows:
            return f"batch {index}: {batch.num_rows} rows instead of {wanted.num_rows}"
        for field, left, right in zip(schema, wanted.columns, batch.columns):
            if not same(left, right):
                return f"batch {index}, {field.name}: {field.type}: {right.to_pylist()}\ninstead of {left.to_pylist()}"
    return None
