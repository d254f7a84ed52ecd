// However Arrow IPC is read (from memory, by reads, mapped, from a pipe, pushed) the same batches come, in both formats, with
// every codec, of all types.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "all_types.h"
#include "ways_to_read.h"

#include "frazil/columnar/pretty.h"
#include "frazil/io/byte_sink.h"
#include "frazil/io/local_file_system.h"
#include "frazil/ipc/file_reader.h"
#include "frazil/ipc/file_writer.h"
#include "frazil/ipc/reader.h"
#include "frazil/ipc/stream_reader.h"
#include "frazil/ipc/stream_writer.h"

namespace frazil::testing {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "frazil_ipc_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::shared_ptr<const InputFile> file(const Buffer& bytes) const {
    LocalFileSystem files;
    write_file(files, path("batches.arrow"), bytes.span(), {.if_exists = OutputFile::IfExists::kReplace});
    return files.open_input(path("batches.arrow"));
  }

 private:
  fs::path path_;
};

// Each of the ways gives what is expected.
void expect_ways(std::span<const Way> ways, const std::shared_ptr<const InputFile>& file, const IpcContents& expected,
                 uint64_t seed) {
  const bool is_file = is_ipc_file(*file);
  for (const Way way : ways) {
    for (const ipc::Validation validation : {ipc::Validation::kBasic, ipc::Validation::kFull}) {
      MemoryPool pool;
      IpcContents found = read_ipc(way, file, pool, {.validation = validation}, seed);
      if (!gives_file_metadata(way, is_file)) found.file_metadata = expected.file_metadata;
      if (!gives_batch_metadata(way, is_file)) found.batch_metadata = expected.batch_metadata;
      EXPECT_EQ(difference(found, expected), "") << to_string(way);
    }
  }
}

TEST(IpcInputs, EveryWayGivesAllTypesInBothFormatsWithEveryCodec) {
  std::signal(SIGPIPE, SIG_IGN);
  const Folder folder;
  uint64_t seed = 1;
  for (const Codec codec : {Codec::kNone, Codec::kLz4Frame, Codec::kZstd}) {
    for (const uint32_t alignment : {8U, 64U}) {
      SCOPED_TRACE(std::string(frazil::to_string(codec)) + ", aligned to " + std::to_string(alignment) + ", seed " +
                   std::to_string(seed));
      MemoryPool pool;
      IpcContents contents = batches_of_all_types(seed, pool);
      ipc::WriteOptions options = {.alignment = alignment, .codec = codec};
      // Unified, a dictionary that grows stands behind the batches, where only who knows the footer finds it.
      constexpr Way kKnowTheFooter[] = {Way::kString, Way::kReads, Way::kMapped, Way::kPipe};
      expect_ways(kKnowTheFooter, folder.file(file_of(contents, pool, options)), contents, seed);
      options.dictionaries = ipc::DictionaryChanges::kDelta;
      expect_ways(kWays, folder.file(file_of(contents, pool, options)), contents, seed);
      contents.file_metadata.clear();
      options.dictionaries.reset();
      expect_ways(kWays, folder.file(stream_of(contents, pool, options)), contents, seed);
      ++seed;
    }
  }
}

// Memory need not begin where numbers may: a foreign buffer, a file inside of another.
TEST(IpcInputs, UnalignedMemoryIsRead) {
  MemoryPool pool;
  IpcContents contents = batches_of_all_types(77, pool);
  const Buffer file = file_of(contents, pool);
  const Buffer stream = stream_of(contents, pool);
  for (const size_t shift : {1U, 2U, 4U, 7U}) {
    SCOPED_TRACE(shift);
    const Buffer shifted_file = Buffer::from_string(std::string(shift, ' ') + std::string(file.text())).slice(shift);
    ipc::FileReader file_reader(shifted_file, pool, {.validation = ipc::Validation::kFull});
    EXPECT_EQ(difference(contents_of(file_reader), contents), "");
    const Buffer shifted = Buffer::from_string(std::string(shift, ' ') + std::string(stream.text())).slice(shift);
    ipc::StreamReader reader(shifted, pool, {.validation = ipc::Validation::kFull});
    IpcContents found = contents_of(reader);
    found.file_metadata = contents.file_metadata;
    EXPECT_EQ(difference(found, contents), "");
  }
}

// A file of which the middle of each long piece is a hole: the values there are zero, and take neither memory nor disk.
class SparseSink final : public ByteSink {
 public:
  explicit SparseSink(const std::string& path) : name_(path), out_(fopen(path.c_str(), "wb"), &fclose) {}
  const std::string& name() const override { return name_; }
  using ByteSink::write;
  void write(std::span<const std::span<const std::byte>> pieces) override {
    for (const std::span<const std::byte> piece : pieces) {
      if (piece.size() <= 2 * kEnd) {
        put(piece);
        continue;
      }
      put(piece.first(kEnd));
      ASSERT_EQ(fseeko(out_.get(), static_cast<off_t>(piece.size() - 2 * kEnd), SEEK_CUR), 0);
      put(piece.last(kEnd));
    }
  }
  void finish() override { ASSERT_EQ(fflush(out_.get()), 0); }

 private:
  static constexpr size_t kEnd = 4096;
  void put(std::span<const std::byte> bytes) {
    ASSERT_EQ(fwrite(bytes.data(), 1, bytes.size(), out_.get()), bytes.size());
  }

  std::string name_;
  std::unique_ptr<FILE, int (*)(FILE*)> out_;
};

// Memory that is there once it is touched.
class Untouched {
 public:
  explicit Untouched(size_t size) : size_(size) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
  }
  ~Untouched() { munmap(data_, size_); }
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;
  std::byte* data() const { return data_; }
  Buffer buffer() const { return Buffer::borrow({data_, size_}); }

 private:
  std::byte* data_;
  size_t size_;
};

TEST(IpcInputs, MoreThan2To31ValuesAreWrittenAndRead) {
  constexpr int64_t kRows = (int64_t{1} << 31) + 13;
  constexpr int64_t kBitBytes = (kRows + 7) / 8;
  const Untouched bytes(kRows);
  const Untouched bits(kBitBytes);
  ASSERT_TRUE(bytes.data() != nullptr && bits.data() != nullptr);
  bytes.data()[1] = std::byte{11};
  bytes.data()[kRows - 1] = std::byte{22};
  bits.data()[kBitBytes - 1] = std::byte{1 << ((kRows - 1) % 8)};
  const auto column = [&](TypeId id, const Untouched& memory) {
    auto array = std::make_shared<Array>();
    array->type = primitive(id);
    array->length = kRows;
    array->null_count = 0;
    array->buffers[1] = memory.buffer();
    return array;
  };
  const SchemaPtr schema =
      Schema::make({{.name = "n", .type = primitive(TypeId::kInt8)}, {.name = "b", .type = primitive(TypeId::kBool)}});
  const RecordBatch whole(schema, kRows, {column(TypeId::kInt8, bytes), column(TypeId::kBool, bits)});

  MemoryPool pool({.budget_bytes = 8 << 20});
  const auto expect_end = [&](const RecordBatch& batch) {
    const RecordBatch end = batch.slice(batch.row_count() - 5, 5);
    EXPECT_EQ(value_to_text(*end.column(0), 4), "22");
    EXPECT_EQ(value_to_text(*end.column(1), 4), "true");
    EXPECT_EQ(value_to_text(*end.column(1), 3), "false");
  };
  const Folder folder;
  for (const bool is_file : {true, false}) {
    const std::string path = folder.path("large.arrow");
    if (is_file) {
      ipc::FileWriter writer(std::make_unique<SparseSink>(path), schema, pool);
      writer.write(whole);
      writer.finish();
    } else {
      ipc::StreamWriter writer(std::make_unique<SparseSink>(path), schema, pool);
      writer.write(whole);
      writer.finish();
    }
    ipc::ReadOptions options;
    options.map_files = true;
    const auto reader = ipc::open(LocalFileSystem().open_input(path), pool, options);
    const std::optional<RecordBatch> batch = reader->next();
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->row_count(), kRows);
    EXPECT_EQ(value_to_text(*batch->column(0), 1), "11");
    expect_end(*batch);
    EXPECT_FALSE(reader->next());
  }
  // A few of them, from beyond.
  IpcContents few;
  few.schema = schema;
  few.batches = {whole.slice(kRows - 7, 7)};
  few.batch_metadata.resize(1);
  EXPECT_EQ(difference_after_writing(few, pool), "");
  expect_end(few.batches[0]);
}

}  // namespace
}  // namespace frazil::testing
