#include "frazil/parquet/file_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/parquet/bloom_filter.h"
#include "frazil/parquet/footer_writer.h"
#include "frazil/parquet/shred.h"
#include "frazil/parquet/thrift_writer.h"

namespace frazil::parquet {

namespace {

constexpr std::string_view kMagic = "PAR1";

// Shorter pieces are put together before they are written: a small file is one call.
constexpr size_t kStagedBytes = size_t{64} << 10;

// After so many rows, or bytes of the arrays, it is looked at whether the row group is full.
constexpr int64_t kStepRows = 65'536;
constexpr int64_t kStepRowsMin = 64;  // buffers may be much longer than what a batch shows of them
constexpr uint64_t kStepsPerRowGroup = 8;

// ---- What a batch must look like ----

const DataType& value_type(const DataType& type) {
  const DataType* at = &type;
  for (;;) {
    if (at->id() == TypeId::kDictionary) {
      at = at->value_type().get();
    } else if (at->id() == TypeId::kRunEndEncoded) {
      at = at->children()[1].type.get();
    } else {
      return *at;
    }
  }
}

// Whether arrays of `given` can be written as `wanted`: names, nullability, forms of lists and encodings may differ.
bool conforms(const DataType& wanted_form, const DataType& given_form) {
  const DataType& wanted = value_type(wanted_form);
  const DataType& given = value_type(given_form);
  const bool is_nested = is_list(wanted.id()) || wanted.id() == TypeId::kStruct;
  if (!is_nested) return wanted.equals(given);
  const bool same_kind = (wanted.id() == TypeId::kMap) == (given.id() == TypeId::kMap) &&
                         (wanted.id() == TypeId::kStruct) == (given.id() == TypeId::kStruct);
  if (!same_kind || wanted.children().size() != given.children().size()) return false;
  for (size_t i = 0; i < wanted.children().size(); ++i) {
    if (!conforms(*wanted.children()[i].type, *given.children()[i].type)) return false;
  }
  return true;
}

}  // namespace

class FileWriter::Impl {
 public:
  Impl(std::unique_ptr<OutputFile> file, WritePlanPtr plan, MemoryPool& pool)
      : file_(std::move(file)),
        plan_(std::move(plan)),
        pool_(pool),
        staged_(pool),
        footer_(*plan_, pool),
        shredder_(plan_->schema(), pool) {
    summaries_.reserve(plan_->leaves().size());
    for (const LeafDescription& leaf : plan_->leaves()) summaries_.emplace_back(leaf);
  }

  ~Impl() { abort(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const WritePlan& plan() const { return *plan_; }
  const std::string& path() const { return file_->path(); }
  int64_t row_count() const { return row_count_ + open_rows_; }
  uint64_t bytes_written() const { return position_; }

  size_t buffered_bytes() const {
    size_t bytes = staged_.size() + footer_.buffered_bytes();
    if (scratch_) bytes += scratch_->buffered_bytes();
    for (const ChunkEncoder& encoder : encoders_) bytes += encoder.buffered_bytes();
    return bytes;
  }

  uint64_t file_bytes_estimate() const { return position_ + open_bytes(); }

  void write(const RecordBatch& batch) {
    check_open();
    check_columns(batch);
    guarded([&] {
      const int64_t step = step_rows(batch);
      for (int64_t from = 0; from < batch.row_count();) {
        const int64_t rows = std::min({batch.row_count() - from, step, plan_->options().row_group_rows - open_rows_});
        write_rows(batch, from, rows);
        from += rows;
        if (open_rows_ >= plan_->options().row_group_rows || open_bytes() >= plan_->options().row_group_bytes) {
          end_open_row_group();
        }
      }
    });
  }

  void end_row_group() {
    check_open();
    guarded([&] { end_open_row_group(); });
  }

  void append_row_group(int64_t rows, std::vector<EncodedChunk> chunks) {
    check_open();
    if (chunks.size() != plan_->leaves().size()) {
      throw_error(ErrorKind::kInvalidArgument, "a row group of {} column chunks in a file of {} columns", chunks.size(),
                  plan_->leaves().size());
    }
    for (size_t leaf = 0; leaf < chunks.size(); ++leaf) {
      if (chunks[leaf].row_count != rows) {
        throw_error(ErrorKind::kInvalidArgument, "a chunk of {} rows of column '{}' in a row group of {}",
                    chunks[leaf].row_count, plan_->leaves()[leaf].path, rows);
      }
    }
    guarded([&] {
      end_open_row_group();
      if (rows > 0) append(rows, chunks);
    });
  }

  FileSummary finish(OutputFile::PublishOptions options) {
    check_open();
    FileSummary summary;
    guarded([&] {
      end_open_row_group();
      begin_file();
      FooterWriter::Parts parts = footer_.finish(position_);
      put(parts.column_indexes.span());
      put(parts.offset_indexes.span());
      summary.footer_bytes = parts.footer.size();
      if (summary.footer_bytes > size_t{std::numeric_limits<int32_t>::max()}) {
        throw_error(ErrorKind::kUnsupported, "a footer of {} bytes, the format has room for 2 GiB",
                    summary.footer_bytes);
      }
      put(parts.footer.span());
      std::array<std::byte, 4> length;
      store(length.data(), static_cast<uint32_t>(summary.footer_bytes));
      put(length);
      put(std::as_bytes(std::span(kMagic)));
      flush();
      file_->publish(options);
    });
    state_ = State::kFinished;
    summary.file_bytes = position_;
    summary.row_count = row_count_;
    summary.row_group_offsets = std::move(row_group_offsets_);
    for (LeafSummaryBuilder& leaf : summaries_) summary.leaves.push_back(leaf.finish());
    return summary;
  }

  void abort() noexcept {
    if (state_ != State::kFinished && file_ != nullptr) file_->abort();
    if (state_ == State::kOpen) state_ = State::kAborted;
    encoders_.clear();
  }

 private:
  enum class State : uint8_t { kOpen, kAborted, kFinished };

  void check_open() const {
    if (state_ != State::kOpen) {
      throw_error(ErrorKind::kInvalidArgument, "the Parquet file '{}' was {} already", file_->path(),
                  state_ == State::kFinished ? "finished" : "given up");
    }
  }

  // Nothing is left of the file if `work` throws.
  template <typename Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (Error& error) {
      abort();
      error.add_context(message("writing {}", file_->path()));
      throw;
    } catch (...) {
      abort();
      throw;
    }
  }

  // ---- Rows ----

  void check_columns(const RecordBatch& batch) {
    if (batch.schema() == checked_schema_) return;
    const std::vector<Field>& wanted = plan_->schema().arrow_schema()->fields();
    if (batch.columns().size() != wanted.size()) {
      throw_error(ErrorKind::kInvalidArgument, "a batch of {} columns for a Parquet file of {}", batch.columns().size(),
                  wanted.size());
    }
    for (size_t i = 0; i < wanted.size(); ++i) {
      const DataType& given = *batch.schema()->field(i).type;
      if (!conforms(*wanted[i].type, given)) {
        throw_error(ErrorKind::kInvalidArgument, "column '{}' is given as {} and is {} in the Parquet file",
                    wanted[i].name, given.to_string(), wanted[i].type->to_string());
      }
    }
    checked_schema_ = batch.schema();
  }

  int64_t step_rows(const RecordBatch& batch) const {
    if (batch.row_count() <= kStepRowsMin) return kStepRows;
    const uint64_t row_bytes = batch.buffer_bytes() / static_cast<uint64_t>(batch.row_count()) + 1;
    const uint64_t rows = plan_->options().row_group_bytes / kStepsPerRowGroup / row_bytes;
    return static_cast<int64_t>(std::clamp<uint64_t>(rows, kStepRowsMin, kStepRows));
  }

  void begin_row_group() {
    if (!scratch_) scratch_.emplace(pool_);
    encoders_.reserve(plan_->leaves().size());
    for (size_t leaf = 0; leaf < plan_->leaves().size(); ++leaf) {
      encoders_.emplace_back(plan_->leaves()[leaf], plan_->chunk_options()[leaf], pool_);
    }
  }

  void write_rows(const RecordBatch& batch, int64_t from, int64_t rows) {
    if (encoders_.empty()) begin_row_group();
    const Shredder::Sink sink = [this](size_t leaf, const LeafPiece& piece) {
      encoders_[leaf].write(piece, *scratch_);
    };
    for (size_t column = 0; column < batch.columns().size(); ++column) {
      const ArrayPtr& whole = batch.column(column);
      const bool is_part = from > 0 || rows < batch.row_count();
      shredder_.shred(column, is_part ? *whole->slice(from, rows) : *whole, sink, row_count());
    }
    open_rows_ += rows;
  }

  uint64_t open_bytes() const {
    uint64_t bytes = 0;
    for (const ChunkEncoder& encoder : encoders_) bytes += encoder.encoded_bytes_estimate();
    return bytes;
  }

  // ---- Row groups ----

  void end_open_row_group() {
    if (open_rows_ == 0) return;
    std::vector<EncodedChunk> chunks;
    chunks.reserve(encoders_.size());
    for (ChunkEncoder& encoder : encoders_) {
      chunks.push_back(encoder.finish(*scratch_));
      ChunkEncoder done = std::move(encoder);
    }
    encoders_.clear();
    const int64_t rows = std::exchange(open_rows_, 0);
    append(rows, chunks);
  }

  void append(int64_t rows, std::vector<EncodedChunk>& chunks) {
    begin_file();
    row_group_offsets_.push_back(static_cast<int64_t>(position_));
    std::vector<ChunkPlace> places(chunks.size());
    for (size_t leaf = 0; leaf < chunks.size(); ++leaf) {
      places[leaf].offset = position_;
      for (Buffer& bytes : chunks[leaf].bytes) {
        put(bytes.span());
        bytes = Buffer();
      }
      if (position_ - places[leaf].offset != chunks[leaf].byte_size) {
        throw_error(ErrorKind::kInternal, "a column chunk of {} bytes that should have {}",
                    position_ - places[leaf].offset, chunks[leaf].byte_size);
      }
    }
    for (size_t leaf = 0; leaf < chunks.size(); ++leaf) {
      if (!chunks[leaf].bloom_filter.empty()) put_bloom_filter(chunks[leaf].bloom_filter, places[leaf]);
    }
    footer_.add_row_group(rows, chunks, places);
    for (size_t leaf = 0; leaf < chunks.size(); ++leaf) summaries_[leaf].add(chunks[leaf]);
    row_count_ += rows;
  }

  void put_bloom_filter(const Buffer& blocks, ChunkPlace& place) {
    GrowingBuffer header(pool_);
    ThriftWriter writer(header);
    writer.i32(1, static_cast<int32_t>(blocks.size()));
    for (int kind = 2; kind <= 4; ++kind) {  // split blocks, XXH64, uncompressed: each the first member of its union
      writer.begin_struct(kind);
      writer.empty_struct(1);
      writer.end_struct();
    }
    writer.finish();
    place.bloom_offset = position_;
    put({header.data(), header.size()});
    put(blocks.span());
    place.bloom_size = static_cast<uint32_t>(position_ - place.bloom_offset);
  }

  // ---- Bytes ----

  void begin_file() {
    if (position_ == 0) put(std::as_bytes(std::span(kMagic)));
  }

  void put(std::span<const std::byte> bytes) {
    position_ += bytes.size();
    if (bytes.size() < kStagedBytes) {
      if (staged_.size() + bytes.size() > kStagedBytes) flush();
      return staged_.append(bytes.data(), bytes.size());
    }
    flush();
    file_->write(bytes);
  }

  void flush() {
    if (staged_.size() == 0) return;
    const Buffer bytes = staged_.freeze();
    file_->write(bytes.span());
  }

  std::unique_ptr<OutputFile> file_;
  WritePlanPtr plan_;
  MemoryPool& pool_;
  State state_ = State::kOpen;
  GrowingBuffer staged_;  // bytes before position_ that are not in the file yet
  uint64_t position_ = 0;
  FooterWriter footer_;
  std::vector<LeafSummaryBuilder> summaries_;
  std::vector<int64_t> row_group_offsets_;
  int64_t row_count_ = 0;  // of row groups that are written
  // The open row group. Made when there are rows for it: callers of append_row_group() never need it.
  Shredder shredder_;
  std::optional<EncoderScratch> scratch_;
  std::vector<ChunkEncoder> encoders_;  // one a leaf; empty: none is open
  int64_t open_rows_ = 0;
  SchemaPtr checked_schema_;  // the last one that was found right
};

FileWriter::FileWriter(std::unique_ptr<OutputFile> file, WritePlanPtr plan, MemoryPool& pool)
    : impl_(std::make_unique<Impl>(std::move(file), std::move(plan), pool)) {}
FileWriter::FileWriter(std::unique_ptr<OutputFile> file, SchemaPtr schema, WriterOptions options, MemoryPool& pool)
    : FileWriter(std::move(file), std::make_shared<const WritePlan>(std::move(schema), std::move(options)), pool) {}
FileWriter::~FileWriter() = default;
FileWriter::FileWriter(FileWriter&&) noexcept = default;
FileWriter& FileWriter::operator=(FileWriter&&) noexcept = default;

const WritePlan& FileWriter::plan() const {
  return impl_->plan();
}
const std::string& FileWriter::path() const {
  return impl_->path();
}
void FileWriter::write(const RecordBatch& batch) {
  impl_->write(batch);
}
void FileWriter::end_row_group() {
  impl_->end_row_group();
}
void FileWriter::append_row_group(int64_t rows, std::vector<EncodedChunk> chunks) {
  impl_->append_row_group(rows, std::move(chunks));
}
int64_t FileWriter::row_count() const {
  return impl_->row_count();
}
size_t FileWriter::buffered_bytes() const {
  return impl_->buffered_bytes();
}
uint64_t FileWriter::bytes_written() const {
  return impl_->bytes_written();
}
uint64_t FileWriter::file_bytes_estimate() const {
  return impl_->file_bytes_estimate();
}
FileSummary FileWriter::finish(OutputFile::PublishOptions options) {
  return impl_->finish(options);
}
void FileWriter::abort() noexcept {
  impl_->abort();
}

FileSummary write_stream(BatchStream& stream, std::unique_ptr<OutputFile> file, WriterOptions options, MemoryPool& pool,
                         OutputFile::PublishOptions publish) {
  try {
    FileWriter writer(std::move(file), stream.schema(), std::move(options), pool);
    while (std::optional<RecordBatch> batch = stream.next()) writer.write(*batch);
    return writer.finish(publish);
  } catch (...) {
    stream.close();
    throw;
  }
}

}  // namespace frazil::parquet
