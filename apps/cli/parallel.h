// Independent pieces of work on the session's threads.
#pragma once

#include <cstddef>
#include <functional>

namespace frazil::cli {

class Session;

// Calls `work` with each index below `count`, in order of their start, on at most `threads` threads. The first exception
// stops the rest and is thrown. What has not begun when the user stops the program is left out.
void for_each_index(Session& session, size_t threads, size_t count, const std::function<void(size_t)>& work);

}  // namespace frazil::cli
