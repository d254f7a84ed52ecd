// frazil_ipc_integration --mode VALIDATE|ARROW_TO_JSON|JSON_TO_ARROW --json PATH --arrow PATH... [--integration]
//
// Arrow's integration tests (docs/format/Integration) call the program of an implementation so, also with --mode=...:
// hold IPC files or streams against the JSON that states what is in them, value by value with all metadata, or make one
// of the other. The JSON may be compressed by gzip. VALIDATE prints a line a file, "PATH: 3 batches, 37 rows as stated",
// and exits with 1 if one differs, with 2 if something cannot be read or written.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/codec/codec.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/layout.h"
#include "frazil/io/byte_sink.h"
#include "frazil/io/local_file_system.h"
#include "frazil/ipc/file_writer.h"
#include "frazil/ipc/reader.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/testing/integration_json.h"

namespace {

using namespace frazil;

constexpr uint64_t kMaxJsonBytes = uint64_t{256} << 20;

struct Arguments {
  std::string mode;
  std::string json;
  std::vector<std::string> arrow;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string name = words[i];
    std::string value;
    if (name == "--integration") continue;
    if (const size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    }
    if (name == "--mode") {
      arguments.mode = value;
    } else if (name == "--json") {
      arguments.json = value;
    } else if (name == "--arrow") {
      arguments.arrow.push_back(value);
    } else {
      throw_error(ErrorKind::kInvalidArgument, "'{}' is no option", name);
    }
  }
  return arguments;
}

testing::IntegrationData read_json(FileSystem& files, const std::string& path, MemoryPool& pool) {
  const Buffer bytes = read_file(files, path, pool, kMaxJsonBytes);
  if (!bytes.text().starts_with("\x1f\x8b")) return testing::read_integration_json(bytes.text(), pool);
  const MutableBuffer text = Decompressor(pool).decompress_unsized(Codec::kGzip, bytes.span(), kMaxJsonBytes);
  return testing::read_integration_json({reinterpret_cast<const char*>(text.data()), text.size()}, pool);
}

testing::IntegrationData read_arrow(FileSystem& files, const std::string& path, MemoryPool& pool) {
  const auto stream = ipc::open(files.open_input(path), pool, {.validation = ipc::Validation::kFull});
  testing::IntegrationData data{stream->schema(), {}};
  while (std::optional<RecordBatch> batch = stream->next()) data.batches.push_back(std::move(*batch));
  return data;
}

// Fields with what does not matter made the same: metadata have no order, and the names below a map no meaning (Arrow C++
// writes its own into streams).
Field normal(Field field);

DataTypePtr normal(const DataTypePtr& type) {
  std::vector<Field> children;
  for (const Field& child : type->children()) children.push_back(normal(child));
  switch (layout_of(type->id())) {
    case Layout::kList:
    case Layout::kListView:
      if (type->id() != TypeId::kMap) return list(std::move(children[0]), type->id());
      children = children[0].type->children();
      children[0].name = "key";
      children[1].name = "value";
      return map(std::move(children[0]), std::move(children[1]), type->ordered());
    case Layout::kFixedSizeList:
      return fixed_size_list(std::move(children[0]), type->fixed_size());
    case Layout::kStruct:
      return struct_(std::move(children));
    case Layout::kDenseUnion:
      return dense_union(std::move(children), type->union_type_ids());
    case Layout::kSparseUnion:
      return sparse_union(std::move(children), type->union_type_ids());
    case Layout::kRunEnd:
      return run_end_encoded(std::move(children[0]), std::move(children[1]));
    case Layout::kDictionary:
      return dictionary(type->index_type(), normal(type->value_type()), type->ordered());
    default:
      return type;
  }
}

Field normal(Field field) {
  field.type = normal(field.type);
  std::sort(field.metadata.begin(), field.metadata.end());
  return field;
}

Schema normal(const Schema& schema) {
  std::vector<Field> fields;
  for (const Field& field : schema.fields()) fields.push_back(normal(field));
  Metadata metadata = schema.metadata();
  std::sort(metadata.begin(), metadata.end());
  return Schema(std::move(fields), std::move(metadata));
}

// The values of an array under a type of the same normal form.
ArrayPtr with_type(const Array& array, const DataTypePtr& type) {
  auto result = std::make_shared<Array>(array);
  result->type = type;
  for (size_t i = 0; i < result->children.size(); ++i) {
    result->children[i] = with_type(*result->children[i], type->children()[i].type);
  }
  if (result->dictionary != nullptr) result->dictionary = with_type(*result->dictionary, type->value_type());
  return result;
}

std::string difference(const testing::IntegrationData& found, const testing::IntegrationData& stated) {
  if (!normal(*found.schema).equals(normal(*stated.schema), true)) {
    return "the schema is\n" + found.schema->to_string() + "and not\n" + stated.schema->to_string();
  }
  if (found.batches.size() != stated.batches.size()) {
    return std::to_string(found.batches.size()) + " batches, stated are " + std::to_string(stated.batches.size());
  }
  for (size_t i = 0; i < found.batches.size(); ++i) {
    for (size_t c = 0; c < found.schema->field_count(); ++c) {
      const ArrayPtr& wanted = stated.batches[i].column(c);
      const std::string text = frazil::difference(*with_type(*found.batches[i].column(c), wanted->type), *wanted);
      if (text.empty()) continue;
      return "batch " + std::to_string(i) + ", column '" + stated.schema->field(c).name + "' " + text;
    }
  }
  return {};
}

bool is_as_stated(FileSystem& files, const std::string& path, const testing::IntegrationData& stated,
                  MemoryPool& pool) {
  const testing::IntegrationData found = read_arrow(files, path, pool);
  const std::string text = difference(found, stated);
  int64_t rows = 0;
  for (const RecordBatch& batch : found.batches) rows += batch.row_count();
  std::cout << path << ": "
            << (text.empty()
                    ? std::to_string(found.batches.size()) + " batches, " + std::to_string(rows) + " rows as stated"
                    : text)
            << "\n";
  return text.empty();
}

int run(const Arguments& arguments) {
  MemoryPool pool;
  LocalFileSystem files;
  if (arguments.mode == "VALIDATE") {
    const testing::IntegrationData stated = read_json(files, arguments.json, pool);
    bool is_right = true;
    for (const std::string& path : arguments.arrow) is_right &= is_as_stated(files, path, stated, pool);
    return is_right ? 0 : 1;
  }
  if (arguments.arrow.size() != 1) throw_error(ErrorKind::kInvalidArgument, "one --arrow belongs here");
  const OutputFile::PublishOptions replace = {.if_exists = OutputFile::IfExists::kReplace};
  if (arguments.mode == "ARROW_TO_JSON") {
    const testing::IntegrationData data = read_arrow(files, arguments.arrow[0], pool);
    const std::string text = testing::write_integration_json(data.schema, data.batches, pool);
    write_file(files, arguments.json, std::as_bytes(std::span(text)), replace);
    return 0;
  }
  if (arguments.mode == "JSON_TO_ARROW") {
    const testing::IntegrationData data = read_json(files, arguments.json, pool);
    ipc::FileWriter writer(output_file_sink(files.open_output(arguments.arrow[0]), replace), data.schema, pool);
    for (const RecordBatch& batch : data.batches) writer.write(batch);
    writer.finish();
    return 0;
  }
  throw_error(ErrorKind::kInvalidArgument, "'{}' is no mode", arguments.mode);
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(parse({words + 1, words + count}));
  } catch (const Error& error) {
    std::cout << "error: " << error.what() << "\n";
    return 2;
  }
}
