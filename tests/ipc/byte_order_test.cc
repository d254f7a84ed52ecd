// Streams of the other byte order, of all types: the gold files have none of views, list views and run ends, and only writers on
// machines that hardly anybody has would make them. Ours are turned round here, by a table of its own.
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "all_types.h"

#include "frazil/base/byte_reader.h"
#include "frazil/columnar/type.h"
#include "frazil/ipc/flatbuffer_builder.h"
#include "frazil/ipc/message.h"
#include "frazil/ipc/messages_test.h"
#include "frazil/ipc/metadata_tables.h"
#include "frazil/ipc/schema_writer.h"
#include "frazil/ipc/stream_reader.h"

namespace frazil::testing {
namespace {

// The widths of the numbers that lie one after the other in a buffer, again and again.
using Widths = std::vector<size_t>;
const Widths kBytes = {1};
const Widths kView = {};  // depends on the values

void add(const DataType& type, std::vector<Widths>& buffers, const ipc::FlatVector& variadic, size_t& view);

void add_children(const DataType& type, std::vector<Widths>& buffers, const ipc::FlatVector& variadic, size_t& view) {
  for (const Field& child : type.children()) add(*child.type, buffers, variadic, view);
}

// The buffers of an array (Columnar format, "Buffer Listing for Each Layout").
void add(const DataType& type, std::vector<Widths>& buffers, const ipc::FlatVector& variadic, size_t& view) {
  const auto put = [&](std::initializer_list<Widths> more) { buffers.insert(buffers.end(), more); };
  switch (type.id()) {
    case TypeId::kNull:
      return;
    case TypeId::kBool:
    case TypeId::kFixedSizeBinary:
      return put({kBytes, kBytes});
    case TypeId::kUtf8:
    case TypeId::kBinary:
      return put({kBytes, {4}, kBytes});
    case TypeId::kLargeUtf8:
    case TypeId::kLargeBinary:
      return put({kBytes, {8}, kBytes});
    case TypeId::kUtf8View:
    case TypeId::kBinaryView:
      put({kBytes, kView});
      for (int64_t i = variadic.scalar<int64_t>(view++); i > 0; --i) put({kBytes});
      return;
    case TypeId::kIntervalDayTime:
      return put({kBytes, {4, 4}});
    case TypeId::kIntervalMonthDayNano:
      return put({kBytes, {4, 4, 8}});
    case TypeId::kList:
    case TypeId::kMap:
      put({kBytes, {4}});
      return add_children(type, buffers, variadic, view);
    case TypeId::kLargeList:
      put({kBytes, {8}});
      return add_children(type, buffers, variadic, view);
    case TypeId::kListView:
      put({kBytes, {4}, {4}});
      return add_children(type, buffers, variadic, view);
    case TypeId::kLargeListView:
      put({kBytes, {8}, {8}});
      return add_children(type, buffers, variadic, view);
    case TypeId::kFixedSizeList:
    case TypeId::kStruct:
    case TypeId::kSparseUnion:  // type ids
      put({kBytes});
      return add_children(type, buffers, variadic, view);
    case TypeId::kDenseUnion:
      put({kBytes, {4}});
      return add_children(type, buffers, variadic, view);
    case TypeId::kRunEndEncoded:
      return add_children(type, buffers, variadic, view);
    default:  // numbers, and indices of dictionaries
      return put({kBytes, {static_cast<size_t>(type.byte_width())}});
  }
}

void turn(std::byte* at, size_t width) {
  std::reverse(at, at + width);
}

void turn(std::span<std::byte> bytes, const Widths& widths) {
  std::byte* at = bytes.data();
  std::byte* const end = at + bytes.size();
  if (!widths.empty()) {
    for (size_t i = 0; at != end; i = (i + 1) % widths.size(), at += widths[i == 0 ? widths.size() - 1 : i - 1]) {
      turn(at, widths[i]);
    }
    return;
  }
  for (; at != end; at += 16) {
    const bool is_inline = load<int32_t>(at) <= 12;
    turn(at, 4);
    if (is_inline) continue;
    turn(at + 8, 4);
    turn(at + 12, 4);
  }
}

// The types inside of dictionaries, by their ids: those of fields depth first.
void add_dictionaries(const DataType& type, std::vector<DataTypePtr>& found) {
  if (type.value_type() != nullptr) {
    found.push_back(type.value_type());
    return add_dictionaries(*type.value_type(), found);
  }
  for (const Field& child : type.children()) add_dictionaries(*child.type, found);
}

std::string big_endian_schema(const Schema& schema) {
  MemoryPool pool;
  ipc::FlatBuilder builder(pool);
  builder.clear();
  const auto tag = static_cast<uint8_t>(ipc::HeaderTag::kSchema);
  const ipc::FlatPlace message = builder.table(ipc::FlatShape()
                                                   .scalar<int16_t>(ipc::message_field::kVersion, ipc::kMetadataV5)
                                                   .scalar<uint8_t>(ipc::message_field::kHeaderTag, tag)
                                                   .offset(ipc::message_field::kHeader));
  builder.point_root(message);
  const ipc::FlatPlace place = ipc::add_schema(builder, schema);
  builder.set<int16_t>(place, ipc::schema_field::kEndianness, 1);
  builder.point(message, ipc::message_field::kHeader, place);
  return ipc::testing::framed(builder.bytes());
}

// The same stream as a machine of the other byte order would have written it; metadata are always the same.
std::string big_endian(std::string stream, const Schema& schema) {
  std::vector<DataTypePtr> dictionaries;
  for (const Field& field : schema.fields()) add_dictionaries(*field.type, dictionaries);
  std::string out;
  for (size_t at = 0;;) {
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(stream)).subspan(at);
    const ipc::MessagePrefix prefix = *ipc::MessagePrefix::read(bytes, at);
    if (prefix.metadata_bytes == 0) return out + stream.substr(at);
    const size_t head = prefix.prefix_bytes + prefix.metadata_bytes;
    const ipc::Message message(bytes.subspan(prefix.prefix_bytes, prefix.metadata_bytes), at);
    const size_t size = head + message.body_bytes();
    if (message.kind() == ipc::MessageKind::kSchema) {
      out += big_endian_schema(schema);
    } else {
      const bool is_dictionary = message.kind() == ipc::MessageKind::kDictionaryBatch;
      const ipc::FlatTable batch =
          is_dictionary ? *message.header().table(ipc::dictionary_batch_field::kData) : message.header();
      const ipc::FlatVector variadic = batch.vector(ipc::record_batch_field::kVariadicBufferCounts, sizeof(int64_t));
      std::vector<Widths> widths;
      size_t view = 0;
      if (is_dictionary) {
        const auto id = message.header().scalar<int64_t>(ipc::dictionary_batch_field::kId, 0);
        add(*dictionaries[static_cast<size_t>(id)], widths, variadic, view);
      } else {
        for (const Field& field : schema.fields()) add(*field.type, widths, variadic, view);
      }
      const ipc::FlatVector places = batch.vector(ipc::record_batch_field::kBuffers, sizeof(ipc::BufferPlace));
      EXPECT_EQ(places.size(), widths.size());
      for (size_t i = 0; i < widths.size(); ++i) {
        const auto offset = static_cast<size_t>(places.scalar<int64_t>(2 * i));
        const auto length = static_cast<size_t>(places.scalar<int64_t>(2 * i + 1));
        turn(bytes.subspan(head + offset, length), widths[i]);
      }
      out += stream.substr(at, size);
    }
    at += size;
  }
}

TEST(IpcByteOrder, StreamsOfTheOtherOneHaveTheSameValuesOfAllTypes) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    MemoryPool pool;
    IpcContents contents = batches_of_all_types(seed, pool);
    contents.file_metadata.clear();
    const std::string stream = big_endian(std::string(stream_of(contents, pool).text()), *contents.schema);
    ipc::StreamReader reader(Buffer::from_string(stream), pool, {.validation = ipc::Validation::kFull});
    EXPECT_EQ(difference(contents_of(reader), contents), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace frazil::testing
