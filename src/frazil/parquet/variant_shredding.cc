#include "frazil/parquet/variant_shredding.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/base/int128.h"
#include "frazil/parquet/variant.h"

namespace frazil::parquet {

namespace {

constexpr size_t kBytesMax = std::numeric_limits<int32_t>::max();  // of a binary array
constexpr uint32_t kNoId = UINT32_MAX;

// What an Arrow type is as a variant; nothing if variants have no such type.
std::optional<VariantType> primitive_of(const Field& field) {
  const DataType& type = *field.type;
  switch (type.id()) {
    case TypeId::kNull:
      return VariantType::kNull;
    case TypeId::kBool:
      return VariantType::kBool;
    case TypeId::kInt8:
      return VariantType::kInt8;
    case TypeId::kInt16:
      return VariantType::kInt16;
    case TypeId::kInt32:
      return VariantType::kInt32;
    case TypeId::kInt64:
      return VariantType::kInt64;
    case TypeId::kFloat:
      return VariantType::kFloat;
    case TypeId::kDouble:
      return VariantType::kDouble;
    case TypeId::kDecimal128:
      if (type.scale() < 0) return std::nullopt;
      return type.precision() <= 9    ? VariantType::kDecimal4
             : type.precision() <= 18 ? VariantType::kDecimal8
                                      : VariantType::kDecimal16;
    case TypeId::kDate32:
      return VariantType::kDate;
    case TypeId::kTime64:
      if (type.unit() != TimeUnit::kMicro) return std::nullopt;
      return VariantType::kTimeNtz;
    case TypeId::kTimestamp:
      if (type.unit() == TimeUnit::kMicro) {
        return type.timezone().empty() ? VariantType::kTimestampNtz : VariantType::kTimestamp;
      }
      if (type.unit() == TimeUnit::kNano) {
        return type.timezone().empty() ? VariantType::kTimestampNtzNanos : VariantType::kTimestampNanos;
      }
      return std::nullopt;
    case TypeId::kUtf8:
    case TypeId::kLargeUtf8:
    case TypeId::kUtf8View:
      return VariantType::kString;
    case TypeId::kBinary:
    case TypeId::kLargeBinary:
    case TypeId::kBinaryView:
      return VariantType::kBinary;
    case TypeId::kFixedSizeBinary:
      if (type.fixed_size() != 16 || field.extension_name() != "arrow.uuid") return std::nullopt;
      return VariantType::kUuid;
    default:
      return std::nullopt;
  }
}

// The numbers of primitive types that have data of a fixed size.
uint8_t primitive_number(VariantType type) {
  switch (type) {
    case VariantType::kInt8:
      return 3;
    case VariantType::kInt16:
      return 4;
    case VariantType::kInt32:
      return 5;
    case VariantType::kInt64:
      return 6;
    case VariantType::kDouble:
      return 7;
    case VariantType::kDecimal4:
      return 8;
    case VariantType::kDecimal8:
      return 9;
    case VariantType::kDecimal16:
      return 10;
    case VariantType::kDate:
      return 11;
    case VariantType::kTimestamp:
      return 12;
    case VariantType::kTimestampNtz:
      return 13;
    case VariantType::kFloat:
      return 14;
    case VariantType::kTimeNtz:
      return 17;
    case VariantType::kTimestampNanos:
      return 18;
    case VariantType::kTimestampNtzNanos:
      return 19;
    default:
      return 20;  // kUuid
  }
}

// Bytes of the pool that grow at their end.
class PoolBytes {
 public:
  explicit PoolBytes(MemoryPool& pool) : pool_(pool) {}

  size_t size() const { return size_; }
  std::byte* at(size_t index) { return block_.data() + index; }
  // `count` more, contents undefined.
  std::byte* extend(size_t count) {
    if (count > kBytesMax - size_) {
      throw_error(ErrorKind::kUnsupported, "variants of a batch take more than {} bytes", kBytesMax);
    }
    const size_t needed = size_ + count;
    if (needed > block_.capacity()) {
      MutableBuffer larger = pool_.allocate(std::max({needed, 2 * block_.capacity(), size_t{256}}));
      larger.set_size(larger.capacity());
      if (size_ != 0) std::memcpy(larger.data(), block_.data(), size_);
      block_ = std::move(larger);
    }
    return block_.data() + std::exchange(size_, needed);
  }
  void append(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
  }
  void append(uint8_t byte) { *extend(1) = static_cast<std::byte>(byte); }
  void truncate(size_t size) { size_ = size; }
  Buffer freeze() {
    if (size_ == 0) return {};
    block_.set_size(size_);
    return std::move(block_).freeze();
  }

 private:
  MemoryPool& pool_;
  MutableBuffer block_;
  size_t size_ = 0;
};

uint32_t bytes_of(uint64_t value) {
  return value < 0x100 ? 1 : value < 0x10000 ? 2 : value < 0x1000000 ? 3 : 4;
}

// An array or object being written. Room is made for ids and offsets of 4 bytes, which are then packed in place to what
// they need, values moving down behind them: nothing has to be kept beside the bytes, and each is moved once a level.
class ContainerWriter {
 public:
  ContainerWriter(PoolBytes& bytes, uint32_t count, bool is_object)
      : bytes_(bytes), start_(bytes.size()), count_(count), is_object_(is_object), ids_at_(1 + (count > 255 ? 4 : 1)) {
    offsets_at_ = ids_at_ + (is_object ? size_t{count} * 4 : 0);
    bytes_.extend(offsets_at_ + (size_t{count} + 1) * 4);
    values_at_ = bytes_.size() - start_;
  }

  // Before the value of each element is appended.
  void begin(uint32_t id = 0) {
    if (is_object_) store(at(ids_at_ + size_t{index_} * 4), id);
    store_offset();
    id_max_ = std::max(id_max_, id);
    ++index_;
  }

  void end() {
    store_offset();
    const size_t values_size = bytes_.size() - start_ - values_at_;
    const uint32_t offset_size = bytes_of(values_size);
    const uint32_t id_size = bytes_of(id_max_);
    const bool is_large = count_ > 255;
    const uint32_t upper = is_object_ ? (is_large ? 16U : 0U) | ((id_size - 1) << 2) | (offset_size - 1)
                                      : (is_large ? 4U : 0U) | (offset_size - 1);
    store(at(0), static_cast<uint8_t>((upper << 2) | (is_object_ ? 2U : 3U)));
    if (is_large) {
      store(at(1), count_);
    } else {
      store(at(1), static_cast<uint8_t>(count_));
    }
    size_t packed = ids_at_;
    if (is_object_) packed = pack(ids_at_, count_, id_size, packed);
    packed = pack(offsets_at_, count_ + size_t{1}, offset_size, packed);
    if (values_size != 0) std::memmove(at(packed), at(values_at_), values_size);
    bytes_.truncate(start_ + packed + values_size);
  }

 private:
  std::byte* at(size_t index) { return bytes_.at(start_ + index); }
  void store_offset() {
    store(at(offsets_at_ + size_t{index_} * 4), static_cast<uint32_t>(bytes_.size() - start_ - values_at_));
  }
  // `count` integers from 4 bytes at `from` to `size` bytes at `to` <= from, ascending. Where they end.
  size_t pack(size_t from, size_t count, uint32_t size, size_t to) {
    for (size_t i = 0; i < count; ++i, to += size) {
      const auto value = load<uint32_t>(at(from + i * 4));
      std::memcpy(at(to), &value, size);
    }
    return to;
  }

  PoolBytes& bytes_;
  const size_t start_;
  const uint32_t count_;
  const bool is_object_;
  const size_t ids_at_;
  size_t offsets_at_ = 0;
  size_t values_at_ = 0;
  uint32_t index_ = 0;
  uint32_t id_max_ = 0;
};

}  // namespace

struct VariantAssembler::Node {
  enum class Kind : uint8_t { kUntyped, kPrimitive, kArray, kObject };
  Kind kind = Kind::kUntyped;
  VariantType primitive = VariantType::kNull;  // kPrimitive
  std::optional<size_t> metadata;              // children of the struct
  std::optional<size_t> value;
  std::optional<size_t> typed;
  std::vector<Node> children;  // kArray: the element; kObject: fields in the order of their names
  // Of a field: its place in the typed_value, its name, and that in names.
  size_t place = 0;
  std::string name;
  size_t name_index = 0;
  std::vector<std::string> names;  // the root: of all fields at any depth, in order, each once

  static Node compile(const DataType& type, std::string_view what);
  void compile_typed(const Field& field);
  void collect_names(std::vector<std::string>& out) const;
  void number_names(const std::vector<std::string>& all);
};

// Depth is bounded by kMaxTypeDepth.
VariantAssembler::Node VariantAssembler::Node::compile(const DataType& type, std::string_view what) {
  const auto wrong = [&](std::string_view why) {
    throw_corrupt(CorruptError::kNoOffset, "shredded variant: {} is {}, {}", what, type.to_string(), why);
  };
  if (type.id() != TypeId::kStruct) wrong("no group");
  Node node;
  for (size_t i = 0; i < type.children().size(); ++i) {
    const Field& field = type.children()[i];
    std::optional<size_t>* place = field.name == "value"         ? &node.value
                                   : field.name == "typed_value" ? &node.typed
                                   : field.name == "metadata"    ? &node.metadata
                                                                 : nullptr;
    if (place == nullptr) continue;
    if (place->has_value()) wrong("which has a field twice");
    *place = i;
    if (place != &node.typed && field.type->id() != TypeId::kBinary) wrong("whose metadata or value is not binary");
  }
  if (!node.value && !node.typed) wrong("without value and typed_value");
  if (node.typed) node.compile_typed(type.children()[*node.typed]);
  return node;
}

void VariantAssembler::Node::compile_typed(const Field& field) {
  const DataType& type = *field.type;
  if (type.id() == TypeId::kList || type.id() == TypeId::kLargeList) {
    kind = Kind::kArray;
    children.push_back(compile(*type.children()[0].type, "an element"));
    return;
  }
  if (type.id() == TypeId::kStruct) {
    kind = Kind::kObject;
    for (size_t i = 0; i < type.children().size(); ++i) {
      const Field& child = type.children()[i];
      children.push_back(compile(*child.type, child.name));
      children.back().place = i;
      children.back().name = child.name;
    }
    std::sort(children.begin(), children.end(), [](const Node& a, const Node& b) { return a.name < b.name; });
    const auto twice = std::adjacent_find(children.begin(), children.end(),
                                          [](const Node& a, const Node& b) { return a.name == b.name; });
    if (twice != children.end()) {
      throw_corrupt(CorruptError::kNoOffset, "shredded variant: two fields are named '{}'", twice->name);
    }
    return;
  }
  const std::optional<VariantType> known = primitive_of(field);
  if (!known) {
    throw_error(ErrorKind::kUnsupported, "shredded variant: variants have no type {}", type.to_string());
  }
  kind = Kind::kPrimitive;
  primitive = *known;
}

void VariantAssembler::Node::collect_names(std::vector<std::string>& out) const {
  for (const Node& child : children) {
    if (kind == Kind::kObject) out.push_back(child.name);
    child.collect_names(out);
  }
}

void VariantAssembler::Node::number_names(const std::vector<std::string>& all) {
  for (Node& child : children) {
    if (kind == Kind::kObject) {
      const auto found = std::lower_bound(all.begin(), all.end(), child.name);
      child.name_index = static_cast<size_t>(found - all.begin());
    }
    child.number_names(all);
  }
}

// Writes the values of a batch one behind the other.
class VariantAssembler::Writer {
 public:
  Writer(const Node& root, MemoryPool& pool) : root_(root), bytes_(pool), ids_(root.names.size(), kNoId) {}

  PoolBytes& bytes() { return bytes_; }

  void write_row(const Array& stored, int64_t index, std::string_view metadata) {
    // Rows mostly share their names.
    if (!metadata_ || metadata != metadata_bytes_) {
      metadata_.emplace(metadata);
      metadata_bytes_ = metadata;
      ids_are_known_ = false;
    }
    write(root_, stored, index);
  }

 private:
  // The two columns of one variant at one index.
  struct Parts {
    const Array* value = nullptr;  // nullptr: null
    const Array* typed = nullptr;
    int64_t at = 0;
    bool is_missing() const { return value == nullptr && typed == nullptr; }
  };

  static Parts parts_of(const Node& node, const Array& group, int64_t index) {
    Parts parts{.at = group.offset + index};
    if (group.is_null(index)) return parts;
    if (node.value) parts.value = group.children[*node.value].get();
    if (node.typed) parts.typed = group.children[*node.typed].get();
    if (parts.value != nullptr && parts.value->is_null(parts.at)) parts.value = nullptr;
    if (parts.typed != nullptr && parts.typed->is_null(parts.at)) parts.typed = nullptr;
    return parts;
  }

  void write(const Node& node, const Array& group, int64_t index) {
    const Parts parts = parts_of(node, group, index);
    if (parts.typed == nullptr) {
      if (parts.value == nullptr) return bytes_.append(uint8_t{0});
      return bytes_.append(Variant(*metadata_, parts.value->bytes_value(parts.at)).bytes());
    }
    if (node.kind == Node::Kind::kObject) {
      std::optional<Variant> rest;
      if (parts.value != nullptr) rest.emplace(*metadata_, parts.value->bytes_value(parts.at));
      if (rest && rest->type() != VariantType::kObject) {
        throw_corrupt(CorruptError::kNoOffset, "shredded variant: value is {} where typed_value is an object",
                      to_string(rest->type()));
      }
      return write_object(node, *parts.typed, parts.at, rest ? &*rest : nullptr);
    }
    if (parts.value != nullptr) {
      throw_corrupt(CorruptError::kNoOffset, "shredded variant: value and typed_value are both present");
    }
    if (node.kind == Node::Kind::kArray) {
      write_array(node.children.front(), *parts.typed, parts.at);
    } else {
      write_primitive(node.primitive, *parts.typed, parts.at);
    }
  }

  void write_array(const Node& element, const Array& list, int64_t index) {
    const auto [first, count] = list.list_range(index);
    if (count > static_cast<int64_t>(kBytesMax)) {
      throw_error(ErrorKind::kUnsupported, "a variant of {} elements", count);
    }
    ContainerWriter writer(bytes_, static_cast<uint32_t>(count), false);
    for (int64_t i = 0; i < count; ++i) {
      writer.begin();
      write(element, *list.children[0], first + i);
    }
    writer.end();
  }

  // Calls shredded(field) and other(index of `rest`) for the fields that the object has, in the order of names.
  template <typename Shredded, typename Other>
  void merge(const Node& node, const Array& object, int64_t index, const Variant* rest, const Shredded& shredded,
             const Other& other) {
    const uint32_t rest_count = rest != nullptr ? rest->element_count() : 0;
    std::string_view name;  // of rest, at `next`
    uint32_t next = 0;
    const auto read_name = [&] {
      if (next == rest_count) return;
      const std::string_view before = name;
      name = rest->field_name(next);
      if (next > 0 && name <= before) {
        throw_corrupt(CorruptError::kNoOffset, "variant: fields '{}' and '{}' are not in order", before, name);
      }
    };
    read_name();
    for (const Node& field : node.children) {
      for (; next < rest_count && name < field.name; read_name()) other(next++);
      if (!parts_of(field, *object.children[field.place], object.offset + index).is_missing()) shredded(field);
      // The specification forbids a field in both, and wants its columns to be believed where it is.
      if (next < rest_count && name == field.name) {
        ++next;
        read_name();
      }
    }
    for (; next < rest_count; read_name()) other(next++);
  }

  void write_object(const Node& node, const Array& object, int64_t index, const Variant* rest) {
    uint64_t count = 0;
    merge(node, object, index, rest, [&](const Node&) { ++count; }, [&](uint32_t) { ++count; });
    if (count > kBytesMax) throw_error(ErrorKind::kUnsupported, "a variant of {} fields", count);
    ContainerWriter writer(bytes_, static_cast<uint32_t>(count), true);
    size_t rest_left = rest != nullptr ? rest->bytes().size() : 0;  // else few bytes could stand for many
    merge(
        node, object, index, rest,
        [&](const Node& field) {
          writer.begin(id_of(field));
          write(field, *object.children[field.place], object.offset + index);
        },
        [&](uint32_t i) {
          const std::string_view element = rest->element(i).bytes();
          if (element.size() > rest_left) throw_corrupt(CorruptError::kNoOffset, "variant: elements overlap");
          rest_left -= element.size();
          writer.begin(rest->field_id(i));
          bytes_.append(element);
        });
    writer.end();
  }

  uint32_t id_of(const Node& field) {
    if (!ids_are_known_) {
      std::fill(ids_.begin(), ids_.end(), kNoId);
      for (uint32_t id = 0; id < metadata_->name_count(); ++id) {
        const std::string_view name = metadata_->name(id);
        const auto found = std::lower_bound(root_.names.begin(), root_.names.end(), name);
        if (found == root_.names.end() || *found != name) continue;
        uint32_t& known = ids_[static_cast<size_t>(found - root_.names.begin())];
        known = std::min(known, id);
      }
      ids_are_known_ = true;
    }
    const uint32_t id = ids_[field.name_index];
    if (id == kNoId) {
      throw_corrupt(CorruptError::kNoOffset, "shredded variant: field '{}' is not in its metadata", field.name);
    }
    return id;
  }

  void append_primitive(VariantType type, const void* data, size_t size) {
    std::byte* out = bytes_.extend(1 + size);
    *out = static_cast<std::byte>(primitive_number(type) << 2);
    std::memcpy(out + 1, data, size);
  }

  template <typename T>
  void append_fixed(VariantType type, const Array& array, int64_t index) {
    append_primitive(type, array.values<T>() + index, sizeof(T));
  }

  void write_primitive(VariantType type, const Array& array, int64_t index) {
    switch (type) {
      case VariantType::kNull:
        return bytes_.append(uint8_t{0});
      case VariantType::kBool:
        return bytes_.append(static_cast<uint8_t>(array.bool_value(index) ? 1 << 2 : 2 << 2));
      case VariantType::kInt8:
        return append_fixed<int8_t>(type, array, index);
      case VariantType::kInt16:
        return append_fixed<int16_t>(type, array, index);
      case VariantType::kInt32:
      case VariantType::kDate:
      case VariantType::kFloat:
        return append_fixed<int32_t>(type, array, index);
      case VariantType::kDecimal4:
      case VariantType::kDecimal8:
      case VariantType::kDecimal16:
        return write_decimal(type, load<Int128>(array.buffers[1].data() + (array.offset + index) * 16),
                             array.type->scale());
      case VariantType::kString:
      case VariantType::kBinary:
        return write_bytes(type, array.bytes_value(index));
      case VariantType::kUuid: {
        const std::string_view uuid = array.bytes_value(index);
        return append_primitive(type, uuid.data(), uuid.size());
      }
      default:
        return append_fixed<int64_t>(type, array, index);
    }
  }

  // In the width of the column's precision; wider where a value has more digits than its type.
  void write_decimal(VariantType type, Int128 unscaled, int32_t scale) {
    const auto fits = [&](int bits) { return bit_width(magnitude(unscaled)) < bits; };
    if (type == VariantType::kDecimal4 && !fits(32)) type = VariantType::kDecimal8;
    if (type == VariantType::kDecimal8 && !fits(64)) type = VariantType::kDecimal16;
    const size_t width = type == VariantType::kDecimal4 ? 4 : type == VariantType::kDecimal8 ? 8 : 16;
    std::byte data[17];
    data[0] = static_cast<std::byte>(scale);
    std::memcpy(data + 1, &unscaled, width);
    append_primitive(type, data, 1 + width);
  }

  void write_bytes(VariantType type, std::string_view bytes) {
    constexpr size_t kShortMax = 63;
    if (type == VariantType::kString && bytes.size() <= kShortMax) {
      bytes_.append(static_cast<uint8_t>((bytes.size() << 2) | 1));
    } else {
      std::byte* out = bytes_.extend(5);
      *out = static_cast<std::byte>((type == VariantType::kString ? 16 : 15) << 2);
      store(out + 1, static_cast<uint32_t>(bytes.size()));
    }
    bytes_.append(bytes);
  }

  const Node& root_;
  PoolBytes bytes_;
  std::string_view metadata_bytes_;
  std::optional<VariantMetadata> metadata_;
  std::vector<uint32_t> ids_;  // of root_.names in metadata_
  bool ids_are_known_ = false;
};

VariantAssembler::VariantAssembler(const DataType& stored) {
  auto root = std::make_unique<Node>(Node::compile(stored, "a variant"));
  if (!root->metadata) {
    throw_corrupt(CorruptError::kNoOffset, "variant: {} is a group without metadata", stored.to_string());
  }
  root->collect_names(root->names);
  std::sort(root->names.begin(), root->names.end());
  root->names.erase(std::unique(root->names.begin(), root->names.end()), root->names.end());
  std::vector<std::string> names = root->names;
  root->number_names(names);
  root_ = std::move(root);
}

VariantAssembler::~VariantAssembler() = default;
VariantAssembler::VariantAssembler(VariantAssembler&&) noexcept = default;
VariantAssembler& VariantAssembler::operator=(VariantAssembler&&) noexcept = default;

const DataTypePtr& VariantAssembler::type() {
  static const DataTypePtr type = struct_({{.name = "metadata", .type = primitive(TypeId::kBinary), .nullable = false},
                                           {.name = "value", .type = primitive(TypeId::kBinary), .nullable = false}});
  return type;
}

ArrayPtr VariantAssembler::assemble(const Array& stored, MemoryPool& pool) const {
  const ArrayPtr& metadata = stored.children[*root_->metadata];
  const ArrayPtr stored_value = root_->value ? stored.children[*root_->value] : nullptr;
  const auto corrupt_row = [&](int64_t row, std::string_view what) {
    throw_corrupt(CorruptError::kNoOffset, "variant: row {} of the batch {}", row, what);
  };
  bool is_whole = root_->kind == Node::Kind::kUntyped;
  for (int64_t i = 0; i < stored.length; ++i) {
    if (stored.is_null(i)) continue;
    const int64_t at = stored.offset + i;
    if (metadata->is_null(at)) corrupt_row(i, "has no metadata");
    if (is_whole && stored_value->is_null(at)) is_whole = false;
  }
  auto result = std::make_shared<Array>();
  result->type = type();
  result->length = stored.length;
  result->offset = stored.offset;
  result->null_count = stored.null_count;
  result->buffers[0] = stored.buffers[0];
  result->children = {metadata, stored_value};
  if (is_whole) return result;

  // One value for each place of the children that the struct's offset passes over, too.
  const int64_t count = stored.offset + stored.length;
  MutableBuffer offsets = pool.allocate((static_cast<size_t>(count) + 1) * sizeof(int32_t));
  auto* ends = offsets.as<int32_t>();
  std::fill_n(ends, stored.offset + 1, 0);
  Writer writer(*root_, pool);
  for (int64_t i = 0; i < stored.length; ++i) {
    if (stored.is_valid(i)) {
      try {
        writer.write_row(stored, i, metadata->bytes_value(stored.offset + i));
      } catch (Error& error) {
        error.add_context(message("row {} of the batch", i));
        throw;
      }
    }
    ends[stored.offset + i + 1] = static_cast<int32_t>(writer.bytes().size());
  }
  auto values = std::make_shared<Array>();
  values->type = primitive(TypeId::kBinary);
  values->length = count;
  values->null_count = 0;
  values->buffers[1] = std::move(offsets).freeze();
  values->buffers[2] = writer.bytes().freeze();
  result->children[1] = std::move(values);
  return result;
}

// ---- Columns ----

struct VariantColumn::Node {
  std::optional<VariantAssembler> variant;
  DataTypePtr type;                             // that comes out
  std::vector<std::unique_ptr<Node>> children;  // of the Arrow type; nullptr: as it is
};

namespace {

size_t leaf_count(const ColumnRequest& request) {
  if (request.kind == ColumnRequest::Kind::kLeaf) return 1;
  size_t count = 0;
  for (const ColumnRequest& child : request.children) count += leaf_count(child);
  return count;
}

ArrayPtr with_children(const Array& stored, const DataTypePtr& type, std::vector<ArrayPtr> children) {
  auto array = std::make_shared<Array>(stored);
  array->type = type;
  array->children = std::move(children);
  return array;
}

}  // namespace

// `field`: of `request` as it is stored; becomes what comes out.
std::unique_ptr<VariantColumn::Node> VariantColumn::compile(const FileSchema& schema, const ColumnRequest& request,
                                                            Field& field) {
  if (request.kind == ColumnRequest::Kind::kLeaf) return nullptr;
  if (request.node >= schema.nodes().size()) return nullptr;  // the reader refuses it
  const SchemaNode& group = schema.node(request.node);
  auto node = std::make_unique<Node>();
  if (request.kind == ColumnRequest::Kind::kStruct && group.logical.kind == LogicalType::Kind::kVariant &&
      leaf_count(request) == group.leaf_count) {
    try {
      node->variant.emplace(*field.type);
    } catch (Error& error) {
      error.add_context(message("column '{}'", schema.path(request.node)));
      throw;
    }
    node->type = VariantAssembler::type();
    field.type = node->type;
    field.metadata.emplace_back("ARROW:extension:name", "arrow.parquet.variant");
    return node;
  }
  const bool is_map = request.kind == ColumnRequest::Kind::kMap;
  std::vector<Field> fields = is_map ? field.type->children()[0].type->children() : field.type->children();
  bool any = false;
  for (size_t i = 0; i < fields.size(); ++i) {
    node->children.push_back(compile(schema, request.children[i], fields[i]));
    any = any || node->children.back() != nullptr;
  }
  if (!any) return nullptr;
  switch (request.kind) {
    case ColumnRequest::Kind::kList:
      field.type = list(std::move(fields[0]), field.type->id());
      break;
    case ColumnRequest::Kind::kMap:
      field.type = map(std::move(fields[0]), std::move(fields[1]));
      break;
    default:
      field.type = struct_(std::move(fields));
  }
  node->type = field.type;
  return node;
}

VariantColumn::VariantColumn(const FileSchema& schema, const ColumnRequest& request) : field_(arrow_field(request)) {
  root_ = compile(schema, request, field_);
  has_variants_ = root_ != nullptr;
}

VariantColumn::~VariantColumn() = default;
VariantColumn::VariantColumn(VariantColumn&&) noexcept = default;
VariantColumn& VariantColumn::operator=(VariantColumn&&) noexcept = default;

ArrayPtr VariantColumn::assemble_node(const Node* node, const ArrayPtr& stored, MemoryPool& pool) {
  if (node == nullptr) return stored;
  if (node->variant) return node->variant->assemble(*stored, pool);
  if (stored->type->id() == TypeId::kMap) {
    const Array& entries = *stored->children[0];
    std::vector<ArrayPtr> fields;
    for (size_t i = 0; i < entries.children.size(); ++i) {
      fields.push_back(assemble_node(node->children[i].get(), entries.children[i], pool));
    }
    return with_children(*stored, node->type,
                         {with_children(entries, node->type->children()[0].type, std::move(fields))});
  }
  std::vector<ArrayPtr> children;
  for (size_t i = 0; i < stored->children.size(); ++i) {
    children.push_back(assemble_node(node->children[i].get(), stored->children[i], pool));
  }
  return with_children(*stored, node->type, std::move(children));
}

ArrayPtr VariantColumn::assemble(const ArrayPtr& stored, MemoryPool& pool) const {
  try {
    return assemble_node(root_.get(), stored, pool);
  } catch (Error& error) {
    error.add_context(message("column '{}'", field_.name));
    throw;
  }
}

}  // namespace frazil::parquet
