// Arrays and batches over the C data interface.
#include <cstdint>
#include <limits>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/c_data.h"
#include "frazil/columnar/layout.h"

namespace frazil {

namespace {

template <typename... Args>
[[noreturn]] void fail(std::string_view format, const Args&... args) {
  throw_corrupt(CorruptError::kNoOffset, "Arrow C array: {}", message(format, args...));
}

// ---- Import ----

// A foreign structure, moved into our memory. All buffers that come from it share it; the last one releases it.
class ForeignArray final : public BufferOwner {
 public:
  // Moves `source` out. Requires that it is not released.
  explicit ForeignArray(ArrowArray* source) : array(*source) { source->release = nullptr; }
  ~ForeignArray() override { array.release(&array); }

  ArrowArray array;
};

// One reference to a ForeignArray.
class ForeignReference {
 public:
  explicit ForeignReference(ArrowArray* source) : owner_(new ForeignArray(source)) {}
  ForeignReference(ForeignReference&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
  ForeignReference& operator=(ForeignReference&&) = delete;
  ~ForeignReference() {
    if (owner_ != nullptr) owner_->release();
  }
  ForeignArray* operator->() const { return owner_; }
  ForeignArray* get() const { return owner_; }

 private:
  ForeignArray* owner_;
};

class ArrayReader {
 public:
  ArrayReader(ForeignArray* owner, MemoryPool& pool) : owner_(owner), pool_(pool) {}

  // Recursion follows the type, whose depth is bounded, and never the structure alone.
  std::shared_ptr<Array> read(const ArrowArray& source, const DataTypePtr& type) const {
    if (source.length < 0 || source.offset < 0) {
      fail("length or offset is negative: {}, {}", source.length, source.offset);
    }
    if (source.length >= std::numeric_limits<int64_t>::max() - source.offset) {
      fail("offset and length overflow: {} + {}", source.offset, source.length);
    }
    auto array = std::make_shared<Array>();
    array->type = type;
    array->length = source.length;
    // An empty array may have any pointers and offset, which then mean nothing.
    array->offset = source.length == 0 ? 0 : source.offset;
    array->null_count = source.null_count;
    if (type->id() == TypeId::kNull) array->null_count = source.length;
    if (is_union(type->id()) || type->id() == TypeId::kRunEndEncoded) array->null_count = 0;
    read_children(source, *array);
    require_buffers(source, *type);
    if (array->length != 0) read_buffers(source, *array);
    return array;
  }

 private:
  void read_children(const ArrowArray& source, Array& array) const {
    const auto& fields = array.type->children();
    if (source.n_children < 0 || static_cast<uint64_t>(source.n_children) != fields.size()) {
      fail("{} has {} children instead of {}", array.type->to_string(), source.n_children, fields.size());
    }
    if (!fields.empty() && source.children == nullptr) fail("children are null");
    for (size_t i = 0; i < fields.size(); ++i) {
      try {
        array.children.push_back(read_child(source.children[i], fields[i].type));
      } catch (Error& error) {
        error.add_context(message("importing field '{}'", fields[i].name));
        throw;
      }
    }
    if (array.type->id() == TypeId::kDictionary) {
      if (source.dictionary == nullptr) fail("dictionary is missing");
      array.dictionary = read_child(source.dictionary, array.type->value_type());
    } else if (source.dictionary != nullptr) {
      fail("{} has a dictionary", array.type->to_string());
    }
  }

  ArrayPtr read_child(const ArrowArray* child, const DataTypePtr& type) const {
    if (child == nullptr) fail("a child is null");
    if (child->release == nullptr) fail("a child is already released");
    return read(*child, type);
  }

  static void require_buffers(const ArrowArray& source, const DataType& type) {
    int64_t expected = 0;
    switch (layout_of(type.id())) {
      case Layout::kNull:
      case Layout::kRunEnd:
        break;
      case Layout::kFixedSizeList:
      case Layout::kStruct:
      case Layout::kSparseUnion:
        expected = 1;
        break;
      case Layout::kBool:
      case Layout::kFixedWidth:
      case Layout::kList:
      case Layout::kDenseUnion:
      case Layout::kDictionary:
        expected = 2;
        break;
      case Layout::kBytes:
      case Layout::kListView:
        expected = 3;
        break;
      case Layout::kView:  // validity, views, any number of data buffers, their sizes
        if (source.n_buffers < 3 || source.n_buffers > std::numeric_limits<int32_t>::max()) {
          fail("{} has {} buffers instead of 3 or more", type.to_string(), source.n_buffers);
        }
        expected = source.n_buffers;
        break;
    }
    if (source.n_buffers != expected) {
      fail("{} has {} buffers instead of {}", type.to_string(), source.n_buffers, expected);
    }
    if (expected > 0 && source.buffers == nullptr) fail("buffers are null");
  }

  // Requires length > 0.
  void read_buffers(const ArrowArray& source, Array& array) const {
    const DataType& type = *array.type;
    const int64_t end = array.offset + array.length;
    const size_t alignment = values_alignment(type);
    if (has_validity_buffer(type.id()) && source.buffers[0] != nullptr) {
      array.buffers[0] = buffer(source.buffers[0], static_cast<int64_t>(bytes_for_bits(static_cast<size_t>(end))), 1);
    }
    switch (layout_of(type.id())) {
      case Layout::kNull:
      case Layout::kRunEnd:
      case Layout::kFixedSizeList:
      case Layout::kStruct:
        return;
      case Layout::kBool:
        array.buffers[1] = buffer(source.buffers[1], static_cast<int64_t>(bytes_for_bits(static_cast<size_t>(end))), 1);
        return;
      case Layout::kFixedWidth:
      case Layout::kDictionary:
        array.buffers[1] = buffer(source.buffers[1], bytes(end, type.byte_width()), alignment);
        return;
      case Layout::kBytes: {
        const int width = offset_width(type.id());
        array.buffers[1] = buffer(source.buffers[1], bytes(end + 1, width), alignment);
        const int64_t size = offset_at(array.buffers[1], width, end);
        if (size < 0) fail("last offset is negative: {}", size);
        array.buffers[2] = buffer(source.buffers[2], size, 1);
        return;
      }
      case Layout::kView:
        array.buffers[1] = buffer(source.buffers[1], bytes(end, 16), alignment);
        return read_variadic(source, array);
      case Layout::kList:
        array.buffers[1] = buffer(source.buffers[1], bytes(end + 1, offset_width(type.id())), alignment);
        return;
      case Layout::kListView:
        array.buffers[1] = buffer(source.buffers[1], bytes(end, offset_width(type.id())), alignment);
        array.buffers[2] = buffer(source.buffers[2], bytes(end, offset_width(type.id())), alignment);
        return;
      case Layout::kDenseUnion:
        array.buffers[1] = buffer(source.buffers[1], bytes(end, 4), alignment);
        [[fallthrough]];
      case Layout::kSparseUnion:
        array.buffers[0] = buffer(source.buffers[0], end, 1);
        return;
    }
  }

  void read_variadic(const ArrowArray& source, Array& array) const {
    const int64_t count = source.n_buffers - 3;
    if (count == 0) return;
    const void* sizes = source.buffers[source.n_buffers - 1];
    if (sizes == nullptr) fail("sizes of the view buffers are null");
    for (int64_t i = 0; i < count; ++i) {
      auto size = load<int64_t>(static_cast<const std::byte*>(sizes) + i * 8);
      if (size < 0) fail("size of view buffer {} is negative: {}", i, size);
      array.variadic_buffers.push_back(buffer(source.buffers[2 + i], size, 1));
    }
  }

  static int64_t bytes(int64_t count, int width) {
    int64_t result;
    if (__builtin_mul_overflow(count, static_cast<int64_t>(width), &result)) {
      fail("size of a buffer overflows: {} * {}", count, width);
    }
    return result;
  }

  Buffer buffer(const void* data, int64_t size, size_t alignment) const {
    if (size == 0) return {};
    if (data == nullptr) fail("a buffer of {} bytes is null", size);
    const auto address = reinterpret_cast<uintptr_t>(data);
    if (static_cast<uint64_t>(size) > UINTPTR_MAX - address)
      fail("a buffer of {} bytes exceeds the address space", size);
    const auto* start = static_cast<const std::byte*>(data);
    if (address % alignment != 0) return pool_.copy({start, static_cast<size_t>(size)});
    owner_->retain();
    return Buffer::adopt(start, static_cast<size_t>(size), owner_);
  }

  ForeignArray* owner_;
  MemoryPool& pool_;
};

void require_live(const ArrowArray* array, const ImportOptions& options) {
  if (array == nullptr || array->release == nullptr) {
    throw_error(ErrorKind::kInvalidArgument, "Arrow C array is {}", array == nullptr ? "null" : "already released");
  }
  if (options.pool == nullptr) throw_error(ErrorKind::kInvalidArgument, "import of an Arrow C array needs a pool");
}

ArrayPtr import_owned(const ForeignReference& owner, const DataTypePtr& type, const ImportOptions& options) {
  ArrayPtr array = ArrayReader(owner.get(), *options.pool).read(owner->array, type);
  if (options.validate_full) {
    validate_full(*array);
  } else {
    validate(*array);
  }
  return array;
}

// A struct without validity bits needs nothing of its own, so its children may be moved out, each to be released on its
// own; then the parent must be released at once.
std::vector<ForeignReference> take_children(ForeignReference parent, size_t count) {
  std::vector<ForeignReference> children;
  const ArrowArray& array = parent->array;
  if (count != 0 && array.children == nullptr) fail("children are null");
  children.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    ArrowArray* child = array.children[i];
    if (child == nullptr || child->release == nullptr)
      fail("child {} is {}", i, child == nullptr ? "null" : "released");
    children.emplace_back(child);
  }
  return children;
}

// ---- Export ----

// What an exported array refers to.
struct ExportedArray {
  ArrayPtr array;
  std::vector<const void*> buffers;
  std::vector<int64_t> variadic_sizes;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
  ArrowArray dictionary{};

  ExportedArray() = default;
  ExportedArray(const ExportedArray&) = delete;
  ExportedArray& operator=(const ExportedArray&) = delete;
  // Children that the consumer moved out are marked released.
  ~ExportedArray() {
    for (ArrowArray& child : children) {
      if (child.release != nullptr) child.release(&child);
    }
    if (dictionary.release != nullptr) dictionary.release(&dictionary);
  }
};

void release_array(ArrowArray* array) {
  delete static_cast<ExportedArray*>(array->private_data);
  array->release = nullptr;
}

void collect_buffers(ExportedArray& exported) {
  const Array& array = *exported.array;
  const TypeId id = array.type->id();
  size_t own = 0;  // buffers besides validity, from buffers[1] on
  switch (layout_of(id)) {
    case Layout::kNull:
    case Layout::kRunEnd:
      return;
    case Layout::kFixedSizeList:
    case Layout::kStruct:
      break;
    case Layout::kSparseUnion:
    case Layout::kDenseUnion:
      exported.buffers.push_back(array.buffers[0].data());
      if (id == TypeId::kDenseUnion) exported.buffers.push_back(array.buffers[1].data());
      return;
    case Layout::kBool:
    case Layout::kFixedWidth:
    case Layout::kDictionary:
    case Layout::kList:
    case Layout::kView:
      own = 1;
      break;
    case Layout::kBytes:
    case Layout::kListView:
      own = 2;
      break;
  }
  exported.buffers.push_back(array.has_validity() ? array.buffers[0].data() : nullptr);
  for (size_t i = 1; i <= own; ++i) exported.buffers.push_back(array.buffers[i].data());
  if (!is_view(id)) return;
  for (const Buffer& buffer : array.variadic_buffers) {
    exported.buffers.push_back(buffer.data());
    exported.variadic_sizes.push_back(static_cast<int64_t>(buffer.size()));
  }
  // One more element, so that the pointer is valid without data buffers too.
  exported.variadic_sizes.push_back(0);
  exported.buffers.push_back(exported.variadic_sizes.data());
}

}  // namespace

ArrayPtr import_array(ArrowArray* array, const DataTypePtr& type, const ImportOptions& options) {
  require_live(array, options);
  ForeignReference owner(array);
  return import_owned(owner, type, options);
}

RecordBatch import_record_batch(ArrowArray* array, const SchemaPtr& schema, const ImportOptions& options) {
  require_live(array, options);
  ForeignReference owner(array);
  const ArrowArray& source = owner->array;
  const bool has_validity = source.n_buffers == 1 && source.buffers != nullptr && source.buffers[0] != nullptr;
  if (has_validity && source.null_count != 0) {
    return to_record_batch(*import_owned(owner, struct_(schema->fields()), options), schema);
  }
  // The checks of a struct, without its children.
  if (source.length < 0 || source.offset < 0 || source.length >= std::numeric_limits<int64_t>::max() - source.offset) {
    fail("length or offset of a record batch is out of range: {}, {}", source.length, source.offset);
  }
  if (source.n_buffers != 1) fail("a record batch has {} buffers instead of 1", source.n_buffers);
  if (source.null_count > 0) fail("{} nulls without a validity buffer", source.null_count);
  if (source.dictionary != nullptr) fail("a record batch has a dictionary");
  if (source.n_children < 0 || static_cast<uint64_t>(source.n_children) != schema->field_count()) {
    fail("a record batch has {} columns, its schema {}", source.n_children, schema->field_count());
  }
  if (schema->field_count() == 0 && source.length > kMaxImplicitLength) {
    fail("{} rows without a column are more than {}", source.length, kMaxImplicitLength);
  }
  const int64_t offset = source.length == 0 ? 0 : source.offset;
  const int64_t length = source.length;
  std::vector<ForeignReference> children = take_children(std::move(owner), schema->field_count());
  std::vector<ArrayPtr> columns;
  for (size_t i = 0; i < children.size(); ++i) {
    const Field& field = schema->field(i);
    try {
      ArrayPtr column = import_owned(children[i], field.type, options);
      if (column->length < offset + length) fail("{} values in {} rows", column->length, offset + length);
      columns.push_back(offset == 0 && length == column->length ? column : column->slice(offset, length));
    } catch (Error& error) {
      error.add_context(message("importing column '{}'", field.name));
      throw;
    }
  }
  return {schema, length, std::move(columns)};
}

void export_array(const ArrayPtr& array, ArrowArray* out) {
  out->release = nullptr;
  auto exported = std::make_unique<ExportedArray>();
  exported->array = array;
  collect_buffers(*exported);
  exported->children.resize(array->children.size());
  for (size_t i = 0; i < array->children.size(); ++i) {
    export_array(array->children[i], &exported->children[i]);
    exported->child_pointers.push_back(&exported->children[i]);
  }
  if (array->dictionary != nullptr) export_array(array->dictionary, &exported->dictionary);
  int64_t null_count = array->null_count;
  if (!array->has_validity()) null_count = array->type->id() == TypeId::kNull ? array->length : 0;
  *out = ArrowArray{
      .length = array->length,
      .null_count = null_count,
      // Buffers of an empty array may be too short for its offset.
      .offset = array->length == 0 ? 0 : array->offset,
      .n_buffers = static_cast<int64_t>(exported->buffers.size()),
      .n_children = static_cast<int64_t>(exported->children.size()),
      .buffers = exported->buffers.empty() ? nullptr : exported->buffers.data(),
      .children = exported->child_pointers.empty() ? nullptr : exported->child_pointers.data(),
      .dictionary = array->dictionary == nullptr ? nullptr : &exported->dictionary,
      .release = release_array,
      .private_data = exported.get(),
  };
  exported.release();
}

void export_record_batch(const RecordBatch& batch, ArrowArray* out) {
  export_array(to_struct_array(batch), out);
}

ArrayPtr to_struct_array(const RecordBatch& batch) {
  auto array = std::make_shared<Array>();
  array->type = struct_(batch.schema()->fields());
  array->length = batch.row_count();
  array->null_count = 0;
  array->children = batch.columns();
  return array;
}

RecordBatch to_record_batch(const Array& array, const SchemaPtr& schema) {
  if (array.type->id() != TypeId::kStruct) {
    throw_error(ErrorKind::kInvalidArgument, "a record batch is a struct, not {}", array.type->to_string());
  }
  if (int64_t nulls = array.count_nulls(); nulls != 0) {
    throw_error(ErrorKind::kInvalidArgument, "{} rows of the record batch are null as a whole", nulls);
  }
  std::vector<ArrayPtr> columns;
  columns.reserve(array.children.size());
  for (const ArrayPtr& child : array.children) columns.push_back(child->slice(array.offset, array.length));
  return {schema, array.length, std::move(columns)};
}

}  // namespace frazil
