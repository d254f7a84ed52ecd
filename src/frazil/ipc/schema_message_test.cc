#include "frazil/ipc/schema_message.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/base64.h"
#include "frazil/base/error.h"
#include "frazil/ipc/schema_messages_test.h"

namespace frazil::ipc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string decoded(std::string_view text) {
  return decode_base64(text).value();
}

TEST(SchemaMessage, HasEveryTypeThatPyarrowWrites) {
  const std::string bytes = decoded(testing::kAllTypes);
  const SchemaMessage message(bytes_of(bytes));
  const std::vector<std::string> expected = {
      "null",
      "bool",
      "int8",
      "int16",
      "int32",
      "int64",
      "uint8",
      "uint16",
      "uint32",
      "uint64",
      "halffloat",
      "float",
      "double",
      "decimal32(5, 2)",
      "decimal64(18, 0)",
      "decimal128(38, 9)",
      "decimal256(76, 20)",
      "date32",
      "date64",
      "time32[s]",
      "time32[ms]",
      "time64[us]",
      "time64[ns]",
      "timestamp[s]",
      "timestamp[ms, UTC]",
      "timestamp[us, Europe/Berlin]",
      "timestamp[ns, +02:00]",
      "duration[s]",
      "duration[ms]",
      "duration[us]",
      "duration[ns]",
      "interval_month_day_nano",
      "utf8",
      "large_utf8",
      "utf8_view",
      "binary",
      "large_binary",
      "binary_view",
      "fixed_size_binary[7]",
      "list<item: int32>",
      "large_list<element: utf8 not null>",
      "list_view<item: int8>",
      "large_list_view<item: int8>",
      "fixed_size_list<item: int16>[3]",
      "struct<a: int32 not null, b: list<item: utf8>>",
      "map<utf8, int64>",
      "map<int32, double not null, keys_sorted>",
      "dense_union<x: int32=5, y: utf8=9>",
      "sparse_union<x: int32=0, y: utf8=1>",
      "dictionary<values=utf8, indices=int8>",
      "dictionary<values=large_binary, indices=uint32, ordered>",
      "run_end_encoded<run_ends: int16 not null, values: float>",
  };
  const SchemaPtr schema = message.schema();
  ASSERT_EQ(schema->field_count(), expected.size());
  ASSERT_EQ(message.field_count(), expected.size());
  EXPECT_FALSE(message.is_big_endian());
  EXPECT_EQ(schema->metadata(), (Metadata{{"origin", "pyarrow"}, {"empty", ""}}));
  EXPECT_EQ(message.metadata(), schema->metadata());
  for (size_t i = 0; i < expected.size(); ++i) {
    const Field& field = schema->field(i);
    EXPECT_EQ(field.type->to_string(), expected[i]);
    EXPECT_EQ(field.name, "c" + std::to_string(i));
    EXPECT_EQ(field.nullable, i % 3 != 0 || i == 0) << field.name;
    EXPECT_EQ(field.metadata, i % 5 == 0 ? (Metadata{{"k", "v" + std::to_string(i)}}) : Metadata{}) << field.name;
    EXPECT_TRUE(message.field(i).equals(field, true)) << "one field alone: " << field.name;
  }
}

TEST(SchemaMessage, HasExtensionsAndDictionariesInDictionaries) {
  const std::string bytes = decoded(testing::kNestedDictionaries);
  const SchemaMessage message(bytes_of(bytes));
  EXPECT_EQ(message.field(0).extension_name(), "arrow.uuid");
  EXPECT_EQ(message.field(0).type->to_string(), "fixed_size_binary[16]");
  EXPECT_EQ(message.field(1).type->to_string(),
            "dictionary<values=list<item: dictionary<values=utf8, indices=int8>>, indices=int32>");
  EXPECT_EQ(message.dictionary_ids(0).size(), 0U);
  EXPECT_EQ(message.dictionary_ids(1).size(), 2U);
  EXPECT_THAT(message.dictionary_ids(2).size(), 1U);
}

// What the streams of all gold files begin with: seven versions of Arrow, both orders of bytes, with and without the
// continuation marker.
TEST(SchemaMessage, IsReadFromEveryGoldStream) {
  const std::filesystem::path folder = FRAZIL_TEST_CORPORA "/arrow-testing/data/arrow-ipc-stream/integration";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".stream") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const SchemaMessage message(bytes_of(bytes));
    const SchemaPtr schema = message.schema();
    EXPECT_EQ(schema->field_count(), message.field_count());
    const bool is_big_endian = entry.path().string().find("bigendian") != std::string::npos;
    EXPECT_EQ(message.is_big_endian(), is_big_endian) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 91);
}

// ---- Bad input ----

enum class Outcome : uint8_t { kRead, kRefused };

Outcome read_all(std::span<const std::byte> bytes) {
  try {
    const SchemaMessage message(bytes, 1000);
    message.schema();
    message.is_big_endian();
    for (size_t i = 0; i < message.field_count(); ++i) message.dictionary_ids(i);
    return Outcome::kRead;
  } catch (const CorruptError& error) {
    EXPECT_TRUE(error.offset() == CorruptError::kNoOffset || error.offset() >= 1000) << error.what();
  } catch (const Error& error) {
    EXPECT_NE(error.kind(), ErrorKind::kInternal) << error.what();
    EXPECT_NE(error.kind(), ErrorKind::kMemoryLimit) << error.what();
  }
  return Outcome::kRefused;
}

// Exact copies on the heap, so that AddressSanitizer sees a byte too far.
Outcome read_copy(const std::string& bytes, size_t size) {
  const std::vector<char> copy(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
  return read_all(std::as_bytes(std::span(copy)));
}

TEST(SchemaMessage, SurvivesEveryTruncationAndEveryChangedByte) {
  for (std::string_view text : {testing::kAllTypes, testing::kNestedDictionaries}) {
    const std::string whole = decoded(text);
    ASSERT_EQ(read_copy(whole, whole.size()), Outcome::kRead);
    for (size_t size = 0; size < whole.size(); ++size) EXPECT_EQ(read_copy(whole, size), Outcome::kRefused) << size;
    for (size_t i = 0; i < whole.size(); ++i) {
      for (int change : {0x01, 0x04, 0x80, 0xFF}) {
        std::string changed = whole;
        changed[i] = static_cast<char>(changed[i] ^ change);
        read_copy(changed, changed.size());
      }
    }
  }
}

// A message by hand: one field, a chain of structs each of which has the next one `fan_out` times, which takes bytes only
// once. (Offsets lead forward, so none can have itself.) The last is of type null.
class ForgedChain {
 public:
  explicit ForgedChain(int depth, uint32_t fan_out) {
    // vtables first: offsets of tables to them are signed.
    message_vtable_ = vtable({4, 6, 8}, 12);
    schema_vtable_ = vtable({0, 4}, 8);
    field_vtable_ = vtable({0, 0, 4, 8, 0, 12}, 16);
    type_vtable_ = vtable({}, 4);
    put_at(0, static_cast<uint32_t>(bytes_.size()));
    table(message_vtable_);
    u16(4);
    bytes_ += '\1';  // a schema
    bytes_ += '\0';
    u32(4);
    table(schema_vtable_);
    u32(4);
    u32(1);
    u32(4);
    for (int i = 0; i < depth; ++i) {
      const bool is_last = i + 1 == depth;
      table(field_vtable_);
      u32(is_last ? 1 : 13);  // the type's tag in its lowest byte: null, struct
      u32(8);                 // the type behind these two
      u32(8);
      table(type_vtable_);
      u32(is_last ? 0 : fan_out);
      for (uint32_t k = 0; k < (is_last ? 0 : fan_out); ++k) u32(4 * (fan_out - k));
    }
  }
  std::string message() const {
    std::string out(4, '\xFF');
    const auto size = static_cast<uint32_t>(bytes_.size());
    out.append(reinterpret_cast<const char*>(&size), 4);
    return out + bytes_;
  }

 private:
  void u16(uint16_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 2); }
  void u32(uint32_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 4); }
  void put_at(size_t at, uint32_t value) { std::memcpy(bytes_.data() + at, &value, 4); }
  size_t vtable(const std::vector<uint16_t>& slots, uint16_t table_bytes) {
    const size_t at = bytes_.size();
    u16(static_cast<uint16_t>(4 + 2 * slots.size()));
    u16(table_bytes);
    for (uint16_t slot : slots) u16(slot);
    return at;
  }
  void table(size_t vtable) { u32(static_cast<uint32_t>(bytes_.size() - vtable)); }

  std::string bytes_ = std::string(4, '\0');
  size_t message_vtable_ = 0;
  size_t schema_vtable_ = 0;
  size_t field_vtable_ = 0;
  size_t type_vtable_ = 0;
};

std::string error_of(const std::string& bytes) {
  try {
    SchemaMessage(bytes_of(bytes)).schema();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SchemaMessage, BoundsWhatSharedBytesMakeOfThemselves) {
  EXPECT_EQ(error_of(ForgedChain(10, 1).message()), "no error");
  EXPECT_THAT(error_of(ForgedChain(100, 1).message()), HasSubstr("more than 64 levels"));
  EXPECT_THAT(error_of(ForgedChain(60, 2).message()), HasSubstr("share their bytes"));  // 2^60 fields in 2 KiB
  EXPECT_THAT(error_of(ForgedChain(4, 200).message()), HasSubstr("share their bytes"));
  EXPECT_EQ(read_all(bytes_of(ForgedChain(60, 2).message())), Outcome::kRefused);
}

TEST(SchemaMessage, NamesWhatItIsNot) {
  EXPECT_THAT(error_of(""), HasSubstr("a message's length"));
  // What follows the schema in a stream: a batch.
  std::ifstream in(FRAZIL_TEST_CORPORA
                   "/arrow-testing/data/arrow-ipc-stream/integration/1.0.0-littleendian/generated_primitive.stream",
                   std::ios::binary);
  const std::string stream{std::istreambuf_iterator<char>(in), {}};
  uint32_t size = 0;
  std::memcpy(&size, stream.data() + 4, sizeof(size));
  EXPECT_EQ(error_of(stream.substr(0, 8 + size)), "no error");
  EXPECT_THAT(error_of(stream.substr(8 + size)), HasSubstr("a message of kind 3 where a schema is"));
}

}  // namespace
}  // namespace frazil::ipc
