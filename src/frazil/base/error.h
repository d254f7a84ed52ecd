// Errors. A failure that ends an operation is thrown as Error or one of its subclasses; an outcome that a caller
// expects is a return value. The kind says what a caller can do about it and decides the exit code of the program.
// Layers add context while the stack unwinds: file, row group, column, manifest, attempt.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/base/message.h"

namespace frazil {

enum class ErrorKind : uint8_t {
  kInternal,            // a defect of Frazil itself, or any other failure
  kInvalidArgument,     // the caller's request cannot be right: usage, bad option, bad value
  kNotFound,            // a table, column, snapshot, file that does not exist
  kAlreadyExists,       // what is to be created exists
  kCorrupt,             // bytes from outside break the rules of their format
  kUnsupported,         // valid, but not something that Frazil reads or writes
  kConflict,            // somebody else committed first
  kCommitStateUnknown,  // a commit was sent and its outcome is not known: nothing may be deleted
  kIo,                  // the operating system or a server failed
  kMemoryLimit,         // the operation needs more than its byte budget
  kPermission,          // permission or sign-in
  kCancelled,           // stopped on request
};

// The stable name of a kind, as `--output json` prints it: "not_found", "corrupt", ...
std::string_view to_string(ErrorKind kind);

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string text) : kind_(kind), message_(std::move(text)) {}

  ErrorKind kind() const noexcept { return kind_; }
  // What failed and why, one line, without context and hint.
  const std::string& message() const noexcept { return message_; }
  // What the user can do; empty if nothing is known.
  const std::string& hint() const noexcept { return hint_; }
  // From the innermost to the outermost, each like "reading column 'a' of file:/t/x.parquet".
  const std::vector<std::string>& context() const noexcept { return context_; }

  Error& add_context(std::string text);
  Error& set_hint(std::string text);

  // "message; innermost context; ...; outermost context (hint)". Valid as long as the error is not changed.
  const char* what() const noexcept override;

 private:
  ErrorKind kind_;
  std::string message_;
  std::string hint_;
  std::vector<std::string> context_;
  mutable std::string what_;  // made by what(): exceptions are rare and usually read once
};

// Damaged bytes. The offset counts from the start of the file or buffer that the context names; kNoOffset if unknown.
class CorruptError : public Error {
 public:
  static constexpr uint64_t kNoOffset = UINT64_MAX;
  CorruptError(uint64_t offset, std::string text);
  uint64_t offset() const noexcept { return offset_; }

 private:
  uint64_t offset_;
};

class IoError : public Error {
 public:
  // `error_number` is an errno, 0 if there is none. ENOENT gives kNotFound, EACCES and EPERM give kPermission,
  // everything else kIo.
  IoError(int error_number, std::string text);
  int error_number() const noexcept { return error_number_; }

 private:
  int error_number_;
};

class ConflictError : public Error {
 public:
  explicit ConflictError(std::string text) : Error(ErrorKind::kConflict, std::move(text)) {}
};

class CommitStateUnknownError : public Error {
 public:
  explicit CommitStateUnknownError(std::string text) : Error(ErrorKind::kCommitStateUnknown, std::move(text)) {}
};

class MemoryLimitError : public Error {
 public:
  // `needed_bytes`: the budget with which the operation could have gone on, as far as it is known.
  MemoryLimitError(uint64_t needed_bytes, std::string text)
      : Error(ErrorKind::kMemoryLimit, std::move(text)), needed_bytes_(needed_bytes) {}
  uint64_t needed_bytes() const noexcept { return needed_bytes_; }

 private:
  uint64_t needed_bytes_;
};

class CancelledError : public Error {
 public:
  CancelledError() : Error(ErrorKind::kCancelled, "cancelled") {}
};

// throw_corrupt(offset, "column chunk exceeds file: {} + {} > {}", offset, length, file_size);
template <typename... Args>
[[noreturn]] void throw_corrupt(uint64_t offset, std::string_view format, const Args&... args) {
  throw CorruptError(offset, message(format, args...));
}

// throw_error(ErrorKind::kNotFound, "column '{}' does not exist", name);
template <typename... Args>
[[noreturn]] void throw_error(ErrorKind kind, std::string_view format, const Args&... args) {
  throw Error(kind, message(format, args...));
}

}  // namespace frazil
