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
  if (is_delta && !entry.is_there()) {
    throw_corrupt(message.base_offset(), "a delta of dictionary {}, which is not there", id);
  }
  if (!is_delta && entry.is_there() && rules_ == DictionaryRules::kFile) {
    throw_corrupt(message.base_offset(), "dictionary {} is replaced in a file", id);
  }
  Part part{std::move(metadata), std::move(body), message.base_offset(), body_offset};
  if (is_delta) {
    entry.deltas.push_back(std::move(part));
    return;
  }
  entry.values = nullptr;
  entry.is_validated = false;
  entry.deltas.clear();
  entry.whole = std::move(part);
}

const ArrayPtr& Dictionaries::values(uint32_t number, bool is_unused, BatchDecoder& decoder) {
  Entry& entry = entries_[number];
  const ReadSchema::Dictionary& dictionary = schema_.dictionaries[number];
  if (!entry.is_there()) {
    if (!is_unused) {
      throw_corrupt(CorruptError::kNoOffset, "dictionary {} is used and not there", dictionary.id);
    }
    if (entry.none == nullptr) entry.none = make_null_array(*dictionary.value_type, 0, decoder.pool());
    return entry.none;
  }
  if (!entry.is_up_to_date()) {
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
  ArrayPtr values = entry.whole ? decoded(*entry.whole, dictionary, decoder) : entry.values;
  // Joining follows offsets.
  const bool validates = decoder.is_validating() || !entry.deltas.empty();
  if (validates && !entry.is_validated) validate_full(*values);
  if (!entry.deltas.empty()) {
    std::vector<ArrayPtr> arrays{std::move(values)};
    for (const Part& delta : entry.deltas) {
      arrays.push_back(decoded(delta, dictionary, decoder));
      validate_full(*arrays.back());
    }
    values = concatenate(arrays, decoder.pool());
  }
  entry.is_validated = validates || entry.is_validated;
  entry.values = std::move(values);
  entry.whole.reset();
  entry.deltas.clear();
}

}  // namespace frazil::ipc
