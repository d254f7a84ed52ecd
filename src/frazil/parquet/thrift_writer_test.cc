#include "frazil/parquet/thrift_writer.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::parquet {
namespace {

class ThriftWriterTest : public ::testing::Test {
 protected:
  std::string hex() {
    Buffer bytes = out_.freeze();
    return encode_hex(bytes.span());
  }

  MemoryPool pool_;
  GrowingBuffer out_{pool_};
};

// thrift-compact-protocol.md: field headers, zigzag varints, booleans in the type, lists.
TEST_F(ThriftWriterTest, WritesWhatTheProtocolSays) {
  ThriftWriter writer(out_);
  writer.i32(1, -1);        // 15 01
  writer.boolean(2, true);  // 11
  writer.binary(20, std::string_view("ab"));
  writer.i64(21, 300);
  writer.i8(22, -3);
  writer.finish();
  EXPECT_EQ(hex(),
            "150111"
            "082802"
            "6162"
            "16d804"
            "13fd"
            "00");
}

TEST_F(ThriftWriterTest, WritesListsShortAndLong) {
  ThriftWriter writer(out_);
  writer.i32_list(1, std::vector<int32_t>(14, 1));
  writer.i64_list(2, std::vector<int64_t>(15, 1));
  writer.finish();
  std::string ones;
  for (int i = 0; i < 14; ++i) ones += "02";
  EXPECT_EQ(hex(), "19e5" + ones + "19f60f" + ones + "02" + "00");
}

TEST_F(ThriftWriterTest, IsReadBack) {
  ThriftWriter writer(out_);
  writer.begin_struct(3);
  writer.i16(100, std::numeric_limits<int16_t>::min());
  writer.real(101, 0.1);
  writer.end_struct();
  writer.begin_list(4, ThriftType::kStruct, 2);
  for (int64_t i : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    writer.begin_element();
    writer.i64(1, i);
    writer.empty_struct(2);
    writer.end_struct();
  }
  writer.begin_list(5, ThriftType::kTrue, 2);
  writer.element(true);
  writer.element(false);
  writer.finish();

  Buffer bytes = out_.freeze();
  ThriftReader reader(bytes.span());
  std::vector<int64_t> seen;
  for (ThriftFields fields(reader); fields.next();) {
    if (fields.id() == 3) {
      fields.expect_struct();
      for (ThriftFields inner(reader); inner.next();) {
        if (inner.id() == 100) {
          seen.push_back(inner.i32());
        } else {
          inner.skip();
        }
      }
    } else if (fields.id() == 4) {
      for (uint32_t left = fields.list(ThriftType::kStruct).size; left > 0; --left) {
        for (ThriftFields inner(reader); inner.next();) {
          if (inner.id() == 1) {
            seen.push_back(inner.i64());
          } else {
            inner.skip();
          }
        }
      }
    } else {
      ASSERT_EQ(fields.list(ThriftType::kTrue).size, 2U);
      seen.push_back(reader.read_list_bool());
      seen.push_back(reader.read_list_bool());
    }
  }
  EXPECT_EQ(seen, (std::vector<int64_t>{INT16_MIN, INT64_MIN, INT64_MAX, 1, 0}));
  EXPECT_EQ(reader.position(), bytes.size());
}

TEST_F(ThriftWriterTest, TakesStructsThatWereWrittenBefore) {
  ThriftWriter inner(out_);
  inner.i32(1, 7);
  inner.finish();
  const Buffer bytes = out_.freeze();
  ThriftWriter writer(out_);
  writer.struct_bytes(3, bytes.span());
  writer.i32(4, 1);
  writer.finish();
  EXPECT_EQ(hex(),
            "3c"
            "150e00"
            "1502"
            "00");
}

TEST_F(ThriftWriterTest, RefusesFieldsOutOfOrder) {
  ThriftWriter writer(out_);
  writer.i32(2, 1);
  EXPECT_THROW(writer.i32(2, 1), Error);
}

}  // namespace
}  // namespace frazil::parquet
