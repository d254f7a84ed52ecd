#include "frazil/base/uuid.h"

#include <bit>
#include <cstring>

#include "frazil/base/byte_reader.h"
#include "frazil/base/hex.h"

namespace frazil {

namespace {

// Where the text of byte `index` starts: hyphens stand before bytes 4, 6, 8 and 10.
constexpr size_t text_position(size_t index) noexcept {
  return 2 * index + (index >= 4) + (index >= 6) + (index >= 8) + (index >= 10);
}

int64_t signed_half(const Uuid& uuid, size_t offset) noexcept {
  return static_cast<int64_t>(__builtin_bswap64(load<uint64_t>(uuid.bytes.data() + offset)));
}

void set_version(Uuid& uuid, unsigned version) noexcept {
  uuid.bytes[6] = (uuid.bytes[6] & std::byte{0x0f}) | static_cast<std::byte>(version << 4);
  uuid.bytes[8] = (uuid.bytes[8] & std::byte{0x3f}) | std::byte{0x80};
}

}  // namespace

Uuid uuid_from_bytes(std::span<const std::byte> bytes) noexcept {
  Uuid uuid;
  std::memcpy(uuid.bytes.data(), bytes.data(), Uuid::kByteSize);
  return uuid;
}

std::optional<Uuid> try_parse_uuid(std::string_view text) noexcept {
  if (text.size() != Uuid::kTextSize) return std::nullopt;
  for (size_t hyphen : {8, 13, 18, 23}) {
    if (text[hyphen] != '-') return std::nullopt;
  }
  Uuid uuid;
  for (size_t i = 0; i < Uuid::kByteSize; ++i) {
    const int high = hex_digit_value(text[text_position(i)]);
    const int low = hex_digit_value(text[text_position(i) + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    uuid.bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  return uuid;
}

Uuid parse_uuid(std::string_view text) {
  if (auto uuid = try_parse_uuid(text)) return *uuid;
  throw_error(ErrorKind::kInvalidArgument, "not a UUID: '{}' (expected 8-4-4-4-12 hexadecimal digits)", excerpt(text));
}

std::string to_string(const Uuid& uuid) {
  std::string text;
  append_uuid(text, uuid);
  return text;
}

void append_uuid(std::string& target, const Uuid& uuid) {
  constexpr char kDigits[] = "0123456789abcdef";
  char text[Uuid::kTextSize];
  std::memset(text, '-', sizeof(text));
  for (size_t i = 0; i < Uuid::kByteSize; ++i) {
    const auto value = std::to_integer<uint8_t>(uuid.bytes[i]);
    text[text_position(i)] = kDigits[value >> 4];
    text[text_position(i) + 1] = kDigits[value & 15];
  }
  target.append(text, sizeof(text));
}

std::strong_ordering compare_java_uuid(const Uuid& left, const Uuid& right) noexcept {
  const auto high = signed_half(left, 0) <=> signed_half(right, 0);
  return high != 0 ? high : signed_half(left, 8) <=> signed_half(right, 8);
}

Uuid make_uuid_v4(std::span<const std::byte, Uuid::kByteSize> random_bytes) noexcept {
  Uuid uuid = uuid_from_bytes(random_bytes);
  set_version(uuid, 4);
  return uuid;
}

Uuid make_uuid_v7(uint64_t unix_ms, std::span<const std::byte, 10> random_bytes) noexcept {
  Uuid uuid;
  for (size_t i = 0; i < 6; ++i) uuid.bytes[i] = static_cast<std::byte>(unix_ms >> (40 - 8 * i));
  std::memcpy(uuid.bytes.data() + 6, random_bytes.data(), 10);
  set_version(uuid, 7);
  return uuid;
}

}  // namespace frazil
