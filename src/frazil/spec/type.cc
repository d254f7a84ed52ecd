#include "frazil/spec/type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "frazil/base/decimal.h"
#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/spec/literal.h"

namespace frazil::spec {

namespace {

struct KindName {
  TypeKind kind;
  std::string_view name;
};

constexpr std::array<KindName, 23> kKindNames = {{
    {TypeKind::kUnknown, "unknown"},
    {TypeKind::kBoolean, "boolean"},
    {TypeKind::kInt, "int"},
    {TypeKind::kLong, "long"},
    {TypeKind::kFloat, "float"},
    {TypeKind::kDouble, "double"},
    {TypeKind::kDecimal, "decimal"},
    {TypeKind::kDate, "date"},
    {TypeKind::kTime, "time"},
    {TypeKind::kTimestamp, "timestamp"},
    {TypeKind::kTimestampTz, "timestamptz"},
    {TypeKind::kTimestampNs, "timestamp_ns"},
    {TypeKind::kTimestampTzNs, "timestamptz_ns"},
    {TypeKind::kString, "string"},
    {TypeKind::kUuid, "uuid"},
    {TypeKind::kFixed, "fixed"},
    {TypeKind::kBinary, "binary"},
    {TypeKind::kVariant, "variant"},
    {TypeKind::kGeometry, "geometry"},
    {TypeKind::kGeography, "geography"},
    {TypeKind::kStruct, "struct"},
    {TypeKind::kList, "list"},
    {TypeKind::kMap, "map"},
}};

constexpr std::array<std::string_view, 5> kEdgeAlgorithms = {"spherical", "vincenty", "thomas", "andoyer", "karney"};

bool has_parameters(TypeKind kind) {
  switch (kind) {
    case TypeKind::kDecimal:
    case TypeKind::kFixed:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
    case TypeKind::kStruct:
    case TypeKind::kList:
    case TypeKind::kMap:
      return true;
    default:
      return false;
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\n\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n\r") - begin + 1);
}

int32_t parse_parameter(std::string_view text, std::string_view whole) {
  text = trim(text);
  int32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw_corrupt(CorruptError::kNoOffset, "type '{}': '{}' is not a number", whole, text);
  }
  return value;
}

bool equal_literals(const LiteralPtr& left, const LiteralPtr& right) {
  if (left == nullptr || right == nullptr) return left == right;
  return *left == *right;
}

}  // namespace

struct TypeMaker {
  static TypePtr simple(TypeKind kind) {
    auto type = std::make_shared<Type>();
    type->kind_ = kind;
    return type;
  }
  static TypePtr decimal(int32_t precision, int32_t scale) {
    auto type = std::make_shared<Type>();
    type->kind_ = TypeKind::kDecimal;
    type->precision_ = precision;
    type->scale_ = scale;
    return type;
  }
  static TypePtr fixed(int32_t length) {
    auto type = std::make_shared<Type>();
    type->kind_ = TypeKind::kFixed;
    type->length_ = length;
    return type;
  }
  static TypePtr geo(TypeKind kind, std::string crs, std::string algorithm) {
    auto type = std::make_shared<Type>();
    type->kind_ = kind;
    type->crs_ = crs.empty() ? std::string(kDefaultCrs) : std::move(crs);
    type->algorithm_ = std::move(algorithm);
    return type;
  }
  static TypePtr nested(TypeKind kind, std::vector<NestedField> fields) {
    int depth = 0;
    for (const NestedField& field : fields) {
      if (field.type == nullptr) throw_error(ErrorKind::kInvalidArgument, "field '{}' has no type", field.name);
      depth = std::max(depth, field.type->depth());
    }
    if (++depth > kMaxTypeDepth) {
      throw_error(ErrorKind::kInvalidArgument, "types nest deeper than {} levels", kMaxTypeDepth);
    }
    auto type = std::make_shared<Type>();
    type->kind_ = kind;
    type->depth_ = depth;
    type->fields_ = std::move(fields);
    return type;
  }
};

bool NestedField::equals(const NestedField& other) const {
  return id == other.id && name == other.name && required == other.required && doc == other.doc &&
         type->equals(*other.type) && equal_literals(initial_default, other.initial_default) &&
         equal_literals(write_default, other.write_default);
}

const NestedField* Type::find(std::string_view name) const {
  for (const NestedField& field : fields_) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const NestedField* Type::find(int32_t id) const {
  for (const NestedField& field : fields_) {
    if (field.id == id) return &field;
  }
  return nullptr;
}

bool Type::equals(const Type& other) const {
  if (this == &other) return true;
  if (kind_ != other.kind_ || precision_ != other.precision_ || scale_ != other.scale_ || length_ != other.length_ ||
      crs_ != other.crs_ || algorithm_ != other.algorithm_ || fields_.size() != other.fields_.size()) {
    return false;
  }
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (!fields_[i].equals(other.fields_[i])) return false;
  }
  return true;
}

std::string Type::to_string() const {
  auto describe = [](const NestedField& field, bool with_name) {
    return message("{}: {}{}{} {}", field.id, with_name ? field.name : std::string(), with_name ? ": " : "",
                   field.required ? "required" : "optional", field.type->to_string());
  };
  switch (kind_) {
    case TypeKind::kDecimal:
      return message("decimal({}, {})", precision_, scale_);
    case TypeKind::kFixed:
      return message("fixed[{}]", length_);
    case TypeKind::kGeometry:
      return crs_ == kDefaultCrs ? "geometry" : message("geometry({})", crs_);
    case TypeKind::kGeography:
      if (algorithm_ != kDefaultEdgeAlgorithm) return message("geography({}, {})", crs_, algorithm_);
      return crs_ == kDefaultCrs ? "geography" : message("geography({})", crs_);
    case TypeKind::kStruct: {
      std::string text = "struct<";
      for (size_t i = 0; i < fields_.size(); ++i) {
        if (i != 0) text += ", ";
        text += describe(fields_[i], true);
      }
      return text + ">";
    }
    case TypeKind::kList:
      return message("list<{}>", describe(element(), false));
    case TypeKind::kMap:
      return message("map<{}: {}, {}>", key().id, key().type->to_string(), describe(value(), false));
    default:
      return std::string(spec::to_string(kind_));
  }
}

TypePtr primitive(TypeKind kind) {
  // One shared instance a kind; made once, immutable ever after.
  static const std::array<TypePtr, kKindNames.size()> kShared = [] {
    std::array<TypePtr, kKindNames.size()> types;
    for (size_t i = 0; i < types.size(); ++i) {
      auto each = static_cast<TypeKind>(i);
      if (!has_parameters(each)) types[i] = TypeMaker::simple(each);
    }
    return types;
  }();
  const TypePtr& type = kShared.at(static_cast<size_t>(kind));
  if (type == nullptr) throw_error(ErrorKind::kInvalidArgument, "type {} needs parameters", to_string(kind));
  return type;
}

TypePtr decimal(int32_t precision, int32_t scale) {
  if (precision < 1 || precision > kDecimal128PrecisionMax) {
    throw_error(ErrorKind::kInvalidArgument, "decimal precision must be 1..38, not {}", precision);
  }
  if (scale < -kDecimalScaleMax || scale > kDecimalScaleMax) {
    throw_error(ErrorKind::kInvalidArgument, "decimal scale must be within +-{}, not {}", kDecimalScaleMax, scale);
  }
  return TypeMaker::decimal(precision, scale);
}

TypePtr fixed(int32_t length) {
  if (length < 0) throw_error(ErrorKind::kInvalidArgument, "fixed length must not be negative: {}", length);
  return TypeMaker::fixed(length);
}

TypePtr geometry(std::string crs) {
  return TypeMaker::geo(TypeKind::kGeometry, std::move(crs), {});
}

TypePtr geography(std::string crs, std::string algorithm) {
  algorithm = algorithm.empty() ? std::string(kDefaultEdgeAlgorithm) : lower(algorithm);
  if (std::find(kEdgeAlgorithms.begin(), kEdgeAlgorithms.end(), algorithm) == kEdgeAlgorithms.end()) {
    throw_error(ErrorKind::kInvalidArgument, "unknown edge interpolation algorithm '{}'", algorithm);
  }
  return TypeMaker::geo(TypeKind::kGeography, std::move(crs), std::move(algorithm));
}

TypePtr struct_(std::vector<NestedField> fields) {
  return TypeMaker::nested(TypeKind::kStruct, std::move(fields));
}

TypePtr list(int32_t element_id, TypePtr element, bool element_required) {
  std::vector<NestedField> fields(1);
  fields[0].id = element_id;
  fields[0].name = "element";
  fields[0].type = std::move(element);
  fields[0].required = element_required;
  return TypeMaker::nested(TypeKind::kList, std::move(fields));
}

TypePtr map(int32_t key_id, TypePtr key, int32_t value_id, TypePtr value, bool value_required) {
  std::vector<NestedField> fields(2);
  fields[0].id = key_id;
  fields[0].name = "key";
  fields[0].type = std::move(key);
  fields[0].required = true;
  fields[1].id = value_id;
  fields[1].name = "value";
  fields[1].type = std::move(value);
  fields[1].required = value_required;
  return TypeMaker::nested(TypeKind::kMap, std::move(fields));
}

std::string_view to_string(TypeKind kind) {
  return kKindNames.at(static_cast<size_t>(kind)).name;
}

int minimum_format_version(TypeKind kind) {
  switch (kind) {
    case TypeKind::kUnknown:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
    case TypeKind::kVariant:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
      return 3;
    default:
      return 1;
  }
}

TypePtr parse_primitive(std::string_view text) {
  std::string_view whole = trim(text);
  size_t open = whole.find_first_of("([");
  std::string name = lower(trim(whole.substr(0, open)));
  const auto* entry =
      std::find_if(kKindNames.begin(), kKindNames.end(), [&](const KindName& each) { return each.name == name; });
  if (entry == kKindNames.end() || entry->kind >= TypeKind::kStruct) {
    throw_error(ErrorKind::kUnsupported, "type '{}' is not one that format versions 1 to 3 know", whole);
  }

  std::optional<std::string_view> parameters;
  if (open != std::string_view::npos) {
    char close = whole[open] == '(' ? ')' : ']';
    bool right_bracket = (entry->kind == TypeKind::kFixed) == (close == ']');
    if (!has_parameters(entry->kind) || !right_bracket || whole.back() != close) {
      throw_corrupt(CorruptError::kNoOffset, "type '{}' is malformed", whole);
    }
    parameters = trim(whole.substr(open + 1, whole.size() - open - 2));
  }

  try {
    switch (entry->kind) {
      case TypeKind::kDecimal: {
        size_t comma = parameters ? parameters->find(',') : std::string_view::npos;
        if (comma == std::string_view::npos) {
          throw_corrupt(CorruptError::kNoOffset, "type '{}': decimal needs a precision and a scale", whole);
        }
        return decimal(parse_parameter(parameters->substr(0, comma), whole),
                       parse_parameter(parameters->substr(comma + 1), whole));
      }
      case TypeKind::kFixed:
        if (!parameters) throw_corrupt(CorruptError::kNoOffset, "type '{}': fixed needs a length", whole);
        return fixed(parse_parameter(*parameters, whole));
      case TypeKind::kGeometry:
        return geometry(std::string(parameters.value_or("")));
      case TypeKind::kGeography: {
        std::string_view rest = parameters.value_or("");
        size_t comma = rest.rfind(',');
        if (comma == std::string_view::npos) return geography(std::string(rest));
        return geography(std::string(trim(rest.substr(0, comma))), std::string(trim(rest.substr(comma + 1))));
      }
      default:
        return primitive(entry->kind);
    }
  } catch (const CorruptError&) {
    throw;
  } catch (const Error& error) {
    throw_corrupt(CorruptError::kNoOffset, "type '{}': {}", whole, error.message());
  }
}

}  // namespace frazil::spec
