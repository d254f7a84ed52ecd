// frazil_ipc_rewrite IN FORMAT:CODEC:ALIGNMENT:DICTIONARIES:OUT...
//
// Writes what an Arrow IPC file or stream holds, all metadata too, into others, for the tests in this folder.
//
//   FORMAT        file, stream
//   CODEC         none, lz4, zstd
//   ALIGNMENT     8, 64
//   DICTIONARIES  replace, delta, unify, default
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/io/byte_sink.h"
#include "frazil/io/local_file_system.h"
#include "frazil/ipc/file_reader.h"
#include "frazil/ipc/file_writer.h"
#include "frazil/ipc/reader.h"
#include "frazil/ipc/stream_reader.h"
#include "frazil/ipc/stream_writer.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/testing/ipc_contents.h"

namespace {

using namespace frazil;

// The place of a word among those that are known.
template <size_t N>
size_t choice(const std::string& word, const char* const (&words)[N]) {
  for (size_t i = 0; i < N; ++i) {
    if (word == words[i]) return i;
  }
  throw_error(ErrorKind::kInvalidArgument, "'{}' is not known", word);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  size_t from = 0;
  while (parts.size() < 4) {
    const size_t colon = text.find(':', from);
    if (colon == std::string::npos) throw_error(ErrorKind::kInvalidArgument, "'{}' has too few parts", text);
    parts.push_back(text.substr(from, colon - from));
    from = colon + 1;
  }
  parts.push_back(text.substr(from));
  return parts;
}

testing::IpcContents read(const std::string& path, MemoryPool& pool) {
  const ipc::ReadOptions options = {.validation = ipc::Validation::kFull};
  const Buffer bytes = *LocalFileSystem().open_input(path)->map();
  if (ipc::detect_format(bytes.span()) == ipc::Format::kFile) {
    ipc::FileReader reader(bytes, pool, options);
    return testing::contents_of(reader);
  }
  ipc::StreamReader reader(bytes, pool, options);
  return testing::contents_of(reader);
}

void write(const testing::IpcContents& contents, const std::string& target, MemoryPool& pool) {
  const std::vector<std::string> parts = split(target);
  ipc::WriteOptions options;
  options.codec = std::vector{Codec::kNone, Codec::kLz4Frame, Codec::kZstd}[choice(parts[1], {"none", "lz4", "zstd"})];
  options.alignment = choice(parts[2], {"8", "64"}) == 0 ? 8 : 64;
  const size_t changes = choice(parts[3], {"replace", "delta", "unify", "default"});
  if (changes != 3) options.dictionaries = static_cast<ipc::DictionaryChanges>(changes);
  auto sink = output_file_sink(LocalFileSystem().open_output(parts[4]), {.if_exists = OutputFile::IfExists::kReplace});
  if (choice(parts[0], {"file", "stream"}) == 0) {
    ipc::FileWriter writer(std::move(sink), contents.schema, pool, options);
    testing::write_contents(contents, writer);
  } else {
    ipc::StreamWriter writer(std::move(sink), contents.schema, pool, options);
    testing::write_contents(contents, writer);
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    if (count < 3) throw_error(ErrorKind::kInvalidArgument, "usage: frazil_ipc_rewrite IN OUT...");
    MemoryPool pool;
    const testing::IpcContents contents = read(words[1], pool);
    for (int i = 2; i < count; ++i) write(contents, words[i], pool);
    return 0;
  } catch (const Error& error) {
    std::cout << "error: " << error.what() << "\n";
    return 2;
  }
}
