// Schema resolution: a writer's and a reader's schema into a program.
#include <algorithm>
#include <unordered_map>

#include "frazil/avro/program.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"

namespace frazil::avro {

namespace {

[[noreturn]] void throw_mismatch(const std::string& path, const Node& writer, const Node& reader) {
  throw_error(ErrorKind::kUnsupported, "column '{}' is a {} in the file, which does not read as {}", path,
              describe(writer), describe(reader));
}

bool is_timestamp(Logical logical) {
  return logical >= Logical::kTimestampMillis && logical <= Logical::kLocalTimestampNanos;
}

// Zone or not says how to show an instant; the unit says what the number is.
Logical unit_of(Logical logical) {
  switch (logical) {
    case Logical::kLocalTimestampMillis:
      return Logical::kTimestampMillis;
    case Logical::kLocalTimestampMicros:
      return Logical::kTimestampMicros;
    case Logical::kLocalTimestampNanos:
      return Logical::kTimestampNanos;
    default:
      return logical;
  }
}

// A logical type and its plain type read as each other: writers differ in whether they annotate (a day partition is an
// int here and a date there). Two different ones never do.
bool logical_matches(const Node& writer, const Node& reader) {
  if (writer.logical == Logical::kNone || reader.logical == Logical::kNone) return true;
  if (is_timestamp(writer.logical) && is_timestamp(reader.logical))
    return unit_of(writer.logical) == unit_of(reader.logical);
  if (writer.logical == Logical::kDecimal && reader.logical == Logical::kDecimal) {
    return writer.scale == reader.scale && writer.precision <= reader.precision;
  }
  return writer.logical == reader.logical;
}

// Shallow: what is inside records, arrays and maps is resolved later. Neither is a union.
bool matches(const Node& writer, const Node& reader) {
  if (!logical_matches(writer, reader)) return false;
  switch (reader.kind) {
    case Kind::kLong:
      return writer.kind == Kind::kLong || (writer.kind == Kind::kInt && writer.logical == Logical::kNone);
    case Kind::kFloat:
      return writer.kind == Kind::kFloat ||
             ((writer.kind == Kind::kInt || writer.kind == Kind::kLong) && writer.logical == Logical::kNone);
    case Kind::kDouble:
      return writer.kind == Kind::kDouble || writer.kind == Kind::kFloat ||
             ((writer.kind == Kind::kInt || writer.kind == Kind::kLong) && writer.logical == Logical::kNone);
    case Kind::kBytes:
      if (reader.logical == Logical::kDecimal) return writer.kind == Kind::kBytes || writer.kind == Kind::kFixed;
      [[fallthrough]];
    case Kind::kString:
      return writer.kind == Kind::kBytes || writer.kind == Kind::kString;
    case Kind::kFixed:
      if (reader.logical == Logical::kDecimal) return writer.kind == Kind::kBytes || writer.kind == Kind::kFixed;
      if (reader.logical == Logical::kUuid && writer.kind == Kind::kString) return true;
      return writer.kind == Kind::kFixed && writer.fixed_size == reader.fixed_size;
    case Kind::kArray:
      return writer.kind == Kind::kArray && (reader.logical != Logical::kMap || writer.element->kind == Kind::kRecord);
    default:
      return writer.kind == reader.kind;
  }
}

class Compiler {
 public:
  explicit Compiler(Program::Code& code) : code_(code) {}

  void compile(const NodePtr& writer, const NodePtr& reader) {
    code_.writer = writer;
    code_.reader = reader != nullptr ? reader : writer;
    if (writer->depth > kMaxSchemaDepth || code_.reader->depth > kMaxSchemaDepth) {
      throw_error(ErrorKind::kUnsupported, "Avro schema is deeper than {} levels", kMaxSchemaDepth);
    }
    code_.levels.emplace_back();
    code_.record_least_bytes = least_bytes(*writer);
    const Node& root = *code_.reader;
    std::vector<frazil::Field> fields;
    if (root.kind == Kind::kRecord) {
      if (writer->kind != Kind::kRecord) throw_mismatch("", *writer, root);
      for (const Field& field : root.fields) {
        code_.outputs.push_back(make_output(*field.type, field.output, 0, field.name));
      }
      emit_fields(*writer, root, code_.outputs, 0, "");
      for (const Field& field : root.fields) {
        fields.push_back(arrow_field(field.name, *field.type, field.field_id, field.output, field.name));
      }
    } else {
      code_.outputs.push_back(make_output(root, Output::kValue, 0, "value"));
      emit_read(*writer, root, code_.outputs[0], Output::kValue, 0, "value");
      fields.push_back(arrow_field("value", root, std::nullopt, Output::kValue, "value"));
    }
    emit(OpCode::kEnd);
    for (size_t i = 0; i < fields.size(); ++i) assign_type(code_.outputs[i], fields[i].type);
    code_.schema = std::make_shared<const frazil::Schema>(std::move(fields));
    code_.constants = Buffer::from_string(std::move(constants_));
  }

 private:
  // --- Output columns ---------------------------------------------------------------------------------------------

  // The type behind null; throws for a union of several types.
  static const Node& value_node(const Node& node, const std::string& path) {
    if (const Node* inner = node.non_null()) return *inner;
    if (node.kind == Kind::kUnion && std::all_of(node.branches.begin(), node.branches.end(),
                                                 [](const NodePtr& branch) { return branch->kind == Kind::kNull; })) {
      return *node.branches.front();
    }
    throw_error(ErrorKind::kUnsupported, "column '{}' is a {}, which is not supported", path, describe(node));
  }

  uint32_t add_column(ColumnSpec spec, const std::string& path) {
    if (code_.columns.size() >= kMaxColumns)
      throw_error(ErrorKind::kUnsupported, "Avro schema has more than {} columns", kMaxColumns);
    code_.columns.push_back(spec);
    code_.column_paths.push_back(path);
    const auto column = static_cast<uint32_t>(code_.columns.size() - 1);
    code_.levels[spec.level].push_back(column);
    return column;
  }

  static ColumnSpec column_spec(const Node& node, Output output) {
    ColumnSpec spec{.layout = Layout::kFixed, .nullable = false, .text = false, .width = 8, .level = 0};
    if (node.logical == Logical::kDecimal) {
      spec.width = node.precision > 38 ? 32 : 16;
      return spec;
    }
    if (node.logical == Logical::kDuration) {
      spec.width = 16;
      return spec;
    }
    switch (node.kind) {
      case Kind::kNull:
        spec.layout = Layout::kNull;
        break;
      case Kind::kBoolean:
        spec.layout = Layout::kBits;
        break;
      case Kind::kInt:
      case Kind::kFloat:
      case Kind::kEnum:
        spec.width = 4;
        break;
      case Kind::kBytes:
      case Kind::kString:
        spec.layout = output == Output::kView ? Layout::kView : Layout::kBytes;
        spec.text = node.kind == Kind::kString && output == Output::kValue;
        break;
      case Kind::kFixed:
        spec.width = static_cast<uint32_t>(node.fixed_size);
        break;
      case Kind::kRecord:
        spec.layout = Layout::kStruct;
        break;
      case Kind::kArray:
      case Kind::kMap:
        spec.layout = Layout::kList;
        break;
      default:
        break;
    }
    return spec;
  }

  OutputNode make_output(const Node& reader, Output output, uint32_t level, const std::string& path) {
    OutputNode out;
    if (output == Output::kRaw) {
      out.column =
          add_column({.layout = Layout::kView, .nullable = true, .text = false, .width = 16, .level = level}, path);
      return out;
    }
    const Node& node = value_node(reader, path);
    if (output == Output::kView && node.kind != Kind::kString && node.kind != Kind::kBytes) {
      throw_error(ErrorKind::kInvalidArgument, "column '{}' is a {}, which has no views", path, describe(node));
    }
    ColumnSpec spec = column_spec(node, output);
    spec.nullable = reader.nullable() && spec.layout != Layout::kNull;
    spec.level = level;
    out.column = add_column(spec, path);
    if (node.kind == Kind::kRecord) {
      for (const Field& field : node.fields) {
        out.children.push_back(make_output(*field.type, field.output, level, path + "." + field.name));
      }
    } else if (node.kind == Kind::kEnum) {
      out.dictionary = make_dictionary(node.symbols);
    } else if (spec.layout == Layout::kList) {
      const auto element_level = static_cast<uint32_t>(code_.levels.size());
      code_.levels.emplace_back();
      code_.columns[out.column].element_level = element_level;
      out.children.push_back(make_element(node, element_level, path));
    }
    return out;
  }

  OutputNode make_element(const Node& list, uint32_t level, const std::string& path) {
    if (list.kind == Kind::kMap) {
      OutputNode entries;
      entries.column =
          add_column({.layout = Layout::kStruct, .nullable = false, .text = false, .width = 0, .level = level}, path);
      OutputNode key;
      key.column = add_column({.layout = Layout::kBytes, .nullable = false, .text = true, .width = 8, .level = level},
                              path + ".key");
      entries.children.push_back(std::move(key));
      entries.children.push_back(make_output(*list.element, Output::kValue, level, path + ".value"));
      return entries;
    }
    if (list.logical != Logical::kMap) return make_output(*list.element, Output::kValue, level, path + ".element");
    OutputNode entries = make_output(*list.element, Output::kValue, level, path);
    entries.value_first = map_key_index(list) == 1;
    return entries;
  }

  static void assign_type(OutputNode& out, const DataTypePtr& type) {
    out.type = type;
    if (out.value_first) std::swap(out.children[0], out.children[1]);
    for (size_t i = 0; i < out.children.size(); ++i) assign_type(out.children[i], type->children()[i].type);
  }

  static ArrayPtr make_dictionary(const std::vector<std::string>& symbols) {
    auto array = std::make_shared<Array>();
    array->type = frazil::primitive(TypeId::kUtf8);
    array->length = static_cast<int64_t>(symbols.size());
    array->null_count = 0;
    std::string offsets(4 * (symbols.size() + 1), '\0');
    std::string bytes;
    for (size_t i = 0; i < symbols.size(); ++i) {
      bytes += symbols[i];
      store(offsets.data() + 4 * (i + 1), static_cast<int32_t>(bytes.size()));
    }
    array->buffers[1] = Buffer::from_string(std::move(offsets));
    array->buffers[2] = Buffer::from_string(std::move(bytes));
    return array;
  }

  // --- Instructions ------------------------------------------------------------------------------------------------

  uint32_t here() const { return static_cast<uint32_t>(code_.ops.size()); }

  uint32_t emit(OpCode code, uint32_t column = 0, uint32_t a = 0, uint32_t b = 0) {
    if (code_.ops.size() >= kMaxOps)
      throw_error(ErrorKind::kUnsupported, "Avro schema expands to more than {} values", kMaxOps);
    code_.ops.push_back({code, column, a, b});
    return here() - 1;
  }

  void emit_fail(std::string text) {
    code_.failures.push_back(std::move(text));
    emit(OpCode::kFail, 0, static_cast<uint32_t>(code_.failures.size() - 1));
  }

  // A null of the whole output: structs bring their children along, lists stay empty.
  void emit_null(const OutputNode& out) {
    emit(OpCode::kAppendNull, out.column);
    if (code_.columns[out.column].layout != Layout::kStruct) return;
    for (const OutputNode& child : out.children) emit_null(child);
  }

  void emit_fields(const Node& writer, const Node& reader, std::vector<OutputNode>& outs, uint32_t level,
                   const std::string& path) {
    const std::vector<size_t> source = match_fields(writer, reader);
    std::vector<size_t> target(writer.fields.size(), SIZE_MAX);
    for (size_t r = 0; r < source.size(); ++r) {
      if (source[r] != SIZE_MAX) target[source[r]] = r;
    }
    const auto child_path = [&](const std::string& name) { return path.empty() ? name : path + "." + name; };
    for (size_t w = 0; w < target.size(); ++w) {
      if (target[w] == SIZE_MAX) {
        emit_skip(*writer.fields[w].type);
        continue;
      }
      const Field& field = reader.fields[target[w]];
      reader_path_.push_back(target[w]);
      emit_read(*writer.fields[w].type, *field.type, outs[target[w]], field.output, level, child_path(field.name));
      reader_path_.pop_back();
    }
    for (size_t r = 0; r < source.size(); ++r) {
      if (source[r] == SIZE_MAX) emit_missing(reader.fields[r], outs[r], level, child_path(reader.fields[r].name));
    }
  }

  // For each reader's field the writer's, or SIZE_MAX. A writer's field is used once: columns may repeat a name.
  static std::vector<size_t> match_fields(const Node& writer, const Node& reader) {
    const bool writer_has_ids = std::any_of(writer.fields.begin(), writer.fields.end(),
                                            [](const Field& field) { return field.field_id.has_value(); });
    std::unordered_map<std::string_view, std::vector<size_t>> by_name;
    std::unordered_map<int32_t, std::vector<size_t>> by_id;
    for (size_t w = writer.fields.size(); w-- > 0;) {  // backwards: the first of equals ends up last and is taken first
      by_name[writer.fields[w].name].push_back(w);
      if (writer.fields[w].field_id) by_id[*writer.fields[w].field_id].push_back(w);
    }
    std::vector<bool> used(writer.fields.size());
    const auto take = [&](std::vector<size_t>& candidates) {
      while (!candidates.empty()) {
        const size_t w = candidates.back();
        candidates.pop_back();
        if (used[w]) continue;
        used[w] = true;
        return w;
      }
      return SIZE_MAX;
    };
    std::vector<size_t> source(reader.fields.size(), SIZE_MAX);
    for (size_t r = 0; r < reader.fields.size(); ++r) {
      const Field& field = reader.fields[r];
      if (writer_has_ids && field.field_id) {
        if (auto found = by_id.find(*field.field_id); found != by_id.end()) source[r] = take(found->second);
        continue;
      }
      if (auto found = by_name.find(field.name); found != by_name.end()) source[r] = take(found->second);
      for (size_t i = 0; i < field.aliases.size() && source[r] == SIZE_MAX; ++i) {
        if (auto found = by_name.find(field.aliases[i]); found != by_name.end()) source[r] = take(found->second);
      }
    }
    return source;
  }

  void emit_missing(const Field& field, OutputNode& out, uint32_t level, const std::string& path) {
    if (field.default_value && field.output != Output::kRaw) {
      const size_t begin = constants_.size();
      try {
        encode_default(*field.type, *field.default_value, constants_);
      } catch (Error& error) {
        error.add_context(message("reading the default of column '{}'", path));
        throw;
      }
      if (constants_.size() > UINT32_MAX) throw_error(ErrorKind::kUnsupported, "defaults are longer than 4 GiB");
      emit(OpCode::kConstantBegin, 0, static_cast<uint32_t>(begin), static_cast<uint32_t>(constants_.size() - begin));
      // The bytes are as the reader's own schema has them. Fields of records in it are all there.
      emit_read(*field.type, *field.type, out, field.output, level, path);
      emit(OpCode::kConstantEnd);
    } else if (field.output == Output::kRaw || field.type->nullable()) {
      emit_null(out);
    } else {
      throw_corrupt(CorruptError::kNoOffset, "column '{}' is required, and the file does not have it", path);
    }
  }

  void emit_read(const Node& writer, const Node& reader, OutputNode& out, Output output, uint32_t level,
                 const std::string& path) {
    if (output == Output::kRaw) return emit_raw(writer, out);
    const Node& value = value_node(reader, path);
    const bool nullable = reader.nullable();
    if (writer.kind == Kind::kUnion) return emit_union(writer, value, nullable, out, output, level, path);
    if (writer.kind == Kind::kNull && value.kind != Kind::kNull) {
      if (!nullable) throw_mismatch(path, writer, value);
      return emit_null(out);
    }
    if (!matches(writer, value)) throw_mismatch(path, writer, value);
    if (code_.columns[out.column].nullable) emit(OpCode::kValid, out.column);
    emit_value(writer, value, out, output, level, path);
  }

  void emit_union(const Node& writer, const Node& value, bool nullable, OutputNode& out, Output output, uint32_t level,
                  const std::string& path) {
    const auto emit_branch = [&](const Node& branch, bool valid_is_set) {
      if (branch.kind == Kind::kNull && value.kind != Kind::kNull) {
        if (nullable) return emit_null(out);
        return emit_fail(message("column '{}' is required and holds a null", path));
      }
      if (!matches(branch, value)) {
        return emit_fail(
            message("column '{}' holds a {}, which does not read as {}", path, describe(branch), describe(value)));
      }
      if (!valid_is_set && code_.columns[out.column].nullable) emit(OpCode::kValid, out.column);
      emit_value(branch, value, out, output, level, path);
    };
    const Node* only = writer.branches.size() == 2 ? writer.non_null() : nullptr;
    if (only != nullptr && value.kind != Kind::kNull) {
      if (!matches(*only, value)) throw_mismatch(path, *only, value);
      const uint32_t null_index = writer.branches[0]->kind == Kind::kNull ? 0 : 1;
      const uint32_t test = emit(OpCode::kNullable, out.column, null_index);
      emit_branch(*only, true);
      const uint32_t jump = emit(OpCode::kJump);
      code_.ops[test].b = here();
      emit_branch(*writer.branches[null_index], false);
      code_.ops[jump].b = here();
      return;
    }
    if (std::none_of(writer.branches.begin(), writer.branches.end(), [&](const NodePtr& branch) {
          return matches(*branch, value) || (nullable && branch->kind == Kind::kNull);
        })) {
      throw_mismatch(path, writer, value);
    }
    emit_branches(writer, [&](const Node& branch) { emit_branch(branch, false); });
  }

  template <typename Emit>
  void emit_branches(const Node& writer, Emit emit_branch) {
    const size_t table = code_.branch_tables.size();
    code_.branch_tables.emplace_back();
    emit(OpCode::kBranch, 0, static_cast<uint32_t>(table));
    std::vector<uint32_t> targets;
    std::vector<uint32_t> jumps;
    for (const NodePtr& branch : writer.branches) {
      targets.push_back(here());
      emit_branch(*branch);
      jumps.push_back(emit(OpCode::kJump));
    }
    for (uint32_t jump : jumps) code_.ops[jump].b = here();
    code_.branch_tables[table] = std::move(targets);
  }

  // The bytes of a value, without the branch of a nullable union around it.
  void emit_raw(const Node& writer, const OutputNode& out) {
    const Node* value = writer.non_null();
    if (value == nullptr) value = &writer;
    NodePtr shared(code_.writer, value);  // shares the ownership of the whole schema
    code_.raw_types.emplace_back(reader_path_, std::move(shared));
    code_.has_views = true;
    uint32_t test = 0;
    const bool nullable = value != &writer && writer.branches.size() == 2;
    if (nullable) {
      test = emit(OpCode::kNullable, out.column, writer.branches[0]->kind == Kind::kNull ? 0 : 1);
    } else {
      emit(OpCode::kValid, out.column);
      if (value != &writer) emit(OpCode::kSkipVarint);  // the index of a union of one
    }
    emit(OpCode::kRawBegin);
    emit_skip(*value);
    emit(OpCode::kRawEnd, out.column);
    if (nullable) {
      const uint32_t jump = emit(OpCode::kJump);
      code_.ops[test].b = here();
      emit_null(out);
      code_.ops[jump].b = here();
    }
  }

  // Neither side is a union, and they match.
  void emit_value(const Node& writer, const Node& reader, OutputNode& out, Output output, uint32_t level,
                  const std::string& path) {
    const uint32_t column = out.column;
    const auto size = static_cast<uint32_t>(writer.fixed_size);
    if (reader.logical == Logical::kDecimal) {
      emit(writer.kind == Kind::kBytes ? OpCode::kDecimalBytes : OpCode::kDecimalFixed, column, size);
      return;
    }
    switch (reader.kind) {
      case Kind::kNull:
        emit(OpCode::kNull, column);
        return;
      case Kind::kBoolean:
        emit(OpCode::kBool, column);
        return;
      case Kind::kInt:
        emit(OpCode::kInt32, column);
        return;
      case Kind::kLong:
        emit(OpCode::kInt64, column);
        return;
      case Kind::kFloat:
        emit(writer.kind == Kind::kFloat ? OpCode::kFloat : OpCode::kInt64ToFloat, column);
        return;
      case Kind::kDouble:
        emit(writer.kind == Kind::kDouble  ? OpCode::kDouble
             : writer.kind == Kind::kFloat ? OpCode::kFloatToDouble
                                           : OpCode::kInt64ToDouble,
             column);
        return;
      case Kind::kBytes:
      case Kind::kString:
        code_.has_views |= output == Output::kView;
        emit(output == Output::kView ? OpCode::kView : OpCode::kBytes, column);
        return;
      case Kind::kFixed:
        if (reader.logical == Logical::kDuration) {
          emit(OpCode::kDuration, column);
        } else if (writer.kind == Kind::kString) {
          emit(OpCode::kUuidText, column);
        } else {
          emit(OpCode::kFixed, column, size);
        }
        return;
      case Kind::kEnum:
        emit(OpCode::kEnum, column, enum_map(writer, reader));
        return;
      case Kind::kRecord:
        emit(OpCode::kStruct, column);
        return emit_fields(writer, reader, out.children, level, path);
      case Kind::kArray:
        return emit_list(writer, reader, out, path);
      case Kind::kMap:
        return emit_list(writer, reader, out, path);
      case Kind::kUnion:
        break;
    }
    throw_error(ErrorKind::kInternal, "union in emit_value");
  }

  uint32_t enum_map(const Node& writer, const Node& reader) {
    const auto index_of = [&](const std::string& symbol) {
      const auto found = std::find(reader.symbols.begin(), reader.symbols.end(), symbol);
      return found == reader.symbols.end() ? -1 : static_cast<int32_t>(found - reader.symbols.begin());
    };
    const int32_t fallback = reader.default_symbol ? index_of(*reader.default_symbol) : -1;
    std::vector<int32_t> map;
    if (&writer == &reader) {
      for (size_t i = 0; i < writer.symbols.size(); ++i) map.push_back(static_cast<int32_t>(i));
    } else {
      for (const std::string& symbol : writer.symbols) {
        const int32_t index = index_of(symbol);
        map.push_back(index >= 0 ? index : fallback);
      }
    }
    code_.enum_maps.push_back(std::move(map));
    return static_cast<uint32_t>(code_.enum_maps.size() - 1);
  }

  void emit_list(const Node& writer, const Node& reader, OutputNode& out, const std::string& path) {
    const uint32_t level = code_.columns[out.column].element_level;
    const auto least = static_cast<uint32_t>(
        std::min<uint64_t>(least_bytes(*writer.element) + (writer.kind == Kind::kMap ? 1 : 0), UINT32_MAX));
    const uint32_t begin = emit(OpCode::kListBegin, out.column, least);
    const uint32_t body = here();
    OutputNode& child = out.children[0];
    if (reader.kind == Kind::kMap) {
      emit(OpCode::kStruct, child.column);
      emit(OpCode::kBytes, child.children[0].column);
      emit_read(*writer.element, *reader.element, child.children[1], Output::kValue, level, path + ".value");
    } else {
      emit_read(*writer.element, *reader.element, child, Output::kValue, level,
                reader.logical == Logical::kMap ? path : path + ".element");
    }
    emit(OpCode::kListNext, out.column, least, body);
    code_.ops[begin].b = here();
  }

  // --- Skipping ----------------------------------------------------------------------------------------------------

  void emit_skip(const Node& node) {
    switch (node.kind) {
      case Kind::kNull:
        return;
      case Kind::kBoolean:
        return emit_skip_fixed(1);
      case Kind::kFloat:
        return emit_skip_fixed(4);
      case Kind::kDouble:
        return emit_skip_fixed(8);
      case Kind::kFixed:
        return emit_skip_fixed(static_cast<uint32_t>(node.fixed_size));
      case Kind::kInt:
      case Kind::kLong:
      case Kind::kEnum:
        emit(OpCode::kSkipVarint);
        return;
      case Kind::kBytes:
      case Kind::kString:
        emit(OpCode::kSkipBytes);
        return;
      case Kind::kRecord:
        for (const Field& field : node.fields) emit_skip(*field.type);
        return;
      case Kind::kArray:
        return emit_skip_list(*node.element, false);
      case Kind::kMap:
        return emit_skip_list(*node.element, true);
      case Kind::kUnion:
        return emit_branches(node, [&](const Node& branch) { emit_skip(branch); });
    }
  }

  void emit_skip_fixed(uint32_t size) {
    if (size != 0) emit(OpCode::kSkipFixed, 0, size);
  }

  void emit_skip_list(const Node& element, bool has_key) {
    const uint64_t least = std::min<uint64_t>(least_bytes(element) + (has_key ? 1 : 0), UINT32_MAX);
    const uint32_t begin = emit(OpCode::kSkipListBegin, 0, static_cast<uint32_t>(least));
    const uint32_t body = here();
    if (has_key) emit(OpCode::kSkipBytes);
    emit_skip(element);
    // The common elements get a loop of their own in place of the instructions.
    const auto first = code_.ops.begin() + body;
    const uint32_t count = here() - body;
    if (count == 0) {
      code_.ops[begin] = {OpCode::kSkipEmptyList};
    } else if (std::all_of(first, code_.ops.end(), [](const Op& op) { return op.code == OpCode::kSkipVarint; })) {
      code_.ops.resize(body);
      code_.ops[begin] = {OpCode::kSkipVarintList, 0, count, 0};
    } else if (count == 2 && first->code == OpCode::kSkipVarint && (first + 1)->code == OpCode::kSkipBytes) {
      code_.ops.resize(body);
      code_.ops[begin] = {OpCode::kSkipVarintBytesList};
    } else {
      emit(OpCode::kSkipListNext, 0, static_cast<uint32_t>(least), body);
      code_.ops[begin].b = here();
    }
  }

  // The fewest bytes that a value takes; saturates.
  uint64_t least_bytes(const Node& node) {
    switch (node.kind) {
      case Kind::kNull:
        return 0;
      case Kind::kFloat:
        return 4;
      case Kind::kDouble:
        return 8;
      case Kind::kFixed:
        return static_cast<uint64_t>(node.fixed_size);
      case Kind::kRecord:
      case Kind::kUnion:
        break;
      default:
        return 1;
    }
    if (auto known = least_bytes_.find(&node); known != least_bytes_.end()) return known->second;
    uint64_t least = 0;
    if (node.kind == Kind::kRecord) {
      for (const Field& field : node.fields) least = std::min<uint64_t>(least + least_bytes(*field.type), UINT32_MAX);
    } else {
      least = UINT32_MAX;
      for (const NodePtr& branch : node.branches) least = std::min(least, least_bytes(*branch) + 1);
    }
    least_bytes_[&node] = least;
    return least;
  }

  Program::Code& code_;
  std::string constants_;
  std::vector<size_t> reader_path_;
  std::unordered_map<const Node*, uint64_t> least_bytes_;
};

}  // namespace

Program::Program() = default;
Program::~Program() = default;

std::shared_ptr<const Program> Program::compile(const NodePtr& writer, const NodePtr& reader) {
  std::shared_ptr<Program> program(new Program());
  program->code_ = std::make_unique<Code>();
  Compiler(*program->code_).compile(writer, reader);
  return program;
}

bool can_read(const NodePtr& writer, const NodePtr& reader) {
  try {
    Program::compile(writer, reader);
    return true;
  } catch (const Error&) {
    return false;
  }
}

const NodePtr& Program::writer() const {
  return code_->writer;
}

const SchemaPtr& Program::arrow_schema() const {
  return code_->schema;
}

const Node* Program::raw_type(std::span<const size_t> path) const {
  for (const auto& [known, type] : code_->raw_types) {
    if (std::equal(known.begin(), known.end(), path.begin(), path.end())) return type.get();
  }
  return nullptr;
}

}  // namespace frazil::avro
