// Files that others wrote, through every way into the readers.
#include "frazil/ipc/reader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/io/local_file_system.h"
#include "frazil/ipc/push_decoder.h"
#include "frazil/ipc/stream_reader.h"

namespace frazil::ipc {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kGold =
    std::filesystem::path(FRAZIL_TEST_CORPORA) / "arrow-testing/data/arrow-ipc-stream/integration";

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Rows {
  SchemaPtr schema;
  std::vector<RecordBatch> batches;
};

Rows read_all(BatchStream& stream) {
  Rows rows{stream.schema(), {}};
  while (std::optional<RecordBatch> batch = stream.next()) rows.batches.push_back(*std::move(batch));
  return rows;
}

// A source that gives `piece_bytes` at a time.
class PieceSource final : public ByteSource {
 public:
  PieceSource(std::string bytes, size_t piece_bytes) : bytes_(std::move(bytes)), piece_bytes_(piece_bytes) {}
  const std::string& name() const override { return name_; }
  size_t read(std::span<std::byte> out) override {
    const size_t size = std::min({out.size(), piece_bytes_, bytes_.size() - at_});
    std::copy_n(reinterpret_cast<const std::byte*>(bytes_.data()) + at_, size, out.data());
    at_ += size;
    return size;
  }
  uint64_t bytes_read() const override { return at_; }

 private:
  std::string name_ = "pieces";
  std::string bytes_;
  size_t piece_bytes_;
  size_t at_ = 0;
};

// Whether stream and file are the same. Arrow C++ gives the entries of a map names of its own, and wrote the streams of these
// from what it had read of the files.
bool is_canonical(const std::filesystem::path& path) {
  return path.stem() != "generated_map_non_canonical";
}

std::vector<std::filesystem::path> gold_files(std::string_view ending) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kGold)) {
    if (entry.path().string().ends_with(ending)) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

void expect_equal(const Rows& expected, const Rows& actual) {
  ASSERT_NE(actual.schema, nullptr);
  EXPECT_TRUE(actual.schema->equals(*expected.schema, true))
      << actual.schema->to_string() << expected.schema->to_string();
  ASSERT_EQ(actual.batches.size(), expected.batches.size());
  for (size_t i = 0; i < expected.batches.size(); ++i) {
    EXPECT_EQ(difference(expected.batches[i], actual.batches[i], {.compare_metadata = true}), "") << "batch " << i;
  }
}

constexpr Validation kFull = Validation::kFull;

TEST(GoldFiles, AreTheSameThroughEveryInput) {
  const std::vector<std::filesystem::path> streams = gold_files(".stream");
  EXPECT_EQ(streams.size(), 91U);
  for (const auto& path : streams) {
    SCOPED_TRACE(path.string());
    MemoryPool pool;
    const std::string bytes = content(path);
    const ReadOptions options{.validation = kFull};
    StreamReader reader(Buffer::from_string(bytes), pool, options);
    const Rows expected = read_all(reader);

    for (const size_t piece : {size_t{1}, size_t{7}, size_t{1000}, bytes.size()}) {
      StreamReader pieces(std::make_unique<PieceSource>(bytes, piece), pool, options);
      expect_equal(expected, read_all(pieces));

      PushDecoder decoder(pool, options);
      Rows pushed;
      for (size_t at = 0; at < bytes.size(); at += piece) {
        decoder.push(std::as_bytes(std::span(bytes)).subspan(at, std::min(piece, bytes.size() - at)));
        while (std::optional<RecordBatch> batch = decoder.next()) pushed.batches.push_back(*std::move(batch));
      }
      decoder.finish();
      pushed.schema = decoder.schema();
      expect_equal(expected, pushed);
    }

    std::filesystem::path file = path;
    file.replace_extension(".arrow_file");
    const std::string file_bytes = content(file);
    const auto from_memory = open(Buffer::from_string(file_bytes), pool, options);
    const Rows in_file = read_all(*from_memory);
    if (is_canonical(path)) expect_equal(expected, in_file);
    LocalFileSystem files;
    const auto from_file = open(files.open_input(file.string()), pool, options);
    expect_equal(in_file, read_all(*from_file));
    const auto mapped = open(files.open_input(file.string()), pool, {.validation = kFull, .map_files = true});
    expect_equal(in_file, read_all(*mapped));
    const auto mapped_stream = open(files.open_input(path.string()), pool, {.validation = kFull, .map_files = true});
    expect_equal(expected, read_all(*mapped_stream));
    const auto from_pipe = open(std::make_unique<PieceSource>(file_bytes, 100), pool, options);
    expect_equal(in_file, read_all(*from_pipe));
    // A file is a stream behind its magic.
    StreamReader as_stream(std::make_unique<PieceSource>(file_bytes, 100), pool, options);
    expect_equal(in_file, read_all(as_stream));
  }
}

TEST(GoldFiles, OfBothByteOrdersAreTheSame) {
  size_t count = 0;
  for (const auto& path : gold_files(".stream")) {
    if (path.parent_path().filename() != "1.0.0-bigendian") continue;
    SCOPED_TRACE(path.string());
    MemoryPool pool;
    StreamReader big(Buffer::from_string(content(path)), pool, {.validation = kFull});
    const auto other = kGold / "1.0.0-littleendian" / path.filename();
    StreamReader little(Buffer::from_string(content(other)), pool, {.validation = kFull});
    expect_equal(read_all(little), read_all(big));
    ++count;
  }
  EXPECT_EQ(count, 22U);
}

Rows chosen_of(const Rows& all, const std::vector<size_t>& chosen) {
  std::vector<Field> fields;
  for (const size_t i : chosen) fields.push_back(all.schema->field(i));
  Rows rows{Schema::make(fields, all.schema->metadata()), {}};
  for (const RecordBatch& batch : all.batches) {
    std::vector<ArrayPtr> columns;
    for (const size_t i : chosen) columns.push_back(batch.column(i));
    rows.batches.emplace_back(rows.schema, batch.row_count(), columns);
  }
  return rows;
}

TEST(GoldFiles, GiveTheColumnsThatAreChosen) {
  for (const auto& path : gold_files(".stream")) {
    SCOPED_TRACE(path.string());
    MemoryPool pool;
    const std::string bytes = content(path);
    StreamReader all(Buffer::from_string(bytes), pool);
    // Every other column, the last one first.
    std::vector<size_t> chosen;
    for (size_t i = all.schema()->field_count(); i-- > 0;) {
      if (i % 2 == 0) chosen.push_back(i);
    }
    const ReadOptions options{.columns = chosen, .validation = kFull};
    StreamReader part(Buffer::from_string(bytes), pool, options);
    expect_equal(chosen_of(read_all(all), chosen), read_all(part));

    std::filesystem::path file = path;
    file.replace_extension(".arrow_file");
    const auto all_of_file = open(Buffer::from_string(content(file)), pool);
    const Rows in_file = chosen_of(read_all(*all_of_file), chosen);
    LocalFileSystem files;
    const auto from_file = batches_of(FileReader(files.open_input(file.string()), pool, options));
    expect_equal(in_file, read_all(*from_file));
    const auto from_memory = batches_of(FileReader(Buffer::from_string(content(file)), pool, options));
    expect_equal(in_file, read_all(*from_memory));
  }
}

}  // namespace
}  // namespace frazil::ipc
