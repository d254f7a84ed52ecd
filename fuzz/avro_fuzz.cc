// Any bytes: as a container file they give batches that pass validate_full(), or an error that damage may have, within the
// budget of the pool; the same with every other column skipped. Nothing stays behind.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "frazil/avro/decoder.h"
#include "frazil/base/error.h"
#include "frazil/columnar/array.h"

namespace {

using namespace frazil;

class BytesFile final : public InputFile {
 public:
  BytesFile(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  const std::string& path() const override { return path_; }
  uint64_t size() const override { return size_; }
  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset) throw_corrupt(offset, "file is shorter than asked");
    if (!out.empty()) std::memcpy(out.data(), data_ + offset, out.size());
  }

 private:
  const uint8_t* data_;
  size_t size_;
  std::string path_ = "fuzz";
};

// A record of a few zero-byte columns claims a million rows a block: enough is enough.
constexpr int64_t kRowsMax = 100'000;

void read(const uint8_t* data, size_t size, bool skip) {
  MemoryPool pool({.budget_bytes = 16 << 20});
  try {
    auto file = std::make_shared<BytesFile>(data, size);
    avro::StreamOptions options;
    options.batch_rows = skip ? 7 : 1024;
    options.container.whole_file_bytes = skip ? 0 : size;
    options.container.max_block_bytes = 4 << 20;
    if (skip) {
      avro::ContainerReader container(file, pool);
      const avro::NodePtr writer = avro::parse_schema(container.header().schema_text(), &pool);
      std::vector<avro::Field> fields;
      for (size_t i = 1; i < writer->fields.size(); i += 2) {
        fields.push_back(writer->fields[i]);
        if (i % 4 == 1) fields.back().output = avro::Output::kRaw;
      }
      if (writer->kind == avro::Kind::kRecord) options.reader_schema = avro::record("r", std::move(fields));
    }
    auto stream = avro::open_stream(file, pool, options);
    int64_t rows = 0;
    while (auto batch = stream->next()) {
      validate_full(*batch);
      rows += batch->row_count();
      if (rows > kRowsMax) break;
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCorrupt && error.kind() != ErrorKind::kUnsupported &&
        error.kind() != ErrorKind::kMemoryLimit) {
      std::abort();
    }
  }
  if (pool.stats().held_bytes != pool.stats().idle_bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read(data, size, false);
  read(data, size, true);
  return 0;
}
