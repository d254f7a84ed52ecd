#include "frazil/spec/sort_order.h"

#include <utility>

#include "frazil/base/error.h"
#include "frazil/base/message.h"
#include "frazil/spec/json_object.h"
#include "frazil/spec/source_ids.h"

namespace frazil::spec {

namespace {

SortField sort_field_from_json(const json::Value& value) {
  ObjectReader reader(value, "sort field");
  SortField field;
  field.transform = Transform::parse(reader.required_string("transform"));
  field.source_ids = read_source_ids(reader, "sort field");
  std::string direction = reader.required_string("direction");
  if (direction != "asc" && direction != "desc") {
    throw_corrupt(CorruptError::kNoOffset, "sort field: direction must be 'asc' or 'desc', not '{}'", direction);
  }
  std::string null_order = reader.required_string("null-order");
  if (null_order != "nulls-first" && null_order != "nulls-last") {
    throw_corrupt(CorruptError::kNoOffset, "sort field: null-order must be 'nulls-first' or 'nulls-last', not '{}'",
                  null_order);
  }
  field.direction = direction == "asc" ? SortDirection::kAscending : SortDirection::kDescending;
  field.null_order = null_order == "nulls-first" ? NullOrder::kNullsFirst : NullOrder::kNullsLast;
  field.extra = reader.rest();
  return field;
}

std::string_view direction_text(SortDirection direction) {
  return direction == SortDirection::kAscending ? "asc" : "desc";
}

}  // namespace

bool SortField::operator==(const SortField& other) const {
  return source_ids == other.source_ids && transform == other.transform && direction == other.direction &&
         null_order == other.null_order;
}

bool SortOrder::operator==(const SortOrder& other) const {
  return order_id == other.order_id && fields == other.fields;
}

std::string SortOrder::to_string(const Schema& schema) const {
  std::string text;
  for (const SortField& field : fields) {
    if (!text.empty()) text += ", ";
    text +=
        message("{} {} {}", describe_term(field.transform, field.source_ids, schema), direction_text(field.direction),
                field.null_order == NullOrder::kNullsFirst ? "nulls first" : "nulls last");
  }
  return text.empty() ? "unsorted" : text;
}

SortOrder sort_order_from_json(const json::Value& value) {
  ObjectReader reader(value, "sort order");
  SortOrder order;
  order.order_id = reader.required_int("order-id");
  try {
    for (const json::Value& item : reader.required_array("fields")) order.fields.push_back(sort_field_from_json(item));
  } catch (Error& error) {
    error.add_context(message("sort order {}", order.order_id));
    throw;
  }
  if (order.order_id == 0 && !order.fields.empty()) {
    throw_corrupt(CorruptError::kNoOffset, "sort order: id 0 is reserved for the unsorted order");
  }
  order.extra = reader.rest();
  return order;
}

json::Value sort_order_to_json(const SortOrder& order) {
  json::Array items;
  items.reserve(order.fields.size());
  for (const SortField& field : order.fields) {
    json::Object item;
    item.emplace_back("transform", json::Value(field.transform.to_string()));
    write_source_ids(item, field.source_ids);
    item.emplace_back("direction", json::Value(std::string(direction_text(field.direction))));
    item.emplace_back("null-order",
                      json::Value(field.null_order == NullOrder::kNullsFirst ? "nulls-first" : "nulls-last"));
    append_extra(item, field.extra);
    items.emplace_back(std::move(item));
  }
  json::Object object;
  object.emplace_back("order-id", json::Value(int64_t{order.order_id}));
  object.emplace_back("fields", json::Value(std::move(items)));
  append_extra(object, order.extra);
  return json::Value(std::move(object));
}

}  // namespace frazil::spec
