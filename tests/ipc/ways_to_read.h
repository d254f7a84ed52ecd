// The ways in which Frazil reads Arrow IPC, one interface for tests that hold them against each other.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "frazil/io/file_system.h"
#include "frazil/ipc/read_options.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/testing/ipc_contents.h"

namespace frazil::testing {

enum class Way : uint8_t {
  kString,  // all bytes in a buffer
  kReads,   // a file by reads: ranges of a file, in order of a stream
  kMapped,  // a mapped file, or what an InputFile has instead
  kPipe,    // a pipe that gives little at a time
  kPush,  // pushed in pieces of random sizes; a file as the stream that it begins with, whose dictionaries come in time
};
inline constexpr Way kWays[] = {Way::kString, Way::kReads, Way::kMapped, Way::kPipe, Way::kPush};

std::string_view to_string(Way way);

bool is_ipc_file(const InputFile& file);
// Whether all metadata of batches, or of a file's footer, come along.
bool gives_batch_metadata(Way way, bool is_file);
bool gives_file_metadata(Way way, bool is_file);

// `seed`: of the sizes of pieces.
IpcContents read_ipc(Way way, const std::shared_ptr<const InputFile>& file, MemoryPool& pool,
                     const ipc::ReadOptions& options = {}, uint64_t seed = 0);

}  // namespace frazil::testing
