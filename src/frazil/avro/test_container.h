// For the tests of this layer and of those above: Avro bytes made by hand, and files in memory. Header-only, because test
// programs are built a layer.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frazil/base/byte_reader.h"
#include "frazil/base/error.h"
#include "frazil/io/file_system.h"

namespace frazil::avro {

class Encoder {
 public:
  Encoder& long_(int64_t value) {
    uint64_t raw = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
    for (; raw >= 0x80; raw >>= 7) bytes_.push_back(static_cast<char>(raw | 0x80));
    bytes_.push_back(static_cast<char>(raw));
    return *this;
  }
  // With its length: bytes, string.
  Encoder& bytes(std::string_view value) { return long_(static_cast<int64_t>(value.size())).raw(value); }
  // As it is: fixed.
  Encoder& raw(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  Encoder& bool_(bool value) { return raw(value ? "\x01" : std::string_view("\0", 1)); }
  Encoder& float_(float value) {
    char bytes[4];
    store(bytes, value);
    return raw({bytes, 4});
  }
  Encoder& double_(double value) {
    char bytes[8];
    store(bytes, value);
    return raw({bytes, 8});
  }
  const std::string& str() const { return bytes_; }

 private:
  std::string bytes_;
};

struct TestBlock {
  int64_t record_count;
  std::string bytes;  // as they stand in the file
};

inline constexpr std::string_view kTestSync = "0123456789abcdef";

// A container file. The codec only goes into the metadata.
inline std::string make_container(std::string_view schema, const std::vector<TestBlock>& blocks,
                                  std::string_view codec = "null",
                                  const std::vector<std::pair<std::string, std::string>>& metadata = {}) {
  Encoder out;
  out.raw(std::string_view("Obj\x01", 4)).long_(static_cast<int64_t>(2 + metadata.size()));
  out.bytes("avro.schema").bytes(schema).bytes("avro.codec").bytes(codec);
  for (const auto& [key, value] : metadata) out.bytes(key).bytes(value);
  out.long_(0).raw(kTestSync);
  for (const TestBlock& block : blocks) out.long_(block.record_count).bytes(block.bytes).raw(kTestSync);
  return out.str();
}

class TextFile final : public InputFile {
 public:
  TextFile(std::string bytes, std::string path) : bytes_(std::move(bytes)), path_(std::move(path)) {}
  const std::string& path() const override { return path_; }
  uint64_t size() const override { return bytes_.size(); }
  void read_at(uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
      throw_corrupt(offset, "file is shorter than asked");
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  std::string bytes_;
  std::string path_;
};

inline std::shared_ptr<InputFile> memory_file(std::string bytes, std::string path = "memory.avro") {
  return std::make_shared<TextFile>(std::move(bytes), std::move(path));
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_error(ErrorKind::kNotFound, "cannot open {}", path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Of tests/corpora.
inline std::string read_corpus(const std::string& path) {
  return read_text(std::string(FRAZIL_TEST_CORPORA) + "/" + path);
}

}  // namespace frazil::avro
