#include "frazil/ipc/read_schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/ipc/schema_cache.h"

namespace frazil::ipc {
namespace {

ByteOrder order_of_width(uint32_t width) {
  switch (width) {
    case 2:
      return ByteOrder::k2;
    case 4:
      return ByteOrder::k4;
    case 8:
      return ByteOrder::k8;
    case 16:
      return ByteOrder::k16;
    case 32:
      return ByteOrder::k32;
    default:
      return ByteOrder::kNone;
  }
}

ByteOrder order_of(TypeId id, uint32_t width) {
  switch (id) {
    case TypeId::kFixedSizeBinary:
      return ByteOrder::kNone;
    case TypeId::kIntervalDayTime:
      return ByteOrder::k4;
    case TypeId::kIntervalMonthDayNano:
      return ByteOrder::kMonthDayNano;
    default:
      return order_of_width(width);
  }
}

// What one array takes of a batch, as far as its type's own parameters decide.
struct Part {
  PlannedNode node;
  PlannedColumn takes{.node_count = 1};
};

Part part_of(const DataType& type) {
  Part part;
  PlannedNode& node = part.node;
  PlannedColumn& takes = part.takes;
  node.layout = layout_of(type.id());
  node.alignment = static_cast<uint8_t>(values_alignment(type));
  switch (node.layout) {
    case Layout::kNull:
      break;
    case Layout::kRunEnd:
      takes.version4_count = 1;
      break;
    case Layout::kFixedSizeList:
    case Layout::kStruct:
      takes.buffer_count = 1;
      break;
    case Layout::kBool:
      takes.buffer_count = 2;
      break;
    case Layout::kFixedWidth:
    case Layout::kDictionary:
      node.width = static_cast<uint32_t>(type.byte_width());
      node.order = order_of(type.id(), node.width);
      takes.buffer_count = 2;
      break;
    case Layout::kBytes:
    case Layout::kListView:
      node.width = static_cast<uint32_t>(offset_width(type.id()));
      node.order = order_of_width(node.width);
      takes.buffer_count = 3;
      break;
    case Layout::kList:
      node.width = static_cast<uint32_t>(offset_width(type.id()));
      node.order = order_of_width(node.width);
      takes.buffer_count = 2;
      break;
    case Layout::kView:
      node.width = sizeof(BinaryView);
      node.order = ByteOrder::kView;
      takes.buffer_count = 2;
      takes.view_count = 1;
      break;
    case Layout::kSparseUnion:
      takes.buffer_count = 1;
      takes.version4_count = 1;
      break;
    case Layout::kDenseUnion:
      node.width = sizeof(int32_t);
      node.order = ByteOrder::k4;
      takes.buffer_count = 2;
      takes.version4_count = 1;
      break;
  }
  return part;
}

class Planner {
 public:
  Planner(ReadSchema& schema, const std::vector<int64_t>& ids) : schema_(schema), ids_(ids) {}

  void add_column(BatchPlan& plan, const DataTypePtr& type) {
    if (plan.level_sizes.empty()) plan.level_sizes.push_back(0);
    const Known& known = known_[static_cast<size_t>(type->id())];
    if (type.get() == known.type && known.is_leaf) {
      plan.nodes.push_back(known.part.node);
      plan.nodes.back().type = &type;
      plan.columns.push_back(known.part.takes);
      ++plan.level_sizes[0];
      return;
    }
    PlannedColumn column;
    add_node(plan, column, type, 0);
    plan.columns.push_back(column);
  }

 private:
  // The last type of each id.
  struct Known {
    const DataType* type = nullptr;
    bool is_leaf = false;  // its arrays have neither children nor a dictionary
    Part part;
  };

  void add_node(BatchPlan& plan, PlannedColumn& column, const DataTypePtr& type, uint8_t level) {
    // Types without parameters are one object, and a schema has few of others.
    Known& known = known_[static_cast<size_t>(type->id())];
    if (type.get() != known.type) {
      known = {type.get(), type->children().empty() && type->id() != TypeId::kDictionary, part_of(*type)};
    }
    PlannedNode& node = plan.nodes.emplace_back(known.part.node);
    node.type = &type;
    node.level = level;
    node.child_count = static_cast<uint32_t>(type->children().size());
    column.node_count += known.part.takes.node_count;
    column.buffer_count += known.part.takes.buffer_count;
    column.version4_count += known.part.takes.version4_count;
    column.view_count += known.part.takes.view_count;
    if (node.layout == Layout::kDictionary) node.dictionary = add_dictionary(type->value_type());
    if (plan.level_sizes.size() <= level) plan.level_sizes.resize(size_t{level} + 1);
    ++plan.level_sizes[level];
    for (const Field& child : type->children()) add_node(plan, column, child.type, static_cast<uint8_t>(level + 1));
  }

  uint32_t add_dictionary(const DataTypePtr& value_type) {
    const int64_t id = ids_.at(next_id_++);
    // Also where the id is known already: what is encoded inside of the values has ids too.
    BatchPlan plan;
    add_column(plan, value_type);
    const auto number = static_cast<uint32_t>(schema_.dictionaries.size());
    const auto [known, is_new] = schema_.dictionary_numbers.try_emplace(id, number);
    if (is_new) {
      schema_.dictionaries.push_back({id, &value_type, std::move(plan)});
      return number;
    }
    const DataType& other = **schema_.dictionaries[known->second].value_type;
    if (!other.equals(*value_type)) {
      throw_corrupt(CorruptError::kNoOffset, "dictionary {} has values of {} and of {}", id, other.to_string(),
                    value_type->to_string());
    }
    return known->second;
  }

  ReadSchema& schema_;
  const std::vector<int64_t>& ids_;
  size_t next_id_ = 0;
  std::array<Known, kTypeIdCount> known_;
};

void want(const ReadSchema& schema, const PlannedNode* first, size_t count, std::vector<bool>& wanted) {
  for (size_t i = 0; i < count; ++i) {
    if (first[i].layout != Layout::kDictionary || wanted[first[i].dictionary]) continue;
    wanted[first[i].dictionary] = true;
    const std::vector<PlannedNode>& nodes = schema.dictionaries[first[i].dictionary].plan.nodes;
    want(schema, nodes.data(), nodes.size(), wanted);
  }
}

size_t byte_size_of(const Metadata& metadata) {
  size_t size = 0;
  for (const auto& [key, value] : metadata) size += 2 * sizeof(std::string) + key.capacity() + value.capacity();
  return size;
}

size_t byte_size_of(const DataTypePtr& type);

size_t byte_size_of(const std::vector<Field>& fields) {
  size_t size = fields.capacity() * sizeof(Field);
  for (const Field& field : fields) {
    size += field.name.capacity() + byte_size_of(field.metadata) + byte_size_of(field.type);
  }
  return size;
}

size_t byte_size_of(const DataTypePtr& type) {
  // Types without parameters are there anyway.
  if (type.use_count() == 0) return 0;
  return sizeof(DataType) + type->timezone().capacity() + type->union_type_ids().capacity() +
         byte_size_of(type->children()) + byte_size_of(type->index_type()) + byte_size_of(type->value_type());
}

size_t byte_size_of(const BatchPlan& plan) {
  return plan.nodes.capacity() * sizeof(PlannedNode) + plan.columns.capacity() * sizeof(PlannedColumn) +
         plan.level_sizes.capacity() * sizeof(uint32_t);
}

}  // namespace

size_t byte_size_of(const ReadSchema& schema) {
  // A node of the map: its value, a link and a place in the table.
  constexpr size_t kNodeBytes = 64;
  size_t size = sizeof(ReadSchema) + sizeof(Schema) + byte_size_of(schema.schema->fields()) +
                byte_size_of(schema.schema->metadata()) + byte_size_of(schema.plan) +
                schema.dictionary_numbers.size() * kNodeBytes;
  for (const ReadSchema::Dictionary& dictionary : schema.dictionaries) {
    size += sizeof(dictionary) + byte_size_of(dictionary.plan);
  }
  return size;
}

std::shared_ptr<const ReadSchema> ReadSchema::make(const SchemaMessage& message) {
  auto result = std::make_shared<ReadSchema>();
  std::vector<int64_t> ids;
  result->schema = message.schema(&ids);
  result->is_big_endian = message.is_big_endian();
  result->plan.nodes.reserve(result->schema->field_count());
  result->plan.columns.reserve(result->schema->field_count());
  Planner planner(*result, ids);
  for (const Field& field : result->schema->fields()) planner.add_column(result->plan, field.type);
  return result;
}

std::shared_ptr<const ReadSchema> read_schema_of(const FlatTable& schema, SchemaCache* cache) {
  if (cache == nullptr) return ReadSchema::make(SchemaMessage(schema, schema.bytes().size()));
  // A footer's other tables differ from file to file.
  const FlatTable alone = schema.alone();
  std::shared_ptr<const ReadSchema> result = cache->find(alone.bytes());
  if (result != nullptr) return result;
  try {
    result = ReadSchema::make(SchemaMessage(alone, alone.bytes().size()));
  } catch (const Error&) {
    // Either it is broken, or reaches for bytes before itself, which the cache would not compare.
    return ReadSchema::make(SchemaMessage(schema, schema.bytes().size()));
  }
  cache->put(alone.bytes(), result);
  return result;
}

Projection::Projection(const ReadSchema& whole, const std::optional<std::vector<size_t>>& chosen)
    : schema(whole.schema), is_all(!chosen) {
  if (is_all) return;
  std::vector<Field> fields;
  for (const size_t index : *chosen) {
    if (index >= whole.schema->field_count()) {
      throw_error(ErrorKind::kInvalidArgument, "column {} of {} was asked for", index, whole.schema->field_count());
    }
    columns.push_back({static_cast<uint32_t>(index), static_cast<uint32_t>(fields.size()), 0});
    fields.push_back(whole.schema->field(index));
  }
  schema = Schema::make(std::move(fields), whole.schema->metadata());
  std::ranges::sort(columns, {}, &Column::source);
  const auto twice = std::ranges::adjacent_find(columns, {}, &Column::source);
  if (twice != columns.end()) {
    throw_error(ErrorKind::kInvalidArgument, "column {} was asked for twice", twice->source);
  }
  dictionaries.resize(whole.dictionaries.size());
  uint32_t node = 0;
  uint32_t source = 0;
  for (Column& column : columns) {
    for (; source < column.source; ++source) node += whole.plan.columns[source].node_count;
    column.first_node = node;
    const PlannedNode* first = whole.plan.nodes.data() + node;
    const size_t count = whole.plan.columns[source].node_count;
    for (size_t i = 0; i < count; ++i) {
      if (level_sizes.size() <= first[i].level) level_sizes.resize(size_t{first[i].level} + 1);
      ++level_sizes[first[i].level];
    }
    want(whole, first, count, dictionaries);
  }
}

}  // namespace frazil::ipc
