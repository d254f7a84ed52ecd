// Locations: the strings by which Iceberg metadata, catalogs and people name files and folders.
//
//   location := scheme ":" "/" ...       a URI, if the scheme has two letters or more: "s3://b/k", "hdfs:/x"
//             | "file:" anything         "file:/x" "file:///x" "file://localhost/x" are the path /x; "file:x" and
//                                        "file://./x" are relative, and so is "file://x/y" (as PyIceberg reads it)
//             | path                     everything else; so are Windows drives, "C:\w" and "C:/w"
//
// The characters of a location are meant literally: Spark, Iceberg Java and PyIceberg write "file:/t/a b%20c" for a
// folder whose name has a space and a percent sign. '?' and '#' are letters like any other. So nothing is decoded when
// a location is taken apart or written to. Only when a `file:` location is to be read and does not exist as it stands,
// LocalFileSystem looks once more under its percent-decoded name (DuckDB and people write those).
#pragma once

#include <string>
#include <string_view>

namespace frazil {

struct Location {
  std::string scheme;     // lower case, without ':'; "file" for paths too
  std::string authority;  // "bucket" of s3://bucket/key; of "file://x/y" the "x", which `path` starts with too
  std::string path;       // "/x", "./x", "C:\w"; for others what follows the authority, with its '/'
  bool is_uri = false;    // had a scheme
  bool is_local() const { return scheme == "file"; }
};

// Never fails on text without NUL bytes; with one, or empty, it throws Error(kInvalidArgument).
Location parse_location(std::string_view text);

// The form that new tables are created with: absolute, "file:///data/lake" for whatever is local, without ".", ".."
// and doubled or trailing slashes, nothing encoded; a relative path counts from `working_folder`, "C:\w" gives
// "file:///C:/w". Other schemes: lower-cased, trailing slashes dropped, the rest untouched. Throws
// Error(kInvalidArgument) for a `file:` URI that names a host.
std::string canonical_location(std::string_view text, std::string_view working_folder);
// The same, counting from the process's working folder.
std::string canonical_location(std::string_view text);

// "a/b" + "c" = "a/b/c", without doubling slashes: for names below a location. An empty base gives `name`.
std::string join_location(std::string_view base, std::string_view name);
// Of "s3://b/x/y": "s3://b/x" and "y". Trailing slashes do not count. The parent of a single segment is "" for a
// relative path, "/" for an absolute one, and the URI's root itself for a URI.
std::string_view parent_location(std::string_view location);
std::string_view location_name(std::string_view location);

// One string for all forms of a location, to compare by: the path of what is local, without doubled slashes and leading
// "./"; of other schemes the whole with the scheme in lower case. No trailing slashes. ".." stays.
std::string location_key(std::string_view location);

// True if `location` is `folder` or lies below it, by location_key, on segment borders.
bool is_below(std::string_view location, std::string_view folder);

}  // namespace frazil
