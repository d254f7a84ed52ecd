#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::spec {

namespace {

size_t checked_bytes(size_t count, size_t each) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, each, &bytes)) {
    throw_error(ErrorKind::kUnsupported, "{} values of {} bytes are too many for one array", count, each);
  }
  return bytes;
}

// `count` copies of `value`, by doubling what is already there.
void fill(std::span<std::byte> target, std::span<const std::byte> value) {
  if (target.empty() || value.empty()) return;
  std::memcpy(target.data(), value.data(), value.size());
  for (size_t done = value.size(); done < target.size();) {
    size_t step = std::min(done, target.size() - done);
    std::memcpy(target.data() + done, target.data(), step);
    done += step;
  }
}

class ConstantMaker {
 public:
  ConstantMaker(int64_t length, MemoryPool& pool) : length_(length), pool_(pool) {}

  ArrayPtr make(const Literal& value) {
    DataTypePtr type = to_arrow_type(*value.type());
    if (value.is_null() || length_ == 0) return make_null_array(type, length_, pool_);
    return std::visit([&](const auto& held) { return of(type, value, held); }, value.value());
  }

 private:
  std::shared_ptr<Array> start(DataTypePtr type) const {
    auto array = std::make_shared<Array>();
    array->type = std::move(type);
    array->length = length_;
    array->null_count = 0;
    return array;
  }

  ArrayPtr fixed_width(const DataTypePtr& type, std::span<const std::byte> value) {
    MutableBuffer values = pool_.allocate(checked_bytes(static_cast<size_t>(length_), value.size()));
    fill(values.span(), value);
    auto array = start(type);
    array->buffers[1] = std::move(values).freeze();
    return array;
  }
  template <typename T>
  ArrayPtr number(const DataTypePtr& type, T value) {
    return fixed_width(type, std::as_bytes(std::span(&value, 1)));
  }

  ArrayPtr bytes(const DataTypePtr& type, std::string_view value) {
    auto raw = std::as_bytes(std::span(value.data(), value.size()));
    if (type->id() == TypeId::kFixedSizeBinary) {
      if (value.size() != static_cast<size_t>(type->fixed_size())) {
        throw_error(ErrorKind::kInvalidArgument, "a constant of {} bytes is not a value of {}", value.size(),
                    type->to_string());
      }
      return fixed_width(type, raw);
    }
    size_t total = checked_bytes(static_cast<size_t>(length_), value.size());
    if (total > INT32_MAX) {
      throw_error(ErrorKind::kUnsupported, "{} copies of {} bytes exceed the 2 GiB of a {} array", length_,
                  value.size(), type->to_string());
    }
    auto array = start(type);
    MutableBuffer offsets = pool_.allocate(checked_bytes(static_cast<size_t>(length_) + 1, sizeof(int32_t)));
    auto* offset = offsets.as<int32_t>();
    for (int64_t i = 0; i <= length_; ++i) offset[i] = static_cast<int32_t>(i * static_cast<int64_t>(value.size()));
    MutableBuffer data = pool_.allocate(total);
    fill(data.span(), raw);
    array->buffers[1] = std::move(offsets).freeze();
    array->buffers[2] = std::move(data).freeze();
    return array;
  }

  ArrayPtr of(const DataTypePtr& type, const Literal&, std::monostate) { return make_null_array(type, length_, pool_); }
  ArrayPtr of(const DataTypePtr& type, const Literal&, bool value) {
    MutableBuffer bits = pool_.allocate((static_cast<size_t>(length_) + 7) / 8);
    std::memset(bits.data(), value ? 0xff : 0, bits.size());
    auto array = start(type);
    array->buffers[1] = std::move(bits).freeze();
    return array;
  }
  ArrayPtr of(const DataTypePtr& type, const Literal&, int32_t value) { return number(type, value); }
  ArrayPtr of(const DataTypePtr& type, const Literal&, int64_t value) { return number(type, value); }
  ArrayPtr of(const DataTypePtr& type, const Literal&, float value) { return number(type, value); }
  ArrayPtr of(const DataTypePtr& type, const Literal&, double value) { return number(type, value); }
  ArrayPtr of(const DataTypePtr& type, const Literal&, Int128 value) { return number(type, value); }
  ArrayPtr of(const DataTypePtr& type, const Literal&, const Uuid& value) { return fixed_width(type, value.bytes); }
  ArrayPtr of(const DataTypePtr& type, const Literal& literal, const std::string& value) {
    if (literal.type()->kind() == TypeKind::kVariant) {
      throw_error(ErrorKind::kUnsupported, "a variant constant other than null is not supported");
    }
    return bytes(type, value);
  }
  ArrayPtr of(const DataTypePtr& type, const Literal&, const GeoBound&) {
    throw_error(ErrorKind::kInvalidArgument, "a geometry bound is not a value of {}", type->to_string());
  }

  ArrayPtr of(const DataTypePtr& type, const Literal& literal, const std::vector<Literal>& values) {
    if (literal.type()->is_struct()) return structs(type, *literal.type(), values);
    ConstantMaker once(1, pool_);
    return repeat(type, static_cast<int32_t>(values.size()), once.elements(literal.type()->element(), values));
  }
  ArrayPtr of(const DataTypePtr& type, const Literal& literal, const LiteralMap& map) {
    ConstantMaker once(1, pool_);
    auto entries = std::make_shared<Array>();
    entries->type = type->children()[0].type;
    entries->length = static_cast<int64_t>(map.keys.size());
    entries->null_count = 0;
    entries->children = {once.elements(literal.type()->key(), map.keys),
                         once.elements(literal.type()->value(), map.values)};
    return repeat(type, static_cast<int32_t>(map.keys.size()), std::move(entries));
  }

  ArrayPtr structs(const DataTypePtr& type, const Type& fields, const std::vector<Literal>& values) {
    auto array = start(type);
    for (size_t i = 0; i < fields.fields().size(); ++i) {
      const NestedField& field = fields.fields()[i];
      if (!values.empty()) {
        array->children.push_back(make(values[i]));
      } else if (field.initial_default != nullptr) {
        array->children.push_back(make(*field.initial_default));  // {}: each field's own default
      } else {
        array->children.push_back(make(Literal::null(field.type)));
      }
    }
    return array;
  }

  // Requires length 1: the values one after the other.
  ArrayPtr elements(const NestedField& field, const std::vector<Literal>& values) {
    std::vector<ArrayPtr> parts;
    parts.reserve(values.size());
    for (const Literal& value : values) parts.push_back(make(value));
    if (parts.empty()) return make_null_array(to_arrow_type(*field.type), 0, pool_);
    return concatenate(parts, pool_);
  }

  // One list or map value of `count` elements, repeated by doubling.
  ArrayPtr repeat(const DataTypePtr& type, int32_t count, ArrayPtr children) {
    auto one = std::make_shared<Array>();
    one->type = type;
    one->length = 1;
    one->null_count = 0;
    MutableBuffer offsets = pool_.allocate(2 * sizeof(int32_t));
    offsets.as<int32_t>()[0] = 0;
    offsets.as<int32_t>()[1] = count;
    one->buffers[1] = std::move(offsets).freeze();
    one->children = {std::move(children)};
    if (checked_bytes(static_cast<size_t>(length_), static_cast<size_t>(count)) > INT32_MAX) {
      throw_error(ErrorKind::kUnsupported, "{} lists of {} elements are too many for one array", length_, count);
    }
    ArrayPtr array = one;
    while (array->length < length_) {
      int64_t more = std::min(array->length, length_ - array->length);
      const ArrayPtr parts[] = {array, array->slice(0, more)};
      array = concatenate(parts, pool_);
    }
    return array;
  }

  int64_t length_;
  MemoryPool& pool_;
};

}  // namespace

ArrayPtr make_constant_array(const Literal& value, int64_t length, MemoryPool& pool) {
  if (length < 0) throw_error(ErrorKind::kInvalidArgument, "an array cannot have {} values", length);
  return ConstantMaker(length, pool).make(value);
}

}  // namespace frazil::spec
