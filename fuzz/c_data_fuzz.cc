// Import over the Arrow C data interface of a tree of structures made from bytes. Pointers cannot be forged without
// crashing the producer itself, so the harness plays an honest allocator behind dishonest numbers: a buffer has the
// bytes that its array's length asks for, its contents come from the input, and lengths,
// offsets, counts, null pointers, formats and the shape of the tree are whatever the input says.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/columnar/array.h"
#include "frazil/columnar/c_data.h"
#include "frazil/columnar/layout.h"
#include "frazil/columnar/pretty.h"
#include "frazil/memory/memory_pool.h"

namespace {

using frazil::DataType;
using frazil::Layout;

constexpr int64_t kMaxValues = 4096;

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  bool one_in(int n) { return byte() % n == 1; }
  int64_t integer() {
    int64_t value = 0;
    for (int i = 0; i < 8; ++i) value = static_cast<int64_t>(static_cast<uint64_t>(value) << 8 | byte());
    return value;
  }
  bool empty() const { return size_ == 0; }

 private:
  const uint8_t* data_;
  size_t size_;
};

// Owns all memory of one run; the structures point into it.
class Producer {
 public:
  explicit Producer(Input& input) : input_(input) {}
  ~Producer() {
    for (void* block : blocks_) std::free(block);
  }

  void make_schema(ArrowSchema* out, int depth) {
    static const char* const kFormats[] = {"n",   "b",   "c",       "C",     "s",          "S",   "i",   "I",
                                           "l",   "L",   "e",       "f",     "g",          "z",   "Z",   "u",
                                           "U",   "vz",  "vu",      "d:9,2", "d:76,3,256", "w:3", "tdD", "tdm",
                                           "tts", "ttn", "tsu:UTC", "tDm",   "tiM",        "tiD", "tin", "w:0"};
    static const char* const kNested[] = {"+l", "+L",      "+vl",     "+vL", "+w:2", "+s",
                                          "+m", "+ud:0,1", "+us:5,3", "+r",  "+w:0"};
    *out = ArrowSchema{};
    out->release = [](ArrowSchema* self) { self->release = nullptr; };
    out->name = "f";
    out->flags = input_.byte() & 7;
    const uint8_t choice = input_.byte();
    if (choice < 8) {  // any text
      std::string text;
      for (int i = input_.byte() % 12; i > 0; --i) text += static_cast<char>(input_.byte());
      out->format = keep(text.c_str(), text.size() + 1);
    } else if (choice < 128 || depth == 0) {
      out->format = kFormats[choice % std::size(kFormats)];
    } else {
      out->format = kNested[choice % std::size(kNested)];
    }
    if (input_.one_in(16)) make_metadata(out);
    const char letter = out->format[0] == '+' ? out->format[1] : '\0';  // of a nested type
    int children = letter == '\0' ? 0 : letter == 'u' || letter == 'r' ? 2 : 1;
    if (letter == 's') children = input_.byte() % 3;
    if (input_.one_in(32)) children = input_.byte() % 3;
    out->n_children = children;
    if (depth > 0 && children > 0) {
      out->children = allocate<ArrowSchema*>(static_cast<size_t>(children));
      for (int i = 0; i < children; ++i) {
        out->children[i] = allocate<ArrowSchema>(1);
        make_schema(out->children[i], depth - 1);
        if (letter == 'm' && input_.byte() != 1) make_entries(out->children[i], depth);
      }
    }
    if (depth > 0 && input_.one_in(8)) {
      out->dictionary = allocate<ArrowSchema>(1);
      make_schema(out->dictionary, depth - 1);
    }
    if (input_.one_in(64)) out->n_children = input_.integer() % 5 - 1 == children ? children : -1;
  }

  // The structure for an array of `type`, with lies where the input wants some. `depth` is that of the type.
  void make_array(ArrowArray* out, const DataType& type, int64_t wanted) {
    *out = ArrowArray{};
    out->private_data = this;
    out->release = [](ArrowArray* self) {
      static_cast<Producer*>(self->private_data)->released_ += 1;
      self->release = nullptr;
    };
    out->length = std::min(wanted, kMaxValues);
    if (input_.one_in(32)) out->length = input_.byte();
    if (input_.one_in(8)) out->offset = input_.byte() % 20;
    out->null_count = input_.one_in(3) ? -1 : input_.byte() % 4;
    int64_t end = out->length + out->offset;
    // Numbers that must be refused before any memory is looked at: negative, or more than 2^63 together.
    if (input_.one_in(64)) {
      const int64_t value = input_.integer();
      if (value < 0) {
        (input_.one_in(2) ? out->length : out->offset) = value;
      } else {
        out->length = INT64_MAX - value;
        out->offset = value;
      }
      end = 16;
    }
    make_buffers(out, type, end);
    make_children(out, type, end);
    if (input_.one_in(64)) out->n_buffers = input_.byte() % 5 < 2 ? -1 : 0;
    if (input_.one_in(64)) out->buffers = nullptr;
  }

  int released() const { return released_; }

 private:
  template <typename T>
  T* allocate(size_t count) {
    // Exact sizes, so that the sanitizer sees a read past the end.
    void* block = std::calloc(std::max<size_t>(count, 1), sizeof(T));
    blocks_.push_back(block);
    return static_cast<T*>(block);
  }

  const char* keep(const void* bytes, size_t size) {
    char* copy = allocate<char>(size);
    std::memcpy(copy, bytes, size);
    return copy;
  }

  void make_metadata(ArrowSchema* out) {
    std::string text;
    auto add = [&](int32_t value) { text.append(reinterpret_cast<const char*>(&value), 4); };
    const int pairs = input_.byte() % 4;
    const bool forged = input_.one_in(4);
    add(forged ? -pairs : pairs);
    for (int i = 0; i < 2 * pairs; ++i) {
      const int size = input_.byte() % 6;
      add(forged ? -size : size);
      text.append(static_cast<size_t>(size), static_cast<char>(input_.byte()));
    }
    text.append(8, '\0');  // what a reader of a forged count may touch
    out->metadata = keep(text.data(), text.size());
  }

  void make_entries(ArrowSchema* out, int depth) {
    out->format = "+s";
    out->n_children = 2;
    out->dictionary = nullptr;
    out->children = allocate<ArrowSchema*>(2);
    for (int i = 0; i < 2; ++i) {
      out->children[i] = allocate<ArrowSchema>(1);
      make_schema(out->children[i], std::max(depth - 2, 0));
    }
  }

  // `bytes` of memory; small values are likely, so that offsets and indices are often right.
  void* fill(int64_t bytes, int width) {
    auto* memory = allocate<uint8_t>(static_cast<size_t>(bytes));
    const bool rising = input_.one_in(2);
    uint64_t last = 0;
    for (int64_t i = 0; i + width <= bytes && !input_.empty(); i += width) {
      uint64_t value = input_.byte();
      if (value == 255) value = static_cast<uint64_t>(input_.integer());
      if (rising) value = last + value % 4;
      last = value;
      std::memcpy(memory + i, &value, static_cast<size_t>(std::min(width, 8)));
    }
    return memory;
  }

  int64_t offset_of(const void* buffer, int width, int64_t index) {
    int64_t value = 0;
    if (width == 4) {
      int32_t narrow;
      std::memcpy(&narrow, static_cast<const char*>(buffer) + index * 4, 4);
      value = narrow;
    } else {
      std::memcpy(&value, static_cast<const char*>(buffer) + index * 8, 8);
    }
    return value;
  }

  void make_buffers(ArrowArray* out, const DataType& type, int64_t end) {
    std::vector<const void*> buffers;
    const int64_t bits = (end + 7) / 8;
    if (frazil::has_validity_buffer(type.id())) buffers.push_back(input_.one_in(2) ? fill(bits, 1) : nullptr);
    const Layout layout = frazil::layout_of(type.id());
    switch (layout) {
      case Layout::kBool:
        buffers.push_back(fill(bits, 1));
        break;
      case Layout::kFixedWidth:
      case Layout::kDictionary:
        buffers.push_back(fill(end * type.byte_width(), std::max(type.byte_width(), 1)));
        break;
      case Layout::kBytes:
      case Layout::kList: {
        const int width = frazil::offset_width(type.id());
        void* offsets = fill((end + 1) * width, width);
        buffers.push_back(offsets);
        if (layout == Layout::kList) break;
        // As many bytes as the last offset says; what cannot be had is a null pointer.
        const int64_t size = offset_of(offsets, width, end);
        buffers.push_back(size > kMaxValues ? nullptr : fill(std::max<int64_t>(size, 0), 1));
        break;
      }
      case Layout::kView: {
        buffers.push_back(fill(end * 16, 4));
        const int count = input_.byte() % 3;
        auto* sizes = allocate<int64_t>(static_cast<size_t>(count));
        for (int i = 0; i < count; ++i) {
          sizes[i] = input_.one_in(16) ? -1 : input_.byte();
          buffers.push_back(fill(std::max<int64_t>(sizes[i], 0), 1));
        }
        buffers.push_back(sizes);
        break;
      }
      case Layout::kListView: {
        const int width = frazil::offset_width(type.id());
        buffers.push_back(fill(end * width, width));
        buffers.push_back(fill(end * width, width));
        break;
      }
      case Layout::kSparseUnion:
        buffers.push_back(fill(end, 1));
        break;
      case Layout::kDenseUnion:
        buffers.push_back(fill(end, 1));
        buffers.push_back(fill(end * 4, 4));
        break;
      case Layout::kNull:
      case Layout::kFixedSizeList:
      case Layout::kStruct:
      case Layout::kRunEnd:
        break;
    }
    if (!buffers.empty() && input_.one_in(32)) buffers[input_.byte() % buffers.size()] = nullptr;
    out->n_buffers = static_cast<int64_t>(buffers.size());
    out->buffers = allocate<const void*>(buffers.size());
    std::copy(buffers.begin(), buffers.end(), out->buffers);
  }

  void make_children(ArrowArray* out, const DataType& type, int64_t end) {
    out->n_children = static_cast<int64_t>(type.children().size());
    if (input_.one_in(64)) out->n_children = input_.byte() % 3 - 1;
    out->children = allocate<ArrowArray*>(type.children().size() + 2);
    for (size_t i = 0; i < type.children().size(); ++i) {
      int64_t wanted = end;
      if (type.id() == frazil::TypeId::kFixedSizeList) wanted = end * std::min(type.fixed_size(), 4);
      if (frazil::is_list(type.id()) && type.id() != frazil::TypeId::kFixedSizeList) wanted = input_.byte();
      if (input_.one_in(64)) continue;  // a null child
      out->children[i] = allocate<ArrowArray>(1);
      make_array(out->children[i], *type.children()[i].type, wanted);
      if (input_.one_in(64)) out->children[i]->release = nullptr;
    }
    if ((type.id() == frazil::TypeId::kDictionary) != input_.one_in(64)) {
      out->dictionary = allocate<ArrowArray>(1);
      const DataType& values = type.value_type() != nullptr ? *type.value_type() : type;
      if (type.value_type() != nullptr) make_array(out->dictionary, values, input_.byte());
    }
  }

  Input& input_;
  std::vector<void*> blocks_;
  int released_ = 0;
};

void check(bool condition) {
  if (!condition) std::abort();
}

void read_everything(const frazil::ArrayPtr& array, const frazil::Field& field) {
  std::string text;
  for (int64_t i = 0; i < std::min<int64_t>(array->length, 64); ++i) {
    text.clear();
    frazil::append_value_json(text, field, *array, i);
  }
  if (array->length > kMaxValues) return;
  check(frazil::equals(*array, *array->slice(0, array->length)));
  frazil::MemoryPool pool({.budget_bytes = 64 << 20});
  try {
    frazil::ArrayPtr twice =
        frazil::concatenate(std::vector{array, array->slice(array->length / 2, array->length / 2)}, pool);
    frazil::validate_full(*twice);
    check(frazil::difference(*twice->slice(0, array->length), *array).empty());
  } catch (const frazil::Error& error) {
    check(error.kind() == frazil::ErrorKind::kUnsupported || error.kind() == frazil::ErrorKind::kMemoryLimit);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Producer producer(input);
  frazil::MemoryPool pool({.budget_bytes = 64 << 20});
  frazil::Field field;
  try {
    ArrowSchema schema;
    producer.make_schema(&schema, 4);
    field = frazil::import_field(&schema);
  } catch (const frazil::Error&) {
    return 0;
  }
  // What was imported comes back the same.
  ArrowSchema again;
  frazil::export_field(field, &again);
  check(frazil::import_field(&again).equals(field, true));

  ArrowArray source;
  producer.make_array(&source, *field.type, input.byte() % 40);
  try {
    if (field.type->id() == frazil::TypeId::kStruct && input.one_in(2)) {
      frazil::SchemaPtr schema = frazil::Schema::make(field.type->children());
      frazil::RecordBatch batch = frazil::import_record_batch(&source, schema, {.pool = &pool, .validate_full = true});
      for (size_t i = 0; i < schema->field_count(); ++i) read_everything(batch.column(i), schema->field(i));
      check(source.release == nullptr);
      return 0;
    }
    frazil::ArrayPtr array = frazil::import_array(&source, field.type, {.pool = &pool, .validate_full = true});
    read_everything(array, field);
    ArrowArray exported;
    frazil::export_array(array, &exported);
    frazil::ArrayPtr back = frazil::import_array(&exported, field.type, {.pool = &pool, .validate_full = true});
    check(frazil::difference(*array, *back).empty() || array->length > kMaxValues);
  } catch (const frazil::Error& error) {
    check(error.kind() != frazil::ErrorKind::kInternal);
  }
  check(source.release == nullptr);
  check(producer.released() >= 1);
  return 0;
}
