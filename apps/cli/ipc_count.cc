#include <memory>
#include <string>
#include <vector>

#include "ipc.h"
#include "ipc_files.h"
#include "session.h"

#include "frazil/base/error.h"
#include "frazil/json/value.h"

namespace frazil::cli {
namespace {

void print_count(Session& session, const std::vector<std::string>& files) {
  int64_t rows = 0;
  for_each_ipc(session, files, [&](const std::string& path, size_t, size_t) {
    // Without columns no body is looked at, and of a file none is read.
    const std::unique_ptr<ipc::Reader> reader = open_ipc(session, path, {.columns = std::vector<size_t>()});
    while (const auto batch = reader->next()) {
      if (session.stop().stop_requested()) throw CancelledError();
      if (__builtin_add_overflow(rows, batch->row_count(), &rows)) {
        throw_corrupt(CorruptError::kNoOffset, "there are more rows than can be counted");
      }
    }
  });
  if (session.is_json()) {
    session.print_json(json::Value(rows));
  } else {
    session.print_line(std::to_string(rows));
  }
}

}  // namespace

void add_ipc_count(Command& ipc) {
  auto files = std::make_shared<std::vector<std::string>>();
  Command command = ipc.add("count", "Print the number of rows, from metadata alone");
  add_ipc_files(command, *files);
  command.example("frazil ipc count 'parts/*.arrow'").action([files](Session& session) {
    print_count(session, *files);
  });
}

}  // namespace frazil::cli
