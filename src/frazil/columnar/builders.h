// Builders: arrays made value by value. For tests and slow paths (constants, defaults, small results): hot paths fill
// pool buffers in place. Memory comes from the pool, which must outlive the builder but not the arrays.
//
//   auto builder = make_builder(list({"item", primitive(TypeId::kInt32)}), pool);
//   auto& lists = builder->as<ListBuilder>();
//   auto& numbers = lists.values().as<FixedWidthBuilder>();
//   lists.append();  numbers.append<int32_t>(1);  numbers.append<int32_t>(2);   // [1, 2]
//   lists.append();                                                             // []
//   lists.append_null();                                                        // null
//   ArrayPtr array = builder->finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/type.h"
#include "frazil/memory/memory_pool.h"

namespace frazil {

// A buffer that grows: each time it is full the block doubles. freeze() gives what was appended.
class GrowingBuffer {
 public:
  explicit GrowingBuffer(MemoryPool& pool) : pool_(&pool) {}
  size_t size() const { return size_; }
  std::byte* data() { return block_.data(); }
  const std::byte* data() const { return block_.data(); }
  void append(const void* bytes, size_t count) {
    if (count == 0) return;
    std::memcpy(extend(count), bytes, count);
  }
  template <typename T>
  void append(T value) {
    append(&value, sizeof(T));
  }
  void append_zeros(size_t count) {
    if (count != 0) std::memset(extend(count), 0, count);
  }
  // `count` more bytes, contents undefined. Throws MemoryLimitError.
  std::byte* extend(size_t count);
  // Empty afterwards.
  Buffer freeze();

 private:
  MemoryPool* pool_;
  MutableBuffer block_;
  size_t size_ = 0;
};

// Bits from the lowest of each byte on.
class BitBuilder {
 public:
  explicit BitBuilder(MemoryPool& pool) : bytes_(pool) {}
  int64_t length() const { return length_; }
  int64_t zero_count() const { return zero_count_; }
  void append(bool bit) {
    if ((length_ & 7) == 0) bytes_.append_zeros(1);
    if (bit) {
      bytes_.data()[length_ >> 3] |= static_cast<std::byte>(1U << (length_ & 7));
    } else {
      ++zero_count_;
    }
    ++length_;
  }
  Buffer freeze();

 private:
  GrowingBuffer bytes_;
  int64_t length_ = 0;
  int64_t zero_count_ = 0;
};

class ArrayBuilder {
 public:
  virtual ~ArrayBuilder() = default;
  ArrayBuilder(const ArrayBuilder&) = delete;
  ArrayBuilder& operator=(const ArrayBuilder&) = delete;

  const DataTypePtr& type() const { return type_; }
  int64_t length() const { return length_; }
  virtual void append_null() = 0;
  // Value `index` of an array of the same type (nested too). Throws Error(kInvalidArgument) for another type.
  void append_from(const Array& source, int64_t index);
  // The array of all values so far; the builder is empty afterwards.
  virtual ArrayPtr finish() = 0;

  // The builder as its kind. Throws Error(kInvalidArgument) if it is another one.
  template <typename Builder>
  Builder& as() {
    auto* builder = dynamic_cast<Builder*>(this);
    if (builder == nullptr) throw_wrong_kind();
    return *builder;
  }

 protected:
  ArrayBuilder(DataTypePtr type, MemoryPool& pool) : type_(std::move(type)), pool_(&pool), validity_(pool) {}
  // Called with an array of the same type and a valid index.
  virtual void append_valid_from(const Array& source, int64_t index) = 0;
  [[noreturn]] void throw_wrong_kind() const;
  void mark(bool valid) {
    validity_.append(valid);
    ++length_;
  }
  // An array with type, length, validity and null count; the builder's own are reset.
  std::shared_ptr<Array> begin_finish();

  DataTypePtr type_;
  MemoryPool* pool_;
  BitBuilder validity_;
  int64_t length_ = 0;
};

// A builder for any type. Throws Error(kUnsupported) for a dictionary whose values are neither bytes nor fixed-width.
std::unique_ptr<ArrayBuilder> make_builder(const DataTypePtr& type, MemoryPool& pool);

class NullBuilder final : public ArrayBuilder {
 public:
  NullBuilder(DataTypePtr type, MemoryPool& pool) : ArrayBuilder(std::move(type), pool) {}
  void append_null() override { ++length_; }
  ArrayPtr finish() override;

 protected:
  void append_valid_from(const Array&, int64_t) override {}
};

class BoolBuilder final : public ArrayBuilder {
 public:
  BoolBuilder(DataTypePtr type, MemoryPool& pool) : ArrayBuilder(std::move(type), pool), bits_(pool) {}
  void append(bool value) {
    bits_.append(value);
    mark(true);
  }
  void append_null() override {
    bits_.append(false);
    mark(false);
  }
  ArrayPtr finish() override;

 protected:
  void append_valid_from(const Array& source, int64_t index) override { append(source.bool_value(index)); }

 private:
  BitBuilder bits_;
};

// Integers, floats, decimals, dates, times, timestamps, durations, intervals, fixed-size binary.
class FixedWidthBuilder final : public ArrayBuilder {
 public:
  FixedWidthBuilder(DataTypePtr type, MemoryPool& pool);
  // T must be as wide as the type: int32_t for date32, uint16_t for half float, Decimal128 for decimal128, ...
  template <typename T>
  void append(T value) {
    append_bytes({reinterpret_cast<const char*>(&value), sizeof(T)});
  }
  // One value as it lies in the buffer.
  void append_bytes(std::string_view value);
  void append_null() override {
    values_.append_zeros(static_cast<size_t>(width_));
    mark(false);
  }
  ArrayPtr finish() override;

 protected:
  void append_valid_from(const Array& source, int64_t index) override;

 private:
  int32_t width_;
  GrowingBuffer values_;
};

// utf8, binary, their large and view forms. UTF-8 is not checked here.
class BytesBuilder final : public ArrayBuilder {
 public:
  BytesBuilder(DataTypePtr type, MemoryPool& pool);
  // Throws Error(kUnsupported) past 2^31 - 1 bytes of utf8 or binary.
  void append(std::string_view value);
  void append_null() override;
  ArrayPtr finish() override;

 protected:
  void append_valid_from(const Array& source, int64_t index) override { append(source.bytes_value(index)); }

 private:
  void start();
  GrowingBuffer offsets_;  // views for the view forms
  GrowingBuffer data_;
};

// Every kind of list, and map (whose values() is the StructBuilder of its entries).
class ListBuilder final : public ArrayBuilder {
 public:
  ListBuilder(DataTypePtr type, MemoryPool& pool);
  // Starts a value: what is appended to values() until the next append() belongs to it. A fixed-size list must get
  // exactly its number of elements; finish() throws Error(kInvalidArgument) otherwise.
  void append();
  void append_null() override;
  ArrayBuilder& values() { return *values_; }
  // Map: the builders of keys and values. An entry is key, value, then end_entry().
  ArrayBuilder& keys();
  ArrayBuilder& items();
  void end_entry();
  ArrayPtr finish() override;

 protected:
  void append_valid_from(const Array& source, int64_t index) override;

 private:
  std::unique_ptr<ArrayBuilder> values_;
  std::vector<int64_t> starts_;  // first element of each value
};

class StructBuilder final : public ArrayBuilder {
 public:
  StructBuilder(DataTypePtr type, MemoryPool& pool);
  // Counts a value whose fields were, or will be, appended to every child.
  void append() { mark(true); }
  // Appends null to every child too.
  void append_null() override;
  ArrayBuilder& child(size_t index) { return *children_.at(index); }
  // Throws Error(kInvalidArgument) if a child has another length.
  ArrayPtr finish() override;

 protected:
  void append_valid_from(const Array& source, int64_t index) override;

 private:
  std::vector<std::unique_ptr<ArrayBuilder>> children_;
};

// Each distinct value once, in order of appearance.
class DictionaryBuilder final : public ArrayBuilder {
 public:
  DictionaryBuilder(const DataTypePtr& type, MemoryPool& pool);
  // The bytes of a value: text, or a fixed-width value as it lies in its buffer. Throws Error(kUnsupported) when the
  // index type is full.
  void append_bytes(std::string_view value);
  template <typename T>
  void append(T value) {
    append_bytes({reinterpret_cast<const char*>(&value), sizeof(T)});
  }
  void append_null() override;
  ArrayPtr finish() override;

 protected:
  void append_valid_from(const Array& source, int64_t index) override;

 private:
  FixedWidthBuilder indices_;
  std::unique_ptr<ArrayBuilder> values_;
  std::map<std::string, int64_t, std::less<>> positions_;
};

class UnionBuilder final : public ArrayBuilder {
 public:
  UnionBuilder(DataTypePtr type, MemoryPool& pool);
  // A value of child `index`, which must be appended to child(index). Sparse: the other children get a null.
  void append(size_t index);
  // A null of the first child.
  void append_null() override;
  ArrayBuilder& child(size_t index) { return *children_.at(index); }
  ArrayPtr finish() override;

 protected:
  void append_valid_from(const Array& source, int64_t index) override;

 private:
  std::vector<std::unique_ptr<ArrayBuilder>> children_;
  GrowingBuffer type_ids_;
  GrowingBuffer offsets_;
};

class RunEndBuilder final : public ArrayBuilder {
 public:
  RunEndBuilder(const DataTypePtr& type, MemoryPool& pool);
  ArrayBuilder& values() { return *values_; }
  // Ends a run of `count` (at least 1) times the value that was just appended to values().
  void append_run(int64_t count);
  void append_null() override;
  ArrayPtr finish() override;

 protected:
  void append_valid_from(const Array& source, int64_t index) override;

 private:
  FixedWidthBuilder run_ends_;
  std::unique_ptr<ArrayBuilder> values_;
};

// ---- Arrays from literals, for tests. Memory is charged to no budget.

// Fixed-width values; T as wide as the type.
template <typename T>
ArrayPtr make_fixed(const DataTypePtr& type, const std::vector<std::optional<T>>& values) {
  MemoryPool pool;
  FixedWidthBuilder builder(type, pool);
  for (const auto& value : values) {
    if (value) {
      builder.append<T>(*value);
    } else {
      builder.append_null();
    }
  }
  return builder.finish();
}

inline ArrayPtr make_int32(const std::vector<std::optional<int32_t>>& values) {
  return make_fixed(primitive(TypeId::kInt32), values);
}
inline ArrayPtr make_int64(const std::vector<std::optional<int64_t>>& values) {
  return make_fixed(primitive(TypeId::kInt64), values);
}
inline ArrayPtr make_float(const std::vector<std::optional<float>>& values) {
  return make_fixed(primitive(TypeId::kFloat), values);
}
inline ArrayPtr make_double(const std::vector<std::optional<double>>& values) {
  return make_fixed(primitive(TypeId::kDouble), values);
}
ArrayPtr make_bool(const std::vector<std::optional<bool>>& values);
// utf8, binary, large and view forms, fixed-size binary.
ArrayPtr make_bytes(const DataTypePtr& type, const std::vector<std::optional<std::string>>& values);
inline ArrayPtr make_utf8(const std::vector<std::optional<std::string>>& values) {
  return make_bytes(primitive(TypeId::kUtf8), values);
}
inline ArrayPtr make_binary(const std::vector<std::optional<std::string>>& values) {
  return make_bytes(primitive(TypeId::kBinary), values);
}
// A list, large list or map (elements: the entries) from the number of elements of each value, in order.
ArrayPtr make_list(const DataTypePtr& type, const std::vector<std::optional<int64_t>>& counts, ArrayPtr elements);
// `valid`: empty means all valid.
ArrayPtr make_struct(const DataTypePtr& type, std::vector<ArrayPtr> children, const std::vector<bool>& valid = {});
ArrayPtr make_dictionary(const DataTypePtr& type, const std::vector<std::optional<int64_t>>& indices, ArrayPtr values);
// Fields named as given, nullable, with the types of the columns.
RecordBatch make_batch(std::vector<std::pair<std::string, ArrayPtr>> columns);

}  // namespace frazil
