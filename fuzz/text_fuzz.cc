// Any bytes, as CSV and as JSON lines: batches that are valid, the same however the bytes arrive, or an error of the two kinds
// that text can have. The first byte chooses form and pieces.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "frazil/base/error.h"
#include "frazil/columnar/pretty.h"
#include "frazil/text/decompressed_source.h"
#include "frazil/text/test_source_test.h"
#include "frazil/text/text_reader.h"

namespace {

using namespace frazil;

// Rows as text, or nothing after an error.
std::optional<std::string> read(bool json, std::string_view text, size_t piece_bytes, size_t batch_rows) {
  MemoryPool pool({.budget_bytes = 64 << 20});
  std::string out;
  try {
    auto source = text::decompressed(
        std::make_unique<text::PieceSource>(std::string(text), std::vector<size_t>{piece_bytes}), pool);
    const text::TextOptions options{.batch_rows = static_cast<int64_t>(batch_rows), .sample_bytes = 256};
    const auto stream = json ? text::read_json_lines(std::move(source), options, pool)
                             : text::read_csv(std::move(source), options, pool);
    while (const auto batch = stream->next()) {
      validate_full(*batch);
      for (int64_t row = 0; row < batch->row_count(); ++row) append_row_json(out, *batch, row);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCorrupt && error.kind() != ErrorKind::kInvalidArgument &&
        error.kind() != ErrorKind::kMemoryLimit) {
      std::abort();
    }
    return std::nullopt;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool json = (data[0] & 1) != 0;
  const auto whole = read(json, text, SIZE_MAX, 1 << 16);
  const auto pieces = read(json, text, 1 + (data[0] >> 1), 3);
  if (whole != pieces) std::abort();
  return 0;
}
