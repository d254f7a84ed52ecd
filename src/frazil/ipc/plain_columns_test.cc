#include "frazil/ipc/plain_columns.h"

#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/ipc/messages_test.h"
#include "frazil/ipc/stream_reader.h"

namespace frazil::ipc {
namespace {

using testing::end_of_stream;
using testing::made;
using testing::MadeBatch;

constexpr int64_t kRows = 4;

const Schema kColumns({{.name = "a", .type = primitive(TypeId::kInt32)},
                       {.name = "b", .type = primitive(TypeId::kUtf8)},
                       {.name = "c", .type = fixed_size_binary(3)},
                       {.name = "d", .type = primitive(TypeId::kBool)},
                       {.name = "e", .type = primitive(TypeId::kLargeBinary)}});

MadeBatch sound() {
  MadeBatch batch{.length = kRows};
  batch.node(kRows, 1).add(std::string(1, '\x7')).add(std::vector<int32_t>{1, 2, 3, 4});
  batch.node(kRows).add("").add(std::vector<int32_t>{0, 1, 1, 3, 3}).add("xyz");
  batch.node(kRows, 0).add("").add("abcdefghijkl");
  batch.node(kRows, kUnknownNullCount).add("").add(std::string(1, '\x5'));
  batch.node(kRows, kRows).add(std::string(1, '\0')).add(std::vector<int64_t>{0, 0, 0, 0, 0}).add("");
  return batch;
}

// What a reader makes of a batch: its error, or what it says of every array.
std::string outcome(const Buffer& stream, const ReadOptions& options) {
  MemoryPool pool;
  try {
    StreamReader reader(stream, pool, options);
    const std::optional<RecordBatch> batch = reader.next();
    std::string out = std::to_string(batch->row_count());
    for (const ArrayPtr& column : batch->columns()) {
      out += "\n" + column->type->to_string() + " " + std::to_string(column->length) + " " +
             std::to_string(column->null_count);
      for (const Buffer& buffer : column->buffers) {
        // Bytes of the stream are where they are; copies are in places of their own.
        const auto place = static_cast<size_t>(buffer.data() - stream.data());
        out += " " + std::to_string(buffer.size()) + (place < stream.size() ? "@" + std::to_string(place) : "");
      }
    }
    return out;
  } catch (const Error& error) {
    return error.what();
  }
}

// All columns by their numbers are the same batch, and none of them is taken in the loop of plain ones.
std::string general_outcome(const Buffer& stream) {
  std::vector<size_t> all;
  for (size_t i = 0; i < kColumns.field_count(); ++i) all.push_back(i);
  return outcome(stream, {.columns = all});
}

TEST(PlainColumns, DecideWhatTheGeneralWayDecides) {
  const std::string schema = made(kColumns);
  const MadeBatch whole = sound();
  const auto body = static_cast<int64_t>((whole.body.size() + 7) / 8 * 8);
  std::mt19937_64 random(5);
  size_t errors = 0;
  constexpr size_t kRounds = 4000;
  for (size_t round = 0; round < kRounds; ++round) {
    MadeBatch batch = whole;
    // A value may be forged twice, so sums of it wrap.
    const auto sum = [](int64_t a, int64_t b) {
      return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    };
    const auto forge = [&](int64_t& value) {
      const int64_t near = static_cast<int64_t>(random() % 5) - 2;
      const int64_t values[] = {sum(value, near),
                                body + near,
                                near,
                                kRows + near,
                                std::numeric_limits<int64_t>::max() - (near + 2),
                                std::numeric_limits<int64_t>::min() + (near + 2),
                                static_cast<int64_t>(static_cast<uint64_t>(body) - static_cast<uint64_t>(value))};
      value = values[random() % std::size(values)];
    };
    for (uint64_t count = round == 0 ? 0 : 1 + random() % 2; count > 0; --count) {
      const size_t which = random() % (batch.nodes.size() + batch.buffers.size() + 1);
      if (which < batch.nodes.size()) {
        forge(random() % 2 == 0 ? batch.nodes[which].length : batch.nodes[which].null_count);
      } else if (which < batch.nodes.size() + batch.buffers.size()) {
        BufferPlace& place = batch.buffers[which - batch.nodes.size()];
        forge(random() % 2 == 0 ? place.offset : place.length);
      } else {
        forge(batch.length);
      }
    }
    if (random() % 50 == 0) batch.buffers.resize(random() % (batch.buffers.size() + 1));
    if (random() % 50 == 0) batch.nodes.resize(random() % (batch.nodes.size() + 1));
    const Buffer stream = Buffer::from_string(schema + made(batch) + end_of_stream());
    const std::string general = general_outcome(stream);
    ASSERT_EQ(outcome(stream, {}), general) << "round " << round;
    if (general.find("reading") != std::string::npos) ++errors;
    ASSERT_TRUE(round > 0 || errors == 0) << general;
  }
  EXPECT_GT(errors, kRounds / 4);
  EXPECT_LT(errors, kRounds * 9 / 10);
}

TEST(PlainColumns, KeepTypesAndBodyAliveByTheirOwn) {
  std::vector<Field> fields;
  MadeBatch batch{.length = 2};
  for (int i = 0; i < 100; ++i) {
    fields.push_back(
        {.name = std::to_string(i), .type = i % 3 == 0 ? fixed_size_binary(i + 1) : primitive(TypeId::kInt64)});
    batch.node(2).add("").add(std::string(static_cast<size_t>(i % 3 == 0 ? 2 * i + 2 : 16), static_cast<char>(i)));
  }
  std::vector<ArrayPtr> kept;
  std::weak_ptr<const DataType> type;
  MemoryPool pool;
  {
    StreamReader reader(Buffer::from_string(made(Schema(std::move(fields))) + made(batch) + end_of_stream()), pool,
                        {.schema_cache = nullptr});
    const std::optional<RecordBatch> read = reader.next();
    type = reader.schema()->field(0).type;
    // One of each owner, and the last.
    for (const size_t index : {3U, 4U, 5U, 6U, 99U}) kept.push_back(read->column(index));
  }
  for (const int i : {3, 4, 5, 6, 99}) {
    const Array& array = *kept[static_cast<size_t>(i < 99 ? i - 3 : 4)];
    EXPECT_EQ(array.type->id(), i % 3 == 0 ? TypeId::kFixedSizeBinary : TypeId::kInt64);
    EXPECT_EQ(array.buffers[1].text(),
              std::string(static_cast<size_t>(i % 3 == 0 ? 2 * i + 2 : 16), static_cast<char>(i)));
  }
  EXPECT_FALSE(type.expired());
  kept.clear();
  EXPECT_TRUE(type.expired());
}

}  // namespace
}  // namespace frazil::ipc
