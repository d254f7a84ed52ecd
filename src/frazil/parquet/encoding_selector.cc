#include "frazil/parquet/encoding_selector.h"

#include <algorithm>
#include <span>

#include "frazil/parquet/encode_kernels.h"

namespace frazil::parquet {

namespace {

// More than any dictionary gets.
constexpr uint32_t kEntriesMax = UINT32_MAX - 1;

bool is_legacy(const ChunkOptions& options) {
  return options.profile == EncodingProfile::kLegacy;
}

}  // namespace

EncodingSelector::EncodingSelector(const LeafDescription& leaf, const ChunkOptions& options, MemoryPool& pool)
    : leaf_(&leaf),
      options_(&options),
      pool_(&pool),
      is_plain_only_(is_legacy(options) || (leaf.is_required && leaf.max_definition > 0) ||
                     (leaf.is_dictionary && leaf.file_type.physical == PhysicalType::kByteArray)),
      dictionary_slots_(leaf, pool) {}

// ---- While a page is filled ----

void EncodingSelector::begin_given_dictionary(const Array& array, const OpenPage& page) {
  if (array.type->id() != TypeId::kDictionary || state_ != State::kUndecided || !dictionary_is_allowed()) return;
  if (page.values.count != 0 || !page.numbers.empty()) return;
  dictionary_.emplace(leaf_->file_type, *pool_);
  state_ = State::kDictionary;
  dictionary_size_before_ = 0;
  is_dictionary_given_ = !dictionary_is_wanted();
}

void EncodingSelector::append_numbers(const FixedValues& values, OpenPage& page) {
  dictionary_->number(values, kEntriesMax, page.numbers);
}

void EncodingSelector::append_numbers(const BytesValues& values, OpenPage& page) {
  page.unencoded_bytes += static_cast<int64_t>(values.byte_size());
  dictionary_->number(values, kEntriesMax, page.numbers);
}

void EncodingSelector::append_dictionary_slots(const Array& array, const SlotRange& range, OpenPage& page) {
  if (!takes_numbers()) return dictionary_slots_.append_values(array, range, page.values);
  const size_t before = page.numbers.size() / sizeof(uint32_t);
  dictionary_slots_.append_numbers(array, range, *dictionary_, page.numbers);
  const std::span<const uint32_t> numbers = page.numbers.items<uint32_t>().subspan(before);
  if (!page.is_bytes || numbers.empty()) return;
  size_t run = encode_kernels().run4(numbers.data(), numbers.size());
  int64_t bytes = static_cast<int64_t>(run * dictionary_->value(numbers[0]).size());
  for (; run < numbers.size(); ++run) bytes += static_cast<int64_t>(dictionary_->value(numbers[run]).size());
  page.unencoded_bytes += bytes;
}

// ---- When it is full ----

SelectedEncoding EncodingSelector::select(const PageView& values, OpenPage& page, ScratchBuffers& scratch) {
  SelectedEncoding selected;
  selected.values = values;
  if (state_ == State::kUndecided) decide(values, page, scratch);
  if (is_dictionary_given_ && !page.numbers.empty()) {
    review_given_dictionary(page, scratch);
    selected.values = page.view();
  }
  if (takes_numbers() && !page.numbers.empty()) {
    selected.encoding = is_legacy(*options_) ? Encoding::kPlainDictionary : Encoding::kRleDictionary;
    selected.dictionary = &*dictionary_;
    selected.value_count = page.numbers.items<uint32_t>().size();
  } else {
    selected.value_count = selected.values.count();
    // Nothing is here to be numbered: such pages are PLAIN.
    selected.encoding = selected.value_count == 0 ? Encoding::kPlain : direct_encoding_;
  }
  return selected;
}

void EncodingSelector::end_page(const SelectedEncoding& selected, size_t encoded_bytes, OpenPage& page) {
  if (selected.dictionary != nullptr) {
    // Values that do not come again are better off elsewhere.
    constexpr size_t kTellingValues = 1000;
    const size_t new_entries = dictionary_->size() - dictionary_size_before_;
    if (!dictionary_is_wanted() && dictionary_size_before_ > 0 && selected.value_count >= kTellingValues &&
        new_entries > selected.value_count / 2) {
      leave_dictionary(page);
    } else {
      dictionary_size_before_ = dictionary_->size();
    }
  } else if (state_ == State::kDirect && selected.value_count > 0) {
    // Pages that come out a third larger than the first hold other values: the next one is weighed anew.
    const double cost = static_cast<double>(encoded_bytes) / static_cast<double>(selected.value_count);
    if (direct_cost_ == 0) {
      direct_cost_ = cost;
    } else if (cost > direct_cost_ * 4 / 3 && !options_->encoding) {
      state_ = State::kUndecided;
      is_dictionary_left_ = true;
    }
  }
}

void EncodingSelector::leave_dictionary(OpenPage& page) {
  state_ = State::kUndecided;
  is_dictionary_left_ = true;
  page.numbers.release();
  dictionary_slots_.release();
}

void EncodingSelector::begin_direct() {
  state_ = State::kDirect;
  direct_cost_ = 0;
}

void EncodingSelector::decide(const PageView& values, OpenPage& page, ScratchBuffers& scratch) {
  if (values.count() == 0) return;  // a page of nulls tells nothing
  if (options_->encoding && !dictionary_is_wanted()) {
    direct_encoding_ = *options_->encoding;
  } else if (dictionary_is_allowed()) {
    if (try_dictionary(values, page, scratch)) return;
    is_dictionary_left_ = true;
  } else {
    direct_encoding_ =
        choose_direct(leaf_->file_type.physical, *options_, is_plain_only_, values, scratch.choice()).encoding;
  }
  begin_direct();
}

// Numbers the values into the page if a dictionary is the cheapest; else chooses direct_encoding_ and leaves no numbers.
bool EncodingSelector::try_dictionary(const PageView& values, OpenPage& page, ScratchBuffers& scratch) {
  const PhysicalType type = leaf_->file_type.physical;
  const size_t count = values.count();
  const bool is_wanted = dictionary_is_wanted();
  dictionary_.reset();
  page.numbers.clear();
  bool is_good = is_wanted || may_have_dictionary(type, values);
  size_t entries_before = 0;
  if (is_good) {
    dictionary_.emplace(leaf_->file_type, *pool_);
    // A dictionary of more than half of the values hardly pays.
    const auto most = static_cast<uint32_t>(is_wanted ? kEntriesMax : count / 2 + 1);
    const size_t quarter = count - count / 4;
    const auto number = [&](size_t from, size_t size) {
      const PageView part = values.slice(from, size);
      return (part.is_bytes ? dictionary_->number(part.bytes, most, page.numbers)
                            : dictionary_->number(part.fixed, most, page.numbers)) == size;
    };
    // Where nearly all of the first are new, look at all before a table is filled in vain.
    constexpr size_t kTellingValues = 512;
    const size_t first = std::min(quarter, kTellingValues);
    is_good = number(0, first);
    if (!is_wanted && dictionary_->size() > first - first / 4) {
      is_good = is_good && !is_mostly_distinct(values.fixed, scratch.marks);
    }
    is_good = is_good && number(first, quarter - first);
    entries_before = dictionary_->size();
    is_good = is_good && number(quarter, count - quarter);
    is_good = is_good && (is_wanted || dictionary_->plain_bytes() <= options_->dictionary_bytes);
  }
  if (!is_wanted && !(is_good && is_small_dictionary(dictionary_->size(), count))) {
    const Choice direct = choose_direct(type, *options_, is_plain_only_, values, scratch.choice());
    direct_encoding_ = direct.encoding;
    is_good = is_good && dictionary_cost(*options_, page.numbers.items<uint32_t>(), entries_before, *dictionary_,
                                         values.is_bytes, scratch.choice()) < direct.cost;
  }
  if (!is_good) {
    dictionary_.reset();
    page.numbers.clear();
    return false;
  }
  if (values.is_bytes) page.unencoded_bytes = static_cast<int64_t>(values.bytes.byte_size());
  state_ = State::kDictionary;
  dictionary_size_before_ = 0;
  return true;
}

// Numbers that came with a dictionary array: is a dictionary right for these values at all?
void EncodingSelector::review_given_dictionary(OpenPage& page, ScratchBuffers& scratch) {
  is_dictionary_given_ = false;
  const std::span<const uint32_t> numbers = page.numbers.items<uint32_t>();
  constexpr size_t kUsesMin = 8;  // of an entry on average: then nothing else is as good
  if (dictionary_->size() <= numbers.size() / kUsesMin || dictionary_->size() <= 1) return;
  page.values.clear();
  dictionary_->append_values(numbers, page.values);
  page.unencoded_bytes = 0;
  if (try_dictionary(page.view(), page, scratch)) return;  // numbered anew, in the same order
  is_dictionary_left_ = true;
  begin_direct();
  dictionary_slots_.release();
}

}  // namespace frazil::parquet
