// The type of a column from a sample of its values.
//
//   text or JSON                                      type
//   only nulls                                        utf8
//   true, false                                       bool
//   integers of 64 bits, without leading zeros        int64
//   numbers                                           double
//   2017-11-16                                        date32
//   2017-11-16T22:31:08.123456, without | with zone   timestamp[us], timestamp[us, UTC]; also dates among them, without zone
//   anything else, and mixed                          utf8
//   JSON objects, arrays                              struct of all their members, list of what all elements fit
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/columnar/type.h"
#include "frazil/json/value.h"

namespace frazil::text {

class InferredType {
 public:
  // A cell of CSV.
  void add_text(std::string_view text);
  // Throws Error(kInvalidArgument) where no type takes all values: an object and a number, a number and a text.
  void add_json(const json::Value& value);

  DataTypePtr type() const;
  // Of an object: its members, in order of appearance.
  std::vector<Field> fields() const;

 private:
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInteger,
    kDouble,
    kDate,
    kTimestamp,
    kTimestampUtc,
    kText,
    kStruct,
    kList
  };
  static Kind kind_of_text(std::string_view text);
  static Kind kind_of_number(std::string_view text);
  // The kind that takes both.
  static Kind common(Kind left, Kind right);
  static std::string_view name(Kind kind);

  Kind kind_ = Kind::kNone;
  std::vector<std::pair<std::string, InferredType>> members_;
  std::unique_ptr<InferredType> element_;
};

}  // namespace frazil::text
