// The verbs of `frazil ipc`: what is in files and streams of Arrow IPC.
#pragma once

#include "arguments.h"

namespace frazil::cli {

void add_ipc_convert(Command& ipc);
void add_ipc_count(Command& ipc);
void add_ipc_rows(Command& ipc);
void add_ipc_schema(Command& ipc);
void add_ipc_verify(Command& ipc);

}  // namespace frazil::cli
