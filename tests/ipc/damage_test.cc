// Bytes that are no Arrow IPC, or no longer: an error that says so or rows that are valid, within time and memory.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ways_to_read.h"

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/io/local_file_system.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/ipc/file_reader.h"
#include "frazil/ipc/reader.h"
#include "frazil/memory/poison.h"

namespace frazil::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kArrowTesting = fs::path(FRAZIL_TEST_CORPORA) / "arrow-testing/data";
constexpr size_t kBudgetBytes = size_t{256} << 20;
// AddressSanitizer takes more of its own.
#ifdef FRAZIL_ADDRESS_SANITIZER
constexpr bool kIsMemoryReal = false;
#else
constexpr bool kIsMemoryReal = true;
#endif
constexpr auto kDeadline = std::chrono::seconds(5);
// Each input decodes its schema.
constexpr ipc::ReadOptions kChecked = {.validation = ipc::Validation::kFull, .schema_cache = nullptr};

// What `read()` gives: contents, or nothing after an error of a kind that bytes may bring. `text` is the error's.
template <typename Read>
std::optional<IpcContents> attempt(Read read, std::string* text = nullptr) {
  try {
    return read();
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported ||
                error.kind() == ErrorKind::kMemoryLimit)
        << to_string(error.kind()) << ": " << error.what();
    if (text != nullptr) *text = error.what();
    return std::nullopt;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "no error of ours: " << error.what();
    return std::nullopt;
  }
}

std::optional<IpcContents> attempt(Way way, const std::shared_ptr<const InputFile>& file, MemoryPool& pool,
                                   std::string* text = nullptr) {
  return attempt([&] { return read_ipc(way, file, pool, kChecked); }, text);
}

std::string bytes_of(const fs::path& path) {
  MemoryPool pool;
  LocalFileSystem files;
  return std::string(read_file(files, path.string(), pool, 1 << 20).text());
}

size_t peak_resident_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

TEST(IpcDamage, FuzzInputsGiveErrorsOrRowsWithinTimeAndMemory) {
  std::signal(SIGPIPE, SIG_IGN);
  LocalFileSystem files;
  size_t count = 0;
  size_t read = 0;
  for (const char* const folder :
       {"arrow-ipc-file", "arrow-ipc-stream", "arrow-ipc-tensor-stream", "forward-compatibility"}) {
    for (const auto& entry : fs::directory_iterator(kArrowTesting / folder)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
      SCOPED_TRACE(entry.path().string());
      const std::shared_ptr<const InputFile> file = files.open_input(entry.path().string());
      ++count;
      bool is_read = false;
      std::string text;
      const auto start = std::chrono::steady_clock::now();
      for (const Way way : kWays) {
        MemoryPool pool({.budget_bytes = kBudgetBytes});
        const std::optional<IpcContents> contents = attempt(way, file, pool, &text);
        is_read |= contents.has_value();
        if (contents && way == Way::kString) {
          EXPECT_EQ(difference_after_writing(*contents, pool), "");
        }
      }
      attempt([&] {  // as a file, whatever it begins with
        MemoryPool pool({.budget_bytes = kBudgetBytes});
        ipc::FileReader reader(Buffer::from_string(bytes_of(entry.path())), pool, kChecked);
        return contents_of(reader);
      });
      const auto took = std::chrono::steady_clock::now() - start;
      EXPECT_LT(took, kDeadline) << "all ways together";
      read += is_read ? 1 : 0;
      std::cout << entry.path().filename().string() << ": " << (is_read ? "rows" : text) << "\n";
    }
  }
  EXPECT_EQ(count, 89u);
  std::cout << count << " inputs, " << read << " with rows\n";
  if (kIsMemoryReal) {
    EXPECT_LT(peak_resident_bytes(), kBudgetBytes + (size_t{64} << 20));
  }
}

// Small files with different contents: dictionaries, nested, unions, views, compressed, old framing, metadata.
std::vector<fs::path> small_files(std::string_view extension) {
  const fs::path gold = kArrowTesting / "arrow-ipc-stream/integration";
  std::vector<fs::path> paths;
  for (const char* const name :
       {"0.14.1/generated_decimal", "0.17.1/generated_union", "1.0.0-bigendian/generated_duplicate_fieldnames",
        "1.0.0-littleendian/generated_custom_metadata", "2.0.0-compression/generated_lz4",
        "4.0.0-shareddict/generated_shared_dict", "cpp-21.0.0/generated_binary_view",
        "cpp-21.0.0/generated_run_end_encoded", "cpp-21.0.0/generated_nested_dictionary"}) {
    paths.push_back(gold / (std::string(name) + std::string(extension)));
  }
  return paths;
}

std::shared_ptr<const InputFile> memory_file(const std::string& bytes) {
  static MemoryFileSystem files;
  write_file(files, "/damaged", std::as_bytes(std::span(bytes)), {.if_exists = OutputFile::IfExists::kReplace});
  return files.open_input("/damaged");
}

TEST(IpcDamage, AStreamCutAnywhereGivesTheBatchesBeforeOrAnError) {
  for (const fs::path& path : small_files(".stream")) {
    SCOPED_TRACE(path.string());
    const std::string bytes = bytes_of(path);
    MemoryPool pool;
    const IpcContents whole = read_ipc(Way::kString, memory_file(bytes), pool, kChecked);
    size_t whole_ends = 0;
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto file = memory_file(bytes.substr(0, size));
      for (const Way way : {Way::kString, Way::kReads, Way::kPush}) {
        const std::optional<IpcContents> part = attempt(way, file, pool);
        if (!part) continue;
        // A stream may end between messages.
        ++whole_ends;
        ASSERT_LE(part->batches.size(), whole.batches.size());
        IpcContents expected = whole;
        expected.batches.erase(expected.batches.begin() + static_cast<ptrdiff_t>(part->batches.size()),
                               expected.batches.end());
        expected.batch_metadata.resize(part->batches.size());
        EXPECT_EQ(difference(*part, expected), "") << "cut to " << size;
      }
    }
    // After each message; all of it, and before the end marker and in the middle of it, is whole too.
    EXPECT_GT(whole_ends, 0u);
    EXPECT_LE(whole_ends, 3 * (2 * whole.batches.size() + 24));
  }
}

TEST(IpcDamage, AFileCutAnywhereIsAnError) {
  for (const fs::path& path : small_files(".arrow_file")) {
    SCOPED_TRACE(path.string());
    const std::string bytes = bytes_of(path);
    for (size_t size = 8; size < bytes.size(); ++size) {
      const auto file = memory_file(bytes.substr(0, size));
      for (const Way way : {Way::kString, Way::kReads}) {
        MemoryPool pool({.budget_bytes = kBudgetBytes});
        std::string text;
        EXPECT_FALSE(attempt(way, file, pool, &text)) << "cut to " << size;
        EXPECT_NE(text, "");
      }
    }
  }
}

TEST(IpcDamage, EveryFlippedByteGivesAnErrorOrValidRows) {
  size_t errors = 0;
  size_t rows = 0;
  for (const char* const extension : {".stream", ".arrow_file"}) {
    for (const fs::path& path : small_files(extension)) {
      SCOPED_TRACE(path.string());
      std::string bytes = bytes_of(path);
      for (size_t at = 0; at < bytes.size(); ++at) {
        for (const char flip : {'\x01', '\x80', '\xFF'}) {
          bytes[at] = static_cast<char>(bytes[at] ^ flip);
          MemoryPool pool({.budget_bytes = kBudgetBytes});
          const std::optional<IpcContents> contents = attempt(Way::kString, memory_file(bytes), pool);
          (contents ? rows : errors) += 1;
          // What was read whole can be written, too.
          if (contents && flip == '\x01') {
            EXPECT_EQ(difference_after_writing(*contents, pool), "") << "byte " << at;
          }
          bytes[at] = static_cast<char>(bytes[at] ^ flip);
        }
        if (::testing::Test::HasFailure()) return;  // one is enough to look at
      }
    }
  }
  EXPECT_GT(errors, 1000u);
  EXPECT_GT(rows, 1000u);
}

// What opens a file may fail later: the error says which file and where, and nothing is made up.
TEST(IpcDamage, AFileThatShrinksWhileItIsReadIsAnError) {
  const std::string path = (fs::temp_directory_path() / ("frazil_shrinks_" + std::to_string(getpid()))).string();
  LocalFileSystem files;
  MemoryPool pool;
  std::vector<std::optional<int64_t>> numbers;
  for (int64_t i = 0; i < 50'000; ++i) numbers.emplace_back(i);
  const ArrayPtr array = make_int64(numbers);
  IpcContents contents;
  contents.schema = Schema::make({{.name = "n", .type = array->type}});
  for (int i = 0; i < 2; ++i) {
    contents.batches.emplace_back(contents.schema, array->length, std::vector{array});
    contents.batch_metadata.emplace_back();
  }
  const auto publish = [&](const Buffer& bytes) {
    write_file(files, path, bytes.span(), {.if_exists = OutputFile::IfExists::kReplace});
    return files.open_input(path);
  };
  const auto error_of = [](const auto& read) -> std::string {
    try {
      read();
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kIo) << to_string(error.kind());
      return error.what();
    }
    return "no error";
  };
  {
    ipc::FileReader reader(publish(file_of(contents, pool)), pool, kChecked);
    fs::resize_file(path, 500'000);
    EXPECT_EQ(difference(reader.batch(0), contents.batches[0]), "") << "which is before the cut";
    EXPECT_THAT(error_of([&] { reader.batch(1); }), ::testing::HasSubstr(path));
  }
  {
    const auto reader = ipc::open(publish(stream_of(contents, pool)), pool, kChecked);
    fs::resize_file(path, 500'000);
    EXPECT_TRUE(reader->next());
    EXPECT_THAT(error_of([&] { reader->next(); }), ::testing::HasSubstr(path));
  }
  fs::remove(path);
}

TEST(IpcDamage, ADictionaryInsideOfItselfIsAnError) {
  MemoryPool pool;
  const DataTypePtr inner = dictionary(primitive(TypeId::kInt8), primitive(TypeId::kUtf8));
  IpcContents contents;
  contents.schema = Schema::make(
      {{.name = "d", .type = dictionary(primitive(TypeId::kInt8), list({.name = "item", .type = inner}))}});
  const std::string stream(stream_of(contents, pool).text());
  // The id of the inner one becomes that of the outer one; where it stands does not matter.
  const int64_t one = 1;
  const std::string id(reinterpret_cast<const char*>(&one), sizeof(one));
  size_t found = 0;
  for (size_t at = stream.find(id); at != std::string::npos; at = stream.find(id, at + 1)) {
    std::string changed = stream;
    changed[at] = '\0';
    std::string text;
    if (!attempt(Way::kString, memory_file(changed), pool, &text) && text.find("has values of") != std::string::npos) {
      ++found;
    }
  }
  EXPECT_EQ(found, 1u);
}

}  // namespace
}  // namespace frazil::testing
