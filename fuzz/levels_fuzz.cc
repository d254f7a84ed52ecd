// Definition and repetition levels: as bytes, as bitmaps, passed over, in parts or at once: the same, or CorruptError. And
// as the levels of two columns in a list of structs, read whole and in small batches: the same rows, or an error both times.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/pretty.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/file_builder_test.h"
#include "frazil/parquet/kernels.h"
#include "frazil/parquet/levels.h"

namespace {

using namespace frazil;
using namespace frazil::parquet;

void check(bool holds) {
  if (!holds) std::abort();
}

// Bytes from the front of the input.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  std::string take(size_t count) {
    count = std::min(count, size_);
    std::string bytes(reinterpret_cast<const char*>(data_), count);
    data_ += count;
    size_ -= count;
    return bytes;
  }
  size_t left() const { return size_; }

 private:
  const uint8_t* data_;
  size_t size_;
};

// ---- Levels alone ----

// The levels one by one, as many as there are; nothing once one is above `max_level`.
std::vector<uint32_t> reference(HybridReader levels, uint32_t max_level, size_t count) {
  std::vector<uint32_t> all;
  try {
    while (all.size() < count) {
      uint32_t level[1 + 32];
      if (levels.read(kernels(), level, 1) != 1 || level[0] > max_level) break;
      all.push_back(level[0]);
    }
  } catch (const CorruptError&) {
  }
  return all;
}

void read_alone(Input input) {
  const uint8_t choice = input.byte();
  const uint32_t max_level = 1 + input.byte() % 100;
  const size_t count = size_t{input.byte()} * (1 + input.byte() % 16);
  const size_t part = 1 + input.byte();
  const uint32_t threshold = 1 + input.byte() % max_level;
  std::string bytes = input.take(input.left());
  const size_t size = bytes.size();
  bytes.resize(size + kBlockPadding);
  const std::span<const std::byte> span = std::as_bytes(std::span(bytes)).first(size);
  const int width = bit_width_of(max_level);
  const HybridReader start = choice % 4 == 0 ? HybridReader::bit_packed(span, width, count) : HybridReader(span, width);
  const std::vector<uint32_t> expected = reference(start, max_level, count);
  const bool is_whole = expected.size() == count;

  const auto outcome = [&](auto&& work) {
    try {
      for (size_t done = 0; done < count; done += part) work(done, std::min(part, count - done));
      return true;
    } catch (const CorruptError&) {
      return false;
    }
  };
  HybridReader levels = start;
  std::vector<uint8_t> got(count + 64);
  check(outcome([&](size_t done, size_t n) { read_levels(levels, max_level, n, got.data() + done); }) == is_whole);
  levels = start;
  std::vector<uint8_t> bits(count / 8 + 64);
  size_t reached = 0;
  check(outcome([&](size_t done, size_t n) {
          reached += read_validity(levels, max_level, threshold, n, bits.data(), done);
        }) == is_whole);
  levels = start;
  size_t highest = 0;
  check(outcome([&](size_t, size_t n) { highest += skip_levels(levels, max_level, n); }) == is_whole);
  if (!is_whole) return;
  size_t reached_expected = 0;
  for (size_t i = 0; i < count; ++i) {
    check(got[i] == expected[i]);
    check(get_bit(bits.data(), i) == (expected[i] >= threshold));
    reached_expected += expected[i] >= threshold ? 1 : 0;
  }
  check(reached == reached_expected);
  check(highest == static_cast<size_t>(std::count(expected.begin(), expected.end(), max_level)));
  if (all_at_max(start, max_level, count)) check(highest == count);
}

// ---- Levels of columns ----

// optional group l (LIST) { repeated group list { optional group element { optional int32 a; required binary b; } } }
std::string nested_file(Input& input) {
  testing::FileBuilder builder({{.name = "l", .repetition = Repetition::kOptional, .converted = 3, .child_count = 1},
                                {.name = "list", .repetition = Repetition::kRepeated, .child_count = 1},
                                {.name = "element", .repetition = Repetition::kOptional, .child_count = 2},
                                {.name = "a", .repetition = Repetition::kOptional},
                                {.name = "b", .type = PhysicalType::kByteArray}});
  const int64_t rows = input.byte();
  const bool is_same = input.byte() % 2 == 0;
  std::vector<std::vector<testing::PageSpec>> chunks(2);
  for (int pages = 1 + input.byte() % 3; pages > 0; --pages) {
    testing::PageSpec page;
    for (size_t column = 0; column < 2; ++column) {
      if (column == 0 || !is_same) {
        page.type = input.byte() % 2 == 0 ? PageType::kData : PageType::kDataV2;
        page.value_count = input.byte();
        page.row_count = input.byte();
        page.repetition_levels = input.take(input.byte() % 32);
        page.definition_levels = input.take(input.byte() % 32);
      }
      testing::PageSpec made = page;
      // Enough zeros: numbers, or empty texts.
      std::string values(size_t{4} * 256, '\0');
      if (made.type == PageType::kData) {
        made.payload =
            testing::with_length(made.repetition_levels) + testing::with_length(made.definition_levels) + values;
        made.repetition_levels.clear();
        made.definition_levels.clear();
      } else {
        made.payload = std::move(values);
      }
      chunks[column].push_back(std::move(made));
    }
  }
  return builder.row_group(rows, chunks).finish();
}

struct Result {
  std::vector<std::string> rows;
  bool failed = false;
};

Result read(const std::string& bytes, int64_t batch_rows, size_t batch_bytes) {
  Result result;
  MemoryPool pool({.budget_bytes = size_t{32} << 20});
  {
    const auto file = std::make_shared<testing::StringFile>(bytes);
    const auto metadata = read_metadata(*file, pool);
    ReadOptions options;
    options.columns = request_columns(metadata->schema());
    options.batch_rows = batch_rows;
    options.batch_bytes_max = batch_bytes;
    try {
      BatchReader reader(file, metadata, options, pool);
      while (auto batch = reader.next()) {
        validate_full(*batch);
        for (int64_t row = 0; row < batch->row_count(); ++row) {
          result.rows.push_back(value_to_json(*batch->column(0), row));
        }
      }
    } catch (const CorruptError&) {
      result.failed = true;
    }
  }
  check(pool.stats().held_bytes == pool.stats().idle_bytes);
  return result;
}

void read_columns(Input input) {
  const auto batch_rows = static_cast<int64_t>(1 + input.byte() % 16);
  const size_t batch_bytes = 1 + size_t{input.byte()};
  const std::string file = nested_file(input);
  const Result whole = read(file, 1000, size_t{1} << 20);
  const Result parts = read(file, batch_rows, batch_bytes);
  check(whole.failed == parts.failed);
  if (!whole.failed) check(whole.rows == parts.rows);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Input input(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    read_alone(input);
  } else {
    read_columns(input);
  }
  return 0;
}
