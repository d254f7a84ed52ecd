#include "frazil/columnar/builders.h"

#include <algorithm>
#include <limits>

#include "frazil/columnar/layout.h"

namespace frazil {

// ---- GrowingBuffer, BitBuilder ----

std::byte* GrowingBuffer::extend(size_t count) {
  const size_t needed = size_ + count;
  if (needed > block_.capacity()) {
    MutableBuffer larger = pool_->allocate(std::max({needed, 2 * block_.capacity(), size_t{64}}));
    larger.set_size(larger.capacity());  // all of it will be written; freeze() cuts it
    if (size_ != 0) std::memcpy(larger.data(), block_.data(), size_);
    block_ = std::move(larger);
  }
  std::byte* start = block_.data() + size_;
  size_ = needed;
  return start;
}

Buffer GrowingBuffer::freeze() {
  if (size_ == 0) return {};
  block_.set_size(size_);
  size_ = 0;
  return std::exchange(block_, MutableBuffer()).freeze();
}

Buffer BitBuilder::freeze() {
  length_ = 0;
  zero_count_ = 0;
  return bytes_.freeze();
}

// ---- ArrayBuilder ----

void ArrayBuilder::throw_wrong_kind() const {
  throw_error(ErrorKind::kInvalidArgument, "the builder of {} is of another kind", type_->to_string());
}

void ArrayBuilder::append_from(const Array& source, int64_t index) {
  if (source.type != type_ && !source.type->equals(*type_)) {
    throw_error(ErrorKind::kInvalidArgument, "a value of {} does not fit a builder of {}", source.type->to_string(),
                type_->to_string());
  }
  if (source.is_null(index)) {
    append_null();
  } else {
    append_valid_from(source, index);
  }
}

std::shared_ptr<Array> ArrayBuilder::begin_finish() {
  auto array = std::make_shared<Array>();
  array->type = type_;
  array->length = std::exchange(length_, 0);
  array->null_count = validity_.zero_count();
  Buffer validity = validity_.freeze();
  if (array->null_count != 0) array->buffers[0] = std::move(validity);
  return array;
}

// ---- Flat kinds ----

ArrayPtr NullBuilder::finish() {
  auto array = begin_finish();
  array->null_count = array->length;
  return array;
}

ArrayPtr BoolBuilder::finish() {
  auto array = begin_finish();
  array->buffers[1] = bits_.freeze();
  return array;
}

FixedWidthBuilder::FixedWidthBuilder(DataTypePtr type, MemoryPool& pool)
    : ArrayBuilder(std::move(type), pool), width_(type_->byte_width()), values_(pool) {
  if (layout_of(type_->id()) != Layout::kFixedWidth) throw_wrong_kind();
}

void FixedWidthBuilder::append_bytes(std::string_view value) {
  if (value.size() != static_cast<size_t>(width_)) {
    throw_error(ErrorKind::kInvalidArgument, "a value of {} has {} bytes, not {}", type_->to_string(), width_,
                value.size());
  }
  values_.append(value.data(), value.size());
  mark(true);
}

void FixedWidthBuilder::append_valid_from(const Array& source, int64_t index) {
  auto width = static_cast<size_t>(width_);
  append_bytes(source.buffers[1].text().substr(static_cast<size_t>(source.offset + index) * width, width));
}

ArrayPtr FixedWidthBuilder::finish() {
  auto array = begin_finish();
  array->buffers[1] = values_.freeze();
  return array;
}

BytesBuilder::BytesBuilder(DataTypePtr type, MemoryPool& pool)
    : ArrayBuilder(std::move(type), pool), offsets_(pool), data_(pool) {
  if (!is_bytes(type_->id())) throw_wrong_kind();
}

// Offsets stand before their value; finish() adds the last one.
void BytesBuilder::start() {
  if (offset_width(type_->id()) == 4) {
    offsets_.append(static_cast<int32_t>(data_.size()));
  } else {
    offsets_.append(static_cast<int64_t>(data_.size()));
  }
}

void BytesBuilder::append(std::string_view value) {
  constexpr auto kOffsetMax = static_cast<size_t>(std::numeric_limits<int32_t>::max());
  const bool wide = !is_view(type_->id()) && offset_width(type_->id()) == 8;
  const bool inlined = is_view(type_->id()) && value.size() <= static_cast<size_t>(BinaryView::kInlineMax);
  if (!wide && !inlined && value.size() > kOffsetMax - data_.size()) {
    throw_error(ErrorKind::kUnsupported, "more than {} bytes of {}", kOffsetMax, type_->to_string());
  }
  if (is_view(type_->id())) {
    BinaryView view;
    view.size = static_cast<int32_t>(value.size());
    if (inlined) {
      std::copy(value.begin(), value.end(), view.inlined);
    } else {
      std::memcpy(view.reference.prefix, value.data(), 4);
      view.reference.buffer_index = 0;
      view.reference.offset = static_cast<int32_t>(data_.size());
    }
    offsets_.append(view);
    if (!inlined) data_.append(value.data(), value.size());
  } else {
    start();
    data_.append(value.data(), value.size());
  }
  mark(true);
}

void BytesBuilder::append_null() {
  if (is_view(type_->id())) {
    offsets_.append(BinaryView());
  } else {
    start();
  }
  mark(false);
}

ArrayPtr BytesBuilder::finish() {
  if (!is_view(type_->id())) start();
  auto array = begin_finish();
  array->buffers[1] = offsets_.freeze();
  Buffer data = data_.freeze();
  if (!is_view(type_->id())) {
    array->buffers[2] = std::move(data);
  } else if (!data.empty()) {
    array->variadic_buffers.push_back(std::move(data));
  }
  return array;
}

// ---- Nested kinds ----

ListBuilder::ListBuilder(DataTypePtr type, MemoryPool& pool) : ArrayBuilder(std::move(type), pool) {
  if (!is_list(type_->id())) throw_wrong_kind();
  values_ = make_builder(type_->children()[0].type, pool);
}

void ListBuilder::append() {
  starts_.push_back(values_->length());
  mark(true);
}

void ListBuilder::append_null() {
  starts_.push_back(values_->length());
  for (int32_t i = 0; type_->id() == TypeId::kFixedSizeList && i < type_->fixed_size(); ++i) values_->append_null();
  mark(false);
}

ArrayBuilder& ListBuilder::keys() {
  return values_->as<StructBuilder>().child(0);
}
ArrayBuilder& ListBuilder::items() {
  return values_->as<StructBuilder>().child(1);
}
void ListBuilder::end_entry() {
  values_->as<StructBuilder>().append();
}

void ListBuilder::append_valid_from(const Array& source, int64_t index) {
  append();
  auto [first, count] = source.list_range(index);
  for (int64_t i = 0; i < count; ++i) values_->append_from(*source.children[0], first + i);
}

namespace {

// Offsets as int32 or int64. Throws Error(kUnsupported) if one does not fit.
Buffer write_offsets(const std::vector<int64_t>& values, int width, MemoryPool& pool) {
  GrowingBuffer buffer(pool);
  for (int64_t value : values) {
    if (width == 8) {
      buffer.append(value);
    } else if (value <= std::numeric_limits<int32_t>::max()) {
      buffer.append(static_cast<int32_t>(value));
    } else {
      throw_error(ErrorKind::kUnsupported, "more than {} elements in lists with 32-bit offsets",
                  std::numeric_limits<int32_t>::max());
    }
  }
  return buffer.freeze();
}

}  // namespace

ArrayPtr ListBuilder::finish() {
  starts_.push_back(values_->length());
  if (type_->id() == TypeId::kFixedSizeList) {
    for (size_t i = 0; i + 1 < starts_.size(); ++i) {
      if (starts_[i + 1] - starts_[i] != type_->fixed_size()) {
        throw_error(ErrorKind::kInvalidArgument, "value {} of {} has {} elements", i, type_->to_string(),
                    starts_[i + 1] - starts_[i]);
      }
    }
  }
  auto array = begin_finish();
  const int width = offset_width(type_->id());
  if (layout_of(type_->id()) == Layout::kListView) {
    std::vector<int64_t> sizes;
    sizes.reserve(starts_.size());
    for (size_t i = 0; i + 1 < starts_.size(); ++i) sizes.push_back(starts_[i + 1] - starts_[i]);
    array->buffers[2] = write_offsets(sizes, width, *pool_);
    starts_.pop_back();
  }
  if (type_->id() != TypeId::kFixedSizeList) array->buffers[1] = write_offsets(starts_, width, *pool_);
  array->children = {values_->finish()};
  starts_.clear();
  return array;
}

StructBuilder::StructBuilder(DataTypePtr type, MemoryPool& pool) : ArrayBuilder(std::move(type), pool) {
  if (type_->id() != TypeId::kStruct) throw_wrong_kind();
  for (const Field& field : type_->children()) children_.push_back(make_builder(field.type, pool));
}

void StructBuilder::append_null() {
  for (auto& child : children_) child->append_null();
  mark(false);
}

void StructBuilder::append_valid_from(const Array& source, int64_t index) {
  append();
  for (size_t c = 0; c < children_.size(); ++c) {
    children_[c]->append_from(*source.children[c], source.offset + index);
  }
}

ArrayPtr StructBuilder::finish() {
  for (size_t c = 0; c < children_.size(); ++c) {
    if (children_[c]->length() != length_) {
      throw_error(ErrorKind::kInvalidArgument, "field '{}' has {} values in {} structs", type_->children()[c].name,
                  children_[c]->length(), length_);
    }
  }
  auto array = begin_finish();
  for (auto& child : children_) array->children.push_back(child->finish());
  return array;
}

// ---- Dictionary, union, run-end ----

DictionaryBuilder::DictionaryBuilder(const DataTypePtr& type, MemoryPool& pool)
    : ArrayBuilder(type, pool), indices_(type->index_type(), pool), values_(make_builder(type->value_type(), pool)) {
  Layout layout = layout_of(type_->value_type()->id());
  if (layout != Layout::kFixedWidth && layout != Layout::kBytes && layout != Layout::kView) {
    throw_error(ErrorKind::kUnsupported, "no builder for {}", type_->to_string());
  }
}

void DictionaryBuilder::append_bytes(std::string_view value) {
  auto found = positions_.find(value);
  if (found == positions_.end()) {
    const TypeId index_id = type_->index_type()->id();
    const int bits = 8 * indices_.type()->byte_width() - (is_signed_integer(index_id) ? 1 : 0);
    if (bits < 63 && values_->length() >= (int64_t{1} << bits)) {
      throw_error(ErrorKind::kUnsupported, "more distinct values than {} can count", type_->to_string());
    }
    found = positions_.emplace(value, values_->length()).first;
    if (is_bytes(values_->type()->id())) {
      values_->as<BytesBuilder>().append(value);
    } else {
      values_->as<FixedWidthBuilder>().append_bytes(value);
    }
  }
  // Little-endian: the low bytes of the index are the index in any width.
  indices_.append_bytes(
      {reinterpret_cast<const char*>(&found->second), static_cast<size_t>(indices_.type()->byte_width())});
  ++length_;
}

void DictionaryBuilder::append_null() {
  indices_.append_null();
  ++length_;
}

void DictionaryBuilder::append_valid_from(const Array& source, int64_t index) {
  const Array& values = *source.dictionary;
  int64_t position = dictionary_index(source, index);
  if (values.is_null(position)) return append_null();
  if (is_bytes(values.type->id())) return append_bytes(values.bytes_value(position));
  auto width = static_cast<size_t>(values.type->byte_width());
  append_bytes(values.buffers[1].text().substr(static_cast<size_t>(values.offset + position) * width, width));
}

ArrayPtr DictionaryBuilder::finish() {
  auto array = std::make_shared<Array>(*indices_.finish());
  array->type = type_;
  array->dictionary = values_->finish();
  positions_.clear();
  length_ = 0;
  return array;
}

UnionBuilder::UnionBuilder(DataTypePtr type, MemoryPool& pool)
    : ArrayBuilder(std::move(type), pool), type_ids_(pool), offsets_(pool) {
  if (!is_union(type_->id())) throw_wrong_kind();
  for (const Field& field : type_->children()) children_.push_back(make_builder(field.type, pool));
}

void UnionBuilder::append(size_t index) {
  type_ids_.append(type_->union_type_ids().at(index));
  if (type_->id() == TypeId::kDenseUnion) {
    offsets_.append(static_cast<int32_t>(children_[index]->length()));
  } else {
    for (size_t c = 0; c < children_.size(); ++c) {
      if (c != index) children_[c]->append_null();
    }
  }
  ++length_;
}

void UnionBuilder::append_null() {
  append(0);
  children_[0]->append_null();
}

void UnionBuilder::append_valid_from(const Array& source, int64_t index) {
  auto child = static_cast<size_t>(union_child(source, index));
  append(child);
  children_[child]->append_from(*source.children[child], union_child_index(source, index));
}

ArrayPtr UnionBuilder::finish() {
  auto array = begin_finish();
  array->buffers[0] = type_ids_.freeze();
  array->buffers[1] = offsets_.freeze();
  for (auto& child : children_) array->children.push_back(child->finish());
  return array;
}

RunEndBuilder::RunEndBuilder(const DataTypePtr& type, MemoryPool& pool)
    : ArrayBuilder(type, pool),
      run_ends_(type->children().at(0).type, pool),
      values_(make_builder(type->children().at(1).type, pool)) {
  if (type_->id() != TypeId::kRunEndEncoded) throw_wrong_kind();
}

void RunEndBuilder::append_run(int64_t count) {
  const auto width = static_cast<size_t>(run_ends_.type()->byte_width());
  const int64_t end_max = std::numeric_limits<int64_t>::max() >> (64 - 8 * width);
  if (count < 1 || values_->length() != run_ends_.length() + 1) {
    throw_error(ErrorKind::kInvalidArgument, "a run needs one value and a count of at least 1: {}", count);
  }
  if (count > end_max - length_) {
    throw_error(ErrorKind::kUnsupported, "{} + {} values are more than {} can count", length_, count,
                type_->to_string());
  }
  length_ += count;
  run_ends_.append_bytes({reinterpret_cast<const char*>(&length_), width});
}

void RunEndBuilder::append_null() {
  values_->append_null();
  append_run(1);
}

void RunEndBuilder::append_valid_from(const Array& source, int64_t index) {
  values_->append_from(*source.children[1], run_value_index(source, index));
  append_run(1);
}

ArrayPtr RunEndBuilder::finish() {
  auto array = begin_finish();
  array->children = {run_ends_.finish(), values_->finish()};
  return array;
}

std::unique_ptr<ArrayBuilder> make_builder(const DataTypePtr& type, MemoryPool& pool) {
  switch (layout_of(type->id())) {
    case Layout::kNull:
      return std::make_unique<NullBuilder>(type, pool);
    case Layout::kBool:
      return std::make_unique<BoolBuilder>(type, pool);
    case Layout::kFixedWidth:
      return std::make_unique<FixedWidthBuilder>(type, pool);
    case Layout::kBytes:
    case Layout::kView:
      return std::make_unique<BytesBuilder>(type, pool);
    case Layout::kList:
    case Layout::kListView:
    case Layout::kFixedSizeList:
      return std::make_unique<ListBuilder>(type, pool);
    case Layout::kStruct:
      return std::make_unique<StructBuilder>(type, pool);
    case Layout::kSparseUnion:
    case Layout::kDenseUnion:
      return std::make_unique<UnionBuilder>(type, pool);
    case Layout::kDictionary:
      return std::make_unique<DictionaryBuilder>(type, pool);
    case Layout::kRunEnd:
      return std::make_unique<RunEndBuilder>(type, pool);
  }
  throw_error(ErrorKind::kInternal, "no builder for {}", type->to_string());
}

// ---- Literals ----

ArrayPtr make_bool(const std::vector<std::optional<bool>>& values) {
  MemoryPool pool;
  BoolBuilder builder(primitive(TypeId::kBool), pool);
  for (std::optional<bool> value : values) {
    if (value) {
      builder.append(*value);
    } else {
      builder.append_null();
    }
  }
  return builder.finish();
}

ArrayPtr make_bytes(const DataTypePtr& type, const std::vector<std::optional<std::string>>& values) {
  MemoryPool pool;
  auto builder = make_builder(type, pool);
  for (const auto& value : values) {
    if (!value) {
      builder->append_null();
    } else if (type->id() == TypeId::kFixedSizeBinary) {
      builder->as<FixedWidthBuilder>().append_bytes(*value);
    } else {
      builder->as<BytesBuilder>().append(*value);
    }
  }
  return builder->finish();
}

ArrayPtr make_list(const DataTypePtr& type, const std::vector<std::optional<int64_t>>& counts, ArrayPtr elements) {
  MemoryPool pool;
  if (layout_of(type->id()) != Layout::kList) {
    throw_error(ErrorKind::kInvalidArgument, "{} has no offsets", type->to_string());
  }
  auto array = std::make_shared<Array>();
  BitBuilder validity(pool);
  std::vector<int64_t> offsets = {0};
  for (auto count : counts) {
    validity.append(count.has_value());
    offsets.push_back(offsets.back() + count.value_or(0));
  }
  array->type = type;
  array->length = static_cast<int64_t>(counts.size());
  array->null_count = validity.zero_count();
  if (array->null_count != 0) array->buffers[0] = validity.freeze();
  array->buffers[1] = write_offsets(offsets, offset_width(type->id()), pool);
  array->children = {std::move(elements)};
  validate(*array);
  return array;
}

ArrayPtr make_struct(const DataTypePtr& type, std::vector<ArrayPtr> children, const std::vector<bool>& valid) {
  MemoryPool pool;
  BitBuilder validity(pool);
  for (bool bit : valid) validity.append(bit);
  auto array = std::make_shared<Array>();
  array->type = type;
  array->length = !valid.empty() || children.empty() ? static_cast<int64_t>(valid.size()) : children[0]->length;
  array->null_count = validity.zero_count();
  if (array->null_count != 0) array->buffers[0] = validity.freeze();
  array->children = std::move(children);
  validate(*array);
  return array;
}

ArrayPtr make_dictionary(const DataTypePtr& type, const std::vector<std::optional<int64_t>>& indices, ArrayPtr values) {
  MemoryPool pool;
  FixedWidthBuilder builder(type->index_type(), pool);
  const auto width = static_cast<size_t>(type->index_type()->byte_width());
  for (const auto& index : indices) {
    if (index) {
      builder.append_bytes({reinterpret_cast<const char*>(&*index), width});
    } else {
      builder.append_null();
    }
  }
  auto array = std::make_shared<Array>(*builder.finish());
  array->type = type;
  array->dictionary = std::move(values);
  validate(*array);
  return array;
}

RecordBatch make_batch(std::vector<std::pair<std::string, ArrayPtr>> columns) {
  std::vector<Field> fields;
  std::vector<ArrayPtr> arrays;
  for (auto& [name, array] : columns) {
    fields.push_back({.name = std::move(name), .type = array->type, .nullable = true, .metadata = {}});
    arrays.push_back(std::move(array));
  }
  const int64_t row_count = arrays.empty() ? 0 : arrays[0]->length;
  return {Schema::make(std::move(fields)), row_count, std::move(arrays)};
}

}  // namespace frazil
