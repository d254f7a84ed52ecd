#include "ways_to_read.h"

#include <algorithm>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "frazil/base/error.h"
#include "frazil/io/byte_source.h"
#include "frazil/ipc/file_reader.h"
#include "frazil/ipc/push_decoder.h"
#include "frazil/ipc/reader.h"
#include "frazil/ipc/stream_reader.h"

namespace frazil::testing {

namespace {

std::string bytes_of(const InputFile& file) {
  std::string bytes(file.size(), '\0');
  if (!bytes.empty()) file.read_at(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

// How many bytes come next: few or many, at least one.
size_t piece(std::mt19937_64& random, size_t left) {
  constexpr size_t kMost[] = {1, 16, 4096};
  return std::min<size_t>(left, 1 + random() % kMost[random() % 3]);
}

// Of bytes that a thread writes into a pipe piece by piece, until the reader has gone.
class Pipe {
 public:
  Pipe(std::string bytes, uint64_t seed) {
    if (pipe2(ends_, O_CLOEXEC) != 0) throw_error(ErrorKind::kIo, "no pipe");
    writer_ = std::thread([this, bytes = std::move(bytes), seed] {
      std::mt19937_64 random(seed);
      std::string_view left = bytes;
      while (!left.empty()) {
        const ssize_t written = ::write(ends_[1], left.data(), piece(random, left.size()));
        if (written <= 0) break;
        left.remove_prefix(static_cast<size_t>(written));
      }
      ::close(ends_[1]);
    });
  }
  ~Pipe() {
    ::close(ends_[0]);
    writer_.join();
  }
  int descriptor() const { return ends_[0]; }

 private:
  int ends_[2];
  std::thread writer_;
};

IpcContents pushed(const std::string& bytes, MemoryPool& pool, const ipc::ReadOptions& options, uint64_t seed) {
  std::mt19937_64 random(seed);
  ipc::PushDecoder decoder(pool, options);
  IpcContents contents;
  const Buffer all = Buffer::from_string(bytes);
  size_t at = 0;
  take_batches(decoder, contents);
  while (at < all.size() && !decoder.at_end()) {
    switch (random() % 3) {
      case 0: {
        const size_t count = piece(random, all.size() - at);
        decoder.push(all.span().subspan(at, count));
        at += count;
        break;
      }
      case 1: {
        const size_t count = piece(random, all.size() - at);
        decoder.push(all.slice(at, count));
        at += count;
        break;
      }
      default: {
        const std::span<std::byte> room = decoder.room();
        const size_t count = piece(random, std::min(room.size(), all.size() - at));
        std::copy_n(all.data() + at, count, room.data());
        decoder.filled(count);
        at += count;
      }
    }
    take_batches(decoder, contents);
  }
  decoder.finish();
  take_batches(decoder, contents);
  return contents;
}

IpcContents read_file_format(Way way, const std::shared_ptr<const InputFile>& file, MemoryPool& pool,
                             ipc::ReadOptions options, uint64_t seed) {
  if (way == Way::kPipe) {
    const Pipe pipe(bytes_of(*file), seed);
    return contents_of(*ipc::open(descriptor_source(pipe.descriptor(), "a pipe"), pool, options));
  }
  if (way == Way::kPush) return pushed(bytes_of(*file), pool, options, seed);
  if (way == Way::kString) {
    ipc::FileReader reader(Buffer::from_string(bytes_of(*file)), pool, options);
    return contents_of(reader);
  }
  options.map_files = way == Way::kMapped;
  ipc::FileReader reader(file, pool, options);
  return contents_of(reader);
}

IpcContents read_stream_format(Way way, const std::shared_ptr<const InputFile>& file, MemoryPool& pool,
                               const ipc::ReadOptions& options, uint64_t seed) {
  switch (way) {
    case Way::kString: {
      ipc::StreamReader reader(Buffer::from_string(bytes_of(*file)), pool, options);
      return contents_of(reader);
    }
    case Way::kReads: {
      ipc::StreamReader reader(file_source(file), pool, options);
      return contents_of(reader);
    }
    case Way::kMapped: {
      ipc::StreamReader reader(*file->map(), pool, options);
      return contents_of(reader);
    }
    case Way::kPipe: {
      const Pipe pipe(bytes_of(*file), seed);
      ipc::StreamReader reader(descriptor_source(pipe.descriptor(), "a pipe"), pool, options);
      return contents_of(reader);
    }
    case Way::kPush:
      return pushed(bytes_of(*file), pool, options, seed);
  }
  return {};
}

}  // namespace

std::string_view to_string(Way way) {
  constexpr std::string_view kNames[] = {"string", "reads", "mapped", "pipe", "push"};
  return kNames[static_cast<size_t>(way)];
}

bool is_ipc_file(const InputFile& file) {
  std::byte beginning[8] = {};
  if (file.size() < sizeof(beginning)) return false;
  file.read_at(0, beginning);
  return ipc::detect_format(beginning) == ipc::Format::kFile;
}

bool gives_batch_metadata(Way way, bool is_file) {
  return way != Way::kPipe || !is_file;
}

bool gives_file_metadata(Way way, bool is_file) {
  return way != Way::kPush && gives_batch_metadata(way, is_file);
}

IpcContents read_ipc(Way way, const std::shared_ptr<const InputFile>& file, MemoryPool& pool,
                     const ipc::ReadOptions& options, uint64_t seed) {
  return is_ipc_file(*file) ? read_file_format(way, file, pool, options, seed)
                            : read_stream_format(way, file, pool, options, seed);
}

}  // namespace frazil::testing
