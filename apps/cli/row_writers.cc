#include "row_writers.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/base/number_text.h"
#include "frazil/columnar/pretty.h"

namespace frazil::cli {
namespace {

// Cells of tables are cut here: a table is for people, CSV and JSON give values in full.
constexpr size_t kMaxCellWidth = 100;

bool is_number(TypeId id) {
  return (id >= TypeId::kInt8 && id <= TypeId::kDecimal256) || id == TypeId::kDuration;
}

// Whether the text of a value can hold a character that CSV must quote.
bool never_quoted(TypeId id) {
  return id > TypeId::kNull && id <= TypeId::kIntervalMonthDayNano;
}

// One column of the batch at hand. Null is what the validity bits say, or for types without any what the value says.
struct Column {
  const Field* field;
  const Array* array;
  void (*append)(std::string& out, const Column& column, int64_t index);
  const uint8_t* validity;  // nullptr: all valid
  std::string key;          // JSON: "name":

  bool is_valid(int64_t index) const {
    if (validity == nullptr) return true;
    auto bit = static_cast<uint64_t>(array->offset + index);
    return ((validity[bit >> 3] >> (bit & 7)) & 1) != 0;
  }
};

void append_generic_text(std::string& out, const Column& column, int64_t index) {
  append_value_text(out, *column.field, *column.array, index);
}

void append_generic_json(std::string& out, const Column& column, int64_t index) {
  append_value_json(out, *column.field, *column.array, index);
}

template <typename T>
void append_integer(std::string& out, const Column& column, int64_t index) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  append_number(out, static_cast<Wide>(column.array->values<T>()[index]));
}

template <typename Offset>
std::string_view text_value(const Column& column, int64_t index) {
  const Offset* offsets = column.array->values<Offset>() + index;
  return {reinterpret_cast<const char*>(column.array->buffers[2].data()) + offsets[0],
          static_cast<size_t>(offsets[1] - offsets[0])};
}

// ---- CSV ----

// Whether the text holds a quote, a comma or an end of line; eight bytes at a time.
bool needs_quotes(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101U;
  constexpr uint64_t kHighs = 0x8080808080808080U;
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    const auto word = load<uint64_t>(at);
    uint64_t found = 0;
    for (uint64_t special : {uint64_t{'"'}, uint64_t{','}, uint64_t{'\n'}, uint64_t{'\r'}}) {
      const uint64_t zero_where_equal = word ^ (kOnes * special);
      found |= (zero_where_equal - kOnes) & ~zero_where_equal & kHighs;
    }
    if (found != 0) return true;
  }
  for (; left > 0; ++at, --left) {
    if (*at == '"' || *at == ',' || *at == '\n' || *at == '\r') return true;
  }
  return false;
}

// RFC 4180, with lines that end in LF alone. An empty text is "", because nothing at all is NULL.
void append_csv_text(std::string& out, std::string_view text) {
  if (text.empty()) {
    out += "\"\"";
    return;
  }
  if (!needs_quotes(text)) {
    out += text;
    return;
  }
  out += '"';
  size_t begin = 0;
  while (true) {
    size_t quote = text.find('"', begin);
    out += text.substr(begin, quote == std::string_view::npos ? quote : quote - begin + 1);
    if (quote == std::string_view::npos) break;
    out += '"';
    begin = quote + 1;
  }
  out += '"';
}

template <typename Offset>
void append_csv_utf8(std::string& out, const Column& column, int64_t index) {
  append_csv_text(out, text_value<Offset>(column, index));
}

void append_csv_generic(std::string& out, const Column& column, int64_t index) {
  std::string text;
  append_value_text(text, *column.field, *column.array, index);
  append_csv_text(out, text);
}

using Append = void (*)(std::string& out, const Column& column, int64_t index);

template <Append kText32, Append kText64, Append kPlain, Append kOther>
Append append_for(const Field& field) {
  switch (field.type->id()) {
    case TypeId::kInt8:
      return append_integer<int8_t>;
    case TypeId::kInt16:
      return append_integer<int16_t>;
    case TypeId::kInt32:
      return append_integer<int32_t>;
    case TypeId::kInt64:
      return append_integer<int64_t>;
    case TypeId::kUInt8:
      return append_integer<uint8_t>;
    case TypeId::kUInt16:
      return append_integer<uint16_t>;
    case TypeId::kUInt32:
      return append_integer<uint32_t>;
    case TypeId::kUInt64:
      return append_integer<uint64_t>;
    case TypeId::kUtf8:
      return field.extension_name() ? kOther : kText32;
    case TypeId::kLargeUtf8:
      return field.extension_name() ? kOther : kText64;
    default:
      return never_quoted(field.type->id()) ? kPlain : kOther;
  }
}

// The value of a row is null by itself in types without validity bits: null, unions, run-ends.
bool has_validity_bits(TypeId id) {
  return id != TypeId::kNull && id != TypeId::kDenseUnion && id != TypeId::kSparseUnion && id != TypeId::kRunEndEncoded;
}

class LineWriter : public RowWriter {
 public:
  LineWriter(SchemaPtr schema, OutputStream& out, std::optional<int64_t> limit)
      : schema_(std::move(schema)), out_(out), limit_(limit) {
    for (const Field& field : schema_->fields()) columns_.push_back({&field, nullptr, nullptr, nullptr, {}});
  }

  void write(const RecordBatch& batch) final {
    begin();
    for (size_t i = 0; i < columns_.size(); ++i) {
      Column& column = columns_[i];
      column.array = batch.column(i).get();
      bool bits = has_validity_bits(column.array->type->id()) && column.array->has_validity();
      column.validity = bits ? column.array->buffers[0].as<uint8_t>() : nullptr;
    }
    int64_t rows = std::min(batch.row_count(), rows_wanted());
    write_rows(rows);
    rows_ += rows;
  }

  void finish(std::optional<int64_t>) override { begin(); }
  int64_t rows_wanted() const final { return limit_ ? std::max<int64_t>(0, *limit_ - rows_) : INT64_MAX; }
  int64_t rows_written() const final { return rows_; }

 protected:
  virtual void write_head() {}
  virtual void write_rows(int64_t rows) = 0;

  SchemaPtr schema_;
  OutputStream& out_;
  std::vector<Column> columns_;

 private:
  void begin() {
    if (!std::exchange(begun_, true)) write_head();
  }

  std::optional<int64_t> limit_;
  int64_t rows_ = 0;
  bool begun_ = false;
};

class CsvWriter final : public LineWriter {
 public:
  CsvWriter(SchemaPtr schema, OutputStream& out, std::optional<int64_t> limit)
      : LineWriter(std::move(schema), out, limit) {
    for (Column& column : columns_) {
      column.append =
          append_for<append_csv_utf8<int32_t>, append_csv_utf8<int64_t>, append_generic_text, append_csv_generic>(
              *column.field);
    }
  }

 private:
  void write_head() override {
    std::string& out = out_.buffer();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out += ',';
      append_csv_text(out, columns_[i].field->name);
    }
    out += '\n';
  }

  void write_rows(int64_t rows) override {
    std::string& out = out_.buffer();
    for (int64_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < columns_.size(); ++i) {
        if (i > 0) out += ',';
        const Column& column = columns_[i];
        if (!column.is_valid(row) || column.array->type->id() == TypeId::kNull) continue;
        column.append(out, column, row);
      }
      out += '\n';
      out_.flush_if_full();
    }
  }
};

// ---- JSON ----

template <typename Offset>
void append_json_utf8(std::string& out, const Column& column, int64_t index) {
  append_json_string(out, text_value<Offset>(column, index));
}

class JsonWriter final : public LineWriter {
 public:
  JsonWriter(SchemaPtr schema, OutputStream& out, std::optional<int64_t> limit)
      : LineWriter(std::move(schema), out, limit) {
    for (Column& column : columns_) {
      column.append =
          append_for<append_json_utf8<int32_t>, append_json_utf8<int64_t>, append_generic_json, append_generic_json>(
              *column.field);
      append_json_string(column.key, column.field->name);
      column.key += ':';
    }
  }

 private:
  void write_rows(int64_t rows) override {
    std::string& out = out_.buffer();
    for (int64_t row = 0; row < rows; ++row) {
      out += '{';
      for (size_t i = 0; i < columns_.size(); ++i) {
        const Column& column = columns_[i];
        if (i > 0) out += ',';
        out += column.key;
        if (column.is_valid(row)) {
          column.append(out, column, row);
        } else {
          out += "null";
        }
      }
      out += "}\n";
      out_.flush_if_full();
    }
  }
};

// ---- Tables ----

// The first `width` columns of the text, the last of them an ellipsis if more follows.
std::string cut(std::string text, size_t width) {
  if (display_width(text) <= width) return text;
  while (display_width(text) > width - 1) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (!text.empty()) text.pop_back();
  }
  return text + "\xe2\x80\xa6";
}

class TableWriter final : public RowWriter {
 public:
  TableWriter(SchemaPtr schema, OutputStream& out, const RowWriterOptions& options)
      : schema_(std::move(schema)),
        out_(out),
        color_(options.color),
        limit_(options.limit.value_or(kTableRows)),
        limit_given_(options.limit.has_value()) {
    for (const Field& field : schema_->fields()) {
      names_.push_back(cut(printable(field.name), kMaxCellWidth));
      widths_.push_back(display_width(names_.back()));
    }
  }

  void write(const RecordBatch& batch) override {
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      if (seen_++ >= limit_) {
        seen_ += batch.row_count() - row - 1;
        return;
      }
      std::vector<std::string> cells;
      cells.reserve(names_.size());
      for (size_t i = 0; i < names_.size(); ++i) {
        const Field& field = schema_->field(i);
        const Array& array = *batch.column(i);
        // A text may say NULL too: the colour tells, and CSV and JSON do.
        std::string text;
        if (array.is_null(row)) {
          text = "NULL";
        } else {
          append_value_text(text, field, array, row);
        }
        cells.push_back(cut(printable(text), kMaxCellWidth));
      }
      if (printing_) {
        print(cells);
        continue;
      }
      for (size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], display_width(cells[i]));
      held_.push_back(std::move(cells));
      if (static_cast<int64_t>(held_.size()) == kTableWidthRows) print_held();
    }
  }

  void finish(std::optional<int64_t> total_rows) override {
    print_held();
    int64_t shown = rows_written();
    std::string last;
    if (total_rows && *total_rows > shown) {
      last = human_count(shown) + " of " + human_count(*total_rows, "row");
    } else if (seen_ > limit_) {
      last = "the first " + human_count(shown, "row") + ", more were left out";
    } else {
      last = human_count(shown, "row");
    }
    if (!limit_given_ && seen_ > limit_) last += "; --limit N shows others";
    out_.write("(" + last + ")\n");
  }

  // One more than is shown, to know whether something was left out.
  int64_t rows_wanted() const override {
    return std::max<int64_t>(0, limit_given_ ? limit_ - seen_ : limit_ + 1 - seen_);
  }
  int64_t rows_written() const override { return std::min(seen_, limit_); }

 private:
  void print_held() {
    if (std::exchange(printing_, true)) return;
    if (color_) out_.write("\x1b[1m");
    print(names_);
    if (color_) out_.write("\x1b[0m");
    std::string rule;
    for (size_t i = 0; i < widths_.size(); ++i) rule += (i > 0 ? "  " : "") + std::string(widths_[i], '-');
    out_.write(rule + "\n");
    for (const std::vector<std::string>& cells : held_) print(cells);
    held_.clear();
  }

  void print(const std::vector<std::string>& cells) {
    std::string& line = out_.buffer();
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += "  ";
      size_t shown = display_width(cells[i]);
      size_t padding = shown < widths_[i] ? widths_[i] - shown : 0;
      bool right = is_number(schema_->field(i).type->id());
      if (right) line.append(padding, ' ');
      line += cells[i];
      if (!right && i + 1 < cells.size()) line.append(padding, ' ');
    }
    line += '\n';
    out_.flush_if_full();
  }

  SchemaPtr schema_;
  OutputStream& out_;
  bool color_;
  int64_t limit_;
  bool limit_given_;
  std::vector<std::string> names_;
  std::vector<size_t> widths_;
  std::vector<std::vector<std::string>> held_;
  int64_t seen_ = 0;  // rows given, also those beyond the limit
  bool printing_ = false;
};

// ---- Nothing ----

// Reads a byte in each page of memory of each buffer, so that none can be missing or lazy, and drops the batch.
class NoneWriter final : public RowWriter {
 public:
  explicit NoneWriter(std::optional<int64_t> limit) : limit_(limit) {}

  void write(const RecordBatch& batch) override {
    for (const ArrayPtr& column : batch.columns()) touch(*column);
    rows_ += batch.row_count();
  }
  void finish(std::optional<int64_t>) override {}
  int64_t rows_wanted() const override { return limit_ ? std::max<int64_t>(0, *limit_ - rows_) : INT64_MAX; }
  int64_t rows_written() const override { return rows_; }

 private:
  void touch(const Array& array) {
    for (const Buffer& buffer : array.buffers) touch(buffer);
    for (const Buffer& buffer : array.variadic_buffers) touch(buffer);
    for (const ArrayPtr& child : array.children) touch(*child);
    if (array.dictionary) touch(*array.dictionary);
  }
  void touch(const Buffer& buffer) {
    const auto* bytes = reinterpret_cast<const volatile std::byte*>(buffer.data());
    for (size_t at = 0; at < buffer.size(); at += kPageBytes) static_cast<void>(bytes[at]);
  }

  static constexpr size_t kPageBytes = 4096;

  std::optional<int64_t> limit_;
  int64_t rows_ = 0;
};

}  // namespace

RowFormat parse_row_format(const std::optional<std::string>& text, const OutputStream& out, OutputFormat output) {
  if (!text && output == OutputFormat::kJson) return RowFormat::kJson;
  if (!text) return out.is_terminal() ? RowFormat::kTable : RowFormat::kCsv;
  if (*text == "table") return RowFormat::kTable;
  if (*text == "csv") return RowFormat::kCsv;
  if (*text == "json") return RowFormat::kJson;
  if (*text == "none") return RowFormat::kNone;
  const bool is_arrow = *text == "arrow";
  if (!is_arrow && *text != "parquet") {
    throw_error(ErrorKind::kInvalidArgument, "--format must be table, csv, json, arrow, parquet or none, not '{}'",
                *text);
  }
  if (out.is_terminal()) {
    Error error(ErrorKind::kInvalidArgument,
                message("{} is nothing for a terminal", is_arrow ? "an Arrow stream" : "a Parquet file"));
    throw error.set_hint(message("... --format {} > FILE", *text));
  }
  return is_arrow ? RowFormat::kArrow : RowFormat::kParquet;
}

std::unique_ptr<RowWriter> make_row_writer(SchemaPtr schema, OutputStream& out, const RowWriterOptions& options) {
  switch (options.format) {
    case RowFormat::kTable:
      return std::make_unique<TableWriter>(std::move(schema), out, options);
    case RowFormat::kCsv:
      return std::make_unique<CsvWriter>(std::move(schema), out, options.limit);
    case RowFormat::kJson:
      return std::make_unique<JsonWriter>(std::move(schema), out, options.limit);
    case RowFormat::kArrow:
      return make_arrow_row_writer(std::move(schema), out, options);
    case RowFormat::kParquet:
      return make_parquet_row_writer(std::move(schema), out, options);
    case RowFormat::kNone:
      break;
  }
  return std::make_unique<NoneWriter>(options.limit);
}

void check_same_columns(const Schema& first, const std::string& first_path, const Schema& schema,
                        const std::string& path) {
  const auto fail = [&](const std::string& what) {
    Error error(ErrorKind::kInvalidArgument,
                message("the columns of {} differ from those of {}: {}", path, first_path, what));
    throw error.set_hint("--select columns that they share, or one file after the other");
  };
  const size_t count = std::min(first.field_count(), schema.field_count());
  for (size_t i = 0; i < count; ++i) {
    const Field& wanted = first.field(i);
    const Field& field = schema.field(i);
    if (field.name != wanted.name || !field.type->equals(*wanted.type)) {
      fail(message("{} {} instead of {} {}", field.name, field.type->to_string(), wanted.name,
                   wanted.type->to_string()));
    }
  }
  if (first.field_count() != schema.field_count()) {
    fail(message("{} columns instead of {}", schema.field_count(), first.field_count()));
  }
}

}  // namespace frazil::cli
