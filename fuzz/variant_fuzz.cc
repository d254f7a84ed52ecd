// A variant, metadata before value: printed, equal to itself, and part of a shredded object, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "frazil/base/error.h"
#include "frazil/columnar/builders.h"
#include "frazil/memory/memory_pool.h"
#include "frazil/parquet/variant.h"
#include "frazil/parquet/variant_shredding.h"

namespace {

using namespace frazil;
using namespace frazil::parquet;

constexpr size_t kTextMax = size_t{1} << 20;

// Whether the walks agree on what is valid; text that is too long is no defect.
void read(const Variant& variant) {
  validate_variant(variant);
  if (!variants_equal(variant, variant)) std::abort();
  for (uint32_t i = 0; variant.type() == VariantType::kObject && i < variant.element_count(); ++i) {
    if (!variant.find(variant.field_name(i))) std::abort();
  }
  std::string text;
  append_variant_json(text, variant, kTextMax);
}

// struct<metadata, value, typed_value: struct<a: .., d: ..>>, which two of the seeds' names are.
void assemble(std::string_view metadata, std::string_view value, MemoryPool& pool) {
  const DataTypePtr binary = primitive(TypeId::kBinary);
  const DataTypePtr field =
      struct_({{.name = "value", .type = binary}, {.name = "typed_value", .type = primitive(TypeId::kInt32)}});
  const DataTypePtr object = struct_({{.name = "a", .type = field}, {.name = "d", .type = field}});
  const DataTypePtr type = struct_({{.name = "metadata", .type = binary},
                                    {.name = "value", .type = binary},
                                    {.name = "typed_value", .type = object}});
  const ArrayPtr typed = make_struct(field, {make_binary({std::nullopt}), make_int32({7})});
  const ArrayPtr untyped = make_struct(field, {make_binary({std::string(value)}), make_int32({std::nullopt})});
  const ArrayPtr stored = make_struct(type, {make_binary({std::string(metadata)}), make_binary({std::string(value)}),
                                             make_struct(object, {typed, untyped})});
  const ArrayPtr whole = VariantAssembler(*type).assemble(*stored, pool);
  validate_full(*whole);
  const VariantMetadata names(whole->children[0]->bytes_value(0));
  const Variant joined(names, whole->children[1]->bytes_value(0));
  if (joined.type() != VariantType::kObject || !joined.find("a") || !joined.find("d")) std::abort();
  read(joined);
}

template <typename Work>
void or_error(const Work& work) {
  try {
    work();
  } catch (const CorruptError&) {
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported && error.kind() != ErrorKind::kMemoryLimit) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  MemoryPool pool({.budget_bytes = size_t{16} << 20});
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  or_error([&] {
    const VariantMetadata names(input);
    const std::string_view value = input.substr(names.byte_size());
    or_error([&] { read(Variant(names, value)); });
    or_error([&] { assemble(input, value, pool); });
  });
  if (pool.stats().held_bytes != pool.stats().idle_bytes) std::abort();
  return 0;
}
