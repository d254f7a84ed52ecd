#include "frazil/scan/data_file.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/codec/codec.h"
#include "frazil/columnar/pretty.h"
#include "frazil/io/memory_file_system.h"
#include "frazil/predicate/parse.h"
#include "frazil/spec/arrow_schema.h"

namespace frazil::scan {
namespace {

using spec::Literal;
using spec::NestedField;
using spec::TypeKind;

// Avro's binary encoding, for files made by hand.
class AvroBytes {
 public:
  AvroBytes& number(int64_t value) {
    auto zigzag = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
    for (; zigzag >= 0x80; zigzag >>= 7) bytes_.push_back(static_cast<char>((zigzag & 0x7f) | 0x80));
    bytes_.push_back(static_cast<char>(zigzag));
    return *this;
  }
  AvroBytes& text(std::string_view value) {
    number(static_cast<int64_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  AvroBytes& raw(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

constexpr std::string_view kSchema = R"({"type": "record", "name": "r", "fields": [
  {"name": "s", "field-id": 1, "type": ["null", {"type": "record", "name": "r1", "fields": [
    {"name": "a", "field-id": 2, "type": "int"},
    {"name": "b", "field-id": 3, "type": ["null", "string"]},
    {"name": "gone", "field-id": 4, "type": "long"}]}]},
  {"name": "l", "field-id": 5, "type": {"type": "array", "element-id": 6, "items": {"type": "record", "name": "r6",
    "fields": [{"name": "x", "field-id": 7, "type": "int"}]}}},
  {"name": "m", "field-id": 8, "type": {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k9_v10",
    "fields": [{"name": "key", "field-id": 9, "type": "int"}, {"name": "value", "field-id": 10, "type": ["null", "int"]}]}}},
  {"name": "t", "field-id": 11, "type": {"type": "map", "key-id": 12, "value-id": 13, "values": "long"}},
  {"name": "v", "field-id": 14, "type": {"type": "record", "name": "r14", "fields": [
    {"name": "metadata", "type": "bytes"}, {"name": "value", "type": "bytes"}]}}]})";

std::string avro_file() {
  AvroBytes rows;
  // {s: {1, "one", 9}, l: [{5}, {6}], m: {7: null, 8: 80}, t: {"p": 1}, v}
  rows.number(1).number(1).number(1).text("one").number(9);
  rows.number(2).number(5).number(6).number(0);
  rows.number(2).number(7).number(0).number(8).number(1).number(80).number(0);
  rows.number(1).text("p").number(1).number(0);
  rows.text(std::string_view("\x01\0\0", 3)).text("\x0c");
  // {s: null, l: [], m: {}, t: {}, v}
  rows.number(0).number(0).number(0).number(0);
  rows.text(std::string_view("\x01\0\0", 3)).text(std::string_view("\0", 1));
  // {s: {-3, null, 9}, l: [{7}], m: {}, t: {}, v}
  rows.number(1).number(-3).number(0).number(9);
  rows.number(1).number(7).number(0).number(0).number(0);
  rows.text(std::string_view("\x01\0\0", 3)).text(std::string_view("\0", 1));
  const std::string sync(16, '!');
  AvroBytes file;
  file.raw(std::string_view("Obj\1", 4)).number(1).text("avro.schema").text(kSchema).number(0).raw(sync);
  file.number(3).text(rows.bytes()).raw(sync);
  return file.bytes();
}

NestedField field(int32_t id, std::string name, spec::TypePtr type, bool required = false) {
  NestedField made;
  made.id = id;
  made.name = std::move(name);
  made.type = std::move(type);
  made.required = required;
  return made;
}

NestedField with_default(NestedField made, Literal value) {
  made.initial_default = std::make_shared<Literal>(std::move(value));
  return made;
}

// The file's columns after years: moved, renamed, widened, dropped, and new ones.
spec::SchemaPtr evolved() {
  const auto primitive = [](TypeKind kind) { return spec::primitive(kind); };
  return std::make_shared<const spec::Schema>(std::vector<NestedField>{
      field(8, "m", spec::map(9, primitive(TypeKind::kInt), 10, primitive(TypeKind::kLong), false)),
      field(1, "s",
            spec::struct_({field(3, "text", primitive(TypeKind::kString)),
                           with_default(field(20, "b", primitive(TypeKind::kInt), true), Literal::int_(7)),
                           field(2, "a", primitive(TypeKind::kLong))})),
      field(5, "l",
            spec::list(6,
                       spec::struct_(
                           {field(21, "new", primitive(TypeKind::kDouble)), field(7, "x", primitive(TypeKind::kInt))}),
                       true)),
      field(11, "t", spec::map(12, primitive(TypeKind::kString), 13, primitive(TypeKind::kLong), true)),
      field(14, "v", primitive(TypeKind::kVariant)), field(22, "later", primitive(TypeKind::kString))});
}

struct AvroRead {
  MemoryPool pool{{.budget_bytes = size_t{64} << 20}};
  MemoryFileSystem files;
  spec::TableMetadata metadata;
  Task task{.path = "memory:data.avro", .format = "avro", .record_count = 3, .partition = {}};

  AvroRead() {
    files.put(task.path, avro_file());
    metadata.partition_specs.emplace_back();
  }

  std::vector<std::string> rows(std::vector<std::string> select = {}, const char* where = "TRUE") {
    ReadSetup setup;
    setup.metadata = spec::TableMetadataPtr(&metadata, [](const auto*) {});
    setup.table_schema = evolved();
    setup.columns = select.empty() ? evolved() : spec::select_columns(*evolved(), select);
    setup.arrow_schema = spec::to_arrow_schema(*setup.columns);
    setup.filter = bind_filter(predicate::parse(where), *setup.table_schema, *setup.columns);
    setup.files = &files;
    setup.batch_rows = 2;
    setup.batch_bytes_max = 1 << 20;
    const auto file = std::make_shared<DataFile>(setup, task, pool);
    EXPECT_EQ(file->part_count(), 1u);
    Decompressor decompressor(pool);
    DataFileReader reader(file, {.index = 0, .decompressor = &decompressor}, pool);
    std::vector<std::string> rows;
    for (;;) {
      Reservation reservation = pool.reserve(reader.memory_needs(false).total());
      std::optional<RecordBatch> batch;
      const auto step = reader.step(reservation, batch);
      if (step == DataFileReader::Step::kEnd) return rows;
      if (step == DataFileReader::Step::kNeedMemory) throw_error(ErrorKind::kInternal, "it was promised all");
      validate_full(*batch);
      for (int64_t i = 0; i < batch->row_count(); ++i) append_row_json(rows.emplace_back(), *batch, i);
    }
  }
};

TEST(DataFile, ReadsNestedColumnsOfAvroFilesAsTheTableHasThem) {
  AvroRead read;
  EXPECT_THAT(
      read.rows(),
      testing::ElementsAre(
          R"({"m":{"keys":[7,8],"values":[null,80]},"s":{"text":"one","b":7,"a":1},"l":[{"new":null,"x":5},{"new":null,"x":6}],)"
          R"("t":{"keys":["p"],"values":[1]},"v":{"metadata":"010000","value":"0c"},"later":null})",
          R"({"m":{"keys":[],"values":[]},"s":null,"l":[],"t":{"keys":[],"values":[]},"v":{"metadata":"010000","value":"00"},)"
          R"("later":null})",
          R"({"m":{"keys":[],"values":[]},"s":{"text":null,"b":7,"a":-3},"l":[{"new":null,"x":7}],"t":{"keys":[],"values":[]},)"
          R"("v":{"metadata":"010000","value":"00"},"later":null})"));
  // A struct is null where it was, whatever is read of it.
  EXPECT_THAT(read.rows({"s.b", "l.new"}),
              testing::ElementsAre(R"({"s":{"b":7},"l":[{"new":null},{"new":null}]})", R"({"s":null,"l":[]})",
                                   R"({"s":{"b":7},"l":[{"new":null}]})"));
}

TEST(DataFile, FiltersAvroFilesByColumnsThatAreNotGivenOut) {
  AvroRead read;
  EXPECT_THAT(read.rows({"s.text"}, "s.a < 0"), testing::ElementsAre(R"({"s":{"text":null}})"));
  EXPECT_THAT(read.rows({"s.text"}, "s.b = 7 AND later IS NULL"), testing::SizeIs(2));
  EXPECT_THAT(read.rows({"s.a"}, "s IS NULL"), testing::ElementsAre(R"({"s":null})"));
  EXPECT_THAT(read.rows({"t"}, "later = 'x' OR s.b = 8"), testing::IsEmpty());
}

}  // namespace
}  // namespace frazil::scan
