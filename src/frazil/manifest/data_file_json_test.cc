#include "frazil/manifest/data_file_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frazil/base/error.h"
#include "frazil/manifest/random_data_files_test.h"

namespace frazil::manifest {
namespace {

using testing::HasSubstr;

spec::TypePtr one_field(spec::TypePtr type) {
  spec::NestedField field;
  field.id = 1000;
  field.name = "p";
  field.type = std::move(type);
  return spec::struct_({field});
}

// As Iceberg Java's tests of ContentFileParser state it (TestContentFileParser, 1.11): every member.
TEST(DataFileJson, HasTheFormOfTheRestSpecification) {
  const std::string text =
      R"({"spec-id":0,"content":"data","file-path":"/path/to/data-with-stats.parquet","file-format":"parquet",)"
      R"("partition":[1],"file-size-in-bytes":350,"record-count":10,"column-sizes":{"keys":[3,4],"values":[100,200]},)"
      R"("value-counts":{"keys":[3,4],"values":[90,180]},"null-value-counts":{"keys":[3,4],"values":[10,20]},)"
      R"("nan-value-counts":{"keys":[3,4],"values":[0,0]},"lower-bounds":{"keys":[3,4],"values":["01000000","02000000"]},)"
      R"("upper-bounds":{"keys":[3,4],"values":["05000000","0a000000"]},"key-metadata":"00000000000000000000000000000000",)"
      R"("split-offsets":[128,256],"sort-order-id":1,"first-row-id":34})";
  const auto type = one_field(spec::primitive(spec::TypeKind::kInt));
  const DataFile file = data_file_from_json(json::parse(text), *type);
  EXPECT_EQ(json::write(data_file_to_json(file)), text);
  EXPECT_EQ(file.record_count, 10);
  EXPECT_EQ(file.lower_bounds, (BoundMap{{3, std::string("\1\0\0\0", 4)}, {4, std::string("\2\0\0\0", 4)}}));
}

TEST(DataFileJson, RoundTripsAnyFile) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomDataFiles random(seed);
    const spec::TypePtr type = random.spec().partition_type(*random.schema());
    DataFile file = random.next(3, static_cast<FileContent>(random.below(3)));
    for (spec::Literal& value : file.partition) {
      if (value.is_nan() || value == spec::Literal::double_(HUGE_VAL) || value == spec::Literal::double_(-HUGE_VAL) ||
          value == spec::Literal::float_(HUGE_VALF) || value == spec::Literal::float_(-HUGE_VALF))
        value = spec::Literal::null(value.type());
    }
    // Time values are only what the type can print.
    for (spec::Literal& value : file.partition) {
      if (value.is_null()) continue;
      try {
        if (!(spec::literal_from_json(value.type(), spec::literal_to_json(value)) == value))
          value = spec::Literal::null(value.type());
      } catch (const Error&) {
        value = spec::Literal::null(value.type());
      }
    }
    EXPECT_TRUE(data_file_from_json(json::parse(json::write(data_file_to_json(file))), *type) == file);
  }
}

TEST(DataFileJson, ReadsOlderForms) {
  const auto type = one_field(spec::primitive(spec::TypeKind::kInt));
  const auto read = [&](const std::string& members) {
    return data_file_from_json(
        json::parse(R"({"spec-id":0,"file-path":"f","file-format":"ORC","file-size-in-bytes":1,"record-count":1,)" +
                    members + "}"),
        *type);
  };
  const DataFile file = read(R"("content":"EQUALITY_DELETES","partition":{"1000":7},"equality-ids":[1,2])");
  EXPECT_EQ(file.content, FileContent::kEqualityDeletes);
  EXPECT_EQ(file.format, FileFormat::kOrc);
  EXPECT_EQ(file.partition, std::vector{spec::Literal::int_(7)});
  EXPECT_THAT(file.equality_ids, testing::ElementsAre(1, 2));
  EXPECT_TRUE(read(R"("content":"data","partition":{})").partition[0].is_null());
}

TEST(DataFileJson, SaysWhatIsWrong) {
  const auto type = one_field(spec::primitive(spec::TypeKind::kInt));
  const std::string good =
      R"({"spec-id":0,"content":"data","file-path":"f","file-format":"parquet","partition":[1],"file-size-in-bytes":1,"record-count":1,"value-counts":{"keys":[1],"values":[2]},"lower-bounds":{"keys":[1],"values":["00"]}})";
  data_file_from_json(json::parse(good), *type);
  const auto error = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    try {
      data_file_from_json(json::parse(text), *type);
    } catch (const CorruptError& caught) {
      return std::string(caught.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error(R"("file-path":"f",)", ""), HasSubstr("file-path"));
  EXPECT_THAT(error(R"("data")", R"("rows")"), HasSubstr("'rows'"));
  EXPECT_THAT(error("[1],\"file-size", "[],\"file-size"), HasSubstr("partition"));
  EXPECT_THAT(error("[1],\"file-size", "[\"x\"],\"file-size"), HasSubstr("integer"));
  EXPECT_THAT(error("\"partition\":[1],", ""), HasSubstr("partition"));
  EXPECT_THAT(error("\"values\":[2]", "\"values\":[]"), HasSubstr("1 keys and 0 values"));
  EXPECT_THAT(error("\"00\"", "\"0\""), HasSubstr("hex"));
  EXPECT_THAT(error("\"record-count\":1", "\"record-count\":\"1\""), HasSubstr("record-count"));
}

}  // namespace
}  // namespace frazil::manifest
