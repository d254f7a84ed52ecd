// The scanner (RFC 8259). One pass, no recursion: open arrays and objects are frames, finished values wait on one stack
// until their container closes and takes them in a block of the exact size.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "frazil/base/error.h"
#include "frazil/base/hex.h"
#include "frazil/base/utf8.h"
#include "frazil/json/heap.h"
#include "frazil/json/value.h"
#include "frazil/memory/memory_pool.h"

namespace frazil::json {

namespace {

// Counts the heap that parsing uses and keeps the pool's charge at or above it.
class HeapCharge {
 public:
  explicit HeapCharge(MemoryPool* pool) : pool_(pool) {}
  HeapCharge(const HeapCharge&) = delete;
  HeapCharge& operator=(const HeapCharge&) = delete;
  ~HeapCharge() {
    if (charged_ > 0) pool_->discharge(charged_);
  }

  void add(size_t bytes) {
    used_ += bytes;
    if (pool_ == nullptr || used_ <= charged_) return;
    const size_t step = (used_ - charged_ + kStepBytes - 1) / kStepBytes * kStepBytes;
    pool_->charge(step);
    charged_ += step;
  }
  void remove(size_t bytes) noexcept { used_ -= bytes; }

  // Makes room for one more element, charged before it is allocated.
  template <typename T>
  void grow(std::vector<T>& stack) {
    if (stack.size() < stack.capacity()) return;
    const size_t old_bytes = heap_block_bytes(stack.capacity() * sizeof(T));
    const size_t capacity = std::max<size_t>(16, stack.capacity() * 2);
    add(heap_block_bytes(capacity * sizeof(T)));
    stack.reserve(capacity);
    remove(old_bytes);
  }

 private:
  static constexpr size_t kStepBytes = 4096;
  MemoryPool* pool_;
  size_t used_ = 0;
  size_t charged_ = 0;
};

// Bytes that stand for themselves in a string: all but controls, quote and backslash. Those of longer sequences too;
// whether these are UTF-8 is checked for the string at once.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (size_t byte = 0x20; byte < 0x100; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

bool is_plain(char c) {
  return kPlain[static_cast<uint8_t>(c)];
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Parser {
 public:
  Parser(std::string_view text, const ParseOptions& options)
      : begin_(text.data()),
        cursor_(begin_),
        end_(begin_ + text.size()),
        max_depth_(options.max_depth),
        heap_(options.pool) {}

  Value parse() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (std::string_view(begin_, static_cast<size_t>(end_ - begin_)).starts_with(kByteOrderMark)) {
      cursor_ += kByteOrderMark.size();
    }
    do {
      parse_opening_or_scalar();
    } while (!finish_value());
    if (cursor_ != end_) fail("unexpected text after the JSON value: {}");
    return std::move(values_.front());
  }

 private:
  struct Key {
    std::string text;
    uint64_t offset;
  };
  struct Frame {
    bool is_object;
    size_t first_value;  // its items in values_
    size_t first_key;    // its keys in keys_
  };

  uint64_t offset() const { return static_cast<uint64_t>(cursor_ - begin_); }

  // Throws with a description of what stands at the cursor in place of "{}".
  [[noreturn]] void fail(std::string_view format) const {
    if (cursor_ == end_) throw_corrupt(offset(), format, "the text ends");
    const auto byte = static_cast<uint8_t>(*cursor_);
    if (byte > 0x20 && byte < 0x7F)
      throw_corrupt(offset(), format, message("found '{}'", std::string_view(cursor_, 1)));
    throw_corrupt(offset(), format, message("found byte 0x{:02x}", uint64_t{byte}));
  }

  void skip_space() {
    while (cursor_ != end_ && (*cursor_ == ' ' || *cursor_ == '\n' || *cursor_ == '\r' || *cursor_ == '\t')) ++cursor_;
  }

  // Takes a scalar or an empty container onto the value stack; or opens containers, down to their first scalar.
  void parse_opening_or_scalar() {
    for (;;) {
      skip_space();
      if (cursor_ == end_) fail("expected a JSON value, {}");
      switch (*cursor_) {
        case '{':
          open(true);
          skip_space();
          if (cursor_ != end_ && *cursor_ == '}') return close();
          parse_key();
          break;
        case '[':
          open(false);
          skip_space();
          if (cursor_ != end_ && *cursor_ == ']') return close();
          break;
        case '"':
          return push(Value(parse_string()));
        case 't':
          expect_word("true");
          return push(Value(true));
        case 'f':
          expect_word("false");
          return push(Value(false));
        case 'n':
          expect_word("null");
          return push(Value());
        default:
          return push(Value(parse_number()));
      }
    }
  }

  // After a value: closes containers as long as they end here. True when the outermost value is complete.
  bool finish_value() {
    for (;;) {
      skip_space();
      if (frames_.empty()) return true;
      const bool is_object = frames_.back().is_object;
      if (cursor_ != end_ && *cursor_ == ',') {
        ++cursor_;
        if (is_object) {
          skip_space();
          parse_key();
        }
        return false;
      }
      if (cursor_ == end_ || *cursor_ != (is_object ? '}' : ']')) {
        fail(is_object ? "expected ',' or '}}' in an object, {}" : "expected ',' or ']' in an array, {}");
      }
      close();
    }
  }

  void push(Value value) {
    heap_.grow(values_);
    values_.push_back(std::move(value));
  }

  void open(bool is_object) {
    if (frames_.size() >= max_depth_) throw_corrupt(offset(), "JSON is nested deeper than {} levels", max_depth_);
    heap_.grow(frames_);
    frames_.push_back({is_object, values_.size(), keys_.size()});
    ++cursor_;
  }

  // At '}' or ']': moves the items from the stack into their container.
  void close() {
    const Frame frame = frames_.back();
    const size_t count = values_.size() - frame.first_value;
    const auto first_value = values_.begin() + static_cast<ptrdiff_t>(frame.first_value);
    Value container;
    if (frame.is_object) {
      check_keys(frame.first_key);
      heap_.add(heap_block_bytes(count * sizeof(Member)));
      Object members;
      members.reserve(count);
      for (size_t index = 0; index < count; ++index) {
        members.emplace_back(std::move(keys_[frame.first_key + index].text),
                             std::move(first_value[static_cast<ptrdiff_t>(index)]));
      }
      keys_.resize(frame.first_key);
      container = Value(std::move(members));
    } else {
      heap_.add(heap_block_bytes(count * sizeof(Value)));
      container = Value(Array(std::make_move_iterator(first_value), std::make_move_iterator(values_.end())));
    }
    values_.resize(frame.first_value);
    frames_.pop_back();
    push(std::move(container));
    ++cursor_;
  }

  void parse_key() {
    if (cursor_ == end_ || *cursor_ != '"') fail("expected a quoted key in an object, {}");
    const uint64_t key_offset = offset();
    std::string key = parse_string();
    heap_.grow(keys_);
    keys_.push_back({std::move(key), key_offset});
    skip_space();
    if (cursor_ == end_ || *cursor_ != ':') fail("expected ':' after a key, {}");
    ++cursor_;
  }

  // Which of two values a repeated key means differs between readers, so nobody may rely on it.
  void check_keys(size_t first) {
    const size_t count = keys_.size() - first;
    constexpr size_t kFewKeys = 16;
    if (count <= kFewKeys) {
      for (size_t later = first + 1; later < keys_.size(); ++later) {
        for (size_t earlier = first; earlier < later; ++earlier) {
          if (keys_[earlier].text == keys_[later].text) throw_repeated(keys_[later]);
        }
      }
      return;
    }
    // Sorted rather than hashed: nobody can choose keys that make it slow.
    const size_t bytes = heap_block_bytes(count * sizeof(const Key*));
    heap_.add(bytes);
    {
      std::vector<const Key*> sorted(count);
      for (size_t index = 0; index < count; ++index) sorted[index] = &keys_[first + index];
      std::sort(sorted.begin(), sorted.end(), [](const Key* a, const Key* b) {
        const int order = a->text.compare(b->text);
        return order != 0 ? order < 0 : a->offset < b->offset;
      });
      for (size_t index = 1; index < count; ++index) {
        if (sorted[index - 1]->text == sorted[index]->text) throw_repeated(*sorted[index]);
      }
    }
    heap_.remove(bytes);
  }

  [[noreturn]] static void throw_repeated(const Key& key) {
    throw_corrupt(key.offset, "key {} is repeated in one object", quote(std::string_view(key.text).substr(0, 64)));
  }

  void expect_word(std::string_view word) {
    for (char letter : word) {
      if (cursor_ == end_ || *cursor_ != letter) fail(message("expected '{}', {{}}", word));
      ++cursor_;
    }
  }

  Number parse_number() {
    const char* const start = cursor_;
    if (*cursor_ == '-') ++cursor_;
    if (cursor_ == end_ || !is_digit(*cursor_)) {
      if (cursor_ == start) fail("expected a JSON value, {}");
      fail("expected a digit in a number, {}");
    }
    if (*cursor_ == '0') {
      ++cursor_;
      if (cursor_ != end_ && is_digit(*cursor_)) fail("a number must not start with 0, {}");
    } else {
      skip_digits();
    }
    if (cursor_ != end_ && *cursor_ == '.') {
      ++cursor_;
      require_digits();
    }
    if (cursor_ != end_ && (*cursor_ == 'e' || *cursor_ == 'E')) {
      ++cursor_;
      if (cursor_ != end_ && (*cursor_ == '+' || *cursor_ == '-')) ++cursor_;
      require_digits();
    }
    heap_.add(text_heap_bytes(static_cast<size_t>(cursor_ - start)));
    return Number{std::string(start, cursor_)};
  }

  void skip_digits() {
    while (cursor_ != end_ && is_digit(*cursor_)) ++cursor_;
  }

  void require_digits() {
    if (cursor_ == end_ || !is_digit(*cursor_)) fail("expected a digit in a number, {}");
    skip_digits();
  }

  // At the opening quote. First finds the end and checks all that can be checked without a copy, so that the text is
  // allocated once, with its size known and charged.
  std::string parse_string() {
    const char* const start = ++cursor_;
    bool escaped = false;
    for (;;) {
      while (cursor_ != end_ && is_plain(*cursor_)) ++cursor_;
      if (cursor_ == end_) fail("expected the end of a string, {}");
      if (*cursor_ == '"') break;
      if (*cursor_ == '\\') {
        escaped = true;
        ++cursor_;
        if (cursor_ == end_) fail("expected the end of a string, {}");
        ++cursor_;  // Which escapes there are is checked when they are replaced.
        continue;
      }
      fail("a control character must be escaped in a string, {}");
    }
    const char* const close_quote = cursor_;
    const size_t size = static_cast<size_t>(close_quote - start);
    const size_t valid = valid_utf8_prefix({start, size});
    if (valid != size) {
      cursor_ = start + valid;
      fail("a string is not UTF-8, {}");
    }
    heap_.add(text_heap_bytes(size));
    std::string text;
    if (escaped) {
      text.reserve(size);
      cursor_ = start;
      replace_escapes(close_quote, text);
    } else {
      text.assign(start, size);
    }
    cursor_ = close_quote + 1;
    return text;
  }

  // Copies from the cursor to `close_quote`. Every escape is shorter replaced than written.
  void replace_escapes(const char* close_quote, std::string& out) {
    while (cursor_ != close_quote) {
      const char* const run = cursor_;
      const void* found = std::memchr(run, '\\', static_cast<size_t>(close_quote - run));
      cursor_ = found != nullptr ? static_cast<const char*>(found) : close_quote;
      out.append(run, cursor_);
      if (cursor_ == close_quote) return;
      ++cursor_;
      switch (*cursor_) {
        case '"':
        case '\\':
        case '/':
          out += *cursor_;
          break;
        case 'b':
          out += '\b';
          break;
        case 'f':
          out += '\f';
          break;
        case 'n':
          out += '\n';
          break;
        case 'r':
          out += '\r';
          break;
        case 't':
          out += '\t';
          break;
        case 'u':
          ++cursor_;
          append_code_point(out, parse_code_point(close_quote));
          continue;
        default:
          fail("no such escape in a string, {}");
      }
      ++cursor_;
    }
  }

  // After "\u": one code point, which two escapes make if it is beyond 16 bits.
  uint32_t parse_code_point(const char* close_quote) {
    const uint32_t first = parse_hex4(close_quote);
    if (first < 0xD800 || first > 0xDFFF) return first;
    const bool pair = first < 0xDC00 && close_quote - cursor_ >= 2 && cursor_[0] == '\\' && cursor_[1] == 'u';
    if (pair) {
      cursor_ += 2;
      const uint32_t second = parse_hex4(close_quote);
      if (second >= 0xDC00 && second <= 0xDFFF) return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    }
    throw_corrupt(offset(), "unpaired surrogate in a string");
  }

  uint32_t parse_hex4(const char* close_quote) {
    uint32_t value = 0;
    for (int digit = 0; digit < 4; ++digit, ++cursor_) {
      const int digit_value = cursor_ != close_quote ? hex_digit_value(*cursor_) : -1;
      if (digit_value < 0) fail("expected four hexadecimal digits after \\u, {}");
      value = value << 4 | static_cast<uint32_t>(digit_value);
    }
    return value;
  }

  const char* const begin_;
  const char* cursor_;
  const char* const end_;
  const size_t max_depth_;
  HeapCharge heap_;  // before the stacks: discharged after they are freed
  std::vector<Frame> frames_;
  std::vector<Value> values_;
  std::vector<Key> keys_;
};

}  // namespace

Value parse(std::string_view text, const ParseOptions& options) {
  if (text.size() > options.max_bytes) {
    throw_corrupt(CorruptError::kNoOffset, "JSON text is too long: {} bytes, at most {} are read", text.size(),
                  options.max_bytes);
  }
  return Parser(text, options).parse();
}

}  // namespace frazil::json
