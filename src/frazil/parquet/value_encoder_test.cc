// The encoders against those of encoders_test.h, which are written plainly and were held against files of other writers.
#include "frazil/parquet/value_encoder.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/parquet/delta_encoder.h"
#include "frazil/parquet/encoders_test.h"
#include "frazil/parquet/hybrid.h"
#include "frazil/parquet/hybrid_encoder.h"
#include "frazil/parquet/value_dictionary.h"

namespace frazil::parquet {
namespace {

std::string text_of(const EncodeBuffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), buffer.size()};
}

// Values in runs and alone, of few bits and many.
std::vector<uint64_t> some_values(int bits) {
  std::vector<uint64_t> values;
  for (int parts = *rc::gen::inRange(0, 12); parts > 0; --parts) {
    const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    const auto value = *rc::gen::arbitrary<uint64_t>() & mask;
    const int count = *rc::gen::inRange(1, 300);
    const bool is_run = *rc::gen::arbitrary<bool>();
    uint64_t state = value;
    for (int i = 0; i < count; ++i) {
      values.push_back(state & mask);
      if (!is_run) state = state * 6364136223846793005u + 1442695040888963407u;
    }
  }
  return values;
}

RC_GTEST_PROP(HybridEncoder, GivesWhatTheReaderReads, ()) {
  MemoryPool pool;
  const int width = *rc::gen::inRange(0, 33);
  const std::vector<uint64_t> wide = some_values(width == 0 ? 1 : width);
  std::vector<uint32_t> values(wide.begin(), wide.end());
  if (width == 0) std::fill(values.begin(), values.end(), 0);
  const auto read = [&](EncodeBuffer& out) {
    std::vector<uint32_t> back(values.size() + 64);
    out.reserve(64);
    HybridReader reader(out.span(), width);
    back.resize(reader.read(kernels(), back.data(), values.size()));
    return back;
  };
  EncodeBuffer out(pool);
  append_hybrid(std::span<const uint32_t>(values), width, out);
  RC_ASSERT(read(out) == values);
  // No longer than one packed run but for headers of two bytes every 4,096 values.
  RC_ASSERT(out.size() <= (values.size() + 7) / 8 * static_cast<size_t>(width) + 4 + values.size() / 1000 * 2 + 12);
  if (width > 8) return;
  const std::vector<uint8_t> bytes(values.begin(), values.end());
  EncodeBuffer narrow(pool);
  append_hybrid(std::span<const uint8_t>(bytes), width, narrow);
  RC_ASSERT(text_of(narrow) == text_of(out));
}

TEST(HybridEncoder, MakesRunsOfWhatRepeats) {
  MemoryPool pool;
  EncodeBuffer out(pool);
  append_hybrid(std::vector<uint32_t>(20'000, 3), 5, out);
  EXPECT_EQ(text_of(out), testing::repeated_run(20'000, 3, 5));
  out.clear();
  std::vector<uint32_t> values = {1, 2, 3, 4, 5, 6, 7, 0};
  values.insert(values.end(), 40, 9);
  values.push_back(2);
  append_hybrid(values, 5, out);
  EXPECT_EQ(text_of(out), testing::packed_run({1, 2, 3, 4, 5, 6, 7, 0}, 5) + testing::repeated_run(40, 9, 5) +
                              testing::packed_run({2}, 5));
}

RC_GTEST_PROP(DeltaEncoder, GivesTheBytesOfThePlainEncoder, ()) {
  MemoryPool pool;
  const std::vector<uint64_t> wide = some_values(*rc::gen::inRange(1, 65));
  EncodeBuffer out(pool);
  append_delta(std::span<const uint64_t>(wide), out);
  RC_ASSERT(text_of(out) == testing::delta_packed(std::vector<int64_t>(wide.begin(), wide.end())));
  const std::vector<uint32_t> narrow(wide.begin(), wide.end());
  out.clear();
  append_delta(std::span<const uint32_t>(narrow), out);
  RC_ASSERT(text_of(out) == testing::delta_packed(std::vector<int32_t>(narrow.begin(), narrow.end())));
}

RC_GTEST_PROP(ValueEncoder, GivesTheBytesOfThePlainEncoders, (std::vector<std::string> texts, uint8_t repeat)) {
  MemoryPool pool;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i % 3 == 1) texts[i] = texts[i - 1] + texts[i];
    for (int r = repeat % 30; r > 0 && i % 5 == 0; --r) texts[i] += "0123456789";
  }
  std::vector<int32_t> offsets = {0};
  std::string all;
  for (const std::string& text : texts) {
    all += text;
    offsets.push_back(static_cast<int32_t>(all.size()));
  }
  // Exactly as long as they are.
  const std::vector<char> bytes(all.begin(), all.end());
  const BytesValues values{offsets.data(), reinterpret_cast<const std::byte*>(bytes.data()), texts.size()};
  EncodeBuffer scratch(pool);
  const auto encoded = [&](Encoding encoding) {
    EncodeBuffer out(pool);
    append_values(encoding, values, scratch, out);
    return text_of(out);
  };
  RC_ASSERT(encoded(Encoding::kPlain) == testing::plain(texts));
  RC_ASSERT(encoded(Encoding::kDeltaLengthByteArray) == testing::delta_length(texts));
  RC_ASSERT(encoded(Encoding::kDeltaByteArray) == testing::delta_prefix(texts));
}

TEST(ValueEncoder, WritesFixedValuesInEachEncoding) {
  MemoryPool pool;
  EncodeBuffer scratch(pool);
  EncodeBuffer out(pool);
  const std::string plain = "abcdefgabcdxyzabzzzzz";  // 3 of 7 bytes
  const FixedValues values{reinterpret_cast<const std::byte*>(plain.data()), 7, 3};
  append_values(PhysicalType::kFixedLenByteArray, Encoding::kPlain, values, scratch, out);
  EXPECT_EQ(text_of(out), plain);
  out.clear();
  append_values(PhysicalType::kFixedLenByteArray, Encoding::kByteStreamSplit, values, scratch, out);
  EXPECT_EQ(text_of(out), testing::split_bytes(plain, 7));
  out.clear();
  append_values(PhysicalType::kFixedLenByteArray, Encoding::kDeltaByteArray, values, scratch, out);
  EXPECT_EQ(text_of(out), testing::delta_prefix({"abcdefg", "abcdxyz", "abzzzzz"}));
  // Booleans, a byte each, to bits.
  const std::string flags = {1, 0, 1, 1, 0, 0, 0, 0, 1, 0};
  const FixedValues booleans{reinterpret_cast<const std::byte*>(flags.data()), 1, flags.size()};
  out.clear();
  append_values(PhysicalType::kBoolean, Encoding::kPlain, booleans, scratch, out);
  EXPECT_EQ(text_of(out), "\x0D\x01");
  out.clear();
  append_values(PhysicalType::kBoolean, Encoding::kRle, booleans, scratch, out);
  EXPECT_EQ(text_of(out), testing::with_length(testing::packed_run({1, 0, 1, 1, 0, 0, 0, 0, 1, 0}, 1)));
}

RC_GTEST_PROP(ValueDictionary, NumbersValuesInTheOrderOfTheirFirstCome, ()) {
  MemoryPool pool;
  const int bits = *rc::gen::inRange(1, 65);
  const std::vector<uint64_t> values = some_values(bits);
  LeafType type;
  type.physical = PhysicalType::kInt64;
  ValueDictionary dictionary(type, pool);
  EncodeBuffer out(pool);
  const size_t half = values.size() / 2;
  const auto fixed = [&](size_t from, size_t to) {
    return FixedValues{reinterpret_cast<const std::byte*>(values.data() + from), 8, to - from};
  };
  RC_ASSERT(dictionary.number(fixed(0, half), UINT32_MAX - 2, out) == half);
  RC_ASSERT(dictionary.number(fixed(half, values.size()), UINT32_MAX - 2, out) == values.size() - half);
  std::vector<uint64_t> seen;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto found = std::find(seen.begin(), seen.end(), values[i]);
    RC_ASSERT(out.items<uint32_t>()[i] == static_cast<uint32_t>(found - seen.begin()));
    if (found == seen.end()) seen.push_back(values[i]);
  }
  RC_ASSERT(dictionary.size() == seen.size());
  EncodeBuffer plain(pool);
  dictionary.append_plain(plain);
  RC_ASSERT(text_of(plain) == testing::plain(seen));
  // Up to a number of entries.
  ValueDictionary small(type, pool);
  out.clear();
  const size_t done = small.number(fixed(0, values.size()), 3, out);
  RC_ASSERT(small.size() <= 3u);
  RC_ASSERT((done == values.size()) == (seen.size() <= 3));
}

TEST(LeafTypeOf, GivesDecimalsTheFewestBytes) {
  for (int32_t precision = 19; precision <= 76; ++precision) {
    const LeafType type = leaf_type(
        {.name = "a", .type = decimal(precision, 0, precision > 38 ? TypeId::kDecimal256 : TypeId::kDecimal128)});
    // log2(10^p) < 8 n - 1, and not with a byte less.
    const long double bits = static_cast<long double>(precision) * 3.32192809488736234787L;
    EXPECT_LT(bits, 8 * type.type_length - 1) << precision;
    EXPECT_GT(bits, 8 * (type.type_length - 1) - 1) << precision;
  }
}

}  // namespace
}  // namespace frazil::parquet
