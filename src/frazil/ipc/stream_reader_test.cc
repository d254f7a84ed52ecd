#include "frazil/ipc/stream_reader.h"

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/ipc/messages_test.h"

namespace frazil::ipc {
namespace {

using testing::end_of_stream;
using ::testing::HasSubstr;
using testing::made;
using testing::MadeBatch;

const Schema kInts({{.name = "a", .type = primitive(TypeId::kInt32)}});

MadeBatch ints(const std::vector<int32_t>& values, Metadata metadata = {}) {
  MadeBatch batch{.length = static_cast<int64_t>(values.size()), .metadata = std::move(metadata)};
  return batch.node(batch.length).add("").add(values);
}

// A pipe into which a thread writes all of `bytes`, then closes it.
class Pipe {
 public:
  explicit Pipe(std::string bytes) {
    EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
    writer_ = std::thread([this, text = std::move(bytes)] {
      for (std::string_view left = text; !left.empty();) {
        const ssize_t written = ::write(ends_[1], left.data(), left.size());
        if (written <= 0) break;
        left.remove_prefix(static_cast<size_t>(written));
      }
      ::close(ends_[1]);
    });
  }
  ~Pipe() {
    writer_.join();
    ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  std::unique_ptr<ByteSource> source() { return descriptor_source(ends_[0], "a pipe"); }

 private:
  int ends_[2] = {-1, -1};
  std::thread writer_;
};

TEST(StreamReader, ReadsAPipeToItsEnd) {
  // Bodies below, at and above what is read ahead, and one that comes in many reads.
  std::string stream = made(kInts);
  const std::vector<size_t> sizes{0, 1, 16383, 16384, 16385, 1000000, 3};
  for (const size_t size : sizes) stream += made(ints(std::vector<int32_t>(size, 7)));
  for (const bool has_end : {true, false}) {
    Pipe pipe(has_end ? stream + end_of_stream() : stream);
    MemoryPool pool;
    StreamReader reader(pipe.source(), pool);
    EXPECT_EQ(reader.schema()->field(0).name, "a");
    for (const size_t size : sizes) {
      const std::optional<RecordBatch> batch = reader.next();
      ASSERT_TRUE(batch);
      EXPECT_EQ(batch->row_count(), static_cast<int64_t>(size));
      if (size > 0) {
        EXPECT_EQ(batch->column(0)->values<int32_t>()[size - 1], 7);
      }
    }
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.next());
  }
}

TEST(StreamReader, NamesThePipeThatClosesInsideOfAMessage) {
  const std::string stream = made(kInts) + made(ints({1, 2, 3}));
  MemoryPool pool;
  for (const size_t size : {size_t{0}, size_t{7}, made(kInts).size() - 1}) {
    Pipe pipe(stream.substr(0, size));
    try {
      StreamReader(pipe.source(), pool);
      FAIL() << size;
    } catch (const CorruptError& error) {
      EXPECT_THAT(error.what(), HasSubstr("reading a pipe"));
    }
  }
  Pipe pipe(stream.substr(0, stream.size() - 1));
  StreamReader reader(pipe.source(), pool);
  try {
    reader.next();
    FAIL();
  } catch (const CorruptError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ends inside of a message, 1 bytes before"));
    EXPECT_THAT(error.what(), HasSubstr("reading a pipe"));
  }
}

TEST(StreamReader, TellsTheMetadataOfEachBatch) {
  MemoryPool pool;
  const std::string stream = made(kInts) + made(ints({1}, {{"k", "v"}, {"k", ""}})) + made(ints({2}));
  StreamReader reader(Buffer::from_string(stream), pool);
  EXPECT_EQ(reader.custom_metadata(), Metadata());
  reader.next();
  EXPECT_EQ(reader.custom_metadata(), (Metadata{{"k", "v"}, {"k", ""}}));
  reader.next();
  EXPECT_EQ(reader.custom_metadata(), Metadata());
}

TEST(StreamReader, GivesNothingWhenClosed) {
  MemoryPool pool;
  StreamReader reader(Buffer::from_string(made(kInts) + made(ints({1}))), pool);
  reader.close();
  EXPECT_FALSE(reader.next());
}

}  // namespace
}  // namespace frazil::ipc
