// What every FileSystem promises, held against each of them.
#include "frazil/io/file_system.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "frazil/base/error.h"
#include "frazil/io/counting_file_system.h"
#include "frazil/io/file_systems.h"
#include "frazil/io/local_file_system.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/io/temporary_folder.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {
namespace {

using testing::ElementsAre;
using IfExists = OutputFile::IfExists;

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// A file system and a folder in it.
struct World {
  TemporaryFolder folder;
  LocalFileSystem local;
  MemoryFileSystem memory;
  FileSystems all;
  std::unique_ptr<CountingFileSystem> counting;
  FileSystem* files = nullptr;
  std::string root;
};

struct WorldKind {
  std::string name;
  std::function<void(World&)> choose;
};

void PrintTo(const WorldKind& kind, std::ostream* out) {
  *out << kind.name;
}

class FileSystemContract : public testing::TestWithParam<WorldKind> {
 protected:
  FileSystemContract() {
    GetParam().choose(world_);
    files_ = world_.files;
  }

  std::string at(std::string_view name) const { return world_.root + "/" + std::string(name); }
  void put(std::string_view name, std::string_view content, OutputFile::PublishOptions options = {}) {
    write_file(*files_, at(name), bytes_of(content), options);
  }
  std::string get(std::string_view name) {
    MemoryPool pool;
    return std::string(read_file(*files_, at(name), pool, 1 << 20).text());
  }
  ErrorKind kind_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      last_message_ = error.message();
      return error.kind();
    }
    ADD_FAILURE() << "no error";
    return ErrorKind::kInternal;
  }
  std::vector<std::string> walk(std::string_view folder) {
    std::vector<std::string> paths;
    files_->walk(folder, [&](const FileInfo& info) {
      EXPECT_FALSE(info.is_folder);
      EXPECT_TRUE(info.path.starts_with(world_.root + "/")) << info.path;
      paths.push_back(info.path.substr(world_.root.size() + 1));
    });
    return paths;
  }

  World world_;
  FileSystem* files_;
  std::string last_message_;
};

INSTANTIATE_TEST_SUITE_P(, FileSystemContract,
                         testing::Values(WorldKind{"Local",
                                                   [](World& world) {
                                                     world.files = &world.local;
                                                     world.root = world.folder.path();
                                                   }},
                                         WorldKind{"LocalUri",
                                                   [](World& world) {
                                                     world.files = &world.local;
                                                     world.root = "file://" + world.folder.path();
                                                   }},
                                         WorldKind{"Memory",
                                                   [](World& world) {
                                                     world.files = &world.memory;
                                                     world.root = "memory://tables";
                                                   }},
                                         WorldKind{"MemoryPath",
                                                   [](World& world) {
                                                     world.files = &world.memory;
                                                     world.root = "file:/tables";
                                                   }},
                                         WorldKind{"Mapped",
                                                   [](World& world) {
                                                     world.all.location_map().add("s3://bucket/lake",
                                                                                  world.folder.path() + "/a%20b c");
                                                     world.files = &world.all;
                                                     world.root = "s3://bucket/lake";
                                                   }},
                                         WorldKind{"Counting",
                                                   [](World& world) {
                                                     world.counting =
                                                         std::make_unique<CountingFileSystem>(world.memory);
                                                     world.files = world.counting.get();
                                                     world.root = "/m";
                                                   }}),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(FileSystemContract, ReadsWhatWasPublished) {
  const auto file = files_->open_output(at("deep/er/x.bin"));
  EXPECT_EQ(file->bytes_written(), 0u);
  file->write(bytes_of("hello "));
  file->write({});
  file->write(bytes_of("world"));
  EXPECT_EQ(file->bytes_written(), 11u);
  EXPECT_FALSE(files_->stat(at("deep/er/x.bin")).has_value());
  file->publish();
  EXPECT_EQ(get("deep/er/x.bin"), "hello world");

  const auto input = files_->open_input(at("deep/er/x.bin"));
  EXPECT_EQ(input->size(), 11u);
  std::string part(5, '\0');
  input->read_at(6, std::as_writable_bytes(std::span(part)));
  EXPECT_EQ(part, "world");
  input->read_at(11, {});
  std::string first(2, '\0');
  std::string second(4, '\0');
  const uint64_t offsets[] = {9, 0};
  const std::span<std::byte> outs[] = {std::as_writable_bytes(std::span(first)),
                                       std::as_writable_bytes(std::span(second))};
  input->read_ranges(offsets, outs);
  EXPECT_EQ(first + second, "ldhell");
  const std::optional<Buffer> mapped = input->map();
  ASSERT_TRUE(mapped.has_value());
  EXPECT_EQ(mapped->text(), "hello world");
}

TEST_P(FileSystemContract, ReadsRangesThatLieBehindEachOtherAndOthers) {
  std::string content;
  for (int i = 0; i < 1000; ++i) content += static_cast<char>('a' + i % 23);
  put("x", content);
  const auto input = files_->open_input(at("x"));
  const std::vector<std::vector<ByteRange>> cases = {
      {},
      {{0, 0}},
      {{0, 10}, {10, 20}},
      {{0, 10}, {10, 0}, {10, 990}, {1000, 0}},
      {{5, 3}, {8, 2}, {4, 4}, {8, 8}, {16, 1}, {900, 100}},
      {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}, {9, 1}, {10, 1}, {11, 9}, {20, 1}},
  };
  for (const std::vector<ByteRange>& ranges : cases) {
    std::vector<std::string> texts;
    std::vector<uint64_t> offsets;
    std::vector<std::span<std::byte>> outs;
    for (const ByteRange& range : ranges) texts.emplace_back(static_cast<size_t>(range.length), '\0');
    for (size_t i = 0; i < ranges.size(); ++i) {
      offsets.push_back(ranges[i].offset);
      outs.push_back(std::as_writable_bytes(std::span(texts[i])));
    }
    input->read_ranges(offsets, outs);
    for (size_t i = 0; i < ranges.size(); ++i) EXPECT_EQ(texts[i], content.substr(offsets[i], outs[i].size()));
  }
  std::string text(20, '\0');
  const std::span<std::byte> all = std::as_writable_bytes(std::span(text));
  const uint64_t offsets[] = {990, 1000};
  const std::span<std::byte> outs[] = {all.first(10), all.last(1)};
  EXPECT_EQ(kind_of([&] { input->read_ranges(offsets, outs); }), ErrorKind::kCorrupt);
}

TEST_P(FileSystemContract, RefusesReadsPastTheEnd) {
  put("x", "12345");
  const auto input = files_->open_input(at("x"));
  std::string out(6, '\0');
  const std::span<std::byte> all = std::as_writable_bytes(std::span(out));
  const ByteRange wrong[] = {
      {0, 6}, {5, 1}, {6, 0}, {4, 2}, {UINT64_MAX, 1}, {UINT64_MAX - 1, 3}, {uint64_t{1} << 63, 1}};
  for (const ByteRange& range : wrong) {
    const auto read = [&] { input->read_at(range.offset, all.first(static_cast<size_t>(range.length))); };
    EXPECT_EQ(kind_of(read), ErrorKind::kCorrupt) << range.offset << " " << range.length;
    EXPECT_THAT(last_message_, testing::HasSubstr("x"));
  }
  // A size that the caller says is believed as far as the bytes are there.
  const auto claimed = files_->open_input(at("x"), 6);
  EXPECT_EQ(claimed->size(), 6u);
  claimed->read_at(0, all.first(5));
  EXPECT_EQ(kind_of([&] { claimed->read_at(0, all); }), ErrorKind::kCorrupt);
  EXPECT_FALSE(claimed->map().has_value());
  const auto shorter = files_->open_input(at("x"), 3);
  EXPECT_EQ(kind_of([&] { shorter->read_at(0, all.first(4)); }), ErrorKind::kCorrupt);
  EXPECT_EQ(shorter->map()->text(), "123");
}

TEST_P(FileSystemContract, HoldsEmptyFiles) {
  put("empty", "");
  EXPECT_EQ(get("empty"), "");
  EXPECT_EQ(files_->stat(at("empty"))->size, 0u);
  EXPECT_EQ(files_->open_input(at("empty"))->map()->size(), 0u);
}

TEST_P(FileSystemContract, PublishesOnlyWhereNothingIs) {
  put("x", "first");
  EXPECT_EQ(kind_of([&] { put("x", "second"); }), ErrorKind::kAlreadyExists);
  EXPECT_EQ(get("x"), "first");
  put("x", "third", {.if_exists = IfExists::kReplace});
  EXPECT_EQ(get("x"), "third");
  put("y", "new", {.if_exists = IfExists::kReplace, .sync = true});
  EXPECT_EQ(get("y"), "new");
  EXPECT_THAT(walk(world_.root), ElementsAre("x", "y"));
}

TEST_P(FileSystemContract, ShowsAndLeavesNothingOfAnUnpublishedFile) {
  {
    const auto aborted = files_->open_output(at("a"));
    aborted->write(bytes_of("x"));
    aborted->abort();
    aborted->abort();
    EXPECT_EQ(kind_of([&] { aborted->publish(); }), ErrorKind::kInternal);
    const auto dropped = files_->open_output(at("b"));
    dropped->write(bytes_of("x"));
  }
  put("taken", "x");
  {
    const auto loser = files_->open_output(at("taken"));
    EXPECT_EQ(kind_of([&] { loser->publish(); }), ErrorKind::kAlreadyExists);
    EXPECT_EQ(kind_of([&] { loser->write(bytes_of("x")); }), ErrorKind::kInternal);
  }
  EXPECT_THAT(walk(world_.root), ElementsAre("taken"));
}

TEST_P(FileSystemContract, KeepsOpenFilesWholeWhenTheyAreReplacedOrRemoved) {
  put("x", "old content");
  const auto input = files_->open_input(at("x"));
  put("x", "new", {.if_exists = IfExists::kReplace});
  std::string out(11, '\0');
  input->read_at(0, std::as_writable_bytes(std::span(out)));
  EXPECT_EQ(out, "old content");
  const auto replaced = files_->open_input(at("x"));
  EXPECT_TRUE(files_->remove(at("x")));
  out.resize(3);
  replaced->read_at(0, std::as_writable_bytes(std::span(out)));
  EXPECT_EQ(out, "new");
}

TEST_P(FileSystemContract, ListsTheChildrenOfAFolderInOrder) {
  put("b", "12");
  put("a/y", "1");
  put("a/x", "123");
  put("a-b", "");
  put("a/deep/z", "");
  const auto infos = files_->list(world_.root);
  ASSERT_EQ(infos.size(), 3u);
  EXPECT_EQ(infos[0].path, at("a"));
  EXPECT_TRUE(infos[0].is_folder);
  EXPECT_EQ(infos[1].path, at("a-b"));
  EXPECT_EQ(infos[2].path, at("b"));
  EXPECT_FALSE(infos[2].is_folder);
  EXPECT_EQ(infos[2].size, 2u);
  EXPECT_GT(infos[2].modified_ms, 1600000000000);
  EXPECT_EQ(files_->list(world_.root + "/")[0].path, at("a"));
  EXPECT_EQ(files_->list(at("a/"))[1].path, at("a/x"));
  EXPECT_THAT(walk(at("a")), ElementsAre("a/deep/z", "a/x", "a/y"));
  EXPECT_EQ(walk(world_.root).size(), 5u);
}

TEST_P(FileSystemContract, SaysWhatIsMissing) {
  put("x", "1");
  EXPECT_EQ(kind_of([&] { files_->open_input(at("nothing")); }), ErrorKind::kNotFound);
  EXPECT_THAT(last_message_, testing::HasSubstr("nothing"));
  EXPECT_THAT(last_message_, testing::HasSubstr("No such file"));
  EXPECT_EQ(kind_of([&] { files_->open_input(at("x/below")); }), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of([&] { files_->list(at("nothing")); }), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of([&] { walk(at("nothing")); }), ErrorKind::kNotFound);
  EXPECT_FALSE(files_->stat(at("nothing")).has_value());
  EXPECT_FALSE(files_->stat(at("x/below")).has_value());
  EXPECT_FALSE(files_->remove(at("nothing")));
  EXPECT_EQ(kind_of([&] { files_->open_input(""); }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of([&] { files_->open_input(std::string("a\0b", 3)); }), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of([&] { files_->open_output(at("x/")); }), ErrorKind::kInvalidArgument);
}

TEST_P(FileSystemContract, RemovesFilesAndKeepsFullFolders) {
  put("f/x", "1");
  EXPECT_TRUE(files_->stat(at("f"))->is_folder);
  EXPECT_EQ(kind_of([&] { files_->remove(at("f")); }), ErrorKind::kIo);
  EXPECT_TRUE(files_->remove(at("f/x")));
  EXPECT_FALSE(files_->stat(at("f/x")).has_value());
  EXPECT_FALSE(files_->remove(at("f/x")));
  files_->remove(at("f"));
  EXPECT_FALSE(files_->stat(at("f")).has_value());
}

TEST_P(FileSystemContract, TakesNamesLiterally) {
  const std::vector<std::string> names = {"a b",     "a%20b",        "a+b",   "a%2Fb",  "100%",
                                          "q?x=1#f", "\u00e9\u20ac", "p=a:b", "%zz",    "it's",
                                          "\"q\"",   "back\\sla",    " lead", "trail ", "\xFF\xFE"};
  for (const std::string& name : names) put("n/" + name, name);
  for (const std::string& name : names) {
    EXPECT_EQ(get("n/" + name), name);
    EXPECT_EQ(files_->stat(at("n/" + name))->size, name.size()) << name;
  }
  EXPECT_EQ(files_->list(at("n")).size(), names.size());
  for (const FileInfo& info : files_->list(at("n"))) EXPECT_TRUE(files_->remove(info.path)) << info.path;
}

TEST_P(FileSystemContract, LetsExactlyOneOfSeveralPublishersWin) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    const std::string name = "v" + std::to_string(round);
    std::atomic<int> winners{0};
    std::atomic<int> winner{-1};
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int id = 0; id < kThreads; ++id) {
      threads.emplace_back([&, id] {
        const auto file = files_->open_output(at(name));
        file->write(bytes_of("written by " + std::to_string(id)));
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        try {
          file->publish();
          ++winners;
          winner = id;
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::kAlreadyExists) << error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(winners, 1) << name;
    EXPECT_EQ(get(name), "written by " + std::to_string(winner));
  }
  EXPECT_EQ(walk(world_.root).size(), static_cast<size_t>(kRounds));
}

TEST_P(FileSystemContract, ReadsWholeFilesUpToAMaximumAndWithinTheBudget) {
  put("x", std::string(5000, 'x'));
  MemoryPool pool;
  EXPECT_EQ(read_file(*files_, at("x"), pool, 5000).size(), 5000u);
  EXPECT_EQ(kind_of([&] { read_file(*files_, at("x"), pool, 4999); }), ErrorKind::kCorrupt);
  MemoryPool small({.budget_bytes = 4096});
  EXPECT_EQ(kind_of([&] { read_file(*files_, at("x"), small, 5000); }), ErrorKind::kMemoryLimit);
}

TEST(FileSystems, NamesTheSchemeThatItCannotOpen) {
  FileSystems files;
  for (const auto& [location, scheme] : {std::pair<std::string, std::string>{"s3://b/x", "s3:"},
                                         {"S3A://b/x", "s3a:"},
                                         {"abfss://c@a/x", "abfss:"},
                                         {"hdfs:/x", "hdfs:"}}) {
    try {
      files.open_input(location);
      ADD_FAILURE() << location;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
      EXPECT_THAT(error.what(), testing::HasSubstr("'" + scheme + "'"));
      EXPECT_THAT(error.what(), testing::HasSubstr(location));
      EXPECT_THAT(error.hint(), testing::HasSubstr("--map-location"));
    }
  }
}

TEST(FileSystems, FindsTheFileSystemByScheme) {
  FileSystems files;
  const auto memory = std::make_shared<MemoryFileSystem>();
  files.add("s3", memory);
  memory->put("s3://b/x", "content");
  memory->put("s3://moved/y", "elsewhere");
  MemoryPool pool;
  EXPECT_EQ(read_file(files, "S3://b/x", pool, 100).text(), "content");
  files.location_map().add("/old", "s3://moved");
  EXPECT_EQ(read_file(files, "file:///old/y", pool, 100).text(), "elsewhere");
  EXPECT_EQ(files.open_input("/old/y")->path(), "s3://moved/y");
  EXPECT_EQ(files.stat("/old/y")->path, "/old/y");
  EXPECT_EQ(files.list("file:/old")[0].path, "file:/old/y");
}

TEST(CountingFileSystem, CountsFilesAndBytes) {
  MemoryFileSystem memory;
  CountingFileSystem files(memory);
  const IoCounters& counters = files.counters();
  write_file(files, "/x", bytes_of("0123456789"), {});
  EXPECT_EQ(counters.bytes_written, 10u);
  EXPECT_EQ(counters.files_published, 1u);
  EXPECT_THROW(write_file(files, "/x", bytes_of("01234"), {}), Error);
  EXPECT_EQ(counters.bytes_written, 15u);
  EXPECT_EQ(counters.files_published, 1u);
  {
    const auto input = files.open_input("/x");
    EXPECT_EQ(counters.files_open, 1u);
    std::byte out[4];
    input->read_at(2, out);
    const uint64_t offsets[] = {0, 1};
    const std::span<std::byte> outs[] = {std::span(out).first(3), std::span(out).first(1)};
    input->read_ranges(offsets, outs);
    EXPECT_EQ(counters.reads, 3u);
    EXPECT_EQ(counters.bytes_read, 8u);
    EXPECT_THROW(input->read_at(9, out), CorruptError);
    EXPECT_EQ(counters.bytes_read, 8u);
    static_cast<void>(input->map());
    EXPECT_EQ(counters.bytes_read, 18u);
  }
  EXPECT_EQ(counters.files_open, 0u);
  EXPECT_EQ(counters.files_opened, 1u);
}

}  // namespace
}  // namespace frazil
