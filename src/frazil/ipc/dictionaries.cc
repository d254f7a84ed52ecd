#include "frazil/ipc/dictionaries.h"

#include <optional>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/ipc/batch_decoder.h"
#include "frazil/ipc/metadata_tables.h"

namespace frazil::ipc {

uint32_t Dictionaries::number_of(const Message& message) const {
  const auto id = message.header().scalar<int64_t>(dictionary_batch_field::kId, 0);
  const auto found = schema_.dictionary_numbers.find(id);
  if (found == schema_.dictionary_numbers.end()) {
    throw_corrupt(message.base_offset(), "dictionary {} is of no field", id);
  }
  return found->second;
}

void Dictionaries::add(const Message& message, Buffer metadata, Buffer body, uint64_t body_offset) {
  const uint32_t number = number_of(message);
  Entry& entry = entries_[number];
  const bool is_delta = message.header().boolean(dictionary_batch_field::kIsDelta, false);
  const int64_t id = schema_.dictionaries[number].id;
  if (is_delta && !entry.is_there)
    throw_corrupt(message.base_offset(), "a delta of dictionary {}, which is not there", id);
  if (!is_delta && entry.is_there && rules_ == DictionaryRules::kFile) {
    throw_corrupt(message.base_offset(), "dictionary {} is replaced in a file", id);
  }
  if (!is_delta) {
    entry.values = nullptr;
    entry.parts.clear();
    entry.is_validated = false;
    entry.is_there = true;
  }
  entry.parts.push_back({std::move(metadata), std::move(body), message.base_offset(), body_offset});
}

const ArrayPtr& Dictionaries::values(uint32_t number, bool is_unused, BatchDecoder& decoder) {
  Entry& entry = entries_[number];
  const ReadSchema::Dictionary& dictionary = schema_.dictionaries[number];
  if (!entry.is_there) {
    if (!is_unused) {
      throw_corrupt(CorruptError::kNoOffset, "dictionary {} is used and not there", dictionary.id);
    }
    if (entry.none == nullptr) entry.none = make_null_array(*dictionary.value_type, 0, decoder.pool());
    return entry.none;
  }
  if (!entry.parts.empty()) {
    try {
      join(entry, dictionary, decoder);
    } catch (Error& error) {
      error.add_context(message("reading dictionary {}", dictionary.id));
      throw;
    }
  }
  return entry.values;
}

ArrayPtr Dictionaries::decoded(const Part& part, const ReadSchema::Dictionary& dictionary, BatchDecoder& decoder) {
  const Message message(part.metadata.span(), part.metadata_offset);
  return decoder.decode_dictionary(message, dictionary,
                                   {.whole = part.body, .pieces = {}, .is_whole = true, .offset = part.body_offset});
}

void Dictionaries::join(Entry& entry, const ReadSchema::Dictionary& dictionary, BatchDecoder& decoder) {
  const bool is_one = entry.values == nullptr && entry.parts.size() == 1;
  if (is_one) {
    ArrayPtr values = decoded(entry.parts.front(), dictionary, decoder);
    if (decoder.is_validating()) validate_full(*values);
    entry.values = std::move(values);
  } else {
    std::vector<ArrayPtr> arrays;
    if (entry.values != nullptr) arrays.push_back(entry.values);
    for (const Part& part : entry.parts) arrays.push_back(decoded(part, dictionary, decoder));
    // Joining them follows their offsets.
    for (size_t i = entry.is_validated ? 1 : 0; i < arrays.size(); ++i) validate_full(*arrays[i]);
    entry.values = concatenate(arrays, decoder.pool());
  }
  entry.is_validated = !is_one || decoder.is_validating();
  entry.parts.clear();
}

}  // namespace frazil::ipc
