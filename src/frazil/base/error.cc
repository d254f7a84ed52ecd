#include "frazil/base/error.h"

#include <cerrno>

namespace frazil {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInternal:
      return "internal";
    case ErrorKind::kInvalidArgument:
      return "invalid_argument";
    case ErrorKind::kNotFound:
      return "not_found";
    case ErrorKind::kAlreadyExists:
      return "already_exists";
    case ErrorKind::kCorrupt:
      return "corrupt";
    case ErrorKind::kUnsupported:
      return "unsupported";
    case ErrorKind::kConflict:
      return "conflict";
    case ErrorKind::kCommitStateUnknown:
      return "commit_state_unknown";
    case ErrorKind::kIo:
      return "io";
    case ErrorKind::kMemoryLimit:
      return "memory_limit";
    case ErrorKind::kPermission:
      return "permission";
    case ErrorKind::kCancelled:
      return "cancelled";
  }
  return "internal";
}

Error& Error::add_context(std::string text) {
  context_.push_back(std::move(text));
  return *this;
}

Error& Error::set_hint(std::string text) {
  hint_ = std::move(text);
  return *this;
}

const char* Error::what() const noexcept {
  try {
    what_ = message_;
    for (const std::string& text : context_) what_ += "; " + text;
    if (!hint_.empty()) what_ += " (" + hint_ + ")";
    return what_.c_str();
  } catch (...) {
    return message_.c_str();
  }
}

CorruptError::CorruptError(uint64_t offset, std::string text)
    : Error(ErrorKind::kCorrupt,
            offset == kNoOffset ? std::move(text) : frazil::message("{} (at byte {})", text, offset)),
      offset_(offset) {}

namespace {

ErrorKind kind_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorKind::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::kPermission;
    case EEXIST:
      return ErrorKind::kAlreadyExists;
    default:
      return ErrorKind::kIo;
  }
}

}  // namespace

IoError::IoError(int error_number, std::string text)
    : Error(kind_of(error_number), std::move(text)), error_number_(error_number) {}

}  // namespace frazil
