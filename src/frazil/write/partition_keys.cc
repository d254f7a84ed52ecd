#include "frazil/write/partition_keys.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/base/floor_division.h"
#include "frazil/base/int128.h"
#include "frazil/base/message.h"
#include "frazil/columnar/bytes_memo.h"
#include "frazil/columnar/layout.h"
#include "frazil/spec/arrow_schema.h"
#include "frazil/write/number_tables.h"
#include "frazil/write/parallel.h"
#include "frazil/write/partition_kernels.h"

namespace frazil::write {

namespace {

using spec::Literal;
using spec::Transform;
using spec::TransformKind;
using spec::TypeKind;
using spec::TypePtr;

// Rows whose codes are made at once: pre-keys and codes of two fields stay in the first cache level.
constexpr size_t kBlockRows = 1024;
// With threads: rows that one of them numbers first, rows that all share then, and how much of these is a task.
constexpr size_t kLearnRows = 16 * kBlockRows;
constexpr size_t kWindowRows = 256 * kBlockRows;
constexpr size_t kTaskBlocks = 16;

bool is_nanoseconds(TypeKind kind) {
  return kind == TypeKind::kTimestampNs || kind == TypeKind::kTimestampTzNs;
}
// Whether values are compared as bytes: all that does not fit 64 bits.
bool is_bytes_kind(TypeKind kind) {
  switch (kind) {
    case TypeKind::kString:
    case TypeKind::kBinary:
    case TypeKind::kFixed:
    case TypeKind::kUuid:
    case TypeKind::kDecimal:
      return true;
    default:
      return false;
  }
}

// The column that a field is made from, in one batch.
struct Source {
  ArrayPtr leaf;
  // Of the leaf and the structs around it, from bit 0 on. Empty: no nulls.
  Buffer validity;
  size_t validity_offset = 0;

  bool is_valid(size_t row) const { return validity.empty() || get_bit(validity.as<uint8_t>(), validity_offset + row); }
};

// One field of the spec: the codes of its values.
class FieldKeys {
 public:
  FieldKeys(const spec::PartitionField& field, const spec::Schema& schema, MemoryPool& pool, uint64_t seed)
      : name_(field.name), transform_(field.transform), pool_(&pool), keys_(pool, seed), memo_(pool, seed) {
    if (field.is_opaque()) {
      throw_error(ErrorKind::kUnsupported, "cannot write with the transform {} of partition field '{}'",
                  field.transform.to_string(), field.name);
    }
    const spec::NestedField* source = schema.find(field.source_id());
    if (source == nullptr) {
      throw_error(ErrorKind::kInvalidArgument, "partition field '{}': the table has no column of id {}", field.name,
                  field.source_id());
    }
    source_type_ = source->type;
    if (!transform_.can_transform(*source_type_)) {
      throw_error(ErrorKind::kInvalidArgument, "partition field '{}': {} does not take values of type {}", field.name,
                  transform_.to_string(), source_type_->to_string());
    }
    std::span<const spec::NestedField> level = schema.fields();
    for (int32_t id : schema.path(field.source_id())) {
      auto place = std::find_if(level.begin(), level.end(), [&](const auto& child) { return child.id == id; });
      path_.push_back(static_cast<size_t>(place - level.begin()));
      if (id == field.source_id()) break;
      if (!place->type->is_struct()) {
        throw_error(ErrorKind::kInvalidArgument,
                    "partition field '{}': its source '{}' is not a field of structs alone", field.name,
                    schema.full_name(field.source_id()));
      }
      level = place->type->fields();
    }
    is_bytes_ = is_bytes_kind(source_type_->kind());
    pre_key_is_value_ = transform_.kind() != TransformKind::kYear && transform_.kind() != TransformKind::kMonth;
  }

  size_t column() const { return path_.front(); }
  uint32_t count() const { return static_cast<uint32_t>(values_.size()); }
  const Literal& value(uint32_t code) const { return values_[code]; }

  void bind(std::span<const ArrayPtr> columns, int64_t row_count) {
    source_ = Source();
    ArrayPtr array = columns[path_[0]];
    for (size_t depth = 0;; ++depth) {
      add_validity(*array, static_cast<size_t>(row_count));
      if (depth + 1 == path_.size()) break;
      const ArrayPtr& child = array->children.at(path_[depth + 1]);
      array = array->offset == 0 && child->length == array->length ? child : child->slice(array->offset, array->length);
    }
    source_.leaf = std::move(array);
    entry_codes_.clear();
    if (source_.leaf->type->id() == TypeId::kDictionary) {
      entry_codes_.resize(static_cast<size_t>(source_.leaf->dictionary->length), kNoNumber);
    }
  }

  // The codes of rows [begin, begin + count), at most kBlockRows.
  void codes(size_t begin, size_t count, uint32_t* out) {
    for_each_code(begin, count, out, [&](size_t row, const int64_t* pre_key) { return add_row(row, pre_key); });
  }
  // The same of values that are known, without a change: false, with kNoNumber for them, if some are not. Any number of
  // threads.
  bool find_codes(size_t begin, size_t count, uint32_t* out) const {
    bool is_known = true;
    for_each_code(begin, count, out, [&](size_t, const int64_t*) {
      is_known = false;
      return kNoNumber;
    });
    return is_known;
  }

 private:
  // out[i] = the code of the row, or where there is none yet unknown(row, pre-key), with nullptr for what has no pre-key.
  template <typename Unknown>
  void for_each_code(size_t begin, size_t count, uint32_t* out, const Unknown& unknown) const {
    if (source_.leaf->type->id() == TypeId::kDictionary) return dictionary_codes(begin, count, out, unknown);
    if (is_bytes_) return bytes_codes(begin, count, out, unknown);
    std::array<int64_t, kBlockRows> pre_keys;
    const size_t good = fill_pre_keys(begin, {pre_keys.data(), count});
    const bool has_nulls = !source_.validity.empty();
    for (size_t i = 0; i < good; ++i) {
      const bool is_null = has_nulls && !source_.is_valid(begin + i);
      const uint32_t found = is_null ? null_code_ : keys_.find(pre_keys[i]);
      out[i] = found != kNoNumber ? found : unknown(begin + i, is_null ? nullptr : &pre_keys[i]);
    }
    for (size_t i = good; i < count; ++i) out[i] = unknown(begin + i, nullptr);
  }

  // Cold: the first time that a value comes.
  uint32_t add_row(size_t row, const int64_t* pre_key) {
    const Array& leaf = *source_.leaf;
    if (!source_.is_valid(row)) return null_code();
    if (leaf.type->id() == TypeId::kDictionary) {
      const int64_t entry = dictionary_index(leaf, static_cast<int64_t>(row));
      const Array& values = *leaf.dictionary;
      const uint32_t code =
          values.is_valid(entry) ? add_key(key_of_bytes(values.bytes_value(entry)), row) : null_code();
      entry_codes_[static_cast<size_t>(entry)] = code;
      return code;
    }
    if (pre_key != nullptr) return add(*pre_key, row);
    Int128 storage{};
    const std::optional<BytesKey> key = is_bytes_ ? key_of_row(row, storage) : std::nullopt;
    if (!key) throw_out_of_range(row);
    return add_key(*key, row);
  }

  void add_validity(const Array& array, size_t count) {
    if (!array.has_validity() || array.count_nulls() == 0) return;
    const auto offset = static_cast<size_t>(array.offset);
    if (source_.validity.empty()) {
      source_.validity = array.buffers[0];
      source_.validity_offset = offset;
      return;
    }
    MutableBuffer both = pool_->allocate_zeroed(bytes_for_bits(count));
    both.set_size(bytes_for_bits(count));
    and_bits(source_.validity.as<uint8_t>(), source_.validity_offset, array.buffers[0].as<uint8_t>(), offset,
             both.as<uint8_t>(), 0, count);
    source_.validity = std::move(both).freeze();
    source_.validity_offset = 0;
  }

  [[noreturn]] void throw_out_of_range(size_t row) const {
    throw_error(ErrorKind::kInvalidArgument, "partition field '{}': {} of row {} is out of range", name_,
                transform_.to_string(), row);
  }

  uint32_t new_code(Literal value) {
    if (count() >= kMaxPartitions) {
      throw_error(ErrorKind::kUnsupported, "partition field '{}' has more than {} values in one append", name_,
                  kMaxPartitions);
    }
    values_.push_back(std::move(value));
    return count() - 1;
  }

  uint32_t null_code() {
    if (null_code_ == kNoNumber) null_code_ = new_code(Literal::null(transform_.result_type(source_type_)));
    return null_code_;
  }

  // ---- Values of up to 64 bits ----

  // How many units of the source make a unit of the result; 0: the source is what counts (dates).
  int64_t units_per(TransformKind kind) const {
    const int64_t second = is_nanoseconds(source_type_->kind()) ? 1'000'000'000 : 1'000'000;
    return second * (kind == TransformKind::kHour ? 3'600 : 86'400);
  }

  // Nulls give any pre-key. Gives the index of the first value that the transform cannot take, or their number.
  size_t fill_pre_keys(size_t begin, std::span<int64_t> out) const {
    const Array& leaf = *source_.leaf;
    const TypeKind kind = source_type_->kind();
    const size_t count = out.size();
    switch (kind) {
      case TypeKind::kBoolean:
        for (size_t i = 0; i < count; ++i) out[i] = leaf.bool_value(static_cast<int64_t>(begin + i));
        break;
      case TypeKind::kInt:
      case TypeKind::kDate:
        kernel::widen({leaf.values<int32_t>() + begin, count}, out.data());
        break;
      case TypeKind::kFloat:
        kernel::float_bits({leaf.values<float>() + begin, count}, out.data());
        break;
      case TypeKind::kDouble:
        kernel::double_bits({leaf.values<double>() + begin, count}, out.data());
        break;
      case TypeKind::kUnknown:
        std::fill(out.begin(), out.end(), 0);
        break;
      default:
        fill_long_pre_keys({leaf.values<int64_t>() + begin, count}, out.data());
    }
    if (transform_.kind() == TransformKind::kBucket) {
      kernel::bucket(out, transform_.parameter());
    } else if (transform_.kind() == TransformKind::kTruncate) {
      for (size_t done = 0; done < count;) {
        done += kernel::truncate(out.subspan(done), transform_.parameter());
        if (done < count && source_.is_valid(begin + done)) return done;
        if (done < count) out[done++] = 0;  // under a null
      }
    }
    return count;
  }

  void fill_long_pre_keys(std::span<const int64_t> values, int64_t* out) const {
    const bool is_bucket_of_ns = transform_.kind() == TransformKind::kBucket && is_nanoseconds(source_type_->kind());
    switch (transform_.kind()) {
      case TransformKind::kYear:
      case TransformKind::kMonth:
      case TransformKind::kDay:
      case TransformKind::kHour:
        return kernel::floor_divide(values, units_per(transform_.kind()), out);
      default:
        // Both units of timestamps share buckets: nanoseconds hash as microseconds.
        if (is_bucket_of_ns) return kernel::floor_divide(values, 1'000, out);
        std::memcpy(out, values.data(), values.size_bytes());
    }
  }

  // The value that a pre-key stands for: its number where several pre-keys share one, and as a literal.
  int64_t value_number(int64_t pre_key) const {
    switch (transform_.kind()) {
      case TransformKind::kYear:
        return spec::kernel::years_since_1970(pre_key);
      case TransformKind::kMonth:
        return spec::kernel::months_since_1970(pre_key);
      default:
        return pre_key;
    }
  }

  Literal literal_of(int64_t number) const {
    const TypePtr type = transform_.result_type(source_type_);
    switch (type->kind()) {
      case TypeKind::kBoolean:
        return Literal(type, number != 0);
      case TypeKind::kInt:
      case TypeKind::kDate:
        return Literal(type, static_cast<int32_t>(number));
      case TypeKind::kFloat:
        return Literal(type, std::bit_cast<float>(static_cast<int32_t>(number)));
      case TypeKind::kDouble:
        return Literal(type, std::bit_cast<double>(number));
      default:
        return Literal(type, number);
    }
  }

  // Cold: the first time that a pre-key comes.
  uint32_t add(int64_t pre_key, size_t row) {
    const int64_t number = value_number(pre_key);
    const TypeKind kind = transform_.result_type(source_type_)->kind();
    if ((kind == TypeKind::kInt || kind == TypeKind::kDate) && (number < INT32_MIN || number > INT32_MAX)) {
      throw_out_of_range(row);
    }
    uint32_t code = kNoNumber;
    if (pre_key_is_value_) {
      code = new_code(literal_of(number));
    } else {
      auto [place, is_new] = codes_by_value_.try_emplace(number, kNoNumber);
      if (is_new) place->second = new_code(literal_of(number));
      code = place->second;
    }
    keys_.insert(pre_key, code);
    return code;
  }

  // ---- Values as bytes ----

  Literal bytes_literal(std::string_view bytes) const {
    const std::span<const std::byte> span = std::as_bytes(std::span(bytes.data(), bytes.size()));
    switch (source_type_->kind()) {
      case TypeKind::kDecimal:
        return Literal(source_type_, load<Int128>(span.data()));
      case TypeKind::kUuid:
        return Literal(source_type_, uuid_from_bytes(span));
      default:
        return Literal(source_type_, std::string(bytes));
    }
  }

  // What decides the code of a value: its bucket, or bytes.
  struct BytesKey {
    std::optional<int64_t> bucket;
    std::string_view bytes;
  };

  BytesKey bucket_key(int32_t hash) const {
    return {.bucket = spec::kernel::bucket_of(hash, transform_.parameter()), .bytes = {}};
  }
  BytesKey key_of_bytes(std::string_view value) const {
    switch (transform_.kind()) {
      case TransformKind::kBucket:
        return bucket_key(spec::kernel::hash_bytes(std::as_bytes(std::span(value.data(), value.size()))));
      case TransformKind::kTruncate:
        return {.bucket = {},
                .bytes = source_type_->kind() == TypeKind::kString
                             ? spec::kernel::truncate_text(value, transform_.parameter())
                             : value.substr(0, static_cast<size_t>(transform_.parameter()))};
      default:
        return {.bucket = {}, .bytes = value};
    }
  }
  // `value` becomes what the bytes are of. Nothing if the transform cannot take it.
  std::optional<BytesKey> key_of_decimal(Int128& value) const {
    if (transform_.kind() == TransformKind::kBucket) return bucket_key(spec::kernel::hash_decimal(value));
    if (transform_.kind() == TransformKind::kTruncate) {
      const std::optional<Int128> truncated = spec::kernel::truncate_decimal(value, transform_.parameter());
      if (!truncated) return std::nullopt;
      value = *truncated;
    }
    return BytesKey{.bucket = {}, .bytes = {reinterpret_cast<const char*>(&value), sizeof(value)}};
  }
  // Of a row that is not null. `storage` outlives what it gives.
  std::optional<BytesKey> key_of_row(size_t row, Int128& storage) const {
    const Array& leaf = *source_.leaf;
    if (source_type_->kind() != TypeKind::kDecimal) return key_of_bytes(leaf.bytes_value(static_cast<int64_t>(row)));
    storage = load<Int128>(leaf.buffers[1].data() + (static_cast<size_t>(leaf.offset) + row) * sizeof(Int128));
    return key_of_decimal(storage);
  }

  uint32_t find_key(const BytesKey& key) const {
    if (key.bucket) return keys_.find(*key.bucket);
    const uint32_t number = memo_.find(key.bytes);
    return number < codes_by_number_.size() ? codes_by_number_[number] : kNoNumber;
  }
  uint32_t add_key(const BytesKey& key, size_t row) {
    if (const uint32_t found = find_key(key); found != kNoNumber) return found;
    if (key.bucket) return add(*key.bucket, row);
    // A number may be there without a code: new_code() throws.
    const uint32_t number = memo_.number_of(key.bytes);
    if (number >= codes_by_number_.size()) codes_by_number_.resize(number + size_t{1}, kNoNumber);
    return codes_by_number_[number] = new_code(bytes_literal(key.bytes));
  }

  template <typename Unknown>
  void bytes_codes(size_t begin, size_t count, uint32_t* out, const Unknown& unknown) const {
    Int128 storage{};
    for (size_t i = 0; i < count; ++i) {
      const size_t row = begin + i;
      if (source_.is_valid(row)) {
        const std::optional<BytesKey> key = key_of_row(row, storage);
        out[i] = key ? find_key(*key) : kNoNumber;
      } else {
        out[i] = null_code_;
      }
      if (out[i] == kNoNumber) out[i] = unknown(row, nullptr);
    }
  }

  // ---- Dictionary arrays of bytes: a code an entry, found when it first comes.

  template <typename Index, typename Unknown>
  void dictionary_codes_of(const Index* indices, size_t begin, size_t count, uint32_t* out,
                           const Unknown& unknown) const {
    for (size_t i = 0; i < count; ++i) {
      const size_t row = begin + i;
      out[i] = source_.is_valid(row) ? entry_codes_[static_cast<size_t>(indices[row])] : null_code_;
      if (out[i] == kNoNumber) out[i] = unknown(row, nullptr);
    }
  }

  template <typename Unknown>
  void dictionary_codes(size_t begin, size_t count, uint32_t* out, const Unknown& unknown) const {
    const Array& leaf = *source_.leaf;
    switch (leaf.type->index_type()->id()) {
      case TypeId::kInt8:
      case TypeId::kUInt8:
        return dictionary_codes_of(leaf.values<uint8_t>(), begin, count, out, unknown);
      case TypeId::kInt16:
      case TypeId::kUInt16:
        return dictionary_codes_of(leaf.values<uint16_t>(), begin, count, out, unknown);
      case TypeId::kInt32:
      case TypeId::kUInt32:
        return dictionary_codes_of(leaf.values<uint32_t>(), begin, count, out, unknown);
      default:
        return dictionary_codes_of(leaf.values<uint64_t>(), begin, count, out, unknown);
    }
  }

  std::string name_;
  Transform transform_;
  MemoryPool* pool_;
  TypePtr source_type_;
  std::vector<size_t> path_;  // the column, then the field in each struct
  bool is_bytes_ = false;
  bool pre_key_is_value_ = true;

  std::vector<Literal> values_;  // by code
  uint32_t null_code_ = kNoNumber;
  IntegerNumbers keys_;  // pre-key -> code
  std::map<int64_t, uint32_t> codes_by_value_;
  BytesMemo memo_;
  std::vector<uint32_t> codes_by_number_;  // number in the memo -> code

  Source source_;
  std::vector<uint32_t> entry_codes_;  // of the bound dictionary
};

}  // namespace

class PartitionKeys::Impl {
 public:
  Impl(const spec::PartitionSpec& spec, const spec::Schema& schema, MemoryPool& pool, uint64_t seed) : pool_(&pool) {
    for (const spec::PartitionField& field : spec.fields) {
      if (field.transform.is_void()) {
        const spec::NestedField* source = schema.find(field.source_id());
        voids_.push_back(Literal::null(field.transform.result_type(source == nullptr ? nullptr : source->type)));
        places_.push_back(-1);
        continue;
      }
      places_.push_back(static_cast<int>(fields_.size()));
      fields_.emplace_back(field, schema, pool, seed);
    }
    for (size_t i = 1; i < fields_.size(); ++i) pairs_.emplace_back(pool, seed);
  }

  bool is_partitioned() const { return !fields_.empty(); }
  bool uses_column(size_t index) const {
    return std::any_of(fields_.begin(), fields_.end(), [&](const FieldKeys& f) { return f.column() == index; });
  }
  uint32_t count() const {
    if (fields_.empty()) return 1;
    return pairs_.empty() ? fields_.front().count() : pairs_.back().count();
  }

  RowCodes number_rows(std::span<const ArrayPtr> columns, int64_t row_count, ThreadPool* threads) {
    for (FieldKeys& field : fields_) field.bind(columns, row_count);
    RowCodesBuilder result(row_count, *pool_);
    const auto rows = static_cast<size_t>(row_count);
    const size_t first = threads == nullptr ? rows : std::min(rows, kLearnRows);
    for (size_t begin = 0; begin < first; begin += kBlockRows) number_block(begin, rows, result);
    for (size_t begin = first; begin < rows; begin += kWindowRows) number_window(begin, rows, result, *threads);
    return result.finish();
  }

  std::vector<Literal> tuple(uint32_t number) const {
    std::vector<Literal> of_fields(fields_.size());
    for (size_t f = fields_.size(); f-- > 0;) {
      uint32_t code = number;
      if (f > 0) {
        const PairNumbers::Pair pair = pairs_[f - 1].pair(number);
        number = pair.left;
        code = pair.right;
      }
      of_fields[f] = fields_[f].value(code);
    }
    std::vector<Literal> values;
    size_t voids = 0;
    for (int place : places_) {
      values.push_back(place < 0 ? voids_[voids++] : of_fields[static_cast<size_t>(place)]);
    }
    return values;
  }

 private:
  static size_t block_size(size_t begin, size_t rows) { return std::min(kBlockRows, rows - begin); }

  void number_block(size_t begin, size_t rows, RowCodesBuilder& result) {
    const size_t size = block_size(begin, rows);
    std::array<uint32_t, kBlockRows> codes{};
    std::array<uint32_t, kBlockRows> right;
    if (!fields_.empty()) fields_[0].codes(begin, size, codes.data());
    for (size_t f = 1; f < fields_.size(); ++f) {
      fields_[f].codes(begin, size, right.data());
      pairs_[f - 1].number(codes.data(), right.data(), size, f == 1 ? fields_[0].count() : pairs_[f - 2].count(),
                           fields_[f].count());
      if (pairs_[f - 1].count() > kMaxPartitions) {
        throw_error(ErrorKind::kUnsupported, "more than {} partitions in one append", kMaxPartitions);
      }
    }
    result.put(begin, {codes.data(), size});
  }

  // False if a value or a pair in the block has no number yet; nothing is changed then.
  bool number_known_block(size_t begin, size_t rows, RowCodesBuilder& result) const {
    const size_t size = block_size(begin, rows);
    std::array<uint32_t, kBlockRows> codes{};
    std::array<uint32_t, kBlockRows> right;
    if (!fields_.empty() && !fields_[0].find_codes(begin, size, codes.data())) return false;
    for (size_t f = 1; f < fields_.size(); ++f) {
      if (!fields_[f].find_codes(begin, size, right.data())) return false;
      if (!pairs_[f - 1].find(codes.data(), right.data(), size)) return false;
    }
    result.put(begin, {codes.data(), size});
    return true;
  }

  // Most blocks of a window hold what came before, and are numbered side by side. The others follow in the order of
  // rows, so that numbers are those of one thread.
  void number_window(size_t begin, size_t rows, RowCodesBuilder& result, ThreadPool& threads) {
    result.make_room_for(count());
    const size_t block_count = (std::min(rows - begin, kWindowRows) + kBlockRows - 1) / kBlockRows;
    std::array<bool, kWindowRows / kBlockRows> is_done{};
    for_each_index(&threads, (block_count + kTaskBlocks - 1) / kTaskBlocks, [&](size_t task) {
      for (size_t b = task * kTaskBlocks; b < std::min(block_count, (task + 1) * kTaskBlocks); ++b) {
        is_done[b] = number_known_block(begin + b * kBlockRows, rows, result);
      }
    });
    for (size_t b = 0; b < block_count; ++b) {
      if (!is_done[b]) number_block(begin + b * kBlockRows, rows, result);
    }
  }

  MemoryPool* pool_;
  std::vector<FieldKeys> fields_;   // of those that are not void
  std::vector<PairNumbers> pairs_;  // codes of the fields before, and of field i + 1
  std::vector<int> places_;         // of each field of the spec: in fields_, -1: void
  std::vector<Literal> voids_;
};

PartitionKeys::PartitionKeys(const spec::PartitionSpec& spec, const spec::Schema& schema, MemoryPool& pool,
                             uint64_t seed)
    : impl_(std::make_unique<Impl>(spec, schema, pool, seed)) {}
PartitionKeys::~PartitionKeys() = default;
PartitionKeys::PartitionKeys(PartitionKeys&&) noexcept = default;
PartitionKeys& PartitionKeys::operator=(PartitionKeys&&) noexcept = default;

bool PartitionKeys::is_partitioned() const {
  return impl_->is_partitioned();
}
bool PartitionKeys::uses_column(size_t index) const {
  return impl_->uses_column(index);
}
uint32_t PartitionKeys::count() const {
  return impl_->count();
}
RowCodes PartitionKeys::number_rows(std::span<const ArrayPtr> columns, int64_t row_count, ThreadPool* threads) {
  return impl_->number_rows(columns, row_count, threads);
}
std::vector<spec::Literal> PartitionKeys::tuple(uint32_t number) const {
  return impl_->tuple(number);
}

}  // namespace frazil::write
