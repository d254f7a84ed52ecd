// One page of values in each encoding, as each type that it may hold, taken in parts, with skips and look-ahead: values or
// CorruptError. The first bytes choose; the rest is the page.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/value_decoder.h"

namespace {

using namespace frazil;
using namespace frazil::parquet;

struct Column {
  SchemaNode node;
  DataTypePtr type;
};

SchemaNode leaf(PhysicalType type, int32_t length = 0, int32_t precision = 0) {
  SchemaNode node;
  node.name = "a";
  node.type = type;
  node.type_length = length;
  if (precision > 0) {
    node.logical.kind = LogicalType::Kind::kDecimal;
    node.logical.precision = precision;
  }
  return node;
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all = [] {
    SchemaNode text = leaf(PhysicalType::kByteArray);
    text.logical.kind = LogicalType::Kind::kString;
    SchemaNode narrow = leaf(PhysicalType::kInt32);
    narrow.logical.kind = LogicalType::Kind::kInteger;
    narrow.logical.bit_width = 8;
    return std::vector<Column>{
        {leaf(PhysicalType::kBoolean), primitive(TypeId::kBool)},
        {leaf(PhysicalType::kInt32), primitive(TypeId::kInt32)},
        {narrow, primitive(TypeId::kInt8)},
        {leaf(PhysicalType::kInt64), primitive(TypeId::kInt64)},
        {leaf(PhysicalType::kInt64, 0, 18), decimal(40, 0, TypeId::kDecimal256)},
        {leaf(PhysicalType::kInt96), timestamp(TimeUnit::kNano)},
        {leaf(PhysicalType::kFloat), primitive(TypeId::kDouble)},
        {leaf(PhysicalType::kDouble), primitive(TypeId::kDouble)},
        {text, primitive(TypeId::kUtf8)},
        {text, primitive(TypeId::kLargeUtf8)},
        {leaf(PhysicalType::kByteArray, 0, 20), decimal(20, 0)},
        {leaf(PhysicalType::kFixedLenByteArray, 5), fixed_size_binary(5)},
        {leaf(PhysicalType::kFixedLenByteArray, 5), primitive(TypeId::kBinary)},
        {leaf(PhysicalType::kFixedLenByteArray, 11, 20), decimal(20, 0)},
        {text, dictionary(primitive(TypeId::kInt32), primitive(TypeId::kUtf8))},
        {leaf(PhysicalType::kFixedLenByteArray, 5), dictionary(primitive(TypeId::kInt32), fixed_size_binary(5))},
    };
  }();
  return all;
}

// Bytes that end where a page may be over-read and no further.
std::vector<std::byte> padded(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size + kBlockPadding);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  return bytes;
}

// Up to `count` values that fit.
template <typename Offset>
void take_bytes(ValueDecoder& decoder, size_t count, size_t room) {
  std::vector<Offset> ends(count + 16);
  std::vector<std::byte> data(room + kBlockPadding);
  size_t used = 0;
  const size_t done = decoder.decode_bytes(count, ends.data(), data.data(), room, used);
  if (used > room || done > count) std::abort();
  Offset before = 0;
  for (size_t i = 0; i < done; ++i) {
    if (ends[i] < before || static_cast<size_t>(ends[i]) > used) std::abort();
    before = ends[i];
  }
}

void take(const Conversion& conversion, ValueDecoder& decoder, const uint8_t* steps, size_t step_count) {
  for (size_t i = 0; i < step_count; ++i) {
    const size_t count = size_t{steps[i]} * (i + 1);
    const bool is_bytes = conversion.form == ValueForm::kBytes || conversion.form == ValueForm::kLargeBytes;
    if (is_bytes) {
      uint32_t lengths[ValueDecoder::kScratch];
      auto cursor = decoder.cursor();
      const size_t looked = count < ValueDecoder::kScratch ? count : ValueDecoder::kScratch;
      decoder.lengths(cursor, looked, lengths);
      size_t sum = 0;
      for (size_t value = 0; value < looked; ++value) sum += lengths[value];
      if (sum > decoder.value_bytes_bound(looked)) std::abort();
    }
    if (steps[i] % 5 == 4) {
      decoder.skip(count);
    } else if (conversion.form == ValueForm::kBits) {
      std::vector<uint8_t> bits(count / 8 + 2);
      decoder.decode_bits(count, bits.data(), i % 8);
    } else if (conversion.form == ValueForm::kBytes) {
      take_bytes<int32_t>(decoder, count, 1000);
    } else if (conversion.form == ValueForm::kLargeBytes) {
      take_bytes<int64_t>(decoder, count, 1000);
    } else {
      std::vector<std::byte> target(count * static_cast<size_t>(conversion.target_width) + kBlockPadding);
      decoder.decode_fixed(count, target.data());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kSteps = 4;
  if (size < 3 + kSteps) return 0;
  const Column& column = columns()[data[0] % columns().size()];
  const auto encoding = static_cast<Encoding>(data[1] % 11);
  const size_t dictionary_size = data[2] < size - 3 - kSteps ? data[2] : 0;
  const uint8_t* steps = data + 3;
  const std::vector<std::byte> dictionary = padded(data + 3 + kSteps, dictionary_size);
  const size_t page_size = size - 3 - kSteps - dictionary_size;
  const std::vector<std::byte> page = padded(data + 3 + kSteps + dictionary_size, page_size);

  const Conversion conversion = *find_conversion(column.node, *column.type);
  MemoryPool pool({.budget_bytes = size_t{4} << 20});
  try {
    Reservation reservation = pool.reserve(0);
    MemorySource memory(reservation);
    ValueDecoder decoder(conversion, column.node.type, true);
    if (dictionary_size > 0 && column.node.type != PhysicalType::kBoolean) {
      const std::span<const std::byte> bytes(dictionary.data(), dictionary_size);
      const size_t width = conversion.source_width > 0 ? static_cast<size_t>(conversion.source_width) : 5;
      const size_t count = dictionary_size / width;
      if (!memory.allocate(decoder.dictionary_storage(), decoder.dictionary_bytes(bytes, count))) std::abort();
      decoder.set_dictionary(bytes, count);
    }
    // Twice: a page may go on from the one before.
    for (int round = 0; round < 2; ++round) {
      if (!decoder.start(encoding, {page.data(), page_size})) return 0;
      if (!decoder.prepare(memory)) std::abort();
      take(conversion, decoder, steps, kSteps);
    }
  } catch (const CorruptError&) {
  }
  if (pool.stats().held_bytes != pool.stats().idle_bytes) std::abort();
  return 0;
}
