// How the formats begin and end.
#pragma once

#include <cstddef>
#include <string_view>

namespace frazil::ipc {

inline constexpr std::string_view kMagic = "ARROW1";
inline constexpr std::string_view kFeatherV1Magic = "FEA1";
// With its padding, where a file begins.
inline constexpr size_t kMagicBytes = 8;

// Error(kUnsupported): what is read instead.
[[noreturn]] void throw_feather_v1();

}  // namespace frazil::ipc
