#include "ipc.h"

#include "verbs.h"

namespace frazil::cli {

void add_ipc(Command& root) {
  Command ipc = root.add("ipc", "Look into Arrow IPC files and streams, and convert them");
  add_ipc_schema(ipc);
  add_ipc_rows(ipc);
  add_ipc_count(ipc);
  add_ipc_convert(ipc);
  add_ipc_verify(ipc);
}

}  // namespace frazil::cli
