#include "errors.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string_view>

#include "frazil/json/value.h"

namespace frazil::cli {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInternal:
    case ErrorKind::kAlreadyExists:
      return 1;
    case ErrorKind::kInvalidArgument:
      return 2;
    case ErrorKind::kNotFound:
      return 3;
    case ErrorKind::kCorrupt:
      return 4;
    case ErrorKind::kUnsupported:
      return 5;
    case ErrorKind::kConflict:
      return 6;
    case ErrorKind::kCommitStateUnknown:
      return 7;
    case ErrorKind::kIo:
      return 8;
    case ErrorKind::kMemoryLimit:
      return 9;
    case ErrorKind::kPermission:
      return 10;
    case ErrorKind::kCancelled:
      return kExitInterrupted;
  }
  return 1;
}

namespace {

// What a message shows below its first line: a predicate, and a mark at the place that is wrong.
constexpr std::string_view kExcerptStart = "\n  ";

}  // namespace

std::string error_line(const Error& error, bool color) {
  std::string text = color ? "\x1b[31mfrazil:\x1b[0m " : "frazil: ";
  const std::string& message = error.message();
  const size_t excerpt = message.find(kExcerptStart);
  text += printable(message.substr(0, excerpt));
  for (const std::string& context : error.context()) text += "; " + printable(context);
  if (!error.hint().empty()) text += " (" + printable(error.hint()) + ")";
  text += "\n";
  for (size_t line = excerpt; line < message.size();) {
    const size_t end = std::min(message.find(kExcerptStart, line + 1), message.size());
    text += "  " + printable(message.substr(line + kExcerptStart.size(), end - line - kExcerptStart.size())) + "\n";
    line = end;
  }
  return text;
}

std::string error_json(const Error& error) {
  json::Array context;
  for (const std::string& line : error.context()) context.emplace_back(line);
  json::Object object;
  object.emplace_back("kind", json::Value(std::string(to_string(error.kind()))));
  object.emplace_back("message", json::Value(error.message()));
  object.emplace_back("hint", json::Value(error.hint()));
  object.emplace_back("context", json::Value(std::move(context)));
  return json::write(json::Value(std::move(object))) + "\n";
}

namespace {

int report(const Error& error, OutputFormat format, bool color) {
  std::string text = format == OutputFormat::kJson ? error_json(error) : error_line(error, color);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return exit_code(error.kind());
}

}  // namespace

int report_current_exception(OutputFormat format, bool color) noexcept {
  try {
    try {
      throw;
    } catch (const ClosedPipe&) {
      return kExitDone;
    } catch (const Error& error) {
      return report(error, format, color);
    } catch (const std::bad_alloc&) {
      return report(MemoryLimitError(0, "the operating system has no memory left"), format, color);
    } catch (const std::exception& error) {
      return report(Error(ErrorKind::kInternal, error.what()), format, color);
    }
  } catch (...) {
    return 1;
  }
}

}  // namespace frazil::cli
