#include <cstring>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/pretty.h"
#include "frazil/columnar/random_arrays_test.h"

namespace frazil {
namespace {

enum class FoundBy : uint8_t { kValidate, kValidateFull, kNothing };

// What the two levels say about a damaged copy of `array`.
template <typename Damage>
FoundBy found(const ArrayPtr& array, Damage damage, std::string* text = nullptr) {
  validate_full(*array);
  auto copy = std::make_shared<Array>(*array);
  damage(*copy);
  try {
    validate(*copy);
  } catch (const CorruptError& error) {
    if (text != nullptr) *text = error.message();
    return FoundBy::kValidate;
  }
  try {
    validate_full(*copy);
  } catch (const CorruptError& error) {
    if (text != nullptr) *text = error.message();
    return FoundBy::kValidateFull;
  }
  return FoundBy::kNothing;
}

template <typename T>
Buffer buffer_of(const std::vector<T>& values) {
  return Buffer::from_string({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

Field item(DataTypePtr type) {
  return {.name = "item", .type = std::move(type)};
}

TEST(Validate, FindsNumbersThatCannotBe) {
  ArrayPtr array = make_int32({1, std::nullopt, 3});
  EXPECT_EQ(found(array, [](Array&) {}), FoundBy::kNothing);
  EXPECT_EQ(found(array, [](Array& a) { a.length = -1; }), FoundBy::kValidate);
  EXPECT_EQ(found(array, [](Array& a) { a.offset = -1; }), FoundBy::kValidate);
  EXPECT_EQ(found(array, [](Array& a) { a.length = INT64_MAX; }), FoundBy::kValidate);
  EXPECT_EQ(found(array, [](Array& a) { a.offset = INT64_MAX - 3; }), FoundBy::kValidate);
  EXPECT_EQ(found(array, [](Array& a) { a.length = INT64_MAX / 4 + 2; }), FoundBy::kValidate);
  EXPECT_EQ(found(array, [](Array& a) { a.null_count = -2; }), FoundBy::kValidate);
  EXPECT_EQ(found(array, [](Array& a) { a.null_count = 4; }), FoundBy::kValidate);
  EXPECT_EQ(found(array, [](Array& a) { a.null_count = 2; }), FoundBy::kValidateFull);
  EXPECT_EQ(found(array, [](Array& a) { a.null_count = 0; }), FoundBy::kValidateFull);
  EXPECT_EQ(found(array, [](Array& a) { a.null_count = kUnknownNullCount; }), FoundBy::kNothing);
  EXPECT_EQ(found(array, [](Array& a) { a.type = nullptr; }), FoundBy::kValidate);
}

TEST(Validate, FindsBuffersThatAreTooShort) {
  ArrayPtr numbers = make_int32({1, std::nullopt, 3, 4, 5, 6, 7, 8, 9});
  std::string text;
  EXPECT_EQ(found(numbers, [](Array& a) { a.buffers[1] = a.buffers[1].slice(0, 35); }, &text), FoundBy::kValidate);
  EXPECT_EQ(text, "array (int32): values buffer is too short: 35 < 36 bytes");
  EXPECT_EQ(found(numbers, [](Array& a) { a.buffers[0] = a.buffers[0].slice(0, 1); }), FoundBy::kValidate);
  EXPECT_EQ(found(numbers, [](Array& a) { a.offset = 1; }), FoundBy::kValidate);
  EXPECT_EQ(found(numbers, [](Array& a) { a.buffers[0] = Buffer(); }), FoundBy::kValidate);
  ArrayPtr bools = make_bool({true, false, true, true, true, true, true, true, true});
  EXPECT_EQ(found(bools, [](Array& a) { a.buffers[1] = a.buffers[1].slice(0, 1); }), FoundBy::kValidate);
  ArrayPtr views = make_bytes(primitive(TypeId::kUtf8View), {"a", "b"});
  EXPECT_EQ(found(views, [](Array& a) { a.buffers[1] = a.buffers[1].slice(0, 31); }), FoundBy::kValidate);
}

TEST(Validate, BoundsLengthsThatNoBufferBounds) {
  MemoryPool pool;
  const DataTypePtr types[] = {
      primitive(TypeId::kNull),
      struct_({}),
      fixed_size_binary(0),
      fixed_size_list(item(primitive(TypeId::kInt32)), 0),
      run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt64), .nullable = false},
                      {.name = "values", .type = primitive(TypeId::kInt32)}),
  };
  for (const DataTypePtr& type : types) {
    auto array = std::make_shared<Array>(*make_null_array(type, 1, pool));
    array->buffers[0] = Buffer();
    array->null_count = kUnknownNullCount;
    if (type->id() == TypeId::kRunEndEncoded) array->children[0] = make_int64({INT64_MAX});
    array->length = kMaxImplicitLength;
    EXPECT_NO_THROW(validate(*array)) << type->to_string();
    array->length += 1;
    EXPECT_THROW(validate(*array), CorruptError) << type->to_string();
  }
}

TEST(Validate, FindsMisalignedValues) {
  ArrayPtr numbers = make_int64({1, 2, 3});
  EXPECT_EQ(found(numbers,
                  [](Array& a) {
                    a.buffers[1] = a.buffers[1].slice(4);
                    a.length = 2;
                  }),
            FoundBy::kValidate);
  ArrayPtr bytes = make_bytes(fixed_size_binary(3), {"abc", "def"});
  EXPECT_EQ(found(bytes,
                  [](Array& a) {
                    a.buffers[1] = a.buffers[1].slice(1);
                    a.length = 1;
                  }),
            FoundBy::kNothing);
}

TEST(Validate, FindsBadOffsetsOfBytes) {
  for (TypeId id : {TypeId::kUtf8, TypeId::kLargeBinary}) {
    ArrayPtr array = make_bytes(primitive(id), {"ab", "", "cde"});
    auto with_offsets = [&](std::vector<int64_t> offsets) {
      return found(array, [&](Array& a) {
        a.buffers[1] = id == TypeId::kLargeBinary ? buffer_of(offsets)
                                                  : buffer_of(std::vector<int32_t>(offsets.begin(), offsets.end()));
      });
    };
    EXPECT_EQ(with_offsets({0, 2, 2, 5}), FoundBy::kNothing);
    EXPECT_EQ(with_offsets({1, 2, 2, 4}), FoundBy::kNothing);
    EXPECT_EQ(with_offsets({0, 2, 2, 6}), FoundBy::kValidate);
    EXPECT_EQ(with_offsets({-1, 2, 2, 5}), FoundBy::kValidate);
    EXPECT_EQ(with_offsets({4, 4, 4, 3}), FoundBy::kValidate);
    EXPECT_EQ(with_offsets({0, 2, 2}), FoundBy::kValidate);
    EXPECT_EQ(with_offsets({0, 7, 2, 5}), FoundBy::kValidateFull);
    EXPECT_EQ(with_offsets({0, -7, 2, 5}), FoundBy::kValidateFull);
    EXPECT_EQ(with_offsets({0, 2, 1, 5}), FoundBy::kValidateFull);
  }
}

TEST(Validate, AcceptsEmptyArraysWithoutBuffers) {
  for (TypeId id : {TypeId::kUtf8, TypeId::kLargeUtf8, TypeId::kUtf8View, TypeId::kInt64, TypeId::kBool}) {
    Array array;
    array.type = primitive(id);
    validate_full(array);
    array.offset = 10;
    validate_full(array);
  }
}

TEST(Validate, FindsTextThatIsNotUtf8) {
  ArrayPtr good = make_utf8({"\u00e9", "x"});
  // Each value must be UTF-8, not only the buffer: offset 1 cuts the first code point.
  EXPECT_EQ(found(good, [](Array& a) { a.buffers[1] = buffer_of<int32_t>({0, 1, 3}); }), FoundBy::kValidateFull);
  EXPECT_EQ(found(good, [](Array& a) { a.buffers[2] = Buffer::from_string("\xC3\x28x"); }), FoundBy::kValidateFull);
  ArrayPtr null_value = make_utf8({std::nullopt, "x"});
  EXPECT_EQ(found(null_value,
                  [](Array& a) {
                    a.buffers[1] = buffer_of<int32_t>({0, 1, 2});
                    a.buffers[2] = Buffer::from_string("\xFFx");
                  }),
            FoundBy::kNothing)
      << "what lies under a null does not matter";
  ArrayPtr view = make_bytes(primitive(TypeId::kUtf8View), {"thirteen byte", "\u00e9"});
  EXPECT_EQ(found(view, [](Array& a) { a.variadic_buffers[0] = Buffer::from_string("thirteen byt\xFF"); }),
            FoundBy::kValidateFull);
}

TEST(Validate, FindsBadViews) {
  ArrayPtr array = make_bytes(primitive(TypeId::kBinaryView), {"thirteen byte"});
  auto damaged = [&](auto change) {
    return found(array, [&](Array& a) {
      BinaryView view = view_at(a, 0);
      change(view);
      a.buffers[1] = buffer_of<BinaryView>({view});
    });
  };
  EXPECT_EQ(damaged([](BinaryView&) {}), FoundBy::kNothing);
  EXPECT_EQ(damaged([](BinaryView& v) { v.size = -1; }), FoundBy::kValidateFull);
  EXPECT_EQ(damaged([](BinaryView& v) { v.size = 14; }), FoundBy::kValidateFull);
  EXPECT_EQ(damaged([](BinaryView& v) { v.size = INT32_MAX; }), FoundBy::kValidateFull);
  EXPECT_EQ(damaged([](BinaryView& v) { v.reference.offset = 1; }), FoundBy::kValidateFull);
  EXPECT_EQ(damaged([](BinaryView& v) { v.reference.offset = -1; }), FoundBy::kValidateFull);
  EXPECT_EQ(damaged([](BinaryView& v) { v.reference.offset = INT32_MAX; }), FoundBy::kValidateFull);
  EXPECT_EQ(damaged([](BinaryView& v) { v.reference.buffer_index = 1; }), FoundBy::kValidateFull);
  EXPECT_EQ(damaged([](BinaryView& v) { v.reference.buffer_index = -1; }), FoundBy::kValidateFull);
  EXPECT_EQ(damaged([](BinaryView& v) { v.reference.prefix[3] = '?'; }), FoundBy::kValidateFull);
}

TEST(Validate, FindsChildrenThatDoNotFit) {
  DataTypePtr type = list(item(primitive(TypeId::kInt32)));
  ArrayPtr lists = make_list(type, {2, 1}, make_int32({1, 2, 3}));
  std::string text;
  EXPECT_EQ(found(lists, [](Array& a) { a.children[0] = make_int32({1, 2}); }, &text), FoundBy::kValidate);
  EXPECT_EQ(text, "array (list): offsets 0..3 are outside the elements of 2");
  EXPECT_EQ(found(lists, [](Array& a) { a.children[0] = make_int64({1, 2, 3}); }, &text), FoundBy::kValidate);
  EXPECT_EQ(text, "column 'item' (int64): child is not int32");
  EXPECT_EQ(found(lists, [](Array& a) { a.children.clear(); }), FoundBy::kValidate);
  EXPECT_EQ(found(lists, [](Array& a) { a.children[0] = nullptr; }), FoundBy::kValidate);
  EXPECT_EQ(found(lists, [](Array& a) { a.children.push_back(a.children[0]); }), FoundBy::kValidate);
  EXPECT_EQ(found(lists, [](Array& a) { a.dictionary = make_int32({1}); }), FoundBy::kValidate);

  DataTypePtr pair = struct_({{.name = "a", .type = primitive(TypeId::kInt32)}, {.name = "l", .type = type}});
  ArrayPtr structs = make_struct(pair, {make_int32({1, 2}), lists});
  EXPECT_EQ(found(structs, [](Array& a) { a.offset = 1; }), FoundBy::kValidate);
  EXPECT_EQ(found(structs, [](Array& a) { a.children[0] = make_int32({1}); }), FoundBy::kValidate);
  EXPECT_EQ(found(
                structs,
                [&](Array& a) {
                  auto bad = std::make_shared<Array>(*lists);
                  bad->buffers[1] = buffer_of<int32_t>({0, 3, 2});
                  a.children[1] = bad;
                },
                &text),
            FoundBy::kValidateFull);
  EXPECT_EQ(text, "column 'l' (list): offsets fall at value 1: 3 > 2");

  ArrayPtr fixed = [&] {
    MemoryPool pool;
    RandomArrays random(1, pool);
    return random.array(fixed_size_list(item(primitive(TypeId::kInt32)), 3), 4);
  }();
  EXPECT_EQ(found(fixed,
                  [](Array& a) {
                    a.length = 5;
                    a.null_count = -1;
                    a.buffers[0] = Buffer();
                  }),
            FoundBy::kValidate);
  EXPECT_EQ(found(fixed,
                  [](Array& a) {
                    a.length = INT64_MAX / 2;
                    a.null_count = -1;
                    a.buffers[0] = Buffer();
                  }),
            FoundBy::kValidate);
}

TEST(Validate, FindsIndicesOutsideTheDictionary) {
  for (TypeId id : {TypeId::kInt8, TypeId::kUInt8, TypeId::kInt16, TypeId::kUInt32, TypeId::kInt64, TypeId::kUInt64}) {
    DataTypePtr type = dictionary(primitive(id), primitive(TypeId::kUtf8));
    ArrayPtr array = make_dictionary(type, {1, std::nullopt, 0}, make_utf8({"x", "y"}));
    const auto width = static_cast<size_t>(type->byte_width());
    auto with_index = [&](size_t place, uint64_t value) {
      return found(array, [&](Array& a) {
        std::string bytes(a.buffers[1].text());
        std::memcpy(bytes.data() + place * width, &value, width);
        a.buffers[1] = Buffer::from_string(bytes);
      });
    };
    EXPECT_EQ(with_index(0, 0), FoundBy::kNothing);
    EXPECT_EQ(with_index(0, 2), FoundBy::kValidateFull);
    EXPECT_EQ(with_index(2, UINT64_MAX), FoundBy::kValidateFull) << to_string(id);
    EXPECT_EQ(with_index(1, 99), FoundBy::kNothing) << "under a null";
    EXPECT_EQ(found(array, [](Array& a) { a.dictionary = nullptr; }), FoundBy::kValidate);
    EXPECT_EQ(found(array, [](Array& a) { a.dictionary = make_int32({1, 2}); }), FoundBy::kValidate);
  }
}

TEST(Validate, FindsBadListViewsUnionsRunsAndMaps) {
  MemoryPool pool;
  RandomArrays random(7, pool);
  ArrayPtr numbers = make_int32({1, 2, 3});
  Array view;
  view.type = list(item(primitive(TypeId::kInt32)), TypeId::kListView);
  view.length = 2;
  view.buffers[1] = buffer_of<int32_t>({2, 0});
  view.buffers[2] = buffer_of<int32_t>({1, 3});
  view.children = {numbers};
  ArrayPtr views = std::make_shared<Array>(view);
  EXPECT_EQ(to_string(*views), "[[3], [1,2,3]]");
  EXPECT_EQ(found(views, [](Array& a) { a.buffers[2] = buffer_of<int32_t>({2, 3}); }), FoundBy::kValidateFull);
  EXPECT_EQ(found(views, [](Array& a) { a.buffers[2] = buffer_of<int32_t>({-1, 3}); }), FoundBy::kValidateFull);
  EXPECT_EQ(found(views, [](Array& a) { a.buffers[1] = buffer_of<int32_t>({INT32_MAX, 0}); }), FoundBy::kValidateFull);
  EXPECT_EQ(found(views, [](Array& a) { a.buffers[2] = buffer_of<int32_t>({1}); }), FoundBy::kValidate);

  for (bool dense : {true, false}) {
    std::vector<Field> fields = {{.name = "a", .type = primitive(TypeId::kInt32)},
                                 {.name = "b", .type = primitive(TypeId::kUtf8)}};
    ArrayPtr unions = random.array(dense ? dense_union(fields, {4, 9}) : sparse_union(fields, {4, 9}), 6);
    EXPECT_EQ(found(unions, [](Array& a) { a.buffers[0] = buffer_of<int8_t>({4, 9, 4, 9, 4, 5}); }),
              FoundBy::kValidateFull);
    EXPECT_EQ(found(unions, [](Array& a) { a.buffers[0] = buffer_of<int8_t>({4, 9}); }), FoundBy::kValidate);
    EXPECT_EQ(found(unions, [](Array& a) { a.null_count = 1; }), FoundBy::kValidate);
    if (!dense) continue;
    EXPECT_EQ(found(unions, [](Array& a) { a.buffers[1] = buffer_of<int32_t>({0, 0, 0, 0, 0, 6}); }),
              FoundBy::kValidateFull);
    EXPECT_EQ(found(unions, [](Array& a) { a.buffers[1] = buffer_of<int32_t>({-1, 0, 0, 0, 0, 0}); }),
              FoundBy::kValidateFull);
  }

  DataTypePtr run_type = run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt32), .nullable = false},
                                         {.name = "values", .type = primitive(TypeId::kUtf8)});
  RunEndBuilder builder(run_type, pool);
  for (const char* text : {"x", "y", "z"}) {
    builder.values().as<BytesBuilder>().append(text);
    builder.append_run(2);
  }
  ArrayPtr runs = builder.finish();
  EXPECT_EQ(to_string(*runs->slice(1, 4)), "[\"x\", \"y\", \"y\", \"z\"]");
  auto with_ends = [&](std::vector<std::optional<int32_t>> ends) {
    return found(runs, [&](Array& a) { a.children[0] = make_int32(ends); });
  };
  EXPECT_EQ(with_ends({1, 2, 6}), FoundBy::kNothing);
  EXPECT_EQ(with_ends({1, 2, 5}), FoundBy::kValidate);
  EXPECT_EQ(with_ends({}), FoundBy::kValidate);
  EXPECT_EQ(with_ends({1, 2, 3, 6}), FoundBy::kValidate);
  EXPECT_EQ(with_ends({1, 1, 6}), FoundBy::kValidateFull);
  EXPECT_EQ(with_ends({0, 1, 6}), FoundBy::kValidateFull);
  EXPECT_EQ(with_ends({1, std::nullopt, 6}), FoundBy::kValidate);

  DataTypePtr map_type =
      map({.name = "key", .type = primitive(TypeId::kInt32)}, {.name = "value", .type = primitive(TypeId::kInt32)});
  const DataTypePtr& entry_type = map_type->children()[0].type;
  ArrayPtr maps =
      make_list(map_type, {2}, make_struct(entry_type, {make_int32({1, 2}), make_int32({3, std::nullopt})}));
  EXPECT_EQ(found(maps,
                  [&](Array& a) {
                    a.children[0] = make_struct(entry_type, {make_int32({1, std::nullopt}), make_int32({3, 4})});
                  }),
            FoundBy::kValidateFull);
  EXPECT_EQ(found(maps,
                  [&](Array& a) {
                    a.children[0] = make_struct(entry_type, {make_int32({1, 2}), make_int32({3, 4})}, {true, false});
                  }),
            FoundBy::kValidateFull);
}

TEST(Validate, NamesTheColumnOfABatch) {
  auto bad = std::make_shared<Array>(*make_utf8({"ab"}));
  bad->buffers[1] = buffer_of<int32_t>({0, 9});
  RecordBatch batch = make_batch({{"fine", make_int32({1})}, {"name", bad}});
  try {
    validate(batch);
    FAIL();
  } catch (const CorruptError& error) {
    EXPECT_EQ(error.message(), "column 'name' (utf8): offsets 0..9 are outside the data buffer of 2");
  }
  EXPECT_THROW(validate_full(batch), CorruptError);
}

// Sets random bytes and cuts buffers of a random array somewhere in its tree.
void damage(Array& array, RandomArrays& random) {
  if (!array.children.empty() && random.coin(2)) {
    auto& child = array.children[static_cast<size_t>(random.below(static_cast<int64_t>(array.children.size())))];
    auto copy = std::make_shared<Array>(*child);
    damage(*copy, random);
    child = copy;
    return;
  }
  if (random.coin(4)) {
    int64_t* const numbers[] = {&array.length, &array.offset, &array.null_count};
    const int64_t values[] = {-1, 0, 1, 7, 100, INT64_MAX, INT64_MAX / 8, INT64_MIN};
    *numbers[random.below(3)] = values[random.below(8)];
    return;
  }
  Buffer& buffer = array.buffers[static_cast<size_t>(random.below(3))];
  std::string bytes(buffer.text());
  if (random.coin(3)) {
    bytes.resize(static_cast<size_t>(random.below(static_cast<int64_t>(bytes.size()) + 1)));
  } else if (!bytes.empty()) {
    bytes[static_cast<size_t>(random.below(static_cast<int64_t>(bytes.size())))] = static_cast<char>(random.below(256));
  }
  buffer = Buffer::from_string(std::move(bytes));
}

RC_GTEST_PROP(Validate, LetsThroughOnlyArraysThatCanBeRead, (uint64_t seed)) {
  MemoryPool pool;
  RandomArrays random(seed, pool);
  auto array = std::make_shared<Array>(*random.with_offsets(*random.array(random.type(), 1 + random.below(20))));
  for (int64_t i = 1 + random.below(3); i > 0; --i) damage(*array, random);
  try {
    validate_full(*array);
  } catch (const CorruptError&) {
    return;
  }
  if (array->length > 1'000'000) return;  // values without bytes: nothing to read
  // Every read below is watched by the address sanitizer where it is on.
  for (int64_t i = 0; i < array->length && i < 1'000; ++i) (void)value_to_json(*array, i);
  RC_ASSERT(equals(*array, *array->slice(0, array->length)));
}

}  // namespace
}  // namespace frazil
