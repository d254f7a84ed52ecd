// Every Parquet file of the corpora, whole and damaged: rows or a clean error within 256 MiB, and all memory back. What
// the values are is compared in tests/parquet/corpus.py.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/parquet/batch_reader.h"
#include "frazil/parquet/file_builder_test.h"

namespace frazil::parquet {
namespace {

constexpr size_t kBudget = size_t{256} << 20;

std::vector<std::string> corpus_files() {
  std::vector<std::string> files;
  for (const char* folder : {"parquet-testing/data", "parquet-testing/bad_data", "parquet-testing/shredded_variant",
                             "parquet-extra", "arrow-testing/data/parquet"}) {
    const std::filesystem::path root = std::filesystem::path(FRAZIL_TEST_CORPORA) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file()) continue;
      if (path.ends_with(".parquet") || path.ends_with(".encrypted") || path.find("/fuzzing/") != std::string::npos) {
        files.push_back(path);
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string content(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// All columns but those of kinds that are not read yet.
ReadOptions readable_columns(const std::shared_ptr<const InputFile>& file,
                             const std::shared_ptr<const FileMetadata>& metadata) {
  static MemoryPool pool;  // takes nothing of it
  ReadOptions options;
  for (ColumnRequest& request : request_columns(metadata->schema())) {
    try {
      ReadOptions one;
      one.columns.push_back(std::move(request));
      BatchReader probe(file, metadata, one, pool);
      options.columns.push_back(one.columns.back());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUnsupported) throw;
    }
  }
  return options;
}

// Reads all columns that are read. False if that ended in an error; fails the test if the error is none of bad input.
bool read_all(const std::string& bytes, const std::string& path, bool checksums = false) {
  MemoryPool pool({.budget_bytes = kBudget});
  bool whole = true;
  try {
    auto file = std::make_shared<testing::StringFile>(bytes, path);
    auto metadata = read_metadata(*file, pool);
    ReadOptions options = readable_columns(file, metadata);
    options.batch_rows = 1000;
    options.verify_checksums = checksums ? ChecksumPolicy::kAlways : ChecksumPolicy::kNever;
    options.validate_utf8 = true;
    arrow_schema(metadata->schema());
    BatchReader reader(file, metadata, options, pool);
    reader.memory_needs(false);
    int64_t rows = 0;
    while (auto batch = reader.next()) {
      validate_full(*batch);
      rows += batch->row_count();
      if (rows > 10'000'000) break;  // damaged counts without columns
    }
  } catch (const Error& error) {
    whole = false;
    EXPECT_TRUE(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kUnsupported ||
                error.kind() == ErrorKind::kMemoryLimit)
        << path << ": " << error.what();
  }
  const MemoryPoolStats stats = pool.stats();
  EXPECT_EQ(stats.held_bytes, stats.idle_bytes) << path;
  EXPECT_LE(stats.held_peak_bytes, kBudget) << path;
  return whole;
}

TEST(Corpus, EveryFileIsReadOrRefused) {
  const auto files = corpus_files();
  EXPECT_GT(files.size(), 600U);
  size_t read = 0;
  for (const std::string& path : files) read += read_all(content(path), path) ? 1 : 0;
  EXPECT_GT(read, 400U);
}

// memory_needs() is enough, to the byte, for every file that is read: with all codecs, and with either way to find it out.
TEST(Corpus, NeedsAreEnough) {
  size_t compared = 0;
  for (const std::string& path : corpus_files()) {
    if (path.ends_with("large_string_map.brotli.parquet")) continue;  // a row of 2 GiB asks for more, as it may
    auto file = std::make_shared<testing::StringFile>(content(path), path);
    MemoryPool metadata_pool({.budget_bytes = kBudget});
    for (bool walk : {false, true}) {
      try {
        auto metadata = read_metadata(*file, metadata_pool);
        ReadOptions options = readable_columns(file, metadata);
        options.batch_rows = walk ? 1000 : 65536;
        options.batch_bytes_max = walk ? 20'000 : size_t{8} << 20;
        BatchReader planner(file, metadata, options, metadata_pool);
        const size_t total = planner.memory_needs(walk).total();
        MemoryPool pool({.budget_bytes = total});
        BatchReader reader(file, metadata, options, pool);
        const BatchReader::MemoryNeeds needs = reader.memory_needs(walk);
        Reservation reservation = pool.reserve(total);
        std::optional<RecordBatch> batch;
        for (;;) {
          const auto step = reader.step(reservation, batch);
          ASSERT_NE(step, BatchReader::Step::kNeedMemory)
              << path << (walk ? " (walk) needs " : " needs ") << reader.needed_bytes() << " more than "
              << needs.working_bytes << " + " << needs.batch_bytes;
          if (step == BatchReader::Step::kEnd) break;
          batch.reset();
          reservation.try_grow(std::min(pool.available_bytes(), total - reservation.available()));
        }
        ++compared;
      } catch (const CorruptError&) {
      } catch (const Error& error) {
        EXPECT_TRUE(error.kind() == ErrorKind::kUnsupported) << path << ": " << error.what();
      }
    }
  }
  EXPECT_GT(compared, 800U);
}

TEST(Corpus, ChecksumsTellDamage) {
  const std::string folder = std::string(FRAZIL_TEST_CORPORA) + "/parquet-testing/data/";
  for (const char* name : {"datapage_v1-corrupt-checksum.parquet", "rle-dict-uncompressed-corrupt-checksum.parquet"}) {
    EXPECT_TRUE(read_all(content(folder + name), name, false));
    EXPECT_FALSE(read_all(content(folder + name), name, true));
  }
  for (const char* name :
       {"datapage_v1-uncompressed-checksum.parquet", "datapage_v1-snappy-compressed-checksum.parquet",
        "plain-dict-uncompressed-checksum.parquet", "rle-dict-snappy-checksum.parquet"}) {
    EXPECT_TRUE(read_all(content(folder + name), name, true));
  }
}

// Small files of each kind, cut and changed at every byte.
TEST(Corpus, SmallFilesSurviveEveryCutAndChange) {
  const std::string folder = std::string(FRAZIL_TEST_CORPORA) + "/parquet-testing/data/";
  for (const char* name :
       {"alltypes_dictionary.parquet", "alltypes_plain.snappy.parquet", "int96_from_spark.parquet",
        "rle_boolean_encoding.parquet", "datapage_v2_empty_datapage.snappy.parquet", "lz4_raw_compressed.parquet",
        "fixed_length_decimal.parquet", "page_v2_empty_compressed.parquet", "byte_array_decimal.parquet",
        "rle-dict-snappy-checksum.parquet"}) {
    const std::string whole = content(folder + name);
    ASSERT_TRUE(read_all(whole, name)) << name;
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(read_all(whole.substr(0, size), name)) << name << ": " << size;
    }
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
      read_all(changed, name);
      changed[i] = '\xff';
      read_all(changed, name);
    }
  }
}

}  // namespace
}  // namespace frazil::parquet
