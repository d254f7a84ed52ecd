#include "frazil/write/partition_keys.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/columnar/builders.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/take.h"
#include "frazil/runtime/thread_pool.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/write/partition_kernels.h"

namespace frazil::write {
namespace {

using spec::Literal;
using spec::Transform;
using spec::TypeKind;

const std::vector<spec::TypePtr>& source_types() {
  static const std::vector<spec::TypePtr> types = {spec::primitive(TypeKind::kBoolean),
                                                   spec::primitive(TypeKind::kInt),
                                                   spec::primitive(TypeKind::kLong),
                                                   spec::primitive(TypeKind::kFloat),
                                                   spec::primitive(TypeKind::kDouble),
                                                   spec::decimal(9, 2),
                                                   spec::decimal(38, 10),
                                                   spec::primitive(TypeKind::kDate),
                                                   spec::primitive(TypeKind::kTime),
                                                   spec::primitive(TypeKind::kTimestamp),
                                                   spec::primitive(TypeKind::kTimestampTz),
                                                   spec::primitive(TypeKind::kTimestampNs),
                                                   spec::primitive(TypeKind::kString),
                                                   spec::primitive(TypeKind::kUuid),
                                                   spec::fixed(7),
                                                   spec::primitive(TypeKind::kBinary),
                                                   spec::primitive(TypeKind::kTimestampTzNs)};
  return types;
}

const std::vector<Transform>& transforms() {
  static const std::vector<Transform> all = {
      Transform::identity(),  Transform::bucket(1),    Transform::bucket(16),   Transform::bucket(INT32_MAX),
      Transform::truncate(1), Transform::truncate(10), Transform::truncate(97), Transform::year(),
      Transform::month(),     Transform::day(),        Transform::hour(),       Transform::always_null()};
  return all;
}

class Values {
 public:
  explicit Values(uint64_t seed) : random_(seed), scale_(random_() % 4) {}

  size_t below(size_t limit) { return random_() % limit; }

  // Of few or of many values, at the edges of the type or near zero.
  int64_t integer(int64_t min, int64_t max) {
    switch (scale_) {
      case 0:
        return std::clamp<int64_t>(static_cast<int64_t>(random_() % 7) - 3, min, max);
      case 1:
        return std::clamp<int64_t>(static_cast<int64_t>(random_() % 400'000'000'000) - 200'000'000'000, min, max);
      case 2:
        return random_() % 8 == 0 ? (random_() % 2 == 0 ? min : max) : std::clamp<int64_t>(7, min, max);
      default:
        // Unsigned: the distance may be more than an int64 holds.
        return static_cast<int64_t>(static_cast<uint64_t>(min) +
                                    random_() % (static_cast<uint64_t>(max) - static_cast<uint64_t>(min)));
    }
  }

  Literal literal(const spec::TypePtr& type) {
    switch (type->kind()) {
      case TypeKind::kBoolean:
        return Literal(type, below(2) == 0);
      case TypeKind::kInt:
      case TypeKind::kDate:
        return Literal(type, static_cast<int32_t>(integer(INT32_MIN, INT32_MAX)));
      case TypeKind::kTime:
        return Literal(type, integer(0, 86'399'999'999));
      case TypeKind::kFloat: {
        const float all[] = {0.0F, -0.0F,  std::numeric_limits<float>::quiet_NaN(),
                             1.5F, -1e30F, -std::numeric_limits<float>::quiet_NaN()};
        return Literal(type, all[below(6)]);
      }
      case TypeKind::kDouble: {
        const double all[] = {0.0, -0.0,   std::numeric_limits<double>::quiet_NaN(),
                              1.5, -1e300, -std::numeric_limits<double>::signaling_NaN()};
        return Literal(type, all[below(6)]);
      }
      case TypeKind::kDecimal: {
        Int128 value = integer(-999'999'999, 999'999'999);
        if (type->precision() > 20) value = value * 1'000'000'000'000 + integer(-5, 5);
        return Literal(type, value);
      }
      case TypeKind::kUuid: {
        Uuid uuid;
        for (std::byte& byte : uuid.bytes) byte = static_cast<std::byte>(below(2) * 200);
        return Literal(type, uuid);
      }
      case TypeKind::kString: {
        static const char* const kPieces[] = {"a", "Zz", "0", "/=", "\u00e9", "\u20ac", "\U0001F9CA", ""};
        std::string text;
        for (size_t i = below(scale_ < 2 ? 3 : 14); i > 0; --i) text += kPieces[below(8)];
        return Literal(type, text);
      }
      case TypeKind::kFixed:
      case TypeKind::kBinary: {
        std::string bytes(type->kind() == TypeKind::kFixed ? 7 : below(20), '\0');
        for (char& c : bytes) c = static_cast<char>(below(2) * 255);
        return Literal(type, bytes);
      }
      default:
        return Literal(type, integer(INT64_MIN, INT64_MAX));
    }
  }

 private:
  std::mt19937_64 random_;
  uint64_t scale_;
};

ArrayPtr array_of(const spec::TypePtr& type, const std::vector<Literal>& values, MemoryPool& pool) {
  std::vector<ArrayPtr> parts;
  auto builder = make_builder(spec::to_arrow_type(*type), pool);
  for (const Literal& value : values) {
    if (value.is_null()) {
      builder->append_null();
    } else {
      builder->append_from(*spec::make_constant_array(value, 1, pool), 0);
    }
  }
  return builder->finish();
}

spec::NestedField column_field(int32_t id, std::string name, spec::TypePtr type) {
  spec::NestedField field;
  field.id = id;
  field.name = std::move(name);
  field.type = std::move(type);
  return field;
}

spec::PartitionField partition_field(int32_t id, int32_t source, std::string name, Transform transform) {
  spec::PartitionField field;
  field.source_ids = {source};
  field.field_id = id;
  field.name = std::move(name);
  field.transform = std::move(transform);
  return field;
}

// The value of each row is Transform::apply's, for every type and transform, one to three fields, several batches; and
// rows have one number exactly if their tuples are the same partition.
RC_GTEST_PROP(PartitionKeys, EqualTheSpecsTransformsRowByRow, (uint64_t seed)) {
  MemoryPool pool;
  Values random(seed);
  std::vector<spec::NestedField> columns;
  spec::PartitionSpec spec;
  const size_t field_count = 1 + random.below(3);
  for (size_t f = 0; f < field_count; ++f) {
    const spec::TypePtr& type = source_types()[random.below(source_types().size())];
    std::vector<Transform> fitting;
    for (const Transform& transform : transforms()) {
      if (transform.can_transform(*type)) fitting.push_back(transform);
    }
    const spec::NestedField column = column_field(static_cast<int32_t>(f + 1), message("c{}", f), type);
    columns.push_back(column);
    spec.fields.push_back(partition_field(static_cast<int32_t>(1000 + f), column.id, message("p{}", f),
                                          fitting[random.below(fitting.size())]));
  }
  const spec::Schema schema(columns);
  RC_LOG() << spec.to_string(schema) << " of " << schema.to_string();
  PartitionKeys keys(spec, schema, pool, seed);
  for (int batch = 0; batch < 3; ++batch) {
    const size_t rows = random.below(3000);
    std::vector<std::vector<Literal>> values(field_count);
    std::vector<std::vector<Literal>> expected(rows);
    std::vector<ArrayPtr> arrays;
    const size_t null_share = 1 + random.below(9);
    for (size_t f = 0; f < field_count; ++f) {
      for (size_t r = 0; r < rows; ++r) {
        std::optional<Literal> transformed;
        while (!transformed) {
          const bool is_null = random.below(10) >= null_share;
          Literal value = is_null ? Literal::null(columns[f].type) : random.literal(columns[f].type);
          transformed = spec.fields[f].transform.try_apply(value);
          if (!transformed) continue;
          values[f].push_back(std::move(value));
        }
        expected[r].push_back(*std::move(transformed));
      }
      ArrayPtr array = array_of(columns[f].type, values[f], pool);
      if (is_bytes(array->type->id()) && random.below(2) == 0) {
        auto builder = make_builder(dictionary(primitive(TypeId::kUInt16), array->type), pool);
        for (size_t r = 0; r < rows; ++r) {
          if (values[f][r].is_null()) {
            builder->append_null();
          } else {
            builder->as<DictionaryBuilder>().append_bytes(values[f][r].as<std::string>());
          }
        }
        array = builder->finish();
      }
      arrays.push_back(std::move(array));
    }
    const RowCodes codes = keys.number_rows(arrays, static_cast<int64_t>(rows));
    RC_ASSERT(codes.count == static_cast<int64_t>(rows));
    std::vector<std::vector<Literal>> tuples;
    for (uint32_t p = 0; p < keys.count(); ++p) tuples.push_back(keys.tuple(p));
    for (size_t r = 0; r < rows; ++r) {
      RC_ASSERT(codes.at(static_cast<int64_t>(r)) < keys.count());
      RC_ASSERT(spec::same_partition(tuples[codes.at(static_cast<int64_t>(r))], expected[r]));
    }
    for (size_t a = 0; a < std::min<size_t>(tuples.size(), 50); ++a) {
      for (size_t b = 0; b < a; ++b) RC_ASSERT(!spec::same_partition(tuples[a], tuples[b]));
    }
  }
}

// Values that come first in a later window, in any block of it, have the numbers that one thread gives them.
RC_GTEST_PROP(PartitionKeys, DoNotDependOnThreads, (uint64_t seed)) {
  MemoryPool pool;
  Values random(seed);
  std::vector<spec::NestedField> columns;
  spec::PartitionSpec spec;
  const size_t field_count = 1 + random.below(3);
  const size_t rows = 20'000 + random.below(400'000);
  std::vector<ArrayPtr> arrays;
  for (size_t f = 0; f < field_count; ++f) {
    const spec::TypePtr& type = source_types()[random.below(source_types().size())];
    std::vector<Transform> fitting;
    for (const Transform& transform : transforms()) {
      if (transform.can_transform(*type)) fitting.push_back(transform);
    }
    const Transform& transform = fitting[random.below(fitting.size())];
    columns.push_back(column_field(static_cast<int32_t>(f + 1), message("c{}", f), type));
    spec.fields.push_back(
        partition_field(static_cast<int32_t>(1000 + f), columns.back().id, message("p{}", f), transform));
    std::vector<Literal> values;
    const size_t value_count = 1 + random.below(200);
    while (values.size() < value_count) {
      Literal value = random.below(20) == 0 ? Literal::null(type) : random.literal(type);
      if (transform.try_apply(value)) values.push_back(std::move(value));
    }
    std::vector<uint32_t> positions(rows);
    const size_t clustering = 1 + random.below(3);
    for (size_t r = 0; r < rows; ++r) {
      const size_t known = value_count * (r + rows / 4) / (rows + rows / 4) + 1;  // more and more of them come
      positions[r] = static_cast<uint32_t>(clustering == 1 ? known - 1 : random.below(known));
    }
    arrays.push_back(take(*array_of(type, values, pool), positions, pool));
  }
  const spec::Schema schema(columns);
  RC_LOG() << spec.to_string(schema) << " of " << schema.to_string() << ", " << rows << " rows";
  PartitionKeys alone(spec, schema, pool, seed);
  PartitionKeys together(spec, schema, pool, seed);
  ThreadPool threads(3);
  for (int batch = 0; batch < 2; ++batch) {
    const RowCodes expected = alone.number_rows(arrays, static_cast<int64_t>(rows));
    const RowCodes codes = together.number_rows(arrays, static_cast<int64_t>(rows), &threads);
    RC_ASSERT(codes.count == expected.count);
    int64_t differing = 0;
    for (int64_t r = 0; r < codes.count; ++r) differing += codes.at(r) != expected.at(r);
    RC_ASSERT(differing == 0);
  }
  RC_ASSERT(together.count() == alone.count());
}

TEST(PartitionKeys, HashEightBytesLikeTheSpec) {
  std::mt19937_64 random(1);
  for (int64_t value : {int64_t{0}, int64_t{34}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(static_cast<int32_t>(kernel::hash_of_8_bytes(value)), spec::kernel::hash_integer(value)) << value;
  }
  EXPECT_EQ(kernel::hash_of_8_bytes(34), 2017239379U);  // spec, Appendix B
  for (int i = 0; i < 1000; ++i) {
    const auto value = static_cast<int64_t>(random());
    EXPECT_EQ(static_cast<int32_t>(kernel::hash_of_8_bytes(value)), spec::kernel::hash_integer(value)) << value;
  }
}

TEST(PartitionKeys, FindSourcesInStructsWhoseNullsAreNulls) {
  MemoryPool pool;
  const spec::Schema schema(
      {column_field(1, "id", spec::primitive(TypeKind::kInt)),
       column_field(2, "point", spec::struct_({column_field(3, "x", spec::primitive(TypeKind::kLong))}))});
  spec::PartitionSpec spec;
  spec.fields.push_back(partition_field(1000, 3, "x", Transform::identity()));
  PartitionKeys keys(spec, schema, pool);
  EXPECT_TRUE(keys.uses_column(1));
  EXPECT_FALSE(keys.uses_column(0));
  ArrayPtr x = make_int64({7, 8, std::nullopt, 7, 9});
  const DataTypePtr type = spec::to_arrow_type(*schema.fields()[1].type);
  ArrayPtr point = make_struct(type, {x}, {true, false, true, true, true})->slice(1, 4);
  const std::vector<ArrayPtr> columns = {make_int32({1, 2, 3, 4}), point};
  const RowCodes codes = keys.number_rows(columns, 4);
  ASSERT_EQ(keys.count(), 3);
  EXPECT_TRUE(keys.tuple(codes.at(0))[0].is_null());
  EXPECT_EQ(codes.at(0), codes.at(1));
  EXPECT_EQ(keys.tuple(codes.at(2))[0].as<int64_t>(), 7);
  EXPECT_EQ(keys.tuple(codes.at(3))[0].as<int64_t>(), 9);
}

std::string error_of(const spec::TypePtr& type, const Transform& transform, const ArrayPtr& array) {
  MemoryPool pool;
  const spec::Schema schema({column_field(1, "a", type)});
  spec::PartitionSpec spec;
  spec.fields.push_back(partition_field(1000, 1, "p", transform));
  try {
    PartitionKeys keys(spec, schema, pool);
    ThreadPool threads(2);
    keys.number_rows(std::span(&array, 1), array->length, &threads);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PartitionKeys, NameTheRowThatATransformCannotTake) {
  EXPECT_EQ(error_of(spec::primitive(TypeKind::kLong), Transform::truncate(10), make_int64({1, INT64_MIN})),
            "partition field 'p': truncate[10] of row 1 is out of range");
  EXPECT_EQ(error_of(spec::primitive(TypeKind::kInt), Transform::truncate(10), make_int32({1, 2, INT32_MIN})),
            "partition field 'p': truncate[10] of row 2 is out of range");
  EXPECT_EQ(error_of(spec::primitive(TypeKind::kTimestamp), Transform::hour(),
                     make_fixed<int64_t>(timestamp(TimeUnit::kMicro), {0, INT64_MAX})),
            "partition field 'p': hour of row 1 is out of range");
  std::vector<std::optional<int64_t>> many(100'000, 7);
  many[70'000] = many[90'000] = INT64_MIN;
  EXPECT_EQ(error_of(spec::primitive(TypeKind::kLong), Transform::truncate(10), make_int64(many)),
            "partition field 'p': truncate[10] of row 70000 is out of range");
  // What lies under a null does not count.
  MemoryPool pool;
  auto hidden = std::make_shared<Array>(*make_int64({INT64_MIN, 5}));
  const uint8_t valid = 0b10;
  hidden->buffers[0] = pool.copy(std::as_bytes(std::span(&valid, 1)));
  hidden->null_count = 1;
  EXPECT_EQ(error_of(spec::primitive(TypeKind::kLong), Transform::truncate(10), hidden), "");
}

TEST(PartitionKeys, RefuseWhatTheyCannotWrite) {
  EXPECT_EQ(error_of(spec::primitive(TypeKind::kLong), Transform::parse("zorder"), make_int64({1})),
            "cannot write with the transform zorder of partition field 'p'");
  EXPECT_EQ(error_of(spec::primitive(TypeKind::kLong), Transform::hour(), make_int64({1})),
            "partition field 'p': hour does not take values of type long");
}

TEST(PartitionKeys, OfASpecWithoutFieldsAreAlwaysZero) {
  MemoryPool pool;
  const spec::Schema schema({column_field(1, "a", spec::primitive(TypeKind::kLong))});
  spec::PartitionSpec spec;
  PartitionKeys none(spec, schema, pool);
  EXPECT_FALSE(none.is_partitioned());
  EXPECT_EQ(none.count(), 1);
  spec.fields.push_back(partition_field(1000, 1, "p", Transform::always_null()));
  PartitionKeys voids(spec, schema, pool);
  EXPECT_FALSE(voids.is_partitioned());
  const ArrayPtr column = make_int64({1, 2});
  EXPECT_EQ(voids.number_rows(std::span(&column, 1), 2).at(1), 0);
  EXPECT_TRUE(voids.tuple(0).at(0).is_null());
  EXPECT_EQ(voids.tuple(0).at(0).type()->kind(), TypeKind::kLong);
}

}  // namespace
}  // namespace frazil::write
