#include "frazil/io/uri.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "frazil/base/error.h"

namespace frazil {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_scheme_character(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

// "C:", "C:\w", "C:/w"
bool is_drive_path(std::string_view text) {
  return text.size() >= 2 && is_letter(text[0]) && text[1] == ':' &&
         (text.size() == 2 || text[2] == '/' || text[2] == '\\');
}

// The size of the scheme, without ':'; 0 if `text` is a path.
size_t scheme_size(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return 0;
  size_t size = 1;
  while (size < text.size() && is_scheme_character(text[size])) ++size;
  if (size < 2 || size == text.size() || text[size] != ':') return 0;
  const bool followed_by_slash = size + 1 < text.size() && text[size + 1] == '/';
  return followed_by_slash || lower(text.substr(0, size)) == "file" ? size : 0;
}

// Where the path of a URI starts: at the slash behind the authority, or behind the scheme. 0 for paths.
size_t path_start(std::string_view text) {
  const size_t scheme = scheme_size(text);
  if (scheme == 0) return 0;
  if (text.substr(scheme + 1, 2) != "//") return scheme + 1;
  return std::min(text.find('/', scheme + 3), text.size());
}

std::string_view without_trailing_slashes(std::string_view text, size_t keep = 0) {
  while (text.size() > keep && text.back() == '/') text.remove_suffix(1);
  return text;
}

// Of what is not local: the scheme in lower case and the rest as it is, but for slashes at the end.
std::string trim_uri(std::string_view text) {
  const size_t start = path_start(text);
  const size_t root = text[start - 1] == ':' ? start + 1 : start;  // "hdfs:/" keeps its slash
  const size_t scheme = scheme_size(text);
  return lower(text.substr(0, scheme)) + std::string(without_trailing_slashes(text, root).substr(scheme));
}

// Drops "", "." and, with `fold_parents`, resolves "..".
std::string join_segments(std::string_view path, bool fold_parents) {
  const bool absolute = path.starts_with('/');
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (segment.empty() || (segment == "." && (fold_parents || segments.empty()))) continue;
    if (fold_parents && segment == ".." && (absolute || (!segments.empty() && segments.back() != ".."))) {
      if (!segments.empty()) segments.pop_back();
      continue;
    }
    segments.push_back(segment);
  }
  std::string out = absolute ? "/" : "";
  for (std::string_view segment : segments) {
    if (!out.empty() && out.back() != '/') out += '/';
    out += segment;
  }
  return out;
}

Location parse_file_uri(std::string_view rest) {
  Location location{.scheme = "file", .authority = {}, .path = {}, .is_uri = true};
  if (rest.starts_with("//")) {
    const size_t end = std::min(rest.find('/', 2), rest.size());
    const std::string_view authority = rest.substr(2, end - 2);
    if (authority.empty() || lower(authority) == "localhost") {
      rest = end == rest.size() ? "/" : rest.substr(end);
    } else {
      location.authority = authority;
      rest = rest.substr(2);
    }
  }
  while (rest.starts_with("//")) rest.remove_prefix(1);
  location.path = rest;
  return location;
}

}  // namespace

Location parse_location(std::string_view text) {
  if (text.empty()) throw_error(ErrorKind::kInvalidArgument, "a location must not be empty");
  if (text.find('\0') != std::string_view::npos) {
    throw_error(ErrorKind::kInvalidArgument, "a location must not hold a zero byte: '{}'",
                text.substr(0, text.find('\0')));
  }
  const size_t scheme = scheme_size(text);
  if (scheme == 0) return {.scheme = "file", .authority = {}, .path = std::string(text), .is_uri = false};
  const std::string_view rest = text.substr(scheme + 1);
  Location location{.scheme = lower(text.substr(0, scheme)), .authority = {}, .path = {}, .is_uri = true};
  if (location.is_local()) {
    location = parse_file_uri(rest);
    if (location.path.empty()) throw_error(ErrorKind::kInvalidArgument, "the location '{}' has no path", text);
    return location;
  }
  const size_t start = path_start(text) - scheme - 1;
  if (rest.starts_with("//")) location.authority = rest.substr(2, start - 2);
  location.path = rest.substr(start);
  return location;
}

std::string canonical_location(std::string_view text, std::string_view working_folder) {
  const Location location = parse_location(text);
  if (!location.is_local()) {
    return trim_uri(text);
  }
  std::string path = location.path;
  if (is_drive_path(path)) {
    std::replace(path.begin(), path.end(), '\\', '/');
    return "file:///" + join_segments(path, true);
  }
  const std::string& host = location.authority;
  if (!host.empty() && host != "." && host != "..") {
    throw_error(ErrorKind::kInvalidArgument, "the location '{}' names the host '{}': use file:///path", text, host);
  }
  if (!path.starts_with('/')) path = std::string(working_folder) + "/" + path;
  return "file://" + join_segments(path, true);
}

std::string canonical_location(std::string_view text) {
  return canonical_location(text, std::filesystem::current_path().string());
}

std::string join_location(std::string_view base, std::string_view name) {
  if (base.empty()) return std::string(name);
  while (name.starts_with('/')) name.remove_prefix(1);
  return std::string(without_trailing_slashes(base)) + "/" + std::string(name);
}

std::string_view parent_location(std::string_view location) {
  const size_t start = path_start(location);
  location = without_trailing_slashes(location, start + 1);
  const size_t slash = location.rfind('/');
  if (slash == std::string_view::npos || slash < start) return location.substr(0, start);
  if (slash > start) return without_trailing_slashes(location.substr(0, slash), start + 1);
  // The root: "/" of a path and of "file:///x", "s3://b" of "s3://b/x".
  const bool has_authority = start > 0 && location[start - 1] != '/' && location[start - 1] != ':';
  return location.substr(0, has_authority ? start : start + 1);
}

std::string_view location_name(std::string_view location) {
  const size_t start = path_start(location);
  location = without_trailing_slashes(location, start);
  const size_t slash = location.rfind('/');
  if (slash == std::string_view::npos || slash < start) return location.substr(start);
  return location.substr(slash + 1);
}

std::string location_key(std::string_view text) {
  const Location location = parse_location(text);
  if (location.is_local()) {
    std::string key = join_segments(location.path, false);
    return key.empty() ? "." : key;
  }
  return trim_uri(text);
}

bool is_below(std::string_view location, std::string_view folder) {
  const std::string inner = location_key(location);
  const std::string outer = location_key(folder);
  if (!inner.starts_with(outer)) return false;
  return inner.size() == outer.size() || outer.ends_with('/') || inner[outer.size()] == '/';
}

}  // namespace frazil
