#include "frazil/columnar/array.h"

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/columnar/layout.h"

namespace frazil {

int64_t Array::count_nulls() const {
  if (type->id() == TypeId::kNull) return length;
  if (!has_validity()) return 0;
  if (null_count != kUnknownNullCount) return null_count;
  return length - static_cast<int64_t>(count_set_bits(buffers[0].as<uint8_t>(), static_cast<size_t>(offset),
                                                      static_cast<size_t>(length)));
}

std::string_view Array::bytes_value(int64_t index) const {
  const int64_t position = offset + index;
  switch (type->id()) {
    case TypeId::kUtf8:
    case TypeId::kBinary: {
      const int32_t* offsets = buffers[1].as<int32_t>() + position;
      return {buffers[2].as<char>() + offsets[0], static_cast<size_t>(offsets[1] - offsets[0])};
    }
    case TypeId::kLargeUtf8:
    case TypeId::kLargeBinary: {
      const int64_t* offsets = buffers[1].as<int64_t>() + position;
      return {buffers[2].as<char>() + offsets[0], static_cast<size_t>(offsets[1] - offsets[0])};
    }
    case TypeId::kUtf8View:
    case TypeId::kBinaryView: {
      const std::byte* view = buffers[1].data() + position * 16;
      auto size = load<int32_t>(view);
      if (size <= BinaryView::kInlineMax) {
        return {reinterpret_cast<const char*>(view) + 4, static_cast<size_t>(size)};
      }
      auto buffer_index = load<int32_t>(view + 8);
      return {variadic_buffers[static_cast<size_t>(buffer_index)].as<char>() + load<int32_t>(view + 12),
              static_cast<size_t>(size)};
    }
    case TypeId::kFixedSizeBinary: {
      auto width = static_cast<size_t>(type->fixed_size());
      return {buffers[1].as<char>() + static_cast<size_t>(position) * width, width};
    }
    default:
      throw_error(ErrorKind::kInvalidArgument, "values of {} are not bytes", type->to_string());
  }
}

std::pair<int64_t, int64_t> Array::list_range(int64_t index) const {
  const int64_t position = offset + index;
  switch (type->id()) {
    case TypeId::kList:
    case TypeId::kMap: {
      const int32_t* offsets = buffers[1].as<int32_t>() + position;
      return {offsets[0], offsets[1] - offsets[0]};
    }
    case TypeId::kLargeList: {
      const int64_t* offsets = buffers[1].as<int64_t>() + position;
      return {offsets[0], offsets[1] - offsets[0]};
    }
    case TypeId::kListView:
      return {buffers[1].as<int32_t>()[position], buffers[2].as<int32_t>()[position]};
    case TypeId::kLargeListView:
      return {buffers[1].as<int64_t>()[position], buffers[2].as<int64_t>()[position]};
    case TypeId::kFixedSizeList:
      return {position * type->fixed_size(), type->fixed_size()};
    default:
      throw_error(ErrorKind::kInvalidArgument, "values of {} are not lists", type->to_string());
  }
}

ArrayPtr Array::slice(int64_t from, int64_t count) const {
  if (from < 0 || count < 0 || from > length || count > length - from) {
    throw_error(ErrorKind::kInvalidArgument, "slice is outside the array: {} + {} > {}", from, count, length);
  }
  auto result = std::make_shared<Array>(*this);
  result->offset = offset + from;
  result->length = count;
  if (type->id() == TypeId::kNull || (null_count != 0 && null_count == length)) {
    result->null_count = count;
  } else if (null_count != 0 && count != length) {
    result->null_count = has_validity() ? kUnknownNullCount : 0;
  }
  return result;
}

// ---- RecordBatch ----

RecordBatch::RecordBatch(SchemaPtr schema, int64_t row_count, std::vector<ArrayPtr> columns)
    : schema_(std::move(schema)), row_count_(row_count), columns_(std::move(columns)) {
  if (schema_ == nullptr) throw_error(ErrorKind::kInvalidArgument, "record batch has no schema");
  if (row_count_ < 0) throw_error(ErrorKind::kInvalidArgument, "record batch has a negative row count: {}", row_count_);
  if (columns_.size() != schema_->field_count()) {
    throw_error(ErrorKind::kInvalidArgument, "record batch has {} columns, its schema {} fields", columns_.size(),
                schema_->field_count());
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Field& field = schema_->field(i);
    const ArrayPtr& column = columns_[i];
    if (column == nullptr || column->type == nullptr) {
      throw_error(ErrorKind::kInvalidArgument, "column '{}' of the record batch is missing", field.name);
    }
    if (column->length != row_count_) {
      throw_error(ErrorKind::kInvalidArgument, "column '{}' has {} values, the record batch {} rows", field.name,
                  column->length, row_count_);
    }
    if (!column->type->equals(*field.type)) {
      throw_error(ErrorKind::kInvalidArgument, "column '{}' is {}, its field {}", field.name, column->type->to_string(),
                  field.type->to_string());
    }
  }
}

RecordBatch RecordBatch::slice(int64_t from, int64_t count) const {
  if (from < 0 || count < 0 || from > row_count_ || count > row_count_ - from) {
    throw_error(ErrorKind::kInvalidArgument, "slice is outside the record batch: {} + {} > {}", from, count,
                row_count_);
  }
  RecordBatch result = *this;
  result.row_count_ = count;
  for (ArrayPtr& column : result.columns_) column = column->slice(from, count);
  return result;
}

namespace {

size_t buffer_bytes(const Array& array) {
  size_t bytes = 0;
  for (const Buffer& buffer : array.buffers) bytes += buffer.size();
  for (const Buffer& buffer : array.variadic_buffers) bytes += buffer.size();
  for (const ArrayPtr& child : array.children) bytes += buffer_bytes(*child);
  if (array.dictionary != nullptr) bytes += buffer_bytes(*array.dictionary);
  return bytes;
}

}  // namespace

size_t RecordBatch::buffer_bytes() const {
  size_t bytes = 0;
  for (const ArrayPtr& column : columns_) bytes += frazil::buffer_bytes(*column);
  return bytes;
}

}  // namespace frazil
