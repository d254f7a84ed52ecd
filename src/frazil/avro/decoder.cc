// Runs programs: see program.h for what the instructions are.
#include "frazil/avro/decoder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "frazil/avro/program.h"
#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/base/utf8.h"
#include "frazil/base/uuid.h"

namespace frazil::avro {

namespace {

constexpr size_t kViewBytes = 16;
constexpr size_t kMaxArrayBytes = INT32_MAX;  // 32-bit offsets

// A column while it fills. What the instructions touch comes first.
struct Column {
  std::byte* values = nullptr;  // bits, values, offsets or views
  uint8_t* validity = nullptr;  // null if the column is not nullable
  size_t length = 0;
  size_t capacity = 0;  // in values
  size_t null_count = 0;
  std::byte* data = nullptr;  // kBytes
  size_t data_size = 0;       // kBytes: bytes; kList: elements so far
  size_t data_capacity = 0;
  uint32_t width = 0;
  uint32_t element_level = 0;
  Layout layout = Layout::kNull;
  MutableBuffer values_buffer;
  MutableBuffer validity_buffer;
  MutableBuffer data_buffer;
};

size_t bitmap_bytes(size_t bits) {
  return (bits + 7) / 8;
}

// Bytes of the values buffer for `count` values.
size_t values_bytes(const Column& column, size_t count) {
  switch (column.layout) {
    case Layout::kBits:
      return bitmap_bytes(count);
    case Layout::kFixed:
      return count * column.width;
    case Layout::kView:
      return count * kViewBytes;
    case Layout::kBytes:
    case Layout::kList:
      return (count + 1) * sizeof(int32_t);
    default:
      return 0;
  }
}

void regrow(MutableBuffer& buffer, size_t used, size_t wanted, bool zeroed, MemoryPool& pool) {
  MutableBuffer grown = pool.allocate(wanted);
  if (used != 0) std::memcpy(grown.data(), buffer.data(), used);
  if (zeroed) std::memset(grown.data() + used, 0, wanted - used);
  grown.set_size(wanted);
  buffer = std::move(grown);
}

void set_bit(uint8_t* bits, size_t index) {
  bits[index >> 3] = static_cast<uint8_t>(bits[index >> 3] | 1u << (index & 7));
}

}  // namespace

struct BatchDecoder::State {
  State(std::shared_ptr<const Program> shared_program, MemoryPool& memory, DecodeOptions decode_options)
      : program(std::move(shared_program)), code(program->code()), pool(memory), options(decode_options) {
    // Instructions without a column name column 0: there is always one.
    columns.resize(std::max<size_t>(code.columns.size(), 1));
    for (size_t i = 0; i < code.columns.size(); ++i) {
      columns[i].layout = code.columns[i].layout;
      columns[i].width = code.columns[i].width;
      columns[i].element_level = code.columns[i].element_level;
    }
  }

  void reserve(uint32_t level, size_t count);
  void reserve(Column& column, bool nullable, size_t count);
  std::byte* grow_data(Column& column, size_t bytes);
  uint32_t view_buffer_of(const Buffer& data);
  void append_view(Column& column, const std::byte* bytes, size_t size);
  void append_null(Column& column);
  void append_decimal(Column& column, std::span<const std::byte> bytes);
  void run();
  ArrayPtr make_array(const OutputNode& out);
  void check_text(const Column& column, const std::string& path) const;

  // The cursor over the bytes of the block (or of a default).
  [[noreturn]] void fail_short(std::string_view what) const;
  [[noreturn]] void fail_corrupt(std::string_view text) const;
  uint64_t read_varint() {
    if (cursor != end && std::to_integer<uint8_t>(*cursor) < 0x80) return std::to_integer<uint64_t>(*cursor++);
    return read_long_varint();
  }
  uint64_t read_long_varint();
  int64_t read_long() {
    const uint64_t raw = read_varint();
    return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
  }
  const std::byte* take(uint64_t size) {
    if (size > static_cast<uint64_t>(end - cursor)) fail_short("value");
    const std::byte* at = cursor;
    cursor += size;
    return at;
  }
  size_t read_size() {
    const int64_t size = read_long();
    if (size < 0 || size > end - cursor) fail_size(size);
    return static_cast<size_t>(size);
  }
  [[noreturn]] void fail_size(int64_t size) const;
  uint64_t read_items(uint64_t least_bytes, bool skippable);

  std::shared_ptr<const Program> program;
  const Program::Code& code;
  MemoryPool& pool;
  DecodeOptions options;
  std::vector<Column> columns;
  std::vector<Buffer> view_buffers;
  size_t row_count = 0;

  const std::byte* begin = nullptr;
  const std::byte* cursor = nullptr;
  const std::byte* end = nullptr;
  uint32_t view_buffer = 0;
  uint64_t zero_byte_values = 0;
};

void BatchDecoder::State::fail_short(std::string_view what) const {
  throw_corrupt(static_cast<uint64_t>(cursor - begin), "Avro block ends inside a {}", what);
}

void BatchDecoder::State::fail_corrupt(std::string_view text) const {
  throw_corrupt(static_cast<uint64_t>(cursor - begin), "{}", text);
}

void BatchDecoder::State::fail_size(int64_t size) const {
  throw_corrupt(static_cast<uint64_t>(cursor - begin), "a value claims {} bytes, {} are left in the block", size,
                end - cursor);
}

// Ten bytes hold 70 bits. Like Iceberg Java we drop those over 64: a writer of ids over 2^63 made such numbers.
uint64_t BatchDecoder::State::read_long_varint() {
  uint64_t value = 0;
  const std::byte* at = cursor;
  const std::byte* limit = end - at > 10 ? at + 10 : end;
  for (int shift = 0; at != limit; shift += 7) {
    const auto byte = std::to_integer<uint64_t>(*at++);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      cursor = at;
      return value;
    }
  }
  if (end - cursor < 10) fail_short("number");
  fail_corrupt("a number is longer than 10 bytes");
}

// The count of the next block of an array or map; 0 at its end. A skippable block with a byte size is jumped over.
uint64_t BatchDecoder::State::read_items(uint64_t least_bytes, bool skippable) {
  while (true) {
    int64_t count = read_long();
    if (count == 0) return 0;
    if (count < 0) {
      if (count == INT64_MIN) fail_corrupt("the count of a list is out of range");
      count = -count;
      const size_t size = read_size();
      if (skippable) {
        cursor += size;
        continue;
      }
    }
    const auto items = static_cast<uint64_t>(count);
    if (least_bytes == 0) {
      zero_byte_values += std::min(items, kMaxZeroByteValues + 1);
      if (zero_byte_values > kMaxZeroByteValues) fail_corrupt("the block claims too many values that take no bytes");
    } else if (items > static_cast<uint64_t>(end - cursor) / least_bytes) {
      throw_corrupt(static_cast<uint64_t>(cursor - begin), "a list claims {} elements, {} bytes are left in the block",
                    items, end - cursor);
    }
    return items;
  }
}

void BatchDecoder::State::reserve(uint32_t level, size_t count) {
  for (const uint32_t index : code.levels[level]) {
    Column& column = columns[index];
    if (column.length + count > column.capacity || column.capacity == 0)
      reserve(column, code.columns[index].nullable, count);
  }
}

void BatchDecoder::State::reserve(Column& column, bool nullable, size_t count) {
  const size_t wanted = std::max({column.length + count, column.capacity * 2, size_t{16}});
  if (wanted > kMaxArrayBytes)
    throw_error(ErrorKind::kUnsupported, "a batch has more than {} list elements", kMaxArrayBytes);
  if (nullable) {
    regrow(column.validity_buffer, bitmap_bytes(column.length), bitmap_bytes(wanted), true, pool);
    column.validity = column.validity_buffer.as<uint8_t>();
  }
  const size_t bytes = values_bytes(column, wanted);
  if (bytes != 0) {
    const bool offsets = column.layout == Layout::kBytes || column.layout == Layout::kList;
    const size_t used = column.capacity == 0 ? 0 : values_bytes(column, column.length);
    regrow(column.values_buffer, used, bytes, column.layout == Layout::kBits, pool);
    column.values = column.values_buffer.data();
    if (offsets && column.capacity == 0) store(column.values, int32_t{0});
  }
  column.capacity = wanted;
}

std::byte* BatchDecoder::State::grow_data(Column& column, size_t bytes) {
  if (column.data_size + bytes > kMaxArrayBytes) {
    throw_error(ErrorKind::kUnsupported, "a batch has more than {} bytes of one column", kMaxArrayBytes);
  }
  const size_t wanted = std::max({column.data_size + bytes, column.data_capacity * 2, size_t{256}});
  regrow(column.data_buffer, column.data_size, wanted, false, pool);
  column.data = column.data_buffer.data();
  column.data_capacity = column.data_buffer.size();
  return column.data;
}

uint32_t BatchDecoder::State::view_buffer_of(const Buffer& data) {
  if (view_buffers.empty() || view_buffers.back().data() != data.data()) view_buffers.push_back(data);
  return static_cast<uint32_t>(view_buffers.size() - 1);
}

// A view: length, then either up to 12 bytes in place, or 4 bytes of prefix, buffer index and offset.
void BatchDecoder::State::append_view(Column& column, const std::byte* bytes, size_t size) {
  std::byte* view = column.values + column.length * kViewBytes;
  ++column.length;
  const auto offset = static_cast<uint64_t>(bytes - begin);
  if (size > INT32_MAX || offset > INT32_MAX)
    throw_error(ErrorKind::kUnsupported, "a view reaches past 2 GiB of an Avro block");
  std::memset(view, 0, kViewBytes);
  store(view, static_cast<int32_t>(size));
  if (size <= 12) {
    if (size != 0) std::memcpy(view + 4, bytes, size);
    return;
  }
  std::memcpy(view + 4, bytes, 4);
  store(view + 8, view_buffer);
  store(view + 12, static_cast<int32_t>(offset));
}

void BatchDecoder::State::append_null(Column& column) {
  switch (column.layout) {
    case Layout::kFixed:
      if (column.width != 0) std::memset(column.values + column.length * column.width, 0, column.width);
      break;
    case Layout::kView:
      std::memset(column.values + column.length * kViewBytes, 0, kViewBytes);
      break;
    case Layout::kBytes:
    case Layout::kList:
      store(column.values + (column.length + 1) * sizeof(int32_t), static_cast<int32_t>(column.data_size));
      break;
    default:
      break;
  }
  ++column.length;
  ++column.null_count;
}

// Big-endian two's complement of any length into little-endian of the column's width.
void BatchDecoder::State::append_decimal(Column& column, std::span<const std::byte> bytes) {
  std::byte* value = column.values + column.length * column.width;
  const std::byte sign =
      !bytes.empty() && (bytes[0] & std::byte{0x80}) != std::byte{0} ? std::byte{0xFF} : std::byte{0};
  size_t extra = bytes.size() > column.width ? bytes.size() - column.width : 0;
  for (size_t i = 0; i < extra; ++i) {
    if (bytes[i] != sign) fail_corrupt("a decimal does not fit its precision");
  }
  if (extra != 0 && ((bytes[extra] ^ sign) & std::byte{0x80}) != std::byte{0})
    fail_corrupt("a decimal does not fit its precision");
  bytes = bytes.subspan(extra);
  for (size_t i = 0; i < bytes.size(); ++i) value[i] = bytes[bytes.size() - 1 - i];
  std::memset(value + bytes.size(), std::to_integer<int>(sign), column.width - bytes.size());
  ++column.length;
}

void BatchDecoder::State::run() {
  const Op* const ops = code.ops.data();
  Column* const all = columns.data();
  const Op* op = ops;
  std::array<uint64_t, kMaxSchemaDepth + 1> remaining;  // of the loops that are open
  size_t depth = 0;
  const std::byte* raw_begin = nullptr;
  const std::byte* saved_begin = nullptr;
  const std::byte* saved_cursor = nullptr;
  const std::byte* saved_end = nullptr;
  uint32_t saved_view_buffer = 0;

  const auto append = [](Column& column, auto value) {
    store(column.values + column.length * sizeof(value), value);
    ++column.length;
  };

  for (;; ++op) {
    Column& column = all[op->column];
    switch (op->code) {
      case OpCode::kNull:
      case OpCode::kStruct:
        ++column.length;
        break;
      case OpCode::kBool: {
        const auto value = std::to_integer<uint8_t>(*take(1));
        if (value > 1) fail_corrupt("a boolean is neither 0 nor 1");
        if (value != 0) set_bit(reinterpret_cast<uint8_t*>(column.values), column.length);
        ++column.length;
        break;
      }
      case OpCode::kInt32: {
        const int64_t value = read_long();
        if (value != static_cast<int32_t>(value)) fail_corrupt("an int has more than 32 bits");
        append(column, static_cast<int32_t>(value));
        break;
      }
      case OpCode::kInt64:
        append(column, read_long());
        break;
      case OpCode::kInt64ToFloat:
        append(column, static_cast<float>(read_long()));
        break;
      case OpCode::kInt64ToDouble:
        append(column, static_cast<double>(read_long()));
        break;
      case OpCode::kFloat:
        append(column, load<uint32_t>(take(4)));
        break;
      case OpCode::kFloatToDouble:
        append(column, static_cast<double>(load<float>(take(4))));
        break;
      case OpCode::kDouble:
        append(column, load<uint64_t>(take(8)));
        break;
      case OpCode::kBytes: {
        const size_t size = read_size();
        if (size > column.data_capacity - column.data_size) grow_data(column, size);
        if (size != 0) std::memcpy(column.data + column.data_size, cursor, size);
        cursor += size;
        column.data_size += size;
        ++column.length;
        store(column.values + column.length * sizeof(int32_t), static_cast<int32_t>(column.data_size));
        break;
      }
      case OpCode::kView: {
        const size_t size = read_size();
        append_view(column, cursor, size);
        cursor += size;
        break;
      }
      case OpCode::kFixed: {
        const std::byte* bytes = take(op->a);
        if (op->a != 0) std::memcpy(column.values + column.length * op->a, bytes, op->a);
        ++column.length;
        break;
      }
      case OpCode::kUuidText: {
        const size_t size = read_size();
        const auto uuid = try_parse_uuid({reinterpret_cast<const char*>(cursor), size});
        if (!uuid) fail_corrupt("a text is no UUID");
        cursor += size;
        append(column, uuid->bytes);
        break;
      }
      case OpCode::kDecimalBytes: {
        const size_t size = read_size();
        append_decimal(column, {cursor, size});
        cursor += size;
        break;
      }
      case OpCode::kDecimalFixed:
        append_decimal(column, {take(op->a), op->a});
        break;
      case OpCode::kEnum: {
        const std::vector<int32_t>& map = code.enum_maps[op->a];
        const uint64_t symbol = static_cast<uint64_t>(read_long());
        if (symbol >= map.size()) fail_corrupt("an enum has no such symbol");
        if (map[symbol] < 0) fail_corrupt("an enum's symbol is unknown to the reader");
        append(column, map[symbol]);
        break;
      }
      case OpCode::kDuration: {
        const std::byte* bytes = take(12);
        const auto months = load<uint32_t>(bytes);
        const auto days = load<uint32_t>(bytes + 4);
        if (months > INT32_MAX || days > INT32_MAX) fail_corrupt("a duration is over 2^31 months or days");
        std::byte* value = column.values + column.length * 16;
        store(value, months);
        store(value + 4, days);
        store(value + 8, int64_t{load<uint32_t>(bytes + 8)} * 1'000'000);
        ++column.length;
        break;
      }
      case OpCode::kValid:
        set_bit(column.validity, column.length);
        break;
      case OpCode::kAppendNull:
        append_null(column);
        break;
      case OpCode::kNullable: {
        const uint64_t branch = static_cast<uint64_t>(read_long());
        if (branch > 1) fail_corrupt("a union has no such branch");
        if (branch == op->a) {
          op = ops + op->b - 1;
        } else if (column.validity != nullptr) {
          set_bit(column.validity, column.length);
        }
        break;
      }
      case OpCode::kListBegin:
      case OpCode::kListNext: {
        if (op->code == OpCode::kListBegin) {
          remaining[depth++] = 1;
        }
        if (--remaining[depth - 1] == 0) {
          const uint64_t items = read_items(op->a, false);
          if (items == 0) {
            --depth;
            ++column.length;
            store(column.values + column.length * sizeof(int32_t), static_cast<int32_t>(column.data_size));
            if (op->code == OpCode::kListBegin) op = ops + op->b - 1;
            break;
          }
          column.data_size += items;
          if (column.data_size > kMaxArrayBytes) {
            throw_error(ErrorKind::kUnsupported, "a batch has more than {} list elements", kMaxArrayBytes);
          }
          reserve(column.element_level, items);
          remaining[depth - 1] = items;
        }
        if (op->code == OpCode::kListNext) op = ops + op->b - 1;
        break;
      }
      case OpCode::kSkipVarint:
        read_varint();
        break;
      case OpCode::kSkipBytes:
        cursor += read_size();
        break;
      case OpCode::kSkipFixed:
        take(op->a);
        break;
      case OpCode::kSkipListBegin:
      case OpCode::kSkipListNext: {
        if (op->code == OpCode::kSkipListBegin) remaining[depth++] = 1;
        if (--remaining[depth - 1] == 0) {
          const uint64_t items = read_items(op->a, true);
          if (items == 0) {
            --depth;
            if (op->code == OpCode::kSkipListBegin) op = ops + op->b - 1;
            break;
          }
          remaining[depth - 1] = items;
        }
        if (op->code == OpCode::kSkipListNext) op = ops + op->b - 1;
        break;
      }
      case OpCode::kSkipEmptyList:
        while (read_items(0, true) != 0) {
        }
        break;
      case OpCode::kSkipVarintList:
        while (const uint64_t items = read_items(op->a, true)) {
          for (uint64_t i = 0; i < items * op->a; ++i) read_varint();
        }
        break;
      case OpCode::kSkipVarintBytesList:
        while (const uint64_t items = read_items(2, true)) {
          for (uint64_t i = 0; i < items; ++i) {
            read_varint();
            cursor += read_size();
          }
        }
        break;
      case OpCode::kBranch: {
        const std::vector<uint32_t>& table = code.branch_tables[op->a];
        const uint64_t branch = static_cast<uint64_t>(read_long());
        if (branch >= table.size()) fail_corrupt("a union has no such branch");
        op = ops + table[branch] - 1;
        break;
      }
      case OpCode::kJump:
        op = ops + op->b - 1;
        break;
      case OpCode::kFail:
        fail_corrupt(code.failures[op->a]);
      case OpCode::kRawBegin:
        raw_begin = cursor;
        break;
      case OpCode::kRawEnd:
        append_view(column, raw_begin, static_cast<size_t>(cursor - raw_begin));
        break;
      case OpCode::kConstantBegin:
        saved_begin = begin;
        saved_cursor = cursor;
        saved_end = end;
        saved_view_buffer = view_buffer;
        begin = code.constants.data();
        cursor = begin + op->a;
        end = cursor + op->b;
        view_buffer = 0;
        break;
      case OpCode::kConstantEnd:
        begin = saved_begin;
        cursor = saved_cursor;
        end = saved_end;
        view_buffer = saved_view_buffer;
        break;
      case OpCode::kEnd:
        return;
    }
  }
}

void BatchDecoder::State::check_text(const Column& column, const std::string& path) const {
  const std::string_view text(reinterpret_cast<const char*>(column.data), column.data_size);
  const size_t valid = valid_utf8_prefix(text);
  bool good = valid == text.size();
  for (size_t i = 0; i < column.length && good; ++i) {
    const auto offset = static_cast<size_t>(load<int32_t>(column.values + i * sizeof(int32_t)));
    good = offset == text.size() || (static_cast<uint8_t>(text[offset]) & 0xC0) != 0x80;
  }
  if (!good) throw_corrupt(CorruptError::kNoOffset, "column '{}' holds text that is not UTF-8", path);
}

ArrayPtr BatchDecoder::State::make_array(const OutputNode& out) {
  Column& column = columns[out.column];
  const ColumnSpec& spec = code.columns[out.column];
  auto array = std::make_shared<Array>();
  array->type = out.type;
  array->length = static_cast<int64_t>(column.length);
  array->null_count = spec.nullable ? static_cast<int64_t>(column.null_count) : 0;
  if (spec.layout == Layout::kNull) array->null_count = array->length;
  if (spec.text && options.check_utf8 && column.data_size != 0) check_text(column, code.column_paths[out.column]);
  if (array->null_count != 0 && spec.nullable) {
    column.validity_buffer.set_size(bitmap_bytes(column.length));
    array->buffers[0] = std::move(column.validity_buffer).freeze();
  }
  if (column.values != nullptr) {
    column.values_buffer.set_size(values_bytes(column, column.length));
    array->buffers[1] = std::move(column.values_buffer).freeze();
  }
  if (column.data != nullptr) {
    column.data_buffer.set_size(column.data_size);
    array->buffers[2] = std::move(column.data_buffer).freeze();
  }
  if (spec.layout == Layout::kView) array->variadic_buffers = view_buffers;
  array->dictionary = out.dictionary;
  for (const OutputNode& child : out.children) array->children.push_back(make_array(child));
  column.values_buffer = MutableBuffer();
  column.validity_buffer = MutableBuffer();
  column.data_buffer = MutableBuffer();
  column.values = column.data = nullptr;
  column.validity = nullptr;
  column.length = column.capacity = column.null_count = column.data_size = column.data_capacity = 0;
  return array;
}

BatchDecoder::BatchDecoder(std::shared_ptr<const Program> program, MemoryPool& pool, DecodeOptions options)
    : state_(std::make_unique<State>(std::move(program), pool, options)) {}
BatchDecoder::~BatchDecoder() = default;
BatchDecoder::BatchDecoder(BatchDecoder&&) noexcept = default;

size_t BatchDecoder::row_count() const {
  return state_->row_count;
}

size_t BatchDecoder::decode(Block& block, size_t max_rows, size_t max_bytes) {
  State& state = *state_;
  const Program::Code& code = state.code;
  const std::span<const std::byte> data = block.data.span();
  const size_t left = data.size() - block.position;
  if (code.record_least_bytes == 0 ? block.record_count > kMaxZeroByteValues
                                   : block.record_count > left / code.record_least_bytes) {
    throw_corrupt(block.position, "block claims {} records, and has {} bytes", block.record_count, left);
  }
  const auto rows = static_cast<size_t>(std::min<uint64_t>(block.record_count, max_rows));
  if (code.has_views) {
    if (state.view_buffers.empty() && !code.constants.empty()) state.view_buffers.push_back(code.constants);
    state.view_buffer = state.view_buffer_of(block.data);
  }
  state.begin = data.data();
  state.cursor = state.begin + block.position;
  state.end = state.begin + data.size();
  if (block.position == 0) state.zero_byte_values = 0;
  state.reserve(0, rows);
  const std::byte* const stop = max_bytes < left ? state.cursor + max_bytes : state.end;
  size_t done = 0;
  while (done < rows) {
    state.run();
    ++done;
    if (state.cursor >= stop && max_bytes < left) break;
  }
  block.position = static_cast<size_t>(state.cursor - state.begin);
  block.record_count -= done;
  state.row_count += done;
  if (block.record_count == 0 && block.position != data.size()) {
    throw_corrupt(block.position, "block has {} bytes after its last record", data.size() - block.position);
  }
  return done;
}

RecordBatch BatchDecoder::finish() {
  State& state = *state_;
  // What stayed empty has buffers too: Arrow wants one offset even of no values.
  for (uint32_t level = 0; level < state.code.levels.size(); ++level) state.reserve(level, 0);
  std::vector<ArrayPtr> arrays;
  arrays.reserve(state.code.outputs.size());
  for (const OutputNode& out : state.code.outputs) arrays.push_back(state.make_array(out));
  const auto rows = static_cast<int64_t>(state.row_count);
  state.row_count = 0;
  state.view_buffers.clear();
  return RecordBatch(state.code.schema, rows, std::move(arrays));
}

}  // namespace frazil::avro
