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

#include "ways_to_read.h"

#include "frazil/columnar/builders.h"
#include "frazil/columnar/pretty.h"
#include "frazil/columnar/random_arrays_test.h"
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

// Of every type, with the layouts that nest.
std::vector<Field> all_fields() {
  std::vector<DataTypePtr> types;
  for (int id = 0; id <= static_cast<int>(TypeId::kDouble); ++id) types.push_back(primitive(static_cast<TypeId>(id)));
  for (const TypeId id : {TypeId::kDate32, TypeId::kDate64, TypeId::kIntervalMonths, TypeId::kIntervalDayTime,
                          TypeId::kIntervalMonthDayNano, TypeId::kUtf8, TypeId::kLargeUtf8, TypeId::kUtf8View,
                          TypeId::kBinary, TypeId::kLargeBinary, TypeId::kBinaryView}) {
    types.push_back(primitive(id));
  }
  types.insert(types.end(), {decimal(5, 2, TypeId::kDecimal32), decimal(18, 0, TypeId::kDecimal64), decimal(38, 9),
                             decimal(76, 20, TypeId::kDecimal256), fixed_size_binary(0), fixed_size_binary(7),
                             time32(TimeUnit::kSecond), time32(TimeUnit::kMilli), time64(TimeUnit::kMicro),
                             time64(TimeUnit::kNano)});
  for (const TimeUnit unit : {TimeUnit::kSecond, TimeUnit::kMilli, TimeUnit::kMicro, TimeUnit::kNano}) {
    types.insert(types.end(), {timestamp(unit), timestamp(unit, "Europe/Berlin"), duration(unit)});
  }
  for (int id = static_cast<int>(TypeId::kInt8); id <= static_cast<int>(TypeId::kUInt64); ++id) {
    types.push_back(dictionary(primitive(static_cast<TypeId>(id)), primitive(TypeId::kUtf8), id % 2 == 0));
  }
  types.push_back(dictionary(primitive(TypeId::kInt32), primitive(TypeId::kBinaryView)));
  const Field words = {.name = "words", .type = types.back(), .metadata = {{"in", "side"}}};
  const Field text = {.name = "text", .type = primitive(TypeId::kUtf8View)};
  const Field number = {.name = "number", .type = primitive(TypeId::kInt64), .nullable = false};
  for (const TypeId id : {TypeId::kList, TypeId::kLargeList, TypeId::kListView, TypeId::kLargeListView}) {
    types.push_back(list(words, id));
    types.push_back(list({.name = "item", .type = list(text, id)}, id));
  }
  types.insert(types.end(),
               {fixed_size_list(text, 3), fixed_size_list(words, 2), fixed_size_list(number, 0),
                struct_({words, number}), struct_({}), map({.name = "key", .type = primitive(TypeId::kUtf8)}, words),
                dense_union({words, text, number}, {3, 0, 127}), sparse_union({text, words}, {9, 8}),
                run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt16), .nullable = false},
                                {.name = "values", .type = list(words)}),
                run_end_encoded({.name = "run_ends", .type = primitive(TypeId::kInt64), .nullable = false},
                                {.name = "values", .type = primitive(TypeId::kInt32)})});
  std::vector<Field> fields;
  for (const DataTypePtr& type : types) {
    fields.push_back({.name = "c" + std::to_string(fields.size()), .type = type});
    if (fields.size() % 3 == 0) fields.back().metadata = {{"ARROW:extension:name", "unknown"}, {"k", ""}};
  }
  return fields;
}

IpcContents batches_of_all_types(uint64_t seed, MemoryPool& pool) {
  RandomArrays random(seed, pool);
  IpcContents contents;
  contents.schema = Schema::make(all_fields(), {{"origin", "test"}, {"empty", ""}});
  contents.file_metadata = {{"of", "the file"}, {"of", "twice"}};
  for (const int64_t rows : {int64_t{20}, int64_t{0}, int64_t{1}, int64_t{65}}) {
    std::vector<ArrayPtr> columns;
    for (const Field& field : contents.schema->fields()) {
      columns.push_back(random.array(field.type, rows));
      if (random.coin(3)) columns.back() = random.with_offsets(*columns.back());
    }
    contents.batches.emplace_back(contents.schema, rows, std::move(columns));
    contents.batch_metadata.push_back(rows == 1 ? Metadata{{"batch", "one"}} : Metadata{});
  }
  return contents;
}

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
