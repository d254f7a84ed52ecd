// Cancellation is std::stop_token: whoever starts work keeps a std::stop_source, the work looks at its token between
// steps. A default token never stops.
#pragma once

#include <stop_token>

#include "frazil/base/error.h"

namespace frazil {

// Throws CancelledError if a stop was requested.
inline void throw_if_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw CancelledError();
}

}  // namespace frazil
