// What differential.py calls, in the process of pyarrow: batches of IPC files out and in through the C stream interface.
// 0 is success; after -1 frazil_last_error() has the text.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/columnar/c_data.h"
#include "frazil/io/byte_sink.h"
#include "frazil/io/byte_source.h"
#include "frazil/io/local_file_system.h"
#include "frazil/ipc/file_writer.h"
#include "frazil/ipc/push_decoder.h"
#include "frazil/ipc/reader.h"
#include "frazil/ipc/stream_reader.h"
#include "frazil/ipc/stream_writer.h"
#include "frazil/memory/memory_pool.h"

#define FRAZIL_TEST_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace frazil;

std::string last_error;

// Outlives all batches that are handed out.
MemoryPool& pool() {
  static MemoryPool instance;
  return instance;
}

template <typename Body>
int guarded(Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    last_error = error.what();
    return -1;
  }
}

// A stream's bytes in pieces of random sizes.
class Pushed final : public BatchStream {
 public:
  Pushed(Buffer bytes, uint64_t seed, const ipc::ReadOptions& options)
      : bytes_(std::move(bytes)), random_(seed), decoder_(pool(), options) {
    while (decoder_.schema() == nullptr) {
      first_ = decoder_.next();
      if (decoder_.schema() == nullptr && !push()) decoder_.finish();
    }
  }
  const SchemaPtr& schema() const override { return decoder_.schema(); }
  std::optional<RecordBatch> next() override {
    if (first_) return std::exchange(first_, std::nullopt);
    while (true) {
      if (std::optional<RecordBatch> batch = decoder_.next()) return batch;
      if (decoder_.at_end()) return std::nullopt;
      if (!push()) decoder_.finish();
    }
  }
  void close() noexcept override {}

 private:
  // False at the end.
  bool push() {
    if (at_ == bytes_.size()) return false;
    const size_t most = random_() % 2 == 0 ? 16 : 4096;
    const size_t count = std::min<size_t>(1 + random_() % most, bytes_.size() - at_);
    if (random_() % 2 == 0) {
      decoder_.push(bytes_.slice(at_, count));
    } else {
      decoder_.push(bytes_.span().subspan(at_, count));
    }
    at_ += count;
    return true;
  }

  Buffer bytes_;
  size_t at_ = 0;
  std::mt19937_64 random_;
  ipc::PushDecoder decoder_;
  std::optional<RecordBatch> first_;
};

std::unique_ptr<BatchStream> open(std::string_view path, std::string_view input, uint64_t seed) {
  const auto file = LocalFileSystem().open_input(path);
  ipc::ReadOptions options = {.validation = ipc::Validation::kFull};
  if (input == "reads") return ipc::open(file, pool(), options);
  if (input == "source") return ipc::open(file_source(file), pool(), options);
  if (input == "push") return std::make_unique<Pushed>(*file->map(), seed, options);
  options.map_files = true;
  if (input == "mapped") return ipc::open(file, pool(), options);
  throw_error(ErrorKind::kInvalidArgument, "'{}' is no kind of input", input);
}

}  // namespace

FRAZIL_TEST_EXPORT const char* frazil_last_error() {
  return last_error.c_str();
}

// `input`: reads, mapped, source, push (streams alone, in pieces by `seed`).
FRAZIL_TEST_EXPORT int frazil_read(const char* path, const char* input, uint64_t seed, ArrowArrayStream* out) {
  return guarded([&] { export_stream(open(path, input, seed), out); });
}

// `codec`: by its number in Codec; `dictionaries`: by that in DictionaryChanges, or -1. `savings`: in percent.
FRAZIL_TEST_EXPORT int frazil_write(ArrowArrayStream* in, const char* path, int is_file, int codec, int alignment,
                                    int dictionaries, int savings, int version4) {
  return guarded([&] {
    const auto stream = import_stream(in, {.pool = &pool(), .validate_full = true});
    ipc::WriteOptions options;
    options.alignment = static_cast<uint32_t>(alignment);
    options.codec = static_cast<Codec>(codec);
    options.min_space_savings = savings / 100.0;
    options.metadata_v4 = version4 != 0;
    if (dictionaries >= 0) options.dictionaries = static_cast<ipc::DictionaryChanges>(dictionaries);
    auto sink = output_file_sink(LocalFileSystem().open_output(path), {.if_exists = OutputFile::IfExists::kReplace});
    std::unique_ptr<ipc::BatchWriter> writer;
    if (is_file != 0) {
      writer = std::make_unique<ipc::FileWriter>(std::move(sink), stream->schema(), pool(), options);
    } else {
      writer = std::make_unique<ipc::StreamWriter>(std::move(sink), stream->schema(), pool(), options);
    }
    while (std::optional<RecordBatch> batch = stream->next()) writer->write(*batch);
    writer->finish();
  });
}
