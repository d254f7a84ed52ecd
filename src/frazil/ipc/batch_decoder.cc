#include "frazil/ipc/batch_decoder.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "frazil/base/bits.h"
#include "frazil/base/error.h"
#include "frazil/ipc/array_arena.h"
#include "frazil/ipc/metadata_tables.h"
#include "frazil/ipc/plain_columns.h"

namespace frazil::ipc {
namespace {

// Arrow 0.17 had a codec before the format had one.
constexpr std::string_view kExperimentalCompression = "ARROW:experimental_compression";

// Bytes of `length` values; more than any body has where it overflows.
uint64_t bytes_of(int64_t length, uint64_t width) {
  uint64_t bytes = 0;
  return __builtin_mul_overflow(static_cast<uint64_t>(length), width, &bytes) ? UINT64_MAX : bytes;
}

uint64_t bitmap_bytes(int64_t length) {
  return bytes_for_bits(static_cast<size_t>(length));
}

// One batch being decoded.
class Batch {
 public:
  Batch(BatchDecoder& decoder, const Message& message, const FlatTable& table, const Body& body,
        const BodyBuffers::Changes& changes)
      : decoder_(decoder),
        message_(message),
        body_(body),
        nodes_(table.vector(record_batch_field::kNodes, sizeof(FieldNode))),
        next_node_(nodes_.data()),
        nodes_left_(nodes_.size()),
        variadic_(table.vector(record_batch_field::kVariadicBufferCounts, sizeof(int64_t))),
        buffers_(table.vector(record_batch_field::kBuffers, sizeof(BufferPlace)), message.body_bytes(), body, changes) {
  }

  // Room for the arrays of each level.
  void make_room(std::span<const uint32_t> level_sizes) {
    size_t count = 0;
    for (const uint32_t size : level_sizes) count += size;
    // So many nodes are in the message, which bounds what is allocated.
    if (count > nodes_.size()) throw_too_few_nodes();
    if (count == 0) return;
    const auto arena_of = [&](uint32_t size) {
      return std::make_shared<ArrayArena>(decoder_.pool(), size, body_.whole);
    };
    columns_ = {arena_of(level_sizes.front()), level_sizes.front()};
    for (const uint32_t size : level_sizes.subspan(1)) below_.push_back(arena_of(size));
  }

  // Where the first node of the next column is planned. Those behind it follow.
  void go_to(const PlannedNode* plan) { next_plan_ = plan; }
  // The next column.
  ArrayPtr column() {
    Array& array = node();
    return {columns_.of(column_count_++), &array};
  }

  // Appends the next columns, `count_max` at most, as long as they are plain.
  void append_plain(size_t count_max, int64_t row_count, std::vector<ArrayPtr>& columns) {
    if (!buffers_.is_plain()) return;
    ColumnCursor cursor{next_plan_, next_node_, buffers_.places(), nodes_left_, buffers_.remaining()};
    append_plain_columns(cursor, count_max, row_count, body_.whole.span(), columns_, columns);
    next_plan_ = cursor.plan;
    next_node_ = cursor.node;
    nodes_left_ = cursor.nodes_left;
    buffers_.skip(buffers_.remaining() - cursor.places_left);
  }

  void skip(const PlannedColumn& column) {
    if (column.node_count > nodes_left_) throw_too_few_nodes();
    nodes_left_ -= column.node_count;
    next_node_ += column.node_count * sizeof(FieldNode);
    uint64_t count = column.buffer_count;
    if (message_.is_version4()) count += column.version4_count;
    for (uint32_t i = 0; i < column.view_count; ++i) count += variadic_count();
    buffers_.skip(count);
  }

 private:
  ArrayArena& arena_of(uint8_t level) const { return level == 0 ? columns_.arena() : *below_[level - 1]; }

  Array& node() {
    const PlannedNode& plan = *next_plan_++;
    if (nodes_left_ == 0) throw_too_few_nodes();
    const auto length = load<int64_t>(next_node_);
    const auto null_count = load<int64_t>(next_node_ + sizeof(int64_t));
    if (length < 0 || null_count < kUnknownNullCount || null_count > length) throw_node(length, null_count);
    --nodes_left_;
    next_node_ += sizeof(FieldNode);
    ArrayArena& arena = arena_of(plan.level);
    Array& array = arena.add(*plan.type);
    array.length = length;
    array.null_count = null_count;
    switch (plan.layout) {
      case Layout::kFixedWidth:
        if (plan.width == 0) check_implicit(length);
        validity(arena, array);
        values(arena, plan, bytes_of(length, plan.width), array);
        break;
      case Layout::kBytes:
        validity(arena, array);
        values(arena, plan, offset_bytes(plan, length), array);
        buffers_.next(arena, 0, 1, ByteOrder::kNone, array.buffers[2]);
        break;
      default:
        fill_other(plan, arena, array);
    }
    return array;
  }

  // What most columns are not. A call of its own, so that node() stays short.
  [[gnu::noinline]] void fill_other(const PlannedNode& plan, ArrayArena& arena, Array& array) {
    const int64_t length = array.length;
    switch (plan.layout) {
      case Layout::kNull:
        check_implicit(length);
        array.null_count = length;
        break;
      case Layout::kBool:
        validity(arena, array);
        buffers_.next(arena, bitmap_bytes(length), 1, ByteOrder::kNone, array.buffers[1]);
        break;
      case Layout::kFixedWidth:
      case Layout::kBytes:
        break;
      case Layout::kView:
        validity(arena, array);
        values(arena, plan, bytes_of(length, plan.width), array);
        view_data(arena, array);
        break;
      case Layout::kList:
        validity(arena, array);
        values(arena, plan, offset_bytes(plan, length), array);
        children(plan, array);
        break;
      case Layout::kListView:
        validity(arena, array);
        values(arena, plan, bytes_of(length, plan.width), array);
        buffers_.next(arena, bytes_of(length, plan.width), plan.alignment, plan.order, array.buffers[2]);
        children(plan, array);
        break;
      case Layout::kFixedSizeList:
        validity(arena, array);
        children(plan, array);
        check_fixed_size_list(array);
        break;
      case Layout::kStruct:
        if (plan.child_count == 0) check_implicit(length);
        validity(arena, array);
        children(plan, array);
        check_fields(array);
        break;
      case Layout::kSparseUnion:
        type_ids(arena, array);
        children(plan, array);
        check_fields(array);
        break;
      case Layout::kDenseUnion:
        type_ids(arena, array);
        values(arena, plan, bytes_of(length, plan.width), array);
        children(plan, array);
        break;
      case Layout::kDictionary:
        validity(arena, array);
        values(arena, plan, bytes_of(length, plan.width), array);
        arena.keep_others();
        array.dictionary = decoder_.dictionary(plan.dictionary, array.null_count == length);
        break;
      case Layout::kRunEnd:
        check_implicit(length);
        version4_validity(array);
        children(plan, array);
        check_runs(array);
        break;
    }
  }

  // Without nulls nobody needs the bits, and writers may leave them out.
  void validity(ArrayArena& arena, Array& array) {
    if (array.null_count == 0) {
      buffers_.pass();
      return;
    }
    // Where the number of nulls is unknown, no bits are none.
    const uint64_t needed = array.null_count > 0 ? bitmap_bytes(array.length) : 0;
    buffers_.next(arena, needed, 1, ByteOrder::kNone, array.buffers[0]);
    if (array.buffers[0].size() > 0 && array.buffers[0].size() < bitmap_bytes(array.length)) {
      throw_corrupt(body_.offset, "validity of {} values in {} bytes", array.length, array.buffers[0].size());
    }
  }

  void values(ArrayArena& arena, const PlannedNode& plan, uint64_t needed, Array& array) {
    buffers_.next(arena, needed, plan.alignment, plan.order, array.buffers[1]);
  }

  // Those of an empty array may be no bytes at all.
  static uint64_t offset_bytes(const PlannedNode& plan, int64_t length) {
    return length == 0 ? 0 : bytes_of(length + (length < INT64_MAX ? 1 : 0), plan.width);
  }

  uint64_t variadic_count() {
    if (next_variadic_ == variadic_.size()) {
      throw_corrupt(message_.base_offset(), "a message with {} variadic counts has more views", variadic_.size());
    }
    const auto count = variadic_.scalar<int64_t>(next_variadic_++);
    if (count < 0 || static_cast<uint64_t>(count) > buffers_.remaining()) {
      throw_corrupt(message_.base_offset(), "a view with {} buffers, of which {} are left", count,
                    buffers_.remaining());
    }
    return static_cast<uint64_t>(count);
  }

  void view_data(ArrayArena& arena, Array& array) {
    arena.keep_others();
    array.variadic_buffers.resize(static_cast<size_t>(variadic_count()));
    for (Buffer& buffer : array.variadic_buffers) buffers_.next(arena, 0, 1, ByteOrder::kNone, buffer);
  }

  // All but null had validity in version 4; what it said of unions beside their children's is lost to all others. Arrow C++
  // keeps to that with run ends, which came later.
  void version4_validity(Array& array) {
    if (message_.is_version4() && buffers_.pass_and_measure() > 0 && array.null_count > 0) {
      throw_error(ErrorKind::kUnsupported, "a {} with {} nulls of its own (metadata of version 4) is not read",
                  to_string(array.type->id()), array.null_count);
    }
    array.null_count = 0;
  }

  void type_ids(ArrayArena& arena, Array& array) {
    version4_validity(array);
    buffers_.next(arena, static_cast<uint64_t>(array.length), 1, ByteOrder::kNone, array.buffers[0]);
  }

  void children(const PlannedNode& plan, Array& array) {
    arena_of(plan.level).keep_others();
    array.children.reserve(plan.child_count);
    for (uint32_t i = 0; i < plan.child_count; ++i) {
      Array& child = node();
      array.children.emplace_back(below_[plan.level], &child);
    }
  }

  void check_implicit(int64_t length) const {
    if (length > kMaxImplicitLength) {
      throw_corrupt(message_.base_offset(), "{} values without bytes behind them, more than {}", length,
                    kMaxImplicitLength);
    }
  }

  void check_fields(const Array& array) const {
    for (const ArrayPtr& child : array.children) {
      if (child->length < array.length) throw_child(array.length, child->length);
    }
  }

  void check_fixed_size_list(const Array& array) const {
    if (array.type->fixed_size() == 0) check_implicit(array.length);
    const uint64_t needed = bytes_of(array.length, static_cast<uint64_t>(array.type->fixed_size()));
    if (static_cast<uint64_t>(array.children[0]->length) < needed) throw_child(array.length, array.children[0]->length);
  }

  void check_runs(const Array& array) const {
    const Array& ends = *array.children[0];
    if (ends.has_validity()) throw_corrupt(message_.base_offset(), "run ends have nulls");
    if (ends.length > array.children[1]->length || (ends.length == 0 && array.length > 0)) {
      throw_corrupt(message_.base_offset(), "{} run ends with {} values for {} values", ends.length,
                    array.children[1]->length, array.length);
    }
  }

  [[noreturn]] void throw_too_few_nodes() const {
    throw_corrupt(message_.base_offset(), "a message with {} nodes has more in its schema", nodes_.size());
  }
  [[noreturn]] void throw_node(int64_t length, int64_t null_count) const {
    throw_corrupt(message_.base_offset(), "node {} has {} values and {} nulls", nodes_.size() - nodes_left_, length,
                  null_count);
  }
  [[noreturn]] void throw_child(int64_t length, int64_t child_length) const {
    throw_corrupt(message_.base_offset(), "a child of {} values is too short for {}", child_length, length);
  }

  BatchDecoder& decoder_;
  const Message& message_;
  const Body& body_;
  const FlatVector nodes_;
  const std::byte* next_node_;
  size_t nodes_left_;
  const FlatVector variadic_;
  size_t next_variadic_ = 0;
  const PlannedNode* next_plan_ = nullptr;
  BodyBuffers buffers_;
  ArenaOwners columns_;
  size_t column_count_ = 0;
  std::vector<std::shared_ptr<ArrayArena>> below_;  // a level each
};

bool same_text(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](char a, char b) { return (a | 0x20) == (b | 0x20); });
}

}  // namespace

BatchDecoder::BatchDecoder(std::shared_ptr<const ReadSchema> schema, DictionaryRules rules, const ReadOptions& options,
                           MemoryPool& pool)
    : whole_(std::move(schema)),
      projection_(*whole_, options.columns),
      options_(options),
      pool_(pool),
      dictionaries_(*whole_, rules) {}

Codec BatchDecoder::codec_of(const Message& message, const FlatTable& batch) const {
  if (const std::optional<FlatTable> compression = batch.table(record_batch_field::kCompression)) {
    const auto codec = compression->scalar<int8_t>(body_compression_field::kCodec, 0);
    const auto method = compression->scalar<int8_t>(body_compression_field::kMethod, 0);
    if (method != 0) throw_error(ErrorKind::kUnsupported, "compression of method {} is not read", method);
    if (codec == kLz4FrameCompression) return Codec::kLz4Frame;
    if (codec == kZstdCompression) return Codec::kZstd;
    throw_error(ErrorKind::kUnsupported, "compression of kind {} is not read", codec);
  }
  if (!message.is_version4()) return Codec::kNone;
  const std::optional<std::string_view> name = message.find_custom_metadata(kExperimentalCompression);
  if (!name) return Codec::kNone;
  if (same_text(*name, "lz4") || same_text(*name, "lz4_frame")) return Codec::kLz4Frame;
  if (same_text(*name, "zstd")) return Codec::kZstd;
  throw_error(ErrorKind::kUnsupported, "compression '{}' is not read", *name);
}

BodyBuffers::Changes BatchDecoder::changes_of(const Message& message, const FlatTable& batch) {
  const Codec codec = codec_of(message, batch);
  if (codec != Codec::kNone && !decompressor_) decompressor_.emplace(pool_);
  return {pool_, decompressor_ ? &*decompressor_ : nullptr, options_.max_decompressed_bytes, codec,
          whole_->is_big_endian};
}

bool BatchDecoder::wants_dictionary(const Message& message) const {
  const uint32_t number = dictionaries_.number_of(message);
  return projection_.is_all || projection_.dictionaries[number];
}

void BatchDecoder::add_dictionary(const Message& message, Buffer metadata, Buffer body, uint64_t body_offset) {
  if (wants_dictionary(message)) dictionaries_.add(message, std::move(metadata), std::move(body), body_offset);
}

int64_t row_count_of(const Message& message) {
  const auto length = message.header().scalar<int64_t>(record_batch_field::kLength, 0);
  if (length < 0) throw_corrupt(message.base_offset(), "a batch of {} rows", length);
  return length;
}

RecordBatch BatchDecoder::decode(const Message& message, const Body& body) {
  const FlatTable& table = message.header();
  const int64_t row_count = row_count_of(message);
  const BodyBuffers::Changes changes = changes_of(message, table);
  const std::vector<PlannedColumn>& planned = whole_->plan.columns;
  std::vector<ArrayPtr> columns;
  size_t source = 0;
  bool fits = true;  // the column at `source`
  try {
    Batch batch(*this, message, table, body, changes);
    if (projection_.is_all) {
      if (planned.empty() && row_count > kMaxImplicitLength) {
        throw_corrupt(message.base_offset(), "{} rows without columns", row_count);
      }
      batch.make_room(whole_->plan.level_sizes);
      columns.reserve(planned.size());
      batch.go_to(whole_->plan.nodes.data());
      while (true) {
        batch.append_plain(planned.size() - columns.size(), row_count, columns);
        source = columns.size();
        if (source == planned.size()) break;
        fits = columns.emplace_back(batch.column())->length == row_count;
        if (!fits) break;
      }
    } else {
      batch.make_room(projection_.level_sizes);
      columns.resize(projection_.columns.size());
      for (const Projection::Column& column : projection_.columns) {
        for (; source < column.source; ++source) batch.skip(planned[source]);
        batch.go_to(whole_->plan.nodes.data() + column.first_node);
        columns[column.target] = batch.column();
        fits = columns[column.target]->length == row_count;
        if (!fits) break;
        ++source;
      }
    }
  } catch (Error& error) {
    if (source < planned.size()) {
      error.add_context(frazil::message("reading column '{}' of a batch", whole_->schema->field(source).name));
    }
    throw;
  }
  if (!fits) {
    throw_corrupt(message.base_offset(), "column '{}' has another number of values than the batch's {} rows",
                  whole_->schema->field(source).name, row_count);
  }
  RecordBatch result = RecordBatch::trusted(projection_.schema, row_count, std::move(columns));
  if (options_.validation == Validation::kFull) validate_full_but_dictionaries(result);
  return result;
}

ArrayPtr BatchDecoder::decode_dictionary(const Message& message, const ReadSchema::Dictionary& dictionary,
                                         const Body& body) {
  const std::optional<FlatTable> table = message.header().table(dictionary_batch_field::kData);
  if (!table) throw_corrupt(message.base_offset(), "a dictionary without values");
  const BodyBuffers::Changes changes = changes_of(message, *table);
  Batch batch(*this, message, *table, body, changes);
  batch.make_room(dictionary.plan.level_sizes);
  batch.go_to(dictionary.plan.nodes.data());
  return batch.column();
}

void BatchDecoder::wanted_ranges(const Message& message, std::vector<ByteRange>& ranges) const {
  const FlatTable& table = message.header();
  const FlatVector places = table.vector(record_batch_field::kBuffers, sizeof(BufferPlace));
  const FlatVector variadic = table.vector(record_batch_field::kVariadicBufferCounts, sizeof(int64_t));
  size_t buffer = 0;
  size_t view = 0;
  const auto buffers_of = [&](const PlannedColumn& column) {
    uint64_t count = column.buffer_count;
    if (message.is_version4()) count += column.version4_count;
    for (uint32_t i = 0; i < column.view_count; ++i, ++view) {
      const int64_t more = view < variadic.size() ? variadic.scalar<int64_t>(view) : -1;
      if (more < 0 || static_cast<uint64_t>(more) > places.size()) {
        throw_corrupt(message.base_offset(), "view {} has {} of {} buffers", view, more, places.size());
      }
      count += static_cast<uint64_t>(more);
    }
    if (count > places.size() - buffer) {
      throw_corrupt(message.base_offset(), "a message with {} buffers has more in its schema", places.size());
    }
    return static_cast<size_t>(count);
  };
  size_t source = 0;
  for (const Projection::Column& column : projection_.columns) {
    for (; source < column.source; ++source) buffer += buffers_of(whole_->plan.columns[source]);
    const size_t end = buffer + buffers_of(whole_->plan.columns[source++]);
    for (; buffer < end; ++buffer) {
      const auto offset = load<uint64_t>(places.data() + buffer * sizeof(BufferPlace));
      const auto length = load<uint64_t>(places.data() + buffer * sizeof(BufferPlace) + sizeof(uint64_t));
      if (length > message.body_bytes() || offset > message.body_bytes() - length) {
        throw_corrupt(message.base_offset(), "buffer {} is not inside of its body of {} bytes", buffer,
                      message.body_bytes());
      }
      ranges.push_back({offset, length});
    }
  }
}

}  // namespace frazil::ipc
