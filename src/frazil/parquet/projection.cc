#include "frazil/parquet/projection.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "frazil/base/error.h"

namespace frazil::parquet {

namespace {

using Path = std::vector<size_t>;  // indices of children, from the root down

uint32_t root_child(const FileSchema& schema, size_t index) {
  uint32_t node = 1;
  for (size_t i = 0; i < index; ++i) node += schema.node(node).subtree_size;
  return node;
}

bool same_letters(std::string_view left, std::string_view right) {
  const auto lower = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
  };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

// The index of the first of `count` names that is `name`. Throws if several differ from it in case alone.
template <typename NameOf>
std::optional<size_t> find_name(size_t count, const NameOf& name_of, std::string_view name, bool case_sensitive) {
  for (size_t i = 0; i < count; ++i) {
    if (name_of(i) == name) return i;
  }
  if (case_sensitive) return std::nullopt;
  std::optional<size_t> found;
  for (size_t i = 0; i < count; ++i) {
    if (!same_letters(name_of(i), name)) continue;
    if (found)
      throw_error(ErrorKind::kInvalidArgument, "column '{}' may be '{}' or '{}'", name, name_of(*found), name_of(i));
    found = i;
  }
  return found;
}

bool is_outside_of_lists(const ColumnRequest& request) {
  switch (request.kind) {
    case ColumnRequest::Kind::kLeaf:
      return true;
    case ColumnRequest::Kind::kStruct:
      return std::any_of(request.children.begin(), request.children.end(), is_outside_of_lists);
    default:
      return false;
  }
}

// `full` with only the fields that paths lead to; `depth` of their parts are behind. What is left of each path is
// rewritten to the fields that are left. A path that ends takes the whole of the node, or one leaf if `thin_ends`.
ColumnRequest cut(ColumnRequest full, std::vector<Path*> paths, size_t depth, bool thin_ends) {
  const auto ends = [&](const Path* path) { return path->size() == depth; };
  if (std::all_of(paths.begin(), paths.end(), ends)) return thin_ends ? request_nulls(std::move(full)) : full;
  if (std::any_of(paths.begin(), paths.end(), ends)) return full;
  std::vector<size_t> wanted;
  for (const Path* path : paths) wanted.push_back((*path)[depth]);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::vector<ColumnRequest> children;
  for (size_t place = 0; place < wanted.size(); ++place) {
    std::vector<Path*> below;
    for (Path* path : paths) {
      if ((*path)[depth] == wanted[place]) below.push_back(path);
    }
    children.push_back(cut(std::move(full.children.at(wanted[place])), below, depth + 1, thin_ends));
    for (Path* path : below) (*path)[depth] = place;
  }
  full.children = std::move(children);
  return full;
}

// `full[columns[i]]`, cut to the paths that lead into it; the paths are rewritten to what is left.
template <typename Full>
std::vector<ColumnRequest> cut_columns(const Full& full, std::vector<Path>& paths, std::span<const size_t> columns,
                                       bool thin_ends) {
  std::vector<std::vector<Path*>> paths_of(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    for (Path& path : paths) {
      if (path[0] == columns[i]) paths_of[i].push_back(&path);
    }
  }
  std::vector<ColumnRequest> requests;
  for (size_t i = 0; i < columns.size(); ++i) {
    requests.push_back(cut(full(columns[i]), paths_of[i], 1, thin_ends));
    for (Path* path : paths_of[i]) (*path)[0] = i;
  }
  return requests;
}

std::vector<size_t> first_parts(const std::vector<Path>& paths) {
  std::vector<size_t> columns;
  for (const Path& path : paths) {
    if (std::find(columns.begin(), columns.end(), path[0]) == columns.end()) columns.push_back(path[0]);
  }
  return columns;
}

void add_leaves(const FileSchema& schema, const ColumnRequest& request, std::vector<size_t>& leaves) {
  if (request.kind == ColumnRequest::Kind::kLeaf) leaves.push_back(schema.node(request.node).first_leaf);
  for (const ColumnRequest& child : request.children) add_leaves(schema, child, leaves);
}

}  // namespace

namespace {

template <typename NameOf>
[[noreturn]] void throw_missing(const predicate::ColumnName& name, size_t count, NameOf name_of) {
  Error error(ErrorKind::kNotFound, message("column {} does not exist", name.to_text()));
  std::string there;
  for (size_t i = 0; i < count && there.size() < 200; ++i) {
    there += (there.empty() ? "" : ", ") + predicate::ColumnName(std::string(name_of(i))).to_text();
  }
  if (!there.empty()) error.set_hint("there are " + excerpt(there, 200));
  throw error;
}

}  // namespace

std::vector<ColumnRequest> request_named(const FileSchema& schema, std::span<const predicate::ColumnName> names,
                                         bool case_sensitive, const ArrowTypeOptions& options) {
  std::vector<uint32_t> tops;
  for (uint32_t node = 1, i = 0; i < schema.root().child_count; ++i, node += schema.node(node).subtree_size) {
    tops.push_back(node);
  }
  std::vector<Path> paths;
  for (const predicate::ColumnName& name : names) {
    const auto top_name = [&](size_t i) { return schema.node(tops[i]).name; };
    if (name.parts.empty()) throw_missing(name, tops.size(), top_name);
    const auto top = find_name(tops.size(), top_name, name.parts[0], case_sensitive);
    if (!top) throw_missing(name, tops.size(), top_name);
    Path path{*top};
    const ColumnRequest column = request_column(schema, tops[*top], options);
    const ColumnRequest* at = &column;
    for (size_t part = 1; part < name.parts.size(); ++part) {
      const size_t count = at->kind == ColumnRequest::Kind::kStruct ? at->children.size() : 0;
      const auto child_name = [&](size_t i) -> std::string_view { return at->children[i].field.name; };
      const auto child = find_name(count, child_name, name.parts[part], case_sensitive);
      if (!child) throw_missing(name, count, child_name);
      path.push_back(*child);
      at = &at->children[*child];
    }
    paths.push_back(std::move(path));
  }
  const std::vector<size_t> columns = first_parts(paths);
  const auto full = [&](size_t column) { return request_column(schema, root_child(schema, column), options); };
  return cut_columns(full, paths, columns, false);
}

PredicateColumns request_predicate(std::span<const ColumnRequest> requested,
                                   const predicate::BoundPredicate& predicate) {
  std::vector<predicate::BoundColumn> columns = predicate.columns();
  std::vector<Path> paths;
  paths.reserve(columns.size());
  for (const predicate::BoundColumn& column : columns) paths.push_back(column.path);
  const std::vector<size_t> tops = first_parts(paths);
  std::vector<ColumnRequest> requests =
      cut_columns([&](size_t column) { return requested[column]; }, paths, tops, true);
  std::vector<Field> fields;
  for (const ColumnRequest& request : requests) fields.push_back(arrow_field(request));
  SchemaPtr batch_schema = Schema::make(std::move(fields));
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i].path = paths[i];
    const Field* field = &batch_schema->field(paths[i][0]);
    for (size_t depth = 1; depth < paths[i].size(); ++depth) field = &field->type->children().at(paths[i][depth]);
    columns[i].field = *field;
  }
  return {std::move(requests),
          predicate::BoundPredicate(std::move(batch_schema), std::move(columns), predicate.root())};
}

std::vector<std::optional<size_t>> requested_predicate_leaves(const FileSchema& schema,
                                                              const PredicateColumns& columns) {
  std::vector<std::optional<size_t>> leaves;
  for (const predicate::BoundColumn& column : columns.predicate.columns()) {
    const ColumnRequest* request = &columns.requests[column.path[0]];
    for (size_t depth = 1; depth < column.path.size(); ++depth) request = &request->children[column.path[depth]];
    const bool is_leaf = request->kind == ColumnRequest::Kind::kLeaf;
    leaves.push_back(is_leaf ? std::optional<size_t>(schema.node(request->node).first_leaf) : std::nullopt);
  }
  return leaves;
}

ColumnRequest request_nulls(ColumnRequest request) {
  switch (request.kind) {
    case ColumnRequest::Kind::kLeaf:
      break;
    case ColumnRequest::Kind::kStruct: {
      auto& children = request.children;
      if (children.empty()) break;
      const auto outside = std::find_if(children.begin(), children.end(), is_outside_of_lists);
      ColumnRequest child = request_nulls(std::move(outside == children.end() ? children.front() : *outside));
      children.clear();
      children.push_back(std::move(child));
      break;
    }
    case ColumnRequest::Kind::kList:
      request.children[0] = request_nulls(std::move(request.children[0]));
      break;
    case ColumnRequest::Kind::kMap:
      request.children.back() = request_nulls(std::move(request.children.back()));
      break;
  }
  return request;
}

std::vector<size_t> requested_leaves(const FileSchema& schema, std::span<const ColumnRequest> requests) {
  std::vector<size_t> leaves;
  for (const ColumnRequest& request : requests) add_leaves(schema, request, leaves);
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  return leaves;
}

}  // namespace frazil::parquet
