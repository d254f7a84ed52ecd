#include "frazil/ipc/dictionary_writer.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "frazil/base/error.h"
#include "frazil/columnar/bytes_memo.h"
#include "frazil/columnar/content_hash.h"
#include "frazil/columnar/filter.h"
#include "frazil/columnar/layout.h"

namespace frazil::ipc {

namespace {

constexpr EqualOptions kByBits{.exact_floats = true};

// Adds what each dictionary-encoded field has inside, in the order of the ids.
void add_types(const DataType& type, std::vector<DataTypePtr>& types) {
  if (type.id() == TypeId::kDictionary) {
    types.push_back(type.value_type());
    return add_types(*type.value_type(), types);
  }
  for (const Field& field : type.children()) add_types(*field.type, types);
}

bool begins_with(const ArrayPtr& array, const ArrayPtr& front) {
  return array->length >= front->length && equals(*array->slice(0, front->length), *front, kByBits);
}

bool has_bytes(const DataType& type) {
  return is_bytes(type.id()) || layout_of(type.id()) == Layout::kFixedWidth;
}

// Where each value of a dictionary that grows stands. Values that are nested are known by a hash and
// compared; of two that share one, or are equal in a dictionary that is new, the second is taken for new, which is right, if not
// short.
class ValuePlaces {
 public:
  explicit ValuePlaces(MemoryPool& pool) : memo_(pool, std::random_device{}()) {}

  // The place of value `index` of `values`, which is not null, among the values of `all`; nothing if it is not there.
  std::optional<int64_t> find(const Array& values, int64_t index, const Array& all) {
    const uint32_t number = number_of(values, index);
    if (number >= places_.size()) return std::nullopt;
    const int64_t place = places_[number];
    if (has_bytes(*values.type)) return place;
    if (place >= all.length || !equals(*values.slice(index, 1), *all.slice(place, 1), kByBits)) return std::nullopt;
    return place;
  }
  void add(const Array& values, int64_t index, int64_t place) {
    const uint32_t number = number_of(values, index);
    if (number == places_.size()) places_.push_back(place);
  }

 private:
  uint32_t number_of(const Array& values, int64_t index) {
    if (is_bytes(values.type->id())) return memo_.number_of(values.bytes_value(index));
    if (has_bytes(*values.type)) {
      const auto width = static_cast<size_t>(values.type->byte_width());
      const auto at = static_cast<size_t>(values.offset + index) * width;
      return memo_.number_of(values.buffers[1].text().substr(at, width));
    }
    ContentHash hash;
    hash.add(RecordBatch(Schema::make({{.name = "", .type = values.type}}), 1, {values.slice(index, 1)}));
    const uint64_t sum = hash.sum();
    return memo_.number_of({reinterpret_cast<const char*>(&sum), sizeof(sum)});
  }

  BytesMemo memo_;
  std::vector<int64_t> places_;  // by the memo's numbers
};

template <typename Index>
void map_indices(const Array& array, std::span<const int64_t> indices, std::byte* target) {
  for (int64_t i = 0; i < array.length; ++i) {
    Index value = 0;
    if (array.is_valid(i)) {
      const int64_t index = dictionary_index(array, i);
      if (index < 0 || static_cast<size_t>(index) >= indices.size()) {
        throw_corrupt(CorruptError::kNoOffset, "index {} is outside of its dictionary of {}", index, indices.size());
      }
      const int64_t mapped = indices[static_cast<size_t>(index)];
      if (!std::in_range<Index>(mapped)) {
        throw_error(ErrorKind::kUnsupported, "a dictionary of all batches has more values than {} can count",
                    array.type->index_type()->to_string());
      }
      value = static_cast<Index>(mapped);
    }
    std::memcpy(target + static_cast<size_t>(i) * sizeof(Index), &value, sizeof(Index));
  }
}

}  // namespace

struct DictionaryWriter::Slot {
  int64_t id = 0;
  DataTypePtr type = {};
  ArrayPtr last = {};                        // what a reader has by now, or will have at the end of the file
  bool has_grown = false;                    // beyond what was written, in a file that gets it at its end
  std::unique_ptr<ValuePlaces> places = {};  // of `last`, once it was unified
  std::optional<int64_t> null_place = {};
  ArrayPtr unified = {};              // what was added to `last` the last time,
  std::vector<int64_t> indices = {};  // and where its values are there
};

DictionaryWriter::DictionaryWriter(const Schema& schema, DictionaryChanges changes, Format format, MemoryPool& pool)
    : changes_(changes), format_(format), pool_(pool) {
  std::vector<DataTypePtr> types;
  for (const Field& field : schema.fields()) {
    const size_t before = types.size();
    add_types(*field.type, types);
    dictionaries_of_columns_.push_back(types.size() - before);
  }
  for (size_t id = 0; id < types.size(); ++id) {
    slots_.push_back(std::make_unique<Slot>(Slot{.id = static_cast<int64_t>(id), .type = types[id]}));
  }
}

DictionaryWriter::~DictionaryWriter() = default;

std::span<const ArrayPtr> DictionaryWriter::prepare(const RecordBatch& batch, const Emit& emit) {
  if (slots_.empty()) return batch.columns();
  columns_ = batch.columns();
  size_t next_slot = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (dictionaries_of_columns_[i] != 0) columns_[i] = walk(columns_[i], next_slot, emit).array;
  }
  return columns_;
}

DictionaryWriter::Walked DictionaryWriter::walk(const ArrayPtr& array, size_t& next_slot, const Emit& emit) {
  if (array->type->id() == TypeId::kDictionary) return walk_dictionary(array, next_slot, emit);
  Walked walked{.array = array};
  std::shared_ptr<Array> changed;
  for (size_t i = 0; i < array->children.size(); ++i) {
    Walked child = walk(array->children[i], next_slot, emit);
    walked.has_replaced |= child.has_replaced;
    if (child.array == array->children[i]) continue;
    if (changed == nullptr) changed = std::make_shared<Array>(*array);
    changed->children[i] = std::move(child.array);
  }
  if (changed != nullptr) walked.array = std::move(changed);
  return walked;
}

DictionaryWriter::Walked DictionaryWriter::walk_dictionary(const ArrayPtr& array, size_t& next_slot, const Emit& emit) {
  Slot& slot = *slots_[next_slot++];
  // The dictionary of a column of nulls may be one that has not come yet.
  const ArrayPtr given = array->dictionary != nullptr ? array->dictionary : make_null_array(slot.type, 0, pool_);
  Walked values = walk(given, next_slot, emit);
  Walked walked{.array = array};
  const std::span<const int64_t> indices = settle(slot, values.array, values.has_replaced, walked.has_replaced, emit);
  if (!indices.empty()) walked.array = with_indices(*array, indices, slot.last);
  return walked;
}

std::span<const int64_t> DictionaryWriter::settle(Slot& slot, const ArrayPtr& values, bool must_replace,
                                                  bool& is_replaced, const Emit& emit) {
  if (slot.last == nullptr) {
    emit(slot.id, *values, false);
    slot.last = values;
    return {};
  }
  if (!must_replace) {
    if (slot.last == values) return {};
    if (slot.unified == values) return slot.indices;
    const bool is_front = begins_with(slot.last, values);
    if (is_front && values->length == slot.last->length) {
      slot.last = values;  // so that the next batch of the same maker costs no comparison
      return {};
    }
    // A replacement is what the reader of a file finds at the end, or what the caller wants.
    if (is_front && changes_ != DictionaryChanges::kReplace) return {};
    if (changes_ != DictionaryChanges::kReplace && begins_with(values, slot.last)) {
      if (format_ == Format::kFile && changes_ == DictionaryChanges::kUnify) {
        slot.has_grown = true;
      } else {
        emit(slot.id, *values->slice(slot.last->length, values->length - slot.last->length), true);
      }
      slot.last = values;
      slot.places.reset();
      return {};
    }
    if (changes_ == DictionaryChanges::kUnify || format_ == Format::kFile) return unify(slot, values, emit);
  }
  emit(slot.id, *values, false);
  slot.last = values;
  is_replaced = true;
  return {};
}

std::span<const int64_t> DictionaryWriter::unify(Slot& slot, const ArrayPtr& values, const Emit& emit) {
  if (slot.places == nullptr) {
    slot.places = std::make_unique<ValuePlaces>(pool_);
    slot.null_place.reset();
    for (int64_t i = 0; i < slot.last->length; ++i) {
      if (slot.last->is_valid(i)) {
        slot.places->add(*slot.last, i, i);
      } else {
        slot.null_place = i;
      }
    }
  }
  slot.unified = values;
  std::vector<int64_t>& indices = slot.indices;
  indices.resize(static_cast<size_t>(values->length));
  std::vector<IndexRange> added;
  int64_t length = slot.last->length;
  for (int64_t i = 0; i < values->length; ++i) {
    const bool is_valid = values->is_valid(i);
    const std::optional<int64_t> place = is_valid ? slot.places->find(*values, i, *slot.last) : slot.null_place;
    indices[static_cast<size_t>(i)] = place.value_or(length);
    if (place) continue;
    if (is_valid) {
      slot.places->add(*values, i, length);
    } else {
      slot.null_place = length;
    }
    ++length;
    if (!added.empty() && added.back().end == i) {
      ++added.back().end;
    } else {
      added.push_back({.begin = i, .end = i + 1});
    }
  }
  if (added.empty()) return indices;
  ArrayPtr tail = take_ranges(values, added, pool_);
  if (format_ == Format::kFile && changes_ == DictionaryChanges::kUnify) {
    slot.has_grown = true;
  } else {
    emit(slot.id, *tail, true);
  }
  // Indices into inner dictionaries are those of the last ones, in the old values too: they have only grown since.
  const auto first_inner = static_cast<size_t>(slot.id) + 1;
  size_t next_slot = first_inner;
  const ArrayPtr front = with_last_dictionaries(slot.last, next_slot);
  next_slot = first_inner;
  tail = with_last_dictionaries(tail, next_slot);
  slot.last = concatenate(std::vector<ArrayPtr>{front, tail}, pool_);
  return indices;
}

ArrayPtr DictionaryWriter::with_indices(const Array& array, std::span<const int64_t> indices,
                                        const ArrayPtr& dictionary) const {
  auto changed = std::make_shared<Array>(array);
  changed->dictionary = dictionary;
  const int width = array.type->byte_width();
  // Validity is kept where it lies: from its byte on.
  changed->offset = array.offset % 8;
  if (array.has_validity()) changed->buffers[0] = array.buffers[0].slice(static_cast<size_t>(array.offset / 8));
  const auto front = static_cast<size_t>(changed->offset) * static_cast<size_t>(width);
  MutableBuffer block = pool_.allocate_zeroed(front + static_cast<size_t>(array.length) * static_cast<size_t>(width));
  std::byte* target = block.data() + front;
  switch (array.type->index_type()->id()) {
    case TypeId::kInt8:
      map_indices<int8_t>(array, indices, target);
      break;
    case TypeId::kInt16:
      map_indices<int16_t>(array, indices, target);
      break;
    case TypeId::kInt32:
      map_indices<int32_t>(array, indices, target);
      break;
    case TypeId::kInt64:
      map_indices<int64_t>(array, indices, target);
      break;
    case TypeId::kUInt8:
      map_indices<uint8_t>(array, indices, target);
      break;
    case TypeId::kUInt16:
      map_indices<uint16_t>(array, indices, target);
      break;
    case TypeId::kUInt32:
      map_indices<uint32_t>(array, indices, target);
      break;
    default:
      map_indices<uint64_t>(array, indices, target);
      break;
  }
  changed->buffers[1] = std::move(block).freeze();
  return changed;
}

ArrayPtr DictionaryWriter::with_last_dictionaries(const ArrayPtr& array, size_t& next_slot) {
  std::shared_ptr<Array> changed;
  if (array->type->id() == TypeId::kDictionary) {
    // Kept in its slot, so that arrays which share a dictionary go on sharing it.
    Slot& slot = *slots_[next_slot++];
    slot.last = with_last_dictionaries(slot.last, next_slot);
    if (array->dictionary == slot.last) return array;
    changed = std::make_shared<Array>(*array);
    changed->dictionary = slot.last;
    return changed;
  }
  for (size_t i = 0; i < array->children.size(); ++i) {
    ArrayPtr child = with_last_dictionaries(array->children[i], next_slot);
    if (child == array->children[i]) continue;
    if (changed == nullptr) changed = std::make_shared<Array>(*array);
    changed->children[i] = std::move(child);
  }
  return changed == nullptr ? array : changed;
}

void DictionaryWriter::finish(const Emit& emit) {
  // From the last one back: those inside of others come first.
  for (size_t id = slots_.size(); id-- > 0;) {
    if (slots_[id]->has_grown) emit(slots_[id]->id, *slots_[id]->last, false);
  }
}

}  // namespace frazil::ipc
